"""Optimisers and schedules: they see released gradients alone, so that all of their state may be kept."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import LBFGS, SGD, Optimizer, SparseAdam
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from discreet.errors import Fault, Invalid
from discreet.learn.checkpoint import State

RATE = 0.1

Made: TypeAlias = Optimizer | Callable[[list[nn.Parameter]], Optimizer]
Schedule: TypeAlias = LRScheduler | Callable[[int], float]


class Moving:
    """Weights that follow released gradients: an optimiser, and a schedule of its learning rate."""

    def __init__(
        self,
        parameters: Sequence[tuple[str, nn.Parameter]],
        optimizer: Made | None,
        schedule: Schedule | None,
        others: Sequence[tuple[str, Tensor]] = (),
    ) -> None:
        self._parameters, self._others = list(parameters), list(others)
        own = [each for _, each in parameters]
        made = SGD(own, lr=RATE) if optimizer is None else optimizer
        if not isinstance(made, Optimizer) and callable(made):
            made = made(own)
        if not isinstance(made, Optimizer):
            raise Invalid("optimizer must be one of torch, or a function that makes one of parameters")
        self.optimizer = made
        _check(self.optimizer, schedule)
        _check_parameters(self.optimizer, own)
        self._schedule = schedule
        self._rates = [float(group["lr"]) for group in self.optimizer.param_groups] if _plain(schedule) else []

    @property
    def described(self) -> str:
        """What tells this from another one: public. Learning rates change as steps are made, and are not part of it.

        What is not trained is: it is in no checkpoint, and weights that were trained beside it are of no use beside anything else.
        """
        groups = [
            {name: repr(value) for name, value in group.items() if name not in ("params", "lr", "initial_lr")}
            for group in self.optimizer.param_groups
        ]
        shapes = [(name, tuple(each.shape)) for name, each in self._parameters]
        digest = sha256()
        for name, each in self._others:
            digest.update(f"{name} {each.dtype} {tuple(each.shape)}".encode())
            digest.update(np.ascontiguousarray(_array(each)).tobytes())
        return f"{shapes} {type(self.optimizer).__name__} {groups} {digest.hexdigest()}"

    def step(self, number: int) -> None:
        """Move the weights along their gradients; `number` is that of the step among all of the plan, from 0."""
        if callable(self._schedule) and not isinstance(self._schedule, LRScheduler):
            for group, rate in zip(self.optimizer.param_groups, self._rates, strict=True):
                group["lr"] = rate * self._schedule(number)
        self.optimizer.step()
        if isinstance(self._schedule, LRScheduler):
            self._schedule.step()

    def state(self) -> State:
        """Weights, and the numbers that the optimiser and the schedule keep."""
        found = {f"weight.{name}": _array(each) for name, each in self._parameters}
        kept = self.optimizer.state_dict()
        for name, value in _leaves("optimizer", kept["state"]):
            found[name] = value
        for name, value in _leaves("groups", kept["param_groups"]):
            found[name] = value
        if isinstance(self._schedule, LRScheduler):
            found.update(_leaves("schedule", self._schedule.state_dict()))
        return found

    def restore(self, state: State) -> None:
        """Go on from a state of before; a Fault where it is not one of this model and optimiser."""
        try:
            with torch.no_grad():
                for name, each in self._parameters:
                    each.copy_(torch.as_tensor(state[f"weight.{name}"]))
        except (KeyError, RuntimeError) as error:
            raise Fault("the checkpoint is one of another model", code="checkpoint") from error
        kept = self.optimizer.state_dict()
        kept["state"] = _optimizer_state(state)
        kept["param_groups"] = _refilled("groups", kept["param_groups"], state)
        self.optimizer.load_state_dict(kept)
        if isinstance(self._schedule, LRScheduler):
            self._schedule.load_state_dict(_refilled("schedule", self._schedule.state_dict(), state))


def _check(optimizer: Optimizer, schedule: Schedule | None) -> None:
    if isinstance(optimizer, LBFGS):
        raise Invalid("LBFGS looks at the loss several times a step", hint="use SGD or Adam")
    if isinstance(optimizer, SparseAdam):
        raise Invalid("SparseAdam is for sparse gradients, and noise is on every number", hint="use Adam")
    if isinstance(schedule, ReduceLROnPlateau):
        raise Invalid(
            "a schedule may not look at a metric of private data",
            hint="use one that counts steps, such as torch.optim.lr_scheduler.CosineAnnealingLR",
        )
    if isinstance(schedule, LRScheduler) and schedule.optimizer is not optimizer:
        raise Invalid("the schedule belongs to another optimizer")
    if schedule is not None and not callable(schedule) and not isinstance(schedule, LRScheduler):
        raise Invalid("schedule must be one of torch, or a function of the number of the step")


def _check_parameters(optimizer: Optimizer, trained: list[nn.Parameter]) -> None:
    """Invalid where the optimiser moves nothing of what is trained. Others that it knows have no gradient: one of before is forgotten."""
    own = {id(each) for each in trained}
    known = [each for group in optimizer.param_groups for each in group["params"]]
    if not any(id(each) in own for each in known):
        raise Invalid(
            "the optimizer has no parameter of this model that is trained",
            hint="make it of this model's: optimizer=lambda parameters: torch.optim.Adam(parameters)",
        )
    for each in known:
        if id(each) not in own:
            each.grad = None


def _plain(schedule: Schedule | None) -> bool:
    return callable(schedule) and not isinstance(schedule, LRScheduler)


def _array(value: Tensor) -> NDArray[Any]:
    there = value.detach().cpu()
    kept = there if there.dtype in (torch.float32, torch.float64, torch.int64) else there.float()
    return np.array(kept.numpy())


def _leaves(name: str, value: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """The numbers of nested dicts and lists, by where they are."""
    if isinstance(value, Tensor):
        yield name, _array(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{name}#", np.array(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(f"{name}.{key}", each)
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            yield from _leaves(f"{name}.{at}", each)


def _optimizer_state(state: State) -> dict[int, dict[str, Any]]:
    """What was kept for each parameter: tensors, and numbers by themselves, whose names end with '#'."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in state.items():
        if name.startswith("optimizer."):
            _, at, key = name.split(".", 2)
            kept: Any = value.item() if key.endswith("#") else torch.as_tensor(value)
            if isinstance(kept, Tensor) and key == "step":
                kept = kept.to(torch.float32)  # as optimisers of torch keep it, whatever a file made of it
            found.setdefault(int(at), {})[key.removesuffix("#")] = kept
    return found


def _refilled(name: str, value: Any, state: State) -> Any:
    """The same nested dicts and lists, with the numbers that were kept."""
    if isinstance(value, Tensor):
        return torch.as_tensor(state[name]).to(value.dtype) if name in state else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return type(value)(state[f"{name}#"].item()) if f"{name}#" in state else value
    if isinstance(value, dict):
        return {key: _refilled(f"{name}.{key}", each, state) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_refilled(f"{name}.{at}", each, state) for at, each in enumerate(value))
    return value
