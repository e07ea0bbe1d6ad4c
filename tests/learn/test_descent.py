"""What a training run draws is what it paid for: in every path, on any data, and through kills.

Statistical tests raise a false alarm with probability 1e-6 each.
"""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction as F
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import chdtrc

from discreet.curator.session import Curator
from discreet.errors import Fault, Invalid, Refused
from discreet.learn import CheckpointFile, Descent, LeastSquares, Logistic, RowsOfPeople, descend
from discreet.learn.checkpoint import MemoryCheckpoint
from discreet.learn.rows import FeatureRows
from discreet.learn.training_plan import STEPS_OF_CLIP, GradientNoise, Person, TrainingPlan
from discreet.mechanisms.hand import Turn, Use
from discreet.mechanisms.measure import Unmetered
from discreet.noise import Tape
from discreet.privacy import events, loss
from tests.learn.cases import KINDS, plan_of, problem
from tests.scale import repeats

PATHS: dict[str, dict[str, Any]] = {
    "full batch": {},
    "sampled": {"rate": F(1, 3)},
    "pure": {"delta": 0},
    "pure, sampled": {"delta": 0, "rate": F(1, 3)},
    "replaced": {"adjacency": "replace"},
    "people": {"person": Person(2)},
    "people, sampled, each row": {"person": Person(2, each_row=True), "rate": F(1, 3)},
    "one block": {"block": 100},
    "blocks that do not divide": {"block": 3},
}


@dataclass
class Watched:
    """A hand that writes down each use of a mechanism, and the batch that it was for."""

    uses: list[Use] = field(default_factory=list)
    batches: list[Any] = field(default_factory=list)

    def begin(self, use: Use) -> Turn:
        self.uses.append(use)
        return self

    def batch(self, among: int, draw: Callable[[], Any]) -> Any:
        self.batches.append(draw())
        return self.batches[-1]

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
        return draw(exact())

    @property
    def event(self) -> events.Event:
        """What was drawn, made anew from the mechanisms that were used."""
        drawn = []
        for use in self.uses:
            leaf: Any = use.mechanism.event(use.sensitivity)  # type: ignore[arg-type]
            drawn.append(leaf if use.rate is None else events.Sampled(use.rate, leaf))
        return events.Composed(tuple(drawn))


@pytest.mark.parametrize("path", PATHS)
def test_what_is_drawn_is_what_was_charged(path: str) -> None:
    drawn_is_charged(path)


def drawn_is_charged(path: str = "sampled") -> None:
    """As many draws as steps, of the noise, the sensitivity and the rate of the plan; together they are the event that was granted."""
    plan = plan_of(**PATHS[path], steps=7)
    watched = Watched()
    measure = Unmetered(hand=watched)
    trained = descend(problem("binary", 1, 30, plan), plan, Descent(), measure=measure)
    assert len(watched.uses) == plan.steps == trained.made == len(trained.path)
    assert loss(watched.event).terms == loss(plan.event).terms == measure.spent.terms
    clips = 2 if path == "replaced" else 1
    assert all(use.sensitivity == clips * STEPS_OF_CLIP for use in watched.uses)
    assert len(watched.batches) == (plan.steps if plan.rate < 1 else 0)


def test_one_row_more_changes_no_constant() -> None:
    one_row_more_changes_nothing()


def one_row_more_changes_nothing() -> None:
    """On n, n + 1 and no rows: the same uses of the same mechanisms, shapes and normaliser; sums alone differ."""
    for said in PATHS.values():
        seen = []
        for rows in (30, 31, 0):
            plan, watched = plan_of(**said, steps=5), Watched()
            trained = descend(problem("many", 2, rows, plan), plan, Descent(), measure=Unmetered(hand=watched))
            seen.append((watched.uses, plan, plan.batch, trained.weights.shape, trained.made))
        assert seen[0] == seen[1] == seen[2]


def test_steps_are_divided_by_the_declared_size() -> None:
    steps_are_divided()


def steps_are_divided() -> None:
    """With next to no noise the first step is the sum of clipped gradients over the declared size, whatever the data's is."""
    plan = plan_of(epsilon=10**6, steps=1, people=1000, clip=1)
    made = problem("binary", 3, 40, plan, odd=0)
    trained = descend(made, plan, Descent(rate=2.0))
    summed = made.clipped(np.zeros(made.shape), slice(None)) * float(plan.step)
    assert np.abs(trained.weights + 2 * summed / 1000).max() < 1e-4
    half = plan_of(epsilon=10**6, steps=1, people=1000, rate=F(1, 2))
    alike = LeastSquares(FeatureRows(np.full((400, 2), 0.5), half.shape), np.ones(400), half)
    found = descend(alike, half, Descent(rate=2.0)).weights  # 200 of them or so, each with −0.5, over 500
    assert np.abs(found - 0.4).max() < 0.1


