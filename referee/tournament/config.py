"""A tournament file, read and checked into frozen values. Knows nothing of matches, folders or ledgers.

Every error is a ConfigError that names file, table and key and says what was expected.
"""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Literal

import msgspec

from lastcard.engine import EditionError, OptionError, Rules
from lastcard.referee.limits import DEFAULT_CLOCK, Idle, Limits
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.tournament.errors import ConfigError
from lastcard.referee.tournament.keys import (
    BOT_KEYS,
    LATER_FORMATS,
    LIMIT_KEYS,
    NAME,
    REMOTE_BOT_KEYS,
    SANDBOX_KEYS,
    SANDBOX_LIMIT_KEYS,
    TABLES,
    TOURNAMENT_KEYS,
    Place,
    Toml,
    check_environment,
    check_table,
    check_tables,
    is_list,
    is_plain,
    is_table,
    shown,
)
from lastcard.referee.tournament.ports import Bot

Outcome = Literal["win", "score", "match"]
Options = dict[str, bool | int | str]

LARGEST_FILE = 1 << 20


class Tournament(msgspec.Struct, frozen=True, kw_only=True):
    """The table [tournament]."""

    name: str
    edition: str
    seats: int
    blocks: int
    format: Literal["round-robin"] = "round-robin"
    rounds: int | None = None
    target: int | None = None
    outcome: Outcome = "win"
    seed: str | None = None
    idle: Idle = Idle.RUN


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One bot of the field: a table [[bot]] or one of its copies, its own limits over the common ones.

    Its paths are as the file has them.
    """

    name: str
    command: str
    limits: Limits
    env: dict[str, str] = {}
    cwd: str = "."
    sandbox: Sandbox = Sandbox()
    token_file: str | None = None
    """Of a bot that comes over TCP; its command then says so."""

    @property
    def remote(self) -> bool:
        """It comes over TCP."""
        return self.token_file is not None

    def bot(self, base: Path, idle: Idle = Idle.RUN, hidden: tuple[Path, ...] = ()) -> Bot:
        """The bot, with its paths found from the folder of the file."""
        read = tuple(str(base / path) for path in self.sandbox.read)
        return Bot(
            name=self.name,
            command=self.command,
            limits=self.limits,
            env=self.env,
            cwd=base / self.cwd,
            sandbox=msgspec.structs.replace(self.sandbox, read=read),
            idle=idle,
            hidden=hidden,
            tcp=self.remote,
        )


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament as its file describes it."""

    tournament: Tournament
    limits: Limits
    options: Options
    sandbox: Sandbox = Sandbox()
    bots: tuple[Entry, ...]

    def rules(self) -> Rules:
        """The rules that every match is played by. Raises EditionError or OptionError."""
        return Rules.of(self.tournament.edition, all_options(self.tournament, self.options))

    def canonical(self) -> str:
        """The configuration in one line that is the same for files that mean the same."""
        return msgspec.json.encode(self, order="deterministic").decode()


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file, its text as it stood when it was read, and what it means."""

    path: Path
    text: str
    config: Config


def load_config(path: Path) -> ConfigFile:
    """Read and check a tournament file."""
    file = path.name or str(path)
    text = read_text(path, file)
    try:
        document: Toml = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: this is not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{file}: its lists or tables are nested too deeply") from None
    except (ValueError, OverflowError):  # tomllib leaves it to int(), which refuses thousands of digits
        raise ConfigError(f"{file}: a number in it has far too many digits") from None
    return ConfigFile(path=path, text=text, config=read_config(file, document))


def read_text(path: Path, file: str) -> str:
    try:
        with path.open("rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(f"{file}: cannot read it: {reason}") from None
    if len(raw) > LARGEST_FILE:
        raise ConfigError(f"{file}: longer than {LARGEST_FILE} bytes, which no tournament file is")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 at byte {error.start}") from None
    return text.replace("\r\n", "\n")


def read_config(file: str, document: Toml) -> Config:
    """The configuration in a parsed file. The order of the checks is the order of the file's tables."""
    check_tables(file, document)
    tournament = read_tournament(Place(file, "[tournament]"), table_of(file, document, "tournament"))
    limits_table = table_of(file, document, "limits")
    check_table(Place(file, "[limits]"), limits_table, LIMIT_KEYS)
    limits_table = with_clock(limits_table)
    options = read_options(file, tournament, table_of(file, document, "options"))
    sandbox_table = table_of(file, document, "sandbox")
    check_table(Place(file, "[sandbox]"), sandbox_table, SANDBOX_KEYS)
    config = Config(
        tournament=tournament,
        limits=msgspec.convert(limits_table, Limits),
        options=options,
        sandbox=msgspec.convert(sandbox_table, Sandbox),
        bots=read_bots(file, document.get("bot", []), limits_table, sandbox_table),
    )
    check_field(file, config)
    check_confinement(Place(file, "[sandbox]"), sandbox_table, [bot.sandbox for bot in config.bots])
    return config


