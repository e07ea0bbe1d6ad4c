"""`discreet collect`: campaigns, reports, estimates and states, as files that are whole or not there."""

import os
import re
import time
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from discreet.cli import app
from discreet.cli.collect import typed
from discreet.cli.collect_files import Arrival, alone, linked, reports_in
from discreet.cli.collect_terms import answer_of, terms
from discreet.local import Campaign, Choices, Client, Collector, Rounds, choose_attributes
from discreet.local.domains import KINDS
from tests.cli.conftest import Run, data, error

NEW = ("collect", "new", "How?", "--answer", "bus", "--answer", "bike", "--epsilon", "1", "--out", "work.json")
SMALL = ("--capacity", "1000")  # states are soon written
KINDS_OF_CAMPAIGNS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "choices": (("--answer", "bus", "--answer", "a car"), ("a car",), "k-ary"),
    "cells": (("--cells", "1000"), ("17",), "hashing"),
    "numbers": (("--between", "-5:50"), ("-2.5",), "hybrid"),
    "distribution": (("--between", "0:1", "--protocol", "square-wave"), ("0.25",), "square-wave"),
    "attributes": (("--attribute", "sex=f,m", "--attribute", "age=20"), ("age=3", "sex=f"), "one-attribute"),
    "words": (("--words", "a-c:3"), ("cab",), "prefixes"),
}


COMMANDS = get_command(app)  # whose options are looked through once, and not at each call


@pytest.fixture
def run() -> Run:
    """Run a command in this process, with what it reads from stdin."""

    def invoke(*arguments: str, typed: str | None = None) -> Result:
        with mock.patch("typer.testing._get_command", lambda _: COMMANDS):
            return CliRunner().invoke(app, list(arguments), input=typed, env={"COLUMNS": "100"})

    return invoke


def campaign_of(path: str) -> Campaign:
    return Campaign.from_json(Path(path).read_text("ascii"))


def reports_of(path: str, answers: Sequence[Any], name: str = "reports.jsonl") -> None:
    """A file of reports, one a line."""
    sent = [Client(campaign_of(path)).report(each).hex() for each in answers]
    (Path(name).with_suffix(".bin")).write_bytes(bytes.fromhex("".join(sent)))
    collector = [line_of(bytes.fromhex(each)) for each in sent]
    Path(name).write_text("".join(f"{each}\n" for each in collector), "ascii")


def line_of(report: bytes) -> str:
    from discreet.local import ClientReport

    return ClientReport.from_bytes(report).to_json()


@pytest.mark.parametrize("kind", KINDS_OF_CAMPAIGNS)
def test_every_kind_of_campaign_goes_from_its_terms_to_its_estimates(run: Run, kind: str) -> None:
    words, answer, protocol = KINDS_OF_CAMPAIGNS[kind]
    made = data(
        run("collect", "new", "What?", *words, "--epsilon", "1", "--people", "5000", "--out", "c.json", "--json")
    )
    campaign = campaign_of("c.json")
    assert made["id"] == campaign.id and made["protocol"] == campaign.protocol == protocol
    assert made["errors"][0]["people"] == 5000 and (made["errors"][0]["error"] or 1) > 0
    for name in ("first.json", "second.bin"):
        sent = run("collect", "report", "c.json", "--out", name, "--", *answer)
        assert sent.exit_code == 0 and sent.stdout == "" and "tells at most ε = 1" in sent.stderr
    assert Path("second.bin").stat().st_size == made["bytes"]
    words = ("first.json", "second.bin", "--state", "s.json", *SMALL, "--liars", "2", "--json")
    found = data(run("collect", "estimate", "c.json", *words))
    assert found["n"] == found["estimates"]["n"] == 2 and not any(found["rejected"].values())
    assert found["liars"]["influence"] > 0
    text = run("collect", "estimate", "c.json", "--state", "s.json", "--liars", "1")
    assert text.exit_code == 0 and "What?\n2 reports count, and none was rejected" in text.stdout
    assert "1 liar could" in text.stdout and f"by {protocol} at ε = 1" in text.stdout


