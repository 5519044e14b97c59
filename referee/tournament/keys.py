"""The tables and keys of a tournament file: what each may hold, and the sentences for one that does not fit.

Knows no meaning: what the values do together is checked in `config`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import NamedTuple, TypeGuard

from lastcard.referee.limits import Idle
from lastcard.referee.sandbox.levels import LIMIT_RANGES, Level
from lastcard.referee.tournament.errors import ConfigError

Toml = Mapping[str, object]

NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,32}")
SEED = re.compile(r"[0-9A-Za-z._-]{1,64}")
LONGEST_SHOWN = 60
LARGEST_NUMBER = 1 << 63


class Key(NamedTuple):
    """What a key has to hold, in words and as a test."""

    expected: str
    fits: Callable[[object], bool]
    required: bool = False


class Place(NamedTuple):
    """Where in which file something stands, for the sentences."""

    file: str
    table: str

    def error(self, text: str) -> ConfigError:
        """An error that begins with the place."""
        return ConfigError(f"{self.file}: {self.table} {text}")


def is_table(value: object) -> TypeGuard[Toml]:
    return isinstance(value, dict)  # TOML has no keys but texts


def is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def whole(least: int, most: int, required: bool = False) -> Key:
    def fits(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return Key(f"a whole number from {least} to {most}", fits, required)


def matching(pattern: re.Pattern[str], described: str, required: bool = False) -> Key:
    def fits(value: object) -> bool:
        return isinstance(value, str) and bool(pattern.fullmatch(value))

    return Key(described, fits, required)


def one_of(*words: str) -> Key:
    def fits(value: object) -> bool:
        return value in words

    return Key(" or ".join(f'"{word}"' for word in words), fits)


def is_line(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def check_environment(place: Place, table: Toml) -> None:
    """Raise ConfigError for the first variable that no environment can hold."""
    for name, text in table.items():
        if not name or set(name) & set("=\0"):
            raise place.error(f"env: expected names with neither = nor a zero byte in them, got {shown(name)}")
        if not isinstance(text, str):
            raise place.error(f"env: {shown(name)}: expected a text, got {shown(text)}")
        if "\0" in text:
            raise place.error(f"env: {shown(name)}: expected a text without a zero byte, got {shown(text)}")


def is_true(value: object) -> bool:
    return value is True


def is_path_list(value: object) -> bool:
    return is_list(value) and all(map(is_line, value))


def is_plain(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and abs(value) < LARGEST_NUMBER)


MILLISECONDS = whole(1, 86_400_000)

LIMIT_KEYS = {
    "move_ms": MILLISECONDS,
    "bank_ms": whole(0, 86_400_000),
    "start_ms": MILLISECONDS,
    "strikes": whole(1, 1_000),
    "margin_ms": whole(0, 60_000),
    "seat_ms": MILLISECONDS,
    "restarts": whole(0, 1_000),
}

SANDBOX_LIMIT_KEYS = {
    **{name: whole(*limits) for name, limits in LIMIT_RANGES.items()},
    "read": Key("a list of paths", is_path_list),
}
"""The limits have an effect only at a level other than none."""

LEVEL = one_of(*Level)

SANDBOX_KEYS = {"level": LEVEL, **SANDBOX_LIMIT_KEYS}

BOT_NAME = matching(NAME, "1 to 32 characters of A-Z a-z 0-9 . _ -, not . or .. alone", required=True)

TOURNAMENT_KEYS = {
    "name": BOT_NAME,
    "edition": Key("the name of an edition", is_line, required=True),
    "seats": whole(2, 10, required=True),
    "format": one_of("round-robin"),
    "blocks": whole(1, 1_000_000_000, required=True),
    "rounds": whole(1, 10_000),
    "target": whole(1, 1_000_000),
    "outcome": one_of("win", "score", "match"),
    "seed": matching(SEED, "1 to 64 characters of 0-9 A-Z a-z . _ -"),
    "idle": one_of(*Idle),
}

COMMAND = Key("a sample bot's name or a command line", is_line, required=True)

BOT_KEYS = {
    "name": BOT_NAME,
    "command": COMMAND,
    "copies": whole(1, 1_000),
    "env": Key("a table of texts", is_table),
    "cwd": Key("a folder", is_line),
    **LIMIT_KEYS,
    "sandbox": LEVEL,
    **SANDBOX_LIMIT_KEYS,
}

REMOTE_BOT_KEYS = {
    "name": BOT_NAME,
    "tcp": Key("true", is_true, required=True),
    "token_file": Key("the path of a file with a token or its hash", is_line, required=True),
    **LIMIT_KEYS,
}
"""Of a bot that comes over TCP: nothing of how it runs is ours to say."""

TABLES: dict[str, str] = {
    "tournament": "[tournament]",
    "limits": "[limits]",
    "options": "[options]",
    "sandbox": "[sandbox]",
    "bot": "[[bot]]",
}

LATER = {
    "team": "teams come later",
}
LATER_FORMATS = ("gauntlet", "swiss", "knockout")


def shown(value: object) -> str:
    """A value as the file has it, cut where it gets long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = '"' + value.encode("unicode_escape").decode("ascii") + '"'
    elif isinstance(value, dict):
        text = "a table"
    elif isinstance(value, list):
        text = "a list"
    elif isinstance(value, int) and abs(value) >= 10**LONGEST_SHOWN:
        text = "a far larger number"
    else:
        text = str(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def did_you_mean(word: str, known: Collection[str]) -> str:
    """A question after the nearest known word, or nothing."""
    near = get_close_matches(word.lower(), list(known), n=1)
    return f'; did you mean "{near[0]}"?' if near else "."


def check_known(place: Place, table: Toml, known: Collection[str]) -> None:
    """Raise ConfigError for the first key that the table does not have."""
    for key in table:
        if key in LATER and place.table.startswith("[[bot]]"):
            raise place.error(f"{key}: {LATER[key]}")
        if key not in known:
            raise place.error(f"has no key {shown(key)}{did_you_mean(key, known)} It has {', '.join(known)}")


def check_table(place: Place, table: Toml, keys: Mapping[str, Key]) -> None:
    """Raise ConfigError for the first key that is unknown, missing, or holds what it may not."""
    check_known(place, table, keys)
    for name, key in keys.items():
        if name not in table:
            if key.required:
                raise place.error(f"{name} is missing: expected {key.expected}")
        elif not key.fits(table[name]):
            raise place.error(f"{name}: expected {key.expected}, got {shown(table[name])}")


def check_tables(file: str, document: Toml) -> None:
    """Raise ConfigError for a top-level key that is no table of a tournament file."""
    known = ", ".join(TABLES.values())
    for name in document:
        if name not in TABLES:
            near = get_close_matches(name.lower(), list(TABLES), n=1)
            hint = f"; did you mean {TABLES[near[0]]}?" if near else "."
            kind = f"table [{name}]" if isinstance(document[name], dict) else f"key {shown(name)} outside a table"
            raise ConfigError(f"{file}: there is no {kind}{hint} The tables are {known}")
