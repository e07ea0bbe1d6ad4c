"""From the text of a question to its plan, to SQL for the engine, and to the answer, over a few rows; see `beside.py`."""

import json
import os
import tempfile
from pathlib import Path
from time import process_time

from discreet.curator.session import Curator
from discreet.plan.private import plan_for
from discreet.plan.sql import question
from parts.clock import cpu

PEOPLE = 100
ROWS = {
    "person": list(range(PEOPLE)),
    "region": [f"region {i % 50}" for i in range(PEOPLE)],
    "amount": [float(i) for i in range(PEOPLE)],
    "age": [i % 100 for i in range(PEOPLE)],
}
COLUMNS = {
    "region": {"keys": [f"region {i}" for i in range(50)]},
    "amount": {"bounds": (0, 1000)},
    "age": {"bounds": (0, 120)},
}
SHORT = "SELECT COUNT(*) AS n FROM visits"
BY_REGION = "SELECT region, COUNT(*) AS n, SUM(amount) AS total, AVG(amount) AS mean FROM visits GROUP BY region"
LONG = (
    "SELECT region, COUNT(*) AS n, SUM(amount) AS total, AVG(amount * 2 + 1) AS mean, "
    "SUM(CASE WHEN age < 30 THEN 0 WHEN age BETWEEN 30 AND 59 THEN amount ELSE amount / 2 END) AS old FROM visits "
    "WHERE age >= 18 AND region NOT IN ('region 1', 'region 2') AND (amount * 2 + 1 < 1900 OR age IS NULL) "
    "GROUP BY region HAVING COUNT(*) > 10 ORDER BY total DESC LIMIT 5"
)
TEXTS = {"a count": SHORT, "by region": BY_REGION, "a long one": LONG}
TIMES = 30

with tempfile.TemporaryDirectory() as folder:
    os.environ["XDG_STATE_HOME"] = folder
    curator = Curator({"visits": ROWS}, "person", COLUMNS, epsilon=10**6, delta=0.01, ledger=Path(folder) / "ledger")
    curator.sql(SHORT, epsilon=1, delta=1e-8)
    engine, spent = curator._engine, {}
    for name, text in TEXTS.items():
        asked = question(text, curator.catalog)
        plan = plan_for(asked, curator.catalog, 1, 0)
        spent[f"reading, {name}"] = cpu(lambda _, text=text: question(text, curator.catalog), TIMES, warm=5)
        spent[f"planning, {name}"] = cpu(lambda _, asked=asked: plan_for(asked, curator.catalog, 1, 0), TIMES, warm=5)
        spent[f"rendering, {name}"] = cpu(lambda _, plan=plan: engine.sql(plan.query), TIMES, warm=5)
        spent[f"a preview, {name}"] = cpu(lambda _, text=text: curator.preview(text, epsilon=1), TIMES, warm=5)
        spent[f"a question, {name}"] = cpu(
            lambda i, text=text, name=name: curator.sql(text, epsilon=1, delta=1e-8, key=f"{name} {i}"), TIMES, warm=5
        )
        spent[f"the same again, {name}"] = cpu(
            lambda i, text=text, name=name: curator.sql(text, epsilon=1, delta=1e-8, key=f"{name} {i}"), TIMES, warm=5
        )
    curator.close()
    curator = Curator({"visits": ROWS}, "person", COLUMNS, epsilon=10**6, delta=0.01, ledger=Path(folder) / "another")
    curator.sql(SHORT, epsilon=1, delta=1e-8)
    start = process_time()
    for i in range(TIMES):
        curator.sql(SHORT, epsilon=1, delta=1e-8, key=f"{i}")
    curator.close()
    spent[f"{TIMES} counts and the end, each"] = (process_time() - start) / TIMES
    print(json.dumps(spent))
