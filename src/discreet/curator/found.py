"""What questions found and released: limits and ranges that nobody declared, kept for later questions about the same rows, and free from
then on.

A fact belongs to the analyst who paid for it, to the version of the data, and to the relation that it was found in: the table with its
filter, and the limits that were known. It is a row of the ledger at no price, settled together with the answer that released it. So it is
hashed and verified as answers are, and whoever has the one has the other.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from typing import Any

from discreet.curator.amounts import Price
from discreet.curator.asked import GENERATED
from discreet.curator.request import Request, key_in
from discreet.errors import Fault
from discreet.plan.catalog import MOST_LIMITS, Catalog
from discreet.plan.draft import draft
from discreet.plan.explain import said
from discreet.plan.finding import range_topic, topic
from discreet.plan.question import Question
from discreet.plan.range import FoundRange, between
from discreet.privacy import events

NOTHING = Price(0, 0, 0)


MOST_RANGES = 3
"""Of so many it is looked for which were known before."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a question must find: a name for its limits, nothing where it lacks none, and one for each range with the widest there is."""

    limits: str = ""
    ranges: tuple[tuple[str, FoundRange], ...] = ()

    def parts(self) -> "Iterator[Lacking]":
        """Of what a question must find each part that is not all and not nothing, as far as there are few: what may have been known when
        it was asked before."""
        several = self.ranges[:MOST_RANGES]
        for size in range(len(several) + 1):
            for ranges in combinations(several, size):
                for limits in dict.fromkeys(("", self.limits)):
                    if 0 < len(ranges) + bool(limits) < len(self.ranges) + bool(self.limits):
                        yield Lacking(limits, ranges)


def lacking(question: Question, catalog: Catalog) -> Lacking:
    """What a question must find that an earlier one may have found. After keys that are found themselves there is nothing such."""
    start = draft(question, catalog)
    if None in start.domains:
        return Lacking()
    ranges = tuple((range_topic(start, each), each) for each in start.sought)
    return Lacking(topic(start) if start.missing else "", ranges)


FOUND = f"{GENERATED}found:"
"""How the keys of facts begin."""


def is_fact(filed: str) -> bool:
    """Whether what is filed under this is a fact, and no question that somebody asked."""
    return key_in(filed).startswith(FOUND)


def fact_key(topic: str, origin: str, version: str) -> str:
    """What a fact is filed under, for its analyst."""
    return f"{FOUND}{sha256(repr((topic, origin, version)).encode()).hexdigest()}"


def fact_of(key: str, analyst: str | None, found: Mapping[str, Any], version: str) -> tuple[Request, bytes]:
    """What is kept of what was found, beside the answer that released it."""
    limits = (f"{name} = {most:,}" for name, most in found.items() if name in MOST_LIMITS)
    told = ", ".join((*limits, *(f"{name} from {between(*ends)}" for name, ends in found.get("ranges", {}).items())))
    request = Request(
        key=key,
        analyst=analyst,
        price=NOTHING,
        event=events.Composed(()).to_json(),
        label=f"-- found: {told}",
        data_version=version,
        question=key,
    )
    return request, json.dumps(dict(found), sort_keys=True).encode()


def limits_in(stored: bytes) -> dict[str, int]:
    """The limits that a fact tells."""
    try:
        found = json.loads(stored)
        return {name: int(most) for name, most in found.items() if name in MOST_LIMITS}
    except (ValueError, AttributeError, TypeError):
        raise Fault("a fact in the ledger is none that was written", code="ledger-broken") from None


def range_in(stored: bytes, sought: FoundRange) -> FoundRange:
    """The range that a fact tells of an argument."""
    try:
        ((low, high),) = json.loads(stored)["ranges"].values()
        found = FoundRange(sought.argument, Fraction(low), Fraction(high))
    except (ValueError, AttributeError, TypeError, KeyError):
        raise Fault("a fact in the ledger is none that was written", code="ledger-broken") from None
    if not sought.low <= found.low < found.high <= sought.high:
        raise Fault("a fact in the ledger is none that was written", code="ledger-broken")
    return found


def range_told_again(found: FoundRange) -> str:
    """What is said of a range that an earlier question found."""
    clamped = f"{said(found.argument)} is clamped to {between(found.low, found.high)}"
    return f"{clamped}: found by an earlier question about the same rows, and costs nothing here"


def told_again(stored: bytes, limits: Mapping[str, int]) -> str:
    """What is said of limits that an earlier question found."""
    found = json.loads(stored)
    named = " and ".join(f"{name} = {most:,}" for name, most in limits.items())
    people = (
        f": about {max(found['beyond'], 0):,} of {max(found['people'], 0):,} people have more"
        if "beyond" in found
        else ""
    )
    return f"{named} was found by an earlier question about the same rows, and costs nothing here{people}"
