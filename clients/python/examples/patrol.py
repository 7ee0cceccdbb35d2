#!/usr/bin/env python3
"""A bot that patrols: its agents go round some waypoints. Those that see an agent of another team
follow it until it is out of sight, then continue their round.

    patrol.py X,Y X,Y ... [--connect ADDRESS:PORT] [--world N] [--team N] [--ticks N]
"""

import argparse
import asyncio
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import fogmarch  # noqa: E402

ALARM = 8  # cells from which a stranger is worth following


def nearest(agent: fogmarch.Agent, others: list[fogmarch.Agent]) -> fogmarch.Agent | None:
    """The nearest of the others, when it is near enough."""
    def distance(other: fogmarch.Agent) -> int:
        return max(abs(other.x - agent.x), abs(other.y - agent.y))

    close = [other for other in others if distance(other) <= ALARM]
    return min(close, key=distance, default=None)


async def patrol(address: str, world: int, team: int, ticks: int, waypoints: list[int]) -> int:
    """Returns how many strangers were followed."""
    chases = 0
    async with await fogmarch.connect(address, name="patrol.py") as client:
        if client.welcome["role"] == "player":
            world, team = client.welcome["world"], client.welcome["team"]

        async def walk(agents: list[int]) -> None:
            if agents:
                await client.agent_order(world=world, agents=agents, kind="patrol", goals=waypoints,
                                         loop=True)

        view = await client.view(world, team)
        end = view.mirror.tick + ticks
        await walk([agent.id for agent in view.mirror.of_team(team)])
        chased: dict[int, int] = {}  # by agent: whom it follows
        while (mirror := await view.next()) is not None and mirror.tick < end:
            strangers = [agent for agent in mirror.agents.values() if agent.team != team]
            back = [agent for agent, target in chased.items() if target not in mirror.agents]
            for agent_id in back:
                del chased[agent_id]
            await walk([agent_id for agent_id in back if agent_id in mirror.agents])
            for agent in mirror.of_team(team):
                target = None if agent.id in chased else nearest(agent, strangers)
                if target is not None:
                    chased[agent.id] = target.id
                    chases += 1
                    await client.agent_order(world=world, agents=[agent.id], kind="follow",
                                             target=target.id)
    return chases


def main() -> None:
    parser = argparse.ArgumentParser(description="Patrols with the agents of a team.")
    parser.add_argument("waypoints", nargs="+", metavar="X,Y")
    parser.add_argument("--connect", metavar="ADDRESS:PORT",
                        default=os.environ.get("FOGMARCH_CONNECT", "127.0.0.1:7421"))
    parser.add_argument("--world", type=int, default=1)
    parser.add_argument("--team", type=int, default=1)
    parser.add_argument("--ticks", type=int, default=1000)
    options = parser.parse_args()
    print(f"team {options.team} patrols for {options.ticks} ticks; Ctrl-C ends it", file=sys.stderr)
    waypoints = [int(part) for point in options.waypoints for part in point.split(",")]
    chases = asyncio.run(patrol(options.connect, options.world, options.team, options.ticks,
                                waypoints))
    print(f"{chases} strangers were followed")


if __name__ == "__main__":
    try:
        main()
    except (OSError, fogmarch.ConnectionEnded, fogmarch.RequestError) as error:
        sys.exit(f"patrol.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
