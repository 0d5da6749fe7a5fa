#!/usr/bin/env bash
# A redis-server under load keeps what it was told.   redis_load.sh FOLDER-OF-REDIS
set -u
redis="$1"
socket="$WORK/redis.sock"
cli=("$redis/redis-cli" -s "$socket")

verdict() { # NUMBER NAME IS WANTED
    if [ "$3" = "$4" ]; then echo "ok $1 - $2 # $3"; else echo "not ok $1 - $2 # $3, not $4"; fi
}

cd "$WORK" || exit 1
"$redis/redis-server" --port 0 --unixsocket "$socket" --save '' --io-threads 4 \
    --appendonly yes --logfile "$WORK/log" &
server=$!
for ((tries = 0; tries < 200; tries++)); do
    "${cli[@]}" ping >/dev/null 2>&1 && break
    sleep 0.1
done

load=("$redis/redis-benchmark" -s "$socket" -q -c 50)
"${load[@]}" -n 20000 -P 8 incr counter >/dev/null 2>&1
verdict 1 "every increment counts" "$("${cli[@]}" get counter)" 20000
"${load[@]}" -n 20000 -P 8 rpush list element >/dev/null 2>&1
verdict 2 "every element is in the list" "$("${cli[@]}" llen list)" 20000
"${load[@]}" -n 5000 -t set,get,hset,zadd,spop -r 1000 -d 2000 >/dev/null 2>&1
verdict 3 "every load ends well" $? 0

"${cli[@]}" bgrewriteaof >/dev/null
for ((tries = 0; tries < 200; tries++)); do
    "${cli[@]}" info persistence | grep -q 'aof_rewrite_in_progress:0' && break
    sleep 0.1
done
verdict 4 "a forked child rewrites the log" \
    "$("${cli[@]}" info persistence | tr -d '\r' | grep aof_last_bgrewrite_status)" \
    aof_last_bgrewrite_status:ok
"${cli[@]}" debug loadaof >/dev/null
verdict 5 "the log says the same" "$("${cli[@]}" get counter) $("${cli[@]}" llen list)" "20000 20000"
"${cli[@]}" shutdown nosave >/dev/null 2>&1
wait "$server"
verdict 6 "the server ends when asked" $? 0
