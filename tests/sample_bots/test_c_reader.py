"""The JSON reader of random_bot.c: any JSON around what it looks for, and lines that no referee sends."""

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sample_bots.talk import BYE, HELLO, answers, ask, build_c, encode, start

CHARACTERS = 'ab"\\/{}[]:, \t\n\r\b\f\u0000\u00e9\u2028\U0001f0cf0-9.eE+'


def invented(chance: random.Random, depth: int = 0) -> Any:
    """Some JSON value, seldom deep."""
    kind = chance.randrange(4 if depth > 4 else 6)
    if kind == 4:
        return [invented(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 5:
        return {invented_text(chance): invented(chance, depth + 1) for _ in range(chance.randrange(4))}
    return (None, chance.random() < 0.5, chance.randrange(-(10**9), 10**9) / 8, invented_text(chance))[kind]


def invented_text(chance: random.Random) -> str:
    named = ("type", "id", "legal", "state", "hand", "bot_seed", "bye", "ask")
    if chance.random() < 0.3:
        return chance.choice(named) + chance.choice(("", " ", "_"))
    return "".join(chance.choice(CHARACTERS) for _ in range(chance.randrange(40)))


def surrounded(chance: random.Random, message: dict[str, Any]) -> dict[str, Any]:
    """The message with unknown members before, between and after its own, in another order."""
    mine = list(message.items())
    chance.shuffle(mine)
    extra = [(f"x{n}" + invented_text(chance), invented(chance)) for n in range(4)]
    return dict([*extra[:2], *mine, *extra[2:]])


def test_it_finds_what_it_needs_among_any_other_json(c_bot: str) -> None:
    chance = random.Random(4)
    asks = []
    for number in range(400):
        question = ask("turn", ["play R7", "draw"], ["R7", "B2"], number=number)
        asks.append(surrounded(chance, {**question, "state": surrounded(chance, question["state"])}))
    lines = [json.dumps(message, ensure_ascii=number % 2 == 0) for number, message in enumerate(asks)]
    text = "\n".join([*lines, ""])
    ran = subprocess.run([c_bot], input=text.encode(), capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert found == [{"type": "act", "id": number, "action": "play R7 uno"} for number in range(400)]


def test_no_prefix_and_no_damage_of_a_line_ends_it(c_bot: str) -> None:
    chance = random.Random(5)
    whole = encode(ask("turn", ["play R7", "play WD R", "draw"], ["R7", "WD", "\\u00e9"]))
    lines = [whole[:length] + b"\n" for length in range(len(whole))]
    for _ in range(2000):
        damaged = bytearray(whole[:-1])
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.choice(b'"\\{}[]:, u0a\xff\x00')
        lines.append(bytes(damaged).replace(b"\n", b" ") + b"\n")
    lines += [
        b"\n",
        b" \r\n",
        b"[]\n",
        b"7\n",
        b'"ask"\n',
        b"{\n",
        b'{"type"\n',
        b'{"type":"ask\\\n',
        b"}" * 9 + b"\n",
    ]
    ran = subprocess.run([c_bot], input=b"".join(lines), capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize(
    "message",
    [
        {"type": "ask"},
        {"type": "ask", "id": 1},
        {"type": "ask", "id": 1, "legal": []},
        {"type": "ask", "id": 1, "legal": "draw"},
        {"type": "ask", "id": 1, "legal": [7, None, {"a": "draw"}, "x" * 1000]},
    ],
)
def test_an_ask_that_offers_nothing_is_not_answered(c_bot: str, message: dict[str, Any]) -> None:
    assert len(answers([c_bot], [HELLO, message, start(), BYE])) == 1


def test_more_entries_than_it_holds_are_left_out(c_bot: str) -> None:
    legal = [f"play {card}" for card in map(str, range(2000))]
    hand = ["R1"] * 2000
    reply = answers([c_bot], [HELLO, start(), ask("turn", [*legal, "draw"], hand)])[1]
    assert reply["action"] in legal


def test_it_compiles_as_its_first_lines_say(require_debian: Callable[[str, str], str], tmp_path: Path) -> None:
    bot = build_c(require_debian("cc", "gcc"), tmp_path / "random_bot", "-O2")
    assert answers([bot], [HELLO, BYE])[0]["name"] == "random-c"
