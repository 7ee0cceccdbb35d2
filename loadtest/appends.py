#!/usr/bin/env python3
"""What it costs a node to keep its worlds in etcd: how long appends take, and processor time per world and tick.

    loadtest/appends.py [--build DIR] [--worlds 20] [--cells 6000] [--keyframe-ticks N] [--seconds 20] [--members 3]
                        [--nice N] [--csv FILE]

One server with worlds at 10 Hz, in each of which one command per tick sets the cost of cells that are drawn at random,
so that they hardly pack: 6,000 cells are some 15 KB in the log. There are no units: what is measured is the way of a
tick's rows, not the tick. In turn the server keeps journals only, and is a node of a cluster with three members of
etcd on the same machine. The result, as CSV:

    kb_per_tick    bytes that a world appends in a tick, packed, as they lie in etcd
    append_ms      mean, p99 (upper end of its bucket in /metrics) and max of an append; below_100_ms: the share of
                   appends that took less
    answer_ms      p50, p99 and max from a command to its answer, which waits until the command is in the log and on
                   the disk
    cpu_ms         processor time per world and tick, of the server's threads by name: conductor (with its only worker),
                   journals (writes them, and calls etcd), cluster (lease and directory), fogmarchd (the event loop and
                   the thread pool); of all members of etcd together
    late_ticks     ticks that began late, of all worlds; keyframes: how many were made meanwhile

On a machine that does other work --nice says how this script, the server and etcd rank: it sets their scheduling
autogroups, too (/proc/sys/kernel/sched_autogroup_enabled), without which nice(1) ranks processes of one session only.

The limits that the cluster was designed for: p99 of an append below 100 ms at 20 worlds of 15 KB, and below 0.5 ms
more per world and tick than with journals only, none of it the conductor's. Needs etcd and python3-msgpack.
"""

import argparse
import base64
import collections
import json
import os
import random
import selectors
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import msgpack

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import kills  # noqa: E402

SIDE, HZ, VARIANTS = 256, 10, 16
CLOCK = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, options, folder, endpoints):
        files = [os.path.join(folder, name) for name in ("port", "metrics")]
        cluster = ["--cluster-name", "appends", "--cluster-node", "one", "--cluster-endpoints", endpoints]
        self.process = subprocess.Popen(
            [os.path.join(options.build, "bin/fogmarchd"), "--listen", "127.0.0.1:0", "--port-file", files[0],
             "--metrics-listen", "127.0.0.1:0", "--metrics-port-file", files[1], "--journal-dir", folder, "--workers", "1",
             "--worlds-max", "64", "--keyframe-ticks", str(options.keyframe_ticks), "--log-level", "error",
             *(cluster if endpoints else [])])
        kills.until(lambda: all(map(os.path.exists, files)), "the server")
        ports = [int(open(path, encoding="ascii").read()) for path in files]
        self.socket = socket.create_connection(("127.0.0.1", ports[0]))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.unpacker, self.answers, self.last = msgpack.Unpacker(raw=False, strict_map_key=False), {}, 1 << 20
        self.metrics_url = f"http://127.0.0.1:{ports[1]}/metrics"
        self.begun, self.took = collections.defaultdict(collections.deque), []  # seconds, by the numbers of requests
        self.call("hello", protocol=1, client="appends.py")

    def read(self):
        read = self.socket.recv(1 << 18)
        if not read:
            raise RuntimeError("the server disconnected")
        self.unpacker.feed(read)
        for message in self.unpacker:
            if message[0] == 1:
                if message[2] is not None:
                    raise RuntimeError(message[2]["message"])
                self.answers[message[1]] = message[3]
                if self.begun[message[1]]:
                    self.took.append(time.monotonic() - self.begun[message[1]].popleft())

    def call(self, method, **params):
        self.last += 1
        self.socket.sendall(msgpack.packb([0, self.last, method, [params]]))
        while self.last not in self.answers:
            self.read()
        return self.answers.pop(self.last)

    def play(self, rounds, seconds):
        """Sends the messages of a round ten times a second, and notes how long their answers take."""
        selector = selectors.DefaultSelector()
        selector.register(self.socket, selectors.EVENT_READ)
        begun, count = time.monotonic(), 0
        self.took = []
        while count < seconds * HZ:
            messages = rounds[count % len(rounds)]
            for number in range(1, len(messages) + 1):
                self.begun[number].append(time.monotonic())
            self.socket.sendall(b"".join(messages))
            count += 1
            while (left := begun + count / HZ - time.monotonic()) > 0:
                if selector.select(left):
                    self.read()
            self.answers.clear()
        selector.close()

    def histogram(self, name):
        """Its buckets, as pairs of upper end and count below it."""
        with urllib.request.urlopen(self.metrics_url, timeout=30) as answer:
            lines = [line for line in answer.read().decode().splitlines() if line.startswith(name + "_bucket")]
        return [(float(line.split('le="')[1].split('"')[0].replace("+Inf", "inf")), float(line.rsplit(" ", 1)[1]))
                for line in lines]


def thread_times(process):
    """Seconds of processor time, by the names of threads."""
    times = {}
    folder = f"/proc/{process.pid}/task"
    for task in os.listdir(folder):
        with open(f"{folder}/{task}/stat", encoding="ascii") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
        fields = rest.split()
        times[name] = times.get(name, 0) + (int(fields[11]) + int(fields[12])) / CLOCK
    return times


