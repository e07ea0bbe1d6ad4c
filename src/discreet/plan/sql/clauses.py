"""Clauses of SELECT to a Question: sources, keys, outputs, and what happens to released values."""

from collections.abc import Iterable

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.domain import groupless
from discreet.plan.question import Output, Question, Sort
from discreet.plan.relation import Filter, Rows
from discreet.plan.scalar import (
    Arithmetic,
    Case,
    Cast,
    Column,
    Function,
    Grouping,
    Key,
    Literal,
    Over,
    Released,
    Scalar,
    by_name,
    columns_in,
    is_key,
    released_in,
    type_of,
    windows_in,
)
from discreet.plan.sql.aggregates import aggregate_of
from discreet.plan.sql.expressions import MOST_PARTS, Clause, Expressions
from discreet.plan.sql.grouping import levels_in
from discreet.plan.sql.histogram import BINS, Bins, bins_of, call_in, heading
from discreet.plan.sql.rebuilding import rebuilt
from discreet.plan.sql.refusals import Code, quoted, refusal
from discreet.plan.sql.sources import RowSource, conditions_of, joined
from discreet.plan.sql.values import is_null_literal
from discreet.plan.sql.windows import not_over_rows

CLAUSES = "with_ from_ joins where group having order limit offset expressions"


