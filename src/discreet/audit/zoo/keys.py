"""Names of groups that nobody was promised: keys of the data, thresholds for other noise, and counts of what was left out."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.zoo.specimen import SAMPLING, TWINS, Ints, Specimen
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.keys import LaplaceThreshold
from discreet.noise import discrete_laplace

if TYPE_CHECKING:
    from discreet.audit.twins import Draws

DELTA = 1e-3
RULE = LaplaceThreshold.for_noise(1, DELTA)
ALONE = ((30, 0), (30, 1))
"""People by key; on one side somebody has a key of their own."""
BOTH = (TWINS, SAMPLING)


def noisy_counts(counts: tuple[int, ...], size: int, scale: float = 1) -> Ints:
    return np.array(counts) + discrete_laplace(scale, (size, len(counts)))


def last_of(counts: tuple[int, ...], noisy: Ints, kept: Any) -> Ints:
    """The noisy count of the last key where it is shown, and 0 where it is not."""
    shown: Ints = np.where(kept & (np.array(counts) > 0), noisy, 0)[:, -1]
    return shown


def all_keys(counts: tuple[int, ...], size: int) -> list[list[int]]:
    """Every key that somebody has, with a noisy count."""
    noisy = noisy_counts(counts, size)
    there = np.array(counts) > 0
    return [list(row) for row in noisy[:, there].tolist()]


def all_keys_drawn(counts: tuple[int, ...], draws: "Draws") -> Any:
    return [draws(Geometric(1), 1, partial(int, count)) for count in counts if count]


def too_low(counts: tuple[int, ...], size: int) -> Ints:
    """Noise of scale 2 with the threshold for scale 1."""
    noisy = noisy_counts(counts, size, 2)
    return last_of(counts, noisy, noisy > RULE.threshold)


def reached(counts: tuple[int, ...], size: int) -> Ints:
    """Reaching the threshold is enough."""
    noisy = noisy_counts(counts, size)
    return last_of(counts, noisy, noisy >= 5)


def passed(counts: tuple[int, ...], size: int) -> Ints:
    noisy = noisy_counts(counts, size)
    return last_of(counts, noisy, noisy > 5)


def by_exact(counts: tuple[int, ...], size: int) -> Ints:
    """Keys of at least five people, by their exact count."""
    return last_of(counts, noisy_counts(counts, size), np.array(counts) >= 5)


def by_exact_drawn(counts: tuple[int, ...], draws: "Draws") -> Any:
    return [draws(Geometric(1), 1, partial(int, count)) for count in counts if count >= 5]


def by_rule(counts: tuple[int, ...], size: int) -> Ints:
    noisy = noisy_counts(counts, size)
    return last_of(counts, noisy, noisy > RULE.threshold)


def by_rule_drawn(counts: tuple[int, ...], draws: "Draws") -> Any:
    kept = draws(RULE, 1, lambda: list(counts))
    return kept.counts.tolist()


def in_three(counts: tuple[int, ...], size: int) -> Ints:
    """The total of what is shown of three keys, all far above the threshold, each with noise for one."""
    totals: Ints = noisy_counts(counts, size).sum(axis=1)
    return totals


def in_three_drawn(counts: tuple[int, ...], draws: "Draws") -> Any:
    return draws(RULE, 1, lambda: list(counts)).counts.tolist()


def three_with_noise(counts: tuple[int, ...], size: int) -> Ints:
    totals: Ints = noisy_counts(counts, size, 3).sum(axis=1)
    return totals


def left_out(counts: tuple[int, ...], size: int) -> Ints:
    """How many keys were left out, which nobody should know of."""
    kept = noisy_counts(counts, size) > RULE.threshold
    missing: Ints = ((np.array(counts) > 0) & ~kept).sum(axis=1)
    return missing


def left_out_drawn(counts: tuple[int, ...], draws: "Draws") -> Any:
    kept = draws(RULE, 1, lambda: list(counts)).mask
    return int(((np.array(counts) > 0) & ~kept).sum())


BROKEN = (
    Specimen(
        "keys-without-threshold",
        "Whatever keys the data have are shown, with noisy counts.",
        "SmartNoise with `censor_dims: False`; SELECT DISTINCT",
        all_keys,
        (ALONE,),
        delta=DELTA,
        run=all_keys_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "threshold-for-other-noise",
        "The threshold is that of noise of half the scale: keys of one person pass too often.",
        "SmartNoise #204",
        too_low,
        (ALONE,),
        delta=DELTA,
    ),
    Specimen(
        "threshold-that-is-reached",
        "Reaching the threshold is enough, and δ is worked out for passing it: 0.0134 for 0.0049.",
        "OpenDP 0.16: thresholded noise reports δ = 0.0049, the truth is 0.0133",
        reached,
        (ALONE,),
        delta=float(LaplaceThreshold(1, 5).delta_keys),
    ),
    Specimen(
        "keys-by-exact-counts",
        "Keys of at least five people are shown, by their exact count.",
        "the rule of small cells, with noise on what is left",
        by_exact,
        (((30, 4), (30, 5)),),
        delta=DELTA,
        run=by_exact_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "one-group-for-three",
        "A person is in three groups, and the noise is for one.",
        "a frequent slip: somebody in several groups, priced as in one",
        in_three,
        (((60, 60, 60), (61, 61, 61)),),
        delta=DELTA,
        truth=3.0,
        run=in_three_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "rows-pass-the-threshold",
        "The threshold is on rows, and one person with twenty rows passes it alone.",
        "a frequent slip: a threshold on rows in place of people",
        by_rule,
        (((30, 0), (30, 20)),),
        delta=DELTA,
        run=by_rule_drawn,
        detected_by=BOTH,
    ),
    Specimen(
        "keys-left-out-are-counted",
        "The answer tells how many keys were left out.",
        "'3 groups were suppressed', in many reports",
        left_out,
        (ALONE,),
        delta=DELTA,
        run=left_out_drawn,
        detected_by=BOTH,
    ),
)

SOUND = (
    Specimen(
        "keys-by-noisy-counts",
        "Keys whose noisy count passes the threshold for this noise.",
        "Korolova et al. 2009",
        by_rule,
        (ALONE, ((30, 4), (30, 5))),
        delta=DELTA,
        truth=1,
        run=by_rule_drawn,
        mends="keys-by-exact-counts",
    ),
    Specimen(
        "threshold-that-is-passed",
        "The threshold must be passed, and δ is worked out for that.",
        "`LaplaceThreshold` here",
        passed,
        (ALONE,),
        delta=float(LaplaceThreshold(1, 5).delta_keys),
        truth=1,
        mends="threshold-that-is-reached",
    ),
    Specimen(
        "three-groups-for-three",
        "A person is in three groups, and the noise is for three.",
        "`LaplaceThreshold(groups=3)` here",
        three_with_noise,
        (((60, 60, 60), (61, 61, 61)),),
        delta=DELTA,
        truth=1,
        mends="one-group-for-three",
    ),
)
