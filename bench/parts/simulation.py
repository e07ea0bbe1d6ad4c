"""The tables that settled how a limit is found: which share of ε, which threshold and ladder, which noise, from how many groups on."""

from collections.abc import Callable, Iterator, Sequence
from math import sqrt

import numpy as np

from parts.limits import Grouped, Rule, Totals, first_below, gaussian_error, gaussian_scale, ladder, laplace_error
from parts.people import EVEN, HOME, ONE, ROWS, SIGMA_1, SIGMA_2, TEN, TRAVEL, UNIFORM, ZIPF, Generator, Whole, spread
from parts.table import Table, figure

EPSILON, DELTA, PEOPLE = 0.5, 1e-8, 4_000
KEPT = Rule()
NARROW = Rule(by_groups=0)
GROUPS = (20, 50, 200, 500)
SPLITS = {"1:2": 1 / 3, "1:1": 1 / 2, "2:1": 2 / 3, "3:1": 3 / 4, "5:1": 5 / 6}


def tables(runs: int, seed: int = 0) -> Iterator[Table]:
    """All of them; `runs` is how often each way of finding a limit is tried on each of the made-up tables."""
    bits = np.random.default_rng(seed)
    yield shares(runs, bits)
    yield prices(runs, bits)
    yield thresholds(runs, bits)
    yield splits(runs, bits)
    yield ladders(runs, bits)
    yield sums(runs, bits)
    yield sizes(runs, bits)
    yield wide_thresholds(runs, bits)
    yield noises(runs, bits)
    yield caps(runs, bits)
    yield few_cells(bits)
    yield few_groups(runs, bits)


def counted(kind: str, people: int, bits: Generator, tries: int = 7) -> list[Totals]:
    made = (ROWS[kind](people, bits) for _ in range(tries))
    return [Totals(rows, rows.astype(float)) for rows in made]


def ratio(made: Sequence[Totals], epsilon: float, rule: Rule, runs: int, bits: Generator) -> float:
    """The median over tables of the error beside that of the best fixed limit."""
    return float(np.median([each.found(epsilon, rule, runs, bits) / each.best(epsilon) for each in made]))


def by_rule(title: str, text: str, rules: dict[str, Rule], runs: int, bits: Generator) -> Table:
    lines = []
    for kind in ROWS:
        made = counted(kind, PEOPLE, bits)
        lines.append([kind, *(figure(ratio(made, EPSILON, rule, runs, bits)) for rule in rules.values())])
    return Table(title, text, ["rows a person", *rules], lines)


def shares(runs: int, bits: Generator) -> Table:
    rules = {f"1/{n}": Rule(finding=1 / n) for n in (8, 6, 4, 3, 2)}
    text = f"COUNT(*) of {PEOPLE:,} people, ε = {EPSILON}, by the share of ε that finds the limit."
    return by_rule("The share of ε", text, rules, runs, bits)


def prices(runs: int, bits: Generator) -> Table:
    prices = (0.1, 0.5, 1, 2)
    sizes = (500, 1_000, 4_000, 50_000)
    lines = []
    for kind in ROWS:
        for people in sizes:
            made = counted(kind, people, bits, 5)
            lines.append([kind, f"{people:,}", *(figure(ratio(made, each, KEPT, runs, bits)) for each in prices)])
    head = ["rows a person", "people", *(f"ε = {each:g}" for each in prices)]
    return Table("Prices and sizes", "COUNT(*), a quarter of ε finds the limit.", head, lines)


def thresholds(runs: int, bits: Generator) -> Table:
    rules = {f"{constant:g}/ε₁": Rule(constant=constant, by_groups=0) for constant in (0, 1, 2, 2.5, 3, 4, 8)}
    text = "The same, by the threshold."
    return by_rule("The threshold", text, rules, runs, bits)


def splits(runs: int, bits: Generator) -> Table:
    """Beside the median error: of how many searches in a thousand the limit is more than eight times what anybody has."""
    rules = {split: Rule(weight=weight) for split, weight in SPLITS.items()}
    lines = []
    for kind in ROWS:
        made = counted(kind, PEOPLE, bits)
        far = (
            1000 * np.mean([each.too_far(EPSILON, rule, 4 * runs, bits) for each in made]) for rule in rules.values()
        )
        medians = (ratio(made, EPSILON, rule, runs, bits) for rule in rules.values())
        lines.append([kind, *(f"{figure(error)}, {often:.1f} ‰" for error, often in zip(medians, far, strict=True))])
    text = (
        "The same, by how ε₁ is split between the noise of the threshold and that of the counts; and how many searches in a thousand"
        " end at more than eight times the rows that anybody has."
    )
    return Table("The split of ε₁", text, ["rows a person", *rules], lines)


