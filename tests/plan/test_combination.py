"""A sum around a far middle, Σ(x − middle) + middle · n: nobody moves it by more than is said, and somebody nearly as much.

All that one person can give is enumerated, on grids of a few steps: every choice of up to five rows, NULL among them, and every u that
the cap may round with. Neighbours are all pairs of these, beside any total of the others.
"""

from fractions import Fraction as F
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines.base import Data
from discreet.engines.memory import MemoryEngine
from discreet.errors import Fault
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.combination import Combination
from discreet.plan.grid import divisor_for, grid_for
from discreet.plan.rules.relations import MOST_STEPS, combined, shift_of, term_bounds
from discreet.plan.scalar import Column, Type
from discreet.privacy import Adjacency, Relation, Unit

WHO, X, G = Column("who", Type.INTEGER), Column("x", Type.NUMBER), Column("g", Type.INTEGER)
SCAN = r.Scan("t", (WHO, X, G))
THERE = s.Not(s.IsNull(X))
PEOPLE = {adjacency: Relation(adjacency, Unit.PERSON) for adjacency in Adjacency}
ROWS = {adjacency: Relation(adjacency, Unit.ROW) for adjacency in Adjacency}
BOUNDS = [(5, 9, 7), (-9, -5, -7), (1, 3, 2), (100, 104, 102), (5, 9, 5), (5, 9, 9), (-2, 4, 1), (3, 3, 3)]
MOST_ROWS = 5


def terms(low: int, high: int, middle: int) -> tuple[r.Term, r.Term]:
    steps = s.Steps(X, float(low), float(high), 0, float(middle))
    return r.Term(r.How.SUM, steps), r.Term(r.How.SUM, s.Indicator(THERE))


def of_one_person(bounds: tuple[int, int, int], cap: int) -> set[int]:
    """Every Σ(x − middle) + middle · n that one person can have in a group, also by being in none."""
    low, high, middle = bounds
    values = (float(low), float(middle), float(high), None)
    lists = [rows for n in range(1, MOST_ROWS + 1) for rows in combinations_with_replacement(values, n)]
    people = [(rows, u) for rows in lists for u in range(len(rows))]
    data = [(i, value) for i, (rows, _) in enumerate(people) for value in rows]
    table = {"who": [i for i, _ in data], "x": [x for _, x in data], "g": [0] * len(data)}
    priorities = {(i, (i,)): u for i, (_, u) in enumerate(people)}
    each = r.Contributions(SCAN, WHO, (WHO,), terms(*bounds))
    found = MemoryEngine([Data("t", table, (WHO, X, G))], priorities).run(r.Totals(r.CapRows(each, cap)), 0)
    return {0} | {int(total) + middle * int(n) for total, n in zip(*found.totals, strict=True)}


def rounded(total: int, divisor: int) -> int:
    return int(Combination(((0, 1),), divisor).of([np.array([total])])[0])


def farthest(possible: set[int], divisor: int, adjacency: Adjacency) -> int:
    """The farthest that any two neighbours are apart, whatever the others add up to."""
    ends = (min(possible), 0, max(possible))
    pairs = product(ends, ends) if adjacency is Adjacency.REPLACE else product(ends, (0,))
    others = range(divisor)
    return max(abs(rounded(a + o, divisor) - rounded(b + o, divisor)) for a, b in pairs for o in others)


def said(bounds: tuple[int, int, int], divisor: int, cap: int, adjacency: Adjacency, groups: int = 1) -> Sensitivity:
    keys = (G,) if groups > 1 else ()
    capped = r.CapRows(r.Contributions(SCAN, WHO, keys, terms(*bounds)), cap)
    query = r.Totals(r.CapGroups(capped, groups - 1) if groups > 1 else capped)
    return combined(Combination(((0, 1), (1, bounds[2])), divisor), query, PEOPLE[adjacency], groups)


def nobody_moves_more() -> None:
    """In one group, and in two of three, each of which is rounded by itself."""
    everything = {(bounds, cap): of_one_person(bounds, cap) for bounds, cap in product(BOUNDS, (1, 2, 3))}
    for (bounds, cap), divisor, adjacency in product(everything, (1, 2, 3, 8), Adjacency):
        possible = everything[bounds, cap]
        moved = farthest(possible, divisor, adjacency)
        found = said(bounds, divisor, cap, adjacency)
        assert moved <= found.l1, (bounds, cap, divisor, adjacency, moved, found)
        assert moved**2 <= found.l2_squared
        assert moved >= found.l1 * F(3, 4) - 2, (bounds, cap, divisor, adjacency, moved, found)
        moves = farthest(possible, divisor, Adjacency.ADD_REMOVE)
        several = said(bounds, divisor, cap, adjacency, groups=3)
        stays = 2 * moves if adjacency is Adjacency.ADD_REMOVE else max(2 * moved, 2 * moves + moved)
        assert stays <= several.l1
        assert 2 * moved**2 <= several.l2_squared


