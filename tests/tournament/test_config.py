"""A tournament file: what it may hold, and the sentence for everything else."""

from pathlib import Path

import msgspec
import pytest

from lastcard.engine import EDITIONS
from lastcard.referee.cli.play import clock_of
from lastcard.referee.limits import Idle
from lastcard.referee.sandbox.levels import Level, Sandbox
from lastcard.referee.tournament.config import Config, load_config
from lastcard.referee.tournament.errors import ConfigError

TOURNAMENT = """\
[tournament]
name = "cup"
edition = "mario-kart"
seats = 2
blocks = 10
"""
BOTS = """
[[bot]]
name = "a"
command = "random"
[[bot]]
name = "b"
command = "greedy"
"""


def config_of(tmp_path: Path, text: str | bytes) -> Config:
    path = tmp_path / "cup.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_config(path).config


def test_a_small_file_gets_every_default(tmp_path: Path) -> None:
    config = config_of(tmp_path, TOURNAMENT + BOTS)
    assert (config.tournament.format, config.tournament.outcome, config.tournament.seed) == (
        "round-robin",
        "win",
        None,
    )
    assert [bot.name for bot in config.bots] == ["a", "b"]
    assert (config.bots[0].limits.move_ms, config.bots[0].limits.start_ms) == (1000, 30_000)
    assert config.limits.bank_ms == 10_000
    assert config.rules().options["target"] == 500


def test_a_bot_that_comes_over_tcp(tmp_path: Path) -> None:
    """It has limits of its own; how it runs is not ours to say."""
    text = TOURNAMENT + '[sandbox]\nlevel = "basic"\n' + BOTS
    bot = config_of(tmp_path, text + '[[bot]]\nname = "c"\ntcp = true\ntoken_file = "c.token"\nmove_ms = 5').bots[-1]
    assert (bot.name, bot.command, bot.token_file, bot.limits.move_ms) == ("c", "tcp:c", "c.token", 5)
    assert bot.sandbox == Sandbox()
    assert bot.bot(tmp_path).tcp
    assert not any(other.bot(tmp_path).tcp for other in config_of(tmp_path, text).bots)


def test_a_full_file_means_what_it_says(tmp_path: Path) -> None:
    config = config_of(
        tmp_path,
        """
        [tournament]
        name = "cup"
        edition = "mario-kart"
        seats = 2
        format = "round-robin"
        blocks = 3
        rounds = 2
        outcome = "score"
        seed = "any-text"
        [limits]
        move_ms = 100
        bank_ms = 0
        [options]
        next_dealer = "round_winner"
        forced_play = true
        [[bot]]
        name = "a"
        command = "./a --deep"
        move_ms = 500
        cwd = "bots/a"
        env = { THREADS = "1" }
        [[bot]]
        name = "b"
        command = "greedy"
        copies = 2
        """,
    )
    assert config.rules().options["rounds"] == 2
    assert config.rules().options["next_dealer"] == "round_winner"
    assert [bot.name for bot in config.bots] == ["a", "b.1", "b.2"]
    assert [bot.limits.move_ms for bot in config.bots] == [500, 100, 100]
    bot = config.bots[0].bot(tmp_path)
    assert (bot.cwd, bot.env, bot.limits.bank_ms) == (tmp_path / "bots" / "a", {"THREADS": "1"}, 0)


@pytest.mark.parametrize(
    ("common", "own", "clock"),
    [
        ("", "", (1000, 10_000)),
        ("strikes = 1", "", (1000, 10_000)),
        ("move_ms = 7", "", (7, None)),
        ("bank_ms = 7", "", (None, 7)),
        ("move_ms = 7\nbank_ms = 8", "", (7, 8)),
        ("", "move_ms = 9", (9, 10_000)),
        ("move_ms = 7", "bank_ms = 9", (7, 9)),
    ],
)
def test_the_clock_is_that_of_play_where_none_is_given(
    tmp_path: Path, common: str, own: str, clock: tuple[int | None, int | None]
) -> None:
    limits = config_of(tmp_path, f"{TOURNAMENT}[limits]\n{common}{BOTS}{own}").bots[1].limits
    assert (limits.move_ms, limits.bank_ms) == clock


