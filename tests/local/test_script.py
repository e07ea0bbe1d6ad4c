"""The client in JavaScript does what the Python one does: the same campaigns, coins and bytes, and reports by the exact channel."""

import json
from collections.abc import Collection
from fractions import Fraction as F
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare
from typer.testing import CliRunner

from discreet.cli import app
from discreet.errors import Invalid
from discreet.local import Campaign, ClientReport, Collector
from discreet.local.choices import Choices
from discreet.local.domain import AnswerDomain
from discreet.local.hashing import LocalHashing
from discreet.local.memoised import Memoised
from discreet.local.named_attributes import Attribute, Attributes
from discreet.local.numbers import Numbers
from discreet.local.protocol import truth_down
from discreet.local.protocols import PROTOCOLS
from discreet.local.rounds import Rounds
from tests.local.cases import LATER, campaign
from tests.local.hostile import campaigns_of_all, changed_text, put
from tests.local.script import ran
from tests.local.test_campaign import OTHER_TEXTS
from tests.local.test_numbers import OTHER_RANGES, RANGES
from tests.local.test_vectors import VECTORS
from tests.local.vectors import ALL
from tests.scale import repeats

pytestmark = pytest.mark.script

FALSE_ALARM = 1e-6  # of each statistical test, over all of its comparisons


def campaigns_have_the_same_identity_and_coins() -> None:
    found = ran(*({"call": "terms", "text": each["text"]} for each in VECTORS["campaigns"]))
    for vector, terms in zip(VECTORS["campaigns"], found, strict=True):
        protocol = Campaign.from_json(vector["text"]).randomiser
        assert terms == {"id": vector["id"], "code": protocol.code, "size": protocol.size, "coins": vector["coins"]}


def test_campaigns_have_the_same_identity_and_coins() -> None:
    campaigns_have_the_same_identity_and_coins()


def reports_of_one_tape_are_the_same_bytes() -> None:
    vectors = [(each["text"], report) for each in VECTORS["campaigns"] for report in each["reports"]]
    calls = [{"call": "report", "text": text, "answer": one["answer"], "tape": one["tape"]} for text, one in vectors]
    for (_, vector), found in zip(vectors, ran(*calls), strict=True):
        assert found["bytes"] == vector["bytes"] and not found["left"]
        assert found["json"] == ClientReport.from_bytes(bytes.fromhex(vector["bytes"])).to_json()


def test_reports_of_one_tape_are_the_same_bytes() -> None:
    reports_of_one_tape_are_the_same_bytes()


def probabilities_of_the_truth_are_the_same() -> None:
    """For the vectors, and for many other ε and k."""
    random, pairs = Random(11), []
    for _ in range(repeats(1000)):
        k = random.randint(2, 1 << random.randint(2, 20))
        below = random.randint(1, 10 ** random.randint(1, 60))
        pairs.append((min(F(20), max(F(1, 10**6), F(random.randint(1, 20 * below), below))), k))
    told = [[str(epsilon), str(k), str(int(truth_down(epsilon, k) * ALL))] for epsilon, k in pairs]
    told += VECTORS["truths"]
    (found,) = ran({"call": "truths", "pairs": [each[:2] for each in told]})
    wrong = [each for each, one in zip(told, found, strict=True) if each[2] != one]
    assert wrong[:1] == []  # pytest would write down how long lists differ


def test_probabilities_of_the_truth_are_the_same() -> None:
    probabilities_of_the_truth_are_the_same()


def read(text: str) -> str:
    try:
        return Campaign.from_json(text).id
    except Invalid:
        return ""


EDGES = [
    *(
        ("epsilon", f'"{each}"')
        for each in ("20", "401/20", "20000001/1000000", "1/1000000", "1/1000001", "0", "-1", "2/2")
    ),
    *(("expires", each) for each in ("0", "1", "-1", "9007199254740991", "9007199254740992", "true", "1.5")),
    *(("salt", f'"{each}"') for each in ("00" * 15, "00" * 16, "00" * 64, "00" * 65, "0" * 33, "AA" * 16, "")),
    *(
        ("domain", each)
        for each in (
            "1",
            "2",
            "1048576",
            "1048577",
            "[]",
            '["a"]',
            '["a","b"]',
            "[1,1]",
            "null",
            '"ab"',
            "[1,9007199254740992]",
        )
    ),
    *(
        ("question", f'"{each}"')
        for each in ("", "x" * 10_000, "x" * 10_001, "\\ud83d\\ude00" * 10_000, "\\ud83d" * 10_001)
    ),
]
"""Values of campaigns on both sides of every limit."""


