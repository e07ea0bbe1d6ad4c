"""A SELECT over another one that groups by other things than the person: what is inside is the question, and what is outside is made of
its released numbers.

    SELECT ward, n, RANK() OVER (ORDER BY n DESC) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) WHERE n > 100

A condition outside is HAVING of what is inside. Nothing can be aggregated again: the sum of released numbers is a window, and whatever
is of people is asked of these.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.question import Output, Question, Sort
from discreet.plan.relation import Rows
from discreet.plan.scalar import Column, Released, Scalar, columns_in, released_in, windows_in
from discreet.plan.scope import Scope
from discreet.plan.sql.clauses import CLAUSES, Clauses
from discreet.plan.sql.refusals import Code
from discreet.plan.sql.sources import RowSource, Sources, conditions_of, joined
from discreet.plan.sql.views import Item, View

INSIDE = {
    "distinct": ("DISTINCT", "groups are distinct as they are"),
    "order": ("ORDER BY", "order the outermost SELECT"),
    "limit": ("LIMIT", "limit the outermost SELECT"),
    "offset": ("OFFSET", "write it in the outermost SELECT"),
}
OUTSIDE = {
    "group": ("GROUP BY", "group inside alone"),
    "having": ("HAVING", "write the condition behind WHERE"),
    "distinct": ("DISTINCT", "groups are distinct as they are"),
}


@dataclass(frozen=True, slots=True)
class ReleasedGroups:
    """The groups of a SELECT inside of another one. They are no rows: who would gather or filter them as such is refused."""

    name: str
    select: exp.Select
    source: RowSource
    refusal: Callable[[], QueryError] = field(compare=False)

    def scope(self, called: str) -> Scope:
        raise self.refusal()

    def rows(self, read: Iterable[Column], person: str | None) -> Rows:
        raise self.refusal()


class ReleasedClauses(Clauses):
    """Reads the outermost SELECT over the groups of another one."""

    def __init__(self, sources: Sources, select: exp.Select, source: RowSource, groups: ReleasedGroups) -> None:
        self.inner = Clauses(groups.select, sources.expressions(groups.source), groups.source)
        over = RowSource(groups.source.origin, source.called, View(source.called, ()))
        super().__init__(select, sources.expressions(over), groups.source)
        self.groups = groups
        self.numbers: dict[int, int] = {}

    def question(self) -> Question:
        inner, read = self.inner, self.read
        self._check_aggregates()
        self._check(inner.select, INSIDE, "inside a sub-query")
        self._check(self.select, OUTSIDE, "over groups of a sub-query")
        inner.read.take(inner.select, "with_", "from_", "joins", "where", "group", "having", "expressions")
        condition = joined((*inner.source.conditions, *conditions_of(inner.read, inner.select.args.get("where"))))
        names = inner._outputs()
        inner._group(inner.select.args.get("group"))
        having = inner._having(inner.select.args.get("having"))
        items = tuple(Item(name, item, ()) for name, item in zip(names, inner.items, strict=True))
        read.view, read.aggregates, self.keys = View(self.source_name, items), inner.read.aggregates, inner.keys
        read.take(self.select, *CLAUSES.split())
        where = conditions_of(read, self.select.args.get("where"))
        if where and any(map(windows_in, inner.items)):
            message = "a window inside is over groups that WHERE outside leaves out"
            raise read.refusal(Code.WINDOW, message, "write the window in the outermost SELECT", self.select)
        outputs = self._outputs()
        order = self._order(self.select.args.get("order"))
        condition_on_groups = joined((*(() if having is None else (having,)), *where))
        self._check_values([*self.items, *inner.items, *(value for value, _, _ in order)], condition_on_groups)
        self._check_size(
            [*self.items, *inner.items, *self.keys, *(value for value, _, _ in order), condition_on_groups, condition]
        )
        values = [
            *self.items,
            *([] if condition_on_groups is None else [condition_on_groups]),
            *(value for value, _, _ in order),
        ]
        used = sorted(set().union(*map(released_in, values)))
        self.numbers = {index: place for place, index in enumerate(used)}
        aggregates = [read.aggregates[index] for index in used]
        parts = [*self.keys, condition, *(part for each in aggregates for part in (each.argument, each.condition))]
        self.bins = inner.bins
        parts += [] if inner.bins is None else [inner.bins.condition]
        inner.read.columns = dict.fromkeys(set().union(*(columns_in(part) for part in parts if part is not None)))
        return Question(
            source=inner._rows(condition),
            keys=tuple(self.keys),
            aggregates=tuple(aggregates),
            outputs=tuple(Output(name, self._released(item)) for name, item in zip(outputs, self.items, strict=True)),
            having=None if condition_on_groups is None else self._released(condition_on_groups),
            order=tuple(Sort(self._released(value), descending, first) for value, descending, first in order),
            limit=self._count("limit"),
            offset=self._count("offset") or 0,
            levels=inner.levels,
            remarks=() if inner.bins is None else (inner.bins.remark,),
        )

    def _released(self, scalar: Scalar) -> Scalar:
        """What is asked for inside, and not read outside, is neither measured nor paid for: the others have numbers of their own."""
        if isinstance(scalar, Released):
            return replace(scalar, index=self.numbers[scalar.index])
        return super()._released(scalar)

    def _outputs(self) -> list[str]:
        """What is named, or for * all that the sub-query has."""
        if len(self.select.expressions) != 1 or not isinstance(star := self.select.expressions[0], exp.Star):
            return super()._outputs()
        self.read.star(star)
        self.items = [each.meaning for each in self.read.everything()]
        self.read.outputs = {each.name.casefold(): each.meaning for each in self.read.everything()}
        return [each.name for each in self.read.everything()]

    def _check_aggregates(self) -> None:
        """Nothing outside is an aggregate but of a window."""
        clauses = [self.select.args.get(name) for name in ("where", "having", "order")]
        for node in [*self.select.expressions, *(each for each in clauses if each is not None)]:
            for call in node.find_all(exp.Func):
                if self.read.release_name(call) is not None and not isinstance(call.parent, exp.Window):
                    raise self.groups.refusal()

    @property
    def source_name(self) -> str:
        """What the sub-query is called."""
        return self.read.scope.tables[0]

    def _check(self, select: exp.Select, clauses: dict[str, tuple[str, str]], where: str) -> None:
        for name, (words, hint) in clauses.items():
            if part := select.args.get(name):
                raise self.read.refusal(Code.SUBQUERY, f"{words} {where} is not available", hint, part)
