"""Replays: journals opened as read-only worlds.

Goal    at every tick, whichever way it was reached, a replay shows what the world showed, to everybody and
        to one team, searches included; it plays, and stops at the end; nothing can change it; no file outside
        the folder of journals can be opened; damage to a journal is reported and does no harm.
Method  a small war is stepped tick by tick, and the state of each view and of one search is recorded; the
        replay of its journal is compared with these records, forwards, backwards and at random.
"""

import copy
import os
import random
import shutil
import sqlite3
import tempfile
import time

from e2e_replay import chain_again, checksum
from fogmarch_server import RequestError, Server, msgpack, run, seed, until
from mirror import Mirror

LAST, KEYFRAME_TICKS = 70, 20
SECRETS = {role: f"the-secret-of-{role:_<9}" for role in ("player", "observer", "debug", "admin")}
# Members of an inspection that differ in a replay: times, and spare memory, which a loaded world does not have.
OTHERWISE = ("us_per_tick", "bytes", "knowledge_bytes")


class View:
    """A subscription, and what it shows."""

    def __init__(self, client, world, team):
        self.client = client
        self.mirror = Mirror()
        self.number = client.call("subscribe", world=world, team=team, sight=True)["subscription"]
        self.take()
        while self.mirror.tick is None:
            assert client.take()
            self.take()

    def take(self):
        """Applies what has come so far; returns the state of the mirror."""
        rest = []
        for name, params in self.client.notifications:
            if params.get("subscription") == self.number:
                self.mirror.apply(name, params)
            else:
                rest.append((name, params))
        self.client.notifications = rest
        return self.mirror.state()


class War:
    """A game played tick by tick, and what it showed after each tick."""

    def __init__(self, client):
        self.client = client
        made = client.call("world.create", name="war", generator="skirmish", width=64, height=64, players=2, seed=3,
                           budget_ms=1000, paused=True)
        self.world, self.bases = made["world"], made["bases"]
        bases = self.bases
        self.digests, self.seen, self.inspected = {}, {0: [], 1: []}, {}
        for team in (1, 2):
            client.call("team.create", world=self.world)
            base, goal = bases[2 * team - 2:2 * team], bases[4 - 2 * team:6 - 2 * team]
            ids = client.call("agent.spawn", world=self.world, team=team, cells=base * 12)["agents"]
            client.call("agent.order", world=self.world, kind="move", agents=ids, goal=goal)
        self.views = {team: View(client, self.world, team) for team in (0, 1)}
        self.note()
        for tick in range(1, LAST + 1):
            if tick == 30:
                client.call("terrain.set", world=self.world, rects=[30, 20, 2, 24], set="blocked")
            if tick == 40:
                client.call("building.place", world=self.world, team=1, rect=[bases[0] + 4, bases[1], 2, 2])
            self.digests[tick] = client.call("world.step", world=self.world)["digest"]
            self.note()
        self.file = f"{self.world}-war.journal"

    def note(self):
        tick = self.client.call("world.info", world=self.world)["tick"]
        for team, view in self.views.items():
            self.seen[team].append(copy.deepcopy(view.take()))
        self.inspected[tick] = inspect(self.client, self.world)


def inspect(client, world):
    told = client.call("debug.inspect", world=world, agent=7, rect=[0, 0, 64, 64])
    return {name: value for name, value in told.items() if name not in OTHERWISE}


def error_of(client, method, **params):
    try:
        result = client.call(method, **params)
    except RequestError as error:
        return error.name, error.message
    raise AssertionError(f"{method}{params} was not refused: {result}")


def tokens():
    return {"FOGMARCH_TOKENS": "\n".join(f"{role} {'war 1 ' if role == 'player' else ''}{secret}"
                                         for role, secret in SECRETS.items())}


def enter(server, role):
    client = server.connect(hello=False)
    client.welcome = client.call("hello", protocol=1, token=SECRETS[role])
    return client


def check_tick(war, views, answer, replay, client):
    tick = answer["tick"]
    assert answer["digest"] == war.digests.get(tick, "0" * 16) and answer["differences"] == 0, answer
    for team, view in views.items():
        state = view.take()
        assert view.mirror.tick == tick, (team, view.mirror.tick, tick)
        if tick > 0:  # there is no team before the first tick
            assert state == war.seen[team][tick], f"team {team} saw something else after tick {tick}"
    # In the recorded world a keyframe ends searches; the replay stands just before it.
    if tick % KEYFRAME_TICKS != 0 and tick > 0:
        then, now = war.inspected[tick], inspect(client, replay)
        differ = [(name, then[name], now[name]) for name in then if then[name] != now[name]]
        assert not differ, f"agent 7 after tick {tick}: {differ}"


