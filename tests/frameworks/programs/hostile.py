"""What is hard to follow: two devices, four threads, three streams, memory that another stream still uses, pinned
memory, emptied caches and a device that is full. DEVICE is npu or cuda; STATS a file for its own statistics."""
import gc
import json
import os
import random
import threading

import torch

DEVICE = os.environ["DEVICE"]
if DEVICE == "npu":
    import torch_npu  # noqa: F401
device = getattr(torch, DEVICE)
DEVICES, THREADS, TURNS, MIB = 2, 4, 150, 1 << 20


def work(number):
    chance = random.Random(number)
    index = number % DEVICES
    device.set_device(index)
    streams = [device.Stream() for _ in range(3)]
    held = []
    for turn in range(TURNS):
        stream = chance.choice(streams)
        with device.stream(stream):
            size = chance.choice([512, 3000, 70_000, MIB, 3 * MIB, 11 * MIB])
            tensor = torch.empty(size, dtype=torch.uint8, device="%s:%d" % (DEVICE, index))
        if turn % 5 == 0:
            tensor.record_stream(chance.choice(streams))
        held.append(tensor)
        if len(held) > 12:
            held.pop(chance.randrange(len(held)))
        if turn % 40 == 39:
            device.empty_cache()
    return held


def is_full(index):
    try:
        torch.empty(1 << 40, dtype=torch.uint8, device="%s:%d" % (DEVICE, index))
    except (RuntimeError, MemoryError):
        return True
    return False


threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
full = sum(is_full(index) for index in range(DEVICES))
pinned = [torch.empty(MIB, dtype=torch.uint8).pin_memory() for _ in range(3)]
gc.collect()
for index in range(DEVICES):
    device.synchronize(index)
with open(os.environ["STATS"], "w") as file:
    stats = [{key: value for key, value in device.memory_stats(index).items() if ".all." in key or "ooms" in key}
             for index in range(DEVICES)]
    json.dump(stats, file)
assert full == DEVICES, full
