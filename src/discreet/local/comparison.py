"""Local against central: what it costs that nobody needs to be trusted."""

from dataclasses import dataclass
from math import sqrt

from discreet.errors import Invalid
from discreet.exact import Number, whole
from discreet.local.comparison_picture import svg
from discreet.local.frequency import ProtocolForecast, choose
from discreet.mechanisms.geometric import Geometric

MOST = 10**100  # people, whose errors floats hold
DECADES = range(3, 10)  # of people, in a picture


@dataclass(frozen=True, slots=True)
class LocalComparison:
    """The standard errors of one share of n people, without and with a trusted curator, at one ε against replacing one answer.

    Either way the shares of all k cells are told at once, and the error is that of the noise alone. Locally it is the protocol that
    `choose` takes, on average over the cells; centrally it is geometric noise on each count.
    """

    local: ProtocolForecast
    central: Geometric

    @property
    def local_error(self) -> float:
        """The standard error of a share, where each person randomises their own answer."""
        return self.local.deviation

    @property
    def central_error(self) -> float:
        """The standard error of a share, where a trusted curator counts true answers and adds noise to the counts."""
        return sqrt(self.central.variance) / self.local.people

    @property
    def ratio(self) -> float:
        """The price of not trusting the curator: a constant times √n, as errors are in 1/√n locally and in 1/n centrally.

        For very few people it may be below 1: then a curator had better play the local protocol too.
        """
        return self.local_error / self.central_error

    def to_svg(self) -> str:
        """A picture: both errors from 10^3 to 10^9 people, with marks at this number of people."""
        protocol, people = self.local.protocol, self.local.people
        sizes = sorted({*(10**power for power in DECADES), people})
        each = [compare(size, protocol.k, protocol.epsilon) for size in sizes]
        title = f"standard error of a share: {protocol.k:,} cells, ε = {float(protocol.epsilon):g}"
        return svg(
            title,
            [(size, one.local_error) for size, one in zip(sizes, each, strict=True)],
            [(size, one.central_error) for size, one in zip(sizes, each, strict=True)],
            (people, self.local_error, self.central_error),
        )

    _repr_svg_ = to_svg

    def __str__(self) -> str:
        protocol, people = self.local.protocol, self.local.people
        return (
            f"{people:,} {'person' if people == 1 else 'people'}, {protocol.k:,} cells, ε = {float(protocol.epsilon):g}:"
            " the standard error of a share is"
            f" {100 * self.local_error:.2g} % where each person randomises their answer ({protocol.name}),"
            f" and {100 * self.central_error:.2g} % with a trusted curator; not to trust costs {_times(self.ratio)} times the error"
        )


def compare(n: int, domain: int, epsilon: Number) -> LocalComparison:
    """The errors of the shares of n people in `domain` cells, answered locally and centrally at the same ε.

    n is public, and neighbours differ in one person's answer. That moves two counts of a histogram by 1, so its L1 sensitivity is 2;
    of two cells one count tells the other, and its sensitivity is 1.

    >>> comparison = compare(1_000_000, 1000, 1)
    >>> f"{comparison.local_error:.6f} {comparison.central_error:.8f} {comparison.ratio:.0f}"
    '0.001922 0.00000280 687'
    """
    if whole(n, "n", least=1) > MOST:
        raise Invalid("n must be at most 10^100")
    local = choose(domain, epsilon, n)
    return LocalComparison(local, Geometric.for_epsilon(epsilon, sensitivity=2 if local.protocol.k > 2 else 1))


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"
