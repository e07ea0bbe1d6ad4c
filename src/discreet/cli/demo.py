"""`discreet demo`: a made-up hospital, three private answers, and an attack that works on exact answers and not on these.

All of it happens in a temporary folder, the ledger and its high-water mark too. Since the hospital is made up, the demonstration may tell
what no curator ever tells: exact numbers.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.attacks import Outcome
    from discreet.attacks.differencing import Ask, Differencing
    from discreet.cli.hospital import Visits
    from discreet.curator.session import Curator

TOTAL, DELTA = Fraction(5), Fraction(1, 10**6)
HALF = Fraction(1, 2)  # what each of the attacker's two questions may cost
MOST_VISITS = 10  # of a patient to a ward that count
TRIALS = 100
WIDTH = 100  # of the page, where it is not a terminal
SMALL = 400  # patients of the hospital on which the attack is repeated
QUESTIONS = (
    ("How many visits has each ward?", "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", Fraction(1)),
    (
        "What does a visit cost?",
        "SELECT ward, AVG(cost) AS average FROM visits GROUP BY ward ORDER BY average DESC",
        Fraction(1),
    ),
    (
        "Which share of the visits is by people of 65 and over?",
        "SELECT 100 * COUNT(*) FILTER (WHERE age >= 65) / COUNT(*) AS percent FROM visits",
        HALF,
    ),
)
COUNTED = "SELECT COUNT(DISTINCT patient_id) AS patients FROM visits WHERE ward = 'Psychiatry'"


@dataclass(frozen=True, slots=True)
class Attacked:
    """What the attacker got from the hospital, and how often the attack is right when it is repeated."""

    exact: tuple[int, int]
    private: "tuple[Answer, Answer]"
    on_exact: "Outcome"
    on_private: "Outcome"
    bound: float


def demo(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """See it work: a made-up hospital, three private answers, and an attack that fails."""
    from discreet.cli.hospital import hospital

    visits = hospital()
    with TemporaryDirectory(prefix="discreet-demo-") as folder:
        path = Path(folder, "visits.csv")
        with opened(path, TOTAL, visits) as curator:
            if as_json:
                print(json.dumps(as_data(visits, curator), ensure_ascii=False, indent=2))
            else:
                tell(visits, curator, path)


@contextmanager
def opened(path: Path, total: Fraction, visits: "Visits") -> "Iterator[Curator]":
    """A curator of the visits, written to this file; its ledger and its mark lie beside it."""
    from discreet.cli.hospital import WARDS
    from discreet.curator.declaration import Budget, Source, declaration, protected
    from discreet.curator.places import ledger_beside
    from discreet.curator.policy import Policy
    from discreet.curator.session import Curator

    declared = {
        "ward": {"keys": list(WARDS)},
        "cost": {"bounds": (0, 10_000)},
        "age": {"type": "integer", "bounds": (0, 120)},
        "admitted": {"type": "date"},
    }
    visits.write(path)
    policy = Policy(
        tables={"visits": Source(path, {name: declaration(name, said) for name, said in declared.items()})},
        protected=protected("patient_id", max_rows=MOST_VISITS, max_groups=3),
        budget=Budget(total, DELTA),
        ledger=ledger_beside(path),
        mark=path.with_name(path.name + ".mark"),
    )
    with Curator.of(policy, path) as curator:
        yield curator


def attack_of() -> "Differencing":
    from discreet.attacks.differencing import Differencing
    from discreet.cli.hospital import WELL_KNOWN_AGE

    return Differencing(COUNTED, f"{COUNTED} AND age <> {WELL_KNOWN_AGE}")


def attacked(visits: "Visits", curator: "Curator") -> Attacked:
    """The attack on the hospital, once; and many times on one with fewer patients, with and without the target."""
    from discreet.attacks import play
    from discreet.cli.hospital import WELL_KNOWN
    from discreet.privacy.theorems import bayes_success

    attack = attack_of()
    truth = exactly(visits)
    exact = int(truth(attack.everyone)), int(truth(attack.others))
    private = curator.sql(attack.everyone, epsilon=HALF), curator.sql(attack.others, epsilon=HALF)
    there = visits.kept(visits.patient_id <= SMALL)
    gone = there.without(WELL_KNOWN)
    with TemporaryDirectory(prefix="discreet-demo-") as folder:
        places = Path(folder, "there.csv"), Path(folder, "gone.csv")
        total = 2 * TRIALS * HALF
        with opened(places[0], total, there) as one, opened(places[1], total, gone) as other:
            asks = {True: anew(one), False: anew(other)}
            on_private = play(attack, asks.__getitem__, TRIALS)
    truths = {True: exactly(there), False: exactly(gone)}
    on_exact = play(attack, truths.__getitem__, TRIALS)
    return Attacked(exact, private, on_exact, on_private, bayes_success(2 * HALF))


def exactly(visits: "Visits") -> "Ask":
    """The attacker's two questions, answered without any privacy."""
    import numpy as np

    from discreet.cli.hospital import WARDS, WELL_KNOWN_AGE

    there = visits.ward == WARDS.index("Psychiatry")
    everyone = len(np.unique(visits.patient_id[there]))
    others = len(np.unique(visits.patient_id[there & (visits.age != WELL_KNOWN_AGE)]))
    return {attack_of().everyone: everyone, attack_of().others: others}.__getitem__


