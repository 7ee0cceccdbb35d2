"""Relays for spectators.

Goal    a relay, and a relay of a relay, shows a spectator what the world's own server shows of the same
        rectangle: cell by cell, agent by agent, at every tick. With a delay it shows what that server showed
        so many ticks ago; no answer reveals anything newer. Players and commands are refused. When the
        world's server is killed and restarted, spectators go on.
Method  a battle, stepped tick by tick; mirrors of direct subscriptions are compared with mirrors of relayed
        ones, over random rectangles, plain and dense, of everything and of one team, with sight.
"""

import copy
import os
import random
import signal
import subprocess
import tempfile
import time
import urllib.request

import msgpack

from fogmarch_server import REQUEST, RequestError, Server, free_ports, run, seed, until
from mirror import Mirror
from secure import Secure, make_certificate

SIDE = 64
TOP, LOOKER, SEAT = "a-token-of-admins", "a-token-of-observers", "a-token-of-a-seat"
TOKENS = {"FOGMARCH_TOKENS": f"admin {TOP};observer {LOOKER};player war 1 {SEAT}"}


def token_file(folder, token=LOOKER):
    path = os.path.join(folder, "token")
    with open(path, "w") as file:
        file.write(token + "\n")
    return path


class View(Mirror):
    """A client with one subscription and its mirror."""

    def __init__(self, server, **params):
        super().__init__()
        self.client = server.connect(hello=False)
        self.client.call("hello", protocol=1, client="spectator", token=LOOKER)
        self.over = False
        self.number = self.client.call("subscribe", **params)["subscription"]

    def pump(self):
        self.client.call("ping")
        for name, params in self.client.notifications:
            self.over |= name == "world_ended"
            self.apply(name, params)
        self.client.notifications.clear()
        return self

    def at(self, tick):
        """Waits until the view has reached this tick."""
        until(lambda: self.pump().tick is not None and self.tick >= tick, lambda: f"tick {tick}: {self.tick}")
        return self


def connect(server, token=TOP):
    client = server.connect(hello=False)
    client.call("hello", protocol=1, client="e2e", token=token)
    return client


def make_war(admin, source, **options):
    world = admin.call("world.create", name="war", generator="skirmish", width=SIDE, height=SIDE, seed=3,
                       paused=True, sense_radius=6, classes="ground;tank:size=2,ground=1", **options)["world"]
    agents = []
    for team in (1, 2):
        admin.call("team.create", world=world)
        for kind in ("ground", "tank"):
            for _ in range(12):
                agents += spawn(admin, source, world, team, kind)
    return world, agents


def spawn(admin, source, world, team, kind):
    try:
        return admin.call("agent.spawn", world=world, team=team, **{"class": kind},
                          cells=[source.randrange(SIDE), source.randrange(SIDE)])["agents"]
    except RequestError:
        return []


def play(admin, source, world, agents):
    """Changes a bit of everything that a view can show."""
    chosen = source.sample(agents, 6)
    admin.call("agent.order", world=world, agents=chosen, kind="move", alert=source.randrange(1, 8),
               goal=[source.randrange(SIDE), source.randrange(SIDE)])
    admin.call("agent.resume", world=world, agents=chosen[:3])
    admin.call("agent.set", world=world, agents=chosen[:4], tag=source.randbytes(source.choice([0, 1, 64])),
               tag_shown=source.random() < 0.5)
    if source.random() < 0.3:
        x, y = source.randrange(SIDE - 3), source.randrange(SIDE)
        admin.call("terrain.set", world=world, rects=[x, y, 3, 1], set="blocked")
    if source.random() < 0.3 and len(agents) > 20:
        gone = agents.pop(source.randrange(len(agents)))
        admin.call("agent.remove", world=world, agents=[gone])
        agents += spawn(admin, source, world, 1, "ground")
    admin.call("world.step", world=world, ticks=source.randrange(1, 4))


