"""Programs on the fake Ascend and CUDA stacks under the real tracer: the trace against the books.

Run as device_test.py FOLDER-OF-PROGRAMS FOLDER-OF-FAKES PRELOAD-LIBRARY EVENT-DUMP MSTX-PLUGIN
"""

import os
import sys
import tempfile
import unittest
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import traced  # noqa: E402

PROGRAMS, FAKES, LIBRARY = sys.argv[1:4]
TRACER = traced.Tracer(*sys.argv[3:5])
PLUGIN = sys.argv[5]
VIRTUAL, MAPPING = 1, 2
DEVICE, HOST = 1, 2
KIB, MIB = 1024, 1024 * 1024
STEPS = 5


def program(*words):
    return [os.path.join(PROGRAMS, words[0])] + list(words[1:])


def books_of(output):
    """What is left by pool and address, and bytes and blocks by device, as the program printed."""
    left, books, rest = {}, {}, []
    for line in output.splitlines():
        words = line.split()
        if words and words[0] == "left":
            left.setdefault(words[1], {})[int(words[2])] = int(words[3])
        elif words and words[0] == "books":
            books[int(words[1])] = (int(words[2]), int(words[3]))
        else:
            rest.append(line)
    return left, books, rest


def sums_of(live):
    """Bytes and blocks of each device."""
    sums = {}
    for event in live.values():
        size, count = sums.get(event["device"], (0, 0))
        sums[event["device"]] = (size + event["size_bytes"], count + 1)
    return sums


