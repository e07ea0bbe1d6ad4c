"""`discreet attack NAME`: an attack on exact answers and on private ones, its success beside what ε permits, and a picture of it.

Every attack runs on made-up people. What is slow to import is imported when the command runs.
"""

import json
from typing import Annotated

import typer

from discreet.cli.flags import number
from discreet.cli.out import writable_picture
from discreet.errors import Invalid
from discreet.exact import shown


def attack(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which attack; without it they are listed.")
    ] = None,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(metavar="E", help="The price of all that is released (averaging: of each answer). Repeatable."),
    ] = None,
    trials: Annotated[int | None, typer.Option(metavar="N", help="How often each release is attacked.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write a picture too, such as attack.svg.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Attack exact answers and private ones, and see how often it succeeds beside what epsilon permits.

    differencing, patient, averaging, changes, reconstruction, membership, float-bits, linkage.
    """
    from discreet.attacks import names, run

    if name is None:
        if epsilon or trials is not None or out is not None:
            raise Invalid("no attack is named", code="usage", hint=f"name one of {', '.join(names())}")
        tell_names(names(), as_json)
        return
    if name not in names():
        from discreet.plan.catalog import suggestion

        hint = suggestion(name, names(), "there are")
        raise Invalid(f"there is no attack {shown(name)}", code="usage", hint=hint)
    prices = None if not epsilon else [number(each, "epsilon") for each in epsilon]
    target = None if out is None else writable_picture(out)
    report = run(name, prices, trials)
    if target is not None:
        target.write_text(report.to_svg(), "utf-8")
    if as_json:
        print(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        print(f"{report}\n\n{report.draw()}\n\n█ right guesses, of 100 %   │ the most that is permitted")
    if report.broken:  # the report says which, and what that means
        raise typer.Exit(1)


def tell_names(names: dict[str, str], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"attacks": [{"name": name, "shows": shows} for name, shows in names.items()]}, indent=2))
        return
    width = max(map(len, names))
    for name, shows in names.items():
        print(f"{name:<{width}}  {shows}")
    print("\ndiscreet attack NAME runs it: on exact answers, and on private ones")
