"""`discreet describe SOURCE`: what an analyst may know. All of it is declared, or was released by a survey."""

import json
from typing import Annotated

import typer

from discreet.cli.flags import Flags, with_flags
from discreet.cli.source import located, policy_of


@with_flags
def describe(
    flags: Flags,
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    analyst: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Show what is left for this analyst.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What may be asked about: tables, columns, bounds, keys, who is protected, and the budget that is left."""
    from discreet.curator.catalog import catalog_of
    from discreet.curator.description import described_at
    from discreet.curator.place import place_of

    path = located(source)
    policy = policy_of(path, flags)
    description = described_at(place_of(policy, path, flags.ledger), policy, catalog_of(policy)[0], analyst)
    print(json.dumps(description.as_data(), ensure_ascii=False, indent=2) if as_json else description)
