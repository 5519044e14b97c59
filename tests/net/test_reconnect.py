"""Connections that are lost and come back: at every boundary of a match, too late, again and again, and twice."""

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lastcard.engine import Rules
from lastcard.referee.limits import Limits
from lastcard.referee.net.lobby import OVER, REPLACED
from tests.net.caller import Caller, Gone, Line, Script, answer, honest, play
from tests.net.hall import Game, descriptors, opened, play_at

TWO_ROUNDS = Rules.of("classic", {"rounds": 2})
SHORT = "26"
"""A seed whose two rounds are short."""

SLOW = Limits(move_ms=700, bank_ms=0, start_ms=3000, margin_ms=50)
TOO_LATE = 0.9
"""Seconds: more than a decision may take there."""


class Cutter(Caller):
    """Cuts its line once, at a boundary between two lines, or in the middle of the line before it."""

    at = 0
    half = False
    reset = False
    boundary = 0

    def _pass(self) -> None:
        self.boundary += 1
        if self.boundary == self.at:
            self.cut(reset=self.reset)
            raise Gone("cut")

    def read(self) -> Line:
        if self.half and self.boundary + 1 == self.at:
            if not self._data:  # else a part of the line is here, or all of it
                self._data += self.sock.recv(10)
        else:
            line = super().read()
            if line["type"] == "bye":
                return line
        self._pass()
        return line

    def say(self, line: object) -> None:
        if self.half and self.boundary + 1 == self.at:
            super().say(b'{"type":"act","id":1,"acti')
        else:
            super().say(line)
        self._pass()


def faithful(*features: str) -> Script:
    """Comes back whenever its line is lost, also during the greeting, until nobody is there any more."""

    def script(caller: Caller) -> None:
        while True:
            try:
                caller.log_in(features)
                bye = play(caller, features)
            except Gone:
                continue
            except ConnectionRefusedError:
                return
            if not bye.get("again"):
                return

    return script


def this_round(events: Sequence[Line]) -> list[Line]:
    """What belongs to the last round among them; the draw for dealer belongs to the first."""
    begins = [number for number, event in enumerate(events) if event["type"] == "round"]
    return list(events[begins[-1] :] if len(begins) > 1 else events)


class Course:
    """What a bot without features was asked in a match that nothing disturbed, by id."""

    def __init__(self, heard: Sequence[Line]) -> None:
        events: list[Line] = []
        self.asks: dict[int, Line] = {}
        self.told: dict[int, list[Line]] = {}
        for line in heard:
            events += line.get("events", [])
            if line["type"] == "ask":
                self.asks[line["id"]] = line
                self.told[line["id"]] = this_round(events)

    def prove(self, caller: Caller) -> int:
        """The same asks under the same ids; after a loss, this round's events. How often an ask came again."""
        ids: list[int] = []
        for lines in (*caller.earlier, caller.heard):
            resumed = any(line.get("resumed") for line in lines)
            for number, ask in enumerate(line for line in lines if line["type"] == "ask"):
                expected = self.asks[ask["id"]]
                for name in ("kind", "legal", "state"):
                    assert ask[name] == expected[name]
                if resumed and number == 0:
                    assert this_round(ask["events"]) == ask["events"] == self.told[ask["id"]]
                ids.append(ask["id"])
        assert all(0 <= after - before <= 1 for before, after in pairwise(ids))
        assert set(ids) == set(self.asks)
        return len(ids) - len(self.asks)


async def with_cut(path: Path, features: Sequence[str], at: int, **how: Any) -> tuple[Game, Cutter]:
    """The short match, in which the bot `a` is cut."""
    async with opened("a", "b", patience=20) as hall:
        cutter = Cutter(hall.port, hall.caller("a").token)
        cutter.at = at
        for name, value in how.items():
            setattr(cutter, name, value)
        hall.run_as(cutter, faithful(*features))
        hall.run("b", honest)
        game = await hall.play(path, "a", "b", seed=SHORT, rules=TWO_ROUNDS)
    return game, cutter


