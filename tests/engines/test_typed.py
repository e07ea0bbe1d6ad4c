"""Texts that are read as numbers, dates and booleans: every engine reads the same, whatever is written there."""

import random
from contextlib import nullcontext
from itertools import product

import pytest

from discreet.engines.base import Data
from discreet.plan.relation import Contributions, Filter, How, Scan, Term, Totals, Typed
from discreet.plan.scalar import Column, Comparison, Indicator, IsNull, Literal, Not, Order, Steps, Type
from tests.engines.twins import agree, arranged
from tests.scale import repeats

CELLS = [
    None,
    "",
    " 7 ",
    "7",
    "7.0",
    "-0",
    "1e3",
    "1e999",
    "nan",
    "inf",
    "0x10",
    "2024-02-29",
    "2023-02-29",
    "2024-03-01T23:59:59Z",
    "yes",
    "TRUE",
    "0",
    "off",
    "é",
    "7,5",
    "'",
]
PERSON, CELL = Column("who", Type.TEXT), Column("cell", Type.TEXT)


def queries(kind: Type) -> list[Totals]:
    cell = Column("cell", kind)
    rows = Typed(Scan("t", (CELL, PERSON)), (cell,))
    there = Term(How.SUM, Indicator(Not(IsNull(cell))))
    found = [
        Totals(rows, (cell,), (there,)),
        Totals(Contributions(rows, PERSON, (cell,), (there,))),
        Totals(Contributions(Filter(rows, Not(IsNull(cell))), PERSON, (), (Term(How.ANY, Literal(1, Type.INTEGER)),))),
    ]
    if kind is Type.NUMBER:
        small = Filter(rows, Comparison(Order.LESS, cell, Literal(100.0, Type.NUMBER)))
        found.append(Totals(Contributions(small, PERSON, (), (Term(How.SUM, Steps(cell, -9.0, 9.0, 4, 0.0)), there))))
        return [each for each in found if each.keys != (cell,)]
    return found


@pytest.mark.parametrize("kind", [Type.NUMBER, Type.DATE, Type.BOOLEAN])
def test_engines_agree_on_what_texts_are_read_as(kind: Type) -> None:
    draw = random.Random(kind.value)
    for arrangement, _ in product((nullcontext, arranged), range(repeats(3))):
        cells = [*CELLS, *draw.choices(CELLS, k=40)]
        who = [draw.choice(["a", "b", "c", None]) for _ in cells]
        data = [Data("t", {"who": who, "cell": cells}, (PERSON, CELL), person="who")]
        with arrangement():
            agree(data, queries(kind))
