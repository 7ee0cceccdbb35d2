"""Subscriptions: keyframes and deltas.

Goal    whatever a client subscribed to (everything or a team, a rectangle or the whole map, every
        tick or every few, read at once or much later), what it has put together from a keyframe and
        deltas is exactly what a fresh keyframe shows; every order ends exactly once; a client that
        does not read neither makes the server grow nor holds up anybody else.
Method  random orders, edits, spawns and removals in stepped worlds, with a printed seed.
"""

import random
import time

from fogmarch_server import Server, run, seed
from mirror import Mirror

MEGABYTE = 1 << 20


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
    """A client with one subscription and what it holds of it."""

    def __init__(self, server, world, receive_buffer=None, **params):
        self.client = server.connect(receive_buffer=receive_buffer)
        self.params = dict(world=world, **params)
        self.subscription = self.client.call("subscribe", **self.params)["subscription"]
        self.mirror = Mirror()

    def take_all(self):
        """Applies everything that was sent so far."""
        self.client.call("ping")
        for name, params in self.client.notifications:
            assert params["subscription"] == self.subscription
            self.mirror.apply(name, params)
        self.client.notifications.clear()

    def check(self):
        """Compares with a fresh keyframe. Who was behind gets what was held back as it reads."""
        asker = self.client
        fresh = asker.call("subscribe", **self.params)["subscription"]
        expected = Mirror()
        end = time.monotonic() + 30
        while True:
            asker.call("ping")
            for name, params in asker.notifications:
                target = expected if params["subscription"] == fresh else self.mirror
                target.apply(name, params)
            asker.notifications.clear()
            if expected.tick is not None and self.mirror.state() == expected.state():
                break
            assert time.monotonic() < end, self.difference(expected)
            time.sleep(0.02)
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


