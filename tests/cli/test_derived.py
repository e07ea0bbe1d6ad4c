"""`discreet ask --derived`: what follows from an answer that was given, for nothing."""

from pathlib import Path

from tests.cli.conftest import Run, data, error, ledger_bytes

DECLARED = ["--unit", "patient_id", "--keys", "ward=Surgery,Emergency,Burns", "--max-rows", "2", "--max-groups", "3"]
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
OF_TWO = "SELECT ward, COUNT(*) AS n FROM visits WHERE ward <> 'Burns' GROUP BY ward ORDER BY ward"


def test_what_follows_is_told_for_nothing(run: Run, visits: Path) -> None:
    first = data(run("ask", "visits.csv", BY_WARD, "--epsilon", "1", "--json", *DECLARED))
    kept = ledger_bytes(visits)
    found = run("ask", "visits.csv", OF_TWO, "--derived", "--json", *DECLARED)
    assert data(found)["rows"] == sorted(first["rows"][:2], key=lambda row: str(row["ward"]))
    assert (data(found)["epsilon"], data(found)["remaining"]) == (0, first["remaining"])
    assert data(found)["receipt"]["derived"]["question"] == BY_WARD
    assert run("ask", "visits.csv", OF_TWO, "--derived", "--within", "100", "--json", *DECLARED).stdout == found.stdout
    preview = data(run("ask", "visits.csv", OF_TWO, "--epsilon", "1", "--preview", "--json", *DECLARED))
    assert preview["free"]["question"] == BY_WARD and preview["free"]["differs"] == []
    shown = run("ask", "visits.csv", OF_TWO, "--derived", *DECLARED).stdout
    assert "cost: ε = 0 " in shown and "note: this follows from your answer to" in shown
    assert ledger_bytes(visits) == kept


def test_what_follows_from_nothing_is_refused(run: Run, visits: Path) -> None:
    run("ask", "visits.csv", BY_WARD, "--epsilon", "1", *DECLARED)
    kept = ledger_bytes(visits)
    for line, code in (
        (["--derived", "--max-rows", "3"], "not-derived"),
        (["--derived", "--within", "1"], "not-derived"),
        (["--derived", "--epsilon", "1"], "usage"),
        (["--derived", "--preview"], "usage"),
        (["--derived", "--confidence", "0.99"], "usage"),
        (["--derived", "--delta", "1e-7"], "usage"),
    ):
        result = run("ask", "visits.csv", OF_TWO, "--json", *DECLARED, *line)
        assert result.exit_code in (2, 3) and error(result)["code"] == code, result.stderr
    assert ledger_bytes(visits) == kept
