"""Tables of people in cells: how long exact counts take an engine, and how long a condition takes to become a mask.

    python bench/tables.py [rows]

CPU seconds of this process, engine included; the best of three.
"""

import sys
import time
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

import discreet as dp
from discreet.mechanisms import Geometric

CITIES = 1_000
LISTS = (
    ["age=10", "ward"],
    ["age=10", "ward", "bmi=10", "level"],
    ["age=100", "ward", "bmi=100", "level"],
    ["city"],
)
CONDITION = "age >= {} AND ward = 'A' AND bmi < 25"


def best(act: Callable[[], object], times: int = 3) -> float:
    """The least CPU seconds of so many runs."""
    found = []
    for _ in range(times):
        start = time.process_time()
        act()
        found.append(time.process_time() - start)
    return min(found)


def people(rows: int, per_person: int) -> dict[str, Any]:
    """Made-up people, with so many rows each on average."""
    chosen = np.random.default_rng(1)
    return {
        "person": (chosen.integers(0, rows // per_person, rows) if per_person > 1 else np.arange(rows)).tolist(),
        "age": chosen.integers(0, 101, rows).tolist(),
        "ward": np.array(list("ABCDE"))[chosen.integers(0, 5, rows)].tolist(),
        "bmi": chosen.uniform(0, 60, rows).tolist(),
        "level": chosen.integers(1, 5, rows).tolist(),
        "city": [f"city {i}" for i in chosen.integers(0, CITIES, rows)],
    }


COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "bounds": (0, 100)},
    "ward": {"keys": list("ABCD")},
    "bmi": {"type": "number", "bounds": (0, 50)},
    "level": {"type": "integer", "bounds": (1, 4)},
    "city": {"keys": [f"city {i}" for i in range(CITIES)]},
}


def counting(curator: dp.Curator, asked: list[str]) -> float:
    """How long exact counts take, of a table that remembers none."""
    noise = Geometric(1)

    def count() -> None:
        table = curator.table("visits")
        exact = table.counts(table.attributes(asked))
        with table.measure(noise.event(1)) as grant:
            grant(noise, 1, lambda: exact().total)

    return best(count)


def masking(curator: dp.Curator) -> float:
    """How long one condition takes."""
    table = curator.table("visits")
    attributes = table.attributes({"age": 10, "bmi": [0, 25, 50], "ward": None})
    texts = [CONDITION.format(10 * i) for i in range(1, 10)] * 10
    return best(lambda: [table.cells(text, attributes) for text in texts]) / len(texts)


def main(rows: int) -> None:
    """Print the figures."""
    print(f"{f'{rows:,} rows':<52}{'cells':>9}{'CPU s':>10}")
    for per_person in (1, 5):
        data = {"visits": people(rows, per_person)}
        with dp.Curator(data, "person", COLUMNS, epsilon=10**4, ledger=":memory:") as curator:
            curator.load()
            for asked in LISTS:
                cells = prod(each.size for each in curator.table("visits").attributes(asked))
                words = f"{per_person} a person, {', '.join(asked)}"
                print(f"{words:<52}{cells:>9,}{counting(curator, asked):>10.2f}")
            print(f"{'a condition of three attributes as a mask':<61}{masking(curator):>10.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
