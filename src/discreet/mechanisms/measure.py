"""Spend and measure in one act: who draws noise was granted it first, and draws no more than was granted.

    with measure(event, label="ages", key="ages") as grant:
        noisy = grant(mechanism, sensitivity, exact)

A *measure* charges the event on entry, durably where a curator stands behind it, and gives a *grant*. A grant is a numbered sequence of
draws. Each names its mechanism and sensitivity, and takes its own event out of what was granted, before the exact value is looked at; a
draw beyond the grant is a Fault. What was not drawn is spent all the same. `unmetered()` is a measure in memory, for arrays without
a curator.

Whoever ends inside the block, by an exception or a kill, enters again under the key, at no new charge, and makes the same draws again, in
their order: those that were made before give the values that were released before, and look at nothing exact; then it goes on. A draw
that was begun and whose value was not kept is lost and stays spent: it is Refused (code "draw-lost"), once, and the next one goes
on. With `kept=False` values are not kept and draws are counted in blocks: whoever enters again has the blocks that nobody took.
A block that ended without an exception has ended the grant: what was drawn comes back under the key, and nothing more is drawn.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import numpy as np

from discreet.errors import Fault, Invalid, Refused
from discreet.exact import Number, shown, whole
from discreet.mechanisms.additive import GridNoise, IntegerNoise, Ints
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.gaussian import DiscreteGaussian
from discreet.mechanisms.guarded import under_way
from discreet.mechanisms.hand import FRESH, Hand, Turn, Use
from discreet.mechanisms.packed import unpacked
from discreet.mechanisms.record import (
    Counted,
    Course,
    DrawRecord,
    KeptDraws,
    MemoryRecord,
    Unwritten,
    event_text,
    one_leaf,
    settled,
)
from discreet.noise import Source
from discreet.noise.heads import heads
from discreet.privacy import PrivacyLoss, events, loss

if TYPE_CHECKING:
    from discreet.mechanisms.above_threshold import AboveThreshold
    from discreet.mechanisms.rounds import Rounds
SIZED = GridNoise | DiscreteGaussian  # noise whose price hangs on how many coordinates a vector has
NOTHING = events.Composed(())
"""What a note costs."""


class Promise(NamedTuple):
    """An (ε, δ) that whoever measures has calibrated noise for: it is checked, and charged as it stands."""

    epsilon: Fraction
    delta: Fraction

    def check(self, event: events.Event) -> None:
        """Invalid unless a certified bound shows that the event keeps it."""
        if not loss(event).certifies(self.epsilon, self.delta):
            raise Invalid(
                f"the event is not ({float(self.epsilon):g}, {float(self.delta):g})-DP as promised",
                code="promise",
                hint="calibrate for what is promised, or leave the promise out",
            )


class Measure(Protocol):
    """Whatever can be charged for an event, and then lets it be drawn."""

    def __call__(
        self,
        event: events.Event,
        *,
        label: str = "",
        key: str | None = None,
        kept: bool = True,
        block: int = 1,
        promise: "Promise | None" = None,
    ) -> AbstractContextManager["Grant"]:
        """Charge for an event, and grant it. Where `promise` says which (ε, δ) the event is proven to keep, that is the price."""


class Grant:
    """The right to draw what was charged for, once, until the `with` block ends.

    It belongs to the process that entered, and can be neither copied nor pickled. Threads draw one after the other.
    """

    def __init__(
        self,
        event: events.Event,
        source: Source | None = None,
        course: Course | None = None,
        hand: Hand = FRESH,
    ) -> None:
        self._course = Unwritten(event) if course is None else course
        self._source, self._hand = source, hand
        self._open = True
        self._drawing = False
        self._last: tuple[tuple[object, ...], events.Event] | None = None
        self._process, self._lock = os.getpid(), RLock()

    @property
    def taken(self) -> int:
        """How many draws were begun, in earlier entries and in this one; of draws that are counted, how many blocks were taken."""
        return self._course.taken

    @property
    def used(self) -> bool:
        """Whether anything was begun."""
        return self._course.taken > 0

    @property
    def again(self) -> bool:
        """Whether the next draw was begun in an earlier entry: then it gives what was released, or is refused as lost."""
        return self._course.again

    def __call__(self, mechanism: Mechanism, sensitivity: Number, exact: Callable[[], Any], size: int = 1) -> Any:
        """The mechanism's release of `exact()`: of one value, or of a vector, of this sensitivity.

        `size` is the most coordinates of a vector of reals, whose rounding to a grid counts, or of integers with discrete Gaussian
        noise, for which one integer costs less than several. For other noise on integers it does not matter.
        """
        event = self._event(mechanism, sensitivity, size)

        def draw(turn: Turn) -> Any:
            return turn.release(exact, lambda value: _release(mechanism, value, size, self._source))

        return self._released(event, Use(mechanism, sensitivity, size), draw)

    def sampled(
        self,
        mechanism: Mechanism,
        sensitivity: Number,
        exact: Callable[[Ints], Any],
        *,
        rate: Number,
        among: int | Callable[[], int],
        size: int = 1,
    ) -> Any:
        """A draw of what was granted as `Sampled(rate, …)`: the mechanism's release of `exact(batch)`.

        The grant takes each of the units 0, 1, … `among` − 1 into the batch with probability exactly `rate`, anew for each draw.
        `batch` holds their numbers. It is for `exact` alone: who learns which units were in it has no gain from sampling. It is kept
        nowhere, and what was drawn in an earlier entry comes back without one. Where how many units there are is itself exact, `among`
        is what tells it, inside of the draw.
        """
        event = self._event(mechanism, sensitivity, size, rate)
        assert isinstance(event, events.Sampled)
        if not callable(among):
            whole(among, "among", least=0)

        def draw(turn: Turn) -> Any:
            count = whole(among() if callable(among) else among, "among", least=0)
            batch = turn.batch(count, lambda: heads(event.rate, count, source=self._source))
            return turn.release(lambda: exact(batch), lambda value: _release(mechanism, value, size, self._source))

        return self._released(event, Use(mechanism, sensitivity, size, event.rate), draw)

    def rounds(self, mechanism: "AboveThreshold", sensitivity: Number | None = None) -> "Rounds":
        """Questions one by one to a noisy threshold; each round, up to its hit, is one draw."""
        from discreet.mechanisms.rounds import Rounds

        return Rounds(self, mechanism, sensitivity)

    def note(self, value: Any) -> Any:
        """Keeps what is public in its place among the draws, at no cost, so that whoever enters again has it back.

        A question that was asked is public, and so is whatever was released. Nothing exact can be in a note: a guarded value is not
        read outside of a draw, and here none is made.
        """
        with self.alone() as course:
            number, before = course.begin(NOTHING)
            return unpacked(before) if before is not None else course.keep(number, value)

    def prepare(self, mechanism: IntegerNoise, sensitivity: Number, size: int) -> Callable[[Ints], Ints]:
        """Draws the noise for `size` integers now, before anything exact is known, and gives what will add it, once.

        So neither the time that drawing takes nor the entropy that it uses can depend on the data.
        """
        with self.alone():
            number, before = self._course.begin(_event_of(mechanism, sensitivity, size))
            turn = FRESH if before else self._hand.begin(Use(mechanism, sensitivity, size))
            noise: list[Ints] = [] if before else [mechanism(np.zeros(size, np.int64), self._source)]

        def release(exact: Ints) -> Ints:
            with self.alone():
                if before is not None:
                    return unpacked(before)  # type: ignore[no-any-return]
                if not noise or exact.dtype != np.int64 or exact.shape != (size,):
                    raise Fault(f"a draw serves one vector of {size} integers, once", code="grant")
                released = turn.release(lambda: exact, lambda value: value + noise.pop())
                return self._course.keep(number, released)  # type: ignore[no-any-return]

        return release

    def _event(self, mechanism: Mechanism, sensitivity: Number, size: int, rate: Number | None = None) -> events.Event:
        """What a use of a mechanism is. The last one is remembered: the steps of a run are all alike, and made of the very same objects."""
        asked = mechanism, sensitivity, size, rate
        if self._last is not None and all(one is other for one, other in zip(asked, self._last[0], strict=True)):
            return self._last[1]
        leaf = _event_of(mechanism, sensitivity, size)
        event = leaf if rate is None else events.Sampled(rate, leaf)  # type: ignore[arg-type]
        self._last = asked, event
        return event

    def _released(self, event: events.Event, use: Use, draw: Callable[[Turn], Any]) -> Any:
        with self.alone() as course:
            number, before = course.begin(event)
            if before is not None:
                return unpacked(before)
            return course.keep(number, draw(self._hand.begin(use)))

    @contextmanager
    def alone(self) -> Iterator[Course]:
        """One draw at a time, by the process that entered, while the block lasts."""
        if self._process != os.getpid():  # before the lock, which a fork may have copied while it was held
            raise Refused(
                "this grant belongs to another process",
                code="grant-process",
                hint="draw where the measurement was entered, and hand on what was drawn",
            )
        with self._lock:
            if not self._open:
                raise Fault("the grant has ended: nothing more can be drawn from it", code="grant")
            if self._drawing:
                raise Fault("a draw was begun inside of another", code="grant", hint="draw one after the other")
            self._drawing = True
            try:
                with under_way():
                    yield self._course
            finally:
                self._drawing = False

    @property
    def here(self) -> bool:
        """Whether this is the process that entered."""
        return self._process == os.getpid()

    @property
    def source(self) -> Source | None:
        """The random bits that draws are made from; None for those of the operating system."""
        return self._source

    @property
    def hand(self) -> Hand:
        """Who makes the draws."""
        return self._hand

    def close(self) -> None:
        """End the grant: nothing more can be drawn from it."""
        self._open = False

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a grant cannot be copied or pickled: each copy would draw what was charged for once")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse


def course_of(event: events.Event, record: DrawRecord, block: int | None) -> Course:
    """Draws that are kept, or with a `block` counted in blocks of so many."""
    return KeptDraws(event, record) if block is None else Counted(event, record, block)


def checked_block(event: events.Event, kept: bool, block: int) -> int | None:
    """The size of blocks, None for draws that are kept; Invalid, before anything is charged, for what cannot be counted."""
    if kept:
        return None
    one_leaf(event)
    return whole(block, "block", least=1)


def _event_of(mechanism: Mechanism, sensitivity: Number, size: int) -> events.Event:
    if not isinstance(mechanism, Mechanism):
        raise Invalid(f"mechanism must be a mechanism, got {shown(mechanism)}")
    return mechanism.event(sensitivity, size) if isinstance(mechanism, SIZED) else mechanism.event(sensitivity)


def _release(mechanism: Mechanism, value: Any, size: int, source: Source | None) -> Any:
    if isinstance(mechanism, SIZED) and np.size(value) > size:
        raise Fault(f"a vector is longer than the {size} coordinates that were granted", code="grant")
    return mechanism(value, source)


class Unmetered:
    """A measure in memory: it charges no budget, and remembers what was spent, and under a key what was drawn."""

    def __init__(self, source: Source | None = None, hand: Hand = FRESH) -> None:
        self._source, self._hand = source, hand
        self._spent: list[events.Event] = []
        self._records: dict[str, MemoryRecord] = {}
        self._lock = Lock()

    @contextmanager
    def __call__(
        self,
        event: events.Event,
        *,
        label: str = "",
        key: str | None = None,
        kept: bool = True,
        block: int = 1,
        promise: Promise | None = None,
    ) -> Iterator[Grant]:
        size = checked_block(event, kept, block)
        if promise is not None:
            promise.check(event)
        record = self._record(event, key, f"{event_text(event)} {size} {label}")
        if record.ended and not kept:
            raise settled()
        record.enter()
        try:
            # without a key nobody enters again, and nothing need be kept
            grant = Grant(event, self._source, None if key is None else course_of(event, record, size), self._hand)
            try:
                yield grant
                record.ended = grant.used
            finally:
                grant.close()
        finally:
            if record.here:
                record.leave()

    def _record(self, event: events.Event, key: str | None, what: str) -> MemoryRecord:
        """What was drawn under a key; where it is new, it is spent."""
        with self._lock:
            record = None if key is None else self._records.get(key)
            if record is None:
                record = MemoryRecord(what)
                loss(event)  # an event that has no price raises here, before it is spent
                self._spent.append(event)
                if key is not None:
                    self._records[key] = record
        if record.what != what:
            raise Refused("the key belongs to another request", code="key-reused", hint="a key names one measurement")
        return record

    def __repr__(self) -> str:
        return f"Unmetered(measurements={len(self._spent)})"

    @property
    def spent(self) -> PrivacyLoss:
        """What everything that was granted costs together."""
        return loss(events.Composed(tuple(self._spent)))


def measure_of(named: Measure | None) -> Measure:
    """The measure that somebody named, or one in memory; Invalid for what cannot be charged, such as a curator itself."""
    if named is not None and not callable(named):
        raise Invalid(f"measure must be a measure, got {shown(named)}", hint="measure=curator.measure")
    return unmetered() if named is None else named


def unmetered(source: Source | None = None) -> Unmetered:
    """A measure for arrays without a curator.

    >>> from discreet.mechanisms import Geometric
    >>> measure = unmetered()
    >>> noise = Geometric(10)
    >>> with measure(noise.event(1)) as grant:
    ...     noisy = grant(noise, 1, lambda: 42)
    >>> isinstance(noisy, int), measure.spent.epsilon()
    (True, 0.1)
    """
    return Unmetered(source)
