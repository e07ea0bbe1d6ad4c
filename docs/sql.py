"""`python docs/sql.py` renews the tables of docs/sql.md that are made from the code; tests/test_sql_page.py sees to it.

A section of the page lies between `<!-- made from NAME -->` and `<!-- until there -->`; SECTIONS has the function that makes each. Another
section needs a function here and two lines there. Every example is read, planned or refused as it is written down.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.calendar import number_of
from discreet.plan.casts import CASTS
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.dates import PATTERNS, TRUNCATED
from discreet.plan.evaluate import evaluate
from discreet.plan.functions import FUNCTIONS
from discreet.plan.private import plan_for
from discreet.plan.public import Contents
from discreet.plan.scalar import Column as Node
from discreet.plan.scalar import IsNull, Type
from discreet.plan.sql import question
from discreet.plan.sql.clauses import CLAUSES
from discreet.plan.sql.dates import MOVES
from discreet.plan.sql.expressions import READERS
from discreet.plan.sql.sources import OUTSIDE
from discreet.plan.sql.values import WORDS

PAGE = Path(__file__).with_name("sql.md")
BEGIN, END = "<!-- made from {} -->\n", "<!-- until there -->"

VISITS = Table(
    "visits",
    (
        Column("person", Type.TEXT),
        Column("age", Type.INTEGER, Fraction(0), Fraction(120)),
        Column("cost", Type.NUMBER, Fraction(0), Fraction(10_000)),
        Column("weight", Type.NUMBER),
        Column("ward", Type.TEXT, keys=("A", "B", "C")),
        Column("note", Type.TEXT),
        Column("smoker", Type.BOOLEAN),
        Column("seen", Type.TIMESTAMP),
        Column("admitted", Type.DATE, *(Fraction(number_of(date(year, 1, 1))) for year in (2023, 2025))),
    ),
)
WARDS = Table(
    "wards",
    (Column("ward", Type.TEXT, keys=("A", "B"), nullable=False), Column("beds", Type.INTEGER, nullable=False)),
    public=Contents.of({"ward": ["A", "B"], "beds": [12, 30]}),
)
HOSPITAL = Catalog((VISITS, WARDS), Protected("person", max_groups=2, max_rows=5))
"""What the questions on the page are asked of."""


# The one row of the page.


def cells(page: str, header: str) -> list[list[str]]:
    """The lines of all tables whose first column is headed so."""
    found, inside = [], False
    for line in page.splitlines():
        if not line.startswith("|"):
            inside = False
        elif line.startswith(f"| {header} |"):
            inside = True
        elif inside and not line.startswith("|---"):
            found.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return found


def _value(said: str) -> Any:
    if said in ("NULL", "true", "false"):
        return {"NULL": None, "true": True, "false": False}[said]
    if said.startswith("TIMESTAMP"):
        return datetime.fromisoformat(said[11:-1])
    if said.startswith("DATE"):
        return date.fromisoformat(said[6:-1])
    if said.startswith("'"):
        return said[1:-1]
    return float(said) if re.search(r"[.e]", said) else int(said)


def shown(value: Any) -> str:
    """A value as the page writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case str():
            return f"'{value}'"
        case datetime():
            return f"TIMESTAMP '{value}'"
        case date():
            return f"DATE '{value}'"
    return f"{value:g}"


def evaluated(text: str) -> str:
    """What an expression is, over the row of the page; or that it is refused."""
    columns = [(name, Type(kind), _value(said)) for name, kind, _, said in cells(PAGE.read_text("utf-8"), "column")]
    catalog = Catalog((Table("t", tuple(Column(name, kind) for name, kind, _ in columns)),), Protected())
    try:
        (counted,) = question(f"SELECT COUNT(*) FILTER (WHERE ({text}) IS NULL) FROM t", catalog).aggregates
    except QueryError:
        return "refused"
    if not isinstance(counted.condition, IsNull):
        raise TypeError(text)
    return shown(evaluate(counted.condition.operand, {Node(name, kind).place: value for name, kind, value in columns}))


def table(*lines: tuple[str, ...]) -> str:
    """Rows of cells as Markdown, the first of them the heading."""
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|" + "---|" * len(lines[0]), *rest]) + "\n"


