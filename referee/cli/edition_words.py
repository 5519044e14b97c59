"""An edition in words, and where two of them differ. Prints nothing, and knows no edition by its name."""

from collections.abc import Iterable, Mapping, Sequence

from lastcard.engine import OPTIONS, Edition

NOTHING = "-"
CARDS = dict.fromkeys("0123456789", "") | {
    "S": "Skip", "V": "Reverse", "D": "Draw Two", "H": "Hit Two", "A": "Discard All", "T": "Trade Hands",
    "W": "Wild", "WD": "Wild Draw Four", "WI": "Item Box", "WH": "Hit Four", "WA": "Attack-Attack", "WF": "Hit Fire",
    "WX": "All Hit", "WC": "Customizable",
}  # fmt: skip
"""Symbols and names, in printed order."""
FACTS = ("points", "when played", "as start card")
HEAD = ("card", "name", "of each color", *FACTS)
WILD_HEAD = ("wild", "name", "in all", *FACTS)
GONE_BACK = "goes back"
ITEMS = {"R": "red", "G": "green", "B": "blue", "Y": "yellow", "W": "wild"}

Facts = dict[str, str]
"""What can be said of an edition: a name for the fact -> the fact."""


def described(one: Edition) -> str:
    """Deck, points, effects, options with their values and meaning."""
    rows = {symbol: (symbol, CARDS[symbol], *card_of(one, symbol)) for symbol in symbols_of(one)}
    colored = numbers_together([row for symbol, row in rows.items() if symbol in one.colored])
    wilds = [row for symbol, row in rows.items() if symbol in one.wilds]
    lines = [f"{one.name}: {one.title}", f"deck: {len(one.deck)} cards, {one.hand_size} to each player"]
    lines += [f"  {line}" for line in columns([HEAD, *colored, WILD_HEAD, *wilds])]
    if one.items:
        lines.append("items, by the color of the card that an Item Box turns:")
        lines += [f"  {ITEMS[letter]}: {words(one.items[letter][:1])}" for letter in ITEMS]
    lines.append("options:")
    for name in options_of(one):
        option = OPTIONS[name]
        rules = f" ({', '.join(option.rules)})" if option.rules else ""
        lines.append(f"  {name} = {one.options.get(name, NOTHING)}    [{values_of(one, name)}]")
        lines.append(f"      {option.meaning}{rules}")
    return "\n".join(lines)


def compared(one: Edition, other: Edition) -> str:
    """Where two editions differ: cards, points, effects, items, options."""
    here, there = facts_of(one), facts_of(other)
    rows = [(name, here[name], there[name]) for name in here if here[name] != there[name]]
    lines = [f"{each.name}: {each.title}, {len(each.deck)} cards" for each in (one, other)]
    if not rows:
        return "\n".join([*lines, "no difference"])
    return "\n".join([*lines, *columns([("", one.name, other.name), *rows])])


def facts_of(one: Edition) -> Facts:
    """All that two editions can differ in; the same names for every edition, in the order of `described`."""
    facts = {"cards to each player": str(one.hand_size)}
    for symbol, name in CARDS.items():
        there = symbol in one.colored or symbol in one.wilds
        found = card_of(one, symbol) if there else (NOTHING,) * (1 + len(FACTS))
        count = WILD_HEAD[2] if symbol.startswith("W") else HEAD[2]
        card = f"{symbol} {name}".rstrip()
        facts |= {f"{card}, {what}": fact for what, fact in zip((count, *FACTS), found, strict=True)}
    facts |= {f"item on {color}": words(one.items.get(letter, ())[:1]) for letter, color in ITEMS.items()}
    return facts | {f"option {name}": str(one.options.get(name, NOTHING)) for name in OPTIONS}


def symbols_of(one: Edition) -> list[str]:
    """The symbols of its cards, in printed order; a wild of which there may be some is one of them."""
    there = [*one.colored, *one.wilds]
    return sorted(there, key=list(CARDS).index)


def card_of(one: Edition, symbol: str) -> tuple[str, str, str, str]:
    """How many there are, what it is worth, what it does when it is played and when it starts."""
    count = one.wilds[symbol] if symbol in one.wilds else one.colored[symbol]
    start = GONE_BACK if symbol in one.never_start else words([one.starts[symbol]] if symbol in one.starts else [])
    return str(count), str(one.points.get(symbol, "face")), words(effects_of(one, symbol)), start


def effects_of(one: Edition, symbol: str) -> list[str]:
    """The effects of a card. One that is named for the value of an option happens with that value alone."""
    unused = {
        f"{name}_{value}"
        for name, set_to in one.options.items()
        for value in getattr(OPTIONS[name], "values", ())
        if value != set_to
    }
    return [name for name in one.effects.get(symbol, ()) if name not in unused]


def words(names: Iterable[str]) -> str:
    """Names of effects, as words."""
    return ", ".join(name.replace("_", " ") for name in names) or NOTHING


def numbers_together(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Numbers that are alike in one row, as `1..9`."""
    together: list[tuple[str, ...]] = []
    for symbol, *facts in rows:
        first, _, last = together[-1][0].partition("..") if together else ("", "", "")
        if symbol.isdigit() and first.isdigit() and list(together[-1][1:]) == facts and last != symbol:
            together[-1] = (f"{first}..{symbol}", *facts)
        else:
            together.append((symbol, *facts))
    return together


def options_of(one: Edition) -> list[str]:
    """The options that the edition knows, `target` and `rounds` both, in the order of the table."""
    return [name for name in OPTIONS if name in one.options or name in ("target", "rounds")]


def values_of(one: Edition, name: str) -> str:
    """What the option may be set to."""
    option = OPTIONS[name]
    values = one.fixed.get(name, getattr(option, "values", None))
    return ", ".join(values) if values else f"{getattr(option, 'least', 0)} to {getattr(option, 'most', 0)}"


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows with their cells one under the other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def listed(editions: Mapping[str, Edition]) -> list[str]:
    """One line an edition."""
    return columns([(name, f"{each.title}, {len(each.deck)} cards") for name, each in editions.items()])
