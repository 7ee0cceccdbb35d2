"""`fogmarch watch` as a full screen: keys, resizing, error messages, and that it always restores the
terminal; and as plain lines where there is no screen.

Method: watch runs on a pseudo-terminal, and a small emulator keeps what its output would show. The world
is paused where a picture is compared, so nothing here depends on how fast the machine is.
"""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from fogmarch_server import PATIENCE, Server, run

FOGMARCH = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")

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

# What watch and ncurses send: cursor moves, clearing, and sequences that do not move the cursor.
SEQUENCE = re.compile(r"\x1b(\[([0-9;?>]*)([A-Za-z])|[()][0AB]|[=>78])")


class Screen:
    """watch on a terminal of the given size, and what it shows."""

    def __init__(self, port, *options, columns=80, rows=24, **environment):
        self.columns, self.rows = columns, rows
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.cells, self.rest, self.raw, self.place = {}, "", "", (0, 0)
        environment = {"TERM": "xterm-256color", "NO_COLOR": "1", **environment}
        settings = {k: v for k, v in os.environ.items()
                    if not k.startswith("FOGMARCH_") and k not in ("LINES", "COLUMNS", "COLORTERM")}
        looked, has_looked = os.pipe()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.read(looked, 1)
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(FOGMARCH, ["fogmarch", "watch", "--connect", f"127.0.0.1:{port}", *options],
                      {**settings, **environment})
        self.modes = termios.tcgetattr(self.terminal)[:4]  # before watch begins
        os.write(has_looked, b"x")
        for end in (looked, has_looked):
            os.close(end)

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def resize(self, columns, rows):
        self.columns, self.rows, self.cells = columns, rows, {}
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def show(self, text):
        self.raw += text
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = SEQUENCE.match(text, at)
                if match is None:
                    self.rest = text[at:]  # a sequence that is not complete yet
                    assert len(self.rest) < 40, f"what does {self.rest!r} do?"
                    return
                if match[3] == "H":
                    row, column = (match[2].split(";") + ["1"])[:2] if match[2] else ("1", "1")
                    self.place = (int(row) - 1, int(column) - 1)
                elif match[3] == "J":
                    self.cells = {}
                at = match.end()
                continue
            if text[at] >= " ":
                self.cells[self.place] = text[at]
                self.place = (self.place[0], self.place[1] + 1)
            at += 1

    def read(self):
        """Reads for a moment. False when the terminal's other end is closed."""
        if not select.select([self.terminal], [], [], 0.2)[0]:
            return True
        try:
            self.show(self.decoder.decode(os.read(self.terminal, 65536)))
        except OSError:
            return False
        return True

    def row(self, number):
        number = number if number >= 0 else self.rows + number
        return "".join(self.cells.get((number, c), " ") for c in range(self.columns)).rstrip()

    def text(self):
        return "\n".join(self.row(r) for r in range(self.rows))

    def wait(self, pattern):
        """Waits until the screen shows a pattern. Returns the match."""
        end = time.monotonic() + PATIENCE
        while not (match := re.search(pattern, self.text(), re.M)):
            assert time.monotonic() < end and self.read(), f"no {pattern!r} in:\n{self.text()}\n{self.raw[-300:]}"
        return match

    def end(self, status=0):
        """Waits for the end; watch must have restored the terminal. Returns what it printed after that."""
        end = time.monotonic() + PATIENCE
        while self.read():
            assert time.monotonic() < end, "it does not end"
        got = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.terminal)
        assert got == status, (got, self.raw[-500:])
        assert self.raw.count("\x1b[?1049h") == self.raw.count("\x1b[?1049l") == 1, "taken once, given back once"
        words = self.raw.split("\x1b[?1049l")[1]
        assert "\x1b[?25h" in self.raw.split("\x1b[?1049l")[0][-200:] + words, "the cursor is back"
        return words


def cli(server, *arguments):
    return json.loads(subprocess.run(
        [FOGMARCH, *map(str, arguments), "--json", "--connect", f"127.0.0.1:{server.port}"], check=True,
        capture_output=True, timeout=PATIENCE).stdout)


