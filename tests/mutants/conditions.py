"""Planted bugs of what conditions tell of numbers: bounds that leave a value out, are too wide, or are of other rows."""

from tests.mutants import Mutant
from tests.plan import test_conditions as conditions

CONDITIONS = "discreet.plan.rules.conditions:"
SCOPE = "discreet.plan.scope:"
LAW = conditions.test_bounds_are_those_of_the_values_that_meet_the_conditions

MUTANTS = (
    Mutant(
        "less-or-equal-leaves-the-end-out",
        CONDITIONS + "_beyond",
        "Fraction(floor(end)) if whole",
        "Fraction(ceil(end) - 1) if whole",
        "x <= 9 counts a 9 as 8",
        LAW,
    ),
    Mutant(
        "numbers-are-whole",
        CONDITIONS + "_beyond",
        "type is not Type.NUMBER and ",
        "",
        "x > 1 counts 1.5 as 2",
        LAW,
    ),
    Mutant(
        "an-or-bounds",
        CONDITIONS + "ranges_in",
        "case And(parts):",
        "case Scalar(parts=tuple(parts)):",
        "of two conditions of which one must be true both bound a value",
        LAW,
    ),
    Mutant(
        "only-declared-bounds",
        SCOPE + "Scope.facts",
        "self.within(column, self.field(column).facts)",
        "self.field(column).facts",
        "what WHERE says of a number is forgotten, and a divisor that is not 0 may be 0",
        conditions.test_a_divisor_that_is_not_0_has_an_inverse,
    ),
    Mutant(
        "a-contradiction-turns-bounds",
        "discreet.plan.facts:narrower",
        "low >= high",
        "False",
        "x > 9 AND x < 3 has bounds of which the lower is above the upper",
        LAW,
    ),
    Mutant(
        "what-is-computed-has-the-bounds-of-another",
        SCOPE + "Scope.within",
        "if each == scalar:",
        "if type(each) is type(scalar):",
        "a condition on x * 2 bounds x * 3",
        conditions.test_a_condition_on_what_is_computed_bounds_it,
    ),
)