@pytest.mark.parametrize("features", [(), ("ready", "events", "ping")], ids=["plain", "all features"])
@pytest.mark.parametrize("how", [{}, {"reset": True}, {"half": True}], ids=["closed", "reset", "in a line"])
async def test_a_line_that_is_cut_anywhere_changes_nothing(
    tmp_path: Path, how: dict[str, bool], features: tuple[str, ...]
) -> None:
    """T-10, T-14: after each line of either end, and in the middle of it."""
    path = tmp_path / "match.jsonl"
    whole, undisturbed = await with_cut(path, features, 0)
    assert whole.faults == []
    course = Course(undisturbed.heard)
    assert undisturbed.boundary > 2 * len(course.asks)
    asked_again = 0
    for at in range(1, undisturbed.boundary + 1):
        game, cutter = await with_cut(path, features, at, **how)
        assert (game.record.digest, game.faults) == (whole.record.digest, []), at
        assert cutter.boundary > at or at == undisturbed.boundary
        if not features:
            asked_again += course.prove(cutter)
    assert features or asked_again >= len(course.asks)


async def test_the_clock_runs_on(tmp_path: Path) -> None:
    """T-14: what remains is told with the ask that comes again."""
    limits = Limits(move_ms=300, bank_ms=5000, start_ms=3000, margin_ms=0)

    def away_once(caller: Caller) -> None:
        caller.log_in()
        caller.until("ask")
        caller.cut()
        time.sleep(0.8)
        caller.log_in()
        caller.act(caller.until("ask"))
        play(caller)

    async with opened("a", "b", limits=limits, patience=20) as hall:
        away, _ = hall.run("a", away_once), hall.run("b", honest)
        game = await hall.play(tmp_path / "m", "a", "b")
    asks = [line for line in away.caller.all_heard if line["type"] == "ask"]
    first, again, third = asks[:3]
    assert (first["id"], first["move_ms"], first["bank_ms"]) == (1, 300, 5000)
    assert (again["id"], again["move_ms"], again["legal"]) == (1, 0, first["legal"])
    assert 1000 < again["bank_ms"] < 4550
    assert third["id"] == 2
    assert third["bank_ms"] <= again["bank_ms"]
    decision = next(line for line in game.logged("decision") if line["seat"] == 0 and line["how"] == "asked")
    assert decision["t"]["ms"] >= 790
    assert game.faults == []


def late_once(caller: Caller) -> None:
    """Loses its line at the first ask and comes back too late for it."""
    caller.log_in()
    caller.until("ask")
    caller.cut()
    time.sleep(TOO_LATE)
    honest(caller)


async def test_not_back_in_time_is_a_strike_and_the_seat_stays(tmp_path: Path) -> None:
    """T-14."""
    async with opened("a", "b", limits=SLOW, patience=20) as hall:
        run, _ = hall.run("a", late_once), hall.run("b", honest)
        game = await hall.play(tmp_path / "m", "a", "b")
    assert game.faults == [(0, "eof")]
    (fault,) = game.logged("fault")
    assert fault["detail"] == "its connection was lost, and not back in 750 ms"
    assert (fault["limit_ms"], fault["elapsed_ms"], fault["strikes"]) == (750, 750, 1)
    assert fault["applied"]
    assert game.record.forfeited == ()
    ids = [line["id"] for line in run.caller.heard if line["type"] == "ask"]
    assert ids[0] in (2, 3)  # the first was paid for; if the second was asked meanwhile, it came here again
    assert ids == list(range(ids[0], ids[-1] + 1))


async def test_the_third_strike_forfeits(tmp_path: Path) -> None:
    def away(caller: Caller) -> None:
        caller.log_in()
        caller.until("ask")

    async with opened("a", "b", limits=SLOW, patience=20) as hall:
        hall.run("a", away)
        hall.run("b", honest)
        game = await hall.play(tmp_path / "m", "a", "b")
    assert game.faults == [(0, "eof")] * 3
    assert game.record.forfeited == (0,)


async def test_a_forfeited_bot_is_invited_to_the_next_match(tmp_path: Path) -> None:
    """T-12: bye with `again`, and a fresh login that plays the next match from its start."""

    def bad_once(caller: Caller) -> None:
        caller.log_in()
        while (line := caller.read())["type"] != "bye":
            if line["type"] == "ask":
                caller.act(line, "play Z9")
        assert (line["again"], line["reason"]) == (True, "forfeited: illegal")
        with pytest.raises(Gone):
            caller.read()
        honest(caller)

    async with opened("a", "b", patience=20) as hall:
        run, _ = hall.run("a", bad_once), hall.run("b", honest)
        async with hall.table("a", "b") as table:
            first = await play_at(table, tmp_path / "1", 2)
            second = await play_at(table, tmp_path / "2", 2, seed="t")
    assert first.record.forfeited == (0,)
    assert (second.faults, second.record.forfeited) == ([], ())
    assert [line["type"] for line in run.caller.heard[:3]] == ["hello", "start", "ask"]
    assert "resumed" not in run.caller.heard[1]
    assert run.caller.heard[2]["id"] == 1
    assert run.caller.heard[-1] == {"type": "bye", "reason": OVER}


