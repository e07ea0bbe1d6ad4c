"""Certified ends: the truth is never outside of them, they are close where it matters, and planted faults are caught."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.privacy.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    FiniteTable,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
    ZeroConcentrated,
)
from discreet.privacy.loss import loss
from discreet.privacy.numeric import certified
from discreet.privacy.numeric.certified import Cells, Part
from discreet.privacy.numeric.direction import Direction
from discreet.privacy.numeric.side import Side
from tests.privacy import oracle
from tests.privacy.cases import (
    HUNDRED_LAPLACE,
    SAMPLED,
    SHARPEST,
    Case,
    approximate,
    first,
    laplace,
    response,
    sampled_gaussian,
    side_of,
)
from tests.scale import repeats

F = Fraction
NEAR = 1e-9  # of `epsilon` and `delta`
DELTAS = [F("1e-6"), F("1e-30"), F("1e-2"), F("1e-15")]


def wrong(case: Case, delta: Fraction) -> str:
    """What is wrong with the ends at this δ by the oracle, or nothing."""
    lower, upper = loss(case.event).interval(delta)
    if not 0 <= lower <= upper:
        return f"{lower} and {upper} are no ends"
    if upper == inf:
        return "" if side_of(case.curve, F(10**6), delta) > 0 else "the upper end is infinite, and ε is not"
    if side_of(case.curve, upper, delta) > 0:
        return f"ε is above the upper end {upper}"
    if lower > 0 and side_of(case.curve, lower, delta) < 0:
        return f"ε is below the lower end {lower}"
    return ""


def close(lower: float, epsilon: float, upper: float) -> bool:
    """Whether each end is within 1e-4 of ε."""
    return max(upper - epsilon, epsilon - lower) <= 1e-4 * epsilon


@pytest.mark.parametrize("case", first(SHARPEST), ids=str)
def test_the_truth_lies_between_the_ends(case: Case) -> None:
    for delta in DELTAS:
        assert not wrong(case, delta), delta


@pytest.mark.parametrize("case", first(20), ids=str)
def test_the_near_exact_value_lies_between_the_ends(case: Case) -> None:
    for delta in DELTAS[: repeats(2)]:
        lower, upper = loss(case.event).interval(delta)
        assert lower * (1 - NEAR) <= loss(case.event).epsilon(delta) <= upper * (1 + NEAR), delta


@pytest.mark.parametrize(("q", "sigma", "k", "epsilon", "delta"), SAMPLED)
def test_the_ends_hold_for_several_steps_of_the_sampled_gaussian(
    q: str, sigma: str, k: int, epsilon: str, delta: str
) -> None:
    lower, upper = (k * loss(Sampled(F(q), Gaussian(F(sigma))))).interval(Decimal(delta))
    assert F(lower) <= F(epsilon) <= F(upper)
    assert upper - lower <= 1e-3 * upper


def test_the_ends_hold_for_a_hundred_laplace_releases() -> None:
    for epsilon, delta in HUNDRED_LAPLACE[1:]:
        lower, upper = (100 * loss(Laplace(10))).interval(Decimal(delta))
        assert F(lower) <= F(epsilon) <= F(upper)
        assert close(lower, float(F(epsilon)), upper)


# What people ask for most; the sharpest first.
COMMON: list[tuple[Event, str]] = [
    (Repeated(Sampled(F("0.01"), Gaussian(1)), 10_000), "1e-5"),
    (Repeated(Sampled(F("0.01"), Gaussian(1)), 10_000), "1e-15"),
    (Repeated(Sampled(F("0.001"), Gaussian(1)), 100_000), "1e-5"),
    (Repeated(Sampled(F("0.001"), Gaussian(1)), 100_000), "1e-12"),
    (Repeated(Sampled(F("0.004"), Gaussian(F("0.8"))), 15_000), "1e-6"),
    (Gaussian(4), "1e-5"),
    (Repeated(Gaussian(50), 1000), "1e-6"),
    (Repeated(Laplace(10), 10_000), "1e-6"),
    (Repeated(RandomizedResponse(F("0.1")), 10_000), "1e-6"),
    (Repeated(DiscreteLaplace(10), 100), "1e-6"),
    (Repeated(DiscreteGaussian(10), 100), "1e-6"),
    (Composed((Repeated(Laplace(10), 50), Repeated(Gaussian(20), 100))), "1e-6"),
    (Composed((Approximate(F("0.1"), F("1e-8")), Repeated(Laplace(10), 50))), "1e-6"),
    (Repeated(Sampled(F("0.2"), Gaussian(5)), 1000), "1e-5"),
    (Repeated(DiscreteGaussian(F("0.3")), 10), "1e-6"),
    (Repeated(RandomizedResponse(3, 1000), 100), "1e-6"),
    (Repeated(Sampled(F("0.1"), Laplace(1)), 500), "1e-6"),
]


@pytest.mark.parametrize(("event", "delta"), COMMON[: repeats(13)], ids=lambda value: str(value)[:60])
def test_the_ends_of_common_losses_are_close(event: Event, delta: str) -> None:
    spent = loss(event)
    lower, upper = spent.interval(F(delta))
    assert lower < spent.epsilon(F(delta)) < upper
    assert close(lower, spent.epsilon(F(delta)), upper)


@pytest.mark.parametrize(
    ("event", "delta"),
    [(RandomizedResponse(1), "1e-6"), (DiscreteLaplace(10), "1e-6"), (Repeated(DiscreteLaplace(3, 5), 10), "1e-6")],
    ids=["response", "geometric", "ten geometric"],
)
def test_the_ends_of_few_losses_on_a_lattice_are_close(event: Event, delta: str) -> None:
    spent = loss(event)
    lower, upper = spent.interval(F(delta))
    assert close(lower, spent.epsilon(F(delta)), upper)


# The corners.

TABLE = FiniteTable(((F(1, 2), F(1, 3), F(1, 6)), (F(1, 5), F(2, 5), F(2, 5))))


@pytest.mark.parametrize(
    ("event", "pure"),
    [
        (Laplace(F(1, 3)), F(3)),
        (Repeated(DiscreteLaplace(3, 4), 7), F(28, 3)),
        (Repeated(RandomizedResponse(F("0.1"), 5), 70), F(7)),
        (Composed((Pure(F("0.3")), Laplace(7))), F("0.3") + F(1, 7)),
        (Gaussian(2), None),
        (DiscreteGaussian(2), None),
        (Sampled(F("0.1"), Gaussian(1)), None),
        (Composed((Pure(1), Gaussian(1))), None),
        (Composed((Pure(1), Approximate(1, F("1e-300")))), None),
        (Composed(()), F(0)),
    ],
    ids=str,
)
def test_without_delta_the_ends_are_pure_privacy(event: Event, pure: Fraction | None) -> None:
    lower, upper = loss(event).interval(0)
    assert (lower, upper) == loss(event).interval()
    if pure is None:
        assert lower == upper == inf
    else:
        assert F(lower) <= pure <= F(upper)
        assert upper - lower <= 1e-11 * upper


def test_without_delta_the_ends_of_a_table_hold_its_largest_ratio() -> None:
    lower, upper = (3 * loss(TABLE)).interval(0)
    with oracle.ctx.workprec(oracle.PRECISION):
        truth = 3 * oracle.ball(F(5, 2)).log()
        assert oracle.ball(F(lower)) <= truth <= oracle.ball(F(upper))
    assert upper - lower <= 1e-11 * upper


def test_at_delta_one_nothing_is_promised() -> None:
    for event in (Gaussian(2), Laplace(1), Approximate(1, F(1, 2)), Approximate(1, 1), TABLE):
        assert loss(event).interval(1) == (0, 0)


def test_a_delta_above_that_of_zero_costs_nothing() -> None:
    for event in (Gaussian(10), Laplace(10), RandomizedResponse(F("0.1")), Sampled(F("0.1"), Gaussian(2))):
        assert loss(event).interval(F("0.3")) == (0, 0)


@pytest.mark.parametrize("k", [1, 3, 100])
def test_what_fails_openly_counts_in_full(k: int) -> None:
    spent = k * loss(Approximate(F("0.5"), F("1e-6")))
    failure = 1 - (1 - F("1e-6")) ** k
    assert spent.interval(failure * (1 - F("1e-9"))) == (inf, inf)
    lower, upper = spent.interval(failure)
    assert F(lower) <= k * F("0.5") <= F(upper) <= k * F("0.5") * (1 + F("1e-11"))
    lower, upper = spent.interval(failure * (1 + F("1e-9")))
    assert upper <= k * 0.5 * (1 + 1e-11)


def test_what_is_known_by_zcdp_alone_has_no_lower_end() -> None:
    for event in (ZeroConcentrated(F("0.1")), Composed((Laplace(1), ZeroConcentrated(F("1e-6"))))):
        with pytest.raises(Invalid, match="zCDP"):
            loss(event).interval(1e-6)


@pytest.mark.parametrize("delta", [-1e-9, 1.1, float("nan"), "0.1", None])
def test_a_bad_delta_is_refused_by_name(delta: object) -> None:
    with pytest.raises(Invalid, match="delta"):
        loss(Laplace(1)).interval(delta)  # type: ignore[arg-type]


# Bounds at an ε.


@pytest.mark.parametrize("case", first(SHARPEST), ids=str)
def test_a_certified_delta_is_never_below_the_truth_nor_far_above(case: Case) -> None:
    """Within a hundredth; at ε = 0, where a lattice serves least, within half."""
    spent = loss(case.event)
    far = min(0.99 * float(case.largest), 2 * spent.epsilon(F("2e-6")))
    for share in (0, 0.3, 1):
        epsilon = F(far * share).limit_denominator(10**6)
        truth, log_above = case.curve(epsilon), spent.log_delta_above(epsilon)
        with oracle.ctx.workprec(oracle.PRECISION):
            assert not oracle.arb(nextafter(log_above, inf)).exp() < truth, epsilon  # the logarithm is a float
            less, more = (F(float(truth * factor)) for factor in (1 - 1e-7, 1.01 if epsilon else 1.5))
        if less > F("1e-20"):
            assert not spent.certifies(epsilon, less), epsilon
            assert more > 1 or spent.certifies(epsilon, more), epsilon


def test_pure_privacy_is_certified_exactly() -> None:
    spent = 10 * loss(Laplace(10)) + loss(Approximate(F("0.5"), F("1e-6")))
    assert spent.certifies(F("1.5"), F("1e-6"))
    assert not spent.certifies(F("1.5"), F("0.999999e-6"))
    assert not spent.certifies(F("1.499999"), F("1e-6"))
    assert loss(Laplace(10)).certifies(F("0.1"), 0)
    assert not loss(Laplace(10)).certifies(F("0.0999999999999"), 0)
    assert not loss(Gaussian(10**6)).certifies(100, 0)


def test_zcdp_alone_is_certified_by_its_conversion() -> None:
    spent = loss(ZeroConcentrated(F("0.01")))
    least = oracle.least_conversion(F("0.01"), F("0.5"))
    assert spent.certifies(F("0.5"), F(least * (1 + 1e-6)))
    assert not spent.certifies(F("0.5"), F(least * (1 - 1e-6)))


# Planted faults: each makes the first test above fail.

SMOOTH, FEW = sampled_gaussian("0.5", "1"), laplace("1", 3)


def losses_half_a_cell_too_low(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every loss is split between the ends of its cell as if it were lower."""
    points = Cells._points

    def shifted(self: Cells, side: Side) -> tuple[np.ndarray, np.ndarray]:
        losses, log_p = points(self, side)
        return losses - self.step / 2, log_p

    monkeypatch.setattr(Cells, "_points", shifted)


