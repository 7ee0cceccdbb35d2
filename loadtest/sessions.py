#!/usr/bin/env python3
"""What sessions cost: tick times without and with many clients, and the memory of an idle session.

    loadtest/sessions.py [--build DIR] [--world marching|searching] [--transport tcp|websocket]
                         [--rounds N] [--idle N] [--subscribers N] [--agents N] [--teams N]
                         [--encoding plain|dense] [--realtime]
                         [--memory] [--output FILE]

Ticks   A server and a world of agents that all move. Stretches of 20 ticks without sessions and with
        idle and subscribed sessions alternate: without, with, with, without, twice in a round. The next
        round has a server of its own and the reverse sequence, so that other work on the machine
        affects both alike. Every single tick is measured. The ratios compare all ticks with sessions
        with all ticks without; p99_ratio_95 is the interval with 95 of 100 ratios when the stretches
        are resampled (bootstrap).
        `marching`: 16 goals for all, hardly any search. `searching`: a goal for each agent, which
        takes the whole budget of every tick.
        The sessions belong to a separate process of the lowest priority, as if they ran on another
        machine; it reads everything and decodes nothing. Processor times come from the system.
        With --teams the agents and the subscribers are divided among so many teams in fog, and each
        subscriber gets the view of its team; with one team all sees all.
        With --realtime (as root) no other program takes a processor from the server.
Memory  Growth of the server's resident set by idle sessions that have said hello, over TCP, TLS and
        WebSocket, divided by their number.

Prints JSON, and writes it to FILE. Results of other worlds and transports in FILE are kept, and rounds
of the same ones are added, so that rounds can be measured whenever the machine is quiet. Needs
python3-msgpack and openssl.
"""

import argparse
import base64
import json
import os
import random
import re
import resource
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import msgpack

PATIENCE = 60.0
TICK_HZ = 10
WARM_UP_TICKS = {"marching": 200, "searching": 20}  # marching: until all have passed a waypoint
MARCHING_GOALS = 16
WARM_UP_STEPS = 10
STRETCH_TICKS = 20
STRETCHES = (False, True, True, False) * 2  # the stretches of a round: whether there are sessions
MISSED_MAX = 3  # if more ticks are missed at once this program was stalled, and the stretch is repeated
SETTLE_S = 0.5  # wait after sessions have connected or left
DRAWS = 2000
HELLO = msgpack.packb([0, 1, "hello", [{"protocol": 1, "client": "sessions.py"}]])


def take_precedence():
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(50))


class Server:
    """fogmarchd on ports that are free."""

    def __init__(self, build, sessions, *flags, realtime=False):
        self.folder = tempfile.TemporaryDirectory(prefix="fogmarch-")
        ports = [os.path.join(self.folder.name, name) for name in ("port", "http")]
        self.process = subprocess.Popen(
            [os.path.join(build, "bin/fogmarchd"), "--listen", "127.0.0.1:0", "--port-file", ports[0],
             "--http", "127.0.0.1:0", "--http-port-file", ports[1], "--log-level", "error",
             "--sessions-max", str(sessions + 64), "--http-connections-max", str(sessions + 64),
             *flags], stdin=subprocess.DEVNULL, preexec_fn=take_precedence if realtime else None)
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
                raise SystemExit("the server disconnected")
            self.unpacker.feed(data)


# ---- ticks ------------------------------------------------------------------------------------------

def hold_sessions(server, options, subscriptions, ready):
    """The process of the sessions: connects, writes to the pipe `ready`, and reads until it is killed.

    subscriptions   requests; the subscribers send them in turn
    """
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    sockets, poll = [], select.epoll()
    for index in range(options.idle + options.subscribers):
        one = OPENERS[options.transport](server, None)
        one.sendall(HELLO)
        one.recv(4096)
        if index >= options.idle:
            one.sendall(subscriptions[index % len(subscriptions)])
        sockets.append(plain_socket(one))
    for one in sockets:
        one.setblocking(False)
        poll.register(one, select.EPOLLIN)
    found = {one.fileno(): one for one in sockets}
    os.write(ready, b"x")
    while True:
        for number, _ in poll.poll():
            try:  # MSG_TRUNC: the kernel drops the bytes without copying them
                if found[number].recv(1 << 20, socket.MSG_TRUNC) == b"":
                    pass
            except BlockingIOError:
                pass


