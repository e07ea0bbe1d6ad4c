"""Opening a ledger for a policy: made where there is none, and brought to what the policy says where there is one.

Who is protected and how prices add up are fixed when a ledger is made. A lower cap takes effect at once; a higher one only by the owner's
explicit act. Versions of the data only go on.
"""

from pathlib import Path

from discreet.curator.ledger import Creation, DataChanged
from discreet.curator.money import cap_of
from discreet.curator.policy import Budget, Policy, relation_kept
from discreet.curator.store import SQLiteStore, Store
from discreet.errors import Refused


def open_ledger(policy: Policy, folder: Path) -> Store:
    """The ledger of a policy in a folder; what does not fit is Refused, and then nothing was changed."""
    cap = cap_of(policy.accountant, policy.budget.epsilon, policy.budget.delta)
    creation = Creation(policy.accountant, cap, relation_kept(policy.protected), policy.version)
    store = SQLiteStore.open(folder, creation=creation, mark=policy.mark, share_answers=policy.share_answers)
    try:
        _check(store, creation)
        _follow(store, policy)
    except BaseException:
        store.close()
        raise
    return store


def _check(store: Store, creation: Creation) -> None:
    made, *later = (row.act for row in store.acts() if isinstance(row.act, Creation | DataChanged))
    for name, what in (("relation", "protects"), ("accountant", "counts by")):
        kept, asked = getattr(made, name), getattr(creation, name)
        if kept.casefold() != asked.casefold():
            raise Refused(
                f"the ledger of this data {what} '{kept}', and now '{asked}' is declared",
                code=name,
                hint="this is fixed at the first question; declare the same again",
            )
    *before, now = (act.version for act in (made, *later))
    if creation.version in before and creation.version != now:
        raise Refused(
            f"version {creation.version!r} of the data was followed by {now!r}",
            code="data-version",
            hint="data that changed take a version that was not used before",
        )


def _follow(store: Store, policy: Policy) -> None:
    if store.totals().version != policy.version:
        store.change_data(policy.version)
    _lower(store, policy, policy.budget, None)
    known = store.analysts() if policy.analysts else {}
    for name, budget in policy.analysts.items():
        if name not in known:
            store.add_analyst(name, cap_of(policy.accountant, budget.epsilon, budget.delta))
        elif known[name].active:
            _lower(store, policy, budget, name)


def _lower(store: Store, policy: Policy, budget: Budget, analyst: str | None) -> None:
    epsilon, delta, _ = store.totals(analyst).budget.exact
    if budget.epsilon < epsilon or budget.delta < delta:
        store.set_cap(cap_of(policy.accountant, min(budget.epsilon, epsilon), min(budget.delta, delta)), analyst)
