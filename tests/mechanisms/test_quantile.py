"""Quantiles: the sensitivity of the utility, ε of whole releases by running the code on every choice, cover of errors and intervals.

False alarms: 1e-6 for each statistical test. Power: `fits` sees at 5,000 draws a share of a fifth that is off by a quarter; an interval
that covers 60 % where it says 95 % is seen at 100 draws; few rows are counted through exactly.
"""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from math import exp, log, sqrt
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import exp_bounds
from discreet.mechanisms import quantile
from discreet.mechanisms.quantile import QuantileIntervals, Quantiles, Ranked
from discreet.noise import SecureBits, Tape
from discreet.privacy import events
from tests.mechanisms.test_exponential import Nothing, fits
from tests.noise.counting import Counting
from tests.noise.scripted import Scripted
from tests.scale import repeats

ALPHA = 1e-6
TIGHT = 1 + Fraction(1, 10**9)
HALF = Fraction(1, 2)
QUARTERS = (Fraction(1, 4), HALF, Fraction(3, 4))
ONES = range(2)

Ints = NDArray[np.int64]
Counts = tuple[int, ...]


def halves(parts: int) -> "mock._patch[int]":
    """Cells that are cut have this many parts, so that all choices can be run."""
    return mock.patch.multiple(quantile, LEAST_PARTS=parts, MOST_PARTS=parts)  # type: ignore[return-value]


def more(counts: Counts, rows: int) -> Iterator[Counts]:
    """The neighbours with `rows` rows more, wherever they are."""
    for cells in itertools.combinations_with_replacement(range(len(counts)), rows):
        yield tuple(count + cells.count(at) for at, count in enumerate(counts))


def distance(counts: Counts, q: Fraction, cell: int) -> Fraction:
    """From q·n to the ranks of a cell, by definition."""
    target, below = q * sum(counts), sum(counts[:cell])
    return max(Fraction(0), below - target, target - below - counts[cell])


def utility_has_its_sensitivity() -> None:
    """One row more changes the distance of no place by more than max(q, 1−q), in parts of cells too; somewhere by just that."""
    for q in (Fraction(0), Fraction(1, 10), HALF, Fraction(2, 3), Fraction(1)):
        most = Fraction(0)
        for parts in (1, 2, 3):
            for x in itertools.product(range(4), repeat=3):
                for y in more(x, 1):
                    gaps = [
                        quantile._gaps(*quantile._ranks(np.array(c), parts), q.numerator * sum(c), q.denominator)
                        for c in (x, y)
                    ]
                    most = max(most, Fraction(int(np.abs(gaps[0] - gaps[1]).max()), q.denominator))
        assert most == max(q, 1 - q)


def test_the_utility_has_its_sensitivity() -> None:
    utility_has_its_sensitivity()


def test_the_utility_is_the_distance_by_definition() -> None:
    for q in (Fraction(1, 10), HALF, Fraction(2, 3)):
        for counts in itertools.product(range(4), repeat=3):
            n = sum(counts)
            gaps = quantile._gaps(*quantile._ranks(np.array(counts), 1), q.numerator * n, q.denominator)
            assert [Fraction(int(gap), q.denominator) for gap in gaps] == [distance(counts, q, c) for c in range(3)]