# Operators.

OPERATORS: dict[str, tuple[tuple[type[exp.Expr], ...], str, tuple[str, ...]]] = {
    "`+` `-` `*`": (
        (exp.Add, exp.Sub, exp.Mul, exp.Neg),
        "arithmetic in doubles; `-x`; of dates: days",
        ("seven + half * 2", "day + 1"),
    ),
    "`/`": ((exp.Div,), "division, never of integers alone; by 0 it is NULL", ("seven / 2", "seven / zero")),
    "`//`": ((exp.IntDiv,), "the quotient without its decimals", ("seven // 2",)),
    "`%`": ((exp.Mod,), "the remainder, with the sign of the first", ("seven % 4", "minus % 2")),
    "`^` `**`": ((exp.Pow,), "a power; a sign before it needs brackets", ("half ^ 2", "seven ** 2")),
    "`||`": ((exp.DPipe,), "two texts in one; NULL if one is", ("name || 'x'", "name || CAST(NULL AS VARCHAR)")),
    "`=` `<>` `!=`": ((exp.EQ, exp.NEQ), "equal, and not", ("seven = 7", "name <> 'x'")),
    "`<` `<=` `>` `>=`": (
        (exp.LT, exp.LTE, exp.GT, exp.GTE),
        "comparison, of texts by code points",
        ("half < 3", "day >= '2024-01-01'"),
    ),
    "`BETWEEN`": ((exp.Between,), "both ends are in it; `NOT BETWEEN`", ("seven BETWEEN 7 AND 9",)),
    "`IN`": (
        (exp.In,),
        "one of a list of constants; of rows of them, `(a, b) IN ((1, 2))`; `NOT IN`",
        ("seven IN (1, 7)", "(seven, flag) IN ((7, TRUE))"),
    ),
    "`LIKE` `ILIKE`": (
        (exp.Like, exp.ILike, exp.Escape),
        "a pattern with `%` and `_`, and `ESCAPE`; `ILIKE` takes capitals for small letters, as `LOWER` does",
        ("word LIKE '12%'", "word ILIKE '%ABC'"),
    ),
    "`IS NULL`": ((exp.Is,), "and `IS NOT NULL`, `IS TRUE`, `IS FALSE`", ("nothing IS NULL", "flag IS TRUE")),
    "`IS DISTINCT FROM`": (
        (exp.NullSafeEQ, exp.NullSafeNEQ),
        "`<>` for which NULL is a value; never NULL; `IS NOT DISTINCT FROM`",
        ("nothing IS DISTINCT FROM 1",),
    ),
    "`AND` `OR` `NOT`": (
        (exp.And, exp.Or, exp.Not),
        "of three values, as in SQL",
        ("flag AND nothing = 1", "flag OR nothing = 1"),
    ),
    "`CASE`": (
        (exp.Case, exp.If),
        "with `WHEN` conditions, or `CASE x WHEN value`; `IF(c, a, b)`; without `ELSE` it is NULL",
        ("CASE WHEN flag THEN 1 ELSE 2 END", "IF(flag, 1, 2)"),
    ),
    "`COALESCE` `NULLIF`": (
        (exp.Coalesce, exp.Nullif),
        "the first that is not NULL; NULL if both are equal",
        ("COALESCE(nothing, 5)", "NULLIF(seven, 7)"),
    ),
    "`CAST` `TRY_CAST` `::`": (
        (exp.Cast, exp.TryCast),
        "another type, or NULL; the table below",
        ("CAST('12' AS INTEGER)", "half::INTEGER"),
    ),
}
"""How each operator is written, the classes of the parser that its reader has, what it means, and expressions that are evaluated."""


def operators() -> str:
    lines = [("operator", "means", "for example")]
    for written, (classes, means, examples) in OPERATORS.items():
        if not all(each in READERS for each in classes):
            raise LookupError(f"{written} is not read")
        told = ", ".join(f"`{each.replace('|', chr(92) + '|')}` is {evaluated(each)}" for each in examples)
        lines.append((written.replace("|", "\\|"), means, told))
    return table(*lines)


# Casts.


