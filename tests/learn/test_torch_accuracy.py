"""How well a model does on private data is a noisy count, charged before it is taken."""

from math import exp

import pytest

pytest.importorskip("torch", reason="the optional part learn")

import torch
from torch import Tensor, nn

from discreet import Curator
from discreet.audit.twins.functions import Draws, compare
from discreet.audit.twins.record import Recorder
from discreet.errors import DiscreetError, Fault, Invalid
from discreet.learn.torch import evaluate
from discreet.mechanisms.measure import Unmetered, unmetered
from discreet.noise import Tape
from tests.scale import repeats

pytestmark = pytest.mark.learn


class Same(nn.Module):
    """Gives what it takes; it has a parameter so that it has a place."""

    def __init__(self) -> None:
        super().__init__()
        self.place = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        return x


def counts_are_those_of_right_rows() -> None:
    recorder = Recorder()
    measure = Unmetered(Tape(0), recorder)
    outputs = torch.eye(4)[[0, 1, 2, 3, 0, 1]]
    found = evaluate(Same(), (outputs, torch.tensor([0, 1, 2, 0, 0, 3])), epsilon=3, people=6, measure=measure)
    signs = torch.tensor([[1.0], [-2.0], [3.0]]), torch.tensor([[1.0], [0.0], [0.0]])
    evaluate(Same(), signs, epsilon=1, people=6, measure=measure, alone=True)
    evaluate(Same(), signs, epsilon=1, people=6, measure=measure, right=lambda out, _: out.flatten() > -9)
    assert [drawn.given for drawn in recorder.drawn] == [[4], [2], [3]]
    assert 0 <= found.value <= 1
    assert measure.spent.epsilon() == 5


def test_counts_are_those_of_right_rows() -> None:
    counts_are_those_of_right_rows()


def twins_see_the_same() -> None:
    """One row more, or one person more of any number of rows, moves the count by one at most, and nothing else."""
    outputs = torch.eye(3)[[0, 1, 2] * 4]
    targets = torch.tensor([0, 1, 2] * 4)

    def run(rows: int, draws: Draws) -> object:
        return evaluate(Same(), (outputs[:rows], targets[:rows]), epsilon=1, people=10, measure=draws.measure)

    def of_people(rows: int, draws: Draws) -> object:
        whose = [at // 5 for at in range(rows)]
        data = outputs[:rows], targets[:rows]
        return evaluate(Same(), data, epsilon=1, people=10, groups=whose, measure=draws.measure)

    for seed in range(repeats(3)):
        for report in (compare(12, 11, run, seed=seed), compare(10, 5, of_people, seed=seed)):
            assert not report.differences, report


def test_twins_see_the_same() -> None:
    twins_see_the_same()


class OfTheBatch(Same):
    """Gives what it takes, by the others of its batch; or keeps it."""

    def __init__(self, keeps: bool) -> None:
        super().__init__()
        self.keeps = keeps

    def forward(self, x: Tensor) -> Tensor:
        if self.keeps:
            self.last = x
            return x
        return x - x.mean(0)


def models_that_mix_are_not_judged() -> None:
    """One row would decide whether all others are right; nothing is charged."""
    measure = unmetered()
    for keeps in (False, True):
        with pytest.raises(Invalid) as caught:
            evaluate(OfTheBatch(keeps), (torch.eye(2), torch.arange(2)), epsilon=1, people=2, measure=measure)
        assert caught.value.code == "mixes"
    with pytest.raises(Invalid, match="rows of the shape"):
        evaluate(nn.Linear(3, 2), (torch.eye(2), torch.arange(2)), epsilon=1, people=2, measure=measure)
    assert measure.spent.terms == ()


def test_models_that_mix_are_not_judged() -> None:
    models_that_mix_are_not_judged()


def rows_are_not_charged_as_people() -> None:
    """A curator who protects people lets nobody count rows at the price of people."""
    people = {"patient": [f"p{i}" for i in range(4)]}
    data = torch.eye(4), torch.arange(4)
    with Curator({"visits": people}, "patient", epsilon=2, delta=1e-3, max_rows=1, ledger=":memory:") as curator:
        with pytest.raises(DiscreetError):
            evaluate(Same(), data, epsilon=1, people=4, measure=curator.measure)
        assert curator.spent.epsilon == 0
        evaluate(Same(), data, epsilon=1, people=4, measure=curator.measure, groups=people["patient"])
        assert curator.spent.epsilon == 1


def test_rows_are_not_charged_as_people() -> None:
    rows_are_not_charged_as_people()


def test_rows_that_are_replaced_are_charged_as_such() -> None:
    with Curator(
        {"visits": {"ward": ["A", "B"]}}, row=True, adjacency="replace", epsilon=2, delta=1e-3, ledger=":memory:"
    ) as curator:
        data = torch.eye(2), torch.arange(2)
        evaluate(Same(), data, epsilon=1, people=2, measure=curator.measure, adjacency="replace")
        assert curator.spent.epsilon == 1


def test_errors_are_those_of_the_noise() -> None:
    """Pr[|Z| > w] of geometric noise is 2 e^(−ε(w+1))/(1 + e^(−ε)); the reported width is the least with at most 5 %."""
    found = evaluate(Same(), (torch.eye(2), torch.arange(2)), epsilon=0.1, people=1000)
    width = round(found.error * 1000)
    assert 2 * exp(-0.1 * (width + 1)) / (1 + exp(-0.1)) <= 0.05 < 2 * exp(-0.1 * width) / (1 + exp(-0.1))
    assert str(found) == f"{found.value:.3f} ± {found.error:.3f}"


def test_models_are_left_in_the_mode_they_were_in() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    running = model.get_buffer("1.running_mean").clone()
    evaluate(model, (torch.rand(5, 2), torch.zeros(5)), epsilon=1, people=5)
    assert model.training
    assert torch.equal(running, model.get_buffer("1.running_mean"))


def test_nothing_is_spent_on_bad_requests() -> None:
    measure = unmetered()
    wrong: list[dict[str, object]] = [{"epsilon": 0}, {"people": 0}, {"data": (torch.zeros(2, 2),)}, {"model": None}]
    for bad in (*wrong, {"groups": [1]}, {"groups": [1, 1, 2]}, {"groups": 2}):
        arguments = {"model": Same(), "data": (torch.eye(2), torch.arange(2)), "epsilon": 1, "people": 2, **bad}
        with pytest.raises(Invalid):
            evaluate(measure=measure, **arguments)  # type: ignore[arg-type]
    assert measure.spent.terms == ()


def test_what_fails_on_data_is_one_constant_fault() -> None:
    model = nn.Embedding(3, 2)
    with pytest.raises(Fault) as caught:
        evaluate(model, (torch.tensor([123456]), torch.tensor([0])), epsilon=1, people=2)
    assert "123456" not in str(caught.value)
    with pytest.raises(Fault, match="of each row"):
        evaluate(Same(), (torch.eye(2), torch.arange(2)), epsilon=1, people=2, right=lambda out, _: out)
