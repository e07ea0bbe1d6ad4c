"""Our nodes as SQL text. What runs in an engine is made here and nowhere else, by sqlglot's generator, from plain nodes.

Nothing is left to sqlglot's translation of functions: each is spelt here as the dialect has it, so that it is total and means what
`evaluate` says. Literals carry explicit casts; operators carry explicit parentheses. No text of an analyst
comes through but in literals, which the generator escapes.

An expression that is needed twice is written twice only while it is small; otherwise it is computed once, as a column of a derived
table below, so that the text grows no faster than the question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from math import floor, isnan, ldexp
from typing import TypeAlias

from sqlglot import exp

from discreet.errors import Fault
from discreet.plan.evaluate import CASTS, FALSE, LARGEST, LOWER, TRUE
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    ClipNorm,
    Contributions,
    Filter,
    How,
    Relation,
    Rows,
    Scan,
    Term,
    Totals,
)
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    Function,
    In,
    Indicator,
    IsNull,
    Like,
    Literal,
    Name,
    Not,
    Operator,
    Or,
    Order,
    Scalar,
    Steps,
    Type,
    type_of,
)

SMALL = 24  # nodes of an expression that may be written twice
LARGE = 200  # nodes of an expression that is given a column of its own
EPOCH = "1970-01-01"
SLACK = 1 + 2.0**-40  # more than all the roundings of a norm in doubles

NUMBER = r"^[ \t\r\n]*([+-]?[0-9]{1,18}(?:\.[0-9]{1,15})?)[ \t\r\n]*$"
DAY = r"^((?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[0-9]{2}-[0-9]{2})$"

E: TypeAlias = exp.Expression
T = exp.DType
TYPES = {Type.INTEGER: T.BIGINT, Type.NUMBER: T.DOUBLE, Type.TEXT: T.TEXT, Type.DATE: T.DATE, Type.BOOLEAN: T.BOOLEAN}
ORDERS: dict[Order, type[exp.Binary]] = {
    Order.EQUAL: exp.EQ,
    Order.NOT_EQUAL: exp.NEQ,
    Order.LESS: exp.LT,
    Order.LESS_OR_EQUAL: exp.LTE,
    Order.GREATER: exp.GT,
    Order.GREATER_OR_EQUAL: exp.GTE,
}
OPERATORS: dict[Operator, type[exp.Binary]] = {
    Operator.ADD: exp.Add,
    Operator.SUBTRACT: exp.Sub,
    Operator.MULTIPLY: exp.Mul,
    Operator.DIVIDE: exp.Div,
    Operator.REMAINDER: exp.Mod,
}


@dataclass(frozen=True, slots=True)
class Stored:
    """How an engine keeps a declared table: under which name, and which of its text columns as codes.

    It may have numbered the people of the column `person`, from 0 on, in a column `number`, and have a hash of each in a column `hash`.
    """

    table: str
    coded: frozenset[str] = frozenset()
    person: str | None = None
    number: str | None = None
    hash: str = ""
    people: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Made:
    """A rendered expression: how many nodes it has, on how many derived tables it rests, whether it may be NaN where NULL is meant."""

    sql: E
    size: int = 1
    level: int = 0
    nan: bool = False


def call(function: str, *arguments: E) -> E:
    return exp.Anonymous(this=function, expressions=list(arguments))


def text(value: str) -> E:
    return exp.Literal(this=value, is_string=True)


def plain(value: int) -> E:
    return exp.Literal(this=str(value), is_string=False)


def named(identifier: str) -> E:
    return exp.Column(this=exp.Identifier(this=identifier, quoted=True))


def alias(made: E, identifier: str) -> E:
    return exp.Alias(this=made, alias=exp.Identifier(this=identifier, quoted=True))


def cast(made: E, type: T) -> E:
    return exp.Cast(this=made, to=exp.DataType(this=type))


def try_cast(made: E, type: T) -> E:
    return exp.TryCast(this=made, to=exp.DataType(this=type))


def binary(operator: type[exp.Binary], left: E, right: E) -> E:
    return exp.Paren(this=operator(this=left, expression=right))


def chain(operator: type[exp.Binary], parts: list[E]) -> E:
    """Of any number of parts without nesting as deep: (a AND b) AND (c AND d)."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return binary(operator, chain(operator, parts[:half]), chain(operator, parts[half:]))


def when(branches: Sequence[tuple[E, E]], otherwise: E | None = None) -> E:
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=otherwise)


def integer(value: int) -> E:
    return cast(plain(value), T.BIGINT)


