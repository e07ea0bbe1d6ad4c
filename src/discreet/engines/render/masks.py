"""Masks of priorities: to keep few of a person's groups, a bit for each of 63 intervals tells which of them are taken."""

from sqlglot import exp

from discreet.engines.render.nodes import (
    E,
    T,
    alias,
    bare_integer,
    binary,
    call,
    cast,
    integer,
    named,
    select,
    subquery,
)
from discreet.engines.render.words import Words

PERSON, MASK, LAST = "person", "mask", "last"
SLOTS = 63
"""Bits of a mask, each for the priorities of one interval."""


def slot(priority: str, words: Words) -> E:
    """The bit of the interval, of 64, that a priority lies in; it grows with the priority."""
    interval = cast(exp.BitwiseRightShift(this=named(priority), expression=bare_integer(words.bits - 6)), T.INT)
    return exp.Paren(
        this=exp.BitwiseLeftShift(this=integer(1), expression=call("least", interval, bare_integer(SLOTS - 1)))
    )


def last_slot(masks: E, most: int, prefix: str) -> E:
    """For people with more than `most` intervals taken, the bit of the last one that can be kept."""
    for _ in range(most - 1):  # the lowest bit of what is left is taken away
        masks = select([named(PERSON), alias(_rest(), MASK)], subquery(masks, "masks"))
    lowest = exp.Paren(this=exp.BitwiseAnd(this=named(MASK), expression=exp.Paren(this=exp.Neg(this=named(MASK)))))
    more = binary(exp.NEQ, _rest(), integer(0))
    columns = [alias(named(PERSON), prefix + PERSON), alias(lowest, prefix + LAST)]
    return select(columns, subquery(masks, "masks"), where=[more])


def _rest() -> E:
    return exp.Paren(this=exp.BitwiseAnd(this=named(MASK), expression=binary(exp.Sub, named(MASK), integer(1))))
