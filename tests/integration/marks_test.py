"""A program that uses all of leaktide/tracer.h, from threads and across a fork.

Run as marks_test.py PROGRAM PRELOAD-LIBRARY [EVENT-DUMP].
"""

import sys
import unittest
from collections import Counter

import traced

PROGRAM = sys.argv[1]
TRACER = traced.Tracer(*sys.argv[2:])
IS_REAL = len(sys.argv) > 3
STEPS, THREADS, BLOCKS, BLOCK_BYTES = 3, 4, 1000, 256


class Marks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = TRACER.run([PROGRAM])
        if (done.status, done.output, done.errors) != (0, "traced\n", ""):
            raise AssertionError(done)
        cls.everything = done.events
        cls.events = [e for e in done.events if e.get("process", 0) == 0]

    def of(self, kind):
        return [e for e in self.events if e["event"] == kind]

    def test_nothing_happens_without_a_tracer(self):
        self.assertEqual(TRACER.run([PROGRAM], preload=False)[:3], (0, "not traced\n", ""))

    def test_steps_are_counted_and_closed(self):
        steps = [(e["event"], e["address"]) for e in self.events if e["event"].startswith("step_")]
        self.assertEqual(steps, [("step_begin", 1), ("step_end", 1), ("step_begin", 2),
                                 ("step_end", 2), ("step_begin", 3), ("step_end", 3)])

    def test_blocks_handed_between_threads_all_pair(self):
        live, allocs, strays, doubles = traced.live_blocks(self.events, "numbers")
        self.assertEqual((strays, doubles), (0, 0))
        self.assertEqual(len(allocs), STEPS * THREADS * BLOCKS + 1)
        self.assertEqual([(b["address"], b["size_bytes"], b["device"]) for b in live.values()],
                         [(0x10000000, BLOCK_BYTES, 1)])

    def test_site_of_a_block_is_the_caller(self):
        if IS_REAL:
            self.assertEqual(Counter(e["function"] for e in self.of("alloc")),
                             {"allocate": STEPS * THREADS * BLOCKS, "main": 1})

    def test_reserved_is_what_the_pool_says(self):
        self.assertEqual([(e["text"], e["size_bytes"], e["device"])
                          for e in self.of("pool_reserved")], [("numbers", 1 << 34, 1)] * STEPS)

    def test_ranges_and_tags_close(self):
        ranges = Counter(e["text"] for e in self.of("range_begin"))
        self.assertEqual(ranges, {"give back": STEPS * THREADS, "parent's": 1})
        self.assertEqual(sorted(e["address"] for e in self.of("range_begin")),
                         sorted(e["address"] for e in self.of("range_end")))
        self.assertEqual(Counter(e["text"] for e in self.of("tag_begin")),
                         {"odd": STEPS * 2, "even": STEPS * 2, "parent's": 1})
        self.assertEqual(len(self.of("tag_end")), STEPS * THREADS + 1)

    def test_mark_keeps_its_text(self):
        self.assertEqual([e["text"] for e in self.of("mark")], ['start "quoted"'])

    def test_child_has_a_trace_of_its_own(self):
        if not IS_REAL:
            return
        child = [e for e in self.everything if e["process"] == 1]
        self.assertEqual([e["text"] for e in child if e["event"] == "mark"], ["child"])
        self.assertEqual([(e["text"], e["device"]) for e in child if e["event"] == "alloc"],
                         [("child's", -1)])
        self.assertFalse([e for e in child if e["event"] in ("range_begin", "tag_begin")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
