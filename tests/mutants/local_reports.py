"""Planted bugs of what hostile people send: texts read without end, sums that wrap around, spellings that nobody wrote."""

from tests.local import test_campaign as campaigns
from tests.local import test_damaged as damaged
from tests.local import test_reports as reports
from tests.local import test_vectors as vectors
from tests.mutants import Mutant

L = "discreet.local."

MUTANTS = (
    Mutant(
        "texts-of-any-length",
        L + "canonical:read",
        "(most is not None and len(text) > most)",
        "False",
        "a text of gigabytes costs its reader time and memory before it is refused",
        damaged.campaigns_of_the_longest_text_are_read_and_longer_ones_are_not,
    ),
    Mutant(
        "campaigns-that-nobody-can-read",
        L + "campaign:Campaign.__post_init__",
        "if len(self.to_json()) > MOST_TEXT:",
        "if False:",
        "a campaign is made whose text every client refuses",
        damaged.campaigns_of_the_longest_text_are_read_and_longer_ones_are_not,
    ),
    Mutant(
        "ratios-that-nobody-can-read",
        L + "canonical:ratio_text",
        "if RATIO.fullmatch(text) is None:",
        "if False:",
        "a campaign is made whose text every client refuses",
        campaigns.ratios_that_no_text_holds_are_refused,
    ),
    Mutant(
        "states-of-too-many-reports",
        L + "collector:Collector.from_json",
        "n > MOST_REPORTS:",
        "n > 1 << 62:",
        "totals wrap around, and a state that no reports could have made is gone on with",
        damaged.totals_that_wrap_around_are_refused,
    ),
    Mutant(
        "other-spellings-of-a-set",
        L + "seen:SeenSet.of_record",
        "if seen.record() != record:",
        "if False:",
        "one state has many spellings",
        damaged.sets_of_tokens_have_one_spelling,
    ),
    Mutant(
        "other-spellings-of-a-report",
        L + "canonical:read",
        "or again != text",
        "",
        "one report has many spellings, and keys may be there twice",
        reports.damaged_reports_are_never_counted,
    ),
    Mutant(
        "other-spellings-of-epsilon",
        L + "campaign:Campaign.from_json",
        "if campaign.to_json() != text:",
        "if False:",
        "one campaign has two identities",
        damaged.damaged_campaigns_are_refused_or_read_as_they_are,
    ),
    Mutant(
        "digits-of-either-case",
        L + "canonical:bytes_of",
        "HEX.fullmatch(value)",
        "HEX.fullmatch(value.lower())",
        "one report has many spellings",
        reports.damaged_reports_are_never_counted,
    ),
    Mutant(
        "answers-of-any-length",
        L + "protocol:unpacked_code",
        "if len(data) != size:",
        "if len(data) < size:",
        "a report may carry whatever else somebody likes",
        reports.damaged_reports_are_never_counted,
    ),
    Mutant(
        "reports-by-another-protocol",
        L + "report:ClientReport.opened",
        "or self.protocol != protocol.name",
        "",
        "an answer that was randomised in another way is counted",
        reports.damaged_reports_are_never_counted,
    ),
    Mutant(
        "buckets-rounded-down",
        L + "hashing:best_buckets",
        "((2 << 2 * WORD) + above) // (2 * above)",
        "(2 << 2 * WORD) // (2 * above)",
        "this client and those in other languages have reports of two kinds",
        vectors.the_vectors_are_those_of_the_source,
    ),
    Mutant(
        "windows-of-another-square-wave",
        L + "square_wave:best_width",
        "share * cells + Fraction(1, 2)",
        "share * cells",
        "this client and those in other languages have reports of two kinds",
        vectors.the_vectors_are_those_of_the_source,
    ),
)
