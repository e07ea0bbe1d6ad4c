"""What a durable charge costs, beside the disk's own sync: `make bench`, or this file.

Options: --quick (small counts, to try the script), --folder (where the ledgers are made; default: a temporary folder),
--markdown (also write the section on the ledger of docs/performance.md), --against CHECKOUT (instead: what is done in a ledger, beside
another checkout of this project, in turns).
"""

import argparse
import os
import platform
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
from parts.beside import Work, add_option, beside
from parts.page import renew
from parts.table import Table, figure, machine

from discreet.curator.acts import Creation
from discreet.curator.amounts import Amounts
from discreet.curator.ledger import reserve, settle
from discreet.curator.money import cap_of
from discreet.curator.page import Page
from discreet.curator.request import Entry, Request, Reservation
from discreet.curator.sqlite import SQLiteStore
from discreet.curator.store import Store
from discreet.privacy import events

CLIENTS = (1, 16, 64)
COST = Fraction(1, 10**6)
PRICE = Amounts.up(COST)
SECTION = """
Written by `bench/ledger.py --markdown`. A charge is a `reserve`: a row in SQLite's write-ahead log, synced, then the high-water mark,
synced; two syncs in all, which clients of one process share when they wait together. An answer is a charge and its settlement.

Measured {date} on {machine}, load average {load:.2f} at the start. Python {python}, SQLite {sqlite}.
"""


@dataclass(frozen=True)
class Counts:
    """How much is measured."""

    seconds: float = 5.0  # of each load
    syncs: int = 500
    sizes: tuple[int, ...] = (10**3, 10**4, 10**5, 10**6)
    charges: int = 400  # of which the median is taken, at each size


QUICK = Counts(seconds=1.0, syncs=100, sizes=(10**3, 10**4), charges=100)


def opened(folder: Path) -> SQLiteStore:
    made = Creation("pure", cap_of("pure", 10**5), "add-remove one person")
    return SQLiteStore.open(folder / "ledger", creation=made, mark=folder / "mark")


EVENT = events.Composed((events.Pure(COST / 2), events.Pure(COST / 2))).to_json()
LABEL = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


def question(key: str) -> Request:
    return Request(key, None, PRICE, EVENT, LABEL, "1")


