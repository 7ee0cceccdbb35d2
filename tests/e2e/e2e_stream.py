"""Subscriptions: keyframes and deltas.

Goal    whatever a client subscribed to (everything or a team, a rectangle or the whole map, every
        tick or every few, read at once or much later), what it has built from a keyframe and deltas
        is exactly what a fresh keyframe shows; every order ends exactly once; a client that does not
        read neither makes the server grow nor holds up anybody else.
Method  random orders, edits, spawns and removals in stepped worlds, with a printed seed.
"""

import random

from fogmarch_server import Server, run, seed, until
from mirror import Mirror
from play import Play, Watcher

MEGABYTE = 1 << 20


def deltas_add_up():
    source = random.Random(seed())
    for rules in (dict(sense_radius=3), dict(sense_radius=4, line_of_sight=True),
                  dict(neighbours=4, sense_radius=2), dict(omniscient=True)):
        with Server() as server:
            play = Play(server, source, 40, 3, **rules)
            play.spawn(30)
            watchers = []
            for _ in range(60):
                if len(watchers) < 12 and source.random() < 0.4:
                    params = {}
                    if source.random() < 0.6:
                        params["team"] = source.choice(play.teams)
                    if source.random() < 0.5:
                        params["rect"] = play.rect()
                    if source.random() < 0.3:
                        params["every"] = source.randrange(2, 6)
                    if source.random() < 0.5:
                        params["sight"] = True
                    if source.random() < 0.5:
                        params["motion"] = True
                    watchers.append(Watcher(server, play.world, **params))
                for _ in range(source.randrange(3)):
                    play.act()
                play.step(source.randrange(1, 4))
                for watcher in source.sample(watchers, len(watchers) // 2):
                    watcher.take_all()
                if watchers and source.random() < 0.3:
                    source.choice(watchers).check()
            for watcher in watchers:
                watcher.check()


def both_encodings_say_the_same():
    """Plain and dense views with the same options, compared after each tick; all options are tried."""
    source = random.Random(seed())
    for rules in (dict(sense_radius=3), dict(sense_radius=4, line_of_sight=True), dict(omniscient=True)):
        with Server() as server:
            play = Play(server, source, 40, 3, **rules)
            play.spawn(60)
            rect = play.rect()
            token = play.client.call("token.create", role="player", world=play.world,
                                     team=play.teams[0])["token"]
            views = (dict(sight=True), dict(team=play.teams[1], sight=True, motion=True), dict(rect=rect),
                     dict(team=play.teams[0], every=3, motion=True),
                     dict(rect=rect, team=play.teams[0], sight=True), dict(rect=[0, 0, 9, 9], follow=play.agents[0]))
            pairs = [[Watcher(server, play.world, encoding=encoding, **view)
                      for encoding in ("plain", "dense")] for view in views]
            pairs.append([Watcher(server, play.world, encoding=encoding, token=token, sight=True)
                          for encoding in ("plain", "dense")])
            size = {"moved": 0, "cells": 0, "steps": 0, "runs": 0, "visible": 0, "sight": 0}
            for round_number in range(50):
                play.act()
                play.order(10)
                if round_number % 9 == 8:
                    to = play.rect()
                    for watcher in pairs[4]:
                        watcher.client.call("subscription.move", subscription=watcher.subscription,
                                            rect=to)
                play.step(source.randrange(1, 3))
                for plain, dense in pairs:
                    plain.take_all()
                    dense.take_all()
                    if plain.params.get("every"):
                        continue  # its deltas come at ticks of their own; compared below
                    assert plain.mirror.tick == dense.mirror.tick
                    assert plain.mirror.state() == dense.mirror.state(), plain.difference(dense.mirror)
                    assert plain.mirror.ended == dense.mirror.ended
                    for name in size:
                        size[name] += (plain.mirror.sizes | dense.mirror.sizes).get(name, 0)
            for plain, dense in pairs[3:4]:
                plain.check()
                dense.check()
                assert plain.mirror.state() == dense.mirror.state()
            assert plain.mirror.keyframes == 1
            assert size["moved"] > 3 * size["steps"] > 0, size
            assert size["visible"] > size["sight"] > 0, size
            assert rules.get("omniscient") or size["cells"] > size["runs"] > 0, size
            assert play.client.refused("subscribe", world=play.world, encoding="dens") == "bad_value"


def slow_readers_catch_up():
    source = random.Random(seed())
    with Server("--session-unsent-max", "65536") as server:
        play = Play(server, source, 96, 2, sense_radius=3)
        for _ in range(60):
            play.spawn(50)
        rect = [10, 0, 50, 60]
        # Dense deltas are so short that their readers are hardly ever slow.
        slow = [Watcher(server, play.world, receive_buffer=4096, **params) for params in
                (dict(encoding="plain"), dict(encoding="dense"), dict(team=play.teams[0], encoding="plain"),
                 dict(rect=rect), dict(rect=rect, every=3))]
        quick = Watcher(server, play.world)
        rounds = 0
        # More than once: a single late delta would prove little.
        while rounds < 4 or play.client.call("stats")["server"]["deltas_merged"] < 10:
            rounds += 1
            assert rounds < 40, "nobody was slow"
            play.order(len(play.agents))
            for _ in range(30):
                play.step()
                quick.take_all()
                play.remove(2)
                play.edit()
        for watcher in slow + [quick]:
            watcher.check()
        assert quick.mirror.keyframes == 1
        assert slow[0].mirror.deltas < quick.mirror.deltas

        # Each order ends once for slow readers, too, as far back as the server remembers.
        everything = quick.mirror.ended
        assert len(everything) == len({ended[0] for ended in everything}) > 0
        assert sorted(slow[0].mirror.ended) == sorted(everything)


def late_joiners_see_the_same():
    """In a moving world a late subscriber ends up with the same mirror as one that was there from the start."""
    source = random.Random(seed())
    with Server() as server:
        play = Play(server, source, 64, 2, sense_radius=4, tick_hz=100, budget_ms=5)
        for _ in range(4):
            play.spawn(40)
        rect = play.rect()
        views = (dict(), dict(team=play.teams[0]), dict(team=play.teams[1], rect=rect), dict(rect=rect))
        first = [Watcher(server, play.world, **params) for params in views]
        play.client.call("world.resume", world=play.world)
        late = []
        for _ in range(6):
            play.order(60)
            play.remove(2)
            play.edit()
            play.spawn(5)
            late += [Watcher(server, play.world, **params) for params in views]
            seen = late[-1].client.notification("keyframe")
            late[-1].mirror.apply(*seen)
            assert seen[1]["tick"] >= 0 and late[-1].mirror.keyframes == 1
            tick = play.client.call("world.info", world=play.world)["tick"]
            until(lambda: play.client.call("world.info", world=play.world)["tick"] >= tick + 8, "eight ticks")
        play.client.call("world.pause", world=play.world)
        for watcher in first + late:
            watcher.check()  # a view that the last tick did not change is sent nothing
            there = first[views.index({key: watcher.params[key] for key in watcher.params
                                       if key not in ("world", "encoding")})]
            assert watcher.mirror.keyframes == 1, "a keyframe in the middle"
            assert watcher.mirror.state() == there.mirror.state(), watcher.difference(there.mirror)


def every_order_ends_once():
    source = random.Random(seed())
    with Server() as server:
        play = Play(server, source, 48, 2, sense_radius=4)
        watcher = Watcher(server, play.world)
        teams = [Watcher(server, play.world, team=team, rect=[0, 0, 1, 1]) for team in play.teams]
        for _ in range(60):
            play.act()
            play.step(2)
            watcher.take_all()
        if play.agents:
            play.client.call("agent.order", world=play.world, kind="stop", agents=play.agents)
        play.step()
        ended = []
        for one in [watcher] + teams:
            one.take_all()
            ended.append(sorted(entry[0] for entry in one.mirror.ended))
        assert ended[0] == sorted(play.orders)
        assert sorted(ended[1] + ended[2]) == ended[0], "a team hears of its own orders only"


def more_ends_than_are_kept():
    """One stop ends more orders than a view keeps: its client is told so and keeps its stream."""
    with Server() as server:
        client = server.connect()
        world = client.call("world.create", name="w", generator="open", width=160, height=160, paused=True,
                            omniscient=True)["world"]
        client.call("team.create", world=world)
        agents = client.call("agent.spawn", world=world, team=1, place="nearest",
                             cells=[xy for i in range(2100) for xy in (i % 60, i // 60)])["agents"]
        for number in range(32):
            client.call("agent.order", world=world, agents=agents, kind="move", goal=[150, 150], queue=number > 0)
        reader = server.connect()
        reader.call("subscribe", world=world)
        reader.notification("keyframe")
        client.call("agent.order", world=world, agents=agents[:2000], kind="stop")
        client.call("world.step", world=world, ticks=1)
        ended = reader.notification("delta")[1]["ended"]
        assert len(ended) // 5 >= 64000, "as many as are kept all arrive"
        for number in range(32):
            client.call("agent.order", world=world, agents=agents, kind="move", goal=[150, 150], queue=number > 0)
        client.call("agent.order", world=world, agents=agents, kind="stop")
        client.call("world.step", world=world, ticks=1)
        keyframe = reader.notification("keyframe")[1]
        assert keyframe["tick"] == 2 and keyframe["untold"] is True
        assert len(reader.notification("delta")[1]["ended"]) // 5 == 65536, "those that are kept"
        assert "more orders ended than are kept" in server.log()
        client.call("agent.order", world=world, agents=agents[:1], kind="move", goal=[150, 150])
        client.call("agent.order", world=world, agents=agents[:1], kind="stop")
        client.call("world.step", world=world, ticks=1)
        assert len(reader.notification("delta")[1]["ended"]) == 5, "the stream goes on"
        back = server.connect()
        back.call("subscribe", world=world)
        assert "untold" not in back.notification("keyframe")[1], "a new view has missed nothing"


def late_joiners_and_leavers():
    source = random.Random(seed())
    with Server() as server:
        play = Play(server, source, 32, 2)
        play.spawn(20)
        for _ in range(15):
            watchers = [Watcher(server, play.world, team=source.choice(play.teams + [0]))
                        for _ in range(3)]
            play.order(20)
            play.step(2)
            watchers[0].check()
            watchers[1].client.call("unsubscribe", subscription=watchers[1].subscription)
            watchers[2].check()
            for watcher in watchers:
                watcher.client.close()


def a_reader_that_never_reads():
    with Server("--slow-reader-timeout-s", "3600", "--session-unsent-max", "1048576") as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="open", width=256, height=256,
                           tick_hz=20, budget_ms=10000, planner="dstar-lite", paused=True)["world"]
        team = admin.call("team.create", world=world)["team"]
        cells = sum(([i % 250, i // 250] for i in range(5000)), [])
        agents = admin.call("agent.spawn", world=world, team=team, cells=cells)["agents"]

        def send_all(there):
            admin.call("agent.order", world=world, kind="move", agents=agents,
                       goal=[255, 255] if there else [0, 255])

        quick = Watcher(server, world)
        stuck = [Watcher(server, world, receive_buffer=4096) for _ in range(8)]
        quick.take_all()
        for number in range(150):
            if number % 25 == 0:  # new goals before anybody arrives
                send_all(number % 50 == 0)
            if number == 50:
                rss = server.rss()
            # An edit, so that each tick has something to send.
            admin.call("terrain.set", world=world, cells=[number, 255], set="cost", cost=2)
            tick = admin.call("world.step", world=world)["tick"]
            quick.take_all()  # what is due to it does not wait for the others
            assert quick.mirror.tick == tick and quick.mirror.deltas == number + 1, "ticks were merged"
        assert quick.mirror.keyframes == 1
        if server.memory_tells():
            assert server.rss() < rss + 24 * MEGABYTE, (rss, server.rss())
        stats = admin.call("stats")["server"]
        assert stats["deltas_merged"] > 0 and stats["client_lag_ticks"] > 0, stats
        for watcher in stuck + [quick]:
            watcher.check()
        assert admin.call("stats")["server"]["client_lag_ticks"] == 0, "all know the last tick"


def slow_readers_are_disconnected_on():
    with Server("--slow-reader-timeout-s", "0.5", "--session-unsent-max", "65536") as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="random", width=1024, height=1024,
                           paused=True)["world"]
        mute = server.connect(receive_buffer=4096)
        mute.send("subscribe", world=world)  # a keyframe of about a megabyte
        until(lambda: admin.call("ping") and "slow reader" in server.log(), "the slow reader's end in the log")
        assert admin.call("stats")["server"]["sessions"] == 1


def quiet_worlds_owe_nothing():
    """A client that wants a delta every 1000 ticks still gets the last change when nothing more happens."""
    with Server() as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="open", width=16, height=16,
                           paused=True)["world"]
        watcher = Watcher(server, world, every=1000)
        admin.call("terrain.set", world=world, set="blocked", cells=[3, 3])
        admin.call("world.step", world=world)
        name, params = watcher.client.notification("delta")
        watcher.mirror.apply("keyframe", dict(tick=0, rect=[0, 0, 16, 16], cells=[256, 1],
                                              agents=[]))
        watcher.mirror.apply(name, params)
        watcher.check()


run([deltas_add_up, more_ends_than_are_kept, both_encodings_say_the_same, slow_readers_catch_up,
     late_joiners_see_the_same, every_order_ends_once, late_joiners_and_leavers, a_reader_that_never_reads,
     slow_readers_are_disconnected_on, quiet_worlds_owe_nothing])
