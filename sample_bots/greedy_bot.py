"""A bot with a plan for one turn: it scores every play and takes the best; it remembers nothing between asks.

Copy it, change the numbers or worth(), and let it play against this one. Run it with `python greedy_bot.py`.
"""

import json
import sys
from typing import Any

Ask = dict[str, Any]  # one "ask" line, decoded: "id", "kind", "legal", "state", "events", ...

# What a play is worth, in cards that it leaves of the color then in force.
ACTION = 3.0  # a Skip, Reverse, Draw Two ... instead of a number
THREAT = 6.0  # the same, when it stops a next seat that is about to go out
WILD = -100.0  # a wild fits always, so it waits until nothing else does; a Wild Draw Four is lawful then
POINT = 0.004  # each point that leaves the hand: decides between equals only; wins matches, not rounds
FEW = 2  # this many cards in a hand are a threat
SUSPECT = 4  # a hand of four holds a given color two times in three


def choose(ask: Ask) -> str:
    """The action for any kind of ask; the kinds that put cards down are "turn", "drawn" and "extra"."""
    legal: list[str] = ask["legal"]
    state: Ask = ask["state"]
    plays = [line for line in legal if line.startswith("play ")]
    if plays:
        best = max(plays, key=lambda line: worth(line, state))
        return best + " uno" if len(left_after(best, state["hand"])) == 1 else best
    match ask["kind"]:
        case "catch":
            return "catch"
        case "color":
            return max(legal, key=lambda line: held(line.split()[1], state["hand"]))
        case "target":
            return choose_target(legal, state)
        case "challenge":
            # Wrong costs us two cards more; right saves us four and gives four to the other.
            return "challenge" if state["counts"][state["about"]["seat"]] >= SUSPECT else "accept"
        case _:
            return legal[-1]  # the last entry never does harm


def worth(line: str, state: Ask) -> float:
    """How much we like a play such as "play R7" or "play WD B"."""
    _, card, *named = line.split()
    rest = left_after(line, state["hand"])
    value = POINT * points(card) + len(state["hand"]) - len(rest)
    if card[0] != "W" or named:  # an Item Box turns up a color that nobody knows yet
        value += held(named[0] if named else card[0], rest)
    if card[0] == "W":
        value += WILD
    if card[1:] == "T":  # Trade Hands is as good as the hand that we would get
        value += len(rest) - min(counts_of_others(state))
    elif not card[1:].isdigit() and card not in ("W", "WC"):
        value += THREAT if state["counts"][next_seat(state)] <= FEW else ACTION
    return value


def left_after(line: str, hand: list[str]) -> list[str]:
    """The hand after a play. Discard All (RA, GA, ...) takes every card of its color along."""
    card = line.split()[1]
    if card[1:] == "A" and card[0] != "W":
        return [other for other in hand if other[0] != card[0]]
    rest = list(hand)
    rest.remove(card)
    return rest


def held(color: str, cards: list[str]) -> int:
    """How many cards of a color there are; wilds have none."""
    return sum(card[0] == color for card in cards)


def points(card: str) -> int:
    """What a card costs whoever holds it at the end of the round, near enough."""
    return 50 if card[0] == "W" else int(card[1]) if card[1].isdigit() else 20


def counts_of_others(state: Ask) -> list[int]:
    """How many cards each other seat that is still in play holds."""
    gone = {state["turn"], *state.get("out", ())}
    return [count for seat, count in enumerate(state["counts"]) if seat not in gone]


def next_seat(state: Ask) -> int:
    """Who plays after us, passing over seats that have left the match."""
    seat, seats = state["turn"], len(state["counts"])
    for _ in range(seats):
        seat = (seat + state["direction"]) % seats
        if seat not in state.get("out", ()):
            break
    return int(seat)


def choose_target(legal: list[str], state: Ask) -> str:
    """The fewest cards: who is nearest to going out, or has the hand to get in a trade if it beats ours."""
    seats = [line for line in legal if line != "target none"]
    best = min(seats, key=lambda line: state["counts"][int(line.split()[1])])
    if "target none" in legal and state["counts"][int(best.split()[1])] >= len(state["hand"]):
        return "target none"
    return best


def send(message: dict[str, object]) -> None:
    """One line, one write, flushed: a line that stays in a buffer looks like a bot that is thinking."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer what is asked and ignore every type and field that we do not know."""
    for line in sys.stdin:
        message: Ask = json.loads(line)
        match message.get("type"):
            case "hello":
                send({"type": "hello", "protocol": 1, "name": "greedy", "version": "1.0"})
            case "ask":
                send({"type": "act", "id": message["id"], "action": choose(message)})
            case "bye":
                break
            case _:
                pass


if __name__ == "__main__":
    main()
