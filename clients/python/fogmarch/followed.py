"""What both clients keep of a view that they follow: its mirror, and where it continues on another connection."""

from __future__ import annotations

from typing import Any, cast

from .mirror import Mirror


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

    def _note(self, params: dict[str, Any]) -> None:
        self._tick = params.get("tick", self._tick)
        self._rect = params.get("rect", self._rect)
