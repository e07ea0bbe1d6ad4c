"""The search finds what is frequent and nothing else, intervals hold, and levels count their own people."""

import json
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, chi2

from discreet.errors import Invalid
from discreet.local import Campaign, Client, Collector, PrefixLevel, PrefixResponse, Words, frequent_words
from discreet.local.heavy_hitters import LevelSearch
from discreet.local.level_totals import LevelTotals
from tests.local.cases import LATER
from tests.scale import repeats

FALSE_ALARM = 1e-6
LETTERS = "abcdefgh"
LEVELS = (PrefixLevel(2, 1, 128), PrefixLevel(4, 64, 64), PrefixLevel(6, 64, 64))


CROWDED = (PrefixLevel(2, 1, 128), PrefixLevel(4, 1, 2), PrefixLevel(6, 16, 8))


def domain(seed: int, levels: tuple[PrefixLevel, ...] = LEVELS) -> Words:
    return Words(LETTERS, 6, seed.to_bytes(16, "little"), levels)


@cache
def vocabulary(size: int) -> tuple[str, ...]:
    """Words of 1 to 6 letters, drawn once and for all."""
    draw = np.random.default_rng(size)
    found: dict[str, None] = {}
    while len(found) < size:
        found["".join(draw.choice(list(LETTERS), draw.integers(1, 7)))] = None
    return tuple(found)


def reported(
    seed: int, shares: np.ndarray, n: int, epsilon: int, levels: tuple[PrefixLevel, ...] = LEVELS
) -> tuple[PrefixResponse, np.ndarray]:
    """A protocol, and the totals of n people whose words have these shares, as nearly as whole people can."""
    one = domain(seed, levels)
    ends = np.rint(np.cumsum(shares) * n).astype(int)
    cells = np.searchsorted(ends, np.arange(n), side="right")
    protocol = PrefixResponse(one, epsilon)
    return protocol, protocol.accumulate(protocol.randomise(one.symbols(vocabulary(len(shares)))[cells]))


def frequent_words_are_found_and_others_are_not() -> None:
    """Three words of a tenth and more, far above the thresholds, before many rare ones, of which some are short or begin others."""
    shares = np.r_[0.2, 0.15, 0.1, np.full(997, 0.55 / 997)]
    for seed in range(repeats(3)):
        protocol, totals = reported(seed, shares, 60_000, 3)
        result = frequent_words(protocol, totals, 60_000, 1 - 1e-6)
        assert [each.word for each in result.found] == list(vocabulary(1000)[:3])
        for each, share in zip(result.found, shares, strict=False):
            assert each.low <= share <= each.high and result.share(each.word).value == each.value
            assert result.share(each.word).high < each.high  # by itself, and not together with all others
        assert [each.people for each in result.levels] == totals[:3].tolist()
        assert result.levels[0].evaluated == 8 + 64 and all(each.kept <= 256 for each in result.levels)


def test_frequent_words_are_found_and_others_are_not() -> None:
    frequent_words_are_found_and_others_are_not()


