"""The start and end of worlds, sessions and the server; and what happens when time runs out.

Goal    a world can be destroyed at any moment, and its memory is released; SIGTERM ends the server
        cleanly whatever is going on; overload policies do what they say and count it.
Method  a real server; memory is the resident set of its process.
"""

import random
import signal
import time

from fogmarch_server import PATIENCE, RequestError, Server, run, seed, until

MEGABYTE = 1 << 20


def populate(client, name, agents=400, **params):
    """Makes a world with two teams whose agents are under way."""
    options = dict(generator="skirmish", width=128, height=128, players=2)
    options.update(params)
    answer = client.call("world.create", name=name, **options)
    world, bases = answer["world"], answer["bases"]
    for team in range(2):
        number = client.call("team.create", world=world)["team"]
        base, goal = bases[2 * team:2 * team + 2], bases[2 - 2 * team:4 - 2 * team]
        spawned = client.call("agent.spawn", world=world, team=number,
                              cells=base * (agents // 2))["agents"]
        client.call("agent.order", world=world, kind="move", agents=spawned, goal=goal)
    return world


def destroy_while_subscribed():
    source = random.Random(seed())
    with Server() as server:
        admin = server.connect()
        watchers = [server.connect() for _ in range(4)]
        for i in range(15):
            world = populate(admin, f"world-{i}", agents=100, tick_hz=200)
            for watcher in watchers:
                watcher.send("subscribe", world=world, team=source.randrange(3))
            if source.random() < 0.5:
                time.sleep(source.random() * 0.05)
            if source.random() < 0.5:
                admin.send("path.query", world=world, **{"from": [64, 64], "to": [1, 1]})
            admin.call("world.destroy", world=world)
            assert admin.refused("world.info", world=world) == "no_world"
            for watcher in watchers:
                watcher.call("ping")
                ended = [params for name, params in watcher.notifications if name == "world_ended"]
                told = {params["subscription"] for params in ended}
                assert all(params["world"] == world for params in ended)
                last = [name for name, params in watcher.notifications
                        if params["subscription"] in told]
                assert not last or last[-1] == "world_ended", "news from a world that is gone"
                watcher.notifications.clear()


def stepping_ends_with_the_world():
    with Server() as server:
        admin = server.connect()
        world = populate(admin, "w", paused=True)
        step = admin.send("world.step", world=world, ticks=10000)
        late = admin.send("team.create", world=world)
        admin.call("world.destroy", world=world)
        for request, outcomes in ((step, ("no_world",)), (late, ("no_world", None))):
            try:
                admin.answer(request)
                assert None in outcomes, "ten thousand ticks in no time"
            except RequestError as error:
                assert error.name in outcomes, error


def memory_comes_back():
    with Server() as server:
        admin = server.connect()
        watcher = server.connect()
        sizes = []
        for i in range(20):
            world = populate(admin, f"round-{i}", agents=2000, width=256, height=256, paused=True)
            watcher.call("subscribe", world=world)
            admin.call("world.step", world=world, ticks=20)
            admin.call("world.destroy", world=world)
            watcher.notification("world_ended")
            sizes.append(server.rss())
        if server.memory_tells():
            early, late = max(sizes[2:6]), max(sizes[-4:])
            assert late < early + 4 * MEGABYTE, [size // MEGABYTE for size in sizes]


def ends_cleanly():
    with Server() as server:
        clients = [server.connect() for _ in range(5)]
        silent = server.connect(hello=False)
        world = populate(clients[0], "w", tick_hz=100)
        paused = populate(clients[0], "p", paused=True)
        for client in clients:
            client.call("subscribe", world=world)
        waiting = clients[1].send("world.step", world=paused, ticks=10000)
        clients[0].send("world.create", name="late", generator="random", width=2048, height=2048)
        server.terminate()
        for client in clients + [silent]:
            assert client.disconnected()
            down = [params for name, params in client.notifications if name == "going_down"]
            assert len(down) == 1 and down[0]["reason"]
        error, _ = clients[1].answers[waiting]
        assert error is not None and error["name"] == "going_down"
        for client in clients + [silent]:
            client.close()
        assert server.wait() == 0
        assert "fogmarchd ends exit_code=0" in server.log()


def a_second_signal_ends_at_once():
    # The process exits without joining a thread, which the thread sanitizer would report.
    with Server("--grace-s", "3600", "--slow-reader-timeout-s", "3600",
                environment={"TSAN_OPTIONS": "report_thread_leaks=0"}) as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="random", width=2048, height=2048,
                           paused=True)["world"]
        mute = server.connect(receive_buffer=4096)
        mute.send("subscribe", world=world)
        until(lambda: admin.call("stats")["server"]["bytes_out"] > 1 << 16, "a keyframe on its way")
        server.terminate()
        until(lambda: "going down" in server.log(), "the first signal to be taken")
        time.sleep(0.5)
        assert server.process.poll() is None, "it should wait for the mute client"
        server.process.send_signal(signal.SIGINT)
        assert server.wait() == 1
        server.process.returncode = 0  # expected here


def does_not_start():
    with Server() as server:
        try:
            Server("--listen", f"127.0.0.1:{server.port}")
            raise AssertionError("two servers on one port")
        except AssertionError as error:
            assert "did not start" in str(error) and "cannot listen" in str(error)


def overload_policies():
    """Worlds whose tick rate is set far higher than they can run."""
    with Server() as server:
        admin = server.connect()
        worlds = {policy: populate(admin, policy, agents=3000, width=256, height=256,
                                   tick_hz=1000, budget_ms=5, overload=policy)
                  for policy in ("slip", "skip", "degrade")}
        counts = {}

        def all_are_late():
            counts.update({policy: admin.call("stats", world=world)["world"] for policy, world in worlds.items()})
            return (counts["slip"]["late_ticks"] > 0 and counts["skip"]["skipped_ticks"] > 0 and
                    counts["degrade"]["degraded_ticks"] > 0)

        until(all_are_late, "worlds that are late")
        assert counts["slip"]["skipped_ticks"] == 0 == counts["slip"]["degraded_ticks"]
        assert counts["skip"]["skipped_ticks"] > 0 == counts["skip"]["degraded_ticks"]
        assert counts["degrade"]["degraded_ticks"] > 0 == counts["degrade"]["skipped_ticks"]


def many_worlds_at_once():
    with Server("--worlds-max", "100") as server:
        admin = server.connect()
        worlds = [populate(admin, f"w{i}", agents=10, width=64, height=64, tick_hz=50)
                  for i in range(100)]
        assert admin.refused("world.create", name="more", generator="open") == "limit"
        until(lambda: min(entry["tick"] for entry in admin.call("world.list")["worlds"]) >= 20, "tick 20 of all")
        for world in worlds[::2]:
            admin.send("world.destroy", world=world)
        admin.call("ping")
        assert len(admin.call("world.list")["worlds"]) == 50


def paths_while_the_world_changes():
    """A path is correct for the tick of its request, however many ticks the answer takes."""
    with Server("--query-budget-ms", "0.05") as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="open", width=1024, height=1024,
                           tick_hz=1000)["world"]
        for _ in range(10):
            query = dict(world=world, **{"from": [0, 0], "to": [1023, 1023]})
            first = admin.send("path.query", **query)
            admin.send("terrain.set", world=world, set="blocked", rects=[500, 0, 1, 1024])
            second = admin.send("path.query", **query)
            admin.send("terrain.set", world=world, set="free", rects=[500, 0, 1, 1024])
            answer = admin.answer(first)
            assert answer["complete"] and answer["cost"] == 14 * 1023
            assert admin.answer(second)["reason"] == "unreachable"


def cells_changed(client, edit):
    """How many cells an edit changed. None: a tick was late, and there were too many edits since the one before."""
    try:
        return client.answer(edit)["changed"]
    except RequestError as error:
        if error.name == "limit" and "let the world tick" in error.message:
            return None
        raise


def destroy_does_not_wait_for_others():
    """What other sessions have asked of the world is refused, not done first; all of it is answered."""
    with Server() as server:
        admin, other = server.connect(), server.connect()
        refused, until_when = 0, time.monotonic() + PATIENCE
        while refused == 0:  # on a busy machine all may be done before the end is asked for
            assert time.monotonic() < until_when, "all is done before the end"
            world = admin.call("world.create", name="w", generator="open", width=1024, height=1024)["world"]
            edits = [other.send("terrain.set", world=world, set="free" if i % 2 else "swamp",
                                rects=[0, 0, 1024, 512]) for i in range(200)]
            other.answer(edits[0])
            own = admin.send("terrain.set", world=world, set="blocked", rects=[0, 600, 10, 10])
            end = admin.send("world.destroy", world=world)
            assert cells_changed(admin, own) in (100, None), "its own request comes first"
            admin.answer(end)
            for edit in edits[1:]:
                try:
                    cells_changed(other, edit)
                except RequestError as error:
                    assert error.name == "no_world", error
                    refused += 1


run([destroy_does_not_wait_for_others, destroy_while_subscribed, stepping_ends_with_the_world, memory_comes_back, ends_cleanly,
     a_second_signal_ends_at_once, does_not_start, overload_policies, many_worlds_at_once,
     paths_while_the_world_changes])
