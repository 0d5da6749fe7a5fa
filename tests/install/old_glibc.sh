#!/usr/bin/env bash
# The tar ball on an old C library: a leak of a C program with threads, and one of a Python program.
#
#   tests/install/old_glibc.sh LIBRARIES [PACKAGES]
#
#   LIBRARIES  a folder with ld-linux-x86-64.so.2, libc.so.6, libpthread.so.0, libdl.so.2, libm.so.6, librt.so.1 and
#              libutil.so.1 of one release, as glibc 2.17; MT_OLD_GLIBC names it, too
#   PACKAGES   what ./package made (build/packages); its compiler builds the programs, for glibc 2.17
#
# The root file system of the test holds nothing but these, the tar ball, and the programs. Python is that of
# cx_Freeze's wheel, an interpreter built on glibc 2.17. Exit status 77: no such libraries, packages or wheel.
set -eu -o pipefail
here="$(dirname -- "$(realpath -- "$0")")"
checkout="$(dirname -- "$(dirname -- "$here")")"
libraries="${1:-${MT_OLD_GLIBC-}}"
packages="$(realpath -m -- "${2:-$checkout/build/packages}")"

leave_out() {
    echo "skipped: $1" >&2
    exit 77
}
[ -e "$libraries/ld-linux-x86-64.so.2" ] || leave_out "no folder with an old C library is named"
ball="$(compgen -G "$packages/leaktide-*-linux-x86_64.tar.gz")" || leave_out "no tar ball in $packages: ./package makes it"
compiler="$(dirname -- "$packages")/build/package/x86_64-compiler/cc"
[ -x "$compiler" ] || compiler="$(dirname -- "$packages")/package/x86_64-compiler/cc"
[ -x "$compiler" ] || leave_out "no compiler beside $packages: ./package fetches it"
[ "$(id -u)" -eq 0 ] || leave_out "only root makes a root file system"

root="$(mktemp -d)"
trap 'rm -rf -- "$root"' EXIT

mkdir -p "$root"/{bin,lib64,proc,dev,tmp,opt}
cp -L -- "$libraries"/*.so* "$root/lib64"
tar -C "$root/opt" -xzf "$ball"
mv -- "$root"/opt/leaktide-* "$root/opt/leaktide"
"$compiler" -O1 -g -fno-optimize-sibling-calls "$here/old_glibc.c" -o "$root/bin/threads" -lpthread
printf '%s\n' '#include <dirent.h>' '#include <stdio.h>' \
    'int main(void) { DIR *d = opendir("/"); for (struct dirent *e; (e = readdir(d));) puts(e->d_name); return closedir(d); }' |
    "$compiler" -O1 -x c - -o "$root/bin/ls"
python3 -m venv "$root/freezer" >/dev/null
"$root/freezer/bin/pip" install -q cx_Freeze 2>/dev/null || leave_out "cx_Freeze cannot be had"
cat >"$root/tmp/leak.py" <<END
kept = []
for turn in range(80):
    kept.append(bytearray(3000))
    scratch = [bytearray(500) for _ in range(10)]
END
(cd "$root/tmp" && "$root/freezer/bin/cxfreeze" --script leak.py --target-dir "$root/opt/python" --no-compress --silent) >/dev/null 2>&1
rm -rf -- "$root/freezer"

# inside COMMAND...: in the root, which has no other C library
inside() {
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --net /bin/bash -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
        mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" && exec env -i PATH=/bin:/usr/sbin HOME=/tmp chroot "$@"' inside "$root" "$@"
}

# expect TEXT NAME COMMAND...: the command succeeds, and says the text
expect() {
    local text="$1" name="$2" said status=0
    shift 2
    said="$(inside "$@" 2>&1)" || status=$?
    if [ "$status" -ne 0 ] || ! grep -q -e "$text" <<<"$said"; then
        printf '%s: exit status %s, without "%s":\n%s\n' "$name" "$status" "$text" "$said" >&2
        exit 1
    fi
    printf '%s: %s\n' "$name" "$(grep -m 1 -e "$text" <<<"$said")"
}

leaktide=/opt/leaktide/bin/leaktide
grep -a -o -m 1 'GNU C Library[^,]*version [0-9.]*' "$root/lib64/libc.so.6"
expect '. trial' doctor "$leaktide" doctor
expect 'LEAK.*leave (old_glibc.c:10)' threads "$leaktide" run -o /tmp/threads --device=cpu --call-stack=c -- /bin/threads
expect '; complete' info "$leaktide" info /tmp/threads
expect 'LEAK.*leak.py:3' Python "$leaktide" run -o /tmp/python --call-stack=python,c -- /opt/python/leak
expect 'leak.py:3' page "$leaktide" report /tmp/python
