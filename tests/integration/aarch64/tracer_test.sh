#!/usr/bin/env bash
# The whole tracer for aarch64: it is built for it, records a program under qemu, and the analyzer of
# this machine reads the recording, names and all.
#
#   tracer_test.sh SOURCE-FOLDER LEAKTIDE EVENT-DUMP COMPILER
#
# COMPILER is gcc, or clang, which lays out frames in another way; the packages are built by that.
# Needs a cross compiler, qemu-user, and libraries of aarch64: those of another architecture on this
# machine (dpkg --add-architecture arm64; libzstd-dev:arm64, libjemalloc-dev:arm64), or a folder
# with their packages unpacked, told as MT_AARCH64_ROOT: ./check fetches one (cmake/fetch-aarch64).
# Without them the exit status is 77.
set -eu -o pipefail
source=$(realpath "$1") leaktide=$2 event_dump=$3 tracer_compiler=$4
root=${MT_AARCH64_ROOT:-/}
libraries=$(realpath -m "$root/usr/lib/aarch64-linux-gnu")
compiler=aarch64-linux-gnu-gcc
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if ! command -v "$compiler" >/dev/null || [ -z "$emulator" ]; then
    echo "skipped: no $compiler or no qemu-aarch64 (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)"
    exit 77
fi
case $tracer_compiler in
gcc) chosen=(-DCMAKE_C_COMPILER="$compiler" -DMT_WARNINGS_AS_ERRORS=ON) ;;
clang)
    chosen=(-DCMAKE_C_COMPILER=clang -DCMAKE_C_COMPILER_TARGET=aarch64-linux-gnu)
    for tool in ld nm objcopy; do
        variable=${tool/ld/LINKER}
        chosen+=(-DCMAKE_"${variable^^}=$(command -v "aarch64-linux-gnu-$tool")")
    done
    ;;
esac
if [ "$tracer_compiler" = clang ] && ! command -v clang >/dev/null; then
    echo "skipped: no clang"
    exit 77
fi
for library in libzstd.a libjemalloc_pic.a; do
    if [ ! -e "$libraries/$library" ]; then
        echo "skipped: no $libraries/$library (libzstd-dev:arm64, libjemalloc-dev:arm64, or MT_AARCH64_ROOT)"
        exit 77
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== build"
mkdir "$work/pkgconfig"
sed "s|^prefix=.*|prefix=$(realpath -m "$root/usr")|" "$libraries/pkgconfig/libzstd.pc" \
    >"$work/pkgconfig/libzstd.pc"
PKG_CONFIG_LIBDIR=$work/pkgconfig cmake -S "$source" -B "$work/build" \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 "${chosen[@]}" \
    -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu -DCMAKE_LIBRARY_PATH="$libraries" \
    -DCMAKE_FIND_ROOT_PATH="$root" -DCMAKE_INCLUDE_PATH="$root/usr/include" \
    -DMT_BUILD_ANALYZER=OFF >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" || { tail -n 50 "$work/log"; exit 1; }
tracer=$work/build/lib/leaktide/libascend_kernel_hook.so
file=$(od -An -tx1 -j18 -N2 "$tracer" | tr -d ' ')
[ "$file" = b700 ] || { echo "$tracer is not of aarch64: $file"; exit 1; }

echo "== record"
"$compiler" -O2 -g "$source/tests/integration/aarch64/program.c" -o "$work/program" -lpthread
timeout -s KILL 100 "$emulator" -L /usr/aarch64-linux-gnu -E LD_PRELOAD="$tracer" \
    -E LEAKTIDE_OPTIONS="--device=cpu --call-stack=c --output-path=$work/run" "$work/program"

echo "== read"
"$event_dump" "$work/run" >"$work/events"
# expect COUNT PATTERN: so many events have it
expect() {
    local found
    found=$(grep -c -- "$2" "$work/events" || true)
    [ "$found" -eq "$1" ] || { echo "$found events with $2, not $1"; exit 1; }
}
expect 2000 '"event": "alloc".*"size_bytes": 7001\b'
expect 1 '"event": "alloc".*"size_bytes": 123457\b'
"$leaktide" stacks "$work/run" --format json >"$work/report"
path='through main > branch > branch > branch > branch > branch > branch > branch > branch > branch > branch > leaf'
grep -q "$path" "$work/report" || { head -n 20 "$work/report"; exit 1; }
"$leaktide" info "$work/run" | grep -q '; complete' || { "$leaktide" info "$work/run"; exit 1; }
