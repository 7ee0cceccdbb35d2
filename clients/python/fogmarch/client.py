"""One session with a server, or with a cluster: calls, views, errors, the end."""

from __future__ import annotations

import asyncio
import os
import ssl as tls
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from .follow import (
    FOLLOW_S, GONE_S, NODE_PATIENCE_S, ONCE, PAUSE_FIRST_S, PAUSE_LAST_S, SILENT, Follow, no_server,
)
from .link import READ_SIZE, ConnectionEnded, Link, RequestError
from .followed import FOR_NOW, NOT_HERE, NOT_READ, NOT_SHOWN, OTHERS_MAX, QUEUE_MAX, FollowedView, moved_text
from .methods import PROTOCOL, Hello, Methods
from .mirror import Mirror


HELLO_S = 30.0  # for the last of the first addresses to answer hello
NEXT_S = 10.0  # for one before it; then the next is asked


class Client(Methods):
    """A session. Make one with connect(); use it as an async context manager.

    Notifications go to their subscriptions; those that belong to no view, such as going_down, and debug of
    debug_subscribe(), wait in `others`, the last 1000 of them. In a cluster the client goes where its world is, see follow.py.
    """

    def __init__(self, addresses: list[str], follow_s: float, context: tls.SSLContext | None,
                 hello: dict[str, Any], timeout_s: float | None = None) -> None:
        self.welcome: Hello = cast(Hello, {})
        self.others: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._follow = Follow(addresses, follow_s)
        self._context = context
        self._hello = hello
        self._timeout_s = timeout_s
        self._link: Link = cast(Link, None)
        self._seeking: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._views: list[Subscription] = []  # that go on, the oldest first
        self._subscriptions: dict[int, Subscription] = {}  # those of them that the link has, by their numbers
        self._early: list[tuple[str, dict[str, Any]]] = []
        self._subscribing = 0
        self._world: int | None = None  # the last one that a call named
        self._end: str | None = None

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def address(self) -> str:
        """The server it is connected to now, as HOST:PORT."""
        return self._follow.nodes[0]

    async def close(self) -> None:
        """Disconnects."""
        self._over("closed by this program")
        for task in [*self._tasks, *([self._seeking] if self._seeking else [])]:
            task.cancel()
        self._link.over("closed by this program")
        await self._link.wait_closed()

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Calls a method by its name; parameters that are None are left out.

        Raises RequestError when the server refuses, ConnectionEnded when the connection is over, and TimeoutError when
        no answer comes in `timeout_s`, which bounds all repeats in a cluster.
        """
        async with self._bounded(method):
            return (await self._call(method, params))[0]

    @asynccontextmanager
    async def _bounded(self, method: str) -> AsyncIterator[None]:
        """Raises TimeoutError when what is inside takes longer than a call may."""
        try:
            async with asyncio.timeout(self._timeout_s) as bound:
                yield
        except TimeoutError:
            if not bound.expired():
                raise
            raise TimeoutError(no_answer(method, self._timeout_s)) from None

    async def _call(self, method: str, params: Mapping[str, Any]) -> tuple[Any, Link]:
        """The answer, and the link that it came by."""
        given = {name: value for name, value in params.items() if value is not None}
        given = self._follow.prepare(method, given)
        self._world = given.get("world", self._world)
        view = self._subscriptions.get(given.get("subscription", 0))
        while True:
            await self._settled()
            if view is not None:  # it has another number on another node
                given["subscription"] = view.number
            link = self._link
            try:
                if method == "subscribe":
                    return await self._ask_for_view(link, given, None), link
                return await link.ask(method, given), link
            except RequestError as error:
                if error.status != "moved" or not self._may_go(given.get("world")):
                    raise
                self._go(link, given["world"], error, error.sent)
            except ConnectionEnded:
                if self._end is not None or not self._follow.is_on or method in ONCE:
                    raise

    async def view(self, world: int, team: int | None = None, *, rect: list[int] | None = None,
                   every: int | None = None, sight: bool | None = None,
                   motion: bool | None = None) -> Subscription:
        """Subscribes to a view and waits for its first keyframe. `sight` adds which cells are visible,
        `motion` how agents move."""
        view = {"world": world, "team": team, "every": every, "encoding": "dense", "sight": sight,
                "motion": motion}
        subscription = Subscription(self, {k: v for k, v in view.items() if v is not None})
        subscription._rect = rect
        await self._subscribe(subscription, {"rect": rect})
        try:
            async with self._bounded("subscribe"):
                await subscription.next()
        except (asyncio.CancelledError, TimeoutError):
            self._start(subscription.end())
            raise
        return subscription

    async def resume(self, subscription: Subscription) -> bool:
        """Continues a subscription whose connection broke; its mirror stays.

        True: the next change continues from what the mirror holds; orders that ended meanwhile are in
        its `ended`. False: the server no longer knows the view, and a keyframe comes next.
        """
        mirror = subscription.mirror
        subscription._queue = asyncio.Queue()
        subscription._client._forget(subscription)
        subscription._client = self
        return await self._subscribe(subscription, {
            "rect": list(mirror.rect), "stream": subscription.stream, "since": mirror.tick})

    async def _subscribe(self, subscription: Subscription, place: dict[str, Any]) -> bool:
        self._subscribing += 1
        try:
            async with self._bounded("subscribe"):
                while True:
                    answer, link = await self._call("subscribe", {**subscription._view, **place})
                    if link is self._link and link.end is None:  # otherwise the subscription is gone with its link
                        return self._begin(subscription, answer)
                    await self._settled()
        finally:
            self._has_subscribed()

    def _has_subscribed(self) -> None:
        self._subscribing -= 1
        if self._subscribing == 0:
            self._early = []

    def _forget(self, view: Subscription) -> bool:
        """The view is over. Returns whether the link has it."""
        if view in self._views:
            self._views.remove(view)
        if self._subscriptions.get(view.number) is not view:
            return False
        del self._subscriptions[view.number]
        view.number = 0
        return True

    def _begin(self, subscription: Subscription, answer: Mapping[str, Any]) -> bool:
        subscription.number = answer["subscription"]
        subscription.stream = answer["stream"]
        self._subscriptions[subscription.number] = subscription
        if subscription not in self._views:
            self._views.append(subscription)
        early, self._early = self._early, []
        for name, params in early:
            self._route(self._link, name, params)
        return cast(bool, answer["resumed"])

    # ---- what comes in ---------------------------------------------------------------------------

    def _route(self, link: Link, name: str, params: dict[str, Any]) -> None:
        number = params.get("subscription")
        if link is not self._link:
            return
        if number is None or name == "debug":
            if self.others.qsize() == OTHERS_MAX:
                self.others.get_nowait()
            self.others.put_nowait((name, params))
        elif number not in self._subscriptions:
            if self._subscribing > 0:
                self._early.append((name, params))
        elif name in ("moved", "world_ended"):
            view = self._subscriptions.pop(number)
            view.number = 0
            self._leaves(link, view, name, params)
        else:
            self._subscriptions[number]._take(name, params)

    def _leaves(self, link: Link, view: Subscription, name: str, params: dict[str, Any]) -> None:
        """The world of a view is not on this node any more."""
        if not self._follow.is_on and name == "world_ended":
            self._views.remove(view)
            view._take(name, params)
        elif not self._follow.is_on or (params.get("tcp") and not self._may_go(view.world)):
            self._views.remove(view)
            view._leave(params)
        elif name == "moved" and self._may_go(view.world) and self._seeking is not None:
            self._start(self._leaves_later(link, view, params))
        elif name == "moved" and self._may_go(view.world):
            self._go(link, view.world, ConnectionEnded(moved_text(view.world, params)), params)
        else:
            self._start(self._look(link, view, had_it=name == "world_ended"))

    async def _leaves_later(self, link: Link, view: Subscription, params: dict[str, Any]) -> None:
        """The world has left while a search was under way. When that has ended at this very node, another begins."""
        if self._seeking is not None:
            await asyncio.wait([self._seeking])
        has_it = self._subscriptions.get(view.number) is view
        if link is self._link and view in self._views and not has_it and self._end is None:
            self._leaves(link, view, "moved", params)

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _over(self, reason: str) -> None:
        if self._end is not None:
            return
        self._end = reason
        for view in self._views:
            view._take("end", {"reason": reason})

    # ---- in a cluster ----------------------------------------------------------------------------

    async def _settled(self) -> None:
        """Waits until the client is on a node."""
        if self._seeking is not None:
            await asyncio.wait([self._seeking])
        if self._end is not None:
            raise ConnectionEnded(self._end)

    def _may_go(self, world: int | None) -> bool:
        """Whether to go to the node of a world: a client with views stays with their worlds."""
        return (self._follow.is_on and world is not None
                and all(view.world == world for view in self._views))

    def _link_over(self, link: Link, reason: str) -> None:
        if link is not self._link:
            return
        if not self._follow.is_on or link.is_strange:
            self._over(reason)
        else:
            if SILENT in reason:
                self._follow.note_silence(self.address)
            world = self._views[0].world if self._views else self._world
            self._go(link, world, ConnectionEnded(reason))

    def _go(self, link: Link, world: int | None, error: Exception,
            place: Mapping[str, Any] | None = None) -> None:
        """Begins to look for the node of a world, unless a search is under way."""
        if link is self._link and self._seeking is None and self._end is None:
            self._follow.note_place(place or {})
            self._seeking = asyncio.create_task(self._seek(world, error))

    async def _look(self, link: Link, view: Subscription, had_it: bool) -> None:
        """A world is not on this node, but may come, or be elsewhere. Asks until that is known; the other views
        go on. `had_it`: this node has had it, so when it knows no such world, there is none."""
        clock = asyncio.get_running_loop().time
        begun, denied_since, pause = clock(), None, PAUSE_FIRST_S
        refusal: RequestError | None = None
        while link is self._link and view in self._views:
            try:
                place = await link.ask("world.locate", {"world": view.world})
                denied_since = refusal = None
                if view not in self._views or link is not self._link:
                    return
                may_go = self._may_go(view.world)
                if not place["here"] and may_go and self._seeking is None:
                    self._go(link, view.world, ConnectionEnded(moved_text(view.world, place)), place)
                    return
                if not place["here"] and place["tcp"] and not may_go:
                    self._views.remove(view)
                    view._leave(place)
                    return
                if place["here"]:
                    refusal = await self._continue(link, view)
                    if refusal is None:
                        return
            except RequestError as error:
                denied_since = None if error.status != "no_world" else denied_since or clock()
            except TimeoutError:
                denied_since = None
            except ConnectionEnded:
                return
            if view not in self._views or link is not self._link:
                return
            if denied_since is not None and (had_it or clock() - denied_since > GONE_S):
                self._views.remove(view)
                view._take("world_ended", {})
            elif clock() - begun > self._follow.follow_s:
                self._views.remove(view)
                view._not_found(self._follow.follow_s, refusal)
            await asyncio.sleep(pause)
            pause = min(2 * pause, PAUSE_LAST_S)

    async def _seek(self, world: int | None, error: Exception) -> None:
        search = self._follow.search([*([] if world is None else [world]), *(view.world for view in self._views)])
        search.failed(self.address, error)
        try:
            if self._link.end is None:
                await asyncio.sleep(self._follow.pause_before_s(self.address))
            for pause in search.rounds():
                for address in self._follow.candidates():
                    try:
                        await self._try(address, search.worlds)
                        return
                    except (OSError, ConnectionEnded, RequestError, TimeoutError, ValueError) as failure:
                        search.failed(address, failure)
                await asyncio.sleep(pause)
            self._over(search.text(len(self._follow.nodes)))
        finally:
            self._seeking = None

    async def _try(self, address: str, worlds: list[int]) -> None:
        """Goes to a node, or to the one that it says has the first of these worlds that is found."""
        link, welcome = await self._open(address)
        try:
            place, world = await self._locate(link, worlds)
            if not place["here"]:
                link.over("another node is the right one")
                address = self._follow.checked(place["tcp"])
                link, welcome = await self._open(address)
            before, self._link = self._link, link
            before.over("the client has gone to another node")
            self._settle(address, welcome)
            for view in self._subscriptions.values():
                view.number = 0  # which may be that of another view here
            self._subscriptions, self._early = {}, []
            for view in list(self._views):
                if await self._continue(link, view, world) is not None:
                    self._start(self._look(link, view, had_it=False))
            if link.end is not None:  # after its last answer
                raise ConnectionEnded(link.end)
        except BaseException as error:
            link.over(str(error))
            raise

    async def _locate(self, link: Link, worlds: list[int]) -> tuple[Mapping[str, Any], int | None]:
        """The place of the first world that is found, and that world."""
        refusal: RequestError | None = None
        for world in worlds:
            try:
                async with asyncio.timeout(NODE_PATIENCE_S):
                    return await link.ask("world.locate", {"world": world}), world
            except RequestError as error:
                refusal = refusal or error
        if refusal is not None:
            raise refusal
        return {"here": True}, None

    async def _continue(self, link: Link, view: Subscription, sought: int | None = None) -> RequestError | None:
        """Subscribes to a view again, or ends it. Returns why it is neither, yet: the world is not here, or the node
        is busy.

        Raises RequestError where the world that was sought is not here.
        """
        self._subscribing += 1
        try:
            answer = await self._ask_for_view(link, {**view._view, **view._place()}, NODE_PATIENCE_S)
            if view in self._views and link is self._link:
                self._begin(view, answer)
            elif link.end is None:  # the program has ended it meanwhile
                self._start(self._unsubscribe(link, answer["subscription"]))
        except RequestError as error:
            if error.status in NOT_HERE and view.world == sought:
                raise
            if error.status in FOR_NOW or (
                    error.status in NOT_HERE and (not error.sent.get("tcp") or self._may_go(view.world))):
                return error
            if view in self._views:
                self._forget(view)
                view._refuse(error)
        finally:
            self._has_subscribed()
        return None

    async def _ask_for_view(self, link: Link, given: Mapping[str, Any], patience_s: float | None) -> Mapping[str, Any]:
        """The answer to subscribe. One that comes after the TimeoutError, or when the caller was cancelled, is for a
        subscription that nobody wants any more."""
        asking = asyncio.ensure_future(link.ask("subscribe", given))
        asking.add_done_callback(lambda done: done.cancelled() or done.exception())  # which somebody has looked at then
        try:
            async with asyncio.timeout(patience_s):
                return cast(Mapping[str, Any], await asyncio.shield(asking))
        except (TimeoutError, asyncio.CancelledError):
            self._start(self._unsubscribe_late(link, asking))
            raise

    async def _unsubscribe_late(self, link: Link, asking: asyncio.Future[Any]) -> None:
        try:
            answer = await asking
        except (RequestError, ConnectionEnded):
            return
        await self._unsubscribe(link, answer["subscription"])

    async def _unsubscribe(self, link: Link, number: int) -> None:
        try:
            await link.ask("unsubscribe", {"subscription": number})
        except (RequestError, ConnectionEnded):
            pass

    async def _open(self, address: str, patience: float = NODE_PATIENCE_S) -> tuple[Link, Hello]:
        """Connects and says hello."""
        host, port = address_of(address)
        async with asyncio.timeout(patience):
            reader, writer = await asyncio.open_connection(host, port, ssl=self._context,
                                                           limit=READ_SIZE)
            link = Link(reader, writer, self._route, self._link_over)
            try:
                welcome = await link.ask("hello", self._follow.greeting(self._hello))
            except BaseException as error:
                self._follow.note_hello(address, error)
                link.over(str(error))
                raise
        return link, welcome

    def _settle(self, address: str, welcome: Hello) -> None:
        self.welcome = welcome
        self._hello["resume"] = welcome["resume"]
        self._follow.settle(address, welcome)
        self._link.is_watched = self._follow.is_on

    async def _connect(self) -> None:
        failure: Exception = OSError("no address")
        for address in list(self._follow.nodes):
            try:
                self._link, welcome = await self._open(address, HELLO_S if address == self._follow.nodes[-1] else NEXT_S)
                self._settle(address, welcome)
                return
            except (OSError, ConnectionEnded) as error:
                failure = error
        raise no_server(self._follow.nodes, failure) from failure


class Subscription(FollowedView):
    """A view that is followed, with a mirror of what it shows.

        async for change in await client.view(world, team):
            print(change.tick, len(change.mirror.agents))
    """

    def __init__(self, client: Client, view: dict[str, Any]) -> None:
        super().__init__(view, None)
        self._client = client
        self._queue: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()

    def _take(self, name: str, params: dict[str, Any]) -> None:
        self._note(params)
        if self._queue.qsize() == QUEUE_MAX:
            self._stop(NOT_READ)
        else:
            self._queue.put_nowait((name, params))

    async def next(self) -> Mirror | None:
        """Waits for the next keyframe or delta, and applies it. None: the world has ended.

        Raises ViewEnded when only this view is over, and ConnectionEnded. A view of which 1000 messages wait is over.
        """
        name, params = await self._queue.get()
        if name in ("end", "world_ended"):
            self._queue.put_nowait((name, params))  # for the next call
        if name == "end":
            self._raise(params)
        if name == "world_ended":
            return None
        if not self._apply(name, params):
            self._raise(self._stop(NOT_SHOWN))
        return self.mirror

    def _stop(self, why: str) -> dict[str, Any]:
        """Ends it, on the server as well; what was not read is forgotten."""
        link, number = self._client._link, self.number
        if self._client._forget(self):
            self._client._start(self._client._unsubscribe(link, number))
        while not self._queue.empty():
            self._queue.get_nowait()
        reason = {"reason": why, "address": ""}
        self._queue.put_nowait(("end", reason))  # for the next call
        return reason

    async def __aiter__(self) -> AsyncIterator[Mirror]:
        while (mirror := await self.next()) is not None:
            yield mirror

    async def end(self) -> None:
        """Ends the subscription."""
        link, number = self._client._link, self.number
        if not self._client._forget(self):
            return
        try:
            await link.ask("unsubscribe", {"subscription": number})
        except ConnectionEnded:  # and the subscription with it
            if self._client._end is not None:
                raise


def no_answer(method: str, timeout_s: float | None) -> str:
    """Why a call ends that has taken too long."""
    return f"no answer to {method} within {timeout_s} s"


def address_of(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT or [IPV6]:PORT. Raises ValueError."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise ValueError(f"'{address}' is no HOST:PORT")
    return host.strip("[]"), int(port)


def addresses_of(addresses: str) -> list[str]:
    """Splits at commas and checks each address. Raises ValueError."""
    split = [address.strip() for address in addresses.split(",")]
    for address in split:
        address_of(address)
    return split


def tls_context(ssl: bool | tls.SSLContext, ca_file: str | None) -> tls.SSLContext | None:
    """The TLS context for connect()'s arguments `ssl` and `ca_file`; None: no TLS."""
    ca_file = ca_file or os.environ.get("FOGMARCH_TLS_CA") or None
    if isinstance(ssl, tls.SSLContext):
        return ssl
    if not ssl and ca_file is None:
        return None
    context = tls.create_default_context(cafile=ca_file)
    context.minimum_version = tls.TLSVersion.TLSv1_2
    return context


