"""Planted bugs of tables in cells: a unit in two cells, a condition on a part of one, cells that data decide, exact values in the open."""

from contextvars import copy_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from discreet.cells import Categorical
from discreet.errors import Invalid, QueryError
from tests import test_cells as cells
from tests.curator import test_promise as promise
from tests.curator import test_table as table
from tests.curator import test_table_attributes as attributes
from tests.curator import test_table_conditions as conditions
from tests.mechanisms import test_guarded as guarded
from tests.mutants import Mutant
from tests.weights import test_array_tables as arrays

CELLS = "discreet.cells:"
GUARDED = "discreet.mechanisms.guarded:"
MEASURE = "discreet.mechanisms.measure:"
PRICING = "discreet.curator.pricing:"
TABLE = "discreet.curator.table."


def read_by_draws_alone() -> None:
    """In a context of its own, which a bug may leave open."""
    copy_context().run(guarded.read_by_draws_alone)


def closed_again_after_a_failure() -> None:
    copy_context().run(guarded.closed_again_after_a_failure)


def bad_sources_show_before_a_charge() -> None:
    with TemporaryDirectory() as folder:
        table.bad_sources_show_before_a_charge(Path(folder))


def a_text_is_one_condition() -> None:
    for text in ("ward = 'A' GROUP BY ward", "ward = 'A' LIMIT 1"):
        with pytest.raises(QueryError):
            conditions.CONDITIONS.read(text)


def what_is_given_is_checked() -> None:
    for given in (Categorical("level", (1.5,)), Categorical("ward", tuple(map(str, range(10_001))))):
        with pytest.raises(Invalid):
            attributes.KNOWN.read([given])


