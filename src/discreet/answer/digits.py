"""Numbers as they are written: to the digits that the ± supports; and prices."""

from datetime import date
from fractions import Fraction
from math import floor, log10
from typing import Any

from discreet.answer.columns import Column
from discreet.plan.interval import Interval
from discreet.plan.outward import rounded_up
from discreet.plan.scalar import Type, Value
from discreet.plan.visible import visible

HUGE = 1e15
# What a guarantee under each neighbour relation is worth.
HIDDEN = {
    "add-remove one person": "to hide whether any one person is in the data",
    "add-remove one row": "to hide whether any one row is in the data",
    "replace one person": "to hide what the data say of any one person, not how many people there are",
    "replace one row": "to hide what any one row says, not how many rows there are",
}


def with_error(value: Value, span: Interval | None, column: Column) -> tuple[str, str]:
    """A value and its ±, to the digits that the ± supports.

    >>> count, mean = Column("n", Type.INTEGER, False), Column("age", Type.NUMBER, False)
    >>> with_error(12345, Interval(12311, 12379, 34), count), with_error(12345, Interval(11111, 13579, 1234), count)
    (('12,345', '± 34'), ('12,300', '± 1,300'))
    >>> with_error(43.8271, Interval(42.0, 45.0, 1.827), mean), with_error(7, Interval(7, 7, 0), count)
    (('43.8', '± 1.9'), ('7', '± 0'))
    >>> with_error(0.25, Interval(None, None, None, "too small"), mean)
    ('0.25', '± ? *')
    """
    if span is None or not isinstance(value, int | float):
        return ("NULL" if value is None else key_text(value)), ("*" if span is not None and span.flag else "")
    star = " *" if span.flag else ""
    if span.error is None:
        return grouped(float(f"{value:.3g}")), f"± ?{star}"
    if span.error == 0:
        return grouped(value), f"± 0{star}"
    error = rounded_up(span.error, 2)
    places = 1 - floor(log10(error))
    if column.type is Type.INTEGER:
        places = min(places, 0)
    return rounded(value, places), f"± {rounded(error, places)}{star}"


def error_text(error: float) -> str:
    """A ± that stands alone, as in a preview.

    >>> error_text(0), error_text(60), error_text(0.00824), error_text(1234.5)
    ('± 0', '± 60', '± 0.0083', '± 1,300')
    """
    if error == 0:
        return "± 0"
    most = rounded_up(error, 2)
    return f"± {rounded(most, max(0, 1 - floor(log10(most))) if most != int(most) else 0)}"


def json_value(value: Value) -> Value:
    """A value that JSON has: a date and a timestamp are texts, as ISO 8601 has them."""
    return value.isoformat() if isinstance(value, date) else value


def key_text(value: Value) -> str:
    """A value that is public, as it is written."""
    if isinstance(value, bool):
        return str(value).lower()
    return "NULL" if value is None else visible(str(json_value(value)))


def grouped(value: int | float) -> str:
    """A number in full, its thousands set apart."""
    if abs(value) >= HUGE:
        return f"{value:.6g}"
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def rounded(value: int | float, places: int) -> str:
    """A number rounded to so many decimal places, or to tens and hundreds where there are less than none."""
    if abs(value) >= HUGE or places > 15:
        return f"{value:.3g}"
    return f"{round(value, places) + 0:,.{max(places, 0)}f}"


def short(number: Any) -> str:
    """A number of a budget."""
    return f"{number:.6g}" if isinstance(number, int | float | Fraction) else str(number)


def sign(name: str) -> str:
    """The letter of a part of a budget."""
    return {"epsilon": "ε", "delta": "δ", "rho": "ρ"}.get(name, name)


def price(epsilon: float, delta: float, relation: str) -> str:
    """A price, and what it buys: ε, δ where there is one, and the neighbour relation in words.

    >>> price(0.5, 0.0, "add-remove one person")
    'ε = 0.5 (to hide whether any one person is in the data)'
    """
    amount = f"ε = {short(epsilon)}" + (f", δ = {short(delta)}" if delta else "")
    return f"{amount} ({HIDDEN.get(relation, relation)})"