# ---- a second login


async def second_login(tmp_path: Path, when: Callable[[Caller], object], *, features: tuple[str, ...] = ()) -> Game:
    """A bot's double logs in as soon as `when` returns, and the bot is told so."""
    halves: list[Caller] = []

    def first(caller: Caller) -> None:
        caller.log_in(features)
        when(caller)
        double = Caller(caller.port, caller.token)
        halves.append(double)
        double.log_in(features)
        lines = caller.rest()
        assert lines[-1] == {"type": "bye", "reason": REPLACED}
        bye = play(double, features)
        double.cut()
        assert bye == {"type": "bye", "reason": OVER}

    async with opened("a", "b", patience=20) as hall:
        hall.run("a", first)
        hall.run("b", honest)
        async with hall.table("a", "b") as table:
            game = await play_at(table, tmp_path / "1", 2, seed=SHORT)
            after = await play_at(table, tmp_path / "2", 2, seed="t")
    assert (game.faults, after.faults) == ([], [])
    return game


def while_not_asked(caller: Caller) -> None:
    caller.act(caller.until("ask"))


def between_matches(caller: Caller) -> None:
    while (line := caller.read())["type"] != "end":
        answer(caller, line)


@pytest.mark.parametrize(
    "when", [lambda caller: None, lambda caller: caller.until("start"), lambda caller: caller.until("ask"),
             while_not_asked, between_matches],
    ids=["lobby", "started", "asked", "not asked", "between matches"],
)  # fmt: skip
async def test_a_second_login_takes_over(tmp_path: Path, when: Callable[[Caller], object]) -> None:
    """T-11."""
    await second_login(tmp_path, when)


async def test_a_second_login_while_ready_is_waited_for(tmp_path: Path) -> None:
    """T-11."""
    await second_login(tmp_path, lambda caller: caller.until("start"), features=("ready",))


# ---- again and again


async def test_a_thousand_lines_in_one_decision(tmp_path: Path) -> None:
    """T-11: no recursion, no descriptor and no place is lost."""
    limits = Limits(move_ms=60_000, bank_ms=0, start_ms=60_000)
    times = 1000

    def flapping(caller: Caller) -> None:
        for number in range(times):
            caller.log_in()
            if number % 3:
                caller.until("ask")
            caller.cut(reset=number % 2 == 0)
        honest(caller)

    async with opened("a", "b", limits=limits, patience=20) as hall:
        run, _ = hall.run("a", flapping), hall.run("b", honest)
        before = descriptors()
        async with hall.table("a", "b") as table:
            game = await play_at(table, tmp_path / "m", 2)
            assert descriptors() <= before + 5
    assert game.faults == []
    ids = {line["id"] for lines in run.caller.earlier for line in lines if line["type"] == "ask"}
    assert ids == {1}
    assert len(run.caller.earlier) == times


async def test_a_bot_that_is_never_ready_again(tmp_path: Path) -> None:
    """It has come back, but not to the match: as if it had not."""

    def unready(caller: Caller) -> None:
        caller.log_in(["ready"])
        caller.until("start")
        caller.say({"type": "ready"})
        caller.until("ask")
        while True:
            try:
                caller.log_in(["ready"])
                if caller.until("start", "bye")["type"] == "bye":
                    return
                caller.rest()
                if caller.heard[-1]["type"] == "bye" and not caller.heard[-1].get("again"):
                    return
            except (Gone, ConnectionRefusedError):
                return

    async with opened("a", "b", limits=SLOW, patience=20) as hall:
        hall.run("a", unready)
        hall.run("b", honest)
        game = await hall.play(tmp_path / "m", "a", "b")
    assert game.faults == [(0, "eof")] * 3
    assert game.record.forfeited == (0,)


async def test_a_line_that_is_lost_again_before_ready(tmp_path: Path) -> None:
    """T-14."""

    def twice(caller: Caller) -> None:
        caller.log_in(["ready"])
        caller.until("start")
        caller.say({"type": "ready"})
        caller.until("ask")
        for _ in range(3):
            caller.log_in(["ready"])
            assert caller.until("start")["resumed"] is True
            caller.cut()
        faithful("ready")(caller)

    async with opened("a", "b", patience=20) as hall:
        hall.run("a", twice)
        hall.run("b", honest)
        assert (await hall.play(tmp_path / "m", "a", "b")).faults == []
