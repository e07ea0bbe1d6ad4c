"""Planted bugs of `discreet.audit` in what is tried: the zoo, the subjects, made-up neighbours; and bugs elsewhere that they tell."""

from functools import partial

from tests.audit import test_subjects as subjects
from tests.audit import test_zoo as zoo
from tests.mutants import Mutant

TRIAL = "discreet.audit.zoo.trial:"
SUBJECTS = "discreet.audit.subjects:"
DECLARED = "discreet.audit.declared:"
EXAMINATION = "discreet.audit.examination:"


def told(name: str) -> partial[None]:
    return partial(zoo.test_what_is_broken_is_told_by_each_method_that_is_said_to, zoo.zoo.find(name))


def keys_are_not_accused() -> None:
    """With enough outputs to see what has probability δ."""
    assert not zoo.told(zoo.zoo.find("threshold-that-is-passed"), zoo.SAMPLING, 100_000)


def holds_out(kind: str) -> None:
    """Every claim of a kind, as the registry tells it now."""
    for subject in subjects.subjects.of_mechanisms():
        if subject.kind == kind:
            finding = subject.audit(15_000)
            assert not finding.fails, finding.verdict


TELLS_THE_DIVISOR = told("exact-divisor")
COUNTS = partial(holds_out, "Geometric")
WINNERS = partial(holds_out, "NoisyMax")
KEYS = partial(holds_out, "LaplaceThreshold")

MUTANTS = (
    Mutant(
        "laws-are-compared-at-no-epsilon",
        TRIAL + "_breaks",
        "exp(specimen.epsilon)",
        "1",
        "whatever tells anything is accused",
        zoo.test_laws_are_compared_in_both_directions_at_their_delta,
    ),
    Mutant(
        "laws-are-compared-at-no-delta",
        TRIAL + "_breaks",
        "excess > specimen.delta + ROUNDING",
        "excess > ROUNDING",
        "what fails with probability δ is accused",
        zoo.test_laws_are_compared_in_both_directions_at_their_delta,
    ),
    Mutant(
        "laws-are-compared-in-one-direction",
        TRIAL + "told",
        "_breaks(specimen, x, y) or _breaks(specimen, y, x)",
        "_breaks(specimen, x, y)",
        "what happens on the second neighbour alone is not told",
        zoo.test_laws_are_compared_in_both_directions_at_their_delta,
    ),
    Mutant(
        "samples-at-no-delta",
        TRIAL + "sampled",
        "delta=specimen.delta",
        "delta=0",
        "a rule for keys that fails with probability δ is accused",
        keys_are_not_accused,
    ),
    Mutant(
        "twins-of-one-course",
        TRIAL + "_alike",
        "for seed in COURSES",
        "for seed in (0,)",
        "a quotient that happens to be 0 hides its divisor",
        TELLS_THE_DIVISOR,
    ),
    Mutant(
        "missed-is-detected",
        TRIAL + "_score",
        "if not alarm),",
        "if alarm),",
        "the table names what was detected as missed",
        zoo.test_a_benchmark_counts_what_is_detected_missed_and_wrongly_accused,
    ),
    Mutant(
        "sound-ones-are-not-tried",
        TRIAL + "_score",
        "verdicts(broken), verdicts(sound)",
        "verdicts(broken), []",
        "a method that accuses everybody looks perfect",
        zoo.test_a_benchmark_counts_what_is_detected_missed_and_wrongly_accused,
    ),
    Mutant(
        "claims-of-the-registry-are-doubled",
        SUBJECTS + "claim",
        "return epsilon, delta",
        "return 2 * epsilon, delta",
        "a mechanism is audited against more than it claims",
        subjects.test_claims_are_those_of_the_mechanism_itself,
    ),
    Mutant(
        "nothing-ever-fails",
        "discreet.audit.subject:Finding.fails",
        "bool(self.differences) or self.bound > self.epsilon",
        "bool(self.differences)",
        "a bound above the claim is no failure",
        subjects.test_a_claim_that_is_too_small_fails_with_its_evidence,
    ),
    Mutant(
        "refusals-are-not-told",
        SUBJECTS + "_of_reports",
        "differences=(*differences, *refused)",
        "differences=differences",
        "a question that nobody can ask passes",
        subjects.test_a_question_that_cannot_be_answered_is_told,
    ),
    Mutant(
        "neighbours-in-two-people",
        DECLARED + "_tables",
        "_columns(names, [*others, *theirs])",
        "_columns(names, [*others[1:], *theirs])",
        "made-up tables are no neighbours",
        partial(subjects.test_made_up_tables_are_neighbours, {}),
    ),
    Mutant(
        "nobody-has-many-rows",
        DECLARED + "neighbours",
        "most = LENGTHS[seed % len(LENGTHS)]",
        "most = 1",
        "a plan that forgets its limit on rows is not told",
        subjects.test_the_length_of_a_person_is_tried_to_the_limit,
    ),
    Mutant(
        "failures-are-not-drawn",
        EXAMINATION + "_row",
        "' FAILS' if finding.fails else ''",
        "''",
        "the picture does not tell what fails",
        subjects.test_an_examination_is_a_table_and_a_picture,
    ),
    Mutant(
        "rows-not-capped-for-twins",
        "discreet.plan.gathering:gathered",
        "if rows is None else CapRows(everything, rows)",
        "",
        "the cap on rows is left out of the query, and the questions of an audit tell",
        subjects.test_questions_stay_within_the_limits_of_the_policy,
    ),
    Mutant(
        "half-the-noise-of-a-subject",
        "discreet.mechanisms.geometric:Geometric._noise",
        "discrete_laplace(self.scale, size",
        "discrete_laplace(self.scale / 2, size",
        "a mechanism draws half of the noise that it is charged for, and the registry tells",
        COUNTS,
    ),
    Mutant(
        "winner-with-a-quarter-of-the-noise",
        "discreet.mechanisms.noisy_max:NoisyMax._released",
        "discrete_laplace(self.scale, scores.shape",
        "discrete_laplace(self.scale / 4, scores.shape",
        "scores get a quarter of the noise that is charged for, and the registry tells",
        WINNERS,
    ),
    Mutant(
        "reaching-is-enough",
        "discreet.mechanisms.keys.threshold:Threshold.__call__",
        "noisy > self.threshold",
        "noisy >= self.threshold - 2",
        "keys pass too often, and the registry tells",
        KEYS,
    ),
)
