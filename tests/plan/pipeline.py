"""Runs of the whole path, from text to answer, on two neighbours: what an analyst sees of each, and what the mechanisms were given."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.audit.twins import Recorder, Replayer, Seen, differences
from discreet.curator.session import Curator
from discreet.errors import DiscreetError
from discreet.noise import Tape
from discreet.privacy import events
from tests.plan.asked import TABLE, Schema, Twins, write


class Lines(logging.Handler):
    """Every log line of any logger."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()}")


@contextmanager
def logged() -> Iterator[Lines]:
    root, lines = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        root.removeHandler(lines)
        root.setLevel(level)


class Audited(Curator):
    """A curator whose draws are recorded, or replayed."""

    draws: Recorder | Replayer | None = None
    record: Recorder | None = None

    def _granted(self, event: events.Event) -> Any:
        if self.draws is None:
            self.record = Recorder.of(event, self._bits)
            return self.record
        return self.draws


def curator(schema: Schema, data: Path, ledger: Path, **more: Any) -> Audited:
    arguments = {"epsilon": 10, "delta": 1e-4, "ledger": ledger} | schema.arguments() | more
    found = Audited({TABLE: data}, **arguments)
    found._bits = Tape(7)
    return found


def seen(holder: Audited, text: str, **price: Any) -> Seen:
    """What comes back of one question."""
    before = holder.spent
    with logged() as lines:
        try:
            answer = holder.sql(text, **price)
            status, body = "answer", answer.to_bytes().decode()
        except DiscreetError as error:
            status, body = type(error).__name__, json.dumps([error.code, error.message, error.hint])
    after = holder.spent
    spent = f"{after.epsilon - before.epsilon} {after.delta - before.delta}"
    return Seen(status, body, spent, tuple(lines.lines))


def told_apart(
    schema: Schema, twins: Twins, texts: list[str], folder: Path, **price: Any
) -> Iterator[tuple[list[str], Seen]]:
    """For each question whatever tells two neighbours apart, and what was seen of the first."""
    places = []
    for name, rows in (("first", twins.first), ("second", twins.second)):
        places.append((write(rows, folder / f"{name}.csv"), folder / f"{name}.ledger"))
    with curator(schema, *places[0]) as one, curator(schema, *places[1]) as other:
        for i, text in enumerate(texts):
            one.record = None
            one._bits, other._bits = (
                Tape(i),
                Tape(i),
            )  # noise is drawn on one side only: each question starts with the same salt
            first = seen(one, text, **price)
            other.draws = Replayer(one.record.drawn if one.record else [])
            second = seen(other, text, **price)
            yield differences(first, second, other.draws), first