def texts_are_campaigns_of_both_or_of_neither() -> None:
    """Texts that are damaged in many ways: what is read is read alike, and all others are refused."""
    random = Random(3)
    texts = [text for each in OTHER_TEXTS if isinstance(text := each(), str) and len(text) < 1000]
    texts += [put(json.loads(campaign().to_json()), (key,), value) for key, value in EDGES]
    far = json.loads(Campaign("Q", Numbers(0, 1), "hybrid", 1, bytes(16), LATER).to_json())
    for low, high in (*RANGES, *OTHER_RANGES):
        for place in ("low", "high"):  # one after the other, and both
            texts.append(put(far, ("domain", place), f'"{low if place == "low" else high}"'))
        far["domain"] |= {"low": str(low), "high": str(high)}
        texts.append(json.dumps(far, sort_keys=True, separators=(",", ":")))
    for one in campaigns_of_all():
        if not isinstance(one.randomiser, Memoised):
            texts += [one.to_json(), *(changed_text(one.to_json(), random) for _ in range(repeats(40)))]
    (found,) = ran({"call": "reading", "texts": texts})
    for text, said in zip(texts, found, strict=True):
        if '"memo-' not in text:
            assert said == read(text) or (said.startswith("Invalid ") and not read(text)), text


def test_texts_are_campaigns_of_both_or_of_neither() -> None:
    texts_are_campaigns_of_both_or_of_neither()


def test_the_file_of_the_command_is_a_campaign_as_it_is(tmp_path: Path) -> None:
    """A page fetches it, and hands over all of its text."""
    file = tmp_path / "work.json"
    words = ("collect", "new", "Où?", "--answer", "bus", "--answer", "vélo 😀", "--epsilon", "1", "--out", str(file))
    assert CliRunner().invoke(app, words).exit_code == 0
    text = file.read_text("utf-8")
    found = ran(
        {"call": "report", "text": text, "answer": "vélo 😀"},
        {"call": "report", "text": text + "\n", "answer": "bus"},
    )
    assert Collector(Campaign.from_json(text)).add(found[0]["json"])
    assert found[1]["error"] == "Invalid malformed" and "without white space" in found[1]["message"]


def test_what_taking_part_costs_is_said_in_the_same_words() -> None:
    texts = [each["text"] for each in VECTORS["campaigns"] if len(json.loads(each["text"])["epsilon"]) < 60]
    found = ran(*({"call": "notice", "text": text} for text in texts))
    assert found == [Campaign.from_json(text).notice for text in texts]


def test_versions_and_protocols_that_are_not_known_are_refused_by_code() -> None:
    later = campaign().to_json().replace('"version":1', '"version":2')
    series = Rounds(3, F(1, 2), bytes(16))
    memos = [name for name, kind in PROTOCOLS.items() if issubclass(kind, Memoised)]
    texts = [later, *(Campaign("Q", series, name, 1, bytes(16), LATER).to_json() for name in memos)]
    (found,) = ran({"call": "reading", "texts": texts})
    assert found == ["Invalid version", *["Invalid protocol"] * len(memos)] and memos


PAIR = Attributes((Attribute("a", 2, "k-ary"), Attribute("b", 3, "unary"), Attribute("c", 3, "hadamard")))
SAMPLED: dict[str, list[tuple[AnswerDomain, Any]]] = {
    "k-ary": [(Choices(5), 3)],
    "unary": [(Choices(4), 1)],
    "hadamard": [(Choices(5), 4)],
    "mean-response": [(Numbers(0, 1, 3), 0.4)],
    "piecewise": [(Numbers(-1, 2, 4), -0.5)],
    "hybrid": [(Numbers(0, F(1, 3), 3), 0.25)],
    "square-wave": [(Numbers(0, 1, 6), 1)],
    "one-attribute": [(PAIR, {"c": 2, "a": 0, "b": 1})],
    "hidden-attribute": [(PAIR, {"c": 2, "a": 1, "b": 0})],
}


