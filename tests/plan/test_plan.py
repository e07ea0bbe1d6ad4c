"""The planner keeps its laws, and the golden questions become what they became."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction as F

import pytest

from discreet.errors import Fault
from discreet.plan.check import digest
from discreet.plan.measurement import Measurement
from discreet.plan.plan import Plan, Stage
from discreet.plan.question import Aggregate
from discreet.plan.releases.total import COUNT, Count, Total
from discreet.plan.written import RECORDS, notation
from tests.golden import plans
from tests.plan import laws
from tests.plan.made import restaged
from tests.scale import repeats


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_the_planner_keeps_its_laws(law: Callable[[], None]) -> None:
    law()


def test_no_neighbour_moves_more_in_a_longer_search() -> None:
    laws.no_neighbour_moves_more(repeats(60))


def test_golden_questions_become_what_they_became() -> None:
    """`python -m tests.golden` writes the file anew."""
    assert len(plans.questions()) >= 80
    assert plans.written() == plans.FILE.read_bytes().decode("utf-8")  # as it is: the SQL holds carriage returns


def test_plans_keep_their_names() -> None:
    names_are_kept(plans.digests())


def names_are_kept(names: dict[str, str]) -> None:
    """Ledgers know kept answers by them. What is planned where it was refused before has a name; what had one keeps it."""
    kept = plans.kept_digests()
    assert len(kept) >= 600 and names.keys() == kept.keys()
    for what, name in kept.items():
        assert names[what] == name or name.startswith("refused"), what


def test_names_do_not_depend_on_how_objects_show_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in RECORDS:
        monkeypatch.setattr(kind, "__repr__", lambda self: "?")
    names_are_kept(plans.digests(plans.made))  # planned anew


def test_every_field_is_in_the_name() -> None:
    """A field that was forgotten would give two plans one name, and the answer to one question for another."""
    for kind, words in RECORDS.items():
        assert words.split()[1:] == [each.name for each in fields(kind) if each.compare], kind
    one = laws.planned("SELECT g, SUM(y), AVG(x) FROM t GROUP BY g", laws.PERSON)
    other = laws.planned("SELECT x, SUM(far) FROM t GROUP BY x", laws.turned(laws.ROW), 2, F(1, 10**6))
    names = {digest(one)}
    of_measurements = [each for each in fields(Measurement) if each.compare]
    for each in of_measurements:
        (first, *rest), value = one.measurements, getattr(other.measurements[0], each.name)
        changed = replace(first, **{each.name: "other" if each.name == "said" else value})
        names.add(digest(restaged(one, measurements=(changed, *rest))))
    # that readings and levels are in the name is seen in test_readings and test_levels, by plans that have some
    parts = [each.name for each in fields(Stage) if each.name not in ("notes", "readings", "levels", "cells")]
    names |= {digest(restaged(one, **{name: getattr(other.decided, name)})) for name in parts}
    values = {"people": 5, "delta": F(1, 9)}
    for each in fields(Plan):
        if each.name not in ("assumed", "taken", "topic", "range_topics"):
            names.add(digest(replace(one, **{each.name: values.get(each.name, getattr(other, each.name))})))
    assert len(names) == 1 + len(of_measurements) + len(parts) + len(fields(Plan)) - 4
    assert digest(replace(one, assumed=("nobody declared max_rows",))) == digest(one)


@dataclass(frozen=True, slots=True)
class Quantile(Count):
    """A kind with a field."""

    at: F


def test_kinds_with_fields_have_names_of_their_own() -> None:
    halves, thirds = (notation(Aggregate(Quantile(at), None)) for at in (F(1, 2), F(1, 3)))
    assert halves != thirds and "at=Fraction(1, 2)" in halves
    assert notation(Aggregate(COUNT)) == "Aggregate(kind=<Kind.COUNT: 'count'>, argument=None, condition=None)"


def test_a_release_that_leaves_a_field_out_has_no_name() -> None:
    class Short(Total):
        notation = "Total"

    with pytest.raises(Fault):
        notation(Short(1))


def test_what_has_no_notation_has_no_name() -> None:
    for value in (object(), [1], {1: 2}, 1j, Fault("a", code="b")):
        with pytest.raises(Fault):
            notation(value)
