"""The interval of a released number, and those of all rows of an answer: kept as columns, since there may be many."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

End: TypeAlias = int | float | None


@dataclass(frozen=True, slots=True)
class Interval:
    """The truth lies between low and high, and so within value ± error; None where it can be arbitrarily far off."""

    low: End
    high: End
    error: End
    flag: str | None = None


Cells: TypeAlias = tuple[Interval | None, ...]
"""One row: None for keys, and for what is not a number."""


@dataclass(frozen=True, slots=True)
class IntervalColumn:
    """The intervals of one output, the parts of each in lists over the rows."""

    low: list[End]
    high: list[End]
    error: list[End]
    flag: list[str | None]
    absent: frozenset[int] = frozenset()
    """The rows that have none."""

    @classmethod
    def of(cls, cells: Sequence[Interval | None]) -> "IntervalColumn":
        """The column of these intervals."""
        absent = frozenset(i for i, cell in enumerate(cells) if cell is None)
        there = [NOTHING if cell is None else cell for cell in cells]
        ends = ([cell.low for cell in there], [cell.high for cell in there], [cell.error for cell in there])
        return cls(*ends, [cell.flag for cell in there], absent)

    def __len__(self) -> int:
        return len(self.low)

    def cells(self) -> Iterator[Interval | None]:
        """The intervals, one after the other."""
        for i, parts in enumerate(zip(self.low, self.high, self.error, self.flag, strict=True)):
            yield None if i in self.absent else Interval(*parts)

    def cell(self, i: int) -> Interval | None:
        """The interval of one row."""
        at = range(len(self.low))[i]
        return None if at in self.absent else Interval(self.low[i], self.high[i], self.error[i], self.flag[i])


NOTHING = Interval(None, None, None)


class Intervals(Sequence[Cells]):
    """For each row of an answer, and for each of its outputs, the interval. A row is made when it is asked for."""

    __slots__ = ("columns", "size")

    def __init__(self, columns: Sequence[IntervalColumn | None], size: int) -> None:
        self.columns, self.size = tuple(columns), size

    @classmethod
    def of(cls, rows: "Sequence[Cells]") -> "Intervals":
        """These rows, as columns."""
        if isinstance(rows, Intervals):
            return rows
        columns = zip(*rows, strict=True)
        return cls([IntervalColumn.of(each) if any(each) else None for each in columns], len(rows))

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, i: int) -> Cells: ...

    @overload
    def __getitem__(self, i: slice) -> tuple[Cells, ...]: ...

    def __getitem__(self, i: int | slice) -> Cells | tuple[Cells, ...]:
        if isinstance(i, slice):
            return tuple(self[at] for at in range(self.size)[i])
        at = range(self.size)[i]
        return tuple(None if column is None else column.cell(at) for column in self.columns)

    def __iter__(self) -> Iterator[Cells]:
        nothing: list[Interval | None] = [None] * self.size
        columns = [iter(nothing) if column is None else column.cells() for column in self.columns]
        return zip(*columns, strict=True) if columns else iter([()] * self.size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> Any:
        return Intervals, (self.columns, self.size)
