"""Composition bounds of which the statement is the computation: basic, parallel, advanced."""

from collections.abc import Iterable
from fractions import Fraction
from math import inf

from discreet.errors import Invalid
from discreet.exact import EXP_LIMIT, Number, log_up, nonnegative, probability, shown, sqrt_up, to_float_up, whole
from discreet.privacy.adjacency import Adjacency
from discreet.privacy.theorems.rounding import expm1_up

ZERO, ONE = Fraction(0), Fraction(1)


def basic_composition(parts: Iterable[tuple[Number, Number]]) -> tuple[Fraction, Fraction]:
    """(Σε, Σδ), also when each mechanism is chosen after seeing what the earlier ones gave. Exact.

    Dwork, McSherry, Nissim and Smith 2006; Dwork and Lei 2009 for δ > 0. For pure ε it is the best possible.

    >>> basic_composition([(0.1, 0)] * 10), basic_composition([(1, 1e-6), (0.5, 2e-6)])
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(3, 2), Fraction(3, 1000000)))
    """
    pairs = pairs_of(parts)
    return sum((e for e, _ in pairs), ZERO), min(ONE, sum((d for _, d in pairs), ZERO))


def parallel_composition(parts: Iterable[tuple[Number, Number]], adjacency: Adjacency) -> tuple[Fraction, Fraction]:
    """Mechanisms on disjoint groups of people: under add/remove the largest ε and δ, under replace the sums of the two largest.

    McSherry 2009, theorem 4. The groups must be told apart by a declared public function of the person, the same for all rows of that
    person. Each part must hold for the relation within its group and, under replace, for adding or removing a person as well: a
    person replaced by one of another group leaves one part and enters another.

    >>> parallel_composition([(1, 0), (0.5, 1e-6), (2, 0)], Adjacency.ADD_REMOVE)
    (Fraction(2, 1), Fraction(1, 1000000))
    >>> parallel_composition([(1, 0), (0.5, 1e-6), (2, 0)], Adjacency.REPLACE)
    (Fraction(3, 1), Fraction(1, 1000000))
    """
    if not isinstance(adjacency, Adjacency):
        raise Invalid(f"adjacency must be an Adjacency, got {shown(adjacency)}")
    pairs = pairs_of(parts)
    touched = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    epsilons, deltas = sorted((e for e, _ in pairs), reverse=True), sorted((d for _, d in pairs), reverse=True)
    return sum(epsilons[:touched], ZERO), min(ONE, sum(deltas[:touched], ZERO))


def advanced_composition(epsilon: Number, delta: Number, k: int, slack: Number) -> tuple[float, Fraction]:
    """k times (ε, δ) is (ε√(2k ln 1/δ′) + kε(e^ε − 1), kδ + δ′), for any slack 0 < δ′ < 1.

    Dwork, Rothblum and Vadhan 2010, theorem III.3. `optimal_epsilon` is never above it.

    >>> from math import sqrt, log, exp
    >>> epsilon, delta = advanced_composition(0.1, 0, 100, 1e-6)
    >>> abs(epsilon - (0.1 * sqrt(200 * log(1e6)) + 10 * (exp(0.1) - 1))) < 1e-14, delta
    (True, Fraction(1, 1000000))
    """
    e, d, k = nonnegative(epsilon, "epsilon"), probability(delta, "delta"), whole(k, "k", least=1)
    more = _open_probability(slack, "slack")
    total = min(ONE, k * d + more)
    if e > EXP_LIMIT:
        return inf, total
    return to_float_up(e * sqrt_up(2 * k * log_up(1 / more)) + k * e * expm1_up(e)), total


def pairs_of(parts: object) -> list[tuple[Fraction, Fraction]]:
    """The (ε, δ) of a caller's parts, exactly."""
    if not isinstance(parts, Iterable):
        raise Invalid(f"parts must be pairs (epsilon, delta), got {shown(parts)}")
    return [_pair(part) for part in parts]


def _pair(part: object) -> tuple[Fraction, Fraction]:
    if not isinstance(part, tuple) or len(part) != 2:
        raise Invalid(f"each part must be a pair (epsilon, delta), got {shown(part)}")
    return nonnegative(part[0], "epsilon"), probability(part[1], "delta")


def _open_probability(value: object, name: str) -> Fraction:
    number = probability(value, name)
    if number in (0, 1):
        raise Invalid(f"{name} must be strictly between 0 and 1, got {shown(value)}")
    return number
