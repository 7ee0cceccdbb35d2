"""One session with a server or a cluster, without asyncio: every call waits for its answer."""

from __future__ import annotations

import socket
import ssl as tls
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, cast

import msgpack

from .client import HELLO_S, NEXT_S, address_of, addresses_of, hello_of, no_answer, tls_context
from .follow import (
    FOLLOW_S, GONE_S, NODE_PATIENCE_S, ONCE, PAUSE_FIRST_S, PAUSE_LAST_S, SILENT, Follow, Search, Silence, no_server,
)
from .followed import FOR_NOW, NOT_HERE, NOT_READ, NOT_SHOWN, OTHERS_MAX, QUEUE_MAX, FollowedView, moved_text
from .link import (
    NOTIFICATION, READ_SIZE, REQUEST, RESPONSE, ConnectionEnded, Messages, NoMessage, RequestError, check_result,
)
from .methods import Hello
from .mirror import Mirror
from .plain_methods import PlainMethods


def left_s(deadline: float | None) -> float | None:
    """Seconds until a deadline; None: it never comes."""
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)


def deadline_of(timeout_s: float | None) -> float | None:
    """A deadline by time.monotonic(); None: never."""
    return None if timeout_s is None else time.monotonic() + timeout_s


class PlainLink:
    """A connection to one server. `route` is called with each notification."""

    def __init__(self, connection: socket.socket, timeout_s: float | None,
                 route: Callable[[PlainLink, str, dict[str, Any]], None]) -> None:
        self.end: str | None = None
        self.is_strange = False  # the server has sent what is no message: another node would as well
        self.is_watched = False  # whether it ends when the server is silent
        self._silence = Silence()
        self._socket = connection
        self._timeout_s = timeout_s
        self._route = route
        self._messages = Messages()
        self._next = 1
        self._answers: dict[int, list[Any]] = {}
        self._late: set[int] = set()  # requests to subscribe whose answers nobody waits for any more

    def close(self, reason: str) -> None:
        """Disconnects."""
        self.end = self.end or reason
        self._socket.close()

    def ask(self, method: str, given: Mapping[str, Any], timeout_s: float | None) -> Any:
        """Raises RequestError, ConnectionEnded and TimeoutError."""
        number = self._next
        self._next += 1
        deadline = deadline_of(timeout_s)
        self.send([REQUEST, number, method, [given]])
        self._answers[number] = []
        try:
            while not self._answers[number]:
                self.read(deadline)
            _, _, error, result = self._answers[number]
        except TimeoutError:
            if method == "subscribe":
                self._late.add(number)
            raise
        finally:
            del self._answers[number]
        if error is not None:
            raise RequestError(method, error)
        try:
            check_result(method, result)
        except NoMessage as no_result:
            self._over(str(no_result), is_strange=True)
        return result

    def send(self, message: list[Any]) -> None:
        """Sends one message. Raises ConnectionEnded."""
        if self.end is not None:
            raise ConnectionEnded(self.end)
        try:
            self._socket.settimeout(self._timeout_s)
            packed = msgpack.packb(message)
            self._silence.sends(len(packed))
            self._socket.sendall(packed)
        except TimeoutError:
            self._over("the server does not read")
        except OSError as error:
            self._over(f"the server is gone: {error}")

    def _over(self, reason: str, is_strange: bool = False) -> NoReturn:
        self.is_strange = is_strange
        self.close(reason)
        raise ConnectionEnded(reason)

    def read(self, deadline: float | None) -> None:
        """Reads once, and handles what came. Raises ConnectionEnded, TimeoutError after the deadline."""
        data = None
        while data is None:
            data = self._read_some(deadline)
        if not data:
            self._over("the server disconnected")
        try:
            for message in self._messages.take(data):
                self._take(message)
        except NoMessage as error:
            self._over(str(error), is_strange=True)

    def _take(self, message: list[Any]) -> None:
        if message[0] == RESPONSE and message[1] in self._answers:
            self._answers[message[1]] = message
        elif message[0] == RESPONSE and message[1] in self._late:
            self._late.remove(message[1])
            if message[2] is None:
                check_result("subscribe", message[3])
                self.send([REQUEST, 0, "unsubscribe", [{"subscription": message[3]["subscription"]}]])
        elif message[0] == NOTIFICATION and message[1] == "idle":
            # The server checks whether the client is alive.
            self.send([NOTIFICATION, "ping", [{"time": message[2][0].get("time", 0)}]])
        elif message[0] == NOTIFICATION:
            self._route(self, message[1], message[2][0])

    def _read_some(self, deadline: float | None) -> bytes | None:
        """None: nothing yet. Raises as read()."""
        if self.end is not None:
            raise ConnectionEnded(self.end)
        waits = [] if deadline is None else [max(deadline - time.monotonic(), 1e-6)]
        waits += [max(self._silence.left_s, 1e-6)] if self.is_watched else []
        self._socket.settimeout(min(waits, default=None))
        try:
            data = self._socket.recv(READ_SIZE)
        except TimeoutError:
            step = self._silence.due() if self.is_watched else ""
            if step == "gone":
                self._over(SILENT)
            if step == "ask":
                self.send([REQUEST, 0, "ping", [{}]])
            if deadline is not None and time.monotonic() >= deadline:
                raise
            return None
        except OSError as error:
            self._over(f"the server is gone: {error}")
        self._silence.heard()
        return data


