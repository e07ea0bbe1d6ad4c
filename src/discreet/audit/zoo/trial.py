"""A trial of methods: which specimens each of them tells, at which number of outputs, and how often it cries wolf."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from typing import Any

from discreet.audit.sampling import lower_bound
from discreet.audit.zoo.collection import BROKEN, SOUND
from discreet.audit.zoo.specimen import EXACT, METHODS, TWINS, Specimen
from discreet.errors import Invalid
from discreet.exact import shown, whole

# An alarm of sampling is false this often at most, for each specimen.
FALSE_ALARM = 1e-6
# Seeds of the noise that twins are run with: what is done after a release depends on it.
COURSES = range(3)
# What floats may be off by where laws are compared.
ROUNDING = 1e-9


def told(specimen: Specimen, method: str, samples: int = 100_000) -> bool | None:
    """Whether a method tells that the claim of a specimen does not hold; None where it cannot be tried."""
    if method not in specimen.methods:
        return None
    if method == EXACT:
        return any(_breaks(specimen, x, y) or _breaks(specimen, y, x) for x, y in specimen.neighbours)
    if method == TWINS:
        return not all(_alike(specimen, x, y) and _alike(specimen, y, x) for x, y in specimen.neighbours)
    return sampled(specimen, samples) > specimen.epsilon


def sampled(specimen: Specimen, samples: int) -> float:
    """The lower bound that so many outputs a side show, at a confidence of 1 − 1e-6."""
    return lower_bound(
        specimen.mechanism,
        neighbours=specimen.neighbours,
        delta=specimen.delta,
        samples=samples,
        confidence=1 - FALSE_ALARM,
        many=specimen.many,
    )


def exact_epsilon(specimen: Specimen) -> float:
    """The true ε at δ = 0 of the law of a specimen, on its neighbours."""
    if specimen.law is None:
        raise Invalid(f"the specimen {specimen.name!r} has no law")
    laws = [(specimen.law(x), specimen.law(y)) for x, y in specimen.neighbours]
    ratios = [
        (p, q.get(output, 0.0))
        for first, second in laws
        for p_law, q in ((first, second), (second, first))
        for output, p in p_law.items()
    ]
    return max(inf if not q else log(p / q) for p, q in ratios if p)


def _breaks(specimen: Specimen, x: Any, y: Any) -> bool:
    """Whether Σ max(P − e^ε Q, 0) is above δ."""
    if specimen.law is None:
        return False
    first, second = specimen.law(x), specimen.law(y)
    excess = sum(max(0.0, p - exp(specimen.epsilon) * second.get(output, 0.0)) for output, p in first.items())
    return excess > specimen.delta + ROUNDING


def _alike(specimen: Specimen, x: Any, y: Any) -> bool:
    from discreet.audit.twins import compare

    return specimen.run is None or all(compare(x, y, specimen.run, seed=seed).same for seed in COURSES)


@dataclass(frozen=True, slots=True)
class Tally:
    """How a method did: of the broken specimens that it can be tried on, and of the sound ones; each repeat counts."""

    method: str
    samples: int | None  # a side, of sampling
    detected: int
    missed: tuple[str, ...]  # names, once for each repeat
    alarms: tuple[str, ...]  # false ones
    broken: int
    sound: int

    def as_data(self) -> dict[str, Any]:
        """The score as JSON can hold it."""
        return {
            "method": self.method,
            "samples": self.samples,
            "broken": self.broken,
            "detected": self.detected,
            "missed": list(self.missed),
            "sound": self.sound,
            "false alarms": list(self.alarms),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Benchmark:
    """The scores of all methods; as text a table."""

    scores: tuple[Tally, ...]

    def as_data(self) -> list[dict[str, Any]]:
        """The scores as JSON can hold them."""
        return [score.as_data() for score in self.scores]

    def __str__(self) -> str:
        head = ("method", "outputs", "tried", "detected", "missed", "sound", "false alarms")
        body = [
            (
                score.method,
                "" if score.samples is None else f"{score.samples:,}",
                str(score.broken),
                str(score.detected),
                str(len(score.missed)),
                str(score.sound),
                str(len(score.alarms)),
            )
            for score in self.scores
        ]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *body)]
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__


def benchmark(
    methods: Sequence[str] = METHODS,
    samples: Iterable[int] = (10_000, 100_000),
    repeats: int = 1,
    *,
    broken: Sequence[Specimen] = BROKEN,
    sound: Sequence[Specimen] = SOUND,
    tell: Callable[[Specimen, str, int], bool | None] = told,
) -> Benchmark:
    """What methods detect, miss and wrongly accuse; sampling at each number of outputs, and so many times.

    An auditor of your own is compared by `tell(specimen, method, samples)`, under a method name of its own: True for an alarm, None
    where it cannot be tried.
    """
    unknown = [method for method in methods if method not in METHODS and tell is told]
    if unknown:
        raise Invalid(f"methods must be among {', '.join(METHODS)}, got {shown(unknown[0])}")
    times = whole(repeats, "repeats", least=1)
    sizes = [whole(int(size), "samples", least=1) for size in samples]
    rounds = [
        (method, size)
        for method in methods
        for size in ([None] if method in (EXACT, TWINS) else sizes)
    ]  # fmt: skip
    return Benchmark(tuple(_score(method, size, times, broken, sound, tell) for method, size in rounds))


def _score(
    method: str,
    samples: int | None,
    repeats: int,
    broken: Sequence[Specimen],
    sound: Sequence[Specimen],
    tell: Callable[[Specimen, str, int], bool | None],
) -> Tally:
    times = repeats if samples else 1

    def verdicts(specimens: Sequence[Specimen]) -> list[tuple[str, bool]]:
        alarms = [(each.name, tell(each, method, samples or 0)) for each in specimens for _ in range(times)]
        return [(name, alarm) for name, alarm in alarms if alarm is not None]

    of_broken, of_sound = verdicts(broken), verdicts(sound)
    return Tally(
        method,
        samples,
        sum(alarm for _, alarm in of_broken),
        tuple(name for name, alarm in of_broken if not alarm),
        tuple(name for name, alarm in of_sound if alarm),
        len(of_broken),
        len(of_sound),
    )
