"""A player never learns what its team cannot see: over the wire.

Goal    two servers whose worlds differ only out of a player's sight send that player the same bytes.
Method  both get the same random commands; in a part of the map that the player's team cannot see, each
        server has walls, agents, orders and buildings of its own. Everything that the player receives
        is compared byte by byte: keyframes, deltas, results and errors. Ticks go by world.step, with a
        budget that no search uses up. (tests/server/streams/test_sight.c does the same inside the
        server, much more often.)
"""

import random
import re

from fogmarch_server import Client, RequestError, Server, run, seed

OPEN, WALL, WIDTH, HEIGHT, SENSE = 24, 12, 48, 20, 4
ROUNDS = 60


class Recorder(Client):
    """A client that keeps every byte that it receives."""

    def __init__(self, port):
        super().__init__(port)
        self.bytes = b""
        self.plain = self.socket
        self.socket = self

    def recv(self, size):
        data = self.plain.recv(size)
        self.bytes += data
        return data

    def sendall(self, data):
        self.plain.sendall(data)


def make_map(shared, hidden):
    rows = []
    for y in range(HEIGHT):
        row = ""
        for x in range(WIDTH):
            if x < OPEN:
                row += "@" if shared.random() < 0.15 else "."
            elif x < OPEN + SENSE + 1 or OPEN + WALL - SENSE - 1 <= x < OPEN + WALL:
                row += "@"
            else:
                row += "@" if hidden.random() < 0.3 else "."
        rows.append(row)
    text = f"type octile\nheight {HEIGHT}\nwidth {WIDTH}\nmap\n" + "\n".join(rows) + "\n"
    return text.encode()


class Twin:
    """One of the two servers, with its admin and its player."""

    def __init__(self, shared_seed, hidden_seed, occupancy):
        self.hidden = random.Random(hidden_seed)
        self.server = Server("--workers", "1")
        self.server.__enter__()
        self.admin = self.server.connect()
        grid = make_map(random.Random(shared_seed), self.hidden)
        self.world = self.admin.call("world.create", name="w", map=grid, paused=True, tick_hz=1,
                                     budget_ms=10000, sense_radius=SENSE,
                                     occupancy=occupancy, players_build=6)["world"]
        for _ in range(3):
            self.admin.call("team.create", world=self.world)
        token = self.admin.call("token.create", role="player", world=self.world, team=1)["token"]
        self.player = Recorder(self.server.port)
        self.ask("hello", protocol=1, token=token)
        self.enemies, self.strangers, self.building = [], [], None

    def try_to(self, method, **params):
        """Sends an admin's request, which may be refused."""
        try:
            return self.admin.call(method, world=self.world, **params)
        except RequestError as error:
            return error.name

    def ask(self, method, **params):
        try:
            return self.player.call(method, **params)
        except RequestError as error:
            return error.name

    def hide_something(self):
        cell = [self.hidden.randrange(OPEN + WALL, WIDTH), self.hidden.randrange(HEIGHT)]
        what = self.hidden.randrange(5)
        if what == 0:
            result = self.try_to("agent.spawn", team=3, cells=cell)
            self.strangers += result["agents"] if isinstance(result, dict) else []
        elif what == 1 and self.strangers:
            self.try_to("agent.order", agents=self.strangers, kind="move", goal=cell)
        elif what == 2 and self.strangers:
            self.try_to("agent.remove", agents=[self.strangers.pop()])
        elif what == 3:
            self.try_to("terrain.set", set=self.hidden.choice(["blocked", "free"]), cells=cell)
        elif what == 4 and self.building is None:
            result = self.try_to("building.place", team=3, rect=cell + [1, 1])
            self.building = result["building"] if isinstance(result, dict) else None
        elif what == 4:
            self.try_to("building.remove", building=self.building)
            self.building = None


def both(twins, action):
    results = [action(twin) for twin in twins]
    return results


def spawn(twin, team, cell):
    result = twin.try_to("agent.spawn", team=team, cells=cell)
    if team == 2 and isinstance(result, dict):
        twin.enemies += result["agents"]


def compare(twins):
    # The numbers of streams and of the session are random and reveal nothing; nor does the resume token,
    # which is made with the server's own key.
    drawn = re.compile(rb"(\xa6stream|\xa7session)\xcf.{8}|(\xa6resume)\xd9\x6e[A-Za-z0-9_-]{110}", re.DOTALL)
    a, b = (drawn.sub(rb"\1\2", bytes(twin.player.bytes)) for twin in twins)
    if a != b:
        place = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        start = max(0, place - 200)
        raise AssertionError(f"byte {place} of {len(a)} and {len(b)} differs:\n"
                             f"{a[start:place + 60]}\n{b[start:place + 60]}")
    return len(a)


def open_cell(source):
    return [source.randrange(OPEN), source.randrange(HEIGHT)]


