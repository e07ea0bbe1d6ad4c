"""A limit on the groups of a person in one column: the limit of a question is the product over the columns that its keys are made of."""

from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from discreet.curator.declaration import declaration
from discreet.curator.session import Curator
from discreet.errors import Invalid
from discreet.plan import catalog as c
from discreet.plan import scalar as s
from discreet.plan.column_limits import groups_limit
from discreet.plan.evaluate import evaluate
from discreet.plan.relation import CapGroups, walk
from discreet.plan.scalar import Type
from discreet.plan.scope import Scope
from tests.plan.laws import TABLE, planned, searched, turned
from tests.plan.strategies import keys, values
from tests.scale import repeats

TYPES = {"i": Type.INTEGER, "t": Type.TEXT, "b": Type.BOOLEAN}
Limits = dict[tuple[str, str], int | None]


def scope(limits: Limits) -> Scope:
    """Two tables with columns of the same names, each of them with its own limit."""
    tables = (
        c.Table(table, tuple(c.Column(name, kind, max_groups=limits[table, name]) for name, kind in TYPES.items()))
        for table in ("one", "other")
    )
    one, other = map(Scope.of, tables)
    return one.joined(other)


def limits() -> st.SearchStrategy[Limits]:
    """Of all columns, or of all but one."""
    all_of_them = st.fixed_dictionaries(
        {(table, name): st.sampled_from((3, 2, 1)) for table in ("one", "other") for name in TYPES}
    )
    without: Limits = {("one", "t"): None}
    return st.builds(lambda found, more: found | more, all_of_them, st.sampled_from([{}, {}, without]))


def several(kind: Type, count: int) -> st.SearchStrategy[list[Any]]:
    """So many values of a type, one of which may be missing."""
    return st.lists(values(kind), min_size=count, max_size=count, unique=True)


COLUMNS = tuple(s.Column(name, kind, table) for table in ("one", "other") for name, kind in TYPES.items())
PLAIN = st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=2)


@settings(max_examples=repeats(200), phases=[Phase.generate])
@given(st.data())
def test_nobody_is_in_more_groups_than_the_product_of_what_their_columns_allow(data: st.DataObject) -> None:
    """Of whatever is computed from columns of which a person has at most so many values each, a missing one among them."""
    allowed, asked = data.draw(limits()), (*data.draw(keys(COLUMNS, 2)), *data.draw(PLAIN))
    limit = groups_limit(asked, scope(allowed))
    used = sorted({column for key in asked for column in s.columns_in(key)}, key=s.by_name)
    assert (limit is None) == any(allowed[column.table, column.name] is None for column in used)
    if limit is None:
        return
    lists = [data.draw(several(column.type, allowed[column.table, column.name] or 0)) for column in used]
    rows = (dict(zip((column.place for column in used), row, strict=True)) for row in product(*lists))
    assert len({tuple(evaluate(key, row) for key in asked) for row in rows}) <= limit


def test_of_plain_columns_the_limit_is_reached() -> None:
    """By whoever has all combinations. A column that is named twice counts once, and a constant is one group."""
    primes: Limits = dict(zip(((each.table, each.name) for each in COLUMNS), (2, 3, 5, 7, 11, 13), strict=True))
    for allowed in (primes, *(primes | {place: None} for place in primes)):
        known = scope(allowed)
        for columns in (each for n in range(4) for each in product(COLUMNS, repeat=n)):
            each = {allowed[column.table, column.name] for column in columns}
            wanted = None if None in each else prod(limit or 0 for limit in each)
            assert groups_limit(columns, known) == groups_limit((*columns, s.Literal(7, Type.INTEGER)), known) == wanted


def test_a_name_is_the_same_column_however_it_is_spelt() -> None:
    known = Scope.of(c.Table("t", (c.Column("Ward", Type.TEXT, max_groups=2),)))
    assert groups_limit((s.Column("Ward", Type.TEXT), s.Column("WARD", Type.TEXT)), known) == 2


# Plans.

KEYED = c.Table(
    "t",
    tuple(
        c.Column(each.name, each.type, each.low, each.high, each.keys, each.nullable, max_groups=most)
        for each, most in ((column, {"g": 2, "x": 1}.get(column.name)) for column in TABLE.columns)
    ),
)
TEXTS = [
    "SELECT g, COUNT(*), COUNT(DISTINCT who) FROM t GROUP BY g",
    "SELECT g, x, SUM(y) FROM t GROUP BY g, x",
    "SELECT CASE WHEN x < 4 THEN g ELSE 'D' END AS k, AVG(y), COUNT(*) FROM t GROUP BY k",
]


def no_neighbour_moves_more(tries: int = 30) -> None:
    """Whatever the data hold: people are in more groups than is declared, and none of them moves more than noise is made for."""
    unit = c.Protected("who", max_rows=2)
    for text, each, clip, delta in product(TEXTS, (unit, turned(unit)), ("groups", "l2"), (0, Fraction(1, 10**6))):
        if clip == "groups" or delta:
            moved = searched(text, c.replace(each, clip=clip), tries, delta, KEYED)
            assert all(far <= allowed for far, allowed in zip(moved.farthest, moved.allowed, strict=True)), (text, each)


