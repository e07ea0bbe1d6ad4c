"""What looking through a ledger shows: every hash, price and total computed again; of a ledger, or of an export by anyone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.curator.budgets import Balance
from discreet.curator.replay import replay
from discreet.curator.store import Store


@dataclass(frozen=True, slots=True)
class Proof:
    """How many rows there are, the hash of the last one, and what they come to; an export that was cut off has another last row."""

    rows: int
    last: str
    version: str
    balance: Balance

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "rows": self.rows,
            "last": self.last,
            "failures": self.balance.failures,
            "version": self.version,
            **self.balance.as_data(),
        }


def proof_of(store: Store) -> Proof:
    """The proof of an open ledger; one that does not follow from its rows is a Fault, or Refused."""
    standing, head = store.verify(), store.head()
    return Proof(head.sequence, head.hash, standing.version, Balance.of(standing))


def proof_of_export(document: Mapping[str, Any]) -> Proof:
    """The proof of what `export` gave, which needs no data and no key."""
    standing = replay(dict(document))[None]
    return Proof(len(document["rows"]), document["rows"][-1]["hash"], standing.version, Balance.of(standing))
