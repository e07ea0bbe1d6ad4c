"""What the commands of an owner share: the ledger of a source, opened to be changed or to be read."""

from functools import partial
from typing import TYPE_CHECKING

from discreet.cli.flags import Flags
from discreet.cli.source import located, noted, place_at, policy_of
from discreet.errors import Invalid, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.curator.place import Place
    from discreet.curator.policy import Policy
    from discreet.curator.store import Store


def declared(word: str | None, ledger: str | None) -> "tuple[Path, Policy, Place]":
    """The file of a source, what it declares, and the place of its ledger. A data file needs a ledger that remembers who is protected."""
    from discreet.curator.place import place_of

    path = located(word)
    policy = policy_of(path, Flags(ledger=ledger))
    return path, policy, place_of(policy, path, ledger)


def store_to_change(word: str | None, ledger: str | None, as_json: bool = False) -> "Store":
    """The ledger of a source, made where a policy has none yet, and brought to what the policy says; that of a folder as it is."""
    from discreet.curator.opening import open_ledger

    if word is not None and located(word, ledgers=True).is_dir():
        return store_to_read(word, ledger)
    _, policy, place = declared(word, ledger)
    return open_ledger(policy, place, partial(noted, as_json))


def store_to_read(word: str | None, ledger: str | None, *, whole: bool = True) -> "Store":
    """The ledger of a source as it is; where there is none raises Refused. whole=False: it is to be verified next."""
    _, place = place_at(word, ledger)
    store = place.look(whole=whole)
    if store is None:
        raise Refused(
            "nothing was asked yet, so there is no ledger", code="ledger-missing", hint="the first question makes it"
        )
    return store


def source_and(words: list[str] | None, what: str, example: str) -> tuple[str | None, str]:
    """Two words, of which the first may be left out."""
    typed = list(words or ())
    if len(typed) == 1:
        return None, typed[0]
    if len(typed) == 2:
        return typed[0], typed[1]
    raise Invalid(f"a source and {what} are two words, got {len(typed)}", code="usage", hint=f"write {example}")
