# Sockets, timers and pipes in one event loop.
proc accept {channel address port} { puts $channel [string repeat x 1000]; close $channel }
set server [socket -server accept -myaddr 127.0.0.1 0]
set port [lindex [fconfigure $server -sockname] 2]
set got 0
for {set i 0} {$i < 50} {incr i} {
    set client [socket 127.0.0.1 $port]
    update
    incr got [string length [gets $client]]
    close $client
}
puts $got
after 50 {set done 1}
vwait done
puts [exec echo child | cat]
