"""The square wave: every report of small grids is enumerated for every cell, and what it says of shares and means is exact."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import Invalid
from discreet.exact import log_down, log_up
from discreet.local import Choices, Numbers, SquareWave
from discreet.local.window import ReportWindow

NEAR = F(1, 10**9)
FALSE_ALARM = 1e-6  # of each statistical test, over all of its comparisons
EPSILONS = (F(1, 10**6), F(1, 10), F(1), F(5), F(20))
SMALL = [SquareWave(3, 10, epsilon, steps) for epsilon in EPSILONS for steps in (2, 3, 7)]


def rows_are_distributions_that_tell_what_is_declared() -> None:
    for protocol in SMALL:
        assert all(sum(row) == 1 and min(row) > 0 for row in protocol.channel()), protocol
        loss = max(max(column) / min(column) for column in zip(*protocol.channel(), strict=True))
        assert log_up(loss) <= protocol.epsilon, protocol
        assert log_down(loss) >= protocol.epsilon - NEAR, protocol


def test_rows_are_distributions_that_tell_what_is_declared() -> None:
    rows_are_distributions_that_tell_what_is_declared()


def shares_are_unbiased_with_the_variance_that_is_said() -> None:
    """Moments of what one report says, for every cell of a person and every share, from the whole channel."""
    for protocol in SMALL:
        for cell in range(protocol.steps):
            told = [protocol.told(each, cell) for each in range(protocol.codes)]
            assert max(told) - min(told) == (protocol.reach if cell < protocol.steps - 1 else 0), protocol
            for place, chances in enumerate(protocol.channel()):
                mean = sum(chance * each for chance, each in zip(chances, told, strict=True))
                second = sum(chance * (each - mean) ** 2 for chance, each in zip(chances, told, strict=True))
                assert mean == F(place <= cell), (protocol, cell, place)
                assert second == protocol.variance(cell, F(place <= cell), 1), (protocol, cell, place)
            both = protocol.variance(cell, F(0), 1) + protocol.variance(cell, F(1), 1)
            assert protocol.variance(cell, F(1, 2), 2) == both / 4


def test_shares_are_unbiased_with_the_variance_that_is_said() -> None:
    shares_are_unbiased_with_the_variance_that_is_said()


def means_are_those_of_cells_with_a_variance_that_is_no_larger_than_is_said() -> None:
    for protocol in SMALL:
        numbers = [protocol.stands_for(each) for each in range(protocol.codes)]
        assert protocol.span == max(numbers) - min(numbers)
        variances = []
        for place, chances in enumerate(protocol.channel()):
            mean = sum(chance * each for chance, each in zip(chances, numbers, strict=True))
            assert mean == protocol.point(place), protocol
            variances.append(sum(chance * (each - mean) ** 2 for chance, each in zip(chances, numbers, strict=True)))
        assert max(variances) <= protocol.worst <= max(variances) + (0 if protocol.steps % 2 else protocol.step**2)


def test_means_are_those_of_cells_with_a_variance_that_is_no_larger_than_is_said() -> None:
    means_are_those_of_cells_with_a_variance_that_is_no_larger_than_is_said()


def numbers_are_in_their_cells() -> None:
    protocol = SquareWave(3, 10, 1, 7)
    for twelfth in range(85):
        value = 3 + F(twelfth, 12)
        place = protocol.place(value, None)  # type: ignore[arg-type]  # nothing is drawn
        middle, half = protocol.point(place), protocol.step / 2
        assert middle - half <= value < middle + half or (twelfth, place) == (84, 6)


def test_numbers_are_in_their_cells() -> None:
    numbers_are_in_their_cells()


def reports_are_drawn_as_they_are_enumerated() -> None:
    """Pearson's test of drawn reports against the channel, with at least 50 of each expected."""
    cases = [(protocol, cell) for protocol in SMALL if protocol.epsilon == 1 for cell in (0, protocol.steps - 1)]
    for protocol, cell in cases:
        expected = np.array([float(each) for each in protocol.channel()[cell]])
        draws = int(50 / expected.min())
        found = np.bincount(protocol.randomise([protocol.point(cell)] * draws), minlength=protocol.codes)
        alarm = FALSE_ALARM / len(cases)
        assert chisquare(found, expected * draws, sum_check=False).pvalue > alarm, protocol


def test_reports_are_drawn_as_they_are_enumerated() -> None:
    reports_are_drawn_as_they_are_enumerated()


def grids_of_many_steps_lose_no_more_and_not_much_less() -> None:
    """Two chances are all that there are."""
    for steps in (2, 1024, 1 << 16):
        for epsilon in EPSILONS:
            window = SquareWave(0, 1, epsilon, steps).window
            assert window.width * window.likely + (steps - 1) * window.rare == 1
            ratio = window.likely / window.rare
            assert epsilon - NEAR <= log_down(ratio) and log_up(ratio) <= epsilon, (steps, epsilon)


def test_grids_of_many_steps_lose_no_more_and_not_much_less() -> None:
    grids_of_many_steps_lose_no_more_and_not_much_less()


def information(window: ReportWindow) -> float:
    """What a report could tell of a cell, in nats: the entropy of even reports, less that of the report of one cell."""
    own = np.array([float(window.chance(each, 0)) for each in range(window.codes)])
    return float(np.log(window.codes) + own @ np.log(own))


def windows_tell_the_most() -> None:
    """Of all widths; the continuous formula loses less than 0.3 % on 64 cells, by its own measure (Li et al. 2020, section 5.3)."""
    for epsilon in (F(1, 2), F(1), F(2), F(4)):
        chosen = SquareWave(0, 1, epsilon, 64).window
        others = [ReportWindow.of(64, width, epsilon) for width in range(1, 65)]
        assert information(chosen) > 0.997 * max(information(each) for each in others), epsilon


def test_windows_tell_the_most() -> None:
    windows_tell_the_most()


def test_what_has_no_cells_is_refused() -> None:
    with pytest.raises(Invalid, match="at least 2"):
        SquareWave.of(Numbers(0, 1, 1), 1)
    with pytest.raises(Invalid, match="is for numbers"):
        SquareWave.of(Choices(3), 1)
