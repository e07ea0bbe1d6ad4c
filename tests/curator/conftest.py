"""Places for ledgers: one on SQLite, one on Postgres, and one on Postgres behind a pooler that hands out its connections by transaction."""

from collections.abc import Iterator

import pytest

from tests.curator.cases import Place, place, pooler, postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server for the tests of the part `postgres`."""
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def pooled(server: str) -> Iterator[str]:
    """The address of a pooler before that server, whose clients get another connection with every transaction."""
    with pooler(server) as address:
        yield address


@pytest.fixture(params=["sqlite", *(pytest.param(name, marks=pytest.mark.postgres) for name in ("server", "pooled"))])
def spot(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Where a ledger of each kind may lie."""
    with place() as found:
        if request.param != "sqlite":
            found.server = request.getfixturevalue(request.param)
        yield found
