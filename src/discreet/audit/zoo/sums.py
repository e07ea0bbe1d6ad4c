"""Sums and means: bounds that are not bounds, values that are none, and exact numbers beside the noisy ones."""

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.zoo.specimen import SAMPLING, TWINS, Ints, Reals, Specimen, additive, rows_of
from discreet.mechanisms.geometric import Geometric
from discreet.noise import discrete_laplace

if TYPE_CHECKING:
    from discreet.audit.twins import Draws

BOTH = (TWINS, SAMPLING)
MOST = 10
ONE = Geometric(1)
TALL = ([5], [5, 1000])


def clipped(rows: list[int]) -> int:
    return sum(min(max(value, 0), MOST) for value in rows)


def wrapped(rows: list[int]) -> int:
    """The clipped sum as an int8 holds it."""
    return (clipped(rows) + 128) % 256 - 128


def coded(words: list[str]) -> int:
    """Words become numbers in the order of their first appearance."""
    order = list(dict.fromkeys(words))
    return sum(map(order.index, words))


def declared_codes(words: list[str]) -> int:
    return sum(map(("a", "b").index, words))


def per_table(visits: dict[int, tuple[int, int]]) -> int:
    """Rows of everybody in two tables, at most three of each in each table."""
    return sum(min(rows, 3) for tables in visits.values() for rows in tables)


def per_person(visits: dict[int, tuple[int, int]]) -> int:
    return sum(min(sum(tables), 3) for tables in visits.values())


def clipped_batch(gradients: list[int]) -> int:
    return min(max(sum(gradients), -1), 1)


def clipped_gradients(gradients: list[int]) -> int:
    return sum(min(max(each, -1), 1) for each in gradients)


def between_extremes(rows: list[int], size: int) -> Ints:
    """Noise for the range of the data, which are not clamped to anything."""
    width = max(rows) - min(rows)
    return sum(rows) + (discrete_laplace(width, size) if width else np.zeros(size, np.int64))


def between_extremes_drawn(rows: list[int], draws: "Draws") -> Any:
    width = max(rows) - min(rows)
    return draws(Geometric(width), width, lambda: sum(rows)) if width else sum(rows)


def with_missing(rows: list[float], size: int) -> Reals:
    """A float sum: what is not a number stays so, whatever is added."""
    return np.asarray(float(np.clip(rows, 0, MOST).sum()) + discrete_laplace(MOST, size), np.float64)


def with_missing_drawn(rows: list[float], draws: "Draws") -> Any:
    return float(np.clip(rows, 0, MOST).sum()) + draws(Geometric(MOST), MOST, lambda: 0)


def without_missing(rows: list[float], size: int) -> Reals:
    return with_missing(np.nan_to_num(rows).tolist(), size)


def by_exact_count(rows: list[int], size: int) -> Reals:
    return (clipped(rows) + discrete_laplace(MOST, size)) / len(rows)


def by_exact_count_drawn(rows: list[int], draws: "Draws") -> Any:
    return draws(Geometric(MOST), MOST, lambda: clipped(rows)) / len(rows)


def by_noisy_count(rows: list[int], size: int) -> Reals:
    count = np.maximum(len(rows) + discrete_laplace(1, size), 1)
    return (clipped(rows) + discrete_laplace(MOST, size)) / count


def by_noisy_count_drawn(rows: list[int], draws: "Draws") -> Any:
    total = draws(Geometric(MOST), MOST, lambda: clipped(rows))
    return total / max(draws(ONE, 1, lambda: len(rows)), 1)


def with_exact_rows(rows: list[int], size: int) -> list[list[int]]:
    return rows_of([clipped(rows) + discrete_laplace(MOST, size), np.full(size, len(rows))])


def with_exact_rows_drawn(rows: list[int], draws: "Draws") -> Any:
    return [draws(Geometric(MOST), MOST, lambda: clipped(rows)), len(rows)]


def _local(rows: list[int]) -> int:
    """By how much the largest value moves where one row is removed."""
    *_, second, first = sorted(rows)
    return first - second


def by_local(rows: list[int], size: int) -> Ints:
    width = _local(rows)
    return max(rows) + (discrete_laplace(width, size) if width else np.zeros(size, np.int64))


def by_local_drawn(rows: list[int], draws: "Draws") -> Any:
    width = _local(rows)
    return draws(Geometric(width), width, lambda: max(rows)) if width else max(rows)


