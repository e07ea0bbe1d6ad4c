"""Attributes as they are asked for: cells follow from what is declared, surveyed or given; all else is refused, with a hint."""

from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cells import Attribute, Binned, Categorical
from discreet.curator.table.attributes import MOST_ATTRIBUTES, ONE_BY_ONE, Attributes
from discreet.curator.table.bins import USUAL, equal_edges
from discreet.curator.table.table import ProtectedTable
from discreet.errors import DiscreetError, Invalid, QueryError
from discreet.mechanisms import Geometric
from discreet.plan.catalog import Column, Table, value_of
from discreet.plan.scalar import Type
from tests.curator.tables import catalog, curator

KNOWN = Attributes(catalog().tables[0], "person")


def one(asked: Any, of: Attributes = KNOWN) -> Attribute:
    (found,) = of.read(asked)
    return found


JANUARY = tuple(date(2024, 1, 1 + 3 * i) for i in range(11))
MEANT: tuple[tuple[Any, Attribute], ...] = (
    (["ward"], Categorical("ward", ("B", "A"))),
    (["WARD"], Categorical("ward", ("B", "A"))),
    (["ok"], Categorical("ok", (False, True), other=False)),
    ({"ok": [True]}, Categorical("ok", (True,))),
    (["level"], Binned("level", (1, 2, 3, 4, 5), whole=True)),
    ({"level": 2}, Binned("level", (1, 3, 5), whole=True)),
    ({"level": 99}, Binned("level", (1, 2, 3, 4, 5), whole=True)),
    ({"level": 3}, Binned("level", (1, 2, 3, 4), whole=True)),
    (["age"], Binned("age", tuple(range(0, 121, 12)), whole=True)),
    (["age=4"], Binned("age", (0, 30, 60, 90, 120), whole=True)),
    (["age=0,18,65"], Binned("age", (0, 18, 65), whole=True)),
    ({"age": [0, 18.0, Fraction(65)]}, Binned("age", (0, 18, 65), whole=True)),
    ({"bmi": 4}, Binned("bmi", (0.0, 12.5, 25.0, 37.5, 50.0))),
    (["bmi = 0, 18.5, 60"], Binned("bmi", (0.0, 18.5, 60.0))),
    (["ward=A, C"], Categorical("ward", ("A", "C"))),
    (["ward=7"], Categorical("ward", ("7",))),
    ({"ward": ("A",)}, Categorical("ward", ("A",))),
    (["day"], Binned("day", JANUARY, whole=True)),
    ({"day": ["2024-01-01", date(2024, 1, 5)]}, Binned("day", (date(2024, 1, 1), date(2024, 1, 5)), whole=True)),
    (
        {"moment": 2},
        Binned("moment", (datetime(2024, 1, 1), datetime(2024, 1, 2), datetime(2024, 1, 3)), whole=True),
    ),
    (
        {"moment": [date(2024, 1, 1), "2024-01-01T12:00:00"]},
        Binned("moment", (datetime(2024, 1, 1), datetime(2024, 1, 1, 12)), whole=True),
    ),
    ([Binned("AGE", (0.0, 65), missing=False)], Binned("age", (0, 65), whole=True, missing=False)),
    ([Categorical("age", tuple(np.arange(2)))], Categorical("age", (0, 1))),
    ({"age": np.array([0, 18, 65])}, Binned("age", (0, 18, 65), whole=True)),
    ({"ward": np.array(["A", "C"])}, Categorical("ward", ("A", "C"))),
    ({"age": np.int64(4)}, Binned("age", (0, 30, 60, 90, 120), whole=True)),
    ([Categorical("bmi", (1, 2.5), other=False)], Categorical("bmi", (1.0, 2.5), other=False)),
)


def attributes_mean_what_is_declared() -> None:
    for asked, meant in MEANT:
        assert one(asked) == meant, asked


def test_attributes_mean_what_is_declared() -> None:
    attributes_mean_what_is_declared()