def double(value: float) -> E:
    return cast(text(repr(value)), T.DOUBLE)  # read digit by digit: a bare 0.1 would be a decimal first


def null(type: Type) -> E:
    return cast(exp.Null(), TYPES[type])


def is_null(made: E) -> E:
    return exp.Paren(this=exp.Is(this=made, expression=exp.Null()))


def lower(made: E) -> E:
    """Of the letters A to Z only."""
    letters = [chr(code) for code in LOWER]
    return call("translate", made, text("".join(letters)), text("".join(letters).translate(LOWER)))


@dataclass(slots=True)
class Expressions:
    """Renders the expressions of one relation, and the derived tables that they need below them."""

    columns: Mapping[str, Made]
    levels: list[list[E]] = field(default_factory=list)
    prefix: str = "#"

    def __post_init__(self) -> None:
        while any(column.startswith(self.prefix) for column in self.columns):
            self.prefix += "#"

    def render(self, scalar: Scalar) -> Made:
        """May be NaN where NULL is meant, if it says so."""
        made = render(scalar, self)
        return self.bound(made) if made.size > LARGE else made

    def clean(self, scalar: Scalar) -> Made:
        """Never NaN."""
        made = self.render(scalar)
        if not made.nan:
            return made
        made = self.shared(made)
        branch = (call("isnan", made.sql.copy()), null(Type.NUMBER))
        return Made(when([branch], made.sql), 2 * made.size + 4, made.level)

    def double(self, scalar: Scalar) -> Made:
        """A numeric expression as a double, which may be NaN."""
        made = self.render(scalar)
        if type_of(scalar) is Type.NUMBER:
            return made
        return Made(cast(made.sql, T.DOUBLE), made.size + 1, made.level)

    def clean_double(self, scalar: Scalar) -> Made:
        made = self.clean(scalar)
        if type_of(scalar) is Type.NUMBER:
            return made
        return Made(cast(made.sql, T.DOUBLE), made.size + 1, made.level)

    def shared(self, made: Made) -> Made:
        """Fit to be written more than once, as copies."""
        return made if made.size <= SMALL else self.bound(made)

    def bound(self, made: Made) -> Made:
        """A column of a derived table that holds this expression."""
        while len(self.levels) <= made.level:
            self.levels.append([])
        name = f"{self.prefix}{sum(map(len, self.levels))}"
        self.levels[made.level].append(alias(made.sql, name))
        return Made(named(name), 1, made.level + 1, made.nan)

    def over(self, source: E) -> E:
        """The source, with the derived tables around it."""
        for level in self.levels:
            select = exp.Select(expressions=[exp.Star(), *level])
            source = exp.Subquery(this=select.from_(source), alias=exp.TableAlias(this=exp.Identifier(this="rows")))
        return source


def joined(sql: E, *parts: Made, nan: bool = False) -> Made:
    """What was made of these parts."""
    return Made(sql, 1 + sum(part.size for part in parts), max((part.level for part in parts), default=0), nan)


@singledispatch
def render(scalar: Scalar, over: Expressions) -> Made:
    raise Fault(f"{type(scalar).__name__} cannot be rendered", code="scalar")


@render.register
def _(scalar: Column, over: Expressions) -> Made:
    made = over.columns[scalar.name]
    return Made(made.sql.copy(), made.size, made.level, made.nan)


@render.register
def _(scalar: Literal, over: Expressions) -> Made:
    value = scalar.value
    if value is None or (isinstance(value, float) and isnan(value)):
        return Made(null(scalar.type))
    if isinstance(value, bool):
        return Made(exp.Boolean(this=value))
    if isinstance(value, int):
        return Made(integer(value))
    if isinstance(value, float):
        return Made(double(value))
    return Made(cast(text(str(value)), TYPES[scalar.type]))


@render.register
def _(scalar: Arithmetic, over: Expressions) -> Made:
    left, right = over.double(scalar.left), over.double(scalar.right)
    divisor = right.sql
    if scalar.operator is Operator.DIVIDE and not (isinstance(scalar.right, Literal) and scalar.right.value):
        right = over.shared(right)
        zero = binary(exp.EQ, right.sql.copy(), double(0.0))
        divisor = when([(zero, null(Type.NUMBER))], right.sql)
        right = joined(divisor, right, right)
    return joined(binary(OPERATORS[scalar.operator], left.sql, divisor), left, right, nan=True)


@render.register
def _(scalar: Comparison, over: Expressions) -> Made:
    mixed = type_of(scalar.left) is not type_of(scalar.right)
    read = over.clean_double if mixed else over.clean
    left, right = read(scalar.left), read(scalar.right)
    return joined(binary(ORDERS[scalar.order], left.sql, right.sql), left, right)


