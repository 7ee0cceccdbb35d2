"""The Python library, its bots, and a MessagePack-RPC library that knows nothing of fogmarch.

Goal    the library's mirror shows what the bytes say; errors and lost connections raise exceptions; the
        bots do what they promise; existing MessagePack-RPC clients work unchanged.
Method  the library against the tests' own client and mirror, which share no code with it.
"""

import asyncio
import os
import socket
import subprocess
import sys
import threading

import msgpack
from fogmarch_server import PATIENCE, Server, run
from mirror import Mirror

CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python")
sys.path.insert(0, CLIENTS)
import fogmarch  # noqa: E402


def make_world(client, teams=2, **options):
    """Makes a world with two teams. Returns it, its teams and their bases."""
    world = client.call("world.create", name="arena", generator="skirmish", width=96, height=96,
                        players=2, seed=3, **options)["world"]
    numbers = [client.call("team.create", world=world)["team"] for _ in range(teams)]
    bases = client.call("world.info", world=world)["bases"]
    return world, numbers, [bases[:2], bases[2:4]]


def shown(mirror):
    """What the library's mirror holds, in the form of the tests' own mirror."""
    x, y, width, height = mirror.rect
    looks = {(i, j): mirror.look(i, j) for j in range(y, y + height) for i in range(x, x + width)}
    agents = {agent.id: (agent.team, agent.x, agent.y, fogmarch.AGENT_STATES.index(agent.state))
              for agent in mirror.agents.values()}
    classes = {agent.id: agent.movement_class for agent in mirror.agents.values()
               if agent.movement_class}
    buildings = {building.number: (building.team, building.x, building.y, building.width,
                                   building.height) for building in mirror.buildings.values()}
    visible = {cell for cell in looks if mirror.sees(*cell)}
    if mirror._visible is not None:
        fogs = {cell: "visible" if cell in visible else "explored" if look else "hidden" for cell, look in looks.items()}
        assert fogs == {cell: mirror.fog(*cell) for cell in looks}
    motions = {agent.id: (8 if agent.heading is None else agent.heading, round(agent.speed * 1000),
                          tuple(int(2 * number) for point in agent.waypoints for number in point))
               for agent in mirror.agents.values() if agent.heading is not None or agent.waypoints}
    state = (mirror.rect, looks, agents, classes, buildings, visible)
    return (*state, motions) if motions else state


def mirrors_agree():
    with Server() as server:
        plain = server.connect()
        world, (team, other), (base, far) = make_world(plain, paused=True)

        async def play():
            async with await fogmarch.connect(f"127.0.0.1:{server.port}") as client:
                assert client.welcome["role"] == "admin"
                views = [await client.view(world, team, sight=True, motion=True),
                         await client.view(world, sight=True)]
                number = plain.call("subscribe", world=world, team=team, sight=True,
                                    motion=True)["subscription"]
                everything = plain.call("subscribe", world=world, sight=True)["subscription"]
                mirrors = {number: Mirror(), everything: Mirror()}
                agents = (await client.agent_spawn(world=world, team=team, cells=base * 20))["agents"]
                await client.agent_spawn(world=world, team=other, cells=far * 3)
                await client.agent_order(world=world, agents=agents, kind="move", goal=far)
                await client.building_place(world=world, team=team, on_units="push",
                                            rect=[base[0] + 6, base[1] + 6, 2, 2])
                moving = set()
                for tick in range(1, 60):
                    await client.world_step(world=world, ticks=1)
                    for mirror in mirrors.values():
                        while mirror.tick is None or mirror.tick < tick:
                            name, params = plain.notification("keyframe", "delta")
                            mirrors[params["subscription"]].apply(name, params)
                    moving |= {agent.id for agent in views[0].mirror.agents.values()
                               if agent.heading is not None and agent.speed > 0 and agent.waypoints}
                    for view, mirror in zip(views, mirrors.values()):
                        while view.mirror.tick < tick:
                            await view.next()
                        assert shown(view.mirror) == mirror.state(), tick
                assert any(building.team == team for building in views[0].mirror.buildings.values())
                assert moving == set(agents), "all went somewhere"
                await client.agent_place(world=world, agents=agents[:2], cells=base * 2, place="nearest")
                await client.agent_board(world=world, agents=agents[1:2], carrier=agents[0], radius=8)
                await client.world_step(world=world, ticks=1)
                await client.agent_remove(world=world, agents=agents[:1])
                await client.world_step(world=world, ticks=1)
                died = []
                while views[0].mirror.tick < 61:
                    await views[0].next()
                    died += views[0].mirror.died
                assert died == agents[1:2], "with its carrier"
                await views[0].end()

        asyncio.run(play())