def face(admin, world, agent, enemy):
    """Makes an agent stop for an enemy at once, and gives it a tag."""
    admin.call("agent.place", world=world, agents=[agent, enemy], cells=[30, 30, 32, 30], place="nearest")
    admin.call("agent.order", world=world, agents=[agent], kind="hold", alert=20)
    admin.call("agent.set", world=world, agents=[agent], tag=b"hero")
    admin.call("world.step", world=world, ticks=3)


def sink(admin, world):
    """An agent of the first team dies while another one carries it. Returns the one that was carried."""
    ship, aboard = admin.call("agent.spawn", world=world, team=1, place="nearest", cells=[20, 20, 21, 20])["agents"]
    admin.call("agent.board", world=world, agents=[aboard], carrier=ship, radius=8)
    admin.call("world.step", world=world, ticks=1)
    admin.call("agent.remove", world=world, agents=[ship])
    admin.call("world.step", world=world, ticks=1)
    return aboard


def same(direct, relayed):
    """Waits until both show the same. Deltas may cover different ticks, so the views' last ticks may differ."""
    def is_same():
        direct.pump()
        relayed.pump()
        if direct.tick != relayed.tick:
            return direct.state() == relayed.state() and told_once(direct) == told_once(relayed)
        assert direct.tick is None or direct.state() == relayed.state(), "the same tick, and another picture"
        return direct.tick is not None
    until(is_same, lambda: f"tick {direct.tick}: {relayed.tick}")


def told_once(view):
    return sorted(view.ended), sorted(view.alerts), sorted(view.died)


def knows(relay, world):
    return [entry for entry in connect(relay, LOOKER).call("world.list")["worlds"] if entry["world"] == world]


def told(server, world):
    info = connect(server, LOOKER).call("world.info", world=world)
    return {key: value for key, value in info.items() if key not in ("digest", "tick")}


def random_view(source):
    width, height = source.randrange(1, SIDE), source.randrange(1, SIDE)
    view = {"rect": [source.randrange(SIDE - width + 1), source.randrange(SIDE - height + 1), width, height],
            "encoding": source.choice(["plain", "dense"])}
    if source.random() < 0.5:
        view.update(team=source.choice([1, 2]), sight=True)
    return view


def relaying():
    source = random.Random(seed())
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        admin = connect(server)
        world, agents = make_war(admin, source)
        relay_flags = ["--relay-token-file", token_file(folder), "--relay-of"]
        with Server(*relay_flags, f"127.0.0.1:{server.port}", environment=TOKENS) as first, \
                Server(*relay_flags, f"127.0.0.1:{first.port}", environment=TOKENS) as second:
            until(lambda: knows(second, world), "the world at the second level")
            views = [{"world": world, "encoding": "dense"}, {"world": world, "team": 1, "sight": True},
                     *({"world": world, **random_view(source)} for _ in range(4))]
            pairs = [(View(server, **view), View(relay, **view)) for view in views for relay in (first, second)]
            face(admin, world, agents[0], agents[-1])
            for direct, relayed in pairs:
                same(direct, relayed)
            assert all(relayed.tags == {agents[0]: b"hero"} and relayed.alerts for _, relayed in pairs[:2])
            for _ in range(12):
                play(admin, source, world, agents)
                for direct, relayed in pairs:
                    same(direct, relayed)
            aboard = sink(admin, world)
            for direct, relayed in pairs:
                same(direct, relayed)
            assert all(relayed.died == [aboard] for _, relayed in pairs[2:4]), "the view of its team"
            assert all(told_once(direct) == told_once(relayed) for direct, relayed in pairs)
            assert all(relayed.deltas > 3 for _, relayed in pairs[:4])
            view = pairs[1][1]
            view.client.call("subscription.move", subscription=view.number, rect=[5, 6, 20, 10])
            until(lambda: view.pump().rect == (5, 6, 20, 10), "the other rectangle")
            assert view.state() == View(server, world=world, encoding="dense", rect=[5, 6, 20, 10]).at(0).state()
            until(lambda: told(first, world) == told(server, world), "the same of the world")
            refusals(first, world, server.port)
            a_client_that_does_not_read(first, admin, source, world, agents, pairs[0])
            admin.call("world.destroy", world=world)
            until(lambda: all(relayed.pump().over for _, relayed in pairs), "the end of the world")