@render.register
def _(scalar: And | Or, over: Expressions) -> Made:
    if not scalar.parts:
        return Made(exp.Boolean(this=isinstance(scalar, And)))
    parts = [over.clean(part) for part in scalar.parts]
    operator = exp.And if isinstance(scalar, And) else exp.Or
    return joined(chain(operator, [part.sql for part in parts]), *parts)


@render.register
def _(scalar: Not, over: Expressions) -> Made:
    operand = over.clean(scalar.operand)
    return joined(exp.Paren(this=exp.Not(this=operand.sql)), operand)


@render.register
def _(scalar: IsNull, over: Expressions) -> Made:
    operand = over.clean(scalar.operand)
    return joined(is_null(operand.sql), operand)


@render.register
def _(scalar: In, over: Expressions) -> Made:
    """An integer meets integers as an integer, and numbers as a double."""
    operand = over.shared(over.clean(scalar.operand))
    given = type_of(scalar.operand)
    values = [value for value in scalar.values if value.value == value.value]
    whole = [value for value in values if value.type is not Type.NUMBER]
    real = [value for value in values if value.type is Type.NUMBER]
    if given is Type.NUMBER:
        whole, real = [], values
    made = [
        exp.In(this=sql, expressions=[wanted(value, over).sql for value in some])
        for sql, some, wanted in (
            (operand.sql, whole, render),
            (operand.sql if given is Type.NUMBER else cast(operand.sql.copy(), T.DOUBLE), real, _as_double),
        )
        if some
    ]
    if not made:
        return joined(when([(is_null(operand.sql), null(Type.BOOLEAN))], exp.Boolean(this=False)), operand)
    return joined(chain(exp.Or, [exp.Paren(this=each) for each in made]), operand, operand)


def _as_double(scalar: Scalar, over: Expressions) -> Made:
    return over.clean_double(scalar)


@render.register
def _(scalar: Like, over: Expressions) -> Made:
    operand = over.clean(scalar.operand)
    pattern = _canonical(scalar.pattern.translate(LOWER) if scalar.ignore_case else scalar.pattern)
    subject = lower(operand.sql) if scalar.ignore_case else operand.sql
    like = exp.Like(this=subject, expression=text(pattern))
    return joined(exp.Paren(this=exp.Escape(this=like, expression=text("\\"))), operand)


def _canonical(pattern: str) -> str:
    """A pattern in which a backslash stands only before %, _ and itself, as some engines raise otherwise."""
    made, i = "", 0
    while i < len(pattern):
        character, i = pattern[i], i + 1
        if character == "\\" and i < len(pattern):
            character, i = pattern[i], i + 1
            made += f"\\{character}" if character in "\\%_" else character
        else:
            made += "\\\\" if character == "\\" else character
    return made


@render.register
def _(scalar: Case, over: Expressions) -> Made:
    type = type_of(scalar)
    read = over.double if type is Type.NUMBER else over.clean
    branches = [(over.clean(condition), read(value)) for condition, value in scalar.branches]
    otherwise = read(scalar.otherwise)
    values = [value for _, value in branches] + [otherwise]
    sql = when([(condition.sql, value.sql) for condition, value in branches], otherwise.sql)
    conditions = [condition for condition, _ in branches]
    return joined(sql, *conditions, *values, nan=any(value.nan for value in values))


@render.register
def _(scalar: Coalesce, over: Expressions) -> Made:
    read = over.clean_double if type_of(scalar) is Type.NUMBER else over.clean
    parts = [read(part) for part in scalar.parts]
    return joined(call("coalesce", *(part.sql for part in parts)), *parts)


@render.register
def _(scalar: Cast, over: Expressions) -> Made:
    given, wanted = type_of(scalar.operand), scalar.type
    if (given, wanted) not in CASTS:
        raise Fault(f"a cast from {given.value} to {wanted.value} cannot be rendered", code="scalar")
    if given is wanted:
        return over.render(scalar.operand)
    operand = over.clean(scalar.operand)
    if given is Type.TEXT:
        return _from_text(operand, wanted, over)
    if (given, wanted) == (Type.NUMBER, Type.INTEGER):
        operand = over.shared(operand)
        small = binary(exp.LT, call("abs", operand.sql.copy()), double(float(LARGEST)))
        return joined(when([(small, try_cast(call("round", operand.sql), T.BIGINT))]), operand, operand)
    return joined(cast(operand.sql, TYPES[wanted]), operand)


