"""A table of units in cells as rows of features and a target: what is asked for is public, and the rows are read inside of draws alone.

A number is asked for in many equal cells between its bounds, and the middle of a cell stands for what is in it. So a feature is off by
half of a cell at most, which is 1/512 of the width of its bounds; whole numbers and days with fewer values than cells are exact.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.cells import Attribute, Binned, Categorical, Category, CellCounts, CellTable
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.learn.centring import Examples
from discreet.learn.encoding import Encoding, NumberColumn
from discreet.mechanisms.guarded import Guarded

CELLS = 256
"""Of a number between its bounds, where nobody says otherwise."""

MOST_FEATURES = 4096
"""So that the rows of any table that fits into memory do: a public constant, looked at before anything is spent."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """What a model is trained on, by what is declared: the attributes of the features, how they are encoded, and the target's cells.

    Who has no cell of the target, by a label that was not declared or by none, is left out. Each unit has one row at most: so one
    that comes or goes is one row more or less, and one that is replaced one row instead of another.
    """

    table: CellTable
    attributes: tuple[Attribute, ...]
    target: Attribute
    encoding: Encoding

    @classmethod
    def of(cls, table: CellTable, features: Any, target: Attribute, *, reference: bool) -> "TableRows":
        """For any features returns those that are declared, or raises Invalid or QueryError; no data is read."""
        asked = features_asked(table, features, target.name)
        found = tuple(_refined(table, each, said) for each, said in asked)
        encoding = Encoding.of(found, reference)
        if len(encoding.labels) > MOST_FEATURES:
            raise Invalid(
                f"the columns make {len(encoding.labels):,} features, and {MOST_FEATURES:,} are the most",
                code="features",
                hint="name fewer of them, or declare fewer keys",
            )
        return cls(table, found, target, encoding)

    def reader(self) -> Callable[[], Examples]:
        """What reads the examples, for draws: the first one reads them, and those after it have the same, in memory alone."""
        counts = self.table.counts((*self.attributes, self.target))
        kept: list[Examples] = []

        def read() -> Examples:
            if not kept:
                kept.append(self._examples(counts()))
            return kept[0]

        return Guarded(read)

    def _examples(self, cells: CellCounts) -> Examples:
        """One row for each unit."""
        rows = self.encoding.rows(self.attributes, cells.codes[:, :-1])
        return Examples(np.repeat(rows, cells.counts, axis=0), np.repeat(cells.codes[:, -1], cells.counts))


def features_asked(table: CellTable, features: Any, target: str) -> list[tuple[Attribute, Any]]:
    """The attributes of features, each with what is said of its cells; without names all that are known but the target."""
    if features is None:
        return [(each, None) for each in table.attributes(None) if each.name.casefold() != target.casefold()]
    said = _said(features)
    if not said:
        raise Invalid("there must be at least one feature", code="features", hint="name columns: features=['age']")
    found = table.attributes(said)
    for each in found:
        if each.name.casefold() == target.casefold():
            raise Invalid(
                f"the target {each.name!r} is among the features",
                code="features",
                hint="leave it out of them: it is what the model is to tell",
            )
    return list(zip(found, said.values(), strict=True))


def _said(features: Any) -> dict[str, Any]:
    if isinstance(features, Mapping):
        return dict(features)
    if isinstance(features, str) or not isinstance(features, Sequence) or not all(isinstance(x, str) for x in features):
        raise Invalid(
            f"features must be names of columns, got {shown(features)}",
            code="features",
            hint="write features=['age', 'ward']",
        )
    for name in features:
        if list(features).count(name) > 1:
            raise Invalid(f"the feature {name!r} is named twice", code="features", hint="name it once")
    return dict.fromkeys(features)


def _refined(table: CellTable, attribute: Attribute, said: Any) -> Attribute:
    """A number in many cells, unless somebody said in which."""
    if said is not None or isinstance(attribute, Categorical):
        return attribute
    return _asked(table, attribute.name, CELLS)


def _asked(table: CellTable, name: str, said: Any) -> Attribute:
    return table.attributes({name: said})[0]


def class_target(table: CellTable, name: str, classes: Sequence[Category] | None) -> Categorical:
    """The classes that a column has by its declared keys, or those that are given; Invalid where there are not two of them."""
    if classes is None:
        found = _declared(table, name)
        if not isinstance(found, Categorical):
            raise Invalid(
                f"nobody declared which classes the target {found.name!r} has: it has bounds, and no keys",
                code="classes",
                hint=f"{KEYS_HINT.format(found.name)}, or train --model linear for a number",
            )
    else:
        listed = _classes(classes)
        (attribute,) = table.attributes([Categorical(name, listed)])
        assert isinstance(attribute, Categorical)
        found = attribute
        _check_among_keys(table, found)
    if len(found.values) < 2:
        raise Invalid(
            f"the target {found.name!r} needs two classes or more, got {len(found.values)}",
            code="classes",
            hint=KEYS_HINT.format(found.name),
        )
    (target,) = table.attributes([replace(found, other=False, missing=False)])
    assert isinstance(target, Categorical)
    return target


def _classes(given: Any) -> tuple[Any, ...]:
    """Those that are given, each once."""
    try:
        listed = () if isinstance(given, str) else tuple(given)
        once = len(set(listed)) == len(listed)
    except TypeError:  # what is no list, or holds lists
        listed, once = (), False
    if isinstance(given, str) or not once:
        raise Invalid("classes must be a list, each named once", code="classes", hint="write classes=['no', 'yes']")
    return listed


def _check_among_keys(table: CellTable, target: Categorical) -> None:
    """Invalid for a class that is none of the target's declared keys, such as one that was misspelt: it would be paid for in vain."""
    try:
        (declared,) = table.attributes([target.name])
    except Invalid as error:
        if error.code != "cells":
            raise
        return  # nobody declared its keys
    if not isinstance(declared, Categorical):
        return
    strange = [each for each in target.values if each not in declared.values]
    if strange:
        raise Invalid(
            f"{', '.join(map(shown, strange))} is no declared key of the target {target.name!r}",
            code="classes",
            hint=f"its keys are {', '.join(map(shown, declared.values))}",
        )


