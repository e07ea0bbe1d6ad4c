"""What is released with noise: a combination of a query's terms, its mechanism, and how far a neighbour moves it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.errors import Invalid
from discreet.exact import rational, shown
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.sensitivity import Norm, Sensitivity
from discreet.plan.combination import Combination
from discreet.plan.once import once
from discreet.plan.spread import Noise, summed
from discreet.plan.steps.base import broken
from discreet.privacy import events

CONFIDENCE = 0.95
"""Of every ± that is told, unless another is asked for."""

LEAST_CONFIDENCE, MOST_CONFIDENCE = Fraction(1, 2), Fraction(9999, 10_000)


def checked_confidence(value: object) -> float:
    """A caller's confidence; one at which nothing is told is Invalid.

    >>> checked_confidence(Fraction(99, 100))
    0.99
    """
    exact = rational(value, "confidence")
    if not LEAST_CONFIDENCE <= exact <= MOST_CONFIDENCE:
        percent = " (write 0.99 for 99 %)" if 1 < exact <= 100 else ""
        raise Invalid(
            f"confidence must be from 0.5 to 0.9999, got {shown(value)}{percent}",
            code="confidence",
            hint="0.95 is that of every ± where nothing is said",
        )
    return float(exact)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is released with noise for every group at once: a combination of the query's terms.

    `sensitivity` is of the vector over all groups, in steps: L1 for geometric noise, L2 for Gaussian noise. `step` is what one step
    is worth. No mechanism: the sensitivity is 0, and the combination is public. `rounding` is how far one row may be off its value,
    for having been put on a grid.
    """

    mechanism: IntegerNoise | None
    sensitivity: Fraction
    step: Fraction
    said: str
    """What is measured, for people."""

    made: Combination
    rounding: Fraction = Fraction(0)
    cells: int = field(default=1, compare=False)
    """Of how many groups, each with noise of its own, a total is the sum. In a plan that is one; what is read of subtotals, after the
    release, has more, or none where no group was found."""

    @property
    def noise(self) -> Noise | None:
        """The noise of a total: of several groups the sum of theirs."""
        return summed(self.mechanism, self.cells) if self.mechanism is not None and self.cells else None

    def error(self, confidence: float) -> int:
        """The ± of its noise alone, in steps."""
        return 0 if self.noise is None else int(self.noise.error(confidence))

    @property
    def few(self) -> int:
        """A released count of no more steps cannot be told from 0."""
        return self.error(CONFIDENCE)

    @property
    def half_step(self) -> Fraction:
        """How far the total may be off for having been rounded as a whole."""
        return self.cells * self.step / 2 if self.made.divisor > 1 else Fraction(0)


@once
def drawn_event(measurements: Sequence[Measurement]) -> events.Composed:
    """What measurements draw together."""
    return events.Composed(
        tuple(each.mechanism.event(each.sensitivity) for each in measurements if each.mechanism is not None)
    )


def covers(measurement: Measurement, sensitivity: Sensitivity) -> None:
    """For a measurement whose noise is made for what a neighbour can do: returns. For any other: raises Fault."""
    norm = Norm.L1 if measurement.mechanism is None else measurement.mechanism.norm
    if norm is None:
        raise broken("its noise is for single integers, and not for a vector of them")
    needed = sensitivity.of(norm)
    if measurement.sensitivity < needed:
        raise broken("a neighbour can change a total by more than its noise is made for")
    if measurement.step <= 0 or (measurement.mechanism is None and needed > Fraction(0)):
        raise broken("a total has no noise")
