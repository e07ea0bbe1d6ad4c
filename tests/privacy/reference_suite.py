"""epsilon(delta) and delta(epsilon) against reference values and an oracle in many digits, down to δ = 1e-30.

Run by hand until it passes: `.venv/bin/python -m pytest tests/privacy/reference_suite.py`. docs/known-gaps.md says what is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import exp, inf, tanh

import pytest
from flint import ctx

from discreet.privacy.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    FiniteTable,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
    ZeroConcentrated,
)
from discreet.privacy.loss import loss
from tests.privacy import oracle
from tests.privacy.oracle import Curve, Losses, brackets, relative_error
from tests.scale import SCALE

TOLERANCE = 1e-9
DELTAS = ("1e-3", "1e-10", "1e-30")
F = Fraction


def dpsgd(sigma: float, q: float, steps: int) -> Event:
    return Repeated(Sampled(q, Gaussian(sigma)), steps)


@pytest.mark.parametrize(
    ("event", "delta", "epsilon"),
    [
        (Repeated(Gaussian(50), 1000), 1e-6, 2.92160059),
        (Repeated(RandomizedResponse(0.1), 10_000), 1e-6, 96.57184003),
        (Repeated(Laplace(10), 100), 1e-6, 4.692667415),
        (Repeated(Laplace(10), 10_000), 1e-6, 94.23586539),
        (dpsgd(1, 0.01, 10_000), 1e-5, 6.18771239),
        (dpsgd(1, 0.01, 10_000), 1e-9, 8.765438592),
        (dpsgd(1, 0.01, 10_000), 1e-12, 10.34668984),
        (dpsgd(1, 0.01, 10_000), 1e-15, 11.7599785),
        (dpsgd(1, 0.001, 100_000), 1e-5, 1.637175532),
        (dpsgd(5, 0.2, 1000), 1e-5, 5.871605223),
        (Repeated(DiscreteGaussian(10), 100), 1e-6, 4.886570746),
        (Repeated(DiscreteGaussian(0.3), 10), 1e-6, 88.72759653),
    ],
)
def test_a_reference_value_is_met(event: Event, delta: float, epsilon: float) -> None:
    assert loss(event).epsilon(delta) == pytest.approx(epsilon, rel=TOLERANCE)


@dataclass(frozen=True)
class Case:
    """An event, its true curve, and how much loss is possible at all."""

    name: str
    event: Event
    curve: Curve
    largest: Fraction | float = inf

    def __str__(self) -> str:
        return self.name


def folds(name: str, leaf: Event, one: Losses, times: Sequence[int] = (1, 2, 3, 10, 100)) -> Iterator[Case]:
    for k in times:
        yield Case(f"{name}, {k}-fold", Repeated(leaf, k), (one * k).delta)


def bounded(
    name: str, leaf: Event, one: Losses, most: Fraction, times: Sequence[int] = (1, 2, 3, 10, 100)
) -> Iterator[Case]:
    for k in times:
        yield Case(f"{name}, {k}-fold", Repeated(leaf, k), (one * k).delta, k * most)


def all_cases() -> Iterator[Case]:
    for sigma in ("0.01", "0.3", "1", "50", "1e6"):
        for k in (1, 2, 3, 10, 100):
            curve = oracle.gaussian(k / F(sigma) ** 2)
            yield Case(f"Gaussian σ={sigma}, {k}-fold", Repeated(Gaussian(F(sigma)), k), curve)
    for e in ("0.001", "1", "30"):
        yield from bounded(f"response ε={e}", RandomizedResponse(F(e)), oracle.response(F(e)), F(e))
    yield from bounded("pure ε=0.1", Pure(F("0.1")), oracle.response(F("0.1")), F("0.1"))
    for e, k in (("1", 3), ("3", 1000), ("0.1", 10)):
        yield from bounded(f"response ε={e} of {k}", RandomizedResponse(F(e), k), oracle.response(F(e), k), F(e))
    for b, s in (("3", 5), ("0.5", 1), ("20", 1), ("2", 30)):
        one = oracle.discrete_laplace(F(b), s)
        yield from bounded(f"discrete Laplace b={b} Δ={s}", DiscreteLaplace(F(b), s), one, s / F(b))
    for sigma, s in (("0.3", 1), ("1", 1), ("2", 3)):
        one = oracle.discrete_gaussian(F(sigma), s)
        yield from folds(f"discrete Gaussian σ={sigma} Δ={s}", DiscreteGaussian(F(sigma), s), one)
    yield from folds("discrete Gaussian σ=20", DiscreteGaussian(20), oracle.discrete_gaussian(F(20)), (1, 2))
    for e in ("0.001", "0.1", "1", "5", "40"):
        for k in (1, 2, 3, 6, 10):
            yield Case(f"Laplace e={e}, {k}-fold", Repeated(Laplace(1 / F(e)), k), oracle.laplace(F(e), k), k * F(e))
    yield from sampled_cases()
    yield from mixed_cases()


def sampled_cases() -> Iterator[Case]:
    for q, sigma in (("0.01", "1"), ("0.5", "1"), ("0.001", "0.5"), ("0.9", "4")):
        yield Case(
            f"Gaussian σ={sigma} sampled at {q}",
            Sampled(F(q), Gaussian(F(sigma))),
            oracle.sampled(F(q), oracle.gaussian(1 / F(sigma) ** 2)),
        )
    for q, k in (("0.01", 1), ("0.01", 2), ("0.01", 3), ("0.3", 10), ("0.01", 100)):
        event = Repeated(Sampled(F(q), RandomizedResponse(1)), k)
        yield Case(f"response sampled at {q}, {k}-fold", event, oracle.sampled_atoms(F(q), oracle.response(F(1)), k))
    for q, k in (("0.1", 2), ("0.1", 10)):
        event = Repeated(Sampled(F(q), RandomizedResponse(2, 5)), k)
        curve = oracle.sampled_atoms(F(q), oracle.response(F(2), 5), k)
        yield Case(f"response of 5 sampled at {q}, {k}-fold", event, curve)
    for q, e in (("0.01", "1"), ("0.5", "0.1"), ("0.1", "6")):
        curve = oracle.sampled(F(q), oracle.laplace(F(e), 1))
        yield Case(f"Laplace e={e} sampled at {q}", Sampled(F(q), Laplace(1 / F(e))), curve)
    for q in ("0.01", "0.7"):
        curve = oracle.sampled(F(q), oracle.discrete_laplace(F(2), 3).delta)
        yield Case(f"discrete Laplace sampled at {q}", Sampled(F(q), DiscreteLaplace(2, 3)), curve)
        curve = oracle.sampled(F(q), oracle.discrete_gaussian(F(1)).delta)
        yield Case(f"discrete Gaussian sampled at {q}", Sampled(F(q), DiscreteGaussian(1)), curve)


def mixed_cases() -> Iterator[Case]:
    """Compositions of different kinds; Gaussian noise, or few Laplace releases, on top of losses with atoms."""
    pair = oracle.response(F(1)) * 2 + oracle.response(F("0.15"))
    event = Composed((Repeated(RandomizedResponse(1), 2), RandomizedResponse(F("0.15"))))
    yield Case("responses of two kinds", event, pair.delta, F("2.15"))
    lattice = oracle.response(F(1), 4) + oracle.discrete_laplace(F(2), 3) + oracle.discrete_gaussian(F(1))
    event = Composed((RandomizedResponse(1, 4), DiscreteLaplace(2, 3), DiscreteGaussian(1)))
    yield Case("three lattices", event, lattice.delta)
    yield Case(
        "three lattices and Gaussian noise",
        Composed((event, Gaussian(2))),
        oracle.together(lattice, oracle.gaussian(F(1, 4))),
    )
    yield Case(
        "responses and Gaussian noise",
        Composed((Repeated(RandomizedResponse(F("0.1")), 10), Gaussian(3), Gaussian(F("0.5"), F("0.1")))),
        oracle.together(oracle.response(F("0.1")) * 10, oracle.gaussian(F(1, 9) + F(1, 25))),
    )
    yield Case(
        "Laplace and Gaussian noise",
        Composed((Laplace(1), Gaussian(2))),
        oracle.with_laplace(F(1), oracle.gaussian(F(1, 4))),
    )
    yield Case(
        "Laplace noise and responses",
        Composed((Repeated(Laplace(2), 3), Repeated(RandomizedResponse(F("0.3")), 4))),
        oracle.together(oracle.response(F("0.3")) * 4, oracle.laplace(F("0.5"), 3)),
        F("2.7"),
    )
    yield Case(
        "Laplace noise and one response",
        Composed((Laplace(1), RandomizedResponse(1))),
        oracle.together(oracle.response(F(1)), oracle.laplace(F(1), 1)),
        F(2),
    )
    for k in (1, 3, 100):
        failure = 1 - (1 - F(1, 10**6)) ** k
        yield Case(
            f"approximate, {k}-fold",
            Repeated(Approximate(F("0.5"), F(1, 10**6)), k),
            oracle.with_failure(failure, (oracle.response(F("0.5")) * k).delta),
            k * F("0.5"),
        )
    yield Case(
        "approximate, and Gaussian noise",
        Composed((Approximate(1, F(1, 10**9)), Gaussian(1))),
        oracle.with_failure(F(1, 10**9), oracle.together(oracle.response(F(1)), oracle.gaussian(F(1)))),
    )
    coin = FiniteTable(((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))))
    for k in (1, 2, 3, 10, 100):
        yield Case(f"a table, {k}-fold", Repeated(coin, k), oracle.table(coin.rows[0], coin.rows[1], k))
    skew = FiniteTable(((F(1, 2), F(1, 2), F(0)), (F(1, 4), F(1, 4), F(1, 2))))
    yield Case("a table that tells", skew, oracle.table(skew.rows[1], skew.rows[0], 1), 2.0)


CASES = list(all_cases())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_epsilon_is_true_to_1e_9_at_every_delta(case: Case) -> None:
    spent = loss(case.event)
    at_zero = case.curve(0)
    for delta in map(F, DELTAS):
        found = spent.epsilon(delta)
        if at_zero <= oracle.ball(delta):
            assert found == 0
        elif found == inf:  # only where the loss itself may be infinite
            assert case.curve(F(10**6)) > oracle.ball(delta)
        else:
            assert brackets(case.curve, found, delta, F(TOLERANCE)), (delta, found)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_delta_is_true_to_1e_9_at_every_epsilon(case: Case) -> None:
    """From ε = 0 to where δ is 1e-30, or nearly to the largest loss, where δ is as sensitive to ε as the float of ε is wrong."""
    spent = loss(case.event)
    far = min(0.99 * float(case.largest), 2.5 * spent.epsilon(F("2e-6")))
    for share in (0, 0.01, 0.3, 0.7, 1):
        epsilon = far * share
        truth = case.curve(F(epsilon))
        if truth < 1e-300:
            continue
        assert relative_error(spent.delta(epsilon), truth) <= TOLERANCE, epsilon


@pytest.mark.parametrize(("q", "sigma"), [("0.01", "1"), ("0.5", "1"), ("0.1", "2")])
def test_two_steps_of_the_sampled_gaussian_are_true_to_1e_9(q: str, sigma: str) -> None:
    spent, curve = 2 * loss(Sampled(F(q), Gaussian(F(sigma)))), oracle.sampled_gaussian(F(q), F(sigma), 2)
    for epsilon in (0.0, spent.epsilon(1e-6), spent.epsilon(1e-30)):
        assert relative_error(spent.delta(epsilon), curve(F(epsilon))) <= TOLERANCE
    assert brackets(curve, spent.epsilon(1e-6), F("1e-6"), F(TOLERANCE))


# Gaussian noise (Δ = 1) sampled at a rate: q, σ, k, ε, and δ by oracle.sampled_gaussian (k = 3) or by
# oracle.sampled_gaussian_line on two different lines.
SAMPLED = [
    ("0.5", "1", 3, "1", "0.11670758721120721609"),
    ("0.5", "1", 3, "12", "5.3909980001263902026e-15"),
    ("0.01", "1", 3, "0.2", "3.2111558078668646594e-5"),
    ("0.01", "1", 3, "6", "7.8580277039565322695e-27"),
    ("0.5", "1", 10, "5", "0.017001701911344922224"),
    ("0.5", "1", 10, "25", "2.5272627103147992026e-20"),
    ("0.01", "1", 100, "2", "3.2422617451945214819e-10"),
]


@pytest.mark.parametrize(("q", "sigma", "k", "epsilon", "delta"), SAMPLED)
def test_more_steps_of_the_sampled_gaussian_are_true_to_1e_9(
    q: str, sigma: str, k: int, epsilon: str, delta: str
) -> None:
    spent = k * loss(Sampled(F(q), Gaussian(F(sigma))))
    assert spent.delta(F(epsilon)) == pytest.approx(float(delta), rel=TOLERANCE, abs=0)
    assert spent.epsilon(Decimal(delta)) == pytest.approx(float(F(epsilon)), rel=TOLERANCE)


# δ of 100 Laplace releases with Δ/b = 1/10, by oracle.laplace in a minute each.
HUNDRED_LAPLACE = [
    ("0", "0.37748863278821805345"),
    ("2", "0.018575772699549750277"),
    ("5", "1.9174312332821010748e-7"),
    ("9.87", "9.9109916534714267332e-31"),
]


@pytest.mark.parametrize(("epsilon", "delta"), HUNDRED_LAPLACE)
def test_a_hundred_laplace_releases_are_true_to_1e_9(epsilon: str, delta: str) -> None:
    spent = 100 * loss(Laplace(10))
    assert spent.delta(F(epsilon)) == pytest.approx(float(delta), rel=TOLERANCE, abs=0)
    assert spent.epsilon(Decimal(delta)) == pytest.approx(float(F(epsilon)), rel=TOLERANCE)


@pytest.mark.skipif(SCALE == 1, reason="takes minutes: in the soak run only")
def test_the_written_values_are_what_the_oracle_says() -> None:
    epsilon, delta = HUNDRED_LAPLACE[-1]
    assert relative_error(float(delta), oracle.laplace(F(1, 10), 100)(F(epsilon))) < 1e-15
    q, sigma, k, epsilon, delta = SAMPLED[-1]
    line = oracle.sampled_gaussian_line(F(q), F(sigma), k, F(epsilon), F(12), F(1, 8))
    assert relative_error(float(delta), line) < 1e-15


def test_the_oracles_agree_with_each_other() -> None:
    """Each is checked where another one reaches it, or where the answer is known."""
    with ctx.workprec(oracle.PRECISION):
        agree()


def agree() -> None:
    few = oracle.laplace(F(1, 2), 2)
    peeled = oracle.with_laplace(F(1, 2), oracle.laplace(F(1, 2), 1))
    assert abs(few(F(0)) - peeled(F(0))) < 1e-15  # ε = 0 is on a corner of the panels
    once = oracle.laplace(F(1), 1)
    assert relative_error(1 - exp(-0.5 * (1 - 0.3)), once(F("0.3"))) < 1e-15
    assert relative_error(tanh(0.5), oracle.response(F(1)).delta(0)) < 1e-15
    assert abs(few(F(-9)) - (1 - oracle.ball(F(-9)).exp())) < 1e-60
    one = oracle.sampled_gaussian(F(1, 10), F(2), 1)
    assert relative_error(float(one(F(1, 2))), oracle.sampled(F(1, 10), oracle.gaussian(F(1, 4)))(F(1, 2))) < 1e-15
    coarse, fine = (oracle.sampled_gaussian(F(1, 10), F(2), 2, panels)(F(1, 2)) for panels in (9, 12))
    assert abs(coarse / fine - 1) < 1e-14
    line = oracle.sampled_gaussian_line(F(1, 2), F(1), 10, F(25), F(3), F(1, 8))
    assert relative_error(float("2.5272627103147992026e-20"), line) < 1e-15
    geometric = oracle.discrete_laplace(F(2))
    assert abs(geometric.delta(0) - oracle.response(F(1, 2)).delta(0)) < 1e-60
    atoms = oracle.sampled_atoms(F(1, 3), oracle.response(F(1)), 1)
    assert abs(atoms(F(1, 9)) - oracle.sampled(F(1, 3), oracle.response(F(1)).delta)(F(1, 9))) < 1e-60


@pytest.mark.parametrize(
    ("rho", "epsilon"), [("0.01", "0.5"), ("0.4621", "0"), ("0.4621", "5"), ("2", "30"), ("1e-8", "0.001")]
)
def test_zcdp_alone_is_the_tight_conversion_from_above(rho: str, epsilon: str) -> None:
    best = oracle.least_conversion(F(rho), F(epsilon))
    found = loss(ZeroConcentrated(F(rho))).delta(F(epsilon))
    assert best * (1 - 1e-12) <= found <= best * (1 + 1e-6)
