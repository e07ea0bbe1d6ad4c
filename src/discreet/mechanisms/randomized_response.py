"""Randomized response: each answer is told truly with a known probability, and otherwise replaced; nobody needs to be trusted.

Neighbours exchange the answers of one unit for others; how many answers there are is public. A sensitivity here is the number of
answers that one unit gives. What is computed from released answers, such as their sum or the estimates below, costs nothing more.
"""

from abc import abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import exp, expm1, log, sqrt
from statistics import NormalDist
from typing import Any, TypeAlias, overload

import numpy as np

from discreet.errors import Invalid
from discreet.exact import (
    Number,
    exp_neg_bounds,
    log_up,
    nonnegative,
    positive,
    rational,
    shown,
    to_float_up,
    whole,
)
from discreet.fields import Exact, frozen
from discreet.mechanisms.additive import Array, Ints, integer_sensitivity, repeated
from discreet.mechanisms.base import Example, Mechanism, confidence_level, registry
from discreet.noise import Source, keep_or_replace, odds
from discreet.noise.bernoulli import Odds
from discreet.privacy import calibrate, events

Real: TypeAlias = Fraction | float

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
MOST_ANSWERS = 1 << 62  # that are given, or that one question may have, for int64
MOST_LISTED = 1 << 20  # whose frequencies are estimated all at once
MOST_EXPONENT = Fraction(1000)  # e to minus this is 0 as a float
MOST_BITS = 1000  # of the probability of a lie: e^-693 is as small as it becomes
DIGITS = 9  # of an eta that is searched for
PLENTY = 10.0  # the variance of a count from which corrected quantiles of the normal distribution are used
LEAST_MISS = 1e-6  # and up to which confidence


@dataclass(frozen=True, slots=True)
class Estimate:
    """An unbiased estimate made of counted answers, and its variance for the noise alone, given the data."""

    value: Real
    variance: Real
    answers: int
    spread: float  # the most that one answer adds to the variance of the count
    step: float  # what one more in the count adds to the value

    def error(self, confidence: Number = 0.95) -> float:
        """± of the value: the exact one is within it with at least this probability, whatever the data are."""
        return self.step * deviation(self.answers, self.spread, confidence)


def deviation(answers: int, spread: float, confidence: Number) -> float:
    """How far any sum of this many independent coins, of variance at most `spread` each, is from its mean.

    Returns w with Pr[|sum − mean| > w] <= 1 − confidence. Hoeffding's and Bernstein's inequalities always hold. Where the
    variance is PLENTY the normal quantile is closer, with what skewness and the steps of a count add (Cornish and Fisher 1938);
    that is an approximation, and holds to a thousandth of 1 − confidence wherever it was compared with exact sums.
    """
    miss, variance = 1 - _level(confidence), answers * spread
    level = log(2 * miss.denominator) - log(miss.numerator)
    bernstein = level / 3 + sqrt(level * level / 9 + 2 * variance * level)
    width = min(sqrt(answers * level / 2), bernstein, float(answers))
    if variance < PLENTY or miss < LEAST_MISS:
        return width
    z = -NormalDist().inv_cdf(float(miss / 2))
    skew = sqrt(max(0.0, 1 - 4 * spread)) * max(0.0, z * z - 1) / 6
    return min(width, z * sqrt(variance) + skew + 0.5)


def _level(confidence: Number) -> Fraction:
    confidence_level(confidence)  # refuses what is none
    return rational(confidence, "confidence")


@dataclass(frozen=True, slots=True)
class Chances:
    """The true one of k answers comes with probability `truth`, each of the others with probability `other`."""

    k: int
    keep: Fraction | Odds  # `truth`, exactly
    truth: Real
    other: Real
    gap: Real  # truth − other

    @classmethod
    def of_two(cls, keep: Fraction) -> "Chances":
        return cls(2, keep, keep, 1 - keep, 2 * keep - 1)

    @property
    def truth_down(self) -> Fraction:
        """A lower bound of `truth`, within 2^-63."""
        return Fraction(self.keep.bounds(64)[0], 1 << 64) if isinstance(self.keep, Odds) else self.keep

    @property
    def variances(self) -> tuple[Real, Real]:
        """The variances of whether an answer comes, where it is the truth and where it is not."""
        return self.truth * (self.k - 1) * self.other, self.other * (1 - self.other)


