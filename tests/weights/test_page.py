"""The page of a report: one file that fetches nothing, in which nothing that others wrote is more than text."""

import re
from html.parser import HTMLParser

import numpy as np

from discreet.cells import Binned, Categorical
from discreet.weights import ArrayTable, Domain, independent, report
from discreet.weights.page import page_of
from discreet.weights.pictures import counts_picture, pairs_picture
from discreet.weights.reporting import AttributeCounts
from tests.weights.test_reporting import reports

HOSTILE = "<script>alert(1)</script>\"'&\x1b\u202e"


class Balanced(HTMLParser):
    """Reads a page, and the tags that are open in the end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in {"meta"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    return parser


def pages_are_whole_and_fetch_nothing() -> None:
    for found in reports():
        page = page_of(found)
        assert page == found.to_html() and page.startswith("<!doctype html>")
        seen = read(page).seen
        assert "svg" in seen and not seen & {"script", "img", "link", "iframe", "object"}
        assert not re.search(r"https?:|src=|url\(|@import", page)
        for name in found.domain.names:
            assert f"<h2>{name}</h2>" in page
        # of the one round that there was
        assert "<td>1</td><td>ward, age</td><td>900 %</td><td>4</td>" in page


def test_pages_are_whole_and_fetch_nothing() -> None:
    pages_are_whole_and_fetch_nothing()


def words_of_others_are_text() -> None:
    domain = Domain((Categorical(HOSTILE, (HOSTILE, "b")), Binned(f"{HOSTILE}2", tuple(range(40)))))
    found = report(independent(ArrayTable(domain, np.zeros((50, 2), int)), epsilon=1))
    page = found.to_html()
    assert "script" not in read(page).seen and "<script" not in page
    assert "\x1b" not in page and "\u202e" not in page and "&lt;script&gt;" in page


def test_words_of_others_are_text() -> None:
    words_of_others_are_text()


def bars_are_as_long_as_counts() -> None:
    """The longest bar has the largest count, and a line lies around its dot."""
    for labels in (("a", "b", "c"), tuple(map(str, range(30)))):
        counts = tuple(float(place) for place in range(len(labels)))
        picture = counts_picture(AttributeCounts("x", labels, counts, counts, 0.5))
        side = "width" if len(labels) < 10 else "height"
        bars = [float(each) for each in re.findall(rf'<rect [^>]*{side}="([0-9.]+)"', picture)]
        assert np.allclose(np.array(bars) * counts[-1], np.array(counts) * bars[-1], atol=0.1 * counts[-1])
        ends = re.findall(r"M([0-9.]+) ([0-9.]+)[HV]([0-9.]+)", picture)
        dots = re.findall(r'cx="([0-9.]+)" cy="([0-9.]+)"', picture)
        for (x, y, end), dot in zip(ends, dots, strict=True):
            low, at, high = (x, dot[0], end) if len(labels) < 10 else (end, dot[1], y)
            assert float(low) <= float(at) <= float(high)
    assert "circle" not in counts_picture(AttributeCounts("x", ("a",), (1.0,)))


def test_bars_are_as_long_as_counts() -> None:
    bars_are_as_long_as_counts()


def darker_squares_are_larger_errors() -> None:
    free, paid = reports()
    shades = [float(each) for each in re.findall(r'fill-opacity="([0-9.]+)"', pairs_picture(paid))]
    names = paid.domain.names
    errors = [paid.margin(names[row], names[column]).error for row in (1, 2) for column in range(row)]  # type: ignore[union-attr]
    pairs = list(zip(shades, errors, strict=True))  # errors that are nearly alike have one shade
    assert all(less < more for shade, less in pairs for other, more in pairs if shade < other)  # type: ignore[operator]
    assert len(set(shades)) > 1
    assert pairs_picture(free).count('class="none"') == 2
    assert pairs_picture(report(independent(ArrayTable(Domain(free.domain.attributes[:1]), [[0]]), epsilon=1))) == ""


def test_darker_squares_are_larger_errors() -> None:
    darker_squares_are_larger_errors()
