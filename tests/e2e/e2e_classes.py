"""Movement classes over the wire and from the command line.

Goal    units go where their class may go and fit where their size allows; subscribers are told
        each unit's class; what does not fit is refused with a reason.
Method  a small map with a river and a narrow gate; all ticks by world.step.
"""

import json
import os
import subprocess

from fogmarch_server import RequestError, Server, run
from mirror import Mirror

# A river from north to south, a wall with a gap of two cells east of it.
ROWS = [
    "....WW....@.....",
    "....WW....@.....",
    "....WW....@.....",
    "....WW..........",
    "....WW..........",
    "....WW....@.....",
    "SSSSWW....@.....",
    "SSSSWW....@.....",
]
MAP = ("type octile\nheight 8\nwidth 16\nmap\n" + "\n".join(ROWS) + "\n").encode()
CLASSES = "ground;boat:water=1;hover:ground=1,swamp=3,water=2;tank:size=2;giant:size=3"


def make_world(client, **params):
    return client.call("world.create", name="w", map=MAP, paused=True, omniscient=True,
                       classes=CLASSES, **params)["world"]


def walk(client, world, mirror, agent, goal, **params):
    """Orders one agent and steps until the order ends. Returns the reason and all its cells."""
    client.call("agent.order", world=world, agents=[agent], kind="move", goal=goal, **params)
    before, places = len(mirror.ended), []
    for _ in range(200):
        client.call("world.step", world=world, ticks=1)
        client.call("ping")
        for name, params in client.notifications:
            mirror.apply(name, params)
        client.notifications.clear()
        places.append(tuple(mirror.agents[agent][1:3]))
        if len(mirror.ended) > before:
            return mirror.ended[-1][2], places
    raise AssertionError("the order did not end")


ARRIVED, NEAREST = 0, 1


def classes_are_listed_and_checked():
    with Server() as server:
        client = server.connect()
        world = make_world(client)
        rules = client.call("world.info", world=world)["rules"]
        assert rules["classes"] == [
            "ground:size=1,ground=1", "boat:size=1,water=1",
            "hover:size=1,ground=1,swamp=3,water=2", "tank:size=2,ground=1",
            "giant:size=3,ground=1"], rules["classes"]
        plain = client.call("world.create", name="plain", generator="open", width=8, height=8)
        rules = client.call("world.info", world=plain["world"])["rules"]
        assert rules["classes"] == ["ground:size=1,ground=1"]
        for classes, status in (("a b", "bad_value"), ("x:size=5", "bad_value"),
                                ("x:lava=1", "bad_value"), ("x;x", "bad_value"),
                                ("x:ground=0", "bad_value"), ("x;", "bad_value"),
                                ("x:size=2,", "bad_value"), ("x:size=2,,ground=1", "bad_value"),
                                (";".join(f"c{i}" for i in range(9)), "limit")):
            assert client.refused("world.create", name="bad", generator="open",
                                  classes=classes) == status, classes
        # Jump points need a class for which all cells cost the same.
        assert client.refused("world.create", name="bad", map=MAP, planner="repeated-jps",
                              classes="x:ground=2,swamp=3") == "bad_value"