class Sessions:
    """The process that holds the sessions. Use as a context manager."""

    def __init__(self, server, options, world, teams):
        subscriptions = [msgpack.packb([0, 2, "subscribe", [
            {"world": world, "team": team, "encoding": options.encoding}]]) for team in teams]
        heard, ready = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                hold_sessions(server, options, subscriptions, ready)
            finally:
                os._exit(1)
        os.close(ready)
        if os.read(heard, 1) != b"x":
            raise SystemExit("the sessions did not get connected")
        os.close(heard)

    def __enter__(self):
        return self

    def __exit__(self, *details):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def processor_ms(process):
    """Processor time so far: of the main thread, and of all others."""
    main, others = 0.0, 0.0
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/schedstat") as file:
            spent = int(file.read().split()[0]) / 1e6
        if int(thread) == process:
            main += spent
        else:
            others += spent
    return main, others


def measure_stretch(client, world, server, sessions):
    """Measures the next ticks, one by one."""
    time.sleep(SETTLE_S)
    before = client.call("stats", world=world, reset=True)["server"]
    spent = processor_ms(server.process.pid)
    clients = processor_ms(sessions.process)[0] if sessions else 0.0
    ticks = []
    while len(ticks) < STRETCH_TICKS:
        time.sleep(0.25 / TICK_HZ)
        answer = client.call("stats", world=world, reset=True)
        tick = answer["world"]["tick_ms"]
        if tick["count"] > MISSED_MAX:
            return measure_stretch(client, world, server, sessions)
        if tick["count"] > 0:
            ticks += [round(tick["max"], 2)] + [round(tick["p50"], 2)] * (tick["count"] - 1)
    now = processor_ms(server.process.pid)
    after = processor_ms(sessions.process)[0] if sessions else 0.0
    per_tick = [round(value / len(ticks), 3)
                for value in (now[0] - spent[0], now[1] - spent[1], after - clients)]
    return {
        "sessions": answer["server"]["sessions"],
        "moving": answer["world"]["states"]["moving"],
        "bytes_per_tick": round((answer["server"]["bytes_out"] - before["bytes_out"]) / len(ticks)),
        "processor_ms_per_tick": dict(zip(("loop", "ticks", "clients"), per_tick)),
        "tick_ms": ticks,
    }


