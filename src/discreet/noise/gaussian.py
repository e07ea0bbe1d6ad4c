"""Gaussian noise on the integers: the discrete Gaussian."""

from typing import overload

from discreet.errors import Invalid
from discreet.exact import Number, positive_ratio, remembered
from discreet.noise.shape import Shape
from discreet.noise.size import Ints, Many, Size
from discreet.noise.source import Source
from discreet.noise.stock import draw


@remembered
def gaussian_shape(scale: Number | None, variance: Number | None = None) -> Shape:
    """P(x) ∝ e^(−x²/(2 variance)), variance = scale²."""
    if (scale is None) == (variance is None):
        raise Invalid("give either scale or variance")
    if variance is not None:
        return Shape.gaussian(*positive_ratio(variance, "variance"))
    n, d = positive_ratio(scale, "scale")
    return Shape.gaussian(n * n, d * d)


@overload
def discrete_gaussian(
    scale: Number | None = None,
    size: None = None,
    *,
    variance: Number | None = None,
    source: Source | None = None,
) -> int: ...
@overload
def discrete_gaussian(
    scale: Number | None,
    size: Many,
    *,
    variance: Number | None = None,
    source: Source | None = None,
) -> Ints: ...
@overload
def discrete_gaussian(
    scale: Number | None = None,
    *,
    size: Many,
    variance: Number | None = None,
    source: Source | None = None,
) -> Ints: ...
def discrete_gaussian(
    scale: Number | None = None,
    size: Size = None,
    *,
    variance: Number | None = None,
    source: Source | None = None,
) -> "int | Ints":
    """Exact discrete Gaussian noise: x with probability proportional to e^(−x²/(2 scale²)).

    For any positive scale (or variance, when that is the rational one), taken as the decimal it prints, returns an int, or an int64
    array of shape `size` (scale up to 2^56), or raises Invalid. Fast up to scale 2^46; slower, and just as exact, above.
    """
    return draw(gaussian_shape(scale, variance), size, source)
