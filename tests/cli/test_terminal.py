"""Nothing that others wrote steers a terminal: whatever stands in names, keys, paths and questions, no command prints a character that does
something instead of showing something, and none of it begins a line of its own. JSON says the same as before, in escapes."""

import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.steady import escaped, steady
from tests.cli.started import Ended, started

pytestmark = pytest.mark.usefixtures("few_subjects")

STEERING = "\x1b]0;T\x07\x9b31m\u202e\u2066\x7f\x85"  # an escape, C1 on its own, text turned around
FORGING = STEERING + "\nFORGED\rFORGED\u2028FORGED"
COLUMN, TABLE, KEY, WORD = f"c{STEERING}", f"t{FORGING}", f"k{FORGING}", f"w{FORGING}"
FILE, POLICY = f"v{STEERING}.csv", f"p{FORGING}.toml"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def toml(text: str) -> str:
    return '"' + "".join(each if each.isalnum() else f"\\U{ord(each):08x}" for each in text) + '"'


@pytest.fixture
def hostile(place: Path) -> Path:
    (place / FILE).write_text(f"who,{COLUMN},g,x\na,{STEERING},{STEERING},1\nb,z,z,2\n", "utf-8")
    (place / POLICY).write_text(
        f"""
        [budget]
        epsilon = 9
        delta = 1e-6
        [unit]
        column = "who"
        [tables.{toml(TABLE)}]
        source = {toml(FILE)}
        [tables.{toml(TABLE)}.columns]
        {toml(COLUMN)} = {{ keys = [{toml(KEY)}, "z"] }}
        [tables.t]
        source = {toml(FILE)}
        [tables.t.columns]
        g = {{ keys = [{toml(KEY)}, "z"] }}
        x = {{ type = "integer", bounds = [0, 9] }}
        """,
        "utf-8",
    )
    return place


GROUPED = "SELECT g, COUNT(*) AS n FROM t\n\tGROUP BY g"
ALL = "SELECT COUNT(*) AS n FROM t"
LINES: list[list[str]] = [
    ["ask", POLICY, ALL, "--epsilon", "1"],
    ["ask", POLICY, GROUPED, "--epsilon", "1"],
    ["ask", POLICY, GROUPED, "--epsilon", "1", "--preview"],
    ["ask", POLICY, f"{ALL} WHERE x > ?", "--param", WORD, "--epsilon", "1"],
    ["ask", POLICY, f"SELECT COUNT(*) AS n FROM {quoted(TABLE)} WHERE {quoted(COLUMN)} = '{KEY}'", "--epsilon", "1"],
    ["ask", POLICY, f"{ALL} WHERE g = ?", "--param", KEY, "--epsilon", "1"],
    ["ask", POLICY, f"{ALL} WHERE nobody = 1", "--epsilon", "1"],
    ["ask", POLICY, "SELECT COUNT(*) AS n FROM nowhere", "--epsilon", "1"],
    ["ask", POLICY, f"{ALL} WHERE {quoted(WORD)} = 1", "--epsilon", "1"],
    ["ask", POLICY, f"SELECT COUNT(*) AS {quoted(WORD)} FROM t", "--epsilon", "1"],
    ["ask", POLICY, f"SELECT COUNT(*) AS n FROM {quoted(WORD)}", "--epsilon", "1"],
    ["ask", POLICY, f"{WORD} {ALL}", "--epsilon", "1"],
    ["ask", POLICY, ALL, "--epsilon", WORD],
    ["ask", POLICY, ALL, "--epsilon", "1", "--as", WORD],
    ["ask", POLICY, ALL, "--epsilon", "1", "--out", f"none/{WORD}"],
    ["ask", POLICY, ALL, "--epsilon", "1", f"--{WORD}"],
    ["ask", FILE, ALL, "--epsilon", "1", "--unit", WORD],
    ["ask", FILE, ALL, "--epsilon", "1", "--unit", "who", "--bounds", f"{WORD}=0:1"],
    ["ask", f"none{WORD}.csv", ALL, "--epsilon", "1"],
    ["ask", WORD, ALL, "--epsilon", "1"],
    ["explain", POLICY, GROUPED],
    ["explain", POLICY, f"{ALL} WHERE g LIKE '{WORD}'"],
    ["explain", POLICY, f"SELECT CASE WHEN x > 3 THEN '{WORD}' ELSE 'b' END AS g, COUNT(*) AS n FROM t GROUP BY 1"],
    ["describe", POLICY],
    ["describe", POLICY, "--as", WORD],
    ["describe", FILE, "--unit", "who"],
    ["shell", POLICY, "--epsilon", "1"],
    ["init", FILE, "--unit", "who", "--out", f"new{WORD}.toml"],
    ["init", FILE, "--unit", WORD],
    ["check", POLICY],
    ["rehearse", POLICY, "--yes"],
    ["rehearse", POLICY, "--as", WORD],
    ["rehearse", FILE, "--unit", "who", "--yes"],
    ["train", POLICY, "--of", "t", "--target", "g", "--people", "9", "--epsilon", "1", "--out", "model.json", "--force"],
    ["train", POLICY, "--of", TABLE, "--target", COLUMN, "--features", COLUMN, "--epsilon", "1", "--out", f"{WORD}.json"],
    ["train", POLICY, "--of", "t", "--model", "linear", "--target", "x", "--features", "g", "--epsilon", "1",
     "--out", "line.json", "--force"],
    ["train", POLICY, "--of", "t", "--target", "g", "--classes", f"{WORD},z", "--epsilon", WORD, "--out", "x.json"],
    ["budget", POLICY],
    ["budget", POLICY, "--as", WORD],
    ["budget", "set", POLICY, "--epsilon", "8", "--yes"],
    ["analyst", "add", POLICY, WORD, "--epsilon", "1"],
    ["analyst", "add", POLICY, "ana", "--epsilon", "1"],
    ["analyst", "remove", POLICY, WORD],
    ["history", POLICY],
    ["history", POLICY, "--as", WORD],
    ["data", "changed", POLICY],
    ["data", "changed", POLICY, "--version", WORD],
    ["ledger", "verify", POLICY],
    ["ledger", "verify", f"{WORD}.json"],
    ["ledger", "export", POLICY],
    ["ledger", "export", POLICY, "--out", f"export{WORD}.json"],
    ["ledger", "accept", POLICY],
    ["ledger", "resume", POLICY, "--reason", WORD, "--analyst", WORD, "--yes"],
    ["doctor", POLICY],
    ["doctor", FILE, "--ledger", WORD],
    ["audit", POLICY, "--samples", "100", "--seconds", "0.01"],
    ["loss", WORD],
    ["calibrate", WORD, "--epsilon", "1"],
    [WORD],
]  # fmt: skip


