"""Tournaments: round robin in blocks of one deal, ledger, standings. Knows bots through `ports` only."""

from lastcard.referee.tournament.commands import Said, run, status
from lastcard.referee.tournament.config import Config, ConfigFile, load_config
from lastcard.referee.tournament.errors import ConfigError, FolderError, LedgerError, TournamentError
from lastcard.referee.tournament.ports import (
    Bot,
    FaultRecord,
    MatchCall,
    MatchPlayer,
    MatchRecord,
    Table,
)

__all__ = [
    "Bot",
    "Config",
    "ConfigError",
    "ConfigFile",
    "FaultRecord",
    "FolderError",
    "LedgerError",
    "MatchCall",
    "MatchPlayer",
    "MatchRecord",
    "Said",
    "Table",
    "TournamentError",
    "load_config",
    "run",
    "status",
]
