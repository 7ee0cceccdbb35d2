"""What a view shows, kept up to date by its keyframes and deltas. See proto/PROTOCOL.md, Views."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .methods import AGENT_STATES, ORDER_ENDS, TERRAINS

UNKNOWN = 0
GROUND = TERRAINS.index("ground")

# Directions of dense deltas: east, south-east and so on, clockwise.
_COLUMNS = (1, 1, 0, -1, -1, -1, 0, 1)
_ROWS = (0, 1, 1, 1, 0, -1, -1, -1)


# The types of what is in keyframes and deltas; other entries are not read.
ENTRIES = {"tick": int, "untold": bool, "tags": bytes, "steps": bytes, "runs": bytes, "sight": bytes}
ENTRIES |= dict.fromkeys(("rect", "cells", "agents", "buildings", "classes", "tagged", "motion", "visible", "moved", "enter",
                          "leave", "ended", "alerts", "died"), list)
CELLS_MAX = 1 << 24  # of a view


def _checked(rect: Sequence[int]) -> tuple[int, int, int, int]:
    """The rectangle of a view. Raises ValueError."""
    x, y, width, height = rect
    if not (min(rect) >= 0 and 0 < width * height <= CELLS_MAX):
        raise ValueError("a rectangle without cells, or with too many")
    return x, y, width, height


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A LEB128 number, and where it ends."""
    number = shift = 0
    while data[at] >= 0x80:
        number |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
    return number | data[at] << shift, at + 1


@dataclass(slots=True)
class Agent:
    """An agent in view."""

    id: int
    team: int
    x: int
    y: int
    state: str
    movement_class: int = 0  # its place in world.info's rules.classes
    tag: bytes = b""  # what the game has attached to it, if the view may see that
    # In a view with motion:
    heading: int | None = None  # of its last step: 0 east, 1 south-east and so on; None: unknown
    speed: float = 0.0  # of its last step, in cells a tick; 0: unknown
    waypoints: tuple[tuple[float, float], ...] = ()  # of own agents: where the middle goes next


@dataclass(slots=True)
class Building:
    """A building that the view believes in."""

    number: int
    team: int
    x: int
    y: int
    width: int
    height: int


@dataclass(slots=True)
class Ended:
    """An order that ended: its id, its agent, why (one of ORDER_ENDS, or the number of a newer server's), and where
    the agent stood."""

    order: int
    agent: int
    reason: str
    x: int
    y: int


@dataclass(slots=True)
class Alert:
    """A unit that stopped for an enemy: its order, its id, the enemy's (0: out of sight again), and
    where the enemy stood."""

    order: int
    agent: int
    enemy: int
    x: int
    y: int


