"""What a player's own units are doing (agent.report), and what games change on living units (agent.set).

Goal    a player learns of its own units, and of no others, what their orders are, where they go
        next and why they wait; and gets it again after it resumes. Observers may ask for any unit.
Method  a small world whose cells hold one unit each, ticks by world.step; the reported path must be
        the path that the unit walks.
"""

from e2e_save import load, save
from fogmarch_server import Server, run
from mirror import Mirror

SIDE = 32
ARRIVED, CANCELLED, TARGET_LOST, TARGET_DIED = 0, 4, 7, 8  # reasons for which orders end


def make_world(client):
    world = client.call("world.create", name="w", generator="open", width=SIDE, height=SIDE, paused=True,
                        sense_radius=6, occupancy="exclusive")["world"]
    for _ in range(2):
        client.call("team.create", world=world)
    return world


def sit_down(server, admin, world, team):
    token = admin.call("token.create", role="player", world=world, team=team)["token"]
    player = server.connect(hello=False)
    return player, player.call("hello", protocol=1, token=token)["resume"]


def report(client, world, *agents, **params):
    return client.call("agent.report", world=world, agents=list(agents), **params)["agents"]


def a_player_hears_of_its_own_units():
    with Server() as server, server.connect() as admin:
        world = make_world(admin)
        spawned = admin.call("agent.spawn", world=world, team=1, cells=[4, 4, 20, 20])
        hers = admin.call("agent.spawn", world=world, team=2, cells=[6, 8])
        (unit, idle), enemy = spawned["agents"], hers["agents"][0]
        player, resume = sit_down(server, admin, world, 1)
        mine, other = spawned["names"]
        for goal, queue in (([14, 4], False), ([14, 9], True), ([4, 9], True)):
            player.call("agent.order", world=world, agents=[mine], kind="move", goal=goal, queue=queue)
        admin.call("agent.set", world=world, agents=[unit], speed=10)
        admin.call("world.step", world=world, ticks=2)
        first, second = report(player, world, mine, other)
        assert first["agent"] == mine and first["speed"] == 10 and first["class"] == "ground"
        assert [order["goal"] for order in first["orders"]] == [[14, 4], [14, 9], [4, 9]]
        assert [order["order"] for order in first["orders"]] == [1, 2, 3]
        assert not first["waits_for_turn"] and first["substitute"] == []
        assert (second["agent"], second["state"], second["orders"], second["path"]) == (other, "idle", [], [])
        assert second["why"] == "it has no order"
        # The unit walks the reported path.
        path = first["path"]
        assert path[-2:] == [14, 4] and len(path) < 2 * 32, first
        for step in range(0, len(path), 2):
            admin.call("world.step", world=world)
            now = report(player, world, mine, cells_max=2)[0]
            assert now["cell"] == path[step:step + 2], (now, path)
            assert now["path"] == path[step + 2:step + 6] or step + 6 > len(path), (now, path)
        # After the player resumes it is sent the same.
        before = report(player, world, mine, other)
        player.socket.close()
        player = server.connect(hello=False)
        assert player.call("hello", protocol=1, resume=resume)["resumed"]
        assert report(player, world, mine, other) == before
        # Units of other teams seem not to exist, whatever number names them; observers may ask for all.
        shown = player.call("subscribe", world=world)
        assert shown["subscription"] > 0
        admin.call("world.step", world=world)
        for number in (enemy, hers["names"][0], 2, 4, 999):
            if number not in (mine, other):
                assert report(player, world, number) == [], number
        assert [told["agent"] for told in report(admin, world, unit, 999, enemy, idle)] == [unit, enemy, idle]
        assert report(admin, world, unit)[0]["orders"][0]["order"] > 0
        assert admin.refused("agent.report", world=world, agents=[]) == "bad_field"
        assert admin.refused("agent.report", world=world, agents=[1] * 257) == "bad_field"
        assert player.refused("agent.report", world=world + 1, agents=[mine]) == "no_world"


def it_says_who_is_in_the_way():
    with Server() as server, server.connect() as admin:
        world = make_world(admin)
        admin.call("terrain.set", world=world, set="blocked", rects=[0, 1, SIDE, 1])
        mine = admin.call("agent.spawn", world=world, team=1, cells=[2, 0, 5, 0])
        admin.call("agent.set", world=world, agents=[mine["agents"][1]], frozen=True)
        player, _ = sit_down(server, admin, world, 1)
        player.call("agent.order", world=world, agents=[mine["names"][0]], kind="move", goal=[9, 0],
                    on_unreachable="wait")
        player.call("agent.order", world=world, agents=[mine["names"][1]], kind="move", goal=[9, 0])
        admin.call("world.step", world=world, ticks=8)
        walker, frozen = report(player, world, *mine["names"])
        assert walker["blocker"] == mine["names"][1] and walker["blocked_at"] == [5, 0], walker
        assert walker["waits_ticks"] > 3 and "in its way" in walker["why"]
        assert frozen["frozen"] and "frozen" in frozen["why"] and frozen["cell"] == [5, 0]


