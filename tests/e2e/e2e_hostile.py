"""Clients that break the rules.

Goal    whatever a client sends or does not send, the server neither crashes nor grows, and other
        clients do not notice. A request whose number is known is answered with an error.
Method  each case attacks beside a well-behaved client, which must be served all the time.
"""

import random
import socket
import struct
import time

from fogmarch_server import msgpack, REQUEST, RequestError, Server, run, seed

MEGABYTE = 1 << 20


def error_of(client):
    """The name of the error in the one answer that comes before the server disconnects."""
    assert client.disconnected()
    assert len(client.answers) == 1, client.answers
    (error, result), = client.answers.values()
    assert result is None
    return error["name"]


def silence():
    with Server("--hello-timeout-s", "2") as server:
        good = server.connect()
        mute = server.connect(hello=False)
        chatty = server.connect(hello=False)
        chatty.call("ping")  # not a hello, so it does not stop the deadline
        assert mute.disconnected() and chatty.disconnected()
        good.call("ping")
        assert server.log().count("no hello") == 2


def headers_that_promise_too_much():
    beginning = b"\x94\x00\x05"  # [0, 5, ...: a request whose number is known
    name = msgpack.packb("ping")
    promises = {
        "array of 2^32-1": b"\xdd\xff\xff\xff\xff",
        "map of 2^32-1": b"\xdf\xff\xff\xff\xff",
        "1 GB string": b"\xdb\x40\x00\x00\x00",
        "1 GB binary": b"\xc6\x40\x00\x00\x00",
        "1 GB extension": b"\xc9\x40\x00\x00\x00\x01",
        "depth 10,000": b"\x91" * 10000,
        "maps in maps": b"\x81\xa1k" * 10000,
        "many elements": b"\xdd\x00\x10\x00\x00",
    }
    with Server() as server:
        good = server.connect()
        before = server.rss()
        for what, header in promises.items():
            for hello in (False, True):
                client = server.connect(hello=hello)
                client.send_bytes(beginning + name + b"\x91" + header)
                assert error_of(client) == "too_large", what
                client = server.connect(hello=hello)
                client.send_bytes(header)  # no request number that could be answered
                assert client.disconnected() and not client.answers, what
        good.call("ping")
        assert server.rss() < before + 16 * MEGABYTE or not server.memory_tells()
        assert good.call("stats")["server"]["protocol_errors"] == 4 * len(promises)


def messages_that_are_none():
    values = [0, None, "text", {}, [], [0], [0, 1], [0, 1, "ping"], [3, 1, "ping", []],
              [0, -1, "ping", []], [0, 2**32, "ping", []], [0, "one", "ping", []],
              [0, 1, 2, []], [1, 1, None, None], [2, "ping"], [2, 3, []]]
    with Server() as server:
        good = server.connect()
        for value in values:
            client = server.connect()
            client.send_bytes(msgpack.packb(value))
            client.send_bytes(msgpack.packb([REQUEST, 9, "ping", []]))
            client.socket.shutdown(socket.SHUT_WR)
            assert client.disconnected()
            assert not client.answers, value
        for params in ({}, [1], [{}, {}], None, "x"):
            client = server.connect()
            client.send_bytes(msgpack.packb([REQUEST, 9, "ping", params]))
            try:
                client.answer(9)
                raise AssertionError(params)
            except RequestError as error:
                assert error.name in ("bad_field", "bad_message"), error
        for byte in (b"\xc1", b"\x94\x00\x01\xc1"):
            client = server.connect()
            client.send_bytes(byte)
            assert client.disconnected()
        good.call("ping")


def garbage():
    source = random.Random(seed())
    with Server() as server:
        good = server.connect()
        for _ in range(200):
            client = server.connect(hello=source.random() < 0.5)
            data = source.randbytes(source.randrange(1, 3000))
            try:
                client.send_bytes(data)
                client.socket.shutdown(socket.SHUT_WR)
                client.disconnected()
            except OSError:
                pass  # the server may disconnect in the middle
            client.close()
        good.call("ping")


def spoilt_requests():
    """Valid requests with a few bytes changed, which get further than garbage."""
    source = random.Random(seed())
    with Server("--worlds-max", "4") as server:
        good = server.connect()
        world = good.call("world.create", name="w", generator="open", width=16, height=16,
                          paused=True)["world"]
        team = good.call("team.create", world=world)["team"]
        agent = good.call("agent.spawn", world=world, team=team, cells=[3, 3])["agents"][0]
        requests = [
            ("agent.order", dict(world=world, kind="move", agents=[agent], goal=[4, 4])),
            ("agent.spawn", dict(world=world, team=team, cells=[5, 5, 6, 6])),
            ("terrain.set", dict(world=world, set="blocked", rects=[1, 1, 2, 2])),
            ("path.query", {"world": world, "from": [0, 0], "to": [9, 9]}),
            ("subscribe", dict(world=world, rect=[0, 0, 4, 4])),
            ("map.upload", dict(total=4, offset=0, data=b"abcd")),
            ("world.step", dict(world=world, ticks=2)),
            ("debug.inspect", dict(world=world, agent=agent, rect=[0, 0, 4, 4])),
            ("hello", dict(protocol=1, client="x")),
        ]
        for _ in range(600):
            client = server.connect()
            name, params = source.choice(requests)
            data = bytearray(msgpack.packb([REQUEST, 7, name, [params]]))
            for _ in range(source.randrange(1, 4)):
                data[source.randrange(len(data))] = source.randrange(256)
            try:
                client.send_bytes(bytes(data))
                client.socket.shutdown(socket.SHUT_WR)
                client.disconnected()
            except OSError:
                pass
            client.close()
        good.call("world.step", world=world)


