"""Every planted bug of the client in JavaScript makes the law in its row fail; without the bug the tests say that it holds."""

import pytest

from tests.mutants import FAILS
from tests.mutants.local_script import MUTANTS, ScriptMutant

pytestmark = pytest.mark.script


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: ScriptMutant) -> None:
    with mutant.planted(), pytest.raises(FAILS):
        mutant.law()
