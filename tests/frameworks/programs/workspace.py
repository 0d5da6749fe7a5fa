"""Matrix products of torch_npu that ask for a workspace, which has a pool of its own. STATS: its own statistics."""
import json
import os

import torch
import torch_npu

matrix = torch.empty(256, 256, device="npu")
for _ in range(12):
    product = matrix @ matrix
torch.npu.synchronize()
with open(os.environ["STATS"], "w") as file:
    json.dump([{key: value for key, value in torch_npu.npu.memory_stats(0).items() if ".all." in key}], file)
