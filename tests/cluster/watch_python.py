"""Watches worlds, in Python: see cluster_views.py.  watch_python.py plain|asyncio ADDRESS WORLDS OPTION"""

import asyncio
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python"))
import fogmarch  # noqa: E402

KIND, ADDRESS, OPTION = sys.argv[1], sys.argv[2], sys.argv[4]
WORLDS = [int(world) for world in sys.argv[3].split(",")]
RECT = [4, 4, 8, 8] if OPTION == "rect" else None
TIMES = {"timeout_s": 1.5, "follow_s": 4} if OPTION in ("brief", "never") else {}
PATIENCE_S = 0.05  # for one view of two


def tell(**said):
    print(json.dumps(said), flush=True)


def tell_change(client, view):
    if view.mirror.untold:
        tell(untold=view.world)
    tell(view=view.world, tick=view.mirror.tick, agents=sorted(view.mirror.agents), node=client.address)


def tell_end(client, view, error):
    if isinstance(error, fogmarch.ViewEnded):
        tell(view=view.world, ended=str(error), at=error.address)
        return
    tell(closed=str(error))
    sys.exit()


def plain():
    is_tidy = OPTION != "late"
    with fogmarch.connect_plain(ADDRESS, **TIMES) as client:
        try:
            views = [client.view(world, rect=RECT) for world in WORLDS]
        except fogmarch.ViewEnded as error:
            tell(view=WORLDS[0], ended=str(error), at=error.address)
            views = []
        if OPTION == "drop":
            views.pop(0).end()
            tell(dropped=True)
        first = views[0] if views else None
        if OPTION in ("call", "brief"):
            try:
                client.call("world.info", {"world": WORLDS[0]})
                tell(called=True)
            except TimeoutError as error:
                tell(late=str(error))
        while views:
            if not is_tidy and client.address != ADDRESS and first not in views:
                is_tidy = True
                try:
                    client.call("unsubscribe", {"subscription": first.number})
                    tell(tidied=True)
                except fogmarch.RequestError:
                    tell(tidied=False)
            for view in list(views):
                try:
                    if view.next(PATIENCE_S):
                        tell_change(client, view)
                    else:
                        views.remove(view)
                        tell(view=view.world, ended="the world has ended", at="")
                except TimeoutError:
                    pass
                except fogmarch.ConnectionEnded as error:
                    views.remove(view)
                    tell_end(client, view, error)


async def watch(client, view):
    try:
        async for _ in view:
            tell_change(client, view)
        tell(view=view.world, ended="the world has ended", at="")
    except fogmarch.ConnectionEnded as error:
        tell_end(client, view, error)


async def tidy(client, view):
    """The program tidies up late: the view is over, and the client is on another node."""
    while client.address == ADDRESS:
        await asyncio.sleep(PATIENCE_S)
    try:
        await client.call("unsubscribe", {"subscription": view.number})
        tell(tidied=True)
    except fogmarch.RequestError:
        tell(tidied=False)


async def call(client):
    try:
        await client.call("world.info", {"world": WORLDS[0]})
        tell(called=True)
    except TimeoutError as error:
        tell(late=str(error))


async def with_asyncio():
    async with await fogmarch.connect(ADDRESS, **TIMES) as client:
        if OPTION == "cancel":
            try:
                await asyncio.wait_for(client.view(WORLDS[0]), 0.2)
            except TimeoutError:
                pass
        try:
            views = [await client.view(world, rect=RECT) for world in WORLDS]
        except fogmarch.ViewEnded as error:
            tell(view=WORLDS[0], ended=str(error), at=error.address)
            views = []
        if OPTION == "drop":
            await views.pop(0).end()
            tell(dropped=True)
        await asyncio.gather(*(watch(client, view) for view in views),
                             *([tidy(client, views[0])] if OPTION == "late" else []),
                             *([call(client)] if OPTION in ("call", "brief") else []))


try:
    if KIND == "plain":
        plain()
    else:
        asyncio.run(with_asyncio())
except (OSError, ValueError, fogmarch.ConnectionEnded, fogmarch.RequestError) as error:  # TimeoutError is an OSError
    tell(closed=f"{type(error).__name__}: {error}")
