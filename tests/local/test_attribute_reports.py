"""Reports of several attributes travel and are counted as all others are; whatever else is sent is refused, and never counted."""

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.local import Attribute, Attributes, Campaign, Client, ClientReport, Collector, OneAttribute
from discreet.local.report import HEAD, binding
from discreet.noise import Tape
from tests.local.hostile import changed_bytes, changed_text, token_of
from tests.local.test_attributes import TOWN, campaign
from tests.scale import repeats

NAMES = ("one-attribute", "hidden-attribute")
ALL_FOUR = Attributes(
    (
        Attribute("a", 3, "k-ary"),
        Attribute("b", 5, "unary"),
        Attribute("c", 7, "hadamard"),
        Attribute("d", ("x", True, 1), "hashing"),
    )
)
ANSWER = {"d": True, "a": 1, "b": 4, "c": 6}


def campaigns_are_read_as_they_were_written() -> None:
    for name in NAMES:
        for domain in (TOWN, ALL_FOUR):
            one = campaign(name, domain)
            again = Campaign.from_json(one.to_json())
            assert again == one and again.id == one.id and again.domain == domain
    other = Attributes((ALL_FOUR.attributes[1], ALL_FOUR.attributes[0], *ALL_FOUR.attributes[2:]))
    assert campaign(domain=other).id != campaign(domain=ALL_FOUR).id


def test_campaigns_are_read_as_they_were_written() -> None:
    campaigns_are_read_as_they_were_written()


RECORDS: list[Callable[[dict[str, Any]], object]] = [
    lambda domain: domain.update(more=1),
    lambda domain: domain.pop("attributes"),
    lambda domain: domain.update(attributes={}),
    lambda domain: domain.update(attributes=[1, 2]),
    lambda domain: domain["attributes"].append(domain["attributes"][0]),
    lambda domain: domain["attributes"][0].update(more=1),
    lambda domain: domain["attributes"][0].update(name=None),
    lambda domain: domain["attributes"][0].update(answers={"kind": "choices"}),
    lambda domain: domain["attributes"][0].update(answers=1.5),
    lambda domain: domain["attributes"][0].update(protocol="piecewise"),
    lambda domain: domain["attributes"][0].update(protocol=["k-ary"]),
]


@pytest.mark.parametrize("change", RECORDS)
def test_other_campaigns_are_refused(change: Callable[[dict[str, Any]], object]) -> None:
    record = json.loads(campaign().to_json())
    change(record["domain"])
    with pytest.raises(Invalid):
        Campaign.from_json(json.dumps(record, sort_keys=True, separators=(",", ":")))


def reports_are_counted_and_resumed() -> None:
    for name in NAMES:
        one = campaign(name, ALL_FOUR)
        reports = [Client(one, source=Tape(seed)).report(ANSWER) for seed in range(120)]
        assert {len(each) for each in reports} == {HEAD + one.randomiser.size}
        whole, first, second = (Collector(one, capacity=300) for _ in range(3))
        assert whole.extend(reports) == 120 and whole.extend(reports[::-1]) == 0
        first.extend(ClientReport.read(each).to_json() for each in reports[:50])
        second.extend(reports[50:])
        resumed = Collector.from_json(first.to_json()).merged(second)
        assert resumed.totals.tolist() == whole.totals.tolist()
        estimates = resumed.estimates()
        assert tuple(estimates.by_name) == ALL_FOUR.names and estimates["d"].labels == ("x", True, 1)
        for attribute, label, _, low, high in resumed.estimates(0.999999):
            right = type(label) is type(ANSWER[attribute]) and label == ANSWER[attribute]
            assert low <= float(right) <= high
        about = min(estimates[each].n for each in ALL_FOUR.names)
        assert about == 120 if name == "hidden-attribute" else about < 60
        assert resumed.influence(7) == max(estimates.influence(each, 7) for each in ALL_FOUR.names)


def test_reports_are_counted_and_resumed() -> None:
    reports_are_counted_and_resumed()


def wide_reports_do_not_wait_in_memory() -> None:
    wide = Attributes((Attribute("a", 2, "k-ary"), Attribute("b", 1 << 18, "unary")))
    one = campaign("one-attribute", wide)
    collector, randomiser, waiting = Collector(one), one.randomiser, 0
    assert isinstance(randomiser, OneAttribute)
    answer = randomiser.pack(np.zeros((), randomiser.row)[()])
    for number in range(40):
        token = number.to_bytes(16, "little")
        collector.add(ClientReport(one.protocol, binding(one), token, answer).to_bytes())
        waiting = max(waiting, len(collector._pending) * randomiser.row.itemsize)
    assert collector.n == 40 and waiting <= 1 << 22