def cuts_are_stable() -> None:
    """One row more in the cell that is cut is one more on one side and none on the other; all rows are on one side."""
    for parts in (1, 2, 5, 256):
        for part in {0, parts // 3, parts - 1}:
            share = Fraction(2 * part + 1, 2 * parts)
            for rows in range(40):
                sides = [quantile._cut(np.array([4, n, 7]), 1, share) for n in (rows, rows + 1)]
                (left, right), (left_more, right_more) = sides
                assert left[1] + right[0] == rows and left[0] == 4 and right[1] == 7
                assert sorted([left_more[1] - left[1], right_more[0] - right[0]]) == [0, 1]


def test_cuts_are_stable() -> None:
    cuts_are_stable()


class Choose(Exception):
    def __init__(self, chances: list[Fraction]) -> None:
        super().__init__()
        self.chances = chances


@cache
def weight(x: Fraction) -> Fraction:
    return exp_bounds(-x, 100)[0]


def on_every_choice(run: Callable[[], object]) -> dict[object, Fraction]:
    """The probability of every release: the code run with each place that it may choose, by the weights that it asks for."""
    found: dict[object, Fraction] = {}
    open_: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while open_:
        chosen, chance = open_.pop()
        left = list(chosen)

        def pick(gaps: Ints, rate: Fraction, source: object, left: list[int] = left) -> int:
            if left:
                return left.pop(0)
            weights = [weight(rate * int(gap)) for gap in gaps]
            total = sum(weights)
            raise Choose([each / total for each in weights])

        try:
            with mock.patch.object(quantile, "_pick", pick):
                result = run()
        except Choose as choose:
            open_ += [((*chosen, at), chance * share) for at, share in enumerate(choose.chances)]
        else:
            found[result] = found.get(result, Fraction(0)) + Fraction(int(chance * 2**200), 2**200)
    return found


def law(mechanism: Ranked, counts: Counts) -> dict[object, Fraction]:
    return on_every_choice(lambda: tuple(np.ravel(mechanism(list(counts), Tape(0))).tolist()))


def keeps_epsilon(mechanism: Ranked, rows: int = 1, span: int = 3) -> float:
    """Over all counts below `span` and their neighbours, no release is more than e^ε times as likely. The largest ratio."""
    known, most = cache(lambda counts: law(mechanism, counts)), Fraction(1)
    for x in itertools.product(range(span), repeat=mechanism.cells):
        for y in more(x, rows):
            p, q = known(x), known(y)
            assert set(p) == set(q)
            most = max(most, *(max(p[out] / q[out], q[out] / p[out]) for out in p))
    assert most <= exp_bounds(mechanism.epsilon)[1] * TIGHT, f"a ratio of {float(most)}, e^ε = {exp(mechanism.epsilon)}"
    return float(most)


@pytest.mark.parametrize("q", [Fraction(1, 10), HALF, Fraction(1)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(4)])
def test_one_quantile_keeps_epsilon(q: Fraction, epsilon: Fraction) -> None:
    assert keeps_epsilon(Quantiles(epsilon, (q,), Fraction(0), Fraction(1), cells=3), span=4) > exp(epsilon / 3)


def test_the_loss_of_one_quantile_has_bounded_range() -> None:
    """The largest ratio over the smallest is at most e^ε, which is what makes it ε²/8-zCDP."""
    mechanism = Quantiles(Fraction(2), (Fraction(1, 3),), Fraction(0), Fraction(1), cells=4)
    known = cache(lambda counts: law(mechanism, counts))
    for x in itertools.product(range(3), repeat=4):
        for y in more(x, 1):
            ratios = [known(x)[out] / known(y)[out] for out in known(x)]
            assert max(ratios) / min(ratios) <= exp_bounds(mechanism.epsilon)[1] * TIGHT


def several_keep_epsilon() -> None:
    """Two levels, with cells cut in two: the rows of one level cost once, also where two of them belong to one unit."""
    with halves(2):
        three = Quantiles(Fraction(2), QUARTERS, Fraction(0), Fraction(1), cells=2)
        assert keeps_epsilon(three, span=4) > exp(1)
        keeps_epsilon(Quantiles(Fraction(2), QUARTERS, Fraction(0), Fraction(1), cells=2, rows=2), rows=2)
        keeps_epsilon(Quantiles(Fraction(1), QUARTERS[:2], Fraction(0), Fraction(1), cells=3), span=2)


def test_several_quantiles_keep_epsilon() -> None:
    several_keep_epsilon()


def test_a_unit_of_two_rows_keeps_epsilon() -> None:
    keeps_epsilon(Quantiles(Fraction(2), (HALF,), Fraction(0), Fraction(1), cells=3, rows=2), rows=2)


def intervals_keep_epsilon() -> None:
    for counts_below in (3, 2):
        mechanism = QuantileIntervals(Fraction(30), (Fraction(1, 4),), Fraction(0), Fraction(1), cells=counts_below)
        keeps_epsilon(mechanism, span=4)
    with mock.patch.object(QuantileIntervals, "margin", lambda self, q: 1):  # near enough for rows to matter
        most = keeps_epsilon(QuantileIntervals(Fraction(3), (HALF,), Fraction(0), Fraction(1), cells=3))
    assert most > exp(1)


def test_intervals_keep_epsilon() -> None:
    intervals_keep_epsilon()


def probabilities_are_those_of_all_choices() -> None:
    with halves(2):
        for mechanism, counts in (
            (Quantiles(Fraction(2), QUARTERS, Fraction(0), Fraction(1), cells=3), (3, 0, 2)),
            (Quantiles(Fraction(1), (HALF,), Fraction(-5), Fraction(5), cells=4), (1, 7, 0, 2)),
            (Quantiles(Fraction(3), (Fraction(1, 10), HALF), Fraction(0), Fraction(1), cells=3, rows=2), (9, 0, 9)),
        ):
            for released, chance in law(mechanism, counts).items():
                assert mechanism.probability(released, counts) == pytest.approx(float(chance), rel=1e-9)
            impossible = [float(mechanism.upper), *[float(mechanism.lower)] * (len(mechanism.probabilities) - 1)]
            if len(impossible) > 1:
                assert mechanism.probability(impossible, counts) == 0


def test_probabilities_are_those_of_all_choices() -> None:
    probabilities_are_those_of_all_choices()


def picks_have_exact_shares() -> None:
    """Words just below and just above the edges of the shares of places choose what the formula says."""
    gaps, rate = np.array([4, 0, 1, 7, 0]), Fraction(2, 5)
    weights = [weight(rate * int(gap)) for gap in gaps]
    for at, edge in enumerate(list(itertools.accumulate(each / sum(weights) for each in weights))[:-1]):
        for move in ONES:
            word, rest = divmod(int(edge * (1 << 96)) + 8 * move - 4, 1 << 32)
            source = Scripted([np.array([word], np.uint64)], integers=[rest << 32])
            assert quantile._pick(gaps, rate, source) == at + move


def test_picks_have_exact_shares() -> None:
    picks_have_exact_shares()


@pytest.mark.parametrize(
    ("mechanism", "counts"),
    [
        (Quantiles(Fraction(1), (HALF,), Fraction(0), Fraction(1), cells=8), [3, 0, 1, 5, 0, 0, 2, 4]),
        (
            Quantiles(Fraction(1), (Fraction(9, 10),), Fraction(0), Fraction(1), cells=8, rows=3),
            [9, 9, 1, 5, 0, 0, 2, 4],
        ),
        (Quantiles(Fraction(4), QUARTERS, Fraction(0), Fraction(1), cells=3), [2, 5, 1]),
    ],
)
def test_quantiles_are_drawn_as_they_say(mechanism: Quantiles, counts: list[int]) -> None:
    source, several = SecureBits(), len(mechanism.probabilities) > 1
    with halves(4):
        outcomes = list(itertools.combinations_with_replacement(range(mechanism.cells), len(mechanism.probabilities)))
        step = mechanism.cells - 1
        chances = [mechanism.probability([cell / step for cell in each], counts) for each in outcomes]
        number = {each: at for at, each in enumerate(outcomes)}
        drawn = [
            number[tuple(np.rint(mechanism(counts, source) * step))]
            for _ in range(repeats(3_000 if several else 5_000))
        ]
    fits(np.bincount(drawn, minlength=len(outcomes)), chances)


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1, 50])
@pytest.mark.parametrize("n", [0, 1, 2_982, 2_983, 10**7, 1 << 42])
def test_equal_rows_are_served_at_any_number_and_epsilon(n: int, epsilon: float) -> None:
    counts = np.zeros(1001, np.int64)
    counts[500] = n
    for probabilities in (HALF, [Fraction(1, 10), HALF, Fraction(9, 10)], [0, 1]):
        found = Quantiles(epsilon, probabilities, 0, 100)(counts)  # type: ignore[arg-type]
        assert ((found >= 0) & (found <= 100)).all() and (np.diff(found) >= 0).all()
        ends = QuantileIntervals(epsilon, probabilities, 0, 100)(counts)  # type: ignore[arg-type]
        assert (ends[:, 0] <= ends[:, 1]).all()
        if n * epsilon >= 1000 and probabilities != [0, 1]:
            assert (found == 50).all()


