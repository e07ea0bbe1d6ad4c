"""Protocols for frequencies: what each would cost, and which one to choose."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from discreet.exact import Number, whole
from discreet.local import hadamard, hashing, kary, unary
from discreet.local.choices import Choices, Label
from discreet.local.frequency_protocol import FrequencyProtocol

ALL = (kary.KaryResponse, unary.UnaryEncoding, hashing.LocalHashing, hadamard.HadamardResponse)
SLACK = Fraction(11, 10)  # a variance so many times the least is as good, and the smaller report is chosen
MOST_WORK = 10**13  # cells that a collector looks at in all: some hours


@dataclass(frozen=True, slots=True)
class ProtocolForecast:
    """What a protocol would give: the variance of a share, on average over k cells, and the bytes of a packed report."""

    protocol: FrequencyProtocol
    people: int
    variance: Fraction
    bytes: int
    work: int  # cells that the collector looks at, in all

    @property
    def deviation(self) -> float:
        """The standard deviation of a share."""
        return sqrt(self.variance)


def forecasts(domain: Choices | tuple[Label, ...] | int, epsilon: Number, n: int) -> tuple[ProtocolForecast, ...]:
    """What each protocol would give, the least variance first; for any data the shares add up to 1, so their average is 1/k.

    `domain` is the number k of labels, or the labels, as a campaign takes them.
    """
    people = whole(n, "n", least=1)
    choices = domain if isinstance(domain, Choices) else Choices(domain)
    each = [kind.of(choices, epsilon) for kind in ALL]
    rows = [
        ProtocolForecast(one, people, one.variance(Fraction(1, one.k), people), one.size, people * one.work)
        for one in each
    ]
    return tuple(sorted(rows, key=lambda row: (row.variance, row.bytes)))


def choose(domain: Choices | tuple[Label, ...] | int, epsilon: Number, n: int) -> ProtocolForecast:
    """The protocol with the smallest report among those whose predicted variance is at most 1.1 times the least.

    `domain` is the number k of labels, or the labels. What would take a collector more than 10^13 looks at cells is passed over. Only what
    is public is asked for.

    >>> [choose(k, 1, 10**6).protocol.name for k in (2, 1000)]
    ['k-ary', 'hashing']
    """
    able = [row for row in forecasts(domain, epsilon, n) if row.work <= max(MOST_WORK, row.people)]
    enough = SLACK * able[0].variance
    return min((row for row in able if row.variance <= enough), key=lambda row: (row.bytes, row.variance))