class Look:
    """The world of a view is not on this node, but may come, or be elsewhere. `had_it`: this node has had it, so when
    it knows no such world, there is none."""

    def __init__(self, had_it: bool) -> None:
        self.begun = self.next = time.monotonic()  # next: when to ask
        self.denied_since: float | None = None
        self.had_it = had_it
        self.refusal: RequestError | None = None  # of the subscribe, by a node that has it
        self._pause = PAUSE_FIRST_S

    def later(self) -> None:
        """It is not known yet."""
        self.next = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, PAUSE_LAST_S)

    @property
    def is_gone(self) -> bool:
        """Whether there is no such world."""
        return self.denied_since is not None and (self.had_it or time.monotonic() - self.denied_since > GONE_S)


class PlainClient(PlainMethods):
    """A session. Make one with connect_plain(); use it as a context manager, from one thread.

    Notifications are read while a call or a view waits. Those that belong to no view, such as going_down, and debug of
    debug_subscribe(), wait in `others`, the last 1000 of them. In a cluster the client goes where its world is, see follow.py.
    """

    def __init__(self, addresses: list[str], follow_s: float, context: tls.SSLContext | None,
                 hello: dict[str, Any], timeout_s: float | None) -> None:
        self.welcome: Hello = cast(Hello, {})
        self.others: deque[tuple[str, dict[str, Any]]] = deque(maxlen=OTHERS_MAX)
        self._follow = Follow(addresses, follow_s)
        self._context = context
        self._hello = hello
        self._timeout_s = timeout_s
        self._link: PlainLink = cast(PlainLink, None)
        self._views: list[PlainView] = []  # that go on, the oldest first
        self._subscriptions: dict[int, PlainView] = {}  # those of them that the link has, by their numbers
        self._looks: dict[PlainView, Look] = {}  # the others
        self._early: list[tuple[str, dict[str, Any]]] = []
        self._subscribing = False
        self._world: int | None = None  # the last one that a call named
        self._search: Search | None = None  # that a call has left because its time was over
        self._end: str | None = None

    def __enter__(self) -> PlainClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def address(self) -> str:
        """The server it is connected to now, as HOST:PORT."""
        return self._follow.nodes[0]

    def close(self) -> None:
        """Disconnects."""
        self._end = self._end or "closed by this program"
        self._link.close(self._end)

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Calls a method by its name; parameters that are None are left out.

        Raises RequestError when the server refuses, ConnectionEnded when the connection is over, and
        TimeoutError when no answer comes in `timeout_s`, which bounds all repeats in a cluster; the answer is dropped when
        it comes later.
        """
        deadline = deadline_of(self._timeout_s)
        given = {name: value for name, value in params.items() if value is not None}
        given = self._follow.prepare(method, given)
        self._world = given.get("world", self._world)
        try:
            return self._call(method, given, deadline)
        except TimeoutError:
            raise TimeoutError(no_answer(method, self._timeout_s)) from None

    def _call(self, method: str, given: dict[str, Any], deadline: float | None) -> Any:
        view = self._subscriptions.get(given.get("subscription", 0))
        while True:
            if self._end is not None:
                raise ConnectionEnded(self._end)
            if view is not None:  # it has another number on another node
                given["subscription"] = view.number
            try:
                return self._link.ask(method, given, left_s(deadline))
            except RequestError as error:
                if error.status != "moved" or not self._may_go(given.get("world")):
                    raise
                self._follow.note_place(error.sent)
                self._seek(given["world"], error, deadline)
            except ConnectionEnded as error:
                self._lost(error, deadline)
                if method in ONCE:
                    raise

    def view(self, world: int, team: int | None = None, *, rect: list[int] | None = None,
             every: int | None = None, motion: bool | None = None, sight: bool | None = None) -> PlainView:
        """Subscribes to a view and waits for its first keyframe. `sight` adds which cells are visible,
        `motion` how agents move."""
        wanted = {"world": world, "team": team, "every": every, "encoding": "dense", "sight": sight,
                  "motion": motion}
        view = PlainView(self, {k: v for k, v in wanted.items() if v is not None}, rect)
        self._subscribing = True
        try:
            answer = self.call("subscribe", {**wanted, "rect": rect})
        finally:
            self._subscribing = False
        self._begin(view, answer)
        self._early = []
        try:
            view.next(self._timeout_s)
        except TimeoutError:
            view._give_back()
            raise TimeoutError(no_answer("subscribe", self._timeout_s)) from None
        return view

    def _begin(self, view: PlainView, answer: Mapping[str, Any]) -> None:
        view.number, view.stream = answer["subscription"], answer["stream"]
        self._subscriptions[view.number] = view
        self._looks.pop(view, None)
        if view not in self._views:
            self._views.append(view)
        early, self._early = self._early, []
        for name, params in early:
            self._route(self._link, name, params)

    def _route(self, link: PlainLink, name: str, params: dict[str, Any]) -> None:
        number = params.get("subscription")
        if link is not self._link:
            return
        if number is None or name == "debug":
            self.others.append((name, params))
        elif number in self._subscriptions and name in ("moved", "world_ended"):
            view = self._subscriptions.pop(number)
            view.number = 0
            self._leaves(view, name, params)
        elif number in self._subscriptions:
            self._subscriptions[number]._take(name, params)
        elif self._subscribing:
            self._early.append((name, params))

    def _leaves(self, view: PlainView, name: str, params: dict[str, Any]) -> None:
        """The world of a view is not on this node any more."""
        if not self._follow.is_on and name == "world_ended":
            self._views.remove(view)
            view._take(name, params)
        elif not self._follow.is_on or (params.get("tcp") and not self._may_go(view.world)):
            self._views.remove(view)
            view._leave(params)
        else:
            if name == "moved" and self._may_go(view.world):
                self._follow.note_place(params)
            self._looks[view] = Look(had_it=name == "world_ended")

    def _forget(self, view: PlainView) -> bool:
        """The view is over. Returns whether the link has it."""
        self._looks.pop(view, None)
        if view in self._views:
            self._views.remove(view)
        if self._subscriptions.get(view.number) is not view:
            return False
        del self._subscriptions[view.number]
        view.number = 0
        return True

    # ---- in a cluster ----------------------------------------------------------------------------

    def _may_go(self, world: int | None) -> bool:
        """Whether to go to the node of a world: a client with views stays with their worlds."""
        return (self._follow.is_on and world is not None
                and all(view.world == world for view in self._views))

    def _read(self, deadline: float | None) -> None:
        """Reads once; goes to another node when this one is gone."""
        if self._end is not None:
            raise ConnectionEnded(self._end)
        try:
            if self._looks and self._look():
                return
            next_look = min((look.next for look in self._looks.values()), default=None)
            is_first = next_look is not None and (deadline is None or next_look < deadline)
            try:
                self._link.read(next_look if is_first else deadline)
            except TimeoutError:
                if not is_first:
                    raise
        except ConnectionEnded as error:
            if self._end is not None:
                raise
            self._lost(error)

    def _look(self) -> bool:
        """Asks where the worlds are that were here, or are to come. Returns whether a view has changed."""
        for view, look in list(self._looks.items()):
            if view in self._looks and time.monotonic() >= look.next and self._look_for(view, look):
                return True
        return False

    def _look_for(self, view: PlainView, look: Look) -> bool:
        try:
            place = self._link.ask("world.locate", {"world": view.world}, NODE_PATIENCE_S)
            look.denied_since = look.refusal = None
            if not place["here"] and self._may_go(view.world):
                self._seek(view.world, ConnectionEnded(moved_text(view.world, place)))
                return True
            if not place["here"] and place["tcp"]:
                self._forget(view)
                view._leave(place)
                return True
            if place["here"]:
                look.refusal = self._continue(view)
                if look.refusal is None:
                    return True
        except RequestError as error:
            look.denied_since = None if error.status != "no_world" else look.denied_since or time.monotonic()
        except TimeoutError:
            look.denied_since = None
        look.later()
        if look.is_gone:
            self._forget(view)
            view._take("world_ended", {})
        elif time.monotonic() - look.begun > self._follow.follow_s:
            self._forget(view)
            view._not_found(self._follow.follow_s, look.refusal)
        return view not in self._views

    def _lost(self, error: ConnectionEnded, deadline: float | None = None) -> None:
        """The connection is over. Finds another one, or raises as _seek()."""
        if self._follow.is_on and self._end is None and not self._link.is_strange:
            if str(error) == SILENT:
                self._follow.note_silence(self.address)
            self._seek(self._views[0].world if self._views else self._world, error, deadline)
            return
        self._end = self._end or str(error)
        raise ConnectionEnded(self._end)

    def _seek(self, world: int | None, error: Exception, deadline: float | None = None) -> None:
        """Looks for the node of a world, and goes there.

        Raises ConnectionEnded when there is none, and TimeoutError after the deadline: the next one continues.
        """
        search, self._search = self._search, None
        if search is None:
            search = self._follow.search([*([] if world is None else [world]), *(view.world for view in self._views)])
            search.failed(self.address, error)
        if self._link.end is None:
            self._sleep(self._follow.pause_before_s(self.address), deadline)
        for pause in search.rounds():
            for address in self._follow.candidates():
                try:
                    self._try(address, search.worlds)
                    return
                except (OSError, ConnectionEnded, RequestError, ValueError) as failure:
                    search.failed(address, failure)
            if left_s(deadline) == 0 and self._link.end is not None:
                self._search = search
            self._sleep(pause, deadline)
        self._end = search.text(len(self._follow.nodes))
        raise ConnectionEnded(self._end)

    @staticmethod
    def _sleep(pause: float, deadline: float | None) -> None:
        """Raises TimeoutError after the deadline."""
        left = left_s(deadline)
        time.sleep(pause if left is None else min(pause, left))
        if left == 0:
            raise TimeoutError("the node of the world was not found in time")

    def _try(self, address: str, worlds: list[int]) -> None:
        """Goes to a node, or to the one that it says has the first of these worlds that is found."""
        link, welcome = self._open(address, NODE_PATIENCE_S)
        try:
            place, world = self._locate(link, worlds)
            if not place["here"]:
                link.close("another node is the right one")
                address = self._follow.checked(place["tcp"])
                link, welcome = self._open(address, NODE_PATIENCE_S)
            self._link.close("the client has gone to another node")
            self._link = link
            self._settle(address, welcome)
            for view in self._subscriptions.values():
                view.number = 0  # which may be that of another view here
            self._subscriptions, self._looks = {}, {}
            for view in list(self._views):
                if self._continue(view, world) is not None:
                    self._looks[view] = Look(had_it=False)
        except BaseException as error:
            link.close(str(error))
            raise

    def _locate(self, link: PlainLink, worlds: list[int]) -> tuple[Mapping[str, Any], int | None]:
        """The place of the first world that is found, and that world."""
        refusal: RequestError | None = None
        for world in worlds:
            try:
                return link.ask("world.locate", {"world": world}, NODE_PATIENCE_S), world
            except RequestError as error:
                refusal = refusal or error
        if refusal is not None:
            raise refusal
        return {"here": True}, None

    def _continue(self, view: PlainView, sought: int | None = None) -> RequestError | None:
        """Subscribes to a view again, or ends it. Returns why it is neither, yet: the world is not here, or the node
        is busy.

        Raises RequestError where the world that was sought is not here.
        """
        before, self._subscribing = self._subscribing, True
        self._early = []
        try:
            self._begin(view, self._link.ask("subscribe", {**view._view, **view._place()}, NODE_PATIENCE_S))
        except RequestError as error:
            if error.status in NOT_HERE and view.world == sought:
                raise
            if error.status in FOR_NOW or (
                    error.status in NOT_HERE and (not error.sent.get("tcp") or self._may_go(view.world))):
                return error
            self._forget(view)
            view._refuse(error)
        finally:
            self._subscribing = before
        return None

    def _open(self, address: str, timeout_s: float | None) -> tuple[PlainLink, Hello]:
        """Connects and says hello."""
        host, port = address_of(address)
        connection = socket.create_connection((host, port), timeout=timeout_s)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_hostname=host)
            link = PlainLink(connection, self._timeout_s, self._route)
            return link, link.ask("hello", self._follow.greeting(self._hello), timeout_s)
        except BaseException as error:
            self._follow.note_hello(address, error)
            connection.close()
            raise

    def _settle(self, address: str, welcome: Hello) -> None:
        self.welcome = welcome
        self._hello["resume"] = welcome["resume"]
        self._follow.settle(address, welcome)
        self._link.is_watched = self._follow.is_on

    def _connect(self) -> None:
        failure: Exception = OSError("no address")
        for address in list(self._follow.nodes):
            try:
                patience = HELLO_S if self._timeout_s is None else self._timeout_s
                is_last = address == self._follow.nodes[-1]
                self._link, welcome = self._open(address, patience if is_last else min(patience, NEXT_S))
                self._settle(address, welcome)
                return
            except (OSError, ConnectionEnded) as error:
                failure = error
        raise no_server(self._follow.nodes, failure) from failure


class PlainView(FollowedView):
    """A view that is followed, with a mirror of what it shows.

        for mirror in client.view(world=1, team=1):
            print(mirror.tick, len(mirror.agents))
    """

    def __init__(self, client: PlainClient, view: dict[str, Any], rect: list[int] | None) -> None:
        super().__init__(view, rect)
        self._client = client
        self._queue: deque[tuple[str, dict[str, Any]]] = deque()

    def _take(self, name: str, params: dict[str, Any]) -> None:
        self._note(params)
        if len(self._queue) == QUEUE_MAX:
            self._stop(NOT_READ)
        else:
            self._queue.append((name, params))

    def next(self, timeout_s: float | None = None) -> Mirror | None:
        """Waits for the next keyframe or delta, and applies it. None: the world has ended.

        Raises TimeoutError when nothing comes in `timeout_s`, ViewEnded when only this view is over, and
        ConnectionEnded. A view of which 1000 messages wait is over.
        """
        deadline = deadline_of(timeout_s)
        while not self._queue:
            self._client._read(deadline)
        name, params = self._queue.popleft()
        if name in ("end", "world_ended"):
            self._queue.append((name, params))  # for the next call
        if name == "end":
            self._raise(params)
        if name == "world_ended":
            return None
        if not self._apply(name, params):
            self._raise(self._stop(NOT_SHOWN))
        return self.mirror

    def _give_back(self) -> None:
        """The program does not get it, or no more of it."""
        client, number = self._client, self.number
        if client._forget(self):
            try:
                client._link.send([REQUEST, 0, "unsubscribe", [{"subscription": number}]])
            except ConnectionEnded:
                pass  # and the subscription with it

    def _stop(self, why: str) -> dict[str, Any]:
        """Ends it, on the server as well; what was not read is forgotten."""
        self._give_back()
        self._queue.clear()
        self._end(why)
        return self._queue[0][1]

    def __iter__(self) -> Iterator[Mirror]:
        while (mirror := self.next()) is not None:
            yield mirror

    def end(self) -> None:
        """Ends the subscription."""
        client, number = self._client, self.number
        if not client._forget(self):
            return
        try:
            client._link.ask("unsubscribe", {"subscription": number}, client._timeout_s)
        except ConnectionEnded:  # and the subscription with it
            if client._end is not None or not client._follow.is_on:
                raise


def connect_plain(address: str = "127.0.0.1:7421", *, name: str = "fogmarch-python",
                  token: str | None = None, ssl: bool | tls.SSLContext = False,
                  ca_file: str | None = None, resume: str | None = None,
                  timeout_s: float | None = 30.0, follow_s: float = FOLLOW_S) -> PlainClient:
    """Connects to HOST:PORT and says hello, as connect() does, for programs without asyncio.

    `timeout_s` is how long a call may take, with all its repeats in a cluster; None: for ever. While a view looks for
    another node, for at most `follow_s`, its next() takes longer.
    """
    client = PlainClient(addresses_of(address), follow_s, tls_context(ssl, ca_file),
                         hello_of(name, token, resume), timeout_s)
    client._connect()
    return client
