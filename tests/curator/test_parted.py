"""Parts of the people in a policy, and in what a curator charges, shows and refuses."""

from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.curator import parted
from discreet.curator.policy import Policy
from discreet.errors import DiscreetError, Invalid, QueryError, Refused
from discreet.privacy import Adjacency
from discreet.privacy.theorems import parallel_composition
from tests.curator.cases import cap, code_of, creation, granted, place, request, set_parts

VISITS = {
    "who": [1, 1, 2, 2, 3, 4, 5, None],
    "region": ["north", "north", "north", "south", "south", None, "north", "north"],
    "x": [1, 2, 3, 4, 5, 6, 7, 8],
}
TESTS = {"who": [1, 2, 3, 5], "y": [1, 1, 1, 1]}
COLUMNS = {"visits": {"region": {"keys": ["north", "south", "west"]}, "x": {"bounds": (0, 10)}}}
PARTS = {"table": "visits", "column": "region", "budgets": {"north": {"epsilon": 1}, "south": {"epsilon": 0.5}}}


def curator(ledger: Any = ":memory:", **more: Any) -> dp.Curator:
    given: dict[str, Any] = {"epsilon": 2, "max_rows": 2, "max_groups": 2, "people": 1000, "parts": PARTS} | more
    return dp.Curator({"visits": VISITS, "tests": TESTS}, "who", COLUMNS, ledger=ledger, **given)


NORTH = "SELECT COUNT(*) AS n FROM visits WHERE region = 'north'"
SOUTH = NORTH.replace("north", "south")


def a_question_pays_where_it_is_asked() -> None:
    """Parts beside each other cost the larger; everything else adds up; and what is said of it says so."""
    with curator(delta=1e-6) as hospital:
        answer = hospital.sql(NORTH, epsilon=0.5)
        hospital.sql(SOUTH, epsilon=0.5)
        assert str(hospital.spent) == "ε = 0.5"
        assert any("the part visits.region = 'north' alone" in note for note in answer.notes)
        with pytest.raises(Refused) as refused:
            hospital.sql("SELECT COUNT(*) AS n FROM tests", epsilon=0.1, part="south")
        assert refused.value.code == "part-budget" and "'south'" in refused.value.message
        hospital.sql("SELECT COUNT(*) AS n FROM tests", epsilon=0.25, part="north")
        assert str(hospital.spent) == "ε = 0.75"
        hospital.sql("SELECT COUNT(*) AS n FROM visits WHERE region IN ('south')", epsilon=0.25)
        assert str(hospital.spent) == "ε = 1"
        left = {name: str(each.remaining) for name, each in hospital.budgets().parts.items()}
        assert left == {"north": "ε = 0.25", "south": "ε = 0"}
        assert [line.part for line in hospital.history()][-4:] == ["north", "south", "north", None]


def test_a_question_pays_where_it_is_asked() -> None:
    a_question_pays_where_it_is_asked()


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("prices", [[1.0, 0.5, 0.25], [0.5, 0.5, 0.5], [0.25]])
def test_the_price_of_parts_beside_each_other_is_that_of_the_theorem(adjacency: Adjacency, prices: list[float]) -> None:
    """In one version of the data: the largest, or the two largest, of each amount; by either accountant."""
    names = ("north", "south", "west")
    text = "SELECT COUNT(*) AS n FROM tests"
    parts = PARTS | {"budgets": {name: {"epsilon": 9} for name in names}}
    with curator(epsilon=9, adjacency=adjacency.value, parts=parts) as hospital:
        for name, epsilon in zip(names, prices, strict=False):
            hospital.sql(text, epsilon=epsilon, part=name)
        assert hospital.spent.epsilon == parallel_composition([(each, 0) for each in prices], adjacency)[0]
    parts = PARTS | {"budgets": {name: {"epsilon": 9, "delta": 1e-6} for name in names}}
    with curator(epsilon=9, delta=1e-6, adjacency=adjacency.value, accountant="zcdp", parts=parts) as hospital:
        for name, epsilon in zip(names, prices, strict=False):
            hospital.sql(text, epsilon=epsilon, part=name)
        spent = sorted(each.spent.rho or 0 for each in hospital.budgets().parts.values())
        assert hospital.spent.rho == sum(spent[-1 if adjacency is Adjacency.ADD_REMOVE else -2 :]) > 0


