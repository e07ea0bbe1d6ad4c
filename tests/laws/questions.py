"""Questions, made at random, each with its translation into plain DuckDB.

The reference fills up declared groups, so that whole tables can be compared, and says for each number how far off a grid of 2^24 steps of
the width of its bounds may take it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any

from tests.laws.expressions import STEPS, Expression, Rows, Translation, column, constant
from tests.laws.messy import DOSES, FIELDS, TABLE, VISITS, WARDS


@dataclass(frozen=True, slots=True)
class Key:
    """A key of GROUP BY, and all its values."""

    expression: Expression
    values: tuple[Any, ...]


LISTED = ({"small"}, {"ward"}, {"visit"}, {"smoker"}, {"dose"})
IMAGES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("small > 3", (False, True)),
    ("small > 30", (False,)),
    ("(small + 1) * 5 % 2 = 0", (False, True)),
    ("7 / small > 1", (False, True, None)),
    ("ward IN ('A', 'B')", (False, True)),
    ("ward LIKE '%7'", (False, True)),
    ("ward IS NULL", (False, True)),
    ("visit > DATE '2200-01-01'", (False,)),
    ("CASE WHEN small > 20 THEN small END", (21, 22, 23, 24, 25, None)),
    ("COALESCE(smoker, FALSE)", (False, True)),
    ("NOT smoker", (False, True)),
    ("dose > 0.2", (False, True)),
    ("dose IN (0, 0.5)", (False, True)),
    ("NULLIF(ward, 'A')", (*WARDS[1:], None)),
    ("LENGTH(ward)", (1, 3, 5, 6)),
    ("DAY(visit)", (1, 28, 29)),
    ("LEAST(small, 0)", (-5, -4, -3, -2, -1, 0)),
)
_OTHER = "CASE WHEN cost > 1 THEN ward ELSE 'other' END"


def keys(rows: Rows) -> list[Callable[[], Key]]:
    random = rows.random

    def bins() -> Key:
        edge, other = sorted((random.randint(-5, 20), random.randint(-5, 20)))
        name = random.choice(("small", "size", "cost", "odd"))
        text = f"CASE WHEN {name} < {edge} THEN 'low' WHEN {name} <= {other} THEN 'middle' ELSE 'high' END"
        return Key(Expression(text, text, "text"), ("low", "middle", "high"))

    def open_bins() -> Key:
        text = "CASE WHEN small > 3 THEN 'more' END"
        return Key(Expression(text, text, "text"), ("more", None))

    def steps() -> Key:
        width = random.choice((100, 500, 1000))
        inside = Translation.divided("cost", str(width))
        values = tuple(range(-1000 // width * width, 10000 // width * width + 1, width))
        return Key(Expression(f"FLOOR(cost / {width}) * {width}", f"(floor({inside}) * {width})", "number"), values)

    def decades() -> Key:
        return Key(
            Expression("FLOOR(small / 10) * 10", f"(floor({Translation.divided('small', '10')}) * 10)", "number"),
            (-10, 0, 10, 20),
        )

    def asked() -> Key:
        """A condition on several columns, or on one without a list of values; a cast of a text is none."""
        while True:
            found = rows.boolean(2)
            used = {name for name in FIELDS if re.search(rf"\b{name}\b", found.text)}
            if used and used not in LISTED and "AS BOOLEAN" not in found.text:
                return Key(found, (False, True))

    def image() -> Key:
        """Of what is computed from one column with a list of values the groups are those that they fall into, and no others."""
        text, values = random.choice(IMAGES)
        return Key(Expression(text, text.replace("7 / small", Translation.divided("7", "small")), "text"), values)

    return [
        lambda: Key(column("ward"), WARDS),
        lambda: Key(column("ward"), WARDS),
        lambda: Key(column("visit"), VISITS),
        lambda: Key(column("smoker"), (False, True)),
        lambda: Key(column("dose"), DOSES),
        lambda: Key(column("dose"), DOSES),
        lambda: Key(Expression("COALESCE(dose, 7.5)", "coalesce(dose, 7.5)", "number"), (*DOSES, 7.5)),
        lambda: Key(column("small"), tuple(range(-5, 26))),
        lambda: Key(Expression("MONTH(day)", "month(day)", "integer"), tuple(range(1, 13))),
        lambda: Key(Expression("EXTRACT(DAY FROM day)", "day(day)", "integer"), tuple(range(1, 32))),
        lambda: Key(Expression("YEAR(visit)", "year(visit)", "integer"), tuple(sorted({each.year for each in VISITS}))),
        lambda: Key(Expression("COALESCE(ward, 'none')", "coalesce(ward, 'none')", "text"), (*WARDS, "none")),
        lambda: Key(Expression(_OTHER, _OTHER, "text"), (*WARDS, "other")),
        lambda: Key(Expression("small % 3", "(small % 3)", "integer"), (-2, -1, 0, 1, 2)),
        lambda: Key(Expression("ABS(small)", "abs(small)", "integer"), tuple(range(26))),
        bins, bins, open_bins, steps, decades, asked, image, image,
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate: ours, the reference's over the rows of a group, what it is of no rows, and how far off it may be.

    `error` is an expression over the rows of a group; it is NULL for an average of nobody.
    """

    text: str
    reference: str
    empty: str
    error: str
    exact: bool


