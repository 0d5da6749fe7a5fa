#!/usr/bin/env bash
# The tracer for aarch64: its sources compile, and its unwinder passes its tests under qemu.
#
#   aarch64_test.sh SOURCE-FOLDER
#
# Needs the packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user; without them the
# exit status is 77. Of libraries only headers are needed: nothing but the unwinder is linked.
set -eu
source=$(realpath "$1")
compiler=aarch64-linux-gnu-gcc
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if ! command -v "$compiler" >/dev/null || [ -z "$emulator" ]; then
    echo "skipped: no $compiler or no qemu-aarch64 (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)"
    exit 77
fi
root=/usr/aarch64-linux-gnu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
tracer=$source/tracer unwind=$source/tracer/unwind
flags=(-std=gnu11 -O2 -Wall -Wextra -Werror -fPIC
    "-DTORCH_PYTHON_CODE=\"$source/tracer/python/leaktide_torch.py\"")
includes=(-I"$source/include" -I"$tracer" -I"$tracer/hooks" -I"$tracer/record"
    -I"$tracer/control" -I"$tracer/drain" -I"$tracer/rings" -I"$tracer/config"
    -I"$tracer/runtimes" -I"$tracer/watch" -I"$tracer/account" -I"$unwind" -I"$unwind/cfi" -I"$unwind/arch/aarch64" -I"$work/headers")

echo "== compile the tracer"
mkdir headers
for header in zstd.h zstd_errors.h xxhash.h; do
    [ ! -e "/usr/include/$header" ] || cp "/usr/include/$header" headers
done
for file in "$tracer"/*.c "$tracer"/hooks/*.c "$tracer"/record/*.c \
    "$tracer"/control/*.c "$tracer"/drain/*.c "$tracer"/rings/*.c "$tracer"/consumer/*.c \
    "$tracer"/config/*.c "$tracer"/runtimes/*.c "$tracer"/watch/*.c "$tracer"/account/*.c "$unwind"/*.c "$unwind"/cfi/*.c; do
    case "$file" in *x86_64*) continue ;; esac
    "$compiler" "${flags[@]}" "${includes[@]}" -c "$file" -o "$(basename "$file" .c).o"
done

# run NAME FLAGS... -- SOURCES... -- ARGUMENTS...
run() {
    local name=$1 extra=() files=()
    shift
    while [ "$1" != -- ]; do extra+=("$1") && shift; done
    shift
    while [ "$1" != -- ]; do files+=("$1") && shift; done
    shift
    echo "== $name ${extra[*]}"
    "$compiler" -std=gnu11 "${extra[@]}" -I"$source/tests/support/cross" "${includes[@]}" \
        "${files[@]}" "$unwind"/*.c "$unwind"/cfi/*.c -o "$name" -ldl -lpthread
    "$emulator" -L "$root" "./$name" "$@"
}

for size in 16 4000; do
    "$compiler" -O2 -fPIC -shared -DPLUGIN_BYTES="$size" \
        "$source/tests/integration/unwind/plugin.c" -o "plugin_$size.so"
done
torture=$source/tests/integration/unwind/torture_test.c
run torture -O2 -fexceptions -fomit-frame-pointer -- "$torture" -- ./plugin_16.so ./plugin_4000.so
run torture -O1 -fexceptions -fno-omit-frame-pointer -- "$torture" -- ./plugin_16.so ./plugin_4000.so
run thread_stack -O2 -- "$source/tests/unit/thread_stack_test.c" --
run stack_set -O2 -- "$source/tests/unit/unwind_stack_set_test.c" --
run codec -O2 -- "$source/tests/unit/codec_test.c" --
