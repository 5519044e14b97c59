"""The quickest honest bot: it reads JSON, answers every ask with the first legal action, and writes JSON.

It plays both for the referee and for the yardstick that the referee is measured against, so its own cost is in
both figures. It calls UNO, since rounds would have no end if it did not.
"""

import json
import sys


def answer(line: str) -> str | None:
    """The line that answers `line`, or None where no answer is due."""
    message = json.loads(line)
    if message["type"] == "ask":
        action = message["legal"][0]
        if len(message["state"]["hand"]) == 2 and action.startswith("play"):
            action += " uno"
        return json.dumps({"type": "act", "id": message["id"], "action": action}) + "\n"
    if message["type"] == "hello":
        return json.dumps({"type": "hello", "protocol": 1, "name": "instant"}) + "\n"
    return None


def main() -> None:
    for line in sys.stdin:
        reply = answer(line)
        if reply is not None:
            sys.stdout.write(reply)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
