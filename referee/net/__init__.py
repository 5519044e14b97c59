"""Bots over TCP: tokens, the door that strangers knock at, the lobby, and the client that runs a stdio bot.

Knows no rules. Matches see of it only a `Player` and a `Channel`.
"""
