"""Which ledger counts questions about a file: the one beside the real file, and a second one is not made in silence."""

import json
import os
import warnings
from pathlib import Path

from discreet import Curator
from discreet.curator.places import _entry, others, remember


def opened(path: Path, ledger: Path | None = None) -> list[str]:
    """Open the budget of a file; what the owner is told."""
    with (
        warnings.catch_warnings(record=True) as told,
        Curator({"t": path}, "id", epsilon=1, ledger=ledger) as curator,
    ):
        warnings.simplefilter("always")
        curator.spent  # noqa: B018
    return [str(each.message) for each in told]


def table(folder: Path) -> Path:
    path = folder / "t.csv"
    path.write_text("id\n1\n", "utf-8")
    return path


def a_link_has_the_budget_of_its_file(folder: Path) -> None:
    path = table(folder)
    (folder / "away").mkdir()
    link = folder / "away" / "link.csv"
    link.symlink_to(path)
    assert (
        opened(link) == [] and (folder / "t.csv.ledger").is_dir() and not (folder / "away" / "link.csv.ledger").exists()
    )


def a_second_budget_is_told(folder: Path) -> None:
    path = table(folder)
    os.link(path, folder / "same.csv")
    assert opened(path) == []
    said = opened(folder / "same.csv")
    assert len(said) == 1 and "t.csv.ledger already" in said[0]
    assert opened(folder / "same.csv") == []


def test_a_link_has_the_budget_of_its_file(tmp_path: Path) -> None:
    a_link_has_the_budget_of_its_file(tmp_path)


def test_a_second_budget_is_told(tmp_path: Path) -> None:
    a_second_budget_is_told(tmp_path)


def test_a_memory_that_was_cut_off_or_overwritten_tells_what_is_left_of_it(tmp_path: Path) -> None:
    path, ledger = table(tmp_path), tmp_path / "l"
    opened(path, ledger)
    for kept in (b'"/gone\n\xff\n5\n' + json.dumps(str(ledger)).encode() + b"\n", json.dumps(str(ledger)).encode()):
        _entry(f"path {path}", None).write_bytes(kept)
        assert ledger in others(path, tmp_path / "new")


def test_a_memory_may_lie_beside_the_mark(tmp_path: Path) -> None:
    path, mark = table(tmp_path), tmp_path / "away" / "mark"
    opened(path, tmp_path / "l")
    remember([path], tmp_path / "l", mark)
    assert list((tmp_path / "away" / "sources").iterdir()) and tmp_path / "l" in others(path, tmp_path / "new", mark)


def test_policies_beside_a_file_that_are_no_policies_name_nothing(tmp_path: Path) -> None:
    path = table(tmp_path)
    for name, text in {
        "a": "[",
        "b": "tables = 5",
        "c": "[tables.t]\nsource = 5",
        "d": "[tables]\nt = 3",
        "e": "ledger = 1",
    }.items():
        (tmp_path / f"{name}.toml").write_text(text, "utf-8")
    (tmp_path / "f.toml").write_bytes(b"\xff")
    (tmp_path / "g.toml").mkdir()
    assert opened(path) == []
