"""The command line: `lastcard`, also `python -m lastcard.referee`. Parsing and printing only.

Exit codes: 0 done, 1 what was checked failed, 2 bad usage or configuration, 3 stopped in a state that resumes.
"""

from lastcard.referee.cli.main import main

__all__ = ["main"]
