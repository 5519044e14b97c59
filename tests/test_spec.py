"""spec.md is true: its examples are executed, its tables compared with the code. Knows no rule of its own."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import click
import pytest

from lastcard.engine import Rules, from_setup
from lastcard.engine.cards import Deck
from lastcard.engine.chance import Pile, Stream
from lastcard.engine.editions import EDITIONS
from lastcard.engine.events import Event
from lastcard.engine.launcher import HAZARD, IID_SIZES, LATE_SIZES, MODELS, SEQUENCE, SIZES
from lastcard.engine.options import INSTEAD, OPTIONS, SWITCH, Choice
from lastcard.engine.perft import perft
from lastcard.engine.vectors import check
from lastcard.engine.views import View
from lastcard.protocol.decoding import BOT_LINES, REFEREE_LINES, Unknown
from lastcard.protocol.messages import FROM_BOT, FROM_REFEREE, Message, type_of
from lastcard.protocol.outcomes import Refusal
from lastcard.referee.cli.main import commands
from lastcard.referee.faults import COST, FaultKind, Phase
from lastcard.referee.limits import Limits
from lastcard.referee.log_reader import read_log
from lastcard.referee.net import crowd, door, sockets
from lastcard.referee.net.door import REFUSED
from lastcard.referee.net.lobby import OVER
from lastcard.referee.replay import verify
from lastcard.referee.tournament.config import load_config
from lastcard.referee.tournament.keys import (
    BOT_KEYS,
    LIMIT_KEYS,
    REMOTE_BOT_KEYS,
    SANDBOX_KEYS,
    SANDBOX_LIMIT_KEYS,
    TOURNAMENT_KEYS,
)
from tests.trace import NOT_APPLICABLE, NOTHING_TO_PROVE, RULES

TOP = Path(__file__).parent.parent
SPEC = (TOP / "spec.md").read_text(encoding="utf-8")

RULE = re.compile(r"\b(?:MK|AT|CL|AMB)-\d+[a-z]?\b")
# Rules about whole decks: an example would be a deck of cards. The tables of 2.1 are compared with the code instead.
IN_TABLES = {"MK-2", "AT-2", "AMB-49"}
CODE = re.compile(r"`([^`]*)`")


class Block(NamedTuple):
    """A fenced block of spec.md: what stands behind its fence, its text, the number of its first line."""

    tag: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"line{self.line}"


def read_blocks() -> Iterator[Block]:
    for found in re.finditer(r"^```([^\n]+)\n(.*?)^```$", SPEC, re.MULTILINE | re.DOTALL):
        yield Block(found[1], found[2], SPEC.count("\n", 0, found.start()) + 2)


BLOCKS = tuple(read_blocks())
LINES = tuple(
    Block(block.tag, line, block.line + number)
    for block in BLOCKS
    if block.tag.startswith("json")
    for number, line in enumerate(block.text.splitlines())
)


def vectors_of(text: str) -> Iterator[dict[str, Any]]:
    """The vectors of a block, one object after the other."""
    while text := text.strip():
        vector, end = json.JSONDecoder().raw_decode(text)
        yield vector
        text = text[end:]


VECTORS = tuple(vector for block in BLOCKS if block.tag == "vector" for vector in vectors_of(block.text))


def tagged(tag: str) -> tuple[Block, ...]:
    return tuple(line for line in LINES if line.tag == tag)


def section(number: str) -> str:
    """The text under the heading of that number, up to the next heading of its rank or above."""
    found = re.search(rf"^(#+) {re.escape(number)}\.? .*\n", SPEC, re.MULTILINE)
    assert found, f"spec.md has no section {number}"
    end = re.compile(rf"^#{{1,{len(found[1])}}} ", re.MULTILINE).search(SPEC, found.end())
    return SPEC[found.end() : end.start() if end else len(SPEC)]


def rows(text: str, first: str) -> list[list[str]]:
    """The cells of the table of `text` whose head begins with the cell `first`; the head is left out."""
    table = re.search(rf"^ *\| {re.escape(first)} \|.*\n *\|[-|]+\n((?: *\|.*\n)+)", text, re.MULTILINE)
    assert table, f"no table begins with {first!r}"
    return [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip())[1:-1]]
        for row in table[1].splitlines()
    ]


def codes(cell: str) -> list[str]:
    return CODE.findall(cell)


# 2: the rules


def without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def test_every_rule_is_stated() -> None:
    assert set(RULE.findall(without_blocks(section("2")))) == {*RULES, *NOT_APPLICABLE}


def test_rules_that_are_not_played_are_listed_with_the_reason() -> None:
    listed = {row[0] for row in rows(section("2.22"), "rule") if all(row)}
    assert listed == {*NOT_APPLICABLE, *NOTHING_TO_PROVE, "AT-39"}


def test_every_rule_has_an_example() -> None:
    shown = {rule for vector in VECTORS for rule in vector["rules"]}
    assert shown == set(RULES) - IN_TABLES


def test_every_section_of_the_rules_has_an_example() -> None:
    numbers = re.findall(r"^### (2\.\d+) ", SPEC, re.MULTILINE)
    assert [number for number in numbers if "```vector\n" not in section(number)] == []


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_an_example_of_a_rule_holds(vector: dict[str, Any]) -> None:
    assert check(vector) == []


def test_example_ids_are_unique() -> None:
    ids = [vector["id"] for vector in VECTORS]
    assert len(ids) == len(set(ids))


def test_every_section_that_is_named_exists() -> None:
    prose = re.sub(r"`[^`]*`", "", without_blocks(SPEC))
    named = set(re.findall(r"(?<![\d.])[2-9]\.\d+(?:\.\d+)?\b", prose))
    for number in sorted(named):
        heading, _, item = number.partition(".")[2].partition(".")
        text = section(f"{number[0]}.{heading}")
        assert not item or re.search(rf"^{item}\. ", text, re.MULTILINE), number


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=lambda edition: edition.name)
def test_the_table_of_decks(edition: Any) -> None:
    (row,) = [row for row in rows(section("2.1"), "edition") if row[0] == f"`{edition.name}`"]
    counts: dict[str, int] = {}
    for count, first, last in re.findall(r"(\d+) `(\w)`(?:\.\.`(\w)`)?", row[1]):
        symbols = "0123456789"[int(first) : int(last) + 1] if last else first
        counts |= dict.fromkeys(symbols, int(count))
    assert counts == edition.colored
    assert int(row[1].rpartition("= ")[2]) == sum(counts.values())
    wilds = {code: int(count) for count, code in re.findall(r"(\d+) `(\w+)`", row[2])}
    assert wilds == edition.wilds
    assert int(row[3]) == len(edition.deck)


def test_the_table_of_points() -> None:
    told = {code: row[1] for row in rows(section("2.1"), "card") for code in codes(row[0])}
    assert told.pop("0") == told.pop("9") == "face value"
    for edition in EDITIONS.values():
        worth = {code: str(edition.points[code]) for code in {*edition.colored, *edition.wilds} if not code.isdigit()}
        assert worth.items() <= told.items()


def test_what_ten_players_leave() -> None:
    """AMB-49."""
    for edition in EDITIONS.values():
        left = len(edition.deck) - 10 * edition.hand_size - 1
        assert re.search(rf"\b{left}\b( cards after the deal)? from {len(edition.deck)}\b", section("2.1"))


def test_the_table_of_options() -> None:
    """Every option, its values, and what each edition sets."""
    table = {codes(row[0])[0]: row for row in rows(section("2.2"), "option")}
    head = re.search(r"^\| option \|.*", section("2.2"), re.MULTILINE)
    assert head
    editions = [codes(cell)[0] for cell in head[0].split("|") if codes(cell)]
    assert editions == list(EDITIONS)
    known = {name for edition in EDITIONS.values() for name in edition.options}
    assert set(table) == known | set(INSTEAD)
    for name, row in table.items():
        option = OPTIONS[name]
        if isinstance(option, Choice):
            assert codes(row[1]) == list(option.values), name
        else:
            assert row[1] == f"{option.least}..{option.most:,}", name
        for edition, cell in zip(EDITIONS.values(), row[2:-1], strict=True):
            assert cell.strip("`") == str(edition.options.get(name, "-")), (name, edition.name)


def test_only_the_supply_is_fixed() -> None:
    for edition in EDITIONS.values():
        assert edition.fixed == {"supply": (edition.options["supply"],)}


def test_the_tables_of_the_launcher() -> None:
    """2.10.5: fractions, weights and sequence are those of the engine."""
    told = rows(section("2.10"), "i")
    assert [row[0] for row in told] == [str(step) for step in range(len(HAZARD))]
    assert [row[1] for row in told] == [f"{ejects}/{of}" for ejects, of in HAZARD]
    assert [row[2] for row in told] == [" ".join(map(str, sizes[1:])) for sizes in (*[SIZES] * 4, LATE_SIZES)]
    assert [SIZES[0], LATE_SIZES[0]] == [0, 0]
    words = codes(" ".join(section("2.10").split()))  # a list may go on in the next line
    assert {" ".join(map(str, IID_SIZES)), " ".join(map(str, SEQUENCE)), *MODELS} <= set(words)


def test_true_and_false_do_for_on_and_off() -> None:
    switches = [name for name, option in OPTIONS.items() if isinstance(option, Choice) and option.values == SWITCH]
    rules = Rules.of("classic", dict.fromkeys(switches, True))
    assert [rules.options[name] for name in switches] == ["on"] * len(switches)


# 3: events and views


def fields_of(event: Any) -> set[str]:
    return set(get_type_hints(event)) - {"type"}


def test_the_table_of_events() -> None:
    built = {get_args(get_type_hints(event)["type"])[0]: fields_of(event) for event in get_args(Event)}
    told = {codes(row[0])[0]: set(codes(re.sub(r"\[\[?.*?\]\]?", "", row[1]))) for row in rows(section("3.3"), "type")}
    assert told == built


def test_the_table_of_the_view() -> None:
    told = {name for row in rows(section("3.4"), "field") for name in codes(row[0])}
    assert told == set(View.__annotations__)


# 4: messages and faults


@pytest.mark.parametrize("line", tagged("json referee"), ids=str)
def test_a_line_of_the_referee(line: Block) -> None:
    message = REFEREE_LINES.decode(line.text.encode())
    assert not isinstance(message, Refusal | Unknown), message
    assert_nothing_was_ignored(line.text, message)


@pytest.mark.parametrize("line", tagged("json bot"), ids=str)
def test_a_line_of_a_bot(line: Block) -> None:
    message = BOT_LINES.decode(line.text.encode())
    assert not isinstance(message, Refusal | Unknown), message
    assert_nothing_was_ignored(line.text, message)


def assert_nothing_was_ignored(text: str, message: Message) -> None:
    assert set(json.loads(text)) - {"type"} <= set(type(message).__struct_fields__)


@pytest.mark.parametrize(("tag", "messages"), [("json referee", FROM_REFEREE), ("json bot", FROM_BOT)])
def test_every_message_has_an_example(tag: str, messages: tuple[type[Message], ...]) -> None:
    assert {json.loads(line.text)["type"] for line in tagged(tag)} == set(map(type_of, messages))


def test_the_example_of_start_is_the_edition_as_it_is() -> None:
    (start,) = [json.loads(line.text) for line in tagged("json referee") if '"start"' in line.text[:20]]
    assert start["options"] == Rules.of(start["edition"]).options


def test_every_situation_has_a_test_and_a_kind_of_the_table() -> None:
    """The ids of the fault table and the ids that tests name are the same."""
    kinds = {kind for row in rows(section("4.6"), "kind") for kind in codes(row[0])}
    situations = rows(section("4.6"), "test")
    ids = [row[0] for row in situations]
    assert len(ids) == len(set(ids))
    assert {kind for row in situations for kind in codes(row[3])} == kinds == set(FaultKind)
    tests = [path for path in (TOP / "tests").rglob("*.py") if path != Path(__file__)]
    named = {name for path in tests for name in re.findall(r"\bF-\d{2,3}\b", path.read_text(encoding="utf-8"))}
    assert named == set(ids)


def test_every_stranger_has_a_test() -> None:
    """4.7: the ids of its table and the ids that tests of the network name are the same."""
    ids = [row[0] for row in rows(section("4.7"), "test")]
    assert ids == [f"T-{number:02}" for number in range(1, len(ids) + 1)]
    tests = (TOP / "tests" / "net").glob("test_*.py")
    named = {name for path in tests for name in re.findall(r"\bT-\d{2}\b", path.read_text(encoding="utf-8"))}
    assert named == set(ids)


def test_the_limits_of_strangers() -> None:
    """4.7: its numbers are those of the code, and the sentence too."""
    text = " ".join(section("4.7").split())
    assert REFUSED in text
    assert OVER in text
    for words in (
        f"within {door.HELLO_LIMIT:.0f} s of the connection (TLS included) and within {door.HELLO_BYTES} bytes",
        f"closed {door.HELLO_LIMIT:.0f} s after the connection",
        f"over {crowd.MOST_OF_ONE} of one address (of IPv6: one network of {crowd.HOUSEHOLD} bits), over {crowd.MOST} ",
        f"{crowd.RESERVED} further places",
        f"{door.AT_ONCE} are taken at a time, then the matches have {door.BREATH * 1000:.0f} ms",
        f"the system's queue of {sockets.BACKLOG}",
        f"the last {door.SPARE} are the matches'",
        f"keepalive after {sockets.KEEPALIVE_IDLE} s of silence, {sockets.KEEPALIVE_PROBES} probes"
        f" {sockets.KEEPALIVE_EVERY} s apart",
        f"sent bytes that stay unacknowledged for {sockets.UNANSWERED_MS // 1000} s",
    ):
        assert words in text, words


@pytest.mark.parametrize("kind", COST, ids=str)
def test_what_a_fault_costs(kind: FaultKind) -> None:
    """The strike of every row, in both tables, is that of the code."""
    told = {codes(row[0])[0]: row[2] for row in rows(section("4.6"), "kind") if len(codes(row[0])) == 1}
    shared = {kind: row[2] for row in rows(section("4.6"), "kind") for kind in codes(row[0])}
    assert (shared | told)[kind] == {True: "1", False: {"stale": "0"}.get(kind, "-")}[COST[kind].strike]


def test_the_times_of_the_clock() -> None:
    assert f"`margin_ms` ({Limits().margin_ms})" in section("4.5")
    assert f"`seat_ms` ({Limits().seat_ms:,})" in section("4.5")


# 5: chance

SEED = "0123456789abcdef" * 2


def chance() -> dict[str, str]:
    return {row[0]: " ".join(codes(row[1])) for row in rows(section("5"), "what")}


def test_the_values_of_chance() -> None:
    """Every row of the table of test values, against the engine."""
    told = chance()
    asked = [int(n) for n in told["stream `test`, below of"].split()]
    stream = Stream(SEED, "test")
    deck = Deck(EDITIONS["classic"].deck)

    def drawn(label: str, count: int) -> str:
        pile = Pile(list(deck.bits), Stream(SEED, label))
        return " ".join(deck.code[pile.draw()] for _ in range(count))

    assert told == {
        **{f"`{model}`, {what}": presses(model) for model, what in LAUNCHED.items()},
        "stream `deal|1` begins": Stream(SEED, "deal|1").take(16).hex(),
        "stream `test`, below of": told["stream `test`, below of"],
        "gives (17 bytes read)": " ".join(str(stream.below(n)) for n in asked),
        "classic, first 29 cards of `deal|1`": drawn("deal|1", 29),
        "classic, `dealer`, 4 seats": drawn("dealer", 4),
        "bot seeds of seats 0 to 3": " ".join(
            str(int.from_bytes(Stream(SEED, f"bot|{seat}").take(4), "big") & 0x7FFFFFFF) for seat in range(4)
        ),
        "commit": sha256(f"lastcard/1|{SEED}|commit|0".encode()).hexdigest(),
    }
    assert stream.block == 1
    assert stream.place == 17


LAUNCHED = {
    "hazard5": "presses 1 to 24 of round 1, a launcher that is never empty",
    "iid": "the same",
    "fixed_sequence": "the same",
}


def presses(model: str) -> str:
    """What 24 presses eject, one after the other."""
    ejected: list[int] = []
    since = 0
    for number in range(24):
        ejected.append(MODELS[model](Stream(SEED, f"launcher|1|{number + 1}"), since, number))
        since = 0 if ejected[-1] else since + 1
    return " ".join(map(str, ejected))


def program() -> dict[str, Any]:
    """The names of the Python of section 5, which imports nothing of ours."""
    (block,) = [block for block in BLOCKS if block.tag == "python"]
    names: dict[str, Any] = {}
    exec(compile(block.text, "spec.md", "exec"), names)
    return names


def test_the_program_of_chance_gives_the_same_deal() -> None:
    deck = Deck(EDITIONS["classic"].deck)
    cards = islice(program()["pile"](deck.cards, SEED, "deal|1"), 29)
    assert " ".join(cards) == chance()["classic, first 29 cards of `deal|1`"]


def test_the_program_of_chance_presses_as_the_engine_does() -> None:
    hazard5 = program()["hazard5"]
    for press in range(1, 201):
        for since in range(6):
            engine = MODELS["hazard5"](Stream("abc", f"launcher|3|{press}"), since, 0)
            assert hazard5("abc", 3, press, since) == engine


# 6: logs

LOG = tuple(block for block in BLOCKS if block.tag == "json log")


def test_the_whole_log_is_proved(tmp_path: Path) -> None:
    (block,) = LOG
    path = tmp_path / "match.jsonl"
    path.write_text(block.text, encoding="utf-8")
    verdict = verify(read_log(path))
    assert verdict.difference is None
    assert verdict.incomplete == ""


def test_the_digest_is_defined_as_it_is_made() -> None:
    """By the definition of section 6, without our code."""
    digest, told = sha256(), ""
    for line in LOG[0].text.splitlines():
        fields = json.loads(line)
        if fields["type"] in ("match", "round", "decision", "event", "result"):
            digest.update((line[: line.rindex(',"t":{')] + "}" if "t" in fields else line).encode() + b"\n")
        told = fields.get("digest", told)
    assert told == digest.hexdigest()


def test_every_line_of_a_log_has_an_example_and_its_fields_a_word() -> None:
    lines = [json.loads(line.text) for line in (*tagged("json log"), *tagged("json line"))]
    table = {codes(row[0])[0]: set(codes(row[1])) for row in rows(section("6"), "type")}
    assert {line["type"] for line in lines} == set(table)
    for line in lines:
        assert set(line) | set(line.get("t", {})) <= table[line["type"]] | {"type", "t"}, line["type"]


def test_the_phases_of_a_fault() -> None:
    for phase in Phase:
        assert f"`{phase}`" in section("6")


# 7: perft


def test_the_example_of_perft_is_published_and_right() -> None:
    (block,) = [block for block in BLOCKS if block.tag == "perft"]
    case = json.loads(block.text)
    assert case in json.loads((TOP / "vectors" / "perft" / "counts.json").read_text(encoding="utf-8"))["cases"]
    match, _ = from_setup(Rules.of(case["edition"], case["options"]), case["setup"], play_on=True)
    for _ in range(case["after"]):
        assert match.decision is not None
        first = {seat: match.legal(seat)[0] for seat in match.decision.seats}
        match.act({seat: f"{action} uno" if action.startswith("play ") else action for seat, action in first.items()})
    assert [perft(match, depth) for depth in (1, 2, 3)] == case["counts"][:3]


# 8: tournaments


def test_the_file_of_a_tournament_can_be_read(tmp_path: Path) -> None:
    (block,) = [block for block in BLOCKS if block.tag == "toml"]
    path = tmp_path / "cup.toml"
    path.write_text(block.text, encoding="utf-8")
    assert [bot.name for bot in load_config(path).config.bots] == ["greedy", "mine.1", "mine.2", "mine.3"]


def test_the_keys_of_a_tournament() -> None:
    table = {row[0].strip("`"): set(codes(row[1])) for row in rows(section("8"), "table")}
    assert table["[tournament]"] == set(TOURNAMENT_KEYS)
    assert table["[limits]"] == set(LIMIT_KEYS)
    assert table["[sandbox]"] == set(SANDBOX_KEYS)
    (remote,) = [row for row in rows(section("8"), "table") if row[0] == "`[[bot]]` over TCP"]
    assert set(codes(remote[1])) - {"[limits]", "lastcard token", "lastcard serve"} == set(REMOTE_BOT_KEYS) - set(
        LIMIT_KEYS
    )
    own = set(BOT_KEYS) - set(LIMIT_KEYS) - set(SANDBOX_LIMIT_KEYS)
    assert table["[[bot]]"] - {"[A-Za-z0-9._-]{1,32}", "[limits]", "[sandbox]"} == own


# 9: the command line


def built_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by its words, those of a group in place of the group."""
    context = click.Context(commands)
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", command.commands[inner]) for inner in command.commands)
        elif command is not None:
            yield name, command


def test_every_command_and_option_is_named() -> None:
    told = {codes(row[0])[0].split(" ", 1)[1]: row for row in rows(section("9"), "command")}
    named = {" ".join(word for word in words.split() if word.islower()): row for words, row in told.items()}
    built = dict(built_commands())
    assert set(named) == set(built)
    for name, command in built.items():
        options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        assert options == set(re.findall(r"--[a-z-]+", named[name][1])), name