def make_world(client, options):
    """Makes a world with agents all over the map that walk to and fro for ever."""
    source = random.Random(1)
    marching = options.world == "marching"
    created = client.call("world.create", name="sessions", generator="skirmish", players=2, seed=1,
                          planner="dstar-lite" if marching else "auto", tick_hz=TICK_HZ,
                          omniscient=options.teams == 1, paused=True)
    world = created["world"]
    teams = [client.call("team.create", world=world)["team"] for _ in range(options.teams)]

    def anywhere(count):
        return [source.randrange(created[side])
                for _ in range(count) for side in ("width", "height")]

    agents = []
    for team in teams:
        agents += client.call("agent.spawn", world=world, team=team, place="nearest",
                              cells=anywhere(options.agents // options.teams))["agents"]
    points = [anywhere(1) for _ in range(MARCHING_GOALS)]
    for agent in agents:
        path = ({"goals": sum(source.sample(points, 4), []), "loop": True} if marching
               else {"goal": anywhere(1)})
        client.call("agent.order", world=world, agents=[agent], kind="patrol", **path)
    client.call("world.step", world=world, ticks=WARM_UP_TICKS[options.world])
    for _ in range(WARM_UP_STEPS if marching else 0):  # in fog it takes longer until all have found a path
        if client.call("stats", world=world)["world"]["states"]["moving"] == len(agents):
            break
        client.call("world.step", world=world, ticks=WARM_UP_TICKS[options.world])
    client.call("world.resume", world=world)
    return world, teams


def measure_round(options, stretches):
    with Server(options.build, options.idle + options.subscribers,
                realtime=options.realtime) as server:
        client = Client(server.port)
        world, teams = make_world(client, options)
        rows = []
        for crowded in stretches:
            if not crowded:
                rows.append(measure_stretch(client, world, server, None))
                continue
            with Sessions(server, options, world, teams) as sessions:
                rows.append(measure_stretch(client, world, server, sessions))
        return rows


def share_of(stretches, share):
    """A quantile of all ticks of the stretches, in ms."""
    ticks = sorted(tick for stretch in stretches for tick in stretch["tick_ms"])
    return ticks[min(len(ticks) - 1, int(len(ticks) * share))]


def draw(stretches, source):
    return [source.choice(stretches) for _ in stretches]


def summarize(stretches):
    crowd = [stretch for stretch in stretches if stretch["sessions"] > 1]
    alone = [stretch for stretch in stretches if stretch["sessions"] == 1]
    source = random.Random(1)
    drawn = sorted(share_of(draw(crowd, source), 0.99) / share_of(draw(alone, source), 0.99)
                   for _ in range(DRAWS))
    summary = {"ticks": {"without": sum(len(one["tick_ms"]) for one in alone),
                         "with": sum(len(one["tick_ms"]) for one in crowd)}}
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        values = share_of(alone, share), share_of(crowd, share)
        summary[f"{name}_ms"] = dict(zip(("without", "with"), values))
        summary[f"{name}_ratio"] = round(values[1] / values[0], 3)
    summary["p99_ratio_95"] = [round(drawn[int(DRAWS * at)], 3) for at in (0.025, 0.975)]
    summary["processor_ms_per_tick"] = {
        kind: {part: round(sum(one["processor_ms_per_tick"][part] for one in of) / len(of), 2)
               for part in ("loop", "ticks", "clients")}
        for kind, of in (("without", alone), ("with", crowd))}
    return summary


# ---- memory -----------------------------------------------------------------------------------------

def open_tcp(server, _):
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE)


def open_tls(server, context):
    return context.wrap_socket(open_tcp(server, None), server_hostname="localhost")


class WebSocket:
    """As much of RFC 6455 as hello needs."""

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


OPENERS = {"tcp": open_tcp, "websocket": WebSocket}


def plain_socket(one):
    return one.socket if isinstance(one, WebSocket) else one


def measure_memory(options, opener, context=None, flags=()):
    def opened():
        one = opener(server, context)
        one.sendall(HELLO)
        one.recv(4096)
        return one

    with Server(options.build, options.idle, *flags) as server:
        sessions = [opened() for _ in range(32)]  # one-time allocations do not count
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


def measured_before(path):
    """The content of FILE."""
    if path is None or not os.path.exists(path):
        return {}
    with open(path) as file:
        return json.load(file)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--world", choices=("marching", "searching"), default="marching")
    parser.add_argument("--transport", choices=sorted(OPENERS), default="tcp")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--idle", type=int, default=2000)
    parser.add_argument("--subscribers", type=int, default=200)
    parser.add_argument("--agents", type=int, default=5000)
    parser.add_argument("--teams", type=int, default=1)
    parser.add_argument("--encoding", choices=("plain", "dense"), default="plain")
    parser.add_argument("--realtime", action="store_true", help="the server has precedence")
    parser.add_argument("--memory", action="store_true", help="measure it as well")
    parser.add_argument("--output", default=None)
    return parser.parse_args()


def reserve_descriptors(options):
    needed = options.idle + options.subscribers + 256
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise SystemExit(f"this needs {needed} descriptors; the hard limit is {hard} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def measure_rounds(options, before):
    """Adds rounds to those measured before."""
    settings = {"idle_sessions": options.idle, "subscribers": options.subscribers,
                "agents": options.agents, "teams": options.teams, "encoding": options.encoding, "tick_hz": TICK_HZ, "realtime": options.realtime}
    same = all(before.get(key) == settings[key] for key in settings)
    stretches = before["stretches"] if same else []
    for _ in range(options.rounds):
        other_way = len(stretches) // len(STRETCHES) % 2 == 1
        stretches += measure_round(options, [crowded != other_way for crowded in STRETCHES])
    return {**settings, **summarize(stretches), "stretches": stretches}


def main():
    options = read_options()
    reserve_descriptors(options)
    result = measured_before(options.output)
    if options.memory:
        result["rss_bytes_per_idle_session"] = measure_all_memory(options)
    if options.rounds > 0:
        name = f"{options.world}, {options.transport}"
        if options.teams > 1:
            name += f", {options.teams} teams"
        result[name] = measure_rounds(options, result.get(name, {}))
    text = re.sub(r"\[[-0-9.,\s]+\]", lambda found: " ".join(found.group().split()),
                  json.dumps(result, indent=2))  # puts a stretch's ticks on one line
    print(text)
    if options.output is not None:
        with open(options.output, "w") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
