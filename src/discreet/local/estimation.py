"""What the totals of all reports say, whatever was asked: one kind of estimates for each kind of protocol.

Only who collects needs it: protocols and clients know nothing of it.
"""

from typing import Any

from discreet.errors import Fault
from discreet.exact import Number
from discreet.local.attribute_estimates import attribute_estimates
from discreet.local.attributes import AttributesProtocol
from discreet.local.choices import Choices
from discreet.local.distribution import DistributionEstimate
from discreet.local.domain import AnswerDomain
from discreet.local.estimates import shares
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.heavy_hitters import frequent_words
from discreet.local.mean_estimate import MeanEstimate
from discreet.local.mean_protocol import MeanProtocol
from discreet.local.named_attributes import Attributes
from discreet.local.prefixes import PrefixResponse
from discreet.local.protocol import LocalProtocol
from discreet.local.rounds import Rounds
from discreet.local.square_wave import SquareWave
from discreet.local.words import Words
from discreet.noise.size import Ints


def estimates(protocol: LocalProtocol, domain: AnswerDomain, totals: Ints, n: int, confidence: Number = 0.95) -> Any:
    """What n reports with these totals say, with variances and intervals; Invalid where there are none."""
    match protocol, domain:
        case FrequencyProtocol(), Choices() | Rounds():
            return shares(protocol.p, protocol.q, domain.labels, protocol.support(totals, n), n, confidence)
        case AttributesProtocol(), Attributes():
            return attribute_estimates(protocol, domain, totals, n, confidence)
        case MeanProtocol(), _:
            return MeanEstimate.of(protocol, totals, confidence)
        case SquareWave(), _:
            return DistributionEstimate.of(protocol, totals, confidence)
        case PrefixResponse(), Words():
            return frequent_words(protocol, totals, n, confidence)
    raise Fault(f"there are no estimates for {protocol.name}", code="protocol")
