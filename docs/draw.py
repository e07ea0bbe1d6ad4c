"""Draws the pictures of docs/mechanisms.md, docs/attacks.md, docs/limits.md, docs/survey.md, docs/weights.md and docs/local.md,
as SVG.

`.venv/bin/python docs/draw.py` draws all, with the name of a page its own.

Those of mechanisms come from the mechanisms themselves: the probability of every output for two neighbouring inputs x and x′, and beside it
the privacy loss of each output. Those of attacks come from attacks that are played; their numbers are printed, for the page. Those of
limits are computed for people whose numbers of rows are the quantiles of a distribution.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import exp, log, pi, sqrt
from pathlib import Path
from statistics import NormalDist
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from discreet import Curator, attacks, local, unmetered, weights
from discreet.cells import Binned
from discreet.cli.hospital import REGIONS, SEXES, WARDS, hospital
from discreet.curator.survey.page import histogram, lying
from discreet.mechanisms import (
    AboveThreshold,
    CoinToss,
    DiscreteGaussian,
    Exponential,
    Geometric,
    Quantiles,
    RandomizedResponse,
    SignedResponse,
)
from discreet.mechanisms.bernoulli_mean import mean_widths
from discreet.mechanisms.keys import GaussianThreshold, LaplaceThreshold, OptimalKeys
from discreet.mechanisms.vector import choose
from discreet.noise import Tape
from discreet.plan.ladder import ladder
from discreet.weights.arrays import ArrayTable
from discreet.weights.domain import Domain
from discreet.weights.histogram_learning import mwem
from discreet.weights.pictures import counts_picture, pairs_picture
from discreet.weights.workload import Workload
from discreet.weights.worst import Progress

FOLDER = Path(__file__).parent / "pictures"
WIDE, HIGH, LEFT, BELOW, ABOVE = 360, 240, 48, 40, 30
TRIALS = 5_000  # of each attack on each release
COLOURS = ("#4c78a8", "#f58518", "#54a24b")
Points = Sequence[tuple[float, float]]
Real = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """Named series over one axis: bars beside each other, or lines."""

    title: str
    series: dict[str, Points]
    bars: bool = False
    low: float = 0.0

    def svg(self, shift: float) -> str:
        points = [point for series in self.series.values() for point in series]
        first, last = min(x for x, _ in points), max(x for x, _ in points)
        bottom = min(self.low, *(y for _, y in points))
        top = max(*(y for _, y in points), bottom + 1e-9)
        room = 0.5 if self.bars else 0.0
        across = (WIDE - LEFT - 12) / (last - first + 2 * room or 1)
        up = (HIGH - BELOW - ABOVE) / (top - bottom)

        def at(x: float, y: float) -> tuple[float, float]:
            return shift + LEFT + (x - first + room) * across, HIGH - BELOW - (y - bottom) * up

        drawn = [self._marks(series, i, at, across) for i, series in enumerate(self.series.values())]
        return "\n".join([self._frame(shift, at, (first, last), (bottom, top)), *drawn, self._legend(shift)])

    def _marks(self, series: Points, i: int, at: Callable[[float, float], tuple[float, float]], across: float) -> str:
        colour = COLOURS[i % len(COLOURS)]
        if not self.bars:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in series))
            return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        width = 0.8 * across / len(self.series)
        base = at(0, 0)[1]
        marks = []
        for x, y in series:
            left, height = at(x, y)
            left += (i - len(self.series) / 2) * width
            marks.append(
                f'<rect x="{left:.1f}" y="{min(height, base):.1f}" width="{width:.1f}" '
                f'height="{max(abs(base - height), 0.5):.1f}" fill="{colour}"/>'
            )
        return "\n".join(marks)

    def _frame(
        self,
        shift: float,
        at: Callable[[float, float], tuple[float, float]],
        xs: tuple[float, float],
        ys: tuple[float, float],
    ) -> str:
        parts = [_text(shift + LEFT, 16, self.title, bold=True)]
        axis = at(xs[0], max(0.0, ys[0]))[1]
        parts.append(
            f'<line x1="{shift + LEFT}" x2="{shift + WIDE - 12}" y1="{axis:.1f}" y2="{axis:.1f}" stroke="#888"/>'
        )
        for x in sorted({xs[0], (xs[0] + xs[1]) / 2, xs[1]}):
            parts.append(_text(at(x, 0)[0], HIGH - BELOW + 16, f"{x:.3g}", middle=True))
        for y in sorted({ys[0], 0.0, ys[1]}):
            parts.append(_text(shift + LEFT - 6, at(xs[0], y)[1] + 4, f"{y:.2g}", end=True))
        return "\n".join(parts)

    def _legend(self, shift: float) -> str:
        names = list(self.series) if len(self.series) > 1 else []
        return "\n".join(
            _text(shift + LEFT + 130 * i, HIGH - 6, name, colour=COLOURS[i % len(COLOURS)])
            for i, name in enumerate(names)
        )


def _text(
    x: float, y: float, words: str, *, bold: bool = False, middle: bool = False, end: bool = False, colour: str = "#333"
) -> str:
    anchor = "middle" if middle else "end" if end else "start"
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{escape(words)}</text>'


def write(name: str, *panels: Panel) -> None:
    inner = "\n".join(panel.svg(i * WIDE) for i, panel in enumerate(panels))
    size = f'width="{WIDE * len(panels)}" height="{HIGH}" viewBox="0 0 {WIDE * len(panels)} {HIGH}"'
    style = 'font-family="sans-serif" font-size="12"'
    back = f'<rect width="{WIDE * len(panels)}" height="{HIGH}" fill="white"/>'
    FOLDER.mkdir(exist_ok=True)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n{back}\n{inner}\n</svg>\n'
    (FOLDER / f"{name}.svg").write_text(svg, "utf-8")


def two_inputs(name: str, p: Points, q: Points, bars: bool) -> None:
    """The probabilities, and the loss ln P/Q of each output."""
    what = "probability of each output" if bars else "density of the output"
    loss = [(x, log(a / b)) for (x, a), (_, b) in zip(p, q, strict=True) if a > 0 and b > 0]
    write(
        name,
        Panel(what, {"input x": p, "input x′": q}, bars),
        Panel("privacy loss of each output", {"loss": loss}, bars),
    )


def counted(name: str, probability: Callable[[int, int], object], outputs: range, x: int, y: int) -> None:
    def of(given: int) -> Points:
        return [(z, float(probability(z, given))) for z in outputs]  # type: ignore[arg-type]

    two_inputs(name, of(x), of(y), bars=True)


def densities(name: str, density: Callable[[float], float], x: float, y: float, reach: float) -> None:
    grid = [x - reach + 2 * reach * i / 240 for i in range(241)]
    two_inputs(name, [(z, density(z - x)) for z in grid], [(z, density(z - y)) for z in grid], bars=False)


def selection() -> None:
    exponential = Exponential(Fraction(1))
    scores = ([3, 5, 4, 0, 2], [4, 4, 4, 1, 2])
    p, q = ([(i, exponential.probability(i, given)) for i in range(5)] for given in scores)
    two_inputs("exponential", p, q, bars=True)
    above = AboveThreshold(Fraction(1), threshold=50)
    chance = [(count, above.probability([True], [count])) for count in range(0, 101, 2)]
    write("above-threshold", Panel("probability of 'above 50', by count", {"ε = 1": chance}))
    median = Quantiles(Fraction(1, 4), (Fraction(1, 2),), 0, 20, cells=21)
    counts = np.array([0, 0, 1, 2, 3, 5, 8, 9, 12, 10, 8, 6, 4, 3, 2, 1, 1, 0, 0, 0, 0])
    other = counts.copy()
    other[20] += 1
    p, q = ([(z, median.probability([z], given)) for z in range(21)] for given in (counts, other))
    two_inputs("quantiles", p, q, bars=True)


def keys() -> None:
    budget = {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)}
    rules = {
        "Laplace": LaplaceThreshold.for_budget(**budget),
        "Gaussian": GaussianThreshold.for_budget(**budget),
        "optimal": OptimalKeys.for_budget(**budget),
    }
    kept = {name: [(n, float(rule.keeps(n)[1])) for n in range(0, 41)] for name, rule in rules.items()}  # type: ignore[attr-defined]
    write("keys", Panel("a key is kept, by how many have it", kept))


def means() -> None:
    p = np.linspace(0.0, 1.0, 41)
    widths = mean_widths(100, Fraction(1), p)
    shown = {name: list(zip(p.tolist(), widths[name].tolist(), strict=True)) for name in ("plain", "geometric")}
    write("bernoulli", Panel("mean width of 95 % intervals for p", shown))
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    found = [choose(1, Fraction(1, 10**6), k, Fraction(str(sqrt(k))), k) for k in sizes]
    errors = {
        "Laplace": [(log(k, 2), log(each.laplace_error, 10)) for k, each in zip(sizes, found, strict=True)],
        "Gaussian": [(log(k, 2), log(each.gaussian_error or 1, 10)) for k, each in zip(sizes, found, strict=True)],
    }
    write("vectors", Panel("log10 of n·error, by log2 of dimension", errors))


def attacked() -> None:
    for name in attacks.names():
        report = attacks.run(name, trials=TRIALS)
        svg = report.to_svg().replace("<svg ", '<svg style="background: white" ', 1)
        (FOLDER / f"attack-{name}.svg").write_text(svg, "utf-8")
        print(report, end="\n\n")


def mechanisms() -> None:
    counted("geometric", Geometric(Fraction(3)).probability, range(-9, 12), 0, 1)
    counted("discrete-gaussian", DiscreteGaussian(Fraction(3)).probability, range(-9, 12), 0, 1)
    densities("laplace", lambda z: exp(-abs(z) / 2) / 4, 0.0, 1.0, 8.0)
    densities("gaussian", lambda z: exp(-z * z / 8) / (2 * sqrt(2 * pi)), 0.0, 1.0, 8.0)
    counted("randomized-response", RandomizedResponse(Fraction(1), 4).probability, range(4), 0, 1)
    counted("coin-toss", CoinToss().probability, range(2), 0, 1)
    counted("signed-response", SignedResponse(Fraction(1, 4)).probability, range(2), 1, -1)
    selection()
    keys()
    means()


def quantiles(kind: Callable[[float], float], people: int = 4_000) -> Real:
    """The rows of people, one for each quantile."""
    return np.array([max(1.0, float(round(kind((i + 0.5) / people)))) for i in range(people)])


def log_normal(sigma: float) -> Callable[[float], float]:
    return lambda level: 10 * exp(sigma * NormalDist().inv_cdf(level))


def uniform(level: float) -> float:
    return 1 + 999 * level


def traveller(level: float) -> float:
    """Nine in ten have one to four rows, most others up to 39, one in a hundred 50 to 250."""
    parts = ((0.0, 0.9, 1, 4), (0.9, 0.99, 10, 39), (0.99, 1.0, 50, 250))
    return next(low + (high - low) * (level - start) / (end - start) for start, end, low, high in parts if level <= end)


def cut_off(rows: Real, limits: Real) -> Real:
    return np.array([np.maximum(0, rows - limit).sum() for limit in limits])


def bias_and_noise(title: str, rows: Real, epsilon: float = 0.5) -> Panel:
    """What a limit cuts off, and the noise that it needs, against the limit; both axes are logarithms."""
    limits = np.array([1.1**i for i in range(110) if 1.1**i <= 4 * rows.max()])
    cut, noise = cut_off(rows, limits), limits / epsilon
    series = {"cut off": cut, "noise": noise, "both": cut + noise}
    shown = {
        name: [(log(c, 10), log(y, 10)) for c, y in zip(limits, values, strict=True) if y >= 1]
        for name, values in series.items()
    }
    return Panel(title, shown)


def stops(rows: Real, epsilon: float) -> Points:
    """The probability of each rung to be the one that the sparse-vector test stops at, by the distribution of the threshold's noise."""
    rungs = ladder(4 * int(rows.max()))
    scale = 2 / epsilon
    levels = (np.arange(2_000) + 0.5) / 2_000
    threshold = 1.25 * scale + scale * np.where(levels < 0.5, np.log(2 * levels), -np.log(2 * (1 - levels)))
    still, found = np.ones(len(levels)), []
    for rung in rungs:
        above = (threshold - (rows > rung).sum()) / scale
        passes = np.where(above < 0, np.exp(-np.abs(above)) / 2, 1 - np.exp(-np.abs(above)) / 2)
        found.append((log(rung, 10), float((still * passes).mean())))
        still = still * (1 - passes)
    return found


