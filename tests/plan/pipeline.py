"""Random and known questions on two neighbours, as twins of the whole path, from text to answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.audit.twins import Curators, Report
from discreet.curator.session import Curator
from tests.plan.asked import TABLE, Schema, Twins, write


def curator(schema: Schema, data: Path, ledger: Path | str, **more: Any) -> Curator:
    """A curator of one table, as a schema declares it."""
    return Curator({TABLE: data}, **({"epsilon": 10, "delta": 1e-4, "ledger": ledger} | schema.arguments() | more))


def told_apart(
    schema: Schema, twins: Twins, texts: list[str], folder: Path, budget: int = 10, **price: Any
) -> Iterator[Report]:
    """For each question what tells two neighbours apart."""
    first, second = (
        curator(schema, write(rows, folder / f"{name}.csv"), ":memory:", epsilon=budget)
        for name, rows in (("first", twins.first), ("second", twins.second))
    )
    with Curators(first, second) as pair:
        for text in texts:
            yield pair.ask(text, **price)
