"""Laws of learning a model of margins: twins, the joint law, a kill at every draw, what is spent, what is impossible, what is learned."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction as F
from functools import cache, partial
from itertools import combinations
from math import erfc, sqrt
from typing import Any
from unittest import mock

import numpy as np
import pytest

from discreet.audit import chances
from discreet.audit.enumeration import exact
from discreet.audit.joint import Joint
from discreet.audit.law import Bracket
from discreet.audit.twins.functions import Draws, compare
from discreet.cells import Attribute, Categorical, CellCounts, Ints
from discreet.errors import DiscreetError, Invalid, Refused
from discreet.mechanisms import RoundedGaussian, unmetered
from discreet.mechanisms.measure import Promise, Unmetered
from discreet.mechanisms.record import MemoryRecord
from discreet.noise import Tape
from discreet.privacy import Relation, loss
from discreet.weights import ArrayTable, Domain, Factored, Learned, factored, stages
from discreet.weights.arrays import ROWS
from discreet.weights.domain import Mask
from discreet.weights.stages import stages_for
from tests.weights.test_stages import REPLACE

SHAPE = (3, 3, 2, 4)
DOMAIN = Domain(
    tuple(Categorical(name, tuple(range(n)), other=False, missing=False) for name, n in zip("abcd", SHAPE, strict=True))
)
DRAWS = 6
"""Of a run that chooses: the margins, a look, a note, a second look, a note, and the last."""


@cache
def rows(count: int = 4000, seed: int = 0, strength: float = 0.6) -> Any:
    """A chain a – b – c, and d, which nothing depends on."""
    rng = np.random.default_rng(seed)

    def follows(values: Ints, size: int) -> Ints:
        return np.where(rng.random(count) < strength, values % size, rng.integers(0, size, count))

    first = rng.integers(0, 3, count)
    second = follows(first, 3)
    return np.stack([first, second, follows(second, 2), rng.choice(4, p=[0.5, 0.3, 0.15, 0.05], size=count)], axis=1)


def learned(table: ArrayTable, **options: Any) -> Learned:
    return factored(table, None, **({"epsilon": 1, "delta": 1e-6} | options))


def of_units(codes: Any, measure: Unmetered | None = None, relation: Relation = ROWS, **options: Any) -> Learned:
    """What is learned of rows; where nothing is said of noise it is the same in every run of the tests."""
    return learned(ArrayTable(DOMAIN, codes, measure or unmetered(Tape(11)), relation), **options)


def error(model: Factored, codes: Any, size: int = 2) -> float:
    """The mean L1 distance of marginals, as a share of all rows."""
    counts = CellCounts(SHAPE, codes, np.ones(len(codes), np.int64))
    scopes = list(combinations(range(4), size))
    return float(np.mean([np.abs(model.marginal(each) - counts.marginal(each)).sum() / len(codes) for each in scopes]))


def pairs_that_depend_are_learned() -> None:
    """The links of the chain are chosen, and the model is nearer than independence by far."""
    for relation in (ROWS, REPLACE):
        found = of_units(rows(), relation=relation)
        alone = of_units(rows(), relation=relation, workload=1)
        assert {(0, 1), (1, 2)} <= {each.chosen for each in found.rounds}
        assert isinstance(found.model, Factored) and isinstance(alone.model, Factored)
        assert error(found.model, rows()) < error(alone.model, rows()) / 3
        assert abs(found.model.total - 4000) < 200
        assert found.rounds[0].error > 0.2 and found.rounds[0].deviation < 60


def test_pairs_that_depend_are_learned() -> None:
    pairs_that_depend_are_learned()


def what_was_chosen_is_measured() -> None:
    """Every pair that was chosen is measured three times: two looks, and the last draw, which is the most precise."""
    found = of_units(rows())
    for each in found.rounds:
        deviations = [one.deviation for one in found.measured if one.axes == each.chosen]
        assert len(deviations) == 3 and each.deviation == min(deviations)


def test_what_was_chosen_is_measured() -> None:
    what_was_chosen_is_measured()


def strangers_are_as_good_as_independent() -> None:
    """Where nothing depends the error is that of margins alone; 1.3 times it is for the noise of few runs."""
    codes = rows(4000, 1, 0.0)
    ours = np.mean([error(of_units(codes, unmetered(Tape(seed))).model, codes) for seed in range(6)])
    alone = np.mean([error(of_units(codes, unmetered(Tape(seed)), workload=1).model, codes) for seed in range(6)])
    assert ours < 1.3 * alone


def test_strangers_are_as_good_as_independent() -> None:
    strangers_are_as_good_as_independent()


def run(relation: Relation, codes: Any, draws: Draws, **options: Any) -> Any:
    """What is seen of a run: all that was measured, all that was chosen, the cliques and a few drawn rows."""
    found = of_units(codes, draws.measure, relation, **options)
    model = found.model
    assert isinstance(model, Factored)
    return (
        [(each.axes, each.values, each.deviation) for each in found.measured],
        [(each.chosen, each.deviation, each.error) for each in found.rounds],
        model.cliques,
        model.total,
        model.draw(20, Tape(1)),
    )


def twins_are_alike() -> None:
    """Nothing tells neighbours apart but noise: one row more, or one exchanged; no draw is moved by more than it is made for."""
    codes = rows(600)
    for relation, other in ((ROWS, codes[1:]), (REPLACE, np.vstack([codes[1:], [[2, 0, 1, 3]]]))):
        for options in ({}, {"workload": 1}, {"epsilon": 0.05}):
            report = compare(codes, other, partial(run, relation, **options))
            assert report.same, str(report)


def test_twins_are_alike() -> None:
    twins_are_alike()


def rounded_tail(mechanism: RoundedGaussian, z: int) -> Bracket:
    """Pr[Z >= z] of rounded noise: its grid has thousands of steps, so that the normal tail is right to 1e-7."""
    near = F(erfc((z - 0.5) / float(mechanism.scale) / sqrt(2)) / 2)
    return Bracket(max(F(0), near - F(1, 10**7)), min(F(1), near + F(1, 10**7)))


def alone(data: Sequence[int], draws: Draws) -> float:
    """How many units there are, learned in whole numbers of weight 1, so that noise can be listed."""
    domain = Domain((Categorical("a", ("x",), other=False, missing=False),))
    table = ArrayTable(domain, np.zeros((len(data), 1), np.int64), draws.measure)
    return learned(table, epsilon=4, delta=0.01).model.total


def the_joint_law_keeps_the_promise() -> None:
    """Of one attribute with one cell, all three draws listed, with a kill after the second: at δ no ε above the promise is certain."""
    with mock.patch.object(stages, "NORM", 1):
        price = stages_for(ROWS, 4, 0.01)
        with (
            mock.patch.object(chances, "tail", cache(rounded_tail)),
            mock.patch("discreet.weights.large_domain.stages_for", lambda *_: price),
            mock.patch.object(
                Promise, "check", lambda *_: None
            ),  # it takes most of the time, and is the same in every run
        ):
            found = exact(Joint(alone, reach=3, stop=2), [([1], [1, 1])])
    assert 3 < found.epsilon(0.01).low <= 4


def test_the_joint_law_keeps_the_promise() -> None:
    the_joint_law_keeps_the_promise()


class _Killed(BaseException):
    """The process ends."""


@contextmanager
def killed_after(draws: int, *, inside: bool) -> Iterator[list[int]]:
    """Whoever draws or notes ends after so many, or inside of that one, when nothing of it is kept yet."""
    made: list[int] = []
    original = MemoryRecord.keep

    def keep(self: MemoryRecord, number: int, value: bytes) -> None:
        made.append(1)
        if inside and len(made) == draws:
            raise _Killed
        original(self, number, value)
        if len(made) == draws:
            raise _Killed

    with mock.patch.object(MemoryRecord, "keep", keep), pytest.raises(_Killed):
        yield made


def who_is_killed_goes_on() -> None:
    """After a kill behind any draw, what was released before comes back as it was, and the same measurements are made at one price."""
    for draws in range(1, DRAWS + 1):
        measure = unmetered(Tape(5))
        seen: list[Any] = []
        original = stages.Weighed.read

        def read(self: Any, released: Ints, stage: Any, seen: list[Any] = seen, original: Any = original) -> Any:
            seen.append(released.tolist())
            return original(self, released, stage)

        with mock.patch.object(stages.Weighed, "read", read):
            with killed_after(draws, inside=False):
                of_units(rows(), measure, key="k")
            before = list(seen)
            seen.clear()
            found = of_units(rows(), measure, key="k")
        assert seen[: len(before)] == before
        assert {(0, 1), (1, 2)} <= {each.chosen for each in found.rounds}
        assert measure.spent == loss(found.event)
        again = of_units(rows(), measure, key="k")
        assert [each.values.tolist() for each in again.measured] == [each.values.tolist() for each in found.measured]


def test_who_is_killed_goes_on() -> None:
    who_is_killed_goes_on()


def lost_draws_are_done_without() -> None:
    """After a kill inside of any draw that one is spent, and the model is learned from the others."""
    for draws in range(1, DRAWS + 1):
        measure = unmetered(Tape(5))
        with killed_after(draws, inside=True):
            of_units(rows(), measure, key="k")
        found = of_units(rows(), measure, key="k")
        assert isinstance(found.model, Factored) and abs(found.model.total - 4000) < 400
        assert measure.spent == loss(found.event)
        chosen = {each.chosen for each in found.rounds}
        assert not chosen if draws in (1, 2) else {(0, 1), (1, 2)} <= chosen


def test_lost_draws_are_done_without() -> None:
    lost_draws_are_done_without()


def test_all_draws_lost_is_refused() -> None:
    with (
        mock.patch("discreet.weights.large_domain.drawn", lambda *_: []),
        pytest.raises(Refused, match="all draws were lost"),
    ):
        of_units(rows())


def notes_decide(chosen: tuple[int, ...] = (2, 400)) -> None:
    """What an earlier entry has noted is measured, whatever this machine would choose now."""
    answers = iter([(1,), chosen])
    with mock.patch("discreet.weights.large_domain.noted", lambda grant, choice: next(answers)):
        found = of_units(rows())
    assert [each.chosen for each in found.rounds] == [(0, 3)]


def test_notes_decide() -> None:
    notes_decide()


def spending_is_what_was_promised() -> None:
    """What is charged is certified, is what the receipt says, and is under the relation of the table."""
    for relation in (ROWS, REPLACE):
        measure = unmetered()
        found = of_units(rows(), measure, relation, epsilon=0.5, delta=1e-7)
        assert measure.spent == loss(found.event)
        assert 0.499 < measure.spent.epsilon(1e-7) <= 0.5
        assert measure.spent.relation == relation == found.relation


def test_spending_is_what_was_promised() -> None:
    spending_is_what_was_promised()


def impossible_cells_have_no_mass() -> None:
    """Neither the model nor rows have any where the owner says that nobody can be, whatever noise says."""
    mask = np.zeros((3, 1, 2, 1), bool)
    mask[0, 0, 1, 0] = mask[2, 0, 0, 0] = True
    found = of_units(rows(), impossible=[mask], epsilon=0.2)
    margin = found.model.marginal((0, 2))
    assert margin[0, 1] == margin[2, 0] == 0 and margin[1, 1] > 0
    codes = found.model.draw(3000)
    assert not mask[codes[:, 0], 0, codes[:, 2], 0].any()


def test_impossible_cells_have_no_mass() -> None:
    impossible_cells_have_no_mass()


def test_conditions_are_asked_of_the_table() -> None:
    class Knowing(ArrayTable):
        def cells(self, condition: str, attributes: Sequence[Attribute]) -> Mask:
            assert condition == "a = 0" and [each.name for each in attributes] == ["a", "b", "c", "d"]
            return np.array([True, False, False]).reshape(3, 1, 1, 1)

    found = learned(Knowing(DOMAIN, rows()), impossible=["a = 0"])
    assert found.model.marginal((0,))[0] == 0


BAD: dict[str, dict[str, Any]] = {
    "nothing possible": {"impossible": [np.ones((3, 1, 1, 1), bool)]},
    "another shape": {"impossible": [np.ones((2, 1, 1, 1), bool)]},
    "too few axes": {"impossible": [np.ones((3,), bool)]},
    "numbers": {"impossible": [np.array([0.0, 0.0, 1.0]).reshape(3, 1, 1, 1)]},
    "too few cells": {"most_cells": 11},
    "too few cells for a condition": {"most_cells": 13, "impossible": [np.eye(3, dtype=bool).reshape(3, 3, 1, 1)]},
    "workload": {"workload": 0},
    "rounds": {"rounds": -1},
    "delta": {"delta": 0},
    "epsilon": {"epsilon": 0},
}


def bad_is_refused_before_anything_is_spent(name: str) -> None:
    measure = unmetered()
    with pytest.raises(Invalid):
        of_units(rows(), measure, **BAD[name])
    assert repr(measure) == "Unmetered(measurements=0)"


@pytest.mark.parametrize("name", BAD)
def test_bad_is_refused_before_anything_is_spent(name: str) -> None:
    bad_is_refused_before_anything_is_spent(name)


def test_more_than_one_draw_can_weigh_is_refused_before_anything_is_spent() -> None:
    measure = unmetered()
    with mock.patch.object(stages, "NORM", 2), pytest.raises(Invalid, match="10 marginals are more"):
        of_units(rows(), measure)
    assert repr(measure) == "Unmetered(measurements=0)"


def limits_bind() -> None:
    """No more pairs are chosen than rounds, no more cells are used than are allowed, and pairs too large for that are not looked at."""
    one = of_units(rows(), rounds=1)
    assert len(one.rounds) == 1
    none = of_units(rows(), rounds=0)
    assert not none.rounds and all(len(each.axes) == 1 for each in none.measured)
    small = of_units(rows(), most_cells=12)
    assert isinstance(small.model, Factored)
    assert small.model.shares.cliques.tree.cells(SHAPE) <= 12
    few = factored(ArrayTable(DOMAIN, rows()), ["a", "d"], epsilon=1, delta=1e-6, most_cells=10)
    assert all(len(each.axes) == 1 for each in few.measured)


def test_limits_bind() -> None:
    limits_bind()


def test_progress_is_told() -> None:
    told: list[str] = []
    of_units(rows(), progress=told.append)
    assert told[0] == "each attribute alone" and told[-1] == "the last fit" and len(told) >= 5


def test_only_named_attributes_are_learned() -> None:
    found = factored(ArrayTable(DOMAIN, rows()), ["c", "a"], epsilon=1, delta=1e-6)
    assert found.model.domain.names == ("c", "a")


def test_one_attribute_is_learned() -> None:
    found = factored(ArrayTable(DOMAIN, rows()), ["d"], epsilon=1, delta=1e-6)
    assert found.model.marginal((0,)).argmax() == 0
    with pytest.raises(DiscreetError):
        factored(ArrayTable(DOMAIN, rows()), [], epsilon=1, delta=1e-6)
