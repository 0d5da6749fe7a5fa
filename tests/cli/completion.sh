#!/usr/bin/env bash
# What bash completes, asked as bash does. In shells that run: completion_test.py.
#
#   completion.sh LEAKTIDE
set -u
leaktide=$1
failed=0

# shellcheck source=/dev/null
source <("$leaktide" completion bash) || exit 1

# check EXPECTED WORD...: the cursor stands after the last word
check() {
    local expected=$1
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _leaktide
    if [[ "${COMPREPLY[*]}" != "$expected" ]]; then
        echo "$*: ${COMPREPLY[*]}, expected $expected"
        failed=1
    fi
}

check "report" leaktide rep
check "msleaks msmemscope" leaktide ms
check "leaks" leaktide help le
check "--fail-on=" leaktide report --fail
check "--steps= --start-index= --strict-compat" msmemscope --st
check "--strict-compat" leaktide msleaks --stri
check "op kernel" msmemscope --level =
check "kernel" msmemscope --level = k
check "leaks,decompose" msmemscope --analysis = leaks,dec
check "npu cpu" /opt/bin/msleaks --device ""
check "csv" msmemscope --format = c
# fish, which is not asked: it is no shell of every machine
fish=$("$leaktide" completion fish) || exit 1
for line in \
    "complete -c leaktide -n __fish_use_subcommand -f -a report -d 'everything, verdict first'" \
    "complete -c leaktide -n '__fish_seen_subcommand_from report' -l format -s f -x -a 'text json html csv md' -d 'how the answer is written (text)'" \
    "complete -c leaktide -n '__fish_seen_subcommand_from gate' -l output -s o -r -F -d 'where files of formats for programs go'" \
    "complete -c msleaks -w msmemscope"; do
    grep -qF -- "${line%\'}" <<<"$fish" || { echo "fish: no line $line"; failed=1; }
done
[ "$(grep -cv '^complete -c\|^#' <<<"$fish")" = 0 ] || { echo "fish: other lines"; failed=1; }
cd "$(mktemp -d)" || exit 1
touch some_file.csv
check "some_file.csv" msmemscope --input-path = some
check "some_file.csv" leaktide report some
rm -f some_file.csv
rmdir "$PWD"
exit $failed