def _from_text(operand: Made, wanted: Type, over: Expressions) -> Made:
    if wanted is Type.BOOLEAN:
        operand = over.shared(operand)
        branches = [
            (
                exp.In(this=lower(operand.sql.copy()), expressions=[text(each) for each in sorted(some)]),
                exp.Boolean(this=found),
            )
            for some, found in ((TRUE, True), (FALSE, False))
        ]
        return joined(when(branches), operand, operand)
    pattern = DAY if wanted is Type.DATE else NUMBER
    extracted = call("regexp_extract", operand.sql, text(pattern), plain(1))  # empty where it does not match
    return joined(try_cast(extracted, TYPES[wanted]), operand)


@render.register
def _(scalar: Function, over: Expressions) -> Made:
    match scalar.name:
        case Name.GREATEST | Name.LEAST:
            parts = [over.clean_double(part) for part in scalar.operands]
            return joined(call(scalar.name.value, *(part.sql for part in parts)), *parts)
        case Name.LENGTH | Name.YEAR | Name.MONTH | Name.DAY:
            operand = over.clean(scalar.operands[0])
            return joined(cast(call(scalar.name.value, operand.sql), T.BIGINT), operand)
        case Name.SIGN:
            operand = over.clean_double(scalar.operands[0])
            return joined(cast(call("sign", operand.sql), T.DOUBLE), operand)
    operand = over.double(scalar.operands[0])
    return joined(call(scalar.name.value, operand.sql), operand, nan=operand.nan or scalar.name is Name.SQRT)


@render.register
def _(scalar: Steps, over: Expressions) -> Made:
    """Outside of the bounds the result is a constant; inside nothing can overflow, and if it did it would be NULL."""
    low, high = (floor(bound * ldexp(1.0, scalar.shift) + 0.5) - scalar.centre for bound in (scalar.low, scalar.high))
    if (
        type_of(scalar.operand) is Type.INTEGER
        and scalar.shift == 0
        and _integral(scalar.low)
        and _integral(scalar.high)
    ):
        operand = over.shared(over.render(scalar.operand))
        bounds = integer(int(scalar.low)), integer(int(scalar.high))
        inside = binary(exp.Sub, operand.sql, integer(scalar.centre)) if scalar.centre else operand.sql
    else:
        operand = over.shared(over.double(scalar.operand))
        bounds = double(scalar.low), double(scalar.high)
        scaled = binary(exp.Mul, operand.sql, double(ldexp(1.0, scalar.shift))) if scalar.shift else operand.sql
        whole = call("floor", binary(exp.Add, scaled, double(0.5)))
        inside = try_cast(binary(exp.Sub, whole, double(float(scalar.centre))) if scalar.centre else whole, T.BIGINT)
    branches = [
        (binary(exp.LTE, operand.sql.copy(), bounds[0]), integer(low)),
        (binary(exp.GTE, operand.sql.copy(), bounds[1]), integer(high)),
    ]
    if operand.nan:  # which an engine may hold to be above all bounds
        branches.insert(0, (call("isnan", operand.sql.copy()), null(Type.INTEGER)))
    return joined(when(branches, inside), operand, operand, operand, operand)


def _integral(bound: float) -> bool:
    return bound == floor(bound)


@render.register
def _(scalar: Indicator, over: Expressions) -> Made:
    condition = over.clean(scalar.condition)
    return joined(when([(condition.sql, integer(1))], integer(0)), condition)


SLOTS = 63  # bits of a mask, each for the priorities of one interval
MOST_BY_MASK = 16  # groups; for more of them the mask would not leave much out
PERSON, ROWS, PRIORITY, MASK, LAST, FACTOR = "person", "rows", "priority", "mask", "last", "factor"


def key(index: int) -> str:
    return f"key{index}"


def total(index: int) -> str:
    return f"total{index}"


def table(identifier: str) -> E:
    return exp.Table(this=exp.Identifier(this=identifier, quoted=True))


def inside(made: E, identifier: str) -> E:
    return exp.Subquery(this=made, alias=exp.TableAlias(this=exp.Identifier(this=identifier)))


def select(
    expressions: list[E],
    source: E,
    *,
    where: Sequence[E] = (),
    group: Sequence[E] = (),
    having: E | None = None,
    qualify: E | None = None,
    join: E | None = None,
) -> exp.Select:
    made = exp.Select(expressions=expressions, from_=exp.From(this=source))
    if join is not None:
        made.set("joins", [join])
    if where:
        made.set("where", exp.Where(this=chain(exp.And, list(where))))
    if group:
        made.set("group", exp.Group(expressions=list(group)))
    if having is not None:
        made.set("having", exp.Having(this=having))
    if qualify is not None:
        made.set("qualify", exp.Qualify(this=qualify))
    return made


