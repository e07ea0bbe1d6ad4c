"""Relations as SQL: from a scan to exact integer totals. How a person is found, capped and clipped is written here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch

from sqlglot import exp

from discreet.engines.render.cells import text_of_form
from discreet.engines.render.lists import Lists, in_a_long_list
from discreet.engines.render.masks import LAST, MASK, PERSON, last_slot, slot
from discreet.engines.render.means import mean_of
from discreet.engines.render.nodes import (
    TYPES,
    E,
    T,
    alias,
    bare_integer,
    binary,
    call,
    cast,
    chain,
    double,
    integer,
    is_null,
    named,
    select,
    subquery,
    table,
    when,
)
from discreet.engines.render.scalars import Made, ScalarWriter
from discreet.engines.render.stored import StoredTable, Text
from discreet.engines.render.words import Words
from discreet.errors import Fault
from discreet.plan.evaluate import largest
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    CapTotal,
    ClipNorm,
    Contributions,
    Exceeding,
    Extent,
    Filled,
    Filter,
    Gathered,
    How,
    Occurring,
    PerPerson,
    Rows,
    Scan,
    Term,
    Totals,
    Typed,
    base_of,
    contributions_of,
    keys_of,
    own_rows,
    terms_of,
)
from discreet.plan.scalar import Cast, Coalesce, Column, Indicator, IsNull, Literal, Not, Scalar, Type, type_of

SLACK = 1 + 2.0**-40  # more than all the roundings of a norm in doubles
MOST_BY_MASK = 16  # groups; for more of them the mask would not leave much out
HASH, ROWS, PRIORITY, FACTOR, IN_ALL = "hash", "rows", "priority", "factor", "in_all"


def key(index: int) -> str:
    return f"key{index}"


def total(index: int) -> str:
    return f"total{index}"


def join_people(sql: E, identifier: str, side: str | None = None) -> E:
    return exp.Join(this=subquery(sql, identifier), using=[exp.Identifier(this=PERSON, quoted=True)], side=side)


@dataclass(frozen=True, slots=True)
class Grouped:
    """What is known of a group's columns: by what it is grouped, and what leaves the engine."""

    grouped: E
    shown: E


@dataclass(frozen=True, slots=True)
class PeopleRows:
    """The rows that are about somebody, what tells people apart, and, where they are numbered, a hash of who they are.

    The hash is of the person's own value: what is kept of anyone depends on nobody else.
    """

    over: ScalarWriter
    base: E
    where: list[E]
    person: E
    hash: E | None


def sql_of(query: Totals, stored: Mapping[str, StoredTable], words: Words) -> str:
    """The text for a query; the salt is the parameter `salt`."""
    return text_of(query, stored, words).sql


def text_of(query: Totals, stored: Mapping[str, StoredTable], words: Words, sliced: bool = False) -> Text:
    """The text for a query; `sliced`: over the people, or the rows, from number `low` to below `high`, to be added up over all of them."""
    writer = Writer(stored, words, sliced, by_rows=sliced and isinstance(query.source, Rows))
    sql = writer.totals(query)
    return writer.written(sql)


def priorities(query: Totals, stored: Mapping[str, StoredTable], words: Words, of: int | None = None) -> Text:
    """The text that lists each person, all keys of each of their groups or the first few, and the priority of the person there."""
    writer, contributions = Writer(stored, words), contributions_of(query.source)
    sql = writer.listed(replace(contributions, keys=contributions.keys[:of]))
    return writer.written(sql)


