"""Lost connections: a client that reconnects continues where it was.

Goal    a client that lost its connection and subscribes again with `stream` and `since` gets what it
        missed, as deltas, and then holds what a fresh keyframe shows; each order ends exactly once for it.
        If the server no longer has the stream, or it never was this client's, the client gets a keyframe
        and is told so. `resume` restores role and seat, also after kill -9, as long as the token behind it
        is valid, and nothing else; created tokens survive a restart of a server that keeps journals, and
        revoked ones stay revoked.
Method  random worlds and moments, with a printed seed; a server that is killed and started again.
"""

import base64
import os
import random
import sqlite3
import tempfile
import time

import msgpack

from fogmarch_server import PATIENCE, RequestError, Server, run, seed
from mirror import Mirror
from play import Play, Watcher
from websocket import WebSocketClient

ADMIN, OBSERVER = "admin-0123456789abcdef", "observer-0123456789abcdef"


class Follower(Watcher):
    """A client with a view, which may lose its connection."""

    def __init__(self, server, world, **params):
        self.server = server
        self.params = dict(world=world, **params)
        self.mirror = Mirror()
        self.client = server.connect()
        self._subscribe()

    def _subscribe(self, **more):
        answer = self.client.call("subscribe", **{**self.params, **more})
        self.subscription, self.stream = answer["subscription"], answer["stream"]
        return answer["resumed"]

    def lose(self):
        """Disconnects, after some of what was sent has been read."""
        self.client.close()

    def come_back(self):
        """Reconnects. Returns whether it continues with deltas."""
        keyframes = self.mirror.keyframes
        self.client = self.server.connect()
        resumed = self._subscribe(stream=self.stream, since=self.mirror.tick, rect=list(self.mirror.rect))
        self.take_all()
        assert self.mirror.keyframes == keyframes + (not resumed), "a keyframe, or none, against what was said"
        return resumed


def sessions_do_not_count():
    """Neither a session's number nor its resume token reveals how many sessions there were before."""
    with Server() as server:
        aliases = []
        for _ in range(16):
            client = server.connect(hello=False)
            hello = client.call("hello", protocol=1)
            aliases.append(hello["session"])
            inside = base64.urlsafe_b64decode(hello["resume"] + "=" * (-len(hello["resume"]) % 4))
            assert int.from_bytes(inside[10:18], "little") == hello["session"]
        assert f"session=1 alias={aliases[0]} " in server.log(), "operators find it"
        assert len(set(aliases)) == 16 and max(aliases) < 1 << 53
        assert sum(alias > 1 << 40 for alias in aliases) >= 14, aliases
        assert aliases != sorted(aliases), aliases  # sorted by chance: 1 in 16! (factorial)


def goes_on_after_the_last_tick():
    source = random.Random(seed())
    for rules in (dict(sense_radius=3), dict(omniscient=True)):
        with Server() as server:
            play = Play(server, source, 40, 2, **rules)
            play.spawn(30)
            views = [dict(), dict(team=play.teams[0]), dict(rect=[5, 3, 20, 17]), dict(every=3),
                     dict(team=play.teams[1], rect=[0, 0, 31, 9]), dict(team=play.teams[1], sight=True)]
            followers = [Follower(server, play.world, **view) for view in views]
            for follower in followers:
                follower.take_all()
            for _ in range(12):
                lost = [follower for follower in followers if source.random() < 0.5]
                for follower in lost:
                    follower.lose()
                for _ in range(source.randrange(1, 5)):
                    play.act()
                    play.step(source.randrange(1, 4))
                for follower in lost:
                    assert follower.come_back(), f"{follower.params} was not resumed"
                    follower.check()
                for follower in followers:
                    follower.take_all()
            assert play.client.call("stats")["server"]["streams_resumed"] > 5
            ended = followers[0].mirror.ended
            assert len(ended) == len({entry[0] for entry in ended}), "an order ended twice"
            assert {entry[0] for entry in ended} <= set(play.orders)
            fresh = Follower(server, play.world)
            fresh.take_all()
            assert fresh.mirror.keyframes == 1 and followers[0].mirror.keyframes == 1


