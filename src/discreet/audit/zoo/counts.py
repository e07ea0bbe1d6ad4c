"""Counts: people who are counted as rows, cells that are hidden or shown by what they hold, and prices of several for one."""

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.zoo.specimen import SAMPLING, TWINS, Ints, Specimen, additive, rows_of
from discreet.errors import Refused
from discreet.mechanisms.gaussian import RoundedGaussian
from discreet.mechanisms.geometric import Geometric
from discreet.noise import discrete_gaussian, discrete_laplace

if TYPE_CHECKING:
    from discreet.audit.twins import Draws

BOTH = (TWINS, SAMPLING)
FEW = 5
CELLS = 16
SIGMA = 4
ONE = Geometric(1)


def at_most_the_rows(rows: list[int], size: int) -> Ints:
    return np.minimum(len(rows) + discrete_laplace(1, size), len(rows))


def at_most_the_rows_drawn(rows: list[int], draws: "Draws") -> Any:
    return min(draws(ONE, 1, lambda: len(rows)), len(rows))


def nothing_is_exact(count: int, size: int) -> Ints:
    return count + discrete_laplace(1, size) if count else np.zeros(size, np.int64)


def nothing_is_exact_drawn(count: int, draws: "Draws") -> Any:
    return draws(ONE, 1, lambda: count) if count else 0


def suppressed(count: int, size: int) -> Any:
    return count + discrete_laplace(1, size) if count >= FEW else [None] * size


def suppressed_drawn(count: int, draws: "Draws") -> Any:
    return draws(ONE, 1, lambda: count) if count >= FEW else None


def suppressed_by_noise(count: int, size: int) -> Ints:
    noisy = count + discrete_laplace(1, size)
    return np.where(noisy >= FEW, noisy, 0)


def suppressed_by_noise_drawn(count: int, draws: "Draws") -> Any:
    noisy = draws(ONE, 1, lambda: count)
    return noisy if noisy >= FEW else 0


def histogram(cells: list[int], size: int) -> list[list[int]]:
    return rows_of([count + discrete_laplace(1, size) for count in cells])


def histogram_drawn(cells: list[int], draws: "Draws") -> Any:
    return draws(ONE, 1, lambda: cells)


def wide_histogram(cells: list[int], size: int) -> list[list[int]]:
    return rows_of([count + discrete_laplace(2, size) for count in cells])


def wide_histogram_drawn(cells: list[int], draws: "Draws") -> Any:
    return draws(Geometric(2), 2, lambda: cells)


def largest_move(there: int, size: int) -> Ints:
    """The total of a vector of 16 counts, each of which one person moves by 1."""
    totals: Ints = CELLS * there + discrete_gaussian(SIGMA, (size, CELLS)).sum(axis=1)
    return totals


def largest_move_drawn(there: int, draws: "Draws") -> Any:
    return draws(RoundedGaussian(SIGMA), 1, lambda: [there] * CELLS)


def euclidean_move(there: int, size: int) -> Ints:
    totals: Ints = CELLS * there + discrete_gaussian(4 * SIGMA, (size, CELLS)).sum(axis=1)
    return totals


def euclidean_move_drawn(there: int, draws: "Draws") -> Any:
    return draws(RoundedGaussian(4 * SIGMA), 4, lambda: [there] * CELLS)


def several(rows: list[int], size: int) -> Ints:
    """Four counts of the same rows, each with noise of its own; they add up here."""
    totals: Ints = 4 * len(rows) + discrete_laplace(1, (size, 4)).sum(axis=1)
    return totals


def refuses_few(count: int) -> int:
    if count < FEW:
        raise Refused("too few people: nothing was charged")
    return count + int(discrete_laplace(1))


def refuses_few_drawn(count: int, draws: "Draws") -> Any:
    if count < FEW:
        raise Refused("too few people: nothing was charged")
    return draws(ONE, 1, lambda: count)


BROKEN = (
    additive(
        "rows-for-people",
        "Rows are counted with noise for one, and a person has up to twenty of them.",
        "libraries whose unit of privacy is a row, such as diffprivlib, on tables with several rows of a person",
        len,
        ([1], [1] + [2] * 20),
    ),
    Specimen(
        "at-most-the-rows",
        "A noisy count is cut off at the exact number of rows, as it cannot be more.",
        "Qrlew: half of its COUNT(*) answers are the exact count",
        at_most_the_rows,
        (([1], [1, 1]),),
        run=at_most_the_rows_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "nothing-is-exact",
        "Where nobody is counted there is nobody to protect, so 0 gets no noise.",
        "tables that keep the zeros of the data as they are",
        nothing_is_exact,
        ((0, 1),),
        run=nothing_is_exact_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "exact-suppression",
        "Cells of fewer than five people are left out, by their exact count; the others get noise.",
        "the rule of small cells, added to differential privacy 'to be safe'",
        suppressed,
        ((FEW - 1, FEW),),
        run=suppressed_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "histogram-under-replace",
        "A person who is replaced moves two cells, and the noise is for one.",
        "OpenDP #2926: a metric cast; MST scores #2951",
        histogram,
        (([5, 5], [6, 4]),),
        truth=2.0,
        run=histogram_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "largest-move-for-length",
        "Gaussian noise on sixteen counts, for the largest move of one of them in place of the length of all moves.",
        "OpenDP #2924: a tree of sums with an L2 sensitivity that is too small",
        largest_move,
        ((0, 1),),
        delta=1e-5,
        truth=None,
        run=largest_move_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "several-for-one",
        "Four counts of the same people at the price of one.",
        "SmartNoise odometer #621; dp-accounting repeat count",
        several,
        (([1], [1, 1]),),
        truth=4.0,
    ),
    Specimen(
        "refuses-few",
        "A question about fewer than five people is refused, by the exact count, and costs nothing.",
        "PINQ's budget channel (Haeberlen, Pierce and Narayan 2011)",
        refuses_few,
        ((FEW - 1, FEW),),
        many=False,
        run=refuses_few_drawn,
        detected_by=BOTH,
    ),
)

SOUND = (
    additive(
        "people-for-people",
        "People are counted, whatever rows they have.",
        "COUNT(DISTINCT person)",
        lambda rows: len(set(rows)),
        ([1], [1] + [2] * 20),
        mends="rows-for-people",
    ),
    Specimen(
        "noisy-suppression",
        "Cells whose noisy count is below five are left out.",
        "post-processing",
        suppressed_by_noise,
        ((FEW - 1, FEW),),
        truth=1,
        run=suppressed_by_noise_drawn,
        mends="exact-suppression",
    ),
    Specimen(
        "histogram-for-replace",
        "A person who is replaced moves two cells, and the noise is for two.",
        "Dwork et al. 2006",
        wide_histogram,
        (([5, 5], [6, 4]),),
        truth=1,
        run=wide_histogram_drawn,
        mends="histogram-under-replace",
    ),
    Specimen(
        "length-of-the-moves",
        "Gaussian noise on sixteen counts, for the length of all moves.",
        "Dwork and Roth 2014",
        euclidean_move,
        ((0, 1),),
        delta=1e-5,
        truth=1,
        run=euclidean_move_drawn,
        mends="largest-move-for-length",
    ),
)
