"""A limit on groups at a column, by a flag and in a policy: what it does is the same, and `describe` and `check` show it."""

from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Run, data, error

BY_WARD = "SELECT ward, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY ward"
KEYS = ["--unit", "patient_id", "--keys", "ward=Surgery,Emergency,Burns"]
LIMITED = POLICY.replace('"Burns"] }', '"Burns"], max_groups = 2 }')


def sensitivity(run: Run, *words: str) -> str:
    return str(data(run("ask", *words, "--epsilon", "0.1", "--json"))["receipt"]["measurements"][0]["sensitivity"])


@pytest.mark.parametrize("source", ["visits.csv", "hospital.toml"])
def test_a_flag_says_what_a_policy_says(run: Run, policy: Path, source: str) -> None:
    """And whoever asks has the last word, of a file and of a policy."""
    policy.write_text(LIMITED, "utf-8")
    flags = [*KEYS, "--max-groups", "ward=2"] if source == "visits.csv" else []
    assert sensitivity(run, source, BY_WARD, *flags) == "2"
    for asked in ("1", "2", "3"):
        assert sensitivity(run, source, BY_WARD, *flags, "--max-groups", asked) == asked
    (table,) = data(run("describe", source, *flags, "--json"))["tables"]
    limits = {each["name"]: each["max_groups"] for each in table["columns"]}
    assert limits["ward"] == 2 and {limits[name] for name in limits if name != "ward"} == {None}
    shown = [run("describe", source, *flags).stdout]
    shown += [run("check", source).stdout] if source == "hospital.toml" else []
    for said in shown:
        assert "GROUP BY: Surgery, Emergency, Burns; at most 2 groups of each patient_id" in said


def test_a_limit_of_a_column_without_keys_is_shown(run: Run, visits: Path) -> None:
    said = run("describe", "visits.csv", "--unit", "patient_id", "--max-groups", "sex=1").stdout
    assert "filter and count; at most 1 group of each patient_id" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ward="], "--max-groups 'ward=' cannot be read"),
        (["=2"], "--max-groups '=2' cannot be read"),
        (["ward=two"], "--max-groups 'ward=two' cannot be read"),
        (["ward=0"], "max_groups of column 'ward' must be at least 1"),
        (["ward=20000"], "max_groups of column 'ward' must be at most 10,000"),
        (["beds=2"], "column 'beds' is declared"),
        (["ward=2", "ward=3"], "--max-groups is given twice for column 'ward'"),
        (["2", "3"], "--max-groups is given twice"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_spent(
    run: Run, visits: Path, words: list[str], said: str
) -> None:
    flags = [part for word in words for part in ("--max-groups", word)]
    found = error(run("ask", "visits.csv", BY_WARD, *KEYS, *flags, "--epsilon", "1", "--json"))
    assert said in found["message"]
    assert not visits.with_name("visits.csv.ledger").exists()


def test_beside_a_policy_a_column_is_declared_there(run: Run, policy: Path) -> None:
    found = error(run("ask", "hospital.toml", BY_WARD, "--max-groups", "ward=2", "--epsilon", "1", "--json"))
    assert "--max-groups is for data files" in found["message"]


def test_the_owner_of_limits_that_init_once_wrote_is_told(run: Run, policy: Path) -> None:
    """Of exactly these two: with others somebody chose, and a first policy has none."""
    for limits, told in (
        (("max_rows = 5", "max_groups = 3"), True),
        (("max_rows = 5", "max_groups = 3", "max_total = 9"), True),
        (("max_rows = 5",), False),
        (("max_groups = 3",), False),
        (("max_rows = 5", "max_groups = 4"), False),
        (("max_rows = 6", "max_groups = 3"), False),
        ((), False),
    ):
        policy.write_text(POLICY.replace("[unit]\n", "\n".join(["[unit]", *limits, ""])), "utf-8")
        lines = [line for line in run("check", "hospital.toml").stdout.splitlines() if "of an earlier release" in line]
        assert bool(lines) == told, limits
        assert all(line.startswith("note: ") and "remove both" in line for line in lines)
        notes = data(run("check", "hospital.toml", "--json"))["notes"]
        assert [f"note: {note}" for note in notes if "of an earlier release" in note] == lines
    assert run("init", "visits.csv", "--unit", "patient_id").exit_code == 0
    assert "of an earlier release" not in run("check").stdout


def test_a_first_policy_has_no_limit(run: Run, visits: Path) -> None:
    for unit in (["--unit", "patient_id"], ["--row"]):
        assert run("init", "visits.csv", *unit, "--out", f"{len(unit)}.toml").exit_code == 0
        text = Path(f"{len(unit)}.toml").read_text("utf-8")
        assert not [line for line in text.splitlines() if line.startswith("max_")]
        assert ("it is found for the question" in text) == (len(unit) == 2)
