"""The theorem behind multiplicative weights: each update on a query that was answered badly brings the histogram nearer to the data."""

from math import log

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.cells import Categorical
from discreet.weights.domain import Domain
from discreet.weights.histogram import Histogram


def histogram(weights: np.ndarray) -> Histogram:
    cells = Categorical("cell", tuple(range(weights.size)), other=False, missing=False)
    return Histogram(Domain((cells,)), weights, 1.0)


def divergence(data: np.ndarray, model: Histogram) -> float:
    """Relative entropy of the data to the model; cells without data add nothing."""
    inside = data > 0
    return float((data[inside] * np.log(data[inside] / model.weights[inside])).sum())


def drop(data: np.ndarray, model: Histogram, query: np.ndarray) -> tuple[float, float]:
    """By how much one update lowers the divergence, and how far off the query was; the step is half of that, as in MWEM."""
    error = float(query @ data) - float(query @ model.weights)
    return divergence(data, model) - divergence(data, model.updated(query, error / 2)), error


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_an_update_lowers_the_divergence_by_a_quarter_of_the_squared_error(size: int, seed: int) -> None:
    """Over data, models and queries to [0, 1]: e^x <= 1 + x + x² for |x| <= 1 (Hardt and Rothblum 2010, lemma 4.3, with this step)."""
    random = np.random.default_rng(seed)
    data, model = random.dirichlet(np.full(size, 0.3)), histogram(random.dirichlet(np.full(size, 0.5)) + 1e-9)
    for query in (random.random(size), (random.random(size) < 0.5).astype(float)):
        lowered, error = drop(data, model, query)
        assert lowered >= error**2 / 4 - 1e-12


def few_queries_surprise(alpha: float = 0.1, cells: int = 64, queries: int = 3000) -> None:
    """Of any number of queries at most 4·ln(cells)/α² are off by α, since the divergence begins at ln(cells) at most, and stays above 0.

    Queries are those on which the model is worst among some, so that the bound is put to the test.
    """
    random = np.random.default_rng(7)
    data, model, updates = random.dirichlet(np.full(cells, 0.05)), histogram(np.ones(cells)), 0
    for _ in range(queries):
        some = (random.random((20, cells)) < random.random((20, 1))).astype(float)
        errors = some @ data - some @ model.weights
        worst = int(np.abs(errors).argmax())
        if abs(errors[worst]) >= alpha:
            model, updates = model.updated(some[worst], errors[worst] / 2), updates + 1
    assert 5 < updates <= 4 * log(cells) / alpha**2


def test_few_queries_surprise() -> None:
    few_queries_surprise()