def lost_and_found():
    """A connection is lost; the next one has the same role and continues the mirror, or starts it again."""
    with Server() as server:
        plain = server.connect()
        world, (team, _), (base, far) = make_world(plain, paused=True)
        token = plain.call("token.create", role="player", world=world, team=team)["token"]
        ids = plain.call("agent.spawn", world=world, team=team, cells=base * 9)["agents"]

        async def play():
            address = f"127.0.0.1:{server.port}"
            client = await fogmarch.connect(address, token=token)
            view = await client.view(world, sight=True)
            plain.call("agent.order", world=world, agents=ids, kind="move", goal=[base[0] + 3, base[1]])
            plain.call("world.step", world=world, ticks=2)
            await view.next()
            client._link._writer.transport.abort()
            plain.call("world.step", world=world, ticks=30)
            again = await fogmarch.connect(address, resume=client.welcome["resume"])
            assert again.welcome["resumed"] and again.welcome["role"] == "player"
            assert await again.resume(view)
            await view.next()
            ended = list(view.mirror.ended)
            assert len(ended) == len({entry.order for entry in ended}) == 9, ended
            fresh = await again.view(world, sight=True)
            assert shown(view.mirror) == shown(fresh.mirror)
            await fresh.end()
            await view.end()
            plain.call("world.step", world=world, ticks=2)
            assert not await again.resume(view)
            await view.next()
            fresh = await again.view(world, sight=True)
            assert shown(view.mirror) == shown(fresh.mirror)
            await again.close()
            await client.close()

        asyncio.run(play())


def a_keyframe_names_those_that_have_left():
    mirror = fogmarch.Mirror()
    whole = {"tick": 1, "rect": [0, 0, 4, 4], "cells": [16, 1], "agents": [1, 1, 0, 0, 0, 2, 1, 1, 1, 0]}
    mirror.apply("keyframe", whole)
    assert mirror.left == []
    mirror.apply("keyframe", {**whole, "tick": 9, "agents": [2, 1, 3, 3, 0]})
    assert mirror.left == [1] and list(mirror.agents) == [2]


def without_asyncio_as_with():
    """Sight, motion, and what debug_subscribe() tells."""
    with Server() as server:
        other = server.connect()
        world, (team, _), (base, far) = make_world(other, paused=True)
        agents = other.call("agent.spawn", world=world, team=team, cells=base * 5)["agents"]
        other.call("agent.order", world=world, agents=agents, kind="move", goal=far)
        mirror = Mirror()
        other.call("subscribe", world=world, team=team, sight=True, motion=True)
        with fogmarch.connect_plain(f"127.0.0.1:{server.port}") as client:
            view = client.view(world, team, sight=True, motion=True)
            number = client.debug_subscribe(world=world, agent=agents[0])["subscription"]
            for tick in range(1, 6):
                client.world_step(world=world, ticks=1)
                while mirror.tick is None or mirror.tick < tick:
                    mirror.apply(*other.notification("keyframe", "delta"))
                while view.mirror.tick < tick:
                    view.next(PATIENCE)
                assert shown(view.mirror) == mirror.state(), tick
            told = [params for name, params in client.others if name == "debug"]
            assert told and all(params["subscription"] == number for params in told), client.others


class LastWords:
    """A link to a node that ends with its answer to subscribe, in the same breath."""

    def __init__(self, client):
        self.client, self.end, self.is_strange = client, None, False

    async def ask(self, method, _given):
        if method == "subscribe":
            self.over("it has said its last")
        return {"here": True, "subscription": 1, "stream": 1, "resumed": False}

    def over(self, reason):
        self.end = self.end or reason
        self.client._link_over(self, reason)


def a_node_that_ends_with_its_last_answer_is_left():
    async def follow():
        client = fogmarch.Client(["a:1"], 30.0, None, {})
        client._follow.is_on = True
        client._link, link = LastWords(client), LastWords(client)
        client._views.append(fogmarch.Subscription(client, {"world": 1}))
        client._seeking = asyncio.current_task()

        async def open_link(_address):
            return link, {"node": "a", "resume": ""}
        client._open = open_link
        try:
            await client._try("a:1", [1])
        except fogmarch.ConnectionEnded as error:
            assert "its last" in str(error)
        else:
            raise AssertionError("it stays on a link that has ended")
    asyncio.run(follow())


CARELESS = """
import asyncio, sys
import fogmarch

async def main():
    client = await fogmarch.connect(sys.argv[1])
    print(client.welcome["node"])

asyncio.run(main())
"""


def a_program_in_a_cluster_ends_without_close():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            connection, _ = listener.accept()
            with connection:
                unpacker = msgpack.Unpacker()
                while data := connection.recv(1 << 16):
                    unpacker.feed(data)
                    for _, number, _, _ in unpacker:
                        connection.sendall(msgpack.packb([1, number, None, {"node": "a", "resume": ""}]))
        node = threading.Thread(target=serve)
        node.start()
        done = subprocess.run([sys.executable, "-B", "-c", CARELESS, "127.0.0.1:%d" % listener.getsockname()[1]],
                              env={**os.environ, "PYTHONPATH": CLIENTS}, capture_output=True, text=True, timeout=120)
        node.join()
    assert (done.returncode, done.stdout, done.stderr) == (0, "a\n", ""), done


