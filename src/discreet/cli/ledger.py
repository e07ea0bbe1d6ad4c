"""`discreet ledger verify|export|accept|resume SOURCE`: look through the ledger, hand it to somebody who checks it, go on after a restore
or after failures."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.budget import amounts_said
from discreet.cli.flags import number
from discreet.cli.owner import store_to_read
from discreet.cli.source import place_at
from discreet.cli.waiting import waiting
from discreet.errors import Invalid, Refused
from discreet.exact import shown
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.acts import Creation
    from discreet.curator.policy import Policy

app = typer.Typer(help="The chain of rows that keeps the budget.")
Source = Annotated[
    str | None, typer.Argument(help="A data file, a policy or the folder of a ledger; ./discreet.toml if left out.")
]
Folder = Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the budget is kept.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LARGEST = 1 << 30  # bytes of an export that is read


@app.command()
def verify(
    source: Annotated[
        str | None, typer.Argument(help="A data file or a policy, or a file that `export` wrote.")
    ] = None,
    ledger: Folder = None,
    as_json: Json = False,
) -> None:
    """Compute every hash, price and total again. Needs no data: `discreet ledger verify export.json` is for anyone."""
    from discreet.curator.proof import proof_of, proof_of_export

    with waiting("computing every row again", as_json):
        if source is not None and source.casefold().endswith(".json"):
            proof = proof_of_export(_exported(Path(source)))
        else:
            with store_to_read(source, ledger, whole=False) as store:
                proof = proof_of(store)
    if as_json:
        print(json.dumps(proof.as_data(), indent=2))
        return
    amounts = proof.balance.as_data()
    print(
        f"{proof.rows:,} rows, each what follows from the rows before it; every price covers its event, every total is the sum"
    )
    print(f"spent: {amounts_said(amounts['spent'])} of {amounts_said(amounts['cap'])}")
    print(f"last row: {proof.last}; an export that was cut off has another one than the ledger")


def _exported(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise Invalid(f"there is no file {str(path)!r}", code="no-file")
    if path.stat().st_size > LARGEST:
        raise Invalid(f"the export {path.name!r} is too large", code="format")
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Invalid(
            f"{path.name!r} is no export of a ledger", code="format", hint="`discreet ledger export` writes one"
        )
    return document


@app.command()
def export(
    source: Source = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write it here; it must not exist yet.")] = None,
    ledger: Folder = None,
    as_json: Annotated[bool, typer.Option("--json", help="An export is JSON anyway.")] = False,
) -> None:
    """Write the whole ledger as JSON, without answers, so that somebody else can verify it."""
    with waiting("reading the ledger", out is None), store_to_read(source, ledger) as store:
        text = json.dumps(store.export())
    if out is None:
        print(text)
        return
    try:
        with open(out, "x", encoding="utf-8", opener=_for_the_owner) as file:
            file.write(text + "\n")
    except FileExistsError:
        raise Invalid(
            f"{out!r} is there already, and is not written over", code="out", hint="name another file"
        ) from None
    except OSError as error:
        raise Invalid(f"{out!r} cannot be written: {error.strerror}", code="out") from None
    print(
        json.dumps({"export": out})
        if as_json
        else f"wrote {visible(out)}; `discreet ledger verify {visible(out)}` checks it anywhere"
    )


def _for_the_owner(path: str, flags: int) -> int:
    """Questions and names are in it: the file is for whoever writes it, who may hand it on."""
    return os.open(path, flags, 0o600)


@app.command()
def accept(
    source: Source = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it is accepted; a row says so.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Yes, go on with this ledger.")] = False,
    unit: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of a data file whose ledger is gone: who is protected.")
    ] = None,
    row: Annotated[bool, typer.Option("--row", help="Instead: each row.")] = False,
    adjacency: Annotated[
        str, typer.Option(metavar="RELATION", help="Of such a file: add-remove or replace.")
    ] = "add-remove",
    budget: Annotated[str | None, typer.Option(metavar="E", help="Of such a file: the total from now on.")] = None,
    ledger: Folder = None,
    as_json: Json = False,
) -> None:
    """Go on although the ledger is older than its high-water mark, or gone. What was spent since is then not counted any more.

    A row of the ledger says why this was done.
    """
    from discreet.curator.accepting import accept_at, nothing_to_accept, refusal_of

    if yes:
        reason = _reason(reason, "the disk was replaced")
    policy, place = place_at(source, ledger)
    why = refusal_of(place)
    if why is None:
        raise nothing_to_accept()
    gone = not place.is_made()
    creation = _creation(policy, unit, row, adjacency, budget) if gone else None
    if reason is None or not yes:
        lost = "all that was ever spent is forgotten" if gone else "what was spent since is not counted any more"
        raise Refused(
            f"{why}; if it is accepted, {lost}",
            code="rollback",
            hint="bring the newest copy back instead; or add --reason TEXT --yes, and lower the budget by what may be missing",
        )
    proof = accept_at(place, reason, creation)
    amounts = proof.balance.as_data()
    if as_json:
        print(json.dumps({"rows": proof.rows, **amounts}, indent=2))
        return
    spent, cap = (amounts_said(amounts[name]) for name in ("spent", "cap"))
    print(f"accepted, and a row says why: {proof.rows:,} rows, spent {spent} of {cap}")


@app.command()
def resume(
    source: Source = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it may go on; a row says so.")] = None,
    analyst: Annotated[str | None, typer.Option(metavar="NAME", help="An analyst who is suspended.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Yes, go on.")] = False,
    ledger: Folder = None,
    as_json: Json = False,
) -> None:
    """Go on after questions that failed: ten stop the data set, three suspend their analyst. The count begins anew.

    Each failure told whoever asked one bit of the data that no budget pays for: look for the cause first.
    """
    reason = _reason(reason, "the disk was full")
    whose = "the data set" if analyst is None else f"analyst {shown(analyst)}"
    with store_to_read(source, ledger) as store:
        if not yes:
            raise Refused(
                f"{whose} goes on after questions that failed, each of which told one bit of the data",
                code="resume",
                hint="look for the cause first; then add --yes",
            )
        store.resume(reason, analyst)
    print(json.dumps({"resumed": analyst, "reason": reason}) if as_json else f"{whose} goes on, and a row says why")


def _reason(reason: str | None, example: str) -> str:
    if reason is None:
        raise Invalid("a reason is missing", code="usage", hint=f'add --reason "{example}"')
    return reason


def _creation(policy: "Policy | None", unit: str | None, row: bool, adjacency: str, budget: str | None) -> "Creation":
    from discreet.curator.accepting import creation_for
    from discreet.curator.budgets import EPSILON
    from discreet.curator.declaration import protected
    from discreet.curator.opening import creation_of

    if policy is not None:
        if row or unit is not None or budget is not None:
            raise Invalid(
                "who is protected and the budget are what the policy says", code="usage", hint="change it there"
            )
        return creation_of(policy)
    if unit is None and not row:
        raise Invalid(
            "the ledger is gone, and with it who is protected",
            code="unit",
            hint="say it again: --unit COLUMN, or --row",
        )
    epsilon = EPSILON if budget is None else number(budget, "budget")
    return creation_for(protected(unit, row=row, adjacency=adjacency), epsilon)
