"""The laws that exact noise must keep, each a function that raises AssertionError when it is broken.

They are run by the tests on sound code, and by tests/mutants on code with a planted bug.
"""

from collections.abc import Callable
from fractions import Fraction
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, ndtri

from discreet.noise import envelope, shape
from discreet.noise.source import Source
from discreet.noise.table import BUCKET_BITS, SamplerTable, sampler_table
from tests.noise.oracle import Case, ball, contains

ALPHA = 1e-6
"""False-alarm rate of every statistical law, each time it is run."""

ONES = (1 << 64) - 1
EVERY_BUCKET = np.arange(1 << BUCKET_BITS, dtype=np.uint16)


def tiny(case: Case, unit_bits: int, per_scale: int = 64, reach: Fraction | None = None) -> SamplerTable:
    """The real table over few units, with tails that begin near enough to be seen."""
    with mock.patch.object(shape, "TAIL", reach or Fraction(5)):
        return sampler_table.__wrapped__(case.shape, per_scale, unit_bits)


class Enumerated:
    """What one round of the vector code makes of every unit, with all coins of acceptance set by hand."""

    def __init__(self, made: SamplerTable, heads: bool) -> None:
        self.counts: dict[int, int] = {}
        self.rejected = 0
        rest = made.unit_bits - BUCKET_BITS
        sure = {int(u): 1 << rest for u in EVERY_BUCKET if u < made.cut}
        late = EVERY_BUCKET[made.cut :]
        lows = np.arange(1 << rest, dtype=np.uint64) << np.uint64(64 - rest)
        source = Hands(heads)
        self._round(made, np.array(list(sure), np.uint16), None, 1 << rest, source)
        self._round(made, np.repeat(late, lows.size), np.tile(lows, late.size), 1, source)

    def _round(
        self,
        made: SamplerTable,
        first: NDArray[np.uint16],
        lows: NDArray[np.uint64] | None,
        weight: int,
        source: "Hands",
    ) -> None:
        for begin in range(0, first.size, 65_536):
            piece = first[begin : begin + 65_536]
            words = np.zeros(piece.size if made.block_bits else 0, np.uint64)
            source.script([np.concatenate([words.view(np.uint8), piece.view(np.uint8)])])
            if lows is not None:
                source.script([lows[begin : begin + 65_536]])
            out = np.empty(piece.size, np.int64)
            room = envelope.Room(out.size, made)
            envelope.propose(made, out, 0, source, room)
            rejected = envelope.settle(made, out, room.collected(), source)
            self.rejected += weight * rejected.size
            for value, count in zip(*np.unique(np.delete(out, rejected), return_counts=True), strict=True):
                self.counts[int(value)] = self.counts.get(int(value), 0) + weight * int(count)


class Hands:
    """Plays scripted arrays; acceptance coins (64 bits at a time) all come up heads or all tails; the rest is zeros and ones by turns."""

    private = False

    def __init__(self, heads: bool) -> None:
        self.word = 0 if heads else ONES
        self.fills: list[NDArray[np.uint8]] = []
        self.stock: dict[object, object] = {}
        self.turn = 0

    def script(self, arrays: list[NDArray[np.generic]]) -> None:
        self.fills += [array.view(np.uint8) for array in arrays]

    def fill(self, out: NDArray[np.uint8]) -> None:
        if not out.size:
            return
        out[:] = self.fills.pop(0)

    def bits(self, count: int) -> int:
        if count >= 64:
            return self.word
        self.turn ^= 1
        return self.turn * ((1 << count) - 1)


