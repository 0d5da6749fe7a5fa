"""A device that gets full. STORY says why, DEVICE is npu or cuda, CAPACITY what the device has; STATS is a file for the truth:
what PyTorch itself says of the moment."""
import itertools
import json
import os
import re
import sys
import traceback

import torch

import leaktide

DEVICE = os.environ["DEVICE"]
if DEVICE == "npu":
    import torch_npu  # noqa: F401
device = getattr(torch, DEVICE)
MIB = 1 << 20
held = {}  # function: tensors
history = []  # what remember() held when each step ended


def exactly(mib):
    """Bytes that take a block of so many MiB: torch_npu adds 512."""
    return (mib << 20) - (512 if DEVICE == "npu" else 0)


def on(index):
    return {"dtype": torch.uint8, "device": "%s:%d" % (DEVICE, index)}


def keep(made):
    held.setdefault(sys._getframe(1).f_code.co_name, []).append(made)


def weights(index=0, mib=24):
    keep(torch.empty(exactly(mib), **on(index)))


def attention():
    return torch.empty(900 * MIB, **on(0))


def large():
    weights()
    for _ in range(12):
        torch.empty(4 * MIB, **on(0))
    attention()


def forward():
    """What it touches first, others keep blocks in later."""
    return torch.empty(exactly(8), **on(0))


def remember():
    keep(torch.empty(exactly(9), **on(0)))


def leak():
    weights()
    for _ in itertools.count(1):
        with leaktide.step():
            forward()
            remember()
        history.append(len(held["remember"]))


def cut(pieces):
    """A segment of 20 MiB, cut into 12 that stay and 8 that go."""
    torch.empty(exactly(20), **on(0))
    keep(torch.empty(exactly(12), **on(0)))
    pieces.append(torch.empty(exactly(8), **on(0)))


def batch(index=0):
    return torch.empty(exactly(60 if index else 24), **on(index))


def fragmentation():
    pieces = []
    with leaktide.step():
        for _ in range(6):
            cut(pieces)
        pieces.clear()
        batch()


def cache(index):
    keep(torch.empty(exactly(90), **on(index)))


def two_devices():
    weights(0, 100)
    cache(1)
    batch(1)


def statistics(index):
    return device.memory_stats(index)


def segments_of(index):
    return [segment for segment in device.memory_snapshot() if segment["device"] == index]


def pieces_of(segments):
    """Bytes of free pieces beside blocks, and of segments without a block."""
    holes, free = [0], [0]
    for segment in segments:
        sizes = [block["size"] for block in segment["blocks"] if block["state"] == "inactive"]
        if segment["allocated_size"]:
            holes += sizes
        else:
            free.append(sum(sizes))
    return holes, free


def bytes_of(tensors, segments):
    """What the blocks of these take on the device."""
    sizes = {}
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            sizes[block.get("address", address)] = block["size"]
            address += block["size"]
    return [sizes[made.data_ptr()] for made in tensors if made.data_ptr() in sizes]


def asked_by(name, index, text_bytes):
    """torch_npu tells how much its allocator asked for, PyTorch how much it was asked for."""
    mib = {"attention": 900, "forward": 8, "remember": 9, "batch": 60 if index else 24}[name]
    return text_bytes if DEVICE == "npu" else mib * MIB


def truth_of(error):
    text = str(error)
    size, unit = re.search(r"Tried to allocate ([0-9.]+) ([KMG])iB", text).groups()
    index = int(re.search(r"(?:NPU |GPU |NPU|GPU)(\d)", text).group(1))
    stats, segments = statistics(index), segments_of(index)
    holes, free = pieces_of(segments)
    own = [frame.name for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith("oom_story.py")]
    remembered = bytes_of(held.get("remember", []), segments)
    reserved = stats["reserved_bytes.all.current"]
    return {
        "device": index, "asker": own[-1],
        "asked": asked_by(own[-1], index, round(float(size) * 1024 ** (" KMG".index(unit)))),
        "allocated": stats["allocated_bytes.all.current"], "reserved": reserved,
        "peak": [device.memory_stats(one).get("allocated_bytes.all.peak", 0) for one in range(2)],
        "most_reserved": stats["reserved_bytes.all.peak"], "left": int(os.environ["CAPACITY"]) - reserved,
        "holes": sum(holes), "largest_hole": max(holes), "free_segments": sum(free), "largest_free_segment": max(free),
        "holders": {name: sum(bytes_of(tensors, segments)) for name, tensors in held.items() if bytes_of(tensors, segments)},
        "grown": sum(remembered) - sum(remembered[:history[1]]) if len(history) > 1 else 0,
    }


try:
    globals()[os.environ["STORY"]]()
except RuntimeError as trouble:
    with open(os.environ["STATS"], "w") as file:
        json.dump(truth_of(trouble), file)
