"""Reports are read as they were written; whatever else is sent is refused by Invalid, and never counted."""

from random import Random
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.local import Campaign, Client, ClientReport, Collector, canonical
from discreet.local.report import HEAD, MOST_ANSWER, MOST_TEXT, binding
from discreet.noise import Tape
from tests.local.cases import NAMES, campaign
from tests.local.hostile import a_report, campaigns_of_all, changed_bytes, changed_text, token_of
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


FUZZED = 6000  # reports over all campaigns


def damaged_reports_are_never_counted() -> dict[str, tuple[int, int]]:
    """Reports of every protocol, damaged as bytes or as JSON: one counts where a second reading takes it, and its token is new.

    How many there were of each protocol, and how many of them counted.
    """
    ways = campaigns_of_all()
    random = Random(3)
    samples = {one.id: [a_report(one, random) for _ in range(4)] for one in ways}
    others = [report.to_bytes() for reports in samples.values() for report in reports]
    found: dict[str, tuple[int, int]] = {}
    for one in ways:
        count, good, seen = repeats(FUZZED // len(ways)), 0, set()
        collector = Collector(one, capacity=count)
        before = collector.totals
        for _ in range(count):
            sample = random.choice(samples[one.id])
            as_text = random.random() < 0.5
            report = (
                changed_text(sample.to_json(), random) if as_text else changed_bytes(sample.to_bytes(), others, random)
            )
            token = token_of(report, one)
            expected = token is not None and token not in seen
            assert collector.add(report) == expected, (one.protocol, report)
            good += expected
            seen.add(token)
        assert collector.n == good and good + sum(collector.rejected.values()) == count
        assert good < count / 3 and (good or np.array_equal(before, collector.totals))
        found[one.protocol] = tuple(map(sum, zip(found.get(one.protocol, (0, 0)), (count, good), strict=True)))
    return found


def test_damaged_reports_are_never_counted() -> None:
    damaged_reports_are_never_counted()


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


def test_a_report_that_is_too_long_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical.json, "loads", lambda text: pytest.fail("it was read"))
    for text in ("[" * (MOST_TEXT + 1), '{"answer":"' + "0" * MOST_TEXT):
        assert reason(campaign(), text) == "malformed"


def test_the_longest_report_is_read() -> None:
    data = bytes([1, 2]) + bytes(32) + bytes(MOST_ANSWER)
    report = ClientReport.from_bytes(data)
    assert ClientReport.from_json(report.to_json()) == report
    with pytest.raises(Invalid):
        ClientReport.from_bytes(data + b"\0")
