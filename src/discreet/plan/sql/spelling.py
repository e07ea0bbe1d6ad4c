"""Names and constants as texts that are read here as what they are: the inverse of reading, for questions that are built.

State contract: for any string, `name` is one identifier and `constant` one literal of the text, whatever the string holds; what no text of
a question may hold is refused. So no name and no value adds a word to a question.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from sqlglot.tokenizer_core import TokenType

from discreet.errors import Invalid, QueryError
from discreet.plan.plain import LEAST_INTEGER, MOST_INTEGER, Unusable, plain_moment
from discreet.plan.sql.text import DUCKDB, check_characters

PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
RESERVED = {"nulls", "last", "if", "both", "leading", "trailing", "within", "escape"}
"""Words that the parser takes for its own in places of names."""


def name(text: str) -> str:
    """A name as it stands in a text: alone where it is a plain word, else in double quotes.

    >>> name("age"), name("Age"), name('the "age"')
    ('age', '"Age"', '"the ""age\"""')
    """
    if not isinstance(text, str) or not text:
        raise Invalid("a name must be a text of at least one character", code="name", hint='write "age"')
    _check(text, "a name", "give the column another name in a view of the source")
    if PLAIN.fullmatch(text) and text not in RESERVED:
        words = list(DUCKDB.tokenize(text))
        if len(words) == 1 and words[0].token_type is TokenType.VAR:
            return text
    quoted = text.replace('"', '""')
    return f'"{quoted}"'


def constant(value: object) -> str:
    """A Python value as a literal; what NumPy, pandas, `decimal` and `datetime` make is taken as a bound parameter is.

    >>> constant("it's"), constant(0.5), constant(date(2024, 12, 31)), constant(None)
    ("'it''s'", '0.5', "DATE '2024-12-31'", 'NULL')
    """
    if type(value) is timedelta:
        return _interval(value)
    try:
        plain = plain_moment(value)
    except Unusable as unusable:
        raise Invalid(f"a constant {unusable.what}", code="constant", hint=unusable.hint) from None
    match plain:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if plain else "FALSE"
        case int():
            return _integer(plain)
        case float():
            return repr(plain)
        case str():
            _check(plain, "a text", 'bind it as a parameter: dp.param("name"), and params={"name": …}')
            quoted = plain.replace("'", "''")
            return f"'{quoted}'"
        case datetime():
            return f"TIMESTAMP '{plain.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{plain.isoformat()}'"
    raise AssertionError(f"a plain value of type {type(plain).__name__}")


def constants(values: Sequence[object]) -> str:
    """Several literals, in brackets."""
    return f"({', '.join(map(constant, values))})"


def _integer(value: int) -> str:
    if not LEAST_INTEGER <= value <= MOST_INTEGER:
        raise Invalid("a constant is an integer of more than 64 bits", code="constant", hint="write a float")
    return str(value)


def _interval(value: timedelta) -> str:
    if value.microseconds:
        raise Invalid("an interval has a fraction of a second", code="constant", hint="use whole seconds")
    if value.seconds:
        return f"INTERVAL '{value.days * 86_400 + value.seconds} seconds'"
    return f"INTERVAL '{value.days} days'"


def _check(text: str, what: str, hint: str) -> None:
    """What a text of a question cannot hold is refused here too, where its owner can be told what to do."""
    try:
        check_characters(text)
    except QueryError as error:
        raise Invalid(f"{what} holds what no question can hold: {error.message}", code=error.code, hint=hint) from None
