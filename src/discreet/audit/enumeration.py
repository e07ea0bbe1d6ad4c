"""The exact privacy of anything with finitely many outputs: ε, δ(ε), the output and the neighbours that are worst.

What is looked at is a table of probabilities, a function from data to a law, a program over coins, one of our mechanisms, a channel of
local privacy, or anything that can tell its laws for two data sets. All pairs of neighbours that are given are compared, both ways.
Every number is exact, or a bracket with the truth inside; nothing is sampled.
"""

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, Protocol, runtime_checkable

import numpy as np

from discreet.audit.chances import Rule, Window, answers_of, geometric_pair, keys, keys_pair, law_of, noisy
from discreet.audit.law import ONE, ZERO, Bracket, Epsilon, Law, Ratio, worst
from discreet.audit.law import delta as delta_of
from discreet.audit.law import epsilon as epsilon_of
from discreet.audit.tree import Program
from discreet.audit.walk import RUNS
from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.geometric import Geometric

__all__ = ["Compared", "Exact", "exact", "lawful"]

REACH = 40
"""Values of noise on each side of the exact ones that are listed one by one."""


@runtime_checkable
class Lawful(Protocol):
    """Whatever can tell the laws of its outputs."""

    def law(self, data: Any) -> Law: ...

    def laws(self, x: Any, y: Any) -> tuple[Law, Law]: ...


@runtime_checkable
class WrittenChannel(Protocol):
    """Whatever can write down the probabilities of all its outputs, a row for each input: protocols of local privacy can."""

    def channel(self) -> Sequence[Sequence[Fraction]]: ...


@dataclass(frozen=True, slots=True)
class LawTable:
    """Rows of probabilities, one for each input: rows[x][y] = Pr[y | x]."""

    rows: Mapping[Any, Law]

    @classmethod
    def of(cls, rows: Any) -> "LawTable":
        pairs = rows.items() if isinstance(rows, Mapping) else enumerate(rows)
        return cls({data: _row(row) for data, row in pairs})

    def law(self, data: Any) -> Law:
        if data not in self.rows:
            raise Invalid(f"the table has no row for the input {shown(data)}")
        return self.rows[data]

    def laws(self, x: Any, y: Any) -> tuple[Law, Law]:
        return self.law(x), self.law(y)


def _row(row: Any) -> Law:
    if isinstance(row, Law | Mapping):
        return Law.of(row)
    if isinstance(row, Sequence | np.ndarray) and not isinstance(row, str | bytes):
        return Law.of(dict(enumerate(row)))
    raise Invalid(f"a row of a table must be a list or a mapping of probabilities, got {shown(row)}")


@dataclass(frozen=True, slots=True)
class LawFunction:
    """A function from data to the law of what is released."""

    function: Callable[[Any], Any]

    def law(self, data: Any) -> Law:
        return Law.of(self.function(data))

    def laws(self, x: Any, y: Any) -> tuple[Law, Law]:
        return self.law(x), self.law(y)


@dataclass(frozen=True, slots=True)
class Ours:
    """One of our mechanisms, by the law that it is held to."""

    mechanism: Mechanism
    reach: int = REACH

    def law(self, data: Any) -> Law:
        if isinstance(self.mechanism, IntegerNoise):
            return noisy(self.mechanism, _integer(data), Window.around([_integer(data)], self.reach))
        if isinstance(self.mechanism, Rule):
            return keys(self.mechanism, data, max([*data, self.mechanism.threshold]) + self.reach)
        return law_of(self.mechanism, data)

    def laws(self, x: Any, y: Any) -> tuple[Law, Law]:
        """Noise is listed in one window for both: which outputs are looked at is up to who looks."""
        if isinstance(self.mechanism, Geometric):
            return geometric_pair(self.mechanism, _integer(x), _integer(y), self.reach)
        if isinstance(self.mechanism, IntegerNoise):
            window = Window.around([_integer(x), _integer(y)], self.reach)
            return noisy(self.mechanism, x, window), noisy(self.mechanism, y, window)
        if isinstance(self.mechanism, Rule):
            return keys_pair(self.mechanism, x, y, self.reach)
        return self.law(x), self.law(y)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise Invalid("noise on integers is compared for single integers", hint="use a joint.Joint for a vector")
    return int(value)


def lawful(mechanism: Any, runs: int = RUNS) -> Lawful:
    """Anything that `exact` takes, as something that can tell its laws."""
    if isinstance(mechanism, Mechanism):
        return Ours(mechanism)
    if isinstance(mechanism, Lawful):
        return mechanism
    if isinstance(mechanism, WrittenChannel):
        return LawTable.of(mechanism.channel())
    if callable(mechanism):
        return Program(mechanism, runs) if _takes_two(mechanism) else LawFunction(mechanism)
    if isinstance(mechanism, Mapping | Sequence | np.ndarray) and not isinstance(mechanism, str | bytes):
        return LawTable.of(mechanism)
    raise Invalid(
        f"a mechanism must be a table, a function or one of ours, got {shown(mechanism)}",
        hint="rows of probabilities; data -> {output: probability}; or (data, source) -> output",
    )


