"""Planted bugs of rows of people: sums of doubles, people gathered as others, rows that are counted twice, and means that weigh rows."""

from tests.engines import test_people as engines
from tests.mutants import Law, Mutant
from tests.plan import test_people as people

FEATURES = "discreet.plan.features:"
MEMORY = "discreet.engines.memory:"
NARROWING = "discreet.plan.narrowing:"
RELEASED = "discreet.plan.sql.released:"
RENDER = "discreet.engines.render.people:"
RULES = "discreet.plan.rules.people:"
SQL = "discreet.plan.sql.people:"


def no_neighbour(*texts: str) -> Law:
    return lambda: people.no_neighbour_moves_more(list(texts))


def refusal(part: str) -> Law:
    """A text with this part is refused, with the code and the hint in its row."""
    row = next(each for each in people.REFUSED if part in each[1])
    return lambda: people.test_what_is_refused(*row)


def known(text: str) -> Law:
    return lambda: people.test_what_is_known_of_a_feature(text)


def flat(part: str) -> Law:
    row = next(each for each in people.FLAT if part in each[0])
    return lambda: people.test_a_question_over_groups_is_the_question_written_flat(*row, people.PERSON)


def meaning(part: str) -> Law:
    """A question means what DuckDB says, but for rows of nobody."""
    text = next(each for each in people.MEANS if part in each)
    return lambda: people.means_what_sql_says({text: text}, people.school(people.random.Random(11)))


