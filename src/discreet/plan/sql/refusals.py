"""Why a text is not a question we answer: a closed set of codes, and the caret under the place.

Nothing here knows the grammar. An error's message says what was asked, its hint what to write instead; the caret is a note of the
exception (`error.__notes__`), which a traceback prints below it.
"""

from difflib import get_close_matches
from enum import StrEnum
from typing import Protocol

from discreet.errors import QueryError
from discreet.plan.functions import FUNCTIONS
from discreet.plan.releases.base import registry
from discreet.plan.sql.values import WORDS

WIDTH = 100  # of the line that is shown
LONGEST_NAME = 60  # of what is repeated from the text


class Code(StrEnum):
    """Every code of a refusal. Stable: programs compare them."""

    # the text
    TEXT_TOO_LONG = "text-too-long"
    TOO_DEEP = "too-deep"
    TOO_MANY_ITEMS = "too-many-items"
    BAD_CHARACTER = "bad-character"
    COMMENT = "comment"
    EMPTY = "empty"
    SYNTAX = "syntax"
    SEVERAL_STATEMENTS = "several-statements"
    NOT_A_SELECT = "not-a-select"
    UNREAD = "unread"
    # clauses
    CTE = "cte"
    SUBQUERY = "subquery"
    SET_OPERATION = "set-operation"
    JOIN = "join"
    PIVOT = "pivot"
    SAMPLE = "sample"
    WINDOW = "window"
    TABLE_FUNCTION = "table-function"
    SCHEMA = "schema"
    STAR = "star"
    DISTINCT = "distinct"
    GROUPING = "grouping"
    LIMIT = "limit"
    CLAUSE = "clause"
    KEYWORD = "keyword"
    # expressions
    OPERATOR = "operator"
    BRACKETS = "brackets"
    FUNCTION = "function"
    EXTREME = "extreme"
    QUANTILE = "quantile"
    STATISTIC = "statistic"
    COLLECTION = "collection"
    RANDOM = "random"
    CLOCK = "clock"
    TYPES = "types"
    LITERAL = "literal"
    PATTERN = "pattern"
    COLLATION = "collation"
    PARAMETER = "parameter"
    # names and aggregates
    NAME = "name"
    UNKNOWN_TABLE = "unknown-table"
    UNKNOWN_COLUMN = "unknown-column"
    AMBIGUOUS_NAME = "ambiguous-name"
    DUPLICATE_NAME = "duplicate-name"
    NO_AGGREGATE = "no-aggregate"
    AGGREGATE_PLACE = "aggregate-place"
    NOT_GROUPED = "not-grouped"
    PERSON = "person"
    CONSTANT = "constant"
    ORDINAL = "ordinal"
    # what is declared answers it
    IMPOSSIBLE = "impossible"
    UNKNOWN_KEY = "unknown-key"
    NO_GROUPS = "no-groups"


CODES = frozenset(code.value for code in Code)


