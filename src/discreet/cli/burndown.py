"""How a budget went down, question by question: of the data set and of each analyst, as a row of bars."""

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.curator.accounts import Account
    from discreet.curator.rows import Row

WIDTH = 40
LEVELS = "▁▂▃▄▅▆▇█"


def burned(rows: "Iterable[Row]") -> dict[str | None, list[float]]:
    """For the data set, under None, and for each analyst: the share of the budget that was left after each charge."""
    from discreet.curator.acts import Reserved, Shared

    found: dict[str | None, list[float]] = {}
    for row in rows:
        if isinstance(row.act, Reserved):
            found.setdefault(None, []).append(_left(row.book.account))
        if isinstance(row.act, Reserved | Shared) and row.analyst is not None and row.account is not None:
            found.setdefault(row.analyst, []).append(_left(row.account))
    return found


def _left(account: "Account") -> float:
    """Of the amount of which least is left, since that one ends the questions."""
    limit, rest = account.cap.limit, account.remaining
    if not limit.epsilon and not limit.rho:
        return 0.0
    pairs = [(getattr(rest, name), getattr(limit, name)) for name in ("epsilon", "delta", "rho")]
    return min((left / cap for left, cap in pairs if cap), default=0.0)


def curve(shares: list[float]) -> str:
    """A bar for each charge, or for equally many of them where they are too many.

    >>> curve([1.0, 0.75, 0.5, 0.25, 0.01, 0.0]), curve([1 - i / 1000 for i in range(1000)])
    ('█▆▄▂▁_', '█████▇▇▇▇▇▆▆▆▆▆▅▅▅▅▅▄▄▄▄▄▃▃▃▃▃▂▂▂▂▂▁▁▁▁▁')
    """
    count = min(len(shares), WIDTH)
    ends = [shares[(i + 1) * len(shares) // count - 1] for i in range(count)]
    return "".join(LEVELS[min(ceil(8 * each), 8) - 1] if each > 0 else "_" for each in ends)
