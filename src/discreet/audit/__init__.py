"""Showing that promises are kept. Today: two neighbouring data sets on which whatever is seen must be alike (`twins`)."""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.audit import twins

__all__ = ["twins"]

# Type checkers read the import above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, {})
