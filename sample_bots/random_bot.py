"""A bot that plays a legal card picked by chance; it knows the wire protocol and little of the rules.

Copy it and rewrite choose(). Run it with `python random_bot.py`: asks come on stdin, answers go to stdout.
"""

import json
import random
import sys
from typing import Any

Ask = dict[str, Any]  # one "ask" line, decoded: "id", "kind", "legal", "state", "events", ...


def choose(ask: Ask, chance: random.Random) -> str:
    """Pick a card, not a line: a wild is listed once for each color and must not be four times as likely."""
    legal: list[str] = ask["legal"]
    cards = list(dict.fromkeys(line.split()[1] for line in legal if line.startswith("play ")))
    if cards:
        card = chance.choice(cards)
        play = chance.choice([line for line in legal if line.startswith("play ") and line.split()[1] == card])
        return call_uno(play, ask["state"]["hand"])
    if "catch" in legal:
        return "catch"
    return chance.choice(legal)  # a color, a target, challenge or accept; "draw" when there is nothing else


def call_uno(play: str, hand: list[str]) -> str:
    """Add the call when exactly one card stays in the hand. Nobody reminds us of it."""
    card = play.split()[1]
    # Discard All (RA, GA, ...) throws every card of its color at once; any other play takes one card.
    thrown = sum(other[0] == card[0] for other in hand) if card[1:] == "A" and card != "WA" else 1
    return play + " uno" if len(hand) - thrown == 1 else play


def send(message: dict[str, object]) -> None:
    """One line, one write, flushed: a line that stays in a buffer looks like a bot that is thinking."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer what is asked and ignore every type and field that we do not know."""
    chance = random.Random(0)
    for line in sys.stdin:
        message: Ask = json.loads(line)
        match message.get("type"):
            case "hello":
                send({"type": "hello", "protocol": 1, "name": "random", "version": "1.0"})
            case "start":  # one process plays many matches; each brings its own seed
                chance = random.Random(message.get("bot_seed", 0))
            case "ask":
                send({"type": "act", "id": message["id"], "action": choose(message, chance)})
            case "bye":
                break
            case _:
                pass


if __name__ == "__main__":
    main()