def filtered(text: str, where: Expression | None, which: str = "text") -> str:
    return text if where is None else f"{text} FILTER (WHERE {getattr(where, which)})"


def aggregate(rows: Rows, unit: str, means: bool) -> Aggregate:
    random = rows.random
    where = rows.boolean(2) if random.random() < 0.25 else None
    kinds = ["rows", "values", "values", "people", "sum", "sum", "sum", *(["average", "average"] if means else [])]
    kind = random.choice(kinds)
    if kind == "people" and unit != "row":
        return counted("COUNT(DISTINCT person)", "count(DISTINCT person)", where)
    if kind in ("rows", "people"):
        return counted("COUNT(*)", "count(*)", where)
    if kind == "values":
        inner = rows.of(
            random.choice(("number", "number", "number", "text", "date", "boolean")), random.choice((0, 1, 1, 2))
        )
        return counted(f"COUNT({inner.text})", f"count({inner.reference})", where)
    inner = rows.of("number", random.choice((0, 0, 0, 1, 2, 2)), sure=True)
    some = filtered(f"count({inner.reference})", where, "reference")
    exact = inner.on_grid
    step = 0.0 if exact else STEPS * inner.width
    if kind == "sum":  # the sum of no rows is 0, where DuckDB says NULL
        text, reference = f"SUM({inner.text})", f"sum({inner.reference})"
        whole = (
            0.0 if exact else STEPS * max(abs(inner.low or 0.0), abs(inner.high or 0.0))
        )  # of the sum, put on a grid of its own
        error = f"({some} * {step!r} + CASE WHEN {some} > 0 THEN {whole!r} ELSE 0 END)"
        return Aggregate(filtered(text, where), filtered(reference, where, "reference"), "0", error, exact)
    text, reference = f"AVG({inner.text})", f"avg({Translation.double(inner.reference)})"
    error = f"(CASE WHEN {some} > 0 THEN {2 * (step + 1e-9 * inner.width)!r} END)"
    return Aggregate(filtered(text, where), filtered(reference, where, "reference"), "NULL", error, False)


def counted(text: str, reference: str, where: Expression | None) -> Aggregate:
    return Aggregate(filtered(text, where), filtered(reference, where, "reference"), "0", "0.0", True)


@dataclass(frozen=True, slots=True)
class Output:
    """A column of an answer: ours over aggregates, the reference's over their names, and how far off it may be; "0.0" for what is exact."""

    text: str
    reference: str
    error: str = "0.0"


