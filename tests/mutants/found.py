"""Planted bugs of limits that are found: the search, the counts beside it, what each way costs, what is told, and what engines count."""

from dataclasses import replace

import numpy as np

from discreet.plan import relation as r
from discreet.plan.check import check
from discreet.plan.relation import Found
from discreet.plan.totals import ALL_ROWS, combined_totals
from tests.audit import test_found as joint
from tests.audit import test_subjects as subjects
from tests.engines import test_exceeding
from tests.mutants import Mutant
from tests.plan import laws, test_found

SEARCH = "discreet.plan.steps.search:Search."
TALLY = "discreet.plan.steps.tally:Tally."
THRESHOLD = "discreet.mechanisms.above_threshold:AboveThreshold."
CHECK = "discreet.plan.check:"
FINDING = "discreet.plan.finding:"
CAPS = "discreet.plan.caps:"
ABOUT = "discreet.plan.about:"
PLAN = "discreet.plan.plan:"
LADDER = "discreet.plan.ladder:"
STAGES = "discreet.plan.stages:"
TOTALS = "discreet.plan.totals:"
MEMORY = "discreet.engines.memory:"
RENDER = "discreet.engines.render.relations:"
RULES = "discreet.plan.rules.relations:"
ALLOWANCE = "discreet.mechanisms.allowance:"
MGF = "discreet.privacy.mgf:"
SUBJECTS = "discreet.audit.subjects:"
RECORD = "discreet.answer.record:"


def rungs_go_up() -> None:
    """A ladder in another order is a Fault, with the numbers of people in that order too."""
    plan = test_found.found("SELECT COUNT(*) FROM t", test_found.NOBODY)
    step = test_found.searches(plan)
    rungs = (step.rungs[1], step.rungs[0], *step.rungs[2:])
    counted = step.query.source
    assert isinstance(counted, r.Exceeding)
    turned = replace(step, rungs=rungs, query=r.Totals(replace(counted, rungs=rungs[:-1])))
    assert laws.is_a_fault(lambda: check(test_found.with_stage(plan, turned)))


def scaled_people_are_not_counted() -> None:
    """People are counted by rows that they have, and not by what is left of them after they were scaled, or before they are gathered."""
    people = r.Contributions(r.Scan("t", laws.COLUMNS), laws.COLUMNS[0], (), ())
    for source in (r.CapTotal(people, 1), r.ClipNorm(people, ()), people.source):
        query = r.Totals(r.Exceeding(source, r.Extent.ROWS, (1,)))  # type: ignore[arg-type]
        assert laws.is_a_fault(lambda query=query: laws.combined(laws.FIRST, query, laws.PERSON.relation, 1))  # type: ignore[misc]


def totals_are_as_many_as_terms() -> None:
    people = r.Contributions(r.Scan("t", laws.COLUMNS), laws.COLUMNS[0], (), ())
    query = r.Totals(r.Exceeding(people, r.Extent.ROWS, (1, 2)))
    short = Found(((),), (np.array([3], np.int64),))
    assert laws.is_a_fault(lambda: combined_totals([laws.FIRST], query, ALL_ROWS, short))