def test_no_neighbour_moves_more_than_its_noise_is_made_for() -> None:
    no_neighbour_moves_more(repeats(30))


WARDS, YEARS = list("ABCDE"), list(range(2001, 2011))
COLUMNS_SAID: dict[str, dict[str, Any]] = {
    "ward": {"keys": WARDS, "max_groups": 2},
    "year": {"keys": YEARS, "max_groups": 3},
    "sex": {"keys": ["f", "m"], "max_groups": 1},
    "region": {"keys": list("NESW")},
}
QUESTIONS: list[tuple[str, int, int | None]] = [  # keys, how many groups, the limit of the columns
    ("ward", 5, 2),
    ("year", 10, 3),
    ("ward, year", 50, 6),
    ("ward, sex", 10, 2),
    ("ward, year, sex", 100, 6),
    ("CASE WHEN year < 2005 THEN 'early' ELSE 'late' END", 2, 3),
    ("ward, ward = 'A'", 10, 2),
    ("NULLIF(ward, 'A')", 5, 2),
    ("CASE WHEN ward = 'A' THEN year ELSE 0 END", 11, 6),
    ("COALESCE(ward, 'none')", 6, 2),
    ("region", 4, None),
    ("ward, region", 20, None),
    ("CASE WHEN region = 'N' THEN ward ELSE 'none' END", 6, None),
]


def hospital(**more: Any) -> Curator:
    rows = {"who": ["a"] * 5, "ward": WARDS, "year": ["2001"] * 5, "sex": ["f"] * 5, "region": ["N"] * 5}
    return Curator({"t": rows}, "who", COLUMNS_SAID, epsilon=10**6, ledger=":memory:", **more)


def questions_have_their_limit() -> None:
    """What was asked; else the smaller one of what the columns and the unit say; where nobody says anything it is found. Answers say it."""
    for default in (None, 1, 2, 4, 50):
        with hospital(max_rows=1, max_groups=default) as curator:
            for (text, cells, columns), asked in product(QUESTIONS, (None, 1, 3, 200)):
                declared = [limit for limit in (columns, default) if limit is not None]
                question = f"SELECT {text}, COUNT(*) AS n FROM t GROUP BY {text}"
                found = curator.preview(question, epsilon=1, delta=0, max_groups=asked)
                if not declared and asked is None:
                    assert found.notes[1].startswith("nobody declared max_total"), (text, default)
                    continue
                limit = asked or min(declared)
                assert f"sensitivity {min(limit, cells)} " in found.explain(), (text, default, asked)
                counts = "each who counts with at most 1 row in a group"
                capped = f", and in at most {limit} of the {cells} groups" if limit < cells else ""
                assert f"{counts}{capped}" in found.notes, (text, default, asked)


def test_a_question_has_the_limit_of_whoever_asks_or_the_smaller_one_that_is_declared() -> None:
    questions_have_their_limit()


def test_an_answer_is_of_so_many_groups_and_is_charged_for_them() -> None:
    text = "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward"
    with hospital(max_rows=1) as curator:
        for asked, kept in ((None, 2), (1, 1), (4, 4), (5, 5)):
            answer = curator.sql(text, epsilon=10**5, delta=0, max_groups=asked)
            (measured,) = answer.receipt["measurements"]
            assert measured["sensitivity"] == str(kept)
            assert round(sum(row["n"] for row in answer.to_dicts())) == kept


def test_without_groups_a_limit_of_a_column_changes_nothing() -> None:
    for text in ("SELECT COUNT(*), SUM(x) FROM t", "SELECT COUNT(DISTINCT who) FROM t WHERE g = 'A'"):
        for unit in (
            c.Protected("who"),
            c.Protected("who", max_total=4),
            c.Protected("who", clip="l2"),
        ):
            one, other = (planned(text, unit, delta=Fraction(1, 10**6), table=table) for table in (TABLE, KEYED))
            assert (one.stage, one.notes) == (other.stage, other.notes)


def test_no_limit_is_above_what_a_limit_can_be() -> None:
    wide = tuple(c.Column(name, Type.INTEGER, Fraction(0), Fraction(299), max_groups=200) for name in "ab")
    table = c.Table("t", (c.Column("who", Type.TEXT), *wide))
    plan = planned("SELECT a, b, COUNT(DISTINCT who) FROM t GROUP BY a, b", c.Protected("who"), table=table)
    assert [part.most for part in walk(plan.query) if isinstance(part, CapGroups)] == [10_000]


@pytest.mark.parametrize("limit", [0, -1, 10_001, 2.5, True, "many", [2]])
def test_a_limit_that_is_none_is_refused(limit: object) -> None:
    for made in (
        lambda: declaration("ward", {"max_groups": limit}),
        lambda: c.Column("ward", Type.TEXT, max_groups=limit),  # type: ignore[arg-type]
    ):
        with pytest.raises(Invalid, match="max_groups of column 'ward'"):
            made()


def test_where_each_row_is_another_person_no_column_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="every row is about another person"):
        Curator({"t": {"ward": ["A"]}}, row=True, columns={"ward": {"max_groups": 1}}, epsilon=1, ledger=tmp_path / "l")
    assert not (tmp_path / "l").exists()
