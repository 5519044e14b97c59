"""What this machine can do for a sandbox, found out by trying: a probe bot inside each level, and a report.

It knows no match, no message and no rule of the game.
"""
