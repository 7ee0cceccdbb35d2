"""Keys of a cluster that somebody has changed by hand.

Goal    a world whose owner in etcd is no owner is neither written to nor continued by anybody; cluster.status calls it
        damaged and the log names the key. Other worlds go on. When the key is right again, so is the world.
Method  a real node and real etcd on loopback; keys are overwritten, deleted and put back through etcd's gateway.
"""

import base64

import cluster
from cluster import Etcd, Node, printed_status, text, until
from fogmarch_server import run
from match import close_all

cluster.skip_without_etcd()


def state_of(client, world):
    return next((one["state"] for one in client.call("cluster.status")["worlds"] if one["world"] == world), None)


def make(client, name):
    return client.call("world.create", name=name, generator="open", width=16, height=16, tick_hz=20)["world"]


def is_here(client, world):
    return world in [one["world"] for one in client.call("world.list")["worlds"]]


def put(etcd, key, value):
    etcd.ask("kv/put", key=text(key), value=base64.b64encode(value).decode())


def tick_of(client, world):
    return client.call("world.info", world=world)["tick"]


def an_owner_that_is_none():
    """Another world goes on meanwhile, and a world that is destroyed elsewhere meanwhile is noticed."""
    with Etcd() as etcd:
        node = Node(etcd, "a")
        try:
            client = node.connect()
            until(lambda: client.call("cluster.status")["state"] == "good", node.log)
            world, other = make(client, "w"), make(client, "other")
            key = f"/fogmarch/test/owner/{world:016x}"
            before = etcd.range(key)[key]
            for garbage in (b"nobody", b"", b"\xff\x00\n", b"1 a", b"1 \xff 0"):
                put(etcd, key, garbage)
                until(lambda: state_of(client, world) == "damaged", node.log)
                until(lambda: not is_here(client, world), node.log)
                assert key in node.log(), node.log()
                assert "damaged" in printed_status(node), printed_status(node)
                tick = tick_of(client, other)
                until(lambda: tick_of(client, other) > tick + 10, "the other world")
                assert etcd.range(key)[key] == garbage, "somebody has taken it"
                put(etcd, key, before)
                until(lambda: is_here(client, world) and state_of(client, world) == "running", node.log)
                tick = tick_of(client, world)
                until(lambda: tick_of(client, world) > tick + 10, "the world")
        finally:
            close_all([node])


def names_that_are_no_text():
    """Clients are told of no name that is no UTF-8: most could read nothing of the answer then."""
    with Etcd() as etcd:
        node = Node(etcd, "a")
        try:
            client = node.connect()
            until(lambda: client.call("cluster.status")["state"] == "good", node.log)
            world = make(client, "w")
            for key in (f"worlds/{world:016x}", "nodes/b", f"move/{world:016x}", f"ready/{world:016x}", "drain/a"):
                put(etcd, f"/fogmarch/test/{key}", b"\xff\xfe\n" * 30)
                until(lambda: f"/fogmarch/test/{key}" in node.log(), node.log)
            etcd.ask("kv/put", key=base64.b64encode(b"/fogmarch/test/nodes/\xff").decode(), value=text("{}"))
            tick = tick_of(client, world)
            until(lambda: tick_of(client, world) > tick + 10, "the world")
            status = client.call("cluster.status")
            assert [one["node"] for one in status["nodes"]] == ["a"], status
            assert [one["state"] for one in status["worlds"]] == ["running"], status
            client.call("world.list")
        finally:
            close_all([node])


def an_owner_that_is_deleted():
    """The world is dropped, and the log says why."""
    with Etcd() as etcd:
        node = Node(etcd, "a")
        try:
            client = node.connect()
            until(lambda: client.call("cluster.status")["state"] == "good", node.log)
            world = make(client, "w")
            until(lambda: state_of(client, world) == "running", node.log)
            etcd.ask("kv/deleterange", key=text(f"/fogmarch/test/owner/{world:016x}"))
            until(lambda: not is_here(client, world), node.log)
            assert "its owner" in node.log() and "another node" not in node.log(), node.log()
        finally:
            close_all([node])


run([an_owner_that_is_none, names_that_are_no_text, an_owner_that_is_deleted])
