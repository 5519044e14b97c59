"""Every sample bot in scripted conversations: what a referee may say to it, and what it has to answer."""

import json
import subprocess
from collections import Counter
from typing import Any

import pytest

from tests.sample_bots.talk import BYE, EVERY_KIND, HELLO, Message, answers, ask, encode, start, talk

UNASKED: tuple[Message, ...] = (
    {"type": "events", "events": [{"type": "draw", "seat": 1, "count": 1, "why": "turn"}]},
    {"type": "fault", "id": 1, "kind": "illegal", "detail": "...", "strikes": 1, "of": 3, "applied": "draw"},
    {"type": "end", "match": "6f0c", "places": [1, 2], "scores": [120, 0], "events": []},
    {"type": "weather", "id": 1, "legal": ["rain"], "bot_seed": 3},
    {"type": "act", "id": 1, "action": "draw"},
    {"id": 1, "legal": ["play R7"]},
)


def is_answer(reply: Message, to: Message) -> bool:
    """Whether this is an act that a referee accepts."""
    action = reply["action"]
    bare = action.removesuffix(" uno") if action.startswith("play ") else action
    return reply["type"] == "act" and reply["id"] == to["id"] and bare in to["legal"]


def numbered(asks: list[Message]) -> list[Message]:
    return [{**message, "id": number} for number, message in enumerate(asks, 1)]


def chosen(bot: list[str], asks: list[Message], bot_seed: int = 7) -> list[str]:
    """The actions for these asks in one match."""
    replies = answers(bot, [HELLO, start(bot_seed), *numbered(asks), BYE])
    assert replies[0]["type"] == "hello"
    return [reply["action"] for reply in replies[1:]]


def test_it_says_hello_first_and_answers_each_ask_at_once(bot: list[str]) -> None:
    with talk(bot) as referee:
        referee.say(HELLO)
        hello = referee.hear()
        assert (hello["type"], hello["protocol"]) == ("hello", 1)
        assert hello["name"]
        referee.say(start())
        for message in numbered(list(EVERY_KIND)):
            referee.say(message)
            assert is_answer(referee.hear(), message)
        referee.say(BYE)
        assert referee.ended() == (0, b"", b"")


def test_it_ends_at_bye_although_its_input_stays_open(bot: list[str]) -> None:
    with talk(bot) as referee:
        referee.say(HELLO)
        referee.hear()
        referee.say(BYE)
        assert referee.process.wait(timeout=20) == 0


@pytest.mark.parametrize("before", [[], [HELLO], [HELLO, start()]], ids=["at once", "after hello", "in a match"])
def test_it_ends_with_its_input(bot: list[str], before: list[Message]) -> None:
    assert len(answers(bot, before)) == min(len(before), 1)


def test_it_says_nothing_that_was_not_asked(bot: list[str]) -> None:
    question = ask("turn", ["play R7", "draw"], ["R7", "B2", "B3"])
    replies = answers(bot, [*UNASKED, HELLO, *UNASKED, start(), *UNASKED, question, *UNASKED, BYE])
    assert [reply["type"] for reply in replies] == ["hello", "act"]


def test_it_ignores_fields_that_it_does_not_know(bot: list[str]) -> None:
    strange: dict[str, Any] = {
        "zzz": {"type": "bye", "id": 99, "legal": ["no"], "state": {"hand": []}},
        "list": [[[{"legal": ["no"]}]], None, True, -1.5e3],
        "text": 'a "quoted" \\ back\u2028slash {[}] \n\t \u00e9\U0001f0cf',
        "": "no name",
    }
    asks = numbered(list(EVERY_KIND))
    wrapped = [
        {**strange, **message, "state": {**strange, **message["state"], "later": strange}, "later": strange}
        for message in asks
    ]
    replies = answers(bot, [{**strange, **HELLO}, {**strange, **start(), "x": strange}, *wrapped, BYE])
    assert len(replies) == 1 + len(asks)
    assert all(is_answer(reply, message) for reply, message in zip(replies[1:], asks, strict=True))


