"""Rounds of a series: the chances of whole sequences of reports are enumerated, for whole sequences of values."""

from collections.abc import Iterator, Sequence
from fractions import Fraction as F
from itertools import product
from math import exp, log

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import Invalid, Refused
from discreet.exact import exp_down, log_down, log_up
from discreet.local import (
    Campaign,
    Client,
    ClientReport,
    Collector,
    Diary,
    KaryResponse,
    MemoHashing,
    MemoKary,
    Rounds,
    periods,
)
from discreet.local.memoised import Memoised
from discreet.local.report import binding
from tests.local.cases import LATER
from tests.scale import repeats

FALSE_ALARM = 1e-6
NEAR = F(1, 10**9)
SERIES = bytes(16)
CASES = (
    *(MemoKary(2, e, first=f) for e, f in ((F(1, 10), F(1, 20)), (F(1), F(9, 10)), (F(4), F(1)))),
    MemoKary(3, 1, first=F(1, 2)),
    MemoHashing(4, 1, word=4, first=F(1, 2)),
)


def response(keep: F, k: int, given: int, told: int) -> F:
    return keep if given == told else (1 - keep) / (k - 1)


def one_value(protocol: Memoised, own: int, told: Sequence[int]) -> F:
    """The chance of all reports of the rounds of one value, which the permanent answer `own` would be the truth for."""
    k, total = protocol.answers, F(0)
    for lasting in range(k):
        chance = response(protocol.permanent, k, own, lasting)
        for each in told:
            chance *= response(protocol.repeated, k, lasting, each)
        total += chance
    return total


def chances(protocol: Memoised, held: Sequence[int], hashed: Sequence[int]) -> list[F]:
    """The chance of each sequence of reports, given the values that were held; `hashed` says what the truth for each value is."""
    out = []
    for told in product(range(protocol.answers), repeat=len(held)):
        chance = F(1)
        for value in set(held):
            chance *= one_value(
                protocol, hashed[value], [each for each, x in zip(told, held, strict=True) if x == value]
            )
        out.append(chance)
    return out


def pattern(held: Sequence[int]) -> tuple[int, ...]:
    return tuple(held.index(value) for value in held)


def worlds() -> Iterator[tuple[Memoised, list[int], int, int]]:
    """A protocol, what it makes of each value, the number of values, and of rounds: all buckets that three values may have."""
    for protocol in (MemoKary(2, 1, first=F(9, 10)), MemoKary(2, F(1, 10), first=F(1, 20))):
        yield protocol, [0, 1], 2, 4
    yield MemoKary(3, 2, first=1), [0, 1, 2], 3, 3
    for hashed in ([0, 1, 1], [0, 0, 0]):
        yield MemoHashing(3, 2, word=4, first=F(2, 5)), hashed, 3, 3


def sequences_of_one_pattern_are_told_apart_by_epsilon_for_each_value_that_differs() -> None:
    """Every pair of sequences. The reports of four rounds tell more than one does, and never more than the bound."""
    for protocol, hashed, values, rounds in worlds():
        rows = {held: chances(protocol, held, hashed) for held in product(range(values), repeat=rounds)}
        assert all(sum(row) == 1 for row in rows.values())
        most = F(1)
        for one, other in product(rows, repeat=2):
            if pattern(one) != pattern(other):
                continue
            differ = len({pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]})
            loss = max(a / b for a, b in zip(rows[one], rows[other], strict=True))
            assert log_up(loss) <= differ * protocol.epsilon, (protocol, one, other)
            assert loss == 1 or differ, (one, other)
            most = max(most, loss)
        assert not max(hashed) or log_down(most) > protocol.once, protocol


def test_sequences_of_one_pattern_are_told_apart_by_epsilon_for_each_value_that_differs() -> None:
    sequences_of_one_pattern_are_told_apart_by_epsilon_for_each_value_that_differs()


def counts(protocol: Memoised, bit: int, rounds: int) -> list[int]:
    """For each c the chance of any one sequence of reports of a bit in which 0 is told c times, over 2^(64 (rounds + 1))."""
    p, repeat = (int(each * (1 << 64)) for each in (protocol.permanent, protocol.repeated))
    often, seldom = [1], [1]
    for _ in range(rounds):
        often.append(often[-1] * repeat)
        seldom.append(seldom[-1] * ((1 << 64) - repeat))
    given_zero = [often[c] * seldom[rounds - c] for c in range(rounds + 1)]
    zero, one = ((1 << 64) - p, p) if bit else (p, (1 << 64) - p)
    return [zero * a + one * b for a, b in zip(given_zero, reversed(given_zero), strict=True)]


