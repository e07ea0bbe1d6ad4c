"""No answer hangs on the questions before it: every order of questions gives the same bits as each question alone."""

from collections.abc import Callable
from fractions import Fraction
from random import Random

import pytest

from discreet.privacy import PrivacyLoss, loss
from discreet.privacy.events import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteTable,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Sampled,
    ZeroConcentrated,
)
from discreet.privacy.numeric import routes
from tests.scale import repeats

F = Fraction
TABLE = FiniteTable(((F(3, 4), F(1, 4)), (F(1, 3), F(2, 3))))
DESCENT = Sampled(F(1, 100), Gaussian(1))
HALF = Sampled(F(1, 2), RandomizedResponse(1))

# A sum for each route; the name of a route by which one of its answers is had.
SUMS: dict[str, PrivacyLoss] = {
    "Nowhere": 3 * loss(RandomizedResponse(F(1, 10))),
    "InClosedForm": loss(Laplace(2)),
    "Alone": loss(TABLE),
    "Certain": 10**6 * loss(Gaussian(1)),
    "Vanishing": 100 * loss(Gaussian(10)),
    "Concentrated": loss(ZeroConcentrated(F(1, 9))) + 3 * loss(Gaussian(5)),
    "AllGaussian": 1000 * loss(Gaussian(50)),
    "AroundLattice": 100 * loss(DiscreteGaussian(10)),
    "PointByPoint": 2 * loss(DiscreteLaplace(F(10**9 + 7, 10**8))) + loss(RandomizedResponse(F(1, 10**9 + 9))),
    "BySplines": 20 * loss(Laplace(10)),
    "AlongContour": 10_000 * loss(DESCENT),
    "Beside": 100 * loss(RandomizedResponse(1)) + loss(Gaussian(1000)),
    "ByTransform": 3 * loss(Sampled(F(1, 10), Laplace(1))),
}
MORE = {
    "two directions": 2 * loss(HALF),
    "open failure": loss(Approximate(F(1, 10), F(1, 10**8))) + 50 * loss(Laplace(10)),
    "mixed": 50 * loss(Laplace(10)) + 100 * loss(Gaussian(20)),
    "few": loss(Laplace(10)) + loss(Laplace(7)),
}

QUESTIONS: dict[str, Callable[[PrivacyLoss], object]] = {
    **{f"delta({e})": lambda spent, e=e: spent.delta(e) for e in (0, F(1, 10), F(3, 10), 1, 3, 40)},  # type: ignore[misc]
    **{f"epsilon({d})": lambda spent, d=d: spent.epsilon(d) for d in (0.3, 1e-3, 1e-6, 2e-6, 1e-9, 1e-30)},  # type: ignore[misc]
    **{f"above({e})": lambda spent, e=e: spent.log_delta_above(e) for e in (F(1, 2), 2)},  # type: ignore[misc]
    "exceeds": lambda spent: spent.exceeds(F(1, 5)) if not concentrated(spent) else None,
    "interval": lambda spent: spent.interval(1e-6) if not concentrated(spent) else None,
    "certifies": lambda spent: spent.certifies(1, 1e-6),
    "rdp": lambda spent: spent.rdp(4),
    "zcdp": lambda spent: spent.zcdp(),
}


def concentrated(spent: PrivacyLoss) -> bool:
    return any(direction.rho for direction in spent._directions)


def fresh(spent: PrivacyLoss) -> PrivacyLoss:
    """The same, with nothing computed yet."""
    return PrivacyLoss(spent.terms, spent.relation)


def check_orders(spent: PrivacyLoss, orders: int, seed: int = 7) -> None:
    alone = {name: ask(fresh(spent)) for name, ask in QUESTIONS.items()}
    random = Random(seed)
    for _ in range(orders):
        together, names = fresh(spent), [*QUESTIONS, *random.choices(list(QUESTIONS), k=5)]
        random.shuffle(names)
        for name in names:
            assert QUESTIONS[name](together) == alone[name], (name, names)


@pytest.mark.parametrize("name", [*SUMS, *MORE])
def test_every_order_of_questions_gives_the_same_bits(name: str) -> None:
    check_orders({**SUMS, **MORE}[name], repeats(1))


def test_values_do_not_hang_on_the_questions_before() -> None:
    check_orders(SUMS["AlongContour"], 1)


def routes_of(spent: PrivacyLoss) -> set[str]:
    """By which routes δ is had, at ordinary ε and at extreme ones."""
    epsilons = (0.0, 1e-3, 0.1, 0.3, 1.0, 3.0, 40.0, 1e4)
    return {type(each.routes.value(epsilon)[1]).__name__ for each in spent._directions for epsilon in epsilons}


@pytest.mark.parametrize("name", SUMS)
def test_every_route_is_taken_by_some_sum(name: str) -> None:
    assert name in routes_of(SUMS[name])


def test_the_table_of_routes_is_their_order() -> None:
    """The docstring says what is asked, and when."""
    table = [line.split()[0] for line in (routes.__doc__ or "").splitlines() if line.startswith("    ")]
    assert table == [route.__name__ for route in routes.ROUTES]
    assert routes.ROUTES[-1].bound and not any(route.bound for route in routes.ROUTES[:-1])
