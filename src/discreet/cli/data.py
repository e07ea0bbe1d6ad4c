"""`discreet data changed SOURCE`: the owner says that the data are other ones now. Answers to old questions are then computed anew."""

import json
from contextlib import nullcontext
from typing import Annotated

import typer

from discreet.cli.owner import declared
from discreet.cli.source import is_policy
from discreet.plan.visible import visible

app = typer.Typer(help="Versions of the data.")


@app.command()
def changed(
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    version: Annotated[
        str | None, typer.Option(metavar="V", help="The new version; the next number if left out.")
    ] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the budget is kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The data have changed: old answers are no longer given again, and the budget goes on.

    For a policy it prints the line to change; it is never changed behind the owner's back.
    """
    from discreet.curator.versions import next_version, versions_in

    path, policy, place = declared(source, ledger)
    store = place.look()
    with nullcontext() if store is None else store:
        used = [policy.version] if store is None else versions_in(store)
        if policy.version not in used:  # written into the policy, and not yet read as such
            used.append(policy.version)
        new = next_version(used, version)
        if store is not None and not is_policy(path):
            store.change_data(new)
    line = f"version = {json.dumps(new, ensure_ascii=False)}"
    if as_json:
        done = {
            "version": new,
            "previous": used[-1],
            "done": not is_policy(path),
            "line": line if is_policy(path) else None,
        }
        print(json.dumps(done, ensure_ascii=False, indent=2))
    elif is_policy(path):
        print(
            f"in {visible(str(path))} change the version, which is {used[-1]!r}, to\n\n  {line}\n\n"
            "The next question reads the data as that version."
        )
    else:
        print(f"the data have version {visible(new)} now, after {used[-1]}; the budget goes on")
