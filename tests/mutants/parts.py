"""Planted bugs of parts of the people: what is taken for a part, who is in it, what reads others, and what a ledger adds up."""

from tests.curator import people_in_parts as model
from tests.curator import test_parted as asked
from tests.curator import test_parts as budgets
from tests.mutants import Law, Mutant, by_itself
from tests.mutants.curator import at
from tests.plan import parted

ACCOUNTS = "discreet.curator.accounts:"
CHECK = "discreet.plan.check:"
LEDGER = "discreet.curator.ledger:"
MEMORY = "discreet.engines.memory:"
PARTING = "discreet.plan.parting:"
PARTS = "discreet.plan.parts:"
RENDER = "discreet.engines.render.parts:"
RULES = "discreet.plan.rules.parts:"
WITH_LEDGER = "discreet.curator.parted:"

CHANGED = by_itself(asked.test_budgets_of_parts_are_changed_as_those_of_analysts_are)
MOVED = by_itself(asked.test_people_are_in_the_parts_of_their_version)
SHARED = by_itself(budgets.test_an_answer_is_shared_with_whoever_asks_about_the_same_people_alone)
EXCLUSIVE = by_itself(budgets.test_shares_that_are_reserved_and_parts_exclude_each_other)


def followed(replaced: bool) -> Law:
    """Everybody is followed through many histories."""

    def law() -> None:
        for seed in range(25):
            model.everybody_is_followed(seed, replaced=replaced)

    return law


def caps() -> None:
    for seed in range(30):
        model.caps_hold(seed, replaced=False)


def summed() -> None:
    for seed in range(100):
        parted.overlap_is_summed(seed, replaced=False)


def reached() -> None:
    parted.no_neighbour_moves_more(2)


def agreed() -> None:
    parted.engines_agree(4, [("SELECT COUNT(*), SUM(x) FROM visits WHERE port = 'A'", "A"), parted.ASKED[0]])


def unkeyed() -> None:
    asked.test_what_cannot_be_parts_is_refused_before_anything_is_asked(*asked.WRONG[4])


