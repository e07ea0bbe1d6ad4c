"""How the gradient of a parameter is made of what a layer took and of the gradient of what it gave, example by example.

Three kinds cover the layers that are known. *Outer*: Σ_t g_t ⊗ a_t, of linear layers and convolutions; inner products tell its norm,
Σ_ts ⟨a_t, a_s⟩⟨g_t, g_s⟩, without the gradient itself (Goodfellow 2015; Lee and Kifer 2021; Bu et al. 2022). *LookUp*: g_t in the row of
a table that t looks up. *Small*: the gradient itself, no larger than what the layer gave. A parameter that is used more than once has the
sum of its uses as its gradient: uses are joined before a norm is taken. The rows of a person are joined likewise.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from discreet.learn.torch.batches import TensorBatch

SLACK = 2.0**-23
"""Of the square of Σ_t ‖a_t‖‖g_t‖, added to a squared norm: what single precision may lose where terms cancel."""


class Unsuited(Exception):
    """A layer is used in a way that these rules do not cover: gradients are then taken example by example."""


class ParameterUse(Protocol):
    """One use of a parameter in a batch of rows."""

    def total(self, factors: Tensor) -> Tensor:
        """Σ over rows of factor times gradient; rows with factor 0 add nothing, whatever they hold."""


class Outer(ParameterUse, Protocol):
    """A use as a sum of outer products."""

    def spread(self) -> tuple[Tensor, Tensor]:
        """What was taken, (rows, groups, places, ·), and the gradients of what was given, alike."""


class LookUp:
    """Rows of a table that were looked up, (rows, places), and the gradients of what was found, (rows, places, ·)."""

    def __init__(self, shape: torch.Size, places: Tensor, gradients: Tensor) -> None:
        self.shape, self.places, self.gradients = shape, places, gradients

    def total(self, factors: Tensor) -> Tensor:
        out = self.gradients.new_zeros(self.shape)
        return out.index_add_(0, self.places.flatten(), weighed(self.gradients, factors).flatten(0, 1))


class Small:
    """The gradient of each row itself."""

    def __init__(self, gradients: Tensor) -> None:
        self.gradients = gradients

    def total(self, factors: Tensor) -> Tensor:
        return (factors @ finite(self.gradients).flatten(1)).view(self.gradients.shape[1:])


def finite(values: Tensor) -> Tensor:
    """Zeros for what is infinite or no number, so that a product with 0 is 0.

    Rows of a norm that is a number have no such values, and those of any other have factor 0: no row is changed that counts.
    """
    return torch.nan_to_num(values, 0.0, 0.0, 0.0)


def weighed(values: Tensor, factors: Tensor) -> Tensor:
    """Each row times its factor."""
    return finite(values).mul_(factors.view(-1, *(1,) * (values.dim() - 1)))


def squares(uses: Sequence[ParameterUse], batch: TensorBatch) -> Tensor:
    """The squared norm of each unit's gradient of one parameter, over all of its uses together and all of the unit's rows."""
    if all(isinstance(use, Small) for use in uses):
        return _of_small([use for use in uses if isinstance(use, Small)], batch)
    if all(isinstance(use, LookUp) for use in uses):
        return _of_tables([use for use in uses if isinstance(use, LookUp)], batch)
    spread = [use.spread() for use in uses if hasattr(use, "spread")]
    if len(spread) < len(uses):
        raise Unsuited("a parameter is used in layers of different kinds")
    return _of_outer([taken for taken, _ in spread], [given for _, given in spread], batch)


def _of_small(uses: list[Small], batch: TensorBatch) -> Tensor:
    rows = torch.stack([use.gradients for use in uses]).sum(0) if len(uses) > 1 else uses[0].gradients
    if batch.owners is not None:
        rows = batch.owners.summed(rows, batch.units)
    return torch.linalg.vector_norm(rows.flatten(1), dim=1).square()


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
        return torch.linalg.vector_norm(gradients.flatten(1), dim=1).square()
    same = places[:, :, None] == places[:, None, :]
    products = gradients @ gradients.mT
    return torch.where(same, products, 0).sum((1, 2)).clamp(min=0) + _slack(products.diagonal(dim1=1, dim2=2))


def _of_outer(taken: list[Tensor], given: list[Tensor], batch: TensorBatch) -> Tensor:
    a, g = _joined(taken, batch, 2), _joined(given, batch, 2)
    lengths = (torch.linalg.vector_norm(a, dim=3) * torch.linalg.vector_norm(g, dim=3)).square()
    places = a.shape[2]
    if places == 1:
        return lengths.sum((1, 2))
    if 2 * places * places <= a.shape[3] * g.shape[3]:
        found = ((a @ a.mT) * (g @ g.mT)).sum((1, 2, 3)).clamp(min=0)
    else:
        found = torch.linalg.vector_norm((g.mT @ a).flatten(1), dim=1).square()
    return found + _slack(lengths.flatten(1))


def _slack(squared_lengths: Tensor) -> Tensor:
    return SLACK * squared_lengths.clamp(min=0).sqrt().sum(1).square()