def test_every_kind_of_domain_is_a_campaign_here() -> None:
    """Rounds of a series are made in Python, and answered here with a diary."""
    assert {Choices.kind, *KINDS} <= {*KINDS_OF_CAMPAIGNS, Rounds.kind}


def test_terms_are_shown_before_anything_is_sent(run: Run) -> None:
    made = run(*NEW)
    campaign = campaign_of("work.json")
    assert sha256(Path("work.json").read_bytes()).hexdigest() == campaign.id  # a page may serve the file as it is
    assert "answers: bus, bike" in made.stdout and f"id: {campaign.id}" in made.stdout
    assert "1,000 people: about ± 6.0 % of a share, at 95 %" in made.stdout
    for people, said in (("1", "1 person: about ± 190 %"), (str(10**15), "people: about ± 0.0000060 %")):
        assert said in run(*NEW[:-1], f"{people}.json", "--people", people).stdout
    shown = run("collect", "report", "work.json")
    assert shown.exit_code == 0 and "How?" in shown.stdout and "nothing was sent" in shown.stderr
    assert run("collect", "report", "work.json", "--json").stdout.rstrip("\n") == campaign.to_json()


def terms_are_in_words_of_ours() -> None:
    """A question begins no line of its own, such as one with another ε; an answer is never longer than it can be read."""
    forged = "Where?\nk-ary, ε = 0.01, until 2030-01-01\r\u2028nothing is told\x1b[2J\u202e"
    campaign = Campaign(forged, ("a" * 9_000, "b\u200b"), "k-ary", 1, bytes(16), 4_000_000_000)
    shown = str(campaign).splitlines()
    assert len(shown) == 3 and shown[0].isprintable() and shown[1].startswith("k-ary, ε = 1,")
    lines = [each for line in terms(campaign) for each in line.splitlines()]
    assert lines[1:3] == shown[1:] and all(each.isprintable() for each in lines)
    assert len(lines[3]) < 100 and "…" in lines[3] and "b\\u200b" in lines[3]


def test_terms_are_in_words_of_ours() -> None:
    terms_are_in_words_of_ours()


def test_a_confidence_is_never_said_to_be_more_than_it_is(run: Run) -> None:
    run(*NEW)
    reports_of("work.json", ["bus"])
    words = ("collect", "estimate", "work.json", "reports.jsonl", *SMALL, "--confidence")
    for asked, said in (("0.5", "50"), ("0.9999999", "99.99999"), ("0." + "9" * 30, "99.9999999999")):
        assert f"each interval holds at {said} %, by itself" in run(*words, asked).stdout


def test_the_predicted_error_is_that_of_the_estimate(run: Run) -> None:
    made = data(run(*NEW, "--people", "400", "--json"))
    reports_of("work.json", ["bus", "bike"] * 200)
    found = data(run("collect", "estimate", "work.json", "reports.jsonl", "--json"))
    half = [(each["high"] - each["low"]) / 2 for each in found["estimates"]["shares"]]
    assert all(each / 1.25 < made["errors"][0]["error"] < each for each in half)  # intervals hold for few people too


def test_the_predicted_error_of_a_mean_is_that_of_the_estimate(run: Run) -> None:
    words = ("--between", "0:100", "--epsilon", "1", "--people", "30")
    for protocol in ("hybrid", "square-wave"):
        file = f"{protocol}.json"
        made = data(run("collect", "new", "Far?", *words, "--protocol", protocol, "--out", file, "--json"))
        reports_of(file, list(range(30)))
        found = data(run("collect", "estimate", file, "reports.jsonl", *SMALL, "--json"))["estimates"]
        mean = found.get("mean", found)
        assert made["errors"][0]["error"] == pytest.approx((mean["high"] - mean["low"]) / 2)


def test_protocols_are_those_that_were_asked_for(run: Run, tmp_path: Path) -> None:
    """Of attributes it is how the attribute is chosen; each of them has the protocol that is advised for it."""
    words = ("--attribute", "sex=f,m", "--attribute", "age=20", "--epsilon", "1")
    for protocol in ("one-attribute", "hidden-attribute"):
        file = str(tmp_path / f"{protocol}.json")
        made = data(run("collect", "new", "Q?", *words, "--protocol", protocol, "--out", file, "--json"))
        assert made["protocol"] == protocol == campaign_of(file).protocol
    refused = run("collect", "new", "Q?", *words, "--protocol", "unary", "--out", str(tmp_path / "x.json"), "--json")
    assert refused.exit_code == 2 and error(refused)["code"] == "invalid"


