"""Planted bugs of a ledger on a Postgres server, for the tests of that part: their laws need one."""

from collections.abc import Callable

import pytest

from tests.curator import test_postgres as served
from tests.curator.cases import code_of, creation, place, request
from tests.mutants import Law, Mutant

POSTGRES = "discreet.curator.postgres:"

SERVERS: list[str] = []
"""The address of the server that the tests of the part started."""


def served_by(law: Callable[[str], object]) -> Law:
    return lambda: law(SERVERS[-1])


def who_writes_is_alone(address: str) -> None:
    """While one writes, another one waits, and gives up after a while without a charge."""
    from discreet.curator import postgres

    with place() as spot, pytest.MonkeyPatch.context() as patch:
        spot.server = address
        first, second = spot.open(creation(1)), spot.open()
        patch.setattr(postgres, "PATIENCE", 0.05)
        with first._writing().writing():
            assert code_of(lambda: second.reserve(request("a"))) == "ledger-unavailable"


MUTANTS = (
    Mutant(
        "turn-not-locked",
        POSTGRES + "_Postgres.writing",
        "FROM turn FOR UPDATE",
        "FROM turn",
        "two machines read the same total, and both add to it",
        served_by(who_writes_is_alone),
    ),
    Mutant(
        "exchanged-and-gone-on",
        POSTGRES + "_Postgres._check_opening",
        "elif first != [(self._opening.hash,)]:",
        "elif False:",
        "a pooler leads to another ledger, and its budget is spent",
        served_by(served.test_a_ledger_that_was_exchanged_is_neither_read_nor_written),
    ),
    Mutant(
        "rollback-taken-for-a-commit",
        POSTGRES + "_Postgres._end",
        "if self._psycopg.execute(how).statusmessage != how:",
        "if not self._psycopg.execute(how):",
        "a charge is acknowledged that the server undid",
        served_by(served.test_a_commit_that_the_server_turned_into_a_rollback_is_not_acknowledged),
    ),
    Mutant(
        "dropped-is-new",
        POSTGRES + "PostgresStore.open",
        "if accept is None and marked is not None:",
        "if False:",
        "whoever drops the tables has the whole budget again",
        served_by(served.test_a_dropped_ledger_is_refused_until_it_is_accepted),
    ),
)
