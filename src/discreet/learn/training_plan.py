"""One frozen object that says what a training run draws; whatever else is known of the run is derived from it.

Each step releases the sum of clipped gradients of a batch, as integers on a public grid, with integer noise. The clip is the
sensitivity, the noise is calibrated for it and for all steps, and the sum is divided by a declared size: no figure is written twice, and
none comes from the data.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, probability, shown, whole
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.gaussian import RoundedGaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.measure import Promise
from discreet.privacy import Adjacency, Relation, Unit, calibrate, events, loss

ROOM = Fraction(1, 1 << 16)
"""A gradient is clipped to clip/(1 + ROOM), so that the rounding of floating-point numbers never takes it beyond the clip."""

STEPS_OF_CLIP = 1 << 32
"""The clip in steps of the grid that sums are released on."""

LEAST_CLIP = Fraction(1, 1 << 256)
MOST_PEOPLE = 1 << 62


LEAST_SCALE, MOST_SCALE = Fraction(1, 1 << 30), 1 << 55
"""Of noise on vectors of int64: the least of Gaussian noise, which is made on a finer grid, and the most of any."""


def drawable(noise: IntegerNoise) -> IntegerNoise:
    """Noise that can be drawn for sums; Invalid for any other, before it is charged."""
    if noise.scale > MOST_SCALE:
        raise Invalid("epsilon is so small that the noise on a sum would not fit a number", hint="set a larger epsilon")
    if isinstance(noise, RoundedGaussian) and noise.scale < LEAST_SCALE:
        raise Invalid("epsilon is so large that hardly any noise is left to draw", hint="set a smaller epsilon")
    return noise


class GradientNoise(Enum):
    """The noise, and so the norm that gradients are clipped in."""

    GAUSSIAN = "gaussian"  # L2
    LAPLACE = "laplace"  # L1


@dataclass(frozen=True, slots=True)
class Person:
    """A unit that is a person: at most so many of their rows are used, and their summed gradient is clipped once.

    With `each_row` every row is clipped to clip/rows instead, which bounds the sum as well. Rows clipped to the whole clip cannot be
    said: their sum would be bounded by `rows` times what is paid for.
    """

    rows: int = 1
    each_row: bool = False

    def __post_init__(self) -> None:
        whole(self.rows, "rows", least=1)


@dataclass(frozen=True)
class TrainingPlan:
    """What a training run draws: `steps` noisy sums of clipped gradients, and the (epsilon, delta) that all of them keep together.

    `people` is the declared number of units, from which the normaliser comes; the data are never counted. `rate` is the chance of a unit
    to be in the batch of a step, for each step anew; 1 is the full batch. Under replacement one unit's gradient gives way to another's,
    which moves the sum by twice the clip, and sampling is refused: its theorem is for units that come or go.

    >>> plan = TrainingPlan(epsilon=1, delta=1e-5, steps=100, people=10_000)
    >>> round(plan.multiplier, 3), plan.blocks, round(loss(plan.event).epsilon(1e-5), 6)
    (37.306, 10, 1.0)
    """

    epsilon: Fraction
    delta: Fraction
    steps: int
    people: int
    clip: Fraction = Fraction(1)
    rate: Fraction = Fraction(1)
    shape: GradientNoise = GradientNoise.GAUSSIAN
    person: Person | None = None
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    block: int = 10

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number = 0,
        steps: int,
        people: int,
        clip: Number = 1,
        rate: Number = 1,
        shape: GradientNoise | str | None = None,
        person: Person | None = None,
        adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
        block: int = 10,
    ) -> None:
        small = nonnegative(delta, "delta")
        usual = GradientNoise.GAUSSIAN if small else GradientNoise.LAPLACE
        share = probability(rate, "rate")
        fields = {
            "epsilon": positive(epsilon, "epsilon"),
            "delta": small,
            "steps": whole(steps, "steps", least=1),
            "people": whole(people, "people", least=1),
            "clip": positive(clip, "clip"),
            "rate": share,
            "shape": usual if shape is None else member(GradientNoise, shape, "shape"),
            "person": _person(person),
            "adjacency": member(Adjacency, adjacency, "adjacency"),
            "block": whole(block, "block", least=1),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if not LEAST_CLIP <= self.clip <= 1 / LEAST_CLIP:
            raise Invalid(
                "clip must lie between 2^-256 and 2^256, so that gradients are clipped as numbers of a computer"
            )
        if self.people > MOST_PEOPLE:
            raise Invalid(f"people must be at most {MOST_PEOPLE:,}, got {shown(self.people)}")
        if not self.rate:
            raise Invalid("rate must be above 0: with 0 nobody is ever in a batch")
        if self.shape is GradientNoise.GAUSSIAN and not self.delta:
            raise Invalid(
                "Gaussian noise keeps no pure epsilon: delta must be above 0",
                hint="set delta, such as 1e-6, or shape='laplace'",
            )
        if self.adjacency is Adjacency.REPLACE and self.rate < 1:
            raise Invalid(
                "sampling is not accounted for under replacement",
                hint="use the full batch (rate=1), or protect units that come or go (adjacency='add-remove')",
            )

    @property
    def relation(self) -> Relation:
        """The neighbours that the guarantee is about."""
        return Relation(self.adjacency, Unit.ROW if self.person is None else Unit.PERSON)

    @cached_property
    def sensitivity(self) -> int:
        """By how much one unit moves the released integers: the clip, and twice that under replacement."""
        return STEPS_OF_CLIP * (2 if self.adjacency is Adjacency.REPLACE else 1)

    @cached_property
    def noise(self) -> IntegerNoise:
        """The least noise on integers that keeps the promise over all steps."""
        return drawable(self._calibrated)

    @property
    def _calibrated(self) -> IntegerNoise:
        if self.shape is GradientNoise.LAPLACE:
            found = calibrate.discrete_laplace(
                self.epsilon, self.delta, self.sensitivity, times=self.steps, rate=self.rate
            )
            return Geometric(found.scale)
        scale = calibrate.gaussian(self.epsilon, self.delta, self.sensitivity, times=self.steps, rate=self.rate).scale
        noise = RoundedGaussian(scale)
        while not self._promise_kept(noise):  # by rounding to integers: some parts in 10^20
            noise = RoundedGaussian(noise.scale * (1 + Fraction(1, 10**9)))
        return noise

    def _promise_kept(self, noise: IntegerNoise) -> bool:
        return loss(self._event_of(noise)).certifies(self.epsilon, self.delta)

    def _event_of(self, noise: IntegerNoise) -> events.Event:
        leaf = noise.event(self.sensitivity)
        step = leaf if self.rate == 1 else events.Sampled(self.rate, leaf)  # type: ignore[arg-type]
        return events.Under(events.Repeated(step, self.steps), self.relation)

    @property
    def event(self) -> events.Event:
        """What is drawn in all, computed from the noise itself."""
        return self._event_of(self.noise)

    @property
    def promise(self) -> Promise:
        """What the event is certified to keep, and what is charged."""
        return Promise(self.epsilon, self.delta)

    @property
    def rows_each(self) -> int:
        """How many rows of a unit are used at most."""
        return 1 if self.person is None else self.person.rows

    @property
    def bound(self) -> Fraction:
        """What a gradient is clipped to in floating point: a little less than the clip."""
        return self.clip / (1 + ROOM)

    @property
    def step(self) -> Fraction:
        """The grid of released sums, in the units of gradients."""
        return self.clip / STEPS_OF_CLIP

    @property
    def batch(self) -> float:
        """The expected size of a batch, by which sums are divided."""
        return float(self.rate * self.people)

    @property
    def noise_of_mean(self) -> float:
        """The standard deviation of the noise on each coordinate of a mean gradient."""
        return float(self.noise.variance**0.5) * float(self.step) / self.batch

    @property
    def blocks(self) -> int:
        """How many blocks the steps are counted in."""
        return -(-self.steps // self.block)

    @property
    def multiplier(self) -> float:
        """The scale of the noise in units of the clip, as other libraries have it."""
        return float(self.noise.scale / STEPS_OF_CLIP)


Member = TypeVar("Member", bound=Enum)


def member(kind: type[Member], value: object, name: str) -> Member:
    """The member of a name; Invalid for any other."""
    try:
        return kind(value)
    except ValueError:
        names = " or ".join(repr(each.value) for each in kind)
        raise Invalid(f"{name} must be {names}, got {shown(value)}") from None


def _person(value: object) -> Person | None:
    if not isinstance(value, Person | None):
        raise Invalid(f"person must be a Person or None, got {shown(value)}")
    return value
