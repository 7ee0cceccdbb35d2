"""A standby: a second server that follows the journals of a first one and takes its place.

Goal    with `durability: replica` no answered command is lost when the first server is killed and the
        standby promoted, and clients resume there with their roles. A standby answers queries and
        views like any server, changes nothing, catches up after either server was away, and does not
        accept a server that was replaced, another server's journals, or damaged messages.
Method  two real servers, killed and restarted; a proxy between them that corrupts bytes.
"""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time

from fogmarch_server import RequestError, Server, free_ports, run, seed, until

ADMIN = "a" * 32
PLAYER = "fogmarch e2e standby"


class Pair:
    """Folders of two servers and a file of tokens for both; removed at the end."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="fogmarch-standby-")
        self.tokens = self.write("tokens", f"admin {ADMIN}\n")
        self.token = self.write("token", ADMIN + "\n")
        for name in ("one", "two", "three", "four"):
            os.mkdir(os.path.join(self.root, name))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        return path

    def primary(self, *flags, folder="one"):
        return Node("--journal-dir", os.path.join(self.root, folder), "--token-file", self.tokens,
                    "--keyframe-ticks", "20", *flags)

    def standby(self, port, *flags, folder="two"):
        return self.primary("--follow", f"127.0.0.1:{port}", "--follow-token-file", self.token, *flags,
                            folder=folder)


class Node(Server):
    def admin(self):
        client = self.connect(hello=False)
        client.call("hello", protocol=1, client=PLAYER, token=ADMIN)
        return client

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.returncode = 0  # killed by the test


def refusal(client, method, **params):
    try:
        client.call(method, **params)
    except RequestError as error:
        return error
    raise AssertionError(f"{method} was not refused")


def make_world(admin, name="w", **params):
    made = admin.call("world.create", name=name, generator="skirmish", width=96, height=96, players=2,
                      seed=5, **{"tick_hz": 50, "overload": "skip", **params})
    team = admin.call("team.create", world=made["world"])["team"]
    ids = admin.call("agent.spawn", world=made["world"], team=team,
                     cells=made["bases"][:2] * 20)["agents"]
    admin.call("agent.order", world=made["world"], kind="move", agents=ids, goal=made["bases"][2:4])
    return made["world"], team, ids


def wait_in_step(admin):
    until(lambda: admin.call("standby.status")["state"] == "in_step",
          lambda: f"a standby in step: {admin.call('standby.status')}")


def promote(pair):
    """Every command that was acknowledged before kill -9 is there after standby.promote."""
    flags = ("--durability", "replica")
    with pair.primary(*flags) as one, pair.standby(one.port) as two:
        admin = one.admin()
        wait_in_step(admin)
        short, _, _ = make_world(admin, "short")
        copy = os.path.join(pair.root, "two", f"{short}-short.journal")
        assert os.path.exists(copy)
        admin.call("world.destroy", world=short)
        assert not os.path.exists(copy)
        world, team, ids = make_world(admin)
        seat = admin.call("token.create", role="player", world=world, team=team)
        gone = admin.call("token.create", role="observer")
        admin.call("token.revoke", number=gone["number"])
        player = one.connect(hello=False)
        resume = player.call("hello", protocol=1, client=PLAYER, token=seat["token"])["resume"]
        other = two.admin()
        shown = other.call("subscribe", world=world, team=team)["subscription"]
        # What the first server answers the standby has, without any other help.
        spawned = admin.call("agent.spawn", world=world, team=team, cells=[3, 3], command_id=77)
        for x in range(8):
            admin.call("terrain.set", world=world, cells=[40 + x, 5], set="wall")
        tick, digest = stopped(admin, world)
        one.kill()
        status = other.call("standby.status")
        assert status["role"] == "standby" and status["epoch"] == 0, status
        assert refusal(other, "world.pause", world=world).name == "read_only"
        done = other.call("standby.promote")
        assert done == {"epoch": 1, "worlds": 1}, done
        info = other.call("world.info", world=world)
        assert (info["tick"], info["digest"], info["paused"]) == (tick, digest, True), (info, tick, digest)
        other.call("world.resume", world=world)
        until(lambda: other.call("world.info", world=world)["tick"] > tick + 5, "ticks")
        assert other.notification("delta")
        # A replicated command is not carried out twice, and a client that has a resume token resumes.
        again = other.call("agent.spawn", world=world, team=team, cells=[3, 3], command_id=77)
        assert again["agents"] == spawned["agents"], (again, spawned)
        back = two.connect(hello=False)
        hello = back.call("hello", protocol=1, client=PLAYER, resume=resume)
        assert hello["resumed"] and hello["world"] == world and hello["team"] == team, hello
        assert back.call("agent.order", world=world, kind="stop", agents=[1])
        fresh = two.connect(hello=False)
        assert refusal(fresh, "hello", protocol=1, token=gone["token"]).name == "denied"
        assert other.call("unsubscribe", subscription=shown) == {}
        number = other.call("world.create", name="next", generator="open", width=16, height=16)["world"]
        assert number == world + 1, number
        assert refusal(other, "standby.promote").name == "bad_value"
        # The first server comes back: a standby that has followed the second does not follow it.
        with pair.standby(two.port, folder="three") as three:
            wait_for_state(three.admin(), "following")
            until(lambda: len(three.admin().call("world.list")["worlds"]) == 2, "both worlds")
            three.kill()
        # And it exits: a standby with its tokens and a later epoch proves that it was replaced.
        with pair.primary(*flags) as old, pair.standby(old.port, folder="three") as three:
            client = three.admin()
            until(lambda: "replaced" in client.call("standby.status")["error"], "a refusal")
            assert client.call("standby.status")["epoch"] == 1
            ended_as_replaced(old)
        # It does not start again.
        assert "was replaced" in refused_to_start(pair, *flags)
        # When it follows, data that only it had and that no client was told is set aside.
        with pair.standby(two.port, folder="one") as one:
            client = one.admin()
            until(lambda: same_world(other, client, world), "the same world")
            assert client.call("standby.status")["epoch"] == 1


def a_promotion_that_fails(pair):
    """A standby that cannot write that it takes over goes on following, and may be promoted later."""
    flags = ("--durability", "replica")
    with pair.primary(*flags) as one, pair.standby(one.port) as two:
        admin, other = one.admin(), two.admin()
        wait_in_step(admin)
        world, _, _ = make_world(admin)
        # Another connection holds SQLite's own lock and so keeps the ledger from being written.
        blocker = sqlite3.connect(os.path.join(pair.root, "two", "server.db"), isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        assert refusal(other, "standby.promote").name == "io"
        blocker.execute("ROLLBACK")
        blocker.close()
        assert other.call("standby.status")["role"] == "standby"
        until(lambda: other.call("standby.status")["state"] == "following", lambda: other.call("standby.status"))
        admin.call("terrain.set", world=world, cells=[40, 5], set="wall")  # answered once the standby has it
        tick, digest = stopped(admin, world)
        one.kill()
        assert other.call("standby.promote") == {"epoch": 1, "worlds": 1}
        info = other.call("world.info", world=world)
        assert (info["tick"], info["digest"]) == (tick, digest), (info, tick, digest)


def still(admin, world):
    """For ten looks in a row, each long enough for ten ticks: one that still ticks may be late for some."""
    before = admin.call("stats", world=world)["world"]["tick"]
    for _ in range(10):
        time.sleep(0.2)
        if admin.call("stats", world=world)["world"]["tick"] != before:
            return False
    return True


def stats_while_nothing_is_sent(pair):
    """While the standby is away and all answers wait for it, stats are told: they say how much waits."""
    flags = ("--durability", "replica")
    with pair.primary(*flags) as one:
        with pair.standby(one.port) as two:
            admin = one.admin()
            wait_in_step(admin)
            world, team, agents = make_world(admin)
            two.kill()
        until(lambda: admin.call("standby.status")["durability"] == "blocked", "the loss")
        assert "standby" in admin.call("world.list")["worlds"][0]["halted"], admin.call("world.list")
        with one.admin() as other:
            other.send("agent.spawn", world=world, team=team, cells=[3, 3])  # not answered before there is a standby
            until(lambda: admin.call("stats", world=world)["world"]["agents"] == 21, "stats")
            # Once too many ticks wait, the world stands still. That can be seen, too.
            until(lambda: still(admin, world), "the world to stand still")
        with pair.standby(one.port):
            wait_in_step(admin)
            assert admin.call("agent.spawn", world=world, team=team, cells=[4, 4])["agents"]
            assert admin.call("world.list")["worlds"][0]["halted"] == ""


def ended_as_replaced(server):
    assert server.wait() == 1 and "this server was replaced" in server.log(), server.log()
    server.process.returncode = 0  # expected here


def refused_to_start(pair, *flags, folder="one"):
    """Starts a server that must refuse to start. Returns its log."""
    try:
        pair.primary(*flags, folder=folder).kill()
    except AssertionError as error:
        return str(error)
    raise AssertionError("it has started")


def told_that_it_was_replaced(pair):
    """A promoted standby tells the server that it followed, whenever that server comes back."""
    port, = free_ports(1)
    with pair.primary("--listen", f"127.0.0.1:{port}") as one:
        admin = one.admin()
        world, _, _ = make_world(admin)
        with pair.standby(port) as two:
            wait_in_step(admin)
            one.kill()
            other = two.admin()
            assert other.call("standby.promote")["epoch"] == 1
            with pair.primary("--listen", f"127.0.0.1:{port}") as again:
                ended_as_replaced(again)
            assert "was replaced" in refused_to_start(pair)
            two.kill()
    # The operator can insist: the server becomes the owner again, with a later epoch.
    with pair.primary("--accept-rollback") as one:
        admin = one.admin()
        assert admin.call("standby.status")["epoch"] == 2
        assert admin.call("world.info", world=world)["world"] == world
    with pair.primary() as one:
        assert one.admin().call("standby.status")["epoch"] == 2


def a_copy_is_no_server(pair):
    """A standby that was not promoted does not start as a server of its own: the first one may live."""
    with pair.primary() as one:
        admin = one.admin()
        world, _, _ = make_world(admin)
        with pair.standby(one.port) as two:
            wait_in_step(admin)
        said = refused_to_start(pair, folder="two")
        assert "the folder of a standby that has not taken over" in said, said
        with pair.standby(one.port):  # it is still good as a standby
            wait_in_step(admin)
        one.kill()
    with pair.primary("--accept-rollback", folder="two") as two:  # the operator insists
        admin = two.admin()
        assert admin.call("standby.status")["epoch"] == 1
        assert admin.call("world.info", world=world)["world"] == world
    with pair.standby(1) as two:
        assert two.admin().call("standby.promote")["epoch"] == 2
    with pair.primary(folder="two") as two:  # promoted: it is a server of its own
        assert two.admin().call("standby.status")["epoch"] == 2


def same_world(one, two, world):
    """Whether two servers show a world alike; the world is stopped for the comparison."""
    tick, digest = stopped(one, world)
    try:
        until(lambda: two.call("world.info", world=world)["tick"] >= tick, "the other's tick")
        info = two.call("world.info", world=world)
    except RequestError:
        return False  # it has not arrived yet
    finally:
        one.call("world.resume", world=world)
    assert (info["tick"], info["digest"]) == (tick, digest), (info, tick, digest)
    return True


def stopped(admin, world):
    admin.call("world.pause", world=world)
    info = admin.call("world.info", world=world)
    return info["tick"], info["digest"]


def away(pair):
    """Either server is killed and restarted; worlds are created and destroyed meanwhile."""
    # The port stays the same, so that the standby finds it again.
    port, = free_ports(1)
    flags = ("--durability", "replica", "--replica-missing", "degrade", "--listen", f"127.0.0.1:{port}")
    with pair.primary(*flags) as one:
        admin = one.admin()
        world, team, _ = make_world(admin)
        doomed, _, _ = make_world(admin, "doomed")
        assert admin.call("standby.status")["durability"] == "degraded"
        with pair.standby(one.port) as two:
            wait_in_step(admin)
            assert same_world(admin, two.admin(), world)
            two.kill()
        until(lambda: admin.call("standby.status")["durability"] == "degraded", "the loss")
        admin.call("world.destroy", world=doomed)
        late, _, _ = make_world(admin, "late")
        tick = admin.call("world.info", world=world)["tick"]
        until(lambda: admin.call("world.info", world=world)["tick"] > tick + 45, "keyframes")
        with pair.standby(one.port) as two:
            client = two.admin()
            wait_in_step(admin)
            until(lambda: {w["world"] for w in client.call("world.list")["worlds"]} == {world, late},
                  "the worlds that there are")
            assert same_world(admin, client, world) and same_world(admin, client, late)
            delta = client.call("subscribe", world=world, team=team)
            admin.call("agent.spawn", world=world, team=team, cells=[3, 3])
            assert client.notification("delta")
            start = client.call("world.info", world=world)["bases"][:2]
            assert client.call("path.query", world=world, **{"from": start, "to": start})
            assert client.call("stats", world=world)["world"]["agents"] == 21
            client.call("unsubscribe", subscription=delta["subscription"])
            one.kill()
            with pair.primary(*flags) as again:
                admin = again.admin()
                wait_in_step(admin)
                assert same_world(admin, client, world)
                metrics = admin.call("standby.status")
                assert metrics["peer"] == "127.0.0.1" and metrics["lag_ticks"] <= 50, metrics


def over_tls(pair):
    """A standby checks the first server's certificate, and follows over TLS."""
    certificate, stranger = (os.path.join(pair.root, name) for name in ("certificate", "stranger"))
    for path in (certificate, stranger):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-days", "2", "-subj", "/CN=fogmarch", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-keyout", path + ".key", "-out", path],
                       check=True, capture_output=True)
    with pair.primary("--tls-certificate", certificate, "--tls-key", certificate + ".key", "--durability", "replica",
                      "--replica-missing", "degrade") as one:
        with pair.standby(one.port, "--follow-ca-file", certificate) as two, \
                pair.standby(one.port, "--follow-ca-file", stranger, folder="three") as three, \
                pair.standby(one.port, folder="four") as four:
            wait_for_state(two.admin(), "following")
            for wrong in (three, four):
                assert wrong.admin().call("standby.status")["state"] == "connecting"
                until(lambda: wrong.admin().call("standby.status")["error"], "a reason")
            assert two.admin().call("standby.status")["state"] == "following"
            client = three.admin()
            assert client.call("standby.status")["state"] == "connecting"
            assert two.admin().call("standby.promote") == {"epoch": 1, "worlds": 0}
            ended_as_replaced(one)


