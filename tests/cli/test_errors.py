"""What a user gets wrong: one line that says what was expected, exit code 2, nothing begun, no traceback."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.commands import Done, lastcard

MATCH = "play greedy random"
BOTH = "play greedy"

# name: (words, what the line has to hold). {here} is an empty folder with the files below.
CASES: dict[str, tuple[str, str]] = {
    "no-such-command": ("plya", "there is no command 'plya'; did you mean 'play'?"),
    "nothing-like-a-command": ("zzz", "there is no command 'zzz', expected one of demo, play, tournament"),
    "no-such-option": (
        f"{MATCH} --sed x",
        "no such option '--sed'. (Did you mean one of: '--read', '--seed', '--set'?)",
    ),
    "option-before-command": ("--plain demo", "no such option '--plain'"),
    "option-without-value": (f"{MATCH} --seed", "option '--seed' requires an argument"),
    "no-bots": ("play", "expected 2 to 10 bots, got 0"),
    "one-bot": (BOTH, "expected 2 to 10 bots, got 1"),
    "eleven-bots": ("play" + 11 * " random", "expected 2 to 10 bots, got 11"),
    "unknown-bot": (f"{BOTH} greedyy", "bot 'greedyy': not a sample bot (greedy"),
    "bot-is-missing": (f"{BOTH} ./gone", "bot './gone': there is no file '{here}/gone'"),
    "bot-is-not-executable": (f"{BOTH} ./text.txt", "bot './text.txt': '{here}/text.txt' is not executable"),
    "bot-is-a-folder": (f"{BOTH} ./folder", "bot './folder': '{here}/folder' is a folder"),
    "bot-without-interpreter": (f"{BOTH} ./shebang", "names '/no/such/python', which is not there"),
    "bot-over-tcp": (f"{BOTH} tcp:me", "bot 'tcp:me': a bot over TCP plays in a tournament file"),
    "bot-human": (f"{BOTH} human", "bot 'human': a human player"),
    "unknown-edition": (f"{MATCH} --edition uno", "there is no edition 'uno'; there are mario-kart"),
    "set-without-value": (f"{MATCH} --set stacking", "--set 'stacking': expected OPTION=VALUE"),
    "unknown-rule": (f"{MATCH} --set stack=same", "knows no option 'stack'; it knows banana_first_turn"),
    "unknown-value": (f"{MATCH} --set stacking=yes", "option stacking: 'yes' is not a value, expected one of off"),
    "rule-given-twice": (f"{MATCH} --rounds 2 --set rounds=3", "option rounds: given twice"),
    "two-ends": (f"{MATCH} --rounds 2 --target 3", "options target and rounds exclude each other"),
    "too-many-rounds": (f"{MATCH} --rounds 99999", "option rounds: 99999 is not a value, expected a whole number"),
    "rounds-no-number": (f"{MATCH} --rounds two", "'--rounds': 'two', expected a whole number from 1"),
    "negative-time": (f"{MATCH} --move-ms -5", "'--move-ms': '-5', expected a whole number from 1"),
    "no-strikes": (f"{MATCH} --strikes 0", "'--strikes': '0', expected a whole number from 1"),
    "bad-pace": (f"{MATCH} --pace fast", "'--pace': 'fast', expected a duration as 500ms or 2s"),
    "bad-sandbox": (f"{MATCH} --sandbox docker", "'--sandbox': 'docker' is not one of 'none', 'basic', 'strict'"),
    "bad-seed": (f"{MATCH} --seed a/b", "seed 'a/b' is not 1 to 64 characters of 0-9 A-Z a-z . _ -"),
    "empty-seed": (f"{MATCH} --seed=", "seed '' is not 1 to 64 characters"),
    "log-is-a-folder": (f"{MATCH} --log folder", "--log folder: is a directory, expected a file"),
    "log-nowhere": (f"{MATCH} --log no/log.jsonl", "--log no/log.jsonl: no such file or directory, expected a file"),
    "position-is-missing": (f"{MATCH} --position gone", "--position gone: no such file or directory, expected a JSON"),
    "position-is-a-folder": (f"{MATCH} --position folder", "--position folder: is a directory, expected a JSON"),
    "position-no-json": (f"{MATCH} --position text.txt", "--position text.txt: not JSON: "),
    "position-without-setup": (f"{MATCH} --position empty.json", "expected a JSON object with a 'setup'"),
    "position-one-of-two": (f"{MATCH} --position two.json", "there are 2, expected two.json#ID with one of a, b"),
    "position-unknown-id": (f"{MATCH} --position two.json#c", "there are 0 of this id, expected two.json#ID"),
    "position-bad-card": (f"{MATCH} --position two.json#b", "setup.hands[1]: 'ZZ' is not a card, expected codes"),
    "position-other-seats": ("play random random random --position two.json#a", "the position has 2 seats"),
    "log-argument-missing": ("replay", "missing argument 'LOG ...'"),
    "log-is-missing": ("replay gone", "gone: No such file or directory, expected the log of a match"),
    "replay-a-folder": ("replay folder", "folder: Is a directory, expected the log of a match"),
    "replay-no-log": ("replay text.txt", "text.txt: not the log of a match"),
    "verify-no-log": ("replay empty.json --verify", "empty.json: not the log of a match"),
    "seat-no-number": ("replay text.txt --seat me", "'--seat': 'me', expected a whole number from 0 to 9"),
    "seat-while-verifying": ("replay text.txt --seat 1 --verify", "--verify shows no steps"),
    "tournament-typo": ("tournament rum", "no such command 'rum'. Did you mean 'run'?"),
    "tournament-without-file": ("tournament run", "missing argument 'FILE.toml'"),
    "tournament-missing": (
        "tournament run gone.toml",
        "gone.toml: no such file or directory, expected a tournament file",
    ),
    "tournament-a-folder": ("tournament run folder", "folder: is a directory, expected a tournament file"),
    "tournament-no-toml": ("tournament run text.txt", "text.txt: this is not TOML"),
    "tournament-bad-key": ("tournament run bad.toml", 'bad.toml: [tournament] has no key "block"'),
    "tournament-jobs": ("tournament run bad.toml --jobs 0", "'--jobs': '0', expected a whole number from 1"),
    "dry-run-is-checked-too": ("tournament run bad.toml --dry-run", 'bad.toml: [tournament] has no key "block"'),
    "status-of-nothing": ("tournament status gone", "there is no ledger here"),
    "status-of-a-file": ("tournament status text.txt", "there is no ledger here"),
    "editions-unknown": ("editions uno", "there is no edition 'uno'; there are mario-kart"),
    "editions-two": ("editions classic mario-kart", "got unexpected extra argument (mario-kart)"),
    "vectors-missing": ("vectors gone", "gone: no such file or directory, expected a JSON file of vectors"),
    "vectors-a-folder": ("vectors folder", "folder: is a directory, expected a JSON file of vectors"),
    "vectors-no-json": ("vectors text.txt", "text.txt: not JSON"),
    "vectors-none": ("vectors empty.json", "empty.json: holds no vector"),
    "demo-in-a-used-folder": ("demo --dir .", "--dir .: expected a new or empty folder"),
    "demo-in-a-file": ("demo --dir text.txt", "--dir text.txt: expected a new or empty folder"),
}

SETUP = '"setup": {{"hands": [["R1"], ["{}"]], "discard_pile": ["R2"]}}'
FILES = {
    "text.txt": "no bot, no log, no vectors\n",
    "shebang": "#!/no/such/python\n",
    "empty.json": "[]",
    "two.json": f'[{{"id": "a", {SETUP.format("R3")}}}, {{"id": "b", {SETUP.format("ZZ")}}}]',
    "bad.toml": '[tournament]\nname = "x"\nedition = "classic"\nseats = 2\nblock = 1\n',
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that are not what is asked for."""
    folder = tmp_path_factory.mktemp("here")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "shebang").chmod(0o755)
    (folder / "folder").mkdir()
    return folder


@pytest.fixture(scope="module")
def ends(here: Path) -> dict[str, Done]:
    """How each case ended: two at a time, since each is a process."""
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda words: lastcard(*words.split(" "), cwd=here), [words for words, _ in CASES.values()])
        return dict(zip(CASES, done, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_one_line_says_what_was_expected(name: str, ends: dict[str, Done], here: Path) -> None:
    done = ends[name]
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("lastcard: ")
    assert done.err.count("\n") == 1
    assert CASES[name][1].format(here=here) in done.err


def test_nothing_was_begun(ends: dict[str, Done], here: Path) -> None:
    assert len(ends) == len(CASES)
    assert {path.name for path in here.iterdir()} == {*FILES, "folder"}


def test_controls_in_words_reach_no_terminal() -> None:
    done = lastcard("play", "greedy", "./\x1b[2J\r\n\u202eevil")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("lastcard: bot './\\x1b[2J\\r\\n\\u202eevil': ")
    assert done.err.count("\n") == 1


def test_a_group_without_a_command_shows_its_help() -> None:
    for words in ((), ("tournament",)):
        done = lastcard(*words)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("Usage: lastcard")
