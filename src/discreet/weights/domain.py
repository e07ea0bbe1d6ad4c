"""The domain of a histogram, and the table that its counts come from, which is known here as a protocol only."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.cells import Attribute, CellTable
from discreet.errors import Invalid
from discreet.exact import shown

Mask = NDArray[np.bool_]


class UnitTable(CellTable, Protocol):
    """A table whose cells conditions are asked about: what multiplicative weights know of data."""

    def cells(self, condition: str, attributes: Sequence[Attribute]) -> Mask:
        """The cells of the domain on which a condition is true: an axis for each attribute, of length 1 where the condition does not
        depend on it."""


@dataclass(frozen=True, slots=True)
class Domain:
    """All combinations of the cells of attributes."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        if not self.attributes:
            raise Invalid("a domain needs at least one attribute")
        if len(set(self.names)) < len(self.names):
            raise Invalid(f"the attributes of a domain must have different names, got {shown(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(each.size for each in self.attributes)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return prod(self.shape)

    def axes(self, names: Sequence[str]) -> tuple[int, ...]:
        """The places of attributes."""
        for name in names:
            if name not in self.names:
                raise Invalid(
                    f"there is no attribute {shown(name)} in this domain",
                    hint=f"it has {', '.join(self.names)}",
                )
        return tuple(self.names.index(name) for name in names)
