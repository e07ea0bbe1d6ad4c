"""A client reports once, in time, on what is in the domain, and knows no collector."""

import subprocess
import sys
from fractions import Fraction as F
from pkgutil import iter_modules

import numpy as np
import pytest
from scipy.stats import binomtest

from discreet import local
from discreet.errors import Invalid, Refused
from discreet.local import Client, ClientReport
from discreet.local.report import binding
from discreet.noise import Tape
from tests.local.cases import LATER, NAMES, campaign

FALSE_ALARM = 1e-6


COLLECTING = (
    *("attribute_estimates", "collector", "distribution", "estimates", "estimation", "heavy_hitters", "level_totals"),
    *("likelihood", "mean_estimate", "seen", "states"),
)
"""The modules that only who collects needs."""


def test_the_client_loads_nothing_of_the_collector() -> None:
    names = {each.name for each in iter_modules(local.__path__)}
    assert names >= set(COLLECTING)
    code = "import sys, discreet.local.client; print(*(name for name in sys.modules if name.startswith('discreet.')))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "discreet.local.report" in loaded
    assert not loaded & {f"discreet.local.{name}" for name in COLLECTING}
    assert not any(name.startswith(("discreet.curator", "discreet.plan", "discreet.engines")) for name in loaded)


def clients_report_once() -> None:
    """Whoever asks again gets the same bytes, whatever the value and the token are by now."""
    client = Client(campaign())
    report = client.report(3)
    assert {client.report(3), client.report(1), client.report(3, bytes(16))} == {report}
    assert client.diary.spent == 1


def test_clients_report_once() -> None:
    clients_report_once()


def clients_stop_when_the_campaign_is_over() -> None:
    now = [LATER - 1.0]
    early, late = (Client(campaign(), clock=lambda: now[0]) for _ in range(2))
    early.report(0)
    now[0] = LATER
    with pytest.raises(Refused) as refusal:
        late.report(0)
    assert refusal.value.code == "expired"


def test_clients_stop_when_the_campaign_is_over() -> None:
    clients_stop_when_the_campaign_is_over()


def labels_of_two_types_are_two_cells() -> None:
    """At an epsilon that leaves hardly any noise each label is reported as its own cell."""
    domain = (1, True, "1", False)
    one = campaign("k-ary", domain, F(20))
    for cell, label in enumerate(domain):
        report = ClientReport.read(Client(one, source=Tape(cell)).report(label))
        assert report.opened(one.randomiser, binding(one)) == cell


def test_labels_of_two_types_are_two_cells() -> None:
    labels_of_two_types_are_two_cells()


@pytest.mark.parametrize("value", [5, -1, "secret", None, True, 1.0, [1], np.int64(1)])
def test_what_is_not_in_the_domain_is_refused_and_not_said(value: object) -> None:
    client = Client(campaign())
    with pytest.raises(Invalid) as refusal:
        client.report(value)  # type: ignore[arg-type]
    assert "secret" not in str(refusal.value)
    client.report(1)  # nothing was spent


@pytest.mark.parametrize("token", [b"", bytes(15), "x" * 16])
def test_tokens_have_one_length(token: object) -> None:
    with pytest.raises(Invalid):
        Client(campaign()).report(1, token)  # type: ignore[arg-type]


def test_a_token_that_was_given_is_sent_and_others_differ() -> None:
    assert ClientReport.read(Client(campaign()).report(1, bytes(16))).token == bytes(16)
    drawn = {ClientReport.read(Client(campaign()).report(1)).token for _ in range(50)}
    assert len(drawn) == 50


@pytest.mark.parametrize("protocol", NAMES)
def test_clients_tell_their_cell_as_often_as_is_said(protocol: str) -> None:
    one, runs = campaign(protocol), 1000
    randomiser = one.randomiser
    answers = [ClientReport.read(Client(one).report(2)).opened(randomiser, binding(one)) for _ in range(runs)]
    told = randomiser.support(randomiser.accumulate(np.array(answers)), runs)
    assert binomtest(int(told[2]), runs, float(randomiser.p)).pvalue > FALSE_ALARM / 8
    assert binomtest(int(told[4]), runs, float(randomiser.q)).pvalue > FALSE_ALARM / 8
