#!/usr/bin/env python3
"""Kills nodes of a cluster under load: how long takeovers take, and whether anything is lost.

    fogmarch-load --cluster N [--members N] [--kills N] [--moves N] [--engine-faults N] [--agents N] [--seed N] [--json]

That starts this script, loadtest/kills.py; --build DIR is where it finds bin/fogmarchd.

N nodes and three members of etcd on loopback, one world at 10 Hz whose units march. One client sends orders as fast as
they are answered, another reads the world's tick and digest all the time; both follow the world by themselves, like any
client of the library. Again and again the node that has the world is killed, or, every third time, stopped until
another node has the world, and then woken. A killed node is restarted. In between the world is moved from node to node
(cluster.move), --moves times in all.

    takeover_ms          from the kill to the first order that is answered after it: median, p99, max
    move_pause_ms        for each move, the longest time that an order's answer took after the request to move, which
                         includes the client's reconnection to the next node: median, p99, max
    move_parts_ms        where that time goes, by the nodes' logs: `source` from the order to stop the world until that
                         node knows that its last batch and the next owner are in etcd, `target` from there until the
                         next node has the world (below 0: it had it before), `client` from there until an order is
                         answered
    engine_gap_ms        for each fault of etcd, the longest time that an order's answer took: median, p99, max
    moves_taken_over     moves in which the owner lost its lease: they count as none
    append_ms            mean and max of an append to etcd, on the nodes that live at the end
    lost_commands        answered, but not in the world at the end; carried_out_twice: the reverse
    digest_differences   ticks for which clients were told two digests
    two_speakers         nodes that answered for the world after another node had it

With --json each round is reported on standard error. An interrupted run (Ctrl-C, SIGTERM) reports what it has found. So does one
that waits in vain, with `failure`: what for.

On a machine that does other work start it with nice(1): all processes that it starts get the same priority.

Exit status 1 when one of the last four is not 0, or something failed. Needs etcd (Debian: etcd-server) and python3-msgpack. It is a script
because the C clients of fogmarch-load measure one server: here clients must follow the world from node to node.
"""

import argparse
import collections
import datetime
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../clients/python"))
try:
    import fogmarch  # noqa: E402
except ImportError as missing:
    sys.exit(f"fogmarch's Python client is needed (clients/python), and python3-msgpack: {missing}")

PATIENCE = float(os.environ.get("FOGMARCH_PATIENCE", "60"))  # seconds; more on a machine that is very busy
MOVE_S = 30.0  # a move that takes longer was given up by the node: it is asked for again
SIDE = 128
RECEIPTS = 1000  # a world keeps at least so many answers of a seat


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not (result := condition()):
        if time.monotonic() > end:
            raise RuntimeError(f"waited in vain for {what}")
        time.sleep(0.02)
    return result


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def pass_rank_on(process):
    """Gives a process that has a session of its own this script's niceness: where the scheduling autogroup is on, nice(1)
    ranks the processes of one session only."""
    rank = os.getpriority(os.PRIO_PROCESS, 0)
    for name in ("self", process.pid) if rank else ():
        try:
            with open(f"/proc/{name}/autogroup", "w", encoding="ascii") as file:
                file.write(str(rank))
        except OSError:
            pass  # a system without autogroups, or no right to


