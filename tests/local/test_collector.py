"""A collector's state adds up, is saved and resumed, knows copies again, and says how far liars can move it."""

import json
import pickle
from copy import copy, deepcopy
from fractions import Fraction as F
from itertools import product
from math import comb
from random import Random
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import Invalid
from discreet.local import Campaign, Client, Collector, KaryResponse, LocalHashing, Numbers, Words, compare
from discreet.local.seen import SeenSet
from discreet.noise import Tape
from tests.local.cases import LATER, NAMES, campaign
from tests.local.hostile import a_report, campaigns_of_all

FALSE_ALARM = 1e-6


def reports_of(one: Campaign, people: int) -> list[bytes]:
    return [Client(one).report(person % 3) for person in range(people)]


def states_add_up() -> None:
    """Of every protocol: the state of what two collectors saw is that of one that saw all; so is what one resumes that was saved midway."""
    random = Random(1)
    for one in campaigns_of_all():
        reports = [*(a_report(one, random).to_bytes() for _ in range(90)), b"", b"\x02"]
        whole, first, second = (Collector(one, capacity=1000) for _ in range(3))
        whole.extend(reports)
        first.extend(reports[:31])
        second.extend(reports[31:])
        assert first.merged(second).to_json() == second.merged(first).to_json() == whole.to_json()
        resumed = Collector.from_json(first.to_json())
        resumed.extend(reports[31:])
        assert resumed.to_json() == whole.to_json() and whole.n == 90
        assert resumed.extend(reports) == 0 and first.merged(second).extend(reports) == 0
        assert (first.n, second.n) == (31, 59)  # a merge changes neither
        with pytest.raises(Invalid, match="itself"):
            first.merged(first)


def test_states_add_up() -> None:
    states_add_up()


def copies_are_counted_once() -> None:
    one = campaign("unary")
    collector, reports = Collector(one), reports_of(one, 20)
    assert collector.extend(reports) == 20 and collector.extend(reports[::-1]) == 0
    assert collector.n == 20 and collector.rejected["duplicate"] == 20
    altered = [each[:-1] + bytes([each[-1] ^ 1]) for each in reports]  # another answer, the same token
    assert collector.extend(altered) == 0


def test_copies_are_counted_once() -> None:
    copies_are_counted_once()


def threads_count_one_after_the_other() -> None:
    """While one report is looked at no other is, so that of copies one counts, and totals and their number belong together."""
    one, done, began = campaign(), Event(), list[Thread]()
    copy, other = reports_of(one, 2)

    def clock() -> float:  # each report is held against it
        if not began:
            began.append(Thread(target=lambda: (collector.extend([copy, other]), done.set())))
            began[0].start()
            assert not done.wait(0.2)
        return 0.0

    collector = Collector(one, clock=clock)
    assert collector.add(copy)
    began[0].join()
    assert collector.n == collector.totals.sum() == 2 and collector.rejected["duplicate"] == 1


def test_threads_count_one_after_the_other() -> None:
    threads_count_one_after_the_other()


def copies_go_on_by_themselves() -> None:
    """Of any collector, as a pool of processes makes them."""
    one = campaign()
    reports = reports_of(one, 9)
    collector = Collector(one, capacity=100)
    collector.extend([*reports[:4], b""])
    before = collector.to_json()
    for copied in (copy(collector), deepcopy(collector), pickle.loads(pickle.dumps(collector))):
        assert copied.to_json() == before
        assert copied.extend(reports) == 5 and copied.n == copied.totals.sum() == 9
        assert collector.to_json() == before
    assert collector.extend(reports) == 5


def test_copies_go_on_by_themselves() -> None:
    copies_go_on_by_themselves()


def late_reports_do_not_count() -> None:
    one, now = campaign(), [LATER - 1.0]
    collector, reports = Collector(one, clock=lambda: now[0]), reports_of(one, 2)
    assert collector.add(reports[0])
    now[0] = LATER
    assert not collector.add(reports[1]) and collector.rejected["expired"] == 1
    now[0] = LATER - 1.0
    assert collector.add(reports[1])  # a report that did not count has not used its token up


def test_late_reports_do_not_count() -> None:
    late_reports_do_not_count()


