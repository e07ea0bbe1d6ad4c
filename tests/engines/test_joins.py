"""DuckDB joins as plain Python does, however tables are kept: numbered, sliced, or as they are."""

import random
from contextlib import nullcontext

import pytest

from discreet.engines.render import StoredTable, sql_of
from discreet.engines.render.duckdb import DUCKDB
from discreet.plan.relation import Totals
from tests.engines.twins import agree, arranged
from tests.plan import joined
from tests.plan.joined import OF_PEOPLE, PERSON, ROWS, UNITS, WITH_PUBLIC
from tests.plan.laws import decided_by, low_rungs
from tests.scale import repeats


def queries(units: list[joined.Protected], texts: list[str]) -> list[Totals]:
    draw = random.Random(2)
    plans = [decided_by(joined.planned(text, unit), low_rungs(draw)) for unit in units for text in texts]
    return [query for plan in plans for query in plan.decided.queries]


def engines_agree(texts: list[str], units: list[joined.Protected], kept: bool, tries: int = 2) -> None:
    asked, draw = queries(units, texts), random.Random(len(texts))
    for salt in range(tries):
        rows = joined.together(*(joined.some_rows(draw, who, 6) for who in (1, 2, 3, None)))
        rows["visits"].append({"who": 3, "x": 3, "port": "B"})
        rows["tests"].append({"who": 3, "y": 0.5, "lab": "q"})
        with arranged() if kept else nullcontext():
            agree(joined.data_of(rows), asked, salt + 7, threads=3 if kept else 1)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(
    ("texts", "units"),
    [(WITH_PUBLIC, ROWS), (WITH_PUBLIC, [PERSON, UNITS[1]]), (OF_PEOPLE, [PERSON, UNITS[2]])],
    ids=["rows", "people", "two tables about people"],
)
def test_engines_agree(texts: list[str], units: list[joined.Protected], kept: bool) -> None:
    engines_agree(texts, units, kept, repeats(2))


def test_what_is_joined_has_names_that_no_column_has() -> None:
    """Texts are parsed by nobody's names: what is called like a column of ours, or has quotes in it, is joined all the same."""
    (query,) = queries([PERSON], ["SELECT COUNT(*) FROM visits v JOIN ports p USING (port) WHERE p.size > 1"])
    text = sql_of(query, {name: StoredTable(name) for name in ("visits", "ports")}, DUCKDB)
    assert '"#ports.port"' in text and '"#ports.size"' in text


def test_engines_agree_on_values_of_what_is_joined() -> None:
    """Values of either side are counted, and kept of each person as elsewhere."""
    texts = [
        "SELECT land, COUNT(DISTINCT x) FROM visits v JOIN ports p ON v.port = p.port GROUP BY land",
        "SELECT COUNT(DISTINCT p.size) FROM visits v LEFT JOIN ports p USING (port)",
    ]
    for kept in (False, True):
        engines_agree(texts, [PERSON, ROWS[0]], kept)
        engines_agree(
            ["SELECT lab, COUNT(DISTINCT x) FROM visits v JOIN tests t ON v.who = t.who GROUP BY lab"], [PERSON], kept
        )
