"""Functions of data and draws: sound ones, which nothing tells apart, and planted leaks, each with what a report must say of it."""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import discreet as dp
from discreet.audit.twins import Draws
from discreet.errors import DiscreetError, Refused
from discreet.mechanisms import RoundedGaussian, keys
from discreet.mechanisms.unsafe import NameAndShame, RandomRow
from discreet.privacy import events

VICTIM = 99
MOST = 10  # of a value; the victim's is more
CELLS = 5
NOISE = dp.Geometric(10)
LOG = logging.getLogger("a function under audit")


@dataclass(frozen=True, slots=True)
class Rows:
    """Values by person, one each; between neighbours one person is removed, or another one instead."""

    people: tuple[int, ...]
    values: tuple[int, ...]

    @property
    def there(self) -> bool:
        return VICTIM in self.people

    @property
    def clamped(self) -> list[int]:
        return [min(value, MOST) for value in self.values]

    @property
    def histogram(self) -> list[int]:
        return np.bincount(np.array(self.values, np.int64) % CELLS, minlength=CELLS).tolist()


Run = Callable[[Rows, Draws], Any]


def count(rows: Rows, draws: Draws) -> Any:
    return draws(NOISE, 1, lambda: len(rows.values))


def clamped_sum(rows: Rows, draws: Draws) -> Any:
    return draws(NOISE, MOST, lambda: sum(rows.clamped))


def mean_of_reals(rows: Rows, draws: Draws) -> Any:
    return draws(dp.Laplace(3), Fraction(MOST, 10), lambda: sum(rows.clamped) / 10)


def vector_of_reals(rows: Rows, draws: Draws) -> Any:
    return draws(dp.Gaussian(3), 2, lambda: np.array(rows.histogram) / 1.0, size=CELLS)


def prepared_histogram(rows: Rows, draws: Draws) -> Any:
    first, second = draws.prepare(NOISE, 2, CELLS), draws.prepare(RoundedGaussian(5), 2, CELLS)
    exact = np.array(rows.histogram, np.int64)
    return first(exact), second(exact)


def discrete_gaussian_vector(rows: Rows, draws: Draws) -> Any:
    return draws(dp.DiscreteGaussian(5), 2, lambda: rows.histogram, size=CELLS)


def choices(rows: Rows, draws: Draws) -> Any:
    return [
        draws(kind(1), 1, lambda: rows.histogram)
        for kind in (dp.Exponential, dp.PermuteAndFlip, dp.NoisyMax)
    ]  # fmt: skip


def quantiles(rows: Rows, draws: Draws) -> Any:
    kind = dp.Quantiles(1, [0.25, 0.5], 0, MOST, cells=MOST + 1, rows=2)
    return draws(kind, 2, lambda: kind.counts(rows.clamped))


def known_keys(rows: Rows, draws: Draws) -> Any:
    kept = draws(keys.LaplaceThreshold(1, 2, groups=2), 1, lambda: rows.histogram)
    return kept.mask, kept.counts, draws(keys.OptimalKeys(1, 0.01, groups=2), 1, lambda: rows.histogram)


def rounds(rows: Rows, draws: Draws) -> Any:
    """Which question is next depends on what was released before."""
    asked, answers = draws.rounds(dp.AboveThreshold(1, 3, hits=2)), []
    cell = 0
    while asked.left and cell < CELLS:
        hit = asked.ask(lambda cell=cell: rows.histogram[cell])
        answers.append(hit)
        cell += 2 if hit else 1
    return answers


def sampled_sums(rows: Rows, draws: Draws) -> Any:
    clamped = np.array([*rows.clamped, 0], np.int64)  # the last is nobody's: there may be no rows
    return [
        draws.sampled(NOISE, MOST, lambda batch: int(clamped[batch].sum()), rate=Fraction(1, 2), among=len(rows.values))
        for _ in range(3)
    ]