def ranks_off(counts: Ints, cells: Ints, probabilities: tuple[Fraction, ...]) -> list[float]:
    return [float(distance(tuple(counts.tolist()), q, int(cell))) for q, cell in zip(probabilities, cells, strict=True)]


def rows_of(kind: str) -> NDArray[np.float64]:
    random = np.random.default_rng(3)
    many = {
        "spread": random.normal(50, 15, 2_000),
        "many zeros": np.concatenate([np.zeros(1_200), random.uniform(0, 100, 800)]),
        "few values": random.choice([10.0, 20.0, 30.0, 70.0], 2_000),
        "all equal": np.full(2_000, 33.3),
    }
    return many[kind]


KINDS = ["spread", "many zeros", "few values", "all equal"]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_cover(kind: str) -> None:
    """One quantile is within its error in 95 % of the draws, whatever the rows are."""
    one = Quantiles(Fraction(1), (Fraction(3, 10),), Fraction(0), Fraction(100))
    counts, count = one.counts(rows_of(kind)), repeats(200)
    off = [ranks_off(counts, np.rint(one(counts) * 10), one.probabilities)[0] for _ in range(count)]
    assert np.mean(np.array(off) <= one.error(0.95)) >= 0.95 - sqrt(-log(ALPHA) / (2 * count))


