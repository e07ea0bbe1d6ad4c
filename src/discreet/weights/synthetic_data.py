"""Synthetic data: rows drawn from a model. Nothing of the data is looked at, so that any number of rows costs nothing more."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from discreet.cells import Category
from discreet.errors import Invalid
from discreet.exact import shown, whole
from discreet.noise import Source
from discreet.weights.columns import SyntheticColumn, column_of

if TYPE_CHECKING:
    from discreet.weights.model import Model

ROWS = 1 << 20
"""Rows that are drawn at a time."""

MOST_ROWS = 100_000_000
"""Rows of one drawing, which is held in memory."""


@dataclass(frozen=True, slots=True)
class SyntheticData:
    """Rows of people who are nobody: columns with the names and types of the attributes of a model.

    >>> from discreet.cells import Categorical
    >>> from discreet.weights import ArrayTable, Domain, independent, synthetic
    >>> domain = Domain((Categorical("sex", ("f", "m"), other=False, missing=False),))
    >>> learned = independent(ArrayTable(domain, [[1]] * 500), epsilon=1)
    >>> synthetic(learned.model, 2).columns[0].name
    'sex'
    """

    columns: tuple[SyntheticColumn, ...]
    rows: int

    def __len__(self) -> int:
        return self.rows

    def to_dicts(self) -> list[dict[str, Category | None]]:
        """The rows, each with a value by the name of its column; None where there is none."""
        names = [column.name for column in self.columns]
        return [
            dict(zip(names, row, strict=True))
            for row in zip(*(column.values() for column in self.columns), strict=True)
        ]

    @overload
    def to_csv(self) -> str: ...
    @overload
    def to_csv(self, path: str | Path) -> None: ...
    def to_csv(self, path: str | Path | None = None) -> str | None:
        """The rows as CSV: as a text, or as a file, which is there whole or not at all."""
        if path is None:
            return "".join(self._csv())
        from discreet.whole_file import whole_file

        with whole_file(path) as file:
            for part in self._csv():
                file.write(part.encode())
        return None

    def _csv(self) -> Iterator[str]:
        from discreet.weights.comma_separated import csv_parts

        return csv_parts(self.columns, self.rows)

    def to_parquet(self, path: str | Path) -> None:
        """The rows as a Parquet file, which is there whole or not at all."""
        from discreet.weights.parquet import write_parquet
        from discreet.whole_file import whole_file

        with whole_file(path) as file:
            write_parquet(self.columns, self.rows, file)


def synthetic(model: "Model", rows: int | None = None, *, source: Source | None = None) -> SyntheticData:
    """Rows drawn from a model, independently of each other; as many as the model stands for, where no number is said.

    It looks at the model alone, which is released: whatever guarantee that has, the rows have (post-processing; Dwork and Roth
    2014, proposition 2.1). With `source` the bits come from there, as for tests.
    """
    count = max(0, round(model.total)) if rows is None else whole(rows, "rows")
    if count > MOST_ROWS:
        raise Invalid(f"at most {MOST_ROWS:,} rows are drawn at once, got {shown(count)}", hint="draw several times")
    parts = [model.draw(min(ROWS, count - begin), source) for begin in range(0, count, ROWS)]
    codes = np.concatenate(parts) if parts else np.empty((0, len(model.domain.shape)), np.int64)
    columns = (column_of(each, codes[:, axis], source) for axis, each in enumerate(model.domain.attributes))
    return SyntheticData(tuple(columns), count)
