"""How often the intervals of answers hold the truth, and how wide they are, through the whole pipeline: text, plan, engine, noise, answer.

Every group of a table has the same rows, so one answer is as many runs as there are groups: 200 in `make test`, 4,000 in `make soak`. A
linear statistic is covered in 94 to 96 of 100; any other in 94 at least, and 99.5 at most, by an interval that is at most 1.5 times as wide
as the span that 95 % of the released numbers lie in. Of few runs only what chance cannot do is held against a statistic.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.curator.session import Curator
from tests.scale import repeats

Reals: TypeAlias = NDArray[np.float64]
RUNS = repeats(200)
PEOPLE, ROWS_EACH = 400, 2
FAR = 6.0
"""Standard deviations that chance is given."""


@dataclass(frozen=True)
class Statistic:
    """A statistic: how it is asked, and what it is of the rows of a group, x and y being arrays of people × rows.

    Those that are linear are asked at a price where noise has many steps: of few steps an interval holds the truth more often, as it ends
    at one of them.
    """

    asked: str
    truth: Callable[[Reals, Reals], float]
    linear: bool = False
    epsilon: float = 2
    least: float = 0.94
    most: float = 0.995
    wide: float = 1.5
    step: float = 0
    """Of the grid that numbers and ends lie on: both jump by it."""


def slope(x: Reals, y: Reals) -> float:
    return float(np.cov(x.ravel(), y.ravel())[0, 1] / np.var(x.ravel(), ddof=1))


def ranked(x: Reals, q: float) -> float:
    """The value that holds the rank. On cells as wide as one of few values an interval holds it nearly always."""
    return float(np.quantile(x.ravel(), q, method="inverted_cdf"))


STATISTICS = {
    "count": Statistic("COUNT(*)", lambda x, y: x.size, linear=True, epsilon=0.1),
    "sum": Statistic("SUM(x)", lambda x, y: float(x.sum()), linear=True, epsilon=0.1),
    "values": Statistic("COUNT(DISTINCT x)", lambda x, y: len(np.unique(x)), linear=True, epsilon=0.1),
    "mean": Statistic("AVG(x)", lambda x, y: float(x.mean())),
    "share": Statistic("COUNT(*) FILTER (WHERE x > 40) / COUNT(*)", lambda x, y: float((x > 40).mean())),
    "variance": Statistic("VAR_POP(x)", lambda x, y: float(x.var())),
    "deviation": Statistic("STDDEV(x)", lambda x, y: float(x.std(ddof=1))),
    "covariance": Statistic("COVAR_POP(y, x)", lambda x, y: float(np.cov(x.ravel(), y.ravel(), ddof=0)[0, 1])),
    "correlation": Statistic("CORR(y, x)", lambda x, y: float(np.corrcoef(x.ravel(), y.ravel())[0, 1])),
    "median": Statistic("MEDIAN(x)", lambda x, y: ranked(x, 0.5), epsilon=0.5, most=1, step=1),
    "quartile": Statistic("QUANTILE(x, 0.25)", lambda x, y: ranked(x, 0.25), epsilon=0.5, most=1, step=1),
    "slope": Statistic("REGR_SLOPE(y, x)", slope),
}
KINDS: dict[str, Callable[[np.random.Generator], Reals]] = {
    "even": lambda draw: draw.uniform(0, 100, (PEOPLE, ROWS_EACH)),
    "skewed": lambda draw: np.minimum(100, draw.lognormal(2.5, 0.8, (PEOPLE, ROWS_EACH))),
    "two-valued": lambda draw: 100.0 * (draw.random((PEOPLE, ROWS_EACH)) < 0.3),
}
UNITS: dict[str, dict[str, Any]] = {
    "rows": {"row": True},
    "people": {"unit": "who", "max_rows": ROWS_EACH, "max_groups": 1},
}


def rows_of(kind: str) -> tuple[Reals, Reals]:
    draw = np.random.default_rng(len(kind))
    x = np.round(KINDS[kind](draw))
    return x, np.round(np.clip(50 + 0.5 * (x - 50) + draw.normal(0, 15, x.shape), 0, 100))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_truth_as_often_as_they_say(kind: str, unit: str) -> None:
    x, y = rows_of(kind)
    table = {
        "g": np.repeat(np.arange(RUNS), x.size).tolist(),
        "who": np.repeat(np.arange(RUNS * PEOPLE), ROWS_EACH).tolist(),
        "x": np.tile(x.ravel(), RUNS).tolist(),
        "y": np.tile(y.ravel(), RUNS).tolist(),
    }
    columns = {
        "g": {"type": "integer", "bounds": (0, RUNS - 1)},
        **{name: {"type": "integer", "bounds": (0, 100)} for name in "xy"},
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        Curator({"t": table}, columns=columns, **UNITS[unit], epsilon=10**6, ledger=Path(folder) / "ledger") as curator,
    ):
        wrong = []
        for name, statistic in STATISTICS.items():
            answer = curator.sql(f"SELECT g, {statistic.asked} AS value FROM t GROUP BY g", epsilon=statistic.epsilon)
            told = [row for row in answer.to_dicts(errors=True) if row["value"] is not None]
            wrong += [f"{name}: {each}" for each in faults(statistic, told, statistic.truth(x, y))]
        assert not wrong


def faults(statistic: Statistic, told: list[dict[str, Any]], truth: float) -> Iterator[str]:
    """In what the intervals that were told of one truth are not as they should be."""
    if len(told) < RUNS / 2:
        yield f"told {len(told)} times in {RUNS}"
        return
    low, high, values = (
        np.array([np.nan if row[key] is None else float(row[key]) for row in told])
        for key in ("value_low", "value_high", "value")
    )
    slack = 1e-4 * max(1.0, abs(truth))  # of the public grid, which the ± tells by itself
    covered = float(np.mean(~(low > truth + slack) & ~(high < truth - slack)))
    chance = FAR * sqrt(0.95 * 0.05 / len(told)) if RUNS < 4000 else 0.0
    most = 0.96 if statistic.linear else statistic.most
    if not statistic.least - chance <= covered <= most + chance:
        yield f"{100 * covered:.1f} of 100 hold the truth"
    if RUNS >= 1000:
        span = np.quantile(values, 0.975) - np.quantile(values, 0.025)
        width = float(np.nanmedian(high - low))
        if not width <= statistic.wide * span + statistic.step:
            yield f"{width / span:.2f} times as wide as need be"
