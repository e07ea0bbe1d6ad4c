"""The joint law of draws that depend on one another: a choice, then what depends on it, then an answer.

A program takes data and something to draw from, as a plan is run with a grant: `program(data, draws)`. Here each draw is a choice among
all values that it may have, by the exact law of its mechanism, and the program is run for each of them. What counts as seen is every value
that was drawn, in order, and what the program gives in the end. Twins replay what was released, and so cannot see that a value is released
with a wrong probability; the joint law is made of these probabilities.

**Noise has a window.** Integer noise may have any value, and finitely many are listed: those within `reach` of an exact value. A run whose
noise falls outside ends there, and all that could have followed is one lump: what was released before, and the side on which it fell. That
is a function of what would have been released, so every lower bound of ε and δ holds for the program as it is. An upper bound counts the
mass of lumps as lost: it holds for δ as it is, and for ε at a δ of no less than that mass (`Exact.hidden`). At δ = 0 noise on integers
leaves ε without an upper bound here, though not without a lower one. Which window is looked at is up to who looks, so it may depend on
both data sets; it must be the same for both, and is.

**A kill.** With `stop=i` the program is stopped as soon as draw i was made and kept, and is then entered again on the same data: draws that
were made before give their values again, and look at nothing exact. Sight is what was released before the kill and all that is seen after
it. Of a round whose questions come one by one nothing is kept before its hit: there a program measures under a key, and enters again
itself. With `kept=False` nothing is remembered: the second entry draws anew, as a system would that forgot what it released.

**A batch** is a choice for each unit, in or out at its rate, and nobody sees it: what is seen has the chances of all batches together.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from discreet.audit.chances import Beyond, Rule, Window, keys, law_of, noisy
from discreet.audit.law import ONE, SURE, Bracket, Law
from discreet.audit.tree import outcome_of
from discreet.audit.twins.functions import Draws
from discreet.audit.walk import RUNS, Walk, walked
from discreet.errors import Fault, Invalid
from discreet.exact import shown, whole
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.additive import IntegerNoise, Ints
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.hand import Turn, Use
from discreet.mechanisms.keys import Kept, KeysByName
from discreet.mechanisms.most_frequent import MostFrequent
from discreet.mechanisms.quantile import Quantiles
from discreet.mechanisms.randomized_response import Response
from discreet.noise import Tape
from discreet.plan.plan import Plan
from discreet.plan.release import decided, release
from discreet.plan.totals import Run

__all__ = ["Draws", "Joint", "Sight", "Walker", "planned"]

REACH = 12
ARRAYS = AboveThreshold | MostFrequent | Quantiles | Response
"""Mechanisms that release arrays, where their law has tuples."""

BITS = Tape(0)
"""For what a grant draws ahead; a walk takes none of it."""

SALT = 1
"""Of priorities among a person's rows: neighbours have the same."""

Released: TypeAlias = tuple[Hashable, ...]
Windows: TypeAlias = dict[Hashable, Window]


@dataclass(frozen=True, slots=True)
class Sight:
    """All that is seen of a run: what was drawn before a kill, what was drawn in the end, and what the program gave.

    Where noise fell outside of its window the run ended there: the last thing drawn is on which side, there is no result, and this is a
    lump, which stands for all that could have followed.
    """

    drawn: Released
    result: Hashable = None
    before: Released = ()
    lump: bool = False


class _Ended(BaseException):
    """A run ends inside of a draw: no `except Exception` of the program may keep it."""


class _Killed(_Ended):
    """The program is stopped after a draw."""


class _Outside(_Ended):
    """Noise fell outside of its window."""


