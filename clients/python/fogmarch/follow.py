"""What a client knows of its cluster, and when it looks for another node.

A client is on one node at a time. It goes to another one when its connection ends, when the node is
silent, when a call is answered `moved`, and when a world that it views ends here but continues
elsewhere; but not away from the world of another view (clients/README.md, Views of several worlds). It
asks the nodes it knows, the best guess first, where the world is (world.locate), repeatedly for
`follow_s` seconds with growing pauses. On the new node it subscribes to its views again and sends calls
without an answer again; commands have a command_id, so that each is carried out once.
"""

from __future__ import annotations

import os
import random
import ssl as tls
import time
from collections.abc import Iterator, Mapping
from typing import Any

from .methods import COMMANDS

FOLLOW_S = 30.0
PAUSE_FIRST_S, PAUSE_LAST_S = 0.05, 1.0
NODE_PATIENCE_S = 2.0  # for one node to answer, during a search
QUIET_S = 1.0  # after so long without a message from its node, a client asks whether it is there
SILENT = "the node is silent"
LARGE_REQUEST = 1 << 16  # bytes; a larger one may take long to send
SLOW_LINE = 64000.0  # bytes a second that a line carries at least
LATE_S = 0.25
NODES_MAX = 64
GONE_S = 3.0  # for how long all nodes must deny the world: a new node knows of none yet
FIRST_S = 5.0  # so long only the oldest view's world is looked for, then those of the others as well

# Sent again without a command_id, these might be done twice, or name something that only one node has.
ONCE = frozenset({"map.upload", "replay.close", "replay.open", "replay.pause", "replay.play",
                  "replay.seek", "save.download", "token.create", "token.revoke", "world.create",
                  "world.destroy", "world.load", "world.save", "world.step"})


def no_server(addresses: list[str], error: Exception) -> Exception:
    """Why none of these has answered: an exception of the kind of `error`, that of the last, which names them."""
    if isinstance(error, tls.SSLError) or (len(addresses) == 1 and not isinstance(error, OSError)):
        return error  # about that server's certificate, or what it has said
    number = error.errno if isinstance(error, OSError) else None
    why = os.strerror(number) if number and isinstance(error, ConnectionError) else str(error) or "no answer in time"
    last = "; the last" if len(addresses) > 1 else ""
    text = f"no server answers at {', '.join(addresses)}{last}: {why}"
    if isinstance(error, TimeoutError) or not isinstance(error, OSError):
        return type(error)(text)
    return OSError(number, text) if number and number > 0 else OSError(text)


