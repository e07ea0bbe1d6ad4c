"""`discreet init visits.csv --unit patient_id`: a first policy, which loads and answers COUNT; the rest of it is for the owner to fill in.

This is the one command that looks at values: as the owner's act, once, at the beginning of a CSV, to suggest types. No value is written
down or printed.
"""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.flags import Flags, number
from discreet.cli.source import DELTA, EPSILON, POLICY, Kept, is_csv, is_policy, kept_in, ledger_of, located, table_name
from discreet.cli.waiting import waiting
from discreet.errors import Invalid, Refused
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.engines.framing import Framing
    from discreet.plan.scalar import Type

LOOKED = 10_000
"""Rows of a CSV that are looked at."""

BARE = re.compile(r"[A-Za-z0-9_-]+")
WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})")
CODE = re.compile(r"[+-]?0[0-9]")  # what starts with 0 is a code, not a number
# What is usually declared of a type, and what for.
EXAMPLES = {
    "integer": "bounds = [0, 100]",
    "number": "bounds = [0, 100]",
    "text": 'keys = ["A", "B"]',
    "date": "keys = [2024-01-01, 2024-01-02]",
    "boolean": "keys = [true, false]",
}
USES = {
    "integer": "to sum and average it; keys = [1, 2, 3] instead if it is a code, to group by it",
    "number": "to sum and average it",
}
# By its name alone: what a policy suggests does not come from values.
YEAR = re.compile(r"(^|[^a-z])(year|jahr|yr)([^a-z]|$)|(year|jahr)$")
YEARS = ("bounds = [1900, 2030]", "the first and the last year that can be meant: to group by it, and to average it")


@dataclass(frozen=True, slots=True)
class First:
    """What a first policy is made of."""

    data: Path
    out: Path
    table: str
    delimiter: str
    unit: str | None
    columns: "dict[str, Type]"
    guessed: bool  # the types; a Parquet or DuckDB file has them
    encoding: str | None  # of a CSV, where it was said
    garbled: bool  # whether a cell is not text in that encoding
    epsilon: Fraction
    kept: Kept | None
    ledger: Path


