"""What an operator uses: health checks, systemd, reloaded settings.

Goal    a health check needs no token and tells a hanging server from a healthy one; the server notifies
        systemd when it is ready, reloads its files and ends, and the watchdog only while both the event
        loop and the conductor make progress; SIGHUP applies the settings that can change, all or
        nothing; the unit in configs/ works as written.
Method  a real server; a datagram socket in place of systemd; single threads of the server are stopped
        with ptrace(2); systemd-analyze and strace check the unit.
"""

import ctypes
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from e2e_http import WebServer
from fogmarch_server import PATIENCE, RequestError, Server, run, until

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
UNIT = os.path.join(ROOT, "configs/fogmarchd.service")
SECRET = "a-secret-for-this-test"


# ---- health checks ----------------------------------------------------------------------------------

def check(*arguments):
    """Exit code and the one line that `fogmarch healthcheck` prints."""
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    done = subprocess.run([program, "healthcheck", *arguments], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    assert done.stdout.count("\n") == 1 and done.stdout.endswith("\n"), done
    return done.returncode, done.stdout


def healthy():
    with WebServer(environment={"FOGMARCH_TOKEN": SECRET}) as server:
        tcp, http = f"127.0.0.1:{server.port}", f"http://127.0.0.1:{server.http_port}"
        for arguments in (("--tcp", tcp), ("--connect", tcp), ("--http", http),
                          ("--http", http + "/livez")):
            code, line = check(*arguments)
            assert code == 0 and line.startswith("healthy: "), line
        code, line = check("--http", http, "--json")
        assert code == 0 and json.loads(line)["healthy"] is True
        code, line = check("--http", http + "/nothing")
        assert code == 1 and "answered 404" in line, line
        code, line = check("--http", "http://" + tcp, "--timeout", "2")
        assert code == 1 and line.startswith("unhealthy: "), line
        client = server.connect(hello=False)
        client.call("hello", protocol=1, token=SECRET)
        assert client.call("stats")["server"]["wrong_tokens"] == 0, "a check is no failed attempt"
        server.process.send_signal(signal.SIGSTOP)
        for arguments in (("--tcp", tcp), ("--http", http)):
            code, line = check(*arguments, "--timeout", "0.5")
            assert code == 1 and line.startswith("unhealthy: "), line
        server.process.send_signal(signal.SIGCONT)
        assert check("--tcp", tcp)[0] == 0
    assert check("--tcp", tcp)[0] == 1 == check("--http", http)[0]


# ---- systemd ----------------------------------------------------------------------------------------

class Systemd:
    """The other end of sd_notify(3)."""

    def __init__(self, abstract=False, watchdog_us=None):
        self.folder = tempfile.mkdtemp(prefix="fogmarch-notify-")
        self.name = os.path.join(self.folder, "socket")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.name if abstract else self.name)
        self.socket.settimeout(PATIENCE)
        self.environment = {"NOTIFY_SOCKET": ("@" if abstract else "") + self.name}
        if watchdog_us is not None:
            self.environment["WATCHDOG_USEC"] = str(watchdog_us)

    def close(self):
        self.socket.close()
        shutil.rmtree(self.folder)

    def hear(self):
        """The next datagram as a dictionary."""
        lines = self.socket.recv(4096).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def hear_of(self, key):
        while key not in (news := self.hear()):
            pass
        return news

    def silent_for(self, seconds):
        """Whether nothing comes for this long, once datagrams already on their way are read."""
        self.socket.settimeout(seconds)
        try:
            for _ in range(5):
                self.hear()
            return False
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)


def notifications():
    for abstract in (False, True):
        systemd = Systemd(abstract)
        with Server(environment=systemd.environment) as server:
            ready = systemd.hear()
            assert ready["READY"] == "1" and int(ready["MAINPID"]) == server.process.pid
            server.connect().call("ping")
            server.process.send_signal(signal.SIGHUP)
            reloading = systemd.hear()
            assert reloading["RELOADING"] == "1" and int(reloading["MONOTONIC_USEC"]) > 0
            assert systemd.hear()["READY"] == "1"
            server.terminate()
            assert systemd.hear()["STOPPING"] == "1"
            assert server.wait() == 0
        systemd.close()