def exact_chances(one: Campaign, answer: Any) -> dict[str, float]:
    """The chance of each packed answer, by the channel that is enumerated."""
    protocol, encoded = one.randomiser, one.domain.encoded(answer)
    if isinstance(one.domain, Numbers):
        return {protocol.pack(code).hex(): float(each) for code, each in enumerate(of_number(protocol, encoded))}
    return {protocol.pack(each).hex(): float(protocol.chance(each, encoded)) for each in protocol.outcomes()}


def of_number(protocol: Any, number: F) -> list[F]:
    """The mixture of places, where a number is rounded; else the row of its place."""
    if protocol.places == protocol.steps:
        at = min(int((number - protocol.low) / protocol.step), protocol.steps - 1)
        return [protocol.chance(code, at) for code in range(protocol.codes)]
    below, rest = divmod((number - protocol.low) / protocol.step, 1)
    above = min(below + 1, protocol.steps)
    return [(1 - rest) * protocol.chance(c, below) + rest * protocol.chance(c, above) for c in range(protocol.codes)]


def answers_are_drawn_as_they_are_enumerated(draws: int, names: Collection[str] = SAMPLED) -> None:
    """Pearson's test of what node draws by its secure source, with at least five of each expected; rarer ones are put together."""
    cases = [(Campaign("Q", d, name, 1, bytes(16), LATER), a) for name in names for d, a in SAMPLED[name]]
    found = ran(*({"call": "answers", "text": one.to_json(), "answer": a, "count": draws} for one, a in cases))
    for (one, answer), counts in zip(cases, found, strict=True):
        chances = exact_chances(one, answer)
        assert counts.keys() <= chances.keys() and abs(sum(chances.values()) - 1) < 1e-9
        rare = {each for each, chance in chances.items() if chance * draws < 5}
        usual = [each for each in chances if each not in rare]
        seen = np.array([counts.get(each, 0) for each in usual] + [sum(counts.get(each, 0) for each in rare)])
        expected = np.array([chances[each] for each in usual] + [sum(chances[each] for each in rare)]) * draws
        kept = expected > 0
        test = chisquare(seen[kept], expected[kept], sum_check=False)
        assert test.pvalue > FALSE_ALARM / len(cases), one.protocol


def cells_are_drawn_as_they_are_enumerated() -> None:
    answers_are_drawn_as_they_are_enumerated(2000, ["k-ary"])


def test_answers_are_drawn_as_they_are_enumerated() -> None:
    answers_are_drawn_as_they_are_enumerated(repeats(20_000))


def hashed_answers_are_drawn_as_is_said() -> None:
    """Seeds are uniform in their highest and lowest digits, and the bucket of the own cell is told as often as p says."""
    one, draws = campaign("hashing", 5, F(1)), repeats(10_000)
    protocol = one.randomiser
    assert isinstance(protocol, LocalHashing)
    (counts,) = ran({"call": "answers", "text": one.to_json(), "answer": 2, "count": draws})
    rows = np.array([protocol.unpack(bytes.fromhex(each)) for each in counts])
    assert len(rows) == draws
    told = int((protocol.bucket(rows[:, 0], rows[:, 1], np.array([2], np.uint64)) == rows[:, 2]).sum())
    assert binomtest(told, draws, float(protocol.p)).pvalue > FALSE_ALARM / 6
    for digits in (rows[:, 0] >> 60, rows[:, 0] & 15, rows[:, 1] >> 60, rows[:, 1] & 15, rows[:, 2]):
        assert chisquare(np.bincount(digits.astype(int))).pvalue > FALSE_ALARM / 6


def test_hashed_answers_are_drawn_as_is_said() -> None:
    hashed_answers_are_drawn_as_is_said()


