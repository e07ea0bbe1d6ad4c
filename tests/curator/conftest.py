"""Places for ledgers: one on SQLite, and one on Postgres where a server can be started."""

from collections.abc import Iterator

import pytest

from tests.curator.cases import Place, place, postgres_missing, postgres_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    if missing := postgres_missing():
        pytest.skip(missing)
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
def spot(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Where a ledger of each kind may lie."""
    with place() as found:
        if request.param == "postgres":
            found.server = request.getfixturevalue("server")
        yield found
