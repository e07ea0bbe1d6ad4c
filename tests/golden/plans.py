"""What each golden question becomes: facts, noise, scale and the SQL that an engine runs; or the code of its refusal.

The questions are in questions.sql, each under a line `-- name`. Every question is planned for each of the catalogs
below; those of one count also for tables of which numbers are never missing, those of dates for tables
whose dates have bounds.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path

from discreet.engines.render import StoredTable, sql_of
from discreet.engines.render.duckdb import DUCKDB
from discreet.errors import DiscreetError
from discreet.plan.calendar import number_of
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.check import digest
from discreet.plan.levels import coarser
from discreet.plan.moments import micros_of
from discreet.plan.plan import Plan, Stage
from discreet.plan.private import plan_for
from discreet.plan.public import Contents
from discreet.plan.question import Question
from discreet.plan.relation import Exceeding, Totals
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.plan.steps.base import Step
from discreet.privacy import Adjacency

FILE = Path(__file__).with_name("plans.txt")
DIGESTS = Path(__file__).with_name("digests.txt")
QUESTIONS = Path(__file__).with_name("questions.sql")
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
PRICES = ((EPSILON, DELTA), (Fraction(1, 3), Fraction(0)))

VISITS = Table(
    "visits",
    (
        Column("patient_id", Type.TEXT, nullable=False),
        Column("age", Type.INTEGER, Fraction(0), Fraction(120)),
        Column("cost", Type.NUMBER, Fraction(0), Fraction(10_000)),
        Column("weight", Type.NUMBER),
        Column("ward", Type.TEXT, keys=("A", "B", "C", "D", "E")),
        Column("admitted", Type.DATE),
        Column("smoker", Type.BOOLEAN),
        Column("note", Type.TEXT),
    ),
)
CATALOGS = {
    "person, add-remove": Catalog((VISITS,), Protected("patient_id", max_groups=3, max_rows=5)),
    "row, replace": Catalog((VISITS,), Protected(adjacency=Adjacency.REPLACE)),
    "person, replace, l2": Catalog((VISITS,), Protected("patient_id", Adjacency.REPLACE, 2, 1, clip="l2")),
    "person, add-remove, total": Catalog((VISITS,), Protected("patient_id", max_total=50)),
    "person, replace, rows and total": Catalog(
        (VISITS,), Protected("patient_id", Adjacency.REPLACE, max_rows=4, max_total=10)
    ),
}

SURE = replace(
    VISITS,
    columns=tuple(replace(each, nullable=each.nullable and each.low is None) for each in VISITS.columns),
)
NEVER_MISSING = {
    "person, never missing": Catalog((SURE,), Protected("patient_id", max_groups=3, max_rows=5)),
    "row, replace, never missing": Catalog((SURE,), Protected(adjacency=Adjacency.REPLACE)),
}
ONE_COUNT = "one-count"
"""How the names of questions begin that are asked of these, too."""


NOTHING_DECLARED = {
    "person, add-remove, nothing declared": Catalog((VISITS,), Protected("patient_id")),
    "person, replace, l2, nothing declared": Catalog((VISITS,), Protected("patient_id", Adjacency.REPLACE, clip="l2")),
}
LIMITS_FOUND = (
    "values-of-text",
    "values-by-ward",
    "count",
    "count-people",
    "count-where",
    "count-by-age",
    "people-by-ward",
    "sum-by-ward",
    "several",
)
"""The questions that are asked where limits are to be found, too."""


DATED = "date-"
"""How the names of questions begin that are asked of tables whose dates have bounds, and of no others."""


def _dated(table: Table) -> Table:
    """A table with bounds of its dates: a hospital's year and a quarter, and a century of births."""
    year = (number_of(date(2023, 11, 15)), number_of(date(2025, 2, 10)))
    births = (number_of(date(1920, 1, 1)), number_of(date(2020, 12, 31)))
    columns = tuple(
        replace(each, low=Fraction(year[0]), high=Fraction(year[1])) if each.type is Type.DATE else each
        for each in table.columns
    )
    more = (
        Column("discharged", Type.DATE, Fraction(year[0]), Fraction(year[1])),
        Column("born", Type.DATE, Fraction(births[0]), Fraction(births[1])),
    )
    return replace(table, columns=(*columns, *more))


