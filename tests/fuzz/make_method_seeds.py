#!/usr/bin/env python3
"""Writes the seeds of fuzz_methods.c and the dictionaries of the fuzz targets that read messages, from
proto/protocol.json.

    python3 tests/fuzz/make_method_seeds.py            writes what has changed
    python3 tests/fuzz/make_method_seeds.py --check    exit status 1 when something would be written

One program for each method, in which its role calls it with the required fields, with all fields, and with
each optional field alone; and a few games. fuzz_methods.c describes the bytes. check_method_seeds.c checks
that each method succeeds in some program.
"""

import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(HERE, "corpus", "methods")
with open(os.path.join(ROOT, "proto", "protocol.json")) as file:
    PROTOCOL = json.load(file)
METHODS = PROTOCOL["methods"]
INDEX = {method["name"]: index for index, method in enumerate(METHODS)}
SETUPS = 8
STEPS_MAX = 48
ADMIN, PLAYER_1, PLAYER_2, OBSERVER, DEBUG, NOBODY, ADMIN_2, GUEST = range(8)
BYTES, SLEEP, STALL, HANG_UP, SETTLE, TOKEN = range(0x80, 0x86)
ASKER = {"none": NOBODY, "player": PLAYER_1, "observer": OBSERVER, "debug": DEBUG, "admin": ADMIN}
KNOWN = {"world", "team", "agent", "target", "follow", "building", "subscription", "upload", "number", "save",
         "total", "carrier"}

# Values that fit the map and the rules, as bytes; for one method or, without its name, for all methods.
VALUES = {
    "agents": bytes([2, 0, 1]), "rect": bytes([4, 2, 1, 9, 8]), "rects": bytes([4, 2, 2, 3, 3]),
    "cells": bytes([2, 8, 9]), "goal": bytes([2, 15, 10]), "goals": bytes([2, 15, 9]), "from": bytes([2, 1, 1]),
    "to": bytes([2, 19, 9]), "pairs": bytes([8, 0, 0, 19, 9, 4, 3, 10, 10]), "neighbours": bytes([0, 4]),
    "protocol": b"\0\0", "offset": b"\0\0", "width": b"\0\x17", "height": b"\0\x0f", "speed": bytes([0, 1, 0]),
    "expansions_max": b"\0\x40", "size": b"\0\xff", "tick": b"\0\3", "world": b"\0", "file": b"\0",
    ("world.create", "name"): b"\1", ("world.load", "name"): b"\1", ("token.create", "role"): b"\0",
    ("hello", "token"): b"\0", ("agent.order", "kind"): b"\0", ("agent.order", "cells"): bytes([4, 3, 8, 5, 8]),
    ("building.place", "rect"): bytes([4, 3, 9, 2, 2]), ("agent.place", "cells"): bytes([4, 8, 9, 3, 9]),
    "orders": bytes([2, 1, 2]), ("team.cost", "team"): b"\0\0", ("agent.board", "agents"): b"\2\1\2",
    ("agent.board", "radius"): b"\0\7",
}
for replay_method in ("seek", "play", "pause", "close"):
    VALUES["replay." + replay_method, "world"] = b"\1"

# Of fields that exclude each other, those that the request with all fields leaves out.
OTHERS = {
    "world.create": ("map", "upload"), "path.query": ("pairs",), "path.distance": ("pairs",),
    "path.reachable": ("pairs",), "map.upload": ("upload",), "world.info": ("name",),
    "agent.order": ("goals", "queue", "before", "replaces", "once", "spread", "formation",
                    "target"),
    "hello": ("resume",), "terrain.set": (), "agent.unboard": ("agents",),
    "subscribe": ("stream", "since", "follow"),
}

# Optional fields without which a method fails.
NEEDS = {
    "world.create": ("generator", "width", "height"), "path.query": ("from", "to"), "path.distance": ("from", "to"),
    "path.reachable": ("from", "to"), "agent.order": ("goal",), "map.upload": ("total",), "world.info": ("world",),
    "terrain.set": ("cells",), "token.create": ("world", "team"), "world.load": ("name",),
    "agent.unboard": ("carrier",), "agent.board": ("radius",),
    "team.cost": ("cells",),
}

