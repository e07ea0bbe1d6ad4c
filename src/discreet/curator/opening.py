"""Opening a ledger for a policy: made where there is none, and brought to what the policy says where there is one.

Who is protected and how prices add up are fixed when a ledger is made. A lower cap takes effect at once; a higher one only by the owner's
explicit act. Versions of the data only go on.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from warnings import warn

from discreet.curator import parted
from discreet.curator.accounts import Account
from discreet.curator.acts import Creation, DataChanged, accountant_of
from discreet.curator.amounts import Amounts, Cap
from discreet.curator.declaration import Budget, relation_kept
from discreet.curator.ledger import parts_and_shares, set_aside
from discreet.curator.money import cap_of
from discreet.curator.place import Place
from discreet.curator.places import is_made, others, remember
from discreet.curator.policy import Policy
from discreet.curator.store import Store, still_reserved
from discreet.errors import Refused


def open_ledger(policy: Policy, place: Place, noted: Callable[[str], None] = warn) -> Store:
    """The ledger of a policy at a place; what does not fit is Refused, and then nothing was changed.

    The owner is told by `noted` where a new ledger is made for data that have one already.
    """
    notes = () if place.is_made() else tuple(_other_budgets(policy, place))
    creation = creation_of(policy)
    store = place.open(creation, share_answers=policy.share_answers)
    try:
        _check(store, creation)
        check_shares(store, policy)
        _follow(store, policy)
        parted.follow(store, policy, place)
        _remember(policy, place, noted)
        for note in notes:
            noted(note)
    except BaseException:
        store.close()
        raise
    return store


def creation_of(policy: Policy) -> Creation:
    """The row that the ledger of a policy begins with."""
    cap = cap_of(policy.accountant, policy.budget.epsilon, policy.budget.delta)
    return Creation(accountant_of(policy.accountant), cap, relation_kept(policy.protected), policy.version)


def _other_budgets(policy: Policy, place: Place) -> Iterator[str]:
    for file in policy.files:
        for other in others(file, place.folder, policy.mark):
            gone = "" if is_made(other) else " (which is gone, though its high-water mark is there)"
            yield (
                f"a new budget begins in {place}, and questions about {file.name!r} are counted by {other}{gone} already: together they"
                f" may hide less than either promises. To go on with that one, name it:"
                f" --ledger {other}, or path under [ledger] in a policy, or ledger= in Python"
            )


def _remember(policy: Policy, place: Place, noted: Callable[[str], None]) -> None:
    if place.folder is None:
        return
    try:
        remember(policy.files, place.folder, policy.mark)
    except OSError as error:
        noted(
            f"which ledger counts questions about these data cannot be remembered ({error.strerror}); another one is not noticed"
        )


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


def check_shares(store: Store, policy: Policy) -> None:
    """Where shares are, or are to be, reserved: what the policy comes to must fit, before any of it is done."""
    standing = store.standing()
    if standing.shares == "reserved" and policy.shares == "common":
        raise still_reserved()
    parts = policy.parts is not None or standing.parts is not None
    if parts and "reserved" in (standing.shares, policy.shares):
        raise parts_and_shares()
    if "reserved" not in (standing.shares, policy.shares):
        return
    known = store.analysts()
    left = Account(_lowered(policy, policy.budget, Cap(standing.cap, standing.budget)), standing.spent).remaining
    after = {
        name: replace(known[name], cap=_lowered(policy, policy.analysts[name], known[name].cap))
        if name in policy.analysts and known[name].active
        else known[name]
        for name in known
    }
    after |= {name: Account(_cap(policy, policy.analysts[name])) for name in policy.analysts if name not in known}
    aside = set_aside(after.values())
    # What is set aside may be more than the analysts have: answers were shared.
    if standing.aside is not None:
        now = set_aside(known.values())
        aside = Amounts(*(a + b - c for a, b, c in zip(aside, standing.aside, now, strict=True)))
    if not all(a == 0 or a <= b for a, b in zip(aside, left, strict=True)):
        raise Refused(
            f"shares are reserved, and for analysts {aside} is to be set aside, of {left} that is left",
            code="shares",
            hint="lower a cap in the policy, or raise the total by `discreet budget set SOURCE --epsilon E --yes`",
        )


def _follow(store: Store, policy: Policy) -> None:
    """First what is lower, so that what is new may fit."""
    if store.standing().version != policy.version:
        store.change_data(policy.version)
    known = store.analysts() if policy.analysts else {}
    for name, budget in policy.analysts.items():
        if name in known and known[name].active:
            store.set_cap(_lowered(policy, budget, known[name].cap), name)
    standing = store.standing()
    store.set_cap(_lowered(policy, policy.budget, Cap(standing.cap, standing.budget)))
    if policy.shares == "reserved":
        store.share("reserved")
    for name, budget in policy.analysts.items():
        if name not in known:
            store.add_analyst(name, _cap(policy, budget))


def _cap(policy: Policy, budget: Budget) -> Cap:
    return cap_of(policy.accountant, budget.epsilon, budget.delta)


def _lowered(policy: Policy, said: Budget, now: Cap) -> Cap:
    """The cap after a policy was read: what it says, as far as that is lower than what is kept."""
    epsilon, delta, _ = now.budget.exact
    if said.epsilon >= epsilon and said.delta >= delta:
        return now
    return cap_of(policy.accountant, min(said.epsilon, epsilon), min(said.delta, delta))
