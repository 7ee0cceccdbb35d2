"""What happens to servers in the field: processes that are stopped, peers that vanish, too many of them.

Goal    whatever happens to one client, to the clock or to the process, the others are served: no client
        pays for a pause of the server, slow handshakes cost nothing, a server without descriptors
        neither spins nor forgets waiting clients, and setting the clock changes nothing.
Method  a real server; signals, resource limits, a clock that can be set (set_clock.c), and sockets that
        are dropped silently (TCP_REPAIR). Where the system does not allow that, the case says so and is
        skipped.
"""

import datetime
import http.client
import multiprocessing
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import ssl
import struct
import tempfile
import threading
import time

from e2e_http import WebServer
from e2e_tls import make_certificate
from fogmarch_server import Client, PATIENCE, REQUEST, Server, library_in, msgpack, run, until

HELLO = msgpack.packb([REQUEST, 1, "hello", [{"protocol": 1, "client": "faults"}]])


def skip(why):
    print(f"[ SKIPPED  ] {why}")


def make_world(client, **options):
    world = client.call("world.create", name="w", generator="open", width=64, height=64, **options)
    team = client.call("team.create", world=world["world"])["team"]
    agents = client.call("agent.spawn", world=world["world"], team=team, cells=[1, 1])["agents"]
    client.call("agent.order", world=world["world"], agents=agents, kind="patrol", goal=[60, 60])
    return world["world"], team


def ticks_go_on(client, world):
    tick = client.call("world.info", world=world)["tick"]
    until(lambda: client.call("world.info", world=world)["tick"] > tick + 5, "ticks")


def sessions(client):
    return client.call("stats")["server"]["sessions"]


# ---- stopped processes ------------------------------------------------------------------------------

def a_server_that_stood_still_blames_nobody():
    """SIGSTOP for longer than every timeout: no client is disconnected."""
    limits = [text for name in ("hello", "idle", "message", "slow-reader")
              for text in (f"--{name}-timeout-s", "2")]
    with Server(*limits, "--tick-hz", "50") as server:
        client, reader, quiet = server.connect(), server.connect(), server.connect()
        world, team = make_world(client)
        reader.call("subscribe", world=world, team=team)
        late = server.connect(hello=False)
        half = server.connect()
        half.send_bytes(HELLO[:7])
        mark = len(server.log())
        server.process.send_signal(signal.SIGSTOP)
        late.send("hello", protocol=1)  # the stopped server cannot read it in time
        time.sleep(3)
        server.process.send_signal(signal.SIGCONT)
        until(lambda: "the server stood still" in server.log(), "the pause to be noticed")
        assert late.take() and late.answers, "it said hello in time"
        half.send_bytes(HELLO[7:])
        assert half.take()
        for one in (client, quiet, late):
            one.call("ping")
        assert "session ended" not in server.log()[mark:], server.log()[mark:]
        while reader.notification("delta", "keyframe", "idle")[0] == "idle":
            reader.call("ping")
        ticks_go_on(client, world)


def a_client_that_stands_still_is_alone_with_it():
    """Its socket stays open but is not read: at first a slow reader, then disconnected."""
    with Server("--slow-reader-timeout-s", "1", "--session-unsent-max", "65536",
                "--tick-hz", "100") as server:
        good = server.connect()
        world = good.call("world.create", name="w", generator="skirmish", width=256, height=256,
                          players=2)
        bases, world = world["bases"], world["world"]
        team = good.call("team.create", world=world)["team"]
        agents = good.call("agent.spawn", world=world, team=team, cells=bases[:2] * 3000)["agents"]
        good.call("agent.order", world=world, agents=agents, kind="patrol", goal=bases[2:4])
        heard, reading = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                client = Client(server.port, receive_buffer=4096)
                client.call("hello", protocol=1)
                client.call("subscribe", world=world)
                while client.notification("keyframe", "delta"):
                    os.write(reading, b"x")
            finally:
                os._exit(1)
        assert os.read(heard, 1)
        os.kill(child, signal.SIGSTOP)
        until(lambda: sessions(good) == 1, "the server to give it up")
        assert 'reason="slow reader"' in server.log()
        ticks_go_on(good, world)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(heard)
        os.close(reading)


# ---- many connections -------------------------------------------------------------------------------

