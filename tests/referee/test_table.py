"""A match at the table: who is told what and when, what is asked and logged, restarts, and what shows nowhere."""

import json
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import cast

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from lastcard.engine import Event, Rules, from_setup, seen_by
from lastcard.protocol import EVENTS_WAIT, encode_event
from lastcard.referee.limits import Limits
from lastcard.referee.log_reader import read_log
from lastcard.referee.match_log import MatchLog
from lastcard.referee.player import Player
from lastcard.referee.processes import StartError
from lastcard.referee.replay import verify
from lastcard.referee.seat import Seat
from lastcard.referee.table import Opening, Table
from tests.referee.scripted import (
    LIMITS,
    ONE_ROUND,
    Bot,
    Game,
    Line,
    Script,
    ScriptedConnection,
    Turn,
    choice,
    exits,
    honest,
    mock_time,
    play,
    says,
    seated,
    silent,
    waits,
)

SEED = "h"
TWO_ROUNDS = Rules.of("mario-kart", {"rounds": 2})
HOUSE = Rules.of("classic", {"rounds": 2, "stacking": "cross", "seven_zero": "on", "turn_cap": 200})


def logged_events(game: Game) -> list[Line]:
    return [line["event"] for line in game.logged("event")]


# ---- telling


@pytest.mark.parametrize("features", [[], ["events"], ["events", "ready", "ping"]], ids="-".join)
@pytest.mark.parametrize("seed", "abcd")
@pytest.mark.parametrize("rules", [TWO_ROUNDS, HOUSE], ids=["mario-kart", "house rules"])
@mock_time
async def test_each_seat_is_told_all_that_it_may_know_once_and_in_order(
    features: list[str], seed: str, rules: Rules, tmp_path: Path
) -> None:
    """Whatever line carries them, a seat's events are those of the log, redacted."""
    forgetful = honest(each=lambda bot, ask: bot.act(ask, ask["legal"][0]), features=features)
    game = await play(tmp_path / "log", honest(), forgetful, honest(features=features), rules=rules, seed=seed)
    for seat, (bot,) in enumerate(game.bots):
        full = logged_events(game)
        own = [json.loads(json.dumps(seen_by(cast("Event", event), seat))) for event in full]
        assert bot.events == own
        if seat == 1:
            assert any("cards" not in event for event in own if event["type"] == "deal")
            assert all(None not in event.values() for event in own if event["type"] not in ("round_end", "target"))
    assert game.outcome.faults == []


@mock_time
async def test_events_come_as_turns_end_or_inside_the_next_ask(tmp_path: Path) -> None:
    game = await play(tmp_path / "log", honest(features=["events"]), honest(), honest(), seed=SEED)
    eager, lazy, _ = (bots[0] for bots in game.bots)
    assert lazy.told("events") == []
    assert len(eager.told("events")) > len(eager.told("ask"))
    first = eager.told("events")[0]["events"] if eager.heard[2]["type"] == "events" else eager.heard[2]["events"]
    assert "deal" in {event["type"] for event in first}


@mock_time
async def test_an_eager_bot_gets_its_events_inside_the_ask_if_it_is_asked_next(tmp_path: Path) -> None:
    """Never an `events` line directly before an ask of the same seat's turn, and no empty one."""
    game = await play(tmp_path / "log", *[honest(features=["events"])] * 2, rules=TWO_ROUNDS, seed=SEED)
    for (bot,) in game.bots:
        assert all(line["events"] for line in bot.told("events"))
        for line, following in pairwise(bot.heard):
            if line["type"] == "events" and following["type"] == "ask" and following["kind"] == "turn":
                assert following["events"] == [] or following["events"][-1]["type"] != "round"


@mock_time
async def test_many_waiting_events_go_out_as_a_line_of_their_own() -> None:
    """More than 32 KiB, whatever the bot listed."""
    async with trio.open_nursery() as nursery:
        connection = ScriptedConnection(nursery, honest())
        player = Player("bot", ("bot",), LIMITS, lambda: connection)
        seat = Seat(player, 0)
        table = Table([player, player], ONE_ROUND, "s", MatchLog(None), match_id="m")
        assert await seat.start(table.start_line(seat)) is None
        event = encode_event({"type": "skip", "seat": 1, "filler": "x" * 500})
        told = 0
        while told * len(bytes(event)) <= EVENTS_WAIT:
            await wait_all_tasks_blocked()
            assert connection.bot.told("events") == []
            seat.tell([event])
            told += 1
        await wait_all_tasks_blocked()
        (line,) = connection.bot.told("events")
        assert len(line["events"]) == told
        seat.tell([event])
        seat.tell_end("m", [1, 2], [0, 0])
        await wait_all_tasks_blocked()
        assert len(connection.bot.told("end")[0]["events"]) == 1
        await player.part("")


