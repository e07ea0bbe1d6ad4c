"""Private gradient descent: each step is a noisy sum of clipped gradients, and the sequence of weights is the release.

How steps are charged, counted and gone on with is that of every run (`training_run.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discreet.errors import Fault, Invalid
from discreet.exact import shown
from discreet.learn.checkpoint import State
from discreet.learn.training_plan import STEPS_OF_CLIP, TrainingPlan
from discreet.learn.training_run import Keeper as Keeper
from discreet.learn.training_run import entered
from discreet.mechanisms.additive import Floats, Ints
from discreet.mechanisms.measure import Measure

AVERAGED = 0.5
"""The share of the last weights whose mean is returned: the noise of single steps averages out."""


class Problem(Protocol):
    """Units, and the sum of their clipped gradients."""

    @property
    def plan(self) -> TrainingPlan:
        """What its sums are clipped for: the norm, whose rows are added up, and how many of each."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the weights."""

    @property
    def units(self) -> int:
        """How many there are: for the sampler alone, never for a scale or a normaliser."""

    def clipped(self, weights: Floats, batch: "Ints | slice") -> Ints:
        """The sum over a batch, in steps of the plan's grid; each unit adds at most STEPS_OF_CLIP in norm."""


class FirstLook(Protocol):
    """What the first draws of a run are of, before weights descend: the sum of vectors that are clipped as gradients are."""

    @property
    def looks(self) -> int:
        """How many of the steps they take."""

    @property
    def width(self) -> int:
        """Of the vectors."""

    def look(self, batch: "Ints | slice") -> Ints:
        """The sum over a batch; each unit adds at most STEPS_OF_CLIP in norm."""

    def centre(self, mean: Floats) -> Floats:
        """Be told the noisy mean of the vectors, in units of the clip; what the descent is about."""


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
        if self.rate == float("inf"):
            raise Invalid("rate must be finite")
        if not 0 <= self.momentum < 1:
            raise Invalid(f"momentum must be at least 0 and below 1, got {self.momentum}")
        if not 0 <= self.ridge < float("inf"):
            raise Invalid(f"ridge must not be negative, got {self.ridge}")

    def moved(self, weights: Floats, velocity: Floats, gradient: Floats) -> tuple[Floats, Floats]:
        """The weights after a step, and the velocity that is kept."""
        faster = self.momentum * velocity + gradient + self.ridge * weights
        further = weights - self.rate * (gradient + self.ridge * weights + self.momentum * faster)
        if self.radius == float("inf"):
            return further, faster
        length = float(np.linalg.norm(further))
        return (further * (self.radius / length) if length > self.radius else further), faster


@dataclass(frozen=True, slots=True)
class Trained:
    """The weights: the mean of the last ones, and all that were released on the way in this entry; `made` of the steps were made."""

    weights: Floats
    path: tuple[Floats, ...]
    plan: TrainingPlan
    made: int
    middle: Floats  # that a first look found; of width 0 without one


@dataclass(slots=True)
class _Looking:
    """The sum of what first looks released, and how many there were."""

    first: FirstLook | None
    summed: Floats
    count: int = 0

    def goes_on(self, step: int) -> bool:
        """Whether a step is a look."""
        return self.first is not None and step < self.first.looks

    def middle(self, plan: TrainingPlan) -> Floats:
        """What the looks found, once they are over; the problem is told."""
        if self.first is None:
            return np.zeros(0)
        return self.first.centre(self.summed / (STEPS_OF_CLIP * plan.batch * max(self.count, 1)))


@dataclass(slots=True)
class _Descending:
    """Weights on their way, and what is carried from step to step."""

    plan: TrainingPlan
    descent: Descent
    weights: Floats
    velocity: Floats
    summed: Floats
    looking: _Looking
    count: int = 0
    path: list[Floats] = field(default_factory=list)

    @property
    def described(self) -> str:
        looks = "" if self.looking.first is None else f" after {self.looking.first.looks} looks"
        return f"{self.descent} {self.weights.shape}{looks}"

    def state(self) -> State:
        return {
            "weights": self.weights,
            "velocity": self.velocity,
            "summed": self.summed,
            "count": np.array([float(self.count)]),
            "looked": self.looking.summed,
            "looks": np.array([float(self.looking.count)]),
        }

    def restore(self, state: State) -> None:
        if {name: part.shape for name, part in state.items()} != {
            name: part.shape for name, part in self.state().items()
        }:
            raise Fault(
                "the numbers of this checkpoint do not fit the run", code="checkpoint", hint="name another file"
            )
        self.weights, self.velocity, self.summed = state["weights"], state["velocity"], state["summed"]
        self.count = int(state["count"][0])
        self.looking.summed, self.looking.count = state["looked"], int(state["looks"][0])

    def follow(self, released: Ints, step: int) -> None:
        """One step along a noisy mean gradient."""
        gradient = np.asarray(released * (float(self.plan.step) / self.plan.batch), np.float64)
        self.weights, self.velocity = self.descent.moved(self.weights, self.velocity, gradient)
        self.path.append(self.weights)
        if step >= self.plan.steps * (1 - AVERAGED):
            self.summed = self.summed + self.weights
            self.count += 1

    @property
    def mean(self) -> Floats:
        return self.summed / self.count if self.count else self.weights


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
    first: FirstLook | None = None,
) -> Trained:
    """Weights after the plan's steps, from 0. The plan is the one that the problem was made for: with another one its sums may
    move farther than is paid for. With a `key` and a `keeper` whoever was stopped goes on, at no new charge.

    The looks of `first`, where there are any, are steps of the plan like all others.
    """
    _check(problem, plan, descent, progress)
    nothing = np.zeros(problem.shape)
    looking = _Looking(first, np.zeros(0 if first is None else first.width))
    state = _Descending(plan, descent, nothing, nothing, nothing, looking)
    middle: Floats | None = None
    with entered(plan, state, measure=measure, key=key, label=label, keeper=keeper) as run:
        for step in run.steps():
            if looking.goes_on(step):
                assert first is not None
                looking.summed = looking.summed + run.draw(first.look, lambda: problem.units)
                looking.count += 1
            else:
                middle = looking.middle(plan) if middle is None else middle
                state.follow(run.draw(lambda batch: problem.clipped(state.weights, batch), lambda: problem.units), step)
            if progress is not None:
                progress(step + 1)
    return Trained(state.mean, tuple(state.path), plan, run.made, looking.middle(plan) if middle is None else middle)


def _check(problem: object, plan: object, descent: object, progress: object) -> None:
    if not isinstance(plan, TrainingPlan):
        raise Invalid(f"plan must be a TrainingPlan, got {shown(plan)}")
    if getattr(problem, "plan", None) != plan:
        raise Invalid(
            "the problem was made for another plan", hint="give both the same one: descend(problem, problem.plan, …)"
        )
    if not isinstance(descent, Descent) or (progress is not None and not callable(progress)):
        raise Invalid("descent must be a Descent, and progress a function of the number of a step, or None")