def liars_move_an_estimate_so_far_and_no_farther() -> None:
    """One report of three is exchanged for any other: the largest move of any share is the influence of one."""
    for protocol in ("k-ary", "unary", "hadamard"):
        one = campaign(protocol, 3)
        randomiser = one.randomiser
        rows = [randomiser.support(randomiser.accumulate(np.array([each])), 1) for each in randomiser.outcomes()]
        gap = randomiser.estimate(1, 3) - randomiser.estimate(0, 3)
        most = max(abs(int(each)) for a, b in product(rows, rows) for each in a - b) * gap
        collector = Collector(one)
        collector.extend(reports_of(one, 3))
        assert collector.influence(1) == pytest.approx(float(most), rel=1e-12)
        assert collector.influence(2) == pytest.approx(2 * float(most), rel=1e-12) and collector.influence(0) == 0
        for liars in (4, -1):
            with pytest.raises(Invalid):
                collector.influence(liars)


def test_liars_move_an_estimate_so_far_and_no_farther() -> None:
    liars_move_an_estimate_so_far_and_no_farther()


def test_memory_does_not_grow_with_reports() -> None:
    one = campaign("hashing")
    collector, reports = Collector(one, capacity=10_000), reports_of(one, 5000)
    collector.extend(reports[:100])
    early = len(collector.to_json())
    collector.extend(reports[100:])
    assert len(collector._pending) < 4096 and len(collector.to_json()) < early + 100
    large = campaign("unary", 1 << 20)
    collector = Collector(large, capacity=10)
    for report in reports_of(large, 5):  # a mebibyte each, once it is read
        collector.add(report)
        assert sum(each.nbytes for each in collector._pending) < 1 << 22


def integers_of_numpy_are_as_good() -> None:
    few = np.int64(3)
    terms = ("How?", "k-ary", 1, bytes(16))
    one = Campaign(terms[0], 3, *terms[1:], np.int64(LATER))  # type: ignore[arg-type]
    assert Campaign.from_json(one.to_json()) == one
    collector = Collector(one, capacity=np.int64(9))
    collector.extend(reports_of(one, 4))
    assert collector.influence(few) == collector.influence(3)
    protocol = one.randomiser
    assert isinstance(protocol, KaryResponse)
    assert protocol.estimate(few, np.int64(4)) == protocol.estimate(3, 4)
    for taken, usual in (
        (Words.new("ab", few, source=Tape(1)), Words.new("ab", 3, source=Tape(1))),
        (LocalHashing(few, 1, word=np.int64(64)), LocalHashing(3, 1)),
        (compare(np.int64(10**6), np.int64(1000), 1), compare(10**6, 1000, 1)),
        (Numbers(0, few, np.int64(8)), Numbers(0, 3, 8)),
    ):
        assert taken == usual and repr(taken) == repr(usual)


def test_integers_of_numpy_are_as_good() -> None:
    integers_of_numpy_are_as_good()


def earlier_states_are_not_merged_with_later_ones() -> None:
    """Of one collector; a few reports that two collectors saw are counted by both, as is said."""
    collector = Collector(campaign("k-ary"), capacity=1000)
    sent = [Client(campaign("k-ary")).report(0) for _ in range(60)]
    collector.extend(sent[:20])
    earlier = Collector.from_json(collector.to_json())
    collector.extend(sent[20:40])
    for first, second in ((earlier, collector), (collector, earlier), (earlier, deepcopy(earlier))):
        with pytest.raises(Invalid, match="count twice"):
            first.merged(second)
    other = Collector(campaign("k-ary"), capacity=1000)
    other.extend(sent[39:])
    assert collector.merged(other).n == 61 and other.merged(collector).n == 61
    empty = Collector(campaign("k-ary"), capacity=1000)
    assert collector.merged(empty).n == empty.merged(collector).n == 40 and empty.merged(deepcopy(empty)).n == 0


def test_earlier_states_are_not_merged_with_later_ones() -> None:
    earlier_states_are_not_merged_with_later_ones()