def test_answers_of_a_part_are_kept_for_themselves() -> None:
    with curator() as hospital:
        whole = "SELECT COUNT(*) AS n FROM tests"
        answers = [hospital.sql(whole, epsilon=0.1, part=part) for part in (None, "north", "south", None, "north")]
        assert answers[3].to_dicts() == answers[0].to_dicts() and answers[4].to_dicts() == answers[1].to_dicts()
        assert len(hospital.history()) == 2 + 3
        assert str(hospital.spent) == "ε = 0.2"


def test_what_was_found_in_a_part_is_found_anew_elsewhere() -> None:
    parts = PARTS | {"budgets": {"north": {"epsilon": 9}, "south": {"epsilon": 9}}}
    with curator(epsilon=9, max_rows=None, max_groups=None, parts=parts) as hospital:
        first = hospital.sql("SELECT COUNT(*) AS n FROM tests", epsilon=1, part="north")
        assert "max_total" in first.receipt["found"]
        told = [
            hospital.explain("SELECT COUNT(y) AS n FROM tests", epsilon=1, part=part)
            for part in ("north", "south", None)
        ]
        assert ["found by an earlier question" in each for each in told] == [True, False, False]


def test_a_part_without_a_delta_is_asked_without_one() -> None:
    parts = PARTS | {"budgets": {"north": {"epsilon": 1}, "south": {"epsilon": 1, "delta": 1e-7}}}
    wide = " , ".join(f"SUM(x + {i}) AS s{i}" for i in range(30))
    with curator(delta=1e-6, parts=parts) as hospital:
        spent = [
            hospital.preview(f"SELECT {wide} FROM visits WHERE region = '{part}'", epsilon=1).delta
            for part in ("north", "south")
        ]
        assert spent[0] == 0 < spent[1]


def files(folder: Path, rows: list[tuple[int, str]], name: str = "visits.csv") -> None:
    (folder / name).write_text("who,region\n" + "".join(f"{who},{region}\n" for who, region in rows))


POLICY = """version = "{version}"
[budget]
epsilon = 2
[unit]
column = "who"
adjacency = "{adjacency}"
max_rows = 1
[tables.visits]
source = "{source}"
[tables.visits.columns]
region = {{ keys = ["north", "south", "west"] }}
[parts]
table = "Visits"
column = "REGION"
[parts.budgets]
{budgets}
[ledger]
path = "ledger"
mark = "mark"
"""
TWO = "north = { epsilon = 1 }\nsouth = { epsilon = 0.5 }"


def written(
    folder: Path, *, version: str = "1", adjacency: str = "add-remove", source: str = "visits.csv", budgets: str = TWO
) -> Path:
    path = folder / f"{source}.toml"
    path.write_text(POLICY.format(version=version, adjacency=adjacency, source=source, budgets=budgets))
    return path


@pytest.mark.parametrize(
    ("adjacency", "totals"), [("add-remove", ["0.4", "0.4", "0.6"]), ("replace", ["0.7", "0.7", "0.9"])]
)
def test_people_who_move_take_what_they_met_with_them(tmp_path: Path, adjacency: str, totals: list[str]) -> None:
    files(tmp_path, [(1, "north"), (2, "south")])
    with dp.Curator.open(written(tmp_path, adjacency=adjacency)) as hospital:
        hospital.sql(NORTH, epsilon=0.4)
        hospital.sql(SOUTH, epsilon=0.3)
        assert str(hospital.spent) == f"ε = {totals[0]}"
        files(tmp_path, [(1, "south"), (2, "north")])
        hospital.data_changed()
        assert str(hospital.spent) == f"ε = {totals[1]}"
        left = {name: str(each.remaining) for name, each in hospital.budgets().parts.items()}
        assert left == {"north": "ε = 0.6", "south": "ε = 0.1"}
        hospital.sql(NORTH, epsilon=0.2)
        assert str(hospital.spent) == f"ε = {totals[2]}"
        assert code_of(lambda: hospital.sql(SOUTH, epsilon=0.2)) == "part-budget"
        hospital.verify()


