"""Learn a model of a table: by whichever algorithm its domain is made for. What is released is the model; rows of it are free."""

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive
from discreet.weights.domain import Domain, Mask, UnitTable
from discreet.weights.model import Learned

MOST_CELLS = 1 << 20
"""Cells of a domain whose histogram is held whole; above it a model of margins is learned."""

Learning = Callable[..., Learned]


class Algorithm(Enum):
    """How a model is learned, in words."""

    COUNTS = "noisy counts of the attribute"
    HISTOGRAM = "multiplicative weights on the whole histogram"
    MARGINS = "a model of margins"

    def learning(self) -> Learning:
        """What learns so; it is loaded when it is needed."""
        match self:
            case Algorithm.COUNTS:
                from discreet.weights import independent

                return independent
            case Algorithm.HISTOGRAM:
                from discreet.weights import mwem

                return mwem
            case Algorithm.MARGINS:
                from discreet.weights import factored

                return factored


def learn(
    table: UnitTable,
    attributes: Any = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    workload: Any = None,
    impossible: Iterable[Mask | str] = (),
    key: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Learned:
    """A model of a table, (epsilon, delta)-DP, charged through the table's measure.

    Of one attribute it is its noisy counts; up to 2^20 cells a histogram, learned by multiplicative weights; beyond a model of margins,
    which needs a δ. `workload` says what it should answer well: how many attributes margins have at most, or a list of margins.
    `impossible` has the cells that nobody can be in, as masks or as conditions. Under a `key` whoever was stopped goes on, and whoever
    learned it before has the same model again; either is free. `progress` is told in words where learning stands.
    """
    positive(epsilon, "epsilon")
    domain = Domain(table.attributes(attributes))
    algorithm = algorithm_for(domain, nonnegative(delta, "delta") > 0)
    masks = masks_of(table, domain, impossible)
    told = None if progress is None else partial(_tell, progress)
    terms: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "impossible": masks, "key": key, "progress": told}
    if workload is not None and len(domain.shape) > 1:
        terms["workload"] = workload
    return algorithm.learning()(table, attributes, **terms)


def _tell(progress: Callable[[str], None], step: Any) -> None:
    """A step in words: as an algorithm says it, or how many rounds of how many at most are over."""
    progress(step if isinstance(step, str) else f"{step.done} of at most {step.most} rounds")


def algorithm_for(domain: Domain, has_delta: bool) -> Algorithm:
    """How a model of a domain is learned, by what is public of it; Invalid where that needs a δ and there is none."""
    if len(domain.shape) == 1:
        return Algorithm.COUNTS
    if domain.size <= MOST_CELLS:
        return Algorithm.HISTOGRAM
    if not has_delta:
        raise Invalid(
            f"{domain.size:,} cells need a delta; without one {MOST_CELLS:,} are the most",
            code="delta",
            hint="give delta=1e-9, or fewer attributes, or fewer cells of each",
        )
    return Algorithm.MARGINS


def masks_of(table: UnitTable, domain: Domain, impossible: Iterable[Mask | str]) -> tuple[Mask, ...]:
    """Impossible cells as masks over the domain, whether they came so or as conditions; Invalid where no cell is left.

    Whether masks of different attributes leave a cell together is for whoever learns to find out.
    """
    masks = tuple(
        table.cells(each, domain.attributes) if isinstance(each, str) else np.asarray(each) for each in impossible
    )
    for mask in masks:
        if mask.dtype != np.bool_ or mask.ndim != len(domain.shape):
            raise Invalid("impossible cells must be a mask of True and False with an axis for each attribute")
        if mask.all():
            raise Invalid(
                "every cell is impossible, so that nobody could be anywhere", hint="look at what is impossible"
            )
    return masks
