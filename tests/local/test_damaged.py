"""Campaigns and states of collectors that were damaged are read as exactly what they say, or refused by Invalid; long texts unread."""

import json
from random import Random

import pytest

from discreet.errors import Invalid
from discreet.local import Campaign, Collector, canonical
from discreet.local import campaign as campaigns
from tests.local.cases import campaign
from tests.local.hostile import a_report, campaigns_of_all, changed_text
from tests.scale import repeats

TEXTS = 1500  # of each kind, over all campaigns


def damaged_campaigns_are_refused_or_read_as_they_are() -> None:
    random, ways, read = Random(5), campaigns_of_all(), 0
    for one in ways:
        for _ in range(repeats(TEXTS // len(ways))):
            text = changed_text(one.to_json(), random)
            try:
                found = Campaign.from_json(text)
            except Invalid:
                continue
            assert found.to_json() == text and Campaign.from_json(text) == found
            read += 1
    assert 0 < read < repeats(TEXTS) / 3  # another question is a campaign too


def test_damaged_campaigns_are_refused_or_read_as_they_are() -> None:
    damaged_campaigns_are_refused_or_read_as_they_are()


def damaged_states_are_refused_or_read_as_they_are() -> None:
    random, ways, read = Random(6), campaigns_of_all(), 0
    for one in ways:
        collector = Collector(one, capacity=8, false_rejects=0.1)
        collector.extend(a_report(one, random).to_bytes() for _ in range(9))
        state = collector.to_json()
        for _ in range(repeats(TEXTS // len(ways))):
            text = changed_text(state, random)
            try:
                found = Collector.from_json(text)
            except Invalid:
                continue
            assert found.to_json() == text
            found.add(a_report(one, random).to_bytes())  # whatever it says can be gone on with
            read += 1
            if found.n:
                found.estimates()
    assert 0 < read < repeats(TEXTS) / 3  # more rejected ones, or other tokens, are a state too


def test_damaged_states_are_refused_or_read_as_they_are() -> None:
    damaged_states_are_refused_or_read_as_they_are()


def sets_of_tokens_have_one_spelling() -> None:
    """The last letter has two digits that mean nothing."""
    state = Collector(campaign(), capacity=8, false_rejects=0.1).to_json()
    assert state.count('A=","hashes"') == 1
    for letter in "BCD":
        with pytest.raises(Invalid):
            Collector.from_json(state.replace('A=","hashes"', f'{letter}=","hashes"'))


def test_sets_of_tokens_have_one_spelling() -> None:
    sets_of_tokens_have_one_spelling()


def totals_that_wrap_around_are_refused() -> None:
    """Five totals of 2^62 are 2^62 again in words of 64 bits."""
    record = json.loads(Collector(campaign(), capacity=8).to_json())
    changed = record | {"n": 1 << 62, "totals": [1 << 62] * 5}
    with pytest.raises(Invalid):
        Collector.from_json(json.dumps(changed, sort_keys=True, separators=(",", ":")))


def test_totals_that_wrap_around_are_refused() -> None:
    totals_that_wrap_around_are_refused()


def campaigns_of_the_longest_text_are_read_and_longer_ones_are_not() -> None:
    """A letter more is refused where the campaign would be made, and unread where its text is sent."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(campaigns, "MOST_TEXT", 1 << 12)
        spare = (1 << 12) - len(campaign("hadamard", ("a", "")).to_json())
        longest = campaign("hadamard", ("a", "b" * spare))
        text = longest.to_json()
        assert len(text) == 1 << 12 and Campaign.from_json(text) == longest
        with pytest.raises(Invalid, match="letters"):
            campaign("hadamard", ("a", "b" * (spare + 1)))
        patch.setattr(canonical.json, "loads", lambda text: pytest.fail("it was read"))
        with pytest.raises(Invalid):
            Campaign.from_json(text.replace("b", "bb", 1))


def test_campaigns_of_the_longest_text_are_read_and_longer_ones_are_not() -> None:
    campaigns_of_the_longest_text_are_read_and_longer_ones_are_not()
