"""Random columns, rows, typed expressions of every kind, and queries for engines, as hypothesis strategies.

Values are honest and hostile: infinities, the smallest and the largest doubles, both zeros, the ends of 64 bits, text outside of ASCII,
the first and the last day. Expressions are well typed, so that none is refused; queries may have any of the shapes that an engine knows.
"""

import math
from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, TypeAlias

from hypothesis import strategies as st

from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.casts import CASTS
from discreet.plan.evaluate import product_ends
from discreet.plan.functions import FUNCTIONS, FunctionRow
from discreet.plan.scalar import Column, Scalar, Type, Value

Table: TypeAlias = dict[str, list[Any]]

COLUMNS = (
    *(Column(name, Type.INTEGER) for name in "ij"),
    *(Column(name, Type.NUMBER) for name in "xy"),
    *(Column(name, Type.TEXT) for name in "tu"),
    *(Column(name, Type.DATE) for name in "de"),
    *(Column(name, Type.BOOLEAN) for name in "bc"),
)
PERSON = Column("person", Type.TEXT)

ENDS = (2**63 - 1, -(2**63), 2**53, 2**53 + 1, -(2**53) - 1, 2**31, 2**24 + 1)
INTEGERS = (0, 1, -1, 2, 3, 7, -8, 120, *ENDS)
NUMBERS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 0.49999999999999994, 120.0, -7.3, 4503599627370497.5),
    *(2.0**53, 2.0**53 + 2, -(2.0**53), 1e15, 1e300, 1.7976931348623157e308, -1e308, 5e-324, -2.2250738585072014e-308),
    *(math.inf, -math.inf),
)
DAYS = (date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(9999, 12, 31))
TEXTS = (
    *(
        "",
        " ",
        "a",
        "A",
        "b",
        "ab",
        "a%b",
        "a_b",
        "a\\b",
        "ward",
        "Ä",
        "ä",
        "e\u0301",
        "é",
        "ß",
        "İ",
        "🏥",
        "\uffff",
        "\x00",
        "a\nb",
    ),
    *(
        "1",
        "01",
        " 12 ",
        "7.5",
        "-0.5",
        "+3",
        "1e3",
        "nan",
        "inf",
        "٣",
        "9" * 18,
        "9" * 19,
        "0." + "9" * 15,
        "12\n",
        ".",
    ),
    *("2024-02-29", "2023-02-29", "0001-01-01", "0000-01-01", "9999-12-31", "2024-1-1", "1969-12-31 ", "-001-01-01"),
    *("true", "T", "YES", "no", "f", "0", "'", '"', "';--", "$salt", "\u017f", "\u212a"),
)
CHARACTERS = st.characters(exclude_categories=["Cs"])
PATTERNS = (
    "%",
    "_",
    "a%",
    "%b",
    "a\\%b",
    "a\\_b",
    "%\\\\%",
    "\\",
    "\\a",
    "A_B",
    "%é%",
    "",
    "__",
    "%a%b%",
    "a\nb",
    "ä",
    "k",
)

VALUES: dict[Type, st.SearchStrategy[Any]] = {
    Type.INTEGER: st.sampled_from(INTEGERS) | st.integers(-5, 130),
    Type.NUMBER: st.sampled_from(NUMBERS) | st.floats(allow_nan=False) | st.integers(-400, 400).map(lambda n: n / 4),
    Type.TEXT: st.sampled_from(TEXTS) | st.text(CHARACTERS, max_size=4),
    Type.DATE: st.sampled_from(DAYS) | st.integers(-800, 800).map(lambda n: date(1970, 1, 1) + timedelta(days=n)),
    Type.BOOLEAN: st.booleans(),
}
KEYS = (Type.TEXT, Type.INTEGER, Type.DATE, Type.BOOLEAN)
NUMERIC = (Type.INTEGER, Type.NUMBER)


def values(type: Type) -> st.SearchStrategy[Value]:
    """NULL among them."""
    return st.none() | VALUES[type]


@st.composite
def catalogs(draw: st.DrawFn) -> tuple[Column, ...]:
    """Columns of random types, and who a row is about: a column `person` of text, integers or numbers."""
    types = draw(st.lists(st.sampled_from(list(Type)), min_size=1, max_size=5))
    person = Column("person", draw(st.sampled_from([Type.TEXT, Type.INTEGER, Type.NUMBER])))
    return (person, *(Column(f"c{i}", type) for i, type in enumerate(types)))