def anew(curator: "Curator") -> "Ask":
    """Each call is a request of its own, with fresh noise at its full price."""
    keys = count()

    def ask(text: str) -> float:
        (row,) = curator.sql(text, epsilon=HALF, key=f"trial {next(keys)}").to_dicts()
        return float(row["patients"])  # type: ignore[arg-type]

    return ask


def as_data(visits: "Visits", curator: "Curator") -> dict[str, Any]:
    import numpy as np

    answers = [curator.sql(text, epsilon=epsilon).to_json() for _, text, epsilon in QUESTIONS]
    found = attacked(visits, curator)
    return {
        "hospital": {"patients": len(np.unique(visits.patient_id)), "visits": len(visits)},
        "answers": answers,
        "attack": {
            "questions": [attack_of().everyone, attack_of().others],
            "exact": list(found.exact),
            "private": [answer.to_json() for answer in found.private],
            "trials": found.on_private.trials,
            "success_on_exact": found.on_exact.rate,
            "success_on_private": found.on_private.rate,
            "bound": found.bound,
        },
        "budget": {
            which: {"epsilon": float(amount.epsilon), "delta": float(amount.delta)}
            for which, amount in (("spent", curator.spent), ("remaining", curator.remaining))
        },
    }


def _folded(page: str) -> str:
    """A page whose long lines go on in the next one."""
    return "\n".join(fill(line, WIDTH, subsequent_indent="    ") for line in page.splitlines())


def tell(visits: "Visits", curator: "Curator", path: Path) -> None:
    """The demonstration for people, each part as soon as it is there."""
    import numpy as np
    from rich.console import Console
    from rich.text import Text

    from discreet.cli.hospital import WARDS

    terminal = sys.stdout.isatty()
    answers: list[Answer] = []
    console = Console(highlight=False)

    def say(*lines: str, style: str = "") -> None:
        for line in lines:
            console.print(Text(line, style=style), soft_wrap=True)

    def head(line: str) -> None:
        say("", line, style="bold")

    say(
        f"A made-up hospital: {len(np.unique(visits.patient_id)):,} patients, {len(visits):,} visits. The file begins:",
        *(f"    {line}" for line in path.read_text("utf-8").splitlines()[:3]),
    )
    say(
        "Each patient is protected, with all of their visits: whoever reads the answers can",
        "hardly tell whether any one patient was ever there. The price is counted in ε.",
    )
    for title, text, epsilon in QUESTIONS:
        head(title)
        say(f"    {text}", style="cyan")
        answers.append(curator.sql(text, epsilon=epsilon))
        console.print(answers[-1]) if terminal else print(_folded(str(answers[-1])))
    emergency = int((visits.ward == WARDS.index("Emergency")).sum())
    say(
        "",
        f"Nobody here exists, so it can be told: {emergency:,} visits were to Emergency. The first",
        f"answer is below that because at most {MOST_VISITS} visits of a patient to a ward count.",
    )
    before = curator.spent
    again = curator.sql(QUESTIONS[0][1], epsilon=QUESTIONS[0][2])
    if again.rows == answers[0].rows and curator.spent == before:
        head("The first question again?")
        say("It has the same answer, free of charge: asking often does not average the noise away.")
    _tell_attack(attacked(visits, curator), say, head)
    _tell_budget(curator, say, head)


def _tell_attack(found: Attacked, say: Any, head: Any) -> None:
    from discreet.cli.hospital import WELL_KNOWN_AGE

    attack = attack_of()
    one, other = (int(str(answer.rows[0][0])) for answer in found.private)
    exact = found.exact[0] - found.exact[1]
    head("An attack: was she in psychiatry?")
    say(f"Everybody knows one patient, {WELL_KNOWN_AGE} years old. Two harmless counts, with her and without:")
    say(f"    {attack.everyone}", f"    … AND age <> {WELL_KNOWN_AGE}", style="cyan")
    say(
        f"    exact answers    {found.exact[0]:>7,} {found.exact[1]:>7,}   differ by {exact}: she was there",
        f"    private answers  {one:>7,} {other:>7,}   differ by {one - other:,}: she may, or may not have been",
        "",
        f"Repeated {found.on_private.trials} times, with her in the data or not by the toss of a coin,",
        "whoever guesses which it was is right",
        f"    {_percent(found.on_exact.rate)} of the time from exact answers,",
        f"    {_percent(found.on_private.rate)} from private ones at ε = {float(HALF):g} each; nobody can be right more often",
        f"         than {_percent(found.bound).strip()}, which is e^ε/(1 + e^ε) for ε = {float(2 * HALF):g}, the price of both,",
        f"    {_percent(0.5)} from no answers at all.",
    )


def _percent(rate: float) -> str:
    return f"{100 * rate:3.0f} %"


def _tell_budget(curator: "Curator", say: Any, head: Any) -> None:
    from discreet.cli.budget import picture

    def amounts(amount: Any) -> dict[str, float]:
        return {"epsilon": float(amount.epsilon), "delta": float(amount.delta)}

    money = {which: amounts(getattr(curator, which)) for which in ("spent", "remaining")}
    money["cap"] = amounts(curator.policy.budget)
    head("What is left")
    say(*picture("this hospital", money))
    say(
        "",
        "A file of your own, visits.csv for example, with nothing to set up:",
        '    discreet ask visits.csv "SELECT COUNT(*) AS n FROM visits" --unit patient_id --epsilon 1',
    )