MOVED = {
    "choices": r"any share by up to \d+ %, and a consistent one by twice that",
    "numbers": r"the mean by up to [\d,]+",
    "distribution": r"the mean by up to [\d.]+; how far quantiles, is not known",
    "attributes": r"any share by up to \d+ %, and a consistent one by twice that",
    "words": r"any share by up to \d+ %",
}


@pytest.mark.parametrize("kind", MOVED)
def test_how_far_liars_move_is_said_of_what_is_printed(run: Run, kind: str) -> None:
    words, _, _ = KINDS_OF_CAMPAIGNS[kind]
    run("collect", "new", "What?", *words, "--epsilon", "1", "--out", "c.json")
    campaign = campaign_of("c.json")
    answers: dict[str, Any] = {"choices": "bus", "numbers": 3, "distribution": 0.5, "words": "cab"}
    reports_of("c.json", [answers.get(kind, {"sex": "f", "age": 3})] * 20)
    said = run("collect", "estimate", "c.json", "reports.jsonl", *SMALL, "--liars", "3").stdout.splitlines()[-1]
    found = re.fullmatch(f"3 liars could have moved {MOVED[kind]}", said)
    assert found, (campaign.protocol, said)


def test_one_state_is_not_added_to_itself(run: Run, tmp_path: Path) -> None:
    """Under one name or two; those that are empty may all be alike."""
    campaign = Campaign.new("How?", ("bus", "bike"), protocol="k-ary", epsilon=1, expires=4_000_000_000)
    first, second, sum_ = (tmp_path / x for x in ("a.json", "b.parquet", "c.json"))
    words = ("collect", "merge", str(first), str(second), "--out", str(sum_), "--json")
    for capacity, sent in ((100, 0), (100, 3), (1, 1)):  # the set of one token might be a part of any other by chance
        collector = Collector(campaign, capacity=capacity)
        collector.extend(Client(campaign).report("bus") for _ in range(sent))
        for each in (first, second):
            collector.save(each)
        found = run(*words)
        assert found.exit_code == (2 if sent else 0) and ("count twice" in found.stderr) == bool(sent)
        sum_.unlink(missing_ok=True)
    assert run("collect", "merge", str(first), str(first), *words[4:]).exit_code == 2 and not sum_.exists()
    full = Collector(campaign, capacity=1, false_rejects=0.5)  # whose tokens say nothing any more
    full.extend(Client(campaign).report("bus") for _ in range(200))
    for each in (first, second):
        full.save(each)
    found = run(*words)
    assert full.false_rejects == 1 and found.exit_code == 2 and "is the same state as" in found.stderr


def test_a_later_state_is_not_added_to_an_earlier_one(run: Run) -> None:
    """As when a state is kept under another name each day: whichever comes first, and whatever stands between them."""
    run(*NEW)
    for day, answers in enumerate((["bus"] * 6, ["bike"] * 5)):
        reports_of("work.json", answers, "r.jsonl")
        more = ("--capacity", "1000") if not day else ()
        assert run("collect", "estimate", "work.json", "r.jsonl", "--state", "s.json", *more).exit_code == 0
        Path(f"{day}.json").write_bytes(Path("s.json").read_bytes())
    for first, second in (("0.json", "1.json"), ("1.json", "0.json")):
        refused = run("collect", "merge", first, second, "--out", "sum.json", "--json")
        assert refused.exit_code == 2 and error(refused)["code"] == "copies"
        assert second in error(refused)["message"] and not Path("sum.json").exists()


