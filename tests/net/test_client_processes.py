"""The client with real processes and real sockets, against a referee of plain sockets and against our own door."""

import ssl
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from lastcard.protocol import Act, Limits, Start
from lastcard.referee.bot_command import BotCommand
from lastcard.referee.net.client import Client
from lastcard.referee.net.client_bot import start_own_bot
from lastcard.referee.net.client_call import Address, call
from lastcard.referee.net.client_calls import Calls
from lastcard.referee.net.client_session import Ending
from lastcard.referee.net.tls import client_context, server_context
from lastcard.referee.process_groups import GROUPS
from tests.net.conftest import Certificate, OpenTheDoor
from tests.net.plain_referee import BYE, HELLO, START, TOKEN, Line, PlainReferee, ask, serving
from tests.referee.children import gone, open_files, python

BOT = """
import json
say(b'{"type":"hello","protocol":1}\\n')
while True:
    message = json.loads(line())
    if message["type"] == "ask":
        say(json.dumps({"type": "act", "id": message["id"], "action": message["legal"][0]}).encode() + b"\\n")
"""
ASKS = 3
ANSWERS = {1: "play R2", 2: "play R3", 3: "play R4"}
BOUNDARIES = 2 + 1 + 3 * ASKS + 2
"""Hellos, start; ask, act and events of each decision; end and bye."""

ENDED = Ending(0, "the referee says bye: that was all")
LIMIT = 30


def client_of(
    command: BotCommand, port: int, context: ssl.SSLContext | None = None, *, token: str = TOKEN
) -> tuple[Client, list[str]]:
    """A client for the referee at the port, and what it says."""
    said: list[str] = []
    where = Address("127.0.0.1", port)
    calls = Calls(where, lambda: call(where, context), said.append, patience=LIMIT)
    return Client(lambda: start_own_bot(command, "LASTCARD_TOKEN"), calls, token, said.append), said


async def played(command: BotCommand, port: int, context: ssl.SSLContext | None = None) -> Ending:
    """The whole of it; no process of the bot is left."""
    client, _ = client_of(command, port, context)
    with trio.fail_after(LIMIT):
        ending = await client.run()
    assert len(GROUPS) == 0
    return ending


# ---- a whole conversation


async def test_a_conversation() -> None:
    before = 0
    for _ in range(2):  # the first one opens what stays: the line to the keeper
        before, first = open_files(), before
        with serving(PlainReferee(ASKS)) as referee:
            assert await played(python(BOT), referee.port) == ENDED
        assert (referee.answers, referee.boundaries, referee.trouble) == (ANSWERS, BOUNDARIES, None)
        assert referee.hellos == [{"type": "hello", "protocol": 1, "token": TOKEN}]
    assert first
    assert open_files() == before


HEARD = {2, *range(5, 3 * ASKS + 3, 3)}
"""The boundaries after lines of the bot: hello and acts."""

CUTS = [
    (number, half) for number in range(1, BOUNDARIES + 1) for half in (False, True) if not (half and number in HEARD)
]


@pytest.mark.parametrize(("boundary", "half"), CUTS, ids=[f"{'in' if half else 'after'}-{at}" for at, half in CUTS])
async def test_a_cut_changes_nothing(boundary: int, half: bool) -> None:
    """Cut after each line of either end, and in the middle of each of the referee's."""
    with serving(PlainReferee(ASKS, cuts=frozenset({boundary}), half=half)) as referee:
        assert await played(python(BOT), referee.port) == ENDED
    assert (referee.answers, referee.trouble) == (ANSWERS, None)


@pytest.mark.parametrize("cuts", [frozenset[int](), frozenset({5})], ids=["whole", "cut"])
async def test_a_conversation_over_tls(certificate: Certificate, cuts: frozenset[int]) -> None:
    tls = server_context(certificate.cert, certificate.key)
    with serving(PlainReferee(ASKS, cuts=cuts, tls=tls)) as referee:
        assert await played(python(BOT), referee.port, client_context(certificate.cert)) == ENDED
    assert (referee.answers, referee.trouble) == (ANSWERS, None)


@pytest.mark.parametrize("secured", [False, True], ids=["plain", "tls"])
async def test_our_own_door(open_door: OpenTheDoor, certificate: Certificate, secured: bool) -> None:
    context = client_context(certificate.cert) if secured else None
    async with open_door(certificate if secured else None) as door, trio.open_nursery() as nursery:
        client, said = client_of(python(BOT), door.port, context)
        endings: list[Ending] = []

        async def run() -> None:
            endings.append(await client.run())

        nursery.start_soon(run)
        with trio.fail_after(LIMIT):
            for number in (1, 2):  # the second connection comes because the first one is lost
                login = await door.logins.receive()
                assert login.name == "remote"
                assert login.hello.token == ""
                channel, words = login.channel, login.conversation
                soon = channel.clock() + LIMIT
                await channel.send(words.start(MATCH), soon)
                await channel.send(words.ask("turn", ["draw"], {}, []), soon)
                words.receive(await channel.receive(soon) or b"")
                assert words.next() == Act(1, "draw")
                if number == 1:
                    channel.close()
            await channel.send(words.bye("that was all"), soon)
            await channel.part(LIMIT)
    assert endings == [ENDED]
    assert said[0] == f"connected to 127.0.0.1:{door.port}"
    assert said[1].startswith("the connection is lost (")
    assert said[2] == f"connected to 127.0.0.1:{door.port} again"


