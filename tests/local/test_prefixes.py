"""Prefixes of words: what a report tells, whatever the hash functions are; and what reports say, on average over all of them."""

import hashlib
from collections.abc import Iterator
from fractions import Fraction as F
from itertools import combinations, combinations_with_replacement, product
from unittest import mock

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import Invalid
from discreet.exact import log_down, log_up
from discreet.local import Campaign, Client, ClientReport, Collector, PrefixLevel, PrefixResponse, Words
from discreet.local.domains import domain_of
from discreet.local.level_totals import LevelTotals
from discreet.local.prefix_hashing import factors
from discreet.local.report import binding
from discreet.noise import Tape
from tests.local.cases import LATER

NEAR = F(1, 10**9)
FALSE_ALARM = 1e-6
EPSILONS = (F(1, 10), F(1), F(5))


def words(alphabet: str, shortest: int, *levels: tuple[int, int, int]) -> Words:
    return Words(alphabet, levels[-1][0], bytes(range(16)), tuple(PrefixLevel(*each) for each in levels), shortest)


PADDED = words("ab", 1, (1, 1, 4), (2, 2, 4))
BITS = words("01", 3, (1, 1, 2), (3, 2, 2))
LEVELS = words("ba", 2, (1, 1, 4), (3, 2, 4), (4, 3, 2))
SHORT = words("01", 2, (1, 1, 2), (2, 1, 4))
SMALL = tuple(PrefixResponse(each, epsilon) for each in (PADDED, BITS, LEVELS, SHORT) for epsilon in EPSILONS)


def all_words(domain: Words) -> list[str]:
    lengths = range(domain.shortest, domain.length + 1)
    return ["".join(each) for length in lengths for each in product(domain.alphabet, repeat=length)]


def every_row_is_a_distribution() -> None:
    for protocol in SMALL:
        channel = protocol.channel()
        assert len(channel) == len(all_words(protocol.words))
        assert all(sum(row) == 1 for row in channel)


def test_every_row_is_a_distribution() -> None:
    every_row_is_a_distribution()


def no_report_tells_more_than_is_declared_or_much_less() -> None:
    for protocol in SMALL:
        loss = max(max(column) / min(column) for column in zip(*protocol.channel(), strict=True))
        assert log_up(loss) <= protocol.epsilon, protocol
        assert log_down(loss) >= protocol.epsilon - NEAR, protocol


def test_no_report_tells_more_than_is_declared_or_much_less() -> None:
    no_report_tells_more_than_is_declared_or_much_less()


def test_reports_on_every_level_would_tell_epsilon_on_each() -> None:
    """Where prefixes have columns that differ on both levels, one report on each tells twice as much as is declared."""
    protocol = PrefixResponse(SHORT, 1)
    given = [(first, second) for first in range(4) for second in range(4, 12)]
    chances = protocol.channel()
    both = [[4 * row[first] * row[second] for first, second in given] for row in chances]
    loss = max(max(column) / min(column) for column in zip(*both, strict=True))
    assert log_down(loss) >= 2 - 2 * NEAR and log_up(loss) <= 2


def reports_are_drawn_as_they_are_enumerated() -> None:
    cases = [each for each in SMALL if each.epsilon == 1]
    for protocol in cases:
        spelt = protocol.words.symbols(all_words(protocol.words)[:1])
        expected = np.array([float(protocol.chance(each, spelt[0])) for each in protocol.outcomes()])
        draws = int(20 / expected.min())
        found = np.bincount(protocol.randomise(np.repeat(spelt, draws, axis=0)), minlength=len(expected))
        assert chisquare(found, expected * draws, sum_check=False).pvalue > FALSE_ALARM / len(cases), protocol


def test_reports_are_drawn_as_they_are_enumerated() -> None:
    reports_are_drawn_as_they_are_enumerated()


def test_single_reports_are_those_of_arrays() -> None:
    for protocol in SMALL:
        for seed, word in enumerate(all_words(protocol.words)):
            single = protocol.randomise(protocol.words.encoded(word), Tape(seed))
            assert single == protocol.randomise(protocol.words.symbols([word]), Tape(seed))[0]


def hash_functions(digits: int, count: int) -> np.ndarray:
    """All functions with so many factors of so many digits, as factors of 32 digits whose lower ones are 0."""
    return np.array(list(product(range(1 << digits), repeat=count)), np.uint64).astype(np.uint32) << (32 - digits)


