"""A first policy for a data file, which loads and answers COUNT; the rest of it is for the owner to fill in.

It looks at values as the owner's act, once, at the beginning of a CSV, to suggest types. No value is written down or told. Beside it a
rehearsal alone looks at values outside of a question.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

from discreet.accountant import Accountant
from discreet.curator.budgets import DELTA, EPSILON
from discreet.curator.data_file import Remembered, delimiter_of, remembered_at, table_name
from discreet.curator.facts import Known, known_at
from discreet.curator.place import place_of
from discreet.curator.places import is_made, ledger_beside, others
from discreet.curator.policy_text import key, number, text
from discreet.curator.review import example_for
from discreet.curator.survey.declaring import column_lines, unit_lines
from discreet.engines.base import CSV
from discreet.engines.columns import stored_types
from discreet.engines.framing import PACKED, Framing, header, records
from discreet.errors import Invalid, Refused
from discreet.exact import positive
from discreet.plan.catalog import suggestion
from discreet.plan.scalar import Type
from discreet.plan.texts import day_in, moment_in, number_in
from discreet.privacy.advice import note_on_epsilon

LOOKED = 10_000
"""Rows of a CSV that are looked at."""

LIMITS = (
    "# How much of one person counts. Where nobody declares a limit, it is found for the question, and paid for out of its price.",
    "# Declare what is known of such data: what is beyond a limit is cut off, and a larger limit needs more noise.",
    "# max_total = 100  # rows that a person counts with, in one question",
    "# max_rows = 20  # rows that a person counts with, in one group",
    '# max_groups = 3  # groups that a person counts in; or of one column: ward = { keys = ["A", "B"], max_groups = 1 }',
)
"""What is said of limits: none is written, since nobody has chosen one."""

WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})")
CODE = re.compile(r"[+-]?0[0-9]")  # what starts with 0 is a code, not a number


@dataclass(frozen=True, slots=True)
class FirstPolicy:
    """What a first policy is made of, and where it is to lie."""

    data: Path
    out: Path
    table: str
    delimiter: str
    unit: str | None
    columns: dict[str, Type]
    guessed: bool  # the types; a Parquet or DuckDB file has them
    encoding: str | None  # of a CSV, where it was said
    garbled: bool  # whether a cell is not text in that encoding
    epsilon: Fraction
    remembered: Remembered | None
    ledger: Path
    known: Known | None = None  # where types, keys and bounds are those of surveys; then no value was looked at

    @property
    def text(self) -> str:
        """What is written."""
        return _written(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of its budget."""
        return note_on_epsilon(self.epsilon, in_all=True)

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "policy": str(self.out),
            "table": self.table,
            "columns": {name: kind.value for name, kind in self.columns.items()},
            "ledger": str(self.ledger),
            "goes_on": self.remembered is not None,
            "garbled": self.garbled,
            "notes": list(self.notes),
        }


def first_policy(
    data: Path,
    out: Path,
    unit: str | None = None,
    *,
    row: bool = False,
    epsilon: Fraction | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    surveyed: bool = False,
) -> FirstPolicy:
    """A first policy for a data file, to lie at `out`, which goes on with the budget that the file has, if it has one.

    Who is protected is said by the column `unit`, or with row=True each row is about another person. With `surveyed` what is declared is
    what surveys have released for everybody, of whomever their ledger protects; no value is looked at.
    """
    ledger = _ledger(data)
    remembered = remembered_at(place_of(None, data, ledger))
    known = _surveys(data, ledger, remembered) if surveyed else None
    if surveyed and remembered is not None and unit is None and not row:
        unit, row, _ = remembered.unit
    if (unit is None) is not row:
        raise Invalid(
            "who is protected must be said once",
            code="unit",
            hint="--unit COLUMN names the column that says who a row is about; --row says that every row is about another person",
        )
    framing = Framing(delimiter or delimiter_of(data), encoding=encoding or "utf-8")
    columns = _columns_of(data, framing, table, known)
    column = None if unit is None else _spelt(unit, list(columns))
    if remembered is not None:
        _check_remembered(remembered, column, data)
    total = EPSILON if remembered is None else remembered.epsilon
    budget = total if epsilon is None else positive(epsilon, "epsilon")
    if remembered is not None and budget > total:
        raise Refused(
            f"the budget of this file is ε = {float(total):.6g} since its first question",
            code="budget-fixed",
            hint=f"leave --epsilon out; then `discreet budget set {data.name} --epsilon {float(budget):.6g} --yes`",
        )
    return FirstPolicy(
        data=data,
        out=out,
        table=table or table_name(data),
        delimiter=framing.delimiter,
        unit=column,
        columns=columns,
        guessed=is_csv(data),
        encoding=encoding,
        garbled=known is None and is_csv(data) and is_garbled(data, framing),
        epsilon=budget,
        remembered=remembered,
        ledger=ledger,
        known=known,
    )


