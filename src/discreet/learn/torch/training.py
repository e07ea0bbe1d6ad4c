"""Private training of a PyTorch model: the sampler, the clip, the noise and the price are those of one plan.

Each step the grant samples a batch, the model's clipped sum of gradients is taken inside of the draw, and what comes out with noise is put
where an optimiser looks for gradients. Nothing else of the data leaves: no loss, no accuracy, no count.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from discreet.errors import DiscreetError, Fault, Invalid
from discreet.exact import shown, whole
from discreet.learn.checkpoint import State
from discreet.learn.torch.batches import TensorRows, UnitRows, checked_groups
from discreet.learn.torch.chance import secret_chance
from discreet.learn.torch.checks import refuse_mixing_layers, sums_for, trained_parameters
from discreet.learn.torch.each import AloneSums, EachSums
from discreet.learn.torch.ghost import Loss
from discreet.learn.torch.noise import FloatGaussian, FloatSums, GridSums, NoiseKind
from discreet.learn.torch.optimising import Made, Moving, Schedule
from discreet.learn.torch.replaying import ReplayedSums
from discreet.learn.training_plan import GradientNoise, TrainingPlan
from discreet.learn.training_run import Keeper, TrainingRun, entered
from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Measure
from discreet.noise import Source

MICROBATCH = 8192
"""Units whose activations are held at once, unless it is said otherwise."""

FARTHEST_CLIP = 1 << 32
"""Far within single precision: what a norm loses where squares are too small for it is then no part of a clip (`uses.LOST`)."""

HELD = 1 << 26
"""Numbers of gradients that are held at once where they are taken example by example."""

CAVEATS = {
    "float sums": "sums of a batch are rounded as floating-point numbers are: one unit moves them by the clip up to that rounding,"
    " and not exactly; exact=True adds integers",
    "float noise": "noise is that of torch.randn, in floating point: its low bits may tell more than the price says;"
    " noise='grid' is exact",
    "kernels": "the gradient of an example is taken to be the same whenever it is computed alone on the same machine",
}


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """The model, and what was drawn for it: `made` of the plan's steps, by one kind of noise. `caveats` say what is not exact."""

    model: nn.Module
    plan: TrainingPlan
    made: int
    noise: NoiseKind
    exact: bool

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the guarantee rests on besides the plan."""
        found = ["kernels" if self.exact else "float sums"]
        if self.noise is NoiseKind.FLOAT:
            found.append("float noise")
        return tuple(CAVEATS[each] for each in found)


class PrivateTraining:
    """A run that was charged for: `steps` are the numbers of the steps that are left, and `step()` makes one of them.

    After `step()` each trained parameter has the noisy mean gradient as its `grad`; with an optimizer its weights have moved as well.
    A step beyond the plan is a Fault.
    """

    def __init__(self, job: "_Job", run: TrainingRun, units: UnitRows) -> None:
        self._job, self._run, self._units = job, run, units
        self._at = 0

    @property
    def steps(self) -> Iterator[int]:
        """The numbers of the steps that are left; after the last one of a block a checkpoint is written."""
        for number in self._run.steps():
            self._at = number
            yield number

    def step(self) -> None:
        """One draw: a batch is sampled, and its noisy mean gradient is put where an optimiser looks for it."""
        job, units, source = self._job, self._units, self._run.source
        job.put(self._run.draw(lambda batch: job.summed(units, batch, source), len(units), job.mechanism))
        if job.moving is not None:
            job.moving.step(self._at)

    @property
    def made(self) -> int:
        """How many steps were made, in all entries."""
        return self._run.made


class _Job:
    """What is the same in every step."""

    def __init__(
        self,
        model: nn.Module,
        rows: TensorRows,
        plan: TrainingPlan,
        loss: Loss,
        noise: NoiseKind,
        exact: bool,
        microbatch: int | None,
        moving: Moving | None,
        replay: bool = False,
    ) -> None:
        parameters = trained_parameters(model)
        self._plan, self._noise, self._exact, self.moving = plan, noise, exact, moving
        share = plan.person.rows if plan.person is not None and plan.person.each_row else 1
        self._bound = float(plan.bound / share)
        self._out = GridSums(parameters, plan) if noise is NoiseKind.GRID else FloatSums(parameters, plan)
        self._sums = sums_for(model, loss, rows, parameters, exact, replay)
        size = sum(each.numel() for each in parameters)
        usual = MICROBATCH
        if isinstance(self._sums, EachSums) or (isinstance(self._sums, ReplayedSums) and self._sums.one_by_one):
            usual = min(MICROBATCH, max(1, HELD // (size * plan.rows_each)))
        self._microbatch = usual if microbatch is None else whole(microbatch, "microbatch", least=1)
        self._size, self._parameters = size, parameters
        self.mechanism = plan.noise if noise is NoiseKind.GRID else FloatGaussian(plan.noise, float(plan.step))

    @property
    def described(self) -> str:
        own = "" if self.moving is None else self.moving.described
        return f"{self._noise} {self._exact} {own}"

    def state(self) -> State:
        return {} if self.moving is None else self.moving.state()

    def restore(self, state: State) -> None:
        if self.moving is not None:
            self.moving.restore(state)

    def summed(self, units: UnitRows, batch: Ints | slice, source: Source | None) -> Any:
        """The clipped sum of a batch. Whatever a model raises on data is one constant Fault: its message may hold a value."""
        try:
            with secret_chance(self._parameters[0].device, source):
                return self._summed(units, batch)
        except (DiscreetError, KeyboardInterrupt, MemoryError):
            raise
        except Exception:
            raise Fault(
                "the model or its loss failed on the data; what was charged stays charged",
                code="training",
                hint="check that targets and indices are within what the model was made for",
            ) from None

    def _summed(self, units: UnitRows, batch: Ints | slice) -> Any:
        pieces = units.pieces(batch, self._microbatch)
        if isinstance(self._sums, AloneSums):
            total = torch.zeros(self._size, dtype=torch.int64, device=self._parameters[0].device)
            for piece in pieces:
                total += self._sums.summed(piece, self._bound, float(self._plan.step))
            return total.cpu().numpy()
        sums: list[Tensor] = []
        for piece in pieces:
            found = self._sums.clipped(piece, self._bound)
            sums = found if not sums else [old.add_(new) for old, new in zip(sums, found, strict=True)]
        sums = sums or [torch.zeros_like(each) for each in self._parameters]
        return self._out.rounded(sums) if isinstance(self._out, GridSums) else self._out.joined(sums)

    def put(self, released: Any) -> None:
        self._out.put(released)


@contextmanager
def private_training(
    model: nn.Module,
    data: Sequence[Tensor],
    plan: TrainingPlan,
    *,
    loss: Loss,
    groups: Iterable[Any] | None = None,
    optimizer: Made | None = None,
    schedule: Schedule | None = None,
    microbatch: int | None = None,
    replay: bool = False,
    noise: NoiseKind | str = NoiseKind.GRID,
    exact: bool = False,
    measure: Measure | None = None,
    key: str | None = None,
    label: str = "training",
    keeper: Keeper | None = None,
) -> Iterator[PrivateTraining]:
    """A loop of one's own: `with private_training(…) as run: for _ in run.steps: run.step()`.

    Batches are sampled by the grant, so that they and the price cannot disagree. Without an `optimizer` one moves the weights oneself after
    each step, by the gradients that were put. For any data the gradients of all steps together are (epsilon, delta)-DP as the plan
    says, up to what `TrainedModel.caveats` say; see `train` for the arguments.
    """
    moving = None
    if optimizer is not None:
        moving = _moving(model, optimizer, schedule)
    elif schedule is not None or keeper is not None:
        raise Invalid("a schedule or a checkpoint needs the optimizer", hint="optimizer=… is moved by step()")
    with _entered(
        model, data, plan, loss, groups, moving, microbatch, replay, noise, exact, measure, key, label, keeper
    ) as run:
        yield run


@contextmanager
def _entered(
    model: nn.Module,
    data: Sequence[Tensor],
    plan: TrainingPlan,
    loss: Loss,
    groups: Iterable[Any] | None,
    moving: Moving | None,
    microbatch: int | None,
    replay: bool,
    noise: NoiseKind | str,
    exact: bool,
    measure: Measure | None,
    key: str | None,
    label: str,
    keeper: Keeper | None,
) -> Iterator[PrivateTraining]:
    """Everything is checked before anything is charged."""
    _check_plan(plan)
    kind = _kind(noise, exact)
    refuse_mixing_layers(model)
    device = trained_parameters(model)[0].device
    if exact:
        check_exact(device.type, torch.are_deterministic_algorithms_enabled())
    if replay:
        check_replay(device.type, plan, exact)
    rows = TensorRows(data, device)
    owners = checked_groups(plan, rows, groups)
    job = _Job(model, rows, plan, loss, kind, exact, microbatch, moving, replay)
    with entered(plan, job, measure=measure, key=key, label=label, keeper=keeper) as run:
        yield PrivateTraining(
            job, run, UnitRows(rows, plan, owners, run.source, even=device.type == "cuda" and not exact)
        )


def _moving(model: nn.Module, optimizer: Made | None, schedule: Schedule | None) -> Moving:
    trained_parameters(model)
    trained = [(name, own) for name, own in model.named_parameters() if own.requires_grad]
    others = [(name, own) for name, own in model.named_parameters() if not own.requires_grad]
    return Moving(trained, optimizer, schedule, [*others, *model.named_buffers()])


def _check_plan(plan: TrainingPlan) -> None:
    if not isinstance(plan, TrainingPlan):
        raise Invalid(f"plan must be a TrainingPlan, got {shown(plan)}")
    if plan.shape is not GradientNoise.GAUSSIAN:
        raise Invalid("gradients here are clipped in L2, for Gaussian noise", hint="give the plan a delta above 0")
    if not 1 / FARTHEST_CLIP <= plan.clip <= FARTHEST_CLIP:
        raise Invalid(
            "clip must lie between 2^-32 and 2^32, so that gradients in single precision are measured rightly",
            hint="multiply the loss by a constant, and the clip with it",
        )


def check_exact(place: str, deterministic: bool) -> None:
    """Invalid where the same gradient may be computed in different ways: on other devices than the CPU, unless torch was told not to."""
    if place != "cpu" and not deterministic:
        raise Invalid(
            "exact sums need gradients that are the same whenever they are computed",
            hint="call torch.use_deterministic_algorithms(True), or train on the CPU",
        )


def check_replay(place: str, plan: TrainingPlan, exact: bool) -> None:
    """Invalid where steps cannot be recorded."""
    if place != "cuda":
        raise Invalid("steps are recorded and replayed on a GPU only", hint="leave replay out")
    if exact:
        raise Invalid("exact sums take one example after the other, and are not replayed", hint="leave replay out")
    if plan.person is not None and plan.person.rows > 1 and not plan.person.each_row:
        raise Invalid("people of several rows are not replayed", hint="leave replay out, or use one row of each person")


def _kind(noise: NoiseKind | str, exact: bool) -> NoiseKind:
    try:
        kind = NoiseKind(noise)
    except ValueError:
        raise Invalid(f"noise must be 'grid' or 'float', got {shown(noise)}") from None
    if exact and kind is NoiseKind.FLOAT:
        raise Invalid("exact sums are for exact noise", hint="noise='grid'")
    return kind


def train(
    model: nn.Module,
    data: Sequence[Tensor],
    plan: TrainingPlan,
    *,
    loss: Loss,
    groups: Iterable[Any] | None = None,
    optimizer: Made | None = None,
    schedule: Schedule | None = None,
    microbatch: int | None = None,
    replay: bool = False,
    noise: NoiseKind | str = NoiseKind.GRID,
    exact: bool = False,
    measure: Measure | None = None,
    key: str | None = None,
    label: str = "training",
    keeper: Keeper | None = None,
    progress: Callable[[int], None] | None = None,
) -> TrainedModel:
    """Train a model in place. For any data its weights after every step together are (epsilon, delta)-DP as the plan says.

    `data` are tensors with one row an example, targets last; `loss` gives one number an example (reduction='none'). Where the unit is
    a person, `groups` says whose each row is. `optimizer` is one of torch, or a function that makes one of parameters; `schedule` one of
    torch, or a function of the number of the step that gives a factor of the learning rate. `microbatch` bounds how many units are in
    memory at once. With `replay`, on a GPU, the kernels of a step are recorded once for each size of a batch: code of the model and of
    the loss runs when they are recorded, so that it must decide the same in each step. With `noise='grid'` sums are rounded to the
    plan's public grid, and the noise is exact; `noise='float'` is that of torch, and no secure guarantee. Sums are those of
    floating-point numbers unless they are `exact`, which is slow (`caveats`). With a `key` and a `keeper` whoever was stopped goes on, at
    no new charge. `progress` is told the number of each step, and nothing else.
    """
    moving = _moving(model, optimizer, schedule)
    if progress is not None and not callable(progress):
        raise Invalid(f"progress must be a function of the number of a step, got {shown(progress)}")
    with _entered(
        model, data, plan, loss, groups, moving, microbatch, replay, noise, exact, measure, key, label, keeper
    ) as run:
        for number in run.steps:
            run.step()
            if progress is not None:
                progress(number + 1)
    return TrainedModel(model, plan, run.made, NoiseKind(noise), exact)
