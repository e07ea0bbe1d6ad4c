"""How the gradient of a parameter is made of what a layer took and of the gradient of what it gave, example by example.

Three kinds cover the layers that are known. *Outer*: Σ_t g_t ⊗ a_t, of linear layers and convolutions; inner products tell its norm,
Σ_ts ⟨a_t, a_s⟩⟨g_t, g_s⟩, without the gradient itself (Goodfellow 2015; Lee and Kifer 2021; Bu et al. 2022). Where there are so many
places that the gradient is hardly larger than they are, it is made, which takes fewer operations. *LookUp*: g_t in the row of a table
that t looks up. *Small*: the gradient itself, no larger than what the layer gave. A parameter that is used more than once has the sum of
its uses as its gradient: uses are joined before a norm is taken. The rows of a person are joined likewise.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from discreet.learn.torch.batches import TensorBatch

SLACK = 2.0**-23
"""Of the square of Σ_t ‖a_t‖‖g_t‖, added to a squared norm: what single precision may lose where terms cancel."""

LOST = 2.0**-62
"""What a norm may lose, times the root of how many numbers it is of, where squares are too small for single precision: those of numbers
below 2^-63 may be 0. It matters where a small norm is multiplied with a large one, and is nothing beside usual ones."""

MADE = 2
"""Gradients of units are made where they have at most this many times the numbers that they are made of."""

ADDED = 128
"""Squares that are added one to the other on a CPU: by so many, rounding stays far within the room that a clip leaves. A million
equal numbers that are added so, in single precision, make a norm that may be short by a part in 150."""

ADDED_ELSEWHERE = 1 << 14
"""The same on a GPU, which adds in many places at once."""

WIDEST = 1024
"""Numbers whose products are added by one product of matrices, for the same reason."""

COARSE = (torch.float16, torch.bfloat16)


class Unsuited(Exception):
    """A layer is used in a way that these rules do not cover: gradients are then taken example by example."""


class Factors:
    """What each unit is multiplied with: 1 at most, and 0 for a unit that adds nothing, whatever it holds.

    The rows that were weighed last are remembered: the bias of a layer wants those of its weight.
    """

    def __init__(self, units: Tensor, batch: TensorBatch) -> None:
        self.units, self._rows = units, batch.of_rows(units)
        self._last: tuple[Tensor, Tensor] | None = None

    def weighed(self, values: Tensor) -> Tensor:
        """Each row times its factor; zeros where that is 0, since a row that counts has no value that is infinite or no number."""
        found = self.remembered(values)
        if found is None:
            factors = self._rows.to(values.dtype).view(-1, *(1,) * (values.dim() - 1))
            found = (values * factors).nan_to_num_(0.0, 0.0, 0.0)
            self._last = values, found
        return found

    def remembered(self, values: Tensor) -> Tensor | None:
        """These rows, if they were the last ones that were weighed."""
        return self._last[1] if self._last is not None and self._last[0] is values else None


class Lengths:
    """The lengths of rows, rounded up; those that were found last are remembered, as those of `Factors` are."""

    def __init__(self) -> None:
        self._last: tuple[Tensor, Tensor] | None = None

    def of(self, values: Tensor) -> Tensor:
        if self._last is None or self._last[0] is not values:
            self._last = values, length_up(values.flatten(1), 1)
        return self._last[1]


class ParameterUse(Protocol):
    """One use of a parameter in a batch of rows."""

    def total(self, factors: Factors) -> Tensor:
        """Σ over rows of factor times gradient; rows with factor 0 add nothing, whatever they hold."""


class Outer(ParameterUse, Protocol):
    """A use as a sum of outer products."""

    def spread(self) -> tuple[Tensor, Tensor]:
        """What was taken, (rows, groups, places, ·), and the gradients of what was given, alike."""

    def single(self) -> tuple[Tensor, Tensor] | None:
        """What was taken, (rows, ·), and the gradients of what was given, where a row has one group and one place."""


class LookUp:
    """Rows of a table that were looked up, (rows, places), and the gradients of what was found, (rows, places, ·)."""

    def __init__(self, shape: torch.Size, places: Tensor, gradients: Tensor) -> None:
        self.shape, self.places, self.gradients = shape, places, gradients

    def total(self, factors: Factors) -> Tensor:
        out = self.gradients.new_zeros(self.shape)
        return out.index_add_(0, self.places.flatten(), factors.weighed(self.gradients).flatten(0, 1))


class Small:
    """The gradient of each row itself."""

    def __init__(self, gradients: Tensor) -> None:
        self.gradients = gradients


class UnitGradients(Protocol):
    """What is known of the gradients of one parameter, unit by unit."""

    lengths: Tensor

    def total(self, factors: Factors) -> Tensor:
        """Σ over units of factor times gradient, in the order of the parameter's numbers."""


class MadeGradients:
    """The gradients themselves, (units, …): what is added is what was measured, whatever it was rounded to."""

    def __init__(self, gradients: Tensor, lengths: Tensor) -> None:
        self._gradients, self.lengths = gradients, lengths

    def total(self, factors: Factors) -> Tensor:
        weighed = factors.remembered(self._gradients)
        if weighed is not None:
            return weighed.sum(0)
        return factors.units.to(self._gradients.dtype) @ finite(self._gradients).flatten(1)


class Unmade:
    """Lengths alone; the sum comes from the uses."""

    def __init__(self, uses: Sequence[ParameterUse], lengths: Tensor) -> None:
        self._uses, self.lengths = uses, lengths

    def total(self, factors: Factors) -> Tensor:
        parts = [use.total(factors) for use in self._uses]
        return sum(parts[1:], start=parts[0])


