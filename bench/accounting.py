"""What accounting costs, beside dp-accounting and prv-accountant: `make bench`, or this file.

Options: --quick (few repeats, to try the script), --markdown (also write the section on accounting of docs/performance.md),
--against CHECKOUT (instead: every question beside another checkout of this project, in turns; the goal is a ratio of 1.10).
Peers come from the environment that `make peers` makes; an absent one is said to be absent.
"""

import argparse
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from parts.losses import (
    CURVES,
    DELTAS,
    MIXED,
    POINTS,
    RATE,
    STEPS,
    calibrated,
    deltas,
    descent,
    epsilons,
    few_laplace,
    fresh,
    hard,
    mixed,
    mixed_event,
    questions,
)
from parts.page import renew
from parts.race import Contender, Result, medians
from parts.table import Table, figure, machine

from discreet.privacy import events, loss

OURS, PLD, PRV = "discreet", "dp-accounting", "prv-accountant"
TRUTH = dict(zip(DELTAS, (6.18771239, 8.765438592, 10.34668984, 11.7599785), strict=True))
DIGITS = 1e-9  # to which the true values are known
# The most that the time of a question may be of what it was in another checkout.
ALLOWED = 1.10

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
    mixed: int = MIXED
    points: int = POINTS  # of δ, and as many of ε


def load_peers() -> dict[str, Any]:
    """The other libraries that this environment has."""
    found = {}
    for peer in (PLD, PRV):
        try:
            found[peer] = import_module(peer.replace("-", "_"))
        except ImportError:
            print(f"{peer} is absent: `make peers` installs it into .venv-peers")
    return found


Calls = dict[str, tuple[Callable[[], Any], int]]


def against(calls: Calls, peers: Iterable[str], counts: Counts) -> dict[str, Result]:
    """The results of those that are here; a call stands beside the number of turns to one of its own."""
    here = {name: Contender(call, every=every) for name, (call, every) in calls.items() if name in (OURS, *peers)}
    return medians(here, counts.repeats, fresh)


def alone(call: Callable[[], Any], counts: Counts) -> Result:
    return against({OURS: (call, 1)}, (), counts)[OURS]


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


def mixed_pld_epsilon(dp: Any, n: int, delta: float) -> float:
    """Composed two by two, which is faster than one after the other."""
    parts = [mixed_pld(dp.pld.privacy_loss_distribution, mixed_event(i)) for i in range(n)]
    while len(parts) > 1:
        pairs = [first.compose(second) for first, second in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0].get_epsilon_for_delta(delta)


def mixed_results(peers: dict[str, Any], counts: Counts) -> dict[str, Result]:
    calls: Calls = {
        OURS: (lambda: mixed(counts.mixed), 1),
        PLD: (lambda: mixed_pld_epsilon(peers[PLD], counts.mixed, 1e-6), counts.repeats),
    }
    return against(calls, peers, counts)


def few_laplace_results(peers: dict[str, Any], counts: Counts) -> dict[str, Result]:
    calls: Calls = {
        OURS: (few_laplace, 1),
        PLD: (
            lambda: pld_epsilon(peers[PLD], lambda dp: dp.SelfComposedDpEvent(dp.LaplaceDpEvent(10.0), 10), 1e-6),
            1,
        ),
    }
    return against(calls, peers, counts)


def calibrated_results(peers: dict[str, Any], counts: Counts) -> dict[str, Result]:
    def theirs() -> float:
        dp = peers[PLD]
        return dp.calibrate_dp_mechanism(dp.pld.PLDAccountant, partial(pld_descent, dp), 2.0, 1e-5)

    return against({OURS: (calibrated, 1), PLD: (theirs, 10)}, peers, counts)


def hard_table(found: dict[str, Result]) -> Table:
    text = "Milliseconds; none of these should take a second."
    rows = [[name, figure(each.seconds * 1000)] for name, each in found.items()]
    return Table("Hard questions", text, ["question", "ours"], rows)


def interval(counts: Counts) -> Result:
    return alone(lambda: loss(descent()).interval(1e-5), counts)


def sweep(name: str, counts: Counts) -> Result:
    """Many points of one curve, half of them ε(δ) and half δ(ε)."""
    return alone(lambda: epsilons(name, counts.points) + deltas(name, counts.points), counts)


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
    many, few, scales = (
        mixed_results(peers, counts),
        few_laplace_results(peers, counts),
        calibrated_results(peers, counts),
    )
    work = {
        f"{counts.mixed} mixed mechanisms, δ = 1e-6: ε": many,
        "10 Laplace releases of scale 10, δ = 1e-6: ε": few,
        "calibrate DP-SGD to ε = 2, δ = 1e-5: σ": scales,
    }
    yield others_table(work)
    sweeps = {f"{name}, {2 * counts.points:,} points": sweep(name, counts) for name in CURVES}
    yield curves_table(sweeps)
    hardest = {name: alone(call, counts) for name, call in hard().items()}
    yield hard_table(hardest)
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
        most("the hardest question: s", 1, max(each.seconds for each in hardest.values())),
    ]
    text = "" if counts == Counts() else "This run used small counts, so it says little."
    yield Table("Goals of accounting", text, ["goal", "limit", "measured", ""], found)


class Checkout:
    """A process that answers with another checkout, or with this one."""

    def __init__(self, folder: Path) -> None:
        script = Path(__file__).parent / "parts" / "losses.py"
        self._process = subprocess.Popen(
            [sys.executable, str(script)],
            env=os.environ | {"PYTHONPATH": str(folder / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, name: str) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def beside(other: Path, turns: int, chosen: str) -> Table:
    """CPU milliseconds of every question, of this checkout and of another, alternating: medians, and their ratio."""
    checkouts = [Checkout(folder) for folder in (other, Path(__file__).parent.parent)]
    lines = []
    for name in (name for name in questions() if chosen in name):
        spent = [[each.seconds(name) for each in checkouts] for _ in range(turns + 1)][1:]
        old, new = (1000 * median(times) for times in zip(*spent, strict=True))
        lines.append([name, figure(old), figure(new), figure(new / old), f"≤ {ALLOWED:.2f}"])
    for each in checkouts:
        each.close()
    return Table(f"Beside another checkout, {turns} turns", "", ["CPU ms", "before", "now", "ratio", "goal"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small counts")
    parser.add_argument("--markdown", action="store_true", help="write the section of docs/performance.md")
    parser.add_argument("--against", type=Path, help="another checkout, to be timed beside this one")
    parser.add_argument("--only", default="", help="with --against: only questions with these words in their names")
    chosen = parser.parse_args()
    if chosen.against is not None:
        print(beside(chosen.against.resolve(), 3 if chosen.quick else 21, chosen.only).plain())
        return
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
