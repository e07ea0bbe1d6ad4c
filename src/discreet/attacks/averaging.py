"""Averaging: ask the same question again and again, and the mean of the answers loses its noise.

It works wherever repeats draw fresh noise for nothing. Here there are two ways to answer a repeat. Fresh noise is charged each time, so
k answers cost kε, which permits what it gives. Or the answer that was kept is given back, free: then a thousand repeats are one answer.

A person who randomises a bit on their own machine has the same two ways: a report that is drawn anew each time tells the bit in the end;
rounds that repeat a permanent answer tell at most its ε; and a diary sums what was told, and stops.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import discreet as dp
from discreet.attacks.game import Attack, Publication, exact, private
from discreet.attacks.report import AttackReport, compare
from discreet.exact import Number, positive, whole

__all__ = [
    "Averaging",
    "fresh",
    "kept",
    "memoised",
    "run",
    "until_refused",
]

QUESTION = "is the target counted? One count, or the target's own bit, asked again and again"
EPSILONS = (0.1,)
OTHERS, TIMES = 1_000, 1_024
SHARES = 3  # of a diary: after so many reports it is spent
MOST_LOCAL = 20  # the largest ε at which anybody's report is randomised
ENDS = 4_000_000_000  # of campaigns, in seconds since 1970


@dataclass(frozen=True, slots=True)
class Averaging:
    """The attacker knows how many others are counted, and whether the target is too from the mean of all answers.

    >>> Averaging(others=10).guess([10, 12, 11, 11]), Averaging(others=10).guess([10, 12, 9, 9])
    (1, 0)
    """

    others: int = OTHERS

    @property
    def choices(self) -> int:
        """Two choices: the target is counted, or is not."""
        return 2

    def world(self, secret: int) -> tuple[int, None]:
        """The count, with the target or without."""
        return self.others + secret, None

    def guess(self, seen: Any, known: None = None) -> int:
        """Whether the mean of all answers is nearer to the count with the target."""
        return int(np.mean(seen) > self.others + 0.5)


def fresh(
    epsilon: Number, times: int, noise: Callable[[Number], Any] = dp.Geometric.for_epsilon, what: str = "answers"
) -> Publication:
    """So many answers, each with noise of its own and at its full price."""
    number, price = whole(times, "times", least=1), positive(epsilon, "epsilon")
    each = noise(price)
    event = dp.privacy.events.Repeated(each.event(), number)
    name = f"ε = {float(price):g}" if number == 1 else f"ε = {float(price):g}, {number:,} fresh {what}"
    return private(lambda exact: np.full(number, exact), each, event, name=name)


def kept(epsilon: Number, times: int) -> Publication:
    """One answer, given back as often as it is asked for."""
    number, price = whole(times, "times", least=1), positive(epsilon, "epsilon")
    noise = dp.Geometric.for_epsilon(price)
    name = f"ε = {float(price):g}, {number:,} × one kept answer"
    return private(lambda count: count, lambda count: np.full(number, noise(count)), noise.event(), name=name)


def memoised(epsilon: Number, times: int) -> Publication:
    """So many reports of a bit, each made of one permanent answer at ε; each alone tells half of it."""
    number, price = whole(times, "times", least=1), min(positive(epsilon, "epsilon"), Fraction(MOST_LOCAL))
    protocol = dp.local.MemoKary(2, price, first=price / 2)
    name = f"ε = {float(price):g}, {number:,} memoised reports"
    return Publication(
        name, lambda bit: protocol.again(np.full(number, protocol.lasting(bit))), float(protocol.epsilon), ours=True
    )


def until_refused(epsilon: Number) -> Publication:
    """Reports of a bit in one campaign after the other, until the person's diary, which allows ε in all, is spent."""
    price = min(positive(epsilon, "epsilon"), Fraction(MOST_LOCAL))
    campaigns = [
        dp.local.Campaign.new("Is it so?", 2, protocol="k-ary", epsilon=price / SHARES, expires=ENDS)
        for _ in range(2 * SHARES)
    ]

    def publish(bit: int) -> list[int]:
        diary, told = dp.local.Diary(price), []
        for campaign in campaigns:
            try:
                report = dp.local.Client(campaign, diary=diary).report(bit)
            except dp.Refused:
                break
            told.append(int(campaign.randomiser.unpack(dp.local.ClientReport.read(report).answer)))
        return told

    return Publication(f"ε = {float(price):g} in a diary, then refused", publish, float(price), ours=True)


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 1_000) -> AttackReport:
    """The attack on a count of 1,000 made-up people: exact, asked once at each ε, asked 1,024 times afresh, and with the answer kept.

    Then on one person's own bit: 1,024 fresh reports, as many of one permanent answer, and as many as the person's diary allows.
    """
    attack, person = Averaging(), Averaging(others=0)
    rounds: list[tuple[Attack, Publication]] = [(attack, exact(lambda count: [count]))]
    for epsilon in epsilons:
        rounds += [(attack, fresh(epsilon, 1)), (attack, fresh(epsilon, TIMES)), (attack, kept(epsilon, TIMES))]
        rounds += [
            (person, fresh(epsilon, TIMES, lambda price: dp.RandomizedResponse(price, 2), "reports")),
            (person, memoised(epsilon, TIMES)),
            (person, until_refused(epsilon)),
        ]
    return compare("averaging", QUESTION, rounds, trials)


def __dir__() -> list[str]:
    return sorted(__all__)
