"""Four trades, their tables and what their owners declare; and the questions of their analysts, in analysts.sql."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet import Curator
from discreet.errors import DiscreetError

FILE = Path(__file__).with_name("analysts.sql")
PORTS = ["CDG", "FRA", "JFK", "LHR", "MUC"]
REGIONS = ["east", "north", "south", "west"]
DATES = {"type": "date", "bounds": ("2022-01-01", "2024-12-31")}

TRADES: dict[str, dict[str, Any]] = {
    "airline": {
        "tables": {
            "bookings": {
                "passenger_id": ["a", "a", "b", "c"],
                "booked": ["2024-01-03", "2024-06-30", "2023-11-11", "2022-02-28"],
                "departs": ["2024-02-03 10:15:00", "2024-07-30 23:59:59", "2023-12-24 00:00:00", "2022-03-01 06:30:00"],
                "origin": ["FRA", "MUC", "FRA", "LHR"],
                "dest": ["JFK", "LHR", "CDG", "JFK"],
                "cabin": ["economy", "business", "economy", "first"],
                "fare": ["120.5", "830", "99", "4000"],
                "miles": ["3850", "590", "290", "3450"],
                "bags": ["1", "2", "0", "3"],
                "delay": ["0", "17", "-3", "55"],
                "cancelled": ["false", "false", "true", "false"],
                "channel": ["web", "agent", "web", "phone"],
                "age": ["34", "34", "71", "12"],
            }
        },
        "public": {
            "airports": {
                "faa": [*PORTS, "PRG"],
                "name": ["Charles de Gaulle", "Frankfurt", "John F. Kennedy", "Heathrow", "München", "Praha"],
                "country": ["FR", "DE", "US", "GB", "DE", "CZ"],
                "region": ["Europe", "Europe", "America", "Europe", "Europe", "Europe"],
            }
        },
        "unit": "passenger_id",
        "columns": {
            "booked": DATES,
            "departs": {"type": "timestamp", "bounds": ("2022-01-01", "2025-06-30")},
            "origin": {"keys": PORTS},
            "dest": {"keys": PORTS},
            "cabin": {"keys": ["business", "economy", "first"]},
            "fare": {"type": "number", "bounds": (0, 5000)},
            "miles": {"type": "integer", "bounds": (0, 9000)},
            "bags": {"type": "integer", "bounds": (0, 10)},
            "delay": {"type": "integer", "bounds": (-60, 600)},
            "cancelled": {"type": "boolean"},
            "channel": {"keys": ["agent", "phone", "web"]},
            "age": {"type": "integer", "bounds": (0, 110)},
        },
    },
    "insurer": {
        "tables": {
            "claims": {
                "customer_id": ["a", "a", "b", "c"],
                "filed": ["2023-01-03", "2023-06-30", "2022-11-11", "2024-02-28"],
                "settled": ["2023-02-03", "", "2023-01-11", "2024-03-01"],
                "kind": ["fire", "glass", "water", "theft"],
                "region": ["north", "north", "south", "west"],
                "amount": ["1200", "350", "9000", "15000"],
                "paid": ["1000", "350", "7000", "0"],
                "fraud": ["false", "false", "false", "true"],
                "age": ["44", "44", "31", "68"],
                "sex": ["f", "f", "m", "m"],
                "premium": ["600", "600", "450", "900"],
                "adjuster": ["Smith", "Smyth ", "Jones", "smith"],
            },
            "customers": {
                "customer_id": ["a", "b", "c"],
                "since": ["2010-01-01", "2015-05-05", "2020-12-31"],
                "plan": ["basic", "gold", "basic"],
                "postcode": ["10115", "80331", "20095"],
            },
        },
        "people": 100,
        "unit": "customer_id",
        "columns": {
            "filed": DATES,
            "settled": DATES,
            "kind": {"keys": ["fire", "glass", "theft", "water"]},
            "region": {"keys": REGIONS},
            "amount": {"type": "number", "bounds": (0, 50000)},
            "paid": {"type": "number", "bounds": (0, 50000)},
            "fraud": {"type": "boolean"},
            "age": {"type": "integer", "bounds": (18, 100)},
            "sex": {"keys": ["f", "m"]},
            "premium": {"type": "number", "bounds": (0, 5000)},
            "since": {"type": "date", "bounds": ("2000-01-01", "2024-12-31")},
            "plan": {"keys": ["basic", "gold", "silver"]},
        },
    },
    "school": {
        "tables": {
            "exams": {
                "student_id": ["a", "a", "b", "c"],
                "school": ["hill", "hill", "lake", "town"],
                "grade": ["9", "10", "10", "9"],
                "subject": ["maths", "art", "maths", "physics"],
                "taken": ["2024-01-20", "2024-06-12", "2023-06-14", "2024-06-10"],
                "points": ["55", "91", "", "72"],
                "passed": ["true", "true", "false", "true"],
                "absences": ["3", "12", "0", "7"],
                "sex": ["f", "f", "m", "m"],
                "born": ["2008-03-01", "2008-03-01", "2007-12-31", "2009-02-28"],
                "teacher": ["Müller", "Berg", "MÜLLER-Au", "Stein"],
            }
        },
        "unit": "student_id",
        "columns": {
            "school": {"keys": ["hill", "lake", "town"]},
            "grade": {"keys": ["10", "9"]},
            "subject": {"keys": ["art", "maths", "physics"]},
            "taken": DATES,
            "points": {"type": "integer", "bounds": (0, 100)},
            "passed": {"type": "boolean"},
            "absences": {"type": "integer", "bounds": (0, 60)},
            "sex": {"keys": ["f", "m"]},
            "born": {"type": "date", "bounds": ("2003-01-01", "2012-12-31")},
        },
    },
    "shop": {
        "tables": {
            "orders": {
                "customer_id": ["a", "a", "b", "c"],
                "ordered": ["2024-01-03 08:00:00", "2024-06-30 12:30:00", "2023-11-11 22:10:05", "2022-02-28 23:59:59"],
                "product": ["p1", "p2", "p2", "p3"],
                "category": ["books", "games", "games", "garden"],
                "quantity": ["1", "2", "10", "1"],
                "price": ["12.9", "59", "58", "230"],
                "country": ["DE", "DE", "FR", "IT"],
                "channel": ["web", "app", "web", "store"],
                "returned": ["false", "true", "false", "false"],
                "rating": ["5", "2", "", "4"],
                "email": ["a@x.org", "a@x.org", "b@y.example", ""],
            }
        },
        "public": {"products": {"product": ["p1", "p2", "p3"], "supplier": ["Alba", "Boga", "Alba"]}},
        "unit": "customer_id",
        "columns": {
            "ordered": {"type": "timestamp", "bounds": ("2022-01-01", "2024-12-31")},
            "product": {"keys": ["p1", "p2", "p3"]},
            "category": {"keys": ["books", "games", "garden"]},
            "quantity": {"type": "integer", "bounds": (0, 20)},
            "price": {"type": "number", "bounds": (0, 500)},
            "country": {"keys": ["DE", "FR", "IT", "PL"]},
            "channel": {"keys": ["app", "store", "web"]},
            "returned": {"type": "boolean"},
            "rating": {"type": "integer", "bounds": (1, 5)},
        },
    },
}


def questions() -> dict[str, str]:
    """The text of each question by its name."""
    parts = re.split(r"^-- ([a-z]+-\d+)$", FILE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {
        name: "\n".join(line for line in text.splitlines() if line and not line.startswith("--"))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def declared(trade: str) -> dict[str, Any]:
    """What is declared of columns, by table where there are several."""
    tables, columns = TRADES[trade]["tables"], TRADES[trade]["columns"]
    if len(tables) == 1:
        return columns
    return {table: {name: columns[name] for name in columns if name in data} for table, data in tables.items()}


@contextmanager
def curator(trade: str) -> Iterator[Curator]:
    """What the owner of a trade's data opens."""
    made = TRADES[trade]
    beside = {name: made[name] for name in ("public", "people") if name in made}
    known, price = declared(trade), {"epsilon": 10**4, "delta": 1e-4}
    with Curator(made["tables"], made["unit"], known, **price, ledger=":memory:", **beside) as opened:
        yield opened


def refusals() -> dict[str, DiscreetError]:
    """The questions that are not answered as they were typed, and why."""
    found = {}
    for trade in TRADES:
        with curator(trade) as opened:
            for name, text in questions().items():
                if name.startswith(trade):
                    try:
                        opened.sql(text, epsilon=1, delta=1e-6)
                    except DiscreetError as error:
                        found[name] = error
    return found


if __name__ == "__main__":
    refused = refusals()
    for name, error in refused.items():
        print(f"{name}: [{error.code}] {error}"[:240])
    print(f"{len(questions()) - len(refused)} of {len(questions())} are answered")