def test_nobody_moves_a_combination_by_more_than_is_said_and_somebody_nearly_as_much() -> None:
    nobody_moves_more()


def someone_without_a_count_has_a_sum_below_0() -> None:
    """Two rows that count as one, of which one is NULL: the count is rounded down, and the sum is not."""
    assert min(of_one_person((5, 9, 7), 1)) < 0
    far = of_one_person((100, 200, 150), 1)
    assert min(far) <= -25
    moved, found = farthest(far, 1, Adjacency.REPLACE), said((100, 200, 150), 1, 1, Adjacency.REPLACE)
    assert 225 <= moved <= found.l1 == 250


def test_replacing_somebody_moves_a_sum_by_more_than_the_largest_bound() -> None:
    someone_without_a_count_has_a_sum_below_0()


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("bounds", BOUNDS)
def test_of_rows_a_combination_is_a_value_or_nothing(bounds: tuple[int, int, int], adjacency: Adjacency) -> None:
    low, high, middle = bounds
    for divisor in (1, 3, 8):
        made = Combination(((0, 1), (1, middle)), divisor)
        possible = {0, low, middle, high}
        found = combined(made, r.Totals(SCAN, (), terms(*bounds)), ROWS[adjacency], 1).l1
        moved = farthest(possible, divisor, adjacency)
        assert moved <= found <= moved + 1
        counted = (terms(*bounds)[0], r.Term(r.How.SUM, s.Literal(1, Type.INTEGER)))
        surely = combined(made, r.Totals(SCAN, (), counted), ROWS[adjacency], 1).l1
        if adjacency is Adjacency.REPLACE:  # a row is there before and after
            assert surely == -(-(high - low) // divisor)
        else:
            assert surely >= moved


def test_a_count_of_other_rows_is_taken_for_what_it_is() -> None:
    other_counts_are_taken_for_what_they_are()


def other_counts_are_taken_for_what_they_are() -> None:
    """Where a row may have steps and not be counted, weights times both is all that can be said."""
    steps, _ = terms(100, 104, 102)
    other = r.Term(r.How.SUM, s.Indicator(s.Comparison(s.Order.GREATER, X, s.Literal(3.0, Type.NUMBER))))
    made = Combination(((0, 1), (1, 102)))
    assert shift_of(made, (steps, other)) is None
    for cap, adjacency in product((1, 3), Adjacency):
        query = r.Totals(r.CapRows(r.Contributions(SCAN, WHO, (), (steps, other)), cap))
        found = combined(made, query, PEOPLE[adjacency], 1).l1
        assert found == cap * ((2 if adjacency is Adjacency.ADD_REMOVE else 4) + 102)


def rounding_moves_every_group() -> None:
    """Whoever is shortened to a norm is in all groups, and may turn the rounding of each."""
    cells, divisor = 4, 1000
    query = r.Totals(r.ClipNorm(r.CapRows(r.Contributions(SCAN, WHO, (G,), terms(5, 9, 7)), 1), (2, 1)))
    found = combined(Combination(((0, 1), (1, 7)), divisor), query, PEOPLE[Adjacency.ADD_REMOVE], cells)
    turned = rounded(divisor // 2, divisor) - rounded(divisor // 2 - 1, divisor)
    assert cells * turned <= found.l1 + F(cells, divisor)
    assert cells * turned**2 <= (found.l2 + F(2, divisor)) ** 2


def test_rounding_moves_every_group_that_somebody_is_in() -> None:
    rounding_moves_every_group()


def test_a_filtered_sum_and_its_count_belong_together() -> None:
    old = s.Comparison(s.Order.GREATER, G, s.Literal(3, Type.INTEGER))
    both = s.And((old, THERE))
    for condition, counts in ((old, (old, both)), (both, (both, old, THERE))):
        steps = s.Steps(s.Case(((condition, X),), s.Literal(None, Type.NUMBER)), 5.0, 9.0, 0, 7.0)
        for count in counts:
            pair = (r.Term(r.How.SUM, steps), r.Term(r.How.SUM, s.Indicator(count)))
            assert shift_of(Combination(((0, 1), (1, 7))), pair) == 7
    unlike = r.Term(r.How.SUM, s.Indicator(s.And((old, s.Not(THERE)))))
    assert shift_of(Combination(((0, 1), (1, 7))), (r.Term(r.How.SUM, steps), unlike)) is None


def test_what_does_not_fit_64_bits_or_is_of_no_term_is_a_fault() -> None:
    query = r.Totals(SCAN, (), terms(100, 104, 102))
    for made in (
        Combination(((0, 1), (1, MOST_STEPS))),
        Combination(((0, 1), (2, 1))),
        Combination(((0, 1), (-1, 1))),
        Combination(((0, 1),), 0),
        Combination(()),
    ):
        with pytest.raises(Fault):
            combined(made, query, ROWS[Adjacency.REPLACE], 1)


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5), st.integers(-(2**80), 2**80), st.integers(1, 60))
def test_a_combination_is_of_whole_numbers_rounded_half_up(totals: list[int], weight: int, shift: int) -> None:
    divisor = abs(weight) * 2 + 2**shift
    exact = [F(total + weight * (i - 2), divisor) for i, total in enumerate(totals)]
    counts = np.arange(len(totals)) - 2
    found = Combination(((0, 1), (1, weight)), divisor).of([np.array(totals, np.int64), counts])
    assert found.dtype == np.int64
    assert found.tolist() == [(each + F(1, 2)).__floor__() for each in exact]