def keyframes_where_it_is_not_known():
    with Server() as server:
        play = Play(server, random.Random(1), 32, 2)
        play.spawn(10)

        def refused(**more):
            follower = Follower(server, play.world)
            follower.take_all()
            play.order(5)
            play.step(2)
            follower.lose()
            follower.stream = more.get("stream", follower.stream)
            follower.mirror.tick = more.get("since", follower.mirror.tick)
            since = follower.mirror.tick
            assert not follower.come_back(), more
            assert follower.mirror.untold == (since < follower.mirror.tick), "what ended meanwhile is not told"
            follower.check()
            follower.client.close()

        keeper = Follower(server, play.world)  # keeps the view alive in any case
        keeper.take_all()
        for stream in (1, keeper.stream ^ 1, keeper.stream ^ 2, 2**53 - 1):
            refused(stream=stream)
        refused(since=2**53 - 1)
        follower = Follower(server, play.world, team=play.teams[0])
        follower.take_all()
        follower.lose()
        assert follower.come_back(), "forgotten too soon"
        follower.client.call("unsubscribe", subscription=follower.subscription)
        assert not follower.come_back(), "who leaves does not come back"
        assert follower.mirror.untold == 0, "no tick has passed"
        for wrong in (dict(stream=2**53, since=0), dict(stream=5), dict(since=5),
                      dict(stream=5, since=5, follow=play.agents[0])):
            assert play.client.refused("subscribe", world=play.world, **wrong) == "bad_field", wrong


def forgotten_in_time():
    for seconds in ("0", "0.2"):
        with Server("--resume-s", seconds) as server:
            play = Play(server, random.Random(2), 32, 1)
            follower = Follower(server, play.world)
            follower.take_all()
            end = time.monotonic() + PATIENCE
            wait = 0.5
            follower.lose()
            time.sleep(wait)
            while follower.come_back():
                assert time.monotonic() < end, "never forgotten"
                follower.lose()
                wait *= 2
                time.sleep(wait)


def worlds_end_with_lost_views():
    """A view that waits for its client keeps neither its world nor the server from ending."""
    with Server() as server:
        play = Play(server, random.Random(3), 32, 1)
        follower = Follower(server, play.world)
        follower.take_all()
        follower.lose()
        play.step()
        play.client.call("world.destroy", world=play.world)
        other = Play(server, random.Random(4), 32, 1)
        again = Follower(server, other.world)
        again.take_all()
        again.lose()
        other.step()


# ---- roles and seats -----------------------------------------------------------------------------


def greet(server, **params):
    """Connects a client. Returns it and the answer to hello."""
    client = server.connect(hello=False)
    return client, client.call("hello", protocol=1, client="e2e", **params)


def denied(server, **params):
    """hello is refused, and the server disconnects."""
    client = server.connect(hello=False)
    try:
        client.call("hello", protocol=1, **params)
        raise AssertionError(params)
    except RequestError as error:
        assert error.name == "denied" and ("resume" in error.message) == (set(params) == {"resume"}), (error, params)
    assert client.disconnected()


