"""The contract of every registered protocol, as auditors see it: a report tells what is declared. Whoever registers one is tried."""

from fractions import Fraction as F
from typing import cast
from unittest import mock

import pytest

from discreet.audit import exact
from discreet.audit.reported import of_reports
from discreet.exact import log_down, log_up
from discreet.local import KaryResponse
from discreet.local.choices import Choices
from discreet.local.domains import KINDS
from discreet.local.examples import EPSILONS, SMALL, examples
from discreet.local.protocol import truth_down
from discreet.local.protocols import PROTOCOLS

NEAR = F(1, 10**9)


def every_protocol_has_examples() -> None:
    found = {(type(each.protocol), F(each.protocol.epsilon)) for each in examples()}
    assert found == {(kind, epsilon) for kind in PROTOCOLS.values() for epsilon in EPSILONS}


def test_every_protocol_has_examples() -> None:
    every_protocol_has_examples()


def test_every_kind_of_domain_has_an_example() -> None:
    assert {type(domain) for _, domain, _, _ in SMALL} == {Choices, *KINDS.values()}


def reports_tell_what_is_declared(names: str = "") -> None:
    """By enumeration: ε lies in [declared − 1e-9, declared], over all pairs of values, in both directions."""
    for example in (each for each in examples() if each.name.startswith(names)):
        found = exact(example.protocol).epsilon()
        assert log_up(found.ratio_high) <= example.protocol.once, example.name
        assert log_down(found.ratio_low) >= example.protocol.once - NEAR, example.name


def test_reports_tell_what_is_declared() -> None:
    reports_tell_what_is_declared()


def the_audit_tries_every_protocol() -> None:
    kinds = {each.kind for each in of_reports()}
    assert kinds == {"Client", *(kind.__name__ for kind in PROTOCOLS.values())}


def test_the_audit_tries_every_protocol() -> None:
    the_audit_tries_every_protocol()


class DoubledResponse(KaryResponse):
    """Tells twice the ε that it declares."""

    name = "doubled"

    @property
    def p(self) -> F:
        return truth_down(2 * F(self.epsilon), self.k)


def test_a_protocol_that_lies_is_caught_once_it_is_registered() -> None:
    """By enumeration and by sampling, and nobody has to name it."""
    with mock.patch.dict(cast(dict[str, type], PROTOCOLS), doubled=DoubledResponse):
        every_protocol_has_examples()
        the_audit_tries_every_protocol()
        with pytest.raises(AssertionError, match="doubled, 2 answers"):
            reports_tell_what_is_declared("doubled")
        lies = [each for each in of_reports() if each.kind == "DoubledResponse"]
        assert len(lies) == 2 and all(each.audit(4_000).fails for each in lies)


def what_a_client_sends_tells_no_more() -> None:
    """All of its bytes, by sampling."""
    client = of_reports()[-1]
    assert client.kind == "Client" and not client.audit(2_000).fails


def test_what_a_client_sends_tells_no_more() -> None:
    what_a_client_sends_tells_no_more()
