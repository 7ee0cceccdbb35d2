"""Views that move: rectangles that are put elsewhere, and rectangles that follow an agent.

Goal    after any moves and ticks a client holds what a new subscription of the same rectangle
        shows; whoever leaves does so with the right reason; following keeps the agent in view.
Method  random walks of agents and rectangles, ticks by world.step, a mirror beside fresh keyframes.
"""

import random
import time

from fogmarch_server import Server, run, seed
from mirror import Mirror

SIDE = 64


class View(Mirror):
    """A mirror with its subscription."""

    def __init__(self, client, **params):
        super().__init__()
        self.client = client
        self.number = client.call("subscribe", **params)["subscription"]
        self.reasons = []
        self.take("keyframe")

    def take(self, *names):
        while True:
            name, params = self.client.notification(*names)
            if params["subscription"] == self.number:
                leave = params.get("leave", [])
                self.reasons += list(zip(leave[::2], leave[1::2]))
                self.apply(name, params)
                return

    def drain(self):
        """Takes what has come until an answer does."""
        self.client.call("ping")
        waiting, self.client.notifications = self.client.notifications, []
        for name, params in waiting:
            if params.get("subscription") == self.number:
                leave = params.get("leave", [])
                self.reasons += list(zip(leave[::2], leave[1::2]))
                self.apply(name, params)


def make_world(client, source, agents=30):
    world = client.call("world.create", name="w", generator="open", width=SIDE, height=SIDE,
                        paused=True, sense_radius=6)["world"]
    for _ in range(2):
        client.call("team.create", world=world)
    ids = []
    for team in (1, 2):
        cells = [source.randrange(SIDE) for _ in range(2 * agents)]
        ids.append(client.call("agent.spawn", world=world, team=team, cells=cells)["agents"])
    return world, ids


def random_rect(source):
    width, height = source.randrange(1, 40), source.randrange(1, 40)
    return [source.randrange(SIDE - width + 1), source.randrange(SIDE - height + 1), width, height]


def moving():
    source = random.Random(seed())
    with Server() as server:
        admin = server.connect()
        world, ids = make_world(admin, source)
        seat = admin.call("token.create", role="player", world=world, team=1)["token"]
        for token, team in ((None, 0), (None, 1), (seat, 1)):
            client = server.connect(hello=False)
            client.call("hello", protocol=1, **({"token": token} if token else {}))
            view = View(client, world=world, team=team, rect=random_rect(source),
                        every=source.choice([1, 1, 3]))
            moves = 0
            for _ in range(60):
                if source.random() < 0.6:
                    view.rect_wanted = random_rect(source)
                    client.call("subscription.move", subscription=view.number,
                                rect=view.rect_wanted)
                    moves += 1
                for team_ids in ids:
                    admin.call("agent.order", world=world, kind="move",
                               agents=source.sample(team_ids, 5),
                               goal=[source.randrange(SIDE), source.randrange(SIDE)])
                admin.call("world.step", world=world, ticks=source.randrange(1, 4))
                if source.random() < 0.2:
                    admin.call("terrain.set", world=world,
                               set=source.choice(["blocked", "free"]),
                               rects=[source.randrange(60), source.randrange(60), 3, 3])
            admin.call("world.step", world=world, ticks=1)
            for _ in range(200):  # a client of every third tick is told a little later
                time.sleep(0.01)
                view.drain()
                fresh = View(client, world=world, team=team, rect=list(view.rect))
                client.call("unsubscribe", subscription=fresh.number)
                # Where nothing changed in sight there was no delta: the view's tick may be older.
                if view.tick <= fresh.tick and fresh.state() == view.state():
                    break
            else:
                raise AssertionError("the view is not what a new one shows")
            assert moves > 10 and view.rect == tuple(view.rect_wanted)
            assert any(reason == 2 for _, reason in view.reasons), "nobody was outside"
            if team == 1:
                assert any(reason == 0 for _, reason in view.reasons), "nobody was lost in fog"


def refusals():
    source = random.Random(seed())
    with Server() as server:
        client = server.connect()
        world, _ = make_world(client, source)
        view = View(client, world=world, rect=[0, 0, 8, 8])
        for rect in ([60, 0, 8, 8], [0, 0, 0, 8], [0, 0, 65, 1], [2**40, 0, 1, 1]):
            assert client.refused("subscription.move", subscription=view.number,
                                  rect=rect) == "off_grid"
        assert client.refused("subscription.move", subscription=99, rect=[0, 0, 1, 1]) == \
            "bad_value"
        client.call("subscription.move", subscription=view.number, rect=[0, 0, 8, 8])
        other = server.connect()
        assert other.refused("subscription.move", subscription=view.number,
                             rect=[0, 0, 1, 1]) == "bad_value"


def following():
    source = random.Random(seed())
    with Server() as server:
        admin = server.connect()
        world, ids = make_world(admin, source, agents=4)
        seat = admin.call("token.create", role="player", world=world, team=1)["token"]
        player = server.connect(hello=False)
        player.call("hello", protocol=1, token=seat)
        whole = View(player, world=world)
        name = [agent for agent, (team, *_) in whole.agents.items() if team == 1][0]
        player.call("unsubscribe", subscription=whole.number)
        for client, agent, follower in ((player, name, "player"), (admin, ids[0][0], "admin")):
            view = View(client, world=world, follow=agent,
                        **({"team": 1} if follower == "admin" else {}))
            assert view.rect[2:] == (33, 33)
            rects = set()
            for goal in ([60, 60], [3, 3], [60, 3]):
                client.call("agent.order", world=world, kind="move", agents=[agent], goal=goal)
                for _ in range(70):
                    admin.call("world.step", world=world)
                    view.drain()
                    assert agent in view.agents, "the agent is out of the view that follows it"
                    rects.add(view.rect)
            assert len(rects) > 5
            view.rect_before = view.rect
            client.call("subscription.move", subscription=view.number, rect=[0, 0, 5, 5])
            view.drain()
            assert view.rect == (0, 0, 5, 5)
        # An agent that dies leaves the view where it is; one that is not there is not followed.
        view = View(player, world=world, follow=name)
        admin.call("agent.remove", world=world, agents=[ids[0][0]])
        admin.call("world.step", world=world, ticks=3)
        before = view.rect
        view.drain()
        assert view.rect == before and (name, 1) in view.reasons
        nobody = View(player, world=world, follow=2**40 + 1, rect=[9, 9, 4, 4])
        assert nobody.rect == (9, 9, 4, 4)


run([moving, refusals, following])
