"""Multiplicative weights: learn a private histogram, answer a huge number of questions from it, and release it as data.

Whatever looks at data here is a draw of a grant: this package receives `measure`, which spends and measures in one act, and knows
neither curators nor engines.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.weights.arrays import ArrayTable
    from discreet.weights.domain import Domain
    from discreet.weights.histogram import Histogram
    from discreet.weights.learning import mwem
    from discreet.weights.model import Learned
    from discreet.weights.workload import Workload

__all__ = ["ArrayTable", "Domain", "Histogram", "Learned", "Workload", "mwem"]

# The module of each public name.
_HOME = {
    "ArrayTable": "arrays",
    "Domain": "domain",
    "Histogram": "histogram",
    "Learned": "model",
    "Workload": "workload",
    "mwem": "learning",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
