"""What exact noise costs, beside NumPy's generator, OpenDP and diffprivlib: `make bench`, or this file.

Options: --quick (small counts, to try the script), --markdown (also write docs/performance.md), --against CHECKOUT (instead: our own
draws, beside another checkout of this project, in turns).
Peers come from the environment that `make peers` makes; an absent one is said to be absent.
"""

import argparse
import itertools
import math
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import thread_time_ns
from typing import Any

import numpy as np
from parts.beside import Work, add_option, beside
from parts.race import Contender, auc, memory, race, repeated, timed
from parts.table import Table, figure, machine

from discreet import noise

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
NEXT_PART = "## Accounting\n"
OURS, NUMPY, OPENDP, DIFFPRIVLIB = "discreet", "numpy", "opendp", "diffprivlib"
SCALES = {
    "0.001": Fraction(1, 1000),
    "1": 1,
    "10": 10,
    "100": 100,
    "1000": 1000,
    "10^6": 10**6,
    "2^40": 2**40,
}
BLOCK = 4096  # samples that discreet draws ahead: single values and short arrays are averaged over whole blocks

INTRODUCTION = """\
# Performance

Written by `bench/noise.py --markdown`. Times are nanoseconds of the thread's CPU time for one sample. Ours and the others alternate in
one loop of one process, and the least of {repeats} turns counts (every fifth turn for OpenDP and diffprivlib), so that ratios hold on a
machine that does other things too.

NumPy's `Generator` is not secure, and its Laplace and normal noise are floats; it stands here as the speed that people are used to.
OpenDP and diffprivlib are called as their users call them, from Python: OpenDP on vectors of 5,000 zeros (1,000 on a grid), or on one
zero where n is 1; diffprivlib's `Geometric` and `GaussianDiscrete` value by value, the latter up to scale 1,000, since its time grows
with the scale. "faster" is their time over ours.

Measured {date} on {machine}, load average {load:.2f} at the start. {versions}.
"""


@dataclass(frozen=True)
class Counts:
    """How much is measured."""

    n: int = 1_000_000
    repeats: int = 40
    cold: int = 300  # new scales in one measurement
    timed: int = 40_000  # single calls whose time is set against their value


@dataclass(frozen=True)
class Row:
    """One distribution, and the nanoseconds a sample of everyone who has it."""

    name: str
    scale: str
    n: int
    ns: dict[str, float]

    @property
    def ratio(self) -> float:
        return self.ns[OURS] / self.ns[NUMPY]

    def faster(self, peer: str) -> float:
        return self.ns[peer] / self.ns[OURS]

    def cells(self) -> list[str]:
        cells = [self.name, self.scale, f"{self.n:,}", figure(self.ns[OURS]), figure(self.ns[NUMPY])]
        cells.append(f"{self.ratio:.2f}")
        for peer in (OPENDP, DIFFPRIVLIB):
            cells += [figure(self.ns[peer]), f"{self.faster(peer):,.0f} ×"] if peer in self.ns else ["", ""]
        return cells


HEAD = ["distribution", "scale", "n", "ours", "NumPy", "ratio", "OpenDP", "faster", "diffprivlib", "faster"]


def load_peers() -> dict[str, Any]:
    """The other libraries that this environment has."""
    found = {}
    for peer, module in ((OPENDP, "opendp.prelude"), (DIFFPRIVLIB, "diffprivlib.mechanisms")):
        try:
            found[peer] = import_module(module)
        except ImportError:
            print(f"{peer} is absent: `make peers` installs it into .venv-peers")
    if OPENDP in found:
        found[OPENDP].enable_features("contrib")
    return found


def opendp(dp: Any, gaussian: bool, scale: Any, n: int, kind: str = "i64") -> Callable[[], object]:
    """OpenDP's noise on n zeros, or on one zero."""
    domain = dp.atom_domain(T=kind, nan=False) if kind == "f64" else dp.atom_domain(T=kind)
    unit, zero = "f64" if gaussian else kind, 0.0 if kind == "f64" else 0
    if n == 1:
        space, value = (domain, dp.absolute_distance(T=unit)), zero
    else:
        norm = dp.l2_distance(T=unit) if gaussian else dp.l1_distance(T=unit)
        space, value = (dp.vector_domain(domain), norm), [zero] * n
    measure = (dp.m.make_gaussian if gaussian else dp.m.make_laplace)(*space, scale=float(scale))
    return lambda: measure(value)