@pytest.mark.parametrize("cause", ["late", "malformed", "illegal"])
@mock_time
async def test_others_cannot_tell_a_fallback_from_a_choice(cause: str, tmp_path: Path) -> None:
    """Byte for byte the same lines."""
    chosen: Turn = lambda bot, ask: bot.act(ask, ask["legal"][-1])  # noqa: E731 - a row of a table
    turn = {"late": silent, "malformed": says(b"hm\n"), "illegal": says(b'{"type":"act","id":3,"action":"no"}\n')}
    one = await play(tmp_path / "one", honest(features=["events"]), honest({3: chosen}), honest(), seed=SEED)
    other = await play(tmp_path / "two", honest(features=["events"]), honest({3: turn[cause]}), honest(), seed=SEED)
    assert other.fault.seat == 1
    for seat in (0, 2):
        assert one.bots[seat][0].heard == other.bots[seat][0].heard
    assert one.outcome.digest != other.outcome.digest


# ---- asking


@mock_time
async def test_what_start_says(tmp_path: Path) -> None:
    seed = "0123456789abcdef0123456789abcdef"
    limits = [LIMITS, Limits(move_ms=None, bank_ms=700, strikes=9), Limits(enforced=False), Limits()]
    game = await play(tmp_path / "log", *[honest()] * 4, limits=limits, seed=seed, rules=HOUSE)
    starts = [bots[0].told("start")[0] for bots in game.bots]
    assert [start["bot_seed"] for start in starts] == [939281989, 222030290, 506581511, 1289414430]
    assert [start["seat"] for start in starts] == [0, 1, 2, 3]
    assert [start["limits"] for start in starts] == [
        {"move_ms": 1000, "bank_ms": 2000, "strikes": 3},
        {"bank_ms": 700, "strikes": 9},
        {},
        {"strikes": 3},
    ]
    for start in starts:
        assert start["players"] == ["bot0", "bot1", "bot2", "bot3"]
        assert start["options"] == HOUSE.options
        assert (start["match"], start["edition"]) == ("m", "classic")
        assert "resumed" not in start


@mock_time
async def test_ids_go_on_over_matches_on_one_connection(tmp_path: Path) -> None:
    async with seated(honest(), honest()) as hall:
        for number in range(3):
            await hall.play(tmp_path / "log", seed=str(number), match_id=f"m{number}")
    for started in hall.connections:
        (connection,) = started
        bot = connection.bot
        assert [ask["id"] for ask in bot.told("ask")] == list(range(1, len(bot.told("ask")) + 1))
        assert [line["match"] for line in bot.told("start")] == ["m0", "m1", "m2"]
        assert [line["match"] for line in bot.told("end")] == ["m0", "m1", "m2"]
        assert len(bot.told("hello")) == 1


@pytest.mark.parametrize("seed", "abcdefgh")
@mock_time
async def test_forced_decisions_are_logged_and_not_asked(seed: str, tmp_path: Path) -> None:
    game = await play(tmp_path / "log", *[honest()] * 3, seed=seed, rules=TWO_ROUNDS)
    decisions = game.logged("decision")
    assert [line["n"] for line in decisions] == list(range(1, len(decisions) + 1))
    for line in decisions:
        assert (line["how"] == "forced") == (len(line["legal"]) == 1) == ("t" not in line)
    asked = [line for line in decisions if line["how"] == "asked"]
    assert len(asked) == game.outcome.asked == sum(len(bots[0].told("ask")) for bots in game.bots)
    assert all(len(ask["legal"]) > 1 for bots in game.bots for ask in bots[0].told("ask"))
    for seat, (bot,) in enumerate(game.bots):
        own = [(line["kind"], line["legal"]) for line in asked if line["seat"] == seat]
        assert own == [(ask["kind"], ask["legal"]) for ask in bot.told("ask")]


ABOUT = {
    "turn": None,
    "drawn": {"card"},
    "color": {"why"},
    "target": {"card"},
    "challenge": {"seat", "color"},
    "catch": {"seat"},
}


@mock_time
async def test_what_a_decision_is_about(tmp_path: Path) -> None:
    seen: dict[str, int] = {}
    for seed in "abcdef":
        forgetful = honest(each=lambda bot, ask: bot.act(ask, ask["legal"][0]))
        game = await play(tmp_path / "log", forgetful, honest(), honest(), seed=seed)
        for (bot,) in game.bots:
            for ask in bot.told("ask"):
                about = ask["state"].get("about")
                assert (about if about is None else set(about)) == ABOUT[ask["kind"]]
                seen[ask["kind"]] = seen.get(ask["kind"], 0) + 1
    assert set(seen) == set(ABOUT)


@mock_time
async def test_a_note_is_kept_outside_of_the_digest_and_told_to_nobody(tmp_path: Path) -> None:
    async def notes(bot: Bot, ask: Line) -> None:
        await bot.say({"type": "act", "id": ask["id"], "action": choice(ask), "note": "a \u001b[2Jsecret é"})

    with_notes = await play(tmp_path / "one", honest(), honest(each=notes), seed=SEED)
    without = await play(tmp_path / "two", honest(), honest(), seed=SEED)
    assert with_notes.outcome.digest == without.outcome.digest
    kept = [line["t"]["note"] for line in with_notes.decisions(1, "asked")]
    assert set(kept) == {"a \u001b[2Jsecret é"}
    assert with_notes.bots[0][0].heard == without.bots[0][0].heard


@mock_time
async def test_all_who_may_catch_are_asked_at_once(tmp_path: Path) -> None:
    """It takes as long as the slowest, and the order of arrival has no effect."""
    setup: Line = {
        "hands": [["R1", "B4"], ["B2", "R3"], ["G7", "R9"], ["Y1", "R8"]],
        "discard_pile": ["R5"],
        "draw_pile": ["Y7", "Y8", "Y9", "G1", "G2", "G3", "G4"],
    }
    rules = Rules.of("mario-kart", {"rounds": 1, "turn_cap": 20, "void_limit": 1})
    digests: set[str] = set()
    for delays in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.0, 0.0, 0.3]):
        match, events = from_setup(rules, setup)
        forgetful = honest({1: lambda bot, ask: bot.act(ask, "play R1")})
        others = [honest({1: waits(delay)}) for delay in delays]
        begun = trio.current_time()
        async with seated(forgetful, *others) as hall:
            game = await hall.play(tmp_path / "log", rules=rules, opening=Opening(setup, match, events))
            assert trio.current_time() - begun == pytest.approx(0.3)
        (caught, *_) = [event for event in logged_events(game) if event["type"] == "caught"]
        assert caught == {"type": "caught", "seat": 0, "by": [1, 2, 3]}
        digests.add(game.outcome.digest)
    assert len(digests) == 1


@mock_time
async def test_pace_slows_the_display_only(tmp_path: Path) -> None:
    shown: list[Event] = []
    times: list[list[float]] = []
    digests: list[str] = []
    for pace in (0.0, 0.5):
        shown.clear()
        async with seated(honest(each=waits(0.1)), honest()) as hall:
            log = MatchLog(tmp_path / "log")
            table = Table(
                hall.players,
                ONE_ROUND,
                "s",
                log,
                match_id="m",
                pace=pace,
                watcher=lambda _, events: shown.extend(events),
            )
            digests.append((await table.play()).digest)
        lines: list[Line] = read_log(tmp_path / "log").lines
        times.append([round(line["t"]["ms"]) for line in lines if line["type"] == "decision" and "t" in line])
        assert json.loads(json.dumps(shown)) == [line["event"] for line in lines if line["type"] == "event"]
    assert digests[0] == digests[1]
    assert times[0] == times[1]


@mock_time
async def test_a_match_that_is_given_up_leaves_a_log_that_is_right_so_far(tmp_path: Path) -> None:
    async with seated(honest({5: waits(inf)}), honest(), limits=Limits(enforced=False)) as hall:
        log = MatchLog(tmp_path / "log")
        table = Table(hall.players, ONE_ROUND, "s", log, match_id="m")
        with trio.move_on_after(10) as scope:
            await table.play()
        assert scope.cancelled_caught
        log.close()
    verdict = verify(read_log(tmp_path / "log"))
    assert verdict.difference is None
    assert "without its end" in verdict.incomplete
    assert verdict.steps > 5


@mock_time
async def test_a_match_from_a_deal_that_is_given(tmp_path: Path) -> None:
    """A bot that does not come forfeits after the deal, which is made already."""
    setup: Line = {"deal": {"seed": "x", "seats": 3, "dealer": 1}}

    async def absent(bot: Bot) -> None:
        return

    for scripts in ([honest()] * 3, [honest(), absent, honest()]):
        match, events = from_setup(ONE_ROUND, setup)
        async with seated(*scripts) as hall:
            game = await hall.play(tmp_path / "log", opening=Opening(setup, match, events))
        assert logged_events(game)[0]["type"] == "round"
        assert game.outcome.forfeited == ([1] if absent in scripts else [])


# ---- restarts


RESTARTS = Limits(move_ms=1000, bank_ms=2000, restarts=1)


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (exits("exit status 5"), "crash"),
        (waits(0.2, exits("killed by SIGSEGV")), "crash"),
        (waits(0, lambda bot, ask: says(b'{"type"')(bot, ask)), "timeout"),
    ],
)
@mock_time
async def test_a_restarted_bot_plays_on(turn: Turn, kind: str, tmp_path: Path) -> None:
    """Fallback and a strike; the new process gets hello, `start` with `resumed`, and this round's events."""
    scripts = [honest({4: turn}), honest()]
    game = await play(tmp_path / "log", honest(), scripts, honest(), limits=RESTARTS, seed=SEED, rules=TWO_ROUNDS)
    if kind == "timeout":
        assert len(game.bots[1]) == 1
        return
    assert (game.fault.kind, game.fault.strikes) == (kind, 1)
    assert len(game.decisions(1)) == 1
    assert game.outcome.forfeited == []
    old, new = game.bots[1]
    check_resumed(game, old, new)