def test_several_together_are_closer_than_one_by_one() -> None:
    """Nine deciles at ε = 1: a third of the error of nine times ε = 1/9 (30 runs; a factor of 3 against 2, with a spread of 0.2)."""
    deciles = tuple(Fraction(i, 10) for i in range(1, 10))
    together = Quantiles(Fraction(1), deciles, Fraction(0), Fraction(100), cells=101)
    each = [Quantiles(Fraction(1, 9), (q,), Fraction(0), Fraction(100), cells=101) for q in deciles]
    counts, error = together.counts(rows_of("spread")), np.zeros(2)
    for seed in range(repeats(30)):
        error[0] += np.mean(ranks_off(counts, np.rint(together(counts, Tape(seed))), deciles))
        alone = np.array([np.rint(one(counts, Tape(seed + 1000))[0]) for one in each])
        error[1] += np.mean(ranks_off(counts, alone, deciles))
    assert 2 * error[0] < error[1]


@pytest.mark.parametrize("kind", KINDS)
def test_cuts_inside_heavy_cells_keep_the_other_quantiles_in_place(kind: str) -> None:
    """Quartiles at ε = 8 are off by no more than a hundredth of the rows, wherever many rows are equal."""
    quartiles = Quantiles(Fraction(8), QUARTERS, Fraction(0), Fraction(100))
    counts = quartiles.counts(rows_of(kind))
    for seed in range(repeats(5)):
        assert max(ranks_off(counts, np.rint(quartiles(counts, Tape(seed)) * 10), QUARTERS)) <= 20


def intervals_cover(epsilon: Fraction, count: int, kind: str) -> None:
    mechanism = QuantileIntervals(epsilon, (Fraction(3, 10), Fraction(1, 2)), Fraction(0), Fraction(100))
    counts = mechanism.counts(rows_of(kind))
    upto = np.concatenate([[0], np.cumsum(counts)])
    covered = np.zeros(2)
    for seed in range(count):
        ends = np.rint(mechanism(counts, Tape(seed)) * 10).astype(np.int64)
        for at, (low, high) in enumerate(ends):
            target = float(mechanism.probabilities[at]) * 2_000
            covered[at] += upto[low] <= target <= upto[high + 1]
    assert (covered / count >= 0.95 - sqrt(-log(ALPHA) / (2 * count))).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(20)])
def test_intervals_cover(epsilon: Fraction, kind: str) -> None:
    intervals_cover(epsilon, repeats(100), kind)


def intervals_cover_few_rows() -> None:
    """Three rows at the middle: over all choices, they lie between the ends with the stated confidence."""
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(6), Fraction(40)):
        mechanism = QuantileIntervals(epsilon, (HALF,), Fraction(0), Fraction(1), cells=9, confidence=Fraction(4, 5))
        covered = sum(
            chance for ends, chance in law(mechanism, (0, 0, 0, 0, 3, 0, 0, 0, 0)).items() if ends[0] <= 0.5 <= ends[1]
        )  # type: ignore[index]
        assert covered >= Fraction(4, 5)


def test_intervals_cover_few_rows() -> None:
    intervals_cover_few_rows()


def test_intervals_are_narrow_where_rows_are_many() -> None:
    mechanism = QuantileIntervals(Fraction(1), (HALF,), Fraction(0), Fraction(100))
    low, high = mechanism(mechanism.counts(np.repeat(np.arange(0, 100, 0.1), 100)), Tape(1))[0]
    assert high - low < 1 and low <= 50.1 and high >= 49.8
    assert QuantileIntervals(Fraction(1, 10**15), (HALF,), Fraction(0), Fraction(1))(np.ones(1001, int)).tolist() == [
        [0, 1]
    ]


@pytest.mark.parametrize("kind", [Quantiles, QuantileIntervals])
def test_random_bits_do_not_depend_on_rows(kind: type[Quantiles]) -> None:
    used = set()
    for rows in KINDS:
        mechanism, source = kind(Fraction(1), (HALF,), Fraction(0), Fraction(100), cells=3001), Counting(1)
        mechanism(mechanism.counts(rows_of(rows)), source)
        used.add(source.used)
    assert len(used) == 1


