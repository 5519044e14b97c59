"""Logs of matches that the engine plays by lot, written as the referee writes them; expects nothing of them."""

import json
from collections.abc import Iterable
from hashlib import sha256
from random import Random
from typing import Any

from lastcard.engine import Event, Match, Rules, from_setup
from tests.checker.cards import KNOWN

SMALL: dict[str, tuple[int, ...]] = {
    "uno_penalty": (0, 2, 5),
    "false_call_penalty": (0, 1, 3),
    "turn_cap": (3, 40, 300, 300),
    "void_limit": (1, 3),
    "max_rounds": (1, 4, 4),
    "custom_count": (0, 3, 3),
}
"""Numbers that end matches soon."""

FAULTS = ("timeout", "crash", "flood")


def options_by_lot(edition: str, lot: Random, often: float = 0.5) -> dict[str, Any]:
    """Values for some of the options of an edition."""
    chosen: dict[str, Any] = {"turn_cap": 300, "max_rounds": 4}
    for name, allowed in KNOWN[edition].items():
        if lot.random() < often:
            chosen[name] = lot.choice(SMALL.get(name, allowed))
    if chosen.get("launcher") == "scripted":
        del chosen["launcher"]
    length = lot.choice(("target", "rounds"))
    chosen[length] = lot.choice((1, 60, 150, 500) if length == "target" else (1, 1, 2, 3))
    return chosen


class Recorder:
    """The lines of a log."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def events(self, events: Iterable[Event]) -> None:
        self.lines += [{"type": "event", "event": event} for event in events]

    def text(self) -> bytes:
        return with_digest(self.lines)


def with_digest(lines: list[dict[str, Any]]) -> bytes:
    """Lines as bytes, and the line `end` with the digest that they have."""
    digest, texts = sha256(), []
    for line in lines:
        if line["type"] != "end":
            texts.append(encode(line))
        if line["type"] in ("match", "round", "decision", "event", "result"):
            digest.update(encode({name: value for name, value in line.items() if name != "t"}) + b"\n")
    end = {"type": "end", "digest": digest.hexdigest(), "t": {"ended": "2026-01-01T00:00:00.000+00:00"}}
    return b"\n".join([*texts, encode(end)]) + b"\n"


def encode(line: dict[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode()


class Player:
    """Plays a match by lot and records it."""

    def __init__(self, match: Match, lot: Random, leaving: float = 0.0) -> None:
        self.match = match
        self.lot = lot
        self.leaving = leaving
        """How likely a seat is to leave at a step."""
        self.plays = lot.choice((0.3, 0.9, 1.0))
        self.calls, self.false_calls = lot.choice((0.1, 0.9)), lot.choice((0.0, 0.02, 0.5))
        self.log = Recorder()
        self.decisions = 0

    def play(self, position: object = None, opening: Iterable[Event] = ()) -> bytes:
        match = self.match
        self.head(position)
        self.log.events(opening)
        self.leave_by_lot()
        while not match.over:
            if match.decision is None:
                self.deal()
            else:
                self.step()
            self.leave_by_lot()
        self.log.lines.append(
            {"type": "result", "places": match.places, "scores": match.scores, "reason": match.reason}
        )
        return self.log.text()

    def head(self, position: object) -> None:
        match = self.match
        options = dict(match.rules.options)
        line = {
            "type": "match",
            "format": 1,
            "edition": match.rules.edition.name,
            "options": options,
            "seed": match.seed,
            "seats": match.seats,
        }
        if position is not None:
            line["position"] = position
        line |= {name: options[name] for name in ("rounds", "target") if name in options}
        self.log.lines.append(line | {"t": {"software": "lastcard", "bots": [{"name": "by lot"}]}})

    def leave_by_lot(self) -> None:
        """Perhaps some seats leave, one after the other; in the middle of a round rather one that is asked."""
        leaving = self.leaving
        while not self.match.over and self.lot.random() < leaving:
            decision = self.match.decision
            seats = [seat for seat in range(self.match.seats) if seat not in self.match.out]
            if decision is not None and self.lot.random() < 0.5:
                seats = list(decision.seats)
            self.log.events(self.match.forfeit(self.lot.choice(seats), self.lot.choice(FAULTS)))
            leaving = min(0.5, 10 * leaving)

    def deal(self) -> None:
        events = self.match.deal()
        deck = self.match.deck_as_dealt(events)
        self.log.lines.append({"type": "round", "round": self.match.round, "dealer": self.match.dealer, "deck": deck})
        self.log.events(events)

    def step(self) -> None:
        decision = self.match.decision
        assert decision is not None
        actions: dict[int, str] = {}
        for seat in sorted(decision.seats):
            legal = list(self.match.legal(seat))
            actions[seat] = self.answer(seat, decision.kind, legal)
        self.log.events(self.match.act(actions))

    def answer(self, seat: int, kind: str, legal: list[str]) -> str:
        """Decides for a seat, and records it."""
        self.decisions += 1
        faulty = self.leaving > 0 and len(legal) > 1 and self.lot.random() < 0.05
        action = legal[-1] if faulty or len(legal) == 1 else self.choice(seat, legal)
        how = "fallback" if faulty else "forced" if len(legal) == 1 else "asked"
        line = {"type": "decision", "n": self.decisions, "seat": seat, "kind": kind, "legal": legal, "action": action}
        line["how"] = how
        if faulty:
            line["fault"] = "illegal"
        self.log.lines.append(line if how == "forced" else line | {"t": {"ms": 0.5}})
        return action

    def choice(self, seat: int, legal: list[str]) -> str:
        """Mostly a play where there is one, with a call or without."""
        plays = [action for action in legal if action.startswith("play ")]
        others = [action for action in legal if not action.startswith("play ")]
        if others and not (plays and self.lot.random() < self.plays):
            return self.lot.choice(others)
        due = len(self.match.hand_of(seat)) == 2
        return self.lot.choice(plays) + " uno" * (self.lot.random() < (self.calls if due else self.false_calls))


def log_by_lot(edition: str, seats: int, number: int, leaving: float = 0.0, **options: Any) -> bytes:
    """The same log for the same arguments."""
    lot = Random(f"{edition} {seats} {number}")
    rules = Rules.of(edition, options_by_lot(edition, lot) | options)
    return Player(Match(rules, seats, f"audit-{number}"), lot, leaving).play()


def log_from(edition: str, options: dict[str, Any], setup: dict[str, Any], number: int, leaving: float) -> bytes:
    """A match that begins in a position and is over with its round."""
    options = {"turn_cap": 300} | {name: value for name, value in options.items() if name not in ("target", "rounds")}
    match, events = from_setup(Rules.of(edition, options | {"max_rounds": 1}), setup, play_on=True)
    return Player(match, Random(number), leaving).play(setup, events)
