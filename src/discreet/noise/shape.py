"""The one family of densities behind all integer noise: f(x) = e^-g(x), g(x) = a|x| + c x².

a = 1/scale, c = 0 is the discrete Laplace (and, on x >= 0 alone, the geometric); a = 0, c = 1/(2 variance) is the discrete
Gaussian. Both parameters are exact rationals. Everything that draws from a table is written once, for (a, c).
"""

from fractions import Fraction
from math import gcd, isqrt
from typing import NamedTuple

TAIL = Fraction(61, 4)
"""Blocks reach to about f = e^-TAIL = 2^-22; what lies beyond is drawn by the tail rule. Any value is correct."""


class Shape(NamedTuple):
    """a = linear/linear_by and c = square/square_by in lowest terms. A plain tuple, since it is the key of every look-up."""

    linear: int
    linear_by: int
    square: int
    square_by: int
    two_sided: bool

    @classmethod
    def exponential(cls, n: int, d: int, *, two_sided: bool) -> "Shape":
        """P(x) ∝ e^(−|x|/scale), scale = n/d in lowest terms."""
        return cls(d, n, 0, 1, two_sided)

    @classmethod
    def gaussian(cls, n: int, d: int) -> "Shape":
        """P(x) ∝ e^(−x²/(2 variance)), variance = n/d in lowest terms."""
        common = gcd(d, 2)
        return cls(0, 1, d // common, 2 // common * n, True)

    @property
    def a(self) -> Fraction:
        return Fraction(self.linear, self.linear_by)

    @property
    def c(self) -> Fraction:
        return Fraction(self.square, self.square_by)

    @property
    def scale_bits(self) -> int:
        """The scale (1/a, or the standard deviation) is below 2^scale_bits, and not below a quarter of that."""
        if self.square:
            return (self.square_by.bit_length() - self.square.bit_length() + 1) // 2
        return self.linear_by.bit_length() - self.linear.bit_length() + 1

    def exponent(self, x: int) -> Fraction:
        """g(x)."""
        return self.a * abs(x) + self.c * x * x

    def step(self, start: int, width: int) -> Fraction:
        """g(start + width) − g(start), for start >= 0."""
        return self.a * width + self.c * width * (2 * start + width)

    def tail_rate(self, start: int) -> Fraction:
        """The slope lam of the tangent at `start`: g(start + y) = g(start) + lam·y + c·y²."""
        return self.a + 2 * self.c * start

    def block_bits(self, per_scale: int) -> int:
        """The largest b >= 0 such that `per_scale` blocks of 2^b fit into one scale."""
        squared = max(self.a**2, 2 * self.c) * per_scale**2  # 2^2b must not exceed its inverse
        return max(0, (squared.denominator // squared.numerator).bit_length() - 1) // 2

    def reach(self, width: int) -> int:
        """How many blocks of `width` on one side bring g past TAIL, and one more."""
        if self.square:
            return 2 + isqrt(int(TAIL / (self.c * width**2)) + 1)
        return 2 + int(TAIL / (self.a * width))