MUTANTS = (
    Mutant(
        "marginals-of-listed-cells-once",
        CELLS + "CellCounts.marginal",
        "np.add.at(flat, place, self.counts)",
        "flat[place] = self.counts",
        "cells that fall together in a margin replace one another",
        cells.marginals_in_order,
    ),
    Mutant(
        "marginals-in-the-order-of-the-table",
        CELLS + "CellCounts.marginal",
        "axes,\n        np.zeros(",
        "sorted(axes),\n        np.zeros(",
        "axes that are asked for in another order are mixed up",
        cells.marginals_in_order,
    ),
    Mutant(
        "counts-without-codes",
        CELLS + "CellCounts.__post_init__",
        "or self.counts.ndim != 1",
        "and self.counts.ndim != 1",
        "counts that belong to other codes are taken",
        cells.shapes_are_checked,
    ),
    Mutant(
        "bins-that-go-down",
        CELLS + "_rise",
        "low < high",
        "low != high",
        "bins overlap",
        cells.edges_rise,
    ),
    Mutant(
        "other-behind-missing",
        CELLS + "_labels",
        "(OTHER,) * other + (MISSING,) * missing",
        "(MISSING,) * missing + (OTHER,) * other",
        "labels are those of other cells",
        cells.cells_are_labelled,
    ),
    Mutant(
        "a-category-twice",
        CELLS + "Categorical.__post_init__",
        "(type(value), value)",
        "object()",
        "a category has two cells",
        cells.categories_differ,
    ),
    Mutant(
        "guarded-by-nobody",
        GUARDED + "Guarded.__call__",
        "not _UNDER_WAY.get()",
        "False",
        "whoever holds an exact value can read it",
        read_by_draws_alone,
    ),
    Mutant(
        "open-from-the-first-draw-on",
        GUARDED + "under_way",
        "_UNDER_WAY.reset(before)",
        "_UNDER_WAY.get(before)",
        "after one draw exact values can be read by whoever made it",
        read_by_draws_alone,
    ),
    Mutant(
        "open-after-a-draw-that-failed",
        GUARDED + "under_way",
        "    try:\n        yield\n    finally:\n        _UNDER_WAY.reset(before)",
        "    yield\n    _UNDER_WAY.reset(before)",
        "who makes a draw fail can read exact values from then on",
        closed_again_after_a_failure,
    ),
    Mutant(
        "guarded-that-shows-itself",
        GUARDED + "Guarded.__repr__",
        '"Guarded(…)"',
        'f"Guarded({self._read()})"',
        "a notebook prints the exact value",
        guarded.nothing_is_told_by_its_looks,
    ),
    Mutant(
        "promises-are-believed",
        MEASURE + "Promise.check",
        "not loss(event).certifies(self.epsilon, self.delta)",
        "False",
        "less is charged than was lost",
        promise.what_is_not_kept_is_refused,
    ),
    Mutant(
        "promises-without-a-curator-are-believed",
        MEASURE + "Unmetered.__call__",
        "promise is not None",
        "False",
        "what is tried on arrays is refused by a curator",
        promise.what_is_not_kept_is_refused,
    ),
    Mutant(
        "promises-are-not-proven-before-they-are-charged",
        PRICING + "price_of_measurement",
        "    promise.check(event)\n",
        "",
        "less is charged than was lost",
        promise.what_is_not_kept_is_refused,
    ),
    Mutant(
        "promises-are-not-the-price",
        PRICING + "price_of_measurement",
        "price_of_promise(event, *promise, accountant)",
        "price_of_event(event, accountant, delta)",
        "whoever calibrated for a price pays another one",
        promise.what_is_kept_is_the_price,
    ),
    Mutant(
        "edges-belong-to-the-bin-below",
        "discreet.curator.halves:by_halves",
        "Order.LESS,",
        "Order.LESS_OR_EQUAL,",
        "a value at an edge is in the bin below",
        table.cells_are_what_expressions_say,
    ),
    Mutant(
        "what-is-missing-is-other",
        TABLE + "codes:code_of",
        "attribute.size - 1 if",
        "attribute.size - 2 if",
        "missing values are in the cell before their own",
        table.cells_are_what_expressions_say,
    ),
    Mutant(
        "categories-by-their-order",
        TABLE + "codes:_category",
        "Case((branch(places[i]),), other)",
        "Case((branch(i),), other)",
        "categories that are not declared in order are in each other's cells",
        table.cells_are_what_expressions_say,
    ),
    Mutant(
        "others-are-the-last-category",
        TABLE + "codes:_category",
        "len(attribute.values) if attribute.other",
        "len(attribute.values) - 1 if attribute.other",
        "what nobody named is in the cell of a category",
        table.cells_are_what_expressions_say,
    ),
    Mutant(
        "bins-of-all-edges",
        TABLE + "codes:_bin",
        "attribute.edges[1:-1]",
        "attribute.edges[1:]",
        "what is above all edges is in a cell that is another one",
        table.cells_are_what_expressions_say,
    ),
    Mutant(
        "all-rows-of-a-person-count",
        TABLE + "counting:Units.rows",
        "columns, 1)",
        "columns, 2)",
        "a person is in two cells, and noise for one does not hide them",
        table.everybody_is_counted_once,
    ),
    Mutant(
        "rows-are-people-with-several",
        TABLE + "counting:Units.rows",
        "if self.person is None",
        "if True",
        "a person is in as many cells as they have rows",
        table.everybody_is_counted_once,
    ),
    Mutant(
        "rows-by-what-is-asked-about",
        TABLE + "counting:Units.by_cell",
        "rows = self.rows()",
        "rows = (kept := self.rows()) and KeepRows(kept.source, kept.person, tuple(self.column(e.name) for e in attributes), 1)",
        "counts by some attributes are not the sums of those by more",
        table.margins_agree,
    ),
    Mutant(
        "cells-that-there-are-not",
        TABLE + "counting:counted",
        "(codes < 0) | (codes >= np.array(shape))",
        "codes < 0",
        "what an engine returns by mistake is counted in another cell",
        table.test_an_engine_that_returns_what_is_no_cell_is_stopped,
    ),
    Mutant(
        "bounds-of-the-first-bins",
        TABLE + "bins:_end",
        "(high - low) % bins == 0",
        "(high - low) % bins != 0",
        "whole numbers are in bins that are not as equal as they could be",
        attributes.attributes_mean_what_is_declared,
    ),
    Mutant(
        "bins-beyond-the-last-day",
        TABLE + "bins:_end",
        "high >= most",
        "high > most",
        "bounds that end with the calendar have an edge that is no day",
        attributes.bounds_at_the_end_of_time,
    ),
    Mutant(
        "edges-between-whole-numbers",
        TABLE + "bins:_number",
        "place.denominator == 1 and",
        "",
        "an edge that was given is another one",
        attributes.what_is_unusable_is_refused,
    ),
    Mutant(
        "no-bounds-are-zero",
        TABLE + "attributes:Attributes._usual",
        "raise unbounded(column)",
        "return self._binned(column, (0, 1))",
        "cells that nobody declared",
        attributes.what_nobody_declared_is_refused,
    ),
    Mutant(
        "people-as-an-attribute",
        TABLE + "attributes:Attributes._one",
        "column.name.casefold() == self._person",
        "False",
        "a histogram by person",
        attributes.what_is_unusable_is_refused,
    ),
    Mutant(
        "nothing-else-than-what-is-listed",
        TABLE + "attributes:Attributes._categories",
        "other=rest",
        "other=False",
        "people with a value that nobody listed are left out",
        attributes.attributes_mean_what_is_declared,
    ),
    Mutant(
        "never-missing-has-a-cell",
        TABLE + "attributes:Attributes._binned",
        "missing=column.nullable",
        "missing=True",
        "noise is drawn for a cell that is always empty",
        attributes.never_missing_has_no_cell,
    ),
    Mutant(
        "given-attributes-are-not-looked-at",
        TABLE + "attributes:Attributes._one",
        "return self._checked(column, said)",
        "return said",
        "an engine is handed values of another type",
        what_is_given_is_checked,
    ),
    Mutant(
        "null-is-false-on-cells",
        TABLE + "truth:one",
        "NULL if value is None else",
        "FALSE if value is None else",
        "NOT of a comparison with what is missing is true",
        conditions.decided_conditions_agree,
    ),
    Mutant(
        "undecided-is-true",
        TABLE + "truth:is_undecided",
        "((sets & TRUE) > 0) & ((sets & (FALSE | NULL)) > 0)",
        "sets == 0",
        "a condition on a part of a cell counts none of it",
        conditions.split_conditions_say_what_is_lacking,
    ),
    Mutant(
        "undecided-where-null-or-false",
        TABLE + "truth:is_undecided",
        "((sets & TRUE) > 0) & ",
        "(sets != TRUE) & (sets != FALSE) & (sets != NULL) & ",
        "a cell where nothing is true is refused",
        conditions.decided_conditions_agree,
    ),
    Mutant(
        "or-is-and",
        TABLE + "truth:either",
        "opposite(both(opposite(left), opposite(right)))",
        "both(left, right)",
        "one of two conditions is both",
        conditions.decided_conditions_agree,
    ),
    Mutant(
        "null-and-true-is-true",
        TABLE + "truth:both",
        " | (left >> 1 & right)",
        "",
        "true AND NULL is nothing at all",
        conditions.sets_are_what_choices_give,
    ),
    Mutant(
        "case-without-its-rest",
        TABLE + "truth:chosen",
        "(condition & (FALSE | NULL)) > 0",
        "(condition & FALSE) > 0",
        "where a condition is NULL a CASE has no value",
        conditions.decided_conditions_agree,
    ),
    Mutant(
        "pieces-of-bins-between-edges-alone",
        TABLE + "pieces:_there",
        "(*ends, *constants)",
        "ends",
        "a constant inside of a bin is on one side of all of it",
        conditions.split_conditions_say_what_is_lacking,
    ),
    Mutant(
        "nothing-is-below-the-first-edge",
        TABLE + "pieces:_parts",
        "[None, *places, None]",
        "[*places, None]",
        "what is below all edges is in the first bin, and was forgotten",
        conditions.bins_without_bounds_have_no_ends,
    ),
    Mutant(
        "bins-end-at-their-edges",
        TABLE + "pieces:_there",
        "bounds[0] <= place <= bounds[1]",
        "place_of(ends[0]) <= place <= place_of(ends[-1])",
        "what the bounds allow below the first edge is in the first bin, and was forgotten",
        conditions.bins_beyond_which_there_are_values_have_these,
    ),
    Mutant(
        "bounds-that-nobody-believes",
        TABLE + "pieces:_there",
        "and inside:",
        ":",
        "a value outside of its bounds counts as itself, and the first bin of all is split by its own end",
        conditions.decided_conditions_agree,
    ),
    Mutant(
        "other-texts-are-those-that-are-named",
        TABLE + "pieces:_named",
        '+ "…", False)',
        '+ "…", True)',
        "a condition on what was not listed is known by what it names",
        conditions.split_conditions_say_what_is_lacking,
    ),
    Mutant(
        "whole-numbers-between-neighbours",
        TABLE + "pieces:_whole_between",
        "if first > last or",
        "if",
        "there is a whole number between 64 and 65",
        conditions.decided_conditions_agree,
    ),
    Mutant(
        "functions-are-the-same-on-a-bin",
        TABLE + "condition:is_plain",
        "    return False\n",
        "    return True\n",
        "a function of a bin is what it is of one value",
        conditions.split_conditions_say_what_is_lacking,
    ),
    Mutant(
        "order-of-texts-that-are-not-listed",
        TABLE + "condition:is_plain",
        "if column.type is not Type.TEXT else equal",
        "or True",
        "texts that are not listed are behind all others",
        conditions.split_conditions_say_what_is_lacking,
    ),
    Mutant(
        "wide-constants-are-told-from-their-neighbours",
        TABLE + "condition:_parts_at",
        "mixed and",
        "False and",
        "whole numbers next to a large constant are equal to it as doubles",
        conditions.wide_constants_are_refused,
    ),
    Mutant(
        "conditions-with-more-than-a-condition",
        TABLE + "condition:Conditions.read",
        "replace(asked, source=self._plain.source) != self._plain",
        "False",
        "groups that are asked for are forgotten without a word",
        a_text_is_one_condition,
    ),
    Mutant(
        "axes-in-the-order-of-names",
        TABLE + "condition:CellPieces._shaped",
        "sets.transpose(ordered)",
        "sets",
        "what computes with two attributes has them exchanged",
        conditions.two_attributes_at_once_agree,
    ),
    Mutant(
        "cells-of-the-first-piece",
        TABLE + "condition:_Axis.starts",
        "np.flatnonzero(np.diff([-1, *cells]))",
        "np.flatnonzero(np.diff([-1, *cells]))[:-1]",
        "the last two cells are one",
        conditions.decided_conditions_agree,
    ),
    Mutant(
        "edges-of-the-other-side",
        TABLE + "splitting:_changes",
        "Fraction(floor(place) + 1)",
        "Fraction(floor(place))",
        "the edge that is named does not help",
        conditions.split_conditions_say_what_is_lacking,
    ),
    Mutant(
        "counts-for-everybody",
        TABLE + "table:ProtectedTable.counts",
        "Guarded(partial(self._counts, self._checked(attributes)))",
        "partial(self._counts, self._checked(attributes))",
        "exact counts can be read without a draw",
        table.test_counts_are_for_draws_alone,
    ),
    Mutant(
        "failures-that-tell",
        TABLE + "table:ProtectedTable._counts",
        "except Exception:",
        "except KeyError:",
        "what is wrong with the data is told after a charge",
        table.failures_are_constant,
    ),
    Mutant(
        "public-tables-are-protected",
        TABLE + "table:ProtectedTable.__init__",
        "found.public is not None",
        "False",
        "budget is spent on what everybody knows",
        table.test_tables_that_are_not_there_or_about_nobody_are_refused,
    ),
    Mutant(
        "a-table-of-all-columns-for-analysts",
        "discreet.curator.tabling:Tabling.table",
        "catalog = catalog.declared()",
        "catalog = catalog",
        "an analyst sees columns that nobody declared",
        table.analysts_see_what_is_declared,
    ),
    Mutant(
        "measurements-of-a-table-are-the-owners",
        "discreet.curator.tabling:Tabling.table",
        "key=key, analyst=analyst,",
        "key=key, analyst=None,",
        "an analyst draws beyond what is theirs",
        table.analysts_are_charged,
    ),
    Mutant(
        "charged-for-what-does-not-load",
        "discreet.curator.tabling:Tabling.table",
        "self._loaded()  # whatever is wrong",
        "pass  # whatever is wrong",
        "a source that is gone costs budget",
        bad_sources_show_before_a_charge,
    ),
    Mutant(
        "surveys-are-forgotten",
        "discreet.curator.tabling:Tabling.table",
        "overlaid(self.catalog, self.surveyed(analyst))",
        "self.catalog",
        "what was paid for is asked for again",
        attributes.surveyed_keys_and_bounds_are_cells,
    ),
    Mutant(
        "arrays-that-count-all-attributes",
        "discreet.weights.arrays:ArrayTable.counts",
        "self._codes[:, list(axes)]",
        "self._codes[:, sorted(axes)]",
        "attributes in another order are mixed up",
        arrays.arrays_are_counted_as_they_are,
    ),
    Mutant(
        "codes-beyond-the-cells",
        "discreet.weights.arrays:_checked",
        "(codes >= np.array(domain.shape)).any()",
        "False",
        "units are counted in cells of others",
        arrays.codes_are_those_of_cells,
    ),
    Mutant(
        "attributes-of-one-name",
        "discreet.weights.domain:Domain.__post_init__",
        "len(set(self.names)) < len(self.names)",
        "False",
        "a name means the first of two attributes",
        arrays.domains_are_checked,
    ),
    Mutant(
        "axes-in-their-own-order",
        "discreet.weights.domain:Domain.axes",
        "tuple(self.names.index(name) for name in names)",
        "tuple(sorted(self.names.index(name) for name in names))",
        "what is asked for in another order comes in this one",
        arrays.domains_are_checked,
    ),
    Mutant(
        "a-mask-of-one-is-all",
        "discreet.weights.model:count",
        "model.total if bool(cells.reshape(-1)[0]) else 0.0",
        "model.total",
        "what is never true counts everybody",
        arrays.counts_of_a_model_are_sums,
    ),
)
