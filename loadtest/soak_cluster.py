"""Nodes and members for soak.py --cluster: a world that outlives its nodes.

Three members of etcd on loopback, compacted every minute, and N nodes. A kill hits the node that has the world; the
node is restarted when another one has the world. Again and again a following member is stopped until it is further
behind than the leader's log reaches back (SNAPSHOT_BEHIND entries), and woken. etcd then sends it the database, and
the member must catch up before the next one is stopped.
"""

import glob
import json
import os
import signal
import subprocess
import time
import urllib.request

import fogmarch
import kills

MEMBERS = 3
SNAPSHOT_COUNT = 1000
SNAPSHOT_BEHIND = 5000 + SNAPSHOT_COUNT + 500  # etcd 3.4 keeps 5,000 entries before a snapshot
# After them: for each node its process, counted from 1, and its memory.
COLUMNS = ("second", "life", "nodes_rss_mib", "etcd_rss_mib", "descriptors", "threads", "folder_mib", "etcd_db_mib",
           "etcd_used_mib", "etcd_entries", "slow_behind", "snapshots", "append_mean_ms", "owner", "world_mib",
           "cpu_ms", "load")
LAST_COLUMNS = ("sessions", "agents", "ticks", "tick_p99_ms", "tick_max_ms")
# As in soak.py.
RSS_BOUND = ("process", 1.15, 16.0)  # of each node
BOUNDS = {
    "nodes_rss_mib": ("life", 1.15, 16.0),  # in tables that have no columns for each node
    "etcd_rss_mib": ("run", 1.25, 64.0),
    "descriptors": ("life", 1.0, 24.0),
    "threads": ("life", 1.0, 3.0),  # libuv starts its thread pool when it is first used
    "folder_mib": ("run", 1.25, 24.0),
    "etcd_db_mib": ("run", 1.25, 24.0),
    "tick_p99_ms": ("run", 1.5, 10.0),
}
BUSY_BOUNDS = {
    "cpu_ms": ("run", 1.25, 1.0),
    "tick_p99_ms": ("quiet", 1.5, 10.0),
}
MIB = 1 << 20
CLOCK = os.sysconf("SC_CLK_TCK")


def bounds_of(columns):
    nodes = [name for name in columns if name.endswith("_process")]
    if not nodes:
        return BOUNDS
    kept = {name: bound for name, bound in BOUNDS.items() if name not in ("nodes_rss_mib", "tick_p99_ms")}
    return {**{name.replace("_process", "_rss_mib"): RSS_BOUND for name in nodes}, **kept, **BUSY_BOUNDS}


def rss(process):
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def seconds_of(process):
    """Processor time that it has used."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK


class Members:
    """The members of etcd."""

    def __init__(self, folder):
        self.folder = folder
        ports = [kills.free_port() for _ in range(2 * MEMBERS)]
        self.ports = ports[:MEMBERS]
        cluster = ",".join(f"m{i}=http://127.0.0.1:{port}" for i, port in enumerate(ports[MEMBERS:]))
        self.processes = [self.start(i, ports[MEMBERS + i], cluster) for i in range(MEMBERS)]
        self.endpoints = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        kills.until(lambda: all(self.status(i) for i in range(MEMBERS)), "etcd")
        self.slow, self.slow_from = None, 0  # the stopped member, and the number of entries at that time
        self.snapshots_before = 0
        self.rounds = 0

    def start(self, index, peer_port, cluster):
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.ports[index], peer_port))
        with open(os.path.join(self.folder, f"etcd{index}.log"), "ab") as log:
            return subprocess.Popen(
                [kills.etcd_program(), "--name", f"m{index}", "--data-dir", os.path.join(self.folder, f"etcd{index}"),
                 "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
                 "--initial-advertise-peer-urls", peer, "--initial-cluster", cluster, "--logger=zap",
                 "--snapshot-count", str(SNAPSHOT_COUNT), "--auto-compaction-mode", "periodic",
                 "--auto-compaction-retention", "1m", "--quota-backend-bytes", str(2 << 30)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def status(self, index):
        """A member's status; None: it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[index]}/v3/maintenance/status", data=b"{}",
                                        timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return None

    def entries(self, index):
        return int((self.status(index) or {}).get("raftIndex", 0))

    def snapshots(self):
        """How many databases members were sent, according to their logs."""
        count = 0
        for path in glob.glob(os.path.join(self.folder, "etcd*.log")):
            with open(path, errors="replace", encoding="utf-8") as file:
                count += sum('"applied snapshot"' in line for line in file)
        return count

    def turn(self):
        """Stops a member, wakes it, or checks whether it has caught up. Returns how far it is behind."""
        first = next(i for i in range(MEMBERS) if i != self.slow)
        entries = self.entries(first)
        if self.slow is None:
            status = self.status(first)
            self.slow = next(i for i in range(MEMBERS) if i != first and
                             self.status(i)["header"]["member_id"] != status.get("leader"))
            self.slow_from, self.snapshots_before = entries, self.snapshots()
            self.processes[self.slow].send_signal(signal.SIGSTOP)
            return 0
        behind = entries - self.slow_from
        if self.slow_from > 0 and behind > SNAPSHOT_BEHIND:
            self.processes[self.slow].send_signal(signal.SIGCONT)
            self.slow_from = -1
        if self.slow_from < 0:
            behind = entries - self.entries(self.slow)
            if behind < 50 and self.snapshots() > self.snapshots_before:
                self.slow = None
                self.rounds += 1
        return behind

    def figures(self):
        """The memory of all processes; the size of the largest database, and how much of it is in use."""
        said = [one for one in (self.status(i) for i in range(MEMBERS) if i != self.slow or self.slow_from < 0) if one]
        return (round(sum(map(rss, self.processes)) / MIB, 2),
                round(max(int(one.get("dbSize", 0)) for one in said) / MIB, 2),
                round(max(int(one.get("dbSizeInUse", 0)) for one in said) / MIB, 2),
                max(int(one["raftIndex"]) for one in said))

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


