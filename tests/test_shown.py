"""What is shown at a prompt: mechanisms as they are written, losses with their ε, and nowhere an address."""

from fractions import Fraction
from math import log
from threading import Thread

import pytest

import discreet as dp
from discreet import mechanisms
from discreet.mechanisms import Mechanism, bernoulli_mean, keys, registry
from discreet.privacy import Adjacency, Unit, events, loss

NAMES = {"Fraction": Fraction, "Grid": dp.noise.Grid}
for home in (mechanisms, keys, bernoulli_mean):
    NAMES |= {name: getattr(home, name) for name in home.__all__}

EXAMPLES = [example.mechanism for name in registry.names() for example in registry.examples(name)]
WRITTEN = [
    (dp.Laplace(10), "Laplace(scale=10)"),
    (dp.Laplace(0.1), "Laplace(scale=0.1)"),
    (dp.Laplace(Fraction(1, 3)), "Laplace(scale=Fraction(1, 3))"),
    (dp.Laplace(10, dp.noise.Grid(-3)), "Laplace(scale=10, grid=Grid(exponent=-3))"),
    (dp.Laplace.for_epsilon(0.5), "Laplace(scale≈2)"),
    (dp.CoinToss(), "CoinToss()"),
    (dp.Exponential(1, monotone=True), "Exponential(epsilon=1, monotone=True)"),
    (dp.Quantiles(1, 0.5, 0, 100), "Quantiles(epsilon=1, probabilities=(0.5,), lower=0, upper=100)"),
    (dp.Geometric(10**700), "Geometric(scale=" + "1" + 27 * "0" + "…" + 28 * "0" + " (701 characters))"),
]


@pytest.mark.parametrize(("mechanism", "text"), WRITTEN, ids=lambda value: str(value)[:40])
def test_a_mechanism_is_shown_as_it_is_written(mechanism: Mechanism, text: str) -> None:
    assert repr(mechanism) == text


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_what_is_shown_of_a_mechanism_makes_it_again(mechanism: Mechanism) -> None:
    assert eval(repr(mechanism), dict(NAMES)) == mechanism
    assert len(repr(mechanism)) <= 120


@pytest.mark.parametrize("times", [1, 3, 1000])
@pytest.mark.parametrize("mechanism", EXAMPLES, ids=repr)
def test_a_loss_says_its_epsilon_where_there_is_one(mechanism: Mechanism, times: int) -> None:
    price = times * mechanism.loss()
    pure = price.pure_epsilon()
    start = "PrivacyLoss(ε depends on δ: " if pure is None else f"PrivacyLoss(ε = {float(pure):.6g}: "
    assert repr(price).startswith(start)
    assert len(repr(price)) <= 120


@pytest.mark.parametrize(
    ("price", "text"),
    [
        (dp.PrivacyLoss(), "PrivacyLoss(ε = 0: nothing)"),
        (100 * dp.Laplace(10).loss(), "PrivacyLoss(ε = 10: 100 × discrete-laplace)"),
        (1000 * dp.Laplace(10).loss(), "PrivacyLoss(ε = 100: 1,000 × discrete-laplace)"),
        (dp.Laplace(10).loss() + dp.Geometric(5).loss(), "PrivacyLoss(ε = 0.3: 2 × discrete-laplace)"),
        (loss(events.Gaussian(5)) + loss(events.Pure(1)), "PrivacyLoss(ε depends on δ: gaussian + pure)"),
        (
            loss(events.Sampled(0.5, events.RandomizedResponse(log(3)))),
            "PrivacyLoss(ε = 0.693147: sampled, add-remove)",
        ),
        (
            loss(events.Under(events.Pure(1), dp.Relation(Adjacency.REPLACE, Unit.PERSON))),
            "PrivacyLoss(ε = 1: pure, replace one person)",
        ),
        (loss(events.ZeroConcentrated(1)), "PrivacyLoss(ε depends on δ: zcdp)"),
        (loss(events.Approximate(1, 0.1)), "PrivacyLoss(ε depends on δ: approximate)"),
        (
            10**5000 * dp.Laplace(10).loss(),
            "PrivacyLoss(ε = inf: 1e+15 or more × discrete-laplace)",
        ),
    ],
    ids=str,
)
def test_a_loss_says_what_it_is_of(price: dp.PrivacyLoss, text: str) -> None:
    assert repr(price) == text


def test_a_loss_is_shown_while_it_is_computed() -> None:
    price, shown = dp.Laplace(10).loss(), []
    with price._lock:
        other = Thread(target=lambda: shown.append(repr(price)))
        other.start()
        other.join(60)
    assert shown == ["PrivacyLoss(ε = 0.1: discrete-laplace)"]


def test_sum_adds_losses_up() -> None:
    one, two = dp.Laplace(10).loss(), dp.Gaussian(5).loss()
    assert sum([one, two, one]) == 2 * one + two
    for other in (1, False, 0.0, "0", None):
        with pytest.raises(TypeError):
            other + one  # type: ignore[operator]


@pytest.mark.parametrize(
    "value", [dp.unmetered(), dp.Budget(Fraction(1)), dp.CoinToss(), dp.PrivacyLoss(), dp.noise.Grid(0)], ids=repr
)
def test_nothing_is_shown_as_an_address(value: object) -> None:
    assert " at 0x" not in repr(value)


def test_amounts_are_shown_in_decimals() -> None:
    assert repr(dp.Budget(Fraction(1), Fraction(1, 10**6))) == "Budget(ε = 1, δ = 1e-06)"
    measure = dp.unmetered()
    with measure(events.Pure(1)):
        assert repr(measure) == "Unmetered(measurements=1)"
