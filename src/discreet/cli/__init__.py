"""The command line: the application, and how its errors look. Each command lives in a file of its own.

Commands parse, call the library and print. Nothing is decided here that cannot be had from Python.
"""

import gc
import os
import re
import signal
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

import discreet
from discreet.cli import (
    analyst,
    ask,
    attack,
    audit,
    budget,
    calibrate,
    check,
    collect,
    data,
    demo,
    describe,
    doctor,
    history,
    init,
    ledger,
    loss,
    noise,
    rehearse,
    shell,
    survey,
    synth,
    train,
)
from discreet.cli.failing import fail, translated
from discreet.cli.steady import abandon, below, steadied
from discreet.cli.streams import open_descriptors, usable_streams
from discreet.errors import DiscreetError, Invalid

# What the parser raises for a wrong command line; it lives in different modules in different releases of typer.
USAGE_ERROR: type[Any] = typer.BadParameter.__mro__[1]


class Commands(TyperGroup):
    """All commands. Every error of ours, of the machine, and every wrong command line, ends as one line on stderr and an exit code.

    Below it a question is shown again where it went wrong. With --json among the arguments the line is {"error": {"code",
    "message", "hint"}} alone. stdout stays empty.
    """

    def main(self, *args: Any, **options: Any) -> Any:
        if not options.get("standalone_mode", True):
            return super().main(*args, **options)
        given = options.get("args")
        as_json = "--json" in (sys.argv[1:] if given is None else given)
        unheard = usable_streams()
        with steadied(as_json):
            if unheard:
                fail(Invalid("there is nowhere to print to: stdout is closed", code="output", hint=UNHEARD), as_json)
            try:
                code = super().main(*args, **{**options, "standalone_mode": False})
                sys.stdout.flush()  # here, where a full disk can still be told of
            except USAGE_ERROR as error:
                command = error.ctx.command_path if error.ctx else "discreet"
                said = error.format_message().rstrip(".")
                fail(Invalid(said, code="usage", hint=_helped(command, error)), as_json)
            except typer.Abort:
                sys.exit(1)
            except BrokenPipeError:  # whoever read us has seen enough
                abandon(below(sys.stdout))
                sys.exit(1)
            except Exception as error:
                if os.environ.get("DISCREET_TRACEBACK") and not isinstance(error, DiscreetError):
                    raise
                fail(translated(error), as_json)
            sys.exit(code if isinstance(code, int) else 0)


def _helped(command: str, error: Any) -> str:
    """Where to look; of a number below 0, which reads like an option, where it stands."""
    below_zero = re.match(r"-[0-9.]", getattr(error, "option_name", None) or "")
    return f"{'write -- before a number below 0; ' if below_zero else ''}see `{command} --help`"


UNHEARD = "leave it open, or send it to a file or to /dev/null; nothing was done"


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,  # its tracebacks may show values of variables
)
app.command()(demo.demo)
app.command()(ask.ask)
app.command()(ask.explain)
app.command()(describe.describe)
app.command()(shell.shell)
app.command()(init.init)
app.command()(check.check)
app.command()(rehearse.rehearse)
app.command()(survey.survey)
app.command()(synth.synth)
app.command()(train.train)
app.add_typer(collect.app, name="collect")
app.command()(budget.budget)
app.add_typer(analyst.app, name="analyst")
app.command()(history.history)
app.add_typer(data.app, name="data")
app.add_typer(ledger.app, name="ledger")
app.command()(doctor.doctor)
app.command()(audit.audit)
app.command()(calibrate.calibrate)
app.command()(loss.loss)
app.command()(noise.noise)
app.command()(attack.attack)


@app.callback()
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Private answers about people: ask in SQL, get a number with its error, and keep a budget."""
    if version:
        print(f"discreet {discreet.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def _ended(number: int, _: object) -> NoReturn:
    """A command that is asked to end gives back what it holds: its folder may hold rows that did not fit into memory."""
    sys.exit(128 + number)


def main() -> None:
    open_descriptors()
    for each in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) is signal.SIG_DFL:  # not where whoever started it has it ignored
            signal.signal(each, _ended)
    gc.set_threshold(100_000)  # a command is short: looking for garbage while modules load is an eighth of its time
    app(prog_name="discreet")
