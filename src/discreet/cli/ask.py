"""`discreet ask SOURCE "SQL" --epsilon 1`: the private answer to a question, with its error. `discreet explain`: how it is made."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.flags import Flags, accuracy, number, optional_number, parameters, prices, with_flags
from discreet.cli.out import check_sources, writable
from discreet.cli.source import curator_of, is_policy, located, split
from discreet.cli.waiting import waiting
from discreet.errors import DiscreetError, Fault, Invalid

if TYPE_CHECKING:
    from discreet.curator.session import Curator

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE] SQL",
        help="A data file or a policy (./discreet.toml if left out), and the question.",
        show_default=False,
    ),
]
Epsilon = Annotated[str | None, typer.Option(metavar="E", help="What the answer may cost.")]
Within = Annotated[
    list[str] | None,
    typer.Option(
        metavar="W",
        help="Instead: pay the least for an error of ±W; 5% of each number; n=25, by columns. Repeatable.",
    ),
]
Confidence = Annotated[str | None, typer.Option(metavar="C", help="Of every ± (0.95).")]
Delta = Annotated[str | None, typer.Option(metavar="D", help="The delta of this question, spent only if needed: 1e-8.")]
Param = Annotated[
    list[str] | None,
    typer.Option(metavar="VALUE", help="For a ? in the question; NAME=VALUE for a :name. Repeatable."),
]
As = Annotated[str | None, typer.Option("--as", metavar="NAME", help="The analyst whose budget is charged too.")]
Part = Annotated[
    str | None, typer.Option(metavar="NAME", help="Ask about the people of this part alone, and pay there.")
]
Population = Annotated[
    bool, typer.Option("--population", help="Each ± is for the people who were sampled, too, at a part of the price.")
]
Simultaneous = Annotated[bool, typer.Option("--simultaneous", help="All ± of the answer hold at once.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@with_flags
def ask(
    flags: Flags,
    words: Words = None,
    epsilon: Epsilon = None,
    within: Within = None,
    confidence: Confidence = None,
    delta: Delta = None,
    param: Param = None,
    analyst: As = None,
    part: Part = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only tell price and error; nothing is read or spent.")
    ] = False,
    population: Population = False,
    simultaneous: Simultaneous = False,
    derived: Annotated[
        bool,
        typer.Option(
            "--derived", help="Only what follows from your earlier answers, for nothing; --within may go with it."
        ),
    ] = False,
    quote: Annotated[
        str | None, typer.Option(metavar="E,E,…", help="Only tell the error at each of these prices: 0.1,0.3,1.")
    ] = None,
    cite: Annotated[bool, typer.Option("--cite", help="Print what may be published under the table, too.")] = False,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the answer to this CSV file too.")] = None,
    as_json: Json = False,
) -> None:
    """Ask a question in SQL, and get a private answer with its error.

    discreet ask visits.csv "SELECT ward, COUNT(*) FROM visits GROUP BY ward" --unit patient_id --keys ward=A,B,C --epsilon 1
    """
    source, text = split(words)
    _check_one_of(quote, epsilon, within, preview, cite, out)
    _check_derived(derived, epsilon, confidence, delta, preview, quote, population or simultaneous)
    if epsilon is None and not within and quote is None and not derived:
        raise _price_missing(source, flags)
    terms = _price(epsilon, within, delta, confidence) | flags.limits | _intervals(population, simultaneous)
    quoted = None if quote is None else prices(quote)
    bound = parameters(param)
    with waiting("asking", as_json), curator_of(source, flags.without_limits(), as_json) as curator:
        target = None if out is None else _writable(out, source, curator)
        if quoted is not None:
            show(curator.quote(text, bound, epsilons=quoted, **terms, analyst=analyst, part=part), as_json)
            return
        if preview:
            show(curator.preview(text, bound, **terms, analyst=analyst, part=part), as_json)
            return
        answer = (
            curator.derive(text, bound, within=terms["within"], analyst=analyst, part=part, **flags.limits)
            if derived
            else curator.sql(text, bound, **terms, analyst=analyst, part=part)
        )
    if target is not None:
        _write(target, answer.to_csv() or "")
    show(answer, as_json, answer.cite() if cite else "")


@with_flags
def explain(
    flags: Flags,
    words: Words = None,
    epsilon: Epsilon = None,
    within: Within = None,
    confidence: Confidence = None,
    delta: Delta = None,
    param: Param = None,
    analyst: As = None,
    part: Part = None,
    population: Population = False,
    simultaneous: Simultaneous = False,
    as_json: Json = False,
) -> None:
    """Show how a question would be answered: what is counted, with which noise, at which price. Nothing is read or spent.

    The price is that of epsilon 1 where none is said.
    """
    source, text = split(words)
    terms = _price("1" if epsilon is None and not within else epsilon, within, delta, confidence) | flags.limits
    terms |= _intervals(population, simultaneous)
    with curator_of(source, flags.without_limits()) as curator:
        found = curator.explain(text, parameters(param), **terms, analyst=analyst, part=part)
    if as_json:
        found = json.dumps({"question": text, "plan": found.splitlines()}, ensure_ascii=False, indent=2)
    print(found)


def _check_one_of(
    quote: str | None, epsilon: str | None, within: list[str] | None, preview: bool, cite: bool, out: str | None
) -> None:
    """A quote has prices of its own, and neither it nor a preview has an answer."""
    others = {"--epsilon": epsilon is not None, "--within": bool(within), "--preview": preview}
    others |= {"--cite": cite, "--out": out is not None}
    wrong = [name for name, given in others.items() if given]
    if quote is not None and wrong:
        raise Invalid(f"--quote and {wrong[0]} exclude each other", code="usage", hint="give one of them")
    if preview and cite:
        raise Invalid("--preview and --cite exclude each other", code="usage", hint="there is no answer to cite yet")


def _check_derived(
    derived: bool,
    epsilon: str | None,
    confidence: str | None,
    delta: str | None,
    preview: bool,
    quote: str | None,
    intervals: bool,
) -> None:
    given = any(each is not None for each in (epsilon, confidence, delta, quote))
    if derived and (given or preview or intervals):
        raise Invalid(
            "--derived has no price, nothing to preview, and the ± of each number for its noise, at 95 %",
            code="usage",
            hint="leave --epsilon, --delta, --confidence, --preview, --quote, --population and --simultaneous out",
        )


def _price(epsilon: str | None, within: list[str] | None, delta: str | None, confidence: str | None) -> dict[str, Any]:
    if epsilon is not None and within:
        raise Invalid("--epsilon and --within exclude each other", code="usage", hint="give one of them")
    return {
        "epsilon": optional_number(epsilon, "epsilon"),
        "within": accuracy(within),
        "confidence": optional_number(confidence, "confidence"),
        "delta": None if delta is None else number(delta, "delta"),
    }


def _intervals(population: bool, simultaneous: bool) -> dict[str, Any]:
    """What intervals are for, where that is not the noise of each number by itself."""
    return {"population": population or None, "simultaneous": simultaneous or None}


def _price_missing(source: str | None, flags: Flags) -> Invalid:
    """What is missing is told at once: at the first question about a data file that is also who is protected."""
    from discreet.curator.data_file import DataFile, unit_missing

    price = "--epsilon 1 says what the answer may cost, --within 25 how far off it may be; --preview shows either first"
    price += ", --quote 0.1,0.3,1 the error at each of these prices"
    with suppress(DiscreetError):  # what else is wrong with a source is told once there is a price
        path = located(source)
        if not is_policy(path) and DataFile(path, flags.unit, flags.row, ledger=flags.ledger).is_new:
            return Invalid(
                "the price is missing, and who is protected", code="usage", hint=f"{price}; {unit_missing().hint}"
            )
    return Invalid("the price is missing", code="usage", hint=price)


def show(found: Any, as_json: bool, citation: str = "") -> None:
    """An answer, a preview or a quote: as JSON, with colours and bars in a terminal, else as plain text; below it what may be published."""
    if as_json:
        cited = {"citation": citation} if citation else {}
        print(json.dumps({**found.to_json(), **cited}, ensure_ascii=False, indent=2))
        return
    if sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(found)
    else:
        print(found)
    if citation:
        print(f"\n{citation}")


def _writable(out: str, source: str | None, curator: "Curator") -> Path:
    """Where the answer may be written. Looked at before anything is spent; neither data nor policy is ever written over."""
    target = writable(out)
    check_sources(target, source, curator)
    return target


def _write(target: Path, text: str) -> None:
    """The answer is charged by now, and kept."""
    try:
        target.write_text(text, "utf-8", newline="")
    except OSError as error:
        raise Fault(
            f"{str(target)!r} cannot be written: {error.strerror}",
            code="out",
            hint="what was charged stays charged, and the answer is kept: asking again is free",
        ) from None