def diffprivlib(mechanisms: Any, gaussian: bool, scale: Any) -> Callable[[], object]:
    if not gaussian:
        one = mechanisms.Geometric(epsilon=1 / float(scale), sensitivity=1)
    else:
        one = mechanisms.GaussianDiscrete(epsilon=1, delta=1e-6)
        one._scale = float(scale)  # it takes epsilon and delta only; this makes it the same noise
    return lambda: one.randomise(0)


def discrete(gaussian: bool, scale: str, n: int, calls: int, peers: dict[str, Any], counts: Counts) -> Row:
    """Discrete Laplace or Gaussian noise, by `calls` calls for n samples each."""
    exact, size, rng = SCALES[scale], None if n == 1 else n, np.random.default_rng()
    draw = noise.discrete_gaussian if gaussian else noise.discrete_laplace
    theirs, near = rng.normal if gaussian else rng.laplace, float(exact)
    contenders = {
        OURS: Contender(repeated(lambda: draw(exact, size), calls), calls * n),
        NUMPY: Contender(repeated(lambda: theirs(0.0, near, size), calls), calls * n),
    }
    if OPENDP in peers:
        length, times = min(n, 5000), 50 if n == 1 else 1
        call = repeated(opendp(peers[OPENDP], gaussian, exact, length), times)
        contenders[OPENDP] = Contender(call, length * times, every=5)
    if DIFFPRIVLIB in peers and not (gaussian and exact > 1000):
        times = 50 if n == 1 or (gaussian and exact == 1000) else 2000
        call = repeated(diffprivlib(peers[DIFFPRIVLIB], gaussian, exact), times)
        contenders[DIFFPRIVLIB] = Contender(call, times, every=5)
    name = f"discrete {'Gaussian' if gaussian else 'Laplace'}"
    return Row(name, scale, n, race(contenders, counts.repeats))


Pair = tuple[Callable[[], Any], Callable[[], Any]]


def others(n: int) -> Iterator[tuple[str, str, Pair]]:
    """The other distributions: name, scale, our call and NumPy's."""
    rng, third = np.random.default_rng(), Fraction(1, 3)
    for s in (1, 10, 1000):
        p = -math.expm1(-1 / s)
        yield "geometric", str(s), (lambda s=s: noise.geometric(s, n), lambda p=p: rng.geometric(p, n))
    p, q = 1 / 3, math.exp(-1 / 3)
    yield "Bernoulli(1/3)", "", (lambda: noise.bernoulli(third, n), lambda: rng.random(n) < p)
    yield "Bernoulli(e^-1/3)", "", (lambda: noise.bernoulli_exp(third, n), lambda: rng.random(n) < q)
    two, five = rng.integers(0, 2, n), rng.integers(0, 5, n)
    odds2, keep2 = noise.odds(1, 2), math.e / (math.e + 1)
    odds5, keep5 = noise.odds(1, 5), math.e / (math.e + 4)

    def replace() -> object:
        other = rng.integers(0, 4, n)
        other += other >= five
        return np.where(rng.random(n) < keep5, five, other)

    binary = lambda: np.where(rng.random(n) < keep2, two, 1 - two)  # noqa: E731
    yield "response, 2 answers", "", (lambda: noise.keep_or_replace(two, 2, odds2), binary)
    yield "response, 5 answers", "", (lambda: noise.keep_or_replace(five, 5, odds5), replace)
    yield "uniform below 1000", "", (lambda: noise.uniform(1000, n), lambda: rng.integers(0, 1000, n))
    yield "Laplace on a grid", "1.5", (lambda: noise.grid_laplace(1.5, n), lambda: rng.laplace(0.0, 1.5, n))
    yield "Gaussian on a grid", "1.5", (lambda: noise.grid_gaussian(1.5, n), lambda: rng.normal(0.0, 1.5, n))


def other(name: str, scale: str, pair: Pair, peers: dict[str, Any], counts: Counts) -> Row:
    contenders = {OURS: Contender(pair[0], counts.n), NUMPY: Contender(pair[1], counts.n)}
    if OPENDP in peers and "grid" in name:
        call = opendp(peers[OPENDP], "Gaussian" in name, 1.5, 1000, "f64")
        contenders[OPENDP] = Contender(call, 1000, every=5)
    return Row(name, scale, counts.n, race(contenders, counts.repeats))


SINGLE = {"discrete Laplace": noise.discrete_laplace, "discrete Gaussian": noise.discrete_gaussian}
new_scales = (1000 + Fraction(i, 1009) for i in itertools.count())


