"""How prices add up, and the rule by which adding stops: shared by the ledger and by the theorems in `privacy/filters.py`.

It stands apart from both, since the ledger loads no third-party module.
"""

from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction


class Accountant(StrEnum):
    """How prices add up. A ledger is kept by the pure one or by zCDP."""

    PURE = "pure"
    ZCDP = "zcdp"
    GAUSSIAN = "gaussian"
    NUMERICAL = "numerical"


def within(total: Iterable[Fraction | int], limit: Iterable[Fraction | int]) -> bool:
    """The rule of every filter: a price is admitted where no total that includes it exceeds its limit.

    >>> within((10, 0), (10, 0)), within((10, 1), (10, 0))
    (True, False)
    """
    return all(part <= most for part, most in zip(total, limit, strict=True))
