"""The planner keeps its laws, and the golden questions become what they became."""

from collections.abc import Callable

import pytest

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