def units_go_where_their_class_says():
    with Server() as server:
        client = server.connect()
        world = make_world(client)
        team = client.call("team.create", world=world)["team"]

        def spawn(x, y, **params):
            return client.call("agent.spawn", world=world, team=team, cells=[x, y],
                               **params)["agents"][0]

        assert client.refused("agent.spawn", world=world, team=team, cells=[0, 0],
                              **{"class": "submarine"}) == "no_class"
        for name, x, y in (("ground", 4, 0), ("boat", 0, 0), ("tank", 3, 0), ("giant", 9, 2),
                           ("giant", 14, 0), ("tank", 0, 7)):
            try:
                spawn(x, y, **{"class": name})
                raise AssertionError(f"{name} was put on {x}, {y}")
            except RequestError as error:
                assert error.name == "blocked_cell" and f"'{name}'" in error.message, error
                assert f"cell {x},{y} cannot be entered" in error.message, error
        walker, boat = spawn(0, 0), spawn(4, 0, **{"class": "boat"})
        hover, tank = spawn(0, 1, **{"class": "hover"}), spawn(6, 0, **{"class": "tank"})
        giant = spawn(6, 5, **{"class": "giant"})

        mirror = Mirror()
        client.call("subscribe", world=world, team=0)
        mirror.apply(*client.notification("keyframe"))
        assert mirror.classes == {boat: 1, hover: 2, tank: 3, giant: 4}, mirror.classes

        reason, places = walk(client, world, mirror, walker, [15, 0])
        assert reason == NEAREST and places[-1] == (3, 0), places
        reason, places = walk(client, world, mirror, boat, [5, 7])
        assert reason == ARRIVED and all(x in (4, 5) for x, _ in places)
        reason, places = walk(client, world, mirror, hover, [15, 7])
        assert reason == ARRIVED and any(x in (4, 5) for x, _ in places)
        assert not any(y > 5 and x < 4 for x, y in places), "through the swamp, which is costlier"
        reason, places = walk(client, world, mirror, tank, [12, 0])
        assert reason == ARRIVED and (10, 3) in places, "through the gap, which is two cells high"
        reason, places = walk(client, world, mirror, giant, [13, 0])
        assert reason == NEAREST and max(x for x, _ in places) == 7, "too large for the gap"
        assert client.call("debug.inspect", world=world, agent=giant)["class"] == "giant"

        # A wider gap lets it through; water in the gap does not.
        client.call("terrain.set", world=world, set="free", cells=[10, 5])
        reason, places = walk(client, world, mirror, giant, [13, 0])
        assert reason == ARRIVED and (10, 3) in places
        client.call("terrain.set", world=world, set="water", rects=[10, 3, 1, 3])
        reason, places = walk(client, world, mirror, giant, [6, 0])
        assert reason == NEAREST and min(x for x, _ in places) == 11
        # Terrain on which a unit cannot stand pushes the whole unit off.
        client.call("terrain.set", world=world, set="water", rects=[12, 0, 1, 8])
        client.call("world.step", world=world, ticks=1)
        where = client.call("debug.inspect", world=world, agent=giant)["cell"]
        assert where[0] == 13, where


def queries_ask_for_a_class():
    with Server() as server:
        client = server.connect()
        world = make_world(client)
        team = client.call("team.create", world=world)["team"]

        def path(start, goal, **params):
            return client.call("path.query", world=world, **{"from": start, "to": goal}, **params)

        for who in ({}, {"team": team}):
            assert path([0, 0], [9, 0], **who)["reason"] == "unreachable"
            assert path([0, 0], [9, 0], **{"class": "hover"}, **who)["complete"]
            assert path([4, 0], [5, 7], **{"class": "boat"}, **who)["complete"]
            assert path([6, 0], [14, 0], **{"class": "tank"}, **who)["complete"]
            assert path([6, 0], [13, 0], **{"class": "giant"}, **who)["reason"] == "unreachable"
            # Swamp costs three times as much, and the water before it twice.
            assert path([0, 7], [3, 7], **{"class": "hover"}, **who)["length"] == 9.0
            assert path([4, 7], [5, 7], **{"class": "hover"}, **who)["cost"] == 20
        assert client.refused("path.query", world=world, **{"from": [0, 0], "to": [1, 0]},
                              **{"class": "boat"}) == "blocked_cell"
        assert client.refused("path.query", world=world, **{"from": [0, 0], "to": [1, 0]},
                              **{"class": "train"}) == "no_class"