@pytest.mark.parametrize("move", [None, 7])
@pytest.mark.parametrize("bank", [None, 0, 8])
def test_play_has_the_same_clock(tmp_path: Path, move: int | None, bank: int | None) -> None:
    given = [f"{name} = {value}" for name, value in (("move_ms", move), ("bank_ms", bank)) if value is not None]
    limits = config_of(tmp_path, TOURNAMENT + "\n".join(["[limits]", *given]) + BOTS).limits
    clock = clock_of(move, bank)
    assert (clock.get("move_ms"), clock.get("bank_ms")) == (limits.move_ms, limits.bank_ms)


STRICT_ONE = """
[sandbox]
level = "basic"
memory_mb = 256
read = ["data"]
[[bot]]
name = "a"
command = "random"
[[bot]]
name = "b"
command = "greedy"
sandbox = "strict"
memory_mb = 512
processes = 9
file_mb = 1
cpu_s = 60
read = ["models", "/usr/share"]
[[bot]]
name = "c"
command = "greedy"
sandbox = "none"
copies = 2
"""


def test_a_bots_own_sandbox_goes_before_the_common_one(tmp_path: Path) -> None:
    config = config_of(tmp_path, TOURNAMENT + 'idle = "freeze"' + STRICT_ONE)
    common = Sandbox(level=Level.BASIC, memory_mb=256, read=("data",))
    own = Sandbox(level=Level.STRICT, memory_mb=512, processes=9, file_mb=1, cpu_s=60, read=("models", "/usr/share"))
    none = msgspec.structs.replace(common, level=Level.NONE)
    assert config.sandbox == common
    assert [bot.sandbox for bot in config.bots] == [common, own, none, none]
    hidden = (tmp_path / "cup", tmp_path / "cup.toml")
    bot = config.bots[1].bot(tmp_path, config.tournament.idle, hidden)
    assert bot.sandbox.read == (str(tmp_path / "models"), "/usr/share")
    assert (bot.idle, bot.hidden) == (Idle.FREEZE, hidden)


def test_without_a_word_about_it_nobody_is_confined_and_everybody_runs_on(tmp_path: Path) -> None:
    config = config_of(tmp_path, TOURNAMENT + BOTS)
    assert [bot.sandbox for bot in config.bots] == [Sandbox(), Sandbox()]
    assert (config.sandbox.level, config.tournament.idle) == (Level.NONE, Idle.RUN)


@pytest.mark.parametrize("level", ['[sandbox]\nlevel = "none"\nmemory_mb = 64\n', "[sandbox]\n"])
def test_limits_may_stay_where_confinement_is_switched_off(tmp_path: Path, level: str) -> None:
    """Said in so many words it is no oversight: the same file without a sandbox, to look for a fault."""
    own = 'sandbox = "none"\nmemory_mb = 32\n'
    assert config_of(tmp_path, TOURNAMENT + level + BOTS + own).bots[1].sandbox.memory_mb == 32


@pytest.mark.parametrize("change", ["crlf", "bom", "comment"])
def test_files_that_mean_the_same_have_the_same_canonical_text(tmp_path: Path, change: str) -> None:
    text = TOURNAMENT + BOTS
    plain = config_of(tmp_path, text).canonical()
    other = {
        "crlf": text.replace("\n", "\r\n").encode(),
        "bom": text.encode("utf-8-sig"),
        "comment": b"# mine\n" + text.encode(),
    }
    assert config_of(tmp_path, other[change]).canonical() == plain


def with_tournament(line: str) -> str:
    """The small file with one line of [tournament] replaced or added."""
    key = line.split(" ")[0]
    kept = [old for old in TOURNAMENT.splitlines() if not old.startswith(f"{key} ")]
    return "\n".join([*kept, line]) + BOTS


LIMITS = "move_ms, bank_ms, start_ms, strikes, margin_ms, seat_ms, restarts"
SANDBOX = "sandbox, memory_mb, processes, file_mb, cpu_s, read"
TABLES = "[tournament], [limits], [options], [sandbox], [[bot]]"

