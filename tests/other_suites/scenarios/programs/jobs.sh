#!/usr/bin/env bash
# Pipelines, background jobs, substitutions, descriptors and limits.
set -u
for ((i = 0; i < 40; i++)); do
    (exit $((i % 5))) &
    wait $!
    echo "$i $?"
done
exec 3>"$WORK/three" 4>&1
echo three >&3
exec 3>&-
cat "$WORK/three" <(echo substitution) - <<<"here" >&4
trap 'echo trapped' USR1
kill -USR1 $$
(ulimit -n 16 && seq 3 | while read -r line; do echo "$line"; done)
(ulimit -f 0; exit 5)
echo "limited to no file: $?"
(trap - TERM; kill -TERM "$BASHPID"; sleep 5)
echo "ended by a signal: $?"
exec <&-
cat </dev/null
ls "$WORK/nothing" 2>/dev/null
echo "$?"
