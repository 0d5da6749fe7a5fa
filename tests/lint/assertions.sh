#!/usr/bin/env bash
# How many assertions there are for each 1,000 lines of code: lines that are neither blank nor
# comment, of .c and .h files. Fails where there are fewer than the least, 5 unless it is said.
#
# usage: assertions.sh FOLDER [LEAST]
set -u
folder="$1"
least="${2:-5}"

# Comments go; those in texts do not matter for a count.
code() { find "$folder" -name '*.[ch]' -exec cat -- {} + | perl -0777 -pe 's{/\*.*?\*/}{}gs; s{//[^\n]*}{}g'; }

lines="$(code | grep -c '[^[:space:]]')"
assertions="$(code | grep -oE '\b(MT_ASSERT|assert)\(' | wc -l)"
[ "$lines" -gt 0 ] || exit 1
awk -v folder="$folder" -v lines="$lines" -v found="$assertions" -v least="$least" 'BEGIN {
    share = 1000 * found / lines
    printf "%s: %d assertions in %d lines: %.2f per 1,000; at least %s\n", folder, found, lines, share, least
    exit share < least
}'
