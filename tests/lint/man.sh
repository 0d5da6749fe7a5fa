#!/usr/bin/env bash
# The man page knows every command and option that the command knows.
#
#   man.sh leaktide docs/man/leaktide.1
set -u -o pipefail
leaktide="$1"
page="$2"
status=0

mapfile -t commands < <("$leaktide" help | sed -n 's/^  leaktide \([a-z]*\) .*/\1/p')
[ "${#commands[@]}" -ge 8 ] || exit 1
for command in "${commands[@]}"; do
    grep -qw -- "$command" "$page" || { echo "no $command in $page"; status=1; }
    case "$command" in msleaks | msmemscope) continue ;; esac # a page of their own, from their table
    mapfile -t options < <("$leaktide" "$command" --help 2>/dev/null |
        sed -n 's/^ *\(-[a-z], \)\{0,1\}--\([a-z-]*\).*/\2/p')
    for option in "${options[@]}"; do
        grep -Eq -- "(Fl|,) -$option( |\$)" "$page" || { echo "no --$option in $page"; status=1; }
    done
done
if command -v man >/dev/null && man -l --warnings /dev/null >/dev/null 2>&1; then
    complaints="$(LC_ALL=C.UTF-8 man -l --warnings "$page" 2>&1 >/dev/null)"
    [ -z "$complaints" ] || { echo "$complaints"; status=1; }
fi
exit "$status"
