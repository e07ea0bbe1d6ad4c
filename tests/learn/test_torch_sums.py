"""Clipped sums of gradients are those of one example after the other, for every layer, however they are made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from random import Random
from typing import Any

import pytest

pytest.importorskip("torch", reason="the optional part learn")

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from discreet.errors import Invalid
from discreet.learn.torch.batches import Owners, TensorBatch, TensorRows
from discreet.learn.torch.checks import sums_for
from discreet.learn.torch.each import AloneSums, EachSums
from discreet.learn.torch.ghost import GhostSums
from discreet.learn.torch.replaying import Body, ReplayedSums
from discreet.learn.torch.training import FARTHEST_CLIP
from tests.learn.torch_cases import GHOSTS, Case, OwnParameter, by_hand, case, flat, flat_square
from tests.scale import repeats

pytestmark = pytest.mark.learn

NEAR = 1e-5
CASES = 12


def ways(found: Case) -> list[GhostSums | EachSums]:
    """By the norms of layers, and by the gradient of each example."""
    parameters = list(found.model.parameters())
    ghosts = GhostSums(found.model, flat_square, parameters, copying=True)
    return [ghosts, EachSums(found.model, flat_square, parameters)]


def sums_agree(name: str, way: int, count: int = CASES) -> None:
    """Norms and clipped sums are within 1e-5 of those by hand; about half of the units are clipped."""
    for seed in range(repeats(count)):
        found = case(name, seed)
        norms, _ = by_hand(found, 1.0)
        bound = sorted(norms)[len(norms) // 2] * 0.9 + 1e-6
        _, expected = by_hand(found, bound)
        sums = ways(found)[way]
        found_norms = sums.norms(found.batch()).double()
        assert torch.allclose(found_norms, torch.tensor(norms, dtype=torch.float64), rtol=NEAR, atol=1e-6), (name, seed)
        actual = flat(sums.clipped(found.batch(), bound))
        assert float((actual - expected).norm()) <= NEAR * float(expected.norm()) + 1e-6, (name, seed)


@pytest.mark.parametrize("name", GHOSTS)
def test_ghost_sums_are_those_by_hand(name: str) -> None:
    sums_agree(name, 0)


@pytest.mark.parametrize("name", GHOSTS)
def test_ghost_sums_are_chosen_where_they_are_right(name: str) -> None:
    for seed in range(repeats(4)):
        found = case(name, seed)
        rows = TensorRows((found.inputs, found.targets), torch.device("cpu"))
        chosen = sums_for(found.model, flat_square, rows, list(found.model.parameters()))
        assert isinstance(chosen, GhostSums), (name, seed)


@pytest.mark.parametrize("name", ["linear", "convolution of images", "words", "a layer used twice"])
def test_sums_of_each_example_are_those_by_hand(name: str) -> None:
    sums_agree(name, 1, 4)


def owned(found: Case, seed: int) -> tuple[TensorBatch, list[int]]:
    """The rows of a case as those of people, of up to five rows each."""
    draw = Random(seed)
    owners: list[int] = []
    places: list[int] = []
    while len(owners) < len(found.inputs):
        rows = min(draw.randint(1, 5), len(found.inputs) - len(owners))
        owners += [owners[-1] + 1 if owners else 0] * rows
        places += range(rows)
    batch = found.batch(Owners(torch.tensor(owners), torch.tensor(places), 5), owners[-1] + 1)
    return batch, owners


def people_are_clipped_as_one(name: str, way: int, count: int = 6) -> None:
    for seed in range(repeats(count)):
        found = case(name, seed, rows=9)
        batch, owners = owned(found, seed)
        norms, _ = by_hand(found, 1.0, owners)
        bound = sorted(norms)[len(norms) // 2] * 0.9 + 1e-6
        _, expected = by_hand(found, bound, owners)
        actual = flat(ways(found)[way].clipped(batch, bound))
        assert float((actual - expected).norm()) <= NEAR * float(expected.norm()) + 1e-6, (name, seed)


@pytest.mark.parametrize("name", GHOSTS)
def test_gradients_of_a_person_are_clipped_as_one(name: str) -> None:
    people_are_clipped_as_one(name, 0)


def test_gradients_of_a_person_are_clipped_as_one_example_by_example() -> None:
    people_are_clipped_as_one("linear", 1)


def what_is_no_number_adds_nothing(way: int) -> None:
    """Rows that are infinite or no number, or whose gradient is, leave the sum as it is without them."""
    for name in ("linear", "convolution of images", "layer norm", "a layer used twice"):
        found = case(name, 3, rows=6)
        whole = found.inputs.clone()
        for row, bad in ((1, float("nan")), (4, float("inf")), (5, 1e30)):
            found.inputs[row].flatten()[0] = bad
        keep = [0, 2, 3]
        rest = Case(name, found.model, whole[keep], found.targets[keep])
        expected = flat(ways(rest)[way].clipped(rest.batch(), 0.5))
        actual = flat(ways(found)[way].clipped(found.batch(), 0.5))
        if name == "layer norm":  # a row of any finite size has a gradient there
            found.inputs[5] = whole[5]
            keep = [0, 2, 3, 5]
            rest = Case(name, found.model, whole[keep], found.targets[keep])
            expected = flat(ways(rest)[way].clipped(rest.batch(), 0.5))
            actual = flat(ways(found)[way].clipped(found.batch(), 0.5))
        assert bool(torch.isfinite(actual).all()), name
        assert float((actual - expected).norm()) <= 2e-5 * float(expected.norm()) + 1e-6, name


@pytest.mark.parametrize("way", [0, 1])
def test_what_is_no_number_adds_nothing(way: int) -> None:
    what_is_no_number_adds_nothing(way)


def frozen_parameters_are_left_alone() -> None:
    found = case("linear", 5, rows=6)
    first = found.model.get_submodule("0")
    first.weight.requires_grad_(False)
    kept = [each for each in found.model.parameters() if each.requires_grad]
    _, expected = by_hand(found, 0.7)
    for way in (GhostSums, EachSums):
        actual = flat(way(found.model, flat_square, kept).clipped(found.batch(), 0.7))
        assert actual.shape == expected.shape
        assert float((actual - expected).norm()) <= NEAR * float(expected.norm()) + 1e-6


def test_frozen_parameters_are_left_alone() -> None:
    frozen_parameters_are_left_alone()


def integers_of_one_unit_are_within_the_clip() -> None:
    """Whatever the gradient, a unit's integers have at most 2^32 steps in norm, exactly; and sums are those of units alone."""
    for seed in range(repeats(20)):
        found = case("linear", seed, rows=5)
        parameters = list(found.model.parameters())
        found.inputs[0] *= 10.0 ** Random(seed).randint(-6, 6)
        sums = AloneSums(found.model, flat_square, parameters)
        clip = 10.0 ** Random(seed).randint(-3, 3)
        bound, step = clip / (1 + 2**-16), clip / 2**32
        each = [
            sums.summed(TensorBatch((found.inputs[row : row + 1],), found.targets[row : row + 1], 1), bound, step)
            for row in range(5)
        ]
        assert all(sum(x * x for x in one.tolist()) <= 2**64 for one in each)
        assert torch.equal(sums.summed(found.batch(), bound, step), sum(each[1:], start=each[0]))


