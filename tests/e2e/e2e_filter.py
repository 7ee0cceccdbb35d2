"""The filter of system calls.

Goal    under `syscall_filter` everything works as without: journals and recovery, TLS with a new
        certificate, pages and WebSockets, replays, saved worlds, queries, shutdown; all threads are
        filtered; a call that the server does not need is refused and reported, or kills it.
Method  a server under load that any call outside the list would kill; `gdb`, where installed, makes the
        server try one; /proc lists the threads. tests/server/process/test_syscall_filter.c tries many calls.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

from e2e_tls import WebCase, make_certificate, wait_for_log
from fogmarch_server import PATIENCE, Server, run, until


def is_built_in():
    """Whether the server can filter and was built without a sanitizer, which needs more calls."""
    with Server("--syscall-filter", "none") as server:
        if not server.memory_tells():
            return False
    try:
        with Server("--syscall-filter", "refuse"):
            return True
    except AssertionError as error:
        assert "built without libseccomp" in str(error), error
        return False


def threads_under_a_filter(server):
    """How many of its threads are filtered, and how many it has."""
    folder = f"/proc/{server.process.pid}/task"
    filtered = []
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/status") as file:
            filtered.append("Seccomp:\t2\n" in file.read())
    return filtered.count(True), len(filtered)


def play(client):
    """A world with agents, orders, edits, queries and a view."""
    created = client.call("world.create", name="w", generator="rooms", width=96, height=96, seed=1,
                          tick_hz=50)
    world = created["world"]
    team = client.call("team.create", world=world)["team"]
    client.call("subscribe", world=world, team=team)
    agents = client.call("agent.spawn", world=world, team=team, place="nearest",
                         cells=[10, 10, 40, 40, 80, 20])["agents"]
    client.call("agent.order", world=world, agents=agents, kind="move", goal=[60, 60])
    client.call("terrain.set", world=world, set="free", cells=[20, 20])
    client.call("path.query", world=world, **{"from": [10, 10], "to": [60, 60]})
    client.notification("delta")
    return world, team


def save_and_load(client, world):
    saved = client.call("world.save", world=world)
    assert saved["total"] <= 1 << 18, "one piece"
    data = client.call("save.download", save=saved["save"], offset=0)["data"]
    upload = client.call("map.upload", offset=0, total=len(data), data=data)["upload"]
    return client.call("world.load", upload=upload, name="copy")["world"]


def does_everything():
    journals = tempfile.mkdtemp(prefix="fogmarch-")
    flags = ("--syscall-filter", "kill", "--journal-dir", journals, "--keyframe-ticks", "10")
    try:
        with WebCase(*flags) as case:
            until(lambda: "system calls are filtered" in case.server.log(), "the filter in the log")
            tcp, web = case.connect(), case.open()
            world, _ = play(tcp)
            web.call("subscribe", world=world)
            web.notification("keyframe")
            assert case.get("/livez")[0] == 200 and "fogmarch_agents" in case.get("/metrics")[1]
            case.get("/")
            make_certificate(case.folder, "renewed")
            case.server.process.send_signal(signal.SIGHUP)
            wait_for_log(case.server, "certificate read again")
            case.connect().call("ping")
            token = tcp.call("token.create", role="observer")
            tcp.call("token.revoke", number=token["number"])
            copy = save_and_load(tcp, world)
            replay = tcp.call("replay.open", file=f"{world}-w.journal")["world"]
            tcp.call("replay.seek", world=replay, tick=1)
            tcp.call("world.destroy", world=copy)
            filtered, count = threads_under_a_filter(case.server)
            assert filtered == count > 4, (filtered, count)
            case.server.terminate()
            assert tcp.notification("going_down")
            assert case.server.wait() == 0
        with WebCase(*flags) as case:  # recovery brings the world back
            names = [one["name"] for one in case.connect().call("world.list")["worlds"]]
            assert names == ["w"], names
    finally:
        shutil.rmtree(journals)


def connects_to_others():
    """A standby and a relay, which open connections while they are filtered."""
    folder = tempfile.mkdtemp(prefix="fogmarch-")
    kill = ("--syscall-filter", "kill")
    for name in ("one", "two"):
        os.mkdir(os.path.join(folder, name))
    try:
        with Server(*kill, "--journal-dir", os.path.join(folder, "one")) as one:
            world, _ = play(one.connect())
            address = f"localhost:{one.port}"  # a name that has to be looked up
            with Server(*kill, "--journal-dir", os.path.join(folder, "two"), "--follow", address) as two, \
                    Server(*kill, "--relay-of", address) as relay:
                for server in (two, relay):
                    client = server.connect()
                    until(lambda: world in [w["world"] for w in client.call("world.list")["worlds"]],
                          "the world")
                    assert "system calls are filtered" in server.log()
    finally:
        shutil.rmtree(folder)


def make_it_call(server, call):
    """Makes the server's main thread call a function of the C library, if gdb is allowed to."""
    done = subprocess.run(["gdb", "-nx", "-batch", "-p", str(server.process.pid), "-ex",
                           "handle SIGSYS nostop noprint pass", "-ex", f"call (int){call}"],
                          capture_output=True, text=True, timeout=PATIENCE, check=False,
                          stdin=subprocess.DEVNULL)
    return done.stdout + done.stderr


def what_is_refused():
    if shutil.which("gdb") is None:
        print("[ SKIPPED  ] gdb is not installed")
        return
    with Server("--syscall-filter", "none") as server:
        if "$1 = 0" not in make_it_call(server, "kill((int)getpid(), 0)"):
            print("[ SKIPPED  ] gdb may not look into the server")
            return
    with Server("--syscall-filter", "refuse") as server:
        client = server.connect()
        assert "$1 = -1" in make_it_call(server, "kill((int)getpid(), 0)")
        wait_for_log(server, "system call refused call=kill")
        client.call("ping")  # the server goes on
    server = Server("--syscall-filter", "kill")
    try:
        make_it_call(server, "kill((int)getpid(), 0)")
        assert server.wait() == -signal.SIGSYS
    finally:
        server.process.kill()
        shutil.rmtree(server.folder)


def wrong_value():
    done = subprocess.run([os.environ["FOGMARCHD"], "--syscall-filter", "sometimes"],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode != 0 and "refuse" in done.stderr, done


if __name__ == "__main__":
    if not is_built_in():
        print("[ SKIPPED  ] no filter in this build")
        sys.exit(77)
    run([does_everything, connects_to_others, what_is_refused, wrong_value])
