"""`discreet data changed SOURCE`: the owner says that the data are other ones now. Answers to old questions are then computed anew."""

import json
import re
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.owner import declared
from discreet.cli.source import is_policy, open_ledger
from discreet.errors import Refused
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.store import Store

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
    path, policy, folder = declared(source, ledger)
    store = open_ledger(folder, policy.mark)
    with nullcontext() if store is None else store:
        used = [policy.version] if store is None else versions(store)
        if policy.version not in used:  # written into the policy, and not yet read as such
            used.append(policy.version)
        new = following(used) if version is None else version
        if new in used:
            raise Refused(
                f"version {new!r} of the data was there before",
                code="data-version",
                hint=f"data that changed take a version that was not used before, such as {following(used)}",
            )
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


def versions(store: "Store") -> list[str]:
    """Every version that the data had, oldest first."""
    from discreet.curator.acts import Creation, DataChanged

    return [row.act.version for row in store.history() if isinstance(row.act, Creation | DataChanged)]


def following(used: list[str]) -> str:
    """The version after the last one, which was not used before.

    >>> following(["1"]), following(["2024-09", "2024-10"]), following(["summer"]), following(["1", "3", "2"])
    ('2', '2024-11', 'summer-2', '4')
    """
    name = used[-1]
    while name in used:
        digits = re.search(r"[0-9]+$", name)
        if digits is None:
            name = f"{name}-2"
        else:
            name = name[: digits.start()] + str(int(digits[0]) + 1).zfill(len(digits[0]))
    return name