def test_states_go_on_and_add_up(run: Run) -> None:
    run(*NEW)
    reports_of("work.json", ["bus"] * 6 + ["bike"] * 5)
    lines = Path("reports.jsonl").read_text("ascii").splitlines(keepends=True)
    Path("a.jsonl").write_text("".join(lines[:4]), "ascii")
    Path("b.jsonl").write_text("".join(lines[4:]), "ascii")
    whole = data(run("collect", "estimate", "work.json", "reports.jsonl", "--json"))
    for state in ("both.json", "both.parquet"):
        for part, more in (("a", SMALL), ("b", ()), ("a", ())):
            found = data(run("collect", "estimate", "work.json", f"{part}.jsonl", "--state", state, *more, "--json"))
        assert found["estimates"] == whole["estimates"] and found["rejected"]["duplicate"] == 4
    for part in ("a", "b"):
        assert (
            run("collect", "estimate", "work.json", f"{part}.jsonl", "--state", f"{part}.parquet", *SMALL).exit_code
            == 0
        )
    merged = data(run("collect", "merge", "a.parquet", "b.parquet", "--out", "sum.json", "--json"))
    assert merged["n"] == 11 and Collector.load("sum.json").n == 11
    summed = data(run("collect", "estimate", "work.json", "reports.bin", "--state", "sum.json", "--json"))
    assert summed["estimates"] == whole["estimates"] and summed["rejected"]["duplicate"] == 11
    assert run("collect", "merge", "a.parquet", "b.parquet", "--out", "sum2.json").stdout.startswith("11 reports count")


def test_a_few_words_are_counted_before_there_are_estimates(run: Run) -> None:
    """Of two levels one report is about one: it counts, and the other is waited for."""
    run("collect", "new", "Word?", "--words", "a-z:8", "--epsilon", "1", "--out", "c.json")
    reports_of("c.json", ["otter"])
    words = ("collect", "estimate", "c.json", "reports.jsonl", "--state", "s.json", "--liars", "1")
    found = run(*words, *SMALL)
    assert found.exit_code == 0 and "1 report counts" in found.stdout and "nothing to estimate yet" in found.stdout
    again = data(run(*words, "--json"))
    assert again["estimates"] is None and again["n"] == again["rejected"]["duplicate"] == 1


def test_bad_lines_are_counted_by_reason_and_stop_nothing(run: Run) -> None:
    run(*NEW)
    run(*NEW[:-1], "other.json")
    reports_of("other.json", ["bus"], "other.jsonl")
    reports_of("work.json", ["bus", "bike"])
    good = Path("reports.jsonl").read_bytes()
    bad = [b"{}", b"\xff\xfe", b"[" * 5000, b"x" * 400_000, b"null", b'"\\ud800"', good.splitlines()[0][:-9]]
    with Path("bad.jsonl").open("wb") as file:
        file.write(b"\n\r\n".join([*bad, *good.splitlines(), Path("other.jsonl").read_bytes().strip(), b" ", good]))
        file.write(b"y" * 3_000_000)  # the last line has no end
    found = data(run("collect", "estimate", "work.json", "bad.jsonl", "--json"))
    assert found["n"] == 2
    assert found["rejected"] == {"campaign": 1, "duplicate": 2, "expired": 0, "malformed": len(bad) + 1, "version": 0}
    Path("bad.bin").write_bytes(Path("reports.bin").read_bytes() + b"\x01\x01\x01")
    text = run("collect", "estimate", "work.json", "bad.bin")
    assert "2 reports count; not counted: 1 not a report" in text.stdout
    Path("none.jsonl").write_bytes(b"\n")
    assert "nothing to estimate yet" in run("collect", "estimate", "work.json", "none.jsonl", "--liars", "1").stdout


def test_reports_came_when_their_file_was_last_written(run: Run) -> None:
    """What was collected in time counts also when it is looked at after the end; no report is made then."""
    over = Campaign.new("Then?", ("bus", "bike"), protocol="k-ary", epsilon=1, expires=1_000_000)
    Path("over.json").write_text(over.to_json(), "ascii")
    sent = [Client(over, clock=lambda: 0).report("bus") for _ in range(2)]
    Path("reports.jsonl").write_text("".join(f"{line_of(each)}\n" for each in sent), "ascii")
    for moment, reason in ((999_999, None), (1_000_000, "expired")):
        os.utime("reports.jsonl", (moment, moment))
        found = data(run("collect", "estimate", "over.json", "reports.jsonl", *SMALL, "--json"))
        assert found["n"] == (0 if reason else 2) and found["rejected"]["expired"] == (2 if reason else 0)
    refused = run("collect", "report", "over.json", "bus", "--json")
    assert refused.exit_code == 3 and error(refused)["code"] == "expired"