def any_cell(source):
    return [source.randrange(WIDTH), source.randrange(HEIGHT)]


def act_as_player(twins, source, names):
    world = twins[0].world
    agents = [source.choice(names) for _ in range(source.randrange(1, 4))]
    kind = source.choice(["move", "move", "move", "stop", "patrol", "hold", "follow", "guard",
                          "explore", "flee", "keep_distance", "scatter"])
    order = dict(world=world, agents=agents, kind=kind,
                 on_unreachable=source.choice(["nearest", "fail", "wait"]))
    if kind == "move":
        order["goal"] = any_cell(source)
    elif kind == "patrol":
        order["goals"] = any_cell(source) + any_cell(source)
    elif kind in ("follow", "guard") or kind == "keep_distance" and source.randrange(2):
        order["target"] = source.choice(names)
    a, b = any_cell(source), any_cell(source)
    requests = [
        ("agent.order", order), ("agent.order", order),
        ("path.query", {"world": world, "from": a, "to": b}),
        ("path.distance", {"world": world, "from": a, "to": b}),
        ("path.reachable", {"world": world, "from": a, "to": b}),
        ("path.nearest", {"world": world, "from": a, "goals": b + any_cell(source)}),
        ("path.field", {"world": world, "goal": a, "rect": [0, 0, WIDTH, HEIGHT]}),
        ("path.query", {"world": world, "team": source.choice([2, 3, 4]), "from": a, "to": b}),
        ("world.info", {"world": source.choice([world, world + 1])}),
        ("world.list", {}),
        ("stats", {"world": world}),
        ("debug.inspect", {"world": world, "agent": source.choice(names)}),
        ("agent.remove", {"world": world, "agents": agents}),
        ("building.place", {"world": world, "rect": a + [source.randrange(1, 4), 1]}),
        ("building.place", {"world": world, "rect": open_cell(source) + [1, 1]}),
        ("building.place", {"world": world, "rect": open_cell(source) + [1, 1]}),
        ("building.remove", {"world": world, "building": source.randrange(1, 12)}),
        ("subscribe", {"world": world, "team": source.choice([2, 3, 4])}),
    ]
    method, params = source.choice(requests)
    results = both(twins, lambda twin: twin.ask(method, **params))
    assert results[0] == results[1], (method, params, results)


def act(twins, source, names):
    what = source.randrange(10)
    cell, team = open_cell(source), source.choice([1, 2])
    if what == 0:
        both(twins, lambda twin: spawn(twin, team, cell))
    elif what == 1:
        both(twins, lambda twin: twin.enemies and twin.try_to(
            "agent.order", agents=twin.enemies, kind="move", goal=cell))
    elif what == 2:
        change = source.choice(["blocked", "free"])
        both(twins, lambda twin: twin.try_to("terrain.set", set=change, cells=cell))
    else:
        act_as_player(twins, source, names)


def names_in(notifications):
    names = [1, 3, 5, 2, 4, 99, 2**33 + 1]
    for _, params in notifications[-20:]:
        for key, size in (("agents", 5), ("enter", 5), ("moved", 4)):
            names += params.get(key, [])[::size]
    return names


def twins_look_the_same():
    first = seed()
    for number, occupancy in enumerate(("none", "exclusive")):
        source = random.Random(first + number)
        twins = [Twin(first, first + 10 + number, occupancy),
                 Twin(first, first + 20 + number, occupancy)]
        try:
            for _ in range(10):
                cell, team = open_cell(source), source.choice([1, 1, 2])
                both(twins, lambda twin: spawn(twin, team, cell))
            both(twins, lambda twin: twin.ask("subscribe", world=twin.world, sight=True))
            both(twins, lambda twin: twin.ask("subscribe", world=twin.world, rect=[2, 2, 9, 9]))
            size = 0
            for _ in range(ROUNDS):
                for twin in twins:
                    for _ in range(twin.hidden.randrange(4)):
                        twin.hide_something()
                names = names_in(twins[0].player.notifications)
                for _ in range(source.randrange(5)):
                    act(twins, source, names)
                if source.random() < 0.3:
                    rect = [source.randrange(WIDTH - 9), source.randrange(HEIGHT - 9), 9, 9]
                    both(twins, lambda twin: twin.ask("subscription.move", subscription=2,
                                                      rect=rect))
                both(twins, lambda twin: twin.try_to("world.step", ticks=1))
                both(twins, lambda twin: twin.ask("world.info", world=twin.world))
                size = compare(twins)
            assert size > 20000, size
            strangers = [twin.admin.call("stats", world=twin.world)["world"] for twin in twins]
            assert strangers[0]["agents"] != strangers[1]["agents"] or \
                strangers[0]["orders_given"] != strangers[1]["orders_given"], "twins are equal"
        finally:
            for twin in twins:
                twin.server.__exit__(None, None, None)


run([twins_look_the_same])
