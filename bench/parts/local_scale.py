"""Errors and bytes for a million to a billion people: `python bench/local.py scale`, by the formula and by simulated counts.

Nobody's report is made one by one: how many reports support each cell is drawn from its law, which is a sum of multinomials (k-ary,
Hadamard) or of binomials (unary, hashing: cell by cell, as each cell's own law is all that its mean squared error depends on).
"""

from math import sqrt

import numpy as np

from discreet.local import compare
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.hadamard import parity

from .local_people import CELLS, EPSILON, KINDS, shares
from .table import Table

PEOPLE = (10**6, 10**7, 10**8, 10**9)
RUNS = 10
HEAD = 34  # bytes of version, protocol, campaign and token


def main() -> None:
    draw, rows = np.random.default_rng(2), []
    for n in PEOPLE:
        counts = draw.multinomial(n, shares())
        for name, protocol in KINDS.items():
            squares = [float(((estimated(protocol, counts, draw) - counts / n) ** 2).mean()) for _ in range(RUNS)]
            theory, found = sqrt(protocol.variance(1 / protocol.k, n)), sqrt(sum(squares) / RUNS)
            each = HEAD + protocol.size
            rows.append(
                [f"{n:,}", name, f"{100 * theory:.4f}", f"{100 * found:.4f}", f"{each}", f"{n * each / 1e9:,.2f}"]
            )
        rows.append(
            [f"{n:,}", "a trusted curator", f"{100 * compare(n, CELLS, EPSILON).central_error:.2g}", "", "", ""]
        )
    head = ["people", "protocol", "standard error of a share, %", "simulated", "bytes of a report", "GB in all"]
    print(Table("Scale", f"{CELLS} cells, ε = {EPSILON}; {RUNS} simulated runs", head, rows).plain())


def estimated(protocol: FrequencyProtocol, counts: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Estimated shares of one simulated run."""
    n, p, q = int(counts.sum()), float(protocol.p), float(protocol.q)
    return (support(protocol, counts, draw) / n - q) / (p - q)


def support(protocol: FrequencyProtocol, counts: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """How many reports support each cell."""
    n, p, q, k = int(counts.sum()), float(protocol.p), float(protocol.q), len(counts)
    if protocol.name == "k-ary":
        kept = draw.binomial(counts, p - q)  # the others tell any cell, the own one included: p = (p − q) + q
        return kept + draw.multinomial(n - int(kept.sum()), np.full(k, 1 / k))
    if protocol.name == "hadamard":
        width = protocol.width
        told = np.array([draw.multinomial(count, np.full(width, 1 / width)) for count in counts])
        odd = parity(np.arange(k)[:, None] & np.arange(width))
        ones = draw.binomial((told * odd).sum(axis=0), p) + draw.binomial((told * (1 - odd)).sum(axis=0), 1 - p)
        return protocol.support(told.sum(axis=0) - 2 * ones, n)
    return draw.binomial(counts, p) + draw.binomial(n - counts, q)


if __name__ == "__main__":
    main()