def sync_rate(folder: Path, syncs: int) -> tuple[float, float]:
    """Syncs of 4 KiB appended to a file: how many a second, and the 99th percentile in milliseconds."""
    file = os.open(folder / "sync", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    times = []
    for _ in range(syncs):
        start = perf_counter()
        os.write(file, b"x" * 4096)
        os.fdatasync(file)
        times.append(perf_counter() - start)
    os.close(file)
    return syncs / sum(times), 1000 * float(np.quantile(times, 0.99))


def load(act: Callable[[str], object], clients: int, seconds: float) -> tuple[float, float]:
    """Acts a second of so many threads, and the 99th percentile of one in milliseconds."""
    times: list[list[float]] = [[] for _ in range(clients)]
    until = perf_counter() + seconds

    def client(n: int) -> None:
        i = 0
        while (start := perf_counter()) < until:
            act(f"{clients}-{n}-{i}")
            times[n].append(perf_counter() - start)
            i += 1

    threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
    begun = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = [each for one in times for each in one]
    return len(every) / (perf_counter() - begun), 1000 * float(np.quantile(every, 0.99))


def answer(store: Store, key: str) -> None:
    outcome = store.reserve(question(key))
    if isinstance(outcome, Reservation):
        store.settle(outcome, b'{"rows": [{"ward": "A", "n": 1203}]}')


Rates = dict[int, tuple[float, float]]


def rates(folder: Path, seconds: float) -> tuple[Rates, Rates]:
    charges: Rates = {}
    answers: Rates = {}
    for clients in CLIENTS:
        with TemporaryDirectory(dir=folder) as place, opened(Path(place)) as store:
            charges[clients] = load(lambda key, store=store: store.reserve(question(key)), clients, seconds)
        with TemporaryDirectory(dir=folder) as place, opened(Path(place)) as store:
            answers[clients] = load(lambda key, store=store: answer(store, key), clients, seconds)
    return charges, answers


def fill(store: Store, rows: int) -> None:
    """Bring a ledger to so many rows, many in one transaction."""

    def step(page: Page) -> None:
        head = page.head()
        for _ in range(min(10_000, rows - head.sequence) // 2 + 1):
            row = reserve(head, None, None, None, question(f"filled {head.sequence}"), 0)
            page.add(row)
            page.add(settle(page.head(), Entry(row), b"42", 0), b"42")
            head = page.head()

    while store._read(lambda page: page.head().sequence) < rows:
        store._write(step)


def growth(folder: Path, counts: Counts) -> tuple[dict[int, float], float, float]:
    """Median microseconds of CPU time of a charge by the rows before it, taken in turns; and the seconds to open the last one.

    It is opened once without the record of how far it was looked through, and once with it.
    """
    with TemporaryDirectory(dir=folder) as name, ExitStack() as kept:
        place, stores, whole, opening = Path(name), dict[int, SQLiteStore](), 0.0, 0.0
        (place / "filled").mkdir()
        for size in counts.sizes:
            with opened(place / "filled") as store:
                fill(store, size)
            shutil.copytree(place / "filled", place / str(size))
            (place / str(size) / "mark-verified").unlink()
            start = process_time()
            opened(place / str(size)).close()
            whole, start = process_time() - start, process_time()
            stores[size] = kept.enter_context(opened(place / str(size)))
            opening = process_time() - start
        times: dict[int, list[float]] = {size: [] for size in stores}
        for i in range(counts.charges):
            for size, store in stores.items():
                start = process_time()
                store.reserve(question(f"charge {i}"))
                times[size].append(process_time() - start)
    return {size: 1e6 * median(each) for size, each in times.items()}, whole, opening


def goal(name: str, limit: str, shown: str, reached: bool) -> list[str]:
    return [name, limit, shown, "reached" if reached else "missed"]


def measure(folder: Path, counts: Counts) -> Iterator[Table]:
    disk, late = sync_rate(folder, counts.syncs)
    charges, answers = rates(folder, counts.seconds)
    lines = [["the disk's own sync, 4 KiB", "1", figure(disk), figure(late), ""]]
    for name, found in (("charge", charges), ("answer", answers)):
        for clients, (rate, slow) in found.items():
            lines.append([name, str(clients), figure(rate), figure(slow), f"{rate / found[1][0]:.1f} ×"])
    head = ["what", "clients", "a second", "99th percentile, ms", "to one client"]
    yield Table("Durable charges", "Clients are threads of one process.", head, lines)
    costs, whole, opening = growth(folder, counts)
    text = "Median microseconds of CPU time of one charge, by the rows that the ledger has already."
    yield Table("Cost of a charge", text, ["rows", "µs"], [[f"{size:,}", figure(us)] for size, us in costs.items()])
    group = charges[16][0] / charges[1][0]
    flat = max(costs.values()) / costs[counts.sizes[0]]
    found = [
        goal("16 clients to one client", "≥ 3 ×", f"{group:.1f} ×", group >= 3),
        goal("64 clients: charges a second", "≥ 150", figure(charges[64][0]), charges[64][0] >= 150),
        goal("64 clients: 99th percentile, ms", "< 500", figure(charges[64][1]), charges[64][1] < 500),
        goal("cost of a charge, to that at the fewest rows", "≤ 1.5 ×", f"{flat:.2f} ×", flat <= 1.5),
    ]
    rows = f"{counts.sizes[-1]:,} rows: CPU s"
    found.append(goal(f"opening {rows}", "≤ 2", f"{opening:.3f}", opening <= 2))
    found.append([f"verifying {rows}", "", f"{whole:.1f}", ""])
    small = "" if counts == Counts() else "This run used small counts, so it says little."
    yield Table("Goals of the ledger", small, ["goal", "limit", "measured", ""], found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small counts")
    parser.add_argument("--folder", type=Path, help="where the ledgers are made")
    parser.add_argument("--markdown", action="store_true", help="write the section of docs/performance.md")
    add_option(parser)
    chosen = parser.parse_args()
    if chosen.against is not None:
        folder = [str(chosen.folder)] if chosen.folder else []
        works = [Work("charging.py", folder)]
        print(beside("The ledger", chosen.against, 3 if chosen.quick else 15, works).plain())
        return
    measured = SECTION.format(
        date=datetime.now(UTC).date().isoformat(),
        machine=machine(),
        load=os.getloadavg()[0],
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
    )
    print(measured.strip().rpartition("\n\n")[2], flush=True)
    tables = []
    with TemporaryDirectory(dir=chosen.folder) as folder:
        for table in measure(Path(folder), QUICK if chosen.quick else Counts()):
            tables.append(table)
            print(table.plain(), flush=True)
    if chosen.markdown:
        renew("Ledger", measured + "\n".join(each.markdown(3) for each in tables))


if __name__ == "__main__":
    main()
