"""What is done in a ledger over a thousand charges and their answers: `python charging.py [FOLDER]`; see `beside.py`."""

import json
import os
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from time import process_time

from parts.clock import cpu

try:
    from discreet.curator.acts import Creation
    from discreet.curator.amounts import Amounts
    from discreet.curator.request import Request
    from discreet.curator.sqlite import SQLiteStore
except ImportError:  # release 0.1 has them all in two modules
    from discreet.curator.ledger import Amounts, Creation, Request
    from discreet.curator.store import SQLiteStore
from discreet.curator.money import cap_of
from discreet.privacy import events

COST = Fraction(1, 10**6)
PRICE = Amounts.up(COST)
EVENT = events.Composed((events.Pure(COST / 2), events.Pure(COST / 2))).to_json()
LABEL = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"
ANSWER = b'{"rows": [{"ward": "A", "n": 1203}]}'
TIMES, OPENED = 1000, 20


def opened(folder: Path) -> SQLiteStore:
    creation = Creation("pure", cap_of("pure", 10**5), "add-remove one person")
    return SQLiteStore.open(folder / "ledger", creation=creation, mark=folder / "mark")


def visit(folder: Path, key: str) -> None:
    """What one command does: open, charge, settle, close."""
    with opened(folder) as store:
        store.settle(store.reserve(Request(key, None, PRICE, EVENT, LABEL, "1")), ANSWER)


with tempfile.TemporaryDirectory(dir=dict(enumerate(sys.argv)).get(1)) as name:
    folder, spent = Path(name), {}
    os.environ["XDG_STATE_HOME"] = name
    start = process_time()
    store = opened(folder)
    reserved = []
    spent["a charge"] = cpu(
        lambda i: reserved.append(store.reserve(Request(f"{i}", None, PRICE, EVENT, LABEL, "1"))), TIMES
    )
    spent["a settlement"] = cpu(lambda i: store.settle(reserved[i], ANSWER), TIMES)
    spent["a look for an answer"] = cpu(lambda i: store.stored(f"{i}"), TIMES)
    spent["verifying 2,001 rows"] = cpu(lambda _: store.verify(), 3)
    store.close()
    spent["all of this and the end"] = process_time() - start
    spent["opening 2,001 rows"] = cpu(lambda _: opened(folder).close(), OPENED)
    spent["opening, a charge, its end"] = cpu(lambda i: visit(folder, f"visit {i}"), OPENED)
    print(json.dumps(spent))
