"""Descents are audited: what is longer than its clip, and what is told beside the noise, counts against them."""

from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from discreet.audit import trained
from discreet.learn import LeastSquares, Trained, TrainingPlan, descend
from discreet.learn.training_plan import STEPS_OF_CLIP
from discreet.mechanisms import Geometric


class Longer(LeastSquares):
    """Gradients that are clipped to twice what is paid for."""

    def clipped(self, weights: Any, batch: Any) -> Any:
        return 2 * super().clipped(weights, batch)


def exactly(problem: Any, plan: TrainingPlan, *arguments: Any, **said: Any) -> Trained:
    """A descent that shows the first gradient without noise beside all else."""
    found = descend(problem, plan, *arguments, **said)
    exact = np.asarray(problem.clipped(np.zeros(problem.shape), slice(None)), np.float64)
    return replace(found, path=(exact, *found.path))


def gradients_beyond_the_clip_are_told() -> None:
    with mock.patch.object(trained, "LeastSquares", Longer):
        for subject in trained.of_training():
            assert any("and it is made for" in each for each in subject.differences), subject.name


def test_gradients_beyond_the_clip_are_told() -> None:
    gradients_beyond_the_clip_are_told()


def what_is_told_beside_the_noise_counts() -> None:
    with mock.patch.object(trained, "descend", exactly):
        for subject in trained.of_training():
            assert any("the answer differs" in each for each in subject.differences), subject.name


def test_what_is_told_beside_the_noise_counts() -> None:
    what_is_told_beside_the_noise_counts()


def errors_are_told() -> None:
    """A descent that ends alike on both sides, with an error, was not audited."""
    with mock.patch.object(trained, "descend", lambda *arguments, **said: [][0]):
        for subject in trained.of_training():
            assert any("it is not trained" in each for each in subject.differences), subject.name


def test_errors_are_told() -> None:
    errors_are_told()


def batches_are_drawn_anew_in_each_run() -> None:
    """With noise of nearly nothing, whoever is alone is in half of the batches: 5 deviations of 200 runs of two steps, 1 in a million."""
    kind = trained.tiny(rate=Fraction(1, 2))
    kind.plan.__dict__["noise"] = Geometric(Fraction(STEPS_OF_CLIP, 10**6))
    runs = np.abs([kind([trained.LAST]) for _ in range(200)])
    assert abs((runs[:, 1] > 1e-3).sum() - 100) < 36 and abs((runs[:, 3] > runs[:, 1] + 1e-3).sum() - 100) < 36


def test_batches_are_drawn_anew_in_each_run() -> None:
    batches_are_drawn_anew_in_each_run()


def test_too_little_noise_is_found_in_whole_runs() -> None:
    """Noise of a twentieth, with the claim as it is: runs alone tell, and twins, who have the same batch, do not."""
    sound = next(each for each in trained.of_training() if each.kind == "Sampled")
    kind = trained.tiny(delta=trained.TRAINED_DELTA, rate=Fraction(1, 2))
    kind.plan.__dict__["noise"] = type(kind.plan.noise)(kind.plan.noise.scale / 20)
    broken = replace(sound, mechanism=kind)
    assert broken.audit(500).fails and not sound.audit(500).fails
