"""fogmarch.hpp as a game uses it: installed, compiled as clients/cpp/README.md says, against a real server.

Goal    The example compiles without a warning in C++17 and C++20, without exceptions and RTTI, as in Unreal; its
        units arrive. The actor of the page for Unreal compiles against the names that it uses, and its units walk. A
        view shows what the bytes say, cell by cell and agent by agent, and what the server says of
        each agent; its callbacks agree with it; a view continues after its connection was lost; errors and the end
        of a connection are reported; nothing is read or written out of bounds (AddressSanitizer).
Method  cpp_probe.cc follows a view and prints it; the test compares it with its own mirror, which shares no code.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from fogmarch_server import Server  # noqa: E402
from mirror import Mirror  # noqa: E402
from probe import Probe, around, make_world, mark, mirror_until  # noqa: E402
from support import SOURCE, examples, run  # noqa: E402

BUILD = sys.argv[1]
PAGE = "clients/cpp/README.md"
WARN = ["-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"]


class Kit:
    """The library, installed into an empty folder."""

    def __init__(self, folder):
        self.folder = folder
        prefix = os.path.join(folder, "prefix")
        for component in ("runtime", "development"):
            run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component)
        found = subprocess.run(["find", prefix, "-name", "pkgconfig"], stdout=subprocess.PIPE, text=True)
        self.pkgconfig = found.stdout.strip()
        self.libraries = os.path.dirname(self.pkgconfig)
        self.environment = {"PKG_CONFIG_PATH": self.pkgconfig, "LD_LIBRARY_PATH": self.libraries}

    def compile(self, line, *more):
        compiler, rest = line.split(" ", 1)
        run("bash", "-c", " ".join([compiler, *WARN, *more, rest, f"-L{self.libraries}"]), cwd=self.folder,
            environment=self.environment)


def the_example(kit):
    os.symlink(SOURCE, os.path.join(kit.folder, "fogmarch"))
    [commands] = examples(PAGE, "sh")
    compile_line, run_line = commands.splitlines()
    kit.compile(compile_line, "-fno-exceptions", "-fno-rtti")
    with Server() as server:
        said = run("bash", "-c", f"{run_line} 127.0.0.1:{server.port}", cwd=kit.folder, environment=kit.environment)
        assert said.count(": arrived") == 10 and "10 units, one at" in said, said
    [snippet] = examples(PAGE, "cpp")
    with Server() as server:
        with open(os.path.join(kit.folder, "snippet.cc"), "w", encoding="utf-8") as file:
            file.write(snippet.replace("7421", str(server.port)))
        kit.compile("c++ -std=c++20 snippet.cc -o snippet $(pkg-config --cflags --libs fogmarch)")
        running = subprocess.Popen([os.path.join(kit.folder, "snippet")], stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **kit.environment})
        said = [running.stderr.readline() for _ in range(2)]  # the view's end and the order's refusal
        assert sum("there is no such world" in line for line in said) == 2, said
    assert running.wait() == 1 and "disconnected" in running.stderr.read()
    running = subprocess.run([os.path.join(kit.folder, "snippet")], stderr=subprocess.PIPE, text=True,
                             env={**os.environ, **kit.environment})
    assert running.returncode == 1 and "cannot connect" in running.stderr, running


def the_actor_for_unreal(kit):
    """Unreal is not installed: unreal_names.h has what the page's code uses."""
    [actor] = examples("clients/cpp/UNREAL.md", r"c\+\+")
    members, functions = actor.split("// March.cpp\n")
    with Server() as server:
        client = server.connect()
        _, (team, _), (base, far) = make_world(client)
        client.call("agent.spawn", world=1, team=team, cells=around(base, 4))
        functions = functions.replace("7421", str(server.port)).replace("120, 130", "{}, {}".format(*far))
        with open(os.path.join(kit.folder, "March.cc"), "w", encoding="utf-8") as file:
            file.write("#include <fogmarch/fogmarch.hpp>\n#include <memory>\n#include \"unreal_names.h\"\n"
                       "class AMarch : public AActor\n{\n  public:\n    typedef AActor Super;\n"
                       "    void BeginPlay() override;\n    void Tick(float Seconds) override;\n"
                       f"{members}}};\n{functions}\n"
                       "int main()\n{\n    AMarch march;\n    return Play(march, march.Units);\n}\n")
        kit.compile(f"c++ -std=c++20 March.cc -o March -I{shlex.quote(HERE)} $(pkg-config --cflags --libs fogmarch)",
                    "-fno-exceptions", "-fno-rtti", "-Wno-shadow")
        said = run(os.path.join(kit.folder, "March"), cwd=kit.folder, environment=kit.environment)
        assert said == "3 of 4 units walked\n", said


