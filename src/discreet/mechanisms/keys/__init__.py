"""Which groups may be named at all: private selection of unknown keys, from how many people each of them has.

A key that only one person has must hardly ever be seen, so what is released are the keys whose noisy count passes a threshold, and with
each key that noisy count itself: one noise serves both. Any other number about a group needs noise of its own. Counts are of people, and
a person is in at most `groups` of them (who is in more is left out of some before they are counted): that holds for adding or removing
one person, where each count moves by one at most. Where a person is replaced by another, `groups` is twice that number.
"""

from discreet.mechanisms.keys.by_name import KeysByName
from discreet.mechanisms.keys.kept import Kept
from discreet.mechanisms.keys.named import NamedKeys
from discreet.mechanisms.keys.optimal import OptimalKeys
from discreet.mechanisms.keys.threshold import GaussianThreshold, LaplaceThreshold, Threshold

__all__ = [
    "GaussianThreshold",
    "Kept",
    "KeysByName",
    "LaplaceThreshold",
    "NamedKeys",
    "OptimalKeys",
    "Threshold",
]


def __dir__() -> list[str]:
    return sorted(__all__)
