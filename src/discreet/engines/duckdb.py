"""The engine that is used: DuckDB, in memory, loaded once, then locked.

Loading is the owner's act: it raises Invalid, with no cell in the message. After that nothing outside the process can be reached
from the connection, and a question that fails, for whatever reason, fails with one constant message.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import numpy as np

from discreet.engines import render
from discreet.engines.arranging import BY_STATISTICS, arranged, unused
from discreet.engines.base import Data, Lost, kind_of
from discreet.engines.frames import converted, frame_names, prepared
from discreet.engines.framing import PLAIN, Framing
from discreet.engines.lines import Readable, readable
from discreet.engines.reading import AS_IT_IS
from discreet.engines.render import StoredTable, cells
from discreet.engines.render.cells import TextForm
from discreet.engines.render.duckdb import DUCKDB
from discreet.engines.render.nodes import TYPES, alias
from discreet.engines.watch import Watch
from discreet.errors import Fault, Invalid
from discreet.exact import whole
from discreet.plan.joins import KeepRows, PersonJoin
from discreet.plan.relation import (
    MOST_ROWS,
    Found,
    KeepKeys,
    Occurring,
    Rows,
    Totals,
    base_of,
    contributions_in,
    contributions_of,
    per_person_in,
    walk,
)
from discreet.plan.scalar import Type, Value

identifier, quoted = DUCKDB.identifier, DUCKDB.quoted

AT_START: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "ieee_floating_point_ops": True,
    "pandas_analyze_sample": 0,
    "preserve_insertion_order": False,
    # With it DuckDB 2.0 takes `CASE WHEN x IS NULL THEN 5 ELSE x END IN (5, 6)` for `x IS NOT NULL` where every x is 5, 6 or NULL. Then
    # one row with another value brings all rows without a value back, which no noise is made for.
    "disabled_optimizers": BY_STATISTICS,
}
LOCK = ("SET python_enable_replacements = false", "SET enable_external_access = false", "SET lock_configuration = true")
SHARE_OF_MEMORY = 0.6
CHUNK = 10_000  # rows of Python objects handed over at a time
ROWS_OF_A_SLICE = 800_000  # so that the groups of its people fit the caches of a processor
ROWS_TO_ARRANGE = 200_000  # a smaller table is fast as it is
LINE_SIZE = 1 << 21  # bytes of a record of a CSV file that DuckDB reads unless told
BITS = 60  # columns whose losses one integer marks


@dataclass(frozen=True, slots=True)
class Selectable:
    """Something to select from; for each column its name there, and its type in DuckDB's words; and which were converted already."""

    relation: str
    columns: dict[str, tuple[str, str]]
    converted: frozenset[str] = frozenset()
    rows: int | None = None  # where we counted them