def endings(client, last):
    """Orders that ended, from all deltas up to the one with order `last`: order to reason and cell."""
    ended = {}
    while last not in ended:
        numbers = client.notification("delta")[1].get("ended", [])
        for order, _, reason, x, y in zip(*[iter(numbers)] * 5):
            assert order not in ended, "an order ends once"
            ended[order] = (reason, [x, y])
    return ended


def queues_are_edited_and_orders_have_deadlines():
    """A player edits the queues of its units by the numbers of its own orders, and by no others."""
    with Server() as server, server.connect() as admin:
        world = make_world(admin)
        # Another team's orders come first, so that a player's numbers differ from the world's.
        enemy = admin.call("agent.spawn", world=world, team=2, cells=[30, 30])["agents"][0]
        for _ in range(3):
            admin.call("agent.order", world=world, agents=[enemy], kind="hold", queue=True)
        mine = admin.call("agent.spawn", world=world, team=1, cells=[4, 4, 8, 8])
        player, _ = sit_down(server, admin, world, 1)
        unit, other = mine["names"]
        player.call("subscribe", world=world)

        def order(goal=(20, 4), agents=(unit,), kind="move", **more):
            place = {"goal": list(goal)} if kind == "move" else {}
            return player.call("agent.order", world=world, agents=list(agents), kind=kind, **place, **more)["order"]

        def queue():
            return [told["order"] for told in report(player, world, unit)[0]["orders"]]

        first = order()
        last = order(queue=True)
        wait = order(kind="hold", at=0, deadline=5)
        between = order(before=[last])
        instead = order((4, 6), replaces=[between])
        assert first == 1 and queue() == [first, wait, instead, last]
        assert [told["ticks_left"] for told in report(player, world, unit)[0]["orders"]] == [0, 5, 0, 0]
        of_both = order((9, 9), agents=(unit, other), at=32)
        assert queue()[-1] == of_both and report(player, world, other)[0]["orders"][0]["order"] == of_both + 1
        for wrong in (dict(before=[first]), dict(before=[between]), dict(replaces=[of_both + 1]), dict(before=[999])):
            assert player.refused("agent.order", world=world, agents=[unit], kind="hold", **wrong) == "no_order", wrong
        for wrong in (dict(before=[last], at=1), dict(queue=True, at=1), dict(replaces=[last, last]), dict(at=33)):
            assert player.refused("agent.order", world=world, agents=[unit], kind="hold", **wrong) == "bad_field", wrong
        assert player.refused("agent.order", world=world, agents=[unit], kind="stop", deadline=3) == "bad_value"
        assert player.refused("agent.order", world=world, agents=[unit], kind="hold", deadline=0) == "bad_field"
        cancel = dict(world=world, agents=[unit, unit])
        assert player.refused("agent.cancel", orders=[last, last], **cancel) == "bad_value"
        assert player.refused("agent.cancel", orders=[last, of_both + 1], **cancel) == "no_order"
        assert player.refused("agent.cancel", orders=[last], **cancel) == "bad_field"
        assert player.refused("agent.cancel", world=world, agents=[4], orders=[1]) == "no_agent"
        with server.connect(hello=False) as watcher:
            token = admin.call("token.create", role="observer")["token"]
            watcher.call("hello", protocol=1, token=token)
            assert watcher.refused("agent.cancel", world=world, agents=[1], orders=[1]) == "denied"
        assert queue() == [first, wait, instead, last, of_both], "refused means nothing done"
        # Sent again with the same id, it is carried out once.
        for _ in range(2):
            assert player.call("agent.cancel", orders=[first, last], command_id=7, **cancel) == {"count": 2}
        admin.call("world.step", world=world, ticks=30)
        ended = endings(player, of_both)
        cancelled, replaced, arrived, deadline = 4, 3, 0, 11
        assert {order: ended[order][0] for order in (first, wait, between, instead, last)} == {
            first: cancelled, wait: deadline, between: replaced, instead: arrived, last: cancelled}, ended
        assert ended[wait] == (deadline, [4, 4]) and ended[instead][1] == [4, 6]


def view(client, world, **params):
    """Subscribes. Returns the mirror, and a function that applies messages until a condition holds."""
    mirror = Mirror()
    client.call("subscribe", world=world, **params)
    mirror.apply(*client.notification("keyframe"))

    def follow(is_so):
        while not is_so():
            mirror.apply(*client.notification("delta"))
    return mirror, follow


