"""Expressions on one row: frozen nodes, and the type of each.

Their meaning is written once, in `evaluate`; engines render the same meaning in their own language. Every expression is total: what would
raise on some row gives NULL. Arithmetic is on IEEE doubles, so that nothing overflows: integers are exact up to 2^53, a
division by zero and whatever is not a number are NULL, and an infinity is a number that a clamp will meet.
"""

from dataclasses import dataclass
from enum import Enum
from functools import singledispatch
from math import floor

from discreet.errors import Fault, Invalid
from discreet.plan import dates, number_functions, text_functions, times  # noqa: F401 (their rows are added to the table)
from discreet.plan.functions import function
from discreet.plan.types import KINDS as KINDS
from discreet.plan.types import LARGEST as LARGEST
from discreet.plan.types import WIDEST as WIDEST
from discreet.plan.types import Type as Type
from discreet.plan.types import Value as Value


@dataclass(frozen=True, slots=True)
class Scalar:
    """Any expression."""


@dataclass(frozen=True, slots=True)
class Column(Scalar):
    """A column in scope: by its name, and by that of its relation where there are several; where there is one that is empty."""

    name: str
    type: Type
    table: str = ""

    @property
    def place(self) -> str | tuple[str, str]:
        """The place where a row has its value."""
        return (self.table, self.name) if self.table else self.name


@dataclass(frozen=True, slots=True)
class Key(Scalar):
    """The released key of this index, in what is made of released values."""

    index: int
    type: Type

    def __hash__(self) -> int:
        # rows of released values are looked up by it
        return self.index


@dataclass(frozen=True, slots=True)
class Released(Scalar):
    """The released aggregate of this index, in what is made of released values: a number, or for a kind of values one of its list."""

    index: int
    type: Type = Type.NUMBER

    def __hash__(self) -> int:
        return ~self.index


@dataclass(frozen=True, slots=True)
class Literal(Scalar):
    """A constant. An int is an INTEGER, a float a NUMBER, and NULL has the type it is used as."""

    value: Value
    type: Type

    def __post_init__(self) -> None:
        if self.value is not None and type(self.value) is not KINDS[self.type]:
            raise Invalid(f"value must be a {self.type.value}, got a {type(self.value).__name__}")


class Operator(Enum):
    """An operator of arithmetic."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"  # never an integer division
    REMAINDER = "%"  # with the sign of the dividend, as fmod


@dataclass(frozen=True, slots=True)
class Arithmetic(Scalar):
    """Arithmetic on doubles. NULL if either is NULL, if the result is not a number, or if the divisor is 0."""

    operator: Operator
    left: Scalar
    right: Scalar


class Order(Enum):
    """A comparison."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


@dataclass(frozen=True, slots=True)
class Comparison(Scalar):
    """A comparison of two values of one type, or of an integer with a number, as doubles. NULL if either is NULL."""

    order: Order
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class And(Scalar):
    """AND in three values: false if any part is false, else NULL if any is NULL, else true."""

    parts: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Or(Scalar):
    """OR in three values: true if any part is true, else NULL if any is NULL, else false."""

    parts: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Not(Scalar):
    """NULL stays NULL."""

    operand: Scalar


@dataclass(frozen=True, slots=True)
class IsNull(Scalar):
    """Never NULL itself."""

    operand: Scalar


@dataclass(frozen=True, slots=True)
class In(Scalar):
    """One of these values, none of which is NULL. NULL if the operand is NULL."""

    operand: Scalar
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Like(Scalar):
    """A text against a constant pattern: % is any text, _ one character; a backslash takes the next one as it is."""

    operand: Scalar
    pattern: str
    ignore_case: bool = False  # of the letters A to Z only, which every engine agrees on


@dataclass(frozen=True, slots=True)
class Case(Scalar):
    """The value of the first branch whose condition is true, else `otherwise`. All values are of one type, or numeric."""

    branches: tuple[tuple[Scalar, Scalar], ...]
    otherwise: Scalar


@dataclass(frozen=True, slots=True)
class Coalesce(Scalar):
    """The first that is not NULL. All are of one type, or numeric."""

    parts: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Cast(Scalar):
    """A conversion of the table in `casts`: what cannot be converted is NULL."""

    operand: Scalar
    type: Type


@dataclass(frozen=True, slots=True)
class Function(Scalar):
    """A function of the table in `functions`, by its name there."""

    name: str
    operands: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Grouping(Scalar):
    """1 in the rows of an answer that are over all values of a key, 0 in those that are of one of them; of released keys only."""

    operand: Scalar


class WindowFunction(Enum):
    """A function over the rows of an answer."""

    SUM = "SUM"
    RANK = "RANK"
    DENSE_RANK = "DENSE_RANK"
    ROW_NUMBER = "ROW_NUMBER"


