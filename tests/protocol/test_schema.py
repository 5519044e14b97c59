"""The JSON Schema: complete, resolvable, and true of what both ends and the engine write."""

import json
import re
from typing import Any, get_args

import pytest
from msgspec.structs import fields

from lastcard.engine import Event, Match, Rules, View, seen_by
from lastcard.protocol import EVENTS_WAIT, State, encode_event, schema
from lastcard.protocol.messages import FROM_BOT, FROM_REFEREE, type_of
from lastcard.protocol.shapes import EVENTS
from lastcard.protocol.shapes import View as ViewShape
from lastcard.referee.faults import FaultKind
from tests.protocol.pairs import new_pair, new_referee
from tests.protocol.schemas import faults

SCHEMA = schema()

# The example of design.md, section 3, with the places that it leaves open filled in.
FROM_REFEREE_EXAMPLES = [
    '{"type":"hello","protocol":1,"referee":"lastcard 0.1.0","start_ms":30000,"max_line":65536}',
    '{"type":"start","match":"6f0c","edition":"mario-kart","options":{"target":500,"stacking":"off"},'
    '"seat":1,"players":["a","greedy","b"],"limits":{"move_ms":1000,"bank_ms":10000,"strikes":3},'
    '"bot_seed":123456789,"resumed":true}',
    '{"type":"ask","id":17,"kind":"turn","legal":["play R7","play WI","draw"],'
    '"state":{"round":1,"dealer":0,"turn":1,"direction":1,"top":"R3","color":"R","hand":["R7","B2","WI"],'
    '"counts":[5,3,7],"draw_pile":61,"scores":[0,0,0],"out":[],"before":null,"press":2,"about":{"card":"R7"}},'
    '"events":[{"type":"trade","seat":0,"with":1,"cards":[[1,["R7"]]]}],'
    '"move_ms":1000,"bank_ms":8412,"used_ms":3}',
    '{"type":"events","events":[{"type":"press","seat":1,"ejected":0,"counter":2}]}',
    '{"type":"fault","id":17,"kind":"illegal","detail":"...","strikes":1,"of":3,"applied":"draw"}',
    '{"type":"end","match":"6f0c","places":[2,1,3],"scores":[120,512,88],'
    '"events":[{"type":"match_end","places":[2,1,3],"scores":[120,512,88],"reason":"target"}]}',
    '{"type":"ping"}',
    '{"type":"bye","reason":"..."}',
]
FROM_BOT_EXAMPLES = [
    '{"type":"hello","protocol":1,"name":"greedy","version":"1.0","features":["events"]}',
    '{"type":"hello","protocol":1}',
    '{"type":"ready"}',
    '{"type":"act","id":17,"action":"play R7","note":"hm"}',
    '{"type":"pong"}',
]
WRONG = [
    ("FromBot", '{"type":"act","id":17}'),
    ("FromBot", '{"type":"act","id":"17","action":"draw"}'),
    ("FromBot", '{"type":"act","id":true,"action":"draw"}'),
    ("FromBot", '{"type":"hello","protocol":2}'),
    ("FromBot", '{"type":"hello","protocol":1,"name":"a\\u001b[2J"}'),
    ("FromReferee", '{"type":"bye"}'),
    ("FromReferee", '{"type":"events","events":[{"type":"press","seat":10,"ejected":0,"counter":2}]}'),
    ("Event", '{"type":"play","seat":0,"card":"R10"}'),
    ("Event", '{"type":"draw","seat":0,"count":1,"why":"luck"}'),
    ("Event", '{"type":"press","seat":0,"ejected":2}'),
    ("Event", '{"type":"discard","seat":0,"cards":"R7"}'),
    ("About", '{"card":"RS","missed":[1]}'),
    ("View", "{}"),
]
# edition, options, seats: every effect, house rule and ending gets its turn.
MATCHES: list[tuple[str, dict[str, Any], int]] = [
    ("mario-kart", {"target": 500}, 4),
    ("mario-kart", {"rounds": 3, "catch": "auto", "banana_first_turn": "previous_seat"}, 2),
    ("mario-kart", {"rounds": 2, "scoring": "plus_minus", "wd4_guilty": "take_back"}, 5),
    ("classic", {"target": 500}, 3),
    ("classic", {"rounds": 3, "stacking": "cross", "draw_until_playable": "on"}, 4),
    ("classic", {"rounds": 3, "seven_zero": "on", "forced_play": "on", "start_cards": "numbers_only"}, 3),
    ("classic", {"rounds": 1, "turn_cap": 5, "scoring": "penalty_lowest"}, 10),
    ("mario-kart-jp", {}, 3),
    ("attack", {}, 4),
    ("attack", {"custom_effect": "attack_attack", "attack_next": "skip_one", "stacking": "cross"}, 10),
    ("attack-trade-hands", {"launcher": "iid", "hit_fire": "named_color"}, 2),
    ("attack-official", {"launcher": "fixed_sequence", "draw_until_playable": "on"}, 5),
]


