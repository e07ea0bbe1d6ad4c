"""Spend and measure in one act: who draws noise was granted it first, and draws no more than was granted.

    with measure(event, label="ages") as grant:
        noisy = grant(mechanism, sensitivity, exact)

A *measure* charges the event on entry, durably where a curator stands behind it, and gives a *grant*. Each draw names its mechanism
and sensitivity, and takes its own event out of what was granted, before the exact value is looked at; a draw beyond the grant
is a Fault. What was not drawn is spent all the same. `unmetered()` is a measure in memory, for arrays without a curator.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from discreet.errors import Fault, Invalid
from discreet.exact import Number, shown
from discreet.mechanisms.additive import GridNoise, IntegerNoise, Ints
from discreet.mechanisms.base import Mechanism
from discreet.noise import Source
from discreet.privacy import PrivacyLoss, events, loss
from discreet.privacy.mgf import FINE_SCALE

WITH_SENSITIVITY = events.Laplace | events.Gaussian | events.DiscreteLaplace | events.DiscreteGaussian


class Measure(Protocol):
    """Whatever can be charged for an event, and then lets it be drawn."""

    def __call__(
        self, event: events.Event, *, label: str = "", key: str | None = None
    ) -> AbstractContextManager["Grant"]: ...


class Grant:
    """The right to draw what was charged for, once, until the `with` block ends."""

    def __init__(self, event: events.Event, source: Source | None = None) -> None:
        self._left = _Allowance(event)
        self._source = source
        self._open = True
        self.used = False  # whether anything was drawn

    def __call__(self, mechanism: Mechanism, sensitivity: Number, exact: Callable[[], Any], size: int = 1) -> Any:
        """The mechanism's release of `exact()`: of one value, or of a vector, of this sensitivity.

        `size` is the most coordinates of a vector of reals, whose rounding to a grid counts; for integers it does not matter.
        """
        if not isinstance(mechanism, Mechanism):
            raise Invalid(f"mechanism must be a mechanism, got {shown(mechanism)}")
        event = mechanism.event(sensitivity, size) if isinstance(mechanism, GridNoise) else mechanism.event(sensitivity)
        self._take(event)
        value = exact()
        if isinstance(mechanism, GridNoise) and np.size(value) > size:
            raise Fault(f"a vector is longer than the {size} coordinates that were granted", code="grant")
        return mechanism(value, self._source)

    def prepare(self, mechanism: IntegerNoise, sensitivity: Number, size: int) -> Callable[[Ints], Ints]:
        """Draws the noise for `size` integers now, before anything exact is known, and gives what will add it, once.

        So neither the time that drawing takes nor the entropy that it uses can depend on the data.
        """
        self._take(mechanism.event(sensitivity))
        noise: list[Ints] = [mechanism(np.zeros(size, np.int64), self._source)]

        def release(exact: Ints) -> Ints:
            if not noise or exact.dtype != np.int64 or exact.shape != (size,):
                raise Fault(f"a draw serves one vector of {size} integers, once", code="grant")
            return exact + noise.pop()

        return release

    def _take(self, event: events.Event) -> None:
        if not self._open:
            raise Fault("the grant has ended: nothing more can be drawn from it", code="grant")
        self._left.take(event)
        self.used = True

    def close(self) -> None:
        self._open = False


class _Allowance:
    """What is left of an event: leaves and how often, and all pure ε together."""

    def __init__(self, event: events.Event) -> None:
        self._leaves: dict[events.Leaf, int] = {}
        self._pure = Fraction(0)
        for leaf, n in loss(event).terms:
            if isinstance(leaf, events.Pure):
                self._pure += n * leaf.epsilon
            else:
                self._leaves[leaf] = n

    def take(self, event: events.Event) -> None:
        """For an event that is covered: it is taken out. For any other: a Fault, and nothing is taken."""
        leaves, pure = dict(self._leaves), self._pure
        for leaf, n in loss(event).terms:
            by = next((each for each, count in leaves.items() if count >= n and _covers(each, leaf)), None)
            price = None if by is not None else _pure_price(leaf, n)
            if by is not None:
                leaves[by] -= n
            elif price is not None and price <= pure:
                pure -= price
            else:
                raise Fault("a draw goes beyond what was granted", code="grant", hint="grant what will be drawn")
        self._leaves, self._pure = leaves, pure


def _covers(granted: events.Leaf, leaf: events.Leaf) -> bool:
    """The same leaf, or the same noise on a larger sensitivity, which never costs less.

    Of the discrete Gaussian that is not known at a coarse scale, where more noise may cost more.
    """
    if granted == leaf:
        return True
    if not isinstance(granted, WITH_SENSITIVITY) or not isinstance(leaf, WITH_SENSITIVITY) or granted.kind != leaf.kind:
        return False
    if isinstance(granted, events.DiscreteGaussian) and granted.scale <= FINE_SCALE:
        return False
    return granted.scale == leaf.scale and granted.sensitivity >= leaf.sensitivity


def _pure_price(leaf: events.Leaf, n: int) -> Fraction | None:
    """The exact ε of n such leaves at δ = 0, or a bound; None where there is none."""
    return PrivacyLoss(((leaf, n),)).pure_epsilon()


class Unmetered:
    """A measure in memory: it charges no budget, and remembers what was spent."""

    def __init__(self, source: Source | None = None) -> None:
        self._source = source
        self._spent: list[events.Event] = []

    @contextmanager
    def __call__(self, event: events.Event, *, label: str = "", key: str | None = None) -> Iterator[Grant]:
        grant = Grant(event, self._source)  # an event that has no price raises here, before it is spent
        self._spent.append(event)
        try:
            yield grant
        finally:
            grant.close()

    @property
    def spent(self) -> PrivacyLoss:
        """What everything that was granted costs together."""
        return loss(events.Composed(tuple(self._spent)))


def unmetered(source: Source | None = None) -> Unmetered:
    """A measure for arrays without a curator.

    >>> from discreet.mechanisms import Geometric
    >>> measure = unmetered()
    >>> noise = Geometric(10)
    >>> with measure(noise.event(1)) as grant:
    ...     noisy = grant(noise, 1, lambda: 42)
    >>> isinstance(noisy, int), measure.spent.epsilon()
    (True, 0.1)
    """
    return Unmetered(source)