# The first world of methods that need a certain one: units that can only walk on trees fit no other world.
SETUP_OF = {"agent.place": 4, "agent.board": 1}

# Methods that use up what was made before them, so that each shape needs its own program.
USING_UP = {"save.download", "world.load"}


def step(what, payload):
    return bytes([what, len(payload)]) + payload


def value(method, param, chance):
    """A value that its handler usually accepts."""
    name, kind = param["name"], param["type"]
    given = VALUES.get((method, name)) or VALUES.get(name)
    if given is not None:
        return given
    if name in KNOWN:
        return bytes([0])
    if kind == "uint":
        return bytes([0, chance.randrange(int(min(12, param["maximum"] - param["minimum"] + 1)))])
    if kind == "real":
        return bytes([0, 0, chance.randrange(1, 256)])
    if kind == "bool":
        return bytes([chance.randrange(2)])
    if kind in ("text", "bytes"):
        return bytes([0])
    return bytes([2]) + bytes(chance.randrange(10) for _ in range(2))


def request(name, client, chance, given=None, share=0.3, how=0):
    """`given`: values by name, as bytes, or None to leave a field out."""
    given = given or {}
    payload = bytes([client | how])
    for param in METHODS[INDEX[name]]["params"]:
        here = param["required"] or chance.random() < share
        if param["name"] in given:
            here = given[param["name"]] is not None
        if not here:
            payload += bytes([0xff if param["required"] else 0])
            continue
        payload += bytes([1]) + (given.get(param["name"]) or value(name, param, chance))
    return step(INDEX[name], payload[:255])


def ask_with(name, client, chance, fields):
    """A request with the required fields, and these."""
    params = METHODS[INDEX[name]]["params"]
    given = {param["name"]: None for param in params if not param["required"]}
    given.update({param["name"]: value(name, param, chance) for param in params if param["name"] in fields})
    return request(name, client, chance, given, share=0)


written = {}  # bytes by path


def write(name, setup, steps):
    assert len(steps) <= STEPS_MAX, name
    written[os.path.join(FOLDER, name)] = bytes([setup]) + b"".join(steps)


def before(name, client, chance):
    """Steps that must come before a request, so that it makes sense."""
    def ask(method, **given):
        return request(method, client, chance, given, share=0)

    save = [ask("world.save")]
    download = save + [ask("save.download")]
    upload = ask("map.upload", total=b"\1", data=b"\x60")
    steps = {
        "token.revoke": lambda: [ask_with("token.create", client, chance, NEEDS["token.create"])],
        "journal.have": lambda: [ask_with("token.create", client, chance, NEEDS["token.create"])],
        "agent.cancel": lambda: [ask_with("agent.order", client, chance, NEEDS["agent.order"])],
        "building.remove": lambda: [ask("building.place", team=b"\0")],
        "subscription.move": lambda: [ask("subscribe")], "unsubscribe": lambda: [ask("subscribe")],
        "debug.unsubscribe": lambda: [ask("debug.subscribe")], "save.download": lambda: save,
        "world.load": lambda: download + [upload],
    }
    if name.startswith("replay.") and name not in ("replay.open", "replay.list"):
        return [ask("replay.open")]
    return steps.get(name, list)()


def after(name, client, chance):
    """Steps that make room for the next request."""
    return [request("world.destroy", client, chance, {"world": b"\2"}, share=0)] if name == "world.create" else []


def write_methods():
    for index, method in enumerate(METHODS):
        chance = random.Random(index)
        name, asker = method["name"], ASKER[method["role"]]
        optional = [param["name"] for param in method["params"] if not param["required"]]
        needs = NEEDS.get(name, ())
        shapes = [needs, [field for field in optional if field not in OTHERS.get(name, ())]]
        shapes += [set(needs) | {field} for field in optional if field not in needs]
        shapes = shapes[:1] if not optional else shapes
        head = before(name, asker, chance)
        tail = [request(name, client, chance, how=8) for client in (PLAYER_2, ADMIN_2)] + [step(SLEEP, bytes([30]))]
        room = STEPS_MAX - len(head) - len(tail)
        for part, steps in enumerate(parts_of(shapes, name, asker, chance, room)):
            write("method-%s%s" % (name, "-%d" % part if part > 0 else ""), SETUP_OF.get(name, index % SETUPS),
                  head + steps + tail)


