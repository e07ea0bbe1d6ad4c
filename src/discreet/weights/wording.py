"""A report on quality in words: for a terminal, and for the page."""

from collections.abc import Iterator, Sequence

from discreet.mechanisms.measure import Promise
from discreet.weights.reporting import CountError, MarginError, QualityReport

MOST_LINES = 40
EVERYTHING = 2.0
"""An error of all units: none of them is where the model has them."""


def text_of(report: QualityReport) -> str:
    """The report as a text: the margins, those that are off most first."""
    lines = [heading(report), ""]
    if report.margins:
        known = [each for each in worst_first(report) if each.high is not None]
        lines += _table(("margin", "cells", "error"), [_line(each) for each in known[:MOST_LINES]]) if known else []
        more, unknown = len(known) - MOST_LINES, len(report.margins) - len(known)
        lines += [f"… and {more:,} more"] if more > 0 else []
        lines += [f"nothing was measured that tells of {unknown:,} {'more ' * bool(known)}margins"] if unknown else []
        lines.append("")
    if report.counts:
        rows = [(visible(each.condition), f"{each.model:,.0f}", counted(each)) for each in report.counts]
        lines += [*_table(("condition", "model", "measured"), rows), ""]
    return "\n".join([*lines, *explained(report)])


def _line(margin: MarginError) -> tuple[str, str, str]:
    return visible(", ".join(margin.names)), f"{margin.cells:,}", error_of(margin)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in [heads, *rows]) for place in range(len(heads))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [heads, *rows]
    ]


def visible(text: str) -> str:
    """A text of others on a line of ours, with control characters written out."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def heading(report: QualityReport) -> str:
    """What the model is of."""
    names = ", ".join(report.domain.names)
    return visible(f"a model of about {report.total:,.0f} {report.units} by {names}: {report.domain.size:,} cells")


def worst_first(report: QualityReport) -> list[MarginError]:
    """The margins, those that may be off most first, then those of which nothing is known."""
    return sorted(report.margins, key=lambda each: (each.high is None, -(each.error or each.high or 0.0)))


def percent(share: float) -> str:
    """A share with the digits that matter.

    >>> percent(0.1234), percent(0.0123), percent(0.000123), percent(0)
    ('12.3 %', '1.23 %', '0.0123 %', '0 %')
    """
    return f"{100 * share:.3g} %"


def error_of(margin: MarginError) -> str:
    """The error of a margin with its interval, or the bounds on it."""
    if margin.high is None:
        return "not known: nothing was measured that tells"
    if margin.error is None and margin.high >= EVERYTHING:
        return "not known: noise is larger than the counts"
    if margin.error is not None:
        return f"{percent(margin.error)} ({percent(margin.low)} to {percent(margin.high)})"
    if margin.low:
        return f"{percent(margin.low)} to {percent(margin.high)}"
    return f"at most {percent(margin.high)}"


def counted(count: CountError) -> str:
    """A measured count, which may be below none by its noise."""
    return f"{count.measured:,.0f} ± {count.error:,.0f}"


def explained(report: QualityReport) -> Iterator[str]:
    """What the numbers mean, and what they cost."""
    yield (
        f"An error of a margin is the difference between the model's count and the true one, added up over all of its cells,"
        f" as a share of the model's {report.total:,.0f} {report.units}."
    )
    if report.paid is None:
        yield (
            "Errors are bounded by the noisy counts that the model was made of, and by how far their noise reaches;"
            " each bound holds with at least 95 %. They cost nothing more."
        )
    else:
        yield f"Errors were measured anew, with noise; each interval holds with at least 95 %. That cost {price(report.paid)}."
    yield f"The model cost {price(report.promise)}, {protected(report)}; rows drawn from it cost nothing more."


def price(promise: Promise) -> str:
    """An (ε, δ)."""
    amount = f"ε = {float(promise.epsilon):.6g}"
    return amount + (f", δ = {float(promise.delta):.3g}" if promise.delta else "")


def protected(report: QualityReport) -> str:
    """What neighbours are."""
    return f"where neighbours are made by {report.relation}".replace("add-remove", "adding or removing").replace(
        "by replace", "by replacing"
    )
