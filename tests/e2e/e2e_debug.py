"""debug.explain, debug.top and debug.subscribe: why an agent does what it does, and what it costs.

Goal    what they say is what happened: orders and their ends, replans and their causes, who stands
        in the way, who costs most; a followed agent is told of after every tick and until its end.
Method  small worlds in which each of these is known beforehand, tick by tick.
"""

from fogmarch_server import Server, run


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
            _, told = client.notification("debug")
            truth = other.call("debug.inspect", world=world, agent=agent, rect=[0, 0, 40, 40])
            assert told["subscription"] == number and told["world"] == world
            assert told["tick"] == tick
            assert {name: told[name] for name in truth} == truth
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
        _, told = client.notification("debug")
        assert told["subscription"] == second and told["ended"]
        # Sessions that hang up leave nothing behind, or the 65th would be refused.
        agent, = client.call("agent.spawn", world=world, team=team, cells=[5, 5])["agents"]
        for _ in range(3):
            guest = server.connect()
            for _ in range(30):
                guest.call("debug.subscribe", world=world, agent=agent)
            guest.close()
            for _ in range(5):
                step(other, world)
                other.call("ping")


if __name__ == "__main__":
    run([orders_are_remembered, what_blocks_it, who_blocks_it, replans_and_their_cause,
         the_most_expensive_first, a_followed_agent])