class Response(Mechanism):
    """Each answer is kept, or replaced by one of the others, uniformly; each independently of the others."""

    __slots__ = ()

    @property
    @abstractmethod
    def _chances(self) -> Chances: ...

    @abstractmethod
    def _leaf(self) -> events.Leaf:
        """The event of one answer."""

    @abstractmethod
    def _codes(self, exact: Any) -> "int | Ints":
        """The exact answers as integers 0 … k−1, or Invalid."""

    def event(self, sensitivity: Number = 1) -> events.Event:
        """What is drawn, for a unit that gives at most this many answers."""
        return repeated(self._leaf(), integer_sensitivity(sensitivity))

    @overload
    def __call__(self, exact: int | np.integer[Any], source: Source | None = None) -> int: ...
    @overload
    def __call__(self, exact: Array, source: Source | None = None) -> Ints: ...
    def __call__(self, exact: Any, source: Source | None = None) -> Any:
        """An int for an answer, an int64 array for a list or an array of them."""
        codes, chances = self._codes(exact), self._chances
        return keep_or_replace(codes, chances.k, chances.keep, source=source)

    def probability(self, output: Any, exact: Any) -> Real:
        """Pr[output], given the exact answer, or all of them; an exact Fraction where it is rational."""
        codes, answers = np.asarray(self._codes(exact)), np.asarray(output)
        if codes.shape != answers.shape:
            raise Invalid("output must have the shape of exact")
        chances = self._chances
        if not ((answers >= 0) & (answers < chances.k)).all():
            return 0 * chances.truth
        truths = int((answers == codes).sum())
        return chances.truth**truths * chances.other ** (codes.size - truths)


class CategoryResponse(Response):
    """Responses that are answers themselves: one of 0 … k−1, for one of 0 … k−1."""

    __slots__ = ()

    def _codes(self, exact: Any) -> "int | Ints":
        k = self._chances.k
        return _integers(exact, 0, k - 1, f"in 0 … {k - 1}")

    def error(self, confidence: Number = 0.95) -> float:
        """The error of one answer: 0 where it is the truth with at least this probability, else it may be any."""
        told = self._chances.truth_down >= _level(confidence)
        return 0.0 if told else float(self._chances.k - 1)

    def frequency(self, count: int, n: int) -> Estimate:
        """The share of n people whose exact answer is this one, which `count` of the n released answers are.

        (count/n − q)/(p − q), with variance (f p(1−p) + (1−f) q(1−q))/(n (p−q)²) at the share f, here as it is estimated; p is the
        probability of the truth and q that of each other answer (Warner 1965; Wang, Blocki, Li and Jha 2017).

        >>> found = CoinToss().frequency(60, 100)
        >>> found.value, found.variance, round(found.error(), 3)
        (Fraction(7, 10), Fraction(3, 400), 0.184)
        """
        people, chances = _people(n, count, "count"), self._chances
        if not chances.gap:
            raise Invalid("epsilon is too small for an estimate: the answers say nothing", hint="use a larger one")
        value = (Fraction(count, people) - chances.other) / chances.gap
        share = min(max(value, 0), 1)
        told, other = chances.variances
        spread = share * told + (1 - share) * other
        return Estimate(
            value=value,
            variance=spread / people / chances.gap / chances.gap,
            answers=people,
            spread=max(float(told), float(other)),
            step=to_float_up(1 / (people * Fraction(chances.gap))),
        )

    def frequencies(self, released: Any) -> tuple[Estimate, ...]:
        """The share of each answer among all people, from what they released."""
        k = self._chances.k
        if k > MOST_LISTED:
            raise Invalid(f"k must be at most {MOST_LISTED} to list every answer", hint="use frequency(count, n)")
        answers = np.ravel(_integers(released, 0, k - 1, f"in 0 … {k - 1}", name="released"))
        if not answers.size:
            raise Invalid("released must hold an answer at least")
        return tuple(self.frequency(int(count), answers.size) for count in np.bincount(answers, minlength=k))


def _people(n: int, counted: int, name: str) -> int:
    people = whole(n, "n", least=1)
    if people > MOST_ANSWERS:
        raise Invalid(f"n must be at most 2^62, got {shown(n)}")
    if whole(counted, name) > people:
        raise Invalid(f"{name} must be at most n")
    return people


