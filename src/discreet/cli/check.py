"""`discreet check`: whether a policy loads, what it declares, and which lines would let more be asked. No row of the data is read."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.source import is_policy, located
from discreet.errors import Invalid
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.review import Review


def check(
    source: Annotated[str | None, typer.Argument(help="A policy; ./discreet.toml if left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at a policy: what it declares, what is missing, and whether its delta is small enough."""
    from discreet.curator.policy import Policy

    path = located(source)
    if not is_policy(path):
        raise Invalid(
            f"{path.name!r} is a data file, not a policy",
            code="usage",
            hint=f"`discreet init {path} --unit COLUMN` writes a policy for it; `discreet describe` tells of a data file",
        )
    review = Policy.read(path).check(path)
    if as_json:
        print(json.dumps(review.as_data(), ensure_ascii=False, indent=2))
        return
    for line in lines(review, path):
        print(visible(line))


def lines(review: "Review", path: Path) -> list[str]:
    from discreet.curator.description import Description

    policy = review.policy
    lines = [f"{path} loads", "", *Description(review.catalog).lines()]
    shares = ", shares reserved" if review.shares == "reserved" else ""
    lines.append(f"budget: {policy.budget}, accountant {policy.accountant}{shares}")
    lines.append(f"version of the data: {policy.version}")
    parts = {} if policy.parts is None else policy.parts.budgets
    lines += [f"part {name}: {budget}" for name, budget in parts.items()]
    lines += [f"analyst {name}: {budget}" for name, budget in policy.analysts.items()]
    lines += [f"analyst {name}: {budget}, added by command" for name, budget in review.added.items()]
    later = "" if review.place.is_made() else ", made by the first question"
    lines.append(f"ledger: {review.place}{later}")
    lines += [f"note: {note}" if not note.startswith("w") else note for note in review.notes]
    section = ""
    if review.missing:
        lines += ["", "lines that would let more be asked; fill in what is known of such data, not what is in them:"]
    width = max((len(each.line) for each in review.missing), default=0)
    for each in review.missing:
        if each.section != section:
            lines.append(f"  [{each.section}]")
            section = each.section
        lines.append(f"  {each.line:<{width}}  # {each.allows}")
    return lines
