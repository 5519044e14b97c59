#!/usr/bin/env bash
# All tests, in two halves at the same time: one core is idle while the other waits for a program under test.
# tests/run.sh PYTHON. The other half's report comes last, and the exit code is not 0 if either half failed.
set -u
python=$1
here=(tests/referee tests/sandbox tests/doctor tests/tournament tests/fuzz tests/net tests/zoo)
mkdir -p build
"$python" -m pytest "${here[@]/#/--ignore=}" tests >build/other-half.log 2>&1 &
other=$!
"$python" -m pytest "${here[@]}"
code=$?
wait "$other" || code=$?
cat build/other-half.log
exit "$code"
