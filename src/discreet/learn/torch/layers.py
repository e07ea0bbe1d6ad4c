"""The layers whose gradients are known without being made: what they took and gave, as uses of their parameters."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.learn.torch.uses import Factors, LookUp, ParameterUse, Small, Unsuited, finite

Uses = dict[str, ParameterUse | Small]


class LinearWeight:
    """y = W a: the gradient of W is g ⊗ a at each place."""

    def __init__(self, taken: Tensor, given: Tensor) -> None:
        self._taken, self._given = taken, given

    def spread(self) -> tuple[Tensor, Tensor]:
        rows = len(self._taken)
        return (
            self._taken.reshape(rows, 1, -1, self._taken.shape[-1]),
            self._given.reshape(rows, 1, -1, self._given.shape[-1]),
        )

    def single(self) -> tuple[Tensor, Tensor] | None:
        return (self._taken, self._given) if self._taken.dim() == 2 else None

    def total(self, factors: Factors) -> Tensor:
        taken, given = finite(self._taken), factors.weighed(self._given)
        return given.flatten(0, -2).T @ taken.flatten(0, -2)


class ConvolutionWeight:
    """A convolution is linear in the patches of what it takes, group by group."""

    def __init__(self, layer: nn.Conv1d | nn.Conv2d | nn.Conv3d, taken: Tensor, given: Tensor) -> None:
        self._layer, self._given = layer, given
        mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode
        edges = layer._reversed_padding_repeated_twice
        self._padded = functional.pad(taken, edges, mode=mode) if any(edges) else taken

    def spread(self) -> tuple[Tensor, Tensor]:
        layer, x = self._layer, self._padded
        n = len(layer.kernel_size)
        for at, (size, stride, apart) in enumerate(zip(layer.kernel_size, layer.stride, layer.dilation, strict=True)):
            x = x.unfold(2 + at, (size - 1) * apart + 1, stride)[..., ::apart]
        x = x.unflatten(1, (layer.groups, -1))  # rows, groups, channels, places …, kernel …
        x = x.movedim(2, 2 + n).flatten(2 + n).flatten(2, 1 + n)
        return x, self._by_places(self._given)

    def _by_places(self, given: Tensor) -> Tensor:
        return given.unflatten(1, (self._layer.groups, -1)).flatten(3).mT

    def single(self) -> None:
        return None

    def total(self, factors: Factors) -> Tensor:
        # not by torch.nn.grad: cuDNN would round to fewer digits than the lengths have
        taken, given = finite(self.spread()[0]), self._by_places(factors.weighed(self._given))
        return given.transpose(0, 1).flatten(1, 2).mT @ taken.transpose(0, 1).flatten(1, 2)


def _linear(layer: nn.Linear, taken: Tensor, given: Tensor) -> Uses:
    if taken.dim() < 2:
        raise Unsuited("a linear layer takes what has no rows")
    return {"weight": LinearWeight(taken, given), "bias": Small(_over_places(given, given.dim() - 1))}


def _convolution(layer: nn.Conv1d | nn.Conv2d | nn.Conv3d, taken: Tensor, given: Tensor) -> Uses:
    if taken.dim() != len(layer.kernel_size) + 2:
        raise Unsuited("a convolution takes what has no rows")
    return {"weight": ConvolutionWeight(layer, taken, given), "bias": Small(given.flatten(2).sum(2))}


def _embedding(layer: nn.Embedding, taken: Tensor, given: Tensor) -> Uses:
    rows = len(taken)
    places, gradients = taken.reshape(rows, -1), given.reshape(rows, -1, layer.embedding_dim)
    if layer.padding_idx is not None:
        gradients = torch.where((places == layer.padding_idx)[:, :, None], 0, gradients)
    return {"weight": LookUp(layer.weight.shape, places, gradients)}


def _over_places(values: Tensor, first: int) -> Tensor:
    """The sum over all dimensions between that of rows and the `first` of what is left."""
    return values.sum(tuple(range(1, first))) if first > 1 else values


def _scaled(normal: Tensor, given: Tensor, first: int) -> Uses:
    return {"weight": Small(_over_places(given * normal, first)), "bias": Small(_over_places(given, first))}


def _layer_norm(layer: nn.LayerNorm, taken: Tensor, given: Tensor) -> Uses:
    first = taken.dim() - len(layer.normalized_shape)
    normal = functional.layer_norm(taken, layer.normalized_shape, None, None, layer.eps)
    return _scaled(normal, given, first)


def _rms_norm(layer: nn.RMSNorm, taken: Tensor, given: Tensor) -> Uses:
    first = taken.dim() - len(layer.normalized_shape)
    return _scaled(functional.rms_norm(taken, layer.normalized_shape, None, layer.eps), given, first)


def _group_norm(layer: nn.GroupNorm, taken: Tensor, given: Tensor) -> Uses:
    normal = functional.group_norm(taken, layer.num_groups, None, None, layer.eps)
    if taken.dim() == 2:
        return _scaled(normal, given, 1)
    return _scaled(normal.flatten(2).mT, given.flatten(2).mT, 2)


KNOWN: dict[type[nn.Module], Callable[..., Uses]] = {
    nn.Linear: _linear,
    nn.Conv1d: _convolution,
    nn.Conv2d: _convolution,
    nn.Conv3d: _convolution,
    nn.Embedding: _embedding,
    nn.LayerNorm: _layer_norm,
    nn.RMSNorm: _rms_norm,
    nn.GroupNorm: _group_norm,
}
"""By the very type: an heir may do something else."""

NAMES = {"weight", "bias"}


def known(layer: nn.Module) -> bool:
    """Whether all parameters of its own are those that its type is known by."""
    return type(layer) in KNOWN and set(layer._parameters) <= NAMES


def uses_of(layer: nn.Module, taken: Tensor, given: Tensor) -> list[tuple[nn.Parameter, ParameterUse | Small]]:
    """The uses of the parameters that are trained."""
    found = KNOWN[type(layer)](layer, taken, given)
    own = {name: each for name, each in layer._parameters.items() if each is not None and each.requires_grad}
    return [(own[name], use) for name, use in found.items() if name in own]