def errors_and_ends():
    with Server(environment={"FOGMARCH_TOKEN": "correct-horse-battery"}) as server:
        address = f"127.0.0.1:{server.port}"

        async def play():
            try:
                await fogmarch.connect(address, token="wrong-but-long-enough")
            except fogmarch.RequestError as error:
                assert error.status == "denied" and error.method == "hello"
            else:
                raise AssertionError("a wrong token was taken")
            async with await fogmarch.connect(address, token="correct-horse-battery") as client:
                try:
                    await client.world_info(world=77)
                except fogmarch.RequestError as error:
                    assert error.status == "no_world" and error.message
                else:
                    raise AssertionError("there is no such world")
                created = await client.world_create(name="one", generator="open", width=16, height=16)
                view = await client.view(created["world"])
                await client.world_destroy(world=created["world"])
                assert await view.next() is None
                server.terminate()
                try:
                    while True:
                        try:
                            await client.ping()
                        except fogmarch.RequestError as error:
                            assert error.status == "going_down", error
                        await asyncio.sleep(0.01)
                except fogmarch.ConnectionEnded:
                    pass
                name, params = client.others.get_nowait()
                assert name == "going_down" and params["reason"]

        asyncio.run(play())
        assert server.wait() == 0


def bot(name, server, *arguments):
    done = subprocess.run([sys.executable, "-B", os.path.join(CLIENTS, "examples", name),
                           "--connect", f"127.0.0.1:{server.port}", *arguments],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0])


def the_explorer_explores():
    with Server() as server:
        client = server.connect()
        world, (team, _), (base, _) = make_world(client, tick_hz=200)
        client.call("agent.spawn", world=world, team=team, cells=base * 4)
        client.call("subscribe", world=world, team=team)
        mirror = Mirror()
        mirror.apply(*client.notification("keyframe"))
        before = sum(1 for look in mirror.looks.values() if look)
        known = bot("explorer.py", server, "--ticks", "400")
        assert known > 4 * before, (known, before)


def the_patrol_follows_strangers():
    with Server() as server:
        client = server.connect()
        world, (team, other), (base, _) = make_world(client, tick_hz=50)
        client.call("agent.spawn", world=world, team=team, cells=base * 2)
        corners = [base, [base[0] + 6, base[1]]]
        stranger = client.call("agent.spawn", world=world, team=other,
                               cells=[base[0] + 3, base[1]])["agents"]
        client.call("agent.order", world=world, agents=stranger, kind="patrol",
                    goals=corners[0] + corners[1])
        points = [f"{x},{y}" for x, y in corners]
        assert bot("patrol.py", server, "--ticks", "60", "--team", str(team), *points) > 0


def a_reason_of_a_newer_server():
    """A reason that the library does not know is passed on as text."""
    mirror = fogmarch.Mirror()
    mirror.apply("keyframe", {"tick": 1, "rect": [0, 0, 2, 1], "cells": [2, 0], "agents": []})
    mirror.apply("delta", {"tick": 2, "ended": [7, 1, 0, 1, 0, 8, 2, 99, 0, 0]})
    assert [(end.order, end.reason) for end in mirror.ended] == [(7, "arrived"), (8, "99")], mirror.ended


def a_stranger_to_the_protocol():
    """A general MessagePack-RPC client, made for another program, drives the server."""
    try:
        from pynvim.msgpack_rpc import tcp_session
    except ImportError:
        print("[ SKIPPED  ] install the Debian package python3-pynvim")
        return
    with Server() as server:
        session = tcp_session("127.0.0.1", server.port)
        session.error_wrapper = lambda error: RuntimeError(error["name"])
        welcome = session.request("hello", {"protocol": 1, "client": "pynvim"})
        assert welcome["role"] == "admin"
        world = session.request("world.create", {"name": "one", "generator": "open", "width": 32,
                                                 "height": 32, "tick_hz": 100})["world"]
        team = session.request("team.create", {"world": world})["team"]
        session.request("subscribe", {"world": world, "team": team})
        agents = session.request("agent.spawn", {"world": world, "team": team,
                                                 "cells": [1, 1]})["agents"]
        session.request("agent.order", {"world": world, "agents": agents, "kind": "move",
                                        "goal": [9, 9]})
        try:
            session.request("world.info", {"world": 99})
        except RuntimeError as error:
            assert str(error) == "no_world"
        else:
            raise AssertionError("there is no such world")
        reached = False
        while not reached:
            kind, name, params = session.next_message()
            assert kind == "notification" and name in ("keyframe", "delta"), (kind, name)
            ended = params[0].get("ended", [])
            reached = len(ended) > 0
        assert ended[3:] == [9, 9]
        session.close()


if __name__ == "__main__":
    run([mirrors_agree, without_asyncio_as_with, lost_and_found, a_keyframe_names_those_that_have_left,
         a_node_that_ends_with_its_last_answer_is_left, a_program_in_a_cluster_ends_without_close, errors_and_ends,
         the_explorer_explores, the_patrol_follows_strangers, a_stranger_to_the_protocol, a_reason_of_a_newer_server])