BROKEN = (
    additive(
        "sensitivity-of-one",
        "Values are clipped to 0 … 10, and their sum gets noise for a count.",
        "diffprivlib: sensitivity 0 for bounds (0, 100); smartnoise-core #356",
        clipped,
        ([5], [5, 10]),
    ),
    additive(
        "no-clamp",
        "Bounds are declared, and values are not clamped to them.",
        "SmartNoise #317 (no bounds, no noise) and #622 (a covariance that is not clipped)",
        sum,
        TALL,
        scale=MOST,
        declared=MOST,
    ),
    additive(
        "clamp-on-the-column",
        "The column is clamped, and SUM(x * 1000) is not.",
        "SmartNoise #201",
        lambda rows: 1000 * clipped(rows),
        ([5], [5, 10]),
        scale=MOST,
        declared=MOST,
    ),
    additive(
        "redefined-column",
        "x is clamped to 0 … 10, then defined anew as 100 x, and keeps its bounds.",
        "OpenDP #2949: claims ρ = 0.5, the truth is 5000",
        lambda rows: sum(100 * min(max(value, 0), MOST) for value in rows),
        ([], [1]),
        scale=MOST,
        declared=MOST,
    ),
    additive(
        "wraps-around",
        "A sum of clipped values wraps around in eight bits.",
        "diffprivlib `sum(dtype=int32)`; OpenDP #2937; Google #40",
        wrapped,
        ([10] * 12, [10] * 13),
        scale=MOST,
        declared=MOST,
    ),
    additive(
        "cap-per-table",
        "Three rows of a person count in each of two tables, and the noise is for three rows in all.",
        "a frequent slip: a cap by table or by group for a cap by person",
        per_table,
        ({1: (1, 0)}, {1: (1, 0), 2: (9, 9)}),
        scale=3,
        declared=3,
    ),
    additive(
        "codes-by-appearance",
        "Words become numbers by the order of their appearance, as if each row were coded by itself.",
        "OpenDP #2944: a sum of 0 and of 99 on neighbours, at ε = 1",
        coded,
        (["b"] * 9, ["a"] + ["b"] * 9),
    ),
    additive(
        "clipped-batch",
        "The sum of a batch is clipped in place of each gradient: one person turns it from −1 to 1.",
        "a frequent slip in private training: clipping the averaged gradient",
        clipped_batch,
        ([-5], [-5, 10]),
    ),
    Specimen(
        "bounds-of-the-data",
        "Bounds are the least and the greatest value of the data.",
        "diffprivlib (a warning only), Qrlew `ranges=True`, synthcity #278, smartnoise #473",
        between_extremes,
        (([5, 5, 5], [5, 5, 5, 100]),),
        run=between_extremes_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "not-a-number",
        "A value that is not a number passes the clamp, and the answer is not a number.",
        "diffprivlib `mean`; Google PR #405; PySyft #6956; Desfontaines 2020",
        with_missing,
        (([1.0], [1.0, float("nan")]),),
        run=with_missing_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "exact-divisor",
        "A mean is a noisy sum over the exact count.",
        "Qrlew takes the exact size of the data for public; Opacus #571",
        by_exact_count,
        (([3], [3, 0]),),
        run=by_exact_count_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "exact-rows-beside",
        "The exact number of rows stands beside the noisy answer.",
        "Qrlew and every report that tells 'n =' in its caption",
        with_exact_rows,
        (([3], [3, 0]),),
        run=with_exact_rows_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "local-sensitivity",
        "Noise for how far this very data set is from its neighbours.",
        "Nissim, Raskhodnikova and Smith 2007, who say why it must be smoothed",
        by_local,
        (([5, 5], [5, 5, 9]),),
        run=by_local_drawn,
        detected_by=BOTH,
    ),
)

SOUND = (
    additive(
        "sensitivity-of-ten",
        "Values are clipped to 0 … 10, and their sum gets noise for 10.",
        "Dwork et al. 2006",
        clipped,
        ([5], [5, 1000]),
        scale=MOST,
        declared=MOST,
        mends="sensitivity-of-one",
    ),
    additive(
        "clamp-on-the-argument",
        "SUM(x * 1000) is clamped to 0 … 10 as a whole.",
        "clamping is the last step before the sum",
        lambda rows: clipped([1000 * value for value in rows]),
        ([5], [5, 10]),
        scale=MOST,
        declared=MOST,
        mends="clamp-on-the-column",
    ),
    additive(
        "wide-integers",
        "A sum of clipped values in integers that hold it.",
        "integer sums of a length that is public",
        clipped,
        ([10] * 12, [10] * 13),
        scale=MOST,
        declared=MOST,
        mends="wraps-around",
    ),
    additive(
        "cap-per-person",
        "Three rows of a person count, in all tables together.",
        "truncation by person",
        per_person,
        ({1: (1, 0)}, {1: (1, 0), 2: (9, 9)}),
        scale=3,
        declared=3,
        mends="cap-per-table",
    ),
    additive(
        "declared-codes",
        "Words become numbers by a list that is declared.",
        "row-wise functions only",
        declared_codes,
        (["b"] * 9, ["b"] * 10),
        mends="codes-by-appearance",
    ),
    additive(
        "clipped-gradients",
        "Each gradient is clipped.",
        "Abadi et al. 2016",
        clipped_gradients,
        ([-5], [-5, 10]),
        mends="clipped-batch",
    ),
    Specimen(
        "missing-is-nothing",
        "A value that is not a number counts as 0.",
        "not a number is NULL when it is loaded",
        without_missing,
        (([1.0], [1.0, float("nan")]), ([1.0], [1.0, 99.0])),
        truth=1,
        mends="not-a-number",
    ),
    Specimen(
        "noisy-divisor",
        "A mean is a noisy sum over a noisy count.",
        "composition and post-processing",
        by_noisy_count,
        (([3], [3, 10]),),
        epsilon=2,
        truth=2,
        run=by_noisy_count_drawn,
        mends="exact-divisor",
    ),
)
