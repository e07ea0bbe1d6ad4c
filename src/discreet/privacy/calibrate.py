"""The least noise that meets a target (ε, δ): for one release, for many, and for sampled ones; with its certificate.

Each function returns a `Calibrated`: the scale (for responses the ε of one), and the certificate that was checked at exactly that
scale by a certified bound. A near-exact search finds the scale, a certified bound on δ(ε) has the last word, and the scale is
raised until it agrees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import exp, expm1, log, log1p, sqrt

from discreet.errors import Invalid
from discreet.exact import Number, log_up, nonnegative, positive, probability, shown, sqrt_up, whole
from discreet.privacy import events
from discreet.privacy.loss import PrivacyLoss, loss
from discreet.privacy.numeric.search import root

__all__ = [
    "Calibrated",
    "Certificate",
    "Target",
    "classical_gaussian",
    "discrete_gaussian",
    "discrete_laplace",
    "gaussian",
    "laplace",
    "randomized_response",
]

# Digits of a scale.
DIGITS = 9
# Of ln δ, where the search for the scale stops.
CLOSE = 1e-7
# Of ln(scale): the first step of that search.
FIRST_STEP = 0.02
# Of ln δ: what is left to the certified bound at first, and for sampled noise, where that bound is less tight.
ROOM, SAMPLED_ROOM = 1e-9, 1e-3
MOST_LOG = 700.0
TRIES = 60
# Sampled releases, whose near-exact values take long.
FEW = 64
# Turns of one search for a scale.
MOST_TURNS = 24


@dataclass(frozen=True, slots=True)
class Certificate:
    """That `event` is (epsilon, delta)-DP, shown by a certified upper bound on its delta."""

    event: events.Event
    epsilon: Fraction
    delta: Fraction

    def holds(self) -> bool:
        """Compute the bound again, from the event alone."""
        return loss(self.event).certifies(self.epsilon, self.delta)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The noise: its scale, the event of one release, and the certificate for all of them."""

    scale: Fraction
    event: events.Leaf
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Target:
    """What must be met, by how many releases, sampled at which rate."""

    epsilon: Fraction
    delta: Fraction
    times: int = 1
    rate: Fraction = Fraction(1)

    @classmethod
    def of(cls, epsilon: Number, delta: Number, times: int = 1, rate: Number = 1) -> "Target":
        exact = cls(
            nonnegative(epsilon, "epsilon"),
            probability(delta, "delta"),
            whole(times, "times", least=1),
            probability(rate, "rate"),
        )
        if not exact.rate:
            raise Invalid(f"rate must be greater than 0 and at most 1, got {shown(rate)}")
        if not exact.epsilon and not exact.delta:
            raise Invalid("epsilon and delta are both 0: no noise is enough", hint="allow a little of one of them")
        if exact.rate < 1 and 1 - (1 - exact.rate) ** exact.times <= exact.delta < 1:
            raise Invalid("delta is at least the chance that a unit is sampled at all: any noise meets this target")
        if exact.delta == 1:
            raise Invalid("delta must be less than 1: at 1 nothing is promised, and no noise is needed")
        return exact

    def event(self, leaf: events.Leaf) -> events.Event:
        one = leaf if self.rate == 1 else events.Sampled(self.rate, leaf)
        return one if self.times == 1 else events.Repeated(one, self.times)

    def loss(self, leaf: events.Leaf) -> PrivacyLoss:
        return loss(self.event(leaf))


def gaussian(
    epsilon: Number, delta: Number, sensitivity: Number = 1, *, times: int = 1, rate: Number = 1
) -> Calibrated:
    """Gaussian noise of the least standard deviation; for one release that is the analytic Gaussian (Balle and Wang 2018).

    >>> float(gaussian(1, 1e-5).scale), float(gaussian(0, 0.01).scale)
    (3.7306316..., 39.893...)
    """
    target, size = Target.of(epsilon, delta, times, rate), positive(sensitivity, "sensitivity")
    _needs_delta(target, "Gaussian")
    start = size / Fraction(_gaussian_guess(target))
    return _least(target, lambda scale: events.Gaussian(scale, size), start)


