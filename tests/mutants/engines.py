"""Planted bugs of the engines: the mistakes that would give somebody away, or give a wrong number without a word."""

import random
import tempfile
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine, python_rows
from discreet.engines.reading import Form
from discreet.errors import Fault, Invalid
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.scalar import Column, Type
from tests.engines import (
    test_agree,
    test_caps,
    test_evaluate,
    test_framing,
    test_lists,
    test_load,
    test_locked,
    test_registry,
    test_same,
    test_words,
)
from tests.engines.twins import SALT, agree, computed
from tests.mutants import Law, Mutant, by_itself
from tests.plan import test_filled

CELLS = "discreet.engines.render.cells:"
OBJECTS = "discreet.engines.cells:"
ARRANGING = "discreet.engines.arranging:"
DUCKDB = "discreet.engines.duckdb:"
FRAMING = "discreet.engines.framing:"
LINES = "discreet.engines.lines:"
EVALUATE = "discreet.plan.evaluate:"
ROUNDING = "discreet.plan.rounding:"
RELATIONS = "discreet.engines.render.relations:"
SCALARS = "discreet.engines.render.scalars:"
WORDS = "discreet.engines.render.duckdb:"
ALL_WORDS = "discreet.engines.render.words:"
WATCH = "discreet.engines.watch:"

X, Y = Column("x", Type.INTEGER), Column("y", Type.INTEGER)
PORTIONS = 8


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
        kinds = test_agree.each_kind()
        for start in range(PORTIONS):  # each with all kinds, so that the first tells most bugs
            test_agree.agrees_on(engine, kinds[start::PORTIONS])
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


def columns_are_told_apart() -> None:
    for other in ("a", "A"):
        with pytest.raises(Invalid):
            Data("t", {"a": [1]}, (Column("a", Type.INTEGER), Column(other, Type.INTEGER)))


def lists_are_missing() -> None:
    test_load.test_columns_that_cannot_be_loaded_are_missing_everywhere_and_block_nothing("polars")


def conditions_that_are_null_keep_nobody() -> None:
    """Of several conditions all must be true; one that is NULL is not."""
    data = Data("t", {"x": [1, 2, None], "y": [1, None, 1]}, (X, Y))
    over = [s.Comparison(s.Order.GREATER, column, s.Literal(0, Type.INTEGER)) for column in (X, Y)]
    for rows in (
        r.Filter(r.Filter(r.Scan("t", (X, Y)), over[0]), over[1]),
        r.Filter(r.Scan("t", (X, Y)), s.And((*over,))),
    ):
        query = r.Totals(rows, (), (r.Term(r.How.SUM, s.Literal(1, Type.INTEGER)),))
        with DuckDB([data], threads=1) as engine:
            for each in (engine, MemoryEngine([data])):
                assert each.run(query, SALT).totals[0].tolist() == [1]


def the_twin_caps() -> None:
    """What every engine is compared with keeps as many groups of a person as the cap says."""
    person, group = Column("x", Type.INTEGER), Column("y", Type.INTEGER)
    data = Data("t", {"x": [1] * 6, "y": [1, 2, 3] * 2}, (X, Y))
    people = r.Contributions(r.Scan("t", (X, Y)), person, (group,), (r.Term(r.How.SUM, s.Literal(1, Type.INTEGER)),))
    for most in (1, 2, 3, 4):
        twin = MemoryEngine([data], {(1, (key,)): key for key in (1, 2, 3)})
        assert len(twin.run(r.Totals(r.CapGroups(people, most)), SALT).keys) == min(most, 3)


def moments_fall_on_one_day(folder: Path) -> None:
    """The day of a moment is that of UTC, in every engine."""
    path = folder / "t.csv"
    path.write_text("x\n2024-05-06T23:30:00-04:00\n2024-05-06T00:30:00+04:00\n2024-05-06T12:00:00Z\n", "utf-8")
    data = Data("t", path, (Column("x", Type.DATE),))
    with DuckDB([data], threads=1) as engine:
        days = sorted(day for (day,) in engine._connection.execute("SELECT x FROM t").fetchall())
    assert [str(day) for day in days] == ["2024-05-05", "2024-05-06", "2024-05-07"]
    assert days == sorted(row["x"] for row in python_rows(data))  # type: ignore[type-var]


