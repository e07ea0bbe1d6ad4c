"""Values that occur as SQL: which of a person's are kept, and how many there are in each group. No value leaves the engine."""

from sqlglot import exp

from discreet.engines.render.masks import PERSON
from discreet.engines.render.nodes import E, T, alias, bare_integer, binary, call, cast, named, select, subquery
from discreet.engines.render.relations import HASH, ROWS, Writer, grouped_key, key, people_of, rows_of, total
from discreet.engines.render.words import RANK
from discreet.plan.relation import Contributions, KeepKeys, Occurring, Rows, contributions_of, paired_keys


@people_of.register
def _keep_keys(relation: KeepKeys, writer: Writer, rows: bool = False) -> E:
    """Combinations of the first keys are ranked by their priorities, then by themselves: what has one rank has the same keys."""
    contributions, source = contributions_of(relation), relation.source
    below = writer.contributed(source, caps=True) if isinstance(source, Contributions) else people_of(source, writer)
    names = [PERSON, *(key(i) for i in range(len(contributions.keys)))]
    names += [total(i) for i in range(len(contributions.terms))]
    names += [ROWS, *([HASH] if writer.numbered(contributions) else [])]
    order = [writer.priority_of_group(contributions, relation.of)]
    order += [writer.shown(contributions, i, each) for i, each in enumerate(contributions.keys[: relation.of])]
    rank = exp.Window(
        this=call("dense_rank"),
        partition_by=[named(PERSON), *(named(key(i)) for i in range(relation.within))],
        order=exp.Order(expressions=[exp.Ordered(this=each, nulls_first=False) for each in order]),
    )
    ranked = select([*map(named, names), alias(rank, RANK)], subquery(below, "gathered"))
    few = binary(exp.LTE, named(RANK), bare_integer(relation.most))
    return select([*map(named, names)], subquery(ranked, "ranked"), where=[few])


@people_of.register
def _occurring(relation: Occurring, writer: Writer, rows: bool = False) -> E:
    """Each group and value once, then one row for each group."""
    keys = [named(key(i)) for i in range(len(paired_keys(relation)))]
    groups = keys[:-1]
    pairs = select([each.copy() for each in keys], subquery(_keys(relation, writer), "kept"), group=keys)
    count = alias(cast(call("count", exp.Star()), T.BIGINT), total(0))
    return select([*groups, count], subquery(pairs, "pairs"), group=[each.copy() for each in groups])


def _keys(relation: Occurring, writer: Writer) -> E:
    """The keys of all that a unit has, and that is kept of it."""
    if not isinstance(relation.source, Rows):
        return people_of(relation.source, writer)
    over, base, where = rows_of(relation.source, writer)
    columns = [alias(grouped_key(each, over).grouped, key(i)) for i, each in enumerate(relation.keys)]
    return select(columns, over.over(base), where=where)
