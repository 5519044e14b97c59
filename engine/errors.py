"""The engine's errors, by the question they answer. A bot can raise none of them through the referee.

LastcardError(ValueError)
    NotationError     is this text a card, an action?
    EditionError      is there such an edition?
    OptionError       does the edition know the option, and the option the value?
    PositionError     can a match be opened from this position?
    IllegalAction     may this seat do this now?
"""


class LastcardError(ValueError):
    """Something that a caller handed in is wrong; the text is one whole sentence for a person."""


class NotationError(LastcardError):
    """A text is not in the notation of cards or actions."""


class EditionError(LastcardError):
    """There is no edition of this name."""


class OptionError(LastcardError):
    """The edition does not know the option, or the option does not know the value."""


class PositionError(LastcardError):
    """A position cannot be set up as described."""


class IllegalAction(LastcardError):
    """The action is not legal for this seat now; the match has not changed."""