def living_units_change():
    with Server() as server:
        client = server.connect()
        world = make_world(client)
        client.call("team.create", world=world)
        unit = client.call("agent.spawn", world=world, team=1, cells=[1, 1])["agents"][0]
        mirrors = {}
        for encoding in ("plain", "dense"):
            number = client.call("subscribe", world=world, encoding=encoding)["subscription"]
            mirrors[number] = Mirror()

        def follow():
            client.call("world.step", world=world, ticks=1)
            client.call("ping")
            for name, params in client.notifications:
                mirrors[params["subscription"]].apply(name, params)
            client.notifications.clear()
            return [mirror.agents[unit] for mirror in mirrors.values()]

        follow()
        assert client.call("agent.set", world=world, agents=[unit], **{"class": "tank"}) == {"count": 1}
        assert client.call("agent.place", world=world, agents=[unit], cells=[7, 1]) == {"count": 1}
        shown = follow()
        assert all(tuple(agent[1:3]) == (7, 1) for agent in shown), shown
        assert [mirror.classes.get(unit, 0) for mirror in mirrors.values()] == [3, 3]
        client.call("agent.set", world=world, agents=[unit], **{"class": "ground"}, speed=2.5)
        follow()
        assert [mirror.classes.get(unit, 0) for mirror in mirrors.values()] == [0, 0]
        # While frozen it waits; then it goes on.
        client.call("agent.order", world=world, agents=[unit], kind="move", goal=[9, 1])
        client.call("agent.set", world=world, agents=[unit], speed=0, frozen=True)
        assert "frozen" in client.call("debug.explain", world=world, agent=unit)["why"]
        for _ in range(5):
            shown = follow()
        assert all(tuple(agent[1:3]) == (7, 1) for agent in shown), shown
        client.call("agent.set", world=world, agents=[unit], frozen=False)
        for _ in range(3):
            shown = follow()
        assert all(tuple(agent[1:3]) == (9, 1) for agent in shown), shown
        for refused, status in (({"class": "boat"}, "blocked_cell"), ({"class": "bus"}, "no_class"),
                                ({"speed": 15}, "bad_value"), ({}, "bad_field")):
            assert client.refused("agent.set", world=world, agents=[unit], **refused) == status, refused
        for cells, status in (([4, 4], "blocked_cell"), ([4], "bad_field"), ([4, 4, 4, 4], "bad_field"),
                              ([99, 0], "off_grid")):
            assert client.refused("agent.place", world=world, agents=[unit], cells=cells) == status, cells
        assert client.refused("agent.place", world=world, agents=[unit, unit],
                              cells=[1, 1, 2, 2]) == "bad_value"


def transports_carry_units():
    with Server() as server:
        client = server.connect()
        world = client.call("world.create", name="w", generator="open", width=32, height=32, paused=True,
                            occupancy="exclusive")["world"]
        for _ in range(2):
            client.call("team.create", world=world)
        ship, first, second = client.call("agent.spawn", world=world, team=1, cells=[4, 4, 5, 4, 5, 5])["agents"]
        enemy, = client.call("agent.spawn", world=world, team=2, cells=[8, 4])["agents"]
        token = client.call("token.create", role="player", world=world, team=1)["token"]
        player = server.connect(hello=False)
        player.call("hello", protocol=1, token=token)
        mirrors = {}
        for team in (0, 1, 2):
            number = client.call("subscribe", world=world, team=team, encoding="dense")["subscription"]
            mirrors[number] = Mirror()

        def follow():
            client.call("world.step", world=world, ticks=1)
            client.call("ping")
            leave = []
            for name, params in client.notifications:
                mirrors[params["subscription"]].apply(name, params)
                leave.append(params.get("leave", []))
            client.notifications.clear()
            return [sorted(mirror.agents) for mirror in mirrors.values()], leave

        follow()
        assert client.refused("agent.board", world=world, agents=[enemy], carrier=ship, radius=8) == "no_target"
        assert client.refused("agent.board", world=world, agents=[first], carrier=99) == "no_target"
        assert client.refused("agent.unboard", world=world, agents=[first]) == "not_carried"
        assert client.refused("agent.unboard", world=world, agents=[first], carrier=ship) == "bad_field"
        assert player.refused("agent.board", world=world, agents=[3], carrier=1) == "denied"
        assert client.call("agent.board", world=world, agents=[first, second], carrier=ship) == {"count": 2}
        assert client.refused("agent.order", world=world, agents=[first], kind="hold") == "carried"
        for method in ("debug.inspect", "debug.explain", "debug.subscribe"):
            try:
                raise AssertionError(client.call(method, world=world, agent=first))
            except RequestError as error:
                assert error.name == "carried" and f"agent {first}: " in error.message, error
        shown, leave = follow()
        assert shown == [[ship, enemy], [1], [1]] or len(shown[0]) == 2, shown
        assert all(sorted(entry[1::2]) == [4, 4] for entry in leave), leave  # all three see it
        client.call("agent.place", world=world, agents=[ship], cells=[20, 20])
        # The owner asks by its own names, which are 1, 3 and 5.
        names = [unit["agent"] for unit in player.call("agent.report", world=world, agents=[1, 3, 5])["agents"]]
        report = player.call("agent.report", world=world, agents=names)["agents"]
        assert [unit["carrier"] for unit in report] == [0, names[0], names[0]], report
        assert report[0]["passengers"] == names[1:] and report[1]["cell"] == [20, 20], report
        assert report[1]["state"] == "carried" and "carries it" in report[1]["why"], report
        assert client.call("stats", world=world)["world"]["states"]["carried"] == 2
        assert client.call("agent.unboard", world=world, carrier=ship) == {"count": 2}
        shown, leave = follow()
        assert len(shown[0]) == 4 and len(shown[1]) == 3, shown
        report = player.call("agent.report", world=world, agents=names)["agents"]
        assert all(unit["carrier"] == 0 and max(abs(unit["cell"][0] - 20), abs(unit["cell"][1] - 20)) == 1
                   for unit in report[1:]), report
        client.call("agent.board", world=world, agents=[first], carrier=ship)
        follow()
        assert client.call("agent.remove", world=world, agents=[ship]) == {"removed": 2}
        follow()
        assert [mirror.died for mirror in mirrors.values()] == [[first], [first], []], "its own team is told"
        assert client.call("world.info", world=world)["agents"] == 2


