"""What accounting costs, beside dp-accounting and prv-accountant: `make bench`, or this file.

Options: --quick (few repeats, to try the script), --markdown (also write the section on accounting of docs/performance.md).
Peers come from the environment that `make peers` makes; an absent one is said to be absent.
"""

import argparse
import gc
import math
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any

from parts.page import renew
from parts.race import Contender, Result, medians
from parts.table import Table, figure, machine

from discreet.privacy import calibrate, events, loss

OURS, PLD, PRV = "discreet", "dp-accounting", "prv-accountant"
RATE, STEPS = Fraction(1, 100), 10_000
TRUTH = {1e-5: 6.18771239, 1e-9: 8.765438592, 1e-12: 10.34668984, 1e-15: 11.7599785}
DIGITS = 1e-9  # to which the true values are known
DESCENT, RELEASES = "DP-SGD", "1,000 Laplace releases"
CURVES = {DESCENT: (4.5, 10.3), RELEASES: (13.8, 26.0)}  # ε at δ = 1e-3 and at δ = 1e-12

SECTION = """
Written by `bench/accounting.py --markdown`. Times are milliseconds of the process's CPU time, over all its threads: medians of {repeats}
turns in which ours and the others alternate in one process, slow ones in fewer turns. Before each call all caches of ours are emptied;
event, loss and answer are all counted. DP-SGD is a Gaussian of σ = 1 sampled at rate 1/100, 10,000 times.

dp-accounting is its `PLDAccountant` with its default interval of 1e-4, prv-accountant the upper end of its
`PRVAccountant` with `eps_error` 0.01 and `delta_error` δ/1000. "faster" is their time over ours.
"""
MEASURED = """
Measured {date} on {machine}, load average {load:.2f} at the start. {versions}.
"""


@dataclass(frozen=True)
class Counts:
    """How much is measured."""

    repeats: int = 21
    mixed: int = 500
    points: int = 500  # of δ, and as many of ε


def load_peers() -> dict[str, Any]:
    """The other libraries that this environment has."""
    found = {}
    for peer in (PLD, PRV):
        try:
            found[peer] = import_module(peer.replace("-", "_"))
        except ImportError:
            print(f"{peer} is absent: `make peers` installs it into .venv-peers")
    return found


def fresh() -> None:
    """Nothing known from an earlier call, and no rubbish of others left to collect."""
    for name, module in list(sys.modules.items()):
        if name.startswith("discreet."):
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()
    gc.collect()


Calls = dict[str, tuple[Callable[[], Any], int]]


def against(calls: Calls, peers: Iterable[str], counts: Counts) -> dict[str, Result]:
    """The results of those that are here; a call stands beside the number of turns to one of its own."""
    here = {name: Contender(call, every=every) for name, (call, every) in calls.items() if name in (OURS, *peers)}
    return medians(here, counts.repeats, fresh)


def alone(call: Callable[[], Any], counts: Counts) -> Result:
    return against({OURS: (call, 1)}, (), counts)[OURS]


def descent() -> events.Event:
    return events.Repeated(events.Sampled(RATE, events.Gaussian(1)), STEPS)


def pld_descent(dp: Any, scale: float = 1.0) -> Any:
    return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(float(RATE), dp.GaussianDpEvent(scale)), STEPS)


def pld_epsilon(dp: Any, event: Callable[[Any], Any], delta: float) -> float:
    accountant = dp.pld.PLDAccountant()
    accountant.compose(event(dp))
    return accountant.get_epsilon(delta)


def prv_epsilon(prv: Any, delta: float) -> float:
    """The upper end; nan where it refuses."""
    one = prv.PoissonSubsampledGaussianMechanism(noise_multiplier=1.0, sampling_probability=float(RATE))
    try:
        accountant = prv.PRVAccountant(one, max_self_compositions=STEPS, eps_error=0.01, delta_error=delta / 1000)
        return accountant.compute_epsilon(delta, STEPS)[2]
    except ValueError:
        return math.nan


def one_value(delta: float, peers: dict[str, Any], counts: Counts) -> dict[str, Result]:
    calls: Calls = {
        OURS: (lambda: loss(descent()).epsilon(delta), 1),
        PLD: (lambda: pld_epsilon(peers[PLD], pld_descent, delta), 3),
        PRV: (lambda: prv_epsilon(peers[PRV], delta), 10),
    }
    return against(calls, peers, counts)


def off(value: float, truth: float) -> str:
    """The relative error of a value, as far as the truth is known."""
    error = value / truth - 1
    return f"{error:+.1e}" if abs(error) >= DIGITS else f"< {DIGITS:.0e}"


def value_cells(delta: float, found: dict[str, Result]) -> list[str]:
    cells = [f"{delta:.0e}"]
    for name in (OURS, PLD, PRV):
        if name not in found:
            cells += ["absent", ""]
        elif math.isnan(found[name].value):
            cells += ["refuses", ""]
        else:
            cells += [figure(found[name].seconds * 1000), off(found[name].value, TRUTH[delta])]
    return cells


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


