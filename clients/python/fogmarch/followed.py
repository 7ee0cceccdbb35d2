"""What both clients keep of a view that they follow: its mirror, and where it continues on another connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, cast

from .link import ConnectionEnded, RequestError, ViewEnded
from .mirror import Mirror

# Answers to subscribe and world.locate after which the world may still come.
NOT_HERE = frozenset({"moved", "not_ready", "no_world"})
# Answers to subscribe after which the same node is asked again.
FOR_NOW = frozenset({"busy", "going_down"})
QUEUE_MAX = 1000  # messages of a view that the program does not read; then the view ends
OTHERS_MAX = 1000  # notifications of no view; then the oldest are forgotten
NOT_READ = f"the program has not read {QUEUE_MAX} messages of the view"
NOT_SHOWN = "the server sent a keyframe or a delta that is none"


def moved_text(world: int, place: Mapping[str, Any]) -> str:
    """Why a view ends whose world another node has."""
    where = f"at {place['tcp']}" if place.get("tcp") else "and not known yet where"
    return f"world {world} is on another node now, {where}"


class FollowedView:
    """`view`: the parameters of subscribe without the place to resume from; `rect`: the rectangle, if known already."""

    def __init__(self, view: dict[str, Any], rect: list[int] | None) -> None:
        self.number = self.stream = 0
        self.mirror = Mirror()
        self._view = view
        self._tick = 0  # of the last message received; the mirror may be older
        self._rect = rect

    @property
    def world(self) -> int:
        """The number of its world."""
        return cast(int, self._view["world"])

    def _place(self) -> dict[str, Any]:
        """Parameters of subscribe that resume the view."""
        if self._rect is None:
            return {}
        return {"rect": self._rect, "stream": self.stream, "since": self._tick}

    def _take(self, name: str, params: dict[str, Any]) -> None:
        raise NotImplementedError

    def _end(self, reason: str, address: str = "") -> None:
        """The view is over, but the connection is not."""
        self._take("end", {"reason": reason, "address": address})

    def _leave(self, place: Mapping[str, Any]) -> None:
        """Another node has the world, and the client stays."""
        self._end(moved_text(self.world, place), place.get("tcp") or "")

    def _not_found(self, after_s: float, refusal: RequestError | None) -> None:
        """Its world was not found, or is on a node that has refused it all the time."""
        self._end(str(refusal or f"the node of world {self.world} was not found in {after_s} s"))

    def _refuse(self, error: RequestError) -> None:
        """It cannot be subscribed to again."""
        if error.status == "moved":
            self._leave(error.sent)
        else:
            self._end(str(error))

    def _apply(self, name: str, params: dict[str, Any]) -> bool:
        """Applies a keyframe or a delta. False: it is none."""
        try:
            self.mirror.apply(name, params)
            return True
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError):
            return False

    def _raise(self, params: Mapping[str, Any]) -> NoReturn:
        """The view is over: why."""
        if "address" in params:
            raise ViewEnded(params["reason"], params["address"])
        raise ConnectionEnded(params["reason"])

    def _note(self, params: dict[str, Any]) -> None:
        self._tick = params.get("tick", self._tick)
        self._rect = params.get("rect", self._rect)
