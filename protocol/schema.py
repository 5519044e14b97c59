"""The JSON Schema (2020-12) of every message, in both directions, with events and view. Prints nothing.

It is made from the classes that encode and decode, so it cannot say anything else than they do; only the
length of a note in bytes is beyond the language of schemas.
"""

from typing import Any

from msgspec.json import schema_components

from lastcard.protocol.messages import FROM_BOT, FROM_REFEREE, PROTOCOL_VERSION
from lastcard.protocol.shapes import EVENTS, View

DIALECT = "https://json-schema.org/draft/2020-12/schema"

JsonSchema = dict[str, Any]  # Any: a schema is an open tree of JSON


def schema() -> JsonSchema:
    """One document that accepts any line of either end; `$defs` holds each message and event by its name."""
    _, parts = schema_components([*FROM_REFEREE, *FROM_BOT, View, *EVENTS])
    groups = {
        "FromReferee": _any_of("Any line that the referee sends.", FROM_REFEREE),
        "FromBot": _any_of("Any line that a bot sends. Unknown types are ignored.", FROM_BOT),
        "Event": _any_of("Something that happened, as far as the reader may know it.", EVENTS),
    }
    return {
        "$schema": DIALECT,
        "title": f"The lastcard protocol, version {PROTOCOL_VERSION}",
        "anyOf": [{"$ref": "#/$defs/FromReferee"}, {"$ref": "#/$defs/FromBot"}],
        "$defs": {**groups, **parts},
    }


def _any_of(description: str, classes: tuple[type, ...]) -> JsonSchema:
    return {
        "description": description,
        "anyOf": [{"$ref": f"#/$defs/{member.__name__}"} for member in classes],
    }
