"""Random SQL out of every node that there is: sub-queries, WITH, computed keys, windows, dates, texts, moments; and ways to spoil it.

What is made is often wrong: a text where a number is needed, an aggregate in a condition, a name that is not there. That is meant: whatever
is read must end in a question, or in a refusal.
"""

import random
from collections.abc import Callable

NUMBERS = (
    ("age", "cost", "age", "1", "2.5", "10", "age", "cost"),
    ("weight", "0", "-3", "1e308", "NULL", "9" * 30, ".5", "nosuch"),
)
TEXTS = (
    ("ward", "ward", "note", "'A'", "'B'"),
    ("''", "'it''s'", "'2024-02-30'", "'%_'", "'" + "x" * 300 + "'", "'Ä🙂'"),
)
DATES = (
    ("admitted", "DATE '2024-02-29'", "'2024-01-01'"),
    ("DATE '0001-01-01'", "DATE '9999-12-31'", "CURRENT_DATE", "'x'"),
)
FLAGS = ("smoker", "smoker", "TRUE"), ("FALSE", "NULL", "ward")
UNITS = ("year", "quarter", "month", "week", "day"), ("hour", "dow", "isodow", "doy", "century", "epoch", "''", "x y")
PATTERNS = ("%Y-%m", "%Y", "%G-W%V"), ("%c", "%", "%%", "YYYY-MM", "")
TYPES = ("INTEGER", "DOUBLE"), ("VARCHAR", "DATE", "BOOLEAN", "DECIMAL(9, 2)", "TIMESTAMP", "INTEGER[]", "nosuch")
ONE_NUMBER = (
    ("ABS", "FLOOR", "CEIL", "ROUND", "SIGN", "SQRT", "LN", "LOG", "LOG2", "LOG10", "TRUNC", "-"),
    ("EXP", "CBRT", "+"),
)
AGGREGATES = (
    ("SUM", "AVG", "MEAN", "COUNT", "VARIANCE", "VAR_POP", "STDDEV", "STDDEV_POP"),
    ("MIN", "MEDIAN", "COUNT_IF", "SUM(DISTINCT"),
)
PAIRS = (
    ("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_COUNT"),
    ("REGR_AVGX", "REGR_AVGY", "REGR_SXX"),
)
LISTED = (
    ("ward IN ('A', 'B')", "age IN (1, 20, 300)", "note IN ('x')", "ward NOT IN ('C')"),
    ("ward IN ('Z')", "age IN (NULL)", "age IN ()"),
)
WILD = 0.04
"""How often a word is one that is mostly refused."""

JUNK = (
    *(
        "(",
        ")",
        ",",
        "'",
        '"',
        ";",
        "--",
        "/*",
        "*/",
        "\\",
        "\x00",
        "\ufeff",
        "::",
        "OVER",
        "OVER (",
        "WITH",
        "AS",
        "SELECT",
        "FROM t",
    ),
    *(
        "GROUP BY",
        "PARTITION BY",
        "INTERVAL",
        "CASE",
        "WHEN",
        "END",
        "FILTER (WHERE",
        "NULL",
        "?",
        ":p",
        "[1]",
        "{",
        "$$",
        "''''",
    ),
)


Words = tuple[str, ...] | tuple[tuple[str, ...], tuple[str, ...]]


