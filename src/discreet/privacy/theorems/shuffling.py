"""Shuffling: what n reports that were randomised by the people themselves cost once nobody can tell whose report is whose.

Each of n people runs the same ε₀-private randomiser on a value of their own; a shuffler that everyone trusts forgets the order of the
reports and gives on nothing else. Neighbours differ in the value of one person (replace one), and the shuffled reports as a whole are
(ε, δ)-private with an ε that falls like √(e^ε₀/n).

The reduction (Feldman, McMillan and Talwar 2021, "Hiding among the clones", section 3). The one person has x₀ or x₁, and R(x) is the
report on x. As R is ε₀-private, R(x₀) = pQ₀ + (1−p)Q₁ and R(x₁) = (1−p)Q₀ + pQ₁ for two distributions Q₀ and Q₁, with p = e^ε₀/(1+e^ε₀).
Everyone else's R(x) is at least e^-ε₀ R(x₀) and at least e^-ε₀ R(x₁), so at least the mean of both, which is e^-ε₀ (Q₀ + Q₁)/2: with
probability e^-ε₀ they are a *clone*, whose report is from Q₀ or Q₁ by a fair coin. Who knows how many reports come from Q₀ and how many
from Q₁ can make the shuffled reports of all: choose at random who is a clone, and draw the rest. So the reports tell the two cases apart
no better than (A + Δ, C − A + 1 − Δ) and (A + 1 − Δ, C − A + Δ) do, where C ~ Bin(n−1, e^-ε₀), A ~ Bin(C, ½) and Δ ~ Bernoulli(p).

A randomiser with two possible reports leaves more clones, C ~ Bin(n−1, 2/(1+e^ε₀)). Let x₀ and x₁ be the values for which the first
report is least and most likely. Every R(x) lies between R(x₀) and R(x₁), so is a mixture of them, and these two are ε₀-randomised response
with some change of each report (Kairouz, Oh and Viswanath 2015). So R is randomised response, each person first choosing one of two values
at random, and each report changed afterwards; neither makes reports easier to tell apart. In randomised response Q₀ and Q₁ are its two
reports, and everyone sends either with probability at least 1/(1+e^ε₀).

Given C, let N = C + 1 be the number of both kinds. A number a of the first kind has probability
C(N, a) 2^(1−N) (e^ε₀ a + N − a)/(N (1+e^ε₀)) in the one case, and that of N − a in the other. So the loss exceeds ε where a > τN, and

    δ_N(ε) = κ E(a/N − τ)₊,  a ~ Bin(N, ½),  τ = (1 + tanh(ε/2)/tanh(ε₀/2))/2,  κ = 2 tanh(ε₀/2) (1 + e^ε),

a sum of positive terms. Then δ(ε) = E δ_(C+1)(ε). One clone more is one fair coin more, which anyone could add: δ_N falls as N grows. So
numbers of clones are taken in blocks, each number as if it were the least of its block: from above, and blocks are wide only where
little changes over them. What lies outside of the bulk is bounded by Chernoff and added. In floats, which `SLACK` covers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, e, exp, expm1, floor, lgamma, log, log1p, pi, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Number, nonnegative, probability, to_float_down, to_float_up, whole
from discreet.privacy.numeric.search import root
from discreet.privacy.theorems.approximate import pure_delta, pure_epsilon

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]

MOST_PEOPLE = 10**9
"""More people count as this many: more only hide better, and floats resolve no more."""
SLACK = 1e-5
"""Relative, of δ. ln of a probability of a binomial of 10^9 is wrong by at most 10^9 times a few 2^-53, below 1e-6; sums add less."""
LEAST = 1e-280
"""Added to δ: more than all terms together that are too small for a float."""
LOSSES = (1e-200, 100.0)
"""The ε₀ that are amplified. Above, a clone among 10^9 people has a chance of 4e-35; below, δ itself is next to nothing."""
LOWER = 1 - 2.0**-48
"""Times τ: three roundings and two of tanh, each of at most 2^-52, eightfold."""
FIRST_EXPONENT, LAST_EXPONENT = 40.0, 700.0
"""The bulk leaves out e^-40 of the clones at first, and less until that is no matter."""
NO_MATTER = 1e-6
"""Of δ, what may lie outside of the bulk."""
MOST_BLOCKS, FEWEST_BLOCKS, MOST_TERMS = 2000, 32, 2 * 10**6
"""How many numbers of clones are looked at, and how many terms are summed for all of them together."""
NEGLIGIBLE = 40.0
"""Terms of a sum that have fallen by e^-40 are bounded by a geometric series."""
CLOSE, ROUGH, SAFE = 1e-5, 1e-2, 1e-12
"""Of ln δ: where a search for ε stops, and one for where to begin, and how far it stays below the target: more than ln rounds by."""
WIDER = 1.02
"""By how much an ε is first moved to find one on the other side."""
SMALL = 64
"""From here on the asymptotic series of ln n! is off by less than 1e-15."""


def shuffled_delta(epsilon0: Number, n: int, epsilon: Number, *, binary: bool = False) -> float:
    """The δ at `epsilon` of n shuffled reports of one common `epsilon0`-private randomiser, from above; never above `pure_delta`.

    For any ε₀ >= 0, n >= 1 and ε >= 0: whatever the randomiser is, and whatever values the others have, replacing one person's value
    raises the probability of no set of shuffled reports above e^ε times what it was, plus δ. It needs a shuffler that is trusted. And n
    is the number of honest people: who lies, or lets the curator know which report is theirs, hides nobody. Where the randomiser
    has two possible reports only, `binary` says so, and δ is less; of more reports that is not proved, and must not be said.

    Feldman, McMillan and Talwar 2021, section 3: the hockey-stick divergence of the pair that the module states, here at
    most 0.1 % above it for ε₀ <= 8 and δ >= 1e-12. In floats with a slack of 1e-5 of δ; n beyond 10^9 counts as 10^9.

    >>> from math import comb, exp
    >>> p, q, g = exp(1) / (1 + exp(1)), exp(-1), exp(0.2)
    >>> def chance(a, c, p):
    ...     return (p * (comb(c, a - 1) if a else 0) + (1 - p) * comb(c, a)) / 2**c
    >>> delta = sum(
    ...     comb(9, c) * q**c * (1 - q) ** (9 - c) * max(0, chance(a, c, p) - g * chance(a, c, 1 - p))
    ...     for c in range(10)
    ...     for a in range(c + 2)
    ... )
    >>> delta <= shuffled_delta(1, 10, 0.2) <= delta * 1.0001
    True
    >>> shuffled_delta(1, 10, 1), shuffled_delta(1, 1, 0.2) == pure_delta(1, 0.2)
    (0.0, True)
    """
    local, people, central = nonnegative(epsilon0, "epsilon0"), whole(n, "n", least=1), nonnegative(epsilon, "epsilon")
    alone = pure_delta(local, central)
    if people == 1 or not alone or not LOSSES[0] < local < LOSSES[1]:
        return alone
    pair = _Pair(to_float_up(local), to_float_down(central), binary)
    return min(alone, pair.delta(min(people, MOST_PEOPLE) - 1) * (1 + SLACK) + LEAST)


def shuffled_epsilon(epsilon0: Number, n: int, delta: Number, *, binary: bool = False) -> float:
    """An ε at which n shuffled reports of one common `epsilon0`-private randomiser have at most `delta`: the inverse of `shuffled_delta`.

    Under the same assumptions; never above `pure_epsilon`, so never above ε₀, which it is at δ = 0. Feldman, McMillan and Talwar 2021 have
    ln(1 + (e^ε₀ − 1)/(e^ε₀ + 1) (8 √(e^ε₀ ln(4/δ)/n) + 8 e^ε₀/n)) in closed form, theorem 3.1, for ε₀ <= ln(n/(16 ln(2/δ))). This is less,
    for every ε₀.

    >>> from math import exp, log, sqrt
    >>> closed = log(1 + (exp(1) - 1) / (exp(1) + 1) * (8 * sqrt(exp(1) * log(4e6) / 10_000) + 8 * exp(1) / 10_000))
    >>> round(closed, 3), round(shuffled_epsilon(1, 10_000, 1e-6), 3)
    (0.214, 0.053)
    >>> round(shuffled_epsilon(1, 10_000, 1e-6, binary=True), 3)
    0.043
    >>> shuffled_epsilon(1, 10_000, 0), shuffled_epsilon(1, 1, 1e-6) == pure_epsilon(1, 1e-6)
    (1.0, True)
    """
    local, people, target = nonnegative(epsilon0, "epsilon0"), whole(n, "n", least=1), probability(delta, "delta")
    alone, least = pure_epsilon(local, target), to_float_down(target)
    if least <= LEAST or not alone or not LOSSES[0] < local < LOSSES[1]:
        return alone

    def gap(epsilon: float) -> float:
        return log(max(shuffled_delta(local, people, epsilon, binary=binary), LEAST)) - log(least) + SAFE

    return _least(gap, _guess(float(local), people, least, binary), alone)


def _guess(local: float, people: int, delta: float, binary: bool) -> float:
    """About the ε of `shuffled_epsilon`: that of as many clones as are expected. It only says where to look first."""
    clones = round((min(people, MOST_PEOPLE) - 1) * _rates(local, binary)[0])

    def gap(epsilon: float) -> float:
        return log(max(_Pair(local, epsilon, binary).given(clones + 1), LEAST)) - log(delta)

    at_none = gap(0.0)
    return root(gap, 0.0, local, at_none, gap(local), ROUGH) if at_none > 0 else 0.0


def _least(gap: Callable[[float], float], guess: float, most: float) -> float:
    """Where a falling function is at most 0 first, between 0 and `most`: looked for around the guess, wider and wider."""
    low = high = min(guess, most)
    at_low = at_high = gap(low)
    wider = WIDER
    while at_high > 0:
        if high == most:
            return most
        low, at_low = high, at_high
        high = min(most, high * wider) if high else most
        wider, at_high = wider**2, gap(high)
    while at_low <= 0:
        if not low:
            return 0.0
        high, at_high = low, at_low
        low = low / wider if wider < 1e6 else 0.0
        wider, at_low = wider**2, gap(low)
    return root(gap, low, high, at_low, at_high, CLOSE)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The pair that dominates shuffled reports, ε₀ > 0 and ε < ε₀: how well it is told apart, given clones or on average."""

    local: float
    central: float
    binary: bool

    def delta(self, others: int) -> float:
        """E δ_(C+1), C the number of clones among the others: the bulk is made larger until what lies outside of it is no matter."""
        exponent = FIRST_EXPONENT
        while True:
            inside, outside = self._parts(_Clones.of(others, _rates(self.local, self.binary), exponent))
            if outside <= NO_MATTER * inside or exponent >= LAST_EXPONENT:
                return inside + outside
            exponent *= 2

    def _parts(self, clones: "_Clones") -> tuple[float, float]:
        """δ of the bulk, in blocks, and of what lies below and above it."""
        blocks = min(MOST_BLOCKS, max(FEWEST_BLOCKS, MOST_TERMS // self._terms(clones.high + 1)))
        size = clones.high - clones.low + 1
        starts = np.unique(np.linspace(0, size, min(blocks, size), endpoint=False).astype(np.int64))
        mass = np.add.reduceat(clones.mass(), starts)
        inside = sum(float(m) * self.given(clones.low + int(start) + 1) for m, start in zip(mass, starts, strict=True))
        return inside, clones.below * self.given(1) + clones.above * self.given(clones.high + 1)

    @property
    def _threshold(self) -> float:
        """τ, from below."""
        return (1 + tanh(self.central / 2) / tanh(self.local / 2)) / 2 * LOWER

    def _terms(self, kinds: int) -> int:
        """How many terms of δ_N fall by less than e^-NEGLIGIBLE: the j-th by about e^-(sj + 2j²/N), where s is the slope at τN."""
        middle = 2 * self._threshold - 1
        return 2 + ceil(min(sqrt(NEGLIGIBLE * kinds / 2), NEGLIGIBLE / max(2 * middle, 1e-300), kinds))

    def given(self, kinds: int) -> float:
        """δ_N for N = `kinds`: κ Σ_(a>τN) C(N, a) 2^-N (a/N − τ)."""
        edge = self._threshold * kinds
        first = floor(edge) + 1
        if first > kinds:
            return 0.0
        last = min(kinds, first + self._terms(kinds))
        a = np.arange(first, last + 1, dtype=np.float64)
        falls = (kinds - a) / (a + 1)  # from a to a + 1
        kappa = log(2 * tanh(self.local / 2) / kinds) + self.central + log1p(exp(-self.central))
        start = exp(kappa + float(_log_binomial(np.array([first]), kinds, kinds / 2, kinds / 2)[0]))
        weights = start * np.concatenate([[1.0], np.cumprod(falls[:-1])])
        rest = float(falls[-1])  # what follows falls at least as fast: Σ_j rest^j (a + j − τN)
        left = rest / (1 - rest) * (float(a[-1]) - edge + 1 / (1 - rest))
        return float((weights * (a - edge)).sum()) + float(weights[-1]) * left


def _rates(local: float, binary: bool) -> tuple[float, float]:
    """How likely one of the others is a clone, and how likely they are not, with digits of its own."""
    share = exp(-local)
    return (2 * share / (1 + share), tanh(local / 2)) if binary else (share, -expm1(-local))


@dataclass(frozen=True, slots=True)
class _Clones:
    """C, binomial: the numbers from `low` to `high`, and the chance of fewer and of more, from above."""

    others: int
    mean: float
    rest: float  # others − mean, with digits of its own
    low: int
    high: int

    @classmethod
    def of(cls, others: int, rates: tuple[float, float], exponent: float) -> "_Clones":
        """Those that leave out about e^-exponent on each side."""
        mean, rest = others * rates[0], others * rates[1]
        width = sqrt(2 * exponent * mean * rest / others) + exponent
        return cls(others, mean, rest, max(0, floor(mean - width)), min(others, ceil(mean + width)))

    def mass(self) -> Reals:
        """The probability of each number of the bulk."""
        numbers = np.arange(self.low, self.high + 1, dtype=np.int64)
        probabilities: Reals = np.exp(_log_binomial(numbers, self.others, self.mean, self.rest))
        return probabilities

    @property
    def below(self) -> float:
        """Of fewer than `low`, which is not above the mean."""
        return self._chernoff(self.low) if self.low > 0 else 0.0

    @property
    def above(self) -> float:
        """Of more than `high`, which is not below the mean."""
        return self._chernoff(self.high) if self.high < self.others else 0.0

    def _chernoff(self, number: int) -> float:
        """Pr[C <= c] for c below the mean, and Pr[C >= c] for c above it, are at most this."""
        return exp(-float(_divergence(np.array([number]), self.others, self.mean, self.rest)[0]))


def _divergence(numbers: Counts, trials: int, mean: float, rest: float) -> Reals:
    """k ln(k/mean) + (trials − k) ln((trials − k)/rest)."""
    return _times_log(numbers, mean) + _times_log(trials - numbers, rest)


def _times_log(numbers: Counts, mean: float) -> Reals:
    """k ln(k/mean), 0 at k = 0."""
    found: Reals = np.log(np.maximum(numbers, 1) / mean) * numbers.astype(np.float64)
    return found


def _log_binomial(numbers: Counts, trials: int, mean: float, rest: float) -> Reals:
    """ln of the probabilities of a binomial with `trials` and `mean`, rest = trials − mean (Loader 2000): no large numbers cancel."""
    beyond = _stirling(np.array([trials])) - _stirling(numbers) - _stirling(trials - numbers)
    found: Reals = beyond - _divergence(numbers, trials, mean, rest)
    return found


def _stirling(numbers: Counts) -> Reals:
    """ln n! − n ln(n/e): of small n from a table, else ln √(2πn) + 1/12n − 1/360n³ + 1/1260n⁵, off by less than the next term."""
    n = np.maximum(numbers, 1).astype(np.float64)
    series = np.log(2 * pi * n) / 2 + (1 / 12 - (1 / 360 - 1 / 1260 / n**2) / n**2) / n
    found: Reals = np.where(numbers < SMALL, _TABLE[np.minimum(numbers, SMALL - 1)], series)
    return found


_TABLE = np.array([0.0, *(lgamma(n + 1) - n * log(n / e) for n in range(1, SMALL))])
