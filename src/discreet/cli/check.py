"""`discreet check`: whether a policy loads, what it declares, and which lines would let more be asked. No row of the data is read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.budget import amounts_said
from discreet.cli.describe import as_data as described
from discreet.cli.describe import lines as description
from discreet.cli.flags import Flags
from discreet.cli.init import EXAMPLES, toml_key
from discreet.cli.source import is_policy, ledger_of, located
from discreet.errors import Invalid
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.policy import Budget, Policy
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
    from discreet.curator.money import cap_of
    from discreet.curator.policy import Policy, catalog_of

    policy = Policy.read(path)
    catalog, _ = catalog_of(policy)
    for budget in (policy.budget, *policy.analysts.values()):  # what the first question would refuse
        cap_of(policy.accountant, budget.epsilon, budget.delta)
    ledger = ledger_of(path, Flags(), policy)
    return Report(catalog, policy, ledger, _missing(catalog), (*_advice(policy), *_other_ledgers(policy, ledger)))


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
    """A data file that was asked about by itself has a budget of its own, which this policy does not count."""
    from discreet.curator.policy import ledger_beside

    found = []
    for source in policy.tables.values():
        own = ledger_beside(Path(source.data))
        if own.is_dir() and own.resolve() != ledger.resolve():
            found.append(
                f"warning: {own} counts questions about the same people apart from this policy; to count them together, "
                f"let [ledger] have that path"
            )
    return tuple(found)


def as_data(report: Report) -> dict[str, Any]:
    return {
        **described(report.catalog),
        "version": report.policy.version,
        "budget": _amounts(report.policy.budget),
        "accountant": report.policy.accountant,
        "analysts": {name: _amounts(budget) for name, budget in report.policy.analysts.items()},
        "ledger": str(report.ledger),
        "missing": [{"section": each.section, "line": each.line, "allows": each.allows} for each in report.missing],
        "notes": list(report.notes),
    }


def _amounts(budget: "Budget") -> dict[str, float]:
    return {"epsilon": float(budget.epsilon), "delta": float(budget.delta)}


def lines(report: Report, path: Path) -> list[str]:
    policy = report.policy
    found = [f"{path} loads", "", *description(report.catalog)]
    found.append(f"budget: {amounts_said(_amounts(policy.budget))}, accountant {policy.accountant}")
    found.append(f"version of the data: {policy.version}")
    for name, budget in policy.analysts.items():
        found.append(f"analyst {name}: {amounts_said(_amounts(budget))}")
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