class Silence:
    """Whether a node is still there: one that is frozen, or without power, does not disconnect."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._sent_by = 0.0  # when large requests have been sent, on a slow line
        self.asked = False  # and nothing came since

    def heard(self) -> None:
        """Something came."""
        self._since, self.asked = time.monotonic(), False

    def sends(self, size: int) -> None:
        """A request goes out. Behind a large one the ping waits."""
        if size > LARGE_REQUEST:
            now = time.monotonic()
            self._sent_by = max(self._sent_by, now) + size / SLOW_LINE

    @property
    def left_s(self) -> float:
        """Seconds until due() has something to do, if nothing comes; 0 or less: now."""
        patience = NODE_PATIENCE_S if self.asked else QUIET_S
        return max(self._since, self._sent_by) + patience - time.monotonic()

    def due(self) -> str:
        """What to do: "ask" with a ping, "" nothing yet, or the node counts as "gone"."""
        if self.left_s > 0:
            return ""
        if self.left_s < -LATE_S and self.asked:  # this program stood still: read first
            self._since = time.monotonic()
            return ""
        if self.asked:
            return "gone"
        self._since, self.asked = time.monotonic(), True
        return "ask"


class Follow:
    """The nodes of a cluster, and the ids of commands."""

    def __init__(self, addresses: list[str], follow_s: float) -> None:
        self.nodes = list(addresses)  # the best guess first
        self.follow_s = follow_s
        self.refused: set[str] = set()  # nodes that refused hello for good; each is asked once in a search
        self.is_on = False  # the server is a node of a cluster
        self.ticket: str | None = None  # for the node where the world is
        self._silent: str | None = None  # the node that the client has left because it was silent
        self._silent_until = 0.0  # when to ask it as well
        self._guess: str | None = None  # the address of that node
        self._left: str | None = None  # the node that the client left last because of a `moved`
        self._left_at = self._left_pause = 0.0  # when; after which pause
        self._command = random.randrange(1, 1 << 51)

    def settle(self, address: str, welcome: Mapping[str, Any]) -> None:
        """The client is on a node, whose hello names the others."""
        self.is_on = self.follow_s > 0 and bool(welcome.get("node"))
        self.ticket = self._guess = self._silent = None
        known = [address, *(seed["tcp"] for seed in welcome.get("seeds", ())), *self.nodes]
        self.nodes = list(dict.fromkeys(known))[:NODES_MAX]

    def note_place(self, place: Mapping[str, Any]) -> None:
        """`moved` has said where a world is, and how to be let in there."""
        self._guess = place.get("tcp") or None
        self.ticket = place.get("ticket") or None

    def pause_before_s(self, address: str) -> float:
        """A node has said `moved`. Where it does so again and again, and has the world as others say: how long to
        wait before the next search. Otherwise 0."""
        now = time.monotonic()
        if address != self._left or now - self._left_at > GONE_S:
            self._left_pause = 0.0
        else:
            self._left_pause = min(max(2 * self._left_pause, PAUSE_FIRST_S), PAUSE_LAST_S)
        self._left, self._left_at = address, now + self._left_pause
        return self._left_pause

    def note_hello(self, address: str, error: BaseException) -> None:
        """A node did not answer hello well."""
        if getattr(error, "status", None) in ("denied", "bad_value"):
            self.refused.add(address)

    def note_silence(self, address: str) -> None:
        """A node is silent. The others will soon say who has its worlds; it is asked last, and later."""
        self._silent, self._silent_until = address, time.monotonic() + NODE_PATIENCE_S

    def greeting(self, hello: Mapping[str, Any]) -> dict[str, Any]:
        """What to say to a node."""
        return {**hello, "ticket": self.ticket} if self.ticket else dict(hello)

    def prepare(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """Gives a command its id, unless it has one."""
        if self.is_on and method in COMMANDS and "command_id" not in given:
            self._command += 1
            return {**given, "command_id": self._command}
        return given

    def search(self, worlds: list[int]) -> Search:
        """Begins to look for a node of the first of these worlds; if it is not found, of another. None: any node."""
        self.refused.clear()
        return Search(self, list(dict.fromkeys(worlds)))

    def checked(self, address: str) -> str:
        """The address, unless that node has refused hello, or is silent. Raises OSError."""
        if address in self.refused:
            raise OSError(f"{address} has the world, and refused this client")
        if address == self._silent and time.monotonic() < self._silent_until:
            raise OSError(f"{address} has the world, and is silent")
        return address

    def candidates(self) -> list[str]:
        """Nodes to ask, the best guess first."""
        known = [self._guess, *self.nodes] if self._guess else self.nodes
        nodes = [address for address in dict.fromkeys(known) if address not in self.refused]
        if self._silent in nodes and len(nodes) > 1:
            nodes.remove(self._silent)
            nodes += [self._silent] if time.monotonic() >= self._silent_until else []
        return nodes


class Search:
    """One search: which node to ask next, and when to give up."""

    def __init__(self, follow: Follow, worlds: list[int]) -> None:
        self._follow = follow
        self._worlds = worlds
        self._begun = time.monotonic()
        self.reason = "no node is known"  # why the last node was not the right one
        self._gone_since: float | None = None

    def rounds(self) -> Iterator[float]:
        """Pauses in seconds, one after each round over all nodes; ends when it is time to give up."""
        pause = PAUSE_FIRST_S
        while (time.monotonic() - self._begun < self._follow.follow_s and self._follow.candidates()
               and not (self._is_gone and len(self._worlds) < 2)):
            yield pause * random.uniform(0.5, 1.0)
            pause = min(2 * pause, PAUSE_LAST_S)

    @property
    def worlds(self) -> list[int]:
        """Those to ask a node for, in this order."""
        is_first = time.monotonic() - self._begun < FIRST_S and not self._is_gone
        return self._worlds[:1] if is_first else self._worlds

    def failed(self, address: str, error: Exception) -> None:
        """A node was not the right one."""
        self.reason = f"{address}: {error or type(error).__name__}"
        if getattr(error, "status", None) != "no_world":
            self._gone_since = None
        elif self._gone_since is None:
            self._gone_since = time.monotonic()

    @property
    def _is_gone(self) -> bool:
        """Whether the nodes have said for long enough that there is no such world."""
        return self._gone_since is not None and time.monotonic() - self._gone_since > GONE_S

    def text(self, count: int) -> str:
        """Why the search was given up."""
        sought = f"the node of world {self._worlds[0]}" if self._worlds else "a node"
        return (f"{sought} was not found within {time.monotonic() - self._begun:.0f} s among "
                f"{count}; {self.reason}")
