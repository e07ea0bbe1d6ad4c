"""How near to the truth lower bounds from outputs come, and what they cost: `make bench`, or this file.

Options: --quick (three runs each, and none of ten million outputs).
"""

import argparse
from dataclasses import dataclass, field
from statistics import median
from time import process_time
from typing import Any

from parts.table import Table, machine

import discreet as dp

GAUSSIAN = dp.Gaussian.for_budget(1, 1e-5)
AT_DELTA = {"delta": 1e-5}


@dataclass(frozen=True)
class Case:
    """A mechanism with a known ε, what the median bound must reach, and how many outputs on each neighbour it has."""

    name: str
    mechanism: Any
    truth: float
    goal: float
    samples: int = 10**6
    options: dict[str, Any] = field(default_factory=dict)
    assumes: bool = False  # an estimate that assumes the shape of the noise, and is no bound

    def run(self) -> tuple[float, float]:
        """The bound, and its CPU seconds."""
        audit = dp.audit.gaussian_estimate if self.assumes else dp.audit.lower_bound
        start = process_time()
        found = audit(self.mechanism, 0, 1, samples=self.samples, **self.options)
        return float(found), process_time() - start


CASES = [
    Case("randomized response", dp.RandomizedResponse(1), 1, 0.98),
    Case("randomized response", dp.RandomizedResponse(8), 8, 7.6),
    Case("Laplace", dp.Laplace.for_epsilon(1), 1, 0.98),
    Case("Laplace", dp.Laplace.for_epsilon(8), 8, 7.6),
    Case("Gaussian, δ = 1e-5", GAUSSIAN, 1, 0.68, options=AT_DELTA),
    Case("Gaussian, δ = 1e-5, at any time", GAUSSIAN, 1, 0.63, options={**AT_DELTA, "anytime": True}),
    Case("Gaussian, δ = 1e-5", GAUSSIAN, 1, 0.82, 10**7, AT_DELTA),
    Case("Gaussian, δ = 1e-5, its shape assumed", GAUSSIAN, 1, 0.95, options=AT_DELTA, assumes=True),
]


def tightness(cases: list[Case], runs: int) -> Table:
    rows = []
    for case in cases:
        bounds, seconds = zip(*(case.run() for _ in range(runs)), strict=True)
        rows.append(
            [
                case.name,
                f"{case.samples:.0e}",
                f"{case.truth:g}",
                f"{median(bounds):.3f}",
                f"{min(bounds):.3f}",
                f"≥ {case.goal:g}",
                f"{median(seconds):.2f}",
            ]
        )
    head = ["mechanism", "outputs a side", "true ε", "median", "least", "goal", "CPU s a run"]
    return Table("Lower bounds", f"{runs} runs each, at 95 %, on {machine()}.", head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print(tightness([case for case in CASES if not quick or case.samples < 10**7], 3 if quick else 20).plain())


if __name__ == "__main__":
    main()
