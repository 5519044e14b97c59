"""A second engine, slow and plain: one generator that goes through a match as people at a table do. Imports no engine.

It yields every decision and is sent the answers; what it tells between two decisions has to be what the engine
tells. Forfeits are not in it.
"""

from collections.abc import Generator
from typing import Any, NamedTuple

from tests.engine.plain import COLORS, by_print
from tests.engine.table import Event, Table

Answers = dict[int, str]
DEAL = "deal"
ITEMS = {"R": "mushroom", "Y": "banana", "G": "shell", "B": "lightning", "W": "bobomb"}


class Ask(NamedTuple):
    """A decision: what each asked seat may answer, and what it is about."""

    kind: str
    legal: dict[int, list[str]]
    about: dict[str, Any] | None


Course = Generator[Ask, Answers, None]


class Reference(Table):
    """A match: `match()` is the generator."""

    def match(self) -> Course:
        while not self.over:
            yield Ask(DEAL, {}, None)
            winner, reason = yield from self.play_round()
            self.score(winner, reason)
            reached = self.reached(winner)
            if reached:
                self.over = True
                self.tell("match_end", places=self.places(), scores=list(self.scores), reason=reached)

    def start(self) -> Course:
        card = self.turn_start_card()
        first = self.turn
        if card[0] == "W":
            namer = self.dealer if self.option["start_color"] == "dealer" else first
            yield from self.name_color(namer, "start")
            return
        self.color = card[0]
        if card[1] == "D":
            self.draw(first, 2, "start")
        if card[1] in "DS":
            self.tell("skip", seat=first)
            self.turn, self.gone = (first + 1) % self.seats, True
        if card[1] == "V":
            self.direction, self.turn = -1, self.dealer
            self.tell("reverse", direction=-1)

    def play_round(self) -> Generator[Ask, Answers, tuple[int | None, str]]:
        self.set_up()
        yield from self.start()
        while True:
            self.missed, self.again = 0, False
            yield from self.take_turn()
            if not self.hands[self.turn]:
                return self.turn, "out"
            self.turns += 1
            if self.passes >= self.seats:
                return self.blocked(), "blocked"
            if self.turns >= self.option["turn_cap"]:
                return self.blocked(), "turn_cap"
            if not self.again:
                for _ in range(self.missed):
                    self.turn = self.following()
                    self.tell("skip", seat=self.turn)
                self.turn, self.gone = self.following(), True

    def take_turn(self) -> Course:
        answer = (yield Ask("turn", {self.turn: [*self.plays(self.hands[self.turn]), "draw"]}, None))[self.turn]
        if answer != "draw":
            yield from self.lay(answer)
        elif self.stack:
            count, self.stack = self.stack, 0
            drawn = self.draw(self.turn, count, self.stack_why)
            self.passes = 0 if drawn else self.passes + 1
            self.tell("skip", seat=self.turn)
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
            answer = (yield Ask("drawn", {seat: legal}, {"card": cards[-1]}))[seat]
            if answer != "keep":
                yield from self.lay(answer)

    def name_color(self, seat: int, why: str) -> Course:
        self.color = None
        answer = (yield Ask("color", {seat: [f"color {color}" for color in COLORS]}, {"why": why}))[seat]
        self.color = answer[-1]
        self.tell("color", seat=seat, color=self.color)

    def choose(self, card: str) -> Generator[Ask, Answers, int]:
        legal = [f"target {other}" for other in self.others()]
        answer = (yield Ask("target", {self.turn: legal}, {"card": card}))[self.turn]
        target = int(answer.split()[1])
        self.tell("target", seat=self.turn, target=target)
        return target

    def lay(self, answer: str) -> Course:
        seat = self.turn
        words = answer.removesuffix(" uno").split()
        card, called = words[1], answer.endswith(" uno")
        self.passes = 0
        self.hands[seat].remove(card)
        left = list(self.hands[seat])
        judged = [other for other in left if self.unlawful_beside(other)]
        old_color, self.color = self.color, words[2] if words[2:] else card[0] if card[0] != "W" else None
        self.discards.append(card)
        told: Event = {"color": words[2]} if words[2:] else {}
        self.tell("play", seat=seat, card=card, **told, **({"uno": True} if called else {}))
        takes_back = card == "WD" and self.option["wd4_guilty"] == "take_back"
        self.kept = 2 if takes_back else 1

        item = (yield from self.turn_item(left, old_color)) if card == "WI" else None
        traded = (yield from self.trade(card)) if left and self.option["seven_zero"] == "on" else False
        yield from self.catch(called, len(left), traded)
        guilty = None
        if card == "WD":
            guilty = yield from self.challenge(judged, left, old_color)
            self.kept = 1
            if guilty:
                self.punish(old_color)
        self.strike(card, guilty)
        yield from self.hit_with(item)

    def turn_item(self, left: list[str], old_color: str | None) -> Generator[Ask, Answers, str | None]:
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

    def trade(self, card: str) -> Generator[Ask, Answers, bool]:
        seat = self.turn
        if card[1:] == "7":
            target = yield from self.choose(card)
            self.hands[seat], self.hands[target] = self.hands[target], self.hands[seat]
            cards = [(party, by_print(self.hands[party])) for party in sorted((seat, target))]
            self.tell("trade", seat=seat, **{"with": target}, cards=cards)
            return True
        if card[1:] == "0":
            giver = dict(zip([*self.others(), seat], [seat, *self.others()], strict=True))
            self.hands = [self.hands[giver[party]] for party in range(self.seats)]
            for party in (seat, *self.others()):
                cards = [(party, by_print(self.hands[party]))]
                self.tell("trade", seat=party, **{"with": giver[party]}, cards=cards)
            return True
        return False

    def catch(self, called: bool, left: int, traded: bool) -> Course:
        seat = self.turn
        if called and left > 1:
            self.draw(seat, self.option["false_call_penalty"], "uno")
        if called or traded or left != 1 or len(self.hands[seat]) != 1:
            return
        by: list[int] = []
        if self.option["catch"] == "asked":
            legal = {other: ["catch", "wait"] for other in self.others()}
            answers = yield Ask("catch", legal, {"seat": seat})
            by = [other for other in self.others() if answers[other] == "catch"]
            if not by:
                return
        self.tell("caught", seat=seat, by=by)
        self.draw(seat, self.option["uno_penalty"], "uno")

    def challenge(
        self, judged: list[str], left: list[str], old_color: str | None
    ) -> Generator[Ask, Answers, bool | None]:
        seat, victim = self.turn, self.following()
        legal = {victim: ["challenge", "accept"]}
        answer = (yield Ask("challenge", legal, {"seat": seat, "color": old_color}))[victim]
        if answer == "accept":
            return None
        self.tell("challenge", seat=victim, of=seat, guilty=bool(judged), hand=by_print(left))
        return bool(judged)

    def hit_with(self, item: str | None) -> Course:
        if item == "banana" and (self.gone or self.option["banana_first_turn"] == "previous_seat"):
            self.draw((self.turn - self.direction) % self.seats, 2, "banana")
        if item == "shell":
            target = yield from self.choose("WI")
            self.draw(target, 1, "shell")
        if item == "lightning":
            for other in self.others():
                self.draw(other, 1, "lightning")
        self.again = item in ("mushroom", "lightning")
