"""Questions, made at random, each with its translation into plain DuckDB.

An expression carries two texts, ours and the reference's, its type, and, for a number, where it lies by what is declared; the second
text differs from the first only by the rules of `Translation`. The reference fills up declared groups, so that whole tables can be
compared, and says for each number how far off a grid of 2^24 steps of the width of its bounds may take it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import product
from random import Random
from typing import Any

from tests.laws.messy import CODES, FIELDS, LARGEST, NOTES, TABLE, VISITS, WARDS

AVERAGE_OF_NOBODY_IS_A_NUMBER = True
"""Whether AVG of no rows is the middle of the bounds. DuckDB says NULL; where we do too this is False, and nothing else changes."""
GRID_OF_THE_LARGEST_BOUND = True
"""Whether the grid has 2^24 steps of the largest bound. Where it has them of the width this is False, and nothing else changes."""

STEPS = 2.0**-24  # half a step of the grid, as a share of the width of the bounds
MOST_WHOLE = 2**24  # whole numbers up to here are their own grid
UPPER, LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


class Translation:
    """The rules by which the reference is made of a question: the documented differences, as DuckDB would have to be asked."""

    @staticmethod
    def divided(left: str, right: str) -> str:
        """What is divided by 0 is NULL, where DuckDB says infinity."""
        return f"({left} / NULLIF({right}, 0))"

    @staticmethod
    def remainder(left: str, right: str) -> str:
        """So is the remainder, where DuckDB fails."""
        return f"({left} % NULLIF({right}, 0))"

    @staticmethod
    def root(operand: str) -> str:
        """What has no root is NULL, where DuckDB says NaN."""
        return f"sqrt(CASE WHEN {operand} >= 0 THEN {operand} END)"

    @staticmethod
    def number(text: str) -> str:
        """What is not a number is NULL, where DuckDB holds it to be the largest of all."""
        return f"(CASE WHEN isnan({text}) THEN NULL ELSE {text} END)"

    @staticmethod
    def double(text: str) -> str:
        """Arithmetic is in doubles, where DuckDB has 64 bits and decimals."""
        return f"CAST({text} AS DOUBLE)"

    @staticmethod
    def whole(text: str) -> str:
        """Halves are rounded away from 0 by a cast too, and what is beyond 2^53 is NULL, where DuckDB rounds to even, and fails."""
        return f"CAST(CASE WHEN abs({text}) < {LARGEST} THEN round({text}) END AS BIGINT)"

    @staticmethod
    def cast(text: str, type: str) -> str:
        """A text that says no value is NULL, where DuckDB fails."""
        return f"TRY_CAST({text} AS {type})"

    @staticmethod
    def folded(text: str, pattern: str) -> str:
        """ILIKE folds A to Z, where DuckDB folds all letters."""
        return f"(translate({text}, '{UPPER}', '{LOWER}') LIKE translate({pattern}, '{UPPER}', '{LOWER}'))"


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression over a row: ours, the reference's, and what is known of it."""

    text: str
    reference: str
    type: str
    low: float | None = None
    high: float | None = None
    exact: bool = True  # an integer in both, and small enough for doubles

    @property
    def bounded(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def number(self) -> bool:
        return self.type in ("integer", "number")

    @property
    def width(self) -> float:
        """Of the bounds, which the grid is a part of."""
        assert self.low is not None and self.high is not None
        width = self.high - self.low
        return max(width, abs(self.low), abs(self.high)) if GRID_OF_THE_LARGEST_BOUND else width

    @property
    def on_grid(self) -> bool:
        """Whether its values are their own grid, so that sums are exact."""
        assert self.low is not None and self.high is not None
        return self.type == "integer" and max(abs(self.low), abs(self.high)) <= MOST_WHOLE


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def constant(value: Any) -> Expression:
    """A constant; one with a point is a double, where DuckDB has a decimal."""
    if isinstance(value, bool):
        return Expression(str(value).upper(), str(value).upper(), "boolean")
    if isinstance(value, int):
        return Expression(str(value), str(value), "integer", value, value)
    if isinstance(value, float):
        text = repr(value) if "." in repr(value) or "e" in repr(value) else f"{value!r}.0"
        return Expression(text, Translation.double(text), "number", value, value)
    if isinstance(value, date):
        return Expression(f"DATE '{value}'", f"DATE '{value}'", "date")
    return Expression(quoted(value), quoted(value), "text")


def column(name: str) -> Expression:
    low, high = FIELDS[name].bounds or (None, None)
    return Expression(name, name, FIELDS[name].type, low, high, exact=name != "wide")


def doubles(*parts: Expression) -> list[str]:
    """The references of numbers that go into arithmetic: as they are where 64-bit integers and doubles say the same."""
    return [
        each.reference if each.exact and each.type == "integer" else Translation.double(each.reference)
        for each in parts
    ]


def named(type: str) -> list[str]:
    return [name for name, each in FIELDS.items() if each.type == type]


class Rows:
    """Makes expressions over rows, of a type, nested up to a depth; with `sure` only numbers with bounds."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def of(self, type: str, depth: int, *, sure: bool = False) -> Expression:
        match type:
            case "boolean":
                return self.boolean(depth)
            case "text":
                return self.text(depth)
            case "date":
                return self.date(depth)
        while True:
            found = self.number(depth, sure=sure)
            size = max(abs(found.low or 0), abs(found.high or 0))
            if not sure or (found.bounded and size < 1e200 and (found.width == 0 or found.width > 1e-100)):
                return found

    # numbers

    def number(self, depth: int, *, sure: bool = False) -> Expression:
        chance = self.random.random()
        if depth <= 0 or chance < 0.25:
            return self.leaf(sure)
        made = self.random.choice(
            (
                self.sum, self.sum, self.product, self.product, self.quotient, self.quotient, self.remainder, self.remainder, self.negative, self.rounded, self.rounded, self.digits,
                self.size, self.root, self.most, self.clamped, self.part, self.length, self.chosen, self.coalesced, self.nulled, self.cast,
            )
        )  # fmt: skip
        return made(depth - 1, sure)

    def leaf(self, sure: bool) -> Expression:
        if self.random.random() < 0.2:
            return constant(self.random.choice((0, 1, 2, 3, -1, 7, 10, 100, 0.5, 0.1, -2.5, 1e3, 1e-4)))
        names = ["small", "small", "size", "cost", "cost", "tiny", "huge"] + ([] if sure else ["wide", "odd", "odd"])
        return column(self.random.choice(names))

    def pair(self, depth: int, sure: bool) -> tuple[Expression, Expression]:
        return self.of("number", depth, sure=sure), self.of("number", depth, sure=sure)

    def sum(self, depth: int, sure: bool) -> Expression:
        left, right = self.pair(depth, sure)
        sign = self.random.choice("+-")
        ends = (None, None)
        if left.bounded and right.bounded:
            if sign == "+":
                ends = (left.low + right.low, left.high + right.high)
            else:
                ends = (left.low - right.high, left.high - right.low)
        return arithmetic(sign, left, right, *ends)

    def product(self, depth: int, sure: bool) -> Expression:
        left, right = self.pair(depth, sure)
        return arithmetic("*", left, right, *corners(left, right.low, right.high))

    def quotient(self, depth: int, sure: bool) -> Expression:
        left = self.of("number", depth, sure=sure)
        right = self.divisor(depth, sure)
        ends = (None, None)
        if right.bounded and (right.low > 0 or right.high < 0):
            ends = corners(left, 1 / right.high, 1 / right.low)
        a, b = doubles(left, right)
        text = Translation.number(Translation.divided(a, b))
        return Expression(f"({left.text} / {right.text})", text, "number", *ends)

    def divisor(self, depth: int, sure: bool) -> Expression:
        """Often 0, unless a bound must be known."""
        chance = self.random.random()
        if sure or chance < 0.2:
            return constant(self.random.choice((2, 10, -3, 0.5, 100)))
        return column(self.random.choice(("small", "size", "cost"))) if chance < 0.7 else self.of("number", depth)

    def remainder(self, depth: int, sure: bool) -> Expression:
        """Of integers as often as of doubles: the one fails in DuckDB where the divisor is 0, the other is not a number."""
        left = column("size") if self.random.random() < 0.5 else self.of("number", depth, sure=sure)
        right = self.divisor(depth, sure)
        a, b = doubles(left, right)
        text = f"({left.text} % {right.text})"
        whole = left.type == right.type == "integer" and left.exact and right.exact
        reference = Translation.remainder(a, b)
        most = None if not right.bounded else max(abs(right.low), abs(right.high))
        ends = (None, None) if most is None else (-most, most)
        if whole:
            return Expression(text, reference, "integer", *ends)
        return Expression(text, Translation.number(reference), "number", *ends)

    def negative(self, depth: int, sure: bool) -> Expression:
        inner = self.of("number", depth, sure=sure)
        ends = (-inner.high, -inner.low) if inner.bounded else (None, None)
        return Expression(
            f"(-{inner.text})" if inner.text[0] != "-" else f"(-({inner.text}))",
            f"(-({doubles(inner)[0]}))",
            inner.type,
            *ends,
        )

    def rounded(self, depth: int, sure: bool) -> Expression:
        """Whole where it is small enough to be an integer."""
        inner = self.of("number", depth, sure=sure)
        word = self.random.choice(("FLOOR", "CEIL", "ROUND"))
        ends = (inner.low - 1, inner.high + 1) if inner.bounded else (None, None)
        return Expression(f"{word}({inner.text})", f"{word}({doubles(inner)[0]})", "number", *ends)

    def digits(self, depth: int, sure: bool) -> Expression:
        inner = self.of("number", depth, sure=True)  # of 1e308 our ROUND is infinite
        places = self.random.randint(0, 4)
        text = f"ROUND({inner.text}, {places})"
        return Expression(
            text, f"ROUND({Translation.double(inner.reference)}, {places})", "number", inner.low - 1, inner.high + 1
        )

    def size(self, depth: int, sure: bool) -> Expression:
        inner = self.of("number", depth, sure=sure)
        word = self.random.choice(("ABS", "SIGN"))
        most = max(abs(inner.low), abs(inner.high)) if inner.bounded else None
        ends = (0, most) if word == "ABS" else (-1, 1)
        type = inner.type if word == "ABS" else "number"
        return Expression(
            f"{word}({inner.text})",
            f"{word.lower()}({doubles(inner)[0]})",
            type,
            *ends,
            exact=inner.exact and type == "integer",
        )

    def root(self, depth: int, sure: bool) -> Expression:
        inner = self.of("number", depth, sure=sure)
        most = max(inner.high, 0) ** 0.5 if inner.bounded else None
        return Expression(
            f"SQRT({inner.text})", Translation.root(doubles(inner)[0]), "number", 0 if most is not None else None, most
        )

    def most(self, depth: int, sure: bool) -> Expression:
        parts = [self.of("number", depth, sure=sure) for _ in range(self.random.randint(2, 3))]
        word = self.random.choice(("GREATEST", "LEAST"))
        return Expression(
            f"{word}({', '.join(each.text for each in parts)})",
            f"{word.lower()}({', '.join(Translation.double(each.reference) for each in parts)})",
            "number",
            *hull(parts),
        )

    def clamped(self, depth: int, sure: bool) -> Expression:
        inner = self.of("number", depth)
        low, high = constant(self.random.choice((-5, -0.5, 0))), constant(self.random.choice((1, 2.5, 200)))
        return Expression(
            f"LEAST(GREATEST({inner.text}, {low.text}), {high.text})",
            f"least(greatest({Translation.double(inner.reference)}, {low.reference}), {high.reference})",
            "number",
            low.low,
            high.high,
        )

    def part(self, depth: int, sure: bool) -> Expression:
        inner = self.of("date", depth)
        word = self.random.choice(("YEAR", "MONTH", "DAY"))
        text = self.random.choice((f"{word}({inner.text})", f"EXTRACT({word} FROM {inner.text})"))
        ends = {"YEAR": (1, 9999), "MONTH": (1, 12), "DAY": (1, 31)}[word]
        return Expression(text, f"{word.lower()}({inner.reference})", "integer", *ends)

    def length(self, depth: int, sure: bool) -> Expression:
        if sure:
            return self.part(depth, sure)
        inner = self.of("text", depth)
        return Expression(f"LENGTH({inner.text})", f"length({inner.reference})", "integer", 0, None)

    def chosen(self, depth: int, sure: bool) -> Expression:
        return self.case([self.of("number", depth, sure=sure) for _ in range(2)], depth)

    def coalesced(self, depth: int, sure: bool) -> Expression:
        return coalesced([self.of("number", depth, sure=sure) for _ in range(2)])

    def nulled(self, depth: int, sure: bool) -> Expression:
        left, right = self.of("number", depth, sure=sure), self.of("number", 0)
        return nulled(left, right)

    def cast(self, depth: int, sure: bool) -> Expression:
        chance = self.random.random()
        if chance < 0.2:
            inner = self.of("boolean", depth)
            return Expression(f"CAST({inner.text} AS INTEGER)", f"CAST({inner.reference} AS BIGINT)", "integer", 0, 1)
        if chance < 0.5 and not sure:
            type, ours = self.random.choice((("integer", "INTEGER"), ("integer", "BIGINT"), ("number", "DOUBLE")))
            native = "BIGINT" if type == "integer" else "DOUBLE"
            return Expression(f"CAST(code AS {ours})", Translation.cast("code", native), type, exact=False)
        inner = self.of("number", depth, sure=sure) if chance < 0.8 else column("cost")
        if chance < 0.6:
            return Expression(
                f"CAST({inner.text} AS DOUBLE)", Translation.double(inner.reference), "number", inner.low, inner.high
            )
        ends = (inner.low - 1, inner.high + 1) if inner.bounded else (None, None)
        if inner.type == "integer":
            return replace(inner, text=f"CAST({inner.text} AS INTEGER)")
        exact = inner.bounded and max(map(abs, ends)) < LARGEST
        return Expression(
            f"CAST({inner.text} AS BIGINT)", Translation.whole(inner.reference), "integer", *ends, exact=exact
        )

    # texts, dates, conditions

    def text(self, depth: int) -> Expression:
        chance = self.random.random()
        if depth <= 0 or chance < 0.5:
            return column(self.random.choice(named("text")))
        if chance < 0.65:
            inner = self.random.choice(
                (column("small"), column("size"), column("wide"), column("day"), self.boolean(depth - 1))
            )
            return Expression(f"CAST({inner.text} AS VARCHAR)", f"CAST({inner.reference} AS VARCHAR)", "text")
        if chance < 0.8:
            return coalesced([self.text(depth - 1), constant("none")])
        if chance < 0.9:
            return nulled(self.text(depth - 1), constant(self.random.choice(WARDS)))
        return self.case([self.text(depth - 1), constant("other")], depth - 1)

    def date(self, depth: int) -> Expression:
        chance = self.random.random()
        if depth <= 0 or chance < 0.6:
            return column(self.random.choice(named("date")))
        if chance < 0.75:
            return Expression("CAST(code AS DATE)", Translation.cast("code", "DATE"), "date")
        if chance < 0.9:
            return coalesced([self.date(depth - 1), constant(self.random.choice(VISITS))])
        return self.case([self.date(depth - 1), self.date(depth - 1)], depth - 1)

    def boolean(self, depth: int) -> Expression:
        if depth <= 0 or self.random.random() < 0.1:
            return column("smoker") if self.random.random() < 0.5 else self.compared(0)
        made = self.random.choice(
            (
                self.compared, self.compared, self.compared, self.among, self.between, self.like, self.like, self.missing, self.joined,
                self.joined, self.refused, self.is_true, self.cased, self.boolean_cast,
            )
        )  # fmt: skip
        return made(depth - 1)

    def compared(self, depth: int) -> Expression:
        type = self.random.choice(("number", "number", "number", "text", "date"))
        left, right = self.of(type, max(depth, 1)), self.of(type, 0) if self.random.random() < 0.3 else self.some(type)
        order = self.random.choice(("=", "<>", "<", "<=", ">", ">="))
        if self.random.random() < 0.1:
            left, right = right, left
        return condition(f"{left.text} {order} {right.text}", f"{left.reference} {order} {right.reference}")

    def some(self, type: str) -> Expression:
        """A constant that decides something: near values of the columns."""
        match type:
            case "text":
                return constant(
                    self.random.choice((*WARDS, *CODES, *(each for each in NOTES if "\n" not in each), "Z"))
                )
            case "date":
                return constant(FIELDS["day"].cell(self.random))
        name = self.random.choice(("small", "small", "size", "wide", "cost", "tiny", "huge"))
        return constant(FIELDS[name].cell(self.random))

    def among(self, depth: int) -> Expression:
        type = self.random.choice(("integer", "number", "text", "date"))
        if type == "integer":
            left = column(self.random.choice(("small", "size", "wide")))
            values = [constant(FIELDS[left.text].cell(self.random)) for _ in range(self.random.randint(1, 5))]
        elif type == "number":
            left = column(self.random.choice(("cost", "odd", "tiny")))
            values = [
                constant(self.random.choice((0, 1, 0.5, 0.1, 2.5, -2.5, 3, 10000, FIELDS["cost"].cell(self.random))))
                for _ in range(4)
            ]
        else:
            left, values = self.of(type, depth), [self.some(type) for _ in range(self.random.randint(1, 5))]
        word = self.random.choice(("IN", "IN", "NOT IN"))
        return condition(
            f"{left.text} {word} ({', '.join(each.text for each in values)})",
            f"{left.reference} {word} ({', '.join(each.reference for each in values)})",
        )

    def between(self, depth: int) -> Expression:
        type = self.random.choice(("number", "text", "date"))
        left = self.of(type, depth)
        while not left.exact and left.type == "integer":  # beside a double DuckDB takes both ends for doubles
            left = self.of(type, depth)
        low, high = self.some(type), self.some(type)
        word = self.random.choice(("BETWEEN", "BETWEEN", "NOT BETWEEN"))
        return condition(
            f"{left.text} {word} {low.text} AND {high.text}",
            f"{left.reference} {word} {low.reference} AND {high.reference}",
        )

    def like(self, depth: int) -> Expression:
        left = self.of("text", depth)
        patterns = (
            "%",
            "_",
            "a%",
            "%a%",
            "A%",
            "%\\%",
            "50%",
            "%!%%",
            "_\\_",
            "fl%",
            "FL_",
            "é",
            "%É%",
            "__",
            "",
            "0%",
            "%7",
            "%-02-%",
            "t%",
            "1_%",
        )
        pattern = quoted(self.random.choice(patterns))
        word = self.random.choice(("LIKE", "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"))
        if word.endswith(" LIKE") or "!" in pattern and word == "LIKE":
            pattern += " ESCAPE '!'"
        if word.endswith("ILIKE"):
            reference = Translation.folded(left.reference, pattern)
            return condition(
                f"{left.text} {word} {pattern}", f"NOT {reference}" if word.startswith("NOT") else reference
            )
        return condition(f"{left.text} {word} {pattern}", f"{left.reference} {word} {pattern}")

    def missing(self, depth: int) -> Expression:
        inner = self.of(self.random.choice(("number", "number", "text", "date", "boolean")), max(depth, 1))
        word = self.random.choice(("IS NULL", "IS NOT NULL"))
        return condition(f"{inner.text} {word}", f"{inner.reference} {word}")

    def joined(self, depth: int) -> Expression:
        parts = [self.boolean(depth) for _ in range(self.random.randint(2, 3))]
        word = self.random.choice((" AND ", " OR "))
        return condition(word.join(each.text for each in parts), word.join(each.reference for each in parts))

    def refused(self, depth: int) -> Expression:
        inner = self.boolean(depth)
        return condition(f"NOT {inner.text}", f"NOT {inner.reference}")

    def is_true(self, depth: int) -> Expression:
        inner = self.boolean(depth)
        word = self.random.choice(("IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE"))
        return condition(f"{inner.text} {word}", f"{inner.reference} {word}")

    def cased(self, depth: int) -> Expression:
        return self.case([self.boolean(depth), self.boolean(depth)], depth)

    def boolean_cast(self, depth: int) -> Expression:
        if self.random.random() < 0.5:
            return coalesced([column("smoker"), constant(self.random.random() < 0.5)])
        return Expression("CAST(code AS BOOLEAN)", Translation.cast("code", "BOOLEAN"), "boolean")

    def case(self, values: Sequence[Expression], depth: int) -> Expression:
        first, second = values
        when = self.boolean(depth)
        ends = self.random.random() < 0.7 or first.type == "boolean"
        otherwise = (f" ELSE {second.text}", f" ELSE {second.reference}") if ends else ("", "")
        used = list(values) if ends else [first]
        text = f"CASE WHEN {when.text} THEN {first.text}{otherwise[0]} END"
        reference = f"CASE WHEN {when.reference} THEN {first.reference}{otherwise[1]} END"
        return Expression(text, reference, common(used), *hull(used), exact=all(each.exact for each in used))


def arithmetic(sign: str, left: Expression, right: Expression, low: float | None, high: float | None) -> Expression:
    """Of integers an integer, where both kinds of arithmetic are exact."""
    text = f"({left.text} {sign} {right.text})"
    exact = low is not None and high is not None and max(abs(low), abs(high)) < LARGEST
    whole = exact and all(each.type == "integer" and each.exact for each in (left, right))
    if whole:
        return Expression(text, f"({left.reference} {sign} {right.reference})", "integer", low, high)
    reference = f"({Translation.double(left.reference)} {sign} {Translation.double(right.reference)})"
    return Expression(text, Translation.number(reference), "number", low, high)


def corners(left: Expression, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    if left.low is None or left.high is None or low is None or high is None:
        return None, None
    found = [x * y for x in (left.low, left.high) for y in (low, high)]
    return min(found), max(found)


def hull(parts: Sequence[Expression]) -> tuple[float | None, float | None]:
    if not all(each.bounded for each in parts):
        return None, None
    return min(each.low for each in parts), max(each.high for each in parts)  # type: ignore[type-var]


def common(parts: Sequence[Expression]) -> str:
    types = {each.type for each in parts}
    return types.pop() if len(types) == 1 else "number"


def coalesced(parts: Sequence[Expression]) -> Expression:
    text, reference = (", ".join(getattr(each, name) for each in parts) for name in ("text", "reference"))
    exact = all(each.exact for each in parts)
    return Expression(f"COALESCE({text})", f"coalesce({reference})", common(parts), *hull(parts), exact=exact)


def nulled(left: Expression, right: Expression) -> Expression:
    text, reference = (f"NULLIF({getattr(left, name)}, {getattr(right, name)})" for name in ("text", "reference"))
    if left.number and left.type != right.type:  # DuckDB would compare and return the common type
        reference = f"(CASE WHEN {left.reference} = {right.reference} THEN NULL ELSE {left.reference} END)"
    return replace(left, text=text, reference=reference)


def condition(text: str, reference: str) -> Expression:
    return Expression(f"({text})", f"({reference})", "boolean")


# What is released.


@dataclass(frozen=True, slots=True)
class Key:
    """A key of GROUP BY, and all its values."""

    expression: Expression
    values: tuple[Any, ...]


def keys(rows: Rows) -> list[Callable[[], Key]]:
    random = rows.random

    def bins() -> Key:
        edge, other = sorted((random.randint(-5, 20), random.randint(-5, 20)))
        name = random.choice(("small", "size", "cost", "odd"))
        text = f"CASE WHEN {name} < {edge} THEN 'low' WHEN {name} <= {other} THEN 'middle' ELSE 'high' END"
        return Key(Expression(text, text, "text"), ("low", "middle", "high"))

    def open_bins() -> Key:
        text = "CASE WHEN small > 3 THEN 'more' END"
        return Key(Expression(text, text, "text"), ("more", None))

    def steps() -> Key:
        width = random.choice((100, 500, 1000))
        inside = Translation.divided("cost", str(width))
        values = tuple(range(-1000 // width * width, 10000 // width * width + 1, width))
        return Key(Expression(f"FLOOR(cost / {width}) * {width}", f"(floor({inside}) * {width})", "number"), values)

    def decades() -> Key:
        return Key(
            Expression("FLOOR(small / 10) * 10", f"(floor({Translation.divided('small', '10')}) * 10)", "number"),
            (-10, 0, 10, 20),
        )

    def asked() -> Key:
        """A condition; one without columns is no key, and a cast of a text has no list of values."""
        while True:
            found = rows.boolean(2)
            if any(name in found.text for name in FIELDS) and "AS BOOLEAN" not in found.text:
                return Key(found, (False, True))

    return [
        lambda: Key(column("ward"), WARDS),
        lambda: Key(column("ward"), WARDS),
        lambda: Key(column("visit"), VISITS),
        lambda: Key(column("smoker"), (False, True)),
        lambda: Key(column("small"), tuple(range(-5, 26))),
        lambda: Key(Expression("MONTH(day)", "month(day)", "integer"), tuple(range(1, 13))),
        lambda: Key(Expression("EXTRACT(DAY FROM day)", "day(day)", "integer"), tuple(range(1, 32))),
        lambda: Key(Expression("YEAR(visit)", "year(visit)", "integer"), tuple(sorted({each.year for each in VISITS}))),
        lambda: Key(Expression("COALESCE(ward, 'none')", "coalesce(ward, 'none')", "text"), (*WARDS, "none")),
        lambda: Key(Expression("small % 3", "(small % 3)", "integer"), (-2, -1, 0, 1, 2)),
        lambda: Key(Expression("ABS(small)", "abs(small)", "integer"), tuple(range(26))),
        bins, bins, open_bins, steps, decades, asked,
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate: ours, the reference's over the rows of a group, what it is of no rows, and how far off it may be.

    `error` is an expression over the rows of a group; it is NULL for an average of nobody.
    """

    text: str
    reference: str
    empty: str
    error: str
    exact: bool


def filtered(text: str, where: Expression | None, which: str = "text") -> str:
    return text if where is None else f"{text} FILTER (WHERE {getattr(where, which)})"


def aggregate(rows: Rows, unit: str) -> Aggregate:
    random = rows.random
    where = rows.boolean(2) if random.random() < 0.25 else None
    kind = random.choice(("rows", "values", "values", "people", "sum", "sum", "sum", "average", "average"))
    if kind == "people" and unit != "row":
        return counted("COUNT(DISTINCT person)", "count(DISTINCT person)", where)
    if kind in ("rows", "people"):
        return counted("COUNT(*)", "count(*)", where)
    if kind == "values":
        inner = rows.of(
            random.choice(("number", "number", "number", "text", "date", "boolean")), random.choice((0, 1, 1, 2))
        )
        return counted(f"COUNT({inner.text})", f"count({inner.reference})", where)
    inner = rows.of("number", random.choice((0, 0, 0, 1, 2, 2)), sure=True)
    some = filtered(f"count({inner.reference})", where, "reference")
    exact = inner.on_grid
    step = 0.0 if exact else STEPS * inner.width
    if kind == "sum":  # the sum of no rows is 0, where DuckDB says NULL
        text, reference = f"SUM({inner.text})", f"sum({inner.reference})"
        error = f"({some} * {step!r})"
        return Aggregate(filtered(text, where), filtered(reference, where, "reference"), "0", error, exact)
    text, reference = f"AVG({inner.text})", f"avg({Translation.double(inner.reference)})"
    error = f"(CASE WHEN {some} > 0 THEN {2 * (step + 1e-9 * inner.width)!r} END)"
    return Aggregate(filtered(text, where), filtered(reference, where, "reference"), "NULL", error, False)


def counted(text: str, reference: str, where: Expression | None) -> Aggregate:
    return Aggregate(filtered(text, where), filtered(reference, where, "reference"), "0", "0.0", True)


@dataclass(frozen=True, slots=True)
class Output:
    """A column of an answer: ours over aggregates, the reference's over their names, and how far off it may be; "0.0" for what is exact."""

    text: str
    reference: str
    error: str = "0.0"


def outputs(random: Random, found: Sequence[Aggregate]) -> list[Output]:
    """Each aggregate, and sometimes something computed from them."""
    plain = [Output(each.text, f"a{i}", f"e{i}") for i, each in enumerate(found)]
    if random.random() < 0.6:
        return plain
    first, second = random.choice(plain), random.choice(plain)
    bottom = random.choice(
        [Output("COUNT(*)", "n"), *(each for each, made in zip(plain, found, strict=True) if made.exact)]
    )
    factor = constant(random.choice((2, -3, 100, 0.5, 100.0)))
    made = random.choice(
        (
            Output(f"{first.text} + {second.text}", f"({first.reference} + {second.reference})", f"({first.error} + {second.error})"),
            Output(f"{first.text} - {second.text}", f"({first.reference} - {second.reference})", f"({first.error} + {second.error})"),
            Output(f"{factor.text} * {first.text}", f"({factor.reference} * {first.reference})", f"abs({factor.reference} * {first.error})"),
            Output(f"-{first.text}", f"(-{first.reference})", first.error),
            Output(f"ABS({first.text})", f"abs({first.reference})", first.error),
            Output(
                f"{first.text} / {bottom.text}",
                Translation.divided(Translation.double(first.reference), bottom.reference),
                f"abs({first.error} / NULLIF({bottom.reference}, 0))",
            ),
            Output(
                f"100.0 * {first.text} / ({bottom.text} + 1)",
                Translation.divided(f"(100.0::DOUBLE * {first.reference})", f"({bottom.reference} + 1)"),
                f"abs(100 * {first.error} / NULLIF({bottom.reference} + 1, 0))",
            ),
            Output(
                f"CASE WHEN {bottom.text} > 3 THEN 'many' ELSE 'few' END", f"CASE WHEN {bottom.reference} > 3 THEN 'many' ELSE 'few' END"
            ),
            Output(f"GREATEST({first.text}, 3)", f"greatest({first.reference}, 3)", first.error),
            Output(
                f"COALESCE(NULLIF({bottom.text}, 0), -1)", f"coalesce(nullif({bottom.reference}, 0), -1)"
            ),
        )
    )  # fmt: skip
    return [*plain, made]


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `decided` are the references by which rows are kept and sorted, each with its error and what it is compared with."""

    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    where: Expression | None = None
    having: tuple[str, str] | None = None
    order: tuple[tuple[str, str], ...] = ()
    tail: str = ""
    limits: tuple[tuple[Output, float], ...] = ()
    sorted: tuple[Output, ...] = ()
    told: frozenset[str] = field(default=frozenset())

    @property
    def text(self) -> str:
        """As it is asked."""
        said = [f"{each.expression.text} AS k{i}" for i, each in enumerate(self.keys)]
        said += [f"{each.text} AS o{i}" for i, each in enumerate(self.outputs)]
        text = f"SELECT {', '.join(said)} FROM {TABLE}"
        if self.where is not None:
            text += f" WHERE {self.where.text}"
        if self.keys:
            text += f" GROUP BY {', '.join(each.expression.text for each in self.keys)}"
        if self.having is not None:
            text += f" HAVING {self.having[0]}"
        if self.order:
            text += f" ORDER BY {', '.join(ours for ours, _ in self.order)}"
        return text + self.tail

    @property
    def plain(self) -> Question:
        """The same without what selects and sorts groups."""
        return replace(self, having=None, order=(), tail="", limits=(), sorted=())

    def reference(self, unit: str) -> str:
        """As plain DuckDB is asked: keys, outputs, then the error of each output."""
        said = [f"k{i}" for i in range(len(self.keys))]
        said += [f"{each.reference} AS o{i}" for i, each in enumerate(self.outputs)]
        said += [f"CAST({each.error} AS DOUBLE) AS error{i}" for i, each in enumerate(self.outputs)]
        text = f"{self.filled(unit)} SELECT {', '.join(said)} FROM filled"
        if self.having is not None:
            text += f" WHERE {self.having[1]}"
        if self.order:
            text += f" ORDER BY {', '.join(theirs for _, theirs in self.order)}"
        return text + self.tail

    def deciding(self, unit: str) -> str:
        """For each group what it is selected and sorted by, each with its error."""
        said = [
            each
            for output in (*(found for found, _ in self.limits), *self.sorted)
            for each in (output.reference, output.error)
        ]
        return f"{self.filled(unit)} SELECT {', '.join(said)} FROM filled"

    def filled(self, unit: str) -> str:
        """The declared groups with their aggregates, 0 or the like where there are no rows; rows of other groups, and of nobody, are left out."""
        names = [f"k{i}" for i in range(len(self.keys))]
        where = [self.where.reference] if self.where is not None else []
        where += ["person IS NOT NULL"] if unit != "row" else []
        chosen = "".join(f", {each.expression.reference} AS k{i}" for i, each in enumerate(self.keys))
        rows = f"SELECT *{chosen} FROM {TABLE}" + (f" WHERE {' AND '.join(where)}" if where else "")
        sums = [f"{each.reference} AS a{i}, {each.error} AS e{i}" for i, each in enumerate(self.aggregates)]
        found = f"SELECT {', '.join([*names, 'count(*) AS n', *sums])} FROM kept" + (
            f" GROUP BY {', '.join(names)}" if names else ""
        )
        if not names:
            groups = "SELECT 1 AS one"
        else:
            listed = ", ".join(
                f"({', '.join(map(sql, group))})" for group in product(*(each.values for each in self.keys))
            )
            groups = f"SELECT * FROM (VALUES {listed}) AS listed({', '.join(names)})"
        on = " AND ".join(f"groups.{name} IS NOT DISTINCT FROM found.{name}" for name in names) or "TRUE"
        made = [f"groups.{name}" for name in names] + ["coalesce(n, 0) AS n"]
        made += [
            f"coalesce(a{i}, {each.empty}) AS a{i}, coalesce(e{i}, {each.empty}) AS e{i}"
            for i, each in enumerate(self.aggregates)
        ]
        return (
            f"WITH kept AS ({rows}), found AS ({found}), groups AS ({groups}),"
            f" filled AS (SELECT {', '.join(made)} FROM groups LEFT JOIN found ON {on})"
        )


def sql(value: Any) -> str:
    return "NULL" if value is None else constant(value).reference


def question(random: Random, unit: str) -> Question:
    """A question at random."""
    rows = Rows(random)
    by = tuple(random.choice(keys(rows))() for _ in range(random.choice((0, 1, 1, 1, 2))))
    if len({each.expression.text for each in by}) < len(by) or (
        len(by) == 2 and len(by[0].values) * len(by[1].values) > 400
    ):
        by = by[:1]
    found = tuple(aggregate(rows, unit) for _ in range(random.choice((1, 1, 2, 3))))
    released = tuple(outputs(random, found))
    made = Question(by, found, released, rows.boolean(3) if random.random() < 0.6 else None)
    if by and random.random() < 0.4:
        made = with_having(random, made)
    if random.random() < 0.4:
        made = with_order(random, made)
    return made


def with_having(random: Random, made: Question) -> Question:
    numbers = [each for each in made.outputs if not each.text.startswith("CASE")]
    first = random.choice([Output("COUNT(*)", "n"), *numbers])
    level = constant(random.choice((0, 1, 3, 2.5, -1, 10, 100)))
    order = random.choice((">", ">=", "<", "<>", "<="))
    ours, theirs = f"{first.text} {order} {level.text}", f"{first.reference} {order} {level.reference}"
    limits = [(first, float(level.low or 0))]
    if random.random() < 0.3:
        word = random.choice((" AND ", " OR "))
        ours, theirs = f"{ours}{word}COUNT(*) BETWEEN 1 AND 20", f"{theirs}{word}n BETWEEN 1 AND 20"
    if random.random() < 0.2:
        ours, theirs = f"NOT ({ours})", f"NOT ({theirs})"
    return replace(made, having=(ours, theirs), limits=tuple(limits))


def with_order(random: Random, made: Question) -> Question:
    """Sorted by an output, and by all keys, so that the order is total; only then is there a LIMIT."""
    order, by = [], []
    if made.keys and random.random() < 0.8 or not made.keys:
        place = random.randrange(len(made.outputs))
        output = made.outputs[place]
        way = random.choice(("", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST", " NULLS LAST", " DESC NULLS FIRST"))
        said = random.choice((f"o{place}", str(place + 1 + len(made.keys)), output.text))
        order.append((said + way, output.reference + way))
        by = [] if output.text.startswith("CASE") else [output]
    for i in range(len(made.keys)):
        way = random.choice(("", " DESC", " NULLS FIRST"))
        order.append((f"k{i}{way}", f"k{i}{way}"))
    tail = f" LIMIT {random.randint(0, 5)}" if random.random() < 0.6 else ""
    tail += f" OFFSET {random.randint(1, 3)}" if tail and random.random() < 0.3 else ""
    return replace(made, order=tuple(order), tail=tail, sorted=tuple(by))