def _examples() -> list[Example]:
    return [
        Example(RandomizedResponse(Fraction(1)), 1, 0, 1),
        Example(RandomizedResponse(Fraction(1, 2), 5), 1, 4, 1),
        Example(RandomizedResponse(Fraction(2), 3), 2, [0, 2, 1], [0, 1, 2]),
    ]


@registry.add(_examples)
@frozen
class RandomizedResponse(CategoryResponse):
    """The truth with probability e^ε/(e^ε + k − 1), each other answer with 1/(e^ε + k − 1): ε-DP, and no less.

    (Warner 1965; for k answers Kairouz, Oh and Viswanath 2016.) The probabilities of what is drawn are exact.

    >>> RandomizedResponse(1).loss().epsilon()
    1.0
    """

    epsilon: Exact
    k: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, "epsilon"))
        object.__setattr__(self, "k", whole(self.k, "k", least=2))
        if self.k > MOST_ANSWERS:
            raise Invalid(f"k must be at most 2^62, got {shown(self.k)}")

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Number = 1, *, k: int = 2) -> "RandomizedResponse":
        """The most truth that is epsilon-DP, for a unit that gives this many answers."""
        return cls(positive(epsilon, "epsilon") / _times(sensitivity), k)

    @classmethod
    def for_budget(
        cls, epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1, k: int = 2
    ) -> "RandomizedResponse":
        """The most truth that is (epsilon, delta)-DP, for a unit that gives this many answers."""
        return cls(calibrate.randomized_response(epsilon, delta, k, times=_times(sensitivity)).scale, k)

    @property
    def _chances(self) -> Chances:
        e, others = float(min(self.epsilon, MOST_EXPONENT)), self.k - 1
        truth = 1 / (1 + others * exp(-e))
        return Chances(self.k, odds(self.epsilon, self.k), truth, exp(-e) * truth, -expm1(-e) * truth)

    def _leaf(self) -> events.Leaf:
        return events.RandomizedResponse(self.epsilon, self.k)


def _times(sensitivity: Number) -> int:
    return integer_sensitivity(positive(sensitivity, "sensitivity"))


def _toss_examples() -> list[Example]:
    return [Example(CoinToss(), 1, 0, 1), Example(CoinToss(), 2, [0, 1, 1], [1, 1, 0])]


@registry.add(_toss_examples)
@frozen
class CoinToss(CategoryResponse):
    """Toss a coin: tails, tell the truth; heads, toss again and tell what that shows. Pr[1|1] = 3/4, Pr[1|0] = 1/4: ln 3.

    >>> CoinToss().probability(1, 1) / CoinToss().probability(1, 0)
    Fraction(3, 1)
    """

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Number = 1) -> "CoinToss":
        """The coin toss, where it is epsilon-DP for a unit that gives this many answers; else Invalid."""
        if _times(sensitivity) * log_up(Fraction(3)) > positive(epsilon, "epsilon"):
            raise _unfit(epsilon)
        return cls()

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1) -> "CoinToss":
        """The coin toss, where it is (epsilon, delta)-DP for a unit that gives this many answers; else Invalid."""
        if not nonnegative(delta, "delta"):
            return cls.for_epsilon(epsilon, sensitivity)
        if not cls().loss(_times(sensitivity)).certifies(epsilon, delta):
            raise _unfit(epsilon)
        return cls()

    @property
    def _chances(self) -> Chances:
        return Chances.of_two(Fraction(3, 4))

    def _leaf(self) -> events.Leaf:
        return _table(self._chances)


def _unfit(epsilon: Number) -> Invalid:
    return Invalid(
        f"epsilon must be at least ln 3 for each coin toss of a unit, got {shown(epsilon)}",
        hint="use RandomizedResponse, which takes any epsilon",
    )


def _table(chances: Chances) -> events.FiniteTable:
    p, q = Fraction(chances.truth), Fraction(chances.other)
    return events.FiniteTable(((p, q), (q, p)))


def _signed_examples() -> list[Example]:
    return [
        Example(SignedResponse(QUARTER), 1, -1, 1),
        Example(SignedResponse(Fraction(1, 100)), 1, 1, -1),
        Example(SignedResponse(Fraction(2, 5)), 2, [1, 1, -1], [-1, 1, 1]),
    ]


