"""debug.explain, debug.top and debug.subscribe: why an agent does what it does, and what it costs.

Goal    they report what happened: orders and their ends, replans and their causes, who stands in
        the way, who costs most; a followed agent's state comes after every tick, until the agent is gone.
Method  small worlds in which all of this is known in advance, tick by tick.
"""

import os
import subprocess
import time

from e2e_http import WebServer
from fogmarch_server import PATIENCE, Server, run


def make_world(client, **options):
    world = client.call("world.create", name="one", generator="open", width=40, height=40,
                        paused=True, **options)["world"]
    team = client.call("team.create", world=world)["team"]
    return world, team


def step(client, world, ticks=1):
    client.call("world.step", world=world, ticks=ticks)


def orders_are_remembered():
    for planner in ("dstar-lite", "repeated-jps", "auto", "rtaa-star"):
        remember_orders(planner)


def remember_orders(planner):
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, planner=planner)
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 5])["agents"]
        explain = lambda: client.call("debug.explain", world=world, agent=agent)  # noqa: E731
        assert explain()["why"] == "it has no order" and not explain()["orders"]
        first = client.call("agent.order", world=world, agents=[agent], kind="move",
                            goal=[9, 5])["order"]
        step(client, world, 2)
        assert explain()["why"] == "it moves along its path"
        second = client.call("agent.order", world=world, agents=[agent], kind="move",
                             goal=[7, 9])["order"]
        step(client, world, 10)
        events = [(entry["order"], entry["event"], entry.get("kind") or entry["reason"],
                   entry["tick"]) for entry in reversed(explain()["orders"])]
        assert events == [(first, "given", "move", 0), (first, "begun", "move", 0),
                          (first, "ended", "replaced", 2), (second, "given", "move", 2),
                          (second, "begun", "move", 2), (second, "ended", "arrived", 5)], events
        assert client.refused("debug.explain", world=world, agent=agent + 1) == "no_agent"


def what_blocks_it():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, omniscient=True)
        client.call("terrain.set", world=world, set="blocked",
                    rects=[20, 20, 5, 1, 20, 24, 5, 1, 20, 20, 1, 5, 24, 20, 1, 5])
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 5])["agents"]
        client.call("agent.order", world=world, agents=[agent], kind="move", goal=[22, 22],
                    on_unreachable="wait")
        step(client, world, 5)
        explained = client.call("debug.explain", world=world, agent=agent)
        assert explained["state"] == "blocked" and "cannot be reached" in explained["why"]
        assert explained["blocked_at"] == [22, 22]
        assert explained["waits_ticks"] == 5


def who_blocks_it():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, omniscient=True, occupancy="exclusive")
        other = client.call("team.create", world=world)["team"]
        client.call("terrain.set", world=world, set="blocked", rects=[0, 9, 40, 1, 0, 11, 40, 1])
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 10])["agents"]
        wall, = client.call("agent.spawn", world=world, team=other, cells=[8, 10])["agents"]
        client.call("agent.order", world=world, agents=[agent], kind="move", goal=[20, 10])
        step(client, world, 8)
        explained = client.call("debug.explain", world=world, agent=agent)
        assert explained["blocker"] == wall and explained["blocked_at"] == [8, 10], explained
        assert explained["why"] == "somebody stands in its way"


