#!/usr/bin/env bash
# Packed with threads, and unpacked again.
set -eu -o pipefail
seq 500000 >"$WORK/numbers"
for packer in "xz -T4 -1" "gzip -6" "zstd -T4 -q" "bzip2"; do
    command -v "${packer%% *}" >/dev/null || continue
    read -r -a words <<<"$packer"
    "${words[@]}" <"$WORK/numbers" | "${words[0]}" -d | sha256sum
done
