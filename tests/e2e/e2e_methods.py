"""Every method of the protocol: its normal case, and what it refuses.

Goal    answers hold what proto/protocol.def says; wrong requests are refused with the right status,
        change nothing, and leave the session usable.
Method  one server, small worlds, all ticks by world.step, so that nothing depends on time.
"""

from fogmarch_server import msgpack, REQUEST, RequestError, Server, run, until

MAP = b"type octile\nheight 4\nwidth 6\nmap\n......\n.@@@..\n.@.@..\n......\n"


def make_world(client, name="w", **params):
    options = dict(generator="open", width=32, height=32, paused=True)
    if "map" in params or "upload" in params:
        options = dict(paused=True)
    options.update(params)
    return client.call("world.create", name=name, **options)["world"]


def hello_and_ping():
    with Server() as server:
        client = server.connect(hello=False)
        assert client.refused("world.list") == "denied"
        assert client.call("ping", time=123)["time"] == 123
        assert client.refused("hello", protocol=99) == "bad_value"
        answer = client.call("hello", protocol=1, client="tester")
        assert answer["role"] == "admin" and answer["protocol"] == 1
        assert answer["server"].startswith("fogmarchd ")
        assert answer["limits"]["message_size"] >= 1 << 20
        assert client.refused("hello", protocol=1) == "not_ready"
        assert server.connect().call("ping")["uptime_ms"] >= 0
        assert server.log().count("session opened") == 2


def tokens():
    secret = "correct-horse-battery"
    with Server(environment={"FOGMARCH_TOKEN": secret}) as server:
        for params in ({}, {"token": ""}, {"token": secret + "x"}, {"token": secret[:-1]},
                       {"token": "x" * len(secret)}):
            client = server.connect(hello=False)
            assert client.refused("hello", protocol=1, **params) == "denied"
            assert client.disconnected()
        client = server.connect(hello=False)
        assert client.call("hello", protocol=1, token=secret)["role"] == "admin"
        assert secret not in server.log()


def requests_that_fit_no_table():
    with Server() as server:
        client = server.connect()
        assert client.refused("no.such.method") == "no_method"
        assert client.refused("world.info", world="one") == "bad_field"
        assert client.refused("world.create", name="x" * 65) == "bad_field"
        assert client.refused("agent.order", world=1) == "bad_field"
        assert client.call("ping", unknown_field=[1, {"a": 2}])["time"] == 0
        client.send_bytes(msgpack.packb([REQUEST, 77, "ping", []]))  # no params at all
        assert client.answer(77)["time"] == 0
        client.send_bytes(msgpack.packb([2, "ping", [{}]]))  # notifications are not answered
        assert client.call("ping")["time"] == 0
        assert not client.answers


