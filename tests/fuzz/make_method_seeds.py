#!/usr/bin/env python3
"""Writes the seeds of fuzz_methods.c: small programs of requests, from proto/protocol.json.

    python3 tests/fuzz/make_method_seeds.py

One program for each method, in which its role asks for it with the required fields, with all fields, and
with some; and a few games. The bytes are those that fuzz_methods.c describes.
"""

import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(HERE, "corpus", "methods")
METHODS = json.load(open(os.path.join(ROOT, "proto", "protocol.json")))["methods"]
INDEX = {method["name"]: index for index, method in enumerate(METHODS)}
SETUPS = 8
ADMIN, PLAYER_1, PLAYER_2, OBSERVER, DEBUG, NOBODY, ADMIN_2, GUEST = range(8)
BYTES, SLEEP, STALL, HANG_UP, SETTLE, TOKEN = range(0x80, 0x86)
ASKER = {"none": NOBODY, "player": PLAYER_1, "observer": OBSERVER, "debug": DEBUG, "admin": ADMIN}
KNOWN = {"world", "team", "agent", "target", "follow", "building", "subscription", "upload", "number"}


def step(what, payload):
    return bytes([what, len(payload)]) + payload


def value(param, chance):
    """A value that its handler mostly takes."""
    kind = param["type"]
    if kind == "uint":
        return bytes([chance.randrange(4)]) if param["name"] in KNOWN else bytes([0, chance.randrange(int(min(12, param["maximum"] - param["minimum"] + 1)))])
    if kind == "real":
        return bytes([0, 0, chance.randrange(256)])
    if kind == "bool":
        return bytes([chance.randrange(2)])
    if kind == "text":
        return bytes([chance.randrange(8)])
    if kind == "bytes":
        return bytes([0])
    if param["maximum"] < 5:
        count = param["minimum"]
    else:
        count = max(2, param["minimum"]) if param["name"] != "agents" else 2
    return bytes([count]) + bytes(chance.randrange(10) for _ in range(count))


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
        payload += bytes([1]) + (given.get(param["name"]) or value(param, chance))
    return step(INDEX[name], payload[:255])


def write(name, setup, steps):
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(bytes([setup]) + b"".join(steps))


def write_methods():
    for index, method in enumerate(METHODS):
        chance = random.Random(index)
        asker = ASKER[method["role"]]
        steps = [request(method["name"], asker, chance, share=share) for share in (0, 1, 0.3, 0.3)]
        steps += [request(method["name"], client, chance, how=8) for client in (PLAYER_2, ADMIN_2)]
        write("method-" + method["name"], index % SETUPS, steps + [step(SLEEP, bytes([30]))])


def write_games():
    chance = random.Random(1)
    watch = [request("subscribe", client, chance, {"world": b"\0", "rect": None, "follow": None, "team": None})
             for client in (PLAYER_1, OBSERVER)]

    def order(kind, client=ADMIN, **given):
        # kinds lie behind each other in the list of words: move, stop, patrol, hold, follow, guard, ...
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
                           request("debug.unsubscribe", DEBUG, chance, number), run,
                           request("stats", OBSERVER, chance, {"world": b"\0", "teams": b"\0", "reset": None})])
    write("demolition", 1, [house, house, run, request("building.remove", ADMIN, chance, {"world": b"\0", "building": b"\0"}),
                            request("agent.remove", ADMIN, chance, {"world": b"\0", "agents": bytes([2, 0, 1])}), run])
    write("tokens", 0, [request("token.create", ADMIN, chance, {"role": b"\0", "world": b"\0", "team": b"\0"}),
                        step(TOKEN, bytes([GUEST])), request("world.list", GUEST, chance),
                        request("token.revoke", ADMIN, chance, {"number": b"\0"}), step(HANG_UP, bytes([PLAYER_1]))])
    write("worlds", 2, [request("map.upload", ADMIN, chance, {"total": bytes([3, 0, 0, 0, 0, 0, 0, 1, 31]), "upload": None,
                                                              "offset": bytes([0, 0])}),
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


os.makedirs(FOLDER, exist_ok=True)
write_methods()
write_games()