def parts_of(shapes, name, asker, chance, room):
    """The requests of all shapes, in programs that are not too long."""
    parts = [[]]
    for fields in shapes:
        steps = [ask_with(name, asker, chance, fields)] + after(name, asker, chance)
        if len(parts[-1]) + len(steps) > room or (name in USING_UP and parts[-1]):
            parts.append([])
        parts[-1] += steps
    return parts


def write_games():
    chance = random.Random(1)
    watch = [request("subscribe", client, chance, {"world": b"\0", "rect": None, "follow": None, "team": None})
             for client in (PLAYER_1, OBSERVER)]

    def order(kind, client=ADMIN, **given):
        # `kind` is an index into the list of words: move, stop, patrol, hold, follow, guard, ...
        given = {"world": b"\0", "agents": bytes([3, 0, 1, 2]), "kind": bytes([kind]), **given}
        return request("agent.order", client, chance, given, share=0)

    run = request("world.step", ADMIN, chance, {"world": b"\0", "ticks": bytes([0, 9])})
    goal = {"goal": bytes([2, 15, 10])}
    wall = request("terrain.set", ADMIN, chance, {"world": b"\0", "set": b"\0", "cells": bytes([2, 8, 8]),
                                                  "rects": None, "cost": None})
    house = request("building.place", ADMIN, chance, {"world": b"\0", "rect": bytes([4, 3, 9, 2, 2])})
    for setup in range(SETUPS):
        write("game-%d" % setup, setup, watch + [order(0, **goal), run, wall, run, house, run, step(SLEEP, b"\x64")])
    for kind in range(2, 8):
        write("order-%d" % kind, kind, watch + [
            order(kind, **goal), order(kind, PLAYER_1, target=bytes([2]), radius=bytes([0, 3])), run,
            order(0, queue=b"\0", **goal), run, step(STALL, bytes([PLAYER_1, 1])), run,
            step(STALL, bytes([PLAYER_1, 0])), run])
    ends = {"world": b"\0", "from": bytes([2, 0, 0]), "to": bytes([2, 19, 9]), "pairs": None, "team": None,
            "class": None, "planner": None}
    pairs = {**ends, "from": None, "to": None, "pairs": bytes([8, 0, 0, 19, 9, 4, 3, 10, 10])}
    for setup, name in enumerate(("path.query", "path.distance", "path.reachable")):
        write("paths-" + name, setup, [request(name, asker, chance, given, share=0) for asker, given in
                                       ((ADMIN, ends), (PLAYER_1, ends), (OBSERVER, pairs), (PLAYER_2, pairs),
                                        (ADMIN, {**ends, "planner": b"\7", "expansions_max": bytes([0, 3])}))])
    write("paths-nearest", 1, [
        request("path.nearest", ADMIN, chance, {"world": b"\0", "from": bytes([2, 1, 1])}, share=0),
        request("path.field", ADMIN, chance, {"world": b"\0", "goal": bytes([2, 9, 9]), "rect": bytes([4, 3, 3, 9, 8])},
                share=0), run])
    number = {"world": b"\0", "subscription": b"\0"}
    write("moving-views", 0, watch + [
        request("subscription.move", PLAYER_1, chance, {**number, "rect": bytes([4, 2, 2, 6, 6])}), order(0, **goal), run,
        request("subscribe", OBSERVER, chance, {"world": b"\0", "team": None, "follow": b"\1", "rect": None}), run,
        request("subscription.move", OBSERVER, chance, {**number, "rect": bytes([4, 0, 0, 20, 12])}), run,
        request("unsubscribe", PLAYER_1, chance, number), run])
    agent = {"world": b"\0", "agent": b"\1", "rect": bytes([4, 0, 0, 9, 9])}
    write("debugging", 0, [request("debug.subscribe", DEBUG, chance, agent), order(0, **goal), run,
                           request("debug.inspect", DEBUG, chance, agent), request("debug.explain", DEBUG, chance, agent),
                           request("debug.top", DEBUG, chance, {"world": b"\0", "by": b"\1"}),
                           request("debug.jams", DEBUG, chance, {"world": b"\0"}),
                           request("debug.unsubscribe", DEBUG, chance, number), run,
                           request("stats", OBSERVER, chance, {"world": b"\0", "teams": b"\0", "reset": None})])
    write("demolition", 1, [house, house, run, request("building.remove", ADMIN, chance, {"world": b"\0", "building": b"\0"}),
                            request("agent.remove", ADMIN, chance, {"world": b"\0", "agents": bytes([2, 0, 1])}), run])
    write("tokens", 0, [request("token.create", ADMIN, chance, {"role": b"\0", "world": b"\0", "team": b"\0"}),
                        step(TOKEN, bytes([GUEST])), request("world.list", GUEST, chance),
                        request("token.revoke", ADMIN, chance, {"number": b"\0"}), step(HANG_UP, bytes([PLAYER_1]))])
    write("worlds", 2, [request("map.upload", ADMIN, chance, {"total": b"\0", "upload": None, "offset": bytes([0, 0])}),
                        request("world.create", ADMIN, chance, {"name": b"\1", "map": None, "upload": None}, 0.4),
                        request("world.create", ADMIN, chance, {"name": b"\1", "upload": None, "generator": None}, 0.2),
                        request("world.list", OBSERVER, chance), request("world.destroy", ADMIN, chance, {"world": b"\0"})])
    write("timeouts", 0, watch + [step(BYTES, bytes([PLAYER_1]) + b"\x94\x00"), step(STALL, bytes([OBSERVER, 1])),
                          order(0, **goal), run, step(SLEEP, b"\x30"), step(SLEEP, b"\x30"), step(SLEEP, b"\x80")])
    write("destroyed", 2, [request(name, ADMIN, chance, {**ends, "team": None}, share=0, how=16)
                           for name in ("path.query", "path.distance")] +
          [request("world.destroy", ADMIN, chance, {"world": b"\0"}, how=16)])
    write("bytes", 0, [step(BYTES, bytes([NOBODY]) + b"\x94\x00\x01\xa4ping\x91\x80\x94\x00\x02\xa5hello"),
                       step(BYTES, bytes([ADMIN]) + b"\x94\x00\xc1"), step(BYTES, bytes([DEBUG]) + b"\xdd\xff\xff\xff\xff")])


