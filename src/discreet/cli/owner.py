"""What the commands of an owner share: the ledger of a source, opened to be changed, and amounts as they are printed."""

from functools import partial
from typing import TYPE_CHECKING

from discreet.cli.flags import Flags
from discreet.cli.source import ledger_of, located, noted, policy_of
from discreet.cli.source import open_ledger as open_folder
from discreet.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.curator.policy import Policy
    from discreet.curator.store import Store


def declared(word: str | None, ledger: str | None) -> "tuple[Path, Policy, Path]":
    """The file of a source, what it declares, and the folder of its ledger. A data file needs a ledger that remembers who is protected."""
    path, flags = located(word), Flags(ledger=ledger)
    policy = policy_of(path, flags)
    return path, policy, ledger_of(path, flags, policy)


def store_to_change(word: str | None, ledger: str | None, as_json: bool = False) -> "Store":
    """The ledger of a source, made where a policy has none yet, and brought to what the policy says."""
    from discreet.curator.opening import open_ledger

    _, policy, folder = declared(word, ledger)
    return open_ledger(policy, folder, partial(noted, as_json))


def store_to_read(word: str | None, ledger: str | None, *, whole: bool = True) -> "tuple[Store, Path]":
    """The ledger of a source as it is, and its folder; where there is none raises Refused. whole=False: it is to be verified next."""
    from discreet.cli.source import is_policy
    from discreet.curator.policy import Policy

    path, flags = located(word), Flags(ledger=ledger)
    policy = Policy.read(path) if is_policy(path) else None
    folder = ledger_of(path, flags, policy)
    store = open_folder(folder, None if policy is None else policy.mark, whole=whole)
    if store is None:
        raise Refused(
            "nothing was asked yet, so there is no ledger", code="ledger-missing", hint="the first question makes it"
        )
    return store, folder


def source_and(words: list[str] | None, what: str, example: str) -> tuple[str | None, str]:
    """Two words, of which the first may be left out."""
    from discreet.errors import Invalid

    given = list(words or ())
    if len(given) == 1:
        return None, given[0]
    if len(given) == 2:
        return given[0], given[1]
    raise Invalid(f"a source and {what} are two words, got {len(given)}", code="usage", hint=f"write {example}")