def reports_of_files_are_those_that_were_written(folder: Path) -> None:
    """Lines of JSON and bytes behind each other, each when its file was written; of a line that is too long one report that is none."""
    campaign = Campaign("How?", ("bus", "bike"), "k-ary", 1, bytes(16), 4_000_000_000)
    sent = [Client(campaign).report("bus") for _ in range(3)]
    lines, pieces, arrival = folder / "reports.jsonl", folder / "reports.bin", Arrival()
    lines.write_bytes(b"\r\n\n".join([b"{" * 3_000_000, *(line_of(each).encode() for each in sent), b" "]))
    pieces.write_bytes(b"".join(sent) + sent[0][:5])
    for file, moment in ((lines, 1_000), (pieces, 2_000)):
        os.utime(file, (9, moment))
        found = [(each, arrival()) for each in reports_in(str(file), campaign, arrival)]
        assert {when for _, when in found} == {moment}
        texts = [each for each, _ in found]
        if file is lines:
            assert [len(texts), len(texts[0])] == [4, 1] and texts[1:] == [line_of(each) for each in sent]
        else:
            assert texts == [*sent, sent[0][:5]]


def test_reports_of_files_are_those_that_were_written(tmp_path: Path) -> None:
    reports_of_files_are_those_that_were_written(tmp_path)


def test_answers_and_reports_come_by_stdin(run: Run) -> None:
    run(*NEW)
    sent = run("collect", "report", "work.json", "-", "--json", typed="bike\n")
    assert sent.exit_code == 0 and sent.stdout.count("\n") == 1 and sent.stderr == ""
    assert data(run("collect", "estimate", "work.json", "-", "--json", typed=sent.stdout))["n"] == 1


