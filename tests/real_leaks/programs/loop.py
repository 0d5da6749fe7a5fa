"""What every program here shares: the loop, and which variant runs.

REAL_LEAKS_MARKS    the turns are marked as steps
REAL_LEAKS_MEASURE  so many times as many turns, without any tool; prints how many bytes the heap
                    grew per turn in the last two thirds (mallinfo2, after a collection), as JSON
"""
import ctypes
import gc
import json
import os

LEAKY = os.environ.get("REAL_LEAKS_VARIANT") == "leaky"


def turns(count):
    """The turns of the loop, marked as steps or not."""
    if os.environ.get("REAL_LEAKS_MARKS"):
        import leaktide
        return leaktide.steps(range(count))
    if os.environ.get("REAL_LEAKS_MEASURE"):
        return _measured(int(os.environ["REAL_LEAKS_MEASURE"]) * count)
    return range(count)


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def _heap_bytes():
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = _Mallinfo2
    gc.collect()
    info = library.mallinfo2()
    return info.uordblks + info.hblkhd


def _measured(count):
    first = count // 3
    before = 0
    for turn in range(count):
        if turn == first:
            before = _heap_bytes()
        yield turn
    print(json.dumps({"heap_bytes_per_turn": (_heap_bytes() - before) / (count - first)}), flush=True)
