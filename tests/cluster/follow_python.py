"""A follower in Python: see cluster_follow.py.  follow_python.py plain|asyncio ADDRESS WORLD AGENT"""

import asyncio
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python"))
import fogmarch  # noqa: E402

KIND, ADDRESS, WORLD, AGENT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
BEFORE, AFTER = 5, 10  # orders


def tell(**said):
    print(json.dumps(said), flush=True)


class Moves:
    """Counts a client's changes of node: redirected, after its world's move, after its node died."""

    def __init__(self, client):
        self.client, self.address, self.count = client, client.address, 0

    def look(self):
        """Notices that its node has died. Returns whether it has."""
        if self.client.address != self.address:
            self.address, self.count = self.client.address, self.count + 1
            if self.count == 1:
                tell(moved=True)
        return self.count >= 2


def goal(number):
    return [number % 60, number * 7 % 60]


def said_of(answers, client, view):
    agent = view.agents[AGENT]
    return dict(answers=answers, address=client.address, tick=view.tick, cell=[agent.x, agent.y])


def plain():
    with fogmarch.connect_plain(ADDRESS, name="follow-plain") as client:
        mirror, view, answers, left = None, client.view(WORLD), 0, AFTER
        moves = Moves(client)
        while left > 0:
            client.agent_order(world=WORLD, agents=[AGENT], kind="move", goal=goal(answers))
            answers += 1
            mirror = view.next()
            if answers == BEFORE:
                tell(ready=True)
            left -= moves.look()
        tell(done=True)
        paused_at = int(sys.stdin.readline())
        while mirror.tick < paused_at:
            mirror = view.next()
        tell(**said_of(answers, client, mirror))


async def with_asyncio():
    async with await fogmarch.connect(ADDRESS, name="follow-asyncio") as client:
        view, answers, left = await client.view(WORLD), 0, AFTER
        moves = Moves(client)

        async def follow_view():
            while await view.next():
                pass

        following = asyncio.create_task(follow_view())
        while left > 0:
            # Two under way at once: both must be sent again.
            await asyncio.gather(*(client.agent_order(world=WORLD, agents=[AGENT], kind="move",
                                                      goal=goal(answers + i)) for i in range(2)))
            answers += 2
            if answers == 2 * BEFORE:
                tell(ready=True)
            left -= moves.look()
        tell(done=True)
        paused_at = int(await asyncio.to_thread(sys.stdin.readline))
        while view.mirror.tick < paused_at:
            assert not following.done(), following
            await asyncio.sleep(0.01)
        following.cancel()
        tell(**said_of(answers, client, view.mirror))


if KIND == "plain":
    plain()
else:
    asyncio.run(with_asyncio())
