"""Planted bugs of functions of texts and numbers: values that engines do not agree on, bounds that do not hold, words misread."""

from tests.mutants import Law, Mutant
from tests.mutants.sql import aggregate, condition, refusal
from tests.plan import test_number_functions as numbers
from tests.plan import test_sql as means
from tests.plan import test_text_functions as texts

TEXTS, NUMBERS = "discreet.plan.text_functions:", "discreet.plan.number_functions:"
CALLS, FUNCTIONS, OPERATORS = (f"discreet.plan.sql.{name}:" for name in ("text_calls", "functions", "operators"))
DUCKDB = "discreet.engines.render.duckdb:"


def agree(name: str) -> Law:
    return lambda: texts.agree_on(name)


MUTANTS = (
    Mutant(
        "left-of-less-than-nothing",
        TEXTS + "_left",
        "max(len(text) + int(max(size, -FAR)), 0)",
        "len(text) + int(max(size, -FAR))",
        "where more is left out than there is, a part of the text is left",
        agree("left"),
    ),
    Mutant(
        "right-from-one-place-before",
        TEXTS + "_write_right",
        'words.infix(_cut(words, place, 0.0), "+", one)',
        "_cut(words, place, 1.0)",
        "an engine has one character more than is meant",
        agree("right"),
    ),
    Mutant(
        "parts-of-negative-length",
        TEXTS + "_write_substring",
        "words.when([(there, part)])",
        "part",
        "an engine has an empty text where there is none",
        agree("substring"),
    ),
    Mutant(
        "places-before-the-first-are-not-counted",
        TEXTS + "_substring",
        "max(int(first + count) - 1, 0)",
        "max(int(max(first, 1.0) + count) - 1, 0)",
        "a part is longer than PostgreSQL and the engine have it",
        agree("substring"),
    ),
    Mutant(
        "texts-grow-by-replacing",
        TEXTS + "_replace",
        "if size <= max(len(text), LONGEST_MADE) else None",
        "if size >= 0 else None",
        "nested calls make a text of any length, and the memory of an engine depends on a cell",
        texts.no_text_grows,
    ),
    Mutant(
        "texts-grow-in-an-engine",
        TEXTS + "_write_append",
        "words.whole(LONGEST_MADE)",
        "words.whole(2 * LONGEST_MADE)",
        "an engine makes longer texts than plain Python",
        agree("append"),
    ),
    Mutant(
        "letters-of-this-edition",
        "discreet.plan.letters:_pairs",
        "_old(one) and _old(other)",
        "_old(one)",
        "what is a small letter depends on the edition of Unicode that this Python has",
        texts.letters_stay,
    ),
    Mutant(
        "letters-of-any-edition",
        DUCKDB + "DuckDBWords._changed",
        "when([(self.matches(operand, COMMON), call(function, operand))], translated)",
        "call(function, operand)",
        "letters are changed as this edition of the engine has them",
        texts.letters_agree,
    ),
    Mutant(
        "powers-of-zero",
        NUMBERS + "_write_power",
        'words.infix(y, ">=", zero)',
        'words.infix(y, "<", zero)',
        "0 to a negative power is infinite in an engine",
        agree("power"),
    ),
    Mutant(
        "squares-are-least-at-an-end",
        NUMBERS + "_known_power",
        "corners.append(0.0)",
        "pass",
        "the square of a number of either sign is clamped to those of its bounds",
        numbers.facts_hold_inside,
    ),
    Mutant(
        "powers-of-any-sign-have-ends",
        NUMBERS + "_power_ends",
        "known = x[0] >= 0",
        "known = x[0] >= -np.inf",
        "the interval of a power of what may be negative does not hold it",
        numbers.intervals_of_powers_hold,
    ),
    Mutant(
        "the-upper-end-is-in-the-last-bin",
        NUMBERS + "_width_bucket",
        "if x >= high:",
        "if x > high:",
        "a value at the upper end is in another bin than in an engine",
        agree("width_bucket"),
    ),
    Mutant(
        "hundreds-are-hundredths",
        FUNCTIONS + "_round",
        "if digits.value < 0:",
        "if False:",
        "ROUND(x, -2) has two decimals",
        condition("ROUND(cost, -2) = 1"),
    ),
    Mutant(
        "base-and-number-exchanged",
        FUNCTIONS + "_logarithm",
        'Function("log10", (value,)), Function("log10", (base,))',
        'Function("log10", (base,)), Function("log10", (value,))',
        "LOG(b, x) is the logarithm of b",
        condition("LOG(3, cost) = 1"),
    ),
    Mutant(
        "signs-of-powers",
        FUNCTIONS + "_power",
        "exp.Pow | exp.Neg",
        "exp.Pow",
        "-x ^ 2 is read in one of the two ways that there are",
        refusal("SELECT COUNT(*) FROM visits WHERE -age ^ 2 = 1"),
    ),
    Mutant(
        "trimmed-at-both-ends",
        CALLS + "_trim",
        'node.args.get("position") or ""',
        '""',
        "LTRIM takes blanks away at the end, too",
        condition("LTRIM(ward, 'xy') = 'a'"),
    ),
    Mutant(
        "concat-of-null-is-null",
        CALLS + "_concat",
        "each if _there(each) else Coalesce((each, nothing))",
        "each",
        "CONCAT does not pass over NULL",
        condition("CONCAT(ward, '-', insured) = 'a'"),
    ),
    Mutant(
        "null-is-distinct-from-null",
        OPERATORS + "_distinct_from",
        "((equal, yes), (both, yes))",
        "((equal, yes),)",
        "two that are missing are told apart",
        condition("age IS DISTINCT FROM patient_id"),
    ),
    Mutant(
        "a-row-is-any-of-its-values",
        OPERATORS + "_row_in",
        "rows.append(And(",
        "rows.append(Or(",
        "(a, b) IN ((1, 2)) holds where only a is 1",
        condition("(age, ward) IN ((1, 'A'), (2, 'B'))"),
    ),
    Mutant(
        "texts-beyond-all-numbers",
        "discreet.plan.sql.values:_said",
        "isinstance(value, float) and not isfinite(value)",
        "False",
        "a text beside a number is infinite, which no number that is written can be",
        refusal("SELECT COUNT(*) FROM visits WHERE cost > '1e999'"),
    ),
    Mutant(
        "the-filter-of-count-if-is-forgotten",
        "discreet.plan.releases.total:_both",
        "for each in (first, second)",
        "for each in (second,)",
        "rows are counted that FILTER leaves out",
        aggregate("COUNT_IF(age > 5) FILTER (WHERE insured)"),
    ),
    Mutant(
        "fetch-is-one-row",
        "discreet.plan.sql.text:with_limit",
        "(tokens[fetch + 2 : -2] or [one])",
        "[one]",
        "FETCH FIRST 5 ROWS ONLY shows one",
        means.fetching_is_a_limit,
    ),
    Mutant(
        "quotients-of-any-numbers-are-noted",
        "discreet.plan.about:_rounds_quotient",
        "type_of(left) is type_of(right) is Type.INTEGER",
        "type_of(left) is type_of(left)",
        "a note about integer division stands where there is none",
        numbers.division_is_noted,
    ),
    Mutant(
        "letters-cost-nothing",
        "discreet.plan.domain:size_of",
        "(1 + letters // LETTERS if makes else 1)",
        "1",
        "planning, which is free, takes minutes",
        texts.letters_count,
    ),
)