def nobody_is_found_who_is_not_there() -> None:
    """Everybody has one of four rare words that no letter of others begins: every other word that is found is a false alarm."""
    runs, n, false = repeats(40), 4000, 0
    for seed in range(runs):
        one = domain(seed)
        protocol = PrefixResponse(one, 4)
        spelt = one.symbols(["hhh", "hhhhhh", "gh", "gggggg"])
        totals = protocol.accumulate(protocol.randomise(np.repeat(spelt, n // 4, axis=0)))
        found = {each.word for each in frequent_words(protocol, totals, n, 0.5).found}
        false += bool(found - {"hhh", "hhhhhh", "gh", "gggggg"})
    assert false <= binom.isf(FALSE_ALARM, runs, 0.5 / 2)  # of intervals that miss half of them lie too high


def test_nobody_is_found_who_is_not_there() -> None:
    nobody_is_found_who_is_not_there()


def intervals_of_shares_hold_and_errors_are_those_that_are_said() -> None:
    """A frequent word and a rare one, in runs with hash functions of their own, and with so few columns that these matter."""
    runs, n, miss = repeats(250), 3000, Fraction(1, 10)
    shares = np.r_[0.3, 0.2, np.full(98, 0.5 / 98)]
    missed, squares, said = np.zeros(2), np.zeros(2), np.zeros(2)
    for seed in range(runs):
        protocol, totals = reported(seed, shares, n, 4, CROWDED)
        table = LevelTotals(protocol, 2, totals, n)
        asked = table.shares(protocol.words.symbols([vocabulary(100)[place] for place in (0, 99)]))
        errors = asked - shares[[0, 99]]
        for at, place in enumerate((0, 99)):
            others = float((shares**2).sum() - shares[place] ** 2)
            missed[at] += abs(errors[at]) > table.width(others, miss)
            said[at] += table.variances(asked[at : at + 1], others)[0]
        squares += errors**2
    assert (missed <= binom.isf(FALSE_ALARM / 6, runs, float(miss))).all()
    for ratio in squares / said:
        assert chi2.ppf(FALSE_ALARM / 6, runs) < ratio * runs < chi2.isf(FALSE_ALARM / 6, runs)


def test_intervals_of_shares_hold_and_errors_are_those_that_are_said() -> None:
    intervals_of_shares_hold_and_errors_are_those_that_are_said()


def collectors_say_what_is_frequent() -> None:
    """The state of a collector that has seen some reports, with the totals of many."""
    one, n = Campaign("Which?", domain(5), "prefixes", 20, bytes(16), LATER), 6000
    collector = Collector(one, capacity=8)
    assert collector.extend(Client(one).report(word) for word in ["cab", "hedge"] * 10) == 20
    assert collector.totals[:3].sum() == 20 and one.randomiser.possible(collector.totals, 20)
    totals = one.randomiser.accumulate(one.randomiser.randomise(one.domain.symbols(["cab", "hedge"] * (n // 2))))
    record = json.loads(collector.to_json()) | {"n": n, "totals": totals.tolist()}
    collector = Collector.from_json(json.dumps(record, sort_keys=True, separators=(",", ":")))
    result = collector.estimates(1 - 1e-6)
    assert {word for word, *_ in result} == {"cab", "hedge"} and result.n == n
    assert all(low <= 0.5 <= high for _, _, low, high in result)
    assert result.share("bad").low < 0 < result.share("bad").high
    assert collector.influence(10) == pytest.approx(20 / totals[2] * 64 / 63, rel=1e-6)
    with pytest.raises(Invalid):
        result.share("xylophone")


def test_collectors_say_what_is_frequent() -> None:
    collectors_say_what_is_frequent()


def test_at_most_so_many_prefixes_are_extended() -> None:
    protocol, totals = reported(3, np.full(1000, 1 / 1000), 3000, 1)
    wide = frequent_words(protocol, totals, 3000, multiple=-10)
    narrow = frequent_words(protocol, totals, 3000, most=2, multiple=-10)
    assert [each.kept for each in wide.levels[:2]] == [72, 256] and [each.kept for each in narrow.levels[:2]] == [2, 2]
    assert narrow.levels[1].evaluated <= 2 * 73
    none = frequent_words(protocol, totals, 3000, multiple=100)
    assert none.found == () and none.levels[1] == LevelSearch(4, int(totals[1]), 0, 0, none.levels[1].threshold)


def test_words_of_one_level_are_those_of_hadamard_response() -> None:
    """Where every word has a column of its own there is nothing to search."""
    small = Words.new("ab", 3)
    protocol = PrefixResponse(small, 20)
    totals = protocol.accumulate(protocol.randomise(small.symbols(["aba"] * 6000 + ["b"] * 2000)))
    assert len(small.levels) == 1 and protocol.width == 1 + 32
    result = frequent_words(protocol, totals, 8000, 1 - 1e-6)
    assert [word for word, *_ in result] == ["aba", "b"] and result.levels[0].evaluated == 2 + 4 + 8
    assert [low < share < high for share, (_, _, low, high) in zip((0.75, 0.25), result, strict=True)] == [True, True]


def nothing_found_first_is_no_proof_that_nothing_is_frequent() -> None:
    """Where no prefix of the first level is above the bar, its limit is that of what may just have missed it."""
    protocol, totals = reported(3, np.full(1000, 1 / 1000), 3000, 1)
    none = frequent_words(protocol, totals, 3000, multiple=100)
    assert none.levels[0].kept == 0 and none._crowding == 1


def test_nothing_found_first_is_no_proof_that_nothing_is_frequent() -> None:
    nothing_found_first_is_no_proof_that_nothing_is_frequent()


def test_what_is_no_search_is_refused() -> None:
    protocol, totals = reported(3, np.full(1000, 1 / 1000), 3000, 1)
    for given in (totals[:3], totals[None], totals * 1.0, totals + 1, None, ["a"]):
        with pytest.raises(Invalid, match="totals"):
            frequent_words(protocol, given, 3000)  # type: ignore[arg-type]
    for n in (2999, 3000.0, "3000"):
        with pytest.raises(Invalid):
            frequent_words(protocol, totals, n)  # type: ignore[arg-type]
    for multiple in (float("nan"), float("inf"), "3", None):
        with pytest.raises(Invalid, match="multiple"):
            frequent_words(protocol, totals, 3000, multiple=multiple)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="PrefixResponse"):
        frequent_words(protocol.words, totals, 3000)  # type: ignore[arg-type]
    found = frequent_words(protocol, totals.tolist(), 3000)  # type: ignore[arg-type]
    for words in ("cab", 5, None):
        with pytest.raises(Invalid, match="list of words"):
            found.shares(words)  # type: ignore[arg-type]


def test_a_level_without_reports_is_told() -> None:
    protocol = PrefixResponse(domain(1), 1)
    totals = protocol.accumulate(np.array([0]))
    with pytest.raises(Invalid, match="no reports on some level"):
        frequent_words(protocol, totals, 1)
    for confidence, n in ((0, 1), (1, 1), (0.9, 0)):
        with pytest.raises(Invalid):
            frequent_words(protocol, totals, n, confidence)
