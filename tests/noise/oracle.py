"""Truth for the tests: the densities by their textbook formulas, in ball arithmetic, and slow obvious samplers.

Nothing here uses the code under test, except to name a shape.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq

from discreet.noise.gaussian import gaussian_shape
from discreet.noise.laplace import geometric_shape, laplace_shape
from discreet.noise.shape import Shape

ctx.prec = 320


def ball(x: Fraction | int) -> arb:
    x = Fraction(x)
    return arb(fmpq(x.numerator, x.denominator))


@dataclass(frozen=True)
class Case:
    """A distribution of integer noise, by its name and its scale."""

    kind: str
    scale: Fraction

    def __str__(self) -> str:
        return f"{self.kind} {float(self.scale):.6g}"

    @property
    def shape(self) -> Shape:
        makers: dict[str, Callable[[Fraction], Shape]] = {
            "laplace": laplace_shape,
            "geometric": geometric_shape,
            "gaussian": gaussian_shape,
        }
        return makers[self.kind](self.scale)

    def exponent(self, x: int) -> Fraction:
        return Fraction(x * x, 2) / self.scale**2 if self.kind == "gaussian" else abs(x) / self.scale

    def weight(self, x: int) -> arb:
        """The density at x, up to the normaliser."""
        if self.kind == "geometric" and x < 0:
            return arb(0)
        return (-ball(self.exponent(x))).exp()

    def mass(self) -> arb:
        """The sum of all weights, for scales up to a few hundred."""
        if self.kind == "gaussian":
            reach = int(20 * self.scale) + 20
            return arb(1) + 2 * sum((self.weight(x) for x in range(1, reach)), arb(0))
        ratio = self.weight(1)
        return 1 / (1 - ratio) if self.kind == "geometric" else (1 + ratio) / (1 - ratio)

    def probability(self, x: int) -> arb:
        return self.weight(x) / self.mass()


def contains(lo: int | Fraction, hi: int | Fraction, truth: arb) -> bool:
    """lo <= truth <= hi, as far as the ball of the truth can tell."""
    return not (truth < ball(lo)) and not (truth > ball(hi))
