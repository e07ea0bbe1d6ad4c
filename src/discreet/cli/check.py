"""`discreet check`: whether a policy loads, what it declares, and which lines would let more be asked. No row of the data is read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.budget import FIRST, amounts_said
from discreet.cli.describe import as_data as described
from discreet.cli.describe import lines as description
from discreet.cli.flags import Flags
from discreet.cli.init import EXAMPLES, toml_key
from discreet.cli.source import is_policy, ledger_of, located, open_ledger
from discreet.errors import DiscreetError, Invalid, Refused
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.policy import Budget, Policy
    from discreet.curator.store import Store
    from discreet.plan.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Missing:
    """A line that is not in the policy, where it would go, and what it would allow."""

    section: str
    line: str
    allows: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a policy says."""

    catalog: "Catalog"
    policy: "Policy"
    ledger: Path
    missing: tuple[Missing, ...]
    notes: tuple[str, ...]
    shares: str
    added: "dict[str, Budget]"  # analysts that are in the ledger, and not in the policy


def check(
    source: Annotated[str | None, typer.Argument(help="A policy; ./discreet.toml if left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at a policy: what it declares, what is missing, and whether its delta is small enough."""
    path = located(source)
    if not is_policy(path):
        raise Invalid(
            f"{path.name!r} is a data file, not a policy",
            code="usage",
            hint=f"`discreet init {path} --unit COLUMN` writes a policy for it; `discreet describe` tells of a data file",
        )
    report = reported(path)
    if as_json:
        print(json.dumps(as_data(report), ensure_ascii=False, indent=2))
        return
    for line in lines(report, path):
        print(visible(line))


def reported(path: Path) -> Report:
    """The report on a policy that loads; else raises Invalid, or Refused for a delta that promises nothing."""
    from discreet.curator.policy import Policy, catalog_of

    policy = Policy.read(path)
    catalog, _ = catalog_of(policy)
    ledger = ledger_of(path, Flags(), policy)
    kept = _kept(policy, ledger)
    notes = (*_advice(policy), *_other_ledgers(policy, ledger), *kept.notes)
    return Report(catalog, policy, ledger, _missing(catalog), notes, kept.shares, kept.added)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the ledger of a policy says of analysts, where it has one."""

    shares: str
    added: "dict[str, Budget]"
    notes: tuple[str, ...]


def _kept(policy: "Policy", ledger: Path) -> _Kept:
    from discreet.curator.amounts import Cap
    from discreet.curator.money import cap_of, overdrawn
    from discreet.curator.policy import Budget

    declared = {name: cap_of(policy.accountant, each.epsilon, each.delta) for name, each in policy.analysts.items()}
    total = cap_of(policy.accountant, policy.budget.epsilon, policy.budget.delta)
    shares, added = policy.shares or "common", {}
    try:
        store = open_ledger(ledger, policy.mark)
    except DiscreetError as error:
        return _Kept(shares, {}, (f"warning: the ledger cannot be looked at: {error.message}",))
    caps = dict(declared)
    unfit: tuple[str, ...] = ()
    if store is not None:
        with store:
            totals, known = store.standing(), store.analysts()
            unfit = _unfit(store, policy)
        shares, now = totals.shares if policy.shares is None else shares, Cap(totals.cap, totals.budget)
        total = now if now.within(total) else total
        caps = {name: cap for name, cap in declared.items() if name not in known}
        caps |= {name: account.cap for name, account in known.items() if account.active}
        added = {name: Budget(*caps[name].budget.exact[:2]) for name in caps if name not in declared}
    over = overdrawn(caps, total) if shares == "common" else ""
    return _Kept(shares, added, (*unfit, *((f"{over}: {FIRST}",) if over else ())))


def _unfit(store: "Store", policy: "Policy") -> tuple[str, ...]:
    """What the next question would refuse of how the total is shared."""
    from discreet.curator.opening import check_shares

    try:
        check_shares(store, policy)
    except Refused as refused:
        return (f"warning: every question is refused: {refused.message}; {refused.hint}",)
    return ()


def _missing(catalog: "Catalog") -> tuple[Missing, ...]:
    person, found = catalog.protected.person, []
    for table in catalog.tables:
        for column in table.columns:
            if column.keys is not None or column.low is not None or column.name.casefold() == (person or "").casefold():
                continue
            kind = column.type.value
            found.append(
                Missing(
                    f"tables.{toml_key(table.name)}.columns",
                    f'{toml_key(column.name)} = {{ type = "{kind}", {EXAMPLES[kind]} }}',
                    f"{'SUM and AVG of' if column.type.numeric else 'GROUP BY'} {column.name}",
                )
            )
    if catalog.protected.people is None:
        found.append(Missing("unit", "people = 50000", "advice on delta, and predicted errors of averages"))
    return tuple(found)


def _advice(policy: "Policy") -> tuple[str, ...]:
    from discreet.curator.policy import advice_on
    from discreet.privacy.advice import Verdict

    if not policy.budget.delta:
        return ("there is no delta: Gaussian noise is not used",)
    advice = advice_on(policy.budget.delta, policy.protected.people)
    if advice is None:
        return ()
    return (f"{'' if advice.verdict is Verdict.FINE else f'{advice.verdict.value}: '}{advice.sentence}",)


def _other_ledgers(policy: "Policy", ledger: Path) -> tuple[str, ...]:
    """A data file that was asked about by itself, or by another policy, has a budget there, which this policy does not count."""
    from discreet.curator.places import others

    return tuple(
        f"warning: {other} counts questions about the same people apart from this policy; to count them together, "
        f"let [ledger] have that path"
        for other in dict.fromkeys(other for file in policy.files for other in others(file, ledger, policy.mark))
    )


def as_data(report: Report) -> dict[str, Any]:
    return {
        **described(report.catalog),
        "version": report.policy.version,
        "budget": _amounts(report.policy.budget),
        "accountant": report.policy.accountant,
        "shares": report.shares,
        "analysts": {name: _amounts(budget) for name, budget in {**report.policy.analysts, **report.added}.items()},
        "added": list(report.added),
        "ledger": str(report.ledger),
        "missing": [{"section": each.section, "line": each.line, "allows": each.allows} for each in report.missing],
        "notes": list(report.notes),
    }


def _amounts(budget: "Budget") -> dict[str, float]:
    return {"epsilon": float(budget.epsilon), "delta": float(budget.delta)}


def lines(report: Report, path: Path) -> list[str]:
    policy = report.policy
    found = [f"{path} loads", "", *description(report.catalog)]
    shares = ", shares reserved" if report.shares == "reserved" else ""
    found.append(f"budget: {amounts_said(_amounts(policy.budget))}, accountant {policy.accountant}{shares}")
    found.append(f"version of the data: {policy.version}")
    for name, budget in policy.analysts.items():
        found.append(f"analyst {name}: {amounts_said(_amounts(budget))}")
    for name, budget in report.added.items():
        found.append(f"analyst {name}: {amounts_said(_amounts(budget))}, added by command")
    made = "" if report.ledger.is_dir() else ", made by the first question"
    found.append(f"ledger: {report.ledger}{made}")
    found += [f"note: {note}" if not note.startswith("w") else note for note in report.notes]
    section = ""
    if report.missing:
        found += ["", "lines that would let more be asked; fill in what is known of such data, not what is in them:"]
    width = max((len(each.line) for each in report.missing), default=0)
    for each in report.missing:
        if each.section != section:
            found.append(f"  [{each.section}]")
            section = each.section
        found.append(f"  {each.line:<{width}}  # {each.allows}")
    return found
