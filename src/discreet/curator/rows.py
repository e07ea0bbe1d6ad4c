"""Rows of a ledger: each holds an act, the totals that it leaves, and the hash of the row before."""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from discreet.curator import acts
from discreet.curator.accounts import Account, Book
from discreet.curator.acts import Act, Failed, Reserved, Settled, Shared
from discreet.errors import Fault, Invalid

NO_HASH = "0" * 64
"""What the first row names as the hash of the row before."""

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> bytes:
    """The one way to write a JSON value: keys in order, no spaces, ASCII. Raises Invalid for what JSON cannot hold."""
    try:
        return _ENCODER.encode(value).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid("what a ledger keeps must be JSON: objects, lists, texts, integers") from error


def hash_of(body: bytes) -> str:
    return sha256(body).hexdigest()


def broken(what: str) -> Fault:
    return Fault(
        f"the ledger is damaged: {what}",
        code="ledger-broken",
        hint="restore it from a backup, then accept the restored one",
    )


@dataclass(frozen=True, slots=True)
class Head:
    """What the next row builds on."""

    sequence: int
    hash: str
    book: Book


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the ledger. `at` is the second it was written, for people only: nothing depends on it."""

    sequence: int
    previous: str
    at: int
    act: Act
    book: Book
    analyst: str | None = None
    account: Account | None = None

    def to_json(self) -> dict[str, Any]:
        act = self.act
        return {
            "account": None if self.account is None else self.account.to_json(),
            "act": acts.to_json(act),
            "analyst": self.analyst,
            "at": self.at,
            "book": self.book.to_json(),
            "kind": act.kind,
            "previous": self.previous,
            "sequence": self.sequence,
        }

    def body(self) -> bytes:
        """All of the row but its own hash, in canonical JSON; what is hashed, and what a store keeps."""
        return canonical(self.to_json())

    @classmethod
    def parse(cls, body: bytes) -> "Row":
        """The row whose body this is, or a Fault."""
        with _READABLE:
            value = json.loads(body.decode("ascii"))
            account = None if value["account"] is None else Account.from_json(value["account"])
            return cls(
                value["sequence"],
                value["previous"],
                value["at"],
                acts.from_json(value["kind"], value["act"]),
                Book.from_json(value["book"]),
                value["analyst"],
                account,
            )

    # What a store finds rows by. All of it follows from the body, and is checked against it.

    @property
    def key(self) -> str | None:
        return self.act.key if isinstance(self.act, Reserved | Shared) else None

    @property
    def about(self) -> int | None:
        return self.act.reservation if isinstance(self.act, Settled | Failed) else None

    @property
    def topic(self) -> str | None:
        return self.act.topic if isinstance(self.act, Settled) else None


class _Readable:
    """A block that reads a row: what goes wrong in it is a Fault. One object serves all, since rows are read all the time."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, ValueError | TypeError | KeyError | AttributeError | RecursionError):
            raise broken("a row cannot be read") from error


_READABLE = _Readable()


def parse_act(body: bytes) -> tuple[Act, str | None, int]:
    """The act of a row, its analyst and its time: what cannot be computed from the rows before it."""
    with _READABLE:
        value = json.loads(body.decode("ascii"))
        return acts.from_json(value["kind"], value["act"]), value["analyst"], value["at"]