def people_are_in_the_parts_of_their_version(folder: Path) -> None:
    """Who is in a part is read of the data that the question reads."""
    large = "north = { epsilon = 900 }"
    files(folder, [(i, "north" if i < 30 else "south") for i in range(40)])
    path = written(folder, budgets=large)
    path.write_text(path.read_text().replace("epsilon = 2", "epsilon = 1000"))
    with dp.Curator.open(path) as hospital:
        first = hospital.sql(NORTH, epsilon=50).to_dicts()[0]["n"]
        files(folder, [(i, "north" if i < 10 else "south") for i in range(40)])
        hospital.data_changed()
        second = hospital.sql(NORTH, epsilon=50).to_dicts()[0]["n"]
    assert abs(first - 30) < 5 and abs(second - 10) < 5


def test_people_are_in_the_parts_of_their_version(tmp_path: Path) -> None:
    people_are_in_the_parts_of_their_version(tmp_path)


def one_ledger_serves_two_files(folder: Path) -> None:
    """In two files that are called alike people are in other parts: the one is no continuation of the other."""
    files(folder, [(1, "north"), (2, "south")])
    files(folder, [(1, "south"), (2, "north")], "others.csv")
    first = dp.Curator.open(written(folder))
    first.sql(NORTH, epsilon=0.4)
    second = dp.Curator.open(written(folder, source="others.csv"))
    second.sql(SOUTH, epsilon=0.1)  # both may be about the same person
    assert str(second.spent) == "ε = 0.5"
    assert code_of(lambda: first.sql(SOUTH, epsilon=0.1)) == "part"
    first.close()
    second.close()


def test_one_ledger_serves_two_files_whose_parts_are_of_other_people(tmp_path: Path) -> None:
    one_ledger_serves_two_files(tmp_path)


NULL = '"visits.csv"\nnull = ["south"]'
READ_AS = [
    ('"visits.csv"', NULL),
    ('"visits.csv"', '"visits.csv"\nmultiline = true'),
    ('"visits.csv"', '"visits.csv"\nencoding = "latin-1"'),
    ("[tables.visits.columns]", '[tables.visits.columns]\nwho = { type = "integer" }'),
    (
        'region = { keys = ["north", "south", "west"] }',
        'region = { type = "text", keys = ["north", "south", "west", "east"] }',
    ),
    ('"visits.csv"', '"visits.csv"\ndecimal = "."'),
]
"""How a policy reads the same file otherwise; the last two are the same."""


def people_are_elsewhere_where_the_file_is_read_otherwise(folder: Path) -> None:
    for i, (was, now) in enumerate(READ_AS):
        (there := folder / str(i)).mkdir()
        files(there, [(1, "north"), (2, "south")])
        path = written(there)
        with dp.Curator.open(path) as hospital:
            hospital.sql(NORTH, epsilon=0.4)
        text = path.read_text()
        path.write_text(text.replace(was, now))
        assert path.read_text() != text
        with dp.Curator.open(path) as hospital:
            left = {name: str(each.remaining) for name, each in hospital.budgets().parts.items()}
            same = i >= len(READ_AS) - 2
            assert left == {"north": "ε = 0.6", "south": "ε = 0.5" if same else "ε = 0.1"}, now
            if now is NULL:  # the question is another one, about other people
                hospital.sql(NORTH, epsilon=0.4)
                assert str(hospital.spent) == "ε = 0.8"


def test_people_are_in_other_parts_where_the_file_is_read_otherwise(tmp_path: Path) -> None:
    people_are_elsewhere_where_the_file_is_read_otherwise(tmp_path)


