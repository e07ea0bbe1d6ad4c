"""The CPU budget plugin: which folder a test counts for, what the table says, what the soak page keeps."""

import pytest

from tests import scale
from tests.budget import BUDGETS, Folder, budget_table, folder_of, soak_page
from tests.scale import SCALE, repeats


@pytest.mark.parametrize(
    ("nodeid", "folder"),
    [
        ("tests/noise/test_laplace.py::test_x[1]", "noise"),
        ("tests/plan/rules/test_join.py::test_x", "plan"),
        ("tests/test_imports.py::test_x", "checks"),
        ("src/discreet/noise/laplace.py::discreet.noise.laplace", "noise"),
        ("src/discreet/exact.py::discreet.exact.rational", "checks"),
    ],
)
def test_tests_and_doctests_count_for_their_folder(nodeid: str, folder: str) -> None:
    assert folder_of(nodeid) == folder


def test_a_group_over_its_budget_is_named() -> None:
    half = BUDGETS["plan + engines + laws + answer"] * SCALE / 2
    folders = {"plan": Folder(3, 0, half + 1), "engines": Folder(2, 0, half), "noise": Folder(1, 0, 1.0)}
    lines, over = budget_table(folders)
    assert over == ["plan + engines + laws + answer"]
    assert [line.split()[0] for line in lines] == ["folder", "noise", "plan"]
    assert lines[2].endswith("over budget")


def test_a_folder_without_a_budget_is_listed_last() -> None:
    lines, over = budget_table({"server": Folder(1, 0, 1e6), "checks": Folder(1, 0, 1.0)})
    assert over == []
    assert [line.split()[0] for line in lines] == ["folder", "checks", "server"]


def test_the_soak_page_keeps_the_rows_of_other_parts() -> None:
    noise = ("noise", "10", "0", "900", "20", "1", "2026-01-01")
    plan = ("plan", "20", "1", "50", "20", "2", "2026-01-02")
    renewed = ("noise", "11", "0", "901", "20", "3", "2026-01-03")
    page = soak_page(soak_page(soak_page("", [noise]), [plan]), [renewed])
    assert page.count("| noise |") == page.count("| plan |") == 1
    assert "| noise | 11 |" in page
    assert soak_page(page, []) == page


def test_repeats_are_multiplied_by_the_scale() -> None:
    assert repeats(7) == 7 * SCALE


def test_what_covers_shows_all_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that is taken shows something new; a soak takes them all."""
    items = [(1, 2), (2,), (2, 1), (3,), (1, 3), (4, 1)]
    monkeypatch.setattr(scale, "SCALE", 1)
    assert scale.covering(items, set) == [(1, 2), (3,), (4, 1)]
    monkeypatch.setattr(scale, "SCALE", 20)
    assert scale.covering(items, set) == items
