"""Clipped sums of gradients without the gradient of any example: one pass forward and one back, for activations alone.

What each layer took and the gradient of what it gave tell the norm of every example's gradient; the clipped sum is then one weighted
product for each layer ("book-keeping", Bu et al. 2022). It is a sum of floating-point numbers: batches that differ in one example round it
differently, so that one example moves it by the clip up to rounding, and not exactly.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

from discreet.errors import Fault
from discreet.learn.torch.batches import TensorBatch
from discreet.learn.torch.layers import known, uses_of
from discreet.learn.torch.uses import ParameterUse, Unsuited, squares

Loss = Callable[[Any, Tensor], Tensor]

INFINITE = 2.0
"""Stands for a bound over a norm of 0: anything from 1 on, which leaves a gradient as it is."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A layer took something and gave something: `edge` is what it gave, before anyone changed it in place."""

    layer: nn.Module
    taken: Tensor
    version: int
    edge: GradientEdge


def losses(model: nn.Module, loss: Loss, inputs: Sequence[Tensor], targets: Tensor) -> Tensor:
    """One number a row; a Fault where a loss that was checked has another shape for these rows."""
    found = loss(model(*inputs), targets)
    if found.dim() == 0 or len(found) != len(targets):
        raise Fault("the loss gives one number a row for some batches, and another shape for others", code="loss")
    return found.flatten(1).sum(1) if found.dim() > 1 else found


def factors_of(squared: Tensor, bound: float) -> Tensor:
    """What each unit is multiplied with, so that its norm is at most `bound`.

    Where the norm is infinite or no number that is 0, and how many such units there are is told nowhere.
    """
    return (bound / squared.sqrt()).nan_to_num_(0.0, INFINITE, 0.0).clamp_(max=1)


class GhostSums:
    """The model's clipped sums by the norms of its layers. Every trained parameter must belong to layers that are known.

    With `copying` what layers give is copied before it goes on, for models that change it in place where it is a view of something else:
    then the gradient of what was given is not to be had otherwise.
    """

    def __init__(
        self, model: nn.Module, loss: Loss, parameters: Sequence[nn.Parameter], *, copying: bool = False
    ) -> None:
        self._model, self._loss, self._parameters, self._copying = model, loss, parameters, copying
        self._layers = [each for each in model.modules() if known(each) and _trained(each)]

    @staticmethod
    def covers(model: nn.Module, parameters: Sequence[nn.Parameter]) -> bool:
        """Whether all parameters that are trained are those of layers that are known."""
        own = {id(each) for layer in model.modules() if known(layer) for each in layer.parameters(recurse=False)}
        return all(id(each) in own for each in parameters)

    def clipped(self, batch: TensorBatch, bound: float) -> list[Tensor]:
        """For any batch, the sum of the units' gradients, each scaled to norm `bound` at most, for each parameter."""
        uses = self._uses(batch)
        with torch.no_grad():
            factors = batch.of_rows(factors_of(self._squares(uses, batch), bound))
            return [self._total(each, uses, factors) for each in self._parameters]

    def squares(self, batch: TensorBatch) -> Tensor:
        """The squared norm of each unit's gradient."""
        uses = self._uses(batch)
        with torch.no_grad():
            return self._squares(uses, batch)

    def _squares(self, uses: dict[nn.Parameter, list[ParameterUse]], batch: TensorBatch) -> Tensor:
        found = torch.zeros(batch.units, dtype=torch.float32, device=batch.targets.device)
        for each in uses.values():
            found = found + squares(each, batch)
        return found

    def _total(self, parameter: nn.Parameter, uses: dict[nn.Parameter, list[ParameterUse]], factors: Tensor) -> Tensor:
        parts = [use.total(factors.to(parameter.dtype)) for use in uses.get(parameter, ())]
        return sum(parts[1:], start=parts[0]) if parts else torch.zeros_like(parameter)

    def _uses(self, batch: TensorBatch) -> dict[nn.Parameter, list[ParameterUse]]:
        """One pass forward, and one back that stops at what layers gave: no gradient of a parameter is made."""
        with torch.enable_grad(), _watched(self._layers, self._copying) as passes:
            total = losses(self._model, self._loss, batch.inputs, batch.targets).sum()
        edges = [each.edge for each in passes]
        gradients = torch.autograd.grad(total, edges, allow_unused=True) if edges and total.requires_grad else ()
        found: dict[nn.Parameter, list[ParameterUse]] = defaultdict(list)
        with torch.no_grad():
            for each, given in zip(passes, gradients, strict=bool(gradients)):
                if given is None:
                    continue
                if len(each.taken) != batch.rows or len(given) != batch.rows:
                    raise Unsuited("a layer takes what has no rows of the batch")
                if each.taken._version != each.version:
                    raise Unsuited("what a layer took was changed in place")
                for parameter, use in uses_of(each.layer, each.taken, given):
                    found[parameter].append(use)
        return found


def _trained(layer: nn.Module) -> bool:
    return any(each.requires_grad for each in layer.parameters(recurse=False))


@contextmanager
def _watched(layers: Sequence[nn.Module], copying: bool) -> Iterator[list[Pass]]:
    """While the block lasts, every pass through the layers is noted."""
    passes: list[Pass] = []

    def note(layer: nn.Module, taken: tuple[Any, ...], given: Tensor) -> Tensor:
        if not taken:
            raise Unsuited("a layer is called by names")
        out = given.clone() if copying else given
        if out.requires_grad:
            passes.append(Pass(layer, taken[0].detach(), taken[0]._version, get_gradient_edge(out)))
        return out

    handles = [each.register_forward_hook(note) for each in layers]
    try:
        yield passes
    finally:
        for handle in handles:
            handle.remove()
