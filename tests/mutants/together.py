"""Planted bugs where terms of questions meet: parts of the people, other intervals, accuracies, and what follows for nothing."""

from collections.abc import Callable

from discreet.curator.session import Curator
from tests.curator import test_terms_together as terms
from tests.mutants import Law, Mutant
from tests.mutants.parts import caps

DERIVING = "discreet.curator.deriving:Deriving."


def of(law: Callable[[Curator], None]) -> Law:
    """The law of a hospital with parts."""

    def run() -> None:
        with terms.hospital_in_parts() as hospital:
            law(hospital)

    return run


MUTANTS = (
    Mutant(
        "room-beside-the-largest",
        "discreet.curator.accounts:PartAccounts.room",
        "others.largest(count - 1)",
        "others.largest(count)",
        "a question in a small part is said not to fit, though others have spent more",
        caps,
    ),
    Mutant(
        "room-in-a-part-told-to-analysts",
        "discreet.curator.quoting:Quoting._may_spend",
        "if part is None or analyst is not None",
        "if part is None",
        "what is left in a part tells an analyst what others spent there",
        of(terms.test_a_quote_fits_the_budget_of_its_part_and_that_of_the_data),
    ),
    Mutant(
        "free-at-any-confidence",
        DERIVING + "_free",
        "or asked.level != CONFIDENCE",
        "",
        "what follows has a ± at 95 %, whatever confidence was asked for",
        of(terms.test_what_follows_is_not_taken_for_more_than_it_is),
    ),
    Mutant(
        "free-for-one-number-at-once",
        DERIVING + "_free",
        "asked.population or asked.simultaneous",
        "asked.population",
        "what follows has a ± of each number by itself, where all at once were asked for",
        of(terms.test_what_follows_is_not_taken_for_more_than_it_is),
    ),
    Mutant(
        "citation-of-nothing-measured",
        "discreet.answer.citation:_promise",
        "if follows:",
        "if not follows and follows:",
        "what follows from a release is said to be declared or public",
        of(terms.test_a_citation_of_what_follows_promises_what_was_paid),
    ),
    Mutant(
        "sizes-of-other-people",
        "discreet.curator.planning:Planning._released_sizes",
        "(None if act.part is None else act.part.name) != part",
        "False",
        "a number of all people tells how large that of a part is",
        of(terms.test_a_size_is_that_of_the_people_who_are_asked_about),
    ),
)
