"""Public tables: read whole, described by what they hold, joined, and the source of keys; in a policy, in Python and on a command line."""

import csv
import random
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import Curator, Policy
from discreet.audit.twins import Curators
from discreet.cli.flags import Flags, columns, public_files
from discreet.curator.catalog import catalog_of
from discreet.curator.declaration import declaration, source_of
from discreet.curator.description import Description
from discreet.curator.places import others
from discreet.curator.public import distinct, public_table
from discreet.errors import DiscreetError, Invalid
from discreet.plan.scalar import Type
from tests.plan import joined

FLIGHTS = {"pid": ["a", "a", "b", "c"], "dest": ["JFK", "LHR", "CDG", "JFK"], "fare": ["10", "20", "30", "40"]}
AIRPORTS = {"faa": ["JFK", "LHR", "CDG"], "country": ["US", "GB", "FR"], "metres": ["4", "25", "119.5"]}
COLUMNS = {"fare": {"type": "integer", "bounds": (0, 100)}}
BY_COUNTRY = "SELECT country, COUNT(*) AS n FROM flights JOIN airports ON dest = faa GROUP BY country"


def written(path: Path, table: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return path


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def curator(**more: Any) -> Curator:
    said = {"public": {"airports": AIRPORTS}, "epsilon": 1000, "max_total": 5, "ledger": ":memory:"} | more
    return Curator({"flights": FLIGHTS}, "pid", COLUMNS, **said)


def test_a_column_is_what_its_values_are() -> None:
    """Its type where all of them say one, its values for keys, the least and the largest for bounds, and whether any is missing."""
    days = ["2024-02-29", "2023-01-01"]
    table = public_table(
        "t",
        source_of(
            {
                "i": ["3", "-1"],
                "n": ["0.5", None],
                "t": ["01", "2"],
                "d": days,
                "b": ["true", "false"],
                "e": [None, None],
            },
            {},
            {"public": True},
        ),
    )
    kinds = [column.type for column in table.columns]
    assert kinds == [Type.INTEGER, Type.NUMBER, Type.TEXT, Type.DATE, Type.BOOLEAN, Type.TEXT]
    assert [column.nullable for column in table.columns] == [False, True, False, False, False, True]
    keys = [(-1, 3), (0.5,), ("01", "2"), (date(2023, 1, 1), date(2024, 2, 29)), (False, True), None]
    assert [column.keys for column in table.columns] == keys
    assert (table.column("i").low, table.column("i").high) == (-1, 3)
    assert table.column("d").end(table.column("d").high or Fraction(0)) == date(2024, 2, 29)
    assert table.public is not None and table.public.columns["i"] == (3, -1)


def test_what_is_declared_of_a_public_column_goes_before_what_it_holds() -> None:
    said = {"i": {"type": "text"}, "n": {"bounds": (0, 9)}, "t": {"keys": ["x"]}}
    table = public_table("t", source_of({"i": ["3", "1"], "n": ["5", "7"], "t": ["x", "y"]}, said, {"public": True}))
    assert [column.type for column in table.columns] == [Type.TEXT, Type.NUMBER, Type.TEXT]
    assert (table.column("n").low, table.column("n").high, table.column("t").keys) == (0, 9, ("x",))
    for wrong in ({"i": {"bounds": "auto"}}, {"i": {"keys": {"table": "t", "column": "i"}}}, {"z": {"type": "text"}}):
        with pytest.raises(Invalid):
            public_table("t", source_of({"i": ["3", "1"]}, wrong, {"public": True}))


def test_a_file_and_a_dict_are_one_table(tmp_path: Path) -> None:
    made = [
        public_table("airports", source_of(source, {}, {"public": True}))
        for source in (AIRPORTS, written(tmp_path / "airports.csv", AIRPORTS))
    ]
    assert made[0] == made[1]


def doors(folder: Path) -> Iterator[Policy]:
    """The same declared in Python, in a policy, and on a command line."""
    flights, airports = written(folder / "flights.csv", FLIGHTS), written(folder / "airports.csv", AIRPORTS)
    keys = {"table": "airports", "column": "faa"}
    said = {"fare": {"type": "integer", "bounds": (0, 100)}, "dest": {"keys": keys}}
    yield Policy.declare({"flights": flights}, "pid", said, epsilon=5, public={"airports": airports})
    (folder / "flights.toml").write_text(
        """
        [budget]
        epsilon = 5
        [unit]
        column = "pid"
        [tables.flights]
        source = "flights.csv"
        [tables.flights.columns]
        fare = { type = "integer", bounds = [0, 100] }
        dest = { keys = { table = "airports", column = "faa" } }
        [tables.airports]
        source = "airports.csv"
        public = true
        """
    )
    yield Policy.read(folder / "flights.toml")
    for given in (["airports=" + str(airports)], None):
        flags = Flags(bounds=["fare=0:100"], types=["fare=integer"], keys=[f"dest=@{airports}:faa"], public=given)
        yield Policy.declare({"flights": flights}, "pid", columns(flags), epsilon=5, public=public_files(flags))


def test_every_door_declares_the_same(tmp_path: Path) -> None:
    first, *rest = (catalog_of(policy)[0] for policy in doors(tmp_path))
    assert first.table("flights").column("dest").keys == ("CDG", "JFK", "LHR")
    assert [each.name for each in first.private] == ["flights"]
    assert len(rest) == 3 and all(each == first for each in rest)


def test_a_policy_with_a_public_table_comes_back(tmp_path: Path) -> None:
    policy = next(doors(tmp_path))
    policy.save(tmp_path / "saved.toml")
    again = Policy.read(tmp_path / "saved.toml")
    assert catalog_of(again)[0] == catalog_of(policy)[0]
    said = "[tables.flights]\nsource = 'flights.csv'\njoin_rows = 7\n"
    text = f"[budget]\nepsilon = 1\n[unit]\ncolumn = 'pid'\n{said}"
    (tmp_path / "joined.toml").write_text(text)
    joined_rows = Policy.read(tmp_path / "joined.toml")
    joined_rows.save(tmp_path / "again.toml")
    assert Policy.read(tmp_path / "again.toml").tables["flights"].join_rows == 7


@pytest.mark.parametrize(
    "wrong",
    [
        {"public": {"flights": AIRPORTS}},
        {"public": {"airports": {"faa": []}}, "columns": {"dest": {"keys": {"table": "airports", "column": "faa"}}}},
        {"columns": {"dest": {"keys": {"table": "flights", "column": "dest"}}}},
        {"columns": {"dest": {"keys": {"table": "airports", "column": "iata"}}}},
        {"columns": {"dest": {"keys": {"table": "airports"}}}},
        {"reading": {"airports": {"join_rows": 3}}},
        {"reading": {"flights": {"public": 1}}},
        {"reading": {"flights": {"public": True}}},
        {"reading": {"flights": {"join_rows": 0}}},
    ],
    ids=range(9),
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    said: dict[str, Any] = {"columns": {}, "public": {"airports": AIRPORTS}} | wrong
    with pytest.raises(Invalid):
        Curator({"flights": FLIGHTS}, "pid", said.pop("columns"), epsilon=1, ledger=":memory:", **said)


@pytest.mark.parametrize("text", ["airports", "=airports.csv", "airports="])
def test_words_for_a_public_table_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        public_files(Flags(public=[text]))
    with pytest.raises(Invalid, match="cannot be read"):
        columns(Flags(keys=["dest=@airports.csv"]))


def test_answers_are_right_where_noise_is_nothing() -> None:
    with curator(epsilon=10**6) as opened:
        rows = opened.sql(BY_COUNTRY, epsilon=10**4).to_dicts()
        assert {row["country"]: round(row["n"]) for row in rows} == {"FR": 1, "GB": 1, "US": 2}
        total = opened.sql("SELECT SUM(metres) AS m FROM flights LEFT JOIN airports ON faa = dest", epsilon=10**4)
        assert abs(total.to_dicts()[0]["m"] - 152.5) < 0.5


def test_a_key_that_is_not_unique_is_refused_before_anything_is_charged() -> None:
    """A table in which a key is written twice would double whoever has it."""
    twice = {name: [*values, values[0]] for name, values in AIRPORTS.items()}
    with curator(public={"airports": twice}) as opened:
        with pytest.raises(DiscreetError) as refused:
            opened.sql(BY_COUNTRY, epsilon=1)
        assert refused.value.code == "join" and refused.value.hint and opened.spent.epsilon == 0


def test_the_rows_that_were_looked_at_are_those_that_are_joined(tmp_path: Path) -> None:
    """A file that changes after it was opened, so that its key is not unique any more, changes nothing."""
    path = written(tmp_path / "airports.csv", AIRPORTS)
    with curator(public={"airports": path}, epsilon=10**6) as opened:
        written(path, {name: values * 50 for name, values in AIRPORTS.items()})
        rows = opened.sql(BY_COUNTRY, epsilon=10**4).to_dicts()
        assert {row["country"]: round(row["n"]) for row in rows} == {"FR": 1, "GB": 1, "US": 2}


def test_other_rows_of_a_public_table_are_another_question(tmp_path: Path) -> None:
    path, ledger = written(tmp_path / "airports.csv", AIRPORTS), tmp_path / "kept"
    spent = []
    for table in (AIRPORTS, AIRPORTS, AIRPORTS | {"country": ["US", "FR", "GB"]}):
        written(path, table)
        with curator(public={"airports": path}, ledger=ledger) as opened:
            opened.sql(BY_COUNTRY, epsilon=1)
            spent.append(opened.spent.epsilon)
    assert spent == [1, 1, 2]


def test_a_public_file_has_no_budget_of_its_own(tmp_path: Path) -> None:
    """Two data sets may join the same one, and neither counts questions about the other."""
    policy = next(doors(tmp_path))
    assert policy.files == (tmp_path / "flights.csv",)
    with Curator.of(policy, tmp_path / "flights.csv") as opened:
        opened.sql("SELECT COUNT(*) AS n FROM flights", epsilon=1)
    assert others(tmp_path / "flights.csv", None, None) and not others(tmp_path / "airports.csv", None, None)


def test_an_analyst_is_told_of_public_tables() -> None:
    with curator() as opened:
        described = Description(opened.catalog)
        assert "table airports, public: about nobody, to be joined" in described.lines()
        assert [table.get("public") for table in described.as_data()["tables"]] == [None, True]


def test_surveys_and_rehearsals_are_of_tables_about_somebody() -> None:
    with curator(delta=1e-6) as opened:
        assert opened.survey(epsilon=1, delta=1e-7) is not None
        with pytest.raises(Invalid, match="public"):
            opened.survey(epsilon=1, table="airports")
        assert [each.name for each in opened.rehearse(1).tables] == ["flights"]
        opened.sql(BY_COUNTRY, epsilon=1)


def test_values_are_listed_once_and_in_order() -> None:
    assert distinct([2, None, 1, 2]) == (1, 2)
    assert declaration("dest", {"keys": {"table": "a", "column": "b"}}).keys_of == ("a", "b")


def twins_are_alike(texts: list[str], tries: int, **limits: Any) -> None:
    """With somebody and without, in either table or in both, nothing that is seen differs, and nothing moves by more than is charged."""
    draw = random.Random(17)
    answered = 0
    for _ in range(tries):
        first, second = joined.neighbours(draw, joined.PERSON)
        made = [_curator(rows, **limits) for rows in (first, second)]
        with Curators(*made) as pair:
            for text in texts:
                report = pair.ask(text, epsilon=1, delta=1e-7)
                assert report.same, (text, first, second, report)
                answered += report.first.status == "answer"
    assert answered == tries * len(texts)


def _curator(rows: joined.Rows, **limits: Any) -> Curator:
    tables = {name: _lists(name, each) for name, each in rows.items()}
    said = {
        "visits": {
            "who": {"type": "integer"},
            "x": {"type": "integer", "bounds": (2, 5)},
            "port": {"keys": ["A", "B", "C"]},
        },
        "tests": {"who": {"type": "integer"}, "y": {"type": "number", "bounds": (-1, 3)}, "lab": {"keys": ["p", "q"]}},
    }
    return Curator(
        tables,
        "who",
        said,
        epsilon=1000,
        delta=1e-4,
        people=100,
        ledger=":memory:",
        public={"ports": joined.PORTS},
        reading={"visits": {"join_rows": 2}, "tests": {"join_rows": 2}},
        **limits,
    )


def _lists(name: str, rows: list[joined.Row]) -> dict[str, list[Any]]:
    table = {"visits": joined.VISITS, "tests": joined.TESTS}[name]
    return {column.name: [row[column.name] for row in rows] for column in table.columns}


@pytest.mark.parametrize("limits", [{"max_rows": 2, "max_groups": 2}, {}], ids=["declared", "found"])
def test_no_join_tells_neighbours_apart(limits: dict[str, int]) -> None:
    twins_are_alike([*joined.WITH_PUBLIC, *joined.OF_PEOPLE], 2, **limits)
