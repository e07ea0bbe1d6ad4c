"""Limits that nobody declared: an answer says first what they leave out, and nothing else changes by it."""

import itertools
from fractions import Fraction

import pytest

from discreet.answer import Preview
from discreet.curator.declaration import protected
from discreet.plan.catalog import LIMITS, Catalog, Column, Protected, Table
from discreet.plan.check import digest
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.scalar import Type
from discreet.plan.sql import question

COLUMNS = (
    Column("who", Type.TEXT),
    Column("x", Type.INTEGER, Fraction(0), Fraction(9)),
    Column("few", Type.TEXT, keys=("a", "b")),
    Column("many", Type.TEXT, keys=tuple("abcdefg")),
)
APPLIED = {  # the limits that leave something out in each kind of question
    "SELECT COUNT(*) FROM t": {"max_rows"},
    "SELECT AVG(x) FROM t": {"max_rows"},
    "SELECT COUNT(DISTINCT who) FROM t": set(),
    "SELECT few, SUM(x) FROM t GROUP BY few": {"max_rows"},
    "SELECT many, COUNT(DISTINCT who) FROM t GROUP BY many": {"max_groups"},
    "SELECT many, COUNT(*) FROM t GROUP BY many": {"max_rows", "max_groups"},
}
DECLARED = [set(names) for size in range(3) for names in itertools.combinations(sorted(LIMITS), size)]
VALUES = {"max_groups": 3, "max_rows": 5}


def plan(text: str, of: Protected) -> Plan:
    catalog = Catalog((Table("t", COLUMNS),), of)
    return plan_for(question(text, catalog), catalog, Fraction(1), Fraction(1, 10**6))


@pytest.mark.parametrize("clip", ["groups", "l2"])
@pytest.mark.parametrize("declared", DECLARED, ids=lambda names: " and ".join(sorted(names)) or "none")
@pytest.mark.parametrize("text", APPLIED)
def test_a_limit_that_nobody_declared_is_said_first_where_it_leaves_something_out(
    text: str, declared: set[str], clip: str
) -> None:
    found = plan(text, protected("who", clip=clip, **{name: VALUES[name] for name in declared}))
    applied = APPLIED[text] | ({"max_groups"} if clip == "l2" and "GROUP BY" in text else set())
    assert {note.split(":")[0] for note in found.assumed} == {f"nobody declared {name}" for name in applied - declared}
    assert Preview.make(found, text=text).notes[: len(found.assumed)] == found.assumed
    said = [line for line in found_lines(found) if line.startswith("note: ")]
    assert said == [f"note: {note}" for note in (*found.assumed, *found.notes)]


def found_lines(found: Plan) -> list[str]:
    return Preview.make(found, text="").explain().splitlines()


@pytest.mark.parametrize("text", APPLIED)
def test_whether_a_limit_was_declared_changes_no_plan_and_no_price(text: str) -> None:
    said, silent = plan(text, protected("who", **VALUES)), plan(text, protected("who"))
    assert digest(said) == digest(silent) and said.event == silent.event and said.notes == silent.notes
    assert said.assumed == ()


def test_rows_by_themselves_have_no_limits() -> None:
    assert all(not plan(text.replace("DISTINCT who", "x"), protected(row=True)).assumed for text in APPLIED)
