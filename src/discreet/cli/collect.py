"""`discreet collect new|report|estimate|merge`: answers that people randomise before they send them.

A campaign is public; a report is what one person sends; a collector's state is counts of reports. Only `report` is told a true answer.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.collect_terms import (
    USUAL,
    answer_of,
    attributes_of,
    campaign_at,
    domain_of,
    protocol_for,
    terms,
)
from discreet.cli.flags import number
from discreet.cli.out import fresh, writable
from discreet.cli.waiting import waiting
from discreet.errors import Invalid, Refused
from discreet.exact import shown, whole
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.local.campaign import Campaign
    from discreet.local.collector import Collector
    from discreet.local.diary import Diary
    from discreet.local.domain import AnswerDomain

app = typer.Typer(help="Answers that people randomise before they send them: local privacy.")
File = Annotated[str, typer.Argument(metavar="CAMPAIGN", help="The file that `collect new` wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DAY = 86_400
PREDICTED = (1_000, 100_000)  # people for whom the ± is told, where nobody says how many there are


@app.command()
def new(
    question: Annotated[str, typer.Argument(help="What is asked.")],
    answer: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A possible answer. Repeatable: all of them.")
    ] = None,
    cells: Annotated[int | None, typer.Option(metavar="K", help="Instead: the answers are 0 … K − 1.")] = None,
    between: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Instead: a number in this range, of which the mean is told.")
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="LETTERS:N", help="Instead: a word, such as a-z:12, of which the frequent ones are found."
        ),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B,C", help="Instead: several attributes of a person in one report. Repeatable."),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="What a report may tell of its person; 1 is usual.")
    ] = None,
    people: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="About how many will answer: predicts the error.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME", help="How answers are randomised (what is best for these).")
    ] = None,
    days: Annotated[int, typer.Option(metavar="D", min=1, max=36_500, help="How long reports count.")] = 30,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Where it goes; it must not exist yet.")] = None,
    as_json: Json = False,
) -> None:
    """Make a campaign: what is asked, which answers there are, how they are randomised, at which epsilon, and until when.

    discreet collect new "How do you come to work?" --answer bus --answer bike --answer car --epsilon 1 --out work.json
    """
    from discreet.local.campaign import Campaign
    from discreet.whole_file import write_whole

    if epsilon is None:
        raise Invalid("the price is missing", code="usage", hint="--epsilon 1 is usual")
    if out is None:
        raise Invalid("where the campaign goes is missing", code="usage", hint="write --out campaign.json")
    target, price = fresh(writable(out)), number(epsilon, "epsilon")
    several = attributes_of(attribute or (), price, people or USUAL)
    domain = domain_of(answer or (), cells, between, words, several)
    name = protocol or protocol_for(domain, price, people or USUAL)
    ends = int(time.time()) + days * DAY
    made = Campaign.new(question, domain, protocol=name, epsilon=price, expires=ends)
    facts = _facts(made, people)
    write_whole(
        target, made.to_json().encode("ascii")
    )  # and no line end: the file is what readers take, and its SHA-256 the identity
    if as_json:
        print(json.dumps(facts | {"out": str(target)}, ensure_ascii=False, indent=2))
        return
    for line in [*terms(made), *_predicted(facts)]:
        print(visible(line))
    print(f"wrote {visible(str(target))}: it is public, and goes to everybody who answers", file=sys.stderr)


def _facts(campaign: "Campaign", people: int | None) -> dict[str, Any]:
    """What a campaign means, as JSON has it: its terms, the bytes of a report, and the ± that so many people would have."""
    from discreet.local.prediction import predicted_error
    from discreet.local.report import HEAD

    sizes = PREDICTED if people is None else (people,)
    return {
        "id": campaign.id,
        "question": campaign.question,
        "protocol": campaign.protocol,
        "epsilon": float(campaign.epsilon),
        "expires": campaign.expires,
        "bytes": HEAD + campaign.randomiser.size,
        "errors": [{"people": size, "error": predicted_error(campaign.randomiser, size)} for size in sizes],
        "unit": "number" if hasattr(campaign.domain, "low") else "share",
    }


def _predicted(facts: dict[str, Any]) -> list[str]:
    """The size of a report, and the predicted ±."""
    from discreet.cli.collect_text import amount

    lines = [f"a report has {facts['bytes']:,} bytes"]
    for each in facts["errors"]:
        if each["error"] is not None:
            mean = facts["unit"] == "number"
            far = f"{amount(each['error'])} of the mean" if mean else f"{amount(100 * each['error'])} % of a share"
            lines.append(f"{each['people']:,} {'person' if each['people'] == 1 else 'people'}: about ± {far}, at 95 %")
    return lines


@app.command()
def report(
    campaign: File,
    answer: Annotated[
        list[str] | None,
        typer.Argument(metavar="ANSWER", help="The true answer; of attributes NAME=ANSWER …; - reads it from stdin."),
    ] = None,
    diary: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Remembers what was sent and its price; begun with --allow."),
    ] = None,
    allow: Annotated[
        str | None, typer.Option(metavar="E", help="Of a new diary: what all campaigns may cost together.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file for it that is not there yet; .bin: as bytes.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A report is JSON anyway.")] = False,
) -> None:
    """Randomise one person's answer, on their own machine: a line of JSON to send. Without an answer it shows the terms.

    discreet collect report work.json bike >> reports.jsonl
    """
    from discreet.local.client import Client
    from discreet.local.memoised import Memoised
    from discreet.local.report import ClientReport
    from discreet.whole_file import write_whole

    asked = campaign_at(campaign)
    if allow is not None and diary is None:
        raise Invalid("--allow is of a diary", code="usage", hint="write --diary diary.json --allow 5")
    if not answer:
        _show_terms(asked, as_json)
        return
    if diary is None and isinstance(asked.randomiser, Memoised):
        raise Invalid("rounds of a series need a diary", code="usage", hint="write --diary diary.json --allow 5")
    target = None if out is None else fresh(writable(out))
    value = answer_of(asked.domain, typed(asked.domain) if answer == ["-"] else answer)
    book = None if diary is None else _diary(diary, allow)
    sent = Client(asked, diary=book).report(value)
    line = ClientReport.from_bytes(sent).to_json()
    if target is None:
        print(line)
    else:
        write_whole(target, sent if target.suffix.lower() == ".bin" else line.encode("ascii") + b"\n")
    if not as_json:
        print(_once(asked, book), file=sys.stderr)


def _diary(path: str, allow: str | None) -> "Diary":
    """The diary in a file; a new one where there is none yet, and it is said what it allows."""
    from discreet.local.diary import Diary

    writable(path)
    if allow is None:
        if not Path(path).exists():
            raise Invalid(f"there is no diary {path!r}", code="no-file", hint="--allow 5 begins one, with 5 in all")
        return Diary.open(path)
    allowed = number(allow, "--allow")
    if allowed <= 0:
        raise Invalid(f"--allow must be positive, got {visible(allow)}", code="usage")
    try:
        return Diary.open(path, allowed)
    except Refused as refusal:
        raise Refused(refusal.message, code=refusal.code, hint="leave --allow out") from None


def _show_terms(asked: "Campaign", as_json: bool) -> None:
    if as_json:
        print(asked.to_json())
        return
    for line in terms(asked):
        print(visible(line))
    print("nothing was sent: to answer, say the answer after the file, or - to type it", file=sys.stderr)


def typed(domain: "AnswerDomain") -> list[str]:
    """The answer that stdin has; of attributes NAME=ANSWER on each line, or at a terminal the answer to each that is asked for."""
    if not sys.stdin.isatty():
        return sys.stdin.read(1 << 20).splitlines()
    names: tuple[str, ...] | None = getattr(domain, "names", None)
    return [_asked("your answer")] if names is None else [f"{name}={_asked(name)}" for name in names]


def _asked(what: str) -> str:
    print(f"{visible(what)}: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().rstrip("\r\n")


def _once(asked: "Campaign", book: Any) -> str:
    if book is None:
        return f"this report tells at most ε = {shown(asked.epsilon)}; another one of the same person would tell as much again"
    return f"all reports of this diary together: ε = {shown(book.spent)} of {shown(book.epsilon)}"


@app.command()
def estimate(
    campaign: File,
    reports: Annotated[
        list[str] | None,
        typer.Argument(metavar="REPORTS", help="Files of reports, one a line (.bin: as bytes); - is stdin."),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Goes on from this file, .json or .parquet, and leaves the new state in it."),
    ] = None,
    confidence: Annotated[str, typer.Option(metavar="C", help="Of each interval by itself.")] = "0.95",
    liars: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Say how far so many liars could have moved an estimate.")
    ] = None,
    capacity: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Reports that a new state is made for (1,048,576).")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every answer, not the most frequent alone.")] = False,
    as_json: Json = False,
) -> None:
    """Count reports, and say what they mean: shares or a mean with their errors, and how many reports do not count, and why.

    discreet collect estimate work.json reports.jsonl --state work.state.json
    """
    from discreet.cli.collect_files import Arrival, alone, linked, readable, reports_in
    from discreet.cli.collect_text import as_data, told
    from discreet.local.states import check_kind

    asked, level = campaign_at(campaign), number(confidence, "confidence")
    if not 0 < level < 1:
        raise Invalid(f"confidence must lie between 0 and 1, got {visible(confidence)}", code="usage")
    files = [readable(each) for each in reports or ()]
    if not files and state is None:
        raise Invalid("there is nothing to count", code="usage", hint="name files of reports, or a --state")
    if state is not None:
        check_kind(state)  # before anything is counted
        if not files and not Path(state).exists():
            raise Invalid(f"there is no file {state!r}", code="no-file", hint="name files of reports to begin a state")
    arrival, state = Arrival(), None if state is None else linked(state)
    with waiting("counting", as_json), nullcontext() if state is None else alone(state):
        collector = _begun(asked, state, capacity, arrival)
        for file in files:
            collector.extend(reports_in(file, collector.campaign, arrival))
        if state is not None and files:
            collector.save(state)
        found = _found(collector, level)
        moved = None if liars is None or found is None else (liars, collector.influence(whole(liars, "liars")))
    if as_json:
        print(json.dumps(as_data(collector, found, moved), ensure_ascii=False, indent=2))
        return
    for line in told(collector, found, moved, every):
        print(line)


def _found(collector: "Collector", level: Fraction) -> Any:
    """The estimates; None where there is nothing to estimate from yet, which is no fault of who asks."""
    from discreet.local.protocol import TOO_FEW

    try:
        return collector.estimates(level)
    except Invalid as refusal:
        if refusal.code != TOO_FEW:
            raise
        return None


def _begun(asked: "Campaign", state: str | None, capacity: int | None, clock: Any) -> "Collector":
    """The collector to go on with: of a state that is there, or a new one."""
    from discreet.local.collector import Collector

    if state is None or not Path(state).exists():
        if state is not None:
            writable(state)
        return Collector(asked, clock=clock) if capacity is None else Collector(asked, capacity=capacity, clock=clock)
    if capacity is not None:
        raise Invalid("the state has its capacity already", code="usage", hint="leave --capacity out")
    collector = _loaded(state, clock=clock)
    if collector.campaign.id != asked.id:
        raise Refused(f"{state!r} is the state of another campaign", code="campaign", hint="name another file")
    return collector


def _loaded(state: str, **more: Any) -> "Collector":
    """The collector whose state is in a file; Invalid, which names it, where it is no state."""
    from discreet.local.collector import Collector

    try:
        return Collector.load(state, **more)
    except Invalid as refusal:
        if refusal.code != "malformed":
            raise
        said = f"{state!r} is not the state of a collector"
        raise Invalid(said, code="malformed", hint="name a file that --state or `collect merge` wrote") from None


@app.command()
def merge(
    states: Annotated[list[str], typer.Argument(metavar="STATES", help="States of one campaign, two or more.")],
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Where the sum goes; it must not exist yet.")] = None,
    as_json: Json = False,
) -> None:
    """Add states of collectors that saw different reports. A copy of a report that two of them saw counts twice.

    discreet collect merge a.json b.json --out both.json
    """
    from discreet.local.states import check_kind

    if out is None:
        raise Invalid("where the sum goes is missing", code="usage", hint="write --out both.json")
    if len(states) < 2:
        raise Invalid("two or more states are merged", code="usage")
    target = fresh(writable(out))
    check_kind(target)
    with waiting("adding", as_json):
        loaded = _all_different(states)
        both = next(loaded)
        for name, each in zip(states[1:], loaded, strict=True):
            both = _added(both, each, name)
        both.save(target)
    if as_json:
        facts = {"campaign": both.campaign.id, "n": both.n, "rejected": both.rejected, "out": str(target)}
        print(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    print(f"{both.n:,} reports count, of {len(states)} states; a copy that two of them saw is counted twice")
    print(f"wrote {visible(str(target))}", file=sys.stderr)


def _added(both: "Collector", each: "Collector", name: str) -> "Collector":
    try:
        return both.merged(each)
    except Invalid as refusal:
        raise Invalid(f"{name!r}: {refusal.message}", code=refusal.code, hint=refusal.hint) from None


def _all_different(states: list[str]) -> "Iterator[Collector]":
    """The collectors of these files, one after the other; Invalid where two say the same, since all of their reports would count twice."""
    known: dict[bytes, int] = {}
    for place, name in enumerate(states):
        collector = _loaded(name)
        earlier = known.setdefault(sha256(collector.to_json().encode("ascii")).digest(), place)
        if collector.n and earlier < place:
            same = f"{visible(name)} is the same state as {visible(states[earlier])}: its reports would count twice"
            raise Invalid(same, code="usage", hint="name each state once")
        yield collector