def bent(text, source):
    """The text with one bit changed."""
    data = bytearray(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Killed(Server):
    """A server that may be killed."""

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.returncode = 0  # killed by the test


def with_tokens(*flags):
    return Killed(*flags, environment={"FOGMARCH_TOKENS": f"admin {ADMIN};observer {OBSERVER}"})


def roles_and_seats_come_back():
    source = random.Random(seed())
    with with_tokens() as server:
        admin, hello = greet(server, token=ADMIN)
        assert not hello["resumed"] and len(hello["resume"]) <= 128 and ADMIN not in hello["resume"]
        world = admin.call("world.create", name="w", generator="open", width=16, height=16)["world"]
        team = admin.call("team.create", world=world)["team"]
        made = admin.call("token.create", role="player", world=world, team=team)
        for token, role in ((ADMIN, "admin"), (OBSERVER, "observer"), (made["token"], "player")):
            client, first = greet(server, token=token)
            client.close()
            again, second = greet(server, resume=first["resume"])
            assert second["resumed"] and second["role"] == role, second
            assert second.get("team") == (team if role == "player" else None), second
            third = greet(server, resume=second["resume"])[1]
            assert third["resumed"] and third["role"] == role, "from one to the next"
            assert again.disconnected(), "two of one"
        # Beside a valid token a bad resume token does not matter; alone it is refused.
        stale = greet(server, resume="x", token=OBSERVER)[1]
        assert not stale["resumed"] and stale["role"] == "observer"
        for wrong in ["x", "A" * 110] + [bent(first["resume"], source) for _ in range(8)]:
            denied(server, resume=wrong)
        admin.call("token.revoke", number=made["number"])
        denied(server, resume=first["resume"])
        denied(server)
        log = server.log()
        assert first["resume"] not in log and made["token"] not in log, "secrets in the log"
        assert admin.call("stats")["server"]["wrong_tokens"] == 12


def from_one_transport_to_another():
    """A WebSocket resumes a TCP session, and the other way round."""
    with tempfile.TemporaryDirectory() as folder:
        port_file = os.path.join(folder, "http")
        with Server("--http", "127.0.0.1:0", "--http-port-file", port_file) as server:
            with open(port_file) as file:
                http_port = int(file.read())
            play = Play(server, random.Random(5), 32, 1)
            play.spawn(9)
            made = play.client.call("token.create", role="player", world=play.world, team=play.teams[0])
            client, hello = greet(server, token=made["token"])
            answer = client.call("subscribe", world=play.world)
            tick = client.notification("keyframe")[1]["tick"]
            for connect in (lambda: WebSocketClient(http_port), lambda: server.connect(hello=False)) * 2:
                client.close()
                play.order(9)
                play.step(2)
                client = connect()
                hello = client.call("hello", protocol=1, client="e2e", resume=hello["resume"])
                assert hello["resumed"] and hello["role"] == "player", hello
                answer = client.call("subscribe", world=play.world, stream=answer["stream"], since=tick)
                assert answer["resumed"], answer
                play.order(9)
                play.step(3)
                name, params = client.notification("keyframe", "delta")
                assert name == "delta" and params["tick"] > tick, (name, params)
                tick = params["tick"]


def without_tokens():
    """On loopback a client without a token resumes as admin; one with a token gains nothing."""
    with Server() as server:
        admin, hello = greet(server)
        assert greet(server, resume=hello["resume"])[1]["resumed"]
        assert admin.disconnected()
        admin, hello = greet(server)
        made = admin.call("token.create", role="debug")
        debug, told = greet(server, token=made["token"])
        admin.call("token.revoke", number=made["number"])
        assert debug.disconnected()
        denied(server, resume=told["resume"])
        assert greet(server, resume=hello["resume"])[1]["role"] == "admin"
    with Server() as server:  # no journals: another key
        denied(server, resume=told["resume"])
        again = greet(server, resume=hello["resume"])[1]
        assert not again["resumed"] and again["role"] == "admin"


def a_token_that_cannot_be_struck_out_stays():
    """While the ledger cannot be written no token changes, neither now nor after a restart."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--journal-dir", folder)
        with with_tokens(*flags) as server:
            admin = greet(server, token=ADMIN)[0]
            made = admin.call("token.create", role="debug")
            debug = greet(server, token=made["token"])[0]
            lock = sqlite3.connect(os.path.join(folder, "server.db"), isolation_level=None)
            lock.execute("BEGIN EXCLUSIVE")
            assert admin.refused("token.revoke", number=made["number"]) == "io"
            assert debug.call("ping", time=1)["time"] == 1, "its session goes on"
            assert greet(server, token=made["token"])[1]["role"] == "debug"
            lock.execute("ROLLBACK")
            lock.close()
            admin.call("token.revoke", number=made["number"])
            assert debug.disconnected()
            denied(server, token=made["token"])
            assert admin.refused("token.revoke", number=made["number"]) == "bad_value"
            server.kill()
        with with_tokens(*flags) as server:
            denied(server, token=made["token"])


def tokens_that_change_at_once():
    """Requests that are sent together: each token ends once, and none outlives its world."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--journal-dir", folder)
        with with_tokens(*flags) as server:
            admin = greet(server, token=ADMIN)[0]

            def numbers():
                return [token["number"] for token in admin.call("token.list")["tokens"]]

            made = admin.call("token.create", role="debug")
            both = [admin.send("token.revoke", number=made["number"]) for _ in range(2)]
            refusals = []
            for request in both:  # whichever is written first
                try:
                    admin.answer(request)
                except RequestError as error:
                    refusals.append(error.name)
            assert refusals == ["bad_value"], refusals
            assert "ledger cannot be written" not in server.log(), "the disk is not at fault"

            # What ends a token is written after what made it, also when its number was guessed.
            first = made["number"] + 1
            pairs = []
            for number in range(first, first + 16):
                create = admin.send("token.create", role="debug")
                pairs.append((create, admin.send("token.revoke", number=number)))
            for create, revoke in pairs:
                admin.answer(create)
                admin.answer(revoke)
            assert numbers() == []
            with sqlite3.connect(os.path.join(folder, "server.db")) as ledger:
                left = ledger.execute("SELECT count(*) FROM tokens").fetchone()[0]
            assert left == 0, f"{left} tokens would be good again after a restart"

            # Its answer comes when it is written, and its world has ended by then, or ends at once.
            world = admin.call("world.create", name="w", generator="open", width=16, height=16)["world"]
            team = admin.call("team.create", world=world)["team"]
            create = admin.send("token.create", role="player", world=world, team=team)
            destroy = admin.send("world.destroy", world=world)
            seat = admin.answer(create)
            admin.answer(destroy)
            denied(server, token=seat["token"])

            # Without an id nothing is answered, but it is done.
            made = admin.call("token.create", role="debug")
            debug = greet(server, token=made["token"])[0]
            admin.send_bytes(msgpack.packb([2, "token.revoke", [{"number": made["number"]}]]))
            assert debug.disconnected()

            lock = sqlite3.connect(os.path.join(folder, "server.db"), isolation_level=None)
            lock.execute("BEGIN EXCLUSIVE")
            assert admin.refused("token.create", role="debug") == "io"
            lock.execute("ROLLBACK")
            lock.close()
            assert "ledger cannot be written" in server.log()
            assert numbers() == [], numbers()
            server.kill()
        with with_tokens(*flags) as server:
            denied(server, token=seat["token"])
            denied(server, token=made["token"])
            assert greet(server, token=ADMIN)[0].call("token.list")["tokens"] == []


