"""The most frequent value of groups: rows counted by group and by value of a public list, of which one is chosen with noise in each group.

What a person counts with is what all limits leave of them, in 256 steps a row, in proportion to their rows with each value
(`apportioned`): nothing is left out by lot. A table of rows, or of people with one row each, is counted as it is. Rows without a value,
or with one that is not on the list, count nowhere, as rows that FILTER leaves out of a sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import Fault, QueryError
from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Grant
from discreet.mechanisms.most_frequent import MostFrequent
from discreet.plan.apportioned import Apportioned
from discreet.plan.digits import counted, six_digits
from discreet.plan.domain import Values
from discreet.plan.explain import said
from discreet.plan.quantile_reading import FINE, MOST_PLACES, mass_of, rows_by_value
from discreet.plan.reading import Groups, Reading, ReadingAsked
from discreet.plan.relation import ONE, Contributions, How, Rows, Term, Totals, days, keys_of, terms_of
from discreet.plan.scalar import Case, Literal, Scalar, Value, type_of
from discreet.plan.steps.base import broken
from discreet.plan.totals import Run
from discreet.privacy import Adjacency, Relation, events

if TYPE_CHECKING:
    from discreet.plan.caps import Caps
    from discreet.plan.draft import Draft


@dataclass(frozen=True, slots=True)
class ModeAsked(ReadingAsked):
    """The most frequent of these values of an operand, on the rows of one condition, before it has a price, or limits."""

    operand: Scalar
    values: Values
    condition: Scalar
    """What must be true of a row: that its value is on the list, too."""

    @property
    def value(self) -> Case:
        """The value of a row; NULL where the row is none of the aggregate's."""
        return Case(((self.condition, self.operand),), Literal(None, type_of(self.operand)))

    def priced(self, draft: "Draft", caps: "Caps", epsilon: Fraction) -> "ModeReading":
        if draft.cells * len(self.values) > MOST_PLACES:
            raise QueryError(
                f"MODE would choose among {len(self.values):,} values in each of {draft.cells:,} groups,"
                f" and groups times values may be {MOST_PLACES:,} at most",
                code="too-many-groups",
                hint="group by fewer columns, or ask for the MODE of CASE bins",
            )
        query = rows_by_value(draft, caps, self.value, self.condition)
        relation = draft.protected.relation
        mass = mass_of(query, relation, draft.known, len(self.values))
        unit = FINE if isinstance(query.source, Apportioned) else 1
        mechanism = MostFrequent(epsilon, len(self.values), mass, replaced(relation), unit)
        return ModeReading(query, mechanism, self.value, self.values)


def replaced(relation: Relation) -> bool:
    """Whether a neighbour has another unit instead of one."""
    return relation.adjacency is not Adjacency.ADD_REMOVE


@dataclass(frozen=True, slots=True)
class ModeReading(Reading):
    """For each group the place of a value on a public list."""

    notation = "ModeReading query mechanism value values"

    query: Totals
    mechanism: MostFrequent
    value: Scalar
    values: Values

    @property
    def columns(self) -> int:
        return 1

    def event(self) -> events.Event:
        return self.mechanism.event(self.mechanism.rows)

    def check(self, relation: Relation, groups: Groups) -> None:
        """Its choice is made for all that a unit counts with, and for what a neighbour does; its values are those of its query."""
        if keys_of(self.query)[-1:] != (self.value,) or terms_of(self.query)[1:]:
            raise broken("a mode is not of the values of its query")
        if isinstance(self.query.source, Rows | Contributions) and terms_of(self.query) != (Term(How.SUM, ONE),):
            raise broken("a mode is not of rows")
        if self.mechanism.values != len(self.values):
            raise broken("a mode has another number of values")
        if self.mechanism.rows < mass_of(self.query, relation, max(1, len(groups)), len(self.values)):
            raise broken("a unit has more rows than the choice of a mode is made for")
        if replaced(relation) and not self.mechanism.replaced:
            raise broken("a neighbour moves a mode by more than its choice is made for")

    def drawn(self, run: Run, grant: Grant, salt: int, groups: Groups) -> Sequence[Ints]:
        places = grant(self.mechanism, self.mechanism.rows, lambda: self._counted(run, salt, groups))
        return (np.asarray(places, np.int64),)

    def exactly(self, run: Run, salt: int, groups: Groups) -> Sequence[Ints]:
        """The first of the most frequent values."""
        return (self._counted(run, salt, groups).argmax(axis=1).astype(np.int64),)

    def _counted(self, run: Run, salt: int, groups: Groups) -> Ints:
        """The rows of each group with each value; those in no group, or without a value of the list, are left out."""
        cells = run(self.query, salt)
        group_places = {tuple(map(days, group)): i for i, group in enumerate(groups)}
        value_places = {days(value): i for i, value in enumerate(self.values)}
        counts = np.zeros((len(groups), len(self.values)), np.int64)
        for keys, total in zip(cells.keys, cells.totals[0].tolist(), strict=True):
            row, column = group_places.get(keys[:-1]), value_places.get(keys[-1])
            if row is not None and column is not None:
                counts[row, column] += total
        return counts

    def shown(self, place: int) -> Value:
        """The value at a place."""
        return self.values[place]

    @property
    def operand(self) -> Scalar:
        """What the values are of."""
        if not isinstance(self.value, Case):
            raise Fault("the value of a mode is that of some rows", code="release")
        return self.value.branches[0][1]

    def remarks(self, alike: Sequence[Reading]) -> list[str]:
        """How far behind its values may be, in any of the groups."""
        behind = max(ceil(each.mechanism.error()) for each in alike if isinstance(each, ModeReading))
        return [
            f"MODE({said(self.operand)}) is one of {counted(len(self.values), 'known value')}, whether or not a row has it:"
            f" in 95 of 100 answers at most {counted(behind, 'row')}, of those that count, behind the most frequent one of its group"
        ]

    def explained(self) -> str:
        return (
            f"the most frequent of {counted(len(self.values), 'value')}: chosen by permute-and-flip, at most"
            f" {six_digits(Fraction(self.mechanism.error()))} rows behind at 95 %, costs ε = {six_digits(self.mechanism.epsilon)}"
        )

    def receipt(self) -> dict[str, Any]:
        return {
            "said": "most frequent value",
            "mechanism": type(self.mechanism).__name__,
            "values": self.mechanism.values,
            "rows": str(Fraction(self.mechanism.rows, self.mechanism.unit)),
            "epsilon": str(self.mechanism.epsilon),
        }
