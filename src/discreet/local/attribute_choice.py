"""Which protocol each of several attributes had better have."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from discreet.errors import Invalid
from discreet.exact import Number, shown, whole
from discreet.local.domain import Attribute, Attributes, Choices, Label
from discreet.local.frequency import ProtocolForecast, best, forecasts
from discreet.local.hidden_attribute import HiddenAttribute
from discreet.local.one_attribute import OneAttribute

NAMES = (OneAttribute.name, HiddenAttribute.name)


def choose_attributes(
    attributes: Mapping[str, "Choices | tuple[Label, ...] | int"],
    epsilon: Number,
    n: int,
    *,
    protocol: str = OneAttribute.name,
) -> Attributes:
    """The attributes as a domain, each with the protocol that `choose` would take for the reports that there are about it.

    With `one-attribute` these are about n/d reports; with `hidden-attribute` all n of them are about each attribute, and variances are
    those with fakes. Only what is public is asked for.

    >>> chosen = choose_attributes({"sex": ("f", "m"), "ward": 500}, 1, 10**5)
    >>> [each.protocol for each in chosen.attributes]
    ['k-ary', 'hashing']
    """
    if not isinstance(attributes, Mapping) or len(attributes) < 2:
        raise Invalid("attributes must be the answers of two or more of them by their names")
    if protocol not in NAMES:
        raise Invalid(f"protocol must be one of {', '.join(NAMES)}, got {shown(protocol)}")
    d = len(attributes)
    rows = []
    for name, given in attributes.items():
        answers = given if isinstance(given, Choices) else Choices(given)
        if protocol == HiddenAttribute.name:
            each = tuple(_among_fakes(row, d) for row in forecasts(answers.k, epsilon, n))
        else:
            each = forecasts(answers.k, epsilon, max(1, whole(n, "n", least=1) // d))
        rows.append(Attribute(name, answers, best(each).protocol.name))
    return Attributes(tuple(rows))


def _among_fakes(row: ProtocolForecast, d: int) -> ProtocolForecast:
    """The forecast of a protocol for one of d attributes, of which all but one are fakes."""
    hidden = HiddenAttribute((row.protocol,) * d)
    return replace(row, variance=hidden.variance(0, Fraction(1, row.protocol.k), row.people))