@pytest.mark.parametrize("line", FROM_REFEREE_EXAMPLES)
def test_the_schema_accepts_the_referees_line(line: str) -> None:
    assert faults(SCHEMA, "FromReferee", json.loads(line)) == []


@pytest.mark.parametrize("line", FROM_BOT_EXAMPLES)
def test_the_schema_accepts_the_bots_line(line: str) -> None:
    assert faults(SCHEMA, "FromBot", json.loads(line)) == []


@pytest.mark.parametrize(("name", "line"), WRONG)
def test_the_schema_refuses(name: str, line: str) -> None:
    assert faults(SCHEMA, name, json.loads(line))


def test_every_message_and_event_is_there_and_every_reference_resolves() -> None:
    parts = SCHEMA["$defs"]
    for members in (FROM_REFEREE, FROM_BOT, EVENTS):
        for member in members:
            written = parts[member.__name__]["properties"]["type"]["enum"]
            assert written == [str(member.__struct_config__.tag)]
            assert parts[member.__name__]["description"]
    references = set(re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(SCHEMA)))
    assert references <= parts.keys()
    assert {type_of(member) for member in FROM_BOT} == {"hello", "ready", "act", "pong"}
    assert len({event.__struct_config__.tag for event in EVENTS}) == 21


def written(value: object) -> Any:
    """The value as a reader of the wire gets it."""
    return json.loads(bytes(encode_event(value)))


def required(shape: Any) -> set[str]:
    return {field.encode_name for field in fields(shape) if field.required}


def test_the_engines_events_have_the_fields_of_the_schema() -> None:
    shapes = {shape.__struct_config__.tag: shape for shape in EVENTS}
    for event in get_args(Event):
        (tag,) = get_args(event.__annotations__["type"])
        names = {field.encode_name for field in fields(shapes[tag])}
        assert names == event.__annotations__.keys() - {"type"}, tag
        assert required(shapes[tag]) == event.__required_keys__ - {"type"}, tag


def test_the_engines_view_has_the_fields_of_the_schema() -> None:
    assert View.__annotations__.keys() - {field.encode_name for field in fields(ViewShape)} == set()
    assert required(ViewShape) <= View.__annotations__.keys()


@pytest.mark.parametrize(("edition", "options", "seats"), MATCHES)
def test_what_a_match_sends_is_valid(edition: str, options: dict[str, Any], seats: int) -> None:
    match = Match(Rules.of(edition, options), seats=seats, seed=f"schema-{seats}")
    steps = 0
    while not match.over and steps < 500:
        steps += 1
        if match.decision is None:
            events = match.deal()
        else:
            for seat in match.decision.seats:
                view = written(match.view(seat))
                assert faults(SCHEMA, "View", view) == []
            events = match.act({seat: choice(match, seat, steps) for seat in match.decision.seats})
        for event in events:
            for seen in [event, *(seen_by(event, seat) for seat in (0, seats - 1, None))]:
                assert faults(SCHEMA, "Event", written(seen)) == []
    assert steps > 10


def choice(match: Match, seat: int, step: int) -> str:
    """A play where there is one, else mostly the fallback; now and then without calling."""
    legal = match.legal(seat)
    action = legal[step % len(legal)] if step % 3 else legal[0]
    return f"{action} uno" if action.startswith("play ") and step % 4 else action


def test_a_forfeit_is_valid() -> None:
    match = Match(Rules.of("mario-kart"), seats=2, seed="forfeit")
    match.deal()
    for event in match.forfeit(0, "timeout"):
        assert faults(SCHEMA, "Event", written(event)) == []


def test_the_fault_kinds_are_those_that_a_bot_is_told_of() -> None:
    told = SCHEMA["$defs"]["Fault"]["properties"]["kind"]["enum"]
    assert {*told, "host", "referee"} == {str(kind) for kind in FaultKind}


def test_what_the_ends_write_is_valid() -> None:
    pair = new_pair(State.GREETING)
    assert faults(SCHEMA, "FromBot", json.loads(pair.bot.hello("greedy", "1.0", ["events"]))) == []
    match = Match(Rules.of("mario-kart"), seats=4, seed="lines")
    events = [encode_event(seen_by(event, 0)) for event in match.deal()]
    assert sum(map(len, events)) < EVENTS_WAIT
    assert match.decision is not None
    seat = match.decision.seats[0]
    line = new_referee(State.PLAYING).ask(match.decision.kind, match.legal(seat), match.view(seat), events)
    assert faults(SCHEMA, "FromReferee", json.loads(line)) == []
