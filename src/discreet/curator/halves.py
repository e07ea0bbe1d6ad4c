"""Find the place of a value among constants by halves, as an expression: a row is compared a few times only, however many there are."""

from collections.abc import Callable, Sequence

from discreet.plan.scalar import Case, Comparison, Literal, Order, Scalar


def by_halves(value: Scalar, ends: Sequence[Literal], place: Callable[[int], Scalar]) -> Scalar:
    """What `place` makes of the number of ends at or below a value, which rise; of 0 below all of them."""

    def halves(first: int, last: int) -> Scalar:
        if first == last:
            return place(first)
        middle = (first + last) // 2
        below = Comparison(Order.LESS, value, ends[middle])
        return Case(((below, halves(first, middle)),), halves(middle + 1, last))

    return halves(0, len(ends))
