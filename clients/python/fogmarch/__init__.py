"""fogmarch for Python: an asyncio client, and a mirror of what a view shows.

    import asyncio
    import fogmarch

    async def main():
        async with await fogmarch.connect("127.0.0.1:7421") as client:
            view = await client.view(world=1, team=1)
            agents = [agent.id for agent in view.mirror.of_team(1)]
            await client.agent_order(world=1, agents=agents, kind="move", goal=[40, 7])
            async for mirror in view:
                print(mirror.tick, mirror.agents[agents[0]])

    asyncio.run(main())

Every method of the protocol is a coroutine of Client: agent.order is agent_order. Without asyncio:

    with fogmarch.connect_plain("127.0.0.1:7421") as client:
        for mirror in client.view(world=1, team=1):
            print(mirror.tick, len(mirror.agents))

It needs Python 3.11 and msgpack (Debian: python3-msgpack).
"""

from .client import Client, Subscription, connect
from .link import ConnectionEnded, RequestError, ViewEnded
from .methods import AGENT_STATES, ORDER_ENDS, ORDER_KINDS, PLANNERS, PROTOCOL, ROLES, TERRAINS
from .mirror import GROUND, UNKNOWN, Agent, Alert, Building, Ended, Mirror
from .plain import PlainClient, PlainView, connect_plain

__all__ = [
    "AGENT_STATES", "Agent", "Alert", "Building", "Client", "ConnectionEnded", "Ended", "GROUND", "Mirror",
    "ORDER_ENDS", "ORDER_KINDS", "PLANNERS", "PROTOCOL", "PlainClient", "PlainView", "ROLES",
    "RequestError", "Subscription", "TERRAINS", "UNKNOWN", "ViewEnded", "connect", "connect_plain",
]
