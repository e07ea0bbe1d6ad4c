"""Showing that promises are kept: two neighbouring data sets that must look alike (`twins`), the exact loss of what has finitely many
outputs (`exact`), the joint law of draws that depend on one another (`joint`), and what an output tells of one person (`bayes`)."""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.audit import bayes, joint, law, tree, twins
    from discreet.audit.enumeration import Exact, exact

__all__ = ["Exact", "bayes", "exact", "joint", "law", "tree", "twins"]

_HOME = {"Exact": "enumeration", "exact": "enumeration"}

# Type checkers read the import above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
