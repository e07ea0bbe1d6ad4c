"""How far noise reaches: of one cell 95 %, of many together at least 95 %, and not much more than is needed."""

import numpy as np
import pytest

from discreet.weights.noise_reach import NoiseReach
from tests.scale import repeats

CELLS = (1, 2, 3, 10, 200)
SAMPLES = 20_000
SLACK = 0.01
"""Six standard deviations of a share of 0.95 among 20,000."""


def noise(gaussian: bool, deviation: float, shape: tuple[int, int]) -> np.ndarray:  # type: ignore[type-arg]
    rng = np.random.default_rng(7)
    return rng.normal(0, deviation, shape) if gaussian else rng.laplace(0, deviation / np.sqrt(2), shape)


def reaches_hold() -> None:
    for gaussian in (True, False):
        for cells in CELLS:
            reach = NoiseReach(3.0, cells, gaussian)
            drawn = np.abs(noise(gaussian, 3.0, (repeats(SAMPLES), cells)))
            assert abs((drawn[:, 0] <= reach.of_one).mean() - 0.95) < SLACK
            all_of_it = drawn.sum(axis=1)
            assert (all_of_it <= reach.of_all).mean() > 0.95 - SLACK
            assert reach.of_all < 1.45 * np.quantile(all_of_it, 0.95)


def test_reaches_hold() -> None:
    reaches_hold()


def rare_noise_grows_as_it_should() -> None:
    """ln E[e^(λ|Z|)] is that of the noise, at rates where its mean can be sampled."""
    for gaussian in (True, False):
        drawn = np.abs(noise(gaussian, 1.0, (repeats(SAMPLES) * 5, 1)))
        for rate in (0.1, 0.5):
            mean = np.exp(rate * drawn).mean()
            assert NoiseReach(1.0, 2, gaussian)._growth(rate) == pytest.approx(np.log(mean), abs=0.005)


def test_rare_noise_grows_as_it_should() -> None:
    rare_noise_grows_as_it_should()


def noise_that_goes_together_reaches_farther() -> None:
    """Cells that share a part of their noise, or all of it: the bound holds whatever the share is."""
    for gaussian in (True, False):
        for share in (0.0, 0.3, 1.0):
            for cells in (2, 20):
                own, common = (noise(gaussian, 1.0, (repeats(SAMPLES), n)) for n in (cells, 1))
                together = np.sqrt(1 - share) * own + np.sqrt(share) * np.roll(common, 1, axis=0)
                reach = NoiseReach(1.0, cells, gaussian, float(np.sqrt(1 - share + share * cells)))
                assert (np.abs(together).sum(axis=1) <= reach.of_all).mean() > 0.95 - SLACK


def test_noise_that_goes_together_reaches_farther() -> None:
    noise_that_goes_together_reaches_farther()


@pytest.mark.parametrize("gaussian", [True, False])
def test_no_noise_reaches_nowhere_and_more_reaches_farther(gaussian: bool) -> None:
    assert NoiseReach(0.0, 5, gaussian).of_all == 0
    reaches = [NoiseReach(1.0, cells, gaussian).of_all for cells in range(1, 50)]
    assert reaches == sorted(reaches) and NoiseReach(2.0, 7, gaussian).of_all == pytest.approx(2 * reaches[6])
