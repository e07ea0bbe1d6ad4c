"""What surveys released, used from then on, free: as types, keys, bounds, limits and predictions, wherever a declaration is missing.

A fact is public, but it need not be all there is. So it never takes noise, a test for NULL or a condition away, never calls a literal
impossible, and never refuses a δ. What was surveyed on an older version of the data may be far off by now: keys are used, and marked;
a limit is only the top of the ladder on which one is found.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from discreet.curator.facts import Fact, Known
from discreet.curator.survey.record import Ladder, SurveyFacts
from discreet.plan.caps import Limit
from discreet.plan.catalog import MOST_KEYS, Catalog, Column, Table
from discreet.plan.draft import Draft
from discreet.plan.parts import InPart
from discreet.plan.relation import Filter, PerPerson, scans, walk
from discreet.plan.scalar import Type


def overlaid(catalog: Catalog, known: Known) -> Catalog:
    """A catalog with what surveys tell of columns that nobody declared, or not all of."""
    tables = tuple(
        replace(table, columns=tuple(_column(each, table, known) for each in table.columns)) for table in catalog.tables
    )
    people = catalog.protected.people
    if people is None and len(catalog.private) == 1:
        survey = known.table(catalog.private[0].name)
        if survey is not None and survey.version == known.version:
            people = max(1, round(survey.people.value))
    return replace(catalog, tables=tables, protected=replace(catalog.protected, people=people))


def _column(column: Column, table: Table, known: Known) -> Column:
    fact = known.column(table.name, column.name)
    if fact is None or column.keys is not None or column.low is not None:
        return column
    if column.auto and fact.current and fact.column.bounds is not None and fact.column.type.numeric:
        low, high = fact.column.bounds
        return replace(
            column,
            low=_outward(floor, low, column),
            high=_outward(ceil, high, column),
            auto=False,
            surveyed=_said(fact),
        )
    if column.auto or (column.declared and column.type is not fact.column.type):
        return column
    parts = {**_values(fact), **({} if column.max_groups is not None else _groups(fact))}
    if not column.declared and fact.column.type is not Type.TEXT:
        parts |= {"type": fact.column.type, "stored": Type.TEXT}
    common = fact.survey.analyst is None
    return replace(column, **parts, declared=column.declared or common, surveyed=_said(fact))


def _outward(whole: Callable[[Fraction], int], end: Fraction, column: Column) -> Fraction:
    """An end of a range as a column of whole numbers, or of any, can have it."""
    return Fraction(whole(end)) if column.type is Type.INTEGER else end


def _said(fact: Fact) -> str:
    return f"surveyed on version {fact.survey.version}"


def _values(fact: Fact) -> dict[str, Any]:
    """The keys of a text, or the bounds of a number or a date that was surveyed on this version."""
    column = fact.column
    if column.type is Type.TEXT and column.keys is not None:
        return {"keys": tuple(each for each in column.keys if isinstance(each, str))[:MOST_KEYS]}
    if column.bounds is not None and fact.current:
        low, high = column.bounds
        return {"low": low, "high": high}
    return {}


def _groups(fact: Fact) -> dict[str, Any]:
    most = fact.column.max_groups
    return {"max_groups": most} if fact.current and most is not None and fact.column.type is Type.TEXT else {}


# Limits.

USUAL_GROUPS = 10
"""So many groups a limit is chosen for, where their keys are still to be found."""


def limits(draft: Draft, known: Known, epsilon: Fraction) -> tuple[dict[str, int], str]:
    """The limits that a question lacks and a survey of this version tells, and in words where they are from; for what is filtered none."""
    survey = _survey(draft, known)
    if survey is None or survey.per_person is None or draft.missing != (Limit.TOTAL,):
        return {}, ""
    if (
        any(isinstance(each, Filter | InPart | PerPerson) for each in walk(draft.question.source))
        or survey.version != known.version
    ):
        return {}, ""
    cells = USUAL_GROUPS if None in draft.domains else draft.cells
    most = best(survey.per_person, cells, epsilon)
    beyond = survey.per_person.beyond(most)
    people = f"about {beyond.value:,.0f} of {survey.people.value:,.0f} people have more"
    return {Limit.TOTAL.value: most}, f"max_total = {most:,} is from the survey of version {survey.version}: {people}"


def top(draft: Draft, known: Known) -> int | None:
    """The top of the ladder on which a limit is found: hardly anybody had more rows in the whole table, when it was surveyed."""
    survey = _survey(draft, known)
    if survey is None or survey.per_person is None or Limit.TOTAL not in draft.missing:
        return None
    return survey.per_person.limit()


def best(ladder: Ladder, cells: int, epsilon: Fraction) -> int:
    """The rung with the least predicted noise and cut together, both from released numbers.

    Noise of scale C/ε is off by as much on average, in each group. What is cut is shared by all groups: whoever has rows from one rung
    to the next is taken in the middle. Beyond what about everybody has there is noise alone, which would be taken for a few people
    with very many rows.
    """
    top = ladder.limit()
    return min(ladder.rungs, key=lambda rung: _cut(ladder, rung, top) / cells + rung / float(epsilon))


def _cut(ladder: Ladder, most: int, top: int) -> float:
    """About how many rows are beyond a limit, of people with no more than the top."""
    cut, low = 0.0, 0
    for high, count in zip(ladder.rungs, ladder.counts, strict=False):
        if high <= top:
            cut += max(0.0, count) * max(0.0, (low + 1 + high) / 2 - most)
        low = high
    return cut


def _survey(draft: Draft, known: Known) -> SurveyFacts | None:
    tables = {scan.table for scan in scans(draft.question.source)}
    return known.table(tables.pop()) if len(tables) == 1 else None
