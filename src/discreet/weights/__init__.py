"""Multiplicative weights: learn a private histogram, answer a huge number of questions from it, and release it as data.

Whatever looks at data here is a draw of a grant: this package receives `measure`, which spends and measures in one act, and knows
neither curators nor engines.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.weights.arrays import ArrayTable
    from discreet.weights.domain import Domain
    from discreet.weights.graphical import Factored
    from discreet.weights.large_domain import factored
    from discreet.weights.model import Learned, NoisyMarginal, Round

__all__ = ["ArrayTable", "Domain", "Factored", "Learned", "NoisyMarginal", "Round", "factored"]

# The module of each public name.
_HOME = {
    "ArrayTable": "arrays",
    "Domain": "domain",
    "Factored": "graphical",
    "Learned": "model",
    "NoisyMarginal": "model",
    "Round": "model",
    "factored": "large_domain",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
