"""Loading a file, and three questions of it: `python asking.py FILE`, with a checkout on the path; see `beside.py`."""

import json
import os
import sys
import tempfile
from pathlib import Path
from time import process_time

import discreet.engines.duckdb  # noqa: F401 - some releases import it when data are loaded, others before
from discreet.curator.session import Curator

TEXT = "SELECT region, COUNT(*) AS n, SUM(amount) AS total, AVG(amount) AS mean FROM visits GROUP BY region"
COLUMNS = {"region": {"keys": [f"region {i}" for i in range(50)]}, "amount": {"bounds": (0, 1000)}}
ASKED = 3

with tempfile.TemporaryDirectory() as folder:
    os.environ["XDG_STATE_HOME"] = folder
    curator = Curator(
        {"visits": Path(sys.argv[1])}, "person", COLUMNS, epsilon=10**5, delta=0.01, ledger=Path(folder) / "ledger"
    )
    curator.preview(TEXT, epsilon=1)  # planning is measured elsewhere
    start = process_time()
    load = getattr(curator, "load", None)
    load() if load is not None else getattr(curator, "_engine")  # noqa: B009 - release 0.1 loads at a touch
    loaded = process_time()
    for i in range(ASKED):
        curator.sql(TEXT, epsilon=1, delta=1e-8, key=f"{i}")
    print(json.dumps({"loading": loaded - start, "a question": (process_time() - loaded) / ASKED}))
