"""Interval arithmetic: where the value of a function lies, and whether a comparison holds, given where its operands lie."""

from collections.abc import Callable, Sequence
from itertools import product
from math import inf

import numpy as np

from discreet.plan.affine import Bools, Reals, Span
from discreet.plan.casts import conversion
from discreet.plan.functions import Ends, function
from discreet.plan.scalar import Arithmetic, Cast, Function, Operator, Order, type_of


def image_of(scalar: Arithmetic | Function | Cast, inside: Sequence[Span]) -> Span | None:
    """The span of a function, given where its operands lie."""
    open_ = np.logical_or.reduce([span.open for span in inside])
    ends: Ends | None = None
    match scalar:
        case Arithmetic():
            ends = ARITHMETIC[scalar.operator](*inside)
        case Cast():
            image: Callable[..., Ends] | None = conversion(type_of(scalar.operand), scalar.type).interval
            ends = None if image is None else image(np, *_pairs(inside))
        case Function():
            image = function(scalar.name).interval
            ends = None if image is None else image(np, *_pairs(inside))
    return None if ends is None else Span(ends[0], ends[1], open_)


def _pairs(inside: Sequence[Span]) -> list[Ends]:
    return [(span.low, span.high) for span in inside]


def _corners(left: Span, right: Span, rule: Callable[[Reals, Reals], Reals]) -> Ends:
    """The span of a function that is monotone in each operand; 0 · ∞ is 0."""
    corners = np.stack([rule(x, y) for x, y in product((left.low, left.high), (right.low, right.high))])
    corners = np.where(np.isnan(corners), 0.0, corners)
    return corners.min(axis=0), corners.max(axis=0)


def _divided(left: Span, right: Span) -> Ends:
    low, high = _corners(left, right, np.divide)
    across = (right.low <= 0) & (right.high >= 0)
    return np.where(across, -inf, low), np.where(across, inf, high)


def _remainder(left: Span, right: Span) -> Ends:
    most = np.maximum(np.abs(right.low), np.abs(right.high))
    return np.where(left.low >= 0, 0.0, -most), np.where(left.high <= 0, 0.0, most)


ARITHMETIC: dict[Operator, Callable[[Span, Span], Ends]] = {
    Operator.ADD: lambda x, y: (x.low + y.low, x.high + y.high),
    Operator.SUBTRACT: lambda x, y: (x.low - y.high, x.high - y.low),
    Operator.MULTIPLY: lambda x, y: _corners(x, y, np.multiply),
    Operator.DIVIDE: _divided,
    Operator.REMAINDER: _remainder,
}


def compared(order: Order, left: Span, right: Span) -> tuple[Bools, Bools]:
    match order:
        case Order.GREATER | Order.GREATER_OR_EQUAL:
            return compared(Order.LESS if order is Order.GREATER else Order.LESS_OR_EQUAL, right, left)
        case Order.LESS:
            return left.high < right.low, left.low >= right.high
        case Order.LESS_OR_EQUAL:
            return left.high <= right.low, left.low > right.high
    certain = (left.low == left.high) & (right.low == right.high) & (left.low == right.low)
    apart = (left.high < right.low) | (right.high < left.low)
    return (certain, apart) if order is Order.EQUAL else (apart, certain)