def two_thousand_connections():
    count = 2000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count + 200:
        skip(f"two_thousand_connections: the hard limit of descriptors is {hard}")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 200), hard))
    with Server("--sessions-max", str(count + 1), "--tick-hz", "50") as server:
        good = server.connect()
        world, team = make_world(good)
        good.call("subscribe", world=world, team=team)
        crowd = [server.connect(hello=False) for _ in range(20)]
        for one in crowd:
            one.call("hello", protocol=1)
        before = server.rss()
        for _ in range(count - len(crowd)):
            one = Client(server.port)
            one.send_bytes(HELLO)
            crowd.append(one)
        for one in crowd[20:]:
            assert one.take() and not one.answers.pop(1)[0]
        assert sessions(good) == count + 1
        size = (server.rss() - before) / (count - 20)
        print(f"[          ] {size / 1024:.1f} KiB a session")
        if server.memory_tells():
            assert size < 16 * 1024, size
        extra = server.connect(hello=False)
        assert extra.disconnected(), "one too many"
        ticks_go_on(good, world)
        for index in range(0, count, 97):
            crowd[index].call("ping")
        for one in crowd:
            one.close()
        until(lambda: sessions(good) == 1, "all of them to be gone")
        ticks_go_on(good, world)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# ---- slow handshakes --------------------------------------------------------------------------------

DRIP_SECONDS = 0.15


def drip(sockets, data, stop, sent):
    """Sends the same data byte by byte on every socket, until `stop` is set."""
    for byte in data:
        sent.append(byte)
        for one in sockets:
            try:
                one.sendall(bytes([byte]))
            except OSError:
                pass
        if stop.wait(DRIP_SECONDS):
            return


def all_disconnected(sockets):
    for one in sockets:
        one.settimeout(PATIENCE)
        try:
            while one.recv(4096):
                pass
        except ConnectionError:
            pass
    return True


def slow_beginnings():
    """A hello, a TLS handshake and an HTTP request, each byte by byte, 100 at once on each port."""
    folder = tempfile.mkdtemp(prefix="fogmarch-slow-")
    certificate, key = make_certificate(folder)
    trusting = ssl.create_default_context(cafile=certificate)
    hidden = ssl.MemoryBIO()
    handshake = trusting.wrap_bio(ssl.MemoryBIO(), hidden, server_hostname="localhost")
    try:
        handshake.do_handshake()
    except ssl.SSLWantReadError:
        pass
    beginning = hidden.read()  # a ClientHello
    request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 500
    try:
        for tls, data in ((False, {"tcp": HELLO, "http": request}),
                          (True, {"tcp": beginning, "http": beginning})):
            flags = ("--tls-certificate", certificate, "--tls-key", key) if tls else ()
            with WebServer("--hello-timeout-s", "3", "--http-connections-max", "150", *flags) as server:
                ports = {"tcp": server.port, "http": server.http_port}
                good = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
                if tls:
                    good = trusting.wrap_socket(good, server_hostname="localhost")
                good.sendall(HELLO)
                assert good.recv(4096)
                slow = {name: [socket.create_connection(("127.0.0.1", port), PATIENCE)
                               for _ in range(100)] for name, port in ports.items()}
                stop, sent = threading.Event(), {name: [] for name in ports}
                threads = [threading.Thread(target=drip, args=(slow[name], data[name], stop, sent[name]))
                           for name in ports]
                for thread in threads:
                    thread.start()
                for _ in range(5):  # meanwhile
                    good.sendall(msgpack.packb([REQUEST, 2, "ping", [{"time": 1}]]))
                    assert good.recv(4096)
                    make = http.client.HTTPSConnection if tls else http.client.HTTPConnection
                    connection = make("localhost", server.http_port, timeout=PATIENCE,
                                      **({"context": trusting} if tls else {}))
                    connection.request("GET", "/livez")
                    assert connection.getresponse().status == 200
                    connection.close()
                for name in ports:
                    assert all_disconnected(slow[name]), name
                    # The timeout is the configured one, not the default of ten seconds.
                    assert len(sent[name]) * DRIP_SECONDS < 8, name
                stop.set()
                for thread in threads:
                    thread.join()
                good.sendall(msgpack.packb([REQUEST, 3, "ping", [{"time": 1}]]))
                assert good.recv(4096)
                good.close()
    finally:
        shutil.rmtree(folder)


