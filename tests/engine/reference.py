"""A second engine, slow and plain: one generator that goes through a match as people at a table do. Imports no engine.

It yields every decision and is sent the answers, or who leaves instead; what it tells between two decisions has to
be what the engine tells.
"""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from tests.engine.plain import COLORS, by_print, kind_of
from tests.engine.table import Event, Table

Answers = dict[int, str]
DEAL = "deal"
LEFT = "left"
"""In place of an answer: the seat that was asked left the match."""
ITEMS = {"R": "mushroom", "Y": "banana", "G": "shell", "B": "lightning", "W": "bobomb"}


class Ask(NamedTuple):
    """A decision: what each asked seat may answer, and what it is about."""

    kind: str
    legal: dict[int, list[str]]
    about: dict[str, Any] | None


class Leave(NamedTuple):
    """A seat leaves, in place of the answers to a decision."""

    seat: int
    why: str


Reply = Answers | Leave
Course = Generator[Ask, Reply, None]


class LastSeat(Exception):
    """All but one have left."""


class Reference(Table):
    """A match: `match()` is the generator."""

    def match(self) -> Course:
        while not self.over:
            reply = yield Ask(DEAL, {}, None)
            if isinstance(reply, Leave):
                self.leave(reply)
                if self.here() == 1:
                    self.end_match("forfeit")
                continue
            winner, reason = yield from self.play_round()
            self.score(winner, reason)
            reached = self.reached(winner)
            if reached:
                self.end_match(reached)

    def leave(self, who: Leave) -> None:
        self.left.append(who.seat)
        self.tell("forfeit", seat=who.seat, why=who.why)
        if self.in_round:
            self.aside[who.seat], self.hands[who.seat] = self.hands[who.seat], []

    def ask(
        self, kind: str, legal: Callable[[], dict[int, list[str]]], about: dict[str, Any] | None = None
    ) -> Generator[Ask, Reply, Answers]:
        """Asks until there are answers. `legal` is looked up anew when somebody has left."""
        while True:
            listed = legal()
            reply = yield Ask(kind, listed, about)
            if not isinstance(reply, Leave):
                return reply
            self.leave(reply)
            if self.here() == 1:
                raise LastSeat
            if [*listed] == [reply.seat]:
                return {reply.seat: LEFT}

    def ask_one(
        self, kind: str, seat: int, legal: Callable[[], list[str]], about: dict[str, Any] | None = None
    ) -> Generator[Ask, Reply, str]:
        return (yield from self.ask(kind, lambda: {seat: legal()}, about))[seat]

    def start(self) -> Course:
        card = self.turn_start_card()
        first, does = self.turn, card if card[0] == "W" else card[1]
        self.color = card[0] if card[0] != "W" else None
        if does in ("D", "H", "WH"):
            self.penalty(first, 4 if does == "WH" else 2, "start")
        if does == "WF":
            self.press_until_any(first, "start")
        if does == "WX":
            for seat in (first, *self.others()):
                self.press(seat, "start")
        if does in ("D", "H", "S", "WH", "WF"):
            self.tell("skip", seat=first)
            self.turn, self.gone = self.next_to(first, 1), True
        if does == "V":
            self.direction, self.turn = -1, self.dealer
            self.tell("reverse", direction=-1)
        if card[0] == "W":
            by_dealer = self.option["start_color"] == "dealer" and does not in ("WH", "WF", "WX")
            namer = self.dealer if by_dealer else self.turn
            yield from self.name_color(namer, "start")
        if self.turn in self.left:
            self.turn = self.following()

    def play_round(self) -> Generator[Ask, Reply, tuple[int | None, str]]:
        self.set_up()
        try:
            yield from self.start()
            return (yield from self.take_turns())
        except LastSeat:
            return next(seat for seat in range(self.seats) if seat not in self.left), "forfeit"

    def take_turns(self) -> Generator[Ask, Reply, tuple[int | None, str]]:
        while True:
            self.missed, self.again = 0, False
            yield from self.take_turn()
            if not self.hands[self.turn] and self.turn not in self.left:
                return self.turn, "out"
            self.turns += 1
            if self.passes >= self.here():
                return self.blocked(), "blocked"
            if self.turns >= self.option["turn_cap"]:
                return self.blocked(), "turn_cap"
            if not self.again or self.turn in self.left:
                self.pass_turn()

    def take_turn(self) -> Course:
        answer = yield from self.ask_one("turn", self.turn, lambda: [*self.plays_from_hand(), "draw"])
        if answer == LEFT:
            self.stack = 0
        elif answer != "draw":
            yield from self.play(answer)
        elif self.stack:
            count, self.stack = self.stack, 0
            self.passes = self.passes + 1 if self.dry() else 0
            self.penalty(self.turn, count, self.stack_why)
            self.tell("skip", seat=self.turn)
        elif self.launches():
            self.press_instead()
        else:
            yield from self.draw_and_perhaps_play()

    def draw_and_perhaps_play(self) -> Course:
        seat, cards = self.turn, list[str]()
        while (card := self.take()) is not None:
            cards.append(card)
            self.hands[seat].append(card)
            if self.option["draw_until_playable"] == "off" or self.fits(card):
                break
        if not cards:
            self.passes += 1
            return
        self.passes = 0
        self.tell("draw", seat=seat, count=len(cards), why="turn", cards=cards)
        if self.fits(cards[-1]):
            legal = self.plays(cards[-1:]) + ["keep"] * (self.option["forced_play"] == "off")
            answer = yield from self.ask_one("drawn", seat, lambda: legal, {"card": cards[-1]})
            if answer not in ("keep", LEFT):
                yield from self.play(answer)

    def name_color(self, seat: int, why: str) -> Course:
        self.color = None
        answer = yield from self.ask_one("color", seat, lambda: [f"color {color}" for color in COLORS], {"why": why})
        self.color = "Y" if answer == LEFT else answer[-1]
        self.tell("color", seat=seat, color=self.color)

    def choose(self, card: str, *, or_none: bool = False) -> Generator[Ask, Reply, int | None]:
        """Another player. For one who has left it is the last of the list, whether he was asked yet or not."""

        def legal() -> list[str]:
            return [f"target {other}" for other in self.others()] + ["target none"] * or_none

        answer = LEFT
        if self.turn not in self.left:
            answer = yield from self.ask_one("target", self.turn, legal, {"card": card})
        chosen = (legal()[-1] if answer == LEFT else answer).split()[1]
        target = None if chosen == "none" else int(chosen)
        self.tell("target", seat=self.turn, target=target)
        return target

    def play(self, answer: str) -> Course:
        """A card, and those that may be added to it."""
        while True:
            yield from self.lay(answer)
            if not self.may_add(kind_of(self.discards[-1])) or not self.plays_from_hand():
                return
            about = {"card": self.discards[-1], "missed": self.missed}
            answer = yield from self.ask_one("extra", self.turn, lambda: [*self.plays_from_hand(), "stop"], about)
            if answer in ("stop", LEFT):
                return

    def may_add(self, kind: str) -> bool:
        option = self.option.get("extra_card", "never")
        if kind not in ("S", "V") or self.turn in self.left or option == "never":
            return False
        return (option == "always" or self.here() == 2) and not (
            self.here() == 2 and self.option["two_player_extra"] == "turn"
        )

    def lay(self, answer: str) -> Course:
        seat = self.turn
        words = answer.removesuffix(" uno").split()
        card, called = words[1], answer.endswith(" uno")
        self.passes = 0
        self.hands[seat].remove(card)
        judged = [other for other in self.hands[seat] if card == "WD" and self.unlawful_beside(other)]
        old_color, self.color = self.color, words[2] if words[2:] else card[0] if card[0] != "W" else None
        self.discards.append(card)
        told: Event = {"color": words[2]} if words[2:] else {}
        self.tell("play", seat=seat, card=card, **told, **({"uno": True} if called else {}))
        self.throw_off(card)
        left = list(self.hands[seat])
        takes_back = card == "WD" and self.option["wd4_guilty"] == "take_back"
        self.kept = 2 if takes_back else 1

        item = (yield from self.turn_item(left, old_color)) if card == "WI" else None
        if self.does(card) == "WX" and self.option["all_hit"] == "everyone":
            self.all_press([seat] if left else [])
        traded = (yield from self.trade(card)) if left else False
        yield from self.catch(called, len(left), traded)
        verdict = (yield from self.challenge(judged, left, old_color)) if card == "WD" else "accepted"
        self.kept = 1
        if verdict == "guilty":
            self.punish(old_color)
        self.strike(self.does(card), verdict)
        yield from self.hit_with(item)
        if self.does(card) == "WA":
            yield from self.attack(card)

    def turn_item(self, left: list[str], old_color: str | None) -> Generator[Ask, Reply, str | None]:
        seat, last = self.turn, self.option["itembox_last"]
        if not left and last == "at_once":
            return None
        card = self.take()
        if card is None:
            if left:
                yield from self.name_color(seat, "nothing")
            else:
                self.color = old_color
            return None
        self.discards.append(card)
        self.color = None if card[0] == "W" else card[0]
        item = ITEMS[card[0]]
        self.tell("flip", seat=seat, card=card, item=item)
        if item == "bobomb" and (left or last == "resolve"):
            self.draw(seat, 2, "bobomb")
            if self.hands[seat]:
                yield from self.name_color(seat, "bobomb")
        return item

    def trade(self, card: str) -> Generator[Ask, Reply, bool]:
        seat, kind = self.turn, kind_of(card)
        if kind == "T" or (kind == "7" and self.option["seven_zero"] == "on"):
            target = yield from self.choose(card, or_none=kind == "T" and self.option["trade_hands"] == "may")
            if target is None or seat in self.left:
                return False
            self.hands[seat], self.hands[target] = self.hands[target], self.hands[seat]
            cards = [(party, by_print(self.hands[party])) for party in sorted((seat, target))]
            self.tell("trade", seat=seat, **{"with": target}, cards=cards)
            return True
        if kind == "0" and self.option["seven_zero"] == "on":
            giver = dict(zip([*self.others(), seat], [seat, *self.others()], strict=True))
            self.hands = [self.hands[giver.get(party, party)] for party in range(self.seats)]
            for party in (seat, *self.others()):
                cards = [(party, by_print(self.hands[party]))]
                self.tell("trade", seat=party, **{"with": giver[party]}, cards=cards)
            return True
        return False

    def catch(self, called: bool, left: int, traded: bool) -> Course:
        seat = self.turn
        if called and left > 1:
            self.penalty(seat, self.option["false_call_penalty"], "uno")
        if called or traded or left != 1 or len(self.hands[seat]) != 1:
            return
        by: list[int] = []
        if self.option["catch"] == "asked":
            legal = lambda: {other: ["catch", "wait"] for other in self.others()}  # noqa: E731  (said where asked)
            answers = yield from self.ask("catch", legal, {"seat": seat})
            by = [other for other in self.others() if answers[other] == "catch"]
            if not by:
                return
        self.tell("caught", seat=seat, by=by)
        self.penalty(seat, self.option["uno_penalty"], "uno")

    def challenge(self, judged: list[str], left: list[str], old_color: str | None) -> Generator[Ask, Reply, str]:
        """What comes of it: accepted, guilty, innocent, or nothing at all as the challenger left."""
        seat, victim = self.turn, self.struck()
        about = {"seat": seat, "color": old_color}
        answer = yield from self.ask_one("challenge", victim, lambda: ["challenge", "accept"], about)
        if answer == LEFT:
            self.stack = 0
            return "nothing"
        if answer == "accept":
            return "accepted"
        self.tell("challenge", seat=victim, of=seat, guilty=bool(judged), hand=by_print(left))
        return "guilty" if judged else "innocent"

    def attack(self, card: str) -> Course:
        target = yield from self.choose(card)
        assert target is not None, "an attack has no exception"
        for _ in range(2):
            self.press(target, "attack")
        if self.option["attack_next"] == "skip_one":
            self.miss()

    def hit_with(self, item: str | None) -> Course:
        if item == "banana" and (self.gone or self.option["banana_first_turn"] == "previous_seat"):
            self.draw(self.next_to(self.turn, -self.direction), 2, "banana")
        if item == "shell":
            target = yield from self.choose("WI")
            assert target is not None, "a shell hits somebody"
            self.draw(target, 1, "shell")
        if item == "lightning":
            for other in self.others():
                self.draw(other, 1, "lightning")
        self.again = item in ("mushroom", "lightning")
