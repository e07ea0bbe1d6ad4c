"""What a release costs. Knows nothing of data, and nothing of how noise is drawn.

Events say what was drawn (`events`), `loss` says what it costs, `calibrate` finds the least noise for a target, `theorems` hold
the bounds of the literature, `filters` say which accounts may stop an adaptive analyst.
"""

from discreet.privacy import calibrate, events, filters, theorems
from discreet.privacy.adjacency import Adjacency, Relation, Unit
from discreet.privacy.advice import delta_advice, judge_delta
from discreet.privacy.loss import PrivacyLoss, loss

__all__ = [
    "Adjacency",
    "PrivacyLoss",
    "Relation",
    "Unit",
    "calibrate",
    "delta_advice",
    "events",
    "filters",
    "judge_delta",
    "loss",
    "theorems",
]


def __dir__() -> list[str]:
    return sorted(__all__)
