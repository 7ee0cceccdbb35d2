"""The clients of all libraries follow their world by themselves.

Goal    a node without the world redirects clients; when the world is moved, and when its node dies or
        is frozen, the libraries follow it, their views go on, and each answered command is carried out
        once. A frozen node keeps its connections: only silence tells.
        `fogmarch cluster` shows the nodes and moves a world.
Method  real nodes and real etcd. One follower for each library (follow_*, Follow.cs), all in one
        world, sends orders and watches, and knows nothing of the cluster. They connect to a node
        without the world; the world is moved there, and that node is killed, or stopped. The world's
        count of orders is the sum of their answers, and each view shows its agent where it is.
"""

import functools
import json
import os
import re
import signal
import subprocess
import tempfile

import cluster
from cluster import Etcd, Node, until
from fogmarch_server import PATIENCE, run
from libraries import invocation, programs

cluster.skip_without_etcd()

FOLDER = tempfile.TemporaryDirectory(prefix="fogmarch-follow-")


class Follower:
    """A follower's process. It prints `ready` after its first orders, and at the end what it saw."""

    def __init__(self, name, program, *arguments):
        self.name = name
        self.file = None
        command, environment = invocation(name, program, arguments, FOLDER.name)
        if name == "godot":  # which cannot read its input
            self.file = environment["FOLLOW_TICK"] = os.path.join(FOLDER.name, "tick")
            if os.path.exists(self.file):
                os.remove(self.file)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def line(self):
        said = []
        for text in self.process.stdout:
            if text.startswith("{"):
                return json.loads(text)
            said.append(text)  # Godot greets
        raise AssertionError(f"{self.name} ended with {self.process.wait(PATIENCE)}: {''.join(said)}")

    def finish(self, tick):
        """Tells it the tick at which the world is stopped. Returns what it prints."""
        if self.file is None:
            self.process.stdin.write(f"{tick}\n")
            self.process.stdin.flush()
        else:
            with open(self.file + ".new", "w") as file:
                file.write(str(tick))
            os.rename(self.file + ".new", self.file)
        said = self.line()
        assert self.process.wait(PATIENCE) == 0, self.name
        return said

    def close(self):
        self.process.kill()
        self.process.wait()


@functools.cache
def followers():
    """The name of each, and its program with the first arguments."""
    return programs("follow", FOLDER.name, c=os.environ["FOLLOW_C"])


def they_leave_a_node_that_dies():
    go_where_their_world_is(lambda node: node.kill())


def they_leave_a_node_that_is_silent():
    go_where_their_world_is(lambda node: cluster.pause(node.process))


def go_where_their_world_is(take_away):
    kinds = followers()
    with Etcd() as etcd:
        secrets = os.path.join(etcd.folder, "secrets")
        with open(secrets, "w") as file:
            file.write("a-secret-of-both-nodes\n")
        nodes = [Node(etcd, name, "--cluster-secret-file", secrets) for name in "ab"]
        running = []
        try:
            owner, other = nodes
            admin = owner.connect()
            world = admin.call("world.create", name="arena", generator="open", width=64, height=64,
                               tick_hz=20, omniscient=True)["world"]
            admin.call("team.create", world=world)
            agents = admin.call("agent.spawn", world=world, team=1, place="nearest",
                                cells=[30, 30] * len(kinds))["agents"]
            witness = other.connect()
            until(lambda: any(one["world"] == world for one in
                              witness.call("cluster.status")["worlds"]), "the directory")
            running = [Follower(name, command, f"127.0.0.1:{other.port}", str(world), str(agent))
                       for (name, command), agent in zip(kinds.items(), agents)]
            for follower in running:
                assert follower.line() == {"ready": True}
            status = command("cluster", "status", "--connect", f"127.0.0.1:{other.port}")
            assert "takes worlds, answers this" in status and "arena" in status and "running" in status, status
            assert re.search(rf"^{owner.name} +\S+ +\S+ +1 ", status, re.MULTILINE), status
            # By the command line, through the node that does not have the world.
            said = command("cluster", "move", "arena", owner.name, "--connect", f"127.0.0.1:{other.port}")
            assert said.endswith(f" is on node {owner.name} already.\n"), said
            command("cluster", "move", "arena", other.name, "--connect", f"127.0.0.1:{other.port}")
            for follower in running:
                assert follower.line() == {"moved": True}
            witness.close()
            take_away(other)
            owner, other = other, owner
            witness = other.connect()
            until(lambda: located(witness, world), "a takeover")
            for follower in running:
                assert follower.line() == {"done": True}
            witness.call("world.pause", world=world)
            tick = witness.call("world.info", world=world)["tick"]
            said = [follower.finish(tick) for follower in running]
            orders = witness.call("stats", world=world)["world"]["orders_given"]
            assert orders == sum(one["answers"] for one in said), (orders, said)
            for agent, one in zip(agents, said):
                assert one["address"] == f"127.0.0.1:{other.port}", one
                truth = witness.call("debug.inspect", world=world, agent=agent)["cell"]
                assert one["cell"] == truth, (one, truth)
        finally:
            for follower in running:
                follower.close()
            for node in nodes:
                if node.process.poll() is None:
                    node.process.send_signal(signal.SIGCONT)
                log = node.close()
                assert node.process.returncode in (0, -9) and "Sanitizer" not in log, log


def command(*words):
    """Runs `fogmarch`. Returns what it prints."""
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def located(client, world):
    try:
        place = client.call("world.locate", world=world)
        return place if place["here"] else None
    except cluster.RequestError:
        return None


run([they_leave_a_node_that_dies, they_leave_a_node_that_is_silent])
