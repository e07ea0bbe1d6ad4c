"""Planted bugs on the way in: what lets one cell of one person change a plan, a refusal or somebody else's row."""

from tests.mutants import Mutant, register

PART = "data"
CELLS = "discreet.engines.cells:"
SQL_CELLS = "discreet.engines.render.cells:"
DUCKDB = "discreet.engines.duckdb:"
POLICY = "discreet.curator.policy:"
SESSION = "discreet.curator.session:"
CATALOG = "discreet.plan.catalog:"
TEXTS = "discreet.plan.texts:"

register(
    Mutant(
        "stored-types-decide",
        PART,
        POLICY + "_table",
        "if source.stored else {}",
        "if has_types(source.data) else {}",
        "a type that one missing value changes decides the plan",
    ),
    Mutant(
        "odd-objects-raise",
        PART,
        CELLS + "of_python",
        "except Exception:",
        "except KeyError:",
        "one object of one person keeps everybody's data from loading",
    ),
    Mutant(
        "rounded-ids-are-people",
        PART,
        CELLS + "of_python",
        "if plain is None or (person and",
        "if plain is None or (False and",
        "people whose ids a reader rounded to one are one person",
    ),
    Mutant(
        "rounded-ids-of-a-column-are-people",
        PART,
        SQL_CELLS + "loaded",
        "if person and native.real:",
        "if False:",
        "people whose ids a reader rounded to one are one person",
    ),
    Mutant(
        "wide-ids-in-64-bits",
        PART,
        SQL_CELLS + "_kept",
        "if native.narrow:",
        "if native.kind is Kind.INTEGER:",
        "an id of more than 64 bits keeps the data from loading",
    ),
    Mutant(
        "integral-floats-keep-their-point",
        PART,
        TEXTS + "written",
        'repr(value + 0.0).removesuffix(".0")',
        "repr(value + 0.0)",
        "one missing id makes 7 into 7.0, which is somebody else",
    ),
    Mutant(
        "folders-of-parquet-name-columns",
        PART,
        DUCKDB + "opened",
        "hive_partitioning = false",
        "hive_partitioning = true",
        "the name of a folder decides who a row is about",
    ),
    Mutant(
        "any-table-will-do",
        PART,
        DUCKDB + "_attached",
        "rows if table is None else",
        "rows if len(rows) == 1 else",
        "a question about a table that is not there is answered about another one",
    ),
    Mutant(
        "what-is-wrong-is-told",
        PART,
        SESSION + "Curator._loaded",
        "self._engine is None and self._told is not None",
        "self._engine is None",
        "why data do not load is told to whoever asks",
    ),
    Mutant(
        "undeclared-columns-are-there",
        PART,
        CATALOG + "Catalog.declared",
        "if each.declared or",
        "if True or",
        "an analyst is told of columns that nobody declared, and a line without names is somebody's record",
    ),
    Mutant(
        "a-record-names-the-columns",
        PART,
        POLICY + "_like_a_value",
        "(digits and not letters)",
        "False",
        "the record of the first person is shown as the names of columns",
    ),
    Mutant(
        "ids-of-other-types",
        PART,
        POLICY + "_check_ids",
        "len(set(kinds.values())) > 1",
        "False",
        "one person has another id in each table, and is protected in none of them together",
    ),
    Mutant(
        "rows-of-two-tables",
        PART,
        POLICY + "_check_unit",
        "len(policy.tables) > 1",
        "False",
        "rows of two tables about one person are protected apart",
    ),
)