def ladders(runs: int, bits: Generator) -> Table:
    rules = {f"× {step:g}": Rule(step=step) for step in (1.1, 1.25, 1.5, 2)}
    return by_rule("The ladder", "The same, by the step of the ladder.", rules, runs, bits)


def sums(runs: int, bits: Generator) -> Table:
    """SUM of values within bounds 0 … 1, of which the mean is half the upper bound, a tenth of it, or a hundredth."""
    means = (0.5, 0.1, 0.01)
    lines = []
    for kind in ROWS:
        cells = []
        for mean in means:
            rows = [ROWS[kind](PEOPLE, bits) for _ in range(5)]
            made = [Totals(each, mean * each * bits.uniform(0.5, 1.5, PEOPLE)) for each in rows]
            cells.append(figure(ratio(made, EPSILON, KEPT, runs, bits)))
        lines.append([kind, *cells])
    text = "SUM(x), by the mean of x beside the upper bound that is declared for it: the limit is found by rows, not by values."
    return Table("Sums", text, ["rows a person", *(f"mean {mean:g} of the bound" for mean in means)], lines)


def sizes(runs: int, bits: Generator) -> Table:
    """The error as a part of the truth, by the number of people times ε₁."""
    people = (100, 200, 500, 1_000, 4_000, 10_000, 50_000)
    lines = []
    for kind in ROWS:
        cells = []
        for each in people:
            made = counted(kind, each, bits, 5)
            errors = [table.found(EPSILON, KEPT, runs, bits) / table.values.sum() for table in made]
            cells.append(f"{100 * np.median(errors):.2g} %")
        lines.append([kind, *cells])
    head = ["rows a person", *(f"{each * EPSILON * KEPT.finding:g}" for each in people)]
    return Table(
        "How many people it takes", "The median error as a part of the whole count, by people times ε₁.", head, lines
    )


def grouped(
    kinds: Sequence[str],
    shapes: Sequence[str],
    groups: Sequence[int],
    bits: Generator,
    cell: Callable[[Whole], Sequence[str]],
) -> list[list[str]]:
    """A line for each kind and shape, with the cells of each number of groups."""
    return [
        [
            f"{kind}, {shape}",
            *(part for each in groups for part in cell(spread(ROWS[kind](PEOPLE, bits), shape, each, bits))),
        ]
        for kind in kinds
        for shape in shapes
    ]


