"""Every planted bug of the engines makes the law named here fail; without the bug the same law holds."""

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.errors import Fault
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.scalar import Column, Type
from tests.engines import (
    test_agree,
    test_caps,
    test_evaluate,
    test_framing,
    test_load,
    test_locked,
    test_registry,
    test_same,
    test_words,
)
from tests.engines.twins import SALT, agree, computed
from tests.mutants import Mutant, of_part

Law = Callable[[], object]


def patched(law: Callable[..., object], *arguments: Any) -> Law:
    def run() -> None:
        with pytest.MonkeyPatch.context() as monkeypatch:
            law(*arguments, monkeypatch)

    return run


def in_a_folder(law: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        law(Path(folder))


def expressions_agree() -> None:
    with DuckDB([Data("hostile", test_agree.HOSTILE, test_agree.WITH_ROW)], threads=1) as engine:
        test_agree.agrees_on(engine, test_agree.each_kind())
        x, y = Column("x", Type.NUMBER), Column("y", Type.NUMBER)
        product = s.Arithmetic(s.Operator.MULTIPLY, x, y)
        test_agree.agrees_on(engine, [s.Steps(product, -1.0, 1.0, 4, 0.0), s.Comparison(s.Order.GREATER, product, x)])


def capped_sums_agree() -> None:
    chance = random.Random(4)
    data = test_caps.table((person, "w0", chance.randint(-9, 3)) for person in range(50) for _ in range(7))
    agree(data, [r.Totals(r.CapRows(test_caps.BY_PERSON, 3))])


def groups_and_rows_are_capped() -> None:
    test_caps.test_nobody_is_in_more_groups_or_with_more_rows(2, 3)


def caps_without_qualify(monkeypatch: pytest.MonkeyPatch) -> None:
    test_words.test_a_dialect_with_less_keeps_the_caps(monkeypatch, 2, 3)


def a_vector_is_within_its_limit() -> None:
    data = test_caps.table([(1, "w0", 1), (1, "w1", 1)])
    people = r.Contributions(r.Scan("t", test_caps.COLUMNS), test_caps.PERSON, (test_caps.WARD,), (test_caps.SUM,))
    found = computed(data, r.Totals(r.ClipNorm(people, (1,))))
    assert sum(total**2 for (total,) in found.values()) <= 1


def long_vectors_do_not_overflow() -> None:
    """Of one person with so many rows that the square of the total needs more than 64 bits."""
    data = test_caps.table((1, "w0", test_caps.MOST) for _ in range(256))
    people = r.Contributions(r.Scan("t", test_caps.COLUMNS), test_caps.PERSON, (), (test_caps.SUM,))
    with DuckDB(data, threads=1) as engine:
        try:
            found = engine.run(r.Totals(r.ClipNorm(people, (10,))), SALT)
        except Fault:
            pytest.fail("the question could not be computed")
    assert found.totals[0].tolist() == [9]


def sums_are_exact() -> None:
    term = r.Term(r.How.SUM, s.Literal(2**53 + 1, Type.INTEGER))
    data = test_caps.table([(1, "w0", 1)] * 3)
    assert computed(data, r.Totals(r.Scan("t", test_caps.COLUMNS), (), (term,))) == {(): (3 * 2**53 + 3,)}


def the_lock_holds() -> None:
    def probe(folder: Path) -> None:
        (folder / "x.csv").write_text("a\n1\n", "utf-8")
        data = Data("t", folder / "x.csv", (Column("a", Type.TEXT),))
        with DuckDB([data]) as engine, pytest.raises(Exception, match="access"):
            engine._connection.execute(f"SELECT * FROM read_text('{folder / 'x.csv'}')")

    in_a_folder(probe)


def one_constant_fault() -> None:
    with (
        DuckDB([Data("t", {"name": ["a"], "age": [1]}, test_locked.COLUMNS)]) as engine,
        pytest.raises(Fault) as caught,
    ):
        engine.run(r.Totals(r.Scan("other", test_locked.COLUMNS), (), test_locked.QUERY.terms), 1)
    assert caught.value.__suppress_context__


def framed(*cases: str) -> Law:
    """The files that decide are judged alike, slowly and fast."""

    def run() -> None:
        for case in cases:
            in_a_folder(
                lambda folder, case=case: test_framing.test_what_is_a_record_and_what_is_malformed(folder, case)
            )

    return run


def folders_are_no_columns() -> None:
    in_a_folder(test_framing.test_the_name_of_a_folder_is_no_column)


def comparisons_of_null() -> None:
    test_evaluate.test_comparisons_are_exact_within_a_type_and_by_doubles_across()


arranged_agrees = test_agree.test_names_of_columns_are_never_taken_for_our_own
CAUGHT_BY: dict[str, Law] = {
    "salt-does-not-reshuffle": test_caps.test_which_groups_are_kept_is_uniform_over_people_and_over_salts,
    "one-group-too-many": groups_and_rows_are_capped,
    "one-group-too-many-by-rank": patched(caps_without_qualify),
    "replaced-column-stays": patched(caps_without_qualify),
    "parts-outlive-their-question": test_registry.no_part_outlives_its_question,
    "begun-after-its-deadline": test_registry.test_what_begins_after_the_deadline_does_not_begin,
    "tie-keeps-all": patched(test_caps.test_a_tie_keeps_no_more_and_the_first_keys, 2),
    "few-groups-forgotten": groups_and_rows_are_capped,
    "everybody-has-few-groups": groups_and_rows_are_capped,
    "sql-rows-not-capped": test_caps.test_a_person_with_very_many_rows_counts_as_few,
    "rows-not-capped-among-groups": groups_and_rows_are_capped,
    "capped-toward-zero": capped_sums_agree,
    "cap-without-chance": test_caps.test_capped_sums_are_right_on_average,
    "nobody-is-a-person": test_caps.test_rows_without_a_person_count_for_nobody,
    "clipped-to-nearest": a_vector_is_within_its_limit,
    "first-limit-alone": test_caps.test_all_terms_are_shortened_by_one_factor,
    "squares-in-64-bits": long_vectors_do_not_overflow,
    "sum-in-floats": sums_are_exact,
    "codes-decide": test_caps.test_a_choice_depends_on_the_person_alone,
    "nan-is-a-number": expressions_agree,
    "nan-clamped-to-the-upper-bound": expressions_agree,
    "not-clamped-from-above": expressions_agree,
    "middle-not-taken-off": expressions_agree,
    "half-a-step-down": expressions_agree,
    "sql-division-by-zero": expressions_agree,
    "integers-compared-as-they-are": expressions_agree,
    "letters-of-every-alphabet": expressions_agree,
    "nan-loaded": test_load.test_frames_of_categories_codes_and_gaps,
    "nan-object-loaded": lambda: test_load.test_objects_are_converted_one_by_one(Type.NUMBER),
    "slices-overlap": arranged_agrees,
    "people-numbered-by-hash": lambda: test_caps.test_people_are_told_apart_by_value(Type.INTEGER),
    "any-type-returned": patched(test_same.test_what_is_not_64_bit_integers_is_a_fault),
    "cause-shown": one_constant_fault,
    "half-locked": the_lock_holds,
    "too-many-rows-loaded": patched(test_load.test_too_many_rows_are_refused),
    "null-is-false": comparisons_of_null,
    "halves-toward-zero": lambda: test_evaluate.test_a_number_becomes_an_integer_if_it_is_small(0.5, 1),
    "open-quote-runs-on": framed("an open quote"),
    "parity-goes-on": framed("two open quotes, closed"),
    "fields-not-counted": framed("short and long"),
    "stray-line-ends-ignored": framed("a lone CR"),
    "halves-of-line-ends": framed("CR and LF apart"),
    "text-after-a-quote": framed("text after a quote"),
    "folders-name-columns": folders_are_no_columns,
    "line-ends-do-not-match": lambda: test_evaluate.test_patterns("%b%", "a\nb", True),
}


HELD: set[Law] = set()  # laws that were seen to hold


def test_every_planted_bug_has_its_law() -> None:
    assert {mutant.name for mutant in of_part("engines")} == set(CAUGHT_BY)
    assert len(CAUGHT_BY) >= 10


@pytest.mark.parametrize("mutant", of_part("engines"), ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    law = CAUGHT_BY[mutant.name]
    if law not in HELD:
        law()
        HELD.add(law)
    with mutant.planted(), pytest.raises((AssertionError, pytest.fail.Exception)):
        law()
