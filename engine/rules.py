"""An edition with its options, compiled into the tables that a match looks things up in. Immutable in use.

Everything that depends only on the deck and the options is worked out once, here: what matches what, what may be
written as an action, in which order effects happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastcard.engine.cards import COLORS, Deck, is_number, is_wild, symbol
from lastcard.engine.decisions import MOST_SEATS, Decision
from lastcard.engine.editions import CUSTOM_EFFECTS, Edition, edition
from lastcard.engine.effects import EFFECTS, HOUSE
from lastcard.engine.options import Value, resolve
from lastcard.engine.supplies import SUPPLIES
from lastcard.engine.turns import FINISH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lastcard.engine.events import Play as PlayEvent
    from lastcard.engine.state import Effect

LISTINGS = 4096
"""How many listings of legal plays are kept at most; a run of weeks must not grow."""


STRIKES = {"draw_two", "draw_four", "hit_two", "hit_four"}
"""Effects that `stacking` lets a card answer with one of its own."""


class Play:
    """A `play ...` action: what it names and all that follows from that."""

    __slots__ = ("card", "color", "effects", "event", "face", "held", "may_be_last", "playable", "quick", "uno")

    def __init__(self, rules: Rules, card: str, named: str | None, *, uno: bool) -> None:
        self.card = card
        self.face = rules.deck.face[card]
        self.uno = uno
        self.color: str | None = named if is_wild(card) else card[0]
        self.playable = rules.matching(self.color, card)
        effects = [EFFECTS[name] for name in rules.effects.get(symbol(card), ())]
        in_order = sorted([*effects, EFFECTS["catch"], FINISH], key=lambda effect: effect.stage)
        self.effects: tuple[Effect, ...] = tuple(reversed(in_order))  # an agenda is taken from its end
        quiet = not any(effect.asks for effect in effects)
        self.quick = tuple(effect.run for effect in effects) if quiet else None
        may_be_taken_back = EFFECTS["challenge"] in effects and rules.wd4_guilty == "take_back"
        self.held = 2 if may_be_taken_back else 1
        self.may_be_last = not self.face & rules.never_last
        self.event: PlayEvent = {"type": "play", "seat": 0, "card": card}
        if named is not None:
            self.event["color"] = named
        if uno:
            self.event["uno"] = True


class Listings(dict[int, tuple[str, ...]]):
    """Cards that may be played -> the legal actions of a `turn` with them, worked out at the first look."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules = rules

    def __missing__(self, cards: int) -> tuple[str, ...]:
        listing = (*self.rules.plays_of(cards), "draw")
        if len(self) < LISTINGS:  # those that come first come often
            self[cards] = listing
        return listing


class DrawnDecisions(dict[str, tuple[Decision, ...]]):
    """A drawn card -> the `drawn` decision of each seat about it."""

    def __missing__(self, card: str) -> tuple[Decision, ...]:
        self[card] = made = tuple(Decision("drawn", (seat,), {"card": card}) for seat in range(MOST_SEATS))
        return made


