"""A diary spends one total, whoever asks, from wherever, and whatever dies: every report is paid for, and none is told twice."""

import copy
import json
import os
import pickle
import stat
import threading
import time
from collections.abc import Callable
from fractions import Fraction as F
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import numpy as np
import pytest

from discreet.errors import DiscreetError, Fault, Invalid, Refused
from discreet.local import Campaign, Client, Diary, Rounds
from discreet.local import diary as diaries
from discreet.local.diary_record import Answered, DiaryRecord
from discreet.noise import Tape
from tests.local.cases import LATER
from tests.scale import repeats

HASH = "ab" * 32


def plain(number: int, epsilon: F = F(1)) -> Campaign:
    return Campaign("Q", 3, "k-ary", epsilon, bytes([number, *bytes(15)]), LATER)


def round_of(number: int, question: str = "Q", labels: Any = ("a", "b", "c"), epsilon: F = F(1)) -> Campaign:
    domain = Rounds(labels, F(1, 2), bytes(16))
    return Campaign(question, domain, "memo-k-ary", epsilon, bytes([number, *bytes(15)]), LATER)


def refused(client: Client, value: Any) -> str:
    with pytest.raises(Refused) as refusal:
        client.report(value)
    return refusal.value.code


def totals_are_spent_to_the_last_and_not_beyond() -> None:
    diary = Diary(F(5, 2))
    for number in range(2):
        Client(plain(number), diary=diary).report(1)
    assert diary.spent == 2 and diary.remaining == F(1, 2) and diary.epsilon == F(5, 2)
    tape = Tape(1)
    assert refused(Client(plain(3), diary=diary, source=tape), 1) == "budget"
    assert tape.used == 0 and plain(3).id not in diary.campaigns
    Client(plain(4, F(1, 2)), diary=diary).report(1)
    assert diary.remaining == 0 and refused(Client(plain(5, F(1, 10**6)), diary=diary), 1) == "budget"
    Client(plain(1), diary=diary).report(1)  # what was answered is given again


def test_totals_are_spent_to_the_last_and_not_beyond() -> None:
    totals_are_spent_to_the_last_and_not_beyond()


def first_answers_stand(tmp_path: Path) -> None:
    """In memory and in a file, for another value and another token, by a client that knows of nothing."""
    for diary in (Diary(1), Diary.open(tmp_path / "mine", epsilon=1)):
        report = Client(plain(0), diary=diary).report(1)
        assert {Client(plain(0), diary=diary).report(value, bytes(16)) for value in range(3)} == {report}
        assert diary.spent == 1
    assert Client(plain(0), diary=Diary.open(tmp_path / "mine")).report(2) == report


def test_first_answers_stand(tmp_path: Path) -> None:
    first_answers_stand(tmp_path)


class Broken:
    """A source that fails at the first draw, after a look at what the diary says then."""

    private = True

    def __init__(self, look: Callable[[], object]) -> None:
        self.look, self.seen, self.stock = look, [], dict[Any, Any]()  # type: ignore[var-annotated]

    def fill(self, out: Any) -> NoReturn:
        self.seen.append(self.look())
        raise ZeroDivisionError

    def bits(self, count: int) -> NoReturn:
        self.fill(None)


def charges_stand_before_anything_is_drawn(tmp_path: Path) -> None:
    """What fails in the midst has paid, and pays for the next attempt at the same campaign, and for no other."""
    path = tmp_path / "mine"
    for campaign, value in ((plain(0), 1), (round_of(1), "b")):
        path.unlink(missing_ok=True)
        diary = Diary.open(path, epsilon=F(3, 2))
        broken = Broken(lambda: DiaryRecord.from_json(path.read_text()))
        with pytest.raises(ZeroDivisionError):
            Client(campaign, diary=diary, source=broken).report(value)
        assert broken.seen == [DiaryRecord(F(3, 2), {campaign.id: Answered(F(1))})]
        assert diary.spent == 1 and refused(Client(plain(9), diary=diary), 0) == "budget"
        Client(campaign, diary=diary).report(value)
        assert diary.spent == 1


def test_charges_stand_before_anything_is_drawn(tmp_path: Path) -> None:
    charges_stand_before_anything_is_drawn(tmp_path)


def rounds_cost_epsilon_for_each_value() -> None:
    diary, spent = Diary(2), []
    for number, value in enumerate("aabab"):
        Client(round_of(number), diary=diary).report(value)
        spent.append(diary.spent)
    assert spent == [1, 1, 2, 2, 2]
    assert refused(Client(round_of(7), diary=diary), "c") == "budget"
    Client(round_of(7), diary=diary).report("a")


