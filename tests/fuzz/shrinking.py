"""Tells the story of an evening that went wrong: how to see it again, and the few deeds of bots that it takes."""

from pathlib import Path
from typing import Any

from tests.fuzz.simulation import Evening, first

MOST_RUNS = 60
"""A failure is looked at by people; a shorter story is not worth minutes."""

SHOWN = 15
"""The last happenings of a player are told all, of those before only what is out of the ordinary."""

ORDINARY = {("told", "events"), ("told", "ask"), ("taken", "ask"), ("said", "act"), ("looked", "")}


def failure_of(evening: Evening) -> BaseException | None:
    """Plays it; what went wrong."""
    try:
        evening.run()
    except Exception as error:
        return first(error)
    return None


def names_of(evening: Evening) -> list[str]:
    """The deeds that were done."""
    return [deed.partition(" ")[0] for trace in evening.traces for deed in trace.deeds]


def shrunk(seed: int, folder: Path, how: dict[str, Any]) -> tuple[Evening, BaseException]:
    """The evening with as few deeds as it takes to go wrong in whatever way."""
    best = Evening(seed, folder, **how)
    error = failure_of(best)
    assert error is not None, f"seed {seed} does not fail again"
    runs, size = 0, len(names_of(best))
    while size >= 1 and runs < MOST_RUNS:
        deeds, smaller = names_of(best), False
        for start in range(0, len(deeds), size):
            fewer = Evening(seed, folder, **how | {"allowed": frozenset(deeds[:start] + deeds[start + size :])})
            found, runs = failure_of(fewer), runs + 1
            if found is not None and len(names_of(fewer)) < len(deeds):
                best, error, smaller = fewer, found, True
                break
        size = min(size, len(names_of(best))) if smaller else size // 2
    return best, error


def story(seed: int, folder: Path, command: str, **how: Any) -> str:
    """All that somebody needs who wants to mend it."""
    evening, error = shrunk(seed, folder, how)
    lines = [f"seed {seed}: {type(error).__name__}: {error}", f"to see it again: {command}", "what it takes:"]
    for trace in evening.traces:
        named = f"{trace.name} " in str(error) or f"{trace.name}:" in str(error)
        if not trace.deeds and not named:
            continue
        lines += [f"  {trace.name}: {deed}" for deed in trace.deeds or ["an honest bot"]]
        last = len(trace.happenings) - SHOWN
        lines += [
            f"    {one}"
            for place, one in enumerate(trace.happenings)
            if place >= last or (one.what, one.text) not in ORDINARY
        ]
    return "\n".join(lines)
