"""What it costs an analyst to have no δ: the plan that they get, beside the one that a δ would allow."""

from fractions import Fraction

from discreet.plan.digits import six_digits
from discreet.plan.measurement import Measurement
from discreet.plan.plan import Plan

MATTERS = 1.05  # times the noise, or the price; less need not be said


def without_delta(plan: Plan, other: Plan, delta: Fraction) -> tuple[str, ...]:
    """One sentence on a plan that was made without a δ, beside the `other` one of the same question at this δ; none where it is as good."""
    if not other.delta:
        return ()
    noise, price = _ratio(plan, other), float(plan.epsilon / other.epsilon)
    told = {"the noise is": noise, "the price is": price}
    worse = [
        f"{what} {ratio:.2g} times that with δ = {six_digits(delta)}" for what, ratio in told.items() if ratio > MATTERS
    ]
    return (f"without a δ in the analyst's budget {' and '.join(worse)}; the owner can give one",) if worse else ()


def _ratio(plan: Plan, other: Plan) -> float:
    """How much larger the largest increase of noise is; both measure the same, in the same order."""
    plan, other = next(plan.examples()), next(other.examples())
    pairs = zip(plan.measurements, other.measurements, strict=True)
    return max(
        (_error(mine) / _error(theirs) for mine, theirs in pairs if mine.mechanism and theirs.mechanism), default=1.0
    )


def _error(measurement: Measurement) -> float:
    return float(measurement.mechanism.error() * measurement.step) if measurement.mechanism else 0.0
