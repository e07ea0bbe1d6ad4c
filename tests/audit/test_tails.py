"""Laws of tails: they are those of the noise that mechanisms draw."""

from fractions import Fraction as F
from statistics import NormalDist

from discreet.audit.tails import tail
from discreet.mechanisms import RoundedGaussian


def rounded_noise_has_the_tails_of_a_gaussian() -> None:
    """Rounded to integers, noise is z or more where a Gaussian is z − 1/2 or more, but for the fine grid that it is drawn on."""
    for scale in (F(1, 3), F(1), F(7, 2)):
        normal = NormalDist(0, float(scale))
        for z in (-3, -1, 0, 1, 2, 5):
            bracket = tail(RoundedGaussian(scale), z)
            assert bracket.low <= bracket.high
            assert abs(float(bracket.low) - (1 - normal.cdf(z - 0.5))) < 1e-4
            assert abs(float(bracket.high) - (1 - normal.cdf(z - 0.5))) < 1e-4


def test_rounded_noise_has_the_tails_of_a_gaussian() -> None:
    rounded_noise_has_the_tails_of_a_gaussian()
