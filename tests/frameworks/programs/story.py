"""Training on a device, with a tensor that each step keeps. DEVICE is npu or cuda; STATS a file for its own statistics."""
import json
import os

import torch

DEVICE = os.environ["DEVICE"]
if DEVICE == "npu":
    import torch_npu  # noqa: F401
STEPS = 12
kept = []
net = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).to(DEVICE)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
data = torch.randn(64, 512)


def remember():
    kept.append(torch.empty(64, 512, device=DEVICE))  # the leak


def scratch():
    return torch.empty(8 << 20, dtype=torch.uint8, device=DEVICE)  # the peak


def one_step():
    loss = net(data.to(DEVICE)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    remember()
    scratch()


for _ in range(STEPS):
    one_step()
device = getattr(torch, DEVICE)
device.synchronize()
with open(os.environ["STATS"], "w") as file:
    json.dump([{key: value for key, value in device.memory_stats(0).items() if ".all." in key}], file)