def who_is_stuck():
    """Units of two teams in a corridor wait for each other; the check at tick 128 reports them as one group. With
    blocked_ticks neither lets the other push it."""
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, omniscient=True, occupancy="exclusive", blocked_ticks=1000)
        other = client.call("team.create", world=world)["team"]
        client.call("terrain.set", world=world, set="blocked", rects=[0, 9, 40, 1, 0, 11, 40, 1])
        agents = [client.call("agent.spawn", world=world, team=team, cells=[5, 10])["agents"][0],
                  client.call("agent.spawn", world=world, team=other, cells=[8, 10])["agents"][0]]
        for agent, goal in zip(agents, ([20, 10], [1, 10])):
            client.call("agent.order", world=world, agents=[agent], kind="move", goal=goal)
        step(client, world, 100)
        jams = client.call("debug.jams", world=world)
        assert set(jams.pop("passing")) <= set(agents), jams
        assert jams == {"stuck": 0, "groups": 0, "agents": [], "escorts": [], "lanes": [], "conceding": []}, jams
        step(client, world, 100)
        jams = client.call("debug.jams", world=world)
        assert (jams["stuck"], jams["groups"]) == (2, 1), jams
        assert [unit["agent"] for unit in jams["agents"]] == agents
        assert [unit["blocker"] for unit in jams["agents"]] == agents[::-1]
        assert [unit["blocker_cell"] for unit in jams["agents"]] == [unit["cell"] for unit in jams["agents"][::-1]]
        assert [unit["goal"] for unit in jams["agents"]] == [[20, 10], [1, 10]]
        explained = client.call("debug.explain", world=world, agent=agents[0])
        assert explained["stuck"] and explained["kept_ticks"] > 64, explained
        assert client.call("stats", world=world)["world"]["stuck"] == 2


# Rows of a room, of a pass whose other end is too narrow for a large unit, and of the room behind it.
PRESS = ["." * 14] * 5 + ["@@@@@...@@@@@@"] * 5 + ["@@@@@@.@@@@@@@"] + ["." * 14] * 4


def in_words(server, agent):
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    return subprocess.run([program, "--connect", f"127.0.0.1:{server.port}", "explain", str(agent)], check=True,
                          capture_output=True, text=True, timeout=PATIENCE).stdout


