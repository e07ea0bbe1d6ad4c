"""Shuffled: what the reports of one campaign tell together once somebody who is trusted has mixed them, so that none has a sender."""

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.local.campaign import Campaign
from discreet.privacy import theorems

TWO = 1
"""The bits of a report of which there are two: then more people hide each other."""


def shuffled_epsilon(campaign: Campaign, n: int, delta: Number) -> float:
    """The central ε of n shuffled reports of one campaign, at this δ: certified from above, and never more than one report tells alone.

    For any values of all n people, replacing the value of one changes the chance of any set of shuffled reports by a factor of at most
    e^ε, plus δ (`theorems.shuffled_epsilon`). It holds if whoever shuffles is trusted to forget who sent what, and when; if all n are
    honest, since a liar hides nobody; and if tokens are random, since one that was handed to a person names them. Of a series of rounds
    it holds for each round by itself.

    >>> campaign = Campaign("Which?", ("a", "b", "c"), "k-ary", 1, bytes(16), 2_000_000_000)
    >>> round(shuffled_epsilon(campaign, 100_000, 1e-7), 4)
    0.0181
    """
    if not isinstance(campaign, Campaign):
        raise Invalid("campaign must be a Campaign", hint="of an epsilon alone it is privacy.theorems.shuffled_epsilon")
    protocol = campaign.randomiser
    return theorems.shuffled_epsilon(protocol.once, n, delta, binary=protocol.bits == TWO)
