#!/usr/bin/env python3
"""The command-line client and the demo, end to end, against a real server.

Goal: every subcommand does what its help says, reports it as text and as JSON, and fails with a message and
the right exit status. Method: one fogmarchd on a free port of loopback for each test; the world is
paused where its exact state matters, so nothing here depends on how fast the machine is.

    FOGMARCHD=build/release/bin/fogmarchd tests/e2e/e2e_cli.py [TEST...]
"""

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = ""
PATIENCE = 120  # seconds until a test gives up; nothing takes that long unless it hangs

MAP = """type octile
height 6
width 10
map
..........
.@@@@@@@@.
.@......@.
.@@@@@@@@.
..........
TTTT....WW
"""


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("FOGMARCH_")}


def unfilter(kind, line, before):
    """Undoes one of PNG's five filters on a row of RGB pixels."""
    row = bytearray()
    for i, byte in enumerate(line):
        left, up, corner = (row[i - 3], before[i], before[i - 3]) if i >= 3 else (0, before[i], 0)
        paeth = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
        row.append((byte + (0, left, up, (left + up) // 2, paeth)[kind]) & 255)
    return bytes(row)


def read_png(data):
    """Width, height and rows of an RGB picture, by Python's own zlib; checks every checksum."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
        chunks[kind] = chunks.get(kind, b"") + body
        at += 12 + size
    assert [kind for kind in chunks if kind.isupper()] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 2, 0, 0, 0]
    raw = zlib.decompress(chunks[b"IDAT"])
    rows, before = [], bytes(3 * width)
    for y in range(height):
        start = y * (3 * width + 1)
        before = unfilter(raw[start], raw[start + 1:start + 1 + 3 * width], before)
        rows.append(before)
    assert len(raw) == height * (3 * width + 1)
    return width, height, rows


class Server:
    """A fogmarchd of the test's own, ended by its process id."""

    def __init__(self, folder, *flags):
        port_file = os.path.join(folder, "port")
        self.log = open(os.path.join(folder, "log"), "w+")
        self.process = subprocess.Popen(
            [os.path.join(BIN, "fogmarchd"), "--listen", "127.0.0.1:0", "--port-file", port_file, "--budget-ms", "10000",
             *flags],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=clean_environment())
        deadline = time.monotonic() + PATIENCE
        while not (os.path.exists(port_file) and os.path.getsize(port_file) > 0):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise AssertionError("the server did not start:\n" + self.read_log())
            time.sleep(0.02)
        with open(port_file, encoding="ascii") as file:
            self.address = "127.0.0.1:" + file.read().strip()

    def read_log(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = Server(self.folder.name)
        self.environment = clean_environment()
        self.environment["FOGMARCH_CONNECT"] = self.server.address

    def tearDown(self):
        status = self.server.stop()
        log = self.server.read_log()
        self.server.log.close()
        self.folder.cleanup()
        self.assertEqual(status, 0, "the server's end:\n" + log)

    def run_cli(self, *arguments, environment=None, stdin=None):
        return subprocess.run([os.path.join(BIN, "fogmarch"), *map(str, arguments)], timeout=PATIENCE,
                              capture_output=True, text=True, input=stdin,
                              env=environment or self.environment)

    def cli(self, *arguments, **more):
        """Runs a command that must succeed; returns what it prints."""
        done = self.run_cli(*arguments, **more)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        self.assertEqual(done.stderr, "", arguments)
        return done.stdout

    def json(self, *arguments, **more):
        return json.loads(self.cli(*arguments, "--json", **more))

    def refuse(self, status, words, *arguments, **more):
        """A command that must fail: status, words on stderr, nothing on stdout."""
        done = self.run_cli(*arguments, **more)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("fogmarch"), done.stderr)

    def map_file(self, text=MAP):
        path = os.path.join(self.folder.name, "small.map")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def small_world(self, *options):
        """A paused world of MAP, all known, with teams 1 and 2."""
        self.cli("create", "small", "--map", self.map_file(), "--paused", "--omniscient", *options)
        self.cli("team")
        self.cli("team")

    # ---- help and wrong usage --------------------------------------------------------------------

    def test_help(self):
        overview = self.cli("--help")
        commands = re.findall(r"^  ([a-z]+) +[a-z]", overview, re.M)
        self.assertLessEqual({"ping", "worlds", "create", "destroy", "pause", "resume", "step", "info",
                              "team", "spawn", "order", "terrain", "path", "distance",
                              "reachable", "nearest", "field", "watch", "inspect", "explain", "top", "snapshot", "stats",
                              "play", "remove", "set", "place", "report", "build", "demolish", "token", "revoke", "replay",
                              "healthcheck"}, set(commands))
        self.assertLessEqual(max(map(len, overview.splitlines())), 90)
        for command in commands:
            help_text = self.cli(command, "--help")
            self.assertIn(f"Usage: fogmarch {command}", help_text)
            self.assertLessEqual(max(map(len, help_text.splitlines())), 90, command)
            self.assertEqual(self.cli("help", command), help_text)
        self.assertRegex(self.cli("--version"), r"^fogmarch \d+\.\d+\.\d+$")

    def test_wrong_usage(self):
        self.refuse(2, "which command?")
        self.refuse(2, "no such command: 'frob'", "frob")
        self.refuse(2, "no such option: '--frob'", "ping", "--frob")
        self.refuse(2, "no such command: 'snapshto'; perhaps snapshot", "snapshto")
        self.refuse(2, "no such option: '--conect=x'; perhaps --connect", "ping", "--conect=x")
        self.refuse(2, "no such option: '-x'", "ping", "-jx")
        self.refuse(2, "option '--json=1' takes no value", "ping", "--json=1")
        self.refuse(2, "there is no order 'patrl'; perhaps patrol", "order", "patrl", "1")
        self.refuse(2, "needs a value", "ping", "--count")
        self.refuse(2, "too few arguments", "create")
        self.refuse(2, "one argument too many", "ping", "now")
        self.refuse(2, "'x' is not a whole number", "ping", "--count", "x")
        self.refuse(2, "ADDRESS:PORT", "ping", "--connect", "nowhere")
        self.refuse(2, "one of --map FILE and --generate KIND", "create", "w")
        self.refuse(2, "a world has one map", "create", "w", "--map", "m", "--generate", "open")
        self.refuse(2, "--team N is needed", "spawn", "--count", 3)
        self.refuse(2, "one of --at X,Y and --count N", "spawn", "--team", 1)
        self.refuse(2, "there is no order 'dance'", "order", "dance", "1")
        self.refuse(2, "move where?", "order", "move", "1")
        self.refuse(2, "patrol where?", "order", "patrol", "1,1/2", "1")
        self.refuse(2, "follow whom?", "order", "follow", "1,1", "1")
        self.refuse(2, "guard what?", "order", "guard", "x", "1")
        self.refuse(2, "--from", "order", "hold", "--from", "1,1", "1")
        self.refuse(2, "--before or --replaces", "order", "hold", "--before", "1", "--replaces", "1", "1")
        self.refuse(2, "is not a list of orders", "cancel", "1", "x")
        self.refuse(2, "neither blocked, free, a terrain nor cost=N", "terrain", "lava", "1,1")
        self.refuse(2, "is not an agent's id", "inspect", "bob")

    def test_no_server(self):
        self.refuse(1, "ping: cannot connect to 127.0.0.1:1", "ping", "--connect", "127.0.0.1:1")
        self.refuse(1, "ping: no server answers at 127.0.0.1:1,127.0.0.1:2; the last: cannot connect to 127.0.0.1:2: "
                    "Connection refused", "ping", "--connect", "127.0.0.1:1,127.0.0.1:2")
        many = [f"127.0.0.1:{port}" for port in range(1, 66)]
        self.refuse(1, "127.0.0.1:64: Connection refused", "ping", "--connect", ",".join(many[:64]))
        self.refuse(2, "65 addresses are more than 64", "ping", "--connect", ",".join(many))

    # ---- the server ------------------------------------------------------------------------------

    def test_ping(self):
        self.assertRegex(self.cli("ping"), r"answered in [\d.]+ ms; up [\d.]+ s; role admin\n$")
        answer = self.json("ping")
        self.assertEqual(answer["role"], "admin")
        self.assertGreaterEqual(answer["uptime_ms"], 0)
        # The address may also come as an option, which overrides the environment.
        elsewhere = dict(self.environment, FOGMARCH_CONNECT="127.0.0.1:1")
        self.cli("--connect", self.server.address, "ping", environment=elsewhere)
        self.cli("ping", "-c", self.server.address, environment=elsewhere)

    def test_mistyped_variables(self):
        environment = dict(self.environment, FOGMARCH_CONECT="127.0.0.1:1", FOGMARCH_TOKENS="", FOGMARCH_TLS_KEY="k")
        done = self.run_cli("ping", environment=environment)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "fogmarch: warning: FOGMARCH_CONECT: there is no such variable; perhaps "
                         "FOGMARCH_CONNECT\n")

    def test_stats(self):
        self.small_world()
        self.cli("step", 3)
        server = self.json("stats")["server"]
        self.assertEqual(server["worlds"], 1)
        self.assertGreater(server["rss_bytes"], 0)
        world = self.json("stats")["world"]
        self.assertEqual(world["tick"], 3)
        self.assertEqual(world["tick_ms"]["count"], 3)
        text = self.cli("stats")
        self.assertRegex(text, r"(?m)^uptime_ms +[\d,]+$")
        self.assertRegex(text, r"(?m)^tick_ms +p50 .* of 3$")
        self.assertNotIn("orders_ended.", text)
        self.assertNotRegex(text, r"(?m)^[a-z_.-]+ +0$")
        self.assertRegex(self.cli("stats", "--all"), r"(?m)^orders_ended.arrived +0$")
        self.cli("team", "--weight", 7)
        self.assertRegex(self.cli("stats", "--teams"), r"(?m)^ +3 +7 +0 +0 +0 +0 +0 +0$")

    # ---- worlds ----------------------------------------------------------------------------------

    def test_worlds(self):
        self.assertIn("no world yet", self.cli("worlds"))
        self.refuse(1, "there is no world yet", "info")
        made = self.json("create", "one", "--generate", "skirmish", "--players", 2, "--width", 96,
                         "--height", 64, "--seed", 5, "--paused")
        self.assertEqual((made["name"], made["width"], made["height"], len(made["bases"])),
                         ("one", 96, 64, 4))
        self.assertRegex(self.cli("worlds"), r"(?m)^ +\d+  one +96x64 +0 +0 +0 +paused")
        self.refuse(1, "exists", "create", "one", "--generate", "open")
        self.cli("create", "two", "--generate", "open", "--width", 9, "--height", 9)
        self.refuse(1, "there are 2 worlds", "info")
        self.assertEqual([w["name"] for w in self.json("worlds")["worlds"]], ["one", "two"])
        self.assertEqual(self.json("info", "--world", "one")["world"], made["world"])
        self.assertEqual(self.json("info", "--world", made["world"])["name"], "one")
        self.cli("destroy", "--world", "one")
        self.refuse(1, "no_world", "info", "--world", "one")
        self.refuse(1, "no_world", "destroy", "--world", made["world"])
        self.assertEqual(self.json("info")["name"], "two")

    def test_rules_of_a_world(self):
        self.cli("create", "odd", "--generate", "rooms", "--width", 50, "--height", 40, "--room-side", 7,
                 "--neighbours", 4, "--sense-radius", 9, "--sense-shape", "diamond", "--line-of-sight",
                 "--agents-max", 77, "--teams-max", 5, "--tick-hz", 12.5, "--budget-ms", 3.5,
                 "--overload", "skip", "--pushed-stay", "--blocked-ticks", 70,
                 "--paused")
        info = self.json("info")
        self.assertEqual((info["rules"]["occupancy"], info["rules"]["pushed_stay"],
                          info["rules"]["blocked_ticks"]), ("exclusive", True, 70))
        self.assertTrue(info["paused"])
        self.assertEqual((info["tick_hz"], info["budget_ms"], info["overload"]), (12.5, 3.5, "skip"))
        rules = info["rules"]
        self.assertEqual(
            (rules["neighbours"], rules["step_costs"], rules["sense_radius"], rules["sense_shape"],
             rules["line_of_sight"], rules["omniscient"], rules["agents_max"], rules["teams_max"]),
            (4, "1", 9, "diamond", True, False, 77, 5))
        self.assertIn("rules.sense_radius", self.cli("info", "--world", "odd"))
        self.cli("create", "stacks", "--generate", "open", "--occupancy", "none")
        rules = self.json("info", "--world", "stacks")["rules"]
        self.assertEqual((rules["occupancy"], rules["pushed_stay"]), ("none", False))
        self.refuse(1, "bad_", "create", "w", "--generate", "open", "--sense-radius", 9999)
        self.refuse(1, "bad_", "create", "w", "--generate", "nonsense")

    def test_maps(self):
        path = self.map_file()
        self.assertIn("10x6 cells", self.cli("create", "small", "--map", path))
        self.assertIn("10x6 cells", self.cli("create", "piped", "--map", "-", stdin=MAP))
        self.refuse(1, "No such file", "create", "w", "--map", path + ".not")
        self.refuse(1, "small.map:2:8: The height must be", "create", "w", "--map",
                    self.map_file("type octile\nheight x\n"))
        # Larger than a message may be: it is uploaded in pieces.
        side = 1500
        large = f"type octile\nheight {side}\nwidth {side}\nmap\n" + ("." * side + "\n") * side
        made = self.json("create", "large", "--map", self.map_file(large))
        self.assertEqual((made["width"], made["height"]), (side, side))

    def test_maps_of_every_format(self):
        """A world made from Tiled's file has its walls and its costs."""
        examples = os.path.join(ROOT, "clients", "maps", "examples")
        for name in sorted(os.listdir(examples)):
            if name.endswith((".map", ".txt", ".tmx", ".tmj", ".png", ".ppm", ".pgm")):
                made = self.json("create", name, "--map", os.path.join(examples, name), "--paused")
                self.assertEqual((made["width"], made["height"]), (12, 8), name)
                # Straight through the thicket the path would cost 13: its cells cost 4.
                way = self.json("path", "--world", name, "6,2", "10,2")
                self.assertTrue(way["complete"], name)
                self.assertAlmostEqual(way["length"], 2 + 2 * 2 ** 0.5, 4, name)  # around it
                self.assertFalse(self.json("path", "--world", name, "5,5", "2,5")["complete"], name)

    def test_map_files(self):
        forest = os.path.join(ROOT, "clients", "maps", "examples", "forest.tmx")
        nowhere = dict(self.environment, FOGMARCH_CONNECT="127.0.0.1:1")  # conversion needs no server
        out = os.path.join(self.folder.name, "out.map")
        self.assertEqual(self.cli("map", "convert", forest, out, environment=nowhere), "")
        with open(out, encoding="ascii") as file:
            text = file.read()
        self.assertEqual(text.split("\n")[:5], ["type octile", "height 8", "width 12", "map", "@" * 12])
        self.assertEqual(self.cli("map", "convert", "-", out, stdin=text), "")
        drawn = self.cli("map", "draw", forest)
        self.assertEqual(drawn.split("\n")[2], "@..TT..444.@")
        self.assertEqual(self.cli("map", "check", forest).split(": ")[1].split(",")[0], "12 x 8 cells")
        told = self.json("map", "check", out)
        self.assertEqual((told["width"], told["height"], told["cost_max"]), (12, 8, 4))
        self.assertEqual(told["terrain"]["wall"], 3)
        picture = os.path.join(self.folder.name, "out.png")
        self.cli("map", "draw", forest, picture, "--scale", 3)
        with open(picture, "rb") as file:
            self.assertEqual(read_png(file.read())[:2], (36, 24))
        done = self.run_cli("map", "check", forest, self.map_file("type octile\nheight 0\n"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^.*12 x 8 cells.*\n.*small.map:2:8: .*1..4096 cells.\n$")
        self.refuse(1, "No such file", "map", "draw", out + ".not")
        self.refuse(1, ".map, .txt, .png and .ppm", "map", "convert", forest, "out.gif")
        self.refuse(1, "no colours for costs", "map", "convert", forest, "out.png")
        self.refuse(2, "check FILE...", "map", "paint", forest)
        self.refuse(2, "check FILE...", "map", "convert", forest)

    def test_time(self):
        self.small_world()
        first = self.json("step")
        self.assertEqual(first["tick"], 1)
        self.assertRegex(first["digest"], r"^[0-9a-f]{16}$")
        self.assertRegex(self.cli("step", 5), r"^tick 6, digest [0-9a-f]{16}\n$")
        self.assertRegex(self.cli("step", "-n", 4), r"^tick 10, digest [0-9a-f]{16}\n$")
        self.refuse(2, "given twice", "step", 5, "--ticks", 5)
        self.refuse(2, "'small' is no number of ticks; a world is named by --world", "step", "small")
        self.refuse(2, "too many; a world is named by --world", "destroy", "small")
        self.assertRegex(self.cli("resume", "--tick-hz", 200), r"^world \d+ goes on after tick \d+\n$")
        self.assertEqual(self.json("info")["tick_hz"], 200)
        self.refuse(1, "not_ready", "step")
        self.assertRegex(self.cli("pause"), r"^world \d+ paused after tick \d+\n$")
        before = self.json("info")["tick"]
        self.assertEqual(self.json("step")["tick"], before + 1)

    # ---- agents ----------------------------------------------------------------------------------

    def test_agents_march_and_stop(self):
        self.small_world()
        self.assertEqual(self.cli("spawn", "--team", 1, "--at", "0,0", "-a", "0,4"), "2 agents: 1-2\n")
        self.assertEqual(self.json("spawn", "--team", 2, "--at", "9,4")["agents"], [3])
        self.assertRegex(self.cli("order", "move", "9,0", 1), r"^1 agent moves to 9,0; orders from \d+ on\n$")
        self.assertEqual(self.json("order", "move", "0,2", "--team", 2)["count"], 1)
        self.cli("step", "-n", 3)
        agent = self.json("inspect", 1)
        self.assertEqual((agent["team"], agent["state"], agent["goal"]), (1, "moving", [9, 0]))
        self.assertEqual(agent["cell"][1], 0)
        self.assertGreater(agent["cell"][0], 0)
        self.assertEqual(agent["path"][-2:], [9, 0])
        self.assertEqual(self.cli("order", "stop", "1-2", 3), "3 agents stop\n")
        self.cli("step", "-n", 2)
        stopped = self.json("inspect", 1)
        self.assertEqual((stopped["state"], stopped["goal"]), ("idle", []))
        self.assertEqual(self.json("order", "move", "5,4", "--team", "all")["count"], 3)
        text = self.cli("inspect", 3)
        self.assertRegex(text, r"(?m)^agent +3 of team 2, ")
        self.assertRegex(text, r"(?m)^goal +5,4$")
        self.assertRegex(text, r"(?m)^knowledge +60 cells known")
        ended = self.json("stats")["world"]["orders_ended"]
        self.assertGreaterEqual(ended["cancelled"], 2)
        self.cli("step")
        self.assertRegex(self.cli("inspect", 1), r"(?m)^planner +auto \(repeated-jps\): \w+, shared by 1$")

    def test_explain_and_top(self):
        self.small_world()
        self.cli("spawn", "--team", 1, "--at", "0,0", "--at", "0,4")
        self.assertEqual(self.cli("explain", 1), "agent 1 is idle: it has no order\n")
        self.cli("order", "move", "9,4", 1)
        self.cli("step", "-n", 3)
        self.assertRegex(self.cli("explain", 1), r"(?m)^ +TICK  ORDER.*\n(.+\n)* +\d+  1 +begun +move +0,0$")
        top = self.json("top")["rows"]
        self.assertEqual([row["agent"] for row in top], [1])
        self.assertEqual(top[0]["goal"], [9, 4])
        self.assertRegex(self.cli("top", "--by", "teams"), r"(?m)^ +[\d.]+ +\d+ +1 +2 +[\d.]+ KiB")
        self.assertRegex(self.cli("top", "--by", "edits"), r"^ +EXPANSIONS +TICK.*\nNobody has edited the map lately\.\n$")
        self.assertRegex(self.cli("top"), r"(?m) 9,4 +auto \([a-z-]+\)$")
        self.refuse(2, "--by: 'colour' is not one of", "top", "--by", "colour")
        self.refuse(2, "is not an agent's id", "explain", "bob")

    def test_cells_of_a_search_are_listed_row_by_row(self):
        self.cli("create", "wide", "--generate", "open", "--width", 40, "--height", 40, "--paused", "--omniscient")
        self.cli("team")
        self.cli("spawn", "--team", 1, "--at", "2,2", "--planner", "dstar-lite")
        self.cli("order", "move", "37,37", 1)
        self.cli("step", "-n", 2)
        text = self.cli("inspect", 1, "--rect", "0,0,40,40")
        cells = [(int(y), int(x)) for x, y in re.findall(r"(?m)^ *(\d+),(\d+)  (?:open|closed| )", text)]
        self.assertGreater(len({x // 16 for _, x in cells}), 1)  # several pages
        self.assertEqual(cells, sorted(cells))

    def test_snapshot(self):
        self.small_world()
        self.cli("spawn", "--team", 1, "--at", "0,0", "--at", "0,4")
        self.cli("order", "move", "9,4", 1)
        self.cli("step", "-n", 2)
        picture = self.cli("snapshot", "-", "--agent", 1)
        root = xml.etree.ElementTree.fromstring(picture)
        tags = [element.tag.rpartition("}")[2] for element in root.iter()]
        self.assertEqual(tags.count("circle"), 2)
        self.assertEqual(tags.count("polyline"), 1)
        self.assertEqual(tags.count("path"), 4)  # ring and square, in dark and in white
        self.assertEqual(root.get("viewBox"), "0 0 10 6")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "view.svg")
            self.assertEqual(self.cli("snapshot", file, "--team", 2), f"{file}: 10x6 cells\n")
            with open(file, encoding="ascii") as text:
                self.assertNotIn("<circle", text.read())
            self.refuse(1, "No such file or directory", "snapshot", os.path.join(folder, "no", "x.svg"))
            self.refuse(2, "ends neither in .svg nor in .png", "snapshot", os.path.join(folder, "x.gif"))
            file = os.path.join(folder, "view.png")
            self.assertRegex(self.cli("snapshot", file, "--agent", 1),
                             r"view.png: 10x6 cells, \d+ of them searched\n$")
            with open(file, "rb") as picture:
                width, height, rows = read_png(picture.read())
            self.assertEqual((width, height), (1200, 720))

            def colour(x, y):  # 120 pixels a cell
                return tuple(rows[y * 120 + 60][(x * 120 + 60) * 3:][:3])

            agent = json.loads(self.cli("inspect", 1, "--json"))
            on_path = agent["path"][4:6]
            self.assertEqual(colour(*on_path), (255, 255, 255))
            self.assertEqual(colour(0, 4), (0x4c, 0xc2, 0xff))  # the agent of team 1
            x, y = agent["goal"]  # a square around it, 84 pixels from its middle
            self.assertEqual(tuple(rows[y * 120 + 60][(x * 120 + 60 - 84) * 3:][:3]), (255, 255, 255))
            x, y = agent["cell"]  # and a ring
            self.assertEqual(tuple(rows[y * 120 + 60 + 84][(x * 120 + 60) * 3:][:3]), (255, 255, 255))
            self.assertEqual(self.json("snapshot", file, "--rect", "2,1,3,2"),
                             {"file": file, "width": 3, "height": 2, "search": 0})
            with open(file, "rb") as picture:
                width, height, rows = read_png(picture.read())
            self.assertEqual((width, height), (1200, 800))
            letters = [line[2:5] for line in MAP.splitlines()[5:7]]
            for y in range(2):
                for x in range(3):
                    is_ground = tuple(rows[y * 400 + 9][(x * 400 + 9) * 3:][:3]) == (0xcf, 0xc8, 0xb4)
                    self.assertEqual(is_ground, letters[y][x] == ".", (x, y))
        self.refuse(1, "agent 99: there is no such agent", "snapshot", "-", "--agent", 99)

    def test_top_as_a_full_screen(self):
        self.small_world()
        self.cli("spawn", "--team", 1, "--at", "0,0")
        self.cli("order", "move", "9,4", 1)
        self.cli("step")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(os.path.join(BIN, "fogmarch"), ["fogmarch", "top", "--connect", self.server.address],
                      {**clean_environment(), "TERM": "xterm", "LINES": "20", "COLUMNS": "110"})
        seen = b""
        deadline = time.monotonic() + PATIENCE

        def wait_for(text):
            nonlocal seen
            while text not in seen:
                self.assertLess(time.monotonic(), deadline, seen)
                if select.select([terminal], [], [], 1)[0]:
                    seen += os.read(terminal, 65536)

        wait_for(b"PLANNER")
        wait_for(b"9,4")
        os.write(terminal, b"e")
        wait_for(b"ONE OF THEM")
        os.write(terminal, b"q")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)

    def test_orders_of_every_kind(self):
        self.small_world()
        self.cli("spawn", "--team", 1, "--at", "0,0", "--at", "0,4", "--at", "9,4")
        self.assertRegex(self.cli("order", "patrol", "0,0/4,0", 1, "--loop"),
                         r"^1 agent patrols; orders from 1 on\n$")
        self.assertRegex(self.cli("order", "hold", 1, "--queue"), r"^1 agent holds its ground; ")
        self.assertEqual(self.json("order", "follow", 1, "2-3", "--radius", 1)["count"], 2)
        self.assertEqual(self.json("order", "guard", 3, 2)["order"], 5)
        self.assertEqual(self.json("order", "guard", "5,4", 3)["order"], 6)
        self.cli("step", "-n", 2)
        self.assertRegex(self.cli("inspect", 1), r"(?m)^order +1, patrol; 1 more waits$")
        self.assertRegex(self.cli("inspect", 2), r"(?m)^order +5, guard 3$")
        first = self.json("inspect", 1)
        self.assertEqual((first["kind"], first["queue"], first["queue_kinds"]), ("patrol", [2], ["hold"]))
        self.assertRegex(self.cli("order", "explore", 2), r"^1 agent explores; ")
        self.assertRegex(self.cli("order", "flee", "--from", "9,3/9,4", 3), r"^1 agent flees; ")
        self.assertRegex(self.cli("order", "keep-distance", "--from", 1, 2, "--radius", 3, "--queue"),
                         r"^1 agent keeps its distance; ")
        self.cli("step", "-n", 40)
        third = self.json("inspect", 3)
        self.assertEqual((third["kind"], third["state"]), ("none", "idle"))
        self.assertLess(third["cell"][0], 9)
        ended = self.json("stats")["world"]["orders_ended"]
        self.assertEqual((ended["explored"], ended["replaced"]), (1, 4))
        self.cli("order", "move", "5,4", "1-3", "--formation", "line", "--common-speed")
        goals = [tuple(self.json("inspect", agent)["goal"]) for agent in (1, 2, 3)]
        self.assertEqual(len(set(goals)), 3)
        self.refuse(1, "formation must be", "order", "move", "5,4", 1, "--formation", "heap")
        self.assertEqual(self.cli("order", "stop", "--team", "all"), "3 agents stop\n")
        self.refuse(1, "no_target", "order", "follow", 99, 1)

    def test_agents_that_take_up_room(self):
        self.small_world("--occupancy", "exclusive")
        self.cli("spawn", "--team", 1, "--at", "0,0", "--speed", 2.5)
        self.refuse(1, "occupied_cell", "spawn", "--team", 1, "--at", "0,1", "--at", "0,0")
        self.assertEqual(self.json("spawn", "--team", 1, "--at", "0,0", "--place", "nearest")["agents"], [2])
        self.refuse(1, "bad_value", "spawn", "--team", 1, "--at", "5,0", "--speed", 1000)
        cells = [self.json("inspect", agent)["cell"] for agent in (1, 2)]
        self.assertNotEqual(cells[0], cells[1])
        self.assertEqual(self.json("order", "move", "5,0", 1, "--max-detour", 150)["count"], 1)
        self.refuse(1, "bad_field", "order", "move", "5,0", 1, "--max-detour", 50)

    def test_agents_that_are_not_there(self):
        self.small_world()
        self.refuse(1, "no_agent", "order", "move", "1,0", 99)
        self.refuse(1, "there are no such agents: world 1 has none", "order", "stop", "--team", "all")
        self.refuse(1, "there are no such agents: world 1 has none of team 2", "order", "stop", "--team", 2)
        self.refuse(2, "which agents?", "order", "stop")
        self.refuse(2, "is not a list of ids", "order", "stop", "3-1")
        self.refuse(1, "no_agent", "inspect", 99)
        self.refuse(1, "no_team", "spawn", "--team", 3, "--at", "0,0")
        self.refuse(1, "blocked_cell", "spawn", "--team", 1, "--at", "1,1")
        self.refuse(1, "off_grid", "spawn", "--team", 1, "--at", "10,0")
        self.assertEqual(self.json("info")["agents"], 0)

    def test_agents_named_twice_are_given_one_order(self):
        self.small_world()
        self.cli("spawn", "--team", 1, "--at", "0,0", "--at", "1,0", "--at", "2,0")
        self.assertIn("3 agents move", self.cli("order", "move", "9,0", "2,1-2", "3,3", "--team", 1))
        self.assertEqual(self.json("order", "hold", "2-3", "--team", 1)["count"], 3)

    def test_spawn_picks_free_cells(self):
        self.small_world()
        # 31 cells outside the walls are free; the 6 in the closet do not count.
        free = sum(row.count(".") for i, row in enumerate(MAP.splitlines()[4:]) if i != 2) + 2
        self.assertEqual(len(self.json("spawn", "--team", 1, "--count", free - 4, "--seed", 3)["agents"]), free - 4)
        self.assertEqual(len(self.json("spawn", "--team", 2, "--count", 2, "--near", "9,5")["agents"]), 2)
        self.assertEqual(len(self.json("spawn", "--team", 2, "--count", 2)["agents"]), 2)
        self.refuse(1, "there is room for 0 agents, not for 1", "spawn", "--team", 1, "--count", 1)
        self.assertEqual(self.json("spawn", "--team", 1, "--count", 6, "--rect", "2,2,6,1")["agents"][-1], free + 6)
        self.assertEqual(self.cli("remove", "1-3"), "3 agents removed\n")
        self.assertEqual(self.json("remove", "--team", "all")["removed"], free + 3)
        self.assertEqual(self.json("info")["agents"], 0)

    def test_refusals_name_what_they_are_about(self):
        self.small_world()
        world = self.json("info")["world"]
        self.cli("spawn", "--team", 1, "--at", "0,0", "--at", "0,4")
        self.cli("spawn", "--team", 2, "--at", "9,4")
        for words, *arguments in (
                ("agent 99: there is no such agent (no_agent)", "inspect", 99),
                ("agent 99: there is no such agent (no_agent)", "explain", 99),
                ("entry 1, agent 99: there is no such agent (no_agent)", "order", "move", "1,0", "1,99"),
                ("entry 0, agent 99: there is no such agent (no_agent)", "remove", 99),
                ("entry 0, agent 2: the agent has no such order, or no longer (no_order)", "cancel", 2, 7),
                ("target 99: it is not there, or is not seen by the team of entry 0 (no_target)", "order", "follow",
                 99, 1),
                ("carrier 99: there is no such agent, or entry 0 is of another team (no_target)", "board", 99, 1),
                ("carrier 99: there is no such agent (no_target)", "unboard", 99),
                ("team 9: there is no such team (no_team)", "spawn", "--team", 9, "--at", "1,0"),
                ("team 9: there is no such team (no_team)", "set", "--to-team", 9, 1),
                ("team 9: there is no such team (no_team)", "path", "0,0", "1,0", "--team", 9),
                ("team 9: there is no such team (no_team)", "snapshot", "-", "--team", 9),
                ("building 5: there is no such building (no_building)", "demolish", 5),
                ("world 99: there is no such world (no_world)", "team", "--world", 99),
                ("world 'none': there is no such world (no_world)", "team", "--world", "none"),
                ("world 'small': that name is taken (exists)", "create", "small", "--generate", "open"),
                ("token 99: there is no such token (bad_value)", "revoke", 99)):
            self.refuse(1, words, *arguments)
        self.cli("resume")
        self.refuse(1, f"world {world} is not paused (not_ready)", "step")

    def test_living_units_are_changed_placed_and_reported(self):
        self.small_world("--class", "ground", "--class", "boat:water=1,ground=2")
        self.cli("spawn", "--team", 1, "--at", "0,0", "--at", "1,0", "--at", "2,0")
        self.cli("order", "move", "9,0", "1-2")
        self.cli("order", "hold", "1", "--queue")
        self.assertEqual(self.cli("set", "--freeze", "--speed", 2.5, "1"), "1 agent changed\n")
        self.assertEqual(self.json("set", "--class", "boat", "1-2")["count"], 2)
        self.assertEqual(self.cli("set", "--tag", "hero", "--show-tag", "--sight", 9, "1"), "1 agent changed\n")
        self.assertEqual(self.cli("place", "5,4/6,4", "2-3"), "2 agents placed\n")
        self.assertEqual(self.cli("place", "4,2", "3"), "1 agent placed\n")
        self.cli("spawn", "--team", 1, "--at", "5,2")
        self.assertEqual(self.cli("board", "3", "4"), "1 agent boarded\n")
        self.refuse(1, "carried", "place", "5,3", "4")
        self.assertEqual(self.cli("unboard", "3", "--radius", 2), "1 agent came out\n")
        self.refuse(2, "who carries them?", "board", "3-4", "1")
        self.assertEqual(self.cli("remove", "4"), "1 agent removed\n")
        self.cli("order", "hold", "1", "--at", 0, "--deadline", 50)
        self.cli("order", "move", "9,1", "1", "--replaces", 3)
        orders = self.json("report", "1")["agents"][0]["orders"]
        self.assertEqual([(order["order"], order["ticks_left"]) for order in orders], [(1, 0), (4, 50), (5, 0)])
        self.assertEqual(self.cli("cancel", "1", 4), "1 order cancelled\n")
        self.assertRegex(self.cli("order", "attack-move", "9,2", "2"), r"^1 agent moves to 9,2; ")
        self.assertEqual(self.cli("go-on", "1-3", "--ticks", 5), "1 agent goes on\n")
        self.cli("order", "hold", "1", "--replaces", 5)
        self.refuse(1, "no_order", "cancel", "1", "5")
        first, second, third = self.json("report", "--team", 1, "--cells", 4)["agents"]
        self.assertEqual((first["cell"], first["speed"], first["frozen"]), ([0, 0], 2.5, True))
        self.assertEqual([order["kind"] for order in first["orders"]], ["move", "hold"])
        self.assertEqual((second["cell"], second["class"], second["frozen"]), ([5, 4], "boat", False))
        self.assertEqual((third["cell"], third["orders"]), ([4, 2], []))
        lines = self.cli("report", "1-3").splitlines()
        self.assertRegex(lines[0], "^ +AGENT +AT +STATE +ORDER +GOAL +QUEUED +WHY$")
        self.assertRegex(lines[1], r"^ +1 +0,0 +\w+ +move +9,0 +1 +\w")
        self.assertRegex(lines[3], r"^ +3 +4,2 +\w+ +- +- +0")
        self.cli("step", 3)
        self.assertEqual(self.json("report", "1")["agents"][0]["cell"], [0, 0])
        self.cli("set", "--thaw", "--speed", 0, "1")
        self.cli("step", 3)
        self.assertNotEqual(self.json("report", "1")["agents"][0]["cell"], [0, 0])
        self.refuse(2, "--freeze or --thaw", "set", "--freeze", "--thaw", "1")
        self.refuse(2, "what? --class", "set", "1")
        self.refuse(2, "--show-tag or --hide-tag", "set", "--show-tag", "--hide-tag", "1")
        self.refuse(2, "which agents?", "place", "1,0")
        self.refuse(2, "one for each agent", "place", "1,0/2,0", "1-3")
        self.refuse(1, "no_agent", "set", "--freeze", "99")
        self.refuse(1, "blocked_cell", "place", "1,1", "1")

    def test_spawn_around_a_base(self):
        made = self.json("create", "arena", "--generate", "skirmish", "--players", 2, "--width", 128,
                         "--height", 128, "--paused")
        self.cli("team")
        ids = self.json("spawn", "--team", 1, "--count", 20, "--base", 2)["agents"]
        self.assertEqual(len(set(ids)), 20)
        x, y = self.json("inspect", ids[0])["cell"]
        self.assertLess(max(abs(x - made["bases"][2]), abs(y - made["bases"][3])), 20)
        self.refuse(1, "the world has 2 bases", "spawn", "--team", 1, "--count", 1, "--base", 3)

    # ---- terrain and paths -----------------------------------------------------------------------

    def test_terrain_and_path(self):
        self.small_world()
        straight = self.json("path", "0,0", "9,0")
        self.assertTrue(straight["complete"])
        self.assertEqual((straight["length"], len(straight["cells"])), (9, 20))
        closet = self.json("path", "0,0", "4,2")
        self.assertEqual((closet["complete"], closet["reason"]), (False, "unreachable"))
        self.assertIn("nearest reachable cell", self.cli("path", "0,0", "4,2"))
        self.assertEqual(self.cli("terrain", "free", "4,1"), "1 cell changed\n")
        self.assertTrue(self.json("path", "0,0", "4,2")["complete"])
        self.assertEqual(self.json("terrain", "blocked", "4,1", "0,0,10,1")["changed"], 11)
        self.assertEqual(self.json("terrain", "cost=3", "0,4,10,1")["changed"], 10)
        self.assertEqual(self.json("path", "0,4", "3,4")["length"], 9)
        self.assertRegex(self.cli("path", "0,4", "2,4", "--cells"), r"(?m)^0,4 1,4 2,4$")
        self.refuse(1, "cell 0,0 cannot be entered: no place for class 'ground' (1 x 1 cells)", "path", "0,0", "9,4")
        self.refuse(1, "off_grid", "terrain", "free", "50,50")
        self.cli("team")
        self.assertEqual(self.cli("cost", "9", "0,0,3,1", "--team", 1), "3 cells changed\n")
        self.assertEqual(self.json("cost", "0", "1,0", "--team", 1), {"changed": 1})
        self.refuse(2, "--team says whose paths heed it", "cost", "9", "0,0")
        self.refuse(2, "is not a cost in 0..249", "cost", "250", "0,0", "--team", 1)
        self.refuse(2, "is not of the form X,Y", "path", "0", "9,4")
        self.refuse(2, "'9999,4' is not of the form X,Y, each 0 to 4095", "path", "0,0", "9999,4")

    def test_path_on_what_a_team_knows(self):
        self.cli("create", "small", "--map", self.map_file(), "--paused", "--sense-radius", 1)
        self.cli("team")
        self.cli("spawn", "--team", 1, "--at", "0,0")
        self.assertFalse(self.json("path", "0,0", "4,2")["complete"])
        self.assertTrue(self.json("path", "0,0", "4,2", "--team", 1)["complete"])  # as far as they know

    def test_questions_about_ways(self):
        self.cli("create", "small", "--generate", "open", "--width", 9, "--height", 9, "--paused")
        self.cli("terrain", "blocked", "4,0,1,9")
        self.assertEqual(self.cli("reachable", "0,0", "3,3"), "yes\n")
        self.assertEqual(self.cli("reachable", "0,0", "3,3", "0,0", "5,5"), "yes\nno\n")
        self.assertRegex(self.cli("distance", "0,0", "3,3", "0,0", "5,5"),
                         r"^found: length 4.243, cost 42, \d+ expansions\nunreachable: .*\n$")
        self.assertRegex(self.cli("path", "0,0", "2,2", "0,0", "0,1", "--cells"),
                         r"^found: .* 3 cells, .*\n0,0 1,1 2,2\nfound: .*\n0,0 0,1\n$")
        self.assertRegex(self.cli("nearest", "0,0", "8,8", "3,1", "0,8", "--cells"),
                         r"^3,1 found: .*\n0,0 .*3,1\n$")
        self.assertRegex(self.cli("field", "3,0", "2,0,3,2"),
                         r"^ +10 +0 +-\n +14 +10 +-\nfound: \d+ expansions\n$")
        self.refuse(2, "cells come in pairs", "distance", "0,0", "3,3", "1,1")
        self.refuse(2, "not of the form X,Y,WIDTH,HEIGHT", "field", "3,0", "1")

    # ---- watching --------------------------------------------------------------------------------

    def test_watch_prints_lines(self):
        self.cli("create", "arena", "--generate", "open", "--width", 64, "--height", 64, "--tick-hz", 50)
        self.cli("team")
        self.cli("spawn", "--team", 1, "--count", 5)
        self.cli("order", "move", "60,60", "--team", "all")
        lines = [json.loads(line) for line in self.cli("watch", "--json", "--seconds", 4).splitlines()]
        self.assertGreaterEqual(len(lines), 2)
        self.assertEqual(lines[0]["agents"], 5)
        self.assertGreater(lines[-1]["tick"], lines[0]["tick"])
        self.assertIn("5 agents", self.cli("watch", "--seconds", 3, "--team", 1))
        self.refuse(1, "no_team", "watch", "--team", 7, "--seconds", 1)

    def watch_on_a_terminal(self, environment, *options):
        """Starts watch on a terminal of 100 x 30 and stops it as Ctrl-C does. Returns what it drew."""
        pid, terminal = pty.fork()
        if pid == 0:
            subprocess.run(["stty", "cols", "100", "rows", "30"], check=False)
            os.execve(os.path.join(BIN, "fogmarch"), ["fogmarch", "watch", *options],
                      dict(self.environment, TERM="xterm-256color", **environment))
        drawn, deadline = b"", time.monotonic() + PATIENCE
        stopped = False
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the terminal's other end is closed
                break
            drawn += piece
            if not stopped and b"Ctrl-C ends" in drawn and b"team 1" in drawn:
                os.write(terminal, b"\x03")
                stopped = True
        os.close(terminal)
        if not stopped:
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.assertTrue(stopped, drawn)
        self.assertEqual(status, 0, drawn)
        self.assertTrue(drawn.startswith(b"\x1b[?1049h"), "the whole screen is taken")
        # After it ncurses restores the window's title and the keypad.
        self.assertRegex(drawn, rb"\x1b\[\?1049l(\x1b\[23;0;0t)?\r?(\x1b\[\?1l\x1b>)?\s*$", "and given back")
        # At Ctrl-C the terminal drops what it has not shown yet, and may cut a character in two.
        return drawn.decode(errors="replace")

    def test_watch_draws_on_a_terminal(self):
        self.small_world()
        self.cli("spawn", "--team", 1, "--at", "0,0")
        drawn = self.watch_on_a_terminal({"COLORTERM": "truecolor"})
        self.assertIn("small", drawn)
        self.assertIn("\u2580", drawn)
        self.assertIn("38;2;76;194;255", drawn)  # the colour of team 1
        drawn = self.watch_on_a_terminal({"COLORTERM": ""})
        self.assertIn("38;5;", drawn)
        drawn = self.watch_on_a_terminal({"NO_COLOR": "1"})
        self.assertNotIn("\u2580", drawn)
        self.assertNotRegex(drawn, "[34]8;[25];")
        self.assertIn("####", drawn)
        drawn = self.watch_on_a_terminal({"COLORTERM": "truecolor"}, "--team", "1")
        self.assertIn("as team 1 sees it", drawn)

    def test_watch_ends_with_its_world_and_its_server(self):
        self.small_world()
        watcher = subprocess.Popen([os.path.join(BIN, "fogmarch"), "watch", "--json"], env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watcher.stdout.readline()
        self.cli("destroy")
        _, words = watcher.communicate(timeout=PATIENCE)
        self.assertEqual(watcher.returncode, 0)
        self.assertIn("the world was destroyed", words)

        self.cli("create", "again", "--generate", "open", "--width", 5, "--height", 5)
        watcher = subprocess.Popen([os.path.join(BIN, "fogmarch"), "watch", "--json"], env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watcher.stdout.readline()
        self.assertEqual(self.server.stop(), 0)
        _, words = watcher.communicate(timeout=PATIENCE)
        self.assertEqual(watcher.returncode, 1)
        self.assertRegex(words, "the server goes down|connection lost")

    # ---- playing ---------------------------------------------------------------------------------

    def test_play(self):
        self.cli("create", "arena", "--generate", "skirmish", "--players", 2, "--width", 96, "--height", 96,
                 "--tick-hz", 50)
        self.refuse(1, "the world has no agents", "play", "--seconds", 1)
        for team in (1, 2):
            self.cli("team")
            self.cli("spawn", "--team", team, "--count", 10, "--base", team)
        summary = self.json("play", "--seconds", 6, "--period", 0.2)
        self.assertGreater(summary["moves"], 0)
        self.assertGreater(summary["orders_given"], 0)
        self.assertGreater(sum(summary["orders_ended"].values()), 0)
        self.assertEqual(summary["refused"], 0)
        self.assertGreater(summary["ticks"], 0)

    # ---- roles -----------------------------------------------------------------------------------

    def test_seats(self):
        self.small_world()
        made = self.json("token", "player", "--team", "1")
        seat = {**self.environment, "FOGMARCH_TOKEN": made["token"]}
        worlds = self.json("worlds", environment=seat)
        self.assertEqual([world["teams"] for world in worlds["worlds"]], [0])
        self.refuse(1, "denied", "stats", environment=seat)
        self.refuse(1, "denied", "path", "0,0", "1,0", "--team", "2", environment=seat)
        self.cli("revoke", made["number"])
        self.refuse(1, "token", "worlds", environment=seat)
        observer = self.cli("token", "observer").strip()
        watcher = {**self.environment, "FOGMARCH_TOKEN": observer}
        self.json("stats", environment=watcher)
        self.refuse(1, "denied", "pause", environment=watcher)
        self.refuse(1, "role must be", "token", "king")
        self.refuse(1, "a player's seat", "token", "player")
        self.refuse(2, "only players", "token", "admin", "--world", "small")
        self.refuse(1, "no such token", "revoke", "99")
        self.refuse(2, "not the number", "revoke", "x")

    def test_tokens_are_read(self):
        path = os.path.join(self.folder.name, "token")
        with open(path, "w", encoding="ascii") as file:
            file.write("not-a-token-of-this-server\n")
        self.refuse(1, "No such file", "ping", "--token-file", path + ".not")
        # Loopback needs no token. Whether the server refuses a wrong one is not tested here; the
        # client must get an answer either way.
        self.assertIn(self.run_cli("ping", "--token-file", path).returncode, (0, 1))


class DemoTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.environment = dict(clean_environment(), TMPDIR=self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def demo(self, *arguments):
        return [os.path.join(ROOT, "clients", "demo"), "--bin", BIN, *arguments]

    def nothing_is_left(self):
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_seconds(self):
        done = subprocess.run(self.demo("--seconds", "8"), timeout=PATIENCE, capture_output=True, text=True,
                              env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ticks +[1-9]")
        self.assertRegex(done.stdout, r"(?m)^tick time +p50 [\d.]+ ms, p99 ")
        self.assertRegex(done.stdout, r"(?m)^orders ended +[1-9]")
        self.nothing_is_left()

    def test_a_map(self):
        path = os.path.join(self.folder.name, "small.map")
        with open(path, "w", encoding="ascii") as file:
            file.write("type octile\nheight 40\nwidth 60\nmap\n" + ("." * 60 + "\n") * 40)
        done = subprocess.run(self.demo("--seconds", "5", "--agents", "20", path), timeout=PATIENCE,
                              capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        os.unlink(path)
        self.nothing_is_left()

    def test_ctrl_c(self):
        demo = subprocess.Popen(self.demo(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment, start_new_session=True)
        for _ in range(8):  # watch prints a line a second when it is piped
            self.assertNotEqual(demo.stdout.readline(), "")
        os.killpg(demo.pid, signal.SIGINT)  # as the terminal does: to the whole foreground process group
        rest, words = demo.communicate(timeout=PATIENCE)
        self.assertEqual(demo.returncode, 0, words)
        self.assertIn("orders ended", rest)
        self.nothing_is_left()

    def test_failures(self):
        bad = os.path.join(self.folder.name, "bad.map")
        with open(bad, "w", encoding="ascii") as file:
            file.write("not a map\n")
        done = subprocess.run(self.demo("--seconds", "5", bad), timeout=PATIENCE, capture_output=True,
                              text=True, env=self.environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.map:1:1: This line must read", done.stderr)
        os.unlink(bad)
        self.nothing_is_left()
        done = subprocess.run(self.demo("--seconds", "0"), timeout=PATIENCE, capture_output=True, text=True,
                              env=self.environment)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    if "FOGMARCHD" not in os.environ:
        sys.exit("FOGMARCHD must name the server; the other programs are beside it")
    BIN = os.path.dirname(os.path.abspath(os.environ["FOGMARCHD"]))
    unittest.main(verbosity=2)
