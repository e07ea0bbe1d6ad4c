"""docs/performance.md: what `bench/noise.py` writes, and after it a section for each of the other scripts."""

from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "performance.md"
SECTIONS = ("Accounting", "Questions", "Ledger")


def renew(name: str, text: str) -> None:
    """Put a section in place of the one of this name, and leave the others as they are."""
    page = PAGE.read_text("utf-8")
    first, *_ = sorted(at for each in SECTIONS if (at := page.find(_heading(each))) >= 0) or [len(page)]
    kept = {each: _section(page, each) for each in SECTIONS} | {name: f"{_heading(name)}{text.strip()}\n"}
    PAGE.write_text(page[:first].rstrip() + "\n" + "".join(kept[each] for each in SECTIONS), "utf-8")


def _heading(name: str) -> str:
    return f"\n## {name}\n\n"


def _section(page: str, name: str) -> str:
    start = page.find(_heading(name))
    if start < 0:
        return ""
    ends = [at for each in SECTIONS if (at := page.find(_heading(each), start + 1)) >= 0]
    return page[start : min(ends, default=len(page))].rstrip() + "\n"
