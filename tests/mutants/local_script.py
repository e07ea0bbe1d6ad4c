"""Planted bugs of the client in JavaScript: text to replace in its source, and the law that catches it under node."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.local import script
from tests.local import test_script as laws
from tests.mutants import Law


@dataclass(frozen=True, slots=True)
class ScriptMutant:
    """In the script `old`, which occurs once, becomes `new`."""

    name: str
    old: str
    new: str
    breaks: str  # what goes wrong, in words
    law: Law  # what holds without the bug, and must fail with it

    def planted(self) -> AbstractContextManager[None]:
        """The bug is live inside the `with` block, in every node that is started."""
        return script.edited(self.old, self.new)


MUTANTS = (
    ScriptMutant(
        "coins-of-one-more",
        "return this.word() < chance;",
        "return this.word() <= chance;",
        "reports tell a little more than is declared",
        laws.reports_of_one_tape_are_the_same_bytes,
    ),
    ScriptMutant(
        "coins-of-floating-point",
        "return this.word() < chance;",
        "return Number(this.word()) / 2 ** 64 < Number(chance) / 2 ** 64;",
        "eleven of 64 digits are lost",
        laws.reports_of_one_tape_are_the_same_bytes,
    ),
    ScriptMutant(
        "ranges-of-any-width",
        " || this.width.top * LARGEST < this.width.below",
        "",
        "a campaign that Python refuses is answered",
        laws.texts_are_campaigns_of_both_or_of_neither,
    ),
    ScriptMutant(
        "ranges-as-far-as-one-likes",
        " || -top > LARGEST * below",
        "",
        "a campaign that Python refuses is answered",
        laws.texts_are_campaigns_of_both_or_of_neither,
    ),
    ScriptMutant(
        "truths-rounded-up",
        "(one << DIGITS) / (one + (k - 1n) * above)",
        "(one << DIGITS) / (one + (k - 1n) * above) + 1n",
        "reports tell a little more than is declared",
        laws.probabilities_of_the_truth_are_the_same,
    ),
    ScriptMutant(
        "truths-by-the-other-bracket",
        "const [, above] = expNegBounds(epsilon, precision);",
        "const [above] = expNegBounds(epsilon, precision);",
        "reports tell a little more than is declared",
        laws.probabilities_of_the_truth_are_the_same,
    ),
    ScriptMutant(
        "integers-by-the-remainder",
        "if (value < n) return value;",
        "return value % n;",
        "small integers are drawn more often than large ones",
        laws.reports_of_one_tape_are_the_same_bytes,
    ),
    ScriptMutant(
        "words-of-31-digits",
        "const word = pool[read];",
        "const word = BigInt.asUintN(31, pool[read]);",
        "the truth is told always",
        laws.cells_are_drawn_as_they_are_enumerated,
    ),
    ScriptMutant(
        "words-drawn-once",
        "if (read === pool.length) {\n      crypto.getRandomValues(pool);",
        "if (read === pool.length) {\n      pool.fill(1n << 63n);",
        "all people have the same noise",
        laws.cells_are_drawn_as_they_are_enumerated,
    ),
    ScriptMutant(
        "others-that-are-the-truth",
        "other + BigInt(other >= value)",
        "other",
        "the last cell is never told by anybody else",
        laws.reports_of_one_tape_are_the_same_bytes,
    ),
    ScriptMutant(
        "signs-of-the-coefficient",
        "parity(place & cell)",
        "parity(place)",
        "reports say nothing of a person",
        laws.reports_of_one_tape_are_the_same_bytes,
    ),
    ScriptMutant(
        "buckets-of-other-seeds",
        "(a * cell + b)",
        "(b * cell + a)",
        "reports are about other cells",
        laws.reports_of_one_tape_are_the_same_bytes,
    ),
    ScriptMutant(
        "fakes-of-the-own-cell",
        "place === sampled ? cells[place] : fake",
        "cells[place]",
        "all attributes are told at the whole ε each",
        laws.reports_of_one_tape_are_the_same_bytes,
    ),
    ScriptMutant(
        "numbers-rounded-down",
        "top / below + BigInt(coins.ratio(top % below, below))",
        "top / below",
        "means are too low by half a step",
        laws.reports_of_one_tape_are_the_same_bytes,
    ),
    ScriptMutant(
        "numbers-of-the-nearest-double",
        "BigInt(exponent) - BigInt(after.length)",
        "BigInt(exponent) - BigInt(after.length > 15 ? 15 : after.length)",
        "a number is taken for ten times itself",
        laws.numbers_are_the_decimals_that_they_print,
    ),
    ScriptMutant(
        "any-spelling-is-read",
        "again !== text || ",
        "",
        "one campaign has many identities",
        laws.texts_are_campaigns_of_both_or_of_neither,
    ),
    ScriptMutant(
        "epsilons-of-any-size",
        "|| epsilon.top > 20n * epsilon.below",
        "",
        "a campaign is answered whose ε hides nothing",
        laws.texts_are_campaigns_of_both_or_of_neither,
    ),
    ScriptMutant(
        "letters-as-they-are",
        ".replace(/[\\x7f-\\uffff]/g, escaped)",
        "",
        "campaigns of other than English letters are refused",
        laws.campaigns_have_the_same_identity_and_coins,
    ),
    ScriptMutant(
        "labels-that-are-alike",
        "this.cells.get(value) : counted",
        "this.cells.get(value) ?? this.cells.get(Number(value)) : counted",
        "true is taken for 1",
        laws.what_is_not_in_the_domain_is_refused_and_not_said,
    ),
    ScriptMutant(
        "clients-report-again",
        "this.#reported ??= ",
        "this.#reported = ",
        "each report costs epsilon again",
        laws.clients_report_once_and_in_time,
    ),
    ScriptMutant(
        "campaigns-without-end",
        "!(this.#clock() < expires)",
        "false",
        "clients report after the time that was agreed",
        laws.clients_report_once_and_in_time,
    ),
)