def watchdog():
    systemd = Systemd(watchdog_us=400000)
    with Server(environment=systemd.environment) as server:
        systemd.hear_of("READY")
        for _ in range(3):
            assert systemd.hear_of("WATCHDOG")["STATUS"] == "0 worlds, 0 clients"
        client = server.connect()
        client.call("world.create", name="w", generator="open", width=32, height=32, tick_hz=50)
        until(lambda: systemd.hear_of("WATCHDOG")["STATUS"] == "1 worlds, 1 clients", "news")
    systemd.close()
    systemd = Systemd(watchdog_us=400000)  # the watchdog of another process
    systemd.environment["WATCHDOG_PID"] = "1"
    with Server(environment=systemd.environment):
        systemd.hear_of("READY")
        assert systemd.silent_for(1)
    systemd.close()


class StoppedThread:
    """Stops one thread of a process, as if it waited for ever."""

    SEIZE, INTERRUPT, DETACH, WAIT_FOR_ALL = 0x4206, 0x4207, 17, 0x40000000

    def __init__(self, process, name):
        folder = f"/proc/{process}/task"
        self.thread = next(int(thread) for thread in os.listdir(folder)
                           if open(f"{folder}/{thread}/comm").read().strip() == name)
        self.libc = ctypes.CDLL(None, use_errno=True)

    def call(self, request):
        if self.libc.ptrace(request, self.thread, None, None) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def __enter__(self):
        self.call(self.SEIZE)
        self.call(self.INTERRUPT)
        os.waitpid(self.thread, self.WAIT_FOR_ALL)
        return self

    def __exit__(self, *details):
        self.call(self.DETACH)


def a_thread_that_hangs_starves_the_watchdog():
    systemd = Systemd(watchdog_us=400000)
    with Server(environment=systemd.environment) as server:
        client = server.connect()
        client.call("world.create", name="w", generator="open", width=32, height=32)
        systemd.hear_of("WATCHDOG")
        for name, loop_turns in (("conductor", True), ("fogmarchd", False)):
            try:
                with StoppedThread(server.process.pid, name):
                    if loop_turns:
                        client.call("ping")
                    assert systemd.silent_for(1.5), f"{name} hangs, and nobody notices"
                    if loop_turns:
                        client.call("ping")
            except PermissionError:
                print("[ SKIPPED  ] ptrace is not allowed here")
                break
            systemd.hear_of("WATCHDOG")  # the watchdog is notified again
    systemd.close()


# ---- reloaded settings ------------------------------------------------------------------------------

def settings_are_read_again():
    with tempfile.TemporaryDirectory() as folder:
        path, tokens = os.path.join(folder, "config.yaml"), os.path.join(folder, "tokens")

        def write(text, token=SECRET):
            with open(path, "w") as file:
                file.write(f"token_file: {tokens}\n{text}")
            with open(tokens, "w") as file:
                file.write(f"{token}\n")
            os.chmod(tokens, 0o600)

        write("rate_messages: 0\nworkers: 1\nsessions_max: 8\nlog_level: info\n")
        with Server("--config", path, "--worlds-max", "3") as server:
            def reload(text):
                server.process.send_signal(signal.SIGHUP)
                until(lambda: text in server.log(), text)

            client = server.connect(hello=False)
            client.call("hello", protocol=1, token=SECRET)
            for number in [client.send("ping") for _ in range(300)]:
                client.answer(number)
            write("rate_messages: 20\nworkers: 2\nsessions_max: 2\nlog_level: warning\n"
                  "worlds_max: 9\n")
            reload("tokens read again")
            log = server.log()
            assert "setting needs a restart key=workers value=2" in log
            assert "setting changed key=rate_messages value=20" in log
            assert "setting changed key=sessions_max value=2" in log
            assert "key=worlds_max" not in log, "a flag beats the file, then too"
            refused, begun = 0, time.monotonic()
            for number in [client.send("ping") for _ in range(300)]:
                try:
                    client.answer(number)
                except RequestError as error:
                    assert "20 messages a second" in str(error), error
                    refused += 1
            seconds = time.monotonic() - begun
            assert refused > 250 - 20 * seconds, f"the new rate is for those who are connected, too: {refused}, {seconds}"
            second = server.connect(hello=False)
            assert server.connect(hello=False).disconnected(), "the third one"
            second.call("ping")
            assert "connection turned away" in server.log()
            logged = len(server.log())
            second.call("hello", protocol=1, token=SECRET)
            assert "session opened" not in server.log()[logged:], "info is below the new level"
            # If anything is wrong, nothing changes.
            write("rate_messages: 1\nlog_level: nonsense\n", token="another-secret-for-this-test")
            reload("settings and tokens kept as they were")
            assert "config.yaml:3: log_level: 'nonsense'" in server.log(), server.log()
            time.sleep(1)  # lets the client's rate recover
            client.call("ping")
            write("log_level: info\n", token="another-secret-for-this-test")
            reload("setting needs a restart key=workers value=0")
            assert client.disconnected(), "its token is gone"


