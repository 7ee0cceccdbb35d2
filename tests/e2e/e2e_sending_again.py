"""Commands with a command_id that are sent again.

Goal    a command is carried out only once and gets the same answer each time: over another
        connection, after kill -9, from a keyframe and from the commands after it, and in a world
        that was saved and loaded. An id belongs to one command of one seat.
Method  a real server with a journal, killed and restarted; every command is sent twice, and the
        world's digest and counts are compared in between.
"""

import shutil
import tempfile

from fogmarch_server import RequestError, Server, run


class Journals:
    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="fogmarch-journals-")
        return self

    def start(self, *flags):
        return Server("--journal-dir", self.path, *flags)

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def kill(server):
    server.process.kill()
    server.process.wait()
    server.process.returncode = 0  # killed by the test


def make_world(client, **params):
    return client.call("world.create", name="w", generator="open", width=64, height=64, seed=1,
                       paused=True, players_build=8, **params)["world"]


def commands(world):
    """One command of each kind; carried out a second time each would do something else or be refused."""
    yield "team.create", dict(world=world)
    yield "agent.spawn", dict(world=world, team=1, cells=[5, 5, 6, 5, 7, 5], place="nearest")
    yield "agent.order", dict(world=world, agents=[1, 2, 3], kind="move", goal=[40, 20])
    yield "agent.order", dict(world=world, agents=[1], kind="move", goal=[9, 9], queue=True)
    yield "agent.planner", dict(world=world, agents=[2], planner="repeated-jps")
    yield "agent.set", dict(world=world, agents=[3], speed=4.5, frozen=True)
    yield "agent.place", dict(world=world, agents=[3], cells=[12, 12])
    yield "agent.place", dict(world=world, agents=[1], cells=[13, 12])
    yield "agent.board", dict(world=world, agents=[1], carrier=3, radius=8)
    yield "agent.unboard", dict(world=world, agents=[1])
    yield "terrain.set", dict(world=world, cells=[30, 30], set="blocked")
    yield "building.place", dict(world=world, team=1, rect=[20, 20, 2, 2])
    yield "building.remove", dict(world=world, building=1)
    yield "agent.remove", dict(world=world, agents=[2])


def state(client, world):
    """What would change if a command were carried out twice."""
    info = client.call("world.info", world=world)
    stats = client.call("stats", world=world)["world"]
    return info["tick"], info["digest"], info["agents"], stats["orders_given"], stats["cells_edited"]


def send_all(client, world, first_id=1000, **more):
    return [client.call(method, **params, **more, command_id=first_id + number)
            for number, (method, params) in enumerate(commands(world))]


def after_a_crash():
    with Journals() as journals:
        # A keyframe in the middle: some answers are restored from it, others from the commands after it.
        with journals.start("--keyframe-ticks", "10") as server, server.connect() as client:
            world = make_world(client)
            answers = []
            for number, (method, params) in enumerate(commands(world)):
                answers.append(client.call(method, **params, command_id=1000 + number))
                client.call("world.step", world=world, ticks=2)
            before = state(client, world)
            assert send_all(client, world) == answers
            with server.connect() as other:
                assert send_all(other, world) == answers
            assert state(client, world) == before
            kill(server)
        with journals.start() as server, server.connect() as client:
            info = client.call("world.info", world=world)
            assert (info["tick"], info["digest"]) == before[:2]
            before = state(client, world)
            assert send_all(client, world) == answers
            assert state(client, world) == before
            # Another id is another command.
            again = client.call("agent.spawn", world=world, team=1, cells=[50, 50], command_id=77)
            assert again["agents"] != answers[1]["agents"][:1]


def in_a_loaded_world():
    with Journals() as journals, journals.start() as server, server.connect() as client:
        world = make_world(client)
        answers = send_all(client, world)
        saved = client.call("world.save", world=world)
        data = client.call("save.download", save=saved["save"], offset=0)["data"]
        upload = client.call("map.upload", total=len(data), offset=0, data=data)["upload"]
        loaded = client.call("world.load", name="second", upload=upload, paused=True)["world"]
        before = state(client, loaded)
        assert send_all(client, loaded) == answers
        assert state(client, loaded) == before


def an_id_is_one_commands_and_one_seats():
    with Server() as server, \
            server.connect() as admin:
        world = make_world(admin)
        for _ in range(2):
            admin.call("team.create", world=world)
        mine = admin.call("agent.spawn", world=world, team=1, cells=[5, 5, 6, 5])
        tokens = [admin.call("token.create", role="player", world=world, team=team)["token"]
                  for team in (1, 2)]
        one, two = (server.connect(hello=False) for _ in tokens)
        for client, token in ((one, tokens[0]), (two, tokens[1])):
            client.call("hello", protocol=1, client="e2e", token=token)
        order = dict(world=world, kind="move", agents=mine["names"], goal=[30, 30], command_id=5)
        answer = one.call("agent.order", **order)
        assert one.call("agent.order", **order) == answer
        # The same bytes from another seat are another command, for agents that this seat does not have.
        assert two.refused("agent.order", **order) == "no_agent"
        # A refused command is not remembered.
        assert two.refused("agent.order", **order) == "no_agent"
        assert one.refused("agent.order", **{**order, "goal": [31, 30]}) == "exists"
        assert one.refused("building.remove", world=world, building=1, command_id=5) == "exists"
        assert one.call("agent.order", **order) == answer
        admin.call("world.step", world=world, ticks=1)
        built = one.call("building.place", world=world, rect=[5, 7, 1, 1], command_id=6)
        assert one.call("building.place", world=world, rect=[5, 7, 1, 1], command_id=6) == built
        for client in (one, two):
            client.close()


def behind_a_large_order_and_before_the_worlds_end():
    with Server() as server, server.connect() as client:
        world = client.call("world.create", name="w", generator="open", width=160, height=160, seed=1)["world"]
        client.call("team.create", world=world)
        agents = client.call("agent.spawn", world=world, team=1, place="nearest",
                             cells=[xy for i in range(20000) for xy in (i % 150, i // 150)])["agents"]
        order = dict(world=world, kind="move", goal=[5, 5], command_id=7)
        # In one piece: the large order is spread over ticks, and the world's end does not wait for it. What waits
        # behind it is not done then; a command that was answered before still may have its answer.
        first = client.send("agent.order", agents=agents[:1], **order)
        large = client.send("agent.order", world=world, agents=agents, kind="move", goal=[80, 80])
        again = client.send("agent.order", agents=agents[:1], **order)
        end = client.send("world.destroy", world=world)
        given = client.answer(first)
        for request, wanted in ((large, None), (again, given)):
            try:
                answer = client.answer(request)
                assert wanted is None or answer == wanted, (answer, wanted)
            except RequestError as error:
                assert error.name == "no_world", error
        client.answer(end)
        assert client.call("ping", time=1)["time"] == 1


run([after_a_crash, in_a_loaded_world, an_id_is_one_commands_and_one_seats,
     behind_a_large_order_and_before_the_worlds_end])
