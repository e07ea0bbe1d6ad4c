"""Local privacy: each person randomises their answer before they send it, and nobody needs to be trusted with answers.

A `Campaign` is public: it says what is asked and how answers are randomised. A `Client` holds the true value and knows no collector;
a `Collector` holds reports and knows no true value.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.local.attribute_choice import choose_attributes
    from discreet.local.attribute_estimates import AttributeEstimates
    from discreet.local.campaign import Campaign
    from discreet.local.choices import Choices
    from discreet.local.client import Client
    from discreet.local.collector import Collector
    from discreet.local.comparison import LocalComparison, compare
    from discreet.local.diary import Diary
    from discreet.local.distribution import DistributionEstimate, Histogram
    from discreet.local.estimates import FrequencyEstimates
    from discreet.local.frequency import ProtocolForecast, choose, forecasts
    from discreet.local.hadamard import HadamardResponse
    from discreet.local.hashing import LocalHashing
    from discreet.local.heavy_hitters import HeavyHitters, LevelSearch, WordShare, frequent_words
    from discreet.local.hidden_attribute import HiddenAttribute
    from discreet.local.hybrid import HybridMean, choose_mean
    from discreet.local.kary import KaryResponse
    from discreet.local.mean_estimate import MeanEstimate
    from discreet.local.mean_response import MeanResponse
    from discreet.local.memo_hashing import MemoHashing
    from discreet.local.memo_kary import MemoKary
    from discreet.local.named_attributes import Attribute, Attributes
    from discreet.local.numbers import Numbers
    from discreet.local.one_attribute import OneAttribute
    from discreet.local.periodic import periods
    from discreet.local.piecewise import PiecewiseMean
    from discreet.local.prediction import predicted_error
    from discreet.local.prefix_levels import PrefixLevel
    from discreet.local.prefixes import PrefixResponse
    from discreet.local.report import ClientReport
    from discreet.local.rounds import Rounds
    from discreet.local.shuffled import shuffled_epsilon
    from discreet.local.square_wave import SquareWave
    from discreet.local.unary import UnaryEncoding
    from discreet.local.words import Words

__all__ = [
    "Attribute",
    "AttributeEstimates",
    "Attributes",
    "Campaign",
    "Choices",
    "Client",
    "ClientReport",
    "Collector",
    "Diary",
    "DistributionEstimate",
    "FrequencyEstimates",
    "HadamardResponse",
    "HeavyHitters",
    "HiddenAttribute",
    "Histogram",
    "HybridMean",
    "KaryResponse",
    "LevelSearch",
    "LocalComparison",
    "LocalHashing",
    "MeanEstimate",
    "MeanResponse",
    "MemoHashing",
    "MemoKary",
    "Numbers",
    "OneAttribute",
    "PiecewiseMean",
    "PrefixLevel",
    "PrefixResponse",
    "ProtocolForecast",
    "Rounds",
    "SquareWave",
    "UnaryEncoding",
    "WordShare",
    "Words",
    "choose",
    "choose_attributes",
    "choose_mean",
    "compare",
    "forecasts",
    "frequent_words",
    "periods",
    "predicted_error",
    "shuffled_epsilon",
]

# The module of each public name.
_HOME = {
    "Attribute": "named_attributes",
    "AttributeEstimates": "attribute_estimates",
    "Attributes": "named_attributes",
    "Campaign": "campaign",
    "Choices": "choices",
    "Client": "client",
    "ClientReport": "report",
    "Collector": "collector",
    "Diary": "diary",
    "DistributionEstimate": "distribution",
    "FrequencyEstimates": "estimates",
    "HadamardResponse": "hadamard",
    "HeavyHitters": "heavy_hitters",
    "HiddenAttribute": "hidden_attribute",
    "Histogram": "distribution",
    "HybridMean": "hybrid",
    "KaryResponse": "kary",
    "LevelSearch": "heavy_hitters",
    "LocalComparison": "comparison",
    "LocalHashing": "hashing",
    "MeanEstimate": "mean_estimate",
    "MeanResponse": "mean_response",
    "MemoHashing": "memo_hashing",
    "MemoKary": "memo_kary",
    "Numbers": "numbers",
    "OneAttribute": "one_attribute",
    "PiecewiseMean": "piecewise",
    "PrefixLevel": "prefix_levels",
    "PrefixResponse": "prefixes",
    "ProtocolForecast": "frequency",
    "Rounds": "rounds",
    "SquareWave": "square_wave",
    "UnaryEncoding": "unary",
    "WordShare": "heavy_hitters",
    "Words": "words",
    "choose": "frequency",
    "choose_attributes": "attribute_choice",
    "choose_mean": "hybrid",
    "compare": "comparison",
    "forecasts": "frequency",
    "frequent_words": "heavy_hitters",
    "periods": "periodic",
    "predicted_error": "prediction",
    "shuffled_epsilon": "shuffled",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
