"""How much of everything one person has, exactly: the people with more than so many rows, or in more than so many groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.curator.survey.ladder import MOST_GROUPS_OF_ONE, ROWS, in_rungs
from discreet.curator.survey.reading import ONE, Surveyed, among
from discreet.errors import Fault
from discreet.mechanisms.additive import Ints
from discreet.plan.combination import Combination
from discreet.plan.ladder import ladder
from discreet.plan.relation import CapTotal, Contributions, Exceeding, Extent, How, Term, Totals
from discreet.plan.scalar import Column, Type
from discreet.plan.totals import Run, one_group


def rows_per_person(run: Run, surveyed: Surveyed, salt: int) -> Ints:
    """How many people have rows from each rung to the next: at most 1, up to 2, … and more than the last."""
    gathered = Contributions(surveyed.scan(), _person(surveyed), (), ())
    return _histogram(run, gathered, Extent.ROWS, ROWS, salt)


def rows_within(run: Run, surveyed: Surveyed, most: int, salt: int) -> int:
    """How many rows there are, of which a person counts with so many at most."""
    gathered = Contributions(surveyed.scan(), _person(surveyed), (), (Term(How.SUM, ONE),))
    query = Totals(CapTotal(gathered, most))
    (rows,) = one_group([Combination.plain(0)], query, run(query, salt))
    return rows


def groups_per_person(
    run: Run, surveyed: Surveyed, column: Column, kind: Type, names: Sequence[Any], salt: int
) -> Ints:
    """How many people are in how many of the keys that were found, by rung; who is in none of them is not counted."""
    rows, key = among(surveyed, column, kind, names)
    gathered = Contributions(rows, _person(surveyed), (key,), ())
    return _histogram(run, gathered, Extent.GROUPS, rungs_of(names), salt)


def rungs_of(names: Sequence[Any]) -> tuple[int, ...]:
    """The rungs of groups of a person, of whom nobody is in more than there are."""
    return ladder(min(MOST_GROUPS_OF_ONE, len(names)))


def _histogram(run: Run, gathered: Contributions, extent: Extent, rungs: Sequence[int], salt: int) -> Ints:
    query = Totals(Exceeding(gathered, extent, (0, *rungs)))
    everybody, *beyond = one_group([Combination.plain(i) for i in range(len(rungs) + 1)], query, run(query, salt))
    return np.array(in_rungs(beyond, everybody), np.int64)


def _person(surveyed: Surveyed) -> Column:
    if surveyed.person is None:
        raise Fault("nobody has several rows where each row is a unit", code="survey")
    return surveyed.person