REFUSED: tuple[tuple[Any, str], ...] = (
    (["person"], "who a row is about"),
    (["PERSON=a,b"], "who a row is about"),
    (["wards"], "did you mean 'ward'"),
    ({"ward": 10}, "has no bins"),
    ({"ok": 3}, "has no bins"),
    ({"age": 0}, "at least 1"),
    ({"age": 2.5}, "must be an integer"),
    ({"age": True}, "number of bins, edges, or categories"),
    ({"age": "10"}, "number of bins, edges, or categories"),
    ({"age": {1: 2}}, "number of bins, edges, or categories"),
    ({"age": 10**6}, "at most 10,000"),
    ({"age": [0, 17.5]}, "must be integer"),
    ({"age": [5, 1]}, "and rise"),
    ({"age": [5]}, "at least two edges"),
    ({"age": ["x", "y"]}, "must be integer"),
    ({"age": [0, 10**17]}, "must be integer"),
    ({"bmi": [0, float("nan")]}, "must be number"),
    ({"day": [1, 2]}, "must be date"),
    ({"day": ["2024-01-32", "2024-02-01"]}, "must be date"),
    ({"ward": ["A\0B"]}, "must be text values"),
    ({"ward": ["\ud800"]}, "must be text values"),
    ([Categorical("age", (2**63,))], "must be integer values"),
    ([Categorical("bmi", (float("inf"),))], "must be number values"),
    ([Categorical("moment", (datetime(2024, 1, 1, tzinfo=UTC),))], "must be timestamp values"),
    ({"moment": ["2024-01-01T00:00:00+00:00", "2024-01-02"]}, "must be timestamp values"),
    ({"ward": ["A", "A"]}, "differ from each other"),
    ({"ward": [1]}, "must be text"),
    ({"ward": []}, "between 1 and 10,000"),
    ({"ward": [str(i) for i in range(10_001)]}, "between 1 and 10,000"),
    ({"age": range(10_002)}, "at most 10,000"),
    ([Binned("ward", (0, 1))], "has no bins"),
    ([Categorical("level", (1.5,))], "must be integer"),
    (["age", "Age=3"], "asked for twice"),
    (["age="], "nothing is said"),
    ([], "between 1 and"),
    ("age", "write"),
    (7, "write"),
    ([7], "must be a text"),
)


def what_is_unusable_is_refused() -> None:
    for asked, words in REFUSED:
        with pytest.raises((Invalid, QueryError)) as error:
            KNOWN.read(asked)
        assert words in str(error.value), (asked, error.value)


def test_what_is_unusable_is_refused() -> None:
    what_is_unusable_is_refused()


def what_nobody_declared_is_refused() -> None:
    """It is never looked up in the data; the hint says what to do."""
    columns = (Column("note", Type.TEXT), Column("cost", Type.NUMBER), Column("n", Type.INTEGER, auto=True))
    unknown = Attributes(Table("visits", columns), None)
    for column in columns:
        for asked in ([column.name], {column.name: None}):
            with pytest.raises(Invalid, match="discreet survey"):
                unknown.read(asked)
    with pytest.raises(Invalid, match="discreet survey"):
        unknown.read({"cost": 10})
    with pytest.raises(Invalid, match="between 1 and"):
        unknown.read()
    assert unknown.read({"note": ["a"], "cost": [0, 1], "n": [0, 5]})[1] == Binned("cost", (0.0, 1.0))


def test_what_nobody_declared_is_refused() -> None:
    what_nobody_declared_is_refused()


def test_all_that_is_known_without_a_name() -> None:
    assert [each.name for each in KNOWN.read()] == ["age", "bmi", "level", "day", "moment", "ward", "ok"]
    many = Table("t", tuple(Column(f"c{i}", Type.BOOLEAN) for i in range(MOST_ATTRIBUTES + 1)))
    with pytest.raises(Invalid, match="between 1 and"):
        Attributes(many, None).read()


def test_a_column_whose_name_has_an_equals_sign_is_named() -> None:
    odd = Attributes(Table("t", (Column("a=b", Type.BOOLEAN),)), None)
    assert one(["a=b"], odd).name == "a=b"


def never_missing_has_no_cell() -> None:
    columns = (
        Column("age", Type.INTEGER, Fraction(0), Fraction(99), nullable=False),
        Column("ward", Type.TEXT, keys=("A",), nullable=False),
        Column("ok", Type.BOOLEAN, nullable=True),
    )
    found = Attributes(Table("t", columns), None).read()
    assert [each.missing for each in found] == [False, False, True]


def test_what_is_never_missing_has_no_cell_for_it() -> None:
    never_missing_has_no_cell()


