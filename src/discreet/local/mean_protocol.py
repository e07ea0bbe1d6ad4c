"""What every protocol for a mean is: each report stands for a number whose expectation is the person's own, exactly.

A number in a declared range is rounded to a public grid, up or down at random and without bias; what is on the grid is randomised with
probabilities that are exact rationals.
"""

from abc import abstractmethod
from fractions import Fraction

from discreet.exact import Number
from discreet.local.number_protocol import NumberProtocol
from discreet.noise import Source
from discreet.noise.bernoulli import decide


class MeanProtocol(NumberProtocol):
    """How each person's number between `low` and `high` is randomised at a loss of at most ε, such that their mean can be told.

    A number between two points of the grid is a mixture of both, so its reports have no bias either, and no larger loss.
    """

    __slots__ = ()

    @property
    def places(self) -> int:
        """Both ends of the range and what is between them, a step apart."""
        return self.steps + 1

    def point(self, place: int | Fraction) -> Fraction:
        """The number at a place of the grid, 0 … steps."""
        return self.low + self.step * place

    def place(self, value: Fraction, source: Source) -> int:
        """One of the two places next to a number, such that the expectation is the number; 64 random bits whatever it is."""
        exact = (value - self.low) / self.step
        below, rest = divmod(exact.numerator, exact.denominator)

        def bounds(bits: int) -> tuple[int, int]:
            least = (rest << bits) // exact.denominator
            return least, least + 1

        return below + decide(bounds, source)

    @abstractmethod
    def moment(self, place: int | Fraction) -> Fraction:
        """The exact expectation of (`stands_for` − midpoint)² at a place of the grid: a polynomial of degree 2 or less."""

    def variance(self, value: Number) -> Fraction:
        """The exact variance of what the report of this number stands for, with the rounding to the grid."""
        number = self.domain.encoded(value)
        below, rest = divmod((number - self.low) / self.step, 1)
        second = (1 - rest) * self.moment(below) + rest * self.moment(min(below + 1, self.steps))
        return second - (number - self.midpoint) ** 2

    @property
    def worst(self) -> Fraction:
        """A bound of `variance` for any number, which is off by at most a quarter of a squared step.

        On the grid it is a polynomial of degree 2 that is the same from both ends, so it is largest at an end or in the middle.
        Rounding adds w(1 − w) squared steps, w being how far a number is from the next place.
        """
        middle = self.moment(Fraction(self.steps, 2))
        return max(self.variance(self.low), middle) + self.step**2 / 4

    @property
    def reach(self) -> Fraction:
        """The only report says the mean, and may stand for any number of the span."""
        return self.span
