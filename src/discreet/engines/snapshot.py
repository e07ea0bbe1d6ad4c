"""The rows of a public table, read out: for what is known of its columns. Nothing about anybody is ever read in this way."""

import tempfile
from typing import Any

from discreet.engines.base import Data
from discreet.engines.duckdb import connect, load
from discreet.engines.render.cells import text_of_form
from discreet.engines.render.duckdb import DUCKDB
from discreet.engines.render.nodes import named


def snapshot(data: Data) -> dict[str, list[Any]]:
    """The values of each declared column of a source, as they are loaded; raises Invalid where it does not load."""
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder, connect(folder) as connection:
        stored, _ = load(connection, data, folder, arrange=False)
        columns = []
        for column in data.columns:
            cell, form = named(column.name), stored.kept.get(column.name)
            columns.append(DUCKDB.text(cell if form is None else text_of_form(form, cell, DUCKDB)))
        rows = connection.execute(f"SELECT {', '.join(columns)} FROM {DUCKDB.identifier(data.name)}").fetchall()
    return {column.name: [row[i] for row in rows] for i, column in enumerate(data.columns)}