def classical_gaussian(epsilon: Number, delta: Number, sensitivity: Number = 1) -> Calibrated:
    """σ = Δ √(2 ln(1.25/δ))/ε, for 0 < ε <= 1 only: beyond it is wrong (Dwork and Roth 2014, theorem A.1)."""
    target, size = Target.of(epsilon, delta), positive(sensitivity, "sensitivity")
    _needs_delta(target, "Gaussian")
    if not 0 < target.epsilon <= 1:
        raise Invalid(
            f"epsilon must be greater than 0 and at most 1 for the classical formula, got {shown(epsilon)}",
            hint="use gaussian(), which holds for every epsilon and needs less noise",
        )
    spread = sqrt_up(2 * log_up(Fraction(5, 4) / target.delta))
    leaf = events.Gaussian(_decimal(size * spread / target.epsilon, up=True), size)
    return _certified(target, leaf.scale, leaf)


def laplace(
    epsilon: Number, delta: Number = 0, sensitivity: Number = 1, *, times: int = 1, rate: Number = 1
) -> Calibrated:
    """Laplace noise of the least scale.

    >>> laplace(1).scale, laplace(Fraction(1, 2), times=4).scale
    (Fraction(1, 1), Fraction(8, 1))
    """
    target, size = Target.of(epsilon, delta, times, rate), positive(sensitivity, "sensitivity")
    return _least(target, lambda scale: events.Laplace(scale, size), size / _pure_share(target))


def discrete_laplace(
    epsilon: Number, delta: Number = 0, sensitivity: int = 1, *, times: int = 1, rate: Number = 1
) -> Calibrated:
    """Discrete Laplace (geometric) noise of the least scale."""
    target, size = Target.of(epsilon, delta, times, rate), whole(sensitivity, "sensitivity", least=1)
    return _least(target, lambda scale: events.DiscreteLaplace(scale, size), size / _pure_share(target))


def discrete_gaussian(
    epsilon: Number, delta: Number, sensitivity: int = 1, *, times: int = 1, rate: Number = 1
) -> Calibrated:
    """Discrete Gaussian noise. More noise may cost more here, so the search goes down from where it is enough for sure."""
    target, size = Target.of(epsilon, delta, times, rate), whole(sensitivity, "sensitivity", least=1)
    _needs_delta(target, "Gaussian")
    start = size / Fraction(_gaussian_guess(target))
    return _from_above(target, lambda scale: events.DiscreteGaussian(scale, size), start)


def randomized_response(epsilon: Number, delta: Number = 0, k: int = 2, *, times: int = 1) -> Calibrated:
    """The largest ε of each of `times` k-ary responses; `scale` is that ε.

    >>> randomized_response(2, times=4).scale
    Fraction(1, 2)
    """
    target, answers = Target.of(epsilon, delta, times), whole(k, "k", least=2)

    def response(scale: Fraction) -> events.Leaf:
        return events.RandomizedResponse(1 / scale, answers)

    found = _least(target, response, 1 / _pure_share(target))
    each = found.event.epsilon if isinstance(found.event, events.RandomizedResponse) else 1 / found.scale
    return Calibrated(each, found.event, found.certificate)


def _needs_delta(target: Target, name: str) -> None:
    if not target.delta:
        raise Invalid(f"delta must be greater than 0: {name} noise is never purely private", hint="use laplace()")


def _pure_share(target: Target) -> Fraction:
    """The ε of one release with which the sum is ε; of a sampled one, ln(1 + (e^ε − 1)/q) (Zhu, Dong and Wang 2022)."""
    each = target.epsilon / target.times
    if not each:
        return Fraction(1, 1000)  # some scale to start from: here δ alone counts
    if target.rate == 1:
        return each
    if each > MOST_LOG:
        return each
    grown = log1p(expm1(each) / float(target.rate)) if each < MOST_LOG else float(each)
    return _decimal(Fraction(grown) * Fraction(10**12 - 1, 10**12), up=False)


