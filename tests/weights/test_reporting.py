"""Reports on quality: what they say of a margin's error holds, free or paid for, and costs what it says."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product as combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.audit.twins import compare
from discreet.errors import Invalid
from discreet.mechanisms.measure import Promise, unmetered
from discreet.privacy import Unit, events, loss
from discreet.privacy.adjacency import cells_moved
from discreet.weights import ArrayTable, Learned, NoisyMarginal, independent, quality, report
from discreet.weights.checking import STEPS
from discreet.weights.domain import Mask
from discreet.weights.model import Model, Round, count
from discreet.weights.product import Block, Independent
from discreet.weights.reporting import MarginError, QualityReport, margins_of
from tests.scale import repeats
from tests.weights.synthesis import (
    ALPHA,
    RELATIONS,
    SMALL,
    Stopped,
    exact_counts,
    measured,
    stopped_after,
    table,
    unlooked,
)

ALL = margins_of(SMALL, 3)
OLD_IN_A = "age >= 10 AND ward = 'A'"


class Asked(ArrayTable):
    """Units with one condition that they know the cells of."""

    def cells(self, condition: str, attributes: Any) -> Mask:
        mask = np.zeros((3, 3, 1), np.bool_)
        mask[0, 1] = True
        return mask


def asked(source: ArrayTable, measure: Any = None) -> Asked:
    return Asked(source.domain, source._codes, measure or unmetered(), source.relation)


def learned_with(source: ArrayTable, delta: float, axes: tuple[int, ...] = (0, 1)) -> Learned:
    """A product of independents, with a larger marginal beside it that the model has not seen."""
    learned = independent(source, epsilon=1, delta=delta)
    rng, deviation = np.random.default_rng(), 4.0
    exact = exact_counts(source).marginal(axes)
    noise = rng.normal(0, deviation, exact.shape) if delta else rng.laplace(0, deviation / np.sqrt(2), exact.shape)
    more = NoisyMarginal(axes, exact + noise, deviation)
    return Learned(
        learned.model,
        (*learned.measured, more),
        learned.event,
        learned.promise,
        learned.relation,
        (Round(axes, 4.0, 9.0),),
    )


def error_in(model: Model, source: ArrayTable, axes: tuple[int, ...]) -> float:
    """The error of a model in a margin, as it is, in shares of the model's total."""
    return float(np.abs(model.marginal(axes) - exact_counts(source).marginal(axes)).sum()) / model.total


def bounds_hold() -> None:
    """Each of them at least 95 times in 100: a binomial test at α = 1e-6, which finds 85 of 100 with probability 0.99."""
    runs = repeats(120)
    for delta in (0, 1e-6):
        misses: dict[tuple[int, ...], int] = dict.fromkeys(ALL, 0)
        for seed in range(runs):
            source = table(400, seed=seed % 10)
            learned = learned_with(source, delta)
            for axes, margin in zip(ALL, report(learned, 3).margins, strict=True):
                true = error_in(learned.model, source, axes)
                assert (margin.high is None) == (2 in axes and len(axes) > 1)
                misses[axes] += not margin.low - 1e-12 <= true <= (margin.high if margin.high is not None else true)
        assert max(misses.values()) <= binom.ppf(1 - ALPHA, runs, 0.05)


def test_bounds_hold() -> None:
    bounds_hold()


def paid_intervals_hold() -> None:
    """Each of them 95 times in 100, and so do those of counts; at the same test."""
    runs = repeats(120)
    for delta in (0, 1e-6):
        misses: dict[Any, int] = {}
        for seed in range(runs):
            source = asked(table(400, seed=seed % 10))
            learned = independent(source, epsilon=1, delta=delta)
            found = quality(source, learned, 3, epsilon=2, delta=delta, conditions=[OLD_IN_A])
            for axes, margin in zip(ALL, found.margins, strict=True):
                assert (
                    margin.error is not None and margin.high is not None and margin.low <= margin.error <= margin.high
                )
                true = error_in(learned.model, source, axes)
                misses[axes] = misses.get(axes, 0) + (not margin.low - 1e-9 <= true <= margin.high + 1e-9)
            (counted,) = found.counts
            mask = source.cells(OLD_IN_A, ())
            true = float(exact_counts(source).marginal((0, 1))[0, 1])
            assert counted.model == count(learned.model, mask)
            misses[OLD_IN_A] = misses.get(OLD_IN_A, 0) + (abs(counted.measured - true) > counted.error)
        assert max(misses.values()) <= binom.ppf(1 - ALPHA, runs, 0.05)
        assert sum(misses.values()) > binom.ppf(ALPHA, runs * len(misses), 0.01)  # nor are they far too wide


