"""Published bugs of other systems' plans, planted here: each is seen by the law that is named after it, over every shape of question.

Joins, samples and limits inside of sub-queries have no row: words, clauses and what is left unread are refused each by itself, and no
one of them that is taken away lets such a question through; `sql` and `shapes` have the rows of each.
Groups that come of the data are planted in `plan` and in `found_keys`.
"""

from tests.attacks import test_plan_bugs as bugs
from tests.mutants import Mutant

CLAUSES = "discreet.plan.sql.clauses:"
EXPRESSIONS = "discreet.plan.sql.expressions:"
TERMS = "discreet.plan.releases.terms:"
WINDOWS = "discreet.plan.sql.windows:"

MUTANTS = (
    Mutant(
        "a-threshold-for-one-group",
        "discreet.plan.finding:selecting",
        "kind.for_budget(epsilon, delta, groups=groups)",
        "kind.for_budget(epsilon, delta * 2, groups=groups)",
        "whoever is alone under a key is shown twice as often as is paid for",
        bugs.a_threshold_for_another_noise,
    ),
    Mutant(
        "the-clamp-is-that-of-the-column",
        TERMS + "MeasuredTerms._grid",
        "facts_of(argument, scope)",
        "facts_of(min(columns_in(argument), key=by_name, default=argument), scope)",
        "x * 1000 has the bounds of x",
        bugs.a_clamp_on_the_column,
    ),
    Mutant(
        "what-has-no-bounds-is-between-0-and-1",
        TERMS + "MeasuredTerms._found",
        "raise without_bounds(name, argument, scope)",
        "return Fraction(0), Fraction(1)",
        "a sum of what nobody declared is made up",
        bugs.missing_bounds,
    ),
    Mutant(
        "a-new-column-has-the-old-bounds",
        EXPRESSIONS + "Expressions._named",
        "if self.view is not None:",
        "if self.view is not None and not self.scope.matches(name):",
        "a redefined column is the one that it is called like",
        bugs.test_a_redefined_column_keeps_its_old_bound,
    ),
    Mutant(
        "a-key-of-places-among-rows",
        CLAUSES + "Clauses._check_key",
        "if windows_in(scalar):",
        "if False:",
        "rows are grouped by their place among all rows",
        bugs.a_place_is_no_key,
    ),
    Mutant(
        "a-window-of-rows-inside",
        WINDOWS + "_window",
        "read.place not in (Clause.SELECT, Clause.ORDER_BY)",
        "read.place not in (Clause.SELECT, Clause.ORDER_BY, Clause.INNER)",
        "a column of a sub-query is a place among all rows",
        bugs.not_row_wise,
    ),
    Mutant(
        "noise-for-half-of-the-price",
        "discreet.plan.noise:Split.noises",
        "/ (self.size * share)",
        "/ (2 * self.size * share)",
        "the noise is half of what is paid for",
        bugs.a_price_that_is_too_low,
    ),
    Mutant(
        "people-by-a-function-of-their-id",
        CLAUSES + "Clauses._check_key",
        "if any(map(read.is_person, used)):",
        "if scalar == read.person:",
        "groups are people",
        bugs.a_shadow_of_the_person,
    ),
    Mutant(
        "groups-of-a-person-count-once",
        "discreet.plan.rules.relations:_of_term",
        "groups = cells if reach.groups is None else min(reach.groups, cells)",
        "groups = 1",
        "whoever is in two groups moves both of them, at the price of one",
        bugs.a_wrong_factor,
    ),
    Mutant(
        "filtered-rows-are-all-rows",
        "discreet.plan.rules.relations:_filter",
        "return Reach(below.rows, below.groups)",
        "return below",
        "how many rows meet a condition has no noise",
        bugs.the_number_of_rows,
    ),
    Mutant(
        "kept-by-the-order-of-rows",
        "discreet.engines.memory:_cap_groups",
        "sorted(mine, key=rank)[: relation.most]",
        "mine[: relation.most]",
        "which groups of a person are kept depends on where their rows stand",
        bugs.the_order_of_rows,
    ),
)
