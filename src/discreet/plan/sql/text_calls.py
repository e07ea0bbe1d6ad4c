"""Readers of functions of texts that are not written as a call with operands alone; all others `calls` reads."""

from collections.abc import Sequence

from sqlglot import exp

from discreet.plan.casts import CASTS
from discreet.plan.scalar import Cast, Coalesce, Function, Literal, Scalar, Type
from discreet.plan.sql.expressions import Expressions, reads
from discreet.plan.sql.refusals import Code
from discreet.plan.sql.values import Mismatch, as_type, kind, type_in_words
from discreet.plan.text_functions import BLANK, REST

TRIMS = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


@reads(exp.Trim, args="this expression position")
def _trim(read: Expressions, node: exp.Trim) -> Scalar:
    """The blank alone is taken away where no characters are named, as in PostgreSQL."""
    characters = node.args.get("expression")
    among = Literal(BLANK, Type.TEXT) if characters is None else read.of_type(characters, Type.TEXT)
    return Function(TRIMS[node.args.get("position") or ""], (read.of_type(node.this, Type.TEXT), among))


@reads(exp.Substring, args="this start length")
def _substring(read: Expressions, node: exp.Substring) -> Scalar:
    text, start, length = node.this, node.args.get("start"), node.args.get("length")
    if start is None:
        hint = "write SUBSTRING(t, 1, 3), or SUBSTRING(t, 2) for all from there on"
        raise read.refusal(Code.FUNCTION, "SUBSTRING needs a place", hint, node)
    count = Literal(REST, Type.INTEGER) if length is None else read.number(length)
    return Function("substring", (read.of_type(text, Type.TEXT), read.number(start), count))


@reads(exp.DPipe, args="this expression safe")
def _append(read: Expressions, node: exp.DPipe) -> Scalar:
    return Function("append", (as_text(read.scalar(node.this)), as_text(read.scalar(node.expression))))


@reads(exp.Concat, args="expressions safe coalesce")
def _concat(read: Expressions, node: exp.Concat) -> Scalar:
    """CONCAT passes over NULL, and || does not, as in PostgreSQL and DuckDB."""
    if not node.expressions:
        raise read.refusal(Code.FUNCTION, "CONCAT needs a text", "write CONCAT(a, b)", node)
    nothing = Literal("", Type.TEXT)
    parts = [as_text(read.scalar(each)) for each in node.expressions]
    return _appended([each if _there(each) else Coalesce((each, nothing)) for each in parts])


def _there(scalar: Scalar) -> bool:
    return isinstance(scalar, Literal) and scalar.value is not None


def _appended(parts: Sequence[Scalar]) -> Scalar:
    """One behind the other, in a tree that is no deeper than it must be."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return Function("append", (_appended(parts[:half]), _appended(parts[half:])))


def as_text(scalar: Scalar) -> Scalar:
    """A value as a text, where that is the same on every engine; raises Mismatch."""
    got = kind(scalar)
    if got is None or got is Type.TEXT:
        return as_type(scalar, Type.TEXT)
    if (got, Type.TEXT) not in CASTS:
        hint = "every engine writes decimals differently: write CAST(… AS INTEGER), which rounds"
        raise Mismatch(f"{type_in_words(got)} cannot be written as a text", hint)
    return Cast(scalar, Type.TEXT)