def test_paid_intervals_hold() -> None:
    paid_intervals_hold()


def what_is_looked_at_moves_as_little_as_it_is_made_for() -> None:
    """Over all tables of up to two units and all neighbours, with any model: by twins, with L1 and with L2 noise."""
    cells = [list(cell) for cell in combinations(*(range(0, size, size - 1) for size in SMALL.shape))]
    for relation in RELATIONS:
        spread = independent(table(30, relation=relation), epsilon=1)
        blocks = [Block((axis,), np.eye(size)[0]) for axis, size in enumerate(SMALL.shape)]
        # everybody in one cell: whoever leaves it, and enters another, makes two differences larger
        packed = replace(spread, model=Independent(SMALL, 5.0, tuple(blocks)))
        for learned, delta in combinations((spread, packed), (0, 1e-3)):

            def run(codes: Any, draws: Any, delta: float = delta, learned: Learned = learned) -> Any:
                codes = np.array(codes, int).reshape(-1, 3)
                source = Asked(SMALL, codes, draws.measure, learned.relation)
                found = quality(source, learned, [("ward",), ("age", "ward")], epsilon=1, delta=delta, conditions=["x"])
                return found.as_data()

            for first in cells:
                rows, others = [cells[0], first], [[cells[0]]]
                if cells_moved(relation) == 2:
                    others = [[cells[0], other] for other in cells]
                assert not [each for other in others for each in compare(rows, other, run).differences]


def test_what_is_looked_at_moves_as_little_as_it_is_made_for() -> None:
    what_is_looked_at_moves_as_little_as_it_is_made_for()


def a_check_costs_its_price() -> None:
    """What is charged is one vector, certified for the price; its sensitivity is that of all margins and counts together."""
    for relation in RELATIONS:
        for epsilon, delta in ((1, 0), (0.5, 1e-9)):
            measure = unmetered()
            source = asked(table(50, relation=relation), measure)
            learned = independent(table(50, relation=relation), epsilon=1)
            found = quality(source, learned, 2, epsilon=epsilon, delta=delta, conditions=["x"], key="q")
            assert found.paid == Promise(Fraction(str(epsilon)), Fraction(str(delta)))
            ((leaf, times),) = measure.spent.terms
            assert times == 1 and loss(leaf).certifies(*found.paid)
            moved = cells_moved(relation)
            size = STEPS * (6 * moved + 1) if not delta else STEPS * (6 * moved**2 + 1) ** 0.5
            assert isinstance(leaf, events.DiscreteLaplace | events.Gaussian)
            assert float(leaf.sensitivity) == pytest.approx(size)
            assert measure.spent.epsilon(delta) == pytest.approx(epsilon, rel=1e-6)


def test_a_check_costs_its_price() -> None:
    a_check_costs_its_price()


def test_a_check_that_was_stopped_goes_on_and_one_that_ended_comes_back() -> None:
    measure, source = unmetered(), table(80)
    learned = independent(source, epsilon=1)
    with pytest.raises(Stopped):
        quality(measured(source, stopped_after(0, measure)), learned, epsilon=1, key="q")
    first = quality(measured(source, measure), learned, epsilon=1, key="q")
    again = quality(unlooked(source, measure), learned, epsilon=1, key="q")
    assert first == again and measure.spent.epsilon() == 1


def the_least_noise_tells() -> None:
    """Of several measurements of a margin the most precise one is taken, whatever they say: also a part of a larger one."""
    source = table(400)
    model = independent(source, epsilon=1).model
    exact = exact_counts(source)
    coarse = NoisyMarginal((1,), exact.marginal((1,)) + 100.0, 9.0)
    fine = NoisyMarginal((2, 1), exact.marginal((2, 1)).astype(float), 1.0)
    for several in ((coarse, fine), (fine, coarse)):
        learned = Learned(model, several, events.Composed(()), Promise(Fraction(1), Fraction(0)), source.relation)
        found = report(learned, [("age",), ("age", "sex"), ("ward",)])
        for margin, axes in zip(found.margins[:2], ((1,), (1, 2)), strict=True):
            assert margin.high is not None
            assert margin.low <= error_in(model, source, axes) <= margin.high < 100 / model.total + margin.low
        assert found.margins[2] == MarginError(("ward",), 3, 0.0, None)
        assert found.attributes[1].measured == tuple(map(float, exact.marginal((1,))))
        assert found.attributes[0].measured is None


