"""Answers: what is shown, stored and exported is what was released, and nothing that a reader could be tricked by."""

import csv
import io
import json
import re
import subprocess
import sys
from datetime import date
from fractions import Fraction as F
from html import escape
from html.parser import HTMLParser
from math import inf
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.answer import Answer, Column, Preview
from discreet.answer.digits import with_error
from discreet.answer.packed import packed
from discreet.answer.record import FORMAT
from discreet.curator.policy import Budget
from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Fault, Invalid, QueryError, Refused
from discreet.plan.intervals import TOO_FEW, Interval, Predicted
from discreet.plan.question import Output, Sort
from discreet.plan.scalar import Case, Comparison, Key, Literal, Order, Type
from discreet.plan.visible import visible
from tests.plan.made import COUNT, FINE, MEAN, PUBLIC_COUNT, SOME, SUM, add, number, over, plan_of
from tests.scale import repeats

WARD = Key(0, Type.TEXT)
WARDS = (("A",), ("B",), ("C",))
OUTPUTS = (Output("ward", WARD), Output("n", COUNT), Output("age", MEAN), Output("old", over(SOME, COUNT)))
COUNTS, SUMS, CENTRED, SOMES = [12345, 870, 41], [600_000, 40_000, 1_700], [-140_000, -12_000, -1_000], [3100, 200, 3]
TEXT = "SELECT ward, COUNT(x) AS n, AVG(x) AS age FROM t GROUP BY ward"

FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "  =1",
]
PAYLOADS = [
    *FORMULAS,
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'><b onmouseover=alert(1)>",
    "</td></table><script>1</script>",
    "</style><script>1</script>",
    "<!-- ",
    "-->",
    "]]>",
    "&lt;script&gt;",
    "&#60;script&#62;",
    "javascript:alert(1)",
    "<iframe src='//evil.example'>",
    "<a href=javascript:1>x</a>",
    "<math><mtext></mtext></math>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.example>",
    "<base href=//evil.example>",
    "<form action=//evil.example>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<object data=x>",
    "<embed src=x>",
    "<body onload=alert(1)>",
    "`${alert(1)}`",
    "{{7*7}}",
    "{%raw%}",
    "\u202egnp.exe",
    "\x00",
    "a\x1b[31mred",
    "[bold]rich[/bold]",
    "[link=https://evil.example]x[/link]",
    "a,b",
    'a"b',
    "a\nb",
    "a\r\nb",
    "ü€😀",
    "'; DROP TABLE t; --",
]


def answer(**more: Any) -> Answer:
    """One answer whose numbers are always the same."""
    given_ = {"groups": WARDS, "key": Type.TEXT, "notes": ("age is clamped to 0 … 120",), **more}
    plan = plan_of(*OUTPUTS, **given_)
    released = [np.array(each, np.int64) for each in (COUNTS, SUMS, CENTRED, SOMES, [0, 0, 0])]
    return Answer.make(plan, released, text=TEXT).with_remaining(Budget(F(2), F(1, 10**6)))


def with_key(text: str) -> Answer:
    plan = plan_of(
        Output(text, WARD), Output("n", COUNT), groups=((text,), (f"{text}.",)), key=Type.TEXT, notes=(text,)
    )
    return Answer.make(plan, [np.array([5, 9])] * 5, text=text)


def test_the_table_is_as_it_was_looked_at() -> None:
    lines = str(answer()).splitlines()
    assert lines == [
        "ward            n           age              old",
        "────  ───────────  ────────────  ───────────────",
        "A     12,345 ± 60  48.66 ± 0.30  0.2511 ± 0.0051",
        "B        870 ± 60   46.2 ± 4.3    0.230 ± 0.072",
        "C         41 ± 60   NULL *         NULL *",
        "",
        "* too few to tell from none",
        "± is for the noise alone, at 95 %: what is clamped or left out is not in it.",
        "cost: ε = 1 (to hide whether any one person is in the data)",
        "left: ε = 2, δ = 1e-06",
        "note: age is clamped to 0 … 120",
    ]
    assert repr(answer()) == str(answer())


def test_what_is_left_is_never_shown_as_more() -> None:
    for part in (F(1, 10), F(5, 9), F(2, 3), F(2**60 + 1, 2**60)):
        left = answer().with_remaining(Budget(part)).remaining
        assert left is not None and F(repr(left["epsilon"])) <= part  # as the decimal that it prints


