"""`python -m lastcard.referee` is `lastcard`."""

from lastcard.referee.cli import main

if __name__ == "__main__":
    main()
