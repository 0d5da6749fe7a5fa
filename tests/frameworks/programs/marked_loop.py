"""Training with steps marked by the vendor's own module, and a tensor that each step keeps. STATS: its own statistics."""
import json
import os

import mstx
import torch
import torch_npu  # noqa: F401

STEPS = 8
kept = []
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).to("npu")
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
data = torch.randn(32, 256)


def one_step():
    loss = net(data.to("npu")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept.append(torch.empty(64, 512, device="npu"))  # the leak


for _ in range(STEPS):
    number = mstx.range_start("step start", None)
    one_step()
    mstx.range_end(number)
torch.npu.synchronize()
with open(os.environ["STATS"], "w") as file:
    json.dump([{key: value for key, value in torch.npu.memory_stats(0).items() if ".all." in key}], file)
