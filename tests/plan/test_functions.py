"""The table of functions is the one place that knows them: a row is all that a function needs, and every row keeps its promises.

`python -m tests.plan.test_functions` writes the table of docs/sql.md anew.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.engines.base import Data
from discreet.engines.render.duckdb import DUCKDB
from discreet.engines.render.nodes import named
from discreet.errors import Fault, Invalid, QueryError
from discreet.plan import functions, written
from discreet.plan import scalar as s
from discreet.plan.casts import CASTS, Conversion
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.evaluate import clean, evaluate
from discreet.plan.explain import explain
from discreet.plan.facts import Facts
from discreet.plan.functions import FUNCTIONS, FunctionRow, FunctionWords, Written, add, ends, rising
from discreet.plan.private import plan_for
from discreet.plan.question import Question
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import Type
from discreet.plan.scope import Scope
from discreet.plan.sql import question
from discreet.plan.sql.refusals import REFUSED
from tests.engines.twins import agree
from tests.plan.strategies import VALUES
from tests.scale import repeats

PAGE = Path(__file__).parent.parent.parent / "docs" / "sql.md"
KINDS = {
    Type.INTEGER: int,
    Type.NUMBER: float,
    Type.TEXT: str,
    Type.DATE: date,
    Type.TIMESTAMP: datetime,
    Type.BOOLEAN: bool,
}


# Every row keeps its promises. What it means on every engine, the laws of tests/engines and test_facts.py ask of every row, too.


@settings(max_examples=repeats(100))
@given(data=st.data())
@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=lambda row: row.name)
def test_a_function_is_total_and_of_its_type(row: FunctionRow, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 3)) if row.many else len(row.takes)
    operands = [data.draw(VALUES[row.operand(i)]) for i in range(count)]
    found = clean(row.meaning(*operands))
    assert found is None or type(found) is KINDS[row.gives]


@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=lambda row: row.name)
def test_null_is_nulls_and_is_passed_over_by_functions_of_many(row: FunctionRow) -> None:
    nothing = tuple(s.Literal(None, each) for each in row.takes)
    assert evaluate(s.Function(row.name, nothing), {}) is None
    if row.many:
        one = s.Literal(2.5, Type.NUMBER)
        assert evaluate(s.Function(row.name, (*nothing, one, *nothing)), {}) == 2.5


ROWS: list[FunctionRow | Conversion] = [*FUNCTIONS.values(), *(row for (a, b), row in CASTS.items() if a is not b)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: getattr(row, "name", "cast"))
def test_a_row_says_how_often_its_sql_writes_an_operand(row: FunctionRow | Conversion) -> None:
    """Else a question of nested calls would be a text of exponential length."""
    count = len(row.takes) if isinstance(row, FunctionRow) else 1
    made = row.write(DUCKDB, *(named(f"operand{i}") for i in range(count)))
    for i in range(count):
        times = DUCKDB.text(made).count(f'"operand{i}"')
        assert times <= row.written.value or row.written is Written.OFTEN


@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=lambda row: row.name)
def test_no_name_of_a_function_is_refused(row: FunctionRow) -> None:
    assert not set(row.spellings) & set(REFUSED)
    assert row.name == row.name.lower() and "\n" not in row.says and "|" not in row.says


def test_a_name_is_given_once_and_an_unknown_one_is_a_fault() -> None:
    with pytest.raises(Invalid, match="CEILING"):
        add(FunctionRow("ceiling", (Type.NUMBER,), Type.NUMBER, "", abs, functions.calls("abs")))
    assert "ceiling" not in FUNCTIONS
    with pytest.raises(Fault, match="no function"):
        s.type_of(s.Function("ceiling", ()))


def known(scalar: s.Scalar, table: Table) -> Facts:
    """What is known of an expression, which must hold on every row that the table may have, here of one value or none."""
    facts = facts_of(scalar, Scope.of(table))
    values = [
        ([None] if each.nullable else []) + ([-1e300, 0.5, 1e300] if each.low is None else [each.low, each.high])
        for each in table.columns
    ]
    for row in product(*values):
        found = evaluate(
            scalar, {each.name: value for each, value in zip(table.columns, map(double, row), strict=True)}
        )
        assert facts.nullable or found is not None
        if isinstance(found, int | float):
            assert facts.low is None or facts.low <= found
            assert facts.high is None or found <= facts.high
    return facts


def double(value: Any) -> float | None:
    return None if value is None else float(value)


def facts_of_functions_hold() -> None:
    """Of every function of numbers, where some operand may be missing."""
    bounds = [(Fraction(0), Fraction(3)), (Fraction(-7, 2), Fraction(-1)), (Fraction(-5), Fraction(9, 2))]
    for (first, second), missing in product(product(bounds, bounds), product((False, True), repeat=2)):
        table = Table(
            "t",
            tuple(
                Column(name, Type.NUMBER, *ends, nullable=nullable)
                for name, ends, nullable in zip("xy", (first, second), missing, strict=True)
            ),
        )
        operands = tuple(s.Column(name, Type.NUMBER) for name in "xy")
        for row in FUNCTIONS.values():
            if row.takes == (Type.NUMBER,):
                known(s.Function(row.name, operands if row.many else operands[:1]), table)


def facts_of_casts_hold() -> None:
    for nullable in (False, True):
        table = Table("t", (Column("x", Type.NUMBER, nullable=nullable),))
        assert known(s.Cast(s.Column("x", Type.NUMBER), Type.INTEGER), table).integral


def test_the_facts_of_functions_and_casts_hold() -> None:
    facts_of_functions_hold()
    facts_of_casts_hold()


def intervals_hold() -> None:
    """A function of numbers that lie somewhere lies where it says, whatever the ends: also those that are not there."""
    points = [-np.inf, -1e300, -2.5, -1.0, -0.5, -0.0, 0.49999999999999994, 0.5, 1.5, 7.0, 1e300, np.inf]
    spans = [(low, high) for low, high in product(points, points) if low <= high]
    rows: list[tuple[Any, Any, int]] = [
        (row.meaning, row.interval, 2 if row.many else 1)
        for row in FUNCTIONS.values()
        if row.interval is not None and row.takes == (Type.NUMBER,)
    ]
    rows += [
        (CASTS[Type.NUMBER, each].meaning, CASTS[Type.NUMBER, each].interval, 1) for each in (Type.NUMBER, Type.INTEGER)
    ]
    for meaning, interval, count in rows:
        for some in product(spans, repeat=count):
            with np.errstate(all="ignore"):
                low, high = interval(np, *(tuple(np.array([end]) for end in span) for span in some))
            for inside in product(*([point for point in points if span[0] <= point <= span[1]] for span in some)):
                found = clean(meaning(*inside))
                assert found is None or low[0] <= found <= high[0], (meaning, some, inside)


def test_the_intervals_of_functions_and_casts_hold() -> None:
    intervals_hold()


# A row is all that a function needs.


def tripled(x: Facts) -> Facts:
    return rising(lambda end: 3 * end)(x)


TRIPLE = FunctionRow(  # for which the parser has no class
    "triple",
    (Type.NUMBER,),
    Type.NUMBER,
    "three times a number",
    meaning=lambda x: 3 * x,
    write=lambda words, x: words.infix(words.infix(x, "+", x), "+", x),
    facts=tripled,
    interval=ends(lambda np, x: 3 * x),
    synonyms=("THREEFOLD",),
    written=Written.OFTEN,
)


def written_quarter(words: FunctionWords, day: Any) -> Any:
    month = words.as_type(words.part("month", day), Type.NUMBER)
    third = words.infix(words.infix(month, "+", words.number(2.0)), "/", words.number(3.0))
    return words.as_type(words.call("floor", third), Type.INTEGER)


QUARTERS = FunctionRow(  # for which it has one; here it means the quarter
    "unicode",
    (Type.DATE,),
    Type.INTEGER,
    "the quarter of a date, 1 to 4",
    meaning=lambda day: (day.month + 2) // 3,
    write=written_quarter,
    facts=functions.between(1, 4),
    counted=True,
    extracted=True,
)
DIGITS = FunctionRow(  # and one that it reads as another function, of a constant and the operand
    "array_sort",
    (Type.NUMBER,),
    Type.NUMBER,
    "the number of digits of a power of ten",
    meaning=lambda x: float(len(str(int(x))) - 1) if 1 <= x < 1e15 else None,
    write=lambda words, x: words.when(
        [(words.infix(x, ">=", words.number(1.0)), words.call("log10", x))], words.null(Type.NUMBER)
    ),
    written=Written.TWICE,
)


RANGE = FunctionRow(  # whose name is a reserved word
    "range",
    (Type.TEXT, Type.INTEGER),
    Type.TEXT,
    "the beginning of a text",
    meaning=lambda text, count: text[: max(count, 0)],
    write=lambda words, text, count: words.call("left", text, words.call("greatest", count, words.whole(0))),
    makes_nan=False,
)
LPAD = FunctionRow(  # of several operands
    "lpad",
    (Type.TEXT, Type.INTEGER, Type.INTEGER),
    Type.TEXT,
    "a part of a text",
    meaning=lambda text, start, length: text[start - 1 : start - 1 + length] if min(start, length) > 0 else None,
    write=functions.calls("substring"),
)


def calls_are_told_apart() -> None:
    """By what the parser sets besides the operands, which stand in their order."""
    with planted(LPAD, replace(LPAD, name="rpad")):
        for name in ("lpad", "rpad"):
            (counted,) = question(f"SELECT COUNT({name}('abc', 1, 2)) AS n FROM t WHERE x > 0", CATALOG).aggregates
            assert isinstance(counted.argument, s.Function) and counted.argument.name == name
            found = [each.value for each in s.children(counted.argument) if isinstance(each, s.Literal)]
            assert found == ["abc", 1, 2]


def test_calls_of_one_class_of_the_parser_are_told_apart() -> None:
    calls_are_told_apart()


@contextmanager
def planted(*rows: FunctionRow) -> Iterator[None]:
    with patch.dict(functions.FUNCTIONS), patch.dict(functions.SPELLINGS):
        add(*rows)
        yield


COLUMNS = (
    Column("who", Type.INTEGER),
    Column("x", Type.NUMBER, Fraction(-2), Fraction(5)),
    Column("day", Type.DATE),
    Column("moment", Type.TIMESTAMP),
    Column("tens", Type.INTEGER),
)
CATALOG = Catalog((Table("t", COLUMNS),), Protected("who", max_groups=2, max_rows=3))
ROW_LEVEL = Catalog((Table("t", COLUMNS),), Protected())
DATA = {
    "who": [i % 40 for i in range(200)],
    "x": [None if i % 17 == 0 else i % 29 / 4 - 2 for i in range(200)],
    "day": [None if i % 13 == 0 else date(2024, 1, 1) + timedelta(days=3 * i) for i in range(200)],
    "moment": [datetime(2024, 1, 1) + timedelta(hours=3 * i) for i in range(200)],
    "tens": [10 ** (i % 5) for i in range(200)],
}
ASKED = [
    "SELECT COUNT(*) AS n FROM t WHERE TRIPLE(x) > 3",
    "SELECT COUNT(*) AS n FROM t WHERE threefold(TRIPLE(x) + TRIPLE(TRIPLE(x))) BETWEEN 3 AND 30",
    "SELECT SUM(TRIPLE(x)) AS s, AVG(TRIPLE(x) - x) AS a FROM t",
    "SELECT UNICODE(day) AS q, COUNT(*) AS n, TRIPLE(COUNT(*)) AS m FROM t GROUP BY q HAVING TRIPLE(COUNT(*)) > 9 ORDER BY 3",
    "SELECT EXTRACT(UNICODE FROM day) AS q, SUM(x) AS s FROM t GROUP BY q",
    "SELECT COUNT(*) AS n FROM t WHERE ARRAY_SORT(tens) = 2",
    "SELECT COUNT(*) AS n FROM t WHERE RANGE(CAST(tens AS VARCHAR), who) = '10'",
]


@pytest.mark.parametrize("text", ASKED)
@pytest.mark.parametrize("catalog", [CATALOG, ROW_LEVEL], ids=["person", "row"])
def test_a_row_is_all_that_engines_need(text: str, catalog: Catalog) -> None:
    """Both find the same; each function is known by its row alone, which is not there before and after."""
    nodes = tuple(s.Column(each.name, each.type) for each in COLUMNS)
    with planted(TRIPLE, QUARTERS, DIGITS, RANGE):
        plan = plan_for(question(text, catalog), catalog, 1)
        agree([Data("t", DATA, nodes, person=catalog.protected.person)], [plan.query])
    with pytest.raises(QueryError, match=r"not known|not available|no hours"):
        question(text, catalog)


def test_a_row_is_all_that_answers_need(tmp_path: Path) -> None:
    """Groups, HAVING, outputs with their intervals, plans as text: through the whole path, on DuckDB, with next to no noise."""
    columns: dict[str, Any] = {
        "x": {"type": "number", "bounds": (-2, 5)},
        "day": {"type": "date"},
        "tens": {"type": "integer"},
    }
    text = (
        "SELECT UNICODE(day) AS q, COUNT(*) AS n, TRIPLE(COUNT(*)) AS m, SUM(TRIPLE(x)) AS s FROM t"
        " GROUP BY UNICODE(day) HAVING TRIPLE(COUNT(*)) > 3 * 40 ORDER BY q"
    )
    with (
        planted(TRIPLE, QUARTERS),
        dp.Curator({"t": DATA}, row=True, columns=columns, epsilon=10**4, ledger=tmp_path) as curator,
    ):
        answer, noisy = curator.sql(text, epsilon=10**3), curator.sql(text, epsilon=1)
        tree = curator.explain(text, epsilon=10**3)
    quarters = [(day.month + 2) // 3 for day in DATA["day"] if isinstance(day, date)]
    counts = {q: quarters.count(q) for q in (1, 2, 3, 4) if 3 * quarters.count(q) > 120}
    sums = [
        sum(
            3 * x
            for x, day in zip(DATA["x"], DATA["day"], strict=True)
            if x is not None and day and (day.month + 2) // 3 == q
        )
        for q in counts
    ]
    found = answer.to_dicts()
    assert [(row["q"], row["n"], row["m"]) for row in found] == [(q, n, 3.0 * n) for q, n in counts.items()]
    assert [row["s"] for row in found] == pytest.approx(sums, abs=1)
    for row in noisy.to_dicts(errors=True):
        assert row["n_low"] < row["n_high"]
        assert (row["m_low"], row["m_high"]) == pytest.approx((3 * row["n_low"], 3 * row["n_high"]))
    assert "SUM(TRIPLE(x))" in tree and "UNICODE(day): 4 groups" in tree and "having TRIPLE(aggregate0) >" in tree


def test_a_call_with_other_operands_is_refused_by_name_and_a_row_is_offered() -> None:
    with planted(TRIPLE, QUARTERS):
        for text, message in (
            ("TRIPLE(x, x)", "TRIPLE takes 1 value"),
            ("TRIPLE()", "TRIPLE takes 1 value"),
            ("TRIPLE(day)", "a number is needed, not a date"),
            ("UNICODE(x)", "a date is needed, not a number"),
        ):
            with pytest.raises(QueryError, match=message):
                question(f"SELECT COUNT(*) FROM t WHERE {text} = 1", CATALOG)
        with pytest.raises(QueryError) as refused:
            question("SELECT COUNT(*) FROM t WHERE TRIPEL(x) = 1", CATALOG)
        assert "TRIPLE" in refused.value.hint
    with pytest.raises(QueryError) as refused:
        question("SELECT COUNT(*) FROM t WHERE TRIPLE(x) = 1", CATALOG)
    assert "TRIPLE" not in refused.value.hint


def test_the_name_of_a_plan_is_that_of_release_0_1() -> None:
    """Names of functions were an enumeration, and ledgers keep the names of plans."""
    assert written.notation(s.Function("abs", ())) == "Function(name=<Name.ABS: 'abs'>, operands=())"


# The page is made from the table.


def page_table() -> str:
    lines = ["| function | of | is | means |", "|---|---|---|---|"]
    for row in FUNCTIONS.values():
        called = [row.call(*"ab").replace("|", "\\|")] if row.form else []
        names = ", ".join(f"`{name}`" for name in (*called, *row.spellings))
        of = "numbers" if row.many else ", ".join(f"a {each.value}" for each in row.takes)
        lines.append(
            f"| {names} | {of} | {'an' if row.gives is Type.INTEGER else 'a'} {row.gives.value} | {row.says} |"
        )
    return "\n".join(lines)


BEGIN, END = "<!-- made from the table of functions -->\n", "\n<!-- until here -->"


def test_the_page_has_the_functions_of_the_table() -> None:
    page = PAGE.read_text("utf-8")
    assert page.partition(BEGIN)[2].partition(END)[0] == page_table()


OPERANDS = {
    Type.NUMBER: "x",
    Type.DATE: "day",
    Type.TIMESTAMP: "moment",
    Type.TEXT: "CAST(tens AS TEXT)",
    Type.INTEGER: "3",
}


def operands(row: FunctionRow) -> list[str]:
    written = [OPERANDS[each] for each in row.takes * (2 if row.many else 1)]
    return ["x", "0", "10", "5"] if row.name == "width_bucket" else written  # whose ends are constants


def asked_of(call: str) -> Question:
    return question(f"SELECT COUNT(*) AS n FROM t WHERE {call} IS NULL", ROW_LEVEL)


def test_every_function_is_in_one_place_of_the_explanation() -> None:
    """A plan says each function as it is written."""
    for row in FUNCTIONS.values():
        call = row.call(*operands(row))
        assert f"where {call} IS NULL" in explain(plan_for(asked_of(call), ROW_LEVEL, 1))


def test_every_synonym_is_read_in_any_case() -> None:
    for row in FUNCTIONS.values():
        plain = asked_of(row.call(*operands(row)))
        for name, fold in product(row.spellings, (str.upper, str.lower)):
            assert asked_of(f"{fold(name)}({', '.join(operands(row))})") == plain


if __name__ == "__main__":
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{page_table()}{END}{rest.partition(END)[2]}", "utf-8")
