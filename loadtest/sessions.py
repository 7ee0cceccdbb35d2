#!/usr/bin/env python3
"""What sessions cost: tick times without and with many clients, and memory of one that is idle.

    loadtest/sessions.py [--build DIR] [--idle N] [--subscribers N] [--agents N] [--seconds S]
                         [--pairs N] [--no-memory] [--output FILE]

Ticks   A server and a world of moving agents, twice from the same seed, over the same ticks: once
        with nobody there, once with idle and subscribed sessions, which are connected before the
        first tick and belong to a process of their own that reads everything and decodes nothing.
        That is a pair. p99_ratio is the median, over pairs, of the p99 with them by that without.
Memory  Growth of the server's resident set by idle sessions that have said hello, over TCP, TLS and
        WebSocket, divided by their number.

Prints JSON, and writes it to FILE; pairs that FILE holds already, of the same settings, are kept, so
that they can be measured when the machine is quiet. Needs python3-msgpack and openssl.
"""

import argparse
import base64
import json
import os
import resource
import select
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

import msgpack

PATIENCE = 60.0
TICK_HZ = 10
WARM_UP_TICKS = 30
HELLO = msgpack.packb([0, 1, "hello", [{"protocol": 1, "client": "sessions.py"}]])


class Server:
    """fogmarchd on ports that are free."""

    def __init__(self, build, sessions, *flags):
        self.folder = tempfile.TemporaryDirectory(prefix="fogmarch-")
        ports = [os.path.join(self.folder.name, name) for name in ("port", "http")]
        self.process = subprocess.Popen(
            [os.path.join(build, "bin/fogmarchd"), "--listen", "127.0.0.1:0", "--port-file", ports[0],
             "--http", "127.0.0.1:0", "--http-port-file", ports[1], "--log-level", "error",
             "--sessions-max", str(sessions + 64), "--http-connections-max", str(sessions + 64),
             *flags], stdin=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not all(os.path.exists(path) for path in ports):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("the server did not start")
            time.sleep(0.01)
        self.port, self.http_port = (int(open(path).read()) for path in ports)

    def rss(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.folder.cleanup()


class Client:
    """Requests and their answers, one at a time."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.unpacker = msgpack.Unpacker(strict_map_key=False, max_buffer_size=1 << 30)
        self.number = 0
        self.call("hello", protocol=1, client="sessions.py")

    def call(self, method, **params):
        self.number += 1
        self.socket.sendall(msgpack.packb([0, self.number, method, [params]]))
        while True:
            for message in self.unpacker:
                if message[0] == 1 and message[1] == self.number:
                    if message[2] is not None:
                        raise SystemExit(f"{method}: {message[2]['message']}")
                    return message[3]
            data = self.socket.recv(1 << 18)
            if not data:
                raise SystemExit("the server hung up")
            self.unpacker.feed(data)


# ---- ticks ------------------------------------------------------------------------------------------

def hold_sessions(port, idle, subscribers, subscribe, ready):
    """The process of the sessions: connects, tells `ready`, and reads until it is killed."""
    sockets, poll = [], select.epoll()
    for index in range(idle + subscribers):
        one = socket.create_connection(("127.0.0.1", port), PATIENCE)
        one.sendall(HELLO + (subscribe if index >= idle else b""))
        one.recv(4096)
        sockets.append(one)
        one.setblocking(False)
        poll.register(one, select.EPOLLIN)
    found = {one.fileno(): one for one in sockets}
    os.write(ready, b"x")
    while True:
        for number, _ in poll.poll():
            try:  # MSG_TRUNC: the bytes are thrown away where they are
                if found[number].recv(1 << 20, socket.MSG_TRUNC) == b"":
                    pass
            except BlockingIOError:
                pass


def with_sessions(server, options, world, team):
    """Starts that process. Returns its id once everybody is connected."""
    subscribe = msgpack.packb([0, 2, "subscribe", [{"world": world, "team": team}]])
    heard, ready = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            hold_sessions(server.port, options.idle, options.subscribers, subscribe, ready)
        finally:
            os._exit(1)
    os.close(ready)
    if os.read(heard, 1) != b"x":
        raise SystemExit("the sessions did not get connected")
    os.close(heard)
    return child


def measure_ticks(options, crowded):
    with Server(options.build, options.idle + options.subscribers) as server:
        client = Client(server.port)
        created = client.call("world.create", name="sessions", generator="skirmish", players=2, seed=1,
                              planner="auto", tick_hz=TICK_HZ, paused=True)
        world, bases = created["world"], created["bases"]
        team = client.call("team.create", world=world)["team"]
        agents = client.call("agent.spawn", world=world, team=team,
                             cells=bases[:2] * options.agents)["agents"]
        for begin in range(0, len(agents), 100):  # there and back for ever, so that all of them move
            client.call("agent.order", world=world, agents=agents[begin:begin + 100], kind="patrol",
                        goal=bases[2:4])
        child = with_sessions(server, options, world, team) if crowded else None
        client.call("world.resume", world=world)
        ticks = int(options.seconds * TICK_HZ)
        while client.call("world.info", world=world)["tick"] < WARM_UP_TICKS:
            time.sleep(0.01)
        before = client.call("stats", world=world, reset=True)
        while client.call("world.info", world=world)["tick"] < WARM_UP_TICKS + ticks:
            time.sleep(0.02)
        after = client.call("stats", world=world)
        if child is not None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        sent = after["server"]["bytes_out"] - before["server"]["bytes_out"]
        return {
            "sessions": after["server"]["sessions"],
            "tick_ms": after["world"]["tick_ms"],
            "moving": after["world"]["states"]["moving"],
            "bytes_per_second": round(sent / options.seconds),
        }


# ---- memory -----------------------------------------------------------------------------------------

def open_tcp(server, _):
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE)


def open_tls(server, context):
    return context.wrap_socket(open_tcp(server, None), server_hostname="localhost")


class WebSocket:
    """As much of RFC 6455 as it takes to say hello."""

    def __init__(self, server, _):
        self.socket = socket.create_connection(("127.0.0.1", server.http_port), PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(("GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                             "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                             f"Sec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Protocol: fogmarch\r\n\r\n").encode())
        self.recv(4096)

    def sendall(self, data):
        self.socket.sendall(bytes([0x82, 0x80 | len(data), 0, 0, 0, 0]) + data)  # a mask of zeros

    def recv(self, size):
        return self.socket.recv(size)

    def close(self):
        self.socket.close()


def measure_memory(options, opener, context=None, flags=()):
    def opened():
        one = opener(server, context)
        one.sendall(HELLO)
        one.recv(4096)
        return one

    with Server(options.build, options.idle, *flags) as server:
        sessions = [opened() for _ in range(32)]  # what is allocated once is not theirs
        before = server.rss()
        sessions += [opened() for _ in range(options.idle)]
        time.sleep(0.5)
        size = (server.rss() - before) / options.idle
        for one in sessions:
            one.close()
        return round(size)


def measure_all_memory(options):
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = (os.path.join(folder, name) for name in ("certificate.pem", "key.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out",
                        certificate, "-keyout", key], check=True, capture_output=True)
        context = ssl.create_default_context(cafile=certificate)
        return {
            "tcp": measure_memory(options, open_tcp),
            "tls": measure_memory(options, open_tls, context,
                                  ("--tls-certificate", certificate, "--tls-key", key)),
            "websocket": measure_memory(options, WebSocket),
        }


def measured_before(path, settings):
    """What FILE holds, when it is of these settings."""
    if path is None or not os.path.exists(path):
        return {}
    with open(path) as file:
        before = json.load(file)
    return before if all(before.get(key) == settings[key] for key in settings) else {}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--idle", type=int, default=2000)
    parser.add_argument("--subscribers", type=int, default=200)
    parser.add_argument("--agents", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--no-memory", action="store_true", help="only ticks")
    parser.add_argument("--output", default=None)
    return parser.parse_args()


def main():
    options = read_options()
    needed = options.idle + options.subscribers + 256
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise SystemExit(f"this needs {needed} descriptors; the hard limit is {hard} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    settings = {"idle_sessions": options.idle, "subscribers": options.subscribers,
                "agents": options.agents, "tick_hz": TICK_HZ, "seconds": options.seconds}
    before = measured_before(options.output, settings)
    pairs = before.get("pairs", [])
    for _ in range(options.pairs):
        order = (False, True) if len(pairs) % 2 == 0 else (True, False)
        measured = {crowded: measure_ticks(options, crowded) for crowded in order}
        pairs.append({"without": measured[False], "with": measured[True]})
    result = dict(settings)
    if options.no_memory:
        result["rss_bytes_per_idle_session"] = before.get("rss_bytes_per_idle_session")
    else:
        result["rss_bytes_per_idle_session"] = measure_all_memory(options)
    for share in ("p50", "p99"):
        ratios = [pair["with"]["tick_ms"][share] / pair["without"]["tick_ms"][share] for pair in pairs]
        result[f"{share}_ratio"] = round(statistics.median(ratios), 3) if ratios else None
    result["pairs"] = pairs
    text = json.dumps(result, indent=2)
    print(text)
    if options.output is not None:
        with open(options.output, "w") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