def everything_is_as_it_was(server, war):
    choose = random.Random(seed())
    client = enter(server, "debug")
    listed = client.call("replay.list")
    entry, = [entry for entry in listed["journals"] if entry["file"] == war.file]
    assert (entry["name"], entry["world"], entry["first_tick"], entry["last_tick"], entry["runs"], entry["error"]) == \
        ("war", war.world, 0, LAST, True, ""), entry
    assert entry["bytes"] > 4096 and abs(entry["changed"] - time.time()) < 3600 and listed["replays"] == []
    opened = client.call("replay.open", file=war.file)
    replay = opened["world"]
    assert replay != war.world and (opened["name"], opened["width"], opened["tick"]) == ("war", 64, 0), opened
    assert (opened["first_tick"], opened["last_tick"]) == (0, LAST)
    assert client.call("replay.list")["replays"] == [{"world": replay, "file": war.file, "tick": 0, "paused": True}]
    assert [world["world"] for world in client.call("world.list")["worlds"]] == [war.world]

    views = {team: View(client, replay, team) for team in (0, 1)}
    ticks = [1, 0, LAST, LAST - 1, LAST - 2, 0, *range(18, 23), *range(43, 37, -1)]
    ticks += [*(choose.randrange(LAST + 1) for _ in range(15)), choose.randrange(1, LAST + 1)]  # at 0 nobody is there
    for tick in ticks:
        keyframes = views[0].mirror.keyframes
        answer = client.call("replay.seek", world=replay, tick=tick)
        assert (answer["tick"], answer["first_tick"], answer["last_tick"]) == (tick, 0, LAST)
        check_tick(war, views, answer, replay, client)
        assert views[0].mirror.keyframes == keyframes + 1
    info = client.call("world.info", world=replay)
    assert info["tick"] == ticks[-1] and info["paused"] and info["replay"] == {
        "file": war.file, "first_tick": 0, "last_tick": LAST, "differences": 0, "error": ""}, info
    assert client.call("world.info", world=war.world)["replay"] == {}
    # A followed agent may be gone after a seek and back after the next.
    trace = client.call("debug.subscribe", world=replay, agent=7, channels="report")["subscription"]
    for tick in (0, 5, 0, LAST):
        client.call("replay.seek", world=replay, tick=tick)
    told = [params for name, params in client.notifications if name == "debug"]
    assert [params["tick"] for params in told] == [ticks[-1], 5, LAST], [params["tick"] for params in told]
    assert told[1]["cell"] == war.inspected[5]["cell"]
    client.call("debug.unsubscribe", world=replay, subscription=trace)
    client.call("replay.seek", world=replay, tick=ticks[-1])
    # Other requests are answered for this tick, too.
    way = client.call("path.distance", world=replay, **{"from": war.bases[:2], "to": war.bases[2:]})
    assert way["tick"] == ticks[-1] and way["reason"] in ("found", "unreachable"), (way, ticks[-1])
    assert client.call("stats", world=replay)["world"]["tick"] == ticks[-1]
    assert client.call("debug.top", world=replay)["rows"] and client.call("debug.explain", world=replay, agent=7)
    return client, replay, views


def played(client, replay):
    """Waits for the end of the replay. Returns its world.info."""
    until(lambda: client.call("world.info", world=replay)["paused"], "the end of the replay")
    client.hear_all(replay)  # world.info may overtake what the views show
    return client.call("world.info", world=replay)


def it_plays(client, replay, views, war):
    client.call("replay.seek", world=replay, tick=LAST - 30)
    deltas = {team: views[team].take() and views[team].mirror.deltas for team in views}
    client.call("replay.play", world=replay, tick_hz=200)
    info = played(client, replay)
    assert (info["tick"], info["tick_hz"], info["digest"]) == (LAST, 200, war.digests[LAST]), info
    assert info["replay"]["error"] == ""
    for team, view in views.items():
        assert view.take() == war.seen[team][LAST] and view.mirror.deltas > deltas[team] + 5
    client.call("replay.seek", world=replay, tick=3)
    client.call("replay.play", world=replay, tick_hz=0.1)
    assert client.call("replay.pause", world=replay)["tick"] in (3, 4)
    assert client.call("world.info", world=replay)["paused"]


