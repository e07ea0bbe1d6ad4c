"""Exact noise of any scale without a table, in time that does not depend on the value.

Everything is made of exponential deviates E, P(E >= x) = e^-x, known to 40 binary digits when they are made and to more when
asked. floor(scale·E) is geometric; a sign makes it Laplace; the discrete Gaussian is Laplace noise accepted with probability
e^-γ, that is, when another deviate is at least γ (Canonne, Kamath and Steinke 2020, algorithm 3). Deviates do not depend on the scale, so
they are drawn ahead (`stock.py`). What is left takes a fixed number of integer operations a round, and how many
rounds were rejected says nothing about the one accepted.
"""

from collections.abc import Callable
from math import isqrt

from discreet.noise.shape import Shape
from discreet.noise.source import Bits
from discreet.noise.walk import bernoulli_exp_by_walk

DIGITS = 40
UNIT_EXPONENTIAL = Shape.exponential(1 << DIGITS, 1, two_sided=False)
"""floor(2^DIGITS E): the digits a deviate is made with."""


class ExponentialDeviate:
    """A deviate E in [low, low + 1) / 2^digits."""

    __slots__ = ("bits", "digits", "low")

    def __init__(self, low: int, digits: int, bits: Bits) -> None:
        self.low, self.digits, self.bits = low, digits, bits

    def refine(self) -> None:
        """Draw DIGITS more digits k.

        Given the digits so far, 2^digits E − low has density ∝ e^(−t/2^digits) on [0, 1), so P(k) ∝ e^(−k/2^(digits + DIGITS)).
        """
        self.digits += DIGITS
        while not bernoulli_exp_by_walk(k := self.bits.bits(DIGITS), 1 << self.digits, self.bits):
            continue
        self.low = (self.low << DIGITS) | k

    def floor_times(self, n: int, d: int) -> int:
        """floor(E n/d)."""
        while True:
            unit = d << self.digits
            whole = self.low * n // unit
            if (self.low + 1) * n <= (whole + 1) * unit:
                return whole
            self.refine()

    def at_least(self, n: int, d: int) -> bool:
        """E >= n/d (equality has probability 0)."""
        while True:
            edge = n << self.digits
            if self.low * d >= edge:
                return True
            if (self.low + 1) * d <= edge:
                return False
            self.refine()


def draw_one(shape: Shape, deviate: Callable[[], ExponentialDeviate], bits: Bits) -> int:
    """One sample of a Laplace, geometric or Gaussian shape, from deviates made by `deviate`."""
    if shape.square:
        return _gaussian(shape.square_by, 2 * shape.square, deviate, bits)
    if shape.two_sided:
        return _laplace(shape.linear_by, shape.linear, deviate, bits)
    return deviate().floor_times(shape.linear_by, shape.linear)


def _laplace(n: int, d: int, deviate: Callable[[], ExponentialDeviate], bits: Bits) -> int:
    """x with probability ∝ e^(−|x|/scale), scale = n/d."""
    while True:
        size, negative = deviate().floor_times(n, d), bits.bits(1)
        if size or not negative:  # zero would come up under both signs
            return -size if negative else size


def _gaussian(n: int, d: int, deviate: Callable[[], ExponentialDeviate], bits: Bits) -> int:
    """x with probability ∝ e^(−x²/(2 variance)), variance = n/d: γ = (|x| − variance/t)² / (2 variance)."""
    t = isqrt(n // d) + 1
    per = d * t
    below = 2 * n * per * t
    while True:
        x = _laplace(t, 1, deviate, bits)
        if deviate().at_least((abs(x) * per - n) ** 2, below):
            return x
