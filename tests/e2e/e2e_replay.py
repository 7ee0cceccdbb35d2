"""`fogmarch replay` on journals that a real server wrote.

Goal    the digests of a recorded run are the same with 1, 2, 3 and 8 workers; any tick can be inspected;
        two runs differ from the tick where they were made to; a tampered journal is detected, with
        agent and field; the exported map and scenario can be read; a fork with the recorded planner
        repeats the recorded run.
Method  a small war is recorded once, with queries, edits and late orders, and again without one order.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import xml.etree.ElementTree

from fogmarch_server import PATIENCE, Server, run, until

FOGMARCH = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
MASK = 2**64 - 1
FIRST, SECOND, LAST = 30, 55, 90  # the late orders come before ticks FIRST and SECOND; LAST is the last tick


def record(folder, name="war", late_order=True):
    """Plays a paused world tick by tick and leaves its journal. Returns the file and the digests by tick."""
    digests = {}
    with Server("--journal-dir", folder, "--keyframe-ticks", "20") as server:
        client = server.connect()
        made = client.call("world.create", name=name, generator="skirmish", width=96, height=96, players=2, seed=5,
                           budget_ms=20, paused=True)
        world, bases = made["world"], made["bases"]
        for team in (1, 2):
            client.call("team.create", world=world)
            base, goal = bases[2 * team - 2:2 * team], bases[4 - 2 * team:6 - 2 * team]
            ids = client.call("agent.spawn", world=world, team=team, cells=base * 30)["agents"]
            client.call("agent.order", world=world, kind="move", agents=ids, goal=goal)
        client.call("world.step", world=world, ticks=FIRST)
        if late_order:
            client.call("agent.order", world=world, kind="move", agents=[1], goal=[48, 48])
        client.call("world.step", world=world, ticks=SECOND - FIRST)
        client.call("agent.order", world=world, kind="move", agents=[1], goal=[20, 60])
        client.call("terrain.set", world=world, cells=[50, 50, 51, 50], set="blocked")
        for _ in range(LAST - SECOND):
            stepped = client.call("world.step", world=world)
            digests[stepped["tick"]] = stepped["digest"]
        inspected = client.call("debug.inspect", world=world, agent=7)
        path = os.path.join(folder, f"{world}-{name}.journal")
        kept = path + ".kept"  # a copy: the server is still running
        with sqlite3.connect(path) as source, sqlite3.connect(kept) as copy:
            source.backup(copy)
        copy.close()
        source.close()
    return kept, digests, inspected


def replay(*arguments, status=0):
    done = subprocess.run([FOGMARCH, "replay", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == status, (arguments, done)
    assert done.stderr == "" or status != 0, done.stderr
    return done


def replay_json(*arguments, status=0):
    return json.loads(replay(*arguments, "--json", status=status).stdout)


def refused(words, *arguments, status=1):
    done = replay(*arguments, status=status)
    assert words in done.stderr and done.stdout == "", done


# ---- damage --------------------------------------------------------------------------------------

def mix(x):
    x ^= x >> 30
    x = x * 0xbf58476d1ce4e5b9 & MASK
    x ^= x >> 27
    x = x * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def checksum(data, position, tick, kind):
    """The checksum of core/base/bytes.c and server/journal/journal_schema.h."""
    lanes = [len(data), 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb]
    rest = data
    while len(rest) >= 32:
        for i in range(4):
            lane = (lanes[i] ^ int.from_bytes(rest[8 * i:8 * i + 8], "little")) * 0xd6e8feb86659fd93 & MASK
            lanes[i] = lane ^ lane >> 32
        rest = rest[32:]
    total = 0
    for lane in lanes:
        total = mix(total ^ lane)
    for i, byte in enumerate(rest):
        total = mix(total ^ byte ^ (len(rest) - i) << 8)
    total ^= (position * 0x9e3779b97f4a7c15 + tick * 0xc2b2ae3d27d4eb4f + kind) & MASK
    return total - 2**64 if total >= 2**63 else total


def chained(before, numbers, data=b""):
    """The link of server/journal/journal_mark.c."""
    head = before + b"".join(number.to_bytes(8, "little") for number in numbers)
    return hashlib.blake2b(head + data, digest_size=16).digest()


def chain_again(path):
    """Repairs the hash chain of a journal's rows and keyframes, and its mark file if there is one."""
    with sqlite3.connect(path) as db:
        meta = dict(db.execute("SELECT key, value FROM meta"))
        key = meta["number"].to_bytes(8, "little") + bytes(24)
        link, links, position, tick = hashlib.blake2b(meta["name"].encode(), key=key, digest_size=16).digest(), {}, 0, 0
        for position, tick, kind, data in db.execute("SELECT position, tick, kind, bytes FROM log ORDER BY position"):
            link = links[position] = chained(link, (position, tick, kind, len(data)), data)
        db.executemany("UPDATE log SET link = ? WHERE position = ?", [(links[at], at) for at in links])
        frames = "SELECT position, digest, paused, tick_hz, budget_ms, size, checksum FROM keyframes"
        for at, digest, paused, tick_hz, budget_ms, size, total in db.execute(frames).fetchall():
            data = struct.pack("<ddQ", tick_hz, budget_ms, size)
            seal = chained(links[at], (digest & MASK, total & MASK, paused, len(data)), data)
            db.execute("UPDATE keyframes SET seal = ? WHERE position = ?", (seal, at))
    db.close()
    if os.path.exists(path + "-mark"):
        with open(path + "-mark", "r+b") as file:
            slots = file.read()
            boot = slots[64 * 1 + 40:64 * 1 + 48]  # every written slot holds it
            body = struct.pack("<QQQ", 2**40, position, tick) + link + boot
            file.seek(0)
            file.write(body + struct.pack("<q", checksum(body, 0, 0, 0)) + bytes(8))


