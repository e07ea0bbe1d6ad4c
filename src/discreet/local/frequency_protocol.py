"""What every protocol for frequencies is: how a person's cell becomes a report, and what reports say of cells.

A protocol is *pure* (Wang, Blocki, Li and Jha 2017): a report supports the person's own cell with probability p, and each other cell
with probability q, whatever the other cells are. Then the number of reports that support a cell says what share of people it has,
without bias, and with a variance that depends on that share alone.
"""

from abc import abstractmethod
from fractions import Fraction
from typing import Any, Self

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, shown, whole
from discreet.fields import Exact, frozen
from discreet.local.choices import MOST_CELLS, Choices
from discreet.local.domain import AnswerDomain
from discreet.local.protocol import LocalProtocol, Reports, array_of, checked_epsilon
from discreet.noise import Source
from discreet.noise.size import Ints
from discreet.noise.source import chosen

MOST_OUTCOMES = 1 << 16  # that a channel is written down for


@frozen
class FrequencyProtocol(LocalProtocol):
    """How each person's cell, one of k, is randomised at a loss of at most ε, and how frequencies are estimated from all reports.

    For any two cells and any report, `chance` of the one is at most e^ε times that of the other.
    """

    k: int
    epsilon: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole(self.k, "k", least=2))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        if self.k > MOST_CELLS:
            raise Invalid(f"k must be at most 2^20, got {shown(self.k)}")

    @classmethod
    def of(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """The protocol for cells that were declared."""
        if not isinstance(domain, Choices):
            raise Invalid(
                f"{cls.name} is for a choice among declared answers", hint="declare the labels of all of them"
            )
        return cls(domain.k, epsilon)

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """The probability that a report supports the person's own cell."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The probability that a report supports any one other cell."""

    @property
    @abstractmethod
    def work(self) -> int:
        """The number of cells that a collector looks at for one report."""

    def randomise(self, values: Any, source: Source | None = None) -> Any:
        """The report of one cell, or reports of an array of cells, each drawn independently; the loss of each is at most ε.

        Invalid, which says no value, where a cell is not an integer in 0 … k−1.
        """
        cells = array_of(values, "values")
        if cells.ndim > 1 or cells.dtype.kind not in "iu":
            raise Invalid("values must be an integer or an array of integers in one dimension")
        if cells.size and not (int(cells.min()) >= 0 and int(cells.max()) < self.k):
            raise Invalid(f"values must lie in 0 … {self.k - 1}")
        reports = self._randomised(np.atleast_1d(cells).astype(np.int64), chosen(source))
        return reports if cells.ndim else reports[0]

    @abstractmethod
    def _randomised(self, cells: Ints, source: Source) -> Reports: ...

    @abstractmethod
    def support(self, totals: Ints, n: int) -> Ints:
        """How many of the n reports with these totals support each cell."""

    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals: no cell has more support than there are reports, or less than none."""
        support = self.support(totals, n)
        return int(support.min()) >= 0 and int(support.max()) <= n

    @abstractmethod
    def outcomes(self) -> Reports:
        """Every report that there is."""

    @abstractmethod
    def chance(self, report: Any, value: int) -> Fraction:
        """The exact probability of a report, given the person's cell."""

    def channel(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact probabilities of all reports, a row for each cell: what an auditor enumerates."""
        reports = self.outcomes()
        return tuple(tuple(self.chance(each, value) for each in reports) for value in range(self.k))

    def estimate(self, count: int, n: int) -> Fraction:
        """An unbiased estimate of the share of people whose cell `count` of n reports support: (count/n − q)/(p − q).

        It may be below 0 or above 1; whoever cuts it off makes it biased.
        """
        supports, people = whole(count, "count"), whole(n, "n", least=1)
        if supports > people:
            raise Invalid("count must be at most n")
        return (Fraction(supports, people) - self.q) / (self.p - self.q)

    def variance(self, share: Fraction, n: int) -> Fraction:
        """The exact variance of the estimate, for the noise alone, of a cell that this share of n people has.

        (f p(1−p) + (1−f) q(1−q))/(n (p−q)²). It is linear in f: with an unbiased estimate in place of f it is unbiased itself.
        """
        p, q = self.p, self.q
        spread = share * p * (1 - p) + (1 - share) * q * (1 - q)
        return spread / (whole(n, "n", least=1) * (p - q) ** 2)

    def _few(self, outcomes: int) -> None:
        if outcomes > MOST_OUTCOMES:
            raise Invalid("there are too many reports to write them down", hint="enumerate a smaller domain")

    @property
    def reach(self) -> Fraction:
        """A report supports a cell or does not, so the only one moves its share by 1/(p − q)."""
        return 1 / (self.p - self.q)
