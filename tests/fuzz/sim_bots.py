"""Bots of the simulation: honest ones, and ones that are honest until they are not, all by lot from a seed.

A bot notes what each of its lines means as it writes it (`wire`), which is all that the judge goes by; it does not know
what the referee makes of it.
"""

from collections.abc import Awaitable, Callable
from math import inf
from random import Random

import msgspec

from lastcard.referee.limits import Limits
from tests.fuzz.bad_lines import BAD_HELLOS, MALFORMED, STALE
from tests.fuzz.wire import Exit, Line, Process, Trace

encode = msgspec.json.encode

FEATURES = ("events", "ready", "ping", "telepathy")
ENDS = ("exit status 0", "exit status 1", "exit status 139", "killed by SIGSEGV")

Deed = Callable[[Line], Awaitable[bool]]
"""Something that a good bot would not do at this line. True if the line is dealt with by it."""


class Character(msgspec.Struct, kw_only=True, frozen=True):
    """What one player's programs are like."""

    seed: str
    evil: float = 0.0
    """How likely a deed is at a line."""
    features: tuple[str, ...] = ()
    slow: float = 0.3
    """How likely it takes time to think."""
    lazy_end: bool = False
    """It does not leave by itself after `bye`."""


class SimBot:
    """One process of a player."""

    def __init__(self, character: Character, number: int, limits: Limits, allowed: frozenset[str] | None) -> None:
        self.character = character
        self.chance = Random(f"{character.seed} process {number}")
        self.number = number
        self.limits = limits
        self.allowed = allowed
        """The deeds that it may do, when a failure is being shrunk; None for all."""
        self.deeds = 0
        self.thought = 0.0
        self.pings = 0
        self.last_id = 0

    async def __call__(self, process: Process) -> None:
        """The script."""
        self.process = process
        self.trace: Trace = process.trace
        await self.hello(await process.read())
        while True:
            line = await process.read()
            if line["type"] == "bye":
                await self.leave()
            elif not await self.does_something_else(line):
                await self.as_a_good_bot(line)

    async def as_a_good_bot(self, line: Line) -> None:
        """What the line asks for."""
        match line["type"]:
            case "ask":
                await self.think(line)
                await self.act(line["id"], self.choice(line))
            case "start":
                self.thought = 0.0
                if "ready" in self.character.features:
                    await self.process.sleep(self.chance.choice([0, 0, self.chance.uniform(0, 0.9) * self.start_s]))
                    await self.process.say(b'{"type":"ready"}\n', "ready")
            case "ping":
                await self.process.sleep(self.chance.choice([0, 0, self.chance.uniform(0, 4)]))
                await self.process.say(b'{"type":"pong"}\n', "pong")
            case _:
                pass
        if self.chance.random() < 0.02:
            self.process.stderr.kept += self.chance.randbytes(self.chance.choice([3, 9000]))

    @property
    def start_s(self) -> float:
        return self.limits.start_ms / 1000

    async def leave(self) -> None:
        """After `bye`."""
        if self.character.lazy_end:
            await self.process.sleep(inf)
        raise Exit(self.chance.choice(ENDS))

    # ---- answers

    def choice(self, ask: Line) -> str:
        """One of the legal actions, mostly with the call that is due."""
        action: str = self.chance.choice(ask["legal"])
        due = len(ask["state"]["hand"]) == 2
        return (
            f"{action} uno" if action.startswith("play") and self.chance.random() < (0.8 if due else 0.05) else action
        )

    async def act(self, number: int, action: str, *, pause: float = 0.0) -> None:
        """An answer in one of its spellings."""
        line: Line = {"type": "act", "id": number, "action": action}
        if self.chance.random() < 0.1:
            line |= self.chance.choice([{"note": "\u2028 é"}, {"x": [1.5, None]}, {"id": number}])
        text = encode(line) + self.chance.choice([b"\n", b"\n", b"\r\n"])
        await self.process.say(text, "act", number, {"action": action}, pause=pause)

    def budget(self, ask: Line) -> float:
        """The time that it has at the least, in seconds."""
        if not self.limits.enforced:
            return 30.0
        if "move_ms" not in ask and "bank_ms" not in ask:
            budget = 60_000.0
        else:
            budget = ask.get("move_ms", 0) + ask.get("bank_ms", 0) + self.limits.margin_ms
        return max(0.0, min(budget, self.limits.seat_ms - self.thought)) / 1000

    async def think(self, ask: Line) -> None:
        """Mostly not at all, sometimes for all that is free, seldom on the bank."""
        if self.chance.random() >= self.character.slow:
            return
        free = (ask.get("move_ms", 0) + self.limits.margin_ms) / 1000
        budget = self.budget(ask)
        spent = self.chance.choice([free, free, budget, budget - 1e-5, 0.5 * budget])
        seconds = self.chance.uniform(0.3, 0.95) * min(spent, budget, 0.2 * (self.limits.seat_ms / 1000 - self.thought))
        if seconds > 0:
            self.thought += seconds * 1000
            await self.process.sleep(seconds)

    # ---- the greeting

    async def hello(self, line: Line) -> None:
        """The answer to hello, in one of its ways."""
        if self.chance.random() < self.character.evil:
            deed = self.chance.choice(["banner", "late_hello", "no_hello", "ends", "closes"])
            if self.may(deed, line):
                await getattr(self, deed)(line)
        features = list(self.character.features)
        text = encode({"type": "hello", "protocol": 1, "name": "sim", "features": features}) + b"\n"
        await self.process.say(text, "hello", 0, {"features": features})

    async def banner(self, line: Line) -> bool:
        for _ in range(self.chance.choice([1, 3, 16, 17])):
            await self.noise()
        return False

    async def late_hello(self, line: Line) -> bool:
        await self.wait(self.chance.choice([0.5, 0.999, 1.001, 3]) * self.start_s)
        return False

    async def no_hello(self, line: Line) -> bool:
        match self.chance.randrange(4):
            case 0:
                await self.process.say(b'{"type":"hello","protocol":2}\n', "version")
            case 1:
                await self.process.say(self.chance.choice(BAD_HELLOS), "bad hello")
            case 2:
                await self.process.say(b"y" * 70_000 + b"\n", "")
            case _:
                await self.process.sleep(inf)
        return False

    # ---- what a good bot would not do

    def may(self, deed: str, line: Line) -> bool:
        """Whether the deed is among those that may be done; it is noted if so."""
        self.deeds += 1
        name = f"{self.trace.name}.{self.number}.{self.deeds}"
        if self.allowed is not None and name not in self.allowed:
            return False
        self.trace.deeds.append(f"{name} {deed} at {line['type']} {line.get('id', '')}".rstrip())
        return True

    async def does_something_else(self, line: Line) -> bool:
        """Perhaps a deed. True if the line needs no more."""
        if line["type"] == "ping":
            self.pings += 1
        if self.chance.random() >= self.character.evil:
            return False
        if line["type"] == "ask":
            deed = self.chance.choices(*ASK_DEEDS)[0]
        else:
            deed = self.chance.choices(*OTHER_DEEDS)[0]
        if not self.may(deed, line):
            return False
        if line["type"] != "ask":  # else it would be a race with whatever others do in no time
            await self.process.sleep(self.chance.uniform(1e-6, 1e-3))
        doing: Deed = getattr(self, deed)
        return await doing(line)

    async def wait(self, seconds: float) -> None:
        """Never to the very moment at which something is due: who comes first then is nobody's fault."""
        await self.process.sleep(seconds and seconds + self.chance.uniform(1e-6, 1e-4))

    async def noise(self) -> None:
        """One line that is no answer."""
        match self.chance.randrange(6):
            case 0 | 1:
                await self.process.say(self.chance.choice(MALFORMED), "malformed")
            case 2 | 3:
                await self.process.say(self.chance.choice(STALE), "stale")
            case 4:
                word = self.chance.choice(["ready", "pong", "hello"])
                text = encode({"type": word, "protocol": 1}) + b"\n"
                await self.process.say(text, word, 0, {"features": []})
            case _:
                number = self.chance.randrange(4)
                await self.act(number, "draw")

    async def noises(self, line: Line) -> bool:
        for _ in range(self.chance.choice([1, 1, 2, 5])):
            await self.noise()
        return False

    async def stales(self, line: Line) -> bool:
        for _ in range(self.chance.choice([1, 5, 15, 16, 17, 40])):
            await self.process.say(self.chance.choice(STALE), "stale")
        return False

    async def too_long(self, line: Line) -> bool:
        size = self.chance.choice([65_537, 70_000, 200_000, 1_048_576, 1_048_577, 1_100_000])
        await self.process.say(b"y" * size + b"\n", "")
        return False

    async def ends(self, line: Line) -> bool:
        if self.chance.random() < 0.3:
            await self.process.mumble(b'{"type":"act"')
        raise Exit(self.chance.choice(ENDS))

    async def answers_and_ends(self, line: Line) -> bool:
        await self.act(line["id"], self.choice(line))
        await self.wait(self.chance.choice([0, self.chance.uniform(0, 2)]))
        return await self.ends(line)

    async def closes(self, line: Line) -> bool:
        """Its output; and it lives on for a while."""
        self.process.close_output()
        await self.wait(self.chance.choice([0.0, 0.1, 0.3, 5, inf]))
        raise Exit("exit status 0")

    async def goes_deaf(self, line: Line) -> bool:
        """Its input is closed."""
        await self.act(line["id"], self.choice(line))
        self.process.close_input()
        await self.wait(self.chance.choice([0.0, 0.1, 0.3, 5, inf]))
        raise Exit("exit status 0")

    async def stops_reading(self, line: Line) -> bool:
        """For so long that the pipe is full."""
        await self.act(line["id"], self.choice(line))
        self.process.fill_input()
        await self.wait(self.chance.choice([0.001, 0.3, 1.3, 9, inf]))
        return True

    async def too_late(self, line: Line) -> bool:
        """By little or much, perhaps in two parts."""
        over = self.budget(line) + self.chance.choice([1.0, 1.5, 30]) / 1000
        over += self.chance.choice([0, 0, 0.3, 4]) + self.chance.uniform(0, 1e-3)
        pause = self.chance.choice([0, 0, 0.5 * over])
        await self.wait(over - pause)
        await self.act(line["id"], self.choice(line), pause=pause)
        return True

    async def is_silent(self, line: Line) -> bool:
        return self.limits.enforced  # else it would be waited for to the end of the world

    async def glues(self, line: Line) -> bool:
        """Garbage without LF before the answer."""
        await self.process.say(b"R7" + encode({"type": "act", "id": line["id"], "action": "draw"}) + b"\n", "malformed")
        return True

    async def is_illegal(self, line: Line) -> bool:
        legal = self.chance.choice(line["legal"])
        action = self.chance.choice(
            ["", "fold", legal + " ", legal.upper() + "X", "play R7 uno uno", "draw uno", "\u2028"]
        )
        await self.act(line["id"], action)
        return True

    async def answers_twice(self, line: Line) -> bool:
        for _ in range(2):
            await self.act(line["id"], self.choice(line))
        return True

    async def guesses(self, line: Line) -> bool:
        """Answers the ask after this one too, at once or some time later."""
        await self.act(line["id"], self.choice(line))
        await self.wait(self.chance.choice([0, self.chance.uniform(0, 0.5)]))
        await self.act(line["id"] + 1, self.choice(line))
        return True

    async def drips(self, line: Line) -> bool:
        """In two parts, in time."""
        await self.act(line["id"], self.choice(line), pause=self.chance.uniform(0.1, 0.9) * min(5.0, self.budget(line)))
        return True

    async def ignores(self, line: Line) -> bool:
        """No pong, no ready."""
        return line["type"] != "start" or self.limits.enforced

    async def dozes(self, line: Line) -> bool:
        await self.wait(self.chance.choice([0.01, 0.2, 1, 7, 20]))
        return False


ASK_DEEDS = (
    "noises stales too_long ends answers_and_ends closes goes_deaf stops_reading too_late is_silent glues is_illegal "
    "answers_twice guesses drips dozes".split(),
    [3, 2, 1, 2, 2, 1, 1, 1, 4, 3, 1, 4, 3, 2, 3, 1],
)
OTHER_DEEDS = ("noises stales too_long ends closes ignores dozes".split(), [8, 2, 1, 1, 1, 4, 4])
"""Deeds and how often each is chosen."""