def seeks_take_each_others_place(client, replay):
    numbers = [client.send("replay.seek", world=replay, tick=tick)
               for tick in (LAST, 1, LAST, 2, LAST, 41, LAST, 12)]
    bad = client.send("replay.seek", world=replay, tick=LAST + 1)
    answers = [client.answer(number) for number in numbers]
    assert answers[-1]["tick"] == 12, answers
    try:
        client.answer(bad)
        raise AssertionError("a tick that is not there")
    except RequestError as error:
        assert error.name == "bad_value" and f"which holds 0 to {LAST}" in error.message, error.message
    assert client.call("world.info", world=replay)["tick"] == 12


def nothing_changes_it(server, war, replay):
    admin = enter(server, "admin")
    changes = {
        "team.create": {}, "world.pause": {}, "world.resume": {}, "world.step": {}, "world.destroy": {},
        "agent.spawn": {"team": 1, "cells": [1, 1]}, "agent.remove": {"agents": [1]}, "agent.planner": {"agents": [1]},
        "agent.set": {"agents": [1], "frozen": True}, "agent.place": {"agents": [1], "cells": [1, 1]},
        "agent.order": {"agents": [1], "kind": "stop"}, "terrain.set": {"set": "blocked", "cells": [1, 1]},
        "agent.board": {"agents": [1], "carrier": 2}, "agent.unboard": {"carrier": 2},
        "team.cost": {"team": 1, "cost": 5, "cells": [1, 1]},
        "building.place": {"rect": [1, 1, 1, 1]}, "building.remove": {"building": 1},
        "token.create": {"role": "player", "team": 1},
    }
    for method, params in changes.items():
        name, message = error_of(admin, method, world=replay, **params)
        assert name == "read_only" and f"a replay of {war.file}" in message, (method, name, message)
    for method, params in {"replay.seek": {"tick": 1}, "replay.play": {}, "replay.pause": {}, "replay.close": {}}.items():
        name, message = error_of(admin, method, world=war.world, **params)
        assert name == "bad_value" and "is no replay" in message, (method, name, message)
        assert admin.refused(method, world=10**9, **params) == "no_world"
    # Observers may look at replays, too; players may not: a seat belongs to the world, not to its past.
    View(enter(server, "observer"), replay, 0)
    player = enter(server, "player")
    assert player.welcome["world"] == war.world
    for method, params in {"subscribe": {}, "world.info": {}, "agent.order": {"agents": [1], "kind": "stop"},
                           "path.distance": {"from": [1, 1], "to": [2, 2]}}.items():
        assert player.refused(method, world=replay, **params) == "no_world", method
    assert [world["world"] for world in player.call("world.list")["worlds"]] == [war.world]


def replays_end(server, client, replay, war):
    other = enter(server, "debug")
    second = other.call("replay.open", file=war.file)["world"]
    watching = View(client, second, 1)
    assert client.refused("replay.open", file=war.file) == "limit"
    other.close()  # which closes the replays that it opened
    ended = client.notification("world_ended")[1]
    assert ended == {"subscription": watching.number, "world": second}
    client.call("replay.close", world=replay)
    assert {params["world"] for name, params in client.notifications if name == "world_ended"} == {replay}
    client.notifications.clear()
    assert client.refused("replay.seek", world=replay, tick=1) == "no_world"
    assert client.call("replay.list")["replays"] == []
    # Closing while a seek is under way.
    third = client.call("replay.open", file=war.file)["world"]
    numbers = [client.send("replay.seek", world=third, tick=LAST), client.send("replay.close", world=third)]
    try:
        client.answer(numbers[0])
    except RequestError as error:
        assert error.name == "no_world"
    client.answer(numbers[1])
    assert client.call("world.info", world=war.world)["tick"] == LAST  # the recorded world is unharmed


def only_journals_are_opened(client, folder, war):
    os.mkdir(os.path.join(folder, "folder.journal"))
    outside = os.path.join(folder, "..", "outside.journal")
    shutil.copy(os.path.join(folder, war.file), outside)
    os.symlink(outside, os.path.join(folder, "link.journal"))
    os.mkfifo(os.path.join(folder, "pipe.journal"))
    for name in ("../outside.journal", outside, "./" + war.file, "..", ".journal", "x.journal", "lock", "/etc/passwd",
                 war.file + "-wal", "folder.journal", "link.journal", "pipe.journal",
                 f"../{os.path.basename(folder)}/{war.file}", "x" * 240 + ".journal"):
        assert error_of(client, "replay.open", file=name) == ("no_journal", "there is no such journal"), name
    for wrong in ("", "x" * 256, 7, war.file + "\0.journal"):
        assert client.refused("replay.open", file=wrong) in ("bad_field", "no_journal"), wrong
    files = {entry["file"] for entry in client.call("replay.list")["journals"]}
    assert files == {war.file}, files


