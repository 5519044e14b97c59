"""A validator for the part of JSON Schema 2020-12 that our schema uses; it knows no message.

It is closed: an object with a property that the schema does not name is a fault too. That is stricter than
the standard and than our readers, and right for what we ourselves write.
"""

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
TOLD = {"$schema", "$defs", "title", "description", "default"}


def faults(schema: dict[str, Any], name: str, value: Any) -> list[str]:
    """What is wrong with the value for this member of `$defs`; nothing if it is valid."""
    return list(_faults(schema["$defs"], {"$ref": f"#/$defs/{name}"}, value, "$"))


def _faults(parts: dict[str, Any], rule: dict[str, Any], value: Any, path: str) -> Iterator[str]:
    if "type" in rule and not _holds("type", rule["type"], value):
        yield f"{path}: {value!r} is no {rule['type']}"
        return  # the other keywords speak of values of this type
    for keyword, bound in rule.items():
        if keyword == "$ref":
            yield from _faults(parts, parts[bound.removeprefix("#/$defs/")], value, path)
        elif keyword == "anyOf":
            alternatives = [list(_faults(parts, one, value, path)) for one in bound]
            if all(alternatives):
                yield f"{path}: no alternative fits {value!r}: {min(alternatives, key=len)}"
        elif keyword in {"properties", "items", "prefixItems", "additionalProperties"}:
            yield from _inside(parts, rule, keyword, value, path)
        elif keyword not in TOLD and not _holds(keyword, bound, value):
            yield f"{path}: {value!r} breaks {keyword} {bound!r}"


def _inside(parts: dict[str, Any], rule: dict[str, Any], keyword: str, value: Any, path: str) -> Iterator[str]:
    if keyword == "properties" and isinstance(value, dict):
        yield from (f"{path}.{name}: not in the schema" for name in value.keys() - rule["properties"].keys())
        for name in value.keys() & rule["properties"].keys():
            yield from _faults(parts, rule["properties"][name], value[name], f"{path}.{name}")
    elif keyword == "additionalProperties" and isinstance(value, dict):
        for name, member in value.items():
            yield from _faults(parts, rule[keyword], member, f"{path}.{name}")
    elif keyword == "prefixItems" and isinstance(value, list | tuple):
        for place, (one, member) in enumerate(zip(rule[keyword], value, strict=False)):
            yield from _faults(parts, one, member, f"{path}[{place}]")
    elif keyword == "items" and rule[keyword] is not False and isinstance(value, list | tuple):
        for place, member in enumerate(value):
            yield from _faults(parts, rule[keyword], member, f"{path}[{place}]")


def _holds(keyword: str, bound: Any, value: Any) -> bool:
    match keyword:
        case "type":
            return isinstance(value, TYPES[bound]) and (bound != "integer" or not isinstance(value, bool))
        case "enum":
            return value in bound
        case "const":
            return bool(value == bound)
        case "required":
            return not isinstance(value, dict) or not set(bound) - value.keys()
        case "minimum":
            return bool(value >= bound)
        case "maximum":
            return bool(value <= bound)
        case "minItems":
            return bool(len(value) >= bound)
        case "maxItems" | "maxLength":
            return bool(len(value) <= bound)
        case "pattern":
            return re.search(bound, value) is not None
    raise AssertionError(f"the validator does not know {keyword}")
