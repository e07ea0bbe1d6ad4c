"""Subjects of `discreet.local`: reports of two answers by every registered protocol, and by a client with all that it sends."""

from discreet.audit.subject import PRICE, Subject
from discreet.local import Campaign, Choices, Client
from discreet.local.examples import LocalExample, examples

LATER = 1 << 40  # seconds since 1970, beyond any test


def of_reports() -> list[Subject]:
    """Every small protocol, with what it declares that a report tells; and a client in a campaign."""
    return [*(of_example(each) for each in examples() if each.protocol.epsilon == PRICE), _of_client()]


def of_example(example: LocalExample) -> Subject:
    """A protocol, whose reports are told apart by their bytes."""
    pair = (example.first, example.second)
    epsilon = float(example.protocol.once)
    kind = type(example.protocol).__name__
    return Subject("local", kind, example.name, epsilon, 0.0, example.reports, (pair,), many=True)


def _of_client() -> Subject:
    """All bytes of a report, the last, which hold the answer, first."""
    campaign = Campaign("Which?", Choices(2), "k-ary", PRICE, bytes(16), LATER)

    def sent(answer: int) -> list[int]:
        return list(Client(campaign).report(answer)[::-1])

    return Subject("local", "Client", "client, k-ary, ε = 1", PRICE, 0.0, sent, ((0, 1),))
