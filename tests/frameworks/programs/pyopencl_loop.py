"""PyOpenCL on PoCL: a loop that nobody marked. Each turn keeps a copy of an array, 256 KiB; with MENDED=1 only the newest two."""
import collections
import os

import numpy
import pyopencl
import pyopencl.array
import pyopencl.tools

kept = collections.deque(maxlen=2 if os.environ.get("MENDED") else None)
context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices())
queue = pyopencl.CommandQueue(context)
pool = pyopencl.tools.MemoryPool(pyopencl.tools.ImmediateAllocator(queue))


def remember(array):
    kept.append(array.copy())  # the leak


for _ in range(120):
    scratch = pyopencl.array.empty(queue, (1 << 18,), numpy.float32, allocator=pool)
    scratch.fill(1.0)
    result = pyopencl.array.empty(queue, (1 << 16,), numpy.float32)
    result.fill(2.0)
    remember(result)
    del scratch
    queue.finish()
