"""Clients that send as much as they can.

Goal    a client that floods the server with allowed requests shares the loop and the conductor with the
        others: they are answered in the middle of the flood, ticks go on, and memory is bounded however
        small the messages are. Clients before hello get less, and refused messages count, too.
Method  processes that flood; the tests check the order of events, not times: the other clients must be
        done before the flood ends.
"""

import functools
import multiprocessing
import struct
import threading
import time

import msgpack

from e2e_http import WebServer
from e2e_tls import Case
from fogmarch_server import PATIENCE, REQUEST, Client, RequestError, Server, run, until

MEBIBYTE = 1 << 20


def request(number, method, **params):
    return msgpack.packb([REQUEST, number, method, [params]])


def frame(data):
    """A WebSocket frame with a mask of zeros."""
    size = len(data)
    head = struct.pack("!BB", 0x82, 0x80 | size) if size < 126 else struct.pack("!BBQ", 0x82, 0xff, size)
    return head + bytes(4) + data


END = 0xfffff  # number of a flood's last request


def pour(connect, token, data, rounds, over, end):
    """Sends all of it, drops the answers, and then reports that it is done."""
    client, wrapped = connect()
    client.call("hello", protocol=1, **({"token": token} if token else {}))
    last = b"\x94\x01\xce\x00\x0f\xff\xff"  # the first bytes of the last answer

    def read():
        end = b""
        while last not in end:
            data = client.socket.recv(1 << 20)
            assert data
            end = end[-len(last):] + data
        over.set()

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(rounds):
        client.socket.sendall(data)
    client.socket.sendall(wrapped(end))
    reader.join()


def plain(server):
    return lambda: (Client(server.port), bytes)


class Flood:
    """A process that floods. The body of the `with` must be done before the flood ends."""

    def __init__(self, connect, data, rounds, token=None, count=1, end=request(END, "ping")):
        self.over = [multiprocessing.Event() for _ in range(count)]
        self.processes = [multiprocessing.Process(target=pour,
                                                  args=(connect, token, data, rounds, over, end))
                          for over in self.over]

    def __enter__(self):
        for process in self.processes:
            process.start()
        return self

    def goes_on(self):
        return not any(over.is_set() for over in self.over)

    def __exit__(self, kind, *_):
        for process in self.processes:
            process.kill()
            process.join()


def is_answered(server, flood, sent, count):
    """Sends another client's requests, one after the other, while the flood goes on."""
    other = server.connect()
    deadline = time.monotonic() + PATIENCE
    while other.call("stats")["server"]["messages"] < sent:  # until the flood has begun
        assert time.monotonic() < deadline and flood.goes_on()
    for i in range(count):
        other.call("ping")
        assert flood.goes_on(), f"only {i} of {count} answers before the end of the flood"


def small_messages():
    with Server() as server:
        with Flood(plain(server), request(1, "ping") * 10000, 100, count=2) as flood:
            is_answered(server, flood, 2000, 200)


def small_messages_by_other_ways():
    """Over WebSocket, in one frame and in many, and over TLS."""
    with WebServer() as server:
        many = request(1, "ping") * 10000
        for data in (frame(many), frame(request(1, "ping")) * 10000):
            with Flood(lambda: (server.open(hello=False), frame), data, 50, count=2) as flood:
                is_answered(server, flood, 2000, 100)
    with Case() as case:
        connect = functools.partial(case.connect, hello=False)
        with Flood(lambda: (connect(), bytes), many, 50, count=2) as flood:
            is_answered(case, flood, 2000, 100)


def frames_without_messages():
    """Pongs that nobody asked for, and a message in fragments of no bytes."""
    with WebServer() as server:
        for beginning, data in ((b"", b"\x8a\x80" + bytes(4)), (b"\x02\x80" + bytes(4), b"\x00\x80" + bytes(4))):
            def connect():
                client = server.open(hello=False)
                client.call("hello", protocol=1)
                client.socket.sendall(beginning)
                client.call = lambda *_, **__: None  # has said hello
                return client, lambda end: bytes((0x80 if beginning else 0x82, 0x80 | len(end))) + bytes(4) + end
            with Flood(connect, data * 100000, 300, count=2) as flood:
                is_answered(server, flood, 2, 100)