def budgets_of_parts_change(folder: Path) -> None:
    """A lower one at once, a higher one by an explicit act and never above the policy; one that is new from the largest spending on."""
    files(folder, [(1, "north")])
    with dp.Curator.open(written(folder)) as hospital:
        hospital.sql(NORTH, epsilon=0.25)
        assert code_of(lambda: hospital.set_budget(2, part="north", higher=True)) == "cap-higher"
        assert code_of(lambda: hospital.set_budget(1, part="west")) == "part"
        assert code_of(lambda: hospital.set_budget(1, part="north", shares="common")) == "usage"
        hospital.set_budget(0.3, part="north")
        assert str(hospital.budgets().parts["north"].cap) == "ε = 0.3"
    more = "north = { epsilon = 2 }\nsouth = { epsilon = 0.1 }\nwest = { epsilon = 1 }"
    with dp.Curator.open(written(folder, budgets=more)) as hospital:
        each = {name: (str(part.cap), str(part.spent)) for name, part in hospital.budgets().parts.items()}
        assert each == {
            "north": ("ε = 0.3", "ε = 0.25"),
            "south": ("ε = 0.1", "ε = 0"),
            "west": ("ε = 1", "ε = 0.25"),
        }
        assert code_of(lambda: hospital.set_budget(1, part="north")) == "cap-higher"
        hospital.set_budget(1, part="north", higher=True)
        assert str(hospital.budgets().parts["north"].cap) == "ε = 1"
        assert str(hospital.spent) == "ε = 0.25"
    with dp.Curator.open(written(folder, budgets=more)) as hospital:
        assert str(hospital.budgets().parts["north"].cap) == "ε = 1", "an explicit act holds"


def test_budgets_of_parts_are_changed_as_those_of_analysts_are(tmp_path: Path) -> None:
    budgets_of_parts_change(tmp_path)


def test_a_policy_with_parts_is_written_as_it_was_read(tmp_path: Path) -> None:
    files(tmp_path, [(1, "north")])
    policy = Policy.read(written(tmp_path))
    policy.save(tmp_path / "again.toml")
    assert Policy.read(tmp_path / "again.toml") == policy and policy.parts is not None
    assert str(policy.parts.budgets["south"]) == "ε = 0.5"
    check = policy.check(tmp_path / "again.toml").as_data()
    assert check["parts"]["budgets"]["north"] == {"epsilon": 1.0, "delta": 0.0}


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("is none", PARTS | {"table": "test"}),
    ("not found", PARTS | {"column": "regio"}),
    ("has none", PARTS | {"column": "who"}),
    ("has none", PARTS | {"column": "x"}),
    ("none of the keys", PARTS | {"budgets": {"east": {"epsilon": 1}}}),
    ("need budgets", PARTS | {"budgets": {}}),
    ("have a table", {"table": "visits", "column": "region"}),
    ("have a table", PARTS | {"epsilon": 1}),
    ("needs an epsilon", PARTS | {"budgets": {"north": 1}}),
    ("epsilon", PARTS | {"budgets": {"north": {"epsilon": 0}}}),
    ("part", PARTS | {"budgets": {"": {"epsilon": 1}}}),
    ("must be a name", PARTS | {"table": 3}),
]


