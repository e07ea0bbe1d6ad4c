"""Expressions of a question that is built: Python's operators make SQL, and brackets stand wherever an operand is more than a word."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Integral
from typing import Any, NoReturn, TypeAlias

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.sql.spelling import constant, constants, name

TYPES: dict[object, str] = {
    int: "INTEGER",
    float: "DOUBLE",
    str: "VARCHAR",
    bool: "BOOLEAN",
    date: "DATE",
    datetime: "TIMESTAMP",
}
"""Types of Python, as casts name them."""

FROM_THE_LEFT = {"AND", "OR", "+", "*", "||"}
"""Operators of which a chain needs no brackets: `a + b + c` is read from the left."""

CONDITIONS = {"=", "<>", "<", "<=", ">", ">=", "IN", "IS", "LIKE", "ILIKE"}
"""Operators that bind more strongly than AND and OR do."""

ORDERS, ARITHMETIC = {"=", "<>", "<", "<=", ">", ">="}, {"+", "-", "*", "/", "//", "%"}
"""Comparisons, and operators that bind more strongly than these."""


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """An expression of rows, or of what is released. It has no value here: it is SQL text, which `plan/sql` reads.

    `operator` is the outermost one of the text; "" where the text is one word or one call, which needs no brackets.

    >>> from discreet.plan.build.functions import col
    >>> (col("age") >= 18) & ~(col("ward") == "it's")
    Expression(age >= 18 AND (NOT (ward = 'it''s')))
    """

    text: str
    operator: str = ""

    __array_ufunc__ = None  # so that a number of NumPy on the left leaves the operator to this class

    def __repr__(self) -> str:
        return f"Expression({self.text})"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an expression is neither true nor false before it is asked: use & | ~ instead of and, or, not; "
            "x.between(a, b) instead of a <= x <= b; dp.when(…) instead of if"
        )

    def __eq__(self, other: object) -> "Expression":  # type: ignore[override]
        return self._compared("=", other)

    def __ne__(self, other: object) -> "Expression":  # type: ignore[override]
        return self._compared("<>", other)

    __hash__ = object.__hash__

    def __lt__(self, other: object) -> "Expression":
        return self._compared("<", other)

    def __le__(self, other: object) -> "Expression":
        return self._compared("<=", other)

    def __gt__(self, other: object) -> "Expression":
        return self._compared(">", other)

    def __ge__(self, other: object) -> "Expression":
        return self._compared(">=", other)

    def __add__(self, other: object) -> "Expression":
        return joined(self, "+", other)

    def __radd__(self, other: object) -> "Expression":
        return joined(other, "+", self)

    def __sub__(self, other: object) -> "Expression":
        return joined(self, "-", other)

    def __rsub__(self, other: object) -> "Expression":
        return joined(other, "-", self)

    def __mul__(self, other: object) -> "Expression":
        return joined(self, "*", other)

    def __rmul__(self, other: object) -> "Expression":
        return joined(other, "*", self)

    def __truediv__(self, other: object) -> "Expression":
        return joined(self, "/", other)

    def __rtruediv__(self, other: object) -> "Expression":
        return joined(other, "/", self)

    def __floordiv__(self, other: object) -> "Expression":
        return joined(self, "//", other)

    def __rfloordiv__(self, other: object) -> "Expression":
        return joined(other, "//", self)

    def __mod__(self, other: object) -> "Expression":
        return joined(self, "%", other)

    def __rmod__(self, other: object) -> "Expression":
        return joined(other, "%", self)

    def __pow__(self, other: object) -> "Expression":
        return joined(self, "^", other)

    def __rpow__(self, other: object) -> "Expression":
        return joined(other, "^", self)

    def __neg__(self) -> "Expression":
        return Expression(f"-{self._within()}", "-")

    def __abs__(self) -> "Expression":
        return Expression(f"ABS({self.text})")

    def __and__(self, other: object) -> "Expression":
        return joined(self, "AND", condition(other))

    def __rand__(self, other: object) -> "Expression":
        return joined(condition(other), "AND", self)

    def __or__(self, other: object) -> "Expression":
        return joined(self, "OR", condition(other))

    def __ror__(self, other: object) -> "Expression":
        return joined(condition(other), "OR", self)

    def __invert__(self) -> "Expression":
        return Expression(f"NOT {self._within()}", "NOT")

    def is_in(self, values: Iterable[object]) -> "Expression":
        """Whether the value is one of these constants."""
        constants_of = list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else []
        if not constants_of:
            raise Invalid("is_in needs a list of at least one constant", code="build", hint='write is_in(["A", "B"])')
        return Expression(f"{self._within()} IN {constants(constants_of)}", "IN")

    def between(self, low: object, high: object) -> "Expression":
        """Whether the value lies between two others, both of which are in it."""
        return Expression(f"{self._within()} BETWEEN {operand(low)._within()} AND {operand(high)._within()}", "BETWEEN")

    def is_null(self) -> "Expression":
        """Whether there is no value."""
        return Expression(f"{self._within()} IS NULL", "IS")

    def is_not_null(self) -> "Expression":
        """Whether there is a value."""
        return Expression(f"{self._within()} IS NOT NULL", "IS")

    def is_distinct_from(self, other: object) -> "Expression":
        """Whether two values differ, where NULL is a value like others."""
        return Expression(f"{self._within()} IS DISTINCT FROM {operand(other)._within()}", "IS")

    def is_not_distinct_from(self, other: object) -> "Expression":
        """Whether two values are equal, where NULL is a value like others."""
        return Expression(f"{self._within()} IS NOT DISTINCT FROM {operand(other)._within()}", "IS")

    def like(self, pattern: str) -> "Expression":
        """Whether a text has this form: % stands for any characters, _ for one."""
        return self._like("LIKE", pattern)

    def ilike(self, pattern: str) -> "Expression":
        """`like`, for which capitals are small letters."""
        return self._like("ILIKE", pattern)

    def cast(self, type: "type | str") -> "Expression":
        """The value as another type, or NULL: `int`, `float`, `str`, `bool`, `date` or `datetime`, or the name of one in SQL."""
        word = TYPES.get(type, type)
        if not (isinstance(word, str) and word.isascii() and word.isalpha()):
            raise Invalid(
                f"no value is cast to {shown(type)}", code="build", hint="write int, float, str, bool or date"
            )
        return Expression(f"CAST({self.text} AS {word})")

    def concat(self, *others: object) -> "Expression":
        """This text and others, one behind the other; NULL where one of them is. A Python text is a constant."""
        whole = self
        for other in others:
            whole = joined(whole, "||", other)
        return whole

    def where(self, only: "Expression") -> "Expression":
        """An aggregate of those rows alone on which a condition is true."""
        self._check_called("where", "dp.sum(x).where(c) / dp.count().where(c)")
        return Expression(f"{self.text} FILTER (WHERE {condition(only).text})")

    def over(self, partition_by: "Sequence[Chosen]" = (), order_by: "Sequence[Chosen | Ordered]" = ()) -> "Expression":
        """A window over released numbers: `dp.count() / dp.fn.sum(dp.count()).over()` is a share."""
        self._check_called("over", "dp.count() / dp.fn.sum(dp.count()).over()")
        words = []
        if partition_by:
            words.append(f"PARTITION BY {', '.join(chosen(each).text for each in listed(partition_by))}")
        if order_by:
            words.append(f"ORDER BY {', '.join(ordered(each).text for each in listed(order_by))}")
        return Expression(f"{self.text} OVER ({' '.join(words)})")

    def desc(self) -> "Ordered":
        """Sorted by this, the largest first."""
        return Ordered(f"{self.text} DESC")

    def asc(self) -> "Ordered":
        """Sorted by this, the least first."""
        return Ordered(self.text)

    def _check_called(self, clause: str, example: str) -> None:
        """A clause behind a call is of that call alone: behind several it would be of the last one."""
        if self.operator or not self.text.endswith(")"):
            raise Invalid(f"{clause} is of one aggregate, not of {self.text}", code="build", hint=f"write {example}")

    def _compared(self, operator: str, other: object) -> "Expression":
        if other is None:
            raise Invalid("nothing is equal to NULL", code="build", hint="write x.is_null(), or x.is_not_null()")
        return joined(self, operator, other)

    def _like(self, word: str, pattern: str) -> "Expression":
        if not isinstance(pattern, str):
            raise Invalid(f"a pattern is a text, not {shown(pattern)}", code="build", hint='write like("flu%")')
        return Expression(f"{self._within()} {word} {constant(pattern)}", word)

    def _within(self, operator: str = "") -> str:
        """The text as an operand on the left: in brackets, unless it is one word, or the same chain goes on."""
        goes_on = self.operator == operator and operator in FROM_THE_LEFT
        weak = operator in ("AND", "OR") and self.operator in CONDITIONS
        bare = goes_on or not self.operator or weak or (operator in ORDERS and self.operator in ARITHMETIC)
        return self.text if bare else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Ordered:
    """What is sorted by, and how."""

    text: str

    def nulls_first(self) -> "Ordered":
        """Rows without a value come first."""
        return Ordered(f"{self.text} NULLS FIRST")

    def nulls_last(self) -> "Ordered":
        """Rows without a value come last."""
        return Ordered(f"{self.text} NULLS LAST")


Chosen: TypeAlias = Expression | str
"""An expression, or the name of a column."""


def joined(left: object, operator: str, right: object) -> Expression:
    """Two operands with an operator between them."""
    one, other = operand(left), operand(right)
    beside = operator if other.operator != operator else ""  # a chain goes on from the left alone
    return Expression(f"{one._within(operator)} {operator} {other._within(beside)}", operator)


def operand(value: object) -> Expression:
    """An expression as it is, and any other value as a constant."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, Ordered):
        raise Invalid("an order is no value", code="build", hint="write desc() in order_by alone")
    text = constant(value)
    return Expression(text, "-" if text.startswith("-") else "")


