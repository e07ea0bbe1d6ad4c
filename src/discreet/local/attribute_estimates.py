"""What reports say of several attributes: the shares of each one's labels, and how far liars may have moved them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, to_float_up, whole
from discreet.local.attributes import AttributesProtocol
from discreet.local.choices import Label
from discreet.local.estimates import FrequencyEstimates, narrowed, projected, shares
from discreet.local.named_attributes import Attributes
from discreet.local.one_attribute import OneAttribute, left_out
from discreet.local.protocol import checked_confidence
from discreet.noise.size import Ints


@dataclass(frozen=True, slots=True, eq=False)
class AttributeEstimates:
    """The shares of the labels of each attribute among all n who reported, by its name.

    `by_name[…].n` is the number of reports about that attribute. One that nobody has reported on is not there.
    """

    n: int
    by_name: Mapping[str, FrequencyEstimates]
    reach: Mapping[str, Fraction]  # by how much one report of n moves n times a share

    def __getitem__(self, name: str) -> FrequencyEstimates:
        """The shares of one attribute; Invalid where there are none."""
        found = self.by_name.get(name) if isinstance(name, str) else None
        if found is None:
            raise Invalid("there are no reports about this attribute")
        return found

    def __iter__(self) -> Iterator[tuple[str, Label, float, float, float]]:
        """An attribute, a label of it, its unbiased share, and the interval of it."""
        for name, each in self.by_name.items():
            for row in each:
                yield name, *row

    def influence(self, name: str, liars: int) -> float:
        """How far so many of all who reported could have moved a share of this attribute, by saying whatever they like."""
        about = self[name].n
        few = whole(liars, "liars")
        if few > self.n:
            raise Invalid("liars must be at most the number of reports")
        return to_float_up(Fraction(min(few, about), about) * self.reach[name])


def attribute_estimates(
    protocol: AttributesProtocol, domain: Attributes, totals: Ints, n: int, confidence: Number = 0.95
) -> AttributeEstimates:
    """What n reports with these totals say of each attribute."""
    checked_confidence(confidence, n)
    found, reach = {}, {}
    for place, (attribute, (_, about)) in enumerate(
        zip(domain.attributes, protocol.by_attribute(totals, n), strict=True)
    ):
        if not about:
            continue
        own, other = protocol.chances(place)
        labels, support = attribute.answers.labels, protocol.support(place, totals, n)
        reach[attribute.name] = 1 / (own - other)
        found[attribute.name] = (
            shares_of_all(own, other, labels, support, about, n, confidence)
            if isinstance(protocol, OneAttribute)
            else shares(own, other, labels, support, n, confidence)
        )
    return AttributeEstimates(n, found, reach)


def shares_of_all(
    own: Fraction,
    other: Fraction,
    labels: tuple[Label, ...],
    support: Ints,
    about: int,
    people: int,
    confidence: Number = 0.95,
) -> FrequencyEstimates:
    """What reports of some people, drawn at random without replacement, say of the shares among all people.

    `about` people reported, and `support` of their reports are for each cell. A report supports the person's own cell with the chance
    `own`, and each other cell with the chance `other`. The mean of e^(λ·support) is the average, over all choices of so many people, of
    the product of each one's, and so by Maclaurin's inequality at most what as many independent reports of people drawn one by one have,
    each a coin of the chance s = q + f (p − q): so the inequalities of Hoeffding and Bernstein hold with their variance s(1 − s).
    """
    level = checked_confidence(confidence, about)
    p, q, gap = float(own), float(other), float(own - other)
    told = support / about

    def largest(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        chance = q + gap * np.clip((0.5 - q) / gap, low, high)
        spread: NDArray[np.float64] = chance * (1 - chance)
        return spread

    values = (told - q) / gap
    half = narrowed(largest, gap, values, about, level)
    variances = _variances(told, p, q, about, people)
    return FrequencyEstimates(
        labels, about, float(level), values, variances, values - half, values + half, projected(values)
    )


def _variances(told: NDArray[np.float64], p: float, q: float, about: int, people: int) -> NDArray[np.float64]:
    """Unbiased estimates of the variances of estimated shares.

    With t = `told`, w the noise of one report and c = `left_out` the variance of t is v = ((1 − c) w + c s(1 − s))/m for m reports. The
    mean of t(1 − t) is s(1 − s) − v, and w is linear in s; solved for v. Of one report of many nothing can be seen to vary, and the
    largest v is taken.
    """
    drawn = float(left_out(about, people))
    if drawn == 1:
        chance = min(max(0.5, q), p)
        return np.full(len(told), chance * (1 - chance) / (p - q) ** 2)
    noise = told * (1 - p) * (1 - q) + (1 - told) * p * q
    return ((1 - drawn) * noise + drawn * told * (1 - told)) / ((about - drawn) * (p - q) ** 2)
