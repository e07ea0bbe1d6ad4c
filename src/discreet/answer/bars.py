"""The places of the error bars of one column on their common scale."""

from collections.abc import Sequence
from math import inf

from discreet.plan.interval import Interval
from discreet.plan.scalar import Value


def scale_of(spans: Sequence[Interval | None]) -> tuple[float, float] | None:
    """The range of a column that is worth a bar: of several intervals that are not all certain."""
    known = [(span.low, span.high) for span in spans if span is not None]
    ends = [float(end) for pair in known for end in pair if end is not None]
    if len(known) < 2 or not ends or not 0 < max(ends) - min(ends) < inf:
        return None
    return min(ends), max(ends)


def shares(span: Interval | None, value: Value, scale: tuple[float, float]) -> tuple[float, float, float] | None:
    """How far along the scale, from 0 to 1, the low end, the value and the high end are; None where there is no bar.

    >>> shares(Interval(2, 6, 2), 4, (0.0, 8.0))
    (0.25, 0.5, 0.75)
    """
    if span is None or span.low is None or span.high is None or not isinstance(value, int | float):
        return None
    return _share(span.low, scale), _share(value, scale), _share(span.high, scale)


def _share(at: float, scale: tuple[float, float]) -> float:
    return min(max((at - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0)
