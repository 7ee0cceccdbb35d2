"""What the client libraries do with a server that is out of its mind, or stands still.

Goal    Bytes that are no message end the connection, with a reason, in every library: no call waits for ever, and
        nothing else is thrown. The same for messages that have not the form of an answer or a notification, and for
        those whose contents are something else: a result or a notice ends the connection, a keyframe or a delta the view.
        Where the first of several addresses does not answer hello, the next is asked.
Method  A server that is not there, without a cluster. One watcher for each library (watchers.py) views a world.
"""

import asyncio
import os
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../e2e"), os.path.join(HERE, "../../clients/python")]
import fogmarch  # noqa: E402
import msgpack  # noqa: E402
from fogmarch_server import PATIENCE, run  # noqa: E402
from watchers import KINDS, Watcher, each  # noqa: E402

WORLD = 1
HELLO = {"server": "strange", "protocol": 1, "session": 1, "role": "admin", "resume": "secret", "resumed": False,
         "limits": {"message_size": 1 << 20, "agents": 1000, "cells": 1000}}
KEYFRAME = {"subscription": 1, "world": WORLD, "team": 0, "tick": 1, "rect": [0, 0, 4, 4], "cells": [16, 1],
            "agents": [10 * WORLD + 1, 1, 2, 2, 1]}
SUBSCRIBED = {"subscription": 1, "stream": 1, "resumed": False}


def renumbered(says, number):
    """A message about subscription 1, about another one instead."""
    *message, last = msgpack.unpackb(says)
    for params in [last] if message[0] == 1 else last:
        if params.get("subscription") == 1:
            params["subscription"] = number
    return msgpack.packb([*message, last])


class StrangeServer:
    """Answers as PROTOCOL.md says; `says` comes after a keyframe and a delta, and then it may go away. Use it as an
    asynchronous context manager."""

    def __init__(self, says=b"", hello_s=0.0, hello=HELLO, subscribed=SUBSCRIBED, keyframe=KEYFRAME, goes=False,
                 refusal=None):
        self.says, self.hello_s = says, hello_s  # so long hello takes
        self.refusal = refusal  # of subscribe
        self.subscribers = []  # connections, once for each subscribe
        self.hello, self.subscribed, self.keyframe, self.goes = hello, subscribed, keyframe, goes

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.address = "127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self.server.close()

    async def serve(self, reader, writer):
        unpacker = msgpack.Unpacker()
        try:
            while data := await reader.read(1 << 16):
                unpacker.feed(data)
                for message in unpacker:
                    if message[0] == 0:
                        self.answer(writer, *message[1:3])
        except OSError:
            pass
        writer.close()

    def answer(self, writer, number, method):
        if method == "hello":
            asyncio.get_running_loop().call_later(self.hello_s, writer.write, msgpack.packb([1, number, None, self.hello]))
        elif method == "unsubscribe":
            writer.write(msgpack.packb([1, number, None, {}]))
        elif method == "world.locate":
            writer.write(msgpack.packb([1, number, None, {"here": True, "tcp": "", "http": "", "node": "a"}]))
        elif method == "subscribe" and self.refusal is not None:
            writer.write(msgpack.packb([1, number, self.refusal, None]))
        elif method == "subscribe":
            again = writer in self.subscribers  # a library may try it once more; then it has another number
            self.subscribers.append(writer)

            def send(says):
                writer.write(renumbered(says, self.subscribers.count(writer)) if again and says else says)
            send(msgpack.packb([1, number, None, self.subscribed]))
            send(msgpack.packb([2, "keyframe", [self.keyframe]]))
            delta = msgpack.packb([2, "delta", [{"subscription": 1, "world": WORLD, "tick": 2}]])
            asyncio.get_running_loop().call_later(0.2, send, delta)
            asyncio.get_running_loop().call_later(0.4, send, self.says)
            if self.goes:
                self.server.close()
                asyncio.get_running_loop().call_later(0.6, writer.close)


RUBBISH = {
    "no MessagePack": b"\xc1",
    "HTTP": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "an empty array": b"\x90",
    "a map": b"\x81\x01\x02",
    "an answer without a result": msgpack.packb([1, 7]),
    "a notification without parameters": msgpack.packb([2, "delta"]),
    "a notification whose parameters are no map": msgpack.packb([2, "delta", [5]]),
    "a request": msgpack.packb([0, 1, "ping", [{}]]),
}


