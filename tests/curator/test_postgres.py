"""A ledger on Postgres, straight and through a pooler: charges go to the ledger that they are of, and no error tells the address."""

import itertools
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from discreet.curator.acts import Reserved
from discreet.curator.amounts import UNIT
from discreet.curator.request import filed
from discreet.curator.store import Store
from discreet.errors import DiscreetError, Fault, Invalid
from tests.curator.cases import POOLED, Place, code_of, creation, granted, place, request, spent
from tests.scale import repeats

pytestmark = pytest.mark.postgres
TENTH = UNIT // 10


@pytest.fixture(params=["server", "pooled"])
def address(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def two(address: str) -> Iterator[list[Place]]:
    """Two ledgers of one database."""
    with place() as one, place() as other:
        one.server = other.server = address
        yield [one, other]


def keys_of(store: Store) -> set[str]:
    return {row.act.key for row in store.history() if isinstance(row.act, Reserved)}


def charged_in_turn(two: list[Place], times: int) -> None:
    """Charges of two ledgers in turn, over several stores of each; every one that was acknowledged is in its own ledger, and only there."""
    stores = [(which, spot.open(creation(10**6))) for _ in range(3) for which, spot in enumerate(two)]
    told: list[set[str]] = [set(), set()]
    for i in range(times):
        for n, (which, store) in enumerate(stores):
            key = f"{which} {n} {i}"
            one = granted(store.reserve(request(key)))
            assert store.settle(one, key.encode()) == key.encode() == store.stored(key)
            told[which].add(key)
    for which, spot in enumerate(two):
        store = spot.open()
        assert keys_of(store) == {filed(None, key) for key in told[which]} and spent(store) == len(told[which]) * TENTH
        store.verify()


def test_a_charge_goes_to_the_ledger_that_it_is_of(two: list[Place]) -> None:
    charged_in_turn(two, repeats(10))


LEFT = (
    "SET search_path = {other}",
    "SET synchronous_commit = off",
    "SET lock_timeout = '1ms'",
    "SET default_transaction_isolation = 'read uncommitted'",
    "PREPARE _pg3_0 AS SELECT 1",
    "CREATE TEMPORARY TABLE rows (hash TEXT)",
)


def test_what_other_clients_leave_in_their_sessions_changes_nothing(pooled: str) -> None:
    import psycopg

    with place() as one, place() as other:
        one.server = other.server = pooled
        mine, theirs = one.open(creation(10**6)), other.open(creation(10**6))
        with ExitStack() as crowd:  # each has a connection of the pool for itself, until its transaction ends
            clients = [crowd.enter_context(psycopg.connect(pooled, prepare_threshold=None)) for _ in range(POOLED)]
            for client, line in itertools.product(clients, LEFT):
                client.execute(line.format(other=other.name))
            for client in clients:
                client.commit()
        for i in range(repeats(20)):
            mine.settle(granted(mine.reserve(request(f"{i}"))), b"")
            writer: Any = mine._writer
            with writer.writing():
                assert writer._run("SHOW synchronous_commit", ()) == [("on",)]
                assert writer._run("SHOW lock_timeout", ()) == [("30s",)]
        assert spent(mine) == repeats(20) * TENTH and spent(theirs) == 0
        mine.verify()


def test_a_ledger_that_was_exchanged_is_neither_read_nor_written(address: str) -> None:
    import psycopg

    with place() as spot:
        spot.server = address
        store = spot.open(creation(1))
        granted(store.reserve(request("a")))
        with psycopg.connect(address, autocommit=True, prepare_threshold=None) as admin:
            admin.execute(f"DROP SCHEMA {spot.name} CASCADE")
            spot.mark.unlink()
            other = spot.open(creation(2))
            granted(other.reserve(request("b")))
            for act in (store.standing, store.export, store.verify, lambda: store.reserve(request("c"))):
                assert code_of(act) == "ledger-exchanged"
            assert spent(other) == TENTH and keys_of(other) == {filed(None, "b")}


def made(address: str) -> set[str]:
    import psycopg

    with psycopg.connect(address, autocommit=True, prepare_threshold=None) as admin:
        return {name for (name,) in admin.execute("SELECT nspname FROM pg_namespace")}


def test_looking_for_a_ledger_that_is_not_there_makes_nothing(address: str) -> None:
    with place() as spot:
        spot.server = address
        assert code_of(spot.open) == code_of(lambda: spot.open(accept="the disk was replaced")) == "ledger-missing"
        assert spot.name not in made(address) and not spot.mark.exists()
        spot.open(creation(1)).close()
        assert spot.name in made(address)


def test_a_dropped_ledger_is_refused_until_it_is_accepted(address: str) -> None:
    import psycopg

    with place() as spot:
        spot.server = address
        granted(spot.open(creation(1)).reserve(request("a")))
        with psycopg.connect(address, autocommit=True, prepare_threshold=None) as admin:
            admin.execute(f"DROP SCHEMA {spot.name} CASCADE")
        assert code_of(spot.open) == code_of(lambda: spot.open(creation(1))) == "rollback"
        assert spot.name not in made(address)
        store = spot.open(creation(1), accept="the disk was replaced")
        assert [row.act.kind for row in store.history()] == ["created", "accepted"]


SECRET = "hunter2"
UNUSABLE: list[Any] = [
    f"postgresql://u:%ZZ{SECRET}@h/db",
    f"host=x password=my {SECRET} pw",
    f"{SECRET}",
    f"nonesuch={SECRET}",
    f"host=/x password='{SECRET}",
    f"host=/x\0 password={SECRET}",
    f"host=\ud800 password={SECRET}",
    5,
    None,
]
UNREACHED = [
    "host={folder} password=hunter2",
    "host={folder} sslmode=hunter2",
    "host={folder} port=hunter2",
    "host={folder},{folder} port=1,2,3 password=hunter2",
    "postgresql://hunter2:hunter2@127.0.0.1:1/hunter2",
    "{server} options=-chunter2=1",
    "{database}hunter2 password=hunter2",
    "{nobody}=hunter2",
]


def said(error: DiscreetError) -> str:
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("address", UNUSABLE, ids=range(len(UNUSABLE)))
def test_an_address_that_cannot_be_used_is_invalid_and_not_quoted(address: Any, marked: bool) -> None:
    from discreet.curator.postgres import PostgresStore

    with place() as spot, pytest.raises(Invalid, match="address") as error:
        PostgresStore.open(address, creation=creation(1), mark=spot.mark if marked else None)
    assert SECRET not in said(error.value)


@pytest.mark.parametrize("text", UNREACHED)
def test_a_server_that_lets_nobody_in_is_unavailable_and_its_address_not_quoted(text: str, server: str) -> None:
    with place() as spot:
        at, _, database = server.partition(" user=owner")
        spot.server = text.format(folder=spot.folder, server=server, database=server, nobody=f"{at}{database} user")
        with pytest.raises(Fault) as fault:
            spot.open(creation(1))
        assert fault.value.code == "ledger-unavailable"
        assert SECRET not in said(fault.value) and str(spot.folder) not in str(fault.value)


def test_a_commit_that_the_server_turned_into_a_rollback_is_not_acknowledged(address: str) -> None:
    with place() as spot:
        spot.server = address
        store = spot.open(creation(1))
        writer: Any = store._writing()
        with pytest.raises(Fault, match="did not commit"), writer.writing() as page:
            with pytest.raises(Exception, match="nonesuch"):
                writer._run("SELECT nonesuch", ())
            page.added = 1
