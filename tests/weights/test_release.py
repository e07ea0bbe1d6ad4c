"""Learning by what a domain is made for: the choice is public, and whichever algorithm is chosen keeps the same promises."""

from typing import Any

import numpy as np
import pytest

from discreet.cells import Binned, Categorical
from discreet.errors import Invalid
from discreet.mechanisms.measure import unmetered
from discreet.privacy import loss
from discreet.weights import ArrayTable, Domain, Learned, learn, report, synthetic
from discreet.weights.domain import Mask
from discreet.weights.release import MOST_CELLS, Algorithm, algorithm_for, masks_of
from tests.weights.synthesis import SMALL, Stopped, exact_counts, measured, stopped_after, table, unlooked

ONE = Domain(SMALL.attributes[:1])
LARGE = Domain(tuple(Binned(f"x{i}", tuple(range(13)), missing=False) for i in range(6)))  # 12^6 > 2^20 cells
DELTA = 1e-6


class Conditioned(ArrayTable):
    """Units with one condition that they know the cells of: the first cell of the first two attributes."""

    def cells(self, condition: str, attributes: Any) -> Mask:
        sizes = self.domain.shape
        mask = np.zeros([*sizes[:2], *[1] * (len(sizes) - 2)], np.bool_)
        mask[0, 0] = True
        return mask


def the_domain_decides() -> None:
    """One attribute: its counts. Up to 2^20 cells: the histogram. Beyond: margins, which need a δ. Nothing of the data is asked."""
    bits = [Categorical(f"b{i}", (0, 1), other=False, missing=False) for i in range(21)]
    for has_delta in (True, False):
        assert algorithm_for(ONE, has_delta) is Algorithm.COUNTS
        assert algorithm_for(Domain(tuple(bits[:2])), has_delta) is Algorithm.HISTOGRAM
        assert algorithm_for(Domain(tuple(bits[:20])), has_delta) is Algorithm.HISTOGRAM
    assert algorithm_for(Domain(tuple(bits)), True) is Algorithm.MARGINS
    with pytest.raises(Invalid, match="need a delta") as caught:
        algorithm_for(Domain(tuple(bits)), False)
    assert caught.value.code == "delta"
    wide = Domain((Binned("x", tuple(range(MOST_CELLS + 2))),))
    assert algorithm_for(wide, False) is Algorithm.COUNTS


def test_the_domain_decides() -> None:
    the_domain_decides()


def conditions_become_masks() -> None:
    source = Conditioned(SMALL, np.zeros((5, 3), int))
    mask = np.zeros((3, 1, 1), np.bool_)
    first, second = masks_of(source, SMALL, ["anything", mask])
    assert first[0, 0, 0] and first.sum() == 1 and second is mask
    for wrong in (np.zeros((3, 1, 1)), np.zeros((3, 3), np.bool_)):
        with pytest.raises(Invalid, match="mask of True and False"):
            masks_of(source, SMALL, [wrong])
    with pytest.raises(Invalid, match="every cell is impossible"):
        masks_of(source, SMALL, [np.ones((1, 3, 1), np.bool_)])


def test_conditions_become_masks() -> None:
    conditions_become_masks()


@pytest.mark.parametrize("terms", [{"epsilon": 0}, {"epsilon": -1}, {"epsilon": 1, "delta": -1}, {"epsilon": "x"}])
def test_a_price_that_is_none_is_refused_before_anything_is_spent(terms: dict[str, Any]) -> None:
    measure = unmetered()
    with pytest.raises(Invalid):
        learn(measured(table(10, ONE), measure), **terms)
    assert not measure.spent.terms


DOMAINS = {"counts": ONE, "histogram": SMALL, "margins": LARGE}
DOMAIN = pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)


def learned_of(domain: Domain, measure: Any, epsilon: float = 1, **terms: Any) -> Learned:
    source = Conditioned(domain, table(3_000, domain)._codes, measure)
    return learn(source, domain.names, epsilon=epsilon, delta=DELTA, key="a", **terms)


@DOMAIN
def test_what_is_learned_keeps_its_promise(domain: Domain) -> None:
    measure = unmetered()
    learned = learned_of(domain, measure)
    assert learned.promise == (1, pytest.approx(DELTA))
    assert loss(learned.event).certifies(*learned.promise)
    assert measure.spent.terms == loss(learned.event).terms


@DOMAIN
def test_progress_is_told_in_words(domain: Domain) -> None:
    steps: list[str] = []
    learned_of(domain, unmetered(), progress=steps.append)
    assert steps and all(isinstance(step, str) and len(step) < 100 for step in steps)


@DOMAIN
def test_a_model_has_marginals_rows_and_a_report(domain: Domain) -> None:
    learned = learned_of(domain, unmetered(), epsilon=10, workload=2)
    model, pair = learned.model, tuple(range(len(domain.shape)))[:2]
    assert model.total == pytest.approx(3_000, abs=300)
    assert np.allclose(model.marginal(pair).sum(), model.total) and model.marginal(pair).min() >= -1e-9
    assert np.allclose(model.marginal((0,)), model.marginal(pair).sum(axis=tuple(range(1, len(pair)))))
    counts = exact_counts(table(3_000, domain)).marginal((0,))
    assert np.abs(model.marginal((0,)) - counts).sum() < 600
    assert len(synthetic(model, 25).to_dicts()) == 25
    assert report(learned).margin(domain.names[0]) is not None and "<svg" in report(learned).to_html()


@DOMAIN
def test_under_a_key_who_was_stopped_goes_on_and_who_ended_has_the_same_again(domain: Domain) -> None:
    measure, source = unmetered(), table(3_000, domain)

    def again(source: ArrayTable) -> Learned:
        return learn(source, domain.names, epsilon=1, delta=DELTA, key="a")

    with pytest.raises(Stopped):
        again(measured(source, stopped_after(1 if len(domain.shape) > 1 else 0, measure)))
    first = again(measured(source, measure))
    second = again(unlooked(source, measure))
    for one, other in zip(first.measured, second.measured, strict=True):
        assert one.axes == other.axes and np.array_equal(one.values, other.values)
    assert np.allclose(first.model.marginal((0,)), second.model.marginal((0,)))
    assert measure.spent.terms == loss(first.event).terms


@pytest.mark.parametrize("domain", [SMALL, LARGE], ids=["histogram", "margins"])
def test_no_impossible_row_is_drawn_from_any_model(domain: Domain) -> None:
    learned = learned_of(domain, unmetered(), impossible=["the first cells"])
    assert learned.model.marginal((0, 1))[0, 0] == pytest.approx(0, abs=1e-6)
    codes = learned.model.draw(2_000)
    assert not ((codes[:, 0] == 0) & (codes[:, 1] == 0)).any()