@dataclass(slots=True)
class Walker:
    """A hand that leaves nothing to chance: every value that is drawn is a choice of the walk."""

    walk: Walk
    reach: int
    windows: Windows
    earlier: list[tuple[Mechanism, Any]] = field(default_factory=list)
    """Draws of an earlier entry, which give their values again."""

    stop: int | None = None
    drawn: list[tuple[Mechanism, Any]] = field(default_factory=list)

    @property
    def released(self) -> Released:
        """All values so far."""
        return tuple(outcome_of(value) for _, value in self.drawn)

    def begin(self, use: Use) -> Turn:
        """A draw is begun."""
        if use.in_turn and isinstance(use.mechanism, AboveThreshold):
            return _Asked(self, use.mechanism)
        return _Walked(self, use.mechanism, use.rate)

    def batch(self, among: int, rate: Fraction) -> Ints:
        """The units that the walk has chosen; what was drawn in an earlier entry has none."""
        if len(self.drawn) < len(self.earlier):
            return np.zeros(0, np.int64)
        chances = [Bracket.of(1 - rate), Bracket.of(rate)]
        labels = [("batch", len(self.drawn), unit) for unit in range(among)]
        return np.flatnonzero([self.walk.choose(label, chances) for label in labels])

    def answer(self, round_: AboveThreshold, scores: tuple[int, ...]) -> bool:
        """Whether the last score of a round is above, after others that were not."""
        if self.earlier or self.stop is not None:
            raise Invalid(
                "a kill within rounds is not played by `stop`, since what a round had answered is not kept",
                hint="let the program measure under a key, raise, and enter again",
            )
        above = bool(self._chosen(next_answer(round_, scores), round_))
        self.drawn.append((round_, above))
        return above

    def value(self, mechanism: Mechanism, exact: Callable[[], Any]) -> Any:
        """What is released: again, or by a choice among all that the mechanism may release of the exact value."""
        number = len(self.drawn)
        if number < len(self.earlier):
            before, value = self.earlier[number]
            if before != mechanism:
                raise Invalid(
                    "the program drew from another mechanism when it was entered again",
                    hint="whoever enters again makes the same draws in the same order",
                )
        else:
            value = self._released(mechanism, exact())
        self.drawn.append((mechanism, value))
        if self.stop == len(self.drawn):
            raise _Killed
        return value

    def _released(self, mechanism: Mechanism, exact: Any) -> Any:
        if isinstance(mechanism, IntegerNoise):
            found = self._noisy(mechanism, np.ravel(exact))
            return found.reshape(np.shape(exact)) if np.ndim(exact) else int(found[0])
        if isinstance(mechanism, Rule):
            return self._keys(mechanism, exact)
        if isinstance(mechanism, KeysByName):
            return self._names(mechanism, exact)
        value = self._chosen(law_of(mechanism, exact), mechanism)
        return np.array(value) if isinstance(value, tuple) and isinstance(mechanism, ARRAYS) else value

    def _keys(self, rule: Rule, counts: Any) -> Kept:
        """The keys that are kept, as the rule itself tells them."""
        top = max([*counts, rule.threshold]) + self.reach
        last = self.windows.setdefault((self.released, rule), Window(0, top)).last
        value = self._chosen(keys(rule, counts, last), rule)
        if any(isinstance(each, Beyond) for each in value):
            self.drawn.append((rule, value))
            raise _Outside
        return Kept(np.array([each is not None for each in value]), np.array([each or 0 for each in value], np.int64))

    def _names(self, mechanism: KeysByName, counts: dict[Any, int]) -> dict[Any, int]:
        """The names that are kept, in their order, with their noisy counts; of names that are not kept nothing is seen."""
        names, rule = sorted(counts), mechanism.rule
        top = max([*counts.values(), rule.threshold]) + self.reach
        last = self.windows.setdefault((self.released, mechanism), Window(0, top)).last
        values = self._chosen(keys(rule, [counts[name] for name in names], last), mechanism)
        kept = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        if any(isinstance(each, Beyond) for each in kept.values()):
            self.drawn.append((mechanism, kept))
            raise _Outside
        return kept

    def _noisy(self, mechanism: IntegerNoise, exact: Ints) -> Ints:
        """Coordinate by coordinate; the window is set by whichever data set comes here first, after equal releases."""
        values: list[int] = []
        for each in exact.tolist():
            place = (self.released, tuple(values))
            window = self.windows.setdefault(place, Window.around([each], self.reach))
            value = self._chosen(noisy(mechanism, each, window), mechanism)
            if isinstance(value, Beyond):
                self.drawn.append((mechanism, (*values, value)))
                raise _Outside
            values.append(value)
        return np.array(values, np.int64)

    def _chosen(self, law: Law, mechanism: Mechanism) -> Any:
        outcomes = list(law.chances)
        label = ("draw", len(self.drawn), repr(mechanism), len(outcomes))
        return outcomes[self.walk.choose(label, [law.chances[each] for each in outcomes])]


@dataclass(slots=True)
class _Walked:
    """A turn of a walker."""

    walker: Walker
    mechanism: Mechanism
    rate: Fraction | None = None
    over: bool = False

    def batch(self, among: int, draw: Callable[[], Ints]) -> Ints:
        """The units that are in, as the walk has chosen them."""
        if self.rate is None:
            raise Fault("this draw has no batch", code="grant")
        return self.walker.batch(among, self.rate)

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
        """The value that the walk has chosen, once; one of an earlier entry without a look at the data."""
        if self.over:
            raise Fault("a draw serves once", code="grant")
        self.over = True
        return self.walker.value(self.mechanism, exact)


