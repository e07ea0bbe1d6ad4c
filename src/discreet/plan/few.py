"""Ratios of nobody: where what is divided by cannot be told from 0, an expression is NULL there, as a mean is.

What is divided by is told from 0 where its interval at 95 % leaves 0 out; what is surely not negative, such as a count, where all of the
interval is above 0. The expressions are rewritten: each division is hidden where a column says so, and the rows get that column.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from discreet.plan.forms import Reader, divides
from discreet.plan.numbers import Columns
from discreet.plan.scalar import Case, Column, Literal, Scalar, Type

NULL = Literal(None, Type.NUMBER)


def guarded(scalars: Sequence[Scalar], reader: Reader) -> tuple[list[Scalar], Columns]:
    """The expressions with their divisions hidden, and the rows that they are to be evaluated on."""
    divisors: list[Scalar] = []
    scalars_without = [_hidden(scalar, divisors) for scalar in scalars]
    with np.errstate(all="ignore"):
        few = [reader.few(divisor).tolist() for divisor in divisors]
    return scalars_without, reader.seen.beside({f"few{k}": each for k, each in enumerate(few)})


def _hidden(scalar: Scalar, divisors: list[Scalar]) -> Scalar:
    def inside(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(inside, part))
        return _hidden(part, divisors) if isinstance(part, Scalar) else part

    node = replace(scalar, **{each.name: inside(getattr(scalar, each.name)) for each in fields(scalar)})
    if not divides(scalar):
        return node
    if scalar.right not in divisors:
        divisors.append(scalar.right)
    return Case(((Column(f"few{divisors.index(scalar.right)}", Type.BOOLEAN), NULL),), node)