def with_clock(limits: Toml) -> Toml:
    """The common limits, with the clock of `lastcard play` where they say nothing of one."""
    return limits if DEFAULT_CLOCK.keys() & limits.keys() else {**DEFAULT_CLOCK, **limits}


def table_of(file: str, document: Toml, name: str) -> Toml:
    table = document.get(name, {})
    if not is_table(table):
        raise ConfigError(f"{file}: {name}: expected a table {TABLES[name]}, got {shown(table)}")
    return table


def read_tournament(place: Place, table: Toml) -> Tournament:
    if table.get("format") in LATER_FORMATS:
        raise place.error(f'format: {shown(table["format"])} comes later; only "round-robin" works now')
    check_table(place, table, TOURNAMENT_KEYS)
    if "rounds" in table and "target" in table:
        raise place.error("has both rounds and target: a match ends by one of them, remove the other")
    return msgspec.convert(table, Tournament)


def all_options(tournament: Tournament, options: Options) -> Options:
    ends = {"rounds": tournament.rounds, "target": tournament.target}
    return {**options, **{name: value for name, value in ends.items() if value is not None}}


def read_options(file: str, tournament: Tournament, table: Toml) -> Options:
    """The options, each tried by itself first, so that an error names its key."""
    place = Place(file, "[options]")
    for name, value in table.items():
        if not is_plain(value):
            raise place.error(f"{name}: expected a text, a whole number or true or false, got {shown(value)}")
    options = msgspec.convert(table, Options)
    ends = [name for name in ("rounds", "target") if getattr(tournament, name) is not None]
    for name in ("rounds", "target"):
        if ends and name in options:
            raise place.error(f"{name}: [tournament] {ends[0]} says already how a match ends, remove one of them")
    try_options(Place(file, "[tournament] edition:"), tournament.edition, {})
    for name, value in options.items():
        try_options(Place(file, f"[options] {name}:"), tournament.edition, {name: value})
    for name in ends:
        try_options(Place(file, f"[tournament] {name}:"), tournament.edition, {name: getattr(tournament, name)})
    try_options(place, tournament.edition, all_options(tournament, options))
    return options


def try_options(place: Place, edition: str, options: Options) -> None:
    try:
        Rules.of(edition, options)
    except (EditionError, OptionError) as error:
        raise place.error(str(error)) from None


def check_confinement(place: Place, table: Toml, sandboxes: list[Sandbox]) -> None:
    """Raise ConfigError for a limit that nobody is held to, unless the file says in so many words that nobody is."""
    limits = [name for name in table if name in SANDBOX_LIMIT_KEYS]
    stated = {"level", "sandbox"} & table.keys()
    if limits and not stated and all(sandbox.level is Level.NONE for sandbox in sandboxes):
        level = "sandbox" if place.table.startswith("[[bot]]") else "level"
        raise place.error(f'{limits[0]}: has no effect without a sandbox: add {level} = "basic" or "strict"')


