"""From a word on a command line or in a tournament file to the command of a bot; it starts nothing.

* `greedy`: a sample bot
* `./mine.py`, `bots/mine`: a path, run as it is if it is executable, else by the runtime of its suffix
* `"python3 mine.py --deep"`: a command with arguments
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from lastcard.engine import LastcardError
from lastcard.referee.runtimes import CompileError, RuntimeMissing, known, missing_runtime, run_line
from lastcard.referee.startable import why_not_startable

NAME = re.compile(r"[A-Za-z0-9._-]{1,32}")
LONGEST_NAME = 32


class BotCommandError(LastcardError):
    """A bot that cannot be run as it was written. The text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class BotCommand:
    """How one bot is started, and the name under which it is known everywhere."""

    name: str
    argv: tuple[str, ...]
    cwd: Path | None = None
    """Where it runs; None is the referee's own folder."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the bot's file declares beside the few variables that every bot gets."""
    word: str = ""
    """As the user wrote it."""


def sample_bots() -> dict[str, Path]:
    """The sample bots by name: `random_bot.py` is `random`, `random_bot.js` is `random-js`."""
    folder = Path(str(files("lastcard.sample_bots")))
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        if file.stem.endswith("_bot") and known(file):
            name = file.stem.removesuffix("_bot")
            found[name if file.suffix == ".py" else f"{name}-{file.suffix[1:]}"] = file
    return found


def missing_for(name: str) -> str | None:
    """The runtime or compiler that the sample bot of this name needs and this machine lacks."""
    return missing_runtime(sample_bots()[name])


def parse_bot(word: str, *, base: Path | None = None) -> BotCommand:
    """What a bot's word means; `base` is the folder from which its paths are meant."""
    if word == "human":
        raise BotCommandError("bot 'human': a human player will come with a later version")
    if word.startswith("tcp:"):
        raise BotCommandError(
            f"bot {word!r}: a bot over TCP plays in a tournament file, with tcp = true and a token_file,"
            " by `lastcard serve`"
        )
    base = (base or Path.cwd()).absolute()
    try:
        command = _sample(word) or _path(word, base) or _command_line(word, base)
    except (RuntimeMissing, CompileError) as error:
        raise BotCommandError(f"bot {word!r}: {error}") from error
    if command is None:
        raise BotCommandError(
            f"bot {word!r}: not a sample bot ({', '.join(sample_bots())}), "
            "not a path (with a '/'), and not a quoted command with arguments"
        )
    problem = why_not_startable(command.argv, command.cwd)
    if problem:
        raise BotCommandError(f"bot {word!r}: {problem}")
    return replace(command, word=word)


def parse_words(words: Sequence[str]) -> BotCommand:
    """The bot behind `--` of a command line: one word as everywhere, several are a program with its arguments."""
    return parse_bot(words[0] if len(words) == 1 else shlex.join(words))


def parse_bots(words: Iterable[str], *, base: Path | None = None) -> list[BotCommand]:
    """Several bots, each under a name of its own: the second `greedy` is `greedy-2`."""
    commands = [parse_bot(word, base=base) for word in words]
    names = unique_names([command.name for command in commands])
    return [replace(command, name=name) for command, name in zip(commands, names, strict=True)]


def unique_names(names: Sequence[str]) -> list[str]:
    """The names in order, each repetition with the first number that is free."""
    taken = set(names)
    given: list[str] = []
    for name in names:
        number = 1
        free = name
        while free in given or (number > 1 and free in taken):
            number += 1
            ending = f"-{number}"
            free = name[: LONGEST_NAME - len(ending)] + ending
        given.append(free)
    return given


def name_from(text: str) -> str:
    """A valid name out of any text."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:LONGEST_NAME] or "bot"


def _sample(word: str) -> BotCommand | None:
    file = sample_bots().get(word)
    return None if file is None else BotCommand(name=word, argv=run_line(file))


def _path(word: str, base: Path) -> BotCommand | None:
    """A path may hold spaces, so it is tried before a command line. The bot runs in its own folder."""
    file = base / Path(word).expanduser()
    if "/" not in word or (" " in word and not file.exists()):
        return None
    # Not resolved: a link may be how a program is told what to be.
    argv: tuple[str, ...] = (str(file),)
    if file.is_file() and known(file) and not _executable_script(file):
        argv = run_line(file)
    return BotCommand(name=name_from(file.stem), argv=argv, cwd=file.parent)


def _executable_script(file: Path) -> bool:
    return why_not_startable([str(file)]) is None


def _command_line(word: str, base: Path) -> BotCommand | None:
    if len(word.split()) < 2:
        return None
    try:
        argv = tuple(shlex.split(word))
    except ValueError as error:
        raise BotCommandError(f"bot {word!r}: {str(error).lower()}") from error
    # Of "python3 bots/mine.py --deep" the telling part is the file.
    telling = next((part for part in argv[1:] if "/" in part or known(Path(part))), argv[0])
    return BotCommand(name=name_from(Path(telling).stem), argv=argv, cwd=base)
