"""What counts say: lower bounds on ε from how often an event happened on two neighbours, at a stated confidence.

The claim that is tested is Pr[A | x] ≤ e^ε Pr[A | y] + δ for an event A that was chosen without the counts. Two tests reject it:

**Of a fixed size** (`fixed`). A fair coin decides for each of 2n outputs on which neighbour it is drawn; `hits` of those on x lie in A,
`misses` of those on y. Under the claim Pr[A | x] = p + d with p ≤ e^ε Pr[A | y] and d ≤ δ. Call an output on x in A *excess* with
probability d/(p + d), by a coin of its own: there are Bin(2n, d/2) of them, and of the others in A each is of x with probability at most
e^ε/(1 + e^ε), independently. So with an upper bound on the excess that fails with probability β, the rest is a binomial test at α − β
(Clopper and Pearson 1934); counting fewer of x than there are makes that test weaker, never stronger. At δ = 0 nothing is lost to
nuisance parameters.

**At any time** (`Wager`). A gambler bets on A with a capital of 1, output by output: an output on x multiplies it by 1 + λ(1_A − δ), one
on y by 1 − λ e^ε 1_A, where 0 ≤ λ < e^−ε and A and λ depend on the past alone. Under the claim the capital is a supermartingale, as
(1 + λu)(1 − λu) ≤ 1; that it ever reaches 1/α has probability α at most (Ville 1939). So whoever looks may stop whenever they like.
"""

from math import log, log1p
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.binomial import rate_at, tail

Reals: TypeAlias = NDArray[np.float64]

# `lgamma` of a count of 1e8 is 1.7e9, off by a few times 2^-53 of that, three times: the tail is off by 1e-6 of itself at most.
SLACK = 1e-6
# The share of α that an upper bound on the excess of δ may fail with: more outputs than that are never excess.
EXCESS_SHARE = 0.1
# What is staked of the best stake: estimates of it are too bold, and all of it is lost with one output if none of y lay in A so far. Tried
# with Gaussian noise, ε = 1 and δ = 1e-5, 1e6 outputs a side: medians 0.70 and 0.715 with nearly all of it and with this.
CAUTION = 0.8


def binomial_lower(trials: int, successes: int, alpha: float) -> float:
    """The largest chance that so many successes reject at α (Clopper and Pearson), or a little less.

    >>> round(binomial_lower(10, 10, 0.05), 6)
    0.741134
    """
    return rate_at(successes, trials, alpha * (1 - SLACK)) if successes else 0.0


def excess(outputs: int, delta: float, beta: float) -> int:
    """The least number that Bin(outputs, δ/2) is above with probability β at most."""
    if not delta:
        return 0
    low, high = -1, 1
    while tail(high + 1, outputs, delta / 2) > beta * (1 - SLACK):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = tail(middle + 1, outputs, delta / 2) <= beta * (1 - SLACK)
        low, high = (low, middle) if enough else (middle, high)
    return high


def fixed(hits: int, misses: int, outputs: int, delta: float, alpha: float) -> float:
    """ε that the claim must be above, at confidence 1 − α: `hits` outputs on x and `misses` on y lay in A, of `outputs` in all.

    >>> round(fixed(750, 250, 2000, 0.0, 0.05), 2), fixed(3, 3, 2000, 0.0, 0.05)
    (0.98, 0.0)
    """
    beta = alpha * EXCESS_SHARE if delta else 0.0
    sure = hits - excess(outputs, delta, beta)
    if sure <= 0:
        return 0.0
    share = binomial_lower(sure + misses, sure, alpha - beta)
    return max(0.0, log(share) - log1p(-share)) if share > 0 else 0.0


def _ladder() -> Reals:
    """Every ε that a wager is laid on: dense where claims are made, and up to what no sample of this world can show."""
    return np.concatenate([np.linspace(0, 2, 401), np.linspace(2, 30, 1401)[1:]])


class Wager:
    """The capital of a gambler for each ε of a ladder; what it has rejected, it has rejected for good.

    For any δ and any rule that chooses events and stakes by the past alone, the largest rejected ε below which all are rejected is
    above the true one with probability α at most, at whatever time it is read.
    """

    def __init__(self, delta: float, alpha: float) -> None:
        self.delta = delta
        self.alpha = alpha
        self.ladder = _ladder()
        self._capital = np.zeros_like(self.ladder)
        self._most = np.zeros_like(self.ladder)

    def stakes(self, likely: float, rare: float) -> Reals:
        """λ for each ε: what makes the capital grow fastest where Pr[A | x] is `likely` and Pr[A | y] is `rare` (Kelly 1956).

        The maximum of p·ln(1 + λ) + q·ln(1 − λe^ε) for p = likely − δ, q = rare lies at (p e^−ε − q)/(p + q), at most e^−ε.
        """
        gain = max(likely - self.delta, 0.0)
        if not gain + rare:
            return np.zeros_like(self.ladder)
        return CAUTION * np.maximum(0.0, (gain * np.exp(-self.ladder) - rare) / (gain + rare))

    def settle(self, stakes: Reals, hits: int, others: int, misses: int) -> None:
        """Pay for a batch: outputs on x in A, on x outside of A, and on y in A."""
        self._capital += hits * np.log1p(stakes * (1 - self.delta)) + others * np.log1p(-stakes * self.delta)
        self._capital += misses * np.log1p(-stakes * np.exp(self.ladder))
        self._most = np.maximum(self._most, self._capital)

    @property
    def epsilon(self) -> float:
        """The lower bound so far."""
        rejected = self._most * (1 - SLACK) >= -log(self.alpha)
        first = int(np.argmin(rejected)) if not rejected.all() else len(rejected)
        return float(self.ladder[first - 1]) if first else 0.0
