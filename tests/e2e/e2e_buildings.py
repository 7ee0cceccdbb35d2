"""Buildings over the wire and from the command line.

Goal    a building blocks its cells, names its owner, and pushes units away or is refused with the
        reason; each team remembers it as it saw it last, under a number that reveals nothing about
        buildings that the team has not seen.
Method  an open map, two teams far from each other; all ticks by world.step.
"""

import json
import os
import subprocess

from fogmarch_server import RequestError, Server, run
from mirror import Mirror

BUILDING = 7  # terrain values in a view's looks
GROUND = 1


class View:
    """A subscription of its own session."""

    def __init__(self, server, world, team, **params):
        self.client = server.connect()
        self.mirror = Mirror()
        self.world = world
        self.client.call("subscribe", world=world, team=team, **params)
        self.update()

    def update(self):
        self.client.hear_all(self.world)
        for name, params in self.client.notifications:
            self.mirror.apply(name, params)
        self.client.notifications.clear()
        return self.mirror

    def terrain(self, x, y):
        return self.mirror.looks[(x, y)] & 15


def make_world(client, **params):
    world = client.call("world.create", name="w", generator="open", width=60, height=40,
                        paused=True, **params)["world"]
    teams = [client.call("team.create", world=world)["team"] for _ in range(2)]
    agents = [client.call("agent.spawn", world=world, team=team, cells=cells)["agents"]
              for team, cells in zip(teams, ([5, 20, 6, 20], [54, 20]))]
    client.call("world.step", world=world)
    return world, teams, agents


def reason(client, method, **params):
    try:
        client.call(method, **params)
    except RequestError as error:
        return error.name, error.message
    raise AssertionError(f"{method}{params} was not refused")


def they_block_and_name_what_is_in_the_way():
    with Server() as server:
        client = server.connect()
        world, (one, two), ((first, second), _) = make_world(client)

        def refused(**params):
            return reason(client, "building.place", world=world, **params)

        assert refused(rect=[58, 0, 3, 1])[0] == "off_grid"
        assert refused(rect=[0, 0, 0, 1])[0] == "off_grid"
        assert refused(rect=[0, 0, 1, 1], team=3)[0] == "no_team"
        assert refused(rect=[0, 0, 1, 1], on_units="ask")[0] == "bad_value"
        assert refused(rect=[6, 18, 3, 3], on_units="refuse") == (
            "occupied_cell", f"agent {second} stands there")

        answer = client.call("building.place", world=world, team=one, rect=[4, 19, 3, 3])
        assert answer == {"building": 1, "pushed": 2}, answer
        for agent in (first, second):
            x, y = client.call("debug.inspect", world=world, agent=agent)["cell"]
            assert not (4 <= x <= 6 and 19 <= y <= 21)
        assert refused(rect=[6, 21, 5, 5]) == ("building", "building 1 stands there")
        name, message = reason(client, "terrain.set", world=world, set="blocked",
                               cells=[0, 0, 5, 20])
        assert name == "building" and "entry 1" in message, message
        assert reason(client, "agent.spawn", world=world, team=two, cells=[5, 20])[0] == \
            "blocked_cell"
        assert not client.call("path.query", world=world,
                               **{"from": [0, 0], "to": [5, 20]})["complete"]

        assert client.call("building.remove", world=world, building=1) == {"changed": 9}
        assert reason(client, "building.remove", world=world, building=1)[0] == "no_building"
        assert client.call("path.query", world=world, **{"from": [0, 0], "to": [5, 20]})["complete"]
        again = client.call("building.place", world=world, rect=[4, 19, 1, 1])
        assert again["building"] == 2, "numbers are not given out again"


def each_team_believes_what_it_saw():
    with Server() as server:
        client = server.connect()
        world, (one, two), ((scout, _), (far,)) = make_world(client)
        everything, mine, theirs = (View(server, world, team) for team in (0, one, two))

        def place(team, rect):
            return client.call("building.place", world=world, team=team, rect=rect)["building"]

        def step(ticks=1):
            client.call("world.step", world=world, ticks=ticks)
            for view in (everything, mine, theirs):
                view.update()

        def go(agent, x, y):
            client.call("agent.order", world=world, agents=[agent], kind="move", goal=[x, y])
            step(80)

        hidden = place(0, [0, 0, 2, 2])  # makes the teams' numbers for the tower differ from the world's
        tower = place(two, [29, 18, 3, 4])
        step()
        assert everything.mirror.buildings == {hidden: (0, 0, 0, 2, 2), tower: (two, 29, 18, 3, 4)}
        assert list(theirs.mirror.buildings.values()) == [(two, 29, 18, 3, 4)], "the owner knows"
        assert mine.mirror.buildings == {} and mine.terrain(29, 18) == 0

        go(scout, 24, 20)
        assert list(mine.mirror.buildings.values()) == [(two, 29, 18, 3, 4)], "seen in part is seen"
        assert mine.terrain(29, 20) == BUILDING and mine.terrain(31, 20) == 0
        go(scout, 5, 30)
        client.call("building.remove", world=world, building=tower)
        step()
        assert theirs.mirror.buildings == {} and theirs.terrain(29, 20) == GROUND
        assert list(mine.mirror.buildings) != [] and mine.terrain(29, 20) == BUILDING
        assert tower not in everything.mirror.buildings

        # A new subscriber is told the same as those that were there all the time.
        late = View(server, world, one)
        assert late.mirror.state() == mine.mirror.state()
        part = View(server, world, one, rect=[0, 0, 29, 40])
        assert part.mirror.buildings == {}, "it does not touch the rectangle"

        go(scout, 24, 20)
        assert mine.mirror.buildings == {} and mine.terrain(29, 20) == GROUND
        rebuilt = place(two, [29, 18, 3, 4])
        step()
        assert rebuilt in everything.mirror.buildings
        assert list(mine.mirror.buildings.values()) == [(two, 29, 18, 3, 4)]
        go(far, 40, 20)
        assert View(server, world, two).mirror.state() == theirs.mirror.state()


