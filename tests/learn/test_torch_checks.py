"""Models that mix examples, or keep something of them, are refused before anything is spent; others have sums that fit them."""

import pytest

pytest.importorskip("torch", reason="the optional part learn")

import torch
from torch import Tensor, nn

from discreet.errors import Invalid
from discreet.learn import Person, TrainingPlan
from discreet.learn.torch import train
from discreet.learn.torch.batches import TensorRows
from discreet.learn.torch.checks import sums_for, trained_parameters
from discreet.learn.torch.each import EachSums
from discreet.learn.torch.ghost import GhostSums
from discreet.mechanisms.measure import unmetered
from tests.learn.torch_cases import Functional, OwnParameter, PlacesFirst, TiedAcross, flat_square

pytestmark = pytest.mark.learn

PLAN = TrainingPlan(epsilon=1, delta=1e-5, steps=2, people=10, rate=0.5)


class Centred(nn.Module):
    """Looks at the mean of its batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x - x.mean(0))  # type: ignore[no-any-return]


class OfTheRowBefore(nn.Module):
    """Adds the row before, in training alone: the first row is what it is by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        found = self.layer(x)
        return found + torch.cat([found[:1] * 0, found[:-1]]) if self.training else found  # type: ignore[no-any-return]


class OfTheRowAfter(OfTheRowBefore):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.flip(0)).flip(0)


class Remembering(nn.Module):
    """Keeps the last batch's mean, and makes no use of it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.copy_(x.detach().mean(0))  # type: ignore[operator]
        return self.layer(x)  # type: ignore[no-any-return]


class Keeping(nn.Module):
    """Keeps what it took, as many models do to look at it later: of PyTorch only its owner knows of that."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        self.last = {"taken": [x.detach()]}
        return self.layer(x)  # type: ignore[no-any-return]


class Registering(Remembering):
    """Has a buffer more once it has seen a batch."""

    def forward(self, x: Tensor) -> Tensor:
        self.register_buffer("more", x.detach().mean(0))
        return self.layer(x)  # type: ignore[no-any-return]


class BegunByData(nn.Module):
    """Takes its scale from the first batch that it sees."""

    def __init__(self, trained: bool) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.scale = nn.Parameter(torch.zeros(3), requires_grad=trained)

    def forward(self, x: Tensor) -> Tensor:
        if not bool(self.scale.any()):
            self.scale.data = 1 / x.detach().std(0)
        return self.layer(x * self.scale)  # type: ignore[no-any-return]


