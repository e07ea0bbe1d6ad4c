"""Planted bugs on the way in: what lets one cell of one person change a plan, a refusal or somebody else's row."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.laws import test_data_in as data_in
from tests.laws import test_doors as doors
from tests.mutants import Law, Mutant

CELLS = "discreet.engines.cells:"
SQL_CELLS = "discreet.engines.render.cells:"
DUCKDB = "discreet.engines.duckdb:"
POLICY = "discreet.curator.catalog:"
SESSION = "discreet.curator.session:"
CATALOG = "discreet.plan.catalog:"
TEXTS = "discreet.plan.texts:"


def in_folder(law: Callable[[Path], object]) -> Law:
    def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            law(Path(folder))

    return check


def a_gap_makes_no_floats() -> None:
    columns = {"id": [1, 2, 3], "x": [3, 7, 5], "y": ["u"] * 3}
    said = {"x": {"bounds": (0, 120)}}
    for text in ("SELECT SUM(x) AS s FROM t", "SELECT COUNT(*) AS n FROM t WHERE y > 3"):
        doors.compare(("pandas", columns, {**columns, "x": [3, 7, None]}, said, text, False, {}))


def ids_stay_the_same() -> None:
    """An id that becomes a float because another is missing is the same id."""
    text = "SELECT COUNT(*) AS n FROM t WHERE pid = '7'"
    assert data_in.counted({"pid": [7, 8, 9]}, text) == 1
    assert data_in.counted({"pid": [7.0, 8.0, None]}, text) == 1


MUTANTS = (
    Mutant(
        "stored-types-decide",
        POLICY + "_table",
        "if source.stored else {}",
        "if has_types(source.data) else {}",
        "a type that one missing value changes decides the plan",
        a_gap_makes_no_floats,
    ),
    Mutant(
        "odd-objects-raise",
        CELLS + "of_python",
        "except Exception:",
        "except KeyError:",
        "one object of one person keeps everybody's data from loading",
        in_folder(
            lambda folder: data_in.test_no_object_in_a_cell_keeps_data_from_loading(folder, data_in.EARLY, "date")
        ),
    ),
    Mutant(
        "rounded-ids-are-people",
        CELLS + "of_python",
        "if plain is None or (person and",
        "if plain is None or (False and",
        "people whose ids a reader rounded to one are one person",
        data_in.test_ids_that_are_floats_are_somebody,
    ),
    Mutant(
        "rounded-ids-of-a-column-are-people",
        SQL_CELLS + "loaded",
        "if person and native.real:",
        "if False:",
        "people whose ids a reader rounded to one are one person",
        data_in.test_rounded_ids_of_a_frame_are_nobody,
    ),
    Mutant(
        "wide-ids-in-64-bits",
        SQL_CELLS + "_kept",
        "if native.narrow:",
        "if native.kind is NativeKind.INTEGER:",
        "an id of more than 64 bits keeps the data from loading",
        in_folder(lambda folder: data_in.test_ids_of_every_type_stay_apart(folder, *data_in.WIDE_IDS)),
    ),
    Mutant(
        "integral-floats-keep-their-point",
        TEXTS + "number_text",
        'repr(value + 0.0).removesuffix(".0")',
        "repr(value + 0.0)",
        "one missing id makes 7 into 7.0, which is somebody else",
        ids_stay_the_same,
    ),
    Mutant(
        "folders-of-parquet-name-columns",
        DUCKDB + "opened",
        "hive_partitioning = false",
        "hive_partitioning = true",
        "the name of a folder decides who a row is about",
        in_folder(data_in.test_nothing_is_taken_from_the_names_of_folders),
    ),
    Mutant(
        "any-table-will-do",
        DUCKDB + "_attached",
        "rows if table is None else",
        "rows if len(rows) == 1 else",
        "a question about a table that is not there is answered about another one",
        in_folder(data_in.test_a_table_that_is_named_must_be_there),
    ),
    Mutant(
        "what-is-wrong-is-told",
        SESSION + "Curator._loaded",
        "self._engine is None and self._told is not None",
        "self._engine is None",
        "why data do not load is told to whoever asks",
        in_folder(data_in.test_a_source_that_does_not_load_is_one_constant_fault_at_no_charge),
    ),
    Mutant(
        "undeclared-columns-are-there",
        CATALOG + "Catalog.declared",
        "if each.declared or",
        "if True or",
        "an analyst is told of columns that nobody declared, and a line without names is somebody's record",
        in_folder(data_in.test_a_column_that_nobody_declared_is_not_there_for_an_analyst),
    ),
    Mutant(
        "a-record-names-the-columns",
        POLICY + "_like_a_value",
        "(digits and not letters)",
        "False",
        "the record of the first person is shown as the names of columns",
        in_folder(data_in.test_a_first_line_that_is_somebodys_record_is_not_shown),
    ),
    Mutant(
        "ids-of-other-types",
        POLICY + "_check_ids",
        "len(set(kinds.values())) > 1",
        "False",
        "one person has another id in each table, and is protected in none of them together",
        in_folder(data_in.test_the_ids_of_several_tables_are_of_one_type),
    ),
    Mutant(
        "rows-of-two-tables",
        POLICY + "_check_unit",
        "sum(not source.public for source in policy.tables.values()) > 1",
        "False",
        "rows of two tables about one person are protected apart",
        in_folder(data_in.test_the_ids_of_several_tables_are_of_one_type),
    ),
)
