"""Planted bugs of surveys: what a person is counted in, what is charged, by what stage 2 is chosen, and whose facts are used."""

from discreet.audit.twins.distance import named_keys_too_far
from discreet.curator.survey import reading
from discreet.mechanisms.keys import NamedKeys
from discreet.plan.combination import Combination
from discreet.plan.relation import CapGroups, Totals
from discreet.plan.rules import computed as computed
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import Type
from discreet.privacy import Adjacency, Relation, Unit
from tests.curator import surveys, test_survey, test_surveying
from tests.mutants import Mutant

SURVEY = "discreet.curator.survey."
NAMED = "discreet.mechanisms.keys.named:NamedKeys."


def analysts_keep_their_own() -> None:
    test_surveying.analysts_keep_their_own(":memory:")


def facts_are_of_a_version() -> None:
    test_surveying.facts_are_of_a_version(":memory:")


def keys_of_one_side_count() -> None:
    rule = NamedKeys(10, 50, 2)
    assert not named_keys_too_far(rule, None, {"a": 3}, {"a": 3, "b": 1, "c": 1})
    assert named_keys_too_far(rule, None, {"a": 3}, {"a": 3, "b": 2})
    assert named_keys_too_far(rule, None, {"a": 3}, {"b": 1, "c": 1, "a": 4})


def uncapped_cells_are_a_fault() -> None:
    """Each row of a person may be in another cell, whatever is computed of it."""
    relation = Relation(Adjacency.ADD_REMOVE, Unit.PERSON)
    surveyed = surveys.TinySurvey(relation, surveys.fine(relation)).surveyed
    capped = reading.by_cell(surveyed, surveys.COLUMNS[0], Type.NUMBER, (0.0, 1.0))
    assert isinstance(capped.source, CapGroups)
    for query, cells in ((capped, 1), (Totals(capped.source.source), 3)):
        assert combined(Combination.plain(0), query, relation, 3).l1 == cells


