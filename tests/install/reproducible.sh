#!/usr/bin/env bash
# ./package in two clones, in folders of different names: all files are equal, byte for byte.
#
#   tests/install/reproducible.sh [WORK [PACKAGES]]
#
# Takes about 20 minutes on an idle machine with two processors (three times that on a busy one), and 4 GB in WORK (else in TMPDIR).
# Prints the checksums; the folder PACKAGES gets the files, for the other scripts here. Exit status 1: files differ, both clones stay. 77: no compiler to be had here.
set -eu -o pipefail
root="$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")"
work="$(mktemp -d -- "${1:-${TMPDIR:-/tmp}}/reproducible.XXXXXX")"
clones=("$work/first" "$work/another-folder/with-a-longer-name")

# build_in CLONE: says where the log is when it fails
build_in() {
    git clone -q -- "$root" "$1"
    (cd -- "$1" && env -u ZIG_GLOBAL_CACHE_DIR ./package -o "$1/packages") >"$1.log" 2>&1 && return
    tail -n 5 -- "$1.log" >&2
    grep -q -e 'No matching distribution' -e 'fetch them from' -e 'package llvm' -- "$1.log" && exit 77
    echo "reproducible: ./package fails; the rest is in $1.log" >&2
    exit 1
}

for clone in "${clones[@]}"; do
    mkdir -p -- "$(dirname -- "$clone")"
    build_in "$clone"
    (cd -- "$clone/packages" && sha256sum -- *) >"$clone.sums"
done
cat -- "${clones[0]}.sums"
if ! diff -- "${clones[0]}.sums" "${clones[1]}.sums"; then
    echo "reproducible: two builds of the same commit differ; look into $work" >&2
    exit 1
fi
echo "$(wc -l <"${clones[0]}.sums") packages, built twice, are equal"
[ -z "${2-}" ] || { mkdir -p -- "$2" && cp -- "${clones[0]}"/packages/* "$2"; }
rm -rf -- "$work"
