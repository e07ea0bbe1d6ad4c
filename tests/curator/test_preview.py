"""A preview is of what would be charged: the same plan, at the same price, for the owner and for analysts with and without a δ."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Refused
from tests.plan.asked import TABLE, questions, schemas
from tests.scale import repeats

ANALYSTS = {"ana": {"epsilon": 5, "delta": 1e-5}, "bo": {"epsilon": 5}}
PRICES: list[dict[str, Any]] = [
    {"epsilon": 1},
    {"epsilon": 0.1, "delta": 1e-6},
    {"epsilon": 2, "delta": 0},
    {"within": 50},
]


def outcome(ask: Any) -> Any:
    try:
        return ask()
    except DiscreetError as error:
        return type(error), error.code, error.message, error.hint


@settings(
    max_examples=repeats(40),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_a_preview_is_of_what_is_charged(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    text, price = data.draw(questions(schema)), data.draw(st.sampled_from(PRICES))
    analyst = data.draw(st.sampled_from([None, "ana", "bo"]))
    rows: dict[str, list[str]] = {"person": ["1", "2"], **{name: ["1", ""] for name in schema.columns}}
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        arguments = {"epsilon": 10, "delta": 1e-4, "ledger": ledger, "analysts": ANALYSTS} | schema.arguments()
        with Curator({TABLE: rows}, **arguments) as curator:
            before = outcome(lambda: curator.preview(text, **price, analyst=analyst))
            told = outcome(lambda: curator.explain(text, **price, analyst=analyst))
            assert not ledger.exists()
            answer = outcome(lambda: curator.sql(text, **price, analyst=analyst))
            after = outcome(lambda: curator.preview(text, **price, analyst=analyst))
            if isinstance(answer, tuple):
                assert answer == before == after == told or answer[1] in ("budget", "analyst-budget")
                return
            assert (answer.epsilon, answer.delta, answer.explanation) == (
                before.epsilon,
                before.delta,
                before.explanation,
            )
            assert answer.explanation == told == after.explanation
            spent = curator._store.totals(analyst).spent.exact
            assert (float(spent[0]), float(spent[1])) == (before.epsilon, before.delta)


def test_a_preview_for_nobody_is_refused_and_makes_no_ledger(tmp_path: Path) -> None:
    with Curator({"t": {"pid": ["a"]}}, "pid", epsilon=1, ledger=tmp_path / "l", analysts=ANALYSTS) as curator:
        for ask in (curator.preview, curator.explain):
            with pytest.raises(Refused) as refusal:
                ask("SELECT COUNT(*) AS n FROM t", epsilon=1, analyst="cy")
            assert refusal.value.code == "analyst-unknown"
    assert not (tmp_path / "l").exists()