def deltas_add_up():
    source = random.Random(seed())
    for rules in (dict(sense_radius=3), dict(sense_radius=4, line_of_sight=True),
                  dict(neighbours=4, sense_radius=2), dict(omniscient=True)):
        with Server() as server:
            play = Play(server, source, 40, 3, **rules)
            play.spawn(30)
            watchers = []
            for _ in range(60):
                if len(watchers) < 12 and source.random() < 0.4:
                    params = {}
                    if source.random() < 0.6:
                        params["team"] = source.choice(play.teams)
                    if source.random() < 0.5:
                        params["rect"] = play.rect()
                    if source.random() < 0.3:
                        params["every"] = source.randrange(2, 6)
                    watchers.append(Watcher(server, play.world, **params))
                for _ in range(source.randrange(3)):
                    play.act()
                play.step(source.randrange(1, 4))
                for watcher in source.sample(watchers, len(watchers) // 2):
                    watcher.take_all()
                if watchers and source.random() < 0.3:
                    source.choice(watchers).check()
            for watcher in watchers:
                watcher.check()


def slow_readers_catch_up():
    source = random.Random(seed())
    with Server("--session-unsent-max", "65536") as server:
        play = Play(server, source, 96, 2, sense_radius=3)
        for _ in range(60):
            play.spawn(50)
        rect = [10, 0, 50, 60]
        slow = [Watcher(server, play.world, receive_buffer=4096, **params) for params in
                (dict(), dict(team=play.teams[0]), dict(rect=rect), dict(rect=rect, every=3))]
        quick = Watcher(server, play.world)
        rounds = 0
        while rounds < 4 or not play.client.call("stats")["server"]["deltas_merged"]:
            rounds += 1
            assert rounds < 40, "nobody was slow"
            play.order(len(play.agents))
            for _ in range(30):
                play.step()
                quick.take_all()
                play.remove(2)
                play.edit()
        for watcher in slow + [quick]:
            watcher.check()
        assert quick.mirror.keyframes == 1
        assert slow[0].mirror.deltas < quick.mirror.deltas

        # As far as the server remembers, orders end once for slow readers, too.
        everything = quick.mirror.ended
        assert len(everything) == len({ended[0] for ended in everything}) > 0
        assert sorted(slow[0].mirror.ended) == sorted(everything)


def late_joiners_see_the_same():
    """While a world moves: who comes later ends with the mirror of who was there from the beginning."""
    source = random.Random(seed())
    with Server() as server:
        play = Play(server, source, 64, 2, sense_radius=4, tick_hz=100, budget_ms=5)
        for _ in range(4):
            play.spawn(40)
        rect = play.rect()
        views = (dict(), dict(team=play.teams[0]), dict(team=play.teams[1], rect=rect), dict(rect=rect))
        first = [Watcher(server, play.world, **params) for params in views]
        play.client.call("world.resume", world=play.world)
        late = []
        for _ in range(6):
            play.order(60)
            play.remove(2)
            play.edit()
            play.spawn(5)
            late += [Watcher(server, play.world, **params) for params in views]
            seen = late[-1].client.notification("keyframe")
            late[-1].mirror.apply(*seen)
            assert seen[1]["tick"] >= 0 and late[-1].mirror.keyframes == 1
            deadline = time.monotonic() + 30
            tick = play.client.call("world.info", world=play.world)["tick"]
            while play.client.call("world.info", world=play.world)["tick"] < tick + 8:
                assert time.monotonic() < deadline
        play.client.call("world.pause", world=play.world)
        last = play.client.call("world.info", world=play.world)["tick"]
        for watcher in first + late:
            while watcher.mirror.tick is None or watcher.mirror.tick < last:
                watcher.mirror.apply(*watcher.client.notification("keyframe", "delta"))
            there = first[views.index({key: watcher.params[key] for key in watcher.params if key != "world"})]
            assert watcher.mirror.keyframes == 1, "a keyframe in the middle"
            assert watcher.mirror.state() == there.mirror.state(), watcher.difference(there.mirror)


def every_order_ends_once():
    source = random.Random(seed())
    with Server() as server:
        play = Play(server, source, 48, 2, sense_radius=4)
        watcher = Watcher(server, play.world)
        teams = [Watcher(server, play.world, team=team, rect=[0, 0, 1, 1]) for team in play.teams]
        for _ in range(60):
            play.act()
            play.step(2)
            watcher.take_all()
        play.client.call("agent.order", world=play.world, kind="stop", agents=play.agents)
        play.step()
        ended = []
        for one in [watcher] + teams:
            one.take_all()
            ended.append(sorted(entry[0] for entry in one.mirror.ended))
        assert ended[0] == sorted(play.orders)
        assert sorted(ended[1] + ended[2]) == ended[0], "a team hears of its own orders only"


def late_joiners_and_leavers():
    source = random.Random(seed())
    with Server() as server:
        play = Play(server, source, 32, 2)
        play.spawn(20)
        for _ in range(15):
            watchers = [Watcher(server, play.world, team=source.choice(play.teams + [0]))
                        for _ in range(3)]
            play.order(20)
            play.step(2)
            watchers[0].check()
            watchers[1].client.call("unsubscribe", subscription=watchers[1].subscription)
            watchers[2].check()
            for watcher in watchers:
                watcher.client.close()


def a_reader_that_never_reads():
    with Server("--slow-reader-timeout-s", "3600") as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="open", width=256, height=256,
                           tick_hz=20, budget_ms=20, paused=True)["world"]
        team = admin.call("team.create", world=world)["team"]
        cells = sum(([i % 250, i // 250] for i in range(5000)), [])
        agents = admin.call("agent.spawn", world=world, team=team, cells=cells)["agents"]

        def send_all(there):
            admin.call("agent.order", world=world, kind="move", agents=agents,
                       goal=[255, 255] if there else [0, 255])

        send_all(True)
        admin.call("world.resume", world=world)
        quick = Watcher(server, world)
        stuck = [Watcher(server, world, receive_buffer=4096) for _ in range(8)]
        quick.take_all()
        start, ticks, rss = quick.mirror.tick, [], None
        while len(ticks) < 150:
            name, params = quick.client.notification("delta")
            ticks.append(params["tick"])
            quick.mirror.apply(name, params)
            if len(ticks) % 25 == 0:  # nobody ever arrives
                send_all(len(ticks) % 50 == 0)
            if len(ticks) == 50:
                rss = server.rss()
        # A tick in which all wait for a new search is quiet, and tells nothing.
        assert ticks == sorted(set(ticks)) and ticks[-1] - start < 200, "ticks were merged"
        assert quick.mirror.keyframes == 1
        if server.memory_tells():
            assert server.rss() < rss + 24 * MEGABYTE, (rss, server.rss())
        assert admin.call("stats")["server"]["deltas_merged"] > 0
        admin.call("world.pause", world=world)
        for watcher in stuck:
            watcher.check()


def slow_readers_are_hung_up_on():
    with Server("--slow-reader-timeout-s", "0.5", "--session-unsent-max", "65536") as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="random", width=1024, height=1024,
                           paused=True)["world"]
        mute = server.connect(receive_buffer=4096)
        mute.send("subscribe", world=world)  # a keyframe of about a megabyte
        end = time.monotonic() + 30
        while "slow reader" not in server.log():
            assert time.monotonic() < end
            admin.call("ping")
            time.sleep(0.05)
        assert admin.call("stats")["server"]["sessions"] == 1


def quiet_worlds_owe_nothing():
    """A client that wants a delta every 1000 ticks gets the last one although nothing more happens."""
    with Server() as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="open", width=16, height=16,
                           paused=True)["world"]
        watcher = Watcher(server, world, every=1000)
        admin.call("terrain.set", world=world, set="blocked", cells=[3, 3])
        admin.call("world.step", world=world)
        name, params = watcher.client.notification("delta")
        watcher.mirror.apply("keyframe", dict(tick=0, rect=[0, 0, 16, 16], cells=[256, 1],
                                              agents=[]))
        watcher.mirror.apply(name, params)
        watcher.check()


run([deltas_add_up, slow_readers_catch_up, late_joiners_see_the_same, every_order_ends_once, late_joiners_and_leavers,
     a_reader_that_never_reads, slow_readers_are_hung_up_on, quiet_worlds_owe_nothing])
