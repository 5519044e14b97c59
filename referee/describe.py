"""Events in words, for a terminal. Knows no rule; every text that a bot supplied is escaped by the caller."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from lastcard.referee.log_reader import OURS, Line

Names = Sequence[str]


def describe(event: Mapping[str, object], names: Names) -> str:
    """One event in one line."""
    words = WORDS.get(str(event.get("type")))
    return words(event, names) if words is not None else str(dict(event))


def who(event: Mapping[str, object], names: Names, field: str = "seat") -> str:
    """The name of the seat in a field."""
    seat = event.get(field)
    return names[seat] if isinstance(seat, int) and 0 <= seat < len(names) else str(seat)


def cards(event: Mapping[str, object]) -> str:
    """The cards in an event, if they may be seen."""
    shown = cast("list[str] | None", event.get("cards"))
    return "" if shown is None else ": " + " ".join(shown)


def dealer_draw(event: Mapping[str, object], names: Names) -> str:
    drawn = ", ".join(f"{names[seat]} {card}" for seat, card in cast("list[tuple[int, str]]", event["cards"]))
    return f"draw for dealer: {drawn}; {who(event, names, 'dealer')} deals"


def played(event: Mapping[str, object], names: Names) -> str:
    color = f" and names {event['color']}" if "color" in event else ""
    return f"{who(event, names)} plays {event['card']}{color}{' - UNO!' if event.get('uno') else ''}"


def start_card(event: Mapping[str, object], names: Names) -> str:
    return f"start card {event['card']}{', goes back' if event['back'] else ''}"


def drew(event: Mapping[str, object], names: Names) -> str:
    why = "" if event["why"] == "turn" else f" ({event['why']})"
    return f"{who(event, names)} draws {event['count']}{why}{cards(event)}"


def challenged(event: Mapping[str, object], names: Names) -> str:
    verdict = "guilty" if event["guilty"] else "innocent"
    hand = cast("list[str] | None", event.get("hand"))
    shown = "" if hand is None else f" (hand: {' '.join(hand) or 'empty'})"
    return f"{who(event, names)} challenges {who(event, names, 'of')}: {verdict}{shown}"


def caught(event: Mapping[str, object], names: Names) -> str:
    by = ", ".join(names[seat] for seat in cast("list[int]", event["by"])) or "the referee"
    return f"{who(event, names)} did not call UNO: caught by {by}"


def round_end(event: Mapping[str, object], names: Names) -> str:
    if event["winner"] is None:
        return f"the round is void ({event['reason']})"
    points = cast("list[int]", event["points"])
    gained = ", ".join(f"{name} {change:+d}" for name, change in zip(names, points, strict=True) if change)
    return f"{who(event, names, 'winner')} wins the round ({event['reason']}): {gained or 'no points'}"


def match_end(event: Mapping[str, object], names: Names) -> str:
    rows = zip(names, cast("list[int]", event["places"]), cast("list[int]", event["scores"]), strict=True)
    table = ", ".join(f"{place}. {name} {score}" for name, place, score in sorted(rows, key=lambda row: row[1]))
    return f"the match is over ({event['reason']}): {table}"


def chosen(event: Mapping[str, object], names: Names) -> str:
    return f"{who(event, names)} chooses {'nobody' if event['target'] is None else who(event, names, 'target')}"


WORDS: dict[str, Callable[[Mapping[str, object], Names], str]] = {
    "dealer_draw": dealer_draw,
    "round": lambda event, names: f"--- round {event['round']}, {who(event, names, 'dealer')} deals",
    "deal": lambda event, names: f"{who(event, names)} gets {event['count']} cards{cards(event)}",
    "start_card": start_card,
    "play": played,
    "flip": lambda event, names: f"the Item Box turns {event['card']}: {event['item']}",
    "color": lambda event, names: f"{who(event, names)} names {event['color']}",
    "target": chosen,
    "trade": lambda event, names: f"{who(event, names)} trades hands with {who(event, names, 'with')}",
    "draw": drew,
    "discard": lambda event, names: f"{who(event, names)} throws off{cards(event)}",
    "press": lambda event, names: f"{who(event, names)} presses the launcher: {event['ejected'] or 'nothing'}",
    "reverse": lambda event, names: f"direction {event['direction']}",
    "skip": lambda event, names: f"{who(event, names)} misses a turn",
    "challenge": challenged,
    "take_back": lambda event, names: f"{who(event, names)} takes {event['card']} back",
    "caught": caught,
    "reshuffle": lambda event, names: f"{event['count']} discards become the draw pile",
    "forfeit": lambda event, names: f"{who(event, names)} forfeits ({event['why']})",
    "round_end": round_end,
    "match_end": match_end,
}
"""How each type of event reads."""


def describe_fault(fault: Line, names: Names) -> str:
    """A logged fault in one line."""
    strikes = f", strike {fault['strikes']} of {fault.get('of')}" if fault.get("strikes") else ""
    name = "no bot" if "seat" not in fault and fault.get("kind") in OURS else who(fault, names)
    return f"! {name}: {fault.get('kind')}{strikes}: {fault.get('detail')}"