def hello_of(name: str, token: str | None, resume: str | None) -> dict[str, Any]:
    """The parameters of hello."""
    said = {"protocol": PROTOCOL, "client": name, "resume": resume,
            "token": token or os.environ.get("FOGMARCH_TOKEN")}
    return {key: value for key, value in said.items() if value is not None}


async def connect(address: str = "127.0.0.1:7421", *, name: str = "fogmarch-python",
                  token: str | None = None, ssl: bool | tls.SSLContext = False,
                  ca_file: str | None = None, resume: str | None = None,
                  timeout_s: float | None = 30.0, follow_s: float = FOLLOW_S) -> Client:
    """Connects to HOST:PORT and says hello. `address` may name several, separated by commas.

    `timeout_s` is how long a call may take, with all its repeats in a cluster; then it raises TimeoutError. None: for
    ever.

    `resume` is `welcome["resume"]` of a client whose connection broke: the new one has its role and
    seat, and Client.resume() continues its subscriptions.

    In a cluster the client goes where its world is. When its node dies, or no longer has the world,
    it looks for the next one for `follow_s` seconds, and raises ConnectionEnded when there is none.
    Its views continue, and each command is carried out once. 0 turns this off; without a cluster it
    has no effect. A client is on one node: a view whose world goes to another one, while other views stay,
    raises ViewEnded, with the address for another client.

    Without a token, FOGMARCH_TOKEN gives it. `ssl` turns on TLS: an ssl.SSLContext, or True for one of
    the client's own. `ca_file` names certificates in PEM to trust instead of the system's;
    FOGMARCH_TLS_CA in the environment does the same. Raises OSError when no server answers or its
    certificate is not trusted, and RequestError when the server refuses, such as with the status
    "denied" for a wrong token.
    """
    client = Client(addresses_of(address), follow_s, tls_context(ssl, ca_file),
                    hello_of(name, token, resume), timeout_s)
    await client._connect()
    return client
