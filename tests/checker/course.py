"""A match from its first line to its last: rounds, dealers, points, the end; knows no card but by what it is worth."""

import re

from tests.checker.books import Books
from tests.checker.cards import KNOWN, LENGTHS, deck_of, option_faults, printed, worth
from tests.checker.desk import Desk, LastSeat
from tests.checker.lines import Fields, Lines
from tests.checker.plays import RoundOver
from tests.checker.starts import begin_round, open_position
from tests.checker.turns import play_on

FORMAT = 1
MEMBERS = {"type", "format", "edition", "options", "seed", "seats", "position", "t"}
SEED = re.compile(r"[0-9A-Za-z._-]{1,64}")


def audit(text: bytes) -> None:
    """Reads a whole log. Raises Wrong at the first line that cannot be, CutOff if it ends too early."""
    lines = Lines(text)
    head = read_head(lines)
    options = head["options"]
    deck = deck_of(head["edition"], options.get("custom_count", 0))
    desk = Desk(lines, Books(head["seats"], head["seed"]), options, deck)
    reason = play_match(desk, head.get("position"))
    end_match(desk, reason)


def read_head(lines: Lines) -> Fields:
    """The line `match`, checked."""
    head = lines.take()
    if head["type"] != "match" or head.get("format") != FORMAT:
        raise lines.wrong("the first line is no match of format 1")
    faults = head_faults(head)
    if faults:
        raise lines.wrong("; ".join(faults))
    return head


def head_faults(head: Fields) -> list[str]:
    """What is wrong with the line `match`, a sentence each."""
    edition, options, seats = head.get("edition"), head.get("options"), head.get("seats")
    if edition not in KNOWN:
        return [f"there is no edition {edition!r}"]
    if not isinstance(options, dict):
        return ["there are no options"]
    faults = option_faults(edition, options)
    if {name: head[name] for name in LENGTHS if name in head} != {n: options[n] for n in LENGTHS if n in options}:
        faults.append("target and rounds are not those of the options")
    if isinstance(seats, bool) or seats not in range(2, 11):
        faults.append(f"there cannot be {seats!r} seats")
    if not isinstance(head.get("seed"), str) or not SEED.fullmatch(head["seed"]):
        faults.append("a seed is 1 to 64 characters of 0-9 A-Z a-z . _ -")
    if not isinstance(head.get("position", {"deal": {}}), dict):
        faults.append("a position is an object")
    unknown = set(head) - MEMBERS - {*LENGTHS}
    return [*faults, *(f"a match has no {name}" for name in sorted(unknown))]


def play_match(desk: Desk, position: Fields | None) -> str:
    """Round after round, the first perhaps from a position; returns why the match ended."""
    won = voids = 0
    try:
        while True:
            winner = play_round(desk, position)
            position = None
            won, voids = (won, voids + 1) if winner is None else (won + 1, 0)
            if len(desk.books.in_play()) == 1:
                return "forfeit"
            reason = why_over(desk, won, voids)
            if reason:
                return reason
            set_next_dealer(desk, winner)
    except LastSeat:  # between two rounds
        return "forfeit"


def play_round(desk: Desk, position: Fields | None) -> int | None:
    """One round; returns its winner. Raises LastSeat if all but one leave before it."""
    desk.turns = desk.passes = desk.stack = 0
    desk.passed_on = False
    if position is None:
        desk.let_leave()
        desk.books.dealer = next_in_play(desk, desk.books.dealer)
    try:
        play_on(desk, begin_round(desk, desk.deck) if position is None else open_position(desk, position))
    except RoundOver as over:
        winner, reason = over.winner, over.reason
    except LastSeat:
        (winner,), reason = desk.books.in_play(), "forfeit"
    hands = [printed(hand) for hand in desk.books.hands]
    points = points_of_round(desk, winner)
    desk.event("round_end", winner=winner, reason=reason, hands=hands, points=points)
    return winner


def points_of_round(desk: Desk, winner: int | None) -> list[int]:
    """What the round changes in each score (MK-52)."""
    values = [worth(hand) for hand in desk.books.hands]
    points = [0] * len(values)
    if winner is None:
        return points
    for seat, value in enumerate(values):
        if seat == winner:
            continue
        if not desk.option_is("scoring", "penalty_lowest"):
            points[winner] += value
        if desk.option_is("scoring", "plus_minus"):
            points[seat] -= value
        if desk.option_is("scoring", "penalty_lowest"):
            points[seat] += value
    return points


def why_over(desk: Desk, won: int, voids: int) -> str | None:
    """Whether the match is over after a round, and why; `won` rounds had a winner, the last `voids` had none."""
    options, scores = desk.options, desk.books.scores
    length = "target" if "target" in options else "rounds"
    reached = max(scores) if length == "target" else won
    first = [place for place in places(desk) if place == 1]
    tie_is_played_on = len(first) > 1 and not desk.option_is("scoring", "winner_collects")
    if not voids and reached >= int(options[length]) and not tie_is_played_on:
        return length
    if voids >= int(options["void_limit"]):
        return "void_limit"
    if desk.books.round >= int(options["max_rounds"]):
        return "max_rounds"
    return None


def set_next_dealer(desk: Desk, winner: int | None) -> None:
    """The next seat to the left deals, or who went out; after a void round the same again (MK-13)."""
    if winner is None:
        return
    if desk.option_is("next_dealer", "round_winner"):
        desk.books.dealer = winner
    else:
        desk.books.dealer = next_in_play(desk, (desk.books.dealer + 1) % desk.books.seats)


def next_in_play(desk: Desk, seat: int) -> int:
    """This seat, or the first to its left that is in play."""
    while seat in desk.books.out:
        seat = (seat + 1) % desk.books.seats
    return seat


def places(desk: Desk) -> list[int]:
    """Competition ranks of the scores; seats that left share the last places."""
    scores, left = desk.books.scores, desk.books.in_play()
    sign = -1 if desk.option_is("scoring", "penalty_lowest") else 1
    return [
        1 + sum(sign * scores[other] > sign * scores[seat] for other in left) if seat in left else 1 + len(left)
        for seat in range(desk.books.seats)
    ]


def end_match(desk: Desk, reason: str) -> None:
    """The event, the result and the end of the log."""
    result = {"places": places(desk), "scores": desk.books.scores, "reason": reason}
    desk.event("match_end", **result)
    found = {name: value for name, value in desk.lines.take().items() if name != "t"}
    desk.lines.compare(found, {"type": "result", **result})
    desk.lines.end()
