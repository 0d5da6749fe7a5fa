"""Steps that use as much as ever, of pieces whose sizes change: with FRAGMENTS=1 each needs a segment of its own."""
import json
import os

import torch

DEVICE = os.environ["DEVICE"]
if DEVICE == "npu":
    import torch_npu  # noqa: F401
MIB = 1 << 20
STEPS, ALL = 30, 96


def piece(size):
    return torch.empty(size, dtype=torch.uint8, device=DEVICE)


def one_step(number):
    large = 24 + (2 * number if os.environ.get("FRAGMENTS") == "1" else 0)
    held = [piece(large * MIB)]
    held += [piece(2 * MIB) for _ in range((ALL - large) // 2)]
    del held


for number in range(STEPS):
    one_step(number)
device = getattr(torch, DEVICE)
device.synchronize()
with open(os.environ["STATS"], "w") as file:
    json.dump([{key: value for key, value in device.memory_stats(0).items() if ".all." in key}], file)
