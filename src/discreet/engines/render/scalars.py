"""Expressions of a row as SQL: total, and meaning what `evaluate` says.

An expression that is needed twice is written twice only while it is small; otherwise it is computed once, as a column of a derived
table below, so that the text grows no faster than the question.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from math import isnan, ldexp

from sqlglot import exp

from discreet.engines.render.nodes import (
    TYPES,
    E,
    T,
    alias,
    binary,
    call,
    cast,
    chain,
    double,
    integer,
    is_null,
    named,
    null,
    text,
    when,
)
from discreet.engines.render.words import Words
from discreet.errors import Fault
from discreet.plan.casts import Conversion, conversion
from discreet.plan.evaluate import steps_of
from discreet.plan.functions import FunctionRow, Written, function
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
    Not,
    Operator,
    Or,
    Order,
    Product,
    Scalar,
    Steps,
    Type,
    type_of,
)
from discreet.plan.texts import LOWER

SMALL = 24  # nodes of an expression that may be written twice
LARGE = 200  # nodes of an expression that is given a column of its own

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
}


@dataclass(frozen=True, slots=True)
class Made:
    """A rendered expression: how many nodes it has, on how many derived tables it rests, whether it may be NaN where NULL is meant."""

    sql: E
    size: int = 1
    level: int = 0
    nan: bool = False
    form: E | None = None  # of a column: what is stored, where that is another form of its value


@dataclass(slots=True)
class ScalarWriter:
    """Renders the expressions of one relation, and the derived tables that they need below them."""

    columns: Mapping[str | tuple[str, str], Made]  # by the place of each
    words: Words
    levels: list[list[E]] = field(default_factory=list)
    prefix: str = "#"

    def __post_init__(self) -> None:
        names = [place if isinstance(place, str) else place[1] for place in self.columns]
        while any(name.startswith(self.prefix) for name in names):
            self.prefix += "#"

    def render(self, scalar: Scalar) -> Made:
        """May be NaN where NULL is meant, if it says so."""
        part = render(scalar, self)
        return self.bound(part) if part.size > LARGE else part

    def clean(self, scalar: Scalar) -> Made:
        """Never NaN."""
        part = self.render(scalar)
        if not part.nan:
            return part
        part = self.shared(part)
        branch = (self.words.is_nan(part.sql.copy()), null(Type.NUMBER))
        return Made(when([branch], part.sql), 2 * part.size + 4, part.level)

    def double(self, scalar: Scalar) -> Made:
        """A numeric expression as a double, which may be NaN."""
        part = self.render(scalar)
        if type_of(scalar) is Type.NUMBER:
            return part
        return Made(cast(part.sql, T.DOUBLE), part.size + 1, part.level)

    def clean_double(self, scalar: Scalar) -> Made:
        part = self.clean(scalar)
        if type_of(scalar) is Type.NUMBER:
            return part
        return Made(cast(part.sql, T.DOUBLE), part.size + 1, part.level)

    def shared(self, part: Made) -> Made:
        """Fit to be written more than once, as copies."""
        return part if part.size <= SMALL else self.bound(part)

    def bound(self, part: Made) -> Made:
        """A column of a derived table that holds this expression."""
        while len(self.levels) <= part.level:
            self.levels.append([])
        name = f"{self.prefix}{sum(map(len, self.levels))}"
        self.levels[part.level].append(alias(part.sql, name))
        return Made(named(name), 1, part.level + 1, part.nan)

    def over(self, source: E) -> E:
        """The source, with the derived tables around it."""
        for level in self.levels:
            select = exp.Select(expressions=[exp.Star(), *level])
            source = exp.Subquery(this=select.from_(source), alias=exp.TableAlias(this=exp.Identifier(this="rows")))
        return source


def made_of(sql: E, *parts: Made, nan: bool = False) -> Made:
    """What was made of these parts."""
    return Made(sql, 1 + sum(part.size for part in parts), max((part.level for part in parts), default=0), nan)


@singledispatch
def render(scalar: Scalar, over: ScalarWriter) -> Made:
    raise Fault(f"{type(scalar).__name__} cannot be rendered", code="scalar")


@render.register
def _column(scalar: Column, over: ScalarWriter) -> Made:
    part = over.columns[scalar.place]
    return Made(part.sql.copy(), part.size, part.level, part.nan)


@render.register
def _literal(scalar: Literal, over: ScalarWriter) -> Made:
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
def _arithmetic(scalar: Arithmetic, over: ScalarWriter) -> Made:
    left, right = over.double(scalar.left), over.double(scalar.right)
    divisor = right.sql
    if scalar.operator is Operator.DIVIDE and not (isinstance(scalar.right, Literal) and scalar.right.value):
        right = over.shared(right)
        zero = binary(exp.EQ, right.sql.copy(), double(0.0))
        divisor = when([(zero, null(Type.NUMBER))], right.sql)
        right = made_of(divisor, right, right)
    if scalar.operator is Operator.REMAINDER:
        return made_of(over.words.remainder(left.sql, divisor), left, right, nan=True)
    return made_of(binary(OPERATORS[scalar.operator], left.sql, divisor), left, right, nan=True)


@render.register
def _comparison(scalar: Comparison, over: ScalarWriter) -> Made:
    mixed = type_of(scalar.left) is not type_of(scalar.right)
    read = over.clean_double if mixed else over.clean
    left, right = read(scalar.left), read(scalar.right)
    return made_of(binary(ORDERS[scalar.order], left.sql, right.sql), left, right)


@render.register
def _logic(scalar: And | Or, over: ScalarWriter) -> Made:
    if not scalar.parts:
        return Made(exp.Boolean(this=isinstance(scalar, And)))
    parts = [over.clean(part) for part in scalar.parts]
    operator = exp.And if isinstance(scalar, And) else exp.Or
    return made_of(chain(operator, [part.sql for part in parts]), *parts)


@render.register
def _not(scalar: Not, over: ScalarWriter) -> Made:
    operand = over.clean(scalar.operand)
    return made_of(exp.Paren(this=exp.Not(this=operand.sql)), operand)


@render.register
def _is_null(scalar: IsNull, over: ScalarWriter) -> Made:
    operand = over.clean(scalar.operand)
    return made_of(is_null(operand.sql), operand)


@render.register
def _in(scalar: In, over: ScalarWriter) -> Made:
    """An integer meets integers as an integer, and numbers as a double."""
    operand = over.shared(over.clean(scalar.operand))
    kind = type_of(scalar.operand)
    values = [value for value in scalar.values if value.value == value.value]
    whole = [value for value in values if value.type is not Type.NUMBER]
    real = [value for value in values if value.type is Type.NUMBER]
    if kind is Type.NUMBER:
        whole, real = [], values
    tests = [
        exp.In(this=sql, expressions=[writer(value, over).sql for value in some])
        for sql, some, writer in (
            (operand.sql, whole, render),
            (operand.sql if kind is Type.NUMBER else cast(operand.sql.copy(), T.DOUBLE), real, _as_double),
        )
        if some
    ]
    if not tests:
        return made_of(when([(is_null(operand.sql), null(Type.BOOLEAN))], exp.Boolean(this=False)), operand)
    return made_of(chain(exp.Or, [exp.Paren(this=each) for each in tests]), operand, operand)


def _as_double(scalar: Scalar, over: ScalarWriter) -> Made:
    return over.clean_double(scalar)


@render.register
def _like(scalar: Like, over: ScalarWriter) -> Made:
    operand = over.clean(scalar.operand)
    pattern = _canonical(scalar.pattern.translate(LOWER) if scalar.ignore_case else scalar.pattern)
    subject = over.words.lower_ascii(operand.sql) if scalar.ignore_case else operand.sql
    return made_of(over.words.like(subject, pattern), operand)


def _canonical(pattern: str) -> str:
    """A pattern in which a backslash stands only before %, _ and itself, as some engines raise otherwise."""
    text, i = "", 0
    while i < len(pattern):
        character, i = pattern[i], i + 1
        if character == "\\" and i < len(pattern):
            character, i = pattern[i], i + 1
            text += f"\\{character}" if character in "\\%_" else character
        else:
            text += "\\\\" if character == "\\" else character
    return text


@render.register
def _case(scalar: Case, over: ScalarWriter) -> Made:
    type = type_of(scalar)
    read = over.double if type is Type.NUMBER else over.clean
    branches = [(over.clean(condition), read(value)) for condition, value in scalar.branches]
    otherwise = read(scalar.otherwise)
    values = [value for _, value in branches] + [otherwise]
    sql = when([(condition.sql, value.sql) for condition, value in branches], otherwise.sql)
    conditions = [condition for condition, _ in branches]
    return made_of(sql, *conditions, *values, nan=any(value.nan for value in values))


@render.register
def _coalesce(scalar: Coalesce, over: ScalarWriter) -> Made:
    read = over.clean_double if type_of(scalar) is Type.NUMBER else over.clean
    parts = [read(part) for part in scalar.parts]
    return made_of(call("coalesce", *(part.sql for part in parts)), *parts)


@render.register
def _cast(scalar: Cast, over: ScalarWriter) -> Made:
    source, target = type_of(scalar.operand), scalar.type
    row = conversion(source, target)
    if source is target:
        return over.render(scalar.operand)
    return _written(row, [over.clean(scalar.operand)], over)


@render.register
def _function(scalar: Function, over: ScalarWriter) -> Made:
    row = function(scalar.name)
    parts = []
    for i, operand in enumerate(scalar.operands):
        if row.operand(i) is Type.NUMBER:
            parts.append(over.double(operand) if row.passes_nan else over.clean_double(operand))
        else:
            parts.append(over.clean(operand))
    nan = row.makes_nan and row.gives is Type.NUMBER
    return _written(row, parts, over, nan=nan or any(part.nan for part in parts))


def _written(row: FunctionRow | Conversion, parts: list[Made], over: ScalarWriter, nan: bool = False) -> Made:
    """The SQL of a row; operands that it writes again are first made short enough, those that it writes often a column."""
    match row.written:
        case Written.ONCE:
            return made_of(row.write(over.words, *(part.sql for part in parts)), *parts, nan=nan)
        case Written.TWICE:
            parts = [over.shared(part) for part in parts]
            return made_of(row.write(over.words, *(part.sql for part in parts)), *parts, *parts, nan=nan)
        case Written.OFTEN:
            parts = [part if part.size <= 2 else over.bound(part) for part in parts]
            sql = row.write(over.words, *(part.sql for part in parts))
            level = max((part.level for part in parts), default=0)
            return Made(sql, sum(1 for _ in sql.walk()), level, nan)


@render.register
def _steps(scalar: Steps, over: ScalarWriter) -> Made:
    """Outside of the bounds the result is a constant; inside nothing can overflow, and if it did it would be NULL."""
    low, high = (steps_of(bound, scalar) for bound in (scalar.low, scalar.high))
    if scalar.whole:
        operand = over.shared(over.render(scalar.operand))
        bounds = integer(int(scalar.low)), integer(int(scalar.high))
        inside = binary(exp.Sub, operand.sql, integer(int(scalar.middle))) if scalar.middle else operand.sql
    else:
        operand = over.shared(over.double(scalar.operand))
        bounds = double(scalar.low), double(scalar.high)
        centred = binary(exp.Sub, operand.sql, double(scalar.middle)) if scalar.middle else operand.sql
        scaled = binary(exp.Mul, centred, double(ldexp(1.0, scalar.shift))) if scalar.shift else centred
        inside = over.words.floor_to_int(binary(exp.Add, scaled, double(0.5)))
    branches = [
        (binary(exp.LTE, operand.sql.copy(), bounds[0]), integer(low)),
        (binary(exp.GTE, operand.sql.copy(), bounds[1]), integer(high)),
    ]
    if operand.nan:  # which an engine may hold to be above all bounds
        branches.insert(0, (over.words.is_nan(operand.sql.copy()), null(Type.INTEGER)))
    return made_of(when(branches, inside), operand, operand, operand, operand)


@render.register
def _product(scalar: Product, over: ScalarWriter) -> Made:
    """Doubles hold products of two factors of at most 2^24 exactly: an engine's narrow integers might not."""
    parts = [over.render(scalar.left), over.render(scalar.right)]
    if scalar.left == scalar.right:
        parts = [over.shared(parts[0])] * 2
    product = binary(exp.Mul, *(cast(part.sql.copy(), T.DOUBLE) for part in parts))
    coarse = binary(exp.Mul, product, double(ldexp(1.0, -scalar.shift))) if scalar.shift else product
    place = over.words.floor_to_int(binary(exp.Add, coarse, double(0.5)))
    return made_of(binary(exp.Sub, place, integer(scalar.middle)) if scalar.middle else place, *parts)


@render.register
def _indicator(scalar: Indicator, over: ScalarWriter) -> Made:
    condition = over.clean(scalar.condition)
    return made_of(when([(condition.sql, integer(1))], integer(0)), condition)