def what_lies_above_the_last_cell_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a large cut-off, which is sound as long as it is counted."""
    above = Cells.above

    def dropped(self: Cells) -> Part:
        part = above(self)
        return Part(part.offset, part.first, part.p)

    monkeypatch.setattr(certified, "CUT_OFF", 0.3)
    assert not wrong(SMOOTH, F("1e-6"))
    monkeypatch.setattr(Cells, "above", dropped)


def the_lower_lattice_is_the_upper_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cells, "_masses_below", lambda self: self.masses)


def open_failure_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Direction, "failure", F(0))


def one_use_is_priced_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Direction.__init__

    def forgetful(self: Direction, parts: Iterable[tuple[Side, int]], rho: Fraction) -> None:
        make(self, [(side, 1) for side, _ in parts], rho)

    monkeypatch.setattr(Direction, "__init__", forgetful)


@pytest.mark.parametrize(
    ("plant", "case", "delta"),
    [
        (losses_half_a_cell_too_low, SMOOTH, "1e-6"),
        (losses_half_a_cell_too_low, FEW, "1e-2"),
        (what_lies_above_the_last_cell_is_dropped, SMOOTH, "1e-6"),
        (the_lower_lattice_is_the_upper_one, SMOOTH, "1e-6"),
        (the_lower_lattice_is_the_upper_one, FEW, "1e-2"),
        (open_failure_is_forgotten, approximate("2", "0.001", 3), "1e-2"),
        (one_use_is_priced_for_all, response("1", 100), "1e-6"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_planted_fault_is_caught(
    plant: Callable[[pytest.MonkeyPatch], None], case: Case, delta: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not wrong(case, F(delta))
    plant(monkeypatch)
    assert wrong(case, F(delta))