class Spoiler:
    """A proxy that changes one byte of what the server sends, as soon as it is told to."""

    def __init__(self, port):
        self.target, self.spoil = port, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.copy, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, True), daemon=True).start()

    def copy(self, source, target, is_answer):
        try:
            while data := source.recv(1 << 16):
                if is_answer and self.spoil and len(data) > 80:
                    data = data[:60] + bytes([data[60] ^ 1]) + data[61:]
                    self.spoil = False
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


def refused(pair):
    """Strangers, a second standby, and messages that are corrupted on the way."""
    flags = ("--durability", "replica", "--replica-missing", "degrade")
    with pair.primary(*flags) as one:
        admin = one.admin()
        world, team, _ = make_world(admin)
        observer = one.connect(hello=False)
        token = admin.call("token.create", role="debug")["token"]
        observer.call("hello", protocol=1, client=PLAYER, token=token)
        for method, params in (("journal.follow", {"epoch": 0}), ("standby.promote", {}),
                               ("standby.status", {}), ("journal.have", {"number": 1})):
            assert refusal(observer, method, **params).name == "denied", method
        assert refusal(admin, "standby.promote").name == "bad_value"
        assert refusal(admin, "journal.follow", epoch=3).name == "bad_value"
        assert refusal(admin, "journal.follow", epoch=0, data=b"no places").name == "bad_value"
        spoiler = Spoiler(one.port)
        with pair.standby(spoiler.port) as two:
            client = two.admin()
            wait_in_step(admin)
            assert refusal(admin, "journal.follow", epoch=0).name == "busy"
            assert refusal(client, "journal.follow", epoch=0).name == "read_only"
            for _ in range(3):
                spoiler.spoil = True
                until(lambda: not spoiler.spoil, "a message to spoil")
                wait_in_step(admin)
                until(lambda: same_world(admin, client, world), "the same world")
            assert refusal(client, "agent.spawn", world=world, team=team, cells=[1, 1]).name == "read_only"
        spoiler.close()
        wrong = pair.write("wrong", "b" * 32)
        with pair.primary("--follow", f"127.0.0.1:{one.port}", "--follow-token-file", wrong,
                          folder="three") as three:
            wait_for_state(three.admin(), "refused")
            # SIGHUP reads the file again; one that says nothing changes nothing.
            pair.write("wrong", "")
            three.process.send_signal(signal.SIGHUP)
            until(lambda: "token of the standby kept as it was" in three.log(), three.log)
            wait_for_state(three.admin(), "refused")
            pair.write("wrong", ADMIN + "\n")
            three.process.send_signal(signal.SIGHUP)
            wait_for_state(three.admin(), "following")


def wait_for_state(admin, state):
    until(lambda: admin.call("standby.status")["state"] == state,
          lambda: f"{state}: {admin.call('standby.status')}")


def changes_of_tokens_are_bounded(pair):
    """While no standby has them, tokens' changes wait: 4,096 of them, also of clients that have left."""
    with pair.primary("--durability", "replica") as one:
        admin = one.admin()
        for count in (1024, 2048, 3072, 4096):
            with one.admin() as client:
                for _ in range(1024):
                    client.send("token.create", role="observer")
                until(lambda: len(admin.call("token.list")["tokens"]) == count, f"{count} tokens")
        assert admin.refused("token.revoke", number=1) == "busy"
        assert admin.refused("token.create", role="observer") == "busy"
        one.kill()


def each(case):
    def run_it():
        with Pair() as pair:
            case(pair)
    run_it.__name__ = case.__name__
    return run_it


if __name__ == "__main__":
    seed()
    run([each(case) for case in (promote, a_promotion_that_fails, stats_while_nothing_is_sent, told_that_it_was_replaced,
                             a_copy_is_no_server, away, over_tls, refused, changes_of_tokens_are_bounded)])