def nonsense_for(keyframe, db):
    """Puts an intact keyframe that holds no world into a journal, as a zstd frame of one raw block."""
    world = b"FMWORLD\n but no more"
    head = b"\x28\xb5\x2f\xfd\x20" + bytes([len(world)])
    stored = head + (len(world) << 3 | 1).to_bytes(3, "little") + world
    position, = db.execute("SELECT position FROM keyframes WHERE tick = ?", (keyframe,)).fetchone()
    db.execute("UPDATE keyframes SET bytes = ?, size = ?, checksum = ? WHERE tick = ?",
               (stored, len(world), checksum(stored, position, keyframe, 4), keyframe))


def damage_is_said(client, folder, war):
    path = os.path.join(folder, war.file)
    hurt_name, cut_name = "8-hurt.journal.damaged", "9-cut.journal"
    with sqlite3.connect(path) as source, sqlite3.connect(os.path.join(folder, hurt_name)) as hurt:
        source.backup(hurt)
        hurt.execute("UPDATE keyframes SET bytes = zeroblob(50) WHERE tick = 40")
        nonsense_for(20, hurt)
        hurt.execute("UPDATE log SET checksum = 0 WHERE tick = 67 AND kind = 2")
    with sqlite3.connect(os.path.join(folder, cut_name)) as cut:
        source.backup(cut)
    for database in (source, hurt, cut):
        database.close()
    chain_again(os.path.join(folder, hurt_name))
    os.truncate(os.path.join(folder, cut_name), 6000)
    name, message = error_of(client, "replay.open", file=cut_name)
    assert (name, message) == ("bad_format", f"{cut_name}: opening: the file is damaged or was cut off")
    listed = {entry["file"]: entry for entry in client.call("replay.list")["journals"]}
    assert "cut off" in listed[cut_name]["error"] and listed[hurt_name]["last_tick"] == LAST

    replay = client.call("replay.open", file=hurt_name)["world"]
    view = View(client, replay, 0)
    client.call("replay.seek", world=replay, tick=10)
    name, message = error_of(client, "replay.seek", world=replay, tick=50)
    assert name == "bad_format" and message.startswith(f"{hurt_name}: table keyframes") and "(tick 40)" in message
    info = client.call("world.info", world=replay)
    assert info["tick"] == 10 and info["replay"]["error"] == message, info
    assert inspect(client, replay) == war.inspected[10] and view.take() == war.seen[0][10]
    # A keyframe without a world: the replay shows nothing until it seeks another tick.
    name, message = error_of(client, "replay.seek", world=replay, tick=30)
    assert name == "bad_format" and "keyframe of tick 20" in message, message
    name, message = error_of(client, "debug.inspect", world=replay, agent=7)
    assert name == "io" and "seek another tick" in message, message
    assert client.refused("path.distance", world=replay, **{"from": [1, 1], "to": [2, 2]}) == "io"
    assert client.refused("subscribe", world=replay, team=2) == "io"
    assert client.call("replay.seek", world=replay, tick=18)["tick"] == 18
    assert view.take() == war.seen[0][18]
    assert client.call("world.info", world=replay)["replay"]["error"] == ""
    client.call("replay.seek", world=replay, tick=62)
    name, message = error_of(client, "replay.seek", world=replay, tick=LAST)
    assert name == "bad_format" and "table log" in message and "(tick 67)" in message, message
    client.call("replay.seek", world=replay, tick=64)
    client.call("replay.play", world=replay, tick_hz=100)
    info = played(client, replay)
    assert info["tick"] == 66 and "(tick 67)" in info["replay"]["error"], info
    assert view.take() == war.seen[0][66]
    client.call("replay.close", world=replay)


def a_war_again():
    with tempfile.TemporaryDirectory() as outer:
        folder = os.path.join(outer, "journals")
        os.mkdir(folder)
        with Server("--journal-dir", folder, "--keyframe-ticks", str(KEYFRAME_TICKS), "--replays-max", "2",
                    environment=tokens()) as server:
            war = War(enter(server, "admin"))
            client, replay, views = everything_is_as_it_was(server, war)
            it_plays(client, replay, views, war)
            seeks_take_each_others_place(client, replay)
            nothing_changes_it(server, war, replay)
            replays_end(server, client, replay, war)
            only_journals_are_opened(client, folder, war)
            damage_is_said(client, folder, war)
            # The server ends while an open replay is seeking; the journal is intact afterwards.
            replay = client.call("replay.open", file=war.file)["world"]
            client.send("replay.seek", world=replay, tick=LAST)
            client.call("replay.list")
        assert sorted(name for name in os.listdir(folder) if name.startswith(war.file)) == [war.file, war.file + "-mark"]


