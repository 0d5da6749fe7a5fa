#!/usr/bin/env bash
# A postgres under load keeps its books.   postgres_load.sh FOLDER-OF-PROGRAMS
set -u
PATH="$1:$PATH"
export PGHOST="$WORK" PGDATABASE=postgres PGUSER=tester
data="$WORK/data"
clients=8
transactions=250 # of each client

verdict() { # NUMBER NAME IS WANTED
    if [ "$3" = "$4" ]; then echo "ok $1 - $2 # $3"; else echo "not ok $1 - $2 # $3, not $4"; fi
}

query() { psql -X -A -t -c "$1"; }

initdb --no-sync -A trust -U tester "$data" >/dev/null 2>&1
verdict 1 "initdb" $? 0
start() {
    pg_ctl -D "$data" -w -t 60 -l "$WORK/log" \
        -o "-c listen_addresses='' -c unix_socket_directories=$WORK -c fsync=off" start >/dev/null
}
start
verdict 2 "the server starts" $? 0
pgbench -i -s 2 -q >/dev/null 2>&1
verdict 3 "pgbench fills its tables" "$(query 'select count(*) from pgbench_accounts')" 200000
pgbench -n -c "$clients" -j 2 -t "$transactions" >"$WORK/bench" 2>&1
verdict 4 "pgbench ends well" $? 0
verdict 5 "every transaction is in the books" \
    "$(query 'select count(*) from pgbench_history')" $((clients * transactions))
verdict 6 "all sums are the same" "$(query '
    select (select sum(abalance) from pgbench_accounts) = (select sum(tbalance) from pgbench_tellers)
       and (select sum(tbalance) from pgbench_tellers) = (select sum(bbalance) from pgbench_branches)
       and (select sum(bbalance) from pgbench_branches) = (select sum(delta) from pgbench_history)')" t
pgbench -n -S -C -c "$clients" -j 2 -t 50 >/dev/null 2>&1
verdict 7 "a connection for each transaction" $? 0
verdict 8 "parallel workers" "$(PGOPTIONS='-c parallel_setup_cost=0 -c parallel_tuple_cost=0
    -c min_parallel_table_scan_size=0 -c max_parallel_workers_per_gather=4' \
    query 'select count(*), sum(aid), count(distinct bid) from pgbench_accounts')" \
    "200000|20000100000|2"
pg_ctl -D "$data" -m immediate stop >/dev/null
verdict 9 "the server stops at once" $? 0
start
verdict 10 "the server recovers" \
    "$(query 'select count(*) from pgbench_history')" $((clients * transactions))
pg_ctl -D "$data" -w -m fast stop >/dev/null
verdict 11 "the server ends when asked" $? 0
