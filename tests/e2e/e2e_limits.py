"""How much one client, or one address, gets.

Goal    rates, connections and wrong tokens are limited per client and address; refusals are
        ordinary errors; silent and slow clients are detected; nobody else notices any of it.
Method  servers with tight limits; beside each client that exceeds them there is one that does not.
"""

import os
import signal
import socket
import subprocess
import tempfile
import time

from fogmarch_server import msgpack, Client, PATIENCE, REQUEST, RequestError, Server, run, until

SECRET = "a-secret-for-this-test"


def world_of(client, **params):
    world = client.call("world.create", name="w", generator="open", width=32, height=32,
                        paused=True, **params)["world"]
    client.call("team.create", world=world)
    return world


def outcomes(client, count, method, **params):
    """Pipelines a request `count` times. Returns the name of each outcome."""
    return timed_outcomes(client, count, method, **params)[0]


def timed_outcomes(client, count, method, **params):
    """The same, and the seconds until the last answer: the server has not had more time for all of them."""
    begun = time.monotonic()
    names = []
    for number in [client.send(method, **params) for _ in range(count)]:
        try:
            client.answer(number)
            names.append("ok")
        except RequestError as error:
            assert error.name == "busy" and "a second; again in" in error.message, error
            names.append(error.name)
    return names, time.monotonic() - begun


def rates():
    limits = ("--rate-orders", "10", "--rate-queries", "10", "--rate-edits", "10")
    with Server(*limits) as server:
        client, other = server.connect(), server.connect()
        world = world_of(client)
        agents = client.call("agent.spawn", world=world, team=1, cells=[1, 1, 2, 1])["agents"]
        query = {"world": world, "from": [0, 0], "to": [5, 5]}
        refused = 0
        tries = {
            "agent.order": dict(world=world, agents=agents, kind="move", goal=[9, 9]),
            "terrain.set": dict(world=world, set="free", cells=[20, 20, 21, 20]),
            "path.query": query,
        }
        for method, params in tries.items():
            names, seconds = timed_outcomes(client, 200, method, **params)
            done = names.count("ok")  # 20 at once, 10 a second
            assert names[0] == "ok" and 5 <= done < 25 + 10 * seconds, (method, seconds, names)
            refused += names.count("busy")
            outcome = outcomes(other, 1, method, **params)
            assert outcome == ["ok"], "another client is not concerned"
        assert client.call("stats")["server"]["rate_refusals"] == refused
        client.call("world.info", world=world)  # methods without a limit still work
        time.sleep(0.5)
        assert outcomes(client, 1, "path.query", **query) == ["ok"], "time heals"


def messages_and_bytes():
    with Server("--rate-messages", "50") as server:
        client, other = server.connect(), server.connect()
        names, seconds = timed_outcomes(client, 400, "ping")  # 100 at once
        assert 50 <= names.count("ok") < 110 + 50 * seconds, (names.count("ok"), seconds)
        assert outcomes(other, 20, "ping") == ["ok"] * 20
    with Server("--rate-bytes", "20000") as server:
        client, other = server.connect(), server.connect()
        names, seconds = timed_outcomes(client, 40, "ping", ballast="x" * 5000)  # eight at once, four a second
        assert 4 <= names.count("ok") < 10 + 4 * seconds, (names, seconds)
        assert outcomes(other, 20, "ping") == ["ok"] * 20


def connections_per_address():
    with Server("--sessions-per-address-max", "3") as server:
        clients = [server.connect() for _ in range(3)]
        extra = server.connect(hello=False)
        assert extra.disconnected()
        assert clients[0].call("stats")["server"]["turned_away"] == 1
        clients.pop().close()

        def there_is_room():
            extra = server.connect(hello=False)
            try:
                extra.send("ping")
                return extra.take()
            except OSError:
                return False

        until(there_is_room, "the server to notice")
        # Another loopback address counts separately.
        other = socket.socket()
        other.bind(("127.0.0.2", 0))
        other.settimeout(PATIENCE)
        other.connect(("127.0.0.1", server.port))
        other.sendall(msgpack.packb([REQUEST, 1, "ping", []]))
        assert other.recv(100)


def connect_from(address, port):
    one = socket.socket()
    one.bind((address, 0))
    one.settimeout(PATIENCE)
    one.connect(("127.0.0.1", port))
    return one


def is_answered(one, request):
    """Whether the server answers anything before it disconnects."""
    try:
        one.sendall(request)
        return one.recv(100) != b""
    except (ConnectionResetError, BrokenPipeError):
        return False
    finally:
        one.close()


