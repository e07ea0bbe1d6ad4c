"""A dialect is one object: everything that is rendered is written in its words, and in no other dialect's.

The first dialect here is not run: it spells each word as its name, so that whatever else stands in a text was written by the renderer for
all dialects. The second is DuckDB without what few others have, and is run.
"""

import inspect
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import product
from typing import Any

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

import discreet.engines.duckdb as module
from discreet.engines.reading import Form, Reading
from discreet.engines.render import StoredTable, priorities, text_of
from discreet.engines.render.cells import TextForm, loaded
from discreet.engines.render.duckdb import DUCKDB, DuckDBWords
from discreet.engines.render.native import Native, NativeKind
from discreet.engines.render.nodes import E, T, bare_integer, call, named
from discreet.engines.render.words import Words
from discreet.errors import Fault
from discreet.plan.plan import Plan
from discreet.plan.relation import Totals
from discreet.plan.scalar import Function, Literal, Type
from tests.engines import test_agree, test_caps
from tests.engines.twins import arranged
from tests.golden.plans import DELTA, EPSILON, catalogs, kept, queries, questions
from tests.scale import covering, repeats

SPELT = {
    *("is_nan", "remainder", "int_div", "rounded", "floor_to_int", "round_to_int", "truncated", "is_whole", "wide"),
    *("try_number", "try_integer", "try_small", "try_date", "number_text", "days", "plus_days", "plus_months", "utc"),
    *("micros", "whole_micros", "moment"),
    *("length", "lower_ascii", "trimmed", "hash64", "modulo", "row_number", "ln", "log10", "log2", "exp", "power"),
    *("lowered", "uppered", "slice", "place", "trimmed_left", "trimmed_right"),
}
"""The words whose operands are all expressions: each is spelt as a call of its own name."""


class Toy(Words):
    """A dialect that no engine has."""

    dialect = ""
    bits = 63

    def sum_of_squares(self, made: E, narrow: bool) -> E:
        return call("w_sum_of_squares", made)

    def part(self, unit: str, made: E) -> E:
        return call("w_part", exp.Literal.string(unit), made)

    def date_trunc(self, unit: str, made: E) -> E:
        return call("w_date_trunc", exp.Literal.string(unit), made)

    def moment_trunc(self, unit: str, made: E) -> E:
        return call("w_moment_trunc", exp.Literal.string(unit), made)

    def on_clock(self, made: E, starts: Sequence[int], offsets: Sequence[int]) -> E:
        return call("w_on_clock", made)

    def date_text(self, pattern: str, made: E) -> E:
        return call("w_date_text", exp.Literal.string(pattern), made)

    def contains(self, made: E, part: str) -> E:
        return call("w_contains", made, exp.Literal.string(part))

    def like(self, made: E, pattern: str) -> E:
        return call("w_like", made, exp.Literal.string(pattern))

    def matches(self, made: E, pattern: str) -> E:
        return call("w_matches", made, exp.Literal.string(pattern))

    def group(self, made: E, pattern: str, number: int) -> E:
        return call("w_group", made, exp.Literal.string(pattern), bare_integer(number))

    def without(self, made: E, pattern: str) -> E:
        return call("w_without", made, exp.Literal.string(pattern))

    def priority(self, hashed: E, keys: Sequence[E], salt: E) -> E:
        return call("w_priority", hashed, *keys, salt)

    def parameter(self, identifier: str, type: T | None = None) -> E:
        return call("w_parameter", exp.Literal.string(identifier))

    def with_tables(self, made: E, **tables: E) -> E:
        parts = [
            exp.CTE(this=query, alias=exp.TableAlias(this=exp.Identifier(this=name))) for name, query in tables.items()
        ]
        made.set("with_", exp.With(expressions=parts))
        return made

    def native(self, type: str) -> Native:
        return Native(NativeKind(type), narrow=True, digits=18, places=2, zoned=True)


def spelt(name: str) -> Callable[..., E]:
    return lambda self, *operands: call(f"w_{name}", *operands)


for each in SPELT:
    setattr(Toy, each, spelt(each))

TOY = Toy()
COMMON = {
    *(
        "abs",
        "ceil",
        "coalesce",
        "concat",
        "count",
        "floor",
        "greatest",
        "least",
        "lpad",
        "max",
        "min",
        "replace",
        "rpad",
        "row_number",
        "dense_rank",
    ),
    *("sign", "sqrt", "sum"),
}
"""The functions that all dialects have under one name and with one meaning."""
WORDS = {
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "WITH", "UNION", "ALL"),
    *("LEFT", "JOIN", "USING", "ON", "AS"),
    *(
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "CAST",
        "AND",
        "OR",
        "NOT",
        "IN",
        "IS",
        "BETWEEN",
        "NULL",
        "TRUE",
        "FALSE",
    ),
    *("OVER", "PARTITION", "ORDER", "NULLS", "LAST"),
    *("BIGINT", "INT", "DOUBLE", "PRECISION", "FLOAT", "TEXT", "DATE", "TIMESTAMP", "BOOLEAN"),
}
BESIDE = {name: StoredTable(name) for name in ("patients", "wards")}
STORED = [
    {"visits": StoredTable("visits"), **BESIDE},
    {
        "visits": StoredTable(
            "visits", {"ward": TextForm.CODE, "note": TextForm.DOUBLE}, "patient_id", "number", "hash", 10, 100
        ),
        **BESIDE,
    },
]