# ---- no descriptors left ----------------------------------------------------------------------------

def processor_seconds(process):
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def no_descriptors_left():
    with tempfile.TemporaryDirectory() as folder:
        wrapper = os.path.join(folder, "fogmarchd")
        with open(wrapper, "w") as file:
            file.write(f"#!/bin/sh\nulimit -n 60\nexec {shlex.quote(os.environ['FOGMARCHD'])} \"$@\"\n")
        os.chmod(wrapper, 0o755)
        with WebServer("--hello-timeout-s", "600", program=wrapper) as server:
            assert "fewer descriptors than the settings may need" in server.log()
            good = server.connect()
            world, team = make_world(good, tick_hz=20)
            crowd = [server.connect(hello=False) for _ in range(70)]
            web = [socket.create_connection(("127.0.0.1", server.http_port), PATIENCE)
                   for _ in range(10)]
            for one in web:
                one.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
            until(lambda: "connections wait: none can be taken" in server.log(), "the shortage")
            spent = processor_seconds(server.process.pid)
            time.sleep(1.5)
            spent = processor_seconds(server.process.pid) - spent
            assert spent < 0.75, f"{spent} s of processor time for waiting"
            ticks_go_on(good, world)
            for one in crowd[:40]:
                one.close()
            for one in crowd[40:]:  # those that waited
                one.call("hello", protocol=1)
            for one in web:
                assert b" 200 " in one.recv(4096)
            assert server.log().count("connections wait") <= 12, "the log does not spin either"


# ---- clocks -----------------------------------------------------------------------------------------

def clock_jumps():
    """The clock is set a day forwards and backwards; only the log may notice."""
    with open(os.environ["FOGMARCHD"], "rb") as file:
        if b"__asan_init" in file.read():
            skip("clock_jumps: a sanitizer wants to be preloaded alone")
            return
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(prefix="fogmarch-clock-") as clock:
        library = library_in(folder, "set_clock.so")

        def set_clock(days):
            clock.seek(0)
            clock.write(struct.pack("=q", days * 86400))
            clock.flush()

        set_clock(0)
        with Server("--idle-timeout-s", "60", "--rate-messages", "1000", "--tick-hz", "50",
                    environment={"LD_PRELOAD": library, "FOGMARCH_CLOCK_FILE": clock.name}) as server:
            client, quiet = server.connect(), server.connect()
            world, _ = make_world(client)
            day = lambda: datetime.date.fromisoformat(server.log().splitlines()[-1][:10])
            first = day()
            logged = 0
            for days in (3, -3, 3000, 0):
                set_clock(days)
                begin, tick = time.monotonic(), client.call("world.info", world=world)["tick"]
                ticks_go_on(client, world)
                time.sleep(0.5)
                ticks = client.call("world.info", world=world)["tick"] - tick
                assert ticks <= 100 * (time.monotonic() - begin) + 50, "ticks that the clock has invented"
                server.process.send_signal(signal.SIGHUP)
                logged += 1
                until(lambda: server.log().count("settings read again") == logged, "a line")
                passed = (day() - first).days - days  # one at midnight
                assert passed in (0, 1), f"the clock was not set: {days} days after {first} it is {day()}"
            quiet.call("ping")
            pauses = [int(ms) for ms in re.findall(r"the server stood still ms=(\d+)", server.log())]
            assert all(ms < 1000 * PATIENCE for ms in pauses), f"pauses that the clock has invented: {pauses}"
            assert server.log().count("stood still") == len(pauses) and "session ended" not in server.log()


# ---- a stalled event loop ---------------------------------------------------------------------------

