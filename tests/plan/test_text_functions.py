"""Functions of texts: on hostile values plain Python and DuckDB say the same, no text grows without end, and keys stay public."""

from fractions import Fraction
from hashlib import sha256
from itertools import product
from typing import Any

import duckdb
import pytest

from discreet.engines.render.duckdb import COMMON, DUCKDB
from discreet.engines.render.nodes import named
from discreet.engines.render.nodes import table as table_node
from discreet.engines.render.scalars import Made, ScalarWriter
from discreet.errors import QueryError
from discreet.plan import scalar as s
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.domain import MOST_EVALUATED
from discreet.plan.domain import size_of as parts_of
from discreet.plan.evaluate import evaluate
from discreet.plan.explain import explain
from discreet.plan.functions import function
from discreet.plan.letters import LAST, capitals, small_letters
from discreet.plan.private import plan_for
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.plan.text_functions import LONGEST_MADE
from tests.plan.strategies import NUMBERS, TEXTS

INF = float("inf")
SMALL_LETTERS, CAPITALS = "028cc1a4c036052c", "0f198cf5814ce038"
"""The digests of both tables."""
LONG = ("a" * 9_999, "ß" * 10_000, "xy" * 5_001, "🏥" * 6_000)
SOME = (
    "",
    " ",
    "a",
    "aa",
    "aab",
    "e\u0301",
    "É",
    "ß",
    "İ",
    "🏥",
    "🏥a🏥",
    "a\x00b",
    "  a ",
    "\u00a0a",
    "ΑΣ",
    "ẞ",
    "\u0301",
    "ǅ",
    *LONG,
)
PLACES = (
    None,
    -INF,
    -(2.0**53),
    -7.5,
    -3.0,
    -2.0,
    -1.0,
    -0.5,
    0.0,
    0.49999999999999994,
    0.5,
    1.0,
    2.0,
    2.5,
    3.0,
    9_999.0,
    2.0**31,
    1e300,
    INF,
)
FEW = {Type.TEXT: (None, *SOME[:12], LONG[0], LONG[2]), Type.NUMBER: PLACES}
NATIVE = {Type.TEXT: "VARCHAR", Type.NUMBER: "DOUBLE"}


def operands_of(name: str) -> list[tuple[Any, ...]]:
    """All hostile operands of a function, or of one of many fewer."""
    takes = function(name).takes
    if takes == (Type.TEXT,):
        return [(each,) for each in (None, *SOME, *TEXTS)]
    if len(takes) == 2 and Type.NUMBER not in takes:
        return list(product((None, *SOME, *TEXTS[:30]), (None, *SOME)))
    if takes == (Type.NUMBER,) * 4:
        return list(
            product(
                (None, -INF, -1.0, 0.1, 2.5, 3.0, 1e308, INF),
                (None, -1e308, 0.0, 0.1),
                (0.1, 3.0, INF),
                (None, 0.0, 1.0, 3.0, 2.5, 1e5),
            )
        )
    if set(takes) == {Type.NUMBER}:
        return list(product((None, *NUMBERS, 10.0, -3.0, 1e-5), repeat=len(takes)))
    return list(product(*(FEW[each] for each in takes)))


def agree_on(name: str) -> None:
    """Row by row, value for value."""
    row, rows = function(name), operands_of(name)
    names = [f"c{i}" for i in range(len(row.takes))]
    called = s.Function(name, tuple(s.Column(each, kind) for each, kind in zip(names, row.takes, strict=True)))
    writer = ScalarWriter({each: Made(named(each)) for each in names}, DUCKDB)
    made = writer.clean(called).sql
    source = writer.over(table_node("t"))
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET ieee_floating_point_ops = true")
        columns = ", ".join(
            f"unnest(?::{NATIVE[kind]}[]) AS {each}" for each, kind in zip(names, row.takes, strict=True)
        )
        connection.execute(f"CREATE TABLE t AS SELECT {columns}", [list(each) for each in zip(*rows, strict=True)])
        found = connection.execute(f"SELECT {DUCKDB.text(made)} FROM {DUCKDB.text(source)}").fetchall()
    for operands, (value,) in zip(rows, found, strict=True):
        wanted = evaluate(called, dict(zip(names, operands, strict=True)))
        assert value == wanted and type(value) is type(wanted), (name, [str(each)[:20] for each in operands])


TEXT_FUNCTIONS = (
    *("lower", "upper", "trim", "ltrim", "rtrim", "substring", "left", "right", "replace", "append"),
    *("strpos", "contains", "starts_with", "ends_with"),
)


@pytest.mark.parametrize("name", TEXT_FUNCTIONS)
def test_a_function_of_texts_is_the_same_in_python_and_in_duckdb(name: str) -> None:
    agree_on(name)


def letters_agree() -> None:
    """Every code point that has a pair, and many others, both by DuckDB's own functions and by the table."""
    every = (*range(LAST), *range(LAST, 0x110000, 997))
    points = [point for point in every if not 0xD800 <= point < 0xE000]
    lower, upper, common = (
        DUCKDB.text(each)
        for each in (DUCKDB.lowered(named("c")), DUCKDB.uppered(named("c")), DUCKDB.matches(named("c"), COMMON))
    )
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS c", [[chr(point) for point in points]])
        found = connection.execute(f"SELECT {lower}, {upper}, {common} FROM t").fetchall()
    small, large = small_letters(), capitals()
    for point, (down, up, _) in zip(points, found, strict=True):
        assert (down, up) == (small.get(point, chr(point)), large.get(point, chr(point))), hex(point)
    assert sum(each for _, _, each in found) > 30_000


