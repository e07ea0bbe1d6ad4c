"""Two-sided and one-sided exponential noise on the integers: the discrete Laplace and the geometric."""

from typing import overload

from discreet.exact import Number, positive_ratio, remembered
from discreet.noise.shape import Shape
from discreet.noise.size import Ints, Many, Size
from discreet.noise.source import Source
from discreet.noise.stock import draw


@remembered
def laplace_shape(scale: Number) -> Shape:
    """P(x) ∝ e^(−|x|/scale)."""
    return Shape.exponential(*positive_ratio(scale, "scale"), two_sided=True)


@remembered
def geometric_shape(scale: Number) -> Shape:
    """P(x) ∝ e^(−x/scale) on x >= 0."""
    return Shape.exponential(*positive_ratio(scale, "scale"), two_sided=False)


@overload
def discrete_laplace(scale: Number, size: None = None, *, source: Source | None = None) -> int: ...
@overload
def discrete_laplace(scale: Number, size: Many, *, source: Source | None = None) -> Ints: ...
def discrete_laplace(scale: Number, size: Size = None, *, source: Source | None = None) -> "int | Ints":
    """Exact discrete Laplace noise: x with probability ((1−α)/(1+α)) α^|x|, α = e^(−1/scale).

    For any positive scale, taken as the decimal it prints, returns an int, or an int64 array of shape `size` (scale up to
    2^56), or raises Invalid. Fast up to scale 2^46; slower, and just as exact, above. `source` defaults to the operating system.
    """
    return draw(laplace_shape(scale), size, source)


@overload
def geometric(scale: Number, size: None = None, *, source: Source | None = None) -> int: ...
@overload
def geometric(scale: Number, size: Many, *, source: Source | None = None) -> Ints: ...
def geometric(scale: Number, size: Size = None, *, source: Source | None = None) -> "int | Ints":
    """Exact geometric noise: x >= 0 with probability (1−α) α^x, α = e^(−1/scale)."""
    return draw(geometric_shape(scale), size, source)
