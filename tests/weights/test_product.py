"""A product of independents: it costs what it says, survives a kill, and is the model of its own marginals."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from itertools import product as combinations_of
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.audit.enumeration import exact
from discreet.audit.joint import Joint
from discreet.audit.twins import compare
from discreet.cells import Categorical
from discreet.errors import Invalid, Refused
from discreet.mechanisms.measure import unmetered
from discreet.noise import Tape
from discreet.privacy import Adjacency, Relation, Unit, events, loss
from discreet.privacy.adjacency import cells_moved
from discreet.weights import ArrayTable, Domain, Learned, independent, product
from discreet.weights.model import count
from discreet.weights.product import Block, Independent
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

PRICES = [(1, 0), (1, 1e-6), (0.25, 1e-9), (8, 0.01)]
TINY = Domain((Categorical("bit", (0, 1), other=False, missing=False),))


def young_in_b() -> np.ndarray[Any, Any]:
    """Nobody below 10 is in ward B."""
    mask = np.zeros((3, 3, 1), np.bool_)
    mask[1, 0] = True
    return mask


def prices_are_kept() -> None:
    """What is charged is what is drawn, d leaves of one noise, and it is certified to be what was asked for, and hardly less."""
    for relation in RELATIONS:
        for epsilon, delta in PRICES:
            measure = unmetered()
            learned = independent(
                measured(table(50, relation=relation), measure), epsilon=epsilon, delta=delta, key="a"
            )
            assert learned.promise == (Fraction(str(epsilon)), Fraction(str(delta)))
            ((leaf, times),) = loss(learned.event).terms
            assert times == 3 == len(learned.measured) and measure.spent.terms == ((leaf, 3),)
            assert loss(events.Repeated(leaf, 3)).certifies(*learned.promise)
            assert measure.spent.epsilon(delta) == pytest.approx(epsilon, rel=1e-6)


def test_prices_are_kept() -> None:
    prices_are_kept()


def each_draw_is_made_for_what_moves() -> None:
    """Over all neighbours of small tables: no draw's exact value moves by more than it is made for."""
    rows = [[0, 0, 0], [1, 1, 1], [2, 2, 0], [1, 0, 1]]
    for relation in RELATIONS:
        for delta in (0, 1e-3):
            for place in range(len(rows)):
                rest = rows[:place] + rows[place + 1 :]
                others = [rest] if cells_moved(relation) == 1 else [[*rest, new] for new in ([2, 1, 1], [0, 2, 0])]
                for other in others:

                    def run(codes: Any, draws: Any, delta: float = delta, relation: Relation = relation) -> Any:
                        source = ArrayTable(SMALL, np.array(codes), draws.measure, relation)
                        return [each.values for each in independent(source, epsilon=1, delta=delta).measured]

                    assert not compare(rows, other, run).differences


def test_each_draw_is_made_for_what_moves() -> None:
    each_draw_is_made_for_what_moves()


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_joint_law_keeps_the_price(adjacency: Adjacency) -> None:
    """All tables of up to two bits with all neighbours, by the exact law of what is released; also with a kill after the draw."""
    relation = Relation(adjacency, Unit.ROW)

    def program(rows: tuple[int, ...], draws: Any) -> Any:
        source = ArrayTable(TINY, np.array(rows, int).reshape(-1, 1), draws.measure, relation)
        learned = independent(source, epsilon=2, key="a")
        return [int(each) for each in learned.measured[0].values]

    def pairs() -> Any:
        if adjacency is Adjacency.ADD_REMOVE:
            yield from (((), (0,)), ((0,), (0, 1)), ((1,), (0, 1)), ((0, 1), (0, 1, 1)))
        else:
            yield from (((0,), (1,)), ((0, 1), (1, 1)))

    found = exact(Joint(program, reach=8), pairs())
    assert found.epsilon().low <= 2 + 1e-9 and found.hidden < 0.01 and found.epsilon(found.hidden).high <= 2 + 1e-9


