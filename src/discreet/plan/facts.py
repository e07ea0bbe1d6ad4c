"""What is known of a value before any data is read: between what it lies, whether it is whole, whether it may be NULL.

Facts belong to expressions, never to names: a redefined column has the facts of its definition. They are found bottom-up by the rules
in `rules`, one transfer function for each kind of node.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Facts:
    """Of a scalar expression. A bound of None is not known. A declared bound is meant as the double nearest to it."""

    low: Fraction | None = None
    high: Fraction | None = None
    integral: bool = False
    nullable: bool = True

    @property
    def bounded(self) -> bool:
        return self.low is not None and self.high is not None


NOTHING_KNOWN = Facts()


def either(first: Facts, second: Facts) -> Facts:
    """Of a value that has one of these facts."""
    low = None if first.low is None or second.low is None else min(first.low, second.low)
    high = None if first.high is None or second.high is None else max(first.high, second.high)
    return Facts(low, high, first.integral and second.integral, first.nullable or second.nullable)
