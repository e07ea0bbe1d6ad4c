"""DuckDB's words."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from discreet.engines.render.native import Native, NativeKind
from discreet.engines.render.nodes import (
    TYPES,
    E,
    T,
    alias,
    bare_integer,
    binary,
    call,
    cast,
    double,
    in_years,
    integer,
    named,
    select,
    text,
    when,
)
from discreet.engines.render.words import Words
from discreet.plan.letters import capitals, small_letters
from discreet.plan.relation import EPOCH
from discreet.plan.scalar import Type
from discreet.plan.texts import BLANKS, LOWER

NARROW = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
PARTS = {"dow": "dayofweek", "doy": "dayofyear"}
ZONED, FINE = "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS"
KINDS: Mapping[str, NativeKind] = MappingProxyType(
    {
        **dict.fromkeys(("VARCHAR", "ENUM", "UUID", "TIME", "BIGNUM"), NativeKind.WORD),
        **dict.fromkeys((*NARROW, "HUGEINT", "UBIGINT", "UHUGEINT"), NativeKind.INTEGER),
        **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", ZONED), NativeKind.MOMENT),
        "FLOAT": NativeKind.FLOAT,
        "DOUBLE": NativeKind.DOUBLE,
        "DECIMAL": NativeKind.DECIMAL,
        "DATE": NativeKind.DAY,
        "BOOLEAN": NativeKind.BOOLEAN,
    }
)
LISTED = (Type.TEXT, Type.INTEGER, Type.DATE)  # of which a list can be a parameter
COMMON = (
    r"[\x00-\x{de}\x{e0}-\x{12f}\x{131}-\x{17f}\x{386}-\x{3ce}\x{400}-\x{481}\x{1ea0}-\x{1ef9}"
    r"\x{2010}-\x{2027}\x{3000}-\x{30ff}\x{4e00}-\x{9fa5}\x{ac00}-\x{d7a3}]*"
)
"""Texts of common letters, kana, hanzi and hangul, which DuckDB's LOWER and UPPER change as `plan.letters` does."""


def try_cast(operand: E, type: T) -> E:
    return exp.TryCast(this=operand, to=exp.DataType(this=type))


