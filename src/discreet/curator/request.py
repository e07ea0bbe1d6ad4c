"""Requests: questions to be charged, what they are filed under, and what became of them."""

import json
from dataclasses import dataclass
from typing import Any

from discreet.curator.acts import Accepted, Failed, PartPaid, Reserved, Settled, Shared
from discreet.curator.amounts import Amounts, Price
from discreet.curator.names import check_label, check_name
from discreet.curator.rows import Row, canonical, hash_of
from discreet.errors import Invalid
from discreet.exact import shown

LONGEST_EVENT, LONGEST_ANSWER = 1 << 22, 1 << 26
"""Bytes of the JSON of an event, and of an answer."""


def filed(analyst: str | None, key: str) -> str:
    """What a request is filed under: a key belongs to its analyst, and nobody meets those of another.

    Keys are printable, so none of release 0.1, which filed them by themselves, begins like this.
    """
    return "\x1f" + canonical([analyst, key]).decode("ascii")


def key_in(filed: str) -> str:
    """The key of a request, from what it is filed under. Release 0.1 filed keys by themselves."""
    return str(json.loads(filed[1:])[1]) if filed.startswith("\x1f") else filed


@dataclass(frozen=True, slots=True)
class Request:
    """A question to be charged.

    `key` names this request of this analyst for ever; analyst None is the owner, who is charged on the data set only. `question` tells
    what is asked, the same for every analyst (a hash of the plan and its parameters); where it is left out the label stands for
    it. `event` is the JSON of the event, `data_version` the owner's counter of the data that will be read.
    """

    key: str
    analyst: str | None
    price: Price
    event: dict[str, Any]
    label: str
    data_version: str
    question: str = ""
    # That nobody outside of can change the answer; None for a question about all.
    part: PartPaid | None = None

    def __post_init__(self) -> None:
        check_name(self.key, "key")
        if self.analyst is not None:
            check_name(self.analyst, "analyst")
        if not isinstance(self.price, Amounts):
            raise Invalid(f"price must be a Price, got {shown(self.price)}")
        for name in ("label", "question"):
            check_label(getattr(self, name), name)
        check_name(self.data_version, "data_version")
        text = canonical(self.event)
        if not isinstance(self.event, dict) or len(text) > LONGEST_EVENT:
            raise Invalid(f"event must be a JSON object of at most {LONGEST_EVENT} characters")
        object.__setattr__(self, "event", json.loads(text.decode("ascii")))
        object.__setattr__(self, "question", self.question or self.label)

    def is_the_one_of(self, row: Row) -> bool:
        """Whether this is the request that a row was written for. The label may differ: it is one of many ways to write a question."""
        act = row.act
        if not isinstance(act, Reserved | Shared):
            return False
        return (self.analyst, self.question, self.event, self.price, self.data_version, self.part) == (
            row.analyst,
            act.question,
            act.event,
            act.price,
            act.version,
            act.part,
        )

    @property
    def filed(self) -> str:
        return filed(self.analyst, self.key)

    @property
    def topic(self) -> str:
        return topic_of(self.question, self.event, self.price, self.data_version, self.part)


def topic_of(question: str, event: dict[str, Any], price: Price, version: str, part: PartPaid | None) -> str:
    """A digest of what was asked, at which price, of which data, and of whom; whoever asked."""
    return hash_of(canonical([question, event, price.to_json(), version, *([] if part is None else [part])]))


def topic_of_act(act: Reserved | Shared) -> str:
    return topic_of(act.question, act.event, act.price, act.version, act.part)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a key names already: the row that it was written in, and how that ended, if it did."""

    row: Row
    # It is Accepted where it was open when an older ledger was accepted.
    ended: Settled | Failed | Accepted | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that was made and is not settled; `again` where an earlier try of the same request made it."""

    sequence: int
    key: str
    analyst: str | None
    price: Price
    again: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer that was given before, in the bytes it was given in."""

    answer: bytes
    sequence: int
