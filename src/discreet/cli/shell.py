r"""`discreet shell SOURCE`: many questions, with start-up paid once. SQL ends with `;`, other words start with `\`.

What is typed is remembered while the shell runs, and nowhere else. From a pipe it reads without a prompt, and stops at the first error.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.ask import show
from discreet.cli.budget import lines
from discreet.cli.failing import said, translated
from discreet.cli.flags import Flags, accuracy, number, optional_number, with_flags
from discreet.cli.source import curator_of
from discreet.cli.waiting import waiting
from discreet.errors import DiscreetError, Invalid
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.session import Curator

PROMPT, MORE = "discreet> ", "      ...> "
HELP = r"""SELECT … ;             ask, at the price that was set
\epsilon 0.5           set the price of the next questions
\within 25             instead: pay the least for an error of ±25; of 5%; or by columns, of n=25 average=2%
\confidence 0.99       that of every ± from now on
\part North            ask about the people of one part, and pay there; \part alone: about everybody again
\preview SELECT … ;    price and predicted error; nothing is read or spent. Without a question: of the last one
\quote SELECT … ;      the error at ε = 0.1, 0.3, 1 and 3. Without a question: of the last one
\explain SELECT … ;    how it would be answered
\describe              what may be asked about
\budget                what is left
\help                  this
\quit                  leave; so does the end of the input"""
WITH_QUESTION = ("preview", "quote", "explain")
WORDS = ("epsilon", "within", "confidence", "part", "preview", "quote", "explain", "describe", "budget", "help", "quit")
QUOTED = (0.1, 0.3, 1, 3)


@dataclass
class Session:
    """What the shell remembers from one line to the next."""

    curator: "Curator"
    flags: Flags
    analyst: str | None
    as_json: bool
    price: dict[str, Any]
    last: str = ""
    confidence: float | None = None
    part: str | None = None

    def ask(self, text: str) -> None:
        self.last = text
        with waiting("asking", self.as_json):
            answer = self.curator.sql(text, **self.terms())
        self._show(answer)

    def preview(self, text: str) -> None:
        found = self.curator.preview(self._meant(text), **self.terms())
        self._show(found)

    def quote(self, text: str) -> None:
        found = self.curator.quote(self._meant(text), epsilons=QUOTED, **self._beside_price())
        self._show(found)

    def explain(self, text: str) -> None:
        found = self.curator.explain(self._meant(text), **self.terms({"epsilon": Fraction(1)}))
        self._tell({"plan": found.splitlines()}, found)

    def epsilon(self, text: str) -> None:
        from discreet.exact import positive

        if text:
            self.price = {"epsilon": positive(number(text, "epsilon"), "epsilon")}
        elif "epsilon" not in self.price:
            raise Invalid("the price is missing", code="usage", hint=r"write \epsilon 0.5")
        said = float(self.price["epsilon"])
        self._tell({"epsilon": said}, f"ε = {said:g}")

    def within(self, text: str) -> None:
        from discreet.plan.accuracy import Demands

        if text:
            asked = accuracy(text.split())
            Demands.read(asked)
            self.price = {"within": asked}
        elif "within" not in self.price:
            raise Invalid("the price is missing", code="usage", hint=r"write \within 25")
        said = Demands.read(self.price["within"])
        self._tell({"within": said.as_data()}, f"within {said}")

    def confidence_of(self, text: str) -> None:
        from discreet.plan.measurement import CONFIDENCE, checked_confidence

        if text:
            self.confidence = checked_confidence(number(text, "confidence"))
        said = self.confidence or CONFIDENCE
        self._tell({"confidence": said}, f"± at {100 * said:g} %")

    def part_of(self, text: str) -> None:
        parts = self.curator.catalog.parts
        if text and parts is None:
            raise Invalid(
                f"there is no part {text!r}: nobody declared parts", code="part", hint="add [parts] to the policy"
            )
        if text and parts is not None:
            parts.key(text)
        self.part = text or None
        self._tell({"part": self.part}, f"part {text}" if text else "everybody")

    def describe(self, _: str) -> None:
        from discreet.curator.description import described

        limits = {name: limit for name, limit in self.flags.limits.items() if limit is not None}
        catalog = self.curator.catalog
        description = described(replace(catalog, protected=catalog.protected.limited(**limits)), self.analyst)
        self._tell(description.as_data(), str(description))

    def budget(self, _: str) -> None:
        budgets = self.curator.budgets(self.analyst)
        self._tell(budgets.as_data(), "\n".join(map(visible, lines(budgets, self.analyst))))

    def help(self, _: str) -> None:
        self._tell({"commands": list(WORDS)}, HELP)

    def terms(self, otherwise: dict[str, Any] | None = None) -> dict[str, Any]:
        """On which a question is asked: the price that was set, the limits, and the analyst."""
        price = self.price or otherwise
        if not price:
            raise Invalid(
                "the price is not set", code="usage", hint=r"\epsilon 0.5 sets it; \preview shows the error first"
            )
        return {**price, **self._beside_price()}

    def _beside_price(self) -> dict[str, Any]:
        return {**self.flags.limits, "confidence": self.confidence, "analyst": self.analyst, "part": self.part}

    def _meant(self, text: str) -> str:
        found = text or self.last
        if not found:
            raise Invalid("there is no question yet", code="usage", hint=r"write \preview SELECT …;")
        self.last = found
        return found

    def _show(self, found: Any) -> None:
        if self.as_json:
            print(json.dumps(found.to_json(), ensure_ascii=False), flush=True)
        else:
            show(found, False)
            print(flush=True)

    def _tell(self, found: dict[str, Any], text: str) -> None:
        print(json.dumps(found, ensure_ascii=False) if self.as_json else text, flush=True)


@with_flags
def shell(
    flags: Flags,
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="The price of a question; \\epsilon changes it.")
    ] = None,
    analyst: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The analyst whose budget is charged too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each answer as a line of JSON.")] = False,
) -> None:
    r"""Ask many questions, one after the other. SQL ends with a semicolon; \help shows the rest.

    discreet shell visits.csv --unit patient_id --epsilon 0.1
    """
    price = optional_number(epsilon, "epsilon")
    if sys.stdin is None:
        raise Invalid("there is nothing to read: stdin is closed", code="usage", hint="pipe questions in")
    with curator_of(source, flags.without_limits(), as_json) as curator:
        session = Session(curator, flags, analyst, as_json, {} if price is None else {"epsilon": price})
        talk(session, sys.stdin.isatty() and sys.stdout.isatty())


def talk(session: Session, live: bool) -> None:
    """Until the end of the input, or until it is left; from a pipe also until the first error."""
    if live:
        import readline  # arrows and history, in memory only

        readline.set_history_length(1000)
        print(r"SQL ends with ; and \help shows the rest")
    statements, asking = spoken(_typed if live else _piped), False
    while True:
        try:
            asking = False
            word, text = next(statements, ("quit", ""))
            if word == "quit":
                return
            asking = True
            done(session, word, text)
        except KeyboardInterrupt:
            if not live:
                raise
            print(
                "\ninterrupted; what was charged stays so, and the same question again costs no more" if asking else ""
            )
            statements = spoken(_typed)
        except DiscreetError as error:
            if not live:
                raise
            print(said(error, session.as_json), file=sys.stderr)
        except Exception as error:
            if not live:
                raise
            print(said(translated(error), session.as_json), file=sys.stderr)


def done(session: Session, word: str, text: str) -> None:
    from discreet.plan.catalog import suggestion

    if word and word not in WORDS:
        raise Invalid(rf"there is no \{word}", code="usage", hint=suggestion(word, WORDS, "there are"))
    name = {"": "ask", "confidence": "confidence_of", "part": "part_of"}.get(word, word)
    act: Callable[[str], None] = getattr(session, name)
    act(text)


def _typed(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        print()
        return None


def _piped(_: str) -> str | None:
    line = sys.stdin.readline()
    return line.removesuffix("\n") if line else None


def spoken(read: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    r"""Each thing that was said: the word after a backslash, or "" for a question; and the text after it.

    >>> lines = iter([r"\epsilon 1", "SELECT COUNT(*)", "  FROM visits;", r"\preview", "", r"\explain SELECT 1", ";"])
    >>> for word, text in spoken(lambda prompt: next(lines, None)):
    ...     print(repr(word), repr(text))
    'epsilon' '1'
    '' 'SELECT COUNT(*)\n  FROM visits'
    'preview' ''
    'explain' 'SELECT 1'
    """
    while True:
        line = read(PROMPT)
        if line is None:
            return
        line = line.strip()
        if not line:
            continue
        word = ""
        if line.startswith("\\"):
            word, _, line = line[1:].partition(" ")
            line = line.strip()
            if word not in WITH_QUESTION or not line:
                yield word.rstrip(";"), line.rstrip(";").rstrip()
                continue
        held = [line]
        while not held[-1].rstrip().endswith(";"):
            more = read(MORE)
            if more is None:
                raise Invalid(
                    "the input ended before the ; of a question, which was not asked", code="usage", hint="add the ;"
                )
            held.append(more)
        yield word, "\n".join(held).strip().rstrip(";").rstrip()
