"""A rehearsal in words and tables."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.rehearsal.columns import ColumnProfile
    from discreet.curator.rehearsal.losses import Loss, Losses
    from discreet.curator.rehearsal.people import PeopleProfile, SeveralRows
    from discreet.curator.rehearsal.record import TableRehearsal

MARK = "DO NOT PUBLISH |"
NOTICE = (
    "not private, must not be published: exact numbers of the data, for the owner's eyes; nothing was spent or recorded"
)
GIVEN = (
    "the guarantee is given the declarations: whatever of them follows the data leaks a little of it, these proposals too;"
    " round numbers that you would have guessed are better"
)
GROUPS_SHOWN = 8


def marked(line: str) -> str:
    """A line that says of itself that it must not be published."""
    return f"{MARK} {visible(line)}".rstrip()


def table_lines(table: "TableRehearsal", epsilon: Fraction) -> Iterator[str]:
    """What is to be seen of one table."""
    yield ""
    yield f"table {table.name}: {table.rows:,} rows"
    yield from _indented(_columns(table.columns))
    for spelling in table.spellings:
        yield f"  {spelling.declared} would read {spelling.then:,} {spelling.what}, instead of {spelling.now:,}"
    if table.people:
        yield ""
        yield f"people of table {table.name}: {table.people[0].people:,}; rows of nobody: {_share(table.nobody, table.rows)}"
        yield from _indented(_people(table.people))
    yield from (f"  {_several(each, table.person)}" for each in table.repeated)
    yield ""
    yield f"questions of table {table.name}, each as if it were asked at epsilon {float(epsilon):.6g}"
    for losses in table.questions:
        yield f"  {losses.text}"
        yield from (f"    {line}" for line in _losses(losses))
    yield "  limits also leave out rows of nobody; what limits and clamping take away is no part of the ±"


def _columns(columns: Sequence["ColumnProfile"]) -> list[list[str]]:
    rows = [
        ["column", "type", "of the type", "not of it", "missing", "below", "above", "with a key", "proposed bounds"]
    ]
    for each in columns:
        rows.append(
            [
                each.name,
                each.type.value,
                _share(each.values, each.rows),
                _share(each.lost, each.rows),
                _share(each.missing, each.rows),
                "-" if each.below is None else _share(each.below, each.rows),
                "-" if each.above is None else _share(each.above, each.rows),
                "-" if each.keyed is None else _share(each.keyed, each.rows),
                "-" if each.proposed is None else " … ".join(map(_number, each.proposed)),
            ]
        )
    return rows


def _people(profiles: Sequence["PeopleProfile"]) -> list[list[str]]:
    rows = [
        [
            "of each person, least median 95 % most",
            "rows",
            "max_rows",
            "proposed",
            "groups",
            "max_groups",
            "proposed",
            "max_total",
            "rows left out",
            "people cut",
        ]
    ]
    for each in profiles:
        grouped = each.column is not None
        spread, groups = each.rows_each, each.groups_each
        rows.append(
            [
                f"by {each.column}" if grouped else "without groups",
                f"{spread.least:,} {spread.median:,} {spread.usual:,} {spread.most:,}",
                _limit(each.max_rows),
                f"{each.proposed_rows:,}",
                f"{groups.least:,} {groups.median:,} {groups.usual:,} {groups.most:,}" if grouped else "-",
                _limit(each.max_groups if grouped else None),
                f"{each.proposed_groups:,}" if grouped else "-",
                _limit(each.max_total),
                f"{float(each.rows_left_out):.1%}",
                _share(each.people_cut, each.people),
            ]
        )
    return rows


def _limit(limit: int | None) -> str:
    return "-" if limit is None else f"{limit:,}"


def _several(repeated: "SeveralRows", person: str | None) -> str:
    if person is None:
        return (
            f"--row: {repeated.several:,} of {repeated.values:,} values of {repeated.column} are in several rows, one in"
            f" {repeated.most:,}: if it says who a row is about, --row does not protect them, and --unit {repeated.column} does"
        )
    if not repeated.several:
        return f"--row is plausible: no {person} has several rows"
    return f"--row would be wrong: {repeated.several:,} of {repeated.values:,} have several rows, one {repeated.most:,}"


def _losses(losses: "Losses") -> Iterator[str]:
    if losses.refusal:
        yield f"cannot be asked: {losses.refusal}"
        return
    rows = [["", "exact", "by limits", "by clamping", "± of noise", "one private draw"]]
    rows += [_loss(each) for each in losses.numbers[:GROUPS_SHOWN]]
    yield from _aligned(rows)
    if len(losses.numbers) > GROUPS_SHOWN:
        yield f"and {len(losses.numbers) - GROUPS_SHOWN:,} groups more"


def _loss(loss: "Loss") -> list[str]:
    group = ", ".join("NULL" if key is None else str(key) for key in loss.group) or "all"
    numbers = (loss.exact, loss.by_limits, loss.by_clamping, loss.noise, loss.private)
    return [group, *map(_number, numbers)]


def _indented(rows: list[list[str]]) -> Iterator[str]:
    return (f"  {line}" for line in _aligned(rows))


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    """A table whose first column is on the left, and all others on the right."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()


def _share(count: int, total: int) -> str:
    return f"{count:,} ({count / total:.1%})" if count and total else f"{count:,}"


def _number(value: float | Fraction | None) -> str:
    if value is None:
        return "-"
    number = float(value)
    if number == int(number) or abs(number) >= 1000:
        return f"{number:,.0f}".replace("-0", "0") if abs(number) < 0.5 else f"{number:,.0f}"
    return f"{number:.4g}"
