"""The C# client, compiled with Mono, against a real server.

Goal    its view shows what the bytes say, cell by cell and agent by agent, and what the server says of each
        agent; its events agree with the view; nothing is allocated per tick; errors and the end of a connection
        are reported; the example runs as the page says.
Method  csharp/Probe.cs follows a view and prints it; the test compares it with its own mirror, which shares no
        code with it. Mono counts allocations, and must notice those that a test makes on purpose.

Mono comes from Debian: mono-mcs and mono-runtime, 25 MB.
"""

import hashlib
import os
import shutil
import ssl
import subprocess
import sys
import tempfile

from fogmarch_server import PATIENCE, Server, run
from mirror import Mirror
from probe import Probe, around, make_world, mark, mirror_until
from secure import Secure, make_certificate

HERE = os.path.dirname(os.path.abspath(__file__))
CSHARP = os.path.join(HERE, "../../clients/csharp")
COMPILE = ["mcs", "-langversion:7", "-warn:4", "-warnaserror", "-r:System.dll"]

if not shutil.which("mcs") or not shutil.which("mono"):
    print("[ SKIPPED  ] install the Debian packages mono-mcs and mono-runtime")
    sys.exit(77)

FOLDER = tempfile.TemporaryDirectory(prefix="fogmarch-csharp-")


