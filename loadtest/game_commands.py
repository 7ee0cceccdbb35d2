#!/usr/bin/env python3
"""What a game's own commands cost: layers of cost, tags and alerts, ten times a second.

    loadtest/game_commands.py [--build DIR] [--agents N] [--planner SPEC] [--budget-ms MS] [--rounds N]
                              [--patches N] [--realtime] [--runs NAME ...] [--csv FILE]

One world of 256 x 256 cells in fog (one of 384 x 384 for more than 4,000 agents). Every agent patrols between two
places of its own, so there are as many searches as agents. Stretches of 20 ticks without and with the commands
alternate: without, with, with, without. Ticks are made by world.step, so a tick does not wait for the clock; its time
is the server's own (`load` of a delta), with the commands before it.

`none`    nothing: how much two equal stretches differ here.
`cost`    team.cost takes away patches of 16 x 16 cells and puts others, as towers would that come and go: with four
          patches 2,048 cells a tick change. The budget cuts the repairs off, so look at `moved`: who waits stands.
`tags`    agent.set gives 500 agents another tag of 16 bytes.
`alerts`  500 agents hold with `alert` beside enemies and are told to go on in each tick, so that each stops, and is
          told, in each tick.

The bytes are those of the entries in a dense delta for the team. Needs python3-msgpack; --realtime, root.
"""

import argparse
import csv
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import msgpack

STRETCH_TICKS = 20
SETTLE_TICKS = 30
LATE_PINGS = 100
PATCH, ADDED = 16, 8
MANY = 500
RUNS = ("none", "cost", "tags", "alerts")
COLUMNS = ("run", "agents", "planner", "budget_ms", "patches", "ticks", "p50_ms", "p99_ms", "p50_with_ms", "p99_with_ms", "search_p50_ms",
           "search_p50_with_ms", "rest_p50_ms", "rest_p50_with_ms", "moved_percent", "moved_with_percent", "bytes_a_tick")


class Server:
    def __init__(self, build, realtime):
        self.folder = tempfile.TemporaryDirectory(prefix="fogmarch-game-")
        port = pathlib.Path(self.folder.name) / "port"
        command = ["chrt", "-f", "5"] if realtime else []
        self.process = subprocess.Popen([*command, build / "bin/fogmarchd", "--listen", "127.0.0.1:0", "--port-file", port,
                                         "--workers", "2", "--log-level", "warning"])
        end = time.monotonic() + 60
        while not (port.exists() and port.read_text()):
            assert self.process.poll() is None and time.monotonic() < end, "the server does not listen"
            time.sleep(0.02)
        self.port = int(port.read_text())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


