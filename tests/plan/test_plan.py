"""The planner keeps its laws, and the golden questions become what they became."""

from collections.abc import Callable

import pytest

from discreet.errors import Fault
from discreet.plan.written import text
from tests.golden import plans
from tests.plan import laws
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
    """Ledgers know kept answers by them. What is planned where it was refused before has a name; what had one keeps it."""
    names, kept = plans.digests(), plans.kept_digests()
    assert len(kept) >= 600 and names.keys() == kept.keys()
    for what, name in kept.items():
        assert names[what] == name or name.startswith("refused"), what


def test_what_has_no_notation_has_no_name() -> None:
    for value in (object(), [1], {1: 2}, 1j, Fault("a", code="b")):
        with pytest.raises(Fault):
            text(value)
