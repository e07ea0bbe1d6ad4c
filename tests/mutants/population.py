"""Planted bugs of intervals for a population: what is squared, how far it is said to move, what it costs, and what is made of it."""

from contextlib import nullcontext

from discreet.plan import relation as r
from tests.engines import test_second_moments as engines
from tests.engines.test_caps import BY_PERSON, many_rows
from tests.engines.twins import agree
from tests.mutants import Mutant
from tests.plan import test_population as laws

POPULATION = "discreet.plan.population:"
READING = "discreet.plan.moment_reading:"
SAMPLING = "discreet.plan.sampling:"
RULES = "discreet.plan.rules.relations:"


def alike() -> None:
    """In coarse steps, of both signs."""
    query = r.Totals(r.SecondMoments(r.CapRows(BY_PERSON, 3), engines.PAIRS, (1, 15, 0)))
    with nullcontext():
        agree(many_rows(20, 8, 200, 5), [query])


def covered() -> None:
    laws.the_population_is_covered([laws.Sampled("five", 60, 8)])


MUTANTS = (
    Mutant(
        "rows-are-squared-and-not-people",
        READING + "MomentsAsked.priced",
        "if self.single:",
        "if True:",
        "what a person gives is squared row by row, and people with many rows seem to differ little",
        laws.moments_are_of_people,
    ),
    Mutant(
        "a-second-moment-without-noise",
        READING + "SampledMoments.drawn",
        "[add(exact) for add,",
        "[exact for add,",
        "how much people differ is told exactly",
        laws.test_twins_tell_nobody_apart,
    ),
    Mutant(
        "the-sensitivity-of-a-square-is-not-squared",
        RULES + "_of_product",
        "l1 = floor(norm(one, cells) * norm(other, cells))",
        "l1 = floor(norm(one, cells))",
        "noise hides what a person gives, and not its square",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "a-square-is-of-one-group",
        RULES + "_of_product",
        "norm(one, cells) * norm(other, cells)",
        "norm(one, 1) * norm(other, 1)",
        "a person is in several groups, and noise is made for one",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "whoever-replaces-somebody-has-no-square",
        RULES + "_of_product",
        "return Sensitivity(2 * l1, 4 * square, relation)",
        "return Sensitivity(l1, square, relation)",
        "one person leaves and another comes, and one of them is counted",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "a-norm-is-clipped-for-products",
        RULES + "_gathered_terms",
        "isinstance(query.source, SecondMoments)",
        "False",
        "limits on norms are looked for at products, which have none",
        laws.the_price_is_shared,
    ),
    Mutant(
        "second-moments-are-not-charged",
        READING + "SampledMoments.event",
        "for mechanism, sensitivity in noises",
        "for mechanism, sensitivity in ()",
        "second moments are drawn at no price",
        laws.the_price_is_shared,
    ),
    Mutant(
        "second-moments-cost-nothing-of-the-answer",
        POPULATION + "weight_of",
        "measurements * SHARE / (1 - SHARE) if moments else Fraction(0)",
        "measurements * SHARE",
        "second moments have another share than is said",
        laws.the_price_is_shared,
    ),
    Mutant(
        "a-second-moment-is-not-checked",
        READING + "SampledMoments.check",
        "if sensitivity < combined",
        "if 2 * sensitivity < combined",
        "noise for less than a neighbour does is let through",
        laws.a_plan_holds_or_is_a_fault,
    ),
    Mutant(
        "everybody-counts-once",
        POPULATION + "_counts_once",
        "rows is not RowsEach.SEVERAL",
        "True",
        "the square of a count is read from the count itself, of people with several rows",
        laws.moments_are_of_people,
    ),
    Mutant(
        "lots-leave-nothing-out",
        POPULATION + "_within",
        "by_lot = rows is RowsEach.CAPPED and whole.how is How.SUM",
        "by_lot = False",
        "a product with a count of one row is read from a sum, although the lot may leave out the row that counts",
        laws.moments_are_of_people,
    ),
    Mutant(
        "a-product-is-its-first-factor",
        POPULATION + "_product",
        "return Product(one, other, _shift(one, other), 0)",
        "return one",
        "a square of one row is taken for the number itself",
        laws.moments_are_of_people,
    ),
    Mutant(
        "half-of-the-covariance",
        SAMPLING + "Sampling.deviations",
        "(1 if one == other else 2)",
        "1",
        "the residual of a ratio is taken for another",
        laws.deviations_are_of_people,
    ),
    Mutant(
        "a-variance-without-an-upper-bound",
        SAMPLING + "Sampling.deviations",
        "np.maximum(variance, 0.0) + np.hypot(",
        "np.maximum(variance, 0.0) + 0.0 * np.hypot(",
        "what noise may have taken away is taken away once more",
        laws.deviations_are_of_people,
    ),
    Mutant(
        "nobody-else-might-have-come",
        SAMPLING + "Sampling.deviations",
        "largest = largest + self._largest(one, other, product)",
        "largest = largest + 0.0",
        "samples that lack those who give most are believed",
        laws.deviations_are_of_people,
    ),
    Mutant(
        "one-more-might-have-come",
        SAMPLING + "several",
        "max(3.0, 3 * NormalDist()",
        "max(0.0, NormalDist()",
        "of rare events hardly anybody is expected beyond those who came",
        laws.rare_people_are_covered,
    ),
    Mutant(
        "a-variance-is-as-it-was-released",
        SAMPLING + "margin",
        "return (1 - log(1 - confidence)) / 6",
        "return 0.0",
        "a variance that noise made small is believed",
        laws.margins_are_enough,
    ),
    Mutant(
        "nobody-was-sampled",
        SAMPLING + "Sampling.span",
        "noises, confidence, spread)",
        "noises, confidence)",
        "intervals of totals are for the noise alone",
        covered,
    ),
    Mutant(
        "nobody-was-sampled-for-a-ratio",
        "discreet.plan.spread:regions",
        "beside(u, v).reshape(-1)[i : i + PIECE]",
        "0.0",
        "intervals of means are for the noise alone",
        covered,
    ),
    Mutant(
        "columns-miss-by-themselves",
        "discreet.plan.simultaneous:confidence_of_each",
        "return 1 - missed / several",
        "return 1 - missed",
        "each column takes all that may be missed",
        laws.test_confidence_is_shared_by_all_numbers,
    ),
    Mutant(
        "people-are-in-one-group",
        "discreet.plan.simultaneous:confidence_of_each",
        "question.population or ",
        "",
        "groups are taken for independent that have people in common",
        laws.test_confidence_is_shared_by_all_numbers,
    ),
    Mutant(
        "steps-are-floors",
        "discreet.engines.render.second_moments:_steps",
        "divisor // 2",
        "0",
        "coarse steps are the lower ones, and not the nearest",
        alike,
    ),
)
