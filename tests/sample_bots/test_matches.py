"""Every sample bot plays whole matches over pipes, with a referee of thirty lines that forgives nothing."""

from collections.abc import Iterator
from typing import Any

import pytest

from lastcard.engine import Event, Match, Rules
from tests.sample_bots.talk import BYE, HELLO, Talk, start, talk


def play(match: Match, table: list[Talk]) -> Iterator[Event]:
    """Every event of a match between these bots. An action that is not legal raises IllegalAction."""
    numbers = [0] * len(table)
    while not match.over:
        if match.decision is None:
            yield from match.deal()
            continue
        decision = match.decision
        given: dict[int, str] = {}
        for seat in decision.seats:
            legal = list(match.legal(seat))
            given[seat] = legal[0]
            if len(legal) > 1:
                numbers[seat] += 1
                state = match.view(seat)
                table[seat].say(
                    {"type": "ask", "id": numbers[seat], "kind": decision.kind, "legal": legal, "state": state}
                )
                reply = table[seat].hear()
                assert (reply["type"], reply["id"]) == ("act", numbers[seat])
                given[seat] = reply["action"]
        yield from match.act(given)


@pytest.mark.parametrize(
    ("edition", "options"),
    [
        ("mario-kart", {"rounds": 5}),
        ("classic", {"rounds": 3}),
        ("classic", {"rounds": 3, "seven_zero": "on", "stacking": "cross", "draw_until_playable": "on"}),
    ],
    ids=["mario-kart", "classic", "house rules"],
)
def test_it_plays_matches_without_a_fault(bot: list[str], edition: str, options: dict[str, Any]) -> None:
    with talk(bot) as one, talk(bot) as two:
        for player in (one, two):
            player.say(HELLO)
            assert player.hear()["type"] == "hello"
        for number in range(2):
            match = Match(Rules.of(edition, options), 2, f"pipes.{number}")
            for player in (one, two):
                player.say(start(number, edition=edition))
            events = list(play(match, [one, two]))
            assert match.reason == "rounds"
            assert not [event for event in events if event["type"] == "caught"], "a call of UNO was forgotten"
        for player in (one, two):
            player.say(BYE)
            assert player.ended() == (0, b"", b"")