def rank(pids, nice):
    for pid in pids if nice else []:
        for task in os.listdir(f"/proc/{pid}/task"):
            os.setpriority(os.PRIO_PROCESS, int(task), nice)
        try:
            with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:
                file.write(str(nice))
        except OSError:
            pass  # a system without autogroups


def record_size(engine):
    """Mean size of the records that etcd holds."""
    prefix = "/fogmarch/appends/log/"
    body = json.dumps({"key": base64.b64encode(prefix.encode()).decode(), "limit": "400",
                       "range_end": base64.b64encode((prefix[:-1] + "0").encode()).decode()}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{engine.ports[0]}/v3/kv/range", data=body, timeout=30) as answer:
        values = [len(base64.b64decode(one["value"])) for one in json.load(answer)["kvs"]]
    return sum(values) / len(values)


def rounds_of(worlds, cells):
    """Messages for VARIANTS ticks of all worlds."""
    source = random.Random(7)
    rounds = []
    for _ in range(VARIANTS):
        rounds.append([
            msgpack.packb([0, number + 1, "terrain.set",
                           [{"world": world, "set": "cost", "cost": source.randrange(1, 250),
                             "cells": [source.randrange(SIDE) for _ in range(2 * cells)]}]])
            for number, world in enumerate(worlds)])
    return rounds


def measure(options, folder, processes, clustered):
    engine = kills.Etcd(folder, options.members) if clustered else None
    if engine:
        processes.append(engine)
    server = Server(options, folder, engine.endpoints if engine else "")
    processes.append(server.process)
    rank([os.getpid(), server.process.pid, *(one.pid for one in (engine.processes if engine else []))], options.nice)
    worlds = [server.call("world.create", name=f"w{i}", generator="open", width=SIDE, height=SIDE, tick_hz=HZ)["world"]
              for i in range(options.worlds)]
    rounds = rounds_of(worlds, options.cells)
    server.play(rounds, 3)
    before = [thread_times(server.process), [thread_times(one) for one in engine.processes] if engine else []]
    buckets = server.histogram("fogmarch_cluster_append_seconds") if engine else []
    ticks = sum(server.call("world.info", world=world)["tick"] for world in worlds)
    server.play(rounds, options.seconds)
    ticks = sum(server.call("world.info", world=world)["tick"] for world in worlds) - ticks
    after = thread_times(server.process)
    used = {name: (after[name] - before[0].get(name, 0)) * 1000 / ticks for name in after}
    took = sorted(server.took)
    said = {"kept": "etcd" if engine else "journals", "worlds": options.worlds, "cells": options.cells,
            "keyframe_ticks": options.keyframe_ticks, "members": options.members if engine else 0,
            **{f"answer_ms_p{share}": round(took[len(took) * share // 100] * 1000, 1) for share in (50, 99)},
            "answer_ms_max": round(took[-1] * 1000, 1), "ticks": ticks, "late_ticks": sum(server.call("stats", world=world)["world"]["late_ticks"]
                                              for world in worlds)}
    if engine:
        now = server.histogram("fogmarch_cluster_append_seconds")
        counts = [(end, count - old) for (end, count), (_, old) in zip(now, buckets)]
        appends = counts[-1][1]
        said["below_100_ms"] = round(max(count for end, count in counts if end <= 0.1) / appends, 4)
        said["keyframes"] = sum(server.call("stats", world=world)["world"]["journal"]["keyframes"] for world in worlds)
        said["kb_per_tick"] = round(record_size(engine) * appends / ticks / 1000, 2)
        numbers = server.call("cluster.status")["appends"]
        said["append_ms_mean"], said["append_ms_max"] = round(numbers["mean_ms"], 2), round(numbers["max_ms"], 1)
        said["append_ms_p99"] = round(next(end for end, count in counts if count >= 0.99 * appends) * 1000, 1)
        etcd = [thread_times(one) for one in engine.processes]
        said["cpu_ms_etcd"] = round(sum(sum(now.values()) - sum(old.values()) for now, old in zip(etcd, before[1]))
                                    * 1000 / ticks, 3)
    for name, ms in sorted(used.items()):
        said[f"cpu_ms_{name}"] = round(ms, 3)
    said["cpu_ms_all"] = round(sum(used.values()), 3)
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(HERE, "../build/release"))
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--cells", type=int, default=6000, help="in each world and tick")
    parser.add_argument("--keyframe-ticks", type=int, default=1200, help="as the server's; fewer: more keyframes")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--nice", type=int, default=0, help="priority; negative for root only")
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--csv")
    options = parser.parse_args()
    rows = []
    for clustered in (False, True):
        processes = []
        with tempfile.TemporaryDirectory(prefix="fogmarch-appends-") as folder:
            try:
                rows.append(measure(options, folder, processes, clustered))
            finally:
                for process in reversed(processes):
                    (process.end if isinstance(process, kills.Etcd) else process.kill)()
                    if not isinstance(process, kills.Etcd):
                        process.wait()
        print(rows[-1], file=sys.stderr, flush=True)
    names = list(dict.fromkeys(name for row in rows[::-1] for name in row))
    text = "\n".join([",".join(names), *(",".join(str(row.get(name, "")) for name in names) for row in rows)]) + "\n"
    sys.stdout.write(text)
    if options.csv:
        with open(options.csv, "w", encoding="ascii") as file:
            file.write(text)


if __name__ == "__main__":
    main()