MUTANTS = (
    Mutant(
        "parts-by-any-comparison",
        PARTING + "_names",
        "case Comparison(order=Order.EQUAL, left",
        "case Comparison(left",
        "a filter of rows is taken for a part: who has rows elsewhere is in several, and pays for one",
        parted.names_are_read,
    ),
    Mutant(
        "parts-by-the-name-of-a-column",
        PARTING + "_names",
        "_column_of(column, filter.source) == (partition.table, partition.column)",
        "column.name == partition.column",
        "a column of another table that is called so names a part",
        parted.names_are_read,
    ),
    Mutant(
        "parts-in-one-branch",
        PARTING + "_named",
        "own == anywhere",
        "own",
        "a question that names one part here and another there pays for one of them",
        parted.names_are_read,
    ),
    Mutant(
        "parts-of-what-is-computed",
        PARTING + "_column_of",
        "return _column_of(meant, source) if isinstance(meant, Column) else None",
        "return _column_of(meant or column, source)",
        "what is made of all rows of a person is taken for the column that it is called like",
        parted.names_are_read,
    ),
    Mutant(
        "parts-of-one-side",
        PARTING + "_within",
        "other=_within(relation.other, catalog, partition, key)",
        "other=relation.other",
        "a join reads everybody on its other side",
        parted.names_are_read,
    ),
    Mutant(
        "parts-of-any-name",
        "discreet.plan.partition:Partition.key",
        "name not in self.names",
        "not name",
        "a value that has no budget is taken for a part",
        asked.test_a_part_that_there_is_not_is_refused,
    ),
    Mutant(
        "parts-of-some-tables",
        PARTS + "part_of",
        "return parts.pop() if len(parts) == 1 else None",
        "return next(filter(None, parts), None)",
        "a join that reads everybody on one side is charged to a part",
        parted.rules_refuse_what_is_no_part,
    ),
    Mutant(
        "parts-over-filtered-rows",
        PARTS + "part_of",
        "relation.part if of_a_table(source) else None",
        "relation.part",
        "anything below a part is taken to be of its people",
        parted.rules_refuse_what_is_no_part,
    ),
    Mutant(
        "stages-that-read-everybody",
        CHECK + "_check_part",
        "part_of(each) != plan.part or ",
        "",
        "a stage reads the whole, and the part pays",
        parted.a_stage_that_reads_others_is_a_fault,
    ),
    Mutant(
        "stages-of-other-members",
        CHECK + "_check_part",
        "not memberships(each) <= memberships(asked)",
        "False",
        "a stage decides by another column who is in the part",
        parted.a_stage_that_reads_others_is_a_fault,
    ),
    Mutant(
        "stages-that-were-not-listed",
        CHECK + "check_taken",
        "_check_part(plan.next, plan)",
        "pass",
        "what follows a step that found something reads the whole",
        parted.a_stage_that_reads_others_is_a_fault,
    ),
    Mutant(
        "parts-that-are-surely-there",
        RULES + "_in_part",
        "return Reach(below.rows, below.groups)",
        "return below",
        "how many rows are in a part is public where one is replaced, who may have been elsewhere",
        parted.no_count_of_a_part_is_public,
    ),
    Mutant(
        "parts-by-an-undeclared-column",
        RULES + "_scope_of_a_part",
        "part[:2] != (partition.table, partition.column)",
        "False",
        "any column of any table says who is in a part",
        parted.rules_refuse_what_is_no_part,
    ),
    Mutant(
        "parts-by-a-value-of-another-type",
        RULES + "_scope_of_a_part",
        "relation.key != partition.key(part.name)",
        "False",
        "a part is named by what only looks like its key",
        parted.rules_refuse_what_is_no_part,
    ),
    Mutant(
        "parts-of-public-tables",
        WITH_LEDGER + "partition_of",
        "table is None or table.public is not None",
        "table is None",
        "a table about nobody says who is in a part",
        asked.parts_are_of_people,
    ),
    Mutant(
        "parts-of-others-than-the-person",
        RULES + "_scope_of_a_part",
        'if {each.name.casefold() for each in asked} != {(person or "").casefold()}:',
        "if False:",
        "people are in the part of whoever shares some value with them",
        parted.rules_refuse_what_is_no_part,
    ),
    Mutant(
        "members-by-any-row",
        MEMORY + "_in_part",
        "values.get(who) == {relation.key.value}",
        "relation.key.value in values.get(who, ())",
        "whoever has one row in a part is in it, and in others too: a row filter is taken for a part",
        reached,
    ),
    Mutant(
        "overlap-by-any-row",
        MEMORY + "_in_part",
        "values.get(who) == {relation.key.value}",
        "relation.key.value in values.get(who, ())",
        "whoever is in several parts changes the answers of all, and the ledger counts one",
        summed,
    ),
    Mutant(
        "members-by-any-row-in-sql",
        RENDER + "_members",
        "binary(exp.EQ, call",
        "binary(exp.GTE, call",
        "everybody who has a row is in every part",
        agreed,
    ),
    Mutant(
        "members-that-are-not-looked-for",
        RENDER + "_in_part",
        "number = _number(relation, writer)",
        "return over, base, where",
        "everybody is read, and whoever comes changes the answers of all parts",
        agreed,
    ),
    Mutant(
        "members-by-the-numbers-of-another-table",
        RENDER + "_number",
        "same and stored.person",
        "stored.person",
        "people of two tables who have one number there are taken for one person",
        agreed,
    ),
    Mutant(
        "the-larger-of-two-who-are-replaced",
        ACCOUNTS + "Book.touched",
        "else 2",
        "else 1",
        "who is replaced was in one part, and who comes in another: both were paid for, and one is counted",
        followed(True),
    ),
    Mutant(
        "parts-that-stay-where-they-were",
        LEDGER + "_after",
        "book.parts.moved()",
        "book.parts",
        "the data change, people move, and what they met before is forgotten by the part that they come to",
        followed(False),
    ),
    Mutant(
        "parts-begin-anew",
        ACCOUNTS + "PartAccounts.moved",
        "start = self.most",
        "start = NOTHING",
        "when the data change every part has its whole budget again, also for whoever met all of another",
        followed(False),
    ),
    Mutant(
        "parts-begin-where-they-were",
        ACCOUNTS + "PartAccounts.moved",
        "replace(each, spent=start)",
        "each",
        "whoever moves to a part of which little was spent has met more than it says",
        followed(False),
    ),
    Mutant(
        "another-column-begins-anew",
        LEDGER + "_parted",
        "(), before.most)",
        "())",
        "by another column people are in other parts, and what they met before is forgotten",
        followed(False),
    ),
    Mutant(
        "parts-by-another-column",
        LEDGER + "_in_part",
        "parts.said_by != part[:3]",
        "False",
        "a question about parts by another column, in which people are elsewhere, is charged beside those by this one",
        followed(False),
    ),
    Mutant(
        "parts-without-caps",
        LEDGER + "_in_part",
        "if not account.affords(price):",
        "if False:",
        "a part pays more than its budget",
        caps,
    ),
    Mutant(
        "parts-that-are-closed-look-open",
        ACCOUNTS + "PartAccounts.room",
        "known[name].left",
        "known[name].remaining",
        "a quote says that a question fits, in a part that no question fits any more",
        model.a_part_that_met_what_it_may_not_is_closed,
    ),
    Mutant(
        "parts-for-nothing",
        LEDGER + "_in_part",
        "_less(after.largest(book.touched), parts.largest(book.touched))",
        "_less(parts.largest(book.touched), parts.largest(book.touched))",
        "what is spent in parts is not counted for the data set",
        followed(False),
    ),
    Mutant(
        "new-parts-begin-anew",
        LEDGER + "_parted",
        "Account(cap, start) if",
        "Account(cap, after.carried) if",
        "a part that is new has met nothing, whoever is in it",
        CHANGED,
    ),
    Mutant(
        "parts-beside-reserved-shares",
        LEDGER + "_parted",
        "if book.aside is not None:",
        "if False:",
        "shares are kept for analysts who are refused for what others spent in a part",
        EXCLUSIVE,
    ),
    Mutant(
        "answers-of-another-part",
        "discreet.curator.request:topic_of",
        "*([] if part is None else [part])",
        "*[]",
        "an answer about one part is shared with whoever asks about another",
        SHARED,
    ),
    Mutant(
        "keys-of-another-part",
        "discreet.curator.request:Request.is_the_one_of",
        "self.data_version, self.part)",
        "self.data_version, row.act.part)",
        "a charge in one part is taken for one in another",
        at(budgets.kept_in_parts),
    ),
    Mutant(
        "higher-budgets-of-parts",
        "discreet.curator.store:Store.set_parts",
        "check_lower(cap, known[name], higher)",
        "pass",
        "a policy raises the budget of a part, without an explicit act",
        CHANGED,
    ),
    Mutant(
        "higher-budgets-of-parts-without-a-word",
        "discreet.curator.budgets:Change._set_cap",
        "parted.set_cap(store, self.part, cap, higher=self.higher)",
        "parted.set_cap(store, self.part, cap, higher=True)",
        "the budget of a part rises without the owner's explicit act",
        CHANGED,
    ),
    Mutant(
        "parts-of-files-that-are-called-alike",
        WITH_LEDGER + "said_by",
        'repr(said) if said else ""',
        '""',
        "two files say who is in a part, and people are in others by each",
        by_itself(asked.test_one_ledger_serves_two_files_whose_parts_are_of_other_people),
    ),
    Mutant(
        "parts-of-a-file-that-is-read-otherwise",
        WITH_LEDGER + "said_by",
        '*_read(source, (parts.column, policy.protected.person or ""))',
        "",
        "a type or a word for missing values changes who is where, and what they met is forgotten",
        by_itself(asked.test_people_are_in_other_parts_where_the_file_is_read_otherwise),
    ),
    Mutant(
        "budgets-that-follow-the-policy-up",
        WITH_LEDGER + "follow",
        "epsilon, delta = min(epsilon, kept[0]), min(delta, kept[1])",
        "pass",
        "a policy with a higher budget of a part is refused, or raises it",
        CHANGED,
    ),
    Mutant(
        "parts-of-no-key",
        WITH_LEDGER + "partition_of",
        "if name not in known:",
        "if not known:",
        "a budget is that of a part that nobody can be in, by a slip of the pen",
        unkeyed,
    ),
    Mutant(
        "caps-of-parts-unchecked",
        "discreet.curator.money:check_act",
        "for _, cap in caps:",
        "for _, cap in ():",
        "a row gives a part a limit that its budget does not keep",
        budgets.test_a_budget_of_a_part_is_one_that_its_cap_keeps,
    ),
    Mutant(
        "questions-that-all-pay-for",
        "discreet.curator.session:Curator.sql",
        "part=paid_in(self.policy, self._place, plan.part)",
        "part=None",
        "what names a part is charged to everybody",
        asked.a_question_pays_where_it_is_asked,
    ),
    Mutant(
        "parts-by-the-load-of-another-version",
        "discreet.curator.session:Curator._reopened",
        "self._engine.close()\n        self._engine = None",
        "pass",
        "people are in the parts of the data before, and pay in those of now",
        MOVED,
    ),
    Mutant(
        "parts-of-data-that-changed",
        LEDGER + "reserve",
        "if request.data_version != head.book.version:",
        "if False:",
        "a question about the parts of older data is charged beside those of newer ones",
        followed(False),
    ),
    Mutant(
        "facts-of-everybody",
        "discreet.plan.finding:_rows_alone",
        "case Filter() | InPart():",
        "case InPart():\n            return _rows_alone(rows.source)\n        case Filter():",
        "what was found in a part is taken for what is found of all",
        asked.test_what_was_found_in_a_part_is_found_anew_elsewhere,
    ),
)
