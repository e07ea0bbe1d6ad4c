"""The last stage of a plan: what an engine runs under known limits, and the noise of each measurement."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from discreet.plan.caps import Caps
from discreet.plan.column_limits import groups_limit
from discreet.plan.draft import Draft
from discreet.plan.gathering import query_of
from discreet.plan.level_drafts import level_drafts
from discreet.plan.measurement import Measurement
from discreet.plan.noise import PricedNoise, Split, Wanted
from discreet.plan.plan import Stage
from discreet.plan.reading import ReadingAsked, ReadingPrice
from discreet.plan.relation import Totals
from discreet.plan.releases.base import Release
from discreet.plan.releases.terms import Measured
from discreet.plan.rules.relations import combined


def stage_of(draft: Draft, caps: Caps, split: Split | None, shared: ReadingPrice) -> Stage:
    """One reading of the data, within limits, with noise of a split, None where nothing needs noise; and what is read besides."""
    drafts = level_drafts(draft)
    noises = iter(split.noises(noise_wanted(draft, caps)) if split is not None else ())
    finest = _of_groups(draft, caps, noises, shared, draft.releases)
    levels = tuple(
        None if each is None else _of_groups(each, _caps_at(each, caps), noises, shared, ()) for each in drafts
    )
    return replace(finest, levels=levels)


def _of_groups(
    draft: Draft, caps: Caps, noises: Iterator[PricedNoise], shared: ReadingPrice, releases: tuple[Release, ...]
) -> Stage:
    """What is measured of the groups of a draft, with the next noises, and what is read of them."""
    query = query_of(draft, caps)
    needed = _wanted(draft, query)
    measurements = tuple(
        _measurement(each, next(noises) if i in needed else None) for i, each in enumerate(draft.measured)
    )
    return Stage(query, draft.groups, measurements, releases, readings=tuple(shared.priced(draft, caps)))


def noise_wanted(draft: Draft, caps: Caps) -> tuple[Wanted, ...]:
    """What needs noise, within limits: in the finest groups, and behind that what is measured for each level alone."""
    limits = [(draft, caps), *((each, _caps_at(each, caps)) for each in level_drafts(draft) if each is not None)]
    return tuple(want for each, most in limits for want in _wanted(each, query_of(each, most)).values())


def _caps_at(level: Draft, caps: Caps) -> Caps:
    """The limits of a level: those of the finest groups, as whoever has no more of these has no more of their sums; and what the columns
    of its keys declare, where whoever asks set no limit."""
    limit = groups_limit(level.keys, level.scope.unfiltered)
    if limit is None or "max_groups" in level.protected.asked:
        return caps
    return replace(caps, groups=min(limit, caps.groups or limit))


def readings_wanted(draft: Draft) -> tuple[ReadingAsked, ...]:
    """What is read besides, at all levels."""
    return draft.readings * (1 + sum(each is not None for each in level_drafts(draft)))


def _measurement(measured: Measured, noise: PricedNoise | None) -> Measurement:
    mechanism, sensitivity = (None, Fraction(0)) if noise is None else (noise.mechanism, noise.sensitivity)
    return Measurement(mechanism, sensitivity, measured.step, measured.said, measured.made, measured.rounding)


def _wanted(draft: Draft, query: Totals) -> dict[int, Wanted]:
    """Which measurements need noise, by their place: all that a neighbour can move."""
    relation, cells = draft.protected.relation, draft.known
    moved = [combined(each.made, query, relation, cells) for each in draft.measured]
    return {i: Wanted(each, draft.measured[i].width(draft.terms)) for i, each in enumerate(moved) if each.l1}