def test_too_few_are_null_in_every_form() -> None:
    made = answer()
    few = made.to_dicts(errors=True)[2]
    assert few == {"ward": "C", "n": 41, "n_error": 60, "n_low": -19, "n_high": 101} | {
        f"{name}{end}": None for name in ("age", "old") for end in ("", "_error", "_low", "_high")
    }
    body = made.to_json()
    assert (body["rows"][2]["age"], body["error"][2]["age"], body["interval"][2]["age"]) == (None, None, [None, None])
    assert body["flags"] == [{}, {}, {"age": TOO_FEW, "old": TOO_FEW}]
    assert str(made.to_csv()).splitlines()[3] == "C,41,60,-19,101,,,,,,,,"
    assert made.to_pandas()["age"].isna().tolist() == [False, False, True]
    page = made._repr_html_()
    assert page.count("NULL *") == 2 and f"* {TOO_FEW}" in page
    assert Answer.from_bytes(made.to_bytes()) == made


def test_an_answer_of_the_time_when_nobody_had_a_mean_is_still_read() -> None:
    """It was the middle of the bounds, with a flag."""
    body = json.loads(answer().to_bytes())
    body["rows"][2]["age"], body["error"][2]["age"], body["interval"][2]["age"] = 60.0, 60.0, [0.0, 120.0]
    body["flags"][2]["age"] = "the count is too small to tell"
    stored = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    kept = Answer.from_bytes(stored)
    assert kept.rows[2][2] == 60.0 and kept.to_bytes() == stored
    assert "60 ± 60 *" in str(kept)


def test_an_exact_number_has_an_error_of_zero() -> None:
    plan = plan_of(Output("n", COUNT), Output("t", SUM), noises=PUBLIC_COUNT)
    made = Answer.make(plan, [np.array([1234567])] * 5, text="")
    assert "1,234,567 ± 0" in str(made)
    assert made.to_json()["error"][0]["n"] == 0


def test_json_is_one_object_of_the_promised_keys() -> None:
    body = json.loads(json.dumps(answer().to_json(), allow_nan=False))
    assert body["columns"] == ["ward", "n", "age", "old"]
    assert body["rows"][0] == {"ward": "A", "n": 12345, "age": 48.6593763, "old": 0.25111381126}
    assert set(body["error"][0]) == set(body["interval"][0]) == {"n", "age", "old"}
    assert body["interval"][0]["n"] == [12285, 12405]
    assert body["error"][0]["n"] == 60
    assert body["flags"][0] == {}
    assert set(body["flags"][2]) == {"age", "old"}
    assert (body["confidence"], body["epsilon"], body["delta"]) == (0.95, 1.0, 0.0)
    assert body["remaining"] == {"epsilon": 2.0, "delta": 1e-06}
    assert body["keys"] == ["ward"]


def test_the_receipt_says_what_is_needed_to_check_the_price() -> None:
    receipt = answer().receipt
    assert receipt["question"] == TEXT
    assert receipt["epsilon"] == "1"
    assert receipt["event"]["event"] == "under"
    assert receipt["private"] is True
    assert re.fullmatch("[0-9a-f]{64}", receipt["plan"])
    assert receipt["measurements"][0] == {
        "said": "count",
        "mechanism": "Geometric",
        "scale": "20",
        "sensitivity": "1",
        "step": "1",
    }
    assert json.dumps(receipt)


def test_an_answer_from_a_known_source_says_that_it_is_not_private() -> None:
    plan = plan_of(COUNT)
    made = Answer.make(plan, [np.array([3])] * 5, text="", receipt={"private": False, "ledger": {"sequence": 7}})
    assert "NOT PRIVATE" in str(made)
    assert made.receipt["ledger"] == {"sequence": 7}
    assert made.receipt["version"]


def test_selection_is_noted() -> None:
    assert "optimistic" in str(answer(order=(Sort(COUNT),), limit=2))
    assert "optimistic" not in str(answer(order=(Sort(COUNT),)))


def test_what_the_ledger_knows_is_filled_in_later() -> None:
    first = answer().with_remaining(None)
    later = Answer.from_bytes(first.to_bytes()).with_remaining(Budget(F(3, 2))).with_ledger({"sequence": 3})
    assert later.remaining == {"epsilon": 1.5, "delta": 0.0}
    assert later.receipt["ledger"] == {"sequence": 3}
    assert first.remaining is None
    assert later.rows == first.rows


# Storing.

