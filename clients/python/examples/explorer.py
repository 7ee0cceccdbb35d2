#!/usr/bin/env python3
"""A bot that explores: sends every idle agent of its team to the nearest edge of the known map, by
straight-line distance, and spreads them. (The order `explore` leaves that to the server; this shows
how a bot decides for itself.)

    explorer.py [--connect ADDRESS:PORT] [--world N] [--team N] [--ticks N]
"""

import argparse
import asyncio
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import fogmarch  # noqa: E402

SPACING = 6  # cells between the goals of two agents


def edges(mirror: fogmarch.Mirror) -> list[tuple[int, int]]:
    """Known ground beside unknown cells."""
    left, top, width, height = mirror.rect
    found = []
    for y in range(top, top + height):
        for x in range(left, left + width):
            if mirror.terrain(x, y) != "ground":
                continue
            for nx, ny in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                inside = left <= nx < left + width and top <= ny < top + height
                if inside and mirror.look(nx, ny) == fogmarch.UNKNOWN:
                    found.append((x, y))
                    break
    return found


def choose(agents: list[fogmarch.Agent], cells: list[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """A goal for each agent: the nearest edge that is not near another goal."""
    goals: dict[int, tuple[int, int]] = {}
    for agent in agents:
        free = [cell for cell in cells
                if all(max(abs(cell[0] - goal[0]), abs(cell[1] - goal[1])) >= SPACING
                       for goal in goals.values())]
        if free:
            goals[agent.id] = min(free, key=lambda cell: max(abs(cell[0] - agent.x),
                                                             abs(cell[1] - agent.y)))
    return goals


async def explore(address: str, world: int, team: int, ticks: int) -> int:
    """Returns how many cells the team knows in the end."""
    async with await fogmarch.connect(address, name="explorer.py") as client:
        if client.welcome["role"] == "player":
            world, team = client.welcome["world"], client.welcome["team"]
        view = await client.view(world, team)
        end = view.mirror.tick + ticks
        idle = {agent.id for agent in view.mirror.of_team(team)}
        while True:
            waiting = [agent for agent in view.mirror.of_team(team) if agent.id in idle]
            goals = choose(waiting, edges(view.mirror)) if waiting else {}
            if goals:
                await client.agent_order(world=world, agents=list(goals), kind="move",
                                         goals=[part for goal in goals.values() for part in goal])
                idle -= goals.keys()
            mirror = await view.next()
            if mirror is None or mirror.tick >= end:
                break
            idle |= {ended.agent for ended in mirror.ended}
            if len(idle) == len(mirror.of_team(team)) and not edges(mirror):
                break  # nothing is left to see
        return view.mirror.known


def main() -> None:
    parser = argparse.ArgumentParser(description="Explores a world with the agents of a team.")
    parser.add_argument("--connect", metavar="ADDRESS:PORT",
                        default=os.environ.get("FOGMARCH_CONNECT", "127.0.0.1:7421"))
    parser.add_argument("--world", type=int, default=1)
    parser.add_argument("--team", type=int, default=1)
    parser.add_argument("--ticks", type=int, default=1000)
    options = parser.parse_args()
    print(f"team {options.team} explores for {options.ticks} ticks; Ctrl-C ends it", file=sys.stderr)
    known = asyncio.run(explore(options.connect, options.world, options.team, options.ticks))
    print(f"{known} cells are known")


if __name__ == "__main__":
    try:
        main()
    except (OSError, fogmarch.ConnectionEnded, fogmarch.RequestError) as error:
        sys.exit(f"explorer.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
