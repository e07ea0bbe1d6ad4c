"""`discreet rehearse SOURCE`: what the owner may look at before anybody asks, on the owner's terminal. Nothing is spent or recorded."""

import json
import sys
from typing import Annotated

import typer

from discreet.cli.flags import Flags, number, with_flags
from discreet.cli.source import curator_of
from discreet.cli.waiting import waiting
from discreet.errors import Refused


@with_flags
def rehearse(
    flags: Flags,
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    epsilon: Annotated[str, typer.Option(metavar="E", help="The price that draws are made for; nobody pays it.")] = "1",
    yes: Annotated[bool, typer.Option("--yes", help="Yes, print exact numbers to where I send them.")] = False,
    analyst: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Refused: a rehearsal is for the owner alone.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at the data, as their owner: what declarations leave out, and standard questions exact beside private. Not to be published.

    discreet rehearse visits.csv --unit patient_id --bounds age=0:120
    """
    check_alone(analyst, yes, sys.stdout.isatty())
    price = number(epsilon, "epsilon")
    with waiting("looking at the data", as_json), curator_of(source, flags.without_limits(), as_json) as curator:
        rehearsal = curator.rehearse(price, **flags.limits)
    print(json.dumps(rehearsal.as_data(), ensure_ascii=False, indent=2) if as_json else rehearsal)


def check_alone(analyst: str | None, yes: bool, terminal: bool) -> None:
    """For the owner at a terminal, or who says yes: returns. For anyone else: raises Refused, before anything is opened."""
    if analyst is not None:
        raise Refused(
            "a rehearsal shows exact numbers of the data, and is for the owner alone, not for a named analyst",
            code="owner-alone",
            hint="leave --as out; `discreet describe --as NAME` shows what an analyst may know",
        )
    if not terminal and not yes:
        raise Refused(
            "a rehearsal shows exact numbers of the data, which must not be published, and this is not a terminal",
            code="not-a-terminal",
            hint="run it in a terminal, or add --yes where nobody else reads what is printed",
        )