def mixed_pld(pld: Any, leaf: events.Leaf) -> Any:
    """The same for dp-accounting; not by its accountant, which has no discrete Gaussian, and no response under add/remove."""
    match leaf:
        case events.Gaussian(scale):
            return pld.from_gaussian_mechanism(float(scale))
        case events.Laplace(scale):
            return pld.from_laplace_mechanism(float(scale))
        case events.DiscreteLaplace(scale):
            return pld.from_discrete_laplace_mechanism(float(1 / scale))
        case events.DiscreteGaussian(scale):
            return pld.from_discrete_gaussian_mechanism(float(scale))
        case events.RandomizedResponse(epsilon, k):
            return pld.from_randomized_response(k / (math.exp(epsilon) + k - 1), k)
        case events.Sampled(rate, events.Gaussian(scale)):
            return pld.from_gaussian_mechanism(float(scale), sampling_prob=float(rate))
    raise TypeError(leaf)


def all_mixed(n: int) -> events.Event:
    return events.Composed(tuple(map(mixed_event, range(n))))


def mixed_pld_epsilon(dp: Any, n: int, delta: float) -> float:
    """Composed two by two, which is faster than one after the other."""
    parts = [mixed_pld(dp.pld.privacy_loss_distribution, mixed_event(i)) for i in range(n)]
    while len(parts) > 1:
        pairs = [first.compose(second) for first, second in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0].get_epsilon_for_delta(delta)


def mixed(peers: dict[str, Any], counts: Counts) -> dict[str, Result]:
    calls: Calls = {
        OURS: (lambda: loss(all_mixed(counts.mixed)).epsilon(1e-6), 1),
        PLD: (lambda: mixed_pld_epsilon(peers[PLD], counts.mixed, 1e-6), counts.repeats),
    }
    return against(calls, peers, counts)


def few_laplace(peers: dict[str, Any], counts: Counts) -> dict[str, Result]:
    calls: Calls = {
        OURS: (lambda: loss(events.Repeated(events.Laplace(10), 10)).epsilon(1e-6), 1),
        PLD: (
            lambda: pld_epsilon(peers[PLD], lambda dp: dp.SelfComposedDpEvent(dp.LaplaceDpEvent(10.0), 10), 1e-6),
            1,
        ),
    }
    return against(calls, peers, counts)


def calibrated(peers: dict[str, Any], counts: Counts) -> dict[str, Result]:
    def theirs() -> float:
        dp = peers[PLD]
        return dp.calibrate_dp_mechanism(dp.pld.PLDAccountant, partial(pld_descent, dp), 2.0, 1e-5)

    def ours() -> float:
        return float(calibrate.gaussian(2, 1e-5, times=STEPS, rate=RATE).scale)

    return against({OURS: (ours, 1), PLD: (theirs, 10)}, peers, counts)


def hard_cases() -> dict[str, Callable[[], float]]:
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


def hard_table(found: dict[str, Result]) -> Table:
    text = "Milliseconds; none of these should take a second."
    rows = [[name, figure(each.seconds * 1000)] for name, each in found.items()]
    return Table("Hard questions", text, ["question", "ours"], rows)


def interval(counts: Counts) -> Result:
    return alone(lambda: loss(descent()).interval(1e-5), counts)


def sweep(name: str, counts: Counts) -> Result:
    """Many points of one curve, half of them ε(δ) and half δ(ε)."""
    event = descent() if name == DESCENT else events.Repeated(events.Laplace(10), 1000)
    least, most = CURVES[name]
    shares = [i / (counts.points - 1) for i in range(counts.points)]
    deltas = [10 ** (-3 - 9 * share) for share in shares]
    epsilons = [least + (most - least) * share for share in shares]

    def points() -> list[float]:
        one = loss(event)
        return [one.epsilon(delta) for delta in deltas] + [one.delta(epsilon) for epsilon in epsilons]

    return alone(points, counts)


def pair_cells(name: str, found: dict[str, Result]) -> list[str]:
    ours, theirs = found[OURS], found.get(PLD)
    cells = [name, figure(ours.seconds * 1000), f"{ours.value:.9g}"]
    if theirs is None:
        return [*cells, "absent", "", ""]
    return [*cells, figure(theirs.seconds * 1000), f"{theirs.value:.9g}", f"{theirs.seconds / ours.seconds:,.1f} ×"]


def most(goal: str, limit: float, value: float) -> list[str]:
    return [goal, f"≤ {limit:g}", f"{value:.3g}", "reached" if value <= limit else "missed"]


