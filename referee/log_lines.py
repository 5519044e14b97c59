"""How a match, a decision and a fault stand in the log. Knows no file, no task and no rule.

The functions named `.._t` give what depends on clock, machine, transport or run: it is no part of the digest.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import asdict

from lastcard.engine import Match
from lastcard.referee.faults import Fault
from lastcard.referee.match_log import FORMAT, now
from lastcard.referee.noise import Noise
from lastcard.referee.player import Player
from lastcard.referee.seat import Answer
from lastcard.referee.version import VERSION


def match_line(match: Match, setup: Mapping[str, object] | None) -> dict[str, object]:
    """The first line; `setup` is the position that the match begins in, if it does not begin with a deal."""
    options = match.rules.options
    fields: dict[str, object] = {
        "type": "match",
        "format": FORMAT,
        "edition": match.rules.edition.name,
        "options": options,
        "seed": match.seed,
        "seats": match.seats,
    }
    if setup is not None:
        fields["position"] = setup
    return fields | {name: options[name] for name in ("rounds", "target") if name in options}


def match_t(label: str, players: Sequence[Player]) -> dict[str, object]:
    """Who plays, with which software, and since when."""
    bots = [bot_line(player) for player in players]
    return {"software": f"lastcard {VERSION}", "match": label, "bots": bots, "begun": now()}


def bot_line(player: Player) -> dict[str, object]:
    """What the log keeps of a bot."""
    hello = player.hello
    return {
        "name": player.name,
        "declared_name": hello.name if hello else "",
        "declared_version": hello.version if hello else "",
        "command": player.repeat,
        "limits": player.limits,
        "sandbox": player.confined,
    }


def decision_line(number: int, seat: int, kind: str, legal: tuple[str, ...], answer: Answer) -> dict[str, object]:
    """One decision, and how it was taken."""
    how = "forced" if len(legal) == 1 else "asked" if answer.fault is None else "fallback"
    fields: dict[str, object] = {
        "type": "decision",
        "n": number,
        "seat": seat,
        "kind": kind,
        "legal": legal,
        "action": answer.action,
        "how": how,
    }
    if answer.fault is not None:
        fields["fault"] = answer.fault.kind
    return fields


def decision_t(answer: Answer, bank_ms: int | None) -> dict[str, object]:
    """What a decision took, what is left, and what the bot says about it."""
    t: dict[str, object] = {"ms": round(answer.ms, 3), "lag_ms": round(answer.lag_ms, 3)}
    if bank_ms is not None:
        t["bank_ms"] = bank_ms
    if answer.note:
        t["note"] = answer.note
    return t


def result_t(noise: Noise) -> dict[str, object]:
    """How far the times of this match can be trusted."""
    return {name: value for name, value in asdict(noise).items() if value is not None}


def fault_line(fault: Fault) -> dict[str, object]:
    """A fault as it stands in the log; what was received is escaped where it is not UTF-8."""
    fields: dict[str, object] = {
        "type": "fault",
        "seat": fault.seat,
        "kind": fault.kind,
        "phase": fault.phase,
        "detail": fault.detail,
        "strikes": fault.strikes,
        "of": fault.of,
        "repeat": fault.repeat,
    }
    optional: dict[str, object] = {
        "limit_ms": fault.limit_ms,
        "elapsed_ms": fault.elapsed_ms,
        "received": fault.received.decode("utf-8", "backslashreplace") if fault.received else None,
        "size": fault.size or None,
        "exit": fault.exit_status,
        "stderr": fault.stderr or None,
        "applied": fault.applied,
    }
    return fields | {name: value for name, value in optional.items() if value is not None}