def responses(rows: Rows, draws: Draws) -> Any:
    answers = [0, *(int(value > MOST // 2) for value in rows.values)]
    return draws(dp.RandomizedResponse(1), 1, lambda: answers[-1])


def rows_as_they_are(rows: Rows, draws: Draws) -> Any:
    """Whether the victim is among those that are shown: as private as it says, which is not at all."""
    last = (*rows.clamped, 0)[-1]
    shown = draws(NameAndShame(0.5), 1, lambda: [(1,), (2, 3), (last,)])
    return shown, draws(RandomRow(2), 1, lambda: [last, 7])


def branches_on_what_was_released(rows: Rows, draws: Draws) -> Any:
    noisy = count(rows, draws)
    LOG.info("released %d", noisy)
    print("released", noisy)
    if noisy < 0:
        raise Refused("too few for a sum", hint="ask for a count")
    return {"n": noisy, "s": clamped_sum(rows, draws) if noisy % 2 else None}


def fails_always(rows: Rows, draws: Draws) -> Any:
    raise KeyError("a column that is not there")


def measured_twice(rows: Rows, draws: Draws) -> Any:
    """Whoever ends inside of a measurement enters again."""
    event = events.Repeated(NOISE.event(1), 2)
    try:
        with draws.measure(event, key="ages") as grant:
            grant(NOISE, 1, lambda: len(rows.values))
            raise TimeoutError
    except TimeoutError:
        with draws.measure(event, key="ages") as grant:
            return [grant(NOISE, 1, lambda: len(rows.values)) for _ in range(2)]


SOUND: tuple[Run, ...] = (
    count,
    clamped_sum,
    mean_of_reals,
    vector_of_reals,
    prepared_histogram,
    discrete_gaussian_vector,
    choices,
    quantiles,
    known_keys,
    rounds,
    sampled_sums,
    responses,
    rows_as_they_are,
    branches_on_what_was_released,
    fails_always,
    measured_twice,
)


# Planted leaks.


def another_mechanism(rows: Rows, draws: Draws) -> Any:
    return draws(NOISE if rows.there else dp.Laplace(10), 1, lambda: 0)


def another_scale(rows: Rows, draws: Draws) -> Any:
    return draws(dp.Geometric(10 + rows.there), 1, lambda: 0)


def another_sensitivity(rows: Rows, draws: Draws) -> Any:
    return draws(NOISE, 1 + rows.there, lambda: 0)


def another_size(rows: Rows, draws: Draws) -> Any:
    return draws.prepare(NOISE, 1, CELLS + rows.there)(np.zeros(CELLS + rows.there, np.int64))[0]


def another_rate(rows: Rows, draws: Draws) -> Any:
    rate = Fraction(1, 2 + rows.there)
    return draws.sampled(NOISE, 1, lambda batch: 0, rate=rate, among=5)


def another_number_of_draws(rows: Rows, draws: Draws) -> Any:
    first, *_ = [draws(NOISE, 1, lambda: 0) for _ in range(1 + rows.there)]
    return first


def draws_in_another_order(rows: Rows, draws: Draws) -> Any:
    scales = (10, 20) if rows.there else (20, 10)
    return [draws(dp.Geometric(scale), 1, lambda: 0) for scale in scales]


def another_number_of_questions(rows: Rows, draws: Draws) -> Any:
    asked = draws.rounds(dp.AboveThreshold(1, 10**6))
    return [asked.ask(lambda: 0) for _ in range(2 + rows.there)][:2]


def another_number_of_values(rows: Rows, draws: Draws) -> Any:
    return draws(NOISE, 2, lambda: [0] * (CELLS + rows.there))[:CELLS]


def another_number_of_units(rows: Rows, draws: Draws) -> Any:
    return draws.sampled(NOISE, 1, lambda batch: 0, rate=Fraction(1, 2), among=5 + 2 * rows.there)


def exact_value_in_the_answer(rows: Rows, draws: Draws) -> Any:
    return count(rows, draws), sum(rows.values)


def a_kind_of_number_in_the_answer(rows: Rows, draws: Draws) -> Any:
    noisy = draws(NOISE, 1, lambda: 0)
    return np.int64(noisy) if rows.there else noisy


def the_order_of_keys_in_the_answer(rows: Rows, draws: Draws) -> Any:
    return dict.fromkeys(("a", "b") if rows.there else ("b", "a"))


def the_shape_of_the_answer(rows: Rows, draws: Draws) -> Any:
    return draws(NOISE, 1, lambda: [0] * 4).reshape((2, 2) if rows.there else (4, 1))


def noise_that_is_taken_off(rows: Rows, draws: Draws) -> Any:
    noisy = count(rows, draws)
    return noisy - len(rows.values) if rows.there else noisy


def refuses(rows: Rows, draws: Draws) -> Any:
    if rows.there:
        raise Refused("too few people")


def breaks_down(rows: Rows, draws: Draws) -> Any:
    return 1 // (not rows.there)


def an_error_that_tells(rows: Rows, draws: Draws) -> Any:
    raise ValueError(f"{sum(rows.values)} in all")


def an_error_that_tells_where_it_comes_from(rows: Rows, draws: Draws) -> Any:
    try:
        raise KeyError(sum(rows.values))
    except KeyError:
        raise Refused("this cannot be computed") from None


def another_price(rows: Rows, draws: Draws) -> Any:
    with draws.measure(events.Repeated(NOISE.event(1), 2 + rows.there)) as grant:
        return grant(NOISE, 1, lambda: 0)


def logs(rows: Rows, draws: Draws) -> Any:
    LOG.debug("%d rows", sum(rows.values))
    return count(rows, draws)


def logs_once_more(rows: Rows, draws: Draws) -> Any:
    for _ in range(1 + rows.there):
        LOG.debug("read a row")


def warns(rows: Rows, draws: Draws) -> Any:
    if rows.there:
        warnings.warn("a value was clamped", stacklevel=1)


def prints(rows: Rows, draws: Draws) -> Any:
    print(sum(rows.values))


def a_sum_that_is_not_clamped(rows: Rows, draws: Draws) -> Any:
    return draws(NOISE, MOST, lambda: sum(rows.values))


def reals_that_are_not_clamped(rows: Rows, draws: Draws) -> Any:
    return draws(dp.Laplace(3), MOST, lambda: float(sum(rows.values)))


def a_vector_of_wrong_l2(rows: Rows, draws: Draws) -> Any:
    return draws(RoundedGaussian(3), 3, lambda: [2 * rows.there] * CELLS)


def a_vector_of_reals_of_wrong_l2(rows: Rows, draws: Draws) -> Any:
    return draws(dp.Gaussian(3), 3, lambda: [2.0 * rows.there] * CELLS, size=CELLS)


def prepared_for_too_little(rows: Rows, draws: Draws) -> Any:
    return draws.prepare(NOISE, 1, 2)(np.array([rows.there, rows.there], np.int64))


def sampled_and_not_clamped(rows: Rows, draws: Draws) -> Any:
    exact = 3 * rows.there
    return [draws.sampled(NOISE, 1, lambda batch: exact, rate=Fraction(1, 2), among=1) for _ in range(9)]


def scores_that_move_too_far(rows: Rows, draws: Draws) -> Any:
    return draws(dp.NoisyMax(1), 1, lambda: [2 * rows.there, 0])


def scores_of_several_choices(rows: Rows, draws: Draws) -> Any:
    return draws(dp.Exponential(1), 1, lambda: [[rows.there, 0], [0, rows.there]]).tolist()


def scores_that_are_not_monotone(rows: Rows, draws: Draws) -> Any:
    return draws(dp.Exponential(1, monotone=True), 1, lambda: [int(rows.there), 1 - rows.there])


def questions_that_move_too_far(rows: Rows, draws: Draws) -> Any:
    return draws.rounds(dp.AboveThreshold(1, 5)).ask(lambda: 2 * rows.there)


def questions_that_are_not_monotone(rows: Rows, draws: Draws) -> Any:
    asked = draws.rounds(dp.AboveThreshold(1, 10**6, monotone=True))
    return [asked.ask(lambda score=score: score) for score in (int(rows.there), 1 - rows.there)]


def more_rows_than_declared(rows: Rows, draws: Draws) -> Any:
    kind = dp.Quantiles(1, 0.5, 0, 1, cells=2)
    return draws(kind, 1, lambda: [5 + 2 * rows.there, 5])


def rows_and_not_people(rows: Rows, draws: Draws) -> Any:
    return draws(keys.LaplaceThreshold(1, 100), 1, lambda: [5 + 2 * rows.there])


def more_keys_than_declared(rows: Rows, draws: Draws) -> Any:
    return draws(keys.OptimalKeys(1, 0.01), 1, lambda: [5 + rows.there, 5 + rows.there])


def more_answers_than_declared(rows: Rows, draws: Draws) -> Any:
    return draws(dp.CoinToss(), 1, lambda: [int(rows.there)] * 2)


def more_rows_than_may_be_replaced(rows: Rows, draws: Draws) -> Any:
    return draws(NameAndShame(0.5), 1, lambda: [rows.there, rows.there, 0])


def a_failure_that_is_hidden(rows: Rows, draws: Draws) -> Any:
    try:
        draws(NOISE, 1, lambda: 0.5 if rows.there else 0)
    except DiscreetError:
        return None


LEAKS: dict[Run, str] = {
    another_mechanism: "draw 1 is",
    another_scale: "draw 1 is",
    another_sensitivity: "draw 1 is",
    another_size: "draw 1 is",
    another_rate: "draw 1 is",
    another_number_of_draws: "the neighbour draws",
    draws_in_another_order: "draw 1 is",
    another_number_of_questions: "draw 1",
    another_number_of_values: "how many there are must not depend on the data",
    another_number_of_units: "samples among",
    exact_value_in_the_answer: "the answer differs",
    a_kind_of_number_in_the_answer: "the answer differs",
    the_order_of_keys_in_the_answer: "the answer differs",
    the_shape_of_the_answer: "the answer differs",
    noise_that_is_taken_off: "the answer differs",
    refuses: "the outcome differs",
    breaks_down: "the outcome differs",
    an_error_that_tells: "the error differs",
    an_error_that_tells_where_it_comes_from: "the error differs",
    another_price: "the price differs",
    logs: "log lines differ",
    logs_once_more: "log lines differ",
    warns: "log lines differ",
    prints: "what is printed differs",
    a_sum_that_is_not_clamped: "in L1",
    reals_that_are_not_clamped: "in L1",
    a_vector_of_wrong_l2: "in L2",
    a_vector_of_reals_of_wrong_l2: "in L2",
    prepared_for_too_little: "in L1",
    sampled_and_not_clamped: "in L1",
    scores_that_move_too_far: "a score differs by 2",
    scores_of_several_choices: "differ by 2 together",
    scores_that_are_not_monotone: "both directions",
    questions_that_move_too_far: "a score differs by 2",
    questions_that_are_not_monotone: "both directions",
    more_rows_than_declared: "2 rows differ",
    rows_and_not_people: "a count of people differs by 2",
    more_keys_than_declared: "the counts of 2 keys differ",
    more_answers_than_declared: "2 answers differ",
    more_rows_than_may_be_replaced: "2 rows differ",
    a_failure_that_is_hidden: "draw 1",
}
"""Each leak, and a part of what is said of it."""
