"""`discreet ask`, `explain` and `describe`: one line on one file, an answer with its error, and a clear word for every mistake."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from discreet.cli import app
from discreet.cli.flags import Flags, columns, parameters
from discreet.cli.source import SQL_BEGINS, split
from discreet.curator.data_file import table_name
from discreet.curator.session import Curator
from discreet.errors import Invalid
from tests.cli.conftest import Run, data, error, ledger_bytes

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS average FROM visits GROUP BY ward"
DECLARED = ["--keys", "ward=Surgery,Emergency,Burns", "--bounds", "cost=0:10000", "--bounds", "age=0:120"]
COMMAND = Path(sys.executable).parent / "discreet"


def test_one_line_answers_a_file(run: Run, visits: Path) -> None:
    result = run("ask", "visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "1")
    assert result.exit_code == 0, result.stderr
    assert "±" in result.stdout and "left: ε = 4, δ = 1e-06" in result.stdout
    assert re.search(
        r"at 95 %: each patient_id counts with at most [\d,]+ rows?, and what that leaves out is not in it",
        result.stdout,
    )
    assert "nobody declared max_total: found for this question" in result.stdout
    assert re.search(r"about [\d,]+ of [\d,]+ people \(± \d+ each\) have more than [\d,]+ rows?:", result.stdout)
    assert "\x1b" not in result.stdout  # not a terminal: plain
    assert visits.with_name("visits.csv.ledger").stat().st_mode & 0o777 == 0o700


def test_the_json_of_an_answer(run: Run, visits: Path) -> None:
    found = data(run("ask", "visits.csv", BY_WARD, "--unit", "patient_id", "--epsilon", "1", *DECLARED, "--json"))
    assert {"columns", "rows", "error", "confidence", "epsilon", "delta", "remaining", "receipt"} <= found.keys()
    assert found["columns"] == ["ward", "n", "average"]
    assert [row["ward"] for row in found["rows"]] == ["Surgery", "Emergency", "Burns"]
    assert all(row.keys() == {"ward", "n", "average"} for row in found["rows"])
    assert all(row.keys() <= {"n", "average"} and row["n"] > 0 for row in found["error"])
    assert len(found["error"]) == len(found["rows"])
    assert (found["confidence"], found["epsilon"], found["remaining"]["epsilon"]) == (0.95, 1.0, 4.0)
    assert found["receipt"]["private"] is True and found["receipt"]["question"] == BY_WARD


def test_intervals_for_a_population_and_at_once(run: Run, visits: Path) -> None:
    line = ["visits.csv", BY_WARD, "--unit", "patient_id", "--max-rows", "3", *DECLARED]
    more = ["--population", "--simultaneous"]
    usual = data(run("ask", *line, "--epsilon", "1", "--json"))
    found = data(run("ask", *line, "--epsilon", "1", *more, "--json"))
    assert found["receipt"]["population"] is found["receipt"]["simultaneous"] is True
    assert all(new["n"] > old["n"] for new, old in zip(found["error"], usual["error"], strict=True))
    shown = run("ask", *line, "--epsilon", "1", *more).stdout
    assert "for the noise and for the people who were sampled" in shown and "at 95 % for all numbers at once" in shown
    foreseen = run("ask", *line, "--epsilon", "1", *more, "--preview").stdout
    assert "the noise alone: how much people differ is measured with the answer" in foreseen
    assert "how much totals vary with who was sampled" in run("explain", *line, *more).stdout
    refused = run("ask", *line, "--within", "25", "--population")
    assert refused.exit_code == 2 and "within cannot be promised with population" in refused.stderr


def test_the_same_question_again_is_free_and_byte_identical(run: Run, visits: Path) -> None:
    line = ["ask", "visits.csv", BY_WARD, "--unit", "patient_id", "--epsilon", "1", *DECLARED]
    first, kept = run(*line, "--json"), ledger_bytes(visits)
    assert first.exit_code == 0
    for _ in range(2):
        assert run(*line, "--json").stdout == first.stdout
    assert run(*line).stdout == run(*line).stdout
    assert ledger_bytes(visits) == kept


def test_who_is_protected_and_the_budget_are_remembered(run: Run, visits: Path) -> None:
    assert run("ask", "visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "1", "--budget", "4").exit_code == 0
    found = data(run("ask", "visits.csv", f"{COUNT} WHERE sex = 'F'", "--epsilon", "1", "--json"))
    assert found["remaining"]["epsilon"] == 2
    assert found["relation"] == "add-remove one person"
    assert data(run("ask", "visits.csv", COUNT, "--epsilon", "1", "--budget", "4", "--json"))["epsilon"] == 1


def test_declarations_may_differ_from_question_to_question(run: Run, visits: Path) -> None:
    """They are the owner's; each question is planned and priced by its own."""
    line = [
        "ask",
        "visits.csv",
        "SELECT SUM(cost) AS total FROM visits",
        "--unit",
        "patient_id",
        "--epsilon",
        "1",
        "--json",
    ]
    wide, narrow = (data(run(*line, "--bounds", f"cost=0:{high}"))["error"][0]["total"] for high in (10_000, 1_000))
    assert wide > 5 * narrow


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (["--row"], "relation"),
        (["--unit", "region"], "relation"),
        (["--adjacency", "replace"], "relation"),
        (["--budget", "20"], "budget-fixed"),
        (["--budget", "1/3"], "budget-fixed"),
        (["--as", "ana"], "analyst-unknown"),
        (["--epsilon", "10"], "budget"),
    ],
    ids=" ".join,
)
def test_what_was_fixed_at_the_first_question_stays(run: Run, visits: Path, more: list[str], code: str) -> None:
    assert run("ask", "visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "1").exit_code == 0
    kept = ledger_bytes(visits)
    price = [] if "--epsilon" in more else ["--epsilon", "1"]
    result = run("ask", "visits.csv", f"{COUNT} WHERE sex = 'M'", *price, *more, "--json")
    assert result.exit_code == 3
    assert error(result)["code"] == code
    assert ledger_bytes(visits) == kept


def test_a_budget_is_never_overspent(run: Run, visits: Path) -> None:
    codes = [
        run(
            "ask",
            "visits.csv",
            f"{COUNT} WHERE patient_id <> '{i}'",
            "--unit",
            "patient_id",
            "--epsilon",
            "0.1",
            "--budget",
            "0.3",
        ).exit_code
        for i in range(5)
    ]
    assert codes == [0, 0, 0, 3, 3]


FIRST = ["--unit", "patient_id", "--epsilon", "1"]
MISTAKES: list[tuple[list[str], int, str, str]] = [
    ([], 2, "usage", "question is missing"),
    (["visits.csv"], 2, "usage", "question is missing"),
    (["visits.csv", "SELECT", "COUNT(*)"], 2, "usage", "quotes"),
    ([COUNT, "--epsilon", "1"], 2, "no-file", "discreet.toml"),
    (["vists.csv", COUNT, *FIRST], 2, "no-file", "did you mean 'visits.csv'"),
    (["none/visits.csv", COUNT, *FIRST], 2, "no-file", "there is no file"),
    ([".", COUNT, *FIRST], 2, "no-file", "folder"),
    (["visits.xlsx", COUNT, *FIRST], 2, "format", ".parquet"),
    (["empty.csv", COUNT, *FIRST], 2, "format", "empty"),
    (["binary.csv", "SELECT COUNT(*) FROM binary", *FIRST], 2, "invalid", "UTF-8"),
    (["broken.parquet", "SELECT COUNT(*) FROM broken", *FIRST], 2, "invalid", "cannot be read"),
    (["visits.csv", COUNT, "--epsilon", "1"], 2, "unit", "--unit COLUMN"),
    (["visits.csv", COUNT, *FIRST, "--row"], 2, "unit", "--unit and --row"),
    (["visits.csv", COUNT, "--unit", "patient", "--epsilon", "1"], 2, "unit", "did you mean 'patient_id'"),
    (["visits.csv", COUNT, "--unit", "patient_id"], 2, "usage", "--epsilon 1"),
    (["visits.csv", COUNT, *FIRST, "--within", "5"], 2, "usage", "exclude each other"),
    (["visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "0"], 2, "invalid", "0.1 to 1 a question is usual"),
    (["visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "one"], 2, "invalid", "epsilon must be a finite"),
    (["visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "nan"], 2, "invalid", "epsilon must be a finite"),
    (["visits.csv", COUNT, *FIRST, "--delta", "2"], 2, "invalid", "delta"),
    (["visits.csv", COUNT, *FIRST, "--budget", "-1"], 2, "invalid", "must be positive"),
    (["visits.csv", COUNT, *FIRST, "--budget", "0.5"], 3, "budget", "costs"),
    (["visits.csv", COUNT, *FIRST, "--bounds", "age"], 2, "usage", "--bounds age=0:120"),
    (["visits.csv", COUNT, *FIRST, "--bounds", "age=0"], 2, "usage", "--bounds age=0:120"),
    (["visits.csv", COUNT, *FIRST, "--bounds", "age=9:1"], 2, "invalid", "the first must be below the second"),
    (["visits.csv", COUNT, *FIRST, "--bounds", "aeg=0:9"], 2, "policy", "did you mean 'age'"),
    (["visits.csv", COUNT, *FIRST, "--bounds", "age=0:9", "--bounds", "age=0:8"], 2, "usage", "twice"),
    (["visits.csv", COUNT, *FIRST, "--keys", "ward="], 2, "usage", "--keys ward=A,B,C"),
    (["visits.csv", COUNT, *FIRST, "--keys", "ward=A,A"], 2, "invalid", "differ"),
    (["visits.csv", COUNT, *FIRST, "--types", "age=float"], 2, "invalid", "'number'"),
    (["visits.csv", COUNT, *FIRST, "--adjacency", "swap"], 2, "invalid", "'replace'"),
    (["visits.csv", COUNT, *FIRST, "--clip", "l3"], 2, "invalid", "'l2'"),
    (["visits.csv", COUNT, *FIRST, "--max-rows", "0"], 2, "invalid", "max_rows"),
    (["visits.csv", COUNT, *FIRST, "--max-groups", "many"], 2, "usage", "--max-groups"),
    (["visits.csv", COUNT, *FIRST, "--people", "0"], 2, "invalid", "people"),
    (["visits.csv", COUNT, *FIRST, "--delimiter", ";;"], 2, "invalid", "delimiter"),
    (["visits.csv", COUNT, *FIRST, "--param", "a=1", "--param", "2"], 2, "usage", "name all of them"),
    (["visits.csv", COUNT, *FIRST, "--param", "a=1", "--param", "a=2"], 2, "usage", "twice"),
    (["visits.csv", COUNT, *FIRST, "--out", "none/a.csv"], 2, "out", "folder that exists"),
    (["visits.csv", COUNT, *FIRST, "--out", "visits.csv"], 2, "out", "write over the source"),
    (["visits.csv", COUNT, *FIRST, "--epsilom", "1"], 2, "usage", "--help"),
    (["visits.csv", "SELECT COUNT(*) FROM visit", *FIRST], 2, "unknown-table", "did you mean 'visits'"),
    (["visits.csv", "SELECT COUNT(wrd) FROM visits", *FIRST], 2, "unknown-column", "did you mean 'ward'"),
    (
        ["visits.csv", "SELECT ward, COUNT(*) FROM visits GROUP BY ward", *FIRST, "--delta", "0"],
        2,
        "missing-keys",
        "survey",
    ),
    (
        ["visits.csv", "SELECT SUM(cost) FROM visits", *FIRST, "--types", "cost=number"],
        2,
        "missing-bounds",
        "--bounds cost=",
    ),
    (["visits.csv", "SELECT AVG(cost) FROM visits", *FIRST], 2, "types", "is a text, as nobody declared it"),
    (["visits.csv", "SELECT MAX(cost) FROM visits", *FIRST], 2, "extreme", "       ^^^"),
    (["visits.csv", "SELECT * FROM visits", *FIRST], 2, "", ""),
    (["visits.csv", "DROP TABLE visits", *FIRST], 2, "", ""),
    (["visits.csv", "SELECT COUNT(*) FROM visits; SELECT 1", *FIRST], 2, "", ""),
    (["visits.csv", "", *FIRST], 2, "", ""),
]


@pytest.mark.parametrize(("words", "exit_code", "code", "said"), MISTAKES, ids=[" ".join(each[0]) for each in MISTAKES])
def test_a_mistake_is_named_and_nothing_is_spent(
    run: Run, visits: Path, words: list[str], exit_code: int, code: str, said: str
) -> None:
    visits.with_name("visits.xlsx").write_text("x")
    visits.with_name("empty.csv").write_text("")
    visits.with_name("binary.csv").write_bytes(b"\xff\xfe\x00\x01\n")
    visits.with_name("broken.parquet").write_text("PAR2")
    result = run("ask", *words)
    assert (result.exit_code, result.stdout) == (exit_code, ""), result.stderr
    assert said in result.stderr
    found = error(run("ask", *words, "--json"))
    assert found["code"] == code or (not code and found["code"])
    assert found["message"]
    if visits.with_name("visits.csv.ledger").exists():  # made by a question that its new budget refuses
        assert data(run("budget", "visits.csv", "--json"))["spent"]["epsilon"] == 0
    assert run("ask", "visits.csv", COUNT, *FIRST, "--json").exit_code == (0 if "0.5" not in words else 3)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(run: Run, visits: Path) -> None:
    visits.chmod(0)
    result = run("ask", "visits.csv", COUNT, *FIRST, "--json")
    assert error(result)["code"] == "no-file" and "permissions" in result.stderr


@pytest.mark.parametrize(
    "line",
    [
        ["ask", "visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "1", "--preview"],
        [
            "ask",
            "visits.csv",
            COUNT,
            "--unit",
            "patient_id",
            "--within",
            "20",
            "--max-total",
            "5",
            "--preview",
            "--json",
        ],
        ["explain", "visits.csv", COUNT, "--unit", "patient_id"],
        [
            "explain",
            "visits.csv",
            BY_WARD,
            "--unit",
            "patient_id",
            "--within",
            "9999",
            "--people",
            "300",
            "--max-total",
            "15",
            *DECLARED,
            "--json",
        ],
        ["describe", "visits.csv", "--unit", "patient_id", *DECLARED],
        ["describe", "visits.csv", "--row", "--json"],
        ["budget", "visits.csv"],
    ],
    ids=lambda line: " ".join(line[:1] + line[3:]),
)
def test_looking_makes_no_ledger(run: Run, visits: Path, line: list[str]) -> None:
    result = run(*line)
    assert result.exit_code == 0, result.stderr
    assert not visits.with_name("visits.csv.ledger").exists()
    assert not (visits.parent / "state").exists()


def test_a_preview_tells_price_and_error(run: Run, visits: Path) -> None:
    line = ["ask", "visits.csv", COUNT, "--unit", "patient_id", "--within", "20", "--max-rows", "5"]
    found = data(run(*line, "--preview", "--json"))
    assert found["error"]["n"] <= 20 and 0 < found["epsilon"] < 2 and found["at_limits"] == []
    said = run(*line, "--preview").stdout
    assert "nothing was read or spent" in said
    paid = data(run(*line, "--json"))
    assert paid["epsilon"] == found["epsilon"] and paid["error"][0]["n"] <= 20


def test_a_preview_tells_the_error_at_a_few_limits_where_none_is_declared(run: Run, visits: Path) -> None:
    """Which limit is found hangs on the data, so that no error is promised and none can be paid for; each is that of its limit."""
    line = ["ask", "visits.csv", COUNT, "--unit", "patient_id", "--preview"]
    before = data(run(*line, "--epsilon", "1", "--json"))
    assert before["error"] == {} and "limit that is found" in before["reasons"]["n"]
    limits, errors = zip(*((each["max_total"], each["error"]["n"]) for each in before["at_limits"]), strict=True)
    assert len(limits) == 4 and sorted(limits) == list(limits) and sorted(errors) == list(errors)
    said = run(*line, "--epsilon", "1").stdout
    assert all(f"max_total = {limit:,}" in said for limit in limits) and "nothing was read or spent" in said
    assert error(run(*line, "--within", "20", "--json"))["code"] == "within"
    answer = data(run(*line[:-1], "--epsilon", "1", "--json"))
    assert answer["epsilon"] == before["epsilon"] and set(before["notes"]) < set(answer["notes"])


def test_explain_is_a_tree(run: Run, visits: Path) -> None:
    said = run("explain", "visits.csv", BY_WARD, "--unit", "patient_id", *DECLARED).stdout
    assert "costs ε = 1" in said and "└─ visits" in said and "geometric noise" in said
    found = data(run("explain", "visits.csv", BY_WARD, "--unit", "patient_id", *DECLARED, "--json"))
    assert "\n".join(found["plan"]) == said.rstrip("\n")


def test_describe_tells_what_is_declared_and_nothing_from_the_data(run: Run, visits: Path) -> None:
    line = ["describe", "visits.csv", "--unit", "patient_id", *DECLARED, "--types", "admitted=date"]
    before, said = data(run(*line, "--json")), run(*line).stdout
    assert "how much of each counts is found for each question" in said
    assert before["unit"] == {
        "column": "patient_id",
        "row": False,
        "adjacency": "add-remove",
        "max_groups": None,
        "max_rows": None,
        "max_total": None,
        "people": None,
        "clip": "groups",
    }
    (table,) = before["tables"]
    declared = {column["name"]: column for column in table["columns"]}
    assert declared["age"] == {
        "name": "age",
        "type": "number",
        "bounds": [0, 120],
        "keys": None,
        "nullable": True,
        "max_groups": None,
        "group_by": False,
    }
    assert declared["ward"]["keys"] == ["Surgery", "Emergency", "Burns"]
    assert declared["admitted"]["type"] == "date"
    assert before["budget"]["remaining"] == {"epsilon": 5.0, "delta": 1e-6}
    rows = visits.read_text("utf-8").splitlines()
    visits.write_text("\n".join([rows[0], *rows[1:3]]) + "\n", "utf-8")
    assert data(run(*line, "--json")) == before and run(*line).stdout == said


def test_an_answer_goes_to_a_file(run: Run, visits: Path) -> None:
    shown = run("ask", "visits.csv", BY_WARD, *FIRST, *DECLARED, "--out", "answer.csv")
    assert shown.exit_code == 0 and "Surgery" in shown.stdout
    with open("answer.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["ward"] for row in rows] == ["Surgery", "Emergency", "Burns"]
    assert all(float(row["n_error"]) > 0 for row in rows)


def test_an_answer_is_never_written_over_data_or_policy(run: Run, policy: Path) -> None:
    kept = {path: path.read_bytes() for path in policy.parent.iterdir()}
    for out in ("visits.csv", "hospital.toml", "../" + policy.parent.name + "/visits.csv"):
        refused = run("ask", "hospital.toml", COUNT, "--epsilon", "1", "--out", out, "--json")
        assert error(refused)["code"] == "out"
    assert {path: path.read_bytes() for path in policy.parent.iterdir()} == kept


def test_parameters_are_bound(run: Run, visits: Path) -> None:
    line = ["ask", "visits.csv", *FIRST, *DECLARED, "--json"]
    plain = data(run(*line, f"{COUNT} WHERE age >= 65 AND sex = 'F'"))
    listed = data(run(*line, f"{COUNT} WHERE age >= ? AND sex = ?", "--param", "65", "--param", "F"))
    named = data(run(*line, f"{COUNT} WHERE age >= :old AND sex = :sex", "--param", "sex=F", "--param", "old=65"))
    assert plain["rows"] == listed["rows"] == named["rows"]  # one question, however it is written: one answer
    assert named["remaining"]["epsilon"] == 4


def test_a_policy_is_a_source(run: Run, policy: Path) -> None:
    found = data(run("ask", "hospital.toml", BY_WARD, "--epsilon", "0.5", "--json"))
    assert found["remaining"]["epsilon"] == 2.5
    assert policy.with_name("hospital.toml.ledger").exists()
    refused = run("ask", "hospital.toml", COUNT, "--epsilon", "0.5", "--unit", "patient_id", "--json")
    assert error(refused)["code"] == "usage" and refused.exit_code == 2


def test_without_a_source_it_is_the_policy_of_this_folder(run: Run, policy: Path) -> None:
    policy.rename(policy.with_name("discreet.toml"))
    found = data(run("ask", COUNT, "--epsilon", "0.5", "--json"))
    assert found["remaining"]["epsilon"] == 2.5
    assert data(run("budget", "--json"))["spent"]["epsilon"] == 0.5
    assert data(run("describe", "--json"))["tables"][0]["name"] == "visits"


def test_an_analyst_is_charged_too_and_an_unknown_one_refused(run: Run, policy: Path) -> None:
    found = data(run("ask", "hospital.toml", COUNT, "--epsilon", "0.75", "--as", "ana", "--json"))
    assert found["remaining"]["epsilon"] == 0.25
    kept = ledger_bytes(policy)
    again = run("ask", "hospital.toml", f"{COUNT} WHERE age > 9", "--epsilon", "0.75", "--as", "ana", "--json")
    assert (again.exit_code, error(again)["code"]) == (3, "analyst-budget")
    other = run("ask", "hospital.toml", COUNT, "--epsilon", "0.75", "--as", "bob", "--json")
    assert (other.exit_code, error(other)["code"]) == (3, "analyst-unknown")
    assert ledger_bytes(policy) == kept


def test_the_ledger_may_lie_elsewhere(run: Run, visits: Path) -> None:
    assert run("ask", "visits.csv", COUNT, *FIRST, "--ledger", "money").exit_code == 0
    assert not visits.with_name("visits.csv.ledger").exists()
    assert data(run("budget", "visits.csv", "--ledger", "money", "--json"))["spent"]["epsilon"] == 1
    assert data(run("budget", "visits.csv", "--json"))["ledger"] is None


def test_other_formats(run: Run, visits: Path) -> None:
    with duckdb.connect("all.duckdb") as connection:
        connection.execute("CREATE TABLE visits AS FROM read_csv('visits.csv')")
        connection.execute("CREATE TABLE wards AS SELECT 'Surgery' AS ward")
        connection.execute("COPY visits TO 'visits.parquet'")
    visits.with_name("half.csv").write_text(visits.read_text("utf-8").replace(",", ";"), "utf-8")
    average = "SELECT AVG(cost) AS average FROM"
    for words in (
        ["visits.parquet", f"{average} visits"],
        ["all.duckdb", f"{average} visits", "--table", "visits"],
        ["half.csv", f"{average} half", "--delimiter", ";"],
    ):
        found = data(run("ask", *words, "--row", "--bounds", "cost=0:10000", "--epsilon", "5", "--json"))
        assert 500 < found["rows"][0]["average"] < 4000, words


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("visits.csv", "visits"),
        ("Visits 2024.csv", "visits_2024"),
        ("a-b.c.parquet", "a_b"),
        ("2024.csv.gz", "_2024"),
        ("größe.csv", "gr__e"),
        (".csv", "_csv"),
    ],
)
def test_the_table_is_named_after_the_file(file: str, name: str) -> None:
    assert table_name(Path("folder") / file) == name


def test_a_single_word_is_a_question_where_it_looks_like_one() -> None:
    for text in (COUNT, "select 1", " WITH x AS (SELECT 1) SELECT * FROM x", "(SELECT 1)"):
        assert split([text]) == (None, text)
    assert split(["visits.csv", "x"]) == ("visits.csv", "x")
    for word in ("visits.csv", "hospital.toml"):
        assert not word.startswith(SQL_BEGINS)
        with pytest.raises(Invalid, match="missing"):
            split([word])


def test_declarations_are_read_exactly() -> None:
    found = columns(
        Flags(
            bounds=["cost=-0.1:1e3", "share = 1/3:2/3"],
            keys=['ward=A, B,"C, D"', "n=1,2"],
            types=["n=integer", "day=Date"],
        )
    )
    assert [str(end) for end in found["cost"]["bounds"]] == ["-1/10", "1000"]
    assert [str(end) for end in found["share"]["bounds"]] == ["1/3", "2/3"]
    assert found["ward"] == {"keys": ["A", "B", "C, D"]}
    assert found["n"] == {"keys": [1, 2], "type": "integer"}
    assert found["day"] == {"type": "date"}


@pytest.mark.parametrize(
    ("texts", "bound"),
    [
        (None, None),
        (
            ["65", "0.5", "-3", "1e-3", "x y", "'65'", "TRUE", "null", "2024-01-01"],
            [65, 0.5, -3, 1e-3, "x y", "65", True, None, "2024-01-01"],
        ),
        (["a=65", "b=x=y", "c="], {"a": 65, "b": "x=y", "c": ""}),
        (["'a=b'"], ["a=b"]),
    ],
)
def test_parameters_are_what_they_look_like(texts: list[str] | None, bound: Any) -> None:
    assert parameters(texts) == bound


def test_a_mistake_of_ours_tells_no_value(run: Run, visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the cell 98765 is odd")

    monkeypatch.setattr(Curator, "sql", broken)
    result = run("ask", "visits.csv", COUNT, *FIRST, "--json")
    assert (result.exit_code, error(result)["code"]) == (1, "unexpected")
    assert "98765" not in result.stderr and "RuntimeError" in result.stderr


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['discreet', '--help']\n"
        "from discreet.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'duckdb', 'sqlglot', 'scipy', 'cryptography', 'pandas'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == "[]\n"
    for name in ("ask", "explain", "describe", "budget", "loss", "demo", "noise"):
        assert name in ended.stdout


def terminal(*words: str, **environment: str) -> str:
    """What the installed command writes to a terminal."""
    ours, theirs = os.openpty()
    child = subprocess.Popen([COMMAND, *words], stdout=theirs, stderr=subprocess.PIPE, env=os.environ | environment)
    os.close(theirs)
    written = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end was closed
            break
        if not more:
            break
        written += more
    os.close(ours)
    assert child.wait() == 0
    assert child.stderr is not None
    child.stderr.close()
    return written.decode()


def test_the_installed_command_in_a_terminal_and_without_one(visits: Path) -> None:
    line = ["ask", "visits.csv", BY_WARD, *FIRST, *DECLARED]
    colour = terminal(*line, TERM="xterm-256color", COLUMNS="100")
    assert "\x1b[" in colour and "●" in colour
    plain = terminal(*line, TERM="xterm-256color", COLUMNS="100", NO_COLOR="1")
    assert "●" in plain and not any(f"\x1b[{n}m" in plain for n in range(30, 48))
    refused = subprocess.run([COMMAND, *line, "--budget", "99"], capture_output=True, text=True)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (3, "", 1)


@pytest.mark.parametrize("source", ["visits.csv", "hospital.toml"])
def test_limits_are_for_whoever_asks_of_a_file_and_of_a_policy(run: Run, policy: Path, source: str) -> None:
    """`ask`, its preview, `explain` and the shell alike; the price of a row of a person is in the plan."""
    unit = ["--unit", "patient_id"] if source == "visits.csv" else []
    found = {}
    for rows in ("1", "9"):
        line = [source, COUNT, "--epsilon", "1", "--max-rows", rows, "--max-groups", "2", *unit]
        before = data(run("ask", *line, "--preview", "--json"))
        plan = data(run("explain", *line, "--json"))["plan"]
        answer = data(run("ask", *line, "--json"))
        assert before["notes"] == answer["notes"] and f"at most {rows} row" in answer["notes"][0]
        assert any(f"sensitivity {rows} " in part for part in plan) and not any("nobody" in part for part in plan)
        assert answer["receipt"]["measurements"][0]["sensitivity"] == rows
        found[rows] = answer["receipt"]["plan"]
    assert len(set(found.values())) == 2


@pytest.mark.parametrize("source", ["visits.csv", "hospital.toml"])
def test_all_rows_of_a_person_are_limited_by_whoever_asks(run: Run, policy: Path, source: str) -> None:
    """Of a file and of a policy, in the preview, the plan and the answer alike; `[unit]` declares the same for every question."""
    line = [
        source,
        COUNT,
        "--epsilon",
        "1",
        "--max-total",
        "500",
        *(["--unit", "patient_id"] * (source == "visits.csv")),
    ]
    before, plan = data(run("ask", *line, "--preview", "--json")), data(run("explain", *line, "--json"))["plan"]
    answer = data(run("ask", *line, "--json"))
    assert before["notes"] == answer["notes"] and answer["notes"][0] == "each patient_id counts with at most 500 rows"
    assert any("at most 500 rows a person in all" in part for part in plan)
    assert answer["receipt"]["measurements"][0]["sensitivity"] == "500"
    declared = policy.read_text("utf-8").replace("[unit]\n", "[unit]\nmax_total = 500\n")
    policy.write_text(declared, "utf-8")
    told = data(run("ask", "hospital.toml", COUNT, "--epsilon", "1", "--preview", "--json"))
    assert told["notes"] == answer["notes"]
    assert "each counts with at most 500 rows in a question\n" in run("describe", "hospital.toml").stdout


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, "how much of each counts is found for each question, unless whoever asks sets a limit"),
        ({"max_rows": 1}, "each counts with at most 1 row in a group; what else limits a question is found for it"),
        ({"max_groups": 2}, "each counts in at most 2 groups; what else limits a question is found for it"),
        ({"max_rows": 5, "max_groups": 3}, "each counts with at most 5 rows in a group, and in at most 3 groups\n"),
        ({"max_total": 9, "max_groups": 1}, "each counts with at most 9 rows in a question, and in at most 1 group\n"),
    ],
    ids=str,
)
def test_a_description_says_what_of_each_counts(run: Run, policy: Path, limits: dict[str, int], said: str) -> None:
    lines = "".join(f"{name} = {limit}\n" for name, limit in limits.items())
    policy.write_text(policy.read_text("utf-8").replace("[unit]\n", f"[unit]\n{lines}"), "utf-8")
    assert said in run("describe", "hospital.toml").stdout


def test_a_shell_takes_limits_too(run: Run, policy: Path) -> None:
    said = CliRunner().invoke(
        app,
        ["shell", "hospital.toml", "--epsilon", "1", "--max-rows", "7"],
        input=f"\\describe\n\\explain {COUNT};\n\\preview {COUNT};\n{COUNT};\n",
    )
    assert said.exit_code == 0, said.stderr
    assert "each counts with at most 7 rows in a group" in said.stdout
    assert "sensitivity 7 " in said.stdout and "nobody declared" not in said.stdout


@pytest.mark.parametrize("command", ["ask", "explain"])
@pytest.mark.parametrize("limit", ["--max-rows", "--max-groups", "--max-total"])
@pytest.mark.parametrize("bad", ["0", "-3", "1.5", "true", "9" * 30])
def test_a_bad_limit_costs_nothing(run: Run, policy: Path, command: str, limit: str, bad: str) -> None:
    found = error(run(command, "hospital.toml", COUNT, "--epsilon", "1", limit, bad, "--json"))
    assert limit in found["message"] or limit[2:].replace("-", "_") in found["message"]
    assert not policy.with_name("hospital.toml.ledger").exists()


def test_what_is_missing_is_told_at_once(run: Run, visits: Path) -> None:
    question = ("ask", "visits.csv", "SELECT COUNT(*) AS n FROM visits")
    hint = error(run(*question, "--json"))["hint"]
    assert "--epsilon" in hint and "--unit" in hint
    assert "--unit" not in error(run(*question, "--unit", "patient_id", "--json"))["hint"]
    assert run(*question, "--unit", "patient_id", "--epsilon", "1").exit_code == 0
    assert "--unit" not in error(run(*question, "--json"))["hint"]  # it is remembered


def test_the_command_is_a_module_too() -> None:
    """For environments whose folder of commands is not on the path."""
    ways = [[COMMAND], [sys.executable, "-m", "discreet"]]
    said = [subprocess.run([*way, "--version"], capture_output=True, text=True, check=True).stdout for way in ways]
    assert said[0] == said[1] != ""
