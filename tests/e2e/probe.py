"""Programs that follow a view with a client library and print what it shows, for tests that compare it with the
bytes. A probe reads commands, one to a line, and answers each with a line of JSON."""

import json
import subprocess

from fogmarch_server import PATIENCE


def form_of(said):
    """Converts what a probe printed into the form of mirror.Mirror.state()."""
    assert said.get("agree"), ("the events do not tell what the view shows", said)
    x, y, width, height = said["rect"]
    looks = {(x + i % width, y + i // width): look for i, look in enumerate(said["looks"])}
    agents = {one[0]: tuple(one[1:5]) for one in said["agents"]}
    classes = {one[0]: one[5] for one in said["agents"] if one[5]}
    buildings = {one[0]: tuple(one[1:]) for one in said["buildings"]}
    motions = {one[0]: (one[1], one[2], tuple(one[3:])) for one in said.get("motions", ())}
    visible = [] if said.get("visible") is None else [{tuple(cell) for cell in said["visible"]}]
    tags = {one[0]: bytes(one[1]) for one in said.get("tags", ())}
    return (tuple(said["rect"]), looks, agents, classes, buildings, *visible, *([motions] if motions else []),
            *([tags] if tags else []))


def mark(client, world, agent, enemy, spot, tick):
    """Sets, changes and removes tags, and makes an agent stop for an enemy, each at a tick of its own."""
    if tick in (2, 5):
        client.call("agent.set", world=world, agents=[agent, enemy], tag=b"h" * tick, tag_shown=tick == 5)
    if tick == 8:
        client.call("agent.place", world=world, agents=[agent, enemy], cells=[*spot, spot[0] + 2, spot[1]],
                    place="nearest")
        client.call("agent.order", world=world, agents=[agent], kind="hold", alert=20)
    if tick == 15:
        client.call("agent.set", world=world, agents=[agent], tag=b"")


class Probe:
    def __init__(self, *command, **options):
        self.process = subprocess.Popen(list(map(str, command)), text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, **options)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the probe is gone"
        return json.loads(line)

    def shown(self, tick):
        """The probe's view at a tick, and its whole answer."""
        said = self.ask("until", tick)
        return form_of(said), said

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        assert self.process.returncode == 0 or error[0] is not None, self.process.returncode


def make_world(client, **options):
    """Makes a world with two teams. Returns its number, those of the teams, and their bases."""
    made = client.call("world.create", name="arena", generator="skirmish", width=96, height=96, players=2, seed=3,
                       **options)
    teams = [client.call("team.create", world=made["world"])["team"] for _ in range(2)]
    return made["world"], teams, [made["bases"][:2], made["bases"][2:4]]


def around(base, count):
    """Cells around a base."""
    return [place for i in range(count) for place in (base[0] - 2 + i % 5, base[1] - 2 + i // 5 % 5)]


def mirror_until(client, mirrors, tick):
    """Applies messages until all mirrors, a dictionary by subscription, have reached a tick."""
    while any(mirror.tick is None or mirror.tick < tick for mirror in mirrors.values()):
        name, params = client.notification("keyframe", "delta")
        mirrors[params["subscription"]].apply(name, params)
