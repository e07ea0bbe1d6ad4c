"""How large the error of an estimate will be: it depends on the protocol and the number of people alone."""

from fractions import Fraction
from math import sqrt
from statistics import NormalDist

from discreet.errors import Invalid
from discreet.exact import Number, whole
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.hidden_attribute import HiddenAttribute
from discreet.local.mean_estimate import half_of_mean
from discreet.local.number_protocol import NumberProtocol
from discreet.local.one_attribute import OneAttribute
from discreet.local.protocol import LocalProtocol, checked_confidence


def predicted_error(protocol: LocalProtocol, people: int, confidence: Number = 0.95) -> float | None:
    """About the ± that the estimates of so many people will have; of several attributes that of the worst one.

    Shares are of one answer in k, if all were as frequent, for many people. The ± of a mean is exactly this, as it depends on nobody's
    number. None where errors depend on more than that, as those of a search for words do.

    >>> from discreet.local import KaryResponse
    >>> round(predicted_error(KaryResponse(3, 1), 10_000), 4)
    0.0236
    """
    if not isinstance(protocol, LocalProtocol):
        raise Invalid("protocol must be a protocol", hint="of a campaign it is campaign.randomiser")
    n = whole(people, "people", least=1)
    level = checked_confidence(confidence, n)
    if isinstance(protocol, NumberProtocol):
        return half_of_mean(protocol, n, level) + float(protocol.blur)
    variance = _variance(protocol, n)
    return None if variance is None else -NormalDist().inv_cdf(float(1 - level) / 2) * sqrt(variance)


def _variance(protocol: LocalProtocol, n: int) -> Fraction | None:
    match protocol:
        case FrequencyProtocol():
            return protocol.variance(Fraction(1, protocol.k), n)
        case HiddenAttribute():
            return max(protocol.variance(place, Fraction(1, part.k), n) for place, part in enumerate(protocol.parts))
        case OneAttribute():
            about = max(1, n // len(protocol.parts))
            return max(
                protocol.variance(place, Fraction(1, part.k), about, n) for place, part in enumerate(protocol.parts)
            )
    return None
