"""Expressions over released values, as affine functions of the measurements and as ratios of two such; and where their truth lies.

The noises of the measurements of a row are independent, and everything is traced back to them: what two aggregates share they share
here too. What is no such form is reached by interval arithmetic from parts that are. Besides the noise there is the rounding of values
and of sums to public grids, of which only the most is known: it is added to whatever the noise may do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import Any, TypeGuard

import numpy as np

from discreet.plan import numbers
from discreet.plan.affine import Affine, AffineForm, Bools, Reals, Span, inside
from discreet.plan.images import compared, image_of
from discreet.plan.measurement import CONFIDENCE
from discreet.plan.plan import Plan
from discreet.plan.sampling import Sampling
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Comparison,
    Function,
    IsNull,
    Literal,
    Not,
    Operator,
    Or,
    Over,
    Released,
    Scalar,
    Type,
    children,
    is_key,
    type_of,
)
from discreet.plan.spread import Noise, SummedNoise, half_widths, region, slopes, told_apart
from discreet.plan.windows import sum_form

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads expressions over some groups of a plan, given what was released for them; `ahead` before anything was."""

    plan: Plan
    seen: numbers.Columns
    totals: dict[int, Reals]
    ahead: bool = False
    whole: Callable[[], "Reader"] | None = None
    """Reads all rows of the answer, before LIMIT, of which these are some; None: there are no others."""

    apart: numbers.Columns | None = None
    """The rows of other levels of the answer, whose noises are not independent of those of these; None: there are none."""

    sampling: Sampling | None = None
    """How totals vary with the people who were sampled; None: what is told is for the noise alone."""

    forms: dict[Scalar, AffineForm | None] = field(default_factory=dict)
    summed: dict[tuple[SummedNoise, object], int] = field(default_factory=dict)
    """The places of totals of other rows, all below 0, by their noise and by which rows they are of."""

    @classmethod
    def of(
        cls,
        plan: Plan,
        released: Sequence[Any],
        groups: Sequence[int],
        ahead: bool = False,
        among: Sequence[int] | None = None,
        seen: numbers.Columns | None = None,
        key_places: Sequence[int] | None = None,
        apart: numbers.Columns | None = None,
        sampling: Sampling | None = None,
    ) -> "Reader":
        """`among` are the groups of all rows of the answer; None: these. `seen` are the rows of the groups, where they were made. Of
        a level of an answer `key_places` are its keys, and `apart` the rows of all others."""
        seen = numbers.columns(plan, released, groups, key_places) if seen is None else seen
        at = np.array(groups, np.int64)
        totals = {i: np.asarray(each)[at].astype(np.float64) for i, each in enumerate(released)}
        whole = None if among is None else lambda: cls.of(plan, released, among, ahead, key_places=key_places)
        return cls(plan, seen, totals, ahead, whole, apart=apart, sampling=sampling)

    def only(self, rows: Sequence[int]) -> "Reader":
        """The reader of some of these rows, for what is of each row alone."""
        at = np.array(rows, np.int64)
        totals = {i: each[at] for i, each in self.totals.items()}
        return Reader(self.plan, self.seen.only(rows), totals, self.ahead, sampling=self.sampling)

    def of_noise(self) -> "Reader":
        """The reader of the same rows for the noise alone."""
        return self if self.sampling is None else replace(self, sampling=None, forms={}, summed={})

    def everything(self) -> "Reader":
        """The reader of all rows of the answer."""
        return self if self.whole is None else self.whole()

    def virtual(self, noise: SummedNoise, rows: object) -> int:
        """The place of a total of other rows, as if it were measured beside those of the row."""
        return self.summed.setdefault((noise, rows), -1 - len(self.summed))

    @property
    def size(self) -> int:
        return len(self.seen)

    def fixed(self, value: float | Reals, low: float = -inf, high: float = inf) -> AffineForm:
        constant = np.broadcast_to(np.asarray(value, np.float64), (self.size,))
        return AffineForm(Affine(constant, {}), None, np.full(self.size, low), np.full(self.size, high))

    def form(self, scalar: Scalar) -> AffineForm | None:
        """The expression as a ratio of affine functions, or None where it is something else."""
        if scalar not in self.forms:
            self.forms[scalar] = self._form(scalar) if type_of(scalar).numeric else None
        return self.forms[scalar]

    def _form(self, scalar: Scalar) -> AffineForm | None:
        match scalar:
            case _ if is_key(scalar):
                return self.fixed(self._numbers(scalar))
            case Released():
                return self.plan.releases[scalar.index].form(self)
            case Over():
                return sum_form(scalar, self)
            case Arithmetic():
                left, right = self.form(scalar.left), self.form(scalar.right)
                return None if left is None or right is None else self._combined(scalar, left, right)
            case Cast(type=Type.NUMBER):
                return self.form(scalar.operand)
            case Coalesce() if not isinstance(scalar.parts[0], Case):
                return self.form(scalar.parts[0])  # NULL only of too few, where the truth is that number or not told
            case Case():
                return self._case(scalar)
        return None

    def _numbers(self, scalar: Scalar) -> Reals:
        """The numbers of keys alone; NULL is not a number here, and nothing is said of it in the end."""
        values = self.seen.values(scalar)
        return np.array([float(value) if isinstance(value, int | float) else np.nan for value in values])

    # What releases are made of.

    def total(self, index: int) -> Affine:
        """The truth of a measurement."""
        measurement = self.plan.measurements[index]
        step, off = np.full(self.size, float(measurement.step)), self._rounding(index)
        if measurement.noise is None and self.sampling is None:
            return Affine(step * self.totals[index], {}, off)
        return Affine(np.zeros(self.size), {index: step}, off)

    def read(self, place: int) -> Affine:
        """The truth of what a reading released with noise at this place: a whole number."""
        return Affine(np.zeros(self.size), {place: np.ones(self.size)}, np.zeros(self.size))

    def _rounding(self, index: int) -> Reals:
        """How far a total may be off for what was rounded: half a step of the sum, and what each row may be off.

        How many rows there are is known from the count that was released beside the sum, or from the number of people that was declared.
        """
        measurement = self.plan.measurements[index]
        half, each = float(measurement.half_step), float(measurement.rounding)
        counts = [release.counted[index] for release in self.plan.releases if index in release.counted]
        if not each:
            return np.full(self.size, half)
        if not counts or self.ahead:
            return np.full(self.size, half + each * self.plan.most_rows(measurement.cells))
        # several count the same rows in other words
        place = min(counts)
        count = self.plan.measurements[place]
        rounded: Reals = half + each * float(count.step) * np.maximum(self.totals[place] + count.few, 0.0)
        return rounded

    def ratio(self, top: int, bottom: int, low: Fraction, high: Fraction, base: Fraction = ZERO) -> AffineForm:
        """The truth of base + one measurement over another, such as a count, which is known to lie between low and high."""
        total, count = self.total(top), self.total(bottom)
        if count.slopes:
            return AffineForm(total, count, self.full(low), self.full(high), self.full(base))
        # what counts is public, and of nobody there is no mean
        shares = np.where(count.constant > 0, 1 / count.constant, np.nan)
        return AffineForm(total.times(shares).plus(Affine(self.full(base), {})), None, self.full(low), self.full(high))

    def full(self, value: Fraction | float) -> Reals:
        """A public number in each row."""
        return np.full(self.size, float(value))

    def unbounded(self) -> tuple[Reals, Reals]:
        """The bounds of what has none."""
        return self.full(-inf), self.full(inf)

    # Expressions of several releases.

    def _combined(self, scalar: Arithmetic, left: AffineForm, right: AffineForm) -> AffineForm | None:
        if len(self._sums(left) | self._sums(right)) > 1:
            return None  # of rows that overlap
        match scalar.operator:
            case Operator.ADD:
                return self._sum(left, right)
            case Operator.SUBTRACT:
                return self._sum(left, right.times(np.full(self.size, -1.0)))
            case Operator.MULTIPLY:
                return self._product(left, right)
            case Operator.DIVIDE:
                return self._ratio(left, right, self._is_share(scalar.left, scalar.right))
        return None

    def _sums(self, form: AffineForm) -> set[object]:
        """Over which rows a form sums, besides its own."""
        used = {*form.top.slopes, *(form.bottom.slopes if form.bottom else ())}
        return {rows[1] for (_, rows), place in self.summed.items() if place in used}  # type: ignore[index]

    def _sum(self, left: AffineForm, right: AffineForm) -> AffineForm | None:
        bounds = left.low + right.low, left.high + right.high
        for one, other in ((left, right), (right, left)):
            if other.constant:
                value = other.top.constant
                ends = one.low + value, one.high + value
                if one.bottom is None:
                    return AffineForm(one.top.plus(other.top), None, *ends)
                return AffineForm(one.top, one.bottom, *ends, one.base + value)
        if _same(left.bottom, right.bottom):
            return AffineForm(left.top.plus(right.top), left.bottom, *bounds, left.base + right.base)
        return None

    def _product(self, left: AffineForm, right: AffineForm) -> AffineForm | None:
        for one, other in ((left, right), (right, left)):
            if other.constant:
                return one.times(other.top.constant)
            if one.bottom is not None and other.bottom is None and one.bottom.same(other.top):
                return AffineForm(one.whole_top, None, *self.unbounded())  # a mean times its own count
        return None

    def _ratio(self, left: AffineForm, right: AffineForm, share: bool) -> AffineForm | None:
        if right.constant:
            inverse = np.where(right.top.constant == 0, np.nan, 1 / right.top.constant)
            return left.times(inverse)
        bounds = (np.zeros(self.size), np.ones(self.size)) if share else self.unbounded()
        if _same(left.bottom, right.bottom):
            return AffineForm(left.whole_top, right.whole_top, *bounds)
        if left.constant and right.bottom is not None:
            return AffineForm(right.bottom.times(left.top.constant), right.whole_top, *bounds)
        return None

    def _is_share(self, top: Scalar, bottom: Scalar) -> bool:
        """Whether one count is of some of those that another counts, so that the ratio of the truth is at most 1."""
        if not isinstance(top, Released) or not isinstance(bottom, Released):
            return False
        some, whole = (self.plan.question.aggregates[each.index] for each in (top, bottom))
        return some.kind.part_of(some, whole)

    def _case(self, scalar: Case) -> AffineForm | None:
        values = [value for _, value in scalar.branches] + [scalar.otherwise]
        some = list(dict.fromkeys(value for value in values if not _is_null(value)))
        if len(some) == 1:
            return self.form(some[0])  # NULLIF, and numbers that are hidden where they are small
        if not all(is_key(condition) for condition, _ in scalar.branches):
            return None
        chosen = self.form(scalar.otherwise)
        for condition, value in reversed(scalar.branches):
            form = self.form(value)
            if form is None or chosen is None:
                return None
            mask = np.array([each is True for each in self.seen.values(condition)], np.bool_)
            chosen = _chosen(mask, form, chosen)
        return chosen

    # From forms to intervals.

    def span(self, scalar: Scalar, confidence: float) -> Span | None:
        """The span of the truth, jointly for everything in the expression that is read by itself, or None for what is no number."""
        return self._span(scalar, 1 - (1 - confidence) / max(1, len(self._leaves(scalar))))

    def _leaves(self, scalar: Scalar) -> set[tuple[Scalar, int]]:
        """The largest parts of an expression that have a form, without those that are certain; of releases without one their parts."""
        form = self.form(scalar)
        if form is not None:
            return set() if form.constant else {(scalar, 0)}
        if isinstance(scalar, Released):
            return {(scalar, i) for i in range(self.plan.releases[scalar.index].parts)}
        return set().union(*(self._leaves(child) for child in children(scalar)))

    def _span(self, scalar: Scalar, confidence: float) -> Span | None:
        form = self.form(scalar)
        if form is not None:
            return self.ends(form, confidence)
        match scalar:
            case Released():
                return self.plan.releases[scalar.index].span(self, confidence)
            case Case() if type_of(scalar).numeric:
                return self._case_span((*scalar.branches, (TRUE, scalar.otherwise)), confidence)
            case Coalesce() if type_of(scalar).numeric:
                return self._case_span([(Not(IsNull(part)), part) for part in scalar.parts], confidence)
            case Arithmetic() | Function() | Cast():
                inside = [self._span(child, confidence) for child in children(scalar)]
                spans = [span for span in inside if span is not None]
                return image_of(scalar, spans) if len(spans) == len(inside) else None
        return None

    def ends(self, form: AffineForm, confidence: float) -> Span:
        """The interval of one form."""
        noises = self._noises(form)
        top, centre = self._matrix(form.top, noises), form.top.at(self.totals)  # without the base
        if self.sampling is not None:
            return self._sampled_ends(form, confidence, self.sampling)
        if form.bottom is None:
            widths = half_widths(top, tuple(noises.values()), confidence) if noises else np.zeros(self.size)
            widths = widths + form.top.off
            closed = np.zeros(self.size, np.bool_)
            return Span(*inside(centre - widths, centre + widths, form), closed, widths)
        bottom, below = self._matrix(form.bottom, noises), form.bottom.at(self.totals)
        off = np.stack([np.broadcast_to(np.asarray(each.off), (self.size,)) for each in (form.top, form.bottom)])
        least, most = form.low - form.base, form.high - form.base
        low, high = np.full(self.size, np.nan), np.full(self.size, np.nan)
        open_ = np.zeros(self.size, np.bool_)
        kinds, kind_of = told_apart(np.concatenate([top, bottom], axis=1))
        for k, kind in enumerate(kinds):
            rows = np.flatnonzero(kind_of == k)
            a, b = kind[: len(noises)], kind[len(noises) :]
            if not b.any():
                noise = half_widths(a[None, :], tuple(noises.values()), confidence)[0]
                width = (noise + off[0, rows]) / np.abs(below[rows])
                low[rows], high[rows] = centre[rows] / below[rows] - width, centre[rows] / below[rows] + width
            elif np.isfinite(kind).all():
                corners = region(a, b, tuple(noises.values()), confidence)
                ends = slopes(centre[rows], below[rows], corners, least[rows], most[rows], off[:, rows])
                low[rows], high[rows], open_[rows] = ends
        return Span(form.base + low, form.base + high, open_)

    def _sampled_ends(self, form: AffineForm, confidence: float, sampling: Sampling) -> Span:
        """The interval of one form for the population that people were sampled from."""
        noises = self._noises(form)
        top, bottom = (None if each is None else self._matrix(each, noises) for each in (form.top, form.bottom))
        return sampling.span(form, (top, bottom), tuple(noises.values()), self.totals, confidence)

    def _noises(self, form: AffineForm) -> dict[int, Noise]:
        used = sorted({*form.top.slopes, *(form.bottom.slopes if form.bottom else ())})
        others = {place: noise for (noise, _), place in self.summed.items()}
        noises = {i: others[i] if i < 0 else self.plan.decided.noise_of(i) for i in used}
        return {i: noise for i, noise in noises.items() if noise is not None}

    def _matrix(self, affine: Affine, noises: Mapping[int, Noise]) -> Reals:
        zero = np.zeros(self.size)
        columns = [affine.slopes.get(i, zero) for i in noises]
        return np.stack(columns, axis=1) if columns else np.zeros((self.size, 0))

    # Where there are too few.

    def few(self, divisor: Scalar) -> Bools:
        """The rows in which a divisor cannot be told from 0 at 95 %: its interval holds 0, or does not end; NaN tells of nothing."""
        span = self.of_noise().span(divisor, CONFIDENCE)
        if span is None:
            return np.zeros(self.size, np.bool_)
        told = span.low > 0
        if not self._never_negative(divisor):
            told = told | (span.high < 0)
        few: Bools = span.open | ~told
        return few

    def _never_negative(self, scalar: Scalar) -> bool:
        """Whether the truth is never negative: counts, sums of what has no negative bound, sums and products of such."""
        match scalar:
            case Released():
                return self.plan.releases[scalar.index].never_negative(self.plan)
            case Literal(value=int() | float() as value):
                return value >= 0
            case Over():
                return all(map(self._never_negative, scalar.operands))
            case Cast():
                return self._never_negative(scalar.operand)
            case Arithmetic(operator=Operator.ADD | Operator.MULTIPLY):
                return self._never_negative(scalar.left) and self._never_negative(scalar.right)
            case Case():
                values = [*(value for _, value in scalar.branches), scalar.otherwise]
                return all(_is_null(value) or self._never_negative(value) for value in values)
        return False

    def of_too_few(self, scalar: Scalar) -> Bools:
        """The rows in which an expression has a mean or a ratio in it that is of too few."""
        rows = np.zeros(self.size, np.bool_)
        if isinstance(scalar, Released):
            rows = np.array([each is None for each in self.seen.values(scalar)], np.bool_)
        if divides(scalar):
            rows = self.few(scalar.right)
        for child in children(scalar):
            rows = rows | self.of_too_few(child)
        return rows

    def _case_span(self, branches: Sequence[tuple[Scalar, Scalar]], confidence: float) -> Span | None:
        """The hull of the branches that may be taken."""
        low, high = np.full(self.size, inf), np.full(self.size, -inf)
        open_ = np.zeros(self.size, np.bool_)
        possible = np.ones(self.size, np.bool_)
        for condition, value in branches:
            surely, never = self.decided(condition, confidence)
            taken = possible & ~never
            possible = possible & ~surely
            if _is_null(value):
                continue
            span = self._span(value, confidence)
            if span is None:
                return None
            low = np.where(taken, np.minimum(low, span.low), low)
            high = np.where(taken, np.maximum(high, span.high), high)
            open_ |= taken & span.open
        return Span(low, high, open_)

    def decided(self, condition: Scalar, confidence: float) -> tuple[Bools, Bools]:
        """The rows in which a condition on the truth surely holds, and those in which it surely does not."""
        if is_key(condition):
            truths = self.seen.values(condition)
            return np.array([each is True for each in truths]), np.array([each is not True for each in truths])
        match condition:
            case Comparison():
                left, right = self._span(condition.left, confidence), self._span(condition.right, confidence)
                if left is not None and right is not None:
                    return compared(condition.order, left, right)
            case Not():
                surely, never = self.decided(condition.operand, confidence)
                return never, surely
            case And() | Or():
                decided = [self.decided(part, confidence) for part in condition.parts]
                every, some = [each for each, _ in decided], [each for _, each in decided]
                if isinstance(condition, And):
                    return np.logical_and.reduce(every), np.logical_or.reduce(some)
                return np.logical_or.reduce(every), np.logical_and.reduce(some)
        return np.zeros(self.size, np.bool_), np.zeros(self.size, np.bool_)