MATCH = Start(match="m1", edition="classic", options={}, seat=0, players=["remote", "b"], limits=Limits(), bot_seed=1)


async def test_our_own_door_refuses_another_token(open_door: OpenTheDoor) -> None:
    async with open_door(None) as door:
        client, _ = client_of(python(BOT), door.port, token="x" * 22)
        with trio.fail_after(LIMIT):
            ending = await client.run()
    assert ending.code == 1
    assert ending.words.startswith("not let in: expected a hello with the token of a bot that this referee waits for")


def test_eight_lines_without_us(token_file: Path) -> None:
    """The bot of the documentation, which needs no client."""
    script = Path(__file__).with_name("eight_lines.py")
    with serving(PlainReferee(ASKS)) as referee:
        words = [sys.executable, str(script), "127.0.0.1", str(referee.port), str(token_file)]
        done = subprocess.run(words, timeout=LIMIT, check=False, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (referee.answers, referee.trouble) == (ANSWERS, None)
    assert len(script.read_text().partition("\n\n")[2].splitlines()) == 8  # after the imports


# ---- bots and referees that do not keep up


class Deaf(PlainReferee):
    """Asks nothing: it says and hears so many bytes, and hears none before it is told to."""

    def __init__(self, *, says: int = 0, hears: int = 0) -> None:
        super().__init__()
        self.says = says
        self.hears = hears
        self.heard = 0
        self.listen = threading.Event()

    def converse(self, line: Line) -> None:
        line.say(HELLO)
        line.hear()
        line.say(START)
        reader = threading.Thread(target=self._read, args=(line,))
        reader.start()
        for _ in range(self.says // 1000):
            line.say({"type": "events", "events": [], "more": "x" * 970})
        reader.join()
        line.say(BYE)
        self.parted = True

    def _read(self, line: Line) -> None:
        self.listen.wait(LIMIT)
        while self.heard < self.hears:
            self.heard += len(line.hear_bytes()) + 1


BLOCKS = 16 << 10
FLOOD = f"""
say(b'{{"type":"hello","protocol":1}}\\n')
count = os.open(COUNT, os.O_WRONLY | os.O_CREAT)
for number in range({BLOCKS}):
    say(b"x" * 1023 + b"\\n")
    os.pwrite(count, b"%8d" % (number + 1), 0)
while b'"bye"' not in sys.stdin.buffer.readline():
    pass
"""
"""Says 16 MiB before it reads anything but hello, and counts the KiB in a file."""


async def test_a_flood_waits_in_the_bot(tmp_path: Path) -> None:
    """A referee that does not read stops the bot, not the client, and gets all of it in the end."""
    count = tmp_path / "count"
    endings: list[Ending] = []

    async def run() -> None:
        endings.append(await played(python(f"COUNT = {str(count)!r}" + FLOOD), referee.port))

    with serving(Deaf(hears=BLOCKS << 10)) as referee:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            before, written = -1, 0
            with trio.fail_after(LIMIT):
                while written != before or not written:
                    await trio.sleep(0.3)
                    before, written = written, int(count.read_text() or 0) if count.exists() else 0
            assert written < BLOCKS  # it stands still: the system's buffers are full, and the client has none
            referee.listen.set()
    assert endings == [ENDED]
    assert (referee.heard, referee.trouble) == (BLOCKS << 10, None)


async def test_one_full_direction_does_not_stop_the_other(tmp_path: Path) -> None:
    """The referee says 4 MiB that the bot does not read yet; all that the bot says still goes out."""
    referee = Deaf(says=4 << 20, hears=BLOCKS << 10)
    referee.listen.set()
    with serving(referee):
        command = python(f"COUNT = {str(tmp_path / 'count')!r}" + FLOOD)
        assert await played(command, referee.port) == ENDED
    assert (referee.heard, referee.trouble) == (BLOCKS << 10, None)


WORDS = 64 << 10
LAST_WORDS = f"""
say(b'{{"type":"hello","protocol":1}}\\n')
while b'"start"' not in line():
    pass
say(b"x" * {WORDS - 1} + b"\\n")
"""


class Slow(PlainReferee):
    """Says more than the client takes, and begins to read when the bot has long ended."""

    def __init__(self) -> None:
        super().__init__(rcvbuf=4096)
        self.heard = 0

    def converse(self, line: Line) -> None:
        line.say(HELLO)
        line.hear()
        talker = threading.Thread(target=self._talk, args=(line,))
        talker.start()
        time.sleep(0.2)
        try:
            self.heard = len(line.hear_bytes()) + 1
        finally:
            self.parted = True
            talker.join()

    def _talk(self, line: Line) -> None:
        with suppress(OSError):
            line.say(START)
            while True:
                line.say({"type": "events", "events": [], "more": "x" * 60_000})


async def test_the_last_words_of_a_bot_arrive() -> None:
    """A connection that is closed with unread bytes loses what has not been sent yet."""
    with serving(Slow()) as referee:
        assert await played(python(LAST_WORDS), referee.port) == Ending(1, "the bot ended (exit status 0)")
    assert (referee.heard, referee.trouble) == (WORDS, None)


class Hasty(PlainReferee):
    """Asks again and again without an answer, says bye, and hangs up."""

    def converse(self, line: Line) -> None:
        line.say(HELLO)
        line.hear()
        line.say(START)
        for number in range(2000):
            line.say(ask(number))
        line.say(BYE)
        self.parted = True


async def test_a_bye_is_seen_behind_what_a_hanging_bot_has_not_read() -> None:
    with serving(Hasty()) as referee:
        hangs = """say(b'{"type":"hello","protocol":1}\\n'); hang()"""
        assert await played(python(hangs), referee.port) == ENDED
    assert referee.trouble is None


# ---- the bot's process


async def test_the_bot_has_its_users_environment_without_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LASTCARD_TOKEN", TOKEN)
    monkeypatch.setenv("MY_MODEL", "large")
    seen = tmp_path / "seen"
    look = f"""
words = [os.environ.get("MY_MODEL"), os.environ.get("LASTCARD_TOKEN"), str(os.getsid(0) == os.getpid()),
         os.getcwd(), str(len(os.listdir("/proc/self/fd")))]
open({str(seen)!r}, "w").write(" ".join(map(str, words)))
"""
    with serving(PlainReferee(ASKS)) as referee:
        assert await played(replace(python(look + BOT), cwd=tmp_path), referee.port) == ENDED
    assert seen.read_text() == f"large None True {tmp_path} 4"  # the fourth descriptor is the listing's own


LEAVES_CHILDREN = """
for session in (False, True):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=session)
    open(PIDS, "a").write(f"{child.pid}\\n")
"""


@pytest.mark.parametrize("end", [BOT, "sys.exit(3)", "hang()"], ids=["bye", "exit", "no hello"])
async def test_nothing_that_the_bot_has_started_is_left(tmp_path: Path, end: str) -> None:
    pids = tmp_path / "pids"
    with serving(PlainReferee(ASKS)) as referee:
        command = python(f"PIDS = {str(pids)!r}" + LEAVES_CHILDREN + end)
        client, _ = client_of(command, referee.port)
        with trio.move_on_after(1 if end == "hang()" else LIMIT):
            ending = await client.run()
            assert ending == (ENDED if end == BOT else Ending(1, "the bot ended before its hello (exit status 3)"))
    found = pids.read_text().split()
    assert len(found) == 2
    for pid in found:
        assert await gone(int(pid))
    assert len(GROUPS) == 0


async def test_a_bot_whose_child_holds_its_pipes_has_ended() -> None:
    script = BOT.replace("while True:", "for _ in range(2):") + "os.fork() or hang()\nsys.exit(7)"
    with serving(PlainReferee(ASKS)) as referee:
        assert await played(python(script), referee.port) == Ending(1, "the bot ended (exit status 7)")


async def test_a_bot_that_cannot_be_started() -> None:
    with serving(PlainReferee(ASKS)) as referee:
        ending = await played(BotCommand("lost", ("/no/such/bot",)), referee.port)
    assert ending == Ending(1, "bot lost: cannot start /no/such/bot: No such file or directory")


async def test_a_bot_that_forfeits_is_started_anew(tmp_path: Path) -> None:
    """The second process answers what the first one did not."""
    once = tmp_path / "once"
    script = f"""
if not os.path.exists({str(once)!r}):
    open({str(once)!r}, "w").close()
    say(b'{{"type":"hello","protocol":1,"name":"first"}}\\n')
    hang()
"""
    with serving(Forfeits(ASKS)) as referee:
        assert await played(python(script + BOT), referee.port) == ENDED
    assert [hello.get("name") for hello in referee.hellos] == ["first", None]
    assert (referee.answers, referee.trouble) == (ANSWERS, None)


class Forfeits(PlainReferee):
    """Does not wait for the first bot at all."""

    def converse(self, line: Line) -> None:
        if self.hellos:
            super().converse(line)
            return
        line.say(HELLO)
        self.hellos.append(line.hear())
        line.say(START)
        line.say({"type": "bye", "reason": "forfeited", "again": True})
