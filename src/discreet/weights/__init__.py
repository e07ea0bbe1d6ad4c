"""Multiplicative weights: learn a private histogram, answer a huge number of questions from it, and release it as data.

Whatever looks at data here is a draw of a grant: this package receives `measure`, which spends and measures in one act, and knows
neither curators nor engines.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.weights.arrays import ArrayTable
    from discreet.weights.domain import Domain
    from discreet.weights.online_answer import OnlineAnswer
    from discreet.weights.online_session import OnlineSession, online

__all__ = ["ArrayTable", "Domain", "OnlineAnswer", "OnlineSession", "online"]

# The module of each public name.
_HOME = {
    "ArrayTable": "arrays",
    "Domain": "domain",
    "OnlineAnswer": "online_answer",
    "OnlineSession": "online_session",
    "online": "online_session",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
