"""Predictions: each way is said to be as good as it is, the best one is taken, and what cannot be kept is refused with what can."""

import re
from dataclasses import replace
from fractions import Fraction as F
from math import inf, prod

import numpy as np
import pytest

from discreet.errors import Invalid, Refused
from discreet.noise import Tape
from discreet.privacy import Adjacency, Relation
from discreet.weights.online_terms import HistogramTerms, OnlineAsked
from discreet.weights.prediction import MOST_CELLS, Way, predicted, typical
from tests.scale import repeats

SMALL, MIDDLE, LARGE = (4, 4, 4, 4, 4, 2, 2), (8, 8, 8, 4, 4, 4, 2), (16, 8, 8, 8, 8, 4, 4)
ASKED = OnlineAsked(LARGE, Relation(Adjacency.ADD_REMOVE), F(1), F(1, 10**7), 400.0, 100_000, None, True)


def the_best_way_is_taken() -> None:
    """Few questions are answered directly, small domains by their histogram, and large ones by weights."""
    assert predicted(ASKED).way is Way.WEIGHTS
    assert predicted(replace(ASKED, queries=10)).way is Way.DIRECT
    assert predicted(replace(ASKED, shape=MIDDLE)).way is Way.WEIGHTS
    assert predicted(replace(ASKED, shape=SMALL)).way is Way.HISTOGRAM
    assert predicted(replace(ASKED, shape=(4, 4, 4))).way is predicted(replace(ASKED, shape=(50,))).way is Way.HISTOGRAM
    assert predicted(replace(ASKED, shape=SMALL, queries=100)).way is Way.DIRECT
    assert predicted(replace(ASKED, updates=0)).way is Way.WEIGHTS
    assert predicted(replace(ASKED, start=False)).way is Way.WEIGHTS
    assert predicted(replace(ASKED, start=False, shape=SMALL)).way is Way.HISTOGRAM
    assert predicted(replace(ASKED, shape=(1 << 12,) * 2, queries=100)).way is Way.DIRECT
    for way in Way:
        if way is not Way.DIRECT:
            assert predicted(ASKED, way.value).way is predicted(ASKED, way).way is way


def test_the_best_way_is_taken() -> None:
    the_best_way_is_taken()


def direct_answers_are_as_many_as_is_said() -> None:
    """At 2 % of 20,000 people, ε = 1 and δ = 1e-7 about 1,900; so many keep the error, and a twentieth more do not."""
    answered = predicted(ASKED).of(Way.DIRECT).answered
    assert 1850 < answered < 1950
    assert predicted(replace(ASKED, queries=answered), "direct").way is Way.DIRECT
    with pytest.raises(Refused):
        predicted(replace(ASKED, queries=answered * 21 // 20), "direct")


def test_direct_answers_are_as_many_as_is_said() -> None:
    direct_answers_are_as_many_as_is_said()


def refusals_name_what_can_be_kept() -> None:
    """Whoever follows the hint, by error or by ε, is not refused."""
    asked = replace(ASKED, error=20.0)
    for method in ("auto", "weights", "direct"):
        with pytest.raises(Refused) as refused:
            predicted(asked, method)
        assert refused.value.code == "error-too-small"
    with pytest.raises(Refused) as refused:
        predicted(asked)
    found = re.search(r"error=(\d+), or for about epsilon=([\d.]+)", str(refused.value.hint))
    assert found
    predicted(replace(asked, error=float(found[1])))
    predicted(replace(asked, epsilon=F(found[2]) * F(102, 100)))


def test_refusals_name_what_can_be_kept() -> None:
    refusals_name_what_can_be_kept()


def test_a_histogram_is_as_good_as_is_said() -> None:
    """Of typical questions 95 % are within the ±: α = 1e-6; a ± that is a tenth less would be left by twice as many."""
    found = predicted(replace(ASKED, shape=SMALL)).of(Way.HISTOGRAM)
    assert isinstance(found.terms, HistogramTerms)
    cells, tries, bits = typical(SMALL), repeats(4000), Tape(3)
    scale = float(found.terms.noise.scale)
    noise = found.terms.noise(np.zeros(tries, np.int64), bits) / scale
    deviations = scale * np.sqrt(np.resize(cells, tries))
    outside = (np.abs(noise * deviations) > found.error).sum()
    assert abs(outside - 0.05 * tries) < 5 * (0.0475 * tries) ** 0.5


def typical_questions_have_cells_of_the_domain() -> None:
    for shape in ((1,), (2,), (3, 5), SMALL, LARGE, (2,) * 20):
        cells = typical(shape)
        assert len(cells) <= 1300 and min(cells) > 0.99 and max(cells) <= prod(shape)


def test_typical_questions_have_cells_of_the_domain() -> None:
    typical_questions_have_cells_of_the_domain()


def test_what_is_too_large_is_not_held_as_an_array() -> None:
    large = replace(ASKED, shape=(MOST_CELLS, 2))
    with pytest.raises(Refused):
        predicted(large)
    found = predicted(replace(large, queries=10))
    assert found.way is Way.DIRECT and found.of(Way.WEIGHTS).error == found.of(Way.HISTOGRAM).error == inf


@pytest.mark.parametrize("method", ["best", "", 3, None])
def test_methods_are_named(method: object) -> None:
    with pytest.raises(Invalid, match="auto, weights, direct or histogram"):
        predicted(ASKED, method)  # type: ignore[arg-type]


def test_a_plan_says_all_three() -> None:
    text = str(predicted(ASKED))
    assert "→ weights" in text and "  direct" in text and "  histogram" in text and "1,902 questions" in text
    assert "nothing promised" in str(predicted(replace(ASKED, updates=0), "weights"))
    assert "too much" in str(predicted(replace(ASKED, error=40.0, queries=10)))
