"""The words that many people have, found by their prefixes: what is frequent on one level is extended on the next."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, rational, whole
from discreet.local.level_totals import LevelTotals, Shares
from discreet.local.prefixes import PrefixResponse
from discreet.local.protocol import checked_confidence
from discreet.local.spelling import Symbols
from discreet.noise.size import Ints

MOST = 256  # prefixes of a level that are extended
MULTIPLE = Fraction(7, 2)  # standard errors of nothing, above which a prefix is extended: docs/local.md tells of others


@dataclass(frozen=True, slots=True)
class WordShare:
    """The share of one word among all who reported: an unbiased value, an estimate of its variance, and an interval."""

    word: str
    value: float
    variance: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LevelSearch:
    """One level of a search: the letters of its prefixes, its reports, how many prefixes were looked at, and how many were kept.

    A prefix was kept if its estimated share was above `threshold`, and among the largest if there were too many.
    """

    letters: int
    people: int
    evaluated: int
    kept: int
    threshold: float


@dataclass(frozen=True, slots=True, eq=False)
class HeavyHitters:
    """The words that were found, the most frequent first, and how the search went.

    The shares of all words that were looked at on the last level lie in their intervals, together, with at least the confidence, as which
    words these are does not depend on the reports of that level. Those were found whose interval is above 0: with at least the confidence
    somebody has each of them. A frequent word may be missing, as its prefix was passed over or its interval reaches 0.
    """

    n: int
    confidence: float
    found: tuple[WordShare, ...]
    levels: tuple[LevelSearch, ...]
    _last: LevelTotals = field(repr=False)
    _crowding: float = field(repr=False)

    def __iter__(self) -> Iterator[tuple[str, float, float, float]]:
        """A word that was found, its unbiased share, and the interval of it."""
        for each in self.found:
            yield each.word, each.value, each.low, each.high

    def share(self, word: str) -> WordShare:
        """The share of a word that somebody asks about, found or not; Invalid for one that is not in the domain."""
        return self.shares([word])[0]

    def shares(self, words: Iterable[str]) -> tuple[WordShare, ...]:
        """The shares of these words, each of which lies in its interval, by itself, with at least the confidence."""
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise Invalid("words must be a list of words", hint="share(word) is for one")
        asked = list(words)
        symbols = self._last.protocol.words.symbols(asked)
        miss = 1 - Fraction(self.confidence)
        return _described(self._last, self._crowding, asked, self._last.shares(symbols), miss)


def frequent_words(
    protocol: PrefixResponse,
    totals: Ints,
    n: int,
    confidence: Number = 0.95,
    *,
    most: int = MOST,
    multiple: Number = MULTIPLE,
) -> HeavyHitters:
    """The frequent words that n reports with these totals tell of, and how the search went.

    On each level but the last those prefixes are kept, and extended, whose share is above so many standard errors of a prefix that nobody
    has; `most` of them, the largest, where there are more. Invalid where nobody reported on some level.
    """
    if not isinstance(protocol, PrefixResponse):
        raise Invalid("protocol must be a PrefixResponse", hint="PrefixResponse.of(words, epsilon)")
    level = checked_confidence(confidence, whole(n, "n"))
    whole(most, "most", least=1)
    above = float(rational(multiple, "multiple"))
    totals = _checked(protocol, totals, n)
    spelling = protocol.words.spelling
    prefixes, crowding, steps = np.empty((1, 0), np.uint16), 1.0, []
    for place, table in enumerate(protocol.levels):
        totals_here = LevelTotals(protocol, place, totals, n)
        runs = spelling.runs(table.letters - prefixes.shape[1])
        looked = int(sum(spelling.extends(each[None], runs).sum() for each in prefixes))
        last = place == len(protocol.levels) - 1
        miss = (1 - level) / max(1, looked)
        bar = totals_here.width(crowding, miss) if last else above * totals_here.error(crowding)
        prefixes, shares = _above(totals_here, prefixes, runs, bar)
        if not last:
            prefixes, shares = prefixes[:most], shares[:most]
        if place == 0:
            crowding = _largest(shares, bar, totals_here.width(crowding, miss))
        steps.append(LevelSearch(table.letters, totals_here.people, looked, len(prefixes), bar))
    found = _described(totals_here, crowding, spelling.words(prefixes), shares, miss)
    return HeavyHitters(n, float(level), found, tuple(steps), totals_here, crowding)


def _checked(protocol: PrefixResponse, totals: Ints, n: int) -> Ints:
    """The totals that n reports could have; else Invalid."""
    array = np.asarray(totals)
    if array.shape != (protocol.width,) or array.dtype.kind not in "iu" or not protocol.possible(array, n):
        raise Invalid("totals must be those of n reports", hint="protocol.accumulate(reports) makes them")
    return array.astype(np.int64, copy=False)


def _largest(shares: Shares, bar: float, width: float) -> float:
    """An upper limit of every share of the first level, and so of those of all others; `shares` are those above the bar."""
    return min(1.0, max(0.0, float(shares.max(initial=bar))) + width)


def _above(level: LevelTotals, prefixes: Symbols, runs: Symbols, bar: float) -> tuple[Symbols, Shares]:
    """The prefixes that are longer by a run and whose shares are above the bar, the largest share first."""
    spelling = level.protocol.words.spelling
    rows, values = [np.empty((0, level.level.letters), np.uint16)], [np.empty(0)]
    for begin, shares in level.extended(prefixes, runs):
        here = prefixes[begin : begin + len(shares)]
        first, second = np.nonzero((shares > bar) & spelling.extends(here, runs))
        rows.append(np.concatenate((here[first], runs[second]), axis=1))
        values.append(shares[first, second])
    found, told = np.concatenate(rows), np.concatenate(values)
    order = np.argsort(-told, kind="stable")
    return found[order], told[order]


def _described(
    level: LevelTotals, crowding: float, words: list[str], shares: NDArray[np.float64], miss: Fraction
) -> tuple[WordShare, ...]:
    far = level.width(crowding, miss)
    rows = zip(words, shares.tolist(), level.variances(shares, crowding).tolist(), strict=True)
    return tuple(WordShare(word, share, spread, share - far, share + far) for word, share, spread in rows)