def ratio(goal: str, limit: float, found: dict[str, Result]) -> list[str]:
    """A goal on dp-accounting's time over ours."""
    if PLD not in found:
        return [goal, f"≥ {limit:g}", f"{PLD} is absent", "not measured"]
    faster = found[PLD].seconds / found[OURS].seconds
    return [goal, f"≥ {limit:g}", f"{faster:.3g}", "reached" if faster >= limit else "missed"]


def interval_goals(found: Result) -> Iterator[list[str]]:
    """The certified interval: how wide, how soon, and whether the truth is in it."""
    lower, upper = found.value
    holds = "reached" if lower <= TRUTH[1e-5] <= upper else "missed"
    yield most("DP-SGD, certified interval: relative width", 1e-4, (upper - lower) / TRUTH[1e-5])
    yield most("DP-SGD, certified interval: ms", 100, found.seconds * 1000)
    yield ["DP-SGD, certified interval", f"contains {TRUTH[1e-5]}", f"{lower:.7f} to {upper:.7f}", holds]


def error_of(each: tuple[float, dict[str, Result]]) -> float:
    delta, found = each
    return abs(found[OURS].value / TRUTH[delta] - 1)


def values_table(values: dict[float, dict[str, Result]]) -> Table:
    text = "Milliseconds, and the relative error of ε; an error below zero claims more privacy than there is."
    head = ["δ", "ours", "error", PLD, "error", PRV, "error"]
    return Table("One value of DP-SGD", text, head, [value_cells(*each) for each in values.items()])


def others_table(found: dict[str, dict[str, Result]]) -> Table:
    text = (
        "Milliseconds and values. The mechanisms are Gaussian, Laplace, discrete Laplace, discrete Gaussian, randomized response and "
        "sampled Gaussian in turn, no two the same; dp-accounting composes them two by two, once."
    )
    head = ["work", "ours", "value", PLD, "value", "faster"]
    return Table("Other values", text, head, [pair_cells(*each) for each in found.items()])


def curves_table(sweeps: dict[str, Result]) -> Table:
    text = "Milliseconds for ε at δ = 1e-3 … 1e-12, and δ at as many ε."
    rows = [[name, figure(found.seconds * 1000)] for name, found in sweeps.items()]
    return Table("Whole curves", text, ["curve", "ours"], rows)


def measure(peers: dict[str, Any], counts: Counts) -> Iterator[Table]:
    values = {delta: one_value(delta, peers, counts) for delta in TRUTH}
    yield values_table(values)
    many, few, scales = mixed(peers, counts), few_laplace(peers, counts), calibrated(peers, counts)
    work = {
        f"{counts.mixed} mixed mechanisms, δ = 1e-6: ε": many,
        "10 Laplace releases of scale 10, δ = 1e-6: ε": few,
        "calibrate DP-SGD to ε = 2, δ = 1e-5: σ": scales,
    }
    yield others_table(work)
    sweeps = {f"{name}, {2 * counts.points:,} points": sweep(name, counts) for name in CURVES}
    yield curves_table(sweeps)
    hard = {name: alone(call, counts) for name, call in hard_cases().items()}
    yield hard_table(hard)
    first = values[1e-5]
    found = [
        most("DP-SGD, one value: ms", 10, first[OURS].seconds * 1000),
        ratio(f"DP-SGD, one value: times faster than {PLD}", 40, first),
        most("DP-SGD, one value: relative error", DIGITS, max(map(error_of, values.items()))),
        *interval_goals(interval(counts)),
        most(f"{counts.mixed} mixed mechanisms: s", 0.2, many[OURS].seconds),
        most("calibrating DP-SGD: s", 0.1, scales[OURS].seconds),
        ratio(f"10 Laplace releases: times faster than {PLD}", 1, few),
        *(most(f"{name}: s", 0.2, each.seconds) for name, each in sweeps.items()),
        most("the hardest question: s", 1, max(each.seconds for each in hard.values())),
    ]
    text = "" if counts == Counts() else "This run used small counts, so it says little."
    yield Table("Goals of accounting", text, ["goal", "limit", "measured", ""], found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small counts")
    parser.add_argument("--markdown", action="store_true", help="write the section of docs/performance.md")
    chosen = parser.parse_args()
    load = os.getloadavg()[0]
    peers = load_peers()
    counts = Counts(repeats=2, mixed=60, points=50) if chosen.quick else Counts()
    named = [f"Python {platform.python_version()}"]
    named += [f"{name} {version(name)}" for name in (OURS, "numpy", "scipy", *peers)]
    date = datetime.now(UTC).date().isoformat()
    measured = MEASURED.format(date=date, machine=machine(), load=load, versions=", ".join(named))
    print(measured.strip(), flush=True)
    tables = []
    for table in measure(peers, counts):
        tables.append(table)
        print(table.plain(), flush=True)
    if chosen.markdown:
        section = SECTION.format(repeats=counts.repeats) + measured + "\n".join(each.markdown(3) for each in tables)
        renew("Accounting", section)


if __name__ == "__main__":
    main()
