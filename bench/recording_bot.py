"""The instant bot, writing every ask that it gets to the file named by its argument: the yardstick's script.

Each recorded line is the time at which the ask came, a tab, and the ask to the byte; the clock is the
machine's, so the files of the bots of one match can be put into one order.
"""

import sys
import time

from bench.instant_bot import answer


def main(path: str) -> None:
    with open(path, "w", encoding="utf-8") as record:
        for line in sys.stdin:
            reply = answer(line)
            if reply is None:
                continue
            if '"act"' in reply:
                record.write(f"{time.monotonic_ns()}\t{line}")
            sys.stdout.write(reply)
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