def rubbish_ends_the_connection():
    async def try_one(what, says):
        async with StrangeServer(says) as server:
            watchers = [await Watcher(kind).start(server.address, [WORLD], "") for kind in KINDS]
            try:
                await each(watchers, lambda one: one.until(lambda said: said.get("closed"), f"end after {what}"))
            finally:
                for one in watchers:
                    await one.close()

    async def try_all():
        failed = []
        for what, says in RUBBISH.items():
            try:
                await try_one(what, says)
            except AssertionError as error:
                failed.append(f"{what}: {error}")
        assert not failed, "\n".join(failed)
    asyncio.run(try_all())


def notification(name, **params):
    return dict(says=msgpack.packb([2, name, [params]]))


def delta(**entries):
    return notification("delta", **{"subscription": 1, "world": WORLD, "tick": 3, **entries})


NODE = {**HELLO, "node": "a", "seeds": []}
# What the server says instead, and whether that ends only the view.
OTHER_CONTENTS = {
    "a hello of 5": (dict(hello=5), False),
    "a hello without resume": (dict(hello={**HELLO, "resume": 5}), False),
    "a hello with other seeds": (dict(hello={**HELLO, "seeds": [5]}), False),
    "a subscribe of 5": (dict(subscribed=5), False),
    "a subscribe of a list": (dict(subscribed={**SUBSCRIBED, "subscription": [1]}), False),
    "a keyframe without cells": (dict(keyframe={"subscription": 1, "world": WORLD, "tick": 1, "rect": [0, 0, 4, 4]}), True),
    "a rectangle of three": (dict(keyframe={**KEYFRAME, "rect": [0, 0, 4]}), True),
    "a delta without a tick": (notification("delta", subscription=1, world=WORLD), True),
    "steps of nobody": (delta(steps=b"\7"), True),
    "a list as subscription": (dict(says=msgpack.packb([2, "delta", [{"subscription": [1], "tick": 3}]])), False),
    "a hello whose node is a number": (dict(hello={**HELLO, "node": 5}), False),
    "a subscribe whose stream is a text": (dict(subscribed={**SUBSCRIBED, "stream": "1"}), False),
    "a rectangle of texts": (dict(keyframe={**KEYFRAME, "rect": ["0", "0", "4", "4"]}), True),
    "a rectangle without end": (dict(keyframe={**KEYFRAME, "rect": [0, 0, 1 << 40, 1 << 40]}), True),
    "a text as cells": (dict(keyframe={**KEYFRAME, "cells": "floor"}), True),
    "more cells than there are": (dict(keyframe={**KEYFRAME, "cells": [1 << 50, 1]}), True),
    "agents that are maps": (dict(keyframe={**KEYFRAME, "agents": [{}, {}, {}, {}, {}]}), True),
    "half an agent": (dict(keyframe={**KEYFRAME, "agents": [10 * WORLD + 1, 1]}), True),
    "tags of a number": (dict(keyframe={**KEYFRAME, "tagged": [10 * WORLD + 1, 4], "tags": 5}), True),
    "classes of nobody": (dict(keyframe={**KEYFRAME, "classes": [77, 1]}), True),
    "a tick that is a text": (delta(tick="3"), True),
    "a move that is a map": (delta(moved={"11": [1, 1]}), True),
    "a move to a text": (delta(moved=[10 * WORLD + 1, "x", "y", 1]), True),
    "cells outside": (delta(cells=[900, 900, 5, 1]), True),
    "a rectangle that is a number": (delta(rect=7), True),
    "one that leaves and is a text": (delta(leave=["11", 1]), True),
    "buildings that are true": (delta(buildings=True), True),
    "an end that is a list": (delta(ended=[[], [], [], [], []]), True),
    "an alert of half a place": (delta(alerts=[1, 2, 3, 4]), True),
    "a death that is a text": (delta(died=["11"]), True),
    "untold that is a number": (dict(keyframe={**KEYFRAME, "untold": 1}), True),
    "steps that are a list": (delta(steps=[1, 2]), True),
    "runs that are a text": (delta(runs="floor"), True),
    "a notice of moved with a number as address": (
        dict(hello=NODE, **notification("moved", subscription=1, world=WORLD, tcp=5, node="b", ticket="")), False),
    "a notice of moved without a world to go to": (
        dict(hello=NODE, **notification("moved", subscription=1, world="x", tcp="", node="", ticket=7)), False),
    "an end of the world of a list": (notification("world_ended", subscription=1, world=[WORLD]), False),
    "a refusal that is made of numbers": (dict(refusal={"code": "5", "name": 5, "message": 5}), False),
    "a refusal as moved that names no address": (dict(hello=NODE, refusal={"code": 29, "name": "moved", "message": "gone",
                                                                           "world": WORLD, "tcp": 5, "ticket": {}}), False),
}


