"""The rows of the doctor's matrix: what a bot tries, and what each level promises about it.

The promises are data, and the same that tests/sandbox proves. Knows neither how a row is tried (`probe.py`) nor
how the outcome is found out (`trial.py`).
"""

from enum import StrEnum
from typing import NamedTuple

from lastcard.referee.sandbox.levels import Level


class Outcome(StrEnum):
    """What came of a row at one level."""

    COULD = "could"
    COULD_NOT = "could not"
    NOT_TRIED = "not tried"


class Promise(StrEnum):
    """What a level says about a row."""

    NOTHING = "-"
    NO = "could not"
    YES = "could"
    NO_BUT_ROOT = "could not, unless the referee is root"
    NO_IF_COUNTED = "could not, where a cgroup or a uid counts the bot's processes"


class Situation(NamedTuple):
    """What the promises hang on."""

    level: Level
    root: bool
    """The referee is root."""
    shares_uid: bool
    """At this level the bot runs under the referee's own uid."""
    counted: bool
    """A cgroup counts the bot's processes."""


class Row(NamedTuple):
    """One thing that a bot tries, and the promise of each level."""

    id: str
    group: str
    what: str
    none: Promise
    basic: Promise
    shared: Promise
    """That of `basic` where the bot could not be given a uid of its own."""
    strict: Promise
    fatal: bool = False
    """The refusal ends the process, so it is tried in a bot of its own."""

    def promise(self, situation: Situation) -> Promise:
        """What holds here: NOTHING, NO or YES."""
        match situation.level:
            case Level.NONE:
                promise = self.none
            case Level.BASIC:
                promise = self.shared if situation.shares_uid else self.basic
            case Level.STRICT:
                promise = self.strict
        match promise:
            case Promise.NO_BUT_ROOT:
                return Promise.NOTHING if situation.root else Promise.NO
            case Promise.NO_IF_COUNTED:
                return Promise.NO if situation.counted else Promise.NOTHING
            case _:
                return promise

    def broken(self, outcome: Outcome, situation: Situation) -> bool:
        """Whether the level did not keep its promise. What was not tried proves nothing either way."""
        promise = self.promise(situation)
        return (promise, outcome) in {(Promise.NO, Outcome.COULD), (Promise.YES, Outcome.COULD_NOT)}


_, N, Y = Promise.NOTHING, Promise.NO, Promise.YES
R, C = Promise.NO_BUT_ROOT, Promise.NO_IF_COUNTED

# fmt: off
ROWS = (
    #   id                 group      what a bot tries                                      none, basic, shared, strict
    Row("private-file",    "files",   "read a file that only the referee's user may read",  _, N, _, N),
    Row("shared-file",     "files",   "read a file that everybody may read",                _, _, _, N),
    Row("hidden-file",     "files",   "read a hidden file in its own folder",               _, _, _, N),
    Row("passwd",          "files",   "read /etc/passwd",                                   _, _, _, N),
    Row("own-folder",      "files",   "write into its own folder",                          _, _, _, N),
    Row("tmp",             "files",   "use /tmp",                                           Y, Y, Y, Y),
    Row("tmp-seen",        "files",   "leave a file in /tmp for others",                    _, _, _, N),
    Row("tcp",             "network", "reach a TCP listener of this machine",               _, _, _, N),
    Row("udp",             "network", "reach a UDP socket of this machine",                 _, _, _, N),
    Row("route",           "network", "find a route outwards (UDP, DNS)",                   _, _, _, N),
    Row("unix-abstract",   "network", "reach an abstract unix socket",                      _, _, _, N),
    Row("unix-path",       "network", "reach a unix socket by its path",                    _, _, _, N),
    Row("signal",          "others",  "signal the referee",                                 _, N, _, N),
    Row("see-processes",   "others",  "see processes beside its own",                       _, _, _, N),
    Row("referee-environ", "others",  "read the referee's environment",                     R, N, N, N),
    Row("referee-memory",  "others",  "read the referee's memory",                          R, N, N, N),
    Row("referee-files",   "others",  "read through the referee's open files",              R, N, N, N),
    Row("bot-memory",      "others",  "read another bot's memory",                          _, N, _, N),
    Row("bot-trace",       "others",  "trace another bot as a debugger does",               _, N, _, N),
    Row("descriptors",     "itself",  "find open descriptors beyond 0, 1 and 2",            N, N, N, N),
    Row("environment",     "itself",  "find more variables than every bot gets",            N, N, N, N),
    Row("terminal",        "itself",  "open the referee's terminal",                        N, N, N, N),
    Row("capabilities",    "itself",  "hold any of root's capabilities",                    _, N, N, N),
    Row("new-privileges",  "itself",  "gain rights by a set-uid program",                   _, N, N, N),
    Row("user-namespace",  "itself",  "make a user namespace, to be root in it",            _, _, _, N),
    Row("child",           "limits",  "start a child process",                              Y, Y, Y, Y),
    Row("processes",       "limits",  "start more processes than its limit",                _, N, C, N),
    Row("memory",          "limits",  "use more memory than its limit",                     _, N, N, N, fatal=True),
    Row("cpu",             "limits",  "use more CPU time than its limit",                   _, N, N, N, fatal=True),
    Row("large-file",      "limits",  "write a file larger than its limit",                 _, N, N, N),
    Row("full-tmp",        "limits",  "fill /tmp beyond that with several files",           _, _, _, N),
    Row("raise-limits",    "limits",  "take a limit of its own away",                       _, N, N, N),
    Row("leave-cage",      "limits",  "leave its cgroup",                                   _, N, _, N),
    Row("outlive",         "end",     "leave a process that outlives its end",              N, N, N, N),
)
# fmt: on

BY_ID = {row.id: row for row in ROWS}
