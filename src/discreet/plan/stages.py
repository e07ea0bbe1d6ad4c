"""The last stage of a plan: what an engine runs under known limits, and the noise of each measurement."""

from fractions import Fraction

from discreet.plan.caps import Caps
from discreet.plan.draft import Draft, query_of
from discreet.plan.measurement import Measurement
from discreet.plan.noise import PricedNoise, Split, Wanted
from discreet.plan.plan import Stage
from discreet.plan.reading import ReadingPrice
from discreet.plan.relation import Totals
from discreet.plan.releases.terms import Measured
from discreet.plan.rules.relations import combined


def stage_of(draft: Draft, caps: Caps, split: Split | None, shared: ReadingPrice) -> Stage:
    """One reading of the data, within limits, with noise of a split, None where nothing needs noise; and what is read besides."""
    query = query_of(draft, caps)
    requests = _wanted(draft, query)
    noise = split.noises(tuple(requests.values())) if split is not None else ()
    noises = dict(zip(requests, noise, strict=True))
    measurements = tuple(_measurement(each, noises.get(i)) for i, each in enumerate(draft.measured))
    readings = tuple(shared.priced(draft, caps))
    return Stage(query, draft.groups, measurements, draft.releases, readings=readings)


def noise_wanted(draft: Draft, caps: Caps) -> tuple[Wanted, ...]:
    """What needs noise, within limits."""
    return tuple(_wanted(draft, query_of(draft, caps)).values())


def _measurement(measured: Measured, noise: PricedNoise | None) -> Measurement:
    mechanism, sensitivity = (None, Fraction(0)) if noise is None else (noise.mechanism, noise.sensitivity)
    return Measurement(mechanism, sensitivity, measured.step, measured.said, measured.made, measured.rounding)


def _wanted(draft: Draft, query: Totals) -> dict[int, Wanted]:
    """Which measurements need noise, by their place: all that a neighbour can move."""
    relation, cells = draft.protected.relation, draft.known
    moved = [combined(each.made, query, relation, cells) for each in draft.measured]
    return {i: Wanted(each, draft.measured[i].width(draft.terms)) for i, each in enumerate(moved) if each.l1}
