"""All that differs from DuckDB on purpose: one line each, with the smallest question that shows it.

The table of each is visits(person, ward, x): `x` of a type of DuckDB and as it is declared, `ward` of the keys A and B, and `rows` are
its rows as SQL. `rule` names the rule by which the reference of generated questions takes the difference into account.
"""

from dataclasses import dataclass
from typing import Any

FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs: the same question has one answer here and another one there."""

    said: str
    stored: str
    declared: str
    rows: str
    question: str
    ours: list[tuple[Any, ...]]
    theirs: list[tuple[Any, ...]] | str  # or FAILS
    rule: str = ""
    bounds: tuple[float, float] | None = None


def _of(
    said: str, stored: str, declared: str, x: str, question: str, ours: Any, theirs: Any, **more: Any
) -> Difference:
    """Of one person in ward A, and one number in each answer."""
    found = theirs if theirs == FAILS else [(theirs,)]
    return Difference(said, stored, declared, f"('p', 'A', {x})", f"SELECT {question}", [(ours,)], found, **more)


NUMBER, INTEGER, TEXT = ("DOUBLE", "number"), ("BIGINT", "integer"), ("VARCHAR", "text")
COUNTED = "COUNT(*) AS n FROM visits WHERE"
WHOLE = "COUNT(CAST(x AS BIGINT)) AS n FROM visits"

DIFFERENCES: dict[str, Difference] = {
    "division": _of("what is divided by 0 is NULL, not infinite", *NUMBER, "0", "COUNT(1 / x) AS n FROM visits", 0, 1, rule="divided"),
    "remainder": _of("so is its remainder, and nothing fails", *INTEGER, "0", "COUNT(7 % x) AS n FROM visits", 0, FAILS, rule="remainder"),
    "root": _of("what has no root is NULL", *NUMBER, "-1", "COUNT(SQRT(x)) AS n FROM visits", 0, 1, rule="root"),
    "nan": _of("what is not a number is NULL", *NUMBER, "'nan'", "COUNT(x) AS n FROM visits", 0, 1),
    "computed nan": _of("also where it is computed", *NUMBER, "'inf'", "COUNT(x - x) AS n FROM visits", 0, 1, rule="number"),
    "doubles": _of("arithmetic is in doubles", *INTEGER, "9007199254740993", f"{COUNTED} x + 0 = 9007199254740992", 1, 0, rule="double"),
    "constants": _of("a constant with a point is a double, not a decimal", *INTEGER, "3", f"{COUNTED} x * 0.1 = 0.3", 0, 1, rule="double"),
    "decimals": _of("a column of decimals is one of doubles", "DECIMAL(3, 1)", "number", "0.1", f"{COUNTED} x + 0.2 = 0.3", 0, 1),
    "short floats": _of(
        "a float of 32 bits is the double of its shortest decimal", "FLOAT", "number", "0.1", f"{COUNTED} x = CAST(0.1 AS DOUBLE)", 1, 0
    ),
    "halves": _of("a cast rounds halves as ROUND does", *NUMBER, "2.5", f"{COUNTED} CAST(x AS BIGINT) = 3", 1, 0, rule="whole"),
    "large casts": _of("a number from 2^53 on is no integer", *NUMBER, "1e16", WHOLE, 0, 1, rule="whole"),
    "integers": _of("INTEGER has 64 bits", *NUMBER, "1e10", "COUNT(CAST(x AS INTEGER)) AS n FROM visits", 1, FAILS),
    "digits": _of("ROUND(x, 2) goes through 100 x", *NUMBER, "1e308", f"{COUNTED} ROUND(x, 2) > 1.5e308", 1, 0),
    "no value": _of("a text that says no value is NULL", *TEXT, "'x'", WHOLE, 0, FAILS, rule="cast"),
    "words": _of("the words inf and nan are no numbers", *TEXT, "'inf'", "COUNT(CAST(x AS DOUBLE)) AS n FROM visits", 0, 1),
    "underscores": _of("digits have no _ between them", *TEXT, "'1_000'", WHOLE, 0, 1),
    "hexadecimals": _of("integers are decimal", *TEXT, "'0x10'", WHOLE, 0, 1),
    "days": _of("a day has two digits", *TEXT, "'2024-1-5'", "COUNT(CAST(x AS DATE)) AS n FROM visits", 0, 1),
    "letters": _of("ILIKE of A to Z folds these alone, not the sign of Kelvin", *TEXT, "'\u212a'", f"{COUNTED} x ILIKE 'k'", 0, 1),
    "moments": _of("a timestamp is its day", "TIMESTAMP", "date", "'2024-02-29 23:30:00'", f"{COUNTED} x > DATE '2024-02-29'", 0, 1),
    "sums of nobody": _of("a sum of no rows is 0", *NUMBER, "NULL", "SUM(x) AS s FROM visits", 0, None, bounds=(0, 1)),
    "grid": _of("sums are of values on a grid of 2^24 steps", *NUMBER, "0.1", "SUM(x) AS s FROM visits", 0, 0.1, bounds=(0, 1e15)),
    "bounds": _of("values are moved to their bounds before they are summed", *NUMBER, "7", "SUM(x) AS s FROM visits", 1, 7, bounds=(0, 1)),
    "nobody": Difference(
        "rows without a person are left out", *NUMBER, "('p', 'A', 1), (NULL, 'A', 1)", "SELECT COUNT(*) AS n FROM visits", [(1,)], [(2,)],
    ),
    "groups": Difference(
        "the groups are the declared ones: others and NULL are left out, and empty ones are there",
        *NUMBER, "('p', 'A', 1), ('q', 'C', 1), ('r', NULL, 1)", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward",
        [("A", 1), ("B", 0)], [("A", 1), ("C", 1), (None, 1)],
    ),
}  # fmt: skip
