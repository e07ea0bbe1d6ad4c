"""Pictures of a privacy loss: a Vega-Lite specification for notebooks and web pages, and bars of text for a terminal.

Both show how likely which loss is, the guarantee δ(ε), and what an attacker can achieve. Pictures are read, not charged: they are
near-exact, and what they round in words they round to the worse side. Nothing here computes a loss by any new rule.
"""

from discreet.privacy.picture.panels import specification
from discreet.privacy.picture.terminal import drawing

__all__ = ["drawing", "specification"]
