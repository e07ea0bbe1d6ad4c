"""Planted bugs of what people count with by value: shares that add up to more, values that are not told apart, and bounds that are lost."""

from tests.engines import test_apportioned as law
from tests.mutants import Mutant

MEMORY = "discreet.engines.memory:"
RENDER = "discreet.engines.render.apportioned:"
RULES = "discreet.plan.rules.apportioned:"

MUTANTS = (
    Mutant(
        "every-value-has-the-whole",
        MEMORY + "_apportioned",
        "term * n // sum(counts.values())",
        "term",
        "a person counts with all they have once for each value",
        law.no_neighbour_moves_values_more,
    ),
    Mutant(
        "shares-of-the-rows-of-all-groups",
        RENDER + "_joined",
        "partition_by=[named(PART + name) for name in names]",
        "partition_by=[named(PART + PERSON)]",
        "n is of all groups of a person",
        law.values_share_what_a_person_counts_with,
    ),
    Mutant(
        "shares-of-the-rows-of-all-groups-at-once",
        RENDER + "_together",
        "partition_by=[*map(named, names)]",
        "partition_by=[named(PERSON)]",
        "within a cap on rows n is of all groups of a person",
        law.values_share_what_a_person_counts_with,
    ),
    Mutant(
        "rows-without-a-value-are-among-all",
        RENDER + "_together",
        "when([(there.copy(), named(SOME))])",
        "named(SOME)",
        "rows without a value take a part of what a person counts with",
        law.values_share_what_a_person_counts_with,
    ),
    Mutant(
        "rows-without-a-value-have-a-share-by-a-join",
        RENDER + "_joined",
        "where=[there]",
        "where=[]",
        "NULL is a value like others",
        law.values_share_what_a_person_counts_with,
    ),
    Mutant(
        "rows-without-a-value-have-a-share",
        RENDER + "_together",
        "where=[there]",
        "where=[]",
        "NULL is a value like others",
        law.values_share_what_a_person_counts_with,
    ),
    Mutant(
        "no-key-is-equal-to-itself",
        RENDER + "_joined",
        "binary(exp.NullSafeEQ,",
        "binary(exp.EQ,",
        "groups whose key is NULL are lost",
        law.values_share_what_a_person_counts_with,
    ),
    Mutant(
        "products-are-always-narrow",
        RENDER + "_narrow",
        "min(caps) * steps * MOST_ROWS <= MOST",
        "min(caps) > 0",
        "the share of a person with very many rows overflows, which is an error that tells of them",
        law.shares_of_a_full_table_are_right,
    ),
    Mutant(
        "what-is-negative-is-told-apart",
        RULES + "_apportioned",
        "or term_bounds(term)[0] < 0",
        "",
        "shares of a negative sum may be larger than it",
        law.only_counts_are_told_apart,
    ),
    Mutant(
        "people-are-told-apart-by-value",
        RULES + "_apportioned",
        "if term.how is not How.SUM or",
        "if",
        "a mean has no share",
        law.only_counts_are_told_apart,
    ),
    Mutant(
        "capped-after-values-were-told-apart",
        "discreet.plan.rules.relations:_check_gathered",
        " or below.apportioned",
        "",
        "groups of a person would be capped as groups and values",
        law.only_counts_are_told_apart,
    ),
    Mutant(
        "told-apart-twice",
        RULES + "_apportioned",
        " or below.apportioned",
        "",
        "a relation without a rule of its own is taken for one that has one",
        law.only_counts_are_told_apart,
    ),
    Mutant(
        "rows-without-a-value-in-the-whole",
        MEMORY + "_apportioned",
        "if person is not None and value != (None,):",
        "if person is not None:",
        "NULL is a value like others",
        law.values_share_what_a_person_counts_with_slowly,
    ),
    Mutant(
        "the-value-is-no-key",
        "discreet.plan.apportioned:_value",
        "return (relation.value,)",
        "return ()",
        "values are told apart, and added up again",
        law.values_share_what_a_person_counts_with,
    ),
)
