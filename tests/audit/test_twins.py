"""The harness itself: every planted leak is reported for what it is, on any neighbours; what is sound is not reported."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.audit.twins import Report, compare, too_far
from discreet.errors import Invalid
from discreet.mechanisms import Example, Mechanism, RoundedGaussian, registry
from discreet.privacy import events
from tests.audit.runs import LEAKS, MOST, SOUND, VICTIM, Rows, Run
from tests.scale import repeats

EXAMPLES = [(name, each) for name in registry.names() for each in registry.examples(name)]


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """With the victim, at the end, and without; or with somebody else instead; in either order."""
    values = draw(st.lists(st.integers(0, 2 * MOST), max_size=12))
    others = Rows(tuple(range(len(values))), tuple(values))
    mine = draw(st.integers(2 * MOST + 1, 99))
    first = Rows((*others.people, VICTIM), (*others.values, mine))
    second = others
    if draw(st.booleans()):
        second = Rows((*others.people, VICTIM - 1), (*others.values, draw(st.integers(0, MOST))))
    return (first, second) if draw(st.booleans()) else (second, first)


@pytest.mark.parametrize("run", SOUND, ids=lambda run: run.__name__)
@settings(max_examples=repeats(12), deadline=None)
@given(pair=neighbours(), seed=st.integers(0, 99))
def test_what_is_sound_is_not_reported(run: Run, pair: tuple[Rows, Rows], seed: int) -> None:
    report = compare(*pair, run, seed=seed)
    assert report.same and report.differences == (), report
    assert str(report) == repr(report) and str(report).startswith("nothing tells the twins apart")


@pytest.mark.parametrize("run", LEAKS, ids=lambda run: run.__name__)
@settings(max_examples=repeats(6), deadline=None)
@given(pair=neighbours(), seed=st.integers(0, 99))
def test_every_leak_is_reported_for_what_it_is(run: Run, pair: tuple[Rows, Rows], seed: int) -> None:
    report = compare(*pair, run, seed=seed)
    assert not report.same and any(LEAKS[run] in each for each in report.differences), report
    assert str(report).splitlines()[1:] == [f"- {each}" for each in report.differences]


@pytest.mark.parametrize("run", [*SOUND, *LEAKS], ids=lambda run: run.__name__)
def test_one_data_set_is_never_told_apart_from_itself(run: Run) -> None:
    for people in ((0, 1, VICTIM), (0, 1)):
        rows = Rows(people, tuple(range(len(people))))
        assert compare(rows, rows, run).same


def released(example: Example, x: Any, y: Any) -> Report:
    """The release of an example, as a grant makes it."""
    kind, size = example.mechanism, max(1, np.size(example.x))
    return compare(x, y, lambda exact, draws: draws(kind, example.sensitivity, lambda: exact, size=size))


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(EXAMPLES)])
def test_every_mechanism_has_a_rule_that_fits_its_price(name: str, example: Example) -> None:
    """The neighbours of its examples are near enough, for their sensitivity; where nothing is charged for, nothing may differ."""
    for x, y in ((example.x, example.y), (example.y, example.x)):
        assert released(example, x, y).same
    assert too_far(example.mechanism, Fraction(0), example.x, example.y), (
        "nothing may differ where nothing is charged for"
    )


def test_what_a_mechanism_declares_counts_where_no_sensitivity_is_said() -> None:
    for kind, near, far in (
        (dp.Exponential(1, sensitivity=3), [3, 0], [4, 0]),
        (dp.AboveThreshold(1, 5, sensitivity=3), [3, 0], [4, 0]),
        (dp.Quantiles(1, 0.5, 0, 1, cells=2, rows=3), [3, 0], [4, 0]),
    ):
        assert too_far(kind, None, [0, 0], near) == ""
        assert too_far(kind, None, [0, 0], far)


vectors = st.lists(st.integers(-5, 5), min_size=1, max_size=4)


@settings(max_examples=repeats(200), deadline=None)
@given(x=vectors, y=vectors, sensitivity=st.integers(0, 12))
def test_a_distance_is_too_far_as_soon_as_it_is_beyond_the_sensitivity(
    x: list[int], y: list[int], sensitivity: int
) -> None:
    size = min(len(x), len(y))
    x, y = x[:size], y[:size]
    l1 = sum(abs(a - b) for a, b in zip(x, y, strict=True))
    squared = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    allowed = Fraction(sensitivity)
    assert bool(too_far(dp.Geometric(1), allowed, x, y)) is (l1 > sensitivity)
    assert bool(too_far(RoundedGaussian(1), allowed, x, y)) is (squared > sensitivity**2)
    assert bool(too_far(dp.DiscreteGaussian(1), allowed, x, y)) is (squared > sensitivity**2)
    assert bool(too_far(dp.Laplace(1), allowed, [a / 2 for a in x], [b / 2 for b in y])) is (l1 > 2 * sensitivity)
    assert bool(too_far(dp.Gaussian(1), allowed, [a / 2 for a in x], [b / 2 for b in y])) is (
        squared > 4 * sensitivity**2
    )


class Unknown(Mechanism):
    """A mechanism that nobody has written a rule for."""

    def event(self, sensitivity: Any = 1) -> events.Event:
        return events.Pure(Fraction(1))

    def __call__(self, exact: Any, source: Any = None) -> Any:
        return 7

    def error(self, confidence: Any = 0.95) -> float:
        return 0.0


class Known(Unknown):
    """One that somebody has."""


def test_a_mechanism_without_a_rule_is_not_passed_over() -> None:
    kind = Unknown()
    report = compare(1, 2, lambda exact, draws: draws(kind, 1, lambda: exact))
    assert "register a rule for Unknown" in str(report)

    @too_far.register
    def differ_at_all(mechanism: Known, sensitivity: Any, first: Any, second: Any) -> str:
        return "" if first == second else "they differ"

    mine = Known()
    assert compare(1, 1, lambda exact, draws: draws(mine, 1, lambda: exact)).same
    assert "they differ" in str(compare(1, 2, lambda exact, draws: draws(mine, 1, lambda: exact)))


@pytest.mark.parametrize(
    "answer", [object(), lambda: 0, iter([]), {"a": [object()]}], ids=["object", "function", "iterator", "inside"]
)
def test_an_answer_that_cannot_be_compared_is_invalid(answer: Any) -> None:
    with pytest.raises(Invalid, match="cannot be compared byte for byte"):
        compare(0, 0, lambda *_: answer)


def test_what_ends_the_program_is_no_answer() -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(0, 0, interrupted)


def test_whoever_changes_what_was_released_changes_no_record() -> None:
    """The function adds to its array in place: the twin is handed what was released, not what became of it."""

    def added(exact: Any, draws: Any) -> Any:
        noisy = draws(dp.Geometric(3), 1, lambda: exact)
        exact += 100
        noisy += 100
        return noisy

    assert compare(np.array([1, 2]), np.array([1, 3]), added).same


def test_twins_do_not_see_noise_or_probabilities() -> None:
    """What the page says that they cannot show: noise that is next to nothing looks alike, and its price is what tells."""
    report = compare(5, 6, lambda exact, draws: draws(dp.Geometric(Fraction(1, 1000)), 1, lambda: exact))
    assert report.same