class Terminal(StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


def test_at_a_terminal_every_attribute_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Also one whose name has = in it."""
    several = choose_attributes({"a": ("x", "y"), "a=b": ("x", "y=z")}, 1, 100)
    with mock.patch("sys.stdin", Terminal("y\r\ny=z\nmore\n")):
        assert answer_of(several, typed(several)) == {"a": "y", "a=b": "y=z"}
    assert capsys.readouterr().err == "a: a=b: "
    with mock.patch("sys.stdin", Terminal("bus\n")):
        assert typed(Choices(2)) == ["bus"]
    assert capsys.readouterr().err == "your answer: "


def test_an_answer_that_is_not_possible_is_not_repeated(run: Run) -> None:
    run(*NEW)
    run("collect", "new", "Far?", "--between", "0:9", "--epsilon", "1", "--out", "far.json")
    for name, answer in (("work.json", "rocket"), ("far.json", "rocket"), ("far.json", "77")):
        refused = run("collect", "report", name, answer, "--json")
        assert refused.exit_code == 2 and answer not in refused.stderr
    assert run("collect", "report", "work.json", "bus", "bike").exit_code == 2


def test_labels_that_are_no_texts_are_written_as_they_look(run: Run) -> None:
    campaign = Campaign.new("Odd?", (1, "1", True), protocol="unary", epsilon=1, expires=4_000_000_000)
    Path("odd.json").write_text(campaign.to_json(), "ascii")
    with mock.patch("discreet.local.client.Client.report", autospec=True, side_effect=Client.report) as sent:
        for word in ("1", "true"):
            assert run("collect", "report", "odd.json", word).exit_code == 0
    assert [call.args[1] for call in sent.call_args_list] == ["1", True]


def test_a_diary_sums_what_is_told_and_stops(run: Run) -> None:
    run(*NEW)
    run(*NEW[:-1], "again.json")
    run(*NEW[:-1], "third.json")
    words = ("--diary", "diary.json")
    first = run("collect", "report", "work.json", "bus", *words, "--allow", "2")
    assert first.exit_code == 0 and "ε = 1 of 2" in first.stderr
    assert run("collect", "report", "work.json", "bike", *words).stdout == first.stdout
    assert run("collect", "report", "again.json", "bus", *words).exit_code == 0
    stopped = run("collect", "report", "third.json", "bus", *words, "--json")
    assert stopped.exit_code == 3 and error(stopped)["code"] == "budget"
    assert run("collect", "report", "third.json", "bus", "--allow", "2").exit_code == 2
    series = Rounds.new(("a", "b"), first=Fraction(1, 2))
    rounds = Campaign.new("Now?", series, protocol="memo-k-ary", epsilon=1, expires=4_000_000_000)
    Path("rounds.json").write_text(rounds.to_json(), "ascii")
    assert "diary" in error(run("collect", "report", "rounds.json", "a", "--json"))["message"]
    assert run("collect", "report", "rounds.json", "a", "--diary", "more.json", "--allow", "1").exit_code == 0


EMPTY = ("collect", "new", "x", "--epsilon", "1", "--attribute", "a=b,")
WRONG: list[tuple[tuple[str, ...], int, str]] = [
    (("collect", "new", "x", "--answer", "a", "--answer", "b", "--out", "x.json"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "1", "--answer", "a", "--answer", "b"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "1", "--out", "x.json"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "1", "--cells", "9", "--words", "a-z:3", "--out", "x.json"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "1", "--between", "3", "--out", "x.json"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "1", "--words", "z-a:3", "--out", "x.json"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "1", "--words", "abc", "--out", "x.json"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "1", "--attribute", "a=b,c", "--out", "x.json"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "1", "--attribute", "a", "--out", "x.json"), 2, "usage"),
    ((*EMPTY, "--attribute", "c=d,e", "--out", "x.json"), 2, "usage"),
    (("collect", "new", "x", "--epsilon", "0", "--cells", "9", "--out", "x.json"), 2, "invalid"),
    (("collect", "new", "x", "--epsilon", "1", "--answer", "a", "--out", "x.json"), 2, "invalid"),
    (("collect", "new", "", "--epsilon", "1", "--cells", "9", "--out", "x.json"), 2, "invalid"),
    (("collect", "new", "x", "--epsilon", "1", "--cells", "9", "--protocol", "best", "--out", "x.json"), 2, "invalid"),
    (("collect", "new", "x", "--epsilon", "1", "--cells", "9", "--days", "0", "--out", "x.json"), 2, "usage"),
    ((*NEW[:-1], "nowhere/x.json"), 2, "out"),
    (NEW, 2, "out"),
    (("collect", "report", "none.json", "a"), 2, "no-file"),
    (("collect", "report", "odd.txt", "a"), 2, "malformed"),
    (("collect", "report", "work.json", "bus", "--out", "odd.txt"), 2, "out"),
    (("collect", "report", "work.json", "bus", "--diary", "none.diary"), 2, "no-file"),
    (("collect", "report", "work.json", "bus", "--diary", "nowhere/none.diary", "--allow", "2"), 2, "out"),
    (("collect", "report", "work.json", "bus", "--diary", ".", "--allow", "2"), 2, "out"),
    (("collect", "report", "work.json", "bus", "--diary", "none.diary", "--allow", "-1"), 2, "usage"),
    (("collect", "report", "work.json", "bus", "--diary", "none.diary", "--allow", "much"), 2, "invalid"),
    (("collect", "estimate", "work.json"), 2, "usage"),
    (("collect", "estimate", "work.json", "--state", "none.json"), 2, "no-file"),
    (("collect", "estimate", "work.json", "none.jsonl"), 2, "no-file"),
    (("collect", "estimate", "work.json", "odd.txt", "--confidence", "2"), 2, "usage"),
    (("collect", "estimate", "work.json", "odd.txt", "--state", "s.txt"), 2, "invalid"),
    (("collect", "estimate", "work.json", "odd.txt", "--state", "work.json"), 2, "malformed"),
    (("collect", "estimate", "work.json", "odd.txt", "--state", "nowhere/s.json"), 2, "out"),
    (("collect", "estimate", "work.json", "--state", "other.state.json"), 3, "campaign"),
    (("collect", "estimate", "other.json", "odd.txt", "--state", "other.state.json", "--capacity", "9"), 2, "usage"),
    (("collect", "merge", "other.state.json", "--out", "x.json"), 2, "usage"),
    (("collect", "merge", "other.state.json", "other.state.json"), 2, "usage"),
    (("collect", "merge", "other.state.json", "work.json", "--out", "x.json"), 2, "malformed"),
    (("collect", "merge", "other.state.json", "other.state.json", "--out", "work.json"), 2, "out"),
    (("collect", "merge", "other.state.json", "other.state.json", "--out", "x.txt"), 2, "invalid"),
]


def test_what_cannot_be_is_refused_and_changes_nothing(run: Run, place: Path) -> None:
    run(*NEW)
    run(*NEW[:-1], "other.json")
    Path("odd.txt").write_bytes(b"\xff{")
    run("collect", "estimate", "other.json", "odd.txt", "--state", "other.state.json", "--capacity", "100")
    before = {each.name: each.read_bytes() for each in place.iterdir() if each.is_file()}
    for words, code, name in WRONG:
        refused = run(*words, "--json")
        assert (refused.exit_code, error(refused)["code"]) == (code, name), (words, refused.stderr)
    assert {each.name: each.read_bytes() for each in place.iterdir() if each.is_file()} == before


def test_hints_are_those_of_the_command_line(run: Run) -> None:
    run(*NEW)
    run("collect", "new", "Far?", "--between", "-9:9", "--epsilon", "1", "--out", "far.json")
    run("collect", "new", "Which?", "--words", "a-c:3", "--epsilon", "1", "--out", "words.json")
    assert "-- before a number below 0" in run("collect", "report", "far.json", "-5").stderr
    assert run("collect", "report", "far.json", "--", "-5").exit_code == 0
    assert "-- before" not in run("collect", "report", "far.json", "-x").stderr
    assert "words of 1 to 3 letters, out of abc" in run("collect", "report", "words.json", "Cab").stderr
    words = ("collect", "report", "work.json", "bus", "--diary", "me.diary")
    assert "--allow 5 begins one" in run(*words).stderr
    assert run(*words, "--allow", "2").exit_code == 0
    other = run(*words, "--allow", "3")
    assert other.exit_code == 3 and "leave --allow out" in other.stderr
    assert "'work.json' is not the state" in run("collect", "estimate", "work.json", "--state", "work.json").stderr


def test_prices_are_said_as_they_are(run: Run) -> None:
    """A third is more than 0.333333."""
    run(*NEW[:-4], "--epsilon", "1/3", "--out", "work.json")
    assert "at most ε = 1/3;" in run("collect", "report", "work.json", "bus").stderr
    sent = run("collect", "report", "work.json", "bus", "--diary", "me.diary", "--allow", "2/3")
    assert "ε = 1/3 of 2/3" in sent.stderr
    assert run("collect", "estimate", "work.json", "-", typed=sent.stdout).stdout.rstrip().endswith("ε = 1/3")


def test_campaigns_and_reports_come_by_pipes(run: Run) -> None:
    """As a shell makes them of <(another command): what is in a pipe comes now."""
    run(*NEW)
    reports_of("work.json", ["bus"] * 3)
    found = []
    for name in ("work.json", "reports.jsonl"):
        read, write = os.pipe()
        os.write(write, Path(name).read_bytes())
        os.close(write)
        found.append(read)
    said = data(run("collect", "estimate", *(f"/dev/fd/{each}" for each in found), "--json"))
    for each in found:
        os.close(each)
    assert said["n"] == 3


def test_a_state_of_another_ending_is_refused_before_anything_is_counted(run: Run) -> None:
    run(*NEW)
    reports_of("work.json", ["bus"] * 3)
    with mock.patch("discreet.local.collector.Collector.extend", side_effect=AssertionError):
        for ending in ("txt", "jsonl"):
            refused = run("collect", "estimate", "work.json", "reports.jsonl", "--state", f"s.{ending}", "--json")
            assert error(refused)["code"] == "invalid"


def test_a_state_that_cannot_be_written_stays_as_it_was(run: Run) -> None:
    run(*NEW)
    reports_of("work.json", ["bus"] * 3)
    words = ("collect", "estimate", "work.json", "reports.jsonl", "--state", "s.json")
    assert run(*words, *SMALL).exit_code == 0
    before = Path("s.json").read_bytes()
    with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")):
        assert error(run(*words, "--json"))["code"] == "out"
    assert Path("s.json").read_bytes() == before and sorted(Path().glob(".s.json*")) == []


def test_a_link_to_a_state_stays_a_link(run: Run) -> None:
    """Whoever adds through it, or by the name of the file, adds to one state."""
    run(*NEW)
    Path("kept").mkdir()
    Path("s.json").symlink_to(Path("kept") / "real.json")
    for place, name in enumerate(("s.json", "kept/real.json", "s.json")):
        reports_of("work.json", ["bus"], f"{place}.jsonl")
        more = SMALL if not place else ()
        assert data(run("collect", "estimate", "work.json", f"{place}.jsonl", "--state", name, *more, "--json"))["n"]
    assert Path("s.json").is_symlink() and Collector.load("kept/real.json").n == 3


def test_links_lead_to_their_files(tmp_path: Path) -> None:
    link, file = tmp_path / "link.json", tmp_path / "file.json"
    link.symlink_to(file)
    assert linked(str(link)) == linked(str(file)) == str(file) and linked("s.json") == "s.json"


def _add(run: Run, path: str, ready: Any) -> None:
    ready.wait(60)
    run("collect", "estimate", "work.json", path, "--state", "s.json", "--json")


def test_two_commands_at_once_lose_nothing(run: Run) -> None:
    """Whoever comes second waits, and adds to what the first has left."""
    run(*NEW)
    for part in range(3):
        reports_of("work.json", ["bus"] * 20, f"{part}.jsonl")
    Collector(campaign_of("work.json"), capacity=1000).save("s.json")
    context = get_context("fork")
    ready = context.Barrier(4)
    others = [context.Process(target=_add, args=(run, f"{part}.jsonl", ready)) for part in range(3)]
    for each in others:
        each.start()
    with alone("s.json"):  # after they are there: a child would share the lock
        ready.wait(60)
        time.sleep(0.2)
        assert Collector.load("s.json").n == 0
    for each in others:
        each.join(60)
    assert Collector.load("s.json").n == 60


def test_an_older_state_is_not_added_to_the_newer_one(run: Run) -> None:
    run(*NEW)
    reports_of("work.json", ["bus"] * 4, "a.jsonl")
    reports_of("work.json", ["bus"] * 4, "b.jsonl")
    for state, parts in (("old.json", ("a.jsonl",)), ("new.json", ("a.jsonl", "b.jsonl")), ("b.json", ("b.jsonl",))):
        run("collect", "estimate", "work.json", *parts, "--state", state, *SMALL)
    for states in (("old.json", "new.json"), ("new.json", "old.json"), ("old.json", "b.json", "new.json")):
        refused = run("collect", "merge", *states, "--out", "sum.json")
        assert refused.exit_code == 2 and f"'{states[-1]}': one of two collectors" in refused.stderr
        assert not Path("sum.json").exists()
    assert run("collect", "merge", "old.json", "b.json", "--out", "sum.json").stdout.startswith("8 reports count")


def test_many_answers_are_shown_in_part(run: Run) -> None:
    run("collect", "new", "Cell?", "--cells", "100", "--epsilon", "8", "--out", "c.json")
    reports_of("c.json", [77] * 30)
    words = ("collect", "estimate", "c.json", "reports.jsonl")
    some, every = run(*words).stdout.splitlines(), run(*words, "--all").stdout.splitlines()
    assert some[4].startswith("77 ") and "… 70 more: --all" in "\n".join(some)
    assert "the largest of 100 shares miss most often" in some[-1] and "largest" not in every[-1]
    assert len(every) == len(some) + 69


def test_a_state_that_is_too_small_is_told(run: Run) -> None:
    run(*NEW)
    reports_of("work.json", ["bus"] * 40)
    found = run("collect", "estimate", "work.json", "reports.jsonl", "--capacity", "4")
    assert "are taken for copies" in found.stdout and "--capacity" in found.stdout
