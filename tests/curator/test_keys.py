"""What a key names: one request of one analyst, about one source in one version; and what it tells of others, which is nothing."""

from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.amounts import UNIT
from discreet.curator.asked import GENERATED
from discreet.curator.session import Curator
from discreet.curator.sqlite import SQLiteStore
from discreet.errors import Invalid, Refused
from tests.curator.cases import Place, cap, code_of, creation, granted, place, request, spent

TENTH = UNIT // 10
COUNT = "SELECT COUNT(*) AS n FROM visits"
ASKERS: tuple[str | None, ...] = (None, "ana", "bo")
UNUSABLE = ["", "\ud800", "a\0b", "a\nb", "x" * 201, '\x1f[null,"k"]']


def csv(path: Path, rows: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("patient\n" + "".join(f"p{i}\n" for i in range(rows)), "utf-8")
    return path


def curator(folder: Path, file: Path | None = None, **more: Any) -> Curator:
    table: Any = file if file is not None else {"patient": [f"p{i}" for i in range(50)]}
    given = {"epsilon": 100, "max_rows": 1, "analysts": {"ana": {"epsilon": 40}, "bo": {"epsilon": 40}}, **more}
    return Curator({"visits": table}, "patient", ledger=folder / "ledger", **given)


def keys_belong_to_their_analyst(spot: Place) -> None:
    """Whoever uses the key of another meets nothing: neither a refusal, nor an answer, and pays for their own."""
    store = spot.open(creation(5))
    for name in ("ana", "bo"):
        store.add_analyst(name, cap(1))
    for i, order in enumerate(permutations(ASKERS)):
        for asker in order:
            key = f"k{i}"
            assert store.stored(key, asker) is None
            one = granted(store.reserve(request(key, analyst=asker)))
            assert not one.again
            store.settle(one, f"{asker} {i}".encode())
        assert all(store.stored(f"k{i}", asker) == f"{asker} {i}".encode() for asker in ASKERS)
    assert spent(store) == 18 * TENTH and spent(store, "ana") == spent(store, "bo") == 6 * TENTH
    store.verify()


def test_a_key_belongs_to_its_analyst(spot: Place) -> None:
    keys_belong_to_their_analyst(spot)


def former_keys_belong_to_their_analyst() -> None:
    """So do those of release 0.1, which filed them by themselves."""
    with place() as spot:
        store = spot.open(creation(5))
        store.add_analyst("ana", cap(1))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("discreet.curator.request.filed", lambda _, key: key)
            store.settle(granted(store.reserve(request("old", analyst="ana"))), b"kept")
        assert store.stored("old", "ana") == b"kept" and store.named_before("old", "ana")
        assert store.stored("old") is None and not store.named_before("old")
        granted(store.reserve(request("old")))
        assert spent(store) == 2 * TENTH
        store.verify()


def test_a_key_of_release_0_1_belongs_to_its_analyst() -> None:
    former_keys_belong_to_their_analyst()


@pytest.mark.parametrize("key", [GENERATED, GENERATED + "0" * 64])
def test_generated_keys_lie_where_no_caller_can_write(tmp_path: Path, key: str) -> None:
    with curator(tmp_path) as hospital:
        with pytest.raises(Invalid, match="must not begin with"):
            hospital.sql(COUNT, epsilon=1, key=key)
        hospital.sql(COUNT, epsilon=1)
        made = [row.key for row in hospital._store.history() if row.key is not None]
        assert len(made) == 1 and GENERATED in made[0]


@pytest.mark.parametrize("name", UNUSABLE)
def test_names_are_checked_before_they_are_looked_up(tmp_path: Path, name: str) -> None:
    with curator(tmp_path) as hospital:
        acts = [
            lambda: hospital.sql(COUNT, epsilon=1, key=name),
            lambda: hospital.sql(COUNT, epsilon=1, analyst=name),
            lambda: hospital._store.stored(name),
            lambda: hospital._store.stored("k", name),
            lambda: hospital._store.standing(name),
            lambda: hospital._store.remove_analyst(name),
            lambda: hospital._store.set_cap(cap(1), name),
        ]
        for act in acts:
            with pytest.raises(Invalid):
                act()
        assert hospital.spent.epsilon == 0


def test_what_an_analyst_is_told_is_the_same_whatever_others_do(tmp_path: Path) -> None:
    """Receipts, balances and refusals of ana, beside an idle and a busy bo who uses the same questions and keys."""
    told = []
    for busy in (False, True):
        with curator(tmp_path / str(busy)) as hospital:
            heard: list[object] = []
            for i in range(3):
                for key in (None, f"key {i}"):
                    if busy:
                        hospital.sql(COUNT, epsilon=1 + i, key=key, analyst="bo")
                        hospital.sql(COUNT, epsilon=1 + i, key=key)
                    answer = hospital.sql(COUNT, epsilon=1 + i, key=key, analyst="ana")
                    heard += [answer.receipt, answer.remaining]
            heard += [code_of(lambda: hospital.sql(COUNT, epsilon=9, key="key 0", analyst="ana"))]
            told.append(heard)
    assert told[0] == told[1]


def test_a_shared_answer_does_not_tell_whose_it_was(tmp_path: Path) -> None:
    from dataclasses import replace

    with curator(tmp_path) as hospital:
        hospital.policy = replace(hospital.policy, share_answers=True)
        first = hospital.sql(COUNT, epsilon=1)
        second = hospital.sql(COUNT, epsilon=1, analyst="ana")
        assert first.rows == second.rows and hospital.spent.epsilon == 1
        assert first.receipt["ledger"] == {"sequence": 4} and second.receipt["ledger"] is None


def an_answer_belongs_to_its_source(folder: Path) -> None:
    """One ledger for two files about the same people: each has its own answer, its own charge, and keeps it."""
    files = [csv(folder / year / "visits.csv", rows) for year, rows in (("2023", 1000), ("2024", 10))]
    for again in range(2):
        for file, rows in zip(files, (1000, 10), strict=True):
            with curator(folder, file) as hospital:
                assert abs(hospital.sql(COUNT, epsilon=20).rows[0][0] - rows) < 100  # type: ignore[operator]
                assert hospital.spent.epsilon == 20 * (2 if again or rows == 10 else 1)


def test_an_answer_belongs_to_its_source(tmp_path: Path) -> None:
    an_answer_belongs_to_its_source(tmp_path)


def test_an_answer_is_kept_where_data_and_ledger_move_together(tmp_path: Path) -> None:
    with curator(tmp_path / "here", csv(tmp_path / "here" / "visits.csv", 10), delta=0) as hospital:
        first = hospital.sql(COUNT, epsilon=1)
    (tmp_path / "here").rename(tmp_path / "there")
    with curator(tmp_path / "there", tmp_path / "there" / "visits.csv") as hospital:
        assert hospital.sql(COUNT, epsilon=1) == first


def data_are_of_the_version_they_were_opened_in(folder: Path) -> None:
    """Whoever opened the data before they changed is refused until they open them anew; no kept answer is of other data."""
    file = csv(folder / "visits.csv", 1000)
    with curator(folder, file) as before:
        before.sql(COUNT, epsilon=20)
        with SQLiteStore.open(folder / "ledger", creation=None) as store:
            csv(file, 10)
            store.change_data("2")
        for asked in (COUNT, COUNT + " WHERE patient <> 'p1'"):
            with pytest.raises(Refused) as refusal:
                before.sql(asked, epsilon=20)
            assert refusal.value.code == "data-version" and "anew" in (refusal.value.hint or "")
        assert before.spent.epsilon == 20
    with curator(folder, file, version="2") as after:
        answer = after.sql(COUNT, epsilon=20)
        assert abs(answer.rows[0][0] - 10) < 100 and answer.receipt["data_version"] == "2"  # type: ignore[operator]
        assert after.spent.epsilon == 40


def test_data_are_of_the_version_they_were_opened_in(tmp_path: Path) -> None:
    data_are_of_the_version_they_were_opened_in(tmp_path)


def test_a_change_while_a_question_is_on_its_way_is_noticed() -> None:
    with place() as spot:
        store = spot.open(creation(1))
        store.change_data("2")
        assert code_of(lambda: store.reserve(request("k", Fraction(1, 10)))) == "data-version"
