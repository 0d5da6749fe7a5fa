#!/usr/bin/env bash
# The aarch64 tar ball in an emulated machine with Debian's kernel: there other processes are seen as they are, which
# an emulator of programs does not show.
#
#   tests/install/aarch64_machine.sh [PACKAGES] [CACHE]
#
# PACKAGES is what ./package made (build/packages); CACHE (~/.cache/leaktide-roots) gets Debian 12 and the kernel. A
# Python program is recorded by the consumer and its leak found at its line; a running one gets its account. Exit
# status 77: no packages, no emulator (qemu-system-arm, busybox-static), or not root. Takes 3 minutes.
set -eu -o pipefail
here="$(dirname -- "$(realpath -- "$0")")"
checkout="$(dirname -- "$(dirname -- "$here")")"
packages="$(realpath -m -- "${1:-$checkout/build/packages}")"
cache="$(realpath -m -- "${2:-${XDG_CACHE_HOME:-$HOME/.cache}/leaktide-roots}")"

ball="$(compgen -G "$packages/leaktide-*-linux-aarch64.tar.gz")" || { echo "skipped: no tar ball in $packages" && exit 77; }
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root makes a root file system" && exit 77; }
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
mkdir -p "$cache"
python3 -B -c 'import sys; sys.path.insert(0, sys.argv[1]); import roots; roots.make_root(sys.argv[2], "bookworm", "arm64")' \
    "$here" "$cache"
tar -C "$work" -xzf "$ball"
mv -- "$work"/leaktide-* "$work/leaktide"
cat >"$work/inside" <<'END'
cd "$(dirname "$0")" || exit 1
leaktide=$PWD/leaktide/bin/leaktide
cd /tmp || exit 1
uname -mr
cat >leak.py <<'PYTHON'
kept = []
for turn in range(80):
    kept.append(bytearray(3000))
    scratch = [bytearray(500) for _ in range(10)]
PYTHON
"$leaktide" run -o first.leaktide -- /usr/bin/python3 leak.py
"$leaktide" info first.leaktide | head -n 1
"$leaktide" doctor | tail -n 1
/usr/bin/python3 -c 'import time; kept = [bytearray(1000) for _ in range(100000)]; time.sleep(300)' >/dev/null 2>&1 &
sleep 10
"$leaktide" account $! | head -n 12
kill $!
END
"$checkout/tests/virtual_machine/run" --aarch64="$cache/bookworm-arm64" --with="$work" "$cache/machine" \
    bash "$work/inside" >"$work/said" || { cat -- "$work/said" && exit 1; }
for text in 'aarch64' 'LEAK: .*leak.py:3' '; complete' 'by python'; do
    grep -m 1 -e "$text" -- "$work/said" || { cat -- "$work/said" && echo "not said: $text" && exit 1; }
done
