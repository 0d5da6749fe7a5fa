# SPDX-License-Identifier: Apache-2.0
"""What other settings would reserve: our model against a second one, on made-up programs.

Run as allocator_replay_test.py LEAKTIDE.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import recordings
from recordings import MIB, frame

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import allocator_replay

LEAKTIDE = sys.argv.pop(1)
SIZES = [0.001, 0.3, 1, 3, 7, 12, 20, 33, 64, 100]  # MiB


def program(seed, count=600):
    """Requests and frees in five phases, each with larger blocks than the one before."""
    chance = random.Random(seed)
    alive, number = [], 0
    for i in range(count):
        if alive and (chance.random() < 0.5 or len(alive) > 50):
            yield "free", alive.pop(chance.randrange(len(alive)))
        else:
            number += 1
            size = int(chance.choice(SIZES) * MIB * (1 + i * 5 // count * 0.3) * chance.random())
            yield "alloc", number, chance.randrange(2), size + 1
            alive.append(number)


def run(events, limit, path):
    """The program on a native allocator whose device has no more than limit; (events, snapshot)."""
    allocator, snapshot = allocator_replay.Allocator(False), recordings.Snapshot()
    taken, known, told = {}, set(), []
    for event in events:
        what, number, *request = event
        if what == "free":
            snapshot.free(0, taken[number][1].address, taken[number][2])
            allocator.give(taken.pop(number)[:2])
            told.append(event)
            continue
        if allocator.reserved + request[1] > limit:
            gone = allocator.empty()
            known.difference_update(gone)
            told += [("empty",)] if gone else []
            for address in gone:
                snapshot.segment_free(0, address)
        segment, chunk = allocator.take(*request)
        if segment.chunks[0].address not in known:
            known.add(segment.chunks[0].address)
            snapshot.segment(0, segment.chunks[0].address, sum(c.size for c in segment.chunks))
        snapshot.alloc(0, chunk.address, request[1], [frame("layer")], request[0])
        taken[number] = segment, chunk, request[1]
        told.append(event)
    snapshot.write(path)
    return told, allocator.peak


class Replays(unittest.TestCase):
    def rows(self, path):
        done = subprocess.run([LEAKTIDE, "frag", "--format=json", path],
                              stdout=subprocess.PIPE, check=False, timeout=100)
        tables = {table["name"]: table for table in json.loads(done.stdout)["tables"]}
        return {row["setting"]: row for row in tables["what_if"]["rows"]}

    def test_two_models_agree_to_the_byte(self):
        for seed in range(12):
            for limit_mib in (1 << 20, 700):
                with self.subTest(seed=seed, limit_mib=limit_mib), \
                        tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "snapshot.pickle")
                    events, peak = run(program(seed), limit_mib * MIB, path)
                    rows = self.rows(path)
                    other = rows["expandable_segments:True"]
                    gives_back = ("empty",) in events
                    self.assertEqual(rows["as it ran"]["reserved_peak_bytes"], peak)
                    self.assertEqual(other["reserved_peak_bytes"],
                                     allocator_replay.replay(events, True, True))
                    self.assertEqual(other["kept_peak_bytes"],
                                     allocator_replay.replay(events, True, False)
                                     if gives_back else None)
                    self.assertEqual(limit_mib == 700, gives_back)

    def test_advice_rests_on_the_larger_number(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "snapshot.pickle")
            events, peak = run(program(5), 900 * MIB, path)
            kept = allocator_replay.replay(events, True, False)
            given = allocator_replay.replay(events, True, True)
            self.assertLess(given, kept)
            done = subprocess.run([LEAKTIDE, "frag", path], capture_output=True, text=True,
                                  check=False, timeout=100)
        saving = next(line for line in done.stdout.splitlines() if "expandable_segments" in line)
        self.assertIn(f"would have reserved {kept / MIB:.0f} MiB of torch device 0, not "
                      f"{peak / MIB:.0f} MiB (as it ran, the model is 0.0 % off)", saving)


if __name__ == "__main__":
    unittest.main()
