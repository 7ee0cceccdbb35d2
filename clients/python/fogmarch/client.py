"""One session with a server: requests and their answers, notifications, errors, the end."""

from __future__ import annotations

import asyncio
import os
import ssl as tls
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import msgpack

from .methods import PROTOCOL, Hello, Methods
from .mirror import Mirror

REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2
READ_SIZE = 1 << 18


class RequestError(Exception):
    """An error that the server answered. `status` is its name, such as "denied"."""

    def __init__(self, method: str, error: Mapping[str, Any]) -> None:
        super().__init__(f"{method}: {error['message']}")
        self.method = method
        self.code: int = error["code"]
        self.status: str = error["name"]
        self.message: str = error["message"]


class ConnectionEnded(Exception):
    """The connection is over; nothing can be called any more."""


class Client(Methods):
    """A session. Make one with connect(); use it as an async context manager.

    Notifications go to the subscriptions they belong to; those that belong to none, such as
    going_down, wait in `others`.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.welcome: Hello = cast(Hello, {})
        self.others: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._reader = reader
        self._writer = writer
        self._next = 1
        self._waiting: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._subscriptions: dict[int, Subscription] = {}
        self._early: list[tuple[str, dict[str, Any]]] = []
        self._subscribing = 0
        self._end: str | None = None
        self._task = asyncio.create_task(self._read())

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnects."""
        self._task.cancel()
        self._over("closed by this program")
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Calls a method by its name; parameters that are None are left out."""
        if self._end is not None:
            raise ConnectionEnded(self._end)
        number = self._next
        self._next += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (method, future)
        given = {name: value for name, value in params.items() if value is not None}
        self._writer.write(msgpack.packb([REQUEST, number, method, [given]]))
        try:
            await self._writer.drain()
        except OSError as error:
            self._over(f"the server is gone: {error}")
        return await future

    async def view(self, world: int, team: int | None = None, *, rect: list[int] | None = None,
                   every: int | None = None, sight: bool | None = None) -> Subscription:
        """Subscribes to a view and waits for its first keyframe; with `sight` also to what is visible."""
        self._subscribing += 1
        try:
            answer = await self.subscribe(world=world, team=team, rect=rect, every=every,
                                          encoding="dense", sight=sight)
        finally:
            self._subscribing -= 1
        subscription = Subscription(self, {"world": world, "team": team, "every": every,
                                           "encoding": "dense", "sight": sight})
        self._begin(subscription, answer)
        await subscription.next()
        return subscription

    async def resume(self, subscription: Subscription) -> bool:
        """Continues a subscription whose connection broke; its mirror stays.

        True: the next change follows on what the mirror holds; orders that ended meanwhile are in its
        `ended`. False: the server has forgotten, and a keyframe comes next.
        """
        mirror = subscription.mirror
        self._subscribing += 1
        try:
            answer = await self.call("subscribe", {**subscription._view, "rect": list(mirror.rect),
                                                   "stream": subscription.stream, "since": mirror.tick})
        finally:
            self._subscribing -= 1
        subscription._queue = asyncio.Queue()
        self._begin(subscription, answer)
        return cast(bool, answer["resumed"])

    def _begin(self, subscription: Subscription, answer: Mapping[str, Any]) -> None:
        subscription._client = self
        subscription.number = answer["subscription"]
        subscription.stream = answer["stream"]
        self._subscriptions[subscription.number] = subscription
        early, self._early = self._early, []
        for name, params in early:
            self._route(name, params)

    # ---- what comes in ---------------------------------------------------------------------------

    async def _read(self) -> None:
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=1 << 30)
        reason = "the server disconnected"
        try:
            while data := await self._reader.read(READ_SIZE):
                unpacker.feed(data)
                for message in unpacker:
                    self._take(message)
        except OSError as error:
            reason = f"the server is gone: {error}"
        self._over(reason)

    def _take(self, message: list[Any]) -> None:
        if message[0] == RESPONSE:
            method, future = self._waiting.pop(message[1], ("", None))
            if future is None or future.done():
                return
            if message[2] is not None:
                future.set_exception(RequestError(method, message[2]))
            else:
                future.set_result(message[3])
        elif message[0] == NOTIFICATION:
            self._route(message[1], message[2][0])

    def _route(self, name: str, params: dict[str, Any]) -> None:
        number = params.get("subscription")
        if name == "idle":  # the server asks whether anybody is there
            self._writer.write(msgpack.packb([NOTIFICATION, "ping", [{"time": params["time"]}]]))
        elif number is None:
            self.others.put_nowait((name, params))
        elif number in self._subscriptions:
            self._subscriptions[number]._queue.put_nowait((name, params))
        elif self._subscribing > 0:
            self._early.append((name, params))

    def _over(self, reason: str) -> None:
        if self._end is not None:
            return
        self._end = reason
        for _, future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionEnded(reason))
        self._waiting.clear()
        for subscription in self._subscriptions.values():
            subscription._queue.put_nowait(("end", {"reason": reason}))


class Subscription:
    """A view that is followed, with a mirror of what it shows.

        async for change in await client.view(world, team):
            print(change.tick, len(change.mirror.agents))
    """

    def __init__(self, client: Client, view: dict[str, Any]) -> None:
        self.number = self.stream = 0
        self.mirror = Mirror()
        self._view = view
        self._client = client
        self._queue: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()

    async def next(self) -> Mirror | None:
        """Waits for the next keyframe or delta, and applies it. None: the world has ended.

        Raises ConnectionEnded.
        """
        name, params = await self._queue.get()
        if name == "end":
            self._queue.put_nowait((name, params))
            raise ConnectionEnded(params["reason"])
        if name == "world_ended":
            self._client._subscriptions.pop(self.number, None)
            return None
        self.mirror.apply(name, params)
        return self.mirror

    async def __aiter__(self) -> AsyncIterator[Mirror]:
        while (mirror := await self.next()) is not None:
            yield mirror

    async def end(self) -> None:
        """Ends it."""
        self._client._subscriptions.pop(self.number, None)
        await self._client.unsubscribe(subscription=self.number)


def address_of(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT or [IPV6]:PORT. Raises ValueError."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise ValueError(f"'{address}' is no HOST:PORT")
    return host.strip("[]"), int(port)


def tls_context(ssl: bool | tls.SSLContext, ca_file: str | None) -> tls.SSLContext | None:
    """What connect() makes of its arguments `ssl` and `ca_file`; None: no TLS."""
    ca_file = ca_file or os.environ.get("FOGMARCH_TLS_CA") or None
    if isinstance(ssl, tls.SSLContext):
        return ssl
    if not ssl and ca_file is None:
        return None
    context = tls.create_default_context(cafile=ca_file)
    context.minimum_version = tls.TLSVersion.TLSv1_2
    return context


async def connect(address: str = "127.0.0.1:7421", *, name: str = "fogmarch-python",
                  token: str | None = None, ssl: bool | tls.SSLContext = False,
                  ca_file: str | None = None, resume: str | None = None) -> Client:
    """Connects to HOST:PORT and says hello.

    `resume` is `welcome["resume"]` of a client whose connection broke: the new one has its role and
    seat, and Client.resume() continues its subscriptions.

    The token is taken from FOGMARCH_TOKEN when none is given. With `ssl` it talks TLS, with a context
    or with one of its own; with `ca_file`, certificates in PEM, it trusts these instead of the
    system's; FOGMARCH_TLS_CA in the environment does the same. Raises OSError when no server answers,
    which a certificate that is not trusted counts as, and RequestError when it refuses, such as with
    the status "denied" for a wrong token.
    """
    host, port = address_of(address)
    reader, writer = await asyncio.open_connection(host, port, ssl=tls_context(ssl, ca_file),
                                                   limit=READ_SIZE)
    client = Client(reader, writer)
    try:
        client.welcome = await client.hello(protocol=PROTOCOL, client=name,
                                            token=token or os.environ.get("FOGMARCH_TOKEN"),
                                            resume=resume)
    except BaseException:
        await client.close()
        raise
    return client
