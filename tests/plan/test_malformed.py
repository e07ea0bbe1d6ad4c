"""Malformed text, by bytes and by grammar: the only outcomes are a question, or an error with a code of the closed set."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.question import Question
from discreet.plan.scalar import Key, Literal, Released, Scalar, children, columns_in, type_of
from discreet.plan.sql import CODES, check_unread, parsed, question
from discreet.plan.sql.clauses import Clauses
from discreet.plan.sql.people import grouped
from discreet.plan.sql.sources import Sources
from discreet.plan.sql.text import read
from tests.plan.test_sql import AGGREGATES, CATALOG, CONDITIONS, EQUAL, VISITS
from tests.plan.test_sql_refusals import TABLES, is_polite
from tests.scale import repeats

LONGEST = 2.0  # CPU seconds for one text: a watchdog, far above what any takes

VALID = [
    *(text for pair in EQUAL for text in pair),
    *(f"SELECT COUNT(*) FROM visits WHERE {condition}" for condition, _ in CONDITIONS),
    *(f"SELECT ward, {each} AS x FROM visits GROUP BY ward ORDER BY x LIMIT 3" for each, _ in AGGREGATES),
]
VOCABULARY = (
    "SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT OFFSET AS DISTINCT FILTER CASE WHEN THEN ELSE END AND OR NOT IN IS NULL "
    "BETWEEN LIKE ILIKE ESCAPE ASC DESC NULLS FIRST LAST TRUE FALSE COUNT( SUM( AVG( CAST( EXTRACT( YEAR( IF( COALESCE( ABS( ROUND( "
    "( ) , . * + - / % = <> < <= > >= :: ; ? :a $b @ ! ~ || -> [ ] { } 1 2.5 1e9 'x' 'it''s' '' DATE INTEGER VARCHAR DECIMAL "
    'age ward cost insured admitted patient_id visits v v.age "age" "left" left nosuch JOIN UNION WITH OVER UNNEST ALL VALUES '
    "EXISTS INTERVAL COLLATE PIVOT QUALIFY USING read_csv( random( now( MIN( -- /* */ \\ ` # $$"
)
WORDS = VOCABULARY.split(" ")


def outcome(text: str, params: object = None) -> str:
    """The code of the refusal, or "" for a question, which must then be whole."""
    start = time.thread_time()
    try:
        found = question(text, CATALOG, params)  # type: ignore[arg-type]
    except QueryError as error:
        assert error.code in CODES
        is_polite(error)
        code = error.code
    else:
        is_whole(found)
        code = ""
    assert time.thread_time() - start < LONGEST
    return code


def is_whole(found: Question) -> None:
    """Released expressions name keys and aggregates that exist, and nothing else."""
    assert (found.aggregates or found.keys) and hash(found) == hash(found)
    nodes = {*(Key(i, type_of(key)) for i, key in enumerate(found.keys)), *map(Released, range(len(found.aggregates)))}
    shown = [*(each.value for each in found.outputs), *(each.value for each in found.order)]
    for scalar in [*shown, *([found.having] if found.having else [])]:
        assert not columns_in(scalar) and leaves(scalar) <= nodes
    for scalar in found.keys:
        assert {each.name for each in columns_in(scalar)} <= {each.name for each in VISITS.columns} - {"patient_id"}
        assert children(scalar) is not None


def leaves(scalar: Scalar) -> set[Scalar]:
    """What an expression is made of, apart from constants."""
    if isinstance(scalar, Literal):
        return set()
    inside = children(scalar)
    return set().union(*map(leaves, inside)) if inside else {scalar}


def mutated_bytes(draw: st.DrawFn) -> str:
    text = bytearray(draw(st.sampled_from(VALID)).encode())
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(text)))
        match draw(st.integers(0, 3)):
            case 0:
                text[place:place] = bytes([draw(st.integers(0, 255))])
            case 1:
                del text[place : place + draw(st.integers(1, 5))]
            case 2:
                text[place : place + 1] = bytes([draw(st.integers(32, 126))])
            case _:
                start = draw(st.integers(0, len(text)))
                text[place:place] = text[start : start + draw(st.integers(1, 20))]
    return text.decode("utf-8", "surrogateescape" if draw(st.booleans()) else "replace")


def mutated_words(draw: st.DrawFn) -> str:
    words = draw(st.sampled_from(VALID)).replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split(" ")
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.integers(0, len(words)))
        match draw(st.integers(0, 4)):
            case 0:
                words.insert(place, draw(st.sampled_from(WORDS)))
            case 1:
                del words[place : place + draw(st.integers(1, 3))]
            case 2:
                words[place : place + 1] = [draw(st.sampled_from(WORDS))]
            case 3:
                other = draw(st.sampled_from(VALID)).split(" ")
                start = draw(st.integers(0, len(other)))
                words[place:place] = other[start : start + draw(st.integers(1, 6))]
            case _:
                words[place : place + 2] = reversed(words[place : place + 2])
    return " ".join(words)


QUICK = settings(max_examples=repeats(800), deadline=None, suppress_health_check=list(HealthCheck), database=None)


@QUICK
@given(st.composite(mutated_bytes)())
def test_mutated_bytes_are_a_question_or_refused(text: str) -> None:
    outcome(text)


@QUICK
@given(st.composite(mutated_words)())
def test_mutated_words_are_a_question_or_refused(text: str) -> None:
    outcome(text)


@settings(QUICK, max_examples=repeats(400))
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_heaps_of_words_are_a_question_or_refused(words: list[str]) -> None:
    outcome(" ".join(words))
    outcome("SELECT COUNT(*) FROM visits WHERE " + " ".join(words))
    outcome("SELECT COUNT(*) FROM visits " + " ".join(words))


@settings(QUICK, max_examples=repeats(100))
@given(st.text(max_size=200))
def test_any_text_is_refused(text: str) -> None:
    assert outcome(text)


VALUE = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates(), st.datetimes()),
    *(
        st.decimals(),
        st.fractions(),
        st.complex_numbers(),
        st.lists(st.integers()),
        st.dictionaries(st.text(), st.integers()),
    ),
)


@settings(QUICK, max_examples=repeats(200))
@given(
    st.sampled_from(
        ["age = ?", "ward = :a", "admitted = ? AND age > ?", "ward LIKE ?", "age IN (?, 2)", "?", "age = :a + :b"]
    ),
    st.one_of(st.none(), st.lists(VALUE, max_size=3), st.dictionaries(st.sampled_from("abc"), VALUE), VALUE),
)
def test_any_value_is_bound_or_refused(condition: str, params: object) -> None:
    outcome(f"SELECT COUNT(*) FROM visits WHERE {condition}", params)


def test_parts_of_questions_are_a_question_or_refused() -> None:
    """Each beginning of a text, and each text without one of its words."""
    for text in VALID[:: max(1, 8 // repeats(1))]:
        words = text.split(" ")
        for i in range(len(words)):
            outcome(" ".join(words[:i]))
            outcome(" ".join(words[:i] + words[i + 1 :]))


def test_what_is_refused_stays_refused_with_more_around_it() -> None:
    for code, text in TABLES:
        if code not in ("syntax", "empty", "literal"):
            assert outcome(text + " ORDER BY 1 LIMIT 1") != ""


@pytest.mark.parametrize(
    "forgotten",
    [
        "SELECT COUNT(*) FROM visits WHERE insured",
        "SELECT COUNT(*) FROM visits HAVING TRUE",
        "SELECT COUNT(*) FROM visits LIMIT 1",
        "SELECT COUNT(*) FROM visits ORDER BY 1",
        "SELECT COUNT(*) FROM visits GROUP BY ward",
        "SELECT COUNT(DISTINCT patient_id) FROM visits",
        "SELECT COUNT(*) FILTER (WHERE insured) FROM visits",
        "SELECT COUNT(*) FROM visits nosuch",
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) * 2 FROM visits",
        "SELECT COUNT(*), 2 FROM visits",
        "SELECT COUNT(*), 'x' FROM visits",
    ],
)
def test_a_word_that_the_parser_forgets_is_refused(forgotten: str) -> None:
    """As if the parser had made of each text the tree of the plain one."""
    plain = read("SELECT COUNT(*) FROM visits", {"visits"})
    select, sources = parsed(plain), Sources(plain.text, CATALOG, {}, grouped)
    source = sources.source(select)
    expressions = sources.expressions(source)
    Clauses(select, expressions, source).question()
    check_unread(plain, expressions)
    with pytest.raises(QueryError) as caught:
        check_unread(read(forgotten, {"visits"}), expressions)
    assert caught.value.code == "unread"


@pytest.mark.parametrize("call", ["COUNT(*)", "COUNT(age)", "SUM(age)", "AVG(age) FILTER (WHERE age > 3)"])
@pytest.mark.parametrize("more", [True, False, "text", exp.Literal.number(1)], ids=repr)
def test_what_a_newer_parser_says_of_a_call_is_refused(call: str, more: object) -> None:
    """Whatever is set on the node of an aggregate is read as an argument, or refused."""
    words = read(f"SELECT {call} FROM visits", {"visits", "age"})
    select = parsed(words)
    found = select.find(exp.AggFunc)
    assert found is not None
    found.set("newer", more)
    sources = Sources(words.text, CATALOG, {}, grouped)
    source = sources.source(select)
    with pytest.raises(QueryError) as caught:
        Clauses(select, sources.expressions(source), source).question()
    assert caught.value.code in ("clause", "function")