WITH_DATES = {
    f"{unit}, dates": replace(catalog, tables=tuple(map(_dated, catalog.tables)))
    for unit, catalog in CATALOGS.items()
    if unit in ("person, add-remove", "row, replace", "person, replace, l2")
}


TIMED = "time-"
"""How the names of questions begin that are asked of tables that have timestamps, and of no others."""


def _timed(table: Table) -> Table:
    """A table with timestamps: a year of arrivals, and departures that nobody declared the bounds of."""
    first, last = micros_of(datetime(2024, 1, 1)), micros_of(datetime(2024, 12, 31, 23, 59, 59, 999999))
    more = (Column("arrived", Type.TIMESTAMP, Fraction(first), Fraction(last)), Column("departed", Type.TIMESTAMP))
    return replace(table, columns=(*table.columns, *more))


WITH_TIMES = {
    f"{unit}, timestamps": replace(catalog, tables=tuple(map(_timed, catalog.tables)))
    for unit, catalog in CATALOGS.items()
    if unit in ("person, add-remove", "row, replace", "person, replace, l2")
}

JOINED = "join-"
"""How the names of questions begin that are asked of several tables, one of them public, and of no others."""

PATIENTS = Table(
    "patients",
    (
        Column("patient_id", Type.TEXT, nullable=False),
        Column("born", Type.INTEGER, Fraction(1900), Fraction(2025)),
        Column("sex", Type.TEXT, keys=("f", "m")),
    ),
    join_rows=1,
)
WARDS = Table(
    "wards",
    (
        Column("ward", Type.TEXT, keys=("A", "B", "C", "X"), nullable=False),
        Column("building", Type.TEXT, keys=("North", "South"), nullable=False),
        Column("beds", Type.INTEGER, Fraction(4), Fraction(30), keys=(4, 12, 30), nullable=False),
    ),
    public=Contents.of(
        {"ward": ["A", "B", "C", "X"], "building": ["North", "North", "South", "South"], "beds": [12, 30, 4, 12]}
    ),
)
SEVERAL_TABLES = {
    f"{unit}, several tables": replace(
        catalog,
        tables=(VISITS, *([PATIENTS] if catalog.protected.person else []), WARDS),
        protected=replace(catalog.protected, people=1000),
    )
    for unit, catalog in CATALOGS.items()
    if unit in ("person, add-remove", "row, replace", "person, replace, l2")
}


def catalogs(name: str) -> dict[str, Catalog]:
    """The catalogs that a question is planned for."""
    if name.startswith(DATED):
        return WITH_DATES
    if name.startswith(TIMED):
        return WITH_TIMES
    if name.startswith(JOINED):
        return SEVERAL_TABLES
    more = NEVER_MISSING if name.startswith(ONE_COUNT) else NOTHING_DECLARED if name in LIMITS_FOUND else {}
    return CATALOGS | more


def queries(plan: Plan) -> list[Totals]:
    """All that an engine may run for a plan, by examples."""
    steps = []
    while isinstance(step := plan.next, Step):
        steps.append(step.reads)
        plan = plan.chosen(step.examples[0])
    stages = [plan.decided, *(level for level in plan.decided.levels if level is not None)]
    return [*steps, *(query for stage in stages for query in stage.queries)]


@cache
def questions() -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in QUESTIONS.read_text("utf-8").splitlines(keepends=True):
        if line.startswith("-- "):
            name = line.removeprefix("-- ").strip()
            found[name] = ""
        else:
            found[name] += line
    return {name: text.strip().removesuffix(";") for name, text in found.items()}


SAMPLED, AT_ONCE = "sampled-", "at-once-"
"""How the names of questions begin whose intervals are for a population, and of those that hold for all numbers at once."""


