"""What a private answer costs beside the same aggregates without privacy: `make bench`, or this file.

The data: 10 million rows of 1 million people in 50 regions, as a zstd Parquet file. The denominator is plain DuckDB, which scans that file
warm, with 2 threads, in the same process; ours has loaded it once, as a curator does. Each question is asked anew, under a key of
its own, so that nothing is answered from the ledger.
Options: --quick (a tenth of the rows, few repeats), --markdown (also write the section on questions of docs/performance.md),
--against CHECKOUT (instead: starting, planning, loading and asking, beside another checkout of this project, in turns).
"""

import argparse
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import duckdb
from parts.beside import Work, add_option, beside, installed
from parts.page import renew
from parts.table import Table, figure, machine

from discreet.curator.session import Curator

REGIONS = 50
PLAIN, ROWS, GROUPS, CLIP, OPENDP = "plain DuckDB", "one row each", "at most 3 groups", "an L2 clip", "OpenDP, 3 groups"
GOALS = {ROWS: 1.3, GROUPS: 18.0, CLIP: 12.0}
TEXT = "SELECT region, COUNT(*) AS n, SUM(amount) AS total, AVG(amount) AS mean FROM visits GROUP BY region"
SECTION = """
Written by `bench/queries.py --markdown`. CPU seconds of the process over all its threads: medians of {repeats} turns in which the
contenders alternate. COUNT, SUM and AVG by region of {rows:,} rows of {people:,} people in {regions} regions; a person counts with at
most 5 rows in a region. Plain DuckDB scans a zstd Parquet file, warm, with 2 threads; a curator has loaded the same
file, which takes it about 6 CPU seconds, once.
"""


def make(path: Path, rows: int) -> None:
    """Rows of people, whose numbers of visits differ widely; all from hashes, so that every run has the same data."""
    people = rows // 10
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT (hash(i) % {people} * (hash(i, 1) % 1000) // 1000)::BIGINT AS person,
                'region ' || (hash(i, 2) % {REGIONS}) AS region,
                (hash(i, 3) % 100000) / 100.0 AS amount, (hash(i, 4) % 100)::INTEGER AS age
                FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"""
        )


def plain(path: Path) -> Callable[[], Any]:
    connection = duckdb.connect(config={"threads": 2})
    text = f"SELECT region, count(*), sum(amount), avg(amount) FROM read_parquet('{path}') GROUP BY region"
    return lambda: connection.execute(text).fetchall()


def ours(path: Path, folder: Path, **unit: Any) -> Callable[[], Any]:
    columns = {
        "region": {"keys": [f"region {i}" for i in range(REGIONS)]},
        "amount": {"bounds": (0, 1000)},
    }
    curator = Curator({"visits": path}, columns=columns, epsilon=10**5, delta=0.01, ledger=folder, **unit)
    keys = count()
    return lambda: curator.sql(TEXT, epsilon=1, delta=1e-8, key=f"{next(keys)}").rows


def opendp(path: Path) -> Callable[[], Any] | None:
    """The same by OpenDP's Polars queries, where it is installed."""
    try:
        import opendp.prelude as dp
        import polars as pl
    except ImportError:
        return None
    dp.enable_features("contrib")
    data = pl.scan_parquet(path)

    def call() -> Any:
        context = dp.Context.compositor(
            data=data,
            privacy_unit=dp.unit_of(contributions=1, identifier="person"),
            privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-8),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["region"], invariant="keys", max_length=10**8, max_groups=REGIONS)],
        )
        query = (
            context.query()
            .truncate_per_group(5, by=["region"])
            .truncate_num_groups(3, by=["region"], keep="first")  # its choice at random fails for a single key
            .group_by("region")
            .agg(dp.len(signed=True), pl.col.amount.fill_null(0.0).fill_nan(0.0).dp.sum(bounds=(0.0, 1000.0)))
        )
        return query.release().collect()

    return call


