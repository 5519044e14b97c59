"""Text from bots and files made safe for a terminal: nothing that moves a cursor, hides text or forges a line."""

import unicodedata

HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def escaped(text: str) -> str:
    """The text with controls, formats and line separators written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if unicodedata.category(char) not in HIDDEN else char.encode("unicode_escape").decode() for char in text
    )


def json_escaped(text: str) -> str:
    """JSON with the same characters written in its own way: what is read back is what was meant."""
    return "".join(char if unicodedata.category(char) not in HIDDEN else _in_json(char) for char in text)


def _in_json(char: str) -> str:
    # JSON knows escapes of 16 bits only: beyond, it takes two.
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
