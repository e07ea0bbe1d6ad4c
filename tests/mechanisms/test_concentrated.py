"""Laws of choices that are counted in zCDP: they are those of the exponential mechanism, at another true price."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.chances import law_of
from discreet.errors import Invalid
from discreet.mechanisms import Exponential
from discreet.mechanisms.concentrated import ConcentratedExponential
from discreet.noise import Tape
from discreet.privacy import events

RATES = st.fractions(F(1, 100), 8, max_denominator=100)


def choices_are_those_of_the_exponential_mechanism() -> None:
    scores = [[3, 5, 4, 0], [0, 0, 1, 9]]
    for epsilon in (F(1, 3), F(2), F(9)):
        for sensitivity in (F(1), F(2)):
            one, other = (kind(epsilon, sensitivity) for kind in (ConcentratedExponential, Exponential))
            assert law_of(one, scores[0]).chances == law_of(other, scores[0]).chances
            drawn = [each(np.tile(scores, (50, 1)), Tape(1)).tolist() for each in (one, other)]
            assert drawn[0] == drawn[1]


def test_choices_are_those_of_the_exponential_mechanism() -> None:
    choices_are_those_of_the_exponential_mechanism()


def the_price_is_an_eighth_of_the_square() -> None:
    for epsilon, changed in ((F(1), 1), (F(3), 2), (F(1, 7), F(1, 2))):
        event = ConcentratedExponential(epsilon).event(changed)
        assert event == events.ZeroConcentrated((epsilon * F(changed)) ** 2 / 8)


def test_the_price_is_an_eighth_of_the_square() -> None:
    the_price_is_an_eighth_of_the_square()


def rho_is_kept_and_used(rho: F = F(1, 7)) -> None:
    spent = ConcentratedExponential.for_rho(rho, 2).event().rho
    assert rho * (1 - F(1, 10**9)) < spent <= rho


@settings(max_examples=50)
@given(RATES)
def test_rho_is_kept_and_used(rho: F) -> None:
    rho_is_kept_and_used(rho)


def renyi_divergences_are_within_the_price() -> None:
    """Of every order α the divergence of the choice between neighbours is at most α·ε²/8, over all scores that move by at most 1."""
    for epsilon in (F(1, 2), F(2), F(5)):
        mechanism = ConcentratedExponential(epsilon)
        rho = float(mechanism.event().rho)
        for x in ([0, 0], [0, 3], [2, 1, 0]):
            for moves in np.ndindex(*(3,) * len(x)):
                y = [a + move - 1 for a, move in zip(x, moves, strict=True)]
                p, q = (np.array([mechanism.probability(i, each) for i in range(len(x))]) for each in (x, y))
                for alpha in (1.5, 2.0, 4.0, 16.0):
                    divergence = np.log((p**alpha * q ** (1 - alpha)).sum()) / (alpha - 1)
                    assert divergence <= alpha * rho + 1e-12


def test_renyi_divergences_are_within_the_price() -> None:
    renyi_divergences_are_within_the_price()


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (8, 1e-3)])
def test_for_budget_keeps_its_budget(epsilon: float, delta: float) -> None:
    assert ConcentratedExponential.for_budget(epsilon, delta).loss().certifies(epsilon, delta)


def test_a_budget_without_a_delta_is_refused() -> None:
    with pytest.raises(Invalid, match="needs a delta"):
        ConcentratedExponential.for_budget(1)