class Node:
    """A server of the cluster, with a folder of its own."""

    def __init__(self, build, folder, name, endpoints, *flags):
        self.name, self.port = name, 0
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        self.port_file = os.path.join(self.folder, "port")
        self.command = [os.path.join(build, "bin/fogmarchd"), "--port-file", self.port_file,
                        "--cluster-name", "kills", "--cluster-node", name, "--cluster-endpoints", endpoints,
                        "--journal-dir", self.folder, "--workers", "1", *flags]
        self.start()

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            # On the same port again, because clients know it.
            self.process = subprocess.Popen([*self.command, "--listen", f"127.0.0.1:{self.port}"], stderr=log,
                                            stdin=subprocess.DEVNULL, start_new_session=True)  # ^C is this script's
        pass_rank_on(self.process)
        until(lambda: os.path.exists(self.port_file), f"node {self.name}")
        with open(self.port_file, encoding="ascii") as file:
            self.port = int(file.read())
        until(lambda: answers(self.port), f"node {self.name}")

    def connect(self):
        return fogmarch.connect_plain(f"127.0.0.1:{self.port}", name="kills.py", follow_s=0)

    def lines(self, what):
        """Lines of its log that say so: their times, in seconds since 1970, and texts."""
        with open(os.path.join(self.folder, "log"), errors="replace", encoding="utf-8") as file:
            return [(datetime.datetime.fromisoformat(line.split(" ", 1)[0].replace("Z", "+00:00")).timestamp(), line)
                    for line in file if what in line]

    def log(self):
        """The last lines of its log."""
        with open(os.path.join(self.folder, "log"), errors="replace", encoding="utf-8") as file:
            return "".join(file.readlines()[-20:])

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()


class Load:
    """The world's clients, and what they were told."""

    def __init__(self, addresses, world, agents):
        self.addresses, self.world, self.agents = addresses, world, agents
        with self.connect(PATIENCE) as client:
            self.given_before = self.given(client)
        self.answers = {}  # by command_id
        self.gaps = []  # begin and end of calls that took longer than half a second
        self.begun = None  # of the order under way
        self.calls = collections.deque(maxlen=4096)  # begin and end of the latest calls
        self.digests, self.differences = {}, set()
        self.stopping = False
        self.failure = None
        self.threads = [threading.Thread(target=self._guard, args=(work,)) for work in (self._order, self._look)]
        for thread in self.threads:
            thread.start()

    def connect(self, timeout_s=2.0):
        return fogmarch.connect_plain(self.addresses, name="kills.py", follow_s=PATIENCE, timeout_s=timeout_s)

    def _guard(self, work):
        try:
            with self.connect() as client:
                while not self.stopping:
                    try:
                        work(client)
                    except TimeoutError:  # again, with the same command_id
                        continue
        except Exception as error:  # reported by finish()
            self.failure = error

    def order(self, number):
        source = random.Random(number)
        return {"world": self.world, "kind": "move", "agents": [source.choice(self.agents)],
                "goal": [source.randrange(SIDE), source.randrange(SIDE)], "command_id": number}

    def _order(self, client):
        number = len(self.answers) + 1
        begun = self.begun = self.begun or time.monotonic()
        self.answers[number] = client.agent_order(**self.order(number))
        ended, self.begun = time.monotonic(), None
        assert ended - begun < PATIENCE, f"an order was answered after {ended - begun:.0f} s"
        self.calls.append((begun, ended))
        if ended - begun > 0.5:
            self.gaps.append((begun, ended))

    def _look(self, client):
        info = client.world_info(world=self.world)
        if self.digests.setdefault(info["tick"], info["digest"]) != info["digest"]:
            self.differences.add(info["tick"])
        time.sleep(0.005)

    def given(self, client):
        """The number of orders that this load has given the world; each goes to one agent."""
        return client.stats(world=self.world)["world"]["orders_given"] - getattr(self, "given_before", 0)

    def check(self):
        if self.failure is not None:
            raise RuntimeError(f"a client failed: {self.failure}")
        return True

    def finish(self):
        """Stops, and compares the answers with the world. Returns the numbers of lost and of doubled commands."""
        self.stopping = True
        for thread in self.threads:
            thread.join()
        self.check()
        with self.connect(PATIENCE) as client:
            before = self.given(client)
            changed = sum(client.agent_order(**self.order(number)) != self.answers[number]
                          for number in list(self.answers)[-RECEIPTS:])
            twice = max(0, before - len(self.answers)) + self.given(client) - before
            return max(0, len(self.answers) - before) + changed, twice


def owner_of(nodes, world, but=None):
    """The node that has the world, according to a living node; None: no node has it now."""
    for node in nodes:
        if node is but or node.process.poll() is not None:
            continue
        try:
            with node.connect() as client:
                place = client.world_locate(world=world)
            found = next(one for one in nodes if one.name == place["node"])
            return None if found is but else found
        except (fogmarch.RequestError, fogmarch.ConnectionEnded, OSError):
            continue
    return None


