"""Made-up domains, tables and models that the tests of synthetic data share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import strategies as st

from discreet.cells import Attribute, Binned, Categorical, CellCounts
from discreet.mechanisms.guarded import under_way
from discreet.privacy import Adjacency, Relation, Unit
from discreet.weights.arrays import ArrayTable
from discreet.weights.domain import Domain

ALPHA = 1e-6
"""How often a statistical law fails where it holds."""

DAY, NOON = date(2020, 2, 28), datetime(2020, 2, 28, 12)
KINDS = (
    Categorical("ward", ("A", "B, C", 'D "E"', "")),
    Binned("age", (0, 18, 65, 120), whole=True),
    Binned("cost", (-1.5, 0.25, 1e4)),
    Binned("born", (date(1899, 12, 31), DAY, DAY + timedelta(3)), missing=False),
    Binned("seen", (NOON, NOON + timedelta(milliseconds=3), NOON + timedelta(days=40))),
    Categorical("smoker", (True, False), other=False),
    Categorical("children", (0, 1, 2)),
    Categorical("dose", (0.5, 1, 2.25)),
    Categorical("day", (DAY, date(1960, 1, 1))),
    Categorical("moment", (NOON, datetime(1960, 1, 1, 1, 2, 3, 4))),
)
SMALL = Domain(
    (
        Categorical("ward", ("A", "B"), missing=False),
        Binned("age", (0, 10, 20), whole=True),
        Categorical("sex", ("f", "m"), other=False, missing=False),
    )
)
RELATIONS = [Relation(adjacency, Unit.ROW) for adjacency in Adjacency]


def table(rows: int = 2_000, domain: Domain = SMALL, seed: int = 0, relation: Relation = RELATIONS[0]) -> ArrayTable:
    """Units whose attributes go together: each is near the one before."""
    rng = np.random.default_rng(seed)
    codes = np.empty((rows, len(domain.shape)), np.int64)
    share = rng.random(rows)
    for axis, size in enumerate(domain.shape):
        codes[:, axis] = np.minimum(size - 1, (share * rng.beta(2, 2, rows) * 2 * size).astype(int))
    return ArrayTable(domain, codes, relation=relation)


def exact_counts(source: ArrayTable, domain: Domain | None = None) -> CellCounts:
    """What only a draw may see, for a test to compare with."""
    with under_way():
        return source.counts((domain or source.domain).attributes)()


@st.composite
def attributes(draw: st.DrawFn, name: str = "x") -> Attribute:
    """Any attribute: categories of any type, bins of any kind."""
    missing = draw(st.booleans())
    if draw(st.booleans()):
        kind = draw(st.sampled_from([st.text(), st.integers(-5, 5), st.booleans(), st.dates(), st.datetimes(), FLOATS]))
        values: list[Any] = draw(st.lists(kind, min_size=1, max_size=5, unique_by=repr))
        return Categorical(name, tuple(values), draw(st.booleans()), missing)
    kind = draw(st.sampled_from([st.integers(-(2**50), 2**50), st.integers(-9, 9), FLOATS, st.dates(), st.datetimes()]))
    edges = sorted(set(draw(st.lists(kind, min_size=2, max_size=6, unique=True))))  # type: ignore[type-var]
    return Binned(name, tuple(edges), draw(st.booleans()), missing)


FLOATS = st.floats(-1e12, 1e12, allow_nan=False).map(lambda x: x + 0.0)  # there is one 0


class Stopped(Exception):
    """A run that ends in the middle."""


def stopped_after(draws: int, measure: Any, *, lost: bool = False) -> Any:
    """A measure whose grants end after so many draws; with `lost` in the middle of the next one."""

    @contextmanager
    def entered(event: Any, **terms: Any) -> Iterator[Any]:
        left = [draws]

        def draw(mechanism: Any, sensitivity: Any, exact: Any, size: int = 1) -> Any:
            if not left[0] and not lost:
                raise Stopped
            left[0] -= 1
            return grant(mechanism, sensitivity, exact if left[0] >= 0 else _fails, size)

        with measure(event, **terms) as grant:
            yield draw

    return entered


def _fails() -> None:
    raise Stopped


def unlooked(source: ArrayTable, measure: Any) -> ArrayTable:
    """The same table, whose exact counts nobody can look at, not even a draw."""

    class Unlooked(ArrayTable):
        def counts(self, attributes: Any) -> Any:
            return _fails

    return Unlooked(source.domain, np.empty((0, len(source.domain.shape)), int), measure, source.relation)


def measured(source: ArrayTable, measure: Any) -> ArrayTable:
    """The same units under another measure."""
    return ArrayTable(source.domain, source._codes, measure, source.relation)
