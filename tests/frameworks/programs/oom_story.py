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


def tensor(mib, index=0):
    """A block of exactly so many MiB: torch_npu adds 512 B."""
    return torch.empty((mib << 20) - (512 if DEVICE == "npu" else 0), dtype=torch.uint8, device="%s:%d" % (DEVICE, index))


def keep(made):
    held.setdefault(sys._getframe(1).f_code.co_name, []).append(made)


def weights(index=0, mib=24):
    keep(tensor(mib, index))


def attention():
    return torch.empty(900 * MIB, dtype=torch.uint8, device=DEVICE)


def large():
    weights()
    for _ in range(12):
        torch.empty(4 * MIB, dtype=torch.uint8, device=DEVICE)
    attention()


def forward():
    """What it touches first, others keep blocks in later."""
    return tensor(8)


def remember():
    keep(tensor(9))


def leak():
    weights()
    for _ in itertools.count(1):
        with leaktide.step():
            forward()
            remember()
        history.append(len(held["remember"]))


def cut(pieces):
    """A segment of 20 MiB, cut into 12 that stay and 8 that go."""
    tensor(20)
    keep(tensor(12))
    pieces.append(tensor(8))


def batch():
    return tensor(24)


def fragmentation():
    pieces = []
    for _ in range(6):
        cut(pieces)
    pieces.clear()
    batch()


def cache(index):
    keep(tensor(30, index))


def two_devices():
    weights(0, 100)
    for _ in range(3):
        cache(1)
    tensor(60, 1)


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
        "device": index, "asker": [name for name in own if name != "tensor"][-1],
        "asked": round(float(size) * 1024 ** (" KMG".index(unit))),
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
