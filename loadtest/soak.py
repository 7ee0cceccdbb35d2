#!/usr/bin/env python3
"""Hours of mixed load on one server, and whether anything grows that should not.

    loadtest/soak.py [--build DIR] [--cluster N] [--minutes N] [--kill-minutes N] [--agents N] [--players N]
                     [--seed N] [--output DIR]
    loadtest/soak.py --judge FILE.csv

Load    A server with a journal and a world of four teams that always march. Groups get new orders five times a
        second, walls go up and down, units come and go. Players follow their team's view; each reconnects about
        every minute. Others connect and vanish, or subscribe and hardly read. A second world is made, saved, loaded
        and destroyed again and again. Every `kill_minutes` the server is killed and restarted on the same folder;
        the world must not be older than the latest tick that a client has seen.
Figures Some 500 samples in a run: resident memory, descriptors, threads, size of the folder, sessions, p99 and
        longest tick since the last sample. Memory, descriptors and threads start again with each life of the server
        and are judged within it: the median of its last quarter against that of its second. Folder and ticks are
        judged over the whole run. BOUNDS says how much growth is too much.
        Of a cluster each node's memory is judged by itself, from when its process began, or got the world or lost
        it, and without the first five minutes after that. Ticks are judged by processor time, and by their length in
        the samples in which the machine was not busy with other work.

--cluster N runs the same on N nodes and three members of etcd (soak_cluster.py): the node that has the world is killed,
and another node continues the world; members are stopped until etcd must send them its database. Figures are those
of all nodes and all members together, with the size of etcd's database.

Writes soak.csv, soak.svg and soak.json to DIR, with --cluster cluster-soak.*; prints the JSON. Exit status 1: something
grew, or a world was wrong after a restart. --judge judges the table of an earlier run. Needs python3-msgpack.
"""

import argparse
import csv
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import msgpack

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../clients/python")]
import fogmarch  # noqa: E402
import soak_cluster  # noqa: E402

PATIENCE = 60.0
SAMPLES = 500
SIDE = 256
TICK_HZ = 10
WALLS_MAX = 60
JOURNAL_MAX = 4 << 20  # for each of the two worlds
COLUMNS = ("second", "life", "rss_mib", "descriptors", "threads", "folder_mib", "sessions", "agents", "ticks",
           "tick_p99_ms", "tick_max_ms")
# Figure: judged by life or by run; the growth that is allowed as a ratio; and as a difference, whatever the ratio.
BOUNDS = {
    "rss_mib": ("life", 1.1, 4.0),
    "descriptors": ("life", 1.0, 12.0),
    "threads": ("life", 1.0, 0.0),
    "folder_mib": ("run", 1.25, 8.0),  # journals may grow up to their limit
    "tick_p99_ms": ("run", 1.5, 5.0),
}
JUDGED_S = 300.0  # the shortest stretch that is judged
WARM_UP_S = 300.0  # in which a process may grow to what its work needs
LOST = (fogmarch.ConnectionEnded, OSError)  # TimeoutError is an OSError