class DeviceTest(unittest.TestCase):
    def run_and_compare(self, words, ledger, options="", variables=None, strays=0):
        """The driver's ledger equals its books, the program's pool what the program holds."""
        command = program(*words)
        plain = TRACER.run(command, preload=False, variables=variables)
        done = TRACER.run(command, options=options, variables=variables)
        self.assertEqual((plain.status, done.status), (0, 0), done.output + done.errors)
        self.assertEqual(done.errors, plain.errors)
        left, books, rest = books_of(done.output)
        self.assertEqual(rest, books_of(plain.output)[2])
        live, allocs, stray, doubles = traced.live_blocks(done.events, ledger)
        self.assertEqual((stray, doubles), (strays, 0))
        self.assertEqual(sums_of(live), {n: b for n, b in books.items() if b[1]})
        for pool, blocks in left.items():
            live, _, stray, doubles = traced.live_blocks(done.events, pool)
            self.assertEqual({a: e["size_bytes"] for a, e in live.items()}, blocks)
            self.assertEqual((stray, doubles), (strays, 0))
        return done.events

    def check_steps(self, events):
        kinds = Counter(e["event"] for e in events)
        self.assertEqual((kinds["step_begin"], kinds["step_end"]), (STEPS, STEPS))
        self.assertEqual(kinds["operator_begin"], STEPS)
        allocs = Counter(e["text"] for e in events if e["event"] == "alloc")
        frees = Counter(e["text"] for e in events if e["event"] == "free")
        self.assertEqual(allocs["acl"], 1 + STEPS * (6 + 1 + 1))
        for pool in ("pta", "acl_host", "hal_host", "acl_virtual", "hal_virtual", "acl_mapping",
                     "hal_mapping"):
            self.assertEqual((pool, allocs[pool], frees[pool]), (pool, STEPS, STEPS))
        leaks = [e for e in events if e["event"] == "alloc" and e["text"] == "acl" and
                 e["size_bytes"] == 48 * KIB]
        self.assertEqual([e["function"] for e in leaks], ["forget_metrics"] * STEPS)
        failed = [(e["text"], e["size_bytes"], e["status"]) for e in events
                  if e["event"] == "alloc_failed"]
        self.assertEqual(failed, [("hal", (1 << 45) + 32, 6), ("acl", 1 << 45, 207001)])
        self.assertEqual([e["text"] for e in events if e["event"] == "device_event"],
                         ["aclInit", "aclrtSetDevice", "aclFinalize"])
        reserved = [e["size_bytes"] for e in events if e["event"] == "pool_reserved"]
        self.assertEqual(reserved, [8 * MIB])  # told twice a step, and always the same

    def test_linked_program(self):
        self.check_steps(self.run_and_compare(["ascend_linked"], "hal", strays=1))

    def test_program_linked_with_the_old_name(self):
        self.check_steps(self.run_and_compare(["ascend_linked_old"], "hal", strays=1))

    def test_library_loaded_for_itself_only(self):
        plugin = os.path.join(PROGRAMS, "ascend_plugin.so")
        self.check_steps(self.run_and_compare(["ascend_plugin_host", plugin], "hal", strays=1))

    def test_mstx_is_injected_once_when_named_too(self):
        events = self.run_and_compare(["ascend_linked"], "hal", strays=1,
                                      variables={"MSTX_INJECTION_PATH": LIBRARY})
        self.check_steps(events)

    def test_mstx_by_its_path_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run")
            done = TRACER.run(program("ascend_linked"), preload=False, variables={
                "MSTX_INJECTION_PATH": PLUGIN, "LEAKTIDE_OPTIONS": "--output-path=" + run})
            self.assertEqual((done.status, done.errors), (0, ""))
            events = TRACER.events(run)
        alone = Counter((e["event"], e["text"]) for e in events)
        preloaded = Counter((e["event"], e["text"])
                            for e in self.run_and_compare(["ascend_linked"], "hal", strays=1)
                            if not (e["text"] or "").startswith(("acl", "hal")))
        not_sampled = {key: count for key, count in alone.items() if key[0] != "sample"}
        self.assertEqual(not_sampled, {key: preloaded[key] for key in not_sampled})
        self.assertEqual(alone[("alloc", "pta")], STEPS)
        self.assertEqual(alone[("free", "pta")], STEPS)

    def test_mstx_by_path_and_preload_is_recorded_once(self):
        self.check_steps(self.run_and_compare(["ascend_linked"], "hal", strays=1,
                                              variables={"MSTX_INJECTION_PATH": PLUGIN}))

    def test_devices_are_those_of_the_machine(self):
        events = self.run_and_compare(["ascend_linked"], "hal", strays=1,
                                      variables={"ASCEND_RT_VISIBLE_DEVICES": "2,3"})
        for pool in ("hal", "acl", "pta"):
            devices = {e["device"] for e in events if e["event"] == "alloc" and e["text"] == pool}
            self.assertEqual((pool, devices), (pool, {2}))

    def test_launches_are_recorded_when_asked_for(self):
        events = self.run_and_compare(["ascend_linked"], "hal", strays=1,
                                      options="--events=alloc,free,launch")
        launches = [e["text"] for e in events if e["event"] == "launch"]
        self.assertEqual(launches, ["add_kernel"] * STEPS)

    def test_free_memory_of_the_device_is_sampled(self):
        events = self.run_and_compare(["ascend_linked"], "hal", strays=1,
                                      variables={"STEP_PAUSE_MS": "100"})
        used = [e["size_bytes"] for e in events
                if e["event"] == "sample" and e["text"] == "npu used" and e["device"] == 0]
        total = {e["size_bytes"] for e in events
                 if e["event"] == "sample" and e["text"] == "npu free" and e["device"] == 0}
        for step in range(1, STEPS + 1):
            held = 8 * MIB + 32 + step * (48 * KIB + 32)  # the runtime asks for 32 bytes more
            self.assertIn(held, used)
            self.assertIn((64 << 30) - held, total)

    def test_functions_looked_up_on_handles(self):
        """As torch_npu and CUDA's static runtime do it."""
        command = program("by_handle", os.path.join(FAKES, "libacl_rt.so"),
                          os.path.join(FAKES, "libcuda.so.1"))
        plain = TRACER.run(command, preload=False)
        done = TRACER.run(command)
        self.assertEqual((plain.status, done.status), (0, 0), done.output)
        for pool, blocks in books_of(done.output)[0].items():
            live, _, stray, doubles = traced.live_blocks(done.events, pool)
            self.assertEqual({a: e["size_bytes"] for a, e in live.items()}, blocks)
            self.assertEqual((stray, doubles), (0, 0))
        # dlsym(RTLD_NEXT) still knows who asks: after the program comes what is preloaded.
        self.assertRegex(plain.errors, "^malloc of libc")
        self.assertEqual(done.errors, "malloc of libascend_kernel_hook.so\n")

    def test_functions_called_by_ctypes(self):
        source = ("import ctypes, sys\n"
                  "hal = ctypes.CDLL(sys.argv[1])\n"
                  "block = ctypes.c_void_p()\n"
                  "size = ctypes.c_ulonglong(4096)\n"
                  "for i in range(3):\n"
                  "    assert hal.halMemAlloc(ctypes.byref(block), size, ctypes.c_ulonglong(1026)) == 0\n"
                  "assert hal.halMemFree(block) == 0\n")
        done = TRACER.run([sys.executable, "-c", source, os.path.join(FAKES, "libascend_hal.so")])
        self.assertEqual((done.status, done.errors), (0, ""))
        live, allocs, stray, _ = traced.live_blocks(done.events, "hal")
        self.assertEqual((len(live), len(allocs), stray), (2, 3, 0))
        self.assertEqual({(e["device"], e["kind"], e["size_bytes"]) for e in allocs},
                         {(2, DEVICE, 4096)})

    def test_calls_in_no_sensible_order(self):
        for seed in range(1, 6):
            done = TRACER.run(program("chaos", str(seed), "20000"))
            plain = TRACER.run(program("chaos", str(seed), "20000"), preload=False)
            self.assertEqual((done.status, done.output), (0, plain.output))
            _, books, rest = books_of(done.output)
            live, _, _, doubles = traced.live_blocks(done.events, "hal")
            self.assertEqual((seed, doubles), (seed, 0))
            self.assertEqual((seed, sums_of(live)), (seed, {n: b for n, b in books.items() if b[1]}))
            ranges, mappings = (len(traced.live_blocks(done.events, pool)[0])
                                for pool in ("hal_virtual", "hal_mapping"))
            self.assertEqual(rest, ["counts %d %d" % (ranges, mappings)])

    def test_threads_that_free_the_blocks_of_others(self):
        events = self.run_and_compare(["ascend_threads", "5000"], "hal")
        self.assertEqual(sum(e["event"] == "alloc" and e["text"] == "acl" for e in events),
                         4 * 5000)

    def test_a_device_that_runs_full(self):
        done = TRACER.run(program("ascend_linked"), variables={"FAKE_ASCEND_MEMORY": str(4 * MIB)})
        self.assertNotEqual(done.status, 0)
        failed = [e for e in done.events if e["event"] == "alloc_failed"]
        self.assertEqual({(e["text"], e["status"]) for e in failed},
                         {("hal", 6), ("acl", 207001)})

    def test_program_without_a_runtime(self):
        done = TRACER.run(program("ascend_absent"))
        self.assertEqual((done.status, done.errors), (0, ""))
        answers = dict(line.split() for line in done.output.splitlines())
        self.assertEqual({answers[name] for name in answers if name.startswith("hal")}, {"65534"})
        self.assertEqual({answers[name] for name in answers if name.startswith(("acl", "rt"))},
                         {"207000"})
        # "Not initialised", or "driver insufficient" where a real CUDA runtime is installed.
        self.assertLessEqual({answers[name] for name in answers if name.startswith("cu")},
                             {"3", "35"})
        self.assertEqual(len(answers), 16)
        self.assertEqual([e for e in done.events if e["event"] == "alloc"], [])

    def test_program_without_a_device(self):
        done = TRACER.run(["true"])
        self.assertEqual((done.status, done.output, done.errors), (0, "", ""))

    def test_cuda_program(self):
        events = self.run_and_compare(["cuda_linked"], "cuda")
        allocs = Counter(e["text"] for e in events if e["event"] == "alloc")
        self.assertEqual(allocs, Counter({
            "cuda": 9, "cudart": 6, "cuda_async": 3, "cudart_async": 3, "cuda_host": 3,
            "cudart_host": 3, "cuda_virtual": 3, "cuda_mapping": 3}))
        leaks = [e["function"] for e in events if e["event"] == "alloc" and
                 e["text"] == "cudart" and e["size_bytes"] == 48 * KIB]
        self.assertEqual(leaks, ["forget_buffer"] * 3)

    def test_torch_program(self):
        """Every tensor, on devices, on the host and in mappings, also while a profiler runs."""
        events = self.run_and_compare(["torch_linked"], "torch", options="--device=gpu,cpu")
        allocs = [e for e in events if e["event"] == "alloc" and e["text"] == "torch"]
        self.assertEqual(Counter(e["device"] for e in allocs), Counter({0: 18, 1: 18}))
        self.assertEqual({e["kind"] for e in allocs}, {DEVICE})
        leaks = [e for e in events if e["event"] == "alloc" and e["text"] == "torch_cpu" and
                 e["size_bytes"] == 40 * KIB and e["function"] == "fake_c10_host_alloc"]
        self.assertEqual(len(leaks), 12)
        self.assertEqual([(e["text"], e["size_bytes"], e["device"]) for e in events
                          if e["event"] == "alloc_failed"], [("torch", 8 * MIB, 1), ("pta", 902 * MIB, 1), ("host", 1 << 50, -1),
                                                               ("torch_cpu", 1 << 50, -1)])
        reserved = {}
        for event in events:
            if event["event"] == "pool_reserved":
                self.assertEqual(event["text"], "torch")
                reserved.setdefault(event["device"], []).append(event["size_bytes"])
        self.assertEqual(reserved, {0: [2 * MIB], 1: [2 * MIB]})

    def test_torch_on_the_host_only(self):
        done = TRACER.run(program("torch_linked"), options="--device=cpu")
        self.assertEqual(Counter(e["text"] for e in done.events if e["event"] == "alloc" and
                                 (e["text"] or "").startswith("torch")), Counter({"torch_cpu": 19}))
        done = TRACER.run(program("torch_linked"), options="--device=gpu")
        self.assertEqual(Counter(e["text"] for e in done.events if e["event"] == "alloc" and
                                 (e["text"] or "").startswith("torch")), Counter({"torch": 36}))

    def operators_of(self, words):
        done = TRACER.run(program(*words), options="--device=npu")
        self.assertEqual((done.status, done.errors), (0, ""))
        return done.events

    def test_operators_of_torch(self):
        """Of a library that the program opens: they nest, on each thread, under their full names."""
        words = ["torch_operators", os.path.join(FAKES, "libc10.so"),
                 os.path.join(FAKES, "libtorch_cpu.so")]
        events = self.operators_of(words)
        ran = [(e["event"], e["text"]) for e in events if e["event"].startswith("operator")]
        self.assertEqual(ran[:8], [
            ("operator_begin", "Optimizer.step#SGD.step"), ("operator_begin", "aten::add.Tensor"),
            ("operator_begin", "aten::empty"), ("operator_end", "aten::empty"),
            ("operator_end", "aten::add.Tensor"), ("operator_end", "Optimizer.step#SGD.step"),
            ("operator_begin", "AddBackward0"), ("operator_end", "AddBackward0")])
        self.assertEqual(len(ran), 10)
        self.assertEqual({len(name) for _, name in ran[8:]}, {255})
        self.assertFalse([e for e in events if e["event"] == "note"])

    def python_program_of_torch(self, *words):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_program.py")
        done = TRACER.run([sys.executable, "-S", path, FAKES, *words], options="--device=npu")
        self.assertEqual((done.status, done.errors), (0, ""))
        return done

    def test_owners_of_torch(self):
        """Weights and state once, gradients after each step; the hook is there once, when the import is over."""
        done = self.python_program_of_torch()
        self.assertEqual(done.output, "1\n")
        owners = [(e["address"], e["text"]) for e in done.events if e["event"] == "block_owner"]
        self.assertEqual(owners, [(1024, "model@weight"), (2048, "model@gradient"), (4096, "model@optimizer_state"),
                                  (8192, "model@weight"), (2048, "model@gradient")])
        self.assertFalse([e for e in done.events if e["event"] == "note" and e["text"] == "PyTorch"])
        self.assertEqual(sum(e["event"] == "operator_begin" for e in done.events), 104)

    def test_owners_of_an_unknown_torch(self):
        done = self.python_program_of_torch("without-optimizers")
        self.assertEqual(done.output, "0\n")
        self.assertEqual([e["text"] for e in done.events if e["event"] == "note" and e["text"] == "PyTorch"], ["PyTorch"])
        self.assertEqual(sum(e["event"] == "operator_begin" for e in done.events), 104)

    def test_operators_of_an_unknown_torch(self):
        """Another interface of its observers, perhaps: it is left alone, and that is said."""
        events = self.operators_of(["torch_operators", os.path.join(FAKES, "libtorch_cpu.so")])
        self.assertFalse([e for e in events if e["event"].startswith("operator")])
        self.assertEqual([e["text"] for e in events if e["event"] == "note"], ["PyTorch"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