def speaks(node, world):
    """Whether a node answers for a world."""
    try:
        with node.connect() as client:
            client.stats(world=world)
        return True
    except (fogmarch.RequestError, fogmarch.ConnectionEnded, OSError):
        return False


def take_one_away(nodes, load, freezes):
    """Kills or freezes the owner. Returns milliseconds until orders are answered, and how many other nodes spoke."""
    victim = until(lambda: owner_of(nodes, load.world), "an owner")
    begun = time.monotonic()
    victim.process.send_signal(signal.SIGSTOP if freezes else signal.SIGKILL)
    until(lambda: owner_of(nodes, load.world, victim), "a takeover")
    gap = until(lambda: load.check() and next((gap for gap in load.gaps if gap[1] > begun), None),
                "an order that is answered")
    took = (gap[1] - begun) * 1000
    speakers = 0
    if freezes:
        victim.process.send_signal(signal.SIGCONT)
        speakers = speaks(victim, load.world)
    else:
        victim.process.wait()
        victim.start()
    return took, speakers


def ask_to_move(nodes, load):
    """Asks the owner to give the world away. Returns the owner and when it was asked; None: it cannot now."""
    source = owner_of(nodes, load.world)
    if source is None:
        return None
    try:
        with source.connect() as client:
            if len(client.cluster_status()["nodes"]) < len(nodes):
                return None
            begun = time.monotonic()
            place = client.cluster_move(world=load.world)
    except (fogmarch.RequestError, fogmarch.ConnectionEnded, OSError):
        return None
    return (source, begun) if place["node"] != source.name else None


def move(nodes, load):
    """Moves the world to another node. Returns how long the slowest answer took, in milliseconds, and the parts; None
    in place of these when the world was taken over, because the owner lost its lease meanwhile."""
    source, begun = until(lambda: load.check() and ask_to_move(nodes, load), "a move to begin")
    until(lambda: load.check() and (owner_of(nodes, load.world) not in (None, source)
                                    or time.monotonic() - begun > MOVE_S), "a move")
    moved = time.monotonic()
    until(lambda: load.check() and load.calls and load.calls[-1][0] > moved, "an order that is answered")
    calls = [call for call in list(load.calls) if call[1] > begun]
    return max(end - max(begin, begun) for begin, end in calls) * 1000, parts(nodes, source, begun, calls)


def damage(engine, load, number):
    """Damages etcd. Returns how long the slowest answer took, in milliseconds, and what it was."""
    begun = time.monotonic()
    what = engine.damage(number)
    engine.wait()
    healthy = time.monotonic()
    until(lambda: load.check() and load.calls and load.calls[-1][0] > healthy, "an order that is answered")
    return max(end - max(begin, begun) for begin, end in list(load.calls) if end > begun) * 1000, what


def parts(nodes, source, begun, calls):
    """Where the time of the latest move went, in milliseconds, see above. Log lines have whole milliseconds."""
    since_1970 = time.time() - time.monotonic()
    lines = [line for line in source.lines("world has gone to another node") if line[0] >= begun + since_1970 - 0.001]
    if not lines:
        return None
    gone, text = lines[-1]
    name = re.search(r'to="?\d+ (\S+)', text)[1]
    came = next(node for node in nodes if node.name == name).lines("world moved here")[-1][0]
    answered = min((end + since_1970 for begin, end in calls if end + since_1970 >= came), default=came)
    return {"source": float(re.search(r" ms=([0-9.]+)", text)[1]), "target": (came - gone) * 1000,
            "client": (answered - came) * 1000}