def tamper(path, other):
    """Changes the goal of the late order and makes its checksum fit."""
    shutil.copy(path, other)
    with sqlite3.connect(other) as db:
        rows = db.execute("SELECT position, tick, bytes FROM log WHERE kind = 1 AND tick IN (?, ?) ORDER BY position",
                          (FIRST + 1, SECOND + 1)).fetchall()
        (position, tick, old), (_, _, new) = rows[:2]
        assert checksum(old, position, tick, 1) == db.execute(
            "SELECT checksum FROM log WHERE position = ?", (position,)).fetchone()[0], "checksums are made otherwise now"
        db.execute("UPDATE log SET bytes = ?, checksum = ? WHERE position = ?",
                   (new, checksum(new, position, tick, 1), position))
    db.close()
    told_status = replay("check", other, status=1)
    assert "its link is another" in told_status.stdout, told_status
    chain_again(other)


# ---- the tests -----------------------------------------------------------------------------------

def a_recorded_run_goes_through_again(path, digests, inspected, folder):
    for workers in (1, 2, 3, 8):
        verified = replay_json("verify", path, "--workers", workers)
        assert verified["workers"] == workers
        assert (verified["ticks"], verified["differences"], verified["refused"]) == (LAST, 0, 0), verified
        assert (verified["keyframes"], verified["different_keyframes"]) == (LAST // 20, 0), verified
    part = replay_json("verify", path, "--from", 50, "--to", 60)
    assert part["ticks"] == 20 and part["differences"] == 0, part  # 41 to 60: from the keyframe before
    assert "digests and" in replay("verify", path).stdout
    for tick in (SECOND + 1, LAST - 1, LAST):
        assert replay_json("seek", path, tick)["digest"] == digests[tick]

    shown = replay_json("seek", path, LAST, "--agents")
    assert (shown["name"], shown["tick"], shown["teams"], len(shown["agents"])) == ("war", LAST, 2, 60)
    agent = next(a for a in shown["agents"] if a["agent"] == 7)
    for field in ("team", "cell", "state", "goal", "order", "kind", "planner", "runs", "plan", "moves"):
        assert agent[field] == inspected[field], (field, agent[field], inspected[field])
    text = replay("seek", path, LAST, "--agents").stdout
    assert "as recorded" in text and "AGENT" in text
    picture = os.path.join(folder, "picture.svg")
    replay("seek", path, 40, "--picture", picture, "--team", 1)
    root = xml.etree.ElementTree.parse(picture).getroot()
    assert root.get("viewBox") == "0 0 96 96"
    circles = root.findall(".//{http://www.w3.org/2000/svg}circle")
    assert 30 <= len(circles) <= 60, len(circles)
    saved = os.path.join(folder, "saved")
    replay("seek", path, 40, "--save", saved)
    with open(saved, "rb") as file:
        assert file.read(8) == b"FMWORLD\n"


def two_runs_part_where_they_did(path, other, folder):
    same = replay_json("diff", path, path)
    assert (same["first_difference"], same["from"], same["to"]) == (0, 1, LAST), same
    parted = replay_json("diff", path, other, status=1)
    # Budgets are measured times, so two runs may differ even before the missing order.
    assert 0 < parted["first_difference"] <= FIRST + 1, parted
    assert parted["looked"] and parted["compared_tick"] == parted["first_difference"]
    changed = os.path.join(folder, "tampered")
    tamper(path, changed)
    parted = replay_json("diff", path, changed, status=1)
    assert (parted["first_difference"], parted["commands_differ"]) == (FIRST + 1, True), parted
    # The change is detected without the other journal, too, and the next keyframe shows what it is.
    found = replay_json("verify", changed, status=1)
    assert found["first_difference"] == FIRST + 1 and found["compared_tick"] == 40, found
    fields = {(f["of"], f["id"], f["field"]): f for f in found["fields"]}
    goal = fields["agent", 1, "goal"]
    assert goal["replayed"] == "20,60" != goal["recorded"], goal
    text = replay("verify", changed, status=1).stdout
    assert f"tick {FIRST + 1} is the first whose digest differs" in text and "agent 1, goal: " in text, text


def map_and_moves_are_exported(path, folder):
    out = os.path.join(folder, "out")
    exported = replay_json("export", path, "--out", out)
    assert exported["edits"] == 1 and exported["moves"] + exported["left_out"] == 62, exported
    assert exported["moves"] >= 60, exported
    with open(exported["map"], encoding="ascii") as file:
        assert file.read().startswith("type octile\nheight 96\nwidth 96\nmap\n")
    with open(exported["scen"], encoding="ascii") as file:
        lines = file.read().splitlines()
    assert lines[0] == "version 1" and len(lines) == 1 + exported["moves"]
    assert len(lines[1].split("\t")) == 9
    # fogmarch-lab finds the same lengths.
    lab = os.path.join(os.path.dirname(FOGMARCH), "fogmarch-lab")
    done = subprocess.run([lab, "scen", exported["map"], exported["scen"]], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done


def forks(path):
    # With the same planner and budget the fork must have the same outcome.
    forked = replay_json("fork", path, 0, "--planner", "dstar-lite")
    same = [forked[side] for side in ("recorded", "fork")]
    for key in ("orders_ended", "ticks_to_arrive", "moves", "expansions", "last_arrival"):
        assert same[0][key] is not None
    # With the recorded budget the outcome does not depend on the machine.
    first, second = (replay_json("fork", path, 40, "--planner", "repeated-jps", "--workers", w) for w in (1, 3))
    for side in ("recorded", "fork"):
        for key in ("orders_ended", "ticks_to_arrive", "moves", "expansions", "waiting_percent"):
            assert first[side][key] == second[side][key], (side, key)
    assert first["recorded"]["moves"] > 0 and first["fork"]["moves"] > 0
    short = replay_json("fork", path, 40, "--budget-ms", 5, "--ticks", 10)
    assert (short["from"], short["to"]) == (40, 50)
    text = replay("fork", path, 40, "--planner", "tbaa-star", "--ticks", 20).stdout
    assert "RECORDED" in text and "orders arrived" in text and "agents waiting" in text


def wrong_calls_are_refused(path, folder):
    refused("No such file", "verify", os.path.join(folder, "none"))
    text = os.path.join(folder, "text")
    with open(text, "w", encoding="ascii") as file:
        file.write("no journal\n" * 100)
    refused("text: opening: is no journal of fogmarch", "verify", text)
    refused("is no file, but a folder", "verify", folder)
    empty = os.path.join(folder, "empty")  # a copy of a running world's journal may be empty without its -wal
    with open(empty, "wb"):
        pass
    refused("empty: is no journal of fogmarch, or the copy of one that is in use", "verify", empty)
    first_page = os.path.join(folder, "first_page")  # ... or hold what SQLite writes first: in its mode WAL, no tables
    database = sqlite3.connect(first_page)
    database.execute("PRAGMA journal_mode=WAL")
    database.close()
    refused("first_page: is no journal of fogmarch, or the copy of one that is in use", "verify", first_page)
    cut = os.path.join(folder, "cut")
    with open(path, "rb") as source, open(cut, "wb") as file:
        file.write(source.read()[:9000])
    refused("the file is damaged or was cut off", "verify", cut)
    refused(f"tick {LAST + 1} is not in this journal, which holds 0 to {LAST}", "seek", path, LAST + 1)
    refused(f"which holds 0 to {LAST}", "verify", path, "--to", 1000)
    refused("nothing is recorded behind", "fork", path, LAST, "--planner", "auto")
    refused("one of --planner and --budget-ms", "fork", path, 10, status=2)
    refused("--planner: ", "fork", path, 10, "--planner", "hopes", status=2)
    refused("there is no action 'undo'", "undo", path, status=2)
    refused("wanted: seek FILE TICK", "seek", path, status=2)
    refused("is not the number of a tick", "seek", path, "now", status=2)
    refused("verify has no option --planner", "verify", path, "--planner", "auto", status=2)
    refused("there is no such team", "seek", path, 10, "--picture", "-", "--team", 9)


def a_running_world_can_be_looked_at():
    with tempfile.TemporaryDirectory() as folder, Server("--journal-dir", folder) as server:
        client = server.connect()
        made = client.call("world.create", name="live", generator="open", width=40, height=40, tick_hz=50)
        client.call("team.create", world=made["world"])
        client.call("agent.spawn", world=made["world"], team=1, cells=[1, 1])
        client.call("agent.order", world=made["world"], agents=[1], kind="patrol", goals=[1, 1, 38, 38])
        until(lambda: client.call("world.info", world=made["world"])["tick"] >= 60, "tick 60")
        path = os.path.join(folder, f"{made['world']}-live.journal")
        verified = replay_json("verify", path)
        assert verified["ticks"] >= 50 and verified["differences"] == 0, verified
        assert replay_json("seek", path, 30)["tick"] == 30


def recorded_runs():
    with tempfile.TemporaryDirectory() as folder:
        one, two = os.path.join(folder, "one"), os.path.join(folder, "two")
        os.mkdir(one)
        os.mkdir(two)
        path, digests, inspected = record(one)
        other, _, _ = record(two, late_order=False)
        before = {name: os.stat(os.path.join(one, name)).st_mtime_ns for name in os.listdir(one)}
        a_recorded_run_goes_through_again(path, digests, inspected, folder)
        two_runs_part_where_they_did(path, other, folder)
        map_and_moves_are_exported(path, folder)
        forks(path)
        wrong_calls_are_refused(path, folder)
        after = {name: os.stat(os.path.join(one, name)).st_mtime_ns for name in os.listdir(one)}
        assert after == before, f"who reads a journal leaves nothing beside it: {sorted(after)}"


if __name__ == "__main__":
    run([recorded_runs, a_running_world_can_be_looked_at])
