"""What sample_bots/README.md and design.md's eight lines promise: those bots run, the wire is JSON."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.sample_bots.talk import BYE, EVERY_KIND, FOLDER, HELLO, answers, ask, start

README = (FOLDER / "README.md").read_text(encoding="utf-8")

EIGHT_LINES = """\
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "hello":
        print('{"type":"hello","protocol":1}', flush=True)
    if m["type"] == "ask":
        reply = {"type": "act", "id": m["id"], "action": m["legal"][0]}
        print(json.dumps(reply), flush=True)
"""


def block(name: str) -> str:
    """The fenced text between two markers of the README."""
    found = re.search(rf"<!-- {name}:begin -->\n```\w*\n(.*?)```\n<!-- {name}:end -->", README, re.DOTALL)
    assert found is not None
    return found.group(1)


@pytest.mark.parametrize(("source", "lines"), [(EIGHT_LINES, 8), (block("bot"), 15)], ids=["eight", "readme"])
def test_a_bot_needs_no_more_lines(tmp_path: Path, source: str, lines: int) -> None:
    assert source.count("\n") == lines
    bot = tmp_path / "my_bot.py"
    bot.write_text(source, encoding="utf-8")
    weather = {"type": "weather", "sun": True}
    asks = [{**message, "id": number} for number, message in enumerate(EVERY_KIND, 1)]
    replies = answers([sys.executable, str(bot)], [HELLO, weather, start(), *asks, start(), BYE])
    assert replies[0]["protocol"] == 1
    assert [reply["id"] for reply in replies[1:]] == [message["id"] for message in asks]
    for reply, message in zip(replies[1:], asks, strict=True):
        assert reply["action"] == message["legal"][0]


def test_the_bot_of_the_readme_calls_uno(tmp_path: Path) -> None:
    bot = tmp_path / "my_bot.py"
    bot.write_text(block("bot"), encoding="utf-8")
    hands = (["R7", "B2"], ["R7", "B2", "B3"], ["R7"])
    asks = [ask("turn", ["play R7", "draw"], hand) for hand in hands]
    replies = answers([sys.executable, str(bot)], [HELLO, start(), *asks])
    assert [reply["action"] for reply in replies[1:]] == ["play R7 uno", "play R7", "play R7"]


def test_the_wire_is_shown_in_fifteen_lines_of_json() -> None:
    text = block("wire")
    assert text.count("\n") == 15
    messages = [json.loads(part) for part in re.split(r"^[<>] ", text, flags=re.MULTILINE) if part]
    spoken = [message["type"] for message in messages]
    assert spoken == ["hello", "hello", "start", "ask", "act", "ask", "act", "fault", "end", "bye"]


def test_every_file_is_listed_and_every_name_is_there() -> None:
    listed = set(re.findall(r"^\| `(\w+\.\w+)` \|", README, flags=re.MULTILINE))
    assert listed == {path.name for path in FOLDER.iterdir() if "_bot." in path.name}