def casts() -> str:
    """Each pair of types: whether there is a cast."""
    lines = [("from", *(f"to `{WORDS[each]}`" for each in Type))]
    for source in Type:
        lines.append((f"`{WORDS[source]}`", *("yes" if (source, target) in CASTS else "refused" for target in Type)))
    return table(*lines)


# Dates.


def of_either(text: str) -> str:
    """What an expression of a day is; where it is of a timestamp alone, what that is."""
    of_day = evaluated(text.format("day"))
    return evaluated(text.format("moment")) if of_day == "refused" else of_day


def date_parts() -> str:
    parts = [row for row in FUNCTIONS.values() if row.extracted]
    lines = [
        ("part", "`EXTRACT` and `DATE_PART` of it, over `day`, or `moment`", "`DATE_TRUNC`", "`INTERVAL`, `DATEDIFF`")
    ]
    for unit in dict.fromkeys([*(row.name for row in parts), *TRUNCATED, *MOVES]):
        row = FUNCTIONS.get(unit)
        means = (
            f"{row.says}: {of_either('EXTRACT(' + unit.upper() + ' FROM {})')}"
            if row is not None and row in parts
            else ""
        )
        cut = of_either("DATE_TRUNC('" + unit + "', {})") if unit in TRUNCATED or unit == "day" else ""
        moved = of_either("{} + INTERVAL 1 " + unit.upper()) if unit in MOVES else ""
        lines.append((f"`{unit}`", means, cut, moved))
    patterns = ", ".join(f"`{each}`" for each in PATTERNS)
    return table(*lines) + f"\nThe patterns of `STRFTIME` are {patterns}.\n"


# Clauses.