def worlds():
    with Server("--worlds-max", "3") as server:
        client = server.connect()
        answer = client.call("world.create", name="skirmish-1", generator="skirmish", width=128,
                             height=96, players=2, seed=7, paused=True)
        assert (answer["width"], answer["height"]) == (128, 96)
        assert len(answer["bases"]) == 4
        world = answer["world"]
        assert client.refused("world.create", name="skirmish-1", generator="open") == "exists"
        assert client.refused("world.create", name="a b", generator="open") == "bad_value"
        assert client.refused("world.create", name="none") == "bad_field"
        assert client.refused("world.create", name="x", generator="volcano") == "bad_value"
        assert client.refused("world.create", name="x", generator="open", neighbours=6) == \
            "bad_value"
        assert client.refused("world.create", name="x", generator="open", neighbours=4,
                              step_costs="10/14") == "bad_value"
        assert client.refused("world.create", name="x", generator="open",
                              planner="oracle") == "no_planner"
        assert client.refused("world.create", name="x", generator="open",
                              overload="panic") == "bad_value"
        assert client.refused("world.create", name="x", generator="open", upload=5) == "bad_field"
        assert client.refused("world.create", name="x", upload=5) == "bad_value"
        assert client.refused("world.create", name="x", map=b"type octile\nheight 2\n") == \
            "bad_format"

        small = make_world(client, "small", map=MAP, neighbours=4, sense_radius=3, tick_hz=25,
                           budget_ms=12.5, overload="degrade", agents_max=10)
        info = client.call("world.info", name="small")
        assert info["world"] == small and (info["width"], info["height"]) == (6, 4)
        assert info["tick_hz"] == 25 and info["budget_ms"] == 12.5
        assert info["overload"] == "degrade" and info["paused"] is True
        rules = info["rules"]
        assert rules["neighbours"] == 4 and rules["step_costs"] == "1"
        assert rules["sense_radius"] == 3 and rules["sense_shape"] == "diamond"
        assert rules["agents_max"] == 10 and rules["planner"] == "auto"
        assert client.call("world.info", world=world)["bases"] == answer["bases"]
        assert client.refused("world.info") == "bad_field"
        assert client.refused("world.info", name="nobody") == "no_world"
        assert client.refused("world.info", world=99) == "no_world"

        listed = client.call("world.list")["worlds"]
        assert [entry["name"] for entry in listed] == ["skirmish-1", "small"]
        make_world(client, "third")
        assert client.refused("world.create", name="fourth", generator="open") == "limit"
        assert client.call("world.destroy", world=small) == {}
        assert client.refused("world.destroy", world=small) == "no_world"
        assert client.refused("world.step", world=small) == "no_world"
        assert make_world(client, "small") > small, "numbers are not used again"


def names_are_taken_while_a_world_is_made():
    with Server() as server:
        client = server.connect()
        requests = [client.send("world.create", name="same", generator="random", width=1024,
                                height=1024, paused=True) for _ in range(3)]
        made, refused = 0, 0
        for request in requests:
            try:
                client.answer(request)
                made += 1
            except RequestError as error:
                assert error.name == "exists"
                refused += 1
        assert (made, refused) == (1, 2)


def uploads():
    with Server("--uploads-max-bytes", "65536") as server:
        client = server.connect()
        first = client.call("map.upload", total=len(MAP), offset=0, data=MAP[:20])
        upload = first["upload"]
        assert first["received"] == 20
        assert client.refused("map.upload", upload=upload, offset=10, data=b"x") == "bad_value"
        assert client.refused("map.upload", upload=upload + 1, offset=20, data=b"x") == "bad_value"
        assert client.refused("map.upload", upload=upload, offset=20,
                              data=b"x" * len(MAP)) == "bad_value"
        assert client.refused("world.create", name="early", upload=upload) == "bad_value"
        assert client.call("map.upload", upload=upload, offset=20,
                           data=MAP[20:])["received"] == len(MAP)
        other = server.connect()
        assert other.refused("world.create", name="theft", upload=upload) == "bad_value"
        make_world(client, "uploaded", upload=upload)
        assert client.refused("world.create", name="twice", upload=upload) == "bad_value"
        assert client.refused("map.upload", offset=0, data=b"x") == "bad_field"
        assert client.refused("map.upload", total=65537, offset=0, data=b"x") == "limit"
        client.call("map.upload", total=65536, offset=0, data=b"x")
        assert other.refused("map.upload", total=1, offset=0, data=b"x") == "limit"
        client.close()  # its upload is released with it
        while True:
            try:
                other.call("map.upload", total=65536, offset=0, data=b"x")
                break
            except RequestError as error:
                assert error.name == "limit"


