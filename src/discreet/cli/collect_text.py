"""What `discreet collect estimate` says: how many reports count, what they mean, and which do not count."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any

from discreet.cli.collect_terms import label_text, short
from discreet.exact import shown
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.local.collector import Collector
    from discreet.local.distribution import DistributionEstimate
    from discreet.local.estimates import FrequencyEstimates

MOST_ROWS = 30  # that are printed of many; --all prints every one
FULL = 1e-5  # a set of seen reports that takes more new ones than this for copies is too full
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
WHY = {
    "campaign": "of another campaign",
    "duplicate": "sent before",
    "expired": "after the end",
    "malformed": "not a report",
    "version": "of another version",
}
Row = tuple[str, ...]
Moved = tuple[int, float] | None
"""So many liars, and how far they could have moved an estimate."""


def told(collector: "Collector", found: Any, moved: Moved, every: bool) -> Iterator[str]:
    """The estimates for people, line by line."""
    yield visible(collector.campaign.question)
    yield _counted(collector)
    if found is None:
        yield "there is nothing to estimate yet"
        return
    yield from ("", *_estimates(found, every), "")
    yield _meant(collector, found, every)
    if moved is not None:
        liars = f"{moved[0]:,} {'liar' if moved[0] == 1 else 'liars'}"
        yield f"{liars} could have moved {_moved(collector, found, moved)}"
    if collector.false_rejects > FULL:
        yield (
            f"note: {100 * collector.false_rejects:.2g} % of new reports are taken for copies, as there are more than the state was made"
            " for: begin with a larger --capacity"
        )


def _counted(collector: "Collector") -> str:
    """How many reports count, and how many do not, by reason."""
    out = [f"{number:,} {WHY[reason]}" for reason, number in collector.rejected.items() if number]
    count = f"{collector.n:,} {'report counts' if collector.n == 1 else 'reports count'}"
    return f"{count}; not counted: {', '.join(out)}" if out else f"{count}, and none was rejected"


def _meant(collector: "Collector", found: Any, every: bool) -> str:
    """What the intervals hold for, and how answers were randomised."""
    from discreet.local.heavy_hitters import HeavyHitters

    level, campaign = f"{_percent(_confidence(found))} %", collector.campaign
    holds = (
        f"all intervals together hold at {level}"
        if isinstance(found, HeavyHitters)
        else f"each interval holds at {level}, by itself{'' if every else _picked(found)}"
    )
    return f"{holds}; randomised by {campaign.protocol} at ε = {shown(campaign.epsilon)}"


def _picked(found: Any) -> str:
    """What it means that the largest of many shares are shown: they are the largest by their noise too."""
    tables = getattr(found, "by_name", {"": found}).values()
    many = max((len(getattr(each, "labels", ())) for each in tables), default=0)
    return f"; those of the largest of {many:,} shares miss most often" if many > MOST_ROWS else ""


def _percent(level: float) -> str:
    """A confidence in percent, never more than it is.

    >>> _percent(0.95), _percent(0.99999999), _percent(1 - 1e-15)
    ('95', '99.999999', '99.9999999999')
    """
    return min(f"{100 * level:.12g}", "99.9999999999", key=float)


def _confidence(found: Any) -> float:
    by_name = getattr(found, "by_name", None)
    return float(found.confidence if by_name is None else next(iter(by_name.values())).confidence)


def _moved(collector: "Collector", found: Any, moved: tuple[int, float]) -> str:
    """What liars could have moved, of that which is printed, and how far."""
    from discreet.local.distribution import DistributionEstimate
    from discreet.local.heavy_hitters import HeavyHitters
    from discreet.local.mean_estimate import MeanEstimate

    liars, far = moved
    match found:
        case MeanEstimate():
            return f"the mean by up to {amount(far)}"
        case DistributionEstimate():
            protocol: Any = collector.campaign.randomiser
            return f"the mean by up to {amount(float(protocol.span) * liars / collector.n)}; how far quantiles, is not known"
    share = f"any share by up to {amount(100 * far)} %"
    return share if isinstance(found, HeavyHitters) else f"{share}, and a consistent one by twice that"


def _estimates(found: Any, every: bool) -> list[str]:
    """What was found, as lines of tables."""
    from discreet.local.attribute_estimates import AttributeEstimates
    from discreet.local.distribution import DistributionEstimate
    from discreet.local.estimates import FrequencyEstimates
    from discreet.local.heavy_hitters import HeavyHitters
    from discreet.local.mean_estimate import MeanEstimate

    match found:
        case FrequencyEstimates():
            return _shares(found, every, "answer")
        case AttributeEstimates():
            tables = [["", *_shares(each, every, name)] for name, each in found.by_name.items()]
            return [line for table in tables for line in table][1:]
        case HeavyHitters():
            rows = [(short(word), *_pair(100 * share, 100 * (high - share))) for word, share, _, high in found]
            if not rows:
                return ["no word is frequent enough to be found"]
            return _table([("word", "share %", "±"), *_few(rows, every)])
        case MeanEstimate():
            return _table([("", "mean", "±"), ("", *_pair(found.value, found.high - found.value))])
        case DistributionEstimate():
            return _distribution(found)
    return [visible(str(found))]


def _shares(found: "FrequencyEstimates", every: bool, head: str) -> list[str]:
    """A table of shares: the most frequent alone where there are many."""
    rows = [
        (short(label_text(label)), *_pair(100 * share, 100 * (high - share)), f"{100 * near:.3g}", share)
        for (label, share, _, high), near in zip(found, found.consistent, strict=True)
    ]
    if len(rows) > MOST_ROWS and not every:
        rows = sorted(rows, key=lambda row: -row[-1])
    shown = [(label, share, error, near) for label, share, error, near, _ in rows]
    return _table([(short(head), "share %", "±", "consistent %"), *_few(shown, every)])


def _distribution(found: "DistributionEstimate") -> list[str]:
    """The mean and some quantiles."""
    rows = [("mean", *(f"{each:.4g}" for each in (found.mean.value, found.mean.low, found.mean.high)))]
    for share in QUANTILES:
        name = "median" if share == 0.5 else f"{100 * share:g} % are up to"
        rows.append((name, *(f"{each:.4g}" for each in found.quantile(share))))
    return _table([("", "estimate", "from", "to"), *rows])


def _few(rows: Sequence[Row], every: bool) -> list[Row]:
    if every or len(rows) <= MOST_ROWS:
        return list(rows)
    return [*rows[:MOST_ROWS], (f"… {len(rows) - MOST_ROWS:,} more: --all",)]


def _table(rows: Sequence[Row]) -> list[str]:
    """Rows below each other: names on the left, numbers on the right."""
    full = [row for row in rows if len(row) > 1]
    widths = [max(len(row[place]) for row in full) for place in range(len(full[0]))]
    return ["  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))).rstrip() for row in rows]


def amount(error: float) -> str:
    """A ± by itself.

    >>> amount(0.0000134), amount(312.2), amount(0)
    ('0.000014', '320', '0')
    """
    return _pair(0.0, error)[1]


def _pair(value: float, half: float) -> tuple[str, str]:
    """A number and its ±, to the digits that the ± supports.

    >>> _pair(41.23456, 3.0721), _pair(1234.5, 456.7), _pair(2.0, 0.0)
    (('41.2', '3.1'), ('1,230', '460'), ('2', '0'))
    """
    from discreet.answer.digits import rounded
    from discreet.plan.outward import rounded_up

    if not half:
        return f"{value:.6g}", "0"
    error = rounded_up(half, 2)
    places = 1 - floor(log10(error))
    return rounded(value, places), rounded(error, places)


def as_data(collector: "Collector", found: Any, moved: Moved) -> dict[str, Any]:
    """The estimates as JSON has them."""
    campaign = collector.campaign
    return {
        "campaign": campaign.id,
        "question": campaign.question,
        "protocol": campaign.protocol,
        "epsilon": float(campaign.epsilon),
        "n": collector.n,
        "rejected": collector.rejected,
        "false_rejects": collector.false_rejects,
        "estimates": None if found is None else _plain(found),
        "liars": None if moved is None else {"number": moved[0], "influence": moved[1]},
    }


def _plain(value: Any) -> Any:
    """A value that JSON has: of shares a row for each answer, of other estimates their fields, of an array its numbers."""
    from discreet.local.estimates import FrequencyEstimates

    if isinstance(value, FrequencyEstimates):
        return {"n": value.n, "confidence": value.confidence, "shares": _rows(value)}
    if is_dataclass(value) and not isinstance(value, type):
        public = (each.name for each in fields(value) if not each.name.startswith("_"))
        return {name: _plain(getattr(value, name)) for name in public}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else float(value)


def _rows(found: "FrequencyEstimates") -> list[dict[str, Any]]:
    numbers = {
        "share": found.values,
        "low": found.low,
        "high": found.high,
        "variance": found.variances,
        "consistent": found.consistent,
    }
    return [
        {"answer": label} | {name: float(each[place]) for name, each in numbers.items()}
        for place, label in enumerate(found.labels)
    ]
