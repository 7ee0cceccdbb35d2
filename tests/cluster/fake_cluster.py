"""Nodes of a cluster that are not there: they answer as PROTOCOL.md says, and do what a test tells them.

Each node listens on loopback. `worlds` says which node has which world; None: none yet (not_ready). A world that is
not in it is on no node (no_world). A view shows one agent, whose id is ten times the world's number and one, so that
a view that gets the messages of another one shows it. Subscriptions count from 1 in each session, so that the number
of one node means another view on the next.
"""

import asyncio

import msgpack

TICK_S = 0.02
LATE_S = 3.0  # longer than clients wait for a node
CODES = {"limit": 2, "bad_value": 5, "no_team": 8, "no_world": 10, "denied": 16, "not_ready": 17, "busy": 18, "going_down": 20,
         "moved": 29}


class Refused(Exception):
    """An error to answer."""

    def __init__(self, name, **more):
        super().__init__(name)
        self.sent = {"code": CODES[name], "name": name, "message": f"refused: {name}", **more}


class Session:
    """One connection to a node."""

    def __init__(self, node, reader, writer):
        self.node, self.reader, self.writer = node, reader, writer
        self.views = {}  # by subscription: world
        self.left = set()  # worlds of node.leaving that have left
        self.last = 0
        self.was_late = False
        node.sessions.add(self)

    def send(self, *message):
        if not self.writer.is_closing():
            self.writer.write(msgpack.packb(message))

    def notify(self, name, **params):
        self.send(2, name, [params])

    async def run(self):
        unpacker = msgpack.Unpacker()
        try:
            while data := await self.reader.read(1 << 16):
                unpacker.feed(data)
                for message in unpacker:
                    if message[0] == 0:
                        self.answer(*message[1:])
        except OSError:
            pass
        self.node.sessions.discard(self)
        self.writer.close()

    def answer(self, number, method, params):
        self.node.asked.append((method, params[0]))
        try:
            refusal = self.node.refuses.get((method, params[0].get("world")))
            if refusal is not None:
                raise Refused(refusal, **({"world": 0, "ticket": "", "node": "", "tcp": "", "http": ""} if refusal == "moved" else {}))
            does = getattr(self, "on_" + method.replace(".", "_"))
            result = does(**params[0])
            if method == self.node.late and not self.was_late:
                self.was_late = True
                asyncio.get_running_loop().call_later(LATE_S, self.send, 1, number, None, result)
            else:
                self.send(1, number, None, result)
        except Refused as error:
            self.send(1, number, error.sent, None)
        if self.node.dies_after == method:
            self.node.die()
        world = params[0].get("world")
        if method == "subscribe" and world in self.node.leaving and world not in self.left:
            self.left.add(world)
            self.drop(world, "moved", ticket="", tick=0, **self.place_of(world).place())

    def on_hello(self, **_):
        nodes = self.node.cluster.nodes.values()
        return {"server": "fake", "protocol": 1, "session": 1, "role": "admin", "resume": "secret", "resumed": False,
                "node": self.node.name, "limits": {"message_size": 1 << 20, "agents": 1000, "cells": 1000},
                "seeds": [node.place() for node in nodes if node.lives and node is not self.node]}

    def on_ping(self, **_):
        return {}

    def on_world_info(self, **_):
        return {}

    def place_of(self, world):
        worlds = self.node.cluster.worlds
        if world not in worlds or self.node.knows_nothing:
            raise Refused("no_world")
        if worlds[world] is None:
            raise Refused("not_ready")
        if world in self.left:
            return self.node.cluster.nodes[self.node.leaving[world]]
        if any(node.leaving.get(world) == self.node.name for node in self.node.cluster.nodes.values()):
            return self.node
        return self.node.cluster.nodes[worlds[world]]

    def on_world_locate(self, world):
        owner = self.place_of(world)
        return {"here": owner is self.node, **owner.place()}

    def on_subscribe(self, world, rect=None, **_):
        if self.node.leaves_first and world in self.node.leaving:
            self.left.add(world)
        owner = self.place_of(world)
        if owner is not self.node:
            raise Refused("moved", world=world, ticket="", **owner.place())
        self.last += 1
        if self.node.shows and world not in self.node.quiet:  # before the answer, as it may be
            self.keyframe(self.last, world, rect or [0, 0, 16, 16])
        self.views[self.last] = world
        return {"subscription": self.last, "stream": 100 + self.last, "resumed": False}

    def on_unsubscribe(self, subscription):
        world = self.views.pop(subscription, None)
        if world is None:
            raise Refused("bad_value")
        self.change(subscription, world)  # it was under way
        return {}

    def on_debug_subscribe(self, world, agent):
        if agent not in self.node.cluster.explained:
            raise Refused("bad_value")
        self.last += 1
        ends = {"subscription": self.last, "world": world, "tick": self.node.cluster.tick, "ended": "it died"}
        if self.node.cluster.explained[agent] == "ends":
            asyncio.get_running_loop().call_soon(lambda: self.notify("debug", **ends))
        return {"subscription": self.last}

    def keyframe(self, number, world, rect):
        self.notify("keyframe", subscription=number, world=world, team=0, tick=self.node.cluster.tick, rect=rect,
                    cells=[rect[2] * rect[3], 1], agents=[10 * world + 1, 1, rect[0], rect[1], 1])

    def step(self):
        for number, world in self.views.items() if self.node.shows else ():
            if world not in self.node.quiet:
                self.change(number, world)

    def change(self, number, world):
        self.notify("delta", subscription=number, world=world, tick=self.node.cluster.tick, moved=[10 * world + 1, 5, 5, 1])

    def drop(self, world, name, **params):
        for number in [number for number, shown in self.views.items() if shown == world]:
            del self.views[number]
            self.notify(name, subscription=number, world=world, **params)


