"""Six machines whose network and processes fail as a seed says, while worlds move between them.

Goal    whatever fails, and in whichever order: each answered command is in the world once, no tick has two digests,
        each order ends once, epochs in the log rise, and each node's journals replay to the digests that they hold.
Method  three nodes and three members of etcd, each on a machine of its own (machines.py), under the load of match.py.
        Nodes are killed, or stopped beyond their lease; members are killed or stopped; each pair of machines can be
        parted, clients and nodes too; etcd's database is full. Between the faults, and during them, worlds move.
        FOGMARCH_FAULTS says how many faults there are: a few in tests/run, any number by hand.
"""

import glob
import os
import random
import signal
import subprocess
import time

import cluster
import machines
from cluster import Etcd, Follower, Node, RequestError, fill, make_room, until
from fogmarch_server import run, seed
from match import Match, by_name, close_all, epochs_rise, owner_of

cluster.skip_without_etcd()
if not machines.is_possible():
    print("[ SKIPPED  ] this system allows no network namespaces")
    raise SystemExit(77)
machines.enter()

FAULTS = int(os.environ.get("FOGMARCH_FAULTS", "8"))
TOKEN = "the-token-of-these-machines"
QUOTA = 16 << 20
LEASE_S = 2.0


class Trouble:
    """What can fail, and how it is repaired."""

    def __init__(self, source, client, etcd, nodes, match):
        self.source, self.client, self.etcd, self.nodes, self.match = source, client, etcd, nodes, match
        self.kinds = [self.node_is_killed, self.node_is_stopped, self.members_are_killed, self.member_is_stopped,
                      self.machines_are_parted, self.machines_are_parted, self.node_is_parted_from_etcd,
                      self.clients_are_parted, self.etcd_is_full]
        self.order = []  # all kinds come, in another order each time
        self.moves = 0

    def happen(self):
        """Draws a fault, lets it last, repairs it, and waits until the world goes on."""
        if not self.order:
            self.order = self.source.sample(self.kinds, len(self.kinds))
        what = self.order.pop()()
        print(f"             {what}, {len(self.match.answers)} commands", flush=True)
        until(self.etcd_is_well, lambda: f"etcd to be well\n{self.etcd.log()}")
        self.match.goes_on()

    def etcd_is_well(self):
        """Does what operators do: a member that catches up may be full later than the others."""
        try:
            if self.etcd.alarms():
                make_room(self.etcd)
            return all(self.etcd.is_up(member) for member in range(3))
        except OSError:
            return False

    def owner(self):
        return by_name(self.nodes, owner_of(self.etcd, self.match.world)[1])

    def last(self, least=0.1, most=3.0):
        """Lets a fault last. Somebody may want the world to move meanwhile."""
        end = time.monotonic() + self.source.uniform(least, most)
        if self.source.random() < 0.5:
            self.move(self.source.choice(self.nodes))
        time.sleep(max(0.0, end - time.monotonic()))

    def move(self, asked):
        """Asks a node, which may be cut off or not know better, to move the world."""
        try:
            with asked.connect(patience=1.0) as client:
                client.call("cluster.move", world=self.match.world)
                self.moves += 1
        except (RequestError, OSError, AssertionError):
            pass

    def node_is_killed(self):
        node = self.owner() if self.source.random() < 0.7 else self.source.choice(self.nodes)
        node.kill()
        self.last()
        node.start()
        return f"node {node.name} is killed"

    def node_is_stopped(self):
        node = self.owner()
        node.pause()
        self.last(LEASE_S, 2 * LEASE_S)
        node.wake()
        return f"node {node.name} is stopped"

    def members_are_killed(self):
        members = self.source.sample(range(3), self.source.choice([1, 1, 2, 3]))
        for member in members:
            self.etcd.kill(member)
        self.last()
        for member in members:
            self.etcd.start(member)
        return f"members {members} are killed"

    def member_is_stopped(self):
        member = self.source.randrange(3)
        cluster.pause(self.etcd.processes[member])
        self.last()
        self.etcd.processes[member].send_signal(signal.SIGCONT)
        return f"member {member} is stopped"

    def parted(self, pairs):
        for one, other in pairs:
            one.cut(other)
        self.last()
        for one, other in pairs:
            one.mend(other)
        return "parted: " + ", ".join(f"{one.number} and {other.number}" for one, other in pairs)

    def machines_are_parted(self):
        everything = [*self.etcd.machines, *(node.machine for node in self.nodes)]
        one, *others = self.source.sample(everything, len(everything))
        return self.parted([(one, other) for other in others[:self.source.choice([1, 1, 2, 5])]])

    def node_is_parted_from_etcd(self):
        return self.parted([(self.owner().machine, member) for member in self.etcd.machines])

    def clients_are_parted(self):
        """From the owner; clients wait or, when an operator moves the world, follow it."""
        return self.parted([(self.client, self.owner().machine)])

    def etcd_is_full(self):
        fill(self.etcd)
        self.last(0.1, 1.0)
        return "etcd is full"  # etcd_is_well() makes room


def each_order_ends_once(match):
    """All units stop: what is given so far has then ended, once each."""
    client = Follower(match.nodes, match.name)
    client.call("agent.order", kind="stop", agents=match.agents)

    def have_ended():
        stats = client.call("stats")["world"]
        return stats["orders_given"] == sum(stats["orders_ended"].values())
    until(have_ended, lambda: client.call("stats")["world"])
    client.close()


def journals_replay(nodes):
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    count = 0
    for node in nodes:
        for path in glob.glob(os.path.join(node.journals, "*.journal*")):
            if path.endswith(("-wal", "-shm", "-mark")):
                continue
            done = subprocess.run([program, "replay", "verify", path], capture_output=True, text=True,
                                  timeout=cluster.PATIENCE, check=False)
            assert done.returncode == 0, (path, done.stdout + done.stderr)
            count += 1
    return count


def machines_and_their_network_fail():
    source = random.Random(seed())
    client = machines.Machine(0)
    others = [machines.Machine(number) for number in range(1, 7)]
    with Etcd(3, "--quota-backend-bytes", str(QUOTA), machines=others[:3]) as etcd:
        nodes = [Node(etcd, name, "--keyframe-ticks", "60", "--allow-remote", "--allow-plaintext", machine=machine,
                      token=TOKEN, environment={"FOGMARCH_TOKEN": TOKEN}) for name, machine in zip("abc", others[3:])]
        try:
            match = Match(nodes, source)
            match.goes_on()
            trouble = Trouble(source, client, etcd, nodes, match)
            for _ in range(FAULTS):
                trouble.happen()
            match.finish()
            each_order_ends_once(match)
            epochs_rise(etcd, match.world)
            for node in nodes:
                node.end()
            print(f"             {trouble.moves} moves, epoch {owner_of(etcd, match.world)[0]}, "
                  f"{journals_replay(nodes)} journals replayed", flush=True)
        except BaseException:
            for node in nodes:
                print(f"---- node {node.name}, {node.machine.number}\n" + "\n".join(node.log().splitlines()[-60:]))
            print(etcd.log())
            raise
        finally:
            close_all(nodes)
            for machine in others:
                machine.close()


run([machines_and_their_network_fail])
