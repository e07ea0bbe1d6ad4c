"""The law: with no noise and limits that do not bind, whatever is asked, through whatever door, has DuckDB's answer, but for DIFFERENCES."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.laws.asking import World, opened, words
from tests.laws.messy import DOORS
from tests.laws.questions import question
from tests.scale import repeats

ASKED = 34  # questions of a door
OF_A_WORLD = 12  # asked about one table


def worlds(door: str) -> list[tuple[World, int]]:
    """The worlds of a door, each with how many questions are asked there; about few rows fewer."""
    left, found, number = repeats(ASKED), [], 0
    while left > 0:
        world = World.of(door, number)
        count = min(left, OF_A_WORLD if world.size == "hundreds" else OF_A_WORLD // 3)
        found.append((world, count))
        left, number = left - count, number + 1
    return found


@pytest.mark.parametrize("door", DOORS)
def test_the_same_as_duckdb(door: str, tmp_path: Path) -> None:
    wrong, unclear, asked = [], 0, 0
    seen: Counter[str] = Counter()
    for number, (world, count) in enumerate(worlds(door)):
        with opened(world, tmp_path / str(number)) as pair:
            random = Random(f"questions {world.seed}")
            for _ in range(count):
                made = question(random, world.unit)
                if not pair.clear(made):
                    made, unclear = made.plain, unclear + 1
                asked += 1
                seen.update(pair.seen(made))
                difference = pair.difference(made)
                if difference:
                    wrong.append(f"{world}\n  {made.text}\n  {made.reference(world.unit)}\n  {difference}")
    assert not wrong, f"{len(wrong)} of {asked} questions:\n" + "\n".join(wrong[:3])
    assert unclear < asked / 4
    assert len(seen) == 4, seen  # of NULL keys, undeclared keys, groups with rows and without