def test_small_letters_and_capitals_are_the_same_for_every_code_point() -> None:
    letters_agree()


def letters_stay() -> None:
    """Pairs are what they were in 2002, whatever edition of Unicode this Python has: else a question would get another meaning."""
    for table, size, digest in ((small_letters(), 748, SMALL_LETTERS), (capitals(), 731, CAPITALS)):
        pairs = "".join(chr(one) + other for one, other in sorted(table.items()))
        assert len(table) == size and len(pairs) == 2 * size
        assert sha256(pairs.encode()).hexdigest()[:16] == digest
        assert all(ord(other) not in table for other in table.values()), "twice is not once"


def test_letters_are_changed_one_for_one_and_stay_what_they_are() -> None:
    letters_stay()


def no_text_grows() -> None:
    """Whatever is nested, a text is at most 10,000 characters long, or as long as what it is made of."""
    for size, old, new in product((1, 10, 10_000, 20_000), ("a", "aa", ""), ("", "b", "b" * 100, "b" * 10_001)):
        text = "a" * size
        found = evaluate(s.Function("replace", tuple(s.Literal(each, Type.TEXT) for each in (text, old, new))), {})
        assert found is None or len(str(found)) <= max(size, LONGEST_MADE)
        found = evaluate(s.Function("append", (s.Literal(text, Type.TEXT), s.Literal(new, Type.TEXT))), {})
        assert found is None or len(str(found)) <= LONGEST_MADE


def test_no_function_makes_a_text_longer_than_10_000_characters() -> None:
    no_text_grows()


KEYS = tuple(f"key {i}" for i in range(10_000))
COLUMNS = (
    Column("who", Type.TEXT),
    Column("ward", Type.TEXT, keys=("a ", "A", "É")),
    Column("many", Type.TEXT, keys=KEYS),
    Column("flag", Type.BOOLEAN),
    Column("note", Type.TEXT),
    Column("age", Type.INTEGER, Fraction(0), Fraction(120)),
)
CATALOG = Catalog((Table("t", COLUMNS),), Protected("who", max_groups=2, max_rows=3))
GROUPS = [
    ("UPPER(TRIM(ward))", ("A", "É")),
    ("LOWER(ward)", ("a ", "a", "é")),
    ("LEFT(ward, 1) || '!'", ("a!", "A!", "É!")),
    (
        "CONCAT(TRIM(ward), '-', flag)",
        ("a-false", "a-true", "a-", "A-false", "A-true", "A-", "É-false", "É-true", "É-", "-false", "-true", "-"),
    ),
    ("REPLACE(ward, 'É', 'E')", ("a ", "A", "E")),
    ("SUBSTRING(ward FROM 2 FOR 1)", (" ", "")),
    ("LENGTH(ward)", (2, 1)),
    ("STRPOS(ward, 'A')", (0, 1)),
    ("STARTS_WITH(note, 'x')", (False, True)),
    ("CONTAINS(ward, 'A')", (False, True)),
    ("'D' || age // 60", ("D0", "D1", "D2")),
]


@pytest.mark.parametrize(("key", "groups"), GROUPS, ids=[key for key, _ in GROUPS])
def test_the_groups_of_a_function_of_keys_are_its_image(key: str, groups: tuple[s.Value, ...]) -> None:
    plan = plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", CATALOG), CATALOG, 1)
    assert {each for (each,) in plan.domain} == set(groups)


def long_keys_are_refused() -> None:
    """Planning is free, so that what it takes is bounded: letters count, not nodes alone."""
    for key in (
        f"LOWER({'LOWER(' * 40}many || '{'ä' * 2_000}'{')' * 40})",
        f"UPPER(CONCAT({', '.join(['many'] * 90)}))",
    ):
        with pytest.raises(QueryError) as refused:
            plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", CATALOG), CATALOG, 1)
        assert refused.value.code == "too-many-steps" and f"{MOST_EVALUATED:,}" in str(refused.value)
    plan_for(question("SELECT LOWER(many) AS k, COUNT(*) AS n FROM t GROUP BY k", CATALOG), CATALOG, 1)


def letters_count() -> None:
    one, long = s.Column("many", Type.TEXT), s.Literal("ä" * 2_000, Type.TEXT)
    assert parts_of(s.Function("lower", (one,))) == 2
    assert parts_of(s.Function("append", (one, long))) > 3 * 10
    assert parts_of(s.Comparison(s.Order.EQUAL, one, long)) == 3, "nothing is made there"


def test_what_is_made_of_long_texts_counts_for_more() -> None:
    letters_count()


def test_groups_of_long_texts_of_many_keys_are_refused_before_they_are_made() -> None:
    long_keys_are_refused()


def test_texts_are_said_with_their_symbol() -> None:
    plan = plan_for(question("SELECT COUNT(*) FROM t WHERE note || 'a' || ward = 'xa'", CATALOG), CATALOG, 1)
    assert "where note || 'a' || ward = 'xa'" in explain(plan)
