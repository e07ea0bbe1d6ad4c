"""The bug zoo: broken mechanisms and plans that somebody shipped, beside mended ones, as a benchmark for auditors.

Each is a `Specimen` that stands alone: what it does, what it claims, what is true, who was hit by it, and which methods can tell. They are
for auditors and for teaching. None of them is a mechanism of this package, and none may be used for data of people.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.audit.zoo.collection import BROKEN, SOUND, find
    from discreet.audit.zoo.specimen import METHODS, Specimen
    from discreet.audit.zoo.trial import Benchmark, Tally, benchmark, told

__all__ = ["BROKEN", "METHODS", "SOUND", "Benchmark", "Specimen", "Tally", "benchmark", "find", "told"]

# The module of each name.
_HOME = {
    "BROKEN": "collection",
    "METHODS": "specimen",
    "SOUND": "collection",
    "Benchmark": "trial",
    "Tally": "trial",
    "Specimen": "specimen",
    "benchmark": "trial",
    "find": "collection",
    "told": "trial",
}

# Type checkers read the imports above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
