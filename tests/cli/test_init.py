"""`discreet init`: a first policy that loads, answers COUNT, holds no value of the data, and goes on with the budget there is."""

import gzip
import tomllib
from pathlib import Path

import duckdb
import pytest

from discreet.curator.first_policy import looked_at
from discreet.curator.policy import Policy
from discreet.engines.framing import Framing
from tests.cli.conftest import Run, data, error, ledger_bytes

COUNT = "SELECT COUNT(*) AS n FROM visits"


def types(policy: Path, table: str = "visits") -> dict[str, str]:
    columns = tomllib.loads(policy.read_text("utf-8"))["tables"][table]["columns"]
    return {name: declared["type"] for name, declared in columns.items()}


def test_the_policy_loads_and_answers_count(run: Run, visits: Path) -> None:
    result = run("init", "visits.csv", "--unit", "patient_id")
    assert result.exit_code == 0 and "discreet check" in result.stdout, result.stderr
    assert "--epsilon 0.1" in result.stdout
    policy = Path("discreet.toml")
    assert types(policy) == {
        "age": "integer",
        "sex": "text",
        "region": "text",
        "ward": "text",
        "cost": "number",
        "admitted": "date",
    }
    found = data(run("ask", COUNT, "--epsilon", "0.5", "--json"))
    assert found["remaining"] == {"epsilon": 4.5, "delta": 1e-6}
    assert data(run("ask", f"{COUNT} WHERE age > 60 AND admitted > DATE '2024-05-01'", "--epsilon", "0.5", "--json"))[
        "rows"
    ]


def test_what_is_commented_out_works_once_it_is_filled_in(run: Run, visits: Path) -> None:
    assert run("init", "visits.csv", "--unit", "patient_id", "--out", "hospital.toml").exit_code == 0
    policy = Path("hospital.toml")
    lines = policy.read_text("utf-8").splitlines()
    filled = [
        line.removeprefix("# ") if line.startswith(("# age", "# ward", "# people", "# max_", "# [", "# eps")) else line
        for line in lines
    ]
    plain = [line for line in filled if line not in ('age = { type = "integer" }', 'ward = { type = "text" }')]
    policy.write_text("\n".join(plain), "utf-8")
    read = Policy.read(policy)
    assert read.analysts["ana"].epsilon == 1 and read.protected.people == 50_000
    unit = read.protected
    assert (unit.max_total, unit.max_rows, unit.max_groups) == (100, 20, 3)
    asked = "SELECT ward, AVG(age) AS age FROM visits GROUP BY ward"
    assert len(data(run("ask", "hospital.toml", asked, "--epsilon", "0.5", "--as", "ana", "--json"))["rows"]) == 2


def test_no_value_of_the_data_is_written_or_printed(run: Run, place: Path) -> None:
    path = place / "people.csv"
    path.write_text("who,age,name,rate\n4711,8472,Zebulon,47.113\n4712,8473,Ariadne,47.114\n", "utf-8")
    result = run("init", "people.csv", "--unit", "who")
    assert result.exit_code == 0
    seen = result.stdout + Path("discreet.toml").read_text("utf-8")
    assert not [value for value in ("4711", "8472", "Zebulon", "Ariadne", "47.11") if value in seen]


def test_the_same_types_have_the_same_policy_whatever_the_values(run: Run, place: Path) -> None:
    for name, row in (("a", "1,2,x"), ("b", "31,99999,some other text")):
        Path(name).mkdir()
        Path(name, "people.csv").write_text("who,age,name\n" + f"{row}\n" * len(row), "utf-8")
        assert run("init", f"{name}/people.csv", "--unit", "who", "--out", f"{name}/p.toml").exit_code == 0
    assert Path("a/p.toml").read_text() == Path("b/p.toml").read_text()


def test_types_are_guessed_with_care(place: Path) -> None:
    path = place / "odd.csv"
    cells = {
        "code": ["01234", "99999"],
        "whole": ["-3", "18"],
        "decimal": ["0.5", "-7"],
        "day": ["2024-02-29", "2023-01-01"],
        "no_day": ["2023-02-29", "2023-01-01"],
        "flag": ["true", "FALSE"],
        "bit": ["1", "0"],
        "empty": ["", " "],
        "large": ["1" * 30, "2"],
        "scientific": ["1e5", "2"],
        "mixed": ["12", "n/a"],
        "gaps": ["", "12"],
    }
    rows = [",".join(cells), *(",".join(column[i] for column in cells.values()) for i in range(2))]
    path.write_text("\n".join(rows) + "\nshort\n", "utf-8")
    assert {name: kind.value for name, kind in looked_at(path, Framing(ragged=True)).items()} == {
        "code": "text",
        "whole": "integer",
        "decimal": "number",
        "day": "date",
        "no_day": "text",
        "flag": "boolean",
        "bit": "integer",
        "empty": "text",
        "large": "number",
        "scientific": "number",
        "mixed": "text",
        "gaps": "integer",
    }