# The libraries that ask for dense deltas, of these.
DENSE = {"python", "asyncio", "c", "cpp", "js"}


def other_contents_end_the_view_or_the_connection():
    async def follow(address):
        async with await fogmarch.connect(address) as client:
            async for _ in await client.view(WORLD):
                pass

    def follow_plain(address):
        with fogmarch.connect_plain(address) as client:
            for _ in client.view(WORLD):
                pass

    async def watch_one(what, says, ends_view):
        """Each library says why the view or the connection ends, and its program goes on."""
        async with StrangeServer(**says) as server:
            kinds = [kind for kind in KINDS if kind in DENSE or not what.startswith(("steps", "runs"))]
            watchers = [await Watcher(kind).start(server.address, [WORLD], "") for kind in kinds]
            try:
                def ends(said):
                    return said.get("ended") if ends_view else said.get("closed")
                await each(watchers, lambda one: one.until(ends, f"end after {what}"))
                wrong = [said for one in watchers for said in one.said if "wrong" in said]
                assert not wrong, f"{what}: {wrong}"
            finally:
                for one in watchers:
                    await one.close()

    async def try_one(what, says, ends_view):
        async with StrangeServer(**says) as server:
            for following in (follow(server.address), asyncio.to_thread(follow_plain, server.address)):
                try:
                    async with asyncio.timeout(PATIENCE):
                        await following
                except fogmarch.ConnectionEnded as error:
                    assert isinstance(error, fogmarch.ViewEnded) == ends_view, f"{what}: {error!r}"
                    assert str(error).startswith(("the server sent", "the server answered")), f"{what}: {error!r}"
                except TimeoutError as error:
                    raise AssertionError(f"{what}: it goes on") from error
                else:
                    raise AssertionError(f"{what}: it goes on")

    failed = []
    for what, (says, ends_view) in OTHER_CONTENTS.items():
        for scene in (try_one, watch_one):
            try:
                asyncio.run(scene(what, says, ends_view))
            except AssertionError as error:
                failed.append(f"{what}: {error}")
    assert not failed, "\n".join(failed)


def ends_that_were_not_told_are_told_of():
    """A keyframe says so, each library tells its program once, and the view goes on."""
    async def whole():
        keyframe = msgpack.packb([2, "keyframe", [{**KEYFRAME, "tick": 3, "untold": True}]])
        ends = delta(ended=[7, 10 * WORLD + 1, 0, 2, 2])["says"]
        last = delta(tick=4)["says"]
        async with StrangeServer(keyframe + ends + last) as server:
            watchers = [await Watcher(kind).start(server.address, [WORLD], "") for kind in KINDS]
            try:
                await each(watchers, lambda one: one.until(lambda said: said.get("tick") == 4, "last delta"))
                for one in watchers:
                    told = [said.get("untold", said.get("tick")) for said in one.said if "untold" in said or "tick" in said]
                    assert told in ([1, 2, WORLD, 3, 3, 4], [2, WORLD, 3, 3, 4]), f"{one.kind}: {one.said}"
            finally:
                for one in watchers:
                    await one.close()
    asyncio.run(whole())


def a_view_that_starts_over_tells_of_nobody_twice():
    """In C++: a delta that is applied in part, of which nobody was told, and then a keyframe as before."""
    async def whole():
        says = delta(enter=[10 * WORLD + 2, 1, 3, 3, 1], leave=[10 * WORLD + 1, 1], moved=[77, 1, 1, 1])
        async with StrangeServer(**says) as server:
            watcher = await Watcher("cpp").start(server.address, [WORLD], "")
            try:
                await watcher.until(lambda said: said.get("ended"), "end")
                assert len(server.subscribers) == 2, "it started over once"
                assert not [said for said in watcher.said if "wrong" in said], watcher.said
            finally:
                await watcher.close()
    if "cpp" in KINDS:
        asyncio.run(whole())


def a_node_without_an_address_is_passed_over():
    """A server names one, and goes away."""
    hello = {**HELLO, "node": "a", "seeds": [{"tcp": "no address", "http": ""}]}

    async def follow(address):
        async with await fogmarch.connect(address, follow_s=1) as client:
            async for _ in await client.view(WORLD):
                pass

    def follow_plain(address):
        with fogmarch.connect_plain(address, follow_s=1) as client:
            for _ in client.view(WORLD):
                pass

    async def whole():
        for one in (follow, lambda address: asyncio.to_thread(follow_plain, address)):
            async with StrangeServer(hello=hello, goes=True) as server:
                try:
                    async with asyncio.timeout(PATIENCE):
                        await one(server.address)
                except fogmarch.ConnectionEnded as error:
                    assert "was not found" in str(error), repr(error)
                else:
                    raise AssertionError("it goes on")
        async with StrangeServer(hello=hello, goes=True) as server:
            watchers = [await Watcher(kind).start(server.address, [WORLD], "never") for kind in KINDS]
            try:
                await each(watchers, lambda one: one.until(lambda said: said.get("closed"), "end"))
            finally:
                for one in watchers:
                    await one.close()
    asyncio.run(whole())


