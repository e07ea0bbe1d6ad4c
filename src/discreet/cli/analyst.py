"""`discreet analyst add SOURCE NAME --epsilon 1` and `discreet analyst remove SOURCE NAME`: who may ask, and how much that may cost."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.budget import picture
from discreet.cli.flags import number
from discreet.cli.owner import source_and, store_to_change
from discreet.errors import Invalid

if TYPE_CHECKING:
    from discreet.curator.budgets import Analyst

app = typer.Typer(help="Let analysts ask, each with a budget of their own; or no longer.")
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE] NAME", help="A data file or a policy; ./discreet.toml if left out.", show_default=False
    ),
]
Ledger = Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the budget is kept.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def add(
    words: Words = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="The most that their questions may cost together.")
    ] = None,
    delta: Annotated[str, typer.Option(metavar="D", help="And the delta of it.")] = "0",
    yes: Annotated[bool, typer.Option("--yes", help="For who was removed before: yes, with a higher budget.")] = False,
    ledger: Ledger = None,
    as_json: Json = False,
) -> None:
    """Let an analyst ask, by `ask --as NAME`. What they spend is charged to the data set too.

    discreet analyst add hospital.toml ana --epsilon 1
    """
    from discreet.curator.budgets import add_analyst

    source, name = source_and(words, "a name", "discreet analyst add hospital.toml ana --epsilon 1")
    if epsilon is None:
        raise Invalid("the budget of the analyst is missing", code="usage", hint="write --epsilon 1")
    wanted, allowed = number(epsilon, "epsilon"), number(delta, "delta")
    with store_to_change(source, ledger, as_json) as store:
        _tell(add_analyst(store, name, wanted, allowed, higher=yes), "may ask", as_json)


@app.command()
def remove(words: Words = None, ledger: Ledger = None, as_json: Json = False) -> None:
    """No new question by an analyst from now on. What they have spent stays spent."""
    from discreet.curator.budgets import remove_analyst

    source, name = source_and(words, "a name", "discreet analyst remove hospital.toml ana")
    with store_to_change(source, ledger, as_json) as store:
        _tell(remove_analyst(store, name), "may not ask any more", as_json)


def _tell(analyst: "Analyst", what: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps(analyst.as_data(), ensure_ascii=False, indent=2))
        return
    print(f"{analyst.name} {what}")
    for line in (*picture(analyst.name, analyst.balance.as_data()), *(f"note: {note}" for note in analyst.notes)):
        print(line)
