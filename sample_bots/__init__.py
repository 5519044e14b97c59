"""Bots that a newcomer copies: each is one file that speaks only the wire protocol and needs nothing of ours.

They are here as programs to run, not as a library: nothing in this project imports them except tests.
"""
