"""Scores of candidates: a list of integers or Fractions, or rows of them."""

import numbers
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import rational, shown, whole
from discreet.mechanisms.wheel import Ints

Scores = TypeVar("Scores", bound=NDArray[Any])

MOST_SCORE = 1 << 61  # of integers that are kept as int64, so that differences are int64 too


def scores_of(exact: Any) -> "Ints | NDArray[np.object_]":
    """Scores as int64, or as Fractions where they are not such integers: one row, or one for each choice. Else Invalid."""
    scores = _array(exact)
    if scores.dtype.kind in "iu":
        if _fits(scores):
            return scores.astype(np.int64)
        return _fractions(scores.astype(np.object_))
    if scores.dtype.kind != "O":
        raise Invalid(
            f"exact must hold integers or Fractions, got {scores.dtype} values",
            hint="round scores to a public grid, and count the rounding in the sensitivity",
        )
    return _fractions(scores)


def _fractions(values: NDArray[Any]) -> NDArray[np.object_]:
    out = np.empty(values.shape, np.object_)
    for at, value in np.ndenumerate(values):
        if isinstance(value, bool) or not isinstance(value, numbers.Rational):
            raise Invalid(f"exact must hold integers or Fractions, got a {type(value).__name__}")
        out[at] = rational(value, "exact")
    return out


def integer_scores_of(exact: Any) -> Ints:
    """Scores as int64, of at most MOST_SCORE in size; else Invalid."""
    scores = _array(exact)
    if scores.dtype.kind not in "iu":
        raise Invalid(f"exact must hold integers, got {scores.dtype} values", hint="round scores to integers first")
    if not _fits(scores):
        raise Invalid("exact must be at most 2^61 in size")
    return scores.astype(np.int64)


def _fits(values: NDArray[Any]) -> bool:
    return int(values.min(initial=0)) >= -MOST_SCORE and int(values.max(initial=0)) <= MOST_SCORE


def _array(exact: Any) -> NDArray[Any]:
    try:
        array = np.asarray(exact)
    except ValueError as error:
        raise Invalid("exact must be a list of scores, or rows of equally many") from error
    if array.ndim not in (1, 2):
        raise Invalid("exact must be a list of scores, or rows of equally many")
    if not array.shape[-1]:
        raise Invalid("exact must hold at least one candidate")
    return array


def one_list(scores: Scores) -> Scores:
    """These scores, unless they are rows of them."""
    if scores.ndim != 1:
        raise Invalid("exact must be one list of scores")
    return scores


def candidate(output: object, count: int) -> int:
    """The number of a candidate, below `count`; else Invalid."""
    place = whole(output, "output")
    if place >= count:
        raise Invalid(f"output must be below {count}, the number of candidates, got {shown(output)}")
    return place