KEYS_HINT = 'declare keys = ["no", "yes"] at column {0!r} of the policy, or give classes (--classes no,yes)'


def _declared(table: CellTable, name: str) -> Attribute:
    """The target as it is declared; what is said where nothing is, is about classes."""
    if not isinstance(name, str):
        raise Invalid(f"the target must be the name of a column, got {shown(name)}", code="target")
    try:
        return table.attributes([name])[0]
    except Invalid as error:
        if error.code != "cells":
            raise
        raise Invalid(
            f"nobody declared which classes the target {name!r} has, and the data may not be looked at for them",
            code="classes",
            hint=KEYS_HINT.format(name),
        ) from None


def number_target(table: CellTable, name: str) -> Binned:
    """A target that is a number, in cells between its bounds; Invalid for any other."""
    if not isinstance(name, str):
        raise Invalid(f"the target must be the name of a column, got {shown(name)}", code="target")
    try:
        found = _asked(table, name, CELLS)
    except Invalid as error:
        if error.code != "cells":
            raise
        raise _no_number(name) from None
    if not isinstance(found, Binned) or NumberColumn.of(found).in_days:
        raise _no_number(name)
    (target,) = table.attributes([replace(found, missing=False)])
    assert isinstance(target, Binned)
    return target


def _no_number(name: str) -> Invalid:
    return Invalid(
        f"the target {name!r} is no number with bounds, and a linear model tells such a number",
        code="target",
        hint=f"declare bounds = [0, 100] at column {name!r} of the policy, or train --model logistic for classes",
    )
