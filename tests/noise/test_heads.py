"""Heads among many coins are drawn by gaps, exactly: the table by rational arithmetic, its edges digit by digit, the rest by counts.

Statistical tests draw from the operating system and raise a false alarm with probability ALPHA each.
"""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import chdtrc

from discreet.errors import Invalid
from discreet.noise import heads as module
from discreet.noise.bernoulli import Coin
from discreet.noise.heads import FEW, FEWEST, UNDECIDED, GapTable, _gaps, gap_table, heads
from discreet.noise.source import Tape
from tests.noise.scripted import Scripted
from tests.scale import repeats

ALPHA = 1e-6
CHANCES = (F(1, 8), F(1, 20), F(1024, 100_000), F(1, 3000))


def below(p: F, k: int) -> F:
    """P(G <= k)."""
    return 1 - (1 - p) ** (k + 1)


@pytest.mark.parametrize("p", CHANCES[:3])
def test_brackets_hold_the_exact_chances(p: F) -> None:
    brackets_hold(p)


def brackets_hold(p: F = CHANCES[1]) -> None:
    table = gap_table(p)
    for k in range(0, table.reach, max(1, table.reach // 60)):
        scaled = below(p, k) * (1 << 64)
        assert int(table.low[k]) <= scaled <= int(table.high[k + 1]) <= int(table.low[k]) + 1


@pytest.mark.parametrize("p", CHANCES)
def test_what_sixteen_digits_settle_is_settled(p: F) -> None:
    sixteen_digits_settle(p)


def sixteen_digits_settle(p: F = CHANCES[1]) -> None:
    """For every first word: all V that begin with it have the gap of the table, or the table leaves them open, which is rare."""
    table, unit = gap_table(p), 1 << 48
    for word in range(0, 1 << 16, 7):
        gap = int(table.gap[word])
        if gap == UNDECIDED:
            continue
        if gap < table.reach:
            assert int(table.low[gap]) >= (word + 1) * unit
        if gap:
            assert int(table.high[gap]) <= word * unit
    assert float((table.gap == UNDECIDED).mean()) < 0.25


def test_ties_are_decided_digit_by_digit() -> None:
    ties_are_decided()


def ties_are_decided() -> None:
    """A V whose first 64 digits are those of F(k) lies below F(k) or not by the digits that follow."""
    p = F(1, 20)
    table = gap_table(p)
    for k in (0, 1, 7, 100):
        word, scaled = int(table.low[k]), below(p, k) * (1 << 64)
        rest = int((scaled - word) * (1 << 64))
        for digits, gap in ((rest - 1, k), (rest + 1, k + 1)):
            source = Scripted(integers=[digits])
            assert table.settled(np.array([word], np.uint64), source).tolist() == [gap]
        assert table.settled(np.array([word - 1, word + 1], np.uint64), Scripted()).tolist() == [k, k + 1]


def test_digits_tell_gaps_apart() -> None:
    digits_tell_gaps_apart()


def digits_tell_gaps_apart() -> None:
    """A V of 64 digits ties with one chance of a table at most; of a probability for which it could not, each coin is drawn by itself."""
    for p in (FEW, CHANCES[-1], FEWEST):
        table = gap_table(p)
        assert int(np.diff(table.low).min()) > 2 and int(np.diff(table.high).min()) > 2
    assert isinstance(module._way(FEWEST), GapTable)
    for p in (FEWEST - F(1, 1 << 70), F(1, 1 << 70), F(1, 1 << 2000)):
        assert isinstance(module._way(p), Coin) and not heads(p, 1000).size


def test_gaps_beyond_the_table_go_on_from_there() -> None:
    beyond_goes_on()


def beyond_goes_on() -> None:
    """Two words beyond the table, then gaps of 0 and of 3: heads are behind twice the reach."""
    table = gap_table(F(1, 8))
    settled = np.where(table.gap == UNDECIDED, table.reach, table.gap).astype(np.int16)
    beyond, three = 0xFFFF, int(np.flatnonzero(table.gap == 3)[0])

    class Words(Scripted):
        def fill(self, out: NDArray[np.uint8]) -> None:
            played = np.full(out.size // 2, beyond, np.uint16)
            played[:4] = beyond, beyond, 0, three
            out[:] = played.view(np.uint8)

    found = module._by_gaps(replace(table, gap=settled), 2 * table.reach + 5, Words())
    assert found.tolist() == [2 * table.reach, 2 * table.reach + 4]


@settings(max_examples=60)
@given(st.integers(0, 300), st.fractions(0, 1), st.integers(0, 10**6))
def test_heads_are_numbers_of_coins_in_their_order(among: int, p: F, seed: int) -> None:
    found = heads(p, among, source=Tape(seed))
    assert found.dtype == np.int64 and bool((np.diff(found) > 0).all())
    assert not found.size or (found[0] >= 0 and found[-1] < among)
    assert found.size == among if p == 1 else (not found.size or p > 0)


@pytest.mark.parametrize(("p", "reach"), [(F(1, 8), None), (F(1, 8), 2), (F(1, 11), 1), (F(1, 3), None)])
def test_coins_are_independent(p: F, reach: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    coins_are_independent(p, reach)


def coins_are_independent(p: F = F(1, 8), reach: int | None = 2) -> None:
    """Which of six coins show heads: all 64 patterns by chi-square, also with a table that ends after two gaps.

    With 40,000 draws a pattern of chance 1/100 that came up a tenth more often would be found with 98 %."""
    draws = repeats(40_000)
    table = gap_table(p) if p <= FEW else None
    if reach is not None:
        assert table is not None
        table = _short(table, reach)
    counts = np.zeros(64)
    for _ in range(draws):
        found = heads(p, 6) if reach is None else module._by_gaps(table, 6, module.chosen(None))  # type: ignore[arg-type]
        counts[int((1 << found).sum())] += 1
    size = np.array([bin(pattern).count("1") for pattern in range(64)])
    expected = float(p) ** size * float(1 - p) ** (6 - size) * draws
    large = expected >= 5
    statistic = ((counts - expected)[large] ** 2 / expected[large]).sum()
    rest = expected[~large].sum()
    freedom = int(large.sum()) - 1
    if rest >= 5:
        statistic += (counts[~large].sum() - rest) ** 2 / rest
        freedom += 1
    assert chdtrc(freedom, statistic) > ALPHA


def _short(table: GapTable, reach: int) -> GapTable:
    """A table that ends after so many gaps: what was beyond them is beyond the table."""
    gap = np.where(table.gap >= reach, reach, table.gap)
    ties = table.gap == UNDECIDED
    first = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    gap[ties & (first >= table.high[reach])] = reach
    return GapTable(table.p, gap.astype(np.int16), table.low[:reach], table.high[: reach + 1], table.often)


def test_the_number_of_heads_is_binomial() -> None:
    """At a rate of training runs, by mean and variance of 2,000 draws, each within six standard errors (2e-9)."""
    p, among, draws = F(1024, 100_000), 100_000, repeats(2_000)
    sizes = np.array([heads(p, among).size for _ in range(draws)])
    variance = among * float(p * (1 - p))
    assert abs(sizes.mean() - 1024) < 6 * (variance / draws) ** 0.5
    assert abs(sizes.var() / variance - 1) < 6 * (2 / draws) ** 0.5


def test_gaps_have_their_chances() -> None:
    gaps_have_their_chances()


def gaps_have_their_chances() -> None:
    table = gap_table(F(1, 20))
    draws = repeats(200_000)
    counts = np.bincount(_gaps(table, draws, module.chosen(None)), minlength=table.reach + 1)
    expected = np.array([float(table.p * (1 - table.p) ** k) for k in range(60)]) * draws
    statistic = ((counts[:60] - expected) ** 2 / expected).sum()
    rest = float((1 - table.p) ** 60) * draws
    statistic += (counts[60:].sum() - rest) ** 2 / rest
    assert chdtrc(60, statistic) > ALPHA


@pytest.mark.parametrize(("p", "among"), [(-1, 3), (2, 3), (float("nan"), 3), ("1/2", 3), (0.5, -1), (0.5, 1.5)])
def test_anything_else_is_refused(p: object, among: object) -> None:
    with pytest.raises(Invalid):
        heads(p, among)  # type: ignore[arg-type]
