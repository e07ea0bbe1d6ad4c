"""Random schemas, data, neighbours and questions, as hypothesis strategies: what the twins are made of.

Data are texts of a CSV file, honest and hostile. Questions are SQL text from a small grammar of what is answered, so that most of
them are; what is refused must be refused on both neighbours alike.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

TABLE = "visits"
WARDS = ("A", "B", "C", "o'n", "Ä")
DOSES = (0.5, -0.0, 2, 0.1)  # numbers with few values
HOSTILE = (
    "",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "NULL",
    "-0.0",
    "9" * 18,
    "-" + "9" * 18,
    "0x10",
    "7.6",
    " 12 ",
    "1e3",
    "٣",
)
PEOPLE = ("1", "01", "2", "x", "X", "", "é", "e\u0301", "9" * 30)


@dataclass(frozen=True)
class Schema:
    """What is declared, and how the unit is protected."""

    row: bool
    adjacency: str
    max_groups: int | None
    max_rows: int | None
    clip: str
    columns: dict[str, dict[str, Any]]
    max_total: int | None = None

    def arguments(self) -> dict[str, Any]:
        """For a Curator."""
        unit = {"row": True} if self.row else {"unit": "person"}
        return {
            **unit,
            "adjacency": self.adjacency,
            "max_groups": self.max_groups,
            "max_rows": self.max_rows,
            "max_total": self.max_total,
            "clip": self.clip,
            "columns": self.columns,
            "people": 1000,
        }


Row = dict[str, str]
NAMES = ("person", "age", "cost", "ward", "day", "smoker", "dose", "note")


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    low = draw(st.sampled_from([0, -5, 18, 3]))
    columns: dict[str, dict[str, Any]] = {
        "age": {"type": "integer", "bounds": (low, low + draw(st.sampled_from([1, 10, 60])))},
        "cost": {
            "type": "number",
            "bounds": draw(
                st.sampled_from(
                    [(0, 100), (-1.5, 1), (10, 20), (0, 1e9), (-2e-3, 1e-3), (1.7e9, 1.7e9 + 3600), (-1000.5, -1000)]
                )
            ),
        },
        "ward": {"keys": list(WARDS[: draw(st.integers(1, 4))])},
        "day": {"type": "date"},
        "smoker": {"type": "boolean"},
        "dose": {"keys": list(DOSES[: draw(st.integers(2, 4))])},
    }
    for name in ("age", "cost"):  # data still lack them
        if draw(st.booleans()):
            columns[name]["nullable"] = False
    columns["day"] |= draw(
        st.sampled_from(
            [
                {},
                {"keys": ["2024-01-01", "2024-02-29"]},
                {"bounds": ("2023-12-30", "2024-03-02")},
                {"bounds": ("0001-01-01", "9999-12-31")},
            ]
        )
    )
    row = draw(st.booleans())
    for name in () if row else ("age", "ward", "smoker", "dose"):
        if draw(st.booleans()):
            columns[name]["max_groups"] = draw(st.integers(1, 3))
    # Any limit may be declared, or none: what is missing is found.
    total, limits = draw(st.none() | st.integers(1, 5)), st.none() | st.integers(1, 3)
    return Schema(
        row=row,
        adjacency=draw(st.sampled_from(["add-remove", "replace"])),
        max_groups=draw(limits),
        max_rows=draw(limits),
        max_total=total,
        clip=draw(st.sampled_from(["groups", "groups", "l2"])) if not row else "groups",
        columns=columns,
    )


def field(name: str) -> st.SearchStrategy[str]:
    match name:
        case "person":
            return st.sampled_from(PEOPLE)
        case "age":
            return st.one_of(st.integers(-3, 80).map(str), st.sampled_from(HOSTILE))
        case "cost":
            return st.one_of(
                st.sampled_from(["0", "0.5", "99.99", "-3", "1000000", "0.0001", "1700000053.25", "-1000.25"]),
                st.sampled_from(HOSTILE),
            )
        case "ward":
            return st.sampled_from([*WARDS, "Z", "", "a"])
        case "day":
            return st.sampled_from(
                ["2024-01-01", "2024-02-29", "2023-02-29", "0001-01-01", "9999-12-31", "", "yesterday"]
            )
        case "dose":
            return st.sampled_from(["0.5", ".5", "-0", "0", "0.10", "1e-1", "2", "2.0", "0.7", *HOSTILE])
        case "smoker":
            return st.sampled_from(["true", "false", "", "maybe", "1"])
    return st.sampled_from(["", "x", "%", "a_b", "50%", "\\", "ÄÖ", "'"])


rows_of_anyone = st.fixed_dictionaries({name: field(name) for name in NAMES})


@dataclass(frozen=True)
class Twins:
    """Two neighbouring tables."""

    first: list[Row]
    second: list[Row]


@st.composite
def twins(draw: st.DrawFn, schema: Schema) -> Twins:
    others: list[Row] = draw(st.lists(rows_of_anyone, max_size=8))
    if schema.row:
        own, new = draw(rows_of_anyone), draw(rows_of_anyone)
        first = [*others, own]
        return Twins(first, [*others, new] if schema.adjacency == "replace" else others)
    victim = "victim"
    own = draw(st.lists(rows_of_anyone, min_size=1, max_size=8))
    mine = [{**row, "person": victim} for row in own]
    order = draw(st.permutations(range(len(others) + len(mine))))
    first = [[*others, *mine][i] for i in order]
    if schema.adjacency == "add-remove":
        return Twins(first, [row for row in first if row["person"] != victim])
    replaced = draw(st.lists(rows_of_anyone, max_size=8))
    return Twins(
        first,
        [*(row for row in first if row["person"] != victim), *({**row, "person": "newcomer"} for row in replaced)],
    )


def write(rows: list[Row], path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, NAMES)
        writer.writeheader()
        writer.writerows(rows)
    return path


numbers = st.sampled_from(["age", "cost", "age + 1", "cost * 2", "age * cost", "cost / 4", "age % 7", "-age", "ABS(cost)",
                           "LEAST(GREATEST(cost, 0), 10)", "COALESCE(age, 3)", "NULLIF(age, 20)", "FLOOR(cost / 10)",
                           "CASE WHEN ward = 'A' THEN age ELSE 1000 END", "CASE WHEN smoker THEN cost END",
                           "CAST(cost AS INTEGER)", "ROUND(cost)", "1", "2.5", "CAST(smoker AS INTEGER)", "age / cost",
                           "SQRT(age)", "LENGTH(note)",
                           "CASE WHEN dose = 0.5 THEN 1 ELSE age END", "EXTRACT(YEAR FROM day)", "CAST(note AS DOUBLE)",
                           "DATEDIFF('day', day, '2024-02-29')", "AGE(day, DATE '2000-02-29')", "day - DATE '2024-01-01'",
                           "DATEDIFF('month', DATE '2023-12-31', day + INTERVAL '1 month')", "YEAR(day + age)",
                           "LN(age)", "LOG(2, cost)", "EXP(cost)", "POWER(cost, age)", "age ^ 2", "age // 7", "TRUNC(cost, -1)",
                           "ROUND(cost, -2)", "WIDTH_BUCKET(cost, 0, 50, 5)", "STRPOS(note, 'x')",
                           "CAST(SUBSTRING(note, 1, age) AS DOUBLE)", "LENGTH(REPLACE(note, 'x', UPPER(note)))"])  # fmt: skip
flags = st.sampled_from(["smoker", "age > 20"])
conditions = st.sampled_from(["age > 20", "age BETWEEN 10 AND 30", "cost < 0.5", "1 / cost > 2", "100 / (age - 19) > 1",
                              "ward = 'A'", "ward IN ('A', 'Z')", "ward NOT IN ('B')", "note LIKE '%\\%'", "note LIKE 'a_b'",
                              "note ILIKE 'äö'", "smoker", "NOT smoker", "smoker IS NULL", "age IS NOT NULL",
                              "day >= DATE '2024-01-15'", "day = '2024-02-29'", "CAST(note AS INTEGER) = 1",
                              "COALESCE(age, 0) <> 0", "person = 'victim'", "person <> '1' OR age < 5",
                              "CASE WHEN age > 10 THEN cost > 1 ELSE smoker END", "ward <> note", "age = cost",
                              "dose > 0.2", "dose = 0", "dose IN (0.5, -0.0)",
                              "day + INTERVAL '8000 years' IS NULL", "day - age < '2024-01-01'", "DAYNAME(day) = 'Monday'",
                              "DATE_TRUNC('month', day) = '2024-02-01'", "WEEK(day) = 1 OR QUARTER(day) = 4",
                              "LOWER(note) = 'äö'", "UPPER(note) || ward = 'XA'", "LEFT(note, age) = RIGHT(note, cost)",
                              "STARTS_WITH(note, ward)", "CONTAINS(note, '%')", "TRIM(note, note) = ''", "age > '20'",
                              "SUBSTRING(note, cost, age) IS NULL", "ward IS DISTINCT FROM note", "age IS NOT DISTINCT FROM NULL",
                              "(ward, age) IN (('A', 20), ('B', 19))", "LN(cost) < age", "POWER(cost, 0.5) > 1"])  # fmt: skip


@st.composite
def predicates(draw: st.DrawFn) -> str:
    found = draw(st.lists(conditions, min_size=1, max_size=3))
    words = draw(st.sampled_from([" AND ", " OR "]))
    text = words.join(f"({each})" for each in found)
    return f"NOT ({text})" if draw(st.integers(0, 4)) == 0 else text


@st.composite
def aggregates(draw: st.DrawFn, schema: Schema) -> str:
    kinds = [
        "COUNT(*)",
        "COUNT({x})",
        "COUNT(DISTINCT {x})",
        "COUNT(DISTINCT note)",
        "SUM({x})",
        "AVG({x})",
        "VARIANCE({x})",
        "STDDEV_POP({x})",
        "CORR({x}, age)",
        "REGR_SLOPE(cost, {x})",
    ] + ([] if schema.row else ["COUNT(DISTINCT person)", "AVG_BY_PERSON({x})"])
    text = draw(st.sampled_from(kinds)).format(x=draw(numbers | flags))
    return f"{text} FILTER (WHERE {draw(predicates())})" if draw(st.integers(0, 3)) == 0 else text


keys = st.sampled_from(["ward", "smoker", "day", "age", "age > 15", "FLOOR(age / 10) * 10", "ward = 'A'",
                        "CASE WHEN age < 10 THEN 'young' WHEN age < 40 THEN 'middle' ELSE 'old' END",
                        "CASE WHEN cost > 1 THEN ward ELSE 'other' END", "COALESCE(ward, 'none')", "EXTRACT(MONTH FROM day)",
                        "dose", "dose", "note", "dose > 0.2", "COALESCE(dose, 7.5)", "dose * 3",
                        "CASE WHEN age > 10 THEN dose ELSE 0.25 END", "DATE_TRUNC('month', day)", "YEAR(day)",
                        "STRFTIME(day, '%Y-%m')", "DATE_PART('isodow', day)", "DATEDIFF('week', day, DATE '2024-02-29')",
                        "LOWER(ward)", "CONCAT(ward, '/', smoker)", "age // 10", "WIDTH_BUCKET(cost, 0, 50, 3)",
                        "UPPER(note)"])  # fmt: skip


@st.composite
def sources(draw: st.DrawFn, schema: Schema) -> str:
    """The table, or a sub-query that has all its names: some mean others than in the table."""
    match draw(st.integers(0, 7)):
        case 0:
            return f"(SELECT * FROM {TABLE} WHERE {draw(predicates())}) AS rows_of_some"
        case 1:
            mine = {"age": draw(numbers), "cost": draw(numbers), "ward": draw(st.sampled_from(["ward", "note"]))}
            items = ", ".join(f"{mine.get(name, name)} AS {name}" for name in NAMES)
            return f"(SELECT {items} FROM (SELECT * FROM {TABLE})) AS renamed"
        case 2 if not schema.row:
            return draw(sources_of_people())
    return TABLE


@st.composite
def sources_of_people(draw: st.DrawFn) -> str:
    """A sub-query of one row for each person, or for each person and key, that has all names of the table."""
    keyed = draw(st.sampled_from(["", "", "", ", ward", ", smoker"]))
    numbers = ["COUNT(*)", "COUNT(DISTINCT ward)", "SUM(age)", "AVG(cost)", "STDDEV(age)", "MIN(cost)", "LEAST(COUNT(note), 3)",
               "SUM(cost) / COUNT(*)", "MAX(age) - MIN(age)", "VAR_POP(cost) FILTER (WHERE smoker)", "MAX(dose)"]  # fmt: skip
    mine = {
        "person": "person",
        "age": draw(st.sampled_from(numbers)),
        "cost": draw(st.sampled_from(numbers)),
        "ward": "ward" if keyed == ", ward" else draw(st.sampled_from(["MIN(ward)", "MAX(note)"])),
        "day": "MAX(day)",
        "smoker": "smoker" if keyed == ", smoker" else draw(st.sampled_from(["BOOL_OR(smoker)", "BOOL_AND(age > 20)"])),
        "dose": "MIN(dose)",
        "note": "MIN(note)",
    }
    items = ", ".join(f"{each} AS {name}" for name, each in mine.items())
    where = f" WHERE {draw(predicates())}" if draw(st.booleans()) else ""
    kept = draw(st.sampled_from(["", "", " HAVING COUNT(*) > 1", " HAVING AVG(cost) > 0.5 OR BOOL_OR(smoker)"]))
    return f"(SELECT {items} FROM {TABLE}{where} GROUP BY person{keyed}{kept}) AS people"


@st.composite
def questions(draw: st.DrawFn, schema: Schema) -> str:
    """Text of a question."""
    by = draw(st.lists(keys, max_size=2, unique=True))
    wanted = draw(st.lists(aggregates(schema), min_size=1, max_size=3))
    if draw(st.integers(0, 3)) == 0:
        wanted = ["AVG(age)", "COUNT(*)", "COUNT(age)", *wanted[:1]]
    select = [f"{key} AS k{i}" for i, key in enumerate(by)] + [f"{each} AS a{i}" for i, each in enumerate(wanted)]
    if draw(st.integers(0, 3)) == 0:
        select.append(
            draw(st.sampled_from(["{0} / COUNT(*)", "{0} + 2 * COUNT(*)", "100.0 * {0}"])).format(wanted[0])
            + " AS extra"
        )
    text = f"SELECT {', '.join(select)} FROM {draw(sources(schema))}"
    if draw(st.booleans()):
        text += f" WHERE {draw(predicates())}"
    if by:
        several = draw(st.sampled_from(["{}", "{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())"]))
        text += f" GROUP BY {several.format(', '.join(by))}"
        if draw(st.integers(0, 3)) == 0:
            text += f" HAVING {wanted[0]} > {draw(st.integers(-3, 3))}"
    if draw(st.integers(0, 2)) == 0:
        text += " ORDER BY a0 DESC" + (f" LIMIT {draw(st.integers(0, 3))}" if draw(st.booleans()) else "")
    return text