@lru_cache(maxsize=1 << 14)
def next_answer(round_: AboveThreshold, scores: tuple[int, ...]) -> Law:
    """Whether the last score of a round is above, where all before it were below: the noise of the threshold is added up."""
    before = (False,) * (len(scores) - 1)
    given = law_of(round_, scores[:-1]).chances[before] if before else SURE
    both = law_of(round_, scores).chances
    found: dict[Hashable, Bracket] = {}
    for answer in (False, True):
        chance = both[*before, answer]
        found[answer] = Bracket(chance.low / given.high, min(ONE, chance.high / given.low)).short()
    return Law(found)


@dataclass(slots=True)
class _Asked:
    """A round of a noisy threshold: each question is a choice of its own, given what was answered before."""

    walker: Walker
    mechanism: AboveThreshold
    scores: tuple[int, ...] = ()
    over: bool = False

    def batch(self, among: int, draw: Callable[[], Ints]) -> Ints:
        """No round has a batch."""
        raise Fault("a round has no batch", code="grant")

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> bool:
        """Whether this score is above; a round ends with its hit."""
        if self.over:
            raise Fault("a round ends with its hit", code="grant")
        self.scores = (*self.scores, int(exact()))
        self.over = self.walker.answer(self.mechanism, self.scores)
        return self.over


@dataclass(frozen=True, slots=True)
class Joint:
    """A program of dependent draws, `program(data, draws)`, whose joint law is found by making every draw in every way.

    `reach` is how far noise is listed from exact values, `stop` after how many draws the program is killed and entered again.

    >>> from discreet.mechanisms import Geometric
    >>> from discreet.audit.enumeration import exact
    >>> noise = Geometric(1)
    >>> twice = Joint(lambda data, draws: [draws(noise, 1, lambda: sum(data)) for _ in range(2)], reach=20)
    >>> found = exact(twice, [([1], [1, 1])])
    >>> round(found.epsilon().low, 6), round(found.epsilon(found.hidden).high, 6), found.hidden < 1e-8
    (2.0, 2.0, True)
    """

    function: Callable[[Any, Draws], Any]
    reach: int = REACH
    stop: int | None = None
    kept: bool = True
    runs: int = RUNS

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise Invalid(f"a program must be callable, got {shown(self.function)}")
        whole(self.reach, "reach")
        whole(self.runs, "runs", least=1)
        if self.stop is not None:
            whole(self.stop, "stop", least=1)

    def law(self, data: Any) -> Law:
        """The law of all that is seen of a run on these data."""
        return self._law(data, {})

    def laws(self, x: Any, y: Any) -> tuple[Law, Law]:
        """The laws for two data sets, with the same windows for both."""
        windows: Windows = {}
        return self._law(x, windows), self._law(y, windows)

    def _law(self, data: Any, windows: Windows) -> Law:
        law = walked(lambda walk: self._run(data, walk, windows), self.runs)
        lumps = frozenset(each for each in law.chances if isinstance(each, Sight) and each.lump)
        return Law(law.chances, law.rest, lumps)

    def _run(self, data: Any, walk: Walk, windows: Windows) -> Sight:
        first = Walker(walk, self.reach, windows, stop=self.stop)
        try:
            return Sight(*self._through(data, first))
        except _Outside:
            return Sight(first.released, lump=True)
        except _Killed:
            return self._again(data, first, walk, windows)

    def _again(self, data: Any, first: Walker, walk: Walk, windows: Windows) -> Sight:
        """The second entry, after a kill."""
        again = Walker(walk, self.reach, windows, list(first.drawn) if self.kept else [])
        try:
            return Sight(*self._through(data, again), before=first.released)
        except _Outside:
            return Sight(again.released, before=first.released, lump=True)

    def _through(self, data: Any, walker: Walker) -> tuple[Released, Hashable]:
        result = outcome_of(self.function(data, Draws(BITS, walker)))
        return walker.released, result


def planned(
    plan: Plan, engine: Callable[[Any], Run], *, reach: int = REACH, stop: int | None = None, runs: int = RUNS
) -> Joint:
    """A plan as it is run: its choices, then noise, then totals. `engine` tells for data what an engine finds in them.

    Sight are the choices that were made and the integers that were released; what is made of them costs nothing more.
    """

    def run(data: Any, draws: Draws) -> Any:
        read = engine(data)
        one = decided(plan, read, draws, SALT)
        return one.taken, release(one, read, draws, SALT)

    return Joint(run, reach, stop, runs=runs)


def __dir__() -> list[str]:
    return sorted(__all__)
