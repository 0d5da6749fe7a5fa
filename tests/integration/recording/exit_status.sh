#!/usr/bin/env bash
# The report says with which status a program exited, unless it was 0 or nobody knows.
#
#   exit_status.sh LEAKTIDE PYTHON
set -u
leaktide=$1 python=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# expect STATUS-OF-RUN LINE-OF-INFO PROGRAM...
expect() {
    local status=$1 line=$2
    shift 2
    rm -rf "$work/run"
    "$leaktide" run -q --device=cpu -o "$work/run" -- "$@" >/dev/null 2>&1
    local got=$?
    [ "$got" = "$status" ] || { echo "$*: run ended with $got, not $status"; failed=1; }
    got=$("$leaktide" info "$work/run" | grep '^Exited')
    [ "$got" = "$line" ] || { echo "$*: info says '$got', not '$line'"; failed=1; }
}

expect 3 'Exited with  3' "$python" -c 'import sys; sys.exit(3)'
expect 1 'Exited with  1' "$python" -c '1 / 0'
expect 7 'Exited with  7' "$python" -c 'import atexit, ctypes
atexit.register(print, "handlers run")
ctypes.CDLL(None).exit(7 + 256)'
expect 0 '' "$python" -c 'pass'
expect 5 'Exited with  5' "$python" -c 'import os; os._exit(5)'
expect 137 '' "$python" -c 'import os; os.kill(os.getpid(), 9)'
# A vforked child that finds no program ends with _exit in the memory of its parent.
expect 0 '' "$python" -c 'import subprocess
try:
    subprocess.run(["/nothing/there"])
except FileNotFoundError:
    pass'
exit $failed
