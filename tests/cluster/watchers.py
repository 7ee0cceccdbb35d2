"""Programs that watch worlds, one for each client library (watch_*, Watch.cs), and what they say, a line of JSON for each
thing: what a view shows, why one ends, why the client is closed."""

import asyncio
import json
import os
import tempfile

from fogmarch_server import PATIENCE
from libraries import invocation, programs

FOLDER = tempfile.TemporaryDirectory(prefix="fogmarch-watchers-")
KINDS = programs("watch", FOLDER.name, c=os.environ["WATCH_C"])


class Watcher:
    """A watcher's process, and what it has said."""

    def __init__(self, kind):
        self.kind, self.said, self.news = kind, [], asyncio.Event()

    async def start(self, address, worlds, option):
        arguments = [address, ",".join(map(str, worlds)), option or "none"]
        command, environment = invocation(self.kind, KINDS[self.kind], arguments, FOLDER.name)
        self.process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=environment,
                                                            limit=1 << 20)
        self.reading = asyncio.create_task(self.read())
        return self

    async def read(self):
        async for line in self.process.stdout:
            if line.startswith(b"{"):
                self.said.append(json.loads(line))
            elif line.strip():
                self.said.append({"text": line.decode()})  # Godot greets
            self.news.set()

    async def until(self, holds, what):
        """Waits until something that was said holds; returns it."""
        at = 0
        async with asyncio.timeout(PATIENCE):
            try:
                while True:
                    self.news.clear()
                    while at < len(self.said):
                        at += 1
                        if holds(self.said[at - 1]):
                            return self.said[at - 1]
                    assert not self.reading.done(), "it has ended"
                    await self.news.wait()
            except (TimeoutError, asyncio.CancelledError, AssertionError) as error:
                raise AssertionError(f"{self.kind}: no {what}; last: {self.said[-6:]}") from error

    async def shows(self, world, node, since):
        """Waits until a view shows its world at that node, later than a tick. Others' agents are never in it."""
        said = await self.until(lambda one: one.get("view") == world and one.get("tick", 0) > since
                                and one["node"] == node.address, f"view of {world} at {node.name} after {since}")
        assert all(one["agents"] == [10 * one["view"] + 1] for one in self.said if "agents" in one), self.kind
        return said

    async def ends(self, world, node=None, why="ended"):
        """Waits for the end of a view; its reason names the node's address, if there is one."""
        said = await self.until(lambda one: one.get("view") == world and "ended" in one, f"end of the view of {world}")
        assert (said["at"] or "") == (node.address if node else ""), (self.kind, said)
        assert (node.address if node else why) in said["ended"], (self.kind, said)

    def lives_with(self, *worlds):
        """None of these views has ended, and the client is not closed."""
        over = [one for one in self.said if "closed" in one or ("ended" in one and one["view"] in worlds)]
        assert not over, (self.kind, over)

    async def close(self):
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await self.reading


async def each(watchers, does):
    """The same for each watcher, at once."""
    done = await asyncio.gather(*(does(watcher) for watcher in watchers), return_exceptions=True)
    failed = [error for error in done if isinstance(error, BaseException)]
    assert not failed, "\n".join(map(repr, failed))