def the_command_line_has_classes():
    with Server() as server:
        map_path = os.path.join(server.folder, "river.map")
        with open(map_path, "wb") as file:
            file.write(MAP)
        program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")

        def fogmarch(*arguments, status=0):
            done = subprocess.run(
                [program, "--connect", f"127.0.0.1:{server.port}", *arguments],
                capture_output=True, text=True, timeout=60)
            assert done.returncode == status, done
            return done.stdout + done.stderr

        fogmarch("create", "river", "--map", map_path, "--paused", "--omniscient", "--class",
                 "ground", "--class", "boat:water=1", "--class", "tank:size=2")
        fogmarch("team")
        boats = json.loads(fogmarch("--json", "spawn", "--team", "1", "--count", "5", "--class",
                                    "boat"))["agents"]
        tanks = json.loads(fogmarch("--json", "spawn", "--team", "1", "--count", "6", "--class",
                                    "tank"))["agents"]
        client = server.connect()
        client.call("subscribe", world=1)
        mirror = Mirror()
        mirror.apply(*client.notification("keyframe"))
        for boat in boats:
            assert ROWS[mirror.agents[boat][2]][mirror.agents[boat][1]] == "W"
        covered = [(mirror.agents[tank][1] + dx, mirror.agents[tank][2] + dy)
                   for tank in tanks for dx in (0, 1) for dy in (0, 1)]
        assert len(set(covered)) == 24 and all(ROWS[y][x] == "." for x, y in covered)
        assert "no movement class 'bus'" in fogmarch("spawn", "--team", "1", "--count", "1",
                                                     "--class", "bus", status=1)
        assert fogmarch("path", "4,0", "4,7", "--class", "boat").startswith("found")
        assert fogmarch("path", "6,0", "15,0", "--class", "tank").startswith("unreachable")
        assert "1 cell changed" in fogmarch("terrain", "water", "6,0")
        assert fogmarch("path", "4,0", "6,0", "--class", "boat").startswith("found")
        assert "neither blocked" in fogmarch("terrain", "lava", "6,0", status=2)


if __name__ == "__main__":
    run([classes_are_listed_and_checked, units_go_where_their_class_says, queries_ask_for_a_class,
         living_units_change, transports_carry_units,
         the_command_line_has_classes])