def refused_messages():
    """Requests that the role does not allow, and malformed ones."""
    with Server() as server:
        client = server.connect()
        token = client.call("token.create", role="observer")["token"]
        data = (request(1, "world.pause", world=1) + request(2, "subscribe", world="x")) * 5000
        with Flood(plain(server), data, 60, token) as flood:
            is_answered(server, flood, 2000, 200)


def subscribing_in_turn():
    """Subscribes again and again. Each time the server would make a snapshot if it kept none; also many views."""
    with Server() as server:
        client = server.connect()
        world = client.call("world.create", name="w", generator="random", width=1024, height=1024,
                            tick_hz=20)["world"]
        team = client.call("team.create", world=world)["team"]
        token = client.call("token.create", role="player", world=world, team=team)["token"]
        data = b"".join(request(1, "subscribe", world=world) +
                        request(2, "unsubscribe", subscription=number)
                        for number in range(1, 3001))
        with Flood(plain(server), data, 20, token) as flood:
            is_answered(server, flood, 6100, 20)
            before = client.call("world.info", world=world)["tick"]
            deadline = time.monotonic() + PATIENCE
            while client.call("world.info", world=world)["tick"] < before + 2:
                assert time.monotonic() < deadline and flood.goes_on()


def many_subscriptions():
    """Deltas of one tick for thousands of subscriptions are sent in parts: a client with one subscription does not wait
    for the rest, though it subscribed first, and others are answered in between. In the end all have their deltas."""
    sessions, views = 12, 512
    with Server("--subscriptions-per-token-max", "0", "--subscriptions-per-address-max", "0") as server:
        admin = server.connect()
        world = admin.call("world.create", name="w", generator="open", width=128, height=128, tick_hz=20,
                           paused=True)["world"]
        team = admin.call("team.create", world=world, omniscient=True)["team"]
        ids = admin.call("agent.spawn", world=world, team=team, cells=[64, 64, 65, 64])["agents"]
        small = server.connect()
        small.call("subscribe", world=world)
        small.notification("keyframe")
        large = [server.connect() for _ in range(sessions)]
        for client in large:  # all rectangles hold the agents, and no two are the same
            client.send_bytes(b"".join(request(1000 + i, "subscribe", world=world,
                                               rect=[i % 32, i // 32, 96, 96]) for i in range(views)))
            for i in range(views):
                client.answer(1000 + i)
                client.notification("keyframe")
        behind, turn, end = 0, 0, time.monotonic() + PATIENCE
        while turn < 20 or behind == 0:  # a busy machine may look too late
            assert time.monotonic() < end or behind > 0, "nobody was answered before all were told"
            turn += 1
            admin.call("agent.order", world=world, agents=ids, kind="move", goal=[64 + turn % 2 * 6, 66])
            tick = admin.call("world.step", world=world, ticks=1)["tick"]
            behind += admin.call("stats")["server"]["client_lag_ticks"] > 0
            while small.notification("delta")[1]["tick"] < tick:
                pass
            behind += admin.call("stats")["server"]["client_lag_ticks"] > 0
            for client in large:
                told = set()
                while len(told) < views:
                    delta = client.notification("delta")[1]
                    if delta["tick"] == tick:
                        told.add(delta["subscription"])
            assert admin.call("stats")["server"]["client_lag_ticks"] == 0


def large_commands():
    """A world that is always late ticks between large commands, not only after every 64th."""
    with Server() as server:
        client = server.connect()
        world = client.call("world.create", name="w", generator="open", width=64, height=64,
                            tick_hz=1000, budget_ms=1)["world"]
        team = client.call("team.create", world=world)["team"]
        agents = client.call("agent.spawn", world=world, team=team, cells=[9, 9] * 100)["agents"]
        orders = b"".join(request(number, "agent.order", world=world, agents=agents * 600,
                                  kind="move", goal=[20, 20]) for number in range(1, 101))
        client.next_id = 1000
        before = client.call("world.info", world=world)["tick"]
        sender = threading.Thread(target=client.send_bytes, args=(orders,))
        sender.start()
        for number in range(1, 101):
            client.answer(number)
        sender.join()
        ticks = client.call("world.info", world=world)["tick"] - before
        assert ticks > 20, f"{ticks} ticks while a hundred commands were done"


class Match:
    """A world with two teams, of so many units in one cell each, and clients that play for them."""

    ADMIN = "a-token-for-the-admin"

    def __init__(self, server, units, generator="open", **rules):
        self.server = server
        self.admin = server.connect(hello=False)
        self.admin.call("hello", protocol=1, token=self.ADMIN)
        self.world = self.admin.call("world.create", name="match", generator=generator, width=256, height=256,
                                     **rules)["world"]
        self.teams = [self.admin.call("team.create", world=self.world)["team"] for _ in units]
        self.units = [self.admin.call("agent.spawn", world=self.world, team=team, cells=[9, 9] * count,
                                      place="nearest")["names"] for team, count in zip(self.teams, units)]

    def player(self, place):
        token = self.admin.call("token.create", role="player", world=self.world, team=self.teams[place])["token"]
        client = self.server.connect(hello=False)
        client.call("hello", protocol=1, token=token)
        return client


def orders_of_another_team():
    """Whatever a team asks for, the others wait for one of its orders at a time."""
    with Server(environment={"FOGMARCH_TOKEN": Match.ADMIN}) as server:
        match = Match(server, [5000, 1], tick_hz=20)
        order = dict(world=match.world, agents=match.units[0], kind="move")
        flood = [match.player(0) for _ in range(3)]
        for client in flood:
            client.send_bytes(b"".join(request(number, "agent.order", goal=[99 + number % 9, 99], **order)
                                       for number in range(1, 101)))
        other = match.player(1)
        flood[0].answer(1)
        for number in range(10):
            other.call("agent.order", world=match.world, agents=match.units[1], kind="move", goal=[20 + number, 20])
            other.call("agent.report", world=match.world, agents=match.units[1])
            match.admin.call("stats", world=match.world)
        given = match.admin.call("stats", world=match.world)["world"]["orders_given"]
        assert given < 3 * 100 * 5000, "the flood was over before the others were answered"
        for client in flood:
            client.close()


def reports_for_observers():
    """Who only looks does not keep players waiting."""
    with Server(environment={"FOGMARCH_TOKEN": Match.ADMIN}) as server:
        match = Match(server, [256, 1], generator="random", blocked_permille=300)
        match.admin.call("agent.order", world=match.world, agents=list(range(1, 257)), kind="patrol",
                         goals=[9, 9, 250, 250])
        token = match.admin.call("token.create", role="observer")["token"]
        player = match.player(1)
        look = functools.partial(request, method="agent.report", world=match.world, agents=list(range(1, 257)),
                                 cells_max=256)
        with Flood(plain(server), look(1) * 200, 2, token=token, count=5, end=look(END)) as flood:
            until(lambda: match.admin.call("stats")["server"]["messages"] > 200, "the flood")
            for number in range(5):
                player.call("agent.order", world=match.world, agents=match.units[1], kind="move", goal=[20 + number, 20])
                match.admin.call("agent.report", world=match.world, agents=[1])
            assert not all(over.is_set() for over in flood.over), "the flood was over before the others were answered"


def share_of_the_inbox():
    """A team leaves places in a world's inbox to the others, and its commands are done in their order."""
    with Server("--inbox-commands-max", "64", "--order-agents-per-tick", "1",
                environment={"FOGMARCH_TOKEN": Match.ADMIN}) as server:
        match = Match(server, [16, 1], tick_hz=2)
        busy, other = match.player(0), match.player(1)
        slow = match.admin.send("agent.order", world=match.world, agents=list(range(1, 17)), kind="hold")
        match.admin.call("ping")  # commands wait for it, for 16 ticks
        orders = [busy.send("agent.order", world=match.world, agents=match.units[0][:1], kind="move", goal=[99, number])
                  for number in range(64)]
        busy.call("ping")
        own = [other.send("agent.order", world=match.world, agents=match.units[1], kind="move", goal=[99, number])
               for number in range(8)]
        other.call("ping")
        assert other.answers == {}, "the order took less than 16 ticks, or it was refused"
        taken = []
        for number in orders:
            try:
                taken.append(busy.answer(number)["order"])
            except RequestError as error:
                assert error.name == "busy", error
        assert 16 <= len(taken) <= 32 and taken == sorted(taken), taken
        assert [other.answer(number)["order"] for number in own] == list(range(1, 9))
        match.admin.answer(slow)


def agents_named_twice():
    """A player's order names each unit once: one unit, named 65,536 times, cost as much as an army."""
    with Server(environment={"FOGMARCH_TOKEN": Match.ADMIN}) as server:
        match = Match(server, [2, 1], paused=True)
        player = match.player(0)
        first, second = match.units[0]
        for params in (dict(kind="move", goal=[50, 50], formation="keep"), dict(kind="scatter"), dict(kind="hold"),
                       dict(kind="hold", queue=True)):
            try:
                player.call("agent.order", world=match.world, agents=[first, second] * 100, **params)
                raise AssertionError(f"{params} was not refused")
            except RequestError as error:
                assert error.name == "bad_value" and error.message == "entry 2: this agent is named twice", error
        hold = player.call("agent.order", world=match.world, agents=[first, second], kind="hold")["order"]
        for _ in range(2):
            player.call("agent.order", world=match.world, agents=[first], kind="hold", queue=True)
        queue = hold + 2
        player.call("agent.order", world=match.world, agents=[first, first], kind="hold", before=[queue, queue + 1])
        player.call("agent.cancel", world=match.world, agents=[first, first], orders=[queue, queue + 1])
        assert player.call("agent.resume", world=match.world, agents=[first, first])["count"] == 0


def small_answers_that_nobody_reads():
    """Each takes more memory than its bytes."""
    with Server() as server:
        clients = [server.connect(receive_buffer=4096) for _ in range(2)]
        before = server.rss()
        for client in clients:
            client.socket.settimeout(0.5)
            try:
                for _ in range(200):
                    client.send_bytes(request(1, "ping") * 10000)
                raise AssertionError("all of it was taken")
            except TimeoutError:
                pass  # the server has stopped reading from it
        server.connect().call("ping")
        grown = server.rss() - before
        assert grown < 2 * 3 * 4 * MEBIBYTE or not server.memory_tells(), grown
        for client in clients:
            client.close()


def strangers():
    """Before hello only small messages are accepted; and refused messages count against the rate."""
    with Server("--rate-messages", "10") as server:
        stranger = server.connect(hello=False)
        stranger.send_bytes(request(1, "hello", protocol=1, client="x" * 5000))
        try:
            stranger.answer(1)
            raise AssertionError("was taken")
        except RequestError as error:
            assert error.name == "too_large", error
        assert stranger.disconnected()
        # The message directly after hello may be large.
        friend = server.connect(hello=False)
        friend.send_bytes(request(1, "hello", protocol=1) +
                          request(2, "map.upload", total=9000, offset=0, data=b"x" * 9000))
        friend.answer(1)
        assert friend.answer(2)["received"] == 9000
        for method, params, name in (("hello", dict(protocol=1), "not_ready"),
                                     ("ping", dict(time="x"), "bad_field")):
            names = []
            for number in [friend.send(method, **params) for _ in range(100)]:
                try:
                    friend.answer(number)
                except RequestError as error:
                    names.append(error.name)
            assert set(names) == {name, "busy"} or (name == "bad_field" and "busy" in names), names


if __name__ == "__main__":
    run([small_messages, small_messages_by_other_ways, frames_without_messages, refused_messages, subscribing_in_turn, many_subscriptions, large_commands,
         orders_of_another_team, reports_for_observers, share_of_the_inbox, agents_named_twice, small_answers_that_nobody_reads, strangers])