def test_the_least_noise_tells() -> None:
    the_least_noise_tells()


def sums_of_what_goes_together_are_bounded() -> None:
    """A marginal whose cells all have one noise: what it sums up to has as many times that noise, and the bound knows."""
    source = table(400)
    model = independent(source, epsilon=1).model
    exact = exact_counts(source).marginal((0, 1, 2)).astype(float)
    rng, misses, runs = np.random.default_rng(3), 0, repeats(200)
    for _ in range(runs):
        alike = NoisyMarginal((0, 1, 2), exact + rng.normal(0, 3.0), 3.0, 3.0 * np.sqrt(exact.size))
        price = Promise(Fraction(1), Fraction(1, 100))
        learned = Learned(model, (alike,), events.Composed(()), price, source.relation)
        found = report(learned, [("age",)])
        (margin,) = found.margins
        assert margin.high is not None and found.attributes[1].measured is not None
        near = abs(found.attributes[1].measured[0] - exact.sum(axis=(0, 2))[0]) <= found.attributes[1].error
        misses += not (near and margin.low <= error_in(model, source, (1,)) <= margin.high)
    assert misses <= binom.ppf(1 - ALPHA, runs, 0.05)


def test_sums_of_what_goes_together_are_bounded() -> None:
    sums_of_what_goes_together_are_bounded()


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        (0, "workload must be"),
        ([("ward", "nothing")], "there is no attribute 'nothing'"),
        (["ward"], "a margin must be a tuple"),
        ([()], "a margin must be a tuple"),
        ([5], "a margin must be a tuple"),
        ([("ward", "ward")], "an attribute twice"),
    ],
)
def test_what_is_no_margin_is_refused_before_anything_is_spent(workload: Any, words: str) -> None:
    measure, source = unmetered(), table(20)
    learned = independent(source, epsilon=1)
    for run in (
        lambda: report(learned, workload),
        lambda: quality(measured(source, measure), learned, workload, epsilon=1),
    ):
        with pytest.raises(Invalid, match=words):
            run()
    assert not measure.spent.terms


def test_nothing_to_measure_and_models_of_nobody_are_refused() -> None:
    measure, source = unmetered(), table(20)
    learned = independent(source, epsilon=50)
    with pytest.raises(Invalid, match="nothing to measure"):
        quality(measured(source, measure), learned, [], epsilon=1)
    nobody = Learned(
        type(learned.model)(SMALL, 0.0, learned.model.blocks),  # type: ignore[attr-defined, call-arg]
        learned.measured,
        learned.event,
        learned.promise,
        learned.relation,
    )
    with pytest.raises(Invalid, match="of nobody"):
        quality(measured(source, measure), nobody, epsilon=1)
    assert all(margin.high is None for margin in report(nobody).margins) and not measure.spent.terms


def reports() -> list[QualityReport]:
    """A free one and one that was paid for."""
    source = asked(table(300))
    learned = learned_with(source, 1e-6)
    return [report(learned), quality(source, learned, epsilon=1, conditions=["ward = '<b>'\x1b[31m"])]


def a_report_is_data_and_words() -> None:
    free, paid = reports()
    for found in (free, paid):
        data = json.loads(json.dumps(found.as_data()))
        assert [each["margin"] for each in data["margins"]] == [list(each.names) for each in found.margins]
        assert data["cells"] == 18 and data["relation"] == "add-remove one row" and found.units == "rows"
        text = str(found)
        assert "\x1b" not in text and f"about {found.total:,.0f} rows by ward, age, sex: 18 cells" in text
        assert "The model cost ε = 1, δ = 1e-06, where neighbours are made by adding or removing one row" in text
    assert (
        "They cost nothing more" in str(free)
        and "at most" in str(free)
        and "nothing was measured that tells" in str(free)
    )
    assert "That cost ε = 1." in str(paid) and "condition" in str(paid)
    assert free.margin("age", "ward") == free.margin("ward", "age") is not None and free.margin("nothing") is None
    largest = [each.error for each in paid.margins]
    worst = paid.margins[largest.index(max(largest))]  # type: ignore[type-var]
    assert str(paid).splitlines()[3].startswith(", ".join(worst.names))


def test_a_report_is_data_and_words() -> None:
    a_report_is_data_and_words()


def test_people_are_called_people() -> None:
    relation = type(RELATIONS[1])(RELATIONS[1].adjacency, Unit.PERSON)
    text = str(report(independent(table(300, relation=relation), epsilon=1)))
    assert "people by ward" in text and "made by replacing one person" in text
