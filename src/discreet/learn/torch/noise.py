"""Where sums of gradients become releases: on the public grid with exact noise, or in floating point, which is said to be no secure one."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch import Tensor, nn

from discreet.exact import Number
from discreet.learn.training_plan import TrainingPlan
from discreet.mechanisms.additive import IntegerNoise, Ints
from discreet.mechanisms.base import Mechanism
from discreet.noise import Source
from discreet.noise.source import chosen
from discreet.privacy import events


class NoiseKind(Enum):
    """How noise is made."""

    GRID = "grid"  # integers with exact probabilities, from secure bits
    FLOAT = "float"  # torch.randn, on the device: fast there, and no secure guarantee


@dataclass(frozen=True)
class FloatGaussian(Mechanism):
    """Gaussian noise by `torch.randn`, with the scale of exact noise and its event.

    It is not a secure release: low bits of floating-point noise can tell what it was added to (Mironov 2012), and the generator behind
    it is made for simulations, though its seed comes from secure bits. Who trains with it is told so.
    """

    like: IntegerNoise
    step: float

    def event(self, sensitivity: Number = 1) -> events.Event:
        """That of the exact noise which it stands for."""
        return self.like.event(sensitivity)

    def __call__(self, exact: Tensor, source: Source | None = None) -> Tensor:
        """The tensor, with noise on each number, where the tensor is."""
        generator = torch.Generator(exact.device).manual_seed(chosen(source).bits(63))
        noise = torch.empty_like(exact).normal_(0, float(self.like.scale) * self.step, generator=generator)
        return noise.add_(exact)

    def error(self, confidence: Number = 0.95) -> float:
        """± of one number."""
        return self.like.error(confidence) * self.step


class GridSums:
    """Sums of all parameters in one vector of whole steps of the plan's grid, and back into gradients.

    Rounding to the grid moves each coordinate by less than a step; for up to 2^31 coordinates that is less than the room which the clip
    leaves (`TrainingPlan.bound`): ‖S − S'‖ ≤ 2^32/(1 + 2^-16) + √2^31 < 2^32.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], plan: TrainingPlan) -> None:
        self._parameters = parameters
        self._per_step = float(1 / plan.step)
        self._to_mean = float(plan.step) / plan.batch
        self._device = parameters[0].device
        size, pinned = sum(each.numel() for each in parameters), self._device.type == "cuda"
        self._steps = torch.empty(size, dtype=torch.int64, pin_memory=pinned)
        self._means = torch.empty(size, dtype=_widest(parameters), pin_memory=pinned)

    def rounded(self, sums: Sequence[Tensor]) -> Ints:
        """The sums in whole steps, toward 0."""
        return self._steps.copy_(_joined(sums).mul_(self._per_step)).numpy()  # type: ignore[no-any-return]

    def put(self, released: Any) -> None:
        """Mean gradients, by the declared size of a batch, where an optimiser looks for them."""
        means = self._means.copy_(torch.from_numpy(released)).mul_(self._to_mean)
        _put(self._parameters, means.to(self._device, non_blocking=True))


class FloatSums:
    """Sums of all parameters in one vector of floating-point numbers, and back into gradients."""

    def __init__(self, parameters: Sequence[nn.Parameter], plan: TrainingPlan) -> None:
        self._parameters = parameters
        self._to_mean = 1 / plan.batch

    def joined(self, sums: Sequence[Tensor]) -> Tensor:
        return _joined(sums)

    def put(self, released: Tensor) -> None:
        """Mean gradients, by the declared size of a batch, where an optimiser looks for them."""
        _put(self._parameters, released * self._to_mean)


def _widest(tensors: Sequence[Tensor]) -> torch.dtype:
    """Double precision where any of them has it, and single precision otherwise: sums of half precision would be infinite in steps."""
    return torch.float64 if any(each.dtype == torch.float64 for each in tensors) else torch.float32


def _joined(sums: Sequence[Tensor]) -> Tensor:
    return torch.cat([each.flatten() for each in sums]).to(_widest(sums))


def _put(parameters: Sequence[nn.Parameter], means: Tensor) -> None:
    """Each parameter has its part of the vector as its gradient: nothing is copied but to another type."""
    for own, part in zip(parameters, means.split([each.numel() for each in parameters]), strict=True):
        own.grad = part.view(own.shape).to(own.dtype)
