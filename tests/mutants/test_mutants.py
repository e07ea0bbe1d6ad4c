"""Every planted bug makes the law in its row fail; without the bug the same law holds, which a test of its own says, or this one."""

import sys
from collections import Counter

import pytest

from tests.laws import test_data_in as data_in
from tests.mutants import (
    FAILS,
    Law,
    Mutant,
    accounting,
    accuracy,
    answer,
    apportioned,
    attacks,
    audit,
    audit_exact,
    basics,
    build,
    conditions,
    curator,
    data,
    dates,
    derived,
    distinct,
    engines,
    facts,
    find,
    found,
    found_keys,
    found_ranges,
    joins,
    learn,
    learn_models,
    learn_tables,
    levels,
    limits,
    local,
    local_attributes,
    local_diary,
    local_numbers,
    local_reports,
    local_states,
    local_words,
    margins,
    mechanisms,
    mode,
    moments,
    mwem,
    noise,
    one_run,
    owner,
    parts,
    people,
    plan,
    plan_bugs,
    population,
    privacy,
    quantile,
    readings,
    rehearsal,
    sampling,
    scalars,
    shapes,
    shuffling,
    sql,
    survey,
    synthetic,
    tables,
    times,
    together,
    weights_online,
    zoo,
)

pytestmark = data_in.pytestmark  # its laws open one file again and again

PARTS = {
    "basics": basics.MUTANTS,
    "noise": noise.MUTANTS,
    "one-run": one_run.MUTANTS,
    "privacy": privacy.MUTANTS,
    "accounting": accounting.MUTANTS,
    "mechanisms": mechanisms.MUTANTS,
    "shuffling": shuffling.MUTANTS,
    "sql": sql.MUTANTS,
    "build": build.MUTANTS,
    "scalars": scalars.MUTANTS,
    "shapes": (*shapes.MUTANTS, *conditions.MUTANTS),
    "joins": joins.MUTANTS,
    "learn": learn.MUTANTS,
    "local": local.MUTANTS,
    "local-diary": local_diary.MUTANTS,
    "local-states": local_states.MUTANTS,
    "local-attributes": local_attributes.MUTANTS,
    "local-numbers": local_numbers.MUTANTS,
    "local-reports": local_reports.MUTANTS,
    "local-words": local_words.MUTANTS,
    "learn-models": learn_models.MUTANTS,
    "learn-tables": learn_tables.MUTANTS,
    "people": people.MUTANTS,
    "parts": parts.MUTANTS,
    "distinct": distinct.MUTANTS,
    "apportioned": apportioned.MUTANTS,
    "quantile": quantile.MUTANTS,
    "mode": mode.MUTANTS,
    "plan": (*plan.MUTANTS, *readings.MUTANTS),
    "plan-bugs": plan_bugs.MUTANTS,
    "population": population.MUTANTS,
    "facts": facts.MUTANTS,
    "limits": limits.MUTANTS,
    "levels": levels.MUTANTS,
    "moments": moments.MUTANTS,
    "found": found.MUTANTS,
    "found-keys": found_keys.MUTANTS,
    "found-ranges": found_ranges.MUTANTS,
    "engines": engines.MUTANTS,
    "answer": answer.MUTANTS,
    "accuracy": accuracy.MUTANTS,
    "data": data.MUTANTS,
    "dates": dates.MUTANTS,
    "derived": derived.MUTANTS,
    "times": times.MUTANTS,
    "together": together.MUTANTS,
    "curator": curator.MUTANTS,
    "sampling": sampling.MUTANTS,
    "audit": audit.MUTANTS,
    "owner": owner.MUTANTS,
    "audit-exact": audit_exact.MUTANTS,
    "attacks": attacks.MUTANTS,
    "zoo": zoo.MUTANTS,
    "rehearsal": rehearsal.MUTANTS,
    "survey": survey.MUTANTS,
    "margins": margins.MUTANTS,
    "mwem": mwem.MUTANTS,
    "synthetic": synthetic.MUTANTS,
    "tables": tables.MUTANTS,
    "weights-online": weights_online.MUTANTS,
}
LEAST = {"privacy": 30, "together": 6}  # bugs that a part has at least; 10 elsewhere
MUTANTS = [(f"{part}:{mutant.name}", mutant) for part, mutants in PARTS.items() for mutant in mutants]
ROWS = [pytest.param(mutant, id=name) for name, mutant in MUTANTS]
HELD: set[Law] = set()  # laws that were seen to hold


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_planted_bugs(part: str) -> None:
    assert len(PARTS[part]) >= LEAST.get(part, 10)


def test_every_planted_bug_has_a_name_of_its_own() -> None:
    names = Counter(mutant.name for _, mutant in MUTANTS)
    assert names.most_common(1)[0][1] == 1


def is_a_test(law: Law) -> bool:
    """Whether a law is a test of its own, or what one runs: then that says whether it holds, beside the bugs."""
    name = getattr(law, "__name__", "")
    return name.startswith("test_") or hasattr(sys.modules.get(law.__module__), f"test_{name}")


@pytest.mark.parametrize("mutant", ROWS)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    if mutant.law not in HELD and not is_a_test(mutant.law):
        mutant.law()
        HELD.add(mutant.law)
    sound = find(mutant.where).__code__
    with mutant.planted(), pytest.raises(FAILS):
        mutant.law()
    assert find(mutant.where).__code__ is sound, "the bug is not taken out again"
