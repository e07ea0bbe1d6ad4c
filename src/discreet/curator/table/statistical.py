"""Statistical queries: q takes each row to a number from 0 to 1, and the answer is the sum of q, or its mean, with noise.

A condition counts 1 where it is true, and else 0; a number is clamped to 0 … 1; NULL counts 0. So where rows are protected one row that
comes or goes changes a sum by 1 at most (Δ = 1), and where people are, by as many rows as the limits leave of a person. With
`per="person"` the mean over the rows of each person comes first, and the sum over people has Δ = 1 again.

Several queries are asked at one price. A row can be in all of them, so what it changes adds up; where no row can be in two of them, which
`plan.disjoint` proves, they are the groups of a CASE: a histogram, in which a row changes one answer alone. A person may be in several
bins, and then it is taken only where declared limits make it change no more than the sums, and where no limit on groups would leave
anybody out of a bin: whatever is asked beside it, an answer is Σq of the same rows. Nothing of this is believed:
the question is a text like any other, and `plan.check` computes from its plan what each person can change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum, inf
from typing import TypeVar

from discreet.answer import Answer
from discreet.errors import Fault, Invalid, QueryError
from discreet.exact import shown
from discreet.plan.build.expression import Expression
from discreet.plan.build.functions import col, count, fn, mean, sum, when
from discreet.plan.build.select import Select
from discreet.plan.catalog import Catalog
from discreet.plan.disjoint import are_disjoint
from discreet.plan.draft import draft
from discreet.plan.private import plan_for
from discreet.plan.relation import Scan
from discreet.plan.scalar import Cast, Released, Scalar, Type, columns_in, type_of
from discreet.plan.sql import question
from discreet.plan.steps.base import Step

Question = TypeVar("Question", bound=Select)

QUERY, ANSWER = "query", "answer"
"""The columns of disjoint queries: which one it is, from 1, and its answer."""

SMALL = Fraction(1, 10**8)
"""A δ for noise that needs one."""

MOST_QUERIES = 1_000
"""As many as a list of a text may have items."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A query as it is written, and as it is read."""

    written: Expression
    scalar: Scalar
    is_condition: bool

    @property
    def value(self) -> Expression:
        """From 0 to 1, of each row, and never NULL."""
        if self.is_condition:
            return when(self.written).then(1).otherwise(0)
        return fn.least(fn.greatest(self.written, 0), 1)  # which both pass over NULL


@dataclass(frozen=True, slots=True)
class Statistics:
    """The answers to statistical queries, in their order: values, the ± of each, and the curator's answer that they are from."""

    values: tuple[float, ...]
    errors: tuple[float | None, ...]
    answer: Answer


def asked(table: Question, catalog: Catalog, queries: Sequence[str | Expression], mean_of: bool, per: str) -> Question:
    """The question of these queries about a table."""
    if not 0 < len(queries) <= MOST_QUERIES:
        raise Invalid(
            f"between 1 and {MOST_QUERIES:,} queries are asked at once, not {len(queries)}",
            code="statistical",
            hint='write statistical("age >= 65", epsilon=0.5)',
        )
    if per not in ("row", "person"):
        raise Invalid(f"per must be 'row' or 'person', got {shown(per)}", code="statistical", hint='write per="person"')
    if not isinstance(mean_of, bool):
        raise Invalid(f"mean must be True or False, got {shown(mean_of)}", code="statistical", hint="write mean=True")
    found = [_read(table, catalog, each) for each in queries]
    if per == "person":
        return _by_person(table, catalog, found, mean_of)
    if mean_of:
        return table.agg(**{f"q{i}": mean(each.value) for i, each in enumerate(found, 1)})
    sums = table.agg(**{f"q{i}": _sum(each) for i, each in enumerate(found, 1)})
    if len(found) > 1 and all(map(_may_be_a_bin, found)) and are_disjoint([each.scalar for each in found]):
        histogram = _histogram(table, found)
        if _holds_everybody(histogram, catalog) and _moves(histogram, catalog) <= _moves(sums, catalog):
            return histogram
    return sums


