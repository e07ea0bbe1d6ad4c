"""Going on with a ledger that is older than its high-water mark, or gone: the owner's act, and a row of it says why."""

from fractions import Fraction

from discreet.accountant import Accountant
from discreet.curator.acts import Creation
from discreet.curator.budgets import DELTA
from discreet.curator.declaration import relation_kept
from discreet.curator.money import cap_of
from discreet.curator.place import Place
from discreet.curator.proof import Proof, proof_of
from discreet.errors import Invalid, Refused
from discreet.plan.catalog import Protected


def refusal_of(place: Place) -> str | None:
    """Why a ledger is not opened, where it went back or its mark is lost; None where it is."""
    try:
        place.open(None).close()
    except Refused as refused:
        if refused.code not in ("rollback", "mark-lost"):
            raise
        return refused.message
    return None


def accept_at(place: Place, reason: str, creation: Creation | None = None) -> Proof:
    """Accept the ledger at a place as it is; one that is gone begins anew by `creation`. What was spent since is not counted any more."""
    with place.open(creation, accept=reason) as store:
        return proof_of(store)


def nothing_to_accept() -> Invalid:
    return Invalid("the ledger agrees with its high-water mark: there is nothing to accept", code="usage")


def creation_for(protected: Protected, epsilon: Fraction) -> Creation:
    """The row that the ledger of a data file without a policy begins with."""
    return Creation(Accountant.PURE, cap_of(Accountant.PURE, epsilon, DELTA), relation_kept(protected))
