"""PyOpenCL with its MemoryPool, on a processor (PoCL). Each turn keeps a copy, 256 KiB; with MENDED=1 only the newest two."""
import collections
import os

import numpy
import pyopencl
import pyopencl.array
import pyopencl.tools

kept = collections.deque(maxlen=2 if os.environ.get("MENDED") else None)
context = pyopencl.create_some_context(interactive=False)
queue = pyopencl.CommandQueue(context)
pool = pyopencl.tools.MemoryPool(pyopencl.tools.ImmediateAllocator(queue))


def remember(array):
    kept.append(array.copy())  # the leak


def one_turn():
    scratch = pyopencl.array.empty(queue, (1 << 18,), numpy.float32, allocator=pool)
    array = pyopencl.array.empty(queue, (1 << 16,), numpy.float32, allocator=pool)
    array.fill(1.0)
    scratch.fill(2.0)
    remember(array)


for _ in range(80):
    one_turn()
queue.finish()
