"""The Bayesian reading of privacy: what someone believes of one person's value, before and after the output is seen.

Someone who knows everybody else's value, and any prior, learns by a factor of e^±ε at most from an output of an ε-DP mechanism:
e^−ε <= p(x_i | others, z) / p(x_i | others) <= e^ε. That is where *replacing* one value makes neighbours. Without the others it is, for
one fixed prior, neither stronger nor weaker: values that hang together may tell more, and a prior that hides everything may tell nothing
of a mechanism that is not private at all. All numbers are exact, or brackets with the truth inside.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.audit.enumeration import lawful
from discreet.audit.law import ZERO, Bracket, Epsilon, Law, Ratio, over
from discreet.errors import Invalid
from discreet.exact import Number, probability, whole

__all__ = ["Belief", "Learned", "belief", "learned"]

People = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of one person's value, before and after an output was seen."""

    output: Hashable
    others: People | None
    """The values of everybody else, where they are known."""

    before: Mapping[Any, Fraction]
    after: Mapping[Any, Bracket]

    @property
    def ratios(self) -> dict[Any, Bracket]:
        """p(value | output) / p(value), for each value that was possible."""
        return {
            value: Bracket(self.after[value].low / p, self.after[value].high / p) for value, p in self.before.items()
        }


@dataclass(frozen=True, slots=True)
class Learned:
    """The most that any output tells, over everything that the others may be."""

    beliefs: tuple[Belief, ...]

    @property
    def epsilon(self) -> Epsilon:
        """The least ε with e^−ε <= p(value | output)/p(value) <= e^ε for every output and value."""
        ratios = [each for belief in self.beliefs for each in belief.ratios.values()]
        return Epsilon(
            max((_far(each.low, each.high) for each in ratios), default=Fraction(1)),
            max((max(each.high, over(Fraction(1), each.low)) for each in ratios), default=Fraction(1)),
        )

    @property
    def worst(self) -> Belief | None:
        """The belief that changes most; None where there is no output."""
        return max(
            self.beliefs,
            key=lambda belief: max(_far(each.low, each.high) for each in belief.ratios.values()),
            default=None,
        )


def _far(low: Fraction, high: Fraction) -> Ratio:
    """How far a ratio between these surely is from 1, as a factor."""
    return max(Fraction(1), low, over(Fraction(1), high))


def belief(
    prior: Mapping[People, Number], mechanism: Any, person: int, output: Hashable, others: People | None = None
) -> Belief:
    """What someone believes of one person's value after an output, who knows the prior, and all others' values if they are given.

    `prior` gives each data set, a tuple of everybody's values, its probability. `mechanism` is what `audit.exact` takes.

    >>> prior = {(0,): 0.5, (1,): 0.5}
    >>> found = belief(prior, lambda bits: {bits[0]: 0.75, 1 - bits[0]: 0.25}, 0, 1)
    >>> {value: str(chance) for value, chance in found.after.items()}
    {0: '1/4', 1: '3/4'}
    """
    worlds, told = _worlds(prior, person), lawful(mechanism)
    known = {data: p for data, p in worlds.items() if others is None or _others(data, person) == tuple(others)}
    if not known:
        raise Invalid("others must be possible under the prior")
    laws = {data: told.law(data) for data in known}
    found = _belief(known, laws, person, output, None if others is None else tuple(others))
    if found is None:
        raise Invalid("output must be possible under the prior")
    return found


def learned(prior: Mapping[People, Number], mechanism: Any, person: int, *, informed: bool = True) -> Learned:
    """The most that is learned of one person over all outputs: by someone who knows all others' values, or who knows none of them.

    >>> def xor(bits):
    ...     return {bits[0] ^ bits[1]: 1}
    >>> even = {(a, b): 0.25 for a in (0, 1) for b in (0, 1)}
    >>> print(learned(even, xor, 0, informed=False).epsilon, learned(even, xor, 0).epsilon)
    0 ∞
    """
    worlds, told = _worlds(prior, person), lawful(mechanism)
    laws = {data: told.law(data) for data in worlds}
    sides: Iterable[People | None] = dict.fromkeys(_others(data, person) for data in worlds) if informed else [None]
    found = []
    for others in sides:
        known = {data: p for data, p in worlds.items() if others is None or _others(data, person) == others}
        outputs = dict.fromkeys(output for data in known for output in laws[data].chances)
        beliefs = (_belief(known, laws, person, output, others) for output in outputs)
        found += [each for each in beliefs if each is not None]
    return Learned(tuple(found))


def _belief(
    worlds: Mapping[People, Fraction], laws: Mapping[People, Law], person: int, output: Hashable, others: People | None
) -> Belief | None:
    """Bayes' rule; None for an output that surely never comes."""
    total = sum(worlds.values(), ZERO)
    before: dict[Any, Fraction] = {}
    joint: dict[Any, Bracket] = {}
    for data, p in worlds.items():
        value, chance = data[person], laws[data].chance(output)
        before[value] = before.get(value, ZERO) + p / total
        known = joint.get(value, Bracket(ZERO, ZERO))
        joint[value] = Bracket(known.low + p * chance.low, known.high + p * chance.high)
    low, high = (sum((getattr(each, end) for each in joint.values()), ZERO) for end in ("low", "high"))
    if not high:
        return None
    after = {
        value: Bracket(_share(each.low, high - each.high), _share(each.high, low - each.low))
        for value, each in joint.items()
    }
    return Belief(output, others, before, {value: each.short() for value, each in after.items()})


def _share(own: Fraction, rest: Fraction) -> Fraction:
    return own / (own + rest) if own else ZERO


def _worlds(prior: Mapping[People, Number], person: int) -> dict[People, Fraction]:
    if not isinstance(prior, Mapping) or not all(isinstance(data, tuple) for data in prior):
        raise Invalid("prior must be a mapping of tuples, everybody's values, to probabilities")
    worlds = {data: probability(p, "prior") for data, p in prior.items()}
    if sum(worlds.values(), ZERO) != 1:
        raise Invalid("prior must add up to exactly 1", hint="write probabilities as fractions or decimals")
    place = whole(person, "person")
    if any(place >= len(data) for data in worlds):
        raise Invalid("person must be the number of one of the people in every data set of the prior")
    return {data: p for data, p in worlds.items() if p}


def _others(data: People, person: int) -> People:
    return (*data[:person], *data[person + 1 :])


def __dir__() -> list[str]:
    return sorted(__all__)
