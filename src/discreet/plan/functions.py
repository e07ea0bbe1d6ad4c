"""The functions of one row: a table with one row for each, and the only place that knows one by its name.

Reading SQL, evaluating, facts and groups before data is read, intervals around what was released, the SQL that an engine runs, plans as
text and docs/sql.md all read this table. A function is added by one more row, here or in the file of its noun (`dates`, `times`,
`number_functions`, `text_functions`), which `scalar` loads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil, floor, isinf, sqrt
from typing import Any, Protocol, TypeAlias

from discreet.errors import Fault, Invalid
from discreet.exact import sqrt_up
from discreet.plan.calendar import Grain
from discreet.plan.facts import Facts, each, nearest, turned
from discreet.plan.rounding import half_away
from discreet.plan.types import Type, Value

Ends: TypeAlias = tuple[Any, Any]  # two arrays of NumPy: one interval for each group
E: TypeAlias = Any  # an expression of SQL: what it is made of only an engine's renderer knows


class FunctionWords(Protocol):
    """What the SQL of a row is written with. Each dialect spells it, in `engines.render`; there each word says what it must mean."""

    def call(self, function: str, *operands: E) -> E: ...
    def number(self, value: float) -> E: ...
    def whole(self, value: int) -> E: ...
    def constant(self, value: str) -> E: ...
    def null(self, type: Type) -> E: ...
    def infix(self, left: E, operator: str, right: E) -> E: ...
    def when(self, branches: Sequence[tuple[E, E]], otherwise: E | None = None) -> E: ...
    def as_type(self, operand: E, type: Type) -> E: ...
    def from_text(self, operand: E, type: Type) -> E: ...
    def is_nan(self, operand: E) -> E: ...
    def remainder(self, left: E, right: E) -> E: ...
    def rounded(self, operand: E) -> E: ...
    def round_to_int(self, operand: E) -> E: ...
    def int_div(self, left: E, right: E) -> E: ...
    def days(self, operand: E) -> E: ...
    def micros(self, operand: E) -> E: ...
    def moment(self, operand: E) -> E: ...
    def moment_trunc(self, unit: str, operand: E) -> E: ...
    def plus_days(self, operand: E, days: E) -> E: ...
    def plus_months(self, operand: E, months: E) -> E: ...
    def floor_to_int(self, operand: E) -> E: ...
    def ln(self, operand: E) -> E: ...
    def log10(self, operand: E) -> E: ...
    def log2(self, operand: E) -> E: ...
    def exp(self, operand: E) -> E: ...
    def power(self, left: E, right: E) -> E: ...
    def part(self, unit: str, operand: E) -> E: ...
    def date_trunc(self, unit: str, operand: E) -> E: ...
    def date_text(self, pattern: str, operand: E) -> E: ...
    def length(self, operand: E) -> E: ...
    def lower_ascii(self, operand: E) -> E: ...
    def lowered(self, operand: E) -> E: ...
    def uppered(self, operand: E) -> E: ...
    def slice(self, operand: E, first: E, count: E) -> E: ...
    def place(self, operand: E, part: E) -> E: ...
    def trimmed_left(self, operand: E, characters: E) -> E: ...
    def trimmed_right(self, operand: E, characters: E) -> E: ...


class Written(Enum):
    """How often the SQL of a row writes an operand: one that is long gets a column of its own where it is written again."""

    ONCE = 1
    TWICE = 2
    OFTEN = 3


@dataclass(frozen=True, slots=True, eq=False)
class FunctionRow:
    """Everything that is known of one function."""

    # Its name in plans, in small letters; SQL has it in capitals, and may have synonyms.
    name: str
    # The types of its operands; NUMBER takes integers too, as doubles.
    takes: tuple[Type, ...]
    gives: Type
    # What it is, for people, in one line.
    says: str
    # Its value in plain Python, of operands that are not NULL; NULL is NULL's. It must not raise, whatever it is given: infinities
    # too. What is not a number is NULL.
    meaning: Callable[..., Value]
    # Its SQL, of words and of the SQL of each operand; that must not raise either.
    write: Callable[..., E]
    # What is known of it, given the facts of each operand (as doubles). Ends are what the double nearest to them is.
    facts: Callable[..., Facts] | None = None
    # Where it lies, given NumPy, which is not loaded for this table alone, and where each operand lies. Without it there is no interval.
    interval: Callable[..., Ends] | None = None
    synonyms: tuple[str, ...] = ()
    # It takes any number of operands of its one type, and passes over those that are NULL.
    many: bool = False
    # The whole numbers between its bounds are groups.
    counted: bool = False
    # EXTRACT(NAME FROM x) is another way to write it.
    extracted: bool = False
    # Its SQL gives what is not a number of what is none, so that it may be asked before that is known.
    passes_nan: bool = False
    # Its SQL may give what is not a number of numbers.
    makes_nan: bool = True
    written: Written = Written.ONCE
    # How SQL writes it, with {} for each operand, where that is no call by its name.
    form: str = ""
    # Of a date or a moment: how long it stays what it is while time goes by.
    grain: Grain = Grain.DAY
    # All its values, in their order, where they are few.
    values: tuple[Value, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """Its names in SQL, where it is called by a name."""
        return self.synonyms if self.form else (self.name.upper(), *self.synonyms)

    def call(self, *operands: str) -> str:
        """It, of operands that are written so."""
        return self.form.format(*operands) if self.form else f"{self.name.upper()}({', '.join(operands)})"

    def operand(self, place: int) -> Type:
        return self.takes[0] if self.many else self.takes[place]

    def known(self, inside: Sequence[Facts]) -> Facts:
        """What is known of it, given what is known of its operands."""
        if self.facts is None:
            return Facts(integral=self.gives is Type.INTEGER)
        return self.facts(*inside)


FUNCTIONS: dict[str, FunctionRow] = {}
SPELLINGS: dict[str, FunctionRow] = {}


def add(*rows: FunctionRow) -> None:
    """More functions; for a name that another one has raises Invalid."""
    for row in rows:
        for name in row.spellings:
            if name in SPELLINGS:
                raise Invalid(f"there is a function {name} already")
            SPELLINGS[name] = row
        FUNCTIONS[row.name] = row


def function(name: str) -> FunctionRow:
    """The row of a function that a plan names."""
    if name not in FUNCTIONS:
        raise Fault(f"there is no function {name}", code="scalar")
    return FUNCTIONS[name]


def spelt(name: str) -> FunctionRow | None:
    """The function that SQL calls so, in any case."""
    return SPELLINGS.get(name.upper())


def is_unit(name: str) -> bool:
    """Whether EXTRACT(NAME FROM x) is a function."""
    row = spelt(name)
    return row is not None and row.extracted


# What rows have in common.


def rising(rule: Callable[[Fraction], Fraction | int], integral: bool = False) -> Callable[[Facts], Facts]:
    """The facts of a function of one number that never falls, from what it makes of an end."""
    return lambda x: Facts(each(rule, x.low), each(rule, x.high), integral, x.nullable)


def between(low: int, high: int | None) -> Callable[[Facts], Facts]:
    """The facts of a whole number between two others."""
    return lambda x: Facts(Fraction(low), None if high is None else Fraction(high), True, x.nullable)


def ends(rule: Callable[[Any, Any], Any]) -> Callable[[Any, Ends], Ends]:
    """The interval of a function of one number that never falls, from what it makes of arrays, given NumPy."""
    return lambda np, x: (rule(np, x[0]), rule(np, x[1]))


def finite(rule: Callable[[float], float]) -> Callable[[float], float]:
    """A function that leaves infinities alone."""
    return lambda x: x if isinf(x) else float(rule(x))


def calls(name: str) -> Callable[..., E]:
    """The SQL of a function that every dialect has under one name, on doubles."""
    return lambda words, *operands: words.call(name, *operands)


# Facts of single rows.


def _greatest(*parts: Facts) -> Facts:
    """What is known of the largest of those that are not NULL: at least each that is surely there, at most the largest of all."""
    sure = [part.low for part in parts if not part.nullable and part.low is not None]
    lows = [part.low for part in parts if part.low is not None]
    low = max(sure) if sure else min(lows) if len(lows) == len(parts) else None
    highs = [part.high for part in parts if part.high is not None]
    high = max(highs) if len(highs) == len(parts) else None
    return Facts(low, high, all(part.integral for part in parts), all(part.nullable for part in parts))


def _least(*parts: Facts) -> Facts:
    return turned(_greatest(*map(turned, parts)))


def _absolute(x: Facts) -> Facts:
    other = turned(x)
    if x.low is not None and x.low >= 0:
        return x
    if x.high is not None and x.high <= 0:
        return other
    most = max(x.high, other.high) if x.high is not None and other.high is not None else None
    return Facts(Fraction(0), most, x.integral, x.nullable)


def _root(x: Facts) -> Facts:
    most = None if x.high is None else sqrt_up(max(x.high, Fraction(0)))
    return Facts(Fraction(0), nearest(most))


# Intervals of single rows.


def _absolute_ends(np: Any, x: Ends) -> Ends:
    low, high = x
    least = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return least, np.maximum(np.abs(low), np.abs(high))


def _root_ends(np: Any, x: Ends) -> Ends:
    """The ends of the root of the part that is not negative."""
    high = np.where(x[1] < 0, np.nan, x[1])
    return np.sqrt(np.maximum(x[0], 0.0)), np.sqrt(high)


def rounded_half_away(np: Any, x: Any) -> Any:
    """Half away from zero, and infinities as they are."""
    return np.where(np.isinf(x), x, half_away(x))


def _greatest_ends(np: Any, *parts: Ends) -> Ends:
    return np.fmax.reduce([low for low, _ in parts]), np.fmax.reduce([high for _, high in parts])


def _least_ends(np: Any, *parts: Ends) -> Ends:
    return np.fmin.reduce([low for low, _ in parts]), np.fmin.reduce([high for _, high in parts])


NUMBER, INTEGER, TEXT = Type.NUMBER, Type.INTEGER, Type.TEXT

add(
    FunctionRow(
        "abs",
        (NUMBER,),
        NUMBER,
        "the number without its sign",
        meaning=abs,
        write=calls("abs"),
        facts=_absolute,
        interval=_absolute_ends,
        passes_nan=True,
        makes_nan=False,
    ),
    FunctionRow(
        "floor",
        (NUMBER,),
        NUMBER,
        "the whole number at or below",
        meaning=finite(floor),
        write=calls("floor"),
        facts=rising(floor, integral=True),
        interval=ends(lambda np, x: np.floor(x)),
        counted=True,
        passes_nan=True,
        makes_nan=False,
    ),
    FunctionRow(
        "ceil",
        (NUMBER,),
        NUMBER,
        "the whole number at or above",
        meaning=finite(ceil),
        write=calls("ceil"),
        facts=rising(ceil, integral=True),
        interval=ends(lambda np, x: np.ceil(x)),
        synonyms=("CEILING",),
        counted=True,
        passes_nan=True,
        makes_nan=False,
    ),
    FunctionRow(
        "round",
        (NUMBER,),
        NUMBER,
        "the nearest whole number, halves away from zero; `ROUND(x, 2)`: with that many decimals; `ROUND(x, -2)`: whole hundreds",
        meaning=finite(half_away),
        write=lambda words, x: words.rounded(x),
        facts=rising(half_away, integral=True),
        interval=ends(rounded_half_away),
        counted=True,
        passes_nan=True,
        makes_nan=False,
    ),
    FunctionRow(
        "sign",
        (NUMBER,),
        NUMBER,
        "-1, 0 or 1",
        meaning=lambda x: float((x > 0) - (x < 0)),
        write=lambda words, x: words.as_type(words.call("sign", x), NUMBER),
        facts=between(-1, 1),
        interval=ends(lambda np, x: np.sign(x)),
        counted=True,
        makes_nan=False,
    ),
    FunctionRow(
        "sqrt",
        (NUMBER,),
        NUMBER,
        "the square root; NULL of a negative number",
        meaning=lambda x: sqrt(x) if x >= 0 else None,
        write=calls("sqrt"),
        facts=_root,
        interval=_root_ends,
        passes_nan=True,
    ),
    FunctionRow(
        "greatest",
        (NUMBER,),
        NUMBER,
        "the largest of those that are not NULL",
        meaning=lambda *parts: max(parts),
        write=calls("greatest"),
        facts=_greatest,
        interval=_greatest_ends,
        many=True,
        makes_nan=False,
    ),
    FunctionRow(
        "least",
        (NUMBER,),
        NUMBER,
        "the least of those that are not NULL",
        meaning=lambda *parts: min(parts),
        write=calls("least"),
        facts=_least,
        interval=_least_ends,
        many=True,
        makes_nan=False,
    ),
    FunctionRow(
        "length",
        (TEXT,),
        INTEGER,
        "the number of code points of a text",
        meaning=len,
        write=lambda words, text: words.as_type(words.length(text), INTEGER),
        facts=between(0, None),
        synonyms=("LEN", "CHAR_LENGTH", "CHARACTER_LENGTH"),
    ),
)