def _gaussian_guess(target: Target) -> float:
    """μ = Δ/σ of one release, such that all together are about Gaussian and meet the target."""
    from discreet.privacy.numeric.closed import gaussian_log_delta

    epsilon, log_delta = float(target.epsilon), log(target.delta)

    def gap(log_mu: float) -> float:
        return log_delta - gaussian_log_delta(exp(log_mu), epsilon)

    total = exp(root(gap, -40.0, 10.0, gap(-40.0), gap(10.0)))
    each = total / sqrt(target.times)
    return sqrt(log1p((each / float(target.rate)) ** 2)) if target.rate < 1 else each


def _least(target: Target, leaf_of: Callable[[Fraction], events.Leaf], start: Fraction) -> Calibrated:
    """For noise of which more never costs more: the least scale that is certified, to about DIGITS digits."""
    if not target.delta:  # pure ε adds up: the start is the answer, but for rounding where it is sampled
        while not target.loss(leaf_of(start)).certifies(target.epsilon, 0):
            start = start * (1 + Fraction(1, 10**12))
        return _certified(target, start, leaf_of(start))
    room = SAMPLED_ROOM if target.rate < 1 else ROOM
    for _ in range(TRIES):
        scale = _decimal(_near_exact(target, leaf_of, start, room), up=True)
        leaf = leaf_of(scale)
        over = target.loss(leaf).log_delta_above(target.epsilon) - log(target.delta)
        if over <= 0:
            return _certified(target, scale, leaf)
        start, room = scale, room + 1.1 * over + CLOSE
    raise Invalid("no scale could be certified for this target", code="unresolved", hint="ask for a larger delta")


def _near_exact(target: Target, leaf_of: Callable[[Fraction], events.Leaf], start: Fraction, room: float) -> Fraction:
    """The scale at which ln δ(ε) is `room` below the target: secant in ln(scale), kept between known ends.

    Of few sampled releases a certified bound is had sooner than a near-exact value.
    """
    goal, few = log(target.delta) - room, target.rate < 1 and target.times <= FEW
    worse = 0 if few else target.loss(leaf_of(start)).worse_direction(target.epsilon)

    def gap(log_scale: float) -> float:
        spent = target.loss(leaf_of(_decimal(Fraction(exp(log_scale)), up=True)))
        found = spent.log_delta_above(target.epsilon) if few else spent.log_delta(target.epsilon, worse)
        return max(found, -MOST_LOG) - goal

    x, step = log(start), FIRST_STEP
    at = gap(x)
    while True:  # until the root lies between two scales
        y = x + step if at > 0 else x - step
        at_y = gap(y)
        if (at > 0) != (at_y > 0):
            break
        x, at, step = y, at_y, 4 * step
    (low, at_low), (high, at_high) = sorted(((x, at), (y, at_y)))
    return Fraction(exp(root(gap, low, high, at_low, at_high, max(CLOSE, room / 10), MOST_TURNS)))


def _from_above(target: Target, leaf_of: Callable[[Fraction], events.Leaf], start: Fraction) -> Calibrated:
    """Down from a scale that is enough by steps of a tenth, and then more finely, to the last one that is certified."""

    def enough(scale: Fraction) -> bool:
        return target.loss(leaf_of(scale)).certifies(target.epsilon, target.delta)

    good = _decimal(start * 2, up=True)
    while not enough(good):
        good *= 2
    for step in (Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**3), Fraction(1, 10**4), Fraction(1, 10**5)):
        while enough(lower := _decimal(good * (1 - step), up=True)):
            good = lower
    return _certified(target, good, leaf_of(good))


def _certified(target: Target, scale: Fraction, leaf: events.Leaf) -> Calibrated:
    certificate = Certificate(target.event(leaf), target.epsilon, target.delta)
    return Calibrated(scale, leaf, certificate)


def _decimal(x: Fraction, up: bool) -> Fraction:
    """x with DIGITS significant decimal digits, rounded outward; exactly x if it has no more."""
    context = Context(prec=DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return Fraction(context.divide(Decimal(x.numerator), Decimal(x.denominator)))


def __dir__() -> list[str]:
    return sorted(__all__)