CLAUSE_WORDS = {
    "with_": (
        "`WITH`",
        "names of sub-queries, each of which sees those before it",
        "WITH old AS (SELECT * FROM visits WHERE age > 65) SELECT COUNT(*) FROM old",
    ),
    "expressions": (
        "`SELECT`",
        "keys, aggregates and what is computed of them; inside a sub-query columns, and `*`",
        "SELECT COUNT(*) * 2 AS twice FROM visits",
    ),
    "distinct": ("`SELECT DISTINCT`", "of declared keys, free", "SELECT DISTINCT ward FROM visits"),
    "from_": (
        "`FROM`",
        "a declared table, or a sub-query in brackets",
        "SELECT AVG(a) FROM (SELECT age AS a FROM visits)",
    ),
    "joins": (
        "`JOIN`, `LEFT JOIN`",
        "a public table on a key that is unique there, or a table about the same people on who they are: [joins](#joins)",
        "SELECT COUNT(*) FROM visits JOIN wards USING (ward) WHERE beds > 20",
    ),
    "where": (
        "`WHERE`",
        "which rows; joined by `AND`, a condition on a key narrows its groups, and one on a number its bounds",
        "SELECT COUNT(*) FROM visits WHERE smoker AND age > 65",
    ),
    "group": (
        "`GROUP BY`",
        "columns, outputs, ordinals, expressions of rows, or `ALL`; of these `ROLLUP`, `CUBE`, `GROUPING SETS`: [subtotals](#shapes)",
        "SELECT ward, age // 10 AS decade, COUNT(*) FROM visits GROUP BY ALL",
    ),
    "having": ("`HAVING`", "on released numbers", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 10"),
    "order": (
        "`ORDER BY`",
        "by released numbers and keys; `DESC`, `NULLS FIRST`",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC, ward",
    ),
    "limit": (
        "`LIMIT`, `FETCH FIRST n ROWS ONLY`",
        "of the rows of the answer",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n FETCH FIRST 2 ROWS ONLY",
    ),
    "offset": (
        "`OFFSET`",
        "the same",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n LIMIT 2 OFFSET 1",
    ),
}
"""How each clause that is read is written, what it does, and a question that has it."""


def planned(text: str) -> None:
    """A question of the page is planned, or raises."""
    plan_for(question(text, HOSPITAL), HOSPITAL, 1, Fraction(1, 10**6))


def clauses() -> str:
    lines = [("clause", "does", "in a sub-query", "for example")]
    for name in (
        *CLAUSES.split()[:1],
        "expressions",
        "distinct",
        *(each for each in CLAUSES.split()[1:] if each != "expressions"),
    ):
        written, does, example = CLAUSE_WORDS[name]
        planned(example)
        lines.append((written, does, "refused" if name in OUTSIDE else "yes", f"`{example}`"))
    return table(*lines)


# Refusals.

REFUSALS: tuple[tuple[str, str], ...] = (
    ("SELECT * FROM visits", "SELECT COUNT(*) FROM visits"),
    ("SELECT ward FROM visits", "SELECT ward, COUNT(*) FROM visits GROUP BY ward"),
    ("SELECT ward, COUNT(*) FROM visits", "SELECT ward, COUNT(*) FROM visits GROUP BY ward"),
    ("SELECT person, COUNT(*) FROM visits GROUP BY person", "SELECT COUNT(DISTINCT person) FROM visits"),
    ("SELECT COUNT(DISTINCT ward, smoker) FROM visits", "SELECT COUNT(DISTINCT CONCAT(ward, '/', smoker)) FROM visits"),
    ("SELECT SUM(DISTINCT cost) FROM visits", "SELECT COUNT(DISTINCT cost), SUM(cost) FROM visits"),
    ("SELECT SUM(weight) FROM visits", "SELECT SUM(LEAST(GREATEST(weight, 0), 200)) FROM visits"),
    ("SELECT SUM(cost / age) FROM visits", "SELECT SUM(cost / GREATEST(age, 1)) FROM visits"),
    (
        "SELECT COUNT(*) FROM visits WHERE COUNT(*) > 3",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > 3",
    ),
    ("SELECT SUM(COUNT(*)) FROM visits", "SELECT ward, SUM(COUNT(*)) OVER () FROM visits GROUP BY ward"),
    (
        "SELECT ward, SUM(age) OVER (PARTITION BY ward) FROM visits",
        "SELECT ward, SUM(age), SUM(SUM(age)) OVER () FROM visits GROUP BY ward",
    ),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10)", "SELECT COUNT(*) FROM (SELECT * FROM visits)"),
    (
        "SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits)",
        "SELECT COUNT(*) FROM visits WHERE age > 47",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE smoker UNION ALL SELECT COUNT(*) FROM visits",
        "SELECT COUNT(*) FILTER (WHERE smoker), COUNT(*) FROM visits",
    ),
    (
        "SELECT ward, smoker, COUNT(DISTINCT person) FROM visits GROUP BY GROUPING SETS ((ward), (smoker))",
        "SELECT ward, smoker, COUNT(DISTINCT person) FROM visits GROUP BY CUBE (ward, smoker)",
    ),
    (
        "SELECT HISTOGRAM(DISTINCT age, 12) FROM visits",
        "SELECT WIDTH_BUCKET(age, 0, 120, 12) AS bin, COUNT(DISTINCT person) FROM visits GROUP BY bin",
    ),
    ("SELECT HISTOGRAM(age) FROM visits", "SELECT HISTOGRAM(age, 12) FROM visits"),
    ("SELECT HISTOGRAM(weight, 4) FROM visits", "SELECT HISTOGRAM(weight, [0, 50, 100, 200]) FROM visits"),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE 10 PERCENT", "SELECT COUNT(*) FROM visits"),
    ("SELECT MAX(age) FROM visits", "SELECT QUANTILE(age, 0.99) FROM visits"),
    ("SELECT MIN(cost) FROM visits", "SELECT QUANTILE(cost, 0.01) FROM visits"),
    (
        "SELECT ward, MODE(age) + 1 AS m FROM visits GROUP BY ward",
        "SELECT ward, MODE(age + 1) AS m FROM visits GROUP BY ward",
    ),
    ("SELECT LIST(age) FROM visits", "SELECT age // 10 AS decade, COUNT(*) FROM visits GROUP BY decade"),
    ("SELECT COUNT(*) FROM visits WHERE random() < 0.5", "SELECT COUNT(*) FROM visits"),
    ("SELECT AVG(AGE(admitted)) FROM visits", "SELECT AVG(AGE(DATE '2024-12-31', admitted)) FROM visits"),
    (
        "SELECT COUNT(*) FROM visits WHERE admitted > CURRENT_DATE",
        "SELECT COUNT(*) FROM visits WHERE admitted > DATE '2024-12-31'",
    ),
    (
        "SELECT REVERSE(ward) AS w, COUNT(*) FROM visits GROUP BY w",
        "SELECT RIGHT(ward, 1) AS w, COUNT(*) FROM visits GROUP BY w",
    ),
    ("SELECT COUNT(*) FROM visits WHERE age > 'old'", "SELECT COUNT(*) FROM visits WHERE age > '65'"),
    (
        "SELECT COUNT(*) FROM visits WHERE ward + 1 = 2",
        "SELECT COUNT(*) FROM visits WHERE CAST(ward AS INTEGER) + 1 = 2",
    ),
    ("SELECT COUNT(*) FROM visits WHERE age = NULL", "SELECT COUNT(*) FROM visits WHERE age IS NULL"),
    ("SELECT COUNT(*) FROM visits WHERE ward = 'Z'", "SELECT COUNT(*) FROM visits WHERE ward = 'A'"),
    ("SELECT COUNT(*) FROM visits WHERE ward = 'A' COLLATE nocase", "SELECT COUNT(*) FROM visits WHERE ward ILIKE 'a'"),
    (
        "SELECT STRFTIME(admitted, '%c') AS d, COUNT(*) FROM visits GROUP BY d",
        "SELECT STRFTIME(admitted, '%Y-%m') AS d, COUNT(*) FROM visits GROUP BY d",
    ),
    ("SELECT -2 ^ 2 * COUNT(*) FROM visits", "SELECT (-2) ^ 2 * COUNT(*) FROM visits"),
    ("SELECT ward AS age, COUNT(*) FROM visits GROUP BY age", "SELECT ward AS w, COUNT(*) FROM visits GROUP BY w"),
    ("SELECT COUNT(*) AS n, SUM(age) AS n FROM visits", "SELECT COUNT(*) AS n, SUM(age) AS s FROM visits"),
    (
        "SELECT csot, COUNT(*) FROM visits GROUP BY csot",
        "SELECT FLOOR(cost / 1000) AS k, COUNT(*) FROM visits GROUP BY k",
    ),
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(*) FROM visits"),
    (
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 10 PERCENT",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 1",
    ),
    ("SELECT 'a' AS k, COUNT(*) FROM visits GROUP BY k", "SELECT COUNT(*) FROM visits"),
    (
        "SELECT COUNT(*) FROM visits WHERE ward = 'A' AND ward = 'B' GROUP BY ward",
        "SELECT COUNT(*) FROM visits WHERE ward IN ('A', 'B') GROUP BY ward",
    ),
    ("EXPLAIN SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits"),
    ("SELECT COUNT(*) FROM visits; DROP TABLE visits", "SELECT COUNT(*) FROM visits"),
    ("SELECT COUNT(*) FROM 'visits.csv'", "SELECT COUNT(*) FROM visits"),
    ("SELECT COUNT(*) FROM `visits`", 'SELECT COUNT(*) FROM "visits"'),
)
"""Questions that are refused, and others that are answered."""


def refused(text: str) -> QueryError | None:
    """The refusal of a question of the page; None where it is answered."""
    try:
        planned(text)
    except QueryError as error:
        return error
    return None


def refusals() -> str:
    """What is still refused of that list, with what it says; each rewrite is planned."""
    lines = [("refused", "code, and what it says", "answered")]
    for text, instead in REFUSALS:
        planned(instead)
        error = refused(text)
        if error is not None:
            said = f"`{error.code}`: {error.message}".replace("|", "\\|")
            lines.append((f"`` {text} ``" if "`" in text else f"`{text}`", said, f"`{instead}`"))
    return table(*lines)


SECTIONS: dict[str, Callable[[], str]] = {
    "the clauses that are read": clauses,
    "the readers of operators": operators,
    "the table of casts": casts,
    "the parts of dates": date_parts,
    "what is refused": refusals,
}
"""What makes each section of the page, by its name there."""


def page(text: str) -> str:
    """The page with each of its sections made anew."""
    for name, made in SECTIONS.items():
        begin = BEGIN.format(name)
        if text.count(begin) != 1:
            raise LookupError(f"the page has no place for {name}")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{made()}{END}{rest.partition(END)[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
