"""Every planted bug of the estimators makes the law in its row fail; without the bug the same law holds."""

import pytest

pytest.importorskip("sklearn", reason="the optional part learn")

from tests.mutants import FAILS, Mutant
from tests.mutants.learn_estimators import MUTANTS

pytestmark = pytest.mark.learn


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    mutant.law()
    with mutant.planted(), pytest.raises(FAILS):
        mutant.law()
