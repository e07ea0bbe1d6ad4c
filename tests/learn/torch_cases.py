"""Models of every kind of layer with random shapes, and clipped sums by hand: one example after the other, in double precision."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random

import pytest

pytest.importorskip("torch", reason="the optional part learn")

import torch
from torch import Tensor, nn

from discreet.learn.torch.batches import Owners, TensorBatch


def flat_square(outputs: Tensor, targets: Tensor) -> Tensor:
    """A loss with a gradient in every output, one number a row."""
    return ((outputs.flatten(1) - targets[:, None]) ** 2).sum(1)


@dataclass(frozen=True)
class Case:
    name: str
    model: nn.Module
    inputs: Tensor
    targets: Tensor

    def batch(self, owners: Owners | None = None, units: int | None = None) -> TensorBatch:
        return TensorBatch((self.inputs,), self.targets, len(self.inputs) if units is None else units, owners)


class Twice(nn.Module):
    """One layer, used twice with different inputs."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.layer = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.layer(torch.tanh(self.layer(self.norm(x)))))  # type: ignore[no-any-return]


class Tied(nn.Module):
    """Two layers with one weight."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(size, size), nn.Linear(size, size, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.sigmoid(self.first(x)))  # type: ignore[no-any-return]


class Words(nn.Module):
    """Looked up words, with one table used twice."""

    def __init__(self, words: int, size: int, padding: int | None) -> None:
        super().__init__()
        self.table = nn.Embedding(words, size, padding_idx=padding)
        self.out = nn.Linear(size, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.tanh(self.table(x)) * self.table(x.flip(1)))  # type: ignore[no-any-return]


class OwnParameter(nn.Module):
    """A parameter of its own, which no layer has."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(size))
        self.layer = nn.Linear(size, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x * self.scale)  # type: ignore[no-any-return]


class TiedAcross(nn.Module):
    """A table whose weight is that of a linear layer too."""

    def __init__(self, words: int, size: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words, size)
        self.out = nn.Linear(size, words, bias=False)
        self.out.weight = self.table.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.table(x).mean(1))  # type: ignore[no-any-return]


class Functional(nn.Module):
    """The weight of a layer is used past the layer as well."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.layer = nn.Linear(size, size)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.layer(x)) @ self.layer.weight  # type: ignore[no-any-return]


class PlacesFirst(nn.Module):
    """Rows are the second dimension of what the layer takes."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.layer = nn.Linear(size, 3)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.layer(x.transpose(0, 1))).transpose(0, 1)


def _convolution(n: int, draw: Random) -> tuple[nn.Module, tuple[int, ...]]:
    groups = draw.choice([1, 2])
    channels = groups * draw.randint(1, 2)
    kind = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[n]
    layer = kind(
        channels,
        groups * draw.randint(1, 3),
        kernel_size=tuple(draw.randint(1, 3) for _ in range(n)),
        stride=tuple(draw.randint(1, 2) for _ in range(n)),
        padding=tuple(draw.randint(0, 2) for _ in range(n)),
        dilation=tuple(draw.randint(1, 2) for _ in range(n)),
        groups=groups,
        bias=draw.random() < 0.7,
        padding_mode=draw.choice(["zeros", "circular", "replicate"]),
    )
    return layer, (channels, *(draw.randint(5, 7) for _ in range(n)))


def _linear(draw: Random) -> tuple[nn.Module, tuple[int, ...]]:
    size = draw.randint(1, 6)
    first = nn.Linear(size, draw.randint(1, 40), bias=draw.random() < 0.7)
    model = nn.Sequential(first, nn.ReLU(inplace=True), nn.Linear(first.out_features, draw.randint(1, 30)))
    return model, (*(draw.randint(1, 4) for _ in range(draw.randint(0, 2))), size)


def _layer_norm(draw: Random) -> tuple[nn.Module, tuple[int, ...]]:
    shape = tuple(draw.randint(2, 4) for _ in range(draw.randint(1, 2)))
    return nn.LayerNorm(shape), (*(draw.randint(1, 3) for _ in range(draw.randint(0, 2))), *shape)


def _group_norm(draw: Random) -> tuple[nn.Module, tuple[int, ...]]:
    groups = draw.randint(1, 3)
    channels = groups * draw.randint(2, 3)
    return nn.GroupNorm(groups, channels), (channels, *(draw.randint(2, 4) for _ in range(draw.randint(0, 2))))


def _twice(draw: Random) -> tuple[nn.Module, tuple[int, ...]]:
    size = draw.randint(4, 6)  # norms of two or three numbers lose digits of single precision
    return Twice(size), (*(draw.randint(1, 3) for _ in range(draw.randint(0, 1))), size)


def _tied(draw: Random) -> tuple[nn.Module, tuple[int, ...]]:
    size = draw.randint(2, 5)
    return Tied(size), (size,)


def _rms_norm(draw: Random) -> tuple[nn.Module, tuple[int, ...]]:
    size = draw.randint(2, 5)
    return nn.Sequential(nn.RMSNorm(size), nn.Linear(size, 2)), (draw.randint(1, 3), size)


SHAPES: dict[str, Callable[[Random], tuple[nn.Module, tuple[int, ...]]]] = {
    "linear": _linear,
    "convolution of lines": lambda draw: _convolution(1, draw),
    "convolution of images": lambda draw: _convolution(2, draw),
    "convolution of volumes": lambda draw: _convolution(3, draw),
    "layer norm": _layer_norm,
    "group norm": _group_norm,
    "root mean square norm": _rms_norm,
    "a layer used twice": _twice,
    "two layers of one weight": _tied,
}
GHOSTS = (*SHAPES, "words")


def case(name: str, seed: int, rows: int | None = None) -> Case:
    """A model of this kind, and random rows for it: the same for the same seed."""
    draw = Random(f"{name} {seed}")
    with torch.random.fork_rng():
        torch.manual_seed(draw.getrandbits(32))
        count = draw.randint(1, 9) if rows is None else rows
        if name == "words":
            words = draw.randint(2, 6)
            model: nn.Module = Words(words, draw.randint(1, 4), draw.choice([None, 0, 1]))
            inputs = torch.randint(0, words, (count, draw.randint(1, 6)))
        else:
            model, shape = SHAPES[name](draw)
            inputs = torch.randn(count, *shape)
        for each in model.parameters():  # scales and shifts of norms are not 1 and 0
            each.data += 0.3 * torch.randn_like(each)
        return Case(name, model, inputs, torch.randn(count))


def by_hand(found: Case, bound: float, owners: Sequence[int] | None = None) -> tuple[list[float], Tensor]:
    """The norms of the units' gradients, and the sum of the clipped ones, with a pass for each row."""
    model = deepcopy(found.model).double()
    parameters = [each for each in model.parameters() if each.requires_grad]
    inputs = found.inputs.double() if found.inputs.dtype.is_floating_point else found.inputs
    units: dict[int, Tensor] = {}
    for row in range(len(inputs)):
        loss = flat_square(model(inputs[row : row + 1]), found.targets[row : row + 1].double())
        parts = torch.autograd.grad(loss.sum(), parameters)
        unit = row if owners is None else owners[row]
        units[unit] = units.get(unit, torch.tensor(0.0)) + torch.cat([part.flatten() for part in parts])
    norms = [float(each.norm()) for each in units.values()]
    clipped = [
        each * min(1.0, bound / norm) if norm else each for each, norm in zip(units.values(), norms, strict=True)
    ]
    return norms, torch.stack(clipped).sum(0)


def flat(parts: Sequence[Tensor]) -> Tensor:
    return torch.cat([part.detach().flatten().double() for part in parts])
