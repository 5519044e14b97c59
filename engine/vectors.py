"""The conformance runner: plays a vector on a match and says where the two differ. Knows no rule of any edition.

A vector is the JSON object of `spec.md`, "Vectors". One step more is understood here than there: a `forfeit` step,
`{"seat": 1, "forfeit": "why"}`, takes the seat out of play in place of an answer; it may bear `events`. `note` is
read over wherever it stands. Fields that nobody knows are refused, since an expectation under a misspelt name
would never be looked at.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeGuard, TypeVar

from lastcard.engine import Event, IllegalAction, LastcardError, Match, Rules, from_setup

Vector = Mapping[str, object]
"""A vector, or an object inside one."""


class VectorError(LastcardError):
    """A vector, or a file of them, is not in the format."""


def load(text: str, name: str) -> list[Vector]:
    """The vectors in the text of a file, which holds an array of them or a single one.

    `name` is what errors call the file. Raises VectorError where the text is no JSON or holds something else.
    """
    try:
        found: object = json.loads(text)
    except RecursionError:
        raise VectorError(f"{name}: brackets are nested too deeply to be vectors") from None
    except ValueError as error:
        raise VectorError(f"{name}: not JSON: {error}") from None
    vectors = found if _is_list(found) else [found]
    for index, vector in enumerate(vectors):
        if not _is_object(vector):
            raise VectorError(f"{name}: element {index}: expected an object, found {json.dumps(vector)[:60]}")
    return [vector for vector in vectors if _is_object(vector)]


def check(vector: Vector) -> list[str]:
    """Play the vector; the differences found, each naming vector and place. An empty list: it passes."""
    try:
        case = _read_case(vector)
    except VectorError as error:
        return [f"{vector.get('id', 'a vector without id')}: {error}"]
    try:
        match, _ = from_setup(Rules.of(case.edition, case.options), case.setup)
    except LastcardError as error:
        return [f"{case.id}: setup: {error}"]
    play = _Play(match)
    if all(play.step(f"step {number}", step) for number, step in enumerate(case.steps, 1)):
        play.finish(case.then)
    return [f"{case.id}: {fault}" for fault in play.faults]


# reading a vector


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _is_text_or_null(value: object) -> TypeGuard[str | None]:
    return value is None or _is_text(value)


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number_or_null(value: object) -> TypeGuard[int | None]:
    return value is None or _is_number(value)


def _is_texts(value: object) -> TypeGuard[list[str]]:
    return _is_list(value) and all(map(_is_text, value))


def _is_numbers(value: object) -> TypeGuard[list[int]]:
    return _is_list(value) and all(map(_is_number, value))


def _is_hands(value: object) -> TypeGuard[list[list[str]]]:
    return _is_list(value) and all(map(_is_texts, value))


def _is_objects(value: object) -> TypeGuard[list[Mapping[str, object]]]:
    return _is_list(value) and all(map(_is_object, value))


def _is_illegal(value: object) -> bool:
    return value == "illegal"


class Shape(NamedTuple):
    """What the value of a field has to look like."""

    fits: Callable[[object], bool]
    words: str


TEXT = Shape(_is_text, "a text")
TEXTS = Shape(_is_texts, "an array of texts")
NUMBER = Shape(_is_number, "a whole number")
NUMBERS = Shape(_is_numbers, "an array of whole numbers")
OBJECT = Shape(_is_object, "an object")
OBJECTS = Shape(_is_objects, "an array of objects")
HANDS = Shape(_is_hands, "an array with an array of cards for each seat")
COLOR = Shape(_is_text_or_null, "a color or null")
WINNER = Shape(_is_number_or_null, "a seat or null")
ILLEGAL = Shape(_is_illegal, '"illegal"')

VECTOR_FIELDS = {
    "id": TEXT, "rules": TEXTS, "edition": TEXT, "options": OBJECT, "setup": OBJECT, "steps": OBJECTS, "then": OBJECT,
    "note": TEXT,
}  # fmt: skip
STEP_FIELDS = {
    "seat": NUMBER, "kind": TEXT, "legal": TEXTS, "act": TEXT, "forfeit": TEXT, "events": OBJECTS, "error": ILLEGAL,
    "note": TEXT,
}  # fmt: skip
THEN_FIELDS = {
    "kind": TEXT, "seats": NUMBERS, "hands": HANDS, "top": TEXT, "color": COLOR, "direction": NUMBER,
    "draw_pile": TEXTS, "discard_pile": TEXTS, "scores": NUMBERS, "press": NUMBER, "round_winner": WINNER,
    "dealer": NUMBER, "note": TEXT,
}  # fmt: skip


class _Step(NamedTuple):
    """One answer of one seat, or its forfeit, and what is expected of it."""

    seat: int
    act: str
    forfeit: str | None
    kind: str | None
    legal: list[str] | None
    events: list[Mapping[str, object]]
    refused: bool


class _Case(NamedTuple):
    """A whole vector, read."""

    id: str
    edition: str
    options: Mapping[str, object]
    setup: Mapping[str, object]
    steps: list[_Step]
    then: Mapping[str, object]


T = TypeVar("T")


def _field(fields: Vector, name: str, fits: Callable[[object], TypeGuard[T]], default: T) -> T:
    value = fields.get(name, default)
    assert fits(value), "the shapes of all fields were checked before"
    return value


def _check_fields(fields: Vector, shapes: Mapping[str, Shape], required: Iterable[str], place: str) -> None:
    for name in required:
        if name not in fields:
            raise VectorError(f"{place}malformed: field {name!r} is missing")
    for name, value in fields.items():
        if name not in shapes:
            raise VectorError(f"{place}malformed: unknown field {name!r}, expected one of {', '.join(shapes)}")
        if not shapes[name].fits(value):
            found = json.dumps(value)[:60]
            raise VectorError(f"{place}malformed: field {name!r}: expected {shapes[name].words}, got {found}")


def _read_case(vector: Vector) -> _Case:
    _check_fields(vector, VECTOR_FIELDS, ("id", "edition", "setup"), "")
    steps = _field(vector, "steps", _is_objects, [])
    then = _field(vector, "then", _is_object, {})
    _check_fields(then, THEN_FIELDS, (), "then: ")
    return _Case(
        id=_field(vector, "id", _is_text, ""),
        edition=_field(vector, "edition", _is_text, ""),
        options=_field(vector, "options", _is_object, {}),
        setup=_field(vector, "setup", _is_object, {}),
        steps=[_read_step(step, f"step {number}: ") for number, step in enumerate(steps, 1)],
        then=then,
    )


def _read_step(fields: Vector, place: str) -> _Step:
    _check_fields(fields, STEP_FIELDS, ("seat",), place)
    if ("act" in fields) == ("forfeit" in fields):
        raise VectorError(f"{place}malformed: expected either 'act' or 'forfeit'")
    if "error" in fields and ("forfeit" in fields or fields.get("events")):
        raise VectorError(f"{place}malformed: 'error' goes with an 'act' and without 'events'")
    return _Step(
        seat=_field(fields, "seat", _is_number, 0),
        act=_field(fields, "act", _is_text, ""),
        forfeit=_field(fields, "forfeit", _is_text_or_null, None),
        kind=_field(fields, "kind", _is_text_or_null, None),
        legal=_field(fields, "legal", _is_texts, []) if "legal" in fields else None,
        events=_field(fields, "events", _is_objects, []),
        refused="error" in fields,
    )


# playing it


class _Play:
    """A match, the answers to its open decision so far, and the differences seen."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.answers: dict[int, str] = {}
        self.faults: list[str] = []

    def step(self, place: str, step: _Step) -> bool:
        """Take one step. False: the match has left the vector's path, so that nothing after this means anything."""
        asked = f"{_kind(self.match)!r} of seats {self.asked}"
        if not 0 <= step.seat < self.match.seats:
            return self._lost(f"{place}: malformed: there is no seat {step.seat} among {self.match.seats}")
        if step.kind is not None and step.kind != _kind(self.match):
            return self._lost(f"{place}: expected a decision {step.kind!r}, got {asked}")
        if step.forfeit is None and not step.refused and step.seat not in self.asked:
            return self._lost(f"{place}: expected seat {step.seat} to be asked, got {asked}")
        if step.legal is not None:
            self._compare(f"{place}: legal", sorted(set(step.legal)), sorted(self.match.legal(step.seat)))
        return self._refuse(place, step) if step.refused else self._take(place, step)

    def finish(self, then: Vector) -> None:
        """Compare what is left when all steps are done."""
        if self.answers:
            self.faults.append(f"then: malformed: the steps end while seats {self.asked} still owe an answer")
        for name, expected in then.items():
            if name == "note":
                continue
            self._compare(f"then: {name}", _comparable(name, expected), _comparable(name, ACTUAL[name](self.match)))

    @property
    def asked(self) -> list[int]:
        """The seats that still owe an answer."""
        return [seat for seat in _seats(self.match) if seat not in self.answers]

    def _lost(self, fault: str) -> bool:
        self.faults.append(fault)
        return False

    def _compare(self, place: str, expected: object, actual: object) -> None:
        if expected != actual:
            self.faults.append(f"{place}: expected {json.dumps(expected)}, got {json.dumps(actual)}")

    def _refuse(self, place: str, step: _Step) -> bool:
        """The act has to be refused, and the match has to be as it was."""
        before, others = _snapshot(self.match), dict[int, str]()
        if _kind(self.match) == "catch":
            others = {seat: self.match.legal(seat)[-1] for seat in _seats(self.match)}
        try:
            self.match.act({**others, step.seat: step.act})
        except IllegalAction:
            self._compare(f"{place}: after the refused {step.act!r}", before, _snapshot(self.match))
            return True
        return self._lost(f"{place}: expected {step.act!r} of seat {step.seat} to be refused, got it accepted")

    def _take(self, place: str, step: _Step) -> bool:
        """An answer or a forfeit. Answers to one decision wait for each other and are then acted on at once."""
        events: list[Event] = []
        try:
            if step.forfeit is not None:
                events += self.match.forfeit(step.seat, step.forfeit)
                self.answers.pop(step.seat, None)
            elif not self.match.is_legal(step.seat, step.act):
                legal = self.match.legal(step.seat)
                return self._lost(f"{place}: expected {step.act!r} of seat {step.seat} to be legal, got {legal}")
            else:
                self.answers[step.seat] = step.act
            if self.answers and not self.asked:
                answers, self.answers = self.answers, {}
                events += self.match.act(answers)
        except LastcardError as error:
            return self._lost(f"{place}: {step.forfeit or step.act!r} of seat {step.seat} was refused: {error}")
        seen: list[dict[str, object]] = json.loads(json.dumps(events))
        missing = _first_missing(step.events, seen)
        if missing is not None:
            self.faults.append(f"{place}: expected the event {json.dumps(missing)}, got {json.dumps(seen)}")
        return True