def who_is_stopped_goes_on() -> None:
    """After any draw, and in the middle of any: what was released comes back, at no new charge; what was lost is left out."""
    for lost in (False, True):
        for draws in range(3):
            measure = unmetered(Tape(draws))
            source = table(200)
            with pytest.raises(Stopped):
                independent(measured(source, stopped_after(draws, measure, lost=lost)), epsilon=1, key="a")
            again = independent(measured(source, measure), epsilon=1, key="a")
            axes = [each.axes for each in again.measured]
            assert axes == [(axis,) for axis in range(3) if not (lost and axis == draws)]
            assert measure.spent.epsilon() == 1
            # by now all draws were made, and nothing exact is looked at
            third = independent(unlooked(source, measure), epsilon=1, key="a")
            assert [each.values.tolist() for each in third.measured] == [
                each.values.tolist() for each in again.measured
            ]


def test_who_is_stopped_goes_on() -> None:
    who_is_stopped_goes_on()


def test_where_all_was_lost_it_is_said() -> None:
    measure, source = unmetered(), ArrayTable(TINY, [[0], [1]])
    with pytest.raises(Stopped):
        independent(measured(source, stopped_after(0, measure, lost=True)), epsilon=1, key="a")
    for _ in range(2):
        with pytest.raises(Refused, match="it stays spent") as caught:
            independent(measured(source, measure), epsilon=1, key="a")
        assert caught.value.code == "draw-lost"
    assert measure.spent.epsilon() == 1


def learned_of(seed: int, impossible: Any = (), delta: float = 1e-6) -> Learned:
    return independent(
        measured(table(800, seed=seed), unmetered(Tape(seed))), epsilon=1, delta=delta, impossible=impossible
    )


def marginals_agree() -> None:
    """Every marginal adds up to the total, in any order of its axes, and is the sum of every larger one."""
    for impossible in ((), (young_in_b(),)):
        model = learned_of(3, impossible).model
        whole = model.marginal((0, 1, 2))
        for k in range(4):
            for axes in combinations(range(3), k):
                rest = tuple(axis for axis in range(3) if axis not in axes)
                assert np.allclose(model.marginal(axes), whole.sum(axis=rest)) and whole.min() >= 0
                assert np.allclose(model.marginal(axes[::-1]), model.marginal(axes).T)
        assert whole.sum() == pytest.approx(model.total)


def test_marginals_agree() -> None:
    marginals_agree()


def impossible_cells_stay_empty() -> None:
    """They have no weight and no row; every other attribute is as it was measured."""
    model = learned_of(4, (young_in_b(),)).model
    assert model.marginal((0, 1))[1, 0] == 0
    codes = model.draw(repeats(2_000), Tape(1))
    assert not ((codes[:, 0] == 1) & (codes[:, 1] == 0)).any() and set(codes[:, 0]) == {0, 1, 2}
    free = learned_of(4).model
    for axis in range(3):
        assert np.allclose(model.marginal((axis,)), free.marginal((axis,)), atol=1e-3 * model.total)


def test_impossible_cells_stay_empty() -> None:
    impossible_cells_stay_empty()


def rows_follow_the_model() -> None:
    """A chi-square test at α = 1e-6; with a share of 0.05 moved it fails with probability above 0.999."""
    for impossible in ((), (young_in_b(),)):
        model = learned_of(5, impossible).model
        codes = model.draw(repeats(4_000))
        seen = np.zeros(SMALL.shape)
        np.add.at(seen, tuple(codes.T), 1)
        expected = model.marginal((0, 1, 2)) / model.total * len(codes)
        often = expected > 5
        assert not seen[expected == 0].any()
        parts = [np.append(each[often], each[~often].sum() + 1e-9) for each in (seen, expected)]
        assert chisquare(*parts, sum_check=False).pvalue > ALPHA


def test_rows_follow_the_model() -> None:
    rows_follow_the_model()


def cells_without_weight_are_never_drawn() -> None:
    """On a grid of a few steps, so that each edge of a cell is met often."""
    with mock.patch.object(product, "FINE", 4):
        places = Block((0,), np.array([0, 0.5, 0, 0.5, 0])).drawn(repeats(400), Tape(1))
    assert set(places[:, 0]) == {1, 3}


def test_cells_without_weight_are_never_drawn() -> None:
    cells_without_weight_are_never_drawn()