def init(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A CSV, Parquet or DuckDB file.")],
    unit: Annotated[str | None, typer.Option(metavar="COLUMN", help="Says who a row is about.")] = None,
    row: Annotated[bool, typer.Option("--row", help="Instead: every row is about another person.")] = False,
    out: Annotated[str, typer.Option(metavar="FILE", help="The policy to write.")] = str(POLICY),
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="The total budget (5).")] = None,
    delimiter: Annotated[str | None, typer.Option(metavar="CHARACTER", help="Between the fields of a CSV.")] = None,
    encoding: Annotated[str | None, typer.Option(metavar="NAME", help="Of a CSV (utf-8).")] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table inside of a DuckDB file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a first policy for a data file: it loads and answers COUNT, and shows what to fill in.

    discreet init visits.csv --unit patient_id
    """
    from discreet.curator.policy import Policy, catalog_of

    path, target = located(data), Path(out)
    _check(path, target, unit, row)
    with waiting(f"looking at {path.name}", as_json):
        first = _first(
            path, target, Flags(unit=unit, row=row, delimiter=delimiter, encoding=encoding, table=table), epsilon
        )
        text = written(first)
        _write(target, text)
    try:
        catalog_of(Policy.read(target))  # what was written loads
    except BaseException:
        target.unlink()
        raise
    if as_json:
        found = {name: kind.value for name, kind in first.columns.items()}
        told = {
            "policy": out,
            "table": first.table,
            "columns": found,
            "ledger": str(first.ledger),
            "goes_on": first.kept is not None,
            "garbled": first.garbled,
        }
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return
    print(f"wrote {visible(out)}; look at each line of it, above all at the types")
    if first.garbled:
        name = visible(first.encoding or "UTF-8")
        print(
            f"some cells are not {name} text, and lose those letters; if it has another encoding, say --encoding latin-1"
        )
    if first.kept is not None:
        spent, total = first.kept.spent, float(first.kept.epsilon)
        print(f"it goes on with the ledger {visible(str(first.ledger))}, in which {spent} is spent of ε = {total:.6g}")
    print()
    source = "" if target == POLICY else f" {visible(out)}"
    print(f"  discreet check{source}{' ' * 20}what is declared, and what is still missing")
    print(f'  discreet ask{source} "SELECT COUNT(*) AS n FROM {_identifier(first.table)}" --epsilon 0.1')


def _check(path: Path, target: Path, unit: str | None, row: bool) -> None:
    if is_policy(path):
        raise Invalid(f"{path.name!r} is a policy already", code="usage", hint="name the data file")
    if (unit is None) is not row:
        raise Invalid(
            "who is protected must be said once",
            code="unit",
            hint="--unit COLUMN names the column that says who a row is about; --row says that every row is about another person",
        )
    if not is_policy(target):
        raise Invalid(f"the policy {str(target)!r} must end in .toml", code="out", hint="write --out hospital.toml")
    if target.exists():
        raise _there(target)
    if not target.absolute().parent.is_dir():
        raise Invalid(f"{str(target)!r} cannot be written", code="out", hint="name a file in a folder that exists")


def _there(target: Path) -> Invalid:
    return Invalid(
        f"{str(target)!r} is there already, and is not written over", code="out", hint="name another one by --out"
    )


def _write(target: Path, text: str) -> None:
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise _there(target) from None
    except OSError as error:
        raise Invalid(f"{str(target)!r} cannot be written: {error.strerror}", code="out") from None


def _first(path: Path, target: Path, flags: Flags, epsilon: str | None) -> First:
    from discreet.engines.columns import stored_types
    from discreet.engines.framing import Framing
    from discreet.exact import positive

    framing = Framing(
        flags.delimiter or ("\t" if ".tsv" in path.name.casefold() else ","), encoding=flags.encoding or "utf-8"
    )
    found = looked_at(path, framing) if is_csv(path) else stored_types(path, flags.table)
    unit = None if flags.unit is None else _spelt(flags.unit, list(found))
    ledger = _ledger(path)
    kept = kept_in(ledger)
    if kept is not None:
        _check_kept(kept, unit, path)
    total = EPSILON if kept is None else kept.epsilon
    wanted = total if epsilon is None else positive(number(epsilon, "epsilon"), "epsilon")
    if kept is not None and wanted > total:
        raise Refused(
            f"the budget of this file is ε = {float(total):.6g} since its first question",
            code="budget-fixed",
            hint=f"leave --epsilon out; then `discreet budget set {path.name} --epsilon {epsilon} --yes`",
        )
    return First(
        data=path,
        out=target,
        table=flags.table or table_name(path),
        delimiter=framing.delimiter,
        unit=unit,
        columns=found,
        guessed=is_csv(path),
        encoding=flags.encoding,
        garbled=is_csv(path) and is_garbled(path, framing),
        epsilon=wanted,
        kept=kept,
        ledger=ledger,
    )


def _ledger(path: Path) -> Path:
    """The ledger of the file; where it has none beside it, the one that counts questions about it elsewhere."""
    from discreet.curator.places import is_made, others

    ledger = ledger_of(path, Flags())
    made = [] if is_made(ledger) else [other for other in others(path, ledger) if is_made(other)]
    return made[0] if len(made) == 1 else ledger


def _spelt(unit: str, names: list[str]) -> str:
    from discreet.plan.catalog import suggestion

    for name in names:
        if name.casefold() == unit.casefold():
            return name
    raise Invalid(f"column {unit!r} not found", code="unit", hint=suggestion(unit, names, "the columns are"))


def _check_kept(kept: Kept, unit: str | None, path: Path) -> None:
    column, _, _ = kept.unit
    if (column or "").casefold() != (unit or "").casefold():
        raise Refused(
            f"questions were asked of {path.name!r} already, and its ledger protects '{kept.relation}'",
            code="relation",
            hint="declare the same again: --row" if column is None else f"declare the same again: --unit {column}",
        )


def looked_at(path: Path, framing: "Framing") -> "dict[str, Type]":
    """What the first rows of a CSV look like, by column."""
    from discreet.engines.framing import header, records
    from discreet.plan.scalar import Type
    from discreet.plan.texts import day_in, number_in

    fits: dict[Type, Callable[[str], Any]] = {
        Type.INTEGER: WHOLE.fullmatch,
        Type.NUMBER: lambda cell: number_in(cell) is not None and not CODE.match(cell),
        Type.DATE: day_in,
        Type.BOOLEAN: lambda cell: cell.lower() in ("true", "false"),
    }
    names = header(path, framing)
    left: dict[str, list[Type]] = {name: list(fits) for name in names}
    filled: set[str] = set()
    for cells in islice(records(path, framing), LOOKED):
        for name, cell in zip(names, cells, strict=True):
            if cell and cell.strip():
                filled.add(name)
                left[name] = [kind for kind in left[name] if fits[kind](cell.strip())]
    return {name: (kinds or [Type.TEXT])[0] if name in filled else Type.TEXT for name, kinds in left.items()}


def is_garbled(path: Path, framing: "Framing") -> bool:
    """Whether a cell of the first rows of a CSV is not text in its encoding: then it holds U+FFFD."""
    from discreet.engines.framing import records

    return any("\ufffd" in cell for cells in islice(records(path, framing), LOOKED) for cell in cells if cell)


def written(first: First) -> str:
    """The text of the policy."""
    said = [
        f"# A first policy for {_text(first.data.name)}. It loads, and answers COUNT. Fill in what is commented out, from what is",
        "# known of such data, not from looking into them: whatever is taken from the data tells of them.",
        "",
        f"version = {_text(first.kept.version if first.kept else '1')}  # of the data; another one whenever they change",
        "",
        "[budget]  # the most that all questions together may cost",
        f"epsilon = {_plain(first.epsilon)}",
        f"delta = {_plain(first.kept.delta) if first.kept else f'{float(DELTA):g}'}  # well below one in the number of people",
        f'accountant = "{first.kept.accountant if first.kept else "pure"}"  # or {_other(first)}; fixed from the first question on',
        f'{_shares(first)}shares = "reserved"  # keep the budgets of analysts for them, whoever asks first',
        "",
        "[unit]  # who is protected; fixed from the first question on",
        "row = true  # each row is about another person" if first.unit is None else f"column = {_text(first.unit)}",
        f'adjacency = "{first.kept.unit[2] if first.kept else "add-remove"}"',
    ]
    if first.unit is not None:
        said += [
            "max_groups = 3  # groups that a person may count in, in one question",
            "max_rows = 5  # rows of a person that count in a group",
        ]
    said += [
        "# people = 50000  # about how many, if that is public: advice on delta, predicted errors of averages",
        "",
        f"[tables.{toml_key(first.table)}]",
        f"source = {_text(Path(os.path.relpath(first.data, first.out.parent)).as_posix())}",
    ]
    if first.delimiter != "," and first.guessed:
        said.append(f"delimiter = {_text(first.delimiter)}")
    if first.encoding is not None and first.guessed:
        said.append(f"encoding = {_text(first.encoding)}")
    if not first.guessed and first.table != table_name(first.data):
        said.append(f"table = {_text(first.table)}")
    said += ["", f"[tables.{toml_key(first.table)}.columns]", *_columns(first)]
    said += [
        "",
        "# [analysts.ana]  # who asks by --as ana, and how much of the budget that is at most",
        "# epsilon = 1",
        "",
        "[ledger]  # where the budget is kept",
        f"path = {_text(Path(os.path.relpath(first.ledger, first.out.parent)).as_posix())}",
        "",
    ]
    return "\n".join(said)


def _shares(first: First) -> str:
    return "" if first.kept is not None and first.kept.shares == "reserved" else "# "


def _other(first: First) -> str:
    zcdp = '"zcdp", for many questions with Gaussian noise'
    return zcdp if first.kept is None or first.kept.accountant == "pure" else '"pure"'


def _columns(first: First) -> list[str]:
    found = [
        f"# The types are {'a guess' if first.guessed else 'those of the file, which the data may have made'}: check them. Values that do",
        "# not fit the type of their column count as missing, and a column that is not here is text, for the owner alone.",
    ]
    for name, kind in first.columns.items():
        key = toml_key(name)
        if name == first.unit:
            found.append(f"# {key} says who a row is about; it is compared as text")
            continue
        is_year = kind.value == "integer" and YEAR.search(name.casefold())
        example, use = YEARS if is_year else (EXAMPLES[kind.value], USES.get(kind.value, "to group by it"))
        found.append(f'{key} = {{ type = "{kind.value}" }}')
        found.append(f'# {key} = {{ type = "{kind.value}", {example} }}  # {use}')
    return found


def toml_key(name: str) -> str:
    return name if BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(value: Fraction) -> str:
    return format((Decimal(value.numerator) / Decimal(value.denominator)).normalize(), "f")


def _identifier(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
