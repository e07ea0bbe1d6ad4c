"""A loss may be asked by many threads at once: every answer is that of one thread alone, then and afterwards."""

import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from fractions import Fraction

import pytest

from discreet.privacy import PrivacyLoss, loss
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, Gaussian, RandomizedResponse
from tests.scale import repeats

DELTAS = [10.0**-k for k in range(2, 20)]


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def made() -> list[PrivacyLoss]:
    return [
        200 * loss(DiscreteGaussian(9)) + 50 * loss(DiscreteLaplace(11)),
        30 * loss(RandomizedResponse(Fraction(1, 3))) + 3 * loss(Gaussian(20)),
    ]


def close(found: float, alone: float) -> bool:
    """Which line serves a question may hang on the questions before it; its value does not, to what near-exact means."""
    return abs(found - alone) <= 1e-8 * alone


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("which", [0, 1])
def test_threads_that_share_a_loss_get_the_answers_of_one(which: int) -> None:
    alone = {delta: made()[which].epsilon(delta) for delta in DELTAS}
    for repeat in range(repeats(2)):
        shared = made()[which]

        def ask(seed: int, shared: PrivacyLoss = shared) -> list[tuple[float, float]]:
            chosen = random.Random(seed).choices(DELTAS, k=8)
            return [(delta, shared.epsilon(delta)) for delta in chosen]

        with ThreadPoolExecutor(4) as pool:
            answers = [pair for found in pool.map(ask, range(4 * repeat, 4 * repeat + 4)) for pair in found]
        for delta, epsilon in answers + [(delta, shared.epsilon(delta)) for delta in DELTAS]:
            assert close(epsilon, alone[delta]), delta


def test_a_copy_of_a_loss_is_the_same_loss() -> None:
    spent = made()[0]
    spent.epsilon(1e-5)
    assert deepcopy(spent) == spent
    assert deepcopy(spent).epsilon(1e-5) == pytest.approx(spent.epsilon(1e-5), rel=1e-9)
