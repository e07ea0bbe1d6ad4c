"""A user's program, as a type checker sees it: each `assert_type` is what a call gives, each `ignore` is what must be refused.

`tests/test_typed.py` checks it with mypy, and runs it. An `ignore` that nothing needs is an error too.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.mechanisms import QuantileIntervals, RoundedGaussian, bernoulli_mean, keys, sensitivity
from discreet.privacy import events

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ARRAY, FLOATS = np.array([1, 2, 3]), np.array([0.5, 1.5])


def numbers_of_any_kind_become_fractions() -> None:
    for scale in (10, 10.5, Fraction(1, 3), Decimal("0.1")):
        assert_type(dp.Laplace(scale).scale, Fraction)
        assert_type(dp.Gaussian(scale=scale).scale, Fraction)
        assert_type(dp.Geometric(scale).scale, Fraction)
        assert_type(dp.DiscreteGaussian(scale).scale, Fraction)
        assert_type(dp.Exponential(scale, sensitivity=2).sensitivity, Fraction)
        assert_type(dp.NoisyMax(scale).epsilon, Fraction)
        assert_type(dp.AboveThreshold(scale, threshold=5, sensitivity=2.5).sensitivity, int)
        assert_type(dp.RandomizedResponse(scale, k=3).epsilon, Fraction)
        assert_type(keys.LaplaceThreshold(scale, 12).scale, Fraction)
        assert_type(bernoulli_mean.BernoulliCount(100, scale).scale, Fraction)
        assert_type(events.Laplace(scale, sensitivity=2).sensitivity, Fraction)
        assert_type(events.Sampled(0.1, events.Gaussian(scale)).rate, Fraction)
    assert_type(dp.Quantiles(1, [0.25, 0.5], 0, 100).probabilities, tuple[Fraction, ...])
    assert_type(QuantileIntervals(1, 0.5, lower=0, upper=100).lower, Fraction)
    assert_type(dp.SignedResponse(0.1).eta, Fraction)
    assert_type(events.FiniteTable([[0.5, 0.5], [0.25, 0.75]]).rows, tuple[tuple[Fraction, ...], ...])
    assert_type(events.Composed([events.Pure(1)]).parts, tuple[events.Event, ...])
    assert_type(sensitivity.Sensitivity(1, 1, dp.Relation(dp.privacy.Adjacency.REPLACE)).l1, Fraction)
    assert_type(dp.Laplace(10).grid, dp.noise.Grid)
    assert_type(dp.privacy.filters.PureFilter(1, delta=1e-6).delta, Fraction)


def integers_get_integers_and_arrays_get_arrays() -> None:
    for noise in (dp.Geometric(3), dp.DiscreteGaussian(3), RoundedGaussian(3)):
        assert_type(noise(7), int)
        assert_type(noise(np.int64(7)), int)
        assert_type(noise([1, 2]), Ints)
        assert_type(noise(ARRAY), Ints)
    for real in (dp.Laplace(3), dp.Gaussian(3)):
        assert_type(real(7), float)
        assert_type(real(Decimal("0.5")), float)
        assert_type(real(np.float64(0.5)), float)
        assert_type(real([1, 2.5]), Floats)
        assert_type(real(FLOATS), Floats)
    for response in (dp.RandomizedResponse(1), dp.CoinToss()):
        assert_type(response(1), int)
        assert_type(response([0, 1, 1]), Ints)
        assert_type(response(np.array([0, 1])), Ints)


def choices_are_numbers_of_candidates() -> None:
    for choice in (dp.Exponential(1), dp.PermuteAndFlip(1), dp.NoisyMax(1)):
        assert_type(choice([3, 5, 4]), int)
        assert_type(choice([[3, 5, 4], [1, 2, 3]]), Ints)
        assert_type(choice(ARRAY), Any)
    assert_type(dp.Exponential(1)([Fraction(1, 2), 1]), int)
    assert_type(dp.AboveThreshold(1, 5)([3, 6, 4]), NDArray[np.bool_])
    quantiles = dp.Quantiles(1, 0.5, 0, 4, cells=5)
    assert_type(quantiles.counts([1, 2, 2]), Ints)
    assert_type(quantiles([1, 0, 4, 2, 0]), Floats)
    assert_type(keys.LaplaceThreshold(1, 5)([3, 7]).mask, NDArray[np.bool_])
    assert_type(bernoulli_mean.BernoulliMean(3, 1)([0, 1, 1]), float)
    assert_type(bernoulli_mean.BernoulliCount(3, 1)([0, 1, 1]), int)


def one_sample_is_an_int_and_more_are_an_array() -> None:
    assert_type(dp.noise.discrete_laplace(3), int)
    assert_type(dp.noise.discrete_laplace(3, 5), Ints)
    assert_type(dp.noise.geometric(0.5), int)
    assert_type(dp.noise.geometric(0.5, size=(2, 3)), Ints)
    assert_type(dp.noise.discrete_gaussian(3), int)
    assert_type(dp.noise.discrete_gaussian(3, 5), Ints)
    assert_type(dp.noise.discrete_gaussian(variance=2, size=5), Ints)
    assert_type(dp.noise.bernoulli(0.5), int)
    assert_type(dp.noise.bernoulli(dp.noise.odds(1), 5), Ints)
    assert_type(dp.noise.bernoulli_exp(1), int)
    assert_type(dp.noise.bernoulli_exp(1, 5), Ints)
    assert_type(dp.noise.uniform(6), int)
    assert_type(dp.noise.uniform(6, 5), Ints)
    assert_type(dp.noise.grid_laplace(3), float)
    assert_type(dp.noise.grid_laplace(3, 5), Floats)
    assert_type(dp.noise.grid_gaussian(3), float)
    assert_type(dp.noise.grid_gaussian(3, 5), Floats)
    assert_type(dp.noise.keep_or_replace(1, 3, 0.5), int)
    assert_type(dp.noise.keep_or_replace(np.array([0, 1]), 2, 0.5), Ints)


def losses_add_up() -> None:
    loss = dp.Laplace(10).loss()
    assert_type(loss + loss, dp.PrivacyLoss)
    assert_type(3 * loss, dp.PrivacyLoss)
    assert_type(sum([loss, loss], dp.PrivacyLoss()), dp.PrivacyLoss)
    assert_type(dp.PrivacyLoss.from_table([[0.75, 0.25], [0.25, 0.75]]).epsilon(), float)
    assert_type(dp.Gaussian.for_budget(1, 1e-6).scale, Fraction)


def counted(rows: list[int], draws: dp.audit.twins.Draws) -> int:
    with draws.measure(dp.Geometric(10).event()) as grant:
        assert_type(grant, dp.mechanisms.Grant)
    return int(draws(dp.Geometric(10), 1, lambda: len(rows)))


def twins_are_reported_on() -> None:
    report = dp.audit.twins.compare([1, 2], [1], counted)
    assert_type(report, dp.audit.twins.Report)
    assert_type(report.same, bool)
    assert_type(report.differences, tuple[str, ...])
    assert_type(report.first, dp.audit.twins.Seen)
    first, second = (dp.Curator({"t": {"id": ids}}, "id", epsilon=1, ledger=":memory:") for ids in ([1, 2], [1]))
    text = "SELECT COUNT(*) AS n FROM t"
    assert_type(dp.audit.twins.ask(first, second.policy, text, epsilon=1).same, bool)
    with dp.audit.twins.Curators(first, second) as pair:
        assert_type(pair.ask(text, within=5), dp.audit.twins.Report)
        assert_type(pair.run(lambda curator: curator.sql(text, epsilon=0.1)), dp.audit.twins.Report)


def parts_of_the_people_have_budgets() -> None:
    parts = {"table": "t", "column": "k", "budgets": {"1": {"epsilon": 1}}}
    keys_of = {"k": {"keys": [1, 2]}}
    curator = dp.Curator({"t": {"id": [1, 2], "k": [1, 2]}}, "id", keys_of, epsilon=1, parts=parts, ledger=":memory:")
    assert_type(curator.preview("SELECT COUNT(*) AS n FROM t", epsilon=1, part="1"), dp.Preview)
    assert_type(curator.explain("SELECT COUNT(*) AS n FROM t", epsilon=1, part="1"), str)


def what_is_wrong_is_refused() -> None:
    dp.Laplace()  # type: ignore[call-arg]
    dp.Laplace("10")  # type: ignore[arg-type]
    dp.Laplace(scal=10)  # type: ignore[call-arg]
    dp.Laplace(10).scale = Fraction(1)  # type: ignore[misc]
    dp.Geometric(10)("7")  # type: ignore[call-overload]
    dp.noise.discrete_laplace(3, "5")  # type: ignore[call-overload]
    dp.audit.twins.compare([1], [2], lambda rows: 0)  # type: ignore[misc, arg-type]
    dp.audit.twins.ask([1], [2], "SELECT COUNT(*) AS n FROM t")  # type: ignore[arg-type]
    dp.nosie  # type: ignore[attr-defined]  # noqa: B018


def answers_can_be_named(
    answer: dp.Answer, preview: dp.Preview, quote: dp.Quote, budget: dp.Budget, policy: dp.Policy
) -> None:
    """Whatever a user holds has a name in `dp`."""


def questions_are_asked_by_price_or_by_accuracy(clinic: dp.Curator, text: str) -> None:
    assert_type(clinic.sql(text, within=25, confidence=0.99), dp.Answer)
    assert_type(clinic.sql(text, within={"n": 25, "average": "2%"}), dp.Answer)
    assert_type(clinic.preview(text, within="5%"), dp.Preview)
    assert_type(clinic.quote(text, epsilons=[0.1, Fraction(1, 3), Decimal(1)]), dp.Quote)
    assert_type(clinic.table("visits").agg(n=dp.count()).quote(epsilons=[1]), dp.Quote)
    assert_type(clinic.sql(text, epsilon=1).cite(), str)
    clinic.quote(text, epsilons=1)  # type: ignore[arg-type]
    clinic.sql(text, within=["5%"])  # type: ignore[arg-type]
