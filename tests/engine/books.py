"""Keeps the books of a match from its events alone: where every card is, and the score. Knows no rule of play."""

from collections import Counter
from typing import Any

from lastcard.engine import Event, Match
from lastcard.engine.cards import printed


class Books:
    """What a reader of the full events knows: where each card is, the score, who left."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.deck = Counter(match.rules.deck.cards)
        self.launches = match.rules.options["supply"] == "launcher"
        self.clear()
        self.scores = [0] * match.seats
        self.out: set[int] = set()
        self.in_round = False
        self.ended: dict[str, Any] | None = None

    def clear(self) -> None:
        self.hands: list[Counter[str]] = [Counter() for _ in range(self.match.seats)]
        self.aside: list[Counter[str]] = [Counter() for _ in range(self.match.seats)]
        self.discards: list[str] = []
        self.pile = self.deck.copy()
        self.owed: Counter[str] = Counter()
        self.counter = 0  # presses since the last ejection
        self.due: dict[str, Any] | None = None  # the press whose cards are still to be told
        self.reloaded = False  # just now, for a press
        self.thrower: int | None = None  # the seat whose card came last, as long as it may throw others off with it

    def copy(self) -> "Books":
        """Books that go on from these with a clone of the match."""
        copied = Books(self.match.clone())
        copied.hands = [hand.copy() for hand in self.hands]
        copied.aside = [hand.copy() for hand in self.aside]
        copied.discards, copied.pile, copied.owed = self.discards.copy(), self.pile.copy(), self.owed.copy()
        copied.scores, copied.out, copied.in_round = self.scores.copy(), self.out.copy(), self.in_round
        copied.counter = self.counter
        return copied

    def keep(self, events: list[Event]) -> None:
        """The events of a step; the deck has to be whole after each, and the match as the books say at the end."""
        for event, following in zip(events, [*events[1:], None], strict=False):
            self.read(event)
            moving = event["type"] == "trade" and following is not None and following["type"] == "trade"
            if not moving:  # hands that move on together are told one by one
                self.check()
        assert self.due is None, "what a press ejected is told at once"
        self.compare()

    def read(self, event: Event) -> None:
        """Books one event."""
        assert self.ended is None, "nothing happens after the end of the match"
        kind = event["type"]
        assert self.due is None or kind == "draw", "what a press ejected is told at once"
        assert not self.reloaded or kind == "press", "a launcher is reloaded for a press"
        self.reloaded = False
        if kind != "discard":
            self.thrower = event["seat"] if event["type"] == "play" else None
        getattr(self, f"on_{event['type']}")(event)

    def check(self) -> None:
        everywhere = Counter(self.discards)
        for cards in (self.pile, *self.hands, *self.aside):
            everywhere.update(cards)
        assert everywhere == self.deck

    def compare(self) -> None:
        match = self.match
        assert match.over == (self.ended is not None)
        if not match.round:  # nothing is on the table yet
            return
        match.check_cards()
        for seat in range(match.seats):
            assert Counter(match.hand_of(seat)) == self.hands[seat] + self.aside[seat]
        seat = match.turns % match.seats  # each seat's view in its turn
        view = match.view(seat)
        assert Counter(view["hand"]) == self.hands[seat]
        assert view["counts"] == [hand.total() for hand in self.hands]
        assert (view["draw_pile"], view["scores"]) == (self.pile.total(), self.scores)
        assert view.get("press") == (self.counter if self.launches else None)
        assert match.discard_codes() == self.discards
        assert Counter(match.draw_pile_order()) == self.pile
        assert match.scores == self.scores

    # --- one method an event type; those that move no card have nothing to book

    def take(self, cards: list[str]) -> None:
        assert not Counter(cards) - self.pile, "cards come from the draw pile"
        assert not self.owed - Counter(cards), "the rest of the pile goes before what was shuffled"
        self.pile -= Counter(cards)
        self.owed.clear()

    def on_round(self, event: Any) -> None:
        self.clear()
        self.in_round = True
        assert event["dealer"] not in self.out

    def on_deal(self, event: Any) -> None:
        assert event["count"] == len(event["cards"]) == self.match.rules.edition.hand_size
        assert event["seat"] not in self.out
        self.take(event["cards"])
        self.hands[event["seat"]] = Counter(event["cards"])

    def on_start_card(self, event: Any) -> None:
        if not event["back"]:
            self.take([event["card"]])
            self.discards.append(event["card"])

    def on_play(self, event: Any) -> None:
        assert self.hands[event["seat"]][event["card"]]
        self.hands[event["seat"]] -= Counter([event["card"]])
        self.discards.append(event["card"])

    def on_discard(self, event: Any) -> None:
        cards = event["cards"]
        assert self.thrower == event["seat"], "cards are thrown off with a card that was just played"
        assert cards == printed(cards)
        assert cards
        assert not Counter(cards) - self.hands[event["seat"]]
        self.hands[event["seat"]] -= Counter(cards)
        self.discards[-1:-1] = cards  # under the card that threw them
        self.thrower = None

    def on_press(self, event: Any) -> None:
        assert self.launches
        assert event["seat"] not in self.out, "a forfeited seat presses nothing"
        assert self.pile or len(self.discards) == 1, "an empty launcher is reloaded before it is pressed"
        assert 0 <= event["ejected"] <= self.pile.total()
        self.counter = 0 if event["ejected"] else self.counter + 1
        assert event["counter"] == self.counter
        self.due = event if event["ejected"] else None

    def on_flip(self, event: Any) -> None:
        self.take([event["card"]])
        self.discards.append(event["card"])

    def on_draw(self, event: Any) -> None:
        assert event["count"] == len(event["cards"]) > 0
        assert event["seat"] not in self.out, "a forfeited seat draws nothing"
        pressed, self.due = self.due, None
        assert (pressed is not None) == self.launches, "where there is a launcher all cards come from a press"
        if pressed is not None:
            assert (event["seat"], event["count"]) == (pressed["seat"], pressed["ejected"])
        self.take(event["cards"])
        self.hands[event["seat"]] += Counter(event["cards"])

    def on_take_back(self, event: Any) -> None:
        assert self.discards.pop() == event["card"]
        (self.aside if event["seat"] in self.out else self.hands)[event["seat"]][event["card"]] += 1

    def on_reshuffle(self, event: Any) -> None:
        # When cards are needed and not before: what the pile still held is drawn by the very next event.
        self.owed = self.pile.copy()
        assert event["count"] > 0
        if self.launches:
            assert not self.pile, "a launcher is reloaded when it is empty"
            self.reloaded, self.counter = True, 0
        self.pile += Counter(self.discards[: event["count"]])
        del self.discards[: event["count"]]
        assert self.discards, "the top card stays"

    def on_trade(self, event: Any) -> None:
        for seat, cards in event["cards"]:
            self.hands[seat] = Counter(cards)
        assert not {event["seat"], event["with"]} & self.out

    def on_forfeit(self, event: Any) -> None:
        seat = event["seat"]
        self.out.add(seat)
        if self.in_round:
            self.aside[seat], self.hands[seat] = self.hands[seat], Counter()

    def on_round_end(self, event: Any) -> None:
        self.in_round = False
        counted = [hand + aside for hand, aside in zip(self.hands, self.aside, strict=True)]
        assert [Counter(hand) for hand in event["hands"]] == counted
        self.scores = [old + change for old, change in zip(self.scores, event["points"], strict=True)]

    def on_match_end(self, event: Any) -> None:
        assert event["scores"] == self.scores
        self.ended = event

    def on_target(self, event: Any) -> None:
        assert event["target"] not in self.out | {event["seat"]}
        assert event["target"] is not None or self.discards[-1][1:] == "T", "nobody is chosen only for Trade Hands"

    def on_skip(self, event: Any) -> None:
        assert event["seat"] not in self.out

    def on_caught(self, event: Any) -> None:
        assert not {*event["by"]} & (self.out | {event["seat"]})

    def on_challenge(self, event: Any) -> None:
        assert event["seat"] not in self.out | {event["of"]}

    def on_nothing(self, event: Any) -> None:
        """Moves no card."""

    on_dealer_draw = on_color = on_reverse = on_nothing
