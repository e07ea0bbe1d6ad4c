"""Events beside their true curves, for the tests that compare the two. The sharpest come first: a short run takes the head of the list.

A curve is built by the oracle when it is first asked for. Two tables hold what it takes minutes to compute.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

from discreet.privacy.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    FiniteTable,
    Gaussian,
    Laplace,
    Leaf,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
)
from tests.privacy import oracle
from tests.privacy.oracle import Curve, Losses
from tests.scale import repeats

F = Fraction
COIN = FiniteTable(((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))))
TELLING = FiniteTable(((F(1, 2), F(1, 2), F(0)), (F(1, 4), F(1, 4), F(1, 2))))


@dataclass(frozen=True)
class Case:
    """An event, its true curve, and how much loss is possible at all."""

    name: str
    event: Event
    build: Callable[[], Curve]
    largest: Fraction | float = inf

    def __str__(self) -> str:
        return self.name

    @cached_property
    def curve(self) -> Curve:
        return self.build()


def releases(leaf: Event, k: int) -> Event:
    return leaf if k == 1 else Repeated(leaf, k)


def gaussian(sigma: str, k: int) -> Case:
    return Case(
        f"Gaussian σ={sigma}, {k}-fold", releases(Gaussian(F(sigma)), k), lambda: oracle.gaussian(k / F(sigma) ** 2)
    )


def laplace(e: str, k: int) -> Case:
    event = releases(Laplace(1 / F(e)), k)
    return Case(f"Laplace e={e}, {k}-fold", event, lambda: oracle.laplace(F(e), k), k * F(e))


def of_atoms(name: str, leaf: Leaf, one: Callable[[], Losses], k: int, most: Fraction | float = inf) -> Case:
    return Case(f"{name}, {k}-fold", releases(leaf, k), lambda: (one() * k).delta, k * most)


def response(e: str, k: int, answers: int = 2) -> Case:
    of = "" if answers == 2 else f" of {answers}"
    leaf = RandomizedResponse(F(e), answers)
    return of_atoms(f"response ε={e}{of}", leaf, lambda: oracle.response(F(e), answers), k, F(e))


def pure(e: str, k: int) -> Case:
    return of_atoms(f"pure ε={e}", Pure(F(e)), lambda: oracle.response(F(e)), k, F(e))


def geometric(b: str, s: int, k: int) -> Case:
    leaf = DiscreteLaplace(F(b), s)
    return of_atoms(f"discrete Laplace b={b} Δ={s}", leaf, lambda: oracle.discrete_laplace(F(b), s), k, s / F(b))


def discrete(sigma: str, s: int, k: int) -> Case:
    leaf = DiscreteGaussian(F(sigma), s)
    return of_atoms(f"discrete Gaussian σ={sigma} Δ={s}", leaf, lambda: oracle.discrete_gaussian(F(sigma), s), k)


def sampled(name: str, q: str, part: Leaf, curve: Callable[[], Curve]) -> Case:
    return Case(f"{name} sampled at {q}", Sampled(F(q), part), lambda: oracle.sampled(F(q), curve()))


def sampled_gaussian(q: str, sigma: str) -> Case:
    return sampled(f"Gaussian σ={sigma}", q, Gaussian(F(sigma)), lambda: oracle.gaussian(1 / F(sigma) ** 2))


def sampled_response(q: str, e: str, answers: int, k: int) -> Case:
    event = releases(Sampled(F(q), RandomizedResponse(F(e), answers)), k)
    name = f"response ε={e} of {answers} sampled at {q}, {k}-fold"
    return Case(name, event, lambda: oracle.sampled_atoms(F(q), oracle.response(F(e), answers), k))


def approximate(e: str, delta: str, k: int) -> Case:
    def curve() -> Curve:
        return oracle.with_failure(1 - (1 - F(delta)) ** k, (oracle.response(F(e)) * k).delta)

    return Case(f"approximate ε={e} δ={delta}, {k}-fold", releases(Approximate(F(e), F(delta)), k), curve, k * F(e))


def coin(k: int) -> Case:
    return Case(f"a table, {k}-fold", releases(COIN, k), lambda: oracle.table(COIN.rows[0], COIN.rows[1], k))


def three_lattices() -> Losses:
    return oracle.response(F(1), 4) + oracle.discrete_laplace(F(2), 3) + oracle.discrete_gaussian(F(1))


THREE_LATTICES = (RandomizedResponse(1, 4), DiscreteLaplace(2, 3), DiscreteGaussian(1))


def mixtures() -> Iterator[Case]:
    """Compositions of different kinds; Gaussian noise, or few Laplace releases, on top of losses with atoms."""
    yield Case(
        "Laplace and Gaussian noise",
        Composed((Laplace(1), Gaussian(2))),
        lambda: oracle.with_laplace(F(1), oracle.gaussian(F(1, 4))),
    )
    yield Case(
        "Laplace noise and one response",
        Composed((Laplace(1), RandomizedResponse(1))),
        lambda: oracle.together(oracle.response(F(1)), oracle.laplace(F(1), 1)),
        F(2),
    )
    yield Case(
        "three lattices and Gaussian noise",
        Composed((*THREE_LATTICES, Gaussian(2))),
        lambda: oracle.together(three_lattices(), oracle.gaussian(F(1, 4))),
    )
    yield Case(
        "approximate, and Gaussian noise",
        Composed((Approximate(1, F(1, 10**9)), Gaussian(1))),
        lambda: oracle.with_failure(F(1, 10**9), oracle.together(oracle.response(F(1)), oracle.gaussian(F(1)))),
    )
    yield Case(
        "responses of two kinds",
        Composed((Repeated(RandomizedResponse(1), 2), RandomizedResponse(F("0.15")))),
        lambda: (oracle.response(F(1)) * 2 + oracle.response(F("0.15"))).delta,
        F("2.15"),
    )


def more_mixtures() -> Iterator[Case]:
    yield Case("three lattices", Composed(THREE_LATTICES), lambda: three_lattices().delta)
    yield Case(
        "Laplace noise and responses",
        Composed((Repeated(Laplace(2), 3), Repeated(RandomizedResponse(F("0.3")), 4))),
        lambda: oracle.together(oracle.response(F("0.3")) * 4, oracle.laplace(F("0.5"), 3)),
        F("2.7"),
    )
    yield Case(
        "responses and Gaussian noise",
        Composed((Repeated(RandomizedResponse(F("0.1")), 10), Gaussian(3), Gaussian(F("0.5"), F("0.1")))),
        lambda: oracle.together(oracle.response(F("0.1")) * 10, oracle.gaussian(F(1, 9) + F(1, 25))),
    )


def telling() -> Curve:
    """The second row against the first: half of the outputs are certain losses, the rest lose ln 1/2."""
    return oracle.worse(oracle.table(*TELLING.rows, 1), oracle.table(*reversed(TELLING.rows), 1))


def sharpest() -> Iterator[Case]:
    """At least one of each kind and of each route, at few and at many folds."""
    yield from (gaussian("1", 1), gaussian("0.3", 10), gaussian("50", 100))
    yield from (laplace("1", 1), laplace("0.1", 2), laplace("1", 3), laplace("5", 10))
    yield from (response("1", 1), response("0.001", 10), response("1", 100), response("30", 3))
    yield from (response("2", 1, 10), response("3", 10, 1000), pure("0.1", 3))
    yield from (geometric("3", 5, 1), geometric("0.5", 1, 10), geometric("2", 30, 100))
    yield from (discrete("0.3", 1, 2), discrete("1", 1, 1), discrete("2", 3, 10), discrete("0.3", 1, 30))
    yield from (sampled_gaussian("0.01", "1"), sampled_gaussian("0.5", "1"))
    yield from (sampled_response("0.3", "1", 2, 10), sampled_response("0.1", "2", 5, 2))
    yield sampled("Laplace e=1", "0.01", Laplace(1), lambda: oracle.laplace(F(1), 1))
    yield sampled("Laplace e=6", "0.1", Laplace(F(1, 6)), lambda: oracle.laplace(F(6), 1))
    yield sampled("discrete Laplace", "0.7", DiscreteLaplace(2, 3), lambda: oracle.discrete_laplace(F(2), 3).delta)
    yield sampled("discrete Gaussian", "0.01", DiscreteGaussian(1), lambda: oracle.discrete_gaussian(F(1)).delta)
    yield from (approximate("0.5", "1e-6", 1), approximate("2", "0.001", 3), coin(1), coin(10))
    yield Case("a table that tells", TELLING, telling, F(2))
    yield from mixtures()


def all_cases() -> Iterator[Case]:
    yield from sharpest()
    for k in (1, 2, 3, 10, 100):
        yield from (gaussian(sigma, k) for sigma in ("0.01", "0.3", "1", "50", "1e6"))
        yield from (response(e, k) for e in ("0.001", "1", "30"))
        yield from (response(e, k, answers) for e, answers in (("1", 3), ("3", 1000), ("0.1", 10)))
        yield from (pure("0.1", k), coin(k), approximate("0.5", "1e-6", k))
        yield from (geometric(b, s, k) for b, s in (("3", 5), ("0.5", 1), ("20", 1), ("2", 30)))
        yield from (discrete(sigma, s, k) for sigma, s in (("0.3", 1), ("1", 1), ("2", 3)))
    for k in (1, 2, 3, 6, 10):
        yield from (laplace(e, k) for e in ("0.001", "0.1", "1", "5", "40"))
    yield from (discrete("20", 1, k) for k in (1, 2))
    yield from (sampled_gaussian(q, sigma) for q, sigma in (("0.001", "0.5"), ("0.9", "4")))
    yield from (sampled_response("0.01", "1", 2, k) for k in (1, 2, 3, 100))
    yield sampled_response("0.1", "2", 5, 10)
    yield sampled("Laplace e=0.1", "0.5", Laplace(10), lambda: oracle.laplace(F(1, 10), 1))
    yield sampled("discrete Laplace", "0.01", DiscreteLaplace(2, 3), lambda: oracle.discrete_laplace(F(2), 3).delta)
    yield sampled("discrete Gaussian", "0.7", DiscreteGaussian(1), lambda: oracle.discrete_gaussian(F(1)).delta)
    yield from more_mixtures()


SHARPEST = len(list(sharpest()))
CASES = list({case.name: case for case in all_cases()}.values())


def first(n: int) -> list[Case]:
    """As many of the cases as a run of this scale looks at, where `make test` looks at n."""
    return CASES[: repeats(n)]


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


# δ of 100 Laplace releases with Δ/b = 1/10, by oracle.laplace in a minute each.
HUNDRED_LAPLACE = [
    ("0", "0.37748863278821805345"),
    ("2", "0.018575772699549750277"),
    ("5", "1.9174312332821010748e-7"),
    ("9.87", "9.9109916534714267332e-31"),
]


def side_of(curve: Curve, epsilon: float | Fraction, delta: Fraction) -> int:
    """The sign of δ(ε) − delta; 0 only where the two agree in all the digits of the oracle."""
    with oracle.ctx.workprec(oracle.PRECISION):
        truth, target = curve(Fraction(epsilon)), oracle.ball(delta)
        if truth > target:
            return 1
        if truth < target:
            return -1
        assert truth.rad() < target * 1e-50, f"the oracle lost its digits: {truth}"
        return 0
