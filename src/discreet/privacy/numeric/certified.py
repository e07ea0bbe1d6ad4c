"""Certified bounds on ε(δ): a lattice that dominates every part, and one that every part dominates.

**Above.** In each cell of a lattice of losses the probability of a part is moved to the two ends of the cell such that its mass
under P and under Q stay what they are. The new δ(ε) meets the old one at the ends, and joins them by straight lines in e^ε, so
it is nowhere below: connect the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, algorithm 1). What lies above the
last cell counts as open failure, what lies below the first is left out, and what that may change is added.

**Below.** Where G is at least the largest distance between such a line and the curve of its cell, the lines between
δ − max(G of the cells on both sides) lie nowhere above the curve; their greatest convex minorant belongs to a pair that the
part dominates. What lies outside all cells is dropped.

**Composition.** A larger curve of one part never makes δ of a composition smaller (Zhu, Dong and Wang 2022, theorem 10), and
lattices of one step compose on a lattice: a Fourier transform of each part tilted by e^(cL), the product of their powers, and
one transform back. The tilt keeps what matters near 1, so rounding is relative to δ, at any δ. What wraps around and
what was left out is bounded by Markov's inequality, rounding by the error of a transform; both are added outward.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import ceil, exp, expm1, inf, log, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.numeric.side import Side
from discreet.privacy.numeric.unresolved import Unresolved

Reals = NDArray[np.float64]
UNIT = float(np.finfo(np.float64).eps)
# Of one part, and of the composition: a transform of a million points takes a few hundredths of a second.
MOST_CELLS = 1 << 20
# Of one part, where that is cheap, and where it is not.
FEW_CELLS, LEAST_CELLS = 1 << 12, 1 << 8
# A precision for which few cells do.
ROUGH = 1e-3
# Above it e^loss, squared with its weight, is no float.
MOST_LOSS = 600.0
# Of δ: what all losses above the last cells may add to it. It is charged, so that a larger one is sound, and wider.
CUT_OFF = 1e-11
# ln of the tilted probability below the first cell, and outside the window of the composition: e^-27 is 2e-12. It is charged, too.
LEFT_OUT = -27.0
# For a logarithm of 0: any that is far below e^NOTHING_LEFT.
NO_LESS = 1e-200
# ln of a transform that is taken for 0, which is charged.
NOTHING_LEFT = -60.0
# Of c·(loss − middle): farther out exponentials are cut off, and nothing is read from a curve.
MOST_AWAY = 600.0
# Relative, of a loss: a few roundings.
ROUNDED = 32 * UNIT
# Relative, of one weight: a few roundings, and the error of the quadrature.
WEIGHT_ERROR = 64 * UNIT
WINDOWS = (
    7.4,
    3.7,
    1.8,
    0.9,
    0.4,
    0.2,
    0.1,
    0.05,
)  # tilts tried for the window, in standard deviations; √(−2·LEFT_OUT) is a Gaussian's


@dataclass(frozen=True, slots=True)
class Part:
    """P(loss = offset + step·(first + i)) = p[i], and what fails openly."""

    offset: float
    first: int
    p: Reals
    failure: float = 0.0


class Cells:
    """The loss of one side, cell by cell.

    Above the last cell lies at most `tiny`, which counts as open failure. Below the first one lies at most e^log_low of the
    probability tilted by c; it is left out, and `Composition` adds what that may change.
    """

    def __init__(self, side: Side, step: float, c: float, tiny: float, log_low: float) -> None:
        self.step = step
        low = side.low_end(c, log_low)
        high = side.high_end(0.0, log(tiny))
        if not max(-low, high) < MOST_LOSS:
            raise Unresolved
        anchor = next((x for x in (side.largest, side.least) if abs(x) < inf), side.middle)
        self.offset = anchor - step * round(anchor / step)
        self._near = ROUNDED * (max(abs(low), abs(high)) + step) / step  # losses that close to a point lie on it
        self.first = int(np.floor((low - self.offset) / step + self._near))
        self.count = max(1, int(np.ceil((high - self.offset) / step - self._near)) - self.first)
        if not self.count < MOST_CELLS or self._near > 0.01:
            raise Unresolved
        self._fill(side)
        self._failure = side.cut_off + (tiny if high < side.largest else 0.0)

    def above(self) -> Part:
        """A part that dominates this one."""
        return Part(self.offset, self.first, self.masses, self._failure)

    def below(self) -> Part:
        """A part that this one dominates."""
        return Part(self.offset, self.first, self._masses_below())

    def _fill(self, side: Side) -> None:
        """Split every point between the ends of its cell: for x = e^loss between a and b the share of b is (1 − a/x)/(1 − a/b).

        The distance between the line that joins the ends and the curve of one point is (x − a)(b − x)/((b − a) x), at x.
        """
        losses, log_p = self._points(side)
        place = (losses - self.offset) / self.step - self.first
        kept = (place >= -self._near) & (place <= self.count + self._near)
        place, p = place[kept], np.exp(log_p[kept])
        cell = np.clip(np.floor(place + self._near), 0, self.count - 1).astype(np.int64)
        up = np.clip(place - cell, 0.0, 1.0)
        up = np.where(up <= 2 * self._near, 0.0, np.where(up >= 1 - 2 * self._near, 1.0, up)) * self.step
        share = np.expm1(-up) / expm1(-self.step)
        n = self.count + 1
        self.masses = _binned(cell, p * (1 - share), n) + _binned(cell + 1, p * share, n)
        self.gaps = _binned(cell, p * share * -np.expm1(up - self.step), self.count)
        self.rounded_down = _binned(cell + (up == self.step), p, n)
        self.bottom = float(p[(cell == 0) & (up == 0)].sum())
        self.top = float(p[(cell == self.count - 1) & (up == self.step)].sum())

    def _points(self, side: Side) -> tuple[Reals, Reals]:
        found = [side.points] if side.points is not None else []
        if side.density is not None:
            found.append(side.density(self._losses()))
        return np.concatenate([part.losses for part in found]), np.concatenate([part.log_p for part in found])

    def _masses_below(self) -> Reals:
        """The masses of a convex curve with corners on the lattice that lies nowhere above δ.

        Mostly δ less the gap of the cells on both sides. From the left it starts along the line that δ itself starts with, and on the
        right it ends along the line that δ ends with, until they are below by as much.
        """
        if not self.gaps.any():
            return self.masses
        if self.count == 1:
            return self.rounded_down
        gap = np.zeros(self.count + 1)
        gap[1:-1] = np.maximum(self.gaps[:-1], self.gaps[1:])
        gap = self._from_left(self._from_right(gap))
        if gap[-1]:  # the line from the left never left enough room: every loss is rounded down instead
            return self.rounded_down
        fall = -np.diff(gap)
        below = self.masses.copy()
        below[1:] -= fall / -expm1(-self.step)  # γ times the change of slope, on the left and on the right of a point
        below[:-1] += fall / expm1(self.step)
        return below if below.min() >= 0 else self._hull(gap)

    def _losses(self) -> Reals:
        return self.offset + self.step * np.arange(self.first, self.first + self.count + 1, dtype=np.float64)

    def _gamma(self) -> Reals:
        gamma: Reals = np.exp(self._losses())
        return gamma

    def _from_left(self, gap: Reals) -> Reals:
        """δ over the line that it starts with is Σ q (γ − x) over x below γ, but for what lies at the first point itself."""
        gamma = self._gamma()
        q = self.masses / gamma
        q[0] = max(0.0, self.masses[0] - self.bottom) / gamma[0]
        over = np.concatenate([[0.0], np.cumsum(np.cumsum(q[:-1]) * np.diff(gamma))])
        enough = over[1:-1] >= gap[1:-1]
        until = 1 + int(np.argmax(enough)) if enough.any() else self.count
        return np.concatenate([over[: until + 1], gap[until + 1 :]])

    def _from_right(self, gap: Reals) -> Reals:
        """What the gap is from the right: Σ q (x − γ) over x above γ."""
        gamma = self._gamma()
        q = self.masses / gamma
        q[-1] = max(0.0, self.masses[-1] - self.top) / gamma[-1]
        over = np.append(np.cumsum((np.cumsum(q[:0:-1])[::-1] * np.diff(gamma))[::-1])[::-1], 0.0)
        enough = over[1:-1] >= gap[1:-1]
        since = self.count - 1 - int(np.argmax(enough[::-1])) if enough.any() else 0
        return np.concatenate([gap[:since], over[since:]])

    def _hull(self, gap: Reals) -> Reals:
        """The greatest convex minorant of δ − gap: its slopes are the isotonic regression of the slopes."""
        gamma = self._gamma()
        lengths = np.diff(gamma)
        q_above = np.cumsum((self.masses / gamma)[::-1])[::-1]
        delta = np.append(np.cumsum((q_above[1:] * lengths)[::-1])[::-1], 0.0)
        if float((delta - gap).min()) < 0:
            return self.rounded_down
        slopes = np.concatenate([q_above[:1], q_above[1:] + np.diff(gap) / lengths])
        fitted = np.append(np.maximum(_falling(slopes, np.concatenate([gamma[:1], lengths])), 0.0), 0.0)
        below: Reals = np.maximum(0.0, gamma * (fitted[:-1] * (1 - 8 * UNIT) - fitted[1:]))
        return below


def _binned(cell: NDArray[np.int64], weights: Reals, size: int) -> Reals:
    return np.bincount(cell, weights, size).astype(np.float64)


def _falling(values: Reals, weights: Reals) -> Reals:
    """The non-increasing sequence nearest to the values: neighbours out of order are replaced by their mean."""
    if not (np.diff(values) > 0).any():
        return values
    means: list[float] = []
    heavy: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        size = 1
        while means and means[-1] < value:
            other, more = means.pop(), heavy.pop()
            value, weight, size = (value * weight + other * more) / (weight + more), weight + more, size + sizes.pop()
        means.append(value)
        heavy.append(weight)
        sizes.append(size)
    fitted: Reals = np.repeat(np.array(means), sizes)
    return fitted


class Composition:
    """Parts on lattices of one step, composed: δ(ε) near the tilt c, with a bound of all that is uncertain in it."""

    def __init__(self, parts: Sequence[tuple[Part, int]], step: float, c: float) -> None:
        self.step, self.c = step, c
        tilted = [self._tilted(part) for part, _ in parts]
        counts = [n for _, n in parts]
        self.failure = sum(n * part.failure for part, n in parts)
        self.log_scale = sum(n * scale for n, (_, scale) in zip(counts, tilted, strict=True))
        start = sum((n * (Fraction(part.offset) + part.first * Fraction(step)) for part, n in parts), Fraction(0))
        uses = float(sum(counts))
        self.shift = float(4 * ROUNDED * uses * self._farthest(parts))  # rounding of the losses themselves
        self.relative = uses * WEIGHT_ERROR + c * self.shift
        if not self.relative < 0.1:
            raise Unresolved
        low, high = self._window([w for w, _ in tilted], counts)
        if not (abs(low) < inf and abs(high) < inf):
            raise Unresolved
        self.size = _even_size(max(8.0, (high - low) / step + 2))
        if self.size > MOST_CELLS:
            raise Unresolved
        first = int(low // step)
        self.start = float(start + first * Fraction(step))
        self._compose([w for w, _ in tilted], counts, first)

    def _farthest(self, parts: Sequence[tuple[Part, int]]) -> float:
        return max(
            abs(part.offset + self.step * i) for part, _ in parts for i in (part.first, part.first + part.p.size)
        )

    def _tilted(self, part: Part) -> tuple[Reals, float]:
        """p e^(c·loss), loss counted from the first point, scaled to 1; and ln of the scale."""
        if not (part.p >= 0).all():
            raise Unresolved
        exponent = self.c * self.step * np.arange(part.p.size)
        with np.errstate(divide="ignore"):
            log_w = np.log(part.p) + exponent
        top = float(log_w.max())
        if top == -inf:
            raise Unresolved
        weight = np.exp(log_w - top)
        total = float(weight.sum())
        return weight / total, top + log(total) + self.c * (part.offset + self.step * part.first)

    def _window(self, weights: Sequence[Reals], counts: Sequence[int]) -> tuple[float, float]:
        """Between these sums, counted from the sum of all first points, lies all but 2e^LEFT_OUT: Markov's inequality."""
        places = [self.step * np.arange(w.size, dtype=np.float64) for w in weights]
        means = [float((w * x).sum()) for w, x in zip(weights, places, strict=True)]
        squares = [float((w * (x - mean) ** 2).sum()) for w, x, mean in zip(weights, places, means, strict=True)]
        deviation = sqrt(sum(n * square for n, square in zip(counts, squares, strict=True)))
        ends = []
        for sign in (-1, 1):
            best = sign * inf
            for d in (sign * factor / max(deviation, self.step) for factor in WINDOWS):
                k = sum(n * _log_mean_exp(w, d * x) for n, w, x in zip(counts, weights, places, strict=True))
                if sign * (k - LEFT_OUT) / d > sign * best:
                    break
                best = (k - LEFT_OUT) / d
            ends.append(best)
        most = sum(n * float(x[-1]) for n, x in zip(counts, places, strict=True))
        return max(ends[0], -self.step), min(ends[1], most + self.step)

    def _compose(self, weights: Sequence[Reals], counts: Sequence[int], first: int) -> None:
        """The product of all powers; `self.uncertain` bounds the rounding of each of the resulting probabilities.

        A transform of size N is off by at most 4·UNIT·log2(N) in the 2-norm, relative (Higham 2002, theorem 24.2).
        """
        fft_error = 4 * UNIT * log2(self.size)
        spectra = [np.fft.rfft(_folded(w, self.size), self.size) for w in weights]
        log_bound: Reals = np.zeros(self.size // 2 + 1)
        for w, n, spectrum in zip(weights, counts, spectra, strict=True):
            eta = fft_error * sqrt(self.size) * float(np.sqrt(np.square(w).sum()))
            log_bound += n * np.log(np.abs(spectrum) + eta)
        kept = log_bound > NOTHING_LEFT
        near = [np.where(spectrum[kept] == 0, NO_LESS, spectrum[kept]) for spectrum in spectra]
        log_product = sum(n * np.log(each) for n, each in zip(counts, near, strict=True))
        product = np.zeros(log_bound.size, np.complex128)
        product[kept] = np.exp(log_product)
        bound = np.exp(log_bound[kept])
        off = bound - np.abs(product[kept]) + bound * 4 * UNIT * (np.pi * sum(counts) + 1500)
        rounding = 2 * float(off.sum()) + self.size * exp(NOTHING_LEFT)
        back = fft_error * sqrt(2 * self.size) * float(np.sqrt(np.square(np.abs(product[kept])).sum()))
        self.uncertain = (rounding + back) / self.size
        self.p = np.roll(np.fft.irfft(product, self.size), -(first % self.size))

    @cached_property
    def curve(self) -> tuple[Reals, Reals, Reals, Reals]:
        """(losses, α, β, error): e^scale (α_j − e^ε β_j) is δ(ε) for ε from losses[j − 1] to losses[j], give or take the error."""
        index = np.arange(self.size, dtype=np.float64)
        away = self.step * (index - self.size // 2)
        fall = np.exp(np.clip(-self.c * away, -MOST_AWAY, MOST_AWAY))
        alpha = np.cumsum((self.p * fall)[::-1])[::-1]
        beta = np.cumsum((self.p * np.exp(np.clip(-(self.c + 1) * away, -MOST_AWAY, MOST_AWAY)))[::-1])[::-1]
        peak = exp(float(-self.c * np.log1p(1 / self.c) - np.log1p(self.c)))  # of e^-cy (1 − e^-y)
        many = 1 / (self.c * (self.c + 1) * self.step) + peak  # its sum over the lattice
        left_out = 4 * exp(LEFT_OUT) * peak  # twice what was left out, and what wraps around
        error = fall * (left_out + self.uncertain * many)
        error += 2 * self.size * UNIT * (alpha + np.exp(np.clip(away, -MOST_AWAY, MOST_AWAY)) * beta)  # of the sums
        return self.start + self.step * index, alpha, beta, error

    def read_at(self, j: int) -> None:
        """Unresolved where the curve is no longer exact: so far to the left that its exponentials were cut off."""
        if (self.c + 1) * self.step * (self.size // 2 - j) > MOST_AWAY / 2:
            raise Unresolved

    @property
    def log_unit(self) -> float:
        """ln of what α is counted in."""
        return self.log_scale - self.c * (self.start + self.step * (self.size // 2))


def _even_size(least: float) -> int:
    """2^k or 3·2^k, at least as large, and even."""
    twice = 1 << ceil(log2(least))
    return 3 * twice // 4 if 3 * twice // 4 >= least else twice


def _folded(w: Reals, size: int) -> Reals:
    """Wrapped around to a length that fits."""
    if w.size <= size:
        return w
    padded = np.concatenate([w, np.zeros(-w.size % size)])
    folded: Reals = padded.reshape(-1, size).sum(axis=0)
    return folded


def _log_mean_exp(w: Reals, x: Reals) -> float:
    top = float(np.max(x, where=w > 0, initial=-inf))
    return top + log(float((w * np.exp(np.minimum(x - top, 0.0))).sum()))


def epsilon_above(found: Composition, delta: float) -> float:
    """An ε with δ(ε) <= delta for sure; infinity where the lattice cannot tell."""
    losses, alpha, beta, error = found.curve
    wanted = _in_units(delta - found.failure, found.log_unit)
    middle = losses[found.size // 2]
    at_node = (1 + found.relative) * (alpha - np.exp(np.clip(losses - middle, -MOST_AWAY, MOST_AWAY)) * beta) + error
    if not np.isfinite(at_node).all():
        raise Unresolved
    over = np.flatnonzero(at_node > wanted)
    if delta <= found.failure or (over.size and over[-1] == found.size - 1):
        return inf
    if not over.size:
        return max(0.0, float(losses[0]) * (1 + 8 * UNIT) + found.shift)
    j = int(over[-1]) + 1
    found.read_at(j - 1)
    rest = (wanted - error[j - 1]) / (1 + found.relative)
    between = middle + log((alpha[j] - rest) / beta[j]) if beta[j] > 0 and alpha[j] > rest else losses[j]
    return max(0.0, float(min(between, losses[j])) * (1 + 8 * UNIT) + found.shift)


def epsilon_below(found: Composition, delta: float) -> float:
    """An ε >= 0 with δ(ε) >= delta for sure, or 0."""
    losses, alpha, beta, error = found.curve
    wanted = _in_units(delta, found.log_unit)
    middle = losses[found.size // 2]
    at_node = (1 - found.relative) * (alpha - np.exp(np.clip(losses - middle, -MOST_AWAY, MOST_AWAY)) * beta) - error
    over = np.flatnonzero(at_node >= wanted)
    if not over.size or over[-1] == found.size - 1:
        return 0.0
    j = int(over[-1]) + 1
    found.read_at(j - 1)
    rest = (wanted + error[j - 1]) / (1 - found.relative)
    between = middle + log((alpha[j] - rest) / beta[j]) if beta[j] > 0 and alpha[j] > rest else losses[j - 1]
    return max(0.0, float(between) * (1 - 8 * UNIT) - found.shift)


def log_delta_above(found: Composition, epsilon: float) -> float:
    """ln of a δ that is at least δ(ε)."""
    losses, alpha, beta, error = found.curve
    low = epsilon * (1 - 8 * UNIT) - found.shift
    j = int(np.searchsorted(losses, low, side="right"))
    far = abs(low - losses[found.size // 2]) * (found.c + 1) > MOST_AWAY / 2
    if not 0 < j < found.size or far:
        raise Unresolved
    found.read_at(j - 1)
    gap = alpha[j] - exp(low - losses[found.size // 2]) * beta[j]
    value = (1 + found.relative) * max(0.0, float(gap)) + float(error[j - 1])
    if not value > 0:
        raise Unresolved
    return float(np.logaddexp(log(value) + found.log_unit, log(found.failure) if found.failure else -inf))


def log_delta_below(found: Composition, epsilon: float) -> float:
    """ln of a δ that is at most δ(ε); minus infinity where the lattice cannot tell."""
    losses, alpha, beta, error = found.curve
    high = epsilon * (1 + 8 * UNIT) + found.shift
    j = int(np.searchsorted(losses, high, side="right"))
    if not 0 < j < found.size or abs(high - losses[found.size // 2]) * (found.c + 1) > MOST_AWAY / 2:
        return -inf
    found.read_at(j - 1)
    gap = alpha[j] - exp(high - losses[found.size // 2]) * beta[j]
    value = (1 - found.relative) * float(gap) - float(error[j - 1])
    return log(value) + found.log_unit if value > 0 else -inf


def _in_units(delta: float, log_unit: float) -> float:
    """δ in units of the curve; where it lies so far from its middle that the curve is no longer exact, Unresolved."""
    if delta <= 0:
        return 0.0
    if not abs(log(delta) - log_unit) < MOST_AWAY / 2:
        raise Unresolved
    return exp(log(delta) - log_unit)


class Certified:
    """Bounds for one direction of a composition near one δ: a lattice above and one below, each made when it is asked for."""

    def __init__(self, parts: Sequence[tuple[Side, int]], c: float, delta: float, steps: Sequence[float]) -> None:
        """The first of the steps that is not too fine is taken."""
        self._parts, self._c, self._steps = parts, c, steps
        uses = sum(n for _, n in parts)
        self._tiny, self._log_low = CUT_OFF * delta / uses, LEFT_OUT - log(uses)

    def above(self) -> Composition:
        return self._first_that_fits(Cells.above)

    def below(self) -> Composition:
        return self._first_that_fits(Cells.below)

    def _first_that_fits(self, which: Callable[[Cells], Part]) -> Composition:
        for step in self._steps:
            try:
                return Composition([(which(cells), n) for cells, n in self._cells(step)], step, self._c)
            except Unresolved:
                continue
        raise Unresolved

    @cache  # noqa: B019 - it lives as long as one question
    def _cells(self, step: float) -> list[tuple[Cells, int]]:
        return [(Cells(side, step, self._c, self._tiny, self._log_low), n) for side, n in self._parts]


def steps_for(
    parts: Sequence[tuple[Side, int]], c: float, epsilon: float, window: float, precision: float
) -> list[float]:
    """Steps that make the ends at most about precision·ε apart, and on which the most used part lies well; the finest first.
    `window` is how far the loss of the composition spreads.

    Splitting adds up to g²/4 to the variance of a loss, g²/6 on average, and so n(c + 1)g²/12 to ε, and as much below.
    """
    uses = sum(n for _, n in parts)
    step = sqrt(6 * precision * max(epsilon, 1e-3) / ((c + 1) * uses))
    widest = max(side.high_end(c, LEFT_OUT) - side.low_end(c, LEFT_OUT) for side, _ in parts)
    main = max(parts, key=lambda part: part[1] * (part[0].largest < inf and part[0].least > -inf))[0]
    width = float(main.atoms.step) if main.atoms is not None else main.largest - main.least
    finest = 2 * max(widest, window) / MOST_CELLS
    cells = (LEAST_CELLS,) if precision > ROUGH else (FEW_CELLS, LEAST_CELLS)
    steps = [max(min(step, widest / each), finest) for each in cells] + [8 * finest]
    return [width / max(1, ceil(width / step)) if 0 < width < inf else step for step in steps]
