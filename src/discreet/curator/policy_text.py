"""A policy as text: TOML, of which every field is taken or refused, and which is written so that it reads as what it was."""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accountant import Accountant
from discreet.curator.address import SCHEMA, Address
from discreet.curator.declaration import AUTO, OPTIONS, Budget, Declared, DeclaredParts, Source, protected, source_of
from discreet.curator.places import real
from discreet.errors import Invalid
from discreet.exact import nonnegative, positive, shown
from discreet.plan.catalog import Protected, suggestion, value_of
from discreet.plan.scalar import Type

if TYPE_CHECKING:
    from discreet.curator.policy import Policy

LONGEST_NAME = 255  # bytes of a file's name


MOST_PLACES = 60  # after the point; a number of more is written as a fraction
MEMORY = ":memory:"
"""The ledger of an experiment, which is kept nowhere."""

BARE = re.compile(r"[A-Za-z0-9_-]+")
RATIO = re.compile(r"(-?[0-9]{1,400})/([0-9]{1,400})")
SECTIONS = {"version", "budget", "unit", "tables", "analysts", "parts", "ledger"}
LEDGER = {"path", "address", "address_file", "schema", "mark", "share_answers"}
UNIT = ("adjacency", "max_groups", "max_rows", "max_total", "people", "clip")


def read(path: Path) -> dict[str, Any]:
    """The fields of the policy in a TOML file; sources are relative to it, where it really lies."""
    try:
        with path.open("rb") as file:
            document = tomllib.load(file, parse_float=Decimal)
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
    return _Reader(path).fields(document)


class _Reader:
    """Reads the tables of a TOML file; every field is taken or refused."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = real(path).parent  # what a policy names lies beside itself, not beside a link to it

    def fields(self, document: dict[str, Any]) -> dict[str, Any]:
        """Every field of the policy by its name."""
        self._known(document, "the policy", SECTIONS)
        budget = self._section(
            document, "budget", {"epsilon", "delta", "accountant", "shares"}, needed="[budget] with epsilon = 1"
        )
        tables = self._section(document, "tables", None, needed='[tables.visits] with source = "visits.csv"')
        analysts = self._section(document, "analysts", None)
        version = document.get("version", "1")
        if not isinstance(version, str | int) or isinstance(version, bool):
            raise self._wrong(f"version must be a text, got {shown(version)}")
        return {
            "tables": {name: self._table(name, tables[name]) for name in tables},
            "protected": self._unit(document),
            "budget": self._budget(budget, "budget"),
            "accountant": budget.get("accountant", Accountant.PURE),
            "shares": budget.get("shares"),
            "analysts": {name: self._analyst(name, analysts[name]) for name in analysts},
            "parts": self._parts(document),
            "version": str(version),
            **self._ledger(self._section(document, "ledger", LEDGER)),
        }

    def _ledger(self, ledger: dict[str, Any]) -> dict[str, Any]:
        share = ledger.get("share_answers", False)
        if not isinstance(share, bool):
            raise self._wrong(f"share_answers must be true or false, got {shown(share)}")
        if ledger.get("path") == MEMORY:
            path: Path | None = Path(MEMORY)
        else:
            path = self._path(ledger, "path")
        schema = ledger.get("schema", SCHEMA)
        if not isinstance(schema, str):
            raise self._wrong(f"[ledger] schema must be a text, got {shown(schema)}")
        return {
            "ledger": path,
            "address": self._address(ledger),
            "schema": schema,
            "mark": self._path(ledger, "mark"),
            "share_answers": share,
        }

    def _address(self, ledger: dict[str, Any]) -> Address | None:
        file = self._path(ledger, "address_file")
        if "address" in ledger and file is not None:
            raise self._wrong("[ledger] has both address and address_file", "keep one of them")
        if file is not None:
            return Address(file=file)
        return Address.of(ledger["address"]) if "address" in ledger else None

    def _unit(self, found: dict[str, Any]) -> Protected:
        unit = self._section(
            found, "unit", {"column", "row", *UNIT}, needed='[unit] with column = "patient_id", or row = true'
        )
        column, row = unit.get("column"), unit.get("row", False)
        return protected(
            column,
            row=row,
            **{name: unit[name] for name in UNIT if name in unit},
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
        return source_of(self._place(source), {column: _exact(columns[column]) for column in columns}, options)

    def _analyst(self, name: str, found: Any) -> Budget:
        return self._budget_of(found, f"analysts.{name}")

    def _parts(self, document: dict[str, Any]) -> DeclaredParts | None:
        if "parts" not in document:
            return None
        parts = self._section(document, "parts", {"table", "column", "budgets"})
        budgets = parts.get("budgets")
        if not isinstance(budgets, dict):
            raise self._wrong("[parts] needs budgets", "add [parts.budgets] with north = { epsilon = 1 }")
        for name in ("table", "column"):
            if not isinstance(parts.get(name), str):
                raise self._wrong(f"[parts] needs a {name}", 'add table = "visits" and column = "region"')
        each = {name: self._budget_of(budgets[name], f"parts.budgets.{name}") for name in budgets}
        return DeclaredParts(parts["table"], parts["column"], each)

    def _budget_of(self, found: Any, section: str) -> Budget:
        if not isinstance(found, dict):
            raise self._wrong(f"[{section}] must be a table of TOML")
        self._known(found, f"[{section}]", {"epsilon", "delta"})
        return self._budget(found, section)

    def _budget(self, found: dict[str, Any], name: str) -> Budget:
        if "epsilon" not in found:
            raise self._wrong(f"[{name}] needs an epsilon", "add epsilon = 1")
        return Budget(
            positive(_ratio(found["epsilon"]), "epsilon"), nonnegative(_ratio(found.get("delta", 0)), "delta")
        )

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


def _ratio(value: Any) -> Any:
    """A number that no decimal says, such as "1/3", as a number; anything else as it is."""
    match = RATIO.fullmatch(value) if isinstance(value, str) else None
    return value if match is None or not int(match[2]) else Fraction(int(match[1]), int(match[2]))


def _exact(column: Any) -> Any:
    """What is said of a column, with such numbers in its bounds."""
    if not isinstance(column, dict) or not isinstance(column.get("bounds"), list):
        return column
    return column | {"bounds": [_ratio(each) for each in column["bounds"]]}


def save(document: str, path: Path) -> None:
    """Write the text of a policy; a file that is there is not written over."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(document)
    except FileExistsError:
        raise there_already(path) from None
    except OSError as error:
        raise Invalid(f"{str(path)!r} cannot be written: {error.strerror}", code="out") from None


