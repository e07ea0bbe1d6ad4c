"""Twins of a function of one's own: `run(data, draws)` on two neighbours."""

from collections.abc import Callable
from typing import Any, TypeVar

from discreet.audit.twins.record import Recorder
from discreet.audit.twins.replay import Replayer
from discreet.audit.twins.report import Report, reported
from discreet.audit.twins.seen import Seen, observed
from discreet.mechanisms.hand import Hand
from discreet.mechanisms.measure import Grant, Unmetered
from discreet.mechanisms.record import event_text
from discreet.noise import Source, Tape
from discreet.privacy import events

Data = TypeVar("Data")


class Noted:
    """Draws of any event, each of which is noted: nothing was granted, and what was drawn is the price."""

    again = False

    def __init__(self) -> None:
        self.events: list[events.Event] = []

    @property
    def taken(self) -> int:
        """How many were begun."""
        return len(self.events)

    def begin(self, event: events.Event) -> tuple[int, bytes | None]:
        """The next draw; none was made before."""
        self.events.append(event)
        return len(self.events), None

    def keep(self, number: int, value: Any) -> Any:
        """The value as it is."""
        return value


class Draws(Grant):
    """What a function under audit draws with: a grant of whatever it draws, and for code that takes one a `measure`.

    The price of a run is all that was drawn here, and all that the measure was entered for.
    """

    def __init__(self, source: Source, hand: Hand) -> None:
        self._noted = Noted()
        super().__init__(events.Composed(()), source, self._noted, hand)
        self._measure = Unmetered(source, hand)

    @property
    def measure(self) -> Unmetered:
        """A measure, for code that takes one."""
        return self._measure

    @property
    def price(self) -> str:
        """What was drawn and what was entered, as events, in words."""
        drawn = [event_text(event) for event in self._noted.events]
        return "\n".join([*drawn, *(f"{times} × {event_text(leaf)}" for leaf, times in self._measure.spent.terms)])


def compare(first: Data, second: Data, run: Callable[[Data, Draws], Any], *, seed: int = 0) -> Report:
    """What tells two neighbours apart in what `run(data, draws)` returns, raises, draws, costs, logs and prints.

    It draws with `draws(mechanism, sensitivity, exact)`, `draws.sampled`, `draws.rounds` and `draws.prepare`, as from a grant, or with
    `draws.measure`. Noise on the first data set comes from `Tape(seed)`. What `run` returns must be numbers, text, lists, dicts,
    arrays, dataclasses or an Answer; anything else is Invalid.

    >>> from discreet import Geometric
    >>> sound = compare([1, 2, 3], [1, 2], lambda rows, draws: draws(Geometric(10), 1, lambda: len(rows)))
    >>> sound
    nothing tells the twins apart (1 draw, answer)
    >>> leaky = compare([1, 2, 3], [1, 2], lambda rows, draws: draws(Geometric(10), 1, lambda: sum(rows)))
    >>> print(leaky)
    1 difference between the twins (1 draw, answer):
    - draw 1 (Geometric(scale=10)): its exact values differ by 3 in L1, and it is made for 1
    """
    recorder = Recorder()
    one = _run(first, run, Draws(Tape(seed), recorder))
    replayer = Replayer(recorder.drawn)
    other = _run(second, run, Draws(Tape(seed), replayer))
    return reported(one, other, replayer)


def _run(data: Data, run: Callable[[Data, Draws], Any], draws: Draws) -> Seen:
    try:
        return observed(lambda: run(data, draws), lambda: draws.price)
    finally:
        draws.close()