def a_world_that_runs():
    """A replay follows the journal of a running world, and outlives that world."""
    with tempfile.TemporaryDirectory() as folder, Server("--journal-dir", folder) as server:
        client = server.connect()
        world = client.call("world.create", name="live", generator="open", width=40, height=40, paused=True)["world"]
        client.call("team.create", world=world)
        client.call("agent.spawn", world=world, team=1, cells=[1, 1])
        client.call("agent.order", world=world, agents=[1], kind="patrol", goals=[1, 1, 38, 38])
        client.call("world.step", world=world, ticks=20)
        opened = client.call("replay.open", file=f"{world}-live.journal")
        assert opened["last_tick"] == 20
        digest = client.call("world.step", world=world, ticks=20)["digest"]
        until(lambda: client.call("replay.seek", world=opened["world"], tick=7)["last_tick"] == 40, "what came after")
        assert client.call("replay.seek", world=opened["world"], tick=40)["digest"] == digest
        client.call("world.destroy", world=world)
        assert client.call("replay.seek", world=opened["world"], tick=40)["digest"] == digest
        assert client.call("replay.seek", world=opened["world"], tick=0)["tick"] == 0
        assert client.call("replay.list")["journals"] == []


def seeks_behind_queries_that_wait():
    """A seek replaces the world of queries that are accepted, but wait for the labels of a large map."""
    side, ends = 2047, {"from": [1, 1], "to": [9, 9]}
    with tempfile.TemporaryDirectory() as folder, Server("--journal-dir", folder) as server:
        client = server.connect()
        world = client.call("world.create", name="late", generator="open", width=side, height=side,
                            paused=True)["world"]
        client.call("world.step", world=world)
        client.call("team.create", world=world)
        client.call("agent.spawn", world=world, team=1, cells=[1, 1])
        client.call("world.step", world=world)
        for tick in (3, 4):
            client.call("agent.order", world=world, agents=[1], kind="move", goal=[10 * tick, 9])
            assert client.call("world.step", world=world)["tick"] == tick
        replay, other = (client.call("replay.open", file=f"{world}-late.journal")["world"] for _ in range(2))
        for method, params in {"path.query": {"team": 1, **ends}, "path.reachable": {"team": 1, **ends},
                               "debug.compare": {"agent": 1, "goal": [9, 9], "planners": "astar"}}.items():
            for tick in (0, 1, 2):
                client.call("replay.seek", world=replay, tick=2)
                # The thread of replays seeks in the other one until the query and the seek are both there.
                requests = [("replay.seek", {"world": other, "tick": tick}), (method, {"world": replay, **params}),
                            ("replay.seek", {"world": replay, "tick": tick})]
                numbers = range(1000, 1000 + len(requests))
                client.send_bytes(b"".join(msgpack.packb([0, number, name, [how]])
                                           for number, (name, how) in zip(numbers, requests)))
                assert client.answer(numbers[0])["tick"] == client.answer(numbers[2])["tick"] == tick
                try:
                    assert client.answer(numbers[1])["tick"] in (2, tick)
                except RequestError as error:
                    assert error.name in ("no_team", "no_agent") and tick < 2, (method, tick, error)
        assert client.call("path.reachable", world=replay, **ends)["complete"]
        # Without a goal of its own a comparison has that of the order at the tick that it answers for.
        replay = client.call("replay.open", file=f"{world}-late.journal")["world"]
        client.call("replay.seek", world=replay, tick=4)
        requests = [("replay.seek", {"world": other, "tick": 1}),
                    ("debug.compare", {"world": replay, "agent": 1, "planners": "astar"}),
                    ("replay.seek", {"world": replay, "tick": 3})]
        client.send_bytes(b"".join(msgpack.packb([0, 2000 + i, name, [how]]) for i, (name, how) in enumerate(requests)))
        answer = client.answer(2001)
        assert answer["goal"] == [10 * answer["tick"], 9], answer
        assert answer["tick"] == 3, "it did not wait"


def servers_without_journals():
    with Server() as server:
        client = server.connect()
        for method, params in {"replay.list": {}, "replay.open": {"file": "1-w.journal"}}.items():
            name, message = error_of(client, method, **params)
            assert name == "not_ready" and "journal_dir" in message, (name, message)


if __name__ == "__main__":
    run([a_war_again, a_world_that_runs, seeks_behind_queries_that_wait, servers_without_journals])
