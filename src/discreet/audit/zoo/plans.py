"""Whole plans that leak around their noise: errors, refusals and numbers that are drawn or not by what the data hold."""

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.zoo.specimen import SAMPLING, TWINS, Specimen, rows_of
from discreet.mechanisms.geometric import Geometric
from discreet.noise import discrete_laplace

if TYPE_CHECKING:
    from discreet.audit.twins import Draws

BOTH = (TWINS, SAMPLING)
ONE = Geometric(1)
VICTIM = ([30, 40], [30, 40, 19])


def divided(ages: list[int]) -> int:
    """COUNT(*) WHERE 1/(age − 19) > 0: a database that evaluates it raises on somebody of 19."""
    return sum(1 / (age - 19) > 0 for age in ages) + int(discrete_laplace(1))


def divided_drawn(ages: list[int], draws: "Draws") -> Any:
    return draws(ONE, 1, lambda: sum(1 / (age - 19) > 0 for age in ages))


def total_division(ages: list[int]) -> int:
    return sum(age != 19 and 1 / (age - 19) > 0 for age in ages) + int(discrete_laplace(1))


def total_division_drawn(ages: list[int], draws: "Draws") -> Any:
    return draws(ONE, 1, lambda: sum(age != 19 and 1 / (age - 19) > 0 for age in ages))


def telling(ages: list[int]) -> int:
    """A failure is told with the value that it failed on."""
    for age in ages:
        if age < 20:
            raise ValueError("a value cannot be read")
    return len(ages) + int(discrete_laplace(1))


def telling_drawn(ages: list[int], draws: "Draws") -> Any:
    for age in ages:
        if age < 20:
            raise ValueError("a value cannot be read")
    return draws(ONE, 1, lambda: len(ages))


def more_when_large(ages: list[int], size: int) -> list[list[int]]:
    """A second number is told where the exact first one is large."""
    noisy = [len(ages) + discrete_laplace(1, size)]
    if len(ages) > 2:
        noisy.append(sum(age < 65 for age in ages) + discrete_laplace(1, size))
    return rows_of(noisy)


def more_when_large_drawn(ages: list[int], draws: "Draws") -> Any:
    counts = [draws(ONE, 1, lambda: len(ages))]
    if len(ages) > 2:
        counts.append(draws(ONE, 1, lambda: sum(age < 65 for age in ages)))
    return counts


def chosen_by_exact(ages: list[int], size: int) -> Any:
    """The question that is answered is chosen by exact counts: the larger half."""
    young = sum(age < 20 for age in ages)
    name = "young" if 2 * young >= len(ages) else "old"
    return [f"{name} {max(young, len(ages) - young) + noise}" for noise in discrete_laplace(1, size).tolist()]


def chosen_by_exact_drawn(ages: list[int], draws: "Draws") -> Any:
    young = sum(age < 20 for age in ages)
    name = "young" if 2 * young >= len(ages) else "old"
    return name, draws(ONE, 1, lambda: max(young, len(ages) - young))


def until_right(ages: list[int], size: int) -> Any:
    """Noise is drawn again until the answer is near to the truth."""
    noise = discrete_laplace(1, size)
    while (far := np.flatnonzero(np.abs(noise) > 0.5 * len(ages))).size:
        noise[far] = discrete_laplace(1, far.size)
    return len(ages) + noise


def kept_answer(ages: list[int], size: int) -> list[list[int]]:
    """A cache that is told of: whether the same rows were asked before, beside the answer."""
    return rows_of([len(ages) + discrete_laplace(1, size), np.full(size, int(19 in ages))])


def kept_answer_drawn(ages: list[int], draws: "Draws") -> Any:
    return [draws(ONE, 1, lambda: len(ages)), int(19 in ages)]


BROKEN = (
    Specimen(
        "division-by-zero",
        "A condition raises on one row: 1/(age − 19) tells whether somebody is 19.",
        "SmartNoise and Qrlew: a victim's exact age in seven questions; Tumult filters",
        divided,
        (VICTIM,),
        many=False,
        run=divided_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "value-that-cannot-be-read",
        "A cast that fails is an error of the question, not a missing value.",
        "SmartNoise, Qrlew, Tumult: errors of casts and overflows that the engine raises",
        telling,
        (VICTIM,),
        many=False,
        run=telling_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "more-when-large",
        "A second number is released where the exact first one is large enough.",
        "adaptive plans whose shape depends on exact values (Haeberlen, Pierce and Narayan 2011)",
        more_when_large,
        (VICTIM,),
        epsilon=2,
        run=more_when_large_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "question-by-exact-counts",
        "Which question is answered is decided by exact counts.",
        "DP-tuned models and histograms that are chosen on exact data (Papernot and Steinke 2022)",
        chosen_by_exact,
        (([30, 40, 10], [30, 40, 10, 19]),),
        run=chosen_by_exact_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "noise-until-it-fits",
        "Noise is drawn again until the answer is within half of the truth.",
        "a frequent wish of users: 'redraw what looks wrong'",
        until_right,
        (VICTIM,),
    ),
    Specimen(
        "flag-beside-the-answer",
        "A flag that depends on one row, such as a hit of a cache or a warning, stands beside the answer.",
        "state channels (Haeberlen, Pierce and Narayan 2011)",
        kept_answer,
        (VICTIM,),
        run=kept_answer_drawn,
        detected_by=BOTH,
    ),
)

SOUND = (
    Specimen(
        "division-that-is-total",
        "A quotient by 0 is no value, and no error.",
        "total functions only",
        total_division,
        (VICTIM,),
        many=False,
        truth=1,
        run=total_division_drawn,
        mends="division-by-zero",
    ),
)