def outputs(random: Random, found: Sequence[Aggregate], means: bool) -> list[Output]:
    """Each aggregate, and sometimes something computed from them."""
    plain = [Output(each.text, f"a{i}", f"e{i}") for i, each in enumerate(found)]
    if random.random() < 0.6:
        return plain
    first, second = random.choice(plain), random.choice(plain)
    counts = [each for each, made in zip(plain, found, strict=True) if made.reference.startswith("count")]
    bottom = random.choice([Output("COUNT(*)", "n"), *counts])
    factor = constant(random.choice((2, -3, 100, 0.5, 100.0)))
    made = random.choice(
        (
            Output(f"{first.text} + {second.text}", f"({first.reference} + {second.reference})", f"({first.error} + {second.error})"),
            Output(f"{first.text} - {second.text}", f"({first.reference} - {second.reference})", f"({first.error} + {second.error})"),
            Output(
                f"{factor.text} * {first.text}", f"({factor.reference} * {first.reference})", f"abs({factor.reference} * {first.error})"
            ),
            Output(f"-{first.text}", f"(-{first.reference})", first.error),
            Output(f"ABS({first.text})", f"abs({first.reference})", first.error),
            Output(
                f"{first.text} / {bottom.text}",
                Translation.divided(Translation.double(first.reference), bottom.reference),
                f"abs({first.error} / NULLIF({bottom.reference}, 0))",
            ),
            Output(
                f"100.0 * {first.text} / ({bottom.text} + 1)",
                Translation.divided(f"(100.0::DOUBLE * {first.reference})", f"({bottom.reference} + 1)"),
                f"abs(100 * {first.error} / NULLIF({bottom.reference} + 1, 0))",
            ),
            Output(
                f"CASE WHEN {bottom.text} > 3 THEN 'many' ELSE 'few' END", f"CASE WHEN {bottom.reference} > 3 THEN 'many' ELSE 'few' END"
            ),
            Output(f"GREATEST({first.text}, 3)", f"greatest({first.reference}, 3)", first.error),
            Output(
                f"COALESCE(NULLIF({bottom.text}, 0), -1)", f"coalesce(nullif({bottom.reference}, 0), -1)"
            ),
        )
    )  # fmt: skip
    return [*plain, made if means or " / " not in made.reference else first]


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `decided` are the references by which rows are kept and sorted, each with its error and what it is compared with."""

    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    where: Expression | None = None
    having: tuple[str, str] | None = None
    order: tuple[tuple[str, str], ...] = ()
    tail: str = ""
    limits: tuple[tuple[Output, float], ...] = ()
    sorted: tuple[Output, ...] = ()
    by: str = "expression"
    groups: tuple[tuple[Any, ...], ...] | None = None  # those that WHERE leaves; None: all that are declared

    @property
    def text(self) -> str:
        """As it is asked."""
        said = [f"{each.expression.text} AS k{i}" for i, each in enumerate(self.keys)]
        said += [f"{each.text} AS o{i}" for i, each in enumerate(self.outputs)]
        text = f"SELECT {', '.join(said)} FROM {TABLE}"
        if self.where is not None:
            text += f" WHERE {self.where.text}"
        if self.keys:
            text += f" GROUP BY {', '.join(map(self.key, range(len(self.keys))))}"
        if self.having is not None:
            text += f" HAVING {self.having[0]}"
        if self.order:
            text += f" ORDER BY {', '.join(ours for ours, _ in self.order)}"
        return text + self.tail

    @property
    def listed(self) -> tuple[tuple[Any, ...], ...]:
        """All groups that are declared."""
        return tuple(product(*(each.values for each in self.keys)))

    def key(self, place: int) -> str:
        """A key of GROUP BY: as it is, by its name, or by its number."""
        return {"name": f"k{place}", "number": str(place + 1)}.get(self.by, self.keys[place].expression.text)

    @property
    def plain(self) -> Question:
        """The same without what selects and sorts groups."""
        return replace(self, having=None, order=(), tail="", limits=(), sorted=())

    def reference(self, unit: str) -> str:
        """As plain DuckDB is asked: keys, outputs, then the error of each output."""
        said = [f"k{i}" for i in range(len(self.keys))]
        said += [f"{each.reference} AS o{i}" for i, each in enumerate(self.outputs)]
        said += [f"CAST({each.error} AS DOUBLE) AS error{i}" for i, each in enumerate(self.outputs)]
        text = f"{self.filled(unit)} SELECT {', '.join(said)} FROM filled"
        if self.having is not None:
            text += f" WHERE {self.having[1]}"
        if self.order:
            text += f" ORDER BY {', '.join(theirs for _, theirs in self.order)}"
        return text + self.tail

    def deciding(self, unit: str) -> str:
        """For each group what it is selected and sorted by, each with its error."""
        said = [
            each
            for output in (*(found for found, _ in self.limits), *self.sorted)
            for each in (output.reference, output.error)
        ]
        return f"{self.filled(unit)} SELECT {', '.join(said)} FROM filled"

    def filled(self, unit: str) -> str:
        """The declared groups with their aggregates, also those without rows; rows of other groups, and of nobody, are left out."""
        names = [f"k{i}" for i in range(len(self.keys))]
        where = [self.where.reference] if self.where is not None else []
        where += ["person IS NOT NULL"] if unit != "row" else []
        chosen = "".join(f", {each.expression.reference} AS k{i}" for i, each in enumerate(self.keys))
        rows = f"SELECT *{chosen} FROM {TABLE}" + (f" WHERE {' AND '.join(where)}" if where else "")
        sums = [f"{each.reference} AS a{i}, {each.error} AS e{i}" for i, each in enumerate(self.aggregates)]
        found = f"SELECT {', '.join([*names, 'count(*) AS n', *sums])} FROM kept" + (
            f" GROUP BY {', '.join(names)}" if names else ""
        )
        if not names:
            groups = "SELECT 1 AS one"
        else:
            listed = ", ".join(
                f"({', '.join(map(sql, group))})" for group in (self.listed if self.groups is None else self.groups)
            )
            groups = f"SELECT * FROM (VALUES {listed}) AS listed({', '.join(names)})"
        on = " AND ".join(f"groups.{name} IS NOT DISTINCT FROM found.{name}" for name in names) or "TRUE"
        made = [f"groups.{name}" for name in names] + ["coalesce(n, 0) AS n"]
        made += [
            f"coalesce(a{i}, {each.empty}) AS a{i}, CAST(coalesce(e{i}, {each.empty}) AS DOUBLE) AS e{i}"
            for i, each in enumerate(self.aggregates)
        ]
        return (
            f"WITH kept AS ({rows}), found AS ({found}), groups AS ({groups}),"
            f" filled AS (SELECT {', '.join(made)} FROM groups LEFT JOIN found ON {on})"
        )


def sql(value: Any) -> str:
    return "NULL" if value is None else constant(value).reference


def question(random: Random, unit: str, means: bool = True) -> Question:
    """A question at random; without `means` it has no averages and divides by nothing that was released."""
    rows = Rows(random)
    by = tuple(random.choice(keys(rows))() for _ in range(random.choice((0, 1, 1, 1, 2))))
    if len({each.expression.text for each in by}) < len(by) or (
        len(by) == 2 and len(by[0].values) * len(by[1].values) > 400
    ):
        by = by[:1]
    found = tuple(aggregate(rows, unit, means) for _ in range(random.choice((1, 1, 2, 3))))
    released = tuple(outputs(random, found, means))
    where = rows.boolean(3) if random.random() < 0.6 else None
    made = Question(by, found, released, where, by=random.choice(("expression", "name", "number")))
    if by and random.random() < 0.4:
        made = with_having(random, made)
    if random.random() < 0.4:
        made = with_order(random, made)
    return made


def with_having(random: Random, made: Question) -> Question:
    numbers = [each for each in made.outputs if not each.text.startswith("CASE")]
    first = random.choice([Output("COUNT(*)", "n"), *numbers])
    level = constant(random.choice((0, 1, 3, 2.5, -1, 10, 100)))
    order = random.choice((">", ">=", "<", "<>", "<="))
    ours, theirs = f"{first.text} {order} {level.text}", f"{first.reference} {order} {level.reference}"
    limits = [(first, float(level.low or 0))]
    if random.random() < 0.3:
        word = random.choice((" AND ", " OR "))
        ours, theirs = f"{ours}{word}COUNT(*) BETWEEN 1 AND 20", f"{theirs}{word}n BETWEEN 1 AND 20"
    if random.random() < 0.2:
        ours, theirs = f"NOT ({ours})", f"NOT ({theirs})"
    return replace(made, having=(ours, theirs), limits=tuple(limits))


def with_order(random: Random, made: Question) -> Question:
    """Sorted by an output, and by all keys, so that the order is total; only then is there a LIMIT."""
    order, by = [], []
    if not made.keys or random.random() < 0.8:
        place = random.randrange(len(made.outputs))
        output = made.outputs[place]
        way = random.choice(("", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST", " NULLS LAST", " DESC NULLS FIRST"))
        said = random.choice((f"o{place}", str(place + 1 + len(made.keys)), output.text))
        order.append((said + way, output.reference + way))
        by = [] if output.text.startswith("CASE") else [output]
    for i in range(len(made.keys)):
        way = random.choice(("", " DESC", " NULLS FIRST"))
        order.append((f"k{i}{way}", f"k{i}{way}"))
    tail = f" LIMIT {random.randint(0, 5)}" if random.random() < 0.6 else ""
    tail += f" OFFSET {random.randint(1, 3)}" if tail and random.random() < 0.3 else ""
    return replace(made, order=tuple(order), tail=tail, sorted=tuple(by))
