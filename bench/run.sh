#!/usr/bin/env bash
# Runs the benchmarks in an environment of their own: bench/run.sh [--rounds N] [--tiny] [engine] [referee] [sandbox]
# [tcp] [memory].
# The yardsticks (RLCard, OpenSpiel) are installed there and nowhere else; RLCard without the packages that it asks
# for, since its UNO game needs only numpy and termcolor. PYTHON chooses the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
home=build/bench
ready=$home/ready-1 # another number when what is installed changes

install() {
    # an environment without a pip of its own (Debian parts the two) is served by that of $python
    if [ -e "$home/bin/pip" ]; then
        "$home/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    else
        "$python" -m pip --python "$home/bin/python" install --quiet --disable-pip-version-check "$@"
    fi
}

if [ ! -e "$ready" ]; then
    echo 'installing lastcard and the yardsticks into build/bench' >&2
    "$python" -m venv --clear "$home" >/dev/null 2>&1 || "$python" -m venv --clear --without-pip "$home"
    install --constraint constraints.txt --editable .
    install numpy termcolor open_spiel==2.0.2
    install --no-deps rlcard==1.2.0
    touch "$ready"
fi
exec "$home/bin/python" -m bench "$@"