def test_inclusion_in_batches_is_independent() -> None:
    inclusion_is_independent()


def inclusion_is_independent() -> None:
    """Over units, over pairs of units and over steps: chi-square on three tables of four cells each, and on each unit.

    With 6,000 steps a unit that was in 1/4 of all batches instead of 1/5 would be found for sure, and so would pairs."""
    plan, watched = plan_of(rate=F(1, 5), steps=repeats(6_000), block=1000), Watched()
    descend(problem("squares", 4, 12, plan, width=1), plan, Descent(), measure=Unmetered(hand=watched))
    inside = np.zeros((plan.steps, 12))
    for step, batch in enumerate(watched.batches):
        inside[step, batch] = 1
    expected = plan.steps / 5
    by_unit = ((inside.sum(axis=0) - expected) ** 2 / (expected * 0.8)).sum()
    assert chdtrc(12, by_unit) > 1e-6
    pairs = [(inside[:, 0], inside[:, 1]), (inside[:, 3], inside[:, 11]), (inside[1:, 5], inside[:-1, 5])]
    for one, other in pairs:
        table = np.histogram2d(one, other, bins=2)[0]
        ideal = len(one) * np.outer([0.8, 0.2], [0.8, 0.2])
        assert chdtrc(3, ((table - ideal) ** 2 / ideal).sum()) > 1e-6
    sizes = inside.sum(axis=1)
    assert (sizes == 0).any() and sizes.max() > 5  # batches of nobody occur, and large ones


class Stop(Exception):
    """What ends a run in the middle."""


@dataclass
class Stopping:
    """A problem whose clipped sums are counted, and which stops at some of them; a keeper that stops before or after it writes."""

    made: Any
    chance: random.Random
    often: float
    draws: int = 0
    kept: MemoryCheckpoint = field(default_factory=MemoryCheckpoint)

    @property
    def plan(self) -> TrainingPlan:
        return self.made.plan  # type: ignore[no-any-return]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.made.shape  # type: ignore[no-any-return]

    @property
    def units(self) -> int:
        return self.made.units  # type: ignore[no-any-return]

    def _perhaps(self) -> None:
        if self.chance.random() < self.often:
            raise Stop

    def clipped(self, weights: Any, batch: Any) -> Any:
        self._perhaps()
        self.draws += 1
        return self.made.clipped(weights, batch)

    def read(self, what: str) -> Any:
        return self.kept.read(what)

    def write(self, checkpoint: Any) -> None:
        self._perhaps()
        self.kept.write(checkpoint)
        self._perhaps()


@pytest.mark.parametrize("path", ["full batch", "sampled"])
def test_a_run_that_is_stopped_goes_on_with_the_blocks_that_are_left(path: str) -> None:
    stopped_goes_on(path)


def stopped_goes_on(path: str = "full batch") -> None:
    """Stops anywhere, a hundred of them: never more draws than steps, each stop costs a block at most, and one charge in all."""
    stops, plan = 0, plan_of(**PATHS[path], steps=40, block=4)
    for seed in range(repeats(30)):
        run = Stopping(problem("binary", seed, 20, plan), random.Random(seed), 0.08)
        measure, ended, trained = Unmetered(Tape(seed)), 0, None
        while trained is None:
            try:
                trained = descend(run, plan, Descent(), measure=measure, key="k", keeper=run)
            except Stop:
                ended += 1
        stops += ended
        assert run.draws <= plan.steps
        assert trained.made >= plan.steps - ended * plan.block
        assert measure.spent.terms == loss(plan.event).terms
        again = descend(run, plan, Descent(), measure=measure, key="k", keeper=run)
        assert (again.weights == trained.weights).all() and again.made == trained.made
    assert stops >= 100


def a_run_that_lost_all_of_its_blocks_has_an_end() -> None:
    """Whoever was stopped in each block has no steps, and whoever asks again has the same."""
    plan, measure = plan_of(steps=12, block=4), Unmetered()
    run = Stopping(problem("binary", 1, 20, plan), random.Random(1), 1.0)
    for _ in range(plan.blocks):
        with pytest.raises(Stop):
            descend(run, plan, Descent(), measure=measure, key="k", keeper=run)
    run.often = 0
    for _ in range(2):
        found = descend(run, plan, Descent(), measure=measure, key="k", keeper=run)
        assert found.made == 0 and not found.weights.any()
    assert run.draws == 0


