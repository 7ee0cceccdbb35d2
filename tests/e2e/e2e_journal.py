"""Journals: worlds that outlive their server.

Goal    after kill -9 every world is back at the last tick that any client has seen, with the same digest,
        name, number and pace, and its agents go on. A write that the disk refuses stops its own world
        and no other, and nothing that was answered is lost. Damaged files are set aside and reported.
Method  a real server, killed and started again on the same folder; a small tmpfs that fills up.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from fogmarch_server import PATIENCE, RequestError, Server, run, seed, until


OUT_OF_MEMORY = 6  # the reason for which such orders end


class Folder:
    """A folder of journals, removed at the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="fogmarch-journals-")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def files(self):
        return sorted(name for name in os.listdir(self.path) if name not in ("lock", "server.db"))

    def journal(self, number, name):
        return os.path.join(self.path, f"{number}-{name}.journal")


class JournalServer(Server):
    """A server on a folder of journals. Unless the test calls kill(), it must end cleanly."""

    def __init__(self, folder, *flags, program=None):
        super().__init__("--journal-dir", getattr(folder, "path", folder), *flags, program=program)

    def kill(self):
        self.process.kill()
        self.process.wait()
        log = self.log()
        self.process.returncode = 0  # killed by the test
        return log


def populate(client, name="w", agents=60, **params):
    """Makes a world with two teams that march to each other's base. Returns its number."""
    options = dict(generator="skirmish", width=96, height=96, players=2, seed=5)
    options.update(params)
    made = client.call("world.create", name=name, **options)
    for team in range(2):
        number = client.call("team.create", world=made["world"])["team"]
        base, goal = made["bases"][2 * team:2 * team + 2], made["bases"][2 - 2 * team:4 - 2 * team]
        ids = client.call("agent.spawn", world=made["world"], team=number,
                          cells=base * (agents // 2))["agents"]
        client.call("agent.order", world=made["world"], kind="move", agents=ids, goal=goal)
    return made["world"]


def settled(client, world):
    """Pauses a world. Returns its tick and digest."""
    client.call("world.pause", world=world)
    info = client.call("world.info", world=world)
    return info["tick"], info["digest"]


def wait_for_tick(client, world, tick):
    until(lambda: client.call("world.info", world=world)["tick"] >= tick, f"tick {tick}")


# ---- recovery ------------------------------------------------------------------------------------


def killed_and_back():
    """Twice, so that a recovered world's journal is proved good as well; with keyframes in between."""
    with Folder() as folder:
        flags = ("--keyframe-ticks", "20")
        with JournalServer(folder, *flags) as server:
            admin = server.connect()
            world = populate(admin, width=256, height=256, tick_hz=100, overload="skip")
            other = populate(admin, "other", paused=True)
            wait_for_tick(admin, world, 50)
            tick, digest = settled(admin, world)
            admin.call("world.resume", world=other, tick_hz=7, budget_ms=3)
            admin.call("world.pause", world=other)
            server.kill()
        for _ in range(2):
            with JournalServer(folder, *flags) as server:
                admin = server.connect()
                info = admin.call("world.info", name="w")
                assert info["world"] == world and info["overload"] == "skip", info
                assert info["tick_hz"] == 100 and info["paused"] and info["journal"] == "good", info
                assert (info["tick"], info["digest"]) == (tick, digest), (info, tick, digest)
                assert info["agents"] == 60 and info["teams"] == 2 and len(info["bases"]) == 4, info
                second = admin.call("world.info", world=other)
                assert second["paused"] and second["tick_hz"] == 7 and second["budget_ms"] == 3
                made = admin.call("world.create", name="third", generator="open", width=16,
                                  height=16)["world"]
                assert made > other, "a number was given twice"
                admin.call("world.destroy", world=made)
                admin.call("world.resume", world=world)
                wait_for_tick(admin, world, tick + 30)
                tick, digest = settled(admin, world)
                server.kill()
        with JournalServer(folder, *flags) as server:
            admin = server.connect()
            admin.call("subscribe", world=world)
            admin.call("world.resume", world=world)
            ended = 0
            while ended < 60:  # all go on with their orders
                _, params = admin.notification("delta", "keyframe")
                ended += len(params.get("ended", [])) // 5
            moved = admin.call("stats", world=world)["world"]
            assert sum(moved["states"].values()) == 60, moved


def nothing_seen_is_lost():
    """Killed at random moments: the ticks that a subscriber has seen are there, and every command
    that it was answered."""
    source = random.Random(seed())
    with Folder() as folder:
        edited, seen = [], 0
        world = None
        for _ in range(4):
            with JournalServer(folder, "--keyframe-ticks", "15") as server:
                admin = server.connect()
                if world is None:
                    world = populate(admin, tick_hz=200)
                info = admin.call("world.info", world=world)
                assert info["tick"] >= seen, f"seen {seen}, came back at {info['tick']}"
                admin.call("subscribe", world=world)
                _, keyframe = admin.notification("keyframe")
                seen = keyframe["tick"]
                looks = []
                for count, look in zip(keyframe["cells"][::2], keyframe["cells"][1::2]):
                    looks += [look] * count
                for x, y, cost in edited:
                    assert looks[y * 96 + x] >> 4 == cost - 1, f"the edit of {x}, {y} is gone"
                end = time.monotonic() + source.uniform(0.05, 0.6)
                enough = len(edited) + 2  # however slow the disk is
                while time.monotonic() < end or len(edited) < enough:
                    x, y = len(edited) % 96, len(edited) // 96
                    cost = source.randrange(2, 250)
                    admin.call("terrain.set", world=world, cells=[x, y], set="cost", cost=cost)
                    edited.append((x, y, cost))
                    for _, params in admin.notifications:
                        seen = max(seen, params.get("tick", 0))
                    admin.notifications.clear()
                server.kill()
        assert len(edited) >= 8 and seen > 0


def verified(path):
    """What `fogmarch replay verify` says of a journal."""
    done = subprocess.run([os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch"), "replay",
                           "verify", path, "--workers", "2", "--json"], capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def memory_that_runs_out():
    """Ticks in which memory ran out cannot be replayed: keyframes take their place, and nothing
    that was seen is lost."""
    side = 384
    with Folder() as folder:
        flags = ("--world-memory-max", str(16 << 20), "--keyframe-ticks", "1000000")
        source = random.Random(seed())
        with JournalServer(folder, *flags) as server:
            admin = server.connect()
            made = admin.call("world.create", name="w", generator="open", width=side, height=side,
                              planner="dijkstra", tick_hz=50)
            world = made["world"]
            team = admin.call("team.create", world=world)["team"]
            ids = admin.call("agent.spawn", world=world, team=team,
                             cells=[source.randrange(side) for _ in range(2 * 60)])["agents"]
            admin.call("subscribe", world=world)
            reasons, tick = set(), 0
            while OUT_OF_MEMORY not in reasons:
                for agent in ids:
                    admin.call("agent.order", world=world, kind="move", agents=[agent],
                               goal=[source.randrange(side), source.randrange(side)])
                for _ in range(10):
                    _, params = admin.notification("delta", "keyframe")
                    tick = params["tick"]
                    reasons |= set(params.get("ended", [])[2::5])
            server.kill()
        with JournalServer(folder, *flags) as server:
            admin = server.connect()
            assert admin.call("world.info", world=world)["tick"] >= tick, tick
            last, digest = settled(admin, world)
            server.kill()
        told = verified(folder.journal(world, "w"))
        assert told["differences"] == 0 and told["refused"] == 0 and told["bridged"] > 0, told
        with JournalServer(folder, *flags) as server:
            assert settled(server.connect(), world) == (last, digest)


def without_syncing():
    """Durability `interval` and `none`: the world comes back at some tick, with a consistent state."""
    for durability in ("interval", "none"):
        with Folder() as folder:
            flags = ("--durability", durability, "--journal-interval-ms", "20")
            with JournalServer(folder, *flags) as server:
                admin = server.connect()
                world = populate(admin, tick_hz=100)
                wait_for_tick(admin, world, 30)
                until(lambda: journal_of(admin, world)["commits"] >= 3, "a commit")
                server.kill()
            with JournalServer(folder, *flags) as server:
                admin = server.connect()
                tick, _ = settled(admin, world)
                assert tick > 0
                admin.call("world.step", world=world, ticks=5)


def ended_in_order():
    """SIGTERM writes a keyframe, so that nothing is replayed; every answered command is there."""
    with Folder() as folder:
        with JournalServer(folder) as server:
            admin = server.connect()
            world = populate(admin, tick_hz=100)
            wait_for_tick(admin, world, 10)
            tick, digest = settled(admin, world)
        with JournalServer(folder) as server:
            info = server.connect().call("world.info", world=world)
            assert (info["tick"], info["digest"]) == (tick, digest), info
            assert "ticks_replayed=0" in server.log(), server.log()


def destroyed_worlds_do_not_come_back():
    for keep in (False, True):
        with Folder() as folder:
            with JournalServer(folder, *(["--journal-keep"] if keep else [])) as server:
                admin = server.connect()
                world = populate(admin, tick_hz=100)
                admin.call("world.destroy", world=world)
                left = [f"{world}-w.journal.ended", f"{world}-w.journal.ended-mark"] if keep else []
                assert folder.files() == left, folder.files()
                server.kill()
            with JournalServer(folder) as server:
                assert server.connect().call("world.list")["worlds"] == []


def worlds_destroyed_as_it_ends():
    """A world whose destruction was confirmed is gone; one whose destruction was refused is back."""
    for _ in range(2):
        with Folder() as folder:
            with JournalServer(folder) as server:
                admin = server.connect()
                worlds = {populate(admin, f"w{i}", agents=4, tick_hz=100) for i in range(6)}
                server.process.send_signal(signal.SIGSTOP)  # so that it reads all requests at once
                numbers = {admin.send("world.destroy", world=world): world for world in worlds}
                server.terminate()
                server.process.send_signal(signal.SIGCONT)
                admin.disconnected()
                assert server.wait() == 0
            answers = {world: admin.answers[number] for number, world in numbers.items()
                       if number in admin.answers}
            with JournalServer(folder) as server:
                left = {info["world"] for info in server.connect().call("world.list")["worlds"]}
            for world, (error, _) in answers.items():
                assert (error is None) == (world not in left), (answers, left)


# ---- failures ------------------------------------------------------------------------------------


def refused_to_start(folder, *flags):
    """Starts a server that must refuse to start. Returns its log."""
    log = subprocess.run([os.environ["FOGMARCHD"], "--listen", "127.0.0.1:0", "--journal-dir", folder,
                          *flags], stderr=subprocess.PIPE, timeout=PATIENCE)
    assert log.returncode == 1, log
    return log.stderr.decode()


def folders_that_will_not_do():
    with Folder() as folder:
        missing = os.path.join(folder.path, "missing")
        log = refused_to_start(missing)
        assert missing in log and "No such file or directory; journal_dir is a folder that exists" in log, log
        with open(missing, "w"):
            pass
        assert "Not a directory" in refused_to_start(missing)
        os.remove(missing)
        with JournalServer(folder):
            assert "another server uses this folder" in refused_to_start(folder.path)


def damaged_files():
    """Each kind of damage: the damaged journal is set aside unchanged, the other world is back."""
    source = random.Random(seed())
    def cut(data):
        return data[:source.randrange(1, len(data) - 4096)]
    def overwrite(data):
        return data[:4096] + bytes(source.randrange(256) for _ in data[4096:])
    def empty(data):
        return b""
    for damage in (cut, overwrite, empty):
        with Folder() as folder:
            with JournalServer(folder) as server:
                admin = server.connect()
                good = populate(admin, "good", tick_hz=100)
                bad = populate(admin, "bad", tick_hz=100)
                wait_for_tick(admin, bad, 5)
            path = folder.journal(bad, "bad")
            with open(path, "rb") as file:
                data = damage(file.read())
            with open(path, "wb") as file:
                file.write(data)
            with JournalServer(folder) as server:
                admin = server.connect()
                worlds = admin.call("world.list")["worlds"]
                assert [entry["name"] for entry in worlds] == ["good"], worlds
                assert "world not brought back" in server.log() and path in server.log()
                with open(path + ".damaged", "rb") as file:
                    assert file.read() == data, "it was touched"
                assert populate(admin, "bad") > good


def checked(path):
    """Exit status of `fogmarch replay check`, and what it says."""
    done = subprocess.run([os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch"), "replay",
                           "check", path, "--json"], capture_output=True, timeout=PATIENCE)
    return done.returncode, json.loads(done.stdout)


def journals_that_went_back():
    """An older copy of a journal is sound in itself. Its world does not come back until the operator
    has accepted the loss; then it goes on from there, in a new file."""
    with Folder() as folder:
        with JournalServer(folder) as server:
            admin = server.connect()
            world = populate(admin, "w", tick_hz=100)
            wait_for_tick(admin, world, 5)
            before, digest = settled(admin, world)
            team = admin.call("team.create", world=world)["team"]
            seat = admin.call("token.create", role="player", world=world, team=team)["token"]
        path = folder.journal(world, "w")
        with open(path, "rb") as file:
            older = file.read()
        with JournalServer(folder) as server:
            admin = server.connect()
            good = populate(admin, "good", tick_hz=100)
            admin.call("world.step", world=world, ticks=17)
        assert checked(path)[0] == 0, checked(path)
        with open(path, "wb") as file:
            file.write(older)
        code, told = checked(path)
        assert code == 1 and told["end"] == "shorter" and "17 ticks" in told["doubt"], told
        with JournalServer(folder) as server:
            admin = server.connect()
            assert [entry["name"] for entry in admin.call("world.list")["worlds"]] == ["good"]
            log = server.log()
            assert "world not brought back" in log and "17 ticks" in log and "--accept-rollback" in log, log
            assert admin.call("world.create", name="x", generator="open", width=8, height=8)["world"] > good
            with open(path, "rb") as file:
                assert file.read() == older, "it was touched"
        with JournalServer(folder, "--accept-rollback") as server:
            admin = server.connect()
            info = admin.call("world.info", world=world)
            assert info["tick"] == before and info["digest"] == digest, info
            assert "rollback accepted" in server.log() and os.path.exists(path + ".damaged")
            admin.call("world.step", world=world, ticks=3)
            player = server.connect(hello=False)
            assert player.call("hello", protocol=1, token=seat)["team"] == team, "its tokens are good"
        assert checked(path)[0] == 0, checked(path)
        with JournalServer(folder) as server:
            assert server.connect().call("world.info", world=world)["tick"] == before + 3
            server.kill()
        os.remove(path + "-mark")
        code, told = checked(path)
        assert code == 1 and told["end"] == "unknown", told
        with JournalServer(folder) as server:
            assert "-mark, is missing" in server.log(), server.log()


class SmallDisk:
    """A tmpfs of a few megabytes."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="fogmarch-disk-")
        mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", self.path],
            stderr=subprocess.DEVNULL).returncode == 0
        if not mounted:
            os.rmdir(self.path)
            self.path = None
        return self

    def __exit__(self, *_):
        if self.path is not None:
            subprocess.run(["umount", self.path], check=True)
            os.rmdir(self.path)

    def fill(self):
        with open(os.path.join(self.path, "ballast"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def empty(self):
        os.remove(os.path.join(self.path, "ballast"))

    def remount(self, how):
        subprocess.run(["mount", "-o", f"remount,{how}", self.path], check=True)


def journal_of(client, world):
    return client.call("stats", world=world)["world"]["journal"]


def edit_until_refused(client, world, edited):
    """Sends large commands to fill the disk. Notes those that were answered."""
    end = time.monotonic() + PATIENCE
    everything = [number for y in range(96) for x in range(96) for number in (x, y)]
    while time.monotonic() < end:
        cost = 2 + len(edited) % 200
        try:
            client.call("terrain.set", world=world, cells=everything, set="cost", cost=cost)
            edited.append(cost)
        except TimeoutError:
            pass
        except RequestError as error:
            assert error.name == "io" and "journal" in error.message, error
            return
    raise AssertionError("the disk is full and nobody minds")


def edit_until_it_fails(admin, asker, world, edited):
    """Edits until one is refused and two more tries fail. After the first there may be room once more: a
    failed journal is closed, which moves its WAL into its file. Returns the journal's reported state."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        edit_until_refused(asker, world, edited)
        said = journal_of(admin, world)
        enough = said["errors"] + 2
        while said["error"] and said["errors"] < enough:
            time.sleep(0.02)
            said = journal_of(admin, world)
        if said["error"]:
            return said
    raise AssertionError("the journal finds room again and again")


def full_disk():
    """The world stops or goes on read-only, recovers when there is room again, and nothing that was
    answered is lost."""
    for policy in ("pause", "read_only"):
        with SmallDisk() as disk:
            if disk.path is None:
                print("[ SKIPPED  ] full_disk: needs the right to mount a tmpfs")
                return
            with JournalServer(disk, "--journal-on-error", policy) as server:
                admin = server.connect()
                world = populate(admin, tick_hz=100)
                wait_for_tick(admin, world, 5)
                disk.fill()
                # Writes that fit into the space that the file already has still succeed.
                asker, edited = server.connect(), []
                asker.socket.settimeout(1)  # what waits for the disk is answered later
                said = edit_until_it_fails(admin, asker, world, edited)
                state = admin.call("world.info", world=world)
                assert state["journal"] == ("paused" if policy == "pause" else policy), state
                assert "full" in said["error"], said
                entry = admin.call("world.list")["worlds"][0]
                assert entry["halted"] == state["halted"], (entry, state)
                told = subprocess.run([os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch"), "worlds",
                                       "--connect", f"127.0.0.1:{server.port}"], capture_output=True, text=True).stdout
                if policy == "pause":
                    assert "full" in entry["halted"] and "halted" in told and "100 Hz" not in told, (entry, told)
                else:
                    assert entry["halted"] == "" and "takes no changes" in told and "100 Hz" in told, (entry, told)
                if policy == "pause":
                    assert admin.refused("path.query", world=world,
                                         **{"from": [1, 1], "to": [2, 2]}) == "io"
                    time.sleep(0.1)
                    assert admin.call("world.info", world=world)["tick"] == state["tick"]
                else:
                    admin.call("subscribe", world=world)
                    wait_for_tick(admin, world, state["tick"] + 10)
                assert admin.refused("world.create", name="more", generator="open", width=400,
                                     height=400) == "io"
                assert admin.refused("token.create", role="debug") == "io"
                disk.empty()
                made = admin.call("token.create", role="debug")
                until(lambda: admin.call("world.info", world=world)["journal"] == "good", "room")
                assert admin.call("world.info", world=world)["halted"] == ""
                admin.call("terrain.set", world=world, cells=[95, 95], set="cost", cost=9)
                tick, digest = settled(admin, world)
                server.kill()
            with JournalServer(disk) as server:
                admin = server.connect()
                info = admin.call("world.info", world=world)
                assert (info["tick"], info["digest"]) == (tick, digest), (info, tick, digest)
                assert role_of(server, made["token"]) == "debug"


def what_is_there(admin, world):
    """Everything that a request can change: the world, names, tokens."""
    info = admin.call("world.info", world=world)
    return ((info["tick"], info["digest"], info["agents"]),
            [(entry["world"], entry["name"]) for entry in admin.call("world.list")["worlds"]],
            sorted((entry["number"], entry["role"]) for entry in admin.call("token.list")["tokens"]))


def with_a_full_disk_nothing_is_half_done():
    """Every method that must be journaled is refused; neither the world, nor names, nor tokens change, now and
    after a restart."""
    with SmallDisk() as disk:
        if disk.path is None:
            print("[ SKIPPED  ] with_a_full_disk_nothing_is_half_done: needs the right to mount a tmpfs")
            return
        with JournalServer(disk) as server:
            admin, asker = server.connect(), server.connect()
            world = populate(admin, paused=True)
            kept = admin.call("token.create", role="debug")
            number = max(entry["number"] for entry in admin.call("token.list")["tokens"])
            building = admin.call("building.place", world=world, rect=[40, 40, 1, 1])["building"]
            disk.fill()
            asker.socket.settimeout(1)
            edit_until_it_fails(admin, asker, world, [])
            before = what_is_there(admin, world)
            deeds = {
                "token.create": {"role": "observer"},
                "token.revoke": {"number": number},
                "world.create": {"name": "more", "generator": "open", "width": 400, "height": 400},
                "world.step": {"world": world, "ticks": 3},
                "team.create": {"world": world},
                "agent.spawn": {"world": world, "team": 1, "cells": [1, 1], "place": "nearest"},
                "agent.remove": {"world": world, "agents": [1]},
                "agent.order": {"world": world, "agents": [1], "kind": "hold"},
                "agent.planner": {"world": world, "agents": [1], "planner": "dstar-lite"},
                "agent.set": {"world": world, "agents": [1], "frozen": True},
                "agent.place": {"world": world, "agents": [1], "cells": [1, 1], "place": "nearest"},
                "agent.unboard": {"world": world, "carrier": 1},
                "terrain.set": {"world": world, "set": "blocked", "cells": [2, 2]},
                "building.place": {"world": world, "rect": [44, 44, 1, 1]},
                "building.remove": {"world": world, "building": building},
            }
            for method, params in deeds.items():
                assert admin.refused(method, **params) == "io", method
                assert what_is_there(admin, world) == before, method
            assert role_of(server, kept["token"]) == "debug", "a token that could not be ended is good"
            server.kill()
        disk.empty()
        with JournalServer(disk) as server:
            assert what_is_there(server.connect(), world) == before
            assert role_of(server, kept["token"]) == "debug"


def role_of(server, token):
    return server.connect(hello=False).call("hello", protocol=1, token=token)["role"]


def started_with_a_full_disk():
    """Killed or terminated, then restarted while nothing can be written: the world is there, as the policy
    says, its tokens are valid, and it goes on once there is room."""
    for policy, killed in (("pause", True), ("pause", False), ("read_only", True), ("read_only", False)):
        with SmallDisk() as disk:
            if disk.path is None:
                print("[ SKIPPED  ] started_with_a_full_disk: needs the right to mount a tmpfs")
                return
            flags = ("--journal-on-error", policy)
            with JournalServer(disk, *flags) as server:
                admin = server.connect()
                world = populate(admin, tick_hz=100)
                token = admin.call("token.create", role="debug")["token"]
                wait_for_tick(admin, world, 5)
                seen = admin.call("world.info", world=world)["tick"]
                if killed:
                    server.kill()
            disk.fill()
            with JournalServer(disk, *flags) as server:
                admin = server.connect()
                stopped = "paused" if policy == "pause" else policy
                until(lambda: admin.call("world.info", world=world)["journal"] == stopped, "the full disk")
                info = admin.call("world.info", world=world)
                assert info["tick"] >= seen and info["journal"] == ("paused" if policy == "pause" else policy), info
                assert role_of(server, token) == "debug"
                assert admin.refused("terrain.set", world=world, cells=[1, 1], set="cost", cost=3) == "io"
                if policy == "read_only":
                    admin.call("subscribe", world=world)
                    wait_for_tick(admin, world, info["tick"] + 10)
                disk.empty()
                until(lambda: admin.call("world.info", world=world)["journal"] == "good", "room")
                admin.call("terrain.set", world=world, cells=[95, 95], set="cost", cost=9)
                tick, digest = settled(admin, world)
                server.kill()
            with JournalServer(disk) as server:
                info = server.connect().call("world.info", world=world)
                assert (info["tick"], info["digest"]) == (tick, digest), (info, tick, digest)


def files_that_may_not_grow():
    """The same where the test may not mount: a limit on file size, which is raised later."""
    with Folder() as folder, tempfile.TemporaryDirectory() as place:
        program = os.path.join(place, "limited")
        with open(program, "w") as file:
            file.write(f'#!/bin/sh\nexec prlimit --fsize=300000:unlimited "{os.environ["FOGMARCHD"]}" "$@"\n')
        os.chmod(program, 0o755)
        with JournalServer(folder, program=program) as server:
            admin = server.connect()
            world = populate(admin, tick_hz=100)
            asker, edited = server.connect(), []
            asker.socket.settimeout(1)  # what waits for the disk is answered later
            said = edit_until_it_fails(admin, asker, world, edited)
            assert admin.call("world.info", world=world)["journal"] == "paused"
            assert os.path.basename(folder.journal(world, "w")) in said["error"], said
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                             (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            until(lambda: admin.call("world.info", world=world)["journal"] == "good", "room")
            admin.call("terrain.set", world=world, cells=[95, 95], set="cost", cost=9)
            tick, digest = settled(admin, world)
            server.kill()
        with JournalServer(folder) as server:
            info = server.connect().call("world.info", world=world)
            assert (info["tick"], info["digest"]) == (tick, digest), (info, tick, digest)


def ended_with_a_full_disk():
    """SIGTERM while nothing can be written: the server ends in time, commands that it could not write
    are answered with an error, and what clients have seen comes back."""
    for policy in ("pause", "read_only"):
        with SmallDisk() as disk:
            if disk.path is None:
                print("[ SKIPPED  ] ended_with_a_full_disk: needs the right to mount a tmpfs")
                return
            with JournalServer(disk, "--journal-on-error", policy, "--grace-s", "1") as server:
                admin, asker = server.connect(), server.connect()
                world = populate(admin, tick_hz=100)
                wait_for_tick(admin, world, 5)
                settled(admin, world)  # so that the first write that fails is an edit, not a tick
                disk.fill()
                edited = []
                asker.socket.settimeout(1)
                edit_until_it_fails(admin, asker, world, edited)
                asker.socket.settimeout(PATIENCE)
                server.terminate()
                waiting = 0
                while asker.take():
                    pass
                for error, _ in asker.answers.values():  # of the edits that the test stopped waiting for above
                    assert error is None or error["name"] in ("io", "going_down"), error
                    waiting += error is not None
                assert server.wait() == 0
                assert policy == "read_only" or waiting > 0, "what was not written has happened"
            disk.empty()
            with JournalServer(disk) as server:
                admin = server.connect()
                tick = admin.call("world.info", world=world)["tick"]
                assert tick >= 5
                admin.call("world.resume", world=world)
                wait_for_tick(admin, world, tick + 3)


def read_only_disk():
    """A running server reports it; a server started on it refuses to start."""
    with SmallDisk() as disk:
        if disk.path is None:
            print("[ SKIPPED  ] read_only_disk: needs the right to mount a tmpfs")
            return
        with JournalServer(disk) as server:
            admin = server.connect()
            world = populate(admin, paused=True)
            server.kill()
        disk.remount("ro")
        assert "Read-only file system" in refused_to_start(disk.path)
        disk.remount("rw")
        with JournalServer(disk) as server:
            assert server.connect().call("world.info", world=world)["agents"] == 60


def one_of_two_fails():
    """A world whose journal fails cannot go on; its neighbour does."""
    with Folder() as folder:
        with JournalServer(folder) as server:
            admin = server.connect()
            first = populate(admin, "first", tick_hz=50)
            second = populate(admin, "second", tick_hz=50)
            wait_for_tick(admin, second, 3)
            # Another connection holds SQLite's own lock and so keeps the writer out.
            import sqlite3
            blocker = sqlite3.connect(folder.journal(first, "first"), isolation_level=None)
            blocker.execute("BEGIN IMMEDIATE")
            until(lambda: admin.call("world.info", world=first)["journal"] == "paused", "the failure")
            assert "locked" in journal_of(admin, first)["error"]
            tick = admin.call("world.info", world=second)["tick"]
            wait_for_tick(admin, second, tick + 20)
            assert admin.call("world.info", world=second)["journal"] == "good"
            blocker.execute("ROLLBACK")
            blocker.close()
            until(lambda: admin.call("world.info", world=first)["journal"] == "good", "going on")
            tick = admin.call("world.info", world=first)["tick"]
            wait_for_tick(admin, first, tick + 5)
            server.kill()
        with JournalServer(folder) as server:
            admin = server.connect()
            assert len(admin.call("world.list")["worlds"]) == 2


if __name__ == "__main__":
    run([killed_and_back, nothing_seen_is_lost, memory_that_runs_out, without_syncing, ended_in_order,
         destroyed_worlds_do_not_come_back, worlds_destroyed_as_it_ends, folders_that_will_not_do, damaged_files,
         journals_that_went_back, full_disk, with_a_full_disk_nothing_is_half_done, started_with_a_full_disk,
         files_that_may_not_grow, ended_with_a_full_disk, read_only_disk, one_of_two_fails])
