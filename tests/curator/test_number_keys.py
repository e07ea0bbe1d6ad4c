"""Numbers with few values may have keys: each spelling of a number is that number, and only rows that hold it to the last bit count."""

import json
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from discreet.cli import app
from discreet.curator.catalog import catalog_of
from discreet.curator.description import Description
from discreet.curator.policy import Policy
from discreet.curator.session import Curator
from discreet.errors import Invalid, QueryError
from discreet.plan.catalog import Column
from discreet.plan.scalar import Type
from tests.scale import repeats

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.lists(FINITE, min_size=1, max_size=5, unique=True)  # 0.0 and -0.0 are one
NO_NUMBERS = [nan, inf, -inf, Decimal("NaN"), np.float64("nan"), True, "nan", "inf", "x", "", "1e999", None, 10**400]
BY_DOSE = "SELECT dose, COUNT(*) AS n FROM visits GROUP BY dose"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def declared(keys: list[Any], **more: Any) -> Column:
    policy = Policy.declare(
        {"visits": {"who": [1], "dose": [1.0]}}, "who", {"dose": {"keys": keys, **more}}, epsilon=1, ledger="l"
    )
    return catalog_of(policy)[0].tables[0].column("dose")


def spelt(number: float) -> list[Any]:
    """The same number, in all the ways in which it may be said."""
    ways: list[Any] = [number, np.float64(number), Decimal(number), repr(number), f" {number!r} "]
    if number == int(number):
        ways += [int(number), str(int(number))]
    return [*ways, -0.0, "-0", 0] if number == 0 else ways


@settings(max_examples=repeats(50))
@given(numbers=NUMBERS, data=st.data())
def test_a_key_is_the_number_however_it_is_spelt(numbers: list[float], data: st.DataObject) -> None:
    keys = [data.draw(st.sampled_from(spelt(number))) for number in numbers]
    found = declared(keys, type="number").keys
    assert found is not None and found == tuple(numbers) and all(type(key) is float for key in found)
    assert "-0.0" not in map(repr, found)


@settings(max_examples=repeats(50))
@given(number=FINITE, data=st.data())
def test_two_spellings_of_a_number_are_no_two_keys(number: float, data: st.DataObject) -> None:
    keys = [data.draw(st.sampled_from(spelt(number))) for _ in range(2)]
    with pytest.raises(Invalid, match="must differ"):
        declared(keys, type="number")


def only_finite_numbers_are_keys() -> None:
    for key in (nan, inf, -inf):
        with pytest.raises(Invalid, match="number values"):
            Column("dose", Type.NUMBER, keys=(key,))


def there_is_one_zero() -> None:
    assert [repr(key) for key in Column("dose", Type.NUMBER, keys=(-0.0, 0.5)).keys or ()] == ["0.0", "0.5"]


@pytest.mark.parametrize("key", NO_NUMBERS, ids=repr)
def test_what_is_no_finite_number_is_no_key_of_numbers(key: Any) -> None:
    with pytest.raises(Invalid):
        declared([0.5, key], type="number")


def test_a_column_of_the_catalog_has_finite_numbers_and_one_zero() -> None:
    only_finite_numbers_are_keys()
    there_is_one_zero()


def test_numbers_of_which_one_has_decimals_are_numbers_and_whole_ones_integers() -> None:
    assert declared([0.5, 1]).type is Type.NUMBER and declared([1.0, 2]).type is Type.INTEGER
    assert declared([0.5, 1]).keys == (0.5, 1.0)
    with pytest.raises(Invalid, match="text values"):
        declared([0.5, "x"])


@settings(max_examples=repeats(20))
@given(numbers=st.lists(FINITE | st.sampled_from([1e17, 1e-9, 0.1]), min_size=1, max_size=4, unique=True))
def test_a_policy_is_read_back_with_its_numbers(numbers: list[float]) -> None:
    table = Path("visits.csv")
    table.write_text("who,dose\n1,1\n", "utf-8")
    policy = Policy.declare({"visits": table}, "who", {"dose": {"keys": numbers}}, epsilon=1)
    Path("p.toml").unlink(missing_ok=True)
    policy.save(Path("p.toml"))
    column, again = (catalog_of(each)[0].tables[0].column("dose") for each in (policy, Policy.read(Path("p.toml"))))
    assert again == column


CELLS = [
    "0.5",
    ".5",
    "5e-1",
    "0.50000000000000011",
    "0",
    "-0",
    "-0.0",
    "0.1",
    "0.1000000000000000055",
    "2",
    "2.0",
    "",
    "x",
]
COUNTS = {0.5: 3, 0.0: 3, 0.1: 2, 2.0: 2}
"""Of the cells above, by the nearest double of each."""


def counted(rows: list[dict[str, Any]]) -> None:
    """At ε = 40 another count than the true one has a chance below 1e-17."""
    assert {row["dose"]: row["n"] for row in rows} == COUNTS


