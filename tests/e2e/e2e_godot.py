"""The add-on for Godot, headless with the Godot 3 of Debian, against a real server.

Goal    its view shows what the bytes say, cell by cell and agent by agent, and what the server says of each agent;
        its signals agree with the view; a view continues after its connection was lost; errors and the end of a
        connection are reported; the example scene draws its view on the TileMap, and a click sends its units, which
        arrive.
Method  godot/probe.gd follows a view and prints it; the test compares that with its own mirror, which shares no
        code with the add-on. godot/scene.gd compares the example scene with its view.

Godot comes from Debian: godot3-server, 70 MB. The file for Godot 4 cannot be tried here.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from fogmarch_server import PATIENCE, Server, run, until as wait_for
from mirror import Mirror
from probe import around, form_of, make_world, mark
from secure import Secure, make_certificate

HERE = os.path.dirname(os.path.abspath(__file__))
GODOT = shutil.which("godot3-server") or shutil.which("godot3-headless")

if GODOT is None:
    print("[ SKIPPED  ] install the Debian package godot3-server")
    sys.exit(77)

FOLDER = tempfile.TemporaryDirectory(prefix="fogmarch-godot-")
PROJECT = os.path.join(FOLDER.name, "project")
shutil.copytree(os.path.join(HERE, "../../clients/godot"), PROJECT)
for name in ("probe.gd", "scene.gd", "page.gd"):
    shutil.copy(os.path.join(HERE, "godot", name), PROJECT)


def begin(script, **environment):
    return subprocess.Popen([GODOT, "--path", PROJECT, "-s", f"res://{script}"], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**os.environ, "HOME": FOLDER.name, "XDG_DATA_HOME": FOLDER.name, **environment})


class Probe:
    def __init__(self, port, world, team, ticks, rects=None, resume_at=-1, certificate="", sight=False, motion=False):
        task = {"port": port, "world": world, "team": team, "ticks": ticks, "rects": rects or {},
                "resume_at": resume_at, "certificate": certificate, "sight": sight, "motion": motion}
        self.process = begin("probe.gd", FOGMARCH_PROBE=json.dumps(task))

    def said(self):
        lines = []
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
            lines.append(line)
            if "SCRIPT ERROR" in line:
                self.process.kill()
        raise AssertionError("the probe is gone:\n" + "".join(lines))

    def shown(self):
        """The view that the probe prints next, in the form of the tests' own mirror, and the rest of what it prints."""
        said = self.said()
        return form_of(said), said

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if error[0] is not None:
            self.process.kill()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        assert self.process.wait(PATIENCE) == 0 or error[0] is not None, rest
        assert "SCRIPT ERROR" not in rest, rest


def until(client, mirror, tick):
    while mirror.tick is None or mirror.tick < tick:
        mirror.apply(*client.notification("keyframe", "delta"))


def the_view_shows_what_the_bytes_say():
    with Server() as server:
        client = server.connect()
        world, (team, other), (base, far) = make_world(client, paused=True, classes="ground;tank:size=2,ground=1")
        agents = client.call("agent.spawn", world=world, team=team, cells=around(base, 20))["agents"]
        tanks = client.call("agent.spawn", world=world, team=team, cells=[base[0] + 6, base[1]], **{"class": "tank"})
        enemies = client.call("agent.spawn", world=world, team=other, cells=around(far, 3))["agents"]
        mirror = Mirror()
        client.call("subscribe", world=world, team=team, sight=True, motion=True)
        with Probe(server.port, world, team, [0, 1, 2, 5, 9, 15, 20, 21, 50], sight=True, motion=True) as probe:
            state, said = probe.shown()
            until(client, mirror, 0)
            assert state == mirror.state()
            assert said["refusals"] == [["world.info", "no_world"]] and said["heard"] == "no_world", said
            client.call("agent.order", world=world, agents=agents, kind="move", goal=far, spread=True)
            client.call("agent.order", world=world, agents=tanks["agents"], kind="move", goal=far)
            for tick in range(1, 51):
                if tick == 18:
                    client.call("agent.board", world=world, agents=agents[:1], carrier=agents[1], radius=8)
                if tick == 20:
                    client.call("agent.remove", world=world, agents=agents[:3])
                    client.call("building.place", world=world, team=team, on_units="push",
                                rect=[base[0] + 6, base[1] + 6, 2, 3])
                    client.call("terrain.set", world=world, set="swamp", cost=5, rects=[base[0], base[1], 4, 1])
                mark(client, world, agents[-1], enemies[0], base, tick)
                client.call("world.step", world=world, ticks=1)
                until(client, mirror, tick)
                if tick in (1, 2, 5, 9, 15, 20, 21, 50):
                    state, said = probe.shown()
                    assert said["tick"] == tick and state == mirror.state(), tick
                    assert [tuple(one) for one in said["orders"]] == mirror.ended
                    assert [tuple(one) for one in said["alerts"]] == mirror.alerts
                    assert said["died"] == mirror.died
            assert mirror.died == agents[:1]
            assert any(motion[2] for motion in state[6].values())  # waypoints
            assert len(state[2]) >= 18 and state[3] and state[4] and mirror.tags and mirror.alerts
            for agent, (whose, x, y, _) in state[2].items():
                truth = client.call("debug.inspect", world=world, agent=agent)
                assert (truth["team"], truth["cell"]) == (whose, [x, y]), agent