def connections_per_second():
    """One a second, bursts of two: of forty in a row most are disconnected, on both ports."""
    ping = msgpack.packb([REQUEST, 1, "ping", []])
    get = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with tempfile.NamedTemporaryFile("r") as port_file:
        with Server("--rate-connections", "1", "--http", "127.0.0.1:0", "--http-port-file",
                    port_file.name) as server:
            with open(port_file.name) as file:  # the server has put another file in its place
                http_port = int(file.read())
            inside = server.connect()
            refused = 0
            for port, request in ((server.port, ping), (http_port, get)):
                begin = time.monotonic()
                answered = [is_answered(connect_from("127.0.0.4", port), request)
                            for _ in range(40)]
                seconds = time.monotonic() - begin
                assert answered[:2] == [True, True] and sum(answered) <= seconds + 3, answered
                refused += answered.count(False)
                assert is_answered(connect_from("127.0.0.5", port), request), "another address"
                end = time.monotonic() + PATIENCE
                while not is_answered(connect_from("127.0.0.4", port), request):  # after a while it is accepted again
                    assert time.monotonic() < end
                    refused += 1
                    time.sleep(0.2)
            stats = inside.call("stats")["server"]
            assert stats["too_fast"] == stats["turned_away"] == refused, (stats, refused)
            assert "reason=rate_connections" in server.log(), server.log()
            one = connect_from("127.0.0.6", http_port)
            one.sendall(get.replace(b"livez", b"metrics"))
            text = b""
            while data := one.recv(1 << 16):
                text += data
            assert b"fogmarch_connections_too_fast_total %d\n" % refused in text, text


def over_ipv6():
    """::1 is loopback, too: it needs no token, and its connections are counted."""
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        print("[ SKIPPED  ] over_ipv6: there is none here")
        return
    with Server("--listen", "[::1]:0", "--sessions-per-address-max", "2") as server:
        def connect():
            one = socket.create_connection(("::1", server.port), PATIENCE)
            one.sendall(msgpack.packb([REQUEST, 1, "hello", [{"protocol": 1, "client": "v6"}]]))
            return one

        first, second = connect(), connect()
        for one in (first, second):
            answer = msgpack.unpackb(one.recv(1 << 16))
            assert answer[2] is None and answer[3]["role"] == "admin", answer
        assert "peer=::1" in server.log(), server.log()
        with socket.create_connection(("::1", server.port), PATIENCE) as third:
            try:
                assert third.recv(1) == b"", "one too many"
            except ConnectionResetError:
                pass
        first.close()
        second.close()


def wrong_tokens():
    with Server("--auth-failures-per-minute", "5", environment={"FOGMARCH_TOKEN": SECRET}) as server:
        inside = server.connect(hello=False)
        inside.call("hello", protocol=1, token=SECRET)
        names = []
        for _ in range(12):
            client = server.connect(hello=False)
            names.append(client.refused("hello", protocol=1, token="x" * 20))
            assert client.disconnected()
        assert names[:5] == ["denied"] * 5 and names[-1] == "busy", names
        right = server.connect(hello=False)  # for a while even the right token is refused
        assert right.refused("hello", protocol=1, token=SECRET) == "busy"
        inside.call("ping")
        assert inside.call("stats")["server"]["wrong_tokens"] == names.count("denied")
        other = Client.__new__(Client)  # from another address it is accepted
        other.__init__(server.port)
        other.close()
        elsewhere = socket.socket()
        elsewhere.bind(("127.0.0.3", 0))
        elsewhere.settimeout(PATIENCE)
        elsewhere.connect(("127.0.0.1", server.port))
        elsewhere.sendall(msgpack.packb([REQUEST, 1, "hello", [{"protocol": 1, "token": SECRET}]]))
        assert b"admin" in elsewhere.recv(1000)