BAD: dict[str, tuple[str | bytes, str]] = {
    "unknown key, near one": (
        with_tournament("seat = 3"),
        '[tournament] has no key "seat"; did you mean "seats"? It has name, edition, seats, format, blocks, '
        "rounds, target, outcome, seed, idle",
    ),
    "unknown key, near none": (
        TOURNAMENT + "[limits]\nqqq = 3" + BOTS,
        f'[limits] has no key "qqq". It has {LIMITS}',
    ),
    "unknown table": (
        TOURNAMENT + BOTS + "[limit]\n",
        f"there is no table [limit]; did you mean [limits]? The tables are {TABLES}",
    ),
    "key outside a table": (
        'name = "x"\n' + TOURNAMENT + BOTS,
        f'there is no key "name" outside a table. The tables are {TABLES}',
    ),
    "missing key": (
        '[tournament]\nname = "cup"\n',
        "[tournament] edition is missing: expected the name of an edition",
    ),
    "empty file": (
        "",
        "[tournament] name is missing: expected 1 to 32 characters of A-Z a-z 0-9 . _ -, not . or .. alone",
    ),
    "wrong type": (
        with_tournament('seats = "two"'),
        '[tournament] seats: expected a whole number from 2 to 10, got "two"',
    ),
    "true is no number": (
        with_tournament("blocks = true"),
        "[tournament] blocks: expected a whole number from 1 to 1000000000, got true",
    ),
    "fraction": (
        with_tournament("blocks = 1.5"),
        "[tournament] blocks: expected a whole number from 1 to 1000000000, got 1.5",
    ),
    "out of range": (
        with_tournament("seats = 11"),
        "[tournament] seats: expected a whole number from 2 to 10, got 11",
    ),
    "huge number": (
        with_tournament(f"blocks = {'9' * 90}"),
        "[tournament] blocks: expected a whole number from 1 to 1000000000, got a far larger number",
    ),
    "format of later": (
        with_tournament('format = "swiss"'),
        '[tournament] format: "swiss" comes later; only "round-robin" works now',
    ),
    "format of never": (
        with_tournament('format = "ladder"'),
        '[tournament] format: expected "round-robin", got "ladder"',
    ),
    "outcome": (
        with_tournament('outcome = "wins"'),
        '[tournament] outcome: expected "win" or "score" or "match", got "wins"',
    ),
    "seed": (
        with_tournament('seed = "a b"'),
        '[tournament] seed: expected 1 to 64 characters of 0-9 A-Z a-z . _ -, got "a b"',
    ),
    "rounds and target": (
        with_tournament("rounds = 1\ntarget = 5"),
        "[tournament] has both rounds and target: a match ends by one of them, remove the other",
    ),
    "rounds and target of the options": (
        with_tournament("rounds = 1\n[options]\ntarget = 5"),
        "[options] target: [tournament] rounds says already how a match ends, remove one of them",
    ),
    "edition": (
        with_tournament('edition = "mario-cart"'),
        f"[tournament] edition: there is no edition 'mario-cart'; there are {', '.join(EDITIONS)}",
    ),
    "option unknown": (
        TOURNAMENT.replace("mario-kart", "classic") + "[options]\nitembox_last = 'resolve'" + BOTS,
        "[options] itembox_last: edition classic knows no option 'itembox_last'; it knows ",
    ),
    "option value": (
        TOURNAMENT + "[options]\nnext_dealer = 'right'" + BOTS,
        "[options] next_dealer: option next_dealer: 'right' is not a value, expected one of left, round_winner",
    ),
    "option of no type": (
        TOURNAMENT + "[options]\nturn_cap = [1]" + BOTS,
        "[options] turn_cap: expected a text, a whole number or true or false, got a list",
    ),
    "limits no table": ("limits = 3\n" + TOURNAMENT + BOTS, "limits: expected a table [limits], got 3"),
    "limit": (
        TOURNAMENT + "[limits]\nmove_ms = 0" + BOTS,
        "[limits] move_ms: expected a whole number from 1 to 86400000, got 0",
    ),
    "sandbox level": (
        TOURNAMENT + "[sandbox]\nlevel = 'tight'" + BOTS,
        '[sandbox] level: expected "none" or "basic" or "strict", got "tight"',
    ),
    "sandbox limit": (
        TOURNAMENT + "[sandbox]\nmemory_mb = 1" + BOTS,
        "[sandbox] memory_mb: expected a whole number from 16 to 1048576, got 1",
    ),
    "sandbox limit for nobody": (
        TOURNAMENT + "[sandbox]\nmemory_mb = 64" + BOTS,
        '[sandbox] memory_mb: has no effect without a sandbox: add level = "basic" or "strict"',
    ),
    "a bot's sandbox limit for nobody": (
        TOURNAMENT + BOTS + "cpu_s = 64",
        '[[bot]] b: cpu_s: has no effect without a sandbox: add sandbox = "basic" or "strict"',
    ),
    "a bot's sandbox": (
        TOURNAMENT + BOTS + 'sandbox = "tight"',
        '[[bot]] b: sandbox: expected "none" or "basic" or "strict", got "tight"',
    ),
    "paths": (TOURNAMENT + BOTS + 'read = "x"', '[[bot]] b: read: expected a list of paths, got "x"'),
    "paths, an empty one": (TOURNAMENT + BOTS + 'read = [""]', "[[bot]] b: read: expected a list of paths, got a list"),
    "idle": (with_tournament('idle = "sleep"'), '[tournament] idle: expected "run" or "freeze", got "sleep"'),
    "bots no tables": (
        "bot = 3\n" + TOURNAMENT,
        "bot: expected tables [[bot]], one for each bot, got 3",
    ),
    "bot no array": (
        TOURNAMENT + '[bot]\nname = "a"\n',
        "bot: expected tables [[bot]], one for each bot, got a table",
    ),
    "bot without command": (
        TOURNAMENT + '[[bot]]\nname = "a"',
        "[[bot]] a: command is missing: expected a sample bot's name or a command line",
    ),
    "bot without name": (
        TOURNAMENT + BOTS + '[[bot]]\ncommand = "a"',
        "[[bot]] 3: name is missing: expected 1 to 32 characters of A-Z a-z 0-9 . _ -, not . or .. alone",
    ),
    "bot with a bad name": (
        TOURNAMENT + '[[bot]]\nname = "a/b"\ncommand = "x"',
        '[[bot]] 1: name: expected 1 to 32 characters of A-Z a-z 0-9 . _ -, not . or .. alone, got "a/b"',
    ),
    "bot over tcp": (
        TOURNAMENT + BOTS + '[[bot]]\nname = "c"\ntcp = true',
        "[[bot]] c: token_file is missing: expected the path of a file with a token or its hash",
    ),
    "bot with a token file": (
        TOURNAMENT + BOTS + '[[bot]]\nname = "c"\ntoken_file = "t"',
        "[[bot]] c: tcp is missing: expected true",
    ),
    "bot over tcp, or not": (
        TOURNAMENT + BOTS + '[[bot]]\nname = "c"\ntcp = false\ntoken_file = "t"',
        "[[bot]] c: tcp: expected true, got false",
    ),
    "bot over tcp with a command": (
        TOURNAMENT + BOTS + '[[bot]]\nname = "c"\ntcp = true\ntoken_file = "t"\ncommand = "greedy"',
        f'[[bot]] c: has no key "command". It has name, tcp, token_file, {LIMITS}',
    ),
    "bot over tcp in a sandbox": (
        TOURNAMENT + BOTS + '[[bot]]\nname = "c"\ntcp = true\ntoken_file = "t"\nsandbox = "strict"',
        f'[[bot]] c: has no key "sandbox". It has name, tcp, token_file, {LIMITS}',
    ),
    "token file of no text": (
        TOURNAMENT + BOTS + '[[bot]]\nname = "c"\ntcp = true\ntoken_file = 3',
        "[[bot]] c: token_file: expected the path of a file with a token or its hash, got 3",
    ),
    "bot key near one": (
        TOURNAMENT + BOTS + 'comand = "x"',
        '[[bot]] b: has no key "comand"; did you mean "command"? It has name, command, copies, env, cwd, '
        f"{LIMITS}, {SANDBOX}",
    ),
    "environment": (TOURNAMENT + BOTS + "env = 3", "[[bot]] b: env: expected a table of texts, got 3"),
    "environment, no text": (TOURNAMENT + BOTS + "env = { A = 1 }", '[[bot]] b: env: "A": expected a text, got 1'),
    "environment, a zero byte": (
        TOURNAMENT + BOTS + 'env = { A = "x\\u0000" }',
        r'[[bot]] b: env: "A": expected a text without a zero byte, got "x\x00"',
    ),
    "environment, no name": (
        TOURNAMENT + BOTS + 'env = { "" = "x" }',
        '[[bot]] b: env: expected names with neither = nor a zero byte in them, got ""',
    ),
    "environment, a name with =": (
        TOURNAMENT + BOTS + 'env = { "A=B" = "x" }',
        '[[bot]] b: env: expected names with neither = nor a zero byte in them, got "A=B"',
    ),
    "environment, a name with a zero byte": (
        TOURNAMENT + BOTS + 'env = { "A\\u0000" = "x" }',
        r'[[bot]] b: env: expected names with neither = nor a zero byte in them, got "A\x00"',
    ),
    "a name that is this folder": (
        with_tournament('name = "."'),
        '[tournament] name: expected 1 to 32 characters of A-Z a-z 0-9 . _ -, not . or .. alone, got "."',
    ),
    "a name that is the folder above": (
        with_tournament('name = ".."'),
        '[tournament] name: expected 1 to 32 characters of A-Z a-z 0-9 . _ -, not . or .. alone, got ".."',
    ),
    "a bot's name that is the folder above": (
        TOURNAMENT + BOTS + '[[bot]]\nname = ".."\ncommand = "x"',
        '[[bot]] 3: name: expected 1 to 32 characters of A-Z a-z 0-9 . _ -, not . or .. alone, got ".."',
    ),
    "thousands of digits": (with_tournament(f"blocks = {'9' * 5000}"), "a number in it has far too many digits"),
    "thousands of digits of a fraction": (
        with_tournament(f"blocks = {'9' * 5000}.5"),
        "[tournament] blocks: expected a whole number from 1 to 1000000000, got inf",
    ),
    "thousands of hexadecimal digits": (
        TOURNAMENT + f"[options]\nturn_cap = 0x{'f' * 5000}" + BOTS,
        "[options] turn_cap: expected a text, a whole number or true or false, got a far larger number",
    ),
    "a year of no calendar": (with_tournament("blocks = 2026-99-99"), "this is not TOML: "),
    "nested deeply": (with_tournament(f"blocks = {'[' * 20_000}"), "its lists or tables are nested too deeply"),
    "same name": (
        TOURNAMENT + BOTS + '[[bot]]\nname = "a"\ncommand = "x"',
        "[[bot]] a: 2 bots have this name; give each its own, or one table with copies = 2 "
        "for the same program more than once",
    ),
    "a copy's name taken": (
        TOURNAMENT + BOTS + '[[bot]]\nname = "c.1"\ncommand = "x"\n[[bot]]\nname = "c"\ncommand = "x"\ncopies = 2',
        "[[bot]] c.1: 2 bots have this name",
    ),
    "a copy's name too long": (
        TOURNAMENT + f'[[bot]]\nname = "{"c" * 31}"\ncommand = "x"\ncopies = 2',
        f"[[bot]] {'c' * 31}: name: {'c' * 31}.2, the name of its last copy, is longer than 32 characters",
    ),
    "fewer bots than seats": (
        with_tournament("seats = 4"),
        "[tournament] seats = 4 needs at least 4 bots, the file has 2; add [[bot]] tables, "
        "or copies = n in one; or set [tournament] seats = 2",
    ),
    "no bots": (
        TOURNAMENT,
        "[tournament] seats = 2 needs at least 2 bots, the file has 0; add [[bot]] tables, or copies = n in one",
    ),
    "no TOML": ("[tournament", "this is not TOML: "),
    "no UTF-8": (b"# \xff", "not UTF-8 at byte 2"),
    "control characters are shown escaped": (
        TOURNAMENT + '[[bot]]\nname = "a"\ncommand = "a\\u001b[31m"',
        r"""[[bot]] a: command: expected a sample bot's name or a command line, got "a\x1b[31m\"""".replace('\\"', '"'),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_a_sentence_with_file_table_and_key(tmp_path: Path, name: str) -> None:
    text, sentence = BAD[name]
    with pytest.raises(ConfigError) as caught:
        config_of(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"cup.toml: {sentence}")
    assert "\n" not in message
    if not sentence.endswith((": ", "knows ", "name")):
        assert message == f"cup.toml: {sentence}"


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^cup\.toml: cannot read it: No such file or directory$"):
        load_config(tmp_path / "cup.toml")
    with pytest.raises(ConfigError, match=r"cannot read it: Is a directory$"):
        load_config(tmp_path)


def test_a_path_with_a_zero_byte_is_named() -> None:
    with pytest.raises(ConfigError, match="cannot read it: embedded null byte"):
        load_config(Path("a\0b"))


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^zero: longer than 1048576 bytes"):
        load_config(Path("/dev/zero"))
