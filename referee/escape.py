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