def who_is_let_through():
    """A large unit stands in the pass and wants out; 42 small ones of the room press it, as in test_escorts.c."""
    with WebServer() as server:
        client = server.connect()
        rows = "\n".join(PRESS)
        world = client.call("world.create", name="press", paused=True, omniscient=True, occupancy="exclusive",
                            classes="one:size=1,ground=1;three:size=3,ground=1",
                            map=f"type octile\nheight {len(PRESS)}\nwidth 14\nmap\n{rows}\n".encode())["world"]
        team = client.call("team.create", world=world)["team"]
        places = [(i % 14, i // 14) for i in range(42)]
        small = client.call("agent.spawn", world=world, team=team,
                            cells=[at for x, y in places for at in (x, 4 - y)])["agents"]
        large, = client.call("agent.spawn", world=world, team=team, cells=[5, 6], **{"class": "three"})["agents"]
        for agent, (x, y) in zip(small, places):
            client.call("agent.order", world=world, agents=[agent], kind="move", goal=[13 - x, 11 + y])
        client.call("agent.order", world=world, agents=[large], kind="move", goal=[0, 0])
        stats = lambda: client.call("stats", world=world)["world"]  # noqa: E731
        explain = lambda agent: client.call("debug.explain", world=world, agent=agent)  # noqa: E731
        nothing = {"away": 0, "no_progress": 0, "out_of_time": 0, "dropped": 0}
        assert (stats()["escorts"], stats()["escorts_ended"]) == (0, nothing)
        assert (explain(large)["escort"], explain(large)["stands"]) == (0, [])
        steps = 0
        while client.call("debug.jams", world=world)["escorts"] == []:
            step(client, world)
            steps += 1
            assert steps < 1000
        escort, = client.call("debug.jams", world=world)["escorts"]
        assert (escort["agent"], escort["team"], escort["size"]) == (large, team, 3), escort
        assert escort["cell"][0] == 5 and escort["next"] != [] and escort["since"] == steps - 1, escort
        assert escort["stands"] and set(escort["stands"]) <= set(small), escort
        explained = explain(large)
        assert (explained["escort"], explained["help"], explained["stands"]) == (large, "escort", escort["stands"])
        for agent in small:
            explained = explain(agent)
            stands = agent in escort["stands"]
            assert (explained["escort"], explained["help"]) == ((large, "stands") if stands else (0, "none")), explained
        assert (stats()["escorts"], stats()["escorts_ended"]) == (1, nothing)
        words = in_words(server, large)
        assert "it has an escort, to get through a press; " in words and f": {escort['stands'][0]} " in words, words
        words = in_words(server, escort["stands"][0])
        assert f"it stands so that agent {large} gets through a press" in words, words
        metrics = server.get("/metrics")[2]
        assert 'fogmarch_escorts{world="press"} 1\n' in metrics
        assert 'fogmarch_escorts_ended_total{world="press",end="away"} 0\n' in metrics
        # It gets away, and so do others, for whom it was the turn later.
        seen = {large}
        while stats()["escorts"] > 0 or stats()["orders_ended"]["arrived"] < 43:
            step(client, world)
            steps += 1
            assert steps < 2000
            seen |= {escort["agent"] for escort in client.call("debug.jams", world=world)["escorts"]}
        assert client.call("debug.jams", world=world)["escorts"] == []
        assert stats()["escorts_ended"] == {**nothing, "away": len(seen)}, (stats()["escorts_ended"], seen)
        assert (explain(large)["escort"], explain(large)["help"]) == (0, "none")


def who_keeps_to_lanes():
    """Two crowds of a team change sides over a bridge two cells wide, as in test_lanes.c."""
    with WebServer() as server:
        client = server.connect()
        rows = "\n".join("." * 12 + ("." if y in (5, 6) else "@") * 14 + "." * 12 for y in range(13))
        world = client.call("world.create", name="bridge", paused=True, omniscient=True, occupancy="exclusive",
                            map=f"type octile\nheight 13\nwidth 38\nmap\n{rows}\n".encode())["world"]
        team = client.call("team.create", world=world)["team"]
        near = [(11 - i // 13, i % 13) for i in range(60)]
        far = [(26 + i // 13, i % 13) for i in range(60)]
        sides = []
        for begin, end in ((near, far), (far, near)):
            agents = client.call("agent.spawn", world=world, team=team, planner="dstar-lite",
                                 cells=[at for cell in begin for at in cell])
            sides.append(agents["agents"])
            for agent, goal in zip(agents["agents"], end):
                client.call("agent.order", world=world, agents=[agent], kind="move", goal=goal)
        stats = lambda: client.call("stats", world=world)["world"]  # noqa: E731
        jams = lambda: client.call("debug.jams", world=world)  # noqa: E731
        explain = lambda agent: client.call("debug.explain", world=world, agent=agent)  # noqa: E731
        assert (stats()["lanes"], jams()["lanes"]) == (0, [])
        assert (explain(sides[0][0])["lanes"], explain(sides[0][0])["lanes_to"]) == ([], "none")
        steps = 0
        while not any(lanes["open"] for lanes in jams()["lanes"]):
            assert stats()["lanes"] == 0
            step(client, world)
            steps += 1
            assert steps < 400
        lanes, = jams()["lanes"]
        assert (lanes["team"], lanes["passage"], lanes["vertical"]) == (team, [12, 5, 14, 2], False), lanes
        assert lanes["directions"] == [1, 0], lanes  # each on the right
        assert lanes["ahead"] >= 6 and lanes["back"] >= 6 and stats()["lanes"] == 1, lanes
        assert 'fogmarch_lanes{world="bridge"} 1\n' in server.get("/metrics")[2]
        kept = [[agent for agent in side if explain(agent)["lanes"] == lanes["passage"]] for side in sides]
        assert 3 <= len(kept[0]) <= lanes["ahead"] and 3 <= len(kept[1]) <= lanes["back"], kept
        assert {explain(agent)["lanes_to"] for agent in kept[0]} == {"east"}
        assert {explain(agent)["lanes_to"] for agent in kept[1]} == {"west"}
        words = in_words(server, kept[1][0])
        assert "it keeps to the lanes of the passage at 12,5, to the west: two streams meet there\n" in words, words
        while stats()["orders_ended"]["arrived"] < 120:
            step(client, world)
            steps += 1
            assert steps < 1000
        step(client, world, 80)
        assert (stats()["lanes"], jams()["lanes"]) == (0, [])


NO_MEETING = {"passes_until": 0, "passes_team": 0, "concedes": False, "via": []}


def meeting(client, world, agent):
    explained = client.call("debug.explain", world=world, agent=agent)
    return {name: explained[name] for name in NO_MEETING}


def who_passes_and_concedes():
    """Two teams of 48 walk into each other, in a field: blocked ones keep to the right. Of two in a corridor one cell
    wide none can pass: after four ticks they concede."""
    with WebServer() as server:
        client = server.connect()
        rows = "\n".join(["." * 40] * 20 + ["@" * 40, "." * 40, "@" * 40])
        world = client.call("world.create", name="field", paused=True, omniscient=True, occupancy="exclusive",
                            map=f"type octile\nheight 23\nwidth 40\nmap\n{rows}\n".encode())["world"]
        sides, teams = [], []
        for begin in (8, 24):
            teams.append(client.call("team.create", world=world)["team"])
            cells = [at for i in range(48) for at in (begin + i % 8, 6 + i // 8)]
            sides.append(client.call("agent.spawn", world=world, team=teams[-1], cells=cells)["agents"])
            for i, agent in enumerate(sides[-1]):
                client.call("agent.order", world=world, agents=[agent], kind="move", goal=[32 - begin + i % 8, 6 + i // 8])
        stats = lambda: client.call("stats", world=world)["world"]  # noqa: E731
        jams = lambda: client.call("debug.jams", world=world)  # noqa: E731
        assert (stats()["passing"], jams()["passing"]) == (0, [])
        assert meeting(client, world, sides[0][0]) == NO_MEETING
        steps, named = 0, 0
        while stats()["orders_ended"]["arrived"] < 96:
            step(client, world)
            steps += 1
            assert steps < 300
            passing = jams()["passing"]
            ended = stats()["orders_ended"]["arrived"]
            assert len(passing) <= stats()["passing"] <= len(passing) + ended
            if not named and len(passing) > 2:
                assert ended == 0
                metrics = server.get("/metrics")[2]
                assert f'fogmarch_passing_agents{{world="field"}} {len(passing)}\n' in metrics
                named = 1
                said = {agent: meeting(client, world, agent) for agent in sides[0] + sides[1]}
                assert {agent for agent, told in said.items() if told["passes_until"]} == set(passing)
                assert {said[agent]["passes_until"] - steps for agent in passing} <= set(range(0, 17))
                for agent in passing:
                    assert said[agent]["passes_team"] == teams[agent in sides[0]], (agent, said[agent])
                words = in_words(server, passing[0])
                assert (f"it keeps to the right until tick {said[passing[0]]['passes_until']}, to pass units of team "
                        f"{said[passing[0]]['passes_team']}\n") in words, words
        assert named and (stats()["passing"], jams()["passing"]) == (0, [])
        assert {str(meeting(client, world, agent)) for side in sides for agent in side} == {str(NO_MEETING)}

        pair = [client.call("agent.spawn", world=world, team=team, cells=[x, 21])["agents"][0]
                for team, x in zip(teams, (15, 20))]
        for agent, x in zip(pair, (39, 0)):
            client.call("agent.order", world=world, agents=[agent], kind="move", goal=[x, 21])
        steps = 0
        while not jams()["conceding"]:
            assert steps < 60 and stats()["conceding"] == 0
            step(client, world)
            steps += 1
        assert steps > 4, steps
        assert set(jams()["conceding"]) <= set(pair) and len(jams()["conceding"]) == stats()["conceding"]
        agent = jams()["conceding"][0]
        assert meeting(client, world, agent)["concedes"] and not meeting(client, world, sides[0][0])["concedes"]
        counted = f'fogmarch_conceding_agents{{world="field"}} {stats()["conceding"]}\n'
        end = time.monotonic() + PATIENCE
        while counted not in server.get("/metrics")[2]:  # which is looked up once a second at most
            assert time.monotonic() < end, counted
            time.sleep(0.1)
        assert "it concedes: units of other teams may push it\n" in in_words(server, agent)


def who_goes_round_a_press():
    """A crowd before a gap of two cells, and open ground beside the wall, as in test_bypass.c."""
    with WebServer() as server:
        client = server.connect()
        rows = "\n".join("." * 40 + ("." if y < 12 or y in (26, 27) else "@") * 2 + "." * 48 for y in range(44))
        world = client.call("world.create", name="gap", paused=True, omniscient=True, occupancy="exclusive",
                            map=f"type octile\nheight 44\nwidth 90\nmap\n{rows}\n".encode())["world"]
        team = client.call("team.create", world=world)["team"]
        starts = [(12 + i % 20, 18 + i // 20) for i in range(400)]
        agents = client.call("agent.spawn", world=world, team=team, cells=[x for at in starts for x in at])["agents"]
        for agent, (x, y) in zip(agents, starts):
            client.call("agent.order", world=world, agents=[agent], kind="move", goal=[x + 42, y])
        stats = lambda: client.call("stats", world=world)["world"]  # noqa: E731
        steps = 0
        while stats()["bypasses"] == 0:
            assert steps < 200 and all(meeting(client, world, agent)["via"] == [] for agent in agents[:20])
            step(client, world)
            steps += 1
        told = {agent: said["via"] for agent in agents if (said := meeting(client, world, agent))["via"]}
        assert 0 < len(told) <= stats()["bypasses"] <= 64, (len(told), stats()["bypasses"])
        assert 2 * sum(y < 15 for x, y in told.values()) > len(told), told  # by the open ground
        agent, (x, y) = next(iter(told.items()))
        assert f"it goes round a press, by way of {x},{y}\n" in in_words(server, agent)
        assert f'fogmarch_bypasses_total{{world="gap"}} {stats()["bypasses"]}\n' in server.get("/metrics")[2]
        step(client, world, 300)
        assert stats()["orders_ended"]["arrived"] == 400
        assert {str(meeting(client, world, agent)) for agent in agents} == {str(NO_MEETING)}


def replans_and_their_cause():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, planner="dstar-lite")
        agent, idler = client.call("agent.spawn", world=world, team=team,
                                   cells=[5, 20, 5, 5])["agents"]
        client.call("agent.order", world=world, agents=[agent], kind="move", goal=[35, 20])
        step(client, world, 3)
        assert client.call("debug.explain", world=world, agent=agent)["replans"] == []
        client.call("terrain.set", world=world, set="blocked", rects=[11, 15, 1, 11])
        step(client, world, 3)
        replans = client.call("debug.explain", world=world, agent=agent)["replans"]
        assert replans and replans[0]["expansions"] > 0 and replans[0]["changed"] > 0
        assert replans[-1]["cell"][0] == 11, replans
        inspected = client.call("debug.inspect", world=world, agent=agent)
        assert len(replans) == inspected["replans"]
        top = client.call("debug.top", world=world)["rows"]
        assert [row["agent"] for row in top] == [agent], "the idle one costs nothing"
        assert top[0]["expansions"] == inspected["expansions"] and top[0]["per_tick"] > 0
        assert top[0]["planner"].startswith("dstar-lite") and top[0]["goal"] == [35, 20]
        edits = client.call("debug.top", world=world, by="edits")["rows"]
        assert edits[0]["cells"] == 11 and len(edits) == 1
        assert client.refused("debug.top", world=world, by="colours") == "bad_value"


def the_most_expensive_first():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, planner="repeated-forward-astar")
        other = client.call("team.create", world=world)["team"]
        cells = [part for i in range(12) for part in (2, 2 + 3 * i)]
        agents = client.call("agent.spawn", world=world, team=team, cells=cells)["agents"]
        near, = client.call("agent.spawn", world=world, team=other, cells=[20, 20])["agents"]
        for i, agent in enumerate(agents):
            client.call("agent.order", world=world, agents=[agent], kind="move",
                        goal=[4 + 3 * i, 38])
        client.call("agent.order", world=world, agents=[near], kind="move", goal=[21, 20])
        step(client, world)
        rows = client.call("debug.top", world=world, rows=5)["rows"]
        costs = [row["per_tick"] for row in rows]
        assert len(rows) == 5 and costs == sorted(costs, reverse=True) and costs[0] > costs[-1]
        everybody = client.call("debug.top", world=world, rows=100)["rows"]
        assert everybody[:5] == rows
        teams = client.call("debug.top", world=world, by="teams")["rows"]
        assert [row["team"] for row in teams] == [team, other]
        assert teams[0]["agents"] == 12 and teams[0]["bytes"] > 0
        planners = client.call("debug.top", world=world, by="planners", rows=100)["rows"]
        assert {row["agent"] for row in planners} == {row["agent"] for row in everybody}


def who_share_a_search_are_one_row():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, planner="dstar-lite")
        cells = [part for i in range(12) for part in (2, 2 + 3 * i)]
        agents = client.call("agent.spawn", world=world, team=team, cells=cells)["agents"]
        client.call("agent.order", world=world, agents=agents[1:], kind="move", goal=[30, 38])
        client.call("agent.order", world=world, agents=agents[:1], kind="move", goal=[38, 2])
        step(client, world)
        rows = client.call("debug.top", world=world, rows=100)["rows"]
        assert {(row["agent"], row["agents"]) for row in rows} == {(agents[0], 1), (agents[1], 11)}, rows


def the_planner_that_auto_has_chosen():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, planner="auto")
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 5])["agents"]
        client.call("agent.order", world=world, agents=[agent], kind="move", goal=[30, 38])
        step(client, world)
        inspected = client.call("debug.inspect", world=world, agent=agent)
        assert inspected["runs"] not in ("", "auto"), inspected
        for by in "agents", "planners":
            row, = client.call("debug.top", world=world, by=by)["rows"]
            assert (row["planner"], row["runs"]) == ("auto", inspected["runs"]), row
        assert client.call("debug.top", world=world, by="teams")["rows"][0]["runs"] == ""


def a_followed_agent():
    with Server() as server:
        client, other = server.connect(), server.connect()
        world, team = make_world(client)
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 5])["agents"]
        number = client.call("debug.subscribe", world=world, agent=agent,
                             rect=[0, 0, 40, 40])["subscription"]
        assert client.notification("debug")[1]["cell"] == [5, 5]
        other.call("agent.order", world=world, agents=[agent], kind="move", goal=[30, 5])
        for tick in range(1, 6):
            step(other, world)
            _, news = client.notification("debug")
            truth = other.call("debug.inspect", world=world, agent=agent, rect=[0, 0, 40, 40])
            assert news["subscription"] == number and news["world"] == world
            assert news["tick"] == tick
            assert {name: news[name] for name in truth} == truth
            assert len(truth["search"]) > 0
        client.call("debug.unsubscribe", world=world, subscription=number)
        assert client.refused("debug.unsubscribe", world=world, subscription=number) == "bad_value"
        step(other, world)
        client.call("ping")
        assert not any(name == "debug" for name, _ in client.notifications)
        second = client.call("debug.subscribe", world=world, agent=agent)["subscription"]
        assert second != number
        client.notification("debug")
        other.call("agent.remove", world=world, agents=[agent])
        step(other, world)
        _, news = client.notification("debug")
        assert news["subscription"] == second and news["ended"]
        # Sessions that disconnect leave nothing behind, or the 65th would be refused.
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 5])["agents"]
        for _ in range(3):
            guest = server.connect()
            for _ in range(30):
                guest.call("debug.subscribe", world=world, agent=agent)
            guest.close()
            for _ in range(5):
                step(other, world)
                other.call("ping")


def what_a_channel_tells():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, planner="adaptive-astar")
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 20])["agents"]
        client.call("agent.order", world=world, agents=[agent], kind="move", goal=[35, 20])
        client.call("terrain.set", world=world, set="blocked", rects=[9, 14, 1, 13])
        step(client, world, 4)
        inspect = lambda **params: client.call("debug.inspect", world=world,  # noqa: E731
                                               agent=agent, **params)
        everything = inspect(rect=[0, 0, 40, 40], channels="report path search details")
        assert set(inspect()) == set(everything) - {"search", "details"}
        assert set(inspect(channels="path")) == {"agent", "path"}
        assert set(inspect(channels="search details")) == {"agent"}, "there is no rectangle"
        part = inspect(rect=[0, 0, 40, 40], channels="details path")
        assert set(part) == {"agent", "path", "details"} and part["details"] == everything["details"]
        assert client.refused("debug.inspect", world=world, agent=agent,
                              channels="path colours") == "bad_value"
        assert everything["per_tick"] > 0 and everything["us_per_tick"] >= 0
        # Parents lead from every closed cell to where the search began; learned estimates are higher
        # than the distance.
        cells = list(zip(*[iter(everything["search"])] * 6))
        details = list(zip(*[iter(everything["details"])] * 5))
        assert len(cells) == len(details) > 20
        parents = {cell[:2]: detail[2:4] for cell, detail in zip(cells, details)}
        closed = [cell[:2] for cell in cells if cell[2] & 2]
        for cell in closed:
            for _ in range(100):
                if parents[cell] == cell:
                    break
                assert max(abs(a - b) for a, b in zip(cell, parents[cell])) == 1
                cell = parents[cell]
            assert parents[cell] == cell
        assert any(detail[4] > 0 for detail in details), "it has learned of the wall"
        number = client.call("debug.subscribe", world=world, agent=agent, rect=[0, 0, 40, 40],
                             channels="details")["subscription"]
        _, news = client.notification("debug")
        assert set(news) == {"subscription", "world", "tick", "agent", "details"}
        assert news["subscription"] == number and news["details"] == everything["details"]


