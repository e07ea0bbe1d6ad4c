"""The curator from end to end: charged before data is read, settled before anything is released, refused without a trace."""

import copy
import hashlib
import pickle
import traceback
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.curator.asked import Asked
from discreet.curator.policy import Policy
from discreet.curator.session import Curator
from discreet.errors import Fault, Invalid, QueryError, Refused
from discreet.mechanisms import Geometric
from discreet.privacy import events

F = Fraction
ROWS = {
    "patient": ["p1", "p1", "p2", "p3", None, "p4"],
    "age": [30, 31, 50, 70, 20, None],
    "ward": ["A", "B", "A", "A", "A", "Q"],
}
COLUMNS = {"age": {"type": "integer", "bounds": (0, 120)}, "ward": {"keys": ["A", "B", "C"]}}


def curator(folder: Path, **more: Any) -> Curator:
    arguments: dict[str, Any] = {"epsilon": 3, "delta": 1e-6, "ledger": folder / "ledger"} | more
    return Curator({"visits": ROWS}, "patient", COLUMNS, **arguments)


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Curator]:
    with curator(tmp_path) as found:
        yield found


def ledger_bytes(folder: Path) -> str:
    """Everything that a ledger's folder holds, once what is in the write-ahead log is in the file."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.sqlite*")))).hexdigest()


COUNT = "SELECT COUNT(*) AS n FROM visits"


def test_an_answer_is_charged_and_shows_its_error(hospital: Curator) -> None:
    answer = hospital.sql(COUNT, epsilon=0.5)
    assert hospital.spent.epsilon == F(1, 2) and hospital.remaining.epsilon == F(5, 2)
    (row,) = answer.to_dicts()
    assert isinstance(row["n"], int)
    body = answer.to_json()
    assert {"columns", "rows", "error", "confidence", "epsilon", "delta", "remaining", "receipt"} <= set(body)
    assert body["error"][0]["n"] > 0 and body["confidence"] == 0.95 and body["remaining"]["epsilon"] == 2.5


def test_the_same_question_again_is_the_same_bytes_and_free(hospital: Curator) -> None:
    first = hospital.sql("SELECT ward, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY ward", epsilon=1)
    again = hospital.sql("select WARD, count(*) as n\nfrom visits v where v.AGE > 3 group by 1 -- the same", epsilon=1)
    assert first.to_bytes() == again.to_bytes()
    assert hospital.spent.epsilon == 1


@pytest.mark.parametrize(
    "other",
    [
        {"text": "SELECT COUNT(*) AS n FROM visits WHERE age < 30"},
        {"text": "SELECT COUNT(*) AS n FROM visits WHERE age <= 30.0"},
        {"text": "SELECT COUNT(*) AS m FROM visits WHERE age <= 30"},
        {"epsilon": F(1, 5)},
        {"key": "mine"},
    ],
)
def test_a_different_question_is_charged_anew(hospital: Curator, other: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"text": "SELECT COUNT(*) AS n FROM visits WHERE age <= 30", "epsilon": F(1, 10)}
    hospital.sql(**asked)
    hospital.sql(**(asked | other))
    assert hospital.spent.epsilon == F(1, 10) + asked["epsilon"] * (2 if other.get("epsilon") else 1)


def test_ten_tenths_are_one_and_an_eleventh_is_refused(tmp_path: Path) -> None:
    with curator(tmp_path, epsilon=1) as hospital:
        for i in range(10):
            hospital.sql(COUNT, epsilon=0.1, key=f"{i}")
        with pytest.raises(Refused) as refusal:
            hospital.sql(COUNT, epsilon=0.1, key="11")
        assert refusal.value.code == "budget"
        assert hospital.spent.epsilon == 1


@pytest.mark.parametrize("amount", [-1, 0, float("nan"), float("inf"), "0.1", True, 10**400, None])
def test_hostile_prices_are_refused_and_nothing_is_spent(hospital: Curator, amount: Any) -> None:
    with pytest.raises((Invalid, QueryError)):
        hospital.sql(COUNT, epsilon=amount)
    for name in ("delta", "within"):
        if amount not in (0, None):
            with pytest.raises((Invalid, QueryError)):
                hospital.sql(
                    COUNT, **({"epsilon": 1} if name == "delta" else {}), **{name: amount if name == "within" else -1}
                )
    assert hospital.spent.epsilon == 0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT MIN(age) FROM visits",
        "SELECT * FROM visits",
        "DROP TABLE visits",
        "SELECT SUM(ward) FROM visits",
        "\0",
        "(((((",
    ],
)
def test_a_refusal_leaves_the_ledger_as_it_was_and_reads_nothing(tmp_path: Path, text: str) -> None:
    with curator(tmp_path) as hospital:
        hospital.sql(COUNT, epsilon=0.5)
    before = ledger_bytes(tmp_path / "ledger")
    with curator(tmp_path) as hospital:
        with pytest.raises(QueryError):
            hospital.sql(text, epsilon=1)
        assert hospital._engine is None
    assert ledger_bytes(tmp_path / "ledger") == before


def test_preview_and_explain_spend_nothing_and_make_no_ledger(tmp_path: Path) -> None:
    with curator(tmp_path, people=5000) as hospital:
        by_ward = "SELECT ward, AVG(age) AS age FROM visits GROUP BY ward"
        assert "±" in str(hospital.preview(by_ward, epsilon=1, max_total=2))
        assert "too few to tell" in str(hospital.preview(by_ward, epsilon=1)), "of a limit that may be found"
        assert "clamped" in hospital.explain(COUNT.replace("COUNT(*)", "SUM(age)"), epsilon=1)
        assert hospital._engine is None
    assert not (tmp_path / "ledger").exists()


def test_within_pays_the_least_price(hospital: Curator) -> None:
    with pytest.raises(QueryError, match="within needs max_total"):
        hospital.sql(COUNT, within=25)
    assert hospital.spent.epsilon == 0
    answer = hospital.sql(COUNT, within=25, max_rows=5)
    assert answer.to_json()["error"][0]["n"] <= 25
    assert hospital.spent.epsilon < F(7, 10)


def test_the_plan_does_not_depend_on_the_data(tmp_path: Path) -> None:
    """S14, T4: the same text of the plan, byte by byte, and the same price, on data that have nothing in common."""
    from discreet.plan.check import digest

    texts = [
        "SELECT ward, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY ward",
        "SELECT SUM(age) AS s FROM visits WHERE ward LIKE 'Q'",
    ]
    other = {"patient": ["x"] * 1000, "age": [10**15] * 1000, "ward": ["C"] * 1000}
    found = []
    for name, rows in (("one", ROWS), ("two", other), ("none", {"patient": [], "age": [], "ward": []})):
        with Curator({"visits": rows}, "patient", COLUMNS, epsilon=9, ledger=tmp_path / name) as hospital:
            plans = [hospital._plan(Asked(text, epsilon=1)) for text in texts]
            for text in texts:
                hospital.sql(text, epsilon=1)
            found.append(([digest(plan) for plan in plans], [repr(plan) for plan in plans], hospital.spent))
    assert found[0] == found[1] == found[2]


class Broken:
    """An engine that fails with data in its message."""

    def run(self, query: Any, salt: int) -> Any:
        secret = "canary-4711"
        raise RuntimeError(f"cannot cast {secret}")

    def close(self) -> None:
        return


def test_after_data_was_touched_there_is_one_constant_error_and_the_charge_stays(tmp_path: Path) -> None:
    hospital = curator(tmp_path)
    hospital.__dict__["_engine"] = Broken()
    said = set()
    for i, text in enumerate([COUNT, "SELECT SUM(age) AS s FROM visits"]):
        with pytest.raises(Fault) as failure:
            hospital.sql(text, epsilon=0.1)
        assert hospital.spent.epsilon == F(i + 1, 10)
        error = failure.value
        assert error.__cause__ is None and error.__context__ is None
        assert "canary" not in "".join(traceback.format_exception(error))
        said.add((error.code, error.message, error.hint))
    assert len(said) == 1
    with pytest.raises(Refused) as refusal:
        hospital.sql(COUNT, epsilon=0.1)
    assert refusal.value.code == "failed" and hospital.spent.epsilon == F(1, 5)
    hospital.close()


def test_a_data_set_stops_after_ten_failures_until_it_is_resumed(tmp_path: Path) -> None:
    hospital = curator(tmp_path)
    hospital.load()
    sound, hospital.__dict__["_engine"] = hospital._engine, Broken()
    for i in range(10):
        with pytest.raises(Fault):
            hospital.sql(COUNT, epsilon=0.01, key=f"{i}")
    with pytest.raises(Refused) as refusal:
        hospital.sql(COUNT, epsilon=0.01, key="12")
    assert refusal.value.code == "stopped" and "resume" in (refusal.value.hint or "")
    hospital.resume("the engine was exchanged")
    hospital.__dict__["_engine"] = sound
    hospital.sql(COUNT, epsilon=0.01, key="12")
    hospital.close()


def test_a_retry_after_a_crash_is_not_charged_again(tmp_path: Path) -> None:
    """The process dies between the reservation and the settlement: the same question then computes anew, on the first charge."""

    class Dies(Broken):
        def run(self, query: Any, salt: int) -> Any:
            raise KeyboardInterrupt

    hospital = curator(tmp_path)
    hospital.__dict__["_engine"] = Dies()
    with pytest.raises(KeyboardInterrupt):
        hospital.sql(COUNT, epsilon=1)
    hospital.close()
    with curator(tmp_path) as hospital:
        assert hospital.spent.epsilon == 1
        hospital.sql(COUNT, epsilon=1)
        assert hospital.spent.epsilon == 1


def test_curators_cannot_be_copied(hospital: Curator) -> None:
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            way(hospital)


def test_nothing_shown_of_a_curator_holds_data(hospital: Curator) -> None:
    shown = repr(hospital) + repr(hospital.spent) + str(hospital.sql(COUNT, epsilon=1)) + repr(hospital.policy.budget)
    assert not any(value in shown for value in ("p1", "p2", "p3"))


def test_the_unit_is_fixed_when_a_ledger_is_made(tmp_path: Path) -> None:
    with curator(tmp_path) as hospital:
        hospital.sql(COUNT, epsilon=1)
    for change in ({"adjacency": "replace"}, {"unit": None, "row": True}, {"unit": "ward"}):
        arguments: dict[str, Any] = {
            "unit": "patient",
            "epsilon": 3,
            "delta": 1e-6,
            "ledger": tmp_path / "ledger",
        } | change
        with Curator({"visits": ROWS}, columns=COLUMNS, **arguments) as other, pytest.raises(Refused) as refusal:
            other.sql(COUNT, epsilon=1)
        assert refusal.value.code == "relation"


def test_a_lower_budget_takes_effect_at_once_and_a_higher_one_does_not(tmp_path: Path) -> None:
    for epsilon, left in ((3, 3), (2, 2), (5, 2)):
        with curator(tmp_path, epsilon=epsilon) as hospital:
            assert hospital.remaining.epsilon == left


def test_versions_of_the_data_only_go_on(tmp_path: Path) -> None:
    with curator(tmp_path) as hospital:
        first = hospital.sql(COUNT, epsilon=1)
    with curator(tmp_path, version="2") as hospital:
        second = hospital.sql(COUNT, epsilon=1)
        assert hospital.spent.epsilon == 2, "another version of the data is another question"
        assert first.to_bytes() != second.to_bytes()
    with curator(tmp_path) as hospital, pytest.raises(Refused) as refusal:
        hospital.sql(COUNT, epsilon=1)
    assert refusal.value.code == "data-version"


def test_measure_charges_on_entry_and_settles_on_exit(hospital: Curator) -> None:
    noise = Geometric(10)
    with hospital.measure(noise.event(1), label="ages", key="k") as grant:
        assert hospital.spent.epsilon == F(1, 10)
        noisy = grant(noise, 1, lambda: np.array([1, 2, 3]))
        assert noisy.shape == (3,)
    with hospital.measure(noise.event(1), label="ages", key="k") as again:
        assert (again(noise, 1, lambda: 1 / 0) == noisy).all()
        with pytest.raises(Refused) as refusal:
            again(noise, 1, lambda: 1 / 0)
    assert refusal.value.code == "key-settled"
    with pytest.raises(Fault):
        grant(noise, 1, lambda: 3)
    with pytest.raises(Fault), hospital.measure(noise.event(1)) as grant:
        grant(noise, 2, lambda: 3)
    assert hospital.spent.epsilon == F(2, 10)


def test_a_crash_inside_measure_is_not_charged_again(hospital: Curator) -> None:
    noise = Geometric(10)
    for _ in range(3):
        with pytest.raises(RuntimeError), hospital.measure(noise.event(1), key="k"):
            raise RuntimeError
    with hospital.measure(noise.event(1), key="k") as grant:
        grant(noise, 1, lambda: 3)
    assert hospital.spent.epsilon == F(1, 10)


def test_measure_prices_gaussian_noise_at_the_usual_delta(hospital: Curator) -> None:
    with hospital.measure(events.Gaussian(50)):
        spent = hospital.spent
    assert spent.delta == F(1, 10**8) and 0 < spent.epsilon < F(1, 5)


def test_the_zcdp_accountant_charges_rho(tmp_path: Path) -> None:
    with curator(tmp_path, accountant="zcdp", epsilon=1, delta=1e-6, max_rows=5) as hospital:
        for i in range(15):
            hospital.sql(COUNT, epsilon=0.05, key=f"{i}")
        spent = hospital.spent
        assert spent.rho is not None and F(15) * F(1, 20) ** 2 / 2 * F(99, 100) < spent.rho < F(20) * F(
            1, 20
        ) ** 2 / 2 * F(101, 100)
        assert hospital.remaining.rho is not None and hospital.remaining.rho > 0


@pytest.mark.parametrize(
    ("people", "delta", "fate"), [(100, "1e-2", "refused"), (100, "6e-3", "warned"), (100, "1e-6", "fine")]
)
def test_delta_is_judged_by_the_declared_people(tmp_path: Path, people: int, delta: str, fate: str) -> None:
    arguments = {"people": people, "delta": Fraction(delta)}
    if fate == "refused":
        with pytest.raises(Refused) as refusal:
            curator(tmp_path, **arguments)
        assert refusal.value.code == "delta"
    elif fate == "warned":
        with pytest.warns(UserWarning, match="promise nothing"):
            curator(tmp_path, **arguments).close()
    else:
        curator(tmp_path, **arguments).close()


def test_analysts_have_caps_of_their_own(tmp_path: Path) -> None:
    with curator(tmp_path, analysts={"ana": {"epsilon": 1}, "bob": {"epsilon": 1}}, max_rows=5) as hospital:
        hospital.sql(COUNT, epsilon=0.75, analyst="ana")
        with pytest.raises(Refused) as refusal:
            hospital.sql("SELECT SUM(age) AS s FROM visits", epsilon=0.5, analyst="ana")
        assert refusal.value.code == "analyst-budget"
        with pytest.raises(Refused) as refusal:
            hospital.sql(COUNT, epsilon=0.5, analyst="eve")
        assert refusal.value.code == "analyst-unknown"
        first = hospital.sql(COUNT, epsilon=0.75, analyst="ana")
        other = hospital.sql(COUNT, epsilon=0.75, analyst="bob")
        assert hospital.spent.epsilon == F(3, 2), "another analyst's answer is their own"
        assert first.receipt == other.receipt, "a receipt tells an analyst nothing of what others asked"


POLICY = """
version = "1"
[budget]
epsilon = 3
delta = 1e-6
[unit]
column = "patient"
max_groups = 2
people = 100
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
age = { type = "integer", bounds = [0, 120] }
ward = { keys = ["A", "B"] }
[analysts.ana]
epsilon = 0.5
"""


def test_a_policy_file_opens_and_answers(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("patient,age,ward\np1,30,A\np2,40,B\n", "utf-8")
    (tmp_path / "hospital.toml").write_text(POLICY, "utf-8")
    with Curator.open(tmp_path / "hospital.toml") as hospital:
        assert (
            len(hospital.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.1, analyst="ana").rows)
            == 2
        )
    assert (tmp_path / "hospital.toml.ledger" / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("epsilon = 3", "epsilon = -3", "positive"),
        ("epsilon = 3\n", "", "needs an epsilon"),
        ('column = "patient"', "", "must be said"),
        ('column = "patient"', 'column = "patient"\nrow = true', "must be said once"),
        ('column = "patient"', 'column = "patnt"', "did you mean 'patient'"),
        ("max_groups = 2", "max_groups = 0", "max_groups"),
        ("max_groups = 2", "max_group = 2", "did you mean 'max_groups'"),
        ("bounds = [0, 120]", "bounds = [120, 0]", "the first must be below the second"),
        ("bounds = [0, 120]", "bounds = 120", "two numbers"),
        ("bounds = [0, 120]", 'bounds = ["a", "b"]', "two numbers"),
        ('type = "integer"', 'type = "int"', "must be one of"),
        ('keys = ["A", "B"]', 'keys = "A"', "must be a list"),
        ('keys = ["A", "B"]', 'keys = ["A", "A"]', "differ"),
        ("age = {", "agee = {", "did you mean 'age'"),
        ('source = "visits.csv"', 'source = "visit.csv"', "visit.csv"),
        ("[tables.visits]", "[table.visits]", "did you mean 'tables'"),
        ("[budget]", "[budget", "not TOML"),
    ],
)
def test_a_policy_that_cannot_be_used_says_what_to_do(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "visits.csv").write_text("patient,age,ward\np1,30,A\n", "utf-8")
    assert old in POLICY
    (tmp_path / "hospital.toml").write_text(POLICY.replace(old, new), "utf-8")
    with pytest.raises((Invalid, Refused)) as refusal:
        Curator.open(tmp_path / "hospital.toml")
    assert said in str(refusal.value)


def test_a_policy_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="init"):
        Policy.read(tmp_path / "none.toml")


@pytest.mark.parametrize("limits", [{}, {"max_rows": 5}, {"max_rows": None}, {"max_rows": 5, "max_groups": 3}])
def test_an_answer_says_beside_the_error_what_limits_leave_out(tmp_path: Path, limits: dict[str, Any]) -> None:
    with curator(tmp_path, **limits) as hospital:
        answer = hospital.sql(COUNT, epsilon=1)
        found = "nobody declared max_total: found for this question" in " ".join(answer.notes)
        assert found is (limits.get("max_rows") is None) and ("max_total" in answer.receipt.get("found", {})) is found
        assert "at 95 %: each patient counts with at most" in str(answer) and "holds the truth" not in str(answer)


def test_only_the_owner_is_told_what_is_left_for_the_data_set(tmp_path: Path) -> None:
    """What is left for all tells an analyst what the others did."""
    rows = {"t": {"who": list(range(50))}}
    analysts = {"ana": {"epsilon": 1}, "bo": {"epsilon": 1}}
    with Curator(rows, "who", {}, epsilon=1, ledger=tmp_path / "l", analysts=analysts) as curator:
        curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=0.375, analyst="bo")
        messages = {}
        for analyst in (None, "ana"):
            with pytest.raises(Refused) as refusal:
                curator.sql("SELECT COUNT(*) AS m FROM t", epsilon=0.75, analyst=analyst)
            assert refusal.value.code == "budget"
            messages[analyst] = str(refusal.value)
    assert "epsilon 0.75, and epsilon 0.625 is left for the data set" in messages[None]
    assert "discreet budget set" in messages[None]
    assert "0.625" not in messages["ana"] and "0.375" not in messages["ana"]
