"""Planted bugs of keys that are found: who is counted, what is released of them, what it costs, and what follows."""

from discreet.errors import Fault
from tests.mutants import Mutant, by_itself
from tests.plan import test_found_keys as keys

STEP = "discreet.plan.steps.keys:"
FINDING = "discreet.plan.finding:"
NAMED = "discreet.mechanisms.keys.by_name:"
PRICE = "discreet.plan.price:"
CHECK = "discreet.plan.check:"
DRAFT = "discreet.plan.draft:"

told = by_itself(keys.test_what_was_found_is_told_and_kept)
usable = by_itself(keys.test_what_can_be_a_key_does_not_depend_on_who_has_it)
places = by_itself(keys.test_rows_with_other_keys_take_nobodys_place)
shown = by_itself(keys.test_all_combinations_are_shown)
needs_delta = by_itself(keys.test_without_a_delta_no_key_is_found)


def planned(law):  # type: ignore[no-untyped-def]
    """A law, where a plan that does not hold is found to be wrong, too."""

    def checked() -> None:
        try:
            law()
        except Fault as fault:
            raise AssertionError(fault.message) from fault

    return checked


counted = planned(keys.no_neighbour_changes_more_keys)
cost = planned(keys.outcomes_cost_the_same)
split = planned(keys.the_price_is_split_as_it_is_said)

MUTANTS = (
    Mutant(
        "no-threshold",
        NAMED + "KeysByName.__call__",
        "np.flatnonzero(selection.mask).tolist()",
        "range(len(names))",
        "every key is released, whoever has it",
        keys.rare_keys_are_not_seen,
    ),
    Mutant(
        "keys-with-exact-counts",
        NAMED + "KeysByName.__call__",
        "int(selection.counts[at])",
        "int(exact[names[at]])",
        "what is released beside a key is its exact number of people",
        keys.only_the_largest_are_used,
    ),
    Mutant(
        "keys-in-the-order-of-the-data",
        STEP + "FindKeys.drawn",
        "(-counts[key], key)",
        "0",
        "which keys are used depends on their names instead of their counts",
        keys.only_the_largest_are_used,
    ),
    Mutant(
        "keys-of-a-person-without-a-limit",
        FINDING + "_keys",
        "Totals(CapGroups(each, most))",
        "Totals(CapGroups(each, 100))",
        "a person counts in all of their keys, and the rule is made for few",
        counted,
    ),
    Mutant(
        "keys-of-rows-instead-of-people",
        FINDING + "_keys",
        "(Term(How.ANY, ONE),)",
        "(Term(How.SUM, ONE),)",
        "someone with many rows makes a key of their own pass",
        counted,
    ),
    Mutant(
        "keys-of-one-who-is-replaced",
        FINDING + "_keys",
        "else 2 * most",
        "else most",
        "whoever takes someone's place has keys of their own, and the rule is made for one of the two",
        counted,
    ),
    Mutant(
        "missing-keys-take-a-place",
        FINDING + "_keys",
        "rows = Filter(draft.rows, Not(IsNull(key)))",
        "rows = draft.rows",
        "a person with a missing key counts there, and not in the one that they have",
        keys.only_those_who_have_a_key_count,
    ),
    Mutant(
        "delta-of-one-column-for-each",
        FINDING + "_keys",
        "budget.delta / budget.columns",
        "budget.delta",
        "two columns spend the whole δ each",
        split,
    ),
    Mutant(
        "epsilon-of-one-column-for-each",
        FINDING + "_keys",
        "budget.epsilon * budget.shares.keys / budget.columns",
        "budget.epsilon * budget.shares.keys",
        "two columns spend the part of all keys each",
        split,
    ),
    Mutant(
        "keys-besides-the-price",
        PRICE + "Shares.answer",
        " - self.keys",
        "",
        "the answer spends what keys have spent already",
        split,
    ),
    Mutant(
        "limits-besides-keys",
        PRICE + "shares",
        "TOGETHER / (keys + ranges + limits)",
        "TOGETHER",
        "keys and limits have half of the price each, and leave the answer nothing",
        split,
    ),
    Mutant(
        "noise-of-the-largest-outcome-is-granted",
        CHECK + "_drawn",
        "_alike(ways) if stage.listed else _whatever_follows(ways)",
        "_alike(ways)",
        "fewer groups have other noise than was granted, and the question fails for what it found",
        cost,
    ),
    Mutant(
        "what-was-found-is-not-checked",
        "discreet.plan.release:decided",
        "if not step.listed:",
        "if False:",
        "a way that nobody could list is gone unseen",
        keys.what_follows_is_checked_again,
    ),
    Mutant(
        "a-selection-for-fewer-keys",
        STEP + "FindKeys.check",
        "> self.mechanism.groups",
        "> MANY",
        "a rule for one key is accepted where a person has several",
        keys.steps_are_checked,
    ),
    Mutant(
        "a-selection-by-rows",
        STEP + "FindKeys.check",
        "combined(count, self.query, relation, 1).l1 > ONE",
        "False",
        "counts that a person moves by several are taken for counts of people",
        keys.rows_are_not_people,
    ),
    Mutant(
        "other-keys-are-not-left-out",
        DRAFT + "with_keys",
        "source=_only(draft.source, draft.keys[place], values)",
        "source=draft.source",
        "groups that are not shown take the place of those that are",
        places,
    ),
    Mutant(
        "groups-from-nowhere",
        DRAFT + "with_keys",
        "values if i == place else each",
        "values if i == place else values",
        "the keys of one column are taken for those of another",
        shown,
    ),
    Mutant(
        "long-texts-are-keys",
        STEP + "_usable",
        "len(key) <= LONGEST",
        "True",
        "an answer may be too long to be kept, and the question fails for what the data hold",
        usable,
    ),
    Mutant(
        "keys-without-a-delta",
        "discreet.plan.private:_check_keys",
        "values is None and not delta",
        "False",
        "keys are sought with a δ of 0, which cannot be",
        needs_delta,
    ),
    Mutant(
        "too-few-people-are-told",
        NAMED + "KeysByName.shared_by",
        "self.rule.keeps(middle)[0] >= chance",
        "self.rule.keeps(middle)[0] >= chance / 2",
        "a key that so many people share is found in half of the cases",
        keys.the_told_number_of_people_is_enough,
    ),
    Mutant(
        "kept-keys-of-another-type",
        STEP + "FindKeys.again",
        "STORED[self.type](key) if self.type in STORED else key",
        "key",
        "dates that were found are texts when an answer is told again",
        told,
    ),
)