class Placed(Protocol):
    """Anything with a place in the text: the offsets of its first and of its last character."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def refusal(code: Code, message: str, hint: str, text: str = "", at: Placed | None = None) -> QueryError:
    """The error to raise, with a caret under the place where that is known."""
    error = QueryError(message, code=code.value, hint=hint)
    if at is not None and text:
        error.add_note(caret(text, at.start, at.end))
    return error


def caret(text: str, start: int, end: int) -> str:
    """The line of the text that holds the place, and ^^^ below it.

    >>> print(caret("SELECT\\n  MIN(age)\\nFROM visits", 9, 11))
    line 2:   MIN(age)
              ^^^
    """
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", start)
    line = text[begin : stop if stop >= 0 else len(text)].rstrip("\r").replace("\t", " ")
    column, count = start - begin, text.count("\n", 0, start) + 1
    crop = max(0, column - WIDTH // 2)
    shown = line[crop : crop + WIDTH]
    length = max(1, min(end - start + 1, len(shown) - (column - crop)))
    label = f"line {count}: {'…' if crop else ''}"
    return f"{label}{shown}\n{' ' * (len(label) + column - crop)}{'^' * length}"


def quoted(name: str) -> str:
    """A name from the text, for a message: never long."""
    return repr(name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…")


# Functions that people ask for: the code, why not, and what to write instead. In capitals; all others are refused as unknown.
EXTREME = (
    Code.EXTREME,
    "is the value of one person and is not released",
    "ask for QUANTILE(x, 0.01) or QUANTILE(x, 0.99), which one in a hundred is beyond",
)
OF_ONE = (
    Code.EXTREME,
    "is the value of one person and is not released",
    "ask for counts by group, with ORDER BY COUNT(*) DESC, or by CASE bins",
)
QUANTILE = (
    Code.QUANTILE,
    "is not available",
    "ask for QUANTILE(x, 0.5), or for several: QUANTILE(x, 0.75) - QUANTILE(x, 0.25)",
)
STATISTIC = (Code.STATISTIC, "is not available yet", "ask for COUNT, SUM and AVG, or for counts by CASE bins")
COLLECTION = (Code.COLLECTION, "lists the values of single people and is not released", "ask for COUNT, SUM or AVG")
RANDOM = (
    Code.RANDOM,
    "gives another value each time",
    "a question must mean the same each time; use columns and constants",
)
CLOCK = (
    Code.CLOCK,
    "depends on when it is asked, and an answer must not",
    "write the date as a constant, such as DATE '2024-12-31', or bind it",
)
WINDOW = (
    Code.WINDOW,
    "is a window function",
    "over released numbers there are RANK, DENSE_RANK and ROW_NUMBER, with OVER (ORDER BY …), and SUM(COUNT(*)) OVER ()",
)

NAMES: dict[tuple[Code, str, str], str] = {
    EXTREME: "MIN MAX",
    OF_ONE: "MIN_BY MAX_BY ARG_MIN ARG_MAX ARGMIN ARGMAX",
    QUANTILE: "RESERVOIR_QUANTILE MAD",
    STATISTIC: "SKEWNESS KURTOSIS KURTOSIS_POP REGR_SXX REGR_SYY REGR_SXY SEM ENTROPY "
    "PRODUCT GEOMEAN GEOMETRIC_MEAN FSUM KAHAN_SUM",
    COLLECTION: "LIST ARRAY_AGG STRING_AGG GROUP_CONCAT LISTAGG JSON_GROUP_ARRAY ANY_VALUE FIRST LAST FIRST_VALUE "
    "LAST_VALUE ARBITRARY MAP_AGG BITSTRING_AGG APPROX_TOP_K",
    RANDOM: "RANDOM RAND UUID GEN_RANDOM_UUID UUIDV4 UUIDV7 NEXTVAL CURRVAL SETSEED",
    CLOCK: "NOW TODAY CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_DATETIME LOCALTIME LOCALTIMESTAMP GET_CURRENT_TIME "
    "GET_CURRENT_TIMESTAMP TRANSACTION_TIMESTAMP GETDATE",
    WINDOW: "ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD NTH_VALUE",
}
REFUSED: dict[str, tuple[Code, str, str]] = {
    **{name: reason for reason, names in NAMES.items() for name in names.split()},
    "COUNT_STAR": (Code.FUNCTION, "is not known here", "write COUNT(*)"),
    "APPROX_DISTINCT": (Code.DISTINCT, "is not available", "COUNT(DISTINCT x) counts values, with noise"),
}


SHORT: dict[str, tuple[Code, str, str]] = {
    "AGE": (Code.CLOCK, "depends on when it is asked, and an answer must not", "write AGE(DATE '2024-12-31', born)"),
}
"""Functions that with fewer operands than they have here mean something else, which is not available."""


def type_refusal(name: str, text: str, at: Placed | None) -> QueryError:
    """The error for a type that is not on the list."""
    return refusal(
        Code.TYPES, f"the type {quoted(name)} is not available", f"types are {', '.join(WORDS.values())}", text, at
    )


OTHERS = (
    "CONCAT",
    "LOG",
    "EXTRACT",
    "DATE_PART",
    "DATE_TRUNC",
    "DATEDIFF",
    "STRFTIME",
    "COALESCE",
    "NULLIF",
    "IF",
    "CAST",
)
"""Functions of one row that are not in the table under their names."""

NEAR = 6  # functions of one row that are named, of all that there are


def known(name: str = "") -> str:
    """The aggregates that there are, and the functions of one row whose names are most like this one; docs/sql.md has all."""
    rows = [*(row.name.upper() for row in FUNCTIONS.values() if not row.form), *OTHERS]
    near = get_close_matches(name[:LONGEST_NAME].upper(), rows, NEAR, cutoff=0)
    kinds = dict.fromkeys(map(registry.named, registry.names()))
    names = sorted(kind.calls[0] for kind in kinds if kind is not None)
    return f"aggregates are {', '.join(names)}; functions of one row are {', '.join(near)}, and those in docs/sql.md"


def function_refusal(name: str, text: str, at: Placed | None) -> QueryError:
    """The error for a function that is not on the list."""
    code, why, hint = REFUSED.get(name.upper()) or (Code.FUNCTION, "is not known here", known(name))
    return refusal(code, f"the function {quoted(name)} {why}", hint, text, at)