def test_a_run_that_lost_all_of_its_blocks_has_an_end() -> None:
    a_run_that_lost_all_of_its_blocks_has_an_end()


def test_a_hundred_kills_never_draw_more_than_was_paid_for(tmp_path: Path) -> None:
    """Processes killed at any moment, a ledger on disk: draws of all of them together are at most the steps, charged once."""
    chance = random.Random(7)
    plan = plan_of(epsilon=1, steps=120, block=4, person=Person())
    kills = number = 0
    while kills < repeats(100):
        number += 1
        folder = tmp_path / str(number)
        with hospital(folder) as curator:
            draws, killed = killed_until_done(curator, plan, folder / "model.checkpoint", chance)
            assert draws <= plan.steps
            assert curator.spent.epsilon == 1
            kills += killed
            trained = trained_on(curator, plan, folder / "model.checkpoint", -1)
            assert plan.steps - killed * plan.block <= trained.made <= plan.steps


def hospital(folder: Path) -> Curator:
    people = {"patient": [f"p{i}" for i in range(5)]}
    return Curator({"visits": people}, "patient", epsilon=2, delta=1e-3, max_rows=1, ledger=folder / "ledger")


def trained_on(curator: Curator, plan: TrainingPlan, path: Path, to: int) -> Any:
    class Telling(LeastSquares):
        def clipped(self, weights: Any, batch: Any) -> Any:
            if to >= 0:
                os.write(to, b".")
            return super().clipped(weights, batch)

    made = Telling(FeatureRows(np.ones((5, 2)) / 2, plan.shape), np.ones(5), plan)
    return descend(made, plan, Descent(0.1), measure=curator.measure, key="model", keeper=CheckpointFile(path))