@pytest.mark.parametrize(("said", "parts"), WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_parts_is_refused_before_anything_is_asked(said: str, parts: dict[str, Any]) -> None:
    with pytest.raises(DiscreetError, match=said):
        curator(parts=parts)


def test_parts_are_named_by_texts_and_integers_alone() -> None:
    for keys, right in (([1, 2], True), ([True, False], False), ([0.5, 1.5], False)):
        names = {str(key).lower(): {"epsilon": 1} for key in keys}
        columns = {"ward": {"keys": keys}}
        data = {"visits": {"who": [1, 2], "ward": keys}}

        def make(names: Any = names, columns: Any = columns, data: Any = data) -> dp.Curator:
            parts = {"table": "visits", "column": "ward", "budgets": names}
            return dp.Curator(data, "who", columns, epsilon=1, max_rows=1, ledger=":memory:", parts=parts)

        if right:
            with make() as hospital:
                assert "ward = '1'" in hospital.explain("SELECT COUNT(*) FROM visits WHERE ward = 1", epsilon=1)
        else:
            with pytest.raises(Invalid, match="parts are named by"):
                make()


def parts_are_of_people() -> None:
    """A column of a table about nobody names no part."""
    public = {"regions": {"region": ["north", "south"], "land": ["u", "v"]}}
    with pytest.raises(Invalid, match="'regions' is none"):
        curator(public=public, parts=PARTS | {"table": "regions"})


def test_parts_are_of_people() -> None:
    parts_are_of_people()


def test_a_part_that_there_is_not_is_refused() -> None:
    with curator() as hospital, pytest.raises(QueryError) as refused:
        hospital.preview("SELECT COUNT(*) FROM tests", epsilon=1, part="west")
    assert refused.value.code == "part" and "'north', 'south'" in refused.value.hint
    with curator(parts=None) as hospital, pytest.raises(QueryError) as refused:
        hospital.preview("SELECT COUNT(*) FROM tests", epsilon=1, part="north")
    assert refused.value.code == "part"


def test_analysts_are_told_of_parts_and_not_of_what_others_spent_there() -> None:
    with curator(analysts={"ana": {"epsilon": 2}, "bo": {"epsilon": 2}}) as hospital:
        hospital.sql(SOUTH, epsilon=0.4, analyst="ana")
        assert not hospital.budgets("bo").parts
        assert hospital.describe("bo").as_data()["parts"]["names"] == ["north", "south"]
        assert "parts of the people" in str(hospital.describe("bo"))
        with pytest.raises(Refused) as refused:
            hospital.sql(SOUTH, epsilon=0.2, analyst="bo")
        assert refused.value.code == "part-budget" and "0.1" not in refused.value.message


def test_measurements_surveys_and_tables_are_charged_to_all() -> None:
    with curator(epsilon=9) as hospital:
        hospital.sql(NORTH, epsilon=0.5)
        hospital.survey(1, table="visits")
        with hospital.measure(dp.Laplace(1).event(), label="by hand"):
            pass
        assert str(hospital.spent) == "ε = 2.5"
        assert {name: str(each.spent) for name, each in hospital.budgets().parts.items()} == {
            "north": "ε = 0.5",
            "south": "ε = 0",
        }


def test_rows_that_are_units_are_in_the_part_that_they_name() -> None:
    rows = {"region": ["north", "south", None, "north"], "x": [1, 2, 3, 4]}
    columns = {"region": {"keys": ["north", "south"]}, "x": {"bounds": (0, 10)}}
    with dp.Curator({"visits": rows}, columns=columns, row=True, epsilon=2, ledger=":memory:", parts=PARTS) as hospital:
        hospital.sql(NORTH, epsilon=0.5)
        hospital.sql("SELECT SUM(x) AS s FROM visits", epsilon=0.5, part="south")
        assert str(hospital.spent) == "ε = 0.5"


def test_a_ledger_without_parts_is_written_as_before() -> None:
    with place() as spot:
        store = spot.open(creation(2))
        store.settle(granted(store.reserve(request("k"))), b"answer")
        assert not any("part" in row["body"] for row in store.export()["rows"])


def test_a_name_is_known_in_the_ledger_or_refused() -> None:
    with place() as spot:
        store = spot.open(creation(2))
        with pytest.raises(Invalid, match="no part"):
            parted.set_cap(store, "north", cap(1), higher=True)
        set_parts(store, "north", "south")
        with pytest.raises(Invalid, match="no part"):
            parted.known_parts(store, "east")


def test_shares_that_are_reserved_in_the_ledger_refuse_parts_before_anything_is_changed(tmp_path: Path) -> None:
    files(tmp_path, [(1, "north")])
    plain = written(tmp_path)
    before, _, rest = plain.read_text().partition("[parts]")
    reserved = before.replace("epsilon = 2", 'epsilon = 2\nshares = "reserved"')
    plain.write_text(reserved + rest[rest.index("[ledger]") :])
    with dp.Curator.open(plain) as hospital:
        hospital.sql(NORTH, epsilon=0.1)
    with pytest.raises(Refused, match="parts"):
        dp.Curator.open(written(tmp_path, version="2")).sql(NORTH, epsilon=0.1)
    plain.write_text(reserved + rest[rest.index("[ledger]") :])
    with dp.Curator.open(plain) as hospital:
        assert not any("version" in line.what for line in hospital.history())


def test_a_policy_has_parts_or_shares_that_are_reserved() -> None:
    with pytest.raises(Refused, match="parts"):
        curator(shares="reserved")


def test_statistical_queries_pay_in_the_part_that_is_said() -> None:
    """By a condition of their own they count rows, of everybody."""
    with curator() as hospital:
        hospital.statistical("x > 3", table="visits", part="north", epsilon=0.5)
        hospital.statistical("x > 3", table="visits", part="south", epsilon=0.25)
        assert str(hospital.spent) == "ε = 0.5"
        hospital.statistical("x > 3 AND region = 'south'", table="visits", epsilon=0.25)
        assert str(hospital.spent) == "ε = 0.75"