@st.composite
def tables(draw: st.DrawFn, columns: tuple[Column, ...], most: int = 12, people: int = 4) -> Table:
    """Rows for these columns, in which few people, and few values, come back often."""
    n = draw(st.integers(0, most))
    made: Table = {}
    for column in columns:
        pool = draw(st.lists(values(column.type), min_size=1, max_size=people))
        made[column.name] = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
    return made


def literals(type: Type, nullable: bool = True) -> st.SearchStrategy[s.Literal]:
    found = values(type) if nullable else VALUES[type]
    return found.map(lambda value: s.Literal(value, type))


@lru_cache
def scalars(type: Type, columns: tuple[Column, ...] = COLUMNS, depth: int = 3) -> st.SearchStrategy[Scalar]:
    """Expressions of this type over these columns, of any kind, nested up to this depth."""
    mine = [column for column in columns if column.type is type]
    leaves: list[st.SearchStrategy[Scalar]] = [literals(type)]
    if mine:
        leaves += [st.sampled_from(mine)] * 3
    if depth == 0:
        return st.one_of(leaves)
    return st.one_of(*leaves, *_branches(type, columns, depth - 1))


def _branches(type: Type, columns: tuple[Column, ...], depth: int) -> list[st.SearchStrategy[Scalar]]:
    def of(inner: Type) -> st.SearchStrategy[Scalar]:
        return scalars(inner, columns, depth)

    def several(inner: st.SearchStrategy[Scalar], least: int = 1) -> st.SearchStrategy[tuple[Scalar, ...]]:
        return st.lists(inner, min_size=least, max_size=3).map(tuple)

    numeric = of(Type.INTEGER) | of(Type.NUMBER)
    same = numeric if type is Type.NUMBER else of(type)
    pairs = st.lists(st.tuples(of(Type.BOOLEAN), same), min_size=1, max_size=2).map(tuple)
    found: list[st.SearchStrategy[Scalar]] = [
        st.builds(s.Case, pairs, of(type)),
        st.builds(lambda first, rest: s.Coalesce((first, *rest)), of(type), several(same)),
    ]
    found += [st.builds(s.Cast, of(given), st.just(type)) for given, wanted in sorted(CASTS, key=str) if wanted is type]
    rows = [row for row in FUNCTIONS.values() if row.gives is type]
    if rows:
        found += [
            st.sampled_from(rows).flatmap(
                lambda row: called(row, lambda each: numeric if each is Type.NUMBER else of(each))
            )
        ] * 2
    if type is Type.NUMBER:
        found.append(st.builds(s.Arithmetic, st.sampled_from(s.Operator), numeric, numeric))
    if type is Type.INTEGER:
        found += [steps(numeric), st.builds(s.Indicator, of(Type.BOOLEAN))]
    if type is Type.BOOLEAN:
        found += [_comparisons(of, numeric), st.builds(s.And, several(of(Type.BOOLEAN), 0))]
        found += [st.builds(s.Or, several(of(Type.BOOLEAN), 0)), st.builds(s.Not, of(Type.BOOLEAN))]
        found += [st.builds(s.IsNull, st.sampled_from(Type).flatmap(of)), _memberships(of)]
        patterns = st.sampled_from(PATTERNS) | st.text("%_\\aA", max_size=5)
        found.append(st.builds(s.Like, of(Type.TEXT), patterns, st.booleans()))
    return found


def called(row: FunctionRow, of: Callable[[Type], st.SearchStrategy[Scalar]]) -> st.SearchStrategy[Scalar]:
    """A function of the table, of operands of its types."""
    if row.many:
        operands = st.lists(of(row.takes[0]), min_size=1, max_size=3).map(tuple)
    else:
        operands = st.tuples(*map(of, row.takes))
    return st.builds(s.Function, st.just(row.name), operands)


def _comparisons(
    of: Callable[[Type], st.SearchStrategy[Scalar]], numeric: st.SearchStrategy[Scalar]
) -> st.SearchStrategy[Scalar]:
    order = st.sampled_from(s.Order)
    alike = [st.builds(s.Comparison, order, of(type), of(type)) for type in Type if not type.numeric]
    return st.one_of(st.builds(s.Comparison, order, numeric, numeric), *alike)


