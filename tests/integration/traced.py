"""Runs programs under a tracer and reads back what it recorded, for the tests written in Python.

There are two tracers: the real one, whose trace is read by event_dump, and the one of
tests/support that writes what it is told as JSON lines. Both give the same events.
"""

import bisect
import functools
import json
import os
import subprocess
import tempfile
from collections import namedtuple

# What `run` records on a machine with an accelerator: on others it takes the host heap too.
DEVICES_ONLY = ("--device=npu,gpu,opencl", "--call-stack=c")
OURS = ("LD_PRELOAD", "OPENCL_LAYERS", "LEAKTIDE_OPTIONS", "MT_DOUBLE_OUTPUT",
        "MSTX_INJECTION_PATH")

Done = namedtuple("Done", "status output errors events")


@functools.lru_cache(maxsize=None)
def symbols_of(module):
    """Start addresses, and names, of the functions of an object, sorted."""
    listed = subprocess.run(["nm", "--defined-only", "--format=posix", module],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            universal_newlines=True).stdout
    functions = sorted((int(words[2], 16), words[0])
                       for words in map(str.split, listed.splitlines())
                       if len(words) > 2 and words[1] in "tTwW")
    return [address for address, _ in functions], [name for _, name in functions]


def function_at(module, address):
    """The function before whose end a call returns to address."""
    addresses, names = symbols_of(module)
    index = bisect.bisect_left(addresses, address) - 1
    return names[index] if index >= 0 else ""


class Tracer:
    """event_dump None: library writes JSON lines itself."""

    def __init__(self, library, event_dump=None):
        self.library = library
        self.event_dump = event_dump

    def run(self, program, options="", preload=True, layer=None, variables=None, timeout_s=120):
        env = {name: value for name, value in os.environ.items() if name not in OURS}
        env.update(variables or {})
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "run")
            if preload:
                env["LD_PRELOAD"] = self.library
                env["MT_DOUBLE_OUTPUT"] = output
                env["LEAKTIDE_OPTIONS"] = "--output-path=%s %s" % (output, options)
            if layer:
                env["OPENCL_LAYERS"] = layer
            done = subprocess.run(program, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  universal_newlines=True, timeout=timeout_s)
            events = self.events(output) if os.path.exists(output) else []
        return Done(done.returncode, done.stdout, done.stderr, events)

    def events(self, output):
        if not self.event_dump:
            with open(output) as lines:
                return [json.loads(line) for line in lines]
        text = subprocess.run([self.event_dump, output], check=True, stdout=subprocess.PIPE,
                              universal_newlines=True).stdout
        events = [json.loads(line) for line in text.splitlines()]
        summary = events.pop()
        if summary["lost"]:
            raise AssertionError("%d events lost" % summary["lost"])
        for event in events:
            event["function"] = (function_at(event["module"], event["module_address"])
                                 if "module" in event else "")
        return events


def live_blocks(events, pool):
    """Blocks that live at the end, all allocations, frees of nothing, allocations of live ones."""
    live, allocs, strays, doubles = {}, [], 0, 0
    for event in events:
        if event["text"] != pool:
            continue
        if event["event"] == "alloc":
            doubles += event["address"] in live
            live[event["address"]] = event
            allocs.append(event)
        elif event["event"] == "free":
            strays += live.pop(event["address"], None) is None
    return live, allocs, strays, doubles
