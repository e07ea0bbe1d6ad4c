"""The documentation holds: its Python blocks run, and its relative links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^\s*```(.*)$")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)[^)]*\)")


def python_lines(text: str) -> list[str]:
    """The page with all lines outside of its Python blocks blank, so that line numbers stay."""
    lines, language = [], None
    for line in text.splitlines():
        if fence := FENCE.match(line):
            language = fence[1].strip() if language is None else None
            lines.append("")
        else:
            lines.append(line if language == "python" else "")
    return lines


def prose(text: str) -> str:
    """The page without its code, in blocks or inline."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(text: str) -> set[str]:
    """The anchors that the headings of a page give."""
    headings = re.findall(r"^#+\s+(.*?)\s*$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(prose(page.read_text("utf-8"))):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            broken.append(link)
    return broken


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def has_python(page: Path) -> bool:
    return any(line.strip() for line in python_lines(page.read_text("utf-8")))


# Those of tutorials are the cells of notebooks, which tests/test_tutorials.py runs.
RUN = [page for page in PAGES if has_python(page) and page.parent != ROOT / "docs" / "tutorials"]


@pytest.mark.parametrize("page", RUN, ids=name)
def test_the_python_blocks_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    script = tmp_path / f"{page.name}.py"
    script.write_text("\n".join(python_lines(page.read_text("utf-8"))) + "\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, f"{name(page)}\n{run.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_resolve(page: Path) -> None:
    assert broken_links(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A, B\n[a](page.md#a-b) [b](gone.md) [c](#none) [d](https://example.com) `[e](gone)`\n")
    assert broken_links(page) == ["gone.md", "#none"]


def test_python_blocks_keep_their_line_numbers() -> None:
    text = "x\n```python\na = 1\n```\n```sh\nmake\n```\n```python\nb = a\n```"
    assert python_lines(text) == ["", "", "a = 1", "", "", "", "", "", "b = a", ""]
