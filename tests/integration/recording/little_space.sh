#!/bin/bash
# Where address space is short, a recorded program does not crash or hang, nor is the disk filled; with some
# more than it needs it does what it does without us.
#
#   little_space.sh TRACER PROGRAM
set -u
tracer=$1
program=$2
margin_kib=40960 # what recording takes: the library, a heap, a ring for each thread
disk_kib=16384   # what is left of a killed one: its trace, and a ring for each of five threads
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
# An arena for each thread takes 64 MiB when threads meet in malloc, with us and without.
export MALLOC_ARENA_MAX=1

# at_limit KIB THREADS [OPTIONS [kill]]: the status, 137 when it hangs; recorded where options are given
at_limit() {
    rm -rf "$folder/run"
    # shellcheck disable=SC2016,SC2086 # the inner shell's
    timeout -s KILL 20 bash -c 'ulimit -v "$1" -c 0 || exit 2
        [ -z "$3" ] || export LD_PRELOAD=$4 LEAKTIDE_OPTIONS="--output-path=$5 $3"
        exec "$6" "$2" $7' - "$1" "$2" "${3:-}" "$tracer" "$folder/run" "$program" "${4:-}" >/dev/null 2>&1
    echo $?
}

for options in "--device=cpu --call-stack=none" "--device=cpu --call-stack=c"; do
    for threads in 0 4; do
        for kib in $(seq 8000 4000 64000) $(seq 80000 20000 200000); do
            status=$(at_limit "$kib" "$threads" "$options")
            case $status in
            0 | 1 | 3 | 4 | 127) ;; # 1 and 127: the loader had no room for us and the C library
            *) echo "$threads threads, $kib KiB, $options: status $status" && failed=1 ;;
            esac
            at_limit "$kib" "$threads" "$options" kill >/dev/null
            taken_kib=$(du -sk "$folder" | cut -f 1)
            [ "$taken_kib" -gt "$disk_kib" ] &&
                echo "$threads threads, $kib KiB, $options: $taken_kib KiB of disk" && failed=1
            [ "$kib" -gt "$margin_kib" ] || continue
            [ "$(at_limit $((kib - margin_kib)) "$threads")" -eq 0 ] || continue
            [ "$status" -eq 0 ] && continue
            echo "$threads threads, $kib KiB, $options: status $status, 0 without us" && failed=1
        done
    done
done
exit $failed