def refusals(relay, world, port):
    """Requests that need the world are refused, with the address of the world's server."""
    client = connect(relay)
    for method, params in (("agent.order", {"agents": [1], "kind": "move", "goal": [1, 1]}), ("world.pause", {}),
                           ("stats", {}), ("path.query", {"from": [1, 1], "to": [2, 2]}), ("debug.top", {"by": "agents"})):
        try:
            client.call(method, world=world, **params)
            raise AssertionError(f"{method} was not refused")
        except RequestError as error:
            assert error.name == "denied" and f"127.0.0.1:{port}" in error.message and method in error.message, error
    assert client.refused("subscribe", world=world, team=77) == "no_team"
    assert client.refused("subscribe", world=world + 9) == "no_world"
    assert client.call("stats")["server"]["worlds"] == 1
    player = relay.connect(hello=False)
    assert player.refused("hello", protocol=1, client="e2e", token=SEAT) == "denied"
    assert player.disconnected()


def a_client_that_does_not_read(relay, admin, source, world, agents, pair):
    """A client that does not read harms nobody."""
    sleeper = relay.connect(hello=False, receive_buffer=4096)
    sleeper.call("hello", protocol=1, client="sleeper", token=LOOKER)
    for number in range(60):
        sleeper.send_bytes(msgpack.packb([REQUEST, 1000 + number, "subscribe", [{"world": world}]]))
    for _ in range(5):
        play(admin, source, world, agents)
        same(*pair)
    sleeper.close()


def delayed():
    source = random.Random(seed())
    delay = 12
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        port_file = os.path.join(folder, "port")
        admin = connect(server)
        world, agents = make_war(admin, source)
        with Server("--relay-of", f"127.0.0.1:{server.port}", "--relay-token-file", token_file(folder),
                    "--relay-delay-ticks", str(delay), "--metrics-listen", "127.0.0.1:0", "--metrics-port-file",
                    port_file, environment=TOKENS) as relay:
            until(lambda: knows(relay, world), "the world")
            direct = View(server, world=world).at(0)
            shown = {direct.tick: copy.deepcopy(direct.state())}
            until(lambda: metrics(port_file)["fogmarch_relay_keyframes_total"] > 0, "a keyframe before anybody asks")
            told = subprocess.run([os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch"), "stats",
                                   "--connect", f"127.0.0.1:{relay.port}"], capture_output=True, text=True,
                                  env={**os.environ, "FOGMARCH_TOKEN": LOOKER})
            assert told.returncode == 0 and "uptime_ms" in told.stdout and "relay" in told.stderr, told
            late = None
            for _ in range(14):
                play(admin, source, world, agents)
                direct.pump()
                now = admin.call("world.info", world=world)["tick"]
                shown[direct.tick] = copy.deepcopy(direct.state())
                if late is None and now > delay + 3:
                    late = View(relay, world=world, encoding="dense")
                if late is not None:
                    late.at(max([tick for tick in shown if tick + delay <= direct.tick], default=0))
                    assert late.tick <= max(0, now - delay), "too early"
                    assert late.tick not in shown or late.state() == shown[late.tick]
                assert knows(relay, world)[0]["tick"] <= max(0, now - delay), "a list tells what is now"
            assert late is not None and late.tick > 0 and late.deltas > 2
            until(lambda: metrics(port_file)["fogmarch_relay_held_bytes"] > 0, "what is held back")


