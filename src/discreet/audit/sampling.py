"""A lower bound on ε from outputs alone: run a mechanism on two neighbours, find an event that tells them apart, and count.

Nothing is assumed of the mechanism but that its outputs are independent. Some outputs choose the event, others are counted, so that the
choice may depend on whatever was seen; `confidence` holds for the whole. A bound above the claimed ε shows a bug, with that confidence.
A bound below it shows nothing: what has probability 1e-6 is not seen in 1e6 outputs. See `docs/verification.md` for what it is worth.
"""

import time
from collections.abc import Callable, Iterable
from math import inf, sqrt
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from discreet.audit.confidence import Wager, fixed
from discreet.audit.distinguisher import Distinguisher, choose
from discreet.audit.features import Outputs
from discreet.audit.neighbours import Pair
from discreet.audit.outputs import OutputSampler
from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, probability, shown, whole
from discreet.noise import SecureBits
from discreet.privacy.theorems import gaussian_epsilon

Progress: TypeAlias = Callable[[float], object]

# The share of the outputs that choose an event of a test of fixed size.
CHOOSING = 0.2
# The first outputs of a test at any time choose only, this share of all and no more than so many; each batch that is bet on is a quarter of
# all before it.
FIRST, MOST_FIRST, GROWTH = 0.02, 20_000, 0.25
# Fewer outputs than this a side choose nothing that can be counted on.
LEAST_SAMPLES = 100


class LowerBound(float):
    """ε that a mechanism is above, at δ and with a confidence: a number that tells where it comes from."""

    __slots__ = ("confidence", "delta", "event", "hits", "misses", "samples", "x", "y")

    def __new__(cls, epsilon: float, **facts: Any) -> "LowerBound":
        self = super().__new__(cls, epsilon)
        for name in cls.__slots__:
            setattr(self, name, facts[name])
        return self

    delta: float
    confidence: float
    event: str
    hits: int
    misses: int
    samples: int
    x: Any
    y: Any

    @property
    def epsilon(self) -> float:
        """The bound, as a plain number."""
        return float(self)

    def __repr__(self) -> str:
        return f"LowerBound({float(self):.6g}, delta={self.delta:g}, confidence={self.confidence:g})"

    def __str__(self) -> str:
        return (
            f"ε ≥ {float(self):.4g} at δ = {self.delta:g}, with confidence {self.confidence:.7g}: {self.event} "
            f"{self.hits:,} times on {shown(self.x)} and {self.misses:,} times on {shown(self.y)}, of about {self.samples:,} outputs each"
        )


def lower_bound(
    mechanism: Callable[..., Any],
    x: Any = None,
    y: Any = None,
    *,
    delta: Number = 0,
    samples: int = 100_000,
    confidence: Number = 0.95,
    neighbours: Iterable[Pair] | None = None,
    anytime: bool = False,
    above: Number | None = None,
    seconds: Number | None = None,
    many: bool = False,
    progress: Progress | None = None,
) -> LowerBound:
    """ε that the mechanism is above at this δ, from about `samples` outputs on each of two neighbours.

    For any mechanism whose outputs are independent, the bound is above the true ε with probability 1 − `confidence` at most.

    x, y: two neighbouring data sets, whatever the mechanism takes; or `neighbours`, pairs of them, of which the one is taken that
    looks worst in a first look at each, with outputs that are not used again.
    anytime: bet instead of counting once: the bound holds whenever one stops, so the run ends as soon as the bound is above `above`.
    seconds: end after about this time; a run of fixed size takes fewer outputs then, decided before any is counted.
    many: call `mechanism(data, size)` for `size` independent outputs at once.
    progress: called with the share that is done.
    """
    run = _Run(
        OutputSampler(mechanism, many),
        float(probability(delta, "delta")),
        whole(samples, "samples", least=LEAST_SAMPLES),
        1 - float(probability(confidence, "confidence")),
        inf if above is None else float(nonnegative(above, "above")),
        _deadline(seconds),
        progress or (lambda share: None),
    )
    if not run.alpha or run.alpha == 1:
        raise Invalid(f"confidence must lie between 0 and 1, got {shown(confidence)}")
    pair = (x, y) if neighbours is None else run.worst(list(neighbours))
    return run.at_any_time(*pair) if anytime else run.once(*pair)


def _deadline(seconds: Number | None) -> float:
    return inf if seconds is None else time.monotonic() + float(positive(seconds, "seconds"))


