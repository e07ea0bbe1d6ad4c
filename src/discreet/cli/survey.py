"""`discreet survey SOURCE --epsilon 2`: a private profile, once, for everybody: what the columns hold, and how much a person has."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.flags import Flags, number, with_flags
from discreet.cli.out import new_file
from discreet.cli.source import curator_of
from discreet.cli.waiting import waiting
from discreet.errors import Fault, Invalid

if TYPE_CHECKING:
    from pathlib import Path


@with_flags
def survey(
    flags: Flags,
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="What the survey may cost; 2 is usual.")] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="D", help="Its delta (1e-7); with 0 no keys are looked for.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="The columns to ask about (all that are not declared).")
    ] = None,
    of: Annotated[
        str | None, typer.Option("--of", metavar="TABLE", help="The table, where a policy has several.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="A page with pictures (HTML); it must not exist yet.")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only tell what it releases and how fine; nothing is read or spent.")
    ] = False,
    analyst: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Charge this analyst; the facts are theirs alone.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Survey a table, as its owner: people, rows of a person, and of each column its type, keys or range; private, for everybody.

    discreet survey visits.csv --unit patient_id --epsilon 2 --out profile.html
    """
    if epsilon is None:
        raise Invalid(
            "the price is missing",
            code="usage",
            hint="--epsilon 2 is usual for a survey; --preview shows how fine it is",
        )
    target = None if out is None else new_file(out, ".html")
    price, small = number(epsilon, "epsilon"), None if delta is None else number(delta, "delta")
    names = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    with waiting("surveying", as_json), curator_of(source, flags.without_limits(), as_json) as curator:
        if preview:
            coming = curator.survey_preview(price, small, columns=names, table=of, analyst=analyst)
            print(json.dumps(coming.to_json(), ensure_ascii=False, indent=2) if as_json else coming)
            return
        facts = curator.survey(price, small, columns=names, table=of, analyst=analyst)
        left = curator.budgets(analyst).whole.remaining
    if target is not None:
        _write(target, facts.to_html())
    if as_json:
        print(json.dumps(facts.to_json(), ensure_ascii=False, indent=2))
        return
    print(facts)
    print(f"left: {left}")
    if target is not None:
        print(f"wrote {target}", file=sys.stderr)


def _write(target: "Path", text: str) -> None:
    """The survey is charged by now, and kept."""
    try:
        target.write_text(text, "utf-8")
    except OSError as error:
        raise Fault(
            f"{str(target)!r} cannot be written: {error.strerror}",
            code="out",
            hint="what was charged stays charged, and the facts are kept: the same survey again is free",
        ) from None
