"""A world is destroyed while etcd does not answer.

Goal    a client that was told that its world is destroyed never sees it again; as long as that is not certain nobody
        is told anything, and if another node had the world first, everybody is told where it is. If its node dies
        before, the world lives.
Method  real nodes and real etcd on loopback. etcd is stopped, or a node's line to it is cut, while world.destroy is
        under way; another client watches the world.
"""

import signal
import time

import cluster
from cluster import Etcd, Node, RequestError, until
from fogmarch_server import run
from line import Line
from match import close_all, owner_of

cluster.skip_without_etcd()

LONG = 4.5  # seconds: longer than any request to etcd is waited for


def make(node, name="arena"):
    """A client, the number of its new world, and another client that watches it."""
    admin, watcher = node.connect(), node.connect()
    world = admin.call("world.create", name=name, generator="open", width=16, height=16, tick_hz=20)["world"]
    watcher.call("subscribe", world=world)
    return admin, world, watcher


def heard(client, *names):
    client.call("ping")
    return [(name, params) for name, params in client.notifications if name in names]


def nobody_is_told(admin, asked, watcher, world):
    """For a long time. The world is neither there nor gone."""
    time.sleep(LONG)
    admin.call("ping")
    assert asked not in admin.answers, admin.answers
    assert heard(watcher, "world_ended", "moved") == []
    assert watcher.refused("stats", world=world) == "not_ready"
    assert watcher.refused("world.destroy", world=world) == "not_ready"
    assert admin.refused("world.create", name="arena", generator="open", width=16, height=16) == "exists"


def locate(client, world):
    """The node of a world; None: its own node does not know yet."""
    try:
        return client.call("world.locate", world=world)["node"]
    except RequestError as error:
        assert error.name == "not_ready", error
        return None


def etcd_is_stopped():
    with Etcd() as etcd:
        node = Node(etcd, "a")
        try:
            admin, world, watcher = make(node)
            cluster.pause(etcd.processes[0])
            asked = admin.send("world.destroy", world=world)
            nobody_is_told(admin, asked, watcher, world)
            etcd.processes[0].send_signal(signal.SIGCONT)
            assert admin.answer(asked) == {}
            number = f"{world:016x}"
            left = [key for key in etcd.range("/fogmarch/test/") if number in key or "arena" in key]
            assert left == [], left
            until(lambda: heard(watcher, "world_ended"), "the end of the world")
            assert heard(watcher, "moved") == []
            assert until(lambda: (said := watcher.refused("stats", world=world)) != "moved" and said, "the directory") \
                == "no_world"
            until(lambda: admin.call("cluster.status")["member"], "the node to join again")
            again = admin.call("world.create", name="arena", generator="open", width=16, height=16)["world"]
            assert again > world
            admin.close(), watcher.close()
            node.process.terminate()
            node.process.wait(cluster.PATIENCE)
            node.start()  # with the same folder
            admin = node.connect()
            until(lambda: [one["world"] for one in admin.call("world.list")["worlds"]] == [again], "the other world")
            assert admin.refused("stats", world=world) == "no_world"
            admin.close()
        finally:
            close_all([node])


def others_are_not_told_that_it_is_gone():
    """What another session has asked and is not done before the end is not ready: no node knows yet that it ends."""
    with Etcd() as etcd:
        node = Node(etcd, "a")
        try:
            admin, other = node.connect(), node.connect()
            refused, count, end = [], 50, time.monotonic() + cluster.PATIENCE
            while not refused:  # all may be done before the end is asked for
                assert time.monotonic() < end, "all is done before the end"
                count = min(2 * count, 1600)
                world = admin.call("world.create", name="w", generator="open", width=1024, height=1024)["world"]
                edits = [other.send("terrain.set", world=world, set="free" if i % 2 else "swamp",
                                    rects=[0, 0, 1024, 512]) for i in range(count)]
                other.answer(edits[0])
                assert admin.call("world.destroy", world=world) == {}
                for edit in edits[1:]:
                    try:
                        other.answer(edit)
                    except RequestError as error:
                        if error.name != "limit" or "let the world tick" not in error.message:  # a tick was late
                            refused.append((error.name, str(error)))
            assert all(name == "not_ready" and "is ending" in text for name, text in refused), refused
            admin.close(), other.close()
        finally:
            close_all([node])


def parted(etcd):
    """Two nodes, a line from the first one to etcd, and a world on that one."""
    line = Line(etcd.client_ports[0])
    nodes = [Node(line, "a"), Node(etcd, "b")]
    admins = [node.connect() for node in nodes]
    until(lambda: all(len(one.call("cluster.status")["nodes"]) == 2 for one in admins), "both nodes")
    return line, nodes, admins[1], *make(nodes[0])


def another_node_has_it_first():
    with Etcd() as etcd:
        line, nodes, other, admin, world, watcher = parted(etcd)
        try:
            line.cut()
            asked = admin.send("world.destroy", world=world)
            until(lambda: owner_of(etcd, world) == (2, "b"), "a takeover")
            admin.call("ping")
            assert asked not in admin.answers, admin.answers
            assert heard(watcher, "world_ended", "moved") == []
            line.mend()
            try:
                raise AssertionError(f"a node without the world has answered: {admin.answer(asked)}")
            except RequestError as error:
                # Where to, the node knows only when it has read the directory again.
                assert error.name == "moved" and error.sent["node"] in ("", "b"), error.sent
            name, params = watcher.notification("world_ended", "moved")
            assert name == "moved" and params["node"] in ("", "b"), (name, params)
            until(lambda: locate(admin, world) == "b", "the directory")
            until(lambda: cluster.is_here(other, world), "the world")
            tick = other.call("world.info", world=world)["tick"]
            until(lambda: other.call("world.info", world=world)["tick"] > tick, "the world to go on")
            assert other.call("world.destroy", world=world) == {}
            assert all(f"{world:016x}" not in key for key in etcd.range("/fogmarch/test/"))
            for client in (admin, watcher, other):
                client.close()
        finally:
            line.mend()
            close_all(nodes)
            line.close()


def its_node_dies_first():
    with Etcd() as etcd:
        line, nodes, other, admin, world, watcher = parted(etcd)
        try:
            line.cut()
            asked = admin.send("world.destroy", world=world)
            admin.call("ping")
            nodes[0].kill()
            assert not admin.take() and asked not in admin.answers
            until(lambda: owner_of(etcd, world) == (2, "b"), "a takeover")
            until(lambda: cluster.is_here(other, world), "the world")
            tick = other.call("world.info", world=world)["tick"]
            until(lambda: other.call("world.info", world=world)["tick"] > tick, "the world to go on")
            for client in (admin, watcher, other):
                client.close()
        finally:
            line.mend()
            close_all(nodes)
            line.close()


run([etcd_is_stopped, others_are_not_told_that_it_is_gone, another_node_has_it_first, its_node_dies_first])
