"""Intervals for coefficients hold sampling and privacy noise: of 500 simulated fits, of some kinds 300, 95 % cover, give or take 3.

Rows and noise come from fixed seeds, so that a test has no false alarm; a soak takes others, and more of them.
"""

from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid, Refused
from discreet.learn import linear
from discreet.learn.private_scaling import feature_scale
from discreet.mechanisms.measure import Unmetered
from discreet.noise import Tape
from tests.scale import repeats

FITS, FEWER = 500, 300
SMALL = 1e-5


SKEWED = "skewed errors"


def simulated(kind: str, rows: int, width: int, seed: int) -> tuple[Any, Any, Any]:
    """Rows in (−7, 13) and targets in (−16, 12), neither of them clipped, and the coefficients with the intercept last."""
    random = np.random.default_rng(seed)
    if kind == "alike":
        values = random.uniform(-0.8, 0.8, (rows, width))
    elif kind in ("skewed", SKEWED):
        values = random.beta(2, 5, (rows, width))
    else:
        common = random.standard_normal((rows, 1))
        values = np.clip(0.2 * (0.6 * random.standard_normal((rows, width)) + 0.8 * common), -1, 1)
    slopes = np.linspace(-1, 1, width) / width
    errors = random.exponential(1, rows) - 1 if kind == SKEWED else random.standard_normal(rows)
    targets = values @ slopes + 0.1 + 0.05 * errors
    return values * 10 + 3, targets * 7 - 2, np.append(slopes * 0.7, 0.7 - 2 - 2.1 * slopes.sum())


def covered(kind: str, rows: int, width: int, epsilon: float, fits: int = FITS, **said: Any) -> tuple[float, float]:
    """How often intervals hold coefficients, and how often the intercept; all of them are given."""
    hits = []
    for seed in range(repeats(fits)):
        values, targets, exact = simulated(kind, rows, width, seed)
        named = {"bounds": (-7, 13), "target_bounds": (-16, 12), "epsilon": epsilon, "delta": SMALL, **said}
        found = linear(values, targets, **named, measure=Unmetered(Tape(seed))).interval()
        hits.append((found[:, 0] <= exact) & (exact <= found[:, 1]))
    return float(np.mean(hits, axis=0)[:-1].mean()), float(np.mean(hits, axis=0)[-1])


CASES: dict[str, tuple[str, int, int, float]] = {
    "much noise": ("alike", 3000, 2, 0.3),
    "usual": ("skewed", 2000, 3, 1),
    "related features": ("related", 3000, 3, 1),
    "little noise": ("related", 1000, 3, 3),
    SKEWED: (SKEWED, 5000, 2, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover(case: str) -> None:
    intervals_cover(case)


def intervals_cover(case: str = "related features") -> None:
    for share in covered(*CASES[case], fits=FITS if case == "usual" else FEWER):
        assert 0.92 <= share <= 0.98


def noise_is_in_intervals() -> None:
    """Where noise is most of the error, intervals cover: 150 fits of two coefficients each tell 95 % from 85 %."""
    assert covered(*CASES["much noise"], fits=150)[0] >= 0.9


def test_noise_is_in_intervals() -> None:
    noise_is_in_intervals()


def test_pure_intervals_cover() -> None:
    for share in covered("alike", 3000, 2, 1, fits=200, delta=0):
        assert 0.91 <= share <= 0.99


def means_are_covered() -> None:
    hits = []
    exact = np.array([3.0, -1.0, 10.0])
    for seed in range(repeats(FITS)):
        values = np.random.default_rng(seed).normal(exact, [1, 1.5, 0.5], (500, 3))
        bounds = [(-5, 10), (-10, 10), (0, 20)]
        found = feature_scale(values, bounds=bounds, epsilon=1, delta=SMALL, measure=Unmetered(Tape(seed))).interval()
        hits.append((found[:, 0] <= exact) & (exact <= found[:, 1]))
    assert 0.92 <= np.mean(hits) <= 0.98


def test_means_are_covered() -> None:
    means_are_covered()


def where_a_ridge_was_needed_there_are_none() -> None:
    values, targets, _ = simulated("alike", 60, 3, 1)
    found = linear(values, targets, bounds=(-7, 13), target_bounds=(-16, 12), epsilon=0.1, delta=SMALL)
    assert found.ridge > 0
    with pytest.raises(Refused, match="ridge"):
        found.interval()
    with pytest.raises(Refused, match="how many rows"):
        feature_scale(values[:0], bounds=(-7, 13), epsilon=1).interval()


def test_where_a_ridge_was_needed_there_are_none() -> None:
    where_a_ridge_was_needed_there_are_none()


def test_wider_confidence_is_wider() -> None:
    values, targets, _ = simulated("alike", 2000, 2, 1)
    found = linear(values, targets, bounds=(-7, 13), target_bounds=(-16, 12), epsilon=3, delta=SMALL)
    narrow, wide = found.interval(0.5), found.interval(0.99)
    assert (wide[:, 0] < narrow[:, 0]).all() and (narrow[:, 1] < wide[:, 1]).all()
    with pytest.raises(Invalid):
        found.interval(1)