TRUE = Literal(True, Type.BOOLEAN)


def divides(scalar: Scalar) -> TypeGuard[Arithmetic]:
    """Whether something is divided by a released number."""
    return isinstance(scalar, Arithmetic) and scalar.operator is Operator.DIVIDE and not is_key(scalar.right)


def _same(one: Affine | None, other: Affine | None) -> bool:
    return one is other or (one is not None and other is not None and one.same(other))


def _is_null(scalar: Scalar) -> bool:
    return isinstance(scalar, Literal) and scalar.value is None


def _chosen(mask: Bools, yes: AffineForm, no: AffineForm) -> AffineForm:
    """Row by row one form or the other."""
    bottom = None
    if yes.bottom is not None or no.bottom is not None:
        one = Affine(np.ones(mask.size), {})
        bottom = _chosen_affine(mask, yes.bottom or one, no.bottom or one)
    top = _chosen_affine(mask, yes.top, no.top)
    low, high, base = (np.where(mask, a, b) for a, b in ((yes.low, no.low), (yes.high, no.high), (yes.base, no.base)))
    return AffineForm(top, bottom, low, high, base)


def _chosen_affine(mask: Bools, yes: Affine, no: Affine) -> Affine:
    zero = np.zeros(mask.size)
    both = {i: np.where(mask, yes.slopes.get(i, zero), no.slopes.get(i, zero)) for i in {*yes.slopes, *no.slopes}}
    return Affine(np.where(mask, yes.constant, no.constant), both, np.where(mask, yes.off, no.off))