def with_tables(made: E, **tables: tuple[E, bool]) -> E:
    """A query over named ones, each computed once, or written where it is used."""
    named_tables = [
        exp.CTE(this=query, alias=exp.TableAlias(this=exp.Identifier(this=each)), materialized=once)
        for each, (query, once) in tables.items()
    ]
    made.set("with_", exp.With(expressions=named_tables))
    return made


def join_people(made: E, identifier: str, side: str | None = None) -> E:
    return exp.Join(this=inside(made, identifier), using=[exp.Identifier(this=PERSON, quoted=True)], side=side)


def parameter(identifier: str, type: T) -> E:
    return cast(exp.Placeholder(this=identifier), type)


@dataclass(frozen=True, slots=True)
class Text:
    """What an engine runs: columns key0, key1, … and total0, total1, …; and the names of its parameters."""

    sql: str
    parameters: frozenset[str]


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of a group's columns: by what it is grouped, and what leaves the engine."""

    grouped: E
    shown: E


def sql_of(query: Totals, stored: Mapping[str, Stored], sliced: bool = False) -> Text:
    """The text for a query; `sliced`: over the people from number $low to below $high, to be added up over all of them."""
    writer = Writer(stored, sliced)
    made = writer.totals(query)
    return Text(made.sql("duckdb"), frozenset(writer.parameters))


def priorities(query: Totals, stored: Mapping[str, Stored]) -> Text:
    """The text that lists each person, the keys of each of their groups, and the priority of the person in the group."""
    writer = Writer(stored, False)
    made = writer.listed(contributions_of(query.source))
    return Text(made.sql("duckdb"), frozenset(writer.parameters))


def contributions_of(relation: Relation) -> Contributions:
    while not isinstance(relation, Contributions):
        if isinstance(relation, Scan | Filter | Totals):
            raise Fault("a relation of people holds no contributions", code="relation")
        relation = relation.source
    return relation


