"""DuckDB's words."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from discreet.engines.render.native import Kind, Native
from discreet.engines.render.nodes import E, T, alias, binary, call, cast, double, named, plain, select, text
from discreet.engines.render.words import Words
from discreet.plan.relation import EPOCH
from discreet.plan.texts import BLANKS, LOWER

NARROW = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
ZONED = "TIMESTAMP WITH TIME ZONE"
KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        **dict.fromkeys(("VARCHAR", "ENUM", "UUID", "TIME", "BIGNUM"), Kind.WORD),
        **dict.fromkeys((*NARROW, "HUGEINT", "UBIGINT", "UHUGEINT"), Kind.INTEGER),
        **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", ZONED), Kind.MOMENT),
        "FLOAT": Kind.FLOAT,
        "DOUBLE": Kind.DOUBLE,
        "DECIMAL": Kind.DECIMAL,
        "DATE": Kind.DAY,
        "BOOLEAN": Kind.BOOLEAN,
    }
)


def try_cast(made: E, type: T) -> E:
    return exp.TryCast(this=made, to=exp.DataType(this=type))


class DuckDB(Words):
    """How DuckDB 2.0 says it, with `ieee_floating_point_ops` on."""

    dialect = "duckdb"
    bits = 64

    def is_nan(self, made: E) -> E:
        return call("isnan", made)

    def remainder(self, left: E, right: E) -> E:
        return binary(exp.Mod, left, right)

    def int_div(self, left: E, right: E) -> E:
        return binary(exp.IntDiv, left, right)

    def rounded(self, made: E) -> E:
        return call("round", made)

    def floor_to_int(self, made: E) -> E:
        return try_cast(call("floor", made), T.BIGINT)

    def round_to_int(self, made: E) -> E:
        return try_cast(call("round", made), T.BIGINT)

    def truncated(self, made: E) -> E:
        return cast(call("trunc", made), T.BIGINT)

    def is_whole(self, made: E) -> E:
        return binary(exp.EQ, made, call("trunc", made))

    def wide(self, made: E) -> E:
        return cast(made, T.INT128)

    def sum_of_squares(self, made: E, narrow: bool) -> E:
        factor = cast(made, T.BIGINT) if narrow else self.wide(made)
        return call("sum", binary(exp.Mul, factor, factor))

    def try_number(self, made: E) -> E:
        return try_cast(made, T.DOUBLE)

    def try_integer(self, made: E) -> E:
        return try_cast(made, T.BIGINT)

    def try_small(self, made: E) -> E:
        return try_cast(made, T.INT)

    def try_date(self, made: E) -> E:
        return try_cast(made, T.DATE)

    def number_text(self, made: E) -> E:
        # one zero
        positive = binary(exp.Add, made, double(0.0))
        return self.without(cast(positive, T.TEXT), r"\.0$")

    def days(self, made: E) -> E:
        return binary(exp.Sub, made, cast(text(EPOCH.isoformat()), T.DATE))

    def plus_days(self, made: E, days: E) -> E:
        return binary(exp.Add, made, cast(days, T.INT))

    def part(self, unit: str, made: E) -> E:
        return call(unit, made)

    def utc(self, made: E) -> E:
        return call("make_timestamp", call("epoch_us", made))

    def length(self, made: E) -> E:
        return call("length", made)

    def lower_ascii(self, made: E) -> E:
        letters = "".join(map(chr, LOWER))
        return call("translate", made, text(letters), text(letters.translate(LOWER)))

    def contains(self, made: E, part: str) -> E:
        return call("contains", made, text(part))

    def like(self, made: E, pattern: str) -> E:
        like = exp.Like(this=made, expression=text(pattern))
        return exp.Paren(this=exp.Escape(this=like, expression=text("\\")))

    def matches(self, made: E, pattern: str) -> E:
        return call("regexp_full_match", made, text(pattern))

    def group(self, made: E, pattern: str, number: int) -> E:
        return call("regexp_extract", made, text(f"^(?:{pattern})$"), plain(number))

    def without(self, made: E, pattern: str) -> E:
        return call("regexp_replace", made, text(pattern), text(""))

    def trimmed(self, made: E) -> E:
        """The blanks are written by their numbers, as texts with line ends in them do not stay what they are."""
        return call("trim", made, call("concat", *(call("chr", plain(ord(blank))) for blank in BLANKS)))

    def hash64(self, made: E) -> E:
        return call("hash", made)

    def priority(self, hashed: E, keys: Sequence[E], salt: E) -> E:
        """The outer hash is needed: with the salt as one more argument of the inner one the order would always be the same."""
        mixed = call("hash", hashed, *keys)
        return call("hash", call("xor", mixed, salt))

    def modulo(self, priority: E, count: E) -> E:
        return cast(binary(exp.Mod, priority, cast(count, T.UBIGINT)), T.BIGINT)

    def parameter(self, identifier: str, type: T | None = None) -> E:
        return cast(exp.Placeholder(this=identifier), T.UBIGINT if type is None else type)

    def bit_or(self, made: E) -> E | None:
        return call("bit_or", made)

    def row_number(self) -> E:
        return exp.column("rowid")

    def replaced(self, names: Sequence[str], made: Mapping[str, E]) -> list[E]:
        return [exp.Star(replace=[alias(each, name) for name, each in made.items()]) if made else exp.Star()]

    def first(self, columns: Sequence[str], source: E, join: E, rank: E, most: int) -> E:
        query = select([*map(named, columns)], source, join=join)
        query.set("qualify", exp.Qualify(this=exp.LTE(this=rank, expression=plain(most))))
        return query

    def with_tables(self, made: E, **tables: E) -> E:
        parts = [
            exp.CTE(this=query, alias=exp.TableAlias(this=exp.Identifier(this=name)), materialized=True)
            for name, query in tables.items()
        ]
        made.set("with_", exp.With(expressions=parts))
        return made

    def native(self, type: str) -> Native:
        """DECIMAL(18,2), TIMESTAMP WITH TIME ZONE, ENUM('a', 'b'), INTEGER[]: what stands in brackets is the digits of a decimal."""
        name, _, inside = type.partition("(")
        name = name.strip()
        if type.endswith("]") or name not in KINDS:
            return Native(Kind.UNKNOWN)
        digits, _, places = inside.rstrip(") ").partition(",") if name == "DECIMAL" else ("0", "", "0")
        return Native(KINDS[name], name in NARROW, int(digits or 18), int(places or 0), name == ZONED)


DUCKDB = DuckDB()