@dataclass(frozen=True, slots=True)
class Over(Scalar):
    """A function over the rows of an answer that have equal keys in `partition`: a sum, or a place in an order.

    Of released values only; an order is of a value, whether it falls, and whether NULL is first.
    """

    function: WindowFunction
    operands: tuple[Scalar, ...]
    partition: tuple[Scalar, ...] = ()
    order: tuple[tuple[Scalar, bool, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Steps(Scalar):
    """A numeric operand, clamped to [low, high], less a middle, in whole steps of a public grid: an int64 of at most 2^24 in size.

    floor((min(max(x, low), high) − middle) · 2^shift + 1/2), for doubles: the difference is rounded once, in the same way
    everywhere. NULL stays NULL. Of a plain INTEGER with shift 0 and an integral middle and bounds it is the same in integers, and
    exact.
    """

    operand: Scalar
    low: float
    high: float
    shift: int
    middle: float

    @property
    def whole(self) -> bool:
        """Whether it is computed in integers."""
        ends = (self.low, self.high, self.middle)
        whole = all(end == floor(end) and abs(end) < WIDEST for end in ends)
        return whole and self.shift == 0 and type_of(self.operand) is Type.INTEGER


@dataclass(frozen=True, slots=True)
class Product(Scalar):
    """The product of two numbers in steps, less a middle, in whole steps that are coarser by 2^shift: an int64 of at most 2^24 in size.

    floor(a · b · 2^−shift + 1/2) − middle. Each factor is at most 2^24 in size, so that their product is exact in doubles, and so is
    all that is done to it. NULL if either is NULL.
    """

    left: Steps
    right: Steps
    shift: int
    middle: int


@dataclass(frozen=True, slots=True)
class Pair(Scalar):
    """Two numbers of a row, as an aggregate of pairs has them for its argument; it is there where both are."""

    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Indicator(Scalar):
    """1 where a condition is true, else 0 (where it is NULL too): an int64, never NULL."""

    condition: Scalar


@singledispatch
def type_of(scalar: Scalar) -> Type:
    """The type of an expression that was built with operands of the right types."""
    raise Fault(f"{type(scalar).__name__} has no rule for its type", code="scalar")


@type_of.register
def _type_of_typed(scalar: Column | Key | Released | Literal | Cast) -> Type:
    return scalar.type


@type_of.register
def _type_of_arithmetic(scalar: Arithmetic | Pair) -> Type:
    return Type.NUMBER


@type_of.register
def _type_of_condition(scalar: Comparison | And | Or | Not | IsNull | In | Like) -> Type:
    return Type.BOOLEAN


@type_of.register
def _type_of_case(scalar: Case) -> Type:
    return common_type([type_of(value) for _, value in scalar.branches] + [type_of(scalar.otherwise)])


@type_of.register
def _type_of_coalesce(scalar: Coalesce) -> Type:
    return common_type([type_of(part) for part in scalar.parts])


@type_of.register
def _type_of_function(scalar: Function) -> Type:
    return function(scalar.name).gives


@type_of.register
def _type_of_window(scalar: Over) -> Type:
    return Type.NUMBER if scalar.function is WindowFunction.SUM else Type.INTEGER


@type_of.register
def _type_of_integer(scalar: Steps | Product | Indicator | Grouping) -> Type:
    return Type.INTEGER


def common_type(types: list[Type]) -> Type:
    """The one type of all, or NUMBER for integers and numbers together; else raises Invalid."""
    kinds = set(types)
    if len(kinds) == 1:
        return types[0]
    if all(each.numeric for each in kinds):
        return Type.NUMBER
    names = " and ".join(sorted(each.value for each in kinds))
    raise Invalid(f"values of one type are needed, got {names}", code="types")


def children(scalar: Scalar) -> tuple[Scalar, ...]:
    """The expressions directly inside."""
    match scalar:
        case Arithmetic() | Comparison() | Product() | Pair():
            return (scalar.left, scalar.right)
        case And() | Or() | Coalesce():
            return scalar.parts
        case Not() | IsNull() | Like() | Cast() | Steps() | Grouping():
            return (scalar.operand,)
        case Indicator():
            return (scalar.condition,)
        case In():
            return (scalar.operand, *scalar.values)
        case Function():
            return scalar.operands
        case Case():
            pairs = [part for branch in scalar.branches for part in branch]
            return (*pairs, scalar.otherwise)
        case Over():
            return (*scalar.operands, *scalar.partition, *(value for value, _, _ in scalar.order))
        case Column() | Literal() | Key() | Released():
            return ()
    raise Fault(f"{type(scalar).__name__} has no rule for its parts", code="scalar")


def columns_in(scalar: Scalar) -> set[Column]:
    """All columns that an expression reads."""
    if isinstance(scalar, Column):
        return {scalar}
    return set().union(*(columns_in(child) for child in children(scalar)))


def by_name(column: Column) -> tuple[str, str]:
    """The key to sort columns by."""
    return column.name, column.table


def released_in(scalar: Scalar) -> set[int]:
    """The indices of all released aggregates that an expression is made of."""
    if isinstance(scalar, Released):
        return {scalar.index}
    return set().union(*(released_in(child) for child in children(scalar)))


def is_key(scalar: Scalar) -> bool:
    """Whether an expression over released values is made of keys and constants alone, which are public."""
    return not released_in(scalar) and not windows_in(scalar)


def windows_in(scalar: Scalar) -> list[Over]:
    """All windows in an expression over released values, in the order in which they stand there."""
    if isinstance(scalar, Over):
        return [scalar]
    return [each for child in children(scalar) for each in windows_in(child)]


def has_key(scalar: Scalar) -> bool:
    """Whether a released key is in an expression."""
    return isinstance(scalar, Key) or any(map(has_key, children(scalar)))