def players_build_what_they_see():
    with Server() as server:
        client = server.connect()
        world, (one, two), ((first, _), _) = make_world(client, players_build=3, sense_radius=5)
        assert client.call("world.info", world=world)["rules"]["players_build"] == 3
        players = []
        for team in (one, two):
            token = client.call("token.create", role="player", world=world, team=team)["token"]
            player = server.connect(hello=False)
            player.call("hello", protocol=1, token=token)
            players.append(player)
        mine, theirs = players
        place = lambda player, rect, **params: player.call(  # noqa: E731
            "building.place", world=world, rect=rect, **params)["building"]

        def refused(player, method="building.place", **params):
            return reason(player, method, world=world, **params)

        client.call("building.place", world=world, team=two, rect=[50, 20, 1, 1])
        client.call("terrain.set", world=world, set="blocked", cells=[2, 20, 40, 20])
        client.call("world.step", world=world)
        wall = place(mine, [8, 18, 1, 3])
        assert wall == 1, "a player's numbers count what its team has seen"
        view = View(server, world, 0)
        assert sorted(view.mirror.buildings.values()) == [(one, 8, 18, 1, 3), (two, 50, 20, 1, 1)]
        # Unseen, seen but not free, half seen, occupied by a friend: all get the same error and text.
        unseen = refused(mine, rect=[30, 20, 1, 1])
        assert unseen == refused(mine, rect=[40, 20, 1, 1]) == refused(mine, rect=[50, 20, 1, 1])
        assert unseen[0] == "blocked_cell" and "sees now" in unseen[1]
        assert refused(mine, rect=[2, 20, 1, 1]) == refused(mine, rect=[8, 20, 1, 1]) == unseen
        assert refused(mine, rect=[10, 20, 5, 1]) == unseen
        assert refused(mine, rect=[5, 20, 1, 1]) == ("occupied_cell", "a unit stands there already")
        assert refused(mine, rect=[5, 19, 1, 1], on_units="push")[0] == "bad_value"
        assert refused(mine, rect=[5, 19, 1, 1], team=two)[0] == "denied"
        assert refused(mine, rect=[0, 0, 60, 40])[0] == "limit"
        second = place(mine, [3, 17, 1, 1])
        place(mine, [3, 23, 1, 1], team=one)
        assert refused(mine, rect=[4, 17, 1, 1])[0] == "limit", "a team has three of them"
        # For a player another team's building does not exist; its own can be removed while it is in sight.
        assert place(theirs, [52, 20, 1, 1]) == 2
        assert refused(theirs, "building.remove", building=3) == \
            refused(theirs, "building.remove", building=99)
        assert refused(mine, "building.remove", building=99)[0] == "no_building"
        client.call("agent.order", world=world, agents=[first, first + 1], kind="move", goal=[30, 35])
        client.call("world.step", world=world, ticks=60)
        assert refused(mine, "building.remove", building=second) == (
            "not_ready", "your team does not see all of it now")
        client.call("agent.order", world=world, agents=[first], kind="move", goal=[4, 18])
        client.call("world.step", world=world, ticks=60)
        assert mine.call("building.remove", world=world, building=second) == {"changed": 1}
        assert place(mine, [3, 17, 1, 1]) == 4

        other = client.call("world.create", name="other", generator="open", width=20, height=20,
                            paused=True)["world"]
        client.call("team.create", world=other)
        client.call("agent.spawn", world=other, team=1, cells=[5, 5])
        client.call("world.step", world=other)
        token = client.call("token.create", role="player", world=other, team=1)["token"]
        player = server.connect(hello=False)
        player.call("hello", protocol=1, token=token)
        for method, what in (("place", {"rect": [6, 6, 1, 1]}), ("remove", {"building": 1})):
            assert reason(player, f"building.{method}", world=other, **what) == (
                "denied", "players do not build in this world")


def the_command_line_builds():
    with Server() as server:
        client = server.connect()
        make_world(client)
        program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")

        def fogmarch(*arguments, status=0):
            done = subprocess.run(
                [program, "--connect", f"127.0.0.1:{server.port}", *arguments],
                capture_output=True, text=True, timeout=60)
            assert done.returncode == status, done
            return done.stdout + done.stderr

        assert fogmarch("build", "5,20,1,1", "--team", "1") == "building 1; 1 unit pushed\n"
        assert json.loads(fogmarch("--json", "build", "10,20,4,3")) == {"building": 2, "pushed": 0}
        assert "building 2 stands there" in fogmarch("build", "12,21,9,9", status=1)
        assert "stands there" in fogmarch("build", "0,10,20,20", "--on-units", "refuse", status=1)
        assert "not of the form" in fogmarch("build", "12,21", status=2)
        assert fogmarch("demolish", "2") == "12 cells changed\n"
        assert "no_building" in fogmarch("demolish", "2", status=1)
        assert "not the number" in fogmarch("demolish", "tower", status=2)


if __name__ == "__main__":
    run([they_block_and_name_what_is_in_the_way, each_team_believes_what_it_saw,
         players_build_what_they_see, the_command_line_builds])
