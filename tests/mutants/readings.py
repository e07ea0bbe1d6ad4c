"""Bugs in what is read beside the totals of a stage."""

from tests.mutants import Mutant
from tests.plan import test_readings

CHECK = "discreet.plan.check:"

MUTANTS = (
    Mutant(
        "readings-at-twice-their-price",
        "discreet.plan.reading:ReadingPrice.priced",
        "self.unit * each.weight",
        "2 * self.unit * each.weight",
        "what is read besides costs more than its share",
        test_readings.a_reading_is_a_part_of_what_a_plan_costs,
    ),
    Mutant(
        "readings-not-checked",
        CHECK + "_check_stage",
        "for reading in stage.readings:",
        "for reading in ():",
        "a reading is charged for less than a neighbour can change",
        test_readings.a_reading_is_a_part_of_what_a_plan_costs,
    ),
    Mutant(
        "readings-not-charged",
        CHECK + "_drawn",
        "[each.event() for each in stage.readings]",
        "[]",
        "what is read besides is drawn and not paid for",
        test_readings.a_reading_is_a_part_of_what_a_plan_costs,
    ),
    Mutant(
        "releases-of-no-reading",
        CHECK + "_check_stage",
        "for place in release.readings",
        "for place in ()",
        "a release is of a reading that there is not",
        test_readings.a_reading_is_a_part_of_what_a_plan_costs,
    ),
    Mutant(
        "readings-not-named",
        "discreet.plan.written:_parts",
        "if stage.readings else {}",
        "if False else {}",
        "a kept answer is given for a question that reads something else",
        test_readings.names_tell_readings_apart,
    ),
)
