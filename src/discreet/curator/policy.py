"""What the owner of the data declares: sources, columns, who is protected, the budget, the analysts. From TOML, flags or Python.

A policy is checked when it is read, before any data is; each message says what to add. Nothing is filled in from the data: a column
without bounds can be filtered and counted, not summed, and a column without keys not grouped by.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.curator.ledger import ACCOUNTANTS, SHARES, Cap, check_analyst
from discreet.curator.money import cap_of, overdrawn
from discreet.curator.places import real
from discreet.engines.base import Data
from discreet.engines.columns import has_header, has_types, names_of, stored_types
from discreet.engines.framing import PLAIN, Framing
from discreet.engines.reading import AS_IT_IS, Form, Reading
from discreet.errors import Invalid, QueryError, Refused
from discreet.exact import nonnegative, positive, probability, rational, shown
from discreet.plan.catalog import KINDS, LIMITS, Catalog, Column, Key, Protected, Table, suggestion
from discreet.plan.plain import Unusable, plain
from discreet.plan.scalar import Column as NodeColumn
from discreet.plan.scalar import Type
from discreet.plan.texts import day_in, number_in
from discreet.privacy import Adjacency
from discreet.privacy.advice import Advice, Verdict, judge_delta, judge_delta_alone

# A whole number may be spelt 1.0, and is the integer 1.
WHOLE_TAIL = re.compile(r"\.0+$")
LONGEST_NAME = 255  # bytes of a file's name


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount of privacy: (ε, δ); and ρ where the accountant is zcdp."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def __str__(self) -> str:
        parts = [f"ε = {_short(self.epsilon)}"]
        if self.delta:
            parts.append(f"δ = {_short(self.delta)}")
        if self.rho is not None:
            parts.append(f"ρ = {_short(self.rho)}")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"Budget({self})"


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"


@dataclass(frozen=True, slots=True)
class Declared:
    """What is said of one column; None where nothing is."""

    type: Type | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    keys: tuple[Key, ...] | None = None
    nullable: bool = True
    format: str | None = None  # of a date that is not written YYYY-MM-DD


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows of a table come from, how they are read, and what is said of its columns."""

    data: Any  # a path, or a frame
    columns: Mapping[str, Declared] = field(default_factory=dict)
    framing: Framing = PLAIN
    table: str | None = None  # inside a DuckDB file
    reading: Reading = AS_IT_IS
    stored: bool = False  # the types of the source are taken over: the owner's word that they do not come from the data


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that is declared."""

    tables: Mapping[str, Source]
    protected: Protected
    budget: Budget
    accountant: str = "pure"
    shares: str | None = None  # None: as the ledger has it, which begins with common ones
    analysts: Mapping[str, Budget] = field(default_factory=dict)
    version: str = "1"
    ledger: Path | None = None
    mark: Path | None = None
    share_answers: bool = False

    def __post_init__(self) -> None:
        if not self.tables:
            raise Invalid("a policy needs a table", hint='add [tables.visits] with source = "visits.csv"')
        if self.accountant not in ACCOUNTANTS:
            raise Invalid(f"accountant must be 'pure' or 'zcdp', got {shown(self.accountant)}")
        if self.shares not in (None, *SHARES):
            raise Invalid(f"shares must be 'common' or 'reserved', got {shown(self.shares)}", code="policy")
        total = self._cap(self.budget, "the budget")
        caps = {}
        for name, budget in self.analysts.items():
            check_analyst(name)
            caps[name] = self._cap(budget, f"analyst {shown(name)}")
        over = overdrawn(caps, total) if self.shares == "reserved" else ""
        if over:
            raise Refused(
                f"shares are reserved, and {over}",
                code="shares",
                hint="lower a cap, or raise the budget of the data set",
            )

    def _cap(self, budget: Budget, whose: str) -> Cap:
        """What the first question would refuse is refused here, and says of whom."""
        positive(budget.epsilon, f"epsilon of {whose}")
        probability(budget.delta, f"delta of {whose}")
        try:
            return cap_of(self.accountant, budget.epsilon, budget.delta)
        except Invalid as error:
            raise Invalid(f"{whose}: {error.message}", code=error.code, hint=error.hint) from None

    @property
    def files(self) -> tuple[Path, ...]:
        """The data files; a frame is none."""
        return tuple(Path(each.data) for each in self.tables.values() if isinstance(each.data, str | Path))

    @classmethod
    def read(cls, path: Path) -> "Policy":
        """The policy of a TOML file; sources are relative to it, where it really lies."""
        try:
            with path.open("rb") as file:
                found = tomllib.load(file, parse_float=Decimal)
        except FileNotFoundError:
            raise Invalid(
                f"there is no policy {str(path)!r}", hint="`discreet init DATA --unit COLUMN` writes one"
            ) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"the policy {path.name!r} is not TOML: {error}", code="policy") from None
        except (ValueError, RecursionError):  # an integer beyond what Python reads, or brackets within brackets
            raise Invalid(
                f"the policy {path.name!r} is nested too deep, or has a number of too many digits",
                code="policy",
                hint="write it shorter",
            ) from None
        except OSError as error:
            raise Invalid(f"the policy {str(path)!r} cannot be read: {error.strerror}", code="policy") from None
        return _Reader(path).policy(found)


class _Reader:
    """Reads the tables of a TOML file; every field is taken or refused."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = real(path).parent  # what a policy names lies beside itself, not beside a link to it

    def policy(self, found: dict[str, Any]) -> Policy:
        self._known(found, "the policy", {"version", "budget", "unit", "tables", "analysts", "ledger"})
        budget = self._section(
            found, "budget", {"epsilon", "delta", "accountant", "shares"}, needed="[budget] with epsilon = 1"
        )
        ledger = self._section(found, "ledger", {"path", "mark", "share_answers"})
        share = ledger.get("share_answers", False)
        if not isinstance(share, bool):
            raise self._wrong(f"share_answers must be true or false, got {shown(share)}")
        tables = self._section(found, "tables", None, needed='[tables.visits] with source = "visits.csv"')
        analysts = self._section(found, "analysts", None)
        version = found.get("version", "1")
        if not isinstance(version, str | int) or isinstance(version, bool):
            raise self._wrong(f"version must be a text, got {shown(version)}")
        return Policy(
            tables={name: self._table(name, tables[name]) for name in tables},
            protected=self._unit(found),
            budget=self._budget(budget, "budget"),
            accountant=budget.get("accountant", "pure"),
            shares=budget.get("shares"),
            analysts={name: self._analyst(name, analysts[name]) for name in analysts},
            version=str(version),
            ledger=self._path(ledger, "path"),
            mark=self._path(ledger, "mark"),
            share_answers=share,
        )

    def _unit(self, found: dict[str, Any]) -> Protected:
        known = {"column", "row", "adjacency", "max_groups", "max_rows", "people", "clip"}
        unit = self._section(found, "unit", known, needed='[unit] with column = "patient_id", or row = true')
        column, row = unit.get("column"), unit.get("row", False)
        return protected(
            column,
            row=row,
            **{name: unit[name] for name in ("adjacency", "max_groups", "max_rows", "people", "clip") if name in unit},
        )

    def _table(self, name: str, found: Any) -> Source:
        if not isinstance(found, dict):
            raise self._wrong(f"[tables.{name}] must be a table of TOML")
        self._known(found, f"[tables.{name}]", {"source", "columns", *OPTIONS})
        source = found.get("source")
        if not isinstance(source, str):
            raise self._wrong(f"[tables.{name}] needs a source", f'add source = "{name}.csv"')
        columns = found.get("columns", {})
        if not isinstance(columns, dict):
            raise self._wrong(f"[tables.{name}.columns] must be a table of TOML")
        if len({column.casefold() for column in columns}) < len(columns):
            raise self._wrong(
                f"[tables.{name}.columns] says something of one column twice", "names that differ in case are one name"
            )
        options = {option: value for option, value in found.items() if option in OPTIONS}
        return source_of(self._place(source), columns, options)

    def _analyst(self, name: str, found: Any) -> Budget:
        if not isinstance(found, dict):
            raise self._wrong(f"[analysts.{name}] must be a table of TOML")
        self._known(found, f"[analysts.{name}]", {"epsilon", "delta"})
        return self._budget(found, f"analysts.{name}")

    def _budget(self, found: dict[str, Any], name: str) -> Budget:
        if "epsilon" not in found:
            raise self._wrong(f"[{name}] needs an epsilon", "add epsilon = 1")
        return Budget(positive(found["epsilon"], "epsilon"), nonnegative(found.get("delta", 0), "delta"))

    def _path(self, found: dict[str, Any], name: str) -> Path | None:
        value = found.get(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(f"[ledger] {name} must be a text, got {shown(value)}")
        return None if value is None else self._place(value)

    def _place(self, text: str) -> Path:
        """A path relative to the policy, if it can be one at all."""
        if not text or "\0" in text or any(len(part.encode()) > LONGEST_NAME for part in Path(text).parts):
            raise self._wrong(f"{shown(text)} cannot be the name of a file")
        return self.folder / text

    def _section(
        self, found: dict[str, Any], name: str, known: set[str] | None, needed: str | None = None
    ) -> dict[str, Any]:
        section = found.get(name)
        if section is None and needed is not None:
            raise self._wrong(f"the policy has no [{name}]", f"add {needed}")
        if section is None:
            return {}
        if not isinstance(section, dict):
            raise self._wrong(f"[{name}] must be a table of TOML")
        if known is not None:
            self._known(section, f"[{name}]", known)
        return section

    def _known(self, found: dict[str, Any], where: str, known: set[str]) -> None:
        for name in found:
            if name not in known:
                raise self._wrong(f"{where} has no field {name!r}", suggestion(name, known, "it may have"))

    def _wrong(self, message: str, hint: str = "") -> Invalid:
        return Invalid(f"{self.path.name}: {message}", code="policy", hint=hint)


def protected(column: str | None = None, *, row: bool = False, adjacency: str = "add-remove", **caps: Any) -> Protected:
    """Who is protected: the persons of a column, or each row by itself. One of them must be said. A cap that is None is the default."""
    if not isinstance(row, bool):
        raise Invalid(f"row must be true or false, got {shown(row)}")
    if column is not None and not isinstance(column, str):
        raise Invalid(f"unit must be the name of a column, got {shown(column)}")
    if (column is None) is not row:
        raise Invalid(
            "who is protected must be said once",
            code="unit",
            hint="name the column that says who a row is about (unit = patient_id),"
            " or say that every row is about another person (row = true)",
        )
    try:
        relation = Adjacency(adjacency)
    except ValueError:
        raise Invalid(f"adjacency must be 'add-remove' or 'replace', got {shown(adjacency)}") from None
    declared = {name: value for name, value in caps.items() if value is not None}
    return Protected(column, relation, **declared, assumed=LIMITS - declared.keys())


def advice_on(delta: Fraction, people: int | None) -> Advice | None:
    """What to think of a δ for the declared people, or None where there is nothing to say; one that promises nothing is Refused."""
    if not delta:
        return None
    advice = judge_delta_alone(delta) if people is None else judge_delta(delta, people)
    if people is None and advice.verdict is Verdict.FINE:
        return None
    if advice.verdict is Verdict.REFUSAL:
        raise Refused(advice.sentence, code="delta", hint="lower delta in the budget")
    return advice


def relation_kept(protected: Protected) -> str:
    """Whom a ledger protects, as it keeps it: 'add-remove one person by patient_id'."""
    said = str(protected.relation)
    return said if protected.person is None else f"{said} by {protected.person}"


OPTIONS = ("delimiter", "multiline", "ragged", "encoding", "decimal", "thousands", "null", "table", "types")
"""What may be said of how a source is read, in a policy and in Python alike."""

FIELDS = ("type", "bounds", "keys", "nullable", "format")
"""What may be said of a column."""


def source_of(data: Any, columns: Mapping[str, Any], options: Mapping[str, Any]) -> Source:
    """A source with its declarations, each checked; a field that is not known is refused by its name."""
    for option in options:
        if option not in OPTIONS:
            hint = suggestion(str(option), OPTIONS, "it may have")
            raise Invalid(f"a source has no field {option!r}", code="policy", hint=hint)
    declared = {column: declaration(column, columns[column]) for column in columns}
    folded = [column.casefold() for column in declared]
    for column in folded:
        if folded.count(column) > 1:
            raise Invalid(
                f"column {column!r} is declared twice, in other case", code="policy", hint="remove one of them"
            )
    null = options.get("null", ())
    if isinstance(null, str) or not isinstance(null, Iterable):
        raise Invalid(
            f"null must be a list of texts, got {shown(null)}", code="policy", hint='write null = ["NA", "-"]'
        )
    types, table = options.get("types", "declared"), options.get("table")
    if types not in ("declared", "stored"):
        raise Invalid(f"types must be 'declared' or 'stored', got {shown(types)}", code="policy")
    if table is not None and not isinstance(table, str):
        raise Invalid(f"table must be a text, got {shown(table)}", code="policy")
    framing = Framing(
        **{name: options[name] for name in ("delimiter", "multiline", "ragged", "encoding") if name in options}
    )
    signs = {name: options[name] for name in ("decimal", "thousands") if name in options}
    formats = {column: Form.of(said.format) for column, said in declared.items() if said.format is not None}
    return Source(
        data, declared, framing, table, Reading(**signs, null=tuple(null), formats=formats), types == "stored"
    )


def declaration(name: str, found: Any) -> Declared:
    """What a mapping such as {"type": "integer", "bounds": [0, 120]} says of a column."""
    if isinstance(found, Declared):
        return found
    if not isinstance(found, Mapping):
        raise Invalid(
            f"column {name!r} must be declared by a mapping, got {shown(found)}", hint='write {"bounds": (0, 120)}'
        )
    for field_name in found:
        if field_name not in FIELDS:
            raise Invalid(
                f"column {name!r} has no field {field_name!r}",
                code="policy",
                hint=suggestion(str(field_name), FIELDS, "it may have"),
            )
    nullable = found.get("nullable", True)
    if not isinstance(nullable, bool):
        raise Invalid(f"nullable of column {name!r} must be true or false, got {shown(nullable)}")
    low, high = _bounds(name, found.get("bounds"))
    keys = found.get("keys")
    if keys is not None and (isinstance(keys, str) or not isinstance(keys, Iterable)):
        raise Invalid(f"keys of column {name!r} must be a list, got {shown(keys)}", hint='write keys = ["A", "B"]')
    form = found.get("format")
    kind = _type(name, found.get("type"))
    if form is not None and kind not in (None, Type.DATE):
        raise Invalid(f"column {name!r} is {kind.value} and cannot have a format", hint="a format is of dates")
    if form is not None:
        kind = Type.DATE
        Form.of(form)
    declared = None if keys is None else tuple(_plain_key(name, key) for key in keys)
    return Declared(kind, low, high, declared, nullable, form)


def _plain_key(name: str, key: Any) -> Any:
    try:
        return plain(key)
    except Unusable as unusable:
        raise Invalid(f"a key of column {name!r} {unusable.what}", code="policy", hint=unusable.hint) from None


def _bounds(name: str, found: Any) -> tuple[Fraction | None, Fraction | None]:
    if found is None:
        return None, None
    if not isinstance(found, list | tuple) or len(found) != 2:
        raise Invalid(
            f"bounds of column {name!r} must be two numbers, got {shown(found)}", hint="write bounds = [0, 120]"
        )
    try:
        low, high = (rational(each, "bounds") for each in found)
    except Invalid:
        raise Invalid(
            f"bounds of column {name!r} must be two numbers, got {shown(found)}", hint="write bounds = [0, 120]"
        ) from None
    return low, high


def _type(name: str, found: Any) -> Type | None:
    if found is None or isinstance(found, Type):
        return found
    try:
        return Type(found)
    except ValueError:
        names = ", ".join(repr(each.value) for each in Type)
        raise Invalid(f"type of column {name!r} must be one of {names}, got {shown(found)}") from None


def catalog_of(policy: Policy) -> tuple[Catalog, tuple[Data, ...]]:
    """The catalog, and what an engine is to load. Of the data only the names of columns are looked at."""
    _check_unit(policy)
    tables, loads = [], []
    for name, source in policy.tables.items():
        table = _table(name, source, policy.protected.person)
        tables.append(table)
        columns = tuple(NodeColumn(column.name, column.type) for column in table.columns)
        spelt = {column.name.casefold(): column.name for column in table.columns}
        formats = {spelt[column.casefold()]: form for column, form in source.reading.formats.items()}
        loads.append(
            Data(
                name,
                source.data,
                columns,
                framing=source.framing,
                person=_spelt(policy.protected.person, table),
                table=source.table,
                reading=replace(source.reading, formats=formats),
            )
        )
    try:
        catalog = Catalog(tuple(tables), policy.protected)
    except QueryError as error:
        raise Invalid(f"the unit of privacy: {error.message}", code="unit", hint=error.hint) from None
    _check_ids(catalog)
    return catalog, tuple(loads)


def _check_unit(policy: Policy) -> None:
    if policy.protected.person is None and len(policy.tables) > 1:
        raise Invalid(
            "each row of several tables cannot be a unit of its own: rows of two tables may be about one person",
            code="unit",
            hint="name the column that says who a row is about, or keep one table",
        )


def _check_ids(catalog: Catalog) -> None:
    """Neighbours differ in all rows of one person in all tables, so an id must mean the same in all of them."""
    person = catalog.protected.person
    if person is None:
        return
    kinds = {table.name: table.column(person).type for table in catalog.tables}
    if len(set(kinds.values())) > 1:
        said = ", ".join(f"{kind.value} in {name!r}" for name, kind in kinds.items())
        raise Invalid(
            f"the unit {person!r} must be of one type in all tables, and is {said}",
            code="unit",
            hint="declare the same type for it in each, or none",
        )


def _spelt(person: str | None, table: Table) -> str | None:
    """The person column as the data spell it."""
    names = [column.name for column in table.columns if person and column.name.casefold() == person.casefold()]
    return names[0] if names else None


def _table(name: str, source: Source, person: str | None) -> Table:
    found = names_of(source.data, framing=source.framing, table=source.table)
    if isinstance(source.data, str | Path) and has_header(source.data):
        _check_header(Path(source.data), found, {*map(str.casefold, source.columns), (person or "").casefold()})
    folded = {each.casefold(): each for each in found}
    declared = {}
    for column, said in source.columns.items():
        if column.casefold() not in folded:
            raise Invalid(
                f"column {column!r} is declared, and table {name!r} does not have it",
                code="policy",
                hint=suggestion(column, found, "its columns are"),
            )
        declared[folded[column.casefold()]] = said
    stored = stored_types(source.data, source.table) if source.stored else {}
    columns = (_column(each, declared.get(each), stored.get(each)) for each in found)
    return Table(name, tuple(columns), typed=not source.stored and has_types(source.data))


def _check_header(path: Path, names: Sequence[str], declared: set[str]) -> None:
    """A first line that may be a record, or that holds one name made of many, is refused without showing it.

    Whoever declares a column by such a name says that it is one.
    """
    if len(names) == 1 and names[0].casefold() not in declared:
        for delimiter in ";\t|":
            if delimiter in names[0]:
                raise Invalid(
                    f"the first line of file {path.name!r} has one name, with {delimiter!r} in it",
                    code="delimiter",
                    hint=f"add --delimiter {delimiter!r} (delimiter = in a policy)",
                )
    for place, name in enumerate(names, 1):
        if name.casefold() not in declared and _like_a_value(name):
            what = "has no name" if not name.strip() else "is named like a number or a date"
            raise Invalid(
                f"column {place} of file {path.name!r} {what}; the first line must name the columns",
                code="header",
                hint="write a line of names above the data, or declare each such column by the name it has there",
            )


def _like_a_value(name: str) -> bool:
    """Whether a name may be a cell: nothing, or digits with signs around and between them, or a moment."""
    letters = any(character.isalpha() for character in name)
    digits = any(character.isdigit() for character in name)
    return not name.strip() or (digits and not letters) or number_in(name) is not None or day_in(name) is not None


def _column(name: str, said: Declared | None, stored: Type | None) -> Column:
    """A declared type wins over a stored one that is taken over; else bounds make a number, keys what they are; all else is text."""
    if said is None:
        return Column(name, stored or Type.TEXT, declared=stored is not None)
    kind = said.type or stored
    if kind is None and said.keys is not None:
        keys = [_whole(key) for key in said.keys]
        kind = next((each for each, python in KINDS.items() if all(type(key) is python for key in keys)), None)
    if kind is None and said.low is not None:
        kind = Type.NUMBER
    kind = kind or Type.TEXT
    declared = None if said.keys is None else tuple(_key(name, key, kind) for key in said.keys)
    return Column(name, kind, said.low, said.high, declared, said.nullable)


def _whole(key: Any) -> Any:
    """A key that is a whole number as an integer, however it is spelt: 1 and 1.0 are one number."""
    return int(key) if isinstance(key, float) and key.is_integer() and abs(key) <= 2**53 else key


def _key(name: str, key: Any, kind: Type) -> Any:
    """A key written as text or as an integer, as on a command line, as what its column holds."""
    try:
        if type(key) is int and kind is Type.TEXT:
            return str(key)
        if isinstance(key, str) and kind is Type.INTEGER:
            return int(WHOLE_TAIL.sub("", key))
        if kind is Type.INTEGER:
            return _whole(key)
        if isinstance(key, str) and kind is Type.DATE:
            return date.fromisoformat(key)
        if isinstance(key, str) and kind is Type.BOOLEAN:
            return {"true": True, "false": False}[key.lower()]
    except (ValueError, KeyError):
        raise Invalid(f"keys of column {name!r} must be {kind.value} values, got {shown(key)}") from None
    return key
