"""Names are those of the data in whatever case they are written: the unit, the columns, the table."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.session import Curator

SPELLINGS = ("who", "WHO", "Who")
PEOPLE = [1, 1, 2, 3, 4, 5]
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM t",
    "SELECT COUNT(DISTINCT wHo) AS n FROM T",
    "SELECT SUM(cost) AS n FROM t",
    "SELECT ward, COUNT(*) AS n FROM t GROUP BY WARD",
)


def data_in(door: str, folder: Path, unit: str, ward: str) -> Any:
    columns = {unit: PEOPLE, ward: list("aabbab"), "Cost": [1, 2, 3, 1, 2, 3]}
    if door == "dict":
        return columns
    path = folder / "t.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("clip", [None, "l2"])
@pytest.mark.parametrize("door", ["dict", "csv"])
def test_names_are_written_in_any_case(tmp_path: Path, door: str, clip: str | None) -> None:
    for i, (written, spelt) in enumerate(product(SPELLINGS, SPELLINGS)):
        folder = tmp_path / str(i)
        folder.mkdir()
        declared = {"ward": {"keys": ["a", "b"]}, "cost": {"bounds": [0, 5]}}
        more: dict[str, Any] = {} if clip is None else {"clip": clip}
        source = {"t": data_in(door, folder, spelt, "WaRd")}
        with Curator(
            source, written, declared, epsilon=900, delta=1e-6, max_rows=2, max_groups=2, ledger=":memory:", **more
        ) as one:
            for text in QUESTIONS:
                total = sum(one.sql(text, epsilon=200)["n"])
                assert 3 < total < 15, (written, spelt, text)
