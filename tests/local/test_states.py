"""States of collectors in files: both spellings say the same, a file is replaced whole or not at all, and what was changed is refused."""

import json
import random
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from discreet.errors import Invalid
from discreet.local import Client, Collector, states
from tests.local.cases import campaign
from tests.local.hostile import a_report, campaigns_of_all
from tests.scale import repeats

ENDINGS = (".json", ".parquet")


def collected(protocol: str = "k-ary", people: int = 12, capacity: int = 10) -> Collector:
    """A collector that has also seen a copy and something that is no report."""
    one = campaign(protocol)
    reports = [Client(one).report(person % 5) for person in range(people)]
    collector = Collector(one, capacity=capacity)
    collector.extend([*reports, *reports[:1], b""])
    return collector


def states_come_back(folder: Path) -> None:
    """Of every protocol: from either spelling the same collector, which goes on as the one that was saved."""
    chance = random.Random(2)
    for one in campaigns_of_all():
        sent = [a_report(one, chance).to_bytes() for _ in range(15)]
        collector, more, found = Collector(one, capacity=10), sent[12:], []
        collector.extend([*sent[:12], sent[0], b""])
        for ending in ENDINGS:
            path = folder / f"state{ending}"
            collector.save(path)
            found.append(Collector.load(path))
        collector.extend(more)
        for each in found:
            assert each.extend(more) > 0 and each.to_json() == collector.to_json()


def test_states_come_back(tmp_path: Path) -> None:
    states_come_back(tmp_path)


def test_the_size_of_a_state_does_not_depend_on_reports(tmp_path: Path) -> None:
    for ending in ENDINGS:
        sizes = []
        for people in (1, 300):
            collected(people=people, capacity=1000).save(tmp_path / f"state{ending}")
            sizes.append((tmp_path / f"state{ending}").stat().st_size)
        assert abs(sizes[1] - sizes[0]) < 20


def test_others_read_parquet(tmp_path: Path) -> None:
    """One row, whose columns are the fields of the JSON."""
    collector, path = collected(), tmp_path / "state.parquet"
    collector.save(path)
    query = f"SELECT campaign, n, rejected, totals, seen.size, octet_length(seen.bits) FROM '{path}'"
    (row,) = duckdb.sql(query).fetchall()
    record = json.loads(collector.to_json())
    assert row[:4] == tuple(record[each] for each in ("campaign", "n", "rejected", "totals"))
    assert row[4] == record["seen"]["size"] == 8 * row[5]


def a_save_that_fails_changes_nothing(folder: Path) -> None:
    for ending in ENDINGS:
        path = folder / f"kept{ending}"
        collected().save(path)
        before = path.read_bytes()
        with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")), pytest.raises(Invalid):
            collected(people=20).save(path)
        assert path.read_bytes() == before and Collector.load(path).n == 12
    assert {each.name for each in folder.iterdir() if "kept" in each.name} == {"kept.json", "kept.parquet"}


def test_a_save_that_fails_changes_nothing(tmp_path: Path) -> None:
    a_save_that_fails_changes_nothing(tmp_path)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """With a bit or some bytes changed, cut off, or with more in it."""
    at, kind = chance.randrange(len(data)), chance.randrange(4)
    if kind == 0:
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    if kind == 1:
        return data[:at] + chance.randbytes(4) + data[at + 4 :]
    return data[:at] if kind == 2 else data[:at] + chance.randbytes(1 + chance.randrange(8)) + data[at:]


def damaged_states_are_refused_or_the_same(folder: Path) -> None:
    """Of a Parquet file parts do not matter, such as the name of its writer; what else is changed shows in its hash.

    JSON that has become another state is that state, and has no other spelling.
    """
    collector, chance = collected(), random.Random(1)
    for ending in ENDINGS:
        path = folder / f"damaged{ending}"
        collector.save(path)
        data = path.read_bytes()
        for _ in range(repeats(100)):
            path.write_bytes(damaged(data, chance))
            try:
                found = Collector.load(path).to_json()
            except Invalid:
                continue
            assert found == (collector.to_json() if ending == ".parquet" else path.read_text("ascii"))


def test_damaged_states_are_refused_or_the_same(tmp_path: Path) -> None:
    damaged_states_are_refused_or_the_same(tmp_path)


CHANGES: list[dict[str, Any]] = [
    {"n": 13},
    {"totals": [12, 0, 0, 0, 0]},
    {"rejected": {"campaign": 9, "duplicate": 1, "expired": 0, "malformed": 1, "version": 0}},
    {"version": 2},
    {"sha256": "0" * 64},
]


def changed_rows_are_refused(folder: Path) -> None:
    """States that a collector could have, but that were not written."""
    path = folder / "changed.parquet"
    collected().save(path)
    table = pyarrow.parquet.read_table(path)
    (record,) = table.to_pylist()
    files = [pyarrow.Table.from_pylist([record | change], table.schema) for change in CHANGES]
    files += [pyarrow.concat_tables([table, table]), table.slice(0, 0), table.drop(["n"]), table.select(["n"])]
    files += [table.append_column("more", pyarrow.array([1]))]
    for each in files:
        pyarrow.parquet.write_table(each, path, compression="none")
        with pytest.raises(Invalid):
            Collector.load(path)


def test_changed_rows_are_refused(tmp_path: Path) -> None:
    changed_rows_are_refused(tmp_path)


def test_what_is_packed_tighter_than_it_was_written_is_refused(tmp_path: Path) -> None:
    """A few bytes that would become many."""
    path = tmp_path / "packed.parquet"
    collected(capacity=100_000).save(path)
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table, path, compression="zstd")
    with pytest.raises(Invalid, match="not the state"):
        Collector.load(path)


def test_other_files_are_refused_by_what_is_wrong_with_them(tmp_path: Path) -> None:
    collector = collected()
    for name in ("state", "state.txt", "state.json.gz"):
        with pytest.raises(Invalid, match="must end in"):
            collector.save(tmp_path / name)
    for ending in ENDINGS:
        with pytest.raises(Invalid, match="there is no file"):
            Collector.load(tmp_path / f"none{ending}")
        (tmp_path / f"folder{ending}").mkdir()
        (tmp_path / f"odd{ending}").write_bytes(b"\xff{}")
        for name in ("folder", "odd"):
            with pytest.raises(Invalid):
                Collector.load(tmp_path / f"{name}{ending}")
    with pytest.raises(Invalid, match="cannot be written"):
        collector.save(tmp_path / "nowhere" / "state.json")


def test_files_that_are_too_large_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_BYTES", 100)
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail("it was read"))
    for ending in ENDINGS:
        collected().save(tmp_path / f"state{ending}")
        with pytest.raises(Invalid, match="not the state"):
            Collector.load(tmp_path / f"state{ending}")


def test_what_is_no_path_is_refused() -> None:
    for path in (None, 5, b"state.json", "sta\0te.json"):
        for call in (collected().save, Collector.load):
            with pytest.raises(Invalid, match="path"):
                call(path)  # type: ignore[operator]


def test_json_needs_no_other_library(tmp_path: Path) -> None:
    collector = collected()
    with mock.patch.dict(sys.modules, {"pyarrow": None, "pyarrow.parquet": None}):
        collector.save(tmp_path / "state.json")
        assert Collector.load(tmp_path / "state.json").n == 12
        with pytest.raises(Invalid, match="pyarrow is not installed"):
            collector.save(tmp_path / "state.parquet")
