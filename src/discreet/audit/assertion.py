"""`assert_private`: a claim about a mechanism, tried; what fails is shown with the two data sets, the event and the certified ε."""

from collections.abc import Callable, Iterable
from typing import Any

from discreet.audit.neighbours import Pair, suited
from discreet.audit.sampling import LowerBound, Progress, lower_bound
from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, probability, shown
from discreet.privacy.adjacency import Adjacency

# A sound mechanism fails this often at most, whatever it is.
FALSE_ALARM = 1e-6


def assert_private(
    mechanism: Callable[..., Any],
    epsilon: Number = 1,
    delta: Number = 0,
    *,
    neighbours: Iterable[Pair] | None = None,
    relation: str = "add-remove",
    samples: int = 100_000,
    confidence: Number = 1 - FALSE_ALARM,
    seconds: Number | None = None,
    many: bool = False,
    progress: Progress | None = None,
) -> LowerBound:
    """Raise AssertionError where the mechanism is shown not to be (ε, δ)-differentially private; otherwise return the bound that was found.

    For any mechanism that is (ε, δ)-private under these neighbours it raises with probability 1 − `confidence` at most. That it
    does not raise proves nothing: see what a sample of this size can show in `docs/verification.md`.

    neighbours: pairs of data sets that differ in one person; every one is looked at, and the worst one tried. Without them, numbers
    that differ by 1 are tried, or for a mechanism that takes rows small tables that differ in one row, by `relation` ("add-remove",
    "replace").
    """
    claimed, slack = float(nonnegative(epsilon, "epsilon")), probability(delta, "delta")
    pairs = suited(mechanism, _relation(relation)) if neighbours is None else list(neighbours)
    bound = lower_bound(
        mechanism,
        delta=slack,
        samples=samples,
        confidence=confidence,
        neighbours=pairs,
        seconds=seconds,
        many=many,
        progress=progress,
    )
    if bound > claimed:
        raise AssertionError(_failure(bound, claimed))
    return bound


def _relation(text: str) -> Adjacency:
    try:
        return Adjacency(text)
    except ValueError:
        raise Invalid(f"relation must be 'add-remove' or 'replace', got {shown(text)}") from None


def _failure(bound: LowerBound, claimed: float) -> str:
    return (
        f"not ({claimed:g}, {bound.delta:g})-differentially private: ε is at least {float(bound):.4g} at δ = {bound.delta:g}, "
        f"with confidence {bound.confidence:.7g}\n"
        f"  one data set:  {shown(bound.x)}\n"
        f"  its neighbour: {shown(bound.y)}\n"
        f"  the event:     {bound.event}\n"
        f"  it happened:   {bound.hits:,} and {bound.misses:,} times, of about {bound.samples:,} outputs on each"
    )