def a_view_that_moves_and_one_that_goes_on():
    with Server() as server:
        client = server.connect()
        world, (team, _), (base, far) = make_world(client, paused=True)
        agents = client.call("agent.spawn", world=world, team=team, cells=around(base, 10))["agents"]
        number = client.call("subscribe", world=world)["subscription"]
        mirror = Mirror()
        rects = {0: [5, 3, 60, 50], 2: [20, 30, 50, 60], 3: [0, 0, 96, 96]}
        with Probe(server.port, world, 0, [0, 2, 3, 4, 6, 7], rects, resume_at=6) as probe:
            for tick in range(8):
                if tick > 0:
                    client.call("terrain.set", world=world, set=("swamp", "water")[tick % 2], cells=[30, 35])
                    client.call("agent.order", world=world, agents=agents, kind="move", goal=far)
                    client.call("world.step", world=world, ticks=1)
                until(client, mirror, tick)
                if tick in (0, 2, 3, 4, 6, 7):
                    state, said = probe.shown()
                    assert said["tick"] == tick, said["tick"]
                    assert state[2:] == mirror.state()[2:], tick
                    for cell, look in state[1].items():
                        assert mirror.looks.get(cell, look) == look
                if tick in rects:
                    client.call("subscription.move", subscription=number, rect=rects[tick])
                    while said["rect"] != rects[tick]:  # the probe moves its view itself, and prints the keyframe
                        state, said = probe.shown()
                if tick == 6:
                    assert probe.said() == {"resumed": True}
            assert said["resumed"] and state == mirror.state()
            assert [tuple(one) for one in said["orders"]] == mirror.ended


def ends():
    with Server() as server:
        client = server.connect()
        world, (team, _), _ = make_world(client, paused=True)
        with Probe(server.port, world, team, [0, 99]) as probe, Probe(server.port, world, 0, [0, 99]) as other:
            probe.shown()
            other.shown()
            client.call("world.destroy", world=world)
            assert probe.said() == {"ended": "the world has ended"}
            assert other.said() == {"ended": "the world has ended"}
        with Probe(1, 1, 1, [0]) as probe:
            assert "no server" in probe.said()["closed"]
    with Server(environment={"FOGMARCH_TOKEN": "correct-horse-battery"}) as server:
        with Probe(server.port, 1, 1, [0]) as probe:
            assert probe.said()["closed"]


def over_tls():
    certificate, key = make_certificate(FOLDER.name)
    with Server() as plain, Server("--tls-certificate", certificate, "--tls-key", key) as server:
        for port, trusted in (server.port, "system"), (plain.port, certificate):
            with Probe(port, 1, 1, [0], certificate=trusted) as probe:
                assert "no TLS" in probe.said()["closed"], trusted
        client = Secure(server.port, certificate)
        client.call("hello", protocol=1, client="tls")
        world, (team, _), (base, far) = make_world(client, paused=True)
        agents = client.call("agent.spawn", world=world, team=team, cells=around(base, 20))["agents"]
        client.call("subscribe", world=world, team=team)
        mirror = Mirror()
        with Probe(server.port, world, team, [0, 40], certificate=certificate) as probe:
            probe.shown()
            client.call("agent.order", world=world, agents=agents, kind="move", goal=far)
            client.call("world.step", world=world, ticks=40)
            until(client, mirror, 40)
            assert probe.shown()[0] == mirror.state()


