"""Worlds as files: world.save, save.download, world.load, and the commands `save` and `load`.

Goal    a world that is saved goes on, for its subscribers too, as if nothing had happened; loaded by
        another server it goes on in the same way: the same digest after each tick, the same end of
        every order. Files that hold no saved world are refused and leave nothing behind.
Method  worlds that are stepped, with enough budget for all searches; and one that runs by itself.
        saved_ticks=0, because what a team saves of its budget depends on the speed of the machine.
"""

import os
import random
import subprocess
import tempfile
import time

import msgpack

from fogmarch_server import NOTIFICATION, PATIENCE, REQUEST, RequestError, Server, run, seed, until
from mirror import Mirror

SIDE = 96
PACE = dict(tick_hz=20, budget_ms=2000)


def play(client, source, paused=True, planner="repeated-jps", occupancy="exclusive"):
    """Makes a world with a bit of everything in it."""
    world = client.call("world.create", name="arena", generator="random", blocked_permille=150,
                        width=SIDE, height=SIDE, seed=source.randrange(2**32), paused=True,
                        planner=planner, saved_ticks=0, occupancy=occupancy, sense_radius=4,
                        classes="ground;tank:size=2", **PACE)["world"]
    agents = []
    for index, unit in enumerate(("ground", "tank")):
        team = client.call("team.create", world=world, weight=index + 1)["team"]
        cells = [source.randrange(SIDE) for _ in range(60)]
        agents.append(client.call("agent.spawn", world=world, team=team, cells=cells,
                                  place="nearest", **{"class": unit}, speed=15)["agents"])
    client.call("building.place", world=world, team=1, rect=[40, 40, 3, 2])

    def goals(count):
        return [source.randrange(SIDE) for _ in range(2 * count)]

    for chosen in agents:
        half = len(chosen) // 2
        client.call("agent.order", world=world, agents=chosen[:half], kind="move",
                    goals=goals(half))
        client.call("agent.order", world=world, agents=chosen[:half], kind="move",
                    goals=goals(half), queue=True)
        client.call("agent.order", world=world, agents=chosen[half:-3], kind="patrol",
                    goals=goals(4))
        client.call("agent.order", world=world, agents=chosen[-3:], kind="follow",
                    target=chosen[0])
    if not paused:
        client.call("world.resume", world=world)
    return world, agents


def save(client, world, size=None):
    """Saves a world and downloads the file in pieces of the given size."""
    answer = client.call("world.save", world=world)
    data = b""
    while len(data) < answer["total"]:
        options = {} if size is None else {"size": size}
        piece = client.call("save.download", save=answer["save"], offset=len(data), **options)
        assert piece["total"] == answer["total"] and 0 < len(piece["data"]) <= (size or 1 << 18)
        data += piece["data"]
    assert len(data) == answer["total"]
    assert client.refused("save.download", save=answer["save"], offset=0) == "bad_value"
    return data, answer["tick"]


def upload(client, data, size=50000):
    number = {}
    for offset in range(0, len(data), size):
        first = {"total": len(data)} if offset == 0 else {}
        answer = client.call("map.upload", offset=offset, data=data[offset:offset + size],
                             **first, **number)
        number = {"upload": answer["upload"]}
    return number["upload"]


def load(client, data, **options):
    return client.call("world.load", upload=upload(client, data), **options)


def subscribe(client, world):
    mirror = Mirror()
    client.call("subscribe", world=world)
    mirror.apply(*client.notification("keyframe"))
    return mirror


def follow(client, mirror, tick):
    while mirror.tick < tick:
        mirror.apply(*client.notification("keyframe", "delta"))


def step(client, world, mirror, ticks):
    """Steps the world. Returns the digest of each tick; the mirror follows."""
    digests = []
    for _ in range(ticks):
        answer = client.call("world.step", world=world)
        digests.append(answer["digest"])
        follow(client, mirror, answer["tick"])
    return digests


