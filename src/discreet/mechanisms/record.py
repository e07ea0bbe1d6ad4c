"""Records of the draws of a grant: each is marked as begun before an exact value is read, and kept before it is handed out.

A *record* outlives whoever draws. Who enters again finds in it what was drawn before, in its order. It never holds noise, bits of a
source, batches, thresholds or exact values: only what was to be drawn, and what was released.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NoReturn, Protocol

from discreet.errors import Fault, Invalid, Refused
from discreet.exact import whole
from discreet.mechanisms.allowance import Allowance, beyond
from discreet.mechanisms.packed import packed, unpacked
from discreet.privacy import events, loss


@dataclass(frozen=True, slots=True)
class Drawn:
    """A draw that was begun: what it was to be, and what was released, packed; None where nothing was, and it is used all the same."""

    what: str
    value: bytes | None = None


class DrawRecord(Protocol):
    """The draws of one grant, by number from 1."""

    @property
    def drawn(self) -> Sequence[Drawn]:
        """What earlier entries have begun."""

    @property
    def ended(self) -> bool:
        """Whether the grant was ended by whoever had it: what was drawn can be had again, and nothing more drawn."""

    def begin(self, number: int, what: str) -> None:
        """Mark a draw as begun, durably; Refused unless it is the next one, whoever else may have drawn meanwhile."""

    def keep(self, number: int, value: bytes) -> None:
        """Keep what a draw released, durably; only then may it be handed out."""


class Course(Protocol):
    """How the draws of a grant follow one another."""

    @property
    def taken(self) -> int: ...

    @property
    def again(self) -> bool:
        """Whether the next draw was begun in an earlier entry."""

    def begin(self, event: events.Event) -> tuple[int, bytes | None]:
        """The number of the next draw, and what it released in an earlier entry; None where it is to be drawn now."""

    def keep(self, number: int, value: Any) -> Any:
        """What may be handed out of a draw that was made now."""


class Unwritten:
    """Draws of which none is handed out before all are settled: they are neither marked nor kept one by one."""

    again = False

    def __init__(self, event: events.Event) -> None:
        self._left = Allowance(event)
        self.taken = 0

    def begin(self, event: events.Event) -> tuple[int, bytes | None]:
        self._left.take(event)
        self.taken += 1
        return self.taken, None

    def keep(self, number: int, value: Any) -> Any:
        return value


class KeptDraws:
    """Draws whose released values are kept: what was drawn before comes back, then it goes on."""

    def __init__(self, event: events.Event, record: DrawRecord) -> None:
        self._left = Allowance(event)
        self._record = record
        self._before = record.drawn
        self._at = 0

    @property
    def taken(self) -> int:
        return max(self._at, len(self._before))

    @property
    def again(self) -> bool:
        return self._at < len(self._before)

    def begin(self, event: events.Event) -> tuple[int, bytes | None]:
        number, what = self._at + 1, event_text(event)
        if number <= len(self._before):
            return number, self._again(number, event, what)
        if self._record.ended:
            raise settled()
        if not self._left.covers(event):
            raise beyond()
        self._record.begin(number, what)
        self._left.take(event)
        self._at = number
        return number, None

    def _again(self, number: int, event: events.Event, what: str) -> bytes:
        old = self._before[number - 1]
        if old.what != what:
            raise Fault(
                f"draw {number} was another one when it was made first",
                code="draw-other",
                hint="draw again in the order of the first entry, or measure under a new key",
            )
        self._left.take(event)
        self._at = number
        if old.value is None:
            raise Refused(
                f"draw {number} was begun before and its value is lost; it stays spent",
                code="draw-lost",
                hint="leave this one out and go on with the next draw",
            )
        return old.value

    def keep(self, number: int, value: Any) -> Any:
        text = packed(value)
        self._record.keep(number, text)
        return unpacked(text)


class Counted:
    """Draws that are counted and not kept, in blocks: a block is marked as taken before its first draw, and never given again."""

    again = False

    def __init__(self, event: events.Event, record: DrawRecord, block: int) -> None:
        self._leaf, self._times = one_leaf(event)
        self._block = whole(block, "block", least=1)
        self._record = record
        self._left = Allowance(events.Composed(()))
        self.taken = len(record.drawn)

    def begin(self, event: events.Event) -> tuple[int, bytes | None]:
        if not self._left.covers(event):
            self._left = self._next_block(event)
        self._left.take(event)
        return self.taken, None

    def _next_block(self, event: events.Event) -> Allowance:
        if self._record.ended:
            raise settled()
        draws = min(self._block, self._times - self.taken * self._block)
        fresh = Allowance(events.Repeated(self._leaf, max(draws, 0)))
        if not fresh.covers(event):
            raise beyond()
        self._record.begin(self.taken + 1, f"block of {self._block}")
        self.taken += 1
        return fresh

    def keep(self, number: int, value: Any) -> Any:
        return value


def one_leaf(event: events.Event) -> tuple[events.Leaf, int]:
    """The leaf that an event repeats, and how often; what is composed of several cannot be counted."""
    terms = loss(event).terms
    if len(terms) != 1:
        raise Invalid(
            "draws that are counted and not kept must all be alike",
            hint="grant one event, repeated; measure others under another key",
        )
    return terms[0]


def event_text(event: events.Event) -> str:
    """What is to be drawn, in words that do not depend on how they were written."""
    return json.dumps(event.to_json(), sort_keys=True, separators=(",", ":"))


def settled() -> Refused:
    return Refused("this key was measured before", code="key-settled", hint="a new measurement takes a new key")


def inside() -> Refused:
    return Refused(
        "this measurement is going on elsewhere",
        code="grant-held",
        hint="it can be entered again under its key once whoever has it has ended",
    )


class MemoryRecord:
    """A record in the memory of one process."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.ended = False
        self._drawn: list[Drawn] = []
        self._process, self._held = os.getpid(), Lock()

    @property
    def drawn(self) -> Sequence[Drawn]:
        return tuple(self._drawn)

    def enter(self) -> None:
        """Hold it, until `leave`; Refused for a second who would hold it at once, and in another process."""
        if not self.here or not self._held.acquire(blocking=False):
            raise inside()

    @property
    def here(self) -> bool:
        """Whether this is the process whose memory it is."""
        return self._process == os.getpid()

    def leave(self) -> None:
        self._held.release()

    def begin(self, number: int, what: str) -> None:
        if number != len(self._drawn) + 1:
            raise inside()
        self._drawn.append(Drawn(what))

    def keep(self, number: int, value: bytes) -> None:
        self._drawn[number - 1] = Drawn(self._drawn[number - 1].what, value)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a record of draws cannot be copied or pickled: each copy would be drawn on")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse
