"""The fault table of `spec.md` 4.6, row by row: each id F-xx is a situation in which one of three bots is at fault.

Whatever it is, the others play on and hear how it ended, and the log proves itself (`scripted.Hall.play`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import pytest
import trio

from lastcard.engine import Rules, from_setup
from lastcard.protocol import HUGE_LINE, MAX_LINE
from lastcard.referee.faults import COST, MOST_STALE, FaultKind, Phase
from lastcard.referee.limits import Limits
from lastcard.referee.processes import StartError
from lastcard.referee.table import MatchFailed, Opening
from tests.referee.scripted import (
    ANSWER,
    BANK,
    LIMITS,
    MARGIN,
    MOVE,
    ONE_ROUND,
    Bot,
    Exit,
    Game,
    Line,
    Script,
    Turn,
    exits,
    honest,
    mock_time,
    play,
    says,
    seated,
    silent,
    waits,
)

BAD = 1
"""The seat at fault."""
AT = 3
"""The id of the ask at which it is."""
SEED = "h"

OWED = MOVE + BANK + MARGIN
"""Seconds until the deadline of a bot that has not used any of its bank."""


@dataclass
class Row:
    """A situation and what follows: `then` is `fallback`, `forfeit` (without fallback), `leaves` (fallback, then
    forfeit) or `ignored`.
    """

    test: str
    what: str
    turn: Turn
    kind: str = "malformed"
    then: str = "fallback"
    detail: str = ""
    received: str = ""
    exit: str | None = None
    elapsed: float = 0.0

    def __str__(self) -> str:
        return f"{self.test} {self.what}"


def act(fields: str) -> bytes:
    """An act with these fields, of the ask that is open."""
    return b'{"type":"act",' + fields.encode() + b"}\n"


async def dribbles(bot: Bot, ask: Line) -> None:
    """A line of which a byte comes now and then, the last one long after the deadline."""
    for byte in b'{"type":"?"' + b" " * 95 + b"}\n":
        await bot.say(bytes([byte]))
        await bot.sleep(0.03)


async def half_a_line(bot: Bot, ask: Line) -> None:
    await bot.say(b'{"type":')
    await bot.sleep(OWED + 0.01)
    await bot.say(b'"?"}\n')


async def stops_reading(bot: Bot, ask: Line) -> None:
    """Its input is a pipe that is full."""
    await bot.act(ask)
    bot.fill_input()
    await bot.sleep(inf)


async def fills_its_input(bot: Bot, line: Line) -> None:
    """From its start on, and reads no more."""
    bot.fill_input()
    await bot.sleep(inf)


async def closes_output(bot: Bot, ask: Line) -> None:
    bot.close_output()
    await bot.sleep(inf)


async def closes_input(bot: Bot, ask: Line) -> None:
    await bot.act(ask)
    bot.pipes.close_input()
    await bot.sleep(inf)


def answers_and(*lines: bytes) -> Turn:
    """Answers, and says this while nothing is asked."""

    async def turn(bot: Bot, ask: Line) -> None:
        await bot.act(ask)
        await bot.sleep(0.001)
        for line in lines:
            await bot.say(line)

    return turn


def then_exits(how: str, *lines: object) -> Turn:
    async def turn(bot: Bot, ask: Line) -> None:
        await says(*lines)(bot, ask)
        raise Exit(how)

    return turn


async def utf16(bot: Bot, ask: Line) -> None:
    await bot.say(f'{{"type":"act","id":{ask["id"]},"action":"draw"}}\n'.encode("utf-16-le")[:-1])


def changed(change: Callable[[str], str]) -> Turn:
    """Answers with the first legal action, but not quite."""

    async def turn(bot: Bot, ask: Line) -> None:
        await bot.act(ask, change(ask["legal"][0]))

    return turn


DRAW = act('"id":{id},"action":"draw"')
NESTED = b'{"x":' + b"[" * 20_000 + b"]" * 20_000 + b"}\n"
LONG = b"x" * (MAX_LINE + 1) + b"\n"

ASKED = [
    Row("F-20", "silence", silent, "timeout", elapsed=OWED),
    Row("F-21", "half a line", half_a_line, "timeout", received='{"type":', detail="beginning", elapsed=OWED),
    Row("F-22", "a byte at a time", dribbles, "timeout", received='{"type":"?"', elapsed=OWED),
    Row("F-23", "an answer after the deadline", waits(OWED + 0.01), "timeout", elapsed=OWED),
    Row("F-24", "no JSON", says(b"play R7\n"), detail="not one JSON object"),
    Row("F-24", "a list", says(b"[1]\n"), detail="not one JSON object"),
    Row("F-24", "a number", says(b"17\n"), detail="not one JSON object"),
    Row("F-24", "two on a line", says(b"{} {}\n"), detail="a line of its own"),
    Row("F-25", "no type", says(b"{}\n"), detail="$.type"),
    Row("F-25", "a type that is no text", says(b'{"type":1}\n'), detail="$.type"),
    Row("F-25", "a type of the referee", says(b'{"type":"ask","id":{id}}\n'), detail="$.type"),
    Row("F-26", "bad UTF-8 in a field nobody reads", says(DRAW.replace(b"}\n", b',"x":"\xff"}\n'))),
    Row("F-26", "a byte order mark", says(b"\xef\xbb\xbf" + DRAW), detail="byte order mark"),
    Row("F-26", "a NUL", says(b"\0" + DRAW)),
    Row("F-26", "UTF-16", utf16, detail="UTF-16"),
    Row("F-26", "half of a surrogate pair", says(act('"id":{id},"action":"\\ud800"'))),
    Row("F-27", "nested too deep", says(NESTED), detail="too deep"),
    Row("F-28", "no id", says(act('"action":"draw"')), detail="id"),
    Row("F-28", "no action", says(act('"id":{id}')), detail="action"),
    Row("F-28", "id 1.0", says(act('"id":{id}.0,"action":"draw"')), detail="$.id"),
    Row("F-28", "id as text", says(act('"id":"{id}","action":"draw"')), detail="$.id"),
    Row("F-28", "id true", says(act('"id":true,"action":"draw"')), detail="$.id"),
    Row("F-28", "id out of range", says(act('"id":9007199254740992,"action":"draw"')), detail="$.id"),
    Row("F-28", "id negative", says(act('"id":-1,"action":"draw"')), detail="$.id"),
    Row("F-28", "a long action", says(act(f'"id":{{id}},"action":"{"x" * 65}"')), detail="$.action"),
    Row("F-28", "a long note", says(act(f'"id":{{id}},"action":"draw","note":"{"é" * 513}"')), detail="$.note"),
    Row("F-29", "a card it does not hold", changed(lambda _: "play R99"), "illegal", received="play R99"),
    Row("F-29", "another case", changed(str.upper), "illegal", detail="is not one of"),
    Row("F-29", "a doubled blank", changed(lambda legal: legal.replace(" ", "  ")), "illegal"),
    Row("F-29", "a trailing blank", changed(lambda legal: legal + " "), "illegal"),
    Row("F-29", "a call with a draw", changed(lambda _: "draw uno"), "illegal"),
    Row("F-29", "nothing", changed(lambda _: "\u00a0"), "illegal", detail="'\\xa0'"),
    Row("F-30", "a long line", says(LONG), "oversize", received="xxx"),
    Row("F-31", "a line over 1 MiB", says(b"x" * (HUGE_LINE + 1)), "oversize", received="xxx"),
    Row("F-32", "an older id", says(b'{"type":"act","id":1,"action":"draw"}\n', ANSWER), "stale", "ignored"),
    Row("F-32", "an answered id", says(b'{"type":"act","id":2,"action":"draw"}\n', ANSWER), "stale", "ignored"),
    Row("F-32", "a coming id", says(b'{"type":"act","id":4,"action":"draw"}\n', ANSWER), "stale", "ignored"),
    Row("F-33", "a blank line", says(b" \r\n", ANSWER), "stale", "ignored", detail="blank"),
    Row("F-33", "an unknown type", says(b'{"type":"resign"}\n', ANSWER), "stale", "ignored"),
    Row("F-33", "a hello", says(b'{"type":"hello","protocol":2}\n', ANSWER), "stale", "ignored"),
    Row("F-33", "a ready", says(b'{"type":"ready"}\n', ANSWER), "stale", "ignored"),
    Row("F-33", "a pong", says(b'{"type":"pong"}\n', ANSWER), "stale", "ignored"),
    Row("F-35", "an input that is full", stops_reading, "stall", "forfeit", elapsed=OWED),
    Row("F-36", "its output is closed", closes_output, "eof", "leaves"),
    Row("F-36", "its input is closed", closes_input, "eof", "leaves", detail="input is closed"),
    Row("F-37", "exits", exits("exit status 3"), "crash", "leaves", exit="exit status 3"),
    Row("F-37", "is killed", exits("killed by SIGSEGV"), "crash", "leaves", exit="killed by SIGSEGV"),
    Row("F-38", "answers and exits", then_exits("exit status 0", ANSWER), "crash", "leaves", exit="exit status 0"),
    Row("F-39", "an answer without LF, and exits", then_exits("exit status 0", b'{"type":"act"'), "crash", "leaves",
        received='{"type":"act"', exit="exit status 0"),
]  # fmt: skip

NOT_ASKED = [
    Row("F-33", "a second answer", says(ANSWER, ANSWER), "stale", "ignored"),
    Row("F-50", "a malformed line", answers_and(b"hm\n"), "malformed", detail="not one JSON object"),
    Row("F-50", "a malformed line with the answer", says(ANSWER, b"hm\n"), "malformed"),
    Row("F-51", "a long line", answers_and(LONG), "oversize"),
    Row("F-51", "a long line with the answer", says(ANSWER, LONG), "oversize"),
    Row("F-31", "a line over 1 MiB", answers_and(b"x" * (HUGE_LINE + 1)), "oversize"),
    Row("F-52", "exits", waits(0, then_exits("exit status 4", ANSWER)), "crash", "leaves", exit="exit status 4"),
]


def script(row: Row) -> Script:
    return honest({AT: row.turn})


def thinking() -> Script:
    """A good bot that takes some time, so that there is a time in which others are not asked."""
    return honest(each=waits(0.01))


@pytest.mark.parametrize("row", ASKED, ids=str)
@mock_time
async def test_asked(row: Row, tmp_path: Path) -> None:
    """F-20 to F-39: at its third ask."""
    game = await play(tmp_path / "log", thinking(), script(row), thinking(), seed=SEED)
    check(row, game)


@pytest.mark.parametrize("row", NOT_ASKED, ids=str)
@mock_time
async def test_not_asked(row: Row, tmp_path: Path) -> None:
    """F-50 to F-52: after its third answer. It costs the next decision that it would have been asked for."""
    game = await play(tmp_path / "log", thinking(), script(row), thinking(), seed=SEED)
    check(row, game)
    if row.then != "ignored":
        assert len(game.decisions(BAD, "asked")) >= AT


def check(row: Row, game: Game) -> None:
    """All that has to hold for a single fault."""
    first, *more = game.outcome.faults
    if row.kind == "oversize" and row.test == "F-31":  # passes the first limit before it passes the second
        assert [(fault.kind, fault.forfeits) for fault in more] == [("oversize", True)]
        check_forfeit(game, "oversize")
    elif row.test in ("F-21", "F-22", "F-23"):  # the rest comes after all
        assert [fault.kind for fault in more] == ["stale"]
    elif row.test == "F-51":  # a pipe holds 64 KiB: the line may be seen to be too long only after the next ask
        assert [fault.kind for fault in more] in ([], ["stale"])
    else:
        assert more == []
    assert (first.seat, first.kind) == (BAD, row.kind)
    assert row.detail in first.detail
    assert first.received.decode("utf-8", "replace").startswith(row.received)
    assert first.exit_status == row.exit
    assert first.repeat == f"bot {BAD}"
    if row.elapsed:
        assert first.elapsed_ms == first.limit_ms == round(row.elapsed * 1000)
    {"fallback": check_fallback, "leaves": check_leaves, "forfeit": check_forfeit, "ignored": check_ignored}[row.then](
        game, row.kind
    )
    check_others(game)


def check_fallback(game: Game, kind: str) -> None:
    """A strike, and the last legal action in place of an answer; the bot is told."""
    logged, fault = game.logged("fault")[0], game.outcome.faults[0]
    decision = game.decisions(BAD)[0]
    assert (decision["fault"], decision["action"]) == (kind, decision["legal"][-1])
    assert (logged["strikes"], logged["of"], logged["applied"]) == (1, LIMITS.strikes, decision["action"])
    told = game.bots[BAD][0].told("fault")
    if told or kind != "crash":
        assert told[0]["kind"] == kind
        assert (told[0]["strikes"], told[0]["of"], told[0]["applied"]) == (1, LIMITS.strikes, decision["action"])
        assert told[0].get("id") in ((AT, AT + 1) if fault.phase is Phase.ASKED else (None,))


def check_leaves(game: Game, kind: str) -> None:
    """The fallback, a strike, and the seat is forfeited."""
    decision = game.decisions(BAD)[0]
    assert (decision["fault"], decision["action"]) == (kind, decision["legal"][-1])
    assert game.logged("fault")[0]["strikes"] == 1
    assert game.logged("fault")[0]["applied"] == decision["action"]
    check_forfeited(game, kind)


def check_forfeit(game: Game, kind: str) -> None:
    """The seat is forfeited at once: nothing is applied, and it is no strike."""
    last = game.logged("fault")[-1]
    assert "applied" not in last
    assert not game.outcome.faults[-1].costs_strike
    check_forfeited(game, kind)


def check_forfeited(game: Game, kind: str) -> None:
    assert game.outcome.forfeited == [BAD]
    (event,) = [line["event"] for line in game.logged("event") if line["event"]["type"] == "forfeit"]
    assert event == {"type": "forfeit", "seat": BAD, "why": kind}
    assert game.outcome.places[BAD] == 3
    assert not any(bot.told("end") for bot in game.bots[BAD])


def check_ignored(game: Game, kind: str) -> None:
    """Logged and told, and that is all."""
    assert game.decisions(BAD) == []
    assert game.outcome.forfeited == []
    logged = game.logged("fault")[0]
    assert logged["strikes"] == 0
    assert "applied" not in logged
    told = game.bots[BAD][0].told("fault")[0]
    assert (told["kind"], told["strikes"]) == (kind, 0)
    assert "id" not in told


def check_others(game: Game) -> None:
    """The others have no fault, are asked as ever, and hear how it ended."""
    for seat, bots in enumerate(game.bots):
        if seat == BAD:
            continue
        (bot,) = bots
        (end,) = bot.told("end")
        assert (end["places"], end["scores"]) == (game.outcome.places, game.outcome.scores)
        assert not bot.told("fault")
        ids = [ask["id"] for ask in bot.told("ask")]
        assert ids == list(range(1, len(ids) + 1))
        assert len(game.decisions(seat, "asked")) == len(ids)


# ---- before the deal


def raw(*lines: bytes) -> Script:
    """Says these lines in place of a hello, and reads on."""

    async def script(bot: Bot) -> None:
        await bot.read()
        for line in lines:
            await bot.say(line)
        while True:
            await bot.read()

    return script


async def ends_at_once(bot: Bot) -> None:
    bot.stderr.kept = b"no such module\n"
    raise Exit("exit status 1")


async def closes_its_output(bot: Bot) -> None:
    bot.close_output()
    await bot.sleep(inf)


async def hangs(bot: Bot) -> None:
    await bot.sleep(inf)


async def never_reads(bot: Bot) -> None:
    bot.fill_input()
    await bot.sleep(inf)


never_ready = honest(features=["ready"], on={"start": silent})

HELLO = b'{"type":"hello","protocol":1}\n'


@dataclass
class Failing:
    """A bot that does not come to the table."""

    test: str
    what: str
    script: Script | StartError
    detail: str
    kind: str = "startup"
    elapsed: float | None = 0.0

    def __str__(self) -> str:
        return f"{self.test} {self.what}"


FAILING = [
    Failing("F-01", "cannot be started", StartError("cannot start bot: No such file"), "cannot start", elapsed=None),
    Failing("F-02", "exits", ends_at_once, "the process ended (exit status 1): the bot's output ended before"),
    Failing("F-02", "closes its output", closes_its_output, "output ended before its hello"),
    Failing("F-03", "is silent", hangs, "no hello within 5000 ms", elapsed=5.0),
    Failing("F-03", "does not read", never_reads, "no hello within 5000 ms", elapsed=5.0),
    Failing("F-04", "only prints a banner", raw(b"MyBot 1.0\n"), "first line was refused (line 1: not", elapsed=5.0),
    Failing("F-04", "prints 17 lines", raw(*[b"\n"] * 17, HELLO), "17 lines and no hello among them"),
    Failing("F-05", "speaks another protocol", raw(HELLO.replace(b"1", b"2")), "speaks protocol 1, the", "version"),
    Failing("F-06", "no protocol", raw(b'{"type":"hello"}\n'), "$.protocol: required"),
    Failing("F-06", "a protocol that is no integer", raw(b'{"type":"hello","protocol":"1"}\n'), "$.protocol"),
    Failing("F-06", "a field of a wrong type", raw(b'{"type" : "hello","protocol":1,"name":7}\n'), "$.name"),
    Failing("F-06", "a long name", raw(b'{"type":"hello","protocol":1,"name":"' + b"n" * 65 + b'"}\n'), "$.name"),
    Failing("F-06", "a name with a control", raw(b'{"type":"hello","protocol":1,"name":"a\\u001b"}\n'), "$.name"),
    Failing("F-07", "a long line", raw(LONG), "longer than 65536 bytes"),
    Failing("F-10", "lists ready and never is", never_ready, "no ready within 5000 ms", elapsed=5.0),
    Failing("F-34", "floods before it is ready", raw(HELLO.replace(b"}", b',"features":["ready"]}'), *[b"\n"] * 17),
            "17 lines that count for nothing", "flood", elapsed=None),
]  # fmt: skip


@pytest.mark.parametrize("row", FAILING, ids=str)
@mock_time
async def test_who_does_not_come_forfeits_before_the_deal(row: Failing, tmp_path: Path) -> None:
    """F-01 to F-10. The others are dealt to and play."""
    bad = [row.script] if isinstance(row.script, StartError) else row.script
    game = await play(tmp_path / "log", honest(), bad, honest(), seed=SEED)
    *stale, fault = game.outcome.faults
    assert {earlier.kind for earlier in stale} <= {FaultKind.STALE}
    assert (fault.seat, fault.kind, fault.strikes, fault.applied) == (BAD, row.kind, 0, None)
    assert row.detail in fault.detail
    if row.elapsed is not None:
        assert (fault.limit_ms, fault.elapsed_ms) == (5000, round(row.elapsed * 1000))
    types = [line["event"]["type"] if line["type"] == "event" else line["type"] for line in game.lines]
    assert types[: len(stale) + 4] == ["match", *["fault"] * len(stale), "fault", "forfeit", "round"]
    assert all(line["event"]["seat"] != BAD for line in game.logged("event") if line["event"]["type"] == "deal")
    check_forfeited(game, row.kind)
    check_others(game)


@mock_time
async def test_the_bot_that_does_not_come_is_told_why(tmp_path: Path) -> None:
    """F-05: bye names both numbers, and then its input ends."""
    async with seated(raw(HELLO.replace(b"1", b"7")), honest()) as hall:
        await hall.play(tmp_path / "log")
        assert hall.bot(0).heard[-1] == {
            "type": "bye",
            "reason": "this end speaks protocol 1, the other end speaks protocol 7",
        }
        assert hall.connections[0][0].closed


@mock_time
async def test_stderr_is_evidence_of_a_failed_start(tmp_path: Path) -> None:
    game = await play(tmp_path / "log", honest(), ends_at_once, honest())
    (logged,) = game.logged("fault")
    assert logged["stderr"] == "no such module"
    assert logged["exit"] == "exit status 1"


@mock_time
async def test_when_nobody_comes_all_have_forfeited(tmp_path: Path) -> None:
    """F-02: the match is over before it is dealt."""
    game = await play(tmp_path / "log", ends_at_once, ends_at_once, ends_at_once)
    assert game.outcome.forfeited == [0, 1, 2]
    assert game.outcome.reason == "forfeit"
    assert game.logged("round") == []


@pytest.mark.parametrize("lines", [[b"MyBot 1.0\n", b'{"type":"act","id":1,"action":"draw"}\n'], [b"\n"] * MOST_STALE])
@mock_time
async def test_a_few_other_lines_before_hello_are_ignored(lines: Sequence[bytes], tmp_path: Path) -> None:
    """F-04."""

    async def script(bot: Bot) -> None:
        for line in lines:
            await bot.say(line)
        await honest()(bot)

    game = await play(tmp_path / "log", honest(), script, honest())
    assert game.outcome.faults == []


@mock_time
async def test_unknown_features_and_fields_are_ignored(tmp_path: Path) -> None:
    """F-08."""

    async def script(bot: Bot) -> None:
        await bot.read()
        await bot.say({"type": "hello", "protocol": 1, "features": ["telepathy"], "elo": 3000})
        await honest()(bot)

    game = await play(tmp_path / "log", honest(), script)
    assert game.outcome.faults == []


@pytest.mark.parametrize(
    "line", [HELLO, b'{"type":"ready"}\n', b'{"type":"act","id":1,"action":"draw"}\n'], ids=["hello", "ready", "act"]
)
@mock_time
async def test_what_nobody_asked_for_after_start_is_stale(line: bytes, tmp_path: Path) -> None:
    """F-11."""
    game = await play(tmp_path / "log", honest(), honest(on={"start": says(line)}), honest(), seed=SEED)
    assert (game.fault.kind, game.fault.strikes) == ("stale", 0)
    assert game.decisions(BAD) == []


@pytest.mark.parametrize("features", [[], ["ready"]])
@mock_time
async def test_a_bot_that_dies_before_its_first_ask(features: list[str], tmp_path: Path) -> None:
    """F-12: found at its first ask, as in F-52."""
    dying = honest(features=features, on={"start": exits("exit status 9")})
    game = await play(tmp_path / "log", honest(), dying, honest(), seed=SEED)
    assert (game.fault.kind, game.fault.exit_status) == ("crash", "exit status 9")
    assert game.logged("round")
    check_leaves(game, "crash")


@mock_time
async def test_faults_while_ready_is_waited_for_cost_the_next_decisions(tmp_path: Path) -> None:
    """F-13, F-50, F-33: two malformed lines and a blank one, then ready."""
    start = says(b"loading...\n", b"\n", b"loaded\n", {"type": "ready"})
    game = await play(tmp_path / "log", honest(), honest(features=["ready"], on={"start": start}), honest(), seed=SEED)
    assert game.fault_kinds() == [(BAD, "stale"), (BAD, "malformed"), (BAD, "malformed")]
    assert [decision["fault"] for decision in game.decisions(BAD)] == ["malformed", "malformed"]


# ---- while asked: what takes more than one step


@mock_time
async def test_a_late_answer_is_stale_and_not_the_next_answer(tmp_path: Path) -> None:
    """F-23: the late line comes glued to the answer of the next ask."""

    async def glued(bot: Bot, ask: Line) -> None:
        late = b'{"type":"act","id":%d,"action":"%s"}\n' % (AT, bot.told("ask")[AT - 1]["legal"][0].encode())
        await bot.say(late + b'{"type":"act","id":%d,"action":"%s"}\n' % (ask["id"], ask["legal"][0].encode()))

    game = await play(tmp_path / "log", honest(), honest({AT: silent, AT + 1: glued}), honest(), seed=SEED)
    assert game.fault_kinds() == [(BAD, "timeout"), (BAD, "stale")]
    assert "older" in game.outcome.faults[1].detail
    asked = [line for line in game.logged("decision") if line["seat"] == BAD and line["how"] != "forced"]
    assert [line["how"] for line in asked[:5]] == ["asked", "asked", "fallback", "asked", "asked"]


@mock_time
async def test_a_part_stays_in_the_buffer(tmp_path: Path) -> None:
    """F-21: its end comes at the next ask, and both together are one stale line."""
    rest = says(b'3,"action":"draw"}\n', ANSWER)
    game = await play(
        tmp_path / "log", honest(), honest({AT: says(b'{"type":"act","id":'), AT + 1: rest}), honest(), seed=SEED
    )
    assert game.fault_kinds() == [(BAD, "timeout"), (BAD, "stale")]


@mock_time
async def test_a_long_line_is_dropped_up_to_its_end(tmp_path: Path) -> None:
    """F-30: what follows on the same line counts no more, the next line does."""
    game = await play(
        tmp_path / "log",
        honest(),
        honest({AT: says(b"y" * 70_000), AT + 1: says(b"z" * 100 + b"\n", ANSWER)}),
        honest(),
        seed=SEED,
    )
    assert game.fault_kinds() == [(BAD, "oversize")]


@mock_time
async def test_an_answer_that_was_there_before_the_ask_is_no_answer(tmp_path: Path) -> None:
    """F-32: a guess at the next id."""
    guess = says(ANSWER, b'{"type":"act","id":%d,"action":"draw"}\n' % (AT + 1))
    game = await play(tmp_path / "log", thinking(), honest({AT: guess}), thinking(), seed=SEED)
    assert game.fault_kinds() == [(BAD, "stale")]
    assert len(game.bots[BAD][0].told("ask")) > AT


@pytest.mark.parametrize("at", ["asked", "not asked"])
@mock_time
async def test_stale_lines_are_tolerated_up_to_the_one_too_many(at: str, tmp_path: Path) -> None:
    """F-34: sixteen in a match are, the seventeenth is a flood."""
    before = [ANSWER] if at == "not asked" else []
    quiet = await play(
        tmp_path / "log", honest(), honest({AT: says(*before, *[b"\n"] * 16, ANSWER)}), honest(), seed=SEED
    )
    stale = 16 if at == "asked" else 17
    if at == "asked":
        assert quiet.fault_kinds() == [(BAD, "stale")] * stale
        check_ignored(quiet, "stale")
    flood = await play(tmp_path / "log", honest(), honest({AT: says(*before, *[b"\n"] * 17)}), honest(), seed=SEED)
    assert flood.fault_kinds() == [(BAD, "stale")] * 16 + [(BAD, "flood")]
    check_forfeit(flood, "flood")
    check_others(flood)


@mock_time
async def test_stale_lines_are_counted_for_each_match(tmp_path: Path) -> None:
    """F-34: nine in each of two matches are no flood."""
    async with seated(honest({1: says(*[b"\n"] * 9, ANSWER)}, each=None), honest()) as hall:
        await hall.play(tmp_path / "one")
        await hall.play(tmp_path / "two")
        game = await hall.play(tmp_path / "three")
        assert game.outcome.faults == []


@mock_time
async def test_time_of_a_match_is_used_up(tmp_path: Path) -> None:
    """F-40: the decision in which it happens is cut short, and no later one is waited for."""
    limits = Limits(move_ms=1000, bank_ms=0, seat_ms=2500, start_ms=5000)
    slow = honest(each=waits(0.9))
    game = await play(tmp_path / "log", honest(), slow, honest(), limits=[LIMITS, limits, LIMITS], seed=SEED)
    assert game.fault_kinds() == [(BAD, "timeout")] * 3
    first, second, third = game.outcome.faults
    assert (first.phase, first.elapsed_ms) == (Phase.ASKED, 700)
    assert (second.phase, third.phase) == (Phase.BETWEEN, Phase.BETWEEN)
    assert "no time left: 2500 of 2500 ms are used" in second.detail
    assert len(game.bots[BAD][0].told("ask")) == 3
    check_forfeited(game, "timeout")


@pytest.mark.parametrize("strikes", [1, 2, 3])
@mock_time
async def test_at_the_last_strike_the_seat_is_forfeited(strikes: int, tmp_path: Path) -> None:
    """F-41: fallback, then forfeit; the bot is told, and told bye."""
    limits = Limits(move_ms=1000, bank_ms=2000, strikes=strikes)
    bad = honest({number: changed(lambda _: "no") for number in range(AT, 99)})
    async with seated(honest(), bad, honest(), limits=[LIMITS, limits, LIMITS]) as hall:
        game = await hall.play(tmp_path / "log", seed=SEED)
        # F-54: it is told why, its input ends, and it is ended.
        assert hall.bot(BAD).heard[-1] == {"type": "bye", "reason": "forfeited: illegal"}
        assert hall.connections[BAD][0].closed
    assert game.fault_kinds() == [(BAD, "illegal")] * strikes
    assert [fault.strikes for fault in game.outcome.faults] == list(range(1, strikes + 1))
    assert len(game.decisions(BAD)) == strikes
    told = hall.bot(BAD).told("fault")
    assert [(line["strikes"], line["of"]) for line in told] == [(n, strikes) for n in range(1, strikes + 1)]
    check_forfeited(game, "illegal")
    check_others(game)


CATCH = {
    "hands": [["R1", "B4"], ["B2", "R3", "B8"], ["G7", "G8", "R9"], ["Y1", "Y2", "Y3"]],
    "discard_pile": ["R5"],
    "draw_pile": ["Y7", "Y8", "Y9", "G1", "G2", "G3", "G4", "G5", "G6"],
}
FLOOD = [b"\n"] * 17
SHORT = Rules.of("mario-kart", {"rounds": 1, "turn_cap": 40, "void_limit": 1})


@pytest.mark.parametrize(
    ("others", "found", "forfeited"),
    [
        ([{1: silent}, {1: says(b"hm\n")}, {}], "timeout malformed -", []),
        ([{}, {1: silent}, {1: changed(str.upper)}], "- timeout illegal", []),
        ([{1: waits(0.5, exits())}, {1: says(b"hm\n")}, {1: silent}], "crash malformed timeout", [1]),
        ([{0: fills_its_input}, {1: closes_output}, {1: says(*FLOOD)}], "stall eof flood", [1, 2, 3]),
        ([{1: says(*FLOOD)}, {}, {1: exits()}], "flood - crash", [1, 3]),
        ([{1: silent}, {1: silent}, {1: silent}], "timeout timeout timeout", []),
    ],
    ids=["first two", "last two", "one leaves", "all leave", "two leave", "all are late"],
)
@mock_time
async def test_faults_of_several_seats_at_one_step(
    others: list[dict[int, Turn]], found: str, forfeited: list[int], tmp_path: Path
) -> None:
    """F-42: each falls back to `wait` and the rest is as for one; in seat order, whichever fault came first."""
    kinds = [(seat, kind) for seat, kind in enumerate(found.split(), 1) if kind != "-"]
    match, events = from_setup(SHORT, CATCH)
    forgetful = honest({1: lambda bot, ask: bot.act(ask, "play R1")})
    scripts = [honest(turns, on={"start": turns[0]} if 0 in turns else {}) for turns in others]
    async with seated(forgetful, *scripts) as hall:
        game = await hall.play(tmp_path / "log", rules=SHORT, opening=Opening(CATCH, match, events))
    assert [kind for kind in game.fault_kinds() if kind[1] != "stale"] == kinds
    assert sorted(game.outcome.forfeited) == forfeited
    caught = [line["event"] for line in game.logged("event") if line["event"]["type"] == "caught"]
    honest_ones = [seat for seat in (1, 2, 3) if seat not in dict(kinds)]
    assert [event["by"] for event in caught[:1]] == ([honest_ones] if honest_ones else [])
    for seat, kind in kinds:
        if kind not in ("stall", "flood"):
            (decision, *_) = game.decisions(seat)
            assert (decision["kind"], decision["action"], decision["fault"]) == ("catch", "wait", kind)


@mock_time
async def test_faults_of_several_kinds_are_strikes_alike(tmp_path: Path) -> None:
    """F-41."""
    turns = {1: says(b"hm\n"), 3: changed(lambda _: "no"), 5: silent}
    game = await play(tmp_path / "log", honest(), honest(turns), honest(), seed=SEED)
    assert game.fault_kinds() == [(BAD, "malformed"), (BAD, "illegal"), (BAD, "timeout")]
    assert [line["strikes"] for line in game.logged("fault")] == [1, 2, 3]
    check_forfeited(game, "timeout")


@pytest.mark.parametrize("turn", [exits(), closes_output], ids=["crash", "eof"])
@mock_time
async def test_a_forfeited_bot_is_spoken_to_no_more(turn: Turn, tmp_path: Path) -> None:
    """F-54: no ask, no events, and what it might say is not read."""
    game = await play(tmp_path / "log", honest(), honest({AT: turn}, features=["events"]), honest(), seed=SEED)
    bot = game.bots[BAD][0]
    assert len(bot.told("ask")) == AT
    assert all(event["type"] != "forfeit" for event in bot.events)


@mock_time
async def test_no_pong(tmp_path: Path) -> None:
    """F-53: a bot that listed `ping` and does not answer it forfeits at its next asked decision."""
    slow, limits = honest(each=waits(2.5)), Limits(move_ms=3000)
    dead = honest(features=["ping"], on={"ping": silent})
    game = await play(tmp_path / "log", slow, dead, slow, slow, limits=limits, seed=SEED)
    assert game.fault_kinds() == [(BAD, "stall")]
    assert (game.fault.phase, game.fault.limit_ms) == (Phase.BETWEEN, 5000)
    assert game.fault.elapsed_ms is not None
    assert game.fault.elapsed_ms > 5000
    assert game.outcome.forfeited == [BAD]
    check_forfeit_without_places(game)
    good = await play(tmp_path / "log", slow, honest(features=["ping"]), slow, slow, limits=limits, seed=SEED)
    assert good.outcome.faults == []
    assert good.bots[BAD][0].told("ping")


def check_forfeit_without_places(game: Game) -> None:
    assert game.outcome.places[BAD] == len(game.outcome.places)
    assert "applied" not in game.logged("fault")[-1]


# ---- between matches and after the end


@mock_time
async def test_lines_between_matches_count_for_the_next_one(tmp_path: Path) -> None:
    """F-60: whatever they are."""
    chatty = honest(on={"end": says(b"good game\n", b"\n", b'{"type":"act","id":1,"action":"draw"}\n', b"[]\n")})
    async with seated(chatty, honest()) as hall:
        first = await hall.play(tmp_path / "one")
        await trio.sleep(1)
        second = await hall.play(tmp_path / "two")
    assert first.outcome.faults == []
    assert second.fault_kinds() == [(0, "stale")] * 4
    assert {fault.phase for fault in second.outcome.faults} == {Phase.END}
    assert second.decisions(0) == []


@mock_time
async def test_a_flood_between_matches(tmp_path: Path) -> None:
    """F-60, F-34: the forfeit comes before the deal, and the match after that has a new process."""
    async with seated([honest(on={"end": says(*[b"\n"] * 17)}), honest()], honest()) as hall:
        await hall.play(tmp_path / "one")
        await trio.sleep(1)
        second = await hall.play(tmp_path / "two")
        third = await hall.play(tmp_path / "three")
    assert second.fault_kinds() == [(0, "stale")] * 16 + [(0, "flood")]
    assert (second.outcome.reason, second.outcome.places) == ("forfeit", [2, 1])
    assert third.outcome.faults == []


@pytest.mark.parametrize(
    ("turn", "kind"),
    [(exits("exit status 2"), "crash"), (closes_output, "eof")],
    ids=["exits", "closes its output"],
)
@mock_time
async def test_a_bot_that_ends_between_matches(turn: Turn, kind: str, tmp_path: Path) -> None:
    """F-61: found out when it is first asked, as F-52; the match after that has a new process."""
    async with seated([honest(on={"end": turn}), honest()], honest()) as hall:
        assert (await hall.play(tmp_path / "one")).outcome.faults == []
        await trio.sleep(1)
        second = await hall.play(tmp_path / "two")
        assert (second.fault.kind, second.fault.phase) == (kind, Phase.BETWEEN)
        assert (second.outcome.forfeited, second.outcome.places) == ([0], [2, 1])
        third = await hall.play(tmp_path / "three")
        assert third.outcome.faults == []
        assert len(hall.connections[0]) == 2


@mock_time
async def test_a_bot_that_ends_between_matches_may_be_restarted(tmp_path: Path) -> None:
    """F-61: its first decision gets the fallback, and the new process goes on."""
    limits = Limits(move_ms=1000, restarts=1)
    async with seated([honest(on={"end": exits("exit status 2")}), honest()], honest(), limits=limits) as hall:
        await hall.play(tmp_path / "one")
        await trio.sleep(1)
        second = await hall.play(tmp_path / "two")
        assert (second.fault.kind, second.fault.exit_status) == ("crash", "exit status 2")
        assert second.outcome.forfeited == []
        assert hall.bot(0).told("start")[0]["resumed"] is True


@mock_time
async def test_after_bye_nothing_counts(tmp_path: Path) -> None:
    """F-70, F-71: lines are not read, and no exit status is a fault."""
    async with seated(honest(on={"bye": says(*[b"noise\n"] * 99)}), honest(on={"bye": exits("exit status 7")})) as hall:
        game = await hall.play(tmp_path / "log")
        for player in hall.players:
            await player.part("the run is over")
        assert hall.bot(0).heard[-1] == {"type": "bye", "reason": "the run is over"}
    assert game.outcome.faults == []


@mock_time
async def test_a_bot_that_stays_is_killed(tmp_path: Path) -> None:
    """F-72: two seconds after its input was closed."""

    async def stays(bot: Bot, line: Line) -> None:
        await bot.sleep(inf)

    async with seated(honest(on={"bye": stays}), honest()) as hall:
        await hall.play(tmp_path / "log")
        begun = trio.current_time()
        await hall.players[0].part("the run is over")
        assert trio.current_time() - begun == pytest.approx(2.0)
        assert await hall.connections[0][0].exit_status(0) == "killed by SIGKILL"


# ---- the machine


@mock_time
async def test_a_fault_of_the_machine_voids_the_match(tmp_path: Path) -> None:
    """F-90: at the start."""
    async with seated(honest(), [StartError("no memory", host=True)]) as hall:
        with pytest.raises(MatchFailed, match="no memory"):
            await hall.play(tmp_path / "log")
    assert '"kind":"host"' in (tmp_path / "log").read_text()


@mock_time
async def test_a_fault_of_the_machine_at_a_restart_voids_the_match(tmp_path: Path) -> None:
    """F-90: no strike for the bot, which cannot help it."""
    scripts: list[Script | StartError] = [honest({AT: exits()}), StartError("no more processes", host=True)]
    async with seated(honest(), scripts, limits=Limits(restarts=1)) as hall:
        with pytest.raises(MatchFailed, match="no more processes"):
            await hall.play(tmp_path / "log", seed=SEED)


@mock_time
async def test_a_full_disk_voids_the_match() -> None:
    """F-120: the log cannot be written."""
    async with seated(honest(), honest()) as hall:
        with pytest.raises(MatchFailed, match="/dev/full cannot be written: No space left"):
            await hall.play(Path("/dev/full"), rules=ONE_ROUND)


def test_every_kind_has_its_cost() -> None:
    """The two that are ours cost nobody anything."""
    assert set(COST) == set(FaultKind)
    assert {kind for kind, cost in COST.items() if not cost.strike and not cost.ends} == {"stale", "host", "referee"}
