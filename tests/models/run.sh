#!/usr/bin/env bash
# Asks a model checker about what two threads, or a thread and the consumer, can see of each other.
#
#   tests/models/run.sh ring        GenMC: ring.c, in the models of C11 (RC11) and of processors (IMM)
#   tests/models/run.sh threads     ThreadSanitizer: ring.c as a program of three threads, on this processor
#   tests/models/run.sh hand_over   herd7: hand_over*.litmus, in the model of aarch64
#
# The checkers are no packages of Debian: put `genmc` and `herd7` into PATH (or name them in GENMC
# and HERD7). Without them the exit status is 77.
set -eu -o pipefail
here="$(dirname -- "$(realpath -- "$0")")"
root="$(dirname -- "$(dirname -- "$here")")"

# find_checker NAME
find_checker() {
    command -v "$1" && return
    echo "skipped: no $2; docs/recorder.md says what it is" >&2
    exit 77
}

# ask_ring CHECKER FOLDER MODEL WRITERS RECORDS: every execution of the sources of FOLDER, with liveness
ask_ring() {
    timeout -s KILL 1200 "$1" "-$3" -check-liveness -unroll=4 -- -std=gnu11 -D_GNU_SOURCE -w \
        -I"$2/include" -I"$2/tracer/rings" -I"$2/tracer/drain" -I"$2/tracer/record" -I"$2/tracer/unwind" \
        -DWRITERS="$4" -DRECORDS="$5" "$2/tests/models/ring.c" 2>&1
}

# check_ring CHECKER: nothing is found in any order
check_ring() {
    local model size said
    for model in rc11 imm; do
        for size in '1 2' '2 1'; do
            # shellcheck disable=SC2086
            said="$(ask_ring "$1" "$root" "$model" $size)" || { echo "$said" && return 1; }
            printf '%-5s writers and records %s: %s\n' "$model" "$size" "$(sed -n 's/^Number of complete .*: //p' <<<"$said") orders"
        done
    done
}

# check_broken CHECKER FILE FROM TO: with this mistake something is found
check_broken() {
    local said
    cp -r -- "$root/include" "$root/tracer" "$work"
    mkdir -p "$work/tests/models"
    cp -- "$here/ring.c" "$work/tests/models"
    sed -i "s/$3/$4/" "$work/$2"
    ! cmp -s -- "$work/$2" "$root/$2" || { echo "$2 has no '$3' to break" && return 1; }
    said="$(ask_ring "$1" "$work" rc11 1 2)" || true
    said="$(sed -n 's/^Error detected: //p' <<<"$said")"
    echo "${said:-nothing is found}: $2 with '$4'"
    [ -n "$said" ]
}

# build_threads FOLDER: its ring.c as a program, without what it does not call
build_threads() {
    cc -O1 -g -fsanitize=thread -ffunction-sections -Wl,--gc-sections -std=gnu11 -D_GNU_SOURCE -w \
        -I"$1/include" -I"$1/tracer/rings" -I"$1/tracer/drain" -I"$1/tracer/record" -I"$1/tracer/unwind" \
        -DWRITERS=2 -DRECORDS=500 "$1/tests/models/ring.c" -o "$1/ring" -lpthread
}

# run_threads FOLDER: says what the sanitizer finds
run_threads() {
    local -a plain=(setarch "$(uname -m)" -R) # sanitizers do not know every layout of addresses
    timeout -s KILL 300 "${plain[@]}" "$1/ring" 2>&1
}

# finds_race FOLDER: says the race that one of many runs shows; threads that never meet show none
finds_race() {
    local run said
    for ((run = 0; run < 100; run++)); do
        said="$(run_threads "$1")" || true
        grep -m 1 -o 'WARNING: ThreadSanitizer: [a-z ]*' <<<"$said" && return
    done
    return 1
}

# check_threads: no race, and one where a release is missing
check_threads() {
    local file status
    mkdir -p "$work/tests/models"
    cp -r -- "$root/include" "$root/tracer" "$work"
    cp -- "$here/ring.c" "$work/tests/models"
    build_threads "$work" || return 77
    run_threads "$work" || return
    echo "no race: 2 writers, 1,000 records"
    for file in tracer/record/thread_state.h tracer/drain/ring_drain.c; do
        sed -i.sound 's/\(head, head\|tail, tail\), __ATOMIC_RELEASE/\1, __ATOMIC_RELAXED/' "$work/$file"
        status=0
        build_threads "$work" && finds_race "$work" || status=1
        mv -- "$work/$file.sound" "$work/$file"
        [ "$status" -eq 0 ] || { echo "nothing is found in a broken $file" && return 1; }
    done
}

# check_hand_over CHECKER FILE: says what the file expects
check_hand_over() {
    local expected found
    expected="$(sed -n 's/^(\* expected: //p' "$2")"
    found="$("$1" "$2" | sed -n 's/^Observation [^ ]* \([A-Za-z]*\).*/\1/p')"
    printf '%-24s %-10s' "$(basename -- "$2" .litmus)" "$found"
    [ "$found" = "$expected" ] && echo "as expected" && return
    echo "not $expected, as expected"
    return 1
}

case "${1-}" in
ring)
    checker="$(find_checker "${GENMC:-genmc}" GenMC)"
    work="$(mktemp -d)"
    trap 'rm -rf -- "$work"' EXIT
    check_ring "$checker"
    echo "== with a mistake in it"
    check_broken "$checker" tracer/record/thread_state.h 'head, head, __ATOMIC_RELEASE' 'head, head, __ATOMIC_RELAXED'
    check_broken "$checker" tracer/drain/ring_drain.c 'tail, tail, __ATOMIC_RELEASE' 'tail, tail, __ATOMIC_RELAXED'
    check_broken "$checker" tracer/drain/ring_drain.c 'if (__atomic_load_n(&header->writer_waits, __ATOMIC_SEQ_CST))' 'if (0)'
    check_broken "$checker" tracer/rings/consumer_sleep.c 'is_asleep, 1, __ATOMIC_SEQ_CST' 'is_asleep, 1, __ATOMIC_RELAXED'
    check_broken "$checker" tracer/rings/consumer_sleep.c 'wake_count, 1, __ATOMIC_SEQ_CST' 'wake_count, 1, __ATOMIC_RELAXED'
    check_broken "$checker" tracer/record/served.c 'writer_waits, 1, __ATOMIC_SEQ_CST' 'writer_waits, 1, __ATOMIC_RELAXED'
    ;;
threads)
    work="$(mktemp -d)"
    trap 'rm -rf -- "$work"' EXIT
    check_threads
    ;;
hand_over)
    checker="$(find_checker "${HERD7:-herd7}" herd7)"
    status=0
    for file in "$here"/hand_over*.litmus; do
        check_hand_over "$checker" "$file" || status=1
    done
    exit "$status"
    ;;
*)
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
