"""How large δ may be for a number of people.

A mechanism that publishes one random row is (0, 1/n)-private under replace, and one that publishes each row with probability δ is
(0, δ)-private and exposes somebody with probability 1 − (1−δ)^n. So δ promises nothing unless it is well below 1/n.
The number of people is a declared, public number; it is never counted from data.
"""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context
from enum import Enum
from fractions import Fraction
from math import exp

from discreet.exact import Number, exp_down, log_up, nonnegative, probability, to_float_down, whole

CUSTOMARY = Fraction(1, 10**5)
"""The largest δ that is advised, however few the people."""


IN_ALL, FOR_ONE = Fraction(10), Fraction(5)
"""The largest ε that goes without a note: of all questions together, and of a single one."""

BEYOND = Fraction(20)
"""From this ε on, odds are only called more than 400 million to 1."""


class Verdict(Enum):
    """What to do about a δ, from good to bad."""

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Advice:
    """A verdict on a δ, a sentence for people, and the δ that is advised."""

    verdict: Verdict
    sentence: str
    advised: float


def delta_advice(people: int) -> float:
    """The δ advised for n people: min(n^-1.1, 1e-5), rounded down.

    >>> delta_advice(1000), round(delta_advice(10**6) / 10**-6.6, 12)
    (1e-05, 1.0)
    """
    n = whole(people, "people", least=1)
    return to_float_down(min(CUSTOMARY, exp_down(Fraction(-11, 10) * log_up(Fraction(n)))))


def judge_delta(delta: Number, people: int) -> Advice:
    """What to think of δ for n people: a refusal from nδ = 1 on, a warning from nδ = 1/2, a note above n^-1.1, else fine.

    The comparisons are exact.

    >>> [judge_delta(delta, 10**6).verdict.value for delta in (1e-6, 5e-7, 4e-7, 2.5e-7)]
    ['refusal', 'warning', 'note', 'fine']
    >>> print(judge_delta(1e-6, 10**6).sentence)
    delta 1e-06 allows publishing one of 1,000,000 people's rows outright: it promises nothing; take at most 2.5e-07
    """
    d, n = probability(delta, "delta"), whole(people, "people", least=1)
    advised = delta_advice(n)
    given, take = f"delta {float(d):.3g}", f"take at most {_two_digits_down(advised)}"
    if n * d >= 1:
        sentence = f"{given} allows publishing one of {n:,} people's rows outright: it promises nothing; {take}"
        return Advice(Verdict.REFUSAL, sentence, advised)
    if 2 * n * d >= 1:
        sentence = f"{given} is close to one in {n:,} people, and at that it would promise nothing; {take}"
        return Advice(Verdict.WARNING, sentence, advised)
    if _above_power(d, n):
        return Advice(Verdict.NOTE, f"{given} is more than is customary for {n:,} people; {take}", advised)
    return Advice(Verdict.FINE, f"{given} is small enough for {n:,} people", advised)


def note_on_epsilon(epsilon: Number, *, in_all: bool) -> tuple[str, ...]:
    """What an attacker may know at an ε above 10 in all, or above 5 for one question; nothing below.

    Even odds of anything about one person may become e^ε to 1 for whoever knows all others (`theorems.posterior_bounds`).

    >>> note_on_epsilon(10, in_all=True), note_on_epsilon(5, in_all=False)
    ((), ())
    >>> print(*note_on_epsilon(6, in_all=False))
    ε = 6 for one question is above 5: whoever knows all others may turn even odds of something about one person into about 400 to 1
    """
    e, most = nonnegative(epsilon, "epsilon"), IN_ALL if in_all else FOR_ONE
    if e <= most:
        return ()
    odds = f"about {float(f'{exp(e):.2g}'):,.0f}" if e < BEYOND else "more than 400,000,000"
    return (
        f"ε = {float(e):.6g} {'in all' if in_all else 'for one question'} is above {most}: whoever knows all others may turn"
        f" even odds of something about one person into {odds} to 1",
    )


def judge_delta_alone(delta: Number) -> Advice:
    """What to think of δ where nobody said how many people there are.

    >>> print(judge_delta_alone(0.01).sentence)
    delta 0.01 allows publishing the rows of one in 100 people outright; take well below one in the number of people, 1e-05 at most
    """
    d, most = probability(delta, "delta"), to_float_down(CUSTOMARY)
    if d <= CUSTOMARY:
        return Advice(Verdict.FINE, f"delta {float(d):.3g} is customary", most)
    return Advice(
        Verdict.NOTE,
        f"delta {float(d):.3g} allows publishing the rows of one in {int(1 / d):,} people outright;"
        f" take well below one in the number of people, {most:g} at most",
        most,
    )


def _two_digits_down(x: float) -> str:
    """A short text of a number that is not above it."""
    return f"{float(Context(prec=2, rounding=ROUND_DOWN).create_decimal(repr(x))):.2g}"


def _above_power(delta: Fraction, n: int) -> bool:
    """Whether δ > n^-1.1, by δ^10 n^11 > 1."""
    return delta**10 * n**11 > 1
