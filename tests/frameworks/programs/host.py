"""PyTorch on the host under its own profiler, whose memory events are written to STATS, in order."""
import json
import os

import torch
from torch.profiler import ProfilerActivity, profile

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 128))
data = torch.randn(64, 256)
kept = []


def remember(tensor):
    kept.append(tensor.clone())  # the leak


def one_step():
    output = model(data)
    output.sum().backward()
    model.zero_grad()
    remember(output.detach())


one_step()
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
    for _ in range(10):
        one_step()
events = profiler.profiler.kineto_results.events()
with open(os.environ["STATS"], "w") as file:
    json.dump([event.nbytes() for event in events if event.name() == "[memory]"], file)