def test_integers_of_one_unit_are_within_the_clip() -> None:
    integers_of_one_unit_are_within_the_clip()


def test_exact_sums_of_people_are_those_by_hand() -> None:
    found = case("linear", 2, rows=9)
    batch, owners = owned(found, 1)
    _, expected = by_hand(found, 0.8, owners)
    actual = AloneSums(found.model, flat_square, list(found.model.parameters())).summed(batch, 0.8, 2.0**-32)
    assert float((actual * 2.0**-32 - expected).norm()) <= NEAR * float(expected.norm())


class Largest(TorchDispatchMode):
    """Notes the largest tensor that is made."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        made = function(*arguments, **(options or {}))
        for each in made if isinstance(made, tuple | list) else (made,):
            if isinstance(each, torch.Tensor):
                self.numbers = max(self.numbers, each.numel())
        return made


def test_memory_is_that_of_activations_and_not_of_gradients() -> None:
    """Of a batch no tensor is made that is larger than what a layer takes or gives, or than the parameters: rows times parameters never."""
    model = nn.Sequential(nn.Linear(50, 40), nn.ReLU(), nn.Linear(40, 3))
    parameters = list(model.parameters())
    size = sum(each.numel() for each in parameters)
    for rows in (100, 400):
        batch = TensorBatch((torch.rand(rows, 50),), torch.rand(rows), rows)
        for way, most in ((GhostSums, max(rows * 50, size)), (EachSums, rows * 50 * 40)):
            with Largest() as largest:
                way(model, flat_square, parameters).clipped(batch, 1.0)
            assert largest.numbers <= most, (way, rows)
        assert largest.numbers == rows * 50 * 40  # the law tells them apart


def test_layers_with_parameters_of_their_own_are_not_covered() -> None:
    assert not GhostSums.covers(OwnParameter(3), list(OwnParameter(3).parameters()))
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    assert GhostSums.covers(model, list(model.parameters()))


class Heir(nn.Linear):
    """Is a linear layer by its name alone."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * self.weight.sum()


