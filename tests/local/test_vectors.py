"""The vectors that clients in every language share are those of this package: campaigns, identities, coins and reports."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from discreet.local import Campaign, ClientReport
from discreet.local.memoised import Memoised
from discreet.local.protocols import PROTOCOLS
from discreet.local.report import binding
from tests.local.vectors import CASES, PATH, text

VECTORS = json.loads(PATH.read_text("utf-8"))


def the_vectors_are_those_of_the_source() -> None:
    """By the same draws, written down once more: `python -m tests.local.vectors` renews them."""
    assert PATH.read_text("utf-8") == text()


def test_the_vectors_are_those_of_the_source() -> None:
    the_vectors_are_those_of_the_source()


def reports() -> Iterator[tuple[Campaign, dict[str, Any]]]:
    for vector in VECTORS["campaigns"]:
        campaign = Campaign.from_json(vector["text"])
        assert campaign.id == vector["id"]
        for report in vector["reports"]:
            yield campaign, report


def test_reports_of_vectors_are_read() -> None:
    for campaign, vector in reports():
        report = ClientReport.from_bytes(bytes.fromhex(vector["bytes"]))
        answer = report.opened(campaign.randomiser, binding(campaign))
        assert campaign.randomiser.pack(answer) == report.answer


def test_every_protocol_has_vectors_save_those_that_need_a_diary() -> None:
    assert {name for name, _ in CASES} == {name for name, kind in PROTOCOLS.items() if not issubclass(kind, Memoised)}


@pytest.mark.parametrize("name", [name for name, _ in CASES])
def test_vectors_of_a_protocol_show_every_coin_on_both_sides(name: str) -> None:
    """Of each coin its threshold and the word before it are on some tape."""
    of_it = [each for each in VECTORS["campaigns"] if json.loads(each["text"])["protocol"] == name]
    words = {word for each in of_it for report in each["reports"] for word in report["tape"].split(" ")}
    thresholds = {int(coin) for each in of_it for coin in each["coins"].values()}
    told = [each for each in thresholds if f"{each:x}" in words and f"{each - 1:x}" in words]
    assert told