def wide_thresholds(runs: int, bits: Generator) -> Table:
    def cell(rows: Whole) -> list[str]:
        table = Grouped(rows)
        best = table.best(EPSILON)
        return [figure(table.found_total(EPSILON, rule, runs // 4, bits) / best) for rule in (NARROW, KEPT)]

    kinds = (UNIFORM, SIGMA_1, SIGMA_2, TRAVEL)
    lines = grouped(kinds, (EVEN, HOME), GROUPS, bits, cell)
    head = ["rows a person, groups", *(part for each in GROUPS for part in (f"{each}: fixed", f"{each}: grows"))]
    text = "COUNT(*) by group, geometric noise, beside the best fixed C; the threshold is 2.5/ε₁, or G/(4ε₂) for G groups if that is more."
    return Table("The threshold by groups", text, head, lines)


def noises(runs: int, bits: Generator) -> Table:
    def cell(rows: Whole) -> list[str]:
        table = Grouped(rows)
        plain = table.found_total(EPSILON, KEPT, runs // 4, bits)
        both = table.found_both(EPSILON, DELTA, KEPT, 1 / 3, runs // 8, bits)
        after = table.chosen_after(EPSILON, DELTA, KEPT, 1 / 3, runs // 8, bits)
        return [figure(both / plain), figure(after / plain)]

    lines = grouped((UNIFORM, SIGMA_1, SIGMA_2), (EVEN, ZIPF, TEN, HOME), GROUPS, bits, cell)
    head = ["rows a person, groups", *(part for each in GROUPS for part in (f"{each}: Gaussian", f"{each}: by C/r"))]
    text = (
        f"The error of Gaussian noise with r and C found (δ = {DELTA:g}) beside that of geometric noise with C found; and where the "
        "kind is chosen by the released r and C."
    )
    return Table("Which noise", text, head, lines)


def caps(runs: int, bits: Generator) -> Table:
    def cell(rows: Whole) -> list[str]:
        fine, coarse = Grouped(rows), Grouped(rows, 2)
        third = fine.found_both(EPSILON, DELTA, KEPT, 1 / 3, runs // 4, bits)
        others = [fine.found_both(EPSILON, DELTA, KEPT, part, runs // 4, bits) for part in (1 / 6, 1 / 2)]
        return [
            figure(each / third) for each in (*others, coarse.found_both(EPSILON, DELTA, KEPT, 1 / 3, runs // 4, bits))
        ]

    lines = grouped((UNIFORM, SIGMA_1, SIGMA_2), (EVEN, HOME), (50,), bits, cell)
    head = ["rows a person, 50 groups", "r by 1/6", "r by 1/2", "r by powers of two"]
    text = "Gaussian noise, beside a third of ε₁ for r on the ladder of C."
    return Table("The share and the ladder of r", text, head, lines)


def few_cells(bits: Generator) -> Table:
    """COUNT(*) with a declared r that 99 in 100 keep to in every group."""
    groups = (2, 3, 4, 6, 8)

    def cell(rows: Whole) -> list[str]:
        cap = max(1, int(np.quantile(rows.max(axis=1), 0.99)))
        kept = np.minimum(rows, cap)
        lost, cells = (rows - kept).sum(axis=0).astype(float), rows.shape[1]
        by_cells = laplace_error(lost, cap * cells / EPSILON)
        table = Grouped(kept)
        at = first_below(
            table.beyond(len(table.caps) - 1), EPSILON * KEPT.finding, KEPT.threshold(EPSILON, cells), 200, bits
        )
        errors = [
            laplace_error(lost + table.cut(len(table.caps) - 1, int(total)), table.totals[total] / KEPT.answer(EPSILON))
            for total in at
        ]
        return [figure(by_cells / float(np.median(errors)))]

    lines = grouped((ONE, UNIFORM, SIGMA_1, SIGMA_2), (EVEN, HOME), groups, bits, cell)
    text = "A declared r times the number of groups, at the whole ε, beside C found: above 1 finding is better."
    return Table("Few groups: rows", text, ["rows a person, groups", *map(str, groups)], lines)


def few_groups(runs: int, bits: Generator) -> Table:
    """COUNT(DISTINCT person) by group: the number of groups as the bound, beside one that is found."""
    groups = (2, 3, 4, 5, 6, 8, 12, 20, 50)
    kinds: dict[str, Callable[[int], Whole]] = {
        "everybody in one": lambda most: np.ones(PEOPLE, np.int64),
        "one or two": lambda most: 1 + (bits.random(PEOPLE) < 0.3),
        "geometric": lambda most: np.minimum(most, bits.geometric(0.5, PEOPLE)),
        "uniform, or all": lambda most: bits.integers(1, most + 1, PEOPLE),
    }
    lines = []
    for name, make in kinds.items():
        for noise in ("geometric noise", "Gaussian noise"):
            cells = []
            for most in groups:
                has = make(most)
                rungs = np.append(ladder()[ladder() < most], most)
                beyond = np.array([int((has > rung).sum()) for rung in rungs])
                cut = [np.array([float(np.maximum(0, has - rung).sum() / most)]) for rung in rungs]
                at = first_below(beyond, EPSILON * KEPT.finding, KEPT.threshold(EPSILON, most), runs, bits)
                rest = KEPT.answer(EPSILON)
                if noise == "geometric noise":
                    whole, found = most / EPSILON, [laplace_error(cut[i], rungs[i] / rest) for i in at]
                else:
                    whole = gaussian_error(np.zeros(1), gaussian_scale(EPSILON, DELTA) * sqrt(most))
                    found = [gaussian_error(cut[i], gaussian_scale(rest, DELTA) * sqrt(rungs[i])) for i in at]
                cells.append(figure(whole / float(np.median(found))))
            lines.append([f"{name}, {noise}", *cells])
    text = "The number of groups as the bound, at the whole ε, beside g found: above 1 finding is better."
    return Table("Few groups: people", text, ["groups a person", *map(str, groups)], lines)
