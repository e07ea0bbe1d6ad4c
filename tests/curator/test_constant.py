"""A column whose two bounds are equal is a constant: its mean is known, and its sum is as many times it as are counted."""

from pathlib import Path
from typing import Any

import pytest

import discreet as dp

ASKED = "SELECT ward, SUM(x) AS s, AVG(x) AS a, COUNT(x) AS n FROM t GROUP BY ward"


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("bound", [5, 0, -3, 0.5, 10**15])
def test_equal_bounds_are_those_of_a_constant(tmp_path: Path, adjacency: str, kind: str, bound: float) -> None:
    if kind == "integer" and bound != int(bound):
        return
    columns: dict[str, Any] = {"ward": {"keys": ["A", "B"]}, "x": {"type": kind, "bounds": [bound, bound]}}
    rows = {"who": list(range(400)), "ward": ["A", "B"] * 200, "x": [bound, bound, 17, None] * 100}
    with dp.Curator(
        {"t": rows}, "who", columns, epsilon=100, ledger=tmp_path / "l", adjacency=adjacency, max_rows=1, max_groups=1
    ) as curator:
        answer = curator.sql(ASKED, epsilon=1)
        for row in answer.to_dicts(errors=True):
            assert (row["a"], row["a_error"]) == (bound, 0)
            assert row["s"] == bound * row["n"]
            assert row["s_error"] == pytest.approx(abs(bound) * row["n_error"])
        assert (
            f"x is taken as {bound:g} wherever it is there: both of its bounds are that" in answer.notes
            or bound == 10**15
        )


def test_bounds_that_go_down_are_refused_and_told_how_to_write_them(tmp_path: Path) -> None:
    with pytest.raises(dp.Invalid, match=r"the first must be below the second, got 9 and 1; write bounds = \[1, 9\]"):
        dp.Curator({"t": {"x": [1]}}, row=True, columns={"x": {"bounds": [9, 1]}}, epsilon=1, ledger=tmp_path / "l")
