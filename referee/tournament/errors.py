"""What a person can do wrong with a tournament: exceptions with a whole sentence each. Knows no cause.

TournamentError(LastcardError)
    ConfigError       the tournament file cannot be meant like this
    FolderError       the folder cannot be used, or is in use
    LedgerError       the ledger is none, damaged, of another version, or of another configuration
"""

from lastcard.engine import LastcardError


class TournamentError(LastcardError):
    """Something about a tournament's files is wrong; the command line shows the text and ends with 2."""


class ConfigError(TournamentError):
    """The tournament file is wrong: the text names file, table, key and what was expected."""


class FolderError(TournamentError):
    """The tournament's folder cannot be used."""


class LedgerError(TournamentError):
    """The ledger cannot be read, or does not belong to this configuration."""