def heirs_are_not_taken_for_what_they_inherit() -> None:
    model = nn.Sequential(Heir(3, 2))
    assert not GhostSums.covers(model, list(model.parameters()))
    rows = TensorRows((torch.rand(4, 3), torch.zeros(4)), torch.device("cpu"))
    assert isinstance(sums_for(model, flat_square, rows, list(model.parameters())), EachSums)


def test_heirs_are_not_taken_for_what_they_inherit() -> None:
    heirs_are_not_taken_for_what_they_inherit()


def filled_up(found: Case, size: int) -> TensorBatch:
    """The rows of a case, and its last one again and again, marked as nobody's."""
    places = [min(at, len(found.inputs) - 1) for at in range(size)]
    present = torch.arange(size) < len(found.inputs)
    return TensorBatch((found.inputs[places],), found.targets[places], size, None, present)


def rows_of_nobody_add_nothing(way: int) -> None:
    for name in ("linear", "convolution of images", "words", "layer norm", "a layer used twice"):
        found = case(name, 4, rows=6)
        for last in (found.inputs[-1].clone(), found.inputs[-1] * float("nan") if name != "words" else None):
            if last is not None:
                found.inputs[-1] = last
            expected = flat(ways(found)[way].clipped(found.batch(), 0.5))
            actual = flat(ways(found)[way].clipped(filled_up(found, 9), 0.5))
            assert float((actual - expected).norm()) <= NEAR * float(expected.norm()) + 1e-6, name


@pytest.mark.parametrize("way", [0, 1])
def test_rows_of_nobody_add_nothing(way: int) -> None:
    rows_of_nobody_add_nothing(way)


def again(body: Body) -> tuple[Callable[[], None], list[Tensor]]:
    """Stands for a recording where there is no GPU: the body runs again, and its results are put where they were."""
    sums = body()

    def replay() -> None:
        for old, new in zip(sums, body(), strict=True):
            old.copy_(new)

    return replay, sums


def replayed_sums_are_those_of_the_rows_at_hand() -> None:
    """Of batches of several sizes, with weights that move, whether somebody stands for nobody or not."""
    for way in (0, 1):
        found = case("linear", 6, rows=24)
        sums = ways(found)[way]
        replayed = ReplayedSums(found.model, sums, again)
        kept: list[tuple[list[Tensor], Tensor]] = []
        for step in range(repeats(12)):
            pick = torch.randperm(24, generator=torch.Generator().manual_seed(step))[: 5 + step % 3]
            part = Case("linear", found.model, found.inputs[pick], found.targets[pick])
            batch = filled_up(part, 8) if step % 2 else part.batch()
            kept.append((replayed.clipped(batch, 0.5), flat(sums.clipped(batch, 0.5))))
            with torch.no_grad():
                for each in found.model.parameters():
                    each.add_(0.1)
        for actual, expected in kept:
            assert torch.equal(flat(actual), expected)


def test_replayed_sums_are_those_of_the_rows_at_hand() -> None:
    replayed_sums_are_those_of_the_rows_at_hand()


