"""Many coordinates at once: Laplace or Gaussian noise, whichever is predicted to be closer.

For L1 and L2 sensitivities Δ₁ and Δ₂ over k coordinates, Laplace noise has the scale Δ₁/ε and Gaussian noise the standard deviation
Δ₂ c(ε, δ), in each coordinate. On the mean of n vectors in [0, 1]^k one replaced vector moves Δ₁ = k/n and Δ₂ = √k/n, so
the root of the summed squares grows like k^(3/2)/(nε) for Laplace noise and like k/(nε) for Gaussian noise: √k better.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from discreet.errors import Invalid
from discreet.exact import Number, positive, probability, whole
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.privacy import loss

__all__ = [
    "Choice",
    "choose",
]


@dataclass(frozen=True, slots=True)
class Choice:
    """The noise for a vector, what was predicted of either, and why this one."""

    mechanism: Laplace | Gaussian
    laplace_error: float  # root of the expected sum of squares, over all coordinates
    gaussian_error: float | None  # None where δ = 0 leaves no choice
    why: str


def choose(epsilon: Number, delta: Number, l1: Number, l2: Number, size: int) -> Choice:
    """The noise with the smaller predicted error, for a vector of `size` coordinates with these sensitivities.

    >>> choose(1, 1e-6, l1=100, l2=10, size=100).why
    'Gaussian noise: predicted error 422, against 1.41e+03 with Laplace noise'
    >>> choose(1, 1e-6, l1=2, l2=2, size=2).why
    'Laplace noise: predicted error 4, against 11.9 with Gaussian noise'
    """
    first, second, count = positive(l1, "l1"), positive(l2, "l2"), whole(size, "size", least=1)
    if second > first or first**2 > count * second**2:
        raise Invalid("l1 and l2 must be sensitivities of one vector: l2 <= l1 <= √size · l2")
    laplace = _laplace_for(epsilon, first, count)
    laplace_error = sqrt(count * laplace.variance)
    if not probability(delta, "delta"):
        return Choice(laplace, laplace_error, None, "Laplace noise: the only one at δ = 0")
    gaussian = _gaussian_for(epsilon, delta, second, count)
    gaussian_error = sqrt(count * gaussian.variance)
    if laplace_error <= gaussian_error:
        why = f"Laplace noise: predicted error {laplace_error:.3g}, against {gaussian_error:.3g} with Gaussian noise"
        return Choice(laplace, laplace_error, gaussian_error, why)
    why = f"Gaussian noise: predicted error {gaussian_error:.3g}, against {laplace_error:.3g} with Laplace noise"
    return Choice(gaussian, laplace_error, gaussian_error, why)


def _laplace_for(epsilon: Number, l1: Fraction, size: int) -> Laplace:
    """ε-DP for the whole vector, with the rounding of every coordinate."""
    exact = positive(epsilon, "epsilon")
    noise = Laplace(l1 / exact)
    while not loss(noise.event(l1, size)).certifies(exact, 0):
        noise = Laplace(noise.scale * (1 + Fraction(2 * size, 1 << 38) / exact))
    return noise


def _gaussian_for(epsilon: Number, delta: Number, l2: Fraction, size: int) -> Gaussian:
    noise = Gaussian.for_budget(epsilon, delta, sensitivity=l2)
    while not loss(noise.event(l2, size)).certifies(epsilon, delta):
        noise = Gaussian(noise.scale * (1 + Fraction(1, 10**9)))
    return noise


def __dir__() -> list[str]:
    return sorted(__all__)
