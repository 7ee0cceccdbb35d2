"""One session with a server for programs without asyncio: every call waits for its answer."""

from __future__ import annotations

import os
import socket
import ssl as tls
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgpack

from .client import (NOTIFICATION, READ_SIZE, REQUEST, RESPONSE, ConnectionEnded, RequestError,
                     address_of, tls_context)
from .methods import PROTOCOL, Hello
from .mirror import Mirror
from .plain_methods import PlainMethods


class PlainClient(PlainMethods):
    """A session. Make one with connect_plain(); use it as a context manager, from one thread.

    What the server says unasked is read while a call or a view waits. Notifications that belong to
    no view, such as going_down, wait in `others`.
    """

    def __init__(self, connection: socket.socket, timeout_s: float | None) -> None:
        self.welcome: Hello = cast(Hello, {})
        self.others: deque[tuple[str, dict[str, Any]]] = deque()
        self._socket = connection
        self._timeout_s = timeout_s
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=1 << 30)
        self._next = 1
        self._answers: dict[int, list[Any]] = {}
        self._views: dict[int, PlainView] = {}
        self._early: list[tuple[str, dict[str, Any]]] = []
        self._subscribing = False
        self._end: str | None = None

    def __enter__(self) -> PlainClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnects."""
        self._end = self._end or "closed by this program"
        self._socket.close()

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Calls a method by its name; parameters that are None are left out.

        Raises RequestError when the server refuses, ConnectionEnded when the connection is over, and
        TimeoutError when no answer comes in `timeout_s`; the answer is dropped when it comes later.
        """
        number = self._next
        self._next += 1
        given = {name: value for name, value in params.items() if value is not None}
        deadline = self._deadline(self._timeout_s)
        self._send([REQUEST, number, method, [given]])
        self._answers[number] = []
        try:
            while not self._answers[number]:
                self._read(deadline)
            _, _, error, result = self._answers[number]
        finally:
            del self._answers[number]
        if error is not None:
            raise RequestError(method, error)
        return result

    def view(self, world: int, team: int | None = None, *, rect: list[int] | None = None,
             every: int | None = None) -> PlainView:
        """Subscribes to a view and waits for its first keyframe."""
        self._subscribing = True
        try:
            answer = self.subscribe(world=world, team=team, rect=rect, every=every, encoding="dense")
        finally:
            self._subscribing = False
        view = PlainView(self, answer["subscription"])
        self._views[view.number] = view
        early, self._early = self._early, []
        for name, params in early:
            self._route(name, params)
        view.next(self._timeout_s)
        return view

    # ---- bytes -----------------------------------------------------------------------------------

    @staticmethod
    def _deadline(timeout_s: float | None) -> float | None:
        return None if timeout_s is None else time.monotonic() + timeout_s

    def _send(self, message: list[Any]) -> None:
        if self._end is not None:
            raise ConnectionEnded(self._end)
        try:
            self._socket.settimeout(self._timeout_s)
            self._socket.sendall(msgpack.packb(message))
        except TimeoutError:
            self._over("the server does not read")
        except OSError as error:
            self._over(f"the server is gone: {error}")

    def _over(self, reason: str) -> None:
        self._end = reason
        self._socket.close()
        raise ConnectionEnded(reason)

    def _read(self, deadline: float | None) -> None:
        """Reads once, and takes what came. Raises TimeoutError after the deadline."""
        if self._end is not None:
            raise ConnectionEnded(self._end)
        left = None if deadline is None else max(deadline - time.monotonic(), 1e-6)
        self._socket.settimeout(left)
        try:
            data = self._socket.recv(READ_SIZE)
        except TimeoutError:
            raise
        except OSError as error:
            self._over(f"the server is gone: {error}")
        if not data:
            self._over("the server disconnected")
        self._unpacker.feed(data)
        for message in self._unpacker:
            if message[0] == RESPONSE and message[1] in self._answers:
                self._answers[message[1]] = message
            elif message[0] == NOTIFICATION:
                self._route(message[1], message[2][0])

    def _route(self, name: str, params: dict[str, Any]) -> None:
        number = params.get("subscription")
        if name == "idle":  # the server asks whether anybody is there
            self._send([NOTIFICATION, "ping", [{"time": params["time"]}]])
        elif number is None:
            self.others.append((name, params))
        elif number in self._views:
            self._views[number]._queue.append((name, params))
        elif self._subscribing:
            self._early.append((name, params))


class PlainView:
    """A view that is followed, with a mirror of what it shows.

        for mirror in client.view(world=1, team=1):
            print(mirror.tick, len(mirror.agents))
    """

    def __init__(self, client: PlainClient, number: int) -> None:
        self.number = number
        self.mirror = Mirror()
        self._client = client
        self._queue: deque[tuple[str, dict[str, Any]]] = deque()

    def next(self, timeout_s: float | None = None) -> Mirror | None:
        """Waits for the next keyframe or delta, and applies it. None: the world has ended.

        Raises TimeoutError when nothing comes in `timeout_s`, and ConnectionEnded.
        """
        deadline = self._client._deadline(timeout_s)
        while not self._queue:
            self._client._read(deadline)
        name, params = self._queue.popleft()
        if name == "world_ended":
            self._client._views.pop(self.number, None)
            return None
        self.mirror.apply(name, params)
        return self.mirror

    def __iter__(self) -> Iterator[Mirror]:
        while (mirror := self.next()) is not None:
            yield mirror

    def end(self) -> None:
        """Ends the subscription."""
        self._client._views.pop(self.number, None)
        self._client.unsubscribe(subscription=self.number)


def connect_plain(address: str = "127.0.0.1:7421", *, name: str = "fogmarch-python",
                  token: str | None = None, ssl: bool | tls.SSLContext = False,
                  ca_file: str | None = None, resume: str | None = None,
                  timeout_s: float | None = 30.0) -> PlainClient:
    """Connects to HOST:PORT and says hello, as connect() does, for programs without asyncio.

    `timeout_s` is how long a call waits for its answer; None: for ever.
    """
    host, port = address_of(address)
    context = tls_context(ssl, ca_file)
    connection = socket.create_connection((host, port), timeout=timeout_s)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        if context is not None:
            connection = context.wrap_socket(connection, server_hostname=host)
        client = PlainClient(connection, timeout_s)
        client.welcome = client.hello(protocol=PROTOCOL, client=name,
                                      token=token or os.environ.get("FOGMARCH_TOKEN"),
                                      resume=resume)
    except BaseException:
        connection.close()
        raise
    return client