def _surveys(data: Path, ledger: Path, remembered: Remembered | None) -> Known:
    """What surveys have told everybody of a data file; Invalid where there is none."""
    known = None if remembered is None else known_at(place_of(None, data, ledger), remembered.version)
    if known is None or known.table(table_name(data)) is None:
        raise Invalid(
            f"no survey was taken of {data.name!r}",
            code="survey",
            hint=f"`discreet survey {data.name} --unit COLUMN --epsilon 2` takes one",
        )
    return known


def _columns_of(data: Path, framing: Framing, table: str | None, known: Known | None) -> dict[str, Type]:
    """The columns, as they were surveyed, or as they look."""
    if known is None:
        return looked_at(data, framing) if is_csv(data) else stored_types(data, table)
    names = header(data, framing) if is_csv(data) else list(stored_types(data, table))
    facts = {name: known.column(table or table_name(data), name) for name in names}
    return {name: Type.TEXT if fact is None else fact.column.type for name, fact in facts.items()}


def is_csv(path: Path) -> bool:
    """Whether a data file is a CSV, by its name."""
    return path.name.casefold().removesuffix(PACKED).endswith(CSV)


def _ledger(path: Path) -> Path:
    """The ledger of the file; where it has none beside it, the one that counts questions about it elsewhere."""
    ledger = ledger_beside(path)
    made = [] if is_made(ledger) else [other for other in others(path, ledger) if is_made(other)]
    return made[0] if len(made) == 1 else ledger


def _spelt(unit: str, names: list[str]) -> str:
    for name in names:
        if name.casefold() == unit.casefold():
            return name
    raise Invalid(f"column {unit!r} not found", code="unit", hint=suggestion(unit, names, "the columns are"))


def _check_remembered(remembered: Remembered, unit: str | None, path: Path) -> None:
    column, _, _ = remembered.unit
    if (column or "").casefold() != (unit or "").casefold():
        raise Refused(
            f"questions were asked of {path.name!r} already, and its ledger protects '{remembered.relation}'",
            code="relation",
            hint="declare the same again: --row" if column is None else f"declare the same again: --unit {column}",
        )