class Caching(nn.Module):
    """Keeps what is the same for all examples, and has another output in training than otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.register_buffer("unknown", torch.full((2,), torch.nan))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor] | Tensor:
        self.kept = torch.arange(2.0)
        found = self.layer(x)
        return (found, found + self.kept) if self.training else found


def mixing() -> list[nn.Module]:
    return [
        nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)),
        nn.Sequential(nn.Unflatten(1, (3, 1)), nn.InstanceNorm1d(3, affine=True, track_running_stats=True)),
        nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).eval(),
        Centred(),
        OfTheRowBefore(),
        OfTheRowAfter(),
        Remembering(),
        Registering(),
        Keeping(),
        BegunByData(True),
        BegunByData(False),
    ]


def test_models_may_keep_what_is_the_same_for_all_and_differ_in_training() -> None:
    def both(outputs: tuple[Tensor, Tensor], targets: Tensor) -> Tensor:
        return flat_square(outputs[0], targets) + flat_square(outputs[1], targets)

    assert train(Caching(), (torch.rand(4, 3), torch.zeros(4)), PLAN, loss=both).made == 2
    with pytest.raises(Invalid, match="cannot without dropping"):
        train(nn.Sequential(nn.Dropout(), Caching()), (torch.rand(4, 3), torch.zeros(4)), PLAN, loss=both)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_models_of_any_precision_are_trained(kind: torch.dtype) -> None:
    data = torch.rand(4, 3).to(kind), torch.zeros(4).to(kind)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 2)).to(kind)
    assert train(model, data, PLAN, loss=flat_square).made == 2
    assert {each.dtype for each in model.parameters()} == {kind}


def plans_for_people_need_groups() -> None:
    """Nothing is charged for people whom nobody tells apart."""
    measure = unmetered()
    agreed = TrainingPlan(epsilon=1, delta=1e-5, steps=2, people=10, person=Person())
    for groups in (None, torch.zeros(4, 2), {0: 1, 1: 1, 2: 2, 3: 2}, "abcd"):
        with pytest.raises(Invalid, match="groups"):
            train(nn.Linear(3, 2), DATA, agreed, loss=flat_square, groups=groups, measure=measure)  # type: ignore[arg-type]
    assert measure.spent.terms == ()
    train(nn.Linear(3, 2), DATA, agreed, loss=flat_square, groups=range(4), measure=measure)
    assert measure.spent.terms


def test_plans_for_people_need_groups() -> None:
    plans_for_people_need_groups()


def test_parameters_that_are_not_trained_stay_where_they_are() -> None:
    """Also where a gradient of before is still there, and the optimiser knows them."""
    model = nn.Linear(3, 2)
    model.bias.grad = torch.ones(2)
    model.bias.requires_grad_(False)
    before = model.bias.clone()
    train(model, DATA, PLAN, loss=flat_square, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    assert torch.equal(model.bias, before)


def refused(model: nn.Module, exact: bool = False) -> Invalid:
    """Nothing is charged, and the data are not looked at: they would raise."""
    measure = unmetered()
    with pytest.raises(Invalid) as caught:
        train(
            model, (torch.full((4, 3), torch.nan), torch.zeros(4)), PLAN, loss=flat_square, measure=measure, exact=exact
        )
    assert measure.spent.terms == ()
    return caught.value


def models_that_mix_are_refused() -> None:
    for model in mixing():
        for exact in (False, True):
            assert refused(model, exact).code == "mixes", type(model)


def test_models_that_mix_are_refused() -> None:
    models_that_mix_are_refused()


def test_batch_norm_is_refused_with_what_to_use_instead() -> None:
    error = refused(mixing()[0])
    assert "'1' (BatchNorm1d)" in error.message
    assert "GroupNorm" in error.hint


@pytest.mark.parametrize("options", [{"max_norm": 1.0}, {"scale_grad_by_freq": True}, {"sparse": True}])
def test_tables_that_look_at_the_batch_are_refused(options: dict[str, object]) -> None:
    model = nn.Sequential(nn.Embedding(4, 2, **options), nn.Flatten())  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="cannot be trained privately"):
        train(model, (torch.zeros(4, 3, dtype=torch.int64), torch.zeros(4)), PLAN, loss=flat_square)


def losses_are_of_single_examples() -> None:
    def mean(outputs: Tensor, targets: Tensor) -> Tensor:
        return flat_square(outputs, targets).mean()

    def mixed(outputs: Tensor, targets: Tensor) -> Tensor:
        return flat_square(outputs, targets) * flat_square(outputs, targets).sum()

    def whole(outputs: Tensor, targets: Tensor) -> Tensor:
        return mean(outputs, targets).reshape(1)

    data = torch.rand(4, 3), torch.zeros(4)
    for loss, words in (
        (mean, "one number for each example"),
        (whole, "one number for each example"),
        (mixed, "changes with the other examples"),
    ):
        with pytest.raises(Invalid, match=words):
            train(nn.Linear(3, 2), data, PLAN, loss=loss)


def test_losses_are_of_single_examples() -> None:
    losses_are_of_single_examples()


def chosen(model: nn.Module, inputs: Tensor) -> object:
    rows = TensorRows((inputs, torch.zeros(len(inputs))), torch.device("cpu"))
    return sums_for(model, flat_square, rows, trained_parameters(model))


def models_have_sums_that_fit_them() -> None:
    """Where the norms of layers do not tell the norms of examples, examples are taken one by one."""
    words = torch.zeros(2, 3, dtype=torch.int64)
    numbers = torch.zeros(2, 3)
    places = torch.zeros(2, 4, 3)
    assert type(chosen(nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.Linear(4, 1)), numbers)) is GhostSums
    assert type(chosen(nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True)), places)) is GhostSums
    for model, inputs in (
        (OwnParameter(3), numbers),
        (TiedAcross(4, 2), words),
        (Functional(3), numbers),
        (PlacesFirst(3), places),
        (PlacesFirst(3), torch.zeros(2, 3, 3)),  # as many places as made-up rows
        (nn.Sequential(nn.PReLU(), nn.Linear(3, 2)), numbers),
    ):
        assert type(chosen(model, inputs)) is EachSums, type(model)


def test_models_have_sums_that_fit_them() -> None:
    models_have_sums_that_fit_them()


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_models_that_cannot_be_batched_are_trained_one_example_after_the_other() -> None:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.GRU(3, 2, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            return self.layer(x)[0][:, -1]  # type: ignore[no-any-return]

    data = torch.rand(4, 5, 3), torch.zeros(4)
    with pytest.raises(Invalid, match="exact=True"):
        train(Recurrent(), data, PLAN, loss=flat_square)
    assert train(Recurrent(), data, PLAN, loss=flat_square, exact=True).made == 2


def test_checks_leave_the_model_and_the_random_state_as_they_were() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(), nn.Sequential(nn.Linear(3, 2)).eval())
    modes = [each.training for each in model.modules()]
    weights = [each.clone() for each in model.parameters()]
    state = torch.get_rng_state()
    chosen(model, torch.zeros(2, 3))
    assert torch.equal(state, torch.get_rng_state())
    assert [each.training for each in model.modules()] == modes
    assert all(torch.equal(old, new) for old, new in zip(weights, model.parameters(), strict=True))
    assert not any(each._forward_hooks for each in model.modules())
    assert all(each.grad is None for each in model.parameters())


DATA = torch.rand(4, 3), torch.zeros(4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": (DATA[0],)}, "inputs, and targets last"),
        ({"data": (DATA[0], DATA[1][:3])}, "one row an example"),
        ({"data": (torch.rand(4, 2), DATA[1])}, "cannot take rows of the shape"),
        ({"plan": TrainingPlan(epsilon=1, steps=2, people=10)}, "clipped in L2"),
        ({"noise": "none"}, "'grid' or 'float'"),
        ({"noise": "float", "exact": True}, "exact sums are for exact noise"),
        ({"microbatch": 0}, "microbatch"),
        ({"groups": [1, 1, 2, 2]}, "whose unit is a person"),
        ({"plan": TrainingPlan(epsilon=1, delta=1e-5, steps=2, people=10, person=Person(2))}, "several rows of each"),
        (
            {"plan": TrainingPlan(epsilon=1, delta=1e-5, steps=2, people=10, person=Person(2)), "groups": [1, 2]},
            "for each row whose it is",
        ),
        ({"optimizer": lambda p: torch.optim.LBFGS(p)}, "LBFGS"),
        ({"schedule": 3}, "schedule must be"),
        ({"model": nn.Linear(3, 2).requires_grad_(False)}, "no parameter that is trained"),
        ({"model": None}, "model must be a torch.nn.Module"),
        ({"model": nn.LazyLinear(2)}, "shape is not known"),
        ({"plan": None}, "plan must be a TrainingPlan"),
        ({"plan": TrainingPlan(epsilon=1, delta=1e-5, steps=2, people=10, clip=1e-10)}, "clip must lie between"),
        ({"plan": TrainingPlan(epsilon=1, delta=1e-5, steps=2, people=10, clip=1e10)}, "clip must lie between"),
        ({"optimizer": lambda p: torch.optim.SparseAdam(p)}, "SparseAdam"),
        ({"optimizer": torch.optim.SGD(nn.Linear(3, 2).parameters(), lr=0.1)}, "no parameter of this model"),
        ({"progress": 3}, "progress must be a function"),
        ({"data": (DATA[0].to_sparse(), DATA[1])}, "dense"),
        ({"measure": 3}, "measure must be a measure"),
        ({"keeper": "run.json", "key": "run"}, "CheckpointFile"),
        ({"optimizer": "sgd"}, "optimizer must be one of torch"),
        ({"optimizer": lambda p: None}, "optimizer must be one of torch"),
        (
            {"plan": TrainingPlan(epsilon=1, delta=1e-5, steps=2, people=10, person=Person(2)), "groups": 4},
            "one id a row",
        ),
    ],
)
def test_bad_requests_are_refused_before_anything_is_spent(changes: dict[str, object], words: str) -> None:
    measure = unmetered()
    arguments = {"model": nn.Linear(3, 2), "data": DATA, "plan": PLAN, "measure": measure, **changes}
    with pytest.raises(Invalid, match=words):
        train(**arguments, loss=flat_square)  # type: ignore[arg-type]
    assert measure.spent.terms == ()


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_parameters_of_no_numbers_are_no_matter() -> None:
    model = nn.Sequential(nn.Linear(3, 0), nn.Linear(0, 2))
    assert train(model, DATA, PLAN, loss=flat_square).made == 2


def test_schedules_that_look_at_metrics_are_refused() -> None:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.raises(Invalid, match="metric of private data"):
        train(model, DATA, PLAN, loss=flat_square, optimizer=optimizer, schedule=schedule)
