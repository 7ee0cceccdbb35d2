#!/usr/bin/env python3
"""A model of a hundred nodes: where worlds go, and what happens to them when nodes, racks and etcd members fail.

    loadtest/placement.py [--nodes N] [--worlds N] [--cores N] [--days N] [--seed N] [--csv FILE]

Worlds cost what was measured (server/cluster/MILLION.md): a share of a core that grows with their agents. Each is
placed as the server does it (node_moves.c): on the node with the most capacity left, and among equal nodes on the one
with the higher hash. Then failures of single nodes and whole racks are drawn for each hour. Each world of a failed node
goes to the best survivor, one after the other; a node takes over at most TAKES_AT_ONCE at a time. A world is
away from the end of the lease until its keyframe is read and its ticks are replayed.

There is one row for each number of spare nodes (0, 1, 2, 5, 10, 20 % more than the load needs): the share of its cores
that the busiest node uses before and after the worst failure, worlds that found no room, and how long worlds were away.
Failure rates are assumptions, not measurements: see FAILURES.
"""

import argparse
import csv
import hashlib
import heapq
import math
import random
import sys

LEASE_S = (2.0, 2.35)  # measured with etcd and three members
TAKE_S = 0.35  # for one world: keyframe, later rows, replay; 1.7 to 2.4 s with the lease (server/cluster/README.md)
TAKES_AT_ONCE = 4  # libuv's thread pool
CORE_SHARE = (0.6, 0.8)  # of a core, for a world of 10,000 agents at 10 Hz
RACK = 10  # nodes
# Failures of one unit in a year; assumptions.
FAILURES = {"node": 2.0, "rack": 0.2}
HOURS = 24


def score(node, world):
    return hashlib.blake2b(f"{node}/{world}".encode(), digest_size=8).digest()


class Cluster:
    def __init__(self, nodes, cores, worlds, chance):
        self.cores, self.load = cores, [0.0] * nodes
        self.alive = [True] * nodes
        self.worlds = [set() for _ in range(nodes)]
        self.cost = [chance.uniform(*CORE_SHARE) for _ in range(worlds)]
        self.homeless = set()
        for world in range(worlds):
            self.place(world)

    def best(self, world):
        """The node with the most capacity left; None: there is no room anywhere."""
        found = min((node for node, alive in enumerate(self.alive) if alive),
                    key=lambda node: (round(self.load[node], 3), score(node, world)), default=None)
        return found if found is not None and self.load[found] + self.cost[world] <= self.cores else None

    def place(self, world):
        node = self.best(world)
        if node is None:
            self.homeless.add(world)
        else:
            self.worlds[node].add(world)
            self.load[node] += self.cost[world]
        return node

    def fail(self, nodes, chance):
        """Takes nodes away. Returns how long each of their worlds was away, in seconds."""
        lost = [world for node in nodes for world in sorted(self.worlds[node])]
        for node in nodes:
            self.alive[node], self.load[node] = False, 0.0
            self.worlds[node] = set()
        lanes, away = {}, []
        for world in lost:
            node = self.place(world)
            if node is None:
                continue
            free = lanes.setdefault(node, [0.0] * TAKES_AT_ONCE)
            begun = heapq.heappop(free)
            heapq.heappush(free, begun + TAKE_S)
            away.append(chance.uniform(*LEASE_S) + begun + TAKE_S)
        return away

    def come_back(self, nodes):
        for node in nodes:
            self.alive[node] = True
        for world in sorted(self.homeless):
            self.homeless.discard(world)
            self.place(world)

    def busiest(self):
        return max(load for load, alive in zip(self.load, self.alive) if alive) / self.cores


def run(options, nodes, seed):
    """Simulates one cluster for the given days. A failed node is away for an hour, a rack for four."""
    chance = random.Random(seed)
    cluster = Cluster(nodes, options.cores, options.worlds, chance)
    before, worst, without_room, away, failures = cluster.busiest(), 0.0, len(cluster.homeless), [], 0
    returning = []
    racks = math.ceil(nodes / RACK)
    for hour in range(options.days * HOURS):
        while returning and returning[0][0] <= hour:
            cluster.come_back(heapq.heappop(returning)[1])
        per_hour = 1 / (365 * HOURS)
        gone = [node for node in range(nodes) if cluster.alive[node] and chance.random() < FAILURES["node"] * per_hour]
        rack = chance.randrange(racks) if chance.random() < FAILURES["rack"] * racks * per_hour else None
        if rack is not None:
            gone = sorted({*gone, *(node for node in range(rack * RACK, min(nodes, (rack + 1) * RACK))
                                    if cluster.alive[node])})
        if gone:
            failures += 1
            away += cluster.fail(gone, chance)
            heapq.heappush(returning, (hour + (4 if rack is not None else 1), gone))
            worst = max(worst, cluster.busiest())
            without_room = max(without_room, len(cluster.homeless))
    away.sort()
    return {"nodes": nodes, "failures": failures, "worlds_lost_a_node": len(away),
            "busiest_before": round(before, 3), "busiest_worst": round(max(worst, before), 3),
            "without_room": without_room,
            "away_p50_s": round(away[len(away) // 2], 2) if away else 0.0,
            "away_p99_s": round(away[-1 - len(away) // 100], 2) if away else 0.0,
            "away_max_s": round(away[-1], 2) if away else 0.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100, help="as many as the worlds need, without spare ones")
    parser.add_argument("--cores", type=float, default=16)
    parser.add_argument("--worlds", type=int, default=0, help="0: as many as fill the nodes to 90 %%")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    if options.nodes < 2 or options.cores < 1 or options.days < 1 or options.worlds < 0:
        parser.error("two nodes, one core and one day at least")
    options.worlds = options.worlds or int(0.9 * options.nodes * options.cores / (sum(CORE_SHARE) / 2))
    rows = [{"spare_percent": spare, "worlds": options.worlds,
             **run(options, options.nodes + math.ceil(options.nodes * spare / 100), options.seed)}
            for spare in (0, 1, 2, 5, 10, 20)]
    with (open(options.csv, "w", newline="", encoding="utf-8") if options.csv else sys.stdout) as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
