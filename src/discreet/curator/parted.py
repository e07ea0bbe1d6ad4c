"""Parts of the people between a policy and its ledger: which parts have budgets, what says who is in them, and what a question in one pays.

What a ledger knows of a part is its name, and what says who is in it: a table, a column, and the source of the table with how it is read.
One ledger may serve several policies, whose tables are called alike: by each of them people are in other parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from discreet.curator.acts import Parted, PartPaid
from discreet.curator.amounts import Cap
from discreet.curator.declaration import Declared, Source
from discreet.curator.money import cap_of
from discreet.curator.place import Place
from discreet.curator.policy import Policy
from discreet.curator.store import Store
from discreet.engines.framing import PLAIN
from discreet.engines.reading import AS_IT_IS
from discreet.errors import Invalid, QueryError
from discreet.exact import shown
from discreet.plan.catalog import Table
from discreet.plan.partition import Part, Partition
from discreet.plan.scalar import Type


def partition_of(policy: Policy, tables: Sequence[Table]) -> Partition | None:
    """The parts that a policy declares, as its tables have them; what cannot name parts is Invalid."""
    parts = policy.parts
    if parts is None:
        return None
    table = next((each for each in tables if each.name.casefold() == parts.table.casefold()), None)
    if table is None or table.public is not None:
        raise Invalid(
            f"parts are named by a column of a table about somebody, and {shown(parts.table)} is none",
            code="parts",
            hint="name such a table under [parts]",
        )
    try:
        column = table.column(parts.column)
    except QueryError as error:
        raise Invalid(f"[parts]: {error.message}", code="parts", hint=error.hint) from None
    if column.name.casefold() == (policy.protected.person or "").casefold() or column.keys is None:
        raise Invalid(
            f"parts are named by the keys of a column, and {column.name!r} has none",
            code="parts",
            hint=f'declare them: {column.name} = {{ keys = ["north", "south"] }}',
        )
    partition = Partition(table.name, column.name, column.type, tuple(parts.budgets))
    known = {str(each) for each in column.keys}
    for name in parts.budgets:
        if name not in known:
            raise Invalid(
                f"part {shown(name)} is none of the keys of {column.name!r}",
                code="parts",
                hint=f"name one of them, such as {shown(min(known))}",
            )
    return partition


def paid_in(policy: Policy, place: Place, part: Part | None) -> PartPaid | None:
    """Where a question about a part is charged."""
    return None if part is None else PartPaid(*said_by(policy, place), part.name)


def follow(store: Store, policy: Policy, place: Place) -> None:
    """Bring the parts of a ledger to what a policy says: lower budgets at once, and parts that are new."""
    if policy.parts is None:
        return
    now, said = store.standing().parts, said_by(policy, place)
    known = dict(now.accounts) if now is not None and now.said_by == said else {}
    caps = []
    for name, budget in sorted(policy.parts.budgets.items()):
        account = known.get(name)
        epsilon, delta = budget.epsilon, budget.delta
        if account is not None:
            kept = account.cap.budget.exact
            epsilon, delta = min(epsilon, kept[0]), min(delta, kept[1])
        caps.append((name, _cap(policy, epsilon, delta, None if account is None else account.cap)))
    store.set_parts(Parted(*said, tuple(caps)))


def set_cap(store: Store, name: str, cap: Cap, *, higher: bool) -> None:
    """Change the budget of one part; a higher one only where `higher` says that the owner means it."""
    parts = known_parts(store, name)
    store.set_parts(replace(parts, caps=((name, cap),)), higher=higher)


def known_parts(store: Store, name: str) -> Parted:
    """The parts of a ledger that has one of this name; else Invalid."""
    parts = store.standing().parts
    if parts is None or parts.account(name) is None:
        names = [] if parts is None else [each for each, _ in parts.accounts]
        raise Invalid(
            f"the ledger has no part {shown(name)}",
            code="part",
            hint=f"it has {', '.join(map(repr, names))}" if names else "parts are declared by [parts] in the policy",
        )
    return Parted(*parts.said_by, tuple((each, account.cap) for each, account in parts.accounts))


def _cap(policy: Policy, epsilon: object, delta: object, now: Cap | None) -> Cap:
    """The cap of an amount, which is the one that is kept where that is the same."""
    cap = cap_of(policy.accountant, epsilon, delta)  # type: ignore[arg-type]
    return now if now is not None and now.budget == cap.budget else cap


def said_by(policy: Policy, place: Place) -> tuple[str, str, str]:
    """What says who is in a part; names that differ in case are one name."""
    parts = policy.parts
    if parts is None:
        raise Invalid("nobody declared parts", code="parts")
    source = next(each for name, each in policy.tables.items() if name.casefold() == parts.table.casefold())
    where = (place.origin(Path(source.data)), source.table) if isinstance(source.data, str | Path) else ()
    said = (*where, *_read(source, (parts.column, policy.protected.person or "")))
    return parts.table.casefold(), parts.column.casefold(), repr(said) if said else ""


def _read(source: Source, columns: tuple[str, str]) -> Iterator[str]:
    """How the cells are read that say who is in which part, where it is not as usual: read otherwise people are elsewhere."""
    reading = source.reading
    if source.framing != PLAIN:
        yield repr(source.framing)
    if source.stored:
        yield "stored"
    if (signs := (reading.decimal, reading.thousands)) != (AS_IT_IS.decimal, AS_IT_IS.thousands):
        yield repr(signs)
    if reading.null:
        yield repr(sorted(reading.null))
    declared = {name.casefold(): said for name, said in source.columns.items()}
    for name in columns:
        said = declared.get(name.casefold(), Declared())
        kinds = {type(key).__name__ for key in said.keys or ()} if said.type is None else {said.type.value}
        if kinds - {"str", Type.TEXT.value} or said.keys_of is not None:
            yield repr((name.casefold(), sorted(kinds), said.keys_of))
