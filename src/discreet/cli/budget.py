"""`discreet budget SOURCE`: what was spent, what is left, in all and by analyst. `discreet budget set` changes the total."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.burndown import WIDTH, curve
from discreet.cli.flags import optional_number
from discreet.cli.source import place_at
from discreet.errors import Invalid
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.budgets import Budgets

BAR = 40
SIGNS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


def budget(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[set] [SOURCE]", help="A data file or a policy; ./discreet.toml if left out.", show_default=False
        ),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="With set: the new total.")] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="D", help="With set: the new total; as it was if left out.")
    ] = None,
    shares: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="With set: reserved, the budgets of analysts are kept for them; common, for who asks first.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="With set: yes, more is meant than was promised.")] = False,
    analyst: Annotated[
        str | None, typer.Option("--as", "--analyst", metavar="NAME", help="Of this analyst only.")
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="NAME", help="With set: the budget of this part of the people.")
    ] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the budget is kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What was spent and what is left; with `set`, change the total, or how it is shared.

    discreet budget visits.csv; discreet budget set visits.csv --epsilon 20 --yes
    """
    typed = list(words or ())
    setting = typed[:1] == ["set"]
    typed = typed[1:] if setting else typed
    if len(typed) > 1:
        raise Invalid(f"there is one source, got {len(typed)}", code="usage", hint="see `discreet budget --help`")
    if not setting and (yes or any(each is not None for each in (epsilon, delta, shares, part))):
        raise Invalid(
            "--epsilon, --delta, --shares, --part and --yes go with set",
            code="usage",
            hint="discreet budget set SOURCE --epsilon 5",
        )
    from discreet.curator.budgets import Change, budgets_at, changed_at

    policy, place = place_at(typed[0] if typed else None, ledger)
    if setting:
        amounts = optional_number(epsilon, "epsilon"), optional_number(delta, "delta")
        budgets = changed_at(place, policy, Change(*amounts, shares, analyst, yes, part))
    else:
        budgets = budgets_at(place, policy, analyst)
    if as_json:
        print(json.dumps(budgets.as_data(), ensure_ascii=False, indent=2))
        return
    for line in lines(budgets, analyst):
        print(visible(line))


def lines(budgets: "Budgets", analyst: str | None) -> list[str]:
    from discreet.curator.budgets import as_numbers

    whole = budgets.whole
    lines = [
        *picture("the data set" if analyst is None else analyst, whole.as_data()),
        *_went_down(whole.left),
        f"{whole.questions:,} question{'' if whole.questions == 1 else 's'} charged",
    ]
    if whole.failures:
        most = "10 stop the data set" if analyst is None else "3 suspend who asked them"
        lines.append(f"{whole.failures} of them failed after data was touched; {most}")
    if not budgets.made:
        lines[-1] = "nothing was asked yet: the budget is kept from the first question on"
    if budgets.shares == "reserved" and analyst is None and budgets.made:
        free = amounts_said(as_numbers(whole.free))
        lines.append(f"shares are reserved: {free} is free for the owner, the rest for analysts")
    lines += [f"note: {note}" for note in budgets.notes]
    for name, balance in budgets.parts.items():
        lines += ["", *picture(f"the part {name}", balance.as_data())]
    for name, balance in budgets.analysts.items():
        lines += ["", *picture(name, balance.as_data()), *_went_down(balance.left)]
    return lines


def _went_down(shares: Sequence[float]) -> list[str]:
    if not shares:
        return []
    return [f"     {curve(shares):<{BAR}}  {'left after each question' if len(shares) <= WIDTH else 'as it went down'}"]


def picture(name: str, amounts: dict[str, dict[str, float]]) -> list[str]:
    """A bar for each amount that has a cap: what is left is full, what is spent is empty.

    >>> amounts = {"spent": {"epsilon": 2.5}, "cap": {"epsilon": 10.0}, "remaining": {"epsilon": 7.5}}
    >>> print(*picture("the data set", amounts), sep="\\n")
    budget of the data set
      ε  ██████████████████████████████░░░░░░░░░░  7.5 left of 10, 2.5 spent
    """
    lines = [f"budget of {name}"]
    for each, cap in amounts["cap"].items():
        left, spent = amounts["remaining"][each], amounts["spent"][each]
        if cap or spent or each == _counted_by(amounts):  # a cap of 0 is one too
            full = min(BAR, round(BAR * left / cap)) if cap else 0
            full = max(full, 1) if left else 0  # what is left never looks like nothing
            bar = "█" * full + "░" * (BAR - full)
            lines.append(f"  {SIGNS[each]}  {bar}  {left:.6g} left of {cap:.6g}, {spent:.6g} spent")
    return lines


def _counted_by(amounts: dict[str, dict[str, float]]) -> str:
    """The amount that every question costs something of."""
    return "rho" if "rho" in amounts["cap"] else "epsilon"


def amounts_said(amounts: dict[str, float]) -> str:
    """
    >>> amounts_said({"epsilon": 7.5, "delta": 1e-6})
    'ε = 7.5, δ = 1e-06'
    """
    return ", ".join(f"{SIGNS[name]} = {value:.6g}" for name, value in amounts.items() if value or name == "epsilon")
