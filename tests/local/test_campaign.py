"""Campaigns have one text each, and every other text is refused."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.local import Attribute, Campaign, Numbers, Rounds
from discreet.local.domains import domain_of
from tests.local.cases import LATER, NAMES, campaign

SALT = bytes(16)


def campaigns_are_read_as_they_were_written() -> None:
    for protocol in NAMES:
        for domain in (2, 1 << 20, ("a", "b"), (True, False, 1, 0, "1"), ("\u00e9", "\ud800", "")):
            for epsilon in (F(1), F(1, 3), F(20)):
                one = campaign(protocol, domain, epsilon)
                again = Campaign.from_json(one.to_json())
                assert again == one and again.id == one.id
                assert [type(each) for each in again.domain.labels[:5]] == [
                    type(each) for each in one.domain.labels[:5]
                ]
                assert one.id == hashlib.sha256(one.to_json().encode()).hexdigest()


def test_campaigns_are_read_as_they_were_written() -> None:
    campaigns_are_read_as_they_were_written()


def test_labels_of_two_types_are_two_campaigns() -> None:
    one, other = campaign(domain=(1, 0)), campaign(domain=(True, False))
    assert one.id != other.id and one != other and one.domain != other.domain
    assert one == campaign(domain=(1, 0)) and hash(one) == hash(campaign(domain=[1, 0]))  # type: ignore[arg-type]
    assert campaign(domain=2) != campaign(domain=(0, 1)) and one.domain != (1, 0)


def texts_that_json_gives_back_otherwise_are_refused() -> None:
    """Two halves of a letter in a text of Python come back as one letter: another campaign, or one with two equal labels."""
    halves = "\ud83d\ude00"
    calls: list[Callable[[], object]] = [
        lambda: campaign(domain=(halves, "b")),
        lambda: campaign(domain=(halves, "\U0001f600")),
        lambda: Campaign(halves, 2, "k-ary", F(1), SALT, LATER),
        lambda: Attribute(halves, 2, "k-ary"),
    ]
    for call in calls:
        with pytest.raises(Invalid, match="halves"):
            call()
    one = campaign(domain=("\U0001f600", "\ude00\ud83d", "\ud83d"))
    assert Campaign.from_json(one.to_json()) == one


def test_texts_that_json_gives_back_otherwise_are_refused() -> None:
    texts_that_json_gives_back_otherwise_are_refused()


def ratios_that_no_text_holds_are_refused() -> None:
    """A campaign with one would be made, and read by nobody."""
    for digits in (400, 401):
        most = 10 ** (digits - 1)
        long = F(most + 1, most)
        made: list[Callable[[], Campaign]] = [
            lambda long=long: campaign(epsilon=long),  # type: ignore[misc]
            lambda long=long: Campaign("Q", Numbers(0, long), "hybrid", 1, SALT, LATER),  # type: ignore[misc]
            lambda long=long: Campaign("Q", Numbers(-long, 0), "hybrid", 1, SALT, LATER),  # type: ignore[misc]
            lambda long=long: Campaign("Q", Rounds(3, long, SALT), "memo-k-ary", 2, SALT, LATER),  # type: ignore[misc]
        ]
        for each in made:
            if digits == 400:
                assert Campaign.from_json(each().to_json()) == each()
                continue
            with pytest.raises(Invalid, match="400 digits"):
                each()


def test_ratios_that_no_text_holds_are_refused() -> None:
    ratios_that_no_text_holds_are_refused()


def test_refusals_say_what_to_pass() -> None:
    for domain in ({"a", "b"}, range(3), None, "ab", 2.0, True):
        with pytest.raises(Invalid, match="labels or their number"):
            campaign(domain=domain)  # type: ignore[arg-type]
    for expires in (4e9, datetime(2030, 1, 1, tzinfo=UTC), 0):
        with pytest.raises(Invalid, match="seconds since 1970"):
            Campaign("Q", 2, "k-ary", F(1), SALT, expires)  # type: ignore[arg-type]
    for value in (np.str_("a"), np.bool_(True)):
        with pytest.raises(Invalid, match="item"):
            campaign(domain=("a", True)).domain.encoded(value)


def test_each_new_campaign_has_a_salt_of_its_own() -> None:
    made = [Campaign.new("Q", 2, protocol="k-ary", epsilon=1, expires=LATER) for _ in range(2)]
    assert made[0].id != made[1].id


BAD: list[dict[str, Any]] = [
    {"question": ""},
    {"question": 1},
    {"question": "x" * 10_001},
    {"domain": 1},
    {"domain": (1 << 20) + 1},
    {"domain": 2.0},
    {"domain": True},
    {"domain": ("a",)},
    {"domain": ("a", "a")},
    {"domain": ("a", 1.5)},
    {"domain": ("a", ["b"])},
    {"domain": ("a", None)},
    {"domain": (0, 1 << 53)},
    {"domain": "ab"},
    {"protocol": "none"},
    {"protocol": ["k-ary"]},
    {"epsilon": 0},
    {"epsilon": 21},
    {"epsilon": float("nan")},
    {"salt": bytes(15)},
    {"salt": bytes(65)},
    {"salt": "x" * 16},
    {"expires": 0},
    {"expires": 1.5},
    {"expires": 1 << 60},
]


@pytest.mark.parametrize("change", BAD, ids=str)
def test_terms_that_cannot_be_are_refused(change: dict[str, Any]) -> None:
    terms: dict[str, Any] = {
        "question": "Q",
        "domain": 2,
        "protocol": "k-ary",
        "epsilon": 1,
        "salt": SALT,
        "expires": LATER,
    } | change
    with pytest.raises(Invalid):
        Campaign(**terms)


def edited(**change: Any) -> str:
    return json.dumps(json.loads(campaign().to_json()) | change, sort_keys=True, separators=(",", ":"))


OTHER_TEXTS: list[Callable[[], object]] = [
    lambda: campaign().to_json() + " ",
    lambda: campaign().to_json().replace(",", ", "),
    lambda: campaign().to_json()[:-1] + ',"domain":5}',
    lambda: campaign().to_json().replace('{"domain":5,', '{"domain":5,"domain":5,'),
    lambda: campaign().to_json().encode(),
    lambda: "",
    lambda: "[]",
    lambda: "[" * 100_000,
    lambda: "1" * 10_000,
    lambda: None,
    lambda: edited(version=2),
    lambda: edited(version=True),
    lambda: edited(format="discreet.local.report"),
    lambda: edited(more=1),
    lambda: edited(epsilon=1),
    lambda: edited(epsilon="2/2"),
    lambda: edited(epsilon="1/0"),
    lambda: edited(epsilon="1e0"),
    lambda: edited(epsilon="-1"),
    lambda: edited(domain=5.0),
    lambda: edited(domain=float("inf")),
    lambda: edited(domain={}),
    lambda: edited(salt="AA" * 16),
    lambda: edited(salt="aa" * 15),
    lambda: edited(salt="0" * 33),
    lambda: edited(expires=True),
    lambda: edited(question=None),
]


@pytest.mark.parametrize("text", OTHER_TEXTS)
def test_other_texts_are_refused(text: Callable[[], object]) -> None:
    with pytest.raises(Invalid):
        Campaign.from_json(text())  # type: ignore[arg-type]


def test_white_space_around_a_text_is_said() -> None:
    for text in (campaign().to_json() + "\n", "\r\n " + campaign().to_json()):
        with pytest.raises(Invalid, match="without white space"):
            Campaign.from_json(text)
    with pytest.raises(Invalid) as refusal:
        Campaign.from_json(campaign().to_json().replace(",", ", "))
    assert "white space" not in str(refusal.value)


def later_formats_are_refused() -> None:
    with pytest.raises(Invalid) as refusal:
        Campaign.from_json(edited(version=2))
    assert refusal.value.code == "version"


def test_later_formats_are_refused() -> None:
    later_formats_are_refused()


def domains_of_other_kinds_are_refused() -> None:
    for domain in ({}, {"kind": "shapes"}, {"kind": 1}, {"kind": ["numbers"]}, {"kind": "choices"}, None, 1.5, "ab"):
        with pytest.raises(Invalid):
            domain_of(domain)


def test_domains_of_other_kinds_are_refused() -> None:
    domains_of_other_kinds_are_refused()