def the_view_shows_what_the_bytes_say(probe_of):
    with Server() as server:
        client = server.connect()
        world, (team, other), (base, far) = make_world(client, paused=True, classes="ground;tank:size=2,ground=1")
        agents = client.call("agent.spawn", world=world, team=team, cells=around(base, 20))["agents"]
        tanks = client.call("agent.spawn", world=world, team=team, cells=[base[0] + 6, base[1]], **{"class": "tank"})
        enemies = client.call("agent.spawn", world=world, team=other, cells=around(far, 3))["agents"]
        with probe_of(server, world, team) as probe, probe_of(server, world, 0) as everything:
            mirrors = {client.call("subscribe", world=world, team=team, motion=True, sight=True)["subscription"]: Mirror(),
                       client.call("subscribe", world=world, motion=True, sight=True)["subscription"]: Mirror()}
            probes = dict(zip(mirrors, (probe, everything)))
            for tick in range(1, 60):  # something changes in each tick
                if tick == 1:
                    client.call("agent.order", world=world, agents=agents, kind="move", goal=far, spread=True)
                    client.call("agent.order", world=world, agents=tanks["agents"], kind="move", goal=far)
                if tick == 20:
                    client.call("agent.remove", world=world, agents=agents[:3])
                    client.call("building.place", world=world, team=team, on_units="push",
                                rect=[base[0] + 6, base[1] + 6, 2, 3])
                mark(client, world, agents[-1], enemies[0], base, tick)
                client.call("world.step", world=world, ticks=1)
                mirror_until(client, mirrors, tick)
                if tick in (1, 2, 5, 9, 15, 19, 20, 21, 40, 59):
                    for number, mirror in mirrors.items():
                        state, said = probes[number].shown(tick)
                        assert state == mirror.state(), (tick, number)
                        assert [tuple(one) for one in said["ended"]] == mirror.ended
                        assert [tuple(one) for one in said["alerts"]] == mirror.alerts
            assert all(mirror.tags and mirror.alerts for mirror in mirrors.values())
            state, said = everything.shown(59)
            assert len(state[2]) == 21 and state[3] and state[4] and said["ended"]
            assert any(motion[2] for motion in state[6].values())  # waypoints
            for agent, (whose, x, y, _) in state[2].items():
                truth = client.call("debug.inspect", world=world, agent=agent)
                assert (truth["team"], truth["cell"]) == (whose, [x, y]), agent
            ship, aboard = agents[3:5]
            client.call("agent.place", world=world, agents=[ship, aboard], cells=base * 2, place="nearest")
            client.call("agent.board", world=world, agents=[aboard], carrier=ship, radius=8)
            client.call("world.step", world=world, ticks=1)
            client.call("agent.remove", world=world, agents=[ship])
            client.call("world.step", world=world, ticks=1)
            mirror_until(client, mirrors, 61)
            for number, mirror in mirrors.items():
                state, said = probes[number].shown(61)
                assert state == mirror.state() and said["died"] == mirror.died == said["boarded"] == [aboard], said
            client.call("world.destroy", world=world)
            assert probe.shown(62)[1]["end"] == "the world has ended"


def a_view_that_moves_and_one_that_goes_on(probe_of):
    with Server() as server:
        client = server.connect()
        world, (team, _), (base, far) = make_world(client, paused=True)
        agents = client.call("agent.spawn", world=world, team=team, cells=around(base, 11))["agents"]
        with probe_of(server, world, 0) as probe:
            probe.shown(0)
            number = client.call("subscribe", world=world, motion=True, sight=True)["subscription"]
            mirrors = {number: Mirror()}
            client.call("agent.order", world=world, agents=agents[1:], kind="move", goal=far)
            client.call("agent.order", world=world, agents=agents[:1], kind="patrol", goal=far)
            for tick, rect in enumerate(([0, 0, 40, 40], [5, 3, 40, 40], [20, 30, 50, 60], [0, 0, 96, 96]), 1):
                assert probe.ask("rect", *rect) == {"status": "ok"}
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


def errors_and_ends(probe_of):
    with Server() as server:
        client = server.connect()
        world, (team, _), _ = make_world(client, paused=True)
        with probe_of(server, world, team) as probe:
            said = probe.ask("errors")
            assert said["waited"] == said["heard"] == "no_world" and said["unheard"] == "no_agent", said
            assert "world" in said["refused"] and "127.0.0.1:1" in said["none"] and said["sessions"] == 2, said
            assert said["unsent"], said
            assert client.call("ping", time=7)["time"] == 7
            server.terminate()
            assert "connection lost" in probe.ask("until", 9)["end"]
        assert server.wait() == 0


def main():
    folder = tempfile.mkdtemp(prefix="fogmarch-cpp-")
    try:
        kit = Kit(folder)
        the_example(kit)
        the_actor_for_unreal(kit)
        source = shlex.quote(os.path.join(HERE, "cpp_probe.cc"))
        kit.compile(f"c++ -std=c++17 -g {source} -o probe $(pkg-config --cflags --libs fogmarch)",
                    "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

        def probe_of(server, world, team):
            return Probe(os.path.join(folder, "probe"), f"127.0.0.1:{server.port}", world, team,
                         env={**os.environ, **kit.environment})

        for case in (the_view_shows_what_the_bytes_say, a_view_that_moves_and_one_that_goes_on, errors_and_ends):
            case(probe_of)
            print(f"[       OK ] {case.__name__}", flush=True)
    finally:
        shutil.rmtree(folder)


main()