def _takes_two(function: Callable[..., Any]) -> bool:
    """Whether a function needs data and a source; one that needs data alone tells a law."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = [each for each in inspect.signature(function).parameters.values() if each.kind in kinds]
    return len([each for each in given if each.default is inspect.Parameter.empty]) >= 2


@dataclass(frozen=True, slots=True)
class Compared:
    """Two neighbours, in one direction, and the laws of what is released of them."""

    first: Any
    second: Any
    laws: tuple[Law, Law] = field(repr=False)

    def epsilon(self, delta: Number = 0) -> Epsilon:
        return epsilon_of(*self.laws, delta)

    def delta(self, epsilon: Number = 0) -> Bracket:
        return delta_of(*self.laws, epsilon)

    @property
    def output(self) -> Hashable:
        """The output that tells the first from the second best."""
        return worst(*self.laws)[0]

    @property
    def ratio(self) -> Ratio:
        """How much likelier that output surely is for the first."""
        return worst(*self.laws)[1]

    @property
    def chances(self) -> tuple[Bracket, Bracket]:
        """The probabilities of that output."""
        first, second = self.laws
        return first.chance(self.output), second.chance(self.output)


@dataclass(frozen=True, slots=True)
class Exact:
    """What is known of a mechanism over all neighbours that were compared, each in both directions."""

    pairs: tuple[Compared, ...]

    def epsilon(self, delta: Number = 0) -> Epsilon:
        """The least ε such that it is (ε, δ)-DP over these neighbours; infinite where some output is impossible on one side."""
        found = [each.epsilon(delta) for each in self.pairs]
        return Epsilon(
            max((each.ratio_low for each in found), default=ONE), max((each.ratio_high for each in found), default=ONE)
        )

    def delta(self, epsilon: Number = 0) -> Bracket:
        """The least δ such that it is (ε, δ)-DP over these neighbours."""
        found = [each.delta(epsilon) for each in self.pairs]
        return Bracket(
            max((each.low for each in found), default=ZERO), max((each.high for each in found), default=ZERO)
        )

    @property
    def hidden(self) -> Fraction:
        """The most that any of the laws does not list one by one: with it as δ, ε has an upper bound."""
        return min(ONE, max((law.hidden for each in self.pairs for law in each.laws), default=ZERO))

    @property
    def worst(self) -> Compared | None:
        """The neighbours that are told apart best by a single output; None where there are none."""
        return max(self.pairs, key=lambda each: (each.ratio, each.chances[0].low), default=None)

    @property
    def neighbours(self) -> tuple[Any, Any] | None:
        """The worst neighbours."""
        return None if self.worst is None else (self.worst.first, self.worst.second)

    @property
    def output(self) -> Hashable:
        """The worst output."""
        return None if self.worst is None else self.worst.output

    def __str__(self) -> str:
        most = self.worst
        if most is None:
            return "no neighbours: nothing to compare"
        lines = [f"ε = {self.epsilon()}", f"δ = {self.delta()} at ε = 0"]
        if self.hidden:
            part = f"{float(self.hidden):.3g}"
            lines.insert(1, f"ε = {self.epsilon(self.hidden)} at δ = {part}, the most that is not listed one by one")
        first, second = most.chances
        lines.append(
            f"worst output {shown(most.output)}: {first} for {shown(most.first)}, {second} for {shown(most.second)}"
        )
        return "\n".join(lines)


def exact(mechanism: Any, neighbours: Iterable[tuple[Any, Any]] | None = None, *, runs: int = RUNS) -> Exact:
    """The exact ε, δ(ε), worst output and worst neighbours of a mechanism with finitely many outputs.

    `mechanism` is a table (rows[x][y] = Pr[y | x], in lists or mappings), a function data -> {output: probability}, a program
    (data, source) -> output over coins, one of our mechanisms, a protocol of local privacy (or whatever else has a `channel`), or a
    `joint.Joint`. `neighbours` are pairs of data sets, each compared in both directions. Without them any two rows of a table or a channel,
    or any two answers to a randomized response, are neighbours.

    >>> print(exact([[3/4, 1/4], [1/4, 3/4]]))
    ε = ln 3 = 1.09861229
    δ = 1/2 at ε = 0
    worst output 0: 3/4 for 0, 1/4 for 1
    """
    told = lawful(mechanism, runs)
    pairs = _all_pairs(told) if neighbours is None else neighbours
    compared = []
    for x, y in pairs:
        first, second = told.laws(x, y)
        compared += [Compared(x, y, (first, second)), Compared(y, x, (second, first))]
    return Exact(tuple(compared))


def _all_pairs(told: Lawful) -> Iterable[tuple[Any, Any]]:
    if isinstance(told, LawTable):
        return combinations(told.rows, 2)
    answers = answers_of(told.mechanism) if isinstance(told, Ours) else None
    if answers is None:
        raise Invalid("neighbours must be given: pairs of data sets that differ in one person")
    return combinations(answers, 2)


def __dir__() -> list[str]:
    return sorted(__all__)