def test_without_a_cap_on_groups_a_person_is_in_all() -> None:
    for bounds, adjacency in product(BOUNDS, Adjacency):
        query = r.Totals(r.CapRows(r.Contributions(SCAN, WHO, (G,), terms(*bounds)), 2))
        made = Combination(((0, 1), (1, bounds[2])))
        one, three = (combined(made, query, PEOPLE[adjacency], cells) for cells in (1, 3))
        assert three.l1 == 3 * one.l1 and three.l2**2 >= 3 * one.l1**2


def test_only_sums_of_steps_around_0_are_shifted() -> None:
    """The bound on what somebody moves rests on sums, of steps that may be 0."""
    for low, high, middle in product((-9, 5), (-5, 9), (-12, -7, 0, 7, 12)):
        made = Combination(((0, 1), (1, middle)))
        if low <= high:
            assert (shift_of(made, terms(low, high, middle)) is not None) == (low <= middle <= high)
    for i in (0, 1):
        both = list(terms(5, 9, 7))
        both[i] = r.Term(r.How.ANY, both[i].value)
        assert shift_of(Combination(((0, 1), (1, 7))), both) is None


def test_one_term_keeps_its_weight() -> None:
    totals = [np.array([5, -7], np.int64)]
    for weight in (1, 2, -3):
        for divisor in (1, 2):
            exact = [F(weight * each, divisor) for each in (5, -7)]
            assert Combination(((0, weight),), divisor).of(totals).tolist() == [
                (x + F(1, 2)).__floor__() for x in exact
            ]


def test_a_clamped_value_has_few_steps() -> None:
    for low, high, shift in ((0.0, MOST_STEPS + 1.0, 0), (-2.0 - MOST_STEPS, 0.0, 0), (0.0, 2.0, 24)):
        with pytest.raises(Fault):
            term_bounds(r.Term(r.How.SUM, s.Steps(X, low, high, shift, 0.0)))


# The grid.


@given(st.fractions(-(10**18), 10**18), st.fractions(0, 10**12), st.integers(-60, 60), st.booleans())
def test_a_grid_has_at_most_2_24_steps_around_a_middle_of_its_own(low: F, width: F, scale: int, integral: bool) -> None:
    """No coarser than 2^22 steps to the width, but for whole numbers, which are exact up to a width of 2^25."""
    size = F(2) ** scale
    least, most = (F(round(each)) if integral else each * size for each in (low, low + width))
    grid = grid_for(least, most, integral)
    steps = s.Steps(X, grid.low, grid.high, grid.shift, grid.middle)
    first, last = term_bounds(r.Term(r.How.SUM, steps))
    assert -MOST_STEPS <= first <= 0 <= last <= MOST_STEPS
    assert F(repr(grid.low)) <= least and most <= F(repr(grid.high))
    assert grid.whole_middle * grid.step == F(grid.middle)
    if integral and most - least < 2**25 - 2 and abs(least) < 2**53:
        assert grid.exact and grid.shift == 0
    if not grid.exact:
        assert last - first >= 2**22
        assert max(-first, last) <= 2**23 + 1 or abs(grid.whole_middle) >= 2**53
    made = Combination(((0, 1), (1, grid.whole_middle)), divisor_for(abs(grid.whole_middle) + max(-first, last)))
    query = r.Totals(SCAN, (), (r.Term(r.How.SUM, steps), r.Term(r.How.SUM, s.Indicator(THERE))))
    assert combined(made, query, ROWS[Adjacency.ADD_REMOVE], 1).l1 <= MOST_STEPS
