"""What the words of a command line mean: numbers, declarations of columns, bind parameters. Nothing here looks at a file.

`Flags` holds what several commands take alike; `with_flags` gives a command one option for each field of it, so that every option
is written once.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from discreet.errors import Invalid
from discreet.exact import rational, shown
from discreet.plan.texts import plain_day

Several = list[str]
PANEL = "The data file, as its owner declares it (a policy declares it itself)"


def _option(metavar: str | None, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=PANEL)


@dataclass(frozen=True, slots=True)
class Flags:
    """Who is protected, and what is known of the columns; all of it the owner's declaration. As it was typed."""

    unit: Annotated[str | None, _option("COLUMN", "Says who a row is about. Needed at the first question.")] = None
    row: Annotated[bool, _option(None, "Instead: every row is about another person.", "--row")] = False
    bounds: Annotated[
        Several | None,
        _option("COLUMN=LOW:HIGH", "A number, clamped to this; auto: found and paid for; or days. Repeatable."),
    ] = None
    keys: Annotated[
        Several | None,
        _option(
            "COLUMN=A,B,C",
            "The values to group by; integers, or in quotes texts; or of a public file: @wards.csv:name; without, found where there is"
            " a delta. Repeatable.",
        ),
    ] = None
    public: Annotated[
        Several | None,
        _option("NAME=FILE", "A table about nobody, to be joined: airports=airports.csv. Repeatable."),
    ] = None
    types: Annotated[
        Several | None,
        _option(
            "COLUMN=TYPE",
            "integer, number, text, date, timestamp or boolean. Repeatable. Or: stored, as the file says.",
        ),
    ] = None
    format: Annotated[Several | None, _option("COLUMN=FORM", "How dates are written: %d/%m/%Y. Repeatable.")] = None
    max_groups: Annotated[
        Several | None,
        _option(
            "N|COLUMN=N",
            "Groups that a person may count in (else found); in a question also beside a policy. Or of one column: ward=2. Repeatable.",
        ),
    ] = None
    max_rows: Annotated[int | None, _option("N", "Rows of a person that count in a group (else found); likewise.")] = (
        None
    )
    max_total: Annotated[
        int | None, _option("N", "Rows of a person that count in a question, over all groups; likewise.")
    ] = None
    people: Annotated[int | None, _option("N", "About how many people, if that is public: predicts errors.")] = None
    adjacency: Annotated[str | None, _option("RELATION", "add-remove: had a person not come (this); or replace.")] = (
        None
    )
    clip: Annotated[str | None, _option("HOW", "groups: leave some out (this); or l2: shorten everything.")] = None
    budget: Annotated[str | None, _option("EPSILON", "The total, said at the first question (5).")] = None
    delimiter: Annotated[str | None, _option("CHARACTER", "Between the fields of a CSV (a comma).")] = None
    multiline: Annotated[bool, _option(None, "Cells of a CSV hold line ends, in quotes.", "--multiline")] = False
    ragged: Annotated[bool, _option(None, "Fill short records of a CSV up, cut long ones off.", "--ragged")] = False
    encoding: Annotated[str | None, _option("NAME", "Of a CSV (utf-8).")] = None
    decimal: Annotated[str | None, _option("SIGN", "Before decimals (a point).")] = None
    thousands: Annotated[str | None, _option("SIGN", "Between thousands (none).")] = None
    null: Annotated[Several | None, _option("WORD", "A text that means nothing, such as NA. Repeatable.")] = None
    zone: Annotated[str | None, _option("NAME", "On whose clock timestamps are, such as Europe/Vienna (UTC).")] = None
    table: Annotated[str | None, _option("NAME", "The table inside of a DuckDB file.")] = None
    ledger: Annotated[str | None, _option("FOLDER", "Where the budget is kept (SOURCE.ledger).")] = None

    @property
    def limits(self) -> dict[str, int | None]:
        """The limits of a question, which whoever asks may set: of a policy's data too."""
        return {"max_rows": self.max_rows, "max_groups": self._groups(), "max_total": self.max_total}

    def without_limits(self) -> "Flags":
        """What is declared of the data: of --max-groups what it says of columns."""
        return replace(self, max_rows=None, max_groups=self.of_columns(), max_total=None)

    def of_columns(self) -> Several:
        """What --max-groups says of columns."""
        return [text for text in self.max_groups or () if "=" in text]

    def _groups(self) -> int | None:
        """The limit of --max-groups that is of no column."""
        texts = [text for text in self.max_groups or () if "=" not in text]
        if len(texts) > 1:
            raise Invalid("--max-groups is given twice", code="usage", hint="of one column it is --max-groups ward=2")
        return _limit("--max-groups", texts[0], texts[0]) if texts else None

    def declaring(self) -> list[str]:
        """The options given that declare something, as they are written; where the ledger lies declares nothing."""
        given = [each.name for each in fields(self) if getattr(self, each.name) not in (None, False, [])]
        return [f"--{name.replace('_', '-')}" for name in given if name != "ledger"]


