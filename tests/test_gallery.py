"""The gallery is what the code says: its SQL, prices and predicted errors. Each question is still answered; pictures were drawn once."""

import re
from pathlib import Path

import pytest

from tests.scripts import script

GALLERY = script("docs/gallery.py")
TEXT = GALLERY.PAGE.read_text("utf-8")
MOST_BYTES = 300_000  # of all pictures together


def test_the_page_has_the_plans_of_today_which_do_not_depend_on_the_data() -> None:
    """The page was made of another number of patients."""
    with GALLERY.curator(50) as held:
        assert GALLERY.page(held) == TEXT, "`make reference` renews it"


def test_every_question_is_answered_at_its_price() -> None:
    with GALLERY.curator(200) as held:
        for question in GALLERY.QUESTIONS:
            given = GALLERY.answer(held, question)
            assert len(given) or question.name in ("having", "regions"), (
                question.name
            )  # what is found or left may be nothing
            assert given.epsilon <= GALLERY.preview(held, question).epsilon, question.name


def test_there_are_thirty_questions_and_no_two_are_alike() -> None:
    assert len(GALLERY.QUESTIONS) == 30
    for of in ("name", "said", "sql"):
        assert len({getattr(question, of) for question in GALLERY.QUESTIONS}) == 30, of


def test_every_question_has_a_picture_and_every_picture_a_question() -> None:
    drawn = set(GALLERY.PICTURES.glob("gallery-*.svg"))
    assert drawn == {question.picture for question in GALLERY.QUESTIONS}
    assert sum(path.stat().st_size for path in drawn) < MOST_BYTES


@pytest.mark.parametrize("path", [question.picture for question in GALLERY.QUESTIONS], ids=lambda path: Path(path).stem)
def test_a_picture_is_white_and_says_its_price(path: Path) -> None:
    text = path.read_text("utf-8")
    assert 'fill="white"' in text
    assert re.search(r"± is for the noise alone, at 95 %\. ε = [0-9.]+", text)