def pausing_and_stepping():
    with Server() as server:
        client = server.connect()
        world = make_world(client)
        assert client.call("world.step", world=world)["tick"] == 1
        step = client.call("world.step", world=world, ticks=9)
        assert step["tick"] == 10 and len(step["digest"]) == 16
        assert client.refused("world.step", world=world, ticks=0) == "bad_field"
        assert client.call("world.resume", world=world, tick_hz=500, budget_ms=1)["tick"] >= 10
        assert client.refused("world.step", world=world) == "not_ready"
        while client.call("world.info", world=world)["tick"] < 20:
            pass
        tick = client.call("world.pause", world=world)["tick"]
        info = client.call("world.info", world=world)
        assert info["tick"] == tick and info["paused"] and info["tick_hz"] == 500

        # Pipelined requests are carried out in sequence: an order sent between two steps is given between them.
        team = client.call("team.create", world=world)["team"]
        agent = client.call("agent.spawn", world=world, team=team, cells=[5, 5])["agents"][0]
        client.call("world.step", world=world)
        requests = [client.send("agent.order", world=world, kind="move", agents=[agent],
                                goal=[5, 15]),
                    client.send("world.step", world=world, ticks=4),
                    client.send("agent.order", world=world, kind="stop", agents=[agent]),
                    client.send("world.step", world=world, ticks=10)]
        for request in requests:
            client.answer(request)
        report = client.call("debug.inspect", world=world, agent=agent)
        assert 0 < report["moves"] <= 4 and report["state"] == "idle"


def teams_and_agents():
    with Server() as server:
        client = server.connect()
        world = make_world(client, agents_max=4, teams_max=2)
        assert client.call("team.create", world=world)["team"] == 1
        assert client.call("team.create", world=world, planner="dstar-lite:queue=heap")["team"] == 2
        assert client.refused("team.create", world=world) == "limit"
        assert client.refused("team.create", world=world, planner="?") == "no_planner"
        spawn = dict(world=world, team=1)
        agents = client.call("agent.spawn", cells=[1, 1, 3, 3], **spawn)["agents"]
        assert len(set(agents)) == 2
        client.call("terrain.set", world=world, set="blocked", cells=[7, 9])
        assert client.refused("agent.spawn", cells=[7, 8, 7, 9], **spawn) == "blocked_cell"
        assert client.refused("agent.spawn", cells=[5, 5, 32, 0], **spawn) == "off_grid"
        assert client.refused("agent.spawn", cells=[1], **spawn) == "bad_field"
        assert client.refused("agent.spawn", cells=[1, 2, 3], **spawn) == "bad_field"
        assert client.refused("agent.spawn", cells=[9, 9], world=world, team=9) == "no_team"
        assert client.refused("agent.spawn", cells=[9, 9, 8, 8, 7, 7], **spawn) == "limit"
        assert client.call("world.info", world=world)["agents"] == 2, "refused means nothing done"

        order = dict(world=world, kind="move")
        first = client.call("agent.order", agents=agents, goal=[9, 9], **order)
        assert first["count"] == 2
        second = client.call("agent.order", agents=agents, goals=[9, 9, 8, 8],
                             on_unreachable="wait", **order)
        assert second["order"] == first["order"] + 2
        assert client.refused("agent.order", agents=agents, **order) == "bad_field"
        assert client.refused("agent.order", agents=agents, goal=[1, 1], goals=[1, 1, 2, 2],
                              **order) == "bad_field"
        assert client.refused("agent.order", agents=agents, goals=[9, 9], **order) == "bad_field"
        assert client.refused("agent.order", agents=agents, goal=[0, 32], **order) == "off_grid"
        assert client.refused("agent.order", agents=[2**40 + 1], goal=[0, 0], **order) == "no_agent"
        assert client.refused("agent.order", agents=[0], goal=[0, 0], **order) == "no_agent"
        assert client.refused("agent.order", agents=agents, goal=[0, 0], world=world,
                              kind="dance") == "bad_value"
        assert client.refused("agent.order", agents=agents, goal=[0, 0], on_unreachable="cry",
                              **order) == "bad_value"
        assert client.call("agent.order", agents=agents, world=world, kind="stop") == {"count": 2}
        order_kinds(client, world, agents)
        assert client.call("agent.remove", world=world, agents=agents[:1]) == {"removed": 1}
        assert client.refused("agent.remove", world=world, agents=agents) == "no_agent"
        assert client.call("world.info", world=world)["agents"] == 1