def with_flags(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of Flags, which it is handed together as `flags`."""
    hints = get_type_hints(command, include_extras=True)
    own = [each for name, each in inspect.signature(command).parameters.items() if name != "flags"]
    shared = get_type_hints(Flags, include_extras=True)

    @wraps(command)
    def run(**given: Any) -> None:
        command(flags=Flags(**{name: given.pop(name) for name in shared}), **given)

    parameters = [each.replace(annotation=hints[each.name], kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    parameters += [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=shared[each.name])
        for each in fields(Flags)
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def number(text: str, name: str) -> Fraction:
    """The exact number that a text says: 2, 0.5, 1e-3 or 1/3."""
    try:
        top, slash, bottom = text.partition("/")
        value = Fraction(int(top), int(bottom)) if slash else Decimal(text)
    except (ValueError, ZeroDivisionError, InvalidOperation):
        value = Decimal("nan")
    if isinstance(value, Decimal) and not value.is_finite():
        raise Invalid(f"{name} must be a finite number such as 2, 0.5 or 1/3, got {shown(text)}")
    return rational(value, name)


def optional_number(text: str | None, name: str) -> Fraction | None:
    return None if text is None else number(text, name)


def accuracy(texts: Sequence[str] | None) -> Fraction | str | dict[str, Fraction | str] | None:
    """What --within says: one ± for every number, or COLUMN=± for each of several columns. What it may be is told by `plan.accuracy`.

    >>> accuracy(["25"]), accuracy(["5%"]), accuracy(["n=25", "a=b=2%"])
    (Fraction(25, 1), '5%', {'n': Fraction(25, 1), 'a=b': '2%'})
    """
    if not texts:
        return None
    named = [text.rpartition("=") for text in texts]
    if len(texts) == 1 and not named[0][1]:
        return _most(texts[0], "within")
    found: dict[str, Fraction | str] = {}
    for column, equals, said in named:
        if not equals or not column.strip():
            raise Invalid(
                f"--within {shown(column + equals + said)} names no column, and there are several",
                code="usage",
                hint="write --within 25 for every number, or --within n=25 --within average=2% by columns",
            )
        if column.strip() in found:
            raise Invalid(f"--within is given twice for {column.strip()!r}", code="usage")
        found[column.strip()] = _most(said, f"within of {column.strip()!r}")
    return found


def _most(text: str, name: str) -> Fraction | str:
    """A number, or a part of one, which ends with a percent sign."""
    return text if text.strip().endswith("%") else number(text.strip(), name)


def prices(text: str) -> list[Fraction]:
    """What --quote says: prices, with commas between them."""
    return [number(each.strip(), "a price of --quote") for each in text.split(",")]


def columns(flags: Flags) -> dict[str, dict[str, Any]]:
    """What --bounds, --keys, --types, --format and --max-groups say, by column."""
    found: dict[str, dict[str, Any]] = {}
    for option, field, texts, read in (
        ("--bounds", "bounds", flags.bounds, _bounds),
        ("--keys", "keys", flags.keys, _keys),
        ("--types", "type", flags.types, _type),
        ("--format", "format", flags.format, _form),
        ("--max-groups", "max_groups", flags.of_columns(), _limit),
    ):
        for text in texts or ():
            if option == "--types" and text == STORED:
                continue
            column, equals, said = text.partition("=")
            column = column.strip()
            if not equals or not column or not said.strip():
                raise _wrong(option, text)
            if field in found.setdefault(column, {}):
                raise Invalid(f"{option} is given twice for column {column!r}", code="usage")
            of_file = field == "keys" and said.strip().startswith("@")
            found[column][field] = (
                _keys_of_file(option, text, said, public_files(flags)) if of_file else read(option, text, said)
            )
    return found


def public_files(flags: Flags) -> dict[str, Path]:
    """The files of public tables by their names: of --public, and of what --keys takes from files."""
    from discreet.curator.data_file import table_name

    found: dict[str, Path] = {}
    for text in flags.public or ():
        name, equals, file = (part.strip() for part in text.partition("="))
        if not equals or not name or not file:
            raise _wrong("--public", text)
        if name.casefold() in {each.casefold() for each in found}:
            raise Invalid(f"--public is given twice for table {name!r}", code="usage")
        found[name] = Path(file)
    for text in flags.keys or ():
        said = text.partition("=")[2].strip()
        if said.startswith("@"):
            path = Path(said[1:].rpartition(":")[0])
            if path not in found.values():
                found[table_name(path)] = path
    return found


def _keys_of_file(option: str, text: str, said: str, files: dict[str, Path]) -> dict[str, str]:
    """What @airports.csv:faa means: the public table of that file, and its column."""
    file, colon, column = said.strip()[1:].rpartition(":")
    if not colon or not file or not column.strip():
        raise _wrong(option, text)
    name = next(each for each, path in files.items() if path == Path(file))
    return {"table": name, "column": column.strip()}


STORED = "stored"


def options(flags: Flags) -> dict[str, Any]:
    """How the file is to be read."""
    found = {
        "multiline": flags.multiline,
        "ragged": flags.ragged,
        "encoding": flags.encoding,
        "decimal": flags.decimal,
        "zone": flags.zone,
        "thousands": flags.thousands,
        "null": flags.null,
        "table": flags.table,
        "types": STORED if STORED in (flags.types or ()) else None,
    }
    return {name: value for name, value in found.items() if value not in (None, False)}


EXAMPLES = {
    "--bounds": "age=0:120, or --bounds age=auto, or of a date admitted=2020-01-01:2024-12-31",
    "--keys": "ward=A,B,C, or --keys ward=@wards.csv:name",
    "--public": "airports=airports.csv",
    "--types": "admitted=date",
    "--format": "admitted=%d/%m/%Y",
    "--max-groups": "3, or of one column --max-groups ward=2",
}


def _wrong(option: str, text: str) -> Invalid:
    return Invalid(
        f"{option} {shown(text)} cannot be read", code="usage", hint=f"write it like {option} {EXAMPLES[option]}"
    )


def _bounds(option: str, text: str, said: str) -> tuple[Fraction, Fraction] | tuple[date, date] | str:
    from discreet.curator.declaration import AUTO

    if said.strip() == AUTO:
        return AUTO
    low, _, high = said.partition(":")  # without a colon there is no high, which is no number
    first, last = plain_day(low.strip()), plain_day(high.strip())
    if first is not None and last is not None:
        return first, last
    try:
        return number(low.strip(), "low"), number(high.strip(), "high")
    except Invalid:
        raise _wrong(option, text) from None


def _keys(option: str, text: str, said: str) -> list[str] | list[int] | list[float]:
    """Fields of a line of CSV: a key with a comma stands in quotes. If all are numbers without quotes they are numbers, else texts.

    >>> _keys("--keys", "", "2004, 2005"), _keys("--keys", "", "2004,n/a"), _keys("--keys", "", "01234,99999")
    ([2004, 2005], ['2004', 'n/a'], ['01234', '99999'])
    >>> _keys("--keys", "", '"2004","2005"'), _keys("--keys", "", "'2004',2005"), _keys("--keys", "", 'A,"C, D"')
    (['2004', '2005'], ['2004', '2005'], ['A', 'C, D'])
    >>> _keys("--keys", "", "1,2.0"), _keys("--keys", "", "1.5,2.0")
    ([1, 2], [1.5, 2.0])
    >>> _keys("--keys", "", "1.5,2.10"), _keys("--keys", "", "0.5,01")
    (['1.5', '2.10'], ['0.5', '01'])
    """
    found = []
    at: int | None = 0
    while at is not None:
        field = _FIELD.match(said, at)
        if field is None:
            raise _wrong(option, text)
        found.append(field)
        at = field.end() if field["comma"] else None
    bare = [field["bare"] and _ZEROS.sub("", field["bare"]) for field in found]
    if all(key is not None and _INTEGER.fullmatch(key) and int(key) in _INT64 for key in bare):
        return [int(key) for key in bare]
    if all(key is not None and _NUMBER.fullmatch(key) for key in bare):
        return [float(key) for key in bare]
    return [_unquoted(field) for field in found]


def _unquoted(field: re.Match[str]) -> str:
    if field["bare"] is not None:
        return str(field["bare"])
    quote = '"' if field["double"] is not None else "'"
    return str(field["double"] if quote == '"' else field["single"]).replace(quote * 2, quote)


# Behind a whole number, which may be spelt 1.0.
_ZEROS = re.compile(r"(?<=[0-9])\.0+$")
_FIELD = re.compile(
    r"""[ ]*(?:"(?P<double>(?:[^"]|"")*)"|'(?P<single>(?:[^']|'')*)'(?=,|\Z)|(?P<bare>(?:[^",\r\n][^,\r\n]*)?))"""
    r"(?:(?P<comma>,)|\Z)"
)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")  # as an integer is written: 01234 may be a code, +3 a text
# As a number is written: 2.10 may be a version.
_NUMBER = re.compile(r"(?:0|-?[1-9][0-9]{0,14})(?:\.[0-9]*[1-9])?|-?0\.[0-9]*[1-9]")
_INT64 = range(-(1 << 63), 1 << 63)


def _type(option: str, text: str, said: str) -> str:
    return said.strip().lower()


def _form(option: str, text: str, said: str) -> str:
    return said


def _limit(option: str, text: str, said: str) -> int:
    try:
        return int(said)
    except ValueError:
        raise _wrong(option, text) from None


def parameters(texts: Sequence[str] | None) -> list[object] | dict[str, object] | None:
    """What --param binds: NAME=VALUE for :name, VALUE for ?; not both in one question."""
    if not texts:
        return None
    named = [_NAMED.fullmatch(text) for text in texts]
    if not any(named):
        return [parameter(text) for text in texts]
    found: dict[str, object] = {}
    for text, match in zip(texts, named, strict=True):
        if match is None:
            raise Invalid(
                f"--param {shown(text)} has no name, and others have",
                code="usage",
                hint="name all of them (NAME=VALUE for :name) or none (VALUE for ?)",
            )
        if match[1] in found:
            raise Invalid(f"--param is given twice for {match[1]!r}", code="usage")
        found[match[1]] = parameter(match[2])
    return found


_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.?[0-9]+)([eE][+-]?[0-9]{1,3})?")
_CONSTANTS: dict[str, object] = {"true": True, "false": False, "null": None}


def parameter(text: str) -> object:
    """
    >>> parameter("65"), parameter("0.5"), parameter("true"), parameter("North"), parameter("'65'")
    (65, 0.5, True, 'North', '65')
    """
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
