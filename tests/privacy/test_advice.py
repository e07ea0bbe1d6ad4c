"""Advice about δ: the thresholds of n, exactly, and sentences for people."""

import math
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.privacy.advice import Verdict, delta_advice, judge_delta

ORDER = list(Verdict)


@pytest.mark.parametrize("people", [1, 2, 100, 35_000, 35_111, 35_112, 50_000, 10**6, 8 * 10**9, 10**200])
def test_the_advice_is_its_formula_rounded_down(people: int) -> None:
    with mp.workdps(60):
        truth = min(mp.mpf(people) ** mp.mpf("-1.1"), mp.mpf(10) ** -5)
        found = mp.mpf(repr(delta_advice(people)))
        assert truth * (1 - mp.mpf(10) ** -15) <= found <= truth * (1 + mp.mpf(10) ** -55) + mp.mpf(10) ** -323


@pytest.mark.parametrize(
    ("delta", "people", "verdict"),
    [
        (0, 10**6, Verdict.FINE),
        (1e-7, 10**6, Verdict.FINE),
        (2.6e-7, 10**6, Verdict.NOTE),
        (4.999999e-7, 10**6, Verdict.NOTE),
        (5e-7, 10**6, Verdict.WARNING),
        (9.999999e-7, 10**6, Verdict.WARNING),
        (1e-6, 10**6, Verdict.REFUSAL),
        (1, 10**6, Verdict.REFUSAL),
        (Fraction(1, 3), 3, Verdict.REFUSAL),
        (Fraction(1, 6), 3, Verdict.WARNING),
        (Fraction(1, 6) - Fraction(1, 10**100), 3, Verdict.FINE),
        (1, 1, Verdict.REFUSAL),
        (0.5, 1, Verdict.WARNING),
    ],
)
def test_verdicts_change_exactly_at_their_thresholds(delta: float, people: int, verdict: Verdict) -> None:
    advice = judge_delta(delta, people)
    assert advice.verdict is verdict
    assert f"{people:,} people" in advice.sentence
    assert advice.advised == delta_advice(people)


def test_the_power_is_compared_exactly() -> None:
    people = 2**20  # n^-1.1 = 2^-22
    assert judge_delta(Fraction(1, 2**22), people).verdict is Verdict.FINE
    assert judge_delta(Fraction(1, 2**22) + Fraction(1, 10**200), people).verdict is Verdict.NOTE


@given(st.integers(1, 10**12))
def test_what_is_advised_is_fine(people: int) -> None:
    assert judge_delta(delta_advice(people), people).verdict is Verdict.FINE


@given(st.integers(1100, 10**12), st.floats(0, 1))
def test_the_delta_named_in_a_sentence_is_fine(people: int, delta: float) -> None:
    advice = judge_delta(delta, people)
    if advice.verdict is not Verdict.FINE:
        named = advice.sentence.rpartition("take at most ")[2]
        assert judge_delta(float(named), people).verdict is Verdict.FINE
        assert float(named) > 0.9 * advice.advised


@given(st.integers(1, 10**9), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_delta_is_never_judged_better(people: int, one: float, other: float) -> None:
    verdicts = [ORDER.index(judge_delta(delta, people).verdict) for delta in sorted((one, other))]
    assert verdicts == sorted(verdicts)


@pytest.mark.parametrize("people", [0, -1, 1.0, True, "10", None, math.nan])
def test_a_number_of_people_is_a_positive_integer(people: object) -> None:
    for call in (delta_advice, lambda n: judge_delta(1e-6, n)):
        with pytest.raises(Invalid, match=r"^people must be"):
            call(people)


@pytest.mark.parametrize("delta", [-1e-9, 1.1, math.nan, math.inf, "x", None, True])
def test_a_delta_is_a_probability(delta: object) -> None:
    with pytest.raises(Invalid, match=r"^delta must be"):
        judge_delta(delta, 10)
