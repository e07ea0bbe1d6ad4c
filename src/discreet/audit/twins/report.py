"""What tells two runs apart, in words."""

from dataclasses import dataclass
from typing import Any

from discreet.audit.twins.replay import Replayer
from discreet.audit.twins.seen import Seen
from discreet.mechanisms.base import Mechanism

ASIDE = 30  # characters on each side of the first place that differs


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Two runs on neighbours, and whatever tells them apart. It tells of the data, and is for whoever holds them."""

    differences: tuple[str, ...]
    first: Seen
    second: Seen
    draws: int  # how many the first run made
    inputs: tuple[tuple[Mechanism, Any, Any], ...] = ()  # each mechanism, and what it was given on either side

    @property
    def same(self) -> bool:
        """Whether nothing tells the twins apart."""
        return not self.differences

    def __str__(self) -> str:
        runs = f"{self.draws} draw{'' if self.draws == 1 else 's'}, {self.first.status}"
        if self.same:
            return f"nothing tells the twins apart ({runs})"
        count = len(self.differences)
        head = f"{count} difference{'' if count == 1 else 's'} between the twins ({runs}):"
        return "\n".join([head, *(f"- {each}" for each in self.differences)])

    __repr__ = __str__


def reported(first: Seen, second: Seen, replayer: Replayer) -> Report:
    """The report on a run and its twin, whose draws were replayed."""
    replayer.finish()
    inputs = tuple(
        (turn.before.use.mechanism, before, now)
        for turn in replayer.turns
        for before, now in zip(turn.before.given, turn.given, strict=False)
    )
    return Report((*replayer.problems, *_told_apart(first, second)), first, second, len(replayer.record), inputs)


def _told_apart(first: Seen, second: Seen) -> list[str]:
    found = []
    if first.status != second.status:
        found.append(f"the outcome differs: {first.status}, and {second.status} on the neighbour")
    elif first.body != second.body:
        what = "answer" if first.answered else "error"
        found.append(f"the {what} differs: {_place(first.body, second.body)}")
    if first.price != second.price:
        found.append(f"the price differs: {_place(first.price, second.price)}")
    if first.log != second.log:
        found.append(f"log lines differ: {_line(first.log, second.log)}")
    if first.printed != second.printed:
        found.append(f"what is printed differs: {_place(first.printed, second.printed)}")
    return found


def _line(first: tuple[str, ...], second: tuple[str, ...]) -> str:
    for one, other in zip(first, second, strict=False):
        if one != other:
            return _place(one, other)
    return f"{len(first)} of them, and {len(second)} on the neighbour"


def _place(first: str, second: str) -> str:
    """Both texts, around the first place where they differ."""
    at = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
    one, other = (_around(text, at) for text in (first, second))
    return f"{one}, and {other} on the neighbour"


def _around(text: str, at: int) -> str:
    begin, end = max(0, at - ASIDE), at + ASIDE
    return repr(("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else ""))
