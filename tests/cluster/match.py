"""A world under load for tests of a cluster, what its clients were told, and what etcd and the nodes say about it."""

import random
import threading
import time

from cluster import Follower, until

AGENTS = 40


class Match:
    """A world under load, and what its clients were told."""

    def __init__(self, nodes, source, name="arena"):
        self.nodes, self.source, self.name = nodes, source, name
        admin = nodes[0].connect()
        self.world = admin.call("world.create", name=name, generator="random", width=64, height=64,
                                seed=7, blocked_permille=100, tick_hz=20)["world"]
        admin.call("team.create", world=self.world)
        cells = [source.randrange(64) for _ in range(2 * AGENTS)]
        self.agents = admin.call("agent.spawn", world=self.world, team=1, cells=cells,
                                 place="nearest")["agents"]
        admin.close()
        self.digests = {}  # by tick
        self.answers = {}  # by command_id
        self.errors = []
        self.longest = 0.0
        self.stopping = False
        # daemon: a test that fails does not wait for them; they would look for their world for a minute.
        self.threads = [threading.Thread(target=self._guard, args=(work,), daemon=True)
                        for work in (self._order, self._look)]
        for thread in self.threads:
            thread.start()

    def _guard(self, work):
        try:
            work(Follower(self.nodes, self.name))
        except Exception as error:  # reported by finish()
            self.errors.append(error)

    def order(self, number):
        """The parameters of the command with this id: the same for every call."""
        source = random.Random(number)
        return dict(kind="move", agents=[source.choice(self.agents)],
                    goal=[source.randrange(64), source.randrange(64)], command_id=number)

    def _order(self, client):
        number = 1
        while not self.stopping:
            self.answers[number] = client.call("agent.order", **self.order(number))
            number += 1
        self.longest = client.longest

    def _look(self, client):
        while not self.stopping:
            info = client.call("world.info")
            seen = self.digests.setdefault(info["tick"], info["digest"])
            assert seen == info["digest"], f"tick {info['tick']} has two digests"
            time.sleep(0.005)

    def tick(self):
        return max(self.digests, default=0)

    def goes_on(self):
        """Waits until the world has ticked and orders have been answered."""
        tick, answered = self.tick(), len(self.answers)
        until(lambda: (self.tick() > tick + 3 and len(self.answers) > answered + 3) or self.errors,
              lambda: f"the world to go on behind tick {tick}")
        assert not self.errors, self.errors

    def finish(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        assert not self.errors, self.errors
        print(f"             longest call {self.longest:.1f} s, {len(self.answers)} commands, "
              f"{len(self.digests)} ticks seen", flush=True)
        client = Follower(self.nodes, self.name)
        info, stats = client.call("world.info"), client.call("stats")["world"]
        # Each order goes to one agent, so this counts commands: one too many was carried out twice, a
        # missing one was lost.
        assert stats["orders_given"] == len(self.answers), (stats["orders_given"],
                                                            len(self.answers))
        for number in list(self.answers)[-200:]:
            assert client.call("agent.order", **self.order(number)) == self.answers[number]
        assert client.call("stats")["world"]["orders_given"] == len(self.answers)
        assert info["tick"] >= self.tick(), "ticks that somebody has seen are lost"
        client.close()
        return info


def owner_of(etcd, world):
    epoch, node, _ = etcd.range(f"/fogmarch/test/owner/{world:016x}")[
        f"/fogmarch/test/owner/{world:016x}"].decode().split()
    return int(epoch), node


def epochs_rise(etcd, world):
    """Epochs in the log rise with the position, and no record is missing between the first and the last."""
    log = etcd.range(f"/fogmarch/test/log/{world:016x}/")
    epochs = [int.from_bytes(log[key][2:10], "little") for key in sorted(log)]
    assert epochs == sorted(epochs), epochs
    positions = [int(key.rsplit("/", 1)[1], 16) for key in sorted(log)]
    assert positions == list(range(positions[0], positions[0] + len(positions)))


def close_all(nodes):
    logs = [node.close() for node in nodes]
    for node, log in zip(nodes, logs):
        if node.hung or node.process.returncode not in (0, -9) or "Sanitizer" in log:
            print(log)
            raise AssertionError(f"node {node.name} " + ("did not end" if node.hung else
                                                         f"ended with {node.process.returncode}"))


def by_name(nodes, name):
    return next(node for node in nodes if node.name == name)
