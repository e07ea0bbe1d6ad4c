"""Chances of keys, as bounds: that at least one of many happens, what each of them may take, and e^x in integers."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil

from discreet.errors import Invalid
from discreet.exact import exp_bounds, probability, round_down, round_up, shown

Bounds = tuple[Fraction, Fraction]

PRECISION = 96  # bits of a probability, relative
ROOM = 64  # more bits than that, for what a hundred thousand roundings take
STEPS = 6  # of Newton's method


def open_probability(value: object, name: str) -> Fraction:
    exact = probability(value, name)
    if not 0 < exact < 1:
        raise Invalid(f"{name} must lie between 0 and 1, both excluded, got {shown(value)}")
    return exact


def any_of(p: Fraction, k: int) -> Bounds:
    """A lower and an upper bound of 1 − (1 − p)^k.

    >>> [float(bound) for bound in any_of(Fraction(1, 10), 3)]
    [0.271, 0.271]
    """
    if not p:
        return p, p
    bits = PRECISION + ROOM + max(0, p.denominator.bit_length() - p.numerator.bit_length())
    low, high = (1 - _power(1 - p, k, bits, rounded) for rounded in (round_up, round_down))
    return max(Fraction(0), low), min(Fraction(1), high)


def _power(x: Fraction, k: int, bits: int, rounded: Callable[[Fraction, int], Fraction]) -> Fraction:
    result, base = Fraction(1), x
    while k:
        if k & 1:
            result = rounded(result * base, bits)
        base, k = rounded(base * base, bits), k >> 1
    return result


def share(delta: Fraction, k: int) -> Fraction:
    """1 − (1 − δ)^(1/k), rounded down: what each of k may take so that all together take δ.

    >>> float(share(Fraction(271, 1000), 3))
    0.1
    """
    if k == 1 or not delta:
        return delta
    scale = 1 << (PRECISION + delta.denominator.bit_length() + k.bit_length())

    def enough(place: int) -> bool:
        return any_of(Fraction(place, scale), k)[1] <= delta

    # looked for from where Newton's method comes to: whatever that is, the place is the same
    low, step = int(_root(delta, k) * scale), 1
    while low > 0 and not enough(low):
        low, step = max(0, low - step), 2 * step
    high, step = min(low + 1, ceil(delta * scale)), 1
    while high < ceil(delta * scale) and enough(high):
        low, high, step = high, min(high + step, ceil(delta * scale)), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return Fraction(low, scale)


def _root(delta: Fraction, k: int) -> Fraction:
    """About 1 − (1 − δ)^(1/k): each step of Newton's method has about twice as many digits, from δ/k on."""
    bits, root = PRECISION + ROOM + delta.denominator.bit_length(), delta / k
    for _ in range(STEPS):
        others = _power(1 - root, k - 1, bits, round_down)
        root = round_down(root - (1 - others * (1 - root) - delta) / (k * others), bits) if others else root
    return max(Fraction(0), root)


def exp_bracket(x: Fraction, bits: int) -> tuple[int, int]:
    """Integer brackets of 2^bits e^x."""
    low, high = exp_bounds(x, bits)
    return int(low * (1 << bits)), ceil(high * (1 << bits))
