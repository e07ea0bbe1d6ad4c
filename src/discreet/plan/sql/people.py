"""A SELECT inside of another one that groups by the person: one row for each, of aggregates of their rows.

What is written around an aggregate, and HAVING, is of each person by themselves: both are read as expressions over rows of people, and
whatever stands further out reads these as it reads a table. Until all keys and aggregates are known `Key(i)` stands for the i-th aggregate.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan import features
from discreet.plan.computed import Computed
from discreet.plan.features import OfAPerson
from discreet.plan.relation import Filter, PerPerson, PersonFeature, Rows, Summary
from discreet.plan.releases.base import Call
from discreet.plan.rules.conditions import where
from discreet.plan.rules.people import people_scope, with_column
from discreet.plan.scalar import Column, Key, Literal, Scalar, columns_in, has_key, type_of, windows_in
from discreet.plan.scope import Scope
from discreet.plan.sql.clauses import Clauses, free_name
from discreet.plan.sql.expressions import Expressions, SharedReading
from discreet.plan.sql.origins import Origin
from discreet.plan.sql.rebuilding import rebuilt
from discreet.plan.sql.refusals import Code, quoted
from discreet.plan.sql.released import ReleasedGroups
from discreet.plan.sql.sources import RowSource, Sources, conditions_of, joined
from discreet.plan.sql.values import is_null_literal
from discreet.plan.sql.views import Item, View

Reading = Callable[[Call, Scope], OfAPerson]
NEVER = {  # inside, who is left would depend on others
    "distinct": ("DISTINCT", "a person has one row, or one for each combination of keys"),
    "order": ("ORDER BY", "order the outermost SELECT: people are in no order"),
    "limit": ("LIMIT", "limit the outermost SELECT: who is among the first depends on all others"),
    "offset": ("OFFSET", "write it in the outermost SELECT: who is among the first depends on all others"),
}


def _count(call: Call, scope: Scope) -> OfAPerson:
    if call.size > 1:
        raise call.refusal("function", "COUNT has one argument", "write COUNT(*) or COUNT(x)")
    if call.rows:
        return features.counted(call.condition)
    argument = _there(call, call.scalar())
    if call.distinct:
        return features.summarised("count", Summary.DISTINCT, argument, call.condition)
    return features.counted(call.condition, None if isinstance(argument, Literal) else argument)


def _count_if(call: Call, scope: Scope) -> OfAPerson:
    truth = call.truth()
    if call.condition is None:
        return features.counted(truth)
    return features.counted(call.condition, features.where(truth, features.TRUE))


def _extreme(heading: str, how: Summary) -> Reading:
    def read(call: Call, scope: Scope) -> OfAPerson:
        return features.summarised(heading, how, _there(call, call.scalar()), call.condition)

    return read


def _truth(heading: str, how: Summary) -> Reading:
    return lambda call, scope: features.summarised(heading, how, call.truth(), call.condition)


def _number(aggregate: Callable[[Scalar, Scalar | None, Scope], OfAPerson]) -> Reading:
    return lambda call, scope: aggregate(_one_number(call), call.condition, scope)


def _dispersion(heading: str, *, sample: bool, root: bool) -> Reading:
    return lambda call, scope: features.dispersion(
        heading, _one_number(call), call.condition, scope, sample=sample, root=root
    )


def _there(call: Call, argument: Scalar) -> Scalar:
    if is_null_literal(argument):
        raise call.mismatch("NULL alone has no type")
    return argument


def _one_number(call: Call) -> Scalar:
    argument = call.number()
    if is_null_literal(argument):
        raise call.mismatch("NULL alone cannot be summed")
    return argument


AGGREGATES: dict[str, Reading] = {
    "COUNT": _count,
    **dict.fromkeys(("COUNT_IF", "COUNTIF"), _count_if),
    "SUM": _number(features.total),
    **dict.fromkeys(("AVG", "MEAN"), _number(features.mean)),
    **dict.fromkeys(("VARIANCE", "VAR_SAMP"), _dispersion("variance", sample=True, root=False)),
    "VAR_POP": _dispersion("var_pop", sample=False, root=False),
    **dict.fromkeys(("STDDEV", "STDDEV_SAMP"), _dispersion("stddev", sample=True, root=True)),
    "STDDEV_POP": _dispersion("stddev_pop", sample=False, root=True),
    "MIN": _extreme("min", Summary.LEAST),
    "MAX": _extreme("max", Summary.LARGEST),
    **dict.fromkeys(("BOOL_AND", "EVERY", "LOGICAL_AND"), _truth("bool_and", Summary.LEAST)),
    **dict.fromkeys(("BOOL_OR", "LOGICAL_OR"), _truth("bool_or", Summary.LARGEST)),
}
"""The aggregates of the rows of one person, by their SQL names."""


class PeopleExpressions(Expressions):
    """Reads the expressions of a SELECT that groups by the person."""

    def __init__(
        self,
        text: str,
        scope: Scope,
        person: str | None,
        parameters: dict[str, Literal],
        view: View | None = None,
        shared: SharedReading | None = None,
    ) -> None:
        super().__init__(text, scope, person, parameters, view, shared)
        self.gathered: list[OfAPerson] = []

    def release_name(self, node: exp.Expr) -> str | None:
        return next((name for name in self.names(node) if name in AGGREGATES), None) or super().release_name(node)

    def called(self, name: str, call: Call) -> Scalar:
        """What stands for an aggregate of the rows of a person; equal ones are one."""
        reading = AGGREGATES.get(name)
        if reading is None:
            names = ", ".join(sorted(AGGREGATES))
            raise call.refusal(
                Code.FUNCTION, f"{name} is not available for the rows of one person", f"there are {names}"
            )
        asked = reading(call, self.scope)
        if asked not in self.gathered:
            self.gathered.append(asked)
        return Key(self.gathered.index(asked), asked.type)


@dataclass(frozen=True, slots=True)
class PeopleOrigin:
    """Rows of people. Of all that was asked for inside only what is read outside is gathered."""

    name: str
    source: RowSource
    below: Scope
    people: PerPerson
    """Over rows that stand for those of the source, which are made once it is known what is read of them."""

    computed: tuple[tuple[Column, Scalar], ...]

    def scope(self, called: str) -> Scope:
        scope = people_scope(self.below, self.people, called)
        for column, value in self.computed:
            scope = with_column(scope, column, value)
        return scope

    def rows(self, read: Iterable[Column], person: str | None) -> Rows:
        asked = set(read)
        computed = [each for each in self.computed if each[0] in asked]
        asked = asked.union(*(columns_in(value) for _, value in computed))
        gathered = tuple(each for each in self.people.features if each.column in asked)
        values = [
            *self.source.conditions,
            *(value for _, value in self.people.keys),
            *(each.value for each in gathered),
        ]
        rows = self.source.origin.rows(set().union(*map(columns_in, values)), person)
        condition = joined(self.source.conditions)
        if condition is not None:
            rows = Filter(rows, condition)
        rows = replace(self.people, source=rows, features=gathered)
        for column, value in computed:
            rows = Computed(rows, column, value)
        return rows


class PeopleClauses(Clauses):
    """Reads a SELECT inside of another one that groups by the person."""

    read: PeopleExpressions

    def given(self, called: str) -> RowSource:
        """The rows of people that it gives, or raises QueryError."""
        select, read = self.select, self.read
        for name, (words, hint) in NEVER.items():
            if part := select.args.get(name):
                raise read.refusal(Code.SUBQUERY, f"{words} inside a sub-query is not available", hint, part)
        read.take(select, "with_", "from_", "joins", "where", "group", "having", "expressions")
        conditions = (*self.source.conditions, *conditions_of(read, select.args.get("where")))
        names = self._outputs()
        self._group(select.args["group"])
        if self.bins is not None:
            raise read.refusal(
                Code.COLLECTION,
                "HISTOGRAM of the rows of one person is not available",
                "write it in the outermost SELECT",
            )
        if self.levels:
            message = "ROLLUP, CUBE and GROUPING SETS of the rows of one person are not available"
            raise read.refusal(Code.GROUPING, message, "write them in the outermost SELECT", select.args["group"])
        having = self._having(select.args.get("having"))
        for item in self.items:
            if windows_in(item):
                raise read.refusal(
                    Code.WINDOW, "windows over people are not available", "use them in the outermost SELECT", select
                )
        people = self._people(names, replace(self.source, conditions=conditions), called)
        meanings = [self._over_people(item, people) for item in self.items]
        items = (Item(name, each, _columns(each)) for name, each in zip(names, meanings, strict=True))
        conditions = () if having is None else (self._over_people(having, people),)
        read_here = tuple(column for each in conditions for column in _columns(each))
        return RowSource(people.origin, called, View(called, tuple(items)), conditions, read_here)

    def _check_key(self, scalar: Scalar, node: exp.Expr) -> None:
        if not columns_in(scalar) or has_key(scalar):
            hint = "group by the person, and by columns or CASE bins of them"
            raise self.read.refusal(Code.CONSTANT, "a constant or an aggregate is no key", hint, node)

    def _name(self, item: Scalar) -> str:
        return self.read.gathered[item.index].heading if isinstance(item, Key) else super()._name(item)

    def _people(self, names: list[str], source: RowSource, called: str) -> "MadePeople":
        """Names for all that is gathered, those that were given first."""
        read, scope = self.read, self.read.scope
        who = scope.column(scope.own_named(read.person or ""))
        if who not in self.keys:
            raise _not_by_person(self.select, read)
        taken = {who.name.casefold()}
        keys = {}
        for key in self.keys:
            if key != who:
                keys[key] = Column(free_name(self._given_name(key, names), taken), type_of(key))
        columns: dict[OfAPerson, Column] = {}
        parts: dict[tuple[Summary, Scalar], Column] = {}
        for i, asked in enumerate(read.gathered):
            name = free_name(self._given_name(Key(i, asked.type), names), taken)
            columns[asked] = Column(name, asked.type)
            if isinstance(asked.made, Key):
                parts.setdefault((asked.parts[0].how, asked.parts[0].value), columns[asked])
        computed = []
        for asked, column in columns.items():
            inside = []
            for part in asked.parts:
                known = parts.get((part.how, part.value))
                if known is None:
                    known = Column(free_name(f"{part.called} of {column.name}", taken), part.type)
                    parts[part.how, part.value] = known
                inside.append(known)
            if not isinstance(asked.made, Key):
                computed.append((column, _replaced(asked.made, inside)))
            else:
                columns[asked] = inside[0]
        gathered = tuple(PersonFeature(column, how, value) for (how, value), column in parts.items())
        below = where(scope, *source.conditions)
        people = PerPerson(Rows(), who, tuple((column, key) for key, column in keys.items()), gathered)
        origin = PeopleOrigin(called, source, below, people, tuple(computed))
        return MadePeople(origin, who, keys, [columns[asked] for asked in read.gathered])

    def _given_name(self, item: Scalar, names: list[str]) -> str:
        """What an output is called that is this; else what it would be called."""
        return next((name for name, each in zip(names, self.items, strict=True) if each == item), self._name(item))

    def _over_people(self, scalar: Scalar, people: "MadePeople") -> Scalar:
        """An expression over rows of people; raises QueryError if a value of one of the rows below is left."""
        if scalar == people.who:
            return scalar
        if scalar in people.keys:
            return people.keys[scalar]
        if isinstance(scalar, Key):
            return people.columns[scalar.index]
        if isinstance(scalar, Column):
            message = f"column {quoted(scalar.name)} is neither a key nor inside an aggregate"
            raise self.read.refusal(Code.NOT_GROUPED, message, f"add it to GROUP BY, or use MAX({scalar.name})")
        return rebuilt(scalar, lambda each: self._over_people(each, people))


@dataclass(frozen=True, slots=True)
class MadePeople:
    """Rows of people, and the columns that keys and aggregates are there."""

    origin: Origin
    who: Column
    keys: dict[Scalar, Column]
    columns: list[Column]


def grouped(sources: Sources, select: exp.Select, source: RowSource, called: str) -> RowSource:
    """What a SELECT inside of another one gives that has GROUP BY: rows of people, or groups; or raises QueryError."""
    read = sources.reader(source, PeopleExpressions)
    if by_person(select, read):
        return PeopleClauses(select, read, source).given(called)
    return RowSource(ReleasedGroups(called, select, source, partial(_not_by_person, select, read)), called)


def by_person(select: exp.Select, read: Expressions) -> bool:
    """Whether a SELECT groups by the person: by the column itself, its name, its number, or by all that it shows."""
    group, items = select.args["group"], select.expressions
    aliases = {each.alias.casefold(): each.this for each in items if isinstance(each, exp.Alias)}
    nodes = list(items if group.args.get("all") else group.expressions)
    for node in nodes:
        if isinstance(node, exp.Literal) and node.name.isdigit() and 1 <= int(node.name[:4]) <= len(items):
            node = items[int(node.name[:4]) - 1]
        node = node.this if isinstance(node, exp.Alias) else node
        if isinstance(node, exp.Column) and not read.means_person(node.name):
            node = aliases.get(node.name.casefold(), node)
        if isinstance(node, exp.Column) and read.means_person(node.name):
            return True
    return False


def _not_by_person(select: exp.Select, read: Expressions) -> QueryError:
    """The refusal to gather, or to aggregate again, what is of several people."""
    if read.person is None:
        return read.refusal(
            Code.SUBQUERY,
            "GROUP BY inside a sub-query is not available where each row is about somebody else",
            "group in the outermost SELECT; HAVING, ORDER BY and arithmetic on aggregates work there",
            select.args["group"],
        )
    return read.refusal(
        Code.SUBQUERY,
        f"GROUP BY inside a sub-query needs {quoted(read.person)}: what groups of people give is not aggregated again",
        f"group by {read.person} there, which is one row for each, or group in the outermost SELECT;"
        " HAVING, ORDER BY and arithmetic on aggregates work there",
        select.args["group"],
    )


def _columns(scalar: Scalar) -> tuple[Column, ...]:
    return tuple(sorted(columns_in(scalar), key=lambda each: each.name))


def _replaced(scalar: Scalar, parts: list[Column]) -> Scalar:
    """What is made of parts, by the columns that these are."""
    return parts[scalar.index] if isinstance(scalar, Key) else rebuilt(scalar, lambda each: _replaced(each, parts))