def hashes_of_two_prefixes_are_independent() -> None:
    """Over all factors of as few digits as are enough, any two prefixes have any two columns equally often."""
    for alphabet, columns, digits in (("abc", 4, 3), ("ab", 2, 1), ("abcde", 2, 3)):
        domain = words(alphabet, 2, (1, 1, 8), (2, 1, columns))
        table = hash_functions(digits, 3)
        protocol = PrefixResponse(domain, 1)
        with mock.patch("discreet.local.prefixes.factors", lambda *_: table):  # noqa: B023
            spelt = domain.symbols(all_words(domain))
            rows = np.arange(len(table))
            found = [protocol.columns(1, np.repeat(each[None], len(table), axis=0), rows) for each in spelt]
        for one, other in combinations(found, 2):
            pairs = np.bincount(columns * one + other, minlength=columns**2)
            assert pairs.tolist() == [len(table) // columns**2] * columns**2


def test_hashes_of_two_prefixes_are_independent() -> None:
    hashes_of_two_prefixes_are_independent()


def every_table(digits: int = 1, rows: int = 2) -> Iterator[None]:
    """All pairs of hash functions for the deep level of `BITS`, each in turn."""
    table = hash_functions(digits, 4)
    for chosen in product(range(len(table)), repeat=rows):
        with mock.patch("discreet.local.prefixes.factors", lambda *_: table[list(chosen)]):  # noqa: B023
            yield


def told(protocol: PrefixResponse, place: int, reports: list[int], n: int) -> LevelTotals:
    return LevelTotals(protocol, place, protocol.accumulate(np.array(reports)), n)


def shares_are_unbiased_over_all_hash_functions() -> None:
    """The whole law of one report on the deep level, and of the hash functions, for two words."""
    protocol = PrefixResponse(BITS, 2)
    spelt = BITS.symbols(all_words(BITS))
    deep, sums, count = range(4, 12), np.zeros((2, len(spelt))), 0
    for _ in every_table():
        count += 1
        shares = [told(protocol, 1, [report], 1).shares(spelt) for report in deep]
        for at, own in enumerate((0, 5)):
            chances = [2 * float(protocol.chance(report, spelt[own])) for report in deep]
            sums[at] += np.dot(chances, shares)
    assert sums / count == pytest.approx(np.eye(len(spelt))[[0, 5]], abs=1e-12)


def test_shares_are_unbiased_over_all_hash_functions() -> None:
    shares_are_unbiased_over_all_hash_functions()


def shared_columns_add_the_variance_that_is_said() -> None:
    """Everybody has one word: without the noise, what another word is said to have varies over the hash functions alone."""
    protocol = PrefixResponse(BITS, 2)
    spelt = BITS.symbols(["010", "111"])
    means = []
    for _ in every_table():
        shares = [told(protocol, 1, [report], 1).shares(spelt[1:])[0] for report in range(4, 12)]
        means.append(np.dot([2 * float(protocol.chance(report, spelt[0])) for report in range(4, 12)], shares))
    said = told(protocol, 1, [4], 1).collisions(1.0)
    assert np.mean(means) == pytest.approx(0, abs=1e-12) and np.var(means) == pytest.approx(said, rel=1e-9)


def test_shared_columns_add_the_variance_that_is_said() -> None:
    shared_columns_add_the_variance_that_is_said()


def shares_of_a_sample_are_unbiased_with_unbiased_variances() -> None:
    """Three people, of whom any two are on the first level: all samples and all of their reports, with nothing hashed."""
    for epsilon in (F(1), F(3)):
        protocol = PrefixResponse(BITS, epsilon)
        people = BITS.symbols(["000", "111", "101"])
        first, second, variance, total = np.zeros(2), np.zeros(2), np.zeros(2), 0.0
        for pair in combinations(range(3), 2):
            for reports in product(range(4), repeat=2):
                chance = np.prod([2 * float(protocol.chance(r, people[i])) for r, i in zip(reports, pair, strict=True)])
                level = told(protocol, 0, list(reports), 3)
                shares = level.shares(BITS.symbols(["000", "111"]))
                first += chance / 3 * shares
                second += chance / 3 * shares**2
                variance += chance / 3 * level.variances(shares, 1.0)
                total += chance / 3
        assert total == pytest.approx(1) and first == pytest.approx([1 / 3, 2 / 3], abs=1e-12)
        assert variance == pytest.approx(second - first**2, rel=1e-9)


def test_shares_of_a_sample_are_unbiased_with_unbiased_variances() -> None:
    shares_of_a_sample_are_unbiased_with_unbiased_variances()


def factors_are_those_of_every_release() -> None:
    """Words of SHA-256, spelt a second time; and one of them in figures, as campaigns out there have it."""
    salt = bytes(range(16))
    found = factors(salt, 3, 5, 9)
    assert found.shape == (5, 10)
    for row in range(5):
        head = b"discreet.local.prefixes" + salt + bytes([3, 0, 0, 0, row, 0, 0, 0])
        stream = hashlib.sha256(head + bytes(4)).digest() + hashlib.sha256(head + bytes([1, 0, 0, 0])).digest()
        assert found[row].tolist() == [int.from_bytes(stream[4 * i : 4 * i + 4], "little") for i in range(10)]
    assert factors(bytes(16), 1, 1, 2).tolist() == [PINNED]


PINNED = [2608664543, 1947571736, 1915072667]


def test_factors_are_those_of_every_release() -> None:
    factors_are_those_of_every_release()


def test_columns_are_those_of_the_formula() -> None:
    """By integers of any size, for words of the largest alphabet and for one that is not hashed."""
    alphabet = "".join(chr(point) for point in range(1, 1 << 16) if not 0xD800 <= point < 0xE000)
    domain = Words.new(alphabet, 3, source=Tape(5))
    protocol = PrefixResponse(domain, 1)
    text = alphabet[-1] + alphabet[12345] + "~"
    spelt = domain.symbols([text, "a"])
    for place, level in enumerate(domain.levels):
        for row in {0, level.rows - 1}:
            columns = protocol.columns(place, spelt, np.array([row, row])).tolist()
            for symbols, column in zip(spelt.tolist(), columns, strict=True):
                if level.is_exact(len(alphabet) + 1):
                    assert column == symbols[0] and level.letters == 1
                    continue
                b, *a = factors(domain.salt, place, level.rows, level.letters)[row].tolist()
                total = b + sum(x * y for x, y in zip(a, symbols[: level.letters], strict=True))
                assert column == (total % (1 << 32)) >> (32 - level.columns.bit_length() + 1)


def rows_of_one_word_are_those_of_many() -> None:
    """Whether one word is hashed or as many as there are rows: then all hash functions are made, and else those that are drawn."""
    protocol = PrefixResponse(Words.new("ab", 40, source=Tape(5)), 1)
    place = len(protocol.levels) - 1
    rows = np.arange(protocol.levels[place].rows)
    spelt = np.repeat(protocol.words.symbols(["abba"]), len(rows), axis=0)
    together = protocol.columns(place, spelt, rows)
    some = [500, 8, 500, 3]
    assert len(set(together.tolist())) > 1
    assert [protocol.columns(place, spelt[:1], rows[[row]])[0] for row in some] == together[some].tolist()
    assert protocol.columns(place, spelt[:4], rows[some]).tolist() == together[some].tolist()


def test_rows_of_one_word_are_those_of_many() -> None:
    rows_of_one_word_are_those_of_many()


def campaigns_make_no_client_hash_for_everybody() -> None:
    """A short text may declare millions of hash functions, each of hundreds of factors: a client makes the one that it draws."""
    levels = (PrefixLevel(16, 1, 1 << 16), PrefixLevel(32, 1 << 20, 2))
    asked = Campaign("Q", Words("ab", 32, bytes(16), levels, 32), "prefixes", 1, bytes(16), LATER)
    with mock.patch("discreet.local.prefixes.factors", side_effect=AssertionError):
        for _ in range(8):
            Client(asked).report("ab" * 16)


def test_campaigns_make_no_client_hash_for_everybody() -> None:
    campaigns_make_no_client_hash_for_everybody()


def liars_move_a_share_so_far_and_no_farther() -> None:
    """One report of three is exchanged for any other, on any level."""
    protocol = PrefixResponse(SHORT, 1)
    spelt = SHORT.symbols(all_words(SHORT))
    outcomes = protocol.outcomes().tolist()
    crowds = {each: protocol.accumulate(np.array(each)) for each in combinations_with_replacement(outcomes, 3)}
    shares = {each: LevelTotals(protocol, 1, totals, 3).shares(spelt) for each, totals in crowds.items() if totals[1]}
    tight = False
    for crowd in shares:
        most = float(protocol.influence(1, crowds[crowd], 3))
        others = (tuple(sorted((*crowd[:2], other))) for other in outcomes)
        moved = max(float(np.abs(shares[crowd] - shares[each]).max()) for each in others if each in shares)
        assert moved <= most + 1e-12
        tight |= moved > most - 1e-12
    assert tight
    assert protocol.influence(3, crowds[outcomes[0], outcomes[4], outcomes[4]], 3) == protocol.reach


def test_liars_move_a_share_so_far_and_no_farther() -> None:
    liars_move_a_share_so_far_and_no_farther()


def totals_that_no_reports_have_are_told() -> None:
    protocol = PrefixResponse(LEVELS, 1)
    totals = protocol.accumulate(protocol.randomise(LEVELS.symbols(all_words(LEVELS))))
    n = len(all_words(LEVELS))
    assert totals.shape == (protocol.width,) and protocol.possible(totals, n)
    assert not protocol.possible(totals, n + 1)
    for place, change in ((0, 1), (3, 1), (3, 2 * n)):
        other = totals.copy()
        other[place] += change
        assert not protocol.possible(other, n + (change if place < 3 else 0))
    other = totals.copy()
    other[:2] += (1 + other[1], -1 - other[1])
    assert not protocol.possible(other, n)


def test_totals_that_no_reports_have_are_told() -> None:
    totals_that_no_reports_have_are_told()


def words_are_read_as_they_are_spelt() -> None:
    for domain in (PADDED, BITS, LEVELS, words("bαa😀", 1, (1, 1, 8), (3, 4, 4))):
        every = all_words(domain)
        spelt = domain.symbols(every)
        assert len({tuple(row) for row in spelt.tolist()}) == len(every) and domain.spelling.words(spelt) == every
        assert domain.spelling.is_sound(spelt) and domain.encoded(every[-1]) == tuple(spelt[-1].tolist())
        assert spelt.max() == domain.spelling.base - 1 and spelt.shape[1] == domain.length


def test_words_are_read_as_they_are_spelt() -> None:
    words_are_read_as_they_are_spelt()


def prefixes_are_extended_to_words_and_nothing_else() -> None:
    """All prefixes by all runs, against the prefixes of all words."""
    for domain in (PADDED, BITS, LEVELS, words("abc", 2, (2, 1, 16), (5, 2, 4))):
        spelling = domain.spelling
        spelt = domain.symbols(all_words(domain))
        for before, after in ((0, 1), (1, domain.length), (0, domain.length), (domain.length - 1, domain.length)):
            prefixes = np.unique(spelt[:, :before], axis=0)
            runs = spelling.runs(after - before)
            first, second = np.nonzero(spelling.extends(prefixes, runs))
            found = np.concatenate((prefixes[first], runs[second]), axis=1)
            assert np.array_equal(np.unique(found, axis=0), np.unique(spelt[:, :after], axis=0))
            assert len(found) == len(np.unique(found, axis=0))


def test_prefixes_are_extended_to_words_and_nothing_else() -> None:
    prefixes_are_extended_to_words_and_nothing_else()


HOSTILE = ["", "secretsecret", "sécret", "secre\0", "Secret", "\ud800", "se cret", None, 7, b"abc", ["secret"], True]


@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_what_is_no_word_is_refused_and_not_said(value: object) -> None:
    domain = Words.new("abcdefghijklmnopqrstuvwxyz", 8, source=Tape(1))
    client = Client(Campaign("Which?", domain, "prefixes", 1, bytes(16), LATER))
    with pytest.raises(Invalid) as refusal:
        client.report(value)
    assert "secre" not in str(refusal.value).lower() and "7" not in str(refusal.value)
    assert len(client.report("word")) == 37  # nothing was spent


@pytest.mark.parametrize(
    "values",
    [[[0, 0]], [[0, 1]], [[3, 0]], [[-1, 0]], [[1]], [1], [[1, 1], [1]], 1, [[1.0, 0]], "ab", None, [[1 << 70, 0]]],
    ids=str,
)
def test_symbols_of_no_word_are_refused(values: object) -> None:
    with pytest.raises(Invalid):
        PrefixResponse(PADDED, 1).randomise(values)


def symbols_of_no_word_are_told() -> None:
    """Letters behind the end of a word would be a second spelling of it, or of none."""
    for rows in ([[0, 1]], [[0, 0]], [[1, 3]]):
        assert not PADDED.spelling.is_sound(np.array(rows))
    assert not LEVELS.spelling.is_sound(np.array([[1, 0, 0, 0]])) and LEVELS.spelling.is_sound(np.array([[1, 2, 0, 0]]))


def test_symbols_of_no_word_are_told() -> None:
    symbols_of_no_word_are_told()


def campaigns_of_words_are_read_as_they_were_written() -> None:
    for domain in (PADDED, BITS, LEVELS, Words.new("ab", 30), Words.new("αβ😀", 9, shortest=2, chunk=2)):
        one = Campaign("Which?", domain, "prefixes", 1, bytes(16), LATER)
        again = Campaign.from_json(one.to_json())
        assert again == one and again.randomiser == one.randomiser and again.id == one.id
        if one.randomiser.width > 1000:
            continue
        collector, word = Collector(one, capacity=8), domain.alphabet[0] * domain.shortest
        data = Client(one, source=Tape(2)).report(word)
        assert collector.add(data) and not collector.add(data)
        assert Collector.from_json(collector.to_json()).to_json() == collector.to_json()
        answer = ClientReport.read(data).opened(one.randomiser, binding(one))
        assert one.randomiser.pack(answer) == ClientReport.read(data).answer


def test_campaigns_of_words_are_read_as_they_were_written() -> None:
    campaigns_of_words_are_read_as_they_were_written()


CHANGES: list[dict[str, object]] = [
    {"alphabet": "a"},
    {"alphabet": "aa"},
    {"alphabet": "a\0"},
    {"alphabet": "a\ud800"},
    {"alphabet": ["a", "b"]},
    {"length": 3},
    {"length": "2"},
    {"length": 0},
    {"shortest": 0},
    {"shortest": 3},
    {"salt": "00"},
    {"salt": 0},
    {"levels": []},
    {"levels": [1]},
    {"levels": {}},
    {"levels": [{"columns": 4, "letters": 1, "rows": 1}]},
    {"levels": [{"columns": 4, "letters": 2, "rows": 2}]},
    {"levels": [{"columns": 16, "letters": 2, "rows": 2}]},
    {"levels": [{"columns": 12, "letters": 2, "rows": 1}]},
    {"levels": [{"columns": 16, "letters": 2, "rows": 1, "more": 1}]},
    {"levels": [{"columns": 16, "letters": 2, "rows": True}]},
    {"levels": [{"columns": 4, "letters": 1, "rows": 1}, {"columns": 1 << 21, "letters": 2, "rows": 4}]},
    {"levels": [{"columns": 4, "letters": 1, "rows": 1}, {"columns": 4, "letters": 1, "rows": 4}]},
    {"kind": "word"},
    {"more": 1},
]


@pytest.mark.parametrize("change", CHANGES, ids=ascii)
def test_domains_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    assert domain_of(PADDED.record()) == PADDED
    with pytest.raises(Invalid):
        domain_of(PADDED.record() | change)


def levels_fit_in_what_is_allowed() -> None:
    """Whatever the alphabet and length, the rule gives levels that can be searched and counted."""
    for size in (2, 26, 63, 1000, 65_535):
        alphabet = "".join(chr(point) for point in range(33, 33 + size + 2048) if not 0xD800 <= point < 0xE000)[:size]
        for length in (1, 10, 256):
            for shortest in {1, length}:
                domain = Words.new(alphabet, length, shortest=shortest)
                assert sum(level.cells for level in domain.levels) <= 1 << 22
                assert domain.levels[0].columns < 2 * domain.spelling.base ** domain.levels[0].letters
    assert [level.letters for level in Words.new("01", 44, shortest=44).levels] == [20, 32, 44]
    assert [level.letters for level in Words.new("01", 44, shortest=44, chunk=8).levels] == [20, 28, 36, 44]


def test_levels_fit_in_what_is_allowed() -> None:
    levels_fit_in_what_is_allowed()


@pytest.mark.parametrize("length", [0, 257, "3", 2.0])
def test_lengths_that_cannot_be_are_refused(length: object) -> None:
    with pytest.raises(Invalid):
        Words.new("ab", length)  # type: ignore[arg-type]


def test_what_is_too_large_to_write_down_is_refused() -> None:
    with pytest.raises(Invalid, match="too many reports"):
        PrefixResponse(Words.new("abc", 20), 1).channel()
    with pytest.raises(Invalid, match="too many chances"):
        PrefixResponse(words("abcdefgh", 5, (1, 1, 8), (5, 8, 4)), 1).channel()