class Grammar:
    """Makes texts, deeper ones the deeper it may go."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def pick(self, *ways: Callable[[], str]) -> str:
        return self.draw.choice(ways)()

    def one(self, words: Words) -> str:
        """One of some words; of two lists of them mostly one of the first."""
        usual = words if isinstance(words[0], str) else words[self.draw.random() < WILD]
        return str(self.draw.choice(usual))

    def any(self, depth: int) -> str:
        """An expression of any type, often of another one than is needed."""
        kind = self.draw.choice((self.number, self.text, self.date, self.flag))
        return kind(depth)

    def comparable(self, depth: int) -> str:
        """Two expressions, mostly of one type, and what compares them."""
        kind = self.draw.choice((self.number, self.text, self.date))
        other = self.any if self.draw.random() < WILD else kind
        order = ("=", "<>", "<", ">=", "IS DISTINCT FROM", *(("LIKE", "ILIKE") if kind == self.text else ()))
        return f"{kind(depth)} {self.one(order)} {other(0)}"

    def number(self, depth: int) -> str:
        if depth <= 0:
            return self.one(NUMBERS)
        n, t, d, f = (lambda kind=kind: kind(depth - 1) for kind in (self.number, self.text, self.date, self.flag))  # type: ignore[misc]
        return self.pick(
            lambda: self.one(NUMBERS),
            lambda: f"{self.one(ONE_NUMBER)}({n()})",
            lambda: f"({n()} {self.one((('+', '-', '*', '/', '//', '%'), ('^', '**', '||')))} {n()})",
            lambda: f"POWER({n()}, {n()})",
            lambda: f"ROUND({n()}, {self.one((('2', '-2'), ('99', 'age')))})",
            lambda: f"{self.one(('LEAST', 'GREATEST', 'COALESCE', 'NULLIF'))}({n()}, {n()})",
            lambda: f"CASE WHEN {f()} THEN {n()} {self.one(('', 'ELSE ' + n()))} END",
            lambda: f"CASE ward WHEN {t()} THEN {n()} END",
            lambda: f"WIDTH_BUCKET({n()}, 0, {n()}, {self.one((('4', '10'), ('0', '100000', 'age')))})",
            lambda: f"LEAST(LENGTH({t()}), 20)",
            lambda: f"STRPOS({t()}, {t()})",
            lambda: f"POSITION({t()} IN {t()})",
            lambda: f"DATEDIFF('{self.one(UNITS)}', {d()}, {d()})",
            lambda: f"EXTRACT({self.one(UNITS)} FROM {d()})",
            lambda: f"DATE_PART('{self.one(UNITS)}', {d()})",
            lambda: f"{self.one(('YEAR', 'MONTH', 'WEEK', 'DOW'))}({d()})",
            lambda: f"AGE({d()}{self.one(((', admitted',), ('',)))})",
            lambda: f"({d()} - {d()})",
            lambda: f"{self.one(('CAST', 'TRY_CAST'))}({self.any(depth - 1)} AS {self.one(TYPES)})",
            lambda: f"({self.any(depth - 1)})::{self.one(TYPES)}",
        )

    def text(self, depth: int) -> str:
        if depth <= 0:
            return self.one(TEXTS)
        n, t, d = (lambda kind=kind: kind(depth - 1) for kind in (self.number, self.text, self.date))  # type: ignore[misc]
        return self.pick(
            lambda: self.one(TEXTS),
            lambda: f"{self.one((('LOWER', 'UPPER', 'TRIM', 'LTRIM', 'RTRIM'), ('MONTHNAME', 'MD5')))}({t()})",
            lambda: f"{self.one(('LEFT', 'RIGHT', 'SUBSTRING'))}({t()}, {n()})",
            lambda: f"SUBSTRING({t()} FROM {n()} FOR {n()})",
            lambda: f"TRIM({self.one(('BOTH', 'LEADING', 'TRAILING'))} {t()} FROM {t()})",
            lambda: f"REPLACE({t()}, {t()}, {t()})",
            lambda: f"CONCAT({t()}, {n()}, {self.any(depth - 1)})",
            lambda: f"({t()} || {self.any(depth - 1)})",
            lambda: f"STRFTIME({d()}, '{self.one(PATTERNS)}')",
            lambda: f"TO_CHAR({d()}, '{self.one(PATTERNS)}')",
            lambda: f"CASE WHEN {self.flag(depth - 1)} THEN {t()} ELSE {t()} END",
        )

    def date(self, depth: int) -> str:
        if depth <= 0:
            return self.one(DATES)
        n, d = (lambda kind=kind: kind(depth - 1) for kind in (self.number, self.date))  # type: ignore[misc]
        amount = self.one(
            (("'1 month'", "'1 year 6 months'", "1 DAY"), ("'99999999 years'", "''", "'-1 week'", "(age) DAY"))
        )
        return self.pick(
            lambda: self.one(DATES),
            lambda: f"DATE_TRUNC('{self.one(UNITS)}', {d()})",
            lambda: f"({d()} {self.one(('+', '-'))} INTERVAL {amount})",
            lambda: f"({d()} + {n()})",
            lambda: f"CAST({self.text(depth - 1)} AS DATE)",
        )

    def flag(self, depth: int) -> str:
        if depth <= 0:
            return self.one(FLAGS)
        a, f = (lambda kind=kind: kind(depth - 1) for kind in (self.any, self.flag))  # type: ignore[misc]
        same = self.draw.choice((self.number, self.text, self.date))
        return self.pick(
            lambda: self.one(FLAGS),
            lambda: self.comparable(depth - 1),
            lambda: self.comparable(depth - 1),
            lambda: f"({f()} {self.one(('AND', 'OR'))} {f()})",
            lambda: f"NOT ({f()})",
            lambda: f"({a()}) IS {self.one(('', 'NOT '))}NULL",
            lambda: self.one(LISTED),
            lambda: self.one((("age NOT IN (1, 2)",), (f"{same(0)} IN ({same(0)}, {same(0)})",))),
            lambda: (
                f"({self.one(('ward', 'note'))}, {self.one(('age', 'cost'))}) IN (('A', {self.one((('1', '2.5'), ('age', 'NULL')))}))"
            ),
            lambda: f"{same(depth - 1)} BETWEEN {same(0)} AND {same(0)}",
            lambda: f"{self.one(('STARTS_WITH', 'ENDS_WITH', 'CONTAINS'))}({self.text(depth - 1)}, {self.text(0)})",
        )

    def aggregate(self, depth: int) -> str:
        call = self.pick(
            lambda: "COUNT(*)",
            lambda: f"{self.one(AGGREGATES)}({self.number(depth)})",
            lambda: f"COUNT_IF({self.flag(depth)})",
            lambda: f"{self.one(PAIRS)}({self.number(depth)}, {self.number(depth)})",
            lambda: "COUNT(DISTINCT patient_id)",
        )
        return call if self.draw.random() < 0.7 else f"{call} FILTER (WHERE {self.flag(depth)})"

    def released(self, depth: int) -> str:
        agg = lambda: self.aggregate(depth)  # noqa: E731
        part = self.one((("",), ("PARTITION BY k0", "PARTITION BY ward, smoker", f"PARTITION BY {self.any(1)}")))
        return self.pick(
            agg,
            agg,
            lambda: f"{agg()} / {agg()}",
            lambda: f"100.0 * {agg()} / SUM({agg()}) OVER ({part})",
            lambda: (
                f"{self.one((('RANK', 'DENSE_RANK', 'ROW_NUMBER'), ('NTILE', 'LAG')))}() OVER ({part} ORDER BY {agg()} DESC)"
            ),
            lambda: f"CASE WHEN {agg()} > 3 THEN {agg()} ELSE {self.one((('0', '2.5'), ('ward', 'age')))} END",
            lambda: f"{self.one(ONE_NUMBER)}({agg()})",
        )

    def source(self, depth: int) -> str:
        if depth <= 0 or self.draw.random() < 0.4:
            return self.one((("visits", "visits", "visits AS v"), ("w0", "nosuch")))
        every = "patient_id, ward, smoker, note, admitted"
        swapped = f"{every}, cost AS age, {self.number(depth)} AS cost"
        items = self.one(
            (
                ("*", "*, age AS extra", f"{every}, {self.number(depth)} AS age, cost", swapped),
                (f"{self.any(depth)} AS age",),
            )
        )
        more = self.one((("", f" WHERE {self.flag(depth)}"), (" LIMIT 3", " GROUP BY ward")))
        return f"(SELECT {items} FROM {self.source(depth - 1)}{more}) AS s{depth}"

    def key(self, depth: int) -> str:
        """What can be grouped by, mostly: something of columns that have values."""
        a, b = self.number(0), self.text(depth)
        return self.one(
            (
                ("ward", "smoker", "age", f"FLOOR({a} / 10)", f"CASE WHEN {self.flag(depth)} THEN 'a' ELSE 'b' END", f"LOWER({b})",
                 "age // 20", "DATE_TRUNC('month', admitted)", "YEAR(admitted)", f"CONCAT(ward, {b})", "age > 40", "note"),
                (self.any(depth), "patient_id", "1", "COUNT(*)"),
            )
        )  # fmt: skip

    def question(self) -> str:
        depth = self.draw.randrange(1, 4)
        keys = [self.key(self.draw.randrange(0, depth)) for _ in range(self.draw.randrange(0, 3))]
        wanted = [self.released(depth - 1) for _ in range(self.draw.randrange(1, 3))]
        names = "".join(
            f"{'WITH ' if i == 0 else ', '}w{i} AS (SELECT * FROM {self.source(1)} WHERE {self.flag(1)})"
            for i in range(self.draw.choice((0, 0, 0, 1, 2)))
        )
        select = ", ".join(
            [*(f"{key} AS k{i}" for i, key in enumerate(keys)), *(f"{each} AS a{i}" for i, each in enumerate(wanted))]
        )
        text = f"{names} SELECT {select} FROM {self.source(self.draw.randrange(0, 3))}"
        if self.draw.random() < 0.5:
            text += f" WHERE {self.flag(depth)}"
        if keys:
            text += " GROUP BY " + self.one(
                ((", ".join(f"k{i}" for i in range(len(keys))), "ALL"), (", ".join(keys), "1"))
            )
        if self.draw.random() < 0.2:
            text += f" HAVING {self.released(0)} > {self.number(0)}"
        if self.draw.random() < 0.3:
            text += f" ORDER BY {self.one((('a0 DESC', '1'), ('k0', self.released(0), self.any(1))))}"
        if self.draw.random() < 0.2:
            text += self.one(
                (
                    (" LIMIT 3", " LIMIT 0", " FETCH FIRST 2 ROWS ONLY"),
                    (" OFFSET 2", " LIMIT 99999999999999999999", " LIMIT NULL"),
                )
            )
        return text

    def spoiled(self, text: str) -> str:
        """A text with words dropped, doubled, exchanged, or of another kind."""
        words = text.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
        for _ in range(self.draw.randrange(1, 4)):
            at = self.draw.randrange(len(words) + 1)
            match self.draw.randrange(6):
                case 0:
                    del words[at : at + self.draw.randrange(1, 3)]
                case 1:
                    words[at:at] = [self.one(JUNK)]
                case 2:
                    words[at : at + 1] = [self.any(1)]
                case 3:
                    words[at : at + 2] = reversed(words[at : at + 2])
                case 4:
                    words[at:at] = words[at : at + self.draw.randrange(1, 8)]
                case _:
                    words[at : at + 1] = [self.aggregate(0)]
        return " ".join(words)


BOMBS = [
    "SELECT SUM(" + "(" * 5000 + "age" + ")" * 5000 + ") FROM visits",
    "SELECT SUM(" + "LEAST(" * 300 + "age" + ", 1)" * 300 + ") FROM visits",
    "SELECT SUM(age" + " + age" * 4000 + ") FROM visits",
    "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 300 + "visits" + ")" * 300,
    "WITH "
    + ", ".join(f"v{i} AS (SELECT * FROM {'visits' if i == 0 else f'v{i - 1}'})" for i in range(400))
    + " SELECT COUNT(*) FROM v399",
    "WITH "
    + ", ".join(f"v{i} AS (SELECT age + age AS age FROM {'visits' if i == 0 else f'v{i - 1}'})" for i in range(60))
    + " SELECT SUM(age) FROM v59",
    "SELECT COUNT(*) FROM visits WHERE age IN (" + ", ".join(map(str, range(20_000))) + ")",
    "SELECT COUNT(*) FROM visits WHERE note = '" + "x" * 60_000 + "'",
    "SELECT SUM(" + "9" * 60_000 + ") FROM visits",
    "SELECT SUM(age * 1e" + "9" * 400 + ") FROM visits",
    "SELECT " + ", ".join(f"STDDEV(age + {i}) AS d{i}" for i in range(400)) + " FROM visits",
    "SELECT " + " || ".join(["note"] * 500) + " AS k, COUNT(*) FROM visits GROUP BY k",
    "SELECT " + "REPLACE(" * 90 + "ward" + ", 'A', 'AAAAAAAAAA')" * 90 + " AS k, COUNT(*) FROM visits GROUP BY k",
    "SELECT CASE "
    + "".join(f"WHEN age = {i} THEN 'k{i}' " for i in range(900))
    + "END AS k, COUNT(*) FROM visits GROUP BY k",
    "SELECT age % 100 AS a, age % 99 AS b, age % 98 AS c, COUNT(*) FROM visits GROUP BY ALL",
    "SELECT ward, "
    + ", ".join(f"SUM(COUNT(*)) OVER (PARTITION BY ward) AS s{i}" for i in range(300))
    + " FROM visits GROUP BY ward",
    "SELECT COUNT(*) FROM visits WHERE admitted + INTERVAL '" + "9" * 4000 + " years' > admitted",
    "SELECT DATE_TRUNC('" + "y" * 50_000 + "', admitted) AS k, COUNT(*) FROM visits GROUP BY k",
    "SELECT VARIANCE(POWER(age, age)), CORR(POWER(age, 99), POWER(cost, 70)) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 5000 + "smoker",
    "SELECT COUNT(*) FROM visits WHERE note LIKE '" + "%_" * 5000 + "'",
    "SELECT WIDTH_BUCKET(cost, 0, 1, 2147483647) AS k, COUNT(*) FROM visits GROUP BY k",
    "SELECT " + "POWER(age, " * 80 + "2" + ")" * 80 + " AS k, COUNT(*) FROM visits GROUP BY k",
]
"""Short or long texts that ask for very much."""