def sets_of_other_tokens_are_not_taken_for_the_same() -> None:
    """Of a set that is nearly full everything is a part; and one of few bits may be a part by chance."""
    full, few = SeenSet(bytes(16), 64, 2), SeenSet(bytes(16), 64, 2)
    for token in range(200):
        full.add(token.to_bytes(16, "little"))
    few.add(bytes([9] * 16))
    assert not full.covers(few) and not few.covers(full) and not full.covers(full)
    large = SeenSet(bytes(16), 1 << 12, 2)
    for token in range(100):
        large.add(token.to_bytes(16, "little"))
    assert large.covers(large.copy())


def test_sets_of_other_tokens_are_not_taken_for_the_same() -> None:
    sets_of_other_tokens_are_not_taken_for_the_same()


def what_is_no_campaign_or_no_reports_is_refused_by_what_to_pass() -> None:
    one = campaign()
    report = Client(one).report(1)
    calls: list[tuple[str, Any]] = [
        ("from_json", lambda: Collector(one.to_json())),  # type: ignore[arg-type]
        ("from_json", lambda: Client(one.to_json())),  # type: ignore[arg-type]
        ("open", lambda: Client(one, diary="me.diary")),  # type: ignore[arg-type]
        ("to add", lambda: Collector(one).extend(report)),  # type: ignore[arg-type]
        ("to add", lambda: Collector(one).extend("{}")),
        ("to add", lambda: Collector(one).extend(None)),  # type: ignore[arg-type]
        ("capacity", lambda: Collector(one, capacity=10**400)),
    ]
    for words, call in calls:
        with pytest.raises(Invalid, match=words):
            call()


def test_what_is_no_campaign_or_no_reports_is_refused_by_what_to_pass() -> None:
    what_is_no_campaign_or_no_reports_is_refused_by_what_to_pass()


def test_two_campaigns_or_sizes_are_not_merged() -> None:
    one = Collector(campaign("k-ary"))
    for other in (
        Collector(campaign("unary")),
        Collector(campaign("k-ary"), capacity=100),
        Collector(campaign("k-ary", (0, 1))),
    ):
        with pytest.raises(Invalid):
            one.merged(other)


def test_there_are_no_estimates_of_nobody() -> None:
    for call in (lambda: Collector(campaign()).estimates(), lambda: Collector(campaign()).influence(0)):
        with pytest.raises(Invalid):
            call()


