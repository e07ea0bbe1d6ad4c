"""Several attributes of a person by three ways: `python bench/local.py attributes`.

One attribute that is drawn and said, one that is hidden among fakes, and all attributes at ε/d each; always 10 labels with Zipf's shares,
in another order for each attribute, and the protocol that is chosen for them.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import sqrt

import numpy as np

from discreet.local import HiddenAttribute, OneAttribute, choose, choose_attributes
from discreet.local.attribute_estimates import attribute_estimates
from discreet.local.estimates import shares

from .table import Table

LABELS, PEOPLE, RUNS = 10, 20_000, 1_000
MEAN = Fraction(1, LABELS)  # of shares: a variance is linear in the share but for who was drawn

Estimated = Callable[[], np.ndarray]


def main() -> None:
    rows = []
    for d in (2, 5, 10):
        records = people(d)
        true = np.array([np.bincount(column, minlength=LABELS) for column in records.T]) / PEOPLE
        for epsilon in (1, 3):
            cells = [f"{d}", f"{epsilon}"]
            for theory, estimated in ways(records, true, epsilon):
                errors = [float(((estimated() - true) ** 2).mean()) for _ in range(RUNS)]
                cells.append(f"{100 * sqrt(np.mean(errors)):.3f}")
                cells.append(f"{np.mean(errors) / theory:.3f} ± {np.std(errors) / theory / sqrt(RUNS):.3f}")
            rows.append(cells)
    head = ["attributes", "ε", "drawn and said, %", "to theory", "hidden, %", "to theory", "ε/d each, %", "to theory"]
    text = f"{PEOPLE:,} people, {LABELS} labels each, {RUNS} runs; beside it squared errors to the formula's"
    print(Table("Standard error of a share of several attributes", text, head, rows).plain())


def people(d: int) -> np.ndarray:
    """The cells of all people, the same at each call."""
    draw, weights = np.random.default_rng(1), 1 / np.arange(1, LABELS + 1)
    shares = weights / weights.sum()
    return np.stack([draw.choice(LABELS, PEOPLE, p=draw.permutation(shares)) for _ in range(d)], axis=1)


def ways(records: np.ndarray, true: np.ndarray, epsilon: int) -> Iterator[tuple[float, Estimated]]:
    """The mean squared error by the formula, and an estimate of all shares, by each way."""
    d = records.shape[1]
    domain = choose_attributes({str(each): LABELS for each in range(d)}, epsilon, PEOPLE)
    said, hidden = OneAttribute.of(domain, epsilon), HiddenAttribute.of(domain, epsilon)
    split = choose(LABELS, Fraction(epsilon, d), PEOPLE).protocol

    def of_all(protocol: OneAttribute | HiddenAttribute) -> np.ndarray:
        totals = protocol.accumulate(protocol.randomise(records))
        found = attribute_estimates(protocol, domain, totals, PEOPLE)
        return np.array([found[name].values for name in domain.names])

    def of_each() -> np.ndarray:
        totals = [split.accumulate(split.randomise(column)) for column in records.T]
        labels = tuple(range(LABELS))
        return np.array([shares(split.p, split.q, labels, split.support(own, PEOPLE), PEOPLE).values for own in totals])

    about = PEOPLE // d
    drawn = float((true * (1 - true)).mean()) / about * (PEOPLE - about) / (PEOPLE - 1)
    yield float(said.parts[0].variance(MEAN, about)) + drawn, lambda: of_all(said)
    yield float(hidden.variance(0, MEAN, PEOPLE)), lambda: of_all(hidden)
    yield float(split.variance(MEAN, PEOPLE)), of_each


if __name__ == "__main__":
    main()