def test_rows_may_be_protected_by_themselves(run: Run, visits: Path) -> None:
    assert run("init", "visits.csv", "--row").exit_code == 0
    found = data(run("ask", COUNT, "--epsilon", "1", "--json"))
    assert found["relation"] == "add-remove one row"
    assert types(Path("discreet.toml"))["patient_id"] == "integer"


def test_names_of_any_kind(run: Run, place: Path) -> None:
    names = ["the person", 'a "quoted" one', "naïve", "back\\slash", "a.b", "x = 1 # no"]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    Path("Our Data (2024).csv").write_text(f"{quoted}\n1,2,3,4,5,6\n", "utf-8")
    assert run("init", "Our Data (2024).csv", "--unit", "The Person").exit_code == 0
    assert set(types(Path("discreet.toml"), "our_data__2024_")) == set(names[1:])
    assert data(run("ask", 'SELECT COUNT("naïve") AS n FROM our_data__2024_', "--epsilon", "1", "--json"))["rows"]


def test_other_formats(run: Run, visits: Path) -> None:
    text = visits.read_text("utf-8")
    Path("tabs.tsv").write_text(text.replace(",", "\t"), "utf-8")
    Path("semi.csv").write_text(text.replace(",", ";"), "utf-8")
    with gzip.open("packed.csv.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    with duckdb.connect("base.duckdb") as base:
        base.execute("CREATE TABLE visits AS SELECT * FROM 'visits.csv'; CREATE TABLE other AS SELECT 1 AS x")
        base.execute("COPY visits TO 'rows.parquet'")
    lines = [
        ("tabs.tsv", "tabs", []),
        ("semi.csv", "semi", ["--delimiter", ";"]),
        ("packed.csv.gz", "packed", []),
        ("rows.parquet", "rows", []),
        ("base.duckdb", "visits", ["--table", "visits"]),
    ]
    for i, (name, table, more) in enumerate(lines):
        made = data(run("init", name, "--unit", "patient_id", "--out", f"{i}.toml", *more, "--json"))
        assert made["table"] == table and made["columns"]["cost"] == "number", name
        assert data(run("ask", f"{i}.toml", f"SELECT COUNT(*) AS n FROM {table}", "--epsilon", "1", "--json"))["rows"]


def test_it_goes_on_with_the_budget_of_the_file(run: Run, visits: Path) -> None:
    asked = ["ask", "visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "1", "--budget", "4.5"]
    assert run(*asked).exit_code == 0
    refused = run("init", "visits.csv", "--row", "--json")
    assert (refused.exit_code, error(refused)["code"]) == (3, "relation") and not Path("discreet.toml").exists()
    assert run("init", "visits.csv", "--unit", "PATIENT_ID").exit_code == 0
    found = data(run("ask", f"{COUNT} WHERE sex = 'F'", "--epsilon", "1", "--json"))
    assert found["remaining"]["epsilon"] == 2.5
    assert data(run("budget", "visits.csv", "--json"))["spent"]["epsilon"] == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["visits.csv"], "unit"),
        (["visits.csv", "--unit", "patient_id", "--row"], "unit"),
        (["visits.csv", "--unit", "patient"], "unit"),
        (["visits.csv", "--unit", "patient_id", "--out", "policy.txt"], "out"),
        (["visits.csv", "--unit", "patient_id", "--out", "visits.csv"], "out"),
        (["visits.csv", "--unit", "patient_id", "--out", "none/p.toml"], "out"),
        (["visits.csv", "--unit", "patient_id", "--out", "there.toml"], "out"),
        (["visits.csv", "--unit", "patient_id", "--epsilon", "-1"], "invalid"),
        (["there.toml", "--row"], "usage"),
        (["none.csv", "--row"], "no-file"),
        (["bytes.csv", "--row"], "invalid"),
        (["later.csv", "--row"], "load"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_written(run: Run, visits: Path, words: list[str], code: str) -> None:
    Path("there.toml").write_text("mine", "utf-8")
    Path("bytes.csv").write_bytes(b"\xff\xfe,b\n1,2\n")
    Path("later.csv").write_bytes(b"a,b\n" + b"1,2\n" * 9_000 + b'1,"2\n')
    before = {file.name: file.read_bytes() for file in visits.parent.iterdir() if file.is_file()}
    result = run("init", *words, "--json")
    assert (result.exit_code, error(result)["code"]) == (2, code)
    assert {file.name: file.read_bytes() for file in visits.parent.iterdir() if file.is_file()} == before


def test_looking_spends_nothing(run: Run, visits: Path) -> None:
    assert run("init", "visits.csv", "--unit", "patient_id").exit_code == 0
    assert ledger_bytes(visits) == {}


def suggestions(policy: Path) -> dict[str, str]:
    """What is commented out of each column."""
    lines = [line for line in policy.read_text("utf-8").splitlines() if line.startswith("# ") and "= { type" in line]
    return {line.split()[1]: line for line in lines}


def test_suggestions_follow_type_and_name_and_load_once_they_are_filled_in(run: Run, place: Path) -> None:
    names = ["year", "birth_year", "Jahr", "birthyear", "age", "years", "yearly", "rate", "flag", "day", "ward"]
    cells = ["2004", "1961", "1999", "1970", "31", "4", "7", "0.5", "true", "2024-01-01", "A"]
    (place / "v.csv").write_text(f"who,{','.join(names)}\n1,{','.join(cells)}\n", "utf-8")
    assert run("init", "v.csv", "--unit", "who").exit_code == 0
    policy = Path("discreet.toml")
    lines = suggestions(policy)
    assert {name for name in names if "the last year" in lines.get(name, "")} == {
        "year",
        "birth_year",
        "Jahr",
        "birthyear",
    }
    assert {name for name in names if "if it is a code" in lines.get(name, "")} == {"age", "years", "yearly"}
    assert {name for name in lines if " keys = " in lines[name].split("  #")[0]} == {"ward"}
    assert " bounds = [2020-01-01, 2024-12-31]" in lines["day"]
    assert set(names) - set(lines) == {"flag"}  # which is grouped by as it is
    assert "if it has few values" in lines["rate"]
    filled = policy.read_text("utf-8")
    for name, line in lines.items():
        filled = "\n".join(line[2:] if each.startswith(f"{name} = ") else each for each in filled.split("\n"))
    policy.write_text(filled, "utf-8")
    asked = "SELECT year, AVG(age) AS age, SUM(rate) AS rate FROM v GROUP BY year"
    assert len(data(run("ask", asked, "--epsilon", "0.5", "--json"))["rows"]) == 131


@pytest.mark.parametrize("place_of_it", [1, 3000])
def test_a_file_that_is_not_utf_8_is_told_and_read_in_the_encoding_that_is_said(
    run: Run, place: Path, place_of_it: int
) -> None:
    rows = [f"{i},{'Meyer' if i < place_of_it else 'Müller'}" for i in range(5000)]
    (place / "v.csv").write_bytes("\n".join(["who,name", *rows]).encode("latin-1"))
    assert "--encoding latin-1" in run("init", "v.csv", "--unit", "who", "--out", "a.toml").stdout
    assert data(run("init", "v.csv", "--unit", "who", "--out", "b.toml", "--json"))["garbled"] is True
    said = run("init", "v.csv", "--unit", "who", "--out", "c.toml", "--encoding", "latin-1")
    assert said.exit_code == 0 and "--encoding" not in said.stdout
    for name, found in (("a", 0), ("c", 5000 - place_of_it)):
        for text, count in (("COUNT(*)", 5000), ("COUNT(*) FILTER (WHERE name = 'Müller')", found)):
            asked = f"SELECT {text} AS {name} FROM v"
            (row,) = data(run("ask", f"{name}.toml", asked, "--epsilon", "1", "--max-total", "5", "--json"))["rows"]
            assert abs(row[name] - count) < 200
    assert tomllib.loads(Path("c.toml").read_text("utf-8"))["tables"]["v"]["encoding"] == "latin-1"
    assert "encoding" not in tomllib.loads(Path("a.toml").read_text("utf-8"))["tables"]["v"]
