"""Twins: the same act on two neighbouring data sets, where the second run is handed what the first one released.

Noise makes two runs differ by chance, and hides what else differs. So outputs are played again, not noise: on the neighbour each mechanism
hands out the value that it released on the first data set. Then everything that can be seen must be equal, byte for byte: the answer
or the error, the price, log lines, warnings, what is printed; the same mechanisms must draw, in the same order; and what they are
given may differ by no more than the sensitivity that they are charged for. (The method is that of Re:cord-play, PETS 2026.)

`compare` takes a function of data and draws, `ask` a question to two curators, and `Curators` many of them.

Twins see neither probabilities nor noise: a mechanism that draws too little, or chooses with the wrong probability, looks alike on
both. They show one pair of neighbours, and what holds for it. A report tells of the data: it is for whoever holds them, and no analyst.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.audit.twins.curators import Curators, ask
    from discreet.audit.twins.distance import too_far
    from discreet.audit.twins.functions import Draws, compare
    from discreet.audit.twins.report import Report
    from discreet.audit.twins.seen import Seen

__all__ = [
    "Curators",
    "Draws",
    "Report",
    "Seen",
    "ask",
    "compare",
    "too_far",
]

# The module of each name.
_HOME = {
    "Curators": "curators",
    "Draws": "functions",
    "Report": "report",
    "Seen": "seen",
    "ask": "curators",
    "compare": "functions",
    "too_far": "distance",
}

# Type checkers read the imports above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