def there_already(path: Path) -> Invalid:
    return Invalid(
        f"{str(path)!r} is there already, and is not written over", code="out", hint="name another one by --out"
    )


def written(policy: "Policy", path: Path) -> str:
    """The text of a policy that is to lie at `path`. What lies in that folder is named from there, all else by its whole path."""
    folder = real(path).parent
    return "\n".join(
        [
            f"version = {text(policy.version)}",
            *_section("budget", _budget(policy.budget) | {"accountant": policy.accountant, "shares": policy.shares}),
            *_section("unit", _unit(policy.protected)),
            *(line for name, source in policy.tables.items() for line in _table(name, source, folder)),
            *(
                line
                for name in policy.analysts
                for line in _section(f"analysts.{key(name)}", _budget(policy.analysts[name]))
            ),
            *_parts(policy.parts),
            *_section("ledger", _ledger(policy, folder)),
            "",
        ]
    )


def _section(name: str, fields: Mapping[str, Any]) -> Iterator[str]:
    """A section with those of its fields that say something; none where none does."""
    declared = {field: value for field, value in fields.items() if value is not None}
    if declared:
        yield from ("", f"[{name}]", *(f"{key(field)} = {_value(value)}" for field, value in declared.items()))


def _parts(parts: DeclaredParts | None) -> Iterator[str]:
    if parts is not None:
        yield from _section("parts", {"table": parts.table, "column": parts.column})
        for name, budget in parts.budgets.items():
            yield from _section(f"parts.budgets.{key(name)}", _budget(budget))


def _budget(budget: Budget) -> dict[str, Any]:
    return {"epsilon": budget.epsilon, "delta": budget.delta or None}


