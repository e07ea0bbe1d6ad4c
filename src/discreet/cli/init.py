"""`discreet init visits.csv --unit patient_id`: a first policy, which loads and answers COUNT; the rest of it is for the owner to fill in.

It looks at values as the owner's act, once, at the beginning of a CSV, to suggest types. No value is written down or printed; what the
owner may see of the data is shown by `rehearse`.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.flags import optional_number
from discreet.cli.source import POLICY, is_policy, located
from discreet.cli.waiting import waiting
from discreet.errors import Invalid
from discreet.plan.visible import visible


def init(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A CSV, Parquet or DuckDB file.")],
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="Says who a row is about.")] = None,
    row: Annotated[bool, typer.Option("--row", help="Instead: every row is about another person.")] = False,
    out: Annotated[str, typer.Option(metavar="FILE", help="The policy to write.")] = str(POLICY),
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="The total budget (5).")] = None,
    delimiter: Annotated[str | None, typer.Option(metavar="CHARACTER", help="Between the fields of a CSV.")] = None,
    encoding: Annotated[str | None, typer.Option(metavar="NAME", help="Of a CSV (utf-8).")] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table inside of a DuckDB file.")] = None,
    from_survey: Annotated[
        bool, typer.Option("--from-survey", help="Declare what surveys have released; no value is looked at.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a first policy for a data file: it loads and answers COUNT, and shows what to fill in.

    discreet init visits.csv --unit patient_id
    """
    from discreet.curator.catalog import catalog_of
    from discreet.curator.first_policy import first_policy
    from discreet.curator.policy import Policy
    from discreet.curator.policy_text import save

    path, target = located(data), Path(out)
    _check(path, target)
    with waiting(f"looking at {path.name}", as_json):
        total = optional_number(epsilon, "epsilon")
        first = first_policy(
            path,
            target,
            unit,
            row=row,
            epsilon=total,
            delimiter=delimiter,
            encoding=encoding,
            table=table,
            surveyed=from_survey,
        )
        save(first.text, target)
    try:
        catalog_of(Policy.read(target))  # what was written loads
    except BaseException:
        target.unlink()
        raise
    if as_json:
        print(json.dumps(first.as_data(), ensure_ascii=False, indent=2))
        return
    print(f"wrote {visible(out)}; look at each line of it, above all at the types")
    if first.garbled:
        name = visible(first.encoding or "UTF-8")
        print(
            f"some cells are not {name} text, and lose those letters; if it has another encoding, say --encoding latin-1"
        )
    for note in first.notes:
        print(f"note: {note}")
    if first.remembered is not None:
        spent, before = first.remembered.spent, float(first.remembered.epsilon)
        print(f"it goes on with the ledger {visible(str(first.ledger))}, in which {spent} is spent of ε = {before:.6g}")
    print()
    source = "" if target == POLICY else f" {visible(out)}"
    print(f"  discreet check{source}{' ' * 20}what is declared, and what is still missing")
    print(f'  discreet ask{source} "SELECT COUNT(*) AS n FROM {_identifier(first.table)}" --epsilon 0.1')


def _check(path: Path, target: Path) -> None:
    from discreet.curator.policy_text import there_already

    if is_policy(path):
        raise Invalid(f"{path.name!r} is a policy already", code="usage", hint="name the data file")
    if not is_policy(target):
        raise Invalid(f"the policy {str(target)!r} must end in .toml", code="out", hint="write --out hospital.toml")
    if target.exists():
        raise there_already(target)
    if not target.absolute().parent.is_dir():
        raise Invalid(f"{str(target)!r} cannot be written", code="out", hint="name a file in a folder that exists")


def _identifier(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
