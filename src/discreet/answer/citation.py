"""The words that may be published under a table: what was counted, what is promised, which limits applied, and what ± means.

They are made of an answer's question, price and notes, none of which is of the data but what was released. The promise is that of the
release: what the data protect is a person, or a row, who comes or goes, or whose data are replaced.
"""

import re
from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING

from discreet.errors import Refused
from discreet.plan.outward import rounded_up
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.answer.record import Answer

PROMISED = {
    "add-remove one person": "adding or removing all data of any one person",
    "add-remove one row": "adding or removing any one row",
    "replace one person": "replacing all data of any one person by anybody's",
    "replace one row": "replacing any one row by any other",
}
"""What changes the chance of a result by no more than the price, under each neighbour relation."""

LIMITING = re.compile(
    "clamped|left out|leaves out|in no bin|counts with|counts in|counts as|the length of|only the|taken as|chosen at random|known values"
    "|subtotals are sums|is public|the answer that it follows from"
)
"""In notes on what of the data an answer does not hold, and on what has no noise of its own."""

DIGITS = 6
"""Of a price, rounded up: no less is promised than is kept."""

LARGE = 20.0
"""Beyond such an ε a factor is no longer said: it is more than 10^8."""


def cited(answer: "Answer", counted: str) -> str:
    """The words for an answer; `counted` says what it is of, where that is known: else its question does. Raises Refused where it is
    not private."""
    if not answer.receipt.get("private"):
        raise Refused(
            "this answer is not private: its noise came from a source that someone may know",
            code="not-private",
            hint="publish nothing of it; noise from the operating system is what a curator takes by itself",
        )
    what = counted or " ".join(str(answer.receipt.get("question", "")).split())
    sentences = [visible(what), _promise(answer), *_limits(answer), *_reach(answer)]
    last = f"Made with discreet {answer.receipt.get('version')}"
    return " ".join(f"{each.rstrip('.')}." for each in [*sentences, last])


def _promise(answer: "Answer") -> str:
    follows = answer.receipt.get("derived")
    if follows:
        price = _kept(answer.relation, float(Fraction(follows["epsilon"])), float(Fraction(follows["delta"])))
        return f"This follows from an earlier release, and tells nothing beyond it. {price}"
    if not answer.epsilon and not answer.delta:
        return "Nothing here was measured of the data: what is shown is declared, or public"
    return _kept(answer.relation, answer.epsilon, answer.delta)


def _kept(relation: str, price: float, besides: float) -> str:
    """What a release at a price promises."""
    epsilon, delta = rounded_up(price, DIGITS), rounded_up(besides, DIGITS) if besides else 0.0
    amount = f"ε = {epsilon:.6g}" + (f", δ = {delta:.6g}" if delta else "")
    factor = f"e^ε = {rounded_up(exp(epsilon), 3):.3g}" if epsilon <= LARGE else "e^ε"
    more = f" and by {delta:.6g} besides" if delta else ""
    change = PROMISED.get(relation, f"whatever differs by {relation}")
    return (
        f"Random noise makes this release differentially private with {amount}: {change} makes no result of it more likely than by a"
        f" factor of {factor}{more}; with other releases about the same people these add up"
    )


def _limits(answer: "Answer") -> list[str]:
    """Which limits and bounds applied, as the notes say it."""
    limits = [note for note in answer.notes if LIMITING.search(note)]
    return [visible(f"Limits: {'; '.join(limits)}")] if limits else []


def _reach(answer: "Answer") -> list[str]:
    """What ± means, where there is one."""
    spans = [span for row in answer.intervals for span in row if span is not None]
    if not spans:
        return []
    together = "all numbers together are" if answer.receipt.get("simultaneous") else "a number is"
    often = f"in {100 * answer.confidence:g} of 100 such releases {together} no farther off from"
    if answer.receipt.get("population"):
        words = [
            f"± is {answer.covered}: {often} what such samples give on average, within limits; what limits leave out, and how people came"
            " to be in the data, is not in it"
        ]
    else:
        words = [
            f"± is {answer.covered}: {often} what the data give without noise, within limits; what limits leave out, and how far the people"
            " in the data stand for others, is not in it"
        ]
    if any(span.error is None for span in spans):
        words.append("Where no ± is given a number may be arbitrarily far off")
    if any("optimistic" in note for note in answer.notes):
        words.append("Rows were selected by released numbers, which makes the ± of those that are shown optimistic")
    return words
