"""MODE(x): the most frequent value of a column, or of an expression, whose values are known; NULL is none of them.

Values are known as those of a key of GROUP BY are: declared, surveyed, booleans, whole numbers and dates between bounds, bins. One of them
is released for each group, whether or not a row has it. It is a value, and no number with an error: how far it may be behind the most
frequent one is public, and said beside the answer (`mechanisms.most_frequent`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import Fault, QueryError
from discreet.mechanisms.most_frequent import MOST_VALUES
from discreet.plan.catalog import one_number
from discreet.plan.domain import Values, complete, constant_of, copied, values_of, whole_key
from discreet.plan.explain import said
from discreet.plan.mode_reading import ModeAsked, ModeReading
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Call, Kind, ReadRelease, registry
from discreet.plan.releases.terms import MeasuredTerms
from discreet.plan.rules.conditions import where
from discreet.plan.scalar import And, In, Literal, Scalar, Type, Value, columns_in, type_of
from discreet.plan.scope import Scope

if TYPE_CHECKING:
    from discreet.plan.plan import Plan

BY_VALUE = "count by value, which finds them: SELECT x, COUNT(*) AS n … GROUP BY x ORDER BY n DESC LIMIT 1"


@registry.add
@dataclass(frozen=True, slots=True)
class Mode(Kind):
    """The most frequent of the known values of the argument, NULL not counted."""

    name = "mode"
    calls = ("MODE",)
    word = "MODE"
    heading = "mode"
    beside = True
    valued = True

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        if call.distinct:
            raise call.not_distinct()
        argument = call.scalar()
        if isinstance(argument, Literal) and argument.value is None:
            raise call.mismatch("NULL alone has no values")
        person = (call.person or "").casefold()
        if any(column.name.casefold() == person and not column.table for column in columns_in(argument)):
            raise call.refusal(
                "person",
                f"{call.person!r} says who a person is and is never released",
                "ask for the MODE of other columns",
            )
        return Aggregate(cls(), argument, call.condition)

    @classmethod
    def example(cls, name: str, *arguments: str) -> str:
        return f"{name}({arguments[0]})"

    def type_of(self, aggregate: Aggregate) -> Type:
        if aggregate.argument is None:
            raise Fault("a mode is of an argument", code="release")
        return type_of(aggregate.argument)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "ModeValue":
        if aggregate.argument is None:
            raise Fault("a mode is of an argument", code="release")
        scope = terms.scope if aggregate.condition is None else where(terms.scope, aggregate.condition)
        operand = whole_key(aggregate.argument, scope)
        values = _values(operand, scope)
        member: Scalar = In(operand, tuple(constant_of(value, type_of(operand)) for value in values))
        condition = member if aggregate.condition is None else And((aggregate.condition, member))
        if not complete(operand):
            terms.notes.append(
                f"MODE({said(aggregate.argument)}) leaves out rows with none of its {len(values):,} known values"
            )
        return ModeValue(terms.read(ModeAsked(operand, values, condition)))


def _values(operand: Scalar, scope: Scope) -> Values:
    """The values that an operand can have, or raises QueryError where they are not known, or too many."""
    known, what = values_of(operand, scope), said(operand)
    if type_of(operand) is Type.NUMBER and not copied(operand):
        raise QueryError(
            "MODE is of texts, whole numbers, dates, booleans and numbers that are taken as they are, and this is a number with"
            " decimals that is computed",
            code="number-key",
            hint="ask for the MODE of whole numbers, such as FLOOR(x / 10) * 10, or of CASE bins",
        )
    if known is None:
        columns = sorted({column.name for column in columns_in(operand) if values_of(column, scope) is None})
        name = columns[0] if columns else what
        raise QueryError(
            f"MODE chooses among values that are known, and those of {name!r} are not",
            code="missing-keys",
            hint=f'declare them: --keys {name}=A,B,C (or keys = ["A", "B", "C"] in the policy), or bounds of whole numbers and dates;'
            f" run `discreet survey` once; ask for the MODE of CASE bins; or {BY_VALUE}",
        )
    if type_of(operand) is Type.NUMBER:
        known = tuple(None if value is None else one_number(value) for value in known)
    values = tuple(value for value in dict.fromkeys(known) if value is not None)
    if not values:
        raise QueryError(
            f"MODE({what}) has no value to choose: none that is known is left",
            code="no-groups",
            hint="ask for a column that has declared keys, or for CASE bins, or with another WHERE",
        )
    if len(values) > MOST_VALUES:
        raise QueryError(
            f"MODE({what}) would choose among {len(values):,} values, and may among {MOST_VALUES:,} at most",
            code="too-many-groups",
            hint=f"ask for the MODE of CASE bins, of a date by YEAR(…) or DATE_TRUNC('month', …); or {BY_VALUE}",
        )
    return values


@dataclass(frozen=True, slots=True)
class ModeValue(ReadRelease):
    """A value of the list, by its place."""

    notation = "Mode reading"
    ahead = "it is one of its known values, and has no ±"

    reading: int

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Value]:
        reading = plan.decided.readings[self.reading]
        if not isinstance(reading, ModeReading):
            raise Fault("a mode is of a reading of modes", code="release")
        (place,) = plan.decided.columns_of(self.reading)
        return [reading.shown(int(each)) for each in released[place]]

    def exactly(
        self, plan: "Plan", totals: Sequence[Sequence[int]], beyond: Sequence[Fraction]
    ) -> list[Fraction | None]:
        """The values that are numbers."""
        return [Fraction(each) if isinstance(each, int | float) else None for each in self.values(plan, totals)]