def check_resumed(game: Game, old: Bot, new: Bot) -> None:
    hello, start, *rest = new.heard
    assert (hello["type"], start["type"], start["resumed"]) == ("hello", "start", True)
    assert {**start, "resumed": None} == {**old.told("start")[0], "resumed": None}
    asks = new.told("ask")
    assert [ask["id"] for ask in asks] == list(range(1, len(asks) + 1))
    # The first events are those of the round from its deal; all that follow are there too, once.
    own = [json.loads(json.dumps(seen_by(cast("Event", event), 1))) for event in logged_events(game)]
    assert new.events == own[len(own) - len(new.events) :]
    assert new.events[0]["type"] in ("dealer_draw", "round")
    assert rest[0]["type"] == "ask"
    assert rest[0]["state"]["round"] == next(event["round"] for event in new.events if event["type"] == "round")


@mock_time
async def test_a_bot_that_dies_while_not_asked_is_restarted_when_it_is(tmp_path: Path) -> None:
    async def answers_and_dies(bot: Bot, ask: Line) -> None:
        await bot.act(ask)
        await exits("exit status 6")(bot, ask)

    slow = honest(each=waits(0.1))
    scripts = [honest({4: answers_and_dies}), honest()]
    game = await play(tmp_path / "log", slow, scripts, slow, limits=RESTARTS, seed=SEED, rules=TWO_ROUNDS)
    assert (game.fault.kind, game.fault.phase, game.fault.exit_status) == ("crash", "between asks", "exit status 6")
    assert len(game.decisions(1)) == 1
    check_resumed(game, *game.bots[1])


@mock_time
async def test_restarts_run_out(tmp_path: Path) -> None:
    """The second death is the last one, before three strikes are reached."""
    dying = honest({2: exits("exit status 1")})
    game = await play(tmp_path / "log", honest(), dying, honest(), limits=RESTARTS, seed=SEED)
    assert game.fault_kinds() == [(1, "crash"), (1, "crash")]
    assert len(game.decisions(1)) == 2
    assert len(game.bots[1]) == 2
    assert game.outcome.forfeited == [1]


@mock_time
async def test_the_last_strike_is_not_restarted(tmp_path: Path) -> None:
    limits = Limits(move_ms=1000, restarts=9, strikes=2)
    game = await play(tmp_path / "log", honest(), honest({2: exits()}), honest(), limits=limits, seed=SEED)
    assert [fault.strikes for fault in game.outcome.faults] == [1, 2]
    assert len(game.bots[1]) == 2
    assert game.outcome.forfeited == [1]


async def says_nothing(bot: Bot) -> None:
    await bot.sleep(inf)


@pytest.mark.parametrize("second", [says_nothing, StartError("gone")], ids=["silent", "not there"])
@mock_time
async def test_a_restart_that_fails(second: Script | StartError, tmp_path: Path) -> None:
    """F-80: the decision has its fallback, then the seat is forfeited; that costs no strike."""
    game = await play(tmp_path / "log", honest(), [honest({3: exits()}), second], honest(), limits=RESTARTS, seed=SEED)
    assert game.fault_kinds() == [(1, "crash"), (1, "startup")]
    assert [fault.strikes for fault in game.outcome.faults] == [1, 1]
    assert len(game.decisions(1)) == 1
    assert game.outcome.forfeited == [1]
    (event,) = [event for event in logged_events(game) if event["type"] == "forfeit"]
    assert event["why"] == "startup"


@mock_time
async def test_a_restarted_bot_may_list_other_features(tmp_path: Path) -> None:
    scripts = [honest({2: exits()}), honest(features=["events", "ready"], on={"start": says({"type": "ready"})})]
    game = await play(tmp_path / "log", honest(), scripts, honest(), limits=RESTARTS, seed=SEED)
    assert game.bots[1][0].told("events") == []
    assert game.bots[1][1].told("events")


@mock_time
async def test_the_clock_and_the_strikes_of_a_seat_outlive_its_process(tmp_path: Path) -> None:
    scripts = [honest({1: waits(1.55), 2: silent, 3: exits()}), honest()]
    game = await play(tmp_path / "log", honest(), scripts, honest(), limits=RESTARTS, seed=SEED)
    assert [fault.strikes for fault in game.outcome.faults] == [1, 2]
    assert game.bots[1][1].told("ask")[0]["bank_ms"] == 0