def goes_on_in_another_server():
    source = random.Random(seed())
    with Server() as one, Server() as other:
        client = one.connect()
        world, agents = play(client, source)
        mirror = subscribe(client, world)
        step(client, world, mirror, 25)
        client.call("terrain.set", world=world, set="blocked", rects=[20, 20, 4, 4])
        client.call("agent.remove", world=world, agents=agents[0][:2])
        data, tick = save(client, world, 1000)
        assert tick == 25
        before = client.call("world.info", world=world)

        second = other.connect()
        second.call("world.create", name="first", generator="open", width=32, height=32)
        answer = load(second, data)
        copy = answer["world"]
        assert answer["digest"] == before["digest"] != "0" * 16
        assert (answer["name"], answer["tick"], answer["width"]) == ("arena", 25, SIDE)
        after = second.call("world.info", world=copy)
        assert {**before, "world": 0} == {**after, "world": 0}
        copied = subscribe(second, copy)

        ended = len(mirror.ended)
        ours = step(client, world, mirror, 80)
        theirs = step(second, copy, copied, 80)
        assert ours == theirs, next(i for i in range(80) if ours[i] != theirs[i])
        assert mirror.state() == copied.state()
        # Orders that ended between the last tick and the save are reported by the first world only.
        told = [end for end in mirror.ended[ended:] if end[2] != "died"]
        assert told and set(copied.ended) <= set(told)

        fresh = one.connect()
        assert subscribe(fresh, world).state() == mirror.state()

        # Later commands mean the same in both, because ids are the same.
        for session, number in ((client, world), (second, copy)):
            session.call("agent.order", world=number, agents=agents[1], kind="move", goal=[5, 5])
        assert step(client, world, mirror, 20) == step(second, copy, copied, 20)

        saved, again = (session.call("world.save", world=number)
                        for session, number in ((client, world), (second, copy)))
        assert (saved["tick"], saved["digest"]) == (again["tick"], again["digest"])


