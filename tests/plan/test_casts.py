"""Casts are written once: a question may hold those that have a meaning, and a refusal names only such."""

import re
from fractions import Fraction
from itertools import product

import pytest

from discreet.errors import QueryError
from discreet.plan.casts import CASTS
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.private import plan_for
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.plan.sql.values import WORDS

NAMES = {
    Type.INTEGER: "age",
    Type.NUMBER: "cost",
    Type.TEXT: "ward",
    Type.DATE: "admitted",
    Type.TIMESTAMP: "departs",
    Type.BOOLEAN: "insured",
}
CATALOG = Catalog((Table("visits", tuple(Column(name, kind) for kind, name in NAMES.items())),), Protected())


def cast(given: Type, word: str) -> None:
    question(f"SELECT COUNT(CAST({NAMES[given]} AS {word})) FROM visits", CATALOG)


@pytest.mark.parametrize(("given", "wanted"), list(product(Type, Type)), ids=lambda each: each.value)
def test_a_cast_is_read_where_it_has_a_meaning_and_a_refusal_names_those_that_have(given: Type, wanted: Type) -> None:
    if (given, wanted) in CASTS:
        cast(given, WORDS[wanted])
        return
    with pytest.raises(QueryError, match="cannot be cast") as refused:
        cast(given, WORDS[wanted])
    offered = re.findall(r"CAST\(… AS (\w+)\)", refused.value.hint)
    assert refused.value.code == "types" and offered
    for word in offered:
        cast(given, word)


@pytest.mark.parametrize("word", ["INTEGER", "DOUBLE"])
def test_a_flag_cast_to_a_number_is_summed_without_declared_bounds(word: str) -> None:
    plan = plan_for(question(f"SELECT SUM(CAST(insured AS {word})) AS n FROM visits", CATALOG), CATALOG, 1)
    (measurement,) = plan.measurements
    assert measurement.sensitivity * measurement.step == Fraction(1)
