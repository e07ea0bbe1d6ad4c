"""Optimised local hashing: a person draws a public hash function, and tells by randomized response what it makes of their cell."""

from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, exp_neg_bounds, shown, whole
from discreet.fields import frozen
from discreet.local.domain import AnswerDomain
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.protocol import (
    Reports,
    array_of,
    packed_code,
    pieces,
    truth_down,
    unpacked_code,
)
from discreet.noise import Source, keep_or_replace
from discreet.noise.size import Ints
from discreet.noise.source import words

WORD = 64
FEW = 4  # digits of a word, where all seeds are written down


@lru_cache(maxsize=256)
def best_buckets(epsilon: Fraction) -> int:
    """The integer next to e^ε + 1, with which the variance is least, or nearly so (Wang, Blocki, Li and Jha 2017).

    It is that of a lower bound of e^ε, by steps in integers that every client can take, so that all have as many buckets.

    >>> [best_buckets(Fraction(each)) for each in (0.01, 1, 20)]
    [2, 4, 485165196]
    """
    above = exp_neg_bounds(epsilon, 2 * WORD)[1]
    return ((2 << 2 * WORD) + above) // (2 * above) + 1


@frozen
class LocalHashing(FrequencyProtocol):
    """A seed (a, b) and one of g = round(e^ε) + 1 buckets, kept with probability e^ε/(e^ε + g − 1).

    (Wang, Blocki, Li and Jha 2017, OLH.) The seed is uniform and says nothing of the person; given the seed the report is randomized
    response among g buckets, so the loss is at most ε for every seed. The hash of x is the upper half h of (a x + b) mod 2^word, and
    its bucket is floor(h g / 2^(word/2)). For x < 2^(word/2) the hashes of two cells are independent and uniform, exactly
    (Dietzfelbinger 1996); buckets differ in size by one, which `q` has in it. So estimates have no bias at all.

    >>> LocalHashing(1000, 1).buckets, LocalHashing(1000, 1).size
    (4, 17)
    """

    word: int = WORD  # digits of a seed's halves; fewer only where all seeds are enumerated

    name, code = "hashing", 3

    def __post_init__(self) -> None:
        FrequencyProtocol.__post_init__(self)
        object.__setattr__(self, "word", whole(self.word, "word", least=2))
        if self.word > WORD or self.word % 2:
            raise Invalid(f"word must be an even number up to 64, got {shown(self.word)}")
        if max(self.k, self.buckets) > 1 << self.word // 2:
            raise Invalid("word must have twice the digits of k and of the buckets")

    @classmethod
    def small(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """With seeds of eight digits, for up to 4 cells and buckets."""
        return cls(cls.of(domain, epsilon).k, epsilon, FEW)

    @property
    def buckets(self) -> int:
        """The number g of buckets: with about e^ε + 1 the variance is least."""
        return best_buckets(Fraction(self.epsilon))

    @property
    def p(self) -> Fraction:
        """The probability that the bucket of the own cell is told."""
        return truth_down(self.epsilon, self.buckets)

    @property
    def _lie(self) -> Fraction:
        return (1 - self.p) / (self.buckets - 1)

    @property
    def q(self) -> Fraction:
        """The probability that the bucket of another cell is told: it is independent of the bucket of the own cell."""
        all, g = 1 << self.word // 2, self.buckets
        least, larger = divmod(all, g)
        same = Fraction(larger * (least + 1) ** 2 + (g - larger) * least**2, all * all)
        return self._lie + (self.p - self._lie) * same

    @property
    def bits(self) -> int:
        """A seed of two words, and a bucket in whole bytes."""
        return 8 * (2 * self._seed_bytes + self._bucket_bytes)

    @property
    def _seed_bytes(self) -> int:
        return (self.word + 7) // 8

    @property
    def _bucket_bytes(self) -> int:
        return ((self.buckets - 1).bit_length() + 7) // 8

    @property
    def width(self) -> int:
        """One total for each cell."""
        return self.k

    @property
    def work(self) -> int:
        """Every cell is hashed."""
        return self.k

    def bucket(self, a: NDArray[np.uint64], b: NDArray[np.uint64], cells: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The buckets of cells under the hash functions of these seeds; shapes are broadcast."""
        half, mask = np.uint64(self.word // 2), np.uint64((1 << self.word) - 1)
        hashes = a * cells
        hashes += b
        hashes &= mask
        hashes >>= half
        hashes *= np.uint64(self.buckets)
        hashes >>= half
        return hashes

    def _randomised(self, cells: Ints, source: Source) -> Reports:
        mask = np.uint64((1 << self.word) - 1)
        reports = np.empty((len(cells), 3), np.uint64)
        reports[:, :2] = words(source, 2 * len(cells)).reshape(-1, 2) & mask
        own = self.bucket(reports[:, 0], reports[:, 1], cells.astype(np.uint64)).astype(np.int64)
        reports[:, 2] = keep_or_replace(own, self.buckets, self.p, source=source)
        return reports

    def accumulate(self, reports: Reports) -> Ints:
        """How many reports tell the bucket of each cell."""
        array = array_of(reports, "reports")
        if array.ndim != 2 or array.shape[1] != 3 or array.dtype != np.uint64:
            raise Invalid("reports must be rows of a seed's two words and a bucket")
        if len(array) and (int(array[:, 2].max()) >= self.buckets or int(array[:, :2].max()) >> self.word):
            raise Invalid("a report is not of this domain")
        cells, totals = np.arange(self.k, dtype=np.uint64), np.zeros(self.k, np.int64)
        for piece in pieces(array, self.k):
            totals += (self.bucket(piece[:, :1], piece[:, 1:2], cells) == piece[:, 2:]).sum(axis=0)
        return totals

    def support(self, totals: Ints, n: int) -> Ints:
        """How many reports tell the bucket of each cell, which is what the totals are."""
        return totals

    def pack(self, report: Any) -> bytes:
        """Both words of the seed and the bucket, the least byte of each first."""
        a, b, bucket = (int(each) for each in report)
        size = self._seed_bytes
        return packed_code(a, size) + packed_code(b, size) + packed_code(bucket, self._bucket_bytes)

    def unpack(self, data: bytes) -> Any:
        """The seed and the bucket; Invalid for another length, and for a bucket that there is not."""
        if len(data) != self.size:
            raise Invalid("a report has the wrong length")
        size = self._seed_bytes
        seeds = [unpacked_code(data[at : at + size], size, 1 << self.word) for at in (0, size)]
        return np.array([*seeds, unpacked_code(data[2 * size :], self._bucket_bytes, self.buckets)], np.uint64)

    def outcomes(self) -> Reports:
        """Every seed with every bucket."""
        self._few((1 << 2 * self.word) * self.buckets)
        return np.array(list(product(range(1 << self.word), range(1 << self.word), range(self.buckets))), np.uint64)

    def chance(self, report: Any, value: int) -> Fraction:
        """The probability of the seed, by that of the bucket given the seed."""
        seed, cell = np.asarray(report, np.uint64), np.array([value], np.uint64)
        told = int(self.bucket(seed[:1], seed[1:2], cell)[0]) == int(seed[2])
        return (self.p if told else self._lie) / (1 << 2 * self.word)