def compiled(name, *sources):
    program = os.path.join(FOLDER.name, name)
    if not os.path.exists(program):
        done = subprocess.run([*COMPILE, f"-out:{program}", os.path.join(CSHARP, "Runtime", "*.cs"), *sources],
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    return program


def probe_of(port, world, team, *more):
    return Probe("mono", compiled("probe.exe", os.path.join(HERE, "csharp/Probe.cs")), port, world, team, *more)


def the_view_shows_what_the_bytes_say():
    with Server() as server:
        client = server.connect()
        world, (team, other), (base, far) = make_world(client, paused=True, classes="ground;tank:size=2,ground=1")
        agents = client.call("agent.spawn", world=world, team=team, cells=around(base, 20))["agents"]
        tanks = client.call("agent.spawn", world=world, team=team, cells=[base[0] + 6, base[1]], **{"class": "tank"})
        enemies = client.call("agent.spawn", world=world, team=other, cells=around(far, 3))["agents"]
        with probe_of(server.port, world, team) as probe, probe_of(server.port, world, 0) as everything:
            mirrors = {client.call("subscribe", world=world, team=team, motion=True, sight=True)["subscription"]: Mirror(),
                       client.call("subscribe", world=world, motion=True, sight=True)["subscription"]: Mirror()}
            probes = dict(zip(mirrors, (probe, everything)))
            for one in probes.values():
                assert one.shown(0)[1]["tick"] == 0
            for tick in range(1, 60):  # something changes in each tick
                if tick == 1:
                    client.call("agent.order", world=world, agents=agents, kind="move", goal=far, spread=True)
                    client.call("agent.order", world=world, agents=tanks["agents"], kind="move", goal=far)
                if tick == 18:
                    client.call("agent.board", world=world, agents=agents[:1], carrier=agents[1], radius=8)
                if tick == 20:
                    client.call("agent.remove", world=world, agents=agents[:3])
                    client.call("building.place", world=world, team=team, on_units="push",
                                rect=[base[0] + 6, base[1] + 6, 2, 3])
                    client.call("terrain.set", world=world, set="swamp", cost=5, rects=[base[0], base[1], 4, 1])
                mark(client, world, agents[-1], enemies[0], base, tick)
                client.call("world.step", world=world, ticks=1)
                mirror_until(client, mirrors, tick)
                if tick in (1, 2, 5, 9, 15, 19, 20, 21, 40, 59):
                    for number, mirror in mirrors.items():
                        state, said = probes[number].shown(tick)
                        assert state == mirror.state(), (tick, number)
                        assert [tuple(one) for one in said["ended"]] == mirror.ended
                        assert [tuple(one) for one in said["alerts"]] == mirror.alerts
                        assert said["died"] == mirror.died
            assert all(mirror.tags and mirror.alerts and mirror.died == agents[:1] for mirror in mirrors.values())
            assert all(one.shown(59)[1]["boarded"] == agents[:1] for one in probes.values())
            state, said = everything.shown(59)
            assert len(state[2]) == 21 and state[3] and state[4] and said["ended"]
            assert any(motion[2] for motion in state[6].values())  # waypoints
            for agent, (whose, x, y, _) in state[2].items():
                truth = client.call("debug.inspect", world=world, agent=agent)
                assert (truth["team"], truth["cell"]) == (whose, [x, y]), agent
            client.call("world.destroy", world=world)
            assert probe.shown(60)[1]["end"] == "the world has ended"


def a_view_that_moves_and_one_that_goes_on():
    with Server() as server:
        client = server.connect()
        world, (team, _), (base, far) = make_world(client, paused=True)
        agents = client.call("agent.spawn", world=world, team=team, cells=around(base, 11))["agents"]
        with probe_of(server.port, world, 0) as probe:
            probe.shown(0)
            number = client.call("subscribe", world=world, motion=True, sight=True)["subscription"]
            mirrors = {number: Mirror()}
            subscription = 1  # the first of its session
            client.call("agent.order", world=world, agents=agents[1:], kind="move", goal=far)
            client.call("agent.order", world=world, agents=agents[:1], kind="patrol", goal=far)  # always moves
            for tick, rect in enumerate(([0, 0, 40, 40], [5, 3, 40, 40], [20, 30, 50, 60], [0, 0, 96, 96]), 1):
                probe.ask("rect", *rect, subscription)
                client.call("subscription.move", subscription=number, rect=rect)
                client.call("terrain.set", world=world, set=("swamp", "water")[tick % 2], cells=[30, 35])
                client.call("world.step", world=world, ticks=1)
                mirror_until(client, mirrors, tick)
                assert probe.shown(tick)[0] == mirrors[number].state(), tick
            client.call("world.step", world=world, ticks=1)
            assert probe.ask("resume") == {"session": True, "view": True}
            client.call("world.step", world=world, ticks=200)
            mirror_until(client, mirrors, 205)
            state, said = probe.shown(205)
            assert state == mirrors[number].state()
            assert [tuple(one) for one in said["ended"]] == mirrors[number].ended and len(said["ended"]) == 10


def nothing_is_allocated_per_tick():
    with Server() as server:
        client = server.connect()
        world, (team, other), (base, far) = make_world(client, tick_hz=200)
        for one, place, there in (team, base, far), (other, far, base):
            agents = client.call("agent.spawn", world=world, team=one, cells=around(place, 200))["agents"]
            client.call("agent.order", world=world, agents=agents, kind="patrol", goals=there)
        with probe_of(server.port, world, 0) as probe:
            probe.shown(2)
            rounds = []
            while not any(one["bytes"] == 0 for one in rounds):  # a buffer may have to grow once more
                rounds.append(probe.ask("garbage", 100))
                assert len(rounds) <= 5, rounds
            said = rounds[-1]
            assert said["messages"] >= 100 and said["collections"] == 0, said
            assert said["given"] > 100 and said["ends"] > 100 and said["refused"] == 0, said
            wasted = probe.ask("leak", 100)
            assert wasted["bytes"] >= 50 << 10, ("the test is blind", wasted)


def errors_and_ends():
    with Server() as server:
        client = server.connect()
        world, (team, _), _ = make_world(client, paused=True)
        with probe_of(server.port, world, team) as probe:
            said = probe.ask("errors")
            assert said["waited"] == said["heard"] == "no_world" and said["unheard"] == "agent.order", said
            assert "may not wait" in said["inside"] and "no server at 127.0.0.1:1" in said["none"], said
            server.terminate()
            assert "server" in probe.ask("until", 9)["end"]
        assert server.wait() == 0
    with Server(environment={"FOGMARCH_TOKEN": "correct-horse-battery"}) as server:
        with probe_of(server.port, 1, 1) as probe:
            assert probe.ask("until", 1)["end"]


def over_tls():
    certificate, key = make_certificate(FOLDER.name)
    with open(certificate, encoding="ascii") as file:
        trusted = hashlib.sha1(ssl.PEM_cert_to_DER_cert(file.read())).hexdigest().upper()
    with Server() as plain, Server("--tls-certificate", certificate, "--tls-key", key) as server:
        for port, trust in (server.port, "system"), (server.port, "00"), (plain.port, trusted):
            with probe_of(port, 1, 1, trust) as probe:
                assert "no TLS with 127.0.0.1" in probe.ask("until", 1)["end"], trust
        client = Secure(server.port, certificate)
        client.call("hello", protocol=1, client="tls")
        world, (team, _), (base, far) = make_world(client, paused=True)
        agents = client.call("agent.spawn", world=world, team=team, cells=around(base, 20))["agents"]
        mirrors = {client.call("subscribe", world=world, team=team, motion=True, sight=True)["subscription"]: Mirror()}
        with probe_of(server.port, world, team, trusted) as probe:
            probe.shown(0)
            client.call("agent.order", world=world, agents=agents, kind="move", goal=far)
            client.call("world.step", world=world, ticks=40)
            mirror_until(client, mirrors, 40)
            state, _ = probe.shown(40)
            assert [state] == [mirror.state() for mirror in mirrors.values()]
            assert probe.ask("errors")["waited"] == "no_world"
            server.terminate()
            assert server.wait() == 0
            assert "server" in probe.ask("until", 41)["end"]


def the_example():
    """Runs the commands of README.md in a folder that holds the clients as a checkout does."""
    with open(os.path.join(CSHARP, "README.md"), encoding="utf-8") as page:
        commands = [line.strip() for line in page if line.startswith(("    mcs ", "    mono "))]
    assert len(commands) == 2, commands
    os.symlink(os.path.join(HERE, "../../clients"), os.path.join(FOLDER.name, "clients"))
    with Server() as server:
        done = subprocess.run(f"{commands[0]} && {commands[1]} {server.port}", shell=True, cwd=FOLDER.name,
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("Arrived at") == 10 and "sees 10 agents" in done.stdout, done.stdout


def the_sample_for_unity():
    """Unity is not installed: the sample is compiled against stubs of the types that it uses."""
    compiled("units.dll", "-target:library", os.path.join(HERE, "csharp/UnityNames.cs"),
             os.path.join(CSHARP, "Samples~/Units/Units.cs"))


run([the_view_shows_what_the_bytes_say, a_view_that_moves_and_one_that_goes_on, nothing_is_allocated_per_tick,
     errors_and_ends, over_tls, the_example, the_sample_for_unity])
