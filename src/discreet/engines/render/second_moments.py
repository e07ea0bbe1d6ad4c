"""Products of what people give to two sums, as SQL: in coarser steps first, so that no product is wide."""

from sqlglot import exp

from discreet.engines.render.masks import PERSON
from discreet.engines.render.nodes import E, T, alias, binary, cast, integer, named, select, subquery
from discreet.engines.render.relations import Writer, key, people_of, total
from discreet.plan.relation import SecondMoments, contributions_of


@people_of.register
def _second_moments(relation: SecondMoments, writer: Writer, rows: bool = False) -> E:
    keys = [named(key(i)) for i in range(len(contributions_of(relation).keys))]
    products = [
        cast(binary(exp.Mul, _steps(relation, one, writer), _steps(relation, other, writer)), T.BIGINT)
        for one, other in relation.pairs
    ]
    columns = [alias(each, total(i)) for i, each in enumerate(products)]
    return select([named(PERSON), *keys, *columns], subquery(people_of(relation.source, writer), "multiplied"))


def _steps(relation: SecondMoments, place: int, writer: Writer) -> E:
    """floor((t + d/2)/d) for d = 2^shift: what is left over is taken away first, so that engines divide without a rest."""
    t, divisor, words = named(total(place)), 1 << relation.shifts[place], writer.words
    if divisor == 1:
        return t
    d = integer(divisor)
    more = binary(exp.Add, t, integer(divisor // 2))
    rest = words.remainder(binary(exp.Add, words.remainder(more, d), d), d)
    return words.int_div(binary(exp.Sub, more, rest), d)
