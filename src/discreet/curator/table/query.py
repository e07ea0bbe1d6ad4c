"""A question of a curator's table that is built, `visits.where(…).group_by(…).agg(…)`, and then asked: as its text, by `sql`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn, Protocol, Unpack

from discreet.answer import Answer, Preview, Quote
from discreet.curator.asked import Params, Terms, spelled_out
from discreet.errors import Invalid, QueryError
from discreet.exact import Number
from discreet.plan.accuracy import Within
from discreet.plan.build.expression import Chosen, Expression
from discreet.plan.build.functions import col
from discreet.plan.build.select import Select


class Asker(Protocol):
    """Whoever answers a text: a curator."""

    def sql(self, text: str, params: Params = None, *, key: str | None = None, **terms: Unpack[Terms]) -> Answer: ...

    def preview(self, text: str, params: Params = None, **terms: Unpack[Terms]) -> Preview: ...

    def explain(self, text: str, params: Params = None, **terms: Unpack[Terms]) -> str: ...

    def quote(
        self, text: str, params: Params = None, *, epsilons: Iterable[Number] = ..., **terms: Unpack[Terms]
    ) -> Quote: ...

    def derive(
        self,
        text: str,
        params: Params = None,
        *,
        within: Within | None = None,
        analyst: str | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        max_total: int | None = None,
        part: str | None = None,
    ) -> Answer: ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Query(Select):
    """A question that is built, with the curator that it is asked of."""

    asker: Asker
    analyst: str | None = None

    @spelled_out
    def ask(self, params: Params = None, *, key: str | None = None, **terms: Unpack[Terms]) -> Answer:
        """The private answer, as `Curator.sql` gives it to the text of this question: at its price, and the same one where it was asked."""
        return self.asker.sql(self.sql(), params, key=key, **self._terms(terms))

    @spelled_out
    def preview(self, params: Params = None, **terms: Unpack[Terms]) -> Preview:
        """What the question would cost, and how far off its answer may be. Nothing is spent, and no data is read."""
        return self.asker.preview(self.sql(), params, **self._terms(terms))

    @spelled_out
    def quote(
        self, params: Params = None, *, epsilons: Iterable[Number] = (0.1, 0.3, 1), **terms: Unpack[Terms]
    ) -> Quote:
        """What the question would cost at several prices, and how far off its numbers may be at each. Nothing is spent."""
        return self.asker.quote(self.sql(), params, epsilons=epsilons, **self._terms(terms))

    def derive(
        self,
        params: Params = None,
        *,
        within: Within | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        max_total: int | None = None,
        part: str | None = None,
    ) -> Answer:
        """The answer that follows from one that you have, for nothing, as `Curator.derive` gives it to the text of this question."""
        return self.asker.derive(
            self.sql(),
            params,
            within=within,
            analyst=self.analyst,
            max_rows=max_rows,
            max_groups=max_groups,
            max_total=max_total,
            part=part,
        )

    @spelled_out
    def explain(self, params: Params = None, **terms: Unpack[Terms]) -> str:
        """The plan of the question as a tree. Nothing is spent, and no data is read."""
        return self.asker.explain(self.sql(), params, **self._terms(terms))

    def _terms(self, terms: Terms) -> Terms:
        """The terms, for the analyst that the table was handed to."""
        given = terms.get("analyst")
        if self.analyst is None or given == self.analyst:
            return terms
        if given is not None:
            raise Invalid(
                f"the table was handed to analyst {self.analyst!r}",
                code="analyst",
                hint="leave analyst out, or ask for the table as that analyst",
            )
        return {**terms, "analyst": self.analyst}

    def __repr__(self) -> str:
        return f"Query({self.sql()})"


class UnknownColumn(QueryError, AttributeError):
    """No column of a table has this name."""


def unknown_column(table: str, called: str, columns: Iterable[str]) -> UnknownColumn:
    """The error for a name that no column has; it says which one is the nearest."""
    names = list(columns)
    near = get_close_matches(called, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(sorted(names))}"
    return UnknownColumn(f"table {table!r} has no column {called!r}", code="unknown-column", hint=hint)


class Built:
    """The side of a table that questions are built from: its columns, and the clauses that may come first."""

    name: str
    _columns: tuple[str, ...]
    _asker: Asker | None
    _analyst: str | None

    def __getitem__(self, column: str) -> Expression:
        """The column of this name, whatever the name is."""
        found = [each for each in self._columns if isinstance(column, str) and each.casefold() == column.casefold()]
        if not found:
            raise unknown_column(self.name, str(column), self._columns)
        return col(found[0])

    def __getattr__(self, column: str) -> Expression:
        if column.startswith("_"):  # what Python and notebooks look for by themselves
            raise AttributeError(f"{type(self).__name__!r} has no attribute {column!r}")
        return self[column]

    def __iter__(self) -> NoReturn:
        raise TypeError("a table has no rows to go through; its columns are visits.age, or visits['age']")

    def where(self, *conditions: Expression) -> Query:
        """The rows on which all of these conditions are true; the beginning of a question."""
        return self._query().where(*conditions)

    def join(self, table: str, on: str | Sequence[str], how: str = "inner") -> Query:
        """The rows with those of another table that have the same values in columns of the same name."""
        return self._query().join(table, on, how)

    def group_by(self, *keys: Chosen, form: str = "", **named: Chosen) -> Query:
        """One row of the answer for each value of these keys."""
        return self._query().group_by(*keys, form=form, **named)

    def agg(self, *aggregates: Expression, **named: Expression) -> Query:
        """What is released of all rows."""
        return self._query().agg(*aggregates, **named)

    def select(self, *columns: Chosen, **named: Chosen) -> Query:
        """The rows with these columns alone, or computed ones."""
        return self._query().select(*columns, **named)

    def with_columns(self, **named: Chosen) -> Query:
        """The rows with all their columns, and computed ones besides."""
        return self._query().with_columns(**named)

    def _query(self) -> Query:
        if self._asker is None:
            raise Invalid("this table has no curator to ask", code="build", hint="use that of curator.table(name)")
        return Query(source=self.name, asker=self._asker, analyst=self._analyst)
