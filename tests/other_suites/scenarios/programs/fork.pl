# Children that answer through pipes, and a signal handler.
use strict;
use warnings;
my @lines;
for my $index (1 .. 8) {
    open(my $child, '-|') // die "fork: $!" or do { print join(',', sort { $b <=> $a } map { ($_ * 7919) % 10007 } 1 .. 5000), "\n"; exit 0 };
    push @lines, scalar <$child>;
    close $child;
}
my $alarms = 0;
local $SIG{USR1} = sub { $alarms++ };
kill USR1 => $$ for 1 .. 100;
print scalar(@lines), " ", length($lines[0]), " ", ($alarms > 0 ? "signalled" : "silent"), "\n";
print `echo child`;
