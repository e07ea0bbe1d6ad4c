"""How much of everything one person has, exactly: the people with more than so many rows, or in more than so many groups.

Whoever has n rows counts with min(n, c) under a limit of c. So all people together count with as many more under a limit of
c + 1 as there are people with more than c. It is slow, two queries for each rung, and obvious.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet.curator.survey.ladder import MOST_GROUPS_OF_ONE, ROWS, climbing, in_rungs
from discreet.curator.survey.reading import ONE, Surveyed, among
from discreet.errors import Fault
from discreet.mechanisms.additive import Ints
from discreet.plan.relation import CapGroups, CapTotal, Contributions, How, Term, Totals
from discreet.plan.release import Run
from discreet.plan.scalar import Column, Type


def rows_per_person(run: Run, surveyed: Surveyed, salt: int) -> Ints:
    """How many people have rows from each rung to the next: at most 1, up to 2, … and more than the last."""
    return _histogram(lambda most: rows_within(run, surveyed, most, salt), ROWS)


def rows_within(run: Run, surveyed: Surveyed, most: int, salt: int) -> int:
    """How many rows there are, of which a person counts with so many at most."""
    gathered = Contributions(surveyed.scan(), _person(surveyed), (), (Term(How.SUM, ONE),))
    return _sum(run, Totals(CapTotal(gathered, most)), salt)


def groups_per_person(
    run: Run, surveyed: Surveyed, column: Column, kind: Type, names: Sequence[Any], salt: int
) -> Ints:
    """How many people are in how many of the keys that were found, by rung; who is in none of them is not counted."""
    rows, key = among(surveyed, column, kind, names)
    gathered = Contributions(rows, _person(surveyed), (key,), (Term(How.ANY, ONE),))
    return _histogram(lambda most: _sum(run, Totals(CapGroups(gathered, most)), salt), rungs_of(names))


def rungs_of(names: Sequence[Any]) -> tuple[int, ...]:
    """The rungs of groups of a person, of whom nobody is in more than there are."""
    return climbing(min(MOST_GROUPS_OF_ONE, len(names)))


def _histogram(within: Callable[[int], int], rungs: Sequence[int]) -> Ints:
    wanted = sorted({each for rung in rungs for each in (rung, rung + 1)})
    sums = {most: within(most) for most in wanted}
    # With a limit of 1 everybody counts once.
    return np.array(in_rungs([sums[rung + 1] - sums[rung] for rung in rungs], sums[1]), np.int64)


def _sum(run: Run, query: Totals, salt: int) -> int:
    (totals,) = run(query, salt).totals
    return int(totals.sum()) if totals.size else 0


def _person(surveyed: Surveyed) -> Column:
    if surveyed.person is None:
        raise Fault("nobody has several rows where each row is a unit", code="survey")
    return surveyed.person
