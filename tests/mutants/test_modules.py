"""Every module has a planted bug, or a reason why it needs none: a new module is neither forgotten nor passed over in silence."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

from tests.mutants import learn_estimators, learn_torch, postgres
from tests.mutants.test_mutants import MUTANTS

SOURCE = Path(__file__).parents[2] / "src"

REASONS = {
    "only names: what a package offers is looked up when it is first used": """
        discreet.lazy discreet.mechanisms.keys discreet.noise discreet.privacy discreet.privacy.theorems
    """,
    "only words: what people read, made of what was released or declared": """
        discreet.answer.text discreet.curator.channels discreet.curator.loaded discreet.curator.rehearsal.text
        discreet.curator.review discreet.curator.survey.declaring discreet.curator.survey.preview
        discreet.curator.survey.text discreet.errors
        discreet.plan.digits discreet.plan.explain discreet.plan.lacking discreet.plan.range discreet.plan.sql.refusals
    """,
    "only a picture of what was released, or of a loss": """
        discreet.answer.bars discreet.answer.chart discreet.cli.burndown discreet.local.comparison_picture
        discreet.mechanisms.widths
        discreet.privacy.picture.bars discreet.privacy.picture.curve discreet.privacy.picture.panels
        discreet.privacy.picture.terminal discreet.privacy.picture.words
    """,
    "only types: what a field takes and holds, what a value may be, what a store is": """
        discreet.curator.connection discreet.engines.registry discreet.engines.render.native discreet.fields
        discreet.local.domain discreet.plan.types
    """,
    "only the tables that a ledger is kept in; whoever reads a row checks it": "discreet.curator.schema",
    "only a first draft, made of names and never of values, which the owner reads before it holds": (
        "discreet.curator.first_policy"
    ),
    "only the list of attacks, and what each is played with": "discreet.attacks.catalog",
    "only specimens: broken on purpose, or the mended twin of one that is": """
        discreet.audit.zoo.collection discreet.audit.zoo.counts discreet.audit.zoo.keys discreet.audit.zoo.noise
        discreet.audit.zoo.plans discreet.audit.zoo.selection discreet.audit.zoo.specimen discreet.audit.zoo.sums
    """,
    "only a door: words are read, what Python does is done, and printed as it is": """
        discreet.audit.pytest_plugin
        discreet.cli discreet.cli.analyst discreet.cli.ask discreet.cli.attack discreet.cli.audit
        discreet.cli.budget discreet.cli.calibrate discreet.cli.check discreet.cli.collect_terms
        discreet.cli.collect_text
        discreet.cli.data discreet.cli.demo discreet.cli.describe discreet.cli.doctor discreet.cli.failing
        discreet.cli.flags discreet.cli.history discreet.cli.hospital discreet.cli.init discreet.cli.ledger
        discreet.cli.loss discreet.cli.noise discreet.cli.out discreet.cli.owner discreet.cli.shell discreet.cli.source
        discreet.cli.model_text discreet.cli.steady discreet.cli.streams discreet.cli.survey discreet.cli.synth
        discreet.cli.train discreet.cli.waiting
    """,
}
"""Why a module has no planted bug, and the modules of which that is so. A module without a function can have none."""

REASON = {module: reason for reason, modules in REASONS.items() for module in modules.split()}
PLANTED = Counter(
    mutant.where.partition(":")[0]
    for mutant in (*(each for _, each in MUTANTS), *postgres.MUTANTS, *learn_torch.MUTANTS, *learn_estimators.MUTANTS)
)


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    found = {}
    for path in SOURCE.glob("discreet/**/*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def has_functions(path: Path) -> bool:
    tree = ast.parse(path.read_text("utf-8"))
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))


def test_every_module_has_a_planted_bug_or_a_reason_why_it_needs_none() -> None:
    bare = {name for name, path in modules().items() if not PLANTED[name] and has_functions(path)}
    assert not bare - REASON.keys(), "plant a bug there, with the law that catches it, or say why it needs none"
    assert not REASON.keys() - bare, "these need no reason any more"


def test_reasons_are_of_modules_that_there_are() -> None:
    assert REASON.keys() <= modules().keys()
    assert len(REASON) == sum(len(each.split()) for each in REASONS.values()), "a module has two reasons"