def fits_are_near() -> None:
    """At a high price the model has the true size and the true marginals; where sums differ those of few cells count for more."""
    source = table(5_000)
    model = independent(source, epsilon=100, delta=1e-6).model
    counts = exact_counts(source)
    assert abs(model.total - 5_000) < 5
    for axis in range(3):
        assert np.abs(model.marginal((axis,)) - counts.marginal((axis,))).max() < 5


def test_fits_are_near() -> None:
    fits_are_near()


@given(st.lists(st.floats(-50, 100), min_size=1, max_size=8), st.floats(1, 200))
@settings(max_examples=60)
def test_shares_are_the_nearest_ones(values: list[float], total: float) -> None:
    """No exchange of a little between two cells is nearer: what is positive is moved by one amount, and what is not by less."""
    shares = product._on_simplex(np.array(values), total)
    moved = np.array(values) / total - shares
    assert shares.min() >= 0 and shares.sum() == pytest.approx(1)
    assert np.ptp(moved[shares > 1e-12]) < 1e-9 and (moved <= moved[shares > 1e-12].max() + 1e-9).all()


def test_a_model_of_nobody_is_even() -> None:
    model = independent(ArrayTable(SMALL, np.empty((0, 3), int), unmetered(Tape(12))), epsilon=0.01).model
    if not model.total:
        assert np.allclose([block.chances.max() * block.chances.size for block in model.blocks], 1)  # type: ignore[attr-defined]
    assert model.draw(3, Tape(1)).shape == (3, 3)


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.ones((3, 3, 2), np.bool_), "every cell is impossible"),
        (np.ones((1, 1, 1), np.bool_), "every cell is impossible"),
        (np.ones((3, 3), np.bool_), "mask over the domain"),
        (np.ones((2, 1, 1), np.bool_), "mask over the domain"),
        (np.ones((1, 1, 3), np.bool_), "mask over the domain"),
    ],
)
def test_masks_that_leave_nobody_or_fit_nothing_cost_nothing(mask: Any, words: str) -> None:
    measure = unmetered()
    with pytest.raises(Invalid, match=words):
        independent(measured(table(10), measure), epsilon=1, impossible=[mask])
    assert not measure.spent.terms


def test_too_many_combinations_are_refused() -> None:
    wide = Domain(tuple(Categorical(f"c{i}", tuple(range(198))) for i in range(3)))
    with pytest.raises(Invalid, match="tie 3 attributes of 8,000,000 combinations"):
        independent(ArrayTable(wide, np.empty((0, 3), int)), epsilon=1, impossible=[np.zeros(wide.shape, np.bool_)])


def test_the_model_is_a_model() -> None:
    model = learned_of(1).model
    assert isinstance(model, Independent) and model.domain is not None and float(model.marginal(())) == model.total


def counts_of_masks_are_sums() -> None:
    """Over masks of any axes, of length 1 where a condition does not depend on one: as many as the whole histogram has there."""
    model = learned_of(6).model
    whole = model.marginal((0, 1, 2))
    rng = np.random.default_rng(1)
    for lengths in combinations_of((1, 3), (1, 3), (1, 2)):
        for mask in (rng.random(lengths) < 0.5, np.ones(lengths, np.bool_), np.zeros(lengths, np.bool_)):
            assert count(model, mask) == pytest.approx(float(whole[np.broadcast_to(mask, whole.shape)].sum()))


def test_counts_of_masks_are_sums() -> None:
    counts_of_masks_are_sums()


def names_and_codes_are_checked() -> None:
    """Bad input is told: names of no attribute, codes of no cell, arrays of another shape, attributes twice."""
    wrong: list[Callable[[], object]] = [
        lambda: SMALL.axes(["nothing"]),
        lambda: Domain(()),
        lambda: Domain((SMALL.attributes[0],) * 2),
        lambda: ArrayTable(SMALL, [[0, 0]]),
        lambda: ArrayTable(SMALL, [[0, 0, 2]]),
        lambda: ArrayTable(SMALL, [[0, -1, 0]]),
        lambda: ArrayTable(SMALL, [[0.5, 0, 0]]),
        lambda: table().cells("x = 1", SMALL.attributes),
    ]
    for call in wrong:
        try:
            call()
        except Invalid:
            continue
        except Exception as error:
            pytest.fail(repr(error))
        pytest.fail("nothing was said")


def test_names_and_codes_are_checked() -> None:
    names_and_codes_are_checked()