def a_thousand_rounds_of_one_value_tell_epsilon_and_no_more() -> None:
    """The best guess that there is, exactly: what is told of a bit by 1,000 reports is below e^ε/(1 + e^ε), and next to it."""
    protocol = MemoKary(2, 1, first=F(1, 2))
    zero = counts(protocol, 0, 1000)
    one = zero[::-1]
    most = exp_down(protocol.epsilon)
    top, below = most.numerator, most.denominator
    assert all(below * a <= top * b and below * b <= top * a for a, b in zip(zero, one, strict=True))
    ways, right = 1, 0
    for c, pair in enumerate(zip(zero, one, strict=True)):
        right += ways * max(pair)
        ways = ways * (1000 - c) // (c + 1)
    permitted = most / (1 + most)
    assert permitted - F(1, 10**6) < F(right, 1 << 64 * 1001 + 1) <= permitted


def test_a_thousand_rounds_of_one_value_tell_epsilon_and_no_more() -> None:
    a_thousand_rounds_of_one_value_tell_epsilon_and_no_more()


def loss_of_a_change(protocol: MemoKary, before: int, after: int) -> float:
    """The loss of a constant bit against one change after so many of the rounds: the largest over all reports."""
    first, second, both = counts(protocol, 0, before), counts(protocol, 1, after), counts(protocol, 0, before + after)
    return max(
        abs(log(both[b + a] << 64) - log(first[b] * second[a]))
        for b in range(before + 1)
        for a in (range(after + 1) if b in (0, before) else (0, after))
    )


def test_a_change_is_not_protected() -> None:
    """What the documentation says of it: 117 after 200 reports at ε = 1, of which one tells ½."""
    protocol = MemoKary(2, 1, first=F(1, 2))
    assert round(loss_of_a_change(protocol, 100, 100)) == 117
    steps = loss_of_a_change(protocol, 200, 200) - loss_of_a_change(protocol, 100, 100)
    assert steps == pytest.approx(100 * log(protocol.repeated / (1 - protocol.repeated)), rel=1e-6)


def test_a_return_is_not_protected_against_a_third_value() -> None:
    """Both change at the same times: (a, b, a) tells itself from (a, b, c), by more the longer each lasts."""
    protocol = MemoKary(3, 1, first=F(1, 2))
    losses = []
    for rounds in (5, 40):
        told = [0] * rounds, [2] * rounds  # of the first part and of the third
        back = one_value(protocol, 0, told[0] + told[1])
        on = one_value(protocol, 0, told[0]) * one_value(protocol, 2, told[1])
        losses.append(log(on / back))
    assert losses[1] > 3 * protocol.epsilon
    step = log(2 * protocol.repeated / (1 - protocol.repeated))
    assert losses[1] - losses[0] == pytest.approx(35 * step, rel=1e-2)


def test_one_report_is_that_of_the_chain() -> None:
    for protocol in CASES:
        k = protocol.answers
        for own, told in product(range(k), repeat=2):
            assert one_value(protocol, own, [told]) == response(protocol.p, k, own, told)


def permanent_answers_and_rounds_are_drawn_as_they_are_enumerated() -> None:
    draws = repeats(800)
    for protocol in CASES:
        k = protocol.answers
        kept = np.array([protocol.lasting(1) for _ in range(draws)])
        if isinstance(protocol, MemoHashing):
            own = protocol.bucket(kept[:, 0], kept[:, 1], np.uint64(1))  # type: ignore[arg-type]
            told, again = kept[:, 2], protocol.again(kept)
            assert np.array_equal(again[:, :2], kept[:, :2])
            steps = ((own, told), (told, again[:, 2]))
        else:
            steps = ((np.ones(draws, int), kept), (kept, protocol.again(kept)))
        for (given, drawn), keep in zip(steps, (protocol.permanent, protocol.repeated), strict=True):
            found = np.bincount((drawn.astype(int) - given.astype(int)) % k, minlength=k)
            expected = [float(response(keep, k, 0, each)) * draws for each in range(k)]
            assert chisquare(found, expected).pvalue > FALSE_ALARM / (2 * len(CASES)), protocol


def test_permanent_answers_and_rounds_are_drawn_as_they_are_enumerated() -> None:
    permanent_answers_and_rounds_are_drawn_as_they_are_enumerated()


def rounds_of(count: int, protocol: str = "memo-k-ary", epsilon: F = F(1), first: F = F(9, 10)) -> list[Campaign]:
    """Campaigns that differ in their salts alone."""
    domain = Rounds(2, first, SERIES)
    return [Campaign("Q", domain, protocol, epsilon, bytes([i, *bytes(15)]), LATER) for i in range(count)]


