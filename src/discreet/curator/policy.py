"""What the owner of the data declares: sources, columns, who is protected, the budget, the analysts. From TOML, flags or Python.

A policy is checked when it is read, before any data is; each message says what to add. Nothing is filled in from the data: a column
without bounds can be filtered and counted, not summed, and a column without keys not grouped by.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.curator.ledger import ACCOUNTANTS
from discreet.engines.base import Data, columns_of
from discreet.errors import Invalid, QueryError, Refused
from discreet.exact import nonnegative, positive, probability, rational, shown
from discreet.plan.catalog import KINDS, Catalog, Column, Key, Protected, Table, suggestion
from discreet.plan.plain import Unusable, plain
from discreet.plan.scalar import Column as NodeColumn
from discreet.plan.scalar import Type
from discreet.privacy import Adjacency
from discreet.privacy.advice import Advice, Verdict, judge_delta

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


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows of a table come from, and what is said of its columns."""

    data: Any  # a path, or a frame
    columns: Mapping[str, Declared] = field(default_factory=dict)
    delimiter: str = ","
    table: str | None = None  # inside a DuckDB file


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that is declared."""

    tables: Mapping[str, Source]
    protected: Protected
    budget: Budget
    accountant: str = "pure"
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
        positive(self.budget.epsilon, "the budget's epsilon")
        if probability(self.budget.delta, "the budget's delta") == 1:
            raise Invalid("the budget's delta must be below 1")

    @classmethod
    def read(cls, path: Path) -> "Policy":
        """The policy of a TOML file; sources are relative to it."""
        try:
            with path.open("rb") as file:
                found = tomllib.load(file, parse_float=Decimal)
        except FileNotFoundError:
            raise Invalid(
                f"there is no policy {str(path)!r}", hint="`discreet init DATA --unit COLUMN` writes one"
            ) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"the policy {path.name!r} is not TOML: {error}", code="policy") from None
        except OSError as error:
            raise Invalid(f"the policy {str(path)!r} cannot be read: {error.strerror}", code="policy") from None
        return _Reader(path).policy(found)


class _Reader:
    """Reads the tables of a TOML file; every field is taken or refused."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.parent

    def policy(self, found: dict[str, Any]) -> Policy:
        self._known(found, "the policy", {"version", "budget", "unit", "tables", "analysts", "ledger"})
        budget = self._section(found, "budget", {"epsilon", "delta", "accountant"}, needed="[budget] with epsilon = 1")
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
        self._known(found, f"[tables.{name}]", {"source", "columns", "delimiter", "table"})
        source = found.get("source")
        if not isinstance(source, str):
            raise self._wrong(f"[tables.{name}] needs a source", f'add source = "{name}.csv"')
        columns = found.get("columns", {})
        if not isinstance(columns, dict):
            raise self._wrong(f"[tables.{name}.columns] must be a table of TOML")
        declared = {column: declaration(column, columns[column]) for column in columns}
        return Source(self._place(source), declared, found.get("delimiter", ","), found.get("table"))

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
    """Who is protected: the persons of a column, or each row by itself. One of them must be said."""
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
    return Protected(column, relation, **caps)


def advice_on(delta: Fraction, people: int | None) -> Advice | None:
    """What to think of a δ for the declared people, or None where there is nothing to say; one that promises nothing is Refused."""
    if people is None or not delta:
        return None
    advice = judge_delta(delta, people)
    if advice.verdict is Verdict.REFUSAL:
        raise Refused(advice.sentence, code="delta", hint="lower delta in the budget")
    return advice


def ledger_beside(source: Path) -> Path:
    """The folder in which the budget of a data file or of a policy is kept, where nothing else is said."""
    return source.with_name(source.name + ".ledger")


def relation_kept(protected: Protected) -> str:
    """Whom a ledger protects, as it keeps it: 'add-remove one person by patient_id'."""
    said = str(protected.relation)
    return said if protected.person is None else f"{said} by {protected.person}"


