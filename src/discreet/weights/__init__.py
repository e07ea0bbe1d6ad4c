"""Multiplicative weights: learn a private histogram, answer a huge number of questions from it, and release it as data.

Whatever looks at data here is a draw of a grant: this package receives `measure`, which spends and measures in one act, and knows
neither curators nor engines.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.weights.arrays import ArrayTable
    from discreet.weights.checking import quality
    from discreet.weights.domain import Domain
    from discreet.weights.graphical import Factored
    from discreet.weights.histogram import Histogram
    from discreet.weights.histogram_learning import mwem
    from discreet.weights.large_domain import factored
    from discreet.weights.model import Learned, NoisyMarginal, Round
    from discreet.weights.online_answer import OnlineAnswer
    from discreet.weights.online_session import OnlineSession, online
    from discreet.weights.product import Independent, independent
    from discreet.weights.release import learn
    from discreet.weights.reporting import QualityReport, report
    from discreet.weights.synthetic_data import SyntheticData, synthetic
    from discreet.weights.workload import Workload

__all__ = [
    "ArrayTable",
    "Domain",
    "Factored",
    "Histogram",
    "Independent",
    "Learned",
    "NoisyMarginal",
    "OnlineAnswer",
    "OnlineSession",
    "QualityReport",
    "Round",
    "SyntheticData",
    "Workload",
    "factored",
    "independent",
    "learn",
    "mwem",
    "online",
    "quality",
    "report",
    "synthetic",
]

# The module of each public name.
_HOME = {
    "ArrayTable": "arrays",
    "Domain": "domain",
    "Factored": "graphical",
    "Histogram": "histogram",
    "Independent": "product",
    "Learned": "model",
    "NoisyMarginal": "model",
    "OnlineAnswer": "online_answer",
    "OnlineSession": "online_session",
    "QualityReport": "reporting",
    "Round": "model",
    "SyntheticData": "synthetic_data",
    "Workload": "workload",
    "factored": "large_domain",
    "independent": "product",
    "learn": "release",
    "mwem": "histogram_learning",
    "online": "online_session",
    "quality": "checking",
    "report": "reporting",
    "synthetic": "synthetic_data",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