def shows(text: str) -> bool:
    return all(each.isprintable() or each in "\n\t" or unicodedata.category(each) == "Zs" for each in text)


def check(line: list[str], found: Ended) -> None:
    for text in (found.out, found.err):
        assert shows(text), (line, text)
        assert not any(each.lstrip().startswith("FORGED") for each in text.splitlines()), (line, text)
    assert "something here is broken" not in found.err, (line, found)


@pytest.mark.parametrize("as_json", [False, True], ids=["for people", "for programs"])
def test_nothing_that_others_wrote_steers_a_terminal(hostile: Path, as_json: bool) -> None:
    answered = 0
    typed = f"{GROUPED};\n\\describe\n\\explain {GROUPED};\n\\budget\n\\{WORD}\n".encode()
    for line in LINES:
        found = started(
            [*line, *(["--json"] if as_json else [])], typed=typed if line[0] == "shell" else b"", folder=hostile
        )
        check(line, found)
        answered += found.code == 0
        if as_json and found.code == 0 and line[0] != "shell":
            json.loads(found.out)
        if as_json and found.code and line[0] not in ("shell", "doctor"):
            json.loads(found.err)
    assert answered > len(LINES) / 3, "the names got that far"


def test_json_says_what_it_said(hostile: Path) -> None:
    found = json.loads(started(["describe", POLICY, "--json"], folder=hostile).out)
    assert found["tables"][0]["name"] == TABLE and found["tables"][0]["columns"][1]["name"] == COLUMN
    assert found["tables"][0]["columns"][1]["keys"] == [KEY, "z"]
    asked = json.loads(started(["ask", POLICY, GROUPED, "--epsilon", "1", "--json"], folder=hostile).out)
    assert [row["g"] for row in asked["rows"]] == [KEY, "z"] and asked["receipt"]["question"] == GROUPED
    told = json.loads(started(["history", POLICY, "--json"], folder=hostile).out)
    assert told[-1]["what"] == GROUPED


@given(st.text())
def test_cleaned_text_shows_and_escaped_json_says_the_same(text: str) -> None:
    assert shows(steady(text)) and steady(steady(text)) == steady(text)
    written = json.dumps({text: [text]}, ensure_ascii=False, indent=2)
    assert shows(escaped(written)) and json.loads(escaped(written)) == {text: [text]}
    assert text.isprintable() is False or steady(text) == text


def test_what_a_lone_surrogate_says_in_json_is_json() -> None:
    name = os.fsdecode(b"\xff")
    assert json.loads(escaped(json.dumps(name, ensure_ascii=False))) == name
