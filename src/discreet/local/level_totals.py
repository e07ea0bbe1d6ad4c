"""What the reports of one level say of prefixes, of any that somebody asks about."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.local.hadamard import transform
from discreet.local.prefixes import PrefixResponse
from discreet.local.protocol import TOO_FEW
from discreet.local.spelling import Symbols
from discreet.mechanisms.randomized_response import deviation
from discreet.noise.size import Ints

Shares = NDArray[np.float64]
PIECE = 1 << 21  # prefixes that are looked at together


class LevelTotals:
    """The reports on one level: the people who chose it, of n, and how often each column of each row was told.

    People choose their level apart from their word, so that those of one level are a random sample of all, and its shares are unbiased
    for those of all.
    """

    def __init__(self, protocol: PrefixResponse, place: int, totals: Ints, n: int) -> None:
        self.protocol, self.place = protocol, place
        self.level = protocol.levels[place]
        self.people, self._signs = protocol.of_level(totals, place)
        self._others = n - self.people
        if self.people < 1:
            raise Invalid("there are no reports on some level yet", code=TOO_FEW, hint="wait for more reports")

    @property
    def exact(self) -> bool:
        """Whether every prefix has a column of its own."""
        return self.level.is_exact(self.protocol.words.spelling.base)

    @cached_property
    def _told(self) -> Ints:
        """For each column of each row, the sum of the signs, as they are of that column."""
        rows = self._signs.reshape(self.level.rows, self.level.columns)
        return np.array([transform(row) for row in rows])

    def support(self, sums: NDArray[np.uint32]) -> Ints:
        """The sum of the signs of some prefixes, from the sums of their symbols by factors: an array for each row."""
        shift = self.protocol.functions(self.place)[1]
        found = np.zeros(sums.shape[1:], np.int64)
        for row, each in zip(self._told, sums, strict=True):
            found += row[each >> shift]
        return found

    def _sums(self, symbols: Symbols, first: int) -> NDArray[np.uint32]:
        """The sums of these symbols, of which the first is the letter at this place, by the factors of each row."""
        factors = self.protocol.functions(self.place)[0]
        sums = np.zeros((len(factors), len(symbols)), np.uint32)
        for letter in range(symbols.shape[1]):
            sums += factors[:, first + letter + 1, None] * symbols[:, letter].astype(np.uint32)
        return sums

    def shares(self, prefixes: Symbols) -> Shares:
        """The unbiased shares of people whose words begin with each of these; letters behind the level's are passed over."""
        factors = self.protocol.functions(self.place)[0]
        return self._shares(self.support(self._sums(prefixes[:, : self.level.letters], 0) + factors[:, :1]))

    def extended(self, prefixes: Symbols, runs: Symbols) -> Iterator[tuple[int, Shares]]:
        """The shares of each prefix with each run behind it, prefix by run; in pieces, each with the place of its first prefix."""
        factors = self.protocol.functions(self.place)[0]
        before = self._sums(prefixes, 0) + factors[:, :1]
        more = self._sums(runs, prefixes.shape[1])
        step = max(1, PIECE // len(runs))
        for begin in range(0, len(prefixes), step):
            yield begin, self._shares(self._pairs(before[:, begin : begin + step], more))

    def _pairs(self, before: NDArray[np.uint32], more: NDArray[np.uint32]) -> Ints:
        shift = self.protocol.functions(self.place)[1]
        found = np.zeros((before.shape[1], more.shape[1]), np.int64)
        for row, first, second in zip(self._told, before, more, strict=True):
            found += row[(first[:, None] + second) >> shift]
        return found

    def _shares(self, support: Ints) -> Shares:
        told = support / (float(self.protocol.gap) * self.people)
        return told if self.exact else (told * self.level.columns - 1) / (self.level.columns - 1)

    @property
    def _sampled(self) -> float:
        """How much of the spread of people matters, as those of a level are some of all and not all."""
        return self._others / max(1, self._others + self.people - 1)

    def variances(self, shares: Shares, crowding: float) -> Shares:
        """Unbiased estimates of the variances of shares, for the noise, the sample and shared columns.

        With φ = (n − m)/(n − 1) for m of n people, a share f where nothing is hashed has the variance (1/gap² − f + φf(1 − f))/m. f² is
        estimated by the square of the estimate of f, less the variance. Where columns are shared, this and what `collisions` adds are
        somewhat too much.
        """
        most, part = float(1 / self.protocol.gap**2), self._sampled
        if self.people < 2:  # of one report nothing else can be said
            return np.full(len(shares), float(self.protocol.scale(self.place)) ** 2 * most + self.collisions(crowding))
        spread = (most - (1 - part) * shares - part * shares**2) / (self.people - part)
        scale = float(self.protocol.scale(self.place)) ** 2
        return np.maximum(0.0, scale * spread) + self.collisions(crowding)

    def collisions(self, crowding: float) -> float:
        """The variance that other prefixes add which have the columns of this one, by chance, in some rows.

        It is the sum of the squared shares of all others, which is at most the largest of them, over rows·(columns − 1), where the hash
        functions are like random ones. `crowding` is an upper limit of the largest.
        """
        return 0.0 if self.exact else crowding / (self.level.rows * (self.level.columns - 1))

    def error(self, crowding: float) -> float:
        """The standard error of the share of what nobody has."""
        scale = float(self.protocol.scale(self.place) / self.protocol.gap)
        return sqrt(scale**2 / self.people + self.collisions(crowding))

    def width(self, crowding: float, miss: Fraction) -> float:
        """How far from the true share an estimate is with at most the chance `miss`, whatever the share is.

        That people are drawn without replacement makes it nearer (Hoeffding 1963). Shared columns are taken as normal noise.
        """
        far = 2 * deviation(self.people, 0.25, 1 - miss) / (float(self.protocol.gap) * self.people)
        normal = NormalDist().inv_cdf(float(miss / 2))
        return sqrt((float(self.protocol.scale(self.place)) * far) ** 2 + normal**2 * self.collisions(crowding))
