"""Every planted bug of the accounting makes the law named here fail; without the bug the same law holds."""

from collections.abc import Callable
from fractions import Fraction as F

import pytest

from discreet.errors import Invalid
from discreet.privacy import loss
from discreet.privacy.events import (
    Approximate,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
)
from tests.mutants import Mutant, of_part
from tests.privacy import oracle
from tests.privacy import test_directions as directions
from tests.privacy import test_mixed as mixed

Law = Callable[[], object]
CASE = directions.CASES[0]


def one_costs(leaf: object, truth: oracle.Curve, epsilon: F = F(1, 3)) -> Law:
    """δ(ε) of one use, and of nothing else, is what the oracle says."""

    def law() -> None:
        assert oracle.relative_error(loss(leaf).delta(epsilon), truth(epsilon)) < 1e-8  # type: ignore[arg-type]

    return law


def ends_hold(times: int, delta: float) -> Law:
    """The certified ends of Laplace noise hold the truth of the closed form between them."""

    def law() -> None:
        spent, truth = times * loss(Laplace(2)), oracle.laplace(F(1, 2), times)
        low, high = spent.interval(delta)
        with oracle.ctx.workprec(oracle.PRECISION):
            assert truth(F(low)) >= oracle.ball(F(delta)) >= truth(F(high))

    return law


def open_failure_is_not_sampled() -> None:
    with pytest.raises(Invalid):
        loss(Sampled(F(1, 2), Approximate(1, F(1, 10))))


def failure_is_in_every_certificate() -> None:
    spent = 2 * loss(Approximate(1, F(1, 10)))
    assert not spent.certifies(2, F(1, 10))
    assert spent.certifies(2, F(19, 100))
    assert not (spent + loss(Gaussian(3))).certifies(20, F(1, 10))
    assert spent.delta(2) == pytest.approx(0.19, rel=1e-12)


def a_group_moves_farther() -> None:
    assert loss(Laplace(2)).group(2).pure_epsilon() == 1


def tiny_deltas_are_answered() -> None:
    try:
        mixed.test_extreme_questions_are_answered(Laplace(2), 3)
    except ValueError as raw:
        pytest.fail(f"a raw exception: {raw}")


def two_kinds_are_answered() -> None:
    try:
        mixed.test_ordinary_sums_of_two_kinds_are_answered()
    except ValueError as raw:
        pytest.fail(f"a raw exception: {raw}")


def lulls_are_passed() -> None:
    mixed.test_points_beside_a_gaussian_are_exact("1000", 100)


def repeats_add_up() -> None:
    assert loss(Repeated(Laplace(1), 3)).pure_epsilon() == 3


CAUGHT_BY: dict[str, Law] = {
    "epsilon-of-removing-only": lambda: directions.test_epsilon_is_that_of_adding(CASE),
    "delta-of-removing-only": lambda: directions.test_delta_is_that_of_adding(CASE),
    "interval-of-removing-only": lambda: directions.test_the_certified_interval_holds_the_epsilon_of_adding(CASE),
    "certificate-of-removing-only": lambda: directions.test_nothing_below_the_delta_of_adding_is_certified(CASE),
    "worse-direction-is-the-first": lambda: directions.test_delta_is_that_of_adding(CASE),
    "certificate-of-adding-for-both": lambda: directions.test_the_certified_delta_is_at_least_that_of_adding(CASE),
    "certifies-by-epsilon-alone": failure_is_in_every_certificate,
    "open-failure-not-counted": failure_is_in_every_certificate,
    "delta-below-floats-is-some": tiny_deltas_are_answered,
    "any-density-decays-for-good": lulls_are_passed,
    "gaussian-cover-too-steep": lulls_are_passed,
    "no-agreement-is-an-agreement": two_kinds_are_answered,
    "sampling-of-open-failure": open_failure_is_not_sampled,
    "sampled-rate-squared": lambda: directions.test_delta_is_that_of_adding(CASE),
    "sampled-part-at-full-rate-costs-nothing": one_costs(Sampled(F(1), Gaussian(1)), oracle.gaussian(F(1))),
    "laplace-of-half-the-loss": one_costs(Laplace(1), oracle.laplace(F(1), 1)),
    "gaussian-not-squared": one_costs(Gaussian(2), oracle.gaussian(F(1, 4))),
    "response-of-two-for-all": one_costs(RandomizedResponse(1), oracle.response(F(1)).delta),
    "pure-is-a-laplace": one_costs(Pure(1), oracle.response(F(1)).delta),
    "approximate-without-failure": failure_is_in_every_certificate,
    "geometric-end-forgotten": one_costs(DiscreteLaplace(2, 3), oracle.discrete_laplace(F(2), 3).delta),
    "uses-not-counted": repeats_add_up,
    "lower-end-above": ends_hold(20, 1e-6),
    "upper-end-below": ends_hold(20, 1e-6),
    "mass-above-the-last-cell-dropped": lambda: mixed.check_answers(
        20 * loss(Gaussian(1)) + 5 * loss(Laplace(1)), 1e-9
    ),
    "group-of-two-is-one": a_group_moves_farther,
}


def test_every_planted_bug_has_its_law() -> None:
    assert {mutant.name for mutant in of_part("privacy")} == set(CAUGHT_BY)
    assert len(CAUGHT_BY) >= 25


@pytest.mark.parametrize("mutant", of_part("privacy"), ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    law = CAUGHT_BY[mutant.name]
    law()
    with mutant.planted(), pytest.raises((AssertionError, pytest.fail.Exception)):
        law()
    law()
