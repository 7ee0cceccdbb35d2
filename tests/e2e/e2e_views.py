"""Views that move: rectangles that a client moves, and rectangles that follow an agent.

Goal    after any moves and ticks a client holds what a new subscription of the same rectangle
        shows; an agent leaves the view with the right reason; following keeps the agent in view.
Method  random walks of agents and rectangles, ticks by world.step, a mirror beside fresh keyframes.
"""

import random

from fogmarch_server import Server, run, seed, until
from mirror import Mirror

SIDE = 64


class View(Mirror):
    """A mirror with its subscription."""

    def __init__(self, client, **params):
        super().__init__()
        self.client, self.world = client, params["world"]
        self.number = client.call("subscribe", **params)["subscription"]
        self.reasons = []
        self.take()

    def hear(self, name, params):
        leave = params.get("leave", [])
        self.reasons += list(zip(leave[::2], leave[1::2]))
        self.apply(name, params)

    def hear_what_came(self):
        """Applies the messages of this view, and leaves those of other views in the queue."""
        waiting, self.client.notifications = self.client.notifications, []
        for name, params in waiting:
            if params.get("subscription") == self.number:
                self.hear(name, params)
            else:
                self.client.notifications.append((name, params))

    def take(self):
        """Waits for the first message."""
        while self.tick is None:
            assert self.client.take(), "the server disconnected"
            self.hear_what_came()

    def drain(self):
        """Applies everything that the world has published so far."""
        self.client.hear_all(self.world)
        self.hear_what_came()


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


def shows_what_is_there(view, client, **params):
    """Whether the view equals a fresh one. A client that gets every third tick gets there a little later."""
    view.drain()
    fresh = View(client, rect=list(view.rect), **params)
    client.call("unsubscribe", subscription=fresh.number)
    # No delta is sent if nothing in sight changed, so the view's tick may be older.
    return view.tick <= fresh.tick and fresh.state() == view.state()


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
            until(lambda: shows_what_is_there(view, client, world=world, team=team), "what a new view shows")
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
        # When its agent dies the view stays where it is; an agent that does not exist cannot be followed.
        view = View(player, world=world, follow=name)
        admin.call("agent.remove", world=world, agents=[ids[0][0]])
        admin.call("world.step", world=world, ticks=3)
        before = view.rect
        view.drain()
        assert view.rect == before and (name, 1) in view.reasons
        nobody = View(player, world=world, follow=2**40 + 1, rect=[9, 9, 4, 4])
        assert nobody.rect == (9, 9, 4, 4)


def following_out_of_sight():
    """A view follows an enemy as long as its team sees it, and reveals nothing afterwards."""
    with Server() as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="open", width=SIDE, height=SIDE,
                           paused=True, sense_radius=6)["world"]
        for _ in range(2):
            admin.call("team.create", world=world)
        own = admin.call("agent.spawn", world=world, team=1, cells=[10, 20])["agents"]
        enemy = admin.call("agent.spawn", world=world, team=2, cells=[14, 20])["agents"]
        seat = admin.call("token.create", role="player", world=world, team=1)["token"]
        admin.call("world.step", world=world)
        player = server.connect(hello=False)
        player.call("hello", protocol=1, token=seat)
        whole = View(player, world=world)
        name = [agent for agent, (team, *_) in whole.agents.items() if team == 2][0]
        view = View(player, world=world, follow=name, rect=[0, 0, 17, 17])

        def send(agents, goal, ticks):
            admin.call("agent.order", world=world, kind="move", agents=agents, goal=goal)
            for _ in range(ticks):
                admin.call("world.step", world=world)
                view.drain()
                whole.drain()

        send(own + enemy, [34, 20], 24)  # side by side
        stood, (_, x, y, *_) = view.rect, view.agents[name]
        assert stood[0] <= x < stood[0] + 17 and stood[1] <= y < stood[1] + 17 and stood[0] > 20
        send(enemy, [60, 50], 30)
        assert view.rect[:1] > stood[:1], "it was seen to go for a while"
        assert (name, 0) in view.reasons and name not in view.agents
        stood = view.rect
        send(enemy, [36, 24], 40)  # it comes back, but the team cannot know that it is the same one
        assert view.rect == stood, "the view went after an enemy that nobody saw"
        back = [agent for agent, (team, *_) in whole.agents.items() if team == 2]
        assert len(back) == 1 and back != [name]
        send(enemy, [34, 14], 12)
        assert view.rect == stood and name not in whole.agents


run([moving, refusals, following, following_out_of_sight])