def seconds(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The median CPU seconds of each, in turns; a first call of each is not counted. OpenDP is called once."""
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            if name == OPENDP and turn > 1:
                continue
            start = process_time()
            call()
            spent[name].append(process_time() - start)
    return {name: median(times[1:] or times) for name, times in spent.items()}


def against(other: Path, quick: bool, folder: Path) -> Iterator[Table]:
    """What this checkout takes beside another one: starting, planning and asking, and then loading of three kinds of file."""
    rows, turns = (300_000, 3) if quick else (3_000_000, 9)
    yield beside("Starting", other, turns, [Work("starting.py")])
    yield beside("Questions of 100 rows", other, turns, [Work("planning.py")])
    make(folder / "visits.parquet", rows)
    with duckdb.connect() as connection:
        source = f"(SELECT * FROM '{folder / 'visits.parquet'}')"
        connection.execute(f"COPY {source} TO '{folder / 'visits.csv'}' (HEADER)")
        connection.execute(f"COPY {source} TO '{folder / 'quoted.csv'}' (HEADER, FORCE_QUOTE (region))")
    files = ("visits.csv", "quoted.csv", "visits.parquet")
    works = [Work("asking.py", [str(folder / name)], f", {name}") for name in files]
    yield beside(f"Questions of {rows:,} rows", other, turns, works)


def planning() -> float:
    """Milliseconds from the text of a question to its checked plan, warm."""
    with tempfile.TemporaryDirectory() as folder:
        rows = {"person": ["a"], "region": ["region 1"], "amount": [1.0]}
        columns = {"region": {"keys": [f"region {i}" for i in range(REGIONS)]}, "amount": {"bounds": (0, 1000)}}
        curator = Curator({"visits": rows}, "person", columns, epsilon=1, delta=1e-6, ledger=folder)
        times = []
        for i in range(30):
            start = process_time()
            curator.preview(TEXT.replace("AS n,", f"AS n{i},"), epsilon=1)
            times.append(process_time() - start)
        return 1000 * median(times[5:])


def cold(folder: Path) -> tuple[float, float]:
    """CPU seconds of a first answer on a CSV of 10 rows, and wall seconds of `import discreet` beyond starting Python."""
    (folder / "small.csv").write_text("person,ward\n" + "".join(f"{i},A\n" for i in range(10)), "utf-8")
    command = [str(installed("discreet")), "ask", "small.csv", "SELECT COUNT(*) AS n FROM small"]
    answers = [children([*command, "--unit", "person", "--epsilon", f"0.1{i}"], folder) for i in range(7)]
    python = str(installed("python"))
    empty = [elapsed([python, "-c", "pass"], folder) for _ in range(7)]
    imports = [elapsed([python, "-c", "import discreet"], folder) for _ in range(7)]
    return median(answers[1:]), median(imports) - median(empty)


def children(command: list[str], folder: Path) -> float:
    before = os.times()
    environment = os.environ | {"XDG_STATE_HOME": str(folder)}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def elapsed(command: list[str], folder: Path) -> float:
    start = perf_counter()
    subprocess.run(command, cwd=folder, check=True)
    return perf_counter() - start


def measured(rows: int, repeats: int, folder: Path) -> list[Table]:
    path = folder / "visits.parquet"
    make(path, rows)
    calls = {
        PLAIN: plain(path),
        ROWS: ours(path, folder / "rows", row=True),
        GROUPS: ours(path, folder / "groups", unit="person"),
        CLIP: ours(path, folder / "clip", unit="person", clip="l2"),
    }
    peer = opendp(path)
    if peer is None:
        print("OpenDP is absent: `make peers` installs it into .venv-peers")
    else:
        calls[OPENDP] = peer
    found = seconds(calls, repeats)
    lines = [
        [name, figure(spent), figure(spent / found[PLAIN]), f"≤ {GOALS[name]:g}" if name in GOALS else ""]
        for name, spent in found.items()
    ]
    if OPENDP in found:
        lines.append(["OpenDP / ours, 3 groups", "", figure(found[OPENDP] / found[GROUPS]), "≥ 5"])
    first, imported = cold(folder)
    starts = [
        ["planning, ms", figure(planning()), "≤ 15"],
        ["first answer on 10 rows, cold, CPU s", figure(first), "≤ 1.2"],
        ["import discreet, s", f"{imported:.3f}", "≤ 0.05"],
    ]
    return [
        Table("Answers by region", "", ["", "CPU s", "× plain", "goal"], lines),
        Table("Starting", "", ["", "measured", "goal"], starts),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    add_option(parser)
    options = parser.parse_args()
    if options.against is not None:
        with tempfile.TemporaryDirectory() as folder:
            for table in against(options.against, options.quick, Path(folder)):
                print(table.plain(), flush=True)
        return
    # Three budgets for one file are what is compared here.
    warnings.filterwarnings("ignore", message="a new budget begins")
    rows, repeats = (1_000_000, 3) if options.quick else (10_000_000, 7)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        tables = measured(rows, repeats, Path(folder))
    for table in tables:
        print(table.plain())
    if options.markdown:
        section = SECTION.format(repeats=repeats, rows=rows, people=rows // 10, regions=REGIONS)
        section += "\n".join(table.markdown(3) for table in tables)
        renew("Questions", f"{section}\n\nMeasured {datetime.now(UTC).date().isoformat()} on {machine()}.")


if __name__ == "__main__":
    main()
