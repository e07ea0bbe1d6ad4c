"""A private training run draws what was charged, of batches that the grant samples, and goes on after kills without drawing more."""

import os
import signal
import time
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest

pytest.importorskip("torch", reason="the optional part learn")

import torch
from torch import Tensor, nn

from discreet import Curator
from discreet.audit.twins.functions import Draws, compare
from discreet.audit.twins.record import Recorder
from discreet.errors import DiscreetError, Fault, Invalid
from discreet.learn import CheckpointFile, Person, TrainingPlan
from discreet.learn.checkpoint import MemoryCheckpoint
from discreet.learn.torch import TensorCheckpoint, private_training, train
from discreet.learn.torch.batches import TensorRows, UnitRows, evened
from discreet.learn.torch.training import _Job, check_exact, check_replay
from discreet.learn.training_plan import STEPS_OF_CLIP
from discreet.mechanisms.measure import Unmetered, unmetered
from discreet.noise import Tape
from discreet.privacy import events
from tests.learn.torch_cases import OwnParameter, flat_square
from tests.scale import repeats

pytestmark = pytest.mark.learn

WAYS: dict[str, dict[str, object]] = {
    "ghost": {},
    "each": {},
    "exact": {"exact": True},
    "float": {"noise": "float"},
    "microbatches": {"microbatch": 3},
}