def test_few_whole_numbers_have_a_cell_each() -> None:
    for width, bins in ((ONE_BY_ONE - 1, ONE_BY_ONE), (ONE_BY_ONE, USUAL)):
        column = Column("n", Type.INTEGER, Fraction(5), Fraction(5 + width), nullable=False)
        assert one(["n"], Attributes(Table("t", (column,)), None)).size == bins


@given(
    st.sampled_from((Type.INTEGER, Type.DATE, Type.TIMESTAMP, Type.NUMBER)),
    st.integers(-(10**4), 10**4),
    st.integers(1, 10**4),
    st.integers(1, 60),
)
def test_bins_cover_the_bounds_and_are_equal_up_to_one(type: Type, low: int, width: int, bins: int) -> None:
    """Over types, bounds and numbers of bins: edges rise from the first value to the last or just behind it, and bins are as many as
    were asked for or one for each value."""
    column = Column("x", type, Fraction(low), Fraction(low + width))
    edges = equal_edges(column, bins)
    assert edges[0] == value_of(type, low) and edges[-1] in (
        value_of(type, low + width),
        value_of(type, low + width + 1),
    )
    assert len(edges) - 1 == (bins if type is Type.NUMBER else min(bins, width + 1))
    Binned("x", edges)  # they rise
    if type is Type.INTEGER:
        widths = [high - low for low, high in pairwise(edges)]  # type: ignore[operator]
        assert max(widths) - min(widths) <= 1


def bounds_at_the_end_of_time() -> None:
    days = equal_edges(Column("d", Type.DATE, date(9999, 12, 1), date(9999, 12, 31)), 4)  # type: ignore[arg-type]
    assert days[-1] == date(9999, 12, 31) and len(days) == 5
    last = Column("d", Type.DATE, date(9999, 12, 30), date(9999, 12, 31))  # type: ignore[arg-type]
    assert equal_edges(last, 5) == (date(9999, 12, 30), date(9999, 12, 31))
    moments = Column("m", Type.TIMESTAMP, date(9999, 12, 1), date(9999, 12, 31))  # type: ignore[arg-type]
    assert equal_edges(moments, 2)[-1] == datetime.max
    with pytest.raises(Invalid, match="one value"):
        equal_edges(Column("x", Type.NUMBER, Fraction(3), Fraction(3)), 2)
    assert equal_edges(Column("x", Type.INTEGER, Fraction(3), Fraction(3)), 2) == (3, 4)


def test_bounds_at_the_end_of_time_and_of_one_value() -> None:
    bounds_at_the_end_of_time()


def counted(table: ProtectedTable, attributes: tuple[Attribute, ...]) -> Any:
    """With so little noise that there is none."""
    noise = Geometric(Fraction(1, 50))
    exact = table.counts(attributes)
    with table.measure(noise.event(1)) as grant:
        return grant(noise, 1, lambda: exact().marginal((0, 1)))


def surveyed_keys_and_bounds_are_cells() -> None:
    """What was surveyed is known from then on, to whom it was charged; what was not is refused still."""
    rows: dict[str, list[Any]] = {
        "person": [f"p{i}" for i in range(400)],
        "ward": ["A", "B"] * 200,
        "age": [str(20 + i % 50) for i in range(400)],
        "note": ["x"] * 400,
    }
    with curator(rows, columns={}, epsilon=10**6, analysts={"ana": {"epsilon": 100}}) as hospital:
        before = hospital.table("visits")
        for asked in (["ward"], ["age"]):
            with pytest.raises(Invalid):
                before.attributes(asked)
        hospital.survey(10**5, Fraction(1, 10**5), columns=["ward", "age"])
        for who in (None, "ana"):
            table = hospital.table("visits", analyst=who)
            ward, age = table.attributes(["ward", "age"])
            assert isinstance(ward, Categorical) and set(ward.values) == {"A", "B"} and ward.other and ward.missing
            assert isinstance(age, Binned) and age.edges[0] <= 20 and age.edges[-1] >= 69  # type: ignore[operator]
            assert table.cells("ward = 'A'", (ward, age)).sum() == 1
            assert counted(table, (ward, age)).sum() == 400  # texts are read as what the survey told
        with pytest.raises(DiscreetError):
            before.attributes(["ward"])  # as it was when it was asked for


def test_surveyed_keys_and_bounds_are_cells() -> None:
    surveyed_keys_and_bounds_are_cells()
