"""Planted bugs of what is around local privacy: files of states and reports, the audit of protocols, predicted errors."""

from tests.cli import test_collect as commands
from tests.local import test_comparison as comparisons
from tests.local import test_contract as contract
from tests.local import test_prediction as predictions
from tests.local import test_states as states
from tests.mutants import Mutant, by_itself

L = "discreet.local."

MUTANTS = (
    Mutant(
        "states-without-their-hash",
        L + "states:_text",
        "!= digest",
        "!= digest and not digest",
        "a row that somebody changed is a state",
        by_itself(states.test_changed_rows_are_refused),
    ),
    Mutant(
        "states-of-the-first-row",
        L + "states:_text",
        "facts.num_rows != 1",
        "facts.num_rows < 1",
        "what is behind the first row is lost without a word",
        by_itself(states.test_changed_rows_are_refused),
    ),
    Mutant(
        "states-that-were-packed",
        L + "states:_text",
        " or inside > len(data)",
        "",
        "a few bytes become many",
        by_itself(states.test_what_is_packed_tighter_than_it_was_written_is_refused),
    ),
    Mutant(
        "states-written-over",
        L + "states:write_state",
        "write_whole(path, ",
        "Path(path).write_bytes(",
        "who is killed while a state is written has neither the old one nor the new one",
        by_itself(states.test_a_save_that_fails_changes_nothing),
    ),
    Mutant(
        "tokens-left-out-of-rows",
        L + "states:_rows",
        'base64.b64decode(record["seen"]["bits"])',
        'bytes(len(base64.b64decode(record["seen"]["bits"])))',
        "copies count again after a restart",
        by_itself(states.test_states_come_back),
    ),
    Mutant(
        "one-epsilon-is-enough",
        L + "examples:examples",
        "for epsilon in EPSILONS",
        "for epsilon in EPSILONS[:1]",
        "protocols are enumerated where they hardly tell anything",
        contract.every_protocol_has_examples,
    ),
    Mutant(
        "declared-twice",
        L + "protocol:LocalProtocol.once",
        "Fraction(self.epsilon)",
        "2 * Fraction(self.epsilon)",
        "reports tell less than is declared",
        contract.reports_tell_what_is_declared,
    ),
    Mutant(
        "audits-of-the-first",
        "discreet.audit.reported:of_reports",
        "for each in examples() if",
        "for each in list(examples())[:4] if",
        "protocols are registered and never audited",
        contract.the_audit_tries_every_protocol,
    ),
    Mutant(
        "channels-of-one-row",
        "discreet.audit.enumeration:lawful",
        "LawTable.of(mechanism.channel())",
        "LawTable.of(mechanism.channel()[:1])",
        "nothing is compared, and any protocol tells nothing",
        contract.reports_tell_what_is_declared,
    ),
    Mutant(
        "tokens-that-know-the-answer",
        L + "client:Client._drawn",
        "self._source.bits(8 * TOKEN).to_bytes",
        "(value + 1).to_bytes",
        "the token tells what the answer hides",
        contract.what_a_client_sends_tells_no_more,
    ),
    Mutant(
        "predictions-for-everybody",
        L + "prediction:_variance",
        "max(1, n // len(protocol.parts))",
        "n",
        "each attribute is predicted as if all had reported on it",
        predictions.errors_of_attributes_are_predicted,
    ),
    Mutant(
        "predictions-of-one-side",
        L + "prediction:predicted_error",
        "float(1 - level) / 2",
        "float(1 - level)",
        "a tenth of all errors is larger than is said",
        predictions.confidences_are_two_sided,
    ),
    Mutant(
        "predictions-of-points",
        L + "prediction:predicted_error",
        " + float(protocol.blur)",
        "",
        "the mean of cells is predicted for that of numbers",
        predictions.errors_of_means_are_those_that_estimates_have,
    ),
    Mutant(
        "states-that-are-added-to-themselves",
        "discreet.cli.collect:_all_different",
        "collector.n and earlier < place",
        "False",
        "every report counts twice",
        by_itself(commands.test_one_state_is_not_added_to_itself),
    ),
    Mutant(
        "attributes-of-one-protocol",
        "discreet.cli.collect:new",
        "name = protocol or protocol_for(domain, price, people or USUAL)",
        "name = protocol_for(domain, price, people or USUAL)",
        "the attribute is said where it was to be hidden",
        by_itself(commands.test_protocols_are_those_that_were_asked_for),
    ),
    Mutant(
        "pictures-of-one-way",
        L + "comparison:LocalComparison.to_svg",
        "(size, one.central_error)",
        "(size, one.local_error)",
        "a trusted curator seems to do no better",
        comparisons.the_picture_has_both_errors,
    ),
    Mutant(
        "reports-that-come-when-they-are-read",
        "discreet.cli.collect_files:Arrival.__call__",
        "time.time() if self._file is None else self._file",
        "time.time()",
        "reports that came in time do not count once the campaign is over",
        by_itself(commands.test_reports_of_files_are_those_that_were_written),
    ),
    Mutant(
        "lines-that-are-cut-up",
        "discreet.cli.collect_files:_lines",
        'whole = line.endswith(b"\\n")',
        "whole = True",
        "one long line is many reports that are none",
        by_itself(commands.test_reports_of_files_are_those_that_were_written),
    ),
)
