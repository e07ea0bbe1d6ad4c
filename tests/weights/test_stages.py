"""Laws of draws: no neighbour moves a weighted vector by more than it is made for, all draws together cost what was promised, and
what was noted comes back."""

from collections.abc import Iterator
from fractions import Fraction as F
from itertools import combinations, product
from math import erfc, exp, sqrt
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cells import CellCounts
from discreet.errors import Fault, Invalid, Refused
from discreet.mechanisms import unmetered
from discreet.mechanisms.measure import Grant
from discreet.privacy import Adjacency, Relation, Unit, loss
from discreet.weights import stages
from discreet.weights.arrays import ROWS
from discreet.weights.stages import EACH, NORM, Stages, Weighed, drawn, noted, stages_for, weighed_by
from tests.scale import SCALE

REPLACE = Relation(Adjacency.REPLACE, Unit.ROW)
SHAPE = (2, 3)
SCOPES = ((0,), (1,), (0, 1))
Rows = tuple[tuple[int, int], ...]


def counted(rows: Rows) -> CellCounts:
    codes = np.array(rows, np.int64).reshape(-1, 2)
    return CellCounts(SHAPE, codes, np.ones(len(codes), np.int64))


def neighbours(relation: Relation) -> Iterator[tuple[Rows, Rows]]:
    """All tables of up to two rows, with all neighbours."""
    cells = list(product(range(2), range(3)))
    for size in range(3):
        for rows in combinations(cells, size):
            if relation is ROWS:
                yield from ((rows, (*rows, more)) for more in cells)
            else:
                yield from ((rows, (*rows[:i], other, *rows[i + 1 :])) for i in range(size) for other in cells)


def no_neighbour_moves_more() -> None:
    """Over all small tables and their neighbours, under both relations: the L2 norm is what a draw is made for, and is attained."""
    for relation in (ROWS, REPLACE):
        made = stages_for(relation, 1, F(1, 10**6))
        for scopes in (SCOPES, SCOPES[:2], SCOPES[2:]):
            for power in (0.0, 1 / 3, 2 / 3):
                weighed = weighed_by(scopes, SHAPE, power)
                pairs = list(neighbours(relation))
                moved = max(int(((weighed.exact(counted(x)) - weighed.exact(counted(y))) ** 2).sum()) for x, y in pairs)
                for stage in (made.margins, made.look, made.second, made.last):
                    assert 0.99 * stage.sensitivity**2 < moved <= stage.sensitivity**2


def test_no_neighbour_moves_more() -> None:
    no_neighbour_moves_more()


@settings(max_examples=50 * SCALE)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12).map(tuple), st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0]))
def test_weights_have_the_norm_at_most(shape: tuple[int, ...], power: float) -> None:
    scopes = [(axis,) for axis in range(len(shape))] + list(combinations(range(len(shape)), 2))
    weights = weighed_by(scopes, shape, power).weights
    assert min(weights) >= 1
    assert 0.98 * NORM**2 < sum(each * each for each in weights) <= NORM**2


def test_more_marginals_than_can_be_weighed_are_invalid() -> None:
    with mock.patch.object(stages, "NORM", 2), pytest.raises(Invalid, match="more than one draw can weigh"):
        weighed_by([(axis,) for axis in range(5)], (3,) * 5, 2 / 3)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """δ of a Gaussian of this μ (Balle and Wang 2018, theorem 8)."""
    return erfc((epsilon / mu - mu / 2) / sqrt(2)) / 2 - exp(epsilon) * erfc((epsilon / mu + mu / 2) / sqrt(2)) / 2


def draws_cost_what_was_promised() -> None:
    """μ² of all draws, added up here, gives the δ that was promised and hardly less; a certified bound agrees."""
    for relation, epsilon, delta in product((ROWS, REPLACE), (0.01, 1, 10), (1e-5, 1e-9)):
        made = stages_for(relation, epsilon, delta)
        each = (made.margins, made.look, made.second, made.last)
        mu = sqrt(sum(float(stage.sensitivity / stage.mechanism.scale) ** 2 for stage in each))
        assert delta * 0.999 < gaussian_delta(mu, epsilon) < delta * 1.00001
        assert loss(made.event).certifies(epsilon, delta)
        assert made.promise == (F(str(epsilon)), F(str(delta))) and made.relation is relation


