<?php
// Generators, and cycles that only the collector finds.
function squares($count) { for ($i = 0; $i < $count; $i++) { yield $i * $i; } }
$sum = 0;
foreach (squares(100000) as $square) { $sum += $square % 7; }
echo $sum, "\n";
for ($i = 0; $i < 50000; $i++) {
    $one = new stdClass;
    $other = new stdClass;
    $one->other = $other;
    $other->one = $one;
    $one->text = str_repeat("x", $i % 100);
}
gc_collect_cycles();
echo preg_replace_callback('/\d+/', fn($m) => $m[0] * 2, "1 22 333"), "\n";
echo md5(json_encode(range(1, 10000))), "\n", shell_exec("echo child");
exit(0);