@dataclass(slots=True)
class Writer:
    """Writes one query, and remembers the parameters that it used."""

    stored: Mapping[str, Stored]
    sliced: bool
    parameters: set[str] = field(default_factory=set)

    def totals(self, query: Totals) -> E:
        source = query.source
        if isinstance(source, Scan | Filter):
            over, base, where = self.rows(source)
            kept = [_key(each, over, self.stored) for each in query.keys]
            made = [alias(each.shown, key(i)) for i, each in enumerate(kept)]
            made += [alias(_sum(term.value, over), total(i)) for i, term in enumerate(query.terms)]
            return select(made, over.over(base), where=where, group=[each.grouped for each in kept])
        contributions = contributions_of(source)
        keys = [named(key(i)) for i in range(len(contributions.keys))]
        made = [alias(self.shown(contributions, i), key(i)) for i in range(len(keys))]
        made += [alias(_total(named(total(i))), total(i)) for i in range(len(contributions.terms))]
        return select(made, inside(self.people(source), "people"), group=keys)

    def people(self, relation: Contributions | CapRows | CapGroups | ClipNorm) -> E:
        """One row for each person and group that counts: the person, the keys, and the totals."""
        match relation:
            case Contributions():
                return self.contributed(relation, priority=False)
            case CapRows(source, most):
                return self.capped(source, self.contributed(source, priority=True), most)
            case CapGroups():
                return self.chosen(relation)
            case ClipNorm():
                return self.clipped(relation)
        raise Fault(f"{type(relation).__name__} cannot be rendered", code="relation")

    def rows(self, relation: Rows) -> tuple[Expressions, E, list[E]]:
        conditions: list[Scalar] = []
        while isinstance(relation, Filter):
            conditions.insert(0, relation.condition)
            relation = relation.source
        stored = self.stored[relation.table]
        columns = {column.name: Made(named(column.name)) for column in relation.columns}
        columns |= {each: Made(cast(named(each), T.TEXT), 2) for each in columns if each in stored.coded}
        over = Expressions(columns)
        return over, table(stored.table), [over.clean(condition).sql for condition in conditions]

    def of_people(self, contributions: Contributions) -> tuple[Expressions, E, list[E], E, E]:
        """The rows that are about somebody, what tells people apart, and a hash of who they are that no other row has a part in."""
        over, base, where = self.rows(contributions.source)
        stored, name = self.stored[_scanned(contributions)], contributions.person.name
        if stored.number is None or stored.person != name:
            person = over.clean(contributions.person).sql
            where.append(exp.Paren(this=exp.Not(this=is_null(person.copy()))))
            return over, base, where, person, call("hash", person.copy())
        person = named(stored.number)
        if self.sliced:
            self.parameters |= {"low", "high"}
            where.append(binary(exp.GTE, person.copy(), parameter("low", T.INT)))
            where.append(binary(exp.LT, person.copy(), parameter("high", T.INT)))
        else:
            where.append(exp.Paren(this=exp.Not(this=is_null(person.copy()))))
        return over, base, where, person, named(stored.hash)

    def priority(self, hashed: E, kept: list[Kept]) -> E:
        """64 bits. The outer hash is needed: with the salt as one more argument of the inner one the order would always be the same."""
        self.parameters.add("salt")
        mixed = call("hash", hashed, *(each.shown.copy() for each in kept))
        return call("hash", call("xor", mixed, parameter("salt", T.UBIGINT)))

    def shown(self, contributions: Contributions, index: int) -> E:
        """A key of the contributions as it leaves the engine."""
        scalar = contributions.keys[index]
        coded = isinstance(scalar, Column) and scalar.name in self.stored[_scanned(contributions)].coded
        return cast(named(key(index)), T.TEXT) if coded else named(key(index))

    def listed(self, contributions: Contributions) -> E:
        over, base, where = self.rows(contributions.source)
        person = over.clean(contributions.person).sql
        where.append(exp.Paren(this=exp.Not(this=is_null(person.copy()))))
        kept = [_key(each, over, self.stored) for each in contributions.keys]
        made = [person, *(each.shown for each in kept), self.priority(call("hash", person.copy()), kept)]
        named_columns = [alias(each, f"c{i}") for i, each in enumerate(made)]
        return select(named_columns, over.over(base), where=where, group=[each.copy() for each in made])

    def contributed(self, contributions: Contributions, priority: bool) -> E:
        """One row for each person and group; with the number of rows there and the priority, if a cap needs them."""
        over, base, where, person, hashed = self.of_people(contributions)
        kept = [_key(each, over, self.stored) for each in contributions.keys]
        made = [alias(person, PERSON), *(alias(each.grouped, key(i)) for i, each in enumerate(kept))]
        if priority:
            made.append(alias(call("count", exp.Star()), ROWS))
            made.append(alias(call("any_value", self.priority(hashed, kept)), PRIORITY))
        made += [alias(_aggregate(term, over), total(i)) for i, term in enumerate(contributions.terms)]
        group = [person.copy(), *(each.grouped.copy() for each in kept)]
        return select(made, over.over(base), where=where, group=group)

    def capped(self, contributions: Contributions, source: E, most: int) -> E:
        """With s = q·n + r and 0 <= r < n, floor((s·most + u)/n) = q·most + floor((r·most + u)/n), where nothing overflows."""
        made = [named(PERSON), *(named(key(i)) for i in range(len(contributions.keys))), named(PRIORITY)]
        n, limit = named(ROWS), integer(most)
        for i, term in enumerate(contributions.terms):
            s = named(total(i))
            if term.how is How.ANY:
                made.append(s)
                continue
            r = binary(exp.Mod, binary(exp.Add, binary(exp.Mod, s, n), n), n)
            q = binary(exp.IntDiv, binary(exp.Sub, s, r), n)
            u = cast(binary(exp.Mod, named(PRIORITY), cast(n, T.UBIGINT)), T.BIGINT)
            rest = binary(exp.IntDiv, binary(exp.Add, binary(exp.Mul, r, limit), u), n)
            many = binary(exp.GT, n, limit)
            made.append(alias(when([(many, binary(exp.Add, binary(exp.Mul, q, limit), rest))], s), total(i)))
        return select(made, inside(source, "contributions"))

    def chosen(self, relation: CapGroups) -> E:
        """Only people in more than `most` groups are ranked: by their priorities, then by the keys, so that a tie keeps no more.

        To rank few groups a mask is made first for each person, with a bit for each of 63 intervals of priorities. What lies in an
        interval above the first `most` that are taken cannot be kept, and is left out before anything is grouped.
        """
        contributions = contributions_of(relation.source)
        if not contributions.keys:
            return self.people(relation.source)
        candidates = self.candidates(contributions, relation.most)
        if isinstance(relation.source, CapRows):
            candidates = self.capped(contributions, candidates, relation.source.most)
        columns = [named(PERSON), *(named(each) for each in _names(contributions))]
        over_most = binary(exp.GT, call("count", exp.Star()), plain(relation.most))
        many = select([named(PERSON)], table("candidates"), group=[named(PERSON)], having=over_most)
        order = [named(PRIORITY), *(self.shown(contributions, i) for i in range(len(contributions.keys)))]
        ranked = exp.Window(
            this=call("row_number"),
            partition_by=[named(PERSON)],
            order=exp.Order(expressions=[exp.Ordered(this=each, nulls_first=False) for each in order]),
        )
        few = exp.Not(this=exp.In(this=named(PERSON), query=exp.Subquery(this=select([named(PERSON)], table("many")))))
        both = exp.Union(
            this=select(columns, table("candidates"), where=[few]),
            expression=select(
                columns,
                table("candidates"),
                join=exp.Join(this=table("many"), using=[exp.Identifier(this=PERSON, quoted=True)]),
                qualify=exp.LTE(this=ranked, expression=plain(relation.most)),
            ),
            distinct=False,
        )
        return with_tables(both, candidates=(candidates, True), many=(many, True))

    def candidates(self, contributions: Contributions, most: int) -> E:
        """The contributions of people to groups that may be kept."""
        if most > MOST_BY_MASK:
            return self.contributed(contributions, priority=True)
        over, base, where, person, hashed = self.of_people(contributions)
        kept = [_key(each, over, self.stored) for each in contributions.keys]
        made = [alias(person, PERSON), *(alias(each.grouped, key(i)) for i, each in enumerate(kept))]
        made.append(alias(call("count", exp.Star()), ROWS))
        priority = over.prefix + PRIORITY  # beside the columns of the table
        made.append(alias(call("any_value", named(priority)), PRIORITY))
        made += [alias(_aggregate(term, over), total(i)) for i, term in enumerate(contributions.terms)]
        with_priority = [exp.Star(), alias(self.priority(hashed, kept), priority)]
        rows = select(with_priority, over.over(base), where=where)
        mask = [alias(person.copy(), PERSON), alias(call("bit_or", _slot(priority)), MASK)]
        last = _last(select(mask, inside(rows, "rows"), group=[person.copy()]), most, over.prefix)
        on = exp.EQ(this=person.copy(), expression=named(over.prefix + PERSON))
        join = exp.Join(this=inside(last, "last"), on=on, side="left")
        bit = named(over.prefix + LAST)
        possible = binary(exp.Or, is_null(bit), binary(exp.LTE, _slot(priority), bit.copy()))
        group = [person.copy(), *(each.grouped.copy() for each in kept)]
        return select(made, inside(rows.copy(), "rows"), join=join, where=[possible], group=group)

    def clipped(self, relation: ClipNorm) -> E:
        """Only people who are shortened are joined. The squares are added up as integers, so that their order does not matter."""
        contributions = contributions_of(relation.source)
        names = [named(each) for each in _names(contributions)]
        wide = T.BIGINT if self.narrow(relation.source) else T.INT128
        factors, beyond = [], []
        for i, limit in enumerate(relation.limits):
            square = call("sum", binary(exp.Mul, cast(named(total(i)), wide), cast(named(total(i)), wide)))
            norm = binary(exp.Mul, call("sqrt", cast(square, T.DOUBLE)), double(SLACK))
            factors.append(binary(exp.Div, double(float(limit)), norm))
            beyond.append(binary(exp.GT, square.copy(), cast(plain(limit * limit), T.INT128)))
        factor = alias(call("least", *factors), FACTOR)
        long = select([named(PERSON), factor], table("groups"), group=[named(PERSON)], having=chain(exp.Or, beyond))
        made = [named(PERSON), *names[: len(contributions.keys)]]
        for i in range(len(contributions.terms)):
            short = call("trunc", binary(exp.Mul, cast(named(total(i)), T.DOUBLE), named(FACTOR)))
            branch = (is_null(named(FACTOR)), named(total(i)))
            made.append(alias(when([branch], cast(short, T.BIGINT)), total(i)))
        joined_people = select(made, table("groups"), join=join_people(long, "long", "left"))
        return with_tables(joined_people, groups=(self.people(relation.source), True))

    def narrow(self, relation: Contributions | CapRows) -> bool:
        """Whether the square of a total surely fits 64 bits: with at most so many rows, of so many steps each."""
        if not isinstance(relation, CapRows):
            return False
        return all(relation.most * _largest(term.value) < 1 << 31 for term in relation.source.terms)


