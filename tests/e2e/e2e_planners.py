"""Planners and heuristics by name, over the wire and at the command line.

Goal    the textbook searches answer queries and lead agents; a heuristic changes how much is
        searched, not what is found; an option that a planner does not take is refused by name;
        landmarks are measured in the background, and dropped when a wall comes down; an agent's path
        begins where it stands.
Method  one server, paused worlds, all ticks by world.step.
"""

import os
import subprocess

from fogmarch_server import RequestError, Server, run

CHEAPEST = ("dijkstra", "astar", "repeated-forward-astar:heuristic=zero", "adaptive-astar",
            "repeated-jps")
ANY_PATH = ("breadth-first", "depth-first", "greedy-best-first", "astar:heuristic=manhattan")


def make_world(client, name, **params):
    options = dict(generator="rooms", width=192, height=192, seed=5, paused=True, omniscient=True)
    options.update(params)
    world = client.call("world.create", name=name, **options)["world"]
    team = client.call("team.create", world=world)["team"]
    return world, team


def free_cells(client, world, wanted):
    """Connected free cells: those of a long path."""
    for corner in range(2, 40):
        answer = client.call("path.query", world=world, **{"from": [3, 3],
                                                           "to": [190 - corner, 188]})
        if answer["complete"]:
            cells = list(zip(answer["cells"][0::2], answer["cells"][1::2]))
            return [list(cells[i * (len(cells) - 1) // (wanted - 1)]) for i in range(wanted)]
    raise AssertionError("the rooms do not hang together")


def queries_by_planner():
    with Server() as server:
        client = server.connect()
        world, _ = make_world(client, "rooms")
        cells = free_cells(client, world, 2)

        def query(**params):
            return client.call("path.query", world=world, **{"from": cells[0], "to": cells[1]},
                               **params)

        best = query()
        for planner in CHEAPEST:
            answer = query(planner=planner)
            assert answer["complete"] and answer["cost"] == best["cost"], planner
        for planner in ANY_PATH:
            answer = query(planner=planner)
            assert answer["complete"] and answer["cost"] >= best["cost"], planner
            assert answer["cells"][:2] == cells[0] and answer["cells"][-2:] == cells[1], planner
        assert query(planner="astar")["expansions"] < query(planner="dijkstra")["expansions"]
        assert query(planner="greedy-best-first")["expansions"] < \
            query(planner="astar")["expansions"]
        for planner, word in (("dstar-lite", "queries"), ("rtaa-star", "queries"),
                              ("dijkstra:heuristic=octile", "takes no heuristic"),
                              ("adaptive-astar:heuristic=cluster", "consistent"),
                              ("astar:heuristic=crow", "crow")):
            try:
                query(planner=planner)
                raise AssertionError(f"{planner} was not refused")
            except RequestError as error:
                assert error.name == "bad_value" and word in str(error), (planner, error)


def landmarks_over_the_wire():
    with Server() as server:
        client = server.connect()
        world, team = make_world(client, "alt", planner="astar:heuristic=landmarks", landmarks=4,
                                 landmark_placement="avoid", landmarks_move=True)
        rules = client.call("world.info", world=world)["rules"]
        assert (rules["landmarks"], rules["landmark_placement"]) == (4, "avoid")
        assert (rules["landmarks_move"], rules["stale"]) == (True, "refuse")
        for wrong in (dict(landmark_placement="nowhere"), dict(stale="maybe"), dict(landmarks=17)):
            assert client.refused("world.create", name="x", generator="open", **wrong) in (
                "bad_value", "bad_field")
        cells = free_cells(client, world, 9)
        agents = client.call("agent.spawn", world=world, team=team,
                             cells=sum(cells[:8], []))["agents"]
        client.call("agent.order", world=world, agents=agents, kind="move", goal=cells[8])
        client.call("world.step", world=world, ticks=1)
        by = {"team": team, "from": cells[0], "to": cells[8]}
        plain = client.call("path.query", world=world, planner="astar", **by)

        def ask():
            return client.call("path.query", world=world, planner="astar:heuristic=landmarks",
                               **by)

        client.call("world.step", world=world, ticks=60)
        guided = ask()
        assert guided["cost"] == plain["cost"]
        assert guided["expansions"] < plain["expansions"] * 2 / 3, (guided["expansions"],
                                                                    plain["expansions"])
        # A wall comes down: no estimate may be trusted until all are measured again.
        client.call("terrain.set", world=world, set="blocked", cells=cells[4])
        client.call("world.step", world=world, ticks=1)
        client.call("terrain.set", world=world, set="ground", cells=cells[4])
        client.call("world.step", world=world, ticks=1)
        assert ask()["expansions"] == plain["expansions"]
        client.call("world.step", world=world, ticks=80)
        again = ask()
        assert again["cost"] == plain["cost"]
        assert again["expansions"] < plain["expansions"] * 2 / 3
        for _ in range(40):
            client.call("world.step", world=world, ticks=20)
        for agent in agents:
            report = client.call("debug.inspect", world=world, agent=agent)
            assert report["cell"] == cells[8] and report["state"] == "idle", report


def paths_between_ticks():
    """An agent's path begins where it stands, even if its search does not know of its last step yet."""
    with Server() as server:
        client = server.connect()
        for planner in ("dstar-lite", "dstar-extra-lite", "repeated-forward-astar", "adaptive-astar",
                        "repeated-backward-astar", "mpgaa-star", "repeated-jps", "tba-star", "auto",
                        "astar"):
            world, team = make_world(client, planner, omniscient=False, planner=planner)
            start, goal = free_cells(client, world, 2)
            agent, = client.call("agent.spawn", world=world, team=team, cells=start)["agents"]
            client.call("agent.order", world=world, agents=[agent], kind="move", goal=goal)
            told = 0
            for _ in range(20):
                client.call("world.step", world=world, ticks=1)
                report = client.call("debug.inspect", world=world, agent=agent)
                path = list(zip(report["path"][0::2], report["path"][1::2]))
                if report["plan"] != "found":
                    continue
                told += 1
                assert path and list(path[0]) == report["cell"], (planner, report["cell"], path[:3])
                assert list(path[-1]) == goal, (planner, path[-1], goal)
                assert all(max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1
                           for a, b in zip(path, path[1:])), planner
            assert told > 10, (planner, told)


def command_line():
    with Server() as server:
        def fogmarch(*words, status=0):
            program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
            done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60,
                                  env=dict(os.environ, FOGMARCH_CONNECT=f"127.0.0.1:{server.port}"))
            assert done.returncode == status, (words, done.stdout, done.stderr)
            return done.stdout + done.stderr

        fogmarch("create", "alt", "--generate", "open", "--width", "40", "--height", "40",
                 "--landmarks", "3", "--landmark-placement", "random", "--stale", "allow",
                 "--planner", "astar:heuristic=landmarks", "--paused")
        text = fogmarch("path", "1,1", "30,20", "--planner", "breadth-first")
        assert "found" in text, text
        text = fogmarch("path", "1,1", "30,20", "--planner", "tba-star", status=1)
        assert "does not answer queries" in text, text


if __name__ == "__main__":
    run([queries_by_planner, landmarks_over_the_wire, paths_between_ticks, command_line])