class _Run:
    """One audit: what is run, how much of it, and what is asked of it."""

    def __init__(
        self,
        sampler: OutputSampler,
        delta: float,
        samples: int,
        alpha: float,
        above: float,
        deadline: float,
        progress: Progress,
    ) -> None:
        self.sampler = sampler
        self.delta = delta
        self.samples = samples
        self.alpha = alpha
        self.above = above
        self.deadline = deadline
        self.progress = progress

    def once(self, x: Any, y: Any) -> LowerBound:
        """A test of fixed size: a fifth of the outputs choose, the others are counted."""
        samples = self._affordable(x, y)
        choosing = int(samples * CHOOSING)
        size = samples - choosing
        chosen = choose(*self._outputs(x, y, choosing), size=size, delta=self.delta)
        self.progress(CHOOSING)
        on_x = _heads(2 * size)
        hits, misses = chosen.hits(self.sampler(x, on_x)), chosen.hits(self.sampler(y, 2 * size - on_x))
        self.progress(1.0)
        likely, rare = (misses, hits) if chosen.swapped else (hits, misses)
        epsilon = fixed(likely, rare, 2 * size, self.delta, self.alpha)
        return self._bound(epsilon, chosen, hits, misses, size, (x, y))

    def _affordable(self, x: Any, y: Any) -> int:
        """How many outputs there is time for, by the time that a few take which are not used."""
        if self.deadline == inf:
            return self.samples
        began = time.monotonic()
        self._outputs(x, y, LEAST_SAMPLES)
        spent = max(time.monotonic() - began, 1e-6)
        return min(self.samples, max(LEAST_SAMPLES, int(LEAST_SAMPLES * (self.deadline - time.monotonic()) / spent)))

    def at_any_time(self, x: Any, y: Any) -> LowerBound:
        """A wager on batch after batch, each on the event that the outputs before it chose."""
        wager = Wager(self.delta, self.alpha)
        seen = self._outputs(x, y, max(LEAST_SAMPLES // 2, min(int(self.samples * FIRST), MOST_FIRST)))
        chosen, chosen_at = self._chosen(seen), len(seen[0])
        counts = [chosen.hits(each) for each in seen]
        while (
            (size := len(seen[0])) < self.samples and wager.epsilon <= self.above and time.monotonic() < self.deadline
        ):
            if size >= 2 * chosen_at:
                chosen, chosen_at = self._chosen(seen), size
                counts = [chosen.hits(each) for each in seen]
            new = self._outputs(x, y, min(max(1, int(size * GROWTH)), self.samples - size))
            new_counts = [chosen.hits(each) for each in new]
            _bet(wager, chosen, counts, size, new_counts, len(new[0]))
            counts = [sum(pair) for pair in zip(counts, new_counts, strict=True)]
            seen = _joined(seen[0], new[0]), _joined(seen[1], new[1])
            self.progress(len(seen[0]) / self.samples)
        return self._bound(wager.epsilon, chosen, counts[0], counts[1], len(seen[0]), (x, y))

    def _chosen(self, outputs: tuple[Outputs, Outputs]) -> Distinguisher:
        return choose(*outputs, size=self.samples, delta=self.delta)

    def worst(self, pairs: list[Pair]) -> Pair:
        """The pair that looks worst after a few outputs on each."""
        if not pairs:
            raise Invalid("neighbours must hold at least one pair of data sets")
        if len(pairs) == 1:
            return pairs[0]
        few = max(LEAST_SAMPLES, self.samples // (5 * len(pairs)))
        looks = [_Run(self.sampler, self.delta, few, 0.3, inf, self.deadline, lambda share: None) for _ in pairs]
        bounds = [look.once(*pair) for look, pair in zip(looks, pairs, strict=True)]
        return pairs[int(np.argmax(bounds))]

    def _outputs(self, x: Any, y: Any, size: int) -> tuple[Outputs, Outputs]:
        return self.sampler(x, size), self.sampler(y, size)

    def _bound(
        self, epsilon: float, chosen: Distinguisher, hits: int, misses: int, samples: int, pair: Pair
    ) -> LowerBound:
        x, y = pair
        return LowerBound(
            epsilon,
            delta=self.delta,
            confidence=1 - self.alpha,
            event=str(chosen),
            hits=hits,
            misses=misses,
            samples=samples,
            x=x,
            y=y,
        )


def _bet(wager: Wager, chosen: Distinguisher, counts: list[int], size: int, new: list[int], batch: int) -> None:
    """Stake what the counts so far advise on the event, and pay for a batch that they knew nothing of."""
    order = slice(None, None, -1) if chosen.swapped else slice(None)
    likely, rare = ((count + 0.5) / (size + 1) for count in counts[order])
    hits, misses = new[order]
    wager.settle(wager.stakes(likely, rare), hits, batch - hits, misses)


def _heads(tosses: int) -> int:
    """How many of so many fair tosses are heads."""
    bits = np.zeros((tosses + 7) // 8, np.uint8)
    SecureBits().fill(bits)
    return int(np.unpackbits(bits, count=tosses).sum())


def _joined(first: Outputs, second: Outputs) -> Outputs:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    return [*first, *second]


def gaussian_estimate(
    mechanism: Callable[..., Any],
    x: Any,
    y: Any,
    *,
    delta: Number,
    samples: int = 100_000,
    confidence: Number = 0.95,
    many: bool = False,
) -> float:
    """ε at δ of a mechanism that is *assumed* to add Gaussian noise of one width: by its means and its spread alone.

    This is no bound: on a mechanism of another shape it may be far off, on both sides. Where the shape is known it is much nearer to the
    truth than `lower_bound`, as it does not wait for outputs that are rare. The distance of the means, in standard deviations, is taken at
    the lower end of its interval (normal approximation; fine for the thousands of outputs that an audit has).
    """
    size = whole(samples, "samples", least=LEAST_SAMPLES)
    sampler = OutputSampler(mechanism, many)
    first, second = (np.asarray(sampler(each, size), np.float64) for each in (x, y))
    spread = sqrt((first.var() + second.var()) / 2)
    distance = abs(first.mean() - second.mean()) / spread
    error = sqrt(2 / size + distance**2 / (4 * size))
    quantile = NormalDist().inv_cdf(float(probability(confidence, "confidence")))
    nearest = max(0.0, distance - quantile * error)
    return gaussian_epsilon(nearest, delta) if nearest else 0.0