texts = st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.one_of(st.integers(-(2**62), 2**62), st.floats(allow_nan=False, allow_infinity=False))
ends = st.one_of(st.none(), numbers)
errors = st.one_of(st.none(), st.integers(0, 2**62), st.floats(0, 1.7e308))


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    kinds = {
        Type.TEXT: texts,
        Type.DATE: st.dates(),
        Type.TIMESTAMP: st.datetimes(),
        Type.BOOLEAN: st.booleans(),
        Type.INTEGER: st.integers(),
        Type.NUMBER: numbers,
    }
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    columns = tuple(Column(name, draw(st.sampled_from(list(kinds))), draw(st.booleans())) for name in names)
    size = draw(st.integers(0, 3))
    rows = tuple(tuple(draw(st.one_of(st.none(), kinds[column.type])) for column in columns) for _ in range(size))
    spans = st.one_of(st.none(), st.builds(Interval, ends, ends, errors, st.one_of(st.none(), st.just("small"))))
    return Answer(
        columns,
        rows,
        tuple(tuple(draw(spans) if column.type.numeric else None for column in columns) for _ in range(size)),
        0.95,
        draw(st.floats(0, 10)),
        0.0,
        "add-remove one person",
        tuple(draw(st.lists(texts, max_size=2))),
        {"question": draw(texts)},
        draw(texts),
        draw(st.one_of(st.none(), st.just({"epsilon": 1.0}))),
        draw(st.one_of(st.none(), st.builds(packed, st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3))))),
    )


@given(answers())
def test_stored_answers_come_back_as_they_were(made: Answer) -> None:
    stored = made.to_bytes()
    again = Answer.from_bytes(stored)
    assert again == made
    assert again.to_bytes() == stored
    kept = {"format": 1} if made._released is None else {"format": FORMAT, "released": made._released}
    body = {**kept, "explanation": made.explain(), **made.to_json()}
    assert stored.decode() == json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


@given(st.one_of(st.binary(max_size=60), texts.map(str.encode)))
def test_other_bytes_are_refused(stored: bytes) -> None:
    with pytest.raises(Invalid):
        Answer.from_bytes(stored)


def test_a_stored_answer_that_was_touched_is_refused() -> None:
    stored = answer().to_bytes()
    assert b'"format":2' in stored
    others = (stored.replace(b'"format":2', b'"format":' + each) for each in (b"1", b"3"))
    for changed in (stored + b" ", *others, stored.replace(b'"rows"', b'"Rows"'), stored.replace(b'"<i', b'"<j')):
        with pytest.raises(Invalid):
            Answer.from_bytes(changed)
    deep = b'{"format":1,"x":' + b"[" * 100_000
    with pytest.raises(Invalid):
        Answer.from_bytes(deep)


def test_dates_and_booleans_come_back_as_such() -> None:
    groups = ((date(2024, 2, 29),), (None,))
    plan = plan_of(Output("day", Key(0, Type.DATE)), Output("n", COUNT), groups=groups, key=Type.DATE)
    made = Answer.make(plan, [np.array([5, 9])] * 5, text="")
    assert Answer.from_bytes(made.to_bytes()).rows == ((date(2024, 2, 29), 5), (None, 9))
    assert made.to_json()["rows"][0]["day"] == "2024-02-29"


# Exporting.


def test_rows_as_dicts_and_frames() -> None:
    made = answer()
    assert made.to_dicts()[1] == {"ward": "B", "n": 870, "age": 46.2068966, "old": 0.229885057471}
    assert list(made.to_dicts(errors=True)[0]) == [
        "ward",
        *(f"{name}{more}" for name in ("n", "age", "old") for more in ("", "_error", "_low", "_high")),
    ]
    frame = made.to_pandas()
    assert list(frame.columns) == ["ward", "n", "age", "old"]
    assert frame["n"].tolist() == COUNTS
    assert made.to_pandas(errors=True).shape == (3, 13)


@settings(max_examples=repeats(50))
@given(answers())
def test_an_answer_is_a_sequence_of_rows(made: Answer) -> None:
    rows = made.to_dicts()
    assert len(made) == len(rows)
    assert list(made) == rows
    for column in made.columns:
        assert made[column.name] == [row[column.name] for row in rows]


def test_a_column_that_is_not_there_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(Invalid, match="column 'wrad' not found in the answer; did you mean 'ward'"):
        answer()["wrad"]
    with pytest.raises(Invalid, match=r"answer.rows\[0\]"):
        answer()[0]  # type: ignore[index]


