"""What is declared of a source, of its columns, of who is protected and of a budget; each checked when it is said.

Nothing is filled in from the data: a column without bounds can be filtered and counted, not summed, and a column without keys not
grouped by. Bounds that are "auto" are found for each question that needs them, and paid for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.engines.framing import PLAIN, Framing
from discreet.engines.reading import AS_IT_IS, Form, Reading
from discreet.engines.zones import Zone
from discreet.errors import Invalid, Refused
from discreet.exact import rational, shown
from discreet.plan.calendar import number_of
from discreet.plan.catalog import (
    DAYS_HINT,
    MOMENTS_HINT,
    Key,
    Protected,
    checked_join_rows,
    groups_of_column,
    suggestion,
)
from discreet.plan.moments import last_of, micros_of, midnight
from discreet.plan.plain import Unusable, plain, plain_moment
from discreet.plan.scalar import Type
from discreet.plan.texts import plain_day
from discreet.plan.texts import plain_moment as said_moment
from discreet.privacy import Adjacency
from discreet.privacy.advice import Advice, Verdict, judge_delta, judge_delta_alone


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
class DeclaredParts:
    """Which column of which table says in what part somebody is, and what may be spent on each part that has a budget of its own."""

    table: str
    column: str
    budgets: Mapping[str, Budget]

    def __post_init__(self) -> None:
        for name, value in (("table", self.table), ("column", self.column)):
            if not isinstance(value, str) or not value:
                raise Invalid(f"the {name} of parts must be a name, got {shown(value)}", code="parts")
        if not self.budgets:
            raise Invalid(
                "parts need budgets, and none is said",
                code="parts",
                hint="add [parts.budgets] with north = { epsilon = 1 }",
            )


@dataclass(frozen=True, slots=True)
class Declared:
    """What is said of one column; None where nothing is."""

    type: Type | None = None
    low: Fraction | None = None  # of a date the days since the first of 1970, of a timestamp the microseconds
    high: Fraction | None = None
    keys: tuple[Key, ...] | None = None
    nullable: bool = True
    format: str | None = None  # of a date or a timestamp that is not written YYYY-MM-DD
    max_groups: int | None = None  # values of it that a person counts in
    auto: bool = False  # a number whose bounds are found for each question that needs them
    keys_of: tuple[str, str] | None = None  # the public table, and its column, whose values are the keys


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows of a table come from, how they are read, and what is said of its columns."""

    data: Any  # a path, or a frame
    columns: Mapping[str, Declared] = field(default_factory=dict)
    framing: Framing = PLAIN
    table: str | None = None  # inside a DuckDB file
    reading: Reading = AS_IT_IS
    stored: bool = False  # the types of the source are taken over: the owner's word that they do not come from the data
    public: bool = False  # it is about nobody, and may be read at will
    join_rows: int | None = None  # of a person that are joined with those of another table; None: the usual number


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
    return Protected(column, relation, **declared)


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


OPTIONS = (
    *("delimiter", "multiline", "ragged", "encoding", "decimal", "thousands", "null", "table", "types", "zone"),
    *("public", "join_rows"),
)
"""What may be said of a source, in a policy and in Python alike: how it is read, whether it is about anybody, how it is joined."""

AUTO = "auto"
"""What stands for bounds that are to be found."""

FIELDS = ("type", "bounds", "keys", "nullable", "format", "max_groups")
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
    zone = Zone.of(options["zone"]) if options.get("zone") is not None else None
    formats = {column: Form.of(said.format) for column, said in declared.items() if said.format is not None}
    return Source(
        data,
        declared,
        framing,
        table,
        Reading(**signs, null=tuple(null), formats=formats, zone=zone),
        types == "stored",
        *_joined(options),
    )


def _joined(options: Mapping[str, Any]) -> tuple[bool, int | None]:
    """Whether a source is public, and how many rows of a person are joined of one that is not."""
    public, rows = options.get("public", False), options.get("join_rows")
    if not isinstance(public, bool):
        raise Invalid(f"public must be true or false, got {shown(public)}", code="policy")
    if rows is not None and public:
        raise Invalid(
            "join_rows limits the rows of a person, and a public table is about nobody",
            code="policy",
            hint="remove join_rows, or public = true",
        )
    return public, None if rows is None else checked_join_rows(rows)


