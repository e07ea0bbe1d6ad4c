"""What a release costs. Knows nothing of data, and nothing of how noise is drawn.

Events say what was drawn (`events`), `loss` says what it costs, `theorems` hold the bounds of the literature, `filters`
say which accounts may stop an adaptive analyst.
"""

from discreet.privacy import events, filters, theorems
from discreet.privacy.adjacency import Adjacency, Relation, Unit
from discreet.privacy.advice import delta_advice, judge_delta
from discreet.privacy.loss import PrivacyLoss, loss

__all__ = [
    "Adjacency",
    "PrivacyLoss",
    "Relation",
    "Unit",
    "delta_advice",
    "events",
    "filters",
    "judge_delta",
    "loss",
    "theorems",
]