class Rules:
    """What a match is played by: `Rules.of("mario-kart", {"target": 300})`.

    `options` holds every option of the edition with its value.
    """

    def __init__(self, source: Edition, options: dict[str, Value], deck: Deck) -> None:
        self.edition = source
        self.options = options
        self.deck = deck
        self.whole = self
        """These rules with the edition's whole deck: a match goes on with it after a round of a position."""
        self.read_options()
        self.effects: dict[str, tuple[str, ...]] = dict(source.effects)
        for name, added in HOUSE.items():
            if options[name] == "on":
                self.effects.update(added)
        self.effects.update(CUSTOM_EFFECTS.get(str(options.get("custom_effect")), {}))
        self.items: dict[str, tuple[Effect, ...]] = {
            letter: tuple(EFFECTS[name] for name in names) for letter, names in source.items.items()
        }
        face = deck.face
        self.points = {card: int(card[1:]) if is_number(card) else source.points[symbol(card)] for card in face}
        self.wild = union(face[card] for card in face if is_wild(card))
        self.colored = {color: union(face[card] for card in face if card[0] == color) for color in COLORS}
        self.same = {card: union(face[other] for other in face if symbol(other) == symbol(card)) for card in face}
        forbidden = options.get("trade_last") == "forbidden"
        self.never_last = union(
            face[card] for card in face if forbidden and "trade" in self.effects.get(symbol(card), ())
        )
        self.may_not_start = frozenset(card for card in face if not self.may_start(card))
        self.listings = Listings(self)
        self.drawn = DrawnDecisions()
        self.texts = {bit: (~face[card], tuple(self.written(card))) for bit, card in deck.code.items()}
        self.plays: dict[str, Play] = {}
        for card in face:
            for named in COLORS if self.names_color(card) else (None,):
                text = f"play {card} {named}" if named else f"play {card}"
                self.plays[text] = Play(self, card, named, uno=False)
                self.plays[text + " uno"] = Play(self, card, named, uno=True)

    @classmethod
    def of(cls, name: str, options: Mapping[str, object] | None = None) -> Rules:
        """The rules of the edition of this name, with the given options in place of its own.

        Raises EditionError or OptionError, each with a sentence that says what there is instead.
        """
        source = edition(name)
        resolved = resolve(source.options, source.fixed, options or {}, name)
        return cls(source, resolved, Deck(source.deck_with(resolved)))

    def with_deck(self, cards: Iterable[str]) -> Rules:
        """The same rules for other cards: a position need not hold a whole deck. Raises NotationError."""
        rules = Rules(self.edition, self.options, Deck(cards))
        rules.whole = self.whole
        return rules

    def read_options(self) -> None:
        """The options as attributes, where a match looks at them."""
        value = self.options
        self.start_color = str(value["start_color"])
        self.start_wd4 = str(value.get("start_wd4", "shuffle_back"))
        self.numbers_start = value["start_cards"] == "numbers_only"
        self.next_dealer = str(value["next_dealer"])
        self.wd4_unlawful = str(value.get("wd4_unlawful"))
        self.wd4_guilty = str(value.get("wd4_guilty"))
        self.banana_at_once = value.get("banana_first_turn") == "previous_seat"
        self.itembox_last = str(value.get("itembox_last"))
        self.uno_penalty = int(value["uno_penalty"])
        self.false_call_penalty = int(value["false_call_penalty"])
        self.catch = str(value["catch"])
        self.scoring = str(value["scoring"])
        self.target = int(value["target"]) if "target" in value else None
        self.rounds = int(value["rounds"]) if "rounds" in value else None
        self.stacking = str(value["stacking"])
        self.stacks = self.stacking != "off"
        self.supply = SUPPLIES[str(value["supply"])]
        self.decline = self.supply.decline[str(value["draw_until_playable"])]
        self.launcher = str(value.get("launcher"))
        self.extra_card = str(value.get("extra_card"))
        self.two_player_extra = str(value.get("two_player_extra"))
        self.all_hit = str(value.get("all_hit"))
        self.trade_hands = str(value.get("trade_hands"))
        self.attack_next = str(value.get("attack_next"))
        self.hit_fire = str(value.get("hit_fire"))
        self.forced_play = value["forced_play"] == "on"
        self.blocked_round = str(value["blocked_round"])
        self.void_limit = int(value["void_limit"])
        self.max_rounds = int(value["max_rounds"])

    def names_color(self, card: str) -> bool:
        """MK-24: whether the color is named with the card when it is played."""
        return is_wild(card) and card not in self.edition.unnamed

    def may_start(self, card: str) -> bool:
        """MK-7, CL-7, AMB-24: whether the card may start the discard pile."""
        if self.numbers_start:
            return is_number(card)
        return symbol(card) not in self.edition.never_start

    def matching(self, color: str | None, top: str) -> int:
        """MK-14, MK-15, AT-7, AT-25, CL-8, CL-9: what may be laid on the top card under that active color."""
        if color is None:
            return self.wild
        if is_wild(top):
            return self.wild | self.colored[color]
        return self.wild | self.colored[color] | self.same[top]

    def stackable(self, top: str) -> int:
        """House rule stacking: the cards whose kind may be laid on a draw card that waits."""
        kinds = self.same[top]
        if self.stacking == "cross":
            kinds = union(self.same[card] for card in self.deck.face if STRIKES & {*self.effects.get(symbol(card), ())})
        return kinds

    def written(self, card: str) -> list[str]:
        """The actions that play the card."""
        if self.names_color(card):
            return [f"play {card} {color}" for color in COLORS]
        return [f"play {card}"]

    def plays_of(self, cards: int) -> list[str]:
        """The actions that play any of the cards, in printed order, then colors R G B Y."""
        texts = self.texts
        plays: list[str] = []
        while cards:
            others, written = texts[cards & -cards]
            plays += written
            cards &= others
        return plays


def union(hands: Iterable[int]) -> int:
    """All the cards of the hands."""
    together = 0
    for hand in hands:
        together |= hand
    return together