@dataclass(slots=True)
class Writer:
    """Writes one query, and remembers the parameters that it used."""

    stored: Mapping[str, StoredTable]
    words: Words
    sliced: bool = False
    parameters: set[str] = field(default_factory=set)
    by_rows: bool = False  # it is rows that are sliced, and no people
    lists: Lists = field(default_factory=dict)

    def written(self, sql: E) -> Text:
        return Text(self.words.text(sql), frozenset(self.parameters), self.lists)

    def totals(self, query: Totals) -> E:
        source = query.source
        if isinstance(source, Rows):
            over, base, where = rows_of(source, self)
            groups = [grouped_key(each, over) for each in query.keys]
            columns = [alias(each.shown, key(i)) for i, each in enumerate(groups)]
            columns += [alias(sum_of(term.value, over), total(i)) for i, term in enumerate(query.terms)]
            return select(columns, over.over(base), where=where, group=[each.grouped for each in groups])
        keys = [named(key(i)) for i in range(len(keys_of(query)))]
        columns = [alias(self.shown(source, i, each), key(i)) for i, each in enumerate(keys_of(query))]
        columns += [alias(_total(named(total(i))), total(i)) for i in range(len(terms_of(query)))]
        return select(columns, subquery(people_of(source, self), "people"), group=keys)

    def of_people(self, contributions: Contributions | PerPerson) -> PeopleRows:
        over, base, where = rows_of(contributions.source, self)
        stored = self.stored[base_of(contributions).table]
        if stored.number is None or stored.person != contributions.person.name:
            person = over.clean(contributions.person).sql
            where.append(exp.Paren(this=exp.Not(this=is_null(person.copy()))))
            return PeopleRows(over, base, where, person, None)
        number = named(stored.number)
        if self.sliced:
            where += self.slice(number, T.INT)
        else:
            where.append(exp.Paren(this=exp.Not(this=is_null(number.copy()))))
        return PeopleRows(over, base, where, number, named(stored.hash))

    def numbered(self, contributions: Contributions) -> bool:
        """Whether the engine has numbered these people, and has a hash of each."""
        stored = self.stored[base_of(contributions).table]
        return stored.number is not None and stored.person == contributions.person.name

    def slice(self, number: E, type: T) -> list[E]:
        self.parameters |= {"low", "high"}
        low, high = self.words.parameter("low", type), self.words.parameter("high", type)
        return [binary(exp.GTE, number.copy(), low), binary(exp.LT, number.copy(), high)]

    def priority(self, hashed: E, keys: list[E]) -> E:
        """The priority of a person, by their hash, in a group."""
        self.parameters.add("salt")
        return self.words.priority(hashed, [each.copy() for each in keys], self.words.parameter("salt"))

    def priority_of_group(self, contributions: Contributions, of: int | None = None) -> E:
        """The priority of a person in a group, or where its first few keys are the same, from the columns of the group."""
        keys = [self.shown(contributions, i, each) for i, each in enumerate(contributions.keys[:of])]
        return self.priority(named(HASH) if self.numbered(contributions) else self.words.hash64(named(PERSON)), keys)

    def shown(self, relation: Gathered | Occurring, index: int, scalar: Scalar) -> E:
        """A key of what is grouped by it, as it leaves the engine."""
        people = any(isinstance(each, PerPerson) for each in own_rows(relation))  # which gives texts as they are
        forms = {} if people else self.stored[base_of(relation).table].kept
        if isinstance(scalar, Column) and scalar.type is Type.TEXT and scalar.place in forms:
            return text_of_form(forms[scalar.name], named(key(index)), self.words)
        return named(key(index))

    def listed(self, contributions: Contributions) -> E:
        over, base, where = rows_of(contributions.source, self)
        person = over.clean(contributions.person).sql
        where.append(exp.Paren(this=exp.Not(this=is_null(person.copy()))))
        keys = [grouped_key(each, over).shown for each in contributions.keys]
        columns = [person, *keys, self.priority(self.words.hash64(person.copy()), keys)]
        named_columns = [alias(each, f"c{i}") for i, each in enumerate(columns)]
        return select(named_columns, over.over(base), where=where, group=[each.copy() for each in columns])

    def contributed(self, contributions: Contributions, caps: bool) -> E:
        """One row for each person and group; for caps with the number of rows there and, if people are numbered, with the hash."""
        people = self.of_people(contributions)
        columns, group = self.columns(contributions, people, caps)
        return select(columns, people.over.over(people.base), where=people.where, group=group)

    def columns(self, contributions: Contributions, people: PeopleRows, caps: bool) -> tuple[list[E], list[E]]:
        """The columns of contributions, and by what they are grouped. To be made before what they are selected from."""
        keys = [grouped_key(each, people.over) for each in contributions.keys]
        columns = [alias(people.person, PERSON), *(alias(each.grouped, key(i)) for i, each in enumerate(keys))]
        group = [people.person.copy(), *(each.grouped.copy() for each in keys)]
        if caps:
            columns.append(alias(call("count", exp.Star()), ROWS))
        if caps and people.hash is not None:  # as one more key, which is cheaper than an aggregate
            columns.append(alias(people.hash, HASH))
            group.append(people.hash.copy())
        columns += [alias(_aggregate(term, people.over), total(i)) for i, term in enumerate(contributions.terms)]
        return columns, group

    def capped(
        self, contributions: Contributions, source: E, most: int, rows: bool = False, beside: tuple[str, ...] = ()
    ) -> E:
        """Capped sums: with s = q·n + r, 0 <= r < n, floor((s·most + u)/n) is q·most + floor((r·most + u)/n), where nothing overflows.

        With `rows` also as how many rows they count; columns that stand beside them stay.
        """
        words, n, limit = self.words, named(ROWS), integer(most)
        replaced: dict[str, E] = {}
        for i, term in enumerate(contributions.terms):
            if term.how is not How.SUM:
                continue
            s = named(total(i))
            r = words.remainder(binary(exp.Add, words.remainder(s, n), n), n)
            q = words.int_div(binary(exp.Sub, s, r), n)
            u = words.modulo(self.priority_of_group(contributions), n)
            rest = words.int_div(binary(exp.Add, binary(exp.Mul, r, limit), u), n)
            many = binary(exp.GT, n, limit)
            replaced[total(i)] = when([(many, binary(exp.Add, binary(exp.Mul, q, limit), rest))], s)
        if rows:
            replaced[ROWS] = call("least", n, limit)
        names = [PERSON, *_names(contributions), ROWS, *([HASH] if self.numbered(contributions) else []), *beside]
        return select(words.replaced(names, replaced), subquery(source, "contributions"))

    def chosen(self, relation: CapGroups, rows: bool = False) -> E:
        """Only people in more than `most` groups are ranked: by their priorities, then by the keys, so that a tie keeps no more.

        To rank few groups a mask is made first for each person, with a bit for each of 63 intervals of priorities. What lies in an
        interval above the first `most` that are taken cannot be kept, and is left out before anything is grouped.
        """
        contributions = contributions_of(relation.source)
        if not contributions.keys:
            return people_of(relation.source, self, rows)
        candidates = self.candidates(contributions, relation.most)
        if isinstance(relation.source, CapRows):
            candidates = self.capped(contributions, candidates, relation.source.most, rows)
        names = [PERSON, *_names(contributions), *([ROWS] if rows else [])]
        over_most = binary(exp.GT, call("count", exp.Star()), bare_integer(relation.most))
        many = select([named(PERSON)], table("candidates"), group=[named(PERSON)], having=over_most)
        keys = [self.shown(contributions, i, each) for i, each in enumerate(contributions.keys)]
        order = [self.priority_of_group(contributions), *keys]
        ranked = exp.Window(
            this=call("row_number"),
            partition_by=[named(PERSON)],
            order=exp.Order(expressions=[exp.Ordered(this=each, nulls_first=False) for each in order]),
        )
        few = exp.Not(this=exp.In(this=named(PERSON), query=exp.Subquery(this=select([named(PERSON)], table("many")))))
        both = exp.Union(
            this=select([*map(named, names)], table("candidates"), where=[few]),
            expression=self.words.first(
                names,
                table("candidates"),
                exp.Join(this=table("many"), using=[exp.Identifier(this=PERSON, quoted=True)]),
                ranked,
                relation.most,
            ),
            distinct=False,
        )
        return self.words.with_tables(both, candidates=candidates, many=many)

    def candidates(self, contributions: Contributions, most: int) -> E:
        """The contributions of people to groups that may be kept."""
        people = self.of_people(contributions)
        priority = people.over.prefix + PRIORITY
        mask = self.words.bit_or(slot(priority, self.words))
        if mask is None or most > MOST_BY_MASK:
            return self.contributed(contributions, caps=True)
        columns, group = self.columns(contributions, people, caps=True)
        hashed = people.hash or self.words.hash64(people.person)
        order = self.priority(hashed.copy(), [grouped_key(each, people.over).shown for each in contributions.keys])
        # beside the columns of the table
        person, bit = people.over.prefix + PERSON, people.over.prefix + LAST
        rows = select([exp.Star(), alias(order, priority)], people.over.over(people.base), where=people.where)
        masks = select(
            [alias(people.person.copy(), PERSON), alias(mask, MASK)],
            subquery(rows, "rows"),
            group=[people.person.copy()],
        )
        on = exp.EQ(this=people.person.copy(), expression=named(person))
        join = exp.Join(this=subquery(last_slot(masks, most, people.over.prefix), "last"), on=on, side="left")
        possible = binary(exp.Or, is_null(named(bit)), binary(exp.LTE, slot(priority, self.words), named(bit)))
        return select(columns, subquery(rows.copy(), "rows"), join=join, where=[possible], group=group)

    def scaled(self, relation: CapTotal) -> E:
        """Only people with more rows are joined. With s = q·n + r, all of one sign, s·most/n is q·most + r·most/n, each truncated, where
        q is at most the steps of a row and r less than all rows of a table: nothing overflows.
        """
        contributions, words = contributions_of(relation), self.words
        n, limit = named(IN_ALL), integer(relation.most)
        in_all = _total(named(ROWS))
        more = binary(exp.GT, in_all.copy(), limit.copy())
        beyond = select([named(PERSON), alias(in_all, IN_ALL)], table("kept"), group=[named(PERSON)], having=more)
        columns = [named(PERSON), *(named(key(i)) for i in range(len(contributions.keys)))]
        for i, term in enumerate(contributions.terms):
            s = named(total(i))
            if term.how is not How.SUM:
                columns.append(s)
                continue
            whole = binary(exp.Mul, words.int_div(s, n), limit)
            rest = words.int_div(binary(exp.Mul, words.remainder(s, n), limit), n)
            columns.append(alias(when([(is_null(n), s)], binary(exp.Add, whole, rest)), total(i)))
        joined_people = select(columns, table("kept"), join=join_people(beyond, "beyond", "left"))
        return words.with_tables(joined_people, kept=people_of(relation.source, self, rows=True))

    def clipped(self, relation: ClipNorm) -> E:
        """Only people who are shortened are joined. The squares are added up as integers, so that their order does not matter."""
        contributions = contributions_of(relation.source)
        names = [named(each) for each in _names(contributions)]
        narrow = self.narrow(relation.source)
        factors, beyond = [], []
        for i, limit in enumerate(relation.limits):
            square = self.words.sum_of_squares(named(total(i)), narrow)
            norm = binary(exp.Mul, call("sqrt", cast(square, T.DOUBLE)), double(SLACK))
            factors.append(binary(exp.Div, double(float(limit)), norm))
            beyond.append(binary(exp.GT, square.copy(), self.words.wide(bare_integer(limit * limit))))
        factor = alias(call("least", *factors), FACTOR)
        long = select([named(PERSON), factor], table("groups"), group=[named(PERSON)], having=chain(exp.Or, beyond))
        columns = [named(PERSON), *names[: len(contributions.keys)]]
        for i in range(len(contributions.terms)):
            short = self.words.truncated(binary(exp.Mul, cast(named(total(i)), T.DOUBLE), named(FACTOR)))
            branch = (is_null(named(FACTOR)), named(total(i)))
            columns.append(alias(when([branch], short), total(i)))
        joined_people = select(columns, table("groups"), join=join_people(long, "long", "left"))
        return self.words.with_tables(joined_people, groups=people_of(relation.source, self))

    def exceeding(self, relation: Exceeding) -> E:
        """For each person what they have, then for each rung whether that is more."""
        whole = {
            Extent.ROWS: _total(named(ROWS)),
            Extent.ROWS_IN_A_GROUP: _total(named(ROWS), "max"),
            Extent.GROUPS: cast(call("count", exp.Star()), T.BIGINT),
        }[relation.extent]
        counted = subquery(people_of(relation.source, self, rows=True), "counted")
        each = select([named(PERSON), alias(whole, IN_ALL)], counted, group=[named(PERSON)])
        more = (binary(exp.GT, named(IN_ALL), integer(rung)) for rung in relation.rungs)
        columns = [alias(when([(one, integer(1))], integer(0)), total(i)) for i, one in enumerate(more)]
        return select([named(PERSON), *columns], subquery(each, "each"))

    def narrow(self, relation: Contributions | CapRows | CapTotal) -> bool:
        """Whether the square of a total surely fits 64 bits: with at most so many rows, of so many steps each."""
        if not isinstance(relation, CapRows | CapTotal):
            return False
        return all(relation.most * largest(term.value) < 1 << 31 for term in contributions_of(relation).terms)


