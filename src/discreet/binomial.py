"""How likely so many successes are, and what rates so many successes leave possible. Floats, to about ten digits."""

from math import exp, lgamma, log, log1p

STEPS = 10_000  # of the continued fraction; it needs about as many as the square root of the trials
SMALL, CLOSE = 1e-300, 1e-15
HALVINGS = 60


def tail(right: int, trials: int, rate: float) -> float:
    """The probability that a binomial number of `trials` at this rate is at least `right`.

    >>> tail(0, 5, 0.1), round(tail(5, 5, 0.1), 12), round(tail(1, 2, 0.5), 12)
    (1.0, 1e-05, 0.75)
    """
    if right <= 0:
        return 1.0
    if right > trials or rate <= 0:
        return 0.0
    if rate >= 1:
        return 1.0
    # The regularised incomplete beta function; its fraction converges fast on one side of the mean, and its mirror image on the other.
    a, b = right, trials - right + 1
    if rate > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - rate)
    return _beta(a, b, rate)


def _beta(a: int, b: int, x: float) -> float:
    """I_x(a, b), by the continued fraction of Lentz."""
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    fraction, c, d = 1.0, 1.0, 0.0
    for i in range(STEPS):
        m = i // 2
        if i == 0:
            term = 1.0
        elif i % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away(1 + term * d)
        c = _away(1 + term / c)
        fraction *= c * d
        if abs(1 - c * d) < CLOSE:
            break
    return front * (fraction - 1)


def _away(value: float) -> float:
    """The value, or a small one in place of 0, by which nothing could be divided."""
    return value if abs(value) > SMALL else SMALL


def interval(right: int, trials: int, confidence: float) -> tuple[float, float]:
    """The rates that so many successes leave possible (Clopper and Pearson 1934): a true rate is missed at most as often as is said."""
    miss = (1 - confidence) / 2
    low = rate_at(right, trials, miss) if right else 0.0
    high = 1 - rate_at(trials - right, trials, miss) if right < trials else 1.0
    return low, high


def rate_at(right: int, trials: int, chance: float) -> float:
    """The rate at which at least so many are right with this chance; the chance grows with the rate."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(right, trials, middle) < chance else (low, middle)
    return low
