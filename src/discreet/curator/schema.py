"""The tables of a ledger, written once for every database that keeps one, in the words of each."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """What a database calls whole numbers and bytes, and what it is told where a table may be there already."""

    number: str
    octets: str
    unless: str


SQLITE = Words("INTEGER", "BLOB", "IF NOT EXISTS ")
"""Two processes may make the tables of one file at once."""

POSTGRES = Words("BIGINT", "BYTEA", "")
"""Tables are made under a lock, after a look whether they are there."""

COLUMNS = "sequence, hash, body, key, analyst, about, topic"
"""Of the table of rows, without answers."""

ACTS = "CREATE INDEX IF NOT EXISTS rows_acts ON rows (sequence) WHERE key IS NULL AND about IS NULL"
"""Of release 0.2 on: a ledger of 0.1 gets it with its new format."""

TURN = "CREATE TABLE turn (format INTEGER NOT NULL)"
"""In a server: the row that writers lock, and the format of the ledger."""

DRAWS = """
CREATE TABLE IF NOT EXISTS draws (
    reservation BIGINT NOT NULL, number BIGINT NOT NULL, what TEXT NOT NULL, hash TEXT NOT NULL, value BYTEA,
    PRIMARY KEY (reservation, number)
)
"""
"""Made when it is first needed, in words that SQLite (which keeps bytes as they are in any column) and Postgres both read."""

PLACE = "CREATE TABLE IF NOT EXISTS place (mark BYTEA NOT NULL)"
"""Made when it is first needed."""


def statements(words: Words) -> tuple[str, ...]:
    """What makes the table of rows, with what they are found by."""
    number, octets, unless = words.number, words.octets, words.unless
    return (
        f"""
CREATE TABLE {unless}rows (
    sequence {number} PRIMARY KEY, hash TEXT NOT NULL, body {octets} NOT NULL,
    key TEXT, analyst TEXT, about {number}, topic TEXT, answer {octets}
)""",
        f"CREATE UNIQUE INDEX {unless}rows_key ON rows (key) WHERE key IS NOT NULL",
        f"CREATE INDEX {unless}rows_analyst ON rows (analyst, sequence) WHERE analyst IS NOT NULL",
        f"CREATE INDEX {unless}rows_about ON rows (about, sequence) WHERE about IS NOT NULL",
        f"CREATE INDEX {unless}rows_topic ON rows (topic, sequence) WHERE topic IS NOT NULL",
        ACTS,
    )


TABLES = tuple(
    re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", " ".join((*statements(POSTGRES), TURN, DRAWS, PLACE)))
)
"""The names of all tables."""
