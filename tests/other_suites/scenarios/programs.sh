#!/usr/bin/env bash
# Runtimes and encoders: same status, same answer. Each program is a small one in programs/, or what
# its language brings along; what is not installed is left out.
set -u
programs="$HERE/scenarios/programs"
number=0

# answer NAME NEEDS COMMAND...: one line with the sum of what it prints
answer() {
    local name="$1" needs="$2" sum status
    shift 2
    number=$((number + 1))
    if ! command -v "$needs" >/dev/null; then
        echo "# $name: no $needs here"
        return
    fi
    sum="$("$@" 2>"$WORK/$number.log" </dev/null | sha256sum | cut -c 1-16; exit "${PIPESTATUS[0]}")"
    status=$?
    if [ "$status" -eq 0 ]; then
        echo "ok $number - $name # $sum"
    else
        echo "not ok $number - $name # status $status: $(tail -n 1 "$WORK/$number.log")"
    fi
}

ffmpeg_sum() { # CODEC OPTION...: of what an encoder with threads makes of a test picture and sound
    local codec="$1"
    shift
    ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=320x240:rate=25:duration=3 \
        -f lavfi -i sine=frequency=440:duration=3 -c:v "$codec" -threads 4 "$@" -c:a flac \
        -flags +bitexact -fflags +bitexact -f framemd5 -
}

cgo() {
    mkdir -p "$WORK/cgo" && cp "$programs/threads.go" "$WORK/cgo/main.go" && cd "$WORK/cgo" &&
        GO111MODULE=off GOCACHE="$WORK/gocache" go build -o threads main.go && ./threads
}

compiled() { # COMPILER...: compilers are large programs; what they made must run
    "$@" -O2 -o "$WORK/compiled" "$programs/sums.c" -pthread && "$WORK/compiled"
}

answer "ffmpeg mpeg4" ffmpeg ffmpeg_sum mpeg4
# With a constant quantizer: its rate control makes other sums from run to run where threads wait.
answer "ffmpeg x264" ffmpeg ffmpeg_sum libx264 -preset fast -qp 28
answer "ffmpeg vp9" ffmpeg ffmpeg_sum libvpx-vp9 -cpu-used 8 -deadline realtime -row-mt 1
answer "java threads" javac java "$programs/Threads.java"
answer "go with cgo" go cgo
answer "ruby fibers, threads, fork" ruby ruby "$programs/threads.rb"
answer "php generators and references" php php "$programs/cycles.php"
answer "node workers, zlib, spawn" node node "$programs/workers.js"
answer "perl fork and sort" perl perl "$programs/fork.pl"
answer "lua coroutines" lua5.4 lua5.4 "$programs/coroutines.lua"
answer "tcl events" tclsh tclsh "$programs/events.tcl"
answer "gcc" gcc compiled gcc
answer "clang" clang compiled clang
answer "git" git bash "$programs/repository.sh"
answer "sqlite3" sqlite3 sqlite3 :memory: ".read $programs/tables.sql"
answer "xz, gzip, zstd" zstd bash "$programs/packers.sh"
answer "sort with threads" sort bash -c 'seq 300000 | sort -R --random-source=<(yes) | sort --parallel=4 -n'
answer "a shell with jobs" bash bash "$programs/jobs.sh"
