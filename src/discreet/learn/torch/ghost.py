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
from discreet.learn.torch.uses import (
    Factors,
    Lengths,
    ParameterUse,
    Small,
    UnitGradients,
    Unsuited,
    fine,
    gradients_of,
    joined_lengths,
)

Loss = Callable[[Any, Tensor], Tensor]
Uses = dict[nn.Parameter, list[ParameterUse | Small]]

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


def factors_of(norms: Tensor, bound: float) -> Tensor:
    """What each unit is multiplied with, so that its norm is at most `bound`.

    Where the norm is infinite or no number that is 0, and how many such units there are is told nowhere.
    """
    return (bound / norms).nan_to_num_(0.0, INFINITE, 0.0).clamp_(max=1)


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
            found = self._gradients(uses, batch)
            factors = Factors(batch.counted(factors_of(_norms(found, batch), bound)), batch)
            return [_total(each, found, factors) for each in self._parameters]

    def norms(self, batch: TensorBatch) -> Tensor:
        """The norm of each unit's gradient."""
        uses = self._uses(batch)
        with torch.no_grad():
            return _norms(self._gradients(uses, batch), batch)

    def _gradients(self, uses: Uses, batch: TensorBatch) -> dict[nn.Parameter, UnitGradients]:
        lengths = Lengths()
        return {parameter: gradients_of(each, batch, lengths) for parameter, each in uses.items()}

    def _uses(self, batch: TensorBatch) -> Uses:
        """One pass forward, and one back that stops at what layers gave: no gradient of a parameter is made."""
        with torch.enable_grad(), _watched(self._layers, self._copying) as passes:
            total = losses(self._model, self._loss, batch.inputs, batch.targets).sum()
        edges = [each.edge for each in passes]
        gradients = torch.autograd.grad(total, edges, allow_unused=True) if edges and total.requires_grad else ()
        found: Uses = defaultdict(list)
        with torch.no_grad():
            for each, given in zip(passes, gradients, strict=bool(gradients)):
                if given is None:
                    continue
                if len(each.taken) != batch.rows or len(given) != batch.rows:
                    raise Unsuited("a layer takes what has no rows of the batch")
                if each.taken._version != each.version:
                    raise Unsuited("what a layer took was changed in place")
                for parameter, use in uses_of(each.layer, fine(each.taken), fine(given)):
                    found[parameter].append(use)
        return found


def _norms(found: dict[nn.Parameter, UnitGradients], batch: TensorBatch) -> Tensor:
    if not found:
        return torch.zeros(batch.units, device=batch.targets.device)
    return joined_lengths([each.lengths for each in found.values()])


def _total(parameter: nn.Parameter, found: dict[nn.Parameter, UnitGradients], factors: Factors) -> Tensor:
    if parameter not in found:
        return torch.zeros_like(fine(parameter))
    return found[parameter].total(factors).view(parameter.shape)


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