@registry.add(_signed_examples)
@frozen
class SignedResponse(Response):
    """A bit of 0 or 1 for a bit b of −1 or 1, which is 1 with probability ½ + ηb; 0 < η < ½.

    The loss is ln((½ + η)/(½ − η)) = 2 artanh(2η), about 4η, for one bit and for the sum of all of them alike: where all others
    are 1 the sum is the number of bits only if each of them came out 1.

    >>> from math import atanh
    >>> round(SignedResponse(0.1).loss().epsilon() / (2 * atanh(0.2)), 9)
    1.0
    """

    eta: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", rational(self.eta, "eta"))
        if not 0 < self.eta < HALF:
            raise Invalid(f"eta must lie between 0 and 1/2, got {shown(self.eta)}")

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Number = 1) -> "SignedResponse":
        """The largest eta, to nine digits, that is epsilon-DP for a unit that gives this many bits: tanh(ε/2)/2.

        >>> SignedResponse.for_epsilon(1).eta
        Fraction(115529289, 500000000)
        """
        return cls(_eta_down(positive(epsilon, "epsilon") / _times(sensitivity)))

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1) -> "SignedResponse":
        """The largest eta, to nine digits, that is (epsilon, delta)-DP for a unit that gives this many bits."""
        return cls(_eta_down(calibrate.randomized_response(epsilon, delta, times=_times(sensitivity)).scale))

    @property
    def _chances(self) -> Chances:
        return Chances.of_two(HALF + self.eta)

    def _leaf(self) -> events.Leaf:
        return _table(self._chances)

    def _codes(self, exact: Any) -> "int | Ints":
        signs = _integers(exact, -1, 1, "−1 or 1")
        if not np.all(signs):
            raise Invalid("exact must be −1 or 1")
        return (signs + 1) // 2

    def error(self, confidence: Number = 0.95) -> float:
        """± of the estimate (b′ − ½)/η of one bit."""
        told = HALF + self.eta >= _level(confidence)
        return to_float_up(1 / (2 * self.eta) + (-1 if told else 1))

    def total(self, exact: Any, source: Source | None = None) -> int:
        """The sum of the released bits, and nothing else of them."""
        return int(np.sum(self(exact, source)))

    def estimate(self, total: int, n: int) -> Estimate:
        """An estimate of the sum of n exact bits from that of the released ones: (Σb′ − n/2)/η, with variance (n/4 − η²n)/η².

        >>> found = SignedResponse(0.25).estimate(60, 100)
        >>> found.value, found.variance, round(found.error(), 1)
        (Fraction(40, 1), Fraction(300, 1), 36.9)
        """
        bits = _people(n, total, "total")
        spread = QUARTER - self.eta**2
        return Estimate(
            value=(total - Fraction(bits, 2)) / self.eta,
            variance=bits * spread / self.eta**2,
            answers=bits,
            spread=float(spread),
            step=to_float_up(1 / self.eta),
        )


def _eta_down(epsilon: Fraction) -> Fraction:
    """The largest eta with 2 artanh(2η) <= ε, but for the digits after the first DIGITS of η, or of ½ − η where that is less.

    tanh(ε/2)/2 = ½ − e^−ε/(1 + e^−ε), with an upper bound of e^−ε.
    """
    small = max(0, epsilon.denominator.bit_length() - epsilon.numerator.bit_length())
    bits = MOST_BITS if epsilon > 1 else 64 + small
    up = Fraction(exp_neg_bounds(epsilon, bits)[1], 1 << bits)
    lie = up / (1 + up)
    return HALF - _digits(lie, ROUND_CEILING) if lie < QUARTER else _digits(HALF - lie, ROUND_FLOOR)


def _digits(x: Fraction, rounding: str) -> Fraction:
    return Fraction(Context(prec=DIGITS, rounding=rounding).divide(Decimal(x.numerator), Decimal(x.denominator)))


def _integers(values: Any, least: int, most: int, where: str, name: str = "exact") -> "int | Ints":
    """An integer, or an int64 array of integers, all of them from `least` to `most`; else Invalid, which says no value."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise Invalid(f"{name} must be an integer or an array of integers") from error
    if not array.size:
        return np.zeros(array.shape, np.int64)
    if array.dtype.kind not in "iu":
        raise Invalid(f"{name} must hold integers, got {array.dtype} values")
    if not (int(array.min()) >= least and int(array.max()) <= most):
        raise Invalid(f"{name} must be {where}")
    return array.astype(np.int64) if array.ndim else int(array)