def reported(rounds: Sequence[Campaign], held: Sequence[int], diary: Diary) -> tuple[int, ...]:
    """What a person reports of these values, as numbers."""
    told = []
    for campaign, value in zip(rounds, held, strict=True):
        answer = ClientReport.read(Client(campaign, diary=diary).report(value)).opened(
            campaign.randomiser, binding(campaign)
        )
        told.append(int(np.ravel(answer)[-1]))
    return tuple(told)


def clients_report_whole_sequences_as_they_are_enumerated() -> None:
    """A person with a diary, who goes back to an earlier value: the reports of all three rounds together."""
    rounds, held, draws = rounds_of(3), (0, 1, 0), repeats(250)
    protocol = rounds[0].randomiser
    assert isinstance(protocol, MemoKary)
    expected = [float(each) for each in chances(protocol, held, [0, 1])]
    found = np.zeros(8)
    for _ in range(draws):
        diary = Diary(2)
        told = reported(rounds, held, diary)
        found[int("".join(map(str, told)), 2)] += 1
        assert diary.spent == 2
    keep = np.array(expected) * draws >= 5
    rare = (found[~keep].sum(), draws * np.array(expected)[~keep].sum())
    values, means = np.append(found[keep], rare[0]), np.append(np.array(expected)[keep] * draws, rare[1])
    used = means > 0
    assert chisquare(values[used], means[used], sum_check=False).pvalue > FALSE_ALARM


def test_clients_report_whole_sequences_as_they_are_enumerated() -> None:
    clients_report_whole_sequences_as_they_are_enumerated()


def a_series_has_one_hash_function_and_an_answer_of_its_own_for_each_value() -> None:
    """Where two cells fall into one bucket their permanent answers are drawn apart, so that they differ now and then."""
    protocol = MemoHashing(4, 1, word=4, first=F(1, 2))
    differ = 0
    for _ in range(200):
        one = protocol.lasting(0)
        other = protocol.lasting(1, [one])
        assert np.array_equal(one[:2], other[:2])
        seed = protocol.bucket(one[:1], one[1:2], np.arange(2, dtype=np.uint64))
        differ += seed[0] == seed[1] and one[2] != other[2]
    assert differ > 0
    diary = Diary(2)
    rounds = rounds_of(4, "memo-hashing")
    answers = [
        ClientReport.read(Client(each, diary=diary).report(value)).answer
        for each, value in zip(rounds, (0, 1, 0, 1), strict=True)
    ]
    assert len({each[:16] for each in answers}) == 1 and diary.spent == 2


def test_a_series_has_one_hash_function_and_an_answer_of_its_own_for_each_value() -> None:
    a_series_has_one_hash_function_and_an_answer_of_its_own_for_each_value()


def large_rounds_lose_no_more_and_not_much_less() -> None:
    for kind, k in product((MemoKary, MemoHashing), (2, 1000, 1 << 20)):
        for epsilon, first in ((F(1), F(1, 2)), (F(20), F(1, 10**6)), (F(2, 10**6), F(1, 10**6)), (F(20), F(19))):
            protocol = kind(k, epsilon, first=first)
            ratio = protocol.p * (protocol.answers - 1) / (1 - protocol.p)
            assert first - NEAR <= log_down(ratio) and log_up(ratio) <= first, protocol
            assert protocol.p > protocol.q and protocol.repeated < 1


def test_large_rounds_lose_no_more_and_not_much_less() -> None:
    large_rounds_lose_no_more_and_not_much_less()


def rounds_without_a_diary_are_refused() -> None:
    """Each client would draw a permanent answer of its own, and many rounds would tell the truth."""
    for protocol in ("memo-k-ary", "memo-hashing"):
        (campaign,) = rounds_of(1, protocol)
        try:
            Client(campaign).report(1)
        except Refused as refusal:
            assert refusal.code == "diary"
        else:
            raise AssertionError(f"a round of {protocol} was answered without a diary")
        Client(campaign, diary=Diary(1)).report(1)


def test_rounds_without_a_diary_are_refused() -> None:
    rounds_without_a_diary_are_refused()


def campaigns_say_what_is_not_protected() -> None:
    for protocol in ("memo-k-ary", "memo-hashing"):
        campaign = rounds_of(1, protocol)[0]
        for text in (str(campaign), campaign.notice, Client(campaign).notice):
            assert "changed or came back, and when, is not protected" in text
            assert ("are of one person" in text) == (protocol == "memo-hashing")
            assert "ε = 9/10" in text and "ε = 1 for each different answer" in text
    plain = Campaign("Q", 2, "k-ary", F(1, 2), SERIES, LATER)
    assert "not protected" not in str(plain) and "at most ε = 1/2" in plain.notice and "until 2096-10-02" in str(plain)


