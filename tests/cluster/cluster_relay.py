"""A relay of a cluster: spectators go on when their world moves, and when its node dies.

Goal    a relay that was given the address of one node only follows the world: after a move its spectators need
        no new keyframe, after a node's death they may get one; they always see what the world's node shows.
        Worlds of nodes that join later are shown like the others.
Method  two nodes and etcd on loopback, a relay, and its mirror compared with that of a direct subscription. The node
        to which the world moves joins the cluster after the relay has connected.
"""

import os
import re
import tempfile
import time
import urllib.request

import cluster
from cluster import Etcd, Node, RequestError, move, until
from fogmarch_server import Client, Server, run
from mirror import Mirror

cluster.skip_without_etcd()


class View(Mirror):
    def __init__(self, port, world):
        super().__init__()
        self.client = Client(port)
        self.client.call("hello", protocol=1, client="spectator")
        self.client.call("subscribe", world=world, encoding="dense")

    def pump(self):
        self.client.call("ping")
        for name, params in self.client.notifications:
            self.apply(name, params)
        self.client.notifications.clear()
        return self


def tried(client, method, **params):
    """The answer; None: refused, which is allowed while the world is between two nodes."""
    try:
        return client.call(method, **params)
    except RequestError:
        return None


def locate(client, world):
    place = tried(client, "world.locate", world=world)
    return place and place["node"]


def follows(view, node, world):
    """Stops the world; the relay must show the tick at which it was stopped."""
    admin = node.connect()
    until(lambda: tried(admin, "world.pause", world=world), "the world")
    direct = View(node.port, world)
    until(lambda: direct.pump().tick is not None and view.pump().state() == direct.state(), "the same picture")
    admin.call("world.resume", world=world)
    before = view.tick
    until(lambda: view.pump().tick > before, "another tick")


def sources(port_file):
    with open(port_file) as file, urllib.request.urlopen(f"http://127.0.0.1:{int(file.read())}/metrics") as answer:
        return int(re.search(r"^fogmarch_relay_sources (\d+)$", answer.read().decode(), re.MULTILINE)[1])


def following():
    with Etcd() as etcd, tempfile.TemporaryDirectory(prefix="fogmarch-relay-") as folder:
        nodes = {"a": Node(etcd, "a")}
        port_file = os.path.join(folder, "metrics")
        try:
            admin = nodes["a"].connect()
            world = admin.call("world.create", name="arena", generator="open", width=32, height=32, tick_hz=20)["world"]
            admin.call("team.create", world=world)
            agents = admin.call("agent.spawn", world=world, team=1, cells=[1, 1, 2, 9, 5, 5])["agents"]
            admin.call("agent.order", world=world, agents=agents, kind="patrol", goal=[30, 30])
            with Server("--relay-of", f"127.0.0.1:{nodes['a'].port}", "--metrics-listen", "127.0.0.1:0",
                        "--metrics-port-file", port_file) as relay:
                asker = relay.connect()
                until(lambda: asker.call("world.list")["worlds"], "the world")
                view = View(relay.port, world)
                follows(view, nodes["a"], world)
                assert sources(port_file) == 1
                nodes["b"] = Node(etcd, "b")  # a node that the relay does not know
                keyframes = view.keyframes
                move(admin, world, "b")
                until(lambda: locate(admin, world) == "b", "the move")
                follows(view, nodes["b"], world)
                assert view.keyframes == keyframes, "the stream went with the world"
                until(lambda: sources(port_file) == 2, "the node among the relay's sources")
                nodes["b"].kill()
                survivor = nodes["a"].connect()
                until(lambda: locate(survivor, world) == "a", "the takeover")
                follows(view, nodes["a"], world)
        finally:
            for node in nodes.values():
                node.close()


def worlds_of_nodes_that_join_later():
    """A relay learns of the nodes, and shows their worlds."""
    with Etcd() as etcd:
        nodes = {"a": Node(etcd, "a")}
        try:
            nodes["a"].connect().close()
            with Server("--relay-of", f"127.0.0.1:{nodes['a'].port}") as relay:
                asker = relay.connect()
                until(lambda: tried(asker, "world.list") is not None, "the relay")
                time.sleep(2)  # it has long asked its only node
                for name in ("b", "c"):
                    nodes[name] = Node(etcd, name)
                    admin = nodes[name].connect()
                    until(lambda: len(admin.call("cluster.status")["nodes"]) == len(nodes), "all nodes")
                    world = admin.call("world.create", name=f"of-{name}", generator="open", width=16, height=16,
                                       tick_hz=20)["world"]
                    assert locate(admin, world) == name
                    until(lambda: any(one["world"] == world for one in asker.call("world.list")["worlds"]), "the world")
                    view = View(relay.port, world)
                    until(lambda: view.pump().tick is not None, "its picture")
                    view.client.close(), admin.close()
                asker.close()
        finally:
            for node in nodes.values():
                node.close()


run([following, worlds_of_nodes_that_join_later])
