"""Reports are read as they were written; whatever else is sent is refused by Invalid, and never counted."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.local import Campaign, Client, ClientReport, Collector
from discreet.local.report import HEAD, binding
from discreet.noise import Tape
from tests.local.cases import NAMES, campaign
from tests.scale import repeats

LAST = {"k-ary": 5, "unary": 1 << 5, "hashing": 4, "hadamard": 1 << 4}
"""The last byte of a good answer about five cells at an epsilon of 1 is below this."""


def reports_are_read_as_they_were_written() -> None:
    for protocol in NAMES:
        for k in (2, 5, 8, 300, 70_000):
            one = campaign(protocol, k)
            data = Client(one, source=Tape(k)).report(1)
            report = ClientReport.from_bytes(data)
            assert report.to_bytes() == data and len(data) == HEAD + one.randomiser.size
            assert ClientReport.from_json(report.to_json()) == report == ClientReport.read(report.to_json())
            answer = report.opened(one.randomiser, binding(one))
            assert one.randomiser.pack(answer) == report.answer


def test_reports_are_read_as_they_were_written() -> None:
    reports_are_read_as_they_were_written()


def reason(one: Campaign, data: bytes | str) -> str:
    collector = Collector(one, capacity=8)
    before = collector.totals.tolist()
    collector.add(data)
    if collector.n:
        return ""
    assert collector.totals.tolist() == before
    return next(name for name, count in collector.rejected.items() if count)


def bad_reports_have_their_reasons() -> None:
    for protocol in NAMES:
        one = campaign(protocol)
        data = Client(one).report(1)
        other = Campaign("Another?", 5, protocol, 1, bytes(16), one.expires)
        assert reason(one, data) == "" == reason(one, ClientReport.read(data).to_json())
        assert reason(one, b"\x02" + data[1:]) == "version"
        assert reason(one, ClientReport.read(data).to_json().replace('"version":1', '"version":2')) == "version"
        assert reason(one, Client(other).report(1)) == "campaign"
        assert reason(one, data + b"\0") == reason(one, data[:-1]) == reason(one, data[:HEAD]) == "malformed"
        assert reason(one, data[:-1] + bytes([LAST[protocol]])) == "malformed"
        assert reason(one, data[:-1] + b"\xff") == reason(one, data[:1] + b"\xff" + data[2:]) == "malformed"
        swapped = NAMES[NAMES.index(protocol) - 1]
        assert reason(one, data[:1] + bytes([campaign(swapped).randomiser.code]) + data[2:]) == "campaign"


def test_bad_reports_have_their_reasons() -> None:
    bad_reports_have_their_reasons()


def damaged(data: bytes, text: str, count: int, seed: int) -> Iterator[bytes | str]:
    """Reports with bits flipped, cut off, made longer, mixed up, or of noise; as bytes and as JSON."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        way = draw.integers(6)
        raw = bytearray(data if way < 4 else text.encode())
        if way in (0, 4):
            for place in draw.integers(len(raw), size=draw.integers(1, 4)):
                raw[place] ^= 1 << int(draw.integers(7))
        elif way == 1:
            raw = raw[: draw.integers(len(raw))]
        elif way == 2:
            raw += draw.bytes(draw.integers(1, 40))
        elif way == 3:
            raw = bytearray(draw.bytes(draw.integers(0, 90)))
        else:
            at = draw.integers(len(raw))
            raw[at : at + draw.integers(3)] = draw.bytes(draw.integers(4))
        yield bytes(raw) if way < 4 else raw.decode("utf-8", errors="replace")


def is_good(report: bytes | str, data: bytes, protocol: str) -> bool:
    """A second reading of the format: the head is that of the campaign, the length is right, and the last byte is small."""
    if isinstance(report, str):
        try:
            record = json.loads(report)
            raw = bytes.fromhex(record["token"] + record["answer"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return False
        good = json.loads(ClientReport.read(data).to_json()) | {key: record[key] for key in ("token", "answer")}
        if json.dumps(good, sort_keys=True, separators=(",", ":")) != report or len(record["token"]) != 32:
            return False
        report = data[:18] + raw
        if report.hex() != data[:18].hex() + record["token"] + record["answer"]:
            return False
    return report[:18] == data[:18] and len(report) == len(data) and report[-1] < LAST[protocol]


@pytest.mark.parametrize("protocol", NAMES)
def test_damaged_reports_are_never_counted(protocol: str) -> None:
    one = campaign(protocol)
    data = Client(one, source=Tape(7)).report(1)
    collector, good, seen = Collector(one), 0, set()
    count = repeats(2000)
    for report in damaged(data, ClientReport.read(data).to_json(), count, seed=3):
        token = report[18:34] if isinstance(report, bytes) else ""
        expected = is_good(report, data, protocol)
        if expected and isinstance(report, str):
            token = bytes.fromhex(json.loads(report)["token"])
        expected &= token not in seen
        assert collector.add(report) == expected
        if expected:
            seen.add(token)
            good += 1
    assert collector.n == good and good + sum(collector.rejected.values()) == count
    assert good < count / 3


@pytest.mark.parametrize(
    "parts",
    [
        ("none", bytes(16), bytes(16), b"a"),
        (["k-ary"], bytes(16), bytes(16), b"a"),
        ("k-ary", bytes(15), bytes(16), b"a"),
        ("k-ary", bytes(16), "x" * 16, b"a"),
        ("k-ary", bytes(16), bytes(16), b""),
        ("k-ary", bytes(16), bytes(16), bytes((1 << 17) + 1)),
    ],
    ids=["name", "list", "short", "text", "empty", "long"],
)
def test_parts_of_no_report_are_invalid(parts: tuple[Any, ...]) -> None:
    with pytest.raises(Invalid):
        ClientReport(*parts)


@pytest.mark.parametrize("report", [None, 1, bytearray(60), [], b"", "", "{}", b"\x01", "\ud800"])
def test_what_is_no_report_at_all_is_invalid(report: object) -> None:
    with pytest.raises(Invalid):
        ClientReport.read(report)  # type: ignore[arg-type]
    assert reason(campaign(), report) in {"malformed"}  # type: ignore[arg-type]
