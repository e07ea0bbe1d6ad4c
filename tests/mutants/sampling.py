"""Planted bugs of `discreet.audit`, in what is counted and bet on."""

from collections.abc import Callable
from functools import partial
from typing import Any

from discreet.audit.sampling import lower_bound
from tests.audit import test_assertion as assertion
from tests.audit import test_confidence as confidence
from tests.audit import test_sampling as sampling
from tests.mutants import Mutant

AUDIT = "discreet.audit."


def coverage(known: sampling.Known, *, anytime: bool = False) -> Callable[[], None]:
    return partial(sampling.test_a_bound_is_above_the_truth_at_its_rate_at_most, known, anytime)


def seen(leak: str) -> Callable[[], None]:
    return partial(sampling.test_whatever_differs_is_seen, leak)


def both_directions() -> None:
    """An event may be likelier on the second neighbour."""

    def often(x: int, size: int) -> Any:
        return sampling.fresh().random(size) < (0.001 if x == 0 else 0.2)

    assert lower_bound(often, 0, 1, samples=20_000, many=True) > 3
    assert lower_bound(often, 1, 0, samples=20_000, many=True) > 3


MUTANTS = (
    Mutant(
        "excess-not-taken-off",
        AUDIT + "confidence:fixed",
        "sure = hits - excess(outputs, delta, beta)",
        "sure = hits",
        "a mechanism that fails openly with probability δ is called a broken one",
        confidence.test_a_bound_of_fixed_size_is_above_the_truth_at_its_rate_at_most,
    ),
    Mutant(
        "excess-on-average-only",
        AUDIT + "confidence:excess",
        "    return high\n",
        "    return int(outputs * delta / 2)\n",
        "the excess is above its mean half of the time",
        confidence.test_the_excess_is_the_least_number_that_is_passed_seldom,
    ),
    Mutant(
        "estimate-for-a-bound",
        AUDIT + "confidence:binomial_lower",
        "rate_at(successes, trials, alpha * (1 - SLACK))",
        "successes / trials",
        "the bound is above the truth half of the time",
        confidence.test_the_lower_end_is_that_of_clopper_and_pearson,
    ),
    Mutant(
        "stake-on-what-is-claimed",
        AUDIT + "confidence:Wager.settle",
        "np.log1p(-stakes * np.exp(self.ladder))",
        "np.log1p(-stakes)",
        "every claim is rejected in the end",
        confidence.test_a_gambler_wins_nothing_on_average_while_the_claim_holds,
    ),
    Mutant(
        "delta-for-free",
        AUDIT + "confidence:Wager.settle",
        "others * np.log1p(-stakes * self.delta)",
        "0 * others",
        "δ is won with every output outside of the event",
        confidence.test_a_gambler_wins_nothing_on_average_while_the_claim_holds,
    ),
    Mutant(
        "any-rejection-counts",
        AUDIT + "confidence:Wager.epsilon",
        "first = int(np.argmin(rejected)) if not rejected.all() else len(rejected)",
        "first = len(rejected) - int(np.argmax(rejected[::-1])) if rejected.any() else 0",
        "the largest of a thousand claims that is rejected by chance is the bound",
        confidence.test_a_rejection_far_up_counts_only_above_others,
    ),
    Mutant(
        "chosen-and-counted-by-the-same-outputs",
        AUDIT + "sampling:_bet",
        "hits, misses = new[order]",
        "hits, misses = counts[order]",
        "what chose the event is counted as its evidence",
        coverage(sampling.geometric(0.5), anytime=True),
    ),
    Mutant(
        "sides-of-a-swapped-event",
        AUDIT + "sampling:_Run.once",
        "(misses, hits) if chosen.swapped else (hits, misses)",
        "(hits, misses)",
        "what is likelier on the second neighbour is never shown",
        both_directions,
    ),
    Mutant(
        "events-of-one-direction",
        AUDIT + "distinguisher:_candidates",
        "for swapped in (False, True):",
        "for swapped in (False,):",
        "what is likelier on the second neighbour is never looked for",
        both_directions,
    ),
    Mutant(
        "exceptions-end-the-audit",
        AUDIT + "outputs:OutputSampler._one",
        "return Raised.of(error)",
        "return 1",
        "a mechanism that raises on one neighbour looks alike on both",
        seen("an exception"),
    ),
    Mutant(
        "messages-are-not-read",
        AUDIT + "features:Raised.of",
        "str(error)",
        "''",
        "a message that holds the data looks alike on both neighbours",
        seen("a message"),
    ),
    Mutant(
        "cells-that-were-seen-once",
        AUDIT + "distinguisher:_cells",
        "predicted[:likelier]",
        "predicted",
        "texts that are never the same twice choose an event that never comes again",
        seen("a message that is never the same twice"),
    ),
    Mutant(
        "missing-is-nothing",
        AUDIT + "distinguisher:NoNumber.holds",
        "np.isnan(values)",
        "np.zeros(len(values), np.bool_)",
        "a value that is not a number on one neighbour is not seen",
        seen("not a number"),
    ),
    Mutant(
        "the-first-pair-is-the-worst",
        AUDIT + "sampling:_Run.worst",
        "pairs[int(np.argmax(bounds))]",
        "pairs[0]",
        "one of many pairs of neighbours is tried",
        sampling.test_a_bound_with_many_people_is_of_the_worst_pair,
    ),
    Mutant(
        "claims-fail-when-far-off",
        AUDIT + "assertion:assert_private",
        "if bound > claimed:",
        "if bound > 10 * claimed + 5:",
        "a claim fails only when it is far off",
        assertion.test_half_the_noise_is_noticed,
    ),
    Mutant(
        "a-table-and-itself",
        AUDIT + "neighbours:_replaced",
        "if values.index(value) > values.index(first[place]):",
        "if values.index(value) >= values.index(first[place]):",
        "a table is tried against itself",
        partial(assertion.test_tables_are_neighbours_each_once, assertion.Adjacency.REPLACE),
    ),
)