# ---- dictionaries ----------------------------------------------------------------------------------------------------

def entry(token):
    return '"' + "".join("\\x%02x" % byte for byte in token) + '"\n'


def packed(text):
    """A text in MessagePack."""
    size = len(text)
    return bytes([0xa0 | size] if size < 32 else [0xd9, size]) + text.encode()


def write_dictionaries():
    words = {method["name"] for method in METHODS} | {param["name"] for method in METHODS for param in method["params"]}
    names = ["# Names of methods and fields, packed.\n"] + [entry(packed(word)) for word in sorted(words)]
    chance = random.Random(2)
    requests = ["# The steps of fuzz_methods.c, see there: a request for each method.\n"]
    for method in METHODS:
        shape = ask_with(method["name"], ASKER[method["role"]], chance, NEEDS.get(method["name"], ()))
        requests.append(entry(shape[:64]))  # libFuzzer takes no longer ones
    head = "# Made by make_method_seeds.py.\n"
    for name, lines in (("scanner", names), ("methods", requests)):
        written[os.path.join(HERE, name + ".dict")] = (head + "".join(lines)).encode()


def is_current(path):
    if not os.path.exists(path):
        return False
    with open(path, "rb") as file:
        return file.read() == written[path]


def main():
    write_methods()
    write_games()
    write_dictionaries()
    stale = [path for path in written if not is_current(path)]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print("%s is not what tests/fuzz/make_method_seeds.py makes; run it" % os.path.relpath(path, ROOT))
        sys.exit(1 if stale else 0)
    os.makedirs(FOLDER, exist_ok=True)
    for path in stale:
        with open(path, "wb") as file:
            file.write(written[path])


if __name__ == "__main__":
    main()
