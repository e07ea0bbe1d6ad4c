"""Made-up people: how many rows each of them has, and in which groups these lie."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]
Generator = np.random.Generator


def log_normal(sigma: float) -> Callable[[int, Generator], Whole]:
    """Numbers of rows around 10, whose logarithm has this standard deviation."""
    return lambda people, bits: np.maximum(1, np.rint(10 * np.exp(bits.normal(0, sigma, people)))).astype(np.int64)


def travellers(people: int, bits: Generator) -> Whole:
    """Rows as of flights: nine in ten have a few, most others 10 to 39, and one in a hundred 50 to 249."""
    kind = bits.random(people)
    frequent = np.where(kind < 0.99, bits.integers(10, 40, people), bits.integers(50, 250, people))
    return np.where(kind < 0.9, bits.geometric(0.5, people), frequent)


ONE, TWENTY, UNIFORM, SIGMA_1, SIGMA_2, TRAVEL = (
    "one row each",
    "20 rows each",
    "uniform 1–1,000",
    "log-normal, σ = 1",
    "log-normal, σ = 2",
    "few heavy travellers",
)
ROWS: dict[str, Callable[[int, Generator], Whole]] = {
    ONE: lambda people, bits: np.ones(people, np.int64),
    TWENTY: lambda people, bits: np.full(people, 20),
    UNIFORM: lambda people, bits: bits.integers(1, 1001, people),
    SIGMA_1: log_normal(1),
    SIGMA_2: log_normal(2),
    TRAVEL: travellers,
}

EVEN, ZIPF, TEN, HOME = "even", "Zipf", "ten groups of one's own", "at home in one"


def spread(rows: Whole, shape: str, groups: int, bits: Generator) -> Whole:
    """The rows of each person in each group.

    All people share the groups evenly, or by Zipf's law; or each has ten groups of their own; or four of five rows lie in one group of
    their own, and the others in a second.
    """
    people = len(rows)
    if groups == 1:
        return rows[:, None]
    if shape in (EVEN, ZIPF):
        weights = np.ones(groups) if shape == EVEN else 1 / np.arange(1, groups + 1)
        return bits.multinomial(rows, weights / weights.sum())
    found = np.zeros((people, groups), np.int64)
    if shape == TEN:
        own = min(groups, 10)
        chosen = bits.random((people, groups)).argpartition(own - 1, axis=1)[:, :own]
        np.put_along_axis(found, chosen, bits.multinomial(rows, np.full(own, 1 / own)), axis=1)
        return found
    first = bits.binomial(rows, 0.8)
    np.add.at(found, (np.arange(people), bits.integers(0, groups, people)), first)
    np.add.at(found, (np.arange(people), bits.integers(0, groups, people)), rows - first)
    return found