def the_example_scene():
    with Server() as server:
        scene = begin("scene.gd", FOGMARCH_PORT=str(server.port))
        try:
            client = server.connect()
            worlds = wait_for(lambda: client.call("world.list")["worlds"], "a world")
            client.call("world.resume", world=worlds[0]["world"], tick_hz=60)  # faster than the example sets it
            said, _ = scene.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            scene.kill()
            said, _ = scene.communicate()
            raise AssertionError(said + server.log())
        assert scene.returncode == 0 and "20 units arrived" in said and "SCRIPT ERROR" not in said, said


def write_script_of_the_page(port):
    with open(os.path.join(PROJECT, "README.md"), encoding="utf-8") as page:
        script = re.search(r"```gdscript\n(.*?)```", page.read(), re.DOTALL).group(1)
    with open(os.path.join(PROJECT, "page_node.gd"), "w", encoding="utf-8") as file:
        file.write(script.replace("7421", str(port)).replace("120, 130", "70, 70"))


def what_nobody_listens_for_is_in_the_output():
    """The page's script connects neither `closed` nor `refused` nor `ended`."""
    def says(port, *wanted):
        write_script_of_the_page(port)
        page = begin("page.gd")
        end = threading.Timer(PATIENCE, page.kill)
        end.start()
        said, left = "", set(wanted)
        while left and (line := page.stdout.readline()):
            said += line
            left = {one for one in left if one not in line}
        end.cancel()
        page.kill()
        page.communicate()
        assert not left, (left, said)

    says(1, "fogmarch: the connection is over: 127.0.0.1:1: no server there")
    with Server() as server:
        says(server.port, "fogmarch: the view of world 1 has ended: world 1: there is no such world",
             "fogmarch: agent.order was refused: world 1: there is no such world")


def the_script_of_the_page():
    with Server() as server:
        client = server.connect()
        world, (team, _), (base, _) = make_world(client)
        assert (world, team) == (1, 1)
        client.call("agent.spawn", world=world, team=team, cells=around(base, 3))
        write_script_of_the_page(server.port)
        said, _ = (page := begin("page.gd")).communicate(timeout=PATIENCE)
        assert page.returncode == 0 and re.search(r"^tick \d+: agent 1 is at", said, re.MULTILINE), said


def what_differs_in_godot_4_is_in_one_file():
    """Godot 4 is not installed. Both files define the same functions; the others use no name that Godot 4 changed."""
    def functions(name):
        with open(os.path.join(PROJECT, name), encoding="utf-8") as file:
            return sorted(re.findall(r"^static func (\w+)\(", file.read(), re.MULTILINE))
    three = [name for name in functions("addons/fogmarch/engine.gd") if not name.startswith("_")]
    assert three == functions("godot4/engine.gd") and len(three) > 5
    renamed = re.compile(r"Pool\w+Array|\byield\b|\bexport\b|\bonready\b|\bsetget\b|^tool\b|\bOS\.|\.connect\(|"
                         r"\.instance\(|\bReference\b|\.empty\(|\bBUTTON_|\bTYPE_R\w+|\bupdate\(\)$|parse_json|to_json",
                         re.MULTILINE)
    commands = "COMMANDS = [(](.*?)[)]", "COMMANDS = [[](.*?)[]]"
    paths = os.path.join(HERE, "../../clients/python/fogmarch/methods.py"), os.path.join(PROJECT, "addons/fogmarch/follow.gd")
    known = []
    for pattern, path in zip(commands, paths):
        with open(path, encoding="utf-8") as file:
            known.append(re.findall("[a-z]+[.][a-z]+", re.search(pattern, file.read(), re.DOTALL).group(1)))
    assert known[0] == known[1], known
    shared = [name for folder in ("addons/fogmarch", "example") for name in glob.glob(os.path.join(PROJECT, folder, "*.gd"))
              if not name.endswith("/engine.gd")]
    assert len(shared) == 7, shared
    for name in shared:
        with open(name, encoding="utf-8") as file:
            text = re.sub(r"#.*", "", file.read())
        found = [word for word in renamed.findall(text) if not (name.endswith("client.gd") and word == "update()")]
        assert found == [], (name, found)


run([the_view_shows_what_the_bytes_say, a_view_that_moves_and_one_that_goes_on, ends, over_tls, the_example_scene,
     the_script_of_the_page, what_nobody_listens_for_is_in_the_output,
     what_differs_in_godot_4_is_in_one_file])
