"""Path queries: path.query, path.distance, path.reachable, path.nearest and path.field.

Every answer on random maps is compared with a Dijkstra search in Python, on the true map and on what
a team knows, while walls go up and down. Other cases cover wrong requests, and that a query is
answered for the tick at which it was sent, whatever edits follow it.
"""

import heapq
import random

from fogmarch_server import msgpack, REQUEST, RequestError, Server, run, seed, until

SIDE = 48
NONE = 2**30 - 1


def moves(free, x, y):
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if (dx or dy) and {(x + dx, y + dy), (x + dx, y), (x, y + dy)} <= free:
                yield (x + dx, y + dy), 14 if dx and dy else 10


def measure(free, start):
    """Cost of the path from a cell to every other."""
    costs, heap = {}, [(0, start)] if start in free else []
    while heap:
        cost, cell = heapq.heappop(heap)
        if cell not in costs:
            costs[cell] = cost
            for other, step in moves(free, *cell):
                heapq.heappush(heap, (cost + step, other))
    return costs


def octile(a, b):
    low, high = sorted((abs(a[0] - b[0]), abs(a[1] - b[1])))
    return 10 * (high - low) + 14 * low


def pairs_of(numbers):
    return [tuple(numbers[i:i + 2]) for i in range(0, len(numbers), 2)]