def test_rows_count_where_they_hold_the_number_and_nowhere_else() -> None:
    """Through a policy, flags and Python, a file and a frame."""
    Path("visits.csv").write_text("who,dose\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(CELLS)), "utf-8")
    Path("p.toml").write_text(
        '[budget]\nepsilon = 100\n[unit]\ncolumn = "who"\nmax_rows = 1\nmax_groups = 1\n[tables.visits]\nsource = "visits.csv"\n'
        "[tables.visits.columns]\ndose = { keys = [0.5, 0, 0.1, 2.0] }\n[ledger]\npath = 'l'\n",
        "utf-8",
    )
    flags = [
        "--unit",
        "who",
        "--max-rows",
        "1",
        "--max-groups",
        "1",
        "--budget",
        "100",
        "--keys",
        "dose=0.5,0,0.1,2.0",
        "--ledger",
        "f",
    ]
    for words in (["p.toml"], ["visits.csv", *flags]):
        result = CliRunner().invoke(app, ["ask", words[0], BY_DOSE, *words[1:], "--epsilon", "40", "--json"])
        assert result.exit_code == 0, result.stderr
        counted(json.loads(result.stdout)["rows"])
    frame = {"who": list(range(len(CELLS))), "dose": [float(cell) if cell not in ("", "x") else None for cell in CELLS]}
    keys = {"dose": {"keys": [0.5, -0.0, 0.1, 2]}}
    with Curator({"visits": frame}, "who", keys, max_rows=1, max_groups=1, epsilon=100, ledger=":memory:") as curator:
        counted(curator.sql(BY_DOSE, epsilon=40).to_dicts())


@pytest.fixture
def curator() -> Curator:
    return few()


def few() -> Curator:
    columns = {
        "dose": {"keys": [0.5, 1]},
        "age": {"type": "integer", "bounds": (0, 120)},
        "smoker": {"type": "boolean"},
    }
    frame = {"who": ["1"], "dose": [0.5], "age": [3], "smoker": [True], "note": ["x"]}
    return Curator({"visits": frame}, "who", columns, epsilon=9, ledger=":memory:")


def computed_numbers_are_no_keys() -> None:
    """Engines may differ in the last bit of one."""
    curator = few()
    for key in ("dose * 3", "SQRT(dose)", "age / 7", "dose + 0.0", "LEAST(dose, 0.7)", "COALESCE(dose / 3, 1)"):
        with pytest.raises(QueryError) as refused:
            curator.preview(f"SELECT COUNT(*) AS n FROM visits GROUP BY {key}", epsilon=1)
        assert refused.value.code == "number-key", key


def test_a_number_that_is_computed_is_no_key() -> None:
    computed_numbers_are_no_keys()


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("dose", [0.5, 1.0]),
        ("COALESCE(dose, 7)", [0.5, 1.0, 7.0]),
        ("CASE WHEN age > 9 THEN dose ELSE -0.0 END", [0.5, 1.0, 0.0]),
        ("FLOOR(dose)", [0, 1]),
        ("dose > 0.7", [False, True]),
    ],
)
def test_a_number_that_is_taken_as_it_is_is_a_key(curator: Curator, key: str, groups: list[Any]) -> None:
    rows = curator.sql(f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY {key}", epsilon=1).to_dicts()
    assert [repr(row["k"]) for row in rows] == [repr(group) for group in groups]


def test_a_constant_beside_such_a_column_is_one_of_its_keys(curator: Curator) -> None:
    curator.preview("SELECT COUNT(*) AS n FROM visits WHERE dose = 1", epsilon=1)
    with pytest.raises(QueryError, match="none of the declared keys"):
        curator.preview("SELECT COUNT(*) AS n FROM visits WHERE dose = 0.7", epsilon=1)


def test_describe_says_what_may_be_grouped_by(curator: Curator) -> None:
    """What it says is so: such a column can be grouped by, and no other."""
    description = curator.describe()
    assert isinstance(description, Description)
    columns = description.as_data()["tables"][0]["columns"]
    assert {column["name"]: column["group_by"] for column in columns} == {
        "who": False,
        "dose": True,
        "age": True,
        "smoker": True,
        "note": False,
    }
    for column in columns:
        try:
            curator.preview(f"SELECT {column['name']}, COUNT(*) AS n FROM visits GROUP BY {column['name']}", epsilon=1)
        except QueryError:
            assert not column["group_by"]
        else:
            assert column["group_by"]
    said = str(description)
    assert "GROUP BY: 0.5, 1.0" in said and "GROUP BY: false, true" in said
    assert "SUM, AVG: clamped to 0 … 120; GROUP BY: 0 … 120" in said and 'keys = ["A", "B"]' in said
    assert "to group by note: declare keys" in said