def cold(draw: Callable[[Any], object], counts: Counts) -> tuple[float, float]:
    """Microseconds of the first sample of a new scale in a warm process: mean (CPU time) and median (wall time)."""
    means, each = [], []
    for _ in range(counts.repeats):
        scales = list(itertools.islice(new_scales, counts.cold))
        start = thread_time_ns()
        for scale in scales:
            draw(scale)
        means.append((thread_time_ns() - start) / counts.cold / 1000)
        each += [spent / 1000 for spent, _ in timed_cold(draw, counts.cold)]
    return min(means), statistics.median(each)


def first(name: str, repeats: int) -> float:
    """Milliseconds of wall time of the very first sample of a process, imports not counted; the least of several."""
    code = (
        f"from discreet.noise import {name.replace(' ', '_').lower()} as draw; from time import perf_counter_ns as now"
    )
    command = [sys.executable, "-c", f"{code}; start = now(); draw(10); print(now() - start)"]
    return min(int(subprocess.check_output(command)) for _ in range(min(5, repeats))) / 1e6


def abs_of(values: Any) -> tuple[float, float]:
    sizes = np.abs(values)
    return float(sizes.mean()), float(sizes.max())


def timed_cold(draw: Callable[[Any], Any], times: int) -> list[tuple[int, float]]:
    fresh = iter(list(itertools.islice(new_scales, times)))
    return timed(lambda: draw(next(fresh)), times)


def side_channel(peers: dict[str, Any], counts: Counts) -> Table:
    """Whether the time of a call tells the size of its value."""
    few = counts.timed // 10
    rows = []
    for s in (10, 1000):
        pairs = [timed(lambda d=d, s=s: d(s), counts.timed) for d in SINGLE.values()]
        rows.append([f"one sample, warm, scale {s}", *map(auc, pairs)])
        batches = [timed(lambda d=d, s=s: d(s, 1000), few, abs_of) for d in SINGLE.values()]
        for by, pick in (("mean", 0), ("largest", 1)):
            areas = [auc([(spent, sizes[pick]) for spent, sizes in batch]) for batch in batches]
            rows.append([f"1,000 samples, scale {s}, by the {by}", *areas])
    rows.append(["one sample, cold, scale about 1000", *(auc(timed_cold(d, few)) for d in SINGLE.values())])
    if OPENDP in peers:
        calls = [opendp(peers[OPENDP], gaussian, 1000, 1) for gaussian in (False, True)]
        rows.append(["OpenDP, one sample, scale 1000", *(auc(timed(call, few)) for call in calls)])
    text = (
        "The chance that a call whose value is among the top 5 % by size takes longer (wall time) than one among the bottom 5 %, with "
        "its standard error. 0.5: the time tells nothing. For an array the size is the mean, or the largest, of its absolute values."
    )
    return Table("Time and value", text, ["call", *SINGLE], rows)


def goals(rows: list[Row], colds: dict[str, float], extra: dict[str, float]) -> Table:
    """What was aimed at, the worst that was measured, and whether that is enough."""
    big = [row for row in rows if row.n > 1000]
    found = []

    def most(goal: str, limit: float, values: dict[str, float]) -> None:
        worst = max(values, key=values.__getitem__)
        state = "reached" if values[worst] <= limit else "missed"
        found.append([goal, f"≤ {limit:g}", f"{values[worst]:.3g} ({worst})", state])

    def ratios(pick: Callable[[Row], bool]) -> dict[str, float]:
        return {f"{row.name} {row.scale}".strip(): row.ratio for row in big if pick(row)}

    for name, against, limit in (("discrete Laplace", "laplace", 0.6), ("discrete Gaussian", "normal", 0.85)):
        small = ratios(lambda row, name=name: row.name == name and SCALES[row.scale] < 128)
        large = ratios(lambda row, name=name: row.name == name and SCALES[row.scale] >= 128)
        most(f"{name} below scale 128, ratio to NumPy's {against}", 0.25, small)
        most(f"{name} from scale 128 on, ratio to NumPy's {against}", limit, large)
    coins = ratios(lambda row: row.name.startswith("Bernoulli") or row.name == "response, 2 answers")
    most("Bernoulli and binary response, ratio to NumPy", 0.5, coins)
    short = {n: {f"{r.name} {r.scale}": r.ns[OURS] for r in rows if r.n == n} for n in (1, 1000)}
    most("1,000 samples, warm: ns a sample", 100, short[1000])
    most("one sample, warm: µs", 3, {name: ns / 1000 for name, ns in short[1].items()})
    most("one sample, new scale: µs", 15, colds)
    most("memory beyond the result: MB", 4, extra)
    integer = [row for row in big if OPENDP in row.ns and "discrete" in row.name]
    against = {f"{row.name} {row.scale}": row.faster(OPENDP) for row in integer}
    if against:
        least = min(against, key=against.__getitem__)
        state = "reached" if against[least] >= 500 else "missed"
        found.append(["times faster than OpenDP", "≥ 500", f"{against[least]:,.0f} ({least})", state])
    else:
        found.append(["times faster than OpenDP", "≥ 500", "OpenDP is absent", "not measured"])
    text = f"For large arrays of {Counts.n:,}; the worst figure counts."
    if any(row.n < Counts.n for row in big):
        text += " This run used small counts, so it says little."
    return Table("Goals", text, ["goal", "limit", "measured", ""], found)