MUTANTS = (
    Mutant(
        "doubles-are-summed",
        RULES + "_per_person",
        "if each.how is Summary.SUM:",
        "if each.how is Summary.DISTINCT:",
        "the sum of a person's doubles moves by a bit when others are added: their order changes",
        people.only_whole_numbers_are_summed,
    ),
    Mutant(
        "a-mean-of-doubles",
        FEATURES + "_steps",
        "Steps(where(condition, argument), grid.low, grid.high, grid.shift, middle)",
        "where(condition, argument)",
        "values are summed as they are",
        people.sums_are_the_same_in_any_order,
    ),
    Mutant(
        "several-rows-are-one",
        RULES + "_per_person",
        "Reach(below.rows, below.groups) if relation.keys else Reach(rows=1, groups=1)",
        "Reach(rows=1, groups=1)",
        "with other keys a person has several rows, and noise is made for one",
        no_neighbour(*people.SEVERAL),
    ),
    Mutant(
        "people-gathered-as-others",
        RULES + "_per_person",
        "if any(each.person != relation.person for each in per_person_in(relation)):",
        "if False:",
        "a row that is of many people is one person's",
        people.people_are_gathered_by_who_they_are,
    ),
    Mutant(
        "contributions-of-others",
        "discreet.plan.rules.relations:_contributions",
        "if any(each.person != relation.person for each in per_person_in(relation.source)):",
        "if False:",
        "rows of people are gathered by something else",
        people.people_are_gathered_by_who_they_are,
    ),
    Mutant(
        "rows-gathered-where-rows-are-protected",
        RULES + "_per_person",
        "if unit is not Unit.PERSON:",
        "if False:",
        "a row reaches into all rows of its person",
        people.people_are_gathered_by_who_they_are,
    ),
    Mutant(
        "a-column-called-like-the-person",
        RULES + "_named_apart",
        "if len(set(names)) < len(names):",
        "if False:",
        "a feature is taken for who a person is",
        people.people_are_gathered_by_who_they_are,
    ),
    Mutant(
        "a-sum-has-an-end",
        RULES + "_of_sum",
        "Fraction(0) if high <= 0 else None",
        "Fraction(high)",
        "a person's sum is clamped to what one row gives",
        known("SUM(x)"),
    ),
    Mutant(
        "limits-for-who-has-one-row",
        "discreet.plan.draft:_alone",
        "return reach.rows == reach.groups == 1",
        "return False",
        "a limit is found, and paid for, that changes nothing",
        people.nothing_of_one_row_is_limited,
    ),
    Mutant(
        "nobody-is-somebody",
        MEMORY + "_per_person",
        "if values[0] is not None:",
        "if True:",
        "rows without a person are those of one person",
        people.rows_of_people_are_their_own,
    ),
    Mutant(
        "two-zeros",
        MEMORY + "_gathered",
        "value + 0.0 if isinstance(value, float) else value",
        "value",
        "the least of two zeros is the one that lies first",
        people.there_is_one_zero,
    ),
    Mutant(
        "null-is-a-value",
        MEMORY + "_gathered",
        "if (value := evaluate(feature.value, row)) is not None",
        "if ((value := evaluate(feature.value, row)) is not None) or feature.how.value == 'distinct'",
        "what is missing is counted as one value",
        engines.both_engines_gather_alike,
    ),
    Mutant(
        "conditions-inside-forgotten",
        RENDER + "_per_person",
        "where=people.where",
        "where=[]",
        "rows are gathered that a condition leaves out, and those of nobody",
        engines.both_engines_gather_alike,
    ),
    Mutant(
        "duplicates-are-distinct",
        RENDER + "_gathered",
        "exp.Distinct(expressions=[_one_zero(feature, over)])",
        "_one_zero(feature, over)",
        "every value counts, however often it comes",
        engines.both_engines_gather_alike,
    ),
    Mutant(
        "the-largest-is-the-least",
        FEATURES + "summarised",
        "plain(heading, how, ",
        "plain(heading, Summary.LARGEST, ",
        "one true row is as good as all",
        meaning("BOOL_AND"),
    ),
    Mutant(
        "an-inner-having-dropped",
        SQL + "PeopleClauses.given",
        "() if having is None else (self._over_people(having, people),)",
        "()",
        "everybody is kept",
        meaning("HAVING BOOL_AND"),
    ),
    Mutant(
        "a-limit-among-people",
        SQL + "PeopleClauses.given",
        "if part := select.args.get(name):",
        'if (part := select.args.get(name)) and name != "limit":',
        "who is among the first depends on all others",
        refusal("GROUP BY who LIMIT 3"),
    ),
    Mutant(
        "inner-conditions-narrow",
        NARROWING + "_filters",
        "takewhile(lambda each: not isinstance(each, PerPerson), own_rows(source))",
        "own_rows(source)",
        "a condition on a column of the table leaves out groups of what is called like it outside",
        people.test_conditions_inside_are_not_those_outside,
    ),
    Mutant(
        "unread-aggregates-are-paid-for",
        RELEASED + "ReleasedClauses.question",
        "sorted(set().union(*map(released_in, values)))",
        "list(range(len(read.aggregates)))",
        "what nobody reads is measured",
        flat("RANK"),
    ),
    Mutant(
        "a-condition-outside-dropped",
        RELEASED + "ReleasedClauses.question",
        "joined((*(() if having is None else (having,)), *where))",
        "having",
        "WHERE over groups is read over",
        flat("WITH v AS"),
    ),
    Mutant(
        "a-mean-weighs-rows",
        "discreet.plan.rules.relations:_of_term",
        "reach.rows if term.how is How.SUM else 1",
        "reach.rows if term.how is not How.ANY else 1",
        "noise is made for as many means as a person has rows",
        people.test_a_mean_of_a_person_needs_no_limit_on_rows,
    ),
    Mutant(
        "a-mean-over-rows",
        "discreet.plan.releases.by_person:AverageByPerson.planned",
        "terms.people_of(aggregate)",
        "terms.counted(aggregate)",
        "the sum of people's means is divided by rows",
        people.avg_by_person_is_the_mean_of_means,
    ),
    Mutant(
        "a-mean-is-a-sum",
        MEMORY + "_of_a_person",
        "floor(Fraction(sum(values), len(values)) + Fraction(1, 2)) if values else 0",
        "sum(values)",
        "whoever has many rows gives more than a mean",
        no_neighbour(*people.BY_PERSON),
    ),
    Mutant(
        "a-mean-cut-off",
        "discreet.engines.render.means:mean_of",
        "words.int_div(binary(exp.Add, binary(exp.Mul, above, words.wide(integer(2))), n.copy()), twice)",
        "words.int_div(binary(exp.Mul, above, words.wide(integer(2))), twice)",
        "means are rounded down, and not to the nearest step",
        engines.both_engines_gather_alike,
    ),
)
