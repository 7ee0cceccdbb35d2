"""clients/demo ends everything that it has started, whatever ends the demo.

Goal    Ctrl-C ends the show, and the script says what to try next; when its terminal is closed, or only
        the script gets SIGHUP or SIGTERM, the server, the player and `watch` end too, and no file is left.
Method  The demo runs on a pseudo-terminal with programs that are built already. Its processes are found in
        /proc by a word that they have inherited in their environment.
"""

import glob
import json
import os
import pty
import select
import signal
import subprocess
import tempfile
import time
import uuid

from fogmarch_server import PATIENCE, run

BIN = os.path.dirname(os.environ["FOGMARCHD"])
DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients", "demo")


class Demo:
    """A demo on a terminal of its own."""

    def __init__(self, folder):
        self.folder, self.shown = folder, b""
        self.word = "DEMO_OF_TEST=" + uuid.uuid4().hex
        name, value = self.word.split("=")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve("/bin/bash", ["bash", DEMO, "--bin", BIN, "--agents", "20"],
                      {**os.environ, name: value, "TMPDIR": folder, "TERM": "xterm"})

    def processes(self):
        """The demo's living processes: ids, and names with the subcommand if there is one."""
        names = {}
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/environ", "rb") as file:
                    if self.word.encode() not in file.read().split(b"\0"):
                        continue
                with open(f"/proc/{number}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
            except OSError:
                continue  # it has ended, or belongs to another user
            name = os.path.basename(words[0])
            names[int(number)] = f"{name} {words[1]}" if name == "fogmarch" else name
        return names

    def read(self):
        """Reads what the terminal shows, for a moment. False when its other end is closed."""
        if self.terminal < 0:
            time.sleep(0.05)
        elif select.select([self.terminal], [], [], 0.05)[0]:
            try:
                self.shown += os.read(self.terminal, 65536)
            except OSError:
                return False
        return True

    def wait(self, done, what):
        end = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < end, (what, self.processes(), self.shown[-2000:])
            self.read()

    def wait_for_the_show(self):
        wanted = {"fogmarchd", "fogmarch play", "fogmarch watch"}
        self.wait(lambda: wanted <= set(self.processes().values()) and b"ticks/s" in self.shown, "the show")
        self.wait(lambda: self.ticks() > 20, "the first orders")

    def ticks(self):
        """Ticks of the demo's world."""
        with open(glob.glob(os.path.join(self.folder, "*", "port"))[0], encoding="ascii") as file:
            address = "127.0.0.1:" + file.read().strip()
        answer = subprocess.run([os.path.join(BIN, "fogmarch"), "info", "--json", "--connect", address],
                                capture_output=True, check=True, timeout=PATIENCE).stdout
        return json.loads(answer)["tick"]

    def end(self):
        """Waits until it has ended. Returns its exit status."""
        status = []

        def has_ended():
            number, how = os.waitpid(self.pid, os.WNOHANG)
            if number != 0:
                status.append(os.waitstatus_to_exitcode(how))
            return bool(status)

        self.wait(has_ended, "the script's end")
        assert self.processes() == {}, self.processes()
        assert os.listdir(self.folder) == [], os.listdir(self.folder)
        return status[0]

    def close_terminal(self):
        os.close(self.terminal)
        self.terminal = -1


def with_demo(do):
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(folder)
        try:
            demo.wait_for_the_show()
            do(demo)
        finally:
            if demo.terminal >= 0:
                demo.close_terminal()
            for number in demo.processes():
                os.kill(number, signal.SIGKILL)


def ctrl_c_ends_the_show():
    def do(demo):
        os.write(demo.terminal, b"\x03")
        assert demo.end() == 0, demo.shown[-2000:]
        while demo.read() and b"What to try next" not in demo.shown:
            pass
        assert b"What to try next" in demo.shown, demo.shown[-2000:]

    with_demo(do)


def a_closed_terminal_ends_all():
    def do(demo):
        demo.close_terminal()
        assert demo.end() != 0

    with_demo(do)


def a_signal_to_the_script_ends_all():
    for number in signal.SIGHUP, signal.SIGTERM:
        def do(demo, number=number):
            os.kill(demo.pid, number)
            assert demo.end() != 0

        with_demo(do)


run([ctrl_c_ends_the_show, a_closed_terminal_ends_all, a_signal_to_the_script_ends_all])