def measure(peers: dict[str, Any], counts: Counts) -> Iterator[Table]:
    both, n = (False, True), counts.n
    absent = [peer for peer in (OPENDP, DIFFPRIVLIB) if peer not in peers]
    note = f"Absent in this run: {', '.join(absent)}." if absent else ""
    large = [discrete(g, scale, n, 1, peers, counts) for g in both for scale in SCALES]
    yield Table("Integer noise, large arrays", note, HEAD, [row.cells() for row in large])
    rest = [other(*each, peers, counts) for each in others(n)]
    yield Table("Other distributions, large arrays", note, HEAD, [row.cells() for row in rest])
    some = ("1", "10", "1000", "2^40")
    short = [discrete(g, scale, 1000, 41, peers, counts) for g in both for scale in some]
    short += [discrete(g, scale, 1, BLOCK, peers, counts) for g in both for scale in some]
    yield Table("Short arrays and single values, warm", note, HEAD, [row.cells() for row in short])
    colds = {name: cold(draw, counts) for name, draw in SINGLE.items()}
    starts = {name: first(name, counts.repeats) for name in SINGLE}
    rows = [[name, *(f"{us:.1f}" for us in colds[name]), f"{starts[name]:.2f}"] for name in SINGLE]
    text = "A scale not seen before in a warm process; and the very first sample of a process after its imports (wall time)."
    yield Table("First samples", text, ["distribution", "mean, µs", "median, µs", "first of all, ms"], rows)
    pairs = {f"{name} {scale}".strip(): pair for name, scale, pair in others(n)}
    rng = np.random.default_rng()
    for name, draw, theirs in zip(SINGLE, SINGLE.values(), (rng.laplace, rng.normal), strict=True):
        for scale in ("10", "1000", "2^40"):
            s = SCALES[scale]
            pairs[f"{name} {scale}"] = (lambda d=draw, s=s: d(s, n), lambda t=theirs, s=s: t(0.0, s, n))
    extra = {name: memory(ours) for name, (ours, _) in pairs.items()}
    rows = [[name, f"{extra[name]:.2f}", f"{memory(pairs[name][1]):.2f}"] for name in pairs]
    text = f"Megabytes at the peak of a call beyond its result, n = {n:,}."
    yield Table("Memory", text, ["distribution", "ours", "NumPy"], rows)
    yield side_channel(peers, counts)
    yield goals([*large, *rest, *short], {name: mean for name, (mean, _) in colds.items()}, extra)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small counts")
    parser.add_argument("--markdown", action="store_true", help="write docs/performance.md")
    add_option(parser)
    chosen = parser.parse_args()
    if chosen.against is not None:
        print(beside("Noise", chosen.against, 3 if chosen.quick else 9, [Work("drawing.py")]).plain())
        return
    load = os.getloadavg()[0]
    peers = load_peers()
    counts = Counts(n=100_000, repeats=2, timed=4000) if chosen.quick else Counts()
    named = [f"Python {platform.python_version()}"]
    named += [f"{name} {version(name)}" for name in (OURS, NUMPY, "cryptography", *peers)]
    date = datetime.now(UTC).date().isoformat()
    introduction = INTRODUCTION.format(
        repeats=counts.repeats, date=date, machine=machine(), load=load, versions=", ".join(named)
    )
    print(introduction.rpartition("\n\n")[2].rstrip(), flush=True)
    tables = []
    for table in measure(peers, counts):
        tables.append(table)
        print(table.plain(), flush=True)
    if chosen.markdown:
        _, mark, after = PAGE.read_text("utf-8").partition(NEXT_PART)  # which `bench/accounting.py` writes
        PAGE.write_text(introduction + "\n".join(table.markdown() for table in tables) + "\n" + mark + after, "utf-8")


if __name__ == "__main__":
    main()