def statistics(answer: Answer, count_of: int) -> Statistics:
    """The answers in the order of the queries, whether they are columns or rows."""
    rows = answer.to_dicts(errors=True)
    if QUERY in rows[0]:
        by_query = {row[QUERY]: (row[ANSWER], row.get(f"{ANSWER}_error")) for row in rows}
        found = [by_query[i] for i in range(1, count_of + 1)]
    else:
        found = [(rows[0][f"q{i}"], rows[0].get(f"q{i}_error")) for i in range(1, count_of + 1)]
    return Statistics(tuple(value for value, _ in found), tuple(error for _, error in found), answer)  # type: ignore[misc]


def _may_be_a_bin(each: Statistic) -> bool:
    """Whether it is a condition, and of a column: constants are no keys."""
    return each.is_condition and bool(columns_in(each.scalar))


def _holds_everybody(histogram: Question, catalog: Catalog) -> bool:
    """Whether no limit on groups leaves anybody out of a bin that they are in."""
    made = draft(question(histogram.sql(), catalog), catalog)
    return catalog.protected.person is None or made.caps.groups is None or made.caps.groups >= made.cells


def _moves(table: Question, catalog: Catalog) -> float:
    """What a unit moves in all, as far as limits are declared: a person may be in several bins, each with as many rows as all of a sum."""
    delta = SMALL if catalog.protected.clip == "l2" else 0
    stage = plan_for(question(table.sql(), catalog), catalog, 1, delta).stage
    if isinstance(stage, Step):
        return inf  # limits are to be found
    return fsum(float(each.sensitivity * each.step) for each in stage.measurements)


def _sum(each: Statistic) -> Expression:
    return count().where(each.written) if each.is_condition else sum(each.value)


def _histogram(table: Question, found: Sequence[Statistic]) -> Question:
    """Conditions of which a row makes one true at most, as the groups of a CASE."""
    case = when(found[0].written).then(1)
    for i, each in enumerate(found[1:], 2):
        case = case.when(each.written).then(i)
    return table.group_by(query=case.end()).agg(answer=count())


def _by_person(table: Question, catalog: Catalog, found: Sequence[Statistic], mean_of: bool) -> Question:
    person = catalog.protected.person
    if person is None:
        raise Invalid("each row is about another person", code="statistical", hint='leave per="person" out')
    people = table.group_by(person).agg(**{f"q{i}": mean(each.value) for i, each in enumerate(found, 1)})
    gather = mean if mean_of else sum
    return people.agg(**{f"q{i}": gather(col(f"q{i}")) for i in range(1, len(found) + 1)})


def _read(table: Select, catalog: Catalog, query: str | Expression) -> Statistic:
    """A query of one row; a text that says more, or less, is refused."""
    written = query if isinstance(query, Expression) else _written(query)
    plain = question(table.agg(q=sum(when(Expression("TRUE")).then(1).end())).sql(), catalog)
    found = question(table.agg(q=Expression(f"SUM(({written.text}))")).sql(), catalog)
    one = replace(found.aggregates[0], argument=plain.aggregates[0].argument)
    sums = (one,) == plain.aggregates and len(found.aggregates) == len(found.outputs) == 1
    sums = sums and isinstance(found.outputs[0].value, Released) and isinstance(found.source, Scan)
    if not sums or replace(found, source=plain.source, aggregates=plain.aggregates, outputs=plain.outputs) != plain:
        raise QueryError(
            "a statistical query is one condition, or one number",
            code="statistical",
            hint="write age >= 65, or cost / 100",
        )
    flag = found.aggregates[0].argument
    if flag is None:
        raise Fault("a sum has an argument", code="statistical")
    if isinstance(flag, Cast) and flag.type is Type.INTEGER and type_of(flag.operand) is Type.BOOLEAN:
        return Statistic(written, flag.operand, True)
    return Statistic(written, flag, False)


def _written(text: str) -> Expression:
    if not isinstance(text, str) or not text.strip():
        raise Invalid(
            f"a query is a text or an expression, got {shown(text)}", code="statistical", hint='write "age >= 65"'
        )
    return Expression(f"({text.strip()}\n)" if "--" in text else f"({text.strip()})")