class DuckDB:
    """Tables in memory, and the one locked connection to them. Not to be copied or pickled.

    `arrange`: large tables are kept in an order that makes every question faster; it takes about as long as one question about people.
    """

    def __init__(self, data: Sequence[Data], *, threads: int | None = None, arrange: bool = True) -> None:
        self._folder = tempfile.mkdtemp(prefix="discreet-")  # mode 0700; what does not fit in memory goes there
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._threads = whole(threads, "threads", least=1) if threads is not None else os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._threads, "discreet")
        self._connection = connect(self._folder, self._threads)
        self._stored: dict[str, StoredTable] = {}
        self.lost: tuple[Lost, ...] = ()  # for the owner: values of the sources that are none of their declared types
        try:
            for each in data:
                self._stored[each.name], lost = load(self._connection, each, self._folder, arrange)
                self.lost += lost
            # slices run side by side, each on one thread, which is cheaper
            if any(each.rows for each in self._stored.values()):
                self._connection.execute("SET threads = 1")
            for statement in LOCK:
                self._connection.execute(statement)
        except BaseException:
            self.close()
            raise

    def run(self, query: Totals, salt: int, *, deadline: float | None = None) -> Found:
        """The totals of each group, or raises Fault, always the same one, whatever went wrong."""
        try:
            return self._run(query, salt, deadline)
        except Exception:
            raise Fault("the question could not be computed", code="engine") from None

    def _run(self, query: Totals, salt: int, deadline: float | None = None) -> Found:
        stored = self._stored[base_of(query).table]
        if isinstance(query.source, Rows) or not contributions_in(query):
            # rows of people have no numbers
            count, threads = 0 if per_person_in(query) else stored.rows, self._threads
        else:
            numbered = stored.person == contributions_of(query.source).person.name
            count, threads = stored.people if numbered else 0, -(-stored.rows // ROWS_OF_A_SLICE)
        if any(isinstance(each, PersonJoin | Occurring) for each in walk(query)):
            count = 0  # each slice would read all of the other table, and a value that occurs in two of them would count twice
        slices = max(1, min(count, threads))
        text = render.text_of(query, self._stored, DUCKDB, sliced=slices > 1)
        ends = [i * count // slices for i in range(slices + 1)]
        with Watch(deadline) as watch:
            if slices == 1:
                return self._part(text, salt, 0, count, watch)
            jobs = [self._pool.submit(self._part, text, salt, low, high, watch) for low, high in pairwise(ends)]
            try:
                return _added([job.result() for job in jobs])
            finally:
                for job in jobs:
                    job.cancel()
                wait(jobs)

    def _part(self, text: render.Text, salt: int, low: int, high: int, watch: Watch) -> Found:
        """What a text finds in one slice: the people, or the rows, with numbers from `low` to below `high`."""
        with self._cursor() as cursor, watch.over(cursor):
            arrays = cursor.execute(text.sql, _bound(text, salt=salt, low=low, high=high)).fetchnumpy()
        keys = [arrays[name].tolist() for name in arrays if name.startswith("key")]
        totals = tuple(arrays[name] for name in arrays if name.startswith("total"))
        for each in totals:
            if type(each) is not np.ndarray or each.dtype != np.int64:
                raise Fault("the engine returned something else than 64-bit integers", code="engine")
        return Found(tuple(zip(*keys, strict=True)) if keys else ((),), totals)

    def sql(self, query: Totals) -> str:
        """The text that is run on a small table, whatever the data are; the salt is the parameter $salt."""
        return render.sql_of(query, {name: StoredTable(name) for name in self._stored}, DUCKDB)

    def priorities(self, query: Totals, salt: int) -> dict[tuple[Value, tuple[Any, ...]], int]:
        with self._cursor() as cursor:
            text = render.priorities(query, self._stored, DUCKDB)
            rows = cursor.execute(text.sql, _bound(text, salt=salt)).fetchall()
            priorities = {(person, tuple(keys)): priority for person, *keys, priority in rows}
            for each in walk(query):
                if isinstance(each, KeepKeys):
                    text = render.priorities(query, self._stored, DUCKDB, each.of)
                    rows = cursor.execute(text.sql, _bound(text, salt=salt)).fetchall()
                    priorities |= {(person, tuple(keys)): priority for person, *keys, priority in rows}
                if isinstance(each, KeepRows):
                    text = render.row_priorities(each, self._stored, DUCKDB)
                    rows = cursor.execute(text.sql, _bound(text, salt=salt)).fetchall()
                    priorities |= {(person, (KeepRows, *values)): priority for person, *values, priority in rows}
        return priorities

    @staticmethod
    def columns(source: Any, table: str | None = None) -> dict[str, Type]:
        """The columns of a Parquet file, a DuckDB file or a frame. What cannot be loaded is a text, and missing everywhere."""
        return dict(described(source, table))

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        cursor = self._connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    def close(self) -> None:
        """The tables and the folder are gone; a second call does nothing."""
        self._pool.shutdown(cancel_futures=True)
        self._connection.close()
        self._remove()

    def __enter__(self) -> "DuckDB":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine holds data and cannot be copied or pickled")


def _bound(text: render.Text, **numbers: int) -> dict[str, Any]:
    """The parameters of a text: those of the numbers that it has, and its lists."""
    return {name: numbers[name] for name in text.parameters} | dict(text.lists)


def _added(parts: list[Found]) -> Found:
    """The totals of disjoint parts of the people, added up."""
    first = parts[0]
    groups = dict.fromkeys(chain.from_iterable(part.keys for part in parts))
    place = dict(zip(groups, range(len(groups)), strict=True))
    totals = [np.zeros(len(place), dtype=np.int64) for _ in first.totals]
    for total, each in zip(totals, first.totals, strict=True):
        total[: len(first.keys)] = each  # its groups come first, in their order, each of them once
    for part in parts[1:]:
        where = np.fromiter(map(place.__getitem__, part.keys), np.int64, len(part.keys))
        for total, each in zip(totals, part.totals, strict=True):
            total[where] += each
    return Found(tuple(groups), tuple(totals))


def connect(folder: str, threads: int = 1) -> Any:
    """A connection that is not yet locked, and spills to this folder only."""
    limit = f"{int(SHARE_OF_MEMORY * memory()) >> 20}MiB"
    config = AT_START | {"temp_directory": folder, "memory_limit": limit, "threads": threads}
    return duckdb.connect(":memory:", config=config)


def memory() -> int:
    """The memory of this machine, or of the group of processes that this one is in, in bytes."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(total, int(Path("/sys/fs/cgroup/memory.max").read_text("ascii")))
    except (OSError, ValueError):
        return total


def described(source: Any, table: str | None = None) -> tuple[tuple[str, Type], ...]:
    """What `DuckDB.columns` says."""
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder, connect(folder) as connection:
        try:
            if isinstance(source, str | Path):
                with opened(connection, source, table, folder) as readable:
                    return tuple((name, DUCKDB.native(type).stored) for name, (_, type) in readable.columns.items())
            frame = prepared(source[:0], dict.fromkeys(frame_names(source), Type.TEXT), AS_IT_IS, None)
            with registered(connection, frame.frame):
                types = {name: type for name, (_, type) in _described(connection, "frame").columns.items()}
            return tuple((name, DUCKDB.native(types[frame.columns[name]]).stored) for name in frame.columns)
        except duckdb.Error:
            raise Invalid("the source cannot be read", hint="its format may be broken") from None


@contextmanager
def opened(
    connection: Any, source: str | Path, table: str | None, folder: str, framing: Framing = PLAIN
) -> Iterator[Selectable]:
    """What a file holds, as something to select from, while it is open."""
    kind, path = kind_of(source), _plain_path(Path(source), folder)
    if kind == "database":
        with _attached(connection, path, table) as attached:
            yield attached
    elif kind == "parquet":
        # nothing is taken from the names of folders
        options = "hive_partitioning = false, union_by_name = false, filename = false"
        yield _described(connection, f"read_parquet({quoted(path)}, {options})")
    else:
        with readable(Path(source), framing, folder) as file:
            yield _csv(file, framing, path if file.path == Path(source) else str(file.path))


@contextmanager
def registered(connection: Any, frame: Any) -> Iterator[None]:
    """A frame whose columns are plain, as something to select from under the name `frame`."""
    connection.register("frame", frame)
    try:
        yield
    finally:
        connection.unregister("frame")


def _described(connection: Any, relation: str) -> Selectable:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return Selectable(relation, {row[0]: (row[0], row[1]) for row in rows})


def _plain_path(path: Path, folder: str) -> str:
    """A path that is no pattern: of a name with * or [ in it a link without them."""
    if not set(str(path.absolute())) & set("*?[]{}"):
        return str(path.absolute())
    link = Path(tempfile.mkdtemp(dir=folder)) / "".join(["source", *path.suffixes[-2:]])
    link.symlink_to(path.absolute())
    return str(link)


def _csv(readable: Readable, framing: Framing, path: str) -> Selectable:
    """Nothing is detected: one odd row would change the types of others. One thread reads: several of DuckDB's lose rows where the
    part of one begins, by what stands there, even without quotes.
    """
    names = {name: f"c{i}" for i, name in enumerate(readable.names)}
    columns = ", ".join(f"'{each}': 'VARCHAR'" for each in names.values())
    relation = (
        f"read_csv({quoted(path)}, auto_detect = false, header = true, delim = {quoted(framing.delimiter)},"
        f" quote = '\"', escape = '\"', columns = {{{columns}}}, nullstr = '', compression = 'none',"
        f" strict_mode = {not framing.ragged}, null_padding = {framing.ragged}, parallel = false,"
        f" max_line_size = {max(readable.longest, LINE_SIZE)}, hive_partitioning = false, union_by_name = false, filename = false)"
    )
    return Selectable(relation, {name: (each, "VARCHAR") for name, each in names.items()}, rows=readable.records)


@contextmanager
def _attached(connection: Any, path: str, table: str | None) -> Iterator[Selectable]:
    connection.execute(f"ATTACH {quoted(path)} AS source (READ_ONLY)")
    try:
        rows = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' ORDER BY ALL"
        ).fetchall()
        chosen = rows if table is None else [row for row in rows if row[1].casefold() == table.casefold()]
        if len(chosen) != 1:
            which = "and one must be named" if table is None else f"none of them {table!r}"
            names = ", ".join(sorted(str(row[-1]) for row in rows)[:20])
            raise Invalid(
                f"the DuckDB file holds {len(rows)} tables, {which}",
                hint=f"--table NAME (or table = in the policy); it holds {names}" if names else "put a table into it",
            )
        yield _described(connection, ".".join(["source", *map(identifier, chosen[0])]))
    finally:
        connection.execute("DETACH source")


def load(connection: Any, data: Data, folder: str, arrange: bool = True) -> tuple[StoredTable, tuple[Lost, ...]]:
    """The declared columns of a source in a table of clean types: no NaN, dates of the years 1 to 9999, integers of 64 bits.

    No value of the source makes it fail: what is none of its declared type is NULL in its cell, and counted, for the owner.
    """
    try:
        if isinstance(data.source, dict):
            forms, lost = _fill(connection, data, data.source)
        elif isinstance(data.source, str | Path):
            with opened(connection, data.source, data.table, folder, data.framing) as readable:
                forms, lost = _copy(connection, data, readable)
                _check_rows(connection, data, readable)
        else:
            forms, lost = _from_frame(connection, data)
        rows = connection.execute(f"SELECT count(*) FROM {identifier(data.name)}").fetchone()[0]
        if rows > MOST_ROWS:
            raise Invalid(f"table {data.name!r} has too many rows; at most {MOST_ROWS:,} are allowed")
        stored = StoredTable(data.name, forms)
        if arrange and rows >= ROWS_TO_ARRANGE:
            stored = arranged(connection, data, rows, forms)
    except duckdb.Error as error:
        raise _unreadable(data, error) from None
    return stored, tuple(
        Lost(data.name, each.name, each.type, lost[each.name]) for each in data.columns if lost.get(each.name)
    )


def _from_frame(connection: Any, data: Data) -> tuple[dict[str, TextForm], dict[str, int]]:
    """A frame that the engine does not take as it is goes over object by object."""
    types = {column.name: column.type for column in data.columns}
    for objects in (False, True):
        prepared_frame = prepared(data.source, types, data.reading, data.person, objects)
        try:
            with registered(connection, prepared_frame.frame):
                described_columns = _described(connection, "frame")
                columns = {name: described_columns.columns[each] for name, each in prepared_frame.columns.items()}
                forms, lost = _copy(connection, data, Selectable("frame", columns, frozenset(prepared_frame.lost)))
        except duckdb.Error:
            if objects:
                raise
            connection.execute(f"DROP TABLE IF EXISTS {identifier(data.name)}")
            continue
        return forms, {name: lost.get(name, 0) + prepared_frame.lost.get(name, 0) for name in types}
    raise Fault("a frame was neither loaded nor refused", code="engine")


def _unreadable(data: Data, error: Exception) -> Invalid:
    """The engine's own message would show cells."""
    if "unicode" in str(error).casefold() or "utf-8" in str(error).casefold():
        return Invalid(f"the source of table {data.name!r} is not UTF-8 text", code="load", hint="save it in UTF-8")
    hint = f"the engine found a {type(error).__name__.removesuffix('Exception')} error in it"
    return Invalid(f"table {data.name!r} could not be loaded", code="load", hint=hint)


def _copy(connection: Any, data: Data, source: Selectable) -> tuple[dict[str, TextForm], dict[str, int]]:
    """The columns that are kept in another form, and how many values of each were lost.

    A bit beside each row says which of its cells were: so the source is read once, and every value converted once.
    """
    definitions: list[str] = []
    filled: list[tuple[int, str]] = []
    forms: dict[str, TextForm] = {}
    for column in data.columns:
        if column.name not in source.columns:
            raise _absent(data, column.name)
        name, type = source.columns[column.name]
        again = column.name in source.converted
        person = column.name == data.person and not again
        reading = AS_IT_IS if again else data.reading
        cell = cells.loaded(name, type, column.name, column.type, reading, person, DUCKDB)
        definitions.append(DUCKDB.text(alias(cell.value, f"v{len(definitions)}")))
        if cell.kept is not None:
            forms[column.name] = cell.kept
        if cell.filled is not None:
            filled.append((len(definitions) - 1, DUCKDB.text(cell.filled)))
    flags = [f"{flag} AS f{i}" for i, flag in filled]
    names = [f"v{i} AS {identifier(column.name)}" for i, column in enumerate(data.columns)]
    bits = [
        (unused(f"lost{j}", {each.name for each in data.columns}), filled[j : j + BITS])
        for j in range(0, len(filled), BITS)
    ]
    names += [f"{_mask([i for i, _ in some])} AS {identifier(bit)}" for bit, some in bits]
    table = identifier(data.name)
    connection.execute(
        f"CREATE TABLE {table} AS SELECT {', '.join(names)} FROM (SELECT {', '.join([*definitions, *flags])} FROM {source.relation})"
    )
    lost: dict[str, int] = {}
    for bit, some in bits:
        counts = ", ".join(f"count(*) FILTER ({identifier(bit)} & {1 << k} <> 0)" for k in range(len(some)))
        counted = connection.execute(f"SELECT {counts} FROM {table}").fetchone()
        lost |= {data.columns[i].name: count for (i, _), count in zip(some, counted, strict=True)}
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {identifier(bit)}")
    return forms, lost


def _check_rows(connection: Any, data: Data, source: Selectable) -> None:
    """Nobody is lost or made up between our reading of a file and the engine's."""
    if source.rows is None:
        return
    [(rows,)] = connection.execute(f"SELECT count(*) FROM {identifier(data.name)}").fetchall()
    if rows != source.rows:
        raise Invalid(f"the source of table {data.name!r} changed while it was read", code="load", hint="load it again")


def _mask(places: list[int]) -> str:
    """A bit for each of these columns, set where a cell held something and its value is NULL."""
    return " + ".join(
        f"(CASE WHEN f{i} AND v{i} IS NULL THEN {1 << k} ELSE 0 END)::BIGINT" for k, i in enumerate(places)
    )


def _absent(data: Data, column: str) -> Invalid:
    return Invalid(f"column {column!r} is declared but not in the source of table {data.name!r}", code="load")


def _fill(
    connection: Any, data: Data, lists: Mapping[str, Sequence[Any]]
) -> tuple[dict[str, TextForm], dict[str, int]]:
    """Columns are filled from Python objects, each converted by itself."""
    columns = ", ".join(f"{identifier(each.name)} {TYPES[each.type].value}" for each in data.columns)
    connection.execute(f"CREATE TABLE {identifier(data.name)} ({columns})")
    rows, lost = [], dict.fromkeys((column.name for column in data.columns), 0)
    for column in data.columns:
        if column.name not in lists:
            raise _absent(data, column.name)
        rows.append(iter(lists[column.name]))
    if len({len(lists[column.name]) for column in data.columns}) > 1:
        raise Invalid(f"the columns of table {data.name!r} are not of one length")
    chosen = ", ".join(f"unnest(CAST(${i} AS {TYPES[each.type].value}[]))" for i, each in enumerate(data.columns, 1))
    while True:
        chunk = []
        for each, objects in zip(data.columns, rows, strict=True):
            some = islice(objects, CHUNK)
            values, nothing = converted(some, each.type, each.name, data.reading, each.name == data.person)
            lost[each.name] += nothing
            chunk.append(values)
        if not chunk[0]:
            return {}, lost
        connection.execute(f"INSERT INTO {identifier(data.name)} SELECT {chosen}", chunk)
