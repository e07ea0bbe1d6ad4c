"""Makes the notebooks of the tutorials from their pages: each Python block is a cell, and so is the text between two of them.

`.venv/bin/python docs/tutorials/notebooks.py` renews them. They have no outputs, since answers are other ones each time.
"""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).parent
PAGES = tuple(sorted(FOLDER.glob("*.md")))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ABOUT = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def cells(page: str) -> list[tuple[str, str]]:
    """The kind and the text of each cell of a page."""
    parts = [part.strip("\n") for part in BLOCK.split(page)]
    return [("code" if i % 2 else "markdown", part) for i, part in enumerate(parts) if part]


def notebook(page: str) -> str:
    """The notebook of a page, in version 4.5 of the format, which gives each cell an identifier."""
    made = [
        {"cell_type": kind, "id": f"cell-{i}", "metadata": {}, "source": text.splitlines(keepends=True)}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for i, (kind, text) in enumerate(cells(page), 1)
    ]
    whole = {"cells": made, "metadata": ABOUT, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def path_of(page: Path) -> Path:
    """Where the notebook of a page lies."""
    return page.with_suffix(".ipynb")


if __name__ == "__main__":
    for page in PAGES:
        path_of(page).write_text(notebook(page.read_text("utf-8")), "utf-8")
