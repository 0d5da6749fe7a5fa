"""The sample that leaks: does its trace hold the story that its README tells?

Run as sample_leak_test.py SAMPLE FOLDER-OF-FAKES PRELOAD-LIBRARY [EVENT-DUMP]. Devices that this
machine lacks are left out; the pool of the sample is always there.
"""

import sys
import unittest
from collections import Counter

import traced

SAMPLE = sys.argv[1]
FAKES = sys.argv[2]
TRACER = traced.Tracer(*sys.argv[3:])
IS_REAL = len(sys.argv) > 4
STEPS = 24
KIB, MIB = 1024, 1024 * 1024
POOLS = {"opencl": "opencl", "pool": "sample_pool", "ascend": "acl"}


def run(device, *options):
    return TRACER.run([SAMPLE, "--device", device, "--steps", str(STEPS), "--step-ms", "0",
                       *options],
                      variables={"LD_LIBRARY_PATH": FAKES} if device == "ascend" else None)


def survivors_of(events, pool):
    """What lives when the program ends: {function: (blocks, bytes)}."""
    live, _, strays, doubles = traced.live_blocks(events, pool)
    if strays or doubles:
        raise AssertionError("%d stray frees, %d double allocations" % (strays, doubles))
    found = {}
    for block in live.values():
        count, size_bytes = found.get(block["function"], (0, 0))
        found[block["function"]] = (count + 1, size_bytes + block["size_bytes"])
    return found


def live_at_step_ends(events, pool):
    """For each step, the bytes alive at its end by function."""
    live, ends = {}, []
    for event in events:
        if event["event"] == "step_end":
            ends.append(Counter())
            for block in live.values():
                ends[-1][block["function"]] += block["size_bytes"]
        elif event["text"] != pool:
            continue
        elif event["event"] == "alloc":
            live[event["address"]] = event
        elif event["event"] == "free":
            live.pop(event["address"], None)
    return ends


class Story:
    """Tests of one device; the classes below name it."""

    device = None

    def events(self, *options):
        done = run(self.device, *options)
        self.assertEqual(done.status, 0, done.errors)
        self.assertIn("trained", done.output)
        return done.events

    def ends(self, *options):
        return live_at_step_ends(self.events(*options), POOLS[self.device])

    def survivors(self, *options):
        return survivors_of(self.events(*options), POOLS[self.device])

    def test_leaks_unless_told_otherwise(self):
        self.assertEqual(self.survivors(), {"remember_metrics": (STEPS, STEPS * 192 * KIB)})

    def test_fixed_leaks_nothing(self):
        self.assertEqual(self.survivors("--fixed"), {})

    def test_leak_grows_by_the_same_in_each_step(self):
        ends = self.ends("--leak")
        self.assertEqual([end["remember_metrics"] for end in ends],
                         [192 * KIB * step for step in range(1, STEPS + 1)])

    def test_model_holds_the_same_at_each_step_end(self):
        ends = self.ends("--fixed")
        self.assertEqual(len(ends), STEPS)
        for end in ends:
            self.assertEqual(end, {"load_weights": 12 * MIB, "optimizer_step": 24 * MIB,
                                   "backward_layer": 12 * MIB, "fetch_batch": 768 * KIB})

    def test_slow_leak_leaks_now_and_then(self):
        self.assertEqual(self.survivors("--slow-leak", "5"), {"log_histogram": (5, 5 * 64 * KIB)})

    def test_cache_grows_and_stops(self):
        ends = self.ends("--cache")
        self.assertEqual([end["look_up_embedding"] for end in ends],
                         [512 * KIB * min(step, 12) for step in range(1, STEPS + 1)])
        self.assertEqual(self.survivors("--cache"), {})

    def test_sawtooth_rises_and_falls(self):
        ends = self.ends("--sawtooth")
        self.assertEqual([end["keep_prediction"] for end in ends],
                         [MIB * (step % 10 + 1) for step in range(STEPS)])
        self.assertEqual(self.survivors("--sawtooth"), {})

    def test_too_much_is_a_failed_request(self):
        events = self.events("--oom")
        failures = [(e["function"], e["size_bytes"]) for e in events
                    if e["event"] == "alloc_failed" and e["text"] == POOLS[self.device]]
        self.assertEqual(failures, [("ask_for_too_much", 1 << 45)])

    def test_steps_parts_and_owners_are_told(self):
        events = self.events()
        count = Counter((e["event"], e["text"]) for e in events)
        self.assertEqual(count["step_begin", ""], STEPS)
        self.assertEqual(count["step_end", ""], STEPS)
        for part in ("forward", "backward", "optimizer"):
            self.assertEqual(count["range_begin", part], STEPS)
        self.assertEqual(count["tag_begin", "model@weight"], 6)
        self.assertEqual(count["tag_begin", "optimizer@state"], 6)


class OnOpenCL(Story, unittest.TestCase):
    device = "opencl"

    @classmethod
    def setUpClass(cls):
        if TRACER.run([SAMPLE, "--device", "opencl", "--steps", "0"], preload=False).status:
            raise unittest.SkipTest("this machine has no OpenCL platform")


@unittest.skipUnless(IS_REAL, "the other tracer has no hooks of Ascend")
class OnFakeAscend(Story, unittest.TestCase):
    device = "ascend"

    def test_driver_says_the_same(self):
        """AscendCL asks the driver for 32 bytes more than the program asked for."""
        survivors = survivors_of(self.events(), "hal")
        self.assertEqual(list(survivors.values()), [(STEPS, STEPS * (192 * KIB + 32))])

    @unittest.skipUnless(IS_REAL, "the double keeps no layers")
    def test_the_driver_lays_memory_at_the_same_door_as_the_runtime(self):
        """halMemAlloc is called by the runtime, but it is the program that asked."""
        self.assertEqual(list(survivors_of(self.events(), "hal")), ["remember_metrics"])


class OnItsOwnPool(Story, unittest.TestCase):
    device = "pool"

    def test_small_blocks_keep_segments(self):
        events = self.events("--fragment")
        reserved = [e["size_bytes"] for e in events if e["event"] == "pool_reserved"]
        kept = survivors_of(events, "sample_pool")
        self.assertEqual(kept, {"shuffle_shards": (32, 32 * 700 * KIB)})
        self.assertGreater(reserved[-1], 5 * 32 * 700 * KIB)


class Command(unittest.TestCase):
    def test_wrong_use_is_one_line(self):
        for options in (["--steps", "many"], ["--device", "abacus"], ["--steps"]):
            done = TRACER.run([SAMPLE, *options], preload=False)
            self.assertEqual((done.status, len(done.errors.splitlines())), (1, 1), options)

    def test_untraced_it_runs_the_same(self):
        plain = TRACER.run([SAMPLE, "--device", "pool", "--steps", "3", "--oom"], preload=False)
        traced_run = TRACER.run([SAMPLE, "--device", "pool", "--steps", "3", "--oom"])
        self.assertEqual(plain[:3], traced_run[:3])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
