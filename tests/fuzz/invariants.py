"""What has to hold of every match of the simulation: its record, its log and its wires tell the same story.

The log is read as text here; `replay` and the independent checker look at it beside this.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple, cast

from lastcard.engine import Event, seen_by
from lastcard.referee.limits import Limits
from lastcard.referee.log_reader import read_log
from lastcard.referee.replay import verify
from lastcard.referee.tournament import MatchCall, MatchRecord
from tests.checker.course import audit
from tests.checker.lines import Wrong
from tests.fuzz.course import ANSWER, GONE, MOST_STALE, STRIKES, Course, Entry
from tests.fuzz.judge import Judge
from tests.fuzz.wire import Line

MS = 0.0011
"""The log gives milliseconds to three digits."""


class Seen(NamedTuple):
    """One asked decision of a seat as the log has it, or a fault by which it left without one."""

    kind: str
    ms: float
    bank: int | None
    action: str
    forfeits: bool


class Log(NamedTuple):
    """The lines of one log by type."""

    lines: list[Line]

    def of(self, kind: str) -> list[Line]:
        return [line for line in self.lines if line["type"] == kind]

    def faults(self, seat: int) -> list[Line]:
        return [line for line in self.of("fault") if line["seat"] == seat]

    @property
    def events(self) -> list[Event]:
        return [cast("Event", line["event"]) for line in self.of("event")]


def same(what: str, found: object, expected: object) -> None:
    """Says which of the two is the simulation's."""
    assert found == expected, f"{what}: {found}, expected {expected}"


def check_match(call: MatchCall, record: MatchRecord, judges: Sequence[Judge]) -> None:
    """One match that counts. `judges[seat]` follows the player of this seat."""
    try:
        check_log(call, record, judges)
    except (AssertionError, Wrong) as error:
        raise AssertionError(f"match {call.match_id}, {call.log_path}: {error}") from error


def check_log(call: MatchCall, record: MatchRecord, judges: Sequence[Judge]) -> None:
    """The log against engine, checker, record and wires."""
    read = read_log(call.log_path)
    verdict = verify(read)
    assert verdict.difference is None, f"replay: {verdict.difference}"
    assert not verdict.incomplete, f"replay: {verdict.incomplete}"
    same("digest of the replay", verdict.digest, record.digest)
    audit(call.log_path.read_bytes())
    log = Log(read.lines)
    check_record(log, record)
    left = {seat for seat, judge in enumerate(judges) if check_seat(log, seat, judge.next_match(), judge)}
    stayed = left - set(record.forfeited)
    assert left >= set(record.forfeited), f"forfeited are {record.forfeited}, expected {left}"
    assert all(ended_with(log, seat) for seat in stayed), f"forfeited are {record.forfeited}, expected {left}"


def check_record(log: Log, record: MatchRecord) -> None:
    """The record says what the log says, and everything is there once."""
    for kind in ("match", "result", "end"):
        same(f"lines of type {kind}", len(log.of(kind)), 1)
    (result,) = log.of("result")
    same("places", list(record.places), result["places"])
    same("scores", list(record.scores), result["scores"])
    faults = [(line["seat"], line["kind"]) for line in log.of("fault")]
    same("faults of the record", [(fault.seat, fault.kind) for fault in record.faults], faults)
    numbers = [line["n"] for line in log.of("decision")]
    same("numbers of decisions", numbers, list(range(1, len(numbers) + 1)))
    for line in log.of("decision"):
        same("forced", line["how"] == "forced", len(line["legal"]) == 1)
        if line["how"] == "fallback":
            same("fallback", line["action"], line["legal"][-1])
    events = [event["seat"] for event in log.events if event["type"] == "forfeit"]
    late = [line for line in log.of("fault") if line["kind"] == "timeout" and line["elapsed_ms"] < line["limit_ms"]]
    assert not late, f"a time-out before its time: {late}"
    missing = set(record.forfeited) - set(events)
    assert not missing or len(record.forfeited) == len(record.places), f"no forfeit event of {missing}"
    assert all(len(line.get("stderr", "")) <= 4 * 4096 for line in log.of("fault")), "a fault keeps too much of stderr"


def ended_with(log: Log, seat: int) -> bool:
    """Whether the match was over by the very step in which the seat had its last fault."""
    last = max(place for place, line in enumerate(log.lines) if line["type"] == "fault" and line["seat"] == seat)
    later = [line for line in log.lines[last:] if line["type"] in ("round", "decision")]
    return len({(line["type"], line.get("kind")) for line in later}) == 1 and len(
        {line["seat"] for line in later}
    ) == len(later)


# ---- one seat


def check_seat(log: Log, seat: int, course: Course, judge: Judge) -> bool:
    """A seat's faults, times and strikes are those of its wire. True if it has left the match."""
    name, limits = judge.trace.name, judge.limits
    check_course(f"{name} (seat {seat})", seen_in(log, seat), course, limits)
    stale = sum(line["kind"] == "stale" for line in log.faults(seat))
    assert course.stale_due <= stale <= min(course.stale, MOST_STALE), (
        f"{name}: {stale} stale lines, expected {course.stale_due} to {min(course.stale, MOST_STALE)}"
    )
    check_asks(name, course)
    left, restarts = check_strikes(name, log.faults(seat), limits)
    same(f"{name}: launches", course.launches, restarts + (not course.was_there))
    if not left:
        check_events(name, log, seat, course, restarted=restarts > 0)
    return left