def a_view_that_is_not_read_ends():
    """Its messages do not fill the memory, and calls are answered."""
    deltas = [notification("delta", subscription=1, world=WORLD, tick=tick)["says"] for tick in range(3, 2003)]

    async def unread(address):
        async with await fogmarch.connect(address) as client:
            view = await client.view(WORLD)
            while view in client._views:
                await client.call("world.locate", {"world": WORLD})
            assert view._queue.qsize() <= 1000
            await view.next()

    def unread_plain(address):
        with fogmarch.connect_plain(address) as client:
            view = client.view(WORLD)
            while view in client._views:
                client.call("world.locate", {"world": WORLD})
            assert len(view._queue) <= 1000
            view.next()

    async def whole():
        for one in (unread, lambda address: asyncio.to_thread(unread_plain, address)):
            async with StrangeServer(b"".join(deltas)) as server:
                try:
                    async with asyncio.timeout(PATIENCE):
                        await one(server.address)
                except fogmarch.ViewEnded as error:
                    assert "has not read 1000 messages" in str(error), repr(error)
                else:
                    raise AssertionError("it goes on")
    asyncio.run(whole())


def a_program_that_throws_loses_no_message():
    """Nor does it get one twice. In C# tests/e2e/csharp/Probe.cs throws."""
    async def whole():
        deltas = [msgpack.packb([2, "delta", [{"subscription": 1, "world": WORLD, "tick": tick}]]) for tick in range(3, 9)]
        async with StrangeServer(b"".join(deltas)) as server:
            watcher = await Watcher("js").start(server.address, [WORLD], "throws")
            try:
                await watcher.until(lambda said: said.get("tick") == 8, "last delta")
                ticks = [said["tick"] for said in watcher.said if "tick" in said]
                assert ticks == list(range(ticks[0], 9)), ticks
            finally:
                await watcher.close()
    if "js" in KINDS:
        asyncio.run(whole())


async def turn_away(_reader, writer):
    writer.close()


async def stand_still(_reader, _writer):
    await asyncio.sleep(PATIENCE)


async def nobody():
    """An address where nobody listens."""
    server = await asyncio.start_server(turn_away, "127.0.0.1", 0)
    address = address_of(server)
    server.close()
    await server.wait_closed()
    return address


def address_of(server):
    return "127.0.0.1:%d" % server.sockets[0].getsockname()[1]


def the_next_address_is_asked():
    """In every library, where nobody listens at the first, or it disconnects."""
    async def whole():
        async with StrangeServer() as good:
            bad = await asyncio.start_server(turn_away, "127.0.0.1", 0)
            addresses = f"{await nobody()},{address_of(bad)},{good.address}"
            watchers = [await Watcher(kind).start(addresses, [WORLD], "") for kind in KINDS]
            try:
                await each(watchers, lambda one: one.until(lambda said: said.get("view") == WORLD and "tick" in said, "view"))
            finally:
                bad.close()
                for one in watchers:
                    await one.close()
    asyncio.run(whole())


def no_address_answers():
    """The client says so, and names them."""
    async def whole():
        addresses = [await nobody(), await nobody()]
        watchers = [await Watcher(kind).start(",".join(addresses), [WORLD], "") for kind in KINDS]

        def names_them(said):
            return all(address in said.get("closed", "") for address in addresses)
        try:
            await each(watchers, lambda one: one.until(names_them, "reason with both addresses"))
        finally:
            for one in watchers:
                await one.close()
    asyncio.run(whole())


def the_next_address_is_asked_where_the_first_says_nothing():
    """Where it is the only one, the client is closed; those that wait for half a minute then are not tried. In C with a
    short time-out."""
    kinds = {"c": "brief", "cpp": "brief", "csharp": "", "godot": ""}

    async def whole():
        async with StrangeServer() as good:
            bad = await asyncio.start_server(stand_still, "127.0.0.1", 0)
            with_two = [await Watcher(kind).start(f"{address_of(bad)},{good.address}", [WORLD], option)
                        for kind, option in {kind: kinds.get(kind, "") for kind in KINDS}.items()]
            with_one = [await Watcher(kind).start(address_of(bad), [WORLD], option)
                        for kind, option in kinds.items() if kind in KINDS]
            try:
                await each(with_two, lambda one: one.until(lambda said: said.get("view") == WORLD and "tick" in said, "view"))
                await each(with_one, lambda one: one.until(lambda said: "answer" in said.get("closed", ""), "end"))
            finally:
                bad.close()
                for one in with_two + with_one:
                    await one.close()
    asyncio.run(whole())