def limits() -> None:
    write(
        "limits-light",
        bias_and_noise("uniform 1 … 1,000: log10 of rows, by log10 of C", quantiles(uniform)),
        bias_and_noise("few heavy travellers", quantiles(traveller)),
    )
    write(
        "limits-heavy",
        bias_and_noise("log-normal, σ = 1: log10 of rows, by log10 of C", quantiles(log_normal(1))),
        bias_and_noise("log-normal, σ = 2", quantiles(log_normal(2))),
    )
    rows = quantiles(log_normal(1))
    choices = np.array([1.1**i for i in range(62)])
    errors = {
        f"{groups} group{'s' * (groups > 1)}": cut_off(rows, choices) / groups + choices / 0.5
        for groups in (1, 50, 500)
    }
    beside = {
        name: [(log(c, 10), log(y / values.min(), 10)) for c, y in zip(choices, values, strict=True)]
        for name, values in errors.items()
    }
    found = {f"{n:,} people": stops(quantiles(log_normal(1), n), 0.125) for n in (500, 4_000, 50_000)}
    write(
        "limits-found",
        Panel("σ = 1: log10 of error beside the best, by log10 of C", beside),
        Panel("σ = 1: probability to be found, by log10 of C", found),
    )


def surveyed() -> None:
    """Three columns of the profile of a made-up hospital, as its page draws them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "visits.csv"
        hospital(5_000).write(path)
        with Curator({"visits": path}, "patient_id", epsilon=5, delta=1e-6, ledger=":memory:") as curator:
            facts = curator.survey(2)
    print(facts)
    pictures = {}
    for name in ("age", "cost", "ward"):
        column = facts.column(name)
        assert column is not None
        pictures[name] = histogram(column.range, column.type) if column.range else lying(column.counted)
    stack("survey", pictures)


def stack(file: str, pictures: dict[str, str]) -> None:
    """Pictures of a page below each other, each with its name before it, as one file."""
    parts, top = [], 0
    for name, picture in pictures.items():
        wide, height = map(float, picture.split('viewBox="0 0 ')[1].split('"')[0].split())
        placed = picture.replace("<svg ", f'<svg x="110" y="{top}" width="{wide:g}" height="{height:g}" ', 1)
        parts.append(f'<text x="8" y="{top + 16}" font-weight="bold">{name}</text>{placed}')
        top += int(height) + 24
    style = "text{font:12px sans-serif}rect{fill:#4477aa}path{stroke:black;opacity:.55;fill:none}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 690 {top}" style="background: white"><style>{style}</style>'
    (FOLDER / f"{file}.svg").write_text(f"{head}{''.join(parts)}</svg>\n", "utf-8")


def checked() -> None:
    """Pairs of attributes and wards of a model of a made-up hospital, as the page on its quality draws them."""
    known = {
        "age": {"type": "integer", "bounds": (0, 99)},
        "ward": {"keys": list(WARDS)},
        "sex": {"keys": list(SEXES)},
        "region": {"keys": list(REGIONS)},
        "cost": {"bounds": (0, 10_000)},
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "visits.csv"
        hospital(20_000).write(path)
        terms = {"epsilon": 5, "delta": 1e-6, "ledger": ":memory:"}
        with Curator({"visits": path}, "patient_id", known, **terms) as curator:
            visits = curator.table("visits")
            learned = weights.learn(visits, list(known), epsilon=1, delta=1e-9, workload=2)
            report = weights.quality(visits, learned, epsilon=0.5, delta=1e-9)
    print(report)
    wards = next(each for each in report.attributes if each.name == "ward")
    stack("quality", {"pairs": pairs_picture(report), "ward": counts_picture(wards)})


def converging(rounds: tuple[int, int], **ways: bool) -> dict[str, Points]:
    """The shares of 24 bins of age that a histogram has after so many rounds of learning ranges, beside the exact ones."""
    random = np.random.default_rng(0)
    ages = np.concatenate([random.normal(22, 5, 6_000), random.normal(62, 14, 14_000)]).clip(0, 95)
    domain = Domain((Binned("age", tuple(range(0, 97, 4)), missing=False),))
    codes = (ages // 4).astype(int)[:, None]
    shares = np.bincount(codes[:, 0], minlength=24) / ages.size
    seen: dict[str, Points] = {"exact": [(4 * i, share) for i, share in enumerate(shares.tolist())]}

    def note(state: Progress) -> None:
        if state.done in rounds:
            seen[f"t = {state.done}"] = [(4 * i, share) for i, share in enumerate(state.model.weights.tolist())]

    mwem(
        ArrayTable(domain, codes, unmetered(Tape(1))),
        epsilon=0.5,
        workload=Workload.ranges(domain, "age"),
        rounds=rounds[-1],
        progress=note,
        start=False,
        adaptive=False,
        **ways,
    )
    return seen


def weighted() -> None:
    """A histogram as it converges: by the textbook, and with all measurements replayed."""
    write(
        "weights-converging",
        Panel("the textbook, ε = 0.5: share by age", converging((4, 24), replay=False)),
        Panel("all measurements replayed", converging((4, 12), replay=True)),
    )


def local_central() -> None:
    """What it costs that nobody needs to be trusted."""
    found = local.compare(10**6, 1000, 1)
    print(found)
    (FOLDER / "local-central.svg").write_text(found.to_svg() + "\n", "utf-8")


PAGES = {
    "mechanisms": mechanisms,
    "attacks": attacked,
    "limits": limits,
    "survey": surveyed,
    "quality": checked,
    "weights": weighted,
    "local": local_central,
}

if __name__ == "__main__":
    for page in sys.argv[1:] or PAGES:
        PAGES[page]()