class Server:
    """fogmarchd on a folder, killed and started again on the same port."""

    def __init__(self, build, folder):
        self.program = os.path.join(build, "bin/fogmarchd")
        self.folder = folder
        self.port = 0
        self.lives = 0
        self.start()

    def start(self):
        port_file = os.path.join(self.folder, "port")
        if os.path.exists(port_file):
            os.remove(port_file)
        journals = os.path.join(self.folder, "journals")
        os.makedirs(journals, exist_ok=True)
        self.process = subprocess.Popen(
            [self.program, "--listen", f"127.0.0.1:{self.port}", "--port-file", port_file, "--journal-dir", journals,
             "--journal-size-max", str(JOURNAL_MAX), "--log-level", "error"], stdin=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(port_file):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("the server did not start")
            time.sleep(0.02)
        with open(port_file, encoding="ascii") as file:
            self.port = int(file.read())
        self.lives += 1

    def kill(self):
        self.process.kill()
        self.process.wait()

    def connect(self, name="soak"):
        return fogmarch.connect_plain(f"127.0.0.1:{self.port}", name=name, timeout_s=PATIENCE)

    def excuses(self, _error):
        return False

    def revive(self, _world):
        self.kill()
        self.start()

    def terminate(self):
        """Returns the exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def left_behind(self, client):
        return client.world_list()["worlds"]

    def more(self):
        return {}

    def columns(self):
        return COLUMNS

    def sample(self, _world, _stats):
        """Returns resident MiB, descriptors, threads and MiB of the folder."""
        base = f"/proc/{self.process.pid}"
        with open(f"{base}/statm", encoding="ascii") as file:
            rss = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        size = 0
        for entry in os.scandir(os.path.join(self.folder, "journals")):
            try:
                size += entry.stat().st_size
            except FileNotFoundError:
                pass  # a world that has just ended
        mib = 1 << 20
        return (round(rss / mib, 2), len(os.listdir(f"{base}/fd")), len(os.listdir(f"{base}/task")),
                round(size / mib, 2))


class Load:
    """Everything that loads the server, each kind in a thread of its own."""

    def __init__(self, server, options):
        self.server, self.options = server, options
        self.stop = threading.Event()
        self.errors = []
        self.seen = 0  # the latest tick that a player has seen
        self.counts = {"orders": 0, "edits": 0, "reconnects": 0, "worlds": 0}
        with server.connect() as client:
            made = client.world_create(name="soak", generator="skirmish", width=SIDE, height=SIDE, players=4,
                                       seed=options.seed, tick_hz=TICK_HZ, budget_ms=60)
            self.world = made["world"]
            self.bases = [made["bases"][i:i + 2] for i in range(0, 8, 2)]
            self.teams = [client.team_create(world=self.world)["team"] for _ in range(4)]
            self.agents = [self.spawn(client, i, options.agents // 4) for i in range(4)]
        bodies = [self.command, self.vanish, self.dawdle, self.make_worlds]
        bodies += [self.follow] * options.players
        self.threads = [threading.Thread(target=self.run, args=(body, options.seed * 1000 + i), daemon=True)
                        for i, body in enumerate(bodies)]
        for thread in self.threads:
            thread.start()

    def run(self, body, seed):
        """Repeats work until the end; a lost connection is expected here."""
        chance = random.Random(seed)
        while not self.stop.is_set():
            try:
                body(chance)
            except LOST:
                self.stop.wait(0.2)
            except Exception as error:  # a bug of this program or of the server, which the run reports
                if self.server.excuses(error):
                    continue
                self.errors.append(f"{body.__name__}: {error!r}")
                self.stop.wait(1)

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(PATIENCE)

    def spawn(self, client, team, count):
        return list(client.agent_spawn(world=self.world, team=self.teams[team], cells=self.bases[team] * count,
                                       place="nearest")["agents"])

    def command(self, chance):
        walls = []
        with self.server.connect("commander") as client:
            while not self.stop.wait(0.2):
                mine = chance.choice(self.agents)
                start = chance.randrange(len(mine))
                group = mine[start:start + chance.randint(1, 60)]
                client.agent_order(world=self.world, agents=group, kind="move", goal=chance.choice(self.bases),
                                   spread=True)
                self.counts["orders"] += 1
                if chance.random() < 0.5:
                    walls.append([chance.randrange(SIDE - 12), chance.randrange(SIDE - 12), chance.randint(1, 12), 1])
                    client.terrain_set(world=self.world, set="blocked", rects=walls[-1])
                    self.counts["edits"] += 1
                if len(walls) > WALLS_MAX:
                    client.terrain_set(world=self.world, set="free", rects=walls.pop(0))
                if chance.random() < 0.05:
                    self.replace(client, chance)

    def replace(self, client, chance):
        """Replaces some units of a team by new ones. A request that a crash leaves unanswered is not repeated."""
        team = chance.randrange(4)
        gone, kept = self.agents[team][:10], self.agents[team][10:]
        self.agents[team] = kept or self.spawn(client, team, 1)
        client.agent_remove(world=self.world, agents=gone)
        self.agents[team] += self.spawn(client, team, len(gone))

    def follow(self, chance):
        with self.server.connect("player") as client:
            view = client.view(self.world, chance.choice(self.teams))
            until = time.monotonic() + chance.uniform(5, 120)
            while time.monotonic() < until and not self.stop.is_set():
                mirror = view.next(PATIENCE)
                self.seen = max(self.seen, mirror.tick)
        self.counts["reconnects"] += 1

    def vanish(self, chance):
        """Connects, sends large requests, and vanishes without closing the session."""
        client = self.server.connect("vanishing")
        client.subscribe(world=self.world, team=0)
        self.stop.wait(chance.uniform(0, 0.5))
        client.close()

    def dawdle(self, chance):
        """Subscribes to everything and reads 2 KiB a second."""
        with socket.create_connection(("127.0.0.1", self.server.port), PATIENCE) as connection:
            for number, method, params in ((1, "hello", {"protocol": 1, "client": "slow"}),
                                           (2, "subscribe", {"world": self.world, "team": 0})):
                connection.sendall(msgpack.packb([0, number, method, [params]]))
            until = time.monotonic() + chance.uniform(10, 60)
            while time.monotonic() < until and not self.stop.wait(1):
                if not connection.recv(2048):
                    return

    def make_worlds(self, chance):
        with self.server.connect("maker") as client:
            for left in self.server.left_behind(client):  # left by a crash
                if left["name"].startswith("other-"):
                    client.world_destroy(world=left["world"])
            name = f"other-{chance.randrange(1 << 30)}"
            world = client.world_create(name=name, generator="rooms", width=96, height=96,
                                        seed=chance.randrange(1 << 30))["world"]
            client.team_create(world=world)
            client.agent_spawn(world=world, team=1, cells=[10, 10] * 50, place="nearest")
            self.stop.wait(1)
            save = client.world_save(world=world)
            data = b""
            while len(data) < save["total"]:
                data += client.save_download(save=save["save"], offset=len(data))["data"]
            client.world_destroy(world=world)
            upload = client.map_upload(total=len(data), offset=0, data=data)["upload"]
            world = client.world_load(upload=upload, name=name)["world"]
            self.stop.wait(1)
            client.world_destroy(world=world)
            self.counts["worlds"] += 1
        self.stop.wait(3)


# ---- results ----------------------------------------------------------------------------------------

def growth_of(values):
    """The medians of the last quarter and of the second."""
    quarter = len(values) // 4
    return statistics.median(values[-quarter:]), statistics.median(values[quarter:2 * quarter])


def bounds_of(rows):
    return soak_cluster.bounds_of(rows[0]) if "etcd_db_mib" in rows[0] else BOUNDS


def stretches_of(rows, name, by):
    """Lists of rows in which a figure must not grow."""
    stretches = {}
    for row in rows:
        key = {"life": row["life"]}.get(by, 0)
        if by == "process":
            node = name.split("_")[0]
            key = (row["life"], row[f"{node}_process"], row["owner"] == node)
            key = key[1:] if not key[2] else key  # what kills another node changes nothing for one without the world
        if by != "quiet" or float(row["load"]) <= os.cpu_count():
            stretches.setdefault(key, []).append(row)
    if by == "process":
        return [[row for row in stretch if float(row["second"]) - float(stretch[0]["second"]) >= WARM_UP_S]
                for stretch in stretches.values()]
    return list(stretches.values())


def judge(rows):
    """For each figure the stretch in which it grew most, and whether that is too much. null: all were too short."""
    found = {}
    for name, (by, times, more) in bounds_of(rows).items():
        worst = None
        for stretch in stretches_of(rows, name, by):
            stretch = [row for row in stretch if row[name] != ""]
            if len(stretch) < 8 or float(stretch[-1]["second"]) - float(stretch[0]["second"]) < JUDGED_S:
                continue
            late, early = growth_of([float(row[name]) for row in stretch])
            entry = {"early": early, "late": late, "ratio": round(late / early, 3) if early else 1.0,
                     "grows": late > early * times + more}
            if worst is None or entry["ratio"] > worst["ratio"]:
                worst = entry
        found[name] = worst or {"grows": False, "early": None, "late": None, "ratio": None}
    return found


def chart(rows, path):
    """Draws a panel for each figure, one below the other, with a line at each kill."""
    width, height, left, gap = 900, 110, 70, 34
    last = max(float(row["second"]) for row in rows) or 1.0
    kills = [float(b["second"]) for a, b in zip(rows, rows[1:]) if a["life"] != b["life"]]
    parts = []
    for i, name in enumerate(bounds_of(rows)):
        top = 24 + i * (height + gap)
        values = [float(row[name] or 0) for row in rows]
        most = max(values) * 1.1 or 1.0
        parts.append(f'<text x="{left}" y="{top - 6}">{name.replace("_", " ")}</text>'
                     f'<text x="{left - 6}" y="{top + 10}" class="n">{most:.4g}</text>'
                     f'<text x="{left - 6}" y="{top + height}" class="n">0</text>'
                     f'<path class="axis" d="M{left} {top}v{height}h{width - left - 10}"/>')
        parts += [f'<path class="kill" d="M{left + kill / last * (width - left - 10):.1f} {top}v{height}"/>'
                  for kill in kills]
        points = " ".join(f'{left + float(row["second"]) / last * (width - left - 10):.1f},'
                          f'{top + height - value / most * height:.1f}' for row, value in zip(rows, values))
        parts.append(f'<polyline points="{points}"/>')
    bottom = 24 + len(bounds_of(rows)) * (height + gap)
    parts.append(f'<text x="{width - 10}" y="{bottom - 14}" class="n">{last / 60:.1f} minutes; dashed: kill -9</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}" font-family="sans-serif" '
                   'font-size="13"><style>.n{text-anchor:end}.axis{fill:none;stroke:#888}'
                   '.kill{stroke:#bbb;stroke-dasharray:3}polyline{fill:none;stroke:#0072b2;stroke-width:1.5}</style>'
                   f'<rect width="{width}" height="{bottom}" fill="#fff"/>{"".join(parts)}</svg>\n')


def sample(server, load, begun):
    with server.connect("sampler") as client:
        stats = client.stats(world=load.world, reset=True)
    ticks = stats["world"]["tick_ms"]
    values = (round(time.monotonic() - begun, 1), server.lives, *server.sample(load.world, stats["world"]),
              stats["server"]["sessions"], stats["world"]["agents"], ticks["count"], round(ticks["p99"], 2),
              round(ticks["max"], 2))
    return dict(zip(server.columns(), values))


def revive(server, load):
    """Kills and restarts the server, and checks that the world is at the right tick."""
    seen = load.seen
    server.revive(load.world)
    with server.connect() as client:
        info = client.world_info(world=load.world)
    if info["tick"] < seen:
        load.errors.append(f"killed: tick {seen} was seen, and the world came back at {info['tick']}")


def play(server, options, table):
    load = Load(server, options)
    begun, rows = time.monotonic(), []
    seconds = options.minutes * 60
    interval, killed = max(0.25, seconds / SAMPLES), begun
    while time.monotonic() - begun < seconds or rows[-1]["life"] != server.lives:
        time.sleep(interval)
        rows.append(sample(server, load, begun))
        table.writerow(rows[-1])
        if options.kill_minutes > 0 and time.monotonic() - killed > options.kill_minutes * 60:
            revive(server, load)
            killed = time.monotonic()
    load.end()
    return rows, load


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "../build/release"))
    parser.add_argument("--cluster", type=int, default=0, metavar="N", help="nodes; 0: one server without etcd")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--kill-minutes", type=float, default=20, help="0: never")
    parser.add_argument("--agents", type=int, default=2000)
    parser.add_argument("--players", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default=".")
    parser.add_argument("--judge", metavar="FILE")
    options = parser.parse_args()
    if options.judge:
        with open(options.judge, encoding="utf-8") as file:
            found = judge(list(csv.DictReader(file)))
        print(json.dumps(found, indent=2))
        return 1 if any(entry["grows"] for entry in found.values()) else 0
    if options.agents < 40 or options.minutes <= 0:
        parser.error("--agents is 40 or more, --minutes more than 0")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.makedirs(options.output, exist_ok=True)
    path = os.path.join(options.output, "cluster-soak" if options.cluster else "soak")
    with (tempfile.TemporaryDirectory(prefix="fogmarch-soak-") as folder,
          open(path + ".csv", "w", newline="", encoding="utf-8", buffering=1) as file):
        server = (soak_cluster.Cluster(options.build, folder, options.cluster) if options.cluster
                  else Server(options.build, folder))
        try:
            table = csv.DictWriter(file, server.columns())
            table.writeheader()
            rows, load = play(server, options, table)
            more = server.more()
            code = server.terminate()
        finally:
            server.kill()
    chart(rows, path + ".svg")
    result = {"minutes": options.minutes, "agents": options.agents, "lives": server.lives, "exit_code": code,
              **load.counts, **more, "errors": load.errors, "figures": judge(rows)}
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
    print(json.dumps(result, indent=2))
    return 1 if load.errors or code != 0 or any(entry["grows"] for entry in result["figures"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
