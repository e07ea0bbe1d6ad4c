"""Lower bounds from outputs: above the truth as often as they say at most, near to it where they can be, blind to nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log
from statistics import median
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discreet as dp
from discreet.audit.distinguisher import choose
from discreet.audit.features import Raised, features_of
from discreet.audit.sampling import LowerBound, gaussian_estimate, lower_bound
from tests.scale import repeats

ALARM = 1e-6


@dataclass(frozen=True)
class Known:
    """A mechanism with a known ε at δ, as independent outputs for 0 and 1."""

    name: str
    outputs: Callable[[int, int], Any]
    epsilon: float
    delta: float = 0.0


def fresh() -> np.random.Generator:
    return np.random.default_rng()


def response(epsilon: float) -> Known:
    truth = 1 / (1 + exp(-epsilon))
    return Known(f"response {epsilon}", lambda bit, n: np.where(fresh().random(n) < truth, bit, 1 - bit), epsilon)


def geometric(epsilon: float) -> Known:
    return Known(
        f"geometric {epsilon}",
        lambda count, n: count + fresh().geometric(-np.expm1(-epsilon), n) - fresh().geometric(-np.expm1(-epsilon), n),
        epsilon,
    )


def leaky(delta: float) -> Known:
    """The bit itself with probability δ, nothing otherwise: ε = 0 at this δ, infinite below it."""
    return Known(f"leaky {delta}", lambda bit, n: np.where(fresh().random(n) < delta, bit, -1), 0.0, delta)


KNOWN = [
    response(0.1),
    response(2.0),
    geometric(0.5),
    geometric(3.0),
    leaky(0.02),
    Known("constant", lambda bit, n: np.zeros(n), 0.0),
]


def audited(known: Known, **options: Any) -> LowerBound:
    return lower_bound(known.outputs, 0, 1, delta=known.delta, many=True, **options)


@pytest.mark.parametrize("anytime", [False, True])
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_a_bound_is_above_the_truth_at_its_rate_at_most(known: Known, anytime: bool) -> None:
    runs = repeats(50)
    above = sum(audited(known, samples=1_000, confidence=0.9, anytime=anytime) > known.epsilon for _ in range(runs))
    assert stats.binom.sf(above - 1, runs, 0.1) > ALARM


@dataclass(frozen=True)
class Tight:
    """What the median bound of 20 runs at 1e6 outputs a side must reach, and what every single run does."""

    name: str
    mechanism: Any
    median: float
    once: float
    options: dict[str, Any]


GAUSSIAN = dp.Gaussian.for_budget(1, 1e-5)
TIGHT = [
    Tight("response 1", dp.RandomizedResponse(1), 0.98, 0.97, {}),
    Tight("response 8", dp.RandomizedResponse(8), 7.6, 7.4, {}),
    Tight("laplace 1", dp.Laplace.for_epsilon(1), 0.98, 0.8, {}),
    Tight("laplace 8", dp.Laplace.for_epsilon(8), 7.6, 7.0, {}),
    Tight("gaussian", GAUSSIAN, 0.68, 0.4, {"delta": 1e-5}),
    Tight("gaussian at any time", GAUSSIAN, 0.63, 0.4, {"delta": 1e-5, "anytime": True}),
]


@pytest.mark.parametrize("case", TIGHT, ids=lambda case: case.name)
def test_bounds_are_near_the_truth(case: Tight) -> None:
    runs = repeats(1)
    found = median(lower_bound(case.mechanism, 0, 1, samples=10**6, **case.options) for _ in range(runs))
    assert found >= (case.median if runs >= 20 else case.once)


def test_an_estimate_that_assumes_the_shape_is_nearer() -> None:
    runs = repeats(1)
    found = median(gaussian_estimate(GAUSSIAN, 0, 1, delta=1e-5, samples=10**6) for _ in range(runs))
    assert 0.95 <= found <= 1.02


def test_floating_point_noise_is_told_by_its_lowest_bit() -> None:
    bound = lower_bound(lambda x, n: x + fresh().laplace(0, 1, n), 0, 1, samples=20_000, many=True)
    assert bound > 5
    assert "lowest bit" in bound.event


LEAKS: dict[str, Callable[[int], Any]] = {
    "a number": lambda bit: float(bit),
    "a long integer": lambda bit: 10**400 * (2 * bit - 1),
    "a text": lambda bit: "yes" if bit else "no",
    "nothing": lambda bit: None if bit else 0,
    "not a number": lambda bit: float("nan") if bit else 0.0,
    "infinity": lambda bit: inf if bit else -inf,
    "a kind": lambda bit: 0.0 if bit else 0,
    "an exception": lambda bit: 1 // bit,
    "a message": lambda bit: {}[str(bit)],
    "a message that is never the same twice": lambda bit: {}[fresh().random()] if bit else fresh().random(),
    "a length": lambda bit: [0] * (bit + 1),
    "an item": lambda bit: (0, 5, bit),
    "an array": lambda bit: np.array([[0.0, bit]]),
    "nested": lambda bit: [("a", bit), ("b", 1)],
    "a dictionary": lambda bit: {"n": bit},
    "a set": lambda bit: frozenset([bit]),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_whatever_differs_is_seen(leak: str) -> None:
    assert lower_bound(LEAKS[leak], 0, 1, samples=400) > 3
    assert lower_bound(LEAKS[leak], 1, 0, samples=400, anytime=True) > 3


@pytest.mark.parametrize("leak", LEAKS)
def test_what_is_equal_is_not_seen(leak: str) -> None:
    assert lower_bound(LEAKS[leak], 1, 1, samples=400, confidence=1 - ALARM) == 0


def test_a_leak_that_nobody_sees_in_one_number_is_seen_in_a_set() -> None:
    """Values that are likelier on one side lie among others that are not: no threshold tells them, a set does."""
    bound = lower_bound(lambda bit, n: 2 * fresh().integers(0, 50, n) + bit, 0, 1, samples=20_000, many=True)
    assert bound > 5


def test_a_bound_with_many_people_is_of_the_worst_pair() -> None:
    pairs = [(0, 0), (1, 1), (0, 1), (2, 2)]
    bound = lower_bound(lambda x: x, neighbours=pairs, samples=2_000)
    assert (bound.x, bound.y) == (0, 1)


def test_a_run_at_any_time_stops_where_it_has_shown_enough() -> None:
    long = audited(response(2.0), samples=10**6, anytime=True, above=1.0)
    assert 1.0 < long < 2.0
    assert long.samples < 200_000


def test_a_run_ends_with_its_time() -> None:
    bound = lower_bound(lambda x: x + fresh().random(), 0, 1, samples=10**8, anytime=True, seconds=0.2, above=0.1)
    assert bound.samples < 10**8


def test_progress_is_told_and_ends_at_1() -> None:
    for anytime in (False, True):
        shares: list[float] = []
        audited(response(1.0), samples=1_000, anytime=anytime, progress=shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


def test_a_bound_is_a_number_and_tells_what_was_seen() -> None:
    bound = audited(response(2.0), samples=10_000)
    assert 1.5 < bound < 2.1
    assert bound.epsilon == float(bound)
    assert str(bound).startswith("ε ≥ ")
    assert f"{bound.hits:,} times on 0" in str(bound)
    assert log((max(bound.hits, bound.misses)) / min(bound.hits, bound.misses)) == pytest.approx(2.0, abs=0.4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"samples": 10}, "samples must be at least 100"),
        ({"samples": 1e5}, "samples must be an integer"),
        ({"confidence": 1}, "confidence must lie between 0 and 1"),
        ({"confidence": 0}, "confidence must lie between 0 and 1"),
        ({"delta": -1}, "delta"),
        ({"above": -1}, "above"),
        ({"seconds": 0}, "seconds must be positive"),
        ({"neighbours": []}, "neighbours must hold at least one pair"),
        ({"mechanism": 5}, "mechanism must be a function"),
        ({"mechanism": lambda x, n: [x], "many": True}, "must give 20000 outputs"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(dp.Invalid, match=words):
        lower_bound(**({"mechanism": lambda x: x, "x": 0, "y": 1} | arguments))


def test_outputs_that_raise_are_outputs() -> None:
    outputs = [Raised("ValueError", "no")] * 500 + [1] * 500
    assert {feature.name for feature in features_of(outputs)} >= {"output", "kind of the output"}
    chosen = choose(outputs, [1] * 1000, size=1000, delta=0.0)
    assert chosen.hits(outputs) == 500
    assert chosen.hits([1] * 1000) == 0
