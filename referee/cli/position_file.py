"""`--position FILE` or `FILE#ID`: a match opened from the setup of a vector. Knows no bot."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from lastcard.engine import LastcardError, Rules, from_setup
from lastcard.referee.cli.bad_usage import BadUsage
from lastcard.referee.cli.values import text_of
from lastcard.referee.table import Opening

Vector = Mapping[str, object]

WHAT = "a JSON object with a 'setup', as in vectors/"
MOST_IDS = 5


def opening_of(name: str, edition: str | None, given: Mapping[str, object], seed: str | None) -> Opening:
    """The position in a file. What is given on the command line goes before what the file says."""
    path, wanted = parts(name)
    place = f"--position {name}"
    vector = one_vector(place, path, wanted)
    setup, options = object_in(vector, "setup", place), object_in(vector, "options", place)
    if seed is not None:
        setup = with_seed(setup, seed)
    try:
        rules = Rules.of(str(edition or vector.get("edition") or "mario-kart"), overruled(options, given))
        match, events = from_setup(rules, setup, play_on=True)
    except LastcardError as error:
        raise BadUsage(f"{place}: {error}") from error
    return Opening(setup, match, events)


def overruled(options: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    """The options with the given ones in their place: of two ends of a match, the one that was given."""
    ends = {"rounds", "target"}
    kept = {name: value for name, value in options.items() if not (name in ends and ends & set(given))}
    return {**kept, **given}


def parts(name: str) -> tuple[Path, str]:
    """The file, and the id of the vector that is meant in it."""
    if "#" not in name or Path(name).exists():
        return Path(name), ""
    path, _, wanted = name.rpartition("#")
    return Path(path), wanted


def one_vector(place: str, path: Path, wanted: str) -> Vector:
    """The vector that is meant."""
    try:
        data: object = json.loads(text_of(path, WHAT, option="--position"))
    except (ValueError, RecursionError) as error:
        text = "brackets nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"
        raise BadUsage(f"--position {path}: {text}, expected {WHAT}") from error
    elements = cast("list[object]", data) if isinstance(data, list) else [data]
    found = [cast("Vector", element) for element in elements if isinstance(element, dict) and "setup" in element]
    if not found:
        raise BadUsage(f"--position {path}: expected {WHAT}, found none")
    chosen = [vector for vector in found if vector.get("id") == wanted] if wanted else found
    if len(chosen) != 1:
        ids = ", ".join(str(vector.get("id")) for vector in found[:MOST_IDS])
        more = ", ..." if len(found) > MOST_IDS else ""
        what = f"there are {len(chosen)} of this id" if wanted else f"there are {len(found)}"
        raise BadUsage(f"{place}: {what}, expected {path}#ID with one of {ids}{more}")
    return chosen[0]


def object_in(vector: Vector, name: str, place: str) -> dict[str, object]:
    """A member of the vector that has to be an object."""
    value = vector.get(name, {})
    if not isinstance(value, dict):
        raise BadUsage(f"{place}: {name}: expected an object")
    return cast("dict[str, object]", value)


def with_seed(setup: dict[str, object], seed: str) -> dict[str, object]:
    """The same position with other chance."""
    deal = setup.get("deal")
    if isinstance(deal, dict):
        return {**setup, "deal": {**cast("dict[str, object]", deal), "seed": seed}}
    return {**setup, "seed": seed}
