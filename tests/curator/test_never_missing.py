"""`nullable = false`, from the text of a policy to the answer: what is missing counts with the middle, however it came to be missing."""

from pathlib import Path

import pytest

from discreet.curator.policy import Policy
from discreet.curator.review import review
from discreet.curator.session import Curator

CELLS = ("10", "", "none", "nan", "1e400", "-5", "30")
"""Of a cost between 0 and 101: two that are there, three that are missing, and two beyond the bounds."""

POLICY = """
[budget]
epsilon = 100000
[unit]
{unit}
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
cost = {{ type = "{kind}", bounds = [0, 101]{nullable} }}
ward = {{ keys = ["A", "B"]{nullable} }}
[ledger]
path = ":memory:"
"""


def policy(folder: Path, kind: str, nullable: bool, unit: str = "row = true") -> Policy:
    rows = [f"p{i},{cell}," for i, cell in enumerate(CELLS)]
    (folder / "visits.csv").write_text("\n".join(["who,cost,ward", *rows, ""]), "utf-8")
    text = POLICY.format(unit=unit, kind=kind, nullable="" if nullable else ", nullable = false")
    (folder / "hospital.toml").write_text(text, "utf-8")
    return Policy.read(folder / "hospital.toml")


@pytest.mark.parametrize("unit", ["row = true", 'column = "who"', 'column = "who"\nadjacency = "replace"'])
@pytest.mark.parametrize(("kind", "middle"), [("number", 50.5), ("integer", 50)])
def test_rows_without_a_value_count_with_the_middle(tmp_path: Path, unit: str, kind: str, middle: float) -> None:
    """An integer beyond 64 bits is missing, a number beyond the doubles is at its bound."""
    declared = policy(tmp_path, kind, False, unit)
    missing, above = (3, 1) if kind == "number" else (4, 0)
    with Curator.of(declared) as curator:
        text = "SELECT SUM(cost) AS total, AVG(cost) AS mean, COUNT(cost) AS costs, COUNT(*) AS n FROM visits"
        (row,) = curator.sql(text, epsilon=30000).to_dicts()
        total = 10 + 30 + 101 * above + missing * middle
        assert row["n"] == row["costs"] == len(CELLS)
        assert abs(row["total"] - total) < 10 and abs(row["mean"] - total / len(CELLS)) < 2
        (none,) = curator.sql("SELECT COUNT(*) AS n FROM visits WHERE cost IS NULL", epsilon=100).to_dicts()
        assert none["n"] == 0


def test_the_policy_reads_back_as_what_was_saved(tmp_path: Path) -> None:
    declared = policy(tmp_path, "number", False)
    declared.save(tmp_path / "again.toml")
    again = Policy.read(tmp_path / "again.toml")
    columns = [each.tables["visits"].columns for each in (declared, again)]
    assert columns[0] == columns[1] and not columns[1]["cost"].nullable


def test_it_is_described_and_checked(tmp_path: Path) -> None:
    for nullable in (True, False):
        declared = policy(tmp_path, "number", nullable)
        with Curator.of(declared) as curator:
            assert ("missing counts as 50.5" in str(curator.describe())) is not nullable
        notes = [note for note in review(declared).notes if "ward is declared nullable = false" in note]
        assert bool(notes) is not nullable
        assert not any("cost" in note for note in notes)