def games_write_on_units_and_turn_them():
    with Server() as server, server.connect() as admin:
        world = make_world(admin)
        spawned = admin.call("agent.spawn", world=world, team=1, cells=[4, 4, 5, 8])
        admin.call("agent.spawn", world=world, team=2, cells=[8, 4])
        unit, name = spawned["agents"][0], spawned["names"][0]
        mine, _ = sit_down(server, admin, world, 1)
        hers, _ = sit_down(server, admin, world, 2)
        all_seen, follow_all = view(admin, world, team=0)
        my_view, follow_mine = view(mine, world)
        her_view, follow_hers = view(hers, world, encoding="dense")

        def change(**params):
            assert admin.call("agent.set", world=world, agents=[unit], **params)["count"] == 1
            admin.call("world.step", world=world)

        tag = b"hero\x00\xff"
        change(tag=tag)
        follow_mine(lambda: my_view.tags == {name: tag})
        follow_all(lambda: all_seen.tags == {unit: tag})
        change(tag_shown=True)
        follow_hers(lambda: her_view.tags != {})
        assert list(her_view.tags.values()) == [tag]
        change(tag="again")
        follow_hers(lambda: list(her_view.tags.values()) == [b"again"])
        follow_mine(lambda: my_view.tags == {name: b"again"})
        # A scout sees farther, at once.
        assert my_view.looks[(14, 4)] == 0
        change(sight=10)
        follow_mine(lambda: my_view.looks[(14, 4)] != 0)
        assert report(mine, world, name)[0]["sight"] == 10
        # The unit changes teams and keeps its tag; its orders end, and the first player no longer has it.
        mine.call("agent.order", world=world, agents=[name], kind="move", goal=[30, 4])
        change(team=2)
        follow_all(lambda: all_seen.agents[unit][0] == 2)
        follow_mine(lambda: my_view.ended)
        assert my_view.ended[0][1:3] == (name, CANCELLED) and name not in my_view.agents
        follow_mine(lambda: list(my_view.tags.values()) == [b"again"])
        follow_hers(lambda: len([agent for agent in her_view.agents if agent % 2 == 1]) == 2)
        new = max(agent for agent in her_view.agents if agent % 2 == 1)
        assert her_view.tags == {new: b"again"} and her_view.agents[new][:3] == (2, 4, 4)
        assert mine.refused("agent.order", world=world, agents=[name], kind="stop") == "no_agent"
        assert hers.call("agent.order", world=world, agents=[new], kind="hold")["count"] == 1
        # A saved world holds all of it.
        again = load(admin, save(admin, world)[0], name="again")["world"]
        loaded, _ = view(admin, again, team=0)
        assert loaded.tags == {unit: b"again"} and loaded.agents[unit][0] == 2
        assert report(admin, again, unit)[0]["sight"] == 10
        change(tag=b"")
        follow_hers(lambda: her_view.tags == {})
        for params, error in (({}, "bad_field"), ({"tag": b"x" * 65}, "bad_field"), ({"sight": 65}, "bad_field"),
                              ({"team": 3}, "no_team"), ({"team": 0}, "bad_field")):
            assert admin.refused("agent.set", world=world, agents=[unit], **params) == error, params


def units_stop_for_enemies_and_go_on():
    """An attack-move: the delta names the enemy that the unit saw, by its name in the player's view."""
    with Server() as server, server.connect() as admin:
        world = make_world(admin)
        mine = admin.call("agent.spawn", world=world, team=1, cells=[2, 4, 2, 20])
        hers = admin.call("agent.spawn", world=world, team=2, cells=[14, 4, 30, 30])["agents"][0]
        unit, hunter = mine["names"]
        player, _ = sit_down(server, admin, world, 1)
        player.call("subscribe", world=world)
        # Observers get ids, as for everything.
        admin.call("subscribe", world=world)
        order = player.call("agent.order", world=world, agents=[unit], kind="move", goal=[28, 4], alert=4)["order"]

        def alert_of(client):
            while True:
                _, delta = client.notification("delta")
                if "alerts" in delta:
                    return delta["alerts"], {number for number in delta.get("enter", [])[::5]}

        admin.call("world.step", world=world, ticks=20)
        (told, _), (of_ids, _) = alert_of(player), alert_of(admin)
        shown = told[2]
        assert told == [order, unit, shown, 14, 4] and shown != 0 and of_ids[1:] == [mine["agents"][0], hers, 14, 4]
        now = report(player, world, unit)[0]
        assert now["alerted"] and now["cell"] == [10, 4] and now["state"] == "holding" and "stopped" in now["why"]
        # The player may use this name: it sends another unit after the enemy, to stop six cells away.
        chase = player.call("agent.order", world=world, agents=[hunter], kind="follow", target=shown, radius=6,
                            once=True)["order"]
        admin.call("world.step", world=world, ticks=30)
        assert endings(player, chase)[chase][0] == 0
        for wrong, error in ((dict(kind="flee", alert=4), "bad_value"), (dict(kind="hold", alert=65), "bad_field"),
                             (dict(kind="hold", once=True), "bad_value")):
            assert player.refused("agent.order", world=world, agents=[unit], **wrong) == error, wrong
        assert player.refused("agent.resume", world=world, agents=[shown]) == "no_agent"
        # Told to go on while the enemy is there, it stops again; with `ticks` it walks past.
        assert player.call("agent.resume", world=world, agents=[unit, hunter]) == {"count": 1}
        admin.call("world.step", world=world)
        assert alert_of(player)[0] == told
        assert player.call("agent.resume", world=world, agents=[unit], ticks=20) == {"count": 1}
        admin.call("world.step", world=world, ticks=30)
        assert endings(player, order)[order][0] == 0