def another_planner():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, planner="dstar-lite")
        one, two = client.call("agent.spawn", world=world, team=team,
                               cells=[5, 20, 5, 21])["agents"]
        client.call("agent.order", world=world, agents=[one, two], kind="move", goal=[35, 20])
        step(client, world, 3)
        inspect = lambda agent: client.call("debug.inspect", world=world, agent=agent)  # noqa: E731
        assert inspect(one)["planner"] == "dstar-lite" and inspect(one)["sharers"] == 2
        order = inspect(one)["order"]
        change = dict(world=world, agents=[one], planner="rtaa-star:lookahead=10")
        assert client.call("agent.planner", **change) == {"count": 1}
        assert inspect(one)["plan"] == "none" and inspect(two)["sharers"] == 1
        step(client, world)
        assert inspect(one)["planner"] == "rtaa-star:lookahead=10"
        assert inspect(one)["order"] == order and inspect(one)["sharers"] == 1
        client.call("agent.planner", world=world, agents=[one, two])
        step(client, world, 40)
        assert [inspect(agent)["planner"] for agent in (one, two)] == ["dstar-lite"] * 2
        assert inspect(one)["cell"] == [35, 20] and inspect(one)["order"] == 0
        # All agents change or none does.
        for error, params in (("no_agent", {"agents": [one, 10**6]}), ("no_planner", {"planner": "x"})):
            refused = dict(change, **params)
            assert client.refused("agent.planner", **refused) == error
        assert inspect(one)["planner"] == "dstar-lite"
        client.call("terrain.set", world=world, set="cost", cost=3, cells=[1, 1])
        assert client.refused("agent.planner", world=world, agents=[one],
                              planner="repeated-jps") == "bad_value"


