"""One SELECT that is built: a frozen tree of its clauses, each method a new one; its only output is the text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.build.expression import Chosen, Expression, Ordered, chosen, condition, listed, ordered, whole
from discreet.plan.sql.spelling import name

FORMS = ("", "ROLLUP", "CUBE")
SIDES = {"inner": "JOIN", "left": "LEFT JOIN"}


@dataclass(frozen=True, slots=True, eq=False)
class SelectItem:
    """What stands in SELECT: an expression, and the name of its output; None where nobody gave one."""

    value: Expression
    name: str | None = None

    @property
    def text(self) -> str:
        return self.value.text if self.name is None else f"{self.value.text} AS {name(self.name)}"

    @property
    def called(self) -> str:
        """The name of the output in small letters, in which names of outputs agree."""
        text = self.value.text if self.name is None else self.name
        quoted = self.name is None and not self.value.operator and text.startswith('"')
        return (text[1:-1].replace('""', '"') if quoted else text).casefold()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Select:
    """A question, or a part of one: rows first, then groups, then aggregates; what is asked of those again is asked of a sub-query.

    >>> from discreet.plan.build.functions import col, count
    >>> Select(source="visits").where(col("age") >= 18).group_by("ward").agg(n=count()).sql()
    'SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward'
    """

    source: "str | Select"
    joins: tuple[str, ...] = ()
    conditions: tuple[Expression, ...] = ()
    keys: tuple[SelectItem, ...] = ()
    form: str = ""
    items: tuple[SelectItem, ...] | None = None  # None until it is said what is selected
    star: bool = False
    is_distinct: bool = False
    had: tuple[Expression, ...] = ()
    orders: tuple[Ordered, ...] = ()
    most: int | None = None
    skipped: int = 0

    def where(self, *conditions: Expression) -> Self:
        """The rows on which all of these conditions are true."""
        rows = self._rows("where")
        return replace(rows, conditions=(*rows.conditions, *map(condition, conditions)))

    def join(self, table: str, on: str | Sequence[str], how: str = "inner") -> Self:
        """These rows with those of another table that have the same values in columns of the same name.

        `how="left"` keeps rows without a partner. Which tables can be joined, docs/sql.md says.
        """
        if how not in SIDES:
            raise Invalid(f"how must be 'inner' or 'left', got {shown(how)}", code="build", hint='write how="left"')
        rows = self._rows("join")
        if rows.conditions:
            rows = rows._nested()
        columns = ", ".join(map(name, listed(on)))
        if not columns:
            raise Invalid(
                "join needs a column that both tables have", code="build", hint='write join("wards", on="ward")'
            )
        return replace(rows, joins=(*rows.joins, f"{SIDES[how]} {name(table)} USING ({columns})"))

    def group_by(self, *keys: Chosen, form: str = "", **named: Chosen) -> Self:
        """One row of the answer for each value of these keys: columns, expressions, or expressions with names.

        `form` is "rollup" or "cube" for subtotals.
        """
        if not isinstance(form, str) or form.upper() not in FORMS:
            raise Invalid(f"form must be 'rollup' or 'cube', got {shown(form)}", code="build", hint='write form="cube"')
        rows = self._rows("group_by")
        return replace(rows, keys=_items(keys, named, "group_by"), form=form.upper())

    def agg(self, *aggregates: Expression, **named: Expression) -> Self:
        """What is released of the rows, or of each group: aggregates, and arithmetic on them. Those with a name are called by it."""
        if self.items is not None:
            return self._nested().agg(*aggregates, **named)
        if not (self.keys or aggregates or named):
            raise Invalid("agg needs an aggregate", code="build", hint="write agg(n=dp.count())")
        return replace(self, items=_items(aggregates, named, "agg", some=False))

    def select(self, *columns: Chosen, **named: Chosen) -> Self:
        """Rows with these columns alone, or computed ones, of which aggregates are asked next."""
        return replace(self._rows("select"), items=_items(columns, named, "select"))

    def with_columns(self, **named: Chosen) -> Self:
        """Rows with all their columns, and computed ones besides."""
        return replace(self._rows("with_columns"), items=_items((), named, "with_columns"), star=True)

    def distinct(self) -> Self:
        """Each row of what is selected once."""
        return replace(self._asked("distinct"), is_distinct=True)

    def having(self, *conditions: Expression) -> Self:
        """The groups of whose released numbers these conditions are true."""
        asked = self._asked("having")
        return replace(asked, had=(*asked.had, *map(condition, conditions)))

    def order_by(self, *orders: Chosen | Ordered) -> Self:
        """The rows of the answer sorted by keys or released numbers: names, expressions, or `x.desc()`."""
        asked = self._asked("order_by")
        return replace(asked, orders=(*asked.orders, *map(ordered, orders)))

    def limit(self, most: int, offset: int = 0) -> Self:
        """So many rows of the answer at most, behind the first `offset`."""
        numbers = [whole(number) for number in (most, offset)]
        for number, value in zip(numbers, (most, offset), strict=True):
            if number is None or number < 0:
                raise Invalid(f"a limit is a whole number from 0 on, got {shown(value)}", code="build", hint="limit(5)")
        return replace(self._asked("limit"), most=numbers[0], skipped=numbers[1] or 0)

    def sql(self) -> str:
        """The question as SQL: the text that is asked."""
        if self.items is None and not self.keys:
            what = "*"
        else:
            what = ", ".join(["*"] * self.star + [each.text for each in (*self.keys, *(self.items or ()))])
        source = name(self.source) if isinstance(self.source, str) else f"({self.source.sql()})"
        words = ["SELECT DISTINCT" if self.is_distinct else "SELECT", what, "FROM", source, *self.joins]
        words += _all_of("WHERE", self.conditions)
        if self.keys:
            keys = ", ".join(map(self._key, range(len(self.keys))))
            words.append(f"GROUP BY {self.form} ({keys})" if self.form else f"GROUP BY {keys}")
        words += _all_of("HAVING", self.had)
        if self.orders:
            words.append(f"ORDER BY {', '.join(each.text for each in self.orders)}")
        if self.most is not None:
            words.append(f"LIMIT {self.most}" + (f" OFFSET {self.skipped}" if self.skipped else ""))
        return " ".join(words)

    def __str__(self) -> str:
        return self.sql()

    def _key(self, at: int) -> str:
        """A key in GROUP BY: its name, where that is a column's and no other output's; else its place."""
        key = self.keys[at]
        others = [each.called for each in (*self.keys[:at], *self.keys[at + 1 :], *(self.items or ()))]
        plain = key.name is None and not key.value.operator and "(" not in key.value.text
        return key.value.text if plain and key.called not in others else str(at + 1)

    def _rows(self, asked: str) -> Self:
        """The rows that a clause is of: those of a sub-query, once it was said what is selected."""
        if self.items is not None:
            return self._nested()
        if self.keys:
            raise Invalid(
                f"{asked} comes before group_by, or after agg", code="build", hint="write where(…).group_by(…).agg(…)"
            )
        return self

    def _asked(self, asked: str) -> Self:
        """A clause of what is selected, which must have been said."""
        if self.items is None and not self.keys:
            raise Invalid(f"{asked} comes after agg", code="build", hint="write agg(n=dp.count()) first")
        return self

    def _nested(self) -> Self:
        """All of this as the sub-query of a new question."""
        clauses = {"joins": (), "conditions": (), "keys": (), "form": "", "items": None, "star": False}
        ends = {"is_distinct": False, "had": (), "orders": (), "most": None, "skipped": 0}
        return replace(self, source=self, **clauses, **ends)  # type: ignore[arg-type]


def _all_of(word: str, conditions: Sequence[Expression]) -> list[str]:
    """A clause of conditions, all of which hold."""
    whole = conditions[0] if conditions else None
    for each in conditions[1:]:
        whole = each if whole is None else whole & each
    return [] if whole is None else [f"{word} {whole.text}"]


def _items(
    values: Sequence[Chosen], named: Mapping[str, Chosen], asked: str, some: bool = True
) -> tuple[SelectItem, ...]:
    if some and not (values or named):
        raise Invalid(f"{asked} needs a column", code="build", hint='write its name, "ward"')
    return tuple(
        [SelectItem(chosen(each)) for each in values]
        + [SelectItem(chosen(value), called) for called, value in named.items()]
    )
