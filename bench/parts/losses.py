"""The questions that accounting is timed with; and a process that answers them by name, so that two checkouts can be timed in turns.

`python losses.py` with a checkout on the path reads the name of a question a line and prints the CPU seconds of its answer, as long as
there are lines. It uses only what every release has.
"""

import gc
import sys
from collections.abc import Callable
from fractions import Fraction
from time import process_time
from typing import Any

from discreet.privacy import calibrate, events, loss

RATE, STEPS = Fraction(1, 100), 10_000
DELTAS = (1e-5, 1e-9, 1e-12, 1e-15)
MIXED, POINTS = 500, 500
DESCENT, RELEASES = "DP-SGD", "1,000 Laplace releases"
CURVES = {DESCENT: (4.5, 10.3), RELEASES: (13.8, 26.0)}  # ε at δ = 1e-3 and at δ = 1e-12

Question = Callable[[], Any]


def fresh() -> None:
    """Nothing known from an earlier call, and no rubbish of others left to collect."""
    for name, module in list(sys.modules.items()):
        if name.startswith("discreet."):
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()
    gc.collect()


def descent() -> events.Event:
    return events.Repeated(events.Sampled(RATE, events.Gaussian(1)), STEPS)


def mixed_event(i: int) -> events.Leaf:
    """The i-th of many mechanisms, no two of which are the same."""
    scale = 20 + Fraction(i, 10)
    match i % 6:
        case 0:
            return events.Gaussian(scale)
        case 1:
            return events.Laplace(scale)
        case 2:
            return events.DiscreteLaplace(scale)
        case 3:
            return events.DiscreteGaussian(scale)
        case 4:
            return events.RandomizedResponse(1 / scale, k=2 + i % 3)
        case _:
            return events.Sampled(Fraction(1, 50), events.Gaussian(scale / 20))


def mixed(n: int) -> float:
    return loss(events.Composed(tuple(map(mixed_event, range(n))))).epsilon(1e-6)


def few_laplace() -> float:
    return loss(events.Repeated(events.Laplace(10), 10)).epsilon(1e-6)


def calibrated() -> float:
    return float(calibrate.gaussian(2, 1e-5, times=STEPS, rate=RATE).scale)


def hard() -> dict[str, Question]:
    """Questions that took seconds: few releases of several kinds, and very many beside few."""
    response = loss(events.RandomizedResponse(Fraction("0.0022"), 3)) + loss(events.Laplace(Fraction("53.5")))
    many = 10**9 * loss(events.DiscreteGaussian(Fraction("0.96"), 2)) + 2 * loss(
        events.DiscreteLaplace(Fraction("1.92"))
    )
    beside = 10**6 * loss(events.DiscreteGaussian(Fraction("2.52")))
    beside = beside + 3 * loss(events.Sampled(Fraction("0.999"), events.Laplace(1)))
    few = 3 * loss(events.Sampled(Fraction(1, 10), events.Laplace(1)))
    wide = 100 * loss(events.RandomizedResponse(1)) + loss(events.Gaussian(10**6))
    return {
        "a response and a Laplace, δ = 1e-11: ε": lambda: (response * 1).epsilon(1e-11),
        "10⁹ discrete Gaussians and 2 geometric, δ = 1e-6: ε": lambda: (many * 1).epsilon(1e-6),
        "10⁶ discrete Gaussians and 3 sampled Laplace, δ = 1e-6: ε": lambda: (beside * 1).epsilon(1e-6),
        "100 responses and a wide Gaussian, δ = 1e-3: ε": lambda: (wide * 1).epsilon(1e-3),
        "3 sampled Laplace: the trade-off at 5 %": lambda: (few * 1).tradeoff(Fraction(1, 20)),
        "calibrate 2 sampled Gaussians to ε = 1, δ = 1e-6: σ": lambda: float(
            calibrate.gaussian(1, 1e-6, times=2, rate=Fraction(1, 100)).scale
        ),
        "calibrate 10 sampled Gaussians to ε = 1, δ = 1e-6: σ": lambda: float(
            calibrate.gaussian(1, 1e-6, times=10, rate=Fraction(1, 1000)).scale
        ),
    }


def curve(name: str) -> events.Event:
    return descent() if name == DESCENT else events.Repeated(events.Laplace(10), 1000)


def epsilons(name: str, points: int) -> list[float]:
    """ε at δ = 1e-3 … 1e-12."""
    one = loss(curve(name))
    return [one.epsilon(10 ** (-3 - 9 * i / (points - 1))) for i in range(points)]


def deltas(name: str, points: int) -> list[float]:
    """δ over about the same part of the curve."""
    one, (least, most) = loss(curve(name)), CURVES[name]
    return [one.delta(least + (most - least) * i / (points - 1)) for i in range(points)]


def questions() -> dict[str, Question]:
    """Every question by its name."""
    each: dict[str, Question] = {f"DP-SGD, δ = {delta:.0e}: ε": _value(delta) for delta in DELTAS}
    each["DP-SGD, δ = 1e-5: the certified interval"] = lambda: loss(descent()).interval(1e-5)
    each[f"{MIXED} mixed mechanisms, δ = 1e-6: ε"] = lambda: mixed(MIXED)
    each["10 Laplace releases of scale 10, δ = 1e-6: ε"] = few_laplace
    each["calibrate DP-SGD to ε = 2, δ = 1e-5: σ"] = calibrated
    for name in CURVES:
        each |= _sweeps(name)
    return each | hard()


def _value(delta: float) -> Question:
    return lambda: loss(descent()).epsilon(delta)


def _sweeps(name: str) -> dict[str, Question]:
    return {
        f"{name}: ε at {POINTS} δ": lambda: epsilons(name, POINTS),
        f"{name}: δ at {POINTS} ε": lambda: deltas(name, POINTS),
    }


if __name__ == "__main__":
    known = questions()
    for line in sys.stdin:
        fresh()
        start = process_time()
        known[line.rstrip("\n")]()
        print(process_time() - start, flush=True)