def units_are_owned_as_they_should(case: Case, unit_bits: int) -> None:
    """w = 1, all 2^unit_bits units: x comes up for floor(S f(x)) of them, and for one more with the chance that is missing."""
    made = tiny(case, unit_bits)
    if made.block_bits:
        raise ValueError("this law is for scales with blocks of one point")
    tails, heads = Enumerated(made, heads=False), Enumerated(made, heads=True)
    multiplier = ball(made.multiplier)
    points = [x for x in range(-made.blocks, made.blocks) if x >= 0 or case.shape.two_sided]
    for x in points:
        full, all_units = tails.counts.get(x, 0), heads.counts.get(x, 0)
        certain = x == 0  # S f(0) = S is whole: its last unit has chance 1
        assert all_units == full + 1 - certain, f"{case}: {all_units - full} last units at {x}"
        assert contains(all_units - 1, all_units, multiplier * case.weight(x)), f"{case}: {all_units} units at {x}"
    assert set(tails.counts) <= set(points), f"{case}: a value outside the blocks came up for certain"
    beyond = {x: n for x, n in heads.counts.items() if x not in points}
    for right in (True, False) if case.shape.two_sided else (True,):
        start = made.blocks if right else made.blocks + 1
        units = sum(n for x, n in beyond.items() if (x > 0) == right)
        mass = multiplier * tail_mass(case, start)
        assert contains(units - 1, units, mass), f"{case}: {units} units in a tail from {start}"
        first = min(abs(x) for x in beyond if (x > 0) == right)
        assert first == start, f"{case}: the tail begins at {first}, not {start}"
    assert sum(heads.counts.values()) + heads.rejected == 1 << unit_bits
    last_units_have_their_chance(case, made)


def tail_mass(case: Case, start: int) -> object:
    """f(start) / (1 − e^-lam), lam the slope of the exponent at start: what the tail's envelope adds up to."""
    slope = Fraction(start) / case.scale**2 if case.kind == "gaussian" else 1 / case.scale
    return case.weight(start) / (1 - (-ball(slope)).exp())