def test_a_collector_counts_every_report() -> None:
    """Of every protocol; tokens differ, and estimates can be made."""
    calls = []
    for vector in VECTORS["campaigns"]:
        calls.append({"call": "many", "text": vector["text"], "answer": vector["reports"][0]["answer"], "count": 20})
    for vector, reports in zip(VECTORS["campaigns"], ran(*calls), strict=True):
        collector = Collector(Campaign.from_json(vector["text"]), capacity=1000)
        assert collector.extend(bytes.fromhex(each) for each in reports) == 20
        assert len({each[36:68] for each in reports}) == 20


def clients_report_once_and_in_time() -> None:
    text, token = campaign().to_json(), "0f" * 16
    once, late, early, given, short = ran(
        {"call": "again", "text": text, "answers": [1, 2, 0]},
        {"call": "report", "text": text, "answer": 1, "now": LATER},
        {"call": "report", "text": text, "answer": 1, "now": LATER - 0.5},
        {"call": "report", "text": text, "answer": 1, "token": token},
        {"call": "report", "text": text, "answer": 1, "token": "0f"},
    )
    assert once[0] == once[1] == once[2]
    assert late.get("error") == "Refused expired" and "bytes" in early
    assert given["bytes"][36:68] == token and short.get("error") == "Invalid invalid"


def test_clients_report_once_and_in_time() -> None:
    clients_report_once_and_in_time()


ODD_ANSWERS: list[tuple[AnswerDomain, str, list[Any]]] = [
    (Choices(5), "k-ary", [5, -1, 1.5, "1", True, None, [1], {}, "secret"]),
    (Choices((1, "b", False)), "k-ary", [True, 0, "1", None, "secret", [], {}]),
    (
        PAIR,
        "one-attribute",
        [{"a": 0, "b": 0}, {"a": 0, "b": 0, "c": 3}, {"a": 0, "b": 0, "c": 0, "secret": 0}, None, []],
    ),
    (Numbers(0, 1), "hybrid", [1.0000001, -1e-300, "0.5", None, True, [], 2**60]),
]


def what_is_not_in_the_domain_is_refused_and_not_said() -> None:
    calls, cases = [], []
    for domain, protocol, answers in ODD_ANSWERS:
        one = Campaign("Q", domain, protocol, 1, bytes(16), LATER)
        for answer in answers:
            cases.append((one, answer))
            calls.append({"call": "report", "text": one.to_json(), "answer": answer})
    for (one, answer), found in zip(cases, ran(*calls), strict=True):
        with pytest.raises(Invalid):
            one.domain.encoded(answer)
        assert found.get("error") == "Invalid invalid" and "secret" not in found["message"], answer


def test_what_is_not_in_the_domain_is_refused_and_not_said() -> None:
    what_is_not_in_the_domain_is_refused_and_not_said()


def numbers_are_the_decimals_that_they_print() -> None:
    """At an ε that leaves hardly any noise: a number next to a place of a fine grid, above it or below it, tells by its rounding."""
    one = Campaign("Q", Numbers(0, 1, 10), "square-wave", 20, bytes(16), LATER)
    cases = [
        (0.3, 3),
        (0.1 + 0.2, 3),
        (0.3 - 2**-54, 2),
        (5e-324, 0),
        (1, 9),
        (0.9, 9),
        (1e-7, 0),
        (0.8999999999999999, 8),
    ]
    calls = [{"call": "report", "text": one.to_json(), "answer": each} for each, _ in cases]
    calls += [{"call": "report", "text": one.to_json(), "answer": str(each), "big": True} for each in (0, 1)]
    results = ran(*calls)
    assert all("bytes" in each for each in results), results
    found = [ClientReport.from_bytes(bytes.fromhex(each["bytes"])).answer[0] for each in results]
    assert found == [*(cell for _, cell in cases), 0, 9]
    protocol: Any = one.randomiser
    assert (
        protocol.window.width == 1
        and [protocol.place(one.domain.encoded(each), None) for each, _ in cases] == found[:-2]
    )


def test_numbers_are_the_decimals_that_they_print() -> None:
    numbers_are_the_decimals_that_they_print()