def seen_in(log: Log, seat: int) -> list[Seen]:
    """The seat's asked decisions, and how it left, in the order of the log."""
    seen: list[Seen] = []
    waiting: list[int] = []  # faults whose decision comes behind them; a failed restart may stand between
    for line in log.lines:
        if line.get("seat") != seat:
            continue
        if line["type"] == "fault" and line["kind"] != "stale":
            if "applied" in line:
                waiting.append(len(seen))
            seen.append(Seen(line["kind"], 0.0, None, line.get("applied", ""), forfeits="applied" not in line))
        elif line["type"] == "decision" and line["how"] != "forced":
            kind = "answer" if line["how"] == "asked" else line["fault"]
            one = Seen(kind, line["t"]["ms"], line["t"].get("bank_ms"), line["action"], forfeits=False)
            if line["how"] == "asked":
                seen.append(one)
            else:
                assert waiting, f"a fallback of seat {seat} without its fault: {line}"
                place = waiting.pop()
                same("fault of the decision", seen[place][::3], one[::3])
                seen[place] = one
    assert not waiting, f"a fault of seat {seat} was applied to no decision"
    return seen


def check_course(name: str, seen: list[Seen], course: Course, limits: Limits) -> None:
    """Every decision of the log is one of the wire, in order, and none is missing."""
    paid, bank = 0, limits.bank_ms
    for number, one in enumerate(seen):
        entry = course.entries[paid] if paid < len(course.entries) else None
        if entry is not None and fits(entry, one):
            paid += 1
        else:
            assert unseen(one, course, limits), (
                f"{name}: decision {number} of the log is {one}, expected {entry} after {course.entries[:paid][-3:]}"
            )
        if one.bank is not None:
            assert 0 <= one.bank <= (bank or 0), f"{name}: the bank goes from {bank} to {one.bank}"
            bank = one.bank
    missing = course.entries[paid : course.due]
    left = bool(seen) and seen[-1].forfeits
    assert not missing or left, f"{name}: not in the log: {missing}"


def fits(entry: Entry, one: Seen) -> bool:
    """Whether the line of the log is what the wire says."""
    if one.kind not in entry.kinds or one.forfeits != entry.forfeits:
        return False
    if entry.kinds == ANSWER and one.action != entry.action:
        return False
    if one.forfeits:
        return True
    bank_is_right = one.bank is None or entry.bank is None or abs(one.bank - entry.bank) <= 1
    return bank_is_right and abs(one.ms - (entry.ms or 0.0)) <= MS


def unseen(one: Seen, course: Course, limits: Limits) -> bool:
    """Faults that nothing on the wire says: time that is used up, and a pong that did not come."""
    if one.kind == "timeout":
        clock = course.clock
        nothing_free = not limits.move_ms and not limits.margin_ms and limits.bank_ms is not None
        return one.ms == 0 and (clock.thought >= limits.seat_ms - MS or (nothing_free and clock.bank <= MS))
    return one.kind == "stall" and one.forfeits and course.silent_ping


def check_asks(name: str, course: Course) -> None:
    """What the bot is told of its clock is what it has."""
    for ask, (bank, used) in zip(course.asks, course.shown, strict=True):
        if "bank_ms" in ask:
            assert 0 <= ask["bank_ms"] <= bank + MS < ask["bank_ms"] + 1 + 2 * MS, (
                f"{name}: {ask['id']} shows a bank of {ask['bank_ms']}, not {bank}"
            )
        assert abs(ask["used_ms"] - used) <= 1, f"{name}: ask {ask['id']} says used_ms {ask['used_ms']}, not {used}"


def check_strikes(name: str, faults: list[Line], limits: Limits) -> tuple[bool, int]:
    """Strikes are counted right; whether the seat has left, and how often it was restarted."""
    strikes = restarts = 0
    left = False
    for line in faults:
        assert not left, f"{name}: {line['kind']} after it had left"
        forfeits = line["kind"] != "stale" and "applied" not in line
        strikes += line["kind"] in STRIKES and not forfeits
        same(f"{name}: strikes at {line['kind']}", (line["strikes"], line["of"]), (strikes, limits.strikes))
        gone = line["kind"] in GONE
        left = forfeits or strikes >= limits.strikes or (gone and restarts == limits.restarts)
        restarts += gone and not left
    return left, restarts


def check_events(name: str, log: Log, seat: int, course: Course, *, restarted: bool) -> None:
    """The seat was told all that it may know, once and in order; after a restart from the beginning of a round."""
    own = json.loads(json.dumps([seen_by(event, seat) for event in log.events]))  # a hand that was traded is a tuple
    if restarted:
        kinds = [line["type"] for line in log.lines]
        begins = {kinds[:place].count("event") for place, kind in enumerate(kinds) if kind == "round"}
        missing = len(own) - len(course.told)
        assert missing in begins, f"{name}: after its restart it was told {len(course.told)} events of {len(own)}"
        own = own[missing:]
    for number, (one, other) in enumerate(zip(course.told, own, strict=False)):
        same(f"{name}: event {number} that it was told", one, other)
    same(f"{name}: number of events that it was told", len(course.told), len(own))