class Counting(nn.Module):
    """Counts how often its code runs."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.runs = nn.Linear(3, 2), 0

    def forward(self, x: Tensor) -> Tensor:
        self.runs += 1
        return self.inner(x)  # type: ignore[no-any-return]


def what_changes_the_model_is_recorded_anew() -> None:
    """A model's code runs for the first batch of a size and when the second is recorded, and again once a tensor or a mode is another."""
    model = Counting()
    rows = TensorBatch((torch.rand(4, 3),), torch.rand(4), 4)

    def once(body: Body) -> tuple[Callable[[], None], list[Tensor]]:
        return (lambda: None), body()

    replayed = ReplayedSums(model, GhostSums(model, flat_square, list(model.parameters())), once)
    for change in (lambda: None, model.eval, lambda: setattr(model.inner.weight, "data", torch.ones(2, 3))):
        change()
        model.runs = 0
        for _ in range(5):
            replayed.clipped(rows, 1.0)
        assert model.runs == 2


def test_what_changes_the_model_is_recorded_anew() -> None:
    what_changes_the_model_is_recorded_anew()


def test_what_cannot_be_recorded_is_refused() -> None:
    def refuses(body: Body) -> tuple[Callable[[], None], list[Tensor]]:
        raise RuntimeError("operation not permitted when stream is capturing")

    found = case("linear", 1, rows=4)
    with pytest.raises(Invalid, match="cannot be recorded"):
        ReplayedSums(found.model, ways(found)[0], refuses).try_out(found.batch())


def gradients_that_are_made_are_the_ones_that_are_measured() -> None:
    """A row of a convolution with more places than channels, alone: what is added has the bound as its norm, to the last digits."""
    for seed in range(repeats(20)):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Conv2d(2, 3, 3, bias=False))
        inputs, targets = torch.randn(1, 2, 9, 9), torch.randn(1)
        sums = GhostSums(model, flat_square, list(model.parameters()))
        total = flat(sums.clipped(TensorBatch((inputs,), targets, 1), 0.25)).double()
        assert abs(float(total.norm()) / 0.25 - 1) < 1e-6


def test_gradients_that_are_made_are_the_ones_that_are_measured() -> None:
    gradients_that_are_made_are_the_ones_that_are_measured()


def places_of_wide_layers_are_joined() -> None:
    """Few places of many channels: the norm is that of products, and neither sums nor norms are those of places by themselves."""
    for name, model, inputs in (
        ("linear", nn.Linear(40, 30), torch.Size((3, 40))),
        ("convolution", nn.Conv2d(16, 20, 3, groups=2), torch.Size((16, 3, 4))),
    ):
        for seed in range(repeats(4)):
            torch.manual_seed(seed)
            found = Case(name, model, torch.randn(7, *inputs), torch.randn(7))
            norms, _ = by_hand(found, 1.0)
            bound = sorted(norms)[3]
            _, expected = by_hand(found, bound)
            sums = GhostSums(model, flat_square, list(model.parameters()))
            assert torch.allclose(
                sums.norms(found.batch()).double(), torch.tensor(norms, dtype=torch.float64), rtol=NEAR
            )
            actual = flat(sums.clipped(found.batch(), bound))
            assert float((actual - expected).norm()) <= NEAR * float(expected.norm()), (name, seed)


def test_places_of_wide_layers_are_joined() -> None:
    places_of_wide_layers_are_joined()