def _names(contributions: Contributions) -> list[str]:
    return [key(i) for i in range(len(contributions.keys))] + [total(i) for i in range(len(contributions.terms))]


def _scanned(contributions: Contributions) -> str:
    relation: Rows = contributions.source
    while isinstance(relation, Filter):
        relation = relation.source
    return relation.table


def _key(scalar: Scalar, over: Expressions, stored: Mapping[str, Stored]) -> Kept:
    """A text that is kept as codes is grouped by them; a date leaves the engine as days since 1970-01-01."""
    made = over.clean(scalar).sql
    match type_of(scalar):
        case Type.NUMBER:
            raise Fault("a key must not be a number", code="relation")
        case Type.DATE:
            days = binary(exp.Sub, made, cast(text(EPOCH), T.DATE))
            return Kept(days, days.copy())
        case Type.TEXT if isinstance(scalar, Column) and isinstance(made, exp.Cast):
            return Kept(made.this.copy(), made)
    if isinstance(scalar, Literal):  # which a position in GROUP BY could be taken for
        made = cast(made, TYPES[scalar.type])
    return Kept(made, made.copy())


def _aggregate(term: Term, over: Expressions) -> E:
    return _sum(term.value, over) if term.how is How.SUM else _total(over.clean(term.value).sql, "max")


