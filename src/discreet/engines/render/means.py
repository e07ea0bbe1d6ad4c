"""The mean of a person's rows, in whole steps, as SQL."""

from sqlglot import exp

from discreet.engines.render.nodes import E, T, binary, call, cast, integer, when
from discreet.engines.render.scalars import ScalarWriter
from discreet.errors import Fault
from discreet.plan.evaluate import steps_of
from discreet.plan.relation import Term
from discreet.plan.scalar import Steps


def mean_of(term: Term, over: ScalarWriter) -> E:
    """floor(Σ(y − low)/n + 1/2) + low, for n rows with a y, none of which is below low. In wide integers: 2Σ + n might not fit 64 bits."""
    if not isinstance(term.value, Steps):
        raise Fault("the mean of a person is of steps", code="relation")
    steps, words = over.shared(over.clean(term.value)).sql, over.words
    low, n = steps_of(term.value.low, term.value), words.wide(call("count", steps.copy()))
    above = binary(
        exp.Sub, words.wide(call("sum", cast(steps.copy(), T.BIGINT))), binary(exp.Mul, n, words.wide(integer(low)))
    )
    twice = binary(exp.Mul, n.copy(), words.wide(integer(2)))
    rounded = words.int_div(binary(exp.Add, binary(exp.Mul, above, words.wide(integer(2))), n.copy()), twice)
    nobody = binary(exp.EQ, call("count", steps.copy()), integer(0))
    return when([(nobody, integer(0))], cast(binary(exp.Add, rounded, words.wide(integer(low))), T.BIGINT))