def small_world(server, **more):
    """A paused world of MAP: teams 1 and 2; agents 1 and 2 of team 1 and agent 3 of team 2, under way."""
    client = server.connect()
    world = client.call("world.create", name="small", map=MAP, paused=True, omniscient=True, **more)["world"]
    for _ in range(2):
        client.call("team.create", world=world)
    client.call("agent.spawn", world=world, team=1, cells=[0, 0, 0, 4])
    client.call("agent.spawn", world=world, team=2, cells=[9, 4])
    client.call("agent.order", world=world, agents=[1], kind="move", goal=[9, 0])
    client.call("agent.order", world=world, agents=[3], kind="move", goal=[4, 4])
    client.call("world.step", world=world, ticks=2)
    return client, world


def keys_select_follow_and_scale():
    with Server() as server:
        client, world = small_world(server)
        screen = Screen(server.port)
        screen.wait(r"^ small  world 1  10x6  tick 2 .*Ctrl-C ends")
        screen.wait("paused")
        screen.wait("team 1 1 busy of 2")
        assert "@" not in screen.text() and "####" in screen.text()

        screen.press("\t")
        inspected = client.call("debug.inspect", world=world, agent=1)
        screen.wait("^ @ agent 1  team 1  moving at {},{}  goal 9,0  order 1, move".format(*inspected["cell"]))
        screen.wait("planner " + re.escape(inspected["planner"]) + r" \(repeated-jps\): found, shared by 1; {} cells to go".format(
            len(inspected["path"]) // 2))
        screen.wait(r"search +\d+ open, \d+ closed, \d+ expansions")
        screen.wait(r"^ +\.*@\**X|@.*X")  # the agent, its path and its goal
        screen.press("\t")
        screen.wait("@ agent 2 .*idle at 0,4  order none")
        screen.press("\x1b[Z")  # Shift-Tab
        screen.wait("@ agent 1 ")
        screen.press("\x1b[Z")
        screen.wait("@ agent 3  team 2 ")
        screen.press("f")
        screen.wait("@ agent 3 .*followed")
        screen.press("\x1b")
        screen.wait("(?s)^((?!@ agent).)*$")
        screen.press("f")
        screen.wait("select an agent with Tab")
        screen.press("q")
        assert screen.end() .strip("\r\n\x1b[?1l>=;023t") == ""

        # A map that is larger than the screen: scaling and panning.
        client.call("world.destroy", world=world)
        client.call("world.create", name="wide", generator="open", width=300, height=200, paused=True)
        screen = Screen(server.port)
        screen.wait("^ wide  world 2  300x200  tick 0 ")
        screen.press("++")
        screen.wait("2 cells a character")
        screen.press("++++++++++")
        screen.wait("1/8 cell a character")
        screen.press("----")
        screen.wait("2 cells a character")
        screen.press("0")
        screen.wait("^ wide  world 2  300x200  tick 0  +[?] keys")
        screen.press("q")
        screen.end()


def keys_move_the_map():
    with Server() as server:
        client = server.connect()
        rows = ["." * 256 for _ in range(96)]
        rows[40] = "." * 128 + "@" + "." * 127
        text = "type octile\nheight 96\nwidth 256\nmap\n" + "\n".join(rows) + "\n"
        client.call("world.create", name="dot", map=text, paused=True, omniscient=True)
        client.call("team.create", world=1)
        screen = Screen(server.port)

        def dot():
            for row in range(3, 23):
                if "#" in screen.row(row):
                    return screen.row(row).index("#"), row
            return None

        def wait_for_dot(where):
            end = time.monotonic() + PATIENCE
            while dot() != where:
                assert time.monotonic() < end and screen.read(), f"{dot()} instead of {where}\n{screen.text()}"

        screen.wait("^ dot ")
        screen.press("+++")  # 80 x 20 characters show 40 x 20 cells: from 108, 38 on, 2 characters each
        screen.wait("1/2 cell a character")
        wait_for_dot((40, 5))
        # Arrows as xterm sends them in the mode that ncurses sets.
        for keys, across, down in (("l", -5, 0), ("h", 5, 0), ("k", 0, 2), ("j", 0, -2), ("\x1bOC", -5, 0),
                                   ("\x1bOD", 5, 0), ("\x1bOA", 0, 2), ("\x1bOB", 0, -2)):
            screen.press(keys)
            wait_for_dot((40 + 2 * across, 5 + down))
            screen.press({"l": "h", "h": "l", "k": "j", "j": "k", "C": "h", "D": "l", "A": "j", "B": "k"}[keys[-1]])
            wait_for_dot((40, 5))
        screen.press("q")
        screen.end()


def keys_rule_the_world():
    with Server() as server:
        client, world = small_world(server, tick_hz=50)
        screen = Screen(server.port)
        screen.wait("tick 2 .*\n.*paused")
        screen.press("s")
        screen.wait("step: tick 3")
        screen.wait("tick 3 ")
        assert client.call("world.info", world=world)["tick"] == 3
        screen.press("p")
        screen.wait("resume: tick")
        screen.wait("of 50 ticks")
        assert not client.call("world.info", world=world)["paused"]
        screen.press("s")
        screen.wait("step: .*paused")
        screen.press("p")
        screen.wait("pause: tick")
        screen.wait("paused")
        assert client.call("world.info", world=world)["paused"]
        for team in (1, 2):
            screen.press("t")
            screen.wait(f"as team {team} sees it")
            screen.wait(f"(?s)team {team} [0-9]+ busy.*100.0 % known")
        screen.press("t")
        screen.wait("(?s)^((?!sees it).)*$")
        screen.press("?")
        screen.wait("move the map")
        screen.press("?")
        screen.wait("(?s)^((?!move the map).)*$")
        screen.press("x\x1b[15~")  # keys without a meaning
        screen.press("\x03")
        screen.end()
        assert client.call("stats")["server"]["sessions"] >= 1


def roles_are_told_in_words():
    with Server() as server:
        client, world = small_world(server)
        seat = client.call("token.create", role="player", world=world, team=1)["token"]
        screen = Screen(server.port, "--team", "1", FOGMARCH_TOKEN=seat)
        screen.wait("as team 1 sees it")
        screen.press("\t")
        screen.wait("its goal, order and planner are shown to the role debug")
        screen.press("p")
        screen.wait(r"resume: .*\(denied\)")
        screen.press("s")
        screen.wait(r"step: .*\(denied\)")
        screen.press("q")
        screen.end()
        observer = client.call("token.create", role="observer")["token"]
        screen = Screen(server.port, FOGMARCH_TOKEN=observer)
        screen.wait("team 2 ")
        screen.press("\t")
        screen.wait("@ agent 1 ")
        screen.wait("shown to the role debug")
        screen.press("q")
        screen.end()


def the_screen_follows_the_terminal():
    with Server() as server:
        small_world(server)
        screen = Screen(server.port)
        screen.wait("Ctrl-C ends")
        for columns, rows in ((120, 40), (60, 12), (100, 30), (80, 24)):
            screen.resize(columns, rows)
            end = time.monotonic() + PATIENCE
            while not (screen.row(0).endswith("ends") and len(screen.row(0)) == columns - 1 and
                       "team 1" in screen.row(-1)):
                assert time.monotonic() < end and screen.read(), screen.text()
            assert max(place[1] for place in screen.cells) < columns
            assert max(place[0] for place in screen.cells) < rows
        screen.resize(12, 4)  # no room for words: the map alone
        screen.wait(r"^\.\.#+\.$")
        assert "small" not in screen.text()
        screen.resize(1, 1)
        screen.press("\t+-hjkl?t")
        screen.resize(80, 24)
        screen.wait("move the map")
        screen.press("?q")
        screen.end()


def the_terminal_is_given_back():
    with Server() as server:
        client, world = small_world(server)
        for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            screen = Screen(server.port)
            screen.wait("Ctrl-C ends")
            os.kill(screen.pid, stop)
            screen.end()
        screen = Screen(server.port)
        screen.wait("Ctrl-C ends")
        during = termios.tcgetattr(screen.terminal)[:4]
        assert during != screen.modes, "keys come one by one"
        keeper = os.dup(screen.terminal)
        client.call("world.destroy", world=world)
        assert "the world was destroyed" in screen.end()
        assert termios.tcgetattr(keeper)[:4] == screen.modes
        os.close(keeper)

        client.call("world.create", name="again", generator="open", width=9, height=9)
        screen = Screen(server.port)
        screen.wait("again")
        server.terminate()
        words = screen.end(1)
        assert re.search("the server goes down|connection lost|disconnected|closed", words), words
        server.wait()


def a_killed_server_is_told_in_words():
    server = Server()
    with server:
        small_world(server)
        screen = Screen(server.port)
        screen.wait("Ctrl-C ends")
        server.process.kill()
        words = screen.end(1)
        assert "fogmarch watch: " in words, words
        server.process.wait()
        server.process.returncode = 0  # expected here


def colours_when_there_are_some():
    with Server() as server:
        small_world(server)
        for environment, wanted, unwanted in (({"NO_COLOR": "", "COLORTERM": "truecolor"}, "38;2;", "38;5;"),
                                              ({"NO_COLOR": ""}, "38;5;", "38;2;"),
                                              ({"NO_COLOR": "", "TERM": "vt100"}, "####", "\u2580"),
                                              ({}, "####", "\u2580")):
            screen = Screen(server.port, **environment)
            if environment.get("TERM") == "vt100":  # has no alternate screen
                screen.wait("Ctrl-C ends")
                screen.press("q")
                while screen.read():
                    pass
                assert os.waitstatus_to_exitcode(os.waitpid(screen.pid, 0)[1]) == 0
            else:
                screen.wait("Ctrl-C ends")
                if wanted != "####":
                    screen.press("c")  # switches to letters, and back
                    screen.wait("####")
                    screen.press("c")
                    screen.wait("\u2580")
                screen.press("q")
                screen.end()
            assert wanted in screen.raw and unwanted not in screen.raw, environment


def lines_where_there_is_no_screen():
    with Server() as server:
        client = server.connect()
        client.call("world.create", name="open", generator="open", width=32, height=32, tick_hz=50)
        client.call("team.create", world=1)
        client.call("agent.spawn", world=1, team=1, cells=[1, 1, 2, 2])
        client.call("agent.order", world=1, agents=[1, 2], kind="patrol", goals=[1, 1, 30, 30])
        arguments = [FOGMARCH, "watch", "--connect", f"127.0.0.1:{server.port}", "--seconds", "3"]
        line = re.compile(r"tick [\d,]+ +[\d.]+/s(   p50 [\d.]+ p99 [\d.]+ max [\d.]+ ms   [\d,]+ moves/s   "
                          r"[\d,]+ expansions/s)?   2 agents(   [\d.]+ % known)?   [\d.]+ (bytes|[KM]iB)/s in")
        piped = [subprocess.Popen(arguments + more, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) for more in ([], ["--plain"], ["--team", "1"])]
        screens = [Screen(server.port, "--seconds", "3", *options, **environment) for options, environment in
                   ((["--plain"], {}), (["--lines"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": "nobody-knows-it"}))]
        for process in piped:
            printed, words = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0 and words == "" and printed, words
            for text in printed.splitlines():
                assert line.fullmatch(text), text
        for screen in screens:
            while screen.read():
                pass
            assert os.waitstatus_to_exitcode(os.waitpid(screen.pid, 0)[1]) == 0
            assert "\x1b" not in screen.raw, screen.raw
            assert line.fullmatch(screen.raw.splitlines()[0]), screen.raw


if __name__ == "__main__":
    run([keys_select_follow_and_scale, keys_move_the_map, keys_rule_the_world, roles_are_told_in_words,
         the_screen_follows_the_terminal, the_terminal_is_given_back, a_killed_server_is_told_in_words,
         colours_when_there_are_some, lines_where_there_is_no_screen])