def halves():
    whole = msgpack.packb([REQUEST, 1, "ping", [{"time": 7}]])
    with Server() as server:
        good = server.connect()
        for size in range(1, len(whole)):
            client = server.connect(hello=False)
            client.send_bytes(whole[:size])
            if size % 2:  # a proper end, or cut off
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                         struct.pack("ii", 1, 0))
            client.close()
        client = server.connect(hello=False)
        for byte in whole:  # byte by byte
            client.send_bytes(bytes([byte]))
        assert client.answer(1)["time"] == 7
        client.call("hello", protocol=1)  # before hello only small messages are accepted
        large = msgpack.packb([REQUEST, 2, "ping", [{"time": 8, "ballast": "x" * 900000}]])
        for start in range(0, len(large), 70001):
            client.send_bytes(large[start:start + 70001])
        assert client.answer(2)["time"] == 8
        client.send_bytes(msgpack.packb([REQUEST, 3, "ping", [{"ballast": "x" * MEGABYTE}]]))
        assert error_of(client) == "too_large"
        good.call("ping")


def pipelines():
    count = 20000
    with Server() as server:
        client = server.connect()
        other = server.connect()
        data = b"".join(msgpack.packb([REQUEST, i, "ping", [{"time": i}]]) for i in range(count))
        client.socket.setblocking(False)
        sent = 0
        while len(client.answers) < count:  # reads while it writes, or both sides would wait
            try:
                sent += client.socket.send(data[sent:sent + 65536]) if sent < len(data) else 0
            except BlockingIOError:
                pass
            try:
                client.unpacker.feed(client.socket.recv(1 << 16))
            except BlockingIOError:
                time.sleep(0.0001)
            for message in client.unpacker:
                client.answers[message[1]] = message[2:]
        assert all(client.answers[i][1]["time"] == i for i in range(count))
        other.call("ping")


def questions_without_reading():
    """The server stops reading from a client that sends requests and never reads the answers."""
    with Server("--session-unsent-max", "65536", "--slow-reader-timeout-s", "3600") as server:
        good = server.connect()
        for i in range(40):
            good.call("world.create", name=f"world-{i}", generator="open", width=8, height=8,
                      paused=True)
        before = server.rss()
        client = server.connect(receive_buffer=4096)
        client.socket.settimeout(1)
        request = b"".join(msgpack.packb([REQUEST, i, "world.list", []]) for i in range(1000))
        asked = 0
        try:
            for asked in range(4000):  # the answers would take 20 GB
                client.send_bytes(request)
        except TimeoutError:
            pass
        assert 0 < asked < 3999, "the server went on reading"
        assert server.rss() < before + 16 * MEGABYTE or not server.memory_tells()
        good.call("ping")
        jobs = server.connect(receive_buffer=4096)  # the same with requests that a world answers
        jobs.socket.settimeout(1)
        request = b"".join(msgpack.packb([REQUEST, i, "stats", [{"world": 1}]])
                           for i in range(1000))
        try:
            for asked in range(4000):
                jobs.send_bytes(request)
        except TimeoutError:
            pass
        assert 0 < asked < 3999, "the server went on reading"
        assert server.rss() < before + 32 * MEGABYTE or not server.memory_tells()
        good.call("ping")


def too_many_jobs():
    with Server("--inbox-commands-max", "8") as server:
        client = server.connect()
        client.call("world.create", name="w", generator="open", width=64, height=64, paused=True)
        requests = [client.send("world.step", world=1, ticks=200)]
        requests += [client.send("team.create", world=1) for _ in range(100)]
        outcomes = []
        for request in requests:
            while request not in client.answers:
                assert client.take()
            error, _ = client.answers.pop(request)
            outcomes.append("done" if error is None else error["name"])
        assert set(outcomes) <= {"done", "busy"} and outcomes[0] == "done"
        assert client.call("team.create", world=1)["team"] == outcomes.count("done")


def too_many_sessions():
    with Server("--sessions-max", "4") as server:
        clients = [server.connect() for _ in range(4)]
        extra = server.connect(hello=False)
        assert extra.disconnected()
        clients.pop().close()
        while True:  # the server takes a moment to notice
            extra = server.connect(hello=False)
            try:
                extra.send("ping")
                if extra.take():
                    break
            except OSError:
                pass
        clients[0].call("ping")


run([silence, headers_that_promise_too_much, messages_that_are_none, garbage, spoilt_requests,
     halves, pipelines, questions_without_reading, too_many_jobs, too_many_sessions])
