"""How far a ledger was looked through: a small file beside its mark, so that opening computes only the later rows again.

It lies outside of the ledger, since a ledger that was exchanged must not vouch for itself, and is believed only where the ledger has the
row that it names. The hash of a row stands for all rows before it, so the totals of the data set come with it; those of analysts stand in
rows of their own, and are compared with a digest. Where anything of this is missing, torn or different, a ledger is looked through from
its first row.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.curator.accounts import Account
from discreet.curator.acts import FORMAT, Failed, Reserved, Settled
from discreet.curator.page import Page
from discreet.curator.replay import Replay
from discreet.curator.request import topic_of_act
from discreet.curator.rows import Head, canonical, hash_of
from discreet.errors import Fault

LONGEST = 1 << 10
"""Bytes of such a file."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A row up to which everything was computed again, and a digest of what analysts had spent and might spend then."""

    sequence: int
    hash: str
    accounts: str

    @classmethod
    def by(cls, replay: Replay) -> "Verified | None":
        head = replay.head
        return None if head is None else cls(head.sequence, head.hash, digest_of(replay.accounts))


def digest_of(accounts: Mapping[str, Account]) -> str:
    return hash_of(canonical({name: account.to_json() for name, account in accounts.items()}))


class Record:
    """The file. Losing it costs time and nothing else; so nothing fails because of it."""

    def __init__(self, mark: Path) -> None:
        self.path = mark.with_name(f"{mark.name}-verified")

    def read(self) -> Verified | None:
        """What it says; None where there is none, or no whole one of this format."""
        try:
            with open(self.path, "rb") as file:
                body, _, checksum = file.read(LONGEST).rpartition(b"\n")
        except OSError:
            return None
        if not body or hash_of(body).encode("ascii") != checksum:
            return None
        record: dict[str, Any] = json.loads(body)
        return Verified(record["sequence"], record["hash"], record["accounts"]) if record["format"] == FORMAT else None

    def write(self, verified: Verified) -> None:
        """The file is there whole or not at all: another one takes the place of the one before."""
        body = canonical(
            {
                "accounts": verified.accounts,
                "format": FORMAT,
                "hash": verified.hash,
                "sequence": verified.sequence,
            }
        )
        other = self.path.with_name(f"{self.path.name}-{os.getpid()}")
        with suppress(OSError):
            file = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                os.write(file, body + b"\n" + hash_of(body).encode("ascii"))
                os.fdatasync(file)
            finally:
                os.close(file)
            os.replace(other, self.path)


class Earlier:
    """What the rows up to one of them say, found by the ledger's indices when it is needed."""

    def __init__(self, page: Page, last: int) -> None:
        self._page, self._last = page, last

    def used(self, key: str) -> bool:
        return self._page.find("key = ? AND sequence <= ?", key, self._last) is not None

    def asked(self, sequence: int) -> tuple[str | None, str] | None:
        row = self._page.find("sequence = ? AND sequence <= ?", sequence, self._last)
        return None if row is None or not isinstance(row.act, Reserved) else (row.analyst, topic_of_act(row.act))

    def ended(self, sequence: int) -> type[Settled] | type[Failed] | None:
        row = self._page.find("about = ? AND sequence <= ? ORDER BY sequence LIMIT 1", sequence, self._last)
        return None if row is None or not isinstance(row.act, Settled | Failed) else type(row.act)


def replay_after(replay: Replay, verified: Verified, page: Page) -> bool:
    """Let a replay that has not begun go on after a row that was verified; False where the ledger is not the one that was."""
    try:
        last = page.find("sequence = ?", verified.sequence)
        if last is None or page.hash_at(verified.sequence) != verified.hash:
            return False
        accounts = page.accounts(verified.sequence)
        if digest_of(accounts) != verified.accounts:
            return False
        acts = [row for row in page.acts() if row.sequence <= verified.sequence]
    except Fault:
        # A row cannot be read, which looking through all of them names.
        return False
    return replay.go_on(Head(last.sequence, verified.hash, last.book), accounts, acts, Earlier(page, last.sequence))