def test_campaigns_say_what_is_not_protected() -> None:
    campaigns_say_what_is_not_protected()


@pytest.mark.parametrize("protocol", ["memo-k-ary", "memo-hashing"])
def test_a_collector_estimates_each_round_by_itself(protocol: str) -> None:
    """16 people of label 0 and 4 of label 1, with hardly any noise in a round: the intervals of both rounds hold."""
    rounds = rounds_of(2, protocol, F(20), F(19))
    people = [Diary(20) for _ in range(20)]
    for campaign in rounds:
        collector = Collector(campaign, capacity=20)
        for number, diary in enumerate(people):
            assert collector.add(Client(campaign, diary=diary).report(int(number >= 16)))
        found = collector.estimates()
        assert found.labels == (0, 1) and found.low[0] <= 0.8 <= found.high[0]
    assert {diary.spent for diary in people} == {20}


def test_rounds_are_read_as_they_were_written() -> None:
    for campaign in (*rounds_of(2), *rounds_of(1, "memo-hashing")):
        again = Campaign.from_json(campaign.to_json())
        assert again == campaign and again.series == campaign.series
    assert Rounds.new(2, first=F(1, 2)).series != Rounds.new(2, first=F(1, 2)).series


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rounds(2, F(1, 2), bytes(15)),
        lambda: Rounds(1, F(1, 2), SERIES),
        lambda: Rounds(2, "1/2", SERIES),  # type: ignore[arg-type]
        lambda: MemoKary(2, 1, first=1),
        lambda: MemoKary(2, 1, first=2),
        lambda: MemoKary(2, 1, first=0),
        lambda: MemoHashing(2, 21, first=1),
        lambda: MemoHashing(100, 1, word=4, first=F(1, 2)),
        lambda: Campaign("Q", 2, "memo-k-ary", 1, SERIES, LATER),
        lambda: Campaign("Q", Rounds(2, F(1, 2), SERIES), "k-ary", 1, SERIES, LATER),
        lambda: Campaign("Q", Rounds(2, F(1), SERIES), "memo-k-ary", 1, SERIES, LATER),
        lambda: Campaign.from_json(rounds_of(1)[0].to_json().replace('"first":"9/10"', '"first":"18/20"')),
        lambda: Campaign.from_json(rounds_of(1)[0].to_json().replace('"first":"9/10",', "")),
        lambda: Campaign.from_json(rounds_of(1)[0].to_json().replace('"choices":2', '"choices":{"k":2}')),
        lambda: Campaign.from_json(rounds_of(1)[0].to_json().replace(SERIES.hex() + '"}', 'ff"}')),
        lambda: periods("Q", Rounds(2, F(1, 2), SERIES), protocol="memo-k-ary", epsilon=1, ends=[LATER]),
        lambda: periods("Q", 2, protocol="k-ary", epsilon=1, ends=[]),
        lambda: periods("Q", 2, protocol="k-ary", epsilon=1, ends=[LATER, LATER]),
        lambda: periods("Q", 2, protocol="k-ary", epsilon=1, ends=["2030", LATER]),  # type: ignore[list-item]
        lambda: periods("Q", 2, protocol="k-ary", epsilon=1, ends=LATER),  # type: ignore[arg-type]
        lambda: Campaign("Q", Rounds(2, F(10**500 + 1, 2 * 10**500), SERIES), "memo-k-ary", 1, SERIES, LATER),
    ],
)
def test_what_makes_no_sense_is_refused(make: object) -> None:
    with pytest.raises(Invalid):
        make()  # type: ignore[operator]


def periods_cost_their_sum() -> None:
    """Every pair of sequences, changes or none: what three periods tell together is the total, and next to it at worst."""
    campaigns = periods("Q", 2, protocol="k-ary", epsilon=F(3), ends=range(LATER, LATER + 3))
    assert len({each.salt for each in campaigns}) == 3 and [each.expires - LATER for each in campaigns] == [0, 1, 2]
    protocol = campaigns[0].randomiser
    assert isinstance(protocol, KaryResponse) and sum(each.epsilon for each in campaigns) == 3
    row = protocol.channel()
    all_reports = list(product(range(2), repeat=3))
    losses = [
        max(
            F(row[a[0]][r[0]] * row[a[1]][r[1]] * row[a[2]][r[2]])
            / (row[b[0]][r[0]] * row[b[1]][r[1]] * row[b[2]][r[2]])
            for r in all_reports
        )
        for a, b in product(all_reports, repeat=2)
    ]
    assert log_up(max(losses)) <= 3 and log_down(max(losses)) >= 3 - 3 * NEAR
    assert max(losses) < exp(3)


def test_periods_cost_their_sum() -> None:
    periods_cost_their_sum()
