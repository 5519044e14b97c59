"""The protocol's errors: our own mistakes. What a peer does wrong is a value, never an exception.

ProtocolError
    LocalProtocolError    we said something that the conversation does not allow now: a bug of ours
"""


class ProtocolError(Exception):
    """The base of this room's errors; raised only as one of its children."""


class LocalProtocolError(ProtocolError):
    """This side broke the protocol; nothing was written and the conversation has not changed."""