def _sum(scalar: Scalar, over: Expressions) -> E:
    """The sum of a term over rows, as int64. Counts are counted, which is the cheapest."""
    match scalar:
        case Literal(value=1):
            return cast(call("count", exp.Star()), T.BIGINT)
        case Indicator(condition=Not(operand=IsNull(operand=operand))):
            return cast(call("count", over.clean(operand).sql), T.BIGINT)
        case Indicator(condition=condition):
            branch = (over.clean(condition).sql, integer(1))
            return cast(call("count", when([branch])), T.BIGINT)
    return _total(over.clean(scalar).sql)


def _total(made: E, how: str = "sum") -> E:
    """As int64: an engine would return a wider integer, and a reader would take it for a float."""
    return cast(call("coalesce", call(how, cast(made, T.BIGINT)), integer(0)), T.BIGINT)


def _slot(priority: str) -> E:
    """The bit of the interval that a priority lies in; it grows with the priority."""
    interval = cast(exp.BitwiseRightShift(this=named(priority), expression=plain(58)), T.INT)
    return exp.Paren(this=exp.BitwiseLeftShift(this=integer(1), expression=call("least", interval, plain(SLOTS - 1))))


def _last(masks: E, most: int, prefix: str) -> E:
    """Of people with more than `most` intervals taken: the bit of the last one that can be kept."""
    for _ in range(most - 1):  # the lowest bit of what is left is taken away
        masks = select([named(PERSON), alias(_rest(), MASK)], inside(masks, "masks"))
    lowest = exp.Paren(this=exp.BitwiseAnd(this=named(MASK), expression=exp.Paren(this=exp.Neg(this=named(MASK)))))
    more = binary(exp.NEQ, _rest(), integer(0))
    made = [alias(named(PERSON), prefix + PERSON), alias(lowest, prefix + LAST)]
    return select(made, inside(masks, "masks"), where=[more])


def _rest() -> E:
    return exp.Paren(this=exp.BitwiseAnd(this=named(MASK), expression=binary(exp.Sub, named(MASK), integer(1))))


def _largest(scalar: Scalar) -> int:
    """A bound of the size of a term of one row."""
    match scalar:
        case Steps(low=low, high=high, shift=shift, centre=centre):
            return int(ldexp(max(abs(low), abs(high)), shift)) + abs(centre) + 1
        case Literal(value=int(value)):
            return abs(value)
    return 1


def loaded(identifier: str, native: str, type: Type) -> E:
    """A column of a source, of a type in DuckDB's words, as one of ours; what ours cannot hold is NULL."""
    made = named(identifier)
    match type:
        case Type.INTEGER:
            return try_cast(made, T.BIGINT)
        case Type.NUMBER:
            wide = cast(made, T.DOUBLE)
            return when([(call("isnan", wide), null(Type.NUMBER))], wide.copy())
        case Type.DATE:
            if native == "TIMESTAMP WITH TIME ZONE":  # in UTC, whatever the zone of this machine
                made = call("make_timestamp", call("epoch_us", made))
            day = try_cast(made, T.DATE)
            after = binary(exp.GTE, day, cast(text("0001-01-01"), T.DATE))
            before = binary(exp.LTE, day.copy(), cast(text("9999-12-31"), T.DATE))
            return when([(exp.And(this=after, expression=before), day.copy())])
    return cast(made, TYPES[type])