def order_kinds(client, world, agents):
    """Every kind of order, its parameters, and the queue."""
    order = dict(world=world, agents=agents)
    assert client.refused("agent.order", kind="patrol", **order) == "bad_field"
    assert client.refused("agent.order", kind="patrol", goals=[1, 1] * 33, **order) == "bad_field"
    assert client.refused("agent.order", kind="follow", **order) == "bad_field"
    assert client.refused("agent.order", kind="follow", target=77, **order) == "no_target"
    assert client.refused("agent.order", kind="guard", goal=[1, 1], target=agents[0], **order) == "bad_field"
    assert client.refused("agent.order", kind="guard", target=77, **order) == "no_target"
    assert client.refused("agent.order", kind="flee", cells=[1], **order) == "bad_field"
    assert client.refused("agent.order", kind="hold", radius=65, **order) == "bad_field"
    assert client.refused("agent.order", kind="keep_distance", target=77, **order) == "no_target"
    assert client.refused("agent.order", kind="scatter", goal=[1], **order) == "bad_field"
    assert client.refused("agent.order", kind="scatter", spread=True, **order) == "bad_value"
    assert client.refused("agent.order", kind="stop", queue=True, **order) == "bad_value"
    move = dict(kind="move", **order)
    for wrong in (dict(goals=[1, 1, 2, 2], spread=True), dict(goal=[1, 1], formation="heap")):
        assert client.refused("agent.order", **move, **wrong) == "bad_value"
    assert client.refused("agent.order", kind="hold", spread=True, **order) == "bad_value"
    assert client.refused("agent.order", kind="hold", common_speed=True, **order) == "bad_value"
    client.call("agent.order", goal=[20, 20], spread=True, common_speed=True, **move)
    goals = [client.call("debug.inspect", world=world, agent=agent)["goal"] for agent in agents]
    assert goals[0] != goals[1] and [20, 20] in goals, goals
    subscription = client.call("subscribe", world=world)["subscription"]
    begun = client.call("agent.order", kind="hold", **order)["order"]
    last = begun
    for kind, more in [("patrol", dict(goals=[1, 1, 9, 9, 1, 9], loop=True)), ("guard", dict(goal=[5, 5])),
                       ("follow", dict(target=agents[1])), ("explore", {}), ("flee", dict(cells=[1, 1])),
                       ("keep_distance", dict(target=agents[1], radius=4)), ("scatter", dict(goal=[8, 8]))]:
        first = client.call("agent.order", kind=kind, queue=True, **more, **order)["order"]
        assert first == last + 2, "every order has an id, queued or not"
        last = first
    report = client.call("debug.inspect", world=world, agent=agents[0])
    assert report["kind"] == "hold" and report["order"] == begun
    assert report["queue"] == list(range(begun + 2, last + 1, 2))
    assert report["queue_kinds"] == ["patrol", "guard", "follow", "explore", "flee", "keep_distance", "move"]
    for _ in range(32 - 7):
        client.call("agent.order", kind="hold", queue=True, **order)
    assert client.refused("agent.order", kind="hold", queue=True, **order) == "limit"
    assert client.call("agent.order", kind="stop", **order) == {"count": 2}
    client.call("world.step", world=world, ticks=1)
    ended = []
    while len(ended) < 2 * 33:  # older orders that end in the same interval do not count
        _, view = client.notification("delta")
        numbers = view.get("ended", [])
        ended += [(numbers[i], numbers[i + 2]) for i in range(0, len(numbers), 5) if numbers[i] >= begun]
    assert sorted(order for order, _ in ended) == list(range(begun, begun + 2 * 33))
    assert all(reason == 4 for _, reason in ended), "cancelled"
    client.call("unsubscribe", subscription=subscription)


