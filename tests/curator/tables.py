"""What the tests of a curator's table share: people with values of every type, and curators of them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.curator.session import Curator
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.scalar import Type

COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "bounds": (0, 120)},
    "bmi": {"type": "number", "bounds": (0, 50)},
    "ward": {"keys": ["B", "A"]},
    "level": {"type": "integer", "bounds": (1, 4)},
    "day": {"type": "date", "bounds": (date(2024, 1, 1), date(2024, 1, 31))},
    "moment": {"type": "timestamp", "bounds": (date(2024, 1, 1), date(2024, 1, 2))},
    "ok": {"type": "boolean"},
}
VALUES: dict[str, Sequence[Any]] = {
    "age": (-7, 0, 17, 18, 64, 65, 66, 119, 120, 121, 300, None),
    "bmi": (-1.0, 0.0, 18.5, 24.9, 25.0, 30.0, 50.0, 50.5, float("inf"), float("-inf"), float("nan"), None),
    "ward": ("A", "B", "a", "", "C", None),
    "level": (0, 1, 2, 3, 4, 5, None),
    "day": (date(1990, 5, 1), date(2024, 1, 1), date(2024, 1, 15), date(2024, 1, 31), date(2025, 1, 1), None),
    "moment": (datetime(2023, 1, 1, 4), datetime(2024, 1, 1, 12), datetime(2024, 1, 2), datetime(2024, 1, 3), None),
    "ok": (True, False, None),
}
ASKED: dict[str, Any] = {
    "age": [0, 18, 65, 120],
    "bmi": [0, 18.5, 25, 50],
    "ward": None,
    "level": None,
    "day": ["2024-01-01", "2024-01-15", "2024-02-01"],
    "moment": 2,
    "ok": None,
}


def catalog(person: str | None = "person") -> Catalog:
    """What `COLUMNS` declares, without a curator."""
    ends = {"age": (0, 120), "bmi": (0, 50), "level": (1, 4)}
    numbers = tuple(Column(name, Type(COLUMNS[name]["type"]), *map(Fraction, bounds)) for name, bounds in ends.items())
    days = tuple(Column(name, Type(COLUMNS[name]["type"]), *COLUMNS[name]["bounds"]) for name in ("day", "moment"))
    others = (Column("ward", Type.TEXT, keys=("B", "A")), Column("ok", Type.BOOLEAN), Column("person", Type.TEXT))
    return Catalog((Table("visits", (*numbers, *days, *others)),), Protected(person))


def curator(rows: Mapping[str, Sequence[Any]], unit: str | None = "person", **more: Any) -> Curator:
    """A curator of one table, whose budget is in memory."""
    given: dict[str, Any] = {
        "epsilon": 100,
        "delta": Fraction(1, 1000),
        "ledger": ":memory:",
        "columns": COLUMNS,
        **more,
    }
    return Curator({"visits": dict(rows)}, unit, row=unit is None, **given)
