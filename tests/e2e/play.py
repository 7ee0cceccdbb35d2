"""A small world that is kept busy at random, and clients with views of it."""

from fogmarch_server import until
from mirror import Mirror


class Play:
    """A small world that is kept busy at random."""

    def __init__(self, server, source, side, teams, **rules):
        self.client = server.connect()
        self.source = source
        self.side = side
        self.world = self.client.call(
            "world.create", name="play", generator="random", blocked_permille=200, width=side,
            height=side, seed=source.randrange(2**32), paused=True, **rules)["world"]
        self.teams = [self.client.call("team.create", world=self.world)["team"]
                      for _ in range(teams)]
        self.client.call("terrain.set", world=self.world, set="free", rects=[0, 0, side, 2])
        self.agents = []
        self.orders = []

    def cell(self):
        return [self.source.randrange(self.side), self.source.randrange(self.side)]

    def spawn(self, count):
        cells = []
        for _ in range(count):  # the two rows at the top are never blocked
            cells += [self.source.randrange(self.side), self.source.randrange(2)]
        self.agents += self.client.call("agent.spawn", world=self.world,
                                        team=self.source.choice(self.teams),
                                        cells=cells)["agents"]

    def order(self, count):
        chosen = self.source.sample(self.agents, min(count, len(self.agents)))
        if not chosen:
            return
        goals = sum((self.cell() for _ in chosen), [])
        answer = self.client.call("agent.order", world=self.world, kind="move", agents=chosen,
                                  goals=goals,
                                  on_unreachable=self.source.choice(["nearest", "fail", "wait"]))
        self.orders += range(answer["order"], answer["order"] + len(chosen))

    def remove(self, count):
        chosen = self.source.sample(self.agents, min(count, len(self.agents)))
        if chosen:
            self.client.call("agent.remove", world=self.world, agents=chosen)
            self.agents = [agent for agent in self.agents if agent not in set(chosen)]

    def edit(self):
        x, y = self.cell()
        width = self.source.randrange(1, min(8, self.side - x) + 1)
        height = self.source.randrange(1, min(8, self.side - y) + 1)
        y = max(y, 2)
        height = min(height, self.side - y)
        kind = self.source.choice(["blocked", "free", "cost"])
        params = {"cost": self.source.randrange(1, 251)} if kind == "cost" else {}
        if height > 0:
            self.client.call("terrain.set", world=self.world, set=kind,
                             rects=[x, y, width, height], **params)

    def act(self):
        self.source.choice([lambda: self.spawn(self.source.randrange(1, 20)),
                            lambda: self.order(self.source.randrange(1, 60)),
                            lambda: self.order(self.source.randrange(1, 60)),
                            lambda: self.remove(self.source.randrange(1, 8)),
                            self.edit])()

    def step(self, ticks=1):
        return self.client.call("world.step", world=self.world, ticks=ticks)["tick"]

    def rect(self):
        x, y = self.cell()
        return [x, y, self.source.randrange(1, self.side - x + 1),
                self.source.randrange(1, self.side - y + 1)]


class Watcher:
    """A client with one subscription and its mirror. Every other client reads dense deltas."""

    count = 0

    def __init__(self, server, world, receive_buffer=None, token=None, **params):
        Watcher.count += 1
        self.client = server.connect(hello=token is None, receive_buffer=receive_buffer)
        if token is not None:
            self.client.call("hello", protocol=1, client="player", token=token)
        self.params = dict(world=world, encoding=("plain", "dense")[Watcher.count % 2])
        self.params.update(params)
        self.subscription = self.client.call("subscribe", **self.params)["subscription"]
        self.mirror = Mirror()

    def take_all(self):
        """Applies everything that the world has published so far."""
        self.client.hear_all(self.params["world"])
        for name, params in self.client.notifications:
            assert params["subscription"] == self.subscription
            self.mirror.apply(name, params)
        self.client.notifications.clear()

    def check(self):
        """Compares the mirror with a fresh keyframe. A client that was behind gets the rest as it reads."""
        asker = self.client
        fresh = asker.call("subscribe", **self.params)["subscription"]
        expected = Mirror()

        def is_the_same():
            asker.call("ping")
            for name, params in asker.notifications:
                target = expected if params["subscription"] == fresh else self.mirror
                target.apply(name, params)
            asker.notifications.clear()
            return expected.tick is not None and self.mirror.state() == expected.state()

        until(is_the_same, lambda: self.difference(expected))
        asker.call("unsubscribe", subscription=fresh)

    def difference(self, expected):
        mine, right = self.mirror, expected
        cells = [(cell, mine.looks.get(cell), look) for cell, look in right.looks.items()
                 if mine.looks.get(cell) != look]
        agents = [(agent, mine.agents.get(agent), right.agents.get(agent))
                  for agent in mine.agents.keys() | right.agents.keys()
                  if mine.agents.get(agent) != right.agents.get(agent)]
        return (f"{self.params} at tick {mine.tick}, fresh at {right.tick}: "
                f"cells {cells[:5]} of {len(cells)}, agents {agents[:5]} of {len(agents)}")