class Cluster:
    """Takes the place of soak.py's Server."""

    def __init__(self, build, folder, count):
        self.members = Members(folder)
        self.nodes = [kills.Node(build, folder, f"n{i + 1}", self.members.endpoints, "--journal-size-max",
                                 str(4 * MIB), "--log-level", "warning") for i in range(count)]
        self.addresses = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        with self.nodes[0].connect() as client:
            kills.until(lambda: len(client.cluster_status()["nodes"]) == count, "all nodes")
        self.lives = 1
        self.killed_at = 0.0
        self.world = 0
        self.took = []
        self.processes = [1] * count  # of each node, counted
        self.used = (None, 0.0, 0)  # at the last sample: the owner's process, its processor time, the world's tick

    @property
    def port(self):
        owner = kills.owner_of(self.nodes, self.world) if self.world else None
        return (owner or self.nodes[0]).port

    def connect(self, name="soak"):
        return fogmarch.connect_plain(self.addresses, name=name, timeout_s=kills.PATIENCE, follow_s=kills.PATIENCE)

    def excuses(self, error):
        """Whether an error is expected: errors between a node's death and the takeover are no bugs."""
        return isinstance(error, fogmarch.RequestError) and time.monotonic() - self.killed_at < 20

    def revive(self, world):
        """Kills the node that has the world, waits until another node has it, and restarts the killed one."""
        self.world = world
        victim = kills.until(lambda: kills.owner_of(self.nodes, world), "an owner")
        self.killed_at = begun = time.monotonic()
        victim.process.kill()
        victim.process.wait()
        kills.until(lambda: kills.owner_of(self.nodes, world, victim), "a takeover")
        self.took.append(round(time.monotonic() - begun, 2))
        victim.start()
        self.processes[self.nodes.index(victim)] += 1
        self.lives += 1

    def left_behind(self, client):
        return client.cluster_status()["worlds"]

    def columns(self):
        each = [f"{node.name}_{what}" for node in self.nodes for what in ("process", "rss_mib")]
        return (*COLUMNS, *each, *LAST_COLUMNS)

    def used_per_tick(self, owner, tick):
        """Milliseconds of processor time of the owner, for each tick of the world since the last sample."""
        (process, seconds, last), self.used = self.used, (owner.process, seconds_of(owner.process), tick)
        return round((self.used[1] - seconds) * 1000 / (tick - last), 2) if process is owner.process and tick > last else ""

    def sample(self, world, stats):
        """Columns from nodes_rss_mib to those of each node. stats: of the world."""
        self.world = world
        descriptors = threads = size = 0
        appends = []
        for node in self.nodes:
            if node.process.poll() is not None:
                raise SystemExit(f"node {node.name} ended by itself with {node.process.returncode}: {node.log()}")
            base = f"/proc/{node.process.pid}"
            descriptors += len(os.listdir(f"{base}/fd"))
            threads += len(os.listdir(f"{base}/task"))
            for entry in os.scandir(node.folder):
                try:
                    size += entry.stat().st_size
                except FileNotFoundError:
                    pass  # a world that has just ended
            with node.connect() as client:
                appends.append(client.cluster_status()["appends"])
        count = sum(one["count"] for one in appends)
        mean = sum(one["mean_ms"] * one["count"] for one in appends) / max(count, 1)
        each = [round(rss(node.process) / MIB, 2) for node in self.nodes]
        owner = kills.until(lambda: kills.owner_of(self.nodes, world), "an owner")
        behind = self.members.turn()
        etcd_rss, db, used, entries = self.members.figures()
        return (round(sum(each), 2), etcd_rss, descriptors, threads, round(size / MIB, 2), db, used, entries, behind,
                self.members.snapshots(), round(mean, 2), owner.name, round(stats["memory"]["bytes"] / MIB, 2),
                self.used_per_tick(owner, stats["tick"]), round(os.getloadavg()[0], 2),
                *(value for pair in zip(self.processes, each) for value in pair))

    def more(self):
        """Further members of the result."""
        return {"nodes": len(self.nodes), "takeover_s": self.took, "slow_members": self.members.rounds,
                "snapshots": self.members.snapshots()}

    def terminate(self):
        """Tells all nodes to end, one after the other. Returns the worst exit code."""
        for node in self.nodes:
            node.process.terminate()
        return max(abs(node.process.wait(kills.PATIENCE)) for node in self.nodes)

    def kill(self):
        for node in self.nodes:
            node.end()
        for process in self.members.processes:
            process.send_signal(signal.SIGCONT)
        self.members.end()
