"""A budget per period: campaigns of consecutive periods that share one ε, so that nothing about changes is told beyond it."""

from collections.abc import Sequence
from itertools import pairwise

from discreet.errors import Invalid
from discreet.exact import Number, rational, whole
from discreet.local.campaign import Answers, Campaign
from discreet.local.rounds import Rounds
from discreet.noise import Source


def periods(
    question: str,
    domain: Answers,
    *,
    protocol: str,
    epsilon: Number,
    ends: Sequence[int],
    source: Source | None = None,
) -> tuple[Campaign, ...]:
    """A campaign for each period, which expires at its end (in seconds since 1970), at an equal share of ε.

    Each person draws afresh in each period, so for any two sequences of answers the chances of all reports together differ by a factor
    of at most e^ε (basic composition): that an answer changed, and when, is protected like everything else.

    >>> year = periods("How are you?", 5, protocol="k-ary", epsilon=6, ends=range(2_000_000_000, 2_000_000_012))
    >>> len(year), year[0].epsilon
    (12, Fraction(1, 2))
    """
    if isinstance(domain, Rounds):
        raise Invalid("rounds share permanent answers, and periods share an epsilon", hint="pass the labels themselves")
    times = [whole(each, "ends") for each in _listed(ends)]
    if not times or any(later <= earlier for earlier, later in pairwise(times)):
        raise Invalid("ends must be the ends of one period or more, each later than the one before")
    share = rational(epsilon, "epsilon") / len(times)
    return tuple(
        Campaign.new(question, domain, protocol=protocol, epsilon=share, expires=end, source=source) for end in times
    )


def _listed(ends: Sequence[int]) -> list[int]:
    try:
        return list(ends)
    except TypeError:
        raise Invalid("ends must be a list of the ends of periods, in seconds since 1970") from None
