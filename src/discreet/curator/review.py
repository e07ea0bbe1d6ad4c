"""Whether a policy loads, what it declares, and which lines would let more be asked. No row of the data is read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.curator.amounts import Cap
from discreet.curator.budgets import FIRST
from discreet.curator.catalog import catalog_of
from discreet.curator.declaration import Budget, advice_on
from discreet.curator.description import EXAMPLE, Description
from discreet.curator.money import cap_of, overdrawn
from discreet.curator.opening import check_shares
from discreet.curator.place import Place, place_of
from discreet.curator.places import others
from discreet.curator.policy import Policy
from discreet.curator.policy_text import key
from discreet.curator.store import Store
from discreet.errors import DiscreetError, Refused
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.scalar import Type
from discreet.privacy.advice import Verdict, note_on_epsilon

EXAMPLES = {
    Type.INTEGER: (
        "bounds = [0, 100]",
        f"to sum, average and group by it; keys = [{EXAMPLE[Type.INTEGER]}] instead if it is a code",
    ),
    Type.NUMBER: (
        "bounds = [0, 100]",
        f"to sum and average it; keys = [{EXAMPLE[Type.NUMBER]}] if it has few values, to group by it",
    ),
    Type.TEXT: (f"keys = [{EXAMPLE[Type.TEXT]}]", "to group by it"),
    Type.DATE: (
        "bounds = [2020-01-01, 2024-12-31]",
        "to group by its days, months and years, and to average days between dates",
    ),
    Type.TIMESTAMP: (
        "bounds = [2020-01-01, 2024-12-31]",
        "to group by its hours, days, months and years, and to average hours between timestamps",
    ),
}
"""What is usually declared of a type, and what for; a boolean is grouped by as it is."""

YEAR = re.compile(r"(^|[^a-z])(year|jahr|yr)([^a-z]|$)|(year|jahr)$")
YEARS = ("bounds = [1900, 2030]", "the first and the last year that can be meant: to group by it, and to average it")


def example_for(name: str, kind: Type) -> tuple[str, str] | None:
    """What may be declared of a column, and what for: by its name and type alone, since no suggestion comes from values."""
    return YEARS if kind is Type.INTEGER and YEAR.search(name.casefold()) else EXAMPLES.get(kind)


@dataclass(frozen=True, slots=True)
class Missing:
    """A line that is not in the policy, where it would go, and what it would allow."""

    section: str
    line: str
    allows: str


@dataclass(frozen=True, slots=True)
class Review:
    """What a policy says, and what is to be said of it."""

    catalog: Catalog
    policy: Policy
    place: Place
    missing: tuple[Missing, ...]
    notes: tuple[str, ...]
    shares: str
    added: Mapping[str, Budget]  # analysts that are in the ledger, and not in the policy

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        analysts = {**self.policy.analysts, **self.added}
        return {
            **Description(self.catalog).as_data(),
            "version": self.policy.version,
            "budget": numbers(self.policy.budget),
            "accountant": self.policy.accountant,
            "shares": self.shares,
            "analysts": {name: numbers(budget) for name, budget in analysts.items()},
            **self._parts(),
            "added": list(self.added),
            "ledger": str(self.place),
            "missing": [{"section": each.section, "line": each.line, "allows": each.allows} for each in self.missing],
            "notes": list(self.notes),
        }

    def _parts(self) -> dict[str, Any]:
        """What is declared of parts, where any are."""
        parts = self.policy.parts
        if parts is None:
            return {}
        budgets = {name: numbers(budget) for name, budget in parts.budgets.items()}
        return {"parts": {"table": parts.table, "column": parts.column, "budgets": budgets}}


def numbers(budget: Budget) -> dict[str, float]:
    """A budget that was declared, as it was."""
    return {"epsilon": float(budget.epsilon), "delta": float(budget.delta)}


def review(policy: Policy, path: Path | None = None) -> Review:
    """The review of a policy that loads, whose file is `path`; else raises Invalid, or Refused for a delta that promises nothing."""
    catalog, _ = catalog_of(policy)
    place = place_of(policy, path)
    standing = _shared(policy, place)
    large = note_on_epsilon(policy.budget.epsilon, in_all=True)
    ours = (*_advice(policy), *_unwritten(policy.protected), *_unfilled(catalog), *large)
    notes = (*ours, *_other_ledgers(policy, place), *standing.notes)
    return Review(catalog, policy, place, _missing(catalog), notes, standing.shares, standing.added)


@dataclass(frozen=True, slots=True)
class _Shared:
    """How the total is shared by analysts: as the ledger of a policy has it, where there is one."""

    shares: str
    added: Mapping[str, Budget]
    notes: tuple[str, ...]


def _shared(policy: Policy, place: Place) -> _Shared:
    declared = {name: cap_of(policy.accountant, each.epsilon, each.delta) for name, each in policy.analysts.items()}
    total = cap_of(policy.accountant, policy.budget.epsilon, policy.budget.delta)
    shares, added = policy.shares or "common", {}
    try:
        store = place.look()
    except DiscreetError as error:
        return _Shared(shares, {}, (f"warning: the ledger cannot be looked at: {error.message}",))
    caps = dict(declared)
    unfit: tuple[str, ...] = ()
    if store is not None:
        with store:
            standing, known = store.standing(), store.analysts()
            unfit = _unfit(store, policy)
        shares, now = standing.shares if policy.shares is None else shares, Cap(standing.cap, standing.budget)
        total = now if now.within(total) else total
        caps = {name: cap for name, cap in declared.items() if name not in known}
        caps |= {name: account.cap for name, account in known.items() if account.active}
        added = {name: Budget(*caps[name].budget.exact[:2]) for name in caps if name not in declared}
    over = overdrawn(caps, total) if shares == "common" else ""
    return _Shared(shares, added, (*unfit, *((f"{over}: {FIRST}",) if over else ())))


def _unfit(store: Store, policy: Policy) -> tuple[str, ...]:
    """What the next question would refuse of how the total is shared."""
    try:
        check_shares(store, policy)
    except Refused as refused:
        return (f"warning: every question is refused: {refused.message}; {refused.hint}",)
    return ()


def _missing(catalog: Catalog) -> tuple[Missing, ...]:
    person, missing = catalog.protected.person, []
    for table in catalog.private:
        for column in table.columns:
            if (
                column.keys is not None
                or column.low is not None
                or column.auto
                or column.name.casefold() == (person or "").casefold()
            ):
                continue
            example = example_for(column.name, column.type)
            if example is None:
                continue
            missing.append(
                Missing(
                    f"tables.{key(table.name)}.columns",
                    f'{key(column.name)} = {{ type = "{column.type.value}", {example[0]} }}',
                    f"{'SUM and AVG of' if column.type.numeric else 'GROUP BY'} {column.name}",
                )
            )
    if catalog.protected.people is None:
        missing.append(Missing("unit", "people = 50000", "advice on delta, and predicted errors of averages"))
    return tuple(missing)


def _unfilled(catalog: Catalog) -> tuple[str, ...]:
    """What nullable = false does where no bounds have a middle that could stand for what is missing."""
    person = (catalog.protected.person or "").casefold()
    return tuple(
        f"{column.name} is declared nullable = false, and has no bounds whose middle could stand for what is missing:"
        f" COUNT({column.name}) counts every row, and conditions still find it missing"
        for table in catalog.private
        for column in table.columns
        if not column.nullable
        and (column.facts.middle is None or not column.type.numeric)
        and column.name.casefold() != person
    )


WRITTEN = {"max_rows": 5, "max_groups": 3}
"""The limits that `discreet init` of earlier releases wrote into every policy."""


def _unwritten(unit: Protected) -> tuple[str, ...]:
    """What limits leave out that are those of an earlier `init`, which nobody may have chosen."""
    if unit.person is None or any(getattr(unit, name) != limit for name, limit in WRITTEN.items()):
        return ()
    rows, groups = WRITTEN.values()
    return (
        f"max_rows = {rows} and max_groups = {groups} are what `discreet init` of an earlier release wrote: of a {unit.person} with more"
        f" rows in a group {rows} count, and of one in more groups {groups} are kept, and no ± contains what is cut. Unless they"
        " were chosen, remove both: then each question finds its own limits, and pays for them",
    )


def _advice(policy: Policy) -> tuple[str, ...]:
    if not policy.budget.delta:
        return ("there is no delta: Gaussian noise is not used",)
    advice = advice_on(policy.budget.delta, policy.protected.people)
    if advice is None:
        return ()
    return (f"{'' if advice.verdict is Verdict.FINE else f'{advice.verdict.value}: '}{advice.sentence}",)


def _other_ledgers(policy: Policy, place: Place) -> tuple[str, ...]:
    """A data file that was asked about by itself, or by another policy, has a budget there, which this policy does not count."""
    return tuple(
        f"warning: {other} counts questions about the same people apart from this policy; to count them together, "
        f"let [ledger] have that path"
        for other in dict.fromkeys(other for file in policy.files for other in others(file, place.folder, policy.mark))
    )