# ---- the unit ---------------------------------------------------------------------------------------

def tool(name):
    if shutil.which(name) is None:
        print(f"[ SKIPPED  ] {name} is not installed")
        return False
    return True


def unit_is_right():
    if not tool("systemd-analyze"):
        return
    with open(UNIT) as file:
        unit = file.read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fogmarchd.service")
        with open(path, "w") as file:
            file.write(unit.replace("/usr/local/bin/fogmarchd", f'"{os.environ["FOGMARCHD"]}"'))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0 and "fogmarchd" not in done.stderr, done.stderr
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", UNIT],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    score = re.search(r"exposure level for \S+: ([0-9.]+)", done.stdout)
    assert score and float(score[1]) <= 1.1, done.stdout + done.stderr
    assert f"gives it {score[1]} " in unit, f"the unit should state {score[1]}"


def calls_of(set_name, cache={}):
    """The system calls of a set such as @system-service, with those of the sets in it."""
    if not cache:
        done = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager"],
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        for line in re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).splitlines():
            if line.startswith("@"):
                name = line.strip()
                cache[name] = set()
            elif line.startswith(" ") and not line.strip().startswith("#"):
                cache[name].add(line.strip())
    calls = set()
    for entry in cache[set_name]:
        calls |= calls_of(entry) if entry.startswith("@") else {entry}
    return calls


def calls_of_the_server_pass_the_filter():
    """Compares the system calls of a short run with SystemCallFilter."""
    if not tool("systemd-analyze") or not tool("strace"):
        return
    with open(UNIT) as file:
        filters = re.findall(r"^SystemCallFilter=(.*)$", file.read(), re.M)
    allowed = {name for name in filters[0].split() if not name.startswith("@")}
    for name in set(filters[0].split()) - allowed:
        allowed |= calls_of(name)
    for name in filters[1].lstrip("~").split():
        allowed -= calls_of(name) - calls_of("@default")
    with tempfile.TemporaryDirectory() as folder:
        trace, wrapper = os.path.join(folder, "trace"), os.path.join(folder, "fogmarchd")
        with open(wrapper, "w") as file:  # -D: the traced program keeps its process id
            file.write("#!/bin/sh\nexec strace -D -f -qq -o "
                       f"{trace} {shlex.quote(os.environ['FOGMARCHD'])} \"$@\"\n")
        os.chmod(wrapper, 0o755)
        if subprocess.run(["strace", "-D", "-qq", "-o", os.devnull, "true"], check=False,
                          capture_output=True).returncode != 0:
            print("[ SKIPPED  ] strace is not allowed here")
            return
        # The leak checker does not work under strace.
        quiet = {"ASAN_OPTIONS": "detect_leaks=0"}
        with WebServer("--journal-dir", folder, program=wrapper, environment=quiet) as server:
            client = server.connect()
            world = client.call("world.create", name="w", generator="open", width=64, height=64,
                                tick_hz=100)["world"]
            client.call("team.create", world=world)
            client.call("subscribe", world=world)
            client.call("path.query", world=world, **{"from": [1, 1], "to": [60, 60]})
            server.open().call("ping")
            server.get("/metrics")
            server.get("/")
            server.process.send_signal(signal.SIGHUP)
            until(lambda: "settings read again" in server.log(), "SIGHUP")
            replay = client.call("replay.open", file=f"{world}-w.journal")["world"]
            client.call("replay.seek", world=replay, tick=0)
            client.call("world.destroy", world=world)
            server.terminate()
            server.wait()
        until(lambda: " exit_group(" in open(trace).read(), "the end of the trace")
        with open(trace) as file:
            used = set(re.findall(r"^\d+ +([a-z0-9_]+)\(", file.read(), re.M))
        assert {"epoll_wait", "futex", "accept4", "execve", "setpriority"} <= used, used
        # The replay thread works without setpriority (server/worlds/conductor.c); SQLite calls fchown only as root.
        refused = {"setpriority", "fchown"}
        assert used - refused <= allowed, used - allowed


if __name__ == "__main__":
    run([healthy, notifications, watchdog, a_thread_that_hangs_starves_the_watchdog,
         settings_are_read_again, unit_is_right, calls_of_the_server_pass_the_filter])