class Client:
    """Keeps the last delta of each subscription."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.unpacker = msgpack.Unpacker(max_buffer_size=2 ** 28)
        self.number = 0
        self.last = {}
        self("hello", protocol=1, client="game_commands.py")

    def __call__(self, method, **params):
        self.number += 1
        self.socket.sendall(msgpack.packb([0, self.number, method, [params]]))
        while True:
            for message in self.unpacker:
                if message[0] == 1 and message[1] == self.number:
                    assert message[2] is None, message[2]
                    return message[3]
                if message[0] == 2 and message[1] == "delta":
                    self.last[message[2][0]["subscription"]] = message[2][0]
            read = self.socket.recv(2 ** 20)
            assert read, "the server disconnected"
            self.unpacker.feed(read)


class Game:
    def __init__(self, client, options, seed):
        self.call, self.source = client, random.Random(seed)
        agents, self.patches_count = options.agents, options.patches
        self.side = 256 if agents <= 4000 else 384
        self.world = client("world.create", name="game", generator="random", width=self.side, height=self.side, seed=seed,
                            blocked_permille=100, paused=True, budget_ms=options.budget_ms,
                            planner=options.planner)["world"]
        for _ in range(2):
            client("team.create", world=self.world)
        self.agents = self.spawn(1, agents)
        # The first addition starts all searches over; it is not what is measured.
        client("team.cost", world=self.world, team=1, cost=1, rects=[0, 0, 1, 1])
        for at in range(0, agents, 1000):
            some = self.agents[at:at + 1000]
            for agent in some:
                client("agent.order", world=self.world, agents=[agent], kind="patrol", goals=self.cells(2))
        self.view = client("subscribe", world=self.world, team=1, encoding="dense")["subscription"]
        self.everything = client("subscribe", world=self.world, encoding="dense")["subscription"]
        self.patches = []
        self.guards = []
        self.step(SETTLE_TICKS)

    def cells(self, count):
        return [self.source.randrange(1, self.side - 1) for _ in range(2 * count)]

    def spawn(self, team, count):
        return self.call("agent.spawn", world=self.world, team=team, cells=self.cells(count), place="nearest")["agents"]

    def step(self, ticks=1):
        """The deltas of the last tick. Where nothing changed, as when the budget passed before a search ended, none comes."""
        self.call.last.clear()
        tick = self.call("world.step", world=self.world, ticks=ticks)["tick"]
        for _ in range(LATE_PINGS):  # an answer may come before the deltas of ticks, but not many do
            if self.call.last.get(self.everything, {"tick": 0})["tick"] >= tick:
                break
            self.call("ping")
        self.call("ping")  # the team's view may come behind the other one
        return self.call.last

    def none(self):
        return []

    def cost(self):
        if self.patches:
            self.call("team.cost", world=self.world, team=1, cost=0, rects=self.patches)
        self.patches = []
        for _ in range(self.patches_count):
            self.patches += [self.source.randrange(self.side - PATCH), self.source.randrange(self.side - PATCH), PATCH, PATCH]
        self.call("team.cost", world=self.world, team=1, cost=ADDED, rects=self.patches)
        return []

    def tags(self):
        self.call("agent.set", world=self.world, agents=self.source.sample(self.agents, min(MANY, len(self.agents))),
                  tag=self.source.randbytes(16))
        return ["tagged", "tags"]

    def alerts(self):
        if not self.guards:
            self.guards = self.spawn(1, MANY)
            self.call("agent.order", world=self.world, agents=self.guards, kind="hold", alert=5)
            enemies = self.spawn(2, MANY)
            places = self.call("agent.report", world=self.world, agents=self.guards[:256])["agents"]
            places += self.call("agent.report", world=self.world, agents=self.guards[256:])["agents"]
            self.call("agent.place", world=self.world, agents=enemies, place="nearest",
                      cells=[number for place in places for number in place["cell"]])
            self.step(3)
        self.call("agent.resume", world=self.world, agents=self.guards)
        return ["alerts"]


def stretch(game, name, is_with):
    """Of each tick: microseconds of it and of its search, share of the agents that moved, bytes that came of the commands."""
    ticks = []
    for _ in range(STRETCH_TICKS):
        entries = getattr(game, name)() if is_with else []
        last = game.step()
        if game.everything not in last:  # nobody moved, and nobody is told how long that took
            ticks.append((None, None, 0, 0))
            continue
        tick_us, search_us, _, moved, alive = last[game.everything]["load"]
        delta = last.get(game.view, {})
        size = sum(len(msgpack.packb(delta[entry])) for entry in entries if entry in delta)
        ticks.append((tick_us, search_us, moved / alive, size))
    return ticks


def measured(name, options):
    ticks = {False: [], True: []}
    for seed in range(1, options.rounds + 1):
        with Server(options.build, options.realtime) as server:
            game = Game(Client(server.port), options, seed)
            if name == "alerts":
                stretch(game, name, True)  # makes the guards, which are there in both
            for is_with in (False, True, True, False):
                ticks[is_with] += stretch(game, name, is_with)

    def quantile(is_with, share, of):
        values = sorted(of(*tick) for tick in ticks[is_with] if tick[0] is not None)
        return round(values[min(len(values) - 1, int(share * len(values)))] / 1000, 2) if values else ""

    row = [name, options.agents, options.planner, options.budget_ms, options.patches, len(ticks[True])]
    for is_with in (False, True):
        row += [quantile(is_with, share, lambda tick, search, *_: tick) for share in (0.5, 0.99)]
    for of in (lambda tick, search, *_: search, lambda tick, search, *_: tick - search):
        row += [quantile(is_with, 0.5, of) for is_with in (False, True)]
    row += [round(100 * statistics.mean(moved for _, _, moved, _ in ticks[is_with]), 1) for is_with in (False, True)]
    return row + [round(statistics.mean(size for *_, size in ticks[True]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent / "build/release")
    parser.add_argument("--agents", type=int, default=4000)
    parser.add_argument("--planner", default="auto")
    parser.add_argument("--budget-ms", type=float, default=40)
    parser.add_argument("--patches", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--realtime", action="store_true", help="the server runs before all other programs")
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=RUNS)
    parser.add_argument("--csv", type=pathlib.Path, help="rows are added to it")
    options = parser.parse_args()
    writers = [csv.writer(sys.stdout)]
    if options.csv is not None:
        is_new = not options.csv.exists()
        file = options.csv.open("a", newline="")
        writers.append(csv.writer(file, lineterminator="\n"))
        if is_new:
            writers[1].writerow(COLUMNS)
    writers[0].writerow(COLUMNS)
    for name in options.runs:
        row = measured(name, options)
        for writer in writers:
            writer.writerow(row)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