def units_keep_their_distance():
    """A player's unit stays away from an enemy that it names as it sees it, and learns that the enemy is gone."""
    with Server() as server, server.connect() as admin:
        world = make_world(admin)
        mine = admin.call("agent.spawn", world=world, team=1, cells=[8, 16])
        hunter = admin.call("agent.spawn", world=world, team=2, cells=[4, 16])["agents"][0]
        player, _ = sit_down(server, admin, world, 1)
        unit, agent = mine["names"][0], mine["agents"][0]
        shown = [number for number in view(player, world)[0].agents if number != unit][0]
        order = player.call("agent.order", world=world, agents=[unit], kind="keep_distance", target=shown,
                            radius=5)["order"]
        later = player.call("agent.order", world=world, agents=[unit], kind="hold", queue=True)["order"]
        # It is as fast as who follows it, so it is not caught before it is in a corner of the map.
        admin.call("agent.order", world=world, agents=[hunter], kind="follow", target=agent, radius=1)
        for _ in range(15):
            admin.call("world.step", world=world)
            (x, y), (hx, hy) = (report(admin, world, number)[0]["cell"] for number in (agent, hunter))
            assert max(abs(x - hx), abs(y - hy)) >= 3, ((x, y), (hx, hy))
        now = report(player, world, unit)[0]
        assert [order["kind"] for order in now["orders"]] == ["keep_distance", "hold"] and now["target"] == shown
        # A saved world goes on with it.
        again = load(admin, save(admin, world)[0], name="again")["world"]
        assert report(admin, again, agent)[0]["orders"] == report(admin, world, agent)[0]["orders"]
        admin.call("agent.order", world=world, agents=[hunter], kind="hold")
        admin.call("world.step", world=world, ticks=12)
        assert report(player, world, unit)[0]["state"] == "holding", "far enough"
        admin.call("agent.remove", world=world, agents=[hunter])
        admin.call("world.step", world=world, ticks=2)
        assert endings(player, order)[order][0] in (TARGET_LOST, TARGET_DIED)
        assert [order["order"] for order in report(player, world, unit)[0]["orders"]] == [later]
        for wrong, error in ((dict(target=77), "no_target"), (dict(radius=65), "bad_field"),
                             (dict(alert=4), "bad_value")):
            assert player.refused("agent.order", world=world, agents=[unit], kind="keep_distance", **wrong) == error


def units_scatter():
    with Server() as server, server.connect() as admin:
        world = make_world(admin)
        names = admin.call("agent.spawn", world=world, team=1,
                           cells=[xy for i in range(12) for xy in (10 + i % 4, 10 + i // 4)])["names"]
        player, _ = sit_down(server, admin, world, 1)
        player.call("subscribe", world=world)
        for more, middle in (({}, (11, 11)), (dict(goal=[20, 20], radius=6), (20, 20))):
            first = player.call("agent.order", world=world, agents=names, kind="scatter", **more)["order"]
            goals = [unit["orders"][0]["goal"] if unit["orders"] else unit["cell"]
                     for unit in report(player, world, *names)]
            admin.call("world.step", world=world, ticks=40)
            cells = [unit["cell"] for unit in report(player, world, *names)]
            assert cells == goals and all(unit["state"] == "idle" for unit in report(player, world, *names))
            assert all(max(abs(x - middle[0]), abs(y - middle[1])) <= 7 for x, y in cells), cells
            assert all(max(abs(a[0] - b[0]), abs(a[1] - b[1])) >= 2
                       for a in cells for b in cells if a is not b), cells
            ended = {}
            for number in range(first, first + 12):
                ended.update({} if number in ended else endings(player, number))
            assert all(ended[number][0] == ARRIVED for number in range(first, first + 12))


if __name__ == "__main__":
    run([a_player_hears_of_its_own_units, it_says_who_is_in_the_way, queues_are_edited_and_orders_have_deadlines,
         games_write_on_units_and_turn_them, units_stop_for_enemies_and_go_on,
         units_keep_their_distance, units_scatter])