def test_it_takes_any_layout_of_the_json(bot: list[str]) -> None:
    question = ask("turn", ["play R7", "draw"], ["R7", "B2"], number=12)
    spaced = json.dumps(question, separators=(" ,\t", " : ")).replace("{", "{ ").replace("]", " ]")
    escaped = '{"\\u0074ype":"b\\u0079e"}'
    text = json.dumps(HELLO) + "\r\n" + json.dumps(start()) + "\n" + f" {spaced} \r\n" + escaped + "\n"
    ran = subprocess.run(bot, input=text.encode(), capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert json.loads(ran.stdout.splitlines()[1]) == {"type": "act", "id": 12, "action": "play R7 uno"}


@pytest.mark.parametrize("size", [60_000, 65_535, 65_536, 65_537, 400_000])
def test_it_reads_lines_of_any_length(bot: list[str], size: int) -> None:
    question = ask("turn", ["play R7", "draw"], ["R7", "B2"])
    short = encode({**question, "note": ""})
    long = {**question, "note": "x" * (size - len(short))}
    assert len(encode(long)) == size
    assert [reply["type"] for reply in answers(bot, [HELLO, start(), long, question])] == [
        "hello",
        "act",
        "act",
    ]


def test_it_is_not_troubled_by_depth(bot: list[str]) -> None:
    depth = 900  # what Python's own decoder takes; no referee of ours sends more than five
    deep = b'{"x":' + b"[" * depth + b"]" * depth + b',"type":"hello","protocol":1}\n'
    ran = subprocess.run(bot, input=deep, capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout.count(b"\n")) == (0, 1)


def test_it_plays_match_after_match_in_one_process(bot: list[str]) -> None:
    lines: list[Message] = [HELLO]
    asks: list[Message] = []
    for match in range(50):
        lines.append(start(match, match=f"m{match}", resumed=match % 5 == 4))
        for message in EVERY_KIND:
            asks.append({**message, "id": len(asks) + 1})
            lines.append(asks[-1])
        lines.append({"type": "end", "match": f"m{match}", "places": [1, 2], "scores": [9, 0], "events": []})
    replies = answers(bot, [*lines, BYE])[1:]
    assert len(replies) == len(asks)
    assert all(is_answer(reply, message) for reply, message in zip(replies, asks, strict=True))


def test_the_same_seed_gives_the_same_match_whatever_was_played_before(bot: list[str]) -> None:
    asks = list(EVERY_KIND) * 10
    before = [start(1), *numbered(asks[:33]), start(2**31 - 1), *numbered(asks)]
    replies = [reply["action"] for reply in answers(bot, [HELLO, *before, BYE])[1:]]
    assert replies[33:] == chosen(bot, asks, bot_seed=2**31 - 1)


def test_another_seed_gives_another_match(random_bot: list[str]) -> None:
    asks = list(EVERY_KIND) * 10
    assert chosen(random_bot, asks, bot_seed=1) != chosen(random_bot, asks, bot_seed=2)


@pytest.mark.parametrize(
    ("kind", "play", "hand", "call"),
    [
        ("turn", "play R7", "R7 B2", True),
        ("turn", "play R7", "R7 R7", True),
        ("turn", "play R7", "R7 B2 B3", False),
        ("turn", "play R7", "R7", False),
        ("drawn", "play WI", "B2 WI", True),
        ("drawn", "play WD G", "B2 WD", True),
        ("extra", "play RS", "RS WA", True),
        ("turn", "play WA R", "WA R1", True),
        ("turn", "play RA", "RA R1 R2 B2", True),
        ("turn", "play RA", "RA RA B2", True),
        ("turn", "play RA", "RA B2", True),
        ("turn", "play RA", "RA B1 B2", False),
        ("turn", "play RA", "RA R1", False),
    ],
)
def test_it_calls_uno_when_one_card_will_be_left(bot: list[str], kind: str, play: str, hand: str, call: bool) -> None:
    fallback = {"turn": "draw", "drawn": "keep", "extra": "stop"}[kind]
    about = {"card": hand.split()[-1], "missed": []}
    question = ask(kind, [play, fallback], hand.split(), about=about)
    assert chosen(bot, [question]) == [f"{play} uno" if call else play]


def test_it_always_catches(bot: list[str]) -> None:
    question = ask("catch", ["catch", "wait"], ["R7", "B2"], about={"seat": 1}, turn=1)
    assert chosen(bot, [question] * 20) == ["catch"] * 20


def test_chance_picks_a_card_then_its_color_and_never_draws_for_fun(random_bot: list[str]) -> None:
    wild = [f"play WD {color}" for color in "RGBY"]
    question = ask("turn", ["play R7", "play RS", *wild, "draw"], ["R7", "R7", "RS", "WD", "B1"])
    seen = Counter(chosen(random_bot, [question] * 900))
    for count in (seen["play R7"], seen["play RS"], sum(seen[line] for line in wild)):
        assert 250 < count < 350  # 300 expected, standard deviation 14
    for line in wild:
        assert 40 < seen[line] < 115  # 75 expected
    assert seen.total() == 900


@pytest.mark.parametrize(
    ("kind", "legal"),
    [
        ("challenge", ["challenge", "accept"]),
        ("color", ["color R", "color G", "color B", "color Y"]),
        ("target", ["target 2", "target 1", "target none"]),
    ],
)
def test_chance_decides_the_rest_evenly(random_bot: list[str], kind: str, legal: list[str]) -> None:
    about = {"seat": 1, "color": "G", "why": "start", "card": "G4"}
    question = ask(kind, legal, ["R7"], seats=3, about=about)
    seen = Counter(chosen(random_bot, [question] * 600))
    assert set(seen) == set(legal)
    assert all(0.75 < count * len(legal) / 600 < 1.25 for count in seen.values())
