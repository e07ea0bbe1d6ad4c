"""Planted bugs of facts: what a question found, and what a survey told, used for somebody, for rows or for data that they are not of."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.curator import test_found, test_surveyed
from tests.engines import test_typed
from tests.mutants import Mutant

FOUND, PLANNING, SURVEYED = (f"discreet.curator.{name}:" for name in ("found", "planning", "surveyed"))


def within(law: Callable[[Path], None]) -> Callable[[], None]:
    """A law that needs a folder."""

    def run() -> None:
        with TemporaryDirectory() as folder:
            law(Path(folder))

    return run


MUTANTS = (
    Mutant(
        "found-facts-of-any-version",
        FOUND + "fact_key",
        "(topic, origin, version)",
        "(topic, origin)",
        "a limit that was found of other data is used, and nobody is told",
        within(test_found.facts_are_of_a_version),
    ),
    Mutant(
        "found-facts-are-everybodys",
        PLANNING + "Planning._fact",
        "self.policy.version), analyst)",
        "self.policy.version), None)",
        "what one paid for tells another what they asked",
        within(test_found.a_fact_is_used_by_whom_it_belongs_to),
    ),
    Mutant(
        "facts-of-all-filters",
        "discreet.plan.finding:_rows_alone",
        "return replace(rows, source=_rows_alone(rows.source))",
        "return _rows_alone(rows.source)",
        "a limit of other rows is used, and said to be of these",
        within(test_found.a_fact_is_used_by_whom_it_belongs_to),
    ),
    Mutant(
        "a-fact-makes-it-another-question",
        PLANNING + "Planning._asked_before",
        "act.question == about",
        "act.question != about",
        "asked again a question costs again",
        within(test_found.the_same_question_is_free),
    ),
    Mutant(
        "facts-are-charges",
        "discreet.curator.history:_lines",
        "charge is not None and is_fact(charge.key)",
        "charge is None and is_fact('')",
        "what was found is listed as a question that somebody asked",
        within(test_found.facts_cost_nothing_and_are_verified),
    ),
    Mutant(
        "surveyed-keys-are-all-there-are",
        "discreet.plan.sql.operators:_check_keys",
        "None if field.surveyed else field.keys",
        "field.keys",
        "a literal that a survey did not find is called impossible",
        within(test_surveyed.no_literal_is_impossible),
    ),
    Mutant(
        "surveyed-before-declared",
        SURVEYED + "_column",
        " or column.keys is not None or column.low is not None",
        "",
        "what the owner declared gives way to noise",
        within(test_surveyed.declarations_come_first),
    ),
    Mutant(
        "ranges-of-older-data",
        SURVEYED + "_values",
        "column.bounds is not None and fact.current",
        "column.bounds is not None",
        "values are clamped to where others were, and nobody is told",
        within(test_surveyed.older_facts_are_marked),
    ),
    Mutant(
        "limits-of-older-data",
        SURVEYED + "limits",
        " or survey.version != known.version",
        "",
        "a limit of other data is used as if it fitted",
        within(test_surveyed.older_facts_are_marked),
    ),
    Mutant(
        "noise-is-taken-for-people",
        SURVEYED + "_cut",
        "if high <= top:",
        "if high:",
        "a limit is as large as the noise of an empty rung makes it",
        test_surveyed.the_best_rung_weighs_cut_against_noise,
    ),
    Mutant(
        "a-survey-makes-it-another-question",
        PLANNING + "Planning._asked_unsurveyed",
        "plan if self._asked_before(plan, asked) else None",
        "None",
        "asked again after a survey a question costs again",
        within(test_surveyed.a_question_from_before_is_free),
    ),
    Mutant(
        "undeclared-for-analysts",
        SURVEYED + "_column",
        "declared=column.declared or common",
        "declared=column.declared",
        "what was surveyed for everybody is not there for analysts",
        within(test_surveyed.a_survey_is_for_whom_it_was_charged_to),
    ),
    Mutant(
        "texts-are-read-as-they-are",
        "discreet.engines.render.relations:_typed",
        "for each in relation.columns}",
        "for each in relation.columns[1:]}",
        "a number is compared as a text",
        lambda: test_typed.test_engines_agree_on_what_texts_are_read_as(test_typed.Type.NUMBER),
    ),
)
