"""The exit codes of `lastcard`, as `lastcard.referee.cli` explains them; nothing is imported."""

DONE = 0
FAILED = 1
"""What was checked failed; or a fault of ours."""
BAD_USAGE = 2
RESUMES = 3
"""Stopped, in a state from which it goes on."""