def silent_clients():
    with Server("--idle-timeout-s", "3") as server:
        mute, lively = server.connect(), server.connect()
        for _ in range(4):
            _, params = lively.notification("idle")
            lively.send_bytes(msgpack.packb([2, "ping", [{"time": params["time"]}]]))
        assert lively.call("ping", time=1)["time"] == 1
        assert mute.disconnected()
        assert [name for name, _ in mute.notifications].count("idle") >= 1
        assert "reason=idle" in server.log()
        # The C client answers `idle` by itself.
        program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
        world_of(lively)
        watch = subprocess.Popen([program, "watch", "--connect", f"127.0.0.1:{server.port}",
                                  "--json", "--seconds", "5"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE)
        end = time.monotonic() + PATIENCE
        while watch.poll() is None and time.monotonic() < end:
            try:
                lively.call("ping")
            except AssertionError:
                break
            time.sleep(0.2)
        _, errors = watch.communicate(timeout=PATIENCE)
        assert watch.returncode == 0, errors


def stopped_client():
    """SIGSTOP for longer than the timeouts: the server notices, and nobody waits for the client."""
    with Server("--idle-timeout-s", "3", "--tick-hz", "50") as server:
        admin = server.connect()
        world = world_of(admin)
        admin.call("world.resume", world=world)
        program = os.path.join(os.path.dirname(os.environ["FOGMARCHD"]), "fogmarch")
        watch = subprocess.Popen([program, "watch", "--connect", f"127.0.0.1:{server.port}",
                                  "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: admin.call("stats")["server"]["sessions"] == 2, "the client that is to be stopped")
        watch.send_signal(signal.SIGSTOP)
        ticks = []

        def it_is_gone():
            ticks.append(admin.call("world.info", world=world)["tick"])
            return admin.call("stats")["server"]["sessions"] == 1

        until(it_is_gone, "the end of a client that stands still")
        assert ticks[-1] > ticks[0]
        watch.send_signal(signal.SIGCONT)
        watch.kill()
        watch.wait()


def slow_messages():
    """One byte now and then keeps a connection open, but not for ever."""
    whole = msgpack.packb([REQUEST, 1, "ping", [{"time": 7, "ballast": "x" * 200}]])
    with Server("--message-timeout-s", "0.5") as server:
        good = server.connect()
        slow = server.connect()
        disconnected = False
        for byte in whole:
            try:
                slow.send_bytes(bytes([byte]))
            except OSError:
                disconnected = True
                break
            time.sleep(0.03)
        assert disconnected or slow.disconnected()
        assert not slow.answers
        assert "slow message" in server.log()
        good.call("ping")


def tokens_are_read_again():
    path = None
    with open(f"/tmp/fogmarch-tokens-{os.getpid()}", "w") as file:
        path = file.name
        file.write(f"{SECRET}\nobserver {SECRET}-2\n")
    os.chmod(path, 0o600)
    try:
        with Server("--token-file", path) as server:
            admin, observer = server.connect(hello=False), server.connect(hello=False)
            admin.call("hello", protocol=1, token=SECRET)
            observer.call("hello", protocol=1, token=SECRET + "-2")
            with open(path, "w") as file:
                file.write(f"{SECRET}\ndebug {SECRET}-3\n")
            server.process.send_signal(signal.SIGHUP)
            assert observer.disconnected(), "its token is gone"
            fresh = server.connect(hello=False)
            assert fresh.call("hello", protocol=1, token=SECRET + "-3")["role"] == "debug"
            with open(path, "w") as file:
                file.write("nonsense\n")
            server.process.send_signal(signal.SIGHUP)
            until(lambda: "tokens kept as they were" in server.log(), "a refusal of the tokens in the log")
            admin.call("ping")
            fresh.call("ping")
    finally:
        os.unlink(path)



def subscriptions_of_one():
    """Sessions with the same token, or from the same address, share one limit."""
    flags = ("--subscriptions-per-token-max", "3", "--subscriptions-per-address-max", "5")
    with Server(*flags) as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="open", width=16, height=16, paused=True)["world"]
        admin.call("team.create", world=world)
        token = admin.call("token.create", role="player", world=world, team=1)["token"]
        players = [server.connect(hello=False) for _ in range(4)]
        for player in players:
            player.call("hello", protocol=1, token=token)
        for player in players[:3]:
            first = player.call("subscribe", world=world)["subscription"]
        assert players[3].refused("subscribe", world=world) == "limit"
        assert players[0].refused("subscribe", world=world) == "limit"
        players[2].call("unsubscribe", subscription=first)
        players[3].call("subscribe", world=world)
        for _ in range(2):
            admin.call("subscribe", world=world)
        assert admin.refused("subscribe", world=world) == "limit", "of the address"
        players[3].close()
        until(lambda: admin.call("stats")["server"]["sessions"] == 4, "the end of a session")
        admin.call("subscribe", world=world)


def orders_to_a_paused_world():
    """Before a tick takes the ends of orders, there is an end to how many are kept."""
    with tempfile.TemporaryDirectory() as folder:
        with Server("--journal-dir", folder) as server:
            admin = server.connect()
            world = admin.call("world.create", name="w", generator="open", width=128, height=128, paused=True)["world"]
            admin.call("team.create", world=world)
            admin.call("team.create", world=world)
            cells = [cell for i in range(2000) for cell in (i % 100, i // 100)]
            names = admin.call("agent.spawn", world=world, team=1, cells=cells)["names"]
            token = admin.call("token.create", role="player", world=world, team=1)["token"]
            player = server.connect(hello=False)
            player.call("hello", protocol=1, token=token)
            before = admin.call("stats", world=world)["world"]["memory"]["bytes"]
            rounds = 0
            try:
                while rounds < 200:
                    player.call("agent.order", world=world, agents=names, kind="hold")
                    rounds += 1
            except RequestError as error:
                assert error.name == "limit" and "let the world tick" in error.message, error
            assert 10 <= rounds < 30, rounds
            grown = admin.call("stats", world=world)["world"]["memory"]["bytes"] - before
            assert grown < 20_000_000, grown
            admin.call("world.step", world=world, ticks=3)
            player.call("agent.order", world=world, agents=names, kind="hold")
            digest = admin.call("world.step", world=world, ticks=1)["digest"]
        with Server("--journal-dir", folder) as server:
            assert server.connect().call("world.info", world=world)["digest"] == digest


run([orders_to_a_paused_world, subscriptions_of_one, rates, messages_and_bytes, connections_per_address, connections_per_second, over_ipv6,
     wrong_tokens, silent_clients, stopped_client, slow_messages, tokens_are_read_again])
