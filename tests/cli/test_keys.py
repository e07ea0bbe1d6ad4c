"""Keys on a command line: integers where all of them are, texts in quotes or where a type says so."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cli.flags import Flags, columns
from discreet.errors import Invalid
from tests.cli.conftest import Run, data, error
from tests.scale import repeats

INT64 = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), max_size=5)


def keys(said: str) -> list[object]:
    return list(columns(Flags(keys=[f"year={said}"]))["year"]["keys"])


def line(texts: list[str], quoting: int) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator="").writerow(texts)  # type: ignore[arg-type]
    return out.getvalue()


@settings(max_examples=repeats(100))
@given(st.lists(INT64, min_size=1, max_size=5))
def test_integers_without_quotes_are_integers(values: list[int]) -> None:
    assert keys(",".join(map(str, values))) == values
    assert keys(", ".join(map(str, values))) == values


@settings(max_examples=repeats(100))
@given(st.lists(INT64.map(str) | TEXTS, min_size=1, max_size=5))
def test_texts_in_quotes_are_those_texts(texts: list[str]) -> None:
    assert keys(line(texts, csv.QUOTE_ALL)) == texts
    single = ["'" + text.replace("'", "''") + "'" for text in texts]
    assert keys(", ".join(single)) == texts


@settings(max_examples=repeats(100))
@given(st.lists(TEXTS.filter(lambda text: not text.startswith(("'", " "))), min_size=1, max_size=5))
def test_other_lines_are_read_as_csv(texts: list[str]) -> None:
    said = line(texts, csv.QUOTE_MINIMAL)
    if said.strip():
        assert [str(key) for key in keys(said)] == texts


@pytest.mark.parametrize(
    "said",
    [
        "01234,99999",
        "+3,4",
        "2004,n/a",
        "-0,1",
        f"{2**63},1",
        "2004,",
        '2004,"2005"',
        "'2004',2005",
        "1.50,2",
        "1.5,x",
        "1e3,2",
        "１,２",
    ],
)
def test_what_is_not_written_as_integers_is_text(said: str) -> None:
    assert all(isinstance(key, str) for key in keys(said))


@pytest.mark.parametrize("said", ['"A', '"A"B', '"A" ,B', "A\nB"])
def test_what_is_no_line_of_csv_is_refused(said: str) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        keys(said)


@pytest.mark.parametrize("said", ["'t Hooft,B", "A'B,'", "d'A'"])
def test_an_apostrophe_that_quotes_nothing_is_a_part_of_the_text(said: str) -> None:
    assert keys(said) == said.split(",")


YEARS = "SELECT year, COUNT(*) AS n FROM planes GROUP BY year"
ASK = ["ask", "planes.csv", YEARS, "--row", "--epsilon", "30", "--budget", "100", "--json"]


@pytest.fixture
def planes(place: Path) -> None:
    cells = ["2004.0"] * 20 + ["2004"] * 10 + ["2005.0"] * 7 + ["", "n/a"]
    (place / "planes.csv").write_text(
        "tail,year\n" + "".join(f"N{i},{cell}\n" for i, cell in enumerate(cells)), "utf-8"
    )


@pytest.mark.usefixtures("planes")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--keys", "year=2004,2005"], {2004: 30, 2005: 7}),
        (["--keys", "year=2004,2005", "--types", "year=integer"], {2004: 30, 2005: 7}),
        (["--keys", "year=2004,2005", "--bounds", "year=1950:2024"], {2004: 30, 2005: 7}),
        (["--keys", "year=2004,2005", "--types", "year=text"], {"2004": 10, "2005": 0}),
        (["--keys", 'year="2004","2005"'], {"2004": 10, "2005": 0}),
        (["--keys", "year='2004','2005'"], {"2004": 10, "2005": 0}),
        (["--keys", "year=2004,n/a"], {"2004": 10, "n/a": 1}),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_integer_keys_declare_an_integer_column(run: Run, flags: list[str], expected: dict[object, int]) -> None:
    rows = data(run(*ASK, *flags))["rows"]
    assert {row["year"]: row["n"] for row in rows} == expected


@pytest.mark.usefixtures("planes")
def test_keys_that_are_not_of_the_declared_type_are_refused(run: Run) -> None:
    found = error(run(*ASK, "--keys", "year=2004", "--types", "year=date"))
    assert "date values" in found["message"], json.dumps(found)
