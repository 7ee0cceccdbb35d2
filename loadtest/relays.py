#!/usr/bin/env python3
"""What spectators behind relays cost the server that has the world.

    chrt -f 5 python3 loadtest/relays.py BUILD [--spectators 5000] [--relays 2] [--seconds 10] [--rounds 3]

Goal    the server's p99 tick is at most 5 % longer with all of them than with one spectator of its own.
Method  one server with a battle at 10 Hz, its relays, and spectators that are connected all the time, with
        rectangles of 64 x 64 cells. In turn nobody is subscribed, one client of the server is (to everything), and
        all spectators of the relays are; before each turn the server's tick statistics are reset. The script is
        started with real-time priority, which only the server keeps, so that the other processes on the machine
        disturb it less. Output: a CSV with a row for each turn, and comments with the result. Needs
        python3-msgpack.
"""

import argparse
import os
import random
import selectors
import socket
import subprocess
import sys
import tempfile
import time

import msgpack

SIDE, AGENTS, COMPANY = 512, 10000, 100


def ordinary():
    """Gives up real-time priority."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def start(build, folder, name, *flags, before=None):
    port_file = os.path.join(folder, name)
    process = subprocess.Popen([os.path.join(build, "bin/fogmarchd"), "--listen", "127.0.0.1:0", "--port-file",
                                port_file, "--log-level", "error", *flags], preexec_fn=before)
    while not os.path.exists(port_file):
        time.sleep(0.02)
    with open(port_file) as file:
        return process, int(file.read())


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=1 << 30)
        self.last = 0
        self.call("hello", protocol=1, client="relays")

    def send(self, method, **params):
        self.last += 1
        self.socket.sendall(msgpack.packb([0, self.last, method, [params]]))

    def call(self, method, **params):
        self.send(method, **params)
        while True:
            for message in self.unpacker:
                if message[0] == 1 and message[1] == self.last:
                    assert message[2] is None, message[2]
                    return message[3]
            self.unpacker.feed(self.socket.recv(1 << 16))


def make_battle(admin):
    """Two armies in companies, which patrol to different places, so that all ticks have about the same work."""
    source = random.Random(5)
    world = admin.call("world.create", name="battle", generator="open", width=SIDE, height=SIDE, seed=5,
                       tick_hz=10)["world"]
    for team in (1, 2):
        admin.call("team.create", world=world)
        for _ in range(AGENTS // 2 // COMPANY):
            x, y, to_x, to_y = (source.randrange(20, SIDE - 20) for _ in range(4))
            cells = [number for i in range(COMPANY) for number in (x + i % 10, y + i // 10)]
            agents = admin.call("agent.spawn", world=world, team=team, cells=cells)["agents"]
            admin.call("agent.order", world=world, agents=agents, kind="patrol", goal=[to_x, to_y])
    return world


def read_for(spectators, seconds):
    """Reads and drops all messages for a while. Returns the number of bytes."""
    selector, total = selectors.DefaultSelector(), 0
    for spectator in spectators:
        spectator.socket.setblocking(False)
        selector.register(spectator.socket, selectors.EVENT_READ)
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            data = key.fileobj.recv(1 << 18)
            assert data, "a spectator was disconnected"
            total += len(data)
    selector.close()
    for spectator in spectators:
        spectator.socket.setblocking(True)
    return total


def subscribe_all(spectators, world):
    """Subscribes. A single spectator sees everything; many see a rectangle each."""
    for number, spectator in enumerate(spectators):
        rect = [number * 7 % 8 * 64, number * 11 % 8 * 64, 64, 64] if len(spectators) > 1 else [0, 0, SIDE, SIDE]
        spectator.send("subscribe", world=world, encoding="dense", rect=rect)
        if number % 250 == 249:
            read_for(spectators, 0.01)


def unsubscribe(spectators, number):
    for spectator in spectators:
        spectator.send("unsubscribe", subscription=number)
    read_for(spectators, 2)


def turn(admin, world, readers, seconds):
    read_for(readers, 3)
    admin.call("stats", world=world, reset=True)
    total = read_for(readers, seconds)
    stats = admin.call("stats", world=world)
    return stats["world"]["tick_ms"], total / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--spectators", type=int, default=5000)
    parser.add_argument("--relays", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    processes, results = [], {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            process, port = start(options.build, folder, "server", "--workers", "1")
            processes.append(process)
            relays = []
            for i in range(options.relays):
                process, relay = start(options.build, folder, f"relay{i}", "--relay-of", f"127.0.0.1:{port}",
                                       "--sessions-max", "65536", "--subscriptions-per-address-max", "0",
                                       "--workers", "1", before=ordinary)
                processes.append(process)
                relays.append(relay)
            ordinary()
            admin = Client(port)
            world = make_battle(admin)
            time.sleep(3)  # relays ask for the list of worlds every second
            spectators = [Client(relays[i % len(relays)]) for i in range(options.spectators)]
            viewer = Client(port)
            print("spectators,over,ticks,p50_ms,p99_ms,max_ms,received_kb_per_s")
            for i in range(options.rounds):
                for kind, readers in (("nothing", []), ("the server", [viewer]), ("relays", spectators)):
                    subscribe_all(readers, world)
                    ticks, rate = turn(admin, world, readers, options.seconds)
                    unsubscribe(readers, i + 1)
                    results.setdefault(kind, []).append(ticks)
                    print(f"{len(readers)},{kind},{ticks['count']},{ticks['p50']:.3f},{ticks['p99']:.3f},"
                          f"{ticks['max']:.3f},{rate / 1000:.0f}", flush=True)
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()
    for name in ("p50", "p99"):
        median = {kind: sorted(ticks[name] for ticks in turns)[options.rounds // 2] for kind, turns in results.items()}
        for kind in ("nothing", "the server"):
            print(f"# {name} with relays: {median['relays'] / median[kind]:.3f} of that with {kind} (medians of "
                  f"{options.rounds} turns each)")


sys.exit(main())