def a_loop_that_stands():
    """The process logs it and exits, sooner if it was told to end; a process that was only stopped goes on."""
    with open(os.environ["FOGMARCHD"], "rb") as file:
        if b"__asan_init" in file.read():
            skip("a_loop_that_stands: a sanitizer wants to be preloaded alone")
            return
    for flags, is_told in ((("--loop-stall-s", "1"), False), (("--loop-stall-s", "3000", "--grace-s", "0.5"), True)):
        with tempfile.TemporaryDirectory() as folder:
            stall, library = os.path.join(folder, "stall"), library_in(folder, "stall_loop.so")
            with Server(*flags, environment={"LD_PRELOAD": library, "FOGMARCH_STALL_FILE": stall}) as server:
                server.connect()
                server.process.send_signal(signal.SIGSTOP)
                time.sleep(3)
                server.process.send_signal(signal.SIGCONT)
                server.connect().call("ping")
                with open(stall, "w"):
                    pass
                Client(server.port)  # the loop hangs when it accepts this connection
                if is_told:
                    until(lambda: os.path.getsize(stall) > 0, "the loop to hang")
                    server.terminate()
                assert server.wait() == 70, server.log()
                assert "the event loop stands still: the process ends" in server.log()
                assert f"asked_to_end={'true' if is_told else 'false'}" in server.log()
                server.process.returncode = 0  # expected here


def take_processor(processor, seconds):
    os.sched_setaffinity(0, {processor})
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def a_loop_that_is_starved():
    """It advances, if slowly, and the process goes on: for seconds it gets next to nothing of its processor."""
    with Server("--loop-stall-s", "1", "--grace-s", "0") as server:
        good = server.connect()
        processor = min(os.sched_getaffinity(0))
        os.sched_setaffinity(server.process.pid, {processor})  # the loop's thread alone
        os.sched_setscheduler(server.process.pid, os.SCHED_IDLE, os.sched_param(0))
        others = [multiprocessing.Process(target=take_processor, args=(processor, 6)) for _ in range(4)]
        for other in others:
            other.start()
        while others[0].is_alive():
            good.call("ping")
        for other in others:
            other.join()
        assert "stands still" not in server.log()


def an_end_that_waits_for_worlds():
    """A loop that was asked to end and waits for worlds that are being made, one after the other, is not hung."""
    with Server("--grace-s", "0", environment={"UV_THREADPOOL_SIZE": "1"}) as server:
        client = server.connect()
        for number in range(4):
            client.send("world.create", name=f"maze-{number}", generator="maze", width=4095, height=4095)
        client.call("ping")
        server.terminate()
        assert server.wait() == 0, server.log()
    with open(os.environ["FOGMARCHD"], "rb") as file:
        if b"__asan_init" in file.read():
            skip("an_end_that_waits_for_worlds: a sanitizer wants to be preloaded alone")
            return
    # All of them take longer than the loop may stand still, each of them does not.
    with tempfile.TemporaryDirectory() as folder:
        environment = {"UV_THREADPOOL_SIZE": "1", "LD_PRELOAD": library_in(folder, "stall_loop.so"),
                       "FOGMARCH_POOL_MS": "1000"}
        with Server("--grace-s", "0", "--loop-stall-s", "4", environment=environment) as server:
            client = server.connect()
            for number in range(6):
                client.send("world.create", name=f"small-{number}", generator="open", width=8, height=8)
            client.call("ping")
            server.terminate()
            assert server.wait() == 0, server.log()


# ---- peers that vanish ------------------------------------------------------------------------------

TCP_REPAIR = 19


def vanish(client):
    """Closes a socket without telling its peer. False where that is not allowed."""
    try:
        client.socket.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    except OSError:
        return False
    client.close()
    return True


def half_open_peers():
    with Server("--idle-timeout-s", "2.5", "--tick-hz", "20") as server:
        good = server.connect()
        world, team = make_world(good)
        # One has shut down its sending side, the other does not read.
        ended, deaf = server.connect(), server.connect()
        ended.socket.shutdown(socket.SHUT_WR)
        assert ended.disconnected()
        deaf.call("subscribe", world=world, team=team)
        deaf.socket.shutdown(socket.SHUT_RD)
        reader, idle = server.connect(), server.connect()
        reader.call("subscribe", world=world, team=team)
        if not vanish(reader) or not vanish(idle):
            skip("half_open_peers: TCP_REPAIR is not allowed here")
            return
        until(lambda: sessions(good) == 1, "peers that are gone to be found")  # the requests keep the good one alive
        ticks_go_on(good, world)


if __name__ == "__main__":
    run([a_server_that_stood_still_blames_nobody, a_client_that_stands_still_is_alone_with_it,
         two_thousand_connections, slow_beginnings, no_descriptors_left, clock_jumps, a_loop_that_stands,
         a_loop_that_is_starved, an_end_that_waits_for_worlds, half_open_peers])