class World:
    """A random map, and a copy of it in Python."""

    def __init__(self, client, rng, **params):
        self.client, self.rng = client, rng
        walls = {(rng.randrange(SIDE), rng.randrange(SIDE)) for _ in range(SIDE * SIDE * 2 // 5)}
        rows = ["".join("@" if (x, y) in walls else "." for x in range(SIDE)) for y in range(SIDE)]
        self.free = {(x, y) for y in range(SIDE) for x in range(SIDE)} - walls
        map_file = f"type octile\nheight {SIDE}\nwidth {SIDE}\nmap\n" + "\n".join(rows) + "\n"
        self.number = client.call("world.create", name="w", map=map_file.encode(), paused=True,
                                  **params)["world"]

    def ask(self, method, **params):
        return self.client.call("path." + method, world=self.number, **params)

    def cell(self):
        return (self.rng.randrange(SIDE), self.rng.randrange(SIDE))

    def free_cell(self):
        return self.rng.choice(sorted(self.free))

    def edit(self):
        cells = [self.cell() for _ in range(6)]
        blocked = self.rng.random() < 0.5
        self.client.call("terrain.set", world=self.number, set="blocked" if blocked else "free",
                         cells=[number for cell in cells for number in cell])
        self.free = self.free - set(cells) if blocked else self.free | set(cells)

    def check_way(self, answer, free, start, cost):
        cells = pairs_of(answer["cells"])
        assert cells[0] == start and answer["cost"] == cost
        assert sum(dict(moves(free, *a))[b] for a, b in zip(cells, cells[1:])) == cost


def check_pairs(world, free, **params):
    """Checks a list of pairs in one query, and each pair alone."""
    starts = [world.rng.choice(sorted(free)) for _ in range(8)]
    pairs = [(start, world.cell()) for start in starts]
    flat = [number for pair in pairs for cell in pair for number in cell]
    paths = world.ask("query", pairs=flat, **params)
    distances = world.ask("distance", pairs=flat, **params)
    reachable = world.ask("reachable", pairs=flat, **params)
    assert len(paths["answers"]) == len(distances["answers"]) == len(reachable["reachable"]) == 8
    all_there = True
    for i, (start, goal) in enumerate(pairs):
        costs = measure(free, start)
        path, distance = paths["answers"][i], distances["answers"][i]
        there = goal in costs
        all_there = all_there and there
        assert path["complete"] == distance["complete"] == there == bool(reachable["reachable"][i])
        assert path["reason"] == distance["reason"] == ("found" if there else "unreachable")
        if there:
            world.check_way(path, free, start, costs[goal])
            assert distance["cost"] == costs[goal] and distance["length"] == path["length"]
        else:
            last = pairs_of(path["cells"])[-1]
            world.check_way(path, free, start, costs[last])
            assert octile(last, goal) == min(octile(cell, goal) for cell in costs)
            assert distance["expansions"] == 0
        alone = world.ask("query", **{"from": start, "to": goal}, **params)
        assert {key: alone[key] for key in path} == path
        assert world.ask("reachable", **{"from": start, "to": goal}, **params)["complete"] == there
    for answer in (paths, distances, reachable):
        assert answer["complete"] == all_there
        assert answer["reason"] == ("found" if all_there else "unreachable")
    assert paths["expansions"] == sum(answer["expansions"] for answer in paths["answers"])


def check_nearest(world, free, **params):
    start = world.rng.choice(sorted(free))
    goals = [world.cell() for _ in range(world.rng.randint(1, 6))]
    costs = measure(free, start)
    least = min((costs[goal] for goal in goals if goal in costs), default=None)
    answer = world.ask("nearest", goals=[n for goal in goals for n in goal], **{"from": start},
                       **params)
    if least is None:
        assert not answer["complete"] and answer["reason"] == "unreachable"
        assert answer["goal"] == [] == answer["cells"] and "index" not in answer
        assert answer["expansions"] == 0
    else:
        assert answer["complete"] and answer["reason"] == "found"
        assert tuple(answer["goal"]) == goals[answer["index"]]
        assert costs[goals[answer["index"]]] == least
        world.check_way(answer, free, start, least)


def check_field(world, free, **params):
    goal = world.rng.choice(sorted(free))
    x, y = world.cell()
    rect = [x, y, world.rng.randint(1, SIDE - x), world.rng.randint(1, SIDE - y)]
    answer = world.ask("field", goal=goal, rect=rect, **params)
    costs = measure(free, goal)
    assert answer["rect"] == rect and answer["complete"] and answer["reason"] == "found"
    assert answer["costs"] == [costs.get((x + dx, y + dy), NONE)
                               for dy in range(rect[3]) for dx in range(rect[2])]


def answers_on_the_true_map():
    rng = random.Random(seed())
    with Server() as server:
        world = World(server.connect(), rng)
        for _ in range(12):
            check_pairs(world, world.free)
            check_nearest(world, world.free)
            check_field(world, world.free)
            world.edit()


def answers_on_what_a_team_knows():
    rng = random.Random(seed())
    with Server() as server:
        client = server.connect()
        world = World(client, rng, sense_radius=4)
        team = client.call("team.create", world=world.number)["team"]
        everything = {(x, y) for x in range(SIDE) for y in range(SIDE)}
        seen_blocked = set()
        for tick in range(8):
            x, y = world.free_cell()
            client.call("agent.spawn", world=world.number, team=team, cells=[x, y])
            client.call("world.step", world=world.number)
            seen_blocked |= {(x + dx, y + dy) for dx in range(-4, 5) for dy in range(-4, 5)
                             } & everything - world.free
            known = everything - seen_blocked
            check_pairs(world, known, team=team)
            check_nearest(world, known, team=team)
            check_field(world, known, team=team)
            answer = world.ask("reachable", team=team, **{"from": [0, 0], "to": [1, 1]})
            assert answer["tick"] == tick + 1


def an_answer_holds_for_the_moment_of_the_question():
    rng = random.Random(seed())
    with Server("--query-budget-ms", "0.2") as server:
        client = server.connect()
        world = World(client, rng)
        wall = {"x": SIDE // 2}
        for _ in range(10):
            free = set(world.free)
            start, goal = world.free_cell(), world.free_cell()
            flat = [*start, *goal] * 64
            numbers = [client.send("path.query", world=world.number, pairs=flat),
                       client.send("path.field", world=world.number, goal=goal,
                                   rect=[0, 0, SIDE, SIDE])]
            client.send("terrain.set", world=world.number, set="blocked",
                        rects=[wall["x"], 0, 1, SIDE])
            client.send("world.step", world=world.number)
            late = client.send("path.reachable", world=world.number,
                               **{"from": [0, 0], "to": [SIDE - 1, 0]})
            path, field = (client.answer(number) for number in numbers)
            costs = measure(free, start)
            for answer in path["answers"]:
                assert answer["complete"] == (goal in costs)
                if goal in costs:
                    world.check_way(answer, free, start, costs[goal])
            back = measure(free, goal)
            assert field["costs"] == [back.get((x, y), NONE)
                                      for y in range(SIDE) for x in range(SIDE)]
            assert not client.answer(late)["complete"]
            client.call("terrain.set", world=world.number, set="free",
                        rects=[wall["x"], 0, 1, SIDE])
            world.free |= {(wall["x"], y) for y in range(SIDE)}


def worlds_take_turns():
    """Long queries in one world do not hold up short ones in another, older or younger."""
    side = 1200
    with Server("--workers", "1") as server:
        clients = [server.connect() for _ in range(2)]
        worlds = [clients[0].call("world.create", name=f"w{i}", generator="open", width=side, height=side,
                                  paused=True)["world"] for i in range(3)]
        long = {"pairs": [0, 0, side - 1, side - 1] * 64, "planner": "astar:heuristic=zero"}
        for busy in (0, 2):
            numbers = [clients[0].send("path.query", world=worlds[busy], **long) for _ in range(2)]
            for _ in range(3):
                assert clients[1].call("path.query", world=worlds[1], **{"from": [0, 0], "to": [20, 9]})["complete"]
            clients[0].call("ping")
            assert not any(number in clients[0].answers for number in numbers), "short queries came last"
            clients[0].call("world.destroy", world=worlds[busy])  # rather than wait
            for number in numbers:
                try:
                    clients[0].answer(number)
                except RequestError as error:
                    assert error.name == "no_world", error


def one_token_leaves_places_to_others():
    """However many queries the sessions of one player ask, others have places for theirs, and those of sessions
    that have ended make room."""
    side, secrets = 1200, {team: f"the-secret-of-team-{team}" for team in (1, 2)}
    environment = {"FOGMARCH_TOKENS": "\n".join([f"player w {team} {secret}" for team, secret in secrets.items()] +
                                                ["admin the-secret-of-admin"])}

    def enter(secret):
        client = server.connect(hello=False)
        client.call("hello", protocol=1, token=secret)
        return client

    with Server("--workers", "1", "--session-queries-max", "100", environment=environment) as server:
        admin = enter("the-secret-of-admin")
        world = admin.call("world.create", name="w", generator="open", width=side, height=side, paused=True,
                           omniscient=True)["world"]
        for _ in secrets:
            admin.call("team.create", world=world)
        long = {"from": [0, 0], "to": [side - 1, side - 1], "planner": "astar:heuristic=zero"}
        many = [enter(secrets[1]) for _ in range(3)]
        for client in many:
            for _ in range(100):
                client.send("path.query", world=world, **long)
            client.call("ping")
        short = {"from": [0, 0], "to": [20, 9]}
        other = enter(secrets[2])
        for client in (other, admin):
            numbers = [client.send("path.query", world=world, **short) for _ in range(30)]
            assert all(client.answer(number)["complete"] for number in numbers)
        for client in many:
            client.call("ping")
        busy = [answer for client in many for answer in client.answers.values() if answer[0]]
        assert 100 <= len(busy) <= 172 and {error["name"] for error, _ in busy} == {"busy"}, len(busy)
        for client in many:
            client.close()
        again = enter(secrets[1])
        until(lambda: admin.call("stats")["server"]["sessions"] == 3, "the ends of the sessions")
        numbers = [again.send("path.query", world=world, **short) for _ in range(90)]
        assert all(again.answer(number)["complete"] for number in numbers)


def copies_of_the_map_are_few():
    """Each change of the world between two queries would need a copy of the map for the first. There are four at most;
    the other queries wait, and those of another session need not wait for all of them."""
    side, count = 2000, 60
    with Server("--workers", "1") as server:
        client, other = server.connect(), server.connect()
        world = client.call("world.create", name="w", generator="open", width=side, height=side, paused=True)["world"]
        client.call("terrain.set", world=world, set="cost", cost=3, rects=[0, 0, 9, 9])
        before = server.rss()
        for i in range(count):
            client.send("path.query", world=world, planner="astar:heuristic=zero",
                        **{"from": [0, 0], "to": [side - 1, side - 1]})
            client.send("terrain.set", world=world, set="cost", cost=2 + i, cells=[9, 9])
        short = other.call("path.query", world=world, **{"from": [20, 0], "to": [30, 5]})
        assert short["complete"] and other.call("path.reachable", world=world, **{"from": [0, 0], "to": [9, 9]})
        grown, copy_size = server.rss() - before, side * side
        print(f"[     INFO ] {grown >> 20} MiB more", flush=True)
        assert not server.memory_tells() or grown < copy_size * count * 2 // 3, f"{grown >> 20} MiB"
        client.call("world.destroy", world=world)


def queries_behind_a_step(client, world, count):
    """Sends them in one piece, so that the step is most likely not over when they come. Returns their outcomes."""
    requests = [("world.step", {"world": world, "ticks": 1000})]
    requests += [("path.query", {"world": world, "from": [0, 0], "to": [9, 9]})] * count
    numbers = range(client.next_id, client.next_id + len(requests))
    client.next_id += len(requests)
    client.send_bytes(b"".join(msgpack.packb([REQUEST, number, method, [params]])
                               for number, (method, params) in zip(numbers, requests)))
    outcomes = []
    client.answer(numbers[0])
    for number in numbers[1:]:
        try:
            outcomes.append(client.answer(number)["reason"])
        except RequestError as error:
            outcomes.append(error.name)
    assert outcomes[:4] == ["found"] * 4 and set(outcomes[4:]) <= {"found", "busy"}, outcomes
    return outcomes


def what_is_refused():
    with Server("--session-queries-max", "4") as server:
        client = server.connect()
        world = client.call("world.create", name="w", generator="open", width=400, height=400,
                            paused=True)["world"]
        ends = {"from": [0, 0], "to": [9, 9]}
        for method in ("query", "distance", "reachable"):
            for params, name in (
                    ({}, "bad_field"),
                    ({"from": [0, 0]}, "bad_field"),
                    ({**ends, "pairs": [0, 0, 9, 9]}, "bad_field"),
                    ({"pairs": [0, 0, 9, 9, 1, 1]}, "bad_field"),
                    ({"pairs": [0, 0, 400, 9]}, "off_grid"),
                    ({**ends, "team": 7}, "no_team"),
                    ({**ends, "class": "boat"}, "no_class")):
                assert client.refused("path." + method, world=world, **params) == name, params
        assert client.refused("path.query", world=world, pairs=[0, 0, 9, 9] * 65) == "bad_field"
        assert client.refused("path.nearest", world=world, **{"from": [0, 0]}) == "bad_field"
        assert client.refused("path.nearest", world=world, goals=[400, 0],
                              **{"from": [0, 0]}) == "off_grid"
        assert client.refused("path.field", world=world, goal=[0, 0],
                              rect=[0, 0, 200, 200]) == "limit"
        assert client.refused("path.field", world=world, goal=[0, 0],
                              rect=[390, 0, 11, 1]) == "off_grid"
        # Nothing can be reached from a blocked cell, and no search starts there.
        client.call("terrain.set", world=world, set="blocked", cells=[5, 5])
        blocked = {"from": [5, 5], "to": [9, 9]}
        assert client.refused("path.query", world=world, **blocked) == "blocked_cell"
        try:
            client.call("path.distance", world=world, pairs=[0, 0, 1, 1, 5, 5, 5, 5, 2, 2, 5, 5])
        except RequestError as error:
            raise AssertionError(error)
        try:
            client.call("path.query", world=world, pairs=[0, 0, 1, 1, 5, 5, 2, 2])
            raise AssertionError("a path from a blocked cell")
        except RequestError as error:
            assert error.name == "blocked_cell", error
            assert error.message.startswith("entry 1: cell 5,5 cannot be entered: no place for class 'ground'"), error
        assert not client.call("path.reachable", world=world, **blocked)["complete"]
        assert client.refused("path.field", world=world, goal=[5, 5],
                              rect=[0, 0, 9, 9]) == "blocked_cell"
        limited = client.call("path.field", world=world, goal=[0, 0], rect=[300, 300, 20, 20],
                              expansions_max=50)
        assert not limited["complete"] and limited["reason"] == "limit"
        assert limited["expansions"] == 50 and set(limited["costs"]) == {NONE}
        # The world is busy: a step holds up the requests behind it.
        until(lambda: queries_behind_a_step(client, world, 9) == ["found"] * 4 + ["busy"] * 5,
              "queries that come while the step lasts")
        assert client.call("path.query", world=world, **ends)["complete"]


def long_paths():
    """The paths of a request have so many cells at most; of one for which there is no room the cost is told."""
    side, most = 800, 2**18
    rows = ["." * side if y % 2 == 0 else "@" * (side - 1) + "." if y % 4 == 1 else "." + "@" * (side - 1)
            for y in range(side - 1)]  # one way, to and fro
    with Server() as server:
        client = server.connect()
        map_file = f"type octile\nheight {side - 1}\nwidth {side}\nmap\n" + "\n".join(rows) + "\n"
        world = client.call("world.create", name="w", map=map_file.encode(), paused=True)["world"]
        ends, middle = [0, 0, side - 1, side - 2], [0, 0, 0, 400]
        whole = client.call("path.query", world=world, **{"from": ends[:2], "to": ends[2:]})
        assert not whole["complete"] and whole["reason"] == "limit" and whole["cells"] == [], whole["reason"]
        far = client.call("path.distance", world=world, pairs=ends)
        assert far["complete"] and far["answers"][0]["cost"] == whole["cost"] > 10 * most, far
        half = client.call("path.query", world=world, **{"from": middle[:2], "to": middle[2:]})
        assert half["complete"] and most // 2 < len(half["cells"]) // 2 <= most, len(half["cells"])
        both = client.call("path.query", world=world, pairs=2 * middle)
        assert not both["complete"] and both["reason"] == "limit"
        assert sorted(one["reason"] for one in both["answers"]) == ["found", "limit"]
        assert {one["cost"] for one in both["answers"]} == {half["cost"]}
        nearest = client.call("path.nearest", world=world, goals=ends[2:], **{"from": ends[:2]})
        assert nearest["reason"] == "limit" and nearest["goal"] == ends[2:] and nearest["cells"] == []


run([answers_on_the_true_map, answers_on_what_a_team_knows,
     an_answer_holds_for_the_moment_of_the_question, worlds_take_turns, one_token_leaves_places_to_others, copies_of_the_map_are_few,
     long_paths, what_is_refused])