class Clauses:
    """Reads the outermost SELECT."""

    def __init__(self, select: exp.Select, expressions: Expressions, source: RowSource) -> None:
        self.select = select
        self.read = expressions
        self.source = source
        self.keys: list[Scalar] = []
        self.items: list[Scalar] = []  # of SELECT, over rows and aggregates
        self.levels: tuple[tuple[int, ...], ...] = ()
        self.bins: Bins | None = None

    def question(self) -> Question:
        select, read = self.select, self.read
        read.take(select, *CLAUSES.split(), "distinct")
        condition = joined((*self.source.conditions, *conditions_of(read, select.args.get("where"))))
        names = self._outputs()
        self._group(select.args.get("group"))
        self._distinct(select.args.get("distinct"))
        having = self._having(select.args.get("having"))
        order = self._order(select.args.get("order"))
        self._check_values([*self.items, *(value for value, _, _ in order)], having)
        self._check_size([*self.items, *self.keys, *(value for value, _, _ in order), having, condition])
        if not read.aggregates and any(map(windows_in, self.items)):
            raise not_over_rows(read, select.expressions[0])
        if not read.aggregates and not self.keys:
            hint = "add COUNT(*), SUM(x) or AVG(x)" + (": SELECT ward, COUNT(*) … GROUP BY ward" if self.items else "")
            raise read.refusal(Code.NO_AGGREGATE, "a question needs an aggregate: rows are not released", hint)
        return Question(
            source=self._rows(condition),
            keys=tuple(self.keys),
            aggregates=tuple(read.aggregates),
            outputs=tuple(Output(name, self._released(item)) for name, item in zip(names, self.items, strict=True)),
            having=None if having is None else self._released(having),
            order=tuple(Sort(self._released(value), descending, first) for value, descending, first in order),
            limit=self._count("limit"),
            offset=self._count("offset") or 0,
            levels=self.levels,
            remarks=() if self.bins is None else (self.bins.remark,),
        )

    # where rows come from

    def _rows(self, condition: Scalar | None) -> Rows:
        if self.bins is not None:
            condition = self.bins.condition if condition is None else joined((condition, self.bins.condition))
        rows = self.source.origin.rows(self.read.columns, self.read.person)
        return rows if condition is None else Filter(rows, condition)

    # what is asked

    def _outputs(self) -> list[str]:
        """The names of the outputs; their expressions are kept in `items`."""
        read = self.read
        headings: list[str | None] = []
        own: list[str | None] = []  # of columns of a sub-query, which are called as it calls them
        for node in self.select.expressions:
            name = None
            if type(node) is exp.Alias:
                read.take(node, "this", "alias")
                name, node = read.identifier(node.args["alias"]), node.this
            if (call := call_in(node)) is not None:
                for column, item in self._histogram(node, call, name):
                    self._name_taken(column, node)
                    self.items.append(item)
                    headings.append(column)
                    own.append(None)
                    read.outputs[column.casefold()] = item
                continue
            item = read.within(Clause.SELECT, node)
            if is_null_literal(item):
                message = "NULL alone has no type"
                raise read.refusal(Code.TYPES, message, "write CAST(NULL AS INTEGER), or remove it", node)
            self.items.append(item)
            headings.append(name)
            own.append(read.heading(node) if read.view is not None else None)
            if name is not None:
                self._name_taken(name, node)
                read.outputs[name.casefold()] = item
        taken = set(read.outputs)
        names = []
        for name, item, title in zip(headings, self.items, own, strict=True):
            names.append(name if name is not None else free_name(title or self._name(item), taken))
        return names

    def _name_taken(self, name: str, node: exp.Expr) -> None:
        if name.casefold() in self.read.outputs:
            message = f"two outputs are called {quoted(name)}"
            raise self.read.refusal(Code.DUPLICATE_NAME, message, "give each another name", node)

    def _histogram(self, node: exp.Expr, call: exp.Anonymous, name: str | None) -> list[tuple[str, Scalar]]:
        """The outputs of HISTOGRAM: the ends of a bin, and the count of its rows."""
        read = self.read
        if self.bins is not None:
            hint = "ask for each by itself"
            raise read.refusal(Code.COLLECTION, "a question has one HISTOGRAM", hint, call)
        with read.at(Clause.SELECT):
            self.bins = bins = bins_of(read, node, call)
            count = aggregate_of(read, exp.Count(this=exp.Star()), bins.where)
        titles = heading(name, self._name(bins.argument))
        return list(zip(titles, (bins.key, bins.end, count), strict=True))

    def _name(self, item: Scalar) -> str:
        """A readable name for an output that has none."""
        match item:
            case Column():
                return item.name
            case Released():
                asked = self.read.aggregates[item.index]
                return asked.kind.headed(asked)
            case Function():
                return f"{item.name}_{self._name(item.operands[0])}"
            case Cast():
                return self._name(item.operand)
            case Arithmetic(left=Function(name=name, operands=(Arithmetic(left=inner),))):  # ROUND(x, digits)
                return f"{'trunc' if name == 'trunc' else 'round'}_{self._name(inner)}"
            case Over():
                return item.function.value.lower()
            case Case():
                return "case"
            case Grouping():
                return "grouping"
            case Arithmetic(right=Grouping()):
                return "grouping"
        return "value"

    def _group(self, group: exp.Expr | None) -> None:
        self._group_by(group)
        if self.bins is not None:  # every row is of one bin, at every level
            self._keys([(self.bins.key, self.select)])
            place = self.keys.index(self.bins.key)
            self.levels = tuple(dict.fromkeys(tuple(sorted({*key_places, place})) for key_places in self.levels))

    def _group_by(self, group: exp.Expr | None) -> None:
        read = self.read
        if group is None:
            return
        every = group.args.get("all")
        if (
            set(group.args) - {"expressions", "all"}
            or every not in (None, True)
            or bool(every) is bool(group.expressions)
        ):
            message = "only a list of keys can be grouped by"
            raise read.refusal(Code.GROUPING, message, "name each key: GROUP BY ward, sex", group)
        read.take(group, "expressions", "all")
        if every:
            self._keys((item, group) for item in self.items if columns_in(item) and is_key(item))
            return
        levels = levels_in(read, group.expressions, self._key)
        self.levels = tuple(levels) if len(levels) > 1 else ()

    def _key(self, node: exp.Expr) -> int:
        """The place of the key that a node is."""
        ordinal = self._ordinal(node, "GROUP BY")
        scalar = self.read.within(Clause.GROUP_BY, node) if ordinal is None else ordinal
        self._keys([(scalar, node)])
        return self.keys.index(scalar)

    def _keys(self, scalars: Iterable[tuple[Scalar, exp.Expr]]) -> None:
        """Adds keys, each once."""
        for scalar, node in scalars:
            self._check_key(scalar, node)
            if scalar not in self.keys:
                self.keys.append(scalar)

    def _distinct(self, distinct: exp.Expr | None) -> None:
        """SELECT DISTINCT of columns asks for the groups of all of them; rows that have all keys are distinct as they are."""
        if distinct is None:
            return
        self.read.take(distinct)
        if not self.read.aggregates and not self.keys:
            self._keys((item, distinct) for item in self.items)
        elif self.levels or not set(self.keys) <= set(self.items):
            hint = "show all keys of GROUP BY, or group by fewer"
            raise self.read.refusal(Code.DISTINCT, "SELECT DISTINCT needs all keys of GROUP BY", hint, distinct)

    def _check_key(self, scalar: Scalar, node: exp.Expr) -> None:
        read = self.read
        used = sorted(columns_in(scalar), key=by_name)
        if released_in(scalar):
            message = "a key cannot be an aggregate"
            raise read.refusal(Code.AGGREGATE_PLACE, message, "group by columns and by CASE bins of them", node)
        if windows_in(scalar):
            raise not_over_rows(read, node)
        if not used:
            raise read.refusal(Code.CONSTANT, "a constant is no key", "group by columns and by CASE bins of them", node)
        if any(map(read.is_person, used)):
            raise read.refusal(
                Code.PERSON,
                f"{quoted(str(read.person))} says who a person is and is never a key",
                f"count people with {read.counting_people()}",
                node,
            )
        if groupless(scalar, read.scope):
            name, survey = used[0].name, read.scope.field(used[0]).surveyed
            known = f"value of {quoted(name)} that was {survey}" if survey else f"declared value of {quoted(name)}"
            message = f"no {known} falls into any group of this key"
            raise read.refusal(Code.NO_GROUPS, message, f"group by {name} itself, or by CASE bins of it", node)

    # what happens to released values

    def _having(self, having: exp.Expr | None) -> Scalar | None:
        if having is None:
            return None
        return self.read.asserted(Clause.HAVING, having)

    def _order(self, order: exp.Expr | None) -> list[tuple[Scalar, bool, bool]]:
        read = self.read
        if order is None:
            return []
        read.take(order, "expressions")
        sorts = []
        for node in order.expressions:
            if not isinstance(node, exp.Ordered):
                raise read.unknown(node)
            read.take(node, "this", "desc", "nulls_first")
            ordinal = self._ordinal(node.this, "ORDER BY")
            value = read.within(Clause.ORDER_BY, node.this) if ordinal is None else ordinal
            if isinstance(value, Literal):
                hint = "order by a key, an aggregate, or the number of an output"
                raise read.refusal(Code.CONSTANT, "a constant orders nothing", hint, node)
            sorts.append((value, bool(node.args.get("desc")), bool(node.args.get("nulls_first"))))
        return sorts

    def _ordinal(self, node: exp.Expr, clause: str) -> Scalar | None:
        """The output that a plain integer names; None if the node is something else."""
        if type(node) is not exp.Literal or node.is_string or not node.name.isdigit():
            return None
        self.read.take(node, "this", "is_string")
        if len(node.name) > 4 or not 1 <= int(node.name) <= len(self.items):
            message = f"{clause} {node.name[:20]} names no output"
            raise self.read.refusal(Code.ORDINAL, message, f"outputs are numbered from 1 to {len(self.items)}")
        return self.items[int(node.name) - 1]

    def _count(self, clause: str) -> int | None:
        """The number of LIMIT or OFFSET."""
        node = self.select.args.get(clause)
        if node is None:
            return None
        self.read.take(node, "expression")
        value = None
        if type(node.expression) in (exp.Literal, exp.Placeholder):
            value = self.read.constant(node.expression)
        if value is None or type(value.value) is not int or value.value < 0:
            message = f"{clause.upper()} needs a whole number"
            raise self.read.refusal(Code.LIMIT, message, f"write {clause.upper()} 10, or bind a parameter", node)
        return value.value

    def _released(self, scalar: Scalar) -> Scalar:
        """This expression over released values: each key by its index; raises QueryError if a row's value is left."""
        if scalar in self.keys:
            return Key(self.keys.index(scalar), type_of(scalar))
        if isinstance(scalar, Column):
            raise self._not_grouped(scalar)
        if scalar == BINS and self.bins is not None:
            return self._released(self.bins.key)
        if isinstance(scalar, Over):
            return self._window(scalar)
        if isinstance(scalar, Grouping) and scalar.operand not in self.keys:
            hint = "write GROUPING(ward) where GROUP BY names ward"
            raise self.read.refusal(Code.NOT_GROUPED, "GROUPING needs a key of GROUP BY", hint)
        return rebuilt(scalar, self._released)

    def _window(self, window: Over) -> Scalar:
        try:
            return rebuilt(window, self._released)
        except QueryError as error:
            if error.code != Code.NOT_GROUPED:
                raise
            raise not_over_rows(self.read, None) from None

    def _not_grouped(self, column: Column) -> QueryError:
        read, name = self.read, column.name
        at = read.columns.get(column)
        if read.is_person(column):
            message, hint = (
                f"{quoted(name)} says who a person is and is never released",
                f"use {read.counting_people()}",
            )
            return refusal(Code.PERSON, message, hint, read.text, at)
        message = f"column {quoted(name)} is neither a key nor inside an aggregate"
        return refusal(Code.NOT_GROUPED, message, f"add GROUP BY {name}, or use AVG({name})", read.text, at)

    def _check_values(self, shown: Iterable[Scalar], having: Scalar | None) -> None:
        """What is a value, and no number, is shown and ordered by as it is; anything else is refused."""
        inside = [
            *(part for each in shown if not isinstance(each, Released) for part in released_in(each)),
            *([] if having is None else released_in(having)),
        ]
        for asked in (self.read.aggregates[index] for index in inside):
            if asked.kind.valued:
                raise self.read.refusal(
                    Code.AGGREGATE_PLACE,
                    f"{asked.kind.word} is a value, and cannot be calculated or compared with",
                    f"show it as it is: SELECT {asked.kind.word}(x) AS often …, and order by it; or take the rows with a value by WHERE",
                )

    def _check_size(self, scalars: Iterable[Scalar | None]) -> None:
        total = sum(self.read.measure(each)[0] for each in scalars if each is not None)
        if total > MOST_PARTS:
            raise self.read.refusal(
                Code.TOO_MANY_ITEMS, f"a question has more than {MOST_PARTS:,} parts", "ask less at once"
            )


def free_name(name: str, taken: set[str]) -> str:
    """The name, or the name with the first free number; from now on it is taken."""
    candidate, i = name, 1
    while candidate.casefold() in taken:
        i += 1
        candidate = f"{name}_{i}"
    taken.add(candidate.casefold())
    return candidate
