#!/bin/sh
# What leaktide run leaves behind: traces, rings only where they still hold events, little disk.
#
#   after_run.sh LEAKTIDE FOLDER-OF-PROGRAMS
set -eu
leaktide=$1
programs=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$1"
    ls -las "$folder"/* || true
    exit 1
}

allocs() {
    "$leaktide" info --format=json "$1" |
        sed -n 's/.*"event": "alloc", "event_count": \([0-9]*\).*/\1/p'
}

"$leaktide" run -q --device=cpu -o "$folder/whole" -- "$programs/alloc_then" 1000 exit
[ -z "$(find "$folder/whole" -name '*.rings')" ] || fail "rings are left of a program that ended"
[ "$(allocs "$folder/whole")" -ge 1000 ] || fail "allocations are missing"

status=0
"$leaktide" run -q --device=cpu -o "$folder/killed" -- "$programs/alloc_then" 1000 kill || status=$?
[ "$status" = 137 ] || fail "a killed program gave status $status"
[ "$(allocs "$folder/killed")" -ge 1000 ] || fail "allocations of a killed program are missing"
[ "$(du -sk "$folder/killed" | cut -f1)" -lt 300 ] || fail "more disk is taken than is needed"

"$leaktide" run -q --device=cpu -o "$folder/became" -- "$programs/alloc_then" 1000 exec
"$leaktide" info "$folder/became" | head -n 1 | grep -q "complete" || fail "exec counts as a crash"
