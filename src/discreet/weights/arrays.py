"""Tables of units that are held in arrays, without a curator."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet.cells import Attribute, CellCounts, Ints
from discreet.errors import Invalid
from discreet.mechanisms.guarded import Guarded
from discreet.mechanisms.measure import Measure, measure_of
from discreet.privacy import Adjacency, Relation, Unit
from discreet.weights.domain import Domain, Mask

ROWS = Relation(Adjacency.ADD_REMOVE, Unit.ROW)


class ArrayTable:
    """Units by the numbers of their cells: a row for each, a column for each attribute of a domain.

    >>> from discreet.cells import Categorical
    >>> domain = Domain((Categorical("sex", ("f", "m"), other=False, missing=False),))
    >>> ArrayTable(domain, [[0], [1], [1]]).domain.names
    ('sex',)
    """

    def __init__(
        self,
        domain: Domain,
        codes: Any,
        measure: Measure | None = None,
        relation: Relation = ROWS,
    ) -> None:
        self.domain, self.relation = domain, relation
        self.measure = measure_of(measure)
        self._codes = _checked(np.asarray(codes), domain)

    def attributes(self, asked: Any = None) -> tuple[Attribute, ...]:
        """Those of the domain that are named; all where none are."""
        names = self.domain.names if asked is None else tuple(asked)
        return tuple(self.domain.attributes[axis] for axis in self.domain.axes(names))

    def counts(self, attributes: Sequence[Attribute]) -> Callable[[], CellCounts]:
        """The exact counts by these attributes, for a draw to look at."""
        axes = self.domain.axes([each.name for each in attributes])
        shape = tuple(self.domain.shape[axis] for axis in axes)

        def counted() -> CellCounts:
            codes, counts = np.unique(self._codes[:, list(axes)], axis=0, return_counts=True)
            return CellCounts(shape, codes, counts.astype(np.int64))

        return Guarded(counted)

    def cells(self, condition: str, attributes: Sequence[Attribute]) -> Mask:
        """Conditions are texts for a curator; here cells are given as masks."""
        raise Invalid(
            "a table of arrays knows no SQL", code="condition", hint="give the cells as an array of True and False"
        )


def _checked(codes: Any, domain: Domain) -> Ints:
    if codes.ndim != 2 or codes.shape[1] != len(domain.shape) or not np.issubdtype(codes.dtype, np.integer):
        raise Invalid(f"codes must be integers, a row for each unit, with {len(domain.shape)} columns")
    if codes.size and ((codes < 0).any() or (codes >= np.array(domain.shape)).any()):
        raise Invalid("a code must be the number of a cell of its attribute")
    return np.array(codes, np.int64)
