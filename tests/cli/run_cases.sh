#!/usr/bin/env bash
# Compares what the command says, and its exit status, with files.
#
#   run_cases.sh LEAKTIDE MAKE_TRACES CASES [--update]
#
# A case is a file: the first line is the command line of leaktide, the second its exit status; the
# rest is what it writes, standard output and then standard error. --update rewrites it.
set -u
leaktide=$(realpath "$1") make_traces=$(realpath "$2") cases=$(realpath "$3") update=${4-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset LEAKTIDE_OPTIONS LEAKTIDE_LIBRARY LEAKTIDE_TRACER
export LC_ALL=C TZ=UTC
"$make_traces" || exit 1
cp -r "$cases/../../fixtures/recordings/." . || exit 1
failed=0
for case in "$cases"/*.case; do
    command=$(head -n 1 "$case")
    eval "set -- ${command#leaktide}"
    "$leaktide" "$@" >out 2>err </dev/null
    status=$?
    { echo "$command"; echo "exit $status"; cat out; sed 's/^/stderr: /' err; } >got
    if [ "$update" = --update ]; then
        cp got "$case"
    elif ! diff -u "$case" got; then
        echo "FAILED $(basename "$case")"
        failed=1
    fi
done
exit $failed
