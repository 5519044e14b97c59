"""Whether a ledger, as a whole, is what a run writes: its configuration, seed, bots and rows. Knows no result.

One pass over everything before anything of it is counted, shown or gone on with.
"""

import msgspec

from lastcard.referee.tournament.checks import RowCheck, check_config
from lastcard.referee.tournament.config import Config
from lastcard.referee.tournament.errors import ConfigError, FolderError, LedgerError
from lastcard.referee.tournament.folder import Folder, commitment, stored_seed
from lastcard.referee.tournament.ledger import Ledger, errors_of
from lastcard.referee.tournament.plan import Plan


def checked_config(ledger: Ledger) -> Config:
    """The configuration that the tournament was begun with. Raises LedgerError."""
    with errors_of(ledger.path):
        config = msgspec.json.decode(ledger.first_record().canonical, type=Config)
    try:
        check_config(config)
    except ConfigError as error:
        raise LedgerError(f"{ledger.path}: the ledger is damaged: {error}") from None
    return config


def known_seed(ledger: Ledger, folder: Folder, config: Config) -> str | None:
    """The master seed; None where it is secret and the reader may not see it. Raises LedgerError for a wrong one."""
    seed = config.tournament.seed
    if seed is None:
        try:
            seed = stored_seed(folder)
        except FolderError:
            return None
    if commitment(seed) != ledger.first_record().commitment:
        raise LedgerError(f"{ledger.path}: the ledger is damaged: its commitment is not that of the tournament's seed")
    return seed


def check_ledger(ledger: Ledger, config: Config, plan: Plan | None) -> None:
    """Raise LedgerError for the first thing that does not fit; from here on every row that is read is checked."""
    names = [bot.name for bot in config.bots]
    if ledger.bots() != [(bot.name, bot.command) for bot in config.bots]:
        raise LedgerError(f"{ledger.path}: the ledger is damaged: its bots are not those of its configuration")
    strangers = ledger.suspended().keys() - set(names)
    if strangers:
        raise LedgerError(f"{ledger.path}: the ledger is damaged: {min(strangers)!r} is suspended, but is no bot of it")
    for table in ("faults", "voids"):
        ledger.count(table)
    ledger.complaint = RowCheck(config, plan)
    for _ in ledger.rows():
        pass