def network(way: str = "ghost") -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return OwnParameter(3) if way == "each" else nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def table(rows: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(rows, 3, generator=generator), torch.randn(rows, generator=generator)


@cache
def plan(**changes: object) -> TrainingPlan:
    return TrainingPlan(**{"epsilon": 2, "delta": 1e-5, "steps": 7, "people": 20, "rate": 0.5, "block": 3, **changes})  # type: ignore[arg-type]


def recorded(seed: int = 0) -> tuple[Unmetered, Recorder]:
    recorder = Recorder()
    return Unmetered(Tape(seed), recorder), recorder


def draws_are_the_steps_that_were_charged(way: str) -> None:
    for rate in (0.5, 1):
        measure, recorder = recorded()
        agreed = plan(rate=rate)
        trained = train(network(way), table(20), agreed, loss=flat_square, measure=measure, **WAYS[way])  # type: ignore[arg-type]
        assert trained.made == len(recorder.drawn) == agreed.steps
        [(leaf, times)] = measure.spent.terms
        assert times == len(recorder.drawn)
        for drawn in recorder.drawn:
            own = drawn.use.mechanism.event(drawn.use.sensitivity or 0)
            assert leaf == (own if rate == 1 else events.Sampled(drawn.use.rate, own))  # type: ignore[arg-type]


@pytest.mark.parametrize("way", WAYS)
def test_draws_are_the_steps_that_were_charged(way: str) -> None:
    draws_are_the_steps_that_were_charged(way)


def twins_see_the_same(way: str, person: Person | None = None) -> None:
    """n against n + 1 units: the same draws of the same noise, sums that differ by the clip at most, the same weights."""
    inputs, targets = table(12)
    groups = [i // 3 for i in range(12)]
    without = 9 if person else 11

    def run(rows: int, draws: Draws) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
        model = network(way)
        told = groups[:rows] if person else None
        train(
            model,
            (inputs[:rows], targets[:rows]),
            plan(person=person),
            loss=flat_square,
            groups=told,
            measure=draws.measure,
            **WAYS[way],  # type: ignore[arg-type]
        )
        return [each.detach().numpy() for each in model.parameters()]

    for seed in range(repeats(3)):
        report = compare(12, without, run, seed=seed)
        assert not report.differences, report
        report = compare(without, 12, run, seed=seed)
        assert not report.differences, report


@pytest.mark.parametrize("way", ["ghost", "each", "exact", "microbatches"])
def test_twins_see_the_same(way: str) -> None:
    twins_see_the_same(way)


@pytest.mark.parametrize("way", ["ghost", "each", "exact"])
@pytest.mark.parametrize("person", [Person(1), Person(2), Person(3), Person(3, each_row=True)])
def test_twins_of_people_see_the_same(way: str, person: Person) -> None:
    twins_see_the_same(way, person)


def given(model: nn.Module, agreed: TrainingPlan, rows: tuple[Tensor, Tensor], **options: object) -> list[np.ndarray]:  # type: ignore[type-arg]
    """The exact sums that a run hands to its noise."""
    measure, recorder = recorded()
    train(model, rows, agreed, loss=flat_square, measure=measure, **options)  # type: ignore[arg-type]
    return [drawn.given[0] for drawn in recorder.drawn]


def one_person_moves_the_exact_sum_by_the_clip() -> None:
    """Brute force over people of 1 to 10 rows: exact sums with and without each of them differ by at most 2^32 steps, in integers."""
    for person in (Person(10), Person(10, each_row=True), Person(3), Person(1)):
        groups = [who for who in range(1, 11) for _ in range(who)]
        rows = table(len(groups), 3)
        rows[0][:20] *= 100
        agreed = plan(person=person, steps=1, rate=1, clip=0.1)
        shape = {"groups": groups, "exact": True}
        whole = given(network(), agreed, rows, **shape)[0]
        for who in (1, 2, 7, 10):
            keep = [at for at, each in enumerate(groups) if each != who]
            if person.rows < 10:  # which rows of the others are used is drawn anew, so each person is looked at alone
                keep = [at for at, each in enumerate(groups) if each == who]
            rest = rows[0][keep], rows[1][keep]
            told = {"groups": [groups[at] for at in keep], "exact": True}
            other = given(network(), agreed, rest, **told)[0]
            moved = whole - other if person.rows == 10 else other
            assert sum(int(x) ** 2 for x in moved) <= STEPS_OF_CLIP**2, (person, who)


def test_one_person_moves_the_exact_sum_by_the_clip() -> None:
    one_person_moves_the_exact_sum_by_the_clip()


def microbatches_change_nothing_but_rounding() -> None:
    for way in ("ghost", "each"):
        rows = table(40)
        agreed = plan(steps=1, rate=1)
        whole = given(network(way), agreed, rows)[0] / STEPS_OF_CLIP
        for size in (1, 7, 40):
            parts = given(network(way), agreed, rows, microbatch=size)[0] / STEPS_OF_CLIP
            assert np.linalg.norm(whole - parts) <= 1e-5 * np.linalg.norm(whole)


def test_microbatches_change_nothing_but_rounding() -> None:
    microbatches_change_nothing_but_rounding()


def sums_are_on_the_grid_of_the_plan() -> None:
    """A sum of gradients far below the clip is the sum itself, in steps of clip/2^32; all are integers."""
    rows = table(30)
    model = network()
    loss = flat_square(model(rows[0]), rows[1]).sum()
    expected = torch.cat([each.flatten() for each in torch.autograd.grad(loss, list(model.parameters()))]).numpy()
    for options in ({}, {"exact": True}):
        agreed = plan(steps=1, rate=1, clip=1000)
        found = given(model, agreed, rows, **options)[0]
        assert found.dtype == np.int64
        assert np.allclose(found * float(agreed.step), expected, rtol=1e-4, atol=1e-3)
        model = network()


def test_sums_are_on_the_grid_of_the_plan() -> None:
    sums_are_on_the_grid_of_the_plan()


@pytest.mark.parametrize("way", WAYS)
def test_empty_batches_have_noise_alone(way: str) -> None:
    """Of no rows at all, and of batches that nobody was sampled into: steps are made, and weights move."""
    for rows, rate in ((0, 0.5), (0, 1), (3, 1e-4)):
        model = network(way)
        before = [each.clone() for each in model.parameters()]
        trained = train(model, table(rows), plan(rate=rate), loss=flat_square, **WAYS[way])  # type: ignore[arg-type]
        assert trained.made == 7
        assert all(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize("way", ["ghost", "each", "exact"])
def test_an_example_that_is_no_number_leaves_the_sum_as_it_is(way: str) -> None:
    inputs, targets = table(6)
    inputs[5] = torch.tensor([1.0, float("nan"), 2.0])
    agreed = plan(steps=1, rate=1)
    with_it = given(network(way), agreed, (inputs, targets), **WAYS[way])[0]
    without = given(network(way), agreed, (inputs[:5], targets[:5]), **WAYS[way])[0]
    assert np.linalg.norm((with_it - without).astype(float)) <= 1e-6 * STEPS_OF_CLIP


def what_is_dropped_hangs_on_secret_bits() -> None:
    """Whoever set the seed of PyTorch's generator does not know what is dropped of whom, and finds the generator as it was."""

    def dropped(way: str, tape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        torch.manual_seed(0)
        state = torch.get_rng_state()
        recorder = Recorder()
        model = nn.Sequential(network(way), nn.Dropout())
        train(model, table(9), agreed, loss=flat_square, measure=Unmetered(Tape(tape), recorder), **WAYS[way])  # type: ignore[arg-type]
        assert torch.equal(torch.get_rng_state(), state)
        return recorder.drawn[0].given[0]  # type: ignore[no-any-return]

    agreed = plan(steps=1, rate=1)
    for way in ("ghost", "each", "exact", "microbatches"):
        assert not np.array_equal(dropped(way, 1), dropped(way, 2))
        assert np.array_equal(dropped(way, 1), dropped(way, 1))


def test_what_is_dropped_hangs_on_secret_bits() -> None:
    what_is_dropped_hangs_on_secret_bits()


def batches_are_those_of_the_grant() -> None:
    """The rows whose gradients are summed are those that the grant sampled, of each step anew."""
    measure, recorder = recorded()
    inputs, targets = torch.eye(8), torch.ones(8)
    model = nn.Linear(8, 1, bias=False)
    nn.init.zeros_(model.weight)
    train(model, (inputs, targets), plan(steps=20, people=8), loss=flat_square, optimizer=_still, measure=measure)
    sizes = set()
    for drawn in recorder.drawn:
        assert drawn.batch is not None
        assert drawn.among == 8
        assert np.flatnonzero(drawn.given[0]).tolist() == drawn.batch.tolist()
        sizes.add(len(drawn.batch))
    assert len(sizes) > 1


def evened_batches_are_those_of_the_grant() -> None:
    """Batches that are filled up for a GPU have the rows of the grant, each of them present once, and one of few sizes."""
    rows, sizes = table(400), set()
    for count in (0, 1, 31, 33, 100, 131, 257, 399):
        chosen = np.sort(np.random.default_rng(count).permutation(400)[:count]).astype(np.int64)
        units = UnitRows(TensorRows(rows, torch.device("cpu")), plan(), None, None, even=True)
        pieces = list(units.pieces(chosen, 256))
        there: list[Tensor] = []
        for piece in pieces:
            assert piece.present is not None
            assert piece.rows == piece.units == evened(int(piece.present.sum())) <= 1.04 * int(piece.present.sum())
            there.append(piece.inputs[0][piece.present])
            sizes.add(piece.rows)
        assert torch.equal(torch.cat([*there, rows[0][:0]]), rows[0][torch.from_numpy(chosen)])
    assert {evened(count) for count in range(4096, 8193)} == set(range(4096, 8193, 128))


def test_evened_batches_are_those_of_the_grant() -> None:
    evened_batches_are_those_of_the_grant()


def test_what_is_not_replayed_is_refused_before_anything_is_charged() -> None:
    measure, _ = recorded()
    with pytest.raises(Invalid, match="on a GPU"):
        train(network(), table(4), plan(), loss=flat_square, replay=True, measure=measure)
    assert not measure.spent.terms
    with pytest.raises(Invalid, match="exact sums"):
        check_replay("cuda", plan(), True)
    with pytest.raises(Invalid, match="several rows"):
        check_replay("cuda", plan(person=Person(2)), False)
    check_replay("cuda", plan(person=Person(2, each_row=True)), False)


def _still(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.0)


def test_batches_are_those_of_the_grant() -> None:
    batches_are_those_of_the_grant()


def gradients_are_divided_by_the_declared_size() -> None:
    measure, recorder = recorded()
    agreed = plan(people=1000, steps=1, rate=0.25)
    with private_training(network(), table(20), agreed, loss=flat_square, measure=measure) as run:
        for _ in run.steps:
            run.step()
            model = run._job._parameters
    released = recorder.drawn[0].released[0] * float(agreed.step) / 250
    found = torch.cat([each.grad.flatten() for each in model if each.grad is not None])
    assert np.allclose(found.numpy(), released, rtol=1e-5)


def test_gradients_are_divided_by_the_declared_size() -> None:
    gradients_are_divided_by_the_declared_size()


def test_a_loop_of_ones_own_draws_no_more_than_the_plan() -> None:
    measure, recorder = recorded()
    model = network()
    optimizer = torch.optim.Adam(model.parameters())
    with private_training(model, table(20), plan(), loss=flat_square, measure=measure) as run:
        for _ in run.steps:
            run.step()
            optimizer.step()
        assert run.made == 7
        with pytest.raises(Fault):
            run.step()
    assert len(recorder.drawn) == 7
    with pytest.raises(Fault):
        run.step()


def test_progress_is_told_the_number_of_the_step_and_nothing_else() -> None:
    told: list[object] = []
    train(network(), table(20), plan(), loss=flat_square, progress=told.append)
    assert told == [1, 2, 3, 4, 5, 6, 7]


def rates_follow_schedules() -> None:
    """A function of the step, and a schedule of torch that is the same: the same weights of the same draws."""
    ends = []
    for kind in range(2):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        schedule: object = lambda step: 0.5**step  # noqa: E731
        if kind:
            schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        measure, _ = recorded()
        train(
            model,
            table(20),
            plan(),
            loss=flat_square,
            optimizer=optimizer,
            schedule=schedule,  # type: ignore[arg-type]
            measure=measure,
        )
        ends.append(torch.cat([each.flatten() for each in model.parameters()]))
        assert abs(optimizer.param_groups[0]["lr"] - 0.5 * 0.5 ** (6 + kind)) < 1e-12
    assert torch.allclose(ends[0], ends[1])


def test_rates_follow_schedules() -> None:
    rates_follow_schedules()


OPTIMIZERS: dict[str, Callable[[list[nn.Parameter]], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
}


class Stopped(Exception):
    pass


def whoever_was_stopped_goes_on_with_the_blocks_that_are_left(keeper: object, name: str) -> None:
    """Stopped in its second block, a run goes on after its first one with the third; once it has ended, its end comes back."""

    def run(stop: int | None, model: nn.Module, measure: Unmetered, kept: object) -> None:
        def progress(step: int) -> None:
            if step == stop:
                raise Stopped

        optimizer = OPTIMIZERS[name](list(model.parameters()))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
        train(
            model,
            table(20),
            plan(),
            loss=flat_square,
            optimizer=optimizer,
            schedule=schedule,
            measure=measure,
            key="run",
            keeper=kept,  # type: ignore[arg-type]
            progress=progress,
        )

    straight = network()
    run(None, straight, recorded()[0], None)
    measure, recorder = recorded()
    hand = recorder.drawn
    with pytest.raises(Stopped):
        run(4, network(), measure, keeper)  # the fourth step begins the second block, which is lost
    model = network()
    run(None, model, measure, keeper)
    assert len(hand) == 4 + 1  # and the third block has one step
    done = network()
    run(None, done, measure, keeper)  # the run has ended: what comes back is its end
    assert len(hand) == 5
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), done.parameters(), strict=True))
    assert any(
        not torch.equal(one, other) for one, other in zip(model.parameters(), straight.parameters(), strict=True)
    )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_whoever_was_stopped_goes_on_with_the_blocks_that_are_left(name: str, tmp_path: Path) -> None:
    for keeper in (
        MemoryCheckpoint(),
        CheckpointFile(tmp_path / "a.json"),
        TensorCheckpoint(tmp_path / "a.safetensors"),
    ):
        whoever_was_stopped_goes_on_with_the_blocks_that_are_left(keeper, name)


def what_is_not_trained_belongs_to_the_run(tmp_path: Path) -> None:
    """Weights that were trained beside frozen ones of chance are not put beside others of chance, which nothing else would tell."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    model[0].requires_grad_(False)
    model.register_buffer("scale", torch.ones(2))
    keeper = TensorCheckpoint(tmp_path / "run.safetensors")
    said = {"loss": flat_square, "measure": unmetered(), "key": "run", "keeper": keeper}
    train(model, table(20), plan(), **said)  # type: ignore[arg-type]
    again = deepcopy(model)
    nn.init.zeros_(again.get_submodule("2").weight)
    train(again, table(20), plan(), **said)  # type: ignore[arg-type]
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), again.parameters(), strict=True))
    for name in ("0.weight", "scale"):
        other = deepcopy(model)
        with torch.no_grad():
            other.state_dict()[name].add_(1)
        with pytest.raises(Fault, match="another training run"):
            train(other, table(20), plan(), **said)  # type: ignore[arg-type]


def test_what_is_not_trained_belongs_to_the_run(tmp_path: Path) -> None:
    what_is_not_trained_belongs_to_the_run(tmp_path)


def states_come_back(name: str, tmp_path: Path) -> None:
    """What a checkpoint holds brings an optimiser to where it was: the same gradients move both in the same way."""
    for kind in (CheckpointFile, TensorCheckpoint):
        model, keeper = network(), kind(tmp_path / f"{name}.{kind.__name__}")
        made: list[torch.optim.Optimizer] = []

        def optimizer(p: list[nn.Parameter], made: list[torch.optim.Optimizer] = made) -> torch.optim.Optimizer:
            made.append(OPTIMIZERS[name](p))
            return made[-1]

        measure = unmetered()
        options = {"loss": flat_square, "optimizer": optimizer, "measure": measure, "key": "k", "keeper": keeper}
        train(model, table(20), plan(), **options)  # type: ignore[arg-type]
        again = network()
        train(again, table(20), plan(), **options)  # type: ignore[arg-type]
        for one, other in zip(model.parameters(), again.parameters(), strict=True):
            assert torch.equal(one, other)
            other.grad = one.grad
        for each in made:
            each.step()
        assert all(torch.equal(one, other) for one, other in zip(model.parameters(), again.parameters(), strict=True))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_states_come_back(name: str, tmp_path: Path) -> None:
    states_come_back(name, tmp_path)


def kills_never_draw_more(tmp_path: Path) -> None:
    """Stopped at random inside and outside of draws: all entries together begin no more draws than were charged, and end."""
    for seed in range(repeats(8)):
        draw = Random(seed)
        measure, recorder = recorded(seed)
        keeper = TensorCheckpoint(tmp_path / f"{seed}.safetensors")
        agreed = plan(steps=20, block=3)
        kills = 0
        for _ in range(30):
            where, at = draw.choice(["loss", "progress"]), draw.randint(1, 9)
            calls = [0]

            def perhaps(
                place: str, where: str = where, at: int = at, calls: list[int] = calls, kills: int = kills
            ) -> None:
                if place == where and kills < 5:
                    calls[0] += 1
                    if calls[0] == at:
                        raise KeyboardInterrupt

            class Fragile(nn.Module):
                """Stops whoever trains it in the middle of a draw."""

                def __init__(self) -> None:
                    super().__init__()
                    self.inner = network()

                def forward(self, x: Tensor) -> Tensor:
                    if len(x) != 3:  # not in the checks
                        perhaps("loss")
                    return self.inner(x)  # type: ignore[no-any-return]

            try:
                trained = train(
                    Fragile(),
                    table(25),
                    agreed,
                    loss=flat_square,
                    measure=measure,
                    key="run",
                    keeper=keeper,
                    progress=lambda _: perhaps("progress"),
                )
                break
            except KeyboardInterrupt:
                kills += 1
        assert len(recorder.drawn) <= agreed.steps
        assert trained.made <= len(recorder.drawn)
        assert kills > 0


def test_kills_never_draw_more(tmp_path: Path) -> None:
    kills_never_draw_more(tmp_path)


def test_whoever_was_killed_leaves_whole_blocks_that_its_measure_alone_goes_on_from(tmp_path: Path) -> None:
    """A measure in memory ends with its process: another one has not counted the steps in the checkpoint, and is refused."""
    path = tmp_path / "run.safetensors"
    for at in range(1, repeats(4) + 1):
        path.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            torch.set_num_threads(1)
            stop = 2 + at % 5

            def end(step: int, stop: int = stop) -> None:
                if step == stop:
                    os._exit(9)

            train(
                network(),
                table(20),
                plan(),
                loss=flat_square,
                measure=unmetered(),
                key="run",
                keeper=TensorCheckpoint(path),
                progress=end,
            )
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        written = 3 * ((2 + at % 5 - 1) // 3)
        assert path.exists() == (written > 0)
        said: dict[str, object] = {"loss": flat_square, "measure": unmetered(), "key": "run"}
        if written:
            with pytest.raises(Fault, match="charged elsewhere"):
                train(network(), table(20), plan(), keeper=TensorCheckpoint(path), **said)  # type: ignore[arg-type]
            path.unlink()
        trained = train(network(), table(20), plan(), keeper=TensorCheckpoint(path), **said)  # type: ignore[arg-type]
        assert trained.made == 7


class Telling(nn.Module):
    """Says so whenever it sees the five rows of the data."""

    def __init__(self, to: int) -> None:
        super().__init__()
        self.inner, self.to = network(), to

    def forward(self, x: Tensor) -> Tensor:
        if len(x) == 5:
            os.write(self.to, b".")
        return self.inner(x)  # type: ignore[no-any-return]


def test_twenty_kills_never_draw_more_than_was_paid_for(tmp_path: Path) -> None:
    """Processes killed at any moment, a ledger on disk: draws of all of them together are at most the steps, charged once."""
    chance = Random(3)
    agreed = plan(epsilon=1, steps=60, block=4, rate=1, person=Person())
    kills = number = 0
    while kills < repeats(20):
        number += 1
        folder = tmp_path / str(number)
        people = {"patient": [f"p{i}" for i in range(5)]}
        with Curator(
            {"visits": people}, "patient", epsilon=2, delta=1e-3, max_rows=1, ledger=folder / "ledger"
        ) as curator:
            draws = 0
            while True:
                ear, mouth = os.pipe()
                child = os.fork()
                if child == 0:
                    try:
                        torch.set_num_threads(1)
                        keeper = TensorCheckpoint(folder / "model.safetensors")
                        options = {"measure": curator.measure, "key": "model", "keeper": keeper}
                        train(Telling(mouth), table(5), agreed, loss=flat_square, groups=range(5), **options)  # type: ignore[arg-type]
                        os._exit(0)
                    finally:
                        os._exit(1)
                os.close(mouth)
                first = os.read(ear, 1)
                time.sleep(chance.uniform(0, 0.03))
                os.kill(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                with os.fdopen(ear, "rb") as said:
                    draws += len(first) + len(said.read())
                if not os.WIFSIGNALED(status):
                    assert os.waitstatus_to_exitcode(status) == 0
                    break
                kills += 1
            assert draws <= agreed.steps
            assert curator.spent.epsilon == 1


def what_fails_on_data_is_one_constant_fault() -> None:
    """A target that no class has: what torch says of it holds its value, and is not told."""
    inputs, targets = torch.rand(20, 3), torch.full((20,), 123456)
    model = nn.Linear(3, 2)
    measure = unmetered()
    with pytest.raises(Fault) as caught:
        train(model, (inputs, targets), plan(), loss=nn.CrossEntropyLoss(reduction="none"), measure=measure)
    assert caught.value.code == "training"
    assert "123456" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert measure.spent.terms


def test_what_fails_on_data_is_one_constant_fault() -> None:
    what_fails_on_data_is_one_constant_fault()


def test_data_are_left_as_they_were() -> None:
    rows = table(20)
    rows[0][3, 1] = float("nan")
    before = deepcopy(rows)
    for rate in (0.5, 1):
        train(network(), rows, plan(rate=rate), loss=flat_square)
    assert all(
        torch.equal(torch.nan_to_num(one), torch.nan_to_num(other)) for one, other in zip(rows, before, strict=True)
    )


def float_noise_has_the_scale_of_the_plan() -> None:
    """With 40,000 numbers the deviation is within 4 % of the plan's but for a chance below 1e-8 (a chi-square of 5.6 σ)."""
    model = nn.Linear(200, 200, bias=False)
    agreed = plan(steps=1, rate=1, clip=3)
    measure = unmetered()
    with private_training(
        model, (torch.zeros(0, 200), torch.zeros(0)), agreed, loss=flat_square, noise="float", measure=measure
    ) as run:
        for _ in run.steps:
            run.step()
    assert model.weight.grad is not None
    found = float(model.weight.grad.std())
    assert abs(found / agreed.noise_of_mean - 1) < 0.04
    assert measure.spent.epsilon(1e-5) <= 2


def test_float_noise_has_the_scale_of_the_plan() -> None:
    float_noise_has_the_scale_of_the_plan()


def float_noise_hangs_on_secret_bits() -> None:
    """Whatever seed PyTorch's generator has, noise is another one each time, and the same of the same bits."""
    ends = []
    for tape in (1, 2, 1):
        torch.manual_seed(0)
        model = network()
        train(model, table(9), plan(steps=1, rate=1), loss=flat_square, noise="float", measure=Unmetered(Tape(tape)))
        ends.append(torch.cat([each.detach().flatten() for each in model.parameters()]))
    assert torch.equal(ends[0], ends[2])
    assert not torch.isclose(ends[0], ends[1], rtol=1e-6, atol=0).any()


def test_float_noise_hangs_on_secret_bits() -> None:
    float_noise_hangs_on_secret_bits()


def exact_sums_are_for_what_is_steady() -> None:
    check_exact("cpu", False)
    check_exact("cuda", True)
    with pytest.raises(Invalid, match="the same whenever"):
        check_exact("cuda", False)


def test_exact_sums_are_for_what_is_steady() -> None:
    exact_sums_are_for_what_is_steady()


def test_what_is_not_exact_is_said() -> None:
    said = {}
    for way in ("ghost", "exact", "float"):
        trained = train(network(), table(4), plan(), loss=flat_square, **WAYS[way])  # type: ignore[arg-type]
        said[way] = " ".join(trained.caveats)
    assert "up to that rounding" in said["ghost"]
    assert "up to that rounding" not in said["exact"]
    assert "torch.randn" in said["float"]
    assert "torch.randn" not in said["ghost"]


def test_checkpoints_need_a_key_and_an_optimizer() -> None:
    with pytest.raises(Invalid, match="needs a key"):
        train(network(), table(4), plan(), loss=flat_square, keeper=MemoryCheckpoint())
    with (
        pytest.raises(Invalid, match="needs the optimizer"),
        private_training(network(), table(4), plan(), loss=flat_square, keeper=MemoryCheckpoint(), key="a"),
    ):
        pass


def test_checkpoints_of_another_model_are_refused(tmp_path: Path) -> None:
    keeper = TensorCheckpoint(tmp_path / "a.safetensors")
    measure = unmetered()
    train(network(), table(4), plan(), loss=flat_square, keeper=keeper, key="a", measure=measure)
    with pytest.raises(DiscreetError):
        train(nn.Linear(3, 1), table(4), plan(), loss=flat_square, keeper=keeper, key="b", measure=measure)


def test_the_plan_and_the_batch_know_nothing_of_how_many_rows_there_are() -> None:
    """Constants of a job are the same for any number of rows."""
    from discreet.learn.torch.noise import NoiseKind

    def constants(rows: int) -> dict[str, object]:
        job = _Job(
            network(),
            TensorRows(table(rows), torch.device("cpu")),
            plan(),
            flat_square,
            NoiseKind.GRID,
            False,
            None,
            None,
        )
        return {"bound": job._bound, "microbatch": job._microbatch, "out": job._out._to_mean, "noise": job.mechanism}

    assert constants(5) == constants(6) == constants(5000)
