"""The steps of a training run, whatever is trained: charged as one, counted in blocks, and gone on with after a kill.

The event of all steps is charged before the first one. A block is marked as taken, durably, before its first draw. After each block the
state is written, which is made of what was released alone, and never a batch, noise or an exact sum. Whoever was killed goes on from the
last checkpoint with the blocks that nobody took: a kill costs at most one block of training, and never privacy.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from typing import Any, Protocol

from discreet.errors import Fault, Invalid, Refused
from discreet.exact import shown
from discreet.learn.checkpoint import Checkpoint, State
from discreet.learn.training_plan import TrainingPlan
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.measure import Grant, Measure, measure_of
from discreet.mechanisms.record import event_text
from discreet.noise import Source

FULL = slice(None)
"""The batch of everybody."""


class Keeper(Protocol):
    """Where checkpoints are written and found again."""

    def read(self, what: str) -> Checkpoint | None: ...

    def write(self, checkpoint: Checkpoint) -> None: ...


class Learner(Protocol):
    """Whatever is trained: what it is, and the state that released sums have brought it to."""

    @property
    def described(self) -> str:
        """What tells this run from others: all of it is public."""

    def state(self) -> State:
        """What is carried from step to step."""

    def restore(self, state: State) -> None:
        """Go on from a state of an earlier entry."""


class TrainingRun:
    """One entry into a run: the steps that are left, each of which has one draw."""

    def __init__(self, plan: TrainingPlan, grant: Grant | None, save: Callable[[Grant, int], None]) -> None:
        self._plan, self._grant, self._save = plan, grant, save
        self.made = 0
        self._left = 0
        if grant is not None:
            self._left = min(grant.taken * plan.block, plan.steps)

    @property
    def grant(self) -> Grant:
        """The right to draw; a Fault where the run has ended before."""
        if self._grant is None:
            raise Fault("this run has ended before: nothing more is drawn for it", code="grant")
        return self._grant

    @property
    def source(self) -> Source | None:
        """The random bits that draws are made from; None for those of the operating system."""
        return None if self._grant is None else self._grant.source

    def steps(self) -> Iterator[int]:
        """The numbers of the steps that are left. After the last one of a block the state is kept, and at the end."""
        if self._grant is None:
            return
        # all blocks are taken, perhaps each by somebody who was killed before it wrote anything: then this is the end
        if self._left >= self._plan.steps:
            self._save(self._grant, self.made)
        for first in range(self._left, self._plan.steps, self._plan.block):
            yield from range(first, min(first + self._plan.block, self._plan.steps))
            self._save(self._grant, self.made)

    def draw(self, exact: Callable[[Any], Any], units: int | Callable[[], int], noise: Mechanism | None = None) -> Any:
        """One noisy sum of a batch that the grant samples out of so many units, or of all of them.

        `exact` gives the sum over a batch, in which each unit has at most STEPS_OF_CLIP in norm; `noise` is that of the plan, or one with
        the same event.
        """
        mechanism = self._plan.noise if noise is None else noise
        if self._plan.rate == 1:
            released = self.grant(mechanism, self._plan.sensitivity, lambda: exact(FULL))
        else:
            released = self.grant.sampled(mechanism, self._plan.sensitivity, exact, rate=self._plan.rate, among=units)
        self.made += 1
        return released


@contextmanager
def entered(
    plan: TrainingPlan,
    learner: Learner,
    *,
    measure: Measure | None,
    key: str | None,
    label: str,
    keeper: Keeper | None,
) -> Iterator[TrainingRun]:
    """A run that was charged for, from its last checkpoint on. One that has ended before has no steps, and is as it was at its end."""
    if keeper is not None and key is None:
        raise Invalid("a checkpoint needs a key", hint="key='my-model' names the run that is gone on with")
    if keeper is not None and not (hasattr(keeper, "read") and hasattr(keeper, "write")):
        raise Invalid(f"keeper must keep checkpoints, got {shown(keeper)}", hint='keeper=CheckpointFile("run.json")')
    charged = measure_of(measure)
    what = "" if keeper is None else _run_of(plan, learner, key, label)

    def save(grant: Grant, made: int) -> None:
        if keeper is not None:
            keeper.write(Checkpoint(what, grant.taken, made, learner.state()))

    with ExitStack() as stack:
        last = None if keeper is None else keeper.read(what)
        try:
            grant = stack.enter_context(
                charged(plan.event, label=label, key=key, kept=False, block=plan.block, promise=plan.promise)
            )
        except Refused as error:
            if error.code != "key-settled" or last is None:
                raise
            run = TrainingRun(plan, None, save)
        else:
            if last is not None and last.blocks > grant.taken:
                raise _ahead()
            run = TrainingRun(plan, grant, save)
        if last is not None:
            learner.restore(last.state)
            run.made = last.made
        yield run


def _run_of(plan: TrainingPlan, learner: Learner, key: str | None, label: str) -> str:
    """What tells a run from all others: a checkpoint belongs to it alone."""
    return sha256(f"{label} {key} {plan} {learner.described} {event_text(plan.event)}".encode()).hexdigest()


def _ahead() -> Fault:
    """A checkpoint that blocks went into which this measure has never counted: its weights were paid for elsewhere, or not at all."""
    return Fault(
        "the checkpoint is of a run that was charged elsewhere: more steps went into it than were counted here",
        code="checkpoint",
        hint="go on with the measure that the run was charged to, or begin anew with another file",
    )