class Mirror:
    """`agents` by id; `ended`, `left`, `alerts` and `died` (own agents that others carried) are those of
    the last message alone; a keyframe, after a gap, tells only who has left. `untold`: that gap had more ends of orders
    or alerts than the server keeps for a view. Those that it kept come in the next message, the others never;
    agent_report() tells which orders units still have."""

    def __init__(self) -> None:
        self._places: dict[int, Agent] = {}  # by the low 32 bits of the id
        self.tick = 0
        self.rect: tuple[int, int, int, int] = (0, 0, 0, 0)
        self.agents: dict[int, Agent] = {}
        self.buildings: dict[int, Building] = {}
        self.ended: list[Ended] = []
        self.alerts: list[Alert] = []
        self.left: list[int] = []
        self.died: list[int] = []
        self.untold = False
        self._looks = array("H")
        self._visible: bytearray | None = None  # None: subscribed without `sight`

    def look(self, x: int, y: int) -> int:
        """The look of a cell: terrain and cost; 0: unknown, or outside the view."""
        left, top, width, height = self.rect
        if not (left <= x < left + width and top <= y < top + height):
            return UNKNOWN
        return self._looks[(y - top) * width + (x - left)]

    def sees(self, x: int, y: int) -> bool:
        """Whether the team sees a cell now; of a view without `sight`, whether it is known."""
        left, top, width, height = self.rect
        if not (left <= x < left + width and top <= y < top + height):
            return False
        cells = self._looks if self._visible is None else self._visible
        return cells[(y - top) * width + (x - left)] != 0

    def fog(self, x: int, y: int) -> Literal["hidden", "explored", "visible"]:
        """Whether a cell was never seen, was seen once, or is seen now; the last only of a view with `sight`."""
        if self._visible is not None and self.sees(x, y):
            return "visible"  # its look comes with the next tick
        return "hidden" if self.look(x, y) == UNKNOWN else "explored"

    def terrain(self, x: int, y: int) -> str:
        """The name of a cell's terrain, or "unknown"."""
        return TERRAINS[self.look(x, y) & 15]

    def cost(self, x: int, y: int) -> int:
        """How many times the cost of open floor a known cell has."""
        return (self.look(x, y) >> 4) + 1

    @property
    def known(self) -> int:
        """Cells that are known."""
        return len(self._looks) - self._looks.count(UNKNOWN)

    def of_team(self, team: int) -> list[Agent]:
        """Its agents in view, by id."""
        return [self.agents[number] for number in sorted(self.agents)
                if self.agents[number].team == team]

    def apply(self, name: str, message: dict[str, Any]) -> None:
        """Applies a keyframe or a delta. Raises an Exception of any kind where the message is none."""
        for key, value in message.items():
            wanted = ENTRIES.get(key)
            if wanted in (int, bool, bytes) and not isinstance(value, wanted):
                raise TypeError(f"{key} is something else than {wanted.__name__}")
            if wanted is list and not (isinstance(value, list) and all(type(number) is int for number in value)):
                raise TypeError(f"{key} is no list of numbers")
        self.tick = message["tick"]
        self.ended, self.left, self.alerts, self.died = [], [], [], []
        self.untold = name == "keyframe" and message.get("untold", False)
        if name == "keyframe":
            self._replace(message)
        else:
            self._change(message)

    def _replace(self, message: dict[str, Any]) -> None:
        self.rect = _checked(message["rect"])
        _, _, width, height = self.rect
        runs = message["cells"]
        if sum(runs[::2]) != width * height:
            raise ValueError("other cells than those of the rectangle")
        self._looks = array("H")
        for i in range(0, len(runs), 2):
            self._looks.extend(array("H", [runs[i + 1]]) * runs[i])
        before, self.agents, self._places = self.agents, {}, {}
        self._enter(message["agents"])
        self.left = [number for number in before if number not in self.agents]
        self._classify(message)
        self._tag(message)
        self._set_motion(message)
        self._build(message.get("buildings", ()))
        self._visible = None
        if "visible" in message:
            if sum(message["visible"]) != width * height:
                raise ValueError("other cells than those of the rectangle")
            self._visible = bytearray()
            for i, count in enumerate(message["visible"]):
                self._visible.extend(bytes((i & 1,)) * count)

    def _change(self, message: dict[str, Any]) -> None:
        leave = message.get("leave", ())
        for i in range(0, len(leave), 2):
            self.agents.pop(leave[i], None)
            self.left.append(leave[i])
            self._places.pop(leave[i] & 0xffffffff, None)
        if "rect" in message:
            self._move(message["rect"])
        self._enter(message.get("enter", ()))
        self._classify(message)
        self._tag(message)
        self._set_motion(message)
        if "buildings" in message:
            self._build(message["buildings"])
        if "steps" in message:
            self._step(message["steps"])
        moved = message.get("moved", ())
        for i in range(0, len(moved), 4):
            agent = self.agents.get(moved[i])
            if agent is not None:
                agent.x, agent.y = moved[i + 1], moved[i + 2]
                agent.state = AGENT_STATES[moved[i + 3]]
        left, top, width, _ = self.rect
        cells = message.get("cells", ())
        for i in range(0, len(cells), 4):
            x, y, count, look = cells[i:i + 4]
            at = (y - top) * width + (x - left)
            if not (x >= left and y >= top and x - left + count <= width and at + count <= len(self._looks)):
                raise ValueError("cells outside of the rectangle")
            self._looks[at:at + count] = array("H", [look]) * count
        if "runs" in message:
            self._fill(message["runs"])
        if self._visible is not None:
            self._see(self._visible, message)
        ended = message.get("ended", ())
        for i in range(0, len(ended), 5):
            order, agent_id, reason, x, y = ended[i:i + 5]
            why = ORDER_ENDS[reason] if reason < len(ORDER_ENDS) else str(reason)
            self.ended.append(Ended(order, agent_id, why, x, y))
        alerts = message.get("alerts", ())
        for i in range(0, len(alerts), 5):
            self.alerts.append(Alert(*alerts[i:i + 5]))
        self.died.extend(message.get("died", ()))

    def _step(self, steps: bytes) -> None:
        """The steps of a dense delta: see proto/PROTOCOL.md, Dense deltas."""
        places, states, at, place = self._places, AGENT_STATES, 0, 0
        while at < len(steps):
            head = steps[at]
            at += 1
            place += 1 + (head >> 5)
            if head >= 0xe0:
                gap, at = _number(steps, at)
                place += gap
            agent, direction = places[place], head & 15
            if direction < 8:
                agent.x += _COLUMNS[direction]
                agent.y += _ROWS[direction]
            elif direction == 9:
                agent.x, at = _number(steps, at)
                agent.y, at = _number(steps, at)
            if head & 16:
                agent.state = states[steps[at]]
                at += 1

    def _fill(self, runs: bytes) -> None:
        """The runs of a dense delta."""
        at = begin = look = 0
        while at < len(runs):
            gap, at = _number(runs, at)
            length, at = _number(runs, at)
            if not length & 1:
                look, at = _number(runs, at)
            begin += gap
            count = (length >> 1) + 1
            if begin + count > len(self._looks):
                raise ValueError("cells outside of the rectangle")
            self._looks[begin:begin + count] = array("H", [look]) * count
            begin += count

    def _see(self, visible: bytearray, message: dict[str, Any]) -> None:
        left, top, width, height = self.rect
        if "rect" in message:
            visible = self._visible = bytearray(width * height)
        runs = message.get("visible", ())
        for i in range(0, len(runs), 4):
            x, y, count, value = runs[i:i + 4]
            at = (y - top) * width + (x - left)
            if not (x >= left and y >= top and at + count <= len(visible)):
                raise ValueError("cells outside of the rectangle")
            visible[at:at + count] = bytes((value,)) * count
        if "sight" in message:
            self._visible = self._marks(message["sight"], visible)

    def _marks(self, sight: bytes, visible: bytearray) -> bytearray:
        """What is visible after a dense delta, whose bytes mark edges between rows."""
        width, height = self.rect[2:]
        marks = bytearray(width * height)
        at, begin = 1, 0
        while at < len(sight):
            gap, at = _number(sight, at)
            length, at = _number(sight, at)
            begin += gap
            if begin + length >= len(marks):
                raise ValueError("cells outside of the rectangle")
            marks[begin:begin + length + 1] = b"\1" * (length + 1)
            begin += length + 1
        above = 0
        for row in range(0, width * height, width):
            above ^= int.from_bytes(marks[row:row + width], "little")
            marks[row:row + width] = above.to_bytes(width, "little")
        if sight[0] == 1:
            flipped = int.from_bytes(marks, "little") ^ int.from_bytes(visible, "little")
            marks = bytearray(flipped.to_bytes(width * height, "little"))
        return marks

    def _move(self, rect: Sequence[int]) -> None:
        """The view has moved: cells that it did not show before are unknown."""
        left, top, width, height = self.rect
        x, y, new_width, new_height = _checked(rect)
        looks = array("H", [UNKNOWN]) * (new_width * new_height)
        first, end = max(x, left), min(x + new_width, left + width)
        for row in range(max(y, top), min(y + new_height, top + height)):
            if first < end:
                at, to = (row - top) * width, (row - y) * new_width
                looks[to + first - x:to + end - x] = \
                    self._looks[at + first - left:at + end - left]
        self._looks = looks
        self.rect = (x, y, new_width, new_height)

    def _enter(self, numbers: Sequence[int]) -> None:
        for i in range(0, len(numbers), 5):
            number, team, x, y, state = numbers[i:i + 5]
            agent = Agent(number, team, x, y, AGENT_STATES[state])
            self.agents[number] = self._places[number & 0xffffffff] = agent

    def _classify(self, message: dict[str, Any]) -> None:
        classes = message.get("classes", ())
        for i in range(0, len(classes), 2):
            self.agents[classes[i]].movement_class = classes[i + 1]

    def _tag(self, message: dict[str, Any]) -> None:
        numbers, tags, at = message.get("tagged", ()), message.get("tags", b""), 0
        for i in range(0, len(numbers), 2):
            self.agents[numbers[i]].tag = tags[at:at + numbers[i + 1]]
            at += numbers[i + 1]

    def _set_motion(self, message: dict[str, Any]) -> None:
        numbers, at = message.get("motion", ()), 0
        while at < len(numbers):
            number, heading, speed, count = numbers[at:at + 4]
            points = numbers[at + 4:at + 4 + 2 * count]
            at += 4 + 2 * count
            agent = self.agents[number]
            agent.heading = heading if heading < len(_COLUMNS) else None
            agent.speed = speed / 1000
            agent.waypoints = tuple(zip([x / 2 for x in points[::2]], [y / 2 for y in points[1::2]]))

    def _build(self, numbers: Sequence[int]) -> None:
        self.buildings = {numbers[i]: Building(*numbers[i:i + 6])
                          for i in range(0, len(numbers), 6)}