@pytest.mark.parametrize("errors", [False, True])
def test_frames_hold_the_rows_with_the_types_of_the_columns(errors: bool) -> None:
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    made = answer()
    rows = made.to_dicts(errors)
    assert made.to_arrow(errors).to_pylist() == rows
    assert made.to_polars(errors).to_dicts() == rows
    kinds = {"ward": pyarrow.string(), "n": pyarrow.int64(), "age": pyarrow.float64(), "old": pyarrow.float64()}
    schema = made.to_arrow(errors).schema
    for name, kind in kinds.items():
        assert {schema.field(each).type for each in schema.names if each.split("_")[0] == name} == {kind}
    assert pyarrow.table(made).to_pylist() == polars.DataFrame(made).to_dicts() == made.to_dicts()


@settings(max_examples=repeats(30))
@given(answers())
def test_every_answer_is_a_frame(made: Answer) -> None:
    for table in (made.to_arrow(errors=True).to_pylist(), made.to_polars(errors=True).to_dicts()):
        for row, expected in zip(table, made.to_dicts(errors=True), strict=True):
            assert all(row[name] == value or row[name] == float(str(value)) for name, value in expected.items())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_a_library_that_is_not_there_says_what_to_install(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    made = answer()
    ways = {"pandas": [made.to_pandas], "polars": [made.to_polars], "pyarrow": [made.to_arrow, made.__arrow_c_stream__]}
    for way in ways[library]:
        with pytest.raises(Invalid, match=f"pip install {library}"):
            way()


def test_names_that_would_collide_are_told_apart() -> None:
    plan = plan_of(Output("n", COUNT), Output("n", SUM), Output("n_error", MEAN))
    made = Answer.make(plan, [np.array([5])] * 5, text="")
    assert [column.name for column in made.columns] == ["n", "n_2", "n_error"]
    names = list(made.to_dicts(errors=True)[0])
    assert len(names) == len(set(names)) == 12


def test_csv_holds_the_numbers_and_their_errors(tmp_path: Path) -> None:
    text = answer().to_csv()
    assert text is not None
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows[0]["n"] == "12345"
    assert (float(rows[0]["age_low"]), float(rows[0]["age_high"])) == (48.3639, 48.9545)
    assert answer().to_csv(tmp_path / "a.csv") is None
    assert (tmp_path / "a.csv").read_bytes().decode() == text
    plain = answer().to_csv(errors=False)
    assert plain is not None
    assert plain.splitlines()[0] == "ward,n,age,old"


def csv_is_harmless(payload: str) -> None:
    text = with_key(payload).to_csv()
    assert text is not None
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len(rows) == 3
    for cell in (rows[0][0], rows[1][0], rows[2][0]):
        assert not cell.lstrip(" ").startswith(tuple("=+-@\t\r\n＝＋－＠")), repr(cell)
        assert cell.removesuffix(".") in (payload, f"'{payload}")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_cell_of_a_csv_is_a_formula(payload: str) -> None:
    csv_is_harmless(payload)


def cell_of(text: str) -> str:
    made = with_key(text).to_csv()
    assert made is not None
    return list(csv.reader(io.StringIO(made, newline="")))[1][0]


@settings(max_examples=repeats(100))
@given(st.from_regex(r"[-+]?([0-9]{1,5}(\.[0-9]{0,5})?|\.[0-9]{1,5})([eE][-+]?[0-9]{1,3})?", fullmatch=True))
def test_a_text_that_is_a_plain_number_stays_as_it_is(text: str) -> None:
    if text.isascii():
        assert cell_of(text) == text


@settings(max_examples=repeats(200))
@given(st.sampled_from("=+-@\t\r＝＋－＠"), st.text(st.sampled_from("0123456789.eE+-x|!'=@ ()A"), max_size=8))
def test_a_text_that_begins_like_a_formula_has_an_apostrophe_unless_it_is_a_number(first: str, rest: str) -> None:
    text = first + rest
    try:
        number_ = first in "+-" and float(text) == float(text) and rest == rest.strip()
    except ValueError:
        number_ = False
    assert cell_of(text) == (text if number_ else f"'{text}")


@pytest.mark.parametrize(
    "text",
    ["=1", "+cmd|' /C calc'!A0", "-x+1", "-2+3", "@SUM(A1)", "\t=1", "\r-2", "- 2", "-2 ", "－2", "-inf", "-nan"],
)
def test_what_a_spreadsheet_would_run_has_an_apostrophe(text: str) -> None:
    assert cell_of(text) == f"'{text}"


def test_negative_numbers_stay_numbers_in_a_csv() -> None:
    made = Answer.make(plan_of(Output("n", COUNT)), [np.array([-7])] * 5, text="")
    text = made.to_csv()
    assert text is not None
    assert text.splitlines()[1].startswith("-7,")


# Showing.


class Tags(HTMLParser):
    """Every tag, and every attribute, of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.data: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.data.append(data)


ALLOWED = {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "p", "svg", "path", "circle"}
ATTRIBUTES = {"class", "width", "height", "role", "aria-label", "d", "stroke", "fill", "cx", "cy", "r"}


def html_is_harmless(payload: str) -> None:
    made = with_key(payload)
    preview = Preview(
        "",
        1.0,
        0.0,
        payload,
        (Predicted(payload, None, payload), Predicted("n", 3.0, None, payload)),
        2,
        (payload,),
        "",
    )
    for page in (made._repr_html_(), preview._repr_html_()):
        found = Tags(page)
        assert found.tags <= ALLOWED
        assert found.attributes <= ATTRIBUTES
        assert "http" not in page.replace(payload, "")
        assert visible(payload) in "".join(found.data)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_becomes_a_tag(payload: str) -> None:
    html_is_harmless(payload)


def test_there_are_fifty_payloads() -> None:
    assert len(set(PAYLOADS)) >= 50


def test_a_page_has_an_error_bar_for_each_interval_and_no_script() -> None:
    page = answer()._repr_html_()
    assert page.count("<svg") == 7
    assert "script" not in page
    assert answer()._repr_mimebundle_()["text/html"] == page


def test_a_page_without_style_has_the_same_rows() -> None:
    preview = Preview.make(plan_of(*OUTPUTS, groups=WARDS, key=Type.TEXT), text=TEXT)
    for made in (answer(), preview):
        page, bare = made._repr_html_(), made.to_html(style=False)
        assert "<style>" not in bare and "<style>" in page
        assert re.sub(r"<style>.*</style>", "", page, flags=re.S) == bare


def rich_text(shown: Any, width: int) -> str:
    from rich.console import Console

    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(shown)
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_rich_table_loses_no_digit_at_any_width(width: int) -> None:
    text = rich_text(answer(), width)
    assert text.count("…") == 1  # of the note
    assert "12,345" in text
    assert max(len(line) for line in text.splitlines()) <= width
    if width >= 120:
        assert text.count("●") == 7


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_becomes_markup_in_a_terminal(payload: str) -> None:
    shown = rich_text(with_key(payload), 200)
    assert visible(payload) in shown
    assert shown.replace("\n", "").isprintable()
    assert str(with_key(payload)).replace("\n", "").isprintable()


@settings(max_examples=repeats(50))
@given(answers())
def test_any_answer_can_be_shown(made: Answer) -> None:
    assert str(made)
    assert made._repr_html_()
    rich_text(made, 80)
    made.to_csv()


@given(st.one_of(st.integers(-(10**20), 10**20), st.floats(-1e25, 1e25)), st.floats(1e-12, 1e20))
def test_a_shown_error_is_never_smaller_than_it_is(value: float, error: float) -> None:
    column = Column("x", Type.NUMBER, False)
    text, plus_minus = with_error(value, Interval(value - error, value + error, error), column)
    assert float(plus_minus.removeprefix("± ").replace(",", "")) >= error * (1 - 1e-2 if error >= 1e15 else 1 - 1e-9)
    assert abs(float(text.replace(",", "")) - value) <= max(error / 10, abs(value) * 1e-2 if abs(value) >= 1e15 else 0)


def test_long_answers_are_cut_where_they_are_shown_and_only_there() -> None:
    plan = plan_of(Output("k", Key(0, Type.INTEGER)), Output("n", COUNT), groups=500)
    made = Answer.make(plan, [np.arange(500)] * 5, text="")
    assert "… and 440 more rows" in str(made)
    assert len(made.to_dicts()) == 500


# Pictures.


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [each for part in value.values() for each in numbers_in(part)]
    if isinstance(value, list):
        return [each for part in value for each in numbers_in(part)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def check_picture(spec: dict[str, Any], panels: int) -> None:
    json.dumps(spec, allow_nan=False)
    assert spec["$schema"].endswith("vega-lite/v5.json")
    assert len(spec["vconcat"]) == panels
    assert all(-inf < each < inf for each in numbers_in(spec))
    for panel in spec["vconcat"]:
        values = panel["data"]["values"]
        bars, errors = panel["layer"]
        along, across = ("y", "x") if "y" in panel["encoding"] else ("x", "y")
        assert bars["encoding"][across]["field"] == "value"
        assert errors["mark"]["type"] == "errorbar"
        assert (errors["encoding"][across]["field"], errors["encoding"][f"{across}2"]["field"]) == ("low", "high")
        assert panel["encoding"][along]["field"] == "group"
        for point in values:
            assert {"group", "value", "said"} <= set(point)
            assert "low" not in point or point["low"] <= point["value"] <= point["high"]


def test_a_picture_has_a_panel_for_each_number() -> None:
    spec = answer().plot()
    check_picture(spec, 3)
    assert [point["group"] for point in spec["vconcat"][0]["data"]["values"]] == ["A", "B", "C"]
    assert spec._repr_mimebundle_()["application/vnd.vegalite.v5+json"] == spec


def test_a_picture_without_keys_and_one_with_two() -> None:
    single = Answer.make(plan_of(Output("n", COUNT), Output("t", FINE)), [np.array([5])] * 5, text="")
    check_picture(single.plot(), 2)
    groups = [(ward, sex) for ward in "AB" for sex in "fm"]
    outputs = (Output("ward", WARD), Output("sex", Key(1, Type.TEXT)), Output("a.b[0]", COUNT))
    pair = Answer.make(plan_of(*outputs, groups=groups, key=Type.TEXT), [np.arange(4)] * 5, text="")
    check_picture(pair.plot(), 1)
    assert pair.plot()["vconcat"][0]["encoding"]["color"]["field"] == "series"


def test_there_is_no_picture_without_numbers() -> None:
    made = Answer.make(plan_of(Output("k", Key(0, Type.INTEGER))), [np.array([5])] * 5, text="")
    for draw in (made.plot, made.to_svg):
        with pytest.raises(Invalid):
            draw()


def by_year(values: list[int]) -> Answer:
    groups = [(2000 + i,) for i in range(len(values))]
    plan = plan_of(Output("year", Key(0, Type.INTEGER)), Output("n", COUNT), groups=groups)
    return Answer.make(plan, [np.array(values)] * 5, text="")


def test_bars_of_words_lie_and_bars_on_a_scale_stand() -> None:
    assert all("y" in panel["encoding"] for panel in answer().plot()["vconcat"])
    assert all("x" in panel["encoding"] for panel in by_year([3, 4]).plot()["vconcat"])


SVG = "{http://www.w3.org/2000/svg}"


def drawing(made: Answer) -> ElementTree.Element:
    picture = made.to_svg()
    assert picture is not None
    return ElementTree.fromstring(picture)


def error_bars(picture: ElementTree.Element) -> list[list[float]]:
    """The numbers of each error bar: two ends and their caps are three strokes."""
    paths = [path.attrib["d"] for path in picture.iter(f"{SVG}path")]
    return [[float(each) for each in re.findall(r"-?[0-9.]+", path)] for path in paths if path.count("M") == 3]


@settings(max_examples=repeats(50))
@given(answers())
def test_a_drawing_has_a_bar_and_an_interval_for_each_number_and_nothing_outside_of_it(made: Answer) -> None:
    assume(any(column.measured for column in made.columns))
    picture = drawing(made)
    wide, tall = float(picture.attrib["width"]), float(picture.attrib["height"])
    panels = made.plot()["vconcat"]
    points = [point for panel in panels for point in panel["data"]["values"]]
    if all(len(panel["data"]["values"]) <= 40 for panel in panels):
        assert len(list(picture.iter(f"{SVG}rect"))) == len(points)
        assert len(error_bars(picture)) == sum("low" in point for point in points)
    for box in picture.iter(f"{SVG}rect"):
        x, y, width, height = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + width <= wide and 0 <= y <= y + height <= tall and width >= 0 and height >= 0


def test_intervals_lie_where_their_numbers_are_in_a_drawing() -> None:
    """The bar ends in the middle of its interval, and lengths are as the numbers are."""
    picture = drawing(answer())
    first, second, *_ = list(picture.iter(f"{SVG}rect"))
    assert float(first.attrib["width"]) / float(second.attrib["width"]) == pytest.approx(12345 / 870, rel=0.01)
    low, _, high, *_ = error_bars(picture)[0]
    assert (low + high) / 2 == pytest.approx(float(first.attrib["x"]) + float(first.attrib["width"]), abs=0.2)
    standing = drawing(by_year([100, 400]))
    tall = [float(box.attrib["height"]) for box in standing.iter(f"{SVG}rect")]
    assert tall[1] / tall[0] == pytest.approx(4, rel=0.01)
    assert [text.text for text in standing.iter(f"{SVG}text") if text.attrib.get("text-anchor") == "middle"] == [
        "2000",
        "2001",
    ]


WIDEST = 12  # pixels of the letter M in the font of a drawing, rounded up


def test_a_label_of_one_wide_letter_has_room() -> None:
    plan = plan_of(Output("sex", Key(0, Type.TEXT)), Output("n", COUNT), groups=[("F",), ("M",)], key=Type.TEXT)
    picture = drawing(Answer.make(plan, [np.array([3, 4])] * 5, text=""))
    ends = [float(text.attrib["x"]) for text in picture.iter(f"{SVG}text") if text.attrib.get("text-anchor") == "end"]
    assert ends == [ends[0]] * 2 and ends[0] >= WIDEST


@pytest.mark.parametrize("values", [[1.7e308, -1.7e308], [5e-324, 0.0], [0.0, 0.0], [1e18, 1e18 + 128], [3.0]])
@pytest.mark.parametrize("key", [Type.TEXT, Type.INTEGER])
def test_numbers_of_every_size_can_be_drawn(values: list[float], key: Type) -> None:
    columns = (Column("k", key, True), Column("x", Type.NUMBER, False))
    rows = tuple(("a" if key is Type.TEXT else 1, value) for value in values)
    spans = tuple((None, Interval(value, value, 0.0)) for value in values)
    picture = drawing(Answer(columns, rows, spans, 0.95, 1.0, 0.0, "replace one row", (), {}, ""))
    assert all(0 <= float(box.attrib["width"]) <= 420 for box in picture.iter(f"{SVG}rect"))


def svg_is_harmless(payload: str) -> None:
    picture = drawing(with_key(payload))
    assert {each.tag for each in picture.iter()} <= {f"{SVG}{tag}" for tag in ("svg", "text", "rect", "path", "circle")}
    assert visible(payload)[:20] in "".join(picture.itertext())


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_becomes_a_tag_of_a_drawing(payload: str) -> None:
    svg_is_harmless(payload)


def test_a_drawing_goes_into_a_file_and_into_a_notebook(tmp_path: Path) -> None:
    assert answer().to_svg(tmp_path / "a.svg") is None
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert answer().plot()._repr_mimebundle_()["image/svg+xml"] == text == answer().to_svg()
    assert "… and 60 more" in str(with_words(100).to_svg())


def with_words(groups: int) -> Answer:
    keys = tuple((f"ward {i}",) for i in range(groups))
    plan = plan_of(Output("ward", WARD), Output("n", COUNT), groups=keys, key=Type.TEXT)
    return Answer.make(plan, [np.arange(groups)] * 5, text="")


# Before anything is measured.


def test_a_preview_tells_price_and_errors_and_what_it_assumes() -> None:
    plan = plan_of(*OUTPUTS, groups=WARDS, key=Type.TEXT, people=30_000)
    found = Preview.make(plan, text=TEXT)
    assert str(found).splitlines() == [
        "column  predicted error at 95 %",
        f"──────  {'─' * 87}",
        "ward",
        "n       ± 60",
        "age     ± 0.50, at worst, with about 10,000 in a group: 30,000 people declared, over 3 groups",
        "old     ± 0.0083, at worst, with about 10,000 in a group: 30,000 people declared, over 3 groups",
        "",
        "would cost ε = 1 (to hide whether any one person is in the data), for 3 groups; nothing was read or spent",
    ]
    body = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert body["error"]["n"] == 60
    assert body["epsilon"] == 1.0
    assert set(body["assumes"]) == {"age", "old"}
    assert "± 60" in rich_text(found, 100)
    assert found.explain().startswith("answer: ward, n, age, old\n")
    missing = Preview.make(plan_of(*OUTPUTS, groups=WARDS, key=Type.TEXT), text=TEXT)
    assert "people = N" in str(missing)
    assert "unknown" in str(missing)


def test_texts_of_released_values_are_shown_without_an_error() -> None:
    few = Case(((Comparison(Order.LESS, COUNT, number(10)), Literal("few", Type.TEXT)),), Literal("many", Type.TEXT))
    made = Answer.make(plan_of(Output("said", few), Output("n", add(COUNT, number(1)))), [np.array([5])] * 5, text="")
    assert made.rows == (("few", 6),)
    assert str(made).splitlines()[2].split() == ["few", "6", "±", "60"]
    assert F(made.epsilon) == 1


def test_importing_answers_loads_nothing_heavy() -> None:
    heavy = {"scipy", "rich", "pandas", "polars", "pyarrow", "duckdb", "sqlglot", "typer"}
    code = f"import sys; from discreet.answer import Answer, Preview; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# What goes wrong, in a notebook.


@pytest.mark.parametrize("kind", [Invalid, QueryError, Refused, Fault])
def test_an_error_in_a_notebook_is_its_message_the_caret_and_the_hint(kind: type[DiscreetError]) -> None:
    """IPython shows what `_render_traceback_` gives instead of the call stack."""
    failure = kind("the function 'MIN' is not released", hint="ask for counts")
    failure.add_note("line 1: SELECT MIN(age)\n               ^^^")
    assert failure._render_traceback_() == [
        f"{kind.__name__}: the function 'MIN' is not released",
        "line 1: SELECT MIN(age)",
        "               ^^^",
        "hint: ask for counts",
    ]
    assert kind("no")._render_traceback_() == [f"{kind.__name__}: no"]


# Headings.


@pytest.mark.parametrize(
    ("item", "heading", "name"),
    [
        ("COUNT(*)", "COUNT(*)", "count"),
        ("avg( age )", "avg( age )", "avg_age"),
        ("SUM(age)\n  / COUNT(*)", "SUM(age) / COUNT(*)", "value"),
        ("EXTRACT(YEAR FROM DATE '2024-01-01') + COUNT(*)", "EXTRACT(YEAR FROM DATE '2024-01-01') + …", "value"),
        ("COUNT(*) FILTER (WHERE age IN (1, 2))", "COUNT(*) FILTER (WHERE age IN (1, 2))", "count"),
        ("COUNT(*) + ?", "COUNT(*) + ?", "value"),
        ("COUNT(*) AS n", "n", "n"),
        ("COUNT(*) n", "n", "n"),
    ],
)
def test_an_output_without_a_name_is_headed_by_what_was_written(
    tmp_path: Path, item: str, heading: str, name: str
) -> None:
    rows = {"who": list(range(50)), "ward": ["A", "B"] * 25, "age": [30] * 50}
    columns: dict[str, Any] = {"ward": {"keys": ["A", "B"]}, "age": {"type": "integer", "bounds": [0, 99]}}
    params = [1] if "?" in item else None
    with Curator({"t": rows}, "who", columns, epsilon=100, ledger=tmp_path / "l") as curator:
        asked = f"SELECT ward, {item} FROM t GROUP BY ward"
        for _ in range(2):
            made = curator.sql(asked, params, epsilon=1)
            assert [column.head for column in made.columns] == ["ward", heading]
            assert list(made.to_dicts()[0]) == ["ward", name] == made.to_json()["columns"]
            assert made[heading] == made[name] and heading in str(made) and escape(heading) in made.to_html()
        preview = curator.preview(asked, params, epsilon=1)
        assert [line[0] for line in preview.lines()] == ["ward", heading]
        assert list(preview.to_json()["error"]) in ([name], [])
        respelt = curator.sql(asked.replace("SELECT ward", "SELECT  Ward").lower(), params, epsilon=1)
        if respelt.rows == made.rows:
            assert respelt.columns[1].head == (heading.lower() if heading != name else name)


def test_the_footer_says_what_is_left_out_where_something_is() -> None:
    """Of rows that are units, with nothing clamped, nothing is left out; and who asks for a value alone sees no ±."""
    table = {"k": ["a", "b"] * 50, "x": list(range(100))}
    columns = {"k": {"keys": ["a", "b"]}, "x": {"type": "integer", "bounds": (0, 99)}}
    with Curator({"t": table}, columns=columns, row=True, epsilon=9, ledger=":memory:") as curator:
        everything, clamped, value = (
            str(curator.sql(f"SELECT {what} FROM t", epsilon=1)) for what in ("COUNT(*)", "SUM(x)", "MODE(k)")
        )
    assert "± is for the noise alone, at 95 %.\n" in everything
    assert "at 95 %: what is clamped or left out is not in it.\n" in clamped
    assert "±" not in value
