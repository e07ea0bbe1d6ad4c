"""Answers: released values, how far off each may be, and the receipt; and previews, the same before anything is measured.

    columns ── digits ── record (Answer: values, storing in packed integers, citation) ── preview ── quote (several prices)
                  └── bars ── text, html, chart, svg (how either is shown) · exports (frames, CSV) · receipt (what proves the price)

Everything here is made of what was released. A number is shown to the digits that its ± supports, and never without it.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.answer.columns import Column
    from discreet.answer.preview import Preview
    from discreet.answer.quote import Quote
    from discreet.answer.record import Answer

__all__ = ["Answer", "Column", "Preview", "Quote"]

# The module of each name.
_HOME = {"Answer": "record", "Column": "columns", "Preview": "preview", "Quote": "quote"}

# Type checkers read the imports above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
