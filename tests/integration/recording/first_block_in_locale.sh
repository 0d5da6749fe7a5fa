#!/bin/bash
# A program whose first block is asked for under the lock of the locales runs as it does natively.
#
#   first_block_in_locale.sh LEAKTIDE PROGRAM
set -u
leaktide=$1
program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

for stacks in none c python python,c; do
    said=$("$leaktide" run --quiet --no-report --device=cpu --call-stack=$stacks -o "$folder/$stacks" -- "$program" 2>&1)
    [ "$said" = fine ] || {
        echo "--call-stack=$stacks: $said"
        failed=1
    }
done
exit $failed
