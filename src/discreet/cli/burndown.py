"""How a budget went down, question by question: of the data set and of each analyst, as a row of bars."""

from collections.abc import Sequence
from math import ceil

WIDTH = 40
LEVELS = "▁▂▃▄▅▆▇█"


def curve(shares: Sequence[float]) -> str:
    """A bar for each charge, or for equally many of them where they are too many.

    >>> curve([1.0, 0.75, 0.5, 0.25, 0.01, 0.0]), curve([1 - i / 1000 for i in range(1000)])
    ('█▆▄▂▁_', '█████▇▇▇▇▇▆▆▆▆▆▅▅▅▅▅▄▄▄▄▄▃▃▃▃▃▂▂▂▂▂▁▁▁▁▁')
    """
    count = min(len(shares), WIDTH)
    ends = [shares[(i + 1) * len(shares) // count - 1] for i in range(count)]
    return "".join(LEVELS[min(ceil(8 * each), 8) - 1] if each > 0 else "_" for each in ends)
