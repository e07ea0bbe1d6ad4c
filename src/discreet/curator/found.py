"""What questions found and released: limits that nobody declared, kept for later questions about the same rows, and free from then on.

A fact belongs to the analyst who paid for it, to the version of the data, and to the relation that it was found in: the table with its
filter, and the limits that were known. It is a row of the ledger at no price, settled together with the answer that released it. So it is
hashed and verified as answers are, and whoever has the one has the other.
"""

import json
from collections.abc import Mapping
from hashlib import sha256

from discreet.curator.amounts import Price
from discreet.curator.asked import GENERATED
from discreet.curator.request import Request, key_in
from discreet.errors import Fault
from discreet.plan.catalog import MOST_LIMITS, Catalog
from discreet.plan.draft import draft
from discreet.plan.finding import topic
from discreet.plan.question import Question
from discreet.privacy import events

NOTHING = Price(0, 0, 0)


def lacking(question: Question, catalog: Catalog) -> str | None:
    """The topic of what a question must find; None where it lacks no limit."""
    start = draft(question, catalog)
    return topic(start) if start.missing and None not in start.domains else None


FOUND = f"{GENERATED}found:"
"""How the keys of facts begin."""


def is_fact(filed: str) -> bool:
    """Whether what is filed under this is a fact, and no question that somebody asked."""
    return key_in(filed).startswith(FOUND)


def fact_key(topic: str, origin: str, version: str) -> str:
    """What a fact is filed under, for its analyst."""
    return f"{FOUND}{sha256(repr((topic, origin, version)).encode()).hexdigest()}"


def fact_of(key: str, analyst: str | None, found: Mapping[str, int], version: str) -> tuple[Request, bytes]:
    """What is kept of what was found, beside the answer that released it."""
    told = ", ".join(f"{name} = {most:,}" for name, most in found.items() if name in MOST_LIMITS)
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