def an_attempt_that_was_free_pays_for_no_new_value() -> None:
    """The draw of a round failed; by the next attempt the person's value is another one."""
    diary = Diary(2)
    Client(round_of(0), diary=diary).report("a")
    with pytest.raises(ZeroDivisionError):
        Client(round_of(1), diary=diary, source=Broken(lambda: None)).report("a")
    assert diary.spent == 1
    Client(round_of(1), diary=diary).report("b")
    assert diary.spent == 2


def test_an_attempt_that_was_free_pays_for_no_new_value() -> None:
    an_attempt_that_was_free_pays_for_no_new_value()


def test_rounds_cost_epsilon_for_each_value() -> None:
    rounds_cost_epsilon_for_each_value()


def rounds_of_other_terms_are_another_series() -> None:
    """Whoever writes campaigns might have permanent answers told under other labels: nothing is shared but between equal terms."""
    diary = Diary(10)
    others = [
        round_of(1, question="Another?"),
        round_of(2, labels=("b", "a", "c")),
        round_of(3, labels=("a", "b", "c", "d")),
        round_of(4, epsilon=F(3, 2)),
        Campaign("Q", Rounds(("a", "b", "c"), F(1, 2), b"x" * 16), "memo-k-ary", 1, bytes(16), LATER),
        Campaign("Q", Rounds(("a", "b", "c"), F(1, 4), bytes(16)), "memo-k-ary", 1, bytes(16), LATER),
        Campaign("Q", Rounds(("a", "b", "c"), F(1, 2), bytes(16)), "memo-hashing", 1, bytes(16), LATER),
    ]
    total = F(0)
    for campaign in (round_of(0), *others):
        Client(campaign, diary=diary).report("a")
        total += campaign.epsilon
        assert diary.spent == total
    assert len({each.series for each in (round_of(0), round_of(9), *others)}) == 1 + len(others)


def test_rounds_of_other_terms_are_another_series() -> None:
    rounds_of_other_terms_are_another_series()


def test_a_value_that_cannot_be_costs_nothing() -> None:
    diary = Diary(1)
    for value in (3, "a", None, True):
        with pytest.raises(Invalid):
            Client(plain(0), diary=diary).report(value)
    late = Client(plain(0), diary=diary, clock=lambda: LATER)
    assert refused(late, 1) == "expired" and diary.spent == 0 and diary.campaigns == frozenset()


# Kills. A child dies at its n-th call of the system, for every n; the parent asks again.

CALLS = ("fsync", "chmod", "replace", "open", "close")


