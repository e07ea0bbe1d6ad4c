"""AVG_BY_PERSON: the mean over people of each person's own mean, in which everybody weighs the same, however many rows they have.

A person gives one number to a group, the mean of their rows there around the middle of the bounds, in whole steps. It lies between the
bounds whatever their rows are, so that no number of rows need be limited. With the bounds w apart the sum of these moves by w/2 where
somebody is added or removed, and by w where they are replaced; the count of people who have a value moves by 1. Over groups both move in
as many as a person may be in, g: by g times as much in L1, and by √g in L2.
"""

from dataclasses import dataclass
from fractions import Fraction

from discreet.plan.combination import Combination
from discreet.plan.question import Aggregate
from discreet.plan.relation import How, Term
from discreet.plan.releases.base import Call, Kind, of_one_number, registry
from discreet.plan.releases.mean import AVERAGE, Mean
from discreet.plan.releases.terms import Measured, MeasuredTerms
from discreet.plan.scalar import Steps

FINER = 24
"""Means lie between values: whole numbers have steps that are as much finer, by powers of two, or as many as fit."""


@registry.add
@dataclass(frozen=True, slots=True)
class AverageByPerson(Kind):
    """The mean over people of each person's own mean of a number, clamped to its bounds."""

    name = "average_by_person"
    calls = ("AVG_BY_PERSON",)
    word = "AVG_BY_PERSON"
    heading = "avg_by_person"

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        """The mean of means; where each row is about somebody else that is AVG."""
        return of_one_number(AVERAGE if call.person is None else AVERAGE_BY_PERSON, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> Mean:
        coarse, operand = terms.grid(aggregate, self.word)
        grid = coarse.finer(FINER)
        mean = Term(How.MEAN, Steps(operand, grid.low, grid.high, grid.shift, grid.middle))
        rounding = grid.rounding + grid.step / 2
        total = terms.measure(Measured(Combination.plain(terms.add(mean)), grid.step, "sum of means", rounding))
        ends = (Fraction(end) for end in (grid.middle, grid.low, grid.high))
        return Mean(total, terms.people_of(aggregate), *ends)


AVERAGE_BY_PERSON = AverageByPerson()