def killed_until_done(curator: Curator, plan: TrainingPlan, path: Path, chance: random.Random) -> tuple[int, int]:
    """How many draws were made, and how many processes were killed until one came to the end."""
    draws = kills = 0
    while True:
        ear, mouth = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                trained_on(curator, plan, path, mouth)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(mouth)
        first = os.read(ear, 1)
        time.sleep(chance.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with os.fdopen(ear, "rb") as said:
            draws += len(first) + len(said.read())
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0
            return draws, kills
        kills += 1


def test_a_checkpoint_holds_released_weights_and_nothing_else(tmp_path: Path) -> None:
    plan = plan_of(steps=6, block=2)
    file = CheckpointFile(tmp_path / "c.json")
    trained = descend(problem("binary", 1, 20, plan), plan, Descent(), measure=Unmetered(), key="k", keeper=file)
    text = (tmp_path / "c.json").read_text()
    numbers = {float.fromhex(word) for word in text.replace('"', " ").split() if word.startswith(("0x", "-0x"))}
    weights = {0.0, *np.concatenate([each.ravel() for each in trained.path]).tolist()}
    assert trained.path[-1].ravel().tolist()[0] in numbers and numbers - weights  # the mean and the velocity, besides
    assert len(numbers) < 40


def test_a_checkpoint_of_another_run_is_a_fault(tmp_path: Path) -> None:
    plan = plan_of(steps=4, block=2)
    file = CheckpointFile(tmp_path / "c.json")
    descend(problem("binary", 1, 20, plan), plan, Descent(), measure=Unmetered(), key="k", keeper=file)
    with pytest.raises(Fault, match="another training run"):
        descend(problem("binary", 1, 20, plan), plan, Descent(0.5), measure=Unmetered(), key="k", keeper=file)
    written = json.loads((tmp_path / "c.json").read_text())
    for text in ("", "{}", "[1]", "[" * 100_000, json.dumps(written | {"made": "many"})):
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(Fault, match="is not a checkpoint"):
            file.read(written["what"])
    (tmp_path / "c.json").write_text(json.dumps(written | {"format": 2}))
    with pytest.raises(Fault, match="a format that is not known"):
        file.read(written["what"])


def a_checkpoint_is_paid_by_who_goes_on(folder: Path | None = None) -> None:
    """Weights that more steps went into than a measure has counted were paid for elsewhere: a second charge would pay for both."""
    plan = plan_of(steps=40, block=4)
    keeper = MemoryCheckpoint() if folder is None else CheckpointFile(folder / "c.json")
    for stop in (9, None):
        run = Stopping(problem("binary", 1, 20, plan), random.Random(1), 0.0)

        def stopping(step: int, stop: int | None = stop) -> None:
            if step == stop:
                raise Stop

        with suppress(Stop):
            descend(run, plan, Descent(), measure=Unmetered(), key="k", keeper=keeper, progress=stopping)
            assert stop is None
        elsewhere = Unmetered()
        with pytest.raises(Fault, match="charged elsewhere"):
            descend(run, plan, Descent(), measure=elsewhere, key="k", keeper=keeper)
        anew = descend(run, plan, Descent(), measure=elsewhere, key="k", keeper=MemoryCheckpoint())
        assert anew.made == plan.steps and elsewhere.spent.terms == loss(plan.event).terms
        keeper = MemoryCheckpoint()


def test_a_checkpoint_is_paid_by_who_goes_on(tmp_path: Path) -> None:
    a_checkpoint_is_paid_by_who_goes_on(tmp_path)


def test_who_goes_on_between_blocks_comes_to_the_same_weights(tmp_path: Path) -> None:
    """With the same random bits: what a checkpoint holds is all that there is to go on from."""
    found = []
    for stops in ((), (1,), (2, 5)):
        plan = plan_of(steps=40, block=4, rate=F(1, 3))
        file, written, trained = CheckpointFile(tmp_path / f"{stops}.json"), 0, None
        run = Stopping(problem("many", 1, 20, plan), random.Random(1), 0.0)

        class Between:
            read = file.read

            def write(self, checkpoint: Any, file: CheckpointFile = file, stops: tuple[int, ...] = stops) -> None:
                nonlocal written
                file.write(checkpoint)
                written += 1
                if written in stops:
                    raise Stop

        measure = Unmetered(Tape(3))
        while trained is None:
            with suppress(Stop):
                trained = descend(run, plan, Descent(momentum=0.5), measure=measure, key="k", keeper=Between())
        found.append(trained)
    assert all((each.weights == found[0].weights).all() and each.made == plan.steps for each in found)


@pytest.mark.parametrize("spoil", ["missing", "other shape", "more"])
def test_a_checkpoint_that_does_not_fit_is_a_fault(spoil: str, tmp_path: Path) -> None:
    plan, measure, file = plan_of(steps=8, block=2), Unmetered(), CheckpointFile(tmp_path / "c.json")
    run = Stopping(problem("binary", 1, 20, plan), random.Random(1), 0.0)

    def stopping(step: int) -> None:
        if step == 5:
            raise Stop

    with pytest.raises(Stop):
        descend(run, plan, Descent(), measure=measure, key="k", keeper=file, progress=stopping)
    data = json.loads((tmp_path / "c.json").read_text())
    state = data["state"]
    if spoil == "missing":
        del state["weights"]
    elif spoil == "more":
        state["other"] = state["weights"]
    else:
        state["weights"]["shape"].reverse()
    (tmp_path / "c.json").write_text(json.dumps(data))
    with pytest.raises(Fault, match="do not fit"):
        descend(run, plan, Descent(), measure=measure, key="k", keeper=file)


def test_a_run_needs_a_key_to_be_gone_on_with() -> None:
    plan = plan_of()
    with pytest.raises(Invalid, match="needs a key"):
        descend(problem("binary", 1, 20, plan), plan, Descent(), keeper=MemoryCheckpoint())


def plans_and_problems_are_for_each_other() -> None:
    """Every field that changes what one unit adds, or is charged: a problem of one plan is refused for another, and nothing is spent."""
    ours = plan_of(person=Person(2), rate=F(1, 2))
    others: list[dict[str, Any]] = [
        *(
            {"delta": 0, "rate": 1},
            {"clip": 2},
            {"person": None},
            {"person": Person(3)},
            {"person": Person(2, each_row=True)},
        ),
        *({"adjacency": "replace", "rate": 1}, {"steps": 5}, {"epsilon": 2}, {"rate": F(1, 3)}, {"people": 7}),
    ]
    for said in others:
        measure = Unmetered()
        with pytest.raises(Invalid, match="another plan"):
            descend(
                problem("binary", 1, 20, ours),
                plan_of(**{"person": Person(2), "rate": F(1, 2), **said}),
                Descent(),
                measure=measure,
            )
        assert measure.spent.terms == ()
    for one, other in permutations(GradientNoise):
        plan = plan_of(delta=0 if other is GradientNoise.LAPLACE else F(1, 10**5))
        with pytest.raises(Invalid, match="unit ball of one norm"):
            LeastSquares(FeatureRows(np.ones((3, 2)), one), np.ones(3), plan)
    for most in (1, 2, 4):
        plan = plan_of(person=Person(3, each_row=True))
        with pytest.raises(Invalid, match="another number of rows"):
            LeastSquares(FeatureRows(np.ones((9, 2)), plan.shape), np.ones(9), plan, RowsOfPeople([1] * 9, most))


def test_plans_and_problems_are_for_each_other() -> None:
    plans_and_problems_are_for_each_other()


def test_there_is_one_target_for_each_row() -> None:
    plan = plan_of()
    rows = FeatureRows(np.ones((3, 2)), plan.shape)
    for targets in (np.ones(2), np.ones(4), np.ones((3, 2)), np.ones((1, 3))):
        with pytest.raises(Invalid, match="one target"):
            LeastSquares(rows, targets, plan)
        with pytest.raises(Invalid, match="one target"):
            Logistic(rows, targets.astype(np.int64), 2, plan)
    for classes in (2, 4):
        codes = np.array([classes, 10**9, -7])
        assert (
            not Logistic(rows, codes, classes, plan).clipped(np.ones((1 if classes == 2 else 4, 2)), slice(None)).any()
        )


def test_what_is_no_descent_is_refused_before_anything_is_spent() -> None:
    plan, measure = plan_of(), Unmetered()
    said: list[dict[str, Any]] = [{"descent": 3}, {"descent": None}, {"progress": 3}]
    for wrong in said:
        with pytest.raises(Invalid, match="must be a Descent"):
            descend(problem("binary", 1, 20, plan), plan, **{"descent": Descent(), **wrong}, measure=measure)
    with pytest.raises(Invalid, match="plan must be"):
        descend(problem("binary", 1, 20, plan), None, Descent(), measure=measure)  # type: ignore[arg-type]
    assert measure.spent.epsilon(1e-5) == 0


def test_a_finished_run_without_a_checkpoint_cannot_be_had_again() -> None:
    plan, measure = plan_of(), Unmetered()
    descend(problem("binary", 1, 20, plan), plan, Descent(), measure=measure, key="k")
    with pytest.raises(Refused, match="measured before"):
        descend(problem("binary", 1, 20, plan), plan, Descent(), measure=measure, key="k")


def test_nothing_is_charged_for_what_cannot_be_paid(tmp_path: Path) -> None:
    with hospital(tmp_path) as curator:
        plan = plan_of(epsilon=3, person=Person())
        with pytest.raises(Refused):
            descend(problem("binary", 1, 20, plan), plan, Descent(), measure=curator.measure)
        rows = plan_of(epsilon=1)
        with pytest.raises((Refused, Invalid)):  # a guarantee for rows is none for people
            descend(problem("binary", 1, 20, rows), rows, Descent(), measure=curator.measure)
        assert curator.spent.epsilon == 0


@pytest.mark.parametrize("kind", KINDS)
def test_descent_comes_near_the_best_weights(kind: str) -> None:
    """With next to no noise: the gradient at the end is small, with and without momentum."""
    plan = plan_of(epsilon=10**5, steps=300, people=200, clip=4)
    made = problem(kind, 5, 200, plan, width=3, odd=0)
    for descent in (Descent(1.0), Descent(0.3, momentum=0.7)):
        found = descend(made, plan, descent).weights
        gradient = made.clipped(found, slice(None)) * float(plan.step) / 200
        assert np.abs(gradient).max() < 0.02


def test_weights_stay_within_their_radius_and_follow_the_ridge() -> None:
    plan = plan_of(epsilon=10**5, steps=50, people=200, clip=4)
    made = problem("binary", 5, 200, plan, odd=0)
    free = descend(made, plan, Descent(2.0)).weights
    ball = descend(made, plan, Descent(2.0, radius=0.1)).weights
    pulled = descend(made, plan, Descent(2.0, ridge=0.2)).weights
    assert np.linalg.norm(ball) <= 0.1 + 1e-12 < np.linalg.norm(free)
    assert np.linalg.norm(pulled) < np.linalg.norm(free)


@pytest.mark.parametrize(
    "said",
    [
        {"rate": 0},
        {"rate": float("nan")},
        {"rate": float("inf")},
        {"momentum": 1},
        {"momentum": -0.1},
        {"ridge": -1},
        {"radius": 0},
    ],
)
def test_a_descent_that_is_none_is_refused(said: dict[str, float]) -> None:
    with pytest.raises(Invalid, match=next(iter(said))):
        Descent(**said)
    assert replace(Descent(), rate=0.5).rate == 0.5