def terrain():
    with Server() as server:
        client = server.connect()
        world = make_world(client)
        edit = dict(world=world)
        assert client.call("terrain.set", set="blocked", cells=[4, 4, 4, 4, 5, 4],
                           **edit)["changed"] == 2
        assert client.call("terrain.set", set="blocked", rects=[4, 4, 3, 1], **edit)["changed"] == 1
        assert client.call("terrain.set", set="free", rects=[0, 0, 32, 32], **edit)["changed"] == 3
        assert client.call("terrain.set", set="cost", cost=7, cells=[1, 1], **edit)["changed"] == 1
        assert client.refused("terrain.set", set="cost", cells=[1, 1], **edit) == "bad_field"
        assert client.refused("terrain.set", set="lava", cells=[1, 1], **edit) == "bad_value"
        assert client.refused("terrain.set", set="free", **edit) == "bad_field"
        assert client.refused("terrain.set", set="free", rects=[0, 0, 33, 1], **edit) == "off_grid"
        assert client.refused("terrain.set", set="free", rects=[0, 0, 0, 1], **edit) == "off_grid"
        assert client.refused("terrain.set", set="free", rects=[2**52, 0, 1, 1], **edit) == \
            "off_grid"
        assert client.refused("terrain.set", set="free", rects=[1, 2, 3, 4, 5], **edit) == \
            "bad_field"
        for _ in range(2):
            client.call("team.create", world=world)
        costs = dict(world=world, team=1)
        straight = client.call("path.query", **{"from": [2, 10], "to": [20, 10]}, **costs)
        assert client.call("team.cost", cost=20, rects=[8, 4, 3, 12], cells=[8, 16], **costs)["changed"] == 37
        assert client.call("team.cost", cost=20, cells=[8, 4, 8, 3], **costs)["changed"] == 1
        around = client.call("path.query", **{"from": [2, 10], "to": [20, 10]}, **costs)
        assert around["length"] > straight["length"]
        cells = list(zip(around["cells"][::2], around["cells"][1::2]))
        assert not [cell for cell in cells if 8 <= cell[0] < 11 and 4 <= cell[1] < 16], cells
        theirs = {"from": [2, 10], "to": [20, 10], "team": 2, "world": world}
        assert client.call("path.query", **theirs)["length"] == straight["length"]
        assert client.refused("team.cost", cost=250, cells=[1, 1], **costs) == "bad_field"
        assert client.refused("team.cost", cost=5, **costs) == "bad_field"
        assert client.refused("team.cost", cost=5, cells=[32, 0], **costs) == "off_grid"
        assert client.refused("team.cost", cost=5, cells=[1, 1], world=world, team=9) == "no_team"
        assert client.refused("team.cost", cost=5, cells=[1, 1], world=world) == "bad_field"


def paths():
    with Server() as server:
        client = server.connect()
        world = make_world(client, map=MAP)
        team = client.call("team.create", world=world)["team"]

        def query(start, goal, **params):
            return client.call("path.query", world=world, **{"from": start, "to": goal}, **params)

        truth = query([0, 1], [5, 1])
        assert truth["complete"] and truth["reason"] == "found"
        assert truth["cells"][:2] == [0, 1] and truth["cells"][-2:] == [5, 1]
        assert truth["cost"] == 64 and abs(truth["length"] - 5 - 2**0.5) < 1e-9
        guess = query([0, 1], [5, 1], team=team)  # the team knows nothing, so straight through the wall
        assert guess["cost"] == 50
        assert query([0, 0], [0, 0])["cells"] == [0, 0]
        assert query([0, 0], [5, 3], expansions_max=1)["reason"] in ("limit", "found")
        client.call("terrain.set", world=world, set="blocked", cells=[2, 3])
        closed = query([0, 0], [2, 2])
        assert not closed["complete"] and closed["reason"] == "unreachable"
        for params, status in (
                (dict(start=[0, 0], goal=[6, 0]), "off_grid"),
                (dict(start=[1, 1], goal=[0, 0]), "blocked_cell"),
                (dict(start=[0, 0], goal=[1, 0], team=9), "no_team")):
            try:
                query(**params)
                raise AssertionError(params)
            except RequestError as error:
                assert error.name == status, error


