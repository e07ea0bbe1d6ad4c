"""Private gradient descent: each step is a noisy sum of clipped gradients, and the sequence of weights is the release.

The event of all steps is charged before the first one, and counted in blocks: a block is marked as taken, durably, before its first draw.
After each block the state is written, and never a batch, noise or an exact sum. Whoever was killed goes on from the last checkpoint with
the blocks that nobody took: a kill costs at most one block of training, and never privacy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol

import numpy as np

from discreet.errors import Invalid, Refused
from discreet.learn.checkpoint import Checkpoint
from discreet.learn.training_plan import TrainingPlan
from discreet.mechanisms.additive import Floats, Ints
from discreet.mechanisms.measure import Grant, Measure, unmetered
from discreet.mechanisms.record import event_text

AVERAGED = 0.5
"""The share of the last weights whose mean is returned: the noise of single steps averages out."""


class Problem(Protocol):
    """Units, and the sum of their clipped gradients."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the weights."""

    @property
    def units(self) -> int:
        """How many there are: for the sampler alone, never for a scale or a normaliser."""

    def clipped(self, weights: Floats, batch: "Ints | slice") -> Ints:
        """The sum over a batch, in steps of the plan's grid; each unit adds at most STEPS_OF_CLIP in norm."""


class Keeper(Protocol):
    """Where checkpoints are written and found again."""

    def read(self, what: str) -> Checkpoint | None: ...

    def write(self, checkpoint: Checkpoint) -> None: ...


@dataclass(frozen=True, slots=True)
class Descent:
    """How weights follow noisy mean gradients: all of it is public. `ridge` pulls weights to 0; `momentum` is that of Nesterov."""

    rate: float = 1.0
    momentum: float = 0.0
    ridge: float = 0.0
    radius: float = float("inf")

    def __post_init__(self) -> None:
        for name in ("rate", "radius"):
            if not getattr(self, name) > 0:
                raise Invalid(f"{name} must be positive, got {getattr(self, name)}")
        if not 0 <= self.momentum < 1:
            raise Invalid(f"momentum must be at least 0 and below 1, got {self.momentum}")
        if not 0 <= self.ridge < float("inf"):
            raise Invalid(f"ridge must not be negative, got {self.ridge}")

    def moved(self, weights: Floats, velocity: Floats, gradient: Floats) -> tuple[Floats, Floats]:
        """The weights after a step, and the velocity that is kept."""
        faster = self.momentum * velocity + gradient + self.ridge * weights
        further = weights - self.rate * (gradient + self.ridge * weights + self.momentum * faster)
        length = float(np.linalg.norm(further))
        return (further * (self.radius / length) if length > self.radius else further), faster


@dataclass(frozen=True, slots=True)
class Trained:
    """The weights: the mean of the last ones, and all that were released on the way in this entry; `made` of the steps were made."""

    weights: Floats
    path: tuple[Floats, ...]
    plan: TrainingPlan
    made: int


@dataclass(slots=True)
class State:
    """What is carried from step to step."""

    weights: Floats
    velocity: Floats
    summed: Floats
    count: int = 0
    made: int = 0
    path: list[Floats] = field(default_factory=list)

    @property
    def parts(self) -> tuple[Floats, ...]:
        return self.weights, self.velocity, self.summed, np.array([float(self.count)])


def descend(
    problem: Problem,
    plan: TrainingPlan,
    descent: Descent,
    *,
    measure: Measure | None = None,
    key: str | None = None,
    label: str = "training",
    keeper: Keeper | None = None,
    progress: Callable[[int], None] | None = None,
) -> Trained:
    """Weights after the plan's steps, from 0. With a `key` and a `keeper` whoever was stopped goes on, at no new charge."""
    if keeper is not None and key is None:
        raise Invalid("a checkpoint needs a key", hint="key='my-model' names the run that is gone on with")
    charged = unmetered() if measure is None else measure
    what = sha256(f"{label} {key} {plan} {descent} {problem.shape} {event_text(plan.event)}".encode()).hexdigest()
    try:
        entered = charged(plan.event, label=label, key=key, kept=False, block=plan.block, promise=plan.promise)
        with entered as grant:
            state, lost = _found(problem, keeper, what, grant, plan, key)
            for block in _blocks(plan, lost):
                for step in block:
                    _step(problem, plan, descent, grant, state, step)
                    if progress is not None:
                        progress(step + 1)
                if keeper is not None:
                    keeper.write(Checkpoint(what, grant.taken, state.made, state.parts))
    except Refused as error:
        last = None if error.code != "key-settled" or keeper is None else keeper.read(what)
        if last is None:
            raise
        state = _state(last)
    return Trained(_mean(state), tuple(state.path), plan, state.made)


def _found(
    problem: Problem, keeper: Keeper | None, what: str, grant: Grant, plan: TrainingPlan, key: str | None
) -> tuple[State, int]:
    """Where to go on from, and how many steps were taken by anybody before."""
    last = None if keeper is None else keeper.read(what)
    nothing = np.zeros(problem.shape)
    state = State(nothing, nothing, nothing) if last is None else _state(last)
    return state, 0 if key is None else min(grant.taken * plan.block, plan.steps)


def _state(last: Checkpoint) -> State:
    weights, velocity, summed, count = last.state
    return State(weights, velocity, summed, int(count[0]), last.made)


def _blocks(plan: TrainingPlan, begin: int) -> Iterator[range]:
    for first in range(begin, plan.steps, plan.block):
        yield range(first, min(first + plan.block, plan.steps))


def _step(problem: Problem, plan: TrainingPlan, descent: Descent, grant: Grant, state: State, step: int) -> None:
    weights = state.weights
    if plan.rate == 1:
        released = grant(plan.noise, plan.sensitivity, lambda: problem.clipped(weights, slice(None)))
    else:
        released = grant.sampled(
            plan.noise,
            plan.sensitivity,
            lambda batch: problem.clipped(weights, batch),
            rate=plan.rate,
            among=problem.units,
        )
    gradient = released * (float(plan.step) / plan.batch)
    state.weights, state.velocity = descent.moved(weights, state.velocity, gradient)
    state.made += 1
    state.path.append(state.weights)
    if step >= plan.steps * (1 - AVERAGED):
        state.summed = state.summed + state.weights
        state.count += 1


def _mean(state: State) -> Floats:
    return state.summed / state.count if state.count else state.weights
