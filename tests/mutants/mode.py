"""Planted bugs of MODE: a choice that is too sharp or for gentler neighbours, rows that are lost or lent, values that nobody declared."""

from discreet.audit.twins.distance import too_far
from discreet.mechanisms import MostFrequent
from tests.mechanisms import test_most_frequent as choice
from tests.mutants import Law, Mutant
from tests.plan import test_modes as law

CHOICE = "discreet.mechanisms.most_frequent:"
KIND = "discreet.plan.releases.mode:"
READING = "discreet.plan.mode_reading:"
CLAUSES = "discreet.plan.sql.clauses:"


def refused(text: str) -> Law:
    row = next(each for each in law.REFUSED if each[0] == text)
    return lambda: law.test_what_is_refused(*row)


def replaced_rows_are_told_apart() -> None:
    """Of a unit that comes or goes no count may fall while another one rises; of one that is replaced as many may as it has rows."""
    first, second = [[1, 0]], [[0, 1]]
    assert too_far(MostFrequent(1, 2, 2), None, first, second)
    assert not too_far(MostFrequent(1, 2, 1, replaced=True), None, first, second)
    assert too_far(MostFrequent(1, 2, 1, replaced=True), None, [[2, 0]], [[0, 2]])


MUTANTS = (
    Mutant(
        "replaced-units-are-added-or-removed",
        CHOICE + "MostFrequent.choice",
        "monotone=not self.replaced",
        "monotone=True",
        "who is replaced leaves one value and comes to another: a choice loses twice as much",
        choice.nobody_is_told_apart,
    ),
    Mutant(
        "a-unit-has-one-row-for-a-mode",
        CHOICE + "MostFrequent.choice",
        "Fraction(self.rows)",
        "Fraction(1)",
        "a unit with several rows moves counts by several",
        choice.nobody_is_told_apart,
    ),
    Mutant(
        "every-choice-is-blunt",
        CHOICE + "MostFrequent.choice",
        "monotone=not self.replaced",
        "monotone=False",
        "counts of units that come or go move in one direction, and the choice may be twice as sharp",
        choice.no_sharper_choice_would_do,
    ),
    Mutant(
        "more-rows-at-the-same-price",
        CHOICE + "MostFrequent.event",
        "events.Pure(self.epsilon * times)",
        "events.Pure(self.epsilon)",
        "units of twice the rows are told apart twice as well",
        choice.prices_are_in_proportion_to_rows,
    ),
    Mutant(
        "one-choice-for-all-groups",
        CHOICE + "MostFrequent.__call__",
        "self.choice(counts, bits)",
        "self.choice(np.tile(counts[:1], (len(counts), 1)), bits)",
        "each group has the value of the first",
        choice.draws_follow_the_law,
    ),
    Mutant(
        "as-near-as-if-there-were-two-values",
        CHOICE + "MostFrequent.error",
        "self.choice.error(confidence, self.values)",
        "self.choice.error(confidence, 2)",
        "among many values a choice is farther behind than is said",
        choice.errors_hold,
    ),
    Mutant(
        "steps-are-rows",
        CHOICE + "MostFrequent.error",
        "/ self.unit",
        "* self.unit",
        "how far behind a value may be is said in steps of a row",
        choice.errors_hold,
    ),
    Mutant(
        "counts-move-in-both-directions",
        "discreet.audit.twins.distance:frequencies_too_far",
        "if not mechanism.replaced and",
        "if False and",
        "a choice that is made for units that come or go meets one that is replaced",
        replaced_rows_are_told_apart,
    ),
    Mutant(
        "a-mode-is-made-for-other-neighbours",
        READING + "replaced",
        "relation.adjacency is not Adjacency.ADD_REMOVE",
        "False",
        "who is replaced is charged as one who comes",
        law.false_readings_are_found,
    ),
    Mutant(
        "a-mode-is-not-checked-for-neighbours",
        READING + "ModeReading.check",
        "if replaced(relation) and not self.mechanism.replaced:",
        "if False:",
        "a choice that is made for other neighbours is not found",
        law.false_readings_are_found,
    ),
    Mutant(
        "a-mode-is-not-checked-for-rows",
        READING + "ModeReading.check",
        "if self.mechanism.rows < mass_of(self.query, relation, max(1, len(groups)), len(self.values)):",
        "if False:",
        "a choice that is made for fewer rows is not found",
        law.false_readings_are_found,
    ),
    Mutant(
        "a-mode-is-not-checked-for-values",
        READING + "ModeReading.check",
        "if self.mechanism.values != len(self.values):",
        "if False:",
        "a place that no value has is released, or a value is never chosen",
        law.false_readings_are_found,
    ),
    Mutant(
        "a-mode-of-other-columns",
        READING + "ModeReading.check",
        "if keys_of(self.query)[-1:] != (self.value,) or terms_of(self.query)[1:]:",
        "if terms_of(self.query)[1:]:",
        "counts of one column choose the value of another",
        law.false_readings_are_found,
    ),
    Mutant(
        "values-of-modes-are-not-capped",
        READING + "ModeAsked.priced",
        "mass_of(query, relation, draft.known, len(self.values))",
        "mass_of(query, relation, 1, len(self.values))",
        "a person in two groups counts in both",
        law.plans_hold_and_cost_what_they_say,
    ),
    Mutant(
        "all-rows-lend-their-weight",
        READING + "ModeAsked.priced",
        "rows_by_value(draft, caps, self.value, self.condition)",
        "rows_by_value(draft, caps, self.value, None)",
        "values have the weight of rows without one",
        law.rows_of_no_value_count_nowhere,
    ),
    Mutant(
        "more-places-than-there-is-room-for",
        READING + "ModeAsked.priced",
        "if draft.cells * len(self.values) > MOST_PLACES:",
        "if False:",
        "a question takes as much memory as it likes",
        refused("SELECT many, MODE(day) FROM t GROUP BY many, kind, open, n"),
    ),
    Mutant(
        "filters-of-modes-are-not-read",
        KIND + "Mode.planned",
        "condition = member if aggregate.condition is None else And((aggregate.condition, member))",
        "condition = member",
        "rows that FILTER leaves out choose the value",
        law.rows_of_no_value_count_nowhere,
    ),
    Mutant(
        "nothing-is-a-value",
        KIND + "_values",
        "tuple(value for value in dict.fromkeys(known) if value is not None)",
        "tuple(dict.fromkeys(known))",
        "NULL is chosen where values are missing",
        law.values_are_those_of_keys,
    ),
    Mutant(
        "people-are-values",
        KIND + "Mode.read",
        'person = (call.person or "").casefold()',
        'person = "nobody in particular"',
        "who has the most rows is asked for",
        refused("SELECT MODE(who) FROM t"),
    ),
    Mutant(
        "the-value-before-is-shown",
        READING + "ModeReading.shown",
        "self.values[place]",
        "self.values[place - 1]",
        "another value is shown than was chosen",
        law.answers_are_right,
    ),
    Mutant(
        "the-nearest-level-is-said",
        READING + "ModeReading.remarks",
        "behind = max(",
        "behind = min(",
        "at another level a value is farther behind than is said",
        law.how_far_behind_is_said,
    ),
    Mutant(
        "conditions-on-values",
        CLAUSES + "Clauses._check_values",
        "*([] if having is None else released_in(having)),",
        "",
        "a value is compared as if it were a number",
        refused("SELECT COUNT(*) FROM t HAVING MODE(kind) = 'a'"),
    ),
    Mutant(
        "sums-of-values",
        CLAUSES + "Clauses._check_values",
        "if not isinstance(each, Released)",
        "if False",
        "a value is added to a number",
        refused("SELECT MODE(n) + 1 FROM t"),
    ),
)
