"""All protocols by name: the one list that campaigns, reports and the audit read."""

from collections.abc import Mapping

from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.local.domain import AnswerDomain
from discreet.local.hadamard import HadamardResponse
from discreet.local.hashing import LocalHashing
from discreet.local.hidden_attribute import HiddenAttribute
from discreet.local.hybrid import HybridMean
from discreet.local.kary import KaryResponse
from discreet.local.mean_response import MeanResponse
from discreet.local.memo_hashing import MemoHashing
from discreet.local.memo_kary import MemoKary
from discreet.local.one_attribute import OneAttribute
from discreet.local.piecewise import PiecewiseMean
from discreet.local.prefixes import PrefixResponse
from discreet.local.protocol import LocalProtocol
from discreet.local.square_wave import SquareWave
from discreet.local.unary import UnaryEncoding

PROTOCOLS: Mapping[str, type[LocalProtocol]] = {
    kind.name: kind
    for kind in (
        KaryResponse,
        UnaryEncoding,
        LocalHashing,
        HadamardResponse,
        MeanResponse,
        PiecewiseMean,
        HybridMean,
        SquareWave,
        MemoKary,
        MemoHashing,
        OneAttribute,
        HiddenAttribute,
        PrefixResponse,
    )
}
CODES: Mapping[int, str] = {kind.code: name for name, kind in PROTOCOLS.items()}


def protocol_of(name: str, domain: AnswerDomain, epsilon: Number) -> LocalProtocol:
    """The protocol of this name for the values of a domain; Invalid where there is none.

    >>> from discreet.local.choices import Choices
    >>> protocol_of("k-ary", Choices(3), 1)
    KaryResponse(k=3, epsilon=Fraction(1, 1))
    """
    kind = PROTOCOLS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise Invalid(f"protocol must be one of {', '.join(sorted(PROTOCOLS))}, got {shown(name)}")
    return kind.of(domain, epsilon)
