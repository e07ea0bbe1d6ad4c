"""How large the error of an estimate will be: it depends on the protocol and the number of people alone."""

from fractions import Fraction
from math import sqrt
from statistics import NormalDist

from discreet.exact import Number, whole
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.hidden_attribute import HiddenAttribute
from discreet.local.number_protocol import NumberProtocol
from discreet.local.one_attribute import OneAttribute
from discreet.local.protocol import LocalProtocol, checked_confidence


def predicted_error(protocol: LocalProtocol, people: int, confidence: Number = 0.95) -> float | None:
    """About the ± of a share or of a mean that so many people will give; of several attributes that of the worst one.

    Shares are of one answer in k, if all were as frequent; means have the largest variance that there is. None where errors depend on
    more than that, as those of a search for words do.

    >>> from discreet.local import KaryResponse
    >>> round(predicted_error(KaryResponse(3, 1), 10_000), 4)
    0.0236
    """
    n = whole(people, "people", least=1)
    variance = _variance(protocol, n)
    if variance is None:
        return None
    return NormalDist().inv_cdf(float(1 + checked_confidence(confidence, n)) / 2) * sqrt(variance)


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
        case NumberProtocol():
            return protocol.worst / n
    return None