@singledispatch
def rows_of(relation: Rows, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    """The rows of a relation: expressions over its columns, what they are selected from, and the conditions."""
    raise Fault(f"{type(relation).__name__} cannot be rendered", code="relation")


@rows_of.register
def _scan(relation: Scan, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    stored = writer.stored[relation.table]
    columns = {}
    for column in relation.columns:
        form, sql = stored.kept.get(column.name), named(column.name)
        cell = Made(sql) if form is None else Made(text_of_form(form, sql, writer.words), 2, form=named(column.name))
        columns[column.place] = cell
    base = table(stored.table)
    if writer.by_rows:
        base = subquery(select([exp.Star()], base, where=writer.slice(writer.words.row_number(), T.BIGINT)), "slice")
    return ScalarWriter(columns, writer.words), base, []


@rows_of.register
def _typed(relation: Typed, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    over, base, where = rows_of(relation.source, writer)
    typed = {each.place: over.clean(Cast(replace(each, type=Type.TEXT), each.type)) for each in relation.columns}
    return replace(over, columns={**over.columns, **typed}), base, where


@rows_of.register
def _filled(relation: Filled, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    over, base, where = rows_of(relation.source, writer)
    filled = {column.place: over.clean(Coalesce((column, value))) for column, value in relation.values}
    return replace(over, columns={**over.columns, **filled}), base, where


@rows_of.register
def _filter(relation: Filter, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    over, base, where = rows_of(relation.source, writer)
    condition = in_a_long_list(relation.condition, over, writer.lists)
    return over, base, [*where, over.clean(relation.condition).sql if condition is None else condition]


@singledispatch
def people_of(relation: Gathered | Occurring, writer: Writer, rows: bool = False) -> E:
    """One row for each person and group that counts: the person, the keys, and the totals; with `rows` as how many rows they count."""
    raise Fault(f"{type(relation).__name__} cannot be rendered", code="relation")


@people_of.register
def _contributions(relation: Contributions, writer: Writer, rows: bool = False) -> E:
    return writer.contributed(relation, caps=rows)


@people_of.register
def _cap_rows(relation: CapRows, writer: Writer, rows: bool = False) -> E:
    source = relation.source
    return writer.capped(source, writer.contributed(source, caps=True), relation.most, rows)


@people_of.register
def _cap_groups(relation: CapGroups, writer: Writer, rows: bool = False) -> E:
    return writer.chosen(relation, rows)


@people_of.register
def _cap_total(relation: CapTotal, writer: Writer, rows: bool = False) -> E:
    return writer.scaled(relation)


@people_of.register
def _exceeding(relation: Exceeding, writer: Writer, rows: bool = False) -> E:
    return writer.exceeding(relation)


@people_of.register
def _clip_norm(relation: ClipNorm, writer: Writer, rows: bool = False) -> E:
    return writer.clipped(relation)


def _names(contributions: Contributions) -> list[str]:
    return [key(i) for i in range(len(contributions.keys))] + [total(i) for i in range(len(contributions.terms))]


def grouped_key(scalar: Scalar, over: ScalarWriter) -> Grouped:
    """A text that is kept in another form is grouped by that; a date leaves the engine as days since 1970, a moment as microseconds."""
    sql = over.clean(scalar).sql
    form = over.columns[scalar.place].form if isinstance(scalar, Column) else None
    if form is not None:
        return Grouped(form.copy(), sql)
    if type_of(scalar) in (Type.DATE, Type.TIMESTAMP):
        number = over.words.days(sql) if type_of(scalar) is Type.DATE else over.words.micros(sql)
        return Grouped(number, number.copy())
    if isinstance(scalar, Literal):  # which a position in GROUP BY could be taken for
        sql = cast(sql, TYPES[scalar.type])
    return Grouped(sql, sql.copy())


def _aggregate(term: Term, over: ScalarWriter) -> E:
    match term.how:
        case How.SUM:
            return sum_of(term.value, over)
        case How.ANY:
            return _total(over.clean(term.value).sql, "max")
        case How.MEAN:
            return mean_of(term, over)


def sum_of(scalar: Scalar, over: ScalarWriter) -> E:
    """The sum of a term over rows, as int64. Counts are counted, which is the cheapest."""
    match scalar:
        case Literal(value=1):
            return cast(call("count", exp.Star()), T.BIGINT)
        case Indicator(condition=Not(operand=IsNull(operand=operand))):
            return cast(call("count", over.clean(operand).sql), T.BIGINT)
        case Indicator(condition=condition):
            branch = (over.clean(condition).sql, integer(1))
            return cast(call("count", when([branch])), T.BIGINT)
    return _total(over.clean(scalar).sql)


def _total(sql: E, how: str = "sum") -> E:
    """A sum as int64: an engine would return a wider integer, and a reader would take it for a float."""
    return cast(call("coalesce", call(how, cast(sql, T.BIGINT)), integer(0)), T.BIGINT)
