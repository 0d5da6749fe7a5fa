#!/usr/bin/env bash
# Every script parses; shellcheck, where there is one, agrees with those of bash.
set -u
status=0
mapfile -t scripts < <(
    grep -rlIE '^#!(/usr/bin/env |/bin/)(ba)?sh' --exclude-dir=build --exclude-dir=.git . | sort
)
[ "${#scripts[@]}" -gt 0 ] || exit 1
for script in "${scripts[@]}"; do
    bash -n "$script" || status=1
done
if command -v shellcheck >/dev/null; then
    shellcheck -x "${scripts[@]}" || status=1
fi
if command -v python3 >/dev/null; then
    find . -path ./build -prune -o -name '*.py' -print0 | xargs -0 -r python3 -c '
import ast, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        ast.parse(file.read(), name)' || status=1
fi
exit "$status"
