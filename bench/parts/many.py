"""Questions of many groups beside plain DuckDB, and how much of their time is the engine's own."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from threading import Lock
from time import process_time, thread_time
from typing import Any

import duckdb

from discreet.curator.session import Curator
from parts.table import Table, figure

KEYS = 100_000
DISTINCT = 1_000_000
POPULAR = 1_000
"""So many of the keys that nobody declared are found in half of the rows."""

PLAIN = "plain DuckDB"
LISTED = "SELECT shop, COUNT(*) AS n, SUM(amount) AS total, AVG(amount) AS mean FROM visits GROUP BY shop"
FOUND = "SELECT page, COUNT(*) AS n FROM visits GROUP BY page"


class EngineClock:
    """CPU seconds that an engine's own queries take, and what is fetched of them; in threads of ours, one each."""

    def __init__(self, engine: Any) -> None:
        self.spent, self._lock, cursor = 0.0, Lock(), engine._cursor

        @contextmanager
        def timed() -> Iterator[Any]:
            with cursor() as each:
                yield TimedCursor(each, self)

        engine._cursor = timed

    def add(self, seconds: float) -> None:
        with self._lock:
            self.spent += seconds

    def read(self) -> float:
        spent, self.spent = self.spent, 0.0
        return spent


class TimedCursor:
    def __init__(self, cursor: Any, clock: EngineClock) -> None:
        self._cursor, self._clock = cursor, clock
        self._arrays: Any = None

    def execute(self, *arguments: Any) -> "TimedCursor":
        start = thread_time()
        self._arrays = self._cursor.execute(*arguments).fetchnumpy()
        self._clock.add(thread_time() - start)
        return self

    def fetchnumpy(self) -> Any:
        return self._arrays

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


def make(path: Path, rows: int) -> None:
    """Rows of people, in shops of a list, each on a page; all from hashes, so that every run has the same data."""
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT (hash(i) % {rows // 10} * (hash(i, 1) % 1000) // 1000)::BIGINT AS person,
                'shop ' || lpad((hash(i, 2) % {KEYS})::VARCHAR, 6, '0') AS shop,
                'page ' || (hash(i, 3) % if(hash(i, 4) % 2 = 0, {POPULAR}, {DISTINCT})) AS page,
                (hash(i, 5) % 100000) / 100.0 AS amount
                FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"""
        )


def asked(path: Path, folder: Path, text: str, **unit: Any) -> tuple[Callable[[], Any], EngineClock]:
    """A question of a curator that has loaded the file, asked anew at each call; and the clock of its engine."""
    columns = {"shop": {"keys": [f"shop {i:06}" for i in range(KEYS)]}, "amount": {"bounds": (0, 1000)}}
    curator = Curator({"visits": path}, columns=columns, epsilon=10**5, delta=0.01, ledger=folder, **unit)
    curator.load()
    clock, keys = EngineClock(curator._loaded()), count()
    limits = {} if "row" in unit else {"max_groups": 3, "max_rows": 5}
    return lambda: curator.sql(text, epsilon=1, delta=1e-8, key=f"{next(keys)}", **limits).rows, clock


def measured(rows: int, repeats: int, folder: Path) -> Table:
    """Each contender in turns, with plain DuckDB before each: medians of CPU seconds, and of ratios of neighbours."""
    path = folder / f"many {rows}.parquet"
    make(path, rows)
    connection = duckdb.connect(config={"threads": 2})
    by_shop = f"SELECT shop, count(*), sum(amount), avg(amount) FROM read_parquet('{path}') GROUP BY shop"
    by_page = f"SELECT page, count(*) FROM read_parquet('{path}') GROUP BY page"
    lines = []
    for name, text, plain, unit, goal in (
        (f"{KEYS:,} declared keys, rows", LISTED, by_shop, {"row": True}, "engine ≤ 3"),
        (f"{KEYS:,} declared keys, people", LISTED, by_shop, {"unit": "person"}, "engine ≤ 3"),
        (f"keys found among {DISTINCT:,}, rows", FOUND, by_page, {"row": True}, "plain ≤ 5"),
        (f"keys found among {DISTINCT:,}, people", FOUND, by_page, {"unit": "person"}, "plain ≤ 5"),
    ):
        call, clock = asked(path, folder / f"{rows} {name}", text, **unit)
        turns = [
            _turn(lambda plain=plain: connection.execute(plain).fetchall(), call, clock) for _ in range(repeats + 1)
        ]
        columns = list(zip(*turns[1:], strict=True))
        theirs, ours, engine = map(median, columns)
        over_plain = median(mine / other for other, mine, _ in turns[1:])
        over_engine = median(mine / own for _, mine, own in turns[1:])
        lines.append([name, *map(figure, (theirs, ours, engine, over_plain, over_engine)), goal])
    os.remove(path)
    return Table(
        f"Many groups of {rows:,} rows",
        "",
        ["", PLAIN, "ours", "of that the engine", "× plain", "× engine", "goal"],
        lines,
    )


def _turn(plain: Callable[[], Any], ours: Callable[[], Any], clock: EngineClock) -> tuple[float, float, float]:
    start = process_time()
    plain()
    between = process_time()
    clock.read()
    ours()
    return between - start, process_time() - between, clock.read()
