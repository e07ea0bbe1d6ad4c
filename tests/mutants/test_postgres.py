"""Every planted bug of a ledger on a server makes the law in its row fail; without the bug the same law holds."""

from collections.abc import Iterator

import pytest

from tests.curator.cases import postgres_server
from tests.mutants import FAILS, Mutant
from tests.mutants.postgres import MUTANTS, SERVERS

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with postgres_server() as address:
        SERVERS.append(address)
        yield
        SERVERS.remove(address)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    mutant.law()
    with mutant.planted(), pytest.raises(FAILS):
        mutant.law()
