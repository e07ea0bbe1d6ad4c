"""The sections of a page of docs that scripts write; what stands before the first of them is written by hand, or by `bench/noise.py`."""

from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"


@dataclass(frozen=True)
class Page:
    """A page, and the sections at its end, in their order."""

    path: Path
    sections: tuple[str, ...]


PERFORMANCE = Page(DOCS / "performance.md", ("Accounting", "Questions", "Many groups", "Ledger"))
LIMITS = Page(DOCS / "limits.md", ("Measured", "Simulated"))
RANGES = Page(DOCS / "ranges.md", ("Simulated",))


def renew(name: str, text: str, page: Page = PERFORMANCE) -> None:
    """Put a section in place of the one of this name, and leave the others as they are."""
    words = page.path.read_text("utf-8")
    first, *_ = sorted(at for each in page.sections if (at := words.find(_heading(each))) >= 0) or [len(words)]
    kept = {each: _section(words, each, page.sections) for each in page.sections}
    kept[name] = f"{_heading(name)}{text.strip()}\n"
    page.path.write_text(words[:first].rstrip() + "\n" + "".join(kept[each] for each in page.sections), "utf-8")


def _heading(name: str) -> str:
    return f"\n## {name}\n\n"


def _section(words: str, name: str, sections: tuple[str, ...]) -> str:
    start = words.find(_heading(name))
    if start < 0:
        return ""
    ends = [at for each in sections if (at := words.find(_heading(each), start + 1)) >= 0]
    return words[start : min(ends, default=len(words))].rstrip() + "\n"