class DuckDBWords(Words):
    """How DuckDB 2.0 says it, with `ieee_floating_point_ops` on."""

    dialect = "duckdb"
    bits = 64

    def is_nan(self, operand: E) -> E:
        return call("isnan", operand)

    def remainder(self, left: E, right: E) -> E:
        return binary(exp.Mod, left, right)

    def int_div(self, left: E, right: E) -> E:
        return binary(exp.IntDiv, left, right)

    def rounded(self, operand: E) -> E:
        return call("round", operand)

    def floor_to_int(self, operand: E) -> E:
        return try_cast(call("floor", operand), T.BIGINT)

    def round_to_int(self, operand: E) -> E:
        return try_cast(call("round", operand), T.BIGINT)

    def truncated(self, operand: E) -> E:
        return cast(call("trunc", operand), T.BIGINT)

    def is_whole(self, operand: E) -> E:
        return binary(exp.EQ, operand, call("trunc", operand))

    def ln(self, operand: E) -> E:
        return call("ln", operand)

    def log10(self, operand: E) -> E:
        return call("log10", operand)

    def log2(self, operand: E) -> E:
        return call("log2", operand)

    def exp(self, operand: E) -> E:
        return call("exp", operand)

    def power(self, left: E, right: E) -> E:
        return call("pow", left, right)

    def wide(self, operand: E) -> E:
        return cast(operand, T.INT128)

    def sum_of_squares(self, operand: E, narrow: bool) -> E:
        factor = cast(operand, T.BIGINT) if narrow else self.wide(operand)
        return call("sum", binary(exp.Mul, factor, factor))

    def try_number(self, operand: E) -> E:
        return try_cast(operand, T.DOUBLE)

    def try_integer(self, operand: E) -> E:
        return try_cast(operand, T.BIGINT)

    def try_small(self, operand: E) -> E:
        return try_cast(operand, T.INT)

    def try_date(self, operand: E) -> E:
        return try_cast(operand, T.DATE)

    def number_text(self, operand: E) -> E:
        # one zero
        positive = binary(exp.Add, operand, double(0.0))
        return self.without(cast(positive, T.TEXT), r"\.0$")

    def days(self, operand: E) -> E:
        return binary(exp.Sub, operand, cast(text(EPOCH.isoformat()), T.DATE))

    def micros(self, operand: E) -> E:
        return call("epoch_us", operand)

    def whole_micros(self, operand: E) -> E:
        nanos, thousand = call("epoch_ns", operand), bare_integer(1000)
        down = when(
            [(binary(exp.LT, binary(exp.Mod, nanos, thousand), bare_integer(0)), bare_integer(1))], bare_integer(0)
        )
        return binary(exp.Sub, binary(exp.IntDiv, nanos, thousand), down)

    def moment(self, operand: E) -> E:
        return call("make_timestamp", operand)

    def moment_trunc(self, unit: str, operand: E) -> E:
        return call("date_trunc", text(unit), operand)

    def on_clock(self, operand: E, starts: Sequence[int], offsets: Sequence[int]) -> E:
        """The offsets are found by halves, and each step is of a name, so that it is computed once."""
        name = exp.Identifier(this="moment")

        def halves(first: int, last: int) -> E:
            if first == last:
                return integer(offsets[first])
            middle = (first + last) // 2
            before = binary(exp.LT, exp.Column(this=name), integer(starts[middle]))
            return when([(before, halves(first, middle))], halves(middle + 1, last))

        moment: E = exp.Column(this=name)
        listed: E = exp.Array(expressions=[operand])
        for step in (binary(exp.Add, moment, halves(0, len(starts))), self.moment(moment)):
            there = when([(in_years(moment), step)])
            listed = call("list_transform", listed, exp.Lambda(this=there, expressions=[name]))
        return call("list_extract", listed, bare_integer(1))

    def plus_days(self, operand: E, days: E) -> E:
        return binary(exp.Add, operand, cast(days, T.INT))

    def plus_months(self, operand: E, months: E) -> E:
        return cast(binary(exp.Add, operand, call("to_months", cast(months, T.INT))), T.DATE)

    def part(self, unit: str, operand: E) -> E:
        return call(PARTS.get(unit, unit), operand)

    def date_trunc(self, unit: str, operand: E) -> E:
        return cast(call("date_trunc", text(unit), operand), T.DATE)

    def date_text(self, pattern: str, operand: E) -> E:
        return call("strftime", operand, text(pattern))

    def utc(self, operand: E) -> E:
        return call("make_timestamp", call("epoch_us", operand))

    def length(self, operand: E) -> E:
        return call("length", operand)

    def lower_ascii(self, operand: E) -> E:
        letters = "".join(map(chr, LOWER))
        return call("translate", operand, text(letters), text(letters.translate(LOWER)))

    def lowered(self, operand: E) -> E:
        return self._changed("lower", operand, small_letters())

    def uppered(self, operand: E) -> E:
        return self._changed("upper", operand, capitals())

    def _changed(self, function: str, operand: E, letters: Mapping[int, str]) -> E:
        """DuckDB's own function is fast, and right where all letters are common ones; else each letter is looked up."""
        translated = call("translate", operand, text("".join(map(chr, letters))), text("".join(letters.values())))
        return when([(self.matches(operand, COMMON), call(function, operand))], translated)

    def slice(self, operand: E, first: E, count: E) -> E:
        return call("substring", operand, first, count)

    def place(self, operand: E, part: E) -> E:
        return call("strpos", operand, part)

    def trimmed_left(self, operand: E, characters: E) -> E:
        return call("ltrim", operand, characters)

    def trimmed_right(self, operand: E, characters: E) -> E:
        return call("rtrim", operand, characters)

    def contains(self, operand: E, part: str) -> E:
        return call("contains", operand, text(part))

    def like(self, operand: E, pattern: str) -> E:
        like = exp.Like(this=operand, expression=text(pattern))
        return exp.Paren(this=exp.Escape(this=like, expression=text("\\")))

    def matches(self, operand: E, pattern: str) -> E:
        return call("regexp_full_match", operand, text(pattern))

    def group(self, operand: E, pattern: str, number: int) -> E:
        return call("regexp_extract", operand, text(f"^(?:{pattern})$"), bare_integer(number))

    def without(self, operand: E, pattern: str) -> E:
        return call("regexp_replace", operand, text(pattern), text(""))

    def trimmed(self, operand: E) -> E:
        """The blanks are written by their numbers, as texts with line ends in them do not stay what they are."""
        return call("trim", operand, call("concat", *(call("chr", bare_integer(ord(blank))) for blank in BLANKS)))

    def hash64(self, operand: E) -> E:
        return call("hash", operand)

    def priority(self, hashed: E, keys: Sequence[E], salt: E) -> E:
        """The outer hash is needed: with the salt as one more argument of the inner one the order would always be the same."""
        mixed = call("hash", hashed, *keys)
        return call("hash", call("xor", mixed, salt))

    def modulo(self, priority: E, count: E) -> E:
        return cast(binary(exp.Mod, priority, cast(count, T.UBIGINT)), T.BIGINT)

    def parameter(self, identifier: str, type: T | None = None) -> E:
        return cast(exp.Placeholder(this=identifier), T.UBIGINT if type is None else type)

    def in_list(self, operand: E, identifier: str, type: Type) -> E | None:
        """A join, which doubles are kept out of: what equals what among them is left to comparisons."""
        if type not in LISTED:
            return None
        kind = exp.DataType(this=T.ARRAY, expressions=[exp.DataType(this=TYPES[type])], nested=True)
        values = call("unnest", exp.Cast(this=exp.Placeholder(this=identifier), to=kind))
        return exp.Paren(this=exp.In(this=operand, query=exp.Subquery(this=exp.Select(expressions=[values]))))

    def bit_or(self, operand: E) -> E | None:
        return call("bit_or", operand)

    def row_number(self) -> E:
        return exp.column("rowid")

    def replaced(self, names: Sequence[str], columns: Mapping[str, E]) -> list[E]:
        return [exp.Star(replace=[alias(each, name) for name, each in columns.items()]) if columns else exp.Star()]

    def first(self, columns: Sequence[str], source: E, join: E, rank: E, most: int) -> E:
        query = select([*map(named, columns)], source, join=join)
        query.set("qualify", exp.Qualify(this=exp.LTE(this=rank, expression=bare_integer(most))))
        return query

    def with_tables(self, query: E, **tables: E) -> E:
        parts = [
            exp.CTE(this=table, alias=exp.TableAlias(this=exp.Identifier(this=name)), materialized=True)
            for name, table in tables.items()
        ]
        query.set("with_", exp.With(expressions=parts))
        return query

    def native(self, type: str) -> Native:
        """DECIMAL(18,2), TIMESTAMP WITH TIME ZONE, ENUM('a', 'b'), INTEGER[]: what stands in brackets is the digits of a decimal."""
        name, _, inside = type.partition("(")
        name = name.strip()
        if type.endswith("]") or name not in KINDS:
            return Native(NativeKind.UNKNOWN)
        digits, _, places = inside.rstrip(") ").partition(",") if name == "DECIMAL" else ("0", "", "0")
        return Native(KINDS[name], name in NARROW, int(digits or 18), int(places or 0), name == ZONED, name == FINE)


DUCKDB = DuckDBWords()
