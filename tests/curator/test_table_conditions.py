"""A condition as a mask over cells: over generated conditions and all values, what is decided is so, and what is refused is split."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from itertools import product
from math import inf, nextafter
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cells import Attribute, Binned, Categorical
from discreet.curator.table.attributes import Attributes
from discreet.curator.table.codes import code_of
from discreet.curator.table.condition import Conditions, mask_of
from discreet.curator.table.truth import ANY, FALSE, NULL, TRUE, both, chosen, either, one, opposite
from discreet.errors import QueryError
from discreet.mechanisms import Geometric
from discreet.plan.catalog import value_of
from discreet.plan.evaluate import evaluate
from discreet.plan.scalar import And, Column, Literal, Not, Or, Scalar, Type, columns_in
from tests.curator.tables import ASKED, VALUES, catalog, curator
from tests.scale import repeats

CATALOG = catalog()
TABLE = CATALOG.tables[0]
CONDITIONS = Conditions("visits", CATALOG)
ATTRIBUTES = Attributes(TABLE, "person").read(ASKED)
UNTOLD = Attributes(TABLE, "person").read(
    [
        "age=12",
        Categorical("bmi", (18.5, 25.0), other=True),
        Categorical("ward", ("A",), other=False, missing=False),
        Binned("level", (1, 2, 3, 4, 5)),
        Categorical("day", (date(2024, 1, 15),)),
        "moment=3",
        Categorical("ok", (True,)),
    ]
)
"""The same columns, each in cells of another kind."""

BOUNDS: dict[str, tuple[Any, Any]] = {
    each.name: (value_of(each.type, each.low), value_of(each.type, each.high))
    for each in TABLE.columns
    if each.low is not None and each.high is not None
}

# Constants at edges, beside them, between them, and outside of all.
CONSTANTS: dict[str, list[str]] = {
    "age": ["0", "17", "18", "64", "64.5", "65", "66", "120", "-3", "1e17"],
    "bmi": ["0", "18.5", "25", "24.9", "50", "-2", "1e300"],
    "ward": ["'A'", "'B'"],
    "level": ["0", "1", "2", "3.5", "4", "5"],
    "day": ["'2024-01-01'", "'2024-01-15'", "'2024-01-14'", "'2024-02-01'", "'2030-01-01'"],
    "moment": ["'2024-01-01 16:00:00'", "'2024-01-02'", "'2024-01-01 00:00:00'"],
}

FUNCTIONS = {"age": "age % 2 = 0", "level": "level * 2 > 4", "ward": "UPPER(ward) = 'A'", "bmi": "ABS(bmi) < 3"}


def grid(name: str) -> list[Any]:
    """Values of a column that meet every piece which constants and edges cut: each of them, its neighbours, and what is far."""
    found: dict[Any, None] = {}
    for said in (*CONSTANTS.get(name, ()), *map(str, VALUES[name])):
        text = said.strip("'")
        match name:
            case "age" | "level":
                if text not in ("None", "1e17"):
                    found |= dict.fromkeys(int(float(text)) + i for i in (-1, 0, 1))
            case "bmi":
                if text not in ("None", "nan"):
                    middle = float(text)
                    found |= dict.fromkeys((nextafter(middle, -inf), middle, nextafter(middle, inf), middle + 0.1))
            case "day":
                if text != "None":
                    found |= dict.fromkeys(date.fromisoformat(text) + timedelta(i) for i in (-1, 0, 1))
            case "moment":
                if text != "None":
                    moment = datetime.fromisoformat(text)
                    found |= dict.fromkeys(moment + timedelta(microseconds=i) for i in (-1, 0, 1))
            case _:
                found |= dict.fromkeys(VALUES[name])
    wide = {"age": [10**17, 10**18, -(10**17)], "bmi": [inf, -inf], "ward": ["AA", "b", "Z"]}
    return [*found, *wide.get(name, ()), None]


GRIDS = {name: list(dict.fromkeys(grid(name))) for name in VALUES}


@st.composite
def leaves(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    """A part of a condition about one of these columns."""
    name = draw(st.sampled_from(names))
    if name == "ok":
        return draw(st.sampled_from(("ok", "NOT ok", "ok IS NULL", "ok = TRUE", "ok IS NOT DISTINCT FROM FALSE")))
    constants = CONSTANTS[name]
    one = st.sampled_from(constants)
    orders = st.sampled_from(("=", "<>") if name == "ward" else ("=", "<>", "<", "<=", ">", ">="))
    form = draw(st.sampled_from(("compare", "compare", "null", "in", "between", "function")))
    if form == "null":
        return f"{name} IS {draw(st.sampled_from(('', 'NOT ')))}NULL"
    if form == "in":
        listed = draw(st.lists(one, min_size=1, max_size=3, unique=True))
        return f"{name} {draw(st.sampled_from(('', 'NOT ')))}IN ({', '.join(listed)})"
    if form == "between" and name != "ward":
        return f"{name} BETWEEN {draw(one)} AND {draw(one)}"
    if form == "function":
        return FUNCTIONS.get(name, f"{name} IS NULL")
    return f"{name} {draw(orders)} {draw(one)}"


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """Up to three parts about at most two columns."""
    names = tuple(draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=2, unique=True)))
    parts = draw(st.lists(leaves(names), min_size=1, max_size=3))
    text = parts[0]
    for part in parts[1:]:
        text = f"({text} {draw(st.sampled_from(('AND', 'OR')))} {part})"
    return f"NOT ({text})" if draw(st.booleans()) else text


def rows_of(columns: list[Column]) -> Iterator[Mapping[Any, Any]]:
    for values in product(*(GRIDS[column.name] for column in columns)):
        yield {column.place: value for column, value in zip(columns, values, strict=True)}


def cell_in(attribute: Attribute, column: Column, row: Mapping[Any, Any]) -> int | None:
    return evaluate(code_of(attribute, column), row)  # type: ignore[return-value]


def truths(condition: Scalar, attributes: tuple[Attribute, ...]) -> dict[tuple[int, ...], set[bool]]:
    """By brute force: on each cell whether the condition is true, for all values of the grid that are in it."""
    columns = sorted(columns_in(condition), key=lambda each: [a.name for a in attributes].index(each.name))
    places = [[a.name for a in attributes].index(column.name) for column in columns]
    codes = {
        (column, value): cell_in(attributes[place], column, {column.place: value})
        for column, place in zip(columns, places, strict=True)
        for value in GRIDS[column.name]
    }
    found: dict[tuple[int, ...], set[bool]] = {}
    for row in rows_of(columns):
        inside = [codes[column, row[column.place]] for column in columns]
        if None not in inside:
            cell = [0] * len(attributes)
            for place, code in zip(places, inside, strict=True):
                cell[place] = code  # type: ignore[assignment]
            taken = {
                column.place: within(attributes[place], column, row[column.place])
                for column, place in zip(columns, places, strict=True)
            }
            found.setdefault(tuple(cell), set()).add(evaluate(condition, taken) is True)
    return found


def within(attribute: Attribute, column: Column, value: Any) -> Any:
    """What a value counts as in an attribute: as it is, unless that has bins."""
    return clamped(column.name, value) if value is not None and isinstance(attribute, Binned) else value


def clamped(name: str, value: Any) -> Any:
    """The nearest bound of a column that has bounds, where a value is outside of them."""
    if name not in BOUNDS:
        return value
    low, high = BOUNDS[name]
    return min(max(value, low), high)


def agrees(text: str, attributes: tuple[Attribute, ...]) -> bool:
    """The law: a mask that is given holds on every value; one that is refused splits some cell. Whether it was given."""
    condition = CONDITIONS.read(text)
    true = truths(condition, attributes)
    try:
        mask = CONDITIONS.mask(text, attributes)
    except QueryError as error:
        # of a bin nothing but comparisons is known, with constants that doubles tell from their neighbours
        computes = any(known in text for known in (*FUNCTIONS.values(), "1e17"))
        assert error.code == "cells" and (computes or any(len(each) == 2 for each in true.values())), text
        return False
    named = {column.name for column in columns_in(condition)}
    assert mask.shape == tuple(each.size if each.name in named else 1 for each in attributes)
    assert all(each == {bool(mask[cell])} for cell, each in true.items()), text
    return True


@settings(max_examples=repeats(120), deadline=None)
@given(conditions(), st.sampled_from((ATTRIBUTES, UNTOLD)))
def test_what_is_decided_holds_for_all_values_and_what_is_refused_splits_a_cell(
    text: str, attributes: tuple[Attribute, ...]
) -> None:
    agrees(text, attributes)


DECIDED = (
    "age >= 65 AND ward = 'A'",
    "age > 64",
    "age > 64.5 OR age IS NULL",
    "NOT age < 18",
    "age BETWEEN 18 AND 64",
    "age BETWEEN 0 AND 17",
    "age >= 0",
    "age <= 120",
    "age < 0 OR age > 120",
    "bmi <= 50 AND bmi >= 0",
    "level >= 2",
    "level <> 4",
    "day >= '2024-01-01'",
    "ward <> 'A'",
    "ward NOT IN ('A', 'B')",
    "ward IS NULL OR bmi < 25",
    "level BETWEEN 2 AND 4",
    "level = 3 AND NOT ok",
    "level IN (1, 2) OR ok IS NULL",
    "level IS NOT DISTINCT FROM 3",
    "level % 2 = 0 AND level BETWEEN 1 AND 4",
    "day < '2024-01-15'",
    "day <= DATE '2024-01-14'",
    "moment >= '2024-01-02'",
    "ok",
    "CASE WHEN ok THEN level = 1 ELSE age < 18 END",
    "CASE WHEN age < 30 THEN NULL ELSE age < 0 END",
    "age < 18 AND age < 17.5 AND age >= 18",
    "1 = 1",
    "level = 1 AND ok OR ward = 'B' AND age >= 65",
)
SPLIT = (
    ("age >= 60", "give age an edge at 60: attributes={'age': [0, 18, 60, 65, 120]}"),
    ("age > 60", "give age an edge at 61"),
    ("age = 30", "give age an edge at 30 and 31"),
    ("age IN (18, 30)", "give age an edge at 19 and 30 and 31"),
    ("bmi <= 25", "bins hold their lower edge"),
    ("age % 2 = 0", "compare age with constants"),
    ("day < '2024-01-10'", "give day an edge at 2024-01-10"),
    ("UPPER(ward) = 'A'", "categories"),
    ("ward < 'B'", "categories"),
    ("person = 'p1'", "its attributes are age, bmi, ward"),
    ("age < bmi", "compare each attribute with constants"),
)


def decided_conditions_agree() -> None:
    for text in DECIDED:
        assert agrees(text, ATTRIBUTES), text


def split_conditions_say_what_is_lacking() -> None:
    for text, hint in SPLIT:
        with pytest.raises(QueryError) as error:
            CONDITIONS.mask(text, ATTRIBUTES)
        assert error.value.code == "cells" and hint in error.value.hint, (text, error.value)


def test_decided_conditions_agree() -> None:
    decided_conditions_agree()


def test_split_conditions_say_what_is_lacking() -> None:
    split_conditions_say_what_is_lacking()


def bins_without_bounds_have_no_ends() -> None:
    """Where nobody declared bounds, the first bin has whatever is below it, and the last whatever is above."""
    for text, hint in (("age >= 0", "edges on both sides of 0"), ("age <= 120", "edges on both sides of 121")):
        with pytest.raises(QueryError) as error:
            mask_of(CONDITIONS.read(text), ATTRIBUTES)
        assert hint in error.value.hint


def test_bins_without_bounds_have_no_ends() -> None:
    bins_without_bounds_have_no_ends()


def bins_beyond_which_there_are_values_have_these() -> None:
    """Edges inside of the bounds: what the bounds allow below the first edge is in the first bin, and splits it."""
    inner = Attributes(TABLE, "person").read({"age": [18, 40, 65]})
    assert CONDITIONS.mask("age >= 40", inner).tolist() == [False, True, False]
    assert CONDITIONS.mask("age >= 0 AND age <= 120", inner).tolist() == [True, True, False]
    for text in ("age >= 18", "age < 18", "age < 65"):
        assert not agrees(text, inner), text


def test_bins_beyond_which_there_are_values_have_these() -> None:
    bins_beyond_which_there_are_values_have_these()


def other_cells_agree() -> None:
    for text in ("bmi = 25", "bmi IN (18.5, 25)", "ward = 'A'", "level <= 2", "day <> '2024-01-15'", "ok", "NOT ok"):
        assert agrees(text, UNTOLD), text
    for text in ("bmi >= 25", "bmi = 30", "day < '2024-01-20'"):
        assert not agrees(text, UNTOLD), text


def test_cells_of_other_kinds_agree() -> None:
    other_cells_agree()


def sets_are_what_choices_give() -> None:
    """AND, OR, NOT and CASE of all sets, against the values that SQL gives to every choice out of them."""
    values = {FALSE: False, NULL: None, TRUE: True}
    sets = np.arange(1, ANY + 1, dtype=np.uint8)
    choices = {each: [value for bit, value in values.items() if each & bit] for each in range(1, ANY + 1)}

    def together(found: set[Any]) -> int:
        return sum(one(value) for value in found)

    def said(form: type[And] | type[Or], *parts: Any) -> Any:
        return evaluate(form(tuple(Literal(part, Type.BOOLEAN) for part in parts)), {})

    assert [together({evaluate(Not(Literal(v, Type.BOOLEAN)), {}) for v in choices[s]}) for s in sets] == list(
        opposite(sets)
    )
    for left, right in product(choices, repeat=2):
        one_side, other = np.uint8(left), np.uint8(right)
        pairs = list(product(choices[left], choices[right]))
        assert both(one_side, other) == together({said(And, *pair) for pair in pairs})  # type: ignore[arg-type]
        assert either(one_side, other) == together({said(Or, *pair) for pair in pairs})  # type: ignore[arg-type]
        for condition in choices:
            then = set(choices[left]) if True in choices[condition] else set()
            rest = set(choices[right]) if {False, None} & set(choices[condition]) else set()
            assert chosen(np.uint8(condition), one_side, other) == together(then | rest)  # type: ignore[arg-type]


def test_sets_are_what_choices_give() -> None:
    sets_are_what_choices_give()


def wide_constants_are_refused() -> None:
    """Doubles do not tell whole numbers so large from their neighbours, nor does a condition."""
    assert not agrees("age <= 1e17", ATTRIBUTES)
    near = (Binned("age", (0, 18, 65, 120), whole=True),)
    with pytest.raises(QueryError):
        mask_of(CONDITIONS.read("NOT (age < 1e17) AND age <= 1e17"), near)


def wide_categories_are_told_apart() -> None:
    """Whole numbers that doubles do not tell apart are, where they are compared with whole numbers."""
    named = (Categorical("age", (2**53, 2**53 + 1, 2**63 - 1)),)
    for text, cells in (
        (f"age = {2**53 + 1}", [1]),
        (f"age >= {2**53} AND age <= {2**53 + 1}", [0, 1]),
        (f"age IN ({2**53}, {2**63 - 1})", [0, 2]),
        (f"age IS NULL OR age = {2**63 - 1}", [2, 4]),
    ):
        assert np.flatnonzero(mask_of(CONDITIONS.read(text), named)).tolist() == cells, text
    with pytest.raises(QueryError):
        mask_of(CONDITIONS.read("age = 9007199254740992.0"), named)


def test_wide_categories_are_told_apart() -> None:
    wide_categories_are_told_apart()


def test_wide_constants_are_refused() -> None:
    wide_constants_are_refused()


def two_attributes_at_once_agree() -> None:
    """What computes with two attributes is evaluated on all of their values, where both have categories and nothing else."""
    named = (
        Categorical("level", (1, 2, 3), other=False),
        Categorical("age", (1, 2, 17, 18), other=False, missing=False),
    )
    for text in ("age > level", "level + 1 = age", "COALESCE(level, age) = 2"):
        assert agrees(text, named), text
        assert agrees(text, named[::-1]), text


def test_two_attributes_at_once_agree() -> None:
    two_attributes_at_once_agree()


@pytest.mark.parametrize(
    "text",
    [
        "ward = 'A' LIMIT 1",
        "ward = 'A' GROUP BY ward",
        "ward = 'A' ORDER BY 1",
        "ward = 'A' HAVING COUNT(*) > 3",
        "",
        "1",
        "COUNT(*) > 3",
        "ward IN (SELECT ward FROM visits)",
        "ward = 'A'; SELECT 1",
        "1) OR (1 = 1",
    ],
)
def test_a_text_is_one_condition_and_nothing_else(text: str) -> None:
    with pytest.raises(QueryError):
        CONDITIONS.read(text)


def test_a_condition_with_values_is_the_condition_with_them_written_out() -> None:
    assert CONDITIONS.read("age >= ? AND ward = ?", [65, "A"]) == CONDITIONS.read("age >= 65 AND ward = 'A'")


def test_too_many_cells_are_refused_before_they_are_made() -> None:
    attributes = tuple(Binned(name, tuple(range(5_001))) for name in ("age", "level", "bmi"))
    text = CONDITIONS.read("age < 7 AND level < 8 AND bmi < 9")
    with pytest.raises(QueryError, match="more than"):
        mask_of(text, attributes)
    with pytest.raises(QueryError, match="computes with several"):
        mask_of(CONDITIONS.read("age < bmi"), attributes)


def people(rows: int, seed: int) -> dict[str, list[Any]]:
    """People with one row each, and values of every kind."""
    chosen = np.random.default_rng(seed)
    columns = {name: [values[i] for i in chosen.integers(0, len(values), rows)] for name, values in VALUES.items()}
    return {"person": [f"p{i}" for i in range(rows)], **columns}


def test_the_sum_over_a_mask_is_what_a_database_counts() -> None:
    """Against DuckDB's own reading of the text, on people with one row each, whose values outside of bounds are the bounds."""
    rows = people(300, 5)
    noise = Geometric(1)
    own = duckdb.connect()
    types = {"age": "BIGINT", "bmi": "DOUBLE", "level": "BIGINT", "day": "DATE", "moment": "TIMESTAMP", "ok": "BOOLEAN"}
    columns = ", ".join(f"{name} {types.get(name, 'TEXT')}" for name in rows)
    own.execute(f"CREATE TABLE visits ({columns})")
    taken = [
        [None if value is None or value != value else clamped(name, value) for value in values]
        for name, values in rows.items()
    ]
    own.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * len(rows))})", list(zip(*taken, strict=True)))
    with curator(rows) as hospital:
        table = hospital.table("visits")
        attributes = table.attributes(ASKED)
        exact = table.counts(attributes)

        def check() -> int:
            counts = exact()
            assert counts.total == 300
            for text in DECIDED:
                mask = np.broadcast_to(table.cells(text, attributes), counts.shape)
                inside = int(counts.counts[mask[tuple(counts.codes.T)]].sum())
                (count,) = own.execute(f"SELECT COUNT(*) FROM visits WHERE {text}").fetchone() or ()
                assert inside == count, text
            return 0

        with table.measure(noise.event(1)) as grant:
            grant(noise, 1, check)
