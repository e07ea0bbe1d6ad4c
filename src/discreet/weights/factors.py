"""Factors: arrays with a name for each axis, that are multiplied where names agree, and summed where a name is not kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.weights.model import Floats

Axes = tuple[int, ...]


def aligned(values: Floats, axes: Sequence[int], onto: Sequence[int]) -> Floats:
    """The array with its axes in the order of `onto`, and of length 1 where it lacks one, so that it multiplies arrays over `onto`."""
    order = [axes.index(axis) for axis in onto if axis in axes]
    shape = [values.shape[axes.index(axis)] if axis in axes else 1 for axis in onto]
    return values.transpose(order).reshape(shape)


def summed(values: Floats, axes: Sequence[int], kept: Sequence[int]) -> Floats:
    """The array summed over all axes that are not kept; those that are come in the order of `kept`."""
    left = [axis for axis in axes if axis in kept]
    total = values.sum(axis=tuple(i for i, axis in enumerate(axes) if axis not in kept))
    found: Floats = np.asarray(total).transpose([left.index(axis) for axis in kept])
    return found


def log_sums(logs: Floats) -> tuple[Floats, Floats]:
    """Of each row ln Σ e^x, and the row's shares e^x / Σ e^x; of a row without any mass −∞, and zeros.

    Each row is shifted by its own maximum, so that no row is lost beside another one of far more mass.
    """
    top = logs.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    shares = np.exp(logs - top)
    sums = shares.sum(axis=1, keepdims=True)
    shares /= np.where(sums > 0, sums, 1.0)
    with np.errstate(divide="ignore"):
        return (np.log(sums) + top)[:, 0], shares


@dataclass(frozen=True, slots=True)
class Factor:
    """A function of some attributes, by the numbers of their axes."""

    axes: Axes
    values: Floats

    def __post_init__(self) -> None:
        if len(set(self.axes)) != self.values.ndim or len(self.axes) != self.values.ndim:
            raise Invalid("a factor needs one name for each of its axes")

    def onto(self, kept: Sequence[int]) -> "Factor":
        """The factor summed over all other attributes; those that it has, in the order of `kept`."""
        left = tuple(axis for axis in kept if axis in self.axes)
        return Factor(left, summed(self.values, self.axes, left))


def product_onto(factors: Sequence[Factor], kept: Sequence[int]) -> Factor:
    """The product of factors, summed over all attributes that are not kept; never listed where two of them can be summed before."""
    every = tuple(dict.fromkeys(axis for each in factors for axis in each.axes))
    left = tuple(axis for axis in kept if axis in every)
    label = {axis: number for number, axis in enumerate(every)}  # einsum has labels for 52 attributes only
    operands: list[Any] = [part for each in factors for part in (each.values, [label[axis] for axis in each.axes])]
    values = np.einsum(*operands, [label[axis] for axis in left], optimize="greedy")
    return Factor(left, np.asarray(values))