def test_draws_cost_what_was_promised() -> None:
    draws_cost_what_was_promised()


def shares_are_a_whole() -> None:
    assert stages.MARGINS + stages.LOOK + stages.SECOND_LOOK + stages.LAST == 1


def test_shares_are_a_whole() -> None:
    shares_are_a_whole()


@pytest.mark.parametrize("bad", [{"delta": 0}, {"epsilon": 0}, {"epsilon": -1}, {"delta": 2}])
def test_bad_prices_are_invalid(bad: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        stages_for(ROWS, **({"epsilon": 1, "delta": 1e-9} | bad))


def made() -> Stages:
    return stages_for(ROWS, 1, F(1, 10**6))


def deviations_are_true(samples: int = 4000) -> None:
    """The deviation that is said is that of the counts: within 10 %, which fails once in 10^9 at 4,000 counts."""
    weighed = Weighed((samples, 2), ((0,), (1,)), (30_000, 50_000))
    empty = CellCounts((samples, 2), np.zeros((0, 2), np.int64), np.zeros(0, np.int64))
    with unmetered()(made().event) as grant:
        found, _ = drawn(grant, made().last, lambda: empty, weighed)
    assert found.axes == (0,) and found.values.shape == (samples,)
    assert abs(found.values.std() / found.deviation - 1) < 0.1


def test_deviations_are_true() -> None:
    deviations_are_true()


def heavy_weights_are_a_fault() -> None:
    """Weights beyond the norm are not drawn."""
    with unmetered()(made().event) as grant:
        with pytest.raises(Fault, match="larger than what was granted"):
            drawn(grant, made().look, lambda: counted(()), Weighed(SHAPE, ((0,), (1,)), (NORM, 1)))
        assert not grant.used


def test_heavy_weights_are_a_fault() -> None:
    heavy_weights_are_a_fault()


class _Stop(Exception):
    """The program is stopped inside of a draw."""


def lost_draws_are_left_out() -> None:
    """A draw whose value was lost gives nothing, once, and the next one goes on; another refusal is raised."""
    measure, price = unmetered(), made()
    weighed = weighed_by(SCOPES, SHAPE, 0.0)

    def stop() -> CellCounts:
        raise _Stop

    with pytest.raises(_Stop), measure(price.event, key="k") as grant:
        drawn(grant, price.look, stop, weighed)
    with measure(price.event, key="k") as grant:
        assert drawn(grant, price.look, lambda: counted(()), weighed) == []
        assert len(drawn(grant, price.last, lambda: counted(()), weighed)) == len(SCOPES)

    def refuse() -> CellCounts:
        raise Refused("no", code="policy")

    with pytest.raises(Refused, match="no"), measure(price.event, key="other") as grant:
        drawn(grant, price.look, refuse, weighed)


def test_lost_draws_are_left_out() -> None:
    lost_draws_are_left_out()


def notes_come_back() -> None:
    """What was noted first counts, whatever is said later; and notes take nothing away from what may be drawn."""
    measure, price = unmetered(), made()
    weighed = weighed_by(SCOPES, SHAPE, 0.0)
    with pytest.raises(_Stop), measure(price.event, key="k") as grant:
        assert noted(grant, [3, 1, 2]) == (3, 1, 2)
        raise _Stop
    with measure(price.event, key="k") as grant:
        assert noted(grant, [5]) == (3, 1, 2)
        for _ in range(7):
            assert noted(grant, []) == ()
        for stage in (price.margins, price.look, price.second, price.last):
            assert drawn(grant, stage, lambda: counted(()), weighed)
        with pytest.raises(Fault):
            drawn(grant, price.look, lambda: counted(()), weighed)


def test_notes_come_back() -> None:
    notes_come_back()


def test_a_note_that_is_lost_is_tried_again() -> None:
    tried = []

    class Losing(Grant):
        def note(self, value: Any) -> Any:
            tried.append(1)
            raise Refused("lost", code="draw-lost")

    assert noted(Losing(made().event), [4]) == (4,)
    assert len(tried) == EACH