def statistics_and_inspection():
    with Server() as server:
        client = server.connect()
        world = make_world(client, planner="dstar-lite")
        team = client.call("team.create", world=world)["team"]
        agents = client.call("agent.spawn", world=world, team=team, cells=[1, 1, 2, 2])["agents"]
        order = client.call("agent.order", world=world, kind="move", agents=agents, goal=[25, 25])
        client.call("world.step", world=world, ticks=5)

        report = client.call("debug.inspect", world=world, agent=agents[0], rect=[0, 0, 32, 32])
        assert report["agent"] == agents[0] and report["team"] == team
        assert report["order"] == order["order"] and report["goal"] == [25, 25]
        assert report["sharers"] == 2 and report["planner"] == "dstar-lite"
        assert report["path"][-2:] == [25, 25] and report["bytes"] > 0
        assert len(report["search"]) % 6 == 0 and len(report["search"]) > 0
        assert "search" not in client.call("debug.inspect", world=world, agent=agents[0])
        assert client.refused("debug.inspect", world=world, agent=2**33) == "no_agent"
        assert client.refused("debug.inspect", world=world, agent=agents[0],
                              rect=[0, 0, 99, 1]) == "off_grid"

        stats = client.call("stats", world=world)
        assert stats["server"]["worlds"] == 1 and stats["server"]["sessions"] == 1
        assert stats["server"]["rss_bytes"] > 0 and stats["server"]["messages"] > 5
        counts = stats["world"]
        assert counts["tick"] == 5 and counts["agents"] == 2 and counts["orders_given"] == 2
        assert counts["states"]["moving"] + counts["states"]["waiting"] == 2
        assert counts["tick_ms"]["count"] == 5 == counts["overrun_ms"]["count"]
        assert counts["order_to_first_move_ticks"]["count"] == 2
        assert set(counts["stages_ms"]) >= {"commands", "sense", "search", "move"}
        memory = counts["memory"]
        assert memory["agents"] > 0 and memory["bytes_max"] == 1 << 32
        assert memory["searches"] == counts["search_bytes"] and memory["knowledge"] == counts["knowledge_bytes"]
        assert memory["bytes"] >= memory["agents"] + memory["searches"] + memory["knowledge"], memory
        assert memory["planners"] == {"dstar-lite": {"count": counts["planners"], "bytes": memory["searches"]}}, memory
        assert stats["server"]["session_bytes"] > 500
        assert "world" not in client.call("stats")
        assert client.refused("stats", world=99) == "no_world"
        client.call("stats", world=world, reset=True)
        again = client.call("stats", world=world)["world"]
        assert again["tick_ms"]["count"] == 0 and again["tick"] == 5
        assert again["order_to_first_move_ticks"]["count"] == 0

        # Work between two ticks counts as time of the next one.
        client.call("world.resume", world=world)

        def counts_commands():
            client.call("agent.order", world=world, kind="move", agents=agents, goal=[25, 25])
            return client.call("stats", world=world)["world"]["stages_ms"]["commands"] > 0

        until(counts_commands, "time of commands in the stats")


def shares_of_the_search():
    with Server() as server:
        client = server.connect()
        world = make_world(client, saved_ticks=3)
        assert client.call("world.info", world=world)["rules"]["saved_ticks"] == 3
        for weight in (1, 3, 5):
            assert client.call("team.create", world=world, weight=weight)["team"]
        assert client.refused("team.create", world=world, weight=1001) == "bad_field"
        client.call("agent.spawn", world=world, team=1, cells=[1, 1])
        agent = client.call("agent.spawn", world=world, team=2, cells=[3, 3])["agents"]
        client.call("agent.order", world=world, kind="move", agents=agent, goal=[25, 25])
        client.call("world.step", world=world, ticks=8)
        assert "teams" not in client.call("stats", world=world)
        numbers = client.call("stats", world=world, teams=True)["teams"]
        first, second, third = (dict(zip(("team", "weight", "agents", "waiting", "share", "saved",
                                          "used", "used_total"), numbers[i:i + 8]))
                                for i in (0, 8, 16))
        assert (first["weight"], second["weight"], third["weight"]) == (1, 3, 5)
        assert (first["agents"], second["agents"], third["agents"]) == (1, 1, 0)
        # Three quarters, up to rounding; teams without agents get no share.
        assert abs(second["share"] - 3 * first["share"]) <= 3 and third["share"] == 0
        assert first["saved"] == 3 * first["share"] and third["saved"] == 0
        assert first["used_total"] == 0 < second["used_total"]