def _keys_of(name: str, found: Mapping[str, Any]) -> tuple[str, str]:
    """The public table and its column that keys are taken from."""
    if set(found) != {"table", "column"} or not all(isinstance(each, str) and each for each in found.values()):
        raise Invalid(
            f"keys of column {name!r} must be a list, or name a public table and its column, got {shown(dict(found))}",
            hint='write keys = ["A", "B"], or keys = { table = "airports", column = "faa" }',
        )
    return found["table"], found["column"]


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
    auto = isinstance(found.get("bounds"), str) and found["bounds"] == AUTO
    kind = _type(name, found.get("type"))
    if kind is Type.TIMESTAMP and not auto:
        (low, high), days = _moments(name, found.get("bounds")), False
    else:
        low, high, days = (None, None, False) if auto else _bounds(name, found.get("bounds"))
    keys = found.get("keys")
    keys_of = _keys_of(name, keys) if isinstance(keys, Mapping) else None
    if keys_of is not None:
        keys = None
    if keys is not None and (isinstance(keys, str) or not isinstance(keys, Iterable)):
        raise Invalid(f"keys of column {name!r} must be a list, got {shown(keys)}", hint='write keys = ["A", "B"]')
    form = found.get("format")
    if form is not None and kind not in (None, Type.DATE, Type.TIMESTAMP):
        raise Invalid(
            f"column {name!r} is {kind.value} and cannot have a format", hint="a format is of dates and timestamps"
        )
    if form is not None:
        kind = kind or Type.DATE
        Form.of(form)
    if days and kind not in (None, Type.DATE):
        raise Invalid(f"column {name!r} is {kind.value} and cannot have days for bounds", hint="give it type 'date'")
    if days:
        kind = Type.DATE
    if kind is Type.DATE and low is not None and not days:
        raise Invalid(f"bounds of column {name!r} must be two days, got {shown(found['bounds'])}", hint=DAYS_HINT)
    declared = None if keys is None else tuple(_plain_key(name, key, kind) for key in keys)
    limit = found.get("max_groups")
    groups = None if limit is None else groups_of_column(name, limit)
    if auto and kind not in (None, Type.INTEGER, Type.NUMBER):
        raise Invalid(
            f"column {name!r} is {kind.value}, and a range is found of numbers alone",
            hint="give it type 'integer' or 'number', or remove bounds = \"auto\"",
        )
    return Declared(kind, low, high, declared, nullable, form, groups, auto, keys_of)


def _plain_key(name: str, key: Any, kind: Type | None) -> Any:
    try:
        return plain_moment(key) if kind is Type.TIMESTAMP else plain(key)
    except Unusable as unusable:
        raise Invalid(f"a key of column {name!r} {unusable.what}", code="policy", hint=unusable.hint) from None


def _bounds(name: str, found: Any) -> tuple[Fraction | None, Fraction | None, bool]:
    """The two bounds, and whether they are days, which are known by their numbers."""
    if found is None:
        return None, None, False
    if isinstance(found, list | tuple) and len(found) == 2:
        days = [_day(each) for each in found]
        if days[0] is not None and days[1] is not None:
            return Fraction(number_of(days[0])), Fraction(number_of(days[1])), True
    if not isinstance(found, list | tuple) or len(found) != 2:
        raise Invalid(
            f'bounds of column {name!r} must be two numbers, or two days, or "auto", got {shown(found)}',
            hint='write bounds = [0, 120], or bounds = "auto" for a range that each question finds and pays for',
        )
    try:
        low, high = (rational(each, "bounds") for each in found)
    except Invalid:
        raise Invalid(
            f"bounds of column {name!r} must be two numbers, or two days, got {shown(found)}",
            hint="write bounds = [0, 120]",
        ) from None
    return low, high, False


def _moments(name: str, found: Any) -> tuple[Fraction | None, Fraction | None]:
    """The two bounds of a timestamp, by their numbers: moments, or days, the first from its beginning, the second until its end."""
    if found is None:
        return None, None
    first, last = map(_moment, found) if isinstance(found, list | tuple) and len(found) == 2 else (None, None)
    if first is None or last is None:
        raise Invalid(
            f"bounds of column {name!r} must be two days or two moments without a zone, got {shown(found)}",
            hint=MOMENTS_HINT,
        )
    low = first if isinstance(first, datetime) else midnight(first)
    high = last if isinstance(last, datetime) else last_of(last)
    return Fraction(micros_of(low)), Fraction(micros_of(high))


def _moment(end: Any) -> date | None:
    """A day or a moment, as such or as a text."""
    if isinstance(end, str):
        return plain_day(end.strip()) or said_moment(end.strip())
    try:
        moment = plain_moment(end)
    except Unusable:
        return None
    return moment if isinstance(moment, date) else None


def _day(end: Any) -> date | None:
    """A day, as such or as a text."""
    if isinstance(end, str):
        return plain_day(end.strip())
    try:
        day = plain(end)
    except Unusable:
        return None
    return day if type(day) is date else None


def _type(name: str, found: Any) -> Type | None:
    if found is None or isinstance(found, Type):
        return found
    try:
        return Type(found)
    except ValueError:
        names = ", ".join(repr(each.value) for each in Type)
        raise Invalid(f"type of column {name!r} must be one of {names}, got {shown(found)}") from None
