"""Exclusive cells as a client sees them: where agents are placed, that no two ever share a cell, that two
streams pass each other on a bridge, that idle agents of any size make way, speeds, and crowds around one goal.

Method  small worlds, all ticks by world.step; a view of everything is mirrored from keyframes and
        deltas and looked at after every tick.
"""

from fogmarch_server import Server, run
from mirror import Mirror

ROOM = b"type octile\nheight 5\nwidth 9\nmap\n.........\n....@....\n....@....\n....@....\n.........\n"


def bridge_map(bank_width, bank_height, length):
    """Two banks joined by a bridge three cells wide."""
    rows = []
    for y in range(bank_height):
        middle = "." if abs(y - bank_height // 2) <= 1 else "W"
        rows.append("." * bank_width + middle * length + "." * bank_width)
    head = f"type octile\nheight {bank_height}\nwidth {len(rows[0])}\nmap\n"
    return (head + "\n".join(rows) + "\n").encode()


class Stage:
    """A paused world with a mirror of everything."""

    def __init__(self, server, name, **options):
        self.client = server.connect()
        options = dict(dict(paused=True, occupancy="exclusive", omniscient=True), **options)
        self.world = self.client.call("world.create", name=name, **options)["world"]
        self.team = self.call("team.create")["team"]
        self.call("subscribe")
        self.mirror = Mirror()

    def call(self, method, **params):
        return self.client.call(method, world=self.world, **params)

    def refused(self, method, **params):
        return self.client.refused(method, world=self.world, **params)

    def spawn(self, *cells, **options):
        options = dict(dict(team=self.team), **options)
        return self.call("agent.spawn", cells=[n for cell in cells for n in cell],
                         **options)["agents"]

    def order(self, agents, goals):
        self.call("agent.order", agents=agents, kind="move",
                  goals=[n for goal in goals for n in goal])

    def step(self):
        before = self.cells()
        self.call("world.step")
        while self.client.notifications:
            self.mirror.apply(*self.client.notifications.pop(0))
        after = self.cells()
        assert len(set(after.values())) == len(after), "two agents share a cell"
        holder = {cell: agent for agent, cell in before.items()}
        for agent, cell in after.items():
            other = holder.get(cell)
            swapped = other is not None and other != agent and after.get(other) == before.get(agent)
            assert not swapped, f"{agent} and {other} have exchanged places"

    def cells(self):
        return {agent: look[1:3] for agent, look in self.mirror.agents.items()}

    def ended(self):
        return {agent: reason for _, agent, reason, _, _ in self.mirror.ended}

    def run(self, count, ticks_max):
        """Steps until the given number of orders have ended. Returns the number of ticks."""
        for tick in range(ticks_max):
            if len(self.mirror.ended) >= count:
                return tick
            self.step()
        raise AssertionError(f"{len(self.mirror.ended)} of {count} after {ticks_max} ticks")


def places():
    with Server() as server:
        client = server.connect()
        assert client.refused("world.create", name="x", generator="open", occupancy="two") == \
            "bad_value"
        stage = Stage(server, "w", map=ROOM)
        rules = stage.call("world.info")["rules"]
        assert rules["occupancy"] == "exclusive"
        first, = stage.spawn((0, 0))
        assert stage.refused("agent.spawn", team=1, cells=[1, 0, 0, 0]) == "occupied_cell"
        assert stage.refused("agent.spawn", team=1, cells=[1, 0, 2, 0, 1, 0]) == "occupied_cell"
        assert stage.refused("agent.spawn", team=1, cells=[4, 2], place="exact") == "blocked_cell"
        assert stage.refused("agent.spawn", team=1, cells=[4, 2], place="near") == "bad_value"
        assert stage.call("world.info")["agents"] == 1, "a refused command leaves no trace"
        stage.spawn(*[(0, 0)] * 8 + [(4, 2)], place="nearest")
        stage.step()
        cells = stage.cells()
        assert cells[first] == (0, 0)
        assert {(x, y) for x in range(3) for y in range(3)} <= set(cells.values())
        # A wall is put on three of them: they move beside it, each to a cell of its own.
        stage.call("terrain.set", set="blocked", rects=[0, 0, 3, 1])
        stage.step()
        assert all(y > 0 or x > 2 for x, y in stage.cells().values())
        # 42 free cells hold 42 agents and no more.
        left = 42 - 3 - len(cells)
        stage.spawn(*[(8, 4)] * left, place="nearest")
        assert stage.refused("agent.spawn", team=1, cells=[8, 4], place="nearest") == \
            "occupied_cell"


def head_on():
    with Server() as server:
        stage = Stage(server, "w", map=ROOM)
        agents = stage.spawn((0, 0), (8, 0))
        stage.order(agents, [(8, 0), (0, 0)])
        stage.run(2, 40)
        assert set(stage.ended().values()) == {0}, "both arrive"


def bridge():
    with Server() as server:
        bank, length, each = 16, 12, 60
        stage = Stage(server, "w", map=bridge_map(bank, 13, length))
        west = [(x, y) for x in range(bank) for y in range(13)][-each:]
        east = [(2 * bank + length - 1 - x, y) for x, y in west]
        agents = stage.spawn(*west + east)
        stage.order(agents, east + west)
        ticks = stage.run(2 * each, 600)
        assert set(stage.ended().values()) == {0}
        # Three agents a tick, both directions together, can pass the bridge's middle; the last must leave it.
        bound = (2 * each + 2) // 3 + length
        print(f"{each} each way over a bridge three cells wide: {ticks} ticks, at least {bound}")


def large_units_make_way():
    """An idle 2 x 2 unit in a corridor of its own width: one cell after the other passes it."""
    with Server() as server:
        # Like the bridge, four cells long and two wide.
        rows = ["." * 8 + ("." if y in (3, 4) else "W") * 4 + "." * 8 for y in range(8)]
        text = "type octile\nheight 8\nwidth 20\nmap\n" + "\n".join(rows) + "\n"
        stage = Stage(server, "w", map=text.encode(), classes="ground;tank:size=2,ground=1")
        large, = stage.spawn((9, 3), **{"class": "tank"})
        small = stage.spawn((0, 3), (0, 4), (1, 3))
        stage.order(small, [(19, 3), (19, 4), (18, 3)])

        def overlap():
            x, y = stage.cells()[large]
            return {(x + i % 2, y + i // 2) for i in range(4)} & \
                {tuple(stage.cells()[agent]) for agent in small}

        for _ in range(80):
            stage.step()
            assert not overlap()
        assert stage.ended() == {agent: 0 for agent in small}, "all arrive"
        assert stage.cells()[large] == (9, 3), "it has gone back"


def one_goal_for_all():
    with Server() as server:
        stage = Stage(server, "w", generator="open", width=32, height=32)
        agents = stage.spawn(*[(x, y) for x in range(5) for y in range(5)])
        stage.order(agents, [(20, 20)] * 25)
        stage.run(25, 200)
        reasons = list(stage.ended().values())
        assert reasons.count(0) == 1 and reasons.count(10) == 24, reasons
        assert all(abs(x - 20) <= 8 and abs(y - 20) <= 8 for x, y in stage.cells().values())


def speeds():
    with Server() as server:
        stage = Stage(server, "w", generator="open", width=64, height=8, tick_hz=10)
        assert stage.refused("agent.spawn", team=1, cells=[0, 0], speed=15) == "bad_value"
        assert stage.refused("agent.spawn", team=1, cells=[0, 0], speed=0) == "bad_field"
        whole, = stage.spawn((0, 0))
        fast, = stage.spawn((0, 2), speed=10)
        slow, = stage.spawn((0, 4), speed=2.5)
        stage.order([whole, fast, slow], [(60, 0), (60, 2), (60, 4)])
        for _ in range(40):
            stage.step()
        cells = stage.cells()
        assert cells[whole] == (40, 0) and cells[fast] == (40, 2)
        assert 10 <= cells[slow][0] <= 11, "a quarter of a cell a tick, and one at once"


def detours():
    with Server() as server:
        stage = Stage(server, "w", map=ROOM)
        agent, = stage.spawn((0, 0))
        order = dict(agents=[agent], kind="move", goal=[8, 0], on_unreachable="fail")
        assert stage.refused("agent.order", **dict(order, kind="hold", max_detour=200)) == \
            "bad_value"
        assert stage.refused("agent.order", **dict(order, max_detour=99)) == "bad_field"
        stage.call("agent.order", **dict(order, max_detour=110))
        stage.step()
        stage.call("terrain.set", set="blocked", cells=[4, 0])  # now the path leads around below
        stage.run(1, 5)
        assert set(stage.ended().values()) == {2}, "unreachable"
        stage.call("agent.order", **dict(order, max_detour=1000))
        stage.run(2, 40)
        assert stage.cells()[agent] == (8, 0)


run([places, head_on, bridge, large_units_make_way, one_goal_for_all, speeds, detours])