def planners_side_by_side():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, planner="repeated-jps")
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 20])["agents"]
        compare = lambda **params: client.call("debug.compare", world=world,  # noqa: E731
                                               agent=agent, **params)
        assert client.refused("debug.compare", world=world, agent=agent,
                              planners="astar") == "not_ready"
        assert compare(planners="astar", goal=[35, 20])["answers"][0]["cost"] == 300
        client.call("agent.order", world=world, agents=[agent], kind="move", goal=[35, 20])
        client.call("terrain.set", world=world, set="blocked", rects=[9, 14, 1, 13])
        step(client, world, 2)
        names = ("astar dijkstra dstar-lite repeated-backward-astar repeated-jps tba-star auto "
                 "rtaa-star:lookahead=5")
        news = compare(planners=names, rect=[0, 0, 40, 40])
        assert news["from"] == client.call("debug.inspect", world=world, agent=agent)["cell"]
        assert news["goal"] == [35, 20] and news["team"] == team and news["tick"] == 2
        answers = {answer["planner"]: answer for answer in news["answers"]}
        assert list(answers) == names.split()
        shortest = client.call("path.query", world=world, team=team,
                               **{"from": news["from"], "to": [35, 20]})["cost"]
        for name, answer in answers.items():
            if name.startswith("rtaa"):
                assert answer["reason"] == "partial" and len(answer["cells"]) == 4, answer
                continue
            assert answer["reason"] == "found" and answer["cost"] == shortest > 300, answer
            assert answer["cells"][:2] == news["from"] and answer["cells"][-2:] == [35, 20]
            assert answer["expansions"] > 0 and answer["us"] > 0 and answer["bytes"] > 0
            assert len(answer["search"]) % 6 == 0
        assert answers["dijkstra"]["expansions"] > answers["astar"]["expansions"]
        assert len(answers["dijkstra"]["search"]) > len(answers["astar"]["search"]) > 0
        again = compare(planners=names, rect=[0, 0, 40, 40])
        for answer in news["answers"] + again["answers"]:
            del answer["us"]
        assert again == news, "asking changes nothing"
        assert compare(planners="astar", expansions_max=3)["answers"][0]["reason"] == "limit"
        square = client.call("world.create", name="square", generator="open", width=20, height=20,
                             neighbours=4, paused=True)["world"]
        client.call("team.create", world=square)
        other, = client.call("agent.spawn", world=square, team=1, cells=[3, 3])["agents"]
        answers = client.call("debug.compare", world=square, agent=other, goal=[9, 3],
                              planners="repeated-jps astar")["answers"]
        assert [answer["reason"] for answer in answers] == ["unfit", "found"]
        for planners, error in (("", "bad_field"), ("  ", "bad_value"), ("astar nobody", "no_planner"),
                                ("astar " * 9, "limit")):
            assert client.refused("debug.compare", world=world, agent=agent,
                                  planners=planners) == error, planners
        assert client.refused("debug.compare", world=world, agent=10**6,
                              planners="astar") == "no_agent"


if __name__ == "__main__":
    run([orders_are_remembered, what_blocks_it, who_blocks_it, who_is_stuck, who_is_let_through, who_keeps_to_lanes,
         who_passes_and_concedes, who_goes_round_a_press,
         replans_and_their_cause, the_most_expensive_first, who_share_a_search_are_one_row,
         the_planner_that_auto_has_chosen,
         a_followed_agent, what_a_channel_tells, another_planner, planners_side_by_side])
