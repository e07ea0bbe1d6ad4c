"""Mechanisms given by a table, against brute force in rationals: all sets of outputs, all product tables."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import inf, lcm, log
from random import Random

import pytest
from flint import arb, ctx

from discreet.errors import Invalid
from discreet.privacy.events import FiniteTable
from discreet.privacy.loss import PrivacyLoss
from discreet.privacy.numeric.finite import Dominating, delta_of_table, dominating_atoms, hockey_stick, ratio_of_table
from tests.scale import repeats

F = Fraction
Row = tuple[Fraction, ...]
COIN = ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))  # tells the truth on heads, tosses again on tails
NEAR = 1e-9


def random_table(random: Random, rows: int, outputs: int) -> tuple[Row, ...]:
    """Small whole weights; some outputs impossible, some rows equal up to one output."""
    table = []
    for _ in range(rows):
        weights = [
            0 if random.random() < 0.15 else random.randint(1, random.choice((3, 9, 40))) for _ in range(outputs)
        ]
        if not any(weights):
            weights[0] = 1
        table.append(tuple(F(w, sum(weights)) for w in weights))
    return tuple(table)


def tables(seed: int, n: int) -> list[tuple[Row, ...]]:
    """Two to four inputs, two to five outputs, mostly few."""
    random = Random(seed)
    return [random_table(random, random.choice((2, 2, 2, 3, 4)), random.randint(2, 5)) for _ in range(n)]


def brute_delta(p: Sequence[Fraction], q: Sequence[Fraction], gamma: Fraction) -> Fraction:
    """max over all sets A of outputs of P(A) − γQ(A)."""
    outputs = range(len(p))
    events = (chosen for size in range(len(p) + 1) for chosen in combinations(outputs, size))
    return max(sum((p[y] - gamma * q[y] for y in chosen), F(0)) for chosen in events)


def some_gammas(random: Random, rows: Sequence[Row], n: int) -> list[Fraction]:
    """Random ratios, and ratios at which some output changes sides."""
    corners = [a / b for p, q in permutations(rows, 2) for a, b in zip(p, q, strict=True) if b]
    return [F(1), *(F(random.randint(0, 400), random.randint(1, 100)) for _ in range(n)), *random.sample(corners, 1)]


def test_a_coin_toss_loses_exactly_ln_3() -> None:
    assert ratio_of_table(COIN) == 3
    assert dominating_atoms(COIN).ratios == (F(1, 3), F(3))
    assert [p for _, p in dominating_atoms(COIN).atoms] == [F(1, 4), F(3, 4)]
    spent = PrivacyLoss.from_table(COIN)
    assert spent.epsilon(0) == pytest.approx(log(3), rel=1e-15)
    assert (7 * spent).epsilon(0) == pytest.approx(7 * log(3), rel=1e-15)
    assert spent.delta(0) == pytest.approx(0.5, rel=1e-15)
    assert delta_of_table(COIN, F(3)) == 0


def test_delta_of_a_table_is_the_largest_over_all_sets_of_outputs() -> None:
    random = Random(1)
    for rows in tables(2, repeats(50)):
        for gamma in some_gammas(random, rows, 2):
            brute = {(p, q): brute_delta(p, q, gamma) for p, q in permutations(rows, 2)}
            assert delta_of_table(rows, gamma) == max(brute.values())
            assert all(hockey_stick(p, q, gamma) == delta for (p, q), delta in brute.items())


def test_the_ratio_of_a_table_is_the_largest_over_all_outputs() -> None:
    for rows in tables(3, repeats(100)):
        pairs = [(a, b) for p, q in permutations(rows, 2) for a, b in zip(p, q, strict=True) if a]
        most = None if any(not b for _, b in pairs) else max(a / b for a, b in pairs)
        assert ratio_of_table(rows) == most
        if most is not None:
            assert delta_of_table(rows, most) == 0
            assert most == 1 or delta_of_table(rows, most - F(1, 10**9)) > 0


def delta_of_atoms(found: Dominating, gamma: Fraction) -> Fraction:
    """Σ (P − γQ)₊ over the atoms, P/Q being the ratio of each."""
    finite = sum((max(p - gamma * p / r, F(0)) for r, (_, p) in zip(found.ratios, found.atoms, strict=True)), F(0))
    return found.infinite + finite


def test_the_dominating_pair_has_exactly_the_curve_of_the_worst_pairs() -> None:
    random = Random(4)
    for rows in tables(5, repeats(20)):
        found = dominating_atoms(rows)
        under_p, under_q = found.infinite, F(0)
        for ratio, (loss, p) in zip(found.ratios, found.atoms, strict=True):
            assert loss == pytest.approx(log(ratio), rel=1e-14, abs=1e-15)
            assert p > 0
            under_p, under_q = under_p + p, under_q + p / ratio
        assert under_p == 1
        assert under_q <= 1
        for gamma in some_gammas(random, rows, 3):
            assert delta_of_atoms(found, gamma) == max(hockey_stick(p, q, gamma) for p, q in permutations(rows, 2))


Pairs = list[tuple[int, int]]


def whole(pairs: Sequence[tuple[Fraction, Fraction]]) -> tuple[Pairs, int]:
    """(P, Q) of each output as integers over one denominator."""
    under = lcm(*(x.denominator for pair in pairs for x in pair))
    return [(int(p * under), int(q * under)) for p, q in pairs], under


def product_delta(uses: Sequence[Sequence[tuple[Fraction, Fraction]]], gamma: Fraction) -> Fraction:
    """Σ (P − γQ)₊ over every sequence of outputs, one from each use."""
    joint, total = [(1, 1)], 1
    for use in uses:
        pairs, under = whole(use)
        joint = [(p * a, q * b) for p, q in joint for a, b in pairs]
        total *= under
    n, d = gamma.numerator, gamma.denominator
    return F(sum(max(p * d - q * n, 0) for p, q in joint), total * d)


def composed(found: Dominating, k: int, gamma: Fraction) -> Fraction:
    """k uses of the dominating pair, every sequence of atoms."""
    pairs = [(p, p / ratio) for ratio, (_, p) in zip(found.ratios, found.atoms, strict=True)]
    return 1 - (1 - found.infinite) ** k + product_delta([pairs] * k, gamma)


def test_no_small_mechanism_is_under_reported_when_composed() -> None:
    """Two or three uses, on any pair of inputs at each use: product tables, in rationals. Each is asked one question.

    `never below` is exact for the upper end of an interval, and up to 1e-9 for near-exact values, which are not above the composed
    dominating pair either.
    """
    random = Random(6)
    for rows in tables(7, repeats(250)):
        k = 2 if len(rows) * len(rows[0]) > 8 else random.choice((2, 3))
        choices = list(permutations(rows, 2))
        chosen = random.choices(choices, k=k) if random.random() < 0.5 else [random.choice(choices)] * k
        uses = [list(zip(p, q, strict=True)) for p, q in chosen]
        spent, question = k * PrivacyLoss.from_table(rows), random.random()
        if question < 0.25:
            gamma = random.choice((F(1), F(random.randint(100, 900), 100)))
            reported = spent.delta(log(gamma))
            assert reported >= product_delta(uses, gamma) * (1 - F(NEAR)), (rows, chosen, gamma)
            most = composed(dominating_atoms(rows), k, gamma * (1 - F(1, 10**14)))  # ln γ was rounded
            assert reported <= most * (1 + F(NEAR)) + F(1, 10**15), (rows, k, gamma)
            continue
        delta = F(random.choice((1, 10, 100)), 1000)
        epsilon, slack = (spent.epsilon(delta), F(NEAR)) if question < 0.4 else (spent.interval(delta)[1], F(0))
        if epsilon == inf:
            assert 1 - (1 - dominating_atoms(rows).infinite) ** k > delta, (rows, k, delta)
            continue
        gamma = exp_up(epsilon)
        assert product_delta(uses, gamma) <= delta * (1 + slack), (rows, chosen, delta)
        if slack and epsilon > 0:
            least = composed(dominating_atoms(rows), k, gamma * (1 - F(NEAR)))
            assert least >= delta * (1 - F(NEAR)), (rows, k, delta)


def exp_up(epsilon: float) -> Fraction:
    """A rational just above e^ε."""
    with ctx.workprec(120):
        numerator = int((arb(epsilon).exp() * 2**80).ceil().unique_fmpz())
    return F(numerator, 2**80)


def test_an_output_that_only_one_input_has_costs_its_probability_at_any_epsilon() -> None:
    rows = ((F(9, 10), F(1, 10)), (F(1), F(0)))
    spent = PrivacyLoss.from_table(rows)
    assert ratio_of_table(rows) is None
    assert spent.epsilon(0) == inf
    assert spent.delta(50) == pytest.approx(0.1, rel=1e-15)
    assert (3 * spent).delta(50) == pytest.approx(1 - 0.9**3, rel=1e-14)


def test_equal_rows_cost_nothing() -> None:
    row = (F(1, 3), F(1, 6), F(1, 2))
    spent = PrivacyLoss.from_table((row, row, row))
    assert spent.epsilon(0) == 0
    assert spent.delta(0) == 0
    assert (1000 * spent).epsilon(0) == 0


def test_an_output_that_never_happens_changes_nothing() -> None:
    padded = tuple((*row, F(0)) for row in COIN)
    assert dominating_atoms(padded) == dominating_atoms(COIN)
    assert PrivacyLoss.from_table(padded).delta(0.3) == PrivacyLoss.from_table(COIN).delta(0.3)


def test_the_order_of_rows_and_outputs_does_not_matter() -> None:
    random = Random(8)
    for rows in tables(9, repeats(8)):
        order = random.sample(range(len(rows[0])), len(rows[0]))
        mixed = tuple(tuple(row[y] for y in order) for row in random.sample(rows, len(rows)))
        assert dominating_atoms(mixed) == dominating_atoms(rows)


def test_tables_are_taken_as_the_decimals_they_print() -> None:
    assert PrivacyLoss.from_table([[0.1, 0.9], [0.3, 0.7]]) == PrivacyLoss.from_table(
        [[F(1, 10), F(9, 10)], [F(3, 10), F(7, 10)]]
    )


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ((F(1),),),
        ((), ()),
        ((F(1, 2), F(1, 2)), (F(1),)),
        ((F(1, 2), F(1, 3)), (F(1, 2), F(1, 2))),
        ((F(3, 2), F(-1, 2)), (F(1, 2), F(1, 2))),
        ((float("nan"), F(1)), (F(1, 2), F(1, 2))),
        (("1/2", "1/2"), (F(1, 2), F(1, 2))),
        (F(1), F(1)),
        F(1),
        None,
    ],
)
def test_what_is_no_table_of_probabilities_is_refused_by_name(rows: object) -> None:
    with pytest.raises(Invalid, match="rows"):
        FiniteTable(rows)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="rows"):
        PrivacyLoss.from_table(rows)  # type: ignore[arg-type]