def a_running_world_arrives():
    source = random.Random(seed())
    with Server() as one, Server() as other:
        client = one.connect()
        world, agents = play(client, source, paused=False, planner="auto", occupancy="none")
        movers = [agent for team in agents for agent in team[:len(team) // 2]]
        until(lambda: client.call("world.info", world=world)["tick"] >= 5, "tick 5")
        data, _ = save(client, world)
        second = other.connect()
        copy = load(second, data, name="rematch", tick_hz=200)["world"]
        info = second.call("world.info", name="rematch")
        assert info["world"] == copy and info["tick_hz"] == 200 and not info["paused"]
        mirror = subscribe(second, copy)
        done = set()
        deadline = time.monotonic() + PATIENCE
        while not set(movers) <= done:
            assert time.monotonic() < deadline, f"{len(set(movers) - done)} are still under way"
            mirror.apply(*second.notification("keyframe", "delta"))
            done |= {agent for agent in movers if mirror.agents[agent][3] == 0}  # idle
        assert client.call("world.info", world=world)["tick"] > 5  # the saved world goes on as well


def what_is_refused():
    source = random.Random(seed())
    with Server("--uploads-max-bytes", "65536", "--worlds-max", "3") as server:
        client = server.connect()
        world, _ = play(client, source)
        client.call("world.step", world=world, ticks=3)
        assert client.refused("world.save", world=99) == "no_world"
        assert client.refused("save.download", save=1, offset=0) == "bad_value"
        first = client.call("world.save", world=world)
        assert client.refused("save.download", save=first["save"] + 1, offset=0) == "bad_value"
        assert client.refused("save.download", save=first["save"],
                              offset=first["total"]) == "bad_value"
        assert client.refused("save.download", save=first["save"], offset=0,
                              size=0) == "bad_field"
        assert client.refused("save.download", save=first["save"], offset=0,
                              size=(1 << 20) + 1) == "bad_field"
        thief = server.connect()
        assert thief.refused("save.download", save=first["save"], offset=0) == "bad_value"
        client.send_bytes(b"".join(msgpack.packb(message) for message in (  # so that the server reads them at once
            [REQUEST, 1 << 20, "world.save", [{"world": world}]],
            [REQUEST, 2 << 20, "world.save", [{"world": world}]],
            [NOTIFICATION, "world.save", [{"world": world}]])))
        assert client.answer(1 << 20)["tick"] == 3
        try:
            client.answer(2 << 20)
            raise AssertionError("was not refused")
        except RequestError as error:
            assert error.name == "busy", error
        again = client.call("world.save", world=world)  # replaces the first
        assert client.refused("save.download", save=first["save"], offset=0) == "bad_value"
        data, _ = save(client, world)
        assert len(data) == again["total"] and len(data) < 60000

        assert client.refused("world.load", upload=1) == "bad_value"
        assert client.refused("world.load") == "bad_field"
        newer = data[:8] + b"\x02" + data[9:]
        for wrong, words in ((b"type octile\n", "FMSAVED"), (data[:-1], "cut off"),
                             (newer, "Version 2 is unknown"), (b"FMSAVED", "byte 0"),
                             (data[:30], "byte"), (data + b"x", "byte"),
                             (data[:-40] + b"\x55" + data[-39:], "checksum")):
            number = upload(client, wrong)
            try:
                client.call("world.load", upload=number, name="wrong")
                raise AssertionError("was taken")
            except RequestError as error:
                assert error.name == "bad_format", error
                assert error.message.startswith("saved world: byte "), error
                assert words in error.message, error
        assert client.refused("world.load", upload=upload(client, data)) == "exists"
        assert client.refused("world.load", upload=upload(client, data),
                              name="no spaces") == "bad_value"
        assert client.refused("world.load", upload=upload(client, data), name="x",
                              overload="often") == "bad_value"
        assert [w["name"] for w in client.call("world.list")["worlds"]] == ["arena"]
        assert load(client, data, name="two", overload="skip", paused=False)["name"] == "two"
        assert not client.call("world.info", name="two")["paused"]
        assert client.call("world.info", name="two")["overload"] == "skip"
        load(client, data, name="three")
        number = upload(client, data)
        assert client.refused("world.load", upload=number, name="four") == "limit"
        client.call("world.destroy", world=client.call("world.info", name="two")["world"])
        assert client.call("world.load", upload=number, name="four")["name"] == "four"

        # Saves count against the upload limit, and are released with their session.
        total = 65536 - len(data) + 1
        thief.call("map.upload", total=total, offset=0, data=b"x")
        assert client.refused("world.save", world=world) == "limit"
        thief.close()

        def has_room(client, method, **params):
            try:
                client.call(method, **params)
                return True
            except RequestError as error:
                assert error.name == "limit"
                return False

        until(lambda: has_room(client, "world.save", world=world), "room for a save")
        client.close()
        other = server.connect()
        until(lambda: has_room(other, "map.upload", total=65536, offset=0, data=b"x"), "room for an upload")


def journals_know_of_it():
    """Saving resets searches: the journal records it, and a loaded world's journal begins with it."""
    source = random.Random(seed())
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--journal-dir", folder, "--keyframe-ticks", "40")
        with Server(*flags) as server:
            client = server.connect()
            world, agents = play(client, source, planner="dstar-lite")
            mirror = subscribe(client, world)
            step(client, world, mirror, 20)
            save(client, world)
            copy = load(client, save(client, world)[0], name="copy")["world"]
            for number in (world, copy):
                client.call("world.step", world=number, ticks=19)
                client.call("world.save", world=number)
                client.call("world.step", world=number)  # this tick makes a keyframe anyway
                client.call("world.save", world=number)
                client.call("agent.order", world=number, agents=agents[1], kind="move", goal=[5, 5])
                client.call("world.step", world=number, ticks=10)
            digests = [client.call("world.info", world=number)["digest"]
                       for number in (world, copy)]
            assert digests[0] == digests[1]
            server.process.kill()
            server.process.wait()
            server.process.returncode = 0  # killed by the test
        program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".journal"):
                done = subprocess.run([program, "replay", "verify", os.path.join(folder, name)],
                                      capture_output=True, text=True, timeout=PATIENCE)
                assert done.returncode == 0, done
        past = os.path.join(folder, "past.world")
        subprocess.run([program, "replay", "seek", os.path.join(folder, f"{world}-arena.journal"), "30",
                        "--save", past], check=True, capture_output=True, timeout=PATIENCE)
        with Server(*flags) as server:
            client = server.connect()
            with open(past, "rb") as file:  # without a name for the world
                number = upload(client, file.read())
            assert client.refused("world.load", upload=number) == "bad_value"
            with open(past, "rb") as file:
                answer = load(client, file.read(), name="past", paused=True)
            assert (answer["name"], answer["tick"]) == ("past", 30)
            assert client.call("world.step", world=answer["world"])["tick"] == 31
            client.call("world.destroy", world=answer["world"])
            infos = {info["name"]: info for info in client.call("world.list")["worlds"]}
            assert sorted(infos) == ["arena", "copy"]
            for name, number in (("arena", world), ("copy", copy)):
                info = client.call("world.info", name=name)
                assert (info["world"], info["tick"], info["digest"]) == (number, 50, digests[0])
            after = [client.call("world.step", world=number, ticks=30)["digest"]
                     for number in (world, copy)]
            assert after[0] == after[1]


def within_the_rates():
    """Files can be uploaded and downloaded even where the server limits a client's messages per second."""
    source = random.Random(seed())
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    with Server("--message-size-max", "1024", "--rate-bytes", "3000") as server, \
            tempfile.TemporaryDirectory() as folder:
        client = server.connect()
        world, _ = play(client, source)
        client.call("world.step", world=world, ticks=15)
        path = os.path.join(folder, "arena.world")
        for arguments in (("save", "--world", "arena", path), ("load", "copy", path)):
            done = subprocess.run([program, *arguments, "--connect", f"127.0.0.1:{server.port}"],
                                  capture_output=True, timeout=PATIENCE)
            assert done.returncode == 0, done
        assert os.path.getsize(path) > 2 * 3000, "so little is not refused"
        assert client.call("stats")["server"]["rate_refusals"] > 0


def by_command():
    source = random.Random(seed())
    program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        client = server.connect()
        world, _ = play(client, source)
        client.call("world.step", world=world, ticks=7)
        path = os.path.join(folder, "arena.world")

        def command(*arguments, data=None):
            return subprocess.run([program, *arguments, "--connect", f"127.0.0.1:{server.port}"],
                                  input=data, capture_output=True, timeout=PATIENCE)

        done = command("save", "--world", "arena", path)
        assert done.returncode == 0, done.stderr
        digest = client.call("world.info", world=world)["digest"]
        assert done.stdout.decode() == (f"{path}: the world after tick 7, digest {digest}, "
                                        f"{os.path.getsize(path)} bytes\n")
        assert os.listdir(folder) == ["arena.world"]
        with open(path, "rb") as file:
            data = file.read()
        assert command("save", "--world", str(world), "-").stdout == data
        done = command("load", "arena", path)
        assert done.returncode == 1 and b"that name is taken" in done.stderr, done.stderr
        done = command("load", "copy", path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode() == (f"world 2: copy, {SIDE}x{SIDE} cells, after tick 7, "
                                        f"digest {digest}\n")
        done = command("load", "third", "-", "--json", data=data)
        assert done.returncode == 0 and b'"tick":7' in done.stdout, done
        digests = {client.call("world.step", world=number, ticks=30)["digest"]
                   for number in (1, 2, 3)}
        assert len(digests) == 1, digests
        with open(path, "wb") as file:
            file.write(b"an older one")
        os.chmod(folder, 0o500)
        if os.geteuid() != 0:  # permissions do not stop root
            assert command("save", "--world", "arena", path).returncode == 1
            with open(path, "rb") as file:
                assert file.read() == b"an older one"
        os.chmod(folder, 0o700)
        assert command("save", "--world", "arena", path).returncode == 0
        with open(path, "rb") as file:
            assert file.read()[:8] == data[:8]
        assert os.listdir(folder) == ["arena.world"]
        os.mkfifo(os.path.join(folder, "pipe"))
        with subprocess.Popen(["cat", os.path.join(folder, "pipe")], stdout=subprocess.PIPE) as cat:
            assert command("save", "--world", "arena", os.path.join(folder, "pipe")).returncode == 0
            assert cat.stdout.read()[:8] == data[:8]
        done = command("save", "--world", "arena", os.path.join(folder, "no", "where"))
        assert done.returncode == 1 and b"No such file" in done.stderr
        assert command("load", "none", os.path.join(folder, "none")).returncode == 1
        assert command("save", "--world", "arena").returncode == 2


run([goes_on_in_another_server, a_running_world_arrives, what_is_refused, journals_know_of_it,
     within_the_rates, by_command])
