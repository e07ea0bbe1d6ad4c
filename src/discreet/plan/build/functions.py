"""What expressions begin with: columns, constants, parameters, functions, cases and aggregates."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.build.expression import Chosen, Expression, chosen, condition, operand, whole
from discreet.plan.sql.spelling import constant, name

WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def col(column: str) -> Expression:
    """The column, or the output, of this name, of whatever table is asked."""
    return Expression(name(column))


def lit(value: object) -> Expression:
    """A constant. Beside an expression any value is one by itself."""
    return operand(value)


def param(called: str) -> Expression:
    """A parameter, whose value is bound when the question is asked: `ask(params={"called": 65}, epsilon=…)`."""
    if not (isinstance(called, str) and WORD.fullmatch(called)):
        raise Invalid(f"{shown(called)} cannot name a parameter", code="build", hint='write param("least_age")')
    return Expression(f":{called}")


def interval(count: int, unit: str) -> Expression:
    """So many days, months or other units, to be added to a date: `visits.admitted + dp.interval(3, "months")`."""
    number = whole(count)
    if number is None or not (isinstance(unit, str) and unit.isascii() and unit.isalpha()):
        raise Invalid("an interval is a whole number of a unit", code="build", hint='write interval(3, "months")')
    return Expression(f"INTERVAL '{number} {unit}'")


class Functions:
    """Every function and aggregate of SQL by its name: `dp.fn.date_trunc("month", visits.admitted)`.

    An operand is an expression, or a constant; a list is a list of constants. What a function is, and which there are, docs/sql.md says.
    """

    def __getattr__(self, called: str) -> "FunctionCall":
        if called.startswith("_") or not WORD.fullmatch(called):
            raise AttributeError(f"no function is called {shown(called)}")
        return FunctionCall(called.upper())

    def __repr__(self) -> str:
        return "fn"


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function of this name, to be called with operands."""

    function: str

    def __call__(self, *operands: object) -> Expression:
        return Expression(f"{self.function}({', '.join(map(_argument, operands))})")


fn = Functions()
"""Every function of SQL by its name."""


def _argument(value: object) -> str:
    return f"[{', '.join(map(constant, value))}]" if isinstance(value, list) else operand(value).text


@dataclass(frozen=True, slots=True)
class When:
    """A CASE whose last condition has no value yet."""

    before: str
    when: Expression

    def then(self, value: object) -> "Then":
        """The value where the condition is true, and none before it was."""
        return Then(f"{self.before} WHEN {self.when.text} THEN {operand(value).text}")


@dataclass(frozen=True, slots=True)
class Then:
    """A CASE that may go on, or end."""

    text: str

    def when(self, case: Expression) -> When:
        """Another condition, for rows on which none before it is true."""
        return When(self.text, condition(case))

    def otherwise(self, value: object) -> Expression:
        """The value where no condition is true."""
        return Expression(f"{self.text} ELSE {operand(value).text} END")

    def end(self) -> Expression:
        """The expression that is NULL where no condition is true."""
        return Expression(f"{self.text} END")


def when(case: Expression) -> When:
    """A value by cases: `dp.when(visits.age < 18).then("child").otherwise("adult")`."""
    return When("CASE", condition(case))


def count(what: Chosen | None = None) -> Expression:
    """How many rows there are, or on how many an expression has a value."""
    return Expression("COUNT(*)" if what is None else f"COUNT({chosen(what).text})")


def count_distinct(what: Chosen) -> Expression:
    """How many values an expression has; of the column that says who a person is, how many people there are."""
    return Expression(f"COUNT(DISTINCT {chosen(what).text})")


def sum(what: Chosen) -> Expression:
    """The sum of a number, each value clamped to its bounds."""
    return _of("SUM", what)


def mean(what: Chosen) -> Expression:
    """The mean of a number, each value clamped to its bounds."""
    return _of("AVG", what)


def median(what: Chosen) -> Expression:
    """The value that half of the rows lie below."""
    return _of("MEDIAN", what)


def quantile(what: Chosen, shares: float | Iterable[float]) -> Expression:
    """The value that a share of the rows lies below; of several shares one output for each."""
    if isinstance(shares, Iterable) and not isinstance(shares, str):
        return fn.quantile(chosen(what), list(shares))
    return fn.quantile(chosen(what), shares)


def variance(what: Chosen) -> Expression:
    """The variance of a number, as that of a sample."""
    return _of("VARIANCE", what)


def stddev(what: Chosen) -> Expression:
    """The standard deviation of a number, as that of a sample."""
    return _of("STDDEV", what)


def mode(what: Chosen) -> Expression:
    """The most frequent of the values that are known of an expression."""
    return _of("MODE", what)


def _of(aggregate: str, what: Chosen) -> Expression:
    return Expression(f"{aggregate}({chosen(what).text})")