def forms_are_read_as_declared() -> None:
    day = {"%Y": "2024", "%m": "4", "%d": "13"}
    for order in permutations(day):
        assert Form.of("/".join(order)).standard("/".join(day[each] for each in order)) == "2024-04-13"


MUTANTS = (
    Mutant(
        "a-list-of-whole-numbers-stays-whole",
        EVALUATE + "evaluate_each",
        "called.operand(i) is Type.NUMBER",
        "False",
        "the groups of a function of many values are other values than those of its rows",
        test_agree.values_of_a_list_are_those_of_each_row,
    ),
    Mutant(
        "a-missing-key-beside-a-list",
        "discreet.engines.render.lists:in_a_long_list",
        "over.clean(part).sql if sql is None else sql for part, sql in others",
        "sql for part, sql in others if sql is not None",
        "rows without a key are left out, where a missing one is a group beside a long list of keys",
        patched(test_lists.short_lists_agree),
    ),
    Mutant(
        "a-list-of-another-filter",
        "discreet.engines.render.lists:in_a_long_list",
        'name, values = f"list{len(lists)}"',
        'name, values = "list0"',
        "of two long lists one is handed over for both: rows are left out of groups that they are in, and others are let in",
        patched(test_lists.short_lists_agree),
    ),
    Mutant(
        "rows-without-a-value-are-gone",
        RELATIONS + "_filled",
        "base, where\n",
        "base, [*where, *(exp.Not(this=is_null(named(column.name))) for column, _ in relation.values)]\n",
        "a row that lacks what is declared never to be missing is left out, and counted nowhere",
        test_filled.rows_count_with_the_middle,
    ),
    Mutant(
        "rows-without-a-value-are-gone-in-python",
        "discreet.engines.memory:_filled",
        "for row in rows]",
        "for row in rows if None not in map(row.get, values)]",
        "the engine that others are compared with leaves rows out",
        test_filled.rows_count_with_the_middle,
    ),
    Mutant(
        "salt-does-not-reshuffle",
        WORDS + "DuckDBWords.priority",
        'call("hash", call("xor", mixed, salt))',
        'call("xor", mixed, salt)',
        "the salt is only combined by exclusive or: the same groups are kept in question after question",
        test_caps.test_which_groups_are_kept_is_uniform_over_people_and_over_salts,
    ),
    Mutant(
        "one-group-too-many",
        RELATIONS + "Writer.chosen",
        """ranked,
            relation.most,""",
        """ranked,
            relation.most + 1,""",
        "a person counts in one group more than is priced",
        groups_and_rows_are_capped,
    ),
    Mutant(
        "one-group-too-many-by-rank",
        ALL_WORDS + "Words.first",
        "bare_integer(most)",
        "bare_integer(most + 1)",
        "in a dialect without QUALIFY a person counts in one group more than is priced",
        patched(caps_without_qualify),
    ),
    Mutant(
        "replaced-column-stays",
        ALL_WORDS + "Words.replaced",
        "columns.get(name, named(name))",
        "named(name)",
        "in a dialect without REPLACE rows are not capped",
        patched(caps_without_qualify),
    ),
    Mutant(
        "parts-outlive-their-question",
        DUCKDB + "DuckDB._run",
        "wait(jobs)",
        "pass",
        "a question that has failed still reads, while the next one runs or the engine is closed",
        test_registry.no_part_outlives_its_question,
    ),
    Mutant(
        "begun-after-its-deadline",
        WATCH + "Watch.over",
        "self._deadline is not None and",
        "False and",
        "what waited for a thread until its time was over still runs",
        test_registry.test_what_begins_after_the_deadline_does_not_begin,
    ),
    Mutant(
        "tie-keeps-all",
        RELATIONS + "Writer.chosen",
        """order = [self.priority_of_group(contributions), *keys]
    ranked = exp.Window(
        this=call("row_number"),""",
        """order = [self.priority_of_group(contributions)]
    ranked = exp.Window(
        this=call("rank"),""",
        "groups of equal priority are all kept",
        patched(test_caps.test_a_tie_keeps_no_more_and_the_first_keys, 2),
    ),
    Mutant(
        "few-groups-forgotten",
        "discreet.engines.render.masks:last_slot",
        "range(most - 1)",
        "range(most - 2)",
        "a person loses a group that should count",
        groups_and_rows_are_capped,
    ),
    Mutant(
        "everybody-has-few-groups",
        RELATIONS + "Writer.chosen",
        'over_most = binary(exp.GT, call("count", exp.Star()), bare_integer(relation.most))',
        'over_most = binary(exp.GT, call("count", exp.Star()), bare_integer(10**6))',
        "nobody's groups are ranked, so that all are kept that share an interval of priorities",
        groups_and_rows_are_capped,
    ),
    Mutant(
        "sql-rows-not-capped",
        RELATIONS + "_cap_rows",
        "return writer.capped(source, writer.contributed(source, caps=True), relation.most, rows)",
        "return writer.contributed(source, caps=True)",
        "a person with a thousand rows counts a thousand times",
        test_caps.test_a_person_with_very_many_rows_counts_as_few,
    ),
    Mutant(
        "rows-not-capped-among-groups",
        RELATIONS + "Writer.chosen",
        "if isinstance(relation.source, CapRows):",
        "if False:",
        "where groups are capped, rows are not",
        groups_and_rows_are_capped,
    ),
    Mutant(
        "capped-toward-zero",
        RELATIONS + "Writer.capped",
        "r = words.remainder(binary(exp.Add, words.remainder(s, n), n), n)",
        "r = words.remainder(s, n)",
        "negative sums are rounded the other way, and are no longer right on average",
        capped_sums_agree,
    ),
    Mutant(
        "cap-without-chance",
        RELATIONS + "Writer.capped",
        "binary(exp.Add, binary(exp.Mul, r, limit), u)",
        "binary(exp.Add, binary(exp.Mul, r, limit), binary(exp.Mul, u, integer(0)))",
        "capped sums are always rounded down",
        test_caps.test_capped_sums_are_right_on_average,
    ),
    Mutant(
        "nobody-is-a-person",
        RELATIONS + "Writer.of_people",
        """person = over.clean(contributions.person).sql
        where.append(exp.Paren(this=exp.Not(this=is_null(person.copy()))))""",
        "person = over.clean(contributions.person).sql",
        "all rows without a person are taken for one person's",
        test_caps.test_rows_without_a_person_count_for_nobody,
    ),
    Mutant(
        "clipped-to-nearest",
        WORDS + "DuckDBWords.truncated",
        'call("trunc",',
        'call("round",',
        "a shortened vector is longer than its limit",
        a_vector_is_within_its_limit,
    ),
    Mutant(
        "first-limit-alone",
        RELATIONS + "Writer.clipped",
        'call("least", *factors)',
        "factors[0]",
        "only the first term is within its limit",
        test_caps.test_all_terms_are_shortened_by_one_factor,
    ),
    Mutant(
        "squares-in-64-bits",
        RELATIONS + "Writer.narrow",
        "return False",
        "return True",
        "the norm of a person with very many rows overflows, and the question fails",
        long_vectors_do_not_overflow,
    ),
    Mutant(
        "sum-in-floats",
        RELATIONS + "_total",
        "call(how, cast(sql, T.BIGINT))",
        "call(how, cast(sql, T.DOUBLE))",
        "sums depend on the order of rows",
        sums_are_exact,
    ),
    Mutant(
        "codes-decide",
        RELATIONS + "grouped_key",
        "return Grouped(form.copy(), sql)",
        "return Grouped(form.copy(), form.copy())",
        "which groups of a person are kept depends on what other people's rows hold",
        test_caps.test_a_choice_depends_on_the_person_alone,
    ),
    Mutant(
        "nan-is-a-number",
        SCALARS + "ScalarWriter.clean",
        "if not part.nan:",
        "if True:",
        "what is not a number is compared, and is larger than all",
        expressions_agree,
    ),
    Mutant(
        "nan-clamped-to-the-upper-bound",
        SCALARS + "_steps",
        "if operand.nan:",
        "if False:",
        "what is not a number counts as the largest value",
        expressions_agree,
    ),
    Mutant(
        "not-clamped-from-above",
        SCALARS + "_steps",
        "(binary(exp.GTE, operand.sql.copy(), bounds[1]), integer(high)),",
        "",
        "one value can be as large as it likes",
        expressions_agree,
    ),
    Mutant(
        "middle-not-taken-off",
        SCALARS + "_steps",
        "binary(exp.Sub, operand.sql, double(scalar.middle)) if scalar.middle else operand.sql",
        "operand.sql",
        "values inside of the bounds are not centred",
        expressions_agree,
    ),
    Mutant(
        "half-a-step-down",
        SCALARS + "_steps",
        "double(0.5)",
        "double(0.0)",
        "values are rounded down to the grid",
        expressions_agree,
    ),
    Mutant(
        "sql-division-by-zero",
        SCALARS + "_arithmetic",
        "scalar.operator is Operator.DIVIDE and",
        "False and",
        "a division by zero is infinite, and then clamped to a bound",
        expressions_agree,
    ),
    Mutant(
        "integers-compared-as-they-are",
        SCALARS + "_comparison",
        "mixed = type_of(scalar.left) is not type_of(scalar.right)",
        "mixed = type_of(scalar.left).numeric",
        "large integers next to each other are equal",
        expressions_agree,
    ),
    Mutant(
        "letters-of-every-alphabet",
        WORDS + "DuckDBWords.lower_ascii",
        'call("translate", operand, text(letters), text(letters.translate(LOWER)))',
        'call("lower", operand)',
        "whether case matters depends on the engine",
        expressions_agree,
    ),
    Mutant(
        "nan-loaded",
        CELLS + "_present",
        "exp.Not(this=words.is_nan(sql))",
        "exp.Boolean(this=True)",
        "what is not a number is loaded as it is",
        test_load.test_frames_of_categories_codes_and_gaps,
    ),
    Mutant(
        "nan-object-loaded",
        OBJECTS + "_number",
        "None if isnan(number) else number",
        "number",
        "what is not a number is loaded as it is",
        lambda: test_load.test_objects_are_converted_one_by_one(Type.NUMBER),
    ),
    Mutant(
        "slices-overlap",
        DUCKDB + "DuckDB._part",
        "high=high",
        "high=high + 1",
        "some people count twice",
        arranged_agrees,
    ),
    Mutant(
        "people-numbered-by-hash",
        ARRANGING + "_arranged",
        "row_number() OVER (ORDER BY value) - 1 AS INTEGER",
        "hash(value) % 3 AS INTEGER",
        "two people are taken for one",
        lambda: test_caps.test_people_are_told_apart_by_value(Type.INTEGER),
    ),
    Mutant(
        "any-type-returned",
        DUCKDB + "DuckDB._part",
        "if type(each) is not np.ndarray or each.dtype != np.int64:",
        "if False:",
        "wide integers come as floats without a word",
        patched(test_same.test_what_is_not_64_bit_integers_is_a_fault),
    ),
    Mutant(
        "cause-shown",
        DUCKDB + "DuckDB.run",
        " from None",
        "",
        "the engine's message, with a cell in it, hangs on ours",
        one_constant_fault,
    ),
    Mutant(
        "half-locked",
        DUCKDB + "DuckDB.__init__",
        "for statement in LOCK:",
        "for statement in LOCK[:1]:",
        "files can be read and written from the connection",
        the_lock_holds,
    ),
    Mutant(
        "too-many-rows-loaded",
        DUCKDB + "load",
        "if rows > MOST_ROWS:",
        "if False:",
        "a sum may overflow",
        patched(test_load.test_too_many_rows_are_refused),
    ),
    Mutant(
        "null-is-false",
        EVALUATE + "compare",
        "return None",
        "return False",
        "a comparison with NULL is false, and its negation true",
        comparisons_of_null,
    ),
    Mutant(
        "halves-toward-zero",
        ROUNDING + "half_away",
        ">= 0.5",
        "> 0.5",
        "halves are rounded toward zero",
        lambda: test_evaluate.test_a_number_becomes_an_integer_if_it_is_small(0.5, 1),
    ),
    Mutant(
        "line-ends-do-not-match",
        EVALUATE + "_matcher",
        "re.DOTALL",
        "0",
        "a pattern stops at the end of a line",
        lambda: test_evaluate.test_patterns("%b%", "a\nb", True),
    ),
    Mutant(
        "open-quote-runs-on",
        FRAMING + "OpenRecord.goes_on",
        "not self.framing.multiline",
        "False",
        "a quote that stays open swallows the records of everybody after it",
        framed("an open quote"),
    ),
    Mutant(
        "parity-goes-on",
        LINES + "surely_sound",
        "(CELLS if shape.framing.multiline else CELLS_OF_A_LINE)",
        "CELLS",
        "whether a quote opens or closes is not begun anew with each line, so that two stray quotes hide the lines between them",
        framed("two open quotes, closed"),
    ),
    Mutant(
        "fields-not-counted",
        LINES + "_one_by_one",
        "(fields != shape.fields) & ~blank & ~doubtful",
        "(fields < 1) & ~blank & ~doubtful",
        "short and long records are not seen",
        framed("short and long"),
    ),
    Mutant(
        "stray-line-ends-ignored",
        LINES + "_one_by_one",
        "doubtful[np.searchsorted(ends, strays)] = True",
        "strays",
        "a lone carriage return makes one record into many",
        framed("a lone CR"),
    ),
    Mutant(
        "halves-of-line-ends",
        LINES + "surely_sound",
        "if len(shape.end) == 2 and not",
        "if False and not",
        "a carriage return and a line feed apart from each other are taken for the end of a line",
        framed("CR and LF apart"),
    ),
    Mutant(
        "text-after-a-quote",
        LINES + "_quotes_stand_well",
        "((before, shape.end[-1]), (behind, shape.end[0]))",
        "((before, shape.end[-1]),)",
        "what follows a closing quote is left to the engine's reading of it",
        framed("text after a quote"),
    ),
    Mutant(
        "folders-name-columns",
        DUCKDB + "_csv",
        "hive_partitioning = false",
        "hive_partitioning = true",
        "the name of a folder says who every row is about",
        folders_are_no_columns,
    ),
    Mutant(
        "two-columns-of-one-name",
        "discreet.engines.base:Data.__post_init__",
        "if len(set(folded)) < len(folded):",
        "if False:",
        "which of two columns a question is about depends on the engine",
        columns_are_told_apart,
    ),
    Mutant(
        "types-where-there-are-none",
        "discreet.engines.columns:has_types",
        "not isinstance(source, dict) and not has_header(source)",
        "True",
        "types are guessed from the rows of a file, where one value decides",
        by_itself(test_load.test_names_of_a_csv_come_without_types),
    ),
    Mutant(
        "lost-objects-not-told",
        "discreet.engines.frames:converted",
        "lost += value is None and not missing(cell) and not _is_word(cell, reading)",
        "lost += 0",
        "an owner is not told that the values of a column are gone",
        lists_are_missing,
    ),
    Mutant(
        "twin-keeps-all-groups",
        "discreet.engines.memory:_cap_groups",
        "[: relation.most]",
        "",
        "what every engine is compared with does not cap",
        the_twin_caps,
    ),
    Mutant(
        "twin-takes-null-for-true",
        "discreet.engines.memory:_filter",
        "is True",
        "is not False",
        "what every engine is compared with counts rows whose condition is NULL",
        conditions_that_are_null_keep_nobody,
    ),
    Mutant(
        "day-and-month-swapped",
        "discreet.engines.reading:Form.standard",
        "{match[self.month]:0>2}-{match[self.day]:0>2}",
        "{match[self.day]:0>2}-{match[self.month]:0>2}",
        "dates are read in another order than they are declared to be written in",
        forms_are_read_as_declared,
    ),
    Mutant(
        "one-condition-of-several",
        "discreet.engines.render.nodes:select",
        "chain(exp.And, list(where))",
        "where[0]",
        "rows count that a question leaves out",
        conditions_that_are_null_keep_nobody,
    ),
    Mutant(
        "west-is-east",
        "discreet.engines.render.texts:date",
        'text("-")',
        'text("+")',
        "a moment falls on another day than plain Python says",
        lambda: in_a_folder(moments_fall_on_one_day),
    ),
)