def test_cost_follows_from_the_parameters() -> None:
    quartiles = Quantiles(Fraction(1), QUARTERS, Fraction(0), Fraction(1), rows=2)
    assert quartiles.event() == quartiles.event(2) == events.Repeated(events.Pure(HALF), 2)
    assert quartiles.event(1) == events.Repeated(events.Pure(Fraction(1, 4)), 2)
    assert quartiles.concentrated() == events.ZeroConcentrated(Fraction(1, 16))
    assert quartiles.loss().epsilon() == 1 and quartiles.loss(0).epsilon() == 0
    assert [
        Quantiles(Fraction(1), tuple(Fraction(i, 99) for i in range(k)), 0, 1).levels for k in (1, 2, 3, 4, 7, 8)
    ] == [*[1, 2, 2, 3, 3, 4]]  # type: ignore[arg-type]
    ends = QuantileIntervals(Fraction(1), (HALF, Fraction(3, 4)), Fraction(0), Fraction(1))
    assert ends.event() == events.Repeated(events.Pure(Fraction(1, 4)), 4)
    assert ends.concentrated() == events.ZeroConcentrated(Fraction(1, 32))
    assert ends.error() > ends.margin(Fraction(3, 4)) > ends.margin(HALF)
    found = Quantiles.for_budget(0.5, sensitivity=2, probabilities=[0.25, 0.5], lower=-1, upper=1, cells=11)
    assert found == Quantiles(HALF, QUARTERS[:2], Fraction(-1), Fraction(1), 11, 2)
    assert Quantiles(1, 0.5, 0, 10).probabilities == (HALF,)  # type: ignore[arg-type]


def test_values_are_counted_at_the_nearest_point() -> None:
    ages = Quantiles(1, 0.5, 0, 4, cells=5)  # type: ignore[arg-type]
    assert ages.counts([0, 1, 1, 4]).tolist() == [1, 2, 0, 0, 1]
    assert ages.counts([-7.0, 1.49, 1.5, 99, float("nan"), float("inf"), float("-inf")]).tolist() == [2, 1, 1, 0, 2]
    assert ages.counts(np.array([], float)).tolist() == [0] * 5
    with pytest.raises(Invalid, match="values"):
        ages.counts(["a"])


@pytest.mark.parametrize(
    "bad", [[1, 2], [1.5] * 5, None, 3, [-1, 0, 0, 0, 0], [1 << 43, 0, 0, 0, 0], [1 << 42] * 5, ["a"] * 5, [[1] * 5]]
)
def test_bad_counts_are_refused_before_anything_is_drawn(bad: object) -> None:
    for kind in (Quantiles, QuantileIntervals):
        with pytest.raises(Invalid, match="exact"):
            kind(Fraction(1), (HALF,), Fraction(0), Fraction(4), cells=5)(bad, Nothing())


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("epsilon", (0, -1, float("nan"), float("inf"), "1", None)),
        ("probabilities", ((), (2,), (-0.1,), (0.5, 0.5), (0.7, 0.2), "a", None, (0.123456789,))),
        ("lower", ("a", None, float("nan"), 4, 5, -(10**400), 4 - Fraction(1, 10**400))),
        ("upper", ("a", None, float("inf"), 10**400)),
        ("cells", (1, 0, 1.5, None, 1 << 21)),
        ("rows", (0, -1, 1.5, None)),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, bad: tuple[object, ...]) -> None:
    good = {"epsilon": 1, "probabilities": (HALF,), "lower": 0, "upper": 4, "cells": 5, "rows": 1}
    for value in bad:
        for kind in (Quantiles, QuantileIntervals):
            with pytest.raises(Invalid, match=name):
                kind(**{**good, name: value})  # type: ignore[arg-type]


def test_other_bad_arguments_are_refused_by_name() -> None:
    for bad in (0, 1, 2, "a", None):
        with pytest.raises(Invalid, match="confidence"):
            QuantileIntervals(Fraction(1), (HALF,), Fraction(0), Fraction(1), confidence=bad)  # type: ignore[arg-type]
        with pytest.raises(Invalid, match="confidence"):
            Quantiles(Fraction(1), (HALF,), Fraction(0), Fraction(1)).error(bad)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="output"):
        Quantiles(Fraction(1), (HALF,), Fraction(0), Fraction(1), cells=3).probability([0, 1], [1, 2, 3])
    with pytest.raises(Invalid, match="sensitivity"):
        Quantiles(Fraction(1), (HALF,), Fraction(0), Fraction(1)).event(-1)
    with pytest.raises(Invalid, match="delta"):
        Quantiles.for_budget(1, -1)