def _memberships(of: Callable[[Type], st.SearchStrategy[Scalar]]) -> st.SearchStrategy[Scalar]:
    def listed(type: Type) -> st.SearchStrategy[Scalar]:
        among = [literals(each, nullable=False) for each in (NUMERIC if type.numeric else (type,))]
        return st.builds(s.In, of(type), st.lists(st.one_of(among), max_size=3).map(tuple))

    return st.one_of([listed(type) for type in Type])


@st.composite
def steps(draw: st.DrawFn, operands: st.SearchStrategy[Scalar]) -> s.Steps:
    """On grids from 2^-20 to 2^10, with bounds on the grid and off it, near 0 and far from it."""
    shift = draw(st.integers(-10, 20))
    most = draw(st.sampled_from([4, 100, 2**24]))
    low, high = sorted(draw(st.lists(st.integers(-most, most), min_size=2, max_size=2, unique=True)))
    off = draw(st.sampled_from([0.0, 0.25])) if high < most else 0.0
    centre = draw(st.sampled_from([0, low, high, (low + high) // 2])) if most < 2**24 else 0
    far = draw(st.sampled_from([0, 0, 2**30, -(2**40)]))
    ends = [math.ldexp(far + end, -shift) for end in (low + off, high + off)]
    return s.Steps(draw(operands), *ends, shift, math.ldexp(far + centre, -shift))


@st.composite
def products(draw: st.DrawFn, operands: st.SearchStrategy[Scalar]) -> s.Product:
    """Of two numbers in steps, or of one with itself, in steps of the product that are no more than 2^24."""
    left = draw(steps(operands))
    factors = (left, left if draw(st.booleans()) else draw(steps(operands)))
    most = max(map(abs, product_ends(s.Product(*factors, 0, 0))))
    shift = max(0, most.bit_length() - 24) + draw(st.sampled_from([1, 2, 5]))
    middle = draw(st.sampled_from([0, sum(product_ends(s.Product(*factors, shift, 0))) // 2]))
    return s.Product(*factors, shift, middle)


def terms(columns: tuple[Column, ...], depth: int = 2) -> st.SearchStrategy[r.Term]:
    numeric = scalars(Type.INTEGER, columns, depth) | scalars(Type.NUMBER, columns, depth)
    indicator = st.builds(s.Indicator, scalars(Type.BOOLEAN, columns, depth))
    return st.one_of(
        st.builds(
            r.Term,
            st.just(r.How.SUM),
            steps(numeric) | products(numeric) | indicator | st.just(s.Literal(1, Type.INTEGER)),
        ),
        st.builds(r.Term, st.just(r.How.ANY), indicator | st.just(s.Literal(1, Type.INTEGER))),
        st.builds(r.Term, st.just(r.How.MEAN), steps(numeric)),
    )


@st.composite
def rows_of_people(draw: st.DrawFn, source: r.Rows, columns: tuple[Column, ...]) -> tuple[r.Rows, tuple[Column, ...]]:
    """One row for each person and key, some of them left out, and the columns that they have; now and then again of these."""
    person = next(column for column in columns if column.name == "person")
    values = draw(st.lists(st.sampled_from(Type).flatmap(lambda type: scalars(type, columns, 1)), max_size=1))
    numeric = scalars(Type.INTEGER, columns, 1) | scalars(Type.NUMBER, columns, 1)
    summed = terms(columns, 1).filter(lambda term: term.how is r.How.SUM).map(lambda term: (r.Summary.SUM, term.value))
    others = st.sampled_from([each for each in r.Summary if each is not r.Summary.SUM])
    plain = st.tuples(others, st.sampled_from(Type).flatmap(lambda type: scalars(type, columns, 1)) | numeric)
    gathered = draw(st.lists(summed | plain, max_size=3))
    keys = tuple((Column(f"c{i}", s.type_of(value)), value) for i, value in enumerate(values))
    features = []
    for i, (how, value) in enumerate(gathered, len(keys)):
        kind = Type.INTEGER if how in (r.Summary.SUM, r.Summary.DISTINCT) else s.type_of(value)
        features.append(r.PersonFeature(Column(f"c{i}", kind), how, value))
    rows: r.Rows = r.PerPerson(source, person, keys, tuple(features))
    mine = (person, *(column for column, _ in keys), *(each.column for each in features))
    if draw(st.booleans()):
        rows = r.Filter(rows, draw(scalars(Type.BOOLEAN, mine, 1)))
    return draw(rows_of_people(rows, mine)) if draw(st.integers(0, 5)) == 0 else (rows, mine)


def sources(table: str, columns: tuple[Column, ...], depth: int = 2) -> st.SearchStrategy[r.Rows]:
    rows = st.just(r.Scan(table, columns)) | filled(r.Scan(table, columns))
    filtered = st.builds(r.Filter, rows, scalars(Type.BOOLEAN, columns, depth))
    return st.one_of(rows, filtered, st.builds(r.Filter, filtered, scalars(Type.BOOLEAN, columns, 1)))


@st.composite
def filled(draw: st.DrawFn, scan: r.Scan) -> r.Rows:
    """Some columns of numbers, each with a value of its own where it is missing."""
    among = [column for column in scan.columns if column.type.numeric and column.name != "person"]
    chosen = draw(st.lists(st.sampled_from(among), unique=True)) if among else []
    return r.Filled(scan, tuple((column, draw(literals(column.type, nullable=False))) for column in chosen))


def keys(columns: tuple[Column, ...], depth: int = 1) -> st.SearchStrategy[tuple[Scalar, ...]]:
    """Plain columns, what is computed of them, and numbers that are taken over as they are."""
    mine = [column for column in columns if column.name != "person"]
    plain = [st.sampled_from(mine)] * 3 if mine else []
    made = st.one_of(*plain, *(scalars(type, columns, depth) for type in KEYS), numbers_as_they_are(columns))
    return st.lists(made, max_size=2).map(tuple)


def numbers_as_they_are(columns: tuple[Column, ...]) -> st.SearchStrategy[Scalar]:
    """A column of numbers, or a constant where it is missing, or where a condition holds."""
    numbers = [literals(Type.NUMBER), *(st.just(column) for column in columns if column.type is Type.NUMBER)]
    conditions, values = scalars(Type.BOOLEAN, columns, 1), st.one_of(numbers)
    return st.one_of(
        values,
        st.builds(lambda first, second: s.Coalesce((first, second)), values, values),
        st.builds(lambda when, then, otherwise: s.Case(((when, then),), otherwise), conditions, values, values),
    )


@st.composite
def row_queries(draw: st.DrawFn, table: str, columns: tuple[Column, ...]) -> r.Totals:
    """Each row a unit of its own."""
    some = draw(st.lists(terms(columns), min_size=1, max_size=3))
    return r.Totals(draw(sources(table, columns)), draw(keys(columns)), tuple(some))


@st.composite
def person_queries(draw: st.DrawFn, table: str, columns: tuple[Column, ...]) -> r.Totals:
    """Of people, with any of the caps."""
    person = next(column for column in columns if column.name == "person")
    source = draw(sources(table, columns))
    if draw(st.integers(0, 2)) == 0:
        source, columns = draw(rows_of_people(source, columns))
    some = tuple(draw(st.lists(terms(columns), min_size=1, max_size=2)))
    made: Any = r.Contributions(source, person, draw(keys(columns)), some)
    if draw(st.booleans()):
        made = r.CapRows(made, draw(st.integers(1, 3)))
    cap = draw(st.sampled_from(["none", "groups", "norm"]))
    if cap == "groups":
        made = r.CapGroups(made, draw(st.integers(1, 3)))
    if cap != "norm" and draw(st.integers(0, 3)) == 0:
        rungs = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True))
        return r.Totals(r.Exceeding(made, draw(st.sampled_from(r.Extent)), tuple(sorted(rungs))))
    if draw(st.booleans()):
        made = r.CapTotal(made, draw(st.integers(1, 5)))
    if cap == "norm":
        made = r.ClipNorm(made, tuple(draw(st.integers(1, 10**6)) for _ in some))
    return r.Totals(made)


def queries(table: str, columns: tuple[Column, ...]) -> st.SearchStrategy[r.Totals]:
    return row_queries(table, columns) | person_queries(table, columns)
