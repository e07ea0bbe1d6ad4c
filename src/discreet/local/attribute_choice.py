"""Which protocol each of several attributes had better have."""

from collections.abc import Mapping

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.local.choices import Choices, Label
from discreet.local.frequency import choose
from discreet.local.named_attributes import Attribute, Attributes


def choose_attributes(
    attributes: Mapping[str, "Choices | tuple[Label, ...] | int"], epsilon: Number, n: int
) -> Attributes:
    """The attributes as a domain, each with the protocol that `choose` takes for its cells, at the whole ε.

    That serves `one-attribute` and `hidden-attribute` alike. On average over k cells, and with c = (k − 1)/k², a variance v of n reports by
    itself becomes about d (v + c/n) − c/n where one attribute of d is drawn, and d² (v + c/n) − c/n among fakes: whatever is best by itself
    is best there too. Only what is public is asked for.

    >>> [each.protocol for each in choose_attributes({"sex": ("f", "m"), "ward": 500}, 1, 10**5).attributes]
    ['k-ary', 'hashing']
    """
    if not isinstance(attributes, Mapping):
        raise Invalid("attributes must be the answers of each by its name")
    rows = []
    for name, given in attributes.items():
        answers = given if isinstance(given, Choices) else Choices(given)
        rows.append(Attribute(name, answers, choose(answers.k, epsilon, n).protocol.name))
    return Attributes(tuple(rows))
