#!/bin/sh
# leaktide run leaves AddressSanitizer in charge: a good program runs, a bad one is still caught.
#
#   under_asan.sh LEAKTIDE PROGRAM
set -eu
leaktide=$1
program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

said=$("$leaktide" run --quiet --device=npu,cpu -o "$folder/good" -- "$program")
[ "$said" = fine ] || { echo "the good program said: $said"; exit 1; }
if "$leaktide" run --quiet --device=npu,cpu -o "$folder/bad" -- "$program" bad >"$folder/out" 2>&1; then
    echo "the bad program went through"
    exit 1
fi
grep -q "heap-use-after-free" "$folder/out" || { cat "$folder/out"; exit 1; }