MUTANTS = (
    Mutant(
        "people-counted-by-rows",
        SURVEY + "reading:Surveyed.totals",
        "Term(How.ANY, value)",
        "Term(How.SUM, value)",
        "a person with many rows is in a count as often as they have rows",
        test_survey.nothing_tells_neighbours_apart,
    ),
    Mutant(
        "two-values-of-a-person",
        SURVEY + "reading:by_cell",
        "most=1",
        "most=2",
        "a person is in two bins of a histogram that is priced for one",
        test_survey.nothing_tells_neighbours_apart,
    ),
    Mutant(
        "keys-of-a-person-not-capped",
        SURVEY + "reading:by_key",
        "most=KEYS",
        "most=99",
        "a person with many keys moves all of their counts",
        test_survey.nothing_tells_neighbours_apart,
    ),
    Mutant(
        "stage-two-by-exact-numbers",
        SURVEY + "taking:Taking.taken",
        "self._drawn(self.prices.first, 1 + TERMS * len(self.surveyed.columns), self._looks)",
        "[float(each) for each in self._looks()]",
        "what stage 2 asks of a column tells what its people have",
        test_survey.nothing_tells_neighbours_apart,
    ),
    Mutant(
        "a-column-outside-its-price",
        SURVEY + "prices:Prices._parts",
        "events.Repeated(each, self.columns)",
        "events.Repeated(each, max(1, self.columns - 1))",
        "a column is drawn that nobody paid for",
        test_survey.whole_price_is_drawn,
    ),
    Mutant(
        "replaced-keys-count-once",
        SURVEY + "prices:_prices",
        "groups=KEYS * moved",
        "groups=KEYS",
        "whoever is replaced leaves keys and enters others, and half of that is paid for",
        test_survey.nothing_tells_neighbours_apart,
    ),
    Mutant(
        "replaced-values-count-once",
        SURVEY + "prices:_prices",
        "_size(moved * weight**power, norm)",
        "_size(weight**power, norm)",
        "whoever is replaced leaves a bin and enters another, and one is paid for",
        test_survey.nothing_tells_neighbours_apart,
    ),
    Mutant(
        "people-alone-are-taken-for-a-column",
        SURVEY + "check:check_survey",
        "_covers(prices.first, query, prices, 1, people_and_looks, 1)",
        "_covers(prices.first, query, prices, max(people_and_looks[1:], default=OF_PEOPLE), people_and_looks, 1)",
        "a table whose columns are all declared cannot be surveyed",
        test_survey.a_survey_of_no_column_counts_people_and_rows,
    ),
    Mutant(
        "rows-not-divided",
        SURVEY + "taking:Taking._rows",
        "exact * OF_TOTAL * FINE // most",
        "exact * OF_TOTAL * FINE",
        "a person adds all of their rows to a number that has noise for one",
        test_survey.nothing_tells_neighbours_apart,
    ),
    Mutant(
        "histograms-are-not-checked",
        SURVEY + "check:_covers",
        "drawn.sensitivity**power <",
        "drawn.sensitivity**power <= 0 >",
        "a draw for less than its query moves is let through",
        test_survey.draws_cover_their_queries,
    ),
    Mutant(
        "computed-columns-bound-people",
        "discreet.plan.rules.computed:_computed",
        "return below",
        "return Reach(1, 1)",
        "a computed column is taken for a cap on rows and groups",
        uncapped_cells_are_a_fault,
    ),
    Mutant(
        "share-of-stage-one-twice",
        SURVEY + "prices:_prices",
        "(1 - SHARE) * price / later",
        "price / later",
        "stage 2 costs the whole price, and stage 1 comes on top",
        test_survey.test_prices_are_the_promise,
    ),
    Mutant(
        "more-than-the-rung-itself",
        SURVEY + "per_person:_histogram",
        "(0, *rungs)",
        "(0, *(rung - 1 for rung in rungs))",
        "people with exactly as many rows as a rung count as having more",
        test_survey.people_are_counted_by_what_they_have,
    ),
    Mutant(
        "cells-begin-after-their-edge",
        "discreet.curator.halves:by_halves",
        "Order.LESS,",
        "Order.LESS_OR_EQUAL,",
        "whoever is on an edge is in the cell below it",
        test_survey.cells_are_between_their_edges,
    ),
    Mutant(
        "nobody-is-below-all-edges",
        SURVEY + "ladder:cell_of",
        "Literal(place,",
        "Literal(max(place, 1),",
        "whoever is below all edges is in the cell above the first",
        test_survey.cells_are_between_their_edges,
    ),
    Mutant(
        "people-beyond-include-the-rung",
        SURVEY + "record:Ladder.beyond",
        "at = self.rungs.index(most) + 1",
        "at = self.rungs.index(most)",
        "whoever is within a limit is told to be beyond it",
        test_survey.ladders_tell_who_has_more,
    ),
    Mutant(
        "bounds-from-the-middle",
        SURVEY + "choosing:_crossing",
        "max(0.0, run + count - DRIFT * deviation)",
        "min(0.0, run)",
        "people who begin after a few empty bins with bad luck are cut off",
        test_survey.test_ranges_are_of_whoever_is_there,
    ),
    Mutant(
        "any-number-of-columns-without-delta",
        SURVEY + "asking:asked_survey",
        "len(names) > MOST_COLUMNS",
        "len(names) > 10 * MOST_COLUMNS",
        "geometric noise is spread over so many columns that nothing is left",
        test_surveying.only_a_few_columns_without_delta,
    ),
    Mutant(
        "facts-of-another-version",
        "discreet.curator.facts:Known.column",
        "survey.version == self.version",
        "True",
        "a range of data that have changed is taken for theirs",
        facts_are_of_a_version,
    ),
    Mutant(
        "facts-of-whoever-asked",
        "discreet.curator.facts:known_in",
        "(None,) if analyst is None else (None, analyst)",
        "(None, 'ana')",
        "what one analyst paid for is used for all",
        analysts_keep_their_own,
    ),
    Mutant(
        "facts-filed-under-the-first-version",
        "discreet.curator.surveying:Surveyor._surveyed",
        "version=self.policy.version",
        "version='1'",
        "what is told of new data is taken for old",
        facts_are_of_a_version,
    ),
    Mutant(
        "keys-as-they-are-in-a-page",
        SURVEY + "page:_text",
        "escape(visible(text))",
        "visible(text)",
        "a key of the data is run by whoever looks at the page",
        test_surveying.keys_are_escaped,
    ),
    Mutant(
        "threshold-without-noise",
        NAMED + "__call__",
        "noisy = self.noise(counts, source)",
        "noisy = counts",
        "whether a key is kept tells its exact count",
        test_survey.keys_near_the_threshold_are_left_to_the_noise,
    ),
    Mutant(
        "named-keys-of-one-group",
        NAMED + "delta_keys",
        "any_of(self.alone, self.groups)",
        "any_of(self.alone, 1)",
        "a person with several keys of their own is seen by one of them, and pays for one",
        test_survey.named_keys_are_hidden_as_thresholds_hide_them,
    ),
    Mutant(
        "keys-of-one-side-forgotten",
        "discreet.audit.twins.distance:_by_name",
        "sorted({*first, *second})",
        "sorted({*first} & {*second})",
        "a key that one side alone has is not compared",
        keys_of_one_side_count,
    ),
    Mutant(
        "a-larger-grant-taken-first",
        "discreet.mechanisms.allowance:_least",
        "cost_of(left.leaves[least][0]).covers(left.leaves[each][0])",
        "cost_of(left.leaves[each][0]).covers(left.leaves[least][0])",
        "a small draw takes what a large one was granted, which is refused then",
        test_survey.whole_price_is_drawn,
    ),
    Mutant(
        "a-computed-column-of-nothing",
        "discreet.plan.computed:_children_of_computed",
        "(relation.source,)",
        "()",
        "what a relation reads is not found below a computed column",
        test_survey.engines_agree,
    ),
    Mutant(
        "conditions-lost-below-a-computed-column",
        "discreet.engines.render.computed:_computed",
        "value}), base, where",
        "value}), base, []",
        "rows without a value are in a cell",
        test_survey.engines_agree,
    ),
)
