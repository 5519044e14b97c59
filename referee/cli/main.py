"""The group of commands, each imported when it is asked for, and the promise that no traceback reaches a user."""

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from typing import NamedTuple, cast

import click

from lastcard.referee.cli.bad_usage import BadUsage, complain, in_one_line
from lastcard.referee.cli.interrupts import when_imported
from lastcard.referee.cli.terminal import nobody_reads
from lastcard.referee.exit_codes import BAD_USAGE, DONE, FAILED

DEBUG = "LASTCARD_DEBUG"
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Why what was begun cannot be written: nobody's bug."""


class Lazy(NamedTuple):
    """A command that is not imported yet."""

    module: str
    summary: str


COMMANDS = {
    "demo": Lazy("demo", "Play a small tournament among the sample bots."),
    "play": Lazy("play", "Play one match between bots."),
    "tournament": Lazy("tournament", "Play tournaments between bots."),
    "serve": Lazy("serve", "Play a tournament with bots over TCP."),
    "connect": Lazy("connect", "Run a bot against a referee somewhere else."),
    "token": Lazy("token", "Make the secret by which a remote bot is known."),
    "replay": Lazy("replay", "Show a match step by step, or prove its log."),
    "editions": Lazy("reference", "List the editions, or show one."),
    "schema": Lazy("reference", "Print the JSON Schema of every message."),
    "vectors": Lazy("reference", "Run conformance vectors against this engine."),
    "doctor": Lazy("doctor", "Show what this machine can sandbox."),
}


class Commands(click.Group):
    """The commands by name. Trio, the rules and SQLite are loaded by the command that needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"lastcard.referee.cli.{COMMANDS[cmd_name].module}")
        when_imported()
        return cast("click.Command", getattr(module, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f", expected one of {', '.join(COMMANDS)}"
            raise BadUsage(f"there is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. A reader who has seen enough (`lastcard replay LOG | head`) is no error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click itself would end with 1
            nobody_reads()
            return DONE

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])


def show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """`--version`."""
    if wanted:
        from lastcard.referee.version import VERSION  # looking it up takes longer than all other imports here

        click.echo(f"lastcard {VERSION}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExample:\n  lastcard play greedy random\n",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=show_version, help="The version.")
def commands() -> None:
    """A referee for bots that play UNO-family card games."""


def run(words: Sequence[str]) -> int:
    """Runs a command line; the exit code. Raises KeyboardInterrupt and SystemExit, and nothing else."""
    if hasattr(sys.stdout, "reconfigure"):  # a name must not end a run because a terminal has no letter for it
        cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")
    try:
        code = commands.main(list(words), prog_name="lastcard", standalone_mode=False)
        return code if isinstance(code, int) else DONE
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return BAD_USAGE
    except click.ClickException as error:
        complain(in_one_line(error))
        return BAD_USAGE
    except click.Abort:
        raise KeyboardInterrupt from None
    except BaseExceptionGroup as group:
        return failed(only_one_of(group))
    except Exception as error:
        return failed(error)


def failed(error: BaseException) -> int:
    """Says what went wrong; the exit code."""
    from lastcard.engine import LastcardError  # here: `--help` does without the engine

    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, BadUsage | LastcardError):
        complain(str(error))
        return BAD_USAGE
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        nobody_reads()
        complain(f"{error.filename or 'the output'} cannot be written: {error.strerror}")
        return FAILED
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
        return FAILED
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    complain(f"a fault of ours ({type(error).__name__} at {place}: {error}); {DEBUG}=1 shows where")
    return FAILED


def only_one_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What is inside the group; a Ctrl-C before all else."""
    interrupts = group.subgroup(KeyboardInterrupt)
    inside: BaseException = interrupts or group
    while isinstance(inside, BaseExceptionGroup):
        inside = cast("BaseExceptionGroup[BaseException]", inside).exceptions[0]
    return inside
