"""Parts of the people in plans: which part a question names, who is in it, that nobody else is read, and how far anybody reaches."""

import pytest

from tests.plan import parted
from tests.scale import repeats

LAWS = [
    parted.names_are_read,
    parted.a_part_is_written_as_it_was,
    parted.no_count_of_a_part_is_public,
    parted.every_stage_reads_the_part,
    parted.a_stage_that_reads_others_is_a_fault,
    parted.rules_refuse_what_is_no_part,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law) -> None:  # type: ignore[no-untyped-def]
    law()


def test_no_neighbour_moves_more_and_whoever_is_elsewhere_moves_nothing() -> None:
    parted.no_neighbour_moves_more(repeats(5))


def test_engines_agree_on_who_is_in_a_part() -> None:
    parted.engines_agree(repeats(2))


@pytest.mark.parametrize("replaced", [False, True])
def test_whoever_is_in_several_questions_is_charged_for_all_of_them(replaced: bool) -> None:
    found = [parted.overlap_is_summed(seed, replaced=replaced) for seed in range(repeats(125))]
    assert any(several for several, _ in found)
    # of two parts both count where one is replaced by another
    assert any(saved for _, saved in found) is not replaced


def test_of_two_who_replace_each_other_all_questions_count() -> None:
    assert True in {parted.pairs_are_summed(seed) for seed in range(repeats(60))}
