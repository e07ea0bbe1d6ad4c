"""A loss may be asked by many threads at once: every answer is that of one thread alone, then and afterwards."""

import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
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


QUESTIONS: dict[str, Callable[[PrivacyLoss], object]] = {
    "epsilon": lambda spent: spent.epsilon(1e-5),
    "pure_epsilon": lambda spent: spent.pure_epsilon(),
    "delta": lambda spent: spent.delta(1),
    "interval": lambda spent: spent.interval(1e-5),
    "worse_direction": lambda spent: spent.worse_direction(1),
    "log_delta": lambda spent: spent.log_delta(1, 0),
    "log_delta_above": lambda spent: spent.log_delta_above(1),
    "certifies": lambda spent: spent.certifies(9, 1e-5),
    "rdp": lambda spent: spent.rdp(2),
    "zcdp": lambda spent: spent.zcdp(),
    "bad_event": lambda spent: spent.bad_event(1),
    "exceeds": lambda spent: spent.exceeds(1),
    "catastrophe": lambda spent: spent.catastrophe(),
    "tradeoff": lambda spent: spent.tradeoff(0.1),
    "posterior": lambda spent: spent.posterior(),
    "plot": lambda spent: spent.plot(),
    "draw": lambda spent: spent.draw(),
}


def waits_for_its_turn(question: Callable[[PrivacyLoss], object], patience: float) -> None:
    """While one thread asks a loss, the question of another is not answered; then it is."""
    spent = 3 * loss(Gaussian(2))
    question(spent)
    with ThreadPoolExecutor(1) as pool:
        with spent._lock:
            asked = pool.submit(question, spent)
            assert not wait([asked], patience).done, "two threads ask at once"
        asked.result()


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_waits_for_its_turn(name: str) -> None:
    waits_for_its_turn(QUESTIONS[name], 0.05)


def test_every_question_is_known_here() -> None:
    """What computes nothing need not wait."""
    free = {"event", "from_table", "group", "relation", "sampled", "terms"}
    assert {name for name in dir(PrivacyLoss) if not name.startswith("_")} - free == set(QUESTIONS)


def test_a_copy_of_a_loss_is_the_same_loss() -> None:
    spent = made()[0]
    spent.epsilon(1e-5)
    assert deepcopy(spent) == spent
    assert deepcopy(spent).epsilon(1e-5) == pytest.approx(spent.epsilon(1e-5), rel=1e-9)