def _first_missing(expected: Iterable[Vector], events: Iterable[Vector]) -> Vector | None:
    """The first expected event that is not among the events behind those found before it; None if all are there."""
    rest = iter(events)
    for wanted in expected:
        if not any(_bears(event, wanted) for event in rest):
            return wanted
    return None


def _bears(event: Vector, wanted: Vector) -> bool:
    return all(
        name in event and _comparable(name, event[name]) == _comparable(name, value) for name, value in wanted.items()
    )


def _comparable(name: str, value: object) -> object:
    """Hands are compared as multisets, the seats that are asked as a set; all else as it stands."""
    if name in {"hand", "seats"} and _is_list(value):
        return sorted(value, key=str)
    if name == "hands" and _is_list(value):
        return [_comparable("hand", hand) for hand in value]
    return value


# the match, in the words of `then`


def _kind(match: Match) -> str:
    return "over" if match.decision is None else match.decision.kind  # over: the round has ended


def _seats(match: Match) -> list[int]:
    return [] if match.decision is None else list(match.decision.seats)


ACTUAL: dict[str, Callable[[Match], object]] = {
    "kind": _kind,
    "seats": _seats,
    "hands": lambda match: [match.hand_of(seat) for seat in range(match.seats)],
    "top": lambda match: match.top,
    "color": lambda match: match.color,
    "direction": lambda match: match.direction,
    "draw_pile": lambda match: match.draw_pile_order(),
    "discard_pile": lambda match: match.discard_codes(),
    "scores": lambda match: list(match.scores),
    "press": lambda match: match.press,
    "round_winner": lambda match: match.round_winner,
    "dealer": lambda match: match.dealer,
}


def _snapshot(match: Match) -> dict[str, object]:
    """All that a refused act has to leave alone, copied."""
    seen: dict[str, object] = {name: json.dumps(look(match)) for name, look in ACTUAL.items()}
    return {**seen, "turn": match.turn}
