"""Mean squared errors against the formula: `python bench/local.py accuracy`, 200 runs of 1000 cells."""

import numpy as np

from .local_people import CELLS, KINDS, people
from .table import Table

RUNS = 200
PEOPLE = {"k-ary": 20_000, "unary": 1_000, "hashing": 2_000, "hadamard": 20_000}


def main() -> None:
    rows = []
    for name, protocol in KINDS.items():
        n = PEOPLE[name]
        cells = people(n)
        true, p, q = np.bincount(cells, minlength=CELLS) / n, float(protocol.p), float(protocol.q)
        errors = []
        for _ in range(RUNS):
            support = protocol.support(protocol.accumulate(protocol.randomise(cells)), n)
            errors.append(float((((support / n - q) / (p - q) - true) ** 2).mean()))
        # The variance is linear in the share, and shares add up to 1.
        ratio = np.array(errors) / float(protocol.variance(1 / protocol.k, n))
        rows.append([name, f"{n:,}", f"{ratio.mean():.4f}", f"{ratio.std() / RUNS**0.5:.4f}"])
    print(
        Table(
            "Mean squared error to theory", f"{RUNS} runs; goal 0.97 to 1.03", ["", "people", "ratio", "±"], rows
        ).plain()
    )


if __name__ == "__main__":
    main()