def figures(took):
    took = sorted(took)
    return {"median": round(took[len(took) // 2]), "p99": round(took[-1 - len(took) // 100]), "max": round(took[-1])}


def append_ms(nodes):
    figures = []
    for node in nodes:
        try:
            with node.connect() as client:
                figures.append(client.cluster_status()["appends"])
        except (OSError, fogmarch.ConnectionEnded, fogmarch.RequestError):
            pass  # a run that failed leaves nodes that are dead or stopped
    figures = [one for one in figures if one["count"] > 0]
    count = sum(one["count"] for one in figures)
    return {"mean": round(sum(one["mean_ms"] * one["count"] for one in figures) / max(count, 1), 2),
            "max": round(max((one["max_ms"] for one in figures), default=0.0), 1)}


def etcd_program():
    program = shutil.which("etcd", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/local/bin")
    if program is None:
        sys.exit("etcd is not there: apt install etcd-server")
    return program


class Etcd:
    """Members of etcd, with the settings of server/cluster/README.md."""

    def __init__(self, folder, count):
        self.folder = folder
        ports = [free_port() for _ in range(2 * count)]
        self.ports, self.peers = ports[:count], ports[count:]
        self.endpoints = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        self.processes = [None] * count
        for i in range(count):
            self.start(i)
        self.wait()

    def start(self, i):
        client, peer = (f"http://127.0.0.1:{ports[i]}" for ports in (self.ports, self.peers))
        cluster = ",".join(f"m{j}=http://127.0.0.1:{port}" for j, port in enumerate(self.peers))
        with open(os.path.join(self.folder, f"etcd{i}.log"), "ab") as log:
            self.processes[i] = subprocess.Popen(
                [etcd_program(), "--name", f"m{i}", "--data-dir", os.path.join(self.folder, f"etcd{i}"),
                 "--listen-client-urls", client, "--advertise-client-urls", client,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", cluster, "--heartbeat-interval", "50", "--election-timeout", "500",
                 "--snapshot-count", "5000", "--auto-compaction-mode", "periodic", "--auto-compaction-retention", "5m",
                 "--quota-backend-bytes", "8589934592"], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True)
        pass_rank_on(self.processes[i])

    def wait(self):
        for port in self.ports:
            until(lambda: is_healthy(port), "etcd")

    def leader(self):
        """The index of the member that leads, or None."""
        for i, port in enumerate(self.ports):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/v3/maintenance/status", data=b"{}",
                                            timeout=3) as answer:
                    status = json.load(answer)
            except OSError:
                continue
            if status.get("leader") == status["header"]["member_id"]:
                return [i]
        return None

    def restart(self, members):
        """Kills some members and starts them with the data that they have."""
        for i in members:
            self.processes[i].kill()
            self.processes[i].wait()
        time.sleep(0.1)
        for i in members:
            self.start(i)

    def stop(self, member, seconds):
        self.processes[member].send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.processes[member].send_signal(signal.SIGCONT)

    def damage(self, number):
        """One fault of each kind in turn. Returns its name."""
        count = len(self.processes)
        leader = until(self.leader, "a leader")[0]
        others = [i for i in range(count) if i != leader]
        kinds = [("its leader is killed", lambda: self.restart([leader])),
                 ("its leader is stopped", lambda: self.stop(leader, 1 + number % 3)),
                 ("a follower is killed", lambda: self.restart(others[:1] or [leader])),
                 ("a majority is killed", lambda: self.restart([leader, *others[:count // 2]])),
                 ("all members are killed", lambda: self.restart(range(count)))]
        name, happen = kinds[number % len(kinds)]
        happen()
        return name

    def end(self):
        for process in self.processes:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def is_healthy(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as answer:
            return json.load(answer)["health"] == "true"
    except OSError:
        return False


class Found:
    """What has happened so far."""

    def __init__(self):
        self.took, self.pauses, self.shares, self.gaps, self.speakers = [], [], [], [], 0
        self.turned = 0  # moves that became takeovers
        self.failure = None


def go_through(options, engine, nodes, load, found):
    def tell(text):
        if options.json:
            print(f"{text}, {len(load.answers)} commands", file=sys.stderr, flush=True)

    for i in range(options.kills):
        while len(found.pauses) < options.moves * (i + 1) // options.kills:
            pause, share = move(nodes, load)
            if share is None:
                found.turned += 1
                continue
            found.pauses.append(pause)
            found.shares.append(share)
        while len(found.gaps) < options.engine_faults * (i + 1) // options.kills:
            ms, what = damage(engine, load, len(found.gaps))
            found.gaps.append(ms)
            tell(f"{len(found.gaps)}: etcd, {what}: {ms:.0f} ms")
        answered = len(load.answers)
        until(lambda: load.check() and len(load.answers) > answered + 20, "some orders")
        ms, more = take_one_away(nodes, load, i % 3 == 2)
        found.took.append(ms)
        found.speakers += more
        tell(f"{i + 1}: takeover {ms:.0f} ms, {len(found.pauses)} moves")


def measure(options, folder, processes):
    engine = Etcd(folder, options.members)
    processes.append(engine)
    nodes = []
    for i in range(options.cluster):
        nodes.append(Node(options.build, folder, f"n{i + 1}", engine.endpoints))
        processes.append(nodes[-1])
    with nodes[0].connect() as admin:
        world = admin.world_create(name="kills", generator="random", width=SIDE, height=SIDE, seed=options.seed,
                                   blocked_permille=100, tick_hz=10)["world"]
        admin.team_create(world=world)
        cells = [random.Random(i).randrange(SIDE) for i in range(2 * options.agents)]
        agents = admin.agent_spawn(world=world, team=1, cells=cells, place="nearest")["agents"]
        admin.agent_order(world=world, agents=agents, kind="patrol", goal=[SIDE // 2, SIDE // 2])
    load = Load(",".join(f"127.0.0.1:{node.port}" for node in nodes), world, agents)
    found = Found()
    try:
        go_through(options, engine, nodes, load, found)
    except KeyboardInterrupt:
        until(lambda: owner_of(nodes, load.world), "an owner")
    except (RuntimeError, fogmarch.RequestError, fogmarch.ConnectionEnded, OSError) as error:
        found.failure = f"{type(error).__name__}: {error}"
        for node in nodes:
            print(f"---- {node.name}\n{node.log()}", file=sys.stderr)
    finally:
        load.stopping = True
    lost = twice = None  # not known
    try:
        lost, twice = load.finish()
    except (RuntimeError, fogmarch.RequestError, fogmarch.ConnectionEnded, OSError) as error:
        found.failure = found.failure or f"{type(error).__name__}: {error}"
    return {"nodes": options.cluster, "members": options.members, "kills": len(found.took),
            "moves": len(found.pauses), "moves_taken_over": found.turned, "engine_faults": len(found.gaps), "agents": options.agents,
            "seed": options.seed, **({"takeover_ms": figures(found.took)} if found.took else {}),
            **({"move_pause_ms": figures(found.pauses), "move_parts_ms":
                {part: figures([share[part] for share in found.shares]) for part in found.shares[0]}}
               if found.pauses else {}),
            **({"engine_gap_ms": figures(found.gaps)} if found.gaps else {}),
            "append_ms": append_ms(nodes), "commands": len(load.answers), "ticks_seen": len(load.digests),
            "lost_commands": lost, "carried_out_twice": twice, "digest_differences": len(load.differences),
            "two_speakers": found.speakers, **({"failure": found.failure} if found.failure else {})}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(HERE, "../build/release"))
    parser.add_argument("--cluster", type=int, default=3)
    parser.add_argument("--members", type=int, default=3, help="of etcd")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--moves", type=int, default=0)
    parser.add_argument("--engine-faults", type=int, default=0)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    options = parser.parse_args()
    if options.cluster < 2 or options.kills < 1:
        parser.error("two nodes and one kill at least")
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell has started it in the background
        signal.signal(number, signal.default_int_handler)
    processes = []
    with tempfile.TemporaryDirectory(prefix="fogmarch-kills-") as folder:
        try:
            said = measure(options, folder, processes)
        finally:
            for process in reversed(processes):
                process.end()
    if options.json:
        print(json.dumps(said))
    else:
        for name, value in said.items():
            print(f"{name:20} {value}")
    faults = ("lost_commands", "carried_out_twice", "digest_differences", "two_speakers", "failure")
    return 1 if any(said.get(name) for name in faults) else 0


if __name__ == "__main__":
    sys.exit(main())
