"""Puts real bot processes at tables: the tournament's `MatchPlayer`. One match alone needs only `process_players`."""

import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import trio

from lastcard.referee.bot_command import BotCommand, BotCommandError, parse_bot
from lastcard.referee.match_log import MatchLog
from lastcard.referee.player import Player
from lastcard.referee.process_players import Keeping as Keeping  # these three may be taken from here too
from lastcard.referee.process_players import part_all as part_all
from lastcard.referee.process_players import player_of as player_of
from lastcard.referee.sandbox.launch import problem
from lastcard.referee.table import MatchFailed, Outcome, Table
from lastcard.referee.tournament.ports import Bot, FaultRecord, MatchCall, MatchRecord


class SeatedTable:
    """Bots that sit together over several matches: `tournament.ports.Table`."""

    def __init__(self, players: Sequence[Player]) -> None:
        self.players = players

    async def play(self, call: MatchCall) -> MatchRecord:
        """Play one match. An exception is a fault of ours."""
        log = MatchLog(call.log_path)
        try:
            players = [self.players[bot] for bot in call.bots]
            outcome = await Table(players, call.rules, call.seed, log, match_id=call.match_id).play()
        except MatchFailed as failure:
            return MatchRecord(void=True, void_reason=str(failure))
        finally:
            log.close()
        return record_of(outcome)


def record_of(outcome: Outcome) -> MatchRecord:
    """The outcome as the ledger keeps it."""
    return MatchRecord(
        places=tuple(outcome.places),
        scores=tuple(outcome.scores),
        rounds=tuple(outcome.rounds),
        reason=outcome.reason,
        faults=tuple(
            FaultRecord(seat=fault.seat, kind=fault.kind, detail=fault.detail, strike=fault.costs_strike)
            for fault in outcome.faults
        ),
        forfeited=tuple(outcome.forfeited),
        digest=outcome.digest,
        noise=outcome.noise,
    )


class ProcessSeating:
    """Seats bots as child processes: `tournament.ports.MatchPlayer`."""

    def problem(self, bot: Bot) -> str | None:
        """Why the bot cannot be started, as a sentence."""
        if bot.tcp:
            return "it comes over TCP, which takes `lastcard serve` in place of `lastcard tournament run`"
        try:
            command = command_of(bot)
        except BotCommandError as error:
            return str(error)
        return problem(command, bot.sandbox, bot.hidden)

    @asynccontextmanager
    async def opened(self, say: Callable[[str], None]) -> AsyncGenerator[None]:
        """Nothing has to be there before the first bot."""
        del say
        yield

    @asynccontextmanager
    async def open_table(self, bots: Sequence[Bot]) -> AsyncGenerator[SeatedTable]:
        """The bots as players; each is started when its first match begins."""
        players = local_players(bots)
        try:
            yield SeatedTable(players)
        finally:
            # Also when the run is given up: bots get a moment to leave, then their groups are killed.
            with trio.CancelScope(shield=True):
                await part_all(players, "no more matches at this table")


def local_players(bots: Sequence[Bot]) -> list[Player]:
    """A tournament's bots that sit at one table; each is started when its first match begins."""
    label = secrets.token_hex(8)  # of these processes: it tells nothing, and nobody else alive has it
    return [
        player_of(command_of(bot), bot.limits, keeping_of(bot), seat=place, match=label)
        for place, bot in enumerate(bots)
    ]


def keeping_of(bot: Bot) -> Keeping:
    """How a tournament's bot is kept."""
    return Keeping(bot.sandbox, bot.hidden, bot.idle)


def command_of(bot: Bot) -> BotCommand:
    """The command that a tournament's bot names."""
    command = parse_bot(bot.command, base=bot.cwd)
    return replace(command, name=bot.name, env={**command.env, **bot.env})
