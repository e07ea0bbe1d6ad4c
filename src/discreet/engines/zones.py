"""Zones: how far the clock of a place is ahead of UTC, from when on, in whole microseconds.

The rules come from the tz database, which Python's `zoneinfo` reads, and are written down once as integers: from 1900 to the end of 2099,
and before and after as they are at these ends. An engine gets the integers and nothing else, so that no tables of its own, and no
extension that has them, decides where an hour is.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.moments import in_years

FIRST_YEAR, LAST_YEAR = 1900, 2099
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Zone:
    """The clock of a place, such as Europe/Vienna."""

    name: str
    starts: tuple[int, ...] = field(default=(), repr=False)
    """The moments in UTC at which the clock was turned, or will be."""

    offsets: tuple[int, ...] = field(default=(0,), repr=False)
    """How far the clock is ahead of UTC: before the first of them, and from each on."""

    @classmethod
    def of(cls, name: object) -> "Zone":
        """The zone of this name in the tz database; for any other object raises Invalid."""
        if not isinstance(name, str) or not name or not name.isascii():
            raise _unknown(name)
        return _zone(name)

    def offset(self, utc: int) -> int:
        """
        >>> vienna = Zone.of("Europe/Vienna")
        >>> [vienna.offset(moment) // 3_600_000_000 for moment in (1_711_846_799_999_999, 1_711_846_800_000_000)]
        [1, 2]
        """
        return self.offsets[bisect_right(self.starts, utc)]

    def on_clock(self, utc: int) -> int | None:
        """A moment in UTC as the clock shows it; None beyond the years 1 to 9999. Of an hour that comes twice both are the same."""
        there = utc + self.offset(utc)
        return there if in_years(utc) and in_years(there) else None


@lru_cache(maxsize=64)
def _zone(name: str) -> Zone:
    try:
        rules = ZoneInfo(name)
    except Exception:  # a name may be no zone, no file, or a folder
        raise _unknown(name) from None
    first, last = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC)
    starts, offsets, day = [], [_offset(rules, first)], first
    while day < last:
        if _offset(rules, day + _DAY) != offsets[-1]:
            starts.append(_turned(rules, day))
            offsets.append(_offset(rules, day + _DAY))
        day += _DAY
    return Zone(name, tuple((each - _EPOCH) // _MICROSECOND for each in starts), tuple(offsets))


def _offset(rules: ZoneInfo, utc: datetime) -> int:
    return (utc.astimezone(rules).utcoffset() or timedelta()) // _MICROSECOND


def _turned(rules: ZoneInfo, day: datetime) -> datetime:
    """The second of a day at which the clock is turned."""
    before = _offset(rules, day)
    low, high = 0, 86_400
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(rules, day + timedelta(seconds=middle)) == before else (low, middle)
    return day + timedelta(seconds=high)


def _unknown(name: object) -> Invalid:
    return Invalid(
        f"zone must be the name of a zone of the tz database, got {shown(name)}",
        code="policy",
        hint='write zone = "Europe/Vienna", or "UTC"; where this machine has no such database: pip install tzdata',
    )
