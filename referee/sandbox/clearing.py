"""A way through a closed folder for a bot with a user number of its own, at the level basic and for root only.

Programs often lie in root's home, which nobody else may enter: a Python built there, say. A mount namespace of
the bot gets an empty folder in that place, with nothing in it but what the bot needs, each at its old path.
It hides more than it opens. It needs the programs unshare and mount and builds a command line; it starts nothing.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from lastcard.referee.sandbox.chain import TRUSTED, program

PROGRAMS = ("unshare", "mount", "mkdir", "ln")

# Words: for each closed folder its path, the number of paths in it, and those relative to it; an empty word ends.
# Through descriptor 9 the folder's old content stays in reach when the empty one already lies on top of it.
SCRIPT = """
set -e; umask 022
while [ -n "$1" ]; do
  top=$1; count=$2; shift 2; exec 9<"$top"; cd /
  mount -t tmpfs -o mode=0755,size=1m lastcard "$top"
  while [ "$count" -gt 0 ]; do
    old=/proc/self/fd/9/$1; new=$top/$1; mkdir -p "${new%/*}"
    if [ -d "$old" ]; then mkdir -p "$new"; mount -c --bind "$old" "$new"
    elif [ -L "$old" ]; then ln -s "$(readlink "$old")" "$new"
    else : >"$new"; mount -c --bind "$old" "$new"; fi
    shift; count=$((count - 1))
  done
done
exec 9<&-; folder=$2; shift 2; cd "$folder" 2>/dev/null || cd /; exec "$@"
"""


def clearing_words(shown: Sequence[Path], folder: Path) -> tuple[str, ...]:
    """Words that make the paths reachable and go on in the folder; none where nothing is closed or can be done."""
    closed = sorted(set(filter(None, map(_closed_folder, shown))))
    if not closed or not all(shutil.which(name, path=TRUSTED) for name in PROGRAMS):
        return ()
    words: list[str] = []
    for top in closed:
        inside = [str(path.relative_to(top)) for path in shown if top in path.parents]
        words += [str(top), str(len(inside)), *inside]
    return (
        *(program("unshare"), "--mount", program("sh"), "-c", SCRIPT, "sh"),
        *(*words, "", str(folder)),
    )


def _closed_folder(path: Path) -> Path | None:
    """The first folder on the way that other users may not enter. One that is not root's is left alone."""
    return next((folder for folder in _on_the_way(path) if not folder.stat().st_mode & stat.S_IXOTH), None)


def _on_the_way(path: Path) -> Iterator[Path]:
    return (folder for folder in reversed(path.parents) if os.path.isdir(folder))
