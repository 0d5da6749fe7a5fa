#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# leaktide under the name of this file, msmemscope or msleaks. Scripts for that tool read it with `source`, too, from bash
# or zsh; the shell keeps no name of ours:
#
#   source msmemscope --load-api-env      programs of this shell begin recordings by themselves (module msmemscope)
#   source msmemscope --unload-api-env    no longer

_leaktide_msmemscope() {
    local folder place libraries="" kept="" one
    folder=$(dirname "$(readlink -f "$1")")
    for place in "$folder/../share/leaktide/msmemscope/lib64" "$folder/../libexec/leaktide"; do # of a tree, of a wheel
        [ -z "$libraries" ] && [ -f "$place/libascend_kernel_hook.so" ] && libraries=$(readlink -f "$place")
    done
    [ -n "$libraries" ] || { echo "[msmemscope] ERROR: no library is installed beside $folder." >&2; return 1; }
    while IFS= read -r one; do # of LD_PRELOAD, what is not ours
        case "$one" in "" | "$libraries"/*) ;; *) kept="$kept:$one" ;; esac
    done <<EOF
$(printf '%s\n' "${LD_PRELOAD:-}" | tr ': ' '\n')
EOF
    if [ "$2" = --load-api-env ]; then
        export LD_PRELOAD="$libraries/libascend_kernel_hook.so$kept"
        export LEAKTIDE_OPTIONS="--collect-mode=script --call-stack=c,python"
        echo "[msmemscope] LD_PRELOAD + $libraries/libascend_kernel_hook.so"
    else
        export LD_PRELOAD="${kept#:}"
        [ -n "$LD_PRELOAD" ] || unset LD_PRELOAD
        unset LEAKTIDE_OPTIONS
        echo "[msmemscope] LD_PRELOAD is as it was."
    fi
}

case "${1:-}" in
--load-api-env | --unload-api-env)
    if [ -n "${ZSH_VERSION:-}" ]; then
        eval '_leaktide_msmemscope "${(%):-%x}" "$1"'
    elif [ "${BASH_SOURCE[0]}" != "$0" ]; then
        _leaktide_msmemscope "${BASH_SOURCE[0]}" "$1"
    else
        echo "[msmemscope] ERROR: this changes a shell: source msmemscope $1" >&2
        exit 1
    fi
    unset -f _leaktide_msmemscope
    ;;
*)
    file=$(readlink -f "$0")
    command="$(dirname "$file")/leaktide"
    [ -x "$command" ] || command=leaktide
    exec "$command" "$(basename "$file")" "$@"
    ;;
esac