def the_next_address_is_asked_where_the_first_has_no_power():
    """Nobody answers the first, not even to refuse: its listener's backlog is full."""
    async def whole():
        async with StrangeServer() as good:
            with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
                fillers = [socket.socket() for _ in range(3)]
                for filler in fillers:
                    filler.setblocking(False)
                    filler.connect_ex(full.getsockname())
                addresses = "127.0.0.1:%d,%s" % (full.getsockname()[1], good.address)
                watchers = [await Watcher(kind).start(addresses, [WORLD], "") for kind in KINDS]
                try:
                    await each(watchers, lambda one: one.until(lambda said: said.get("view") == WORLD and "tick" in said, "view"))
                finally:
                    for one in [*watchers]:
                        await one.close()
                    for filler in fillers:
                        filler.close()
    asyncio.run(whole())


def an_address_of_another_form_is_refused():
    async def whole():
        watchers = [await Watcher(kind).start("127.0.0.1:1,nowhere", [WORLD], "") for kind in KINDS]
        try:
            await each(watchers, lambda one: one.until(lambda said: "nowhere" in said.get("closed", ""), "refusal"))
        finally:
            for one in watchers:
                await one.close()
    asyncio.run(whole())


def the_next_address_is_asked_where_the_first_is_silent():
    """Only the first is given half a second."""
    open_plain = fogmarch.plain.PlainClient._open

    async def whole():
        async def stand_still(_reader, _writer):
            fogmarch.client.NEXT_S = PATIENCE
            await asyncio.sleep(60)

        async def turn_away(_reader, writer):
            writer.close()

        async with StrangeServer() as good:
            fogmarch.plain.PlainClient._open = lambda client, address, timeout_s: open_plain(
                client, address, PATIENCE if address == good.address else timeout_s)
            for serve in (stand_still, turn_away):
                bad = await asyncio.start_server(serve, "127.0.0.1", 0)
                addresses = "127.0.0.1:%d,%s" % (bad.sockets[0].getsockname()[1], good.address)
                fogmarch.client.NEXT_S = 0.5 if serve is stand_still else PATIENCE
                async with asyncio.timeout(PATIENCE), await fogmarch.connect(addresses) as client:
                    assert client.address == good.address
                plain = await asyncio.to_thread(fogmarch.connect_plain, addresses, timeout_s=0.5)
                assert plain.address == good.address
                plain.close()
                bad.close()

    asyncio.run(whole())


def what_has_no_answer_when_the_connection_ends_is_told():
    """The libraries that call back; in the others the call itself ends."""
    async def whole(kind):
        async with StrangeServer(goes=True) as server:  # for one client: it goes away when that has subscribed
            watcher = await Watcher(kind).start(server.address, [WORLD], "call")
            try:
                await watcher.until(lambda said: "world.info may have been carried out" in said.get("late", ""), "refusal")
                await watcher.until(lambda said: said.get("closed"), "end")
            finally:
                await watcher.close()
    for kind in {"csharp", "godot"} & set(KINDS):
        asyncio.run(whole(kind))


def a_game_that_stood_still_connects():
    async def whole():
        async with StrangeServer(hello_s=0.2) as server:
            watcher = await Watcher("godot").start(server.address, [WORLD], "stall")
            try:
                await watcher.until(lambda said: said.get("view") == WORLD and "tick" in said, "view")
            finally:
                await watcher.close()
    if "godot" in KINDS:
        asyncio.run(whole())


run([the_next_address_is_asked, no_address_answers, an_address_of_another_form_is_refused,
     the_next_address_is_asked_where_the_first_says_nothing, the_next_address_is_asked_where_the_first_has_no_power,
     the_next_address_is_asked_where_the_first_is_silent, rubbish_ends_the_connection,
     other_contents_end_the_view_or_the_connection, ends_that_were_not_told_are_told_of, a_view_that_starts_over_tells_of_nobody_twice,
     a_node_without_an_address_is_passed_over,
     what_has_no_answer_when_the_connection_ends_is_told, a_view_that_is_not_read_ends, a_program_that_throws_loses_no_message, a_game_that_stood_still_connects])
