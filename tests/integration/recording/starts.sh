#!/bin/bash
# Programs with a sanitizer that a recorded program starts, in every way there is.
#
#   starts.sh LEAKTIDE PROGRAMS FOLDER-OF-SANITIZED-PROGRAMS
set -u
leaktide=$1
starts=$2/starts
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

complain() {
    echo "$*"
    failed=1
}

# recorded COMMAND...: the output of both kinds
recorded() {
    rm -rf "$folder/run"
    "$leaktide" run --quiet --no-report --device=npu,cpu -o "$folder/run" -- "$@" 2>&1
}

for sanitizer in asan tsan; do
    program=$3/under_$sanitizer
    [ -x "$program" ] || continue
    printf '#! %s\n' "$program" >"$folder/script"
    chmod +x "$folder/script"
    for way in execve execv execvp execvpe execl execlp execle fexecve execveat execveat-file \
        posix_spawn posix_spawnp vfork system; do
        said=$(recorded "$starts" $way "$program")
        [ "$said" = fine ] || complain "$sanitizer by $way: $said"
    done
    for way in execve execvp posix_spawnp system; do
        said=$(recorded "$starts" $way "$folder/script")
        case $said in *fine) ;; *) complain "$sanitizer script by $way: $said" ;; esac
    done
    said=$(recorded sh -c "$program; cd '$3' && ./under_$sanitizer && PATH=. && under_$sanitizer")
    [ "$said" = "$(printf 'fine\nfine\nfine')" ] || complain "$sanitizer from a shell: $said"
done

# What is preloaded, as a program sees it: with the runtime in front where that is needed, without it
# in what the program starts in turn, and what the user preloads stays.
plain=$(recorded sh -c 'printenv LD_PRELOAD')
if [ -x "$3/under_asan" ]; then
    said=$(recorded sh -c "'$3/under_asan' preload")
    case $said in libasan.so*::"$plain") ;; *) complain "in a program with asan: $said" ;; esac
    said=$(recorded sh -c "'$3/under_asan' shell 'printenv LD_PRELOAD; :'")
    [ "$said" = "$plain" ] || complain "below a program with asan: $said, not $plain"
    said=$(recorded "$3/under_asan" shell 'printenv LD_PRELOAD; :')
    [ "$said" = "$plain" ] || complain "below a program with asan, at once: $said, not $plain"
    said=$(recorded "$starts" execve "$3/under_asan" bad)
    case $said in *heap-use-after-free*) ;; *) complain "the bad program: $said" ;; esac
fi
# shellcheck disable=SC2016 # the inner shell's
said=$(recorded sh -c 'LD_PRELOAD=libm.so.6:$LD_PRELOAD; exec sh -c "printenv LD_PRELOAD"')
[ "$said" = "libm.so.6:$plain" ] || complain "the user's list: $said"
said=$(recorded sh -c 'exec env -i sh -c "printenv LD_PRELOAD; echo nothing"')
[ "$said" = nothing ] || complain "an empty environment: $said"

said=$(recorded "$starts" errors /no/such/program) || complain "errors: $said"

# Too large an environment to be changed: programs start as they would.
said=$(for i in $(seq 4000); do export "variable_$i=$i"; done
    recorded "$starts" execv "$(command -v printenv)" variable_4000)
[ "$said" = 4000 ] || complain "a large environment: $said"
exit $failed