def besides_the_picture():
    """What a delayed relay tells of a world besides its picture is as old as that: teams, speed, pause, and the end."""
    delay = 100
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        admin = connect(server)
        world, agents = make_war(admin, random.Random(seed()))
        admin.call("world.step", world=world, ticks=30)
        with Server("--relay-of", f"127.0.0.1:{server.port}", "--relay-token-file", token_file(folder),
                    "--relay-delay-ticks", str(delay), environment=TOKENS) as relay:
            until(lambda: knows(relay, world), "the world")
            assert knows(relay, world)[0]["teams"] == 0, knows(relay, world)

            def shows(tick, teams, paused, tick_hz):
                wanted = {"tick": tick, "teams": teams, "paused": paused, "tick_hz": tick_hz}
                for _ in range(2):  # the relay hears of changes within a second
                    until(lambda: knows(relay, world)[0]["tick"] == tick, lambda: f"{tick}: {knows(relay, world)}")
                    for entry in (knows(relay, world)[0], told(relay, world) | {"tick": tick}):
                        assert {key: entry[key] for key in wanted} == wanted, entry
                    time.sleep(1.2)

            admin.call("world.step", world=world, ticks=delay)
            shows(30, 2, True, 10)
            admin.call("team.create", world=world)
            admin.call("world.resume", world=world, tick_hz=20)
            now = admin.call("world.pause", world=world)["tick"]
            shows(now - delay, 2, True, 10)
            now = admin.call("world.step", world=world, ticks=129 + delay - now)["tick"]
            assert now - delay == 129
            shows(129, 2, True, 10)
            admin.call("agent.order", world=world, agents=agents, kind="move", goal=[5, 5])
            now = admin.call("world.step", world=world, ticks=delay // 2)["tick"]
            shows(now - delay, 3, True, 20)
            view = View(relay, world=world, encoding="dense").at(1)
            direct = View(server, world=world, encoding="dense").at(now - 1)
            before = time.monotonic()
            admin.call("world.destroy", world=world)
            while not view.pump().over:
                first = view.tick
                entry = knows(relay, world)
                passed = (time.monotonic() - before) * 20
                assert first <= now - delay + passed, (first, passed)
                assert not entry or (entry[0]["teams"], entry[0]["tick_hz"]) == (3, 20), entry
                assert time.monotonic() < before + 60, "it does not end"
                time.sleep(0.1)
            assert (time.monotonic() - before) * 20 >= delay, "it ended too early"
            assert view.state() == direct.state()  # the last of the battle was shown
            until(lambda: not knows(relay, world), "the end")


def march(admin, world, agents, there):
    """Agents that never stand still: each tick tells of all of them."""
    admin.call("agent.order", world=world, agents=agents, kind="move", goal=[there, there])
    admin.call("world.step", world=world, ticks=2)


def little_room():
    """Two worlds of which one has more to tell in the time of the delay than there is room: it stands still at times,
    the other does not. What was held back is shown all the same, and what comes later."""
    source, delay = random.Random(seed()), 1000
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        port_file = os.path.join(folder, "port")
        admin = connect(server)
        small, others = make_war(admin, source)
        large = admin.call("world.create", name="large", generator="open", width=128, height=128, paused=True,
                           occupancy="none")["world"]
        admin.call("team.create", world=large)
        cells = [source.randrange(128) for _ in range(2 * 3000)]
        agents = admin.call("agent.spawn", world=large, team=1, cells=cells, place="nearest")["agents"]
        with Server("--relay-of", f"127.0.0.1:{server.port}", "--relay-token-file", token_file(folder),
                    "--relay-delay-ticks", str(delay), "--relay-delay-mib", "1", "--metrics-listen", "127.0.0.1:0",
                    "--metrics-port-file", port_file, environment=TOKENS) as relay:
            until(lambda: knows(relay, small) and knows(relay, large), "the worlds")
            until(lambda: metrics(port_file)["fogmarch_relay_keyframes_total"] > 1, "two keyframes")
            admin.call("world.step", world=small, ticks=delay)
            pauses, before = 0, knows(relay, small)[0]["tick"]
            for i in range(400):
                march(admin, large, agents, 127 * (i % 2))
                admin.call("world.step", world=small, ticks=1)
                numbers = metrics(port_file)
                assert numbers["fogmarch_relay_held_bytes"] <= 1 << 20, numbers["fogmarch_relay_held_bytes"]
                pauses = numbers["fogmarch_relay_pauses_total"]
                if pauses > 0:
                    break
            assert pauses > 0, "all found room"
            now = admin.call("world.info", world=small)["tick"]
            assert now - delay > before
            until(lambda: knows(relay, small)[0]["tick"] == now - delay, "the small world goes on")
            before = admin.call("world.info", world=large)["tick"]
            views = [View(relay, world=world, encoding="dense") for world in (large, small)]
            direct = [View(server, world=world, encoding="dense") for world in (large, small)]
            admin.call("agent.order", world=large, agents=agents, kind="stop")
            for world in (large, small):
                admin.call("world.step", world=world, ticks=delay)
            views[0].at(1)  # what was held back

            def goes_on(world, shown, true):
                admin.call("world.step", world=world, ticks=delay // 4)
                true.pump()
                shown.pump()
                return (world == small or shown.tick > before) and shown.state() == true.state()

            for world, shown, true in zip((large, small), views, direct):
                until(lambda: goes_on(world, shown, true), lambda: f"tick {true.tick}: {shown.tick}")


def metrics(port_file):
    with open(port_file) as file, urllib.request.urlopen(f"http://127.0.0.1:{int(file.read())}/metrics") as answer:
        lines = [line.rsplit(None, 1) for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {line[0]: float(line[1]) for line in lines}


def more_ends_than_are_kept():
    """More orders end in one tick than a view keeps. Who looks through a relay is told so as well, once, gets those that
    are kept, and its stream goes on; so is who looks through a relay of a relay, or did not read meanwhile."""
    units, queued = 2100, 32
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        admin = connect(server)
        world = admin.call("world.create", name="w", generator="open", width=160, height=160, paused=True,
                           omniscient=True)["world"]
        admin.call("team.create", world=world)
        agents = admin.call("agent.spawn", world=world, team=1, place="nearest",
                            cells=[xy for i in range(units) for xy in (i % 60, i // 60)])["agents"]

        def end_all(of):
            for number in range(queued):
                admin.call("agent.order", world=world, agents=agents, kind="move", goal=[150, 150], queue=number > 0)
            admin.call("agent.order", world=world, agents=agents[:of], kind="stop")
            admin.call("world.step", world=world, ticks=1)

        relay_flags = ["--relay-token-file", token_file(folder), "--relay-of"]
        with Server(*relay_flags, f"127.0.0.1:{server.port}", environment=TOKENS) as first, \
                Server(*relay_flags, f"127.0.0.1:{first.port}", environment=TOKENS) as second:
            until(lambda: knows(second, world), "the world at the second level")
            readers = {where: View(where, world=world).at(0).client for where in (server, first, second)}
            asleep = second.connect(hello=False, receive_buffer=4096)
            asleep.call("hello", protocol=1, client="asleep", token=LOOKER)
            asleep.call("subscribe", world=world)
            asleep.notification("keyframe")
            end_all(2000)
            ended = {where: reader.notification("delta")[1]["ended"] for where, reader in readers.items()}
            assert len(ended[server]) // 5 >= 64000, "as many as are kept all arrive"
            assert ended[first] == ended[second] == ended[server]
            end_all(units)
            for where, reader in readers.items():
                keyframe = reader.notification("keyframe")[1]
                assert keyframe["tick"] == 2 and keyframe["untold"] is True
                ended[where] = reader.notification("delta")[1]["ended"]
                assert len(ended[where]) // 5 == 65536, f"{len(ended[where]) // 5} of those that are kept"
            assert ended[first] == ended[second] == ended[server]
            assert "more orders ended than are kept" in second.log()
            admin.call("agent.order", world=world, agents=agents[:1], kind="move", goal=[150, 150])
            admin.call("agent.order", world=world, agents=agents[:1], kind="stop")
            admin.call("world.step", world=world, ticks=1)
            for reader in readers.values():
                assert len(reader.notification("delta")[1]["ended"]) == 5, "the stream goes on"
            told = 0
            while True:  # one after the other, however far they were merged
                name, params = asleep.notification("keyframe", "delta")
                told += params.get("untold", False)
                if params["tick"] == 3:
                    break
            assert told <= 1
            back = View(second, world=world)
            until(lambda: back.pump().tick == 3, "the last tick")
            assert not back.ended, "a new view has missed nothing"


def coming_back():
    source = random.Random(seed())
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as journals:
        port, = free_ports(1)
        flags = ["--listen", f"127.0.0.1:{port}", "--journal-dir", journals]
        server = Server(*flags, environment=TOKENS)
        try:
            admin = connect(server)
            world, agents = make_war(admin, source)
            with Server("--relay-of", f"127.0.0.1:{port}", "--relay-token-file", token_file(folder),
                        environment=TOKENS) as relay:
                until(lambda: knows(relay, world), "the world")
                view = View(relay, world=world)
                play(admin, source, world, agents)
                tick = admin.call("world.info", world=world)["tick"]
                view.at(0)
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
                assert knows(relay, world) and not view.pump().over, "what was there is shown on"
                server = Server(*flags, environment=TOKENS)
                admin = connect(server)
                play(admin, source, world, agents)
                direct = View(server, world=world).at(tick)
                same(direct, view)
                assert view.tick > tick and not view.over
                assert view.untold == 1 and direct.untold == 0
        finally:
            server.__exit__(None, None, None)


def limits_that_pass():
    """A view that cannot be had again after its connection broke, because others have all subscriptions, goes
    on once there is room."""
    source = random.Random(seed())
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as journals:
        port, = free_ports(1)
        flags = ["--listen", f"127.0.0.1:{port}", "--journal-dir", journals, "--subscriptions-per-token-max", "1"]
        server = Server(*flags, environment=TOKENS)
        try:
            admin = connect(server)
            world, agents = make_war(admin, source)
            with Server("--relay-of", f"127.0.0.1:{port}", "--relay-token-file", token_file(folder),
                        environment=TOKENS) as relay:
                until(lambda: knows(relay, world), "the world")
                view = View(relay, world=world).at(0)
                relay.process.send_signal(signal.SIGSTOP)
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
                server = Server(*flags, environment=TOKENS)
                admin, direct = connect(server), View(server, world=world)
                relay.process.send_signal(signal.SIGCONT)
                until(lambda: relay.log().count("world is relayed") == 2, relay.log)
                time.sleep(0.5)  # the relay is told that there is no room
                play(admin, source, world, agents)
                assert direct.at(1) and view.pump().tick == 0
                direct.client.close()
                view.at(1)
        finally:
            server.__exit__(None, None, None)


def changing_its_mind():
    """Who subscribes and unsubscribes at once takes nothing from the others: the relay ends at its server what nobody
    wants any more, also where the answer to its own subscribe was still under way."""
    source = random.Random(seed())
    with tempfile.TemporaryDirectory() as folder, \
            Server("--subscriptions-per-token-max", "8", environment=TOKENS) as server:
        admin = connect(server)
        world, agents = make_war(admin, source)
        with Server("--relay-of", f"127.0.0.1:{server.port}", "--relay-token-file", token_file(folder),
                    environment=TOKENS) as relay:
            until(lambda: knows(relay, world), "the world")
            faithful = View(relay, world=world, team=1).at(0)  # as long as it watches, there is a connection
            fickle = connect(relay, LOOKER)
            for first in range(1, 33, 4):
                server.process.send_signal(signal.SIGSTOP)  # as if it were far away
                for number in range(first, first + 4):
                    fickle.send("subscribe", world=world)
                    time.sleep(0.15)
                    fickle.call("unsubscribe", subscription=number)
                server.process.send_signal(signal.SIGCONT)
                admin.call("ping")
            view = View(relay, world=world).at(0)
            play(admin, source, world, agents)
            same(View(server, world=world), view)
            same(View(server, world=world, team=1), faithful)


def more_is_refused():
    """Who wants sight in addition, when the relay's server has no room for that, is told so; who wants motion gets it
    later. The others have the view as it was once there is room, and then also who asks again."""
    source = random.Random(seed())
    with tempfile.TemporaryDirectory() as folder:
        settings = os.path.join(folder, "settings.yaml")

        def allow(count):
            with open(settings, "w") as file:
                file.write(f"subscriptions_per_token_max: {count}\n")

        allow(2)
        with Server("--config", settings, environment=TOKENS) as server:
            admin = connect(server)
            world, agents = make_war(admin, source)
            with Server("--relay-of", f"127.0.0.1:{server.port}", "--relay-token-file", token_file(folder),
                        environment=TOKENS) as relay:
                until(lambda: knows(relay, world), "the world")
                view, direct = View(relay, world=world).at(0), View(server, world=world)  # with one token
                allow(1)
                server.process.send_signal(signal.SIGHUP)
                until(lambda: "setting changed key=subscriptions_per_token_max" in server.log(), server.log)
                greedy = connect(relay, LOOKER)
                greedy.call("subscribe", world=world, motion=True)
                assert greedy.refused("subscribe", world=world, sight=True) == "limit"
                direct.client.close()
                play(admin, source, world, agents)
                view.at(1)
                until(lambda: goes_through(greedy, world=world, sight=True), relay.log)
                until(lambda: moves(admin, source, world, agents, greedy), relay.log)
                allow(2)
                server.process.send_signal(signal.SIGHUP)
                until(lambda: server.log().count("setting changed key=subscriptions_per_token_max") == 2, server.log)
                direct = View(server, world=world).at(view.pump().tick)
                until(lambda: direct.state() == view.pump().state(), lambda: f"tick {direct.tick}: {view.tick}")


def moves(admin, source, world, agents, client):
    """A tick. Whether the client has been told how agents move."""
    play(admin, source, world, agents)
    client.call("ping")
    return any("motion" in params for name, params in client.notifications if name in ("keyframe", "delta"))


def goes_through(client, **params):
    try:
        return client.call("subscribe", **params)
    except RequestError as error:
        assert error.name == "limit", error
        time.sleep(0.2)
        return False


def with_another_token():
    """SIGHUP reads the file of the relay's token again; one without a line changes nothing."""
    with tempfile.TemporaryDirectory() as folder, Server(environment=TOKENS) as server:
        world, _ = make_war(connect(server), random.Random(seed()))
        path = token_file(folder, "x" * len(LOOKER))
        with Server("--relay-token-file", path, "--relay-of", f"127.0.0.1:{server.port}", environment=TOKENS) as relay:
            for token, answer in (("", "token of the relay kept as it was"), (LOOKER, "token of the relay read again")):
                until(lambda: "cannot ask which worlds there are" in relay.log(), relay.log)
                assert not knows(relay, world)
                token_file(folder, token)
                relay.process.send_signal(signal.SIGHUP)
                until(lambda: answer in relay.log(), relay.log)
            until(lambda: knows(relay, world), relay.log)


def over_tls():
    """The server that is relayed speaks TLS: its certificate must be the trusted one."""
    source = random.Random(seed())
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        ca, key = make_certificate(folder)
        another, _ = make_certificate(other)
        flags = ["--relay-token-file", token_file(folder), "--relay-of"]
        with Server("--tls-certificate", ca, "--tls-key", key, environment=TOKENS) as server, \
                Server(*flags, f"localhost:{server.port}", "--relay-ca-file", ca, environment=TOKENS) as relay, \
                Server(*flags, f"localhost:{server.port}", "--relay-ca-file", another, environment=TOKENS) as wary, \
                Server(*flags, f"127.0.0.1:{server.port}", environment=TOKENS) as plain:
            admin = Secure(server.port, ca)
            admin.call("hello", protocol=1, client="e2e", token=TOP)
            world, agents = make_war(admin, source)
            until(lambda: knows(relay, world), relay.log)
            view = View(relay, world=world, encoding="dense")
            for _ in range(4):
                play(admin, source, world, agents)
            view.at(admin.call("world.info", world=world)["tick"])
            direct = Mirror()
            admin.call("subscribe", world=world)
            direct.apply(*admin.notification("keyframe"))
            assert direct.state() == view.state() and view.state()[2]
            for refusing in (wary, plain):
                until(lambda: "cannot ask which worlds there are" in refusing.log(), refusing.log)
                assert not knows(refusing, world)
            assert "certificate" in wary.log(), wary.log()


run([relaying, delayed, besides_the_picture, little_room, more_ends_than_are_kept, coming_back, limits_that_pass, changing_its_mind,
     more_is_refused, with_another_token, over_tls])