class ManyNumbers(nn.Module):
    """A parameter as large as a row, whose gradient is the row."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.own = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.own


def norms_of_many_numbers_are_not_short(way: int) -> None:
    """Of a million equal numbers a norm whose squares are added one by one is off by parts in 1,000; the clip leaves room of 2^-16."""
    size = 1_000_003
    model: nn.Module = ManyNumbers(size) if way else nn.Linear(size, 1, bias=False)

    def summed(outputs: Tensor, _: Tensor) -> Tensor:
        return outputs.flatten(1).sum(1)

    for value in (0.1, 0.3, 0.7):
        for inputs in (torch.full((1, size), value), torch.full((size, 2), value).T):
            batch = TensorBatch((inputs,), torch.zeros(len(inputs)), len(inputs))
            sums = (GhostSums, EachSums)[way](model, summed, list(model.parameters()))
            longest = float(flat(sums.clipped(batch, 1.0)).double().norm()) / len(inputs)
            assert 1 - 1e-4 < longest <= 1 + 2.0**-17, (value, longest)


@pytest.mark.parametrize("way", [0, 1])
def test_norms_of_many_numbers_are_not_short(way: int) -> None:
    norms_of_many_numbers_are_not_short(way)


def products_of_wide_rows_are_not_off() -> None:
    """Of two places of 200,000 equal numbers each."""
    model = nn.Linear(200_000, 8, bias=False)
    for value in (0.1, 0.3, 0.7):
        batch = TensorBatch((torch.full((1, 2, 200_000), value),), torch.zeros(1), 1)
        sums = GhostSums(model, lambda outputs, _: outputs.flatten(1).sum(1), list(model.parameters()))
        assert abs(float(sums.norms(batch)) / (2 * value * 1_600_000**0.5) - 1) < 2.0**-17


def test_products_of_wide_rows_are_not_off() -> None:
    products_of_wide_rows_are_not_off()


SCALED: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(50, 30, bias=False), (50,)),
    "linear, with places": (lambda: nn.Linear(40, 30, bias=False), (3, 40)),
    "convolution": (lambda: nn.Conv1d(20, 12, 3, groups=2, bias=False), (20, 5)),
    "words": (lambda: nn.Embedding(5, 9), (4,)),
}


FINE = (-100, -40, 0, 30, 45, 55, 62, 100), (-148, -110, -92, -80, -72, -66, -63, -40, 0, 60, 120), 2.0**-63
COARSE = (-14, -5, 0, 3, 8, 14), (-26, -20, -16, -13, -10, -5, 0, 8, 14), 2.0**-12
"""Powers of two of what a layer takes and of the gradient of what it gives, and a number whose square is nothing."""


def sums_are_within_the_clip(kind: str, coarse: bool = False) -> None:
    """However large what a layer takes is, and however small the gradient of what it gives: a unit adds no more than the clip, for any
    clip that a plan may have. Numbers below the least normal one are 0, as some machines have it.
    """
    make, shape = SCALED[kind]
    sizes, gradients, least = COARSE if coarse else FINE
    torch.manual_seed(1)
    model = make().half() if coarse else make()
    given = torch.randn((1, *model(_taken(kind, shape, 0, coarse)).shape[1:]))
    unseen = clipped = 0
    for at, by, bound in product(sizes, gradients, (1 / FARTHEST_CLIP, 1.0)):
        batch = TensorBatch((_taken(kind, shape, at, coarse),), torch.zeros(1), 1)
        factor = (given * 2.0**by).half() if coarse else given * 2.0**by
        with flushed():
            sums = GhostSums(model, partial(_weighed, factor), list(model.parameters()))
            length = float(flat(sums.clipped(batch, bound)).double().norm()) / bound
        assert length <= 1 + 2.0**-17, (at, by, bound)
        clipped += length > 0.99
        longer = float(batch.inputs[0].double().norm()) * float(factor.double().norm()) > 16 * bound
        unseen += longer and float(factor.abs().max()) < least
    assert clipped and (unseen or kind == "words")


@contextmanager
def flushed() -> Iterator[None]:
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def _taken(kind: str, shape: tuple[int, ...], at: int, coarse: bool) -> Tensor:
    if kind == "words":
        return torch.tensor([[1, 3, 1, 1]])
    found = torch.rand((1, *shape)) * 2.0**at
    return found.half() if coarse else found


def _weighed(factor: Tensor, outputs: Tensor, _: Tensor) -> Tensor:
    return (outputs * factor).flatten(1).sum(1)


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize("coarse", [False, True])
def test_sums_are_within_the_clip(kind: str, coarse: bool) -> None:
    sums_are_within_the_clip(kind, coarse)


def layers_of_one_shape_are_told_apart() -> None:
    """What is remembered of the rows of one layer is not taken for another one that has as many."""
    for seed in range(repeats(4)):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 5), nn.LayerNorm(5))
        found = Case("one shape", model, 2 * torch.randn(6, 5), torch.randn(6))
        norms, _ = by_hand(found, 1.0)
        _, expected = by_hand(found, sorted(norms)[2])
        sums = GhostSums(model, flat_square, list(model.parameters()))
        assert torch.allclose(sums.norms(found.batch()).double(), torch.tensor(norms, dtype=torch.float64), rtol=NEAR)
        actual = flat(sums.clipped(found.batch(), sorted(norms)[2]))
        assert float((actual - expected).norm()) <= NEAR * float(expected.norm())


def test_layers_of_one_shape_are_told_apart() -> None:
    layers_of_one_shape_are_told_apart()
