"""Exact coins and geometric deviates from rational tosses alone: Canonne, Kamath and Steinke, "The Discrete Gaussian for
Differential Privacy" (2020), algorithms 1 and 2. Slow, obvious, and needed only where the fast paths end.
"""

from fractions import Fraction

from discreet.noise.source import Bits
from discreet.noise.uniform import below


def bernoulli_exp_by_walk(top: int, bottom: int, source: Bits) -> bool:
    """True with probability e^-(top/bottom), top >= 0 (CKS 2020, algorithm 1)."""
    while top > bottom:
        if not _exp_of_at_most_one(1, 1, source):
            return False
        top -= bottom
    return _exp_of_at_most_one(top, bottom, source)


def _exp_of_at_most_one(top: int, bottom: int, source: Bits) -> bool:
    """True with probability e^-(top/bottom), top <= bottom: the parity of the first k with Bernoulli(top/(k·bottom)) = 0."""
    k = 1
    while below(bottom * k, source) < top:
        k += 1
    return k & 1 == 1


def geometric_by_walk(rate: Fraction, source: Bits) -> int:
    """y >= 0 with probability (1 − e^-rate) e^(−rate·y) (CKS 2020, algorithm 2, without the sign)."""
    s, t = rate.numerator, rate.denominator
    while True:
        u = below(t, source)
        if _exp_of_at_most_one(u, t, source):
            break
    whole = 0
    while _exp_of_at_most_one(1, 1, source):
        whole += 1
    return (u + t * whole) // s