def finite(values: Tensor) -> Tensor:
    """Zeros for what is infinite or no number, so that a product with 0 is 0.

    Rows of a norm that is a number have no such values, and those of any other have factor 0: no row is changed that counts.
    """
    return torch.nan_to_num(values, 0.0, 0.0, 0.0)


def length(values: Tensor, dim: int) -> Tensor:
    """The L2 norm along a dimension: of many numbers that of the norms of few, so that it is off by some parts in 10^6 at most."""
    size, most = values.shape[dim], ADDED if values.device.type == "cpu" else ADDED_ELSEWHERE
    if size <= most:
        return torch.linalg.vector_norm(values, dim=dim)
    whole, rest = divmod(size, most)
    begun = values.narrow(dim, 0, whole * most).unflatten(dim, (whole, most))
    parts = [torch.linalg.vector_norm(begun, dim=dim + 1)]
    if rest:
        parts.append(torch.linalg.vector_norm(values.narrow(dim, whole * most, rest), dim=dim, keepdim=True))
    return length(torch.cat(parts, dim), dim)


def inner_products(values: Tensor) -> Tensor:
    """The inner products of places, (…, places, ·) with each other."""
    found, *others = (part @ part.mT for part in values.split(WIDEST, -1))
    return sum(others, start=found)


def fine(values: Tensor) -> Tensor:
    """In single precision at least: in half precision usual gradients have inner products of 0."""
    return values.float() if values.dtype in COARSE else values


def length_up(values: Tensor, dim: int) -> Tensor:
    """The same, and no less where squares are too small for single precision: for products with other lengths."""
    return length(values, dim) + LOST * values.shape[dim] ** 0.5


def joined_lengths(parts: Sequence[Tensor]) -> Tensor:
    """Of each unit the norm of all its gradients together."""
    return length(torch.stack(list(parts)), 0)


def gradients_of(uses: Sequence["ParameterUse | Small"], batch: TensorBatch, lengths: Lengths) -> UnitGradients:
    """The units' gradients of one parameter, over all of its uses together and all of the unit's rows."""
    small = [use for use in uses if isinstance(use, Small)]
    if len(small) == len(uses):
        return _of_small(small, batch, lengths)
    tables = [use for use in uses if isinstance(use, LookUp)]
    if len(tables) == len(uses):
        return Unmade(tables, _of_tables(tables, batch))
    outer = [use for use in uses if not isinstance(use, Small | LookUp)]
    if len(outer) < len(uses):
        raise Unsuited("a parameter is used in layers of different kinds")
    return _of_outer(outer, batch, lengths)  # type: ignore[arg-type]


def _of_small(uses: list[Small], batch: TensorBatch, lengths: Lengths) -> MadeGradients:
    rows = torch.stack([use.gradients for use in uses]).sum(0) if len(uses) > 1 else uses[0].gradients
    if batch.owners is not None:
        rows = batch.owners.summed(rows, batch.units)
    return MadeGradients(rows, lengths.of(rows))


def _joined(parts: list[Tensor], batch: TensorBatch, places: int) -> Tensor:
    """All places of all uses and of all rows of a unit, along the dimension of places."""
    joined = parts[0] if len(parts) == 1 else torch.cat(parts, places)
    if batch.owners is None:
        return joined
    laid = batch.owners.laid_out(joined, batch.units)  # (units, most, …)
    return laid.movedim(1, places).flatten(places, places + 1)


def _of_tables(uses: list[LookUp], batch: TensorBatch) -> Tensor:
    places = _joined([use.places for use in uses], batch, 1)
    gradients = _joined([use.gradients for use in uses], batch, 1)
    if places.shape[1] == 1:
        return length(gradients.flatten(1), 1)
    same = places[:, :, None] == places[:, None, :]
    products = inner_products(gradients)
    squared = torch.where(same, products, 0).sum((1, 2)).clamp(min=0)
    cancelled = products.diagonal(dim1=1, dim2=2).clamp(min=0).sqrt().sum(1) * SLACK**0.5
    return length(torch.stack([squared.sqrt(), cancelled]), 0)


def _of_outer(uses: list[Outer], batch: TensorBatch, lengths: Lengths) -> UnitGradients:
    single = uses[0].single() if len(uses) == 1 and batch.owners is None else None
    if single is not None:
        taken, given = single
        return Unmade(uses, lengths.of(taken) * lengths.of(given))
    spread = [use.spread() for use in uses]
    a, g = (_joined(list(parts), batch, 2) for parts in zip(*spread, strict=True))
    places, wide, high = a.shape[2], a.shape[3], g.shape[3]
    if places > 1 and wide * high <= MADE * places * (wide + high):
        made = (g.mT @ a).flatten(1)
        return MadeGradients(made, length(made, 1))
    of_a, of_g = length_up(a, 3), length_up(g, 3)
    if places == 1:
        return Unmade(uses, length((of_a * of_g).flatten(1), 1))
    squared = (inner_products(a) * inner_products(g)).sum((1, 2, 3)).clamp(min=0)
    return Unmade(uses, length(torch.stack([squared.sqrt(), *_slack(of_a, of_g, wide, high)]), 0))


def _slack(of_a: Tensor, of_g: Tensor, wide: int, high: int) -> list[Tensor]:
    """What the root of Σ_ts ⟨a_t, a_s⟩⟨g_t, g_s⟩ may miss: where terms cancel, and where inner products of one side are too small.

    An inner product of n numbers is off by n·LOST² at most where products are too small, and is at most ‖a_t‖‖a_s‖ on the other side.
    """
    missed = (of_a * of_g) * SLACK**0.5, of_a * (LOST * high**0.5), of_g * (LOST * wide**0.5)
    return [length(each.sum(2), 1) for each in missed]
