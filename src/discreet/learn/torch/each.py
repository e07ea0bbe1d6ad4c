"""Gradients example by example: all of a batch at once by `torch.func`, or each by itself, for sums that are exact."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from discreet.learn.torch.batches import TensorBatch
from discreet.learn.torch.ghost import Loss, factors_of, losses
from discreet.learn.torch.uses import fine, finite, joined_lengths, length


class EachSums:
    """The model's clipped sums from the gradient of every row: for any layers, at the price of rows times parameters in memory."""

    def __init__(self, model: nn.Module, loss: Loss, parameters: Sequence[nn.Parameter]) -> None:
        names = {id(each): name for name, each in model.named_parameters()}
        self._names = [names[id(each)] for each in parameters]
        self._trained = dict(zip(self._names, parameters, strict=True))
        self._rest = {name: each for name, each in model.named_parameters() if name not in self._trained}

        def one(trained: dict[str, Tensor], *row: Tensor) -> Tensor:
            *inputs, target = (each.unsqueeze(0) for each in row)

            def called(*taken: Tensor) -> Tensor:
                return functional_call(model, {**trained, **self._rest}, taken)

            return losses(called, loss, inputs, target).sum()

        self._gradients = grad(one)

    def clipped(self, batch: TensorBatch, bound: float) -> list[Tensor]:
        """For any batch, the sum of the units' gradients, each scaled to norm `bound` at most, for each parameter."""
        each = self._each(batch)
        with torch.no_grad():
            factors = batch.counted(factors_of(_norms(each), bound))
            return [torch.tensordot(factors.to(part.dtype), finite(part), dims=1) for part in each]

    def norms(self, batch: TensorBatch) -> Tensor:
        """The norm of each unit's gradient."""
        with torch.no_grad():
            return _norms(self._each(batch))

    def _each(self, batch: TensorBatch) -> list[Tensor]:
        """The gradient of each unit, for each parameter."""
        trained = {name: each.detach() for name, each in self._trained.items()}
        rows = (*batch.inputs, batch.targets)
        dims = (None, *(0 for _ in rows))
        found = vmap(self._gradients, in_dims=dims, randomness="different")(trained, *rows)
        parts = [fine(found[name]) for name in self._names]
        return parts if batch.owners is None else [batch.owners.summed(part, batch.units) for part in parts]


def _norms(parts: list[Tensor]) -> Tensor:
    return joined_lengths([length(part.flatten(1), 1) for part in parts])


class AloneSums:
    """Sums in integers, exactly: each row by itself, so that its gradient cannot depend on who else is in the batch. It is slow."""

    def __init__(self, model: nn.Module, loss: Loss, parameters: Sequence[nn.Parameter]) -> None:
        self._model, self._loss, self._parameters = model, loss, list(parameters)

    def summed(self, batch: TensorBatch, bound: float, step: float) -> Tensor:
        """The sum of the units' clipped gradients in whole steps of a grid.

        For any batch each unit adds a vector of integers of norm at most bound/step·(1 + 2^-20), which depends on the unit's rows and on
        the weights alone: its gradient is added up in double precision in the order of its rows, scaled, and truncated toward 0. So
        one unit moves the sum by no more than the clip, whatever is rounded, since the bound leaves room for it.
        """
        size = sum(each.numel() for each in self._parameters)
        total = torch.zeros(size, dtype=torch.int64, device=batch.targets.device)
        for rows in _rows_of_units(batch):
            gradient = torch.zeros(size, dtype=torch.float64, device=total.device)
            for row in rows:
                gradient += self._gradient(batch, row)
            factor = factors_of(gradient.square().sum().sqrt(), bound)
            total += torch.trunc(finite(gradient) * (factor / step)).to(torch.int64)
        return total

    def _gradient(self, batch: TensorBatch, row: int) -> Tensor:
        # in memory of its own: where a row begins in a batch may decide how a kernel adds
        inputs = [each[row : row + 1].clone() for each in batch.inputs]
        with torch.enable_grad():
            total = losses(self._model, self._loss, inputs, batch.targets[row : row + 1].clone()).sum()
            found = torch.autograd.grad(total, self._parameters, allow_unused=True)
        parts = [
            torch.zeros_like(own) if part is None else part for own, part in zip(self._parameters, found, strict=True)
        ]
        return torch.cat([part.detach().flatten().to(torch.float64) for part in parts])


def _rows_of_units(batch: TensorBatch) -> list[list[int]]:
    if batch.owners is None:
        return [[row] for row in range(batch.rows)]
    found: list[list[int]] = [[] for _ in range(batch.units)]
    for row, unit in enumerate(batch.owners.unit.tolist()):
        found[unit].append(row)
    return found