def dying(n: int, work: Callable[[], bytes], out: int) -> NoReturn:
    """This child does its work, and is killed before its n-th call; what it hands out goes to a pipe."""
    left = [n]

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def before(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                os._exit(9)
            return call(*arguments, **named)

        return before

    try:
        write = os.write
        for name in CALLS:
            setattr(os, name, counted(getattr(os, name)))
        write(out, work())
        os._exit(0)
    except BaseException:
        os._exit(1)


def outcome(work: Callable[[int], NoReturn]) -> tuple[int, bytes]:
    """How a forked child ended, and what it handed out."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        work(write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


def kills_cost_no_privacy(tmp_path: Path) -> None:
    """Wherever a process dies: what it handed out is what is kept, the charge is there before, and it is charged once."""
    campaign = round_of(0)
    for n in range(1, 100):
        path = tmp_path / str(n)
        Diary.open(path, epsilon=1)
        client = Client(campaign, diary=Diary.open(path))
        code, told = outcome(lambda out, n=n, client=client: dying(n, lambda: client.report("a"), out))  # type: ignore[misc]
        assert code in (0, 9)
        left = DiaryRecord.from_json(path.read_text())
        assert not told or left.answers[campaign.id] == Answered(F(1), told)
        again = Client(campaign, diary=Diary.open(path)).report("a")
        assert not told or again == told
        record = DiaryRecord.from_json(path.read_text())
        assert record.spent == 1 and record.report(campaign.id) == again
        assert all(record.lasting[series] == kept for series, kept in left.lasting.items())
        if not code:
            break
    assert n > 8 and told


def test_kills_cost_no_privacy(tmp_path: Path) -> None:
    kills_cost_no_privacy(tmp_path)


def threads_spend_one_total(tmp_path: Path) -> None:
    for diary in (Diary(3), Diary.open(tmp_path / "mine", epsilon=3)):
        reports: list[bytes] = []
        same: set[bytes] = set()

        def ask(number: int, diary: Diary = diary, reports: list[bytes] = reports, same: set[bytes] = same) -> None:
            same.add(Client(plain(0), diary=diary).report(1))
            for campaign in range(1 + number, 9):
                try:
                    reports.append(Client(plain(campaign), diary=diary).report(1))
                except Refused as refusal:
                    assert refusal.code == "budget"

        together = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in together:
            thread.start()
        for thread in together:
            thread.join()
        assert diary.spent == 3 and len(same) == 1 and len(set(reports)) == 2


def test_threads_spend_one_total(tmp_path: Path) -> None:
    threads_spend_one_total(tmp_path)


def threads_in_memory_wait_for_each_other() -> None:
    """The first draws while the second waits: both have asked when one report is left."""
    diary, codes = Diary(1), list[str]()

    def draw(known: bytes | None, others: list[bytes]) -> tuple[bytes, None]:
        asking.start()
        asking.join(0.05)  # it waits for this report, or is wrong
        assert asking.is_alive()
        return b"report", None

    def ask() -> None:
        codes.append(diary.report(HASH, F(1), lambda known, others: (b"another", None)).decode())

    asking = threading.Thread(target=ask)
    assert diary.report(HASH, F(1), draw) == b"report"
    asking.join()
    assert codes == ["report"] and diary.spent == 1


def test_threads_in_memory_wait_for_each_other() -> None:
    threads_in_memory_wait_for_each_other()


def told(diary: Diary, numbers: range) -> bytes:
    """The reports of these campaigns, as far as the diary allows them."""
    reports = []
    for number in numbers:
        try:
            reports.append(Client(plain(number), diary=diary).report(1))
        except Refused as refusal:
            assert refusal.code == "budget"
    return b"".join(reports)


def processes_spend_one_total(tmp_path: Path) -> None:
    """Some have opened the file before they were forked, some after."""
    path = tmp_path / "mine"
    diary = Diary.open(path, epsilon=5)
    read, write = os.pipe()
    children = []
    for number in range(4):
        child = os.fork()
        if not child:
            try:
                os.write(write, told(diary if number % 2 else Diary.open(path), range(4 * number, 4 * number + 4)))
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        reports = pipe.read()
    assert diary.spent == 5 and len(reports) == 5 * 35
    assert told(diary, range(16)) in (b"".join(sorted_by_campaign(reports)),)


def sorted_by_campaign(reports: bytes) -> list[bytes]:
    order = {plain(number).id[:32]: number for number in range(16)}
    rows = [reports[at : at + 35] for at in range(0, len(reports), 35)]
    return sorted(rows, key=lambda row: order[row[2:18].hex()])


def a_file_is_held_by_one_process_at_a_time(tmp_path: Path) -> None:
    """A child holds the file until it is told to go: nobody else is let in meanwhile, and somebody is afterwards."""
    diary = Diary.open(tmp_path / "mine", epsilon=1)
    (heard, tell), (wait, let_go) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        try:
            with diary._place.held():
                os.write(tell, b"!")
                os.read(wait, 1)
        finally:
            os._exit(0)
    os.read(heard, 1)
    try:
        with mock.patch.object(diaries, "PATIENCE", 0.05), pytest.raises(Fault):
            _ = diary.spent
    finally:
        os.write(let_go, b"!")
        os.waitpid(child, 0)
        for end in (heard, tell, wait, let_go):
            os.close(end)
    assert diary.spent == 0


def test_a_file_is_held_by_one_process_at_a_time(tmp_path: Path) -> None:
    a_file_is_held_by_one_process_at_a_time(tmp_path)


def test_processes_spend_one_total(tmp_path: Path) -> None:
    processes_spend_one_total(tmp_path)


def a_diary_in_memory_is_not_spent_by_children() -> None:
    diary = Diary(5)
    client = Client(plain(0))

    def in_child(out: int) -> NoReturn:
        codes = []
        for each in (Client(plain(1), diary=diary), client):
            try:
                each.report(1)
            except Refused as refusal:
                codes.append(refusal.code)
        os.write(out, ",".join(codes).encode())
        os._exit(0)

    assert outcome(in_child) == (0, b"forked,forked")
    Client(plain(1), diary=diary).report(1)


def test_a_diary_in_memory_is_not_spent_by_children() -> None:
    a_diary_in_memory_is_not_spent_by_children()


def no_fork_happens_while_a_diary_is_in_use(tmp_path: Path) -> None:
    """A child that had a share in the lock would hold it after its parent was killed, or forever."""
    diary = Diary.open(tmp_path / "mine", epsilon=5)
    inside, order = threading.Event(), list[str]()

    def draw(known: bytes | None, others: list[bytes]) -> tuple[bytes, None]:
        inside.set()
        time.sleep(0.05)
        order.append("drawn")
        return b"report", None

    thread = threading.Thread(target=diary.report, args=(HASH, F(1), draw))
    thread.start()
    inside.wait()

    def in_child(out: int) -> NoReturn:
        os.write(out, f"{order} {Diary.open(tmp_path / 'mine').spent}".encode())
        os._exit(0)

    assert outcome(in_child) == (0, b"['drawn'] 1")
    thread.join()


def test_no_fork_happens_while_a_diary_is_in_use(tmp_path: Path) -> None:
    no_fork_happens_while_a_diary_is_in_use(tmp_path)


def diaries_are_for_their_owner_alone(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        Client(plain(0), diary=Diary.open(tmp_path / "mine", epsilon=1)).report(1)
    finally:
        os.umask(mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"mine": 0o600, "mine.lock": 0o600}


def test_diaries_are_for_their_owner_alone(tmp_path: Path) -> None:
    diaries_are_for_their_owner_alone(tmp_path)


def links_lead_to_one_diary(tmp_path: Path) -> None:
    Diary.open(tmp_path / "mine", epsilon=1)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    Client(plain(0), diary=Diary.open(tmp_path / "link")).report(1)
    assert Diary.open(tmp_path / "mine").spent == 1 and (tmp_path / "link").is_symlink()


def test_links_lead_to_one_diary(tmp_path: Path) -> None:
    links_lead_to_one_diary(tmp_path)


def test_there_are_no_copies() -> None:
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="spend one total twice"):
            way(Diary(1))
    for way in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            way(Client(plain(0)))


def totals_are_not_raised_by_opening(tmp_path: Path) -> None:
    Diary.open(tmp_path / "mine", epsilon=F(1, 2))
    assert Diary.open(tmp_path / "mine", epsilon=0.5).remaining == F(1, 2)
    for other in (1, F(1, 4)):
        with pytest.raises(Refused) as refusal:
            Diary.open(tmp_path / "mine", epsilon=other)
        assert refusal.value.code == "budget"
    assert Diary.open(tmp_path / "mine").epsilon == F(1, 2)


def test_totals_are_not_raised_by_opening(tmp_path: Path) -> None:
    totals_are_not_raised_by_opening(tmp_path)


@pytest.mark.parametrize("epsilon", [0, -1, "5", None, True, float("nan"), float("inf")])
def test_totals_that_are_none_are_refused(tmp_path: Path, epsilon: Any) -> None:
    with pytest.raises(Invalid):
        Diary(epsilon)
    with pytest.raises(Invalid):
        Diary.open(tmp_path / "mine", epsilon=epsilon)
    assert not (tmp_path / "mine").exists()


RECORD = DiaryRecord(
    F(3),
    {HASH: Answered(F(1, 3), b"report"), "cd" * 32: Answered(F(2))},
    {HASH: {0: b"\0", 12: b"\2"}, "ef" * 32: {}},
)


def edited(**change: Any) -> str:
    return json.dumps(json.loads(RECORD.to_json()) | change, sort_keys=True, separators=(",", ":"))


OTHER_TEXTS = [
    "",
    "{}",
    edited(version=0),
    edited(version=True),
    edited(more=1),
    edited(format="discreet.local.campaign"),
    edited(epsilon=3),
    edited(epsilon="6/2"),
    edited(epsilon="2"),  # more is spent than is allowed
    edited(epsilon="-1"),
    edited(answers=[]),
    edited(answers={"ab": {"charged": "1", "report": None}}),
    edited(answers={HASH: {"charged": "-1", "report": None}}),
    edited(answers={HASH: {"charged": 1, "report": None}}),
    edited(answers={HASH: {"charged": "1", "report": ""}}),
    edited(answers={HASH: {"charged": "1", "report": "AA"}}),
    edited(answers={HASH: {"charged": "1"}}),
    edited(answers={HASH: "1"}),
    edited(lasting={HASH: {"-1": "00"}}),
    edited(lasting={HASH: {"01": "00"}}),
    edited(lasting={HASH: {"1" * 20: "00"}}),
    edited(lasting={HASH: {"\u0663": "00"}}),
    edited(lasting={HASH: {"1": ""}}),
    edited(lasting={HASH: 1}),
    edited(lasting={"AB" * 32: {}}),
    RECORD.to_json() + "\n",
    "\u00e9",
]


@pytest.mark.parametrize("text", OTHER_TEXTS, ids=range(len(OTHER_TEXTS)))
def test_what_is_no_diary_is_refused_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine"
    path.write_text(text, "utf-8")
    with pytest.raises(Invalid, match="mine" if "version" not in text or '"version":1' in text else "version"):
        Diary.open(path, epsilon=3)
    assert path.read_text("utf-8") == text


def diaries_are_read_as_they_were_written() -> None:
    assert DiaryRecord.from_json(RECORD.to_json()) == RECORD


def test_diaries_are_read_as_they_were_written() -> None:
    diaries_are_read_as_they_were_written()


def later_diaries_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text(edited(version=2))
    with pytest.raises(Invalid) as refusal:
        Diary.open(tmp_path / "mine")
    assert refusal.value.code == "version"


def test_later_diaries_are_refused(tmp_path: Path) -> None:
    later_diaries_are_refused(tmp_path)


def test_damaged_diaries_are_refused_or_whole() -> None:
    """Flipped bits: what is read at all is written as it was read."""
    draw = np.random.default_rng(5)
    data = RECORD.to_json().encode()
    for _ in range(repeats(1000)):
        raw = bytearray(data)
        for place in draw.integers(len(raw), size=draw.integers(1, 4)):
            raw[place] ^= 1 << int(draw.integers(7))
        try:
            text = raw.decode()
            assert DiaryRecord.from_json(text).to_json() == text
        except (Invalid, UnicodeDecodeError):
            continue


@pytest.mark.parametrize("path", [5, None, b"mine", "mi\0ne"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(Invalid, match="path of a file"):
        Diary.open(path, epsilon=1)


def what_cannot_be_read_again_is_not_written(tmp_path: Path) -> None:
    """Prices of hundreds of digits, and campaigns that are none: what stands in the diary stays readable."""
    diary, long = Diary.open(tmp_path / "mine", epsilon=3), F(10**500 + 1, 10**500)
    for campaign, price in ((HASH, long), ("zz", F(1)), (HASH.upper(), F(1))):
        with pytest.raises(Invalid):
            diary.report(campaign, price, lambda known, others: (b"x", None))
    assert diary.spent == 0
    for make in (lambda: plain(0, long), lambda: Diary(long), lambda: round_of(0, epsilon=long)):
        with pytest.raises(Invalid, match="400 digits"):
            make()


def test_what_cannot_be_read_again_is_not_written(tmp_path: Path) -> None:
    what_cannot_be_read_again_is_not_written(tmp_path)


def a_report_is_not_interrupted_by_another() -> None:
    """As by a handler of signals, in the same thread: one of the two charges would be written over by the other."""
    diary = Diary(5)

    def interrupted(known: bytes | None, others: list[bytes]) -> tuple[bytes, None]:
        with pytest.raises(Fault):
            diary.report("cd" * 32, F(1), lambda known, others: (b"other", None))
        return b"own", None

    assert diary.report(HASH, F(1), interrupted) == b"own" and diary.spent == 1
    assert diary.report("cd" * 32, F(1), lambda known, others: (b"other", None)) == b"other" and diary.spent == 2


def test_a_report_is_not_interrupted_by_another() -> None:
    a_report_is_not_interrupted_by_another()


def test_what_is_no_campaign_or_diary_is_refused() -> None:
    with pytest.raises(Invalid, match="from_json"):
        Client(plain(0).to_json())  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=r"Diary\.open"):
        Client(plain(0), diary="me.diary")  # type: ignore[arg-type]


def test_a_diary_that_is_gone_or_in_use_is_not_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "folder" / "mine"
    with pytest.raises(DiscreetError):
        Diary.open(path, epsilon=1)
    path.parent.mkdir()
    with pytest.raises(Invalid, match="say epsilon"):
        Diary.open(path)
    assert not any(path.parent.iterdir())
    diary = Diary.open(path, epsilon=1)
    path.unlink()
    with pytest.raises(Fault) as fault:
        Client(plain(0), diary=diary).report(1)
    assert fault.value.code == "diary" and not path.exists()
    Diary.open(path, epsilon=1)
    monkeypatch.setattr(diaries, "PATIENCE", 0.01)

    with open(f"{path}.lock") as file:
        diaries.fcntl.flock(file, diaries.fcntl.LOCK_EX)
        with pytest.raises(Fault):
            assert diary.spent == 0
    assert diary.spent == 0
