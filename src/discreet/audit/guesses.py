"""What right guesses say: a lower bound on ε from how many of m people somebody told apart in a single release, at a stated confidence.

**The game** (Steinke, Nasr and Jagielski 2023). Each of m canaries is in the data or out of it by its own fair coin. Whoever sees the
release says of r of them, a number that was fixed before, whether they were in, and abstains on the others; W of the guesses are right.

**The theorem.** Let o = e^ε, b the probabilities of Binomial(r, o/(1 + o)), and f(v) = b_v + … + b_r. If the release is (ε, δ)-private for
each canary that comes or goes, then

    Pr[W ≥ v] ≤ f(v) + mδ · f(v)(1 − f(v)) / (v·b_v)     for every v ≥ 1.

*Proof.* Let h_w = Pr[W = w], and let U be any set of numbers. Take the coins of all canaries but one as given, and let A be the releases
in which the guess of that one is right if its coin is heads, and W is in U then. With tails the same releases have a wrong guess there,
and one right guess fewer. So privacy, averaged over both coins, says Pr[W ∈ U, right there] ≤ o·Pr[W + 1 ∈ U, wrong there] + δ.
Sum this over all m canaries: of W right guesses each is right at one, and r − W are wrong, so Σ_U (w·h_w − o(r − w + 1)·h_{w−1}) ≤ mδ.
As w·b_w = o(r − w + 1)·b_{w−1}, with x_w = h_w/b_w this is Σ_U w·b_w(x_w − x_{w−1}) ≤ mδ; and U may be where x rises. Now

    Pr[W ≥ v] − f(v) = (1 − f(v)) Σ_{w≥v} b_w x_w − f(v) Σ_{w<v} b_w x_w = Σ_u k_u (x_u − x_{u−1}),

where k_u = f(v)(1 − f(u)) for u ≤ v and f(u)(1 − f(v)) for u > v, which is 0 at u = 0. So it is at most mδ times the largest
k_u/(u·b_u). That is the one at u = v: b is log-concave, so (1 − f(u))/b_{u−1} grows with u and f(u)/b_u falls. ∎

At δ = 0 this is theorem 5.2 of the paper. For δ > 0 the paper has 2mδ·max_i (f(v − i) − f(v))/i in place of the last term; the term here
is the best that there is: x that rises at v alone is a mechanism, which the tests build and enumerate. So the bound, where it is below
1, is the largest Pr[W ≥ v] that (ε, δ) allows, and therefore grows with ε. It is never below δ·Pr[W < v]: what publishes everything once
in 1/δ times has all guesses right then, so that at a confidence above 1 − δ no number of right guesses shows anything.
"""

from fractions import Fraction

from discreet.errors import Invalid
from discreet.exact import Number, divide_up, log_bounds, probability, shown, to_float_down, whole

BITS = 96
"""Sums of probabilities are integers of 2^-96 of the largest one that counts, rounded to the safe side."""

HALVINGS = 40
"""Of e^ε, between one power of 2 and the next."""

FAR = 64
"""A sum is far beyond another from a factor of 2^64 on."""


def one_run_bound(correct: int, guesses: int, canaries: int, *, delta: Number = 0, confidence: Number = 0.95) -> float:
    """ε that a release must be above, where so many of the guesses about its canaries were right.

    For any release, and any way to guess from it, the bound is above the true ε at this δ with probability 1 − `confidence` at most, if
    each canary was in by its own fair coin and the number of guesses was fixed before. All arithmetic is exact or rounded down.

    >>> round(one_run_bound(1000, 1000, 1000), 6), one_run_bound(500, 1000, 1000)
    (5.809068, 0.0)
    >>> round(one_run_bound(1000, 1000, 1000, delta=1e-5), 6)
    5.809005
    """
    among = whole(canaries, "canaries", least=1)
    said = whole(guesses, "guesses", least=1)
    right = whole(correct, "correct")
    if not right <= said <= among:
        raise Invalid(
            f"correct must be at most guesses, and guesses at most canaries, got {right}, {said} and {among}",
            hint="each canary is guessed once, or not at all",
        )
    alpha = 1 - sure(confidence)
    excess = among * probability(delta, "delta")
    return _largest_rejected(right, said, excess, alpha) if right else 0.0


def sure(confidence: Number) -> Fraction:
    """A confidence between 0 and 1."""
    level = probability(confidence, "confidence")
    if not 0 < level < 1:
        raise Invalid(f"confidence must lie between 0 and 1, got {shown(confidence)}")
    return level


def _largest_rejected(right: int, guesses: int, excess: Fraction, alpha: Fraction) -> float:
    """The largest ε, or a little less, for which so many right guesses have a probability of alpha at most; 0 where there is none."""

    def rejected(odds: Fraction) -> bool:
        return most_likely(right, guesses, odds, excess) <= alpha

    low, high = Fraction(1), Fraction(2)
    if not rejected(low):
        return 0.0
    while rejected(high):
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return max(0.0, to_float_down(log_bounds(low)[0]))


def most_likely(right: int, guesses: int, odds: Fraction, excess: Fraction) -> Fraction:
    """The probability, rounded up, of at least so many right guesses that (ln odds, δ) allows, where `excess` is mδ.

    With above = f(v)/b_v and below = (1 − f(v))/b_v the theorem's bound is above/(above + below) · (1 + mδ·below/v). It grows with `above`,
    and falls with `below` wherever it is below 1; so one is rounded up and the other down.
    """
    below = _below(right, guesses, odds)
    above = _above(right, guesses, odds, below)
    if above >> FAR > below:
        return Fraction(1)
    return min(Fraction(1), Fraction(above, above + below) * (1 + excess * Fraction(below, right << BITS)))


def _below(right: int, guesses: int, odds: Fraction) -> int:
    """Σ b_w/b_v over w < v in units of 2^-BITS, rounded down: also by leaving terms out where it is enormous already."""
    up, down = odds.denominator, odds.numerator
    total, term = 0, 1 << BITS
    for w in range(right, 0, -1):
        term = term * (w * up) // ((guesses - w + 1) * down)
        total += term
        if not term or total >> (BITS + FAR):
            break
    return total


def _above(right: int, guesses: int, odds: Fraction, below: int) -> int:
    """Σ b_w/b_v over w ≥ v in units of 2^-BITS, rounded up; not all of it where it is far above what is below."""
    up, down = odds.numerator, odds.denominator
    total = term = 1 << BITS
    for w in range(right, guesses):
        term = divide_up(term * ((guesses - w) * up), (w + 1) * down)
        if term == 1:  # and no later one is larger, as terms that fall go on falling
            return total + guesses - w
        total += term
        if total >> FAR > below:
            break
    return total
