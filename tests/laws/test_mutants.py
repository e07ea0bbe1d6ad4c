"""Every planted bug on the way in makes the law named here fail; without the bug the same law holds."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.laws import test_data_in as data_in
from tests.laws import test_doors as doors
from tests.mutants import Mutant, of_part

Law = Callable[[], object]


def in_folder(law: Callable[[Path], object]) -> Law:
    def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            law(Path(folder))

    return check


def a_gap_makes_no_floats() -> None:
    columns = {"id": [1, 2, 3], "x": [3, 7, 5], "y": ["u"] * 3}
    said = {"x": {"bounds": (0, 120)}}
    for text in ("SELECT SUM(x) AS s FROM t", "SELECT COUNT(*) AS n FROM t WHERE y > 3"):
        doors.compare(("pandas", columns, {**columns, "x": [3, 7, None]}, said, text, False))


def ids_stay_the_same() -> None:
    """An id that becomes a float because another is missing is the same id."""
    with tempfile.TemporaryDirectory() as folder:
        text = "SELECT COUNT(*) AS n FROM t WHERE pid = '7'"
        assert data_in.counted({"pid": [7, 8, 9]}, text, Path(folder)) == 1
        assert data_in.counted({"pid": [7.0, 8.0, None]}, text, Path(folder)) == 1


CAUGHT_BY: dict[str, Law] = {
    "stored-types-decide": a_gap_makes_no_floats,
    "odd-objects-raise": in_folder(
        lambda folder: data_in.test_no_object_in_a_cell_keeps_data_from_loading(folder, data_in.EARLY, "date")
    ),
    "rounded-ids-are-people": in_folder(data_in.test_ids_that_are_floats_are_somebody),
    "rounded-ids-of-a-column-are-people": in_folder(data_in.test_rounded_ids_of_a_frame_are_nobody),
    "wide-ids-in-64-bits": in_folder(
        lambda folder: data_in.test_ids_of_every_type_stay_apart(folder, *data_in.WIDE_IDS)
    ),
    "integral-floats-keep-their-point": ids_stay_the_same,
    "folders-of-parquet-name-columns": in_folder(data_in.test_nothing_is_taken_from_the_names_of_folders),
    "any-table-will-do": in_folder(data_in.test_a_table_that_is_named_must_be_there),
    "what-is-wrong-is-told": in_folder(data_in.test_a_source_that_does_not_load_is_one_constant_fault_at_no_charge),
    "undeclared-columns-are-there": in_folder(data_in.test_a_column_that_nobody_declared_is_not_there_for_an_analyst),
    "a-record-names-the-columns": in_folder(data_in.test_a_first_line_that_is_somebodys_record_is_not_shown),
    "ids-of-other-types": in_folder(data_in.test_the_ids_of_several_tables_are_of_one_type),
    "rows-of-two-tables": in_folder(data_in.test_the_ids_of_several_tables_are_of_one_type),
}


def test_every_planted_bug_has_its_law() -> None:
    assert {mutant.name for mutant in of_part("data")} == set(CAUGHT_BY)


@pytest.mark.parametrize("mutant", of_part("data"), ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    law = CAUGHT_BY[mutant.name]
    law()
    with mutant.planted(), pytest.raises((Exception, pytest.fail.Exception)):
        law()
    law()
