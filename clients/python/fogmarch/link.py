"""A connection to one server for asyncio: requests and their answers, notifications, the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgpack

from .follow import SILENT, Silence

REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2
READ_SIZE = 1 << 18
MESSAGE_MAX = 1 << 30  # bytes
# Those of errors and notifications that the libraries themselves read, each with a value of its type.
KNOWN_FIELDS = {"subscription": 0, "world": 0, "code": 0, "name": "", "message": "", "node": "", "tcp": "", "ticket": ""}


class RequestError(Exception):
    """An error that the server answered. `status` is its name, such as "denied"."""

    def __init__(self, method: str, error: Mapping[str, Any]) -> None:
        self.method = method
        self.code: int = error.get("code", 0)
        self.status: str = str(error.get("name", ""))
        self.message: str = error.get("message", "the server gave no reason")
        super().__init__(f"{method}: {self.message}")
        self.sent = error  # the whole error; `moved` says where the world is


class ConnectionEnded(Exception):
    """The connection is over; nothing more can be called."""


class ViewEnded(ConnectionEnded):
    """A view is over, but the connection is not: other views go on, and calls are answered."""

    def __init__(self, reason: str, address: str = "") -> None:
        super().__init__(reason)
        self.address = address  # of the node that has the view's world now, as HOST:PORT; empty: none is known


class NoMessage(Exception):
    """The server sent bytes that are no message."""


class Messages:
    """Finds the messages in what comes in, and checks their form."""

    def __init__(self) -> None:
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=MESSAGE_MAX)

    def take(self, data: bytes) -> Iterator[list[Any]]:
        """Those that are complete now. Raises NoMessage."""
        try:
            self._unpacker.feed(data)
            for message in self._unpacker:
                if not self._is_good(message):
                    raise NoMessage("the server sent something else than answers and notifications")
                yield message
        except (ValueError, TypeError, RuntimeError, msgpack.UnpackException) as error:
            raise NoMessage(f"the server sent something else than MessagePack: {error}") from error

    @staticmethod
    def _is_good(message: Any) -> bool:
        match message:
            case [1, int(), None, _]:  # RESPONSE
                return True
            case [1, int(), {} as fields, _] | [2, str(), [{} as fields]]:  # NOTIFICATION
                return all(isinstance(fields.get(name, known), type(known)) for name, known in KNOWN_FIELDS.items())
        return False


def check_result(method: str, result: Any) -> None:
    """Checks what the libraries themselves need of an answer. Raises NoMessage."""
    match method, result:
        case "hello", {"resume": str(), **more}:
            seeds = more.get("seeds", ())
            is_good = isinstance(more.get("node", ""), str) and isinstance(seeds, list | tuple) and all(
                isinstance(seed, dict) and isinstance(seed.get("tcp"), str) for seed in seeds)
        case "subscribe", {"subscription": int(), "stream": int(), "resumed": bool()}:
            is_good = True
        case "world.locate", {"here": is_here, **more}:
            is_good = bool(is_here) or isinstance(more.get("tcp"), str)
        case _:
            is_good = method not in ("hello", "subscribe", "world.locate")
    if not is_good:
        raise NoMessage(f"the server answered {method} with something else than its result")


class Link:
    """Calls `route` with each notification, and `over` once, with the reason why the connection ended."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
                 route: Callable[[Link, str, dict[str, Any]], None],
                 over: Callable[[Link, str], None]) -> None:
        self.end: str | None = None
        self.is_strange = False  # the server has sent what is no message: another node would as well
        self._reader = reader
        self._writer = writer
        self._route = route
        self._on_over = over
        self._next = 1
        self._waiting: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self.is_watched = False  # whether it ends when the server is silent
        self._silence = Silence()
        self._task = asyncio.create_task(self._read())

    async def ask(self, method: str, given: Mapping[str, Any]) -> Any:
        """Sends a request and waits for its answer. Raises RequestError and ConnectionEnded."""
        if self.end is not None:
            raise ConnectionEnded(self.end)
        number = self._next
        self._next += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (method, future)
        message = msgpack.packb([REQUEST, number, method, [given]])
        self._silence.sends(len(message))
        self._writer.write(message)
        try:
            await self._writer.drain()
        except OSError as error:
            self.over(f"the server is gone: {error}")
        return await future

    def over(self, reason: str) -> None:
        """Ends it. Calls that wait for an answer raise ConnectionEnded."""
        if self.end is not None:
            return
        self.end = reason
        self._task.cancel()
        self._writer.close()
        waiting, self._waiting = self._waiting, {}
        for _, future in waiting.values():
            if not future.done():
                future.set_exception(ConnectionEnded(reason))
        self._on_over(self, reason)

    async def wait_closed(self) -> None:
        """Waits until the socket is closed, after over()."""
        try:
            await self._writer.wait_closed()
        except OSError:
            pass

    async def _read(self) -> None:
        messages = Messages()
        try:
            while data := await self._read_some():
                for message in messages.take(data):
                    self._take(message)
            reason = "the server disconnected"
        except OSError as error:
            reason = f"the server is gone: {error}"
        except NoMessage as error:
            self.is_strange = True
            reason = str(error)
        except Exception:  # nobody waits for ever; a program that ends cancels, and looks for no other node
            self.over("the server sent what this client cannot handle")
            raise
        self.over(reason)

    async def _read_some(self) -> bytes:
        """Empty: the server has disconnected. Raises OSError, also when it is silent."""
        while True:
            try:
                async with asyncio.timeout(max(self._silence.left_s, 1e-3)):
                    data = await self._reader.read(READ_SIZE)
                self._silence.heard()
                return data
            except TimeoutError:
                step = self._silence.due()
                if not self.is_watched:
                    self._silence.heard()
                elif step == "gone":
                    raise OSError(SILENT) from None
                elif step == "ask":
                    self._writer.write(msgpack.packb([REQUEST, 0, "ping", [{}]]))

    def _take(self, message: list[Any]) -> None:
        if message[0] == RESPONSE:
            method, future = self._waiting.get(message[1], ("", None))
            if message[2] is None:
                check_result(method, message[3])
            self._waiting.pop(message[1], None)
            if future is None or future.done():
                return
            if message[2] is not None:
                future.set_exception(RequestError(method, message[2]))
            else:
                future.set_result(message[3])
        elif message[0] == NOTIFICATION and message[1] == "idle":
            # The server checks whether the client is alive.
            time = message[2][0].get("time", 0)
            self._writer.write(msgpack.packb([NOTIFICATION, "ping", [{"time": time}]]))
        elif message[0] == NOTIFICATION:
            self._route(self, message[1], message[2][0])
