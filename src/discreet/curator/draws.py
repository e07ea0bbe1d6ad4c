"""The draws of a measurement, kept beside the ledger: a draw is durable before it is handed out, and nobody makes one twice.

    reserve ─ hold ─ (begin i ─ exact value ─ noise ─ keep i ─ hand out) … ─ settle

Each arrow is durable before the next. `begin i` is granted only to whoever saw draws 1 … i − 1, in a transaction that excludes all
others: so whatever processes, threads and copies there are, the draws that were begun are those of one sequence, and that sequence
was charged for. Kept are released values and what was to be drawn, never noise, random bits, batches or exact values.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from discreet.curator.page import summary
from discreet.curator.randomness import Randomness
from discreet.curator.request import Request, Stored
from discreet.curator.rows import broken
from discreet.curator.store import Store
from discreet.mechanisms.measure import Grant, course_of
from discreet.mechanisms.record import Drawn, settled
from discreet.privacy import events


class Ledgered:
    """The record of a measurement in its ledger, as it was at entry."""

    def __init__(self, store: Store, sequence: int, *, ended: bool = False) -> None:
        self._store, self._sequence = store, sequence
        self.ended = ended
        self.drawn: Sequence[Drawn] = store.drawn(sequence)

    def begin(self, number: int, what: str) -> None:
        self._store.begin_draw(self._sequence, number, what)

    def keep(self, number: int, value: bytes) -> None:
        self._store.keep_draw(self._sequence, number, value)


@contextmanager
def entered(
    store: Store, request: Request, event: events.Event, randomness: Randomness, block: int | None
) -> Iterator[Grant]:
    """Charge a measurement, or find it charged, and give its grant, held by nobody else.

    A block that ends without an exception settles it. One that does not, or never ends, can be entered again.
    """
    outcome = store.reserve(request)
    if isinstance(outcome, Stored):
        grant = _again(store, outcome, event, randomness, block)
        try:
            yield grant
        finally:
            grant.close()
        return
    hold = store.hold(outcome.sequence)
    try:
        course = course_of(event, Ledgered(store, outcome.sequence), block)
        grant = Grant(event, randomness.source, course, randomness.hand)
        try:
            yield grant
            if grant.here and grant.used:
                store.end_draws(outcome)
        finally:
            grant.close()
    finally:
        hold.release()


def _again(store: Store, outcome: Stored, event: events.Event, randomness: Randomness, block: int | None) -> Grant:
    """What was drawn before, and nothing more."""
    if block is not None:
        raise settled()
    record = Ledgered(store, outcome.sequence, ended=True)
    if outcome.answer != summary(record.drawn):
        raise broken("the draws of a measurement are not those that were settled")
    return Grant(event, randomness.source, course_of(event, record, block), randomness.hand)
