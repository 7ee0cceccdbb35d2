#!/usr/bin/env python3
"""What many small worlds cost: matches of two players that run beside each other on one server.

    PYTHONPATH=clients/python loadtest/worlds.py [--build DIR] [--worlds N] [--units N] [--side N]
                                                 [--workers N] [--seconds S] [--seed N] [--output FILE]

Makes N worlds (generator skirmish, two players, one unit per cell, 10 Hz), gives each player half of the units, and
orders every player's units to a new place every two seconds (`spread`). The client keeps to one connection and asks
for the counters at the end.

Prints JSON, and writes it to FILE. Needs python3-msgpack.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time

import fogmarch

ORDERS_EVERY_S = 2.0


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def make(client, number, options):
    world = client.world_create(name=f"match-{number}", generator="skirmish", width=options.side, height=options.side,
                                players=2, seed=options.seed + number, occupancy="exclusive", tick_hz=10)["world"]
    bases = client.world_info(world=world)["bases"]
    players = []
    for player in range(2):
        team = client.team_create(world=world)["team"]
        base = bases[2 * player:2 * player + 2]
        players.append(client.agent_spawn(world=world, team=team, cells=base * (options.units // 2),
                                          place="nearest")["agents"])
    return world, players


def order_all(client, worlds, options, answers_ms):
    for world, players in worlds:
        for agents in players:
            begin = time.monotonic()
            client.agent_order(world=world, agents=agents, kind="move", spread=True,
                               goal=[random.randrange(options.side), random.randrange(options.side)])
            answers_ms.append(1000 * (time.monotonic() - begin))


def measure(client, pid, options):
    before = rss_bytes(pid)
    worlds = [make(client, number, options) for number in range(options.worlds)]
    made = rss_bytes(pid)
    answers_ms, cpu, begin = [], cpu_s(pid), time.monotonic()
    while time.monotonic() - begin < options.seconds:
        turn = time.monotonic()
        order_all(client, worlds, options, answers_ms)
        time.sleep(max(0.0, turn + ORDERS_EVERY_S - time.monotonic()))
    seconds = time.monotonic() - begin
    cpu = cpu_s(pid) - cpu
    after = rss_bytes(pid)
    stats = [client.stats(world=world)["world"] for world, _ in worlds]
    ticks = sum(world["tick"] for world in stats)
    answers_ms.sort()
    medians = sorted(world["tick_ms"]["p50"] for world in stats)
    return {
        "worlds": options.worlds, "units": options.units, "side": options.side, "seed": options.seed,
        "seconds": round(seconds, 1),
        "moves_per_second": round(sum(world["moves"] for world in stats) * 10 * options.worlds / ticks),
        "server_cpus": round(cpu / seconds, 3),
        "tick_ms_p50": medians[len(medians) // 2],
        "tick_ms_p99_worst_world": max(world["tick_ms"]["p99"] for world in stats),
        "late_ticks": sum(world["late_ticks"] for world in stats), "ticks": ticks,
        "order_answer_ms_p50": round(answers_ms[len(answers_ms) // 2], 3),
        "order_answer_ms_p99": round(answers_ms[len(answers_ms) * 99 // 100], 3),
        "rss_bytes_per_world_made": (made - before) // options.worlds,
        "rss_bytes_per_world_after": (after - before) // options.worlds,
        "counted_bytes_per_world": sum(world["memory"]["bytes"] for world in stats) // options.worlds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--units", type=int, default=40)
    parser.add_argument("--side", type=int, default=96)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1, help="of the maps and of the orders' goals")
    parser.add_argument("--output")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="fogmarch-") as folder:
        port = pathlib.Path(folder) / "port"
        server = subprocess.Popen([os.path.join(options.build, "bin/fogmarchd"), "--listen", "127.0.0.1:0",
                                   "--port-file", str(port), "--worlds-max", str(options.worlds),
                                   "--workers", str(options.workers), "--log-level", "error"])
        try:
            while not port.exists():
                if server.poll() is not None:
                    raise SystemExit("the server did not start")
                time.sleep(0.01)
            with fogmarch.connect_plain("127.0.0.1:" + port.read_text().strip().rsplit(":", 1)[-1]) as client:
                result = measure(client, server.pid, options)
        finally:
            server.terminate()
            server.wait()
    print(json.dumps(result, indent=2))
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