def condition(value: object) -> Expression:
    """A condition: an expression. A number beside & is a comparison whose brackets were forgotten, and a truth value one that Python found
    itself, of what is no column: `visits.name` is the name of the table."""
    if isinstance(value, Expression | Ordered):
        return operand(value)
    if isinstance(value, bool):
        raise Invalid(
            f"a condition is needed, not {value}, which Python found before anything was asked",
            code="build",
            hint="a column that is called as something of its table is visits['name']; a constant is dp.lit(True)",
        )
    raise Invalid(
        f"a condition is needed, not {shown(value)}",
        code="build",
        hint="& and | bind more strongly than comparisons, which need brackets: (visits.age >= 18) & (visits.ward == 'A')",
    )


def chosen(value: Chosen) -> Expression:
    """An expression as it is, and a text as the name of a column."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        return Expression(name(value))
    raise Invalid(
        f"a column is needed, not {shown(value)}", code="build", hint='write its name, "age", or an expression'
    )


def ordered(value: Chosen | Ordered) -> Ordered:
    """What is sorted by."""
    return value if isinstance(value, Ordered) else Ordered(chosen(value).text)


def listed(values: Any) -> Sequence[Any]:
    """Several values as they are, and one as a list of one."""
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def whole(value: object) -> int | None:
    """The whole number that is given, also by NumPy; None for what is none."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