def looked_at(path: Path, framing: Framing) -> dict[str, Type]:
    """What the first rows of a CSV look like, by column."""
    fits: dict[Type, Callable[[str], Any]] = {
        Type.INTEGER: WHOLE.fullmatch,
        Type.NUMBER: lambda cell: number_in(cell) is not None and not CODE.match(cell),
        Type.TIMESTAMP: lambda cell: ":" in cell and moment_in(cell) is not None,
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


def is_garbled(path: Path, framing: Framing) -> bool:
    """Whether a cell of the first rows of a CSV is not text in its encoding: then it holds U+FFFD."""
    return any("\ufffd" in cell for cells in islice(records(path, framing), LOOKED) for cell in cells if cell)


def _written(first: FirstPolicy) -> str:
    """The text of the policy."""
    accountant = first.remembered.accountant if first.remembered else Accountant.PURE
    lines = [
        *_heading(first),
        "",
        f"version = {text(first.remembered.version if first.remembered else '1')}  # of the data; another one whenever they change",
        "",
        "[budget]  # the most that all questions together may cost",
        f"epsilon = {number(first.epsilon)}",
        f"delta = {number(first.remembered.delta) if first.remembered else f'{float(DELTA):g}'}  # well below one in the number of people",
        f'accountant = "{accountant}"  # or {_other(first)}; fixed from the first question on',
        f'{_shares(first)}shares = "reserved"  # keep the budgets of analysts for them, whoever asks first',
        "",
        "[unit]  # who is protected; fixed from the first question on",
        "row = true  # each row is about another person" if first.unit is None else f"column = {text(first.unit)}",
        f'adjacency = "{first.remembered.unit[2] if first.remembered else "add-remove"}"',
    ]
    if first.unit is not None:
        lines += LIMITS
    lines += [
        *_people(first),
        "",
        f"[tables.{key(first.table)}]",
        f"source = {text(Path(os.path.relpath(first.data, first.out.parent)).as_posix())}",
    ]
    if first.delimiter != "," and first.guessed:
        lines.append(f"delimiter = {text(first.delimiter)}")
    if first.encoding is not None and first.guessed:
        lines.append(f"encoding = {text(first.encoding)}")
    if not first.guessed and first.table != table_name(first.data):
        lines.append(f"table = {text(first.table)}")
    lines += ["", f"[tables.{key(first.table)}.columns]", *_columns(first)]
    lines += [
        "",
        "# [analysts.ana]  # who asks by --as ana, and how much of the budget that is at most",
        "# epsilon = 1",
        "",
        "[ledger]  # where the budget is kept",
        f"path = {text(Path(os.path.relpath(first.ledger, first.out.parent)).as_posix())}",
        "",
    ]
    return "\n".join(lines)


def _heading(first: FirstPolicy) -> list[str]:
    if first.known is not None:
        return [
            f"# A policy for {text(first.data.name)}, of what a survey released: it tells nothing more. Look at each line of it."
        ]
    return [
        f"# A first policy for {text(first.data.name)}. It loads, and answers COUNT. Fill in what is commented out, from what is",
        "# known of such data, not from looking into them: whatever is taken from the data tells of them.",
    ]


def _shares(first: FirstPolicy) -> str:
    return "" if first.remembered is not None and first.remembered.shares == "reserved" else "# "


def _other(first: FirstPolicy) -> str:
    zcdp = '"zcdp", for many questions with Gaussian noise'
    return zcdp if first.remembered is None or first.remembered.accountant is Accountant.PURE else '"pure"'


def _people(first: FirstPolicy) -> list[str]:
    facts = None if first.known is None else first.known.table(first.table)
    if facts is None:
        return ["# people = 50000  # about how many, if that is public: advice on delta, predicted errors of averages"]
    return unit_lines(facts)


def _columns(first: FirstPolicy) -> list[str]:
    if first.known is not None:
        surveyed = [name for name in first.columns if name != first.unit]
        found = [
            "# Types, keys and bounds are those that a survey released. Values that do not fit count as missing, or as the nearest bound.",
        ]
        return found + [line for name in surveyed for line in column_lines(name, first.known, first.table)]
    found = [
        f"# The types are {'a guess' if first.guessed else 'those of the file, which the data may have made'}: check them. Values that do",
        "# not fit the type of their column count as missing, and a column that is not here is text, for the owner alone.",
    ]
    for name, kind in first.columns.items():
        column = key(name)
        if name == first.unit:
            found.append(f"# {column} says who a row is about; it is compared as text")
            continue
        example = example_for(name, kind)
        found.append(f'{column} = {{ type = "{kind.value}" }}')
        if example is not None:
            found.append(f'# {column} = {{ type = "{kind.value}", {example[0]} }}  # {example[1]}')
    return found