class FakeNode:
    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.sessions = set()
        self.asked = []  # all requests: method, parameters
        self.shows = True  # keyframes and deltas
        self.quiet = set()  # but not of these worlds
        self.knows_nothing = False  # of any world
        self.leaving = {}  # by world: to which node it goes, for each session, as soon as that has subscribed to it
        self.leaves_first = False  # not behind the answer to subscribe, but before
        self.refuses = {}  # by method and world (None: it names none): the status that it is refused with
        self.late = None  # a method; its first answer in each session comes after LATE_S
        self.dies_after = None  # a method; the node dies when it has answered it
        self.lives = True

    async def start(self):
        self.server = await asyncio.start_server(lambda *streams: Session(self, *streams).run(), "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def place(self):
        return {"node": self.name, "tcp": self.address, "http": ""}

    def count(self, method):
        """How many requests of a kind came."""
        return sum(name == method for name, _ in self.asked)

    def die(self):
        self.lives = False
        self.server.close()
        for session in self.sessions:
            session.writer.close()


class FakeCluster:
    """Use it as an asynchronous context manager."""

    def __init__(self, names="abc"):
        self.nodes = {name: FakeNode(self, name) for name in names}
        self.worlds = {}
        self.explained = {}  # agents for debug.subscribe: "ends" or "goes on"
        self.tick = 1

    async def __aenter__(self):
        for node in self.nodes.values():
            await node.start()
        self.ticking = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *_):
        self.ticking.cancel()
        for node in self.nodes.values():
            node.die()

    async def run(self):
        while True:
            await asyncio.sleep(TICK_S)
            self.tick += 1
            for node in self.nodes.values():
                for session in node.sessions:
                    session.step()

    def sessions(self):
        return [session for node in self.nodes.values() for session in node.sessions]

    def move(self, world, name, is_known=True):
        """`is_known`: whether the old node says at once where it goes."""
        self.worlds[world] = name
        place = self.nodes[name].place() if is_known else {"node": "", "tcp": "", "http": ""}
        for session in self.sessions():
            session.drop(world, "moved", ticket="", tick=0, **place)

    def end(self, world):
        del self.worlds[world]
        for session in self.sessions():
            session.drop(world, "world_ended")

    def leave(self, world, name):
        """The node has lost the world, and notices that only now."""
        self.worlds[world] = name
        for session in self.sessions():
            session.drop(world, "world_ended")