CHANGES: list[dict[str, Any]] = [
    {"n": 2},
    {"n": -1},
    {"n": True},
    {"n": 1 << 63},
    {"totals": [0, 0, 0, 0]},
    {"totals": [0, 0, 0, 0, 9]},
    {"totals": [0, 0, 0, 0, -1]},
    {"totals": [0, 0, 0, 0, 1.0]},
    {"totals": "00000"},
    {"rejected": {}},
    {"rejected": {"campaign": 0, "duplicate": 0, "expired": 0, "malformed": 0, "version": -1}},
    {"rejected": {"campaign": 0, "duplicate": 0, "expired": 0, "malformed": 1 << 63, "version": 0}},
    {"seen": {}},
    {"seen": {"bits": "AA==", "hashes": 1, "size": 16}},
    {"seen": {"bits": "?", "hashes": 1, "size": 8}},
    {"seen": {"bits": "AA==", "hashes": 9, "size": 8}},
    {"seen": {"bits": "AAAA", "hashes": 1, "size": 24}},
    {"seen": {"bits": 1, "hashes": 1, "size": 8}},
    {"campaign": "{}"},
    {"campaign": {}},
    {"version": 2},
    {"more": 1},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_states_that_cannot_be_are_refused(change: dict[str, Any]) -> None:
    collector = Collector(campaign(), capacity=8)
    collector.extend(reports_of(campaign(), 3))
    record = json.loads(collector.to_json())
    assert Collector.from_json(collector.to_json()).to_json() == collector.to_json()
    with pytest.raises(Invalid):
        Collector.from_json(json.dumps(record | change, sort_keys=True, separators=(",", ":")))


def states_of_more_than_was_sent_are_refused() -> None:
    for protocol in NAMES:
        one = campaign(protocol)
        collector = Collector(one, capacity=8)
        collector.extend(reports_of(one, 4))
        record = json.loads(collector.to_json())
        for totals in ([5 if place == 0 else each for place, each in enumerate(record["totals"])], [-4] * 8):
            with pytest.raises(Invalid):
                Collector.from_json(json.dumps(record | {"totals": totals}, sort_keys=True, separators=(",", ":")))
    record |= {"totals": [1, *[0] * 7]}  # four signs do not add up to an odd number
    with pytest.raises(Invalid):
        Collector.from_json(json.dumps(record, sort_keys=True, separators=(",", ":")))


def test_states_of_more_than_was_sent_are_refused() -> None:
    states_of_more_than_was_sent_are_refused()


def new_tokens_are_taken_for_copies_as_rarely_as_is_said() -> None:
    """At its capacity a set rejects at most the declared share of new tokens; the chance of a false alarm is 1e-6."""
    draw, rate = np.random.default_rng(1), 0.01
    for capacity in (100, 1000, 1500):
        seen = SeenSet.of(b"salt", capacity, rate)
        tokens = [draw.bytes(16) for _ in range(capacity)]
        for token in tokens:
            seen.add(token)
        assert not any(seen.add(token) for token in tokens)
        trials = 4000
        rejects = 0
        for _ in range(trials):
            bits = seen.bits.copy()
            rejects += not seen.add(draw.bytes(16))
            seen.bits = bits
        assert rejects <= binom.isf(FALSE_ALARM / 6, trials, 2 * rate)
        likely = seen.false_rejects
        assert likely <= 2 * rate  # what this filling has, about its mean
        assert binom.ppf(FALSE_ALARM / 6, trials, likely) <= rejects <= binom.isf(FALSE_ALARM / 6, trials, likely)


def test_new_tokens_are_taken_for_copies_as_rarely_as_is_said() -> None:
    new_tokens_are_taken_for_copies_as_rarely_as_is_said()


def rejects(size: int, hashes: int, tokens: int) -> tuple[int, int]:
    """How often a new token is taken for a seen one, as a ratio: d places of it are all set, by inclusion and exclusion."""
    different = [1]  # of each number of different places, the ways to have them
    for _ in range(hashes):
        again = [each * d for d, each in enumerate(different)] + [0]
        new = [0, *(each * (size - d) for d, each in enumerate(different))]
        different = [a + b for a, b in zip(again, new, strict=True)]
    free = [(size - i) ** (hashes * tokens) for i in range(hashes + 1)]  # ways to leave i bits out
    ways = sum(each * sum((-1) ** i * comb(d, i) * free[i] for i in range(d + 1)) for d, each in enumerate(different))
    return ways, size ** (hashes * tokens + hashes)


def new_tokens_are_rejected_no_more_often_than_is_declared() -> None:
    """On average over all sets of tokens, in integers; of few places all are written down."""
    for size, hashes, tokens in ((8, 1, 3), (8, 2, 2), (8, 3, 1)):
        filled = [F(len(set(places)), size) ** hashes for places in product(range(size), repeat=hashes * tokens)]
        assert sum(filled) / len(filled) == F(*rejects(size, hashes, tokens))
    for capacity in (1, 2, 3, 5, 10, 100, 1000):
        for rate in (F(9, 10), F(1, 2), F(1, 10), F(1, 100), F(1, 10**6), F(1, 10**9)):
            seen = SeenSet.of(b"salt", capacity, float(rate))
            ways, all_ = rejects(seen.size, seen.hashes, capacity)
            assert ways * rate.denominator <= rate.numerator * all_, (capacity, rate)


def test_new_tokens_are_rejected_no_more_often_than_is_declared() -> None:
    new_tokens_are_rejected_no_more_often_than_is_declared()


def test_rates_are_any_numbers() -> None:
    assert SeenSet.of(b"", 100, F(1, 100)).size == SeenSet.of(b"", 100, 0.01).size


@pytest.mark.parametrize(("capacity", "rate"), [(0, 0.1), (1, 1.0), (1, 0.0), (1 << 40, 0.1), (1, "x"), (1.5, 0.1)])
def test_seen_sets_that_cannot_be_are_refused(capacity: int, rate: float) -> None:
    with pytest.raises(Invalid):
        SeenSet.of(b"", capacity, rate)
