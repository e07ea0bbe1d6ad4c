"""Planted bugs of the estimators for scikit-learn, for the tests of that part: their laws need it."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.mutants import Law, Mutant
from tests.mutants.learn_torch import Tests

laws = Tests("tests.learn.test_estimators")
E = "discreet.learn.estimators."


def of_regression(law: Callable[..., Any]) -> Law:
    def of_kind() -> None:
        from discreet.learn.estimators import PrivateLinearRegression

        law(PrivateLinearRegression)

    return of_kind


def a_curator_is_charged() -> None:
    with TemporaryDirectory() as folder:
        laws.test_a_curator_is_charged(Path(folder))


MUTANTS = (
    Mutant(
        "clones-charge-nobody",
        E + "charged:Charged.__sklearn_clone__",
        "measure=measure)",
        "measure=None)",
        "a clone looks at data that nobody paid for",
        of_regression(laws.test_clones_share_who_is_charged_and_have_no_key),
    ),
    Mutant(
        "labels-are-scored-for-nothing",
        E + "charged:Charged._scored",
        "if self.measure is not None and",
        "if False and",
        "a score counts labels that nobody is charged for",
        of_regression(laws.test_labels_of_a_ledger_are_scored_nowhere),
    ),
    Mutant(
        "clones-forget-whose-rows-are-whose",
        E + "charged:Charged.__sklearn_clone__",
        "OF_ITSELF & vars(self).keys()",
        "()",
        "a clone is not told of people any more",
        of_regression(laws.test_clones_hand_on_what_they_were_told_to),
    ),
    Mutant(
        "lines-of-noise-pass-for-lines",
        "discreet.learn.refinement:Refined.told",
        "if self.left + SURE * self.doubt <= 2 * spread:",
        "if self.left <= 2 * spread + SURE * self.doubt:",
        "a line of noise alone is given without a word",
        lambda: laws.test_a_line_that_may_be_noise_is_told(0),
    ),
    Mutant(
        "copies-charge-nobody",
        E + "charged:Charged.__deepcopy__",
        '{"measure": self.measure, "key": None}',
        '{"measure": None, "key": None}',
        "a copy looks at data that nobody paid for",
        of_regression(laws.test_clones_share_who_is_charged_and_have_no_key),
    ),
    Mutant(
        "who-is-charged-is-lost-on-the-way",
        E + "charged:Charged._charges_nobody",
        "if self.measure is not None:",
        "if False:",
        "an estimator is pickled with who is charged",
        lambda: told(of_regression(laws.test_who_is_charged_is_never_pickled)),
    ),
    Mutant(
        "values-are-judged",
        E + "charged:Charged._table",
        "ensure_all_finite=False",
        "ensure_all_finite=True",
        "an error tells of a value",
        lambda: told(laws.test_values_that_are_no_numbers_raise_nothing),
    ),
    Mutant(
        "cells-are-judged",
        E + "charged:Charged._table",
        "dtype=None",
        "dtype=float",
        "an error tells a value",
        lambda: told(laws.test_values_that_are_no_numbers_raise_nothing),
    ),
    Mutant(
        "scikit-learn-reads-lists",
        E + "charged:_cells",
        "return np.asarray(given, object)",
        "return given",
        "a cell that is no number shows those beside it in an error",
        lambda: told(laws.cells_alone_raise_nothing),
    ),
    Mutant(
        "a-usual-price",
        E + "charged:Charged._price",
        "if self.epsilon is None:",
        "if self.epsilon is None:\n        return 1\n    if False:",
        "who sets no price pays one that nobody chose",
        of_regression(laws.test_what_must_be_declared_is_asked_for),
    ),
    Mutant(
        "fits-that-charge-nobody",
        E + "regressor:PrivateLinearRegression.fit",
        "measure=self.measure",
        "measure=None",
        "a curator is not charged",
        a_curator_is_charged,
    ),
    Mutant(
        "everybody-descends",
        E + "regressor:PrivateLinearRegression._descent",
        'if self.method == "statistics":',
        'if self.method != "descent":',
        "a method that nobody knows is another",
        lambda: laws.test_other_ways_are_refused({"method": "guess"}, "method"),
    ),
    Mutant(
        "classes-of-the-data",
        E + "classifier:PrivateLogisticRegression.fit",
        "classes=self._declared(\"classes\", \"['no', 'yes']\")",
        "classes=sorted(set(labels.tolist()) | {'no'})",
        "the shape of a release is that of the labels",
        lambda: laws.test_labels_that_were_not_declared_change_nothing(),
    ),
    Mutant(
        "scales-that-charge-nobody",
        E + "scalers:_release",
        "measure=estimator.measure",
        "measure=None",
        "a curator is not charged",
        a_curator_is_charged,
    ),
)


def told(law: Callable[[], Any]) -> None:
    """A law that an error of scikit-learn's or of pickle breaks."""
    try:
        law()
    except (TypeError, ValueError) as error:
        raise AssertionError from error
