"""Attacks on answers, as anyone could run them: what a curator must withstand. They use public names only."""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.attacks import differencing

__all__ = ["differencing"]

# Type checkers read the import above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, {})