def declaration(name: str, found: Any) -> Declared:
    """What a mapping such as {"type": "integer", "bounds": [0, 120]} says of a column."""
    if isinstance(found, Declared):
        return found
    if not isinstance(found, Mapping):
        raise Invalid(
            f"column {name!r} must be declared by a mapping, got {shown(found)}", hint='write {"bounds": (0, 120)}'
        )
    for field_name in found:
        if field_name not in ("type", "bounds", "keys", "nullable"):
            raise Invalid(
                f"column {name!r} has no field {field_name!r}",
                code="policy",
                hint=suggestion(str(field_name), ("type", "bounds", "keys", "nullable"), "it may have"),
            )
    nullable = found.get("nullable", True)
    if not isinstance(nullable, bool):
        raise Invalid(f"nullable of column {name!r} must be true or false, got {shown(nullable)}")
    low, high = _bounds(name, found.get("bounds"))
    keys = found.get("keys")
    if keys is not None and (isinstance(keys, str) or not isinstance(keys, Iterable)):
        raise Invalid(f"keys of column {name!r} must be a list, got {shown(keys)}", hint='write keys = ["A", "B"]')
    declared = None if keys is None else tuple(_plain_key(name, key) for key in keys)
    return Declared(_type(name, found.get("type")), low, high, declared, nullable)


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
    """The catalog, and what an engine is to load. Of the data only the names and stored types of columns are looked at."""
    tables, loads = [], []
    for name, source in policy.tables.items():
        table = _table(name, source)
        tables.append(table)
        columns = tuple(NodeColumn(column.name, column.type) for column in table.columns)
        loads.append(
            Data(
                name,
                source.data,
                columns,
                delimiter=source.delimiter,
                person=_spelt(policy.protected.person, table),
            )
        )
    try:
        return Catalog(tuple(tables), policy.protected), tuple(loads)
    except QueryError as error:
        hint = _other_delimiter(tables) or error.hint
        raise Invalid(f"the unit of privacy: {error.message}", code="unit", hint=hint) from None


def _other_delimiter(tables: list[Table]) -> str:
    """What a table of one column, whose name is many names, was probably meant to be."""
    for table in tables:
        for delimiter in ";\t|":
            if len(table.columns) == 1 and delimiter in table.columns[0].name:
                return f"its first line has one name with {delimiter!r} in it: add --delimiter {delimiter!r}"
    return ""


def _spelt(person: str | None, table: Table) -> str | None:
    """The person column as the data spell it."""
    names = [column.name for column in table.columns if person and column.name.casefold() == person.casefold()]
    return names[0] if names else None


def _table(name: str, source: Source) -> Table:
    found = dict(columns_of(source.data, delimiter=source.delimiter, table=source.table))
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
    return Table(name, tuple(_column(each, stored, declared.get(each, Declared())) for each, stored in found.items()))


def _column(name: str, stored: Type | None, said: Declared) -> Column:
    """A declared type wins over the stored one; without either, keys make what they are, bounds a number, and all else is text."""
    kind = said.type or stored
    if kind is None and said.keys is not None:
        kind = next((each for each, python in KINDS.items() if all(type(key) is python for key in said.keys)), None)
    if kind is None and said.low is not None:
        kind = Type.NUMBER
    kind = kind or Type.TEXT
    keys = None if said.keys is None else tuple(_key(name, key, kind) for key in said.keys)
    return Column(name, kind, said.low, said.high, keys, said.nullable)


def _key(name: str, key: Any, kind: Type) -> Any:
    """A key written as text or as an integer, as on a command line, as what its column holds."""
    try:
        if type(key) is int and kind is Type.TEXT:
            return str(key)
        if isinstance(key, str) and kind is Type.INTEGER:
            return int(key)
        if isinstance(key, str) and kind is Type.DATE:
            return date.fromisoformat(key)
        if isinstance(key, str) and kind is Type.BOOLEAN:
            return {"true": True, "false": False}[key.lower()]
    except (ValueError, KeyError):
        raise Invalid(f"keys of column {name!r} must be {kind.value} values, got {shown(key)}") from None
    return key
