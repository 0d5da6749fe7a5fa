"""OpenCL programs under the hooks, the layer, and both: what is recorded, and what stays.

Run as opencl_test.py FOLDER-OF-PROGRAMS LAYER-LIBRARY PRELOAD-LIBRARY [EVENT-DUMP]; exits with 77
when this machine has no OpenCL platform.
"""

import os
import sys
import unittest

import traced

PROGRAMS, LAYER = sys.argv[1:3]
TRACER = traced.Tracer(*sys.argv[3:])
NO_PLATFORM = 77
VIEW, REGISTERED = 16, 8
DEVICE, HOST, SHARED = 1, 2, 3
KIB = 1024

LINKED = [os.path.join(PROGRAMS, "opencl_linked")]
BY_POINTER = [os.path.join(PROGRAMS, "opencl_pointers")]
PLUGIN = [os.path.join(PROGRAMS, "opencl_plugin_host"), os.path.join(PROGRAMS, "opencl_plugin.so")]


def run(program, preload=True, layer=False):
    """Status, output without the lines of handles, the handles left, and the events."""
    done = TRACER.run(program, preload=preload, layer=LAYER if layer else None)
    lines = (done.output + done.errors).splitlines()
    left = {int(line.split()[1]): int(line.split()[2]) for line in lines if line.startswith("left ")}
    output = [line for line in lines if not line.startswith("left ")]
    return done.status, output, left, done.events


class Programs(unittest.TestCase):
    def check(self, program, preload=True, layer=False):
        status, output, left, events = run(program, preload, layer)
        plain_status, plain_output, plain_left, _ = run(program, preload=False, layer=False)
        self.assertEqual((status, output), (plain_status, plain_output))
        self.assertEqual(list(left.values()), list(plain_left.values()))
        live, allocs, strays, doubles = traced.live_blocks(events, "opencl")
        self.assertEqual({address: event["size_bytes"] for address, event in live.items()}, left)
        self.assertEqual((strays, doubles), (0, 0))
        self.check_allocs(allocs)
        self.check_failures(events)
        return events

    def check_allocs(self, allocs):
        def of(function):
            found = [a for a in allocs if a["function"] == function]
            self.assertEqual({a["device"] for a in found}, {0})
            return sorted((a["size_bytes"], a["kind"], a["flags"]) for a in found)

        self.assertEqual(of("use_activations"), [(256 * KIB, DEVICE, 0)] * 5)
        self.assertEqual(of("forget_metrics"), [(48 * KIB, DEVICE, 0)])
        self.assertEqual(of("use_shared_memory"), [(8 * KIB, SHARED, 0)] * 10)
        self.assertEqual(of("use_host_memory"),
                         [(4 * KIB, HOST, 0)] * 5 + [(4 * KIB, HOST, REGISTERED)] * 5)
        views = of("use_views")
        self.assertEqual([v for v in views if v[2] == 0], [(64 * KIB, DEVICE, 0)] * 5)
        self.assertEqual([v for v in views if v[2] == VIEW and v[0] == 16 * KIB],
                         [(16 * KIB, DEVICE, VIEW)] * 5)
        for size_bytes, _, _ in of("use_image"):
            self.assertGreaterEqual(size_bytes, 128 * 64 * 4)

    def check_failures(self, events):
        failures = [e for e in events if e["event"] == "alloc_failed"]
        self.assertEqual([(e["function"], e["size_bytes"]) for e in failures],
                         [("ask_for_too_much", 1 << 46), ("ask_for_too_much", 0)])
        self.assertEqual(failures[0]["status"], -61)  # CL_INVALID_BUFFER_SIZE

    def test_linked_program_is_recorded_by_preload(self):
        events = self.check(LINKED)
        self.assertEqual(sum(e["event"] == "step_begin" for e in events), 5)
        self.assertEqual([e["text"] for e in events if e["event"] == "device_event"],
                         ["clCreateContext"])

    def test_program_with_both_is_recorded_once(self):
        self.check(LINKED, layer=True)

    def test_library_loaded_locally_is_recorded(self):
        self.check(PLUGIN)

    def test_function_pointers_are_recorded_by_the_layer(self):
        self.check(BY_POINTER, layer=True)

    def test_function_pointers_pass_the_preload_by(self):
        _, _, _, events = run(BY_POINTER)
        self.assertEqual([e for e in events if e["text"] == "opencl"], [])

    def test_layer_without_a_tracer_changes_nothing(self):
        for program in (LINKED, BY_POINTER):
            plain = run(program, preload=False)
            layered = run(program, preload=False, layer=True)
            self.assertEqual(layered[:2], plain[:2])
            self.assertEqual(layered[3], [])


if __name__ == "__main__":
    if run(LINKED, preload=False)[0] == NO_PLATFORM:
        print("skipped: this machine has no OpenCL platform (install pocl-opencl-icd)")
        sys.exit(NO_PLATFORM)
    unittest.main(argv=sys.argv[:1], verbosity=2)