@cache
def golden() -> list[Totals]:
    """All that an engine may run for the golden questions: one query of each shape, and every one in a soak."""
    plans = [kept(name, unit, EPSILON, DELTA) for name in questions() for unit in catalogs(name)]
    found = dict.fromkeys(query for plan in plans if isinstance(plan, Plan) for query in queries(plan))
    return covering(found, shape)


def shape(value: object) -> Iterator[Hashable]:
    """What a renderer may tell queries apart by: which record stands in which place of which other, and which function or word."""
    if isinstance(value, tuple):
        for each in value:
            yield from shape(each)
    elif is_dataclass(value):
        if isinstance(value, Function):
            yield value.name, *(each.value if isinstance(each, Literal) else type(each) for each in value.operands)
        for field in fields(value):
            inner = getattr(value, field.name)
            several = inner if isinstance(inner, tuple) else (inner,)
            kinds = {each if isinstance(each, Enum | bool | None) else type(each) for each in several}
            yield type(value), field.name, min(len(several), 2), *sorted(kinds, key=str)
            yield from shape(inner)


def foreign(text: str) -> set[str]:
    """What stands in a text that neither all dialects nor the toy have. Literals and quoted names are nobody's words."""
    bare = re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", " ", text)
    called = {name.casefold() for name in re.findall(r"(\w+)\(", bare)}
    calls = {name for name in called if not name.startswith("w_")} - COMMON - {word.casefold() for word in WORDS}
    words = set(re.findall(r"\b[A-Z][A-Z_]+\b(?!\()", bare)) - WORDS
    signs = set(re.findall(r"[$?:%&|^#~]|//|<<|>>|\*\s+REPLACE", bare))
    return calls | words | signs


def test_the_words_of_a_dialect_are_those_of_the_protocol() -> None:
    """A word that a new dialect does not spell is found here, not in a question."""
    wanted = {name for name in vars(Words) if not name.startswith("_")}
    for words in (TOY, DUCKDB):
        assert all(hasattr(words, name) for name in wanted | {"dialect", "bits"})
    left_open = {
        name
        for name in wanted
        if inspect.isfunction(vars(Words)[name]) and inspect.getsource(vars(Words)[name]).endswith("...\n")
    }
    assert left_open <= set(vars(DuckDBWords)) and left_open <= set(vars(Toy))


@pytest.mark.parametrize("stored", STORED, ids=["plain", "arranged"])
def test_every_golden_question_is_rendered_in_the_words_of_a_new_dialect_alone(
    stored: Mapping[str, StoredTable],
) -> None:
    found = golden()
    assert len(found) > 50
    texts = set()
    for query, sliced in product(found, (False, True)):
        text = text_of(query, stored, TOY, sliced)
        texts.add(text.sql)
        try:
            listed = priorities(query, stored, TOY)
        except Fault:  # where single rows are protected nobody has priorities
            continue
        assert foreign(listed.sql) == set() and listed.parameters == {"salt"}
    for each in texts:
        assert foreign(each) == set(), each
        assert sqlglot.parse_one(each) is not None


READINGS = [Reading(), Reading(decimal=",", thousands=".", null=("NA",), formats={"c": Form.of("%d/%m/%Y")})]


@pytest.mark.parametrize(("kind", "wanted"), list(product(NativeKind, Type)), ids=lambda each: each.value)
def test_every_cell_is_read_in_the_words_of_a_new_dialect_alone(kind: NativeKind, wanted: Type) -> None:
    for reading, person in product(READINGS, (False, True)):
        cell = loaded("c0", kind.value, "c", wanted, reading, person, TOY)
        for made in (cell.value, cell.filled):
            assert made is None or foreign(TOY.text(made)) == set(), TOY.text(made)


def test_what_is_foreign_is_seen() -> None:
    """DuckDB's own words, one by one, are none of the toy's."""
    seen = set().union(*(foreign(text_of(query, STORED[1], DUCKDB, True).sql) for query in golden()))
    assert {"hash", "xor", "isnan", "bit_or", "QUALIFY", "MATERIALIZED", "$", "//", "UBIGINT"} <= seen


# A dialect that has less, and is run.


class Plain(DuckDBWords):
    """DuckDB without masks, * REPLACE, QUALIFY and its own priorities."""

    bits = 63
    bit_or, replaced, first = Words.bit_or, Words.replaced, Words.first

    def priority(self, hashed: E, keys: Sequence[E], salt: E) -> E:
        mixed = call("hash", salt, hashed, *keys)
        return exp.Paren(this=exp.BitwiseRightShift(this=call("hash", mixed), expression=bare_integer(1)))


@settings(max_examples=repeats(20), suppress_health_check=test_agree.SLOW)
@given(data=st.data())
def test_a_dialect_with_less_finds_the_same(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(module, "DUCKDB", Plain())
        test_agree.agree_on_queries(data)
        with arranged():
            test_agree.agree_on_queries(data)


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (2, 3)])
def test_a_dialect_with_less_keeps_the_caps(monkeypatch: pytest.MonkeyPatch, rows: int, groups: int) -> None:
    monkeypatch.setattr(module, "DUCKDB", Plain())
    test_caps.test_nobody_is_in_more_groups_or_with_more_rows(rows, groups)
    texts: list[Any] = [DUCKDB.text(each) for each in Plain().replaced(["a", "b"], {"b": named("c")})]
    assert texts == ['"a" AS "a"', '"c" AS "b"']
