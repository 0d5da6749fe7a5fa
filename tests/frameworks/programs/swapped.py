"""Training that swaps out to the host's memory in each turn, by tensors that the device reaches. torch_npu 2.8.0 and its post2
never give this memory back; post4 does.
"""
import torch
import torch_npu

TURNS, SWAPPED_BYTES = 300, 256 << 10


def swap_out():
    return torch_npu.empty_with_swapped_memory([SWAPPED_BYTES // 4], dtype=torch.float32, device=torch.device("npu:0"))


torch_npu.npu.set_device(0)
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64)).to("npu")
optimizer = torch.optim.Adam(net.parameters())
data = torch.randn(16, 64)
for _ in range(TURNS):
    net(data.to("npu")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    swap_out()
