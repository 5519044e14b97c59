"""`lastcard tournament run --dry-run`: what would be played, after the same checks and without touching the folder."""

from collections import Counter
from pathlib import Path

import msgspec

from lastcard.referee.cli.bad_usage import BadUsage
from lastcard.referee.limits import Limits
from lastcard.referee.sandbox.levels import LIMIT_RANGES, Level, Sandbox
from lastcard.referee.tournament.commands import Errand, Said, heading, plan_of, prepare
from lastcard.referee.tournament.config import Config, Entry
from lastcard.referee.tournament.ledger import is_begun, open_ledger
from lastcard.referee.tournament.plan import Plan
from lastcard.referee.tournament.ports import MatchPlayer

FIRST_BLOCKS = 3
MOST_COUNTED = 100_000
ANY_SEED = "dry-run"
"""Line-ups and orders need a seed; where it is secret, only what does not depend on it is shown."""


def planned(file: Path, folder: Path | None, jobs: int | None, player: MatchPlayer) -> str:
    """The plan in words. Raises TournamentError as a run would."""
    errand = prepare(file, folder, jobs, False, player, Said())
    config = errand.file.config
    seed = config.tournament.seed
    plan = plan_of(config, seed or ANY_SEED)
    lines = [heading(config), f"{plan.matches} matches, {errand.jobs} at a time", folder_line(errand), ""]
    lines += [*bot_lines(config, plan), ""]
    lines += [f"limits: {limits_line(config.limits)}; idle {config.tournament.idle}"]
    lines += [f"sandbox: {sandbox_line(config.sandbox)}", f"options: {options_line(config)}"]
    if seed is None:
        lines.append("seed: drawn by the system and secret until the end; line-ups and deals follow from it")
    else:
        lines += [f"seed: {seed}", *block_lines(config, plan)]
    return "\n".join(lines)


def folder_line(errand: Errand) -> str:
    """What is in the folder already."""
    path = errand.folder.path
    if path.exists() and not path.is_dir():
        raise BadUsage(f"{path}: is no folder, expected a new one or that of this tournament")
    if not is_begun(errand.folder.ledger):
        return f"folder: {path}, nothing played yet"
    with open_ledger(errand.folder.ledger, "ro") as ledger:
        if ledger.first_record().canonical != errand.file.config.canonical():
            raise BadUsage(
                f"{path}: this tournament was begun with another configuration, expected that one or another --dir"
            )
        return f"folder: {path}, {ledger.count()} matches played"


def bot_lines(config: Config, plan: Plan) -> list[str]:
    """Each bot with its command; and, where counting them is quick, how many matches it plays."""
    matches = Counter[int]()
    if config.tournament.seed is not None and plan.blocks <= MOST_COUNTED:
        for block in range(plan.blocks):
            matches.update(dict.fromkeys(plan.line_up(block), plan.seats))
    width = max(len(bot.name) for bot in config.bots)
    counted = [f"{matches[number]:>6} matches  " if matches else "" for number in range(len(config.bots))]
    return [
        f"  {bot.name:{width}}  {count}{bot.command}{own_sandbox(bot, config)}"
        for bot, count in zip(config.bots, counted, strict=True)
    ]


def limits_line(limits: Limits) -> str:
    """The common limits."""
    fields = msgspec.structs.asdict(limits)
    del fields["enforced"]
    return ", ".join(f"{name} {'-' if value is None else value}" for name, value in fields.items())


def own_sandbox(bot: Entry, config: Config) -> str:
    """The bot's sandbox where it is not the common one."""
    common = bot.remote or bot.sandbox == config.sandbox
    return "" if common else f"  (sandbox: {sandbox_line(bot.sandbox)})"


def sandbox_line(sandbox: Sandbox) -> str:
    """Its level, and its limits if it has any."""
    if sandbox.level is Level.NONE:
        return sandbox.level
    limits = ", ".join(f"{name} {getattr(sandbox, name)}" for name in LIMIT_RANGES)
    return f"{sandbox.level}, {limits}{', read ' if sandbox.read else ''}{' '.join(sandbox.read)}"


def options_line(config: Config) -> str:
    """Every option of the rules as it will be."""
    return ", ".join(f"{name}={value}" for name, value in config.rules().options.items())


def block_lines(config: Config, plan: Plan) -> list[str]:
    """The first blocks: who sits where in the first rotation."""
    lines: list[str] = []
    for block in range(min(FIRST_BLOCKS, plan.blocks)):
        match = plan.match(block, 0)
        names = ", ".join(config.bots[bot].name for bot in match.bots)
        lines.append(f"block {block}: deal {match.seed}, {names}; and the {plan.seats - 1} rotations of these seats")
    if plan.blocks > FIRST_BLOCKS:
        lines.append(f"... and {plan.blocks - FIRST_BLOCKS} more blocks")
    return lines