def subscriptions():
    with Server() as server:
        client = server.connect()
        world = make_world(client)
        team = client.call("team.create", world=world)["team"]
        assert client.refused("subscribe", world=99) == "no_world"
        assert client.refused("subscribe", world=world, team=7) == "no_team"
        assert client.refused("subscribe", world=world, rect=[0, 0, 33, 1]) == "off_grid"
        assert client.refused("subscribe", world=world, every=0) == "bad_field"
        first = client.call("subscribe", world=world)["subscription"]
        second = client.call("subscribe", world=world, team=team, rect=[1, 2, 3, 4])["subscription"]
        assert first != second
        frames = dict((params["subscription"], params) for _, params in
                      (client.notification("keyframe") for _ in range(2)))
        assert frames[first]["rect"] == [0, 0, 32, 32] and frames[first]["team"] == 0
        assert frames[second]["rect"] == [1, 2, 3, 4] and frames[second]["team"] == team
        assert sum(frames[first]["cells"][::2]) == 32 * 32
        assert frames[second]["cells"] == [12, 0], "nothing is known yet"
        assert client.call("unsubscribe", subscription=first) == {}
        assert client.refused("unsubscribe", subscription=first) == "bad_value"
        client.call("agent.spawn", world=world, team=team, cells=[2, 3])
        client.call("world.step", world=world)
        assert [params["subscription"] for _, params in client.notifications] == [second]


def orders_to_many():
    """An order to many units is spread over ticks and answered once; later requests wait for it."""
    with Server("--order-agents-per-tick", "7") as server:
        client = server.connect()
        world = make_world(client, paused=False, tick_hz=50)
        team = client.call("team.create", world=world)["team"]
        cells = [number for i in range(200) for number in (i % 32, i // 32)]
        agents = client.call("agent.spawn", world=world, team=team, cells=cells)["agents"]
        before = client.call("world.info", world=world)["tick"]
        orders = [client.send("agent.order", world=world, kind="move", agents=agents, goal=goal)
                  for goal in ([30, 30], [1, 30])]
        info = client.send("world.info", world=world)
        stop = client.send("agent.order", world=world, kind="stop", agents=agents)
        first, second = (client.answer(number) for number in orders)
        assert first["order"] == 1 and second["order"] == 201, (first, second)
        client.answer(stop), client.answer(info)
        # 200 units, 7 at once and 7 more with each tick: 28 ticks for each of the three.
        assert client.call("world.info", world=world)["tick"] >= before + 3 * 28
        ended = client.call("stats", world=world)["world"]["orders_ended"]
        assert ended["replaced"] + ended["arrived"] + ended["cancelled"] == 400, ended
        assert client.refused("agent.order", world=world, kind="move", goal=[99, 0], agents=agents) == "off_grid"

        # A paused world has no ticks over which the order could be spread.
        client.call("world.pause", world=world)
        assert client.call("agent.order", world=world, kind="hold", agents=agents)["order"] == 401


run([orders_to_many, hello_and_ping, tokens, requests_that_fit_no_table, worlds,
     names_are_taken_while_a_world_is_made, uploads, pausing_and_stepping, teams_and_agents,
     terrain, paths, statistics_and_inspection, shares_of_the_search,
     subscriptions])