def tokens_outlive_a_crash():
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--journal-dir", folder)
        with with_tokens(*flags) as server:
            admin = greet(server, token=ADMIN)[0]
            world, other = (admin.call("world.create", name=name, generator="open", width=16, height=16,
                                       paused=True)["world"] for name in ("w", "o"))
            for number in (world, other):
                admin.call("team.create", world=number)
                admin.call("agent.spawn", world=number, team=1, cells=[3, 3])
            player = admin.call("token.create", role="player", world=world, team=1)
            lost = admin.call("token.create", role="player", world=other, team=1)
            ended = admin.call("token.create", role="debug")
            admin.call("token.revoke", number=ended["number"])
            client, hello = greet(server, token=player["token"])
            stream = client.call("subscribe", world=world)["stream"]
            tick = client.notification("keyframe")[1]["tick"]
            admin.call("world.step", world=world, ticks=3)
            admin.call("world.destroy", world=other)
            server.kill()
        path = os.path.join(folder, "server.db")
        assert os.stat(path).st_mode & 0o077 == 0, "others can read it"
        with open(path, "rb") as file:
            kept = file.read()
        for secret in (ADMIN, player["token"], hello["resume"]):
            assert secret.encode() not in kept, "a secret on the disk"
        with with_tokens(*flags) as server:
            client, again = greet(server, resume=hello["resume"])
            assert again["resumed"] and (again["role"], again["world"], again["team"]) == ("player", world, 1), again
            told = client.call("subscribe", world=world, stream=stream, since=tick)
            assert not told["resumed"], "the changes of another process"
            keyframe = client.notification("keyframe")[1]
            assert keyframe["tick"] >= tick and len(keyframe["agents"]) == 5, keyframe
            assert greet(server, token=player["token"])[1]["role"] == "player"
            denied(server, token=ended["token"])
            denied(server, token=lost["token"])
            admin = greet(server, token=ADMIN)[0]
            new = admin.call("token.create", role="debug")
            assert new["number"] > lost["number"], "a number was given twice"
            admin.call("token.revoke", number=player["number"])
            assert client.disconnected()
            server.kill()
        with with_tokens(*flags) as server:
            denied(server, resume=hello["resume"])
            denied(server, token=player["token"])
            assert greet(server, token=new["token"])[1]["role"] == "debug"


def damaged_ledgers():
    """An unreadable ledger is set aside, and the worlds come back all the same."""
    with tempfile.TemporaryDirectory() as folder:
        flags, path = ("--journal-dir", folder), os.path.join(folder, "server.db")
        with Killed(*flags) as server:
            admin = greet(server)[0]
            admin.call("world.create", name="w", generator="open", width=16, height=16)
            token = admin.call("token.create", role="debug")
            hello = greet(server, token=token["token"])[1]
            server.kill()
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO tokens (number, hash, role, world, team) VALUES (77, x'00', 'admin', 0, 0)")
            database.execute("INSERT INTO tokens SELECT 78, zeroblob(32), 'player', 0, 0, 0, 0")
        database.close()
        with Killed(*flags) as server:
            assert "token damaged" in server.log()
            assert greet(server, resume=hello["resume"])[1]["role"] == "debug"
            server.kill()
        with open(path, "r+b") as file:
            file.write(bytes(200))
        with Server(*flags) as server:
            assert "ledger damaged" in server.log() and os.path.exists(path + ".damaged")
            admin = greet(server)[0]
            assert [world["name"] for world in admin.call("world.list")["worlds"]] == ["w"]
            denied(server, resume=hello["resume"])
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version = 9")
        database.close()
        try:
            with Server(*flags):
                raise RuntimeError("it started")
        except AssertionError as error:
            assert "newer fogmarchd" in str(error), error


if __name__ == "__main__":
    run([sessions_do_not_count, goes_on_after_the_last_tick, keyframes_where_it_is_not_known, forgotten_in_time,
         worlds_end_with_lost_views, roles_and_seats_come_back, from_one_transport_to_another,
         without_tokens, a_token_that_cannot_be_struck_out_stays, tokens_that_change_at_once,
         tokens_outlive_a_crash, damaged_ledgers])