def asked(name: str, text: str, catalog: Catalog) -> Question:
    """What is asked under a name."""
    return replace(
        question(text, catalog),
        population=name.startswith(SAMPLED),
        simultaneous=name.startswith((AT_ONCE, SAMPLED + AT_ONCE)),
    )


def made(name: str, unit: str, epsilon: Fraction, delta: Fraction) -> Plan | DiscreetError:
    """The plan of a question under one of its catalogs, or the refusal."""
    catalog = catalogs(name)[unit]
    try:
        return plan_for(asked(name, questions()[name], catalog), catalog, epsilon, delta)
    except DiscreetError as error:
        return error


kept = cache(made)
"""The same, once a process: golden plans are the same for every test. Not for planted bugs."""


def outcome(name: str, unit: str) -> str:
    plan = kept(name, unit, EPSILON, DELTA)
    return f"refused: {plan.code}: {plan}\n" if isinstance(plan, DiscreetError) else _planned(plan)


def _planned(plan: Plan) -> str:
    lines = []
    while isinstance(step := plan.next, Step):
        lines += [f"{step.explained()}; runs: {_text(step.reads)}", f"then, if it is {step.named(step.examples[0])}:"]
        plan = plan.chosen(step.examples[0])
    lines += [f"costs: epsilon {plan.epsilon}, delta {plan.delta}; groups: {len(plan.domain)}"]
    lines += _measured(plan.decided, plan)
    for kept, level in zip(plan.question.levels, plan.decided.levels, strict=True):
        lines += [f"level of keys {kept}: {len(coarser(plan.domain, kept))} groups"]
        lines += [] if level is None else [*_measured(level, plan), *_runs(level)]
    lines += [f"note: {note}" for note in plan.told]
    return "\n".join([*lines, *_runs(plan.decided)]) + "\n"


def _runs(stage: Stage) -> list[str]:
    return [f"runs: {_text(query)}" for query in stage.queries]


def _measured(stage: Stage, plan: Plan) -> list[str]:
    lines = []
    for measurement in stage.measurements:
        sensitivity = combined(measurement.made, stage.query, plan.relation, len(stage.domain))
        noise, made = measurement.mechanism, measurement.made
        of = "" if made.only is not None else f" of {made.parts} / {made.divisor}"
        said = f"{type(noise).__name__} of scale {float(noise.scale):.9g}" if noise else "no noise"
        lines.append(
            f"{measurement.said}{of}: L1 {float(sensitivity.l1):.9g}, L2 {float(sensitivity.l2):.9g}, step {measurement.step}; {said}"
        )
    return [*lines, *(reading.explained() for reading in stage.readings)]


def _text(query: Totals) -> str:
    """The SQL of a query; of a ladder the first two rungs are enough."""
    if isinstance(query.source, Exceeding):
        query = Totals(replace(query.source, rungs=query.source.rungs[:2]))
    return sql_of(query, {name: StoredTable(name) for name in ("visits", "patients", "wards")}, DUCKDB)


def written() -> str:
    parts = []
    for name, text in questions().items():
        parts.append(f"## {name}\n{text}\n")
        parts += [f"[{unit}]\n{outcome(name, unit)}" for unit in catalogs(name)]
    return "\n".join(parts)


def digests(plans: Callable[[str, str, Fraction, Fraction], Plan | DiscreetError] = kept) -> dict[str, str]:
    """The name of each plan, under each catalog and at each price. Ledgers keep names for good: no line ever changes."""
    return {
        f"{name} [{unit}] {epsilon} {delta}": _name(plans(name, unit, epsilon, delta))
        for name in questions()
        for unit in catalogs(name)
        for epsilon, delta in PRICES
    }


def _name(plan: Plan | DiscreetError) -> str:
    return f"refused: {plan.code}" if isinstance(plan, DiscreetError) else digest(plan)


def kept_digests() -> dict[str, str]:
    lines = DIGESTS.read_text("utf-8").splitlines()
    return {what: name for what, _, name in (line.partition(": ") for line in lines)}
