"""Expressions over rows, made at random, each with its translation into plain DuckDB.

An expression carries two texts, ours and the reference's, its type, and, for a number, where it lies by what is declared. The second
text differs from the first only by the rules of `Translation`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from random import Random
from typing import Any

from tests.laws.messy import CODES, FIELDS, LARGEST, NOTES, VISITS, WARDS

STEPS = 2.0**-24  # half a step of the grid, as a share of the width of the bounds
MOST_WHOLE = 2**24  # whole numbers up to here are their own grid


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
        """Of the bounds, which the grid is a part of; a constant, which has none, may be on a grid of its own size."""
        assert self.low is not None and self.high is not None
        width, size = self.high - self.low, max(abs(self.low), abs(self.high))
        return width or size

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
                self.sum, self.sum, self.product, self.product, self.quotient, self.quotient, self.remainder, self.remainder,
                self.negative, self.rounded, self.rounded, self.digits, self.size, self.root, self.most, self.clamped, self.part,
                self.length, self.chosen, self.coalesced, self.nulled, self.cast,
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
        left = self.of(type, max(depth, 1))
        right = self.of(type, 0) if self.random.random() < 0.3 else self.beside(left, type)
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

    def beside(self, other: Expression, type: str) -> Expression:
        """A constant to compare something with: beside a column that has declared keys one of these, as any other is refused."""
        keys = FIELDS[other.text].keys if other.text in FIELDS else None
        return self.some(type) if keys is None else constant(self.random.choice(keys))

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
            left = self.of(type, depth)
            values = [self.beside(left, type) for _ in range(self.random.randint(1, 5))]
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
        if word == "NOT LIKE" or (word == "LIKE" and "!" in pattern):
            pattern += " ESCAPE '!'"
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
        if self.random.random() < 0.2:
            return self.switch(first, second)
        when = self.boolean(depth)
        ends = self.random.random() < 0.7 or first.type == "boolean"
        otherwise = (f" ELSE {second.text}", f" ELSE {second.reference}") if ends else ("", "")
        used = list(values) if ends else [first]
        text = f"CASE WHEN {when.text} THEN {first.text}{otherwise[0]} END"
        reference = f"CASE WHEN {when.reference} THEN {first.reference}{otherwise[1]} END"
        return Expression(text, reference, common(used), *hull(used), exact=all(each.exact for each in used))

    def switch(self, first: Expression, second: Expression) -> Expression:
        name = self.random.choice(("ward", "visit", "small", "smoker"))
        listed = {"small": tuple(range(-5, 26)), "smoker": (False, True)}.get(name) or FIELDS[name].keys or ()
        values = [constant(value) for value in self.random.sample(listed, 2)]
        text, reference = (
            f"CASE {name} WHEN {getattr(values[0], way)} THEN {getattr(first, way)} WHEN {getattr(values[1], way)} THEN"
            f" {getattr(second, way)} ELSE {getattr(first, way)} END"
            for way in ("text", "reference")
        )
        return Expression(
            text, reference, common((first, second)), *hull((first, second)), exact=first.exact and second.exact
        )


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
