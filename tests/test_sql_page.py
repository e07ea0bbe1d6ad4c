"""The page on SQL is what the code says: its tables are made from the tables of the readers, and each of its examples is run."""

from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

from discreet.errors import QueryError
from discreet.plan.casts import CASTS
from discreet.plan.scalar import Type
from discreet.plan.sql.expressions import READERS
from discreet.plan.sql.refusals import CODES

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "sql.md").read_text("utf-8")


def generator() -> ModuleType:
    spec = util.spec_from_file_location("sql_page", ROOT / "docs" / "sql.py")
    assert spec and spec.loader
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = generator()


@pytest.mark.parametrize("name", PAGE.SECTIONS)
def test_a_section_is_what_the_code_makes(name: str) -> None:
    begin = PAGE.BEGIN.format(name)
    assert TEXT.count(begin) == 1
    assert TEXT.partition(begin)[2].partition(PAGE.END)[0] == PAGE.SECTIONS[name](), "`make reference` renews it"


def test_every_operator_of_the_parser_that_is_read_is_on_the_page() -> None:
    told = {each for classes, _, _ in PAGE.OPERATORS.values() for each in classes}
    kinds = (PAGE.exp.Binary, PAGE.exp.Unary, PAGE.exp.Predicate)
    assert {each for each in READERS if issubclass(each, kinds)} <= told <= set(READERS)


def test_the_casts_of_the_page_are_read_and_the_others_are_not() -> None:
    columns = {
        Type.INTEGER: "age",
        Type.NUMBER: "cost",
        Type.TEXT: "note",
        Type.DATE: "admitted",
        Type.TIMESTAMP: "seen",
        Type.BOOLEAN: "smoker",
    }
    for source in Type:
        for target in Type:
            text = f"SELECT COUNT(CAST({columns[source]} AS {PAGE.WORDS[target]})) FROM visits"
            if (source, target) in CASTS:
                PAGE.planned(text)
            else:
                with pytest.raises(QueryError):
                    PAGE.planned(text)


def test_refusals_have_codes_of_the_closed_set_and_hints() -> None:
    codes = set()
    for text, _ in PAGE.REFUSALS:
        error = PAGE.refused(text)
        if error is not None:
            assert error.hint and error.code
            codes.add(error.code)
    assert len(codes & CODES) >= 20, sorted(codes)


def test_what_is_no_section_is_missed() -> None:
    with pytest.raises(LookupError):
        PAGE.page("nothing")
    assert PAGE.refused("SELECT COUNT(*) FROM visits") is None
