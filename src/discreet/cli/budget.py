"""`discreet budget SOURCE`: what was spent, what is left, in all and by analyst. `discreet budget set` changes the total."""

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.burndown import WIDTH, burned, curve
from discreet.cli.flags import Flags, optional_number
from discreet.cli.source import DELTA, EPSILON, amounts_left, is_policy, ledger_of, located, open_ledger, totals_json
from discreet.errors import Invalid, Refused
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.policy import Budget, Policy
    from discreet.curator.store import Store

BAR = 40
SIGNS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


@dataclass(frozen=True, slots=True)
class Money:
    """Amounts spent, allowed and left; of the data set, and of each analyst by name."""

    amounts: dict[str, dict[str, float]]
    ledger: Path
    questions: int = 0
    failures: int = 0
    made: bool = True
    analysts: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    burned: dict[str | None, list[float]] = field(default_factory=dict)
    shares: str = "common"
    free: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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
    yes: Annotated[bool, typer.Option("--yes", help="With set: yes, more may be learned about everyone.")] = False,
    analyst: Annotated[
        str | None, typer.Option("--as", "--analyst", metavar="NAME", help="Of this analyst only.")
    ] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the budget is kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What was spent and what is left; with `set`, change the total, or how it is shared.

    discreet budget visits.csv; discreet budget set visits.csv --epsilon 20 --yes
    """
    given = list(words or ())
    setting = given[:1] == ["set"]
    given = given[1:] if setting else given
    if len(given) > 1:
        raise Invalid(f"there is one source, got {len(given)}", code="usage", hint="see `discreet budget --help`")
    if not setting and (epsilon is not None or delta is not None or shares is not None or yes):
        raise Invalid(
            "--epsilon, --delta, --shares and --yes go with set",
            code="usage",
            hint="discreet budget set SOURCE --epsilon 5",
        )
    path = located(given[0] if given else None)
    flags = Flags(ledger=ledger)
    policy = read_policy(path)
    notes = _set(ledger_of(path, flags, policy), policy, epsilon, delta, shares, analyst, yes) if setting else ()
    money = replace(money_of(path, flags, policy, analyst), notes=notes)
    if as_json:
        print(json.dumps(as_data(money), ensure_ascii=False, indent=2))
        return
    for line in lines(money, analyst):
        print(visible(line))


def read_policy(path: Path) -> "Policy | None":
    if not is_policy(path):
        return None
    from discreet.curator.policy import Policy

    return Policy.read(path)


def money_of(path: Path, flags: Flags, policy: "Policy | None", analyst: str | None = None) -> Money:
    """What a ledger holds; where none was made yet, what it will start with."""
    folder = ledger_of(path, flags, policy)
    store = open_ledger(folder, None if policy is None else policy.mark)
    if store is None:
        if analyst is not None and (policy is None or analyst not in policy.analysts):
            raise Refused(f"analyst {analyst!r} is not known here", code="analyst-unknown")
        said = None if policy is None else policy.shares
        return Money(_untouched(policy, analyst), folder, made=False, shares=said or "common")
    with store:
        return _counted(store, folder, analyst)


def _untouched(policy: "Policy | None", analyst: str | None) -> dict[str, dict[str, float]]:
    from discreet.curator.accounts import Account, Book, Standing
    from discreet.curator.acts import accountant_of
    from discreet.curator.money import cap_of

    said = _said(policy, analyst)
    epsilon, delta = (EPSILON, DELTA) if said is None else (said.epsilon, said.delta)
    accountant = accountant_of("pure" if policy is None else policy.accountant)
    account = Account(cap_of(accountant, epsilon, delta))
    return totals_json(Standing.of(account, Book(account, accountant, "", 0, "1")))


def _said(policy: "Policy | None", analyst: str | None) -> "Budget | None":
    """What a policy says of the data set, or of an analyst."""
    if policy is None:
        return None
    return policy.budget if analyst is None else policy.analysts.get(analyst)


def _counted(store: "Store", folder: Path, analyst: str | None) -> Money:
    totals, down = store.standing(analyst), burned(store.history())
    names = [] if analyst is not None else sorted(store.analysts())
    return Money(
        totals_json(totals),
        folder,
        questions=len(down.get(analyst, ())),
        failures=totals.failures,
        analysts={name: totals_json(store.standing(name)) for name in names},
        burned=down,
        shares=totals.shares,
        free=amounts_left(totals),
    )


def as_data(money: Money) -> dict[str, Any]:
    return {
        **money.amounts,
        "questions": money.questions,
        "failures": money.failures,
        "analysts": money.analysts,
        "shares": money.shares,
        "free": money.free or money.amounts["remaining"],
        "ledger": str(money.ledger) if money.made else None,
        "notes": list(money.notes),
    }


def lines(money: Money, analyst: str | None) -> list[str]:
    whose = "the data set" if analyst is None else analyst
    found = [
        *picture(whose, money.amounts),
        *_went_down(money.burned.get(analyst)),
        f"{money.questions:,} question{'' if money.questions == 1 else 's'} charged",
    ]
    if money.failures:
        most = "10 stop the data set" if analyst is None else "3 suspend who asked them"
        found.append(f"{money.failures} of them failed after data was touched; {most}")
    if not money.made:
        found[-1] = "nothing was asked yet: the budget is kept from the first question on"
    if money.shares == "reserved" and analyst is None and money.made:
        found.append(f"shares are reserved: {amounts_said(money.free)} is free for the owner, the rest for analysts")
    found += [f"note: {note}" for note in money.notes]
    for name, amounts in money.analysts.items():
        found += ["", *picture(name, amounts), *_went_down(money.burned.get(name))]
    return found


def _went_down(shares: list[float] | None) -> list[str]:
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
    found = [f"budget of {name}"]
    for each, cap in amounts["cap"].items():
        left, spent = amounts["remaining"][each], amounts["spent"][each]
        if cap or spent or each == _counted_by(amounts):  # a cap of 0 is one too
            full = min(BAR, round(BAR * left / cap)) if cap else 0
            full = max(full, 1) if left else 0  # what is left never looks like nothing
            bar = "█" * full + "░" * (BAR - full)
            found.append(f"  {SIGNS[each]}  {bar}  {left:.6g} left of {cap:.6g}, {spent:.6g} spent")
    return found


def _counted_by(amounts: dict[str, dict[str, float]]) -> str:
    """The amount that every question costs something of."""
    return "rho" if "rho" in amounts["cap"] else "epsilon"


def amounts_said(amounts: dict[str, float]) -> str:
    """
    >>> amounts_said({"epsilon": 7.5, "delta": 1e-6})
    'ε = 7.5, δ = 1e-06'
    """
    return ", ".join(f"{SIGNS[name]} = {value:.6g}" for name, value in amounts.items() if value or name == "epsilon")


def _set(
    folder: Path,
    policy: "Policy | None",
    epsilon: str | None,
    delta: str | None,
    shares: str | None,
    analyst: str | None,
    yes: bool,
) -> tuple[str, ...]:
    """Change what was said, and tell what is to be thought of it."""
    if epsilon is None and (shares is None or delta is not None):
        raise Invalid("the new total is missing", code="usage", hint="write --epsilon 5")
    wanted, allowed = optional_number(epsilon, "epsilon"), optional_number(delta, "delta")
    said = _said(policy, analyst)
    if said is not None and ((wanted or 0) > said.epsilon or (allowed or 0) > said.delta):
        raise Refused(
            f"the policy says {said}, and its lower total would take effect again at once",
            code="cap-higher",
            hint="write the higher total into the policy first",
        )
    if shares is not None and policy is not None and policy.shares not in (None, shares):
        raise Refused(
            f"the policy says shares = {policy.shares!r}, and that would take effect again at once",
            code="shares",
            hint="change it in the policy first",
        )
    notes = on_delta(allowed, None if policy is None else policy.protected.people)
    store = open_ledger(folder, None if policy is None else policy.mark)
    if store is None:
        raise Refused(
            "nothing was asked yet, so there is no budget to change",
            code="ledger-missing",
            hint="the first question sets it: --budget 5" if policy is None else "write it into the policy",
        )
    with store:
        if shares == "common":  # first, as it makes room
            store.share(shares, common=yes)
        if wanted is not None:
            _set_cap(store, wanted, allowed, analyst, yes)
        if shares is not None:
            store.share(shares)
        return (*notes, *promised(store))


def _set_cap(store: "Store", wanted: Fraction, allowed: Fraction | None, analyst: str | None, yes: bool) -> None:
    from discreet.curator.money import cap_of

    totals = store.standing(analyst)
    cap = cap_of(totals.accountant, wanted, totals.budget.exact[1] if allowed is None else allowed)
    try:
        store.set_cap(cap, analyst, higher=yes)
    except Refused as refused:
        if refused.code != "cap-higher":
            raise
        raise Refused(
            f"a total of ε = {float(wanted):.6g} lets more be learned about everyone than was promised",
            code=refused.code,
            hint="add --yes if that is meant",
        ) from None


def on_delta(delta: Fraction | None, people: int | None = None) -> tuple[str, ...]:
    """A word on a δ that is large; one that promises nothing to the declared people is Refused."""
    from discreet.curator.policy import advice_on
    from discreet.privacy.advice import Verdict

    advice = None if delta is None else advice_on(delta, people)
    return () if advice is None or advice.verdict is Verdict.FINE else (advice.sentence,)


FIRST = 'who asks first has what is left, and is seen by the others; shares = "reserved" in [budget] keeps each cap for its analyst'


def promised(store: "Store") -> tuple[str, ...]:
    """A word on caps of analysts that are more than the total, where they share it."""
    from discreet.curator.amounts import Cap
    from discreet.curator.money import overdrawn

    totals = store.standing()
    caps = {name: account.cap for name, account in store.analysts().items() if account.active}
    over = overdrawn(caps, Cap(totals.cap, totals.budget)) if totals.shares == "common" else ""
    return (f"{over}: {FIRST}",) if over else ()