def read_bots(file: str, tables: object, limits: Toml, sandbox: Toml) -> tuple[Entry, ...]:
    if not is_list(tables):
        raise ConfigError(f"{file}: bot: expected tables [[bot]], one for each bot, got {shown(tables)}")
    bots: list[Entry] = []
    for number, table in enumerate(tables, 1):
        if not is_table(table):
            raise ConfigError(f"{file}: bot: expected tables [[bot]], one for each bot, got {shown(table)}")
        bots += read_bot(file, number, table, limits, sandbox)
    check_names(file, bots)
    return tuple(bots)


def read_bot(file: str, number: int, table: Toml, common_limits: Toml, common_sandbox: Toml) -> list[Entry]:
    """The bot of one table, or its copies, named NAME.1, NAME.2 and so on."""
    given = table.get("name")
    place = Place(
        file,
        f"[[bot]] {given}:" if isinstance(given, str) and NAME.fullmatch(given) else f"[[bot]] {number}:",
    )
    if "tcp" in table or "token_file" in table:
        return [read_remote_bot(place, table, common_limits)]
    check_table(place, table, BOT_KEYS)
    if is_table(env := table.get("env")):
        check_environment(place, env)
    own = {name: value for name, value in table.items() if name in LIMIT_KEYS}
    limits = msgspec.convert({**common_limits, **own}, Limits)
    sandbox = read_own_sandbox(place, table, common_sandbox)
    taken = {*LIMIT_KEYS, *SANDBOX_LIMIT_KEYS, "sandbox", "copies"}
    rest = {name: value for name, value in table.items() if name not in taken}
    entry = msgspec.convert({**rest, "limits": limits, "sandbox": sandbox}, Entry)
    if "copies" not in table:
        return [entry]
    copies = msgspec.convert(table["copies"], int)
    names = [f"{entry.name}.{copy}" for copy in range(1, copies + 1)]
    if not NAME.fullmatch(names[-1]):
        raise place.error(f"name: {names[-1]}, the name of its last copy, is longer than 32 characters")
    return [msgspec.structs.replace(entry, name=name) for name in names]


def read_remote_bot(place: Place, table: Toml, common_limits: Toml) -> Entry:
    """A bot that comes over TCP."""
    check_table(place, table, REMOTE_BOT_KEYS)
    own = {name: value for name, value in table.items() if name in LIMIT_KEYS}
    fields = {"name": table["name"], "token_file": table["token_file"], "command": f"tcp:{table['name']}"}
    return msgspec.convert({**fields, "limits": msgspec.convert({**common_limits, **own}, Limits)}, Entry)


def read_own_sandbox(place: Place, table: Toml, common: Toml) -> Sandbox:
    own = {name: value for name, value in table.items() if name in SANDBOX_LIMIT_KEYS}
    level = {"level": table["sandbox"]} if "sandbox" in table else {}
    sandbox = msgspec.convert({**common, **own, **level}, Sandbox)
    if "level" not in common:
        check_confinement(place, table, [sandbox])
    return sandbox


def check_names(file: str, bots: list[Entry]) -> None:
    for name, count in Counter(bot.name for bot in bots).items():
        if count > 1:
            raise ConfigError(
                f"{file}: [[bot]] {name}: {count} bots have this name; give each its own,"
                f" or one table with copies = {count} for the same program more than once"
            )


def check_field(file: str, config: Config) -> None:
    bots, seats = len(config.bots), config.tournament.seats
    if bots >= seats:
        return
    lower = f"; or set [tournament] seats = {bots}" if bots >= 2 else ""
    raise ConfigError(
        f"{file}: [tournament] seats = {seats} needs at least {seats} bots, the file has {bots};"
        f" add [[bot]] tables, or copies = n in one{lower}"
    )