def test_wide_reports_do_not_wait_in_memory() -> None:
    wide_reports_do_not_wait_in_memory()


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        "f",
        {},
        {"sex": "f", "ward": 1},
        {"sex": "f", "ward": 1, "age": 0, "more": 0},
        {"sex": "f", "ward": 3, "age": 0},
        {"sex": "f", "ward": True, "age": 0},
        {"sex": ["secret"], "ward": 1, "age": 0},
        {"sex": "secret", "ward": 1, "age": 0},
    ],
    ids=str,
)
def test_what_is_no_answer_is_refused_and_not_said(value: object) -> None:
    client = Client(campaign())
    with pytest.raises(Invalid) as refusal:
        client.report(value)
    assert "secret" not in str(refusal.value)
    assert client.report({"age": 4, "ward": 2, "sex": "m"})  # the report that there is was not used up


def damaged_reports_are_never_counted(name: str, count: int) -> None:
    """One counts where a second reading takes it, and its token is new."""
    one, random = campaign(name, ALL_FOUR), Random(4)
    samples = [ClientReport.read(Client(one, source=Tape(seed)).report(ANSWER)) for seed in range(8)]
    others = [each.to_bytes() for each in samples]
    collector, seen = Collector(one), set()
    for turn in range(count):
        sample = random.choice(samples)
        report: bytes | str = changed_bytes(sample.to_bytes(), others, random)
        if turn % 2:
            report = changed_text(sample.to_json(), random)
        token = token_of(report, one)
        expected = token is not None and token not in seen
        assert collector.add(report) == expected
        seen |= {token} if expected else set()
    assert collector.n == len(seen) and len(seen) + sum(collector.rejected.values()) == count
    assert 0 < len(seen) < count / 3


@pytest.mark.parametrize("name", NAMES)
def test_damaged_reports_are_never_counted(name: str) -> None:
    damaged_reports_are_never_counted(name, repeats(1000))


def reports_have_one_spelling() -> None:
    """Of all answers of three bytes, as far as they can matter: what is read is what was written, and as many as there are are read."""
    small = Attributes((Attribute("a", 3, "k-ary"), Attribute("b", 9, "unary")))
    for name, count in (("one-attribute", 3 + 2**9), ("hidden-attribute", 3 * 2**9)):
        protocol, read = campaign(name, small).randomiser, 0
        for data in map(bytes, product(range(5), range(256), (0, 1, 2, 255))):
            with suppress(Invalid):
                assert protocol.pack(protocol.unpack(data)) == data
                read += 1
        assert read == count
        for data in (b"", bytes(2), bytes(4)):
            with pytest.raises(Invalid):
                protocol.unpack(data)


def test_reports_have_one_spelling() -> None:
    reports_have_one_spelling()


def states_that_no_reports_have_made_are_refused() -> None:
    small = Attributes((Attribute("a", 2, "k-ary"), Attribute("b", 2, "unary")))
    for name, good, bad in (
        ("one-attribute", [3, 1, 2, 1, 1, 0], ([3, 2, 2, 1, 1, 0], [2, 1, 1, 1, 1, 0], [3, 1, 2, 0, 1, 0])),
        ("one-attribute", [4, 0, 2, 2, 0, 0], ([5, -1, 3, 2, 0, 0], [4, 0, 2, 2, 1, 0], [4, 0, 2, 2, -1, 0])),
        ("hidden-attribute", [3, 1, 4, 0], ([3, 0, 4, 0], [3, 1, 4, -1], [5, -1, 0, 0])),
    ):
        one = campaign(name, small)
        record = json.loads(Collector(one, capacity=8).to_json()) | {"n": 4, "totals": good}
        assert Collector.from_json(json.dumps(record, sort_keys=True, separators=(",", ":"))).n == 4
        for totals in bad:
            with pytest.raises(Invalid):
                Collector.from_json(json.dumps(record | {"totals": totals}, sort_keys=True, separators=(",", ":")))


def test_states_that_no_reports_have_made_are_refused() -> None:
    states_that_no_reports_have_made_are_refused()