def _unit(unit: Protected) -> dict[str, Any]:
    return {
        "column": unit.person,
        "row": True if unit.person is None else None,
        "adjacency": unit.adjacency.value,
        "max_groups": unit.max_groups,
        "max_rows": unit.max_rows,
        "max_total": unit.max_total,
        "people": unit.people,
        "clip": unit.clip,
    }


def _table(name: str, source: Source, folder: Path) -> Iterator[str]:
    if not isinstance(source.data, str | Path):
        raise Invalid(
            f"table {name!r} is held in memory, and a policy names files",
            code="policy",
            hint="write it to a file first",
        )
    framing, reading = source.framing, source.reading
    yield from _section(
        f"tables.{key(name)}",
        {
            "source": _from(Path(source.data), folder),
            "delimiter": framing.delimiter,
            "multiline": framing.multiline or None,
            "ragged": framing.ragged or None,
            "encoding": framing.encoding,
            "decimal": reading.decimal,
            "thousands": reading.thousands or None,
            "null": list(reading.null) or None,
            "table": source.table,
            "types": "stored" if source.stored else None,
            "zone": None if reading.zone is None else reading.zone.name,
            "public": source.public or None,
            "join_rows": source.join_rows,
        },
    )
    yield from _section(f"tables.{key(name)}.columns", {column: source.columns[column] for column in source.columns})


def _ledger(policy: "Policy", folder: Path) -> dict[str, Any]:
    address, path = policy.address, policy.ledger
    file = None if address is None else address.file
    return {
        "path": None if path is None else MEMORY if str(path) == MEMORY else _from(path, folder),
        "address": None if address is None or address.variable is None else f"env:{address.variable}",
        "address_file": None if file is None else _from(file, folder),
        "schema": None if policy.schema == SCHEMA else policy.schema,
        "mark": None if policy.mark is None else _from(policy.mark, folder),
        "share_answers": policy.share_answers or None,
    }


def _from(path: Path, folder: Path) -> str:
    """A path as a policy in a folder names it: what lies in the folder, or is named from here, can be moved together with it."""
    inside = os.path.relpath(path, folder)
    return path.as_posix() if path.is_absolute() and inside.startswith("..") else Path(inside).as_posix()


def _value(value: Any) -> str:
    match value:
        case Declared():
            bounds: list[Any] | str | None = (
                AUTO if value.auto else None if value.low is None or value.high is None else [value.low, value.high]
            )
            if isinstance(bounds, list) and value.type in (Type.DATE, Type.TIMESTAMP):
                bounds = [value_of(value.type, each) for each in bounds]
            fields = {
                "type": None if value.type is None else value.type.value,
                "bounds": bounds,
                "keys": value.keys_of or (None if value.keys is None else list(value.keys)),
                "nullable": None if value.nullable else False,
                "format": value.format,
                "max_groups": value.max_groups,
            }
            return f"{{ {', '.join(f'{name} = {_value(each)}' for name, each in fields.items() if each is not None)} }}"
        case bool():
            return "true" if value else "false"
        case str():
            return text(value)
        case int():
            return str(value)
        case Fraction():
            return number(value)
        case float():
            return repr(value)
        case date():
            return value.isoformat()
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case (str(table), str(column)):
            return f"{{ table = {text(table)}, column = {text(column)} }}"
    raise Invalid(f"a policy cannot say {shown(value)}", code="policy")


def key(name: str) -> str:
    """A name as TOML writes it before an equals sign."""
    return name if BARE.fullmatch(name) else text(name)


def text(value: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def number(value: Fraction) -> str:
    """A number as a policy writes it; as a text where no decimal says it.

    >>> number(Fraction(1, 8)), number(Fraction(5)), number(Fraction(1, 3))
    ('0.125', '5', '"1/3"')
    """
    top, bottom, places = value.numerator, value.denominator, 0
    while bottom != 1 and places < MOST_PLACES and (10**places * top) % bottom:
        places += 1
    if (10**places * top) % bottom:
        return f'"{top}/{bottom}"'
    digits = str(abs(10**places * top // bottom)).zfill(places + 1)
    sign = "-" if top < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"