MUTANTS = (
    Mutant(
        "search-without-noise",
        SEARCH + "drawn",
        "hits = np.flatnonzero(above)",
        "hits = np.flatnonzero([each <= 0 for each in one_group(self._scores, self.query, run(self.query, salt))])",
        "the limit is taken from the data without noise",
        joint.steps_cost_their_price,
    ),
    Mutant(
        "counts-with-one-noise",
        TALLY + "drawn",
        "tuple(int(add(total)[0]) for add, total in zip(adders, exact, strict=True))",
        "(lambda first: (first, first - int(exact[0][0]) + int(exact[1][0])))(int(adders[0](exact[0])[0]))",
        "two counts are drawn from one noise, and their difference is exact",
        joint.steps_cost_their_price,
    ),
    Mutant(
        "beyond-without-noise",
        TALLY + "drawn",
        "tuple(int(add(total)[0]) for add, total in zip(adders, exact, strict=True))",
        "(int(adders[0](exact[0])[0]), int(exact[1][0]))",
        "how many people a limit cuts is told as it is",
        joint.steps_cost_their_price,
    ),
    Mutant(
        "search-with-less-noise",
        THRESHOLD + "query_scale",
        "1 if self.monotone else 2",
        "Fraction(1, 18) if self.monotone else 2",
        "people beyond a rung have next to no noise",
        joint.steps_cost_their_price,
    ),
    Mutant(
        "last-rung-where-it-is-the-first",
        SEARCH + "drawn",
        "else len(self.rungs) - 1",
        "else 0",
        "where everybody has many, next to nothing of them counts",
        test_found.the_first_rung_that_few_are_beyond_is_found,
    ),
    Mutant(
        "numbers-not-turned",
        SEARCH + "drawn",
        "[-beyond for beyond in",
        "[beyond for beyond in",
        "the first limit that many are beyond is found",
        test_found.the_first_rung_that_few_are_beyond_is_found,
    ),
    Mutant(
        "search-not-charged",
        SEARCH + "event",
        "self.mechanism.event(ONE)",
        "events.Composed(())",
        "finding a limit is free",
        test_found.false_plans_are_found,
    ),
    Mutant(
        "counts-charged-once",
        TALLY + "event",
        "drawn_event(self.measurements)",
        "drawn_event(self.measurements[:1])",
        "of two counts one is free",
        test_found.the_price_is_split_as_it_is_said,
    ),
    Mutant(
        "steps-not-charged",
        CHECK + "_drawn",
        "events.Composed((stage.event(), following))",
        "following",
        "only the answer is charged",
        test_found.false_plans_are_found,
    ),
    Mutant(
        "last-rung-not-charged",
        CHECK + "_drawn",
        "for outcome in stage.ways]",
        "for outcome in stage.ways[:-1]]",
        "the noise of the last rung is missing in the price",
        test_found.false_plans_are_found,
    ),
    Mutant(
        "last-rung-not-checked",
        CHECK + "_check_stage",
        "for outcome in stage.ways:",
        "for outcome in stage.ways[:-1]:",
        "the last rung may have noise for less than a person",
        test_found.false_plans_are_found,
    ),
    Mutant(
        "cheapest-way-is-the-price",
        CHECK + "_alike",
        "prices.pop() if len(prices) == 1 else None",
        "min((each for each in prices if each is not None), default=None)",
        "rungs that cost more are paid as the others",
        test_found.false_plans_are_found,
    ),
    Mutant(
        "most-noise-is-the-price",
        CHECK + "_least_noise",
        "least = min(ratios)",
        "least = max(ratios)",
        "what is rounded is paid as the way with the most noise",
        test_found.gaussian_ways_are_paid_by_the_dearest,
    ),
    Mutant(
        "any-noise-is-alike",
        CHECK + "_least_noise",
        "max(ratios) > least * (1 + ALIKE)",
        "False",
        "a rung with much more noise than it pays for passes",
        test_found.gaussian_ways_are_paid_by_the_dearest,
    ),
    Mutant(
        "any-scores-are-monotone",
        SEARCH + "check",
        "not isinstance(counted, Exceeding) or counted.rungs != self.rungs[:-1] or not counted.rungs",
        "isinstance(counted, Exceeding) and counted.rungs != self.rungs[:-1]",
        "scores that move in both directions are priced as those that move in one",
        test_found.false_plans_are_found,
    ),
    Mutant(
        "search-goes-on",
        SEARCH + "check",
        "or self.mechanism.hits != 1",
        "",
        "a search is paid for several rungs, and one is taken",
        test_found.false_plans_are_found,
    ),
    Mutant(
        "rungs-in-any-order",
        SEARCH + "check",
        "list(self.rungs) != sorted(set(self.rungs)) or ",
        "",
        "a limit is not the first that few are beyond",
        rungs_go_up,
    ),
    Mutant(
        "outcome-ignored",
        SEARCH + "after",
        "self.stages[self._place(outcome)]",
        "self.stages[-1]",
        "whatever is found, the last limit applies",
        test_found.an_outcome_is_one_of_those_that_there_are,
    ),
    Mutant(
        "any-outcome",
        SEARCH + "_place",
        "or not 0 <= outcome < len(self.rungs)",
        "",
        "what was never released picks a stage from the end",
        test_found.an_outcome_is_one_of_those_that_there_are,
    ),
    Mutant(
        "few-people-are-enough",
        TALLY + "notes",
        "people >= self.reliable",
        "True",
        "nothing tells that a limit was found with few people",
        test_found.what_is_said_is_made_of_what_was_released,
    ),
    Mutant(
        "people-told-as-beyond",
        TALLY + "notes",
        "max(beyond, 0)",
        "max(people, 0)",
        "everybody is said to be beyond the limit",
        test_found.what_is_said_is_made_of_what_was_released,
    ),
    Mutant(
        "beyond-all-groups",
        ABOUT + "more_than",
        'if most < cells else ""',
        "",
        "people are said to be in more groups than there are",
        test_found.what_is_said_is_made_of_what_was_released,
    ),
    Mutant(
        "kept-counts-are-a-list",
        "discreet.plan.steps.base:Step.again",
        "tuple(stored) if isinstance(stored, list) else stored",
        "stored",
        "a kept answer cannot be told again",
        test_found.what_is_said_is_made_of_what_was_released,
    ),
    Mutant(
        "kept-answer-undecided",
        RECORD + "Answer.told",
        'plan = plan.again(self.receipt.get("outcomes", ()))',
        "plan = plan",
        "a kept answer explains what might have been found",
        test_found.kept_answers_say_the_same_again,
    ),
    Mutant(
        "counts-of-half-the-price",
        FINDING + "_counts",
        "Geometric(2 / (budget.epsilon * budget.shares.counts))",
        "Geometric(1 / (budget.epsilon * budget.shares.counts))",
        "two counts cost as much as each of them",
        test_found.the_price_is_split_as_it_is_said,
    ),
    Mutant(
        "each-limit-at-the-whole-share",
        FINDING + "_limited",
        "price = budget.epsilon * budget.shares.limits * share",
        "price = budget.epsilon * budget.shares.limits",
        "two limits cost as much as each of them",
        test_found.the_price_is_split_as_it_is_said,
    ),
    Mutant(
        "smallest-rung-for-all",
        FINDING + "_counted",
        "stage = stage_of(draft, caps, budget.split, budget.shared)",
        "stage = replace(stage_of(draft, caps, budget.split, budget.shared), measurements="
        "stage_of(draft, caps.limited(limit, 1), budget.split, budget.shared).measurements)",
        "the noise of every limit is that of the smallest",
        test_found.the_price_is_split_as_it_is_said,
    ),
    Mutant(
        "people-and-beyond-exchanged",
        FINDING + "_counted",
        "(0, most)",
        "(most, 0)",
        "people are said to be those beyond the limit",
        test_found.an_outcome_is_one_of_those_that_there_are,
    ),
    Mutant(
        "one-limit-for-all-rungs",
        FINDING + "_limited",
        "caps.limited(limit, rung), budget",
        "caps.limited(limit, rungs[-1]), budget",
        "whatever is found, the last limit applies",
        test_found.an_outcome_is_one_of_those_that_there_are,
    ),
    Mutant(
        "people-within-all-rows",
        CAPS + "missing",
        "of_people and not groups_bounded",
        "of_people and not groups_bounded and caps.total is None",
        "a limit on rows is taken for one on the groups of people",
        test_found.only_what_is_lacking_is_found,
    ),
    Mutant(
        "groups-alone-bound-rows",
        CAPS + "missing",
        "caps.rows is not None and groups_bounded",
        "groups_bounded",
        "a limit on groups is taken for one on rows",
        test_found.only_what_is_lacking_is_found,
    ),
    Mutant(
        "found-groups-for-rows",
        CAPS + "Caps.limited",
        "| {limit: most}",
        "| {Limit.GROUPS: most}",
        "a limit that was found is another",
        test_found.an_outcome_is_one_of_those_that_there_are,
    ),
    Mutant(
        "exceeding-by-rows",
        MEMORY + "_more",
        "int(has > rung)",
        "max(has - rung, 0)",
        "rows are counted, and not people",
        test_found.no_neighbour_moves_a_score_in_two_directions,
    ),
    Mutant(
        "exceeding-in-the-least-group",
        MEMORY + "_more",
        "max(rows)",
        "min(rows)",
        "somebody with many rows in one group has few",
        test_exceeding.nobody_is_counted_without_a_name,
    ),
    Mutant(
        "sql-exceeding-by-rows",
        RENDER + "Writer.exceeding",
        "when([(one, integer(1))], integer(0))",
        "when([(one, named(IN_ALL))], integer(0))",
        "rows are counted, and not people",
        test_exceeding.people_beyond_are_counted,
    ),
    Mutant(
        "sql-exceeding-at-the-rung",
        RENDER + "Writer.exceeding",
        "exp.GT",
        "exp.GTE",
        "who is at a limit is beyond it",
        test_exceeding.people_beyond_are_counted,
    ),
    Mutant(
        "sql-exceeding-any-group",
        RENDER + "Writer.exceeding",
        '_total(named(ROWS), "max")',
        '_total(named(ROWS), "min")',
        "somebody with many rows in one group has few",
        test_exceeding.people_beyond_are_counted,
    ),
    Mutant(
        "exceeding-without-people",
        RULES + "_exceeding",
        "    _of_people(relation.source, unit)\n",
        "",
        "what was scaled is counted as it was before",
        scaled_people_are_not_counted,
    ),
    Mutant(
        "allowance-as-often-as-one-likes",
        ALLOWANCE + "_covering",
        "count >= n and ",
        "",
        "one draw is paid, and two are made",
        test_found.a_grant_covers_every_way_and_no_more,
    ),
    Mutant(
        "allowance-of-the-largest",
        ALLOWANCE + "_least",
        "cost_of(left.leaves[least][0]).covers(left.leaves[each][0])",
        "cost_of(left.leaves[each][0]).covers(left.leaves[least][0])",
        "little noise is paid with what was granted for much",
        test_found.a_grant_covers_every_way_and_no_more,
    ),
    Mutant(
        "less-noise-is-covered",
        MGF + "GaussianCost.covers",
        ">=",
        "<=",
        "what costs more than was granted is drawn",
        test_found.a_grant_covers_every_way_and_no_more,
    ),
    Mutant(
        "ladder-that-stands",
        LADDER + "next_rung",
        "-(-rung * 5 // 4)",
        "rung * 2",
        "a limit is up to twice what it could be",
        test_found.ladders_go_up_by_a_quarter,
    ),
    Mutant(
        "norm-of-no-measurement",
        STAGES + "_wanted",
        "if each.l1",
        "if not each.l1",
        "what a neighbour moves has no noise",
        test_found.the_price_is_split_as_it_is_said,
    ),
    Mutant(
        "totals-too-few",
        TOTALS + "checked_totals",
        "len(sums.totals) != len(terms_of(query))",
        "False",
        "an engine that leaves totals out is not noticed",
        totals_are_as_many_as_terms,
    ),
    Mutant(
        "answers-of-a-search-moved",
        "discreet.audit.subject:_padded",
        "[*map(int, answers), *[-1] * (size - len(answers))]",
        "[*[-1] * (size - len(answers)), *map(int, answers)]",
        "which rung was found is lost in an audit",
        subjects.answers_of_a_search_are_in_full,
    ),
)