def last_units_have_their_chance(case: Case, made: SamplerTable) -> None:
    """w = 1: the last unit of x is accepted when V is just below S f(x) − floor(S f(x)), and rejected just above."""
    rest = made.unit_bits - BUCKET_BITS
    for owner in range(0, made.block_owners, max(1, made.block_owners // 12)):
        x = owner if owner < made.blocks else made.blocks - 1 - owner
        chance = ball(made.multiplier) * case.weight(x) - (made.owned[owner] - 1)
        edge = int((chance * ball(1 << 64)).floor().unique_fmpz())
        unit = int(made.ends[owner]) - 1
        first = np.array([made.cut + (unit >> rest)], np.uint16)
        low = np.array([(unit & ((1 << rest) - 1)) << (64 - rest)], np.uint64)
        for word, accepted in ((edge - 2, True), (edge + 2, False)):
            if not 0 <= word <= ONES:
                continue
            source = Hands(True)
            source.word = word
            source.script([low])
            out = np.empty(1, np.int64)
            undecided = envelope.Open(np.zeros(1, np.intp), first, envelope.NO_WORDS)
            rejected = envelope.settle(made, out, undecided, source)
            assert (rejected.size == 0) == accepted, f"{case}: the last unit of {x} at V = {word}"
            assert rejected.size or out[0] == x


def blocks_are_owned_as_they_should(case: Case, unit_bits: int, per_scale: int) -> None:
    """w > 1, all 2^unit_bits units with V = 0: block j comes up for ceil(S f(top)) of them, through its first point."""
    made = tiny(case, unit_bits, per_scale)
    if not made.block_bits:
        raise ValueError("this law is for scales with blocks of several points")
    counts = Enumerated(made, heads=True).counts
    width = made.width
    for block in range(-made.blocks if case.shape.two_sided else 0, made.blocks):
        top = block * width if block >= 0 else block * width + width - 1
        units = counts.pop(block * width, 0)
        assert contains(units - 1, units, ball(made.multiplier) * case.weight(top)), f"{case}: block {block}"
    for x in counts:
        start = made.blocks * width + (x < 0)
        assert abs(x) >= start, f"{case}: {x} came up, which is in no block and no tail"


def tails_have_their_chance(case: Case, unit_bits: int = 64, per_scale: int = 64) -> None:
    """S H/B is what the tail's coin says, so that the point start + y comes up for S f(start + y)/w units."""
    made = tiny(case, unit_bits, per_scale)
    for side in range(2 if case.shape.two_sided else 1):
        owner = made.block_owners + side
        start = made.blocks * made.width + side
        lo, hi = made.accept_tail(owner)(80)
        truth = ball(made.multiplier) * tail_mass(case, start) / made.width / made.owned[owner] * ball(1 << 80)
        assert contains(lo, hi, truth) and hi - lo <= 4, f"{case}: the tail from {start}"
        edge = int((truth / ball(1 << 16)).floor().unique_fmpz())
        for word, entered in ((edge - 2, True), (edge + 2, False)):
            if 0 <= word <= ONES:
                source = Hands(True)
                source.word = word
                assert (envelope.tail(made, owner, source) is not None) == entered, f"{case}: the tail at V = {word}"


def filter_agrees_with_integers(case: Case, per_scale: int, source: Source, count: int) -> int:
    """w > 1: limit and float filter say of every proposal what integers say of it, on the same bits. Returns how many were compared."""
    made = sampler_table(case.shape, per_scale)
    rng = np.empty(count, np.uint64)
    source.fill(rng.view(np.uint8))
    blocks = np.empty(2 * count, np.uint16)
    source.fill(blocks.view(np.uint8))
    # Half the words as they come; half moved next to the edge of acceptance, where a wrong decision would hide.
    first = blocks[:count]
    first[first >= made.cut] %= made.cut
    x = (made.bucket[first].astype(np.int64) << made.block_bits) + (rng & np.uint64(made.width - 1)).view(np.int64)
    low = rng & np.uint64(made.width - 1)
    for at in range(0, count, 2):
        rng[at] = near_the_edge(made, int(x[at]), int(low[at]), int(blocks[count + at]))
    gap = envelope.closeness(made, x, rng)
    below_limit = rng < made.filter.limit
    for at in range(count):
        truth = exactly_accepted(made, int(x[at]), int(rng[at]))
        if truth is None:  # the digits at hand do not tell; then the filter must not claim to know
            assert not below_limit[at] and abs(gap[at]) < made.filter.band, f"{case}: {x[at]} decided too early"
            continue
        assert truth or not below_limit[at], f"{case}: {x[at]} accepted below the limit"
        assert abs(gap[at]) < made.filter.band or truth == (gap[at] > 0), f"{case}: {x[at]} by the filter"
    return count


def near_the_edge(made: SamplerTable, x: int, low: int, spread: int) -> int:
    """An acceptance word with the same low bits whose V is within about 2^-40 … 2^-20 of S f(x)/B."""
    b = made.block_bits
    lo, _ = made.accept_point(x, x >> b)(64 - b)
    distance = (spread >> 5) << max(0, 24 - b - (spread & 15)) if spread & 16 else (spread >> 5)
    digits = lo + distance if spread & 32 else lo - distance
    return (min(max(digits, 0), (1 << (64 - b)) - 1) << b) | low


def exactly_accepted(made: SamplerTable, x: int, word: int) -> bool | None:
    """Whether V < S f(x)/B by brackets, or None when the digits of the word do not tell."""
    b = made.block_bits
    digits = word >> b
    lo, hi = made.accept_point(x, x >> b)(64 - b)
    return True if digits + 1 <= lo else False if digits >= hi else None


def points_have_their_chance(case: Case, per_scale: int) -> None:
    """w > 1: S f(x)/B by brackets is what the textbook says, and the limit is below all of them in every bucketed block."""
    made = sampler_table(case.shape, per_scale)
    b, width = made.block_bits, made.width
    bucketed = sorted({int(j) for j in made.bucket[: made.cut]})
    for block in {bucketed[0], bucketed[-1], 0, -1 if case.shape.two_sided else 0, bucketed[len(bucketed) // 3]}:
        owner = block if block >= 0 else made.blocks - 1 - block
        for x in {block * width, block * width + width - 1, block * width + width // 3}:
            truth = ball(made.multiplier) * case.weight(x) / made.owned[owner]
            lo, hi = made.accept_point(x, block)(100)
            assert contains(lo, hi, truth * ball(1 << 100)) and hi - lo <= 4, f"{case}: chance of {x}"
            assert truth <= 1, f"{case}: chance of {x} above 1"
            assert ball(Fraction(int(made.filter.limit), 1 << 64)) <= truth, f"{case}: limit above the chance of {x}"
        assert made.owned[owner] >= 1 and made.width == 1 << b


def fits(case: Case, draw: Callable[[int], NDArray[np.int64]], count: int, cells: int = 48) -> float:
    """Chi-square of drawn counts against exact cell probabilities; AssertionError below ALPHA. Returns the p-value.

    Power: with n samples a cell of probability p that is off by a relative r adds n p r² to the statistic; 99 % power at
    ALPHA and 48 cells needs about 85 in all. So at n = 200,000 a relative error of 3 % in half of the mass is seen.
    """
    edges, chances = cells_of(case, cells, count)
    values = draw(count)
    observed = np.bincount(np.searchsorted(edges, values, "right"), minlength=len(chances))
    expected = count * np.array(chances)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    p = float(chdtrc(max(1, len(chances) - 1), statistic))
    assert p > ALPHA, f"{case}: chi-square {statistic:.1f} in {len(chances)} cells, p = {p:.2g}"
    return p


def cells_of(case: Case, cells: int, count: int) -> tuple[NDArray[np.int64], list[float]]:
    """Edges e_0 < e_1 < … and P(x < e_0), P(e_0 <= x < e_1), …, P(x >= last); every cell expects at least 10 of `count`."""
    quantiles = [(i + 0.5) / cells for i in range(cells)]
    quantiles += [20 / count, 60 / count, 1 - 20 / count, 1 - 60 / count]
    edges = sorted({quantile(case, q) for q in quantiles})
    cumulative = [0.0, *(below(case, edge) for edge in edges), 1.0]
    kept_edges: list[int] = []
    chances: list[float] = []
    start = 0.0
    for edge, upto in zip(edges, cumulative[1:-1], strict=True):
        if (upto - start) * count >= 10 and (1 - upto) * count >= 10:
            kept_edges.append(edge)
            chances.append(upto - start)
            start = upto
    return np.array(kept_edges, np.int64), [*chances, 1 - start]


def quantile(case: Case, q: float) -> int:
    """About the q-quantile; where exactly the edge lies does not matter."""
    s = float(case.scale)
    if case.kind == "gaussian":
        return round(s * float(ndtri(q)))
    if case.kind == "geometric":
        return round(-s * float(np.log1p(-q)))
    return round(-s * float(np.log(2 * (1 - q)))) if q > 0.5 else round(s * float(np.log(2 * q)))


def below(case: Case, edge: int) -> float:
    """P(x < edge), to 1e-7 and better."""
    s = float(case.scale)
    if case.kind == "geometric":
        return float(-np.expm1(-edge / s)) if edge > 0 else 0.0
    if case.kind == "laplace":
        a = float(np.exp(-1 / s))
        tail = float(np.exp(-abs(edge) / s)) / (1 + a)  # P(x >= edge), edge > 0
        return 1 - tail if edge > 0 else a * float(np.exp(edge / s)) / (1 + a) if edge < 0 else a / (1 + a)
    if case.scale > 400:  # midpoint rule: the error is of order 1/scale²
        return float(ndtr((edge - 0.5) / s))
    reach = int(14 * s) + 14
    xs = np.arange(-reach, reach + 1)
    weights = np.exp(-((xs / s) ** 2) / 2)
    return float(weights[xs < edge].sum() / weights.sum())
