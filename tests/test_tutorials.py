"""The tutorials: their notebooks are their pages, and every cell of them runs, in order and in a fresh namespace."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.scripts import ROOT, script

NOTEBOOKS = script("docs/tutorials/notebooks.py")
each_tutorial = pytest.mark.parametrize("page", NOTEBOOKS.PAGES, ids=lambda page: Path(page).stem)


def cells_of(page: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(NOTEBOOKS.path_of(page).read_text("utf-8"))["cells"]
    return cells


def test_there_is_a_tutorial_for_the_owner_and_one_for_analysts() -> None:
    assert [page.stem for page in NOTEBOOKS.PAGES] == ["analyst", "owner"]
    assert {path.stem for path in (ROOT / "docs" / "tutorials").glob("*.ipynb")} == {"analyst", "owner"}


@each_tutorial
def test_a_notebook_is_made_of_its_page(page: Path) -> None:
    assert NOTEBOOKS.path_of(page).read_text("utf-8") == NOTEBOOKS.notebook(page.read_text("utf-8")), (
        "`make reference` renews it"
    )


@each_tutorial
def test_every_cell_runs_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells_of(page):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{page.stem}, {cell['id']}", "exec"), namespace)
    assert len(namespace) > 10


@each_tutorial
def test_a_notebook_has_cells_with_names_of_their_own_and_no_outputs(page: Path) -> None:
    cells = cells_of(page)
    names = [cell["id"] for cell in cells]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
    assert {cell["cell_type"] for cell in cells} == {"code", "markdown"}


def test_a_page_is_cut_at_its_python_blocks_alone() -> None:
    page = "Say:\n\n```python\nprint(1)\n\nprint(2)\n```\n\n```\nmake\n```\n\n```python\nprint(3)\n```\n"
    assert NOTEBOOKS.cells(page) == [
        ("markdown", "Say:"),
        ("code", "print(1)\n\nprint(2)"),
        ("markdown", "```\nmake\n```"),
        ("code", "print(3)"),
    ]


def test_a_cell_that_fails_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "bad.md"
    NOTEBOOKS.path_of(page).write_text(NOTEBOOKS.notebook("```python\nx = 1\n```\n```python\nx.y\n```\n"), "utf-8")
    with pytest.raises(AttributeError, match="'y'"):
        test_every_cell_runs_in_order(page, tmp_path, monkeypatch)
