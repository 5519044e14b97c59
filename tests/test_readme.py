"""README.md is true: its bot plays, its commands exist, its links lead somewhere. Knows no rule."""

import json
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lastcard.engine import Match, Rules
from lastcard.protocol.decoding import BOT_LINES
from lastcard.protocol.messages import Act, BotHello
from lastcard.referee.tournament.config import load_config

TOP = Path(__file__).parent.parent
README = (TOP / "README.md").read_text(encoding="utf-8")
HELLO = {"type": "hello", "protocol": 1, "referee": "test", "start_ms": 1000, "max_line": 65536}
BOT = re.compile(r"<!-- bot:begin -->\n```python\n(.*?)```\n<!-- bot:end -->", re.DOTALL)


def commands() -> list[str]:
    """The lines of the fenced `sh` blocks."""
    blocks: list[str] = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def bot_text(text: str) -> str:
    found = BOT.search(text)
    assert found, "no bot between the markers"
    return found[1]


def test_the_bot_has_fifteen_lines() -> None:
    assert len(bot_text(README).splitlines()) <= 15


def test_the_bot_is_that_of_the_sample_bots() -> None:
    assert bot_text(README) == bot_text((TOP / "sample_bots" / "README.md").read_text(encoding="utf-8"))


def test_the_bot_answers_every_ask_of_a_match(tmp_path: Path) -> None:
    """Both seats of a match are played by two processes of the README's bot, without a referee."""
    program = tmp_path / "mybot.py"
    program.write_text(bot_text(README), encoding="utf-8")
    match = Match(Rules.of("mario-kart", {"rounds": 1}), 2, "readme")
    with ExitStack() as stack:
        bots = [stack.enter_context(start(program)) for _ in range(match.seats)]
        for bot in bots:
            assert isinstance(BOT_LINES.decode(tell(bot, HELLO)), BotHello)
        asks = play_all(match, bots)
        for bot in bots:
            assert bot.communicate(timeout=30) == (b"", b"")
            assert bot.returncode == 0
    assert asks > 10


def play_all(match: Match, bots: "list[subprocess.Popen[bytes]]") -> int:
    """Play to the end; how many decisions were asked."""
    asks = 0
    while not match.over:
        if match.decision is None:
            match.deal()
            continue
        asks += 1
        match.act({seat: answer(bots[seat], match, seat, asks) for seat in match.decision.seats})
    return asks


def start(program: Path) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, program], stdin=pipe, stdout=pipe, stderr=pipe)


def tell(bot: "subprocess.Popen[bytes]", message: dict[str, Any]) -> bytes:
    """One line to the bot, and its answer."""
    assert bot.stdin
    assert bot.stdout
    bot.stdin.write(json.dumps(message).encode() + b"\n")
    bot.stdin.flush()
    return bot.stdout.readline()


def answer(bot: "subprocess.Popen[bytes]", match: Match, seat: int, number: int) -> str:
    assert match.decision
    kind, legal = match.decision.kind, match.legal(seat)
    ask = {"type": "ask", "id": number, "kind": kind, "legal": legal, "state": match.view(seat), "events": []}
    said = BOT_LINES.decode(tell(bot, ask))
    assert isinstance(said, Act)
    assert said.id == number
    return said.action


def test_every_make_target_exists() -> None:
    makefile = (TOP / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert {"demo", "test", "venv"} <= named
    assert [target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([^)#]+)", README))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (TOP / link).exists()


def test_every_command_exists() -> None:
    """Every `lastcard ...` line names a command of the command line, and options that this command has."""
    lines = [line.split() for line in commands() if line.startswith("lastcard ")]
    assert lines
    for words in lines:
        path = [word for word in words[1:3] if re.fullmatch("[a-z]+", word)]
        command = path if path[0] == "tournament" else path[:1]
        program = [sys.executable, "-m", "lastcard.referee", *command, "--help"]
        run = subprocess.run(program, capture_output=True, text=True, check=False)
        assert run.returncode == 0, (words, run.stderr)
        assert [word for word in words if word.startswith("--") and word not in run.stdout] == []


@pytest.mark.parametrize("command", ["demo", "play", "replay", "tournament", "editions", "schema", "vectors"])
def test_the_specification_names_every_command(command: str) -> None:
    assert f"| `lastcard {command}" in (TOP / "spec.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return str(found)


def test_what_is_shown_of_a_match_is_what_is_seen() -> None:
    """The beginning of a match, which depends on the seed alone."""
    (line,) = [line for line in commands() if "--seed demo" in line]
    words = line.removeprefix("lastcard ").partition(" --log")[0].split()
    program = [sys.executable, "-m", "lastcard.referee", *words]
    run = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.startswith(block("text"))


def test_the_bot_plays_a_match_and_the_log_is_proved(tmp_path: Path) -> None:
    """`lastcard play ./mybot.py greedy`, as a newcomer does it: no fault, and a log that is right."""
    (tmp_path / "mybot.py").write_text(bot_text(README), encoding="utf-8")
    play = [sys.executable, "-m", "lastcard.referee", "play", "./mybot.py", "greedy", "--rounds", "2", "--strict"]
    subprocess.run([*play, "--log", "match.jsonl"], cwd=tmp_path, capture_output=True, check=True, timeout=60)
    prove = [sys.executable, "-m", "lastcard.referee", "replay", "match.jsonl", "--verify"]
    subprocess.run(prove, cwd=tmp_path, capture_output=True, check=True, timeout=60)


def test_the_tournament_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(block("toml"), encoding="utf-8")
    assert [bot.name for bot in load_config(path).config.bots] == ["mine", "greedy"]
